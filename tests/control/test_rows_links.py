"""The rows of links: their kinds, their end ports, free parameters in and out, limits, starts."""

import numpy as np
import pytest

from linkwise import robots
from linkwise.control import Chain, FixedLink, MovingPosition, PrismaticLink, RevoluteLink
from linkwise.errors import ArgumentError
from support.chains import (
    CRANE,
    EPS,
    HOOK_GOAL,
    PRECISION,
    PUMA_START,
    TOOL_GOAL,
    crane,
    crane_ends,
    dh,
    enable,
    predicted,
    puma,
    rot,
    solved,
    xyz,
)

ROUNDING = 64 * EPS * 5.0
"""Of places in chains that are 5 m long, of two computations that share nothing."""

VALUES = {"mast.theta": -0.7, "boom.theta": 0.9, "jib.d": 1.3, "lamp.theta": -0.4}
INPUTS = tuple(VALUES.values())


def sensors(chain: Chain) -> None:
    """Joint values that are written instead of routed."""
    for name, value in VALUES.items():
        chain.ports.unroute(name)
        chain[name] = value


@pytest.mark.parametrize("link", ["mast", "boom", "jib", "hook", "lamp", "weight", "flag"])
def test_position_and_rotation_matrix_of_every_kind_of_link(link: str) -> None:
    chain = crane()
    sensors(chain)
    chain.step(0.01)
    expected = crane_ends(*INPUTS)[link]
    assert np.abs(chain[f"{link}.position"] - expected[:3, 3]).max() <= ROUNDING
    assert np.abs(chain[f"{link}.rotation_matrix"] - expected[:3, :3]).max() <= ROUNDING


@pytest.mark.parametrize(("joint", "letter"), [("mast", "theta"), ("jib", "d")])
def test_revolute_link_turns_and_prismatic_link_slides(joint: str, letter: str) -> None:
    """Only what hangs on the joint moves when its parameter does, and as the parameter says."""
    chain = crane()
    sensors(chain)
    chain.step(0.01)
    before = {link.name: np.c_[chain[f"{link.name}.rotation_matrix"], chain[f"{link.name}.position"]] for link in CRANE}
    chain[f"{joint}.{letter}"] += 0.1
    chain.step(0.01)
    moved = dh(theta=0.1) if letter == "theta" else dh(d=0.1)
    root = np.eye(4) if joint == "mast" else crane_ends(*INPUTS)["boom"]
    carried = {"mast": {link.name for link in CRANE}, "jib": {"jib", "hook"}}[joint]
    for link, pose in before.items():
        change = root @ moved @ np.linalg.inv(root) if link in carried else np.eye(4)
        expected = change @ np.r_[pose, [[0, 0, 0, 1]]]
        assert np.abs(chain[f"{link}.position"] - expected[:3, 3]).max() <= ROUNDING
        assert np.abs(chain[f"{link}.rotation_matrix"] - expected[:3, :3]).max() <= ROUNDING


def test_fixed_link_has_ends_and_no_free_parameter() -> None:
    chain = crane()
    assert "hook.position" in chain.ports
    assert not [name for name in chain.ports if name.startswith("hook.") and ("theta" in name or "limits" in name)]
    chain.step(0.01)
    boom, flag = crane_ends(0.3, 0.5, 1.0, 0.1)["boom"], np.eye(4)
    flag[:3, :3], flag[:3, 3] = chain["flag.rotation_matrix"], chain["flag.position"]
    assert np.abs(np.linalg.inv(boom) @ flag - dh(0.4, a=0.3)).max() <= ROUNDING


def test_one_predecessor_with_many_successors() -> None:
    chain = crane()
    enable(chain, "place", position=HOOK_GOAL)
    assert chain.step(0.01), chain.reason
    ends = crane_ends(*solved(chain))
    for link in ("hook", "lamp", "weight", "flag"):
        assert np.abs(chain[f"{link}.solved_position"] - ends[link][:3, 3]).max() <= ROUNDING
    assert chain["lamp.theta_solved"] == 0.1  # nothing asks for it


def test_theta_in_and_theta_solved_out() -> None:
    """The value that comes in is where the solver begins: from a little beside each of two elbows it finds that one."""
    chain = puma()
    goal = chain.mechanism.forward_kinematics(PUMA_START)[:3, 3]
    chain.ports.reroute({})
    enable(chain, "place", position=goal)
    chain["link2.theta"], chain["link3.theta"] = PUMA_START[1] - 1.0, PUMA_START[2] + 2.0
    assert chain.step(0.01), chain.reason
    other = solved(chain)
    assert abs(other[2] - PUMA_START[2]) > 1.0
    for elbow in (PUMA_START, other):
        for k, value in enumerate(elbow, 1):
            chain[f"link{k}.theta"] = value + 0.02
        assert chain.step(0.01), chain.reason
        # (three rows for six joints: the nearest answer is no further off than the one known)
        assert np.linalg.norm(solved(chain) - elbow) <= 2 * 0.02 * np.sqrt(6.0)
        assert np.linalg.norm(chain["tool.solved_position"] - goal) <= PRECISION


def test_d_in_and_d_solved_out() -> None:
    chain = crane()
    enable(chain, "place", position=crane_ends(0.3, 0.5, 1.7, 0.1)["hook"][:3, 3])
    assert chain.step(0.01)
    assert abs(chain["jib.d_solved"] - 1.7) <= 10 * PRECISION
    assert abs(chain["mast.theta_solved"] - 0.3) <= 10 * PRECISION


def test_theta_routed_from_theta_solved_starts_warm() -> None:
    chain = puma()
    enable(chain, "target", position=TOOL_GOAL[0], angles=TOOL_GOAL[1])
    assert chain.step(0.01), chain.reason
    assert chain["chain.iterations"] > 1
    held = solved(chain)
    assert chain.step(0.01)
    assert chain["chain.iterations"] == 0
    assert (solved(chain) == held).all()
    assert [chain[f"link{k}.theta"] for k in range(1, 7)] == held.tolist()


@pytest.mark.parametrize(("port", "joint", "start"), [("predicted_theta", "link2", 1), ("theta_solved", "link2", 1)])
def test_theta_routed_from_another_output_of_its_own(port: str, joint: str, start: int) -> None:
    chain = puma()
    chain.ports.unroute(f"{joint}.theta")
    chain.ports.route(f"{joint}.{port}", f"{joint}.theta")
    chain[f"{joint}.theta_speed"] = 0.5
    for _ in range(4):
        assert chain.step(0.01)
    steps = 3 if port == "predicted_theta" else 0
    assert abs(chain[f"{joint}.theta"] - (0.8 + steps * 0.005)) <= 16 * EPS


@pytest.mark.parametrize("joint", ["boom.theta", "jib.d"])
def test_limits_min_and_max(joint: str) -> None:
    """What lies beyond is not solved, and the joint rests exactly at its limit; inside it is."""
    chain = crane()
    link = joint.partition(".")[0]
    value = {"boom": 1.3, "jib": 2.4}[link]
    wanted = {"boom": (0.3, value, 1.0), "jib": (0.3, 0.5, value)}[link]
    enable(chain, "place", position=crane_ends(*wanted, 0.1)["hook"][:3, 3])
    chain[f"{link}.limits.max"] = value - 0.2
    chain.step(0.01)
    assert chain[f"{joint}_solved"] <= value - 0.2
    assert chain["chain.unsolved"]
    assert chain.reason in {"limit", "unreachable"}
    chain[f"{link}.limits.max"] = value + 0.05
    for _ in range(3):
        chain.step(0.01)
    assert not chain.unsolved
    assert abs(chain[f"{joint}_solved"] - value) <= 100 * PRECISION
    chain[f"{link}.limits.min"] = value + 0.02
    chain.step(0.01)
    assert chain[f"{joint}_solved"] >= value + 0.02
    assert chain["chain.unsolved"]


def test_limits_of_the_mechanism_are_the_first_values() -> None:
    assert [crane()[f"jib.limits.{end}"] for end in ("min", "max")] == [0.4, 2.5]
    assert crane()["lamp.limits.max"] == np.inf


def test_solved_position_and_solved_rotation() -> None:
    chain = puma()
    enable(chain, "target", position=TOOL_GOAL[0], angles=TOOL_GOAL[1])
    assert chain.step(0.01), chain.reason
    assert np.linalg.norm(chain["tool.solved_position"] - TOOL_GOAL[0]) <= PRECISION
    assert np.abs(chain["tool.solved_rotation"] - xyz(TOOL_GOAL[1])).max() <= PRECISION
    for link in ("link2", "link4"):
        pose = chain.mechanism.forward_kinematics(solved(chain), link=link)
        assert np.abs(chain[f"{link}.solved_position"] - pose[:3, 3]).max() <= ROUNDING
        assert np.abs(chain[f"{link}.solved_rotation"] - pose[:3, :3]).max() <= ROUNDING
        before = chain.mechanism.forward_kinematics(chain.q0, link=link)  # (the inputs of the first cycle)
        assert np.abs(chain[f"{link}.position"] - before[:3, 3]).max() <= ROUNDING


def test_start_position_fixed() -> None:
    """Constraints are in the world, ends are told from the start, and the world position puts them together."""
    chain = puma()
    place, angles, goal = np.array([1.0, -2.0, 0.5]), [0.3, -0.2, 1.1], np.array([1.3, -2.2, 0.6])
    chain["start.position"], chain["start.angles"] = place, angles
    enable(chain, "place", position=goal)
    assert chain.step(0.01)
    seen = xyz(angles).T @ (goal - place)
    assert np.linalg.norm(chain["tool.solved_position"] - seen) <= 2 * PRECISION
    assert np.linalg.norm(chain["tool.world_position"] - goal) <= 2 * PRECISION
    end = chain.mechanism.forward_kinematics(solved(chain))[:3, 3]
    assert np.abs(chain["tool.solved_position"] - end).max() <= ROUNDING


def test_start_position_moving() -> None:
    """A place is held from a start that moves and turns: with the velocities told, up to half its acceleration dt^2."""
    chain, dt, goal = crane(), 0.01, HOOK_GOAL
    enable(chain, "place", position=goal)
    spin, speed = np.array([0.0, 0.0, 0.4]), np.array([0.05, -0.1, 0.08])
    lags = {"solved": [], "predicted": []}
    last = None
    for k in range(60):
        at, angles = speed * k * dt, spin * k * dt
        if last is not None:
            frame = xyz(angles)
            for what, q in last.items():
                lags[what].append(np.linalg.norm(at + frame @ crane_ends(*q)["hook"][:3, 3] - goal))
        chain["start.position"], chain["start.angles"] = at, angles
        chain["start.velocity"], chain["start.angular_velocity"] = speed, spin
        assert chain.step(dt)
        assert np.linalg.norm(chain["hook.world_position"] - goal) <= 2 * PRECISION
        last = {"solved": solved(chain), "predicted": predicted(chain)}
    assert max(lags["predicted"]) <= 2 * PRECISION  # it moves as its velocities say
    assert min(lags["solved"]) > 0.5 * dt * 0.1


@pytest.mark.parametrize(("axis", "direction"), [("x", [1.0, 0.0, 0.0]), ("y", [0.0, 1.0, 0.0]), ("z", [0.0, 0.0, 1.0])])
def test_starting_dof(uncompiled: None, axis: str, direction: list[float]) -> None:
    """The first joint turns its link about this axis of the start."""
    links = [RevoluteLink("arm", a=1.0, d=0.5, theta=0.4), FixedLink("tip", a=0.2)]
    chain = Chain(links, starting_dof=axis, name=f"about {axis}")
    chain.step(0.01)
    first, place = chain["arm.rotation_matrix"], chain["arm.position"]
    chain.ports.unroute("arm.theta")
    chain["arm.theta"] = 0.9
    chain.step(0.01)
    assert np.abs(chain["arm.rotation_matrix"] - rot(axis, 0.5) @ first).max() <= ROUNDING
    assert np.abs(chain["arm.position"] - rot(axis, 0.5) @ place).max() <= ROUNDING
    assert abs(np.dot(place, direction) - 0.5) <= ROUNDING


def test_starting_dof_of_a_prismatic_link(uncompiled: None) -> None:
    chain = Chain([PrismaticLink("slide", d=0.7)], starting_dof="x", name="along x")
    chain.step(0.01)
    assert np.abs(chain["slide.position"] - [0.7, 0.0, 0.0]).max() <= ROUNDING


def test_any_mechanism_makes_a_chain(uncompiled: None) -> None:
    chain = Chain(robots.scara_icomatic(), MovingPosition("target", "tool"))
    assert "prismatic" in {link.joint for link in chain.mechanism.links}
    q = np.array([0.3 * (k + 1) * (letter == "theta") for k, (_, letter) in enumerate(chain.layout.joints)])
    q = np.clip(q, chain.mechanism.q_min, chain.mechanism.q_max)
    chain["target.position"] = chain.mechanism.forward_kinematics(q)[:3, 3]
    assert chain.step(0.01), chain.reason


def test_outputs_are_not_written() -> None:
    with pytest.raises(ArgumentError, match="is an output"):
        crane()["mast.theta_solved"] = 1.0
    with pytest.raises(ArgumentError, match=r"unroute\('mast.theta'\)"):
        crane()["mast.theta"] = 1.0
