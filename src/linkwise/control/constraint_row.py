"""A constraint of a chain as a file holds it: names and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from linkwise.control.constraints import KINDS, ChainConstraint
from linkwise.control.links import is_word
from linkwise.model.validation import Checker

Triple = tuple[float, float, float]
Value = float | bool | int | Triple
"""The first value of a port."""

VECTORS: tuple[str, ...] = ("position", "angles", "velocity", "angular_velocity")
"""What a constraint may have that is a vector."""

SCALARS: tuple[str, ...] = ("value", "speed")
"""What a constraint may have that is a number."""

NEEDED: dict[str, tuple[str, ...]] = {
    "fixed position": ("position",),
    "fixed rotation": ("angles",),
    "moving position": ("position",),
    "velocity": (),
    "loop": ("to",),
    "driven joint": (),
}
"""What each kind of constraint must have."""

ALLOWED: dict[str, tuple[str, ...]] = {
    "fixed position": (),
    "fixed rotation": (),
    "moving position": ("angles", "velocity", "angular_velocity"),
    "velocity": ("velocity", "angular_velocity"),
    "loop": ("rotation",),
    "driven joint": SCALARS,
}
"""What each kind of constraint may have beside."""

_NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class ConstraintRow:
    """A constraint as a file says it: words and numbers.

    Parameters
    ----------
    name : str
        Of the constraint; its ports are called by it.
    kind : {"fixed position", "fixed rotation", "moving position", "velocity", "loop", "driven joint"}
        What must hold.
    link : str
        Whose end it is on: a link, or ``"tool"``.
    to : str, optional
        The link whose end the first one meets, or ``"start"``; of a loop.
    position : (3,) sequence of float, optional
        m, in the world.
    angles : (3,) sequence of float, optional
        About x, y and z, rad, in the convention of the chain.
    velocity, angular_velocity : (3,) sequence of float, optional
        m/s and rad/s, axes of the world. Those of a moving position are zero where they are left out.
    value, speed : float, optional
        Of a driven joint, rad and rad/s, or m and m/s; the value where the chain begins, and zero, where they are left out.
    rotation : bool
        Whether the ends of a loop are turned alike, too.
    enabled : bool
        Whether it holds from the first cycle on.

    Raises
    ------
    ModelError
        With every problem found: the constraint, the field, the value, what was expected.

    Examples
    --------
    >>> row = ConstraintRow("hold", "fixed position", "hook", position=(12, 0, 8))
    >>> row.arguments
    {'name': 'hold', 'link': 'hook', 'position': (12.0, 0.0, 8.0), 'enabled': True}
    """

    name: str
    kind: str
    link: str
    to: str | None = None
    position: Triple | None = None
    angles: Triple | None = None
    velocity: Triple | None = None
    angular_velocity: Triple | None = None
    value: float | None = None
    speed: float | None = None
    rotation: bool = False
    enabled: bool = True

    def __post_init__(self) -> None:
        check = Checker(f"constraint {self.name!r}")
        for said in ("name", "link"):
            if not is_word(value := getattr(self, said)):
                check.report(said, value, "a name")
        for said in ("rotation", "enabled"):
            object.__setattr__(self, said, check.flag(said, getattr(self, said)))
        for said in VECTORS:
            if (value := getattr(self, said)) is not None:
                object.__setattr__(self, said, tuple(check.vector(said, value).tolist()))
        for said in SCALARS:
            if (value := getattr(self, said)) is not None:
                object.__setattr__(self, said, check.number(said, value))
        if check.choice("kind", self.kind, NEEDED) == self.kind:
            self._check_kind(check)
        check.finish()
        if self.kind == "moving position":
            object.__setattr__(self, "velocity", self.velocity or _NOTHING)
            object.__setattr__(self, "angular_velocity", self.angular_velocity or (_NOTHING if self.angles else None))
        if self.kind == "driven joint":
            object.__setattr__(self, "speed", self.speed or 0.0)

    def _check_kind(self, check: Checker) -> None:
        """Whether it has what its kind needs, and nothing that its kind knows nothing of."""
        needed, allowed = NEEDED[self.kind], ALLOWED[self.kind]
        for said in ("to", *VECTORS, *SCALARS, "rotation"):
            value = getattr(self, said)
            if value is None and said in needed:
                what = "the name of a link" if said == "to" else "three numbers"
                check.report(said, value, f"{what}, which a {self.kind} constraint needs")
            elif value is not None and value is not False and said not in {*needed, *allowed}:
                check.report(said, value, f"nothing, for a {self.kind} constraint has {_members(needed + allowed)}")
        if self.to is not None and (not is_word(self.to) or self.to == self.link):
            check.report("to", self.to, f"the name of another link than {self.link!r}")
        if self.kind == "velocity" and self.velocity is None and self.angular_velocity is None:
            check.report("velocity", None, "three numbers, or an angular_velocity")
        if self.kind == "moving position" and self.angular_velocity is not None and self.angles is None:
            check.report("angular_velocity", self.angular_velocity, "nothing where there are no angles")

    @classmethod
    def of(cls, constraint: Any) -> ConstraintRow:
        """The row of a constraint of `linkwise.control.constraints`.

        Examples
        --------
        >>> from linkwise.control.constraints import Loop
        >>> ConstraintRow.of(Loop("pin", "rod", "slide")).to
        'slide'
        """
        said = {
            name: value
            for name in ("to", *VECTORS, *SCALARS, "rotation")
            if (value := getattr(constraint, name, None)) is not None
        }
        return cls(constraint.name, constraint.kind, constraint.link, enabled=constraint.enabled, **said)

    @property
    def fields(self) -> dict[str, Any]:
        """What it was made from, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def arguments(self) -> dict[str, Any]:
        """What the class of its kind takes, by name."""
        names = (*NEEDED[self.kind], *ALLOWED[self.kind])
        said = {name: value for name in names if (value := getattr(self, name)) is not None}
        return {"name": self.name, "link": self.link, **said, "enabled": self.enabled}

    def made(self) -> ChainConstraint:
        """The constraint that it describes."""
        return KINDS[self.kind](**self.arguments)

    @property
    def vectors(self) -> dict[str, Triple]:
        """What it has that is a vector, by name."""
        return {said: value for said in VECTORS if (value := getattr(self, said)) is not None}

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs that it has, without its name."""
        return ("enabled", *self.vectors, *(SCALARS if self.kind == "driven joint" else ()))


def _members(names: Iterable[str]) -> str:
    found = tuple(names)
    return " and ".join(found) if len(found) < 3 else f"{', '.join(found[:-1])} and {found[-1]}"
