"""Programs that loop over the rows of tables: what the looped lowering compiles once for all mechanisms.

A table has a row for each body (link, frame, motor). A row has constant numbers, a record of intermediate values, and may
have a parent row. A phase visits all rows, parents first or last, and does the same arithmetic in each, a `Tape` traced once
for each kind of row. What differs between two mechanisms, numbers and sizes, is data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from linkwise.kernel.tape import Tape

#: Size of a dimension of an array: a number, or the name of a size that mechanisms differ in, as "nq", "nv" or "links".
Size = int | str

#: Where an element of a step's input or output is.
#:
#: ("own", k), ("parent", k), ("body", k), ("link", k), ("ground", k): element k of a record; ("numbers", k), ("globals", k):
#: of the constants of the row and of the mechanism; ("state", k), ("next", k): of what a walk comes with and goes on with;
#: ("array", name, at, index): of an array, `at` saying for each dimension what its index counts from, see `ORIGINS`.
Place = tuple[str, int] | tuple[str, str, str, tuple[int, ...]]


@dataclass(frozen=True)
class Step:
    """The arithmetic of one row: a tape with one input and one output, and where their elements are."""

    tape: Tape
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]


@dataclass(frozen=True)
class Phase:
    """A pass over the rows of a table.

    Attributes
    ----------
    table : str
        The table.
    order : str
        "outward" (parents first), "inward" (parents last), "ground" (the row before the first alone) or "walk": from each
        row through its parents to the ground, once for each of its velocities.
    steps : tuple of Step
        By the kind of the row; of a walk that of the rows on the way.
    starts, own : tuple of Step
        Of a walk, by the kind of the row: what sets the states that it begins with, and what is done in that row itself.
    start_table : str
        Of a walk: the table that it starts from; its rows name the row of the other that comes first.
    """

    table: str
    order: str
    steps: tuple[Step | None, ...]
    starts: tuple[Step, ...] = ()
    own: tuple[Step | None, ...] = ()
    start_table: str = ""


@dataclass(frozen=True)
class LinearSolve:
    """A factorisation of a matrix by rows with known parents, parents first in a known order, M = L' D L, in its own place.

    R. Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees", Int. J.
    Robotics Research 24(6), 2005.

    Attributes
    ----------
    matrix : str
        The array (nv, nv).
    right : tuple of (str, str)
        Arrays (nv,) or (nv, nv) that are solved in place, and what is done with each: "solve", "negative solve"; "inverse"
        makes the inverse of M in an array whose content does not count.
    """

    matrix: str
    right: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """The layout of a table: how many numbers a row has, and how many elements its record."""

    numbers: int
    record: int


@dataclass(frozen=True)
class LoopedProgram:
    """Phases over tables and arrays.

    Attributes
    ----------
    name : str
        Name of the algorithm.
    inputs, outputs : mapping of str to tuple of Size
        Arrays that come in and go out.
    temporaries : mapping of str to tuple of Size
        Arrays that live for one configuration.
    cleared : tuple of str
        Arrays that are zero before the first phase of each configuration.
    tables : mapping of str to Table
        By name.
    phases : tuple of Phase or LinearSolve
        In order.
    """

    name: str
    inputs: Mapping[str, tuple[Size, ...]]
    outputs: Mapping[str, tuple[Size, ...]]
    temporaries: Mapping[str, tuple[Size, ...]]
    cleared: tuple[str, ...]
    tables: Mapping[str, Table]
    phases: tuple[Phase | LinearSolve, ...]

    @property
    def arrays(self) -> dict[str, tuple[Size, ...]]:
        """All arrays."""
        return {**self.inputs, **self.outputs, **self.temporaries}

    @cached_property
    def digest(self) -> str:
        """The same for the same program, in any process."""
        text = [repr((self.name, dict(self.inputs), dict(self.outputs), dict(self.temporaries), self.cleared, self.tables))]
        for phase in self.phases:
            if isinstance(phase, LinearSolve):
                text.append(repr(phase))
                continue
            text.append(repr((phase.table, phase.order, phase.start_table)))
            for group in (phase.steps, phase.starts, phase.own):
                text += ["-" if step is None else f"{step.tape.digest} {step.inputs} {step.outputs}" for step in group]
        return hashlib.sha256("\n".join(text).encode()).hexdigest()


#: Whole numbers of a row: its parent, its kind, its first coordinate and velocity, the body it stands on, how many
#: velocities it has, the link it belongs to, the motor that it is or has.
ROW = ("parent", "kind", "q", "v", "body", "count", "link", "drive")

#: What an index of an array may count from: "q", "v" the row's first coordinate and velocity, "w" the velocity that a walk
#: began with, "r" the row, "." zero, "10w" ten times w, "drive" and "drive4" the first of the four columns of a motor.
ORIGINS = ("q", "v", "w", "r", ".", "10w", "drive", "drive4")


@dataclass(frozen=True)
class Header:
    """Where the whole numbers of a mechanism stand in the table that a compiled program reads, by name.

    "bytes" of memory, the address of the code for "few" configurations, sizes ("size nv"); for each table the number of
    "rows", where its row numbers ("ints"), constants ("numbers") and "records" begin; for each array where it begins; for
    each argument the number of its elements and three sizes.
    """

    words: Mapping[str, int]
    count: int

    @classmethod
    def of(cls, program: LoopedProgram) -> Header:
        """That of a program."""
        names = ["bytes", "few", "few data", "stacked"]
        sizes = [size for shape in program.arrays.values() for size in shape if isinstance(size, str)]
        names += [f"size {size}" for size in dict.fromkeys([*sizes, "nv", "before drives"])]
        names += ["parents", "order"]
        names += [f"{table} {what}" for table in program.tables for what in ("rows", "ints", "numbers", "records")]
        names += [f"start {name}" for name in program.arrays]
        names += [f"clear {name}" for name in program.outputs]
        names += [f"dims {name} {k}" for name in ("numbers", *program.inputs, *program.outputs) for k in range(4)]
        return cls({name: k for k, name in enumerate(names)}, len(names))


@dataclass(frozen=True)
class TableData:
    """The rows of one table: whole numbers (rows, 6) by `ROW`, and constants (rows, numbers) as they are."""

    ints: object
    numbers: object
    count: int = field(default=0)


def elements(shape: tuple[Size, ...], sizes: Mapping[str, int]) -> int:
    """Number of elements of an array."""
    return prod(size if isinstance(size, int) else sizes[size] for size in shape)
