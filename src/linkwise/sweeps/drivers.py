"""Algorithms as steps over bodies: one description, run by two drivers.

An algorithm over a tree of bodies is a sequence of passes, each with one step that is the same for every body: outward from
the ground, inward from the tips, along the way from a body to the ground. `UnrolledSweeps` runs the steps on the bodies of a
mechanism, one after another, which gives straight-line arithmetic; `RecordedSweeps` runs each once for every kind of
joint, on symbols in the place of a body's numbers, which gives a program that loops over the bodies of any mechanism.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from linkwise.algorithm import with_external
from linkwise.expr.node import symbol
from linkwise.kernel.looped import Size
from linkwise.kernel.sources import is_own
from linkwise.model.body import Body, Freedom, rotation_of
from linkwise.model.body_transform import JointTransform, joint_transform
from linkwise.model.joints import JOINTS, Joint
from linkwise.model.joints.joint import make_joint
from linkwise.spatial.scalar import Array, is_number
from linkwise.spatial.transform import transform
from linkwise.sweeps.joint_arithmetic import JointArithmetic

#: Every algorithm in steps, by the name of the algorithm that it computes.
LOOPED: dict[str, LoopedAlgorithm] = {}


@dataclass(frozen=True)
class LoopedAlgorithm:
    """The declaration of an algorithm in steps.

    Attributes
    ----------
    name : str
        The algorithm of `linkwise.algorithm.ALGORITHMS` that it computes.
    function : callable
        ``function(sweeps, **variants)``.
    variants : tuple of str
        Options of the algorithm that change the steps; others change the tables alone.
    regrouped : bool
        Whether inertias are moved to parents that feel them alike.
    path : bool
        Whether only the bodies that carry a frame count.
    moment : bool
        Whether it needs the mass, and the first moment of what the ground holds.
    external : bool
        Whether it is the one with wrenches, of a function that does both.
    """

    name: str
    function: Callable[..., None]
    variants: tuple[str, ...]
    regrouped: bool
    path: bool
    moment: bool
    external: bool = False

    def run(self, sweeps: Sweeps, **variants: Any) -> None:
        """Do the steps."""
        self.function(sweeps, **variants, **({"wrenches": True} if self.external else {}))


def looped(
    name: str, *, regrouped: bool = False, path: bool = False, moment: bool = False, external: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated function as the steps of an algorithm, and with ``wrenches=True`` of its `external` twin."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters.values()
        variants = tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)
        LOOPED[name] = LoopedAlgorithm(name, function, variants, regrouped, path, moment)
        if external:
            LOOPED[with_external(name)] = replace(LOOPED[name], name=with_external(name), external=True)
        return function

    return declare


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
    "springs": dict.fromkeys(("ratio", "shift", "stiffness", "rest", "damping", "force", "low", "high"), ()),
}

#: Pairs of indices of the upper triangle of a pseudo-inertia (4, 4), in the order of the numbers that are kept.
PSEUDO = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3), (3, 3))


def numbers_of(table: str, traced: tuple[RowKind, ...] = ()) -> int:
    """Number of constants in a row of a table; for a body including those of a joint type from outside."""
    count = sum(prod(shape) for shape in NUMBERS[table].values())
    if table == "bodies":
        count += max((kind.arithmetic.tape.inputs["numbers"][0] for kind in traced if kind.arithmetic), default=0)
    return count


@dataclass(frozen=True)
class RowKind:
    """Properties shared by rows that have the same arithmetic.

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
    arithmetic : JointArithmetic or None
        The same of joints of types from outside the package.
    twisted : bool
        Whether the constant placement of a body is Rx(alpha) with the origin at (a, 0, d) in the axes so turned: what
        `linkwise.model.body` gives the first joint on a body, which takes a fifth of the operations off inverse dynamics.
    """

    name: str
    turn: float = 0.0
    advances: bool = False
    joint: Joint | None = None
    arithmetic: JointArithmetic | None = None
    twisted: bool = False

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        motion = self.joint or self.arithmetic
        return 1 if motion is None else motion.nq

    @property
    def nv(self) -> int:
        """Number of velocities."""
        motion = self.joint or self.arithmetic
        return 1 if motion is None else motion.nv

    @property
    def digest(self) -> str:
        """Digest of the arithmetic of joint types from outside."""
        return "" if self.arithmetic is None else self.arithmetic.digest


#: Kinds of bodies: by the motion of their joints along and about z, and those of joints with quaternions.
BODY_KINDS = (
    RowKind("turning", 1.0),
    RowKind("turning about a twisted axis", 1.0, twisted=True),
    RowKind("sliding", 0.0, advances=True),
    RowKind("turning and sliding", 1.0, advances=True),
    *(
        RowKind(name, joint=make_joint(name, np.array([0.0, 0.0, 1.0])))
        for name, kind in JOINTS.items()
        if kind.quaternion is not None and is_own(kind)
    ),
)

#: Wrenches by their axes: the frame's own; the world's, about the frame's origin or about the world's.
WRENCH_KINDS = (RowKind("body"), RowKind("world"), RowKind("spatial"))

#: Springs on joints: the first joint of a spring and damper, or of an end stop, and further joints of a spring.
SPRING_KINDS = (RowKind("spring"), RowKind("stop"), RowKind("strand"))

PLAIN = (RowKind("row"),)


def kinds_of(table: str, traced: tuple[RowKind, ...] = ()) -> tuple[RowKind, ...]:
    """The kinds of the rows of a table; those of bodies also of joints of types from outside."""
    return {"bodies": (*BODY_KINDS, *traced), "wrenches": WRENCH_KINDS, "springs": SPRING_KINDS}.get(table, PLAIN)


class Row(ABC):
    """One row of a table in a step, usually a body.

    ``row["velocity"]`` is what a step before set for this row, ``row.parent["velocity"]`` what it set for the parent, and
    ``row.body["velocity"]`` for the body that a link, frame or rotor belongs to.
    """

    kind: RowKind
    table: str

    @property
    def rooted(self) -> bool:
        """True if the parent is the ground, which then need not be set unless a result depends on it."""
        return False

    @abstractmethod
    def __getitem__(self, name: str) -> Array:
        """Value of this row."""

    @abstractmethod
    def __setitem__(self, name: str, value: Any) -> None:
        """Set something for this row."""

    @abstractmethod
    def __contains__(self, name: str) -> bool:
        """True if the value is set."""

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
        result = np.empty((4, 4), dtype=values.dtype)
        for value, (i, j) in zip(values, PSEUDO, strict=True):
            result[i, j] = result[j, i] = value
        return result

    @property
    def pose(self) -> Array:
        """The constant pose (4, 4) of the row on its body, or of a body on its parent."""
        return np.concatenate([self.number("pose"), np.array([[0.0, 0.0, 0.0, 1.0]], dtype=object)])

    @property
    def joint(self) -> JointTransform:
        """Joint between the body and its parent; computed once, on first use."""
        if self.kind.twisted:
            there = self._placed
            if "turn" not in self:
                self["turn"] = there.turn[:2, 0]
            return replace(there, turn=rotation_of(*self["turn"]), planar=tuple(self["turn"]))
        if "rotation" not in self:
            there = self._placed
            self["rotation"], self["origin"] = there.rotation, there.origin
        still, zero = np.eye(3), np.zeros(3)
        return JointTransform(self["rotation"], self["origin"], still, zero, None, self._freedoms, self._changes())

    @property
    def upright(self) -> JointTransform:
        """The same with all bodies in the axes of the world, each about its own origin; `axes` turns its own into these.

        Passing vectors and inertias on takes no rotation then, and no digits are lost far from the world's origin.
        """
        if "lever" not in self:
            there, before = self._placed, self.parent["axes"]
            fixed = before @ there.fixed
            self["axes"], self["lever"] = fixed @ there.turn, before @ there.shift + fixed @ there.slide
        axes, still, zero = self["axes"], np.eye(3), np.zeros(3)
        return JointTransform(still, self["lever"], still, zero, None, _turned(axes, self._freedoms), self._changes(axes))

    @property
    def upright_inertia(self) -> Array:
        """The pseudo-inertia (4, 4) in the axes of the world."""
        zero = np.zeros(3)
        return JointTransform(self["axes"], zero, np.eye(3), zero).inertia_to_parent(self.inertia)

    @property
    def _placed(self) -> JointTransform:
        """Joint between the body and its parent, from its coordinates."""
        pose = self.pose
        if self.kind.arithmetic is None:
            there = joint_transform(self._generic, self.read("q"))
            if not self.kind.twisted:
                return there
            along, sine, cosine, height = pose[2]
            fixed = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
            return replace(there, fixed=fixed, shift=np.zeros(3), slide=np.array([along, 0.0, height]))
        motion = self._motion()[0]
        return JointTransform(pose[:3, :3], pose[:3, 3], motion[:, :3], motion[:, 3])

    @property
    def _freedoms(self) -> tuple[Freedom, ...]:
        """Columns of the motion subspace in the body's axes; changing ones are stored by the first step that uses them."""
        arithmetic = self.kind.arithmetic
        if arithmetic is None:
            return self._generic.freedoms
        columns, name = self._motion()[1], f"subspace of {self.kind.name}"
        changing = [index for index in np.ndindex(columns.shape) if not is_number(columns[index])]
        if changing:
            if name not in self:
                self[name] = np.array([columns[index] for index in changing], dtype=object)
            for index, value in zip(changing, self[name], strict=True):
                columns[index] = value
        return _freedoms(columns)

    def _changes(self, axes: Array | None = None) -> Callable[[Array], tuple[Freedom, ...]] | None:
        """Derivatives of these columns from the body's velocities, in its axes or in others; None if all are constant."""
        if self.kind.arithmetic is None or all(map(is_number, self._motion()[2].flat)):
            return None

        def changes(qd: Array) -> tuple[Freedom, ...]:
            rates = _freedoms(self._motion(qd)[2])
            return rates if axes is None else _turned(axes, rates)

        return changes

    def _motion(self, qd: Array | None = None) -> tuple[Array, Array, Array]:
        """Placement (3, 4), motion subspace (6, nv) and its rate, of a joint type from outside."""
        arithmetic = self.kind.arithmetic
        assert arithmetic is not None
        velocity = np.array([symbol("qd") for _ in range(arithmetic.nv)]) if qd is None else qd
        return arithmetic.on(self.read("q") + self.number("angle")[()], velocity, self.joint_numbers)

    @property
    def joint_numbers(self) -> Array:
        """Numbers of a joint whose type is from outside."""
        raise NotImplementedError

    @cached_property
    def _generic(self) -> Body:
        """The body, with its velocities counted from zero."""
        kind, zero = self.kind, np.zeros((4, 4))
        pitch: Any = self.number("pitch")[()] if kind.advances else 0.0
        angle: Any = self.number("angle")[()] if kind.turn else 0.0
        pose = self.pose
        return Body(-1, -1, 0, 0, kind.turn, pitch, transform(pose[:3, :3], pose[:3, 3]), angle, zero, kind.joint)


def _freedoms(columns: Array) -> tuple[Freedom, ...]:
    return tuple(Freedom(k, column[:3], column[3:]) for k, column in enumerate(columns.T))


def _turned(axes: Array, freedoms: Sequence[Freedom]) -> tuple[Freedom, ...]:
    return tuple(Freedom(x.speed, axes @ x.linear, axes @ x.angular) for x in freedoms)


class Neighbour(ABC):
    """A row beside the one of a step."""

    @abstractmethod
    def __getitem__(self, name: str) -> Array:
        """Value of the neighbour."""

    @abstractmethod
    def add(self, name: str, value: Any) -> None:
        """Add to a value of the neighbour."""


def at_rest(_: Any) -> None:
    """Do nothing: visit of walks that only set values."""


State: TypeAlias = Array
StepFunction: TypeAlias = Callable[[Row], None]
Start: TypeAlias = Callable[[Row], Sequence[State]]
Visit: TypeAlias = Callable[[Row, State, bool], State]


class Sweeps(ABC):
    """The interface of an algorithm in steps."""

    @abstractmethod
    def ground(self, **values: Any) -> None:
        """Set values of the ground, from the constants of the mechanism; names without a value are zero."""

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
        """Walk from each body to the ground, once for each of its velocities.

        `start` gives the states that the walks from a row begin with; `visit` is run on the bodies on the way, the row
        itself first (then `same` is true), and gives the state with which the parent is visited. From a `start_table` other
        than the bodies there is one walk a row, which begins at its body.
        """

    @abstractmethod
    def solve(self, matrix: str, *right: tuple[str, str]) -> None:
        """Factorise a matrix (nv, nv), and solve in place: see `linkwise.kernel.looped.LinearSolve`."""


def origins(shape: Sequence[Size], at: str) -> list[str]:
    """Default origins of the indices of an array: coordinates, velocities, rows of a table."""
    if at:
        return at.split()
    known = {"nq": "q", "nv": "v"}
    return [known.get(size, "r" if k == 0 else ".") if isinstance(size, str) else "." for k, size in enumerate(shape)]


def body_pose(body: Row) -> Array:
    """Pose of a body in the world (3, 4), from its parent's; computed once, on first use."""
    if "world" not in body:
        joint, before = body.joint, body.parent["world"]
        fixed = before[:, :3] @ joint.fixed
        origin = before[:, 3] + before[:, :3] @ joint.shift + fixed @ joint.slide
        body["world"] = np.concatenate([fixed @ joint.turn, origin[:, None]], axis=1)
    return body["world"]


def framed(row: Row) -> Array:
    """Pose (4, 4) of a link or frame in the world, from its body's."""
    world = row.body["world"]
    pose = row.pose
    position = world[:, 3] + world[:, :3] @ pose[:3, 3]
    return transform(world[:, :3] @ pose[:3, :3], position)
