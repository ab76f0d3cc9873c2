"""Kinetic and potential energy."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.center_of_mass import first_moments
from linkwise.dynamics.length_inertias import length_inertia_energy
from linkwise.dynamics.newton_euler import add_spring_energy, moving, spin
from linkwise.dynamics.recursions import spring_energy
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array
from linkwise.spatial.spatial_vectors import inertia_times
from linkwise.sweeps.drivers import Row, Sweeps, looped
from linkwise.sweeps.unrolled import unrolled


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"T": ""})
def kinetic_energy(tree: Tree, q: Array, qd: Array) -> Any:
    """T (J) of links, payload and rotors: the sum of v' I v / 2 over the bodies.

    H. Goldstein, *Classical Mechanics* (1980), section 5.3.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> qd = [1.0, 2.0]
    >>> float(round(arm.kinetic_energy([0.0, 0.5], qd), 4))
    3.483
    >>> float(round(qd @ arm.mass_matrix([0.0, 0.5]) @ qd / 2, 4))
    3.483
    """
    bodies = moving_bodies(tree).regrouped()
    energy = unrolled("kinetic_energy", tree, bodies, joint_transforms(bodies, q), q, qd)
    return np.asarray(energy + length_inertia_energy(tree, q, qd)) if tree.has_length_inertias else energy


@looped("kinetic_energy", regrouped=True)
def kinetic_energy_in_steps(sweeps: Sweeps) -> None:
    """The sum of v' I v / 2 over the bodies, and the spin of rotors."""

    def outward(body: Row) -> None:
        velocity = body["velocity"] = moving(body)
        body.write("T", velocity @ inertia_times(body.inertia, velocity), add=True)

    def rotor(rotor: Row) -> None:
        rotor.write("T", 2.0 * ((spin(rotor) @ rotor.body["velocity"][3:]) * rotor.read("qd", "v")[0]), add=True)

    def motor(motor: Row) -> None:
        speed = motor.read("qd", "v")[0]
        motor.write("T", motor.number("reflected")[()] * (speed * speed), add=True)

    sweeps.ground(velocity=np.zeros(6))
    sweeps.outward(outward)
    sweeps.outward(rotor, "rotors")
    sweeps.outward(motor, "motors")
    sweeps.outward(lambda frame: frame.write("T", 0.5 * frame.read("T")), "frames")


@algorithm(inputs={"q": "nq"}, outputs={"U": ""})
def potential_energy(tree: Tree, q: Array) -> Any:
    """U (J) in the field of gravity, zero with all mass at the world origin: -m g'c; and that of springs.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> [float(round(arm.potential_energy([angle, 0.0]), 3)) for angle in (0.0, 1.5707963)]
    [0.0, 19.62]
    """
    bodies = moving_bodies(tree)
    energy = unrolled("potential_energy", tree, bodies, joint_transforms(bodies, q), q)
    return np.asarray(energy + spring_energy(tree, q) if tree.springs else energy)


@looped("potential_energy", moment=True)
def potential_energy_in_steps(sweeps: Sweeps, *, springs: bool = False) -> None:
    """Compute -m g'c of all bodies and of the ground, plus the energy of springs on joints."""
    first_moments(sweeps)
    gravity = sweeps.constant("gravity")
    sweeps.outward(lambda frame: frame.write("U", -(gravity @ frame.ground["moment"][:3])), "frames")
    if springs:
        add_spring_energy(sweeps, "U")
