"""Trigonometric polynomials whose roots are known: whether there are others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwise.inverse_kinematics.closed_form.circle_determinant import DEGREE, kernels
from linkwise.inverse_kinematics.closed_form.circle_roots import no_other_roots, samples_of

SAMPLES = samples_of(DEGREE)
T = 2.0 * math.pi * np.arange(SAMPLES) / SAMPLES


def samples(real: np.ndarray, pairs: np.ndarray, distance: float = 0.4) -> np.ndarray:
    """A polynomial with real roots, and pairs of roots as far from the circle (in the logarithm of their size)."""
    factors = np.sin(0.5 * (T - real[:, None])).prod(axis=0)
    return np.asarray(factors * (math.cosh(distance) - np.cos(T - pairs[:, None])).prod(axis=0))


CLUSTER = np.array([0.31, 0.3101, 0.311, 0.3151, 2.0, 2.0])
PAIRS = np.array([-2.0, -1.0, 1.2, 2.5, 0.31])


def proven(values: np.ndarray, known: list[float]) -> bool:
    return bool(no_other_roots(values[None], np.array([known]), kernels())[0])


def test_all_roots_of_a_cluster_are_known() -> None:
    assert proven(samples(CLUSTER, PAIRS), [*CLUSTER])
    assert proven(samples(CLUSTER, PAIRS), [*CLUSTER, math.nan, math.nan])


@pytest.mark.parametrize("without", [(0, 1), (0, 3), (4, 5), (1, 4)])
def test_two_roots_are_not_known(without: tuple[int, int]) -> None:
    assert not proven(samples(CLUSTER, PAIRS), [*np.delete(CLUSTER, without)])


def test_what_is_no_root_proves_nothing() -> None:
    known = CLUSTER.copy()
    known[4] += 1e-3
    assert not proven(samples(CLUSTER, PAIRS), [*known])
    assert not proven(samples(CLUSTER, PAIRS), [*CLUSTER, 1.0, 1.5])
    assert not proven(samples(CLUSTER, PAIRS), [*CLUSTER[:5]])  # (an odd number of real roots cannot be all)
    assert not proven(samples(CLUSTER, PAIRS), [0.1] * 18)


def test_roots_beside_the_circle_are_told_from_roots_on_it() -> None:
    """The distance of a double root from the circle is known to the root of the error of the coefficients."""
    assert proven(samples(CLUSTER, PAIRS, 1e-3), [*CLUSTER])
    assert not proven(samples(CLUSTER, PAIRS, 1e-9), [*CLUSTER])


def test_no_roots_at_all() -> None:
    everywhere = np.linspace(0.0, 5.0, 8)
    assert proven(samples(np.zeros(0), everywhere), [math.nan, math.nan])
    assert no_other_roots(samples(np.zeros(0), everywhere)[None], np.zeros((1, 0)), kernels())[0]
    assert not proven(np.full(SAMPLES, math.nan), [math.nan])
