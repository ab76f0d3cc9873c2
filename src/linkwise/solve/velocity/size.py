"""How large a mechanism is, the length that makes metres and radians comparable; and what a frame of it can do at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

SAMPLES = 256
"""Random configurations that are looked at."""

RANK = 1e-9
"""Singular values below this share of the greatest count as zero where the rank is counted."""


def characteristic_length(mechanism: Mechanism, link: int | str = -1) -> float:
    """The length (m) by which a frame's speed is divided to be compared with angular speed.

    The root mean square of the distance from the frame to the axes that turn it, over random configurations, to two digits:
    measured with it, the singular values of a small arm are those of a large one of the same shape. 1 m where nothing turns
    the frame, or all axes go through it. (J. Angeles, *Fundamentals of Robotic Mechanical Systems*, calls "characteristic" a
    length that makes a Jacobian homogeneous; his is another one.)

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base.
    link : int or str
        Whose frame: -1 the tool, otherwise as in `Mechanism.jacobian`.

    Examples
    --------
    >>> from linkwise import robots
    >>> characteristic_length(robots.puma560()), characteristic_length(robots.planar_2r())
    (0.4, 1.2)
    """
    kept: dict[int | str, float] = mechanism.__dict__.setdefault("_lengths", {})
    if link not in kept:
        still = _distance(mechanism, link, 0.0)
        size = _distance(mechanism, link, still or 1.0)
        kept[link] = float(f"{size:.1e}") if size else 1.0
    return kept[link]


def _distance(mechanism: Mechanism, link: int | str, way: float) -> float:
    """The root mean square of the distance to the axes, 0 where there are none; slides move by so much, m."""
    jac = mechanism.jacobian(_anywhere(mechanism, way), link=link)
    turns, arms = np.linalg.norm(jac[:, 3:], axis=1), np.linalg.norm(jac[:, :3], axis=1)
    apart = arms[turns > 0.5 * turns.max(initial=0.0)]
    size = float(np.sqrt(np.mean(np.square(apart)))) if apart.size else 0.0
    return size if size > 1e-9 else 0.0


def usual_rank(
    mechanism: Mechanism, link: int | str, rows: tuple[int, ...], length: float, moving: tuple[bool, ...] | None = None
) -> int:
    """How many of the components the joints, or some of them, give independently, but for singular positions.

    Examples
    --------
    >>> from linkwise import robots
    >>> usual_rank(robots.panda(), -1, (0, 1, 2, 3, 4, 5), 0.4), usual_rank(robots.planar_3r(), -1, (0, 1, 2, 3, 4, 5), 1.0)
    (6, 3)
    """
    kept: dict[Any, int] = mechanism.__dict__.setdefault("_ranks", {})
    key = (link, rows, length, moving)
    if key not in kept:
        unit = np.array([1.0 / length if row < 3 else 1.0 for row in rows])
        share = np.where(mechanism.slides, length, 1.0) * (1.0 if moving is None else np.array(moving))
        jac = mechanism.jacobian(_anywhere(mechanism, length), link=link)[:, list(rows)]
        values = np.linalg.svd(jac * unit[:, None] * share, compute_uv=False)
        kept[key] = int((values > RANK * values.max(axis=-1, initial=0.0, keepdims=True)).sum(axis=-1).max())
    return kept[key]


def _anywhere(mechanism: Mechanism, way: float) -> FloatArray:
    """Random configurations (k, n) within the limits; a slide without any moves by a given way from zero, to both sides."""
    low, high = mechanism.limits.T
    bounded = np.isfinite(low) & np.isfinite(high)
    about = np.where(mechanism.slides, way, np.pi)
    start, end = np.where(bounded, low, -about), np.where(bounded, high, about)
    return np.random.default_rng(0).uniform(start, end, (SAMPLES, mechanism.n))
