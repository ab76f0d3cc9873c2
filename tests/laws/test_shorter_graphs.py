"""Algorithms from fewer operations are the same functions, and as exact, on fixed and floating mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import Mechanism
from linkwise.algorithm import find
from linkwise.expr.count import operation_count
from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import Expr, symbol
from linkwise.expr.simplify import shortened
from support.random_mechanisms import arguments, arm, craft

MECHANISMS = {"puma560": lw.robots.puma560(), "scara": lw.robots.scara_icomatic(), "arm": arm(), "craft": craft()}
NAMES = (
    "forward_kinematics",
    "jacobian_dot",
    "motion",
    "inverse_dynamics",
    "mass_matrix",
    "forward_dynamics",
    "coriolis_matrix",
    "regressor",
)
BOUND = 1e-12
"""Relative to the largest element: what is added up anew is rounded anew; seen: 4e-15, more where M is divided by."""


def total(outputs: list[Any]) -> int:
    return sum(count for kind, count in operation_count(outputs).items() if kind != "neg")


@pytest.fixture(params=[(which, name) for which in MECHANISMS for name in NAMES], ids="-".join)
def case(request: pytest.FixtureRequest) -> tuple[Mechanism, str]:
    which, name = request.param
    return MECHANISMS[which], name


def graph(mech: Mechanism, name: str) -> tuple[list[Any], list[Expr]]:
    """The elements of the outputs, and the symbols of the inputs."""
    declared = find(name)
    given = [np.empty(shape, dtype=object) for shape in declared.shapes(mech, declared.inputs).values()]
    for array in given:
        for index in np.ndindex(array.shape):
            array[index] = symbol("x")
    made = declared.function(mech, *given)
    arrays = made if isinstance(made, tuple) else (made,)
    return [node for array in arrays for node in np.asarray(array, dtype=object).ravel()], [
        x for a in given for x in a.ravel()
    ]


def test_same_from_fewer_operations(case: tuple[Mechanism, str]) -> None:
    mech, name = case
    outputs, symbols = graph(mech, name)
    short = shortened(outputs)
    print(name, operation_count(outputs), operation_count(short))
    assert total(short) <= total(outputs)
    for row in range(2):
        numbers = np.concatenate([array[row].ravel() for array in arguments(mech, name, (2,))])
        values = dict(zip(symbols, numbers.tolist(), strict=True))
        wanted, found = np.array(evaluate(outputs, values)), np.array(evaluate(short, values))
        assert np.abs(found - wanted).max() <= BOUND * max(1.0, np.abs(wanted).max())


def test_regressors_are_shorter_by_a_tenth() -> None:
    """Columns of a regressor have much in common that the recursion computes for each."""
    outputs, _ = graph(MECHANISMS["puma560"], "regressor")
    assert total(shortened(outputs)) < 0.9 * total(outputs)


def test_what_does_not_depend_on_an_input_still_does_not() -> None:
    """A link's pose is a number where the joints beyond it are none."""
    mech = MECHANISMS["puma560"]
    outputs, symbols = graph(mech, "link_poses")
    values = dict.fromkeys(symbols, 0.3)
    values[symbols[4]] = float("nan")
    before, after = (np.isnan(evaluate(made, values)) for made in (outputs, shortened(outputs)))
    assert before.any()
    assert np.array_equal(before, after)
