"""Write the page of the benchmarks and its pictures from what was recorded: ``python docs/make_benchmarks.py``.

``python benchmarks/record.py`` records; this reads ``benchmarks/results/*.txt``. A time on the page is the least of all
runs, a ratio that of the least times; beside it stand the ratios of single runs. A test compares the page with the files.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from benchmark_rows import (  # noqa: E402
    RESULTS,
    Record,
    Row,
    array_libraries,
    by_hand,
    closed_form,
    first_calls,
    inverse_kinematics,
    large_results,
    number,
    operations,
    pinocchio,
    read,
    rollouts,
    spacelib,
    span,
)

PAGE = HERE / "benchmarks.md"
PICTURES = HERE / "images"


def table(title: str, found: Iterable[Row]) -> str:
    """A table of comparisons."""
    return "\n".join(
        [
            f"| | {title} | Linkwise | ratio | range in single runs |",
            "|---|---|---|---|---|",
            *(row.line() for row in found),
        ]
    )


def slower() -> str:
    """Where a peer is faster, by the least times."""
    kept = [
        row for row in (*pinocchio(), *rollouts(), *inverse_kinematics()[0], *closed_form(), *by_hand()) if row.ratio < 1
    ]
    lines = [f"- {row.name}: {span(min(row.ours))}, {row.peer} {span(min(row.theirs))}." for row in kept]
    functions = spacelib()
    behind = sorted(row.name for row in functions if row.ratio < 1)
    if behind:
        most = max(1 / row.ratio for row in functions)
        names = ", ".join(f"`{name}`" for name in behind)
        lines.append(
            f"- {len(behind)} of the {len(functions)} functions of SpaceLib on a batch take longer than NumPy written by"
            f" hand, up to {number(most)} times: {names}. They are limited by memory bandwidth."
        )
    return "\n".join(lines) or "- None of these."


def versions(records: Iterable[Record]) -> str:
    """The programs that were measured, each with all its recorded versions."""
    programs: dict[str, list[str]] = {}
    for record in records:
        for program in record.facts["versions"].split(", "):
            name, version = program.split(" ", 1)
            known = programs.setdefault(name, [])
            if version not in (*known, "not installed"):
                known.append(version)
    return ", ".join(f"{name} {' and '.join(known)}" for name, known in programs.items() if known)


def processors(records: Sequence[Record]) -> str:
    """The processors, each with its benchmarks, but for that of most of them."""
    named: dict[str, list[str]] = {}
    for record in records:
        named.setdefault(record.facts["processor"], []).append(record.facts["command"].split("/")[-1].removesuffix(".py"))
    most = max(named, key=lambda name: len(named[name]))
    rest = [f"{name} ({', '.join(f'`{one}`' for one in those)})" for name, those in named.items() if name != most]
    return "; ".join([f"{most} (all others)" if rest else most, *rest])


def page() -> str:
    """The text of the page."""
    records = [read(path.stem) for path in sorted(RESULTS.glob("*.txt"))]
    facts = records[0].facts
    days = sorted(load.split()[0] for record in records for load in record.loads)
    loads = sorted(float(load.rsplit(" ", 1)[1]) for record in records for load in record.loads)
    runs = sorted({len(record.runs) for record in records})
    counted = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    commands = "\n".join(f"$ {record.facts['command']}" for record in records)
    solved, claims = inverse_kinematics()
    return PARTS.format(
        processor=processors(records),
        cores=facts["cores"],
        versions=versions(records),
        days=days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}",
        runs=counted,
        loads=f"{loads[0]:g} to {loads[-1]:g}",
        pinocchio=table("Pinocchio", pinocchio()),
        large="\n".join(large_results()),
        rollouts=table("MuJoCo", rollouts()),
        numeric=table("Robotics Toolbox, C++", solved),
        claims="\n".join(claims),
        closed=table("EAIK", closed_form()),
        hand=table("by hand", by_hand()),
        arrays="\n".join(array_libraries()),
        first="\n".join(first_calls()),
        operations="\n".join(operations()),
        slower=slower(),
        commands=commands,
    )


PARTS = """# Benchmarks

<!-- Written by docs/make_benchmarks.py from benchmarks/results; a test compares the two. Do not edit. -->

Execution times of Linkwise and of other programs. Both run in the same process on the same core with the same input, and
each benchmark verifies that both return the same results, to rounding, before it measures.

Recorded {days} on shared machines with {cores} cores: {processor}; with {versions}. A time is the minimum of {runs} runs,
a ratio is the ratio of these minima, and the last column is the range of the ratios of single runs. **The machine was
shared** (load {loads} at the start of the runs): times are longer and ratios vary more than on an idle machine. To
repeat the measurements, see [below](#measuring-it-yourself).

![Time of Pinocchio relative to Linkwise, logarithmic scale: batches, then single calls](images/benchmarks_pinocchio.png)

## Where others are faster

{slower}
- The first call of a function compiles it ([first calls](#first-calls)). A program that evaluates one configuration
  once is faster with any other library. From the second process on, the code is read from the disk.

## Kinematics and dynamics

A batch has 100,000 configurations (10,000 for the tree). Linkwise takes it in one call; Pinocchio takes it in a Python
loop, a call for each configuration, or in its `rneaInParallel` with one thread. Both write into arrays that are there
already; the binding of Pinocchio makes a new array of each result before. "One call" is one configuration, called from
Python, for both. Of all rows but those of inverse dynamics, forward kinematics and the Jacobian: where the results of one
configuration take 1,000 bytes or more, a batch has as many as fit into 1 MiB, the second cache of this processor.
"nonzeros" are the elements of the same result that depend on the inputs ([`kernel.nonzeros`](conventions.md#nonzeros)),
where they are half of it or less; Pinocchio's time is that of the whole result, for its binding returns no other.

{pinocchio}

In batches of the largest results, which are mostly zeros, clearing them takes half to two thirds of the time. Bytes of a
result, and the time in which NumPy fills the same arrays with zeros:

| | bytes | Linkwise | zeros |
|---|---|---|---|
{large}

## Simulation

Time of one classical Runge-Kutta step of 1 ms, for 1,000 mechanisms at once:

{rollouts}

## Inverse kinematics

One initial guess, joint limits enforced. The targets are poses of random joint values, so each has a solution.

{numeric}

Success rates, verified by forward kinematics independent of both; the tolerance of the toolbox is about 1e-6:

| | Linkwise, to 1e-6 | to 1e-9 | false successes | Robotics Toolbox, to 1e-6 | to 1e-9 | false successes |
|---|---|---|---|---|---|---|
{claims}

All closed-form solutions; EAIK ignores joint limits:

{closed}

## Joint velocities, linkages, parallel robots

No other library has these functions; the comparison is NumPy or SciPy code written by hand.

{hand}

![Time of other programs and of code written by hand relative to Linkwise, logarithmic scale](images/benchmarks_others.png)

## Arrays of other libraries

A PUMA 560 without friction, float64, processor time of one core for each configuration, in batches of 1, 10,000 and
1,000,000. "NumPy" is the kernel itself; torch, JAX and Dask (chunks of 100,000 rows, threads) are the kernel on
[their arrays](arrays.md); "exported source" is `to_jax` compiled by XLA. The gradient is that of the sum of squares of
(inverse dynamics - measured torque) by q, qd and qdd, with the function. Gaps are what a library has not, or what takes
longer than 3 s. pytorch_kinematics gives the poses of its own links, which are two more. MJX, without constraints, and
frax, to which the inertias of the rotors are added, are compiled by XLA for the processor; MJX also without the fusion of
operations ("unfused"), which takes less time for all but one gradient. MuJoCo Warp and GRiD are for GPUs of NVIDIA and have
no rows.

| | | 1 | 10,000 | 1,000,000 |
|---|---|---|---|---|
{arrays}

## First calls

In a new process, with an empty and with a full cache; without the time of the import.

| | compiled | from the disk |
|---|---|---|
{first}

## Operations

Multiplications M, additions A, sines and cosines T of the simplified functions with symbols for all parameters. The
counts are exact. The other generators report M and A.

| | Linkwise | OpenSYMORO | SymPyBotics |
|---|---|---|---|
{operations}

## Measuring it yourself

```console
{commands}
```

Pinocchio and MuJoCo come with `pip install ".[plot,peers]"`; the Robotics Toolbox (`roboticstoolbox-python`) and EAIK
(`eaik`) are measured where they are installed. `python benchmarks/record.py` runs all of these three times and stores the
output, and `python docs/make_benchmarks.py` generates this page from it. `linkwise bench MECHANISM`
measures Linkwise alone, on any mechanism.
"""


DRAWN = (
    "inverse_dynamics", "forward_dynamics", "bias_torque", "gravity_torque", "mass_matrix", "coriolis_matrix", "jacobian",
    "link_poses", "frame_velocity", "center_of_mass", "centroidal_momentum_matrix", "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives", "kinematic_hessian", "regressor", "integrate",
)  # fmt: skip
"""What the picture shows of the rows beside Pinocchio."""


def picture(found: list[Row], title: str, path: Path, several: bool = False) -> None:
    """Bars of the ratios, with the spread of the runs as a line; the peer is named in each row where there are several."""
    from PIL import Image

    from linkwise.plot.figure import colour, figure
    from linkwise.plot.rendering import rendered

    chart = figure(7.6, 1.1 + 0.23 * len(found))
    axes = chart.subplots()
    peers = list(dict.fromkeys(row.peer for row in found))
    for k, row in enumerate(found):
        batch = "one call" not in row.name
        axes.barh(k, row.ratio - 1, left=1, height=0.7, color=colour(peers.index(row.peer) if several else int(not batch)))
        axes.plot([min(row.ratios), max(row.ratios)], [k, k], color="0.15", linewidth=1.2)
    labels = [f"{row.name} · {row.peer}" if several else row.name for row in found]
    axes.set_yticks(range(len(found)), labels, fontsize=7)
    axes.set_xscale("log")
    axes.axvline(1, color="0.2", linewidth=0.8)
    chart.supxlabel(f"time of {title} relative to Linkwise; thin lines: range of single runs", fontsize=8)
    ticks = [
        value for value in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if value <= 1.3 * max(max(r.ratios) for r in found)
    ]
    axes.set_xticks(ticks, [f"{value:g}" for value in ticks], fontsize=8)
    axes.minorticks_off()
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.grid(axis="x", color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)
    if not several:
        for k, label in enumerate(("batch", "one call")):
            axes.barh([0], [0], left=1, color=colour(k), label=label)
        axes.legend(loc="lower right", fontsize=8)
    small = Image.open(io.BytesIO(rendered(chart, "png"))).convert("RGB").quantize(64)
    small.save(path, optimize=True)


def main() -> None:
    """Write the page and its pictures."""
    PAGE.write_text(page(), encoding="utf-8")
    drawn = {f"7 joints: {name}, {way}" for name in DRAWN for way in ("batch", "one call")}
    found = sorted((row for row in pinocchio() if row.name in drawn), key=lambda row: "one call" in row.name)
    picture(found, "Pinocchio", PICTURES / "benchmarks_pinocchio.png")
    others = [*rollouts(), *inverse_kinematics()[0], *closed_form(), *by_hand()]
    picture(others, "the other program", PICTURES / "benchmarks_others.png", several=True)


if __name__ == "__main__":
    main()
