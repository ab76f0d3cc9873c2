"""Joint velocities for the velocity of a frame with loops closed: beside linkages, which are driven joint by joint."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.velocity import follow

PLANE = [1, 1, 0, 0, 0, 0]


def shifted(x):
    place = np.eye(4)
    place[0, 3] = x
    return place


@pytest.fixture(scope="module")
def five():
    """A five-bar with its tool at the pin, and positions around zero."""
    bare = lw.robots.five_bar()
    loop = bare.loops[0]
    robot = bare.replace(tool=np.asarray(loop.first_frame), tool_link=loop.first)
    linkage = robot.linkage(["left_crank", "right_crank"])
    start = linkage.driven_part(linkage.q0)
    q = linkage.position(start + np.random.default_rng(0).uniform(-0.3, 0.3, (20, 2))).q
    return robot, linkage, q


def test_a_five_bar_moves_its_pin_as_asked(five):
    robot, linkage, q = five
    twist = np.array([0.2, -0.1, 0, 0, 0, 0])
    found = robot.joint_velocities(q, twist, mask=PLANE, damping=None)
    pin = (robot.jacobian(q) @ found.qd[..., None])[:, :2, 0]
    opened = np.abs(robot.kernel("closure_jacobian")(q) @ found.qd[..., None]).max()
    again = linkage.velocity(q, found.qd[:, [0, 2]])
    size = np.abs(found.qd).max()  # (large beside singular positions of the pin, which are among these)
    print(f"rates up to {size:.1e}; pin to {np.abs(pin - twist[:2]).max():.1e} m/s, loops open at {opened:.1e} m/s")
    assert found.exact.all()
    assert np.abs(pin - twist[:2]).max() < 1e-14 * size
    assert opened < 1e-14 * size
    assert np.abs(again - found.qd).max() < 1e-12 * size  # all other joints follow the cranks as a linkage has it


def test_a_stewart_platform_is_moved_by_its_legs():
    robot = lw.robots.stewart()
    inverse = robot.linkage(["x", "y", "z", "yaw", "pitch", "roll"], q0=robot.neutral)
    q = inverse.position([0.02, -0.03, 0.05, 0.1, -0.05, 0.08]).q
    twist = np.array([0.1, 0.2, -0.1, 0.3, -0.2, 0.1])
    found = robot.joint_velocities(q, twist, link="platform")
    expected = inverse.velocity(q, found.qd[:6])
    print(f"{found}: legs to {np.abs(found.qd - expected).max():.1e} m/s or rad/s")
    assert found.exact
    assert np.abs(robot.jacobian(q, link="platform") @ found.qd - twist).max() < 1e-12
    assert np.abs(found.qd - expected).max() < 1e-12


def test_the_least_rates_and_the_weights(five):
    """Of one component asked for, the least rates of all joints; a crank of infinite weight rests."""
    robot, linkage, q = five
    twist, along = np.array([0.2, 0, 0, 0, 0, 0]), [1, 0, 0, 0, 0, 0]
    free = robot.joint_velocities(q[0], twist, mask=along, damping=None)
    basis = np.stack([linkage.velocity(q[0], unit) for unit in np.eye(2)], axis=1)
    row = (robot.jacobian(q[0]) @ basis)[0]
    metric = basis.T @ basis
    least = basis @ np.linalg.solve(metric, row) * twist[0] / (row @ np.linalg.solve(metric, row))
    assert np.abs(free.qd - least).max() < 1e-12
    weights = np.where(np.array(robot.names) == "left_crank", np.inf, 1.0)
    held = robot.joint_velocities(q[0], twist, mask=along, weights=weights, damping=None)
    assert held.qd[robot.names.index("left_crank")] == 0.0
    assert held.exact
    aside = robot.joint_velocities(q[0], twist, mask=along, secondary=[1.0, 0, 0, 0], damping=None)
    moved = aside.qd - free.qd
    assert aside.exact
    assert np.abs(moved).max() > 1e-3
    assert abs(row @ np.linalg.lstsq(basis, moved, rcond=None)[0]) < 1e-13  # (the secondary motion leaves the pin's x alone)


def test_bounds_slow_the_whole_motion(five):
    robot, _, q = five
    twist = np.array([0.2, -0.1, 0, 0, 0, 0])
    free = robot.joint_velocities(q, twist, mask=PLANE, damping=None).qd
    most = 0.5 * np.abs(free).max(axis=0)
    slow = robot.joint_velocities(q, twist, mask=PLANE, qd_max=most, damping=None)
    assert (np.abs(slow.qd) <= most * (1 + 1e-12)).all()
    assert np.abs(slow.qd - slow.scale[:, None] * free).max() < 1e-13
    assert {"slowed"} <= set(slow.reason.tolist()) <= {"slowed", "met"}


def test_one_freedom_gives_what_it_can():
    """The coupler point of a four-bar has one direction: along it the crank is exact, across it nothing is given."""
    bars = lw.robots.four_bar().replace(tool=shifted(0.06), tool_link="coupler")
    linkage = bars.linkage(["crank"])
    q = linkage.position([0.5]).q
    along = (bars.jacobian(q) @ linkage.velocity(q, [1.0]))[:2]
    asked = np.concatenate([along * 0.7, np.zeros(4)])
    found = bars.joint_velocities(q, asked, mask=PLANE)
    assert found.exact
    assert np.abs(found.qd - 0.7 * linkage.velocity(q, [1.0])).max() < 1e-12
    across = np.array([-along[1], along[0], 0, 0, 0, 0])
    none = bars.joint_velocities(q, across, mask=PLANE)
    assert none.reason == "lacking"
    assert np.abs(none.qd).max() < 1e-12
    assert "1 independently" in none.explain()


def test_a_batch_is_a_loop(five):
    robot, _, q = five
    twists = np.random.default_rng(1).normal(size=(20, 6))
    whole = robot.joint_velocities(q, twists, mask=PLANE).qd
    rows = [robot.joint_velocities(*pair, mask=PLANE).qd for pair in zip(q, twists, strict=True)]
    assert np.abs(whole - rows).max() <= 1e-15 * np.abs(whole).max()


def test_refusals(five):
    robot, _, q = five
    with pytest.raises(ArgumentError, match="open at q"):
        robot.joint_velocities(q[0] + 0.1, np.zeros(6), mask=PLANE)
    with pytest.raises(ArgumentError, match="limits is 'qp'"):
        robot.joint_velocities(q[0], np.zeros(6), mask=PLANE, limits="qp")
    with pytest.raises(ArgumentError, match="closed loops"):
        robot.joint_accelerations(q[0], np.zeros(4), np.zeros(6))
    with pytest.raises(ArgumentError, match="closed loops"):
        follow(robot, None, q[0], dt=0.01)
    flat = lw.robots.four_bar().linkage(["crank"]).q0
    assert lw.robots.four_bar().joint_velocities(flat, np.zeros(6)).exact
