"""Inverse dynamics with closed loops: efforts of the driven coordinates for a motion, and the forces of the loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.nullspace import SINGULAR, LoopFreedom, cut_open, driven_speeds, freedom_at
from linkwise.dynamics.external import External, loaded_kernel
from linkwise.errors import ArgumentError
from linkwise.loops.loop_solver import NEARLY, REST
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import first_index, vectors

#: Greatest unsupported part of the efforts of a motion, relative to all, if the driven coordinates support it.
LEFT = 1e-6

NAME = "closed_inverse_dynamics"


def closed_inverse_dynamics(
    mechanism: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    driven: Sequence[int | str] | int | str | None = None,
    external: External | None = None,
    *,
    name: str = NAME,
) -> tuple[FloatArray, FloatArray]:
    """Efforts of the driven coordinates that a motion takes with loops closed, and the forces that close them.

    Of all efforts n that the tree, cut open, would take, the loops' forces f supply J' f, and the driven coordinates the
    rest: S' u = n - J' f (R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 8.12). Along the motions N that
    the loops allow, J N = 0, the forces do no work, and N' S' u = N' n remains. Where more coordinates are driven than
    there are degrees of freedom, u has the least norm, a force of 1 N counted as a moment of 1 N at the longest offset.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    q : (..., nq) array_like
        Coordinates with loops closed, rad or m.
    qd, qdd : (..., nv) array_like
        Velocities and accelerations that keep them closed.
    driven : sequence of int or str, optional
        The coordinates that have an effort, by name or by the index of their speed; by default those with motors. The
        others have none beside their own friction.
    external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
        As for `Mechanism.inverse_dynamics`.
    name : str
        What messages call the function.

    Returns
    -------
    tau : ndarray (..., nv)
        Efforts, N m or N; zero where nothing is driven.
    forces : ndarray (..., K)
        As `constraint_forces` gives them for these efforts.

    Raises
    ------
    ArgumentError
        Where q, qd or qdd do not fit the loops, where the loops are singular, or where the motion takes efforts that the
        driven coordinates cannot supply, with what is left.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> mech, rest = robots.four_bar(), np.zeros(3)
    >>> tau, forces = closed_inverse_dynamics(mech, mech.neutral, rest, rest, driven="crank")
    >>> (tau[1:] == 0).all(), bool(np.abs(mech.forward_dynamics(mech.neutral, rest, tau)).max() < 1e-9)
    (np.True_, True)
    """
    return efforts_at(mechanism, driven_speeds(mechanism, driven, name), q, qd, qdd, external, name)


def efforts_at(
    mechanism: Tree,
    at: list[int],
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    external: External | None,
    name: str,
    acting: npt.ArrayLike = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Return `closed_inverse_dynamics` with the indices of the driven velocities; none is driven where there are none.

    Efforts ``acting`` (..., nv) are there beside those of the drives.
    """
    free = freedom_at(mechanism, q, name)
    speeds, rises = closed_rates(mechanism, free, q, name, qd=qd, qdd=qdd)
    needed = (loaded_kernel(cut_open(mechanism), "inverse_dynamics", external)(q, speeds, rises) - acting) * free.units
    drives = np.swapaxes(free.basis[..., at, :], -1, -2)
    work = np.einsum("...ji,...j->...i", free.basis, needed)
    efforts = np.einsum("...ji,...i->...j", np.linalg.pinv(drives, rcond=SINGULAR), work)
    left = work - np.einsum("...ij,...j->...i", drives, efforts)
    _check_supported(mechanism, at, needed, _inertia(mechanism, free, q), left, name)
    tau = np.zeros_like(needed)
    tau[..., at] = efforts
    forces = np.zeros((*needed.shape[:-1], len(free.closing.sizes)))
    chosen = list(free.closing.rows)
    inverse = np.linalg.pinv(np.swapaxes(free.rows, -1, -2), rcond=SINGULAR)
    forces[..., chosen] = np.einsum("...kj,...j->...k", inverse, needed - tau) / free.closing.sizes[chosen]
    return tau / free.units, forces


def closed_rates(
    mechanism: Tree, free: LoopFreedom, q: npt.ArrayLike, name: str, **rates: npt.ArrayLike
) -> tuple[FloatArray, ...]:
    """Velocities qd, and accelerations qdd if provided, as arrays (..., nv).

    Raises
    ------
    ArgumentError
        Where they do not keep the loops closed.
    """
    vectors_of = {field: vectors(f"{name}: {field}", value, mechanism.nv) for field, value in rates.items()}
    qd = vectors_of["qd"]
    bias = kernel_of(mechanism, "closure_bias")(q, qd) / free.closing.sizes
    for field, value in vectors_of.items():
        bias_part = bias if field == "qdd" else np.zeros_like(bias)
        terms = free.jacobian * (value / free.units)[..., None, :]
        gap = np.abs(terms.sum(axis=-1) + bias_part)
        size = np.sqrt(np.square(terms).sum(axis=(-1, -2)) + np.square(bias_part).sum(axis=-1))
        wrong = ~(gap.max(axis=-1) <= NEARLY * size + REST)
        if wrong.any():
            raise ArgumentError(
                f"{name}: {field}{first_index(wrong)} opens loops of {mechanism.name!r} by {gap[wrong][0].max():.3g}, in"
                f" longest offsets or rad per s{'2' * (field == 'qdd')}; its terms amount to {size[wrong][0]:.3g}"
            )
    return tuple(vectors_of.values())


def _inertia(mechanism: Tree, free: LoopFreedom, q: npt.ArrayLike) -> FloatArray:
    """Scale of the inertia (...,), kg m2."""
    diagonal = np.diagonal(kernel_of(mechanism, "mass_matrix")(q), axis1=-2, axis2=-1)
    return np.asarray((diagonal * free.units**2).sum(axis=-1))


def _check_supported(
    mechanism: Tree, at: list[int], needed: FloatArray, inertia: FloatArray, left: FloatArray, name: str
) -> None:
    """Raise `ArgumentError` where efforts are left that the driven coordinates do not supply."""
    gap, size = (np.asarray(np.linalg.norm(part, axis=-1)) for part in (left, needed))
    wrong = ~(gap <= LEFT * size + REST * inertia)
    if wrong.any():
        names = ", ".join(repr(mechanism.velocity_names[k]) for k in at) or "none"
        raise ArgumentError(
            f"{name}: the driven coordinates ({names}) of {mechanism.name!r} cannot make this motion{first_index(wrong)}: of"
            f" efforts of {size[wrong][0]:.3g} N m (forces at the longest offset), {gap[wrong][0]:.3g} are left that they"
            f" do not supply; there are {left.shape[-1]} degrees of freedom"
        )
