"""An integrator declared outside of the package."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from linkwise import robots, simulate
from linkwise.simulation.integrators import INTEGRATORS, explicit_stage, integrator

ARM = robots.planar_2r()


@pytest.fixture
def midpoint() -> Iterator[str]:
    """The explicit midpoint method, of order 2."""
    integrator("midpoint", (0.5, 0.0, 0.0), (0.0, 1.0, 0.5))(explicit_stage)
    yield "midpoint"
    del INTEGRATORS["midpoint"]


def falls(method: str, step: float, **options: Any) -> np.ndarray:
    return simulate(ARM, [0.1, 0.2], [0.5, -0.3], t=(0.5, step), method=method, **options).q[-1]


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_an_integrator_from_outside_has_its_order(midpoint: str, backend: str) -> None:
    exact = falls("rk4", 1e-3)
    coarse, fine = (np.abs(falls(midpoint, step, backend=backend) - exact).max() for step in (1e-2, 5e-3))
    print(coarse, fine, coarse / fine)
    assert 3.6 < coarse / fine < 4.4  # order 2: a quarter with half the step, but for terms of order 3


def test_the_python_loop_and_machine_code_take_the_same_steps(midpoint: str) -> None:
    assert np.abs(falls(midpoint, 1e-2, backend="llvm") - falls(midpoint, 1e-2, backend="numpy")).max() < 1e-14


def test_own_integrators_are_listed_in_order() -> None:
    assert list(INTEGRATORS) == ["rk4", "semi_implicit_euler", "euler", "ros2"]
