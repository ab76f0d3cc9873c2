"""The cyclic chain: a kinematic solver inside a control loop.

`chain`        the chain itself: `Chain`
`constraints`  what must hold: `FixedPosition`, `FixedRotation`, `MovingPosition`, `Velocity`, `LoopClosure`,
               `DrivenJoint`
`port`, `ports`  every value by name
`cycle`        what a cycle computes
`limits`       greatest speeds and accelerations
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.control.chain import Chain, load
    from linkwise.control.constraints import (
        DrivenJoint,
        FixedPosition,
        FixedRotation,
        LoopClosure,
        MovingPosition,
        Velocity,
        angles_rotation,
        rotation_angles,
    )
    from linkwise.control.links import FixedLink, PrismaticLink, RevoluteLink
    from linkwise.control.port import Port
    from linkwise.control.ports import Ports
    from linkwise.control.recording import Recorder, Recording, replay
    from linkwise.control.state import State

__all__ = [
    "Chain",
    "DrivenJoint",
    "FixedLink",
    "FixedPosition",
    "FixedRotation",
    "LoopClosure",
    "MovingPosition",
    "Port",
    "Ports",
    "PrismaticLink",
    "Recorder",
    "Recording",
    "RevoluteLink",
    "State",
    "Velocity",
    "angles_rotation",
    "load",
    "replay",
    "rotation_angles",
]

_MODULES = {
    "chain": ("Chain", "load"),
    "links": ("FixedLink", "PrismaticLink", "RevoluteLink"),
    "port": ("Port",),
    "ports": ("Ports",),
    "recording": ("Recorder", "Recording", "replay"),
    "state": ("State",),
}

#: Where each public name stands. They are imported when first asked for: the process that serves ports needs few of them.
_HOMES = dict.fromkeys(__all__, "constraints") | {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'linkwise.control' has no attribute {name!r}")
    value = getattr(import_module(f"linkwise.control.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__all__"})
