"""A long time in a control loop: what repeats does so to the bit, and nothing grows."""

import gc
import sys
import tracemalloc

import numpy as np
import pytest

from linkwise import robots
from linkwise.control import Chain, FixedPosition, MovingPosition
from linkwise.control.cycle.kernels import CLOCK
from support.chains import EPS, HOOK_GOAL, PRECISION, crane, enable, given_back, place_of, run, solved

LAP, RADIUS = 100, 0.3


@given_back
def redundant() -> Chain:
    """Three joints for the two coordinates of a place in the plane."""
    place = FixedPosition("place", "tool", [1.5, 1.0, 0.0])
    return Chain(robots.planar_3r(), [place, MovingPosition("target", "tool", enabled=False)], q0=[0.3, 0.8, 0.5])


def remembered(chain: Chain) -> tuple[bytes, np.ndarray]:
    """All that the next cycle depends on, but for how many there were; and the integrals of the regulators apart."""
    memory, first = chain._cycle.memory.copy(), chain.layout.inputs
    memory[first + 1 : first + len(CLOCK)] = 0.0
    report = chain._cycle.parts.report
    integrals = report.kept_of(memory[first : first + report.size])["integral"]
    kept = integrals.copy()
    integrals[:] = 0.0
    return chain.ports.inputs.tobytes() + memory.tobytes(), kept


def laps(chain: Chain, count: int) -> np.ndarray:
    """Go round a circle; the joint values at the end of each lap (count, n). Every cycle is solved."""
    angle = 2 * np.pi * np.arange(LAP) / LAP
    circle = [1.5, 1.0, 0.0] + RADIUS * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    given, reached, rows = chain.ports.view("place.position"), chain.ports.view("tool.world_position"), []
    worst, step = 0.0, chain.step
    for _ in range(count):
        for point in circle:
            given[:] = point
            assert step(0.001)
            worst = max(worst, *abs(reached - point))
        rows.append(solved(chain))
    assert worst <= PRECISION + 16 * EPS
    return np.array(rows)


def test_a_redundant_arm_that_goes_round_comes_to_repeat_itself_to_the_bit() -> None:
    """2e5 cycles: least steps of the joints do not close over a lap (C. A. Klein, C.-H. Huang, "Review of pseudoinverse
    control for use with kinematically redundant manipulators", 1983), but settle; from then on a lap ends in the state in
    which it began, so nothing can drift however long it goes on."""
    chain = redundant()
    rows = laps(chain, 1998)
    change = np.abs(np.diff(rows, axis=0)).max(axis=1)
    assert np.abs(rows - rows[0]).max() < np.pi
    assert (np.diff(change[:1000:50]) < 0).all()  # less in each lap,
    assert change[-100:].max() <= 1e-9  # until nothing is left
    before, sums = remembered(chain)
    laps(chain, 2)
    after, later = remembered(chain)
    assert after == before
    # An integral, a sum of speeds times dt, is rounded in every cycle.
    assert np.abs(later - sums).max() <= 2 * LAP * 0.5 * EPS * max(1.0, np.abs(sums).max())


def test_what_no_constraint_asks_for_stays() -> None:
    """Joints that no row moves keep their values to the bit while others go round."""
    chain = crane()
    enable(chain, "target")
    for k in range(2000):
        chain["target.position"] = HOOK_GOAL + 0.2 * np.array([np.cos(k / 50), np.sin(k / 50), 0.0])
        assert chain.step(0.001)
    assert chain["lamp.theta_solved"] == 0.1


def test_a_chain_that_is_solved_stands_to_the_bit() -> None:
    chain = crane()
    enable(chain, "place", position=HOOK_GOAL)
    run(chain, 3, 0.001)
    (before, sums), outputs = remembered(chain), solved(chain)
    run(chain, 5000, 0.001)
    assert remembered(chain)[0] == before
    assert (remembered(chain)[1] == sums).all()
    assert (solved(chain) == outputs).all()


def test_time_is_counted_without_losing_any() -> None:
    """A sum of 2e4 periods, each rounded by half a unit in the last place of the sum at most."""
    chain = crane()
    for _ in range(20_000):
        chain.step(0.001)
    assert chain["chain.cycle"] == 20_000
    assert abs(chain["chain.time"] - 20.0) <= 20_000 * 0.5 * np.spacing(20.0)


@pytest.mark.parametrize("make", [crane, redundant])
def test_no_memory_is_taken(make) -> None:
    """As many blocks of memory after 1,500 cycles as before: with limits, a target that moves and is out of reach too."""
    chain = make()
    if make is crane:
        for what, value in (("speed", 0.5), ("acceleration", 1.0), ("deceleration", 1.0)):
            chain[f"hook.max_{what}"] = value
    enable(chain, "target", velocity=[0.01, 0.0, 0.0])
    given, step = chain.ports.view("target.position"), chain.step
    near = [place_of(chain.mechanism, chain.q0 + turned)[:3, 3] for turned in (0.0, 0.05, -0.05)]
    goals = np.array([*near, [0.0, 0.0, 40.0]])

    def cycles(count: int) -> None:
        for k in range(count):
            given[:] = goals[3 if k % 100 > 95 else k // 40 % 3]
            step(0.001)

    def grown(measure) -> int:
        cycles(200)
        gc.collect()
        before = measure()
        cycles(1_500)
        gc.collect()
        return measure() - before

    assert grown(sys.getallocatedblocks) <= 2  # (what the interpreter itself holds, such as the last exception)
    tracemalloc.start()
    try:
        assert grown(lambda: tracemalloc.get_traced_memory()[0]) <= 512
    finally:
        tracemalloc.stop()
