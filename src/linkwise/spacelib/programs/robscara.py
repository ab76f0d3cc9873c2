"""ROBSCARA: position and velocity of the gripper of a SCARA robot, with L and W matrices.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import ORIGIN, Pri, Rev, U, Z
from linkwise.spacelib.position import rotat34
from linkwise.spacelib.programs.formats import Sheet
from linkwise.spacelib.transformations import mami, miam
from linkwise.spacelib.velocity import makel2
from linkwise.spatial.scalar import Array
from linkwise.spatial.validation import choice, readable

Q = (pi / 4, pi / 6, 0.5)

#: The joint variables of the manual, alpha and beta (rad) and h* (m), and their velocities.
QP = (5 * pi / 4, 5 * pi / 4, -0.5)

#: Height of the first arm above frame (0), and lengths of the two arms, m.
HEIGHT, UPPER_ARM, FOREARM = 1.5, 0.33, 0.33

#: Signs of q3 in the height of the gripper, and of its velocity.
SENSES = {"down": (-1.0, -1.0), "up": (1.0, 1.0), "as listed": (-1.0, 1.0)}


@dataclass(frozen=True, eq=False)
class RobScara:
    """Position and velocity of the gripper.

    Attributes
    ----------
    m01, m12, m23, m34 : ndarray (4, 4)
        Position of each frame in the one before.
    m02, m03, m04, m0a : ndarray (4, 4)
        Position in frame (0); frame (a) has its origin in the gripper and the axes of frame (0).
    W12, W23, W34 : ndarray (4, 4)
        Relative velocities in frame (0).
    W04, W04a : ndarray (4, 4)
        Velocity of the gripper in frame (0) and in frame (a).
    """

    m01: Array
    m12: Array
    m23: Array
    m34: Array
    m02: Array
    m03: Array
    m04: Array
    m0a: Array
    W12: Array
    W23: Array
    W34: Array
    W04: Array
    W04a: Array


def robscara(q: Any = Q, qp: Any = QP, sense: str = "down") -> RobScara:
    """Position and velocity of the gripper.

    Parameters
    ----------
    q, qp : (3,) array_like
        alpha, beta (rad) and h* (m), and their speeds; those of the manual unless given.
    sense : {"down", "up", "as listed"}
        How h* is counted: down from the arms, so that 0.5 m is z = -0.5 in frame (3) and a speed of -0.5 m/s goes up; or up
        along z. The manual's listing takes h* itself downwards and its speed upwards; with "as listed" so does this
        function, to reproduce the printed W. The printed numbers are also those of ``sense="up"`` with q3 = -0.5.

    Returns
    -------
    RobScara

    Raises
    ------
    ArgumentError
        For another sense, or not three numbers each.

    Examples
    --------
    >>> found = robscara()
    >>> found.m04[:3, 3].round(3).tolist(), found.W04[2, 3].tolist()
    ([0.319, 0.552, 1.0], 0.5)
    >>> robscara(sense="as listed").W04[2, 3].tolist()
    -0.5
    """
    choice("robscara: sense", sense, SENSES)
    at, rate = (_three(name, values) for name, values in (("q", q), ("qp", qp)))
    place, speed = (int(sign) for sign in SENSES[sense])
    m01 = rotat34(Z, 0.0, [0.0, 0.0, HEIGHT, 1.0])
    m12 = rotat34(Z, at[0], [UPPER_ARM, 0.0, 0.0, 1.0])
    m23 = rotat34(Z, at[1], [FOREARM, 0.0, 0.0, 1.0])
    m34 = rotat34(Z, 0.0, np.array([0, 0, place * at[2], 1]))
    m02 = m01 @ m12
    m03 = m02 @ m23
    m04 = m03 @ m34
    m0a = np.eye(4, dtype=m04.dtype)
    m0a[:, U] = m04[:, U]
    turn, slide = makel2(Rev, Z, 0.0, ORIGIN), makel2(Pri, Z, 0.0, ORIGIN)
    W12 = mami(turn, m01) * rate[0]
    W23 = mami(turn, m02) * rate[1]
    W34 = mami(slide, m03) * (speed * rate[2])
    W04 = W12 + W23 + W34
    return RobScara(m01, m12, m23, m34, m02, m03, m04, m0a, W12, W23, W34, W04, miam(W04, m0a))


def _three(name: str, values: Any) -> list[Any]:
    entries = list(np.asarray(readable(name, values)).ravel())
    if len(entries) != 3:
        raise ArgumentError(f"robscara: {name} has {len(entries)} entries; expected alpha, beta and h*")
    return entries


def text(result: RobScara) -> str:
    """Write the matrices that the manual's program prints."""
    sheet = Sheet()
    sheet.matrix("The absolute position matrix of the gripper is: M04", result.m04)
    sheet.matrix('The position matrix of frame "a" referred to frame "0" is: M0a', result.m0a)
    sheet.matrix("The velocity matrix of the gripper in frame (0) is: W04", result.W04)
    sheet.matrix("The velocity matrix of the gripper in frame (a) is: W04a", result.W04a)
    return str(sheet)
