"""Trajectories as files: everything as .npz, one motion as .csv or .mot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from linkwise.errors import ArgumentError, choices
from linkwise.files import csv_motion, npz, save_motion
from linkwise.files.atomic import write_bytes, write_text
from linkwise.model.tree import BASE_EFFORTS
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import Event, Motion
from linkwise.trajectory.validation import closed

M = TypeVar("M", bound=Motion)

SUFFIXES = (".npz", ".csv", ".mot")
EVENTS = tuple(f"events_{field}" for field in Event._fields)
KINDS = {"names": npz.TEXT, "slides": npz.FLAGS, "events_name": npz.TEXT}
"""The kinds of the arrays of an .npz that are no numbers."""
EVENT_SIZE = 512
"""Bytes that an event takes as a Python object, or somewhat less."""


def save(trajectory: Any, path: str | Path) -> None:
    """Write a trajectory; see `Trajectory.save`."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise npz.refused(path, f"cannot tell the format from the suffix {suffix!r}; expected {choices(SUFFIXES)}")
    if suffix == ".npz":
        arrays = {**_arrays(trajectory), "names": np.asarray(trajectory.names), "slides": np.asarray(trajectory.slides)}
        for field, name in zip(Event._fields, EVENTS, strict=True):
            if trajectory.events:
                arrays[name] = np.array([getattr(event, field) for event in trajectory.events])
        write_bytes(path, [npz.packed(arrays)])
        return
    if trajectory.batch:
        limit = f"a {suffix} file holds one motion, not a batch of shape {trajectory.batch}"
        raise npz.refused(path, f"{limit}; save as .npz, or one member(...) of it")
    if trajectory.floating and suffix == ".mot":
        raise npz.refused(path, f"a {suffix} file holds the motion of joints, not of a floating base; save as .csv or .npz")
    t, q, qd, qdd = trajectory.t, trajectory.q, trajectory.qd, trajectory.qdd
    if not all(np.all(np.isfinite(values)) for values in (q, qd, qdd)):
        raise npz.refused(path, f"a {suffix} file holds finite numbers only; save as .npz, or until(...) the last of them")
    if suffix == ".mot":
        save_motion(path, t, q, qd, qdd)
    else:
        write_text(path, _table(trajectory))


def save_frame(trajectory: Motion, path: str | Path) -> None:
    """Write the motion of a frame; see `CartesianTrajectory.save`."""
    if Path(path).suffix.lower() != ".npz":
        raise npz.refused(path, f"cannot tell the format from the suffix {Path(path).suffix!r}; expected '.npz'")
    write_bytes(path, [npz.packed(_arrays(trajectory))])


def load(kind: type[M], path: str | Path, max_bytes: int | None = None) -> M:
    """Read an .npz as a motion of a class; see its `load`."""
    joints = "names" in kind.__annotations__
    fields = ("t", *kind.STATE, *kind.RECORDS, *(["names", "slides"] if joints else []))
    kinds = {name: KINDS.get(name, npz.NUMBERS) for name in (*fields, *(EVENTS if joints else ()))}
    arrays = npz.read(path, kinds, max_bytes)
    npz.require(path, arrays, ("t", *kind.STATE))
    closed(*arrays.values())  # a motion then keeps them instead of copies
    values: dict[str, Any] = {name: arrays[name] for name in fields if name in arrays}
    for name in [name for name in ("names", "slides") if name in values]:
        if values[name].ndim != 1 or values[name].shape > arrays["q"].shape[-1:]:
            raise npz.refused(path, f"{name} has the shape {values[name].shape}; q has the shape {arrays['q'].shape}")
        values[name] = tuple(values[name].tolist())
    if joints and all(name in arrays for name in EVENTS):
        values["events"] = _events(path, arrays, max_bytes)
    try:
        return kind(**values)
    except ArgumentError as error:
        raise npz.refused(path, str(error)) from error


def _arrays(trajectory: Motion) -> dict[str, Any]:
    """The arrays of a motion that there are, by name."""
    names = ("t", *trajectory.STATE, *trajectory.RECORDS)
    return {name: np.asarray(values) for name in names if (values := getattr(trajectory, name)) is not None}


def _events(path: str | Path, arrays: Mapping[str, Any], max_bytes: int | None) -> tuple[Event, ...]:
    names, times, q, qd, members = (arrays[name] for name in EVENTS)
    shapes = tuple(array.shape for array in (names, times, q, qd, members))
    count = times.size
    batch = max(arrays["q"].ndim - 2, 0)
    states = tuple((count, *arrays[name].shape[-1:]) for name in ("q", "qd"))
    if shapes != ((count,), (count,), *states, (count, batch)) or not np.isfinite(members).all():
        raise npz.refused(
            path, f"the arrays {', '.join(EVENTS)} have the shapes {', '.join(map(str, shapes))}: it is damaged"
        )
    most = (npz.LARGEST if max_bytes is None else int(max_bytes)) // EVENT_SIZE
    if count > most:
        raise npz.refused(path, f"there are {count:,} events in it, and at most {most:,} are read")
    rows = zip(names.tolist(), times.tolist(), q, qd, members.astype(np.int64).tolist(), strict=True)
    return tuple(Event(name, time, at, rate, tuple(member)) for name, time, at, rate, member in rows)


def _table(trajectory: Any) -> Iterator[str]:
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
