"""Matrices made orthogonal, symmetric or skew: the polar factor by singular values, and what has none."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import SKEW_, SYMM_
from linkwise.spacelib.transformations import normal, normal3, normal_g, normskew
from support.random_mechanisms import random_pose, random_rotation
from support.spacelib_figures import EPS, on_expressions, on_sympy, same_bits

SMALL = 32 * EPS
NOT_POSITIVE = "the determinant of the 3x3 block is not above zero by more than rounding; a rotation has 1"


FAR_APART = [
    (1, 1, 1),
    (3, 2, 1),
    (1, 1, 1e-3),
    (1, 1e-3, 1e-3),
    (1, 1, 1e-9),
    (1, 1e-6, 1e-6),
    (1, 1, 1e-13),
    (1e-4, 1, 1e4),
    (1, 1e-4, 1e-9),
]
"""Singular values."""


def polar(a: np.ndarray) -> np.ndarray:
    """The orthogonal factor from singular values to 30 digits. (NumPy's own are off by 30 EPS where two are equal.)"""
    with mpmath.workdps(30):
        left, _, right = mpmath.svd_r(mpmath.matrix(a.tolist()))
        return np.array((left * right).tolist(), dtype=float)


def stretched(rng: np.random.Generator, values: Any) -> np.ndarray:
    return np.asarray(random_rotation(rng) @ np.diag(values) @ random_rotation(rng))


@pytest.mark.parametrize("error", [0.0, 1e-15, 1e-6, 1e-2, 0.2])
def test_a_rotation_with_errors(error: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        rotation = random_rotation(rng)
        a = rotation + error * rng.uniform(-1, 1, (3, 3))
        made = normal3(a)
        assert np.abs(made @ made.T - np.eye(3)).max() <= 8 * EPS
        assert np.abs(made - polar(a)).max() <= 4 * EPS
        assert np.abs(made - rotation).max() <= 3 * error + SMALL  # nine errors, as a sum of squares


@pytest.mark.parametrize("values", FAR_APART)
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_singular_values_far_apart(values: tuple[float, ...], size: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(4):
        a = stretched(rng, values)
        made = normal3(a * size)
        assert np.abs(made @ made.T - np.eye(3)).max() <= 8 * EPS
        # An error of a in its last place turns the factor by that over the sum of the two least singular values.
        low = sorted(values)
        assert np.abs(made - polar(a)).max() <= 4 * EPS * low[2] / (low[0] + low[1])


def test_more_and_smaller_steps_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of steps is enough: the worst matrices come out the same with twice as many."""
    from linkwise.spatial import rotation

    rng = np.random.default_rng(3)
    for low in (1e-3, 1e-6, 1e-9, 1e-13):
        a = stretched(rng, (1.0, min(1.0, 1e-13 / low), low))
        once, measure = rotation.nearest_rotation(a)
        assert measure > 0
        with monkeypatch.context() as patch:
            patch.setattr(rotation, "POLAR_STEPS", 2 * rotation.POLAR_STEPS)
            assert np.abs(once - rotation.nearest_rotation(a)[0]).max() <= 8 * EPS


def test_only_the_block_changes() -> None:
    rng = np.random.default_rng(4)
    pose = random_pose(rng)
    a = pose.copy()
    a[:3, :3] *= 1.01
    made = normal(a)
    assert np.abs(made - pose).max() <= SMALL
    assert np.array_equal(made[:3, 3], pose[:3, 3])
    assert a[0, 0] == 1.01 * pose[0, 0]
    wide = rng.normal(size=(3, 5))
    wide[:, :3] = pose[:3, :3]
    assert np.array_equal(normal(wide)[:, 3:], wide[:, 3:])
    assert np.array_equal(normal(pose[:3, :3]), normal3(pose[:3, :3]))


def test_batches_are_loops() -> None:
    rng = np.random.default_rng(5)
    poses = np.array([random_pose(rng) for _ in range(17)]) + 0.01 * rng.normal(size=(17, 4, 4))
    for function in (normal, normal_g):
        assert same_bits(function(poses), [function(one) for one in poses])
    assert same_bits(normal3(poses[:, :3, :3]), [normal3(one) for one in poses[:, :3, :3]])
    for part in (SYMM_, SKEW_):
        assert same_bits(normskew(poses, part), [normskew(one, part) for one in poses])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12])
def test_any_size(n: int) -> None:
    rng = np.random.default_rng(n)
    for size in (1e-150, 1.0, 1e150):
        a = rng.normal(size=(n, n))
        made = normal_g(a * size)
        assert np.abs(made @ made.T - np.eye(n)).max() <= SMALL * n
        assert np.linalg.det(made) == pytest.approx(np.sign(np.linalg.det(a)), abs=SMALL * n)
        # Of all orthogonal matrices it is the nearest: made' a is symmetric and positive.
        stretch = made.T @ a
        assert np.abs(stretch - stretch.T).max() <= SMALL * n * np.abs(a).max()
        assert np.linalg.eigvalsh(stretch + stretch.T).min() > 0
    good = np.diag([1.0, 1.0, -1.0])
    assert np.abs(normal_g(good) - good).max() <= EPS


def test_parts() -> None:
    rng = np.random.default_rng(6)
    a = rng.normal(size=(5, 5))
    symmetric, skew = normskew(a, SYMM_), normskew(a, SKEW_)
    assert np.array_equal(symmetric, symmetric.T)
    assert np.array_equal(skew, -skew.T)
    assert np.abs(symmetric + skew - a).max() <= 4 * EPS * 3
    assert normskew(np.full((2, 2), 1.7e308), SYMM_).tolist() == [[1.7e308] * 2] * 2
    assert normskew([[1, 2], [4, 3]], SKEW_).tolist() == [[0, -1], [1, 0]]


def test_symbols() -> None:
    a, b, c, d = sympy.symbols("a b c d")
    assert normskew([[a, b], [c, d]], SYMM_).tolist() == [[a, b / 2 + c / 2], [b / 2 + c / 2, d]]
    assert normskew([[a, b], [c, d]], SKEW_).tolist() == [[0, b / 2 - c / 2], [c / 2 - b / 2, 0]]
    rng = np.random.default_rng(7)
    m = random_rotation(rng) + 0.01 * rng.normal(size=(3, 3))
    for on_symbols in (on_sympy, on_expressions):
        for part in (SYMM_, SKEW_):
            assert np.abs(on_symbols(normskew, m, part)[0] - normskew(m, part)).max() <= 4 * EPS
    for function in (normal, normal3):
        assert np.abs(on_expressions(function, m)[0] - normal3(m)).max() <= SMALL


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: normal(np.diag([1, 1, -1, 1])), f"normal: {NOT_POSITIVE}"),
        (lambda: normal3(np.zeros((3, 3))), f"normal3: {NOT_POSITIVE}"),
        (lambda: normal3([np.eye(3), np.arange(9).reshape(3, 3)]), f"normal3: {NOT_POSITIVE}, at (1,) of the batch"),
        (lambda: normal(np.ones((2, 3))), "normal: A is of shape (2, 3); expected a matrix (..., 3, 3) or larger"),
        (lambda: normal(np.full((3, 3), math.nan)), "normal: A is nan at (0, 0); expected finite numbers"),
        (lambda: normal3(np.eye(4)), "normal3: R is of shape (4, 4); expected a matrix (..., 3, 3)"),
        (lambda: normal_g(np.arange(16).reshape(4, 4)), "normal_g: A is singular"),
        (lambda: normal_g([np.eye(2), np.ones((2, 2))]), "normal_g: A is singular, at (1,) of the batch"),
        (lambda: normal_g(np.ones((2, 3))), "normal_g: A is of shape (2, 3); expected a square matrix (..., n, n)"),
        (
            lambda: normal(np.diag([sympy.Symbol("a"), 1, 1])),
            "normal: SymPy symbols are not taken; the matrix is found by an iteration on numbers",
        ),
        (
            lambda: normal_g(np.diag([sympy.Symbol("a"), 1, 1])),
            "normal_g: symbols are not taken; the matrix is found from singular values of numbers",
        ),
        (lambda: normskew(np.eye(2), 0), "normskew: sign is 0; expected SYMM_ (1) or SKEW_ (-1)"),
        (lambda: normskew(np.ones((2, 3)), 1), "normskew: A is of shape (2, 3); expected a square matrix (..., n, n)"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert str(error.value).replace("'", "") == message
