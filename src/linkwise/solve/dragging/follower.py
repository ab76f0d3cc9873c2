"""A target that is dragged, or a slider that is moved, and the mechanism that follows it without ever jumping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.solve.dragging.aims import Aim, CoordinateAim, PoseAim
from linkwise.solve.dragging.allowed import Allowed
from linkwise.solve.dragging.descent import descend
from linkwise.solve.dragging.dragged import Dragged
from linkwise.solve.dragging.loop_start import loop_start
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

__all__ = ["Dragged", "Follower"]

REACHED = 1e-6
"""Up to this distance, m, and angle, rad, a target counts as reached; what can be reached is so to rounding."""

WEIGHTS, ROUNDS = (0.05, 0.0), (20, 8)
"""What 1 rad of rotation counts beside the size of the mechanism, first, and at last, when the position alone is brought to
where it can be; and the steps of each, at most."""

MOVE_ROUNDS = 60
"""Steps of a coordinate in a loop, at most."""

DONE = 1e-26
"""The value at which a target is met to rounding."""

ROUNDING = 1e-9
"""A joint nearer to its limit, rad or m, is said to be at it."""

CLOSED_M = 1e-9
"""How far loops may be open in an answer, m."""


class Follower:
    """Follows a target with one frame of a mechanism, from where it stands, on the branch on which it stands.

    What it needs is compiled when it is made. Each call goes from the configuration given down to the nearest place that
    fits best: the position first, then of the rotation what is left to do. It moves in steps of at most 0.3 rad, each of
    which brings it nearer, so a small drag moves it a little and never to another solution. The same calls give the same
    answers.

    Parameters
    ----------
    mechanism : Mechanism
        Any. A floating base stays where it is; loops stay closed, and what is passive in them follows. On a tree only the
        joints between the base and the frame move.
    link : int or str
        Which frame: -1 the tool, otherwise a link's own by name or index.

    Raises
    ------
    ArgumentError
        Where there is no such link, or the mechanism has symbols in the place of numbers.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> follower = Follower(arm)
    >>> q = [0.0, 1.0]
    >>> target = arm.forward_kinematics(q)
    >>> target[0, 3] += 5.0
    >>> found = follower.follow(target, q)  # out of reach: stretched out towards it
    >>> found.reached, round(abs(float(found.q[1])), 6)
    (False, 0.0)
    """

    def __init__(self, mechanism: Mechanism, link: int | str = -1) -> None:
        mechanism.require_numbers("Follower")
        if isinstance(link, bool) or not isinstance(link, (int, np.integer, str)):
            raise ArgumentError(f"link is {shown(link)}; expected a name or a whole number")
        self.mechanism = mechanism
        self.link = link if isinstance(link, str) else int(link)
        on_path = mechanism.path(mechanism.tool_index if link == -1 else link)
        self._base = mechanism.nq - mechanism.n
        self._pose: Any = mechanism.kernel("forward_kinematics", link=self.link)
        self._rates: Any = mechanism.kernel("jacobian", link=self.link)
        moving = np.zeros(mechanism.n, dtype=bool)
        moving[[mechanism.followers[k].coordinate for k in on_path if mechanism.followers[k].coordinate >= 0]] = True
        self._loops = loop_start(mechanism) if mechanism.loops else None
        if self._loops is not None:
            moving |= self._loops.held
        self._allowed = Allowed(mechanism, moving)
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
        >>> Follower(robots.planar_2r()).start().tolist()
        [0.0, 0.0]
        """
        if self._loops is None:
            made = self.mechanism.neutral.copy()
            made[self._base :] = np.clip(made[self._base :], *self.mechanism.limits.T)
            return made
        left = self._open(self._loops.q)
        if not left <= CLOSED_M:
            raise ArgumentError(f"the loops of {self.mechanism.name!r} cannot be closed: they stay open by {left:.3g} m")
        return self._loops.q.copy()

    def follow(self, T_target: npt.ArrayLike, q: npt.ArrayLike, *, rotation: bool = True) -> Dragged:
        """Bring the frame to a pose, or as near as it goes from q: in position first, in rotation with what is left.

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
            Where the target is no pose, or q has another shape.
        """
        target = _pose_given(T_target)
        here = self._given(q)
        weights = WEIGHTS if rotation else WEIGHTS[-1:]
        apart = float(np.linalg.norm(self._pose(here)[:3, 3] - target[:3, 3])) / self._allowed.size
        taken, settled = 0, True
        for weight, rounds in zip(weights, ROUNDS if rotation else (sum(ROUNDS),), strict=True):
            counts = weight**2 * max(1.0, apart)
            aim = PoseAim(self._pose, self._rates, target, counts, self._allowed.size, self.mechanism.n)
            here, more = descend(self._allowed, aim, here, rounds=rounds, done=DONE)
            taken, settled = taken + more, settled and more < rounds
            if weight and aim.value(here) <= DONE:
                break
        return self._at_pose(here, target, rotation, taken, settled)

    def move(self, coordinate: int | str, value: float, q: npt.ArrayLike) -> Dragged:
        """Give a joint coordinate a value, within its limits.

        A joint that is in no loop takes it alone. In a loop the others follow; those that drive the loops rest meanwhile, if
        it is one of them that is moved. Where the loops do not let it go so far it stops at the nearest place.

        Parameters
        ----------
        coordinate : int or str
            A joint coordinate, by name, or by its index in q; not those of a floating base.
        value : float
            rad or m.
        q : (nq,) array_like
            Where the mechanism stands.

        Raises
        ------
        ArgumentError
            For a coordinate that there is not, or a value that is no finite number.

        Examples
        --------
        >>> from linkwise import robots
        >>> linkage = robots.four_bar()
        >>> follower = Follower(linkage)
        >>> found = follower.move("crank", 1.0, follower.start())
        >>> found.reached, found.closure_error < 1e-9
        (True, True)
        """
        joint = self._joint(coordinate)
        wanted = float(numbers("value", value, "a finite number"))
        here = self._given(q)
        low, high = self.mechanism.limits[joint]
        held = min(max(wanted, low), high)
        taken = 0
        if self._loops is not None and self._loops.held[joint]:
            unit = float(self._allowed.units[joint])
            aim: Aim = CoordinateAim(self._base + joint, joint, self.mechanism.n, held, unit)
            moving = self._loops.held.copy()
            if joint in self._loops.driven:
                moving[[k for k in self._loops.driven if k != joint]] = False
            here, taken = descend(Allowed(self.mechanism, moving), aim, here, rounds=MOVE_ROUNDS, done=DONE)
        else:
            here[self._base + joint] = held
        return self._at_value(here, joint, wanted, held, taken)

    # ── what has become of it ─────────────────────────────────────────────────────────────────────

    def _at_pose(self, q: FloatArray, target: FloatArray, rotation: bool, taken: int, settled: bool) -> Dragged:
        made = np.array(self._pose(q))
        far = float(np.linalg.norm(made[:3, 3] - target[:3, 3]))
        turned = angle_between(made[:3, :3], target[:3, :3])
        left = self._open(q)
        near, alike = far <= REACHED, turned <= REACHED or not rotation
        reached = near and alike and left <= CLOSED_M
        why = self._why_open(left) or ("" if reached else self._why_not(q, near, far, turned, settled))
        return Dragged(q, reached, far, turned, why, made, left, taken, settled or reached)

    def _why_not(self, q: FloatArray, near: bool, far: float, turned: float, settled: bool) -> str:
        """Why a pose is not reached."""
        if not settled:
            return f"on its way: {_apart(far, turned)} are left"
        what = (
            f"the position is reached, {np.degrees(turned):.3g} deg of rotation are not"
            if near
            else f"the nearest place from here is {_apart(far, turned)} off"
        )
        at = self._at_limits(q)
        return f"{what}; at its limit: {', '.join(at)}" if at else what

    def _at_value(self, q: FloatArray, joint: int, wanted: float, held: float, taken: int) -> Dragged:
        lacking = abs(float(q[self._base + joint]) - wanted)
        slides = self.mechanism.slides[joint]
        left, name = self._open(q), self.mechanism.names[joint]
        reached = lacking <= REACHED and left <= CLOSED_M
        why = self._why_open(left)
        if not why and not reached:
            there = abs(float(q[self._base + joint]) - held) <= REACHED
            why = f"{name!r} is at its limit" if there else self._why_blocked(q, joint)
        far, turned = (lacking, 0.0) if slides else (0.0, lacking)
        return Dragged(q, reached, far, turned, why, np.array(self._pose(q)), left, taken, taken < MOVE_ROUNDS)

    def _why_blocked(self, q: FloatArray, joint: int) -> str:
        at = [name for name in self._at_limits(q) if name != self.mechanism.names[joint]]
        what = f"the loops do not let {self.mechanism.names[joint]!r} go further from here"
        return f"{what}; at its limit: {', '.join(at)}" if at else what

    def _why_open(self, left: float) -> str:
        return "" if left <= CLOSED_M else f"the loops do not close from here: they are open by {left:.3g} m"

    def _at_limits(self, q: FloatArray) -> list[str]:
        """Names of the joints that may move and stand at a limit."""
        joints, (low, high) = q[self._base :], self.mechanism.limits.T
        at = ((joints - low <= ROUNDING) | (high - joints <= ROUNDING)) & self._allowed.moving
        return [self.mechanism.names[k] for k in np.flatnonzero(at)]

    def _open(self, q: FloatArray) -> float:
        return self._allowed.open_by(q) * self._length

    @property
    def _length(self) -> float:
        return self._allowed.task.size if self._allowed.task else 1.0

    # ── what is given ─────────────────────────────────────────────────────────────────────────────

    def _given(self, q: npt.ArrayLike) -> FloatArray:
        """Where it stands, within the limits and with loops closed."""
        made = numbers("q", q, f"real numbers ({self.mechanism.nq},)")
        if made.shape != (self.mechanism.nq,):
            raise ArgumentError(f"q has the shape {made.shape}; expected ({self.mechanism.nq},)")
        if self.mechanism.floating and not made[3:7].any():
            raise ArgumentError("q has the quaternion 0, 0, 0, 0 of its base; expected one of norm 1")
        made = self._allowed.settled(made)
        return made if self._loops is None else self._loops.regular(made)

    def _joint(self, coordinate: int | str) -> int:
        """The index of a joint coordinate among those of the joints."""
        names, first = self.mechanism.names, self._base
        if isinstance(coordinate, str) and coordinate in names:
            return names.index(coordinate)
        whole = isinstance(coordinate, (int, np.integer)) and not isinstance(coordinate, bool)
        if whole and first <= int(coordinate) < first + len(names):
            return int(coordinate) - first
        last = first + len(names) - 1
        raise ArgumentError(f"coordinate is {shown(coordinate)}; expected {choices(names)}, or {first} to {last}")


def _apart(far: float, turned: float) -> str:
    """Write a distance and an angle, the latter where there is one."""
    return f"{far:.3g} m" if turned <= REACHED else f"{far:.3g} m and {np.degrees(turned):.3g} deg"


def angle_between(one: FloatArray, other: FloatArray) -> float:
    """The angle (rad) of the rotation that leads from one rotation matrix (3, 3) to another, exact where it is small."""
    chord = float(np.linalg.norm(one - other)) / (2.0 * np.sqrt(2.0))
    return 2.0 * float(np.arcsin(min(chord, 1.0)))


def _pose_given(T_target: npt.ArrayLike) -> FloatArray:
    """A pose (4, 4) whose rotation is one to rounding."""
    made = numbers("T_target", T_target, "real numbers (4, 4)")
    if made.shape != (4, 4):
        raise ArgumentError(f"T_target has the shape {made.shape}; expected (4, 4)")
    left, values, right = np.linalg.svd(made[:3, :3])
    if not (np.abs(values - 1.0) <= 1e-3).all() or np.linalg.det(left @ right) < 0.0:
        raise ArgumentError(f"T_target has no rotation in its first three rows and columns: {made[:3, :3].tolist()}")
    if not np.array_equal(made[3], [0.0, 0.0, 0.0, 1.0]):
        raise ArgumentError(f"the last row of T_target is {made[3].tolist()}; expected [0, 0, 0, 1]")
    made[:3, :3] = left @ right
    return made
