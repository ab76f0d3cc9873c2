"""At change points of linkages, where all bars are in one line, branches of motion meet: a chain keeps its own."""

from functools import cache

import numpy as np
import pytest

from linkwise import robots
from linkwise.control import Chain, DrivenJoint, FixedLink, LoopClosure, RevoluteLink, State
from support.random_linkages import parallelogram

DT = 0.01
TIME = np.arange(1300) * DT

WAYS = {
    "there and back": 0.1 + np.pi * np.sin(0.7 * TIME),
    "turning": 0.8 + 1.0 * TIME,
    "turning backwards": 0.8 - 1.37 * TIME,
    "in long steps": 0.8 + 5.0 * TIME,
    "upon it": np.pi / 4 + np.pi / 100 * np.arange(400),
    "resting upon it": 0.3 + np.clip(0.5 * TIME, 0.0, np.pi - 0.3) + np.clip(0.5 * TIME - np.pi - 0.4, 0.0, None),
    "turning round upon it": np.pi - np.abs(np.pi - 0.6 - 0.5 * TIME),
    "slowly": np.pi - 0.02 + 1e-4 * np.arange(400),
    "unsteadily": 0.5 + np.cumsum(np.random.default_rng(1).normal(0.02, 0.05, len(TIME))),
}
"""What the crank does: an angle for each cycle."""

LOOSE = 3e-5
"""In one line the joint values are known to the root of the precision of 1e-10, in bars of 1 m."""


@cache
def made(kind: str) -> tuple[Chain, State]:
    """A parallelogram from links and `LoopClosure`, the same with a third bar, or one whose loop is the mechanism's own."""
    if kind == "own loop":
        chain = Chain(parallelogram(), DrivenJoint("motor", "crank"), q0=[0.5, -0.5, 0.5])
        return chain, chain.save()
    links = [
        RevoluteLink("crank", a=1.0, predecessor="start", theta=0.5),
        RevoluteLink("coupler", a=2.0, theta=-0.5),
        FixedLink("ground", a=2.0, predecessor="start"),
        RevoluteLink("other", a=1.0, theta=0.5, predecessor="ground"),
    ]
    constraints: list = [LoopClosure("pin", "coupler", "other"), DrivenJoint("motor", "crank")]
    if kind == "three bars":
        links += [
            FixedLink("ground 2", a=1.0, predecessor="start"),
            RevoluteLink("middle", a=1.0, theta=0.5, predecessor="ground 2"),
            FixedLink("half", a=-1.0, predecessor="coupler"),
        ]
        constraints.append(LoopClosure("second pin", "half", "middle"))
    chain = Chain(links, constraints, name=kind)
    return chain, chain.save()


def begun(kind: str, angle: float, *, crossed: bool = False) -> Chain:
    """The chain at rest with its crank at an angle."""
    chain, first = made(kind)
    chain.restore(first)
    q = np.array([-angle if name == "coupler" else angle for name, _ in chain.layout.joints])
    if crossed:
        q = crossed_bars(angle)
    chain["motor.value"] = angle
    chain.reset(q)
    return chain


def crossed_bars(crank: float) -> np.ndarray:
    """Crank, coupler (from the crank) and other bar (from the ground) of the crossed assembly, bars 1 m, 2 m: its mirror."""
    tip, pivot = np.array([np.cos(crank), np.sin(crank)]), np.array([2.0, 0.0])
    across = (tip - pivot) / np.linalg.norm(tip - pivot)
    straight = tip + pivot  # the tip of the other bar in the parallelogram, mirrored in the diagonal
    mirrored = pivot + 2.0 * across * (across @ (straight - pivot)) - (straight - pivot)
    along, bar = mirrored - tip, mirrored - pivot
    return np.array([crank, np.arctan2(along[1], along[0]) - crank, np.arctan2(bar[1], bar[0])])


def off(chain: Chain, q: np.ndarray) -> float:
    """By how much crank and other bar are not parallel, rad."""
    values = dict(zip([name for name, _ in chain.layout.joints], q, strict=True))
    return abs(float(values["crank"] - values["other"]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["pin", "three bars", "own loop"])
def test_a_parallelogram_stays_one(kind: str, way: str) -> None:
    """Solved in every cycle, now and ahead.

    A cycle in which the change point is passed near the end of a step may turn off by the sine of six degrees, a tenth,
    without being doubted; the next one comes back. All joints together step twice as far as the crank at most.
    """
    angles = WAYS[way]
    chain, step = begun(kind, angles[0]), np.abs(np.diff(angles)).max()
    worst = 0.0
    for angle in angles:
        chain["motor.value"] = angle
        assert chain.step(DT), (chain.reason, angle)
        worst = max(worst, off(chain, chain.solved_q), off(chain, chain.predicted_q))
    assert worst <= LOOSE + 0.2 * step


@pytest.mark.parametrize("kind", ["pin", "three bars"])
def test_predicted_values_stay_on_the_branch_too(kind: str) -> None:
    chain, worst = begun(kind, 0.8), 0.0
    for k in range(800):
        chain["motor.value"], chain["motor.speed"] = 0.8 + 0.013 * k, 1.3
        assert chain.step(DT)
        worst = max(worst, off(chain, chain.solved_q), off(chain, chain.predicted_q))
    assert worst <= LOOSE + 0.2 * 0.013
    chain["motor.speed"] = 0.0


def test_within_limits_too() -> None:
    chain, worst = begun("three bars", 0.8), 0.0
    for end in ("crank", "coupler", "other"):
        for what, limit in (("speed", 2.0), ("acceleration", 10.0), ("deceleration", 10.0)):
            chain[f"{end}.max_{what}"] = limit
    for angle in 0.8 + np.pi * np.sin(0.9 * TIME):
        chain["motor.value"] = angle
        assert chain.step(DT)
        worst = max(worst, off(chain, chain.solved_q))
    assert worst <= LOOSE


def test_a_crossed_one_stays_crossed() -> None:
    """The other branch is kept as well: its passive bars are those of the crossed assembly all the way, through one line.

    Near one line its joint values follow from the root of the precision, as above.
    """
    chain = begun("pin", 0.8, crossed=True)
    for k in range(1000):
        angle = 0.8 + 0.01 * k
        chain["motor.value"] = angle
        assert chain.step(DT)
        apart = np.exp(1j * chain.solved_q) - np.exp(1j * crossed_bars(angle))
        assert np.abs(apart).max() <= 3 * LOOSE + 0.2 * 0.01


def test_what_no_equation_settles_does_not_go_on_moving() -> None:
    """A five-bar with one motor: what its second freedom did before leaves no trace in the answers, to the last bit."""
    first, second = (Chain(robots.five_bar(), DrivenJoint("motor", robots.five_bar().link_names[0])) for _ in range(2))
    joints = [f"{link}.{letter}" for link, letter in first.layout.joints]
    for _ in range(30):
        q = first.predicted_q
        first.feed(q, np.where(np.arange(len(q)) < 2, 0.5, 0.2))
        first["motor.value"] = q[0] + 0.005
        first.step(DT)
    first.feed(first.solved_q, np.zeros(len(joints)))
    first.step(DT)
    for name in joints:
        first.ports.route(f"{name}_solved", name)
    second.reset(first.solved_q)
    for _ in range(30):
        for chain in (first, second):
            chain["motor.value"] = float(chain.solved_q[0]) + 0.01
            assert chain.step(DT)
    assert np.array_equal(first.solved_q, second.solved_q)
