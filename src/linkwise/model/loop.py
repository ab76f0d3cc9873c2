"""A closed loop: a constraint between two links of the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from linkwise.expr.node import Expr
from linkwise.model.symbolic import substituted
from linkwise.model.validation import CheckedRecord, Checker

#: Name of the base as a link.
BASE = "base"

LoopKind = Literal["full", "point", "hinge"]
LOOPS: tuple[str, ...] = ("full", "point", "hinge")

#: Number of equations of each kind of closure.
CLOSURE_ROWS = {"full": 6, "point": 3, "hinge": 5}


_link = partial(Checker.word, expected="the name of a link, or 'base'", needed=True)


@dataclass(frozen=True, eq=False)
class Loop(CheckedRecord):
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

    _word = "loop"

    kind: Annotated[Any, partial(Checker.choice, allowed=LOOPS)]
    first: Annotated[str, _link]
    second: Annotated[str, _link]
    first_frame: Annotated[Any, Checker.rigid] = None
    second_frame: Annotated[Any, Checker.rigid] = None
    name: Annotated[str | None, partial(Checker.word, expected="a word")] = None

    def _check(self, check: Checker, arguments: Mapping[str, Any]) -> None:
        if not check.problems and self.first == self.second:
            check.report("second", self.second, f"another link than {self.first!r}")

    def __repr__(self) -> str:
        named = f", name={self.name!r}" if self.name else ""
        return f"Loop({self.kind!r}, {self.first!r}, {self.second!r}{named})"

    def substituted(self, numbers: Mapping[Expr, Any]) -> Loop:
        """Replace symbols by numbers or other expressions and validate again."""
        first, second = (substituted(frame, numbers) for frame in (self.first_frame, self.second_frame))
        return Loop(self.kind, self.first, self.second, first, second, self.name)


def given_loops(check: Checker, loops: Any, links: Sequence[str | None]) -> tuple[Loop, ...]:
    """The loops as a tuple, or nothing after a report; their links must be there."""
    result = check.several("loops", loops, Loop, "Loop")
    for k, loop in enumerate(result):
        item = f"loop {loop.name!r}" if loop.name else f"loops[{k}]"
        check.known(item, "first", loop.first, [BASE, *links])
        check.known(item, "second", loop.second, [BASE, *links])
    return result
