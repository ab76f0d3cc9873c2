"""Self-motions: every solution lies on a curve, every curve holds the pose and ends where its ends say."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import SelfMotion
from linkwise.inverse_kinematics.closed_form import NoClosedFormError

Q = np.array([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])


@pytest.fixture(scope="module")
def panda() -> Mechanism:
    return robots.panda()


@pytest.fixture(scope="module")
def motion(panda: Mechanism) -> SelfMotion:
    solutions = panda.all_inverse_kinematics(panda.forward_kinematics(Q), redundancy={"link7": 64})
    assert isinstance(solutions, SelfMotion)
    return solutions


def test_rows_are_those_of_each_value_alone(panda: Mechanism, motion: SelfMotion) -> None:
    assert motion.q.shape[0] == 64
    assert motion.complete.all()
    for value, rows in zip(motion.values[::9], list(motion)[::9], strict=True):
        alone = panda.all_inverse_kinematics(panda.forward_kinematics(Q), fixed={"link7": value})
        assert np.array_equal(alone.q, rows)


def test_every_solution_is_on_one_curve(panda: Mechanism, motion: SelfMotion) -> None:
    T, curves = panda.forward_kinematics(Q), motion.curves()
    points = np.concatenate([curve.q for curve in curves])
    assert np.abs(panda.forward_kinematics(points) - T).max() < 1e-14
    assert ((points >= panda.q_min) & (points <= panda.q_max)).all()
    rows = np.concatenate(list(motion))
    times = (np.abs(points[:, None] - rows[None]).max(axis=2) < 1e-9).sum(axis=0)
    assert (times == 1).all()
    for curve in curves:
        assert (np.diff(curve.values) > 0.0).all()
        assert np.abs(np.diff(curve.q, axis=0)).max() < 0.8  # (near a turning point joints are fast, to the root of a step)


def test_ends_are_limits_or_turning_points(panda: Mechanism, motion: SelfMotion) -> None:
    seen = set()
    for curve in motion.curves():
        for end, q in zip(curve.ends, (curve.q[0], curve.q[-1]), strict=True):
            seen.add(end)
            if end == "turning point":  # the six other joints are singular there
                rates = np.delete(panda.jacobian(q), 6, axis=1)
                values = np.linalg.svd(rates, compute_uv=False)
                assert values[-1] < 1e-4 * values[0]  # (the root of what is left of the interval)
            elif end != "grid":
                k = panda.names.index(end)
                assert min(q[k] - panda.q_min[k], panda.q_max[k] - q[k]) < 1e-6
    assert "turning point" in seen
    assert seen & set(panda.names)


def test_a_finer_grid_has_the_same_curves(panda: Mechanism, motion: SelfMotion) -> None:
    T = panda.forward_kinematics(Q)
    fine = panda.all_inverse_kinematics(T, redundancy={"link7": np.linspace(panda.q_min[6], panda.q_max[6], 301)})
    assert isinstance(fine, SelfMotion)
    coarse = sorted(curve.interval for curve in motion.curves())
    finer = sorted(curve.interval for curve in fine.curves())
    assert np.abs(np.array(coarse) - np.array(finer)).max() < 1e-8


def test_the_best_of_all_values(panda: Mechanism, motion: SelfMotion) -> None:
    rows = np.concatenate(list(motion))
    volume = np.sqrt(np.linalg.det(panda.jacobian(rows) @ np.swapaxes(panda.jacobian(rows), 1, 2)))
    chosen = np.flatnonzero((rows == motion.best("manipulability")).all(axis=1))
    assert volume[chosen].max() >= volume.max() * (1.0 - 1e-12)  # (mirrored positions have the same, up to rounding)
    assert (motion.best("nearest", q0=Q) == rows[np.linalg.norm(rows - Q, axis=1).argmin()]).all()
    middle, half = 0.5 * (panda.q_max + panda.q_min), 0.5 * (panda.q_max - panda.q_min)
    assert (motion.best("limits") == rows[np.abs((rows - middle) / half).max(axis=1).argmin()]).all()
    assert (motion.best(lambda q: (q[3] + 1.9) * (q[3] + 1.9)) == rows[((rows[:, 3] + 1.9) ** 2).argmin()]).all()
    with pytest.raises(ArgumentError, match="q0"):
        motion.best("nearest")


def test_a_batch_equals_a_loop(panda: Mechanism) -> None:
    poses = panda.forward_kinematics([Q, Q + 0.1])
    batch = panda.all_inverse_kinematics(poses, redundancy={6: [0.5, 0.7, 0.9]}, configuration={"elbow": "up"})
    assert isinstance(batch, SelfMotion)
    assert batch.count.shape == (2, 3)
    for k, T in enumerate(poses):
        one = panda.all_inverse_kinematics(T, redundancy={6: [0.5, 0.7, 0.9]}, configuration={"elbow": "up"})
        assert [row.tolist() for row in one] == [row.tolist() for row in list(batch)[3 * k : 3 * k + 3]]
    best = batch.best("manipulability")
    assert best.shape == (2, 7)


def test_joints_that_leave_no_closed_form(panda: Mechanism) -> None:
    T = panda.forward_kinematics(Q)
    with pytest.raises(NoClosedFormError, match="link7"):
        panda.all_inverse_kinematics(T, redundancy={"link2": 8})
    with pytest.raises(ArgumentError, match="one of them"):
        panda.all_inverse_kinematics(T, redundancy={"link7": 8}, fixed={"link7": 0.1})
    with pytest.raises(NoClosedFormError):
        robots.ur5().all_inverse_kinematics(np.eye(4), redundancy=8)
