"""What the file of a chain holds: its mechanism, where it begins, what it must hold to, first values and routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.control.angles import CONVENTIONS
from linkwise.control.constraint_row import ConstraintRow, Value
from linkwise.control.dh_links import is_word
from linkwise.control.validation import OWN_KEYS, check_constraints, check_ports
from linkwise.mechanism import Mechanism
from linkwise.model.validation import Checker, frozen
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class ChainDescription:
    """What the file of a chain holds.

    Parameters
    ----------
    name : str
        Of the chain.
    mechanism : Mechanism
        Links and joints, on the start.
    q0 : (n,) array_like, optional
        Where the joints begin, rad and m, within the limits; where it is left out at zero, or at the nearest limit.
    constraints : iterable of ConstraintRow
        What must hold.
    values : mapping of str to float, bool, int or (3,) sequence of float
        First values of input ports that no constraint and no other field says, by the names of the ports, in their units.
    routes : mapping of str to str
        Which port an input takes its value from, by the name of the input; ``""`` for none. The theta or d of a joint takes
        its solved value unless something is said.
    angles : {"xyz", "zyx"}
        The convention of all angles.
    period : float, optional
        Of a cycle, s, where something runs it at a rate.
    calculations_per_cycle : int
        Most iterations of one cycle.
    calculation_precision : float
        What counts as solved, m and rad.
    reference : str or Path, optional
        How a file may refer to the mechanism: the name of a bundled one, or the file that it came from. Not compared.

    Raises
    ------
    ModelError
        With every problem found.
    """

    name: str
    mechanism: Mechanism
    q0: FloatArray = None  # type: ignore[assignment]  # (set below)
    constraints: tuple[ConstraintRow, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    routes: Mapping[str, str] = field(default_factory=dict)
    angles: str = "xyz"
    period: float | None = None
    calculations_per_cycle: int = 100
    calculation_precision: float = 1e-10
    reference: str | Path | None = None

    def __post_init__(self) -> None:
        check = Checker(f"chain {self.name!r}")
        if not is_word(self.name):
            check.report("name", self.name, "a word")
        given = tuple(self.constraints) if isinstance(self.constraints, Iterable) else (None,)
        rows = tuple(row for row in given if isinstance(row, ConstraintRow))
        if len(rows) < len(given):
            check.report("constraints", self.constraints, "a sequence of ConstraintRow")
        if not isinstance(self.mechanism, Mechanism):
            check.report("mechanism", self.mechanism, "a Mechanism")
            self._check_settings(check)
            for field in ("values", "routes"):
                if not isinstance(getattr(self, field), Mapping):
                    check.report(field, getattr(self, field), "a mapping by the names of ports")
            check.finish()
        self._settle(constraints=rows, q0=_start(check, self.mechanism, self.q0))
        self._check_settings(check)
        good = check_constraints(check, self.mechanism, rows)
        settings = {key: getattr(self, key) for key in OWN_KEYS}
        values, routes = check_ports(check, self.mechanism, good, settings, self.values, self.routes)
        self._settle(values=values, routes=routes)
        check.finish()

    def _settle(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _check_settings(self, check: Checker) -> None:
        check.choice("angles", self.angles, CONVENTIONS)
        period = self.period
        if period is not None and check.number("period", period, default=1.0) <= 0:
            check.report("period", period, "a number > 0, or None")

    @property
    def ports(self) -> dict[str, Value]:
        """First values of inputs, those included that have a field of their own; constraints hold theirs themselves."""
        return {**{f"chain.{key}": getattr(self, key) for key in OWN_KEYS}, **self.values}

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal descriptions."""
        settings = (self.angles, self.period, self.calculations_per_cycle, self.calculation_precision)
        begin = (self.name, self.mechanism, self.q0.tobytes(), self.constraints)
        return (*begin, dict(self.values), dict(self.routes), *settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChainDescription) and self.key == other.key

    __hash__ = None  # type: ignore[assignment]  # (values and routes are mappings)


def _start(check: Checker, mechanism: Mechanism, q0: Any) -> FloatArray:
    """Where the joints begin, read-only."""
    low, high = mechanism.q_min, mechanism.q_max
    if q0 is None:
        return frozen(np.clip(np.zeros(mechanism.n), low, high))
    expected = f"{mechanism.n} finite numbers: {', '.join(mechanism.names)}"
    made = check.finite("q0", q0, (mechanism.n,), expected)
    for k in np.flatnonzero((made < low) | (made > high))[: 0 if check.problems else None].tolist():
        within = f"{mechanism.names[k]} within its limits, {low[k]:g} to {high[k]:g}"
        check.report(f"q0[{k}]", float(made[k]), within)
    return made
