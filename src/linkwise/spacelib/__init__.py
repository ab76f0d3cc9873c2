"""SpaceLib (G. Legnani et al., University of Brescia): the 4x4-matrix method, on numbers, batches and symbols.

Every function of *SpaceLib for MATLAB, User's Manual* under its MATLAB name, with its arguments in the manual's order. The
names of the C and Maple releases are found here too, but for those that mean two things; these are in `linkwise.spacelib.c`
and `linkwise.spacelib.maple`. The sample programs are in `linkwise.spacelib.programs`.
"""

# ruff: noqa: F403  (the modules export what they declare)
from __future__ import annotations

from importlib import import_module
from typing import Any

from linkwise.spacelib.appendix import Mcheck as Mcheck
from linkwise.spacelib.appendix import Miszero as Miszero
from linkwise.spacelib.appendix import viszero as viszero
from linkwise.spacelib.cardan import *
from linkwise.spacelib.constants import *
from linkwise.spacelib.direct_dynamics import *
from linkwise.spacelib.inertia import *
from linkwise.spacelib.linear_systems import *
from linkwise.spacelib.lines import *
from linkwise.spacelib.matrices import *
from linkwise.spacelib.position import *
from linkwise.spacelib.printing import *
from linkwise.spacelib.transformations import *
from linkwise.spacelib.vectors import *
from linkwise.spacelib.velocity import *

# the table of names needs all declarations
# isort: split
from linkwise.spacelib.names import CONSTANTS as _CONSTANTS
from linkwise.spacelib.names import NAMES as _NAMES
from linkwise.spacelib.names import alias as _alias
from linkwise.spacelib.names import aliases as _aliases
from linkwise.spacelib.names import lookfor as lookfor

_HERE = {name for row in _NAMES for name in (row.function, *row.matlab) if row.group != "Further names of C and Maple"}

__all__ = sorted({*_HERE, *_CONSTANTS, "lookfor", "solve"})  # noqa: PLE0605

_NAMESPACES = ("c", "maple", "programs")


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return import_module(f"linkwise.spacelib.{name}")
    return _alias(name, __all__)


def __dir__() -> list[str]:
    return sorted({*__all__, *_aliases(), *_NAMESPACES})
