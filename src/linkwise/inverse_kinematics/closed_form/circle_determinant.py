"""The elimination that solves six joints: one angle as the root of a determinant on the unit circle.

Six joints close a loop, Z_1 L_1 ... Z_6 L_6 = I, where Z_i turns about z, or slides along it, and L_i is the placement of
the next axis; one L holds the pose. Of two pairs of neighbouring joints and the revolute joint between them the axis of
that joint, as a line, is seen from both sides: 14 forms of it are bilinear in (1, cos, sin) of the joints of each pair
(M. Raghavan and B. Roth, "Inverse kinematics of the general 6R manipulator and related linkages", J. Mechanical Design
115, 1993), or in (1, d, d^2) of one that slides by d. One pair is eliminated; six equations in the other pair and the
angle of the sixth joint, the hidden one, which turns too, are left. Times cosine and sine of half of one angle they are
linear in 12 products, without tangents, and their determinant is a trigonometric polynomial of degree 8 in the hidden
angle, so that there are at most 16 solutions.

All functions here are over scalars, with the numbers of an arm as inputs: each is compiled once for all arms whose joints
turn and slide in the same places.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from linkwise.inverse_kinematics.closed_form.circle_roots import declared
from linkwise.inverse_kinematics.closed_form.loop_closing import (
    about,
    inverse_placement,
    product_of,
    shifted,
    times,
)
from linkwise.inverse_kinematics.closed_form.tapes import Functions
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, atan2, root, select
from linkwise.spatial.vector import inner

#: Degree of the determinant, which has twice as many roots in z = exp(i t).
DEGREE = 8

#: Sample angles of a pair of joints, and the matrix from three samples to coefficients of (1, cos, sin).
THIRDS = np.array([0.0, 2.0 * math.pi / 3.0, -2.0 * math.pi / 3.0])
FROM_SAMPLES: FloatArray = np.linalg.inv(np.column_stack([np.ones(3), np.cos(THIRDS), np.sin(THIRDS)])).round(15)

#: The same for shifts, and coefficients of (1, d, d^2).
SHIFTS = np.array([0.0, 1.0, -1.0])
FROM_SHIFTS: FloatArray = np.linalg.inv(np.column_stack([np.ones(3), SHIFTS, SHIFTS**2])).round(15)

#: Rows of the eliminated pair's products 1, c2, s2, c1, c1 c2, c1 s2, s1, s1 c2, s1 s2 that give its two joints.
COSINES_AND_SINES = (2, 5, 0, 1)


class Slides(NamedTuple):
    """Which joints of the two pairs slide, in the order of the loop; at most one of the four."""

    first: bool = False
    second: bool = False
    third: bool = False
    fourth: bool = False


def eliminate_pair(loop: Array, slides: Slides = Slides()) -> tuple[Array, Array]:  # noqa: B008
    """The six equations, and the eliminated pair, from the placements of the loop.

    Parameters
    ----------
    loop : (6, 3, 4)
        L of the hidden joint, of the pair that is eliminated, of the joint whose axis is seen, and of the other pair.
    slides : Slides
        Which joints of the two pairs are prismatic.

    Returns
    -------
    equations : (3, 6, 9)
        Times (1, c, s) of the hidden angle and the products (1, c, s) x (1, c, s) of the other pair, its last joint first
        if that turns, else its first: zero at solutions.
    pair : (3, 4, 9)
        In the same way: cosine and sine, or d and d^2, of the first joint of the eliminated pair, and of the second.
    """
    hidden, first, second, seen, third, fourth = loop
    left = _pair(hidden, first, second, slides[:2])
    before, between, after = (inverse_placement(T) for T in (fourth, third, seen))
    right = _pair(before, between, after, (slides.fourth, slides.third))
    odd = [1 if slide else 2 for slide in (slides.fourth, slides.third)]  # (joints moved back: these change their sign)
    for k in range(9):
        if (k // 3 == odd[0]) != (k % 3 == odd[1]):
            right[:, k] = -right[:, k]
    if slides.fourth:
        right = right.reshape(14, 3, 3).transpose(0, 2, 1).reshape(14, 9)
    columns = np.concatenate([left[:, 1:], *_turned_back(right), left[:, :1]], axis=1)
    reduced = _triangular(columns, 8)
    turned = np.stack([reduced[:, 8 + 9 * k : 17 + 9 * k] for k in range(3)])
    turned[0, :, 0] = turned[0, :, 0] - reduced[:, 35]
    answers = _back_substituted(reduced[:8, :8], turned[:, :8])
    return turned[:, 8:], answers[:, list(COSINES_AND_SINES)]


def _pair(before: Array, between: Array, after: Array, slides: tuple[bool, ...]) -> Array:
    """The 14 forms of the z axis after two joints, (14, 9) of the products (1, c, s) or (1, d, d^2) of these."""
    samples = np.empty((3, 3, 14), dtype=object)
    for i, first in enumerate(_samples(slides[0])):
        outer = times(times(before, first), between)
        for j, second in enumerate(_samples(slides[1])):
            samples[i, j] = _forms(times(times(outer, second), after))
    first, second = (FROM_SHIFTS if slide else FROM_SAMPLES for slide in slides)
    rows = np.tensordot(first, samples, axes=(1, 0))
    return np.moveaxis(np.tensordot(second, rows, axes=(1, 1)), 0, 1).reshape(9, 14).T


def _samples(slides: bool) -> list[Array]:
    """The placements (3, 4) of a joint that make up the coefficients."""
    return [shifted(d) for d in SHIFTS] if slides else [about(math.cos(t), math.sin(t)) for t in THIRDS]


def _forms(T: Array) -> Array:
    """The 14 forms of the line along z through the origin of a frame: l, p, p x l, p^2 l - 2 (p l) p, p^2, p l."""
    line, p = T[:, 2], T[:, 3]
    along, square = inner(p, line), inner(p, p)
    return np.concatenate([line, p, cross(p, line), square * line - 2.0 * along * p, [square, along]])


def _turned_back(forms: Array) -> tuple[Array, Array, Array]:
    """Forms (14, 9) in axes turned by -t about z: coefficients of 1, cos t and sin t."""
    fixed, cosine, sine = forms.copy(), np.zeros_like(forms), np.zeros_like(forms)
    for x in range(0, 12, 3):
        fixed[x : x + 2] = 0.0
        cosine[x : x + 2] = forms[x : x + 2]
        sine[x], sine[x + 1] = forms[x + 1], -forms[x]
    return fixed, cosine, sine


def _triangular(A: Array, count: int) -> Array:
    """Triangularize the first columns of a matrix by Householder reflections, which are applied to all columns."""
    A = A.copy()
    for k in range(count):
        column = A[k:, k].copy()
        length = root(inner(column, column))
        signed = select(column[0], length, -length)
        column[0] = column[0] + signed
        scale = 1.0 / (signed * column[0])
        for j in range(k + 1, A.shape[1]):
            A[k:, j] = A[k:, j] - column * (scale * inner(column, A[k:, j]))
        A[k, k] = -signed
    return A


def _back_substituted(R: Array, right: Array) -> Array:
    """Solutions (m, n, k) of R x = right (m, n, k) with an upper triangular R (n, n)."""
    x = right.copy()
    for i in reversed(range(len(R))):
        for j in range(i + 1, len(R)):
            x[:, i] = x[:, i] - R[i, j] * x[:, j]
        x[:, i] = x[:, i] * (1.0 / R[i, i])
    return x


def half_angle_matrix(equations: Array, c: Any, s: Any) -> Array:
    """The 12 equations (12, 12) in (cos t/2, sin t/2, cos 3t/2, sin 3t/2) x (1, c, s) at a hidden angle."""
    at = equations[0] + equations[1] * c + equations[2] * s
    constant, cosine, sine = at[:, :3], at[:, 3:6], at[:, 6:]
    by_cosine = np.concatenate([constant + 0.5 * cosine, 0.5 * sine, 0.5 * cosine, 0.5 * sine], axis=1)
    by_sine = np.concatenate([0.5 * sine, constant - 0.5 * cosine, -0.5 * sine, 0.5 * cosine], axis=1)
    return np.concatenate([by_cosine, by_sine])


def _eliminated(A: Array) -> tuple[Array, Any]:
    """Gauss's elimination of the leading square with row pivots, and the sign of the exchange."""
    A, sign = A.copy(), 1.0
    for k in range(len(A)):
        for i in range(k + 1, len(A)):
            larger = abs(A[i, k]) - abs(A[k, k])
            for j in range(k, A.shape[1]):
                A[k, j], A[i, j] = select(larger, A[i, j], A[k, j]), select(larger, A[k, j], A[i, j])
            sign = select(larger, -sign, sign)
        scale = 1.0 / A[k, k]
        for i in range(k + 1, len(A)):
            A[i, k + 1 :] = A[i, k + 1 :] - (A[i, k] * scale) * A[k, k + 1 :]
    return A, sign


def determinant(equations: Array, circle: Array) -> Array:
    """The determinant at a point (cos, sin) of the circle."""
    A, value = _eliminated(half_angle_matrix(equations, *circle))
    for k in range(len(A)):
        value = value * A[k, k]
    return np.asarray(value)


#: The right side of inverse iteration, of no special direction.
_DIRECTION: FloatArray = np.cos(1.0 + 1.7 * np.arange(12.0))


def joint_angles(equations: Array, pair: Array, loop: Array, z: Array, slides: Slides = Slides()) -> Array:  # noqa: B008
    """The six joints (6,) of the loop at a hidden angle (cos, sin) that makes the matrix singular."""
    c, s = z
    matrix = half_angle_matrix(equations, c, s)
    A, _ = _eliminated(np.concatenate([matrix, _DIRECTION[:, None].astype(object)], axis=1))
    v = [0.0] * 12
    for i in reversed(range(12)):
        total = A[i, 12]
        for j in range(i + 1, 12):
            total = total - A[i, j] * v[j]
        small = 1e-18 - abs(A[i, i])
        v[i] = total * (1.0 / select(small, 1e-18, A[i, i]))
    table = np.array(v, dtype=object).reshape(4, 3)
    size = [inner(table[:, k], table[:, k]) for k in range(3)]
    chosen = table[:, 0]
    for k in (1, 2):
        best = size[0] if k == 1 else select(size[1] - size[0], size[1], size[0])
        chosen = np.array([select(size[k] - best, a, b) for a, b in zip(table[:, k], chosen, strict=True)], dtype=object)
    length = 1.0 / root(chosen[0] * chosen[0] + chosen[1] * chosen[1])
    half_c, half_s = chosen[0] * length, chosen[1] * length
    turned = np.array([half_c * half_c - half_s * half_s, 2.0 * half_c * half_s], dtype=object)
    c3, s3 = turned[0] * half_c - turned[1] * half_s, turned[1] * half_c + turned[0] * half_s
    products = np.array([half_c, half_s, c3, s3], dtype=object) @ table
    other = _joint(products, slides.third or slides.fourth)
    known = np.array([x * y for x in (1.0, *turned) for y in (1.0, *other)], dtype=object)
    eliminated = (pair[0] + pair[1] * c + pair[2] * s) @ known
    q1, q2 = (
        pair_of if slide else np.array(_unit(*pair_of), dtype=object)
        for pair_of, slide in ((eliminated[:2], slides.first), (eliminated[2:], slides.second))
    )
    q3, q4 = (turned, other) if slides.fourth else (other, turned)
    hidden, first, second, seen, third, fourth = loop
    T1, T2, T3, T4 = (
        shifted(value[0]) if slide else about(*value) for value, slide in zip((q1, q2, q3, q4), slides, strict=True)
    )
    left = product_of(about(c, s), hidden, T1, first, T2, second)
    right = product_of(seen, T3, third, T4, fourth)
    turn = left[:, :3].T @ right[:, :3].T
    across, along = turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]
    values = [v[0] if slide else atan2(v[1], v[0]) for v, slide in zip((q1, q2, q3, q4), slides, strict=True)]
    return np.array([atan2(s, c), *values[:2], atan2(across, along), *values[2:]], dtype=object)


def _joint(products: Array, slides: bool) -> Array:
    """Return cosine and sine, or d and d^2, from products in the ratio of (1, c, s) or (1, d, d^2)."""
    if not slides:
        sign = select(products[0], 1.0, -1.0)
        return np.array(_unit(products[1] * sign, products[2] * sign), dtype=object)
    longer = abs(products[2]) - abs(products[0])
    d = select(longer, products[2], products[1]) / select(longer, products[1], products[0])
    return np.array([d, d * d], dtype=object)


def _unit(c: Any, s: Any) -> tuple[Any, Any]:
    length = 1.0 / root(c * c + s * s)
    return c * length, s * length


@cache
def kernels() -> Functions:
    """Return the compiled functions of this module that are the same for all joints, and those for its samples."""
    value = determinant, {"equations": (3, 6, 9), "circle": (2,)}, {"value": ()}
    return Functions(__name__, {"determinant": value} | declared(DEGREE))


@cache
def pair_kernels(slides: Slides) -> Functions:
    """Return the compiled `eliminate_pair` and `joint_angles` for the given sliding joints."""
    loop, eliminated = {"loop": (6, 3, 4)}, {"equations": (3, 6, 9), "pair": (3, 4, 9)}
    functions = {
        "eliminate_pair": (partial(eliminate_pair, slides=slides), loop, eliminated),
        "joint_angles": (partial(joint_angles, slides=slides), {**eliminated, **loop, "circle": (2,)}, {"q": (6,)}),
    }
    return Functions(__name__, functions, "_" + "".join("RP"[slide] for slide in slides))
