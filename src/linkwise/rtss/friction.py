"""Friction of a robot or of one link, and robots without it."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.mechanism import Mechanism
from linkwise.rtss.arguments import coordinates, mechanism_of
from linkwise.rtss.keywords import also
from linkwise.rtss.link import rt_link
from linkwise.rtss.robot import rt_robot
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

SIDES = ("joint", "motor")
"""Of the gear, for `rt_friction`."""

Some = TypeVar("Some", rt_link, rt_robot, Mechanism)


@also(obj="robot")
def rt_friction(robot: rt_robot | rt_link | Mechanism, qd: npt.ArrayLike, *, side: str = "joint") -> FloatArray:
    """Friction that the motors must overcome at joint speeds; it has the sign of the speed.

    Parameters
    ----------
    robot : rt_robot, rt_link or Mechanism
    qd : (..., n) array_like, or (...) for a link
        Joint speeds, rad/s or m/s.
    side : {"joint", "motor"}
        ``"joint"``: what is felt at the joints (N m or N), by the rule of the robot (`rt_robot` has ``friction=``), as it is
        counted in `rt_rne`; a link by itself goes by ``"reflected"``. ``"motor"``: what the original returns, B qd + Tc of
        each motor, with the gear left out.

    Returns
    -------
    ndarray
        Shaped as qd.

    Raises
    ------
    ArgumentError
        For another side, another object, or qd of another shape.

    Notes
    -----
    Different from the original, which returns the part on the motor's side and leaves the gear to the caller; by its
    rule (``friction="toolbox7"``) the joint feels G times that.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> waist = rt_puma560().links[0]
    >>> rt_friction(waist, [2.0, -1.0]).round(4).tolist()
    [36.335, -33.0377]
    >>> rt_friction(waist, [2.0, -1.0], side="motor").round(6).tolist()
    [0.39796, -0.43648]
    """
    if not isinstance(side, str) or side not in SIDES:
        raise ArgumentError(f"rt_friction: side is {side!r}; expected {choices(SIDES)}")
    if isinstance(robot, rt_link):
        speeds = numbers("rt_friction: qd", qd, "joint speeds", finite=False)
        alone = rt_link()
        alone.assign({"B": robot.B, "Tc": robot.Tc, "G": robot.G})
        return rt_friction(rt_robot([alone]), speeds[..., None], side=side)[..., 0]
    if side == "motor" and isinstance(robot, rt_robot):
        robot = rt_robot(robot, [_changed(link, G=1.0) for link in robot.links])
    mechanism = mechanism_of("rt_friction", robot)
    return (_ungeared(mechanism) if side == "motor" else mechanism).friction_torque(coordinates("rt_friction: qd", qd))


@also(obj="robot")
def rt_nofriction(robot: Some, which: str | None = None) -> Some:
    """The same robot or link without Coulomb friction, or without any.

    Parameters
    ----------
    robot : rt_robot, rt_link or Mechanism
        It stays as it is.
    which : {"all"}, optional
        ``"all"`` takes viscous friction off too.

    Returns
    -------
    The same kind of object
        A robot's name begins with ``NF/``.

    Raises
    ------
    ArgumentError
        For another word (of which the original reads the first three letters), or another object.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> free = rt_nofriction(rt_puma560())
    >>> free.name, free.links[0].Tc.tolist(), free.links[0].B
    ('NF/Puma 560', [0.0, 0.0], 0.00148)
    >>> rt_nofriction(free.links[0], "all").B
    0.0
    """
    if which is not None and (not isinstance(which, str) or which.lower() != "all"):
        raise ArgumentError(f"rt_nofriction: which is {shown(which)}; expected 'all' or None (Coulomb friction only)")
    without: Any
    if isinstance(robot, rt_link):
        without = _link_without(robot, which)
    elif isinstance(robot, rt_robot):
        without = rt_robot(robot, [_link_without(link, which) for link in robot.links])
        without.name = f"NF/{robot.name}"
    else:
        if not isinstance(robot, Mechanism):
            raise ArgumentError(f"rt_nofriction: {shown(robot)} was given; expected an rt_robot, an rt_link or a Mechanism")
        without = robot.nofriction(viscous=which is not None).replace(name=f"NF/{robot.name}")
    made: Some = without
    return made


def _link_without(link: rt_link, which: str | None) -> rt_link:
    return _changed(link, Tc=0.0) if which is None else _changed(link, Tc=0.0, B=0.0)


def _changed(link: rt_link, **values: Any) -> rt_link:
    """A copy of a link with other values."""
    made = rt_link(link)
    made.assign(values)
    return made


def _ungeared(mechanism: Mechanism) -> Mechanism:
    """The mechanism with all gears taken out."""
    links = [link.replace(motor=link.motor.replace(gear_ratio=1.0)) if link.motor else link for link in mechanism.links]
    return mechanism.replace(links=links, motors=[motor.replace(gear_ratio=1.0) for motor in mechanism.motors])
