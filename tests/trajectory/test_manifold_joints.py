"""The joints with quaternions of a trajectory: which are taken, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.errors import ArgumentError
from linkwise.model.joints import make_joint
from linkwise.trajectory import Trajectory

BODY = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
ARM = Mechanism([Link(joint="ball", name="shoulder", **BODY), Link(name="elbow", parent="shoulder", **BODY)])
TWO_BALLS = Mechanism(
    [
        Link(joint="ball", name="left", **BODY),
        Link(joint="ball", name="right", parent="left", **BODY),
        Link(name="hinge", parent="right", **BODY),
    ]
)
SHOULDER = ARM.manifold_joints[0]


def motion(mechanism: Mechanism, **fields: Any) -> Trajectory:
    still = np.zeros((3, mechanism.nv))
    return Trajectory([0.0, 0.5, 1.0], np.tile(mechanism.neutral, (3, 1)), still, still, **fields)


def test_those_of_a_mechanism_are_taken() -> None:
    for mechanism in (ARM, TWO_BALLS):
        moved = motion(mechanism, manifold_joints=list(mechanism.manifold_joints), names=mechanism.names)
        assert moved.manifold_joints == mechanism.manifold_joints
        assert (moved.n, moved.names) == (1, mechanism.names)


@pytest.mark.parametrize(
    "value", [3, None, "shoulder", ["shoulder"], [None], {"shoulder": 1}, np.array(1.0), [SHOULDER.joint]]
)
def test_what_is_no_joint_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match="manifold_joints"):
        motion(ARM, manifold_joints=value)


@pytest.mark.parametrize(
    "joints",
    [
        TWO_BALLS.manifold_joints[1:],  # not from the first coordinate on
        TWO_BALLS.manifold_joints[::-1],  # in another order
        (TWO_BALLS.manifold_joints[0], TWO_BALLS.manifold_joints[0]),  # one over the other
        (replace(SHOULDER, v=slice(1, 4)),),
    ],
)
def test_places_must_follow_each_other(joints: Any) -> None:
    with pytest.raises(ArgumentError, match=r"manifold_joints: '\w+' is at slice"):
        motion(TWO_BALLS, manifold_joints=joints)


def test_a_joint_without_quaternion_is_refused() -> None:
    hinge = replace(SHOULDER, joint=make_joint("revolute", np.array([0.0, 0.0, 1.0])), q=slice(0, 1), v=slice(0, 1))
    with pytest.raises(ArgumentError, match=r"'shoulder' is .* expected a joint with a quaternion"):
        motion(ARM, manifold_joints=[hinge])


def test_more_coordinates_than_there_are_are_refused() -> None:
    narrow = np.zeros((3, 3)), np.zeros((3, 2)), np.zeros((3, 2))  # both less by a coordinate than the ball joint has
    with pytest.raises(ArgumentError, match="q, qd and qdd have the shapes"):
        Trajectory([0.0, 0.5, 1.0], *narrow, manifold_joints=[SHOULDER])
    with pytest.raises(ArgumentError, match="q, qd and qdd have the shapes"):
        motion(ARM, manifold_joints=TWO_BALLS.manifold_joints)


@pytest.mark.parametrize(
    ("names", "manifold_names"),
    [(["shoulder"], ["shoulder"]), ([7], ["shoulder"]), (["elbow"], [None]), (["elbow"], [["a"]])],
)
def test_names_are_words_that_differ(names: list[Any], manifold_names: list[Any]) -> None:
    with pytest.raises(ArgumentError, match=r"joints? ha(s|ve) the name"):
        motion(ARM, manifold_joints=[replace(SHOULDER, name=name) for name in manifold_names], names=names)
