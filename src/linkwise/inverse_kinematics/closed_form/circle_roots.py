"""Roots of trigonometric polynomials that lie on the unit circle, and discs that hold the true ones.

A real trigonometric polynomial of degree d in an angle t is z^-d times a polynomial of degree 2 d in z = exp(i t), whose
roots lie on the circle or in pairs z, 1 / conj(z). Its coefficients come from samples, which measure their error too.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.closed_form.tapes import NO_SETTINGS, iteration
from linkwise.kernel.iteration import Descent
from linkwise.spatial.scalar import Array, FloatArray, least, root, select
from linkwise.spatial.vector import inner


def coefficients(samples: Array, degree: int) -> tuple[Array, Array]:
    """Interpolate a polynomial: complex orders 0 to its degree (degree + 1, 2), normalized to 1; and its error."""
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


def _polynomial(c: Array, z: Array, inverse: Any) -> tuple[Array, Array, Any]:
    """Value and derivative at z within the circle of p(z) = sum c_k z^(k + d); beyond it, of the reversed one at 1 / z.

    c_-k is the conjugate of c_k, so that the reversed polynomial is the conjugate of p at the image 1 / conj(z). `inverse`
    is 1 / |z|^2. Returns p, dp/dz (in numbers of the same scale: of the reversed r at y, (2 d r - y r') y), and above zero
    where z is beyond the circle.
    """
    far = 1.0 - inverse
    w = z * select(far, inverse, 1.0)
    rows = [np.array([c[k][0], -c[k][1]], dtype=object) for k in range(len(c) - 1, 0, -1)] + list(c)  # (orders -d to d)
    p: Array = np.zeros(2, dtype=object)
    d: Array = np.zeros(2, dtype=object)
    degree = len(rows) - 1
    for row in reversed(rows):
        d = _product(d, w) + p
        p = _product(p, w) + row
    outer = _product(degree * p - _product(w, d), w)
    d = np.array([select(far, outer[0], d[0]), select(far, -outer[1], d[1])], dtype=object)
    return np.array([p[0], select(far, -p[1], p[1])], dtype=object), d, far


def _product(a: Array, b: Array) -> Array:
    return np.array([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]], dtype=object)


def _quotient(a: Array, b: Array) -> Array:
    scale = 1.0 / (b[0] * b[0] + b[1] * b[1])
    return np.asarray(_product(a, np.array([b[0], -b[1]], dtype=object)) * scale)


def aberth_step(c: Array, roots: Array) -> tuple[Array, Array]:
    """Ehrlich-Aberth step for all roots (2 d, 2) of a polynomial (d + 1, 2); return also the longest step, relative.

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
        inverse = 1.0 / inner(roots[i], roots[i])
        p, d, _ = _polynomial(c, roots[i], inverse)
        step = _quotient(p, d - _product(p, sums[i]))
        share = (step[0] * step[0] + step[1] * step[1]) * inverse
        damped = select(share - 1.0, 1.0 / root(share), 1.0)  # (no step is longer than the root's distance from the origin)
        usable = select(1.0 + share, damped, 0.0)
        moved[i] = roots[i] - np.array([select(usable, part * damped, 0.0) for part in step], dtype=object)
        share = select(1.0 + share, share, 0.0)
        longest = select(share - longest, share, longest)
    return moved, np.asarray(root(longest))


def root_discs(c: Array, roots: Array, error: Any) -> tuple[Array, Array]:
    """Radii of discs about approximate roots that contain the true ones; each isolated disc contains exactly one.

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
    leading = root(inner(c[-1], c[-1]))
    count = len(roots)
    squares = [inner(z, z) for z in roots]
    gaps = [[root(inner(a - b, a - b)) if i != j else 0.0 for j, b in enumerate(roots)] for i, a in enumerate(roots)]
    radii: list[Any] = []
    inverses = [1.0 / square for square in squares]
    for i, inverse in enumerate(inverses):
        p, _, beyond = _polynomial(c, roots[i], inverse)
        share = select(beyond, root(inverse), 1.0)  # (the reversed polynomial is p(z) / z^(2 d))
        value = root(inner(p, p)) + (count + 1) * error
        product = leading
        for j in range(count):
            if j != i:
                product = product * (gaps[i][j] * share)
        radii.append(select(beyond, root(squares[i]), 1.0) * (count * value / product))
    margins = []
    for i, a in enumerate(roots):
        margin: Any = 0.1 - radii[i]
        for j, b in enumerate(roots):
            if j != i:
                # |1 / conj(a) - b| |a| = |1 - conj(a) b|, the same for both
                earlier, later = (a, b) if i < j else (b, a)
                image = root(_square_of_image(earlier, later)) * root(inverses[i])
                far = least(gaps[i][j], image) - 2.5 * (radii[i] + radii[j])
                margin = select(margin - far, far, margin)
        margins.append(margin)
    return np.array(radii, dtype=object), np.array(margins, dtype=object)


def _square_of_image(a: Array, b: Array) -> Any:
    """|1 - conj(a) b|^2."""
    real, imaginary = 1.0 - inner(a, b), a[0] * b[1] - a[1] * b[0]
    return real * real + imaginary * imaginary


#: The error of coefficients that counts is this many times the measured one, and at least the rounding of the determinants.
SAFETY, ROUNDING = 10.0, 1e-14

#: Roots this near to the circle (in the logarithm of their size) are tried as solutions.
NEAR_CIRCLE = 0.05

#: Tolerance of the distance of a solution from its root, rad, in addition to the radius of the root's disc.
STRAY = 1e-6

#: Classes of roots of `classified`.
OFF_CIRCLE, BESIDE_CIRCLE, CROWDED, ALONE = 0.0, 1.0, 2.0, 3.0


def classified(c: Array, roots: Array, error: Any) -> tuple[Array, Array, Array]:
    """Classify the roots (2 d, 2) of a polynomial whose coefficients have a measured error.

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
        # (NaN counts as on the circle, and not alone)
        kinds.append(select(abs(size - 1.0) - 2.0 * radius, beside, select(margin - 2.5 * STRAY, ALONE, CROWDED)))
    return radii, np.array(circle, dtype=object), np.array(kinds, dtype=object)


#: Greatest number of steps of the root finder, and the longest final step (relative to a root): convergence is cubic, and
#: the discs bound the remaining error.
ROOT_STEPS, AT_REST = 52, 1e-6


def root_step(parameters: Array, q0: Array, settings: Array, q: Array, aux: Array) -> tuple[Array, Array, Array]:
    """`aberth_step` in the form of an iteration: coefficients, first roots, no settings, roots, and the count of steps."""
    moved, longest = aberth_step(parameters.reshape(-1, 2), q.reshape(-1, 2))
    count = aux[0] + 1.0
    ended = select(AT_REST - longest[()], 1.0, select(count - (ROOT_STEPS - 0.5), 1.0, 0.0))
    return moved.ravel(), np.array([count], dtype=object), np.asarray(ended)


def roots_of(c: FloatArray) -> FloatArray:
    """The roots (N, 2 d, 2) of polynomials (N, d + 1, 2)."""
    degree, starts = c.shape[1] - 1, _starts(c.shape[1] - 1)
    begun = np.broadcast_to(starts, (len(c), len(starts)))
    if len(c) > 1:
        rows = root_iteration(degree)(c.reshape(len(c), -1), begun, begun[:0], NO_SETTINGS)
    else:
        rows = _one_root_iteration(degree)(c.reshape(1, -1), begun, begun[:0], NO_SETTINGS)
    return rows[:, : len(starts)].reshape(-1, 2 * degree, 2)


@cache
def _starts(degree: int) -> FloatArray:
    """The points (4 d,) from which roots are looked for."""
    k = np.arange(2 * degree)
    angles, sizes = np.pi * k / degree + 0.4, np.where(k % 2, 1.2, 0.75)
    return np.column_stack([sizes * np.cos(angles), sizes * np.sin(angles)]).ravel()


@cache
def root_iteration(degree: int) -> Descent:
    """`root_step` for polynomials of a degree, in a compiled loop."""
    return iteration(__name__, root_step, 2 * (degree + 1), 4 * degree, 1, f"root_step_{degree}")


@cache
def _one_root_iteration(degree: int) -> Any:
    """The same for one polynomial, as a gufunc: of fewer lanes divisions take less time."""
    return Descent(root_iteration(degree).program, lanes=2).ufunc


def samples_of(degree: int) -> int:
    """Number of samples of a polynomial of a degree; orders beyond the degree, up to half the samples, measure its error."""
    return 2 * degree + 4


def circle_points(degree: int) -> FloatArray:
    """The points (cos, sin) of the circle (S, 2) at which polynomials of a degree are sampled."""
    angles = 2.0 * np.pi * np.arange(samples_of(degree)) / samples_of(degree)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def declared(degree: int) -> dict[str, tuple[Any, Any, Any]]:
    """`coefficients` and `classified` for polynomials of a degree, with the shapes of their inputs and outputs."""
    c, roots = {"c": (degree + 1, 2)}, 2 * degree
    kinds = {"radii": (roots,), "circle": (roots, 2), "kind": (roots,)}
    return {
        "coefficients": (partial(coefficients, degree=degree), {"samples": (samples_of(degree),)}, {**c, "error": ()}),
        "classified": (classified, {**c, "roots": (roots, 2), "error": ()}, kinds),
    }


#: cosh of the distance of the other factors' roots from the circle, in the logarithm of their size.
AWAY = 1.25


def no_other_roots(samples: FloatArray, known: FloatArray, functions: Any) -> npt.NDArray[np.bool_]:
    """Mark polynomials (N,) without real roots other than the known ones.

    Roots that are near to each other spoil the discs about them, while samples of the polynomial stay as exact as they are.
    Divided by sin((t - t_k) / 2) for each known root t_k, and multiplied by as many factors whose roots are far from the
    circle, they are the samples of a polynomial of the same degree, whose higher orders vanish only if all of these were
    roots. What is left must have no root on the circle.

    Parameters
    ----------
    samples : (N, S)
        Values at S places on the circle, from 0 on.
    known : (N, K)
        Roots, rad, a double one twice; NaN where there are fewer.
    functions : mapping
        The kernels `coefficients` and `classified` for this degree.
    """
    t = 2.0 * np.pi * np.arange(samples.shape[1]) / samples.shape[1]
    counts = (~np.isnan(known)).sum(axis=1)
    usable = np.asarray((counts % 2 == 0) & (counts <= functions["classified"].tape.inputs["roots"][0]))
    with np.errstate(all="ignore"):
        factors = 2.0 * np.sin(0.5 * (t[:, None] - known[:, None, :]))
        divisor = np.where(np.isnan(factors), 1.0, factors).prod(axis=-1)
        c, error = functions["coefficients"](samples * _far_roots(t, known.shape[1] // 2)[counts // 2] / divisor)
        _, _, kind = functions["classified"](c, roots_of(c), error)
    return np.asarray(usable & (kind <= BESIDE_CIRCLE).all(axis=1))


def _far_roots(t: FloatArray, most: int) -> FloatArray:
    """Products of 0 to `most` factors with two roots each, at places (S,): (most + 1, S)."""
    directions = 0.3 + np.pi * (np.sqrt(5.0) - 1.0) * np.arange(most)
    factors = AWAY - np.cos(t - directions[:, None])
    return np.vstack([np.ones(len(t)), np.cumprod(factors, axis=0)])
