"""Where the tool is and how it moves: the functions of the toolbox over Linkwise's kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices
from linkwise.mechanism import Mechanism
from linkwise.rtss.arguments import coordinates, mechanism_of
from linkwise.rtss.robot import rt_robot
from linkwise.spatial.scalar import FloatArray

MEASURES = {
    "yoshikawa": "yoshikawa",
    "yoshi": "yoshikawa",
    "y": "yoshikawa",
    "asada": "asada",
    "asa": "asada",
    "a": "asada",
}
"""The measures of `rt_maniplty`, and what they may be called."""


def rt_fkine(robot: rt_robot | Mechanism, q: npt.ArrayLike) -> FloatArray:
    """Pose of the tool, T_world_tool (..., 4, 4), at joint coordinates.

    Parameters
    ----------
    robot : rt_robot or Mechanism
        Base and tool are included.
    q : (..., n) array_like
        Joint coordinates, rad or m: one configuration (n,), or a row for each point of a trajectory (m, n).

    Returns
    -------
    ndarray (4, 4) or (m, 4, 4)
        The point comes first here; the original has 4 x 4 x m.

    Raises
    ------
    ArgumentError
        Where q has another shape.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_fkine(rt_twolink(), [0.0, np.pi / 2])[:3, 3].round(12).tolist()
    [1.0, 1.0, 0.0]
    """
    return mechanism_of("rt_fkine", robot).forward_kinematics(coordinates("rt_fkine: q", q))


def rt_jacob0(robot: rt_robot | Mechanism, q: npt.ArrayLike) -> FloatArray:
    """Jacobian (..., 6, n) of the tool in world axes: linear rows, then angular ones.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    q : (..., n) array_like
        Joint coordinates; the original takes one configuration.

    Raises
    ------
    ArgumentError
        Where q has another shape.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_jacob0(rt_twolink(), [0.0, 0.0])[1].tolist()
    [2.0, 1.0]
    """
    return mechanism_of("rt_jacob0", robot).jacobian(coordinates("rt_jacob0: q", q))


def rt_jacobn(robot: rt_robot | Mechanism, q: npt.ArrayLike) -> FloatArray:
    """Jacobian (..., 6, n) of the tool in its own axes; see `rt_jacob0`.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_jacobn(rt_twolink(), [np.pi / 2, 0.0])[1].round(12).tolist()
    [2.0, 1.0]
    """
    return mechanism_of("rt_jacobn", robot).jacobian(coordinates("rt_jacobn: q", q), frame="body")


def rt_maniplty(robot: rt_robot | Mechanism, q: npt.ArrayLike, which: str = "yoshikawa") -> FloatArray:
    """How far from singular a configuration is: 0 where it is.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    q : (..., n) array_like
        Joint coordinates.
    which : {"yoshikawa", "asada"}
        ``"yoshikawa"`` (or yoshi, y): sqrt(det(J J')) (T. Yoshikawa, "Manipulability of robotic mechanisms", 1985); it mixes
        m and rad. ``"asada"`` (or asa, a): the least eigenvalue of the inertia that the tool shows (`rt_cinertia`) over the
        greatest, from 0 to 1 (H. Asada, 1983).

    Returns
    -------
    ndarray (...)

    Raises
    ------
    ArgumentError
        For another measure, for which the original gives an empty matrix without a word; or where q has another shape.

    Notes
    -----
    With fewer than six joints ``"yoshikawa"`` is sqrt(det(J' J)), all six rows counted, where the original gives 0 or
    rounding; `Mechanism.manipulability` takes the rows of translation or of rotation alone. ``"asada"`` is 0 at a singular
    configuration, where the original inverts a singular matrix.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> rt_maniplty(rt_puma560(), [[0, np.pi / 4, -np.pi, 1, np.pi / 4, 0], [0.0] * 6]).round(4).tolist()
    [0.0786, 0.0]
    """
    if not isinstance(which, str) or which not in MEASURES:
        raise ArgumentError(f"rt_maniplty: which is {which!r}; expected {choices(MEASURES)}")
    q = coordinates("rt_maniplty: q", q)
    if MEASURES[which] == "yoshikawa":
        return mechanism_of("rt_maniplty", robot).manipulability(q)
    inverse = mechanism_of("rt_maniplty", robot, dynamic=True).kernel("inverse_operational_space_inertia")(q)
    sizes = np.maximum(np.linalg.eigvalsh(inverse), 0.0)
    return np.asarray(sizes[..., 0] / np.where(sizes[..., -1] > 0.0, sizes[..., -1], 1.0))
