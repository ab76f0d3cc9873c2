"""The rows of the chain itself: iterations, precision, Unsolved and its reason, and the clock."""

import numpy as np
import pytest

from linkwise.control.cycle.layout import REASONS
from linkwise.errors import ArgumentError
from linkwise.solve.lengths import size_of
from support.chains import EPS, HOOK_GOAL, PRECISION, TOOL_GOAL, crane, crane_ends, enable, predicted, puma, solved


def test_calculations_per_cycle() -> None:
    """No cycle takes more steps; what is left is done in the next ones, and never worse."""
    chain = puma()
    assert chain["chain.calculations_per_cycle"] == 100
    chain["chain.calculations_per_cycle"] = 1
    enable(chain, "target", position=TOOL_GOAL[0], angles=TOOL_GOAL[1])
    distances, angles = [], []
    for _ in range(40):
        done = chain.step(0.01)
        assert chain["chain.iterations"] <= 1
        distances.append(chain["chain.distance"])
        angles.append(chain["chain.angle"])
        if done:
            break
        assert chain.reason == "iterations"
    assert 2 < len(distances) < 40
    # The sum of squares falls in each step: lengths in units of the mechanism's size, and twice the sines of half angles.
    errors = (np.array(distances) / size_of(chain.mechanism)) ** 2 + np.array(angles) ** 2
    assert (np.diff(errors) < 0).all()
    assert chain["chain.distance"] <= PRECISION


def test_calculations_per_cycle_is_a_whole_number_above_zero() -> None:
    for wrong in (0, -1, 1.5, np.nan, 20_000):
        with pytest.raises(ArgumentError, match="calculations_per_cycle"):
            crane()["chain.calculations_per_cycle"] = wrong


@pytest.mark.parametrize("precision", [1e-3, 1e-6, 1e-12])
def test_calculation_precision(precision: float) -> None:
    """The greatest error of a constraint that counts as solved."""
    chain = puma()
    assert chain["chain.calculation_precision"] == PRECISION
    chain["chain.calculation_precision"] = precision
    enable(chain, "target", position=TOOL_GOAL[0], angles=TOOL_GOAL[1])
    assert chain.step(0.01)
    assert chain["target.distance"] <= precision * (1 + 1e-9) + 64 * EPS
    assert chain["target.angle"] <= precision * (1 + 1e-9) + 64 * EPS
    steps = chain["chain.iterations"]
    chain.reset()
    chain["chain.calculation_precision"] = precision * 1e-2
    chain.step(0.01)
    assert chain["chain.iterations"] >= steps


def test_unsolved_with_its_reason() -> None:
    """False until something cannot be met; the outputs then are the nearest that can."""
    chain = crane()
    chain.step(0.01)
    assert not chain["chain.unsolved"]
    assert chain["chain.reason"] == "converged"
    ends = crane_ends(0.3, 0.7, 1.0, 0.1)
    enable(chain, "place", position=[0.0, 0.0, 50.0])
    assert not chain.step(0.01)
    assert chain["chain.unsolved"]
    assert chain.unsolved
    assert chain["chain.reason"] in REASONS[1:]
    assert chain.reason in {"limit", "unreachable"}
    reached = crane_ends(*solved(chain))["hook"][:3, 3]
    assert abs(np.linalg.norm(reached - [0.0, 0.0, 50.0]) - chain["chain.distance"]) <= 1e-9
    assert abs(chain["place.distance"] - chain["chain.distance"]) <= 1e-9
    assert chain["chain.distance"] < np.linalg.norm(ends["hook"][:3, 3] - [0.0, 0.0, 50.0])
    chain["place.position"] = HOOK_GOAL
    assert chain.step(0.01), chain.reason
    assert chain["chain.reason"] == "converged"


def test_unsolved_where_only_the_prediction_is() -> None:
    """A target that leaves the reach within the cycle: solved now, but not ahead."""
    chain = crane()
    edge = crane_ends(0.3, 0.0, 2.5, 0.1)["hook"][:3, 3]
    enable(chain, "target", position=edge, velocity=[0.0, 0.0, -5.0])
    assert not chain.step(0.02)
    assert np.linalg.norm(crane_ends(*solved(chain))["hook"][:3, 3] - edge) <= 2 * PRECISION
    assert chain["target.distance"] <= 2 * PRECISION
    assert chain["chain.distance"] > 0.01
    assert predicted(chain)[2] <= 2.5


def test_cycle_time_and_period_are_counted() -> None:
    chain = crane()
    for k, dt in enumerate((0.01, 0.02, 0.005), 1):
        chain.step(dt)
        assert chain["chain.cycle"] == k
        assert chain["chain.period"] == dt
    assert abs(chain["chain.time"] - 0.035) <= 4 * EPS
    chain.reset()
    assert chain["chain.cycle"] == chain["chain.time"] == 0
    chain.step(0.01)
    assert chain["chain.cycle"] == 1
    assert chain["chain.time"] == 0.01
