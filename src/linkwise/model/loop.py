"""A closed loop: what two links of the tree must do together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from linkwise.errors import Problem, choices
from linkwise.expr.node import Expr
from linkwise.model.symbolic import substituted
from linkwise.model.validation import Checker, Record
from linkwise.spatial.scalar import FloatArray

#: What the base is called where a link is named.
BASE = "base"

LoopKind = Literal["full", "point", "hinge"]
LOOPS: tuple[str, ...] = ("full", "point", "hinge")

#: How many equations each kind of closure is.
CLOSURE_ROWS = {"full": 6, "point": 3, "hinge": 5}


@dataclass(frozen=True, eq=False)
class Loop(Record):
    """A closure: a frame on one link meets a frame on another.

    A mechanism with loops is described by its tree, whose coordinates it keeps, and by the closures that they must fulfil.

    Parameters
    ----------
    kind : {"full", "point", "hinge"}
        What coincides: the frames; their origins; their origins and z axes.
    first, second : str
        Names of the links, or ``"base"``.
    first_frame, second_frame : (4, 4) array_like, optional
        T_link_frame on each; identity by default.
    name : str, optional
        How tables and messages call it.

    Raises
    ------
    ModelError
        With every problem found.

    Examples
    --------
    >>> Loop("point", "rocker", "coupler", name="pin").kind
    'point'
    """

    kind: LoopKind
    first: str
    second: str
    first_frame: FloatArray
    second_frame: FloatArray
    name: str | None

    def __init__(
        self, kind: str, first: str, second: str, first_frame: Any = None, second_frame: Any = None, name: str | None = None
    ) -> None:
        check = Checker(f"loop {name!r}" if name else "loop")
        values: dict[str, object] = {
            "kind": check.choice("kind", kind, LOOPS),
            "first": _link(check, "first", first),
            "second": _link(check, "second", second),
            "first_frame": check.rigid("first_frame", first_frame),
            "second_frame": check.rigid("second_frame", second_frame),
            "name": name if name is None else _link(check, "name", name),
        }
        if not check.problems and first == second:
            check.report("second", second, f"another link than {first!r}")
        check.finish()
        self._assign(values)

    def __repr__(self) -> str:
        named = f", name={self.name!r}" if self.name else ""
        return f"Loop({self.kind!r}, {self.first!r}, {self.second!r}{named})"

    def substituted(self, numbers: Mapping[Expr, Any]) -> Loop:
        """The same loop with numbers, or other expressions, put in for symbols; checked again."""
        first, second = (substituted(frame, numbers) for frame in (self.first_frame, self.second_frame))
        return Loop(self.kind, self.first, self.second, first, second, self.name)


def _link(check: Checker, field: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        check.report(field, value, "a word" if field == "name" else "the name of a link, or 'base'")
    return str(value)


def given_loops(check: Checker, loops: Any, links: Sequence[str | None]) -> tuple[Loop, ...]:
    """The loops as a tuple, or nothing after a report; their links must be there."""
    result = tuple(loops) if isinstance(loops, Iterable) else None
    if result is None or not all(isinstance(loop, Loop) for loop in result):
        check.report("loops", loops, "a sequence of Loop")
        return ()
    known = {BASE, *links}
    for k, loop in enumerate(result):
        item = f"loop {loop.name!r}" if loop.name else f"loops[{k}]"
        for field in ("first", "second"):
            if getattr(loop, field) not in known:
                check.problems.append(Problem(item, field, getattr(loop, field), choices([BASE, *links])))
    return result
