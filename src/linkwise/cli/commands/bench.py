"""Measure the compiled functions on this machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import click
import numpy as np

from linkwise.algorithm import find
from linkwise.cli.command import Options, Output, command, mechanism, option
from linkwise.cli.options import complete_algorithm
from linkwise.errors import LinkwiseError
from linkwise.files import Description
from linkwise.loops import assemble
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import Column, Table, counted, duration, plain

#: Algorithms measured by default.
USUAL = (
    "inverse_dynamics",
    "forward_kinematics",
    "jacobian",
    "mass_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)

#: A figure is the median of so many measurements.
ROUNDS = 15

#: The coordinates alone of a mechanism with six joints take 5 GB.
LARGEST_BATCH = 100_000_000

#: Operations that cost next to nothing.
CHEAP = {"neg", "abs", "sign", "select"}

_MISSING = "-"


@command(
    mechanism(default="puma560", required=False),
    option("--configurations", type=click.IntRange(1, LARGEST_BATCH), default=100_000, help="Size of the batch."),
    option(
        "--algorithm",
        "algorithms",
        metavar="NAME",
        multiple=True,
        shell_complete=complete_algorithm,
        help="Algorithm to measure; may be repeated. Default: seven of kinematics and dynamics.",
    ),
)
def bench(description: Description, options: Options) -> Output:
    """Measure how fast the functions of a MECHANISM (puma560 unless named) run on this machine.

    The first call compiles, or takes the machine code from the cache on disk; the others are medians of 15 measurements,
    in one thread, result arrays included.

    \b
    Examples:
      linkwise bench
      linkwise bench my_robot.toml --configurations 10000
      linkwise bench puma560 --algorithm regressor --algorithm coriolis_matrix
    """  # noqa: D301  (\b keeps click from filling the lines)
    model, batch = description.mechanism, options.configurations
    names = options.algorithms or USUAL
    for name in names:
        find(name)  # before anything is measured
    rows, remarks = _measure_all(model, names, batch)
    base = " on a floating base" if model.floating else ""
    columns = (
        Column("function", "name"),
        Column("first call", "first", duration, True, _MISSING),
        Column("one call", "single", duration, True, _MISSING),
        Column("in a batch, each", "each", duration, True, _MISSING),
        Column("operations each", "operations", _count, False, _MISSING),
    )
    title = f"{plain(model.name)}, {counted(model.n, 'joint')}{base}, batch of {batch:,}"
    table = Table([title], columns, rows)
    data = {"mechanism": model.name, "configurations": batch, "functions": table.data()}
    return Output(data, [table, *remarks])


def _measure_all(model: Mechanism, names: Sequence[str], batch: int) -> tuple[list[Sequence[Any]], list[str]]:
    """Rows of measured functions; rows without figures, and remarks, for those that the mechanism does not support."""
    rows: list[Sequence[Any]] = []
    refused: dict[str, list[str]] = {}
    failure: LinkwiseError | None = None
    for name in names:
        try:
            rows.append((name, *measure(model, name, batch)))
        except LinkwiseError as error:
            failure = error
            rows.append((name, None, None, None, None))
            refused.setdefault(plain(error), []).append(name)
    if failure is not None and all(row[-1] is None for row in rows):
        raise failure
    return rows, [f"remark: no {' and no '.join(which)}: {reason}" for reason, which in refused.items()]


def measure(model: Mechanism, name: str, batch: int) -> tuple[float, float, float, dict[str, int]]:
    """Measure one function: its first call, a single call, a configuration of a batch, s; and its operations."""
    draw = np.random.default_rng(0)
    shapes = find(name).shapes(model, find(name).inputs)
    single = {key: draw.uniform(-1, 1, shape) for key, shape in shapes.items()}
    many = {key: draw.uniform(-1, 1, (batch, *shape)) for key, shape in shapes.items()}
    if model.loops:  # (with open loops, or velocities that open them, nothing would be computed)
        assembly = assemble(model)
        closed = {"q": assembly.q if assembly.success else model.neutral, "qd": np.zeros(model.nv)}
        for key in closed.keys() & shapes.keys():
            single[key], many[key] = closed[key], np.tile(closed[key], (batch, 1))
    start = time.perf_counter()
    _function(model, name)(*single.values())
    first = time.perf_counter() - start
    method = _function(model, name)  # looked up again: the first call replaced it by machine code
    in_batch = median_time(partial(method, *many.values())) / batch
    return first, median_time(partial(method, *single.values())), in_batch, dict(model.kernel(name).operations)


def _function(model: Mechanism, name: str) -> Callable[..., Any]:
    """The mechanism's method of that name, or the kernel where it has none."""
    method = getattr(model, name, None)
    return method if callable(method) else model.kernel(name)


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


def _count(operations: Mapping[str, int]) -> str:
    """Write the numbers of operations; the cheap ones are summed.

    Examples
    --------
    >>> _count({"mul": 3, "add": 2, "sin": 0, "neg": 1, "abs": 1})
    '3 mul, 2 add, 2 other'
    """
    counts = {name: count for name, count in operations.items() if name not in CHEAP}
    counts["other"] = sum(count for name, count in operations.items() if name in CHEAP)
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none"
