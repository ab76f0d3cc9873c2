"""Base class of motions in time, their events, and interpolation of recorded motions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.model.tree import ManifoldJoint, floating_base
from linkwise.spatial.quaternion import conjugated, multiplied, quaternion_rotation, rotated, rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial
from linkwise.trajectory.validation import until, within

#: q, qd, qdd at some instants.
State = tuple[FloatArray, FloatArray, FloatArray]

#: Takes times (K,) within a motion, returns q, qd, qdd (..., K, :).
Evaluator = Callable[[FloatArray], State]


class Event(NamedTuple):
    """An event during a motion.

    Attributes
    ----------
    name : str
        What it was.
    time : float
        When, s.
    q, qd : ndarray (nq,), (nv,)
        The state at that instant.
    member : tuple of int
        In which motion of a batch; () where there is only one.

    Examples
    --------
    >>> event = Event("landed", 0.5, [0.0], [-1.0])
    >>> event.name, event.time, event.member
    ('landed', 0.5, ())
    """

    name: str
    time: float
    q: FloatArray
    qd: FloatArray
    member: tuple[int, ...] = ()


class Motion:
    """Base of `Trajectory` and `CartesianTrajectory`: arrays over instants t (T,), and an evaluator for times between.

    A subclass is a frozen dataclass with a field for `t`, `evaluate` and each array.

    Attributes
    ----------
    STATE : mapping of str to int
        The three arrays that `at` returns, and how many axes one value of each has.
    RECORDS : mapping of str to int
        The same of the arrays that may be None.
    """

    STATE: ClassVar[Mapping[str, int]]
    RECORDS: ClassVar[Mapping[str, int]] = {}
    events: tuple[Event, ...] = ()

    t: FloatArray
    evaluate: Evaluator | None

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch shape ``...``; () for one motion."""
        name, axes = next(iter(self.STATE.items()))
        return tuple(getattr(self, name).shape[: -1 - axes])

    @property
    def duration(self) -> float:
        """Time from the first instant to the last, s."""
        return float(self.t[-1] - self.t[0])

    def __len__(self) -> int:
        return int(self.t.size)

    @property
    def _span(self) -> str:
        """The instants, as `repr` shows them."""
        return f"{len(self)} instants from {self.t[0]:g} to {self.t[-1]:g} s" if len(self) > 1 else f"at {self.t[0]:g} s"

    @property
    def _interpolant(self) -> Evaluator:
        raise NotImplementedError

    def _at(self, time: npt.ArrayLike) -> State:
        """The state at a time, or at times (K,)."""
        times = within(time, self.t)
        state = (self.evaluate or self._interpolant)(np.atleast_1d(times))
        if times.ndim:
            return state
        q, qd, qdd = (_rows(values, 0, axes) for values, axes in zip(state, self.STATE.values(), strict=True))
        return q, qd, qdd

    def member(self, index: int | tuple[int, ...]) -> Self:
        """Return one motion, or a smaller batch, of a batch.

        Parameters
        ----------
        index : int or tuple of int
            Into the batch axes.

        Raises
        ------
        ArgumentError
            Where there is no such motion.

        Examples
        --------
        >>> from linkwise.trajectory import Trajectory
        >>> many = Trajectory([0.0, 1.0], np.zeros((3, 2, 1)), np.zeros((3, 2, 1)), np.zeros((3, 2, 1)))
        >>> many.member(2)
        <Trajectory: 2 instants from 0 to 1 s, 1 joint>
        """
        place = _place(self.batch, index)
        pick = getattr(self.evaluate, "member", None)
        evaluate = pick(place) if pick else None if self.evaluate is None else partial(_member_state, self.evaluate, place)
        chosen = [event for event in self.events if event.member[: len(place)] == place]
        events = tuple(event._replace(member=event.member[len(place) :]) for event in chosen)
        return self._reduced(lambda values, _axes: values[place], events, evaluate=evaluate)

    def until(self, time: float) -> Self:
        """Return the same motion, or batch of motions, with the instants and events up to a time.

        So a rollout of `simulate` that a terminal event ended loses its NaN, and can be drawn and saved.

        Parameters
        ----------
        time : float
            s; not before the first instant. An instant at that time stays.

        Raises
        ------
        ArgumentError
            Where no instant would stay, or the time is not one number.

        Examples
        --------
        >>> from linkwise.trajectory import Trajectory
        >>> record = Trajectory([0.0, 1.0, 2.0], np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1)))
        >>> record.until(1.5)
        <Trajectory: 2 instants from 0 to 1 s, 1 joint>
        """
        end = until(time, self.t)
        kept = int(np.searchsorted(self.t, end, side="right"))
        first = getattr(self.evaluate, "first", None)
        events = tuple(event for event in self.events if event.time <= end)
        return self._reduced(
            lambda values, axes: _rows(values, slice(kept), axes),
            events,
            t=self.t[:kept],
            evaluate=first(kept) if first else self.evaluate,
        )

    def _reduced(self, part: Callable[[FloatArray, int], FloatArray], events: tuple[Event, ...], **changes: Any) -> Self:
        """The motion with a part of each array, and some of the events."""
        for name, axes in {**self.STATE, **self.RECORDS}.items():
            if (values := getattr(self, name)) is not None:
                changes[name] = part(values, axes)
        if self.events:
            changes["events"] = events
        return replace(self, **changes)  # type: ignore[type-var]


def _member_state(evaluate: Evaluator, place: tuple[int, ...], time: FloatArray) -> State:
    """The state of one member of a batch."""
    q, qd, qdd = evaluate(time)
    return q[place], qd[place], qdd[place]


def _rows(values: FloatArray, instants: Any, axes: int) -> FloatArray:
    """An array at some of its instants, behind which so many axes are one value."""
    index: Any = (..., instants, *[slice(None)] * axes)
    return np.asarray(values[index])


def _place(batch: tuple[int, ...], index: Any) -> tuple[int, ...]:
    """An index into a batch shape as a tuple of numbers >= 0."""
    place = index if isinstance(index, tuple) else (index,)
    sizes = batch[: len(place)]
    if len(sizes) < len(place) or not all(
        isinstance(k, (int, np.integer)) and not isinstance(k, bool) and -m <= k < m
        for k, m in zip(place, sizes, strict=True)
    ):
        raise ArgumentError(f"there is no member {index!r}; the trajectory has the batch shape {batch}")
    return tuple(int(k) % m for k, m in zip(place, sizes, strict=True))


def interpolant(
    t: FloatArray,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    before: FloatArray | None = None,
    *,
    joints: Sequence[ManifoldJoint],
) -> Evaluator:
    """Return the quintic Hermite interpolant of a motion.

    Parameters
    ----------
    t : ndarray (m,) or (..., m, 1)
        Times, s.
    q, qd, qdd : ndarray (..., m, nq), (..., m, nv), (..., m, nv)
        Configuration, velocity and acceleration.
    before : ndarray (..., m - 1, nv), optional
        The acceleration at the end of each interval, where it jumps at the times.
    joints : sequence of ManifoldJoint
        The joints with quaternions, with which q and qd begin.

    Examples
    --------
    >>> up_and_down = interpolant(  # accelerated by 2, then by -2
    ...     np.array([0.0, 1.0, 2.0]),
    ...     q=np.array([[0.0], [1.0], [2.0]]),
    ...     qd=np.array([[0.0], [2.0], [0.0]]),
    ...     qdd=np.array([[2.0], [-2.0], [-2.0]]),
    ...     before=np.array([[2.0], [-2.0]]),
    ...     joints=(),
    ... )
    >>> [value.tolist() for value in up_and_down(np.array([0.5, 1.0]))]
    [[[0.25], [1.0]], [[1.0], [2.0]], [[2.0], [-2.0]]]
    """
    if not joints:
        return PiecewisePolynomial(t, q, qd, qdd, before)
    x = q.copy()
    for at in joints:
        u = q[..., at.quaternion]
        x[..., at.quaternion] = _same_side(u / np.linalg.norm(u, axis=-1, keepdims=True))
    if before is not None:
        before = _component_rates(joints, x[..., 1:, :], qd[..., 1:, :], before)[1]
    return partial(_state, joints, PiecewisePolynomial(t, x, *_component_rates(joints, x, qd, qdd), before))


def pose_interpolant(t: FloatArray, poses: FloatArray, twist: FloatArray, acceleration: FloatArray) -> Evaluator:
    """Return the interpolant of poses (..., m, 4, 4), twists and accelerations (..., m, 6) in the axes of the poses.

    Position and quaternion are interpolated as those of a floating base.
    """
    u = rotation_quaternion(poses[..., :3, :3])
    back = conjugated(u)
    v, w, a, alpha = (
        rotated(back, values[..., part]) for values in (twist, acceleration) for part in (slice(0, 3), slice(3, 6))
    )
    q = np.concatenate((poses[..., :3, 3], u), axis=-1)
    rates = np.concatenate((v, w), axis=-1), np.concatenate((a - np.cross(w, v), alpha), axis=-1)
    return partial(_pose_state, interpolant(t, q, *rates, joints=[floating_base()]))


def _pose_state(body: Evaluator, time: FloatArray) -> State:
    """Poses (..., K, 4, 4), twists and accelerations (..., K, 6) of a frame that moves as a floating base."""
    q, qd, qdd = body(time)
    u, v, w = q[..., 3:7], qd[..., :3], qd[..., 3:6]
    rotation = np.moveaxis(quaternion_rotation(np.moveaxis(u, -1, 0)), (0, 1), (-2, -1))
    twist = np.concatenate((rotated(u, v), rotated(u, w)), axis=-1)
    derivatives = rotated(u, qdd[..., :3] + np.cross(w, v)), rotated(u, qdd[..., 3:6])
    return transforms(rotation, q[..., :3]), twist, np.concatenate(derivatives, axis=-1)


def _component_rates(
    joints: Sequence[ManifoldJoint], x: FloatArray, qd: FloatArray, qdd: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """First and second derivatives (..., m, nq) of the coordinates, at configurations with unit quaternions."""
    first, second = [], []
    for at in joints:
        u, linear, angular = x[..., at.quaternion], *_parts(at.v)
        w, alpha = qd[..., angular], qdd[..., angular]
        if linear is not None:
            v, a = qd[..., linear], qdd[..., linear]
            first.append(rotated(u, v))
            second.append(rotated(u, a + np.cross(w, v)))
        square = np.sum(w * w, axis=-1, keepdims=True)
        first.append(0.5 * multiplied(u, np.insert(w, 0, 0.0, axis=-1)))
        second.append(0.5 * multiplied(u, np.insert(alpha, 0, 0.0, axis=-1)) - 0.25 * square * u)
    end = joints[-1].v.stop
    return np.concatenate((*first, qd[..., end:]), axis=-1), np.concatenate((*second, qdd[..., end:]), axis=-1)


def _parts(v: slice) -> tuple[slice | None, slice]:
    """Linear velocities of a joint, None if there are none, and the angular ones."""
    linear = slice(v.start, v.stop - 3)
    return linear if linear.stop > linear.start else None, slice(v.stop - 3, v.stop)


def _state(joints: Sequence[ManifoldJoint], components: PiecewisePolynomial, time: FloatArray) -> State:
    """Q (..., K, nq), qd and qdd (..., K, nv) of a motion with quaternions, of the interpolated coordinates.

    A quaternion is brought to unit length, and the velocity is that of the result, so that qd and qdd are consistent with q.
    With u the quaternion as interpolated, of whatever length, the angular velocity in the body's axes is
    2 vec(u* u') / |u|^2 (J. B. Kuipers, *Quaternions and Rotation Sequences*, 1999, chapter 11, for |u| = 1; a change of
    length alone makes u* u' real).
    """
    x, xd, xdd = components(time)
    first, second = [], []
    for at in joints:
        u, ud, udd = (values[..., at.quaternion] for values in (x, xd, xdd))
        square = np.sum(u * u, axis=-1, keepdims=True)
        back = conjugated(u)
        w = 2.0 * multiplied(back, ud)[..., 1:] / square
        growth = np.sum(u * ud, axis=-1, keepdims=True)
        alpha = 2.0 * (multiplied(back, udd)[..., 1:] - growth * w) / square
        if at.quaternion.start > at.q.start:
            place = slice(at.q.start, at.quaternion.start)
            v = rotated(back, xd[..., place])
            first.append(v)
            second.append(rotated(back, xdd[..., place]) - np.cross(w, v))
        first.append(w)
        second.append(alpha)
        x = np.concatenate([x[..., : at.quaternion.start], u / np.sqrt(square), x[..., at.quaternion.stop :]], axis=-1)
    end = joints[-1].q.stop
    return x, np.concatenate((*first, xd[..., end:]), axis=-1), np.concatenate((*second, xdd[..., end:]), axis=-1)


def _same_side(u: FloatArray) -> FloatArray:
    """The quaternions (..., m, 4), each with the sign that brings it nearer to the one before: q and -q are one rotation."""
    turned = np.sum(u[..., 1:, :] * u[..., :-1, :], axis=-1) < 0.0
    flips = np.cumsum(turned, axis=-1) % 2
    signs = np.concatenate((np.ones((*u.shape[:-2], 1)), 1.0 - 2.0 * flips), axis=-1)
    return np.asarray(u * signs[..., None])
