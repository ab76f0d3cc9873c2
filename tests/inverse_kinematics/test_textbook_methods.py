"""The textbook methods with ball joints and free bodies: steps are taken on the tangents, limits are cones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import newton_raphson, steepest_descent
from linkwise.model.joints.ball import Ball

METHODS = {"newton_raphson": newton_raphson, "steepest_descent": steepest_descent}


def _shift(*p: float) -> np.ndarray:
    result = np.eye(4)
    result[:3, 3] = p
    return result


def _arm(**shoulder: Any) -> Mechanism:
    """A ball joint, an elbow and a wrist that is a ball joint too; a free body stands beside."""
    links = [
        Link(joint="ball", name="shoulder", parent="base", **shoulder),
        Link(axis=(0, 1, 0), name="elbow", before=_shift(0.0, 0.0, 0.5), limits=(-2.5, 2.5)),
        Link(joint="ball", name="wrist", before=_shift(0.0, 0.0, 0.4), after=_shift(0.0, 0.0, 0.1)),
        Link(joint="floating", name="cup", parent="base"),
    ]
    return Mechanism(links, tool_link="wrist")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("link", ["tool", "cup"])
def test_poses_are_reached(method: str, link: str) -> None:
    """From a start aside; a batch equals a loop, and quaternions have the length 1."""
    arm = _arm()
    q = arm.random_configuration(1, 6)
    poses, rng = arm.forward_kinematics(q, link=link), np.random.default_rng(0)
    starts = arm.integrate(q, 0.2 * rng.normal(size=(6, arm.nv)))
    options: dict[str, Any] = {"link": link, "limits": False, "tol": 1e-8}
    result = METHODS[method](arm, poses, starts, **options)
    assert result.success.all(), result.reason
    reached = arm.forward_kinematics(result.q, link=link)
    assert np.abs(reached - poses).max() < 2e-8
    for at in arm.manifold_joints:
        assert np.abs(np.linalg.norm(result.q[:, at.quaternion], axis=1) - 1.0).max() < 1e-15
    one = METHODS[method](arm, poses[2], starts[2], **options)
    assert np.array_equal(one.q, result.q[2])
    if method == "newton_raphson":
        print(result.iterations)
        assert result.iterations.max() <= 8  # (quadratic: 0.2, 0.04, 2e-3, 3e-6, 1e-11)


def test_without_a_start() -> None:
    arm = _arm()
    poses = arm.forward_kinematics(arm.integrate(arm.neutral, np.linspace(0.2, 0.9, arm.nv)))
    result = newton_raphson(arm, poses)
    assert result.success, result.reason
    assert arm.inverse_kinematics(poses, method="newton_raphson").success


@pytest.mark.parametrize("method", METHODS)
def test_cones_hold(method: str) -> None:
    """A ball joint that leans beyond its cone is no solution."""
    arm = _arm(limits=(0.0, 0.3))
    cone = arm.manifold_joints[0]
    assert isinstance(cone.joint, Ball)
    inside = arm.integrate(arm.neutral, 0.1 * np.ones(arm.nv))
    beyond = arm.integrate(arm.neutral, np.concatenate([[1.2, 0.0, 0.0], 0.1 * np.ones(arm.nv - 3)]))
    for q, success in ((inside, True), (beyond, False)):
        pose = arm.forward_kinematics(q, link="shoulder")
        result = METHODS[method](arm, pose, inside, link="shoulder", tol=1e-8)
        assert result.success == success
        assert METHODS[method](arm, pose, inside, link="shoulder", limits=False, tol=1e-8).success
        if method == "steepest_descent":
            assert cone.joint.excess(result.q[cone.q], cone.most) <= 1e-12


def test_refused() -> None:
    arm = _arm()
    with pytest.raises(ArgumentError, match="a quaternion of zeros"):
        newton_raphson(arm, np.eye(4), np.zeros(arm.nq))
    with pytest.raises(ArgumentError, match="a floating base"):
        newton_raphson(robots.planar_2r().replace(floating=True), np.eye(4))
