"""``linkwise bench``: how fast the compiled functions of a mechanism are on this machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.mechanism import description, mechanism_argument

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism
    from linkwise.spatial.scalar import FloatArray

INPUTS = {"inverse_dynamics": 3, "forward_kinematics": 1, "jacobian": 1}
"""What is measured, and how many joint vectors each takes: q, or q, qd and qdd."""

ROUNDS = 15
"""A figure is the median of so many measurements."""


@dataclass(frozen=True)
class Measured:
    """One line of the table; times in s."""

    name: str
    first: float
    single: float
    each: float
    operations: dict[str, int]


@click.command(short_help="How fast the compiled functions are on this machine.")
@mechanism_argument(default="puma560", required=False)
@click.option("--configurations", type=click.IntRange(1), default=100_000, show_default=True, help="Size of the batch.")
def bench(mechanism: str, configurations: int) -> None:
    """Measure how fast the functions of a MECHANISM (puma560 unless named) run on this machine.

    The first call compiles, or takes the machine code from the cache on disk; the others are medians of 15 measurements,
    in one thread, result arrays included.

    \b
    Examples:
      linkwise bench
      linkwise bench my_robot.toml --configurations 10000
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.cli.layout import console
    from linkwise.model.table import plain

    found = description(mechanism).mechanism
    screen = console()
    measured = [measure(found, name, configurations) for name in INPUTS]
    screen.print(f"{plain(found.name)}, {found.n} joints, batch of {configurations:,}", style="bold")
    screen.print(_table(measured))


def measure(mechanism: Mechanism, name: str, configurations: int) -> Measured:
    """Measure one function: its first call, a single call, and a configuration of a batch."""
    import numpy as np

    draw = np.random.default_rng(0)
    one: list[FloatArray] = [draw.uniform(-1, 1, mechanism.n) for _ in range(INPUTS[name])]
    many: list[FloatArray] = [draw.uniform(-1, 1, (configurations, mechanism.n)) for _ in range(INPUTS[name])]
    start = time.perf_counter()
    getattr(mechanism, name)(*one)
    first = time.perf_counter() - start
    method: Callable[..., Any] = getattr(mechanism, name)  # looked up now: the first call put machine code in its place
    single = median_time(partial(method, *one))
    batch = median_time(partial(method, *many))
    return Measured(name, first, single, batch / configurations, dict(mechanism.kernel(name).operations))


def median_time(call: Callable[[], Any], shortest: float = 2e-3) -> float:
    """Time a call: the median over rounds, each of as many calls as last long enough for the clock."""
    repeats = 1
    while (elapsed := _timed(call, repeats)) < shortest:
        repeats = max(2 * repeats, int(1.2 * repeats * shortest / max(elapsed, 1e-9)))
    rounds = [elapsed] if elapsed > 1.0 else [_timed(call, repeats) for _ in range(ROUNDS)]
    return statistics.median(rounds) / repeats


def _timed(call: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in repeat(None, repeats):
        call()
    return time.perf_counter() - start


def _table(measured: list[Measured]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("function")
    for column in ("first call", "one call", "in a batch, each", "operations each"):
        table.add_column(column, justify="right")
    for row in measured:
        table.add_row(row.name, _time(row.first), _time(row.single), _time(row.each), _count(row.operations))
    return table


def _count(operations: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in operations.items() if count)


def _time(seconds: float) -> str:
    """Write a time with a unit that suits it.

    Examples
    --------
    >>> _time(0.25), _time(6.6e-7), _time(1.5e-8)
    ('250 ms', '660 ns', '15 ns')
    """
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
