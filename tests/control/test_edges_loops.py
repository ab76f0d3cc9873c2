"""Loop constraints that are switched while the chain is at rest or in motion, within greatest speeds and accelerations."""

import numpy as np
import pytest

from linkwise.control import Chain, LoopClosure, MovingPosition, RevoluteLink
from support.chains import EPS, PRECISION, crane, crane_ends, enable, exceeded, place_of, predicted, run, solved, turn, ways

LIMITS = {"hook": (0.5, 1.0, 1.5), "lamp": (0.6, 2.0, 2.0)}


def bounded() -> Chain:
    chain = crane()
    for link, values in LIMITS.items():
        for what, value in zip(("speed", "acceleration", "deceleration"), values, strict=True):
            chain[f"{link}.max_{what}"] = value
    return chain


def apart(q: np.ndarray) -> float:
    """From the hook to the lamp, m."""
    ends = crane_ends(*q)
    return float(np.linalg.norm(ends["hook"][:3, 3] - ends["lamp"][:3, 3]))


def kept(chain: Chain, rows: np.ndarray, dt: float = 0.01) -> bool:
    periods = np.full(len(rows) - 1, dt)
    return all(
        exceeded(ways(chain, rows, link), periods, *values, 5.0) == (0.0, 0.0, 0.0) for link, values in LIMITS.items()
    )


def test_ends_that_are_apart_come_together_and_stay_so() -> None:
    chain = bounded()
    enable(chain, "grip")
    rows = run(chain, 400)
    assert not chain.unsolved
    assert not chain["chain.limited"]
    assert kept(chain, rows)
    gaps = np.array([apart(row) for row in rows])
    assert gaps[0] > 0.3
    assert (np.diff(gaps) <= 4 * EPS).all()
    assert gaps[-1] <= PRECISION + 64 * EPS
    # Together they go where another constraint leads them: the loop is closed all the way.
    enable(chain, "target", position=crane_ends(0.7, 0.0, 0.0, 0.3)["lamp"][:3, 3])
    rows = run(chain, 600)
    assert kept(chain, rows)
    assert np.abs(rows[-1] - rows[0]).max() > 0.1
    assert max(apart(row) for row in rows) <= 1e-9
    assert not chain.unsolved, chain.reason


@pytest.mark.parametrize("seed", range(6))
def test_loops_switched_while_in_motion(seed: int) -> None:
    """With targets, velocities and a loop switched at random: no limit of an end is exceeded, now or ahead."""
    chain, rng = bounded(), np.random.default_rng([seed, 8])
    low, high = chain.mechanism.q_min, chain.mechanism.q_max
    rows, ahead = [solved(chain)], [predicted(chain)]
    for k in range(300):
        if k % 29 == 0:
            for name in ("place", "target", "speed", "grip"):
                chain[f"{name}.enabled"] = bool(rng.random() < 0.5)
            for name in ("place", "target"):
                wanted = rng.uniform([-1.0, 0.0, 0.5], [1.0, 1.2, 2.3])
                chain[f"{name}.position"] = crane_ends(*wanted, 0.1)["hook"][:3, 3]
            chain["speed.velocity"] = rng.uniform(-0.4, 0.4, 3)
            chain["lamp.theta_speed"] = rng.uniform(-0.5, 0.5)
        chain.step(0.01)
        assert np.isfinite(chain.ports.outputs).all()
        assert chain["chain.kept"]
        rows.append(solved(chain))
        ahead.append(predicted(chain))
    for every in (np.array(rows), np.array(ahead)):
        assert ((every >= low) & (every <= high)).all()
        assert kept(chain, every)


def test_a_loop_of_rotations_too_stays_closed_on_the_way() -> None:
    """Two arms that hold one thing as if they were welded, and carry it elsewhere within a greatest speed."""
    links = [
        RevoluteLink("a1", a=1.0, predecessor="start", theta=1.2),
        RevoluteLink("a2", a=1.0, theta=-1.0),
        RevoluteLink("a3", a=0.3, theta=0.3),
        RevoluteLink("b1", a=1.4, predecessor="start", theta=-0.5),
        RevoluteLink("b2", a=1.0, theta=1.2),
        RevoluteLink("b3", a=0.2, theta=-0.2),
    ]
    constraints = [LoopClosure("weld", "a3", "b3", rotation=True), MovingPosition("target", "a3", enabled=False)]
    chain = Chain(links, constraints, name="two arms")
    assert chain.step(0.01)
    enable(chain, "target", position=np.array([-0.4, 0.4, 0.0]) + chain["a3.solved_position"])
    for what, most in (("speed", 0.3), ("acceleration", 1.0), ("deceleration", 1.0)):
        chain[f"a3.max_{what}"] = most
    rows = run(chain, 300)
    assert chain.reason == "converged"
    assert np.abs(rows[-1] - rows[0]).max() > 0.1
    ends = [[place_of(chain.mechanism, row, link) for link in ("a3", "b3")] for row in rows]
    assert max(np.linalg.norm((one - two)[:3, 3]) for one, two in ends) < 1e-10
    assert max(np.linalg.norm(turn(one[:3, :3] @ two[:3, :3].T)) for one, two in ends) < 1e-10
