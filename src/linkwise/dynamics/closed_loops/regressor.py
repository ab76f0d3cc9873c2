"""The regressor with loops closed: efforts of the driven coordinates as a matrix times the inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_rates
from linkwise.dynamics.closed_loops.kkt import THERE, independent_closure
from linkwise.dynamics.closed_loops.nullspace import SINGULAR, DrivenMotions, cut_open, driven_motions, freedom_at
from linkwise.loops.loop_solver import closed_samples, closing
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import vectors

#: Greatest number of random closed positions at which rows are computed.
POSITIONS = 48

#: Joints slower than this while a fixed one is at rest count as at rest, rad/s or m/s.
RESTS = 1e-9


def closed_regressor(
    mechanism: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    driven: Sequence[int | str] | int | str | None = None,
    *,
    name: str = "closed_regressor",
) -> FloatArray:
    """Y (..., nv, P), with `Mechanism.actuator_efforts` = Y @ parameters but for springs; zero rows where nothing is driven.

    G' times the regressor of the tree, cut open, with qd = G u for the driven velocities u: the forces of the loops do no
    work (W. Khalil, S. Guegan, "Inverse and direct dynamic modeling of Gough-Stewart robots", IEEE Trans. Robotics 20(4),
    2004; W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*, 2002, section 10.4).

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
    name : str
        What messages call the function.

    Raises
    ------
    ArgumentError
        Where q, qd or qdd do not fit the loops, where these are singular, or where these coordinates cannot drive.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> bars, still = robots.four_bar(), np.zeros(3)
    >>> efforts = bars.regressor(bars.neutral, still, still) @ bars.parameters
    >>> bool(abs(efforts - bars.actuator_efforts(bars.neutral, still, still)).max() < 1e-12)
    True
    """
    motions = driven_motions(mechanism, q, driven, name)
    speeds, rises = closed_rates(mechanism, motions.freedom, q, name, qd=qd, qdd=qdd)
    return _at_driven(motions, kernel_of(cut_open(mechanism), "regressor")(q, speeds, rises))


def closed_gravity_regressor(
    mechanism: Tree, q: npt.ArrayLike, driven: Sequence[int | str] | int | str | None = None
) -> FloatArray:
    """Y (..., nv, P) of the efforts that hold the driven coordinates at rest; zero rows where nothing is driven.

    See `closed_regressor`, also for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> bars, still = robots.four_bar(), np.zeros(3)
    >>> bool(np.array_equal(closed_gravity_regressor(bars, bars.neutral), bars.regressor(bars.neutral, still, still)))
    True
    """
    motions = driven_motions(mechanism, q, driven, "gravity_regressor")
    return _at_driven(motions, kernel_of(cut_open(mechanism), "gravity_regressor")(q))


def closed_momentum_regressor(
    mechanism: Tree, q: npt.ArrayLike, qd: npt.ArrayLike, driven: Sequence[int | str] | int | str | None = None
) -> FloatArray:
    """Y (..., nv, P), with G' M qd = Y @ parameters at the driven coordinates; zero rows where nothing is driven.

    G' M qd is the momentum of the driven velocities u, with qd = G u: the derivative of the kinetic energy by u.
    See `closed_regressor`, also for the parameters.

    Examples
    --------
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> q = bars.neutral
    >>> qd = bars.linkage("crank").velocity(q, [2.0])
    >>> momentum = (closed_momentum_regressor(bars, q, qd, "crank") @ bars.parameters)[0]
    >>> bool(abs(2.0 * momentum - 2.0 * bars.kinetic_energy(q, qd)) < 1e-12)
    True
    """
    name = "momentum_regressor"
    motions = driven_motions(mechanism, q, driven, name)
    (speeds,) = closed_rates(mechanism, motions.freedom, q, name, qd=qd)
    return _at_driven(motions, kernel_of(cut_open(mechanism), name)(q, speeds))


def _at_driven(motions: DrivenMotions, table: FloatArray) -> FloatArray:
    """Project rows (..., nv, P) of all coordinates to the driven ones."""
    result: FloatArray = np.zeros_like(table)
    result[..., motions.at, :] = np.swapaxes(motions.map, -1, -2) @ table
    return result


def closed_efforts(mechanism: Tree, q: FloatArray, tau: FloatArray, driven: list[int], *, name: str) -> FloatArray:
    """Project efforts (..., nv) of any coordinates to the driven ones, G' tau (..., nv); zero elsewhere."""
    motions = driven_motions(mechanism, q, driven, name)
    result = np.zeros(np.broadcast_shapes(tau.shape, (*motions.map.shape[:-2], mechanism.nv)))
    result[..., motions.at] = (np.swapaxes(motions.map, -1, -2) @ tau[..., None])[..., 0]
    return result


def random_rows(
    mechanism: Tree, rng: np.random.Generator, count: int, share: float, positions: npt.ArrayLike | None = None
) -> FloatArray:
    """Rows (at least count, P) of the regressor along the motions that loops allow, in random motions at closed positions.

    Parameters
    ----------
    mechanism : Tree
        With loops.
    rng : Generator
        Where the motions come from.
    count : int
        How many rows.
    share : float
        Of the motions in which some joint rests.
    positions : (..., nq) array_like, optional
        The positions; by default random ones, on all branches.
    """
    known = independent_closure(mechanism)
    if positions is None:
        task = closing(mechanism)
        q = closed_samples(task, count=POSITIONS)
        values = np.linalg.svd(task.jacobian(q)[:, list(known.rows)], compute_uv=False)
        q = q[values[:, known.rank - 1] > THERE * values[:, 0]] if known.rank else q
    else:
        q = vectors("base_parameters: q", positions, mechanism.nq).reshape(-1, mechanism.nq)
        q = q[np.linspace(0, len(q) - 1, min(len(q), POSITIONS)).round().astype(np.intp)]
    free = freedom_at(mechanism, q, "base_parameters")
    inverse, degrees = np.linalg.pinv(free.rows, rcond=SINGULAR), free.basis.shape[-1]
    tables = []
    for _ in range(-(-count // max(len(q) * degrees, 1))):
        speeds, rises = rng.uniform(-2.0, 2.0, (2, len(q), degrees))
        held = free.basis[np.arange(len(q)), rng.integers(mechanism.nv, size=len(q))] * (rng.random((len(q), 1)) < share)
        size = np.maximum(np.square(held).sum(axis=-1, keepdims=True), np.finfo(float).tiny)
        speeds = speeds - held * ((held * speeds).sum(axis=-1, keepdims=True) / size)
        qd, qdd = ((free.basis @ motion[..., None])[..., 0] for motion in (speeds, rises))
        qd = np.where(np.abs(qd) < RESTS, 0.0, qd) * free.units
        bias = (kernel_of(mechanism, "closure_bias")(q, qd) / known.sizes)[..., list(known.rows), None]
        qdd = (qdd - (inverse @ bias)[..., 0]) * free.units
        table = kernel_of(cut_open(mechanism), "regressor", "numpy")(q, qd, qdd)
        tables.append(np.swapaxes(free.basis * free.units[:, None], -1, -2) @ table)
    return np.concatenate(tables).reshape(-1, tables[0].shape[-1])
