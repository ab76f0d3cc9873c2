"""The robots that these tests share, so that each kernel is compiled once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from linkwise import Mechanism, robots
from linkwise.spacelib.programs import formats
from linkwise.spacelib.programs.elbow import ALPHA, ends, offsets, read_lengths


@pytest.fixture(scope="session")
def robot() -> Callable[[str], Mechanism]:
    """A bundled robot by its name, the same object each time."""
    return cache(robots.load)


@pytest.fixture(scope="session")
def elbow() -> Mechanism:
    """The robot of the SpaceLib manual, section 7.6, from its table of lengths."""
    lengths = read_lengths(formats.path("ELBOW.DAT"))
    first, last = ends(lengths)
    rows = [(0.0, 0.0, a, alpha) for a, alpha in zip(offsets(lengths), ALPHA, strict=True)]
    return Mechanism.from_dh(rows, convention="standard", base=first, tool=last)
