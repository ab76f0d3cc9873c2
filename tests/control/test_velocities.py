"""Velocities that a chain gives out, against differences of places; the predicted ones become those of the Jacobian."""

import numpy as np
import pytest

from linkwise.control import Chain
from support.chains import (
    EPS,
    HOOK_GOAL,
    PRECISION,
    TOOL_GOAL,
    crane,
    enable,
    four_bar,
    place_of,
    predicted,
    puma,
    slider_crank,
    solved,
    turn,
    xyz,
)

SPIN = np.array([0.4, 0.3, -0.5])
STEPS = [0.08, 0.04, 0.02, 0.01]


def moving(chain: Chain) -> None:
    """Something that moves every joint of the chain."""
    if chain.name == "crane":
        enable(chain, "target", position=HOOK_GOAL, velocity=[0.3, -0.2, 0.25])
        chain["lamp.theta_speed"] = 0.5
    elif chain.name == "puma560":
        enable(chain, "target", position=TOOL_GOAL[0], angles=TOOL_GOAL[1], velocity=[0.2, 0.1, -0.3], angular_velocity=SPIN)
    elif chain.name == "four_bar":
        chain["crank.theta_speed"] = 0.7
    else:
        enable(chain, "place", position=[0.24, 0.0, 0.0])
        enable(chain, "speed", velocity=[-0.05, 0.0, 0.0])


def velocities(chain: Chain, method: str) -> np.ndarray:
    """Of all links (L, 6)."""
    return np.array(
        [
            np.r_[chain[f"{link}.calculated_velocity.{method}"], chain[f"{link}.calculated_angular_velocity.{method}"]]
            for link in chain.mechanism.link_names
        ]
    )


@pytest.mark.parametrize("make", [crane, puma, slider_crank, four_bar])
def test_predicted_and_jacobian_agree_as_dt_goes_to_zero(make) -> None:
    """The predicted velocity is a mean over the cycle: of first order, half the acceleration times dt beside the tangent."""
    apart, jacobian = [], None
    for dt in STEPS:
        chain = make()
        moving(chain)
        assert chain.step(1e-3), chain.reason
        chain.reset(solved(chain))
        assert chain.step(dt), chain.reason
        if jacobian is not None:
            assert np.abs(velocities(chain, "jacobian") - jacobian).max() <= 1e-8  # (it knows of no dt)
        jacobian = velocities(chain, "jacobian")
        assert np.abs(jacobian).max() > 0.04
        apart.append(np.abs(velocities(chain, "predicted") - jacobian).max())
    order = np.log2(np.array(apart[:-1]) / apart[1:])
    assert apart[-1] > 1e-6  # (the rounding of the places over dt is far below)
    assert np.abs(order - 1.0).max() < 0.25, order
    assert abs(order[-1] - 1.0) < 0.1


@pytest.mark.parametrize("make", [crane, puma, slider_crank, four_bar])
def test_jacobian_velocities_are_differences_of_the_solved_places(make) -> None:
    """Against a central difference of places along the predicted motion, of second order in its step."""
    errors = []
    for h in (2e-2, 1e-2):
        chain = make()
        moving(chain)
        assert chain.step(1e-3), chain.reason
        middle, told = solved(chain), velocities(chain, "jacobian")
        ends = []
        for sign in (1.0, -1.0):
            other = make()  # (the same chain, from its beginning)
            other.reset(middle)
            moving(other)
            for name, port in other.ports.items():
                if port.direction == "in" and name.endswith("velocity"):
                    other[name] = sign * np.array(other[name])
                if name.endswith(("theta_speed", "d_speed")) and port.direction == "in" and ".max_" not in name:
                    other[name] = sign * other[name]
            assert other.step(h), other.reason
            ends.append(predicted(other))
        rates = []
        for k in range(len(chain.mechanism.link_names)):
            forth, back = (place_of(chain.mechanism, q, k) for q in ends)
            rates.append(np.r_[(forth - back)[:3, 3], turn(forth[:3, :3] @ back[:3, :3].T)] / (2 * h))
        errors.append(np.abs(np.array(rates) - told).max())
    assert errors[0] < 0.05
    assert 3.0 < errors[0] / errors[1] < 5.0, errors


def test_a_rotating_start_moves_what_stands_in_the_world() -> None:
    """Seen from a start that turns and moves, a place that is held goes backwards; in the world it stands."""
    chain, dt = crane(), 0.01
    place, angles = np.array([0.3, -0.2, 0.1]), np.array([0.1, 0.0, 0.3])
    speed, spin = np.array([0.2, 0.1, -0.1]), np.array([0.1, -0.2, 0.4])
    chain["start.position"], chain["start.angles"] = place, angles
    chain["start.velocity"], chain["start.angular_velocity"] = speed, spin
    goal = place + xyz(angles) @ HOOK_GOAL
    enable(chain, "place", position=goal)
    assert chain.step(dt), chain.reason
    wanted = -xyz(angles).T @ (speed + np.cross(spin, goal - place))
    assert np.abs(chain["hook.calculated_velocity.jacobian"] - wanted).max() <= 1e-9
    # The start a cycle later, by the exponential of its spin: what was predicted is at the place then.
    angle = np.linalg.norm(spin) * dt
    x, y, z = spin * dt
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    step = np.eye(3) + np.sin(angle) / angle * skew + (1 - np.cos(angle)) / angle**2 * skew @ skew
    later = place + speed * dt + step @ xyz(angles) @ place_of(chain.mechanism, predicted(chain), "hook")[:3, 3]
    assert np.linalg.norm(later - goal) <= 2 * PRECISION


def test_a_start_that_turns_leaves_the_joints_alone_where_nothing_is_held() -> None:
    chain = crane()
    chain["start.angular_velocity"], chain["start.velocity"] = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
    assert chain.step(0.01)
    assert (predicted(chain) == solved(chain)).all()
    assert not chain["hook.calculated_velocity.jacobian"].any()


@pytest.mark.parametrize("make", [four_bar, slider_crank])
def test_loops_stay_closed_now_and_ahead(make) -> None:
    chain, dt = make(), 0.01
    moving(chain)
    for _ in range(20):
        assert chain.step(dt), chain.reason
        for q in (solved(chain), predicted(chain)):
            assert np.abs(residual(chain, q)).max() <= 2 * PRECISION


def residual(chain: Chain, q: np.ndarray) -> np.ndarray:
    """How far the loops of a mechanism are open, by passes of their own: m."""
    made = []
    for loop in chain.mechanism.loops:
        one, two = (
            (np.eye(4) if name == "base" else place_of(chain.mechanism, q, name)) @ frame
            for name, frame in ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
        )
        made.append((one - two)[:3, 3])
    return np.concatenate(made)


def test_four_bar_speeds_follow_the_crank() -> None:
    """The rocker's speed by the Jacobian is that of Freudenstein's equation, differentiated by differences of solutions."""
    chain, h = four_bar(), 1e-4
    rocker = []
    for angle in (0.3 - h, 0.3, 0.3 + h):
        enable(chain, "turn", angles=[0.0, 0.0, angle])
        chain.step(0.01)
        assert chain.step(0.01), chain.reason
        rocker.append(chain["rocker.theta_solved"])
    chain = four_bar()
    enable(chain, "turn", angles=[0.0, 0.0, 0.3])
    chain.step(0.01)
    enable(chain, "turn", angles=[0.0, 0.0, 0.3])
    chain.ports.unroute("crank.theta")
    chain["turn.enabled"], chain["crank.theta"] = False, chain["crank.theta_solved"]
    chain["crank.theta_speed"] = 1.0
    assert chain.step(0.01)
    crank, along = (chain[f"{link}.calculated_angular_velocity.jacobian"][2] for link in ("crank", "rocker"))
    slope = (rocker[2] - rocker[0]) / (2 * h)
    assert abs(along / crank - slope) <= 1e-6  # (h^2 and the precision over h)
    assert EPS < abs(crank) <= 1.0
