"""Mass and moments of inertia of simple solids and their shells, as MJCF's geoms have them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.spatial_vectors import around


class Solid(NamedTuple):
    """A body of density 1 in its own axes, z along its length: mass and moments about its centre."""

    mass: float
    moments: tuple[float, float, float]


def sphere(size: Sequence[float]) -> Solid:
    """A ball of radius `size` (m): mass 4/3 pi r^3, moments 2/5 m r^2.

    Examples
    --------
    >>> round(sphere([1.0]).moments[0] / sphere([1.0]).mass, 12)
    0.4
    """
    r = size[0]
    return _round(4 / 3 * math.pi * r * r * r, lambda m: (0.4 * m * r * r,) * 2)


def sphere_shell(size: Sequence[float]) -> Solid:
    """The surface of a ball: mass 4 pi r^2, moments 2/3 m r^2."""
    r = size[0]
    return _round(4 * math.pi * r * r, lambda m: (2 / 3 * m * r * r,) * 2)


def cylinder(size: Sequence[float]) -> Solid:
    """A cylinder of a radius and a half length: m = 2 pi r^2 h; across m (r^2/4 + h^2/3), about z m r^2/2."""
    r, h = size[:2]
    return _round(2 * math.pi * r * r * h, lambda m: (m * (r * r / 4 + h * h / 3), 0.5 * m * r * r))


def cylinder_shell(size: Sequence[float]) -> Solid:
    """The surface of a cylinder with its two ends: a tube and two discs."""
    r, h = size[:2]
    tube = _round(4 * math.pi * r * h, lambda m: (m * (r * r / 2 + h * h / 3), m * r * r))
    discs = _round(2 * math.pi * r * r, lambda m: (m * (r * r / 4 + h * h), 0.5 * m * r * r))
    return _sum(tube, discs)


def capsule(size: Sequence[float]) -> Solid:
    """A cylinder with two half balls of its radius on the ends.

    Across, two half balls of together m are 2/5 m r^2 + m (h^2 + 3/4 h r): the centre of each is 3/8 r beyond the end.
    """
    r, h = size[:2]
    balls = _round(4 / 3 * math.pi * r * r * r, lambda m: (m * (0.4 * r * r + h * h + 0.75 * h * r), 0.4 * m * r * r))
    return _sum(cylinder(size), balls)


def capsule_shell(size: Sequence[float]) -> Solid:
    """The surface of a capsule: a tube and two half spheres, the centre of each r/2 beyond the end."""
    r, h = size[:2]
    tube = _round(4 * math.pi * r * h, lambda m: (m * (r * r / 2 + h * h / 3), m * r * r))
    halves = _round(4 * math.pi * r * r, lambda m: (m * (2 / 3 * r * r + h * h + h * r), 2 / 3 * m * r * r))
    return _sum(tube, halves)


def ellipsoid(size: Sequence[float]) -> Solid:
    """An ellipsoid of three half axes: m = 4/3 pi a b c, about x m (b^2 + c^2)/5, and so on."""
    a, b, c = (value * value for value in size)
    m = 4 / 3 * math.pi * size[0] * size[1] * size[2]
    return Solid(m, (m * (b + c) / 5, m * (a + c) / 5, m * (a + b) / 5))


def ellipsoid_shell(size: Sequence[float]) -> Solid:
    """The surface of an ellipsoid, as MuJoCo takes it.

    Its area is K. Thomsen's approximation (within 1.1 %); its moments are those of what a little growth of all three half
    axes adds to the solid.
    """
    a, b, c = size
    power = 1.6075
    mean = sum(math.pow(product, power) for product in (a * b, b * c, c * a)) / 3
    m = 4 * math.pi * math.pow(mean, 1 / power)
    grown = 2 * a * b * c / (a * b + b * c + c * a)
    x, y, z = (m * (p * p + q * q + grown * (p + q)) / 5 for p, q in ((b, c), (a, c), (a, b)))
    return Solid(m, (x, y, z))


def box(size: Sequence[float]) -> Solid:
    """A box of three half edges: m = 8 a b c, about x m (b^2 + c^2)/3, and so on."""
    a, b, c = (value * value for value in size)
    m = 8 * size[0] * size[1] * size[2]
    return Solid(m, (m * (b + c) / 3, m * (a + c) / 3, m * (a + b) / 3))


def box_shell(size: Sequence[float]) -> Solid:
    """The surface of a box: three pairs of rectangles."""
    total = Solid(0.0, (0.0, 0.0, 0.0))
    for k in range(3):
        p, q = size[(k + 1) % 3], size[(k + 2) % 3]
        m = 8 * p * q
        second = [m * value * value * (1 if j == k else 1 / 3) for j, value in enumerate(size)]  # integrals of x^2, y^2, z^2
        total = _sum(total, Solid(m, (second[1] + second[2], second[0] + second[2], second[0] + second[1])))
    return total


#: Number of sizes of each kind, its body and its surface.
SOLIDS: dict[str, tuple[int, Callable[[Sequence[float]], Solid], Callable[[Sequence[float]], Solid]]] = {
    "sphere": (1, sphere, sphere_shell),
    "capsule": (2, capsule, capsule_shell),
    "cylinder": (2, cylinder, cylinder_shell),
    "ellipsoid": (3, ellipsoid, ellipsoid_shell),
    "box": (3, box, box_shell),
}


def _round(mass: float, moments: Callable[[float], tuple[float, float]]) -> Solid:
    """A body of revolution about z: its moments across and about z."""
    across, about = moments(mass)
    return Solid(mass, (across, across, about))


def _sum(a: Solid, b: Solid) -> Solid:
    """Sum of two bodies with the same centre."""
    x, y, z = (p + q for p, q in zip(a.moments, b.moments, strict=True))
    return Solid(a.mass + b.mass, (x, y, z))


def summed(bodies: Sequence[tuple[FloatArray, float, FloatArray]]) -> tuple[float, FloatArray, FloatArray]:
    """Mass, centre and tensor about it of bodies together, by parallel axes; each is its centre, mass and tensor about that.

    Examples
    --------
    >>> ball = np.eye(3)
    >>> mass, centre, tensor = summed([(np.array([1.0, 0.0, 0.0]), 2.0, ball), (np.array([-1.0, 0.0, 0.0]), 2.0, ball)])
    >>> mass, centre.tolist(), np.diag(tensor).tolist()
    (4.0, [0.0, 0.0, 0.0], [2.0, 6.0, 6.0])
    """
    centres, masses, tensors = (np.array(column) for column in zip(*bodies, strict=True))
    mass = masses.sum()
    centre = masses @ centres / mass
    arms = centres - centre
    tensor = tensors.sum(axis=0) + around(masses * arms.T @ arms)
    return float(mass), centre, 0.5 * (tensor + tensor.T)
