"""Poses are the product of the links' placements, whatever form the links are described in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from linkwise import Link, Mechanism
from linkwise.spatial.rotation import rotation_about
from support.random_mechanisms import (
    SEEDS,
    Interpreted,
    direct,
    mechanisms,
    random_link,
    random_pose,
    random_state,
    relative,
    sample,
    variant,
)

BOUND = 2e-14
"""Up to 6 links of 3 products of 4x4 matrices each, on both sides: about 40 roundings of numbers near 1."""


def product(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    """T_world_link (L, 4, 4), link by link."""
    poses: dict[int, np.ndarray] = {-1: np.asarray(mech.base)}
    while len(poses) <= len(mech.links):
        for k, link in enumerate(mech.links):
            if k not in poses and mech.parents[k] in poses:
                own = q[mech.coordinates[k]] if link.moves else 0.0
                poses[k] = poses[mech.parents[k]] @ link.placement(own)
    return np.array([poses[k] for k in range(len(mech.links))])


@given(mechanisms())
def test_link_poses_are_products_of_placements(mech: Mechanism) -> None:
    q, _, _ = random_state(mech)
    error = np.abs(direct(mech, "link_poses", q) - product(mech, q)).max()
    print(f"{error:.1e}")
    assert error <= BOUND


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_poses_and_tool(seed: int) -> None:
    mech = variant(f"joints {seed}")
    q, _, _ = random_state(mech, seed)
    poses, tool = mech.link_poses(q), mech.forward_kinematics(q)
    wanted = product(mech, q)
    errors = [np.abs(poses - wanted).max(), np.abs(tool - wanted[-1] @ mech.tool).max()]
    print(f"{max(errors):.1e}")
    assert max(errors) <= BOUND
    for k, name in enumerate(mech.link_names):
        assert np.abs(mech.forward_kinematics(q, link=k) - wanted[k]).max() <= BOUND
        assert np.array_equal(mech.forward_kinematics(q, link=name), mech.forward_kinematics(q, name))


def test_links_by_index_and_the_tool() -> None:
    mech = sample(1)
    q, _, _ = random_state(mech)
    last = len(mech.links) - 1
    assert np.array_equal(mech.forward_kinematics(q, "tool"), mech.forward_kinematics(q))
    assert np.array_equal(mech.forward_kinematics(q, -1), mech.forward_kinematics(q, last))
    assert relative(mech.forward_kinematics(q, last) @ mech.tool, mech.forward_kinematics(q)) <= BOUND
    assert np.array_equal(mech.forward_kinematics(q, -2), mech.forward_kinematics(q, last - 1))


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_another_tool(seed: int) -> None:
    mech = variant(f"joints {seed}")
    q, _, _ = random_state(mech)
    tool = random_pose(np.random.default_rng(seed))
    changed = mech.with_tool(tool)
    assert np.array_equal(changed.link_poses(q), mech.link_poses(q))
    last = len(mech.links) - 1
    error = relative(changed.forward_kinematics(q), mech.forward_kinematics(q, last) @ tool)
    print(f"{error:.1e}")
    assert error <= BOUND


@pytest.mark.parametrize("tilt", [1e-2, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 0.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_axes_near_a_coordinate_axis(tilt: float, sign: float) -> None:
    """An axis a little off z, or off -z, is that axis and no other."""
    axes = [(tilt, 0.3 * tilt, sign), (0.0, sign, -tilt), (sign, tilt, 2 * tilt)]
    mech = Mechanism([Link(axis=axis, after=np.eye(4) + np.eye(4, k=3) * 0.5) for axis in axes])
    q = np.array([0.4, -0.7, 1.1])
    error = np.abs(direct(mech, "link_poses", q) - product(mech, q)).max()
    print(f"{error:.1e}")
    assert error <= BOUND


def test_teeth() -> None:
    """A placement that is off by a thousandth of a millimetre is seen."""
    mech = sample(0)
    q, _, _ = random_state(mech)
    before = np.array(mech.links[0].before)
    before[0, 3] += 1e-6
    wrong = mech.replace_link(0, before=before)
    assert np.abs(mech.link_poses(q) - product(wrong, q)).max() > 1e5 * BOUND * 1e2


@pytest.mark.parametrize("tilt", [0.0, 3e-16, 1e-12, 2e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
def test_axes_that_are_nearly_parallel(tilt: float) -> None:
    """A table with few digits makes such axes; their common normal is far away and must not be used."""
    rng = np.random.default_rng(4)
    links = []
    for k in range(5):
        turn = np.eye(4)
        turn[:3, :3] = rotation_about((1, 0, 0), tilt if k % 2 else -0.7 * tilt)
        turn[:3, 3] = (0.4, 0.1 * k, 0.2)
        links.append(random_link(rng, "revolute", motor=False).replace(before=turn, axis=(0, 0, 1), after=np.eye(4)))
    mech = Interpreted(links)
    q, qd, qdd = rng.uniform(-2, 2, (3, 20, 5))
    pose = np.eye(4)
    wanted = []
    for row in q:
        pose = np.eye(4)
        for link, value in zip(links, row, strict=True):
            pose = pose @ link.placement(value)
        wanted.append(pose)
    error = np.abs(mech.forward_kinematics(q) - wanted).max()
    # joint_wrenches uses no regrouped inertia: the moment about each joint's axis must be the torque.
    actions, poses, tau = mech.joint_wrenches(q, qd, qdd), mech.link_poses(q), mech.inverse_dynamics(q, qd, qdd)
    axis, origin = poses[..., :3, 2], poses[..., :3, 3]
    about = actions[..., 3:] - np.cross(origin, actions[..., :3])
    slack = np.abs((about * axis).sum(-1) - tau).max() / np.abs(tau).max()
    print(f"tilt {tilt:.0e}: poses {error:.1e}, torques {slack:.1e}")
    assert error < 1e-14  # ten roundings of lengths below 4 m
    assert slack < 1e-12  # frames may stand three lengths away: nine times the inertia, which cancels again
