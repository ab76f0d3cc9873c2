"""Whole turns within the limits, and the nearest of solutions in a metric."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ArgumentError

TURN = 2.0 * np.pi


@pytest.fixture(scope="module")
def ur5() -> Mechanism:
    return robots.ur5()


def test_every_turn_within_the_limits_is_there_once(ur5: Mechanism) -> None:
    q = np.array([[0.1, -0.8, 1.0, 0.3, 0.5, 0.2], [2.0, -2.8, 1.9, -0.3, -1.5, 3.0]])
    T = ur5.forward_kinematics(q)
    start = np.array([0.2, -0.5, 0.1, 0.0, 3.0, -4.0])
    every = ur5.all_inverse_kinematics(T, q0=start, turns=True)
    assert every.count.tolist() == [512, 512]  # limits of a whole turn to both sides: two turns of each of six joints
    for pose, once in zip(every, ur5.all_inverse_kinematics(T, q0=start), strict=True):
        lifts = [row + TURN * np.array(k) for row in once for k in product((-2, -1, 0, 1, 2), repeat=6)]
        inside = [row for row in lifts if ((row >= ur5.q_min) & (row <= ur5.q_max)).all()]
        assert len(inside) == len(pose)
        assert {tuple(row) for row in np.round(inside, 9)} == {tuple(row) for row in pose.round(9)}
        assert (np.diff(np.linalg.norm(pose - start, axis=1)) >= -1e-12).all()
        assert (pose[0] == once[0]).all()
    assert np.abs(ur5.forward_kinematics(every.q) - T[:, None]).max() < 1e-14


def test_turns_of_joints_without_room_and_without_limits(ur5: Mechanism) -> None:
    T = ur5.forward_kinematics([0.1, -0.8, 1.0, 0.3, 0.5, 0.2])
    narrow = ur5.replace(links=[link.replace(limits=(-np.pi, np.pi)) for link in ur5.links])
    assert len(narrow.all_inverse_kinematics(T, turns=True)) == len(narrow.all_inverse_kinematics(T)) == 8
    endless = ur5.replace(links=[link.replace(limits=None) for link in ur5.links])
    assert len(endless.all_inverse_kinematics(T, turns=True)) == 8
    with pytest.raises(ArgumentError, match="no end of turns"):
        ur5.all_inverse_kinematics(T, turns=True, limits=False)


def test_the_nearest_in_a_metric(ur5: Mechanism) -> None:
    T = ur5.forward_kinematics([[0.1, -0.8, 1.0, 0.3, 0.5, 0.2], [0.3, -0.9, 1.1, 0.1, 0.6, 0.4]])
    solutions = ur5.all_inverse_kinematics(T, turns=True)
    q0, weights = np.array([3.0, 0.0, 1.0, -2.0, 4.0, 1.0]), np.array([4.0, 3.0, 2.0, 1.0, 0.5, 0.1])
    away = solutions.q - q0
    metrics = (
        (None, np.linalg.norm(away, axis=-1)),
        (weights, (away**2) @ weights),
        (np.diag(weights), (away**2) @ weights),
        ("greatest", np.abs(away).max(axis=-1)),
        (lambda d: np.abs(d).sum(axis=-1), np.abs(away).sum(axis=-1)),
    )
    for metric, distance in metrics:
        rows = solutions.nearest(q0, metric)
        assert rows.shape == (2, 6)
        for k in range(2):
            assert (rows[k] == solutions[k][distance[k].argmin()]).all()
    one = ur5.all_inverse_kinematics(T[0])
    assert (one.nearest(q0) == one.q[np.linalg.norm(one.q - q0, axis=1).argmin()]).all()
    far = ur5.all_inverse_kinematics(np.eye(4) + 9.0 * np.eye(4, k=3))
    assert np.isnan(far.nearest(q0)).all()
    for wrong in (np.ones(3), [-1.0, 1, 1, 1, 1, 1], "least"):
        with pytest.raises(ArgumentError, match="metric"):
            one.nearest(q0, wrong)
