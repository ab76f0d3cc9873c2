"""Where a solver starts when nobody says."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

ASIDE = 0.3
"""rad, or m: how far beside the middle of its range a joint starts, at most a quarter of the range."""


def start_position(mechanism: Tree, idle: npt.ArrayLike = False) -> FloatArray:
    """Return joint coordinates (n,) to start from: a little beside the middle of the range of each joint.

    The middle itself is a singular position of many arms, so joints stand 0.3 rad or m (at most a quarter of the range)
    aside, to alternate sides. Where a joint has no limits zero stands for the middle, and its one limit where it has one.
    Joints that are idle (n,), because nothing that is asked for depends on them, stay at zero, or the limit next to it.

    Examples
    --------
    >>> from linkwise import robots
    >>> start_position(robots.planar_2r()).tolist()
    [0.3, -0.3]
    """
    low, high = mechanism.q_min, mechanism.q_max
    bounded = np.isfinite(low) & np.isfinite(high)
    half = np.where(bounded, 0.5 * np.where(bounded, high, 0.0) - 0.5 * np.where(bounded, low, 0.0), np.inf)
    middle = np.where(bounded, np.where(bounded, low, 0.0) + np.where(bounded, half, 0.0), 0.0)
    aside = np.minimum(ASIDE, 0.5 * half) * np.where(np.arange(mechanism.n) % 2, -1.0, 1.0)
    return np.asarray(np.clip(np.where(idle, 0.0, middle + aside), low, high))


def beside(mechanism: Tree, link: int | str) -> npt.NDArray[np.bool_]:
    """Which joint coordinates (n,) do not move a frame, for their joints are not on the way to it.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> hand = Mechanism([Link(name="arm", joint="revolute"), Link(name="finger", joint="prismatic", parent="arm")])
    >>> beside(hand, "arm").tolist(), beside(hand, "finger").tolist()
    ([False, True], [False, False])
    """
    on_the_way = {mechanism.coordinates[k] for k in mechanism.path(link)}
    return np.array([i not in on_the_way for i in range(mechanism.n)], dtype=bool)


def near_zero(mechanism: Tree) -> FloatArray:
    """The position (nq,) with all joints at zero, or at the limit next to it; a floating base in its neutral pose."""
    q = mechanism.neutral.copy()
    base = mechanism.nq - mechanism.n
    q[base:] = np.clip(q[base:], mechanism.q_min, mechanism.q_max)
    return q


def random_coordinates(mechanism: Tree, limits: FloatArray, slide: float, count: int, seed: int) -> FloatArray:
    """Joint coordinates (count, n) within limits (n, 2), the same for the same seed.

    Where there is no limit half a turn to both sides of zero, or of a slide so many m; beside a single limit twice that.
    """
    reach = np.where(mechanism.slides, slide, np.pi)
    low, high = limits.T
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0 * reach, -reach))
    high = np.where(np.isfinite(high), high, low + 2.0 * reach)
    return np.random.default_rng(seed).uniform(low, high, (count, mechanism.n))
