"""Programs that loop over the rows of tables, compiled once for all mechanisms by the looped lowering.

A table has a row for each body (link, frame, motor). A row has constant numbers, a record of intermediate values, and may
have a parent row. A phase visits all rows, parents first or last, and does the same arithmetic in each, a `Tape` traced once
for each kind of row. What differs between two mechanisms, numbers and sizes, is data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from math import prod
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

#: Size of a dimension of an array: a number, or the name of a size that mechanisms differ in, as "nq", "nv" or "links".
Size = int | str

#: Location of an element of a step's input or output.  ("own", k), ("parent", k), ("body", k), ("link", k), ("ground", k):
#: element k of a record; ("own passed", k), ("parent passed", k), ("body passed", k): of the values passed on by a body;
#: ("numbers", k), ("globals", k): of the constants of the row and of the mechanism; ("state", k), ("next", k): of the state
#: before and after a step of a walk; ("array", name, at, index): of an array, with the origin of each dimension's index in
#: `at`, see `ORIGINS`.
Place: TypeAlias = tuple[Any, ...]


#: Columns that are solved together at most.
PANEL = 6


@dataclass(frozen=True)
class RowStep:
    """The arithmetic of one row: a tape with one input and one output, and where their elements are."""

    tape: Tape
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]


@dataclass(frozen=True)
class RowPass:
    """A pass over the rows of a table.

    Attributes
    ----------
    table : str
        The table.
    order : str
        "outward" (parents first), "inward" (parents last), "ground" (the row before the first alone) or "walk": from each
        row through its parents to the ground, once for each of its velocities.
    steps : tuple of RowStep
        By the kind of the row; of a walk that of the rows on the way.
    starts, own : tuple of RowStep
        Of a walk, by the kind of the row: what sets the states that it begins with, and what is done in that row itself.
    start_table : str
        Of a walk: the table that it starts from; its rows name the row of the other that comes first.
    """

    table: str
    order: str
    steps: tuple[RowStep | None, ...]
    starts: tuple[RowStep, ...] = ()
    own: tuple[RowStep | None, ...] = ()
    start_table: str = ""

    @property
    def length(self) -> int:
        """Instructions for one row, about."""
        return max((step.tape.length for step in self.steps if step is not None), default=0)


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
    factorised : bool
        Whether the matrix is the factor already, left there by a phase before.
    """

    matrix: str
    right: tuple[tuple[str, str], ...]
    factorised: bool = False


@dataclass(frozen=True)
class StraightLine:
    """Straight-line arithmetic between arrays of the program, as one tape whose inputs and outputs are these arrays."""

    tape: Tape

    @property
    def length(self) -> int:
        """Instructions."""
        return self.tape.length


#: A phase of a program.
Phase: TypeAlias = RowPass | LinearSolve | StraightLine


@dataclass(frozen=True)
class TableLayout:
    """Layout of a table: numbers per row, elements of a record, and elements passed to neighbours.

    A body passes on what only its children read, and only in the pass that sets it: see `ROW`.
    """

    numbers: int
    record: int
    passed: int = 0


@dataclass(frozen=True)
class ProgramLayout:
    """Layout of a program, needed to call its machine code: arrays and tables.

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
    tables : mapping of str to TableLayout
        By name.
    digest : str
        Digest of the program.
    length : int
        Instructions for one row of each kind, about.
    """

    name: str
    inputs: Mapping[str, tuple[Size, ...]]
    outputs: Mapping[str, tuple[Size, ...]]
    temporaries: Mapping[str, tuple[Size, ...]]
    cleared: tuple[str, ...]
    tables: Mapping[str, TableLayout]
    digest: str = ""
    length: int = 0

    @property
    def arrays(self) -> dict[str, tuple[Size, ...]]:
        """All arrays."""
        return {**self.inputs, **self.outputs, **self.temporaries}

    @cached_property
    def words(self) -> dict[str, int]:
        """Indices of a mechanism's integers in the table that machine code reads, by name.

        "bytes" of memory; where the code for a "few" configurations stands, and its table; where that of a "solver" does
        that is compiled apart; the address of the constants,
        or their place among the arguments; sizes; the parents of velocities, and their order; for each table the number of
        its "rows", where its row numbers ("ints"), constants ("numbers"), "records" and what is "passed" on begin; for each
        array where it begins, and how many of its elements are cleared at first; for each argument the number of its
        elements and three sizes.
        """
        names = ["bytes", "few", "few data", "solver", "constants", "stacked"]
        sizes = [size for shape in self.arrays.values() for size in shape if isinstance(size, str)]
        names += [f"size {size}" for size in dict.fromkeys([*sizes, "nv", "before drives"])]
        names += ["parents", "order"]
        names += [f"{table} {part}" for table in self.tables for part in ("rows", "ints", "numbers", "records", "passed")]
        names += [f"start {name}" for name in self.arrays]
        names += [f"clear {name}" for name in self.outputs]
        names += [f"dims {name} {k}" for name in ("constants", *self.inputs, *self.outputs) for k in range(4)]
        return {name: k for k, name in enumerate(names)}

    def text(self) -> bytes:
        """Serialize for the disk."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def read(cls, text: bytes) -> Self:
        """Parse the serialized text.

        Raises
        ------
        ValueError, TypeError, KeyError, AttributeError
            Where it is something else.
        """
        values = json.loads(text)
        shapes = {group: _shapes(values[group]) for group in ("inputs", "outputs", "temporaries")}
        parts = [field.name for field in fields(TableLayout)]
        tables = {str(name): TableLayout(*(int(table[part]) for part in parts)) for name, table in values["tables"].items()}
        cleared = tuple(map(str, values["cleared"]))
        name, digest, length = str(values["name"]), str(values["digest"]), int(values["length"])
        return cls(name, **shapes, cleared=cleared, tables=tables, digest=digest, length=length)


def _shapes(shapes: Mapping[str, Any]) -> dict[str, tuple[Size, ...]]:
    return {
        str(name): tuple(size if isinstance(size, int) else str(size) for size in shape) for name, shape in shapes.items()
    }


@dataclass(frozen=True)
class LoopedProgram:
    """Phases over tables and arrays."""

    layout: ProgramLayout
    phases: tuple[Phase, ...]

    @classmethod
    def of(cls, layout: ProgramLayout, phases: tuple[Phase, ...]) -> Self:
        """The program, its digest and length in its layout."""
        values = {**vars(layout), "digest": "", "length": 0}
        values.pop("words", None)
        text, length = [repr(sorted(values.items()))], 0
        for phase in phases:
            if isinstance(phase, LinearSolve):
                text.append(repr(phase))
                continue
            length += phase.length
            if isinstance(phase, StraightLine):
                text.append(phase.tape.digest)
                continue
            text.append(repr((phase.table, phase.order, phase.start_table)))
            for group in (phase.steps, phase.starts, phase.own):
                text += ["-" if step is None else f"{step.tape.digest} {step.inputs} {step.outputs}" for step in group]
        digest = hashlib.sha256("\n".join(text).encode()).hexdigest()
        return cls(ProgramLayout(**{**values, "digest": digest, "length": length}), phases)


#: Integers of a row: its parent, its kind, its first coordinate and velocity, its body, its number of velocities, its link,
#: its motor; the place of the values that it passes on, and that of its parent's. Bodies release their places after all
#: children were visited, so that few places are needed, which stay in the nearest cache (saves 6 % of inverse dynamics of
#: 1,000 bodies); where rotors read them, each body has one.
ROW = ("parent", "kind", "q", "v", "body", "count", "link", "drive", "place", "parent's place")

#: Origins of an array's index: "q", "v" the row's first coordinate and velocity, "w" the first velocity of a walk, "r" the
#: row, "." zero, "10w" and "10v" ten times these, "drive" and "drive4" the first of the four columns of a motor.
ORIGINS = ("q", "v", "w", "r", ".", "10w", "10v", "drive", "drive4")


@dataclass(frozen=True)
class LoopedData:
    """The tables of one mechanism.

    Attributes
    ----------
    ints : mapping of str to ndarray (rows, 10)
        Whole numbers of the rows of each table, by `ROW`.
    numbers : mapping of str to ndarray (rows, c)
        Constants of the rows.
    constants : ndarray
        Of the mechanism itself.
    parents, order : ndarray (nv,)
        Of each velocity the one before it on the way to the ground (-1 for none), and all velocities, parents first.
    sizes : mapping of str to int
        By name.
    sparse : bool
        Whether elements of outputs may be zero whatever the coordinates, so that no step sets them.
    """

    ints: Mapping[str, npt.NDArray[np.int64]]
    numbers: Mapping[str, FloatArray]
    constants: FloatArray
    parents: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    sizes: Mapping[str, int]
    sparse: bool

    def shape(self, shape: tuple[Size, ...]) -> tuple[int, ...]:
        """A shape in numbers."""
        return tuple(size if isinstance(size, int) else self.sizes[size] for size in shape)

    def all_numbers(self, layout: ProgramLayout) -> FloatArray:
        """All constants of a program, concatenated."""
        return np.concatenate([self.constants, *(self.numbers[table].ravel() for table in layout.tables)])

    def table(self, layout: ProgramLayout, vector_size: int, *, stacked: bool) -> npt.NDArray[np.int64]:
        """The table of whole numbers that the machine code of a program reads: see `ProgramLayout.words`.

        Parameters
        ----------
        layout : ProgramLayout
            Layout of the program.
        vector_size : int
            Bytes of its vectors.
        stacked : bool
            Whether each configuration has constants of its own.
        """
        words = dict.fromkeys(layout.words, 0)
        tail: list[npt.NDArray[np.int64]] = []
        start, first, ints = 0, self.constants.size, len(words)
        for name, columns in layout.tables.items():
            rows = self.ints[name]
            words[f"{name} rows"], words[f"{name} ints"] = len(rows), ints
            words[f"{name} numbers"], words[f"{name} records"] = first, start
            start += (len(rows) + 1) * columns.record
            words[f"{name} passed"] = start
            start += (rows[:, ROW.index("place")].max(initial=0) + 1) * columns.passed
            first, ints = first + self.numbers[name].size, ints + rows.size
            tail.append(rows.ravel())
        words["parents"], words["order"] = ints, ints + self.parents.size
        tail += [self.parents, self.order]
        for name, shape in layout.arrays.items():
            words[f"start {name}"] = start
            size = prod(self.shape(shape))
            start += size
            if shape == ("nv", "nv") and name in layout.temporaries:  # (of a factor, 1 / D follows, and the solution)
                start += (1 + PANEL) * self.sizes["nv"]
            if name in layout.outputs and self.sparse:
                words[f"clear {name}"] = size
        words["stacked"] = start
        words["bytes"] = (start + (first if stacked else 0)) * vector_size
        for name, shape in {"constants": (first,), **layout.inputs, **layout.outputs}.items():
            sizes = self.shape(shape)
            for k, value in enumerate((prod(sizes), *[1] * (3 - len(sizes)), *sizes)):
                words[f"dims {name} {k}"] = value
        for name in words:
            if name.startswith("size "):
                words[name] = self.sizes[name.removeprefix("size ")]
        return np.concatenate([np.array(list(words.values()), dtype=np.int64), *tail])
