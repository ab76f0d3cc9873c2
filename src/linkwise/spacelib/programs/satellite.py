"""SAT: the one rototranslation that unfolds the antenna of a satellite instead of three rotations.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.5, equations 7.22 to 7.28.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, sin
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import X, Y, Z
from linkwise.spacelib.lines import distp
from linkwise.spacelib.position import mtoscrew, screwtom
from linkwise.spacelib.programs.formats import Sheet
from linkwise.spacelib.transformations import invers, rad
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform
from linkwise.spatial.validation import readable

P1 = (0.875, 2.1, 1.5, 1.0)
P2 = (1.75, 2.1, 3.2, 1.0)

#: Centre of the left antenna and its hinge, m, and the angle of the last rotation, degrees.
TURN = 26.0

#: Axes of the antenna before the deployment (eq. 7.22).
FOLDED = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class Satellite:
    """The deployment of the left antenna; positions (4, 4) of its frame in that of the rocket.

    Attributes
    ----------
    alpha, beta : float
        Angles, rad.
    d : float
        Distance from the centre of the antenna to the hinge, m.
    Mi, M3, M4, Mf : ndarray (4, 4)
        Position at first, after steps 3 and 4, and at last.
    Q5, Qtot : ndarray (4, 4)
        Rototranslation of step 5, and of the whole motion.
    u : ndarray (3,)
        Direction of the axis of the whole motion.
    phi, h : float
        Its angle (rad) and translation (m).
    P : ndarray (4,)
        The point of its axis nearest to the origin.
    """

    alpha: float
    beta: float
    d: float
    Mi: FloatArray
    M3: FloatArray
    M4: FloatArray
    Q5: FloatArray
    Mf: FloatArray
    Qtot: FloatArray
    u: FloatArray
    phi: float
    P: FloatArray
    h: float


def satellite(P1: Any = P1, P2: Any = P2, turn: float = TURN) -> Satellite:
    """Find the rototranslation of the whole deployment and its screw.

    Parameters
    ----------
    P1, P2 : (4,) or (3,) array_like
        Centre of the folded antenna and its hinge, m; as in the manual's figure, P1 lies half as far out along x as P2.
    turn : float
        Angle of the last rotation, about the normal of the diagonal, degrees.

    Returns
    -------
    Satellite

    Raises
    ------
    ArgumentError
        For points that are not three or four finite numbers.

    Examples
    --------
    >>> found = satellite()
    >>> found.u.round(4).tolist(), round(float(np.degrees(found.phi)), 2)
    ([0.1633, 0.8175, -0.5523], 178.58)
    """
    centre, hinge = _point("P1", P1), _point("P2", P2)
    alpha = atan2(hinge[Z] - centre[Z], hinge[X] / 2)
    beta = atan2(hinge[Y], hinge[X])
    d = float(distp(centre, hinge))
    spread = hinge + d * np.array([cos(beta), sin(beta), 0.0])
    ca, sa, cb, sb = cos(alpha + beta), sin(alpha + beta), cos(beta - alpha), sin(beta - alpha)
    Mi = transform(FOLDED, centre)
    M3 = transform([[-ca, sa, 0.0], [-sa, -ca, 0.0], [0.0, 0.0, 1.0]], spread)
    M4 = transform([[-cb, -sb, 0.0], [-sb, cb, 0.0], [0.0, 0.0, -1.0]], spread)
    Q5 = screwtom([sin(beta), -cos(beta), 0.0], rad(turn), hinge, 0.0)
    Mf = Q5 @ M4
    Qtot = Mf @ invers(Mi)
    u, phi, P, h = mtoscrew(Qtot)
    return Satellite(alpha, beta, d, Mi, M3, M4, Q5, Mf, Qtot, u, float(phi), P, float(h))


def _point(name: str, value: Any) -> FloatArray:
    """The three coordinates of a point."""
    try:
        point = np.asarray(readable(name, value), dtype=float).ravel()
    except (TypeError, ValueError):
        point = np.empty(0)
    if point.size not in (3, 4) or not np.isfinite(point).all() or (point.size == 4 and point[3] != 1.0):
        raise ArgumentError(f"satellite: {name} is {value!r}; expected a point (3,), or (4,) that ends in 1")
    return point[:3]


def text(result: Satellite) -> str:
    """Write the steps of the manual's text, then the output of its program."""
    sheet = Sheet()
    sheet.angle("alpha", result.alpha)
    sheet.angle("beta", result.beta)
    sheet.matrix("Initial position of the antenna: Mi", result.Mi)
    sheet.matrix("Position after step 3: M3", result.M3)
    sheet.matrix("Position after step 4: M4", result.M4)
    sheet.matrix("Rototranslation of step 5: Q5", result.Q5)
    sheet.matrix("Final position: Mf", result.Mf)
    sheet.matrix("Rototranslation of the whole motion: Qtot", result.Qtot)
    sheet.vector("Axis u of the rototranslation", result.u)
    sheet.angle("Rotation angle about u", result.phi)
    sheet.value("Translation along u", result.h, "m")
    sheet.vector("Point P of the axis", result.P)
    return str(sheet)
