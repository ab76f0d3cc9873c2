"""Constraints whose numbers are arrays of libraries, and the derivatives of what solves them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import robots
from linkwise.errors import ArgumentError
from support.libraries import DIFFERENTIABLE, library_of

#: (torch itself warns of what it uses of its own)
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit", "ignore::DeprecationWarning:torch")

ARM, STEP, PLANE = robots.planar_3r(), 1e-6, [1, 1, 0]
START = np.array([0.3, 0.5, 0.9])
DOWN = lw.Coordinate("link2", 0.5)

#: Constraints of one argument, and values of it that can be met, changed by what keeps them so.
CASES: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "Position": (lambda p: [lw.Position("tool", p, mask=PLANE), DOWN], [[1.2, 1.5, 0.0], [1.0, 1.6, 0.0]], [0.3, -0.8, 0.0]),
    "Coordinate": (lambda x: [lw.Position("tool", [1.2, 1.5, 0.0], mask=PLANE), lw.Coordinate("link1", x)], 0.3, 1.0),
    "Distance": (lambda x: [lw.Coordinate("link1", 0.4), DOWN, lw.Distance("tool", "link1", x)], 1.2, 1.0),
    "CenterOfMass": (lambda p: [lw.CenterOfMass(p), DOWN], None, [0.3, -0.8, 0.0]),
}


def value_of(name: str) -> Any:
    value = ARM.center_of_mass([0.3, 0.5, 0.9]) if CASES[name][1] is None else CASES[name][1]
    return np.array(value)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_derivatives_by_what_is_asked_for(module: str, name: str) -> None:
    """The rate along a direction against central differences, whose error is of the order of 1e-9."""
    constraints, _, direction = CASES[name]
    value, along = value_of(name), np.broadcast_to(np.array(direction), np.shape(value_of(name)))

    def solve(x: Any) -> Any:
        return ARM.solve(constraints(x), q0=START).q

    wanted = (solve(value + STEP * along) - solve(value - STEP * along)) / (2 * STEP)
    with library_of(module) as library:
        solution = ARM.solve(constraints(library.array(value)), q0=START)
        assert type(solution.q) is type(library.array(value))
        assert np.asarray(solution.success).all()
        assert np.array_equal(np.asarray(solution.q), solve(value))
        for jacobian in (library.jacrev, library.jacfwd):
            table = np.asarray(jacobian(solve)(library.array(value)))
            rate = table.reshape(*wanted.shape, -1) @ along.ravel()
            if (
                name == "CenterOfMass"
            ):  # (z is asked for too, of an arm that does not leave its plane: three rows, two joints)
                assert np.isnan(rate).all()
            else:
                assert np.abs(rate - wanted).max() < 1e-7


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_left_over_joints_have_no_derivatives_and_batches_are_mapped(module: str) -> None:
    def solve(p: Any) -> Any:
        return ARM.solve(lw.Position("tool", p, mask=PLANE), q0=START).q

    points = np.array([[1.2, 1.5, 0.0], [1.0, 1.6, 0.0]])
    with library_of(module) as library:
        assert np.isnan(np.asarray(library.jacrev(solve)(library.array(points[0])))).any()
        mapped = np.asarray(library.vmap(solve)(library.array(points)))
        assert np.array_equal(mapped, solve(points))
        assert np.array_equal(np.asarray(library.jit(solve)(library.array(points))), solve(points))


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_what_solve_cannot_differentiate_is_named(module: str) -> None:
    weighted: dict[str, Callable[[Any], Any]] = {
        "weight": lambda p: lw.Position("tool", p, weight=1.0),
        "box": lambda p: lw.Position("tool", lower=p - 1.0, upper=p),
        "cone": lambda p: lw.Aligned("tool", [0, 0, 1], p, upper=0.1),
        "posture": lw.Posture,
    }
    with library_of(module) as library:
        point = library.array(np.array([1.2, 1.5, 0.0]))
        for constraint in weighted.values():
            solution, known = ARM.solve(constraint(point)), ARM.solve(constraint(np.asarray(point)))
            assert np.array_equal(solution.q, known.q)
            with pytest.raises(ArgumentError, match="solve with weights, priorities, ranges"):
                library.jacrev(lambda p, constraint=constraint: ARM.solve(constraint(p)).q)(point)
        with pytest.raises(ArgumentError, match="Position: p holds an array of another library"):
            lw.Position("tool", point).check(ARM)
        with pytest.raises(ArgumentError, match="constraints hold 3; expected Pose"):
            ARM.solve([lw.Position("tool", point), 3])
