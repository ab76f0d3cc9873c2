"""Calculated speeds of the joints: within all greatest speeds, and in agreement with the predicted motion."""

import numpy as np
import pytest

from linkwise import robots
from linkwise.control import Chain, FixedPosition, MovingPosition, Velocity
from support.chains import EPS, crane, enable, place_of, predicted, puma, solved

DT = 0.01
ENDS = {"crane": ("boom", "hook", "lamp"), "puma560": ("link2", "link4", "tool")}


def ends_after(chain: Chain, q: np.ndarray, links: tuple[str, ...]) -> np.ndarray:
    """Places (k, 3) of the ends of some links."""
    return np.array([place_of(chain.mechanism, q, -1 if link == "tool" else link)[:3, 3] for link in links])


def shares(chain: Chain, q: np.ndarray, joints: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The calculated speeds of joints (n,), and of ends (k,) that go with them for a cycle, as shares of their limits."""
    qd, links = chain.calculated_qd, ENDS[chain.name]
    ways = ends_after(chain, q + qd * DT, links) - ends_after(chain, q, links)
    return np.r_[np.abs(qd) / joints, np.linalg.norm(ways, axis=1) / DT / ends]


@pytest.mark.parametrize("make", [crane, puma])
@pytest.mark.parametrize("seed", range(3))
def test_calculated_speeds_keep_every_greatest_speed(make, seed: int) -> None:
    """Measured joints anywhere, regulators of any gain: no joint and no end is sent faster than it may go.

    The speed of an end is compared as the difference of two places over the cycle: rounding of places of a few metres over
    the cycle, beside a share of 1e-12 that counts as rounding.
    """
    chain, rng = make(), np.random.default_rng([seed, 31])
    n, links = chain.mechanism.n, ENDS[chain.name]
    joints, ends = rng.uniform(0.1, 2.0, n), rng.uniform(0.1, 1.0, len(links))
    for (link, letter), limit in zip(chain.layout.joints, joints, strict=True):
        chain[f"{link}.max_{letter}_speed"] = limit
        chain[f"{link}.regulator.p"] = rng.uniform(0.5, 4.0)
    for link, limit in zip(links, ends, strict=True):
        chain[f"{link}.max_speed"] = limit
    used = []
    for k in range(60):
        q = chain.q0 + (rng.normal(0.0, 0.02 if k % 3 else 0.5, n))
        chain.feed(q)
        chain.step(DT)
        used.append(shares(chain, q, joints, ends).max())
    assert max(used) <= 1.0 + 1e-12 + 64 * EPS * 5.0 / DT / ends.min()
    assert (
        np.median(used) >= 0.99
    )  # (most are held back; chords of some tenths of a rad are shorter than their arcs by that)


def test_all_joints_are_slowed_in_the_same_ratio() -> None:
    chain, free = crane(), np.array([0.4, -0.3, 1.2, 0.5])
    chain["jib.max_d_speed"] = 0.5
    chain.feed(chain.q0, free)
    for _ in range(20):  # (the predicted values come there within the limits)
        chain.step(DT)
    assert chain.calculated_qd == pytest.approx(free * (0.5 / 1.2), rel=1e-10)  # (rounding of a joint value over a cycle)


def test_an_integral_stands_while_a_limit_holds_the_speed_back() -> None:
    """A joint that is blocked for a while does not run on after it: no windup."""
    chain = Chain(robots.planar_2r(), q0=[0.3, 0.5])
    chain["link1.max_theta_speed"], chain["link1.regulator.i"] = 0.5, 2.0
    for _ in range(100):
        chain.feed([0.0, 0.5])
        chain.step(DT)
    integral = chain._cycle.parts.report.kept_of(chain._cycle.report_memory)["integral"][0]
    assert integral == 0.0
    chain.feed(predicted(chain))
    chain.step(DT)
    assert abs(chain.calculated_qd[0]) <= 64 * EPS / DT


def test_following_error() -> None:
    """The value that was predicted for now less the one that came in; none where the chain's own values come in."""
    chain = Chain(
        robots.planar_2r(), MovingPosition("target", "tool", [1.2, 0.9, 0.0], velocity=[0.1, 0.0, 0.0]), q0=[0.3, 0.5]
    )
    for _ in range(3):
        chain.step(DT)
        assert [chain[f"link{k}.following_error"] for k in (1, 2)] == [0.0, 0.0]
    before = predicted(chain)
    chain.feed(before - [0.02, -0.03])
    chain.step(DT)
    assert chain["link1.following_error"] == pytest.approx(0.02, abs=4 * EPS)
    assert chain["link2.following_error"] == pytest.approx(-0.03, abs=4 * EPS)
    assert chain.ports["link1.following_error"].unit == "rad"
    assert crane().ports["jib.following_error"].unit == "m"


@pytest.mark.parametrize("make", ["speeds", "velocity"])
def test_speeds_and_velocities_are_given_out_in_every_cycle(make: str) -> None:
    """With the first routes, too: the solved values stay, and the speed is that from them to the predicted ones."""
    arm = robots.planar_3r()
    if make == "velocity":
        chain = Chain(arm, Velocity("jog", "tool", [0.1, -0.05, 0.0]), q0=[0.3, 0.5, 0.3])
    else:
        chain = Chain(arm, q0=[0.3, 0.5, 0.3])
        chain["link1.theta_speed"], chain["link3.theta_speed"] = 0.7, -0.2
    for _ in range(4):
        chain.step(DT)
        assert np.array_equal(solved(chain), [0.3, 0.5, 0.3])
        assert np.abs(chain.calculated_qd - (predicted(chain) - solved(chain)) / DT).max() <= 4 * EPS / DT
        assert np.abs(chain.calculated_qd).max() > 0.05


def test_speeds_of_a_target_and_of_joints_together() -> None:
    """A redundant arm that follows a target while a joint speed moves it in itself: neither is lost, none counts twice.

    The solved values do not have the motion in itself, so the speed is that from them to the predicted ones; what the
    target's motion bends in a cycle is of first order.
    """
    errors = []
    for dt in (0.004, 0.002):
        tip = robots.planar_3r().forward_kinematics([0.3, 0.5, 0.3])[:3, 3]
        target = MovingPosition("target", "tool", tip, velocity=[0.1, -0.05, 0.0])
        chain = Chain(robots.planar_3r(), target, q0=[0.3, 0.5, 0.3])
        chain["link1.theta_speed"] = 0.4
        for k in range(5):
            chain["target.position"] = tip + np.array([0.1, -0.05, 0.0]) * k * dt
            assert chain.step(dt)
        errors.append(np.abs(chain.calculated_qd - (predicted(chain) - solved(chain)) / dt).max())
    assert errors[0] <= 0.4 * 0.004 * 2
    assert errors[1] <= 0.6 * errors[0]


def test_speeds_lead_along_the_predicted_values_to_the_last_digit() -> None:
    """Where only positions are asked for, speeds times cycles add up to the predicted way, with limits on it too."""
    chain, path = crane(), []
    enable(chain, "target", position=[1.5, 0.9, 1.9], velocity=[0.1, -0.2, 0.0])
    chain["hook.max_speed"], chain["boom.max_theta_speed"] = 0.4, 0.1
    total = predicted(chain)
    for k in range(120):
        chain["target.position"] = np.array([1.5, 0.9, 1.9]) + np.array([0.1, -0.2, 0.0]) * DT * k
        chain.step(DT)
        total = total + chain.calculated_qd * DT
        path.append(np.abs(total - predicted(chain)).max())
    assert max(path) <= 120 * 8 * EPS


def test_a_place_that_is_jogged_counts_once() -> None:
    """A velocity on a fixed position says how that one moves: its solved values go along, and speeds add up."""
    tip = robots.planar_2r().forward_kinematics([0.3, 0.8])[:3, 3]
    chain = Chain(
        robots.planar_2r(), [FixedPosition("hold", "tool", tip), Velocity("jog", "tool", [0.1, 0.0, 0.0])], q0=[0.3, 0.8]
    )
    total = predicted(chain)
    for k in range(50):
        chain["hold.position"] = tip + np.array([0.1, 0.0, 0.0]) * DT * k
        assert chain.step(DT)
        total = total + chain.calculated_qd * DT
    assert np.abs(total - predicted(chain)).max() <= 50 * 8 * EPS
