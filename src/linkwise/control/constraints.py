"""Constraints of the cyclic chain: fields, ports and equations of each kind, and angles of a rotation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.control.limits.point_motion import Pair, meeting_loop
from linkwise.control.links import is_word
from linkwise.errors import ArgumentError, ModelError, choices, shown
from linkwise.kinematics.loop_constraints import half_sine
from linkwise.model.tree import TOOL, Tree
from linkwise.model.validation import Checker
from linkwise.solve.constraints import Closed, Constraint, Coordinate, Orientation, Position
from linkwise.solve.validation import settle
from linkwise.spatial.rotation import rotation_x, rotation_y, rotation_z
from linkwise.spatial.scalar import Array, FloatArray, atan2, cos_sin, root, select
from linkwise.spatial.validation import readable, real_or_empty

Result = TypeVar("Result")


class Mistakes:
    """The errors of the parts of a call.

    Examples
    --------
    >>> mistakes = Mistakes()
    >>> mistakes.note("a is 1; expected 2")
    >>> mistakes.take(float, "3")
    3.0
    >>> mistakes.note("b is 3; expected 4")
    >>> try:
    ...     mistakes.finish()
    ... except ArgumentError as error:
    ...     print(error)
    a is 1; expected 2
    b is 3; expected 4
    """

    def __init__(self) -> None:
        self.errors: list[ArgumentError | ModelError] = []

    def __bool__(self) -> bool:
        return bool(self.errors)

    def note(self, message: str) -> None:
        """Add one."""
        self.errors.append(ArgumentError(message))

    def take(self, function: Callable[..., Result], *arguments: object, **named: object) -> Result | None:
        """Return the result of a function; None if it raises an error of the package, which is recorded."""
        try:
            return function(*arguments, **named)
        except (ArgumentError, ModelError) as error:
            self.errors.append(error)
            return None

    def finish(self) -> None:
        """Raise all of them: one as it is, several as an `ArgumentError` with a line for each."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise ArgumentError("\n".join(str(error) for error in self.errors))


#: Fields that are vectors (3,), in the order of their ports,
VECTORS = ("position", "angles", "velocity", "angular_velocity")

#: and those that are numbers.
SCALARS = ("value", "speed")


def link_of(tree: Tree, name: str) -> int | str:
    """The link of a name as the forward kinematics take it: ``"tool"``, unless a link has that name."""
    return TOOL if name == TOOL and name not in tree.link_names else tree.link_index(name)


@dataclass(frozen=True, eq=False)
class ChainConstraint:
    """Base class of constraints: name of the ports, link, and initial state (enabled or not).

    Attributes
    ----------
    kind : str
        As a chain's file names it.
    needed : tuple of str
        Fields that its table in a file must have.
    name : str
        Name of the constraint; its ports are ``name.enabled``, ``name.position`` and the like.
    link : str
        Whose end it is on: a link's name, or ``"tool"``.
    enabled : bool
        Whether it holds from the first cycle on; the port ``name.enabled`` switches it.
    """

    kind: ClassVar[str] = ""
    needed: ClassVar[tuple[str, ...]] = ()
    name: str
    link: str
    enabled: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        check = Checker(f"constraint {self.name!r}" if self.name else f"{self.kind} constraint".strip())
        self._check(check)
        check.finish()

    def _check(self, check: Checker) -> None:
        """Validate the fields; convert numbers."""
        if not is_word(self.name) or "." in self.name:
            check.report("name", self.name, "a name without a dot")
        if not isinstance(self.link, str):
            check.report("link", self.link, "the name of a link, or 'tool'")
        for name in (item.name for item in fields(self) if item.type == "bool"):
            settle(self, **{name: check.flag(name, getattr(self, name))})
        for name in (item.name for item in fields(self) if item.name in (*VECTORS, *SCALARS)):
            value, shape = getattr(self, name), (3,) if name in VECTORS else ()
            if value is not None:
                values = real_or_empty(value)
                if values.shape != shape or not np.isfinite(values).all():
                    check.report(name, value, "3 finite numbers" if shape else "a finite number")
                else:
                    settle(self, **{name: tuple(values.tolist()) if shape else values.tolist()})

    @classmethod
    def specific(cls) -> tuple[str, ...]:
        """Fields of this kind beside those that all kinds have."""
        return tuple(item.name for item in fields(cls) if item.name not in ("name", "link", "enabled"))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its input ports, without that of the constraint."""
        return ("enabled", *self.vectors, *self.scalars)

    @property
    def content(self) -> tuple[Any, ...]:
        """Contents for a file of the chain; equal for equal constraints."""
        return (self.kind, *(getattr(self, item.name) for item in fields(self)))

    @property
    def vectors(self) -> dict[str, FloatArray]:
        """Its input ports that are vectors (3,), with their first values."""
        values = {name: getattr(self, name, None) for name in VECTORS}
        return {name: np.array(value) for name, value in values.items() if value is not None}

    @property
    def scalars(self) -> dict[str, float | None]:
        """Numeric input ports with their initial values; None means the value at the initial position."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name in SCALARS}

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for constraints that differ in their name and numbers only."""
        ports = (*self.vectors, *self.scalars)
        return (self.kind, self.link, getattr(self, "to", None), self.place, self.turn, ports)

    @property
    def place(self) -> bool:
        """True if it constrains the position of the end."""
        return "position" in self.vectors

    @property
    def turn(self) -> bool:
        """True if it constrains the rotation of the end."""
        return "angles" in self.vectors

    def equations(self, tree: Tree) -> list[tuple[str, Constraint]]:
        """Rows for the solver, as constraints of `linkwise.solve`."""
        link = link_of(tree, self.link)
        place: list[tuple[str, Constraint]] = [("place", Position(link, np.zeros(3)))] if self.place else []
        return [*place, ("turn", Orientation(link, np.eye(3)))] if self.turn else place


@dataclass(frozen=True, eq=False)
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
    needed = ("position",)
    position: npt.ArrayLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class FixedRotation(ChainConstraint):
    """Rotation of a link's end by three angles.

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
    needed = ("angles",)
    angles: npt.ArrayLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class MovingPosition(ChainConstraint):
    """Moving position of a link's end, with three angles of its rotation, if any.

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
    needed = ("position",)
    position: npt.ArrayLike = (0.0, 0.0, 0.0)
    angles: npt.ArrayLike | None = None
    velocity: npt.ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: npt.ArrayLike | None = None

    def _check(self, check: Checker) -> None:
        super()._check(check)
        if self.angles is None and self.angular_velocity is not None:
            check.report("angular_velocity", self.angular_velocity, "nothing where there are no angles")
        if self.angles is not None and self.angular_velocity is None:
            settle(self, angular_velocity=(0.0, 0.0, 0.0))


@dataclass(frozen=True, eq=False)
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
    velocity: npt.ArrayLike | None = None
    angular_velocity: npt.ArrayLike | None = None

    def _check(self, check: Checker) -> None:
        super()._check(check)
        if self.velocity is None and self.angular_velocity is None:
            check.report("velocity", None, "three numbers, or an angular_velocity")

    @property
    def place(self) -> bool:
        """True if it prescribes the linear velocity of the end."""
        return self.velocity is not None

    @property
    def turn(self) -> bool:
        """True if it prescribes the angular velocity of the end."""
        return self.angular_velocity is not None


@dataclass(frozen=True, eq=False)
class LoopClosure(ChainConstraint):
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
    >>> closing = LoopClosure("pin", "coupler", "rocker")
    >>> closing.name, closing.link, closing.to
    ('pin', 'coupler', 'rocker')
    """

    kind = "loop"
    needed = ("to",)
    to: str
    rotation: bool = field(default=False, kw_only=True)

    def _check(self, check: Checker) -> None:
        super()._check(check)
        if not isinstance(self.to, str) or self.to == self.link:
            check.report("to", self.to, f"the name of another link than {self.link!r}")

    @property
    def place(self) -> bool:
        """True: the positions coincide."""
        return True

    @property
    def turn(self) -> bool:
        """True if the rotations coincide."""
        return self.rotation

    def pair(self, tree: Tree) -> Pair:
        """The links whose ends coincide, and the kind of coincidence."""
        to = "base" if self.to == "start" else link_of(tree, self.to)
        return link_of(tree, self.link), to, "full" if self.rotation else "point"

    def equations(self, tree: Tree) -> list[tuple[str, Constraint]]:
        """The closed loop of the two ends."""
        return [("meet", Closed(meeting_loop(tree, *self.pair(tree))))]


@dataclass(frozen=True, eq=False)
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
    value: float | None = None
    speed: float = 0.0

    def equations(self, tree: Tree) -> list[tuple[str, Constraint]]:
        """The value of the joint's coordinate."""
        return [("drive", Coordinate(tree.coordinates[tree.link_index(self.link)], 0.0))]


#: Each kind by the name that a chain's file gives it.
KINDS: dict[str, type[ChainConstraint]] = {
    c.kind: c for c in (FixedPosition, FixedRotation, MovingPosition, Velocity, LoopClosure, DrivenJoint)
}

#: Values of the fields of a constraint in the place of those that are wrong, while the others are checked.
REPLACEMENTS: dict[str, Any] = {
    **dict.fromkeys(VECTORS, (0.0, 0.0, 0.0)),
    **dict.fromkeys(SCALARS, 0.0),
    **{"rotation": False, "enabled": True, "to": "start"},
}


def constraint_of(kind: str, name: str, link: str, *, enabled: bool = True, **specific: Any) -> ChainConstraint:
    """The constraint of a kind, from its table in the file of a chain.

    Raises
    ------
    ModelError
        With every problem found: the constraint, the field, the value, what was expected.

    Examples
    --------
    >>> constraint_of("fixed position", "hold", "hook", position=(12, 0, 8))
    FixedPosition(name='hold', link='hook', enabled=True, position=(12.0, 0.0, 8.0))
    """
    check, form = Checker(f"constraint {name!r}"), KINDS.get(kind, ChainConstraint)
    known, lacking = form.specific(), [key for key in form.needed if key not in specific]
    if kind not in KINDS:
        check.report("kind", kind, choices(KINDS))
    for key in lacking:
        expected = "the name of a link" if key == "to" else "three numbers"
        check.report(key, None, f"{expected}, which a {kind} constraint needs")
    for key in [key for key in specific if key not in known] if kind in KINDS else ():
        listed = " and ".join(known) if len(known) < 3 else f"{', '.join(known[:-1])} and {known[-1]}"
        check.report(key, specific[key], f"nothing, for a {kind} constraint has {listed}")
    fields = {key: specific.get(key, REPLACEMENTS[key]) for key in known if key in specific or key in lacking}
    try:
        constraint = form(name, link, enabled=enabled, **fields)
    except ModelError as error:
        check.problems += error.problems
    check.finish()
    return constraint


#: Extrinsic: about the fixed axes x, y, z in this order, and about z, y, x.
CONVENTIONS: tuple[str, ...] = ("xyz", "zyx")

#: Squares of angles below this take the series: its next term is lost in rounding.
SMALL = 1e-8


def angles_rotation(angles: npt.ArrayLike, convention: str = "xyz") -> Array:
    """Rotation (3, 3) of the angles ax, ay, az about fixed axes.

    Parameters
    ----------
    angles : (3,) array_like
        About x, y and z, rad, whatever the order in which they are done; scalars of any kind.
    convention : {"xyz", "zyx"}
        ``"xyz"``: about x first, then the fixed y, then the fixed z, ``Rz Ry Rx`` (the same as intrinsic z, y', x'');
        ``"zyx"``: about z first, ``Rx Ry Rz`` (intrinsic x, y', z'').

    Raises
    ------
    ArgumentError
        For another convention.

    Examples
    --------
    >>> angles_rotation([0.0, 0.0, np.pi / 2]).round(9).tolist()[1]
    [1.0, 0.0, 0.0]
    """
    turned = np.asarray(readable("angles", angles))
    parts = [turn(angle) for turn, angle in zip((rotation_x, rotation_y, rotation_z), turned, strict=True)]
    return np.asarray(parts[2] @ parts[1] @ parts[0] if known(convention) == "xyz" else parts[0] @ parts[1] @ parts[2])


def rotation_angles(rotation: npt.ArrayLike, convention: str = "xyz") -> FloatArray:
    """The angles (3,), rad, of a rotation (3, 3): `angles_rotation` of them gives it back.

    The middle angle is within a quarter turn. Where it is one the first and the third turn about one axis: then the one that
    is done first is zero.

    Parameters
    ----------
    rotation : (3, 3) array_like
        A rotation matrix.
    convention : {"xyz", "zyx"}
        See `angles_rotation`.

    Examples
    --------
    >>> rotation_angles(angles_rotation([0.1, 0.2, 0.3])).round(9).tolist()
    [0.1, 0.2, 0.3]
    """
    r = np.asarray(readable("rotation", rotation), dtype=float)
    if r.shape != (3, 3):
        raise ArgumentError(f"rotation has the shape {r.shape}; expected (3, 3)")
    if known(convention) == "zyx":
        return -rotation_angles(r.T, "xyz")  # (the inverse of Rx Ry Rz is Rz Ry Rx of the negative angles)
    level = float(np.hypot(r[0, 0], r[1, 0]))
    if level > 1e-12:
        return np.array([np.arctan2(r[2, 1], r[2, 2]), np.arctan2(-r[2, 0], level), np.arctan2(r[1, 0], r[0, 0])])
    return np.array([0.0, np.arctan2(-r[2, 0], level), np.arctan2(-r[0, 1], r[1, 1])])


def known(convention: Any) -> str:
    """The convention, if it is one."""
    if convention not in CONVENTIONS:
        raise ArgumentError(f"angles are {shown(convention)}; expected {choices(CONVENTIONS)}")
    return str(convention)


def turned(turn: Array) -> Array:
    """Rotation (3, 3) about a vector (3,) of scalars by its length, rad (O. Rodrigues, 1840)."""
    square = turn @ turn
    cos, sin = cos_sin(0.5 * root(square))
    w = select(square - SMALL, cos, 1.0 - square / 8.0)
    x, y, z = turn * select(square - SMALL, sin / root(select(square - SMALL, square, 1.0)), 0.5 - square / 48.0)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ],
    )


def turn_of(rotation: Array) -> Array:
    """Rotation vector (3,) of a rotation (3, 3) of scalars, up to half a turn."""
    half = half_sine(rotation)
    square = half @ half
    size = root(select(square - SMALL, square, 1.0))
    angle = 2.0 * atan2(0.5 * size, root(select(1.0 - 0.25 * square, 1.0 - 0.25 * square, 0.0)))
    return np.asarray(half * select(square - SMALL, angle / size, 1.0 + square / 24.0))
