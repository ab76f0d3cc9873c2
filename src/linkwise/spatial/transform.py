"""Rigid transforms as 4x4 matrices: T_a_b takes points in frame b to frame a."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.scalar import Array, FloatArray, array


def transform(rotation: npt.ArrayLike | None = None, position: npt.ArrayLike | None = None) -> Array:
    """The transform (4, 4) with the given rotation (3, 3) and position (3,)."""
    parts = [np.asarray(part) for part in (rotation, position) if part is not None]
    numeric = all(part.dtype.kind in "fiu" for part in parts)
    result = np.eye(4) if numeric else np.eye(4).astype(object)
    if rotation is not None:
        result[:3, :3] = parts[0]
    if position is not None:
        result[:3, 3] = parts[-1]
    return result if numeric else array(result)


def transforms(rotation: FloatArray, position: npt.ArrayLike = 0.0) -> FloatArray:
    """Transforms (..., 4, 4) from rotations (..., 3, 3) and positions (..., 3), numbers."""
    poses = np.zeros((*rotation.shape[:-2], 4, 4))
    poses[..., :3, :3], poses[..., :3, 3], poses[..., 3, 3] = rotation, position, 1.0
    return poses


def translation(x: Any = 0.0, y: Any = 0.0, z: Any = 0.0) -> Array:
    """The transform (4, 4) that moves by (x, y, z), in m."""
    return transform(None, array([x, y, z]))


def inverse(t: npt.ArrayLike) -> Array:
    """The inverse (4, 4) of a rigid transform, T_b_a from T_a_b; of many (..., 4, 4) at once if they are numbers."""
    a = np.asarray(t)
    r = a[..., :3, :3].swapaxes(-1, -2)
    position = -(r @ a[..., :3, 3:])[..., 0]
    return transform(r, position) if a.ndim == 2 else transforms(r, position)


def dh_standard(theta: Any, d: Any, a: Any, alpha: Any, b: Any = 0.0) -> Array:
    """The link transform (4, 4) Rz(theta) Tz(d) Tx(a) Ty(b) Rx(alpha).

    With b = 0 the convention of J. Denavit and R. S. Hartenberg (1955) as in R. P. Paul, *Robot Manipulators*
    (1981); with the shift b the extension of G. Legnani, F. Casolo, P. Righettini, B. Zappa, "A homogeneous matrix
    approach to 3D kinematics and dynamics", Mech. Mach. Theory 31(5), 1996.

    Examples
    --------
    >>> dh_standard(0.0, 0.3, 0.5, 0.0)[:3, 3]
    array([0.5, 0. , 0.3])
    """
    turn = transform(rotation_z(theta), None)
    return np.asarray(turn @ translation(a, b, d) @ transform(rotation_x(alpha), None))


def dh_modified(theta: Any, d: Any, a: Any, alpha: Any) -> Array:
    """The link transform (4, 4) Rx(alpha) Tx(a) Rz(theta) Tz(d): J. J. Craig, *Introduction to Robotics* (1986), eq. 3.6."""
    before = transform(rotation_x(alpha), None) @ translation(a, 0.0, 0.0)
    return np.asarray(before @ transform(rotation_z(theta), None) @ translation(0.0, 0.0, d))


def is_rigid(t: npt.ArrayLike, tolerance: float = 1e-6) -> bool:
    """True if a (4, 4) array is a rigid transform: last row 0 0 0 1, rotation orthonormal and right handed."""
    values = np.asarray(t, dtype=float)
    if values.shape != (4, 4):
        return False
    # in plain floats: NumPy takes ten times as long for so few
    (a, b, c, x), (d, e, f, y), (g, h, i, z), last = values.tolist()
    errors = [a * a + d * d + g * g - 1.0, b * b + e * e + h * h - 1.0, c * c + f * f + i * i - 1.0]
    errors += [a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i]
    return bool(
        last == [0.0, 0.0, 0.0, 1.0]
        and all(map(math.isfinite, (x, y, z)))
        and all(abs(error) <= tolerance for error in errors)
        and a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) > 0
    )
