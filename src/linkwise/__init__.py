"""Linkwise: kinematics and dynamics of linked rigid bodies, written once on symbols, compiled into NumPy functions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwise import errors as errors
from linkwise.mechanism import Mechanism as Mechanism
from linkwise.model.inertia import Inertia as Inertia
from linkwise.model.link import Link as Link
from linkwise.model.motor import Motor as Motor

if TYPE_CHECKING:
    from linkwise import robots as robots
    from linkwise.files import load as load
    from linkwise.files import save as save
    from linkwise.kernel import Kernel as Kernel

__version__ = "0.1.0"

__all__ = ["Inertia", "Kernel", "Link", "Mechanism", "Motor", "errors", "load", "robots", "save"]

_LATER = {"robots": "linkwise", "load": "linkwise.files", "save": "linkwise.files", "Kernel": "linkwise.kernel"}
"""Where the names stand that are imported when first asked for, so that importing Linkwise stays quick."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'linkwise' has no attribute {name!r}")
    home = _LATER[name]
    value = import_module(f"{home}.{name}") if home == "linkwise" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
