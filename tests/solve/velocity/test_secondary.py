"""What redundant joints do beside the motion of the frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.solve import joint_accelerations, joint_speeds, manipulability_gradient, towards_middle
from linkwise.solve.velocity.size import characteristic_length
from mechanisms import column_by_column

EXACT = 1e-12


Robots = Callable[[str], Mechanism]


@pytest.fixture(scope="module")
def panda(robot: Robots) -> Mechanism:
    return robot("panda")


def apart(a: Any, b: Any) -> float:
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


def test_the_frame_does_not_feel_it(panda: Mechanism) -> None:
    mech = panda
    rng = np.random.default_rng(0)
    q, own = rng.uniform(-2, 2, (300, 7)), rng.normal(size=(300, 7))
    q = np.where(rng.random(q.shape) < 0.1, 0.0, q)
    made = joint_speeds(mech, q, np.zeros(6), secondary=own, limits=None)
    assert apart((mech.jacobian(q) @ made.qd[..., None])[..., 0], 0.0) < EXACT
    assert made.exact.all()
    jac = mech.jacobian(q)
    far = made.damping == 0.0
    expected = own - (np.linalg.pinv(jac) @ (jac @ own[..., None]))[..., 0]
    assert apart(made.qd[far], expected[far]) < 1e-11
    assert np.abs(expected[far]).max() > 1.0


def test_it_adds_to_a_motion(panda: Mechanism) -> None:
    mech = panda
    rng = np.random.default_rng(1)
    q, twist, own = rng.uniform(-2, 2, (50, 7)), rng.normal(size=(50, 6)), rng.normal(size=(50, 7))
    both = joint_speeds(mech, q, twist, secondary=own, limits=None)
    alone, beside = joint_speeds(mech, q, twist, limits=None), joint_speeds(mech, q, np.zeros(6), secondary=own, limits=None)
    assert apart(both.qd, alone.qd + beside.qd) < 1e-13 * np.abs(both.qd).max()
    assert apart(both.given, alone.given) < EXACT


def test_bounds_take_it_away_before_they_slow_the_frame(panda: Mechanism) -> None:
    mech = panda
    rng = np.random.default_rng(2)
    q, twist, own = rng.uniform(-2, 2, (100, 7)), rng.normal(size=(100, 6)), 3 * rng.normal(size=(100, 7))
    alone, made = (joint_speeds(mech, q, twist, fastest=3.0, secondary=z) for z in (np.zeros(7), own))
    assert np.array_equal(alone.scale, made.scale)
    assert np.all(np.abs(made.qd) <= 3.0)
    assert apart(alone.given, made.given) < EXACT
    cut = (made.secondary_scale < 1.0) & (made.secondary_scale > 0.0)
    assert cut.sum() > 10
    assert np.all(made.saturated[cut].any(axis=-1))


def test_weights_choose_the_projection(panda: Mechanism) -> None:
    mech = panda
    rng = np.random.default_rng(3)
    q, own, weights = (
        rng.uniform(-1, 1, 7) + np.array([0, 0, 0, -1.5, 0, 1.5, 0]),
        rng.normal(size=7),
        rng.uniform(0.2, 5, 7),
    )
    made = joint_speeds(mech, q, np.zeros(6), secondary=own, weights=weights)
    jac = mech.jacobian(q)
    inverse = (jac.T / weights[:, None]) @ np.linalg.inv((jac / weights) @ jac.T)
    assert made.damping == 0.0
    assert apart(made.qd, own - inverse @ jac @ own) < 1e-12
    assert apart(made.given, 0.0) < EXACT


def test_joints_off_the_path_follow_it_alone(panda: Mechanism) -> None:
    mech = panda
    q, own = np.linspace(-1, 1, 7), np.arange(7.0)
    made = joint_speeds(mech, q, np.zeros(6), link=mech.link_names[3], secondary=own, limits=None)
    moved = np.abs(mech.jacobian(q, link=mech.link_names[3])).max(axis=0) > 0
    assert not moved.all()
    assert np.array_equal(made.qd[~moved], own[~moved])


def test_accelerations_have_a_secondary_part_too(panda: Mechanism) -> None:
    mech = panda
    rng = np.random.default_rng(4)
    q, qd, own = rng.uniform(-2, 2, 7), rng.normal(size=7), rng.normal(size=7)
    mask = [1, 1, 1, 0, 0, 0]
    made = joint_accelerations(mech, q, qd, np.zeros(6), mask=mask, secondary=own)
    plain = joint_accelerations(mech, q, qd, np.zeros(6), mask=mask)
    assert apart(mech.jacobian(q)[:3] @ (made.qdd - plain.qdd), 0.0) < EXACT
    assert apart(made.qdd, plain.qdd) > 0.01
    assert made.exact


def test_gradient_of_the_manipulability(panda: Mechanism) -> None:
    mech = panda
    unit = np.repeat([1 / characteristic_length(mech), 1.0], 3)
    rng = np.random.default_rng(5)
    places = rng.uniform(-2, 2, (20, 7))
    far = places[joint_speeds(mech, places, np.zeros(6)).singular_value > 0.2]
    assert len(far) > 3
    for q in far:

        def measure(dq: np.ndarray, q: np.ndarray = q) -> np.ndarray:
            return np.asarray(np.prod(np.linalg.svd(mech.jacobian(q + dq) * unit[:, None], compute_uv=False)))

        assert apart(manipulability_gradient(mech, q), column_by_column(measure, 7)) < 1e-10  # h^4 f''''' / 480
    assert np.array_equal(manipulability_gradient(mech, np.zeros(7)), np.zeros(7))
    assert manipulability_gradient(mech, np.zeros((2, 3, 7))).shape == (2, 3, 7)


def test_it_leads_away_from_singular_positions_and_to_the_middle(panda: Mechanism) -> None:
    mech = panda
    q = np.array([0.3, -0.5, 0.2, -1.0, 0.1, 1.0, 0.4])
    start = float(joint_speeds(mech, q, np.zeros(6)).singular_value)
    gradient = manipulability_gradient(mech, q)
    unit = np.repeat([1 / characteristic_length(mech), 1.0], 3)
    measures = []
    for _ in range(20):
        measures.append(float(np.prod(np.linalg.svd(mech.jacobian(q) * unit[:, None], compute_uv=False))))
        q = q + 0.05 * joint_speeds(mech, q, np.zeros(6), secondary=manipulability_gradient(mech, q)).qd
    assert np.all(np.diff(measures) > 0.0)
    assert start > 0.0
    assert np.abs(gradient).max() > 0.0
    low, high = mech.limits.T
    assert apart(towards_middle(mech, q, 2.0), 2.0 * (0.5 * (low + high) - q)) < 1e-15
    free = mech.replace(links=[link.replace(limits=None) for link in mech.links])
    assert np.array_equal(towards_middle(free, q), np.zeros(7))
