"""Chains with ball joints, bodies that float, and a floating base: poses, limits, ports, states, recordings, files."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import control
from linkwise.control.description import ChainDescription
from linkwise.errors import ArgumentError, LinkwiseError, ModelError


def shifted(x: float, y: float, z: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


@cache  # (chains of one mechanism share what is compiled)
def arm(*, box: bool = True, floating: bool = False, loop: bool = False) -> lw.Mechanism:
    links = [
        lw.Link(name="a", joint_name="turret", axis=(0, 0, 1), after=shifted(0, 0, 0.4), qd_max=2.0, qdd_max=6.0),
        lw.Link(name="b", axis=(0, 1, 0), limits=(-0.8, 0.8), after=shifted(0.5, 0, 0), qdd_max=8.0),
        lw.Link(name="c", axis=(0, 1, 0), limits=(-2.5, 2.5), after=shifted(0.4, 0, 0)),
        lw.Link(name="hand", joint_name="wrist", joint="ball", limits=(0.0, 0.6), after=shifted(0.15, 0, 0)),
    ]
    if box:
        links.append(lw.Link(name="box", joint="floating", parent="base", after=shifted(0.1, 0, 0)))
    if loop:
        links.append(lw.Link(name="rod", parent="base", joint="ball", before=shifted(1.2, 0.3, 0), after=shifted(0, 0, 0.7)))
    loops = [lw.Loop("point", "hand", "rod", np.eye(4), np.eye(4))] if loop else []
    return lw.Mechanism(links, loops=loops, tool_link="hand", name="arm", floating=floating)


def start(mechanism: lw.Mechanism) -> np.ndarray:
    q = np.array(mechanism.neutral)
    q[-3:] = 0.2, -0.5, 1.0
    return q


def pose_ports(chain: control.Chain, name: str, pose: np.ndarray) -> None:
    chain[f"{name}.position"], chain[f"{name}.angles"] = pose[:3, 3], control.rotation_angles(pose[:3, :3])


@pytest.mark.parametrize("options", [{}, {"box": False}, {"floating": True}], ids=["body beside", "arm", "floating base"])
def test_poses_are_reached_as_inverse_kinematics_does(options: dict[str, bool]) -> None:
    mechanism = arm(**options)
    chain = control.Chain(mechanism, control.MovingPosition("t", "tool", [0.0] * 3, [0.0] * 3), q0=start(mechanism))
    rng, worst, other = np.random.default_rng(2), 0.0, 0.0
    for _ in range(40):
        step = np.concatenate([np.zeros(mechanism.nv - 3), 0.3 * rng.standard_normal(3)])
        at = mechanism.manifold_joints[int(mechanism.floating)]
        step[at.v] = 0.3 * rng.standard_normal(3)
        q = mechanism.integrate(start(mechanism), step, 1.0)
        q[-3:] = np.clip(q[-3:], mechanism.q_min, mechanism.q_max)
        q[at.q] = at.joint.clipped(q[at.q], at.most)
        pose = mechanism.forward_kinematics(q)
        pose_ports(chain, "t", pose)
        chain.reset(start(mechanism))
        for port in chain.ports.find("*.max_*"):
            chain[port] = np.inf
        assert chain.step(0.01), chain.reason
        worst = max(worst, np.abs(mechanism.forward_kinematics(chain.solved_q) - pose).max())
        solution = mechanism.inverse_kinematics(pose, q0=start(mechanism))
        assert solution.success
        same = mechanism.forward_kinematics(solution.q) - mechanism.forward_kinematics(chain.solved_q)
        other = max(other, np.abs(same).max())
        if options == {}:
            beside = chain.mechanism.manifold_joints[1].q
            np.testing.assert_array_equal(chain.solved_q[beside], mechanism.neutral[beside])  # what nothing asks for stays
    print(f"tool off its target by {worst:.1e}, from that of inverse_kinematics by {other:.1e}")
    assert worst < 1e-9  # the precision of the chain is 1e-10
    assert other < 2e-9  # (inverse_kinematics: 1e-9)


#: Of each joint's velocities: greatest speed, acceleration, deceleration.
JOINTS = {
    "wrist angular": (slice(0, 3), 1.5, 5.0, 4.0),
    "box linear": (slice(3, 6), 0.5, 2.0, 2.0),
    "box angular": (slice(6, 9), 0.7, 3.0, 3.0),
    "turret": (slice(9, 10), 2.0, 6.0, 6.0),
    "b": (slice(10, 11), np.inf, 8.0, 8.0),
}
WORDS = ("speed", "acceleration", "deceleration")
PORTS = {
    f"{name.partition(' ')[0]}.max_joint_{name.partition(' ')[2]}_{word}": value
    for name, (_, *values) in JOINTS.items()
    if " " in name
    for word, value in zip(WORDS, values, strict=True)
}
PORTS |= {f"tool.max_{word}": value for word, value in zip(WORDS, (1.0, 6.0, 5.0), strict=True)}
PORTS |= {f"box.max_{word}": value for word, value in zip(WORDS, (0.5, 2.5, 2.5), strict=True)}


@pytest.mark.parametrize("seed", [0, 1])
def test_no_limit_is_ever_exceeded(seed: int) -> None:
    mechanism = arm()
    constraints = [control.MovingPosition(name, link, [0.0] * 3, [0.0] * 3) for name, link in (("t", "tool"), ("u", "box"))]
    chain = control.Chain(mechanism, constraints, q0=start(mechanism), ports=PORTS)
    rng, worst = np.random.default_rng(seed), dict.fromkeys(("position", "speed", "acceleration", "command"), 0.0)
    cone = mechanism.manifold_joints[0]
    ends = {"tool": (1.0, 6.0), "box": (0.5, 2.5)}
    q, v, dt_before = chain.solved_q, np.zeros(mechanism.nv), 0.01
    places = {link: mechanism.forward_kinematics(q, link=link)[:3, 3] for link in ends}
    chords, command = dict.fromkeys(ends, np.zeros(3)), np.zeros(mechanism.nv)
    for k in range(2000):
        if k % 150 == 0 or (k < 500 and k % 25 == 0):
            target = mechanism.random_configuration(int(rng.integers(10**9)))
            pose_ports(chain, "t", mechanism.forward_kinematics(target))
            pose_ports(chain, "u", mechanism.forward_kinematics(target, link="box"))
        dt = float(rng.choice([0.004, 0.01, 0.02])) if seed else 0.01
        chain.step(dt)
        assert chain["chain.kept"]
        h, now = 0.5 * (dt_before + dt), chain.solved_q
        velocity, issued = mechanism.difference(q, now) / dt, chain.calculated_qd
        lean = 0.6 + cone.joint.excess(now[cone.q], 0.6)
        worst["position"] = max(worst["position"], lean / 0.6, abs(now[-2]) / 0.8, abs(now[-1]) / 2.5)
        for part, speed, up, down in JOINTS.values():
            length, before = np.linalg.norm(velocity[part]), np.linalg.norm(v[part])
            worst["speed"] = max(worst["speed"], length / speed)
            change = np.linalg.norm(velocity[part] - v[part]) / max(up, down)
            changes = (length - before) / up, (before - length) / down, change
            worst["acceleration"] = max(worst["acceleration"], *(x / h for x in changes))
            if k:
                worst["command"] = max(worst["command"], np.linalg.norm(issued[part] - command[part]) / h / max(up, down))
        for link, (speed, change) in ends.items():
            place = mechanism.forward_kinematics(now, link=link)[:3, 3]
            chord = (place - places[link]) / dt
            worst["speed"] = max(worst["speed"], np.linalg.norm(chord) / speed)
            worst["acceleration"] = max(worst["acceleration"], np.linalg.norm(chord - chords[link]) / h / change)
            places[link], chords[link] = place, chord
        q, v, dt_before, command = now, velocity, dt, issued
    print("worst share of the limits:", {name: round(float(value), 9) for name, value in worst.items()})
    # positions differ by rounding, 1e-15 m: over cycles of 4 ms that is 1e-10 m/s2
    assert all(value < 1.0 + 1e-8 for value in worst.values())
    assert worst["acceleration"] > 0.99


@cache
def wrist() -> lw.Mechanism:
    return lw.Mechanism([lw.Link(name="wrist", joint="ball", limits=(0.0, 1.0), after=shifted(0.15, 0.2, 0))])


@pytest.mark.parametrize("most", [0.3, 0.9, 1.8, 2.8])
def test_ways_between_the_edges_of_a_cone_stay_inside_and_arrive(most: float) -> None:
    mechanism = wrist()
    joint = mechanism.manifold_joints[0].joint
    limits = {f"wrist.max_joint_angular_{x}": y for x, y in (("speed", 2.0), ("acceleration", 9.0), ("deceleration", 7.0))}
    chain = control.Chain(mechanism, control.FixedRotation("t", "tool"), ports={**limits, "wrist.limits.cone": most})
    worst = longest = 0.0
    for k in range(30):
        lean = most * np.array([np.cos(k), np.sin(k), 0.0])
        q = mechanism.integrate(mechanism.integrate(mechanism.neutral, lean, 1.0), [0.0, 0.0, 2.9 * np.sin(1.7 * k)], 1.0)
        chain["t.angles"] = control.rotation_angles(mechanism.forward_kinematics(q)[:3, :3])
        for cycle in range(1000):
            chain.step(0.01)
            worst, longest = max(worst, joint.excess(chain.solved_q, most)), max(longest, float(cycle))
            if not chain["chain.limited"]:
                break
        assert not chain.unsolved
        assert not chain["chain.limited"]
        assert np.abs(mechanism.difference(chain.solved_q, q)).max() < 1e-9
    print(f"beyond the cone by {worst:.1e} rad; at most {longest:g} cycles")
    assert worst < 2e-12  # rounding is let pass up to 1e-12 rad


def test_a_cone_can_be_changed_at_any_time() -> None:
    mechanism = wrist()
    chain = control.Chain(mechanism, control.FixedRotation("t", "tool", [0.4, 0.3, 0.0]))
    joint = mechanism.manifold_joints[0].joint
    for cone in (0.1, 0.5, 0.3):
        chain["wrist.limits.cone"] = cone
        for _ in range(50):
            chain.step(0.01)
        assert joint.excess(chain.solved_q[:4], cone) < 2e-12
    chain["wrist.limits.cone"] = np.inf
    assert chain.step(0.01)


def test_loops_through_ball_joints_stay_closed() -> None:
    mechanism = arm(loop=True)
    chain = control.Chain(mechanism, control.DrivenJoint("motor", "a", 0.2), ports={"tool.max_speed": 0.5})
    worst = 0.0
    for k in range(200):
        chain["motor.value"] = 0.2 + 0.2 * np.sin(0.02 * k)
        chain.step(0.01)
        ends = (chain.mechanism.forward_kinematics(chain.solved_q, link=link)[:3, 3] for link in ("hand", "rod"))
        worst = max(worst, float(np.linalg.norm(np.subtract(*ends))))
    print(f"loops open by {worst:.1e} m")
    assert worst < 1e-9


def test_acceleration_limits_of_the_mechanism_hold() -> None:
    links = [
        lw.Link(name=name, axis=(0, 0, 1), limits=(-1.5, 1.5), qd_max=3.0, qdd_max=8.0, after=shifted(0.5, 0, 0))
        for name in "ab"
    ]
    chain = control.Chain(lw.Mechanism(links), [control.DrivenJoint(f"drive {x}", x, 0.0) for x in "ab"])
    assert chain["a.max_theta_acceleration"] == chain["b.max_theta_deceleration"] == 8.0
    q, v, command = np.zeros(2), np.zeros(2), np.zeros(2)
    worst = {"position": 0.0, "speed": 0.0, "acceleration": 0.0, "command": 0.0}
    rng = np.random.default_rng(5)
    for k in range(4000):
        if k % 60 == 0:
            chain["drive a.value"], chain["drive b.value"] = rng.uniform(-1.5, 1.5, 2) * 1.2
        chain.step(0.005)
        velocity = (chain.solved_q - q) / 0.005
        worst["position"] = max(worst["position"], np.abs(chain.solved_q).max() / 1.5)
        worst["speed"] = max(worst["speed"], np.abs(velocity).max() / 3.0)
        worst["acceleration"] = max(worst["acceleration"], np.abs(velocity - v).max() / 0.005 / 8.0)
        worst["command"] = max(worst["command"], np.abs(chain.calculated_qd - command).max() / 0.005 / 8.0)
        q, v, command = chain.solved_q, velocity, chain.calculated_qd
    print("worst share of the limits:", {name: round(float(value), 10) for name, value in worst.items()})
    assert all(value < 1.0 + 1e-9 for value in worst.values())
    assert worst["position"] > 0.999


def test_joint_speeds_and_prediction() -> None:
    mechanism = arm()
    chain = control.Chain(mechanism, q0=start(mechanism))
    chain["wrist.joint_angular_velocity"], chain["box.joint_linear_velocity"] = [0.1, -0.2, 0.3], [0.0, 0.5, 0.0]
    chain["box.joint_angular_velocity"] = [0.0, 0.0, 1.0]
    chain.step(0.02)
    qd = np.array([0.1, -0.2, 0.3, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(chain.calculated_qd, qd, rtol=0, atol=1e-13)
    np.testing.assert_allclose(chain.predicted_q, mechanism.integrate(start(mechanism), qd, 0.02), rtol=0, atol=1e-15)


def test_a_measured_quaternion() -> None:
    mechanism = arm()
    chain = control.Chain(mechanism, q0=start(mechanism))
    q = mechanism.integrate(start(mechanism), [0.1, 0.2, *np.zeros(10)], 1.0)
    for scale, sound in ((1.0, True), (1.005, True), (-1.0, True), (1.5, False), (0.0, False), (np.nan, False)):
        fed = q.copy()
        fed[:4] *= scale
        chain.feed(fed)
        assert chain.step(0.01) is sound
        assert chain.reason == ("converged" if sound else "input")
        at = mechanism.difference(q, chain.solved_q)
        assert np.abs(at).max() < 1e-14  # what is none is replaced by the last good one, all four numbers
    assert chain["wrist.angular_following_error"].shape == (3,)


def test_recordings_and_states_go_on_bit_for_bit(tmp_path: Path) -> None:
    mechanism = arm()
    chain = control.Chain(
        mechanism, control.MovingPosition("t", "tool", [0.5, 0.2, 0.3], [0.0] * 3), q0=start(mechanism), ports=PORTS
    )
    recorder = chain.record(100)
    for k in range(60):
        chain["t.position"] = [0.5 + 0.002 * k, 0.2, 0.3]
        chain["box.joint_angular_velocity"] = [0.0, 0.1, 0.2]
        chain.step(0.01)
        if k == 29:
            chain.save().write(tmp_path / "state.npz")
    chain.stop_recording(recorder)
    assert recorder.read("hand.quaternion_solved").shape == (60, 4)
    assert recorder.read("box.calculated_joint_linear_velocity").shape == (60, 3)
    for suffix in (".npz", ".csv"):
        recorder.write(tmp_path / f"run{suffix}")
        recording = control.Recording.load(tmp_path / f"run{suffix}")
        assert recording.differing(recorder.recording()) == {}
    fresh = control.Chain(mechanism, chain.constraints, q0=start(mechanism), ports=PORTS)
    again = control.replay(fresh, control.Recording.load(tmp_path / "run.npz"))
    assert recorder.recording().differing(again) == {}
    assert "hand.quaternion_solved.qw [1]" in (tmp_path / "run.csv").read_text().splitlines()[0]
    other = control.Chain(mechanism, chain.constraints, q0=start(mechanism), ports=PORTS)
    other.restore(control.State.read(tmp_path / "state.npz"))
    for k in range(30, 60):
        other["t.position"] = [0.5 + 0.002 * k, 0.2, 0.3]
        other.step(0.01)
    assert other.ports.values.tobytes() == chain.ports.values.tobytes()


def test_in_a_file(tmp_path: Path) -> None:
    mechanism = arm()
    q0 = mechanism.integrate(start(mechanism), 0.1 * np.ones(mechanism.nv), 1.0)
    hold = control.MovingPosition("p", "tool", [0.5, 0.2, 0.3], [0.0] * 3)
    chain = control.Chain(mechanism, hold, q0=q0, ports={**PORTS, "wrist.limits.cone": 0.5})
    chain.ports.unroute("box.quaternion")
    chain["box.quaternion"] = [0.0, 1.0, 0.0, 0.0]
    chain.write(tmp_path / "chain.toml")
    again = control.load(tmp_path / "chain.toml")
    assert again.description() == chain.description()
    assert again.ports.routes == chain.ports.routes
    chain.reset()
    chain.step(0.01)
    again.step(0.01)
    assert again.ports.values.tobytes() == chain.ports.values.tobytes()


def test_names_of_joints_and_of_a_floating_base() -> None:
    chain = control.Chain(arm(floating=True), control.MovingPosition("t", "tool", [0.0] * 3, [0.0] * 3))
    assert {"base.quaternion", "base.translation", "base.joint_linear_velocity"} <= {*chain.ports.find("base.*")}
    assert chain["turret.theta"] == chain["a.theta"]
    assert chain["wrist.quaternion"].tolist() == chain["hand.quaternion"].tolist() == [1.0, 0.0, 0.0, 0.0]
    with pytest.raises(ArgumentError, match="'base'"):
        control.Chain(arm(floating=True), control.FixedPosition("base", "tool"))


Call = Callable[[control.Chain], object]
SIZES: list[tuple[Call, str]] = [
    (lambda x: control.Chain(x.mechanism, q0=np.zeros(12)), r"q0 .*\(12,\); expected \(14,\), nq = 14: wrist_qw"),
    (lambda x: x.reset(np.zeros(15)), r"expected \(14,\), nq = 14"),
    (lambda x: x.reset(np.zeros(14)), "quaternion of the length 0 for the joint 'wrist'; expected 1"),
    (lambda x: x.feed(np.zeros(12)), r"q has the shape \(12,\); expected \(14,\), nq = 14 numbers: wrist_qw"),
    (lambda x: x.feed(x.q0, np.zeros(14)), r"qd .*\(14,\); expected \(12,\), nv = 12 numbers: wrist_wx"),
    (lambda x: x.__setitem__("hand.joint_angular_velocity", [0.0] * 4), r"given the shape \(4,\)"),
    (lambda x: x.__setitem__("hand.limits.cone", -0.1), "from 0"),
    (lambda x: control.Chain(x.mechanism, control.DrivenJoint("d", "hand")), "joint of one coordinate"),
    (lambda x: control.Chain(x.mechanism, ports={"hand.quaternion": [1.0, 0.0, 0.0]}), r"given the shape \(3,\)"),
    (lambda x: control.Chain(x.mechanism, ports={"hand.theta": 0.0}), "no port 'hand.theta'"),
]


@pytest.mark.parametrize(("call", "message"), SIZES)
def test_wrong_sizes_name_nq_and_nv(call: Call, message: str) -> None:
    chain = control.Chain(arm())
    before = chain.ports.values.copy()
    with pytest.raises(LinkwiseError, match=message):
        call(chain)
    np.testing.assert_array_equal(chain.ports.values, before)


def test_a_description_names_what_is_wrong_with_q0() -> None:
    mechanism = arm()
    q0 = start(mechanism)
    q0[0] = 2.0
    with pytest.raises(ModelError, match=r"q0\[0:4\].*length 1 for 'wrist'"):
        ChainDescription("one", mechanism, q0)
    with pytest.raises(ModelError, match="14 finite numbers"):
        ChainDescription("one", mechanism, np.zeros(12))
    leaning = mechanism.integrate(start(mechanism), np.array([1.0, *np.zeros(11)]), 1.0)
    with pytest.raises(ModelError, match=r"wrist within its cone, 0\.6 rad"):
        ChainDescription("one", mechanism, leaning)
