"""The rows of velocities: joint speeds in and out, predicted values, the regulator, velocities of ends by each method."""

import numpy as np
import pytest

from linkwise.control import Chain
from support.chains import (
    EPS,
    HOOK_GOAL,
    PRECISION,
    TOOL_GOAL,
    crane,
    crane_ends,
    enable,
    place_of,
    predicted,
    puma,
    solved,
    turn,
)

ROUNDING = 64 * EPS * 5.0
JOINTS = (("mast", "theta"), ("jib", "d"))


def free(chain: Chain) -> None:
    """All joint values are written, none is routed."""
    chain.ports.reroute({})


@pytest.mark.parametrize(("link", "letter"), JOINTS)
def test_theta_speed_and_d_speed(link: str, letter: str) -> None:
    """The input speed of a joint moves its predicted value, and all velocities that are calculated."""
    chain, dt = crane(), 0.02
    chain[f"{link}.{letter}_speed"] = 0.25
    assert chain.step(dt)
    k = [name for name, _ in chain.layout.joints].index(link)
    expected = chain.q0.copy()
    expected[k] += 0.25 * dt
    assert np.abs(predicted(chain) - expected).max() <= 4 * EPS
    assert np.abs(solved(chain) - chain.q0).max() == 0.0
    assert abs(chain[f"{link}.calculated_{letter}_speed"] - 0.25) <= 8 * EPS / dt
    moved = crane_ends(*expected)["hook"][:3, 3] - crane_ends(*chain.q0)["hook"][:3, 3]
    assert np.abs(chain["hook.calculated_velocity.predicted"] - moved / dt).max() <= ROUNDING / dt
    axis = [0.0, 0.0, 0.25] if link == "mast" else [0.0, 0.0, 0.0]
    assert np.abs(chain["hook.calculated_angular_velocity.jacobian"] - axis).max() <= ROUNDING
    assert np.abs(chain["hook.calculated_angular_velocity.predicted"] - axis).max() <= ROUNDING / dt


def test_theta_speed_of_many_turns_in_a_cycle() -> None:
    """However far a joint goes in a cycle, its predicted value is there; at a limit it ends."""
    chain, dt = crane(), 0.01
    chain["lamp.theta_speed"], chain["mast.theta_speed"] = -3140.0, 1e5
    assert chain.step(dt), chain.reason
    assert abs(chain["lamp.predicted_theta"] - (0.1 - 31.4)) <= 64 * EPS * 31.4
    assert chain["mast.predicted_theta"] == chain["mast.limits.max"]


def test_theta_speed_yields_to_a_constraint() -> None:
    """An input speed counts beside the constraints: where a place is held, only what leaves it there."""
    chain, dt = puma(), 0.01
    place = place_of(chain.mechanism, chain.q0)[:3, 3]
    enable(chain, "place", position=place)
    chain["link4.theta_speed"] = 0.3
    chain["link2.theta_speed"] = 0.2
    assert chain.step(dt), chain.reason
    assert np.linalg.norm(place_of(chain.mechanism, predicted(chain))[:3, 3] - place) <= PRECISION + ROUNDING
    assert abs(chain["link4.predicted_theta"] - chain["link4.theta_solved"]) > 0.1 * 0.3 * dt


@pytest.mark.parametrize("enabled", [False, True])
def test_predicted_theta_and_d_without_velocities_are_the_solved_ones(enabled: bool) -> None:
    chain = crane()
    chain["place.position"], chain["place.enabled"] = HOOK_GOAL, enabled
    for dt in (0.01, 0.03):
        assert chain.step(dt)
        assert (predicted(chain) == solved(chain)).all()


def test_predicted_theta_and_d_for_the_start_of_the_next_cycle() -> None:
    """A target that goes on as it said is met by what was predicted for it a cycle before."""
    chain, dt, velocity = crane(), 0.02, np.array([0.3, -0.4, 0.2])
    enable(chain, "target", velocity=velocity)
    before = None
    for k in range(20):
        chain["target.position"] = HOOK_GOAL + velocity * dt * k
        assert chain.step(dt), chain.reason
        if before is not None:
            error = np.linalg.norm(crane_ends(*before)["hook"][:3, 3] - chain["target.position"])
            assert error <= PRECISION + ROUNDING
            assert np.abs(solved(chain) - before).max() <= 10 * PRECISION  # (well conditioned: 1/singular value < 10)
        before = predicted(chain)


@pytest.mark.parametrize(("link", "letter"), JOINTS)
def test_calculated_theta_speed_acts_at_once_by_default(link: str, letter: str) -> None:
    """P = 1, I = 0, D = 0, R = 1: the way from the input to the predicted value, over the cycle."""
    chain, dt = crane(), 0.02
    assert [chain[f"{link}.regulator.{share}"] for share in "pidr"] == [1.0, 0.0, 0.0, 1.0]
    enable(chain, "place", position=HOOK_GOAL)
    free(chain)
    given = chain[f"{link}.{letter}"]
    for _ in range(3):
        assert chain.step(dt)
        way = chain[f"{link}.predicted_{letter}"] - given
        assert abs(way) > 0.1
        # (out = out + 1 (way/dt - out) is rounded four times)
        assert abs(chain[f"{link}.calculated_{letter}_speed"] - way / dt) <= 8 * EPS * abs(way) / dt


@pytest.mark.parametrize(("link", "letter"), JOINTS)
def test_calculated_theta_speed_through_its_regulator(link: str, letter: str) -> None:
    """Against the textbook formula, cycle by cycle."""
    chain, rng = crane(), np.random.default_rng(4)
    shares = {"p": 1.7, "i": 0.8, "d": 0.05, "r": 0.4}
    for share, value in shares.items():
        chain[f"{link}.regulator.{share}"] = value
    enable(chain, "place", position=HOOK_GOAL)
    free(chain)
    integral, before, out = 0.0, None, 0.0
    for _ in range(12):
        dt = float(rng.uniform(0.005, 0.02))
        chain[f"{link}.{letter}"] = float(rng.uniform(0.6, 0.9))
        assert chain.step(dt), chain.reason
        error = (chain[f"{link}.predicted_{letter}"] - chain[f"{link}.{letter}"]) / dt
        integral += error * dt
        rate = 0.0 if before is None else (error - before) / dt
        out += shares["r"] * (shares["p"] * error + shares["i"] * integral + shares["d"] * rate - out)
        before = error
        scale = abs(error) * (1.0 + 1.0 / dt) + 1.0
        assert abs(chain[f"{link}.calculated_{letter}_speed"] - out) <= 64 * EPS * scale


def measured(chain: Chain, rows: np.ndarray, periods: np.ndarray) -> None:
    """Run sensors' values, and compare the measured velocities with differences of the ends by a pass of their own."""
    free(chain)
    names = [f"{link}.{letter}" for link, letter in chain.layout.joints]
    for k, (row, dt) in enumerate(zip(rows, periods, strict=True)):
        for name, value in zip(names, row, strict=True):
            chain[name] = value
        chain.step(dt)
        for link in chain.mechanism.link_names:
            linear, angular = (chain[f"{link}.calculated_{what}velocity.measured"] for what in ("", "angular_"))
            if k == 0:
                assert not linear.any()
                assert not angular.any()
                continue
            before, now = (place_of(chain.mechanism, q, link) for q in (rows[k - 1], row))
            period = periods[k - 1]  # (what came in now was so when the last cycle ended)
            assert np.abs(linear - (now - before)[:3, 3] / period).max() <= ROUNDING / period
            assert np.abs(angular - turn(now[:3, :3] @ before[:3, :3].T) / period).max() <= ROUNDING / period


def test_calculated_velocity_and_angular_velocity_measured() -> None:
    """From the input values of this cycle and the last, whatever speeds are given."""
    rng = np.random.default_rng(5)
    chain = crane()
    chain["mast.theta_speed"], chain["start.velocity"] = 3.0, [1.0, 0.0, 0.0]
    measured(chain, chain.q0 + np.cumsum(rng.uniform(-0.02, 0.02, (6, 4)), axis=0), rng.uniform(0.005, 0.02, 6))


def test_calculated_velocity_and_angular_velocity_measured_of_six_joints() -> None:
    rng = np.random.default_rng(6)
    chain = puma()
    measured(chain, chain.q0 + np.cumsum(rng.uniform(-0.05, 0.05, (4, 6)), axis=0), np.full(4, 0.01))


def test_calculated_velocity_and_angular_velocity_predicted() -> None:
    """From the solved values to the predicted ones, over the cycle, with all velocities given, for every link."""
    chain, dt = puma(), 0.01
    place, angles = TOOL_GOAL
    enable(chain, "target", position=place, angles=angles, velocity=[0.1, 0.2, -0.1], angular_velocity=[0.2, -0.3, 0.1])
    chain["start.velocity"], chain["start.angular_velocity"] = [0.05, 0.0, 0.1], [0.0, 0.1, 0.0]
    assert chain.step(dt), chain.reason
    for link in chain.mechanism.link_names:
        now, later = (place_of(chain.mechanism, q, link) for q in (solved(chain), predicted(chain)))
        linear, angular = (chain[f"{link}.calculated_{what}velocity.predicted"] for what in ("", "angular_"))
        assert np.abs(linear - (later - now)[:3, 3] / dt).max() <= ROUNDING / dt
        assert np.abs(angular - turn(later[:3, :3] @ now[:3, :3].T) / dt).max() <= ROUNDING / dt


def test_calculated_velocity_and_angular_velocity_jacobian() -> None:
    """The least joint speeds that keep what is moving, times the Jacobian of every link (computed by NumPy here)."""
    chain, dt = puma(), 0.01
    velocity, spin = np.array([0.1, 0.2, -0.1]), np.array([0.2, -0.3, 0.1])
    enable(chain, "target", position=TOOL_GOAL[0], angles=TOOL_GOAL[1], velocity=velocity, angular_velocity=spin)
    assert chain.step(dt), chain.reason
    q = solved(chain)
    speeds = np.linalg.solve(chain.mechanism.jacobian(q), np.r_[velocity, spin])
    for k, link in enumerate(chain.mechanism.link_names):
        wanted = chain.mechanism.jacobian(q, link=k) @ speeds
        found = np.r_[chain[f"{link}.calculated_velocity.jacobian"], chain[f"{link}.calculated_angular_velocity.jacobian"]]
        assert np.abs(found - wanted).max() <= 1e-9  # (damping of 1e-12 over squares of singular values above 0.03)


def test_calculated_velocity_of_what_rests_is_zero() -> None:
    chain = crane()
    enable(chain, "place", position=HOOK_GOAL)
    for _ in range(3):
        chain.step(0.01)
    for method in ("measured", "predicted", "jacobian"):  # two last places of a metre in a cycle of 10 ms
        assert np.abs(chain[f"hook.calculated_velocity.{method}"]).max() < 5e-14
        assert np.abs(chain[f"hook.calculated_angular_velocity.{method}"]).max() < 5e-14
