"""What a description file holds: a mechanism, what acts on its tool, and where the numbers come from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwise.errors import FileProblem
from linkwise.files.toml_text import Place, line_of
from linkwise.mechanism import Mechanism
from linkwise.model.shape import Shape
from linkwise.model.validation import frozen
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class Description:
    """What a description file holds.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    external : ndarray (6,)
        Force (N) and moment (N m) that act on the tool from outside, in tool axes; zero where the file says nothing.
    source : tuple of str
        Where the numbers come from, a line each.
    shapes : tuple of Shape
        What the links look like and collide with, where the file says so; nothing is computed from it.

    Examples
    --------
    >>> from linkwise import robots
    >>> found = robots.describe("planar_2r")
    >>> found.mechanism.name, found.external.tolist()
    ('planar_2r', [0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    """

    mechanism: Mechanism
    external: FloatArray = field(default_factory=lambda: frozen(np.zeros(6)))
    source: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True, eq=False)
class Reading:
    """What a reader made of a text.

    Attributes
    ----------
    description : Description or None
        What the file holds, if nothing was wrong.
    problems : list of FileProblem
        What was wrong, by line.
    lines : dict
        Where in the text each part of the description stands.
    remarks : list of FileProblem
        What was not used.
    between : frozenset of int
        Places of links that the file does not name, without mass, which the reader put between the joints of one body.
    lacking : list of FileProblem
        Those of the remarks that say what the mechanism lacks of what the file describes.
    """

    description: Description | None
    problems: list[FileProblem]
    lines: dict[Place, int]
    remarks: list[FileProblem] = field(default_factory=list)
    between: frozenset[int] = frozenset()
    lacking: list[FileProblem] = field(default_factory=list)

    def line(self, *place: object) -> int:
        """The line of the innermost place that is known, 0 for none."""
        return line_of(self.lines, place)
