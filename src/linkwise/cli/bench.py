"""``linkwise bench``: how fast the compiled functions of a mechanism are on this machine."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options
from linkwise.cli.words import remark

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.table import Table

    from linkwise.mechanism import Mechanism
    from linkwise.spatial.scalar import FloatArray

USUAL = (
    "inverse_dynamics",
    "forward_kinematics",
    "jacobian",
    "mass_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
"""What is measured unless something is named."""

ROUNDS = 15
"""A figure is the median of so many measurements."""


@dataclass(frozen=True)
class Measured:
    """One line of the table; times in s, NaN and no operations where the mechanism has no such thing."""

    name: str
    first: float = math.nan
    single: float = math.nan
    each: float = math.nan
    operations: dict[str, int] | None = None


def complete_algorithm(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the algorithms whose names begin so."""
    from click.shell_completion import CompletionItem

    import linkwise.mechanism  # noqa: F401  (the algorithms declare themselves)
    from linkwise.algorithm import ALGORITHMS

    return [CompletionItem(name) for name in sorted(ALGORITHMS) if name.startswith(incomplete)]


MOST = 100_000_000
"""The largest batch: of a mechanism with six joints its coordinates alone take 5 GB."""


@click.command(short_help="How fast the compiled functions are on this machine.")
@mechanism_argument(default="puma560", required=False)
@click.option(
    "--configurations", type=click.IntRange(1, MOST), default=100_000, show_default=True, help="Size of the batch."
)
@click.option(
    "--algorithm",
    "algorithms",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_algorithm,
    help="What to measure, by name; may be given many times. Default: seven of kinematics and dynamics.",
)
@json_option
@reading_options
def bench(mechanism: str, configurations: int, algorithms: tuple[str, ...], as_json: bool) -> None:
    """Measure how fast the functions of a MECHANISM (puma560 unless named) run on this machine.

    The first call compiles, or takes the machine code from the cache on disk; the others are medians of 15 measurements,
    in one thread, result arrays included.

    \b
    Examples:
      linkwise bench
      linkwise bench my_robot.toml --configurations 10000
      linkwise bench puma560 --algorithm regressor --algorithm coriolis_matrix
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.algorithm import find
    from linkwise.cli.layout import console, put
    from linkwise.model.table import plain

    found = description(mechanism).mechanism
    screen = console()
    named = algorithms or USUAL
    for name in named:
        find(name)  # before anything is measured
    measured, remarks = _measured(found, named, configurations)
    if as_json:
        print_json(
            {"mechanism": found.name, "configurations": configurations, "functions": [asdict(row) for row in measured]}
        )
        return
    base = " on a floating base" if found.floating else ""
    joints = f"{found.n} joint{'' if found.n == 1 else 's'}{base}"
    put(screen, f"{plain(found.name)}, {joints}, batch of {configurations:,}", _table(measured))
    for line in remarks:
        remark(line)


def _measured(mechanism: Mechanism, named: Sequence[str], configurations: int) -> tuple[list[Measured], list[str]]:
    """Measure what works; return lines without figures, and remarks, where the mechanism does not allow it."""
    from linkwise.errors import LinkwiseError
    from linkwise.model.table import plain

    made: list[Measured] = []
    why: dict[str, list[str]] = {}
    failed: LinkwiseError | None = None
    for name in named:
        try:
            made.append(measure(mechanism, name, configurations))
        except LinkwiseError as error:
            failed = error
            made.append(Measured(name))
            why.setdefault(plain(str(error)), []).append(name)
    if failed is not None and not any(row.operations is not None for row in made):
        raise failed
    return made, [f"no {' and no '.join(names)}: {reason}" for reason, names in why.items()]


def assembled(mechanism: Mechanism) -> FloatArray:
    """A configuration (nq,) in which the loops are closed; the neutral one where none is found."""
    from linkwise.solve import assemble

    found = assemble(mechanism)
    return found.q if found.success else mechanism.neutral


def measure(mechanism: Mechanism, name: str, configurations: int) -> Measured:
    """Measure one function: its first call, a single call, and a configuration of a batch."""
    import numpy as np

    from linkwise.algorithm import find

    draw = np.random.default_rng(0)
    shapes = find(name).shapes(mechanism, find(name).inputs)
    one: list[FloatArray] = [draw.uniform(-1, 1, shape) for shape in shapes.values()]
    many: list[FloatArray] = [draw.uniform(-1, 1, (configurations, *shape)) for shape in shapes.values()]
    if mechanism.loops:  # (with open loops, or speeds that open them, nothing would be computed)
        closed = {"q": assembled(mechanism), "qd": np.zeros(mechanism.nv)}
        for k, given in enumerate(shapes):
            if given in closed:
                one[k], many[k] = closed[given], np.tile(closed[given], (configurations, 1))
    start = time.perf_counter()
    _function(mechanism, name)(*one)
    first = time.perf_counter() - start
    method = _function(mechanism, name)  # looked up now: the first call put machine code in its place
    single = median_time(partial(method, *one))
    batch = median_time(partial(method, *many))
    return Measured(name, first, single, batch / configurations, dict(mechanism.kernel(name).operations))


def _function(mechanism: Mechanism, name: str) -> Callable[..., Any]:
    """Find the mechanism's method of that name, or the kernel where it has none."""
    found = getattr(mechanism, name, None)
    return found if callable(found) else mechanism.kernel(name)


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


def _table(measured: list[Measured]) -> Table:
    from linkwise.cli.layout import new_table, time_text

    columns = ("first call", "one call", "in a batch, each", "operations each")
    table = new_table("function", *columns, left=(0, len(columns)))
    for row in measured:
        if row.operations is None:
            table.add_row(row.name, *["-"] * len(columns))
        else:
            times = (time_text(value) for value in (row.first, row.single, row.each))
            table.add_row(row.name, *times, _count(row.operations) or "none")
    return table


def _count(operations: dict[str, int]) -> str:
    """Write how many operations there are; those that cost next to nothing together.

    Examples
    --------
    >>> _count({"mul": 3, "add": 2, "sin": 0, "neg": 1, "abs": 1})
    '3 mul, 2 add, 2 other'
    """
    cheap = {name: count for name, count in operations.items() if name in {"neg", "abs", "sign", "select"}}
    told = {**{name: count for name, count in operations.items() if name not in cheap}, "other": sum(cheap.values())}
    return ", ".join(f"{count} {name}" for name, count in told.items() if count)
