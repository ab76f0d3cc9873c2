"""The joint rates within bounds that come nearest to what a frame should do: a quadratic program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import LinkwiseError, MissingExtraError, install_hint
from linkwise.inverse_kinematics.velocity.damped_inverse import RANK

if TYPE_CHECKING:
    from linkwise.spatial.scalar import FloatArray

BESIDE = 1e-7
"""Weight of the motion that the frame does not feel, beside that of the frame: small, for it comes second."""

INFINITE = 1e30
"""What the library takes for no bound."""

LEAST = 1e-6
"""The unit of the program, as a share of the rates that there would be without bounds, at least."""

ROUNDING = 1e-9
"""By which share a polished answer may miss its conditions and still be the better one."""


def nearest_in_box(
    matrix: FloatArray, right: FloatArray, own: FloatArray, low: FloatArray, high: FloatArray, settings: FloatArray
) -> FloatArray:
    """The x (n,) within bounds with the least |A x - b|^2, damped as `FilteredInverse` does, and among those nearest to z.

    min x' H x / 2 + f' x with H = V max(s, region)^2 V' by the singular values s of A, so that without bounds it is the
    filtered inverse's answer; the null space of A gets a small weight of its own. The dual active-set method of D. Arnström,
    A. Bemporad and D. Axehill, IEEE Trans. Automatic Control 67(8), 2022, finds which bounds hold; with these the answer
    is then computed again, to rounding.

    Parameters
    ----------
    matrix : (m, n) ndarray
        A.
    right, own : (m,) and (n,) ndarray
        b and z.
    low, high : (n,) ndarray
        Bounds, infinite ones too.
    settings : (2,) ndarray
        Region and damping of all singular values.

    Raises
    ------
    MissingExtraError
        Where the library daqp is not installed.
    """
    left, values, rows = np.linalg.svd(matrix, full_matrices=False)
    there = values > RANK * values[0]
    values, rows = values[there], rows[there]
    gains = np.sqrt(np.square(np.maximum(values, settings[0])) + settings[1] ** 2)
    task, wanted = gains[:, None] * rows, values / gains * (left.T[there] @ right)
    small = BESIDE * float(np.square(gains).max(initial=1.0))
    apart = np.eye(len(own)) - rows.T @ rows
    unit = _unit(rows.T @ (wanted / gains) + apart @ own, low, high)
    wanted, own, low, high = wanted / unit, own / unit, low / unit, high / unit
    found, held = _solved(task.T @ task + small * apart, -(task.T @ wanted) - small * (apart @ own), low, high)
    return unit * _polished(found, held, task, wanted, own, low, high)


def _unit(free: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """How large the answer will be, roughly, so that tolerances are shares of it: a power of two, which rounds nothing."""
    most = max(float(np.abs(np.clip(free, low, high)).max()), LEAST * float(np.abs(free).max()))
    return float(2.0 ** np.ceil(np.log2(most))) if most else 1.0


def _solved(hessian: FloatArray, linear: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least in the box, and for each bound that holds whether it is the low (-1) or the high (1) one."""
    daqp = library()
    n = len(linear)
    fixed = low == high
    upper, lower = np.minimum(high, INFINITE), np.maximum(low, -INFINITE)
    x, _, flag, details = daqp.solve(
        hessian, linear, np.zeros((0, n)), upper, lower, np.where(fixed, 5, 0).astype(np.int32), primal_tol=1e-10
    )
    if flag != 1:
        raise LinkwiseError(f"the quadratic program ended with the flag {flag} of daqp; expected 1, solved")
    return np.asarray(np.clip(x, low, high)), np.where(fixed, 1.0, np.sign(details["lam"]))


def library() -> Any:
    """The library daqp.

    Raises
    ------
    MissingExtraError
        Where it is not installed; the message names the extra.
    """
    try:
        import daqp
    except ImportError as error:
        raise MissingExtraError(f"limits='qp' needs the library daqp: {install_hint('qp')}") from error
    return daqp


def _polished(
    rates: FloatArray,
    held: FloatArray,
    task: FloatArray,
    wanted: FloatArray,
    preferred: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """The same with the bounds that hold made exact, where that still is the best.

    What the weight of the null space blurred goes with it.
    """
    bounded = np.where(held < 0, low, np.where(held > 0, high, preferred))
    free = task[:, held == 0]
    if free.shape[1]:
        bounded[held == 0] += np.linalg.lstsq(free, wanted - task @ bounded, rcond=ROUNDING)[0]
    slope = held * (task.T @ (task @ bounded - wanted))
    size = ROUNDING * max(1.0, float(np.abs(bounded).max()))
    slack = ROUNDING * float(np.abs(task).max(initial=0.0)) * max(1.0, float(np.abs(wanted).max(initial=0.0)))
    inside = np.all((bounded >= low - size) & (bounded <= high + size))
    best = np.all((slope <= slack) | (low == high))
    return np.asarray(np.clip(bounded, low, high)) if inside and best else rates
