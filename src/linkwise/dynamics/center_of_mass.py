"""The centre of mass and its Jacobian."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.errors import ModelError, Problem
from linkwise.expr.node import Expr
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.sweeps.drivers import Row, Sweeps, body_pose, looped
from linkwise.sweeps.tables import moments_of
from linkwise.sweeps.unrolled import unrolled


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
    some_mass(tree, sum(moment[3] for moment in moments_of(tree, bodies, link)))
    return np.asarray(unrolled("center_of_mass", tree, bodies, joint_transforms(bodies, q), q, link=link))


@looped("center_of_mass", moment=True)
def center_of_mass_in_steps(sweeps: Sweeps) -> None:
    """The first moment over the mass."""
    first_moments(sweeps)
    sweeps.outward(lambda frame: frame.write("c", center(sweeps, frame), "."), "frames")


def first_moments(sweeps: Sweeps) -> None:
    """First moment and mass (4,) of each body with its subtree, "moment", and of the whole mechanism on the ground."""
    sweeps.ground(moment=sweeps.constant("held"))
    sweeps.outward(_own_moment)
    sweeps.inward(lambda body: body.parent.add("moment", body.joint.moment_to_parent(body["moment"])))


def _own_moment(body: Row) -> None:
    body["moment"] = body.inertia[:, 3]


def center(sweeps: Sweeps, frame: Row) -> Array:
    """Centre of mass (3,) of everything, from `first_moments`."""
    return np.asarray(frame.ground["moment"][:3] * (1.0 / sweeps.constant("mass")[()]))


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
    some_mass(tree, sum(moment[3] for moment in moments_of(tree, bodies, link)))
    joints, poses = joint_transforms(bodies, q), body_poses(bodies, q)
    return np.asarray(unrolled("center_of_mass_jacobian", tree, bodies, joints, q, poses=poses, link=link))


@looped("center_of_mass_jacobian", moment=True)
def center_of_mass_jacobian_in_steps(sweeps: Sweeps) -> None:
    """A joint moves the mass that it carries as one body."""
    share = 1.0 / sweeps.constant("mass")[()]

    def outward(body: Row) -> None:
        body_pose(body)
        _own_moment(body)

    def inward(body: Row) -> None:
        joint, moment, turn = body.joint, body["moment"], body["world"][:, :3]
        moved = [moment[3] * freedom.linear + cross(freedom.angular, moment[:3]) for freedom in joint.freedoms]
        body.write("J", np.stack([turn @ column * share for column in moved], axis=1), ". v")
        body.parent.add("moment", joint.moment_to_parent(moment))

    sweeps.ground(world=np.eye(4)[:3], moment=np.zeros(4))
    sweeps.outward(outward)
    sweeps.inward(inward)


def some_mass(tree: Tree, mass: float) -> float:
    """Return the mass, or raise `ModelError` if it is zero."""
    if not isinstance(mass, Expr) and not mass > 0:
        raise ModelError([Problem(f"mechanism {tree.name!r}", "mass", float(mass), "a mass on one link at least")])
    return mass
