"""The driver that runs steps on the bodies of a mechanism, one after another: straight-line arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from linkwise.algorithm import find
from linkwise.kernel.looped import Size
from linkwise.model.body import Bodies, Freedom
from linkwise.model.body_transform import JointTransform
from linkwise.model.tree import Tree
from linkwise.spatial.linear import factor
from linkwise.spatial.scalar import Array, blank
from linkwise.sweeps.drivers import LOOPED, Neighbour, Row, Start, StepFunction, Sweeps, Visit, origins
from linkwise.sweeps.tables import MechanismRows, RowData, shapes_of, sizes_of


def unrolled(
    name: str,
    tree: Tree,
    bodies: Bodies,
    joints: Sequence[JointTransform],
    *inputs: Any,
    poses: Mapping[int, Array] | None = None,
    **options: Any,
) -> Any:
    """Run the steps of an algorithm on the bodies of a mechanism, over scalars of any kind.

    Parameters
    ----------
    name : str
        The algorithm.
    tree : Tree
        Whose joints have coordinates of their own.
    bodies, joints : Bodies, sequence of JointTransform
        Its bodies, in any axes, and how these sit on each other.
    *inputs : array of scalars
        Its inputs, for one configuration.
    poses : mapping of int to ndarray (4, 4), optional
        Poses of the bodies, where they are known in fewer operations than the joints take.
    **options
        Of the algorithm.

    Returns
    -------
    ndarray or tuple of ndarray
        Its outputs; springs, and what turns momenta of motors, are left out.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.model.body import moving_bodies
    >>> from linkwise.model.body_transform import joint_transforms
    >>> arm, q = robots.planar_2r(), np.array([0.0, 0.5])
    >>> bodies = moving_bodies(arm)
    >>> energy = unrolled("kinetic_energy", arm, bodies, joint_transforms(bodies, q), q, np.array([1.0, 2.0]))
    >>> round(float(energy), 3)
    3.483
    """
    declared, steps = find(name), LOOPED[name]
    shapes = shapes_of(declared.inputs, single=options.get("wrenches") is None)
    arrays = {key: (shape, np.asarray(value)) for (key, shape), value in zip(shapes.items(), inputs, strict=True)}
    rows = MechanismRows(tree, bodies, {**declared.options, **options}, path=steps.path)
    sweeps = UnrolledSweeps(rows, joints, arrays, poses)
    for key, shape in shapes_of(declared.outputs, single=True).items():
        sweeps.temporary(key, *shape)
    known = {**declared.options, **options, "rotors": bool(bodies.rotors), "springs": False, "turning": False}
    steps.run(sweeps, **{name: known[name] for name in steps.variants})
    results = tuple(sweeps.arrays[key] for key in declared.outputs)
    return results if len(results) > 1 else results[0]


class UnrolledSweeps(Sweeps):
    """Runs the steps of an algorithm on the rows of a mechanism, over scalars of any kind.

    Each body has axes of its own, in which its constants have their zeros. What is to pass in upright axes does so in
    those that the joints are given in.

    Parameters
    ----------
    rows : MechanismRows
        The rows.
    joints : sequence of JointTransform
        How each body sits on its parent.
    arrays : mapping of str to (tuple of Size, ndarray)
        Shapes and values of the inputs.
    poses : mapping of int to ndarray (4, 4), optional
        Poses of the bodies, where they are known.
    """

    def __init__(
        self,
        rows: MechanismRows,
        joints: Sequence[JointTransform],
        arrays: Mapping[str, tuple[tuple[Size, ...], Array]] | None = None,
        poses: Mapping[int, Array] | None = None,
    ) -> None:
        self.rows = rows
        self.joints = [_counted_from_zero(joints[k], rows.tree.nv) for k in rows.kept]
        self.shapes = {name: shape for name, (shape, _) in (arrays or {}).items()}
        self.arrays = {name: value for name, (_, value) in (arrays or {}).items()}
        known: dict[str, Any] = {"axes": np.eye(3)}
        bodies = [known | ({"world": poses[k][:3]} if poses else {}) for k in rows.kept]
        self.records: dict[str, list[dict[str, Array]]] = {"bodies": [{}, *bodies]}

    def records_of(self, table: str) -> list[dict[str, Array]]:
        """Values of the rows of a table; the ground's first."""
        if table not in self.records:
            self.records[table] = [{} for _ in range(len(self.rows.table(table)) + 1)]
        return self.records[table]

    def ground(self, **values: Any) -> None:
        """Set values of the ground."""
        self.records["bodies"][0].update({name: np.asarray(value) for name, value in values.items()})

    def constant(self, name: str) -> Array:
        """A constant of the mechanism."""
        return np.asarray(self.rows.constant(name))

    def temporary(self, name: str, *shape: Size) -> None:
        """Add an array of zeros."""
        self.shapes[name] = shape
        self.arrays[name] = blank(*(size if isinstance(size, int) else self.sizes[size] for size in shape))

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the mechanism by name."""
        return sizes_of(self.rows.tree, self.rows.options)

    def outward(self, step: StepFunction, table: str = "bodies") -> None:
        """Run a step on every row."""
        for k in range(len(self.rows.table(table))):
            step(_UnrolledRow(self, table, k))

    def inward(self, step: StepFunction, table: str = "bodies") -> None:
        """Run a step on every row, the last first."""
        for k in reversed(range(len(self.rows.table(table)))):
            step(_UnrolledRow(self, table, k))

    def walk(self, start: Start, visit: Visit, start_table: str = "") -> None:
        """Walk from each row to the ground."""
        bodies = self.rows.table("bodies")
        for k, first in enumerate(self.rows.table(start_table or "bodies")):
            for column, state in enumerate(start(_UnrolledRow(self, start_table or "bodies", k))):
                body, same, moved = (first.body if start_table else k), not start_table, state
                while body >= 0:
                    row = _UnrolledRow(self, "bodies", body, first.v + column, first.drive)
                    moved, same, body = visit(row, moved, same), False, bodies[body].parent

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


def _counted_from_zero(joint: JointTransform, count: int) -> JointTransform:
    """Renumber the freedoms of a joint from zero, among ``count`` velocities."""
    first = joint.freedoms[0].speed
    freedoms = _shifted(joint.freedoms, first)
    changes = joint.changes and partial(_local_changes, joint.changes, first, len(freedoms), count)
    return replace(joint, freedoms=freedoms, changes=changes)


def _shifted(freedoms: Sequence[Freedom], first: int) -> tuple[Freedom, ...]:
    return tuple(replace(freedom, speed=freedom.speed - first) for freedom in freedoms)


def _local_changes(
    changes: Callable[[Array], tuple[Freedom, ...]], first: int, size: int, count: int, qd: Array
) -> tuple[Freedom, ...]:
    speeds = blank(count)
    speeds[first : first + size] = qd
    return _shifted(changes(speeds), first)


class _UnrolledRow(Row):
    """A row of a mechanism."""

    def __init__(self, sweeps: UnrolledSweeps, table: str, k: int, column: int = 0, drive: int | None = None) -> None:
        self.sweeps, self.table, self.k, self.column = sweeps, table, k, column
        self.data: RowData = sweeps.rows.table(table)[k]
        self.drive = self.data.drive if drive is None else drive
        self.kind, self.record = self.data.kind, sweeps.records_of(table)[k + 1]

    def __contains__(self, name: str) -> bool:
        return name in self.record

    def __getitem__(self, name: str) -> Array:
        return self.record[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.record[name] = np.asarray(value)

    @property
    def rooted(self) -> bool:
        """True if the parent is the ground."""
        return self.data.parent < 0

    @property
    def joint(self) -> JointTransform:
        """Joint between the body and its parent."""
        return self.sweeps.joints[self.k]

    @property
    def upright(self) -> JointTransform:
        """The same: forces and inertias pass on in the axes that there are."""
        return self.sweeps.joints[self.k]

    @property
    def upright_inertia(self) -> Array:
        """The pseudo-inertia (4, 4) in these axes."""
        return self.inertia

    def neighbour(self, which: str) -> Neighbour:
        """A row beside this one."""
        places = {
            "parent": (self.table, self.data.parent),
            "body": ("bodies", self.data.body),
            "link": ("links", self.data.link),
            "ground": ("bodies", -1),
        }
        table, k = places[which]
        return _UnrolledNeighbour(self.sweeps.records_of(table)[k + 1])

    def number(self, name: str) -> Array:
        """Constants of the row."""
        return np.asarray(self.data.numbers[name])

    def _index(self, array: str, at: str) -> tuple[Any, ...]:
        data, kind, sizes = self.data, self.kind, self.sweeps.sizes
        drive = sizes["before drives"] + 4 * self.drive
        ranges = {
            "q": slice(data.q, data.q + kind.nq),
            "v": slice(data.v, data.v + kind.nv),
            "w": self.column,
            "r": self.k,
            ".": slice(None),
            "10w": slice(10 * self.column, 10 * self.column + 10),
            "10v": slice(10 * data.v, 10 * data.v + 10),
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
        there[index] = there[index] + numbers if add else numbers[()]


class _UnrolledNeighbour(Neighbour):
    """A row beside it."""

    def __init__(self, record: dict[str, Array]) -> None:
        self.record = record

    def __getitem__(self, name: str) -> Array:
        return self.record[name]

    def add(self, name: str, value: Any) -> None:
        """Add to a value; the ground has zeros."""
        array = np.asarray(value)
        self.record[name] = self.record[name] + array if name in self.record else array
