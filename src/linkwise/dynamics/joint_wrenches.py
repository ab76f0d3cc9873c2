"""Joint wrenches: the force and moment that each link receives from its parent, constraint forces included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm, with_external
from linkwise.dynamics.external import Wrenches
from linkwise.dynamics.length_inertias import line_tension
from linkwise.dynamics.newton_euler import ZERO, inertial, move, spin, turned_freely
from linkwise.kinematics.forward_kinematics import body_poses, forward_kinematics
from linkwise.model.body import carrier_frame, moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.loop import BASE
from linkwise.model.potential import ConstantForce
from linkwise.model.tendon_path import PathPiece
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.sweeps.drivers import Row, Sweeps, body_pose, framed, looped
from linkwise.sweeps.unrolled import unrolled

MOTION = {"q": "nq", "qd": "nv", "qdd": "nv"}


@algorithm(inputs=MOTION, outputs={"actions": "L 6"}, open_only=True)
def joint_wrenches(
    tree: Tree, q: Array, qd: Array, qdd: Array, external: Array | None = None, *, wrenches: Wrenches = None
) -> Array:
    """Force, N, and moment, N m, (L, 6) on each link from its parent, moment about the world origin, world axes.

    The Newton-Euler forces of the links (J. Y. S. Luh, M. W. Walker, R. P. C. Paul, 1980), summed from the tips to the base.
    A carried rotor loads its carrier. A motor without a carrier, friction and springs on joints act between a link and its
    parent and are not included. Springs on lines between links, and constant forces, load the links that they pull at and
    the joints between. Wrenches are as for `inverse_dynamics`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.joint_wrenches([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3) + 0.0
    array([[ 0.   , 19.62 ,  0.   ,  0.   ,  0.   , 19.62 ],
           [ 0.   ,  9.81 ,  0.   ,  0.   ,  0.   , 14.715]])
    """
    bodies = moving_bodies(tree)
    joints, poses = joint_transforms(bodies, q), body_poses(bodies, q)
    name = "joint_wrenches"
    if external is None:
        actions = unrolled(name, tree, bodies, joints, q, qd, qdd, poses=poses)
    else:
        loaded = with_external(name)
        actions = unrolled(loaded, tree, bodies, joints, q, qd, qdd, external, poses=poses, wrenches=wrenches)
    return _held_against_lines(tree, np.asarray(actions), q, qd, qdd)


def _held_against_lines(tree: Tree, actions: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Subtract springs on lines between links, at both ends of each line, and constant forces."""
    for load in (element for element in tree.springs if isinstance(element, ConstantForce)):
        point, force = forward_kinematics(tree, q, link=load.link) @ [*load.point, 1.0], np.array(load.force)
        for carrying in tree.path(load.link):
            actions[carrying] = actions[carrying] - np.concatenate([force, cross(point[:3], force)])
    lines = [element for element in tree.springs if element.pieces]
    bodies = moving_bodies(tree)
    poses = body_poses(bodies, q) if lines else {}

    def pose(link: str, frame: Array) -> Array:
        body, on_body = carrier_frame(tree, bodies, -1 if link == BASE else tree.link_index(link))
        return np.asarray(poses[body] @ on_body @ frame)

    for element in lines:
        tension = line_tension(tree, element, q, qd, qdd)
        for piece in element.pieces:
            for name, wrench in _wrenches_of(piece, pose, tension):
                for carrying in () if name == BASE else tree.path(name):
                    actions[carrying] = actions[carrying] - wrench
    return actions


def _wrenches_of(
    piece: PathPiece, pose: Callable[[str, Array], Array], tension: Callable[[Any], Any]
) -> Iterator[tuple[str, Array]]:
    """The links that a part of a path pulls at, with the wrenches (6,) about the world's origin, whose sum is zero."""
    first, second, path = piece.placed(pose)
    pull, total = piece.share * tension(path.length), np.zeros(6)
    for (link, _), at, slope in ((piece.first, first, path.first), (piece.second, second, path.second)):
        wrench = np.concatenate([-pull * slope, cross(at, -pull * slope)])
        total = total + wrench
        yield link, wrench
    if piece.wrap is not None:
        yield piece.wrap.link, -total


@looped("joint_wrenches", external=True)
def joint_wrenches_in_steps(sweeps: Sweeps, wrenches: bool = False) -> None:
    """Newton-Euler forces of links, rotors and payload, summed from the tips to the base, about the world's origin."""

    def outward(body: Row) -> None:
        body_pose(body)
        move(body)

    def needed(link: Row) -> None:
        pose, body, turn = framed(link), link.body, link.pose[:3, :3]
        spinning = turned_freely(body["omega"], body["alpha"]).spin
        accel = turn.T @ (body["accel"] + spinning @ link.pose[:3, 3])
        turning = turned_freely(turn.T @ body["omega"], turn.T @ body["alpha"])
        link["wrench"] = _at_origin(pose, np.concatenate(inertial(link.inertia, accel, turning)))

    def carried(rotor: Row) -> None:
        couple = spin(rotor) * rotor.read("qdd", "v")[0]
        couple = couple + cross(rotor.body["omega"], spin(rotor)) * rotor.read("qd", "v")[0]
        rotor.link.add("wrench", np.concatenate([ZERO, rotor.body["world"][:, :3] @ couple]))

    def applied(row: Row) -> None:
        wrench, pose = row.read("external"), framed(row)
        if row.kind.name == "body":
            wrench = _at_origin(pose, wrench)
        elif row.kind.name == "world":
            wrench = np.concatenate([wrench[:3], wrench[3:] + cross(pose[:3, 3], wrench[:3])])
        row.link.add("wrench", -wrench)

    def inward(link: Row) -> None:
        link.write("actions", link["wrench"], "v .")
        link.parent.add("wrench", link["wrench"])

    sweeps.ground(world=np.eye(4)[:3], omega=ZERO, alpha=ZERO, accel=-sweeps.constant("gravity"))
    sweeps.outward(outward)
    sweeps.outward(needed, "links")
    sweeps.outward(carried, "rotors")
    if wrenches:
        sweeps.outward(applied, "wrenches")
    sweeps.inward(inward, "links")


def _at_origin(pose: Array, wrench: Array) -> Array:
    """A wrench (6,) on a frame, in its axes, in the world's axes and about the world's origin."""
    force = pose[:3, :3] @ wrench[:3]
    return np.concatenate([force, pose[:3, :3] @ wrench[3:] + cross(pose[:3, 3], force)])
