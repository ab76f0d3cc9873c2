"""Joint motions, read in blocks so that a file of any length needs little memory, and remarks on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem
from linkwise.files import csv_motion, spacelib_mot
from linkwise.files.atomic import write_text
from linkwise.files.text import BOM, Source, open_file, refused, uneven_motion
from linkwise.model.quantities import units
from linkwise.model.tree import ManifoldJoint, Tree, floating_base
from linkwise.solve.lengths import longest_offset
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import readable

#: Instants in a row: t (k,), q (k, nq), qd (k, nv), qdd (k, nv).
Block = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

#: True for a floating base, or all joints with quaternions.
Floating = bool | Sequence[ManifoldJoint]


_JOINTS_ONLY = "a .MOT file holds the motion of joints only, and the base floats; the motion must be a .csv"


class _Reader(Protocol):
    dt: float | None

    def blocks(self) -> Iterator[Any]: ...


class MotionFile:
    """A joint motion in a file, read anew each time it is iterated over.

    Iterating gives ``(t, q, qd, qdd)`` for some thousand instants at a time: t (k,) in s, q (k, nq) in rad or m, qd and qdd
    (k, nv) their rates; nq and nv are n, and 7 and 6 more where the base floats (see `Mechanism` for their order).

    Attributes
    ----------
    path : Path
        The file.
    n : int
        Number of joint coordinates.
    joints : tuple of ManifoldJoint
        The joints with quaternions, a floating base among them.
    dt : float or None
        Time step, s, of a .MOT file; a .csv file says every time instead.
    size : int
        Length of the file, bytes.
    consumed : int
        How much of it has been read so far, bytes: the share of the work done is ``consumed / size``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.csv"
    >>> save_motion(path, [0.0, 0.5], [[0.0], [0.1]], [[0.2], [0.2]], [[0.0], [0.0]])
    >>> motion = MotionFile(path, 1)
    >>> [(t.tolist(), q.tolist()) for t, q, qd, qdd in motion]
    [([0.0, 0.5], [[0.0], [0.1]])]
    """

    def __init__(self, path: str | Path, n: int, names: Sequence[str] = (), *, floating: Floating = False) -> None:
        least = 0 if floating else 1
        if n < least:
            raise ArgumentError(f"n is {n!r}; expected the number of joint coordinates, {least} or more")
        if names and len(names) != n:
            raise ArgumentError(f"there are {len(names)} names for {n} joint coordinates")
        self.path = Path(path)
        self.n = n
        self.names = tuple(names)
        self.joints = manifold_of(floating)
        self.size = 0
        self.consumed = 0
        with open_file(self.path) as file:
            self.size = file.seek(0, 2)
            self.dt = self._reader(file).dt

    def __iter__(self) -> Iterator[Block]:
        with open_file(self.path) as file:
            self.consumed = 0
            reader = self._reader(file)
            for block in reader.blocks():
                self.consumed = file.tell()
                yield block
            self.consumed = self.size

    def read(self) -> Block:
        """Read the whole motion at once: t (k,), q (k, nq), qd and qdd (k, nv)."""
        t, q, qd, qdd = zip(*self, strict=True)
        return np.concatenate(t), np.concatenate(q), np.concatenate(qd), np.concatenate(qdd)

    def uneven(self) -> tuple[int, str] | None:
        """Return the first line of a .MOT with a number count unlike the others, with a message; None if there is none."""
        if self.dt is None:
            return None
        with open_file(self.path) as file:
            return uneven_motion(Source(self.path, file))

    def _reader(self, file: BinaryIO) -> _Reader:
        """The reader that the first character asks for: a number begins a .MOT, anything else a .csv header."""
        file.seek(0)
        start = file.read(4096).removeprefix(BOM).lstrip()
        file.seek(0)
        if start[:1] in b"+-.0123456789" or start[:3].lower() == b"nan" or self.path.suffix.lower() == ".mot":
            if self.joints:
                raise refused(self.path, _JOINTS_ONLY)
            return spacelib_mot.MotReader(Source(self.path, file), self.n)
        return csv_motion.CsvReader(Source(self.path, file), self.n, self.names, self.joints)


def open_motion(path: str | Path, n: int, names: Sequence[str] = (), *, floating: Floating = False) -> MotionFile:
    """Open a joint motion: SpaceLib .MOT, or .csv with a header; recognised by content.

    Parameters
    ----------
    path : str or Path
        The file.
    n : int
        Number of joint coordinates.
    names : sequence of str
        Names of the moving links (n,); a .csv may call its columns by them.
    floating : bool or sequence of ManifoldJoint
        Whether the base floats: a .csv then has columns of the base too. Or `Mechanism.manifold_joints`, the base included.

    Returns
    -------
    MotionFile
        Iterate over it for blocks of instants, or `MotionFile.read` it whole.

    Raises
    ------
    FileError
        Where the file cannot be opened or its head is wrong; while iterating, where a number is wrong or missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.mot"
    >>> save_motion(path, 0.5, [[0.0], [0.1]], [[0.2], [0.2]], [[0.0], [0.0]])
    >>> t, q, qd, qdd = open_motion(path, 1).read()
    >>> t.tolist(), q.tolist()
    ([0.0, 0.5], [[0.0], [0.1]])
    """
    return MotionFile(path, n, names, floating=floating)


def positions(
    path: str | Path, n: int, names: Sequence[str] = (), *, floating: Floating = False
) -> tuple[FloatArray, FloatArray] | None:
    r"""Read times (k,) and positions (k, nq) of a .csv without velocities and accelerations; None for any other file.

    Raises
    ------
    FileError
        Where a number is wrong or missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = path.write_text("t,q1,q2\n0,0.1,0.2\n0.5,0.2,0.4\n")
    >>> t, q = positions(path, 2)
    >>> t.tolist(), q.tolist()
    ([0.0, 0.5], [[0.1, 0.2], [0.2, 0.4]])
    """
    with open_file(path) as file:
        try:
            reader = csv_motion.CsvReader(Source(Path(path), file), n, names, manifold_of(floating), wanted=("q",))
        except FileError:
            return None
        t, q = zip(*reader.blocks(), strict=True)
    return np.concatenate(t), np.concatenate(q)


def check_motion(path: str | Path, n: int, names: Sequence[str] = (), *, floating: Floating = False) -> list[FileProblem]:
    """The first thing that is wrong with a motion file, with its line; empty when it can be read to its end.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.csv"
    >>> save_motion(path, [0.0, 0.5], [[0.0], [0.1]], [[0.2], [0.2]], [[0.0], [0.0]])
    >>> check_motion(path, 1), len(check_motion(path, 2))
    ([], 1)
    """
    try:
        for _ in open_motion(path, n, names, floating=floating):
            pass
    except FileError as error:
        return list(error.problems)
    return []


def save_motion(
    path: str | Path, t: Any, q: Any, qd: Any, qdd: Any, *, names: Sequence[str] = (), floating: Floating = False
) -> None:
    """Write a joint motion in the format of the suffix: ``.mot`` for SpaceLib, or ``.csv``.

    Parameters
    ----------
    path : str or Path
        The file.
    t : float or (k,) array_like
        The time step, or the time of every instant, s. A .MOT only knows times that are multiples of a step.
    q, qd, qdd : (k, nq), (k, nv), (k, nv) array_like
        Joint coordinates (rad or m), their rates and accelerations, (k, n) each; those of a floating base before them.
    names : sequence of str
        What a .csv calls the columns of the joints; ``q1``, ``q2``, ... where none are given.
    floating : bool or sequence of ManifoldJoint
        Whether the motion is that of a floating base too: q has 7 columns more than joints, qd and qdd 6; or
        `Mechanism.manifold_joints`. Not in a .MOT.

    Raises
    ------
    FileError
        Where the suffix is another, a .MOT cannot hold the times, or the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.csv"
    >>> save_motion(path, [0.0, 0.5], [[0.0], [0.1]], [[0.2], [0.2]], [[0.0], [0.0]])
    >>> path.read_text().splitlines()[0]
    't,q1,qd1,qdd1'
    """
    columns = [np.asarray(readable(name, values), dtype=np.float64) for name, values in (("q", q), ("qd", qd), ("qdd", qdd))]
    at, rate, acceleration = columns
    shape = at.shape
    joints = manifold_of(floating)
    _check_shapes([values.shape for values in columns], names, joints)
    times = np.asarray(readable("t", t), dtype=np.float64)
    suffix = Path(path).suffix.lower()
    if not all(np.all(np.isfinite(values)) for values in (times, *columns)):
        raise ArgumentError("a motion holds finite numbers only")
    if suffix == ".mot":
        if joints:
            raise refused(path, _JOINTS_ONLY)
        write_text(path, spacelib_mot.render(_step(path, times, shape[0]), at, rate, acceleration))
    elif suffix == ".csv":
        write_text(path, csv_motion.render(_times(times, shape[0]), at, rate, acceleration, names, joints))
    else:
        raise refused(path, f"cannot tell the format from the suffix {suffix!r}; expected '.mot' or '.csv'")


def manifold_of(floating: Floating) -> tuple[ManifoldJoint, ...]:
    """The joints with quaternions of a motion."""
    if isinstance(floating, bool):
        return (floating_base(),) if floating else ()
    return tuple(floating)


def _check_shapes(shapes: Sequence[tuple[int, ...]], names: Sequence[str], joints: Sequence[ManifoldJoint]) -> None:
    """Check that all arrays have the same number of instants, nv columns, and a name for each joint."""
    at, rate, acceleration = shapes
    more, less = sum(at.joint.nq for at in joints), sum(at.joint.nv for at in joints)
    n = at[1] - more if len(at) == 2 else -1
    speeds = (at[0], n + less)
    if not all(at) or n < (0 if joints else 1) or rate != speeds or acceleration != speeds:
        wanted = f"(k, n + {more}), (k, n + {less}) and (k, n + {less})" if joints else "(k, n) for all three"
        raise ArgumentError(f"q, qd and qdd have the shapes {', '.join(map(str, shapes))}; expected {wanted}")
    if names and len(names) != n:
        raise ArgumentError(f"there are {len(names)} names for {n} joint coordinates")


def _times(times: FloatArray, k: int) -> FloatArray:
    if times.ndim == 0:
        return np.asarray(np.arange(k) * times)
    if times.shape != (k,):
        raise ArgumentError(f"t has the shape {times.shape}; expected one number, or one for each of the {k} instants")
    return times


def _step(path: str | Path, times: FloatArray, k: int) -> float:
    """Return the time step; raise an error unless the times are its multiples."""
    if times.ndim and _times(times, k).size == 1:
        raise refused(path, "one instant defines no time step; give the step as t")
    step = float(times[1]) if times.ndim else float(times)
    if not step > 0:
        raise refused(path, f"the time step is {step!r}; expected a number > 0")
    if times.ndim and not np.allclose(times, np.arange(k) * step, rtol=1e-12, atol=0.0):
        raise refused(path, "a .MOT file holds times 0, dt, 2 dt, ...; save as .csv, which holds any times")
    return step


#: A step in q is a jump if it exceeds the step by the velocities and accelerations at its ends by this factor.
TIMES = 5.0

#: A smaller step is none: rad, and of a joint that slides the share of the longest offset between joints.
LEAST_TURN, LEAST_SHARE = 0.2, 0.05


class MotionRemarks:
    """Collects remarks on a motion, a block at a time.

    Whole turns do not count as jumps, nor does anything where no joint ever has a speed: such a file lists postures.

    Parameters
    ----------
    tree : Tree
        What moves; a floating base is left alone.
    motion : MotionFile
        The file.
    """

    def __init__(self, tree: Tree, motion: MotionFile) -> None:
        self.tree = tree
        self.motion = motion
        self._units = units(tree, "q")[tree.nq - tree.n :]
        self._lengths = np.array([unit == "m" for unit in self._units], dtype=bool)
        far = LEAST_SHARE * longest_offset(tree) if self._lengths.any() else math.inf
        self._least = np.where(self._lengths, far, LEAST_TURN)
        self._last: list[FloatArray] = []
        self._moving = False
        self._jumps = 0
        self._first = ""

    def add(self, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> None:
        """Take in the next instants: t (k,), q (k, nq), qd and qdd (k, nv)."""
        n = self.tree.n
        block = [t, *(values[:, values.shape[1] - n :] for values in (q, qd, qdd))]
        self._moving = self._moving or bool(block[2].any())
        if self._last:
            block = [np.concatenate(pair) for pair in zip(self._last, block, strict=True)]
        self._last = [values[-1:] for values in block]
        self._look(*block)

    def _look(self, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> None:
        dt, size = np.diff(t)[:, None], np.abs(qd)
        rise = np.abs(qdd)
        explained = dt * np.maximum(size[1:], size[:-1]) + dt**2 / 2 * np.maximum(rise[1:], rise[:-1])
        step = np.diff(q, axis=0)
        turns = np.round((step - dt * (qd[1:] + qd[:-1]) / 2) / (2 * math.pi))
        step = np.where(self._lengths, step, step - 2 * math.pi * turns)
        rows, joints = np.nonzero((np.abs(step) > TIMES * explained) & (np.abs(step) > self._least))
        self._jumps += len(rows)
        if len(rows) and not self._first:
            row, joint = rows[0], joints[0]
            times = " to ".join(f"{value:.6g}" for value in t[row : row + 2].tolist())
            self._first = (
                f"joint {self.tree.names[joint]!r} jumps by {float(step[row, joint]):.4g} {self._units[joint]}"
                f" from t = {times} s, where its speeds explain {float(explained[row, joint]):.3g}"
            )

    def report(self) -> list[FileProblem]:
        """Return all remarks, after all blocks."""
        remarks = []
        uneven = self.motion.uneven()
        if uneven is not None:
            remarks.append(FileProblem(0, f"{uneven[1]}; is a number missing or too many?"))
        if self._first and self._moving:
            left = self._jumps - 1
            more = f" (and {left:,} more jump{'s' * (left > 1)})" if left else ""
            remarks.append(FileProblem(0, self._first + more))
        return remarks
