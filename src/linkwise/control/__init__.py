"""The cyclic chain: a kinematic solver inside a control loop.

`chain`        the chain itself: `Chain`
`constraints`  what must hold: `FixedPosition`, `FixedRotation`, `MovingPosition`, `Velocity`, `LoopClosure`,
               `DrivenJoint`
`port`, `ports`  every value by name
`cycle`        what a cycle computes
`limits`       greatest speeds and accelerations
"""

from typing import TYPE_CHECKING

from linkwise.lazy import lazy

if TYPE_CHECKING:
    from linkwise.control.chain import Chain as Chain
    from linkwise.control.chain import load as load
    from linkwise.control.constraints import DrivenJoint as DrivenJoint
    from linkwise.control.constraints import FixedPosition as FixedPosition
    from linkwise.control.constraints import FixedRotation as FixedRotation
    from linkwise.control.constraints import LoopClosure as LoopClosure
    from linkwise.control.constraints import MovingPosition as MovingPosition
    from linkwise.control.constraints import Velocity as Velocity
    from linkwise.control.constraints import angles_rotation as angles_rotation
    from linkwise.control.constraints import rotation_angles as rotation_angles
    from linkwise.control.links import FixedLink as FixedLink
    from linkwise.control.links import PrismaticLink as PrismaticLink
    from linkwise.control.links import RevoluteLink as RevoluteLink
    from linkwise.control.port import Port as Port
    from linkwise.control.ports import Ports as Ports
    from linkwise.control.recording import Recorder as Recorder
    from linkwise.control.recording import Recording as Recording
    from linkwise.control.recording import replay as replay
    from linkwise.control.state import State as State

_CONSTRAINTS = "DrivenJoint FixedPosition FixedRotation LoopClosure MovingPosition Velocity angles_rotation rotation_angles"

#: Public names are imported on first use: the process that serves ports needs few of them.
__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "linkwise.control.chain": "Chain load",
        "linkwise.control.constraints": _CONSTRAINTS,
        "linkwise.control.links": "FixedLink PrismaticLink RevoluteLink",
        "linkwise.control.port": "Port",
        "linkwise.control.ports": "Ports",
        "linkwise.control.recording": "Recorder Recording replay",
        "linkwise.control.state": "State",
    },
)
