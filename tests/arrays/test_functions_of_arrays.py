"""Methods that compute with NumPy's functions on the results of kernels take arrays of other libraries, with derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import arrays, robots
from support.libraries import DIFFERENTIABLE, library_of

ARM = robots.planar_3r()
Q = np.array([[0.3, 0.8, -0.5], [-1.0, 0.4, 0.9]])
PLANE = [1, 1, 0, 0, 0, 0]
STEP = 1e-6

CALLS: dict[str, Callable[[Any], Any]] = {
    "manipulability": lambda q: ARM.manipulability(q, mask=PLANE),
    "isotropy": lambda q: ARM.manipulability(q, mask=PLANE, measure="isotropy"),
    "dynamic_manipulability": lambda q: ARM.dynamic_manipulability(q, mask=PLANE),
    "asada": lambda q: ARM.dynamic_manipulability(q, mask=PLANE, measure="asada"),
    "operational_space_inertia": lambda q: ARM.operational_space_inertia(q, mask=PLANE),
    "coriolis": lambda q: ARM.operational_space_dynamics(q, 0.3 * q, mask=PLANE).coriolis,
    "nullspace": lambda q: ARM.operational_space_dynamics(q, q, mask=PLANE).nullspace,
    "difference": lambda q: ARM.difference(q, Q[1]),
    "interpolate": lambda q: ARM.interpolate(Q[1], q, 0.25),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_values_and_derivatives(module: str, name: str) -> None:
    """The derivative against central differences, whose error is of the order of 1e-10 with steps of 1e-6."""
    call, rng = CALLS[name], np.random.default_rng(1)
    wanted = np.asarray(call(Q))
    weights, direction = rng.normal(size=wanted.shape), rng.normal(size=Q.shape)
    with library_of(module) as library:
        values = call(library.array(Q))
        slope = np.asarray(library.jacrev(lambda q: (call(q) * library.array(weights)).sum())(library.array(Q)))
        assert type(values) is type(library.array(Q))
        assert np.abs(np.asarray(values) - wanted).max() <= 1e-12 * max(1.0, np.abs(wanted).max())
    change = (call(Q + STEP * direction) - call(Q - STEP * direction)) / (2 * STEP)
    error = abs((slope * direction).sum() - (change * weights).sum()) / max(1.0, np.abs(change).max())
    print(f"{error:.1e}")
    assert error < 1e-8


@pytest.mark.parametrize("name", CALLS)
def test_dask_computes_later(name: str) -> None:
    dask = pytest.importorskip("dask.array")
    lazy = CALLS[name](dask.from_array(Q, chunks=(1, 3)))
    assert isinstance(lazy, dask.Array)
    assert np.abs(lazy.compute() - CALLS[name](Q)).max() <= 1e-14 * np.abs(lazy).max()


def test_what_has_no_inverse_has_the_derivative_of_its_pseudo_inverse() -> None:
    """The tip of a single link has a mass across the link, m = I / l^2, and along it none: m n n', n' turns with it."""
    arm, angle = robots.planar_3r().lock({"link2": 0.0, "link3": 0.0}), 0.4
    with library_of("torch") as library:
        q = library.array([angle])
        inertia = np.asarray(arm.operational_space_inertia(q, mask=PLANE))
        slope = np.asarray(library.jacrev(lambda q: arm.operational_space_inertia(q, mask=PLANE))(q))[..., 0]
    mass = arm.mass_matrix(q.numpy())[0, 0] / np.sum(arm.forward_kinematics(q.numpy())[:2, 3] ** 2)
    across, along = np.array([-np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    assert np.abs(inertia - mass * np.outer(across, across)).max() < 1e-14 * mass
    assert np.abs(slope + mass * (np.outer(along, across) + np.outer(across, along))).max() < 1e-13 * mass


def test_numbers_are_floats() -> None:
    assert arrays.numbers("f", [1, 2]).dtype == np.float64
    narrow = np.zeros(2, np.float32)
    assert arrays.numbers("f", narrow) is narrow


def test_a_batch_of_operational_spaces_is_a_loop() -> None:
    """To the last bit, whatever is summed."""
    arm = robots.puma560()
    q = arm.random_configuration(3, 5)
    batch = arm.operational_space_dynamics(q, 0.3 * q)
    for k, row in enumerate(q):
        one = arm.operational_space_dynamics(row, 0.3 * row)
        for name in ("inertia", "coriolis", "gravity", "inverse", "nullspace"):
            assert np.array_equal(getattr(batch, name)[k], getattr(one, name)), name
