"""What closed loops leave free at a position, in units in which lengths and angles compare; and which coordinates drive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.kkt import IndependentRows, independent_closure
from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.loops.loop_solver import NEARLY, closing
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import vectors

#: A singular value below this share of the greatest one counts as zero.
SINGULAR = 1e-8


@dataclass(frozen=True)
class LoopFreedom:
    """The motions that closed loops allow at positions (...,).

    Attributes
    ----------
    closing : IndependentRows
        The closure equations to go by.
    units : ndarray (nv,)
        What speeds are divided by: the longest offset where they are lengths, 1 where they are angles.
    jacobian : ndarray (..., K, nv)
        The closure Jacobian, rows and columns without units.
    basis : ndarray (..., nv, m)
        Speeds without units that the loops allow, orthonormal.
    """

    closing: IndependentRows
    units: FloatArray
    jacobian: FloatArray
    basis: FloatArray

    @property
    def rows(self) -> FloatArray:
        """The rows (..., r, nv) of the Jacobian to go by."""
        return self.jacobian[..., list(self.closing.rows), :]


def freedom_at(mechanism: Tree, q: npt.ArrayLike, name: str) -> LoopFreedom:
    """The motions that closed loops allow at q (..., nq).

    Raises
    ------
    ArgumentError
        Where there are no loops, where they are open at q, or where they are singular there.
    """
    if not mechanism.loops:
        raise ArgumentError(f"{mechanism.name!r} has no loops; {name} is for mechanisms with them")
    at = vectors(f"{name}: q", q, mechanism.nq)
    task, known = closing(mechanism), independent_closure(mechanism)
    error = np.asarray(task.error(at))
    if not np.all(error <= NEARLY):
        wrong = ~(error <= NEARLY)
        raise ArgumentError(
            f"{name}: loops of {mechanism.name!r} are open at q{first(wrong)} by {error[wrong][0]:.3g}, in longest offsets"
            f" ({task.size:g} m) and rad; expected at most {NEARLY:g}"
        )
    units = speed_units(mechanism, task.size)
    jac = kernel_of(mechanism, "closure_jacobian")(at) / known.sizes[:, None] * units
    _, values, directions = np.linalg.svd(jac[..., list(known.rows), :])
    rank = known.rank
    least = values[..., rank - 1] / values[..., 0] if rank else np.ones(at.shape[:-1])
    if not np.all(least > SINGULAR):
        raise ArgumentError(
            f"{name}: loops of {mechanism.name!r} are at a singular position at q{first(~(least > SINGULAR))}: closure"
            " equations that are independent elsewhere repeat each other, so their forces are not determined"
        )
    return LoopFreedom(known, units, jac, np.swapaxes(directions[..., rank:, :], -1, -2))


def speed_units(tree: Tree, size: float) -> FloatArray:
    """For every speed (nv,), the length, or 1 rad, that it is counted in per second."""
    return np.array([size if unit == "m/s" else 1.0 for _, unit in tree.columns("qd")])


def driven_speeds(mechanism: Tree, driven: Sequence[int | str] | int | str | None, name: str) -> list[int]:
    """Indices of the speeds that are driven: those that are named, or whose joints have motors.

    Raises
    ------
    ArgumentError
        For a coordinate that there is not, or that is named twice; or where none is named and there are no motors.
    """
    if driven is None:
        results = sorted({mechanism.nv - mechanism.n + drive.coordinate for drive in mechanism.drives})
        if not results:
            raise ArgumentError(
                f"{name}: driven is missing, and {mechanism.name!r} has no motors; expected driven=[...]"
                f" with some of {members(mechanism.speed_names)}"
            )
        return results
    names = [driven] if isinstance(driven, (str, int, np.integer)) else list(driven)
    results = [_speed(mechanism, name_or_index, name) for name_or_index in names]
    if not results or len(set(results)) < len(results):
        raise ArgumentError(f"{name}: driven is {shown(driven)}; expected one coordinate or more, each once")
    return results


def _speed(mechanism: Tree, joint: object, name: str) -> int:
    if isinstance(joint, str) and joint in mechanism.speed_names:
        return mechanism.speed_names.index(joint)
    whole = isinstance(joint, (int, np.integer)) and not isinstance(joint, bool)
    if whole and -mechanism.nv <= int(joint) < mechanism.nv:  # type: ignore[call-overload]
        return int(joint) % mechanism.nv  # type: ignore[call-overload, no-any-return]
    raise ArgumentError(
        f"{name}: driven has {joint!r}; expected {choices(mechanism.speed_names)}, or indices 0 to {mechanism.nv - 1}"
    )


def first(wrong: npt.ArrayLike) -> str:
    """The index of the first that is true, for a message; nothing where there is only one."""
    table = np.asarray(wrong)
    return str([int(k) for k in np.argwhere(table)[0]]) if table.ndim else ""
