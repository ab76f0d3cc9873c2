"""Inertias along lengths that joint coordinates make: the armature of tendons.

The length s(q) of a spring with the inertia a has the kinetic energy a (ds/dt)^2 / 2, which is the inertia a c c' with
c = ds/dq, and takes the efforts a c d2s/dt2 (J.-L. Lagrange, *Mécanique analytique*, 1788). It has no weight, and no
momentum in the world.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.recursions import line_slope
from linkwise.kinematics.configuration import time_derivative
from linkwise.model.spring import ForceElement, LinearSpringDamper
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank


def length_inertia_matrix(tree: Tree, q: Array) -> Array:
    """Sum (nv, nv) of a c c': contribution of lengths to the mass matrix."""
    slopes, scaled = _slopes(tree, q)
    return np.asarray(scaled.T @ slopes)


def length_inertia_coriolis(tree: Tree, q: Array, qd: Array) -> Array:
    """Sum (nv, nv) of a c (dc/dt)', in Christoffel form: contribution of lengths to the Coriolis matrix."""
    return np.asarray(_slopes(tree, q)[1].T @ _rates(tree, q, qd))


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"tau": "nv"})
def length_inertia_torque(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """The efforts (nv,) that accelerate the lengths of springs with inertias: a sum of a c (c' qdd + (dc/dt)' qd).

    Examples
    --------
    >>> from linkwise import Spring, robots
    >>> arm = robots.planar_2r().replace(springs=[Spring({"link1": 1.0, "link2": -2.0}, inertia=0.5)])
    >>> arm.kernel("length_inertia_torque")([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    array([-0.5,  1. ])
    """
    return length_inertia_efforts(tree, q, qd, qdd) if tree.has_length_inertias else blank(tree.nv)


def length_inertia_efforts(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """The same, where a spring has an inertia."""
    slopes, scaled = _slopes(tree, q)
    return np.asarray(scaled.T @ (slopes @ qdd + _rates(tree, q, qd) @ qd))


def length_inertia_energy(tree: Tree, q: Array, qd: Array) -> Any:
    """The sum of a (c' qd)^2 / 2, J."""
    slopes, scaled = _slopes(tree, q)
    return 0.5 * ((slopes @ qd) @ (scaled @ qd))


def line_tension(tree: Tree, element: ForceElement, q: Array, qd: Array, qdd: Array) -> Callable[[Any], Any]:
    """The tension of an element along lines, N, from the length of a part of them (which counts where it is linear)."""
    if isinstance(element, LinearSpringDamper) and element.is_linear and not any_nonzero(element.inertia):
        return lambda length: element.stiffness * length
    length, slope = line_slope(tree, element, q)
    tension = element.tension(length, slope @ qd)
    if any_nonzero(element.length_inertia):
        rate = time_derivative(tree, lambda x: line_slope(tree, element, x)[1], q, qd)
        tension = tension + element.length_inertia * (slope @ qdd + rate @ qd)
    return lambda _: tension


def _slopes(tree: Tree, q: Array) -> tuple[Array, Array]:
    """The derivatives c (k, nv) of the lengths that have an inertia a, and a c."""
    rows, inertias, first = [], [], tree.nv - tree.n
    for term in (term for term in tree.force_terms if any_nonzero(term.element.length_inertia)):
        row = blank(tree.nv)
        for k, ratio in term.ratios:
            row[first + k] = row[first + k] + ratio
        rows.append(row)
        inertias.append(term.element.length_inertia)
    for element in (element for element in tree.springs if element.pieces and any_nonzero(element.length_inertia)):
        rows.append(line_slope(tree, element, q)[1])
        inertias.append(element.length_inertia)
    slopes = np.array(rows, dtype=object)
    return slopes, np.array(inertias, dtype=object)[:, None] * slopes


def _rates(tree: Tree, q: Array, qd: Array) -> Array:
    """The rates dc/dt (k, nv); zero for sums of coordinates."""
    if not any(element.pieces for element in tree.springs if any_nonzero(element.length_inertia)):
        return np.zeros(_slopes(tree, q)[0].shape)
    return time_derivative(tree, lambda x: _slopes(tree, x)[0], q, qd)
