"""Unit quaternions, scalar first: (w, x, y, z)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import Array


def quaternion_rotation(quaternion: npt.ArrayLike) -> Array:
    """R (3, 3) of a quaternion (w, x, y, z) of any length but zero: it is normalised on the way.

    Hamilton's product q v q* / |q|^2 written out (J. B. Kuipers, *Quaternions and Rotation Sequences*, 1999, section 7.7).

    Examples
    --------
    >>> quaternion_rotation([0.0, 0.0, 0.0, 2.0]).tolist()
    [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w, x, y, z = np.asarray(quaternion)
    s = 2.0 / (w * w + x * x + y * y + z * z)
    wx, wy, wz = s * w * x, s * w * y, s * w * z
    xx, yy, zz, xy, yz, xz = s * x * x, s * y * y, s * z * z, s * x * y, s * y * z, s * x * z
    return np.array(
        [
            [1.0 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1.0 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1.0 - (xx + yy)],
        ]
    )


def quaternion_product(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """Return the product a b (4,): the rotation b, then a, both in the outer axes.

    Examples
    --------
    >>> quaternion_product([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    w, x, y, z = np.asarray(a)
    p, i, j, k = np.asarray(b)
    return np.array(
        [
            w * p - x * i - y * j - z * k,
            w * i + x * p + y * k - z * j,
            w * j - x * k + y * p + z * i,
            w * k + x * j - y * i + z * p,
        ]
    )
