"""Motions and forces as six-vectors, against the sums over points of mass that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.spatial.spatial_vectors import (
    around,
    coriolis_times,
    coriolis_transposed_times,
    force_cross,
    inertia_times,
    momentum_matrix,
    motion_cross,
)

BOUND = 1e-14
"""Sums of ten products of unit size."""

rng = np.random.default_rng(1)
POINTS, MASSES = rng.normal(size=(10, 3)), rng.uniform(0.1, 1.0, 10)
PSEUDO = sum(m * np.outer(np.append(p, 1), np.append(p, 1)) for m, p in zip(MASSES, POINTS, strict=True))
V, U, F = rng.normal(size=(3, 6))


def at(motion: np.ndarray, point: np.ndarray) -> np.ndarray:
    return motion[:3] + np.cross(motion[3:], point)


def gathered(forces: list[np.ndarray]) -> np.ndarray:
    """Force and moment of a force on each point."""
    return np.concatenate([np.sum(forces, axis=0), np.sum(np.cross(POINTS, forces), axis=0)])


def near(found: object, wanted: np.ndarray) -> bool:
    return bool(np.abs(np.asarray(found, dtype=float) - wanted).max() <= BOUND * max(np.abs(wanted).max(), 1.0))


def test_momentum_is_the_sum_over_points() -> None:
    assert near(inertia_times(PSEUDO, U), gathered([m * at(U, p) for m, p in zip(MASSES, POINTS, strict=True)]))


def test_momentum_matrix() -> None:
    wanted = sum(m * np.outer(at(V, p), np.append(p, 1)) for m, p in zip(MASSES, POINTS, strict=True))
    assert near(momentum_matrix(PSEUDO, V), np.asarray(wanted))


def test_the_coriolis_matrix_of_a_body() -> None:
    """B u: each point of velocity v receives m (w x v), w of u; B v is all that I dv/dt leaves out; B' is its transpose."""
    momentum = momentum_matrix(PSEUDO, V)
    wanted = gathered([m * np.cross(U[3:], at(V, p)) for m, p in zip(MASSES, POINTS, strict=True)])
    assert near(coriolis_times(momentum, U), wanted)
    assert near(coriolis_times(momentum, V), np.asarray(force_cross(V, inertia_times(PSEUDO, V)), dtype=float))
    table = np.stack([coriolis_times(momentum, unit) for unit in np.eye(6)], axis=1).astype(float)
    assert near(np.concatenate([np.zeros(3), coriolis_transposed_times(momentum, U)]), table.T @ U)


def test_the_rate_of_an_inertia_less_twice_b_is_skew() -> None:
    """In the body's axes the inertia is constant, and its rate in still axes is v x* I - I v x: B's symmetric part twice."""
    momentum = momentum_matrix(PSEUDO, V)
    b = np.stack([coriolis_times(momentum, unit) for unit in np.eye(6)], axis=1).astype(float)
    rate = np.stack(
        [
            np.asarray(force_cross(V, inertia_times(PSEUDO, e))) - np.asarray(inertia_times(PSEUDO, motion_cross(V, e)))
            for e in np.eye(6)
        ],
        axis=1,
    ).astype(float)
    left = rate - 2 * b
    assert near(left + left.T, np.zeros((6, 6)))
    assert np.abs(rate).max() > 1


def test_crosses_are_adjoint() -> None:
    """Power is the same seen from anywhere: (v x u) . f = -u . (v x* f); and v x v = 0."""
    assert float(motion_cross(V, U) @ F) == pytest.approx(-float(U @ force_cross(V, F)), abs=1e-14)
    assert not np.any(np.asarray(motion_cross(V, V), dtype=float))


def test_around() -> None:
    block = PSEUDO[:3, :3]
    wanted = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(MASSES, POINTS, strict=True))
    assert near(around(block), np.asarray(wanted))
    assert near(around(np.arange(9.0).reshape(3, 3)), 12 * np.eye(3) - np.arange(9.0).reshape(3, 3))
