"""Joint actions: the force and moment that each link receives from its parent, constraint forces included."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.external import Loads, Wrenches, wrenches_on_frames
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.kinematics.link_motion import body_motion
from linkwise.model.body import moving_bodies
from linkwise.model.inertia import Inertia
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.matrix_method import gravity_matrix, skew_part, tensor_to_frame
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array

MOTION = {"q": "nq", "qd": "nv", "qdd": "nv"}


@algorithm(inputs=MOTION, outputs={"actions": "L 6"}, open_only=True)
def joint_wrenches(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Force and moment (L, 6) each link receives from its parent, moment about the world origin, world axes.

    Sum over the links that a joint carries of (H - Hg) J - its transpose, J in the world frame (G. Legnani et al., "A
    homogeneous matrix approach to 3D kinematics and dynamics", Mech. Mach. Theory 31(5), 1996, part 2). A carried rotor
    loads its carrier; what a motor without a carrier does, and friction, act between link and parent and do not show.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.joint_wrenches([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3) + 0.0
    array([[ 0.   , 19.62 ,  0.   ,  0.   ,  0.   , 19.62 ],
           [ 0.   ,  9.81 ,  0.   ,  0.   ,  0.   , 14.715]])
    """
    return actions(tree, q, qd, qdd, ())


@algorithm(inputs={**MOTION, "external": "W 6"}, outputs={"actions": "L 6"}, open_only=True)
def joint_wrenches_external(
    tree: Tree, q: Array, qd: Array, qdd: Array, external: Array, *, wrenches: Wrenches = None
) -> Array:
    """Return the same (L, 6) with wrenches on links; on the tool, in its axes, unless `wrenches` names frames."""
    return actions(tree, q, qd, qdd, tuple(wrenches_on_frames(tree, q, external, wrenches)))


def actions(tree: Tree, q: Array, qd: Array, qdd: Array, loads: Loads) -> Array:
    """Joint actions (L, 6), summed from the tips to the base."""
    bodies = moving_bodies(tree)
    poses = body_poses(bodies, q)
    w, h = body_motion(bodies, poses, q, qd, qdd)
    gravity = gravity_matrix(tree.gravity)
    wrench = [
        _needed(link.body, poses[body] @ t, h[body] - gravity)
        for (body, t), link in zip(bodies.frames, tree.links, strict=True)
    ]
    for drive in tree.drives:
        if drive.carrier is not None and drive.carrier >= 0:
            body, t = bodies.frames[drive.carrier]
            wrench[drive.carrier] = wrench[drive.carrier] + _needed(drive.motor.locked, poses[body] @ t, h[body] - gravity)
    for rotor in (*bodies.rotors, *bodies.ground_rotors):
        carrier = tree.drives[rotor.drive].carrier
        if carrier is not None and carrier >= 0:
            spin = poses[rotor.body][:3, :3] @ rotor.spin
            couple = spin * qdd[rotor.speed] + w[rotor.body][:3, :3] @ spin * qd[rotor.speed]
            wrench[carrier] = wrench[carrier] + np.concatenate([np.zeros(3), couple])
    body, t = bodies.tool
    tool = poses[body] @ t
    held = tree.tool_index
    wrench[held] = wrench[held] + _needed(tree.payload, tool, h[body] - gravity)
    for frame, load in loads:
        k = held if frame == TOOL else int(frame)
        (body, t) = bodies.tool if frame == TOOL else bodies.frames[k]
        wrench[k] = wrench[k] - _applied(load, poses[body] @ t)
    for k in reversed(tree.order):
        parent = tree.parents[k]
        if parent >= 0:
            wrench[parent] = wrench[parent] + wrench[k]
    return np.array(wrench)


def _needed(inertia: Inertia, pose: Array, h: Array) -> Array:
    """Force and moment (6,) about the world origin that give a body with this pose the acceleration H (4, 4)."""
    if inertia.is_zero:
        return np.zeros(6)
    local = inertia.pseudo
    phi = skew_part(h, tensor_to_frame(local, pose))
    return np.array([phi[0, 3], phi[1, 3], phi[2, 3], phi[2, 1], phi[0, 2], phi[1, 0]])


def _applied(load: Array, pose: Array) -> Array:
    """A wrench (6,) on a frame, in its axes, as force and moment about the world origin."""
    force = pose[:3, :3] @ load[:3]
    return np.concatenate([force, pose[:3, :3] @ load[3:] + cross(pose[:3, 3], force)])
