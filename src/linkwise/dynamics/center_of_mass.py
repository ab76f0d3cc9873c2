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
from linkwise.spatial.scalar import Array, FloatArray, blank


@algorithm(inputs={"q": "nq"}, outputs={"c": "3"})
def center_of_mass(tree: Tree, q: Array) -> Array:
    """Centre of mass (3,) of all links, rotors and the payload, world frame: the first moment over the mass.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.center_of_mass([0.0, 0.0]).round(3)
    array([1., 0., 0.])
    """
    bodies = moving_bodies(tree)
    total = first_moment(tree, bodies, joint_transforms(bodies, q))
    return np.asarray(total[:3] * (1.0 / some_mass(tree, total[3])))


@algorithm(inputs={"q": "nq"}, outputs={"J": "3 nv"})
def center_of_mass_jacobian(tree: Tree, q: Array) -> Array:
    """Velocity of the centre of mass per speed (3, nv), world axes.

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
    carried = _carried_moments(bodies, joints)
    mass = some_mass(tree, first_moment(tree, bodies, joints)[3])
    jac = blank(3, tree.nv)
    for k, joint in enumerate(joints):
        for freedom in joint.freedoms:
            own = carried[k][3] * freedom.linear + cross(freedom.angular, carried[k][:3])
            jac[:, freedom.speed] = (poses[k][:3, :3] @ own) * (1.0 / mass)
    return jac


def first_moment(tree: Tree, bodies: Bodies, joints: Sequence[JointTransform]) -> Array:
    """First moment (3) and mass (1) of everything, about the world origin, in one (4,)."""
    total: Array = _at_rest(tree, bodies)
    for body, joint, moment in zip(bodies.bodies, joints, _carried_moments(bodies, joints), strict=True):
        if body.parent < 0:
            total = total + _to_parent(joint, moment)
    return total


def _carried_moments(bodies: Bodies, joints: Sequence[JointTransform]) -> list[Array]:
    """First moment and mass (4,) of each body with all that it carries, about its origin in its axes."""
    return summed_inward(bodies, joints, [body.inertia[:, 3] for body in bodies.bodies], _to_parent)


def _to_parent(joint: JointTransform, moment: Array) -> Array:
    first, mass = joint.turn @ moment[:3] + joint.slide * moment[3], moment[3]
    return np.concatenate([joint.fixed @ first + joint.shift * mass, [mass]])


def _at_rest(tree: Tree, bodies: Bodies) -> FloatArray:
    """First moment and mass (4,) of links, rotors and payload that are fixed to the ground."""
    total = np.zeros(4)
    carried = [(frame, link.body) for frame, link in zip(bodies.frames, tree.links, strict=True)]
    locked = [(carrier_frame(tree, bodies, d.carrier), d.motor.locked) for d in tree.drives if d.carrier is not None]
    for (body, t), inertia in [*carried, *locked, (bodies.tool, tree.payload)]:
        if body < 0:
            total = total + t @ inertia.pseudo[:, 3]
    return total


def some_mass(tree: Tree, mass: float) -> float:
    """The mass, or a `ModelError` where there is none."""
    if not isinstance(mass, Expr) and not mass > 0:
        raise ModelError([Problem(f"mechanism {tree.name!r}", "mass", float(mass), "a mass on one link at least")])
    return mass
