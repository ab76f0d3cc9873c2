"""A target that is dragged, or a slider that is moved, and the mechanism that follows it without ever jumping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError, choices, shown
from linkwise.inverse_kinematics.interactive.feasible_set import FeasibleSet, loop_start
from linkwise.loops.assembly_modes import LinkageSolution
from linkwise.model.link_tree import find_index
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.solve.joint_limits import near_zero
from linkwise.solve.trust_region import Aim, descend
from linkwise.solve.validation import link_given
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, shaped


@dataclass(frozen=True, eq=False)
class PoseAim(Aim):
    """A pose of a frame: |p - pt|^2 / (2 s^2) + w^2 (1 - cos(t)), with t the angle that is missing.

    Written with the columns of the rotations, 1 - cos(t) = |R - Rt|^2 / 4, it is smooth at every angle and exact at small
    ones.

    Attributes
    ----------
    pose, rates : callable
        q to the pose (4, 4) of the frame, and to its Jacobian (6, nv), world axes.
    target : ndarray (4, 4)
        The pose wanted.
    weight : float
        w^2.
    size : float
        s, m.
    """

    pose: Callable[[FloatArray], Any]
    rates: Callable[[FloatArray], Any]
    target: FloatArray
    weight: float
    size: float

    def values(self, q: FloatArray) -> FloatArray:
        """Cost (k,) of positions (k, nq)."""
        gap = self.pose(q)[..., :3, :] - self.target[:3]
        apart, turned = gap[..., 3], gap[..., :3]
        far = np.einsum("...i,...i->...", apart, apart) / (2.0 * self.size**2)
        return np.asarray(far + 0.25 * self.weight * np.einsum("...ij,...ij->...", turned, turned))

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative along the velocities (nv,)."""
        here, rates = self.pose(q), self.rates(q)
        gradient = rates[:3].T @ (here[:3, 3] - self.target[:3, 3]) / self.size**2
        if self.weight:
            turn = here[:3, :3] @ self.target[:3, :3].T
            moment = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            gradient = gradient + 0.5 * self.weight * (rates[3:].T @ moment)
        return np.asarray(gradient)


@dataclass(frozen=True, eq=False)
class CoordinateAim(Aim):
    """A value of one coordinate: (q_k - v)^2 / (2 u^2).

    Attributes
    ----------
    index : int
        Index of the coordinate in q.
    velocity : int
        Index of its velocity in qd.
    velocities : int
        How many there are, nv.
    target : float
        The value wanted, rad or m.
    unit : float
        What lengths are divided by.
    """

    index: int
    velocity: int
    velocities: int
    target: float
    unit: float

    def values(self, q: FloatArray) -> FloatArray:
        """Cost (k,) of positions (k, nq)."""
        return np.asarray(0.5 * ((q[..., self.index] - self.target) / self.unit) ** 2)

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative along the velocities (nv,)."""
        gradient = np.zeros(self.velocities)
        gradient[self.velocity] = (q[self.index] - self.target) / self.unit**2
        return gradient


class DragSolution(LinkageSolution):
    """Result of a target motion; all numbers come from a separate forward pass at `q`.

    Attributes
    ----------
    q : ndarray (nq,)
        Coordinates, rad or m, within the limits; loops closed, unless `closure_error` says otherwise.
    reached : bool
        Whether the target is reached to 1e-6 m and 1e-6 rad, or the coordinate has the value asked for, with loops closed.
    position_error : float
        Distance left, m; of a coordinate that slides, what it lacks.
    rotation_error : float
        Angle left, rad; of a coordinate that turns, what it lacks.
    reason : str
        Why it is where it is, a sentence; empty where it is reached.
    T : ndarray (4, 4)
        The pose of the frame at q, T_world_frame.
    closure_error : float
        How far loops are open, m; 0 where there are none.
    rounds : int
        Steps that it took.
    settled : bool
        Whether it has come to rest; False where the target is so far that another call, from this `q`, leads on.

    Examples
    --------
    >>> from linkwise import inverse_kinematics, robots
    >>> found = inverse_kinematics.TargetFollower(robots.planar_2r()).move("link1", 0.5, [0.0, 1.0])
    >>> found.reached, found.q.tolist()
    (True, [0.5, 1.0])
    """

    T: FloatArray
    settled: bool

    @property
    def reached(self) -> bool:
        """The same as `success`."""
        return bool(self.success)

    @property
    def rounds(self) -> int:
        """The same as `iterations`."""
        return int(self.iterations)

    def _explained(self, place: tuple[int, ...]) -> str:
        return self.reason or "the target is reached"


#: Distance, m, and angle, rad, within which a target counts as reached; reachable ones are reached to rounding.
REACHED = 1e-6

#: Weight of 1 rad of rotation relative to the size of the mechanism in the first phase, and in the last, for the position
#: alone; and the greatest number of steps of each.
WEIGHTS, ROUNDS = (0.05, 0.0), (20, 8)

#: Steps of a coordinate in a loop, at most.
MOVE_ROUNDS = 60

#: The value at which a target is met to rounding.
DONE = 1e-26

#: A joint nearer to its limit, rad or m, counts as at it.
ROUNDING = 1e-9

#: Tolerance of closed loops in a result, m.
CLOSED_M = 1e-9


class TargetFollower:
    """Follows a target with one frame of a mechanism, from its current position, on the current branch.

    What it needs is compiled when it is made. Each call goes from the configuration given down to the nearest place that
    fits best: the position first, then of the rotation what is left to do. It moves in steps of at most 0.3 rad, each of
    which brings it nearer, so a small drag moves it a little and never to another solution. The same calls give the same
    answers.

    Parameters
    ----------
    mechanism : Mechanism
        Any. Loops stay closed, and what is passive in them follows. On a tree only the joints between the base and the frame
        move. What floats, a floating base too, stays where it is, unless no other joint moves the frame, or a loop holds it.
    link : int or str
        Which frame: ``"tool"``, otherwise a link's own by name or index.

    Raises
    ------
    ArgumentError
        Where there is no such link, or the mechanism has symbols in the place of numbers.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> follower = TargetFollower(arm)
    >>> q = [0.0, 1.0]
    >>> target = arm.forward_kinematics(q)
    >>> target[0, 3] += 5.0
    >>> found = follower.follow(target, q)  # out of reach: stretched out towards it
    >>> found.reached, round(abs(float(found.q[1])), 6)
    (False, 0.0)
    """

    def __init__(self, mechanism: Tree, link: int | str = "tool") -> None:
        require_numeric_tree(mechanism, "TargetFollower")
        self.mechanism, self.link = mechanism, link_given(link)
        on_path = mechanism.path(link)
        self._base, self._first = mechanism.nq - mechanism.n, mechanism.nv - mechanism.n
        self._pose: Any = kernel_of(mechanism, "forward_kinematics", None, {"link": self.link})
        self._rates: Any = kernel_of(mechanism, "jacobian", None, {"link": self.link})
        moving = _movable(mechanism, on_path)
        self._loops = loop_start(mechanism) if mechanism.loops else None
        if self._loops is not None:
            moving |= self._loops.in_loops
        self._allowed = FeasibleSet(mechanism, moving)
        self._pose(mechanism.neutral), self._rates(mechanism.neutral)

    def start(self) -> FloatArray:
        """A configuration (nq,) to begin with: all joints at zero or the limit next to it, loops closed.

        Raises
        ------
        ArgumentError
            Where the loops cannot be closed.

        Examples
        --------
        >>> from linkwise import robots
        >>> TargetFollower(robots.planar_2r()).start().tolist()
        [0.0, 0.0]
        """
        if self._loops is None:
            return near_zero(self.mechanism)
        left = self._open(self._loops.q)
        if not left <= CLOSED_M:
            raise ArgumentError(f"the loops of {self.mechanism.name!r} cannot be closed: they stay open by {left:.3g} m")
        return self._loops.q.copy()

    def follow(self, T_target: npt.ArrayLike, q: npt.ArrayLike, *, rotation: bool = True) -> DragSolution:
        """Bring the frame to a pose, or as near as possible from q: position first, then rotation by the remaining freedom.

        Parameters
        ----------
        T_target : (4, 4) array_like
            The pose wanted, world frame, m.
        q : (nq,) array_like
            Where the mechanism stands. Joints outside their limits are brought to them, open loops are closed.
        rotation : bool
            Whether the rotation counts too.

        Raises
        ------
        ArgumentError
            Where the target is not a pose, or q has another shape.
        """
        target = _pose_given(T_target)
        here = self._given(q)
        weights = WEIGHTS if rotation else WEIGHTS[-1:]
        errors = _between(self._pose(here), target)
        apart = errors[0] / self._allowed.size
        taken, settled = 0, True
        for weight, rounds in zip(weights, ROUNDS if rotation else (sum(ROUNDS),), strict=True):
            counts = weight**2 * max(1.0, apart)
            aim = PoseAim(self._pose, self._rates, target, counts, self._allowed.size)
            here, more = descend(self._allowed, aim, here, rounds=rounds, done=DONE)
            taken, settled = taken + more, settled and more < rounds
            if weight and aim.value(here) <= DONE:
                break
        changes = np.abs(np.subtract(errors, _between(self._pose(here), target)))
        settled = settled or bool((changes[: 1 + rotation] <= REACHED).all())  # (going on would bring it no nearer)
        return self._at_pose(here, target, rotation, taken, settled)

    def move(self, coordinate: int | str, value: float, q: npt.ArrayLike) -> DragSolution:
        """Give a joint coordinate a value, within its limits.

        A joint that is in no loop takes it alone. In a loop the others follow; those that drive the loops rest meanwhile, if
        it is one of them that is moved. Where the loops do not let it go so far it stops at the nearest place.

        Parameters
        ----------
        coordinate : int or str
            A joint coordinate, by name, or by its index in q; not those of joints with quaternions.
        value : float
            rad or m.
        q : (nq,) array_like
            Where the mechanism stands.

        Raises
        ------
        ArgumentError
            For a coordinate that there is not, or a value that is not a finite number.

        Examples
        --------
        >>> from linkwise import robots
        >>> linkage = robots.four_bar()
        >>> follower = TargetFollower(linkage)
        >>> found = follower.move("crank", 1.0, follower.start())
        >>> found.reached, found.closure_error < 1e-9
        (True, True)
        """
        joint = self._joint(coordinate)
        wanted = float(numbers("value", value, "a finite number"))
        here = self._given(q)
        low, high = self.mechanism.q_min[joint], self.mechanism.q_max[joint]
        clipped = min(max(wanted, low), high)
        taken = 0
        if self._loops is not None and self._loops.in_loops[self._first + joint]:
            unit = float(self._allowed.units[self._first + joint])
            aim: Aim = CoordinateAim(self._base + joint, self._first + joint, self.mechanism.nv, clipped, unit)
            moving = self._loops.in_loops.copy()
            if joint in self._loops.driven:
                moving[[self._first + k for k in self._loops.driven if k != joint]] = False
            here, taken = descend(FeasibleSet(self.mechanism, moving), aim, here, rounds=MOVE_ROUNDS, done=DONE)
        else:
            here[self._base + joint] = clipped
        return self._at_value(here, joint, wanted, clipped, taken)

    def place(self, joint: str, coordinates: npt.ArrayLike, q: npt.ArrayLike) -> DragSolution:
        """Give a ball joint an orientation, within its cone, or a body that floats a pose.

        In a loop the others follow as little as they must, and the joint gives way where they cannot.

        Parameters
        ----------
        joint : str
            The name of a joint with a quaternion, ``"base"`` for a floating base.
        coordinates : (nq of the joint,) array_like
            Its coordinates, as they stand in q.
        q : (nq,) array_like
            Where the mechanism stands.

        Raises
        ------
        ArgumentError
            For a joint that there is not, or coordinates of another number or with the quaternion 0, 0, 0, 0.

        Examples
        --------
        >>> from linkwise import Link, Mechanism
        >>> follower = TargetFollower(Mechanism([Link(name="hand", joint="ball")]))
        >>> follower.place("hand", [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]).q.tolist()
        [0.0, 1.0, 0.0, 0.0]
        """
        joints = {at.name: at for at in self.mechanism.manifold_joints}
        if joint not in joints:
            expected = choices(joints) if joints else "one of a mechanism that has joints with quaternions"
            raise ArgumentError(f"joint is {shown(joint)}; expected {expected}")
        at, start = joints[joint], shaped("q", q, self.mechanism.nq).copy()
        wanted = shaped("coordinates", coordinates, at.joint.nq)
        start[at.q] = at.joint.clipped(wanted, at.most) if wanted[at.joint.quaternion].any() else wanted
        here = self._given(start)
        lacking = np.abs(at.joint.difference(here[at.q], wanted))
        far, turned = float(lacking[:-3].max(initial=0.0)), float(np.linalg.norm(lacking[-3:]))
        left = self._open(here)
        reached = max(far, turned) <= REACHED and left <= CLOSED_M
        why = self._why_open(left)
        if not why and not reached:
            at_cone = at.joint.excess(here[at.q], at.most) > -REACHED
            why = f"{joint!r} is at its limit" if at_cone else f"the loops do not let {joint!r} go there from here"
        return self._result(here, reached, (far, turned, left), why, 0, True)

    # ── what has become of it ─────────────────────────────────────────────────────────────────────

    def _at_pose(self, q: FloatArray, target: FloatArray, rotation: bool, taken: int, settled: bool) -> DragSolution:
        pose = np.array(self._pose(q))
        far, turned = _between(pose, target)
        left = self._open(q)
        near, alike = far <= REACHED, turned <= REACHED or not rotation
        reached = near and alike and left <= CLOSED_M
        why = self._why_open(left) or ("" if reached else self._why_not(q, near, far, turned, settled))
        return self._result(q, reached, (far, turned, left), why, taken, settled or reached)

    def _why_not(self, q: FloatArray, near: bool, far: float, turned: float, settled: bool) -> str:
        """Reason why a pose is not reached."""
        if not settled:
            return f"on its way: {_apart(far, turned)} are left"
        message = (
            f"the position is reached, {np.degrees(turned):.3g} deg of rotation are not"
            if near
            else f"the nearest place from here is {_apart(far, turned)} off"
        )
        at = self._allowed.at_limits(q, ROUNDING)
        return f"{message}; at its limit: {', '.join(at)}" if at else message

    def _at_value(self, q: FloatArray, joint: int, wanted: float, clipped: float, taken: int) -> DragSolution:
        lacking = abs(float(q[self._base + joint]) - wanted)
        is_length = self.mechanism.is_length[joint]
        left, name = self._open(q), self.mechanism.names[joint]
        reached = lacking <= REACHED and left <= CLOSED_M
        why = self._why_open(left)
        if not why and not reached:
            there = abs(float(q[self._base + joint]) - clipped) <= REACHED
            why = f"{name!r} is at its limit" if there else self._why_blocked(q, joint)
        far, turned = (lacking, 0.0) if is_length else (0.0, lacking)
        return self._result(q, reached, (far, turned, left), why, taken, taken < MOVE_ROUNDS)

    def _result(
        self, q: FloatArray, reached: bool, errors: tuple[float, float, float], why: str, taken: int, settled: bool
    ) -> DragSolution:
        rows = {"q": q, "success": reached, "reason": why, "position_error": errors[0], "rotation_error": errors[1]}
        return DragSolution.of(**rows, closure_error=errors[2], iterations=taken, T=np.array(self._pose(q)), settled=settled)

    def _why_blocked(self, q: FloatArray, joint: int) -> str:
        at = [name for name in self._allowed.at_limits(q, ROUNDING) if name != self.mechanism.names[joint]]
        message = f"the loops do not let {self.mechanism.names[joint]!r} go further from here"
        return f"{message}; at its limit: {', '.join(at)}" if at else message

    def _why_open(self, left: float) -> str:
        return "" if left <= CLOSED_M else f"the loops do not close from here: they are open by {left:.3g} m"

    def _open(self, q: FloatArray) -> float:
        return self._allowed.open_by(q) * self._length

    @property
    def _length(self) -> float:
        return self._allowed.task.size if self._allowed.task else 1.0

    # ── what is given ─────────────────────────────────────────────────────────────────────────────

    def _given(self, q: npt.ArrayLike) -> FloatArray:
        """Start position within the limits and with loops closed."""
        position = shaped("q", q, self.mechanism.nq)
        for at in self.mechanism.manifold_joints:
            if not position[at.quaternion].any():
                of = "its base" if at.link < 0 else f"joint {at.name!r}"
                raise ArgumentError(f"q has the quaternion 0, 0, 0, 0 of {of}; expected one of norm 1")
        position = self._allowed.settled(position)
        return position if self._loops is None else self._loops.regular(position)

    def _joint(self, coordinate: int | str) -> int:
        """The index of a joint coordinate among those of the joints."""
        names, first = self.mechanism.names, self._base
        place = find_index(coordinate, self.mechanism.coordinate_names)
        if place is not None and place >= first and (isinstance(coordinate, str) or coordinate >= 0):
            return place - first
        last = first + len(names) - 1
        raise ArgumentError(f"coordinate is {shown(coordinate)}; expected {choices(names)}, or {first} to {last}")


def _movable(mechanism: Tree, on_path: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Mask of velocities (nv,) by which a frame follows its target, by the links of its path."""
    moving, first = np.zeros(mechanism.nv, dtype=bool), mechanism.nv - mechanism.n
    for k in on_path:
        start = first + mechanism.coordinates[k]
        moving[start : start + len(mechanism.links[k].coordinate_names)] = True
    joints = [at for at in mechanism.manifold_joints if at.link < 0 or at.link in on_path]
    for at in joints:
        moving[at.v] = at.joint.is_rotation
    if joints and not moving.any():
        moving[joints[-1].v] = True
    return moving


def _between(first: FloatArray, other: FloatArray) -> tuple[float, float]:
    """The distance, m, and the angle, rad, between two poses (4, 4)."""
    return float(np.linalg.norm(first[:3, 3] - other[:3, 3])), angle_between(first[:3, :3], other[:3, :3])


def _apart(far: float, turned: float) -> str:
    """Format a distance and an angle, the latter unless it is negligible."""
    return f"{far:.3g} m" if turned <= REACHED else f"{far:.3g} m and {np.degrees(turned):.3g} deg"


def angle_between(first: FloatArray, other: FloatArray) -> float:
    """The angle (rad) of the rotation that leads from one rotation matrix (3, 3) to another, exact where it is small."""
    chord = float(np.linalg.norm(first - other)) / (2.0 * np.sqrt(2.0))
    return 2.0 * float(np.arcsin(min(chord, 1.0)))


def _pose_given(T_target: npt.ArrayLike) -> FloatArray:
    """Validate a pose (4, 4) and orthonormalize its rotation."""
    pose = shaped("T_target", T_target, 4, 4)
    left, values, right = np.linalg.svd(pose[:3, :3])
    if not (np.abs(values - 1.0) <= 1e-3).all() or np.linalg.det(left @ right) < 0.0:
        raise ArgumentError(f"T_target has no rotation in its first three rows and columns: {pose[:3, :3].tolist()}")
    if not np.array_equal(pose[3], [0.0, 0.0, 0.0, 1.0]):
        raise ArgumentError(f"the last row of T_target is {pose[3].tolist()}; expected [0, 0, 0, 1]")
    pose[:3, :3] = left @ right
    return pose
