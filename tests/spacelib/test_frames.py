"""Frames on points and vectors: right handed for every pair of axes, on the side asked for, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import X, Y, Z
from linkwise.spacelib.position import aaxis, frame4p, frame4v, framep, framev
from support.messages import unnamed
from support.spacelib_figures import EPS, inner, on_expressions, on_sympy, parts, random_points, same_bits, unit

PAIRS = list(itertools.permutations((X, Y, Z), 2))
SMALL = 8 * EPS
"""A few roundings of numbers up to 1."""

every_pair = pytest.mark.parametrize("axes", PAIRS, ids=lambda axes: "".join("XYZ"[a] for a in axes))


def vectors(rng: np.random.Generator, *batch: int) -> np.ndarray:
    return rng.normal(size=(*batch, 3)) * 10 ** rng.uniform(-3, 3, (*batch, 1))


def is_rotation(r: np.ndarray) -> bool:
    """Orthonormal and right handed, to a few roundings."""
    off = np.abs(np.swapaxes(r, -1, -2) @ r - np.eye(3)).max()
    return bool(off <= SMALL and np.linalg.det(r).min() > 0)


@every_pair
def test_axes_of_a_frame(axes: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    v1, v2 = vectors(rng, 500), vectors(rng, 500)
    r = framev(v1, v2, *axes)
    a1, a2 = axes
    a3 = 3 - a1 - a2
    assert is_rotation(r)
    assert np.abs(r[..., a1] - unit(v1)).max() <= SMALL
    assert inner(r[..., a2], v2).min() > 0
    sense = 1 if axes in ((X, Y), (Y, Z), (Z, X)) else -1
    # The product of unit vectors is off by a rounding of 1, and as a direction by that over the sine, 0.01 or more here.
    assert np.abs(r[..., a3] - sense * unit(np.cross(unit(v1), unit(v2)))).max() <= 4 * EPS / 0.01


@every_pair
def test_scipy_aligns_the_axes_the_same_way(axes: tuple[int, int]) -> None:
    """SciPy's alignment of two vectors with infinite weight on the first: the second as near as it can be."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        v1, v2 = vectors(rng), vectors(rng)
        wanted, _ = Rotation.align_vectors([v1, v2], np.eye(3)[list(axes)], weights=[np.inf, 1.0])
        assert np.abs(framev(v1, v2, *axes) - wanted.as_matrix()).max() <= 1e-13  # it goes through angles and quaternions


@pytest.mark.parametrize("sine", [0.9, 1e-2, 1e-5, 1e-8, 2e-9])
def test_a_frame_is_orthonormal_also_on_nearly_parallel_vectors(sine: float) -> None:
    rng = np.random.default_rng(3)
    v1 = vectors(rng, 200)
    across = unit(np.cross(v1, rng.normal(size=(200, 3))))
    for sense in (1.0, -1.0):
        v2 = sense * 3 * unit(v1) + 3 * sine * across
        for axes in PAIRS:
            r = framev(v1, v2, *axes)
            assert is_rotation(r)
            # The rounding of the components of v2, over the sine.
            assert np.abs(r[..., axes[1]] - across).max() <= 8 * EPS / sine


def test_from_points_and_with_an_origin() -> None:
    rng = np.random.default_rng(4)
    p1, p2, p3 = (random_points(rng, 50) for _ in range(3))
    v1, v2 = p2 - p1, p3 - p1
    for axes in PAIRS:
        rotation = framev(v1, v2, *axes)
        assert np.abs(framep(p1, p2, p3, *axes) - rotation).max() <= SMALL
        for made in (frame4p(p1, p2, p3, *axes), frame4v(p1, v1, v2, *axes)):
            assert np.abs(made[:, :3, :3] - rotation).max() <= SMALL
            assert np.array_equal(made[:, :, 3], p1)
            assert np.array_equal(made[:, 3, :3], np.zeros((50, 3)))


def test_layouts() -> None:
    wanted = frame4p([5, 4, 3, 1], [5, 6, 4, 1], [5, 5, 5, 1], Z, X)
    assert np.array_equal(frame4p([5, 4, 3], (5, 6, 4), np.array([[5], [5], [5], [1]]), Z, X), wanted)
    assert np.array_equal(frame4v([[5], [4], [3]], [0, 2, 1, 0], [[0], [1], [2]], Z, X), wanted)
    assert np.array_equal(frame4v([[5, 4, 3]], [0, 2, 1], [0, 1, 2], Z, X), wanted[None])


@pytest.mark.parametrize("function", [framep, frame4p, framev, frame4v])
def test_a_batch_is_a_loop(function: Any) -> None:
    rng = np.random.default_rng(5)
    args = [random_points(rng, 3, 7) for _ in range(2 if function is framev else 3)]
    many = function(*args, Y, X)
    loop = [function(*(arg[i, j] for arg in args), Y, X) for i, j in np.ndindex(3, 7)]
    assert same_bits(many.reshape(21, *many.shape[2:]), loop)
    assert function(*(arg[:0] for arg in args), Y, X).shape == (0, 7, *many.shape[2:])


@pytest.mark.parametrize("function", [framep, frame4p, framev, frame4v])
@pytest.mark.parametrize("axes", [(X, Y), (Y, X)])
def test_symbols(function: Any, axes: tuple[int, int]) -> None:
    rng = np.random.default_rng(6)
    args = [*(random_points(rng) for _ in range(2 if function is framev else 3)), *axes]
    (wanted,) = parts(function(*args))
    for made in (on_sympy, on_expressions):
        (found,) = made(function, *args)
        assert np.abs(found - wanted).max() <= 1e-14  # a few dozen roundings


def test_the_exact_frame_of_an_arm() -> None:
    """Along a link turned by q in the plane, y upwards as far as can be."""
    q, size = sympy.symbols("q a", positive=True)
    c, s = sympy.cos(q), sympy.sin(q)
    made = frame4v([size, 0, 0], [size * c, size * s, 0], [-s, c, 0], X, Y)
    wanted = sympy.Matrix([[c, -s, 0, size], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert (sympy.Matrix(made) - wanted).applyfunc(sympy.simplify) == sympy.zeros(4)
    x, y, z = sympy.symbols("x y z", real=True)
    made = framev([x, y, z], [0, 0, 1], Z, X)
    wide, far = sympy.sqrt(x**2 + y**2), sympy.sqrt(x**2 + y**2 + z**2)
    across = sympy.Matrix([y, -x, 0]) / wide
    along = sympy.Matrix([x, y, z]) / far
    wanted = sympy.Matrix.hstack(across.cross(along), across, along)
    assert (sympy.Matrix(made) - wanted).applyfunc(sympy.simplify) == sympy.zeros(3)


def test_points_count_as_on_a_line_up_to_a_sine_or_their_rounding() -> None:
    for sine, fine in ((0.9e-9, False), (1.1e-9, True)):
        args = [[0, 0, 0], [2, 0, 0], [5, 5 * sine, 0], X, Y]
        if fine:
            assert np.array_equal(framep(*args), np.eye(3))
        else:
            with pytest.raises(ArgumentError, match=r"^framep: P1, P2 and P3 lie on one line$"):
                framep(*args)
    far = np.array([1e6, 0, 0])
    assert np.array_equal(framep(far, np.add(far, [1, 0, 0]), np.add(far, [0, 1e-6, 0]), X, Y), np.eye(3))
    with pytest.raises(ArgumentError, match="lie on one line"):
        framep(far, np.add(far, [1, 0, 0]), np.add(far, [0, 2e-9, 0]), X, Y)  # 16 units in the last place, thrice: 1.1e-8


def test_aaxis() -> None:
    assert np.array_equal([aaxis(n) for n in (X, Y, Z)], np.eye(3))
    aaxis(X)[:] = 5.0
    assert aaxis(X).tolist() == [1.0, 0.0, 0.0]


AXES = "expected 'X (0)', 'Y (1)' or 'Z (2)'"
POINT = "expected a point (..., 3), or (..., 4) that ends in 1"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: aaxis(3), f"aaxis: n is 3; {AXES}"),
        (lambda: aaxis(-1), f"aaxis: n is -1; {AXES}"),
        (lambda: framev([1, 0, 0], [0, 1, 0], 3, 0), f"framev: a1 is 3; {AXES}"),
        (lambda: framev([1, 0, 0], [0, 1, 0], 0, 1.5), f"framev: a2 is 1.5; {AXES}"),
        (lambda: framev([1, 0, 0], [0, 1, 0], 2, 2), "framev: a1 and a2 are both Z (2); expected two different axes"),
        (
            lambda: frame4p([1, 0, 0], [0, 1, 0], [0, 0, 1], 0, 0),
            "frame4p: a1 and a2 are both X (0); expected two different axes",
        ),
        (lambda: framev([1, 2], [0, 1, 0], 0, 1), "framev: v1 is [1, 2]; expected a vector (..., 3) or (..., 4)"),
        (lambda: framev([1, 2, 3], [0, np.nan, 0], 0, 1), "framev: v2 is nan at (1,); expected finite numbers"),
        (lambda: frame4v([1, 2, 3, 0], [1, 0, 0], [0, 1, 0], 0, 1), f"frame4v: P1 is [1, 2, 3, 0]; {POINT}"),
        (lambda: framev([1, 2, 3], [-2, -4, -6], 0, 1), "framev: v1 and v2 are parallel, or one is null"),
        (lambda: framev([0, 0, 0], [1, 0, 0], 0, 1), "framev: v1 and v2 are parallel, or one is null"),
        (lambda: framev([1, 0, 0], [0, 0, 0], 0, 1), "framev: v1 and v2 are parallel, or one is null"),
        (lambda: framev([1, 0, 0], [0, 1e160, 0], 0, 1), "framev: v1 or v2 is longer than 1e70"),
        (lambda: framep([0, 0, 0], [1e80, 0, 0], [0, 1e80, 0], 0, 1), "framep: P1, P2 and P3 are more than 1e70 apart"),
        (lambda: frame4v([1, 2, 3], [0, 0, 0], [1, 0, 0], 0, 1), "frame4v: v1 and v2 are parallel, or one is null"),
        (lambda: framep([1, 2, 3], [1, 2, 3], [1, 0, 0], 0, 1), "framep: P1, P2 and P3 lie on one line"),
        (lambda: frame4p([0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [0.3, 0.6, 0.9], 0, 1), "frame4p: P1, P2 and P3 lie on one line"),
        (
            lambda: framev([[1, 0, 0]] * 3, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], 0, 1),
            "framev: v1 and v2 are parallel, or one is null, at (2,) of the batch",
        ),
        (
            lambda: framev(np.ones((2, 3)), np.ones((4, 3)), 0, 1),
            "framev: the batch shapes do not fit each other: v1 (2,), v2 (4,)",
        ),
    ],
)
def test_malformed(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []
