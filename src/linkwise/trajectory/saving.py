"""Trajectories as files: everything as .npz, one motion as .csv or .mot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError, choices
from linkwise.files import csv_motion, npz, save_motion
from linkwise.files.atomic import write_bytes, write_text
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.checks import closed
from linkwise.trajectory.event import Event

if TYPE_CHECKING:
    from linkwise.trajectory.cartesian_trajectory import CartesianTrajectory
    from linkwise.trajectory.trajectory import Trajectory

SUFFIXES = (".npz", ".csv", ".mot")
ARRAYS = ("t", "q", "qd", "qdd", "tau", "kinetic", "potential", "energy_error", "poses")
FIELDS = (*ARRAYS, "names", "slides")
MOTION, FRAME = ("t", "q", "qd", "qdd"), ("t", "poses", "twist", "acceleration")
BASE_EFFORTS = ("base_fx", "base_fy", "base_fz", "base_mx", "base_my", "base_mz")
"""How the columns of force (N) and moment (N m) on a floating base are called."""
EVENTS = tuple(f"events_{field}" for field in Event._fields)
KINDS = {
    **dict.fromkeys((*ARRAYS, *EVENTS), npz.NUMBERS),
    **{"names": npz.TEXT, "slides": npz.FLAGS, "events_name": npz.TEXT},
}
"""What an .npz holds of a trajectory, and of what kind each is."""
EVENT_SIZE = 512
"""Bytes that an event takes as a Python object, or somewhat less."""


def save(trajectory: Trajectory, path: str | Path) -> None:
    """Write a trajectory; see `Trajectory.save`."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise npz.refused(path, f"cannot tell the format from the suffix {suffix!r}; expected {choices(SUFFIXES)}")
    if suffix == ".npz":
        write_bytes(path, [_packed(trajectory)])
        return
    if trajectory.batch:
        what = f"a {suffix} file holds one motion, not a batch of shape {trajectory.batch}"
        raise npz.refused(path, f"{what}; save as .npz, or one member(...) of it")
    if trajectory.floating and suffix == ".mot":
        raise npz.refused(path, f"a {suffix} file holds the motion of joints, not of a floating base; save as .csv or .npz")
    t, q, qd, qdd = trajectory.t, trajectory.q, trajectory.qd, trajectory.qdd
    if not all(np.all(np.isfinite(values)) for values in (q, qd, qdd)):
        raise npz.refused(path, f"a {suffix} file holds finite numbers only; save as .npz, or until(...) the last of them")
    if suffix == ".mot":
        save_motion(path, t, q, qd, qdd)
    else:
        write_text(path, _table(trajectory))


def save_cartesian(trajectory: CartesianTrajectory, path: str | Path) -> None:
    """Write the motion of a frame; see `CartesianTrajectory.save`."""
    if Path(path).suffix.lower() != ".npz":
        raise npz.refused(path, f"cannot tell the format from the suffix {Path(path).suffix!r}; expected '.npz'")
    arrays = {name: getattr(trajectory, name) for name in FRAME}
    write_bytes(path, [npz.packed(arrays)])


def load(path: str | Path, max_bytes: int | None = None) -> Trajectory:
    """Read an .npz; see `Trajectory.load`."""
    from linkwise.trajectory.trajectory import Trajectory

    held = _unpacked(path, MOTION, KINDS, max_bytes)
    fields = {name: held[name] for name in KINDS if name in held and name not in EVENTS}
    n = held["q"].shape[-1:]
    for name in ("names", "slides"):
        if name in fields:
            if fields[name].ndim != 1 or fields[name].shape > n:
                raise npz.refused(path, f"{name} has the shape {fields[name].shape}; q has the shape {held['q'].shape}")
            fields[name] = tuple(fields[name].tolist())
    try:
        return Trajectory(**fields, events=_events(path, held, max_bytes))
    except ArgumentError as error:
        raise npz.refused(path, str(error)) from error


def load_cartesian(path: str | Path, max_bytes: int | None = None) -> CartesianTrajectory:
    """Read the motion of a frame from an .npz; see `CartesianTrajectory.load`."""
    from linkwise.trajectory.cartesian_trajectory import CartesianTrajectory

    held = _unpacked(path, FRAME, dict.fromkeys(FRAME, npz.NUMBERS), max_bytes)
    try:
        return CartesianTrajectory(**{name: held[name] for name in FRAME})
    except ArgumentError as error:
        raise npz.refused(path, str(error)) from error


def _unpacked(path: str | Path, needed: Sequence[str], kinds: Mapping[str, str], max_bytes: int | None) -> dict[str, Any]:
    """The arrays of an .npz, by name, closed to writing: a trajectory then keeps them instead of copies."""
    held = npz.read(path, kinds, max_bytes)
    npz.require(path, held, needed)
    closed(*held.values())
    return held


def _packed(trajectory: Trajectory) -> bytes:
    """Everything as the bytes of an .npz."""
    arrays: dict[str, Any] = {name: np.asarray(value) for name in FIELDS if (value := getattr(trajectory, name)) is not None}
    for field, name in zip(Event._fields, EVENTS, strict=True):
        if trajectory.events:
            arrays[name] = np.array([getattr(event, field) for event in trajectory.events])
    return npz.packed(arrays)


def _events(path: str | Path, held: Mapping[str, Any], max_bytes: int | None) -> tuple[Event, ...]:
    if not all(name in held for name in EVENTS):
        return ()
    names, times, q, qd, members = (held[name] for name in EVENTS)
    shapes = tuple(array.shape for array in (names, times, q, qd, members))
    count = times.size
    batch = max(held["q"].ndim - 2, 0)
    states = tuple((count, *held[name].shape[-1:]) for name in ("q", "qd"))
    if shapes != ((count,), (count,), *states, (count, batch)) or not np.isfinite(members).all():
        raise npz.refused(
            path, f"the arrays {', '.join(EVENTS)} have the shapes {', '.join(map(str, shapes))}: it is damaged"
        )
    most = (npz.LARGEST if max_bytes is None else int(max_bytes)) // EVENT_SIZE
    if count > most:
        raise npz.refused(path, f"there are {count:,} events in it, and at most {most:,} are read")
    rows = zip(names.tolist(), times.tolist(), q, qd, members.astype(np.int64).tolist(), strict=True)
    return tuple(Event(name, time, at, rate, tuple(member)) for name, time, at, rate, member in rows)


def _table(trajectory: Trajectory) -> Iterator[str]:
    """The lines of a .csv: the motion as everywhere, then what else was recorded."""
    names, floating = _plain(trajectory.names), trajectory.floating
    columns: list[tuple[str, FloatArray]] = []
    if trajectory.tau is not None:
        endings = [f"_{name}" for name in names] or [str(k + 1) for k in range(trajectory.n)]
        endings = [f"_{name}" for name in BASE_EFFORTS if floating] + endings
        columns += [(f"tau{ending}", trajectory.tau[:, k]) for k, ending in enumerate(endings)]
    for name in ("kinetic", "potential"):
        if (values := getattr(trajectory, name)) is not None:
            columns.append((f"{name}_energy", values))
    q = _with_units(trajectory.q) if floating else trajectory.q
    lines = csv_motion.render(trajectory.t, q, trajectory.qd, trajectory.qdd, names, floating)
    yield _joined(next(lines), [name for name, _ in columns])
    for k, line in enumerate(lines):
        yield _joined(line, [repr(float(values[k])) for _, values in columns])


def _with_units(q: FloatArray) -> FloatArray:
    """Configurations (T, nq) with a floating base, quaternions made unit ones where they are not by what a file allows."""
    length = np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    kept = (np.abs(length - 1.0) <= csv_motion.UNIT_QUATERNION) | (length == 0.0)
    return np.concatenate((q[:, :3], q[:, 3:7] / np.where(kept, 1.0, length), q[:, 7:]), axis=1)


def _plain(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names for the columns; () where they are only numbers, q1, q2, ..., which the columns then are called by."""
    return () if names == tuple(f"q{k + 1}" for k in range(len(names))) else names


def _joined(line: str, more: list[str]) -> str:
    return ",".join([line.rstrip("\n"), *more]) + "\n"
