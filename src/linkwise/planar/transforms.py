"""The transforms T_i of planar links, their products along paths, and placed points, over scalars of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from linkwise.kernel import Kernel, trace
from linkwise.planar.link import Link
from linkwise.planar.tree import PlanarTree
from linkwise.spatial.scalar import Array, blank, cos_sin

Step = tuple[Any, Any, Any]
"""x, y and the angle by which a frame stands in another."""


def step(link: Link, values: Sequence[Any] | Array) -> Step:
    """Where a link's body frame is in that of its parent, x, y and the angle, at the values (k,) of its own coordinates.

    The turn by theta_i and the shift by a_{i-1} along x (S. M. LaValle, *Planning Algorithms*, 2006, section 3.3), in a
    frame that stands at `Link.at` in the parent's.
    """
    if link.joint == "free":
        return values[0], values[1], values[2]
    x, y, phi = link.at
    a = _plus(link.a, values[0]) if link.joint == "prismatic" else link.a
    theta = _plus(link.theta, values[0]) if link.joint == "revolute" else link.theta
    c, s = cos_sin(phi)
    return _plus(x, _times(a, c)), _plus(y, _times(a, s)), _plus(phi, theta)


def matrix(place: Step) -> Array:
    """The homogeneous transform (3, 3): [[c, -s, x], [s, c, y], [0, 0, 1]]."""
    x, y, angle = place
    c, s = cos_sin(angle)
    T = blank(3, 3)
    T[:2] = [[c, -s, x], [s, c, y]]
    T[2, 2] = 1.0
    return T


def transforms(mechanism: PlanarTree, q: Array) -> Array:
    """T_i (L, 3, 3) of every link: from its body frame to its parent's."""
    return np.array([matrix(place) for place in _steps(mechanism, q)], dtype=object)


def poses(mechanism: PlanarTree, q: Array) -> Array:
    """T_world_link (L, 3, 3) of every link: the product of the T_i along its path, in which the angles add up."""
    return np.array([matrix(place) for place in world_steps(mechanism, q)], dtype=object)


def world_steps(mechanism: PlanarTree, q: Array) -> list[Step]:
    """Where every body frame is in the world: x, y and the angle."""
    steps = _steps(mechanism, q)
    places: list[Step] = list(steps)
    for k in mechanism.order:
        if mechanism.parents[k] >= 0:
            px, py, turned = places[mechanism.parents[k]]
            x, y, angle = steps[k]
            c, s = cos_sin(turned)
            across, along = _plus(_times(x, s), _times(y, c)), _plus(_times(x, c), -_times(y, s))
            places[k] = (_plus(px, along), _plus(py, across), _plus(turned, angle))
    return places


def gaps(mechanism: PlanarTree, q: Array) -> Array:
    """How far the loops are open (loops, 3), m, m and the sine of an angle.

    The second point as seen from the first, world axes, and how far the second body is turned from where a rigid connection
    has it, 0 for a pin.
    """
    placed = {link.name: place for link, place in zip(mechanism.links, world_steps(mechanism, q), strict=True)}
    openings = blank(len(mechanism.loops), 3)
    for k, loop in enumerate(mechanism.loops):
        first, second = (placed.get(name, (0.0, 0.0, 0.0)) for name in (loop.first, loop.second))
        (x1, y1), (x2, y2) = apply(matrix(first), loop.first_point), apply(matrix(second), loop.second_point)
        turned = _plus(_plus(second[2], -first[2]), -loop.angle)
        openings[k] = [x2 - x1, y2 - y1, cos_sin(turned)[1] if loop.joint == "fixed" else 0.0]
    return openings


def place(mechanism: PlanarTree, q: Array) -> Array:
    """Every point (V, 2) of every polygon in the world, in the order of the links."""
    return placed(mechanism, poses(mechanism, q))


def placed(mechanism: PlanarTree, frames: Array) -> Array:
    """The same for poses (L, 3, 3) that are known."""
    pairs = zip(mechanism.links, frames, strict=True)
    points = [apply(pose, point) for link, pose in pairs for shape in link.polygons for point in shape.tolist()]
    return np.array(points, dtype=object).reshape(-1, 2)


def apply(pose: Array, point: Any) -> Array:
    """A point (2,) of a body in the frame that its pose (3, 3) leads to."""
    x, y = point
    return np.array([pose[0, 0] * x + pose[0, 1] * y + pose[0, 2], pose[1, 0] * x + pose[1, 1] * y + pose[1, 2]])


@lru_cache(maxsize=1)
def placing() -> Kernel:
    """The compiled `apply`, which broadcasts poses over the points of a polygon."""
    return Kernel(trace(apply, "place", {"pose": (3, 3), "point": (2,)}, {"placed": (2,)}))


def _steps(mechanism: PlanarTree, q: Array) -> list[Step]:
    first = 0
    steps = []
    for link in mechanism.links:
        count = len(link.coordinate_names)
        steps.append(step(link, q[first : first + count]))
        first += count
    return steps


def _plus(a: Any, b: Any) -> Any:
    """The sum, without zeros: a SymPy symbol stays as it is."""
    return b if _is(a, 0.0) else a if _is(b, 0.0) else a + b


def _times(a: Any, b: Any) -> Any:
    """The product, without ones and zeros."""
    if _is(a, 0.0) or _is(b, 0.0):
        return 0.0
    return b if _is(a, 1.0) else a if _is(b, 1.0) else a * b


def _is(value: Any, number: float) -> bool:
    return isinstance(value, (float, int)) and value == number
