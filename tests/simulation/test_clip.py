"""Limits over numbers and over expressions."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import ArgumentError
from linkwise.simulation import Feedback, saturated, simulate

ARM = robots.planar_2r()
X = np.array([-1e300, -2.0, -np.nextafter(1.0, 2.0), -1.0, -0.3, 0.0, 1e-300, 0.7, 3.0, np.nextafter(3.0, 4.0), 5.0, 1e300])


def test_numbers_to_the_bit() -> None:
    assert np.array_equal(saturated(X, -1.0, 3.0), np.clip(X, -1.0, 3.0))
    low, high = -np.ones((3, 1)), np.array([[-1.0], [0.1], [3.0]])
    assert np.array_equal(saturated(X, low, high), np.clip(X, low, high))
    assert saturated(5.0, -1, 2) == 2.0
    assert np.isnan(saturated(np.nan, -1.0, 1.0))


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_expressions_to_the_bit(backend: str) -> None:
    law = Feedback(lambda t, q, qd, least, most: saturated(q, least, [most, 3.0]), least=-1.0, most=0.5)
    made = law.kernel(ARM, backend)(0.0, np.stack([X, X], axis=1), np.zeros(2), -1.0, 0.5)
    assert np.array_equal(made, np.stack([np.clip(X, -1.0, 0.5), np.clip(X, -1.0, 3.0)], axis=1))
    one = Feedback(lambda t, q, qd: [saturated(q[0], -1.0, 1.0), 0.0])
    assert one(ARM, 0.0, [4.0, 0.0], [0.0, 0.0]).tolist() == [1.0, 0.0]


def test_motor_limits_in_a_simulation() -> None:
    made = simulate(ARM, torque=Feedback(lambda t, q, qd: saturated(90.0 * (1.0 - q), -20.0, 20.0)), t=(0.5, 1e-3))
    assert np.array_equal(made.tau, np.clip(90.0 * (1.0 - made.q), -20.0, 20.0))
    assert made.tau.min() < 20.0 == made.tau.max()


@pytest.mark.parametrize(("least", "most"), [(1.0, -1.0), (-np.inf, 1.0), (0.0, [1.0, np.nan])])
def test_limits_that_are_none(least: object, most: object) -> None:
    with pytest.raises(ArgumentError, match="expected finite numbers, least <= most"):
        saturated(0.0, least, most)
