"""What Robo computes of a robot, by its names; each a line over the mechanism.

Coordinates, speeds, accelerations and efforts stand in the order of the mechanism, from the base to the tips: of a robot
with six links the first number belongs to link 6, the last to link 1. `Robot.numbers` tells it.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from linkwise.equations.equations import Equations
from linkwise.robo.robot import Robot, name_of
from linkwise.solve import Solution, steepest_descent
from linkwise.spatial.scalar import FloatArray


def forward_kinematics(robot: Robot, q: npt.ArrayLike, link: int | None = None) -> FloatArray:
    """T_world_tool (..., 4, 4) of the tool on link 1, or with `link` that of the frame of the link of that number.

    Parameters
    ----------
    robot : Robot
    q : (..., N) array_like
        Coordinates, rad or m, from link N at the base to link 1.
    link : int, optional
        Number of a link.

    Examples
    --------
    >>> from linkwise import robo
    >>> arm = robo.robot(*robo.puma560(), rotors="contained", physical=False)
    >>> forward_kinematics(arm, [0.0] * 6).round(4)[:3, 3].tolist()
    [0.4521, -0.15, 0.4318]
    """
    return robot.mechanism.forward_kinematics(q, link=-1 if link is None else name_of(link))


def inverse_dynamics(
    robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, external: npt.ArrayLike | None = None
) -> FloatArray:
    """Efforts (..., N) that a motion takes, by Newton's and Euler's equations: `Mechanism.inverse_dynamics`.

    Examples
    --------
    >>> from linkwise import robo
    >>> arm = robo.robot(*robo.puma560(), rotors="contained", physical=False)
    >>> inverse_dynamics(arm, [0.0] * 6, [0.0] * 6, [0.0] * 6).round(3).tolist()
    [0.0, 37.484, 0.249, 0.0, 0.0, 0.0]
    """
    return robot.mechanism.inverse_dynamics(q, qd, qdd, external)


def forward_dynamics(
    robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, external: npt.ArrayLike | None = None
) -> FloatArray:
    """Accelerations (..., N) under efforts: `Mechanism.forward_dynamics`.

    Examples
    --------
    >>> from linkwise import robo
    >>> slide = robo.robot([[1, "Translationalx", 0, 0, 2.0, 0, (0, 0, 0), (0, 0, 0), 0, []]])
    >>> forward_dynamics(slide, [0.0], [0.0], [3.0]).tolist()
    [1.5]
    """
    return robot.mechanism.forward_dynamics(q, qd, tau, external)


def mass_matrix(robot: Robot, q: npt.ArrayLike) -> FloatArray:
    """M (..., N, N), motors counted: `Mechanism.mass_matrix`.

    Examples
    --------
    >>> from linkwise import robo
    >>> slide = robo.robot([[1, "Translationalx", 0, 0, 2.0, 0, (0, 0, 0), (0, 0, 0), 0, []]])
    >>> mass_matrix(slide, [0.0]).tolist()
    [[2.0]]
    """
    return robot.mechanism.mass_matrix(q)


def inverse_kinematics(
    robot: Robot, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, *, link: int | None = None, **options: Any
) -> Solution:
    """Coordinates for a pose by steepest descent, as Robo finds them: see `linkwise.solve.steepest_descent`.

    It is slow; `linkwise.solve.newton_raphson(robot.mechanism, T)` gives the same in a few steps.

    Parameters
    ----------
    robot : Robot
    T : (..., 4, 4) array_like
        Poses of the tool on link 1, or of the frame of another link.
    q0 : (..., N) array_like, optional
        Where to start, from link N at the base to link 1.
    link : int, optional
        Number of a link.
    **options
        Those of `linkwise.solve.steepest_descent`: mask, tol, iterations, ...

    Examples
    --------
    >>> from linkwise import robo
    >>> arm = robo.robot(*robo.puma560(), rotors="contained", physical=False)
    >>> T = forward_kinematics(arm, [0.2, 0.6, -0.2, 0.3, 0.9, 0.1])
    >>> inverse_kinematics(arm, T, [0.0, 0.5, -0.1, 0.2, 1.0, 0.0]).success
    True
    """
    return steepest_descent(robot.mechanism, T, q0, link=-1 if link is None else name_of(link), **options)


def equations(robot: Robot, form: str | None = None) -> Equations:
    """The equations of motion in symbols, all joints at once: `Mechanism.equations`.

    The symbols count from the base: ``q1`` is the coordinate of link N.

    Examples
    --------
    >>> from linkwise import robo
    >>> slide = robo.robot([[1, "Translationalx", 0, 0, 2.0, 0, (0, 0, 0), (0, 0, 0), 0, []]])
    >>> equations(slide).M[0, 0]
    2
    """
    return robot.mechanism.equations(form)
