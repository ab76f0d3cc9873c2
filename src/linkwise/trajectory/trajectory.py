"""`Trajectory`: a motion of joints in time, and its files (.npz, .csv, .mot)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.files import csv_motion, npz, save_motion
from linkwise.files.atomic import write_bytes, write_text
from linkwise.files.text import refused
from linkwise.model.joints import make_joint
from linkwise.model.tree import ManifoldJoint, floating_base, manifold_columns, manifold_joints, require_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag, listed, whole
from linkwise.trajectory.least_clearance import LeastClearance, least_clearance
from linkwise.trajectory.motion import Evaluator, Event, Motion, State, interpolant
from linkwise.trajectory.validation import closed, instants, limited, record

if TYPE_CHECKING:
    from linkwise.model.tree import Tree


M = TypeVar("M", bound=Motion)

Z_AXIS = np.array([0.0, 0.0, 1.0])

SUFFIXES = (".npz", ".csv", ".mot")
EVENTS = tuple(f"events_{field}" for field in Event._fields)

#: The kinds of the arrays of an .npz that are no numbers.
KINDS = {"names": npz.TEXT, "is_length": npz.FLAGS, "events_name": npz.TEXT, "manifold_names": npz.TEXT}
KINDS["manifold_kinds"] = npz.TEXT

#: Data of a file on each joint with a quaternion.
MANIFOLD: dict[str, Callable[[ManifoldJoint], Any]] = {
    "manifold_names": lambda at: at.name,
    "manifold_kinds": lambda at: at.joint.kind,
    "manifold_links": lambda at: float(at.link),
}

#: Bytes that an event takes as a Python object, or somewhat less.
EVENT_SIZE = 512


def save(trajectory: Any, path: str | Path) -> None:
    """Write a trajectory; see `Trajectory.save`."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise refused(path, f"cannot tell the format from the suffix {suffix!r}; expected {choices(SUFFIXES)}")
    if suffix == ".npz":
        arrays = {
            **_arrays(trajectory),
            "names": np.asarray(trajectory.names),
            "is_length": np.asarray(trajectory.is_length),
        }
        if trajectory.manifold_joints:
            arrays |= {key: np.array([value(at) for at in trajectory.manifold_joints]) for key, value in MANIFOLD.items()}
        for field, name in zip(Event._fields, EVENTS, strict=True):
            if trajectory.events:
                arrays[name] = np.array([getattr(event, field) for event in trajectory.events])
        write_bytes(path, [npz.packed(arrays)])
        return
    if trajectory.batch:
        limit = f"a {suffix} file holds one motion, not a batch of shape {trajectory.batch}"
        raise refused(path, f"{limit}; save as .npz, or one member(...) of it")
    if trajectory.manifold_joints and suffix == ".mot":
        kinds = "a floating base" if trajectory.floating else "joints with quaternions"
        raise refused(path, f"a {suffix} file holds the motion of joints, not of {kinds}; save as .csv or .npz")
    t, q, qd, qdd = trajectory.t, trajectory.q, trajectory.qd, trajectory.qdd
    if not all(np.all(np.isfinite(values)) for values in (q, qd, qdd)):
        raise refused(path, f"a {suffix} file holds finite numbers only; save as .npz, or until(...) the last of them")
    if suffix == ".mot":
        save_motion(path, t, q, qd, qdd)
    else:
        write_text(path, _table(trajectory))


def save_frame(trajectory: Motion, path: str | Path) -> None:
    """Write the motion of a frame; see `CartesianTrajectory.save`."""
    if Path(path).suffix.lower() != ".npz":
        raise refused(path, f"cannot tell the format from the suffix {Path(path).suffix!r}; expected '.npz'")
    write_bytes(path, [npz.packed(_arrays(trajectory))])


def load(kind: type[M], path: str | Path, max_bytes: int | None = None) -> M:
    """Read an .npz as a motion of a class; see its `load`."""
    joints = "names" in kind.__annotations__
    fields = ("t", *kind.STATE, *kind.RECORDS, *(["names", "is_length"] if joints else []))
    kinds = {name: KINDS.get(name, npz.NUMBERS) for name in (*fields, *((*EVENTS, *MANIFOLD) if joints else ()))}
    arrays = npz.read(path, kinds, max_bytes)
    npz.require(path, arrays, ("t", *kind.STATE))
    closed(*arrays.values())  # a motion then keeps them instead of copies
    values: dict[str, Any] = {name: arrays[name] for name in fields if name in arrays}
    for name in [name for name in ("names", "is_length") if name in values]:
        if values[name].ndim != 1 or values[name].shape > arrays["q"].shape[-1:]:
            raise refused(path, f"{name} has the shape {values[name].shape}; q has the shape {arrays['q'].shape}")
        values[name] = tuple(values[name].tolist())
    if joints and all(name in arrays for name in MANIFOLD):
        values["manifold_joints"] = _manifold_joints(path, *(arrays[name] for name in MANIFOLD))
    if joints and all(name in arrays for name in EVENTS):
        values["events"] = _events(path, arrays, max_bytes)
    try:
        return kind(**values)
    except ArgumentError as error:
        raise refused(path, str(error)) from error


def _arrays(trajectory: Motion) -> dict[str, Any]:
    """The arrays of a motion that there are, by name."""
    names = ("t", *trajectory.STATE, *trajectory.RECORDS)
    return {name: np.asarray(values) for name in names if (values := getattr(trajectory, name)) is not None}


def _manifold_joints(path: str | Path, *columns: npt.NDArray[Any]) -> tuple[ManifoldJoint, ...]:
    if len({array.shape for array in columns}) > 1 or columns[0].ndim != 1 or not np.isfinite(columns[2]).all():
        raise refused(path, f"the arrays {', '.join(MANIFOLD)} have the shapes {[array.shape for array in columns]}")
    rows = zip(*(array.tolist() for array in columns), strict=True)
    try:
        return manifold_joints((name, int(link), make_joint(kind, Z_AXIS), np.inf) for name, kind, link in rows)
    except ArgumentError as error:
        raise refused(path, f"manifold_kinds: {error}") from error


def _events(path: str | Path, arrays: Mapping[str, Any], max_bytes: int | None) -> tuple[Event, ...]:
    names, times, q, qd, members = (arrays[name] for name in EVENTS)
    shapes = tuple(array.shape for array in (names, times, q, qd, members))
    count = times.size
    batch = max(arrays["q"].ndim - 2, 0)
    states = tuple((count, *arrays[name].shape[-1:]) for name in ("q", "qd"))
    if shapes != ((count,), (count,), *states, (count, batch)) or not np.isfinite(members).all():
        raise refused(path, f"the arrays {', '.join(EVENTS)} have the shapes {', '.join(map(str, shapes))}: it is damaged")
    most = (npz.LARGEST if max_bytes is None else int(max_bytes)) // EVENT_SIZE
    if count > most:
        raise refused(path, f"there are {count:,} events in it, and at most {most:,} are read")
    rows = zip(names.tolist(), times.tolist(), q, qd, members.astype(np.int64).tolist(), strict=True)
    return tuple(Event(name, time, at, rate, tuple(member)) for name, time, at, rate, member in rows)


def _table(trajectory: Any) -> Iterator[str]:
    """Yield the lines of a .csv: the motion, then the other recorded quantities."""
    names, joints = _plain(trajectory.names), trajectory.manifold_joints
    columns: list[tuple[str, FloatArray]] = []
    if trajectory.tau is not None:
        endings = [f"_{name}" for name in names] or [str(k + 1) for k in range(trajectory.n)]
        endings = [f"_{name}" for name, _ in manifold_columns(joints, "tau")] + endings
        columns += [(f"tau{ending}", trajectory.tau[:, k]) for k, ending in enumerate(endings)]
    for name in ("kinetic", "potential"):
        if (values := getattr(trajectory, name)) is not None:
            columns.append((f"{name}_energy", values))
    q = _with_units(trajectory.q, joints)
    lines = csv_motion.render(trajectory.t, q, trajectory.qd, trajectory.qdd, names, joints)
    yield _joined(next(lines), [name for name, _ in columns])
    for k, line in enumerate(lines):
        yield _joined(line, [repr(float(values[k])) for _, values in columns])


def _with_units(q: FloatArray, joints: Sequence[ManifoldJoint]) -> FloatArray:
    """Normalize quaternions of configurations (T, nq) that deviate from unit length by the precision of a file."""
    result = q.copy()
    for at in joints:
        length = np.linalg.norm(q[:, at.quaternion], axis=1, keepdims=True)
        kept = (np.abs(length - 1.0) <= csv_motion.UNIT_QUATERNION) | (length == 0.0)
        result[:, at.quaternion] = q[:, at.quaternion] / np.where(kept, 1.0, length)
    return result


def _plain(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names for the columns; () where they are only numbers, q1, q2, ..., which the columns then are called by."""
    return () if names == tuple(f"q{k + 1}" for k in range(len(names))) else names


def _joined(line: str, more: list[str]) -> str:
    return ",".join([line.rstrip("\n"), *more]) + "\n"


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Motion):
    """Positions, velocities and accelerations of joints at T instants, and between them.

    Leading axes ``...`` are a batch of motions over the same instants. For fixed mechanisms nq = nv = n. With a floating
    base nq = n + 7 and nv = n + 6: q begins with position and unit quaternion (w, x, y, z), qd with the twist of the base
    in its own axes, linear first. Ball joints and other bodies that float come next: `manifold_joints` says which.

    Parameters
    ----------
    t : (T,) array_like
        Time, s, ascending.
    q : (..., T, nq) array_like
        Joint coordinates, rad or m.
    qd, qdd : (..., T, nv) array_like
        Velocities and accelerations.
    tau : (..., T, nv) array_like, optional
        Joint efforts, N m or N.
    kinetic, potential : (..., T) array_like, optional
        Energies, J.
    poses : (..., T, 4, 4) array_like, optional
        Where the tool was, T_world_tool.
    names : sequence of str
        Names of the joints (n,); q1, q2, ... where none are given.
    is_length : sequence of bool
        Which joints slide (n,), and so are in m; none, where it is not said. `of` takes both from a mechanism.
    events : tuple of Event
        What was watched for and happened.
    evaluate : callable, optional
        Takes times (K,) within those of t and returns q, qd, qdd (..., K, :); what `at` uses. Where there is none,
        the quintic Hermite interpolant of the samples takes its place.
    energy_error : (..., T) array_like, optional
        What `simulate` gained or lost since the first instant that no work accounts for, J.
    manifold_joints : sequence of ManifoldJoint, optional
        The joints with quaternions, with which q begins (`Mechanism.manifold_joints`): a floating base where nq is nv + 1,
        by default.

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

    STATE: ClassVar = {"q": 1, "qd": 1, "qdd": 1}
    RECORDS: ClassVar = {"tau": 1, "kinetic": 0, "potential": 0, "energy_error": 0, "poses": 2}

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray | None = None
    kinetic: FloatArray | None = None
    potential: FloatArray | None = None
    poses: FloatArray | None = None
    names: tuple[str, ...] = ()
    is_length: tuple[bool, ...] = ()
    events: tuple[Event, ...] = ()
    evaluate: Evaluator | None = None
    energy_error: FloatArray | None = None
    manifold_joints: tuple[ManifoldJoint, ...] = ()

    def __post_init__(self) -> None:
        self._put("t", instants(self.t))
        for field in self.STATE:
            self._put(field, record(field, getattr(self, field)))
        self._check_manifold_joints()
        self._check_motion()
        sizes = {"tau": (self.qd.shape[-1],), "poses": (4, 4)}
        for field in self.RECORDS:
            if getattr(self, field) is not None:
                values, expected = record(field, getattr(self, field)), (*self.q.shape[:-1], *sizes.get(field, ()))
                if values.shape != expected:
                    raise ArgumentError(f"{field} has the shape {values.shape}; expected {expected}")
                self._put(field, values)
        for field in ("names", "is_length", "events"):
            self._put(field, tuple(listed(field, getattr(self, field), "a sequence")))
        self._put("names", self.names or tuple(f"q{k + 1}" for k in range(self.n)))
        self._put("is_length", tuple(flag("is_length", value) for value in self.is_length) or (False,) * self.n)
        for field in ("names", "is_length"):
            if len(getattr(self, field)) != self.n:
                raise ArgumentError(f"there are {len(getattr(self, field))} {field} for {self.n} joints")
        called = [*(at.name for at in self.manifold_joints), *self.names]
        if wrong := [name for name in called if not isinstance(name, str)]:
            raise ArgumentError(f"a joint has the name {shown(wrong[0])}; expected a word")
        if len(set(called)) < len(called):
            twice = next(name for name in called if called.count(name) > 1)
            raise ArgumentError(f"two joints have the name {shown(twice)}; expected names that differ")
        if strange := [event for event in self.events if not isinstance(event, Event)]:
            raise ArgumentError(f"events holds {strange[0]!r}; expected Events (name, time, q, qd, member)")

    def _put(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _check_manifold_joints(self) -> None:
        joints = tuple(listed("manifold_joints", self.manifold_joints, "a sequence of ManifoldJoint"))
        for at in joints:
            if not isinstance(at, ManifoldJoint):
                raise ArgumentError(f"manifold_joints holds {shown(at)}; expected the manifold_joints of a Mechanism")
            if getattr(at.joint, "quaternion", None) is None:
                raise ArgumentError(f"manifold_joints: {at.name!r} is {shown(at.joint)}; expected a joint with a quaternion")
        in_order = manifold_joints((at.name, at.link, at.joint, at.most) for at in joints)
        for at, place in zip(joints, in_order, strict=True):
            if (at.q, at.v) != (place.q, place.v):
                raise ArgumentError(
                    f"manifold_joints: {at.name!r} is at {at.q} of q and {at.v} of qd; expected {place.q} and {place.v},"
                    " one joint behind another"
                )
        self._put("manifold_joints", joints)

    def _check_motion(self) -> None:
        q, qd, qdd = self.q.shape, self.qd.shape, self.qdd.shape
        fits = len(q) >= 2 and q[-2] == self.t.size and q[:-1] == qd[:-1] and qd == qdd
        if fits and not self.manifold_joints and q[-1] == qd[-1] + 1 >= 7:
            self._put("manifold_joints", (floating_base(),))
        sizes = [(at.joint.nq, at.joint.nv) for at in self.manifold_joints]
        others = q[-1] - sum(size for size, _ in sizes) if fits else -1
        if others < 0 or others != qd[-1] - sum(size for _, size in sizes):
            raise ArgumentError(
                f"q, qd and qdd have the shapes {q}, {qd} and {qdd}; expected (..., {self.t.size}, n) for all three, "
                f"or (..., {self.t.size}, n + 7) for q and n + 6 for the others with a floating base "
                "(with ball joints or several bodies that float, say manifold_joints)"
            )

    # ── what it is ────────────────────────────────────────────────────────────────────────────────

    @property
    def floating(self) -> bool:
        """True if q begins with the pose of a floating base."""
        return any(at.link < 0 for at in self.manifold_joints)

    @property
    def n(self) -> int:
        """Number of joint coordinates, those of a floating base and of other joints with quaternions not counted."""
        return int(self.q.shape[-1]) - sum(at.joint.nq for at in self.manifold_joints)

    @property
    def energy(self) -> FloatArray | None:
        """Kinetic and potential energy (..., T), J; None unless both are recorded."""
        return None if self.kinetic is None or self.potential is None else self.kinetic + self.potential

    def __repr__(self) -> str:
        words = [self._span, _counted(self.n, "joint")]
        words += ["floating base" if at.link < 0 else f"{at.joint.kind} {at.name}" for at in self.manifold_joints]
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
        return self._at(time)

    @cached_property
    def _interpolant(self) -> Evaluator:
        return interpolant(self.t, self.q, self.qd, self.qdd, joints=self.manifold_joints)

    def of(self, mechanism: Tree) -> Trajectory:
        """Return the same motion with the joint names of a mechanism, and m instead of rad for those that slide.

        Raises
        ------
        ArgumentError
            Where the mechanism has another number of joints, or one of the two a floating base and the other not.

        Examples
        --------
        >>> import numpy as np
        >>> import linkwise as lw
        >>> still = Trajectory([0.0, 1.0], np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
        >>> still.of(lw.robots.scara_icomatic()).is_length
        (False, False, True)
        """
        require_tree(mechanism, "of: mechanism")
        if mechanism.n != self.n:
            raise ArgumentError(f"{mechanism.name!r} has {mechanism.n} joints; the trajectory has {self.n}")
        if mechanism.floating != self.floating:
            with_base, without = (f"{mechanism.name!r}", "the trajectory")[:: 1 if mechanism.floating else -1]
            raise ArgumentError(f"{with_base} has a floating base; {without} has none")
        joints = mechanism.manifold_joints
        if [type(at.joint) for at in joints] != [type(at.joint) for at in self.manifold_joints]:
            ours, theirs = (", ".join(f"{at.joint.kind} {at.name!r}" for at in of) for of in (self.manifold_joints, joints))
            problem = f"{mechanism.name!r} has the joints with quaternions {theirs or 'none'}"
            raise ArgumentError(f"{problem}; the trajectory has {ours or 'none'}")
        return replace(self, names=mechanism.names, is_length=mechanism.is_length, manifold_joints=joints)

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
        >>> import numpy as np
        >>> still = Trajectory([0.0, 1.0], np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 1)))
        >>> still.with_records(tau=np.ones((2, 1)))
        <Trajectory: 2 instants from 0 to 1 s, 1 joint, with tau>
        """
        records: dict[str, Any] = {"tau": tau, "kinetic": kinetic, "potential": potential, "poses": poses}
        return replace(self, **{field: values for field, values in records.items() if values is not None})

    def clearance(
        self, obstacles: Any = (), *, mechanism: Any = None, samples: int = 1001, exact: bool = False
    ) -> LeastClearance:
        """Return the least of the distances between shapes at evenly spaced instants of the motion, or of each of a batch.

        Parameters
        ----------
        obstacles : sequence of Shape
            In the world.
        mechanism : Mechanism
            With the shapes; a time-optimal motion knows its own.
        samples : int
            At how many instants. The distance between two of them is not bounded.
        exact : bool
            Measure the shapes themselves instead of capsules that contain them: see `Mechanism.clearance`.

        Raises
        ------
        ArgumentError
            Without a mechanism, and where no pair of shapes is looked at.

        Examples
        --------
        >>> import linkwise as lw
        >>> rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
        >>> arm = lw.robots.planar_2r().with_shapes(rods)
        >>> ball = lw.Shape("world", "sphere", 0.1, origin=(2.3, 0.0, 0.0), name="obstacle")
        >>> near = lw.trajectory.quintic([-1.0, 0.0], [1.0, 0.0], 2.0).clearance([ball], mechanism=arm)
        >>> near.pair, round(near.distance, 3), round(near.time, 2)
        (('link2', 'obstacle'), 0.15, 1.0)
        """
        tree = getattr(self, "mechanism", None) if mechanism is None else mechanism
        if tree is None:
            raise ArgumentError("this motion has no mechanism; clearance(obstacles, mechanism=...) takes one")
        times = np.linspace(self.t[0], self.t[-1], whole("samples", samples, 2, "2 instants or more"))
        return least_clearance(tree, times, self.at(times)[0], obstacles, exact=exact)

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
        from linkwise.plot.curves import draw

        return draw(self, title)

    def save(self, path: str | Path) -> None:
        """Write a file atomically, in the format of the suffix.

        ``.npz`` holds everything, under the names of the fields; `load` reads it. ``.csv`` holds one motion with, if
        recorded, efforts and energies (quaternions of a floating base that are no unit ones become so); ``.mot``
        (SpaceLib) t, q, qd and qdd of a fixed mechanism, if the times are multiples of a step. Both can be read by
        ``files.open_motion`` and ``linkwise run``. They hold finite numbers only: cut a motion that ended early by `until`.

        Raises
        ------
        FileError
            Where the suffix is another, the format cannot hold the trajectory, or the file cannot be written.
        """
        save(self, path)

    @staticmethod
    def load(path: str | Path, *, max_bytes: int | None = None) -> Trajectory:
        """Read an ``.npz`` of `save`. Between the instants the motion is then interpolated, see `at`.

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
        return load(Trajectory, path, max_bytes)


def planned(t: FloatArray, evaluate: Evaluator, limits: Any, names: Sequence[str]) -> Trajectory:
    """Return the trajectory of an evaluator at instants (T,), which must stay within (q_min, q_max) if given."""
    q, qd, qdd = closed(*evaluate(t))
    if not isinstance(names, (list, tuple)):
        raise ArgumentError(f"names is {shown(names)}; expected a sequence of words")
    trajectory = Trajectory(t, q, qd, qdd, names=tuple(names), evaluate=evaluate)
    limited(limits, trajectory.names, trajectory.t, trajectory.q)
    return trajectory


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
