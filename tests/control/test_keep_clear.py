"""A chain that keeps clear: whatever it is asked, no output and no point between two outputs is nearer than the margin."""

import copy
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import control
from linkwise.clearance.pairs import collision_shapes
from linkwise.clearance.reach import levers
from linkwise.control.keep_clear import KeepClear
from linkwise.errors import ArgumentError, ModelError

MARGIN, START = 0.05, [1.9, -0.6, -0.5]
OBSTACLES = [
    lw.Shape("world", "box", (0.2, 1.0, 0.2), origin=(1.9, 1.2, 0.0), name="wall"),
    lw.Shape("world", "sphere", 0.15, origin=(-1.2, 0.6, 0.0), name="ball"),
]


@pytest.fixture(scope="module")
def arm() -> lw.Mechanism:
    plain = lw.robots.planar_3r()
    return plain.with_shapes([lw.Shape.rod(name, (-0.9, 0, 0), (0, 0, 0), 0.05) for name in plain.link_names])


def chain_of(arm: lw.Mechanism, **ports: Any) -> control.Chain:
    goal = control.FixedPosition("goal", "tool", arm.forward_kinematics(START)[:3, 3])
    return control.Chain(arm, [goal, lw.Clear(MARGIN, OBSTACLES)], q0=START, ports=ports)


def distances(arm: lw.Mechanism, q: Any) -> np.ndarray:
    return arm.clearance(q, OBSTACLES).least


@pytest.mark.parametrize("accelerations", [False, True])
def test_no_configuration_on_the_way_is_nearer_than_the_margin(arm: lw.Mechanism, accelerations: bool) -> None:
    limits = {f"{name}.max_theta_{word}eleration": 8.0 for name in arm.link_names for word in ("acc", "dec")}
    chain = chain_of(arm, **(limits if accelerations else {}))
    draw = np.random.default_rng(3)
    outputs, held = [np.array([START, START])], 0
    for k in range(1500):
        if k % 30 == 0:
            angle, radius = draw.uniform(-np.pi, np.pi), draw.uniform(0.3, 2.9)
            chain["goal.position"] = [radius * np.cos(angle), radius * np.sin(angle), 0.0]
        chain.step(float(draw.choice([0.002, 0.01, 0.05])))
        outputs.append(np.array([chain.solved_q, chain.predicted_q]))
        held += bool(chain["clear.limited"])
        assert chain["clear.distance"] == pytest.approx(float(distances(arm, chain.solved_q)), abs=1e-12)
    path = np.array(outputs)
    between = path[:-1, None] + np.linspace(0.0, 1.0, 6)[1:, None, None] * np.diff(path, axis=0)[:, None]
    assert distances(arm, between).min() >= MARGIN
    assert held > 100  # (else nothing was tested)
    assert distances(arm, path).min() < 2 * MARGIN
    assert np.ptp(path[:, 0], axis=0).max() > 1.0


def test_it_stops_at_the_margin_and_moves_away_again(arm: lw.Mechanism) -> None:
    chain = chain_of(arm)
    chain["goal.position"] = [1.9, 1.2, 0.0]
    for _ in range(400):
        chain.step(0.01)
    reserve = chain["clear.distance"] - MARGIN
    assert chain["clear.limited"]
    assert chain["chain.limited"]
    assert 0.0 < reserve < 0.2
    stopped = chain.solved_q
    chain.step(0.01)
    assert np.abs(chain.solved_q - stopped).max() < 1e-6
    chain["goal.position"] = arm.forward_kinematics(START)[:3, 3]
    for _ in range(400):
        chain.step(0.01)
    assert chain["goal.distance"] < 1e-9
    assert np.abs(chain["tool.solved_position"] - chain["goal.position"]).max() < 1e-9
    assert not chain["clear.limited"]


def test_braking_for_contact_keeps_the_accelerations(arm: lw.Mechanism) -> None:
    limits = {f"{name}.max_theta_{word}eleration": 2.0 for name in arm.link_names for word in ("acc", "dec")}
    chain = chain_of(arm, **limits)
    chain["goal.position"] = [1.9, 1.2, 0.0]
    rows = []
    for _ in range(600):
        chain.step(0.01)
        assert chain["chain.kept"]
        rows.append(chain.solved_q)
    accelerations = np.diff(np.diff([START, START, *rows], axis=0), axis=0) / 1e-4
    assert np.abs(accelerations).max() <= 2.0 * (1 + 1e-9)  # sums of differences of outputs of about 1, over dt squared
    assert np.abs(np.diff(rows[-2:], axis=0)).max() < 1e-6


def test_switched_off_it_holds_nothing_back_and_on_again_it_only_moves_away(arm: lw.Mechanism) -> None:
    chain = chain_of(arm)
    chain["clear.enabled"] = False
    chain["goal.position"] = [1.9, 1.2, 0.0]
    for _ in range(300):
        chain.step(0.01)
    assert chain["clear.distance"] < 0.0
    chain["clear.enabled"] = True
    before = float(chain["clear.distance"])
    chain["goal.position"] = arm.forward_kinematics(START)[:3, 3]
    for _ in range(20):
        chain.step(0.01)
        assert chain["clear.distance"] >= before - 1e-15
        before = float(chain["clear.distance"])


def test_a_wider_margin_is_a_port_and_states_and_copies_go_on_alike(arm: lw.Mechanism) -> None:
    chain = chain_of(arm)
    chain["clear.margin"] = 0.3
    chain["goal.position"] = [1.9, 1.2, 0.0]
    for _ in range(100):
        chain.step(0.01)
    assert chain["clear.distance"] >= 0.3
    saved, twin = chain.save(), copy.deepcopy(chain)
    ends = []
    for other in (chain, twin):
        for _ in range(50):
            other.step(0.01)
        ends.append(other.save())
    assert ends[0] == ends[1]
    chain.restore(saved)
    for _ in range(50):
        chain.step(0.01)
    assert chain.save() == ends[0]
    chain.reset()
    assert not chain["clear.limited"]
    assert chain["clear.distance"] == pytest.approx(float(distances(arm, START)), abs=1e-12)


def test_levers_bound_how_fast_distances_change(arm: lw.Mechanism) -> None:
    q = arm.random_configuration(0, 300)
    step = np.random.default_rng(1).normal(size=q.shape) * 0.05
    change = np.abs(distances(arm, q + step) - distances(arm, q))
    assert (change <= np.abs(step) @ levers(collision_shapes(arm)) + 1e-12).all()


def test_a_step_that_is_longer_than_proven_is_not_taken(arm: lw.Mechanism) -> None:
    limits, clear = chain_of(arm).constraints[1].limits(arm), np.array([[MARGIN, 1.0]])
    q, step = np.array(START), np.array([0.01, 0.0, 0.0])
    free = limits.levers @ np.abs(step)
    assert (free == 0.0).sum() == 1  # (the first link and the third: the first joint is not between them)
    for k in np.flatnonzero(free):
        for left, beyond in ((free[k] + 1e-9, 0.0), (free[k] - 1e-9, 1.0), (-1.0, 1.0)):
            distance = np.where(np.arange(len(free)) == k, MARGIN + left, 10.0)
            assert limits.checking(q, q + step, distance, clear[0]).tolist() == [beyond]
    assert limits.checking(q, q + step, np.full(len(free), -1.0), [MARGIN, 0.0]).tolist() == [0.0]  # (switched off)


def test_a_pair_that_is_near_holds_back_only_the_joints_between(arm: lw.Mechanism) -> None:
    limits = chain_of(arm).constraints[1].limits(arm)
    q, n = np.array(START), 3
    near = np.where(limits.levers[:, 0] == 0.0, MARGIN + limits.reserve, MARGIN + 100.0)  # (the first link and the third)
    toward, _, binds = limits.bounding(q, q + 0.3, np.full(n, -9.0), np.full(n, 9.0), near, [MARGIN, 1.0])
    assert toward[:n].tolist() == [q[0] + 0.3, q[1], q[2]]
    assert binds[0] > 0.0
    far = np.where(limits.levers[:, 0] == 0.0, MARGIN + 100.0, MARGIN + 0.2)
    toward, _, _ = limits.bounding(q, q + 0.3, np.full(n, -9.0), np.full(n, 9.0), far, [MARGIN, 1.0])
    low, high = toward[n : 2 * n], toward[2 * n :]
    step = np.maximum(np.abs(low - q), np.abs(high - q))
    assert (limits.levers @ step <= far - MARGIN).all()
    assert (toward[:n] > q).all()


def polar_arm() -> lw.Mechanism:
    """A joint that turns and one that slides: out at 5 m its end moves five times as far as at the limit of 1 m."""
    across = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    slide = lw.Link(joint="prismatic", name="slide", parent="turn", limits=(0.0, 1.0), before=across)
    arm = lw.Mechanism([lw.Link(joint="revolute", name="turn"), slide])
    return arm.with_shapes([lw.Shape.rod("slide", (0, 0, 0), (0, 0, 0.05), 0.02)])


@pytest.mark.parametrize("angle", [0.2, 0.5])
def test_a_slide_that_is_outside_when_clear_is_switched_on_comes_back_clear(angle: float) -> None:
    arm, away = polar_arm(), 4.8 * np.array([np.cos(angle), np.sin(angle), 0.0])
    ball = lw.Shape("world", "sphere", 0.1, origin=away, name="ball")
    drives = [control.DrivenJoint("turned", "turn"), control.DrivenJoint("slid", "slide")]
    chain = control.Chain(arm, [*drives, lw.Clear(MARGIN, [ball], disabled=())], q0=[0.0, 0.5])
    chain["clear.enabled"], chain["slide.limits.max"], chain["slid.value"] = False, 10.0, 5.0
    for _ in range(3):
        chain.step(1.0)
    assert chain.solved_q[1] == pytest.approx(5.0)
    chain["clear.enabled"], chain["turned.value"] = True, 3.0
    outputs = [chain.solved_q]
    for _ in range(80):
        chain.step(1.0)
        outputs.append(chain.solved_q)
    path = np.array(outputs)
    between = path[:-1, None] + np.linspace(0.0, 1.0, 101)[:, None] * np.diff(path, axis=0)[:, None]
    assert arm.clearance(between, [ball], disabled=()).least.min() >= MARGIN
    assert path[-1] == pytest.approx([3.0, 1.0])


def test_limits_of_ports_do_not_let_a_slide_out_farther_than_the_levers_hold() -> None:
    arm = polar_arm()
    balls = [lw.Shape("world", "sphere", 0.3, origin=(0, radius, 0), name=f"ball{radius}") for radius in (1, 5)]
    goal = control.FixedPosition("goal", "slide", [0.5, 0.0, 0.0])
    chain = control.Chain(arm, [goal, lw.Clear(MARGIN, balls, disabled=())], q0=[0.0, 0.5])
    chain["slide.limits.max"] = 10.0
    outputs = [chain.solved_q]
    for angle in (0.0, 1.0, 2.0, 3.0):
        for _ in range(40):
            chain["goal.position"] = [5.0 * np.cos(angle), 5.0 * np.sin(angle), 0.0]
            chain.step(1.0)
            outputs.append(chain.solved_q)
    path = np.array(outputs)
    between = path[:-1, None] + np.linspace(0.0, 1.0, 21)[:, None] * np.diff(path, axis=0)[:, None]
    assert arm.clearance(between, balls, disabled=()).least.min() >= MARGIN
    assert path[:, 1].max() <= 1.0
    assert np.ptp(path[:, 0]) > 0.5


def test_loops_that_close_do_not_lead_nearer() -> None:
    turn = 2.0 * np.pi / 3.0
    closed = [control.LoopClosure("pin", "link3", "start"), control.DrivenJoint("motor", "link1")]
    arm = lw.robots.planar_3r().with_shapes([lw.Shape.rod("link2", (-0.6, 0, 0), (-0.1, 0, 0), 0.05)])
    ball = lw.Shape("world", "sphere", 0.1, origin=(-0.15, 0.853, 0.0), name="ball")  # in the way of the second side
    chain = control.Chain(arm, [*closed, lw.Clear(MARGIN, [ball])], q0=[0.0, turn, turn])
    path = [chain.q0]
    chain["motor.value"] = 2.0
    for _ in range(200):
        chain.step(0.01)
        path.append(chain.solved_q)
        assert np.abs(chain.solved_q[1:] - turn).max() < 1e-9  # (closed)
    between = np.linspace(0.0, 1.0, 5)[:, None, None] * np.diff(path, axis=0) + np.array(path[:-1])
    assert arm.clearance(between, [ball]).least.min() >= MARGIN
    assert chain["clear.limited"]
    assert 0.3 < path[-1][0] < 1.5


def test_a_reset_into_the_margin_of_the_port_is_refused_and_changes_nothing(arm: lw.Mechanism) -> None:
    chain = chain_of(arm)
    q0, chain["clear.margin"] = chain.q0.copy(), 1.0
    for begin in (None, [1.8, -0.6, -0.5]):
        with pytest.raises(ArgumentError, match="more than the margin of 1 m"):
            chain.reset(begin)
        assert chain.q0.tolist() == q0.tolist()
    chain["clear.enabled"] = False
    chain.reset([0.0, 0.0, 3.0])
    assert chain["clear.distance"] < 1.0


def test_chains_of_one_mechanism_call_what_keeps_clear_by_names_of_their_own(arm: lw.Mechanism) -> None:
    ends = []
    for name in ("clear", "apart"):
        chain = control.Chain(arm, [KeepClear(name, clear=lw.Clear(MARGIN, OBSTACLES))], q0=START)
        chain.step(0.01)
        ends.append(chain[f"{name}.distance"])
    assert ends[0] == ends[1]


WRONG = {
    "too near": (lambda arm: control.Chain(arm, lw.Clear(1.0, OBSTACLES), q0=START), r"where the chain .* m, link\d and "),
    "no shapes": (lambda arm: control.Chain(lw.robots.planar_3r(), lw.Clear(0.1, OBSTACLES)), "no collision shapes"),
    "no pairs": (lambda arm: control.Chain(arm.with_shapes(arm.shapes[:1]), lw.Clear(0.1)), "no pair of shapes"),
    "twice": (lambda arm: control.Chain(arm, [lw.Clear(0.01), lw.Clear(0.01)], q0=START), "'clear' would name two things"),
    "reset": (lambda arm: chain_of(arm).reset([0.0, 0.0, 3.0]), "the least distance where the chain"),
    "a dot": (lambda arm: control.Chain(arm, KeepClear("a.b", clear=lw.Clear(0.01)), q0=START), "without a dot"),
    "margin of the port": (lambda arm: chain_of(arm, **{"clear.margin": 1.0}), "more than the margin of 1 m"),
    "margin": (lambda arm: chain_of(arm).ports.write("clear.margin", -0.1), "clear.margin"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_named(arm: lw.Mechanism, wrong: str) -> None:
    act, message = WRONG[wrong]
    with pytest.raises((ArgumentError, ModelError), match=message):
        act(arm)
