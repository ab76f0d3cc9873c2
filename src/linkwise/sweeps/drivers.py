"""Algorithms as steps over bodies: one description, run by two drivers.

An algorithm over a tree of bodies is a sequence of passes, each with one step that is the same for every body: outward from
the ground, inward from the tips, along the way from a body to the ground. `UnrolledSweeps` runs the steps on the bodies of a
mechanism, one after another, which gives straight-line arithmetic; `RecordedSweeps` runs each once for every kind of
joint, on symbols in the place of a body's numbers, which gives a program that loops over the bodies of any mechanism.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from linkwise.expr.node import symbol
from linkwise.expr.simplify import shortened
from linkwise.kernel.looped import LinearSolve, LoopedProgram, Place, ProgramLayout, RowPass, RowStep, Size, TableLayout
from linkwise.kernel.sources import is_own
from linkwise.kernel.tape import Tape
from linkwise.kinematics.body_transform import JointTransform, joint_transform
from linkwise.model.body import Body, Freedom
from linkwise.model.joints import JOINTS, Joint
from linkwise.model.joints.joint import make_joint
from linkwise.spatial.linear import factor
from linkwise.spatial.scalar import Array, blank
from linkwise.spatial.transform import transform

#: Constants of a row by table: names and shapes. "inertia" is a symmetric pseudo-inertia, of which ten numbers are kept.
NUMBERS: dict[str, dict[str, tuple[int, ...]]] = {
    "globals": {"gravity": (3,), "mass": (), "held": (4,)},
    "bodies": {"pose": (3, 4), "angle": (), "pitch": (), "inertia": (10,)},
    "links": {"pose": (3, 4), "inertia": (10,)},
    "drives": {"units": (7,)},
    "frames": {"pose": (3, 4)},
    "wrenches": {"pose": (3, 4)},
    "rotors": {"turning": (3,), "inertia": ()},
    "motors": {"reflected": (), "viscous": (), "coulomb": (), "asymmetry": (), "width": ()},
}

#: Pairs of indices of the upper triangle of a pseudo-inertia (4, 4), in the order of the numbers that are kept.
PSEUDO = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3), (3, 3))


def numbers_of(table: str) -> int:
    """How many constants a row of a table has."""
    return sum(prod(shape) for shape in NUMBERS[table].values())


@dataclass(frozen=True)
class RowKind:
    """What the rows of a table have in common that are worked on by the same arithmetic.

    Attributes
    ----------
    name : str
        Its name.
    turn : float
        Whether the joint of a body turns about z.
    advances : bool
        Whether it moves along z.
    joint : Joint or None
        What gives the motion, of joints that do neither.
    """

    name: str
    turn: float = 0.0
    advances: bool = False
    joint: Joint | None = None

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return 1 if self.joint is None else self.joint.nq

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return 1 if self.joint is None else self.joint.nv


#: Kinds of bodies: by what their joints do along and about z, and those of joints with quaternions, which give their motion.
BODY_KINDS = (
    RowKind("turning", 1.0),
    RowKind("sliding", 0.0, advances=True),
    RowKind("turning and sliding", 1.0, advances=True),
    *(
        RowKind(name, joint=make_joint(name, np.array([0.0, 0.0, 1.0])))
        for name, kind in JOINTS.items()
        if kind.quaternion is not None and is_own(kind)
    ),
)

#: Wrenches by the axes in which they are given: the frame's own; the world's, about its origin or about the world's.
WRENCH_KINDS = (RowKind("body"), RowKind("world"), RowKind("spatial"))

PLAIN = (RowKind("row"),)


def kinds_of(table: str) -> tuple[RowKind, ...]:
    """The kinds of the rows of a table."""
    return {"bodies": BODY_KINDS, "wrenches": WRENCH_KINDS}.get(table, PLAIN)


class Row(ABC):
    """One row of a table in a step: a body, most of the time.

    ``row["velocity"]`` is what a step before set for this row, ``row.parent["velocity"]`` what it set for the parent, and
    ``row.body["velocity"]`` for the body that a link, frame or rotor belongs to.
    """

    kind: RowKind
    table: str

    @abstractmethod
    def __getitem__(self, name: str) -> Array:
        """What was set for this row."""

    @abstractmethod
    def __setitem__(self, name: str, value: Any) -> None:
        """Set something for this row."""

    @abstractmethod
    def __contains__(self, name: str) -> bool:
        """Whether it was set."""

    @abstractmethod
    def neighbour(self, which: str) -> Neighbour:
        """The row "parent" or "body"."""

    @abstractmethod
    def number(self, name: str) -> Array:
        """Constants of the row, by their name in `NUMBERS`."""

    @abstractmethod
    def read(self, array: str, at: str = "") -> Array:
        """The elements of an array that belong to the row.

        `at` says for each dimension which: "v" and "q" the velocities and coordinates of the row, "w" the velocity that a
        walk began with, "r" the row itself, "." all; see `linkwise.kernel.looped.ORIGINS`.
        """

    @abstractmethod
    def write(self, array: str, values: Any, at: str = "", *, add: bool = False) -> None:
        """Set these elements, or add to them."""

    @property
    def parent(self) -> Neighbour:
        """The row's parent; of the first rows the ground."""
        return self.neighbour("parent")

    @property
    def body(self) -> Neighbour:
        """The body that the row belongs to."""
        return self.neighbour("body")

    @property
    def link(self) -> Neighbour:
        """The link that the row belongs to."""
        return self.neighbour("link")

    @property
    def ground(self) -> Neighbour:
        """The ground."""
        return self.neighbour("ground")

    @property
    def inertia(self) -> Array:
        """The pseudo-inertia (4, 4) of the row."""
        values = self.number("inertia")
        result = np.empty((4, 4), dtype=object)
        for value, (i, j) in zip(values, PSEUDO, strict=True):
            result[i, j] = result[j, i] = value
        return result

    @property
    def pose(self) -> Array:
        """The constant pose (4, 4) of the row on its body, or of a body on its parent."""
        return np.concatenate([self.number("pose"), np.array([[0.0, 0.0, 0.0, 1.0]], dtype=object)])

    @property
    def joint(self) -> JointTransform:
        """How the body sits on its parent; computed once, at the first step that asks."""
        body = self._generic
        if "rotation" not in self:
            there = joint_transform(body, self.read("q"))
            self["rotation"], self["origin"] = there.rotation, there.origin
        still, zero = np.eye(3), np.zeros(3)
        return JointTransform(self["rotation"], self["origin"], still, zero, None, body.freedoms)

    @property
    def upright(self) -> JointTransform:
        """The same with all bodies in the axes of the world, each about its own origin; `axes` turns its own into these.

        Passing vectors and inertias on takes no rotation then, and no digits are lost far from the world's origin.
        """
        body = self._generic
        if "lever" not in self:
            there, before = joint_transform(body, self.read("q")), self.parent["axes"]
            self["axes"], self["lever"] = before @ there.rotation, before @ there.origin
        axes, still, zero = self["axes"], np.eye(3), np.zeros(3)
        freedoms = tuple(Freedom(x.speed, axes @ x.linear, axes @ x.angular) for x in body.freedoms)
        return JointTransform(still, self["lever"], still, zero, None, freedoms)

    @property
    def upright_inertia(self) -> Array:
        """The pseudo-inertia (4, 4) in the axes of the world."""
        zero = np.zeros(3)
        return JointTransform(self["axes"], zero, np.eye(3), zero).inertia_to_parent(self.inertia)

    @cached_property
    def _generic(self) -> Body:
        """The body, with its velocities counted from zero."""
        kind, zero = self.kind, np.zeros((4, 4))
        pitch: Any = self.number("pitch")[()] if kind.advances else 0.0
        angle: Any = self.number("angle")[()] if kind.turn else 0.0
        pose = self.pose
        return Body(-1, -1, 0, 0, kind.turn, pitch, transform(pose[:3, :3], pose[:3, 3]), angle, zero, kind.joint)


class Neighbour(ABC):
    """A row beside the one of a step."""

    @abstractmethod
    def __getitem__(self, name: str) -> Array:
        """What was set for it."""

    @abstractmethod
    def add(self, name: str, value: Any) -> None:
        """Add to what was set for it."""


def at_rest(_: Any) -> None:
    """Nothing: for steps that are of interest for what they set."""


State: TypeAlias = Array
StepFunction: TypeAlias = Callable[[Row], None]
Start: TypeAlias = Callable[[Row], Sequence[State]]
Visit: TypeAlias = Callable[[Row, State, bool], State]


class Sweeps(ABC):
    """What an algorithm in steps is given."""

    @abstractmethod
    def ground(self, **values: Any) -> None:
        """Set what the ground has, from the constants of the mechanism; names without a value are zero."""

    @abstractmethod
    def constant(self, name: str) -> Array:
        """A constant of the mechanism: "gravity" (3,), "mass"."""

    @abstractmethod
    def temporary(self, name: str, *shape: Size) -> None:
        """Declare an array that lives for one configuration."""

    @abstractmethod
    def outward(self, step: StepFunction, table: str = "bodies") -> None:
        """Run a step on every row, parents first."""

    @abstractmethod
    def inward(self, step: StepFunction, table: str = "bodies") -> None:
        """Run a step on every row, parents last."""

    @abstractmethod
    def walk(self, start: Start, visit: Visit, start_table: str = "") -> None:
        """From each body to the ground: once for each of its velocities.

        `start` gives the states that the walks from a row begin with; `visit` is run on the bodies on the way, the row
        itself first (then `same` is true), and gives the state with which the parent is visited. From a `start_table` other
        than the bodies there is one walk a row, which begins at its body.
        """

    @abstractmethod
    def solve(self, matrix: str, *right: tuple[str, str]) -> None:
        """Factorise a matrix (nv, nv), and solve in place: see `linkwise.kernel.looped.LinearSolve`."""


# ── recording ─────────────────────────────────────────────────────────────────────────────────────


@dataclass
class _Record:
    """The record of a table: where each named quantity is, its shape, and whether it is symmetric."""

    slots: dict[str, tuple[int, tuple[int, ...], bool]] = field(default_factory=dict)
    size: int = 0

    def place(self, name: str, value: Array) -> list[tuple[int, tuple[int, ...]]]:
        """Elements that are kept, and their indices; a new quantity gets its place."""
        if name not in self.slots:
            symmetric = value.ndim == 2 and value.shape[0] == value.shape[1] and value.shape[0] > 3 and _is_symmetric(value)
            self.slots[name] = (self.size, value.shape, symmetric)
            self.size += len(_kept(value.shape, symmetric))
        first, shape, symmetric = self.slots[name]
        if shape != value.shape:
            raise ValueError(f"{name} has the shape {value.shape}, and had {shape}")
        if symmetric and not _is_symmetric(value):
            raise ValueError(f"{name} was symmetric, and is no longer")
        return [(first + k, index) for k, index in enumerate(_kept(shape, symmetric))]

    def read(self, name: str, element: Callable[[int], Any]) -> Array:
        """A quantity, each element by its place."""
        first, shape, symmetric = self.slots[name]
        result = np.empty(shape, dtype=object)
        for k, index in enumerate(_kept(shape, symmetric)):
            result[index] = element(first + k)
            if symmetric:
                result[index[::-1]] = result[index]
        return result


def _is_symmetric(value: Array) -> bool:
    return all(
        value[i, j] is value[j, i] or (not hasattr(value[i, j], "op") and value[i, j] == value[j, i])
        for i in range(len(value))
        for j in range(i)
    )


def _kept(shape: tuple[int, ...], symmetric: bool) -> list[tuple[int, ...]]:
    return [index for index in np.ndindex(shape) if not symmetric or index[0] <= index[1]]


def origins(shape: Sequence[Size], at: str) -> list[str]:
    """What the indices of an array count from, where `at` says nothing: coordinates, velocities, rows of a table."""
    if at:
        return at.split()
    known = {"nq": "q", "nv": "v"}
    return [known.get(size, "r" if k == 0 else ".") if isinstance(size, str) else "." for k, size in enumerate(shape)]


class RecordedSweeps(Sweeps):
    """Records the steps of an algorithm as a looped program.

    Parameters
    ----------
    name : str
        Of the algorithm.
    inputs, outputs : mapping of str to tuple of Size
        Its arrays.
    """

    def __init__(self, name: str, inputs: Mapping[str, tuple[Size, ...]], outputs: Mapping[str, tuple[Size, ...]]) -> None:
        self.name, self.inputs, self.outputs = name, dict(inputs), dict(outputs)
        self.temporaries: dict[str, tuple[Size, ...]] = {}
        self.layouts = {"bodies": _Record()}
        self.phases: list[RowPass | LinearSolve] = []
        self.added: dict[str, None] = {}
        self.symbols: dict[Place, Any] = {}
        self.places: dict[Any, Place] = {}

    def symbol(self, place: Place) -> Any:
        """The symbol that stands for an element."""
        if place not in self.symbols:
            node = self.symbols[place] = symbol(_named(place))
            self.places[node] = place
        return self.symbols[place]

    def constants(self, base: str, table: str, name: str) -> Array:
        """Symbols in the place of constants of a row."""
        first = 0
        for other, shape in NUMBERS[table].items():
            if other == name:
                result = np.empty(shape, dtype=object)
                for k, index in enumerate(np.ndindex(shape)):
                    result[index] = self.symbol((base, first + k))
                return result
            first += prod(shape)
        raise KeyError(name)

    def shape(self, array: str) -> tuple[Size, ...]:
        """The shape of an array."""
        return {**self.inputs, **self.outputs, **self.temporaries}[array]

    def program(self) -> LoopedProgram:
        """What was recorded."""
        tables = {name: TableLayout(numbers_of(name), layout.size) for name, layout in self.layouts.items()}
        layout = ProgramLayout(self.name, self.inputs, self.outputs, self.temporaries, tuple(self.added), tables)
        return LoopedProgram.of(layout, tuple(self.phases))

    def ground(self, **values: Any) -> None:
        """Record what the ground has."""
        row = _RecordedRow(self, "bodies", PLAIN[0])
        for name, value in values.items():
            row[name] = np.asarray(value, dtype=object)
        self.phases.append(RowPass("bodies", "ground", (row.step(f"{self.name} ground"),)))

    def constant(self, name: str) -> Array:
        """Symbols in the place of constants of the mechanism."""
        return self.constants("globals", "globals", name)

    def temporary(self, name: str, *shape: Size) -> None:
        """Declare an array."""
        self.temporaries[name] = shape

    def outward(self, step: StepFunction, table: str = "bodies") -> None:
        """Record a pass from the ground."""
        self._pass("outward", step, table)

    def inward(self, step: StepFunction, table: str = "bodies") -> None:
        """Record a pass to the ground."""
        self._pass("inward", step, table)

    def _pass(self, order: str, step: StepFunction, table: str) -> None:
        self.layouts.setdefault(table, _Record())
        steps, known = [], frozenset(self.layouts[table].slots)
        for kind in kinds_of(table):
            row = _RecordedRow(self, table, kind, known)
            step(row)
            steps.append(row.step(f"{self.name} {len(self.phases)} {kind.name}"))
        self.phases.append(RowPass(table, order, tuple(steps)))

    def walk(self, start: Start, visit: Visit, start_table: str = "") -> None:
        """Record walks to the ground."""
        self.layouts.setdefault(start_table or "bodies", _Record())
        starts: list[RowStep] = []
        own: list[RowStep] = []
        steps: list[RowStep] = []
        label = f"{self.name} {len(self.phases)}"
        shape: tuple[int, ...] = ()
        for kind in kinds_of(start_table or "bodies"):
            row = _RecordedRow(self, start_table or "bodies", kind)
            for k, state in enumerate(start(row)):
                shape = np.shape(state)
                row.keep("state", k * prod(shape), np.asarray(state, dtype=object))
            starts.append(row.step(f"{label} start {kind.name}", after="state"))
        for same, kept in ((True, own), (False, steps)):
            for kind in BODY_KINDS:
                row = _RecordedRow(self, "bodies", kind)
                state = row.elements("state", shape)
                row.keep("next", 0, np.asarray(visit(row, state, same), dtype=object))
                kept.append(row.step(f"{label} {same} {kind.name}"))
        phase = RowPass("bodies", "walk", tuple(steps), tuple(starts), () if start_table else tuple(own), start_table)
        self.phases.append(phase)

    def solve(self, matrix: str, *right: tuple[str, str]) -> None:
        """Record a factorisation."""
        self.phases.append(LinearSolve(matrix, right))


class _RecordedRow(Row):
    """A row of symbols."""

    def __init__(self, recorded: RecordedSweeps, table: str, kind: RowKind, known: frozenset[str] | None = None) -> None:
        self.recorded, self.table, self.kind = recorded, table, kind
        self.known = frozenset(recorded.layouts[table].slots) if known is None else known
        self.layout = recorded.layouts[table]
        self.outputs: dict[Place, Any] = {}
        self.values: dict[str, Array] = {}
        self.neighbours: dict[str, _RecordedNeighbour] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.values or name in self.known

    def __getitem__(self, name: str) -> Array:
        if name not in self.values:
            self.values[name] = self.layout.read(name, lambda k: self.element(("own", k)))
        return self.values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        array = np.asarray(value, dtype=object)
        self.values[name] = array
        for place, index in self.layout.place(name, array):
            self.outputs["own", place] = array[index]

    def neighbour(self, which: str) -> Neighbour:
        """A row beside this one."""
        if which not in self.neighbours:
            tables = {"body": "bodies", "ground": "bodies", "link": "links"}
            layout = self.recorded.layouts[tables[which]] if which in tables else self.layout
            self.neighbours[which] = _RecordedNeighbour(self, which, layout)
        return self.neighbours[which]

    def number(self, name: str) -> Array:
        """Symbols in the place of constants."""
        return self.recorded.constants("numbers", self.table, name)

    def element(self, place: Place) -> Any:
        """The symbol of an element, or what this step has put there."""
        if place in self.outputs:
            return self.outputs[place]
        return self.recorded.symbol(place)

    def _elements(self, array: str, at: str) -> tuple[str, tuple[int, ...]]:
        """Where the elements are counted from, and how many there are along each dimension."""
        shape = self.recorded.shape(array)
        letters = origins(shape, at)
        counts = {"q": self.kind.nq, "v": self.kind.nv, "w": 1, "r": 1, "10w": 10, "drive": 1, "drive4": 4}
        extents = tuple(counts.get(letter) or int(size) for letter, size in zip(letters, shape, strict=True))
        return " ".join(letters), extents

    def read(self, array: str, at: str = "") -> Array:
        """Symbols in the place of elements."""
        letters, extents = self._elements(array, at)
        result = np.empty(extents, dtype=object)
        for index in np.ndindex(extents):
            result[index] = self.element(("array", array, letters, index))
        kept = tuple(0 if letter in {"w", "r", "drive"} else slice(None) for letter in letters.split())
        return np.asarray(result[kept], dtype=object)

    def write(self, array: str, values: Any, at: str = "", *, add: bool = False) -> None:
        """Keep elements for an array."""
        letters, extents = self._elements(array, at)
        numbers = np.asarray(values, dtype=object).reshape(extents)
        if add:
            self.recorded.added[array] = None
        for index in np.ndindex(extents):
            place: Place = ("array", array, letters, index)
            self.outputs[place] = self.element(place) + numbers[index] if add else numbers[index]

    def elements(self, base: str, shape: tuple[int, ...]) -> Array:
        """The state that a walk came with."""
        result = np.empty(shape, dtype=object)
        for k, index in enumerate(np.ndindex(shape)):
            result[index] = self.element((base, k))
        return result

    def keep(self, base: str, first: int, value: Array) -> None:
        """Keep the state that a walk goes on with."""
        for k, number in enumerate(value.ravel()):
            self.outputs[base, first + k] = number

    def step(self, name: str, after: str = "") -> RowStep:
        """The arithmetic that was recorded."""
        outputs = {(("next", *place[1:]) if place[0] == after else place): value for place, value in self.outputs.items()}
        values = shortened(list(outputs.values()))
        used, places = _leaves(values), self.recorded.places
        inputs = {place: node for node, place in places.items() if node in used}
        nodes = np.empty(len(inputs), dtype=object)
        nodes[:] = list(inputs.values())
        tape = Tape.from_graph(name, {"in": nodes}, {"out": np.array(values, dtype=object)})
        return RowStep(tape, tuple(inputs), tuple(outputs))


def _leaves(values: Sequence[Any]) -> set[Any]:
    """The symbols that expressions depend on."""
    seen: set[Any] = set()
    waiting = [value for value in values if hasattr(value, "op")]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += node.args
    return {node for node in seen if node.op == "symbol"}


def _named(place: Place) -> str:
    if place[0] != "array":
        return f"{place[0]}[{place[1]}]"
    return f"{place[1]} {place[2]}[{','.join(map(str, place[3]))}]"


class _RecordedNeighbour(Neighbour):
    """A row of symbols beside the one of the step."""

    def __init__(self, row: _RecordedRow, which: str, layout: _Record) -> None:
        self.row, self.which, self.layout = row, which, layout

    def __getitem__(self, name: str) -> Array:
        return self.layout.read(name, lambda k: self.row.element((self.which, k)))

    def add(self, name: str, value: Any) -> None:
        """Keep the sum."""
        array = self[name] + np.asarray(value, dtype=object)
        for place, index in self.layout.place(name, array):
            self.row.outputs[self.which, place] = array[index]


# ── unrolled ──────────────────────────────────────────────────────────────────────────────────────


@dataclass
class RowData:
    """A row of a mechanism: the whole numbers of `linkwise.kernel.looped.ROW`, and constants by name."""

    parent: int
    kind: RowKind
    numbers: Mapping[str, Any]
    q: int = 0
    v: int = 0
    body: int = -1
    link: int = -1
    drive: int = 0


class UnrolledSweeps(Sweeps):
    """Runs the steps of an algorithm on the rows of a mechanism, over scalars of any kind.

    Parameters
    ----------
    tables : mapping of str to sequence of RowData
        The rows.
    constants : mapping of str to ndarray
        Of the mechanism.
    inputs : mapping of str to (tuple of Size, ndarray)
        Shapes and values; outputs are added to them.
    sizes : mapping of str to int
        Sizes by name.
    """

    def __init__(
        self,
        tables: Mapping[str, Sequence[RowData]],
        constants: Mapping[str, Array],
        inputs: Mapping[str, tuple[tuple[Size, ...], Array]],
        sizes: Mapping[str, int],
    ) -> None:
        self.tables, self.constants, self.sizes = tables, constants, sizes
        self.shapes = {name: shape for name, (shape, _) in inputs.items()}
        self.arrays = {name: np.asarray(value) for name, (_, value) in inputs.items()}
        self.records: dict[str, list[dict[str, Array]]] = {
            name: [{} for _ in range(len(rows) + 1)] for name, rows in tables.items()
        }

    def output(self, name: str, shape: tuple[Size, ...]) -> None:
        """Add an array of zeros."""
        self.shapes[name] = shape
        self.arrays[name] = blank(*(size if isinstance(size, int) else self.sizes[size] for size in shape))

    def ground(self, **values: Any) -> None:
        """Set what the ground has."""
        self.records["bodies"][0].update({name: np.asarray(value, dtype=object) for name, value in values.items()})

    def constant(self, name: str) -> Array:
        """A constant of the mechanism."""
        return self.constants[name]

    def temporary(self, name: str, *shape: Size) -> None:
        """Add an array."""
        self.output(name, shape)

    def outward(self, step: StepFunction, table: str = "bodies") -> None:
        """Run a step on every row."""
        for k in range(len(self.tables[table])):
            step(_UnrolledRow(self, table, k))

    def inward(self, step: StepFunction, table: str = "bodies") -> None:
        """Run a step on every row, the last first."""
        for k in reversed(range(len(self.tables[table]))):
            step(_UnrolledRow(self, table, k))

    def walk(self, start: Start, visit: Visit, start_table: str = "") -> None:
        """Walk from each row to the ground."""
        for k, first in enumerate(self.tables[start_table or "bodies"]):
            for column, state in enumerate(start(_UnrolledRow(self, start_table or "bodies", k))):
                body, same, moved = (first.body if start_table else k), not start_table, state
                while body >= 0:
                    row = _UnrolledRow(self, "bodies", body, first.v + column, first.drive)
                    moved, same, body = visit(row, moved, same), False, self.tables["bodies"][body].parent

    def solve(self, matrix: str, *right: tuple[str, str]) -> None:
        """Factorise, and solve."""
        solver = factor(self.arrays[matrix])
        for name, operation in right:
            if operation == "inverse":
                self.arrays[name] = solver.inverse()
                continue
            sense = -1.0 if operation.startswith("negative") else 1.0
            columns = self.arrays[name].reshape(len(self.arrays[name]), -1)
            solved = np.stack([sense * solver.solve(column) for column in columns.T], axis=1)
            self.arrays[name] = solved.reshape(self.arrays[name].shape)


class _UnrolledRow(Row):
    """A row of a mechanism."""

    def __init__(self, sweeps: UnrolledSweeps, table: str, k: int, column: int = 0, drive: int | None = None) -> None:
        self.sweeps, self.table, self.k, self.column = sweeps, table, k, column
        self.data = sweeps.tables[table][k]
        self.drive = self.data.drive if drive is None else drive
        self.kind, self.record = self.data.kind, sweeps.records[table][k + 1]

    def __contains__(self, name: str) -> bool:
        return name in self.record

    def __getitem__(self, name: str) -> Array:
        return self.record[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.record[name] = np.asarray(value, dtype=object)

    def neighbour(self, which: str) -> Neighbour:
        """A row beside this one."""
        places = {
            "parent": (self.table, self.data.parent),
            "body": ("bodies", self.data.body),
            "link": ("links", self.data.link),
            "ground": ("bodies", -1),
        }
        table, k = places[which]
        return _UnrolledNeighbour(self.sweeps.records[table][k + 1])

    def number(self, name: str) -> Array:
        """Constants of the row."""
        return np.asarray(self.data.numbers[name], dtype=object)

    def _index(self, array: str, at: str) -> tuple[Any, ...]:
        data, kind = self.data, self.kind
        drive = self.sweeps.sizes.get("before drives", 0) + 4 * self.drive
        ranges = {
            "q": slice(data.q, data.q + kind.nq),
            "v": slice(data.v, data.v + kind.nv),
            "w": self.column,
            "r": self.k,
            ".": slice(None),
            "10w": slice(10 * self.column, 10 * self.column + 10),
            "drive": drive,
            "drive4": slice(drive, drive + 4),
        }
        return tuple(ranges[origin] for origin in origins(self.sweeps.shapes[array], at))

    def read(self, array: str, at: str = "") -> Array:
        """Elements of an array."""
        return np.array(self.sweeps.arrays[array][self._index(array, at)], dtype=object)

    def write(self, array: str, values: Any, at: str = "", *, add: bool = False) -> None:
        """Set elements of an array."""
        index, there = self._index(array, at), self.sweeps.arrays[array]
        numbers = np.asarray(values, dtype=object).reshape(np.shape(there[index]))
        there[index] = there[index] + numbers if add else numbers


class _UnrolledNeighbour(Neighbour):
    """A row beside it."""

    def __init__(self, record: dict[str, Array]) -> None:
        self.record = record

    def __getitem__(self, name: str) -> Array:
        return self.record[name]

    def add(self, name: str, value: Any) -> None:
        """Add to what was set; the ground has zeros."""
        array = np.asarray(value, dtype=object)
        self.record[name] = self.record[name] + array if name in self.record else array
