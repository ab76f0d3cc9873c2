"""The values of URDF's elements: numbers, vectors and frames as their attributes say them, with every problem gathered."""

from __future__ import annotations

import math

from linkwise.errors import FileProblem, Problem
from linkwise.files.numbers import number, why_not
from linkwise.files.xml_tree import Element
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform

UNBOUNDED = 1e30
"""How an infinite limit is written, and from where on one is read as infinite.

URDF's own reader takes no infinity. Of the largest number there is, the distance between two such limits overflows, and so
does the number itself in single precision, so that random joint values and speeds in other tools are infinite or not
numbers; they are not with this one, which no joint reaches.
"""

_INFINITE = {"inf": math.inf, "+inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}


class Notes:
    """What is found while a file is read: problems, and remarks on what is odd or not used.

    Parameters
    ----------
    swap_limits : bool
        Whether reversed limits are exchanged.
    """

    def __init__(self, swap_limits: bool = False) -> None:
        self.swap_limits = swap_limits
        self.problems: list[FileProblem] = []
        self.remarks: list[FileProblem] = []

    def report(self, line: int, message: str) -> None:
        """Note something wrong."""
        self.problems.append(FileProblem(line, message))

    def remark(self, line: int, message: str) -> None:
        """Note something odd."""
        self.remarks.append(FileProblem(line, message))

    def tell(self, line: int, problem: Problem) -> None:
        """Note a problem of the model."""
        identified = "physical=False accepts an identified set of parameters"
        self.report(line, str(problem).replace(identified, "reading with physical=False accepts it"))

    def only(self, item: str, element: Element, tag: str) -> Element | None:
        """The child with that tag, of which there may be one."""
        found = element.all(tag)
        if len(found) > 1:
            self.report(found[1].line, f"{item}: <{tag}> stands twice, first in line {found[0].line}")
        return found[0] if found else None

    def word(self, item: str, element: Element, attribute: str) -> str | None:
        """An attribute that must be there and say something."""
        said = element.get(attribute)
        if said is None or not said.strip():
            what = "has no" if said is None else "has an empty"
            self.report(element.line, f"{item}: <{element.tag}> {what} {attribute}")
            return None
        return said

    def number(self, item: str, element: Element, attribute: str, default: float | None = None) -> float:
        """A finite number; it must be there where there is no default."""
        said = element.get(attribute)
        if said is None:
            if default is None:
                self.report(element.line, f"{item}: <{element.tag}> has no {attribute}")
            return 0.0 if default is None else default
        value = number(said.strip())
        if value is None:
            self.report(element.line, f"{item}: {attribute} of <{element.tag}>: {why_not(said.strip())}")
        return 0.0 if value is None else value

    def bound(self, item: str, element: Element, attribute: str, default: float) -> float:
        """A number that may be infinite; so is the largest one there is, either way."""
        value = _INFINITE.get((element.get(attribute) or "").strip().lower())
        value = self.number(item, element, attribute, default) if value is None else value
        return math.copysign(math.inf, value) if abs(value) >= UNBOUNDED else value

    def vector(self, item: str, element: Element, attribute: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """As many finite numbers, between blanks, as the default has."""
        said = element.get(attribute)
        if said is None:
            return default
        words = said.split()
        where = f"{item}: {attribute} of <{element.tag}>"
        if len(words) != len(default):
            self.report(element.line, f"{where} is {said!r}; expected {len(default)} numbers")
            return default
        values = [number(word) for word in words]
        for word, value in zip(words, values, strict=True):
            if value is None:
                self.report(element.line, f"{where}: {why_not(word)}")
        return default if None in values else tuple(value for value in values if value is not None)

    def frame(self, item: str, element: Element) -> Array:
        """The transform (4, 4) of an element's <origin>; the identity where there is none."""
        origin = self.only(item, element, "origin")
        if origin is None:
            return transform()
        xyz = self.vector(item, origin, "xyz", (0.0, 0.0, 0.0))
        rpy = self.vector(item, origin, "rpy", (0.0, 0.0, 0.0))
        return transform(rpy_to_rotation(*rpy) if any(rpy) else None, xyz)
