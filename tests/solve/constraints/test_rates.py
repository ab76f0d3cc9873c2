"""The rates of every kind of constraint: against finite differences, against the derivative of the graph, at a solution and
away from it, on fixed and floating bases, trees, joints of every kind and joints that follow others."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from linkwise.expr.derivative import derivative
from linkwise.kernel import Kernel, trace
from linkwise.solve.constraints import Aligned, Closed, Configuration, Constraint, LookAt
from support.constraint_residuals import KINDS, PAIRED, held
from support.random_mechanisms import column_by_column, numpy_call, random_state, relative, variant

MECHANISMS = ("joints 2", "coupled floating 4")


@cache
def case(name: str, kind: str) -> tuple[Any, Constraint, np.ndarray, np.ndarray, Kernel]:
    """A mechanism, a constraint that holds at a configuration, another one, and the equations with their derivative."""
    mech = variant(name)
    q, other = random_state(mech, 3)[0], random_state(mech, 4)[0]
    constraint = held(mech, kind, q, np.random.default_rng([KINDS.index(kind), 23]))

    def equations(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
        made = constraint.equations(Configuration(mech, q), p)
        return made.residual, made.rates, derivative(list(made.residual), list(q))

    found = constraint.equations(Configuration(mech, other), constraint.numbers)
    rows = len(found.angles)
    inputs = {"numbers": constraint.numbers.shape, "q": (mech.nq,)}
    outputs = {"residual": (rows,), "rates": (rows, mech.nv), "exact": (rows, mech.nq)}
    return mech, constraint, q, other, Kernel(trace(equations, "equations", inputs, outputs), backend="numpy")


def pairs() -> list[tuple[str, str]]:
    chosen = [(name, kind) for name in MECHANISMS for kind in KINDS if kind not in PAIRED or variant(name).n > 1]
    return [(name, kind) for name, kind in chosen if "base" not in kind or not variant(name).floating]


def slope(name: str, kind: str, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Residual, rates and the derivative of the residual per speed, by the graph."""
    mech, constraint, _, _, kernel = case(name, kind)
    residual, rates, exact = kernel(constraint.numbers, q)
    onward = numpy_call(mech, "configuration_rate", q, np.eye(mech.nv)).T
    return residual, rates, exact @ onward


def turned(constraint: Constraint) -> str:
    """What the rates of the angles are: "exact"; of "facing" axes; of a whole "turn"."""
    if isinstance(constraint, (Aligned, LookAt)):
        return "facing"
    if isinstance(constraint, Closed):
        return {"full": "turn", "hinge": "facing"}.get(constraint.loop.kind, "exact")  # type: ignore[union-attr]
    return "turn" if all(getattr(constraint, "mask", [False])[3:]) and hasattr(constraint, "mask") else "exact"


@pytest.mark.parametrize(("name", "kind"), pairs())
def test_where_it_holds_the_rates_are_the_derivative(name: str, kind: str) -> None:
    _, constraint, q, _, _ = case(name, kind)
    residual, rates, exact = slope(name, kind, q)
    assert np.abs(residual).max() < 1e-14 * 50  # (lengths of a few m, 50 operations deep)
    bound = 1e-12 if turned(constraint) == "exact" else 1e-7  # (roots of 1 - cos: half the digits)
    assert np.abs(rates + exact).max() <= bound * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize(("name", "kind"), pairs())
def test_away_from_it_their_slope_is_that_of_a_measure_of_the_error(name: str, kind: str) -> None:
    """Exactly the derivative, or a slope: of half the squared residual, or of 4 (1 - cos(t/2)) for a whole turn."""
    _, constraint, _, other, _ = case(name, kind)
    residual, rates, exact = slope(name, kind, other)
    assert np.abs(residual).max() > 1e-5
    how = turned(constraint)
    if how == "exact":
        assert relative(rates, -exact) < 1e-11
        return
    angles = np.array(constraint.equations(Configuration(case(name, kind)[0], other), constraint.numbers).angles)
    assert np.abs(rates[~angles] + exact[~angles]).max(initial=0.0) < 1e-11 * max(1.0, np.abs(exact).max())
    r = residual[angles]
    weight = 1.0 / np.sqrt(1.0 - r @ r / 4) if how == "turn" else 1.0
    assert np.abs(rates[angles].T @ r + weight * exact[angles].T @ r).max() < 1e-10 * max(1.0, weight)


@pytest.mark.parametrize(("name", "kind"), pairs())
def test_the_derivative_is_that_of_finite_differences(name: str, kind: str) -> None:
    mech, constraint, _, other, kernel = case(name, kind)
    _, _, exact = slope(name, kind, other)

    def residual(step: np.ndarray) -> np.ndarray:
        return np.asarray(kernel(constraint.numbers, numpy_call(mech, "integrate", other, step, 1.0))[0])

    # central differences with 2e-3 taken to fourth order: 1e-11 / 480 of a fifth derivative, which may be some 1e3
    assert relative(column_by_column(residual, mech.nv), exact) < 1e-8


def test_every_kind_is_covered() -> None:
    assert {kind for _, kind in pairs()} == set(KINDS)
    assert {turned(case(name, kind)[1]) for name, kind in pairs()} == {"exact", "facing", "turn"}
