"""A loop in the plane: a pin or a rigid connection between two links of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from linkwise.errors import Problem, choices
from linkwise.model.symbolic import any_nonzero
from linkwise.model.validation import Checker
from linkwise.planar.link import WORLD
from linkwise.planar.record import PlanarRecord, point_text, word
from linkwise.spatial.scalar import FloatArray

CLOSURES = ("revolute", "fixed")
"""Kinds of joints that are cut to open a loop."""

END = f"the name of a link, or {WORLD!r}"


@dataclass(frozen=True, eq=False)
class Loop(PlanarRecord):
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
            "first": word(check, "first", first, END),
            "first_point": check.vector("first_point", first_point, 2),
            "second": word(check, "second", second, END),
            "second_point": check.vector("second_point", second_point, 2),
            "joint": check.choice("joint", joint, CLOSURES),
            "angle": check.number("angle", angle),
            "name": name if name is None else word(check, "name", name, "a word"),
        }
        if not check.problems and first == second:
            check.report("second", second, f"another link than {first!r}")
        if values["joint"] == "revolute" and any_nonzero(values["angle"]):
            check.report("angle", angle, "0 for a revolute joint, which leaves the angle free")
        check.finish()
        self._assign(values)

    def __repr__(self) -> str:
        parts = [repr(self.first), point_text(self.first_point), repr(self.second), point_text(self.second_point)]
        parts += [f"joint={self.joint!r}"] if self.joint != "revolute" else []
        parts += [f"angle={self.angle}"] if any_nonzero(self.angle) else []
        return f"Loop({', '.join([*parts, *([f'name={self.name!r}'] if self.name else [])])})"


def given_loops(check: Checker, loops: Any, links: Sequence[str]) -> tuple[Loop, ...]:
    """The loops as a tuple, with names for those that have none, or nothing after a report; their links must be there."""
    several = tuple(loops) if isinstance(loops, Iterable) else None
    if several is None or not all(isinstance(loop, Loop) for loop in several):
        check.report("loops", loops, "a sequence of planar.Loop")
        return ()
    named = tuple(loop if loop.name else loop.replace(name=f"loop{k}") for k, loop in enumerate(several, 1))
    names = [loop.name for loop in named]
    for k, loop in enumerate(named):
        if loop.name in names[:k]:
            check.report("loops", loop.name, "names that differ; this one stands twice")
        for field in ("first", "second"):
            if getattr(loop, field) not in {WORLD, *links}:
                check.problems.append(Problem(f"loop {loop.name!r}", field, getattr(loop, field), choices([WORLD, *links])))
    return named
