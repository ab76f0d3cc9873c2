"""Straight-line elimination: against NumPy, on dense and sparse systems, on floats and compiled."""

from __future__ import annotations

import numpy as np

from linkwise.kernel import Kernel, trace
from linkwise.spatial.linear import solve


def test_as_numpy_solves_them() -> None:
    """Sizes 1 to 6, six elements of ten there; the error is some ten units in the last place, times the condition."""
    rng = np.random.default_rng(0)
    seen = worst = 0.0
    for _ in range(300):
        n = int(rng.integers(1, 7))
        matrix, right = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.6), rng.normal(size=(n, 2))
        if abs(np.linalg.det(matrix)) < 1e-6:
            continue
        found = solve(matrix.astype(object), right.astype(object))
        error = np.abs(found.unknowns.astype(float) - np.linalg.solve(matrix, right)).max() / np.linalg.cond(matrix)
        worst, seen = max(worst, error), seen + 1
        assert np.sign(found.sign) == np.sign(np.linalg.det(matrix))
    print(f"{seen} systems, error over condition at most {worst:.1e}")
    assert seen > 150
    assert worst < 1e-12


def test_no_pivot_is_taken_for_granted() -> None:
    """One compiled function solves permuted systems, whose natural pivots are all zero, as it does others."""
    shapes = {"matrix": (3, 3), "right": (3,)}

    def function(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = solve(matrix, right[:, None])
        return found.unknowns[:, 0], np.asarray(found.sign)

    kernel = Kernel(trace(function, "solve", shapes, {"x": (3,), "sign": ()}))
    rng = np.random.default_rng(1)
    for order in ([0, 1, 2], [1, 2, 0], [2, 1, 0], [1, 0, 2]):
        for matrix in (np.eye(3)[order], np.triu(rng.normal(size=(3, 3)))[order]):
            right = rng.normal(size=3)
            x, sign = kernel(matrix, right)
            assert np.allclose(matrix @ x, right, rtol=0, atol=1e-13 * np.linalg.cond(matrix))
            assert np.sign(sign) == np.sign(np.linalg.det(matrix))


def test_structurally_singular_has_no_answer() -> None:
    found = solve(np.array([[1.0, 0.0], [2.0, 0.0]], dtype=object), np.ones((2, 1), dtype=object))
    assert not np.isfinite(found.unknowns.astype(float)).any()
    assert found.sign == 0.0
