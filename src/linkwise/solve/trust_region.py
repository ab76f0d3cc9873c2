"""Trust-region minimisation along the motions that are allowed.

Newton's method with a trust region along the motions that are allowed (J. Nocedal, S. J. Wright, *Numerical Optimization*,
2006, section 4.1). The curvature is that of the allowed positions themselves, so that it holds where
what is aimed at is out of reach, and where a linkage turns back; a direction that curves downwards is gone down (Y. N.
Dauphin and others, "Identifying and attacking the saddle point problem in high-dimensional non-convex optimization", 2014,
for taking the absolute values). Small curvatures are raised to the slope (D.-H. Li, M. Fukushima, L. Qi, N. Yamashita,
"Regularized Newton methods for convex minimization problems with singular solutions", 2004): where there are more
joints than the target needs, the curvature along what leaves the frame where it is comes from the distance alone, and would
drive the joints far for nothing. Every step lowers the value, so the way never jumps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray


class Aim(ABC):
    """An objective."""

    @abstractmethod
    def values(self, q: FloatArray) -> FloatArray:
        """Values (k,) of positions (k, nq), without unit, 0 at the goal."""

    def value(self, q: FloatArray) -> float:
        """The same of one position (nq,)."""
        return float(self.values(q))

    @abstractmethod
    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative along the velocities (nv,), at a position (nq,)."""


class Motions(Protocol):
    """The motions that are allowed at a position, to first order."""

    @property
    def basis(self) -> FloatArray:
        """Orthonormal (nv, m), in units in which lengths and angles compare."""


class FeasibleRegion(Protocol):
    """Feasible positions, and motions among them."""

    @property
    def units(self) -> FloatArray:
        """Units of motions (nv,)."""

    def tangent(self, q: FloatArray) -> Any:
        """The `Motions` at an allowed position q (nq,)."""

    def room(self, q: FloatArray, tangent: Any) -> tuple[FloatArray, FloatArray]:
        """Rows (k, m) and bounds (k,) of the steps along the basis that are allowed: rows @ step <= bounds."""

    def with_active(self, q: FloatArray, tangent: Any, resting: npt.NDArray[np.intp]) -> Any:
        """Motions on which bounds of `room`, given by their rows, stay active."""

    def moved(self, q: FloatArray, tangent: Any, step: FloatArray) -> FloatArray | None:
        """Feasible position (nq,) after a step (m,) along the basis; None if there is none."""

    def curvature(self, aim: Aim, q: FloatArray, value: float, tangent: Any) -> FloatArray:
        """The second derivative (m, m) of the value along the basis."""


#: Greatest step, rad or comparable lengths.
LONGEST = 0.3

#: Steps below this are not taken.
SHORTEST = 1e-10

#: A step below this is the last: its remaining error is its square, or a small part of it with curved limits.
LAST = 1e-7

#: Length of a step down from a ridge, where no slope gives its sign.
PUSH = 0.02

#: A joint this near to its limit is at it.
AT_LIMIT = 1e-12

#: Curvatures below this share of the greatest are rounding.
FLAT = 1e-9

#: Curvatures count as at least this times the slope: convergence then follows the slope, and stays quadratic.
STIFF = 1.0

#: It is at a ridge where an ordinary step gains less than this share of the value.
IDLE = 0.1


def descend(
    allowed: FeasibleRegion, aim: Aim, q: FloatArray, *, rounds: int, done: float, longest: float = LONGEST
) -> tuple[FloatArray, int]:
    """Descend from a feasible position q (nq,); return the end position, and the number of steps.

    Parameters
    ----------
    allowed : FeasibleRegion
        Where it may go.
    aim : Aim
        What to come near to.
    q : ndarray (nq,)
        Start configuration.
    rounds : int
        Steps at most.
    done : float
        The value at which nothing is left to do.
    longest : float
        Of the steps.
    """
    value, radius, taken = aim.value(q), longest, 0
    while taken < rounds and value > done and radius > SHORTEST:
        taken += 1
        slope = aim.slope(q) * allowed.units
        tangent = free_motions(allowed, q, slope)
        if not tangent.basis.shape[1]:
            break
        down = tangent.basis.T @ slope
        curve, ways = np.linalg.eigh(allowed.curvature(aim, q, value, tangent))
        step = _step(ways, curve, ways.T @ down, value, radius, *allowed.room(q, tangent))
        length = float(np.linalg.norm(step))
        if length <= SHORTEST:
            break
        expected = -float(down @ step + 0.5 * (curve @ (ways.T @ step) ** 2))
        trial = allowed.moved(q, tangent, step)
        reached = np.inf if trial is None else aim.value(trial)
        if trial is None or not reached < value:
            radius = 0.25 * length
            continue
        gained = value - reached
        radius = min(2.0 * radius, longest) if gained > 0.5 * expected else max(0.5 * length, 10.0 * SHORTEST)
        q, value = trial, reached
        if length <= LAST:
            break
    return q, taken


def free_motions(allowed: FeasibleRegion, q: FloatArray, slope: FloatArray) -> Any:
    """Motions at q with those joints locked that are at a limit and are pressed against it by the descent."""
    tangent = allowed.tangent(q)
    rows, room = allowed.room(q, tangent)
    at = np.flatnonzero(room <= AT_LIMIT)
    if not at.size:
        return tangent
    pressed = pushed_back(rows[at], -(rows[at] @ (tangent.basis.T @ slope)))
    return allowed.with_active(q, tangent, at[pressed > 0.0]) if (pressed > 0.0).any() else tangent


def _step(
    ways: FloatArray,
    curve: FloatArray,
    down: FloatArray,
    value: float,
    radius: float,
    rows: FloatArray,
    room: FloatArray,
) -> FloatArray:
    """Step (m,) that minimizes a model with absolute curvatures, subject to rows @ step <= room and the radius.

    Slope and curvature are those along `ways`.
    """
    most = float(np.abs(curve).max())
    bent = np.maximum(np.abs(curve), max(FLAT * most + 1e-30, STIFF * float(np.linalg.norm(down))))
    ridge = (curve < -1e-6 * most) & (np.abs(down) < PUSH * np.abs(curve))
    if ridge.any() and 0.5 * float(down @ (down / bent)) < IDLE * value:
        signs = np.where(np.abs(down) > 1e-12 * most, -np.sign(down), _side(ways))
        down = np.where(ridge, -PUSH * signs * bent, down)
    step = _within(ways, bent, down, rows, room)
    if float(np.linalg.norm(step)) > radius:
        step = _within(ways, bent + _more(bent, down, radius), down, rows, room)
    length = float(np.linalg.norm(step))
    return step if length <= radius else np.asarray(step * (radius / length))


def _within(ways: FloatArray, bent: FloatArray, down: FloatArray, rows: FloatArray, room: FloatArray) -> FloatArray:
    """Minimizer (m,) of a model with these slopes and curvatures along `ways`, subject to rows @ step <= room."""
    free = -(ways @ (down / bent))
    over = rows @ free - room
    if not (over > 0.0).any():
        return np.asarray(free)
    along = rows @ ways
    return np.asarray(free - ways @ ((pushed_back(along / np.sqrt(bent), over) @ along) / bent))


def pushed_back(rows: FloatArray, over: FloatArray) -> FloatArray:
    """Multipliers (k,) of the limits: the smallest nonnegative ones that keep all of them.

    Multipliers y >= 0 of the least |x|^2 with rows @ x >= over: y minimises |rows.T @ y|^2 / 2 - over @ y (C. L. Lawson,
    R. J. Hanson, *Solving Least Squares Problems*, 1974, chapter 23, whose active sets these are).
    """
    multipliers = np.zeros(len(over))
    chosen = np.zeros(len(over), dtype=bool)
    square = rows @ rows.T
    small = 1e-13 * (1.0 + max(0.0, float(over.max(initial=0.0))))  # (the least may be minus infinity)
    for _ in range(3 * len(over)):
        lacking = np.where(chosen, -np.inf, over - square @ multipliers)
        if not lacking.max() > small:
            break
        chosen[int(np.argmax(lacking))] = True
        while chosen.any():
            wanted = np.zeros(len(over))
            wanted[chosen] = np.linalg.lstsq(square[np.ix_(chosen, chosen)], over[chosen], rcond=1e-12)[0]
            if (wanted[chosen] > 0.0).all():
                break
            falls = chosen & (wanted <= 0.0)
            share = float((multipliers[falls] / (multipliers[falls] - wanted[falls] + 1e-300)).min())
            multipliers += share * (wanted - multipliers)
            chosen &= multipliers > 1e-15
            multipliers[~chosen] = 0.0
        multipliers = wanted if chosen.any() else multipliers
    return multipliers


def _side(ways: FloatArray) -> FloatArray:
    """Sign of the greatest component of each direction, to choose one where both are equivalent."""
    rows = np.argmax(np.abs(ways) > 0.9 * np.abs(ways).max(axis=0), axis=0)
    return np.asarray(np.sign(ways[rows, range(ways.shape[1])]))


def _more(bent: FloatArray, down: FloatArray, radius: float) -> float:
    """Shift r >= 0 of all curvatures such that down / (bent + r) is within the radius.

    By Newton's method on the inverse of the length.
    """
    more = 0.0
    for _ in range(20):
        along = down / (bent + more)
        square = float(along @ along)
        length = square**0.5
        if length <= 1.01 * radius:
            break
        more += (length - radius) / radius * square / float(along @ (along / (bent + more)))
    return more
