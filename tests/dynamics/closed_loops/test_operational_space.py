"""The operational space of linkages: accelerations by forces on a frame, beside forward dynamics with loops closed."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Loop, Manipulability, Mechanism, Mimic, Wrench, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import manipulability_gradient
from linkwise.solve.lengths import characteristic_length
from linkwise.spatial.transform import transform
from support.random_linkages import random_loop

PLANE = [1, 1, 0, 0, 0, 0]


def moving_loop(seed: int) -> tuple[Mechanism, np.ndarray, np.ndarray]:
    """A loop of six joints with three freedoms, and a motion that keeps it closed."""
    mech, q = random_loop(seed, "point", ["revolute"] * 6, motor=False)
    free = np.linalg.svd(mech.kernel("closure_jacobian")(q))[2][3:].T
    return mech, q, free @ np.random.default_rng(seed).normal(size=free.shape[1])


@pytest.mark.parametrize("seed", [0])
def test_forces_on_a_frame_accelerate_it(seed: int) -> None:
    """F = inertia a + coriolis + gravity, with a what forward dynamics makes of F; rounding of condition numbers of 1e3."""
    mech, q, qd = moving_loop(seed)
    link, axes = "a4", "translation"
    space = mech.operational_space_dynamics(q, qd, link, mask=axes)
    assert np.allclose(space.inertia, mech.operational_space_inertia(q, link, mask=axes), rtol=1e-9)
    force, still = np.array([3.0, -2.0, 1.0]), np.zeros(mech.nv)
    qdd = mech.forward_dynamics(q, qd, still, {link: Wrench(force, frame="world")})
    acceleration = mech.frame_acceleration(q, qd, qdd, link)[:3]
    left = space.inertia @ acceleration + space.coriolis + space.gravity - force
    print(f"{np.abs(left).max():.1e}")
    assert np.abs(left).max() < 1e-9 * np.abs(space.gravity).max()
    calm = mech.forward_dynamics(q, 0.0 * qd, still)
    assert np.abs(space.inertia @ mech.frame_acceleration(q, 0.0 * qd, calm, link)[:3] + space.gravity).max() < 1e-8
    hidden = space.nullspace @ np.linspace(-1.0, 1.0, mech.nv)
    unseen = mech.forward_dynamics(q, qd, hidden) - mech.forward_dynamics(q, qd, still)
    assert np.abs(mech.jacobian(q, link)[:3] @ unseen).max() < 1e-8
    both = mech.operational_space_dynamics(np.stack([q, q]), np.stack([qd, 0.0 * qd]), link, mask=axes)
    assert np.allclose(both.coriolis[0], space.coriolis, rtol=1e-9)
    assert np.abs(both.coriolis[1]).max() < 1e-9


def test_a_linkage_of_one_freedom_moves_its_tool_along_one_line() -> None:
    """The manipulability is the tool's speed per speed of all joints; asked for in two directions its inertia has one."""
    bar = robots.four_bar()
    linkage = bar.linkage(["crank"])
    q = linkage.position([0.7]).q
    qd = linkage.velocity(q, [1.0])
    speed = bar.jacobian(q)[:2] @ qd
    assert np.isclose(bar.manipulability(q, mask=PLANE), np.linalg.norm(speed) / np.linalg.norm(qd), rtol=1e-12)
    inertia = bar.operational_space_inertia(q, mask=PLANE)
    expected = (qd @ bar.mass_matrix(q) @ qd) / (speed @ speed) ** 2 * np.outer(speed, speed)
    assert np.allclose(inertia, expected, rtol=1e-9)
    assert bar.dynamic_manipulability(q, mask=PLANE, measure="asada") < 1e-9
    step = 1e-5
    around = linkage.position([[0.7 - step], [0.7 + step]], q).q
    slope = np.diff(bar.manipulability(around, mask=PLANE))[0] / (2.0 * step)
    gradient = manipulability_gradient(bar, q, mask=PLANE) @ qd
    assert np.isclose(gradient * characteristic_length(bar, "tool"), slope, rtol=1e-6), "differences of the second order"


def test_what_is_refused() -> None:
    bar = robots.four_bar()
    q = bar.linkage(["crank"]).position([0.7]).q
    with pytest.raises(ArgumentError, match="manipulability: loops of 'four_bar' are open"):
        bar.manipulability(q + 0.1)
    with pytest.raises(ArgumentError, match="operational_space_dynamics: qd opens loops"):
        bar.operational_space_dynamics(q, np.ones(3))
    with pytest.raises(ArgumentError, match="loop pin of 'four_bar' runs through joints that move"):
        bar.solve([Manipulability("tool", 1.0, mask=PLANE)], q0=q)
    follower = Link(name="beside", parent="base", mimic=Mimic("crank"), after=transform(None, (1.0, 0.0, 0.0)))
    with pytest.raises(ArgumentError, match="loop pin of 'four_bar' runs through joints that move 'beside'"):
        bar.replace(links=[*bar.links, follower]).solve([Manipulability("beside", 0.5, mask=[1, 0, 0, 0, 0, 0])], q0=q)
    arm = robots.planar_3r()
    gripper = bar.replace(motors=())
    hand = arm.attach(gripper, prefix="g_")
    assert isinstance(hand.loops[0], Loop)
    assert hand.solve([Manipulability("link3", 0.1, mask=PLANE)], q0=np.concatenate([[0.3, 0.4, 0.5], q])).success
