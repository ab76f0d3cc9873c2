"""Pose error (6,) between a reached and a target pose, and its derivative with respect to the joints."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import FloatArray


def pose_error(reached: FloatArray, wanted: FloatArray, frame: str = "world") -> FloatArray:
    """Error (..., 6) from reached to target poses (..., 4, 4): displacement of the origin, m, and rotation, rad.

    The rotation is a rotation vector, axis times angle (0 to pi), of R_wanted R_reached' in the world's axes ("world"), or
    of R_reached' R_wanted in the axes of the reached pose ("body"). These are the axes of `Mechanism.jacobian`, so that to
    first order a step dq with J dq = error closes the gap.

    Examples
    --------
    >>> quarter = np.array([[0.0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    >>> pose_error(np.eye(4), quarter).round(4).tolist()
    [1.0, 2.0, 3.0, 0.0, 0.0, 1.5708]
    """
    r = reached[..., :3, :3]
    shift = wanted[..., :3, 3] - reached[..., :3, 3]
    if frame == "body":
        shift = np.sum(r * shift[..., :, None], axis=-2)
    axis, angle = axis_and_angle(_turn(reached, wanted, frame))
    return np.concatenate([shift, axis * angle[..., None]], axis=-1)


def pose_error_rate(reached: FloatArray, wanted: FloatArray, jacobian: FloatArray, frame: str = "world") -> FloatArray:
    """Minus the derivative (..., 6, n) of `pose_error` with respect to the joints, from their Jacobian in the same axes.

    With the error phi = a t of the turn (axis a, angle t) its rate is -(1 +- t/2 [a] + (1 - t/2 cot t/2) [a]^2) w, plus in
    the world's axes and minus in the body's: the inverse of the derivative of the exponential (F. C. Park, "Distance
    metrics on the rigid-body motions", J. Mechanical Design 117, 1995, and many others). In the body's axes the way turns
    with the body too. At the goal this is the Jacobian itself; away from it, it matters where a mask leaves an axis free.
    """
    axis, angle = axis_and_angle(_turn(reached, wanted, frame))
    linear, angular = jacobian[..., :3, :], jacobian[..., 3:, :]
    if frame == "body":
        shift = pose_error(reached, wanted, frame)[..., :3]
        linear = linear - _crossed(shift, angular)
    half = 0.5 * np.asarray(angle)[..., None, None]
    across = 1.0 - np.divide(half, np.tan(half), out=np.ones_like(half), where=half > 0)
    once = _crossed(axis, angular)
    sign = 1.0 if frame == "world" else -1.0
    turning = angular + sign * half * once + across * _crossed(axis, once)
    return np.concatenate([linear, turning], axis=-2)


def _turn(reached: FloatArray, wanted: FloatArray, frame: str) -> FloatArray:
    """The rotation from the orientations reached to those wanted; sums in one order, so that a batch has a loop's bits."""
    r, s = reached[..., :3, :3], wanted[..., :3, :3]
    if frame == "world":
        return np.asarray(sum(s[..., :, None, k] * r[..., None, :, k] for k in range(3)))
    return np.asarray(sum(r[..., k, :, None] * s[..., k, None, :] for k in range(3)))


def _crossed(vector: FloatArray, columns: FloatArray) -> FloatArray:
    """The cross products (..., 3, n) of a vector (..., 3) with each column."""
    return np.moveaxis(cross(np.moveaxis(vector[..., None], -2, 0), np.moveaxis(columns, -2, 0)), 0, -2)
