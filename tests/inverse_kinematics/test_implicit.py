"""Derivatives of solutions by the pose: those of the inverse function, NaN where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from linkwise import robots
from support.libraries import DIFFERENTIABLE, Library, library_of

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit", "ignore::DeprecationWarning:torch")
Q = np.array([[0.3, 0.7], [-0.4, 1.1]])


@pytest.fixture(scope="module", params=DIFFERENTIABLE)
def library(request: pytest.FixtureRequest) -> Iterator[Library]:
    with library_of(request.param) as library:
        yield library


def around(q: Any, library: Library) -> Any:
    """To a pose and back: the identity."""
    arm = robots.planar_2r()
    start = library.array(np.array([0.2, 0.9]))
    return arm.inverse_kinematics(arm.forward_kinematics(q), q0=start, mask=[1, 1, 0, 0, 0, 0]).q


def test_the_inverse_of_a_function_has_the_inverse_derivative(library: Library) -> None:
    """To some ten roundings of matrices of condition below 10; the second derivatives of the identity are 0."""
    q = library.array(Q)
    for jacobian in (library.jacrev, library.jacfwd):
        slopes = library.jit(library.vmap(jacobian(lambda x: around(x, library))))(q)
        assert np.abs(np.asarray(slopes) - np.eye(2)).max() < 1e-13
    second = library.jacfwd(library.jacrev(lambda x: around(x, library)))
    assert np.abs(np.asarray(library.jit(second)(q[0]))).max() < 1e-12


def test_values_stay_those_of_the_solver(library: Library) -> None:
    arm = robots.planar_2r()
    T = arm.forward_kinematics(Q)
    mask = [1, 1, 0, 0, 0, 0]
    wanted = arm.inverse_kinematics(T, mask=mask)
    solution = arm.inverse_kinematics(library.array(T), mask=mask)
    assert np.array_equal(np.asarray(solution.q), wanted.q)
    assert np.asarray(solution.success).all()

    def solved(T: Any) -> Any:
        return arm.inverse_kinematics(T, mask=mask).q

    assert np.array_equal(np.asarray(library.vmap(solved)(library.array(T))), wanted.q)


@pytest.mark.parametrize("q", [[0.3, 0.0], [0.3, 0.7]])
def test_nan_where_there_is_no_derivative(library: Library, q: list[float]) -> None:
    """At a singular position, and where a joint is left over."""
    arm = robots.planar_2r()
    T = library.array(arm.forward_kinematics(q))
    mask = [1, 1, 0, 0, 0, 0] if q[1] == 0.0 else [1, 0, 0, 0, 0, 0]

    def solved(T: Any) -> Any:
        return arm.inverse_kinematics(T, q0=q, mask=mask).q

    for jacobian in (library.jacrev, library.jacfwd):
        assert np.isnan(np.asarray(library.jit(jacobian(solved))(T))).any(axis=(1, 2)).all()
