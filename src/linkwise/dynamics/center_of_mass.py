"""The centre of mass and its Jacobian."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.errors import ModelError, Problem
from linkwise.expr.node import Expr
from linkwise.kinematics.forward import body_poses
from linkwise.kinematics.joint_transform import JointTransform, joint_transforms
from linkwise.model.bodies import Bodies
from linkwise.model.reduction import carrier_frame, moving_bodies
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
    made = moving_bodies(tree)
    total = first_moment(tree, made, joint_transforms(made, q))
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
    made = moving_bodies(tree)
    joints, poses = joint_transforms(made, q), body_poses(made, q)
    carried = _carried_moments(made, joints)
    mass = some_mass(tree, first_moment(tree, made, joints)[3])
    jac = blank(3, tree.nv)
    for k, body in enumerate(made.bodies):
        for freedom in body.freedoms:
            own = carried[k][3] * freedom.linear + cross(freedom.angular, carried[k][:3])
            jac[:, freedom.speed] = (poses[k][:3, :3] @ own) * (1.0 / mass)
    return jac


def first_moment(tree: Tree, made: Bodies, joints: Sequence[JointTransform]) -> Array:
    """First moment (3) and mass (1) of everything, about the world origin, in one (4,)."""
    total: Array = _at_rest(tree, made)
    for body, joint, moment in zip(made.bodies, joints, _carried_moments(made, joints), strict=True):
        if body.parent < 0:
            total = total + _to_parent(joint, moment)
    return total


def _carried_moments(made: Bodies, joints: Sequence[JointTransform]) -> list[Array]:
    """First moment and mass (4,) of each body with all that it carries, about its origin in its axes."""
    total: list[Array] = [body.inertia[:, 3] for body in made.bodies]
    for k in reversed(range(len(total))):
        parent = made.bodies[k].parent
        if parent >= 0:
            total[parent] = total[parent] + _to_parent(joints[k], total[k])
    return total


def _to_parent(joint: JointTransform, moment: Array) -> Array:
    first, mass = joint.turn @ moment[:3] + joint.slide * moment[3], moment[3]
    return np.concatenate([joint.fixed @ first + joint.shift * mass, [mass]])


def _at_rest(tree: Tree, made: Bodies) -> FloatArray:
    """First moment and mass (4,) of links, rotors and payload that are fixed to the ground."""
    total = np.zeros(4)
    carried = [(frame, link.body) for frame, link in zip(made.frames, tree.links, strict=True)]
    locked = [(carrier_frame(tree, made, d.carrier), d.motor.locked) for d in tree.drives if d.carrier is not None]
    for (body, t), inertia in [*carried, *locked, (made.tool, tree.payload)]:
        if body < 0:
            total = total + t @ inertia.pseudo[:, 3]
    return total


def some_mass(tree: Tree, mass: float) -> float:
    """The mass, or a `ModelError` where there is none."""
    if not isinstance(mass, Expr) and not mass > 0:
        raise ModelError([Problem(f"mechanism {tree.name!r}", "mass", float(mass), "a mass on one link at least")])
    return mass
