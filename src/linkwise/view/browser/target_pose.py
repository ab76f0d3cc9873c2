"""What a page says of the target, read with suspicion: it may be no pose at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.scalar import FloatArray


def pose_of(target: Any) -> FloatArray | None:
    """Return the pose (4, 4) of a target, None where what it was set to is none."""
    try:
        position, wxyz = np.array(target.position, dtype=float), np.array(target.wxyz, dtype=float)
    except ValueError:
        return None
    if position.shape != (3,) or wxyz.shape != (4,) or not wxyz.any():
        return None
    if not (np.abs([*position, *wxyz]) < np.finfo(np.float32).max).all():  # (the numbers of a page have 32 bits)
        return None
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = quaternion_rotation(wxyz), position
    return pose
