"""Equilibria: configurations that rest under gravity, springs, constant efforts and wrenches; with loops, closed ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import algorithm_options, find, kernel_of
from linkwise.arrays import DifferentiableFramework, Framework, GraphOutput, Signature, by_library, in_graphs
from linkwise.arrays.implicit import implicit_function
from linkwise.dynamics.closed_loops.nullspace import SINGULAR, LoopFreedom, cut_open, freedom_at
from linkwise.dynamics.external import External, loaded_kernel, rows_of_external, wrench_arguments
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.loops.loop_solver import NEARLY, closed_near, closing
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.solve.validation import positive
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import common_batch, numbers, vectors

#: Greatest number of steps of a search for an equilibrium.
STEPS = 200

#: Relative threshold of zero eigenvalues, by rounding.
NEUTRAL = 1e-12

#: Up to this the squares of stiffnesses are as good as none.
TINY = 1e-200

#: No joint moves further in one step, rad or m.
LONGEST = 0.5

#: Steps of a descent after that search has stalled; curvatures below this share of the greatest are raised to it.
FALLS, FLAT = 100, 1e-3


@dataclass(frozen=True)
class StaticEquilibrium:
    """A configuration that rests.

    Attributes
    ----------
    q : ndarray (..., nq)
        The configuration.
    success : ndarray (...,) of bool
        Whether it rests to the tolerance.
    residual : ndarray (...,)
        The greatest effort that is left, by the greatest that gravity takes, or a motion by one rad or m.
    stable : ndarray (...,) of bool
        Whether it is a minimum of the potential energy.
    neutral : ndarray (...,) of bool
        Whether there is a motion that nothing drives on or back, to rounding; then it is not `stable`.

    Examples
    --------
    >>> from linkwise import robots
    >>> rest = robots.planar_2r().static_equilibrium([-1.0, 0.3])
    >>> (rest.q.round(6) + 0.0).tolist(), bool(rest.stable)
    ([-1.570796, 0.0], True)
    """

    q: FloatArray
    success: npt.NDArray[np.bool_]
    residual: FloatArray
    stable: npt.NDArray[np.bool_]
    neutral: npt.NDArray[np.bool_]


#: Types of the fields of an equilibrium.
KINDS = {"q": "float64", "success": "bool", "residual": "float64", "stable": "bool", "neutral": "bool"}


def _by_library(
    library: Framework,
    solve: Callable[..., StaticEquilibrium],
    tree: Tree,
    q0: Any,
    tau: Any = 0.0,
    external: Any = None,
    tol: float = 1e-12,
) -> StaticEquilibrium:
    """The equilibria near arrays of a library, with derivatives by tau and external; those by q0 are zero."""
    declared = find("external_efforts")
    frames, load = ({}, None) if external is None else wrench_arguments(external)
    wrenches = algorithm_options(tree, declared, frames)
    arguments = [q0, tau + np.zeros(tree.nv) if isinstance(tau, (int, float)) else tau]
    arguments += [] if external is None else [load]
    cores = [(tree.nq,), (tree.nv,), declared.shapes(tree, declared.inputs, wrenches)["external"]][: len(arguments)]
    if isinstance(library, DifferentiableFramework) and (tree.loops or tree.manifold_joints):
        subject = f"static_equilibrium with {'loops' if tree.loops else 'ball joints'}"
        arguments = [library.without_derivatives(subject, x) for x in arguments]

    def run(q0: FloatArray, tau: FloatArray, *load: FloatArray) -> tuple[Any, ...]:
        equilibrium = solve(tree, q0, tau, external if wrenches or not load else load[0], tol)
        return tuple(getattr(equilibrium, name) for name in StaticEquilibrium.__annotations__)

    library.check(
        "static_equilibrium", dict(zip(("q0", "tau", "external"), zip(arguments, cores, strict=True), strict=False))
    )
    signature = Signature(tuple(cores), ((tree.nq,), (), (), (), ()), tuple(KINDS.values()), tuple(KINDS))
    q, success, *others = library.map(run, signature, arguments)
    if isinstance(library, DifferentiableFramework) and library.differentiates(arguments):
        kernel = _missing_efforts(tree, dict(zip(("q0", "tau", "external"), cores, strict=False)), wrenches)
        q = implicit_function(library, kernel, q, arguments, success)
    return StaticEquilibrium(q, success, *others)


def _missing_efforts(tree: Tree, parameters: dict[str, Any], wrenches: dict[str, Any]) -> Kernel:
    """The residual r (nv,) of an equilibrium, a function of q and the arguments of `static_equilibrium`."""
    still = np.zeros(tree.nv)

    def missing(q: Array, q0: Array, tau: Array, *load: Array) -> Array:
        name = "inverse_dynamics_external" if load else "inverse_dynamics"
        return np.asarray(find(name).function(tree, q, still, still, *load, **wrenches) - tau)

    inputs = {"q": (tree.nq,), **parameters}
    return tree.memo(
        "static_equilibrium",
        (*inputs, *wrenches.items()),
        lambda: Kernel(trace(missing, "missing_efforts", inputs, {"r": (tree.nv,)})),
    )


def _graph_rows(tree: Tree, **_: Any) -> dict[str, GraphOutput]:
    """Output declarations of an equilibrium in graphs of `torch.compile`."""
    shapes = dict.fromkeys(KINDS, ()) | {"q": (tree.nq,)}
    return {name: GraphOutput(shape, KINDS[name], name == "q") for name, shape in shapes.items()}


def _in_graph(tree: Tree, tensors: Any, options: Any, **rows: Any) -> StaticEquilibrium:
    return StaticEquilibrium(**rows)


@in_graphs({"q0": ("nq",), "tau": ("nv",), "external": (6,)}, _graph_rows, _in_graph)
@by_library(_by_library, "q0", "tau", "external")
def static_equilibrium(
    tree: Tree, q0: npt.ArrayLike, tau: npt.ArrayLike = 0.0, external: External | None = None, tol: float = 1e-12
) -> StaticEquilibrium:
    """Return an equilibrium near q0: a configuration that the efforts hold at rest against gravity and wrenches.

    Levenberg-Marquardt steps on the efforts that are missing (K. Levenberg, 1944; D. Marquardt, 1963), with exact
    derivatives: an unstable equilibrium may be the nearest. Friction at rest is left out. Closed loops stay closed, within
    the joint limits: the steps are on N' n, the work of the efforts n along the motions N that the loops allow, with the
    derivative N' (dn/dq - d(J' f)/dq) N, f the forces of the loops.

    Parameters
    ----------
    tree : Mechanism
        What rests. What floats is held by springs on lines, loops, efforts or wrenches.
    q0 : (..., nq) array_like
        Where the search begins; loops are closed first, by the nearest way.
    tau : (..., nv) array_like
        Constant efforts of the motors; none by default.
    external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
        As for `Mechanism.inverse_dynamics`; held.
    tol : float
        Greatest `residual` of a success.

    Raises
    ------
    ArgumentError
        For symbols; where something floats that nothing holds, or loops cannot be closed near q0.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> rest = static_equilibrium(arm, [-1.0, 0.4])
    >>> rest.q.round(6).tolist(), bool(rest.success), bool(rest.stable)
    ([-1.570796, 0.0], True, True)
    """
    require_numeric_tree(tree, "static_equilibrium")
    at = vectors("static_equilibrium: q0", q0, tree.nq)
    tolerance = positive("static_equilibrium: tol", tol)
    efforts = numbers("static_equilibrium: tau", tau, copy=False)
    applied = vectors("static_equilibrium: tau", efforts if efforts.ndim else np.full(tree.nv, efforts), tree.nv)
    free = [joint.name for joint in tree.manifold_joints if not joint.joint.is_rotation]
    tied = (tree.loops and not tree.floating) or any(element.links for element in tree.springs)
    if free and not (tied or external is not None or applied.any()):
        lock = "lock({}, base=T)" if tree.floating else f"lock({{{free[0]!r}: (x, y, z, qw, qx, qy, qz)}})"
        raise ArgumentError(
            f"static_equilibrium: {free[0]!r} of {tree.name!r} floats, and no spring, loop, effort or wrench holds it;"
            f" {lock} does"
        )
    shape, wrenches_at = rows_of_external(external)
    batch = common_batch("static_equilibrium", q0=at.shape[:-1], tau=applied.shape[:-1], external=shape)
    q, applied = (np.array(np.broadcast_to(part, (*batch, part.shape[-1]))) for part in (at, applied))
    if not tree.loops:
        return _search(_OpenRest(tree, applied, external), q, tolerance)
    if not batch:
        return _search(_ClosedRest(tree, applied, external), _closed(tree, q), tolerance)
    alone = [
        _search(_ClosedRest(tree, applied[index], wrenches_at(index)), _closed(tree, q[index]), tolerance)
        for index in np.ndindex(batch)
    ]
    fields = ([getattr(equilibrium, name) for equilibrium in alone] for name in KINDS)
    shapes = [(*batch, tree.nq) if name == "q" else batch for name in KINDS]
    tables = zip(fields, KINDS.values(), shapes, strict=True)
    return StaticEquilibrium(*(np.array(values, kind).reshape(shape) for values, kind, shape in tables))


def _closed(tree: Tree, q: FloatArray) -> FloatArray:
    """The closed configuration (nq,) next to one."""
    task = closing(tree)
    closed, error, _ = closed_near(task, q[None])
    if not error[0] <= NEARLY:
        raise ArgumentError(
            f"static_equilibrium: the loops of {tree.name!r} cannot be closed near q0; they stay open by {error[0]:.3g}, in"
            f" longest offsets ({task.size:g} m) and rad"
        )
    nearest: FloatArray = closed[0]
    return nearest


class _OpenRest:
    """Imbalance of configurations (..., nq) of a tree."""

    def __init__(self, tree: Tree, applied: FloatArray, external: External | None) -> None:
        self.tree, self.applied, self.still = tree, applied, np.zeros(tree.nv)
        self.efforts = loaded_kernel(cut_open(tree), "inverse_dynamics", external)
        self.derivatives = loaded_kernel(cut_open(tree), "inverse_dynamics", external, "_derivatives")

    def missing(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Missing efforts (..., nv), and the magnitude (...,) of their largest term."""
        needed = self.efforts(q, self.still, self.still)
        size = np.maximum(np.abs(needed).max(axis=-1, initial=0.0), np.abs(self.applied).max(axis=-1, initial=0.0))
        return needed - self.applied, size

    def stiffness(self, q: FloatArray) -> FloatArray:
        """Derivative (..., nv, nv) of the missing efforts by small motions."""
        return np.asarray(self.derivatives(q, self.still, self.still)[0])

    def moved(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """Configurations (..., nq) after small motions."""
        return np.asarray(kernel_of(self.tree, "integrate")(q, step, 1.0)) if self.tree.manifold_joints else q + step


class _ClosedRest(_OpenRest):
    """The same for one closed configuration (nq,), along the m motions that its loops allow, in `LoopFreedom.units`."""

    def missing(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Missing efforts (m,), infinite if the loops are open or singular, and the magnitude of the largest term."""
        try:
            free = freedom_at(self.tree, q, "static_equilibrium")
        except ArgumentError:
            return np.array([np.inf]), np.array(0.0)
        needed, size = super().missing(q)
        return (free.units * needed) @ free.basis, size * free.units.max(initial=0.0)

    def stiffness(self, q: FloatArray) -> FloatArray:
        """Derivative (m, m) of the missing efforts by these motions: the forces of the loops rotate with the links."""
        free = freedom_at(self.tree, q, "static_equilibrium")
        needed, chosen = super().missing(q)[0] * free.units, list(free.closing.rows)
        forces = np.zeros(len(free.closing.sizes))
        forces[chosen] = np.linalg.pinv(free.rows.T, rcond=SINGULAR) @ needed / free.closing.sizes[chosen]
        turned = kernel_of(self.tree, "closure_derivatives")(q, self.still, self.still, forces)[0]
        motions = self._motions(free)
        return np.asarray(motions.T @ (super().stiffness(q) - turned) @ motions)

    def moved(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """The closed configuration (nq,) after a small motion."""
        motions = self._motions(freedom_at(self.tree, q, "static_equilibrium"))
        return np.asarray(closed_near(closing(self.tree), super().moved(q, motions @ step)[None])[0][0])

    @staticmethod
    def _motions(free: LoopFreedom) -> FloatArray:
        return free.basis * free.units[:, None]


def _search(equations: _OpenRest, q: FloatArray, tolerance: float) -> StaticEquilibrium:
    """The equilibria near configurations; of those from which the steps lead to none, those to which they fall."""
    near = _solved(equations, q, tolerance)
    if near.success.all():
        return near
    fallen = _solved(equations, _fallen(equations, np.where(near.success[..., None], near.q, q)), tolerance)
    better = ~near.success & fallen.success
    pairs = ((getattr(near, name), getattr(fallen, name)) for name in StaticEquilibrium.__annotations__)
    return StaticEquilibrium(
        *(np.where(better[..., None] if old.ndim > better.ndim else better, new, old) for old, new in pairs)
    )


def _fallen(equations: _OpenRest, q: FloatArray) -> FloatArray:
    """Descend from configurations by Newton steps with absolute curvatures, which avoid maxima and saddles.

    Y. Dauphin, R. Pascanu et al., "Identifying and attacking the saddle point problem in high-dimensional non-convex
    optimization", NeurIPS 2014.
    """
    for _ in range(FALLS):
        missing, stiffness = equations.missing(q)[0], equations.stiffness(q)
        values, axes = np.linalg.eigh(0.5 * (stiffness + np.swapaxes(stiffness, -1, -2)))
        curved = np.abs(values)
        greatest = curved.max(axis=-1, keepdims=True)
        curved = np.where(greatest > 0.0, np.maximum(curved, FLAT * greatest), 1.0)
        step = -(axes @ ((np.swapaxes(axes, -1, -2) @ missing[..., None]) / curved[..., None]))[..., 0]
        moved = equations.moved(
            q, step * np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=-1, keepdims=True), LONGEST))
        )
        if not np.isfinite(equations.missing(moved)[0]).all():
            break
        q = moved
    return q


def _solved(equations: _OpenRest, q: FloatArray, tolerance: float) -> StaticEquilibrium:
    """Levenberg-Marquardt steps from configurations."""
    missing, size = equations.missing(q)
    scale = np.maximum(size[..., None], np.abs(equations.stiffness(q)).max(axis=-1, initial=0.0))
    damping = np.full((*q.shape[:-1], 1), 1e-3)
    for _ in range(STEPS):
        if np.all(np.abs(missing) <= tolerance * scale):
            break
        stiffness = equations.stiffness(q)
        count = stiffness.shape[-1]
        normal = np.swapaxes(stiffness, -1, -2) @ stiffness
        size = np.trace(normal, axis1=-2, axis2=-1)[..., None, None] / count
        size[size <= TINY] = 1.0
        slope = np.swapaxes(stiffness, -1, -2) @ missing[..., None]
        step = -np.linalg.solve(normal + damping[..., None] * size * np.eye(count), slope)[..., 0]
        step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=-1, keepdims=True), LONGEST))
        trial = equations.moved(q, step)
        left, greatest = equations.missing(trial)
        better = np.linalg.norm(left, axis=-1, keepdims=True) < np.linalg.norm(missing, axis=-1, keepdims=True)
        q, missing = np.where(better, trial, q), np.where(better, left, missing)
        scale = np.maximum(scale, np.where(better, greatest[..., None], scale))
        damping = np.where(better, np.maximum(0.1 * damping, 1e-14), np.minimum(10.0 * damping, 1e6))
    residual = (np.abs(missing) / np.where(scale > 0, scale, 1.0)).max(axis=-1, initial=0.0)
    stiffness = equations.stiffness(q)
    values = np.linalg.eigvalsh(0.5 * (stiffness + np.swapaxes(stiffness, -1, -2)))
    rounding = NEUTRAL * np.abs(values).max(axis=-1, initial=0.0)
    neutral = np.any(np.abs(values) <= rounding[..., None], axis=-1)
    least = values.min(axis=-1, initial=np.inf)
    return StaticEquilibrium(q, residual <= tolerance, residual, least > rounding, neutral)
