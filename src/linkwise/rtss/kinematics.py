"""Kinematics of the toolbox over Linkwise's functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.inverse_kinematics import newton_raphson
from linkwise.mechanism import Mechanism
from linkwise.rtss.arguments import also, coordinates, vector
from linkwise.rtss.robot import mechanism_of, rt_robot
from linkwise.solve import REASONS
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, rigid_poses

#: Both measures of `rt_maniplty`, with their abbreviations.
MEASURES = ("yoshikawa", "yoshi", "y", "asada", "asa", "a")


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
    """Manipulability of a configuration: 0 at a singular one.

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
    measure = choice("rt_maniplty: which", which, MEASURES)
    q = coordinates("rt_maniplty: q", q)
    if measure.startswith("y"):
        return mechanism_of("rt_maniplty", robot).manipulability(q)
    return mechanism_of("rt_maniplty", robot, dynamic=True).dynamic_manipulability(q, measure="asada")


#: Greatest distance (m) and angle (rad) from the pose; the original takes it for the length of the last step.
TOLERANCE = 1e-11

#: Most steps for one pose.
ITERATIONS = 1000


@also(m="mask")
def rt_ikine(
    robot: rt_robot | Mechanism,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None = None,
    mask: npt.ArrayLike | None = None,
) -> FloatArray:
    """Joint coordinates that bring the tool to a pose, or along a trajectory, by Newton-Raphson steps from q0.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    T : (4, 4) or (m, 4, 4) array_like
        T_world_tool, rigid; a rotation that is so to 1e-6 only is first made orthonormal. Of a trajectory each pose starts
        from the solution of the one before.
    q0 : (n,) array_like, optional
        Start configuration, rad or m; zero unless given.
    mask : (6,) array_like, optional
        1 for what counts, 0 for what is left free: translation along x, y, z, rotation about x, y, z of the world. With
        fewer than six joints it must be given, with as many ones as there are joints.

    Returns
    -------
    ndarray (n,) or (m, n)
        The user's coordinates: what is an offset in the model is not in them. Joint limits are not looked at.

    Raises
    ------
    ArgumentError
        Where the pose is not reached; where shapes, or joints and mask, do not fit.

    Notes
    -----
    The steps are those of `linkwise.inverse_kinematics.newton_raphson`, with 1000 of them at most. Deliberately different
    from the original: success is judged by the pose that is reached, to 1e-11 m and rad, not by the length of the last step;
    the mask leaves rows out of the Jacobian too; with fewer than six joints a missing mask is an error, there it is a
    remark; a step turns no joint by more than half a radian. Which of several solutions is found from far away may therefore
    differ. Robots in other units than m are judged in theirs; with lengths above some 1e4 rounding alone is more than that.
    `Mechanism.inverse_kinematics` and `linkwise.solve` tell more, and give up less easily.

    Examples
    --------
    >>> from linkwise.rtss import rt_fkine, rt_puma560
    >>> arm = rt_puma560()
    >>> q = [0.1, 0.8, -2.0, 0.3, 0.5, 0.2]
    >>> rt_ikine(arm, rt_fkine(arm, q), [0, 0.7, -1.9, 0.2, 0.4, 0]).round(9).tolist()
    [0.1, 0.8, -2.0, 0.3, 0.5, 0.2]
    """
    mechanism = mechanism_of("rt_ikine", robot)
    n = mechanism.n
    wanted = rigid_poses("rt_ikine: T", T)
    if wanted.ndim > 3:
        raise ArgumentError(f"rt_ikine: T has the shape {wanted.shape}; expected (4, 4) or (m, 4, 4)")
    q = np.zeros(n) if q0 is None else vector("rt_ikine: q0", q0, n)
    counted = _mask(mask, n)
    solutions = np.empty((*wanted.shape[:-2], n))
    for place in np.ndindex(wanted.shape[:-2]):
        options: dict[str, Any] = {"mask": counted, "tol": TOLERANCE, "iterations": ITERATIONS, "limits": False}
        answer = newton_raphson(mechanism, wanted[place], q, **options)
        if not answer.success:
            which = f" {place[0]} of T" if place else ""
            errors = f"{answer.position_error:.3g} m and {answer.rotation_error:.3g} rad"
            missed = f"pose{which} is not reached, {errors} are left after {answer.iterations} steps"
            raise ArgumentError(f"rt_ikine: {missed}: {REASONS[str(answer.reason)]}")
        solutions[place] = q = answer.q
    return solutions


def _mask(value: Any, n: int) -> FloatArray | None:
    if value is None:
        if n < 6:
            raise ArgumentError(f"rt_ikine: mask is missing; {n} joints cannot reach every pose; expected six of 0 or 1")
        return None
    mask = vector("rt_ikine: mask", value, 6)
    if not np.isin(mask, (0.0, 1.0)).all() or (n < 6 and mask.sum() != n) or not mask.any():
        many = f"{n} of them 1, as there are {n} joints" if n < 6 else "not all 0"
        raise ArgumentError(f"rt_ikine: mask is {shown(value)}; expected six of 0 or 1, {many}")
    return mask


__all__ = [name for name in dir() if name.startswith("rt_")]
