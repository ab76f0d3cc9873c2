"""The centre of mass and its Jacobian."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.recursions import summed_inward
from linkwise.errors import ModelError, Problem
from linkwise.expr.node import Expr
from linkwise.kinematics.body_transform import JointTransform, joint_transforms
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import Bodies, carrier_frame, moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, blank


@algorithm(inputs={"q": "nq"}, outputs={"c": "3"})
def center_of_mass(tree: Tree, q: Array, *, link: int | str = "base") -> Array:
    """Centre of mass (3,) of all links, rotors and the payload, world frame: the first moment over the mass.

    With a link, that of this link and of all that it carries.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.center_of_mass([0.0, 0.0]).round(3)
    array([1., 0., 0.])
    """
    bodies = moving_bodies(tree)
    total = first_moment(tree, bodies, joint_transforms(bodies, q), link)
    return np.asarray(total[:3] * (1.0 / some_mass(tree, total[3])))


@algorithm(inputs={"q": "nq"}, outputs={"J": "3 nv"})
def center_of_mass_jacobian(tree: Tree, q: Array, *, link: int | str = "base") -> Array:
    """Velocity of the centre of mass per speed (3, nv), world axes; with a link, of it and all that it carries.

    Joint i moves the mass that it carries as one body: column i is (m_i s + w x h_i) / m, with m_i and h_i the mass and the
    first moment beyond it (T. Sugihara, Y. Nakamura, H. Inoue, "Realtime humanoid motion generation through ZMP
    manipulation based on inverted pendulum control", ICRA 2002).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.center_of_mass_jacobian([0.0, 0.0]).round(3) + 0.0
    array([[0.  , 0.  ],
           [1.  , 0.25],
           [0.  , 0.  ]])
    """
    bodies = moving_bodies(tree)
    joints, poses = joint_transforms(bodies, q), body_poses(bodies, q)
    carried = summed_inward(bodies, joints, moments_of(tree, bodies, link)[1:], _to_parent)
    mass = some_mass(tree, first_moment(tree, bodies, joints, link)[3])
    jac = blank(3, tree.nv)
    for k, joint in enumerate(joints):
        for freedom in joint.freedoms:
            momentum = carried[k][3] * freedom.linear + cross(freedom.angular, carried[k][:3])
            jac[:, freedom.speed] = (poses[k][:3, :3] @ momentum) * (1.0 / mass)
    return jac


def first_moment(tree: Tree, bodies: Bodies, joints: Sequence[JointTransform], link: int | str = "base") -> Array:
    """First moment and mass (4,) of a link with all that it carries, or of everything, about the world origin."""
    total, *moments = moments_of(tree, bodies, link)
    carried = summed_inward(bodies, joints, moments, _to_parent)
    for body, joint, moment in zip(bodies.bodies, joints, carried, strict=True):
        if body.parent < 0:
            total = total + _to_parent(joint, moment)
    return total


def _to_parent(joint: JointTransform, moment: Array) -> Array:
    first, mass = joint.turn @ moment[:3] + joint.slide * moment[3], moment[3]
    return np.concatenate([joint.fixed @ first + joint.shift * mass, [mass]])


def moments_of(tree: Tree, bodies: Bodies, link: int | str) -> list[Array]:
    """First moment and mass (4,) of what the ground, and of what each body, holds of the links in question."""
    if link == "base":
        inside = set(range(-1, len(tree.links)))
        results: list[Array] = [np.zeros(4), *(body.inertia[:, 3] for body in bodies.bodies)]
    else:
        inside = set(tree.carried(tree.link_index(link)))
        results = [np.zeros(4) for _ in range(len(bodies.bodies) + 1)]
    frames = [(k, frame, link.body) for k, (frame, link) in enumerate(zip(bodies.frames, tree.links, strict=True))]
    for drive in tree.drives:
        if drive.carrier is not None:
            frames.append((drive.carrier, carrier_frame(tree, bodies, drive.carrier), drive.motor.locked))
    for k, (body, t), inertia in [*frames, (tree.tool_index, bodies.tool, tree.payload)]:
        if k in inside and (body < 0 or link != "base"):
            results[body + 1] = results[body + 1] + t @ inertia.pseudo[:, 3]
    return results


def some_mass(tree: Tree, mass: float) -> float:
    """The mass, or a `ModelError` where there is none."""
    if not isinstance(mass, Expr) and not mass > 0:
        raise ModelError([Problem(f"mechanism {tree.name!r}", "mass", float(mass), "a mass on one link at least")])
    return mass
