"""What is odd but not wrong in a motion file: joints that jump, and lines with another count of numbers than the others."""

from __future__ import annotations

import math

import numpy as np

from linkwise.errors import FileProblem
from linkwise.files.motion import Motion
from linkwise.model.tree import Tree
from linkwise.solve.lengths import longest_offset
from linkwise.spatial.scalar import FloatArray

TIMES = 5.0
"""A step in q is a jump where it is so many times what the speeds and accelerations at both its ends explain."""

LEAST_TURN, LEAST_SHARE = 0.2, 0.05
"""A smaller step is none: rad, and of a joint that slides the share of the longest offset between joints."""


class MotionRemarks:
    """Gathers what is odd about a motion as its instants come.

    Whole turns do not count as jumps, nor does anything where no joint ever has a speed: such a file lists postures.

    Parameters
    ----------
    tree : Tree
        What moves; a floating base is left alone.
    motion : Motion
        The file.
    """

    def __init__(self, tree: Tree, motion: Motion) -> None:
        self.tree = tree
        self.motion = motion
        self._slides = np.array(tree.slides, dtype=bool)
        far = LEAST_SHARE * longest_offset(tree) if self._slides.any() else math.inf
        self._least = np.where(self._slides, far, LEAST_TURN)
        self._last: tuple[FloatArray, ...] = ()
        self._moving = False
        self._jumps = 0
        self._first = ""

    def add(self, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> None:
        """Take in the next instants: t (k,), q (k, nq), qd and qdd (k, nv)."""
        n = self.tree.n
        given = (t, q[:, q.shape[1] - n :], qd[:, qd.shape[1] - n :], qdd[:, qdd.shape[1] - n :])
        self._moving = self._moving or bool(given[2].any())
        if self._last:
            given = tuple(np.concatenate(pair) for pair in zip(self._last, given, strict=True))  # type: ignore[assignment]
        self._last = tuple(values[-1:] for values in given)
        self._look(*given)

    def _look(self, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> None:
        dt, size = np.diff(t)[:, None], np.abs(qd)
        rise = np.abs(qdd)
        explained = dt * np.maximum(size[1:], size[:-1]) + dt**2 / 2 * np.maximum(rise[1:], rise[:-1])
        step = np.diff(q, axis=0)
        turns = np.round((step - dt * (qd[1:] + qd[:-1]) / 2) / (2 * math.pi))
        step = np.where(self._slides, step, step - 2 * math.pi * turns)
        rows, joints = np.nonzero((np.abs(step) > TIMES * explained) & (np.abs(step) > self._least))
        self._jumps += len(rows)
        if len(rows) and not self._first:
            row, joint = rows[0], joints[0]
            unit = "m" if self._slides[joint] else "rad"
            times = " to ".join(f"{value:.6g}" for value in t[row : row + 2].tolist())
            self._first = (
                f"joint {self.tree.names[joint]!r} jumps by {float(step[row, joint]):.4g} {unit} from t = {times} s,"
                f" where its speeds explain {float(explained[row, joint]):.3g}"
            )

    def told(self) -> list[FileProblem]:
        """Everything odd, once all instants were there."""
        found = []
        uneven = self.motion.uneven()
        if uneven is not None:
            found.append(FileProblem(0, f"{uneven[1]}; is a number missing or too many?"))
        if self._first and self._moving:
            left = self._jumps - 1
            more = f" (and {left:,} more jump{'s' * (left > 1)})" if left else ""
            found.append(FileProblem(0, self._first + more))
        return found
