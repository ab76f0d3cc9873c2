"""What holds for every cyclic chain, whatever its links, limits and targets: joint limits are never left, no end is faster
or changes its speed faster than it may, a target is not passed, the same inputs give the same bits."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.control import Chain, FixedPosition, MovingPosition, State, Velocity, replay, rotation_angles
from support.chains import EPS, enable, exceeded, place_of, predicted, solved
from support.random_mechanisms import coupled, random_mechanism

MADE_OF = {
    1: (("revolute", "prismatic", "screw", "revolute"), (-1, 0, 1, 0)),
    2: (("revolute", "revolute", "prismatic", "revolute"), (-1, 0, 1, 2)),
}
"""Kinds and parents of the links; in the second some joints follow others. Any other seed is a mechanism of its own."""

SEEDS = tuple(MADE_OF)

SIZE = 10.0
"""No end of these mechanisms comes further than this from the start, m."""


def limited(seed: int) -> Mechanism:
    """A random mechanism with joint limits, most of them."""
    rng = np.random.default_rng([seed, 41])
    mech = random_mechanism(seed, *MADE_OF.get(seed, (None, None)), motors=False)
    mech = coupled(mech, seed) if seed % 4 == 2 else mech
    links = []
    for link in mech.links:
        low = rng.uniform(-2.0, -0.2)
        high, bounded = low + rng.uniform(0.5, 3.0), link.moves and not link.mimic and rng.random() < 0.7
        links.append(link.replace(limits=(low, high), dh_row=link.dh_row) if bounded else link)
    return mech.replace(links=links)


@cache
def made(seed: int) -> tuple[Chain, State]:
    mech = limited(seed)
    names = mech.link_names
    constraints = [
        MovingPosition("target", "tool", angles=(0.0, 0.0, 0.0), enabled=False),
        FixedPosition("place", names[len(names) // 2], enabled=False),
        Velocity("speed", "tool", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), enabled=False),
    ]
    chain = Chain(mech, constraints)
    return chain, chain.save()


def chain_of(seed: int) -> Chain:
    chain, first = made(seed)
    chain.restore(first)
    return chain


def within(chain: Chain, rng: np.random.Generator) -> np.ndarray:
    """Joint values (n,) within the limits."""
    low, high = np.clip(np.column_stack([chain.mechanism.q_min, chain.mechanism.q_max]), -2.0, 2.0).T
    return np.asarray(rng.uniform(low, high))


def bound(chain: Chain, rng: np.random.Generator) -> dict[str, tuple[float, float, float]]:
    """Give some ends greatest speeds and accelerations, some of them none."""
    given = {}
    for end in rng.choice(chain.layout.ends, 2, replace=False):
        values = [float(v) if rng.random() < 0.75 else np.inf for v in rng.uniform([0.1, 0.3, 0.3], [1.5, 4.0, 4.0])]
        given[str(end)] = tuple(values)
        for what, value in zip(("speed", "acceleration", "deceleration"), values, strict=True):
            chain[f"{end}.max_{what}"] = value
    return given


def change(chain: Chain, rng: np.random.Generator) -> None:
    """Anything that a client might write."""
    for name in ("target", "place", "speed"):
        if rng.random() < 0.4:
            chain[f"{name}.enabled"] = bool(rng.random() < 0.5)
    pose = place_of(chain.mechanism, within(chain, rng))
    chain["target.position"] = pose[:3, 3] if rng.random() < 0.8 else rng.uniform(-5.0, 5.0, 3)
    chain["target.angles"] = rotation_angles(pose[:3, :3])
    link = next(c.link for c in chain.constraints if c.name == "place")
    chain["place.position"] = place_of(chain.mechanism, within(chain, rng), link)[:3, 3]
    for name in ("target.velocity", "target.angular_velocity", "speed.velocity", "speed.angular_velocity"):
        chain[name] = rng.normal(scale=0.3, size=3) * (rng.random() < 0.5)
    chain["start.velocity"] = rng.normal(scale=0.2, size=3) * (rng.random() < 0.3)
    for link, letter in chain.layout.joints:
        chain[f"{link}.{letter}_speed"] = rng.normal(scale=0.5) * (rng.random() < 0.2)


def checked(chain: Chain, rows: np.ndarray, periods: np.ndarray, bounds: dict[str, tuple[float, float, float]]) -> None:
    """Limits of joints to the bit, those of ends to rounding, by passes of their own."""
    low, high = chain.mechanism.q_min, chain.mechanism.q_max
    assert ((rows >= low) & (rows <= high)).all()
    for end, most in bounds.items():
        places = np.array([place_of(chain.mechanism, row, end)[:3, 3] for row in rows])
        assert exceeded(places, periods, *most, SIZE) == (0.0, 0.0, 0.0), (end, most)


@pytest.mark.parametrize("case", range(8))
@pytest.mark.parametrize("seed", SEEDS)
def test_limits_of_joints_and_of_ends_are_never_exceeded(seed: int, case: int) -> None:
    chain, rng = chain_of(seed), np.random.default_rng([seed, case])
    bounds = bound(chain, rng)
    rows, ahead, periods = [solved(chain)], [predicted(chain)], []
    dt = float(rng.choice([0.002, 0.01, 0.03]))
    for k in range(160):
        if k % 40 == 0:
            change(chain, rng)
        periods.append(dt if case % 2 else dt * float(rng.uniform(0.3, 3.0)))
        chain.step(periods[-1])
        assert np.isfinite(chain.ports.outputs).all()
        assert chain["chain.kept"]
        rows.append(solved(chain))
        ahead.append(predicted(chain))
    for every in (rows, ahead):
        checked(chain, np.array(every), np.array(periods), bounds)


@pytest.mark.parametrize("case", range(8))
@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_of_the_target_is_not_passed(seed: int, case: int) -> None:
    """From rest, each joint only comes nearer to where it goes, on a straight line, and is there to the bit."""
    chain, rng = chain_of(seed), np.random.default_rng([seed, case, 1])
    bounds = bound(chain, rng)
    wanted = within(chain, rng)
    pose = place_of(chain.mechanism, wanted)
    enable(chain, "target", position=pose[:3, 3], angles=rotation_angles(pose[:3, :3]))
    rows, dt = [solved(chain)], float(rng.choice([0.005, 0.02]))
    while len(rows) < 4000 and (len(rows) < 4 or chain["chain.limited"]):
        chain.step(dt)
        rows.append(solved(chain))
    chain.step(dt)
    assert (solved(chain) == rows[-1]).all()
    goal, line = rows[-1], rows[-1] - rows[0]
    if not chain.unsolved:
        reached = place_of(chain.mechanism, goal)
        assert np.linalg.norm(reached[:3, 3] - pose[:3, 3]) <= 1e-10 + 64 * EPS * SIZE
    every = np.array(rows)
    checked(chain, every, np.full(len(rows) - 1, dt), bounds)
    if chain.unsolved:
        return  # (the nearest that can be reached may be found better from cycle to cycle: then there is no one line)
    left = (goal - every) * np.sign(line)
    assert (left >= 0.0).all()
    assert (np.diff(left, axis=0) <= 4 * EPS * np.abs(every).max()).all()
    share = (every - rows[0]) @ line / max(line @ line, 1e-300)
    assert np.abs(every - rows[0] - share[:, None] * line).max() <= 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_inputs_give_the_same_bits(seed: int) -> None:
    """Two runs of one chain, a chain made anew, a restored state, and a replayed recording."""
    outputs, first = [], chain_of(seed)
    for chain in (first, Chain(first.mechanism, first.constraints)):
        rng = np.random.default_rng([seed, 2])
        bound(chain, rng)
        told = []
        recorder, last = chain.record(200), chain.record(25)
        for k in range(60):
            if k % 15 == 0:
                change(chain, rng)
            if k == 30:
                kept = chain.save()
            chain.step(0.01)
            told.append(chain.ports.values.copy())
        chain.stop_recording(recorder)
        chain.stop_recording(last)
        outputs.append(np.array(told))
    assert outputs[0].tobytes() == outputs[1].tobytes()
    played = replay(chain, recorder)
    assert not played.differing(recorder.recording())
    assert last.lost == 35
    assert not replay(Chain(first.mechanism, first.constraints), last).differing(last.recording())
    chain.restore(kept)
    for wanted in outputs[0][30:45]:
        chain.ports.inputs[:] = wanted[: len(chain.ports.inputs)]
        chain.step(0.01)
        assert chain.ports.values.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("seed", SEEDS[:1])
def test_numpy_gives_the_same_to_rounding(seed: int, uncompiled: None) -> None:
    compiled, plain = chain_of(seed), Chain(limited(seed).replace(name=f"plain {seed}"), made(seed)[0].constraints)
    rng = np.random.default_rng([seed, 3])
    pose = place_of(compiled.mechanism, within(compiled, rng))
    for chain in (compiled, plain):
        enable(chain, "place", position=place_of(chain.mechanism, chain.q0, "part2")[:3, 3])
        chain["tool.max_speed"], chain["tool.max_acceleration"], chain["tool.max_deceleration"] = 0.5, 2.0, 2.0
        enable(chain, "target", position=pose[:3, 3], angles=rotation_angles(pose[:3, :3]), velocity=[0.1, 0.0, -0.1])
        chain["place.enabled"] = False
    for _ in range(25):
        assert compiled.step(0.01) == plain.step(0.01)
        # (the precision is 1e-10; iterations that round otherwise differ by the square of it, so by rounding only)
        assert np.abs(solved(compiled) - solved(plain)).max() <= 1e-9
        assert np.abs(predicted(compiled) - predicted(plain)).max() <= 1e-9
