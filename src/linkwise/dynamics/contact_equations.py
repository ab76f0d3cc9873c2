"""Equations of contacts, put together from compiled functions of links for any set of them; forces of least squares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_rates
from linkwise.dynamics.closed_loops.kkt import independent_closure
from linkwise.dynamics.closed_loops.nullspace import SINGULAR, free_motions, freedom_at
from linkwise.dynamics.contact import Contact, ContactDerivatives
from linkwise.dynamics.external import External, loaded_kernel
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch, listed, number_within, vectors

#: A direction is dependent below this part of the greatest eigenvalue of the Delassus matrix with unit diagonal.
DEPENDENT = 1e-11

#: Tolerance of equations that depend on others: below it they agree, but for rounding times the condition.
AGREED = 1e-6

#: Rounding error of a difference, relative to its terms.
ROUNDED = 1e-13


@dataclass(frozen=True, eq=False)
class ContactEquations:
    """The equations of named contacts, of which any set may be switched on without compiling anything for it.

    Parameters
    ----------
    tree, contacts
        See `Contacts`.
    """

    tree: Tree
    contacts: Sequence[Contact]

    def __init__(self, tree: Tree, contacts: Iterable[Contact]) -> None:
        require_numeric_tree(tree, "Contacts")
        object.__setattr__(self, "tree", tree)
        object.__setattr__(self, "contacts", tuple(listed("contacts", contacts, "a sequence of Contacts")))
        for contact in self.contacts:
            if not isinstance(contact, Contact):
                raise ArgumentError(f"contacts has {shown(contact)}; expected Contacts(mechanism, [Contact(...), ...])")
        names = [contact.name for contact in self.contacts]
        for name in names:
            if names.count(name) > 1:
                raise ArgumentError(f"contact {shown(name)} occurs {names.count(name)} times; expected different names")
        for contact in self.contacts:
            tree.link_index(contact.link)
            if contact.to is not None and tree.link_index(contact.to) == tree.link_index(contact.link):
                raise ArgumentError(f"contact {shown(contact.name)}: to is {shown(contact.to)}; expected another link")
        if tree.loops:
            independent_closure(tree)
        else:
            check_inertia(tree)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all contacts, in their order."""
        return tuple(contact.name for contact in self.contacts)

    # ── constraints ───────────────────────────────────────────────────────────────────────────────

    def jacobian(self, q: npt.ArrayLike, active: Sequence[str] | None = None) -> FloatArray:
        """Contact Jacobian (..., k, nv), in world axes."""
        state = vectors("q", q, self.tree.nq)
        blocks = [self._jacobian(contact, state) for contact in self._active(active)]
        return np.concatenate([np.zeros((*state.shape[:-1], 0, self.tree.nv)), *blocks], axis=-2)

    def positions(self, q: npt.ArrayLike, active: Sequence[str] | None = None) -> FloatArray:
        """Return where the contacts are (..., contacts, 3), m, in world axes."""
        state = vectors("q", q, self.tree.nq)
        points = []
        for contact in self._active(active):
            pose = self._kernel("forward_kinematics", contact.link)(state)
            points.append(pose[..., :3, :3] @ np.asarray(contact.point) + pose[..., :3, 3])
        return np.stack(points, axis=-2) if points else np.zeros((*state.shape[:-1], 0, 3))

    def bias(self, q: npt.ArrayLike, qd: npt.ArrayLike, active: Sequence[str] | None = None) -> FloatArray:
        """Accelerations at the contacts (..., k) without accelerations of the joints."""
        state, rates = vectors("q", q, self.tree.nq), vectors("qd", qd, self.tree.nv)
        blocks = [self._bias(contact, state, rates) for contact in self._active(active)]
        batch = np.broadcast_shapes(state.shape[:-1], rates.shape[:-1])
        return np.concatenate([np.zeros((*batch, 0)), *blocks], axis=-1)

    def delassus(self, q: npt.ArrayLike, active: Sequence[str] | None = None) -> FloatArray:
        """Delassus matrix (..., k, k)."""
        jac = self.jacobian(q, active)
        return np.asarray(jac @ self.response(q, jac))

    def response(self, q: npt.ArrayLike, rows: npt.ArrayLike) -> FloatArray:
        """Return inverse(M) J' (..., nv, k): accelerations by forces along rows J (..., k, nv), loops kept closed.

        Where there are loops N inverse(N' M N) N' takes the place of inverse(M), with N the motions that they allow.
        """
        right = np.swapaxes(vectors("rows", rows, self.tree.nv), -1, -2)
        mass, free = self.mass_matrix(q), free_motions(self.tree, q)
        if not self.tree.loops:
            return np.asarray(np.linalg.solve(mass, right))
        return np.asarray(free @ np.linalg.solve(np.swapaxes(free, -1, -2) @ mass @ free, projected(free, right)))

    def mass_matrix(self, q: npt.ArrayLike) -> FloatArray:
        """Return the mass matrix (..., nv, nv) of the mechanism."""
        return np.asarray(kernel_of(self.tree, "mass_matrix")(vectors("q", q, self.tree.nq)))

    # ── dynamics ──────────────────────────────────────────────────────────────────────────────────

    def forward_dynamics(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        tau: npt.ArrayLike,
        active: Sequence[str] | None = None,
        damping: float = 0.0,
        external: External | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations (..., nv) and contact forces (..., k), of least squares."""
        q, qd, tau = vectors("q", q, self.tree.nq), vectors("qd", qd, self.tree.nv), vectors("tau", tau, self.tree.nv)
        free = loaded_kernel(self.tree, "forward_dynamics", external)(q, qd, tau)
        return self._constrained(q, qd, np.asarray(free), active, damping)

    def constrained(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        free: npt.ArrayLike,
        active: Sequence[str] | None = None,
        damping: float = 0.0,
    ) -> tuple[FloatArray, FloatArray]:
        """Return qdd (..., nv) and the contact forces (..., k), from the accelerations (..., nv) that it would have without.

        What acts beside the contacts, loops included, is in those accelerations; all else is as in `forward_dynamics`.
        """
        return self._constrained(q, qd, vectors("free", free, self.tree.nv), active, damping)

    def _constrained(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, free: FloatArray, active: Sequence[str] | None, damping: float
    ) -> tuple[FloatArray, FloatArray]:
        """The same, from accelerations that are NaN where loops are open."""
        number_within("damping", damping, 0.0, np.inf, "a rate >= 0, 1/s")
        jac = self.jacobian(q, active)
        bias, open_part = self.bias(q, qd, active), product(jac, free + damping * np.asarray(qd, dtype=float))
        response = self.response(q, jac)
        forces = _least_squares(jac @ response, -bias - open_part, np.abs(bias) + np.abs(open_part))
        return free + product(response, forces), forces

    def forward_dynamics_derivatives(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        tau: npt.ArrayLike,
        active: Sequence[str] | None = None,
        damping: float = 0.0,
        external: External | None = None,
    ) -> ContactDerivatives:
        """Derivatives of the results of `forward_dynamics`."""
        qdd, forces = self.forward_dynamics(q, qd, tau, active, damping, external)
        state = (np.asarray(part, dtype=float) for part in (q, qd, tau))
        q, qd, tau = (np.broadcast_to(part, (*qdd.shape[:-1], part.shape[-1])) for part in state)
        jac = self.jacobian(q, active)
        pushed = tau + product(np.swapaxes(jac, -1, -2), forces)
        by_q, by_qd, by_tau = loaded_kernel(self.tree, "forward_dynamics", external, "_derivatives")(q, qd, pushed)
        held, at_q, at_qd, turned = np.zeros(by_q.shape), *(np.zeros(jac.shape) for _ in range(3))
        response = self.response(q, jac)
        delassus = jac @ response
        inverse, idle = _least_inverse(delassus)
        motion = product(response, product(inverse, forces))  # J times it is f
        for contact, rows in self._rows(active):
            steps, at_q[..., rows, :], at_qd[..., rows, :] = self._changes(contact, q, qd, qdd, damping)
            held += np.einsum("...ijk,...k->...ij", steps, forces[..., rows])
            turned[..., rows, :] = np.einsum("...ijk,...i->...kj", steps, motion)
        if idle.any():  # (f = B y with B = J N stays shortest: for dependent rows, df is that of dB y)
            turned += jac @ self._following(q, motion)

        def right(free: FloatArray, change: FloatArray) -> tuple[FloatArray, FloatArray]:
            """Accelerations (..., k, m) that forces must undo, and the size of their terms."""
            return -change - jac @ free, np.abs(change) + np.abs(jac) @ np.abs(free)

        free, still = (by_q + by_tau @ held, by_qd, by_tau), np.zeros(jac.shape)
        rights, sizes = zip(*(right(*pair) for pair in zip(free, (at_q, at_qd, still), strict=True)), strict=True)
        moves = free_motions(self.tree, q)
        follows = self._following(q, qd) @ moves if self.tree.loops else 0.0 * moves
        along = [
            (rights[0] @ moves + rights[1] @ follows, sizes[0] @ np.abs(moves) + sizes[1] @ np.abs(follows), moves),
            (rights[1] @ moves, sizes[1] @ np.abs(moves), moves),
            (rights[2], sizes[2], np.eye(self.tree.nv)),
        ]
        forces_by = [inverse @ part for part in rights]
        forces_by[0] = forces_by[0] + idle @ turned
        for k, (asked, size, directions) in enumerate(along):
            left = np.abs(asked - delassus @ (inverse @ asked)).max(axis=-2, initial=0.0)
            wrong = left > AGREED * size.max(axis=-2, initial=0.0)
            forces_by[k] = np.where(product(np.abs(directions), wrong)[..., None, :] > 0.0, np.nan, forces_by[k])
        return ContactDerivatives(*(a + response @ f for a, f in zip(free, forces_by, strict=True)), *forces_by)

    def _following(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Derivative (..., nv, nv) by q of velocities qd that keep the loops closed; zero without loops."""
        nv = self.tree.nv
        if not self.tree.loops:
            return np.zeros((*qd.shape[:-1], nv, nv))
        jac = kernel_of(self.tree, "closure_jacobian")(q)
        rates = kernel_of(self.tree, "closure_derivatives")(q, qd, np.zeros(nv), np.zeros(jac.shape[-2]))[1]
        return np.asarray(-np.linalg.pinv(jac, rcond=SINGULAR) @ rates)

    def _changes(
        self, contact: Contact, q: FloatArray, qd: FloatArray, qdd: FloatArray, damping: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Derivatives of a contact: dJ/dq (..., nv, nv, k), of column i by joint j, and of J qdd + dJ/dt qd + damping J qd.

        The latter's derivatives are (..., k, nv), by q and by qd.
        """
        steps, at_q, at_qd = self._point_changes(contact, contact.link, q, qd, qdd, damping)
        if contact.to is not None:
            others = self._point_changes(contact, contact.to, q, qd, qdd, damping)
            steps, at_q, at_qd = steps - others[0], at_q - others[1], at_qd - others[2]
        if contact.kind == "normal":
            normal = np.asarray(contact.normal)
            at_q, at_qd = ((part[..., :3] @ normal)[..., None, :] for part in (at_q, at_qd))
            return (steps[..., :3] @ normal)[..., None], at_q, at_qd
        k = contact.rows
        return steps[..., :k], np.swapaxes(at_q[..., :k], -1, -2), np.swapaxes(at_qd[..., :k], -1, -2)

    def _point_changes(
        self, contact: Contact, link: str, q: FloatArray, qd: FloatArray, qdd: FloatArray, damping: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Derivatives of the motion of a link at the contact point, which moves with the contact's own link.

        With r from the link's origin there, and v_p the velocity of the contact: dJ/dq (..., nv, nv, 6), of column i by
        joint j, and the derivatives (..., nv, 6) of a + alpha x r + w x (v_p - v) + damping (v + w x r), by q and by qd.
        """
        columns = partial(np.swapaxes, axis1=-1, axis2=-2)
        r, held_r = (self._arm(contact, name, q)[..., None, :] for name in (link, contact.link))
        jac, held_jac = (columns(self._kernel("jacobian", name)(q)) for name in (link, contact.link))
        twist, held = (self._kernel("frame_velocity", name)(q, qd)[..., None, :] for name in (link, contact.link))
        v_by_q, held_by_q = (
            columns(self._kernel("frame_velocity_derivatives", name)(q, qd)[0]) for name in (link, contact.link)
        )
        a_by_q, a_by_qd = (columns(part) for part in self._kernel("frame_acceleration_derivatives", link)(q, qd, qdd)[:2])
        angular = self._kernel("frame_acceleration", link)(q, qd, qdd)[..., None, 3:]
        spin, turning, swung = twist[..., 3:], jac[..., 3:], np.cross(held_jac[..., 3:], held_r)
        moved = held_jac[..., :3] + swung - jac[..., :3]  # of r by q, of v_p - v by qd
        along = held[..., :3] - twist[..., :3] + np.cross(held[..., 3:], held_r)  # v_p - v
        along_by_q = (
            held_by_q[..., :3] - v_by_q[..., :3] + np.cross(held_by_q[..., 3:], held_r) + np.cross(held[..., 3:], swung)
        )
        at_q, at_qd = a_by_q.copy(), a_by_qd.copy()
        at_q[..., :3] += np.cross(a_by_q[..., 3:], r) + np.cross(angular, moved)
        at_q[..., :3] += np.cross(v_by_q[..., 3:], along) + np.cross(spin, along_by_q)
        at_qd[..., :3] += np.cross(a_by_qd[..., 3:], r) + np.cross(turning, along) + np.cross(spin, moved)
        slid = v_by_q[..., :3] + np.cross(v_by_q[..., 3:], r) + np.cross(spin, moved)
        at_q += damping * np.concatenate([slid, v_by_q[..., 3:]], axis=-1)
        at_qd += damping * np.concatenate([jac[..., :3] + np.cross(turning, r), turning], axis=-1)
        steps = np.moveaxis(self._kernel("kinematic_hessian", link)(q), -3, -1).copy()
        steps[..., :3] += np.cross(steps[..., 3:], r[..., None, :])
        steps[..., :3] += np.cross(turning[..., :, None, :], moved[..., None, :, :])
        return steps, at_q, at_qd

    def impact(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, active: Sequence[str] | None = None, restitution: float = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """Velocities (..., nv) after an impact, and the impulses (..., k), of least squares."""
        number_within("restitution", restitution, 0.0, 1.0, "a coefficient from 0 to 1")
        jac, before = self.jacobian(q, active), vectors("qd", qd, self.tree.nv)
        common_batch("impact", q=jac.shape[:-2], qd=before.shape[:-1])
        if self.tree.loops:
            closed_rates(self.tree, freedom_at(self.tree, q, "impact"), q, "impact", qd=before)
        arriving = product(jac, before)
        rebound = np.zeros_like(arriving)
        for contact, rows in self._rows(active):
            if contact.kind == "normal":
                rebound[..., rows] = arriving[..., rows]
            else:
                axis = np.concatenate([np.asarray(contact.normal), np.zeros(contact.rows - 3)])
                rebound[..., rows] = (arriving[..., rows] @ axis)[..., None] * axis
        matrix = jac @ self.response(q, jac)
        impulses = _least_squares(matrix, -arriving - restitution * rebound, product(np.abs(jac), np.abs(before)))
        return self.after(q, before, impulses, active), impulses

    def after(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, impulses: npt.ArrayLike, active: Sequence[str] | None = None
    ) -> FloatArray:
        """Return the velocities qd + inverse(M) J' p (..., nv) after impulses p (..., k) at the contacts, N s."""
        response = self.response(q, self.jacobian(q, active))
        before = vectors("qd", qd, self.tree.nv, finite=False)
        impulses = vectors("impulses", impulses, response.shape[-1], finite=False)
        common_batch("after", q=response.shape[:-2], qd=before.shape[:-1], impulses=impulses.shape[:-1])
        return before + product(response, impulses)

    def by_name(self, forces: npt.ArrayLike, active: Sequence[str] | None = None) -> Mapping[str, FloatArray]:
        """Return forces (..., k), or impulses, by the names of the contacts: (..., 1), (..., 3) or (..., 6) each."""
        rows = self._rows(active)
        values = vectors("forces", forces, sum(contact.rows for contact, _ in rows), finite=False)
        return {contact.name: values[..., place] for contact, place in rows}

    def rows(self, active: Sequence[str] | None = None) -> list[tuple[str, slice]]:
        """Return the names of the contacts, and the slices of their rows."""
        return [(contact.name, place) for contact, place in self._rows(active)]

    # ── parts ─────────────────────────────────────────────────────────────────────────────────────

    def _named(self, active: Sequence[str] | None) -> tuple[str, ...]:
        return self.names if active is None else tuple(listed("active", active, f"some of {members(self.names)}"))

    def _active(self, active: Sequence[str] | None) -> list[Contact]:
        """Active contacts, in the requested order."""
        for name in self._named(active):
            if not isinstance(name, str) or name not in self.names:
                raise ArgumentError(f"no contact {shown(name)}; there are {choices(self.names)}")
        if len(set(self._named(active))) < len(self._named(active)):
            raise ArgumentError(f"active is {shown(active)}; expected each contact once")
        return [self.contacts[self.names.index(name)] for name in self._named(active)]

    def _rows(self, active: Sequence[str] | None) -> list[tuple[Contact, slice]]:
        """The active contacts and their rows."""
        ends = np.cumsum([0, *(contact.rows for contact in self._active(active))])
        return [(contact, slice(a, b)) for contact, (a, b) in zip(self._active(active), pairwise(ends), strict=True)]

    def _arm(self, contact: Contact, link: str, q: FloatArray) -> FloatArray:
        """Vector from the origin of a link's frame to the contact (..., 3), in world axes."""
        pose = self._kernel("forward_kinematics", contact.link)(q)
        arm = np.asarray(pose[..., :3, :3] @ np.asarray(contact.point))
        if link == contact.link:
            return arm
        return np.asarray(arm + pose[..., :3, 3] - self._kernel("forward_kinematics", link)(q)[..., :3, 3])

    def _kernel(self, name: str, link: str) -> Any:
        return kernel_of(self.tree, name, None, {"link": link})

    def _jacobian(self, contact: Contact, q: FloatArray) -> FloatArray:
        """The rows of one contact (..., k, nv)."""

        def of(link: str) -> FloatArray:
            jac = np.array(self._kernel("jacobian", link)(q))
            arm = self._arm(contact, link, q)[..., None, :]
            turning = np.swapaxes(jac[..., 3:, :], -1, -2)
            jac[..., :3, :] += np.swapaxes(np.cross(turning, arm), -1, -2)
            return jac

        jac = of(contact.link)
        if contact.to is not None:
            jac = _difference(jac, of(contact.to), (-1, -2))
        if contact.kind == "normal":
            return np.asarray(np.einsum("i,...ij->...j", np.asarray(contact.normal), jac[..., :3, :])[..., None, :])
        return jac[..., : contact.rows, :]

    def _bias(self, contact: Contact, q: FloatArray, qd: FloatArray) -> FloatArray:
        """The accelerations of one contact (..., k) that velocities alone make."""
        held = self._kernel("frame_velocity", contact.link)(q, qd)
        point = held[..., :3] + np.cross(held[..., 3:], self._arm(contact, contact.link, q))

        def of(link: str) -> FloatArray:
            rate = np.array(self._kernel("frame_acceleration", link)(q, qd, np.zeros(self.tree.nv)))
            origin, turning = np.split(self._kernel("frame_velocity", link)(q, qd), 2, axis=-1)
            rate[..., :3] += np.cross(rate[..., 3:], self._arm(contact, link, q)) + np.cross(turning, point - origin)
            return rate

        rate = of(contact.link) if contact.to is None else _difference(of(contact.link), of(contact.to), -1)
        if contact.kind == "normal":
            return np.asarray(rate[..., :3] @ np.asarray(contact.normal))[..., None]
        return rate[..., : contact.rows]


def product(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Matrices (..., i, j) times vectors (..., j)."""
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


def _difference(of: FloatArray, other: FloatArray, axes: int | tuple[int, int]) -> FloatArray:
    """Relative motion of both ends of a contact; zero within rounding, as for ends on one rigid body."""
    size = np.maximum(np.abs(of), np.abs(other)).max(axis=axes, initial=0.0, keepdims=True)
    return np.where(np.abs(of - other) > ROUNDED * size, of - other, 0.0)


def projected(motions: FloatArray, rows: FloatArray) -> FloatArray:
    """Contact velocities (..., m, k) of motions (..., nv, m), by J' (..., nv, k); zero where only rounding is left."""
    onto = np.swapaxes(motions, -1, -2)
    result, terms = onto @ rows, np.abs(onto) @ np.abs(rows)
    sizes = (part.max(axis=-2, initial=0.0, keepdims=True) for part in (np.abs(result), SINGULAR * terms))
    return np.where(np.greater(*sizes), result, 0.0)


def _least_squares(matrix: FloatArray, right: FloatArray, terms: FloatArray) -> FloatArray:
    """The least solution (..., k) of positive semidefinite systems (..., k, k), with rows and columns scaled to one.

    Directions are dependent below `DEPENDENT`; NaN where what is left is not small beside the ``terms`` of the right side.
    """
    forces = product(_least_inverse(matrix)[0], right)
    left = np.abs(product(matrix, forces) - right).max(axis=-1, initial=0.0, keepdims=True)
    return np.where(left > AGREED * terms.max(axis=-1, initial=0.0, keepdims=True), np.nan, forces)


def _least_inverse(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The matrix that gives least solutions from right sides, and the projection onto forces that accelerate nothing."""
    size = np.sqrt(np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), 0.0))
    scale = np.where(size > 0.0, size, 1.0)
    values, axes = np.linalg.eigh(matrix / (scale[..., :, None] * scale[..., None, :]))
    kept = values > DEPENDENT * np.maximum(values.max(axis=-1, keepdims=True, initial=0.0), 1e-300)
    scaled = axes / scale[..., :, None]
    gains = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    inverse = (scaled * gains[..., None, :]) @ np.swapaxes(scaled, -1, -2)
    null = np.where(kept[..., None, :], 0.0, scaled)
    idle = np.asarray(null @ np.linalg.pinv(null), dtype=float)
    return np.asarray(inverse - idle @ inverse), idle
