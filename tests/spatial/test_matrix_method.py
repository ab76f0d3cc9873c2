"""W, H, J and Phi against what they mean: velocities, accelerations, integrals and forces of points."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linkwise.spatial.matrix_method import (
    acceleration_matrix,
    action_matrix,
    compose_acceleration,
    gravity_matrix,
    pseudo_inertia,
    skew_part,
    tensor_to_frame,
    to_frame,
    velocity_matrix,
)
from linkwise.spatial.transform import inverse
from support.random_mechanisms import random_pose

seeds = st.integers(0, 2**16)
SMALL = 2e-14
"""Some dozen roundings of numbers up to about 10."""


@given(seeds)
def test_velocity_and_acceleration_of_points(seed: int) -> None:
    omega, alpha, v, a, p = np.random.default_rng(seed).normal(size=(5, 3))
    point = np.append(p, 1.0)
    wanted_v = v + np.cross(omega, p)
    wanted_a = a + np.cross(alpha, p) + np.cross(omega, np.cross(omega, p))
    assert np.abs(velocity_matrix(omega, v) @ point - np.append(wanted_v, 0)).max() <= SMALL
    assert np.abs(acceleration_matrix(omega, alpha, a) @ point - np.append(wanted_a, 0)).max() <= SMALL
    assert np.array_equal(gravity_matrix(a) @ point, np.append(a, 0))


@given(seeds)
def test_coriolis(seed: int) -> None:
    """A point fixed in a frame that turns in a frame that turns: H by composition is dW/dt + W W of the whole."""
    rng = np.random.default_rng(seed)
    first, second = (velocity_matrix(*rng.normal(size=(2, 3))) for _ in range(2))
    # Constant twists, as matrices that act in the fixed frame: T(t) = exp(t W1) exp(t W2), dT/dt = W T at t = 0.
    relative_h = second @ second
    carrier_h = first @ first
    found = compose_acceleration(carrier_h, relative_h, first, second)
    step = 1e-4

    def pose(t: float) -> np.ndarray:
        return series(t * first) @ series(t * second)

    # Second central difference: h^2 f''''/12 = 1e-8 x 1e2, rounding 4 eps / h^2 = 1e-7.
    wanted = (pose(step) - 2 * np.eye(4) + pose(-step)) / step**2
    assert np.abs(found - wanted).max() <= 3e-6


def series(matrix: np.ndarray) -> np.ndarray:
    """The exponential of a small matrix."""
    total, term = np.eye(4), np.eye(4)
    for k in range(1, 12):
        term = term @ matrix / k
        total = total + term
    return total


@given(seeds)
def test_pseudo_inertia_of_point_masses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    masses, points = rng.uniform(0.1, 1, 7), rng.normal(size=(7, 3))
    mass, com = masses.sum(), masses @ points / masses.sum()
    arms = points - com
    tensor = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    homogeneous = np.column_stack([points, np.ones(7)])
    wanted = homogeneous.T @ (masses[:, None] * homogeneous)
    assert np.abs(pseudo_inertia(mass, com, tensor) - wanted).max() <= SMALL


@given(seeds)
def test_action_of_accelerated_point_masses(seed: int) -> None:
    """H J - its transpose is the sum of m a and of r x m a."""
    rng = np.random.default_rng(seed)
    masses, points = rng.uniform(0.1, 1, 5), rng.normal(size=(5, 3))
    homogeneous = np.column_stack([points, np.ones(5)])
    h = acceleration_matrix(*rng.normal(size=(3, 3)))
    accelerations = (homogeneous @ h.T)[:, :3] * masses[:, None]
    phi = skew_part(h, homogeneous.T @ (masses[:, None] * homogeneous))
    wanted = action_matrix(accelerations.sum(axis=0), np.cross(points, accelerations).sum(axis=0))
    assert np.abs(phi - wanted).max() <= 10 * SMALL


@given(seeds)
def test_changes_of_frame(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pose, p = random_pose(rng), np.append(rng.normal(size=3), 1.0)
    w = velocity_matrix(*rng.normal(size=(2, 3)))
    there = to_frame(w, pose)
    assert np.abs(there @ (pose @ p) - pose @ (w @ p)).max() <= SMALL
    assert np.abs(to_frame(there, inverse(pose)) - w).max() <= SMALL
    force, moment = rng.normal(size=(2, 3))
    turned = pose[:3, :3] @ force
    wanted = action_matrix(turned, pose[:3, :3] @ moment + np.cross(pose[:3, 3], turned))
    assert np.abs(tensor_to_frame(action_matrix(force, moment), pose) - wanted).max() <= SMALL
