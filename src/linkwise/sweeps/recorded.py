"""The driver that records steps as a program that loops over the bodies of any mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from linkwise.expr.node import symbol
from linkwise.expr.simplify import shortened
from linkwise.kernel.looped import LinearSolve, LoopedProgram, Place, ProgramLayout, RowPass, RowStep, Size, TableLayout
from linkwise.kernel.tape import Tape
from linkwise.model.body import RESTING
from linkwise.spatial.scalar import Array
from linkwise.sweeps.drivers import (
    NUMBERS,
    PLAIN,
    Neighbour,
    Row,
    RowKind,
    Start,
    StepFunction,
    Sweeps,
    Visit,
    kinds_of,
    numbers_of,
    origins,
)


@dataclass
class _Record:
    """The record of a table: where each named quantity is, its shape, and whether it is symmetric."""

    slots: dict[str, tuple[int, tuple[int, ...], bool]] = field(default_factory=dict)
    on_ground: set[str] = field(default_factory=set)
    size: int = 0

    @property
    def known(self) -> frozenset[str]:
        """Names set for rows, apart from those of the ground alone."""
        return frozenset(self.slots.keys() - self.on_ground)

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


class RecordedSweeps(Sweeps):
    """Records the steps of an algorithm as a looped program.

    Parameters
    ----------
    name : str
        Name of the algorithm.
    inputs, outputs : mapping of str to tuple of Size
        Its arrays.
    traced : tuple of RowKind
        Kinds of joints from outside the package that the program is for, beside the built-in ones.
    regrouped : bool
        Whether bodies are regrouped, so that elements of their inertias are zero.
    """

    def __init__(
        self,
        name: str,
        inputs: Mapping[str, tuple[Size, ...]],
        outputs: Mapping[str, tuple[Size, ...]],
        traced: tuple[RowKind, ...] = (),
        *,
        regrouped: bool = False,
    ) -> None:
        self.name, self.inputs, self.outputs = name, dict(inputs), dict(outputs)
        self.traced, self.regrouped = traced, regrouped
        self.temporaries: dict[str, tuple[Size, ...]] = {}
        self.layouts = {"bodies": _Record()}
        self.phases: list[RowPass | LinearSolve] = []
        self.added: dict[str, None] = {}
        self.globals = _Symbols()
        self.rows: list[_RecordedRow] = []

    def shape(self, array: str) -> tuple[Size, ...]:
        """The shape of an array."""
        return {**self.inputs, **self.outputs, **self.temporaries}[array]

    def program(self) -> LoopedProgram:
        """The recorded program."""
        passed = _passed(self.phases)
        sizes = {name: (layout.size, 0) for name, layout in self.layouts.items()}
        sizes["bodies"] = (self.layouts["bodies"].size - len(passed), len(passed))
        tables = {name: TableLayout(numbers_of(name, self.traced), *size) for name, size in sizes.items()}
        places = _places(self.layouts["bodies"].size, passed)
        phases = [_replaced(phase, places) if isinstance(phase, RowPass) else phase for phase in self.phases]
        layout = ProgramLayout(self.name, self.inputs, self.outputs, self.temporaries, tuple(self.added), tables)
        return LoopedProgram.of(layout, tuple(phases))

    def ground(self, **values: Any) -> None:
        """Record values of the ground."""
        row = _RecordedRow(self, "bodies", PLAIN[0])
        for name, value in values.items():
            fresh = name not in row.layout.slots
            row[name] = np.asarray(value, dtype=object)
            if fresh:
                row.layout.on_ground.add(name)
        self.phases.append(RowPass("bodies", "ground", (row.step(f"{self.name} ground"),)))

    def constant(self, name: str) -> Array:
        """Symbols in the place of constants of the mechanism."""
        return _constants(self.globals, "globals", "globals", name)

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
        steps, known = [], self.layouts[table].known
        for kind in kinds_of(table, self.traced):
            row = _RecordedRow(self, table, kind, known)
            step(row)
            steps.append(row.step(f"{self.name} {len(self.phases)} {kind.name}"))
        self.phases.append(RowPass(table, order, tuple(steps)))

    def walk(self, start: Start, visit: Visit, start_table: str = "") -> None:
        """Record walks to the ground."""
        self.layouts.setdefault(start_table or "bodies", _Record())
        starts: list[RowStep] = []
        visited: list[RowStep] = []
        steps: list[RowStep] = []
        label = f"{self.name} {len(self.phases)}"
        shape: tuple[int, ...] = ()
        for kind in kinds_of(start_table or "bodies", self.traced):
            row = _RecordedRow(self, start_table or "bodies", kind)
            for k, state in enumerate(start(row)):
                shape = np.shape(state)
                row.keep("state", k * prod(shape), np.asarray(state, dtype=object))
            starts.append(row.step(f"{label} start {kind.name}", after="state"))
        for same, kept in ((True, visited), (False, steps)):
            for kind in kinds_of("bodies", self.traced):
                row = _RecordedRow(self, "bodies", kind)
                state = row.elements("state", shape)
                row.keep("next", 0, np.asarray(visit(row, state, same), dtype=object))
                kept.append(row.step(f"{label} {same} {kind.name}"))
        phase = RowPass("bodies", "walk", tuple(steps), tuple(starts), () if start_table else tuple(visited), start_table)
        self.phases.append(phase)

    def solve(self, matrix: str, *right: tuple[str, str]) -> None:
        """Record a factorisation."""
        self.phases.append(LinearSolve(matrix, right))


def _steps(phase: RowPass) -> list[tuple[str, RowStep]]:
    """Steps of a pass, each with its table."""
    tables = (phase.table, phase.start_table or phase.table, phase.table)
    groups = zip(tables, (phase.steps, phase.starts, phase.own), strict=True)
    return [(table, step) for table, group in groups for step in group if step is not None]


def _passed(phases: Sequence[RowPass | LinearSolve]) -> list[int]:
    """The elements of the record of a body that one pass outward sets, and no other reads but those over rotors."""
    passes: dict[int, set[int]] = {}
    for number, phase in enumerate(phases):
        if isinstance(phase, LinearSolve) or phase.order == "ground":
            continue
        for table, step in _steps(phase):
            for base, k, *_ in (*step.inputs, *step.outputs):
                if base in {"own", "parent"} and table == "bodies":
                    passes.setdefault(k, set()).add(number if phase.order == "outward" else -1)
                elif base == "ground" or (base == "body" and table != "rotors"):
                    passes.setdefault(k, set()).add(-1)
    return sorted(k for k, numbers in passes.items() if len(numbers) == 1 and -1 not in numbers)


def _places(size: int, passed: Sequence[int]) -> dict[tuple[str, int], tuple[str, int]]:
    """Map places in the records of bodies to separate places of the values passed on."""
    kept = [k for k in range(size) if k not in passed]
    return {
        (base, k): (base + suffix, at)
        for suffix, elements in (("", kept), (" passed", passed))
        for at, k in enumerate(elements)
        for base in ("own", "parent", "body", "ground")
    }


def _replaced(phase: RowPass, places: Mapping[Place, Place]) -> RowPass:
    """A pass with other places."""

    def step(table: str, old: RowStep) -> RowStep:
        inputs, outputs = (
            tuple(
                place if table != "bodies" and place[0] in {"own", "parent"} else places.get(place, place) for place in group
            )
            for group in (old.inputs, old.outputs)
        )
        return RowStep(old.tape, inputs, outputs)

    first = phase.start_table or phase.table
    return replace(
        phase,
        steps=tuple(old and step(phase.table, old) for old in phase.steps),
        starts=tuple(step(first, old) for old in phase.starts),
        own=tuple(old and step(phase.table, old) for old in phase.own),
    )


class _Symbols(dict[Place, Any]):
    """Symbols of elements, by their places."""

    def __missing__(self, place: Place) -> Any:
        self[place] = symbol(_named(place))
        return self[place]


def _constants(symbols: _Symbols, base: str, table: str, name: str) -> Array:
    """Symbols in the place of constants of a row."""
    first = 0
    for other, shape in NUMBERS[table].items():
        if other == name:
            result = np.empty(shape, dtype=object)
            for k, index in enumerate(np.ndindex(shape)):
                result[index] = symbols[base, first + k]
            return result
        first += prod(shape)
    raise KeyError(name)


class _RecordedRow(Row):
    """A row with its symbols.

    What commutes is ordered by age. Nodes on symbols that steps share would be as old as the first step that has them, if
    that has not been collected yet: then the same steps would give other tapes, with other roundings, from time to time.
    What depends on constants of the mechanism alone is shared, so all rows live until the program is there.
    """

    def __init__(self, recorded: RecordedSweeps, table: str, kind: RowKind, known: frozenset[str] | None = None) -> None:
        self.recorded, self.table, self.kind = recorded, table, kind
        self.symbols = _Symbols()
        recorded.rows.append(self)
        self.layout = recorded.layouts[table]
        self.known = self.layout.known if known is None else known
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
        self.layout.on_ground.discard(name)
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
        return _constants(self.symbols, "numbers", self.table, name)

    @property
    def joint_numbers(self) -> Array:
        """Symbols in the place of the numbers of a joint."""
        assert self.kind.arithmetic is not None
        first = numbers_of(self.table)
        return np.array([self.symbols["numbers", first + k] for k in range(*self.kind.arithmetic.tape.inputs["numbers"])])

    @property
    def inertia(self) -> Array:
        """The pseudo-inertia (4, 4) of the row, with the zeros of a regrouped body (saves 6 % of inverse dynamics)."""
        simple = self.kind.joint is None and self.kind.arithmetic is None
        if not (self.recorded.regrouped and self.table == "bodies" and simple):
            return super().inertia
        return np.where(RESTING[bool(self.kind.turn), self.kind.advances], 0.0, super().inertia)

    def element(self, place: Place) -> Any:
        """Symbol of an element, or the value that this step has stored."""
        if place in self.outputs:
            return self.outputs[place]
        return self.symbols[place]

    def _elements(self, array: str, at: str) -> tuple[str, tuple[int, ...]]:
        """Origins of the element indices, and extents of each dimension."""
        shape = self.recorded.shape(array)
        letters = origins(shape, at)
        counts = {"q": self.kind.nq, "v": self.kind.nv, "w": 1, "r": 1, "10w": 10, "10v": 10}
        counts |= {"drive": 1, "drive4": 4}
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
        """Store the state with which a walk continues."""
        for k, number in enumerate(value.ravel()):
            self.outputs[base, first + k] = number

    def step(self, name: str, after: str = "") -> RowStep:
        """The arithmetic that was recorded."""
        outputs = {(("next", *place[1:]) if place[0] == after else place): value for place, value in self.outputs.items()}
        values = shortened(list(outputs.values()))
        used = _leaves(values)
        inputs = {place: node for place, node in [*self.recorded.globals.items(), *self.symbols.items()] if node in used}
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
