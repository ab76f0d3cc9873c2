"""Equations of several contacts as straight-line code, in which each contact is switched on or off by a number.

One function serves all sets of contacts, and a batch may have another set in each configuration: a row that is switched off
is left out of the equations by a one on the diagonal of the Delassus matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.algorithm import Algorithm, straight_kernel
from linkwise.dynamics.closed_loops.kkt import gram, regular
from linkwise.dynamics.contact import KINDS
from linkwise.dynamics.derivatives import inverse_dynamics_derivatives
from linkwise.dynamics.inverse_dynamics import inverse_dynamics
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.kernel import Kernel
from linkwise.kinematics.configuration import derivative_by_vector, tangent_derivative
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.frame_motion import (
    frame_acceleration,
    frame_acceleration_derivatives,
    frame_velocity,
    frame_velocity_derivatives,
    kinematic_hessian_product,
)
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.link import Link
from linkwise.model.tree import Tree
from linkwise.spatial.linear import Factor, factor
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, blank, is_zero, root, select
from linkwise.spatial.transform import translation

#: A row depends on others if its pivot falls to this part by elimination: the square of the sine of an angle of 1e-4.
DEPENDENT = 1e-8


@dataclass(frozen=True)
class ContactFrame:
    """A contact as plain data, which kernels are known by.

    Attributes
    ----------
    link, to : int, int or None
        The frame that is held, a link of `with_contact_frames`, and what it is held on: another link, or the world.
    kind : str
        One of `KINDS`.
    normal : tuple of float
        Direction (3,) in world axes.
    """

    link: int
    to: int | None
    kind: str
    normal: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of equations."""
        return KINDS[self.kind]

    def rows(self, motion: Array) -> Array:
        """The rows of the equations, from those (6, ...) of the motion of the frame."""
        return np.asarray(np.array(self.normal)[None] @ motion[:3]) if self.kind == "normal" else motion[: self.size]

    def wrench(self, forces: Array) -> Array:
        """Force and moment (6,) in world axes from those of the equations."""
        components = np.array(self.normal) * forces[0] if self.kind == "normal" else forces
        return np.concatenate([components, np.zeros(6 - len(components))])


Frames = tuple[ContactFrame, ...]


def with_contact_frames(tree: Tree, places: Sequence[tuple[int, FloatArray]]) -> Tree:
    """The mechanism with fixed links without mass, before all others, at points (3,) of links."""
    names = [f"contact {k + 1}" for k in range(len(places))]
    while {*names} & {*tree.link_names}:
        names = [f"{name}'" for name in names]
    frames = [
        Link(name=name, joint="fixed", parent=tree.links[link].name, before=translation(*point))
        for name, (link, point) in zip(names, places, strict=True)
    ]
    links = [str(link.name) for link in tree.links]
    parents = [links[parent] if parent >= 0 else "base" for parent in tree.parents]
    return tree.replace(
        links=[*frames, *(link.replace(parent=parent) for link, parent in zip(tree.links, parents, strict=True))]
    )


def contact_jacobian(tree: Tree, q: Array, *, contacts: Frames) -> Array:
    """Contact Jacobian (C, nv), in world axes."""
    return np.concatenate([contact.rows(_jacobian(tree, q, contact)) for contact in contacts])


def _jacobian(tree: Tree, q: Array, contact: ContactFrame) -> Array:
    """The same of one contact's frame (6, nv), relative to the other link."""
    held = jacobian(tree, q, link=contact.link)
    if contact.to is None:
        return np.asarray(held)
    other, arm = jacobian(tree, q, link=contact.to), _arm(tree, q, contact.link, contact.to)
    moved = np.array([cross(turning, arm) for turning in other[3:].T]).T
    return np.asarray(held - np.concatenate([other[:3] + moved, other[3:]]))


def _arm(tree: Tree, q: Array, link: int, to: int) -> Array:
    """Vector (3,) to the origin of a link's frame from that of another one."""
    return np.asarray(forward_kinematics(tree, q, link=link)[:3, 3] - forward_kinematics(tree, q, link=to)[:3, 3])


def contact_bias(tree: Tree, q: Array, qd: Array, *, contacts: Frames) -> Array:
    """Accelerations at the contacts (C,) without accelerations of the joints."""
    still = blank(tree.nv)
    return np.concatenate([contact.rows(_acceleration(tree, q, qd, still, contact)) for contact in contacts])


def _acceleration(tree: Tree, q: Array, qd: Array, qdd: Array, contact: ContactFrame) -> Array:
    """Acceleration of one contact's frame (6,), less that of the other link where the contact is, which moves along it."""
    held = frame_acceleration(tree, q, qd, qdd, link=contact.link)
    if contact.to is None:
        return np.asarray(held)
    other = frame_acceleration(tree, q, qd, qdd, link=contact.to)
    velocity, twist = (frame_velocity(tree, q, qd, link=link) for link in (contact.link, contact.to))
    arm = _arm(tree, q, contact.link, contact.to)
    along = cross(other[3:], arm) + cross(twist[3:], velocity[:3] - twist[:3])
    return np.asarray(held - np.concatenate([other[:3] + along, other[3:]]))


def contact_delassus(tree: Tree, q: Array, *, contacts: Frames) -> Array:
    """Delassus matrix J inverse(M) J' (C, C)."""
    return Contacting(tree, q, contacts).delassus


class Contacting:
    """M = L' D L and J inverse(M) J' = Y inverse(D) Y' with L' Y' = J', at one configuration."""

    def __init__(self, tree: Tree, q: Array, contacts: Frames) -> None:
        self.jacobian = contact_jacobian(tree, q, contacts=contacts)
        self.mass = factor(mass_matrix(tree, q))
        self.halves = np.array([self.mass.half_solve(row) for row in self.jacobian], dtype=object)
        self.delassus = gram(self.halves, np.array(self.mass.inverse_pivots, dtype=object))

    def switched(self, active: Array, contacts: Frames) -> Switched:
        """The equations of the contacts that are switched on."""
        return Switched(self, by_row(active, contacts))


class Switched:
    """The equations M a = tau + J' f, J a = -b of those rows whose switch is above zero."""

    def __init__(self, contacting: Contacting, switches: Array) -> None:
        self.contacting = contacting
        self.switches = np.array([select(on, 1.0, 0.0) for on in switches], dtype=object)
        matrix = np.array(contacting.delassus, dtype=object)
        for i, on in enumerate(self.switches):
            for j in range(i):
                matrix[i, j] = matrix[j, i] = matrix[i, j] * (on * self.switches[j])
            matrix[i, i] = 1.0 if is_zero(matrix[i, i]) else select(on, matrix[i, i], 1.0)
        self.factor: Factor = factor(matrix)
        self.valid = root(regular(matrix, self.factor, 1.0, DEPENDENT))

    def forces(self, acceleration: Array) -> Array:
        """Forces (C,) that undo accelerations (C,) at the contacts; all of them NaN where rows depend on each other."""
        solved = -self.factor.solve(self.switches * acceleration)
        return np.array([self.valid - 1.0 if is_zero(force) else force * self.valid for force in solved], dtype=object)

    def solve(self, efforts: Array, bias: Array) -> tuple[Array, Array]:
        """Accelerations (nv,) under efforts (nv,), and forces (C,), with accelerations at the contacts of -bias (C,)."""
        mass, halves = self.contacting.mass, self.contacting.halves
        half = mass.half_solve(efforts)
        weighted = half * np.array(mass.inverse_pivots, dtype=object)
        forces = self.forces(np.array([row @ weighted for row in halves], dtype=object) + bias)
        return mass.other_half_solve(half + halves.T @ forces), forces

    @property
    def inertia(self) -> Array:
        """Inertia at the contacts, inverse(J inverse(M) J') (C, C): forces that undo unit accelerations."""
        return -np.array([self.forces(row) for row in np.eye(len(self.switches))], dtype=object).T


def contact_forward_dynamics(
    tree: Tree, q: Array, qd: Array, tau: Array, active: Array, damping: Array, *, contacts: Frames
) -> tuple[Array, Array]:
    """Accelerations (nv,) and contact forces (C,); NaN where equations depend on each other."""
    contacting = Contacting(tree, q, contacts)
    rate = _accelerations(tree, contacting, q, qd, damping, contacts)
    efforts = tau - inverse_dynamics(tree, q, qd, blank(tree.nv))
    return contacting.switched(active, contacts).solve(efforts, rate)


def _accelerations(tree: Tree, contacting: Contacting, q: Array, qd: Array, damping: Array, contacts: Frames) -> Array:
    """Accelerations (C,) at the contacts by velocities, and the damping (one number a contact) times those."""
    return np.asarray(contact_bias(tree, q, qd, contacts=contacts) + by_row(damping, contacts) * (contacting.jacobian @ qd))


def by_row(values: Array, contacts: Frames) -> Array:
    """One number a contact, repeated for each of its equations (C,)."""
    return np.array(
        [value for value, contact in zip(values, contacts, strict=True) for _ in range(contact.size)], dtype=object
    )


def contact_impact(
    tree: Tree, q: Array, qd: Array, active: Array, restitution: Array, *, contacts: Frames
) -> tuple[Array, Array]:
    """Velocities (nv,) after an impact, and its impulses (C,); NaN where equations depend on each other."""
    contacting = Contacting(tree, q, contacts)
    arriving = contacting.jacobian @ qd
    rebound, start = [], 0
    for contact, ratio in zip(contacts, restitution, strict=True):
        speed = arriving[start : start + contact.size]
        axis = np.concatenate([np.array(contact.normal), np.zeros(3)])[: contact.size] if contact.size > 1 else np.ones(1)
        rebound += list(ratio * (axis @ speed) * axis)
        start += contact.size
    change, impulses = contacting.switched(active, contacts).solve(
        blank(tree.nv), arriving + np.array(rebound, dtype=object)
    )
    return qd + change, impulses


def contact_solution(
    tree: Tree, q: Array, qd: Array, tau: Array, active: Array, damping: Array, *, contacts: Frames
) -> tuple[Array, ...]:
    """Solution of the forward dynamics, [1; J] inverse(M) (nv + C, nv), and the inertia at the contacts (C, C)."""
    contacting = Contacting(tree, q, contacts)
    switched = contacting.switched(active, contacts)
    rate = _accelerations(tree, contacting, q, qd, damping, contacts)
    qdd, forces = switched.solve(tau - inverse_dynamics(tree, q, qd, blank(tree.nv)), rate)
    mass = contacting.mass
    at_contacts = [mass.other_half_solve(half) for half in contacting.halves]
    return qdd, forces, np.concatenate([mass.inverse(), np.array(at_contacts, dtype=object)]), switched.inertia


def contact_changes(
    tree: Tree, q: Array, qd: Array, qdd: Array, forces: Array, damping: Array, *, contacts: Frames
) -> tuple[Array, Array]:
    """Derivatives by q and qd of J' f - tau of inverse dynamics (nv, 2 nv), and of accelerations at contacts (C, 2 nv)."""
    by_q, by_qd, _ = inverse_dynamics_derivatives(tree, q, qd, qdd)
    held, start, rates = -by_q, 0, []
    for contact, rate in zip(contacts, damping, strict=True):
        wrench = contact.wrench(forces[start : start + contact.size])
        start += contact.size
        held = held + _held_efforts(tree, q, wrench, contact)
        tables = _acceleration_derivatives(tree, q, qd, qdd, rate, contact)
        rates.append(np.concatenate([contact.rows(table) for table in tables], axis=1))
    return np.concatenate([held, -by_qd], axis=1), np.concatenate(rates)


def _held_efforts(tree: Tree, q: Array, wrench: Array, contact: ContactFrame) -> Array:
    """Derivatives by q of the efforts J' w of a held wrench (nv, nv)."""
    if contact.to is None:
        return np.asarray(kinematic_hessian_product(tree, q, wrench, link=contact.link))
    return tangent_derivative(tree, lambda x: _jacobian(tree, x, contact).T @ wrench, q)


def _acceleration_derivatives(
    tree: Tree, q: Array, qd: Array, qdd: Array, damping: Any, contact: ContactFrame
) -> tuple[Array, Array]:
    """Derivatives by q and by qd (6, nv) of the acceleration of a contact's frame and of its damped velocity."""
    if contact.to is None:
        by_q, by_qd, _ = frame_acceleration_derivatives(tree, q, qd, qdd, link=contact.link)
        velocity_by_q, jac = frame_velocity_derivatives(tree, q, qd, link=contact.link)
        return by_q + damping * velocity_by_q, by_qd + damping * jac

    def rate(x: Array, v: Array) -> Array:
        return np.asarray(_acceleration(tree, x, v, qdd, contact) + damping * (_jacobian(tree, x, contact) @ v))

    return tangent_derivative(tree, lambda x: rate(x, qd), q), derivative_by_vector(lambda v: rate(q, v), qd)


def solution_derivatives(
    response: Array, inertia: Array, right: Array, rates: Array, motions: Array | None = None, forces: Array | None = None
) -> tuple[Array, Array]:
    """Derivatives of accelerations (..., nv, 3 nv) and of forces (..., C, 3 nv) by q, qd and tau.

    From the results of `contact_solution` and `contact_changes`: with the forces held, M dqdd - J' df and J dqdd change by
    known amounts (J. Carpentier, N. Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS 2018). The
    last two arguments are arrays for the results.
    """
    nv = right.shape[-2]
    free = np.concatenate([response @ right, response], axis=-1)
    moved = free[..., nv:, :]
    moved[..., : 2 * nv] += rates
    forces = np.matmul(-inertia, moved, out=forces)
    motions = np.matmul(np.swapaxes(response[..., nv:, :], -1, -2), forces, out=motions)
    motions += free[..., :nv, :]
    return motions, forces


def contact_forward_dynamics_derivatives(
    tree: Tree, q: Array, qd: Array, tau: Array, active: Array, damping: Array, *, contacts: Frames
) -> tuple[Array, Array]:
    """Derivatives of accelerations (nv, 3 nv) and of forces (C, 3 nv) by q, qd and tau; NaN where equations depend."""
    qdd, forces, *factors = contact_solution(tree, q, qd, tau, active, damping, contacts=contacts)
    changes = contact_changes(tree, q, qd, qdd, forces, damping, contacts=contacts)
    return solution_derivatives(factors[0], factors[1], *changes)


_STATE = {"q": "nq", "qd": "nv", "tau": "nv", "active": "N", "damping": "N"}

_DECLARED: Sequence[tuple[Callable[..., Any], dict[str, str], dict[str, str]]] = (
    (contact_jacobian, {"q": "nq"}, {"J": "C nv"}),
    (contact_bias, {"q": "nq", "qd": "nv"}, {"bias": "C"}),
    (contact_delassus, {"q": "nq"}, {"delassus": "C C"}),
    (contact_forward_dynamics, _STATE, {"qdd": "nv", "forces": "C"}),
    (contact_impact, {"q": "nq", "qd": "nv", "active": "N", "restitution": "N"}, {"qd_after": "nv", "impulses": "C"}),
    (contact_solution, _STATE, {"qdd": "nv", "forces": "C", "response": "E nv", "inertia": "C C"}),
    (
        contact_changes,
        {"q": "nq", "qd": "nv", "qdd": "nv", "forces": "C", "damping": "N"},
        {"right": "nv 2nv", "rates": "C 2nv"},
    ),
    (contact_forward_dynamics_derivatives, _STATE, {"dqdd": "nv 3nv", "dforces": "C 3nv"}),
)

#: By name: what is compiled for the contacts of a mechanism.
CONTACT_ALGORITHMS = {
    function.__name__.removeprefix("contact_"): Algorithm(
        function.__name__, inputs, outputs, function, {"contacts": ()}, spread=False
    )
    for function, inputs, outputs in _DECLARED
}


def contact_kernel(tree: Tree, contacts: Frames, name: str) -> Kernel:
    """Return the kernel of one of `CONTACT_ALGORITHMS`, compiled once for a mechanism."""
    declared = CONTACT_ALGORITHMS[name]
    return tree.memo(
        "kernel", (declared.name, contacts), lambda: straight_kernel(tree, declared, None, {"contacts": contacts})
    )
