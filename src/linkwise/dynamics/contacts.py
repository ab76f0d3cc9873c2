"""Contacts: links fixed at points or frames to the world or to each other, with the contact forces.

What is asked of all contacts, or of some whose equations are independent, is compiled (`linkwise.dynamics.contact_kernels`);
the rest, and what is found to be dependent, is put together (`linkwise.dynamics.contact_equations`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import BODIES, kernel_of
from linkwise.dynamics.closed_loops.inverse_dynamics import efforts_at
from linkwise.dynamics.closed_loops.nullspace import SINGULAR, cut_open, driven_speeds, freedom_at
from linkwise.dynamics.contact import ContactDerivatives
from linkwise.dynamics.contact_equations import DEPENDENT, ContactEquations, product, projected
from linkwise.dynamics.contact_kernels import (
    CONTACT_ALGORITHMS,
    ContactFrame,
    Frames,
    contact_kernel,
    solution_derivatives,
    with_contact_frames,
)
from linkwise.dynamics.external import External, loaded_kernel, wrench_arguments
from linkwise.errors import ArgumentError, LinkwiseError, choices, members, shown
from linkwise.extras import quadratic_programs
from linkwise.kernel import Kernel
from linkwise.kernel.backend import default_backend
from linkwise.kinematics.configuration import random_configuration
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch, flag, number_within, vectors

#: Tolerance of the balance of forces, relative to the greatest load or acceleration.
BALANCED = 1e-9

#: Equations up to which their dynamics is compiled as straight-line code.
COMPILED = 36

#: Velocities and equations up to which products of matrices are written out; configurations that NumPy multiplies at once.
WRITTEN_OUT, AT_ONCE = 18, 32

#: Sine of the angle below which rows of the contact Jacobian count as dependent, and part of the longest below which a row
#: counts as none, where it is decided whether they are compiled.
APART = 1e-5

#: Velocities of a floating base.
FREE = 6

#: Faces of the pyramid within a friction cone.
FACES = 8

_Results = TypeVar("_Results", bound=tuple[FloatArray, ...])


@dataclass(frozen=True, eq=False)
class Selection:
    """A set of contacts: a switch for each contact there is (N,), and the rows of its equations (k,), None for all."""

    active: FloatArray
    rows: npt.NDArray[np.intp] | None

    def of(self, values: FloatArray, axis: int = -1) -> FloatArray:
        """The rows of this set (..., k) of those of all contacts (..., C)."""
        return values if self.rows is None else np.take(values, self.rows, axis)


class Contacts(ContactEquations):
    """Named contacts of a mechanism, and its dynamics with any of them switched on.

    Forces are in world axes and act on the contact's link: N, and N m about its point for a frame. They come one after the
    other in the order of ``active``: one number along the normal, three of a point, six of a frame. What is switched on
    holds in both senses: a normal force below zero pulls, and the caller decides whether the contact ends there.

    Parameters
    ----------
    tree : Mechanism
        Its closed loops stay closed, and share the forces with the contacts.
    contacts : iterable of Contact
        With names of their own.

    Raises
    ------
    ArgumentError
        For symbols, two contacts of one name, or a link that there is not.
    ModelError
        Where a joint moves no inertia, or where loops cannot be closed.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.dynamics import Contact
    >>> arm = robots.planar_2r()
    >>> held = Contacts(arm, [Contact("tip", "link2", kind="normal", normal=(0, 1, 0))])
    >>> qdd, forces = held.forward_dynamics([0.0, 0.5], [0.0, 0.0], [0.0, 0.0])
    >>> (held.jacobian([0.0, 0.5]) @ qdd).round(9) + 0.0
    array([0.])
    """

    # ── compiled functions ────────────────────────────────────────────────────────────────────────

    @cached_property
    def _framed(self) -> tuple[Tree, Frames]:
        """The mechanism with a link in the place of each contact, and the contacts as plain data."""
        tree, count = self.tree, len(self.contacts)
        framed = with_contact_frames(tree, [(tree.link_index(c.link), np.asarray(c.point)) for c in self.contacts])
        to = [None if c.to is None else count + tree.link_index(c.to) for c in self.contacts]
        normals = [tuple(map(float, np.asarray(c.normal))) for c in self.contacts]
        triples = zip(self.contacts, to, normals, strict=True)
        return framed, tuple(ContactFrame(k, other, c.kind, normal) for k, (c, other, normal) in enumerate(triples))

    def kernel(self, name: str) -> Kernel:
        """Return a compiled function of all contacts of a mechanism without loops: for other arrays and languages.

        Its inputs ``active``, ``damping`` and ``restitution`` have one number for each contact, which may differ from
        configuration to configuration; a contact is switched on where ``active`` is above zero, and has no force elsewhere.
        Equations that depend on each other give NaN.

        Parameters
        ----------
        name : str
            ``"jacobian"``, ``"bias"``, ``"delassus"``, ``"forward_dynamics"``, ``"impact"`` as the methods, or
            ``"forward_dynamics_derivatives"``, with those by q, qd and tau side by side; ``"solution"`` and ``"changes"``
            compute its factors.

        Raises
        ------
        ArgumentError
            For another name, for closed loops, and where there are no contacts.

        Examples
        --------
        >>> from linkwise import robots
        >>> from linkwise.dynamics import Contact
        >>> arm = robots.planar_2r()
        >>> held = Contacts(arm, [Contact("tip", "link2", kind="normal", normal=(0, 1, 0))])
        >>> held.kernel("impact")([0.0, 0.5], [1.0, 1.0], [1.0], [0.0])[1].round(3)
        array([-1.176])
        """
        if name not in CONTACT_ALGORITHMS:
            raise ArgumentError(f"no kernel {shown(name)} of contacts; expected {choices(CONTACT_ALGORITHMS)}")
        if self.tree.loops or not self.contacts:
            lacking = "it has closed loops" if self.tree.loops else "there are no contacts"
            raise ArgumentError(f"{self.tree.name!r} has no kernel {name} of contacts, for {lacking}")
        return contact_kernel(*self._framed, name)

    @cached_property
    def _count(self) -> int:
        """Number of equations of all contacts."""
        return sum(contact.rows for contact in self.contacts)

    @cached_property
    def _kernels(self) -> dict[str, Kernel]:
        """Those that were used."""
        return {}

    @cached_property
    def _selections(self) -> dict[Any, Selection | None]:
        """What was found about sets of contacts, by their names."""
        return {}

    @cached_property
    def equations(self) -> ContactEquations:
        """The equations of any set of contacts, without compiling anything for it: for sets that change often."""
        return ContactEquations(self.tree, self.contacts)

    def _selection(self, active: Sequence[str] | None) -> Selection | None:
        """The set of active contacts for compiled functions; None where they are not for it."""
        try:
            key = None if active is None else tuple(active)
            if key in self._selections:
                return self._selections[key]
        except TypeError:  # (no sequence of names)
            self._active(active)
            raise
        return self._selections.setdefault(key, self._select(active))

    def _select(self, active: Sequence[str] | None) -> Selection | None:
        chosen = self._active(active)
        tree, total = self.tree, self._count
        moving = sum(link.moves for link in tree.links)
        if not chosen or tree.loops or total > COMPILED or moving >= BODIES or default_backend() != "llvm":
            return None
        jac = self.equations.jacobian(random_configuration(tree, 0, 2), active)
        lengths = np.linalg.norm(jac, axis=-1)
        there = lengths.max(axis=0) > 0.0
        scaled = jac[:, there] / np.maximum(lengths[:, there], 1e-300)[..., None]
        if there.sum() > tree.nv or (lengths[:, there] < APART * lengths.max()).any():
            return None
        if np.linalg.svd(scaled, compute_uv=False).min(initial=1.0) < APART:
            return None
        names, places = [contact.name for contact in chosen], dict(self.rows())
        rows = np.concatenate([np.arange(total)[places[name]] for name in names])
        switches = np.array([float(name in names) for name in self.names])
        return Selection(switches, None if np.array_equal(rows, np.arange(total)) else rows)

    def _compiled(self, name: str, *arguments: Any) -> Any:
        """The results of a compiled function, from the fewest steps of Python."""
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = self.kernel(name)
        return kernel(*arguments)

    def _each(self, name: str, value: float, most: float, wanted: str) -> FloatArray:
        """The same number, from 0 on, for each contact (N,)."""
        if type(value) is float and value == 0.0:
            return self._zeros
        number_within(name, value, 0.0, most, wanted)
        return np.full(len(self.contacts), float(value))

    @cached_property
    def _zeros(self) -> FloatArray:
        return np.zeros(len(self.contacts))

    # ── constraints ───────────────────────────────────────────────────────────────────────────────

    def jacobian(self, q: npt.ArrayLike, active: Sequence[str] | None = None) -> FloatArray:
        """Return the contact Jacobian (..., k, nv), in world axes: velocities at the contacts, J qd.

        Parameters
        ----------
        q : (..., nq) array_like
            Configuration.
        active : sequence of str, optional
            The contacts that are switched on; all by default.
        """
        chosen = self._selection(active)
        if chosen is not None:
            return chosen.of(self._compiled("jacobian", q), -2)
        return super().jacobian(q, active)

    def bias(self, q: npt.ArrayLike, qd: npt.ArrayLike, active: Sequence[str] | None = None) -> FloatArray:
        """Return dJ/dt qd (..., k): accelerations at the contacts without accelerations of the joints, m/s2, rad/s2."""
        chosen = self._selection(active)
        if chosen is not None:
            return chosen.of(self._compiled("bias", q, qd))
        return super().bias(q, qd, active)

    def delassus(self, q: npt.ArrayLike, active: Sequence[str] | None = None) -> FloatArray:
        """Return the Delassus matrix J inverse(M) J' (..., k, k): accelerations at the contacts by the forces there.

        Loops stay closed, see `response`.

        E. Delassus, "Mémoire sur la théorie des liaisons finies unilatérales", Annales scientifiques de l'École normale
        supérieure 34, 1917.
        """
        chosen = self._selection(active)
        if chosen is not None:
            return chosen.of(chosen.of(self._compiled("delassus", q)), -2)
        return super().delassus(q, active)

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
        """Return qdd (..., nv) and the contact forces (..., k): M qdd + h = tau + J' f, J qdd = -dJ/dt qd.

        Where equations depend on others (a foot on four points) the forces are those of least squares, a moment counted as
        a force at 1 m; the accelerations are the same for all forces that hold. NaN where they contradict each other, as
        with points of one foot that move differently, and where q and qd do not close loops or these are singular. The
        forces that close loops are the mechanism's `constraint_forces` under the efforts tau + J' f.

        Parameters
        ----------
        q, qd, tau : (..., nq), (..., nv), (..., nv) array_like
            State and efforts.
        active : sequence of str, optional
            The contacts that are switched on; all by default.
        damping : float
            Rate in 1/s at which velocities at the contacts decay: J qdd = -dJ/dt qd - damping J qd.
        external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
            What else acts on links, as for `Mechanism.forward_dynamics`.

        Raises
        ------
        ArgumentError
            Naming a contact that there is not, or a damping below 0.
        """
        chosen = self._selection(active)
        if chosen is not None:
            efforts = tau if external is None else self._with_efforts(q, tau, external)
            rates = self._each("damping", damping, np.inf, "a rate >= 0, 1/s")
            qdd, forces = self._compiled("forward_dynamics", q, qd, efforts, chosen.active, rates)
            if forces.ndim == 1 and forces.item(0) == forces.item(0):
                return qdd, chosen.of(forces)
            again = partial(self.equations.forward_dynamics, active=active, damping=damping)
            return self._repaired((qdd, chosen.of(forces)), (q, qd, efforts), again)
        return super().forward_dynamics(q, qd, tau, active, damping, external)

    def _with_efforts(self, q: npt.ArrayLike, tau: npt.ArrayLike, external: External) -> FloatArray:
        """Efforts and those of wrenches (..., nv)."""
        options, values = wrench_arguments(external)
        efforts = kernel_of(self.tree, "external_efforts", None, options)(q, values)
        return np.asarray(vectors("tau", tau, self.tree.nv) + efforts)

    def _repaired(self, results: _Results, states: tuple[Any, ...], solve: Callable[..., _Results]) -> _Results:
        """The results, solved otherwise where compiled equations depend on each other, which is where they are NaN."""
        first = results[-1]  # (forces, or their derivatives)
        batch = np.broadcast_shapes(*(np.shape(state)[:-1] for state in states))
        corner: Any = (..., *[0] * (first.ndim - len(batch)))
        wrong = np.isnan(first[corner])
        if not wrong.any():
            return results
        rows = [np.broadcast_to(np.asarray(state, dtype=float), (*batch, np.shape(state)[-1]))[wrong] for state in states]
        for result, part in zip(results, solve(*rows), strict=True):
            result[wrong] = part
        return results

    def forward_dynamics_derivatives(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        tau: npt.ArrayLike,
        active: Sequence[str] | None = None,
        damping: float = 0.0,
        external: External | None = None,
    ) -> ContactDerivatives:
        """Derivatives of the results of `forward_dynamics` by q, qd and tau, exact.

        With the forces held, the accelerations change as those of the mechanism under the efforts tau + J' f do, with its
        loops closed, by d(J') f and by J' df, of which J dqdd = -d(J qdd + dJ/dt qd) decides (J. Carpentier, N. Mansard,
        "Analytical derivatives of rigid body dynamics algorithms", RSS 2018, section V). dq is a small motion, as
        `integrate` takes it. With loops they hold along motions that keep these closed. Where equations depend on others,
        those of the forces of least squares; NaN by what would make equations contradict each other. ``external`` is held.

        Raises
        ------
        ArgumentError
            As in `forward_dynamics`.

        Examples
        --------
        >>> from linkwise import robots
        >>> from linkwise.dynamics import Contact
        >>> arm = robots.planar_2r()
        >>> held = Contacts(arm, [Contact("tip", "link2", kind="normal", normal=(0, 1, 0))])
        >>> held.forward_dynamics_derivatives([0.0, 0.5], [0.0, 0.0], [0.0, 0.0]).df_dtau.round(3)
        array([[ 0.088, -1.327]])
        """
        tree, chosen = self.tree, self._selection(active)
        if chosen is not None and external is None:
            rates, nv = self._each("damping", damping, np.inf, "a rate >= 0, 1/s"), tree.nv
            motions, forces = self._derivatives(q, qd, tau, chosen.active, rates)
            forces = chosen.of(forces, -2)
            by_q, by_qd, by_tau = slice(None, nv), slice(nv, 2 * nv), slice(2 * nv, None)
            motion_tables = motions[..., by_q], motions[..., by_qd], motions[..., by_tau]
            tables = (*motion_tables, forces[..., by_q], forces[..., by_qd], forces[..., by_tau])
            if forces.ndim == 2 and forces.item(0) == forces.item(0):
                return ContactDerivatives(*tables)

            def again(q: FloatArray, qd: FloatArray, tau: FloatArray) -> Any:
                derivatives = self.equations.forward_dynamics_derivatives(q, qd, tau, active, damping)
                return tuple(getattr(derivatives, field.name) for field in fields(ContactDerivatives))

            return ContactDerivatives(*self._repaired(tables, (q, qd, tau), again))
        return super().forward_dynamics_derivatives(q, qd, tau, active, damping, external)

    def _derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, active: FloatArray, rates: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Derivatives of accelerations (..., nv, 3 nv) and of the forces of all contacts (..., C, 3 nv), compiled.

        Products of larger matrices are NumPy's, as many configurations at once as a core's cache holds.
        """
        if self.tree.nv + self._count <= WRITTEN_OUT:
            motions, forces = self._compiled("forward_dynamics_derivatives", q, qd, tau, active, rates)
            return motions, forces
        if all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (q, qd, tau)):
            qdd, forces, *factors = self._compiled("solution", q, qd, tau, active, rates)
            return solution_derivatives(*factors, *self._compiled("changes", q, qd, qdd, forces, rates))
        sizes = self.tree.nq, self.tree.nv, self.tree.nv
        states = [vectors(*triple) for triple in zip(("q", "qd", "tau"), (q, qd, tau), sizes, strict=True)]
        batch = common_batch(
            "forward_dynamics_derivatives", q=states[0].shape[:-1], qd=states[1].shape[:-1], tau=states[2].shape[:-1]
        )
        states = [np.broadcast_to(state, (*batch, state.shape[-1])).reshape(-1, state.shape[-1]) for state in states]
        motions, moved = (np.empty((len(states[0]), rows, 3 * self.tree.nv)) for rows in (self.tree.nv, self._count))
        for start in range(0, len(motions), AT_ONCE):
            at = slice(start, start + AT_ONCE)
            q, qd, tau = (state[at] for state in states)
            qdd, forces, response, inertia = self._compiled("solution", q, qd, tau, active, rates)
            right, changes = self._compiled("changes", q, qd, qdd, forces, rates)
            solution_derivatives(response, inertia, right, changes, motions[at], moved[at])
        return motions.reshape(*batch, *motions.shape[1:]), moved.reshape(*batch, *moved.shape[1:])

    def impact(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, active: Sequence[str] | None = None, restitution: float = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """Return the velocities qd (..., nv) after an impact, and the impulses (..., k) at the contacts, N s.

        M (qd+ - qd) = J' p; the points stick, and leave along their normals with the ``restitution`` (0 to 1) of the
        speed at which they came (I. Newton's law). Loops stay closed, by impulses of their own. NaN where equations that
        depend on others contradict each other.

        Raises
        ------
        ArgumentError
            Naming a contact that there is not, or a restitution outside 0 to 1; where q or qd does not close loops.
        """
        chosen = self._selection(active)
        if chosen is not None:
            ratios = self._each("restitution", restitution, 1.0, "a coefficient from 0 to 1")
            after, impulses = self._compiled("impact", q, qd, chosen.active, ratios)
            if impulses.ndim == 1 and impulses.item(0) == impulses.item(0):
                return after, chosen.of(impulses)
            again = partial(self.equations.impact, active=active, restitution=restitution)
            return self._repaired((after, chosen.of(impulses)), (q, qd), again)
        return super().impact(q, qd, active, restitution)

    def inverse_dynamics(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        qdd: npt.ArrayLike,
        active: Sequence[str] | None = None,
        cones: bool = False,
        driven: Sequence[int | str] | int | str | None = None,
        external: External | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the efforts tau (..., nv) of a motion and the contact forces (..., k) that share the load.

        A floating base has no efforts, nor has a free body, nor what is not driven: the contacts must hold it. Of the forces
        that do, these are the least, in the sum of squares, a moment counted as a force at 1 m. They are zero where all that
        can move is driven. Of efforts that do the same with loops closed, these are the least for these forces.

        Parameters
        ----------
        q, qd, qdd : (..., nq), (..., nv), (..., nv) array_like
            Motion, in which the contacts do not move, and loops stay closed.
        active : sequence of str, optional
            The contacts that are switched on; all by default.
        cones : bool
            Whether forces stay in the friction cones of their contacts, each as the pyramid of 8 faces within it: the
            least of these, by a quadratic program (the extra ``qp``).
        driven : sequence of int or str, optional
            The coordinates that have an effort, by name or by the index of their speed; by default all but those of what
            floats, and with loops those with motors.
        external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
            What else acts on links, as for `Mechanism.inverse_dynamics`.

        Raises
        ------
        ArgumentError
            With cones, naming a contact that has no coefficient of friction, or is a frame; for a coordinate that there is
            not; and where the motion does not close loops.
        LinkwiseError
            Where no such forces hold what is not driven.
        MissingExtraError
            With cones, where the library daqp is not installed.
        """
        tree, jac, at = self.tree, self.jacobian(q, active), self._driven(driven)
        motion = vectors("qd", qd, tree.nv), vectors("qdd", qdd, tree.nv)
        efforts = loaded_kernel(cut_open(tree), "inverse_dynamics", external)(q, *motion)
        jac = np.broadcast_to(jac, (*efforts.shape[:-1], *jac.shape[-2:]))
        idle = self._idle(q, at)
        carried, load = projected(idle, np.swapaxes(jac, -1, -2)), product(np.swapaxes(idle, -1, -2), efforts)
        faces = self._faces(active) if flag("cones", cones) else None
        if faces is None:
            forces = product(np.asarray(np.linalg.pinv(carried, rcond=DEPENDENT), dtype=float), load)
        else:
            forces = np.zeros((*efforts.shape[:-1], jac.shape[-2]))
            for index in np.ndindex(efforts.shape[:-1]):
                forces[index] = _in_cones(carried[index], load[index], faces)
        left = np.abs(product(carried, forces) - load).max(axis=-1, initial=0.0)
        if (left > BALANCED * (1.0 + np.abs(load).max(axis=-1, initial=0.0))).any():
            problem = f"the contacts {members(self._named(active))} cannot hold what floats or is not driven"
            raise LinkwiseError(f"{problem}: {float(left.max()):.3g} N or N m are left")
        held = product(np.swapaxes(jac, -1, -2), forces)
        if tree.loops:
            return efforts_at(tree, at, q, *motion, external, "inverse_dynamics", held)[0], forces
        tau = np.zeros_like(efforts)
        tau[..., at] = (efforts - held)[..., at]
        return tau, forces

    def _driven(self, driven: Sequence[int | str] | int | str | None) -> list[int]:
        """Indices of the velocities that have an effort."""
        tree = self.tree
        if driven is None and not tree.loops:
            afloat = [k for at in tree.manifold_joints for k in range(tree.nv)[at.v] if at.v.stop - at.v.start == FREE]
            return [k for k in range(tree.nv) if k not in afloat]
        return driven_speeds(tree, driven, "inverse_dynamics")

    def _idle(self, q: npt.ArrayLike, at: list[int]) -> FloatArray:
        """Motions (..., nv, m) against which no drive works, the loops closed; some may be none at all."""
        if not self.tree.loops:
            return np.delete(np.eye(self.tree.nv), at, axis=1)
        free = freedom_at(self.tree, q, "inverse_dynamics")
        _, values, directions = np.linalg.svd(free.basis[..., at, :])
        none = np.zeros(directions.shape[:-1], dtype=bool)
        none[..., : values.shape[-1]] = values > SINGULAR
        return np.asarray(
            (free.basis * free.units[:, None]) @ np.swapaxes(np.where(none[..., None], 0.0, directions), -1, -2)
        )

    def _faces(self, active: Sequence[str] | None) -> FloatArray:
        """The rows a (faces, k) of a f >= 0, in the pyramids within all friction cones."""
        rows = self._rows(active)
        total = sum(contact.rows for contact, _ in rows)
        blocks = []
        for contact, place in rows:
            if contact.kind == "frame":
                raise ArgumentError(f"contact {contact.name!r} is a frame; expected points or normals for friction cones")
            if contact.kind == "normal":
                block = np.ones((1, 1))
            elif contact.friction is None:
                raise ArgumentError(f"contact {contact.name!r} has no friction; expected a coefficient >= 0 for its cone")
            else:
                normal = np.asarray(contact.normal, dtype=float)
                first = np.linalg.svd(normal[None])[2][1]
                second = np.asarray(cross(normal, first), dtype=float)
                angles = 2.0 * np.pi * np.arange(FACES) / FACES
                outward = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), second)
                block = normal[None]
                if np.isfinite(contact.friction):
                    block = np.concatenate([contact.friction * np.cos(np.pi / FACES) * normal - outward, block])
            row = np.zeros((len(block), total))
            row[:, place] = block
            blocks.append(row)
        return np.concatenate([np.zeros((0, total)), *blocks])


def _in_cones(carried: FloatArray, load: FloatArray, faces: FloatArray) -> FloatArray:
    """The least forces (k,) with carried f = load and faces f >= 0.

    Raises
    ------
    LinkwiseError
        Where there are none.
    """
    unit = max(float(np.abs(load).max(initial=0.0)), 1.0)
    left, values, axes = np.linalg.svd(carried, full_matrices=False)
    there = values > DEPENDENT * max(float(values.max(initial=0.0)), 1e-300)
    rows, right = axes[there], (left.T[there] @ load) / values[there] / unit
    count = len(rows)
    upper = np.concatenate([right, np.full(len(faces), 1e30)])
    lower = np.concatenate([right, np.zeros(len(faces))])
    sense = np.concatenate([np.full(count, 5), np.zeros(len(faces))]).astype(np.int32)
    size = carried.shape[1]
    solution, _, flag, _ = quadratic_programs("cones=True").solve(
        np.eye(size), np.zeros(size), np.concatenate([rows, faces]), upper, lower, sense, primal_tol=1e-12
    )
    if flag != 1:
        raise LinkwiseError("no forces within the friction cones hold what floats or is not driven")
    point = np.asarray(solution, dtype=float)
    return np.asarray((point + rows.T @ (right - rows @ point)) * unit)
