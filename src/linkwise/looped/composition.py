"""Algorithms that NumPy puts together of those that loop over the bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from linkwise import algorithm
from linkwise.algorithm import Algorithm
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.kernel import Kernel
from linkwise.kernel.backend import CompiledKernel, Lazy
from linkwise.kernel.kernel import check_arguments, check_count
from linkwise.looped.kernel import LoopedKernel, delivered, looped_kernel
from linkwise.model.tree import Tree
from linkwise.spatial.linear import product
from linkwise.spatial.scalar import FloatArray

#: The kernels of a composition by their names.
Parts: TypeAlias = Mapping[str, Callable[..., FloatArray]]


@dataclass(frozen=True)
class Composition:
    """How an algorithm is put together.

    Attributes
    ----------
    parts : tuple of str
        The algorithms that it takes; they get those of its options that they have.
    function : callable
        ``function(parts, *arrays)`` over batches.
    """

    parts: tuple[str, ...]
    function: Callable[..., Any]


#: By the names of the algorithms.
COMPOSITIONS: dict[str, Composition] = {}


def composed(*parts: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare that the algorithm of the function's name is put together of others."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        COMPOSITIONS[function.__name__] = Composition(parts, function)
        return function

    return declare


def _slopes(parts: Parts, q: FloatArray) -> FloatArray:
    """The rates (..., j, 6, i) of the Jacobian by small motions of each joint j."""
    rate = parts["jacobian_dot"]
    units = np.eye(rate.tape.inputs["qd"][0], dtype=q.dtype)  # type: ignore[attr-defined]  # (of a kernel)
    return rate(q[..., None, :], units)


@composed("jacobian")
def frame_velocity(parts: Parts, q: FloatArray, qd: FloatArray) -> FloatArray:
    """J qd."""
    return product(parts["jacobian"](q), qd)


@composed("jacobian", "jacobian_dot")
def frame_acceleration(parts: Parts, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    """J qdd + Jd qd."""
    return product(parts["jacobian"](q), qdd) + product(parts["jacobian_dot"](q, qd), qd)


@composed("jacobian", "jacobian_dot")
def frame_velocity_derivatives(parts: Parts, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The derivatives of J qd by q and by qd."""
    return np.swapaxes(product(_slopes(parts, q), qd[..., None, :]), -1, -2), parts["jacobian"](q)


@composed("jacobian_dot")
def kinematic_hessian(parts: Parts, q: FloatArray) -> FloatArray:
    """The rates of the Jacobian along each joint."""
    return np.moveaxis(_slopes(parts, q), -3, -1)


@composed("jacobian_dot")
def kinematic_hessian_product(parts: Parts, q: FloatArray, weights: FloatArray) -> FloatArray:
    """Their combination with weights."""
    return product(np.moveaxis(_slopes(parts, q), (-3, -2), (-2, -1)), weights[..., None, :])


@composed("jacobian", "mass_matrix")
def inverse_operational_space_inertia(parts: Parts, q: FloatArray) -> FloatArray:
    """J inverse(M) J'."""
    jac = parts["jacobian"](q)
    half = jac @ np.linalg.solve(parts["mass_matrix"](q), np.swapaxes(jac, -1, -2))
    return np.asarray(0.5 * (half + np.swapaxes(half, -1, -2)))


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
        self.parts = dict(parts)
        self._declare(tree, declared, options, sum(part.tape.length for part in parts.values()))
        self._compiled = Lazy(lambda: CompiledKernel(Lazy(lambda: self._compute)))

    def _compute(self, *args: Any, out: Any = None) -> Any:
        """Compute, as a gufunc does."""
        check_count(self.tape, args)
        check_arguments(self.tape, args)
        kind = np.result_type(np.float32, *args)
        results = COMPOSITIONS[self.name].function(self.parts, *(np.asarray(arg, kind) for arg in args))
        return delivered(results if isinstance(results, tuple) else (results,), out)


def composed_kernel(tree: Tree, declared: Algorithm, options: Mapping[str, Any], tier: str | None) -> Kernel | None:
    """The kernel of an algorithm that is put together; None where one of its parts is straight-line code.

    Raises
    ------
    ArgumentError
        Where a loop is asked for that there cannot be: why.
    """
    parts = {}
    for name in COMPOSITIONS[declared.name].parts:
        part = algorithm.find(name)
        kernel = looped_kernel(tree, part, {key: value for key, value in options.items() if key in part.options}, tier)
        if kernel is None:
            return None
        parts[name] = kernel
    if "mass_matrix" in parts:
        check_inertia(tree)
    return ComposedKernel(tree, declared, options, parts)
