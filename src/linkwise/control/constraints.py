"""What a chain must hold to: each kind says which rows it adds to the solver, and which ports it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.control.mistakes import Mistakes
from linkwise.errors import ArgumentError, shown
from linkwise.solve.constraints.given import settle
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class ChainConstraint:
    """What is common to all: a name for its ports, the link that it is on, and whether it holds at the beginning.

    Attributes
    ----------
    kind : str
        As a chain's file names it.
    name : str
        Of the constraint; its ports are ``name.enabled``, ``name.position`` and the like.
    link : str
        Whose end it is on: a link's name, or ``"tool"``.
    enabled : bool
        Whether it holds from the first cycle on; the port ``name.enabled`` switches it.
    """

    kind: ClassVar[str] = ""
    name: str
    link: str
    enabled: bool

    def _begin(self, name: Any, link: Any, enabled: Any) -> Mistakes:
        """Keep what is common to all; what is wrong with it."""
        settle(self, name=name, link=link, enabled=bool(enabled) if isinstance(enabled, (bool, np.bool_)) else True)
        mistakes = Mistakes()
        item = f"constraint {name!r}" if isinstance(name, str) and name else f"{self.kind} constraint"
        if item.startswith(self.kind):
            mistakes.note(f"{item}: name is {shown(name)}; expected a name")
        if not isinstance(link, str):
            mistakes.note(f"{item}: link is {shown(link)}; expected the name of a link, or 'tool'")
        if not isinstance(enabled, (bool, np.bool_)):
            mistakes.note(f"{item}: enabled is {shown(enabled)}; expected True or False")
        return mistakes

    def _vector(self, field: str, value: Any) -> tuple[float, float, float]:
        made = numbers(f"constraint {self.name!r}: {field}", value, "three numbers")
        if made.shape != (3,):
            raise ArgumentError(f"constraint {self.name!r}: {field} has the shape {made.shape}; expected (3,)")
        return float(made[0]), float(made[1]), float(made[2])

    @property
    def vectors(self) -> dict[str, FloatArray]:
        """Its input ports that are vectors (3,), with their first values."""
        fields = ("position", "angles", "velocity", "angular_velocity")
        found = {field: getattr(self, field, None) for field in fields}
        return {field: np.array(value) for field, value in found.items() if value is not None}

    @property
    def scalars(self) -> dict[str, float | None]:
        """Its input ports that are numbers, with their first values; None for what the chain begins with."""
        return {}

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for constraints that differ in their name and numbers only."""
        ports = (*self.vectors, *self.scalars)
        return (self.kind, self.link, getattr(self, "to", None), self.place, self.turn, ports)

    @property
    def place(self) -> bool:
        """Whether it says where the end is, or moves to."""
        return "position" in self.vectors

    @property
    def turn(self) -> bool:
        """Whether it says how the end is turned."""
        return "angles" in self.vectors


@dataclass(frozen=True, eq=False, init=False)
class FixedPosition(ChainConstraint):
    """The end of a link is at a place in the world.

    Parameters
    ----------
    name, link, enabled
        See `ChainConstraint`.
    position : (3,) array_like
        The place at the beginning, m, in the world; the port ``name.position`` changes it.

    Examples
    --------
    >>> FixedPosition("hold", "tool", [0.4, 0.1, 0.3]).vectors["position"].tolist()
    [0.4, 0.1, 0.3]
    """

    kind = "fixed position"
    position: tuple[float, float, float]

    def __init__(self, name: str, link: str, position: npt.ArrayLike = (0.0, 0.0, 0.0), *, enabled: bool = True) -> None:
        mistakes = self._begin(name, link, enabled)
        settle(self, position=mistakes.take(self._vector, "position", position))
        mistakes.finish()


@dataclass(frozen=True, eq=False, init=False)
class FixedRotation(ChainConstraint):
    """The end of a link is turned as three angles say.

    Parameters
    ----------
    name, link, enabled
        See `ChainConstraint`.
    angles : (3,) array_like
        About x, y and z of the world, rad, in the convention of the chain; the port ``name.angles`` changes them.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> arm = control.Chain(robots.planar_3r(), FixedRotation("level", "tool", [0.0, 0.0, 0.6]), q0=[0.1, 0.2, 0.2])
    >>> arm.step(0.01), arm["tool.solved_rotation"].round(9).tolist()
    (True, [[0.825335615, -0.564642473, 0.0], [0.564642473, 0.825335615, 0.0], [0.0, 0.0, 1.0]])
    """

    kind = "fixed rotation"
    angles: tuple[float, float, float]

    def __init__(self, name: str, link: str, angles: npt.ArrayLike = (0.0, 0.0, 0.0), *, enabled: bool = True) -> None:
        mistakes = self._begin(name, link, enabled)
        settle(self, angles=mistakes.take(self._vector, "angles", angles))
        mistakes.finish()


@dataclass(frozen=True, eq=False, init=False)
class MovingPosition(ChainConstraint):
    """The end of a link is at a place that moves, and turned as angles say, if there are any.

    Parameters
    ----------
    name, link, enabled
        See `ChainConstraint`.
    position : (3,) array_like
        The place, m, in the world.
    angles : (3,) array_like, optional
        About x, y and z of the world, rad; left out the end may turn as it likes.
    velocity, angular_velocity : (3,) array_like
        Of the place, m/s, and of the angles' frame, rad/s about the axes of the world: the prediction and the velocities
        take them into account. The latter only with angles.

    Examples
    --------
    >>> target = MovingPosition("target", "tool", [0.5, 0.2, 0.3], velocity=[0.1, 0.0, 0.0])
    >>> {name: value.tolist() for name, value in target.vectors.items()}
    {'position': [0.5, 0.2, 0.3], 'velocity': [0.1, 0.0, 0.0]}
    """

    kind = "moving position"
    position: tuple[float, float, float]
    angles: tuple[float, float, float] | None
    velocity: tuple[float, float, float]
    angular_velocity: tuple[float, float, float] | None

    def __init__(
        self,
        name: str,
        link: str,
        position: npt.ArrayLike = (0.0, 0.0, 0.0),
        angles: npt.ArrayLike | None = None,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: npt.ArrayLike | None = None,
        *,
        enabled: bool = True,
    ) -> None:
        mistakes = self._begin(name, link, enabled)
        if angles is None and angular_velocity is not None:
            mistakes.note(f"constraint {name!r}: angular_velocity is given without angles; expected both or neither")
        spin = (0.0, 0.0, 0.0) if angular_velocity is None else angular_velocity
        settle(
            self,
            position=mistakes.take(self._vector, "position", position),
            angles=None if angles is None else mistakes.take(self._vector, "angles", angles),
            velocity=mistakes.take(self._vector, "velocity", velocity),
            angular_velocity=None if angles is None else mistakes.take(self._vector, "angular_velocity", spin),
        )
        mistakes.finish()


@dataclass(frozen=True, eq=False, init=False)
class Velocity(ChainConstraint):
    """The end of a link moves at a velocity, turns at an angular velocity, or both.

    It does not change where the chain is solved to be: what it moves are the predicted values and the calculated speeds.

    Parameters
    ----------
    name, link, enabled
        See `ChainConstraint`.
    velocity : (3,) array_like, optional
        m/s, along the axes of the world.
    angular_velocity : (3,) array_like, optional
        rad/s, about the axes of the world. One of the two must be given.

    Examples
    --------
    >>> jog = Velocity("jog", "tool", velocity=[0.1, 0.0, 0.0])
    >>> jog.place, jog.vectors["velocity"].tolist()
    (True, [0.1, 0.0, 0.0])
    """

    kind = "velocity"
    velocity: tuple[float, float, float] | None
    angular_velocity: tuple[float, float, float] | None

    def __init__(
        self,
        name: str,
        link: str,
        velocity: npt.ArrayLike | None = None,
        angular_velocity: npt.ArrayLike | None = None,
        *,
        enabled: bool = True,
    ) -> None:
        mistakes = self._begin(name, link, enabled)
        if velocity is None and angular_velocity is None:
            mistakes.note(f"constraint {name!r} has neither a velocity nor an angular_velocity; expected one or both")
        given = {"velocity": velocity, "angular_velocity": angular_velocity}
        settle(
            self,
            **{
                field: None if value is None else mistakes.take(self._vector, field, value) for field, value in given.items()
            },
        )
        mistakes.finish()

    @property
    def place(self) -> bool:
        """Whether it moves the place of the end."""
        return self.velocity is not None

    @property
    def turn(self) -> bool:
        """Whether it turns the end."""
        return self.angular_velocity is not None


@dataclass(frozen=True, eq=False, init=False)
class Loop(ChainConstraint):
    """The end of a link meets the end of another: a kinematic loop.

    Parameters
    ----------
    name, link, enabled
        See `ChainConstraint`.
    to : str
        The other link; ``"start"`` for the start of the chain.
    rotation : bool
        Whether the two ends are turned alike, too.

    Examples
    --------
    >>> closing = Loop("pin", "coupler", "rocker")
    >>> closing.name, closing.link, closing.to
    ('pin', 'coupler', 'rocker')
    """

    kind = "loop"
    to: str
    rotation: bool

    def __init__(self, name: str, link: str, to: str, *, rotation: bool = False, enabled: bool = True) -> None:
        mistakes = self._begin(name, link, enabled)
        if not isinstance(to, str) or to == link:
            mistakes.note(f"constraint {name!r}: to is {shown(to)}; expected the name of another link than {link!r}")
        if not isinstance(rotation, (bool, np.bool_)):
            mistakes.note(f"constraint {name!r}: rotation is {shown(rotation)}; expected True or False")
        mistakes.finish()
        settle(self, to=to, rotation=bool(rotation))

    @property
    def place(self) -> bool:
        """It holds the places together."""
        return True

    @property
    def turn(self) -> bool:
        """Whether it holds the rotations together."""
        return self.rotation


@dataclass(frozen=True, eq=False, init=False)
class DrivenJoint(ChainConstraint):
    """A joint is at a value, whatever the solver would make of it: the motor of a linkage, the leg of a platform.

    Parameters
    ----------
    name, enabled
        See `ChainConstraint`.
    link : str
        The link that the joint carries.
    value : float, optional
        rad, or m; where the chain begins, if left out. The port ``name.value`` changes it. Whole turns count.
    speed : float
        rad/s, or m/s, at which the value changes.

    Examples
    --------
    >>> DrivenJoint("motor", "crank", 0.5).scalars
    {'value': 0.5, 'speed': 0.0}
    """

    kind = "driven joint"
    value: float | None
    speed: float

    def __init__(
        self, name: str, link: str, value: float | None = None, speed: float = 0.0, *, enabled: bool = True
    ) -> None:
        mistakes = self._begin(name, link, enabled)
        settle(
            self,
            value=None if value is None else mistakes.take(self._number, "value", value),
            speed=mistakes.take(self._number, "speed", speed),
        )
        mistakes.finish()

    def _number(self, field: str, value: Any) -> float:
        made = numbers(f"constraint {self.name!r}: {field}", value, "a number")
        if made.shape:
            raise ArgumentError(f"constraint {self.name!r}: {field} has the shape {made.shape}; expected a number")
        return float(made)

    @property
    def scalars(self) -> dict[str, float | None]:
        """The value, and the speed."""
        return {"value": self.value, "speed": self.speed}


KINDS: dict[str, type[ChainConstraint]] = {
    c.kind: c for c in (FixedPosition, FixedRotation, MovingPosition, Velocity, Loop, DrivenJoint)
}
"""Each kind by the name that a chain's file gives it."""
