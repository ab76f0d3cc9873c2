"""Linearisation of the motion about a state, equilibria, and the modes of vibration about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of, refuse_loops
from linkwise.dynamics.closed_loops.inverse_dynamics import check_motion, closed_inverse_dynamics, efforts_at
from linkwise.dynamics.closed_loops.nullspace import cut_open, driven_motions, driven_speeds, freedom_at, refuse_driven
from linkwise.dynamics.external import External, loaded_kernel
from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.solve.validation import positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import vectors

#: Greatest number of steps of a search for an equilibrium.
STEPS = 200

#: Share of the greatest eigenvalue below which one counts as zero: what rounding leaves of it.
NEUTRAL = 1e-12

#: No joint moves further in one of them, rad or m.
LONGEST = 0.5


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
        What moves.
    q : (..., nq) array_like
        Configuration.
    qd : (..., nv) array_like, optional
        Velocities; at rest by default.
    tau : (..., nv) array_like, optional
        Efforts; those that take no acceleration by default, with loops none of the driven coordinates.
    external : (..., 6) array_like, Wrench or mapping, optional
        As for `Mechanism.inverse_dynamics`; held.
    driven : sequence of int or str, optional
        With loops, as many coordinates as there are degrees of freedom, by name or by the index of their speed; by default
        those with motors.

    Raises
    ------
    ArgumentError
        For arrays of other shapes; with loops, where the state opens them, where they are singular, or where these
        coordinates cannot drive.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Link, Mechanism
    >>> pendulum = Mechanism([Link(axis=(0, 1, 0), mass=1.0, com=(0, 0, -1.0))])
    >>> linearize(pendulum, [0.0]).A.round(3).tolist()
    [[0.0, 1.0], [-9.81, 0.0]]
    """
    refuse_driven(tree, driven, "linearize")
    at = vectors("linearize: q", q, tree.nq)
    motions = driven_motions(tree, at, driven, "linearize") if tree.loops else None
    moving = np.zeros((*at.shape[:-1], tree.nv)) if qd is None else vectors("linearize: qd", qd, tree.nv)
    if motions is not None:
        check_motion(tree, motions.freedom, at, "linearize", qd=moving)
    if tau is None and motions is not None:
        resting = motions.passive(-kernel_of(tree, "closure_bias")(at, moving)[..., None])[..., 0]
        effort, _ = closed_inverse_dynamics(tree, at, moving, resting, motions.at, external, name="linearize")
    elif tau is None:
        effort = loaded_kernel(tree, "inverse_dynamics", external)(at, moving, np.zeros_like(moving))
    else:
        effort = vectors("linearize: tau", tau, tree.nv)
    by_q, by_qd, by_tau = loaded_kernel(tree, "forward_dynamics", external, "_derivatives")(at, moving, effort)
    qdd = loaded_kernel(tree, "forward_dynamics", external)(at, moving, effort)
    batch = by_q.shape[:-2]
    turning = np.zeros(by_q.shape)
    velocities = np.broadcast_to(moving, (*batch, tree.nv))
    for joint in tree.manifold_joints:
        twist = np.zeros((*batch, 6))
        twist[..., 6 - joint.joint.nv :] = velocities[..., joint.v]
        turning[..., joint.v, joint.v] = -_motion_cross(twist)[..., 6 - joint.joint.nv :, 6 - joint.joint.nv :]
    if motions is not None:
        led = motions.map
        rates = kernel_of(tree, "closure_derivatives")(
            at, moving, 0.0 * moving, np.zeros(len(motions.freedom.closing.sizes))
        )[1]
        by_q, by_qd = by_q @ led + by_qd @ motions.passive(-rates @ led), by_qd @ led
        by_q, by_qd, by_tau, turning = (table[..., motions.at, :] for table in (by_q, by_qd, by_tau, turning @ led))
    unit = np.broadcast_to(np.eye(by_q.shape[-1]), by_q.shape)
    A = np.concatenate([np.concatenate([turning, unit], axis=-1), np.concatenate([by_q, by_qd], axis=-1)], axis=-2)
    return Linearization(A, np.concatenate([np.zeros(by_tau.shape), by_tau], axis=-2), effort, qdd)


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
        The greatest effort that is left, by the greatest that gravity takes.
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


def static_equilibrium(
    tree: Tree, q0: npt.ArrayLike, tau: npt.ArrayLike = 0.0, external: External | None = None, tol: float = 1e-12
) -> StaticEquilibrium:
    """Return an equilibrium near q0: a configuration that the efforts hold at rest against gravity and wrenches.

    Levenberg-Marquardt steps on the efforts that are missing (K. Levenberg, 1944; D. Marquardt, 1963), with exact
    derivatives: an unstable equilibrium may be the nearest. Friction at rest is left out.

    Parameters
    ----------
    tree : Mechanism
        On a fixed base, without closed loops.
    q0 : (..., nq) array_like
        Where the search begins.
    tau : (..., nv) array_like
        Constant efforts of the motors; none by default.
    external : (..., 6) array_like, Wrench or mapping, optional
        As for `Mechanism.inverse_dynamics`; held.
    tol : float
        Greatest `residual` of a success.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> rest = static_equilibrium(arm, [-1.0, 0.4])
    >>> rest.q.round(6).tolist(), bool(rest.success), bool(rest.stable)
    ([-1.570796, 0.0], True, True)
    """
    if tree.loops:
        refuse_loops(tree, "static_equilibrium")
    at = vectors("static_equilibrium: q0", q0, tree.nq)
    if tree.floating:
        raise ArgumentError(f"static_equilibrium: {tree.name!r} floats; lock({{}}, base=T) holds its base")
    if free := [joint.name for joint in tree.manifold_joints if not joint.joint.is_rotation]:
        raise ArgumentError(f"static_equilibrium: {free[0]!r} of {tree.name!r} floats; lock({{{free[0]!r}: pose}}) holds it")
    tolerance = positive("static_equilibrium: tol", tol)
    held = vectors("static_equilibrium: tau", tau if np.ndim(tau) else np.full(tree.nv, tau), tree.nv)
    q = np.array(np.broadcast_to(at, (*np.broadcast_shapes(at.shape[:-1], held.shape[:-1]), tree.nq)))
    slopes, still = loaded_kernel(tree, "inverse_dynamics", external, "_derivatives"), np.zeros(tree.nv)
    efforts = loaded_kernel(tree, "inverse_dynamics", external)
    missing = efforts(q, still, still) - held
    damping = np.full((*q.shape[:-1], 1), 1e-3)
    scale = np.maximum(np.abs(missing).max(axis=-1), np.abs(held).max(axis=-1, initial=0.0))
    for _ in range(STEPS):
        scale = np.maximum(scale, np.abs(missing + held).max(axis=-1))
        if np.all(np.abs(missing).max(axis=-1) <= tolerance * scale):
            break
        stiffness = slopes(q, still, still)[0]
        normal = np.swapaxes(stiffness, -1, -2) @ stiffness
        size = np.trace(normal, axis1=-2, axis2=-1)[..., None, None] / tree.nv + np.finfo(float).tiny
        slope = np.swapaxes(stiffness, -1, -2) @ missing[..., None]
        step = -np.linalg.solve(normal + damping[..., None] * size * np.eye(tree.nv), slope)[..., 0]
        step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=-1, keepdims=True), LONGEST))
        trial = np.asarray(kernel_of(tree, "integrate")(q, step, 1.0)) if tree.manifold_joints else q + step
        left = efforts(trial, still, still) - held
        better = np.linalg.norm(left, axis=-1, keepdims=True) < np.linalg.norm(missing, axis=-1, keepdims=True)
        q, missing = np.where(better, trial, q), np.where(better, left, missing)
        damping = np.where(better, np.maximum(0.1 * damping, 1e-14), np.minimum(10.0 * damping, 1e6))
    residual = np.abs(missing).max(axis=-1) / np.where(scale > 0, scale, 1.0)
    stiffness = slopes(q, still, still)[0]
    values = np.linalg.eigvalsh(0.5 * (stiffness + np.swapaxes(stiffness, -1, -2)))
    rounding = NEUTRAL * np.abs(values).max(axis=-1)
    neutral = np.any(np.abs(values) <= rounding[..., None], axis=-1)
    return StaticEquilibrium(q, residual <= tolerance, residual, values[..., 0] > rounding, neutral)


@dataclass(frozen=True)
class Modes:
    """Small undamped vibrations about a configuration.

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
        rounding = NEUTRAL * np.abs(self.squares).max(axis=-1, keepdims=True)
        squares = np.where(np.abs(self.squares) <= rounding, 0.0, self.squares)
        return np.sqrt(np.where(squares >= 0.0, squares, np.nan))


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
    external : (..., 6) array_like, Wrench or mapping, optional
        As for `Mechanism.inverse_dynamics`; held.
    driven : sequence of int or str, optional
        With loops, the coordinates whose constant efforts hold the configuration; by default those with motors.

    Raises
    ------
    ArgumentError
        With loops, where they are open or singular, or the driven coordinates do not hold the configuration.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> pendulum = Mechanism([Link(axis=(0, 1, 0), mass=1.0, com=(0, 0, -1.0))])
    >>> modes(pendulum, [0.0]).squares.round(3).tolist()
    [9.81]
    """
    refuse_driven(tree, driven, "modes")
    at, still = vectors("modes: q", q, tree.nq), np.zeros(tree.nv)
    derivatives = loaded_kernel(cut_open(tree), "inverse_dynamics", external, "_derivatives")
    stiffness, _, mass = derivatives(at, still, still)
    free = np.eye(tree.nv)
    if tree.loops:
        motions = freedom_at(tree, at, "modes")
        free = motions.basis * motions.units[:, None]
        holding = driven_speeds(tree, driven, "modes") if driven is not None or tree.drives else []
        forces = efforts_at(tree, holding, at, still, still, external, "modes")[1]
        turned = kernel_of(tree, "closure_derivatives")(at, still, still, forces)[0]
        stiffness, mass = (np.swapaxes(free, -1, -2) @ table @ free for table in (stiffness - turned, mass))
    lower = np.linalg.cholesky(mass)
    half = np.linalg.solve(lower, 0.5 * (stiffness + np.swapaxes(stiffness, -1, -2)))
    whole = np.linalg.solve(lower, np.swapaxes(half, -1, -2))
    squares, shapes = np.linalg.eigh(0.5 * (whole + np.swapaxes(whole, -1, -2)))
    return Modes(squares, free @ np.linalg.solve(np.swapaxes(lower, -1, -2), shapes))


def _motion_cross(v: FloatArray) -> FloatArray:
    """The matrix (..., 6, 6) of the cross product of motions with v (..., 6)."""
    linear, angular = (-np.cross(part[..., None, :], np.eye(3)) for part in (v[..., :3], v[..., 3:]))
    upper = np.concatenate([angular, linear], axis=-1)
    return np.concatenate([upper, np.concatenate([np.zeros_like(angular), angular], axis=-1)], axis=-2)
