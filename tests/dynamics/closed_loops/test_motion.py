"""Simulation with loops closed: they stay closed, energy and momentum are kept, and equivalent models move alike."""

from __future__ import annotations

import re

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, robots, simulate
from linkwise.errors import ArgumentError, SimulationError
from linkwise.loops import assemble
from linkwise.simulation import Feedback
from linkwise.spatial.transform import translation
from support.random_linkages import bennett, closed_state, near_zero, parallelogram, random_loop

SIZE = 1e-12
"""How far loops may be open at a recorded instant, in m and rad, of mechanisms of about 1 m: the steps close them to 1e-11
of their size or fail, and reach rounding, unless the step is coarse."""


def started(name: str, size: float = 1.0) -> tuple[Mechanism, np.ndarray, np.ndarray]:
    """A mechanism in a closed state."""
    mech, q = {"bennett": bennett, "helped": helped}.get(name, lambda: bundled(name))()
    return mech, q, closed_state(mech, q, 1, size)[0]


def bundled(name: str) -> tuple[Mechanism, np.ndarray]:
    mech = robots.load(name).without_friction()
    return mech, near_zero(mech)


def helped() -> tuple[Mechanism, np.ndarray]:
    """A platform on two loops, its place told by helper links, its rods without mass, which M of the tree is singular by."""
    body = {"mass": 1.0, "com": (0.05, 0.02, 0.0), "inertia": (0.01, 0.01, 0.01)}
    sliding = {"joint": "prismatic", "axis": (1, 0, 0)}
    links = [
        Link(name="x", parent="base", **sliding),
        Link(name="y", parent="x", joint="prismatic", axis=(0, 1, 0)),
        Link(name="platform", parent="y", before=translation(0, 0.5, 0), **body),
        *(Link(name=f"leg{k}", parent="base", before=translation(x, 0, 0), **body) for k, x in ((1, -0.3), (2, 0.4))),
        *(Link(name=f"rod{k}", parent=f"leg{k}", before=translation(0.3, 0, 0)) for k in (1, 2)),
    ]
    balls = [
        Loop("point", f"rod{k}", "platform", translation(0.35, 0, 0), translation(x, 0, 0)) for k, x in ((1, -0.1), (2, 0.1))
    ]
    mech = Mechanism(links, loops=balls, gravity=(0, -9.81, 0), name="helped")
    found = assemble(mech, [0.0, 0.0, 0.0, 2.0, 1.0, -1.0, -1.0])
    assert found.success
    return mech, found.q


def openings(mech: Mechanism, q: np.ndarray, qd: np.ndarray) -> tuple[float, float]:
    """How far loops are open, and how fast they open, at most."""
    rates = np.einsum("...kj,...j->...k", mech.kernel("closure_jacobian")(q), qd)
    return float(np.abs(mech.kernel("closure")(q)).max()), float(np.abs(rates).max())


@pytest.mark.parametrize(
    ("name", "size", "time"),
    [
        ("four_bar", 8.0, 1.0),
        ("slider_crank", 5.0, 1.0),
        ("bennett", 2.0, 1.0),
        ("helped", 1.0, 0.4),
    ],
)
def test_rk4_keeps_energy_to_its_order(name: str, size: float, time: float) -> None:
    mech, q, qd = started(name, size)
    drifts = []
    for steps in (200, 400, 800):
        made = simulate(mech, q, qd, t=(time, time / steps), energies=True)
        drifts.append(float(np.abs(made.energy - made.energy[0]).max()))
        gap, rate = openings(mech, made.q, made.qd)
        assert gap < SIZE
        assert rate < SIZE * np.abs(made.qd).max()
    slopes = np.diff(-np.log2(drifts))
    print(name, drifts, slopes, np.ptp(made.kinetic))
    assert np.all(slopes > 3.7)  # order 4; the last drifts are still far above rounding
    assert drifts[-1] < 1e-5 * np.ptp(made.kinetic)


def test_a_crank_turns_many_times() -> None:
    """50 turns of a four-bar's crank under gravity: closed at each instant, without a jump, energy as at the beginning."""
    mech, q = bundled("four_bar")
    lead = np.linalg.svd(mech.kernel("closure_jacobian")(q))[2][-1]
    made = simulate(mech, q, 40.0 * lead / lead[0], t=(10.0, 5e-4), energies=True, record=4)
    assert abs(made.q[-1, 0] - made.q[0, 0]) > 50 * 2 * np.pi
    assert openings(mech, made.q, made.qd)[0] < 1e-13
    assert np.abs(np.diff(made.q[:, 1:], axis=0)).max() < 0.4
    drift = np.abs(made.energy - made.energy[0]).max()
    print(drift, np.ptp(made.kinetic))
    assert drift < 1e-4 * np.ptp(made.kinetic)  # h^4 of a step of 0.03 rad, over 300 rad


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("semi_implicit_euler", 1)])
def test_order(method: str, order: int) -> None:
    mech, q, qd = started("slider_crank", 2.0)
    exact = simulate(mech, q, qd, t=np.array([0.0, 0.2]), method="dop853", rtol=1e-12, atol=1e-13)
    errors = []
    for steps in (200, 400, 800):
        made = simulate(mech, q, qd, t=(0.2, 0.2 / steps), method=method)
        errors.append(float(np.abs(made.q[-1] - exact.q[-1]).max() + np.abs(made.qd[-1] - exact.qd[-1]).max()))
        assert openings(mech, made.q, made.qd)[0] < 1e-10
    slopes = np.diff(-np.log2(errors))
    print(errors, slopes)
    assert np.allclose(slopes[-1], order, atol=0.3)


def test_a_parallelogram_moves_as_joints_that_follow() -> None:
    """Through its singular positions too, where all links lie in one line: none of the steps ends in one."""
    one = np.array([1.0, -1.0, 1.0])
    loop = simulate(parallelogram(), 0.5 * one, -9.0 * one, t=(1.0, 1e-3))
    follows = simulate(parallelogram(coupled=True), [0.5], [-9.0], t=(1.0, 1e-3))
    error = np.abs(loop.q - follows.q * one).max()
    print(error, loop.q[-1])
    assert abs(loop.q[-1, 0]) > 2 * np.pi
    assert error < 1e-8  # rounding over the sine squared at singular positions passed at 1e-3, over a second


def test_a_floating_linkage_keeps_its_momentum() -> None:
    made, q = random_loop(5, "point", ["revolute"] * 4, motor=False, floating=True)
    mech = made.replace(gravity=(0, 0, 0))
    qd = closed_state(mech, q, 2)[0]
    motion = simulate(mech, q, qd, t=(1.0, 2e-3), energies=True)
    momentum = mech.momentum(motion.q, motion.qd)
    drift = np.abs(momentum - momentum[0]).max() / np.abs(momentum[0]).max()
    print(drift, np.abs(motion.energy - motion.energy[0]).max(), np.ptp(motion.q, axis=0).min())
    # h^4 = 2e-11 over a second, times the rates to the fifth; the projections add nothing but what they take back
    assert drift < 1e-7
    assert np.abs(motion.energy - motion.energy[0]).max() < 1e-7 * motion.energy[0]
    assert max(openings(mech, motion.q, motion.qd)) < 1e-11
    assert np.abs(np.linalg.norm(motion.q[:, 3:7], axis=1) - 1).max() < 1e-14


def test_every_way_of_computing_it_moves_alike() -> None:
    """Batches, both backends, laws compiled and asked, adaptive steps."""
    mech, q, qd = started("four_bar", 5.0)

    def law(t: object, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.stack([-0.02 * qd[..., 0], 0.0 * qd[..., 0], 0.0 * qd[..., 0]], axis=-1)

    given = {"t": (0.3, 1e-3), "hold": False}
    speeds = np.array([0.5, 1.0, 1.5])[:, None] * qd
    damped = Feedback(lambda t, q, qd: np.array([-0.02 * qd[0], 0.0, 0.0]))
    many = simulate(mech, q, speeds, torque=damped, **given)
    one = simulate(mech, q, qd, torque=damped, **given)
    assert np.array_equal(many.q[1], one.q)
    assert np.array_equal(many.qd[1], one.qd)
    for other in (
        simulate(mech, q, qd, torque=damped, backend="numpy", **given),
        simulate(mech, q, qd, torque=law, **given),
    ):
        assert np.abs(other.q - one.q).max() < 1e-12
    for method in ("dop853",):
        other = simulate(mech, q, qd, torque=law, t=(0.3, 0.01), method=method, rtol=1e-10, atol=1e-11)
        error = np.abs(other.q - one.q[::10]).max()
        print(method, error)
        assert error < 1e-6  # of RK4, h^4 of 5 rad/s times 1e3
        assert max(openings(mech, other.q, other.qd)) < 1e-13
    assert not np.allclose(simulate(mech, q, qd, **given).q[-1], one.q[-1], rtol=0, atol=1e-3)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_events_are_at_closed_states(method: str) -> None:
    mech, q, qd = started("four_bar", 12.0)
    made = simulate(mech, q, qd, t=(0.5, 5e-3), method=method, events=lambda t, q, qd: np.sin(q[..., 0] - 1.0))
    assert len(made.events) == 2
    for event in made.events:
        assert max(openings(mech, event.q, event.qd)) < 1e-12
        assert abs(np.sin(event.q[0] - 1.0)) < 1e-3
    jumps = np.array([[0.1, 0, 0], [0, 0, 0], [0.2, 0, 0], [0, 0, 0]])
    between = simulate(mech, q, qd, torque=jumps, t=(0.02, 5e-3)).at(0.0075)
    assert np.abs(mech.kernel("closure")(between[0])).max() < 1e-5


def test_where_it_does_not_start() -> None:
    mech, q, qd = started("four_bar")
    tip, flat = np.array([0.0, 0.0, 1.0]), parallelogram()
    near = simulate(mech, q + 1e-8 * tip, qd, t=(0.01, 1e-3))
    assert openings(mech, near.q, near.qd)[0] < 1e-15, "brought to closed ones"
    cases = [
        (mech, q + 0.1 * tip, qd, "simulate: q0 leaves loops of 'four_bar' open by 0."),
        (mech, [q, q + 0.1 * tip], qd, "simulate: q0[1] leaves loops of 'four_bar' open by 0."),
        (mech, q, qd + tip, "simulate: qd0 drives loops of 'four_bar' open by "),
        (
            flat,
            np.zeros(3),
            np.zeros(3),
            "simulate: q0 is a singular position of 'parallelogram': closure equations",
        ),
    ]
    for linkage, start, speeds, said in cases:
        with pytest.raises(ArgumentError, match=re.escape(said)):
            simulate(linkage, start, speeds, t=(0.1, 0.01))


def test_steps_that_are_too_long_are_not_passed_over() -> None:
    mech, q, qd = started("four_bar", 100.0)
    with pytest.raises(SimulationError, match=r"singular.*position"):
        simulate(mech, q, qd, t=(1.0, 0.05))
    made = simulate(mech, q, qd, t=(1.0, 0.05), diverged="mark")
    known = np.isfinite(made.q).all(axis=1)
    assert known[0]
    assert not known[-1]
    assert openings(mech, made.q[known], made.qd[known])[0] < 1e-10


def test_what_cannot_move_stays() -> None:
    body = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (0.01, 0.01, 0.01)}
    links = [Link(name="a", parent="base", **body), Link(name="b", parent="base", before=translation(0.3, 0, 0), **body)]
    truss = Mechanism(links, gravity=(0, -9.81, 0))
    q = np.array([1.0, 2.0])
    poses = truss.link_poses(q)
    frame = translation(0.4, 0, 0)
    loop = Loop("point", "a", "b", frame, np.linalg.solve(poses[1], poses[0] @ frame))
    mech = truss.replace(loops=[loop])
    made = simulate(mech, q, t=(0.5, 0.01))
    assert np.abs(made.q - q).max() < 1e-15
    assert np.abs(made.qdd).max() < 1e-12
    forces = mech.kernel("constraint_forces")(q, np.zeros(2), np.zeros(2))
    assert np.hypot(*forces[:2]) > 1.0, "it holds what would fall"
