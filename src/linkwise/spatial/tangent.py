"""Derivatives of the exponential and the logarithm of rotations and rigid motions, by small motions in their own axes.

With X the matrix of the cross product of a rotation vector, or the adjoint matrix of a twist, exp(-X) carries a small
motion before the exponential to after it, the right Jacobian sum of (-X)^k / (k + 1)! is that of the exponential, and its
inverse that of the logarithm (R. M. Murray, Z. Li, S. S. Sastry, *A Mathematical Introduction to Robotic Manipulation*,
1994, section 2.4; T. D. Barfoot, *State Estimation for Robotics*, 2017, section 7.1.5). For a rotation vector they are
polynomials in X of degree two. The adjoint matrix of a twist (v, w), linear part first, is [W V; 0 W]: so its upper right
block is the derivative of the same polynomial along V.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np

from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import Array, cos_sin, root, select

#: Square of an angle (rad) below which series are summed, so that the closed forms lose one digit at most.
NEAR = 0.25

#: Coefficients of the series in the square of the angle x: (1 - cos x) / x^2 and (x - sin x) / x^3, remainder below 1e-17;
VERSED = [(-1.0) ** k / factorial(2 * k + 2) for k in range(7)]
CUBIC = [(-1.0) ** k / factorial(2 * k + 3) for k in range(7)]

#: (1 - (x/2) cot(x/2)) / x^2, by Bernoulli's numbers, remainder below 1e-17.
COTANGENT = [
    bernoulli / factorial(2 * k + 2)
    for k, bernoulli in enumerate((1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510))
]


def exponential_derivatives(step: Array) -> tuple[Array, Array]:
    """Derivatives of T exp(step) by T and by the step: each (3, 3) for a rotation vector, (6, 6) for a twist.

    Examples
    --------
    >>> by_start, by_step = exponential_derivatives(np.array([0.0, 0.0, np.pi / 2]))
    >>> by_start.astype(float).round(9) + 0.0
    array([[ 0.,  1.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    w = step[-3:]
    square = w @ w
    near, safe = select(square - NEAR, 0.0, 1.0), select(square - NEAR, square, 1.0)
    angle = root(safe)
    cosine, sine = cos_sin(angle)
    whole = sine / angle
    b, c = (1.0 - cosine) / safe, (1.0 - whole) / safe
    slopes = (whole - 2.0 * b) / (2.0 * safe), (b - 3.0 * c) / (2.0 * safe)
    b, c = select(near - 0.5, _series(VERSED, square), b), select(near - 0.5, _series(CUBIC, square), c)
    db = select(near - 0.5, _series(_slopes(VERSED), square), slopes[0])
    dc = select(near - 0.5, _series(_slopes(CUBIC), square), slopes[1])
    a = 1.0 - square * c
    turn, jacobian = _polynomial(w, -a, b), _polynomial(w, -b, c)
    if len(step) == 3:
        return turn, jacobian
    v = step[:3]
    along = 2.0 * (w @ v)
    mixed = _derivative(w, v, -b, c) + along * (_polynomial(w, -db, dc) - np.eye(3))
    return _upper(turn, -(turn @ skew(jacobian.T @ v))), _upper(jacobian, mixed)


def logarithm_derivatives(step: Array) -> tuple[Array, Array]:
    """Derivatives of the step from T0 to T1 = T0 exp(step) by T0 and T1: (3, 3) or (6, 6) each.

    Examples
    --------
    >>> by_start, by_end = logarithm_derivatives(np.array([0.0, 0.0, np.pi / 2]))
    >>> by_end.astype(float).round(4) + 0.0
    array([[ 0.7854, -0.7854,  0.    ],
           [ 0.7854,  0.7854,  0.    ],
           [ 0.    ,  0.    ,  1.    ]])
    """
    w = step[-3:]
    square = w @ w
    near, safe = select(square - NEAR, 0.0, 1.0), select(square - NEAR, square, 1.0)
    half = 0.5 * root(safe)
    cosine, sine = cos_sin(half)
    cotangent = cosine / sine
    e = (1.0 - half * cotangent) / safe
    slope = (0.125 * (1.0 / (sine * sine) - cotangent / half) - e) / safe
    e = select(near - 0.5, _series(COTANGENT, square), e)
    de = select(near - 0.5, _series(_slopes(COTANGENT), square), slope)
    results = []
    for sign in (-1.0, 1.0):
        jacobian = _polynomial(w, sign * 0.5, e)
        if len(step) == 6:
            v = step[:3]
            rest = 2.0 * (w @ v) * (_polynomial(w, 0.0, de) - np.eye(3))
            jacobian = _upper(jacobian, _derivative(w, v, sign * 0.5, e) + rest)
        results.append(sign * jacobian)
    return results[0], results[1]


def _series(coefficients: Sequence[float], x: Any) -> Any:
    total: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = coefficient + x * total
    return total


def _slopes(coefficients: Sequence[float]) -> list[float]:
    return [k * coefficient for k, coefficient in enumerate(coefficients)][1:]


def _polynomial(w: Array, first: Any, second: Any) -> Array:
    """1 + first W + second W^2, with W^2 = w w' - |w|^2."""
    return np.asarray(np.eye(3) + first * skew(w) + second * (np.outer(w, w) - (w @ w) * np.eye(3)))


def _derivative(w: Array, v: Array, first: Any, second: Any) -> Array:
    """Its derivative along v, the coefficients held: first V + second (W V + V W)."""
    outer = np.outer(w, v)
    return np.asarray(first * skew(v) + second * (outer + outer.T - 2.0 * (w @ v) * np.eye(3)))


def _upper(diagonal: Array, corner: Array) -> Array:
    return np.block([[diagonal, corner], [np.zeros((3, 3)), diagonal]])
