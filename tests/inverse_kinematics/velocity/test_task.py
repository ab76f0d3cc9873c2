"""Bounds of joint rates: kept by slowing down, with the direction, or by a quadratic program, to the nearest."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.errors import MissingExtraError
from linkwise.inverse_kinematics import joint_accelerations, joint_velocities
from linkwise.inverse_kinematics.velocity.joint_velocities import nearest_in_box

Robots = Callable[[str], Mechanism]

EXACT = 1e-12
needs_qp = pytest.mark.skipif(find_spec("daqp") is None, reason="daqp is not installed")
BVLS = pytest.importorskip("scipy.optimize").lsq_linear


def states(mech: Mechanism, count: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-2.0, 2.0, (count, mech.n)), rng.normal(size=(count, 6))


def apart(a: Any, b: Any) -> float:
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


def test_scaling_keeps_the_direction_and_goes_as_fast_as_it_may(robot: Robots) -> None:
    mech = robot("panda")
    q, twist = states(mech)
    fastest = np.array([1.0, 0.5, 1.0, 2.0, 1.0, 0.3, 1.5])
    made = joint_velocities(mech, q, twist, qd_max=fastest)
    free = joint_velocities(mech, q, twist, limits=None)
    assert np.all(np.abs(made.qd) <= fastest)
    expected = np.minimum(1.0, np.min(fastest / np.abs(free.qd), axis=-1))
    assert apart(made.scale, expected) < 1e-15
    assert apart(made.achieved, made.scale[:, None] * free.achieved) < EXACT
    slowed, exact = made.scale < 1.0, made.damping == 0.0
    assert slowed.mean() > 0.5
    assert np.all(made.saturated[slowed].any(axis=-1))
    assert set(made.reason[slowed & exact]) == {"slowed"}
    assert not made.exact[slowed].any()
    one = int(np.flatnonzero(slowed & exact)[0])
    held = int(np.flatnonzero(made.saturated[one])[0])
    assert f"At a bound: {mech.names[held]} at {made.qd[one, held]:.4g}" in made.explain(one)
    assert f"the whole motion is {made.scale[one]:.4g} of what was asked." in made.explain(one)


@pytest.mark.usefixtures("uncompiled")
def test_limits_of_the_mechanism_hold_by_default() -> None:
    arm = Mechanism([Link.dh(a=1.0, convention="standard", qd_max=0.5) for _ in range(2)])
    made = joint_velocities(arm, [0.0, 1.5], [1.0, 0, 0, 0, 0, 0], mask=[1, 1, 0, 0, 0, 0])
    assert made.reason == "slowed"
    assert np.abs(made.qd).max() == 0.5
    assert joint_velocities(arm, [0.0, 1.5], [1.0, 0, 0, 0, 0, 0], mask=[1, 1, 0, 0, 0, 0], limits=None).exact


def test_position_limits_bound_the_speeds_of_the_next_step(robot: Robots) -> None:
    mech = robot("puma560")
    low, high = mech.q_min, mech.q_max
    rng = np.random.default_rng(1)
    q = rng.uniform(low, high, (300, 6))
    near = np.arange(300) % 6
    q[np.arange(300), near] = high[near] - rng.uniform(0.0, 1e-3, 300)
    twist = rng.normal(size=(300, 6))
    made = joint_velocities(mech, q, twist, dt=0.01)
    after = q + 0.01 * made.qd
    assert np.all((after >= low - 1e-15 * 10) & (after <= high + 1e-15 * 10))  # rounding of the sum
    assert (made.scale < 1.0).any()
    beyond = np.where(np.arange(6) == 2, high + 0.1, 0.5 * (low + high))
    outward = joint_velocities(mech, beyond, mech.jacobian(beyond)[:, 2], dt=0.01)
    assert outward.reason == "stopped"
    assert outward.scale == 0.0
    assert np.all(outward.qd == 0.0)
    assert joint_velocities(mech, beyond, -mech.jacobian(beyond)[:, 2], dt=0.01).scale == 1.0


@pytest.mark.parametrize("name", ["puma560", "panda"])
@needs_qp
def test_the_quadratic_program_against_another_solver(robot: Robots, name: str) -> None:
    """The least residual within bounds is that of SciPy's active-set method; among many speeds with it, the shortest."""
    mech = robot(name)
    q, twist = states(mech, 60, seed=2)
    made = joint_velocities(mech, q, 0.5 * twist, limits="qp", qd_max=0.6)
    matrices, right = made.task.matrix(q), 0.5 * twist * made.task.unit
    assert np.all(np.abs(made.qd) <= 0.6)
    assert np.all(made.scale == 1.0)
    exact = np.flatnonzero(made.damping == 0.0)
    for k in exact:
        other = BVLS(matrices[k], right[k], (-0.6, 0.6), method="bvls", tol=1e-14).x
        ours, theirs = (float(np.linalg.norm(matrices[k] @ x - right[k])) for x in (made.qd[k], other))
        assert ours <= theirs + 1e-9
        free = joint_velocities(mech, q[k], 0.5 * twist[k], limits=None)
        if np.abs(free.qd).max() <= 0.6:
            assert np.array_equal(free.qd, made.qd[k])
    bounded = made.reason == "bounded"
    assert bounded[exact].sum() > 10
    assert apart(made.achieved, (mech.jacobian(q) @ made.qd[..., None])[..., 0]) < EXACT
    residual = np.linalg.norm((made.achieved - 0.5 * twist)[:, :3], axis=-1)
    assert apart(made.linear_residual, residual) < EXACT
    text = made.explain(int(np.flatnonzero(bounded)[0]))
    assert "Missing: " in text
    assert "At a bound: " in text


@pytest.mark.parametrize("tight", [1.0, 1e-3])
@pytest.mark.parametrize("size", [1.0, 1e-9, 1e6])
@needs_qp
def test_the_least_in_a_box_at_every_scale(size: float, tight: float) -> None:
    """Slow motions, narrow bounds, ranges of one value, rows that depend on each other: never worse than SciPy's."""
    rng = np.random.default_rng(12)
    for trial in range(25):
        m, n = int(rng.integers(1, 7)), int(rng.integers(2, 9))
        matrix, right = rng.normal(size=(m, n)), 1.5 * size * rng.normal(size=m)
        matrix[-1] = matrix[0] if trial % 4 == 0 else matrix[-1]
        low, high = -size * tight * rng.uniform(0.0, 1.0, n), size * tight * rng.uniform(0.0, 1.0, n)
        low[0], high[0] = ((low[0], high[0]), (0.3 * size, 0.3 * size), (-1e-9 * size, 1e-7 * size))[trial % 3]
        x = nearest_in_box(matrix, right, np.zeros(n), low, high, np.zeros(2))
        assert np.all((x >= low) & (x <= high))
        free = low < high
        rest = right - matrix[:, ~free] @ low[~free]
        other = BVLS(matrix[:, free], rest, (low[free], high[free]), method="bvls", tol=1e-15).x
        ours, theirs = np.linalg.norm(matrix @ x - right), np.linalg.norm(matrix[:, free] @ other - rest)
        assert ours <= theirs + 1e-13 * np.linalg.norm(right)  # some hundred roundings


@needs_qp
def test_slow_motions_within_slow_bounds_are_the_same_but_slower(robot: Robots) -> None:
    mech = robot("puma560")
    q, twist = states(mech, 1, seed=9)
    fast, slow = (joint_velocities(mech, q, s * twist, limits="qp", qd_max=0.3 * s) for s in (1.0, 2.0**-30))
    assert set(fast.reason) == set(slow.reason) == {"bounded"}
    assert apart(fast.qd, slow.qd * 2.0**30) < EXACT
    assert np.array_equal(fast.saturated, slow.saturated)


@needs_qp
def test_conditions_of_the_least_in_a_box() -> None:
    """Karush, Kuhn and Tucker's: no slope at what is free, none inward at a bound; and the shortest among equals."""
    rng = np.random.default_rng(3)
    equal = 0
    for _ in range(60):
        matrix, right, own = rng.normal(size=(3, 6)), 1.5 * rng.normal(size=3), 0.3 * rng.normal(size=6)
        low, high = -rng.uniform(0.0, 1.0, 6), rng.uniform(0.0, 1.0, 6)
        high[rng.random(6) < 0.1] = np.inf
        x = nearest_in_box(matrix, right, own, low, high, np.zeros(2))
        assert np.all((x >= low) & (x <= high))
        slope = matrix.T @ (matrix @ x - right)
        at_low, at_high = x == low, x == high
        size = 1e-9 * (1 + np.abs(right).max()) * np.abs(matrix).max()
        assert np.abs(slope[~at_low & ~at_high]).max(initial=0.0) < size
        assert np.all(slope[at_low & ~at_high] > -size)
        assert np.all(slope[at_high & ~at_low] < size)
        if np.linalg.norm(matrix @ x - right) < 1e-10:  # met: now x - own must be what the constraints and bounds push
            equal += 1
            free = ~at_low & ~at_high
            push = np.linalg.lstsq(matrix[:, free].T, (x - own)[free], rcond=None)[0]
            rest = (x - own) - matrix.T @ push
            assert np.abs(rest[free]).max(initial=0.0) < 1e-9
            if free.sum() >= 3:
                assert np.all(rest[at_low] > -1e-9)
                assert np.all(rest[at_high] < 1e-9)
    assert equal > 10


@needs_qp
def test_a_redundant_arm_takes_another_way_round_a_bound(robot: Robots) -> None:
    """Where seven joints can give the twist within the bounds, the quadratic program does, and does not slow down."""
    mech = robot("panda")
    q, twist = states(mech, 100, seed=4)
    free = joint_velocities(mech, q, twist, limits=None)
    bound = 0.97 * np.abs(free.qd).max(axis=-1)
    met = 0
    for k in np.flatnonzero(free.exact & (free.damping == 0.0))[:30]:
        made = joint_velocities(mech, q[k], twist[k], limits="qp", qd_max=bound[k])
        met += made.exact
        if made.exact:
            assert made.saturated.any()
            assert np.linalg.norm(made.qd) > np.linalg.norm(free.qd[k])
            assert apart(made.achieved, twist[k]) < 1e-9
    assert met > 10


@needs_qp
def test_near_singular_positions_the_program_is_damped_alike(robot: Robots) -> None:
    mech = robot("puma560")
    q, twist = states(mech, 40, seed=5)
    q[:, 4] = np.linspace(-0.04, 0.04, 40)
    settings = np.array([0.02, 0.0])
    free = joint_velocities(mech, q, twist, limits=None)
    assert (free.damping > 0).sum() > 10
    matrices = free.task.matrix(q)
    for k in range(40):
        x = nearest_in_box(
            matrices[k], twist[k] * free.task.unit, np.zeros(6), np.full(6, -np.inf), np.full(6, np.inf), settings
        )
        assert apart(x, free.qd[k]) < 1e-8 * (1 + np.abs(x).max())


@needs_qp
def test_the_program_gives_a_batch_what_it_gives_a_loop(robot: Robots) -> None:
    mech = robot("panda")
    q, twist = states(mech, 10, seed=6)
    own = np.random.default_rng(6).normal(size=(10, 7))
    options: dict[str, Any] = {"limits": "qp", "qd_max": 0.7, "weights": [1, 2, 3, np.inf, 3, 2, 1]}
    made = joint_velocities(mech, q, twist, secondary=own, **options)
    assert np.all(made.qd[:, 3] == 0.0)
    for k in range(10):
        one = joint_velocities(mech, q[k], twist[k], secondary=own[k], **options)
        assert np.array_equal(one.qd, made.qd[k])
        assert np.array_equal(one.diagnostics, made.diagnostics[k], equal_nan=True)
        assert one.explain() == made.explain(k)


@pytest.mark.usefixtures("uncompiled")
@needs_qp
def test_accelerations_within_bounds(elbow: Mechanism) -> None:
    mech = elbow
    q, wanted = states(mech, 100, seed=7)
    speed = 0.3 * np.random.default_rng(7).normal(size=(100, 6))
    made = joint_accelerations(mech, q, speed, wanted, qdd_max=5.0)
    assert np.all(np.abs(made.qdd) <= 5.0)
    jac, bias = mech.jacobian(q), (mech.jacobian_dot(q, speed) @ speed[..., None])[..., 0]
    assert apart(made.achieved, (jac @ made.qdd[..., None])[..., 0] + bias) < EXACT * 10
    slowed = (made.reason == "slowed") & (made.damping == 0)
    assert slowed.sum() > 10
    assert apart(made.achieved[slowed], made.scale[slowed, None] * wanted[slowed]) < 1e-11
    assert np.all(made.saturated[slowed].any(axis=-1))
    program = joint_accelerations(mech, q, speed, wanted, qdd_max=5.0, limits="qp")
    assert np.all(np.abs(program.qdd) <= 5.0)
    unit = program.task.unit
    for k in np.flatnonzero(program.damping == 0.0)[:30]:
        other = BVLS(program.task.matrix(q[k]), (wanted - bias)[k] * unit, (-5.0, 5.0), method="bvls", tol=1e-14).x
        ours, theirs = (np.linalg.norm((jac[k] @ x + bias[k] - wanted[k]) * unit) for x in (program.qdd[k], other))
        assert ours <= theirs + 1e-9


@pytest.mark.usefixtures("uncompiled")
@needs_qp
def test_speed_limits_bound_the_accelerations_of_the_next_step(elbow: Mechanism) -> None:
    mech = elbow
    q, wanted = states(mech, 60, seed=8)
    speed = np.random.default_rng(8).uniform(-1.0, 1.0, (60, 6))
    made = joint_accelerations(mech, q, speed, 10 * wanted, qd_max=1.0, dt=0.01, limits="qp")
    assert np.all(np.abs(speed + 0.01 * made.qdd) <= 1.0 + 1e-15 * 10)
    brake = joint_accelerations(mech, q[0], np.full(6, 3.0), np.zeros(6), qd_max=1.0, qdd_max=20.0, dt=0.01)
    assert np.all(brake.qdd == -20.0)
    assert brake.reason == "bounded"


def test_without_the_library_the_extra_is_named(robot: Robots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(MissingExtraError, match=r"daqp.*pip install"):
        joint_velocities(robot("puma560"), np.zeros(6), np.zeros(6), limits="qp")
    assert joint_velocities(robot("puma560"), np.zeros(6), np.zeros(6)).exact
