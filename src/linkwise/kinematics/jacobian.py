"""The geometric Jacobian: joint velocities to the velocity of a frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.forward_kinematics import body_poses, frame_of
from linkwise.kinematics.parallel_axes import Turned, levers, shortest, splits, turned_path
from linkwise.model.body import Bodies, Freedom, moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, blank
from linkwise.spatial.validation import choice
from linkwise.sweeps.drivers import Row, Sweeps, at_rest, body_pose, framed, looped

FRAMES = ("world", "body")

#: On paths of more stages no column is passed from stage to stage: for all columns together that takes operations in
#: proportion to the square of their number, and is never the shortest.
LONG = 40


@algorithm(inputs={"q": "nq"}, outputs={"J": "6 nv"})
def jacobian(tree: Tree, q: Array, *, link: int | str = "tool", frame: str = "world") -> Array:
    """J (6, nv): rows 0-2 the linear velocity of the frame's origin, rows 3-5 the angular velocity, per speed.

    Column i is [z_i x (p - o_i); z_i] for a revolute joint and [z_i; 0] for a prismatic one (D. E. Whitney, "The mathematics
    of coordinated control of prosthetic arms and manipulators", 1972).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.jacobian([0.0, 0.0]) + 0.0
    array([[0., 0.],
           [2., 1.],
           [0., 0.],
           [0., 0.],
           [0., 0.],
           [1., 1.]])
    >>> arm.jacobian([0.0, 0.0], frame="body", link=0)[:3] + 0.0
    array([[0., 0.],
           [1., 0.],
           [0., 0.]])
    """
    check_frame(frame)
    moving = moving_bodies(tree)
    end, t = frame_of(tree, moving, link)
    path = moving.path(end)
    turns = turned_path(moving, path, q)
    arms = levers(moving, path, turns, q, t[:3, 3])
    bodies = partial(_from_bodies, tree.nv, moving, path, q, turns, arms)
    long = turns[end].stage > LONG
    if frame == "body":
        rotated = partial(_rotated, turns[end], t[:3, :3], partial(_outward, tree.nv, moving, path, q, t))
        return rotated() if long else shortest([partial(bodies, to=partial(_to_frame, path, turns, t[:3, :3])), rotated])
    ways = [partial(bodies, to=partial(_to_world, turns, split)) for split in splits(turns[end])[1 if long else 0 :]]
    return shortest([*ways, partial(_outward, tree.nv, moving, path, q, t)])


@looped("jacobian", path=True)
def jacobian_in_steps(sweeps: Sweeps, *, frame: str = "world") -> None:
    """Column by column from the poses of the bodies (D. E. Whitney, 1972)."""
    check_frame(frame)
    sweeps.ground(world=np.eye(4)[:3])
    sweeps.temporary("tip", 3, 4)
    sweeps.outward(lambda body: at_rest(body_pose(body)))
    sweeps.outward(lambda row: row.write("tip", framed(row)[:3], ". ."), "frames")

    def column(body: Row) -> None:
        tip, world = body.read("tip", ". ."), body["world"]
        turn = tip[:, :3].T @ world[:, :3] if frame == "body" else world[:, :3]
        arm = tip[:, 3] - world[:, 3]
        arm = tip[:, :3].T @ arm if frame == "body" else arm
        columns = [_column_about(turn, arm, freedom.linear, freedom.angular) for freedom in body.joint.freedoms]
        body.write("J", np.stack(columns, axis=1), ". v")

    sweeps.outward(column)


def _column_about(turn: Array, arm: Array, linear: Array, angular: Array) -> Array:
    axis = turn @ angular
    return np.concatenate([cross(axis, arm) + turn @ linear, axis])


def _from_bodies(
    nv: int,
    bodies: Bodies,
    path: Sequence[int],
    q: Array,
    turns: dict[int, Turned],
    arms: dict[int, Array],
    to: Callable[..., Array],
) -> Array:
    """J (6, nv), each column first in the axes of its joint's stage, then passed ``to`` where it is wanted."""
    jac = blank(6, nv)
    for k in path:
        for freedom in bodies.bodies[k].freedoms_at(q):
            axis, along = turns[k].from_body(freedom.angular), turns[k].from_body(freedom.linear)
            jac[:3, freedom.speed] = to(k, cross(axis, arms[k]) + along)
            jac[3:, freedom.speed] = to(k, axis)
    return jac


def _to_world(turns: dict[int, Turned], split: int, k: int, vector: Array) -> Array:
    return turns[k].to_world(vector, split)


def _to_frame(path: Sequence[int], turns: dict[int, Turned], local: FloatArray, k: int, vector: Array) -> Array:
    """A vector (3,) from the axes of the stage of body k to those of the frame on the last body of the path."""
    last = turns[k]
    for turned_body in (turns[j] for j in path[path.index(k) + 1 :]):
        if turned_body.stage > last.stage:
            carrier = turned_body.carrier or last
            vector = turned_body.fixed.T @ (vector if carrier.turning is None else carrier.turning.T @ vector)
        last = turned_body
    return np.asarray(local.T @ last.to_body(vector))


def _outward(nv: int, bodies: Bodies, path: Sequence[int], q: Array, t: FloatArray) -> Array:
    """J (6, nv) from the poses of the bodies in the world."""
    poses = body_poses(bodies, q, tuple(path))
    point = (poses[path[-1] if path else -1] @ t)[:3, 3]
    jac = blank(6, nv)
    for k in path:
        for freedom in bodies.bodies[k].freedoms_at(q):
            jac[:, freedom.speed] = column(freedom, poses[k], point)
    return jac


def _rotated(last: Turned, local: FloatArray, base: Callable[[], Array]) -> Array:
    """J (6, nv) in the axes of the frame, from that in the world's."""
    return in_body_axes(last.rotation @ local, base())


def column(freedom: Freedom, pose: Array, point: Array) -> Array:
    """Velocity (6,) of a point (3,) and of its carrier per unit of one speed, world axes."""
    axis, along = pose[:3, :3] @ freedom.angular, pose[:3, :3] @ freedom.linear
    return np.concatenate([cross(axis, point - pose[:3, 3]) + along, axis])


def in_body_axes(rotation: Array, jac: Array) -> Array:
    """A Jacobian (6, nv) in the axes that R_world_body (3, 3) describes."""
    return np.concatenate([rotation.T @ jac[:3], rotation.T @ jac[3:]])


def check_frame(frame: str) -> None:
    """Raise `ArgumentError` unless the frame is a valid choice."""
    choice("frame", frame, FRAMES)
