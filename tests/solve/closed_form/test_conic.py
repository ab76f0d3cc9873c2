"""Where a conic meets the unit circle, against the roots of the polynomial that it is in exp(i angle)."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.kernel import Kernel, trace
from linkwise.solve.closed_form.conic import on_circle
from linkwise.spatial.scalar import Array


@pytest.fixture(scope="module")
def solve() -> Kernel:
    def roots(x: Array) -> Array:
        return np.array([[turn.c, turn.s] for turn in on_circle(*x)], dtype=object)

    return Kernel(trace(roots, "roots", {"x": (6,)}, {"turns": (4, 2)}), "numpy")


def _angles(solve: Kernel, x: np.ndarray) -> np.ndarray:
    turns = solve(x)
    assert np.abs(np.linalg.norm(turns, axis=-1) - 1.0).max() < 1e-14
    return np.arctan2(turns[..., 1], turns[..., 0])


def _expected(x: np.ndarray) -> np.ndarray:
    """The real angles, by the eigenvalues of the companion matrix."""
    xx, xy, yy, c, s, one = x
    second, first = 0.25 * (xx - yy) - 0.5j * xy, c - 1j * s
    z = np.roots([second, first, one + 0.5 * (xx + yy), np.conj(first), np.conj(second)])
    return np.angle(z[np.abs(np.abs(z) - 1.0) < 1e-9])


def _lines(one: np.ndarray, other: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Coefficients (k, 6) of the product of two lines (k, 3), and t times the circle more."""
    (a, b, c), (d, e, f) = one.T, other.T
    return np.stack(
        [a * d + t, 0.5 * (a * e + b * d), b * e + t, 0.5 * (a * f + c * d), 0.5 * (b * f + c * e), c * f - t], axis=1
    )


def _chord(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    middle, half = 0.5 * (first + second), 0.5 * (first - second)
    return np.stack([np.cos(middle), np.sin(middle), -np.cos(half)], axis=1)


@pytest.mark.parametrize("flat", [1.0, 1e-4, 1e-9, 0.0])
def test_every_real_root_is_found(solve: Kernel, flat: float) -> None:
    """Down to conics that are a line, or a circle about the same centre and a line."""
    x = np.random.default_rng(0).normal(size=(300, 6))
    x[:, 2] = x[:, 0] + flat * x[:, 2]
    x[:, 1] *= flat
    found = _angles(solve, x)
    for row, angles in zip(x, found, strict=True):
        for angle in _expected(row):
            assert np.abs(np.exp(1j * angles) - np.exp(1j * angle)).min() < 1e-6


@pytest.mark.parametrize("least", [1.0, 1e-3, 1e-6])
def test_four_known_roots(solve: Kernel, least: float) -> None:
    rng = np.random.default_rng(1)
    roots = rng.uniform(-np.pi, np.pi, (500, 4))
    roots[:, 1] = roots[:, 0] + least * rng.uniform(0.5, 1.0, 500)
    x = _lines(_chord(roots[:, 0], roots[:, 2]), _chord(roots[:, 1], roots[:, 3]), rng.normal(size=500))
    found = _angles(solve, x)
    away = np.abs(np.exp(1j * found[:, :, None]) - np.exp(1j * roots[:, None])).min(axis=1)
    gap = np.abs(np.exp(1j * roots[:, :, None]) - np.exp(1j * roots[:, None])) + 9.0 * np.eye(4)
    near = np.sort(gap, axis=2)[..., 0]
    # a root is as uncertain as rounding over the slope there, which is about the distance to the next root
    assert np.quantile(away * near, 0.99) < 1e-13
    assert away[near > 0.1].max() < 1e-9


@pytest.mark.parametrize("other", ["misses", "cuts"])
def test_tangents(solve: Kernel, other: str) -> None:
    """A double root is found to half the digits, and no step of refinement leaves it."""
    rng = np.random.default_rng(2)
    first, second = rng.uniform(-np.pi, np.pi, (2, 2000))
    line = np.stack(
        [np.cos(second), np.sin(second), -(1.05 + rng.random(2000) if other == "misses" else 0.9 * rng.random(2000))], 1
    )
    found = _angles(solve, _lines(_chord(first, first), line, rng.normal(size=2000)))
    away = np.abs(np.exp(1j * found) - np.exp(1j * first)[:, None]).min(axis=1)
    assert np.quantile(away, 0.99) < 1e-6
    assert away.max() < 1e-3
