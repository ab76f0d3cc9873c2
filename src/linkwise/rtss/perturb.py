"""Robots whose masses and inertias are not quite those of the model."""

from __future__ import annotations

from typing import Any, TypeVar

from linkwise.mechanism import Mechanism
from linkwise.rtss.arguments import mechanism_of
from linkwise.rtss.link import rt_link
from linkwise.rtss.robot import rt_robot

Some = TypeVar("Some", rt_robot, Mechanism)


def rt_perturb(robot: Some, p: float = 0.1, seed: int = 0) -> Some:
    """The same robot with the mass and the tensor of each link multiplied by factors of their own.

    Parameters
    ----------
    robot : rt_robot or Mechanism
        It stays as it is.
    p : float
        The factors are drawn evenly from 1 - p to 1 + p; 0 to less than 1.
    seed : int
        Which draw. The original draws anew at every call; here the same seed gives the same robot.

    Returns
    -------
    The same kind of object
        Its name begins with ``P/``.

    Raises
    ------
    ArgumentError
        For another object, or p outside its range.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> other = rt_perturb(rt_puma560(), 0.2, seed=1)
    >>> other.name, bool(0.8 < other.links[1].m / 17.4 < 1.2)
    ('P/Puma 560', True)
    """
    perturbed = mechanism_of("rt_perturb", robot).perturb(p, seed)
    made: Any
    if isinstance(robot, rt_robot):
        made = rt_robot(robot, [_like(*pair) for pair in zip(robot.links, perturbed.links, strict=True)])
        made.name = f"P/{robot.name}"
    else:
        made = perturbed.replace(name=f"P/{robot.name}")
    given: Some = made
    return given


def _like(link: rt_link, other: Any) -> rt_link:
    """A copy of a link with the mass and the tensor of another, as far as it has any."""
    made = rt_link(link)
    if link.m is not None:
        made.m = other.body.mass
    if link.I is not None:
        made.I = other.body.tensor
    return made
