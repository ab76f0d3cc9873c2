"""Identification of mechanisms with loops: base parameters from motions that keep them closed."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, Motor, robots
from linkwise.errors import ArgumentError
from linkwise.identification import ExcitingTrajectory, exciting_trajectory, identify
from linkwise.identification.closed_motions import ClosedMotions
from linkwise.identification.fourier import FourierFamily
from linkwise.identification.optimal_excitation import Excitation
from linkwise.loops import Linkage
from linkwise.spatial.transform import translation
from support.random_linkages import parallelogram
from support.random_mechanisms import relative


def record(mech: Mechanism, driven: list[str], start: np.ndarray, size: float, seed: int) -> tuple[np.ndarray, ...]:
    """A periodic motion of the driven coordinates about a start, and its efforts: five harmonics of random phases."""
    linkage, rng = Linkage(mech, driven, start), np.random.default_rng(seed)
    k = np.arange(1, 6) * 2.0 * np.pi / 10.0
    phases = k * np.linspace(0.0, 10.0, 400, endpoint=False)[:, None, None] + rng.uniform(0.0, 6.0, (len(driven), 5))
    u = size * np.sin(phases).sum(axis=-1)
    ud, udd = size * (k * np.cos(phases)).sum(axis=-1), -size * (k**2 * np.sin(phases)).sum(axis=-1)
    q = linkage.position(u + linkage.q0[[mech.names.index(name) for name in driven]]).q
    qd = linkage.velocity(q, ud)
    qdd = linkage.acceleration(q, qd, udd)
    return q, qd, qdd, mech.actuator_efforts(q, qd, qdd, driven)


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_base_parameters_come_back(name: str) -> None:
    mech = robots.load(name).replace()
    motor = Motor(inertia=1e-3, viscous=0.02, coulomb=(0.03, -0.02))
    mech = mech.replace(links=[link.replace(motor=motor) if link.motor else link for link in mech.links])
    driven = [mech.names[drive.coordinate] for drive in mech.drives]
    q, qd, qdd, tau = record(mech, driven, mech.neutral, 0.3 if len(driven) > 1 else 0.7, 1)
    result = identify(mech, q, qd, qdd, tau)
    wanted = mech.base_parameters(resting=False, q=q).values
    print(name, f"{relative(result.values, wanted):.1e}, condition {result.condition:.0f}")
    assert relative(result.values, wanted) < 1e-9
    assert np.abs(result.predict(q, qd, qdd) - tau).max() < 1e-11 * np.abs(tau).max()
    at = [mech.names.index(k) for k in driven]
    assert result.counts.tolist() == [400 if k in at else 0 for k in range(mech.n)]
    model = result.to_mechanism()
    assert relative(model.actuator_efforts(q, qd, qdd), tau) < 1e-9
    noise = np.random.default_rng(2).normal(0.0, 1e-3 * tau.std(), tau.shape)
    noise[:, [k for k in range(mech.n) if k not in at]] = 0.0
    noisy = identify(mech, q, qd, qdd, tau + noise)
    assert np.abs((noisy.values - wanted) / noisy.deviations).max() < 4.5, "as sure as they say"
    assert str(noisy).count("\n") == str(result).count("\n")
    assert mech.names[at[0]] in str(noisy)
    assert not any(line.startswith(mech.names[1]) for line in str(noisy).splitlines())


def test_efforts_of_all_joints_count() -> None:
    """Two motors on a parallelogram, one more than freedoms, that work against each other: only what is left moves it.

    Its base parameters are those of the branch that the record is on, fewer than with the antiparallelogram.
    """
    mech = parallelogram()
    q, qd, qdd, tau = record(mech, ["crank"], np.array([0.8, -0.8, 0.8]), 0.15, 3)
    result = identify(mech, q, qd, qdd, tau, driven="crank")
    assert len(result.values) == len(mech.base_parameters(q=q)) < len(mech.base_parameters())
    shared = tau.copy()
    shared[:, 0] += 5.0
    shared[:, 2] -= 5.0
    assert relative(identify(mech, q, qd, qdd, shared, driven="crank").values, result.values) < 1e-9
    by_other = identify(mech, q, qd, qdd, shared, driven="other")
    assert relative(by_other.values, result.values) < 1e-9
    slow = identify(mech, q, qd, qdd, tau, driven="crank", least_speed=0.1)
    assert 0 < slow.counts[0] < 400
    arm = robots.planar_2r()
    for call, message in [
        (lambda: identify(mech, q + 0.1, qd, qdd, tau, driven="crank"), r"are open at q\[0\] by"),
        (lambda: identify(mech, q, qd + 0.1, qdd, tau, driven="crank"), r"^identify: qd\[0\] opens loops"),
        (lambda: identify(mech, q, qd, qdd, tau), "^identify: driven is missing"),
        (lambda: identify(mech, q, qd, qdd, tau, driven=["crank", "other"]), "^identify: 2 coordinates of"),
        (lambda: identify(mech, q[:1], qd[:1], qdd[:1], tau[:1], driven="crank"), "equations, one for each sample"),
        (lambda: identify(arm, *np.zeros((4, 9, 2)), driven=0), "^identify: driven is 0, but 'planar_2r' has no loops"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            call()


@pytest.fixture(scope="module")
def excited() -> tuple[Mechanism, ExcitingTrajectory]:
    mech = robots.five_bar()
    return mech, exciting_trajectory(mech, 8.0, 3, qd_max=6.0, qdd_max=40.0, steps=3, starts=1)


def test_an_exciting_trajectory_of_a_five_bar(excited: tuple[Mechanism, ExcitingTrajectory]) -> None:
    """Loops are closed in position, velocity and acceleration, limits hold, and the base parameters come back."""
    mech, motion = excited
    q, qd, qdd = motion.at(np.linspace(0.0, 8.0, 777))
    jac = mech.kernel("closure_jacobian")(q)
    gaps = [mech.kernel("closure")(q), (jac @ qd[..., None])[..., 0]]
    gaps.append((jac @ qdd[..., None])[..., 0] + mech.kernel("closure_bias")(q, qd))
    most = [np.abs(part).max() for part in (*gaps, qd, qdd)]
    tau = mech.actuator_efforts(q, qd, qdd)
    result = identify(mech, q, qd, qdd, tau)
    wanted = mech.base_parameters(resting=False, q=q).values
    print(most, motion, relative(result.values, wanted), len(wanted))
    assert max(most[:3]) < 1e-12
    assert most[3] <= 6.0
    assert most[4] <= 40.0
    assert np.abs(motion.qd[[0, -1]]).max() < 1e-12
    assert np.abs(motion.q[0] - motion.q[-1]).max() < 1e-9
    assert relative(result.values, wanted) < 1e-9
    assert np.isclose(result.condition, motion.condition, rtol=0.1)  # (at other instants)


def test_the_slope_of_the_criterion_with_loops() -> None:
    """Central differences, 1e-5 away, of the criterion and the wall before the limits of joints that follow."""
    mech = robots.five_bar()
    most, limits = np.full(4, 6.0), np.array([0.5, 0.5])
    closed = ClosedMotions.of(mech, None, None, np.full((4, 2), [-np.inf, np.inf]), np.stack([most, 8 * most]))
    family = FourierFamily(8.0, 2, closed.linkage.driven_part(closed.linkage.q0), limits, most[:2], 8 * most[:2], True)
    columns = mech.base_parameters(resting=False, q=closed.linkage.q0).columns
    task = Excitation(mech, columns[:6], family, "determinant", np.ones(2), None, closed)
    numbers = np.random.default_rng(1).normal(size=2 * family.numbers)
    numbers[[family.numbers - 2, -2]] = -2.0
    value, slope = task.sloped(numbers)
    ways = 1e-5 * np.eye(len(numbers))
    wanted = np.array([(task.sloped(numbers + way)[0] - task.sloped(numbers - way)[0]) / 2e-5 for way in ways])
    print(value, relative(slope, wanted))
    assert np.isfinite(value)
    assert relative(slope, wanted) < 1e-4  # differences of 1e-6 of the regressor, one-sided


def test_malformed_excitation_of_loops() -> None:
    mech = robots.five_bar()
    with pytest.raises(ArgumentError, match="2 degrees of freedom"):
        exciting_trajectory(mech, 8.0, driven=["left_crank"])
    tip = Link(name="tip", joint="ball", parent="left_rod", mass=0.1)
    with pytest.raises(ArgumentError, match="driven has 'tip_wx', of joints with quaternions"):
        exciting_trajectory(mech.replace(links=[*mech.links, tip]), 8.0, driven=["left_crank", "right_crank", "tip_wx"])
    with pytest.raises(ArgumentError, match="no loops"):
        exciting_trajectory(robots.planar_2r(), 8.0, driven=[0])
    with pytest.raises(ArgumentError, match="q0"):
        exciting_trajectory(robots.planar_2r(), 8.0, q0=[0.0, 0.0])
    with pytest.raises(ArgumentError, match="limits of all joints"):
        exciting_trajectory(mech, 0.01, 2, qd_max=[6.0, 1e-9, 6.0, 6.0])


def test_ball_joints_that_follow_keep_their_cones() -> None:
    """The rod of a spatial four-bar leans some way from the crank: a cone that is narrower, or a limit of its rates."""
    end, ground = np.eye(4), np.eye(4)
    end[0, 3], ground[:3, 3] = 0.1, (0.4, 0.1, 0.05)
    ground[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    body = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    crank, rocker = Link(name="crank", **body), Link(name="rocker", parent="base", before=ground, **body)
    loop = Loop("point", "rod", "rocker", translation(0.4), translation(0.2), name="socket")
    answers = []
    for opening, spin in [(3.0, np.inf), (0.5, np.inf), (3.0, 0.1)]:
        rod = Link(name="rod", joint="ball", parent="crank", before=end, axis=(1, 0, 0), limits=(0, opening), **body)
        mech = Mechanism([crank, rod, rocker], loops=[loop])
        linkage = Linkage(mech, ["crank"])
        most = np.tile([spin, spin, spin, np.inf, np.inf], (2, 1))
        closed = ClosedMotions(linkage, [3], np.tile([[-np.inf], [np.inf]], (1, 2)), most)
        u = 0.7 * np.sin(np.linspace(0.0, 2 * np.pi, 9))[:, None]
        motion = closed.assembled(u, np.ones_like(u), np.zeros_like(u))
        answers.append(motion is not None and bool(np.isfinite(closed.wall(motion)).all()))
    assert answers == [True, False, False]
