"""Write the page of the benchmarks and its pictures from what was recorded: ``python docs/make_benchmarks.py``.

``python benchmarks/record.py`` records; this reads ``benchmarks/results/*.txt``. A time on the page is the least of all
runs, a ratio that of the least times; beside it stand the ratios of single runs. A test compares the page with the files.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from benchmark_rows import (  # noqa: E402
    RESULTS,
    Row,
    by_hand,
    closed_form,
    first_calls,
    inverse_kinematics,
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
            f"| | {title} | Linkwise | times as long | in single runs |",
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
            f" hand, up to {number(most)} times: {names}. They move more numbers than they compute."
        )
    return "\n".join(lines) or "- Nowhere among these."


def page() -> str:
    """The text of the page."""
    records = [read(path.stem) for path in sorted(RESULTS.glob("*.txt"))]
    facts = read("against_pinocchio").facts
    days = sorted(load.split()[0] for record in records for load in record.loads)
    loads = sorted(float(load.rsplit(" ", 1)[1]) for record in records for load in record.loads)
    runs = sorted({len(record.runs) for record in records})
    counted = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    commands = "\n".join(f"$ {record.facts['command']}" for record in records)
    solved, claims = inverse_kinematics()
    return PARTS.format(
        processor=facts["processor"],
        cores=facts["cores"],
        versions=facts["versions"],
        days=days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}",
        runs=counted,
        loads=f"{loads[0]:g} to {loads[-1]:g}",
        pinocchio=table("Pinocchio", pinocchio()),
        rollouts=table("MuJoCo", rollouts()),
        numeric=table("Robotics Toolbox, C++", solved),
        claims="\n".join(claims),
        closed=table("EAIK", closed_form()),
        hand=table("by hand", by_hand()),
        first="\n".join(first_calls()),
        operations="\n".join(operations()),
        slower=slower(),
        commands=commands,
    )


PARTS = """# Benchmarks

<!-- Written by docs/make_benchmarks.py from benchmarks/results; a test compares the two. Do not edit. -->

Linkwise beside other programs, in the same run, on the same core, with the same numbers in and, to rounding, the same
numbers out: each benchmark checks that before it measures.

Recorded {days} on a shared machine with {cores} cores ({processor}), with {versions}. A time is the least of {runs} runs,
a ratio that of the least times; beside it stand the ratios of single runs. **The machine had other work** (a load of
{loads} when the runs began), which makes times longer and ratios of single runs wander. Measure where you are:
[how](#measuring-it-yourself).

![How many times as long Pinocchio takes, logarithmic: batches, then single calls](images/benchmarks_pinocchio.png)

## Where others are faster

{slower}
- A first call compiles. A program that asks for a function once, for one configuration, waits for that
  [longer](#first-calls) than for the answer of any other library; from the second start on the code is read from the
  disk.

## Kinematics and dynamics

Batches are 100,000 configurations (10,000 for the tree), given to Linkwise at once and to Pinocchio in a Python loop, or
to its `rneaInParallel` with one thread. "One call" is one configuration from Python on both sides.

{pinocchio}

## Simulation

1,000 mechanisms at once, classical Runge-Kutta steps of 1 ms, the time of one step:

{rollouts}

## Inverse kinematics

From one start, within the joint limits. The poses are those of random joint values, so every one has a solution.

{numeric}

What was solved, checked by matrix products written apart from both; the toolbox's own tolerance is about 1e-6:

| | Linkwise, to 1e-6 | to 1e-9 | falsely claimed | Robotics Toolbox, to 1e-6 | to 1e-9 | falsely claimed |
|---|---|---|---|---|---|---|
{claims}

All solutions in closed form; EAIK does not look at joint limits:

{closed}

## Speeds, linkages, parallel robots

There is no library with the same function, so what its user would write stands beside.

{hand}

![How many times as long other programs and code written by hand take, on a logarithmic scale](images/benchmarks_others.png)

## First calls

In a fresh process, with an empty cache and with a full one; the time of importing is not in it.

| | compiled | from the disk |
|---|---|---|
{first}

## Operations

Products M, sums A, sines and cosines T of the functions with symbols for all parameters, after rewriting. No clock is
involved, so these are exact. The other generators print M and A.

| | Linkwise | OpenSYMORO | SymPyBotics |
|---|---|---|---|
{operations}

## Measuring it yourself

```console
{commands}
```

Pinocchio and MuJoCo come with `pip install ".[plot,peers]"`; the Robotics Toolbox (`roboticstoolbox-python`) and EAIK
(`eaik`) are measured where they are installed. `python benchmarks/record.py` runs all of these three times and keeps what
they print, `python docs/make_benchmarks.py` makes this page of it. `linkwise bench MECHANISM` measures Linkwise alone, on
any mechanism.
"""


def picture(found: list[Row], title: str, path: Path, several: bool = False) -> None:
    """Bars of the ratios, with the spread of the runs as a line; the peer is named in each row where there are several."""
    from PIL import Image

    from linkwise.plot.figure import colour, figure, rendered

    made = figure(7.6, 1.1 + 0.23 * len(found))
    axes = made.subplots()
    peers = list(dict.fromkeys(row.peer for row in found))
    for k, row in enumerate(found):
        batch = "one call" not in row.name
        axes.barh(k, row.ratio - 1, left=1, height=0.7, color=colour(peers.index(row.peer) if several else int(not batch)))
        axes.plot([min(row.ratios), max(row.ratios)], [k, k], color="0.15", linewidth=1.2)
    labels = [f"{row.name} · {row.peer}" if several else row.name for row in found]
    axes.set_yticks(range(len(found)), labels, fontsize=7)
    axes.set_xscale("log")
    axes.axvline(1, color="0.2", linewidth=0.8)
    made.supxlabel(f"{title} takes so many times as long as Linkwise; thin lines: single runs", fontsize=8)
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
    small = Image.open(io.BytesIO(rendered(made, "png"))).convert("RGB").quantize(64)
    small.save(path, optimize=True)


def main() -> None:
    """Write the page and its pictures."""
    PAGE.write_text(page(), encoding="utf-8")
    found = sorted(pinocchio(), key=lambda row: "one call" in row.name)
    picture(found, "Pinocchio", PICTURES / "benchmarks_pinocchio.png")
    others = [*rollouts(), *inverse_kinematics()[0], *closed_form(), *by_hand()]
    picture(others, "The other", PICTURES / "benchmarks_others.png", several=True)


if __name__ == "__main__":
    main()
