"""The cyclic chain: a kinematic solver inside a control loop.

`chain`        the chain itself: `Chain`
`constraints`  what must hold: `FixedPosition`, `FixedRotation`, `MovingPosition`, `Velocity`, `Loop`,
               `DrivenJoint`
`port`, `ports`, `routes`  every value by name
`cycle`        what a cycle computes
`pace`         greatest speeds and accelerations
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.control.angles import angles_rotation as angles_rotation
    from linkwise.control.angles import rotation_angles as rotation_angles
    from linkwise.control.chain import Chain as Chain
    from linkwise.control.chain import load as load
    from linkwise.control.constraints import DrivenJoint as DrivenJoint
    from linkwise.control.constraints import FixedPosition as FixedPosition
    from linkwise.control.constraints import FixedRotation as FixedRotation
    from linkwise.control.constraints import Loop as Loop
    from linkwise.control.constraints import MovingPosition as MovingPosition
    from linkwise.control.constraints import Velocity as Velocity
    from linkwise.control.dh_links import FixedLink as FixedLink
    from linkwise.control.dh_links import PrismaticLink as PrismaticLink
    from linkwise.control.dh_links import RevoluteLink as RevoluteLink
    from linkwise.control.playback import replay as replay
    from linkwise.control.port import Port as Port
    from linkwise.control.ports import Ports as Ports
    from linkwise.control.recording import Recording as Recording
    from linkwise.control.ring_buffer import Recorder as Recorder
    from linkwise.control.state import State as State

__all__ = [
    "Chain",
    "DrivenJoint",
    "FixedLink",
    "FixedPosition",
    "FixedRotation",
    "Loop",
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

_HOMES = {
    "Chain": "chain",
    "DrivenJoint": "constraints",
    "FixedLink": "dh_links",
    "FixedPosition": "constraints",
    "FixedRotation": "constraints",
    "Loop": "constraints",
    "MovingPosition": "constraints",
    "Port": "port",
    "Ports": "ports",
    "PrismaticLink": "dh_links",
    "Recorder": "ring_buffer",
    "Recording": "recording",
    "RevoluteLink": "dh_links",
    "State": "state",
    "Velocity": "constraints",
    "angles_rotation": "angles",
    "load": "chain",
    "replay": "playback",
    "rotation_angles": "angles",
}
"""Where each public name stands. They are imported when first asked for: the process that serves ports needs few of them."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'linkwise.control' has no attribute {name!r}")
    value = getattr(import_module(f"linkwise.control.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__all__"})
