"""Joint velocities for the velocity of a frame with loops closed: beside linkages, which are driven joint by joint."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.velocity import follow, manipulability_gradient
from linkwise.solve.lengths import characteristic_length
from linkwise.trajectory import cartesian

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


def closed_motions(linkage, q, seed=3):
    """Speeds, and accelerations, that keep the loops closed at positions (N, nq)."""
    ud, udd = np.random.default_rng(seed).uniform(-1, 1, (2, len(q), len(linkage.driven)))
    qd = linkage.velocity(q, ud)
    return qd, linkage.acceleration(q, qd, udd)


def test_accelerations_of_a_five_bar(five):
    """The pin gets its acceleration, and the loops stay closed to second order: J qdd + dJ/dt qd = 0."""
    robot, linkage, q = five
    qd, _ = closed_motions(linkage, q)
    wanted = np.array([0.5, -2.0, 0, 0, 0, 0])
    solution = robot.joint_accelerations(q, qd, wanted, mask=PLANE, damping=None)
    size = np.abs(solution.qdd).max(axis=-1)
    bias = (robot.jacobian_dot(q, qd) @ qd[..., None])[..., 0]
    pin = np.abs(((robot.jacobian(q) @ solution.qdd[..., None])[..., 0] + bias - wanted)[:, :2]).max(axis=-1) / size
    closure = (robot.kernel("closure_jacobian")(q) @ solution.qdd[..., None])[..., 0] + robot.kernel("closure_bias")(q, qd)
    again = linkage.acceleration(q, qd, solution.qdd[:, [0, 2]])
    opened = np.abs(closure).max(axis=-1) / size
    print(f"pin to {pin.max():.1e} m/s2, loops to {opened.max():.1e}, of accelerations of {size.max():.1e} rad/s2")
    assert solution.exact.all()
    assert pin.max() < 1e-14
    assert opened.max() < 1e-14
    assert (np.abs(again - solution.qdd).max(axis=-1) < 1e-12 * size).all()  # as the linkage has it


def test_accelerations_are_those_of_the_motion(five):
    """Central differences of the velocity along a motion of the linkage, h^2 away and extrapolated to h^4."""
    robot, linkage, q = five
    start, h = linkage.driven_part(q[:1]), 1e-3

    def rates(t):
        u = start + 0.3 * np.sin(t) * np.array([1.0, -0.7])
        at = linkage.position(u).q
        qd = linkage.velocity(at, 0.3 * np.cos(t) * np.array([[1.0, -0.7]]))
        return at, qd, robot.jacobian(at)[0] @ qd[0]

    at, qd, _ = rates(0.4)
    slopes = [(rates(0.4 + k * h)[2] - rates(0.4 - k * h)[2]) / (2 * k * h) for k in (1, 2)]
    rise = (4 * slopes[0] - slopes[1]) / 3
    solution = robot.joint_accelerations(at[0], qd[0], rise, mask=PLANE, damping=None)
    expected = linkage.acceleration(at, qd, -0.3 * np.sin(0.4) * np.array([[1.0, -0.7]]))[0]
    print(np.abs(solution.qdd - expected).max())
    assert np.abs(solution.qdd - expected).max() < 1e-8 * np.abs(expected).max()  # differences of 1e-15 over 1e-3; h^4


def test_accelerations_of_a_stewart_platform():
    robot = lw.robots.stewart()
    inverse = robot.linkage(["x", "y", "z", "yaw", "pitch", "roll"], q0=robot.neutral)
    q = inverse.position([0.02, -0.03, 0.05, 0.1, -0.05, 0.08]).q
    qd = inverse.velocity(q, [0.1, 0.2, -0.1, 0.3, -0.2, 0.1])
    wanted = np.array([1.0, -2.0, 0.5, 0.7, -0.3, 0.4])
    solution = robot.joint_accelerations(q, qd, wanted, link="platform", limits=None)
    expected = inverse.acceleration(q, qd, solution.qdd[:6])
    print(f"{solution}: {np.abs(solution.qdd - expected).max():.1e}")
    assert solution.exact
    bias = robot.jacobian_dot(q, qd, link="platform") @ qd
    assert np.abs(robot.jacobian(q, link="platform") @ solution.qdd + bias - wanted).max() < 1e-12
    assert np.abs(solution.qdd - expected).max() < 1e-11


def test_bounds_of_accelerations(five):
    """What is asked is scaled; what keeps the loops closed at these speeds is not, and then something is missing."""
    robot, linkage, q = five
    qd, _ = closed_motions(linkage, q[:1])
    wanted = np.array([30.0, -20.0, 0, 0, 0, 0])
    free = robot.joint_accelerations(q[0], qd[0], wanted, mask=PLANE, damping=None)
    none = robot.joint_accelerations(q[0], qd[0], 0 * wanted, mask=PLANE, damping=None)
    most = 0.5 * (np.abs(free.qdd).max() + np.abs(none.qdd).max())
    slow = robot.joint_accelerations(q[0], qd[0], wanted, mask=PLANE, damping=None, qdd_max=most)
    print(slow, slow.scale)
    assert slow.reason == "slowed"
    assert np.abs(slow.qdd).max() <= most * (1 + 1e-12)
    assert np.abs(slow.qdd - none.qdd - slow.scale * (free.qdd - none.qdd)).max() < 1e-11
    tight = robot.joint_accelerations(q[0], qd[0], wanted, mask=PLANE, damping=None, qdd_max=1e-3)
    closure = robot.kernel("closure_jacobian")(q[0]) @ tight.qdd + robot.kernel("closure_bias")(q[0], qd[0])
    assert tight.reason == "bounded"
    assert np.abs(closure).max() < 1e-12 * np.abs(free.qdd).max()


def test_a_secondary_acceleration_leaves_the_frame_alone(five):
    robot, linkage, q = five
    qd, _ = closed_motions(linkage, q[:1])
    along, wanted = [1, 0, 0, 0, 0, 0], np.array([0.5, 0, 0, 0, 0, 0])
    plain = robot.joint_accelerations(q[0], qd[0], wanted, mask=along, damping=None)
    aside = robot.joint_accelerations(q[0], qd[0], wanted, mask=along, damping=None, secondary=[1.0, 0, 0, 0])
    assert plain.exact
    assert aside.exact
    assert np.abs(aside.qdd - plain.qdd).max() > 1e-3
    assert np.abs(robot.kernel("closure_jacobian")(q[0]) @ (aside.qdd - plain.qdd)).max() < 1e-13


def test_a_path_of_a_five_bar(five):
    """The pin follows a straight line; loops are closed in position, speed and acceleration, so efforts can be asked for."""
    robot, linkage, _ = five
    at = linkage.position([0.1, 0.2]).q
    start = robot.forward_kinematics(at)
    end = start.copy()
    end[:2, 3] += [0.05, -0.08]
    errors = []
    for dt in (0.02, 0.01):
        motion = follow(robot, cartesian(start, end, 1.0), at, dt=dt, mask=PLANE, gain=0.0, tol=1e-2)
        errors.append(motion.position_error.max())
        gap = np.abs(robot.kernel("closure")(motion.q)).max()
        rate = np.abs(robot.kernel("closure_jacobian")(motion.q) @ motion.qd[..., None]).max()
        rise = (robot.kernel("closure_jacobian")(motion.q) @ motion.qdd[..., None])[..., 0]
        rise = np.abs(rise + robot.kernel("closure_bias")(motion.q, motion.qd)).max()
        print(f"{motion!r}: loops to {gap:.1e} m, {rate:.1e} m/s, {rise:.1e} m/s2")
        assert motion.success
        assert gap < 1e-12
        assert rate < 1e-13
        assert rise < 1e-12
    efforts = robot.actuator_efforts(motion.q, motion.qd, motion.qdd)
    assert np.isfinite(efforts).all()
    print(errors, np.log2(errors[0] / errors[1]))
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.3  # midpoint steps without feedback: of second order


def test_bounds_by_a_quadratic_program(five):
    """The nearest motion of the pin within the bounds, beside the two cranks' by SciPy; accelerations too."""
    robot, linkage, q = five
    optimize, _ = pytest.importorskip("scipy.optimize"), pytest.importorskip("daqp")
    twist = np.array([0.5, -0.4, 0, 0, 0, 0])
    free = robot.joint_velocities(q, twist, mask=PLANE, damping=None, limits=None).qd
    bound = np.full(4, 0.6 * np.median(np.abs(free).max(axis=-1)))
    result = robot.joint_velocities(q, twist, mask=PLANE, damping=None, limits="qp", qd_max=bound)
    opened = np.abs(robot.kernel("closure_jacobian")(q) @ result.qd[..., None]).max()
    beyond = (np.abs(result.qd) - bound).max()
    print(f"{np.sum(np.abs(free).max(axis=-1) > bound[0])} bounded, by {beyond:.1e} beyond, loops open at {opened:.1e}")
    assert beyond < 1e-10 * bound[0]
    assert opened < 1e-12 * bound[0]
    for k in range(0, 20, 4):
        basis = np.stack([linkage.velocity(q[k], unit) for unit in np.eye(2)], axis=1)
        pin = (robot.jacobian(q[k]) @ basis)[:2]
        limits = [
            {"type": "ineq", "fun": lambda u, s=s, b=basis: bound + s * (b @ u), "jac": lambda u, s=s, b=basis: s * b}
            for s in (1, -1)
        ]
        best = optimize.minimize(
            lambda u, pin=pin: np.square(pin @ u - twist[:2]).sum(),
            np.zeros(2),
            jac=lambda u, pin=pin: 2 * pin.T @ (pin @ u - twist[:2]),
            constraints=limits,
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 200},
        )
        ours = np.linalg.norm(robot.jacobian(q[k])[:2] @ result.qd[k] - twist[:2])
        print(f"missed by {ours:.9f}, SciPy by {np.sqrt(best.fun):.9f}")
        assert ours <= np.sqrt(best.fun) + 1e-9
    qd = linkage.velocity(q[0], [0.2, -0.1])
    motion = robot.joint_accelerations(q[0], qd, np.zeros(6), mask=PLANE, damping=None, limits=None)
    most = 0.9 * np.abs(motion.qdd).max()
    slower = robot.joint_accelerations(q[0], qd, np.zeros(6), mask=PLANE, damping=None, limits="qp", qdd_max=most)
    assert np.abs(slower.qdd).max() <= most * (1 + 1e-10)
    gap = robot.kernel("closure_jacobian")(q[0]) @ slower.qdd + robot.kernel("closure_bias")(q[0], qd)
    assert np.abs(gap).max() < 1e-12
    with pytest.raises(ArgumentError, match="no rates within the bounds"):
        robot.joint_accelerations(q[0], qd, np.zeros(6), mask=PLANE, limits="qp", qdd_max=1e-6)


@pytest.mark.parametrize("mask", [PLANE, [1, 1, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0]])
def test_the_gradient_of_manipulability_along_closed_motions(five, mask):
    """Beside differences of the singular values along what the linkage allows: of as many rows as freedoms, more, fewer."""
    robot, linkage, q = five
    q = q[1]
    gradient = manipulability_gradient(robot, q, mask=mask)
    unit = np.where(np.arange(6) < 3, 1.0 / characteristic_length(robot, "tool"), 1.0)[np.array(mask, dtype=bool)]

    def measure(at):
        closed = robot.kernel("closure_jacobian")(at)
        free = np.eye(4) - np.linalg.pinv(closed, rcond=1e-8) @ closed
        rows = robot.jacobian(at)[np.array(mask, dtype=bool)] * unit[:, None] @ free
        return np.prod(np.linalg.svd(rows, compute_uv=False)[: min(2, len(rows))])

    drives, step = linkage.driven_part(q), 1e-4
    for change in np.eye(2):
        ends = [measure(linkage.position(drives + sign * step * change, q).q) for sign in (1, -1)]
        expected, along = (ends[0] - ends[1]) / (2 * step), linkage.velocity(q, change)
        print(f"{gradient @ along:.9f} {expected:.9f}")
        assert abs(gradient @ along - expected) < 1e-6 * np.abs(gradient).max()  # step^2 times third derivatives
    assert np.abs(robot.kernel("closure_jacobian")(q) @ gradient).max() < 1e-12 * np.abs(gradient).max()
    assert manipulability_gradient(robot, np.stack([q, q]), mask=mask).shape == (2, 4)
    with pytest.raises(ArgumentError, match="open at q"):
        manipulability_gradient(robot, q + 0.1)


def test_refusals(five):
    robot, _, q = five
    with pytest.raises(ArgumentError, match="open at q"):
        robot.joint_velocities(q[0] + 0.1, np.zeros(6), mask=PLANE)
    with pytest.raises(ArgumentError, match="qd opens loops"):
        robot.joint_accelerations(q[0], [1.0, 0, 0, 0], np.zeros(6), mask=PLANE)
    with pytest.raises(ArgumentError, match="open at q"):
        robot.joint_accelerations(q[0] + 0.1, np.zeros(4), np.zeros(6), mask=PLANE)
    with pytest.raises(ArgumentError, match="open at q"):
        follow(robot, cartesian(np.eye(4), np.eye(4), 0.1), q[0] + 0.1, dt=0.01, mask=PLANE)
    flat = lw.robots.four_bar().linkage(["crank"]).q0
    assert lw.robots.four_bar().joint_velocities(flat, np.zeros(6)).exact
