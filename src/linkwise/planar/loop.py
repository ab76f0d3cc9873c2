"""A loop in the plane: what two links of the tree must do together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from linkwise.errors import Problem, choices
from linkwise.expr.node import Expr
from linkwise.model.checks import Checker
from linkwise.model.symbolic import any_nonzero, content, substituted
from linkwise.planar.link import WORLD
from linkwise.spatial.scalar import FloatArray

CLOSURES = {"revolute": 2, "fixed": 3}
"""How many degrees of freedom each kind of closure removes."""


@dataclass(frozen=True, eq=False)
class Loop:
    """A closure: a point of one link is pinned to a point of another, or of the world.

    A mechanism with loops is cut at one joint per loop until a tree is left (S. M. LaValle, *Planning Algorithms*, 2006,
    section 3.4); what was cut is a `Loop`. Of a loop with sliding joints cut one of the revolute ones.

    Parameters
    ----------
    first : str
        Name of a link, or ``"world"``.
    first_point : (2,) array_like
        In its body frame, m.
    second : str
        Name of another link, or ``"world"``.
    second_point : (2,) array_like
        In its body frame, m.
    joint : {"revolute", "fixed"}
        What was cut: a pin, or a rigid connection.
    angle : float
        Of the second body frame, seen from the first, where the connection is rigid, rad.
    name : str, optional
        How tables and messages call it; ``loop1``, ``loop2``, ... where none is given.

    Raises
    ------
    ModelError
        With every problem found.

    Examples
    --------
    >>> from linkwise import planar
    >>> planar.Loop("coupler", (0.12, 0.0), "rocker", (0.08, 0.0), name="pin")
    Loop('coupler', (0.12, 0), 'rocker', (0.08, 0), name='pin')
    """

    first: str
    first_point: FloatArray
    second: str
    second_point: FloatArray
    joint: Literal["revolute", "fixed"]
    angle: Any
    name: str | None

    def __init__(
        self,
        first: str,
        first_point: Any,
        second: str,
        second_point: Any,
        joint: str = "revolute",
        angle: Any = 0.0,
        name: str | None = None,
    ) -> None:
        check = Checker(f"loop {name!r}" if name else "loop")
        values: dict[str, Any] = {
            "first": _word(check, "first", first),
            "first_point": check.vector("first_point", first_point, 2),
            "second": _word(check, "second", second),
            "second_point": check.vector("second_point", second_point, 2),
            "joint": check.choice("joint", joint, tuple(CLOSURES)),
            "angle": check.number("angle", angle),
            "name": name if name is None else _word(check, "name", name),
        }
        if not check.problems and first == second:
            check.report("second", second, f"another link than {first!r}")
        if values["joint"] == "revolute" and any_nonzero(values["angle"]):
            check.report("angle", angle, "0 for a revolute joint, which leaves the angle free")
        check.finish()
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """Every field that may hold symbols."""
        return (*self.first_point, *self.second_point, self.angle)

    def replace(self, **changes: Any) -> Loop:
        """The same loop with other values for some fields; checked again."""
        return Loop(**{**self._values(), **changes})

    def substituted(self, numbers: Mapping[Expr, Any]) -> Loop:
        """The same loop with numbers, or other expressions, put in for symbols; checked again."""
        fields_with = ("first_point", "second_point", "angle")
        return self.replace(**{field: substituted(getattr(self, field), numbers) for field in fields_with})

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal loops, hashable."""
        points = content((self.first_point, self.second_point, self.angle))
        return (self.first, self.second, self.joint, self.name, points)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loop) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return Loop, tuple(self._values().values())

    def __repr__(self) -> str:
        said = [repr(self.first), _point(self.first_point), repr(self.second), _point(self.second_point)]
        said += [f"joint={self.joint!r}"] if self.joint != "revolute" else []
        said += [f"angle={self.angle}"] if any_nonzero(self.angle) else []
        return f"Loop({', '.join([*said, *([f'name={self.name!r}'] if self.name else [])])})"


def given_loops(check: Checker, loops: Any, links: Sequence[str]) -> tuple[Loop, ...]:
    """The loops as a tuple, with names for those that have none, or nothing after a report; their links must be there."""
    found = tuple(loops) if isinstance(loops, Iterable) else None
    if found is None or not all(isinstance(loop, Loop) for loop in found):
        check.report("loops", loops, "a sequence of planar.Loop")
        return ()
    made = tuple(loop if loop.name else loop.replace(name=f"loop{k}") for k, loop in enumerate(found, 1))
    names = [loop.name for loop in made]
    for k, loop in enumerate(made):
        if loop.name in names[:k]:
            check.report("loops", loop.name, "names that differ; this one stands twice")
        for field in ("first", "second"):
            if getattr(loop, field) not in {WORLD, *links}:
                there = choices([WORLD, *links])
                check.problems.append(Problem(f"loop {loop.name!r}", field, getattr(loop, field), there))
    return made


def _word(check: Checker, field: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        check.report(field, value, "a word" if field == "name" else f"the name of a link, or {WORLD!r}")
    return str(value)


def _point(point: FloatArray) -> str:
    return f"({', '.join(f'{value:g}' if isinstance(value, float) else str(value) for value in point.tolist())})"
