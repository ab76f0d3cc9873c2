"""Configurations and speeds: where a velocity leads, and what velocity leads from one configuration to another.

A floating base is placed by its position and a unit quaternion (x, y, z, qw, qx, qy, qz), and moves with the velocity of
its origin and its angular velocity, both in its own axes; joints add their coordinates and speeds behind. Without a floating
base these are sums and differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import algorithm
from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.spatial.numbers import numbers, unmasked
from linkwise.spatial.quaternion import quaternion_product, quaternion_rotation
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, cos_sin, root

_LEAST = 1e-30
"""Added to the square of an angle, so that sin(x)/x is 1 at zero; without effect on any angle above 1e-7 rad."""


@algorithm(inputs={"q": "nq", "qd": "nv", "dt": ""}, outputs={"q_next": "nq"}, spread=False)
def integrate(tree: Tree, q: Array, qd: Array, dt: Any) -> Array:
    """Return the configuration (nq,) after the time dt (s) at constant speeds qd (nv,); the quaternion is normalised.

    The floating base turns and moves along one screw: the exponential of its twist (R. M. Murray, Z. Li, S. S. Sastry, *A
    Mathematical Introduction to Robotic Manipulation*, 1994, eq. 2.36).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.integrate([0.0, 0.5], [1.0, -1.0], 0.1)
    array([0.1, 0.4])
    """
    step = np.asarray(qd) * np.asarray(unmasked("dt", dt))
    if not tree.floating:
        return np.asarray(q + step)
    linear, angular = step[:3], step[3:6]
    square = angular @ angular + _LEAST
    angle = root(square)
    c, s = cos_sin(0.5 * angle)
    half = s / angle
    second = (1.0 - 2.0 * (half * c)) / square
    turned = cross(angular, linear)
    moved = linear + (2.0 * (half * half)) * turned + second * cross(angular, turned)
    turn = quaternion_product(_normalised(q[3:7]), [c, *(half * angular)])
    return np.concatenate([q[:3] + quaternion_rotation(q[3:7]) @ moved, _normalised(turn), q[7:] + step[6:]])


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"rate": "nq"}, spread=False)
def configuration_rate(tree: Tree, q: Array, qd: Array) -> Array:
    """dq/dt (nq,) at the speeds qd: R v, half the quaternion times the angular velocity, and the joint speeds.

    J. B. Kuipers, *Quaternions and Rotation Sequences* (1999), chapter 11.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> ship = Mechanism([Link(joint="fixed", mass=1.0, inertia=(1, 1, 1))], floating=True)
    >>> ship.kernel("configuration_rate")(ship.neutral, [1.0, 0, 0, 0, 0, 0.2]) + 0.0
    array([1. , 0. , 0. , 0. , 0. , 0. , 0.1])
    """
    if not tree.floating:
        return np.asarray(qd)
    turning = 0.5 * quaternion_product(q[3:7], [0.0, *qd[3:6]])
    return np.concatenate([quaternion_rotation(q[3:7]) @ qd[:3], turning, qd[6:]])


def difference(tree: Tree, q0: npt.ArrayLike, q1: npt.ArrayLike) -> FloatArray:
    """Return the speeds (..., nv) that lead from q0 to q1 (..., nq) in one second: the inverse of `integrate`.

    The floating base takes the shorter of the two ways round.

    Raises
    ------
    ArgumentError
        Where the shapes do not fit the mechanism or each other, or what is given is no real number.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.difference([0.0, 0.5], [0.1, 0.4]).round(9)
    array([ 0.1, -0.1])
    """
    start, end = (_configuration(tree, name, value) for name, value in (("q0", q0), ("q1", q1)))
    try:
        start, end = np.broadcast_arrays(start, end)
    except ValueError as error:
        found = f"q0 {start.shape[:-1]}, q1 {end.shape[:-1]}"
        raise ArgumentError(f"difference: the batch shapes do not fit each other: {found}") from error
    kind = np.result_type(np.asarray(unmasked("q0", q0)).dtype, np.asarray(unmasked("q1", q1)).dtype, np.float32)
    return _led(tree, start, end).astype(kind, copy=False)


def _led(tree: Tree, start: FloatArray, end: FloatArray) -> FloatArray:
    """The speeds (..., nv) from start to end, in float64."""
    if not tree.floating:
        return np.asarray(end - start)
    rotation = np.moveaxis(np.asarray(quaternion_rotation(np.moveaxis(start[..., 3:7], -1, 0))), (0, 1), (-2, -1))
    moved = np.einsum("...ji,...j->...i", rotation, end[..., :3] - start[..., :3])
    inverse = np.moveaxis(start[..., 3:7] * [1.0, -1.0, -1.0, -1.0], -1, 0)
    turn = np.moveaxis(quaternion_product(inverse, np.moveaxis(end[..., 3:7], -1, 0)), 0, -1)
    turn = turn * np.where(turn[..., :1] < 0, -1.0, 1.0)
    sine = np.linalg.norm(turn[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, turn[..., :1])
    angular = turn[..., 1:] * np.divide(angle, sine, out=2.0 / turn[..., :1] + 0.0 * sine, where=sine > 0)
    turned = np.cross(angular, moved)
    linear = moved - 0.5 * turned + _second(angle) * np.cross(angular, turned)
    return np.concatenate([linear, angular, end[..., 7:] - start[..., 7:]], axis=-1)


def _second(angle: FloatArray) -> FloatArray:
    """(1 - x/2 cot(x/2)) / x^2, by its series where the difference would cancel (remainder below 1e-17 at 0.05 rad)."""
    small = np.abs(angle) < 0.05
    x = np.where(small, 1.0, angle)
    square = angle * angle
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square * (1 / 1209600 + square / 47900160)))
    return np.where(small, series, (1.0 - 0.5 * x / np.tan(0.5 * x)) / (x * x))


def _configuration(tree: Tree, name: str, value: npt.ArrayLike) -> FloatArray:
    given = numbers(f"difference: {name}", value, f"real numbers (..., {tree.nq})", finite=False)
    if given.shape[-1:] != (tree.nq,):
        raise ArgumentError(f"difference: {name} has the shape {given.shape}; expected (..., {tree.nq})")
    return given


def _normalised(quaternion: Array) -> Array:
    return np.asarray(quaternion * (1.0 / root(quaternion @ quaternion)))
