"""Motions by exponential coordinates: rotation vectors of joints with quaternions, behind positions of those that float."""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.polynomial import Polynomial

from linkwise.model.tree import Tree
from linkwise.spatial.quaternion import conjugated, multiplied, rotated
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import State

#: sin(x) / x as a polynomial of x^2, exact to rounding up to x = pi / 2, and its derivatives by x^2.
SINC = Polynomial([(-1.0) ** k / factorial(2 * k + 1) for k in range(13)])
SINC_RATE, SINC_BEND = SINC.deriv(), SINC.deriv(2)

#: How far what floats goes from its parent's origin along each axis, m.
SPAN = 1.0


def exponential_motion(tree: Tree, x: FloatArray, xd: FloatArray, xdd: FloatArray) -> State:
    """Return q (K, nq), qd and qdd (K, nv) of exponential coordinates (K, nv), of at most half a turn, and their rates.

    Those of a joint with a quaternion are a rotation vector, rad, in its child's axes and its parent's alike; before it
    stands the position of one that floats, m, in its parent's. The others are joint coordinates.
    """
    states: list[State] = []
    for at in tree.manifold_joints:
        turn, slide = slice(at.v.stop - 3, at.v.stop), slice(at.v.start, at.v.stop - 3)
        quaternion, w, wd = _turning(x[:, turn], xd[:, turn], xdd[:, turn])
        if slide.start < slide.stop:
            back = conjugated(quaternion)
            v = rotated(back, xd[:, slide])
            states.append((x[:, slide], v, rotated(back, xdd[:, slide]) - np.cross(w, v)))
        states.append((quaternion, w, wd))
    first = tree.nv - tree.n
    states.append((x[:, first:], xd[:, first:], xdd[:, first:]))
    q, qd, qdd = (np.concatenate(parts, axis=1) for parts in zip(*states, strict=True))
    return q, qd, qdd


def _turning(x: FloatArray, xd: FloatArray, xdd: FloatArray) -> State:
    """Unit quaternions (K, 4) of rotation vectors (K, 3), with angular velocities and their rates in the child's axes.

    w = 2 q* q', of which the rate is 2 q* q'', for q'* q' is a scalar (J. B. Kuipers, *Quaternions and Rotation
    Sequences*, 1999, chapter 11).
    """
    square, rate = 0.25 * _dot(x, x), 0.5 * _dot(x, xd)
    bend = 0.5 * (_dot(xd, xd) + _dot(x, xdd))
    f, f1, f2 = SINC(square), SINC_RATE(square), SINC_BEND(square)
    quaternion = np.concatenate([np.cos(np.sqrt(square)), 0.5 * f * x], axis=1)
    first = np.concatenate([-0.5 * f * rate, 0.5 * (f1 * rate * x + f * xd)], axis=1)
    moved = (f2 * rate**2 + f1 * bend) * x + 2.0 * f1 * rate * xd + f * xdd
    second = np.concatenate([-0.5 * (f1 * rate**2 + f * bend), 0.5 * moved], axis=1)
    back = 2.0 * conjugated(quaternion)
    return quaternion, multiplied(back, first)[:, 1:], multiplied(back, second)[:, 1:]


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.sum(a * b, axis=1, keepdims=True))


def exponential_limits(tree: Tree, qd_max: FloatArray, qdd_max: FloatArray) -> FloatArray:
    """Greatest exponential coordinates (3, nv - n) of joints with quaternions, rates and second rates that keep limits.

    A rotation vector of at most the cone's half opening leans no axis further. With w = the integral of R(-s x) x' over
    s from 0 to 1, |w| <= |x'| and |w'| <= |x''| + |x'|^2 / 2; of what floats at p, |v| = |p'| and |v'| <= |p''| + |w| |v|.
    Half of an acceleration is left to the second terms. The least limit of three components holds for their vector.
    """
    columns: list[FloatArray] = []
    for at in tree.manifold_joints:
        turn, slide = slice(at.v.stop - 3, at.v.stop), slice(at.v.start, at.v.stop - 3)
        linear = qdd_max[slide].min(initial=np.inf)
        w = min(qd_max[turn].min(), np.sqrt(qdd_max[turn].min()), np.sqrt(linear / SPAN))
        if slide.start < slide.stop:
            v = min(qd_max[slide].min(), 0.5 * linear / w) if np.isfinite(linear) else qd_max[slide].min()
            columns += [np.array([np.sqrt(3.0) * SPAN, v, 0.5 * linear])] * 3
        columns += [np.array([min(at.most, np.pi), w, 0.5 * qdd_max[turn].min()])] * 3
    return np.asarray(np.reshape(columns, (-1, 3)).T / np.sqrt(3.0))
