"""The statement of a closed form: the axes of a chain, its free joints, and its family of solutions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import EXACT, AxisChain, as_read, parallel, part
from linkwise.inverse_kinematics.closed_form.subproblems import Turn, turned
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import inverse, transform

#: Parts of a pose, and the rows of its Jacobian: as many joints are determined.
ROWS = {"pose": slice(0, 6), "position": slice(0, 3), "orientation": slice(3, 6)}

NO_TURN = Turn(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Axis:
    """The axis of one joint.

    Attributes
    ----------
    joint : int
        Which joint of the chain.
    frame : ndarray (3, 3)
        A rotation whose last column is the direction of the axis, of scalars.
    point : ndarray (3,)
        A point on the axis, m.
    translates : bool
        Whether the joint is prismatic.
    fallback : Turn or scalar
        What the joint does where every value would do.
    """

    joint: int
    frame: Array
    point: Array
    translates: bool
    fallback: Any = NO_TURN

    @property
    def along(self) -> Array:
        """The direction (3,)."""
        return self.frame[:, 2]

    @property
    def across(self) -> Array:
        """Two directions (3, 2) perpendicular to the axis and to each other, right handed with it."""
        return self.frame[:, :2]

    def moved(self, displacement: Array) -> Axis:
        """The axis carried along by a displacement (4, 4)."""
        rotation, shift = displacement[:3, :3], displacement[:3, 3]
        return replace(self, frame=rotation @ self.frame, point=rotation @ self.point + shift)

    def rotation(self, value: Any) -> Array:
        """The rotation (3, 3) for a value of the joint: a `Turn`, or a length (m)."""
        if self.translates:
            return np.eye(3)
        across = self.frame @ np.array([[value.c, -value.s, 0.0], [value.s, value.c, 0.0], [0.0, 0.0, 1.0]], dtype=object)
        return np.asarray(across @ self.frame.T)

    def displacement(self, value: Any) -> Array:
        """The displacement (4, 4) for a value of the joint."""
        rotation = self.rotation(value)
        if self.translates:
            return transform(None, self.along * value)
        return transform(rotation, self.point - rotation @ self.point)

    def carried(self, value: Any, vector: Array) -> Array:
        """A direction (3,) as the joint turns it."""
        return vector if self.translates else turned(self.along, value, vector)


def axes_of(chain: AxisChain, free: Sequence[Any] | None = None) -> list[Axis]:
    """The joints of a chain; `free` has a value for each, 0 where it is left out."""
    values = free if free is not None else values_at(chain)
    return [
        Axis(joint, np.asarray(rotation_between((0.0, 0.0, 1.0), along)), point, translates, value)
        for joint, (along, point, translates, value) in enumerate(
            zip(chain.axes, chain.points, chain.translates, values, strict=True)
        )
    ]


def values_at(chain: AxisChain, numbers: Sequence[float] | FloatArray | None = None) -> list[Any]:
    """Joint values for angles (rad) and lengths (in sizes of the chain), by default of the reference position."""
    return [
        float(v) * chain.size if translates else Turn(float(np.cos(v)), float(np.sin(v)))
        for v, translates in zip([0.0] * len(chain) if numbers is None else numbers, chain.translates, strict=True)
    ]


def product(axes: Sequence[Axis], values: Sequence[Any]) -> Array:
    """The displacement (4, 4) of several joints, one after the other."""
    total = np.eye(4)
    for axis, value in zip(axes, values, strict=True):
        total = total @ axis.displacement(value)
    return total


class Branch(NamedTuple):
    """One solution of a pose: for each joint in the order of the chain a `Turn`, or the length (m) of a prismatic joint.

    `miss` is 0 where the equations hold, and grows with what is lacking.
    """

    joints: tuple[Any, ...]
    miss: Any = 0.0


#: Function of a displacement (4, 4) and the values of undetermined joints that returns all branches.
Solve = Callable[[Array, Sequence[Any]], list[Branch]]


@dataclass(frozen=True, eq=False)
class Family:
    """A closed form for one chain.

    Attributes
    ----------
    name : str
        The geometry, in words: ``"the axes of joints 4, 5 and 6 meet in a point"``.
    solve : callable
        Over scalars: ``solve(displacement, free) -> branches``.
    refine : bool
        Whether the branches want refining: they come from a polynomial, or the chain is one nearby.
    asks : {"pose", "position", "orientation"}
        Which part of the pose is to be reached; the other is not looked at.
    fixed : tuple of int
        Joints of the chain whose values are handed in, where others have what is taken if nothing determines them.
    near : AxisChain, optional
        The chain that is solved, where it may be another than the true one: its `misfit` says how far.
    """

    name: str
    solve: Solve
    refine: bool = False
    asks: str = "pose"
    fixed: tuple[int, ...] = ()
    near: AxisChain | None = None


def mirrored(solve: Solve) -> Solve:
    """Convert the solver of the reversed chain into that of the chain."""

    def run(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        branches = solve(inverse(displacement), list(free)[::-1])
        return [Branch(tuple(branch.joints[::-1]), branch.miss) for branch in branches]

    return run


def words(joints: Sequence[int]) -> str:
    """Format joint numbers, counted from 1: ``"2, 3 and 4"``."""
    names = [str(k + 1) for k in joints]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def family_of_six(
    chain: AxisChain,
    joints: Sequence[int],
    special: AxisChain,
    solution: Callable[[AxisChain], tuple[Solve, bool, AxisChain] | None],
    name: str,
) -> Family | None:
    """The family of six revolute axes, three neighbours of which are special; None if there is no solution.

    Parameters
    ----------
    chain : AxisChain
        All six.
    joints : sequence of int
        The three; from joints 1 and 3 on they are solved from the end of the chain.
    special : AxisChain
        The chain with what is nearly special made exact.
    solution : callable
        From a chain to what solves it, whether without a polynomial of the fourth degree, and the chain solved.
    name : str
        The geometry, in words.
    """
    from_end = joints[0] in (0, 2)
    solved = solution(special.reversed() if from_end else special)
    if solved is None:
        return None
    solve, exact, near = solved
    near, solve = (as_read(near, chain), mirrored(solve)) if from_end else (near, solve)
    return Family(f"the axes of joints {words(joints)} {name}", solve, near.misfit > EXACT or not exact, near=near)


#: Positions at random in which the equations of a chain are looked at as numbers.
SAMPLES = 4


@dataclass(frozen=True, eq=False)
class Setting:
    """A chain, and which joint of it is fixed.

    Attributes
    ----------
    chain : AxisChain
        All joints.
    fixed : int, optional
        The joint whose value is known: those beyond it are written as it has moved them.
    """

    chain: AxisChain
    fixed: int | None = None

    @property
    def free_joints(self) -> tuple[int, ...]:
        """Indices of the free joints."""
        return tuple(k for k in range(len(self.chain)) if k != self.fixed)

    def written(self, displacement: Array, free: Sequence[Any]) -> tuple[list[Axis], Array]:
        """Return the axes of the free joints, and their displacement (4, 4), for a pose.

        With E the motion of the fixed joint, E_1 ... E E_k ... = D is E_1 ... (E E_k E^-1) ... = D E^-1.

        Parameters
        ----------
        displacement : ndarray (4, 4)
            D, of scalars.
        free : sequence
            For each joint what it does where nothing determines it, a `Turn` or a length; for the fixed one, its value.
        """
        axes = axes_of(self.chain, free)
        if self.fixed is None:
            return axes, displacement
        moved = axes[self.fixed].displacement(free[self.fixed])
        rotation, shift = moved[:3, :3], moved[:3, 3]
        left = np.array(displacement)
        left[:3, :3] = displacement[:3, :3] @ rotation.T
        left[:3, 3] = displacement[:3, 3] - left[:3, :3] @ shift
        return [a if a.joint < self.fixed else a.moved(moved) for a in axes if a.joint != self.fixed], left

    def random(self, count: int = SAMPLES) -> list[list[Any]]:
        """Values of all joints in positions at random, the same ones each time."""
        rng = np.random.default_rng(len(self.chain))
        return [values_at(self.chain, rng.uniform(-2.5, 2.5, len(self.chain))) for _ in range(count)]

    def branch(self, values: Mapping[int, Any], free: Sequence[Any]) -> Branch:
        """The branch of values by joint; the fixed joint keeps its own."""
        return Branch(tuple(free[k] if k == self.fixed else values[k] for k in range(len(self.chain))))

    def reached(self, values: Sequence[Any]) -> FloatArray:
        """The displacement (4, 4) for numbers of all joints."""
        return np.asarray(product(axes_of(self.chain), values), dtype=float)

    def samples(self) -> list[tuple[list[Axis], FloatArray]]:
        """Axes and displacements as numbers, in the positions of `random`."""
        return [self.written(self.reached(values), values) for values in self.random()]

    def orders(self) -> Iterator[Setting]:
        """The setting itself, and those with joints in another order that make the same motion.

        Neighbours may change places where both slide, or where one slides along the axis of the one that turns.
        """
        start = tuple(range(len(self.chain)))
        queue, seen = [start], {start}
        for order in queue:
            fixed = None if self.fixed is None else order.index(self.fixed)
            yield self if order == start else Setting(part(self.chain, order), fixed)
            for place, (i, j) in enumerate(pairwise(order)):
                swapped = (*order[:place], j, i, *order[place + 2 :])
                if swapped not in seen and self._commute(i, j):
                    seen.add(swapped)
                    queue.append(swapped)

    def _commute(self, i: int, j: int) -> bool:
        first, second = self.chain.translates[i], self.chain.translates[j]
        return (first and second) or (first is not second and parallel(self.chain, i, j))


class Way(ABC):
    """One decomposition of a chain."""

    setting: Setting

    @property
    @abstractmethod
    def name(self) -> str:
        """Description of the special geometry."""

    @property
    def misfit(self) -> float:
        """Deviation of the true chain from the solved one (rad, or relative to its size)."""
        return 0.0

    @abstractmethod
    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Return all branches, for the joints of the setting's chain; the fixed joint keeps its value."""
