"""Equations of motion with loops closed: with Lagrange's multipliers, or in the driven coordinates alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.forward_dynamics import closed_motion
from linkwise.dynamics.closed_loops.kkt import independent_closure
from linkwise.equations.closed_form.closed_form import harmonic
from linkwise.equations.equations_of_motion import Equations, refuse_shared
from linkwise.equations.tape_to_sympy import decided
from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.expr.sympy.symbols import parameter_symbols
from linkwise.extras import sympy_module
from linkwise.loops import AssemblyModes, Linkage
from linkwise.loops.loop_solver import closed_samples, closing
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

CLOSED_FORMS = ("minimal", "multipliers")

#: Loops that the minimal form takes: each multiplies the length of the next one's velocity ratios.
MOST_LOOPS = 2

#: Closed states at which equations are compared with the kernels: the least significant singular value of the closure
#: Jacobian is more than this share of the greatest.
STATES, REGULAR = 4, 1e-2


class MultiplierEquations(Equations):
    """M(q) qdd + C(q, qd) qd + g(q) + friction(qd) + springs(q, qd) = tau + J(q)' lambda, with J qdd + bias = 0.

    The lambda are Lagrange's multipliers. M, C, g, friction and springs are those of the tree, cut open. A multiplier acts
    on the second link of its loop from the first, as `Mechanism.constraint_forces` tells: a force (N), or a moment (N m), in
    the axes of the loop's first frame (J. L. Lagrange, *Mécanique analytique*, 1788; R. Featherstone, *Rigid Body Dynamics
    Algorithms*, 2008, section 8.2).

    Parameters
    ----------
    tree : Tree
        The mechanism, with loops; numbers of it may be symbols.

    Attributes
    ----------
    mechanism : Mechanism
        What was given; ``tree`` is the tree.
    rows : tuple of int
        The closure equations that count, in the order of `linkwise.kinematics.closure`: those that are not zero wherever the
        loops are closed. With symbols in the mechanism, those that are not zero whatever they stand for.

    Examples
    --------
    >>> from linkwise import robots
    >>> e = robots.slider_crank().equations("multipliers")
    >>> e
    <MultiplierEquations of slider_crank: 3 joints, harmonic form, 2 multipliers>
    >>> e.J[0, 2]
    cos(q1 + q2)
    """

    def __init__(self, tree: Tree) -> None:
        self.mechanism = tree
        self.rows = _nonzero_rows(tree) if tree.parameters_used else independent_closure(tree).rows
        super().__init__(tree.replace(loops=()))
        self.parameters = parameter_symbols(tree.parameters_used)
        refuse_shared(tree, {**self._columns, "lambda": self.multipliers})

    @cached_property
    def multipliers(self) -> Any:
        """The symbols ``lambda1``, ..., as a column, one for each of `rows`."""
        sympy = sympy_module()
        names = [f"lambda{k}" for k in range(1, len(self.rows) + 1)]
        return sympy.ImmutableDenseMatrix(len(names), 1, [sympy.Symbol(name, real=True) for name in names])

    @cached_property
    def J(self) -> Any:
        """The closure Jacobian (r, nv) of `rows`: the loops stay closed where J qd = 0."""
        whole = None
        if self.form == "harmonic":
            try:
                whole = self._from_closed("J", harmonic(self.mechanism, "closure_jacobian"))
            except ArgumentError:
                whole = None
        if whole is None:
            tape = kernel_of(self.mechanism, "closure_jacobian", "numpy", {}).tape
            whole = self._from_tape("J", tape, [*self.q, *self.parameters])
        return whole[list(self.rows), :]

    @cached_property
    def bias(self) -> Any:
        """dJ/dt qd (r, 1): the loops stay closed where J qdd + bias = 0."""
        if self.form == "harmonic" and not self.tree.manifold_joints:
            speeds = self._columns["qd"]
            products = (self.J * speeds).jacobian(self.q) * speeds
            return sympy_module().ImmutableDenseMatrix(products)
        tape = kernel_of(self.mechanism, "closure_bias", "numpy", {}).tape
        return self._from_tape("bias", tape, [*self.q, *self._columns["qd"], *self.parameters])[list(self.rows), :]

    @cached_property
    def tau(self) -> Any:
        """M qdd + C qd + g + friction - J' lambda (nv, 1): efforts of the motors."""
        sympy = sympy_module()
        return sympy.ImmutableDenseMatrix(super().tau - self.J.T * self.multipliers)

    @property
    def residual(self) -> float:
        """Largest difference from the compiled dynamics at random closed states, relative to the largest term.

        Raises
        ------
        ArgumentError
            Where the mechanism has symbols, which have no values here.
        """
        self.mechanism.require_numbers("residual")
        q, qd, qdd, tau, forces = (np.concatenate(parts) for parts in zip(*self._states(), strict=True))
        names = [*self._columns["q"], *self._columns["qd"], *self._columns["qdd"], *self.multipliers]
        values = np.column_stack([q, qd, qdd, forces])
        left = _evaluated(names, self.tau, values)
        motion = _evaluated(names, self.J * self._columns["qdd"] + self.bias, values)
        size = max(np.abs(tau).max(), np.abs(left).max(), 1e-300)
        return float(max(np.abs(left - tau).max() / size, np.abs(motion).max() / max(np.abs(qdd).max(), 1e-300)))

    def _states(self) -> list[tuple[FloatArray, ...]]:
        """Closed states (1, ...): q, qd, qdd, tau, and the forces of `rows`."""
        task, rng = closing(self.mechanism), np.random.default_rng(1)
        states: list[tuple[FloatArray, ...]] = []
        rank = independent_closure(self.mechanism).rank
        for q in closed_samples(task, count=4 * STATES):
            _, values, motions = np.linalg.svd(np.asarray(kernel_of(self.mechanism, "closure_jacobian")(q)))
            if not values[rank - 1] > REGULAR * values[0] or len(states) == STATES:
                continue
            free = motions[rank:]
            qd = free.T @ rng.uniform(-1.0, 1.0, len(free))
            tau = rng.uniform(-1.0, 1.0, self.mechanism.nv)
            qdd, forces = closed_motion(self.mechanism, q, qd, tau, checked=False)
            state = (q, qd, np.array(qdd, dtype=float), tau, np.array(forces, dtype=float)[list(self.rows)])
            states.append(tuple(value[None] for value in state))
        return states

    def _heading(self) -> str:
        return super()._heading() + r" + J(q)^T \lambda, \quad J(q)\,\ddot{q} + b(q, \dot{q}) = 0"

    def _entries(self) -> list[tuple[str, Any]]:
        """Left and right side of each equation."""
        shape = [(i, j) for i in range(self.J.rows) for j in range(self.J.cols)]
        closures = [(f"J_{{{i + 1}{',' if self.J.cols > 9 else ''}{j + 1}}}", self.J[i, j]) for i, j in shape]
        return [*super()._entries(), *closures, *((f"b_{{{i + 1}}}", self.bias[i]) for i in range(self.J.rows))]

    def __repr__(self) -> str:
        return f"{super().__repr__().replace('Equations', type(self).__name__, 1)[:-1]}, {len(self.rows)} multipliers>"


class MinimalEquations(MultiplierEquations):
    """M udd + C ud + g + friction = tau in the driven coordinates u of a mechanism of planar loops: one for each freedom.

    The speeds of all joints are qd = G(q) ud, and M = G' M G, C = G' (M dG/dt + C G), g = G' g, friction = G' friction,
    where those on the right are of the tree, cut open (velocity transformation: W. Jerkovsky, "The structure of multibody
    dynamics equations", J. Guidance and Control 1(3), 1978). The matrices are written in the coordinates of all
    joints, as textbooks do; `positions` has the passive ones in closed form, and ``e.M.subs(e.positions)`` is in u alone.

    Parameters
    ----------
    tree : Tree
        The mechanism: its loops are closed by circles and lines, see `linkwise.loops.AssemblyModes`.
    driven : sequence of str, optional
        Names of the driven coordinates; by default the first that determine the others.
    mode : int, optional
        Which assembly mode `positions` tells, a row of `AssemblyModes.signs`; by default that of the closed position next to
        zero.

    Attributes
    ----------
    driven : tuple of str
        Names of the driven coordinates.
    mode : int
        The assembly mode.

    Raises
    ------
    ArgumentError
        Where loops are not closed so, there are more than two, or the mechanism has symbols.

    Examples
    --------
    >>> from linkwise import robots
    >>> e = robots.slider_crank().equations()
    >>> e
    <MinimalEquations of slider_crank: 3 joints, harmonic form, driven by 'crank'>
    >>> e.M.shape, e.residual < 1e-12
    ((1, 1), True)
    """

    def __init__(self, tree: Tree, driven: Sequence[str] | None = None, mode: int | None = None) -> None:
        tree.require_numbers("equations in minimal form")
        self._modes = AssemblyModes(tree, driven)
        if len(tree.loops) > MOST_LOOPS:
            raise ArgumentError(
                f"{tree.name!r} has {len(tree.loops)} loops; equations in minimal form are for at most {MOST_LOOPS}"
                " (form='multipliers' has no such limit)"
            )
        self.driven = self._modes.driven
        self._linkage, self.mechanism = Linkage(tree, self.driven), tree
        self.mode = self._first_mode() if mode is None else mode
        if self.mode not in range(len(self._modes.signs)) or isinstance(mode, bool):
            raise ArgumentError(f"mode is {shown(mode)}; expected 0 to {len(self._modes.signs) - 1}, a row of signs")
        super().__init__(tree)
        names = list(tree.coordinate_names)
        self._driven = [names.index(name) for name in self.driven]
        self._passive = [names.index(name) for name in self._modes.passive]

    def _first_mode(self) -> int:
        """Assembly mode of the closed position nearest to zero, or if that is a toggle, of another closed one."""
        others = closed_samples(closing(self.mechanism))
        modes = self._modes.mode(np.vstack([self._linkage.q0, *others]))
        return int(modes[np.argmax(modes >= 0)])

    @property
    def qd(self) -> Any:
        """Driven velocities (m, 1)."""
        return self._columns["qd"][self._driven, :]

    @property
    def qdd(self) -> Any:
        """Driven accelerations (m, 1)."""
        return self._columns["qdd"][self._driven, :]

    @cached_property
    def G(self) -> Any:
        """Speeds of all joints per driven velocity (nv, m): qd = G ud, by Cramer's rule from the closure equations."""
        sympy = sympy_module()
        whole = super().J
        at = [self.rows.index(row) for row in self._linkage.rows]
        square, right = whole[at, self._passive], -whole[at, self._driven]
        ratios = square.adjugate(method="berkowitz") * right / square.det(method="berkowitz")
        rows = {k: ratios.row(i) for i, k in enumerate(self._passive)}
        rows |= {k: sympy.eye(len(self._driven)).row(i) for i, k in enumerate(self._driven)}
        return sympy.ImmutableDenseMatrix.vstack(*(rows[k] for k in range(self.tree.nv)))

    @cached_property
    def positions(self) -> dict[Any, Any]:
        """The passive coordinates in closed form, each in the driven ones: angles in (-pi, pi], NaN where nothing closes."""
        tape = self._modes.kernel.tape
        values = decided(tape, [self.q[k] for k in self._driven])
        size = self.tree.nq
        row = values[size * self.mode : size * (self.mode + 1)]
        return {self.q[k]: row[k] for k in self._passive}

    @cached_property
    def M(self) -> Any:
        """The mass matrix (m, m) of the driven coordinates."""
        return self._reduced(self._open.M * self.G)

    @cached_property
    def C(self) -> Any:
        """The Coriolis matrix (m, m): dM/dt - 2 C is skew-symmetric."""
        sympy, speeds = sympy_module(), self.G * self.qd
        rate = sum((self.G.diff(q) * speed for q, speed in zip(self.q, speeds, strict=True)), sympy.zeros(*self.G.shape))
        coriolis = self._open.C.subs(dict(zip(self._columns["qd"], speeds, strict=True)))
        return self._reduced(self._open.M * rate + coriolis * self.G)

    @cached_property
    def g(self) -> Any:
        """The efforts of gravity (m, 1)."""
        return self._reduced(self._open.g)

    @cached_property
    def friction(self) -> Any:
        """Friction of all motors, as the driven coordinates feel it (m, 1)."""
        return self._reduced(self._at_driven_speeds(self._open.friction))

    @cached_property
    def springs(self) -> Any:
        """Efforts of springs, dampers and end stops at the driven coordinates (m, 1)."""
        return self._reduced(self._at_driven_speeds(self._open.springs))

    @cached_property
    def tau(self) -> Any:
        """M udd + C ud + g + friction + springs (m, 1): the efforts G' tau of motors, those of passive joints counted."""
        total = self.M * self.qdd + self.C * self.qd + self.g + self.friction + self.springs
        return sympy_module().ImmutableDenseMatrix(total)

    @property
    def residual(self) -> float:
        """Largest difference from the compiled dynamics at random closed states, relative to the largest term."""
        q, qd, qdd, tau, _ = (np.concatenate(parts) for parts in zip(*self._states(), strict=True))
        names = [*self._columns["q"], *self._columns["qd"], *self._columns["qdd"]]
        values = np.column_stack([q, qd, qdd])
        left = _evaluated(names, self.tau, values)
        ratios = _evaluated(names, self.G, values).reshape(len(q), self.tree.nv, -1)
        wanted = np.einsum("sij,si->sj", ratios, tau)
        return float(np.abs(left - wanted).max() / max(np.abs(left).max(), np.abs(wanted).max(), 1e-300))

    def steps(self, quantity: str) -> tuple[list[tuple[Any, Any]], Any]:
        """A matrix with named intermediate values, as ``sympy.cse`` finds them: assignments, and the matrix in these.

        Raises
        ------
        ArgumentError
            Naming the matrices there are.
        """
        sympy = sympy_module()
        if quantity not in ("M", "C", "g"):
            raise ArgumentError(f"there is no matrix {shown(quantity)}; there are {choices(('M', 'C', 'g'))}")
        assignments, (matrix,) = sympy.cse(getattr(self, quantity), sympy.numbered_symbols("x", start=1, real=True))
        return assignments, matrix

    @cached_property
    def _open(self) -> Equations:
        return Equations(self.tree)

    def _at_driven_speeds(self, efforts: Any) -> Any:
        return efforts.subs(dict(zip(self._columns["qd"], self.G * self.qd, strict=True)), simultaneous=True)

    def _reduced(self, efforts: Any) -> Any:
        return sympy_module().ImmutableDenseMatrix(self.G.T * efforts)

    def _heading(self) -> str:
        return Equations._heading(self).replace("q", "u").replace(r"M(u)", "M(q)")

    def _entries(self) -> list[tuple[str, Any]]:
        """Left and right side of each equation."""
        passive = [(rf"q_{{{k + 1}}}", self.positions[self.q[k]]) for k in self._passive]
        return [*Equations._entries(self), *passive]

    def __repr__(self) -> str:
        named = Equations.__repr__(self).replace("Equations", type(self).__name__, 1)
        return f"{named[:-1]}, driven by {members(self.driven)}>"


def equations_of(tree: Tree, form: str | None = None, driven: Sequence[str] | None = None) -> Equations:
    """The equations of motion of a mechanism: see `Equations`, and with loops `MinimalEquations`, `MultiplierEquations`.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    form : str, optional
        Of a tree "harmonic" or "graph". With loops "minimal" or "multipliers"; left out, minimal wherever there is that.
    driven : sequence of str, optional
        With loops, names of the coordinates that the minimal form is in.

    Raises
    ------
    ArgumentError
        For another form, or where there is none of that form, and why.
    """
    if not tree.loops:
        if driven is not None:
            raise ArgumentError(
                f"equations: driven is {shown(driven)}; {tree.name!r} has no loops, all its coordinates are free"
            )
        return Equations(tree, form)
    if form is not None and form not in CLOSED_FORMS:
        raise ArgumentError(f"form is {shown(form)}; {tree.name!r} has loops: expected {choices(CLOSED_FORMS)}, or nothing")
    if form == "multipliers":
        if driven is not None:
            raise ArgumentError(f"equations: driven is {shown(driven)}; it is for form='minimal'")
        return MultiplierEquations(tree)
    try:
        return MinimalEquations(tree, [driven] if isinstance(driven, str) else driven)
    except ArgumentError:
        if form == "minimal" or driven is not None:
            raise
    return MultiplierEquations(tree)


def _nonzero_rows(tree: Tree) -> tuple[int, ...]:
    """Closure equations (of K) whose derivative is not zero for all values of the symbols."""
    tape = kernel_of(tree, "closure_jacobian", "numpy", {}).tape
    points = np.random.default_rng(0).uniform(0.2, 1.3, (STATES, tape.input_count))
    table = np.asarray(kernel_of(tree, "closure_jacobian", "numpy", {})(points[:, : tree.nq], points[:, tree.nq :]))
    return tuple(int(k) for k in np.flatnonzero(np.abs(table).max(axis=(0, 2)) > 1e-12))


def _evaluated(names: Sequence[Any], matrix: Any, values: FloatArray) -> FloatArray:
    """A matrix of symbols at values (S, len(names)), each flat."""
    function = sympy_module().lambdify(list(names), matrix, modules="numpy", cse=True)
    return np.array([np.asarray(function(*row), dtype=float).ravel() for row in values])
