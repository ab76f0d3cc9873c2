"""Robo's computations on a robot, by its names; each is a line over the mechanism.

Coordinates, speeds, accelerations and efforts stand in the order of the mechanism, from the base to the tips, which
`Robot.numbers` gives: of six links that are numbered from the tip to the base the first number belongs to link 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import numpy.typing as npt

from linkwise.equations.equations_of_motion import Equations
from linkwise.errors import ArgumentError, shown
from linkwise.inverse_kinematics import steepest_descent
from linkwise.mechanism import Mechanism
from linkwise.robo.robot import Link, Motor, Robot, name_of
from linkwise.robo.robot import robot as made_robot
from linkwise.solve import Solution
from linkwise.spatial.scalar import FloatArray

Result = TypeVar("Result")

#: The options of `robot`, which a task takes where the robot is two lists.
_DESCRIBING = ("rotors", "l_from", "inertia_about", "physical", "base", "tool", "gravity", "payload", "name")

#: The second list by keyword, as `robot` and as Robo call it.
_MOTORS = ("motors", "Motors")

_ROBOT = "Robot | Mechanism | Sequence[Any]"
_EXPECTED = "a Robot, a Mechanism, or the two lists Links, Motors"


def task(function: Callable[..., Result]) -> Callable[..., Result]:
    """Let a function of a mechanism take a `Robot`, a `Mechanism`, or the two lists ``Links, Motors`` in its place.

    The lists are two arguments, or one pair as of `puma560`; Motors may come by keyword.
    """
    name, plain = function.__name__, signature(function)

    @wraps(function)
    def run(robot: Any, *args: Any, **options: Any) -> Result:
        if isinstance(robot, (list, tuple)):
            links, motors, args = _lists(name, robot, args, options)
            described = {option: options.pop(option) for option in _DESCRIBING if option in options}
            try:
                plain.bind(robot, *args, **options)
            except TypeError as error:
                raise ArgumentError(f"{name}: {error}; expected Links, Motors and then the other arguments") from error
            robot = made_robot(links, motors, **described)
        if not isinstance(robot, (Robot, Mechanism)):
            raise ArgumentError(f"{name}: robot is {shown(robot)}; expected {_EXPECTED}")
        if options and (describing := [option for option in (*_DESCRIBING, *_MOTORS) if option in options]):
            raise ArgumentError(f"{name}: {describing[0]} goes with the two lists Links, Motors; robot is {shown(robot)}")
        return function(robot.mechanism if isinstance(robot, Robot) else robot, *args, **options)

    first, *others = plain.parameters.values()
    vars(run)["__signature__"] = plain.replace(parameters=[first.replace(annotation=_ROBOT), *others])
    run.__annotations__ = {**function.__annotations__, first.name: _ROBOT}
    return run


def _lists(
    name: str, robot: Sequence[Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, Any, tuple[Any, ...]]:
    """Links, Motors, and the arguments after them; Motors by keyword is removed from the options."""
    by_keyword = [option for option in _MOTORS if option in options]
    links, pair = robot, len(robot) == 2 and _is_list(robot[0], Link) and robot[0] and _is_list(robot[1], Motor)
    if pair:
        links, motors = robot
    elif by_keyword:
        motors = options.pop(by_keyword.pop(0))
    elif args:
        motors, args = args[0], args[1:]
    else:
        raise ArgumentError(f"{name}: robot is {shown(robot)} without Motors; expected {_EXPECTED}")
    if by_keyword:
        raise ArgumentError(f"{name}: Motors comes twice; expected it once")
    if not _is_list(motors, Motor):
        raise ArgumentError(f"{name}: Motors is {shown(motors)}; expected a list of motors after Links, or []")
    return links, motors, args


def _is_list(value: Any, kind: type) -> bool:
    """True for a list of items, not for a list of numbers as an item is."""
    return isinstance(value, (list, tuple)) and all(isinstance(item, (kind, list, tuple)) for item in value)


def frame_name(link: int | str | None) -> int | str:
    """The frame of a link, by its number or its name, as a mechanism takes it; None for the tool."""
    return -1 if link is None else link if isinstance(link, str) else name_of(link)


@task
def forward_kinematics(robot: Mechanism, q: npt.ArrayLike, link: int | str | None = None) -> FloatArray:
    """T_world_tool (..., 4, 4) of the tool on the last link, or with `link` that of the frame of the link of that number.

    Parameters
    ----------
    robot : Robot or Mechanism
        Or the two lists Links and Motors, each an argument or as one pair; `robot`'s own options may follow as keywords
        then.
    q : (..., N) array_like
        Coordinates, rad or m, from the base to the tips.
    link : int or str, optional
        Number of a link, or its name in the mechanism.

    Examples
    --------
    >>> from linkwise import robo
    >>> arm = robo.robot(*robo.puma560(), rotors="contained", physical=False)
    >>> forward_kinematics(arm, [0.0] * 6).round(4)[:3, 3].tolist()
    [0.4521, -0.15, 0.4318]
    """
    return robot.forward_kinematics(q, link=frame_name(link))


@task
def inverse_dynamics(
    robot: Mechanism, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, external: npt.ArrayLike | None = None
) -> FloatArray:
    """Efforts (..., N) that a motion takes, by Newton's and Euler's equations: `Mechanism.inverse_dynamics`.

    Examples
    --------
    >>> from linkwise import robo
    >>> arm = robo.robot(*robo.puma560(), rotors="contained", physical=False)
    >>> inverse_dynamics(arm, [0.0] * 6, [0.0] * 6, [0.0] * 6).round(3).tolist()
    [0.0, 37.484, 0.249, 0.0, 0.0, 0.0]
    """
    return robot.inverse_dynamics(q, qd, qdd, external)


@task
def forward_dynamics(
    robot: Mechanism, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, external: npt.ArrayLike | None = None
) -> FloatArray:
    """Accelerations (..., N) under efforts: `Mechanism.forward_dynamics`.

    Examples
    --------
    >>> from linkwise import robo
    >>> slide = robo.robot([[1, "Translationalx", 0, 0, 2.0, 0, (0, 0, 0), (0, 0, 0), 0, []]])
    >>> forward_dynamics(slide, [0.0], [0.0], [3.0]).tolist()
    [1.5]
    """
    return robot.forward_dynamics(q, qd, tau, external)


@task
def mass_matrix(robot: Mechanism, q: npt.ArrayLike) -> FloatArray:
    """M (..., N, N), motors counted: `Mechanism.mass_matrix`.

    Examples
    --------
    >>> from linkwise import robo
    >>> slide = robo.robot([[1, "Translationalx", 0, 0, 2.0, 0, (0, 0, 0), (0, 0, 0), 0, []]])
    >>> mass_matrix(slide, [0.0]).tolist()
    [[2.0]]
    """
    return robot.mass_matrix(q)


@task
def inverse_kinematics(
    robot: Mechanism, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, *, link: int | str | None = None, **options: Any
) -> Solution:
    """Coordinates for a pose by steepest descent, as Robo finds them: see `linkwise.inverse_kinematics.steepest_descent`.

    It is slow; `linkwise.inverse_kinematics.newton_raphson(mechanism, T)` gives the same in a few steps.

    Parameters
    ----------
    robot : Robot or Mechanism
        Or the two lists Links and Motors, each an argument or as one pair; `robot`'s own options may follow as keywords
        then.
    T : (..., 4, 4) array_like
        Poses of the tool on the last link, or of the frame of another link.
    q0 : (..., N) array_like, optional
        Start configuration, from the base to the tips.
    link : int or str, optional
        Number of a link, or its name in the mechanism.
    **options
        Those of `linkwise.inverse_kinematics.steepest_descent`: mask, tol, iterations, ...

    Examples
    --------
    >>> from linkwise import robo
    >>> arm = robo.robot(*robo.puma560(), rotors="contained", physical=False)
    >>> T = forward_kinematics(arm, [0.2, 0.6, -0.2, 0.3, 0.9, 0.1])
    >>> inverse_kinematics(arm, T, [0.0, 0.5, -0.1, 0.2, 1.0, 0.0]).success
    True
    """
    return steepest_descent(robot, T, q0, link=frame_name(link), **options)


@task
def equations(robot: Mechanism, form: str | None = None) -> Equations:
    """The equations of motion in symbols, all joints at once: `Mechanism.equations`.

    The symbols count from the base: ``q1`` is the first coordinate of the mechanism.

    Examples
    --------
    >>> from linkwise import robo
    >>> slide = robo.robot([[1, "Translationalx", 0, 0, 2.0, 0, (0, 0, 0), (0, 0, 0), 0, []]])
    >>> equations(slide).M[0, 0]
    2
    """
    return robot.equations(form)
