"""The rows of constraints: loop, fixed position, fixed rotation, velocity, moving position; both conventions of angles."""

import numpy as np
import pytest

from linkwise import robots
from linkwise.control import (
    Chain,
    FixedPosition,
    FixedRotation,
    LoopClosure,
    MovingPosition,
    RevoluteLink,
    Velocity,
    angles_rotation,
)
from linkwise.control import rotation_angles as angles_of
from support.chains import (
    EPS,
    HOOK_GOAL,
    PRECISION,
    PUMA_START,
    TOOL_GOAL,
    crane,
    crane_ends,
    enable,
    place_of,
    predicted,
    puma,
    solved,
    turn,
    xyz,
    zyx,
)

ROUNDING = 64 * EPS * 5.0


def test_loop_constraint() -> None:
    """Two ends are in one place, wherever a third constraint leads them."""
    chain = crane()
    enable(chain, "grip")
    assert chain.step(0.01), chain.reason
    ends = crane_ends(*solved(chain))
    assert np.linalg.norm(ends["hook"][:3, 3] - ends["lamp"][:3, 3]) <= PRECISION + ROUNDING
    assert chain["grip.distance"] <= PRECISION
    goal = crane_ends(0.5, 0.7, 1.3, 0.1)["mast"] @ [2.2 * np.cos(0.3), 2.2 * np.sin(0.3), 0.0, 1.0]
    enable(chain, "target", position=goal[:3])
    assert chain.step(0.01), chain.reason
    for link in ("hook", "lamp"):
        assert np.linalg.norm(chain[f"{link}.solved_position"] - goal[:3]) <= 3 * PRECISION


def test_loop_constraint_that_is_switched_off_leaves_the_ends_alone() -> None:
    chain = crane()
    chain.step(0.01)
    assert solved(chain).tolist() == chain.q0.tolist()
    assert chain["grip.distance"] == 0.0


def test_loop_constraint_to_the_start(uncompiled: None) -> None:
    """An end is held at the start itself, and turned as it is."""
    tree = robots.planar_3r().replace(name="to the start")
    q0 = np.array([0.3, 2.2, 1.6])
    chain = Chain(tree, LoopClosure("home", "tool", "start", rotation=True), q0=q0)
    assert chain.step(0.01), chain.reason
    pose = place_of(tree, solved(chain))
    assert np.linalg.norm(pose[:3, 3]) <= PRECISION + ROUNDING
    assert np.linalg.norm(turn(pose[:3, :3])) <= PRECISION + ROUNDING
    assert chain["home.angle"] <= PRECISION


def test_fixed_position_constraint() -> None:
    chain = crane()
    enable(chain, "place", position=HOOK_GOAL)
    for dt in (0.01, 0.02):
        assert chain.step(dt), chain.reason
        assert np.linalg.norm(chain["hook.world_position"] - HOOK_GOAL) <= PRECISION + ROUNDING
        assert chain["place.distance"] <= PRECISION


def test_fixed_rotation_constraint() -> None:
    """The end is turned as the angles say; its place is free."""
    chain = puma()
    enable(chain, "turn", angles=TOOL_GOAL[1])
    assert chain.step(0.01), chain.reason
    pose = place_of(chain.mechanism, solved(chain))
    assert np.linalg.norm(turn(pose[:3, :3] @ xyz(TOOL_GOAL[1]).T)) <= PRECISION + ROUNDING
    assert chain["turn.angle"] <= PRECISION
    assert np.linalg.norm(pose[:3, 3] - place_of(chain.mechanism, PUMA_START)[:3, 3]) < 0.2


def test_fixed_position_and_fixed_rotation_of_one_link() -> None:
    chain = puma()
    enable(chain, "place", position=TOOL_GOAL[0])
    enable(chain, "turn", angles=TOOL_GOAL[1])
    assert chain.step(0.01), chain.reason
    pose = place_of(chain.mechanism, solved(chain))
    assert np.linalg.norm(pose[:3, 3] - TOOL_GOAL[0]) <= PRECISION + ROUNDING
    assert np.linalg.norm(turn(pose[:3, :3] @ xyz(TOOL_GOAL[1]).T)) <= PRECISION + ROUNDING


def test_velocity_constraint_with_velocity() -> None:
    """The solved values stay; the predicted ones move the end by the velocity times dt; its rotation is not asked for."""
    chain, dt, velocity = crane(), 0.02, np.array([0.3, -0.2, 0.1])
    enable(chain, "speed", velocity=velocity)
    assert chain.step(dt)
    assert solved(chain).tolist() == chain.q0.tolist()
    way = crane_ends(*predicted(chain))["hook"][:3, 3] - crane_ends(*solved(chain))["hook"][:3, 3]
    assert np.linalg.norm(way - velocity * dt) <= PRECISION + ROUNDING
    assert np.abs(chain["hook.calculated_velocity.jacobian"] - velocity).max() <= 1e-10  # (RATE_DAMPING 1e-12, conditioned)


def test_velocity_constraint_with_angular_velocity() -> None:
    chain, dt, spin = puma(), 0.02, np.array([0.3, -0.5, 0.4])
    enable(chain, "speed", velocity=[0.0, 0.0, 0.0], angular_velocity=spin)
    assert chain.step(dt)
    before, after = (place_of(chain.mechanism, q) for q in (solved(chain), predicted(chain)))
    assert np.linalg.norm(turn(after[:3, :3] @ before[:3, :3].T) - spin * dt) <= 2 * PRECISION
    assert np.linalg.norm(after[:3, 3] - before[:3, 3]) <= 2 * PRECISION
    assert np.abs(chain["tool.calculated_angular_velocity.predicted"] - spin).max() <= 2 * PRECISION / dt


def test_velocity_constraint_says_how_a_fixed_position_moves() -> None:
    chain, dt, velocity = crane(), 0.02, np.array([0.3, -0.2, 0.1])
    enable(chain, "place", position=HOOK_GOAL)
    enable(chain, "speed", velocity=velocity)
    assert chain.step(dt), chain.reason
    assert np.linalg.norm(crane_ends(*solved(chain))["hook"][:3, 3] - HOOK_GOAL) <= PRECISION + ROUNDING
    assert np.linalg.norm(crane_ends(*predicted(chain))["hook"][:3, 3] - HOOK_GOAL - velocity * dt) <= PRECISION + ROUNDING


def test_moving_position_constraint_with_angles_and_velocities() -> None:
    chain, dt, velocity, spin = puma(), 0.01, np.array([0.1, 0.2, -0.15]), np.array([0.4, 0.3, -0.5])
    place, angles = TOOL_GOAL
    enable(chain, "target", position=place, angles=angles, velocity=velocity, angular_velocity=spin)
    assert chain.step(dt), chain.reason
    now, later = (place_of(chain.mechanism, q) for q in (solved(chain), predicted(chain)))
    assert np.linalg.norm(now[:3, 3] - place) <= PRECISION + ROUNDING
    assert np.linalg.norm(turn(now[:3, :3] @ xyz(angles).T)) <= PRECISION + ROUNDING
    assert np.linalg.norm(later[:3, 3] - place - velocity * dt) <= PRECISION + ROUNDING
    turned = turn(later[:3, :3] @ xyz(angles).T)
    assert np.linalg.norm(turned - spin * dt) <= PRECISION + ROUNDING
    for method in ("predicted", "jacobian"):
        bound = 1e-9 + 2 * PRECISION / dt
        assert np.abs(chain[f"tool.calculated_velocity.{method}"] - velocity).max() <= bound
        assert np.abs(chain[f"tool.calculated_angular_velocity.{method}"] - spin).max() <= bound


@pytest.mark.parametrize(("convention", "by_hand"), [("xyz", xyz), ("zyx", zyx)])
def test_angles_to_rotation_composing_conventions(uncompiled: None, convention: str, by_hand: object) -> None:
    """Of fixed rotations, moving positions and the start alike."""
    angles, start = np.array([0.5, -0.3, 0.4]), np.array([-0.2, 0.3, 0.1])
    assert np.abs(angles_rotation(angles, convention) - by_hand(angles)).max() <= 4 * EPS
    assert np.abs(angles_of(by_hand(angles), convention) - angles).max() <= 8 * EPS
    wrist = [
        RevoluteLink("pan", alpha=np.pi / 2),
        RevoluteLink("tilt", alpha=-np.pi / 2, theta=0.5),
        RevoluteLink("roll", a=0.3),
    ]
    constraints = [FixedRotation("turn", "roll", angles), MovingPosition("target", "roll", (0, 0, 0), angles, enabled=False)]
    chain = Chain(wrist, constraints, angles=convention, name=f"wrist {convention}")
    chain["start.angles"] = start
    wanted = by_hand(start).T @ by_hand(angles)
    assert chain.step(0.01), chain.reason
    assert np.abs(chain["roll.solved_rotation"] - wanted).max() <= PRECISION
    chain["turn.enabled"] = False
    enable(chain, "target", position=by_hand(start) @ chain["roll.solved_position"], angles=angles)
    assert chain.step(0.01), chain.reason
    assert np.abs(chain["roll.solved_rotation"] - wanted).max() <= PRECISION


def test_any_number_of_constraints_on_a_link_and_on_many(uncompiled: None) -> None:
    """A place for the tool, one for the elbow, a velocity for each: all hold."""
    arm = robots.planar_3r().replace(name="held twice")
    q = np.array([0.4, 0.7, -0.5])
    elbow, tool = (place_of(arm, q, link)[:3, 3] for link in ("link1", -1))
    constraints = [
        FixedPosition("elbow", "link1", elbow),
        FixedPosition("hand", "tool", tool),
        MovingPosition("again", "tool", tool),
        Velocity("drift", "tool", (0.1, 0.0, 0.0), enabled=False),
    ]
    chain = Chain(arm, constraints, q0=q + np.array([0.05, -0.04, 0.06]))
    assert chain.step(0.01), chain.reason
    assert np.linalg.norm(place_of(arm, solved(chain), "link1")[:3, 3] - elbow) <= PRECISION + ROUNDING
    assert np.linalg.norm(place_of(arm, solved(chain))[:3, 3] - tool) <= PRECISION + ROUNDING


def test_constraints_given_anew_in_each_cycle() -> None:
    """Every input port of a constraint counts from the next cycle on."""
    chain, rng = crane(), np.random.default_rng(3)
    enable(chain, "place")
    for _ in range(20):
        wanted = rng.uniform([-1.0, 0.2, 0.8], [1.0, 1.0, 2.0])
        goal = crane_ends(*wanted, 0.1)["hook"][:3, 3]
        chain["place.position"] = goal
        assert chain.step(0.01), chain.reason
        assert np.linalg.norm(chain["hook.world_position"] - goal) <= PRECISION + ROUNDING
