"""The constants of SpaceLib's header file (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, sections 2.4.3 and 6.1).

Axes count from 0, as in the C release, so that they index arrays; `X` is 1 in MATLAB and Maple. The arrays cannot be
written to.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

#: Status of a function: success or failure.
OK, NOTOK = 1, 0

#: Part of a matrix: symmetric or skew-symmetric.
SYMM_, SKEW_ = 1, -1

#: Kinds of joints: revolute (or screw) and prismatic.
Rev, Pri = 0, 1

#: Torques and forces.
Tor, For = 0, 1

#: Rows and columns.
Row, Col = 0, 1


class NoAxis(int):
    """The type of `U`: an integer that functions distinguish from a 3, which may mean MATLAB's third axis."""


#: The coordinates of a point or vector, and the axes of a frame; `U` is the homogeneous one, and no axis.
X, Y, Z, U = 0, 1, 2, NoAxis(3)

#: A quarter, a half and a whole turn, rad.
PIG_2, PIG, PIG2 = math.pi / 2, math.pi, 2 * math.pi


def _fixed(values: npt.ArrayLike) -> FloatArray:
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


#: Directions (3,) of the axes.
Xaxis, Yaxis, Zaxis = (_fixed(row) for row in np.eye(3))

#: Directions (3,) against the axes.
Xaxis_n, Yaxis_n, Zaxis_n = (_fixed(row) for row in [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])

#: The origin of a frame, a point (4,).
ORIGIN = _fixed([0.0, 0.0, 0.0, 1.0])

#: Null and identity matrices.
NULL3, NULL4, UNIT3, UNIT4 = (_fixed(matrix) for matrix in (np.zeros((3, 3)), np.zeros((4, 4)), np.eye(3), np.eye(4)))

__all__ = [name for name, value in vars().copy().items() if isinstance(value, (int, float, np.ndarray))]
