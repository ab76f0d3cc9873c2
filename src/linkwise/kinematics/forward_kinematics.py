"""Forward kinematics: poses of links and tool at joint coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.expr.count import effort
from linkwise.expr.ordering import operations_needed
from linkwise.kinematics.parallel_axes import Turned, ground, levers, splits, turned, turned_path
from linkwise.model.body import Bodies, Body, moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, blank
from linkwise.spatial.transform import transform
from linkwise.sweeps.drivers import Sweeps, at_rest, body_pose, framed, looped
from linkwise.sweeps.unrolled import unrolled


@algorithm(inputs={"q": "nq"}, outputs={"T": "4 4"})
def forward_kinematics(tree: Tree, q: Array, *, link: int | str = "tool") -> Array:
    """T_world_link (4, 4): the product of the placements from the base out (J. J. Craig, 1986, eq. 3.8).

    Multiplied from whichever end takes fewer operations, with the sum of the angles of parallel axes; the third axis of the
    frame may be the cross product of the other two.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.forward_kinematics([0.0, 0.0]) + 0.0
    array([[1., 0., 0., 2.],
           [0., 1., 0., 0.],
           [0., 0., 1., 0.],
           [0., 0., 0., 1.]])
    >>> arm.forward_kinematics([0.0, 0.0], link=0)[:3, 3]
    array([1., 0., 0.])
    """
    bodies = moving_bodies(tree)
    body, t = frame_of(tree, bodies, link)
    path = bodies.path(body)
    turns = turned_path(bodies, path, q)
    position = turns[-1].to_world(levers(bodies, path, turns, q, t[:3, 3])[-1])
    wanted = partial(_axes, turns[body], t[:3, :3])
    ways = {(split, third): effort for split in splits(turns[body]) for third, effort in _efforts(wanted(split), position)}
    split, third = min(ways, key=lambda option: ways[option])
    axes = wanted(split, third)
    if third is not None:
        axes[:, third] = cross(axes[:, (third + 1) % 3], axes[:, (third + 2) % 3])
    return transform(axes, position)


@looped("forward_kinematics", path=True)
def forward_kinematics_in_steps(sweeps: Sweeps) -> None:
    """T_world_frame of the tool or a link, outward through the placements."""
    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(lambda body: at_rest(body_pose(body)))
    sweeps.outward(lambda frame: frame.write("T", framed(frame), ". ."), "frames")


def _axes(turns: Turned, local: FloatArray, split: int, without: int | None = None) -> Array:
    """R_world_frame (3, 3) of a frame that is turned by ``local`` on a body, but zeros for one axis."""
    axes = blank(3, 3)
    for k in range(3):
        if k != without:
            axes[:, k] = turns.to_world(turns.from_body(local[:, k]), split)
    return axes


def _efforts(axes: Array, position: Array) -> Iterator[tuple[int | None, int]]:
    """Costs of the frame with all axes computed alike (None), and with each one as the cross product of the others."""
    yield None, effort(operations_needed([*axes.ravel(), *position]))
    for k in (1, 0, 2):
        yield k, effort(operations_needed([*np.delete(axes, k, axis=1).ravel(), *position])) + CROSS


#: Operations of a cross product.
CROSS = 9


@algorithm(inputs={"q": "nq"}, outputs={"T": "L 4 4"})
def link_poses(tree: Tree, q: Array) -> Array:
    """T_world_link (L, 4, 4) of every link.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.link_poses([0.0, 0.0])[:, :3, 3]
    array([[1., 0., 0.],
           [2., 0., 0.]])
    """
    bodies = moving_bodies(tree)
    return np.asarray(unrolled("link_poses", tree, bodies, joint_transforms(bodies, q), q, poses=body_poses(bodies, q)))


@looped("link_poses")
def link_poses_in_steps(sweeps: Sweeps) -> None:
    """T_world_link of every link."""
    sweeps.ground(world=np.eye(4)[:3])
    sweeps.outward(lambda body: at_rest(body_pose(body)))
    sweeps.outward(lambda link: link.write("T", framed(link), "v . ."), "links")


def body_poses(bodies: Bodies, q: Array, which: tuple[int, ...] | None = None) -> dict[int, Array]:
    """T_world_body (4, 4) of the selected bodies (default all); -1 is the ground."""
    poses: dict[int, Array] = {-1: np.eye(4)}
    turns: dict[int, Turned] = {-1: ground()}
    for k in range(len(bodies.bodies)) if which is None else which:
        body = bodies.bodies[k]
        turns[k] = turned(body, turns[body.parent], q)
        before, rotation = poses[body.parent] @ body.placement, turns[k].rotation
        position = before[:3, 3]
        if body.joint is not None:
            position = position + before[:3, :3] @ body.motion(q)[:3, 3]
        elif body.advances:
            position = position + rotation[:, 2] * (body.pitch * q[body.position])
        poses[k] = transform(rotation, position)
    return poses


def place(body: Body, parent: Array, q: Array) -> Array:
    """T_world_body from the pose of the parent and the coordinates (nq,)."""
    return np.asarray(parent @ body.placement @ body.motion(q))


def frame_of(tree: Tree, bodies: Bodies, link: int | str) -> tuple[int, FloatArray]:
    """The body that carries a frame, and T_body_frame: of the tool, or of a link's own frame."""
    return bodies.tool if link == TOOL else bodies.frames[tree.link_index(link)]


def base_poses(tree: Tree, q: FloatArray) -> FloatArray:
    """Pose of the base (..., 4, 4) at the coordinates q (..., nq): constant, or that of a floating base."""
    if not tree.floating:
        return np.broadcast_to(np.asarray(tree.base, dtype=float), (*q.shape[:-1], 4, 4))
    poses = np.zeros((*q.shape[:-1], 4, 4))
    poses[..., :3, :3] = np.moveaxis(quaternion_rotation(np.moveaxis(q[..., 3:7], -1, 0)), (0, 1), (-2, -1))
    poses[..., :3, 3], poses[..., 3, 3] = q[..., :3], 1.0
    return np.asarray(tree.base @ poses)
