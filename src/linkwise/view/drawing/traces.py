"""The path of the tool through a motion: where it goes, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.trajectory.trajectory import Trajectory

LINE = "#111111"
"""Colour of a path."""

FINEST = 2000
"""Places of a path that are drawn at most."""


def places(mechanism: Tree, motion: Trajectory | npt.ArrayLike) -> FloatArray:
    """Where the tool is (m, 3) through a Trajectory or postures (T, nq), m, world frame."""
    return positions(mechanism, configurations(mechanism, motion))


def configurations(mechanism: Tree, motion: Trajectory | npt.ArrayLike) -> FloatArray:
    """The postures (m, nq) of a motion, thinned where they are many.

    Raises
    ------
    ArgumentError
        Where they do not fit the mechanism.
    """
    given = np.asarray(getattr(motion, "q", motion), dtype=float)
    if given.ndim != 2 or given.shape[1] != mechanism.nq or not len(given) or not np.all(np.isfinite(given)):
        raise ArgumentError(
            f"the motion has coordinates of the shape {given.shape}; expected finite numbers (T, {mechanism.nq}), "
            f"for {', '.join(mechanism.coordinate_names[:8])}{', ...' if mechanism.nq > 8 else ''}"
        )
    chosen = np.linspace(0, len(given) - 1, min(len(given), FINEST)).round().astype(int)
    return np.asarray(given[chosen])


def positions(mechanism: Any, q: FloatArray) -> FloatArray:
    """Where the tool is (m, 3) at postures (m, nq)."""
    return np.asarray(mechanism.forward_kinematics(q)[:, :3, 3])


def draw_trace(axes: Any, path: FloatArray, **look: Any) -> list[Any]:
    """Draw a path (m, 3) into axes in space, with a ring where it begins; nothing where there is none."""
    if not len(path):
        return []
    (line,) = axes.plot(*path.T, zorder=3.6, **({"color": LINE, "linewidth": 1.4} | look))
    ring = {"marker": "o", "markersize": 6, "markerfacecolor": "white", "markeredgecolor": LINE}
    (mark,) = axes.plot(*path[:1].T, zorder=3.7, **ring)
    return [line, mark]
