"""Derivatives of the motion with closed loops: of the constraint forces, and of both dynamics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import algorithm, kernel_of
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_inverse_dynamics
from linkwise.dynamics.closed_loops.kkt import ClosedSystem
from linkwise.dynamics.closed_loops.nullspace import cut_open, driven_motions
from linkwise.dynamics.external import External, loaded_kernel
from linkwise.expr.derivative import derivative
from linkwise.expr.evaluate import substitute
from linkwise.expr.node import symbol
from linkwise.kinematics.configuration import tangent_derivative
from linkwise.kinematics.loop_constraints import closure_bias, closure_jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray, blank


@algorithm(
    inputs={"q": "nq", "qd": "nv", "qdd": "nv", "forces": "K"},
    outputs={"defforts_dq": "nv nv", "drates_dq": "K nv", "dbias_dq": "K nv", "dbias_dqd": "K nv"},
    spread=False,
    needs_loops=True,
)
def closure_derivatives(tree: Tree, q: Array, qd: Array, qdd: Array, forces: Array) -> tuple[Array, Array, Array, Array]:
    """Return d(J' f)/dq (nv, nv), d(J qd)/dq, d(J qdd + bias)/dq and dbias/dqd (K, nv), J the `closure_jacobian`.

    f are the forces of the loops, bias the `closure_bias`. Exact, from their graphs; dq is a small motion, as `integrate`
    takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> qd = np.array([1.0, -1.0, 1.0])
    >>> _, by_rates, _, by_qd = bars.kernel("closure_derivatives")(bars.neutral, qd, 0 * qd, np.zeros(5))
    >>> bool(abs(by_qd @ qd - 2.0 * bars.kernel("closure_bias")(bars.neutral, qd)).max() < 1e-12)
    True
    """
    speeds = np.array([symbol(f"\1{k}") for k in range(tree.nv)], dtype=object)
    others = np.array([symbol(f"\2{k}") for k in range(tree.nv + len(forces))], dtype=object)
    rises, held = others[: tree.nv], others[tree.nv :]

    def closing(x: Array) -> Array:
        jac, bias = closure_jacobian(tree, x), closure_bias(tree, x, speeds)
        return np.concatenate([jac.T @ held, jac @ speeds, jac @ rises + bias])

    table = tangent_derivative(tree, closing, q)
    by_qd = derivative(list(closure_bias(tree, q, speeds)), list(speeds))
    numbers = dict(zip([*speeds, *others], [*qd, *qdd, *forces], strict=True))
    table, by_qd = substitute(table, numbers), substitute(by_qd, numbers)
    efforts, rates, bias = np.split(table, [tree.nv, tree.nv + len(forces)])
    return efforts, rates, bias, by_qd


def closed_acceleration_derivatives(
    tree: Tree, system: ClosedSystem, state: tuple[Array, Array, Array, Array], by_q: Array, by_qd: Array
) -> tuple[Array, Array, Array]:
    """The derivatives (nv, nv) of the accelerations that keep loops closed, from those of the inverse dynamics of the tree.

    [M -J'; J 0] [dqdd; df] = [dtau - d(tau of the tree) + d(J') f; -d(J qdd + bias)] (A. Jain, *Robot and Multibody
    Dynamics*, 2011, chapter 11, differentiated).

    Parameters
    ----------
    tree : Tree
        With loops.
    system : ClosedSystem
        At q.
    state : tuple of ndarray
        q, qd, the accelerations, and the forces of the loops.
    by_q, by_qd : ndarray (nv, nv)
        Derivatives of the efforts of the tree, cut open, at these accelerations.
    """
    efforts, _, bias, bias_by_qd = closure_derivatives(tree, *state)
    rows, still = list(system.closing.rows), blank(len(system.closing.rows))
    unit = np.eye(tree.nv)
    by_q = np.stack([system.solve(efforts[:, j] - by_q[:, j], bias[rows, j])[0] for j in range(tree.nv)], axis=1)
    by_qd = np.stack([system.solve(-by_qd[:, j], bias_by_qd[rows, j])[0] for j in range(tree.nv)], axis=1)
    return by_q, by_qd, np.stack([system.solve(unit[j], still)[0] for j in range(tree.nv)], axis=1)


def closed_inverse_dynamics_derivatives(
    mechanism: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    driven: Sequence[int | str] | int | str | None = None,
    external: External | None = None,
    *,
    name: str = "closed_inverse_dynamics_derivatives",
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Derivatives of the efforts of the driven coordinates by these coordinates, their velocities and accelerations.

    Loops stay closed: the passive coordinates follow, so their velocities and accelerations change with the driven
    coordinates. With G as in `reduced_mass_matrix`, G' (d(tau of the tree) - d(J') f) remains of the differentiated
    equations, for G' J' = 0 (A. Jain, *Robot and Multibody Dynamics*, 2011, chapter 11). Exact.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    q : (..., nq) array_like
        Coordinates with loops closed, rad or m.
    qd, qdd : (..., nv) array_like
        Velocities and accelerations that keep them closed.
    driven : sequence of int or str, optional
        As many coordinates as there are degrees of freedom, by name or by the index of their speed; by default those with
        motors.
    external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
        As for `Mechanism.inverse_dynamics`; held.
    name : str
        What messages call the function.

    Returns
    -------
    by_u, by_ud, by_udd : ndarray (..., m, m)
        Rows and columns in the order of `driven`; the third is the `reduced_mass_matrix`.

    Raises
    ------
    ArgumentError
        As `closed_inverse_dynamics` and `reduced_mass_matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> bars, still = robots.four_bar(), np.zeros(3)
    >>> _, _, inertia = bars.inverse_dynamics_derivatives(bars.neutral, still, still)
    >>> bool(abs(inertia - bars.reduced_mass_matrix(bars.neutral)).max() < 1e-12)
    True
    """
    motions = driven_motions(mechanism, q, driven, name)
    forces = closed_inverse_dynamics(mechanism, q, qd, qdd, motions.at, external, name=name)[1]
    by_q, by_qd, mass = loaded_kernel(cut_open(mechanism), "inverse_dynamics", external, "_derivatives")(q, qd, qdd)
    efforts, rates, bias, bias_by_qd = kernel_of(mechanism, "closure_derivatives")(q, qd, qdd, forces)
    led = motions.map
    rates_by_u = motions.passive(-rates @ led)
    rises_by_u = motions.passive(-(bias @ led + bias_by_qd @ rates_by_u))
    rises_by_ud = motions.passive(-bias_by_qd @ led)
    onto = np.swapaxes(led, -1, -2)
    by_u = onto @ ((by_q - efforts) @ led + by_qd @ rates_by_u + mass @ rises_by_u)
    return by_u, onto @ (by_qd @ led + mass @ rises_by_ud), onto @ mass @ led
