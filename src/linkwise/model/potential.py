"""Forces with a potential that depends on no length: constant forces, springs of ball joints."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Self

import numpy as np

from linkwise.model.spring import ForceElement
from linkwise.model.validation import Checker

#: The quaternion of no turn.
UNTURNED = (1.0, 0.0, 0.0, 0.0)


def _three(check: Checker, field: str, value: Any) -> tuple[float, ...]:
    """Three numbers."""
    values = check.vector(field, value)
    if values.dtype == object:
        check.report(field, value, "numbers: symbols are for stiffness")
        return (0.0, 0.0, 0.0)
    return tuple(values.tolist())


def _rest(check: Checker, field: str, value: Any) -> tuple[float, ...]:
    """A unit quaternion."""
    expected, known = "a quaternion w x y z of length 1", len(check.problems)
    values = check.finite(field, value, (4,), expected)
    if len(check.problems) > known:
        return UNTURNED
    size = 0.0 if values.dtype == object else float(np.linalg.norm(values))
    if abs(size - 1.0) > 1e-6:
        check.report(field, value, expected)
        return UNTURNED
    return tuple((values / size).tolist())


_needed = partial(Checker.word, expected="a name", needed=True)


class Potential(ForceElement, ABC):
    """Force with potential U(q): formally the tension 1 of the length U."""

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """None."""
        return ()

    def tension(self, length: Any, rate: Any) -> Any:
        """1, along the energy."""
        return 1.0

    def energy(self, length: Any) -> Any:
        """The energy, J."""
        return length

    @property
    def dissipates(self) -> bool:
        """No."""
        return False


@dataclass(frozen=True, eq=False)
class ConstantForce(Potential):
    """A constant world force on a point of a link: the weight on a rope, or a support of a link's weight.

    Its energy is U = -f'p, p the point in the world; on the joints it does J'f (the principle of virtual work).

    Parameters
    ----------
    link : str
        The link that it acts on.
    force : (3,) array_like
        f, N, in the axes of the world.
    point : (3,) array_like
        Where, m, in the frame of the link.
    name : str, optional
        Its name in messages.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> weights = [ConstantForce(x.name, -x.body.mass * arm.gravity, x.body.com) for x in arm.links]
    >>> borne = arm.replace(springs=weights)
    >>> borne.inverse_dynamics([0.3, 0.7], [0, 0], [0, 0]).round(9) + 0.0
    array([0., 0.])
    """

    _word = "force"

    link: Annotated[Any, _needed]
    force: Annotated[Any, _three]
    point: Annotated[Any, _three] = (0.0, 0.0, 0.0)
    name: Annotated[str | None, Checker.word] = None

    @property
    def links(self) -> tuple[str, ...]:
        """The one that it acts on."""
        return (self.link,)

    @property
    def symbolic_fields(self) -> frozenset[str]:
        """None."""
        return frozenset()

    def locked(self, values: Mapping[str, float]) -> Self:
        """The same."""
        return self

    def renamed(self, prefix: str) -> Self:
        """The same on a link with a prefix."""
        return type(self)(prefix + self.link, self.force, self.point, self.name and prefix + self.name)

    def moved(self, places: Mapping[str, tuple[str, Any]], prefix: str = "") -> Self:
        """The same with its point on another link."""
        link, pose = places.get(self.link, (self.link, np.eye(4)))
        return type(self)(link, self.force, (pose @ [*self.point, 1.0])[:3], self.name and prefix + self.name)


@dataclass(frozen=True, eq=False)
class BallSpring(Potential):
    """A spring on a ball joint: its moment k times the angle acts towards the rest rotation, by the shortest way.

    Its energy is U = k a'a / 2, a the rotation vector from the rest to the joint's quaternion (its logarithm). Dampers and
    inertia of such a joint are motors of its velocities.

    Parameters
    ----------
    joint : str
        The ball joint.
    stiffness : float
        k, N m/rad.
    rest : (4,) array_like
        The quaternion at which it takes nothing; no turn where it is left out.
    name : str, optional
        Its name in messages.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> ball = Mechanism([Link(name="head", joint="ball", mass=1.0, inertia=[1, 1, 1])], springs=[BallSpring("head", 10.0)])
    >>> ball.spring_torque([0.5**0.5, 0.0, 0.0, 0.5**0.5], [0, 0, 0]).round(4) + 0.0
    array([ 0.   ,  0.   , 15.708])
    """

    _word = "spring"

    joint: Annotated[Any, _needed]
    stiffness: Annotated[Any, partial(Checker.number, least=0.0)]
    rest: Annotated[Any, _rest] = UNTURNED
    name: Annotated[str | None, Checker.word] = None

    @property
    def symbolic_fields(self) -> frozenset[str]:
        """The stiffness."""
        return frozenset({"stiffness"})

    def locked(self, values: Mapping[str, float]) -> Self | None:
        """None if the joint is fixed at a value."""
        return None if self.joint in values else self

    def renamed(self, prefix: str) -> Self:
        """The same on a joint with a prefix."""
        return type(self)(prefix + self.joint, self.stiffness, self.rest, self.name and prefix + self.name)
