"""The inertia of a link with ``<inertial auto="true">``: the sum of the solids of its collisions, as in libsdformat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.solids import SOLIDS, summed

#: Default density of a collision, kg/m3.
DENSITY = 1000.0


def half_sizes(kind: str, size: tuple[float, ...]) -> tuple[float, ...]:
    """The size of a shape of SDF by its half sizes, as solids have them."""
    if kind == "box":
        return tuple(0.5 * value for value in size)
    return (size[0], 0.5 * size[1]) if kind in {"cylinder", "capsule"} else size


def summed_solids(
    parts: Iterable[tuple[str, tuple[float, ...], FloatArray, float]], mass: float | None = None
) -> dict[str, Any]:
    """Mass, com and inertia for a `Link`.

    Parameters
    ----------
    parts : iterable of (str, tuple of float, ndarray (4, 4), float)
        The kind of each solid, its size as SDF says it, m, T_link_solid, and its density, kg/m3.
    mass : float, optional
        To which the sum is scaled, kg.

    Examples
    --------
    >>> body = summed_solids([("box", (1.0, 1.0, 1.0), np.eye(4), 6.0)])
    >>> body["mass"], body["inertia"][0]
    (6.0, [1.0, 0.0, 0.0])
    """
    bodies = []
    for kind, size, frame, density in parts:
        solid, turn = SOLIDS[kind][1](half_sizes(kind, size)), frame[:3, :3]
        bodies.append((frame[:3, 3], density * solid.mass, density * turn @ np.diag(solid.moments) @ turn.T))
    total, com, tensor = summed(bodies)
    scale = 1.0 if mass is None else mass / total
    return {"mass": scale * total, "com": com, "inertia": (scale * tensor).tolist()}
