"""Joints about parallel axes share a rotation, and vectors take the shortest way: equal to the plain product, from less."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.expr.node import parameter
from linkwise.kernel.tape import Tape, trace
from linkwise.kinematics.forward_kinematics import body_poses, forward_kinematics, frame_of, place
from linkwise.kinematics.jacobian import column, in_body_axes, jacobian
from linkwise.kinematics.parallel_axes import levers, turned_path
from linkwise.model.body import moving_bodies
from linkwise.spatial.rotation import rotation_about

LINK = partial(lw.Link.dh, convention="standard")
BOUND = 4e-15
"""A product of seven rotations and lengths of about 1 m rounds some tens of times."""


def mechanisms() -> dict[str, lw.Mechanism]:
    """Parallel axes the same way and opposite ways, slides and screws between them, a floating base, oblique axes."""
    turn = np.eye(4)
    turn[:3, :3], turn[:3, 3] = rotation_about([0.6, 0.0, 0.8], 0.7), [0.1, 0.2, 0.3]
    half = np.pi
    rows = {
        "same way": [LINK(a=0.4, d=0.1), LINK(a=0.3, offset=0.2), LINK(a=0.2, alpha=np.pi / 2), LINK(a=0.1, d=0.2)],
        "opposite": [LINK(a=0.4, alpha=half), LINK(a=0.3, alpha=half, d=0.2), LINK(a=0.2, alpha=half, offset=0.4)],
        "slides": [
            LINK(a=0.4),
            LINK(joint="prismatic", a=0.2),
            LINK(a=0.3, alpha=half),
            LINK(joint="prismatic"),
            LINK(a=0.1),
        ],
        "oblique slide": [LINK(a=0.4, alpha=0.5), LINK(joint="prismatic", alpha=-0.5), LINK(a=0.2), LINK(a=0.1)],
        "right angles": [LINK(a=0.4, alpha=np.pi / 2), LINK(joint="prismatic", alpha=-np.pi / 2), LINK(a=0.3), LINK(d=0.2)],
    }
    made = {name: lw.Mechanism(links, tool=turn) for name, links in rows.items()}
    screw = [LINK(a=0.3), lw.Link(joint="screw", pitch=0.05, after=turn), LINK(a=0.2)]
    made["screw"] = lw.Mechanism(screw)
    made["afloat"] = lw.Mechanism(rows["opposite"], floating=True, tool=turn)
    for name in ("puma560", "ur5", "panda", "stanford", "scara_icomatic", "seven_joint"):
        made[name] = getattr(lw.robots, name)()
    return made


MECHANISMS = mechanisms()


@pytest.fixture(params=MECHANISMS)
def mech(request: pytest.FixtureRequest) -> lw.Mechanism:
    return MECHANISMS[request.param]


def coordinates(mech: lw.Mechanism, seed: int = 3) -> np.ndarray:
    q = np.random.default_rng(seed).uniform(-2, 2, mech.nq)
    if mech.floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    return q


def plain_poses(mech: lw.Mechanism, q: np.ndarray) -> dict[int, Any]:
    """One placement after the other."""
    made, poses = moving_bodies(mech), {-1: np.eye(4)}
    for k, body in enumerate(made.bodies):
        poses[k] = place(body, poses[body.parent], q)
    return poses


def test_poses_are_the_product_of_the_placements(mech: lw.Mechanism) -> None:
    q, made = coordinates(mech), moving_bodies(mech)
    poses = plain_poses(mech, q)
    for k, pose in body_poses(made, q).items():
        np.testing.assert_allclose(pose, poses[k], rtol=0, atol=BOUND)
    body, t = frame_of(mech, made, "tool")
    np.testing.assert_allclose(np.asarray(forward_kinematics(mech, q), dtype=float), poses[body] @ t, rtol=0, atol=BOUND)


@pytest.mark.parametrize("frame", ["world", "body"])
def test_jacobian_is_that_of_the_poses(mech: lw.Mechanism, frame: str) -> None:
    q, made = coordinates(mech), moving_bodies(mech)
    poses = plain_poses(mech, q)
    end, t = frame_of(mech, made, "tool")
    tip = poses[end] @ t
    wanted = np.zeros((6, mech.nv))
    for k in made.path(end):
        for freedom in made.bodies[k].freedoms:
            wanted[:, freedom.speed] = column(freedom, poses[k], tip[:3, 3])
    wanted = wanted if frame == "world" else in_body_axes(tip[:3, :3], wanted)
    np.testing.assert_allclose(np.asarray(jacobian(mech, q, frame=frame), dtype=float), wanted, rtol=0, atol=4 * BOUND)


def test_every_split_gives_the_same_vector(mech: lw.Mechanism) -> None:
    q, made = coordinates(mech), moving_bodies(mech)
    end, t = frame_of(mech, made, "tool")
    path = made.path(end)
    how = turned_path(made, path, q)
    vector = np.array([0.3, -0.2, 0.5])
    wanted = plain_poses(mech, q)[end][:3, :3] @ vector
    for split in range(how[end].stage + 1):
        found = how[end].to_world(how[end].from_body(vector), split)
        np.testing.assert_allclose(np.asarray(found, dtype=float), wanted, rtol=0, atol=BOUND)
    np.testing.assert_allclose(how[end].to_body(how[end].from_body(vector)), vector, rtol=0, atol=BOUND)
    arms = levers(made, path, how, q, t[:3, 3])
    assert set(arms) == {-1, *path}


@pytest.mark.parametrize(
    ("name", "stages"),
    [("same way", 2), ("opposite", 1), ("slides", 1), ("oblique slide", 1), ("right angles", 1), ("puma560", 5)],
)
def test_parallel_axes_make_one_stage(name: str, stages: int) -> None:
    mech = MECHANISMS[name]
    made = moving_bodies(mech)
    how = turned_path(made, made.path(len(made.bodies) - 1), coordinates(mech))
    assert how[len(made.bodies) - 1].stage == stages


def operations(mech: lw.Mechanism, function: Any, shape: tuple[int, ...], **options: Any) -> tuple[int, int, int]:
    made: Tape = trace(partial(function, mech, **options), "made", {"q": (mech.nq,)}, {"out": shape})
    count = made.operations
    return count.get("mul", 0), count.get("add", 0), max(count.get("sin", 0), count.get("cos", 0))


@pytest.mark.parametrize(
    ("name", "pose", "jac"),
    [
        ("puma560", (40, 20, 6), (32, 13, 5)),
        ("planar_3r", (0, 6, 3), (0, 6, 3)),
        ("ur5", (36, 21, 6), (37, 15, 5)),
        ("stanford", (44, 21, 5), (53, 19, 4)),
    ],
)
def test_operations(name: str, pose: tuple[int, ...], jac: tuple[int, ...]) -> None:
    """Not more than when this was written; products, sums, and pairs of sine and cosine."""
    mech = MECHANISMS.get(name) or getattr(lw.robots, name)()
    found = operations(mech, forward_kinematics, (4, 4)), operations(mech, jacobian, (6, mech.nv))
    print(name, found)
    assert all(one <= most for one, most in zip(found[0], pose, strict=True))
    assert sum(found[1]) <= sum(jac)


def test_lengths_may_be_symbols() -> None:
    """Where the structure is known from numbers, a symbol for a length changes nothing; an angle that is none is a stage."""
    made = moving_bodies(lw.robots.puma560())
    q = np.array([parameter(f"q{k}") for k in range(6)], dtype=object)
    placement = made.bodies[2].placement.astype(object)
    placement[0, 3] = parameter("a2")
    bodies = list(made.bodies)
    bodies[2] = replace(bodies[2], placement=placement)
    how = turned_path(replace(made, bodies=tuple(bodies)), range(6), q)
    assert [how[k].stage for k in range(6)] == [1, 2, 2, 3, 4, 5]
    assert str(how[2].angle) == "q1 + q2"
