"""Linearisation of the motion about a state, and the modes of vibration about a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.algorithm import kernel_of
from linkwise.arrays import Signature
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_inverse_dynamics, closed_rates, efforts_at
from linkwise.dynamics.closed_loops.nullspace import cut_open, driven_motions, driven_speeds, freedom_at, refuse_driven
from linkwise.dynamics.external import External, loaded_kernel
from linkwise.dynamics.static_equilibrium import NEUTRAL
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import vectors


@dataclass(frozen=True)
class Linearization:
    """The motion near a state: d(dx)/dt = A dx + B dtau, with dx = (dq, dqd).

    With loops dq are of the m driven coordinates alone, in their order; the others follow.

    Attributes
    ----------
    A : ndarray (..., 2 nv, 2 nv), or (..., 2 m, 2 m)
        How the deviation changes by itself; of a floating base dq is a small motion in its own axes.
    B : ndarray (..., 2 nv, nv), or (..., 2 m, nv)
        How it changes by efforts beside `tau`.
    tau : ndarray (..., nv)
        The efforts of the state.
    qdd : ndarray (..., nv)
        The accelerations of the state; zero at an equilibrium.

    Examples
    --------
    >>> from linkwise import robots
    >>> hanging = robots.planar_2r().linearize([-1.5707963, 0.0])
    >>> hanging.A.shape, hanging.B.shape, bool(abs(hanging.qdd).max() < 1e-6)
    ((4, 4), (4, 2), True)
    """

    A: FloatArray
    B: FloatArray
    tau: FloatArray
    qdd: FloatArray


def linearize(
    tree: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike | None = None,
    tau: npt.ArrayLike | None = None,
    external: External | None = None,
    driven: Sequence[int | str] | int | str | None = None,
) -> Linearization:
    """Return the linearised motion about a state, exact derivatives.

    With loops, of the driven coordinates u: their deviation du moves all others by G du, qd = G ud, and changes the speeds
    of the passive ones so that d(J qd) = 0.

    Parameters
    ----------
    tree : Mechanism
        The mechanism.
    q : (..., nq) array_like
        Configuration.
    qd : (..., nv) array_like, optional
        Velocities; at rest by default.
    tau : (..., nv) array_like, optional
        Efforts; those that take no acceleration by default, with loops none of the driven coordinates.
    external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
        As for `Mechanism.inverse_dynamics`; held.
    driven : sequence of int or str, optional
        With loops, as many coordinates as there are degrees of freedom, by name or by the index of their speed; by default
        those with motors.

    Raises
    ------
    ArgumentError
        For arrays of other shapes and for symbols; with loops, where the state opens them, where they are singular, or where
        these coordinates cannot drive.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Link, Mechanism
    >>> pendulum = Mechanism([Link(axis=(0, 1, 0), mass=1.0, com=(0, 0, -1.0))])
    >>> linearize(pendulum, [0.0]).A.round(3).tolist()
    [[0.0, 1.0], [-9.81, 0.0]]
    """
    refuse_driven(tree, driven, "linearize")
    nq, nv = _sizes(tree, "linearize")
    if tree.loops:
        return _closed_linearization(tree, q, qd, tau, external, driven)
    still = np.zeros(nv, np.float32)  # (float32 leaves the others their type)
    moving = still if qd is None else qd
    if not arrays.is_traced() and arrays.of("linearize", (q, moving, tau)) is None:
        q, moving = vectors("linearize: q", q, nq), vectors("linearize: qd", moving, nv)
        tau = None if tau is None else vectors("linearize: tau", tau, nv)
    effort = loaded_kernel(tree, "inverse_dynamics", external)(q, moving, still) if tau is None else tau
    turning = _turning_by_speeds(tree)

    def compute(module: Any, at: Any, speeds: Any, efforts: Any) -> tuple[Any, ...]:
        by_q, by_qd, by_tau = loaded_kernel(tree, "forward_dynamics", external, "_derivatives")(at, speeds, efforts)
        qdd = loaded_kernel(tree, "forward_dynamics", external)(at, speeds, efforts)
        velocities = module.asarray(speeds, dtype=by_q.dtype) if isinstance(speeds, np.ndarray) else speeds
        turned = (module.asarray(turning, dtype=by_q.dtype) * velocities[..., None, None, :]).sum(-1)
        return *_state_matrices(module, turned, by_q, by_qd, by_tau), efforts, qdd

    signature = Signature(
        ((nq,), (nv,), (nv,)), ((2 * nv, 2 * nv), (2 * nv, nv), (nv,), (nv,)), ("float64",) * 4, ("A", "B", "tau", "qdd")
    )
    return Linearization(*arrays.apply("linearize", compute, signature, (q, moving, effort)))


def _closed_linearization(tree: Tree, q: Any, qd: Any, tau: Any, external: External | None, driven: Any) -> Linearization:
    """Linearization in the driven coordinates of closed loops; NumPy arrays."""
    at = vectors("linearize: q", q, tree.nq)
    motions = driven_motions(tree, at, driven, "linearize")
    still = np.zeros((*at.shape[:-1], tree.nv))
    (moving,) = closed_rates(tree, motions.freedom, at, "linearize", qd=still if qd is None else qd)
    if tau is None:
        resting = motions.passive(-kernel_of(tree, "closure_bias")(at, moving)[..., None])[..., 0]
        effort, _ = closed_inverse_dynamics(tree, at, moving, resting, motions.at, external, name="linearize")
    else:
        effort = vectors("linearize: tau", tau, tree.nv)
    by_q, by_qd, by_tau = loaded_kernel(tree, "forward_dynamics", external, "_derivatives")(at, moving, effort)
    qdd = loaded_kernel(tree, "forward_dynamics", external)(at, moving, effort)
    turning = (_turning_by_speeds(tree) * moving[..., None, None, :]).sum(-1)
    led = motions.map
    rates = kernel_of(tree, "closure_derivatives")(at, moving, 0.0 * moving, np.zeros(len(motions.freedom.closing.sizes)))[1]
    by_q, by_qd = by_q @ led + by_qd @ motions.passive(-rates @ led), by_qd @ led
    by_q, by_qd, by_tau, turning = (table[..., motions.at, :] for table in (by_q, by_qd, by_tau, turning @ led))
    return Linearization(*_state_matrices(np, turning, by_q, by_qd, by_tau), effort, qdd)


def _state_matrices(module: Any, turning: Any, by_q: Any, by_qd: Any, by_tau: Any) -> tuple[Any, Any]:
    """A and B of a `Linearization`, of the derivatives of the rates of a deviation, and of the accelerations."""
    zeros = module.zeros_like(by_q)
    upper = module.concatenate([turning + zeros, module.asarray(np.eye(by_q.shape[-1]), dtype=by_q.dtype) + zeros], axis=-1)
    A = module.concatenate([upper, module.concatenate([by_q, by_qd], axis=-1)], axis=-2)
    return A, module.concatenate([module.zeros_like(by_tau), by_tau], axis=-2)


@arrays.constant_in_graphs
def _sizes(tree: Tree, name: str) -> tuple[int, int]:
    require_numeric_tree(tree, name)
    return tree.nq, tree.nv


@arrays.constant_in_graphs
def _turning_by_speeds(tree: Tree) -> FloatArray:
    """The derivative (nv, nv) of a deviation's rate by the deviation, per speed, which come last (nv, nv, nv).

    The axes of bodies turn with them.
    """
    turning = np.zeros((tree.nv,) * 3)
    for joint in tree.manifold_joints:
        first = 6 - joint.joint.nv
        crosses = -_motion_cross(np.eye(6)[first:])[:, first:, first:]
        turning[joint.v, joint.v, joint.v] = crosses.transpose(1, 2, 0)
    return turning


@dataclass(frozen=True)
class Modes:
    """Small undamped vibrations about a configuration.

    Of arrays of a library with derivatives these are infinite or NaN where there are none: of squares and shapes that repeat
    to rounding, and of frequencies that are 0.

    Attributes
    ----------
    squares : ndarray (..., nv), or (..., m)
        Squares of the angular frequencies, rad2/s2, ascending; negative where the deviation grows.
    shapes : ndarray (..., nv, nv), or (..., nv, m)
        A column for each, with shapes' M shapes = 1.

    Examples
    --------
    >>> from linkwise import robots
    >>> found = robots.planar_2r().modes([-1.5707963, 0.0])
    >>> found.frequencies.shape, found.shapes.shape
    ((2,), (2, 2))
    """

    squares: FloatArray
    shapes: FloatArray

    @property
    def frequencies(self) -> FloatArray:
        """Angular frequencies (..., nv), rad/s; 0 where the square is that to rounding; NaN where the deviation grows."""

        def compute(module: Any, squares: Any) -> tuple[Any, ...]:
            neutral = module.abs(squares) <= _rounding(module, squares)
            roots = module.sqrt(module.where(neutral | (squares < 0.0), 1.0, squares))
            return module.where(neutral, 0.0, module.where(squares < 0.0, np.nan, roots)), neutral

        shape = tuple(self.squares.shape[-1:])
        signature = Signature((shape,), (shape, shape), ("float64", "bool"), ("frequencies", "neutral"))
        frequencies, neutral = arrays.apply("modes", compute, signature, [self.squares])
        module = arrays.functions_of("modes", [self.squares])
        if module is not None:
            change = self.squares - arrays.constant(self.squares)
            frequencies = frequencies + arrays.jumps(module, change[..., None], neutral[..., None])
        return frequencies  # type: ignore[no-any-return]


def modes(
    tree: Tree,
    q: npt.ArrayLike,
    external: External | None = None,
    driven: Sequence[int | str] | int | str | None = None,
) -> Modes:
    """Return the modes of vibration about a configuration: K shape = square M shape, K the derivative of the efforts.

    At an equilibrium they are the vibrations with the motors off; elsewhere of a mechanism that constant efforts hold.
    Damping is left out. L. Meirovitch, *Fundamentals of Vibrations* (2001), section 7.3. With loops, N' K N and N' M N of
    the m motions N that they allow, K less the derivative of J' f: the forces of the loops turn with the links.

    Parameters
    ----------
    tree : Mechanism
        What vibrates.
    q : (..., nq) array_like
        Configuration.
    external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
        As for `Mechanism.inverse_dynamics`; held.
    driven : sequence of int or str, optional
        With loops, the coordinates whose constant efforts hold the configuration; by default those with motors.

    Raises
    ------
    ArgumentError
        For symbols; with loops, where they are open or singular, or the driven coordinates do not hold the configuration.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> pendulum = Mechanism([Link(axis=(0, 1, 0), mass=1.0, com=(0, 0, -1.0))])
    >>> modes(pendulum, [0.0]).squares.round(3).tolist()
    [9.81]
    """
    refuse_driven(tree, driven, "modes")
    nq, nv = _sizes(tree, "modes")
    speeds = np.zeros((2, nv), np.float32)  # (float32 leaves q its type)
    derivatives = loaded_kernel(cut_open(tree), "inverse_dynamics", external, "_derivatives")
    if not tree.loops and (arrays.is_traced() or arrays.of("modes", [q]) is not None):
        stiffness, _, mass = derivatives(q, *speeds)
        table, names = (nv, nv), ("squares", "shapes", "whole", "turn", "repeated")
        signature = Signature((table,) * 2, ((nv,), *(table,) * 4), ("float64",) * 4 + ("bool",), names)
        squares, shapes, whole, turn, repeated = arrays.apply("modes", _vibrations, signature, (stiffness, mass))
        module = arrays.functions_of("modes", [q])
        if module is not None:
            fixed = arrays.constant(turn)
            change = module.swapaxes(fixed, -1, -2) @ (whole - arrays.constant(whole)) @ fixed
            jumps = arrays.jumps(module, change, repeated)
            squares, shapes = squares + jumps, shapes + jumps[..., None, :]
        return Modes(squares, shapes)
    at = vectors("modes: q", q, nq)
    stiffness, _, mass = derivatives(at, *speeds)
    free = np.eye(nv)
    if tree.loops:
        motions = freedom_at(tree, at, "modes")
        free = motions.basis * motions.units[:, None]
        holding = driven_speeds(tree, driven, "modes") if driven is not None or tree.drives else []
        forces = efforts_at(tree, holding, at, speeds[0], speeds[1], external, "modes")[1]
        turned = kernel_of(tree, "closure_derivatives")(at, *speeds, forces)[0]
        stiffness, mass = (np.swapaxes(free, -1, -2) @ table @ free for table in (stiffness - turned, mass))
    squares, shapes, *_ = _vibrations(np, stiffness, mass)
    return Modes(squares, free @ shapes)


def _vibrations(module: Any, stiffness: Any, mass: Any) -> tuple[Any, ...]:
    """Squares of the frequencies and shapes of K shape = square M shape; NaN where a number is not finite.

    And the symmetric matrix whose eigenvalues the squares are, its eigenvectors, and which squares (..., nv, nv) repeat,
    one with another.
    """
    known = module.isfinite(stiffness + mass).all(-1).all(-1)
    one = module.asarray(np.eye(mass.shape[-1]), dtype=mass.dtype)
    stiffness, mass = (module.where(known[..., None, None], matrix, one) for matrix in (stiffness, mass))
    solve, lower = module.linalg.solve, module.linalg.cholesky(mass)
    half = solve(lower, 0.5 * (stiffness + module.swapaxes(stiffness, -1, -2)))
    whole = solve(lower, module.swapaxes(half, -1, -2))
    whole = 0.5 * (whole + module.swapaxes(whole, -1, -2))
    squares, turn = module.linalg.eigh(whole)
    squares = module.where(known[..., None], squares, np.nan)
    gaps = module.abs(squares[..., :, None] - squares[..., None, :])
    repeated = gaps <= _rounding(module, squares)[..., None]
    repeated = repeated & (repeated.sum(-1) > 1)[..., None]
    shapes = module.where(known[..., None, None], solve(module.swapaxes(lower, -1, -2), turn), np.nan)
    return squares, shapes, whole, turn, repeated


def _rounding(module: Any, squares: Any) -> Any:
    """Below which squares (..., 1) are zero; of no squares, none."""
    if squares.shape[-1] == 0:
        return squares
    return max(NEUTRAL, 64.0 * module.finfo(squares.dtype).eps) * module.amax(module.abs(squares), axis=-1, keepdims=True)


def _motion_cross(v: FloatArray) -> FloatArray:
    """The matrix (..., 6, 6) of the cross product of motions with v (..., 6)."""
    linear, angular = (-np.cross(part[..., None, :], np.eye(3)) for part in (v[..., :3], v[..., 3:]))
    upper = np.concatenate([angular, linear], axis=-1)
    return np.concatenate([upper, np.concatenate([np.zeros_like(angular), angular], axis=-1)], axis=-2)
