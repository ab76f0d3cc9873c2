"""Contacts: links fixed at points or frames to the world or to each other, with the contact forces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import BODIES, kernel_of
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_rates, efforts_at
from linkwise.dynamics.closed_loops.kkt import independent_closure
from linkwise.dynamics.closed_loops.nullspace import SINGULAR, cut_open, driven_speeds, free_motions, freedom_at
from linkwise.dynamics.contact_kernels import (
    CONTACT_ALGORITHMS,
    KINDS,
    ContactFrame,
    Frames,
    contact_kernel,
    solution_derivatives,
    with_contact_frames,
)
from linkwise.dynamics.external import External, loaded_kernel, wrench_arguments
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.errors import ArgumentError, LinkwiseError, choices, members, shown
from linkwise.extras import quadratic_programs
from linkwise.kernel import Kernel
from linkwise.kernel.backend import default_backend
from linkwise.kinematics.configuration import random_configuration
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, common_batch, flag, listed, number_within, vectors

#: A direction is dependent below this part of the greatest eigenvalue of the Delassus matrix with unit diagonal.
DEPENDENT = 1e-11

#: Tolerance of the balance of forces, relative to the greatest load or acceleration.
BALANCED = 1e-9

#: The same of equations that depend on others: below it they agree, but for rounding times the condition.
AGREED = 1e-6

#: Rounding error of a difference, relative to its terms.
ROUNDED = 1e-13

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


@dataclass(frozen=True)
class Contact:
    """Fixed point or frame of a link on the world or on another link.

    Parameters
    ----------
    name : str
        By which the contact is switched on.
    link : str
        The link that is held.
    point : (3,) array_like
        Where it is held, m, in its frame.
    kind : {"point", "normal", "frame"}
        What is held: the point in three directions, along the normal alone, or point and orientation.
    normal : (3,) array_like
        The direction, in world axes, in which the contact pushes the link; the axis of the friction cone.
    to : str, optional
        The other link, whose point at the same place is held; the world by default.
    friction : float, optional
        Coefficient of friction, for the cones of `Contacts.inverse_dynamics`.

    Raises
    ------
    ArgumentError
        Naming the contact and the field.

    Examples
    --------
    >>> Contact("toe", "foot", (0.1, 0.0, 0.0), friction=0.7).rows
    3
    """

    name: str
    link: str
    point: npt.ArrayLike = (0.0, 0.0, 0.0)
    kind: str = "point"
    normal: npt.ArrayLike = (0.0, 0.0, 1.0)
    to: str | None = None
    friction: float | None = None

    def __post_init__(self) -> None:
        title = f"contact {shown(self.name)}"
        choice(f"{title}: kind", self.kind, KINDS)
        for field in ("name", "link", "to"):
            value = getattr(self, field)
            if not isinstance(value, str) and not (value is None and field == "to"):
                raise ArgumentError(f"{title}: {field} is {shown(value)}; expected a word")
        for field in ("point", "normal"):
            value = vectors(f"{title}: {field}", getattr(self, field), 3)
            if value.shape != (3,):
                raise ArgumentError(f"{title}: {field} has the shape {value.shape}; expected (3,)")
            object.__setattr__(self, field, value)
        size = float(np.linalg.norm(self.normal))
        if size == 0.0:
            raise ArgumentError(f"{title}: normal is (0, 0, 0); expected a direction")
        object.__setattr__(self, "normal", np.asarray(self.normal) / size)
        if self.friction is not None:
            number_within(f"{title}: friction", self.friction, 0.0, np.inf, "a coefficient >= 0")

    @property
    def rows(self) -> int:
        """Number of equations."""
        return KINDS[self.kind]


@dataclass(frozen=True, eq=False)
class ContactDerivatives:
    """Derivatives of accelerations and contact forces under active contacts.

    Attributes
    ----------
    dqdd_dq, dqdd_dqd, dqdd_dtau : ndarray (..., nv, nv)
        Of the accelerations.
    df_dq, df_dqd, df_dtau : ndarray (..., k, nv)
        Of the contact forces.

    Examples
    --------
    >>> from linkwise import robots
    >>> held = Contacts(robots.planar_2r(), [Contact("tip", "link2", kind="normal", normal=(0, 1, 0))])
    >>> held.forward_dynamics_derivatives([0.0, 0.5], [0.0, 0.0], [0.0, 0.0]).dqdd_dtau.shape
    (2, 2)
    """

    dqdd_dq: FloatArray
    dqdd_dqd: FloatArray
    dqdd_dtau: FloatArray
    df_dq: FloatArray
    df_dqd: FloatArray
    df_dtau: FloatArray


_Results = TypeVar("_Results", bound=tuple[FloatArray, ...])


@dataclass(frozen=True, eq=False)
class Selection:
    """A set of contacts: a switch for each contact there is (N,), and the rows of its equations (k,), None for all."""

    active: FloatArray
    rows: npt.NDArray[np.intp] | None

    def of(self, values: FloatArray, axis: int = -1) -> FloatArray:
        """The rows of this set (..., k) of those of all contacts (..., C)."""
        return values if self.rows is None else np.take(values, self.rows, axis)


@dataclass(frozen=True, eq=False)
class Contacts:
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
    >>> arm = robots.planar_2r()
    >>> held = Contacts(arm, [Contact("tip", "link2", kind="normal", normal=(0, 1, 0))])
    >>> qdd, forces = held.forward_dynamics([0.0, 0.5], [0.0, 0.0], [0.0, 0.0])
    >>> (held.jacobian([0.0, 0.5]) @ qdd).round(9) + 0.0
    array([0.])
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
    def in_parts(self) -> Contacts:
        """The same, without compiled functions of all contacts: their parts are those of links, for sets that change."""
        twin = Contacts(self.tree, self.contacts)
        twin.__dict__["compiles"] = False
        return twin

    #: Whether functions of all contacts are compiled, where that is possible.
    compiles: ClassVar[bool] = True

    def _selection(self, active: Sequence[str] | None) -> Selection | None:
        """The set of active contacts for compiled functions; None where they are not for it."""
        if not self.compiles:
            return None
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
        jac = self.in_parts.jacobian(random_configuration(tree, 0, 2), active)
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
        """Return dJ/dt qd (..., k): accelerations at the contacts without accelerations of the joints, m/s2, rad/s2."""
        chosen = self._selection(active)
        if chosen is not None:
            return chosen.of(self._compiled("bias", q, qd))
        state, rates = vectors("q", q, self.tree.nq), vectors("qd", qd, self.tree.nv)
        blocks = [self._bias(contact, state, rates) for contact in self._active(active)]
        batch = np.broadcast_shapes(state.shape[:-1], rates.shape[:-1])
        return np.concatenate([np.zeros((*batch, 0)), *blocks], axis=-1)

    def delassus(self, q: npt.ArrayLike, active: Sequence[str] | None = None) -> FloatArray:
        """Return the Delassus matrix J inverse(M) J' (..., k, k): accelerations at the contacts by the forces there.

        Loops stay closed, see `response`.

        E. Delassus, "Mémoire sur la théorie des liaisons finies unilatérales", Annales scientifiques de l'École normale
        supérieure 34, 1917.
        """
        chosen = self._selection(active)
        if chosen is not None:
            return chosen.of(chosen.of(self._compiled("delassus", q)), -2)
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
        return np.asarray(free @ np.linalg.solve(np.swapaxes(free, -1, -2) @ mass @ free, _projected(free, right)))

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
            again = partial(self.in_parts.forward_dynamics, active=active, damping=damping)
            return self._repaired((qdd, chosen.of(forces)), (q, qd, efforts), again)
        q, qd, tau = vectors("q", q, self.tree.nq), vectors("qd", qd, self.tree.nv), vectors("tau", tau, self.tree.nv)
        free = loaded_kernel(self.tree, "forward_dynamics", external)(q, qd, tau)
        return self._constrained(q, qd, np.asarray(free), active, damping)

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
        bias, open_part = self.bias(q, qd, active), _product(jac, free + damping * np.asarray(qd, dtype=float))
        response = self.response(q, jac)
        forces = _least_squares(jac @ response, -bias - open_part, np.abs(bias) + np.abs(open_part))
        return free + _product(response, forces), forces

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
                derivatives = self.in_parts.forward_dynamics_derivatives(q, qd, tau, active, damping)
                return tuple(getattr(derivatives, field.name) for field in fields(ContactDerivatives))

            return ContactDerivatives(*self._repaired(tables, (q, qd, tau), again))
        qdd, forces = self.forward_dynamics(q, qd, tau, active, damping, external)
        state = (np.asarray(part, dtype=float) for part in (q, qd, tau))
        q, qd, tau = (np.broadcast_to(part, (*qdd.shape[:-1], part.shape[-1])) for part in state)
        jac = self.jacobian(q, active)
        pushed = tau + _product(np.swapaxes(jac, -1, -2), forces)
        by_q, by_qd, by_tau = loaded_kernel(self.tree, "forward_dynamics", external, "_derivatives")(q, qd, pushed)
        held, at_q, at_qd, turned = np.zeros(by_q.shape), *(np.zeros(jac.shape) for _ in range(3))
        response = self.response(q, jac)
        delassus = jac @ response
        inverse, idle = _least_inverse(delassus)
        motion = _product(response, _product(inverse, forces))  # J times it is f
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
            forces_by[k] = np.where(_product(np.abs(directions), wrong)[..., None, :] > 0.0, np.nan, forces_by[k])
        return ContactDerivatives(*(a + response @ f for a, f in zip(free, forces_by, strict=True)), *forces_by)

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
            again = partial(self.in_parts.impact, active=active, restitution=restitution)
            return self._repaired((after, chosen.of(impulses)), (q, qd), again)
        number_within("restitution", restitution, 0.0, 1.0, "a coefficient from 0 to 1")
        jac, before = self.jacobian(q, active), vectors("qd", qd, self.tree.nv)
        common_batch("impact", q=jac.shape[:-2], qd=before.shape[:-1])
        if self.tree.loops:
            closed_rates(self.tree, freedom_at(self.tree, q, "impact"), q, "impact", qd=before)
        arriving = _product(jac, before)
        rebound = np.zeros_like(arriving)
        for contact, rows in self._rows(active):
            if contact.kind == "normal":
                rebound[..., rows] = arriving[..., rows]
            else:
                axis = np.concatenate([np.asarray(contact.normal), np.zeros(contact.rows - 3)])
                rebound[..., rows] = (arriving[..., rows] @ axis)[..., None] * axis
        matrix = jac @ self.response(q, jac)
        impulses = _least_squares(matrix, -arriving - restitution * rebound, _product(np.abs(jac), np.abs(before)))
        return self.after(q, before, impulses, active), impulses

    def after(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, impulses: npt.ArrayLike, active: Sequence[str] | None = None
    ) -> FloatArray:
        """Return the velocities qd + inverse(M) J' p (..., nv) after impulses p (..., k) at the contacts, N s."""
        response = self.response(q, self.jacobian(q, active))
        before = vectors("qd", qd, self.tree.nv, finite=False)
        impulses = vectors("impulses", impulses, response.shape[-1], finite=False)
        common_batch("after", q=response.shape[:-2], qd=before.shape[:-1], impulses=impulses.shape[:-1])
        return before + _product(response, impulses)

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
        carried, load = _projected(idle, np.swapaxes(jac, -1, -2)), _product(np.swapaxes(idle, -1, -2), efforts)
        faces = self._faces(active) if flag("cones", cones) else None
        if faces is None:
            forces = _product(np.asarray(np.linalg.pinv(carried, rcond=DEPENDENT), dtype=float), load)
        else:
            forces = np.zeros((*efforts.shape[:-1], jac.shape[-2]))
            for index in np.ndindex(efforts.shape[:-1]):
                forces[index] = _in_cones(carried[index], load[index], faces)
        left = np.abs(_product(carried, forces) - load).max(axis=-1, initial=0.0)
        if (left > BALANCED * (1.0 + np.abs(load).max(axis=-1, initial=0.0))).any():
            problem = f"the contacts {members(self._named(active))} cannot hold what floats or is not driven"
            raise LinkwiseError(f"{problem}: {float(left.max()):.3g} N or N m are left")
        held = _product(np.swapaxes(jac, -1, -2), forces)
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


def _product(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Matrices (..., i, j) times vectors (..., j)."""
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


def _difference(of: FloatArray, other: FloatArray, axes: int | tuple[int, int]) -> FloatArray:
    """Relative motion of both ends of a contact; zero within rounding, as for ends on one rigid body."""
    size = np.maximum(np.abs(of), np.abs(other)).max(axis=axes, initial=0.0, keepdims=True)
    return np.where(np.abs(of - other) > ROUNDED * size, of - other, 0.0)


def _projected(motions: FloatArray, rows: FloatArray) -> FloatArray:
    """Contact velocities (..., m, k) of motions (..., nv, m), by J' (..., nv, k); zero where only rounding is left."""
    onto = np.swapaxes(motions, -1, -2)
    result, terms = onto @ rows, np.abs(onto) @ np.abs(rows)
    sizes = (part.max(axis=-2, initial=0.0, keepdims=True) for part in (np.abs(result), SINGULAR * terms))
    return np.where(np.greater(*sizes), result, 0.0)


def _least_squares(matrix: FloatArray, right: FloatArray, terms: FloatArray) -> FloatArray:
    """The least solution (..., k) of positive semidefinite systems (..., k, k), with rows and columns scaled to one.

    Directions are dependent below `DEPENDENT`; NaN where what is left is not small beside the ``terms`` of the right side.
    """
    forces = _product(_least_inverse(matrix)[0], right)
    left = np.abs(_product(matrix, forces) - right).max(axis=-1, initial=0.0, keepdims=True)
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
