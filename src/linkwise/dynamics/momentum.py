"""Linear and angular momentum, and their rates."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.center_of_mass import center, first_moments, some_mass
from linkwise.dynamics.newton_euler import ZERO, inertial, move, moving, spin, turned_freely
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import inertia_times
from linkwise.spatial.validation import choice
from linkwise.sweeps.drivers import Row, Sweeps, looped
from linkwise.sweeps.tables import moments_of
from linkwise.sweeps.unrolled import unrolled

POINTS = ("origin", "com")


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"p": "6"})
def momentum(tree: Tree, q: Array, qd: Array, *, about: str = "origin") -> Array:
    """Linear (kg m/s) and angular momentum (kg m2/s) (6,) of everything that moves, world axes.

    The angular momentum is about the world origin, or about the centre of mass (D. E. Orin, A. Goswami, S.-H. Lee,
    "Centroidal dynamics of a humanoid robot", Autonomous Robots 35, 2013). Rotors count with the spin that their carrier
    feels; a motor without a carrier has no known axis and adds nothing.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.momentum([0.0, 0.0], [1.0, 0.0]).round(3) + 0.0
    array([0.   , 2.   , 0.   , 0.   , 0.   , 2.667])
    """
    bodies = moving_bodies(tree)
    if about == "com":
        some_mass(tree, sum(moment[3] for moment in moments_of(tree, bodies, "base")))
    return np.asarray(unrolled("momentum", tree, bodies, joint_transforms(bodies, q), q, qd, about=about))


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"pd": "6"})
def momentum_dot(tree: Tree, q: Array, qd: Array, qdd: Array, *, about: str = "origin") -> Array:
    """The rate (6,) of `momentum`: force (N) and moment (N m) on everything that moves, gravity included.

    About the centre of mass c it is that about the origin less c x the force, for c moves along the momentum. Newton-Euler.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.momentum_dot([0.0, 0.0], [1.0, 0.0], [0.0, 0.0]).round(3) + 0.0
    array([-2.,  0.,  0.,  0.,  0.,  0.])
    """
    bodies = moving_bodies(tree)
    if about == "com":
        some_mass(tree, sum(moment[3] for moment in moments_of(tree, bodies, "base")))
    return np.asarray(unrolled("momentum_dot", tree, bodies, joint_transforms(bodies, q), q, qd, qdd, about=about))


@looped("momentum_dot", moment=True)
def momentum_dot_in_steps(sweeps: Sweeps, *, about: str = "origin") -> None:
    """The sum of the forces that accelerate the bodies, and that turn the spin of rotors."""
    choice("about", about, POINTS)

    def outward(body: Row) -> None:
        move(body)
        turning = turned_freely(body["omega"], body["alpha"])
        body["force"] = np.concatenate(inertial(body.inertia, body["accel"], turning))

    def rotor(rotor: Row) -> None:
        couple = cross(rotor.body["omega"], spin(rotor)) * rotor.read("qd", "v")[0]
        rotor.body.add("force", np.concatenate([ZERO, spin(rotor) * rotor.read("qdd", "v")[0] + couple]))

    def whole(frame: Row) -> None:
        total = frame.ground["force"]
        if about == "com":
            total = np.concatenate([total[:3], total[3:] - cross(center(sweeps, frame), total[:3])])
        frame.write("pd", total, ".")

    if about == "com":
        first_moments(sweeps)
    sweeps.ground(omega=ZERO, alpha=ZERO, accel=ZERO, force=np.zeros(6))
    sweeps.outward(outward)
    sweeps.outward(rotor, "rotors")
    sweeps.inward(lambda body: body.parent.add("force", body.joint.force_to_parent(body["force"])))
    sweeps.outward(whole, "frames")


@looped("momentum", moment=True)
def momentum_in_steps(sweeps: Sweeps, *, about: str = "origin") -> None:
    """The sum of I v over the bodies, and the spin of rotors, about the world's origin or the centre of mass."""
    choice("about", about, POINTS)

    def outward(body: Row) -> None:
        body["velocity"] = moving(body)
        body["momentum"] = inertia_times(body.inertia, body["velocity"])

    def rotor(rotor: Row) -> None:
        rotor.body.add("momentum", np.concatenate([ZERO, spin(rotor) * rotor.read("qd", "v")[0]]))

    def whole(frame: Row) -> None:
        total = frame.ground["momentum"]
        if about == "com":
            total = np.concatenate([total[:3], total[3:] - cross(center(sweeps, frame), total[:3])])
        frame.write("p", total, ".")

    if about == "com":
        first_moments(sweeps)
    sweeps.ground(velocity=np.zeros(6), momentum=np.zeros(6))
    sweeps.outward(outward)
    sweeps.outward(rotor, "rotors")
    sweeps.inward(lambda body: body.parent.add("momentum", body.joint.force_to_parent(body["momentum"])))
    sweeps.outward(whole, "frames")
