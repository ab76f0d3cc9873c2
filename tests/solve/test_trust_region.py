"""How limits push back in a step."""

from __future__ import annotations

import numpy as np

from linkwise.solve.trust_region import pushed_back


def test_the_least_push_that_passes_no_limit() -> None:
    """Multipliers y >= 0 with x = rows.T @ y, rows @ x >= over, and none where the limit is not touched."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows, over = rng.normal(size=(4, 6)), rng.normal(size=4)
        push = pushed_back(rows, over)
        room = rows @ (rows.T @ push) - over
        assert (push >= 0.0).all()
        assert (room >= -1e-11).all()  # (a solution of up to four equations, conditions of some hundreds)
        assert np.abs(push * room).max() < 1e-10


def test_an_open_limit_does_not_hide_one_that_is_passed() -> None:
    assert np.abs(pushed_back(np.eye(2), np.array([0.5, -np.inf])) - [0.5, 0.0]).max() < 1e-15
    assert np.abs(pushed_back(np.eye(2), np.array([0.5, -1e40])) - [0.5, 0.0]).max() < 1e-15
