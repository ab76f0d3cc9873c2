"""Algorithms that NumPy puts together of those that loop over the bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np

from linkwise import algorithm
from linkwise.algorithm import Algorithm
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.inverse_dynamics import AT_REST
from linkwise.expr.derivative import rates
from linkwise.kernel import Kernel, trace
from linkwise.kernel.backend import CompiledKernel, Lazy
from linkwise.kernel.backends.numpy import python_gufunc
from linkwise.kinematics.analytic_jacobian import RATES, refuse_orientation
from linkwise.kinematics.configuration import random_configuration
from linkwise.looped.kernel import LoopedKernel, is_large, looped_kernel, solved
from linkwise.model.potential import ConstantForce
from linkwise.model.tree import Tree
from linkwise.spatial.linear import product
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import choice

#: The kernels of a composition by their names.
Parts: TypeAlias = Mapping[str, Callable[..., FloatArray]]


@dataclass(frozen=True)
class Composition:
    """Composition of an algorithm from others.

    Attributes
    ----------
    parts : tuple of str
        The algorithms that it takes; they get those of its options that they have.
    function : callable
        ``function(parts, *arrays)`` over batches; options that no part has, and `facts`, are keywords.
    on : mapping of str to callable
        For parts of another mechanism, what makes it of the one in question.
    facts : tuple of str
        Attributes of the mechanism that the function is given.
    fixed : mapping of str to object
        Options of the parts beside.
    """

    parts: tuple[str, ...]
    function: Callable[..., Any]
    on: Mapping[str, Callable[[Tree], Tree]]
    facts: tuple[str, ...]
    fixed: Mapping[str, Any]


#: Configurations at which a frame's orientation is tested.
SAMPLES = 3

#: By the names of the algorithms.
COMPOSITIONS: dict[str, Composition] = {}


def composed(
    *parts: str, on: Mapping[str, Callable[[Tree], Tree]] | None = None, facts: tuple[str, ...] = (), **fixed: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the composition of the algorithm with the function's name; see `Composition`."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        COMPOSITIONS[function.__name__] = Composition(parts, function, on or {}, facts, fixed)
        return function

    return declare


def _on_floating_base(tree: Tree) -> Tree:
    """The mechanism with a floating base, without springs on joints and between links."""
    return tree.replace(floating=True, loops=(), springs=[x for x in tree.springs if isinstance(x, ConstantForce)])


def _weightless(tree: Tree) -> Tree:
    return tree.replace(gravity=np.zeros(3))


def _bare(tree: Tree) -> Tree:
    return tree.without_friction().replace(gravity=np.zeros(3), springs=())


def _slopes(parts: Parts, q: FloatArray) -> FloatArray:
    """The rates (..., j, 6, i) of the Jacobian by small motions of each joint j."""
    return parts["jacobian_dot"](q[..., None, :], _units(parts, q))


def _units(parts: Parts, q: FloatArray) -> FloatArray:
    """Unit velocities (nv, nv)."""
    return np.eye(parts["jacobian"](q[:1]).shape[-1], dtype=q.dtype)


@composed("jacobian")
def frame_velocity(parts: Parts, q: FloatArray, qd: FloatArray) -> FloatArray:
    """J qd."""
    return product(parts["jacobian"](q), qd)


@composed("jacobian", "jacobian_dot")
def frame_acceleration(parts: Parts, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    """J qdd + Jd qd."""
    return product(parts["jacobian"](q), qdd) + product(parts["jacobian_dot"](q, qd), qd)


@composed("jacobian", "jacobian_dot")
def kinematic_hessian(parts: Parts, q: FloatArray) -> FloatArray:
    """The rates of the Jacobian along each joint."""
    return np.moveaxis(_slopes(parts, q), -3, -1)


@composed("jacobian", "jacobian_dot")
def kinematic_hessian_product(parts: Parts, q: FloatArray, weights: FloatArray) -> FloatArray:
    """Their combination with weights."""
    return product(np.moveaxis(_slopes(parts, q), (-3, -2), (-2, -1)), weights[..., None, :])


@composed("jacobian", "mass_matrix")
def inverse_operational_space_inertia(parts: Parts, q: FloatArray) -> FloatArray:
    """J inverse(M) J'."""
    jac = parts["jacobian"](q)
    half = jac @ solved(parts["mass_matrix"](q), np.swapaxes(jac, -1, -2))
    return np.asarray(0.5 * (half + np.swapaxes(half, -1, -2)))


@composed("jacobian", "momentum", about="com")
def centroidal_momentum_matrix(parts: Parts, q: FloatArray) -> FloatArray:
    """Momenta at unit velocities."""
    return np.swapaxes(parts["momentum"](q[..., None, :], _units(parts, q)), -1, -2)


@composed("centroidal_momentum_derivatives")
def centroidal_momentum_matrix_dot(parts: Parts, q: FloatArray, qd: FloatArray) -> FloatArray:
    """A_dot: the derivative of A_dot qd by qd, less that of A qd by q."""
    by_q, _, by_qd, _ = parts["centroidal_momentum_derivatives"](q, qd, np.zeros_like(qd))
    return np.asarray(by_qd - by_q)


@composed("inverse_dynamics", on={"inverse_dynamics": _on_floating_base}, facts=("floating",))
def base_wrench(parts: Parts, q: FloatArray, qd: FloatArray, qdd: FloatArray, *, floating: bool) -> FloatArray:
    """First six efforts of the mechanism with a base that floats."""
    if not floating:
        q, qd, qdd = (
            np.concatenate([np.broadcast_to(still.astype(x.dtype), (*x.shape[:-1], still.size)), x], axis=-1)
            for still, x in ((AT_REST, q), (np.zeros(6), qd), (np.zeros(6), qdd))
        )
    return parts["inverse_dynamics"](q, qd, qdd)[..., :6]


@composed("regressor", facts=("nv",))
def gravity_regressor(parts: Parts, q: FloatArray, *, nv: int) -> FloatArray:
    """Regressor at rest."""
    still = np.zeros(nv, dtype=q.dtype)
    return parts["regressor"](q, still, still)


@composed("regressor", on={"regressor": _weightless})
def momentum_regressor(parts: Parts, q: FloatArray, qd: FloatArray) -> FloatArray:
    """Regressor without gravity and velocities, for accelerations qd."""
    return parts["regressor"](q, np.zeros_like(qd), qd)


@composed("inverse_dynamics", "gravity_torque", "spring_torque", on={"inverse_dynamics": _bare})
def path_dynamics(parts: Parts, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> tuple[FloatArray, ...]:
    """Efforts of bodies alone, of accelerations dq and of motions dq, ddq; efforts at rest."""
    still, efforts = np.zeros_like(dq), parts["inverse_dynamics"]
    return efforts(q, still, dq), efforts(q, dq, ddq), parts["gravity_torque"](q) + parts["spring_torque"](q, still)


@composed("inverse_dynamics")
def path_effort_shares(parts: Parts, q: FloatArray, *path: FloatArray) -> FloatArray:
    """Efforts over their limits."""
    dq, ddq, acceleration, speed, limit = path
    rate, rise = speed[..., None], acceleration[..., None]
    return parts["inverse_dynamics"](q, dq * rate, dq * rise + ddq * (rate * rate)) / limit


@composed("forward_kinematics", "jacobian")
def analytic_jacobian(parts: Parts, q: FloatArray, *, orientation: str = "rpy") -> FloatArray:
    """The angular rows as rates of the orientation's coordinates."""
    jac = parts["jacobian"](q)
    turning = _turning(orientation)(parts["forward_kinematics"](q)[..., :3, :3], np.zeros(3, q.dtype))[0]
    return np.concatenate([jac[..., :3, :], turning @ jac[..., 3:, :]], axis=-2)


@composed("forward_kinematics", "jacobian", "jacobian_dot")
def analytic_jacobian_dot(parts: Parts, q: FloatArray, qd: FloatArray, *, orientation: str = "rpy") -> FloatArray:
    """Their rates."""
    jac, rate = parts["jacobian"](q), parts["jacobian_dot"](q, qd)
    omega = product(jac[..., 3:, :], qd)
    turning, turning_rate = _turning(orientation)(parts["forward_kinematics"](q)[..., :3, :3], omega)
    angular = turning @ rate[..., 3:, :] + turning_rate @ jac[..., 3:, :]
    return np.concatenate([rate[..., :3, :], angular], axis=-2)


@cache
def _turning(orientation: str) -> Kernel:
    """Kernel of the derivatives of an orientation's coordinates by the angular velocity, and of their rates."""

    def turning(rotation: Array, omega: Array) -> tuple[Array, Array]:
        values = np.asarray(RATES[orientation](rotation), dtype=object)
        moving = np.stack([cross(omega, column) for column in rotation.T], axis=1)
        slopes = rates(list(values.flat), dict(zip(rotation.flat, moving.flat, strict=True)))
        return values, np.reshape(slopes, values.shape)

    return Kernel(trace(turning, f"turning_{orientation}", {"R": (3, 3), "omega": (3,)}))


def _check_orientation(tree: Tree, orientation: str, poses: Kernel) -> None:
    """Raise `ArgumentError` where there are no such coordinates, or a frame has them in no configuration."""
    turning = RATES[choice("orientation", orientation, RATES)]
    samples = poses(random_configuration(tree, count=SAMPLES))[..., :3, :3]
    with np.errstate(invalid="ignore"):
        known = any(np.isfinite(np.asarray(turning(rotation), dtype=float)).all() for rotation in samples)
    if not known:
        refuse_orientation(orientation)


class ComposedKernel(LoopedKernel):
    """A kernel that puts others together, which loop over the bodies of a mechanism; it is called as any other.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    declared : Algorithm
        What to compute.
    options : mapping of str to object
        The options of the algorithm that are not what they are by default.
    parts : mapping of str to Kernel
        What it is put together of.
    """

    def __init__(
        self, tree: Tree, declared: Algorithm, options: Mapping[str, Any], parts: Mapping[str, Kernel]
    ) -> None:  # fmt: skip
        self._declare(tree, declared, options, sum(part.tape.length for part in parts.values()))
        known = {name for part in parts for name in algorithm.find(part).options}
        keywords = {name: value for name, value in options.items() if name not in known}
        keywords |= {name: getattr(tree, name) for name in COMPOSITIONS[declared.name].facts}

        def make() -> Any:
            ufuncs = {name: part.ufunc for name, part in parts.items()}  # (which do not lead back to the mechanism)
            computed = partial(COMPOSITIONS[declared.name].function, ufuncs, **keywords)
            return python_gufunc(self.tape, computed, self.doc)

        self._compiled = Lazy(lambda: CompiledKernel(Lazy(make)))


def composed_kernel(tree: Tree, declared: Algorithm, options: Mapping[str, Any], tier: str | None) -> Kernel | None:
    """Kernel of a composed algorithm; None for few bodies, and if one of its parts is straight-line code.

    Raises
    ------
    ArgumentError
        Where a loop is asked for that there cannot be: why.
    """
    if tier != "looped" and not is_large(tree, declared.name):
        return None
    parts, composition = {}, COMPOSITIONS[declared.name]
    for name in composition.parts:
        part = algorithm.find(name)
        known = {key: value for key, value in options.items() if key in part.options}
        fixed = {key: value for key, value in composition.fixed.items() if key in part.options}
        change = composition.on.get(name)
        kernel = looped_kernel(change(tree) if change else tree, part, known | fixed, tier)
        if kernel is None:
            return None
        parts[name] = kernel
    if "mass_matrix" in parts:
        check_inertia(tree)
    if "orientation" in declared.options:
        _check_orientation(tree, options.get("orientation", declared.options["orientation"]), parts["forward_kinematics"])
    return ComposedKernel(tree, declared, options, parts)
