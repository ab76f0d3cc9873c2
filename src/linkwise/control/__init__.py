"""The cyclic chain: a kinematic solver inside a control loop.

`chain`        the chain itself: `Chain`
`constraints`  what must hold: `FixedPosition`, `FixedRotation`, `MovingPosition`, `Velocity`, `Loop`,
               `DrivenJoint`
`port`, `ports`, `routes`  every value by name
`cycle`        what a cycle computes
`pace`         greatest speeds and accelerations
"""

from linkwise.control.angles import angles_rotation, rotation_angles
from linkwise.control.chain import Chain, load
from linkwise.control.constraints import DrivenJoint, FixedPosition, FixedRotation, Loop, MovingPosition, Velocity
from linkwise.control.links import FixedLink, PrismaticLink, RevoluteLink
from linkwise.control.port import Port
from linkwise.control.ports import Ports
from linkwise.control.recorder import Recorder
from linkwise.control.recording import Recording
from linkwise.control.replay import replay
from linkwise.control.state import State

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
