"""Operations of nodes: value and derivative of each, as one table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from linkwise.spatial.scalar import atan2, select


def _sign(x: float) -> float:
    return x if math.isnan(x) or x == 0 else math.copysign(1.0, x)


def _divide(x: float, y: float) -> float:
    if y == 0:
        return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)
    return x / y


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


def _circular(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(x) if math.isfinite(x) else math.nan


def _atan2_partials(z: Any, y: Any, x: Any) -> tuple[Any, Any]:
    square = x * x + y * y
    return x / square, -y / square


@dataclass(frozen=True)
class Operation:
    """One operation: its value on floats, and its partial derivatives on any scalars.

    ``partials(node, *arguments)`` gives one derivative per argument; the node itself is at hand where it can be reused.
    ``rate(arguments, rates)``, where there is one, gives the derivative along given rates of the arguments, for an operation
    whose partial derivatives times the rates would let in what is not chosen: 0 times NaN. ``regions(region, *arguments)``
    does the same for reverse mode: the result enters what is differentiated where the region, a scalar, is greater than 0;
    it gives the region of each argument.
    """

    arity: int
    value: Callable[..., float]
    partials: Callable[..., tuple[Any, ...]]
    commutes: bool = False
    rate: Callable[[tuple[Any, ...], list[Any]], Any] | None = None
    regions: Callable[..., tuple[Any, ...]] | None = None


#: ``sign`` is 0 at 0 and NaN at NaN; its derivative, and that of ``abs`` at 0, are taken as 0. That of ``sqrt`` at 0 is
#: infinite, and NaN where it is multiplied by 0; that of ``atan2`` at the origin is NaN.
#:
#: ``atan2(y, x)`` and ``select(c, x, y)`` are those of `linkwise.spatial.scalar`. The derivative of a selection is that
#: of the operand that is chosen, also where the choice changes.
OPERATIONS: dict[str, Operation] = {
    "add": Operation(2, lambda x, y: x + y, lambda z, x, y: (1.0, 1.0), commutes=True),
    "sub": Operation(2, lambda x, y: x - y, lambda z, x, y: (1.0, -1.0)),
    "mul": Operation(2, lambda x, y: x * y, lambda z, x, y: (y, x), commutes=True),
    "div": Operation(2, _divide, lambda z, x, y: (1.0 / y, -z / y)),
    "neg": Operation(1, lambda x: -x, lambda z, x: (-1.0,)),
    "sqrt": Operation(1, _sqrt, lambda z, x: (0.5 / z,)),
    "sin": Operation(1, _circular(math.sin), lambda z, x: (x.cos(),)),
    "cos": Operation(1, _circular(math.cos), lambda z, x: (-x.sin(),)),
    "abs": Operation(1, abs, lambda z, x: (x.sign(),)),
    "sign": Operation(1, _sign, lambda z, x: (0.0,)),
    "atan2": Operation(2, atan2, _atan2_partials),
    "select": Operation(
        3,
        select,
        lambda z, c, x, y: (0.0, c.select(1.0, 0.0), c.select(0.0, 1.0)),
        rate=lambda args, rates: select(args[0], rates[1], rates[2]),
        regions=lambda region, c, x, y: (0.0, select(c, region, 0.0), select(c, 0.0, region)),
    ),
}
