"""Speeds and accelerations of links within closed loops: never above their limits, for random linkages and targets."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism
from linkwise.control import Chain, DrivenJoint
from linkwise.spatial.transform import translation
from support.chains import EPS
from support.random_linkages import random_loop

CYCLES = 400


def random_four_bar(rng: np.random.Generator) -> tuple[Mechanism, np.ndarray]:
    """Bars of 0.3 to 2 m of which at least one can turn round, closed somewhere."""
    bars = np.zeros(4)
    while bars.max() + bars.min() >= 0.5 * bars.sum() - 0.05:  # (F. Grashof's condition)
        bars = rng.uniform(0.3, 2.0, 4)
    ground, crank, coupler, rocker = bars.tolist()
    links = [
        Link(name="crank", parent="base"),
        Link(name="coupler", parent="crank", before=translation(crank, 0, 0)),
        Link(name="rocker", parent="base", before=translation(ground, 0, 0)),
    ]
    loop = Loop("hinge", "coupler", "rocker", translation(coupler, 0, 0), translation(rocker, 0, 0), "pin")
    made = Mechanism(links, loops=[loop], name="four-bar")
    start = made.solve([], q0=rng.uniform(-1.0, 1.0, 3))
    assert start.success
    return made, np.asarray(start.q)


def random_linkage(seed: int) -> tuple[Mechanism, np.ndarray, list[str], float]:
    """A mechanism, where it begins, what drives it, and how far targets are away."""
    rng = np.random.default_rng([seed, 3])
    if seed % 3 < 2:  # by its crank, or by its rocker, which has ends of its stroke
        mechanism, q = random_four_bar(rng)
        return mechanism, q, [str(mechanism.link_names[0 if seed % 3 == 0 else 2])], 1.5
    mechanism, q = random_loop(seed, "point", ["revolute"] * 6)
    return mechanism, q, [str(name) for name in mechanism.link_names[:3]], 0.6


@pytest.mark.parametrize("seed", [2, 5, 10, 12, 27, 33, 36, 39])
def test_limits_are_kept_within_loops(seed: int) -> None:
    """Targets jump and move, some beyond what the linkage reaches; cycles are of one length, or not.

    Velocities are differences of places of a few metres over a cycle, accelerations differences of those over the time
    between their middles: 64 roundings of the size bound a velocity over the shortest cycle, twice as much a difference.
    """
    mechanism, q, motors, span = random_linkage(seed)
    rng = np.random.default_rng([seed, 4])
    chain = Chain(mechanism, [DrivenJoint(f"motor {name}", name) for name in motors], q0=q)
    speed, change = float(rng.choice([0.5, 1.0, 2.0])), float(rng.choice([2.0, 3.0, 8.0]))
    ends = list(mechanism.link_names)
    for end in ends:
        chain[f"{end}.max_speed"] = speed
        chain[f"{end}.max_acceleration"] = chain[f"{end}.max_deceleration"] = change
    first = {name: float(chain[f"motor {name}.value"]) for name in motors}
    places, lengths = [[chain[f"{end}.solved_position"] for end in ends]], []
    target, rate = dict(first), dict.fromkeys(motors, 0.0)
    for k in range(CYCLES):
        dt = float(rng.uniform(0.005, 0.015)) if seed % 4 == 0 else 0.01
        if k % 90 == 0:
            target = {name: value + rng.uniform(-span, span) for name, value in first.items()}
            rate = {name: float(rng.choice([0.0, rng.uniform(-0.5, 0.5)])) for name in motors}
        for name in motors:
            target[name] += rate[name] * dt
            chain[f"motor {name}.value"], chain[f"motor {name}.speed"] = target[name], rate[name]
        chain.step(dt)
        assert chain["chain.kept"]
        lengths.append(dt)
        places.append([chain[f"{end}.solved_position"] for end in ends])
    dt = np.array(lengths)
    velocities = np.diff(np.array(places), axis=0) / dt[:, None, None]
    velocities = np.concatenate([np.zeros((1, *velocities.shape[1:])), velocities])
    middles = 0.5 * (dt + np.r_[dt[0], dt[:-1]])
    accelerations = np.linalg.norm(np.diff(velocities, axis=0), axis=2) / middles[:, None]
    rounding = 64 * EPS * (1.0 + np.abs(np.array(places)).max()) / dt.min()
    assert np.linalg.norm(velocities, axis=2).max() <= speed + rounding
    assert accelerations.max() <= change + 2 * rounding / dt.min()
    assert accelerations.max() >= 0.99 * change  # (so hard it does go)
