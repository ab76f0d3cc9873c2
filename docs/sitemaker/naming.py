"""How a name is written in prose, and how it is written in full."""

from __future__ import annotations

import re

CALL = re.compile(r"\(.*\)$", re.DOTALL)


def bare(text: str) -> str:
    """A name without what it is called with."""
    return CALL.sub("", text.strip())


def canonical(text: str) -> str:
    """The full name that a piece of code means: ``lw.load(path)`` is ``linkwise.load``.

    A name without a dot is nobody's: `load` alone may be any of several.
    """
    name = bare(text)
    head, _, rest = name.partition(".")
    if head in {"lw", "linkwise"}:
        return f"linkwise.{rest}".removesuffix(".")
    return f"linkwise.{name}" if rest and (head in MODULES or head[:1].isupper()) else ""


MODULES = (
    "clearance",
    "control",
    "dynamics",
    "errors",
    "export",
    "files",
    "identification",
    "inverse_kinematics",
    "kinematics",
    "loops",
    "planar",
    "robo",
    "robots",
    "rtss",
    "solve",
    "spacelib",
    "trajectory",
    "view",
    "workspace",
)
"""The public modules, in the order of the alphabet."""
