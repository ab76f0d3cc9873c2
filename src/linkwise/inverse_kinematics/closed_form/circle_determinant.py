"""The elimination that solves any six revolute joints: one angle as the root of a determinant on the unit circle.

Six revolute joints close a loop, Z_1 L_1 ... Z_6 L_6 = I, where Z_i turns about z and L_i is the placement of the next axis;
one L holds the pose. Of two pairs of neighbouring joints and the joint between them the axis of that joint, as a line, is
seen from both sides: 14 forms of it are bilinear in the cosines and sines of each pair (M. Raghavan and B. Roth, "Inverse
kinematics of the general 6R manipulator and related linkages", J. Mechanical Design 115, 1993). One pair is eliminated; six
equations in the other pair and the angle of the sixth joint, the hidden one, are left. Times cosine and sine of half of one
angle they are linear in 12 products, without tangents, and their determinant is a trigonometric polynomial of degree 8 in
the hidden angle, so that there are at most 16 solutions.

All functions here are over scalars, with the numbers of an arm as inputs: each is compiled once for all arms.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.program import damped_step
from linkwise.kernel import Kernel, trace
from linkwise.kernel.deferred_tape import tape_by_name
from linkwise.kernel.iteration import Descent, IterationProgram
from linkwise.kernel.tape import Tape
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, atan2, cos_sin, least, root, select
from linkwise.spatial.vector import inner

#: Samples of the determinant on the circle. Its orders up to 8 are its own; those beyond, up to half of the samples, must
#: vanish: they measure its error.
SAMPLES = 20

#: Degree of the determinant, and the number of its roots in z = exp(i t).
DEGREE = 8
ROOTS = 2 * DEGREE

#: The angles by which a pair of joints is sampled, and what makes coefficients of (1, cos, sin) of three samples.
THIRDS = np.array([0.0, 2.0 * math.pi / 3.0, -2.0 * math.pi / 3.0])
FROM_SAMPLES: FloatArray = np.linalg.inv(np.column_stack([np.ones(3), np.cos(THIRDS), np.sin(THIRDS)])).round(15)

#: Rows of the eliminated pair's products 1, c2, s2, c1, c1 c2, c1 s2, s1, s1 c2, s1 s2 that give its two angles.
COSINES_AND_SINES = (2, 5, 0, 1)


def eliminate_pair(loop: Array) -> tuple[Array, Array]:
    """The six equations, and the angles of the eliminated pair, from the placements of the loop.

    Parameters
    ----------
    loop : (6, 3, 4)
        L of the hidden joint, of the pair that is eliminated, of the joint whose axis is seen, and of the other pair.

    Returns
    -------
    equations : (3, 6, 9)
        Times (1, c, s) of the hidden angle and the products (1, c, s) x (1, c, s) of the other pair, its last joint first:
        zero at solutions.
    pair : (3, 4, 9)
        In the same way: cosine and sine of the first angle of the eliminated pair, and of the second.
    """
    hidden, first, second, seen, third, fourth = loop
    left = _pair(hidden, first, second)
    right = _pair(_inverse(fourth), _inverse(third), _inverse(seen))  # (of angles turned back: sines change their sign)
    for k in range(9):
        if (k // 3 == 2) != (k % 3 == 2):
            right[:, k] = -right[:, k]
    columns = np.concatenate([left[:, 1:], *_turned_back(right), left[:, :1]], axis=1)
    reduced = _triangular(columns, 8)
    turned = np.stack([reduced[:, 8 + 9 * k : 17 + 9 * k] for k in range(3)])
    turned[0, :, 0] = turned[0, :, 0] - reduced[:, 35]
    answers = _back_substituted(reduced[:8, :8], turned[:, :8])
    return turned[:, 8:], answers[:, list(COSINES_AND_SINES)]


def _inverse(T: Array) -> Array:
    """The inverse of a rigid placement (3, 4)."""
    R = T[:, :3].T
    return np.concatenate([R, -(R @ T[:, 3:])], axis=1)


def _pair(before: Array, between: Array, after: Array) -> Array:
    """The 14 forms of the z axis after two turns, (14, 9) of the products (1, c, s) x (1, c, s) of their angles."""
    samples = np.empty((3, 3, 14), dtype=object)
    for i, one in enumerate(THIRDS):
        outer = _times(_times(before, _about(math.cos(one), math.sin(one))), between)
        for j, two in enumerate(THIRDS):
            samples[i, j] = _forms(_times(_times(outer, _about(math.cos(two), math.sin(two))), after))
    rows = np.tensordot(FROM_SAMPLES, samples, axes=(1, 0))
    return np.moveaxis(np.tensordot(FROM_SAMPLES, rows, axes=(1, 1)), 0, 1).reshape(9, 14).T


def _times(A: Array, B: Array) -> Array:
    """The product of rigid placements (3, 4)."""
    product = A[:, :3] @ B
    product[:, 3] = product[:, 3] + A[:, 3]
    return product


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
    """A matrix whose first columns are made triangular by Householder's reflections, which the others go through."""
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
    one, cosine, sine = at[:, :3], at[:, 3:6], at[:, 6:]
    by_cosine = np.concatenate([one + 0.5 * cosine, 0.5 * sine, 0.5 * cosine, 0.5 * sine], axis=1)
    by_sine = np.concatenate([0.5 * sine, one - 0.5 * cosine, -0.5 * sine, 0.5 * cosine], axis=1)
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


def coefficients(samples: Array, degree: int = DEGREE) -> tuple[Array, Array]:
    """A polynomial from its samples: complex orders 0 to its degree (degree + 1, 2), the greatest of size 1; its error."""
    count = len(samples)
    t = 2.0 * math.pi * np.arange(count) / count
    orders = range(count // 2 + 1)
    c = [[inner(samples, np.cos(k * t)) * (1.0 / count), inner(samples, np.sin(k * t)) * (-1.0 / count)] for k in orders]
    largest: Any = c[0][0] * c[0][0]
    for re, im in c[1 : degree + 1]:
        square = re * re + im * im
        largest = select(square - largest, square, largest)
    beyond = sum((re * re + im * im for re, im in c[degree + 2 :]), c[degree + 1][0] ** 2 + c[degree + 1][1] ** 2)
    scale = 1.0 / root(largest)
    return np.array(c[: degree + 1], dtype=object) * scale, np.asarray(root(beyond) * scale)


def _polynomial(c: Array, z: Array) -> tuple[Array, Array, Any]:
    """Value and derivative at z within the circle of p(z) = sum c_k z^(k + d); beyond it, of the reversed one at 1 / z.

    Returns p, dp/dz (in numbers of the same scale: of the reversed r at y, (2 d r - y r') y) and the square of |z|.
    """
    size = z[0] * z[0] + z[1] * z[1]
    far = size - 1.0
    inverse = 1.0 / size
    y = np.array([select(far, z[0] * inverse, z[0]), select(far, -z[1] * inverse, z[1])], dtype=object)
    rows = [np.array([c[k][0], -c[k][1]], dtype=object) for k in range(len(c) - 1, 0, -1)] + list(c)  # (orders -d to d)
    p: Array = np.zeros(2, dtype=object)
    d: Array = np.zeros(2, dtype=object)
    degree = len(rows) - 1
    for k in range(degree + 1):
        # c_-k is the conjugate of c_k: the reversed polynomial has the conjugate coefficients
        im = select(far, -rows[degree - k][1], rows[degree - k][1])
        d = _product(d, y) + p
        p = _product(p, y) + np.array([rows[degree - k][0], im], dtype=object)
    outer = _product(degree * p - _product(y, d), y)
    return p, np.array([select(far, a, b) for a, b in zip(outer, d, strict=True)], dtype=object), size


def _product(a: Array, b: Array) -> Array:
    return np.array([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]], dtype=object)


def _quotient(a: Array, b: Array) -> Array:
    scale = 1.0 / (b[0] * b[0] + b[1] * b[1])
    return np.asarray(_product(a, np.array([b[0], -b[1]], dtype=object)) * scale)


def aberth_step(c: Array, roots: Array) -> tuple[Array, Array]:
    """One step of Ehrlich and Aberth for all roots (2 d, 2) of a polynomial (d + 1, 2); the longest step, in shares.

    O. Aberth, "Iteration methods for finding all zeros of a polynomial simultaneously" (Math. Comp. 27, 1973).
    """
    count = len(roots)
    sums = np.zeros((count, 2), dtype=object)
    for i in range(count):
        for j in range(i):
            away = roots[i] - roots[j]
            square = away[0] * away[0] + away[1] * away[1]
            scale = select(square, 1.0 / square, 0.0)
            away = np.array([away[0] * scale, -away[1] * scale], dtype=object)
            sums[i], sums[j] = sums[i] + away, sums[j] - away
    moved, longest = roots.copy(), 0.0
    for i in range(count):
        p, d, size = _polynomial(c, roots[i])
        step = _quotient(p, d - _product(p, sums[i]))
        share = (step[0] * step[0] + step[1] * step[1]) * (1.0 / size)
        held = select(share - 1.0, 1.0 / root(share), 1.0)  # (no step is longer than the root is far from the origin)
        usable = select(1.0 + share, held, 0.0)
        moved[i] = roots[i] - np.array([select(usable, part * held, 0.0) for part in step], dtype=object)
        share = select(1.0 + share, share, 0.0)
        longest = select(share - longest, share, longest)
    return moved, np.asarray(root(longest))


def root_discs(c: Array, roots: Array, error: Any) -> tuple[Array, Array]:
    """Discs about approximate roots within which the true ones are; each that is alone holds one of them.

    The roots of a real determinant lie on the circle, or in pairs z, 1 / conj(z). So a disc near the circle that is apart
    from all others, and whose image in the circle is, holds a root on the circle or none.

    B. T. Smith, "Error bounds for zeros of a polynomial based upon Gerschgorin's theorems" (J. ACM 17, 1970), with
    coefficients that are known to an error.

    Returns
    -------
    radii : (2 d,)
        Their radii.
    room : (2 d,)
        How far a disc and its image are from the other discs, all of 2.5 times their radii; below zero where they meet.
    """
    leading = root(c[-1][0] * c[-1][0] + c[-1][1] * c[-1][1])
    squares = [inner(z, z) for z in roots]
    count = len(roots)
    gaps = [[root(inner(a - b, a - b)) if i != j else 0.0 for j, b in enumerate(roots)] for i, a in enumerate(roots)]
    radii: list[Any] = []
    for i, square in enumerate(squares):
        p, _, _ = _polynomial(c, roots[i])
        size = root(square)
        share = select(square - 1.0, 1.0 / size, 1.0)  # (the reversed polynomial is p(z) / z^(2 d))
        value = root(inner(p, p)) + (count + 1) * error
        product = leading
        for j in range(count):
            if j != i:
                product = product * (gaps[i][j] * share)
        radii.append(select(square - 1.0, size, 1.0) * (count * value / product))
    margins = []
    for i, square in enumerate(squares):
        margin: Any = 0.1 - radii[i]
        image = roots[i] * (1.0 / square)
        for j in range(count):
            if j != i:
                apart = least(gaps[i][j], root(inner(image - roots[j], image - roots[j])))
                far = apart - 2.5 * (radii[i] + radii[j])
                margin = select(margin - far, far, margin)
        margins.append(margin)
    return np.array(radii, dtype=object), np.array(margins, dtype=object)


#: The error of coefficients that counts is this many times the measured one, and at least the rounding of the determinants.
SAFETY, ROUNDING = 10.0, 1e-14

#: Roots this near to the circle (in the logarithm of their size) are tried as solutions.
NEAR_CIRCLE = 0.05

#: A solution may lie this far from its root, rad, beside the radius of the root's disc.
STRAY = 1e-6

#: What `classified` says of a root.
OFF_CIRCLE, BESIDE_CIRCLE, CROWDED, ALONE = 0.0, 1.0, 2.0, 3.0


def classified(c: Array, roots: Array, error: Any) -> tuple[Array, Array, Array]:
    """What roots (2 d, 2) of a polynomial with coefficients of a measured error are.

    Returns
    -------
    radii : (2 d,)
        Of their discs, see `root_discs`.
    circle : (2 d, 2)
        The points of the circle next to them.
    kind : (2 d,)
        `ALONE` and `CROWDED` where the disc meets the circle, `BESIDE_CIRCLE` where the root is only near it.
    """
    radii, room = root_discs(c, roots, SAFETY * error + ROUNDING)
    circle, kinds = [], []
    for z, radius, margin in zip(roots, radii, room, strict=True):
        size = root(inner(z, z))
        circle.append(z * (1.0 / size))
        beside = select(
            math.exp(NEAR_CIRCLE) - size, select(size - math.exp(-NEAR_CIRCLE), BESIDE_CIRCLE, OFF_CIRCLE), OFF_CIRCLE
        )
        # (what is no number is on the circle, and not alone)
        kinds.append(select(abs(size - 1.0) - 2.0 * radius, beside, select(margin - 2.5 * STRAY, ALONE, CROWDED)))
    return radii, np.array(circle, dtype=object), np.array(kinds, dtype=object)


def carried(pose: Array, before: Array, after: Array, size: Any) -> tuple[Array, Array, Array]:
    """A pose (4, 4), its lengths in sizes, between two placements (3, 4): the product, its inverse, and checks of the pose.

    The checks (3,) are squares: how far it is from rigid, its distance from the origin, and the product's length in sizes.
    """
    rotation, point = pose[:3, :3], pose[:3, 3]
    scaled = np.concatenate([rotation, (point * (1.0 / size))[:, None]], axis=1)
    product = _product_of(before, scaled, after)
    skew = (rotation.T @ rotation - np.eye(3)).ravel()
    away = pose[3] - np.array([0.0, 0.0, 0.0, 1.0])
    right_handed = inner(rotation[:, 0], cross(rotation[:, 1], rotation[:, 2]))
    wrong = sum((select(abs(x), 1.0, 0.0) for x in away), inner(skew, skew) + inner(away, away)) + select(
        right_handed, 0.0, 1.0
    )
    return (
        product,
        _inverse(product),
        np.array([wrong, inner(point, point), inner(product[:, 3], product[:, 3])], dtype=object),
    )


#: The right side of inverse iteration, of no special direction.
_DIRECTION: FloatArray = np.cos(1.0 + 1.7 * np.arange(12.0))


def joint_angles(equations: Array, pair: Array, loop: Array, z: Array) -> Array:
    """The six angles (6,) of the loop at a hidden angle (cos, sin) that makes the matrix singular."""
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
    c4, s4 = half_c * half_c - half_s * half_s, 2.0 * half_c * half_s
    amplitudes = np.array([half_c, half_s, c4 * half_c - s4 * half_s, s4 * half_c + c4 * half_s], dtype=object)
    products = amplitudes @ table
    sign = select(products[0], 1.0, -1.0)
    c3, s3 = _unit(products[1] * sign, products[2] * sign)
    known = np.array([x * y for x in (1.0, c4, s4) for y in (1.0, c3, s3)], dtype=object)
    c1, s1, c2, s2 = (pair[0] + pair[1] * c + pair[2] * s) @ known
    (c1, s1), (c2, s2) = _unit(c1, s1), _unit(c2, s2)
    hidden, first, second, seen, third, fourth = loop
    left = _product_of(_about(c, s), hidden, _about(c1, s1), first, _about(c2, s2), second)
    right = _product_of(seen, _about(c3, s3), third, _about(c4, s4), fourth)
    turn = left[:, :3].T @ right[:, :3].T
    across, along = turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]
    return np.array(
        [atan2(s, c), atan2(s1, c1), atan2(s2, c2), atan2(across, along), atan2(s3, c3), atan2(s4, c4)], dtype=object
    )


def _unit(c: Any, s: Any) -> tuple[Any, Any]:
    length = 1.0 / root(c * c + s * s)
    return c * length, s * length


def _about(c: Any, s: Any) -> Array:
    """A turn about z (3, 4)."""
    return np.array([[c, -s, 0.0, 0.0], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], dtype=object)


def _product_of(*placements: Array) -> Array:
    product = placements[0]
    for T in placements[1:]:
        product = _times(product, T)
    return product


def opening(loop: Array, q: Array) -> tuple[Array, Array, Array]:
    """How far angles (6,) leave a loop open: the gap (6,) to close, its rates (6, 6) by the angles, and its size ().

    The size is the root of the sum of squares of the gap, in the scale of the loop's lengths, and of the angle (rad).
    """
    T, axes, points = np.eye(4, dtype=object)[:3], [], []
    for k in range(6):
        axes.append(T[:, 2])
        points.append(T[:, 3])
        T = _times(_times(T, _about(*cos_sin(q[k]))), loop[k])
    turn = 0.5 * np.array([T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]], dtype=object)
    gap = np.concatenate([-T[:, 3], -turn])
    rates = np.array([[*cross(z, T[:, 3] - p), *z] for z, p in zip(axes, points, strict=True)], dtype=object).T
    away = T[:, :3] - np.eye(3)
    return gap, rates, np.asarray(root(inner(gap[:3], gap[:3]) + 0.5 * inner(away.ravel(), away.ravel())))


def gauss_newton_step(loop: Array, q: Array) -> tuple[Array, Array]:
    """Angles (6,) after a Gauss-Newton step that closes the loop, and how far it was open before ()."""
    gap, rates, opened = opening(loop, q)
    step = damped_step(rates, gap)
    long = inner(step, step) - 0.25
    scale = select(long, 0.5 / root(inner(step, step)), 1.0)
    return q + scale * step, opened


#: Most steps that look for roots, and the longest (in shares of a root) of a step after which they are at rest.
ROOT_STEPS, AT_REST = 52, 1e-10

#: Steps that close a loop: the first are always taken, the others while it is open by more than CLOSED and less than WIDE.
FIRST_STEPS, LAST_STEPS, CLOSED, WIDE = 3, 11, 1e-12, 0.1


def root_step(parameters: Array, q0: Array, settings: Array, q: Array, aux: Array) -> tuple[Array, Array, Array]:
    """`aberth_step` as a step: of coefficients, the first roots, no settings, the roots, and how many steps there were."""
    moved, longest = aberth_step(parameters.reshape(-1, 2), q.reshape(-1, 2))
    count = aux[0] + 1.0
    ended = select(AT_REST - longest[()], 1.0, select(count - (ROOT_STEPS - 0.5), 1.0, 0.0))
    return moved.ravel(), np.array([count], dtype=object), np.asarray(ended)


def closing_step(parameters: Array, q0: Array, settings: Array, q: Array, aux: Array) -> tuple[Array, Array, Array]:
    """`gauss_newton_step` as a step: of a loop, the first angles, no settings, the angles, the count, how far it is open."""
    moved, opened = gauss_newton_step(parameters.reshape(6, 3, 4), q)
    count, gap = aux[0] + 1.0, opened[()]
    far = select(gap - WIDE, 1.0, select(count - (LAST_STEPS + 0.5), 1.0, select(CLOSED - gap, 1.0, 0.0)))
    ended = select(count - (FIRST_STEPS + 0.5), far, select(1e-15 - gap, 1.0, 0.0))
    stays = [select(ended, before, after) for before, after in zip(q, moved, strict=True)]
    return np.array(stays, dtype=object), np.array([count, gap], dtype=object), np.asarray(ended)


def kept_tape(module: str, function: Any, name: str, inputs: Any, outputs: Any) -> Tape:
    """The tape of a function of a module, traced where the disk does not know it."""
    return tape_by_name((module, name), partial(trace, function, name, inputs, outputs))


@cache
def kernels() -> dict[str, Kernel]:
    """The functions of this module, compiled."""
    loop, c, roots = {"loop": (6, 3, 4)}, {"c": (DEGREE + 1, 2)}, {"roots": (ROOTS, 2)}
    equations, pair = {"equations": (3, 6, 9)}, {"pair": (3, 4, 9)}
    declared: dict[str, tuple[Any, Any, Any]] = {
        "eliminate_pair": (eliminate_pair, loop, {**equations, **pair}),
        "determinant": (determinant, {**equations, "circle": (2,)}, {"value": ()}),
        "coefficients": (coefficients, {"samples": (SAMPLES,)}, {**c, "error": ()}),
        "classified": (
            classified,
            {**c, **roots, "error": ()},
            {"radii": (ROOTS,), "circle": (ROOTS, 2), "kind": (ROOTS,)},
        ),
        "opening": (opening, {**loop, "q": (6,)}, {"gap": (6,), "rates": (6, 6), "opened": ()}),
        "carried": (
            carried,
            {"pose": (4, 4), "before": (3, 4), "after": (3, 4), "size": ()},
            {"product": (3, 4), "inverse": (3, 4), "checks": (3,)},
        ),
        "joint_angles": (joint_angles, {**equations, **pair, **loop, "circle": (2,)}, {"q": (6,)}),
    }
    return {name: Kernel(kept_tape(__name__, f, name, inputs, outputs)) for name, (f, inputs, outputs) in declared.items()}


@cache
def ufuncs() -> dict[str, Any]:
    """The gufuncs of `kernels`, which cost less to call and are never divided among threads."""
    return {name: kernel.ufunc for name, kernel in kernels().items()}


def roots_of(c: FloatArray) -> FloatArray:
    """The roots (N, 2 d, 2) of polynomials (N, d + 1, 2)."""
    degree, starts = c.shape[1] - 1, _starts(c.shape[1] - 1)
    begun = np.broadcast_to(starts, (len(c), len(starts)))
    rows = root_iteration(degree)(c.reshape(len(c), -1), begun, begun[:0], NO_SETTINGS)
    return rows[:, : len(starts)].reshape(-1, 2 * degree, 2)


@cache
def _starts(degree: int) -> FloatArray:
    """The points (4 d,) from which roots are looked for."""
    k = np.arange(2 * degree)
    angles, sizes = np.pi * k / degree + 0.4, np.where(k % 2, 1.2, 0.75)
    return np.column_stack([sizes * np.cos(angles), sizes * np.sin(angles)]).ravel()


#: The settings of iterations that have none.
NO_SETTINGS: FloatArray = np.zeros(1)


@cache
def root_iteration(degree: int) -> Descent:
    """`root_step` for polynomials of a degree, in a compiled loop."""
    return _iteration(root_step, 2 * (degree + 1), 4 * degree, 1, f"root_step_{degree}")


@cache
def iterations() -> dict[str, Descent]:
    """`root_step` and `closing_step`, each in a compiled loop."""
    return {"roots": root_iteration(DEGREE), "closing": _iteration(closing_step, 72, 6, 2, "closing_step")}


def _iteration(step: Any, p: int, n: int, a: int, name: str) -> Descent:
    inputs = {"parameters": (p,), "q0": (n,), "settings": (1,), "q": (n,), "aux": (a,)}
    return Descent(IterationProgram(kept_tape(__name__, step, name, inputs, {"q": (n,), "aux": (a,), "status": ()})))
