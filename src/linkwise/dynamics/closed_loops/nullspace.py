"""Null space of closed loops at a position, in units that make lengths and angles comparable; and driven coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.kkt import IndependentRows, independent_closure
from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.loops.loop_solver import closing
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import first_index, listed, vectors

#: Relative threshold of zero singular values.
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
        """Independent rows (..., r, nv) of the Jacobian."""
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
    library = arrays.of(name, [q])
    if library is not None:
        raise ArgumentError(
            f"{name}: q is an array of {library.name}; expected an array of NumPy: loops are closed in no other"
        )
    at = vectors(f"{name}: q", q, mechanism.nq)
    closing(mechanism).require_closed(at, f"{name}: ")
    free, least = _freedom(mechanism, at)
    if not np.all(least > SINGULAR):
        raise ArgumentError(
            f"{name}: loops of {mechanism.name!r} are at a singular position at q{first_index(~(least > SINGULAR))}: closure"
            " equations that are independent elsewhere repeat each other, so their forces are not determined"
        )
    return free


def free_motions(mechanism: Tree, q: npt.ArrayLike) -> FloatArray:
    """Basis (..., nv, m) of the velocities that loops allow at q (..., nq), also near closed positions."""
    if not mechanism.loops:
        return np.eye(mechanism.nv)
    free, _ = _freedom(mechanism, q)
    return np.asarray(free.basis * free.units[:, None])


def allowed_motions(mechanism: Tree, q: npt.ArrayLike, name: str) -> FloatArray:
    """Orthonormal basis (..., nv, m), rad/s and m/s, of the velocities that the loops allow; see `freedom_at`."""
    free = freedom_at(mechanism, q, name)
    return np.asarray(np.linalg.qr(free.basis * free.units[:, None])[0])


def _freedom(mechanism: Tree, q: npt.ArrayLike) -> tuple[LoopFreedom, FloatArray]:
    """Motions that loops allow at q (..., nq), and the ratio (...,) of the least to the greatest singular value."""
    known = independent_closure(mechanism)
    units = speed_units(mechanism, closing(mechanism).size)
    jac = kernel_of(mechanism, "closure_jacobian")(q) / known.sizes[:, None] * units
    _, values, directions = np.linalg.svd(jac[..., list(known.rows), :])
    rank = known.rank
    least = values[..., rank - 1] / values[..., 0] if rank else np.ones(jac.shape[:-2])
    return LoopFreedom(known, units, jac, np.swapaxes(directions[..., rank:, :], -1, -2)), least


@dataclass(frozen=True)
class DrivenMotions:
    """Map from the driven velocities, as many as degrees of freedom, to all velocities.

    Attributes
    ----------
    freedom : LoopFreedom
        The motions that the loops allow.
    at : list of int
        Indices of the driven velocities.
    map : ndarray (..., nv, m)
        G, with qd = G u of the driven velocities u (R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 8.11).
    """

    freedom: LoopFreedom
    at: list[int]
    map: FloatArray

    def passive(self, gap: FloatArray) -> FloatArray:
        """Velocities (..., nv, k) with the driven ones zero, for which J qd = gap (..., K, k)."""
        chosen = list(self.freedom.closing.rows)
        scaled = gap[..., chosen, :] / self.freedom.closing.sizes[chosen, None]
        moved = np.linalg.pinv(self.freedom.rows, rcond=SINGULAR) @ scaled * self.freedom.units[:, None]
        return np.asarray(moved - self.map @ moved[..., self.at, :])


def driven_motions(
    mechanism: Tree, q: npt.ArrayLike, driven: Sequence[int | str] | int | str | None, name: str
) -> DrivenMotions:
    """Map from the driven coordinates to all coordinates through the loops at q (..., nq).

    Raises
    ------
    ArgumentError
        See `freedom_at` and `driven_speeds`; where there are not as many as degrees of freedom, or they cannot drive.
    """
    at = driven_speeds(mechanism, driven, name)
    free = freedom_at(mechanism, q, name)
    count = free.basis.shape[-1]
    if len(at) != count:
        raise ArgumentError(
            f"{name}: {len(at)} coordinates of {mechanism.name!r} are driven; expected as many as there are degrees of"
            f" freedom, {count}: driven=[...] names them"
        )
    drives = free.basis[..., at, :]
    stuck = ~(np.linalg.svd(drives, compute_uv=False)[..., -1] > SINGULAR)
    if stuck.any():
        names = ", ".join(repr(mechanism.velocity_names[k]) for k in at)
        raise ArgumentError(
            f"{name}: {names} cannot drive {mechanism.name!r} at q{first_index(stuck)}: it moves while they rest"
        )
    led = np.swapaxes(np.linalg.solve(np.swapaxes(drives, -1, -2), np.swapaxes(free.basis, -1, -2)), -1, -2)
    return DrivenMotions(free, at, led * free.units[:, None] / free.units[at])


def cut_open(mechanism: Tree) -> Tree:
    """The tree without its loops; the same every time."""
    return (
        mechanism.memo("closed_inverse_dynamics", "cut open", lambda: mechanism.replace(loops=()))
        if mechanism.loops
        else mechanism
    )


def speed_units(tree: Tree, size: float) -> FloatArray:
    """Unit of length, or 1 rad, of every velocity (nv,)."""
    return np.array([size if unit == "m/s" else 1.0 for _, unit in tree.columns("qd")])


def driven_speeds(mechanism: Tree, driven: Sequence[int | str] | int | str | None, name: str) -> list[int]:
    """Indices of the driven velocities: those that are named, or whose joints have motors.

    Raises
    ------
    ArgumentError
        For a coordinate that there is not, or that is named twice; or where none is named and there are no motors.
    """
    require_tree(mechanism, f"{name}: mechanism")
    if driven is None:
        results = sorted({mechanism.nv - mechanism.n + drive.coordinate for drive in mechanism.drives})
        if not results:
            raise ArgumentError(
                f"{name}: driven is missing, and {mechanism.name!r} has no motors; expected driven=[...]"
                f" with some of {members(mechanism.velocity_names)}"
            )
        return results
    expected = "one coordinate or more, each once, by name or index"
    names = [driven] if isinstance(driven, (str, int, np.integer)) else listed(f"{name}: driven", driven, expected)
    results = [_speed(mechanism, name_or_index, name) for name_or_index in names]
    if not results or len(set(results)) < len(results):
        raise ArgumentError(f"{name}: driven is {shown(driven)}; expected {expected}")
    return results


def refuse_driven(mechanism: Tree, driven: object, name: str) -> None:
    """Raise `ArgumentError` where coordinates are named as driven although no loop lets others follow them."""
    if driven is not None and not mechanism.loops:
        raise ArgumentError(f"{name}: driven is {shown(driven)}, but {mechanism.name!r} has no loops: expected no driven=")


def _speed(mechanism: Tree, joint: object, name: str) -> int:
    if isinstance(joint, str) and joint in mechanism.velocity_names:
        return mechanism.velocity_names.index(joint)
    whole = isinstance(joint, (int, np.integer)) and not isinstance(joint, bool)
    if whole and -mechanism.nv <= int(joint) < mechanism.nv:  # type: ignore[call-overload]
        return int(joint) % mechanism.nv  # type: ignore[call-overload, no-any-return]
    raise ArgumentError(
        f"{name}: driven has {joint!r}; expected {choices(mechanism.velocity_names)}, or indices 0 to {mechanism.nv - 1}"
    )


def reduced_mass_matrix(
    mechanism: Tree, q: npt.ArrayLike, driven: Sequence[int | str] | int | str | None = None
) -> FloatArray:
    """Mass matrix (..., m, m) in the driven coordinates: with u their velocities, the kinetic energy is u' M u / 2.

    It is G' M G, with qd = G u for the driven velocities u (R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008,
    section 8.11). Of a linkage with one degree of freedom it is the equivalent moment of inertia, or mass.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    q : (..., nq) array_like
        Coordinates with loops closed, rad or m.
    driven : sequence of int or str, optional
        As many coordinates as there are degrees of freedom, by name or by the index of their speed; by default those with
        motors.

    Raises
    ------
    ArgumentError
        Where q does not close the loops, where the loops are singular, or where these coordinates cannot drive.

    Examples
    --------
    >>> from linkwise import robots
    >>> mech = robots.slider_crank()
    >>> reduced_mass_matrix(mech, mech.neutral, driven=[0]).shape
    (1, 1)
    """
    led = driven_motions(mechanism, q, driven, "reduced_mass_matrix").map
    result = np.swapaxes(led, -1, -2) @ kernel_of(mechanism, "mass_matrix")(q) @ led
    return np.asarray(0.5 * (result + np.swapaxes(result, -1, -2)))
