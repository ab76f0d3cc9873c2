"""The motion of joints in time: what the trajectory functions, and simulation, return."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.batch import place_in
from linkwise.trajectory.checks import instants, record, until, within
from linkwise.trajectory.event import Event
from linkwise.trajectory.floating import FloatingHermite
from linkwise.trajectory.hermite import Hermite
from linkwise.trajectory.state import Evaluator, State, of_first, of_member

if TYPE_CHECKING:
    from linkwise.model.tree import Tree

RECORDS: dict[str, tuple[int | str, ...]] = {
    "tau": ("nv",), "kinetic": (), "potential": (), "energy_error": (), "poses": (4, 4),
}  # fmt: skip
"""The optional records, and what stands behind batch and time in their shapes."""


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Positions, speeds and accelerations of joints at T instants, and between them.

    Leading axes ``...`` are a batch of motions over the same instants. For fixed mechanisms nq = nv = n. With a floating
    base nq = n + 7 and nv = n + 6: q begins with position and unit quaternion (w, x, y, z), qd with the twist of the base
    in its own axes, linear first.

    Parameters
    ----------
    t : (T,) array_like
        Time, s, ascending.
    q : (..., T, nq) array_like
        Joint coordinates, rad or m.
    qd, qdd : (..., T, nv) array_like
        Speeds and accelerations.
    tau : (..., T, nv) array_like, optional
        Joint efforts, N m or N.
    kinetic, potential : (..., T) array_like, optional
        Energies, J.
    poses : (..., T, 4, 4) array_like, optional
        Where the tool was, T_world_tool.
    names : sequence of str
        Of the joints (n,); q1, q2, ... where none are given.
    slides : sequence of bool
        Which joints slide (n,), and so are in m; none, where it is not said. `of` takes both from a mechanism.
    events : tuple of Event
        What was watched for and happened.
    evaluate : callable, optional
        Takes times (K,) within those of t and returns q, qd, qdd (..., K, :); what `at` uses. Where there is none,
        the quintic Hermite interpolant of the samples takes its place.
    energy_error : (..., T) array_like, optional
        What `simulate` gained or lost since the first instant that no work accounts for, J.

    Raises
    ------
    ArgumentError
        Where the shapes do not fit, or the times do not ascend.

    Notes
    -----
    Arrays are copied, but for those that are closed to writing together with what they are views of; those of the
    trajectory are closed to writing.

    Examples
    --------
    >>> record = Trajectory([0.0, 1.0], [[0.0], [0.5]], [[0.0], [1.0]], [[1.0], [1.0]])
    >>> record
    <Trajectory: 2 instants from 0 to 1 s, 1 joint>
    >>> [value.tolist() for value in record.at(0.5)]
    [[0.125], [0.5], [1.0]]
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray | None = None
    kinetic: FloatArray | None = None
    potential: FloatArray | None = None
    poses: FloatArray | None = None
    names: tuple[str, ...] = ()
    slides: tuple[bool, ...] = ()
    events: tuple[Event, ...] = ()
    evaluate: Evaluator | None = None
    energy_error: FloatArray | None = None

    def __post_init__(self) -> None:
        self._put("t", instants(self.t))
        for field in ("q", "qd", "qdd"):
            self._put(field, record(field, getattr(self, field)))
        self._check_motion()
        for field, behind in RECORDS.items():
            if getattr(self, field) is not None:
                self._put(field, self._record(field, behind))
        self._put("names", tuple(self.names) or tuple(f"q{k + 1}" for k in range(self.n)))
        self._put("slides", tuple(map(bool, self.slides)) or (False,) * self.n)
        for field in ("names", "slides"):
            if len(getattr(self, field)) != self.n:
                raise ArgumentError(f"there are {len(getattr(self, field))} {field} for {self.n} joints")
        self._put("events", tuple(self.events))
        if strange := [event for event in self.events if not isinstance(event, Event)]:
            raise ArgumentError(f"events holds {strange[0]!r}; expected Events (name, time, q, qd, member)")

    def _put(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _check_motion(self) -> None:
        q, qd, qdd = self.q.shape, self.qd.shape, self.qdd.shape
        fits = len(q) >= 2 and q[-2] == self.t.size and q[:-1] == qd[:-1] and qd == qdd
        if not fits or not (q[-1] == qd[-1] or q[-1] == qd[-1] + 1 >= 7):
            raise ArgumentError(
                f"q, qd and qdd have the shapes {q}, {qd} and {qdd}; expected (..., {self.t.size}, n) for all three, "
                f"or (..., {self.t.size}, n + 7) for q and n + 6 for the others with a floating base"
            )

    def _record(self, field: str, behind: tuple[int | str, ...]) -> FloatArray:
        made = record(field, getattr(self, field))
        wanted = (*self.q.shape[:-1], *(self.qd.shape[-1] if size == "nv" else int(size) for size in behind))
        if made.shape != wanted:
            raise ArgumentError(f"{field} has the shape {made.shape}; expected {wanted}")
        return made

    # ── what it is ────────────────────────────────────────────────────────────────────────────────

    @property
    def floating(self) -> bool:
        """Whether q begins with the pose of a floating base."""
        return bool(self.q.shape[-1] != self.qd.shape[-1])

    @property
    def n(self) -> int:
        """Number of joints, those of a floating base not counted."""
        return int(self.q.shape[-1]) - 7 * self.floating

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch shape ``...``; () for one motion."""
        return tuple(self.q.shape[:-2])

    @property
    def duration(self) -> float:
        """Time from the first instant to the last, s."""
        return float(self.t[-1] - self.t[0])

    @property
    def energy(self) -> FloatArray | None:
        """Kinetic and potential energy (..., T), J; None unless both are recorded."""
        return None if self.kinetic is None or self.potential is None else self.kinetic + self.potential

    def __len__(self) -> int:
        return int(self.t.size)

    def __repr__(self) -> str:
        span = f"{len(self)} instants from {self.t[0]:g} to {self.t[-1]:g} s" if len(self) > 1 else f"at {self.t[0]:g} s"
        words = [span, _counted(self.n, "joint")]
        words += ["floating base"] if self.floating else []
        words += [f"batch {self.batch}"] if self.batch else []
        records = [field for field in ("tau", "kinetic", "potential", "poses") if getattr(self, field) is not None]
        words += [f"with {', '.join(records)}"] if records else []
        words += [_counted(len(self.events), "event")] if self.events else []
        return f"<Trajectory: {', '.join(words)}>"

    # ── what it gives ─────────────────────────────────────────────────────────────────────────────

    def at(self, time: npt.ArrayLike) -> State:
        """Return q, qd and qdd at any time of the motion.

        A planned trajectory is evaluated exactly. A recorded one is interpolated by the polynomials of degree five that
        have the recorded q, qd and qdd at both ends of each interval (quintic Hermite): qd and qdd are the derivatives of
        that q, and its error falls as the sixth power of the interval. The pose of a floating base is interpolated alike,
        in position and quaternion.

        Where acceleration jumps at the instants, the recorded one is that after the jump. What `simulate` returns knows the
        torque that held before it, and interpolates with the acceleration under that. A record that comes from elsewhere
        (measured, put together by hand, read by `load`) does not, and its q is then wrong by up to h^2/57 times the jump,
        h the interval.

        Parameters
        ----------
        time : float or (K,) array_like
            s, within the trajectory.

        Returns
        -------
        q, qd, qdd : ndarray (..., nq), (..., nv), (..., nv), or (..., K, nq), ... for K times

        Raises
        ------
        ArgumentError
            For a time before the first instant or after the last.

        Examples
        --------
        >>> record = Trajectory([0.0, 2.0], [[0.0], [8.0]], [[0.0], [12.0]], [[0.0], [12.0]])  # t cubed
        >>> [value.tolist() for value in record.at([1.0, 1.5])]
        [[[1.0], [3.375]], [[3.0], [6.75]], [[6.0], [9.0]]]
        """
        times = within(time, self.t)
        q, qd, qdd = (self.evaluate or self._interpolant)(np.atleast_1d(times))
        return (q, qd, qdd) if times.ndim else (q[..., 0, :], qd[..., 0, :], qdd[..., 0, :])

    @cached_property
    def _interpolant(self) -> Evaluator:
        kind = FloatingHermite if self.floating else Hermite
        return kind(self.t, self.q, self.qd, self.qdd)

    def member(self, index: int | tuple[int, ...]) -> Trajectory:
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
        >>> many = Trajectory([0.0, 1.0], np.zeros((3, 2, 1)), np.zeros((3, 2, 1)), np.zeros((3, 2, 1)))
        >>> many.member(2)
        <Trajectory: 2 instants from 0 to 1 s, 1 joint>
        """
        place = place_in(self.batch, index)
        fields = ("q", "qd", "qdd", *RECORDS)
        values: dict[str, Any] = {f: None if getattr(self, f) is None else getattr(self, f)[place] for f in fields}
        chosen = [event for event in self.events if event.member[: len(place)] == place]
        events = tuple(event._replace(member=event.member[len(place) :]) for event in chosen)
        return replace(self, **values, events=events, evaluate=of_member(self.evaluate, place))

    def until(self, time: float) -> Trajectory:
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
        >>> record = Trajectory([0.0, 1.0, 2.0], np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1)))
        >>> record.until(1.5)
        <Trajectory: 2 instants from 0 to 1 s, 1 joint>
        """
        end = until(time, self.t)
        kept = int(np.searchsorted(self.t, end, side="right"))
        values: dict[str, Any] = {"t": self.t[:kept], "events": tuple(event for event in self.events if event.time <= end)}
        for name, behind in {"q": 1, "qd": 1, "qdd": 1, **{name: len(shape) for name, shape in RECORDS.items()}}.items():
            if (array := getattr(self, name)) is not None:
                values[name] = array[(..., slice(kept), *[slice(None)] * behind)]
        return replace(self, **values, evaluate=of_first(self.evaluate, kept))

    def of(self, mechanism: Tree) -> Trajectory:
        """Return the same motion with the joint names of a mechanism, and m instead of rad for those that slide.

        Raises
        ------
        ArgumentError
            Where the mechanism has another number of joints, or one of the two a floating base and the other not.

        Examples
        --------
        >>> import linkwise as lw
        >>> still = Trajectory([0.0, 1.0], np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
        >>> still.of(lw.robots.scara_icomatic()).slides
        (False, False, True)
        """
        if mechanism.n != self.n:
            raise ArgumentError(f"{mechanism.name!r} has {mechanism.n} joints; the trajectory has {self.n}")
        if mechanism.floating != self.floating:
            with_base, without = (f"{mechanism.name!r}", "the trajectory")[:: 1 if mechanism.floating else -1]
            raise ArgumentError(f"{with_base} has a floating base; {without} has none")
        return replace(self, names=mechanism.names, slides=mechanism.slides)

    def with_records(
        self,
        *,
        tau: npt.ArrayLike | None = None,
        kinetic: npt.ArrayLike | None = None,
        potential: npt.ArrayLike | None = None,
        poses: npt.ArrayLike | None = None,
    ) -> Trajectory:
        """Return the same motion with efforts, energies or poses that were computed for it; shapes as for the class.

        Examples
        --------
        >>> still = Trajectory([0.0, 1.0], np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 1)))
        >>> still.with_records(tau=np.ones((2, 1)))
        <Trajectory: 2 instants from 0 to 1 s, 1 joint, with tau>
        """
        given: dict[str, Any] = {"tau": tau, "kinetic": kinetic, "potential": potential, "poses": poses}
        return replace(self, **{field: value for field, value in given.items() if value is not None})

    def plot(self, title: str = "") -> Any:
        """Draw position, speed, acceleration and, if recorded, effort and energy against time; nothing is shown or blocked.

        Parameters
        ----------
        title : str
            Stands above.

        Returns
        -------
        matplotlib.figure.Figure
            Save it with ``savefig``; a notebook shows it by itself.

        Raises
        ------
        ArgumentError
            For a batch: draw one `member`.
        MissingExtraError
            Where matplotlib is not installed.

        Examples
        --------
        >>> record = Trajectory([0.0, 1.0], [[0.0], [0.5]], [[0.0], [1.0]], [[1.0], [1.0]])
        >>> len(record.plot("a joint").axes)  # doctest: +SKIP
        3
        """
        from linkwise.trajectory.drawing import draw

        return draw(self, title)

    def save(self, path: str | Path) -> None:
        """Write a file, whole or not at all, as the suffix says.

        ``.npz`` holds everything, under the names of the fields; `load` reads it. ``.csv`` holds one motion with, if
        recorded, efforts and energies (quaternions of a floating base that are no unit ones become so); ``.mot``
        (SpaceLib) t, q, qd and qdd of a fixed mechanism, if the times are multiples of a step. Both can be read by
        ``files.open_motion`` and ``linkwise run``. They hold finite numbers only: cut a motion that ended early by `until`.

        Raises
        ------
        FileError
            Where the suffix is another, the format cannot hold the trajectory, or the file cannot be written.
        """
        from linkwise.trajectory.saving import save

        save(self, path)

    @staticmethod
    def load(path: str | Path, *, max_bytes: int | None = None) -> Trajectory:
        """Read what `save` wrote to an ``.npz``. Between the instants it is then interpolated, see `at`.

        Parameters
        ----------
        path : str or Path
            The file.
        max_bytes : int, optional
            How much it may hold: 96 MiB of arrays, or eight times its own size where that is more, if left out.

        Raises
        ------
        ArgumentError
            Where max_bytes is no positive whole number.
        FileError
            Where it cannot be read, or holds something else.
        """
        from linkwise.trajectory.saving import load

        return load(path, max_bytes)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
