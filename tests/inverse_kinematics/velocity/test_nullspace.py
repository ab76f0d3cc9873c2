"""What redundant joints do beside the motion of the frame."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.inverse_kinematics import joint_accelerations, joint_velocities, manipulability_gradient, towards_middle
from linkwise.solve.lengths import characteristic_length
from support.random_mechanisms import column_by_column

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
    made = joint_velocities(mech, q, np.zeros(6), secondary=own, limits=None)
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
    both = joint_velocities(mech, q, twist, secondary=own, limits=None)
    alone, beside = (
        joint_velocities(mech, q, twist, limits=None),
        joint_velocities(mech, q, np.zeros(6), secondary=own, limits=None),
    )
    assert apart(both.qd, alone.qd + beside.qd) < 1e-13 * np.abs(both.qd).max()
    assert apart(both.achieved, alone.achieved) < EXACT


def test_bounds_take_it_away_before_they_slow_the_frame(panda: Mechanism) -> None:
    mech = panda
    rng = np.random.default_rng(2)
    q, twist, own = rng.uniform(-2, 2, (100, 7)), rng.normal(size=(100, 6)), 3 * rng.normal(size=(100, 7))
    alone, made = (joint_velocities(mech, q, twist, qd_max=3.0, secondary=z) for z in (np.zeros(7), own))
    assert np.array_equal(alone.scale, made.scale)
    assert np.all(np.abs(made.qd) <= 3.0)
    assert apart(alone.achieved, made.achieved) < EXACT
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
    made = joint_velocities(mech, q, np.zeros(6), secondary=own, weights=weights)
    jac = mech.jacobian(q)
    inverse = (jac.T / weights[:, None]) @ np.linalg.inv((jac / weights) @ jac.T)
    assert made.damping == 0.0
    assert apart(made.qd, own - inverse @ jac @ own) < 1e-12
    assert apart(made.achieved, 0.0) < EXACT


def test_joints_off_the_path_follow_it_alone(robot: Robots) -> None:
    mech = robot("puma560")
    q, own, name = np.linspace(-1, 1, 6), np.arange(6.0), mech.link_names[2]
    made = joint_velocities(mech, q, np.zeros(6), link=name, secondary=own, limits=None)
    moved = np.abs(mech.jacobian(q, link=name)).max(axis=0) > 0
    assert not moved.all()
    assert np.array_equal(made.qd[~moved], own[~moved])


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_what_is_rounding_goes_with_the_motion_and_the_arm(size: float) -> None:
    """A still frame is still, however fast the joints and in whatever unit of length; and no loss is rounding."""
    arm = Mechanism.from_dh([(0, 0, 0.4 * size, 0)] * 3, convention="standard")
    q, mask = np.array([0.3, 0.8, -0.5]), [1, 1, 0, 0, 0, 0]
    for speed in (1e-6, 1.0, 1e6):
        own = speed * np.array([1.0, 2.0, -0.5])
        assert joint_velocities(arm, q, np.zeros(6), mask=mask, secondary=own).exact
        assert joint_accelerations(arm, q, own, np.zeros(6), mask=mask).exact
    straight = np.zeros(3)
    for speed in (1e-15, 1.0, 1e15):
        outward = joint_velocities(arm, straight, np.array([size * speed, 0, 0, 0, 0, 0]), mask=mask)
        assert outward.reason == "damped"


def test_accelerations_have_a_secondary_part_too(robot: Robots) -> None:
    mech = robot("planar_3r")
    rng = np.random.default_rng(4)
    q, qd, own = rng.uniform(0.5, 1.0, 3), rng.normal(size=3), rng.normal(size=3)
    mask = [1, 1, 0, 0, 0, 0]
    made = joint_accelerations(mech, q, qd, np.zeros(6), mask=mask, secondary=own)
    plain = joint_accelerations(mech, q, qd, np.zeros(6), mask=mask)
    assert apart(mech.jacobian(q)[:2] @ (made.qdd - plain.qdd), 0.0) < EXACT
    assert apart(made.qdd, plain.qdd) > 0.01
    assert made.exact
    many = rng.normal(size=(3, 9, 3))
    for limits in ("scale", "qp") if find_spec("daqp") else ("scale",):
        options: dict[str, Any] = {"mask": mask, "limits": limits, "qdd_max": 2.0, "qd_max": 1.5, "dt": 0.1}
        batch = joint_accelerations(mech, many[0], many[1], np.ones(6), secondary=many[2], **options)
        for k in range(9):
            one = joint_accelerations(mech, many[0, k], many[1, k], np.ones(6), secondary=many[2, k], **options)
            assert np.array_equal(one.qdd, batch.qdd[k])
            assert one.reason == batch.reason[k]


def test_gradient_of_the_manipulability(panda: Mechanism) -> None:
    mech = panda
    unit = np.repeat([1 / characteristic_length(mech), 1.0], 3)
    rng = np.random.default_rng(5)
    places = rng.uniform(-2, 2, (20, 7))
    far = places[joint_velocities(mech, places, np.zeros(6)).singular_value > 0.2]
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
    start = float(joint_velocities(mech, q, np.zeros(6)).singular_value)
    gradient = manipulability_gradient(mech, q)
    unit = np.repeat([1 / characteristic_length(mech), 1.0], 3)
    measures = []
    for _ in range(20):
        measures.append(float(np.prod(np.linalg.svd(mech.jacobian(q) * unit[:, None], compute_uv=False))))
        q = q + 0.05 * joint_velocities(mech, q, np.zeros(6), secondary=manipulability_gradient(mech, q)).qd
    assert np.all(np.diff(measures) > 0.0)
    assert start > 0.0
    assert np.abs(gradient).max() > 0.0
    low, high = mech.q_min, mech.q_max
    assert apart(towards_middle(mech, q, 2.0), 2.0 * (0.5 * (low + high) - q)) < 1e-15
    free = mech.replace(links=[link.replace(limits=None) for link in mech.links])
    assert np.array_equal(towards_middle(free, q), np.zeros(7))
