"""Inputs that leave a chain nothing to choose: limits that are none, no good value yet, linkages that cannot close."""

import numpy as np
import pytest

from linkwise.control import Chain, DrivenJoint, FixedRotation, RevoluteLink
from linkwise.errors import ArgumentError
from linkwise.robots import four_bar
from support.chains import EPS, HOOK_GOAL, crane, crane_ends, enable, finite, inside, solved


@pytest.mark.parametrize(
    "limits", [(np.inf, -np.inf), (np.inf, np.inf), (-np.inf, -np.inf), (1e300, -1e308), (1e120, 1e121)]
)
def test_limits_that_are_no_interval_are_told_and_the_ones_before_count(limits: tuple[float, float]) -> None:
    chain = crane()
    enable(chain, "target", position=HOOK_GOAL)
    assert chain.step(0.01)
    before = solved(chain)
    for name in ("boom", "jib", "lamp"):
        chain[f"{name}.limits.min"], chain[f"{name}.limits.max"] = limits
    assert not chain.step(0.01)
    assert chain.reason == "input"
    assert finite(chain)
    assert (solved(chain) == before).all()


def test_endless_limits_are_limits() -> None:
    chain = crane()
    chain["boom.limits.min"], chain["boom.limits.max"] = -np.inf, np.inf
    enable(chain, "target", position=crane_ends(0.2, -0.6, 1.0, 0.1)["hook"][:3, 3])  # (the mechanism's own limit is -0.2)
    assert chain.step(0.01), chain.reason


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e120])
def test_no_number_at_a_reset(wrong: float) -> None:
    """Joints count as where the chain begins, limits as the mechanism's own, all else as zero."""
    chain = crane()
    enable(chain, "target", position=[wrong, 0.0, 0.0], velocity=[0.0, wrong, 0.0])
    chain["start.angles"] = [0.0, 0.0, wrong]
    chain["boom.limits.min"] = abs(wrong)
    chain["jib.limits.max"] = -abs(wrong)
    chain.ports.unroute("boom.theta")
    chain["boom.theta"] = wrong
    chain.reset()
    for _ in range(3):
        assert finite(chain)
        assert chain.unsolved
        assert chain.reason == "input"
        chain.step(0.01)
        low, high = chain.mechanism.q_min, chain.mechanism.q_max
        assert ((solved(chain) >= low) & (solved(chain) <= high)).all()


@pytest.mark.parametrize("seed", [22, 216, 273])
def test_a_linkage_that_its_limits_let_close_nowhere_stands(seed: int) -> None:
    """Limits of all joints that jump, most of the time to where no closed position is, while a motor is on its way."""
    chain, rng, dt = Chain(four_bar(), [DrivenJoint("motor", "crank")]), np.random.default_rng(seed), 0.005
    for what, value in (("speed", 0.3), ("acceleration", 2.0), ("deceleration", 2.0)):
        chain[f"tool.max_{what}"] = value
    chain["motor.value"] = float(rng.normal() * 2.0)
    rows, within = [solved(chain)], 0
    for k in range(80):
        if k in (20, 40, 60):
            for link, _ in chain.layout.joints:
                middle = rng.normal() * 0.7
                chain[f"{link}.limits.min"], chain[f"{link}.limits.max"] = middle + rng.random(2) * [-0.2, 0.2]
        chain.step(dt)
        rows.append(solved(chain))
        within += inside(chain, rows[-1][None])
    assert within < 80
    places = chain.mechanism.forward_kinematics(np.array(rows))[:, :3, 3]
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() <= 0.3 * dt * (1.0 + 1e-6)
    assert np.abs(chain.mechanism.kernel("closure")(np.array(rows))).max() <= 1e-10


def test_what_is_lacking_of_a_rotation_is_told_as_the_angle() -> None:
    """Also where it is large: two such constraints add up as the root of the sum of squares."""
    wanted, most = np.pi - 0.5, 0.1
    links = [RevoluteLink("arm", a=0.5, limits=(-most, most)), RevoluteLink("hand", predecessor="arm", limits=(0.0, 0.0))]
    constraints = [FixedRotation("turn", "arm", [0.0, 0.0, wanted]), FixedRotation("same", "hand", [0.0, 0.0, 1.0])]
    chain = Chain(links, constraints)
    chain["same.enabled"] = False
    chain.step(0.01)
    assert chain.reason == "limit"
    assert abs(chain["turn.angle"] - (wanted - most)) <= 16 * EPS
    assert abs(chain["chain.angle"] - (wanted - most)) <= 16 * EPS
    chain["same.enabled"] = True
    chain.step(0.01)
    assert abs(chain["same.angle"] - (1.0 - most)) <= 16 * EPS
    assert abs(chain["chain.angle"] - np.hypot(wanted - most, 1.0 - most)) <= 16 * EPS


@pytest.mark.parametrize("dt", [5e-324, 1e-160, 1e-10])
def test_less_than_a_nanosecond_is_no_cycle(dt: float) -> None:
    """Differences of a clock may round to anything near zero; speeds over them would not be numbers."""
    chain = crane()
    enable(chain, "target", position=HOOK_GOAL, velocity=[0.1, 0.0, 0.0])
    chain.step(0.01)
    before = chain.ports.values.copy()
    chain["target.position"] = HOOK_GOAL + 0.1
    assert chain.step(dt)
    assert (chain.ports.outputs == before[len(chain.ports.inputs) :]).all()
    chain.step(1e-9)
    assert finite(chain)
    assert chain["chain.cycle"] == 2


def test_shares_of_a_regulator_that_overflow_are_refused() -> None:
    chain = crane()
    chain.ports.unroute("boom.theta")
    for share in "pid":
        with pytest.raises(ArgumentError, match=r"finite number from -1e\+100 to 1e\+100"):
            chain[f"boom.regulator.{share}"] = 1e101
        with pytest.raises(ArgumentError, match="nan"):
            chain[f"boom.regulator.{share}"] = np.nan
        chain[f"boom.regulator.{share}"] = -1e100
    chain["boom.theta"] = 9.9e99
    for _ in range(3):
        chain.step(1e-9)
        assert finite(chain)
