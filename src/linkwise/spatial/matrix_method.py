"""The 4x4 matrix method: velocity W, acceleration H, inertia J, actions Phi, as matrices that act on points.

G. Legnani, F. Casolo, P. Righettini, B. Zappa, "A homogeneous matrix approach to 3D kinematics and dynamics", Mech.
Mach. Theory 31(5), 1996, parts 1 and 2. All matrices of one formula are in one frame; a point p = (x, y, z, 1) of the
body has velocity W p and acceleration H p.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import Array, array


def velocity_matrix(angular: npt.ArrayLike, linear: npt.ArrayLike) -> Array:
    """W (4, 4) from the angular velocity (rad/s) and the velocity (m/s) of the body point at the frame's origin."""
    return _stack(skew(angular), linear)


def acceleration_matrix(angular: npt.ArrayLike, angular_rate: npt.ArrayLike, linear: npt.ArrayLike) -> Array:
    """H (4, 4) from angular velocity, angular acceleration, and the acceleration of the body point at the origin."""
    w = skew(angular)
    return _stack(skew(angular_rate) + w @ w, linear)


def compose_acceleration(h_carrier: Array, h_relative: Array, w_carrier: Array, w_relative: Array) -> Array:
    """H of a relative motion on a moving carrier, Coriolis' theorem: H1 + H2 + 2 W1 W2, all in one frame."""
    return np.asarray(h_carrier + h_relative + 2.0 * (w_carrier @ w_relative))


def gravity_matrix(gravity: npt.ArrayLike) -> Array:
    """The acceleration matrix (4, 4) of gravity (3,), m/s2."""
    return _stack(np.zeros((3, 3)), gravity)


def pseudo_inertia(mass: object, com: npt.ArrayLike, tensor: npt.ArrayLike) -> Array:
    """J (..., 4, 4), the integral of p p' dm about the frame origin.

    From mass (...,), com (..., 3) and tensor (..., 3, 3) about the com; of many at once if they are numbers.
    """
    m, c, i = np.asarray(mass)[..., None, None], np.asarray(com)[..., None], np.asarray(tensor)
    across = c.swapaxes(-1, -2)
    trace = np.asarray(np.trace(i, axis1=-2, axis2=-1))[..., None, None]  # (of expressions it is a scalar)
    result = np.zeros((*i.shape[:-2], 4, 4), dtype=np.result_type(m, c, i))
    result[..., :3, :3] = 0.5 * trace * np.eye(3) - i + m * (c * across)
    result[..., :3, 3:], result[..., 3:, :3] = m * c, m * across
    result[..., 3:, 3:] = m
    return array(result) if result.dtype == object else result


def action_matrix(force: npt.ArrayLike, moment: npt.ArrayLike) -> Array:
    """Phi (4, 4) from a force (N) and its moment about the origin (N m); called FI in `RobMat` and in OUT files."""
    f = np.asarray(force)
    result = np.zeros((4, 4), dtype=object)
    result[:3, :3] = skew(moment)
    result[:3, 3] = f
    result[3, :3] = -f
    return array(result)


def skew_part(h: Array, j: Array) -> Array:
    """The action matrix H J - (H J)' (..., 4, 4) of a body with inertia J accelerated by H."""
    product = h @ j
    return np.asarray(product - product.swapaxes(-1, -2))


def to_frame(m: Array, t: Array) -> Array:
    """W, H or L in the frame that T leads to: T M inverse(T)."""
    from linkwise.spatial.transform import inverse

    return np.asarray(t @ m @ inverse(t))


def tensor_to_frame(m: Array, t: Array) -> Array:
    """J, Gamma or Phi (..., 4, 4) in the frame that T leads to: T M T'."""
    return np.asarray(t @ m @ t.swapaxes(-1, -2))


def _stack(block: npt.ArrayLike, column: npt.ArrayLike) -> Array:
    result = np.zeros((4, 4), dtype=object)
    result[:, :] = 0.0
    result[:3, :3] = block
    result[:3, 3] = np.asarray(column)
    return array(result)
