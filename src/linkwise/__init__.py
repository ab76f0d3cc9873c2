"""Linkwise: kinematics and dynamics of linked rigid bodies, written once on symbols, compiled into NumPy functions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise import clearance as clearance
    from linkwise import control as control
    from linkwise import dynamics as dynamics
    from linkwise import errors as errors
    from linkwise import export as export
    from linkwise import files as files
    from linkwise import identification as identification
    from linkwise import inverse_kinematics as inverse_kinematics
    from linkwise import kinematics as kinematics
    from linkwise import loops as loops
    from linkwise import planar as planar
    from linkwise import robo as robo
    from linkwise import robots as robots
    from linkwise import rtss as rtss
    from linkwise import solve as solve
    from linkwise import spacelib as spacelib
    from linkwise import trajectory as trajectory
    from linkwise import view as view
    from linkwise.comparison import compare as compare
    from linkwise.dynamics import LinkWrenches as LinkWrenches
    from linkwise.dynamics import Wrench as Wrench
    from linkwise.expr.symbols import symbols as symbols
    from linkwise.files import load as load
    from linkwise.files import loads as loads
    from linkwise.files import save as save
    from linkwise.kernel import Kernel as Kernel
    from linkwise.kernel.threads import get_threads as get_threads
    from linkwise.kernel.threads import set_threads as set_threads
    from linkwise.looped.stack import stack as stack
    from linkwise.mechanism import Mechanism as Mechanism
    from linkwise.model.inertia import Inertia as Inertia
    from linkwise.model.link import Link as Link
    from linkwise.model.loop import Loop as Loop
    from linkwise.model.mimic import Mimic as Mimic
    from linkwise.model.motor import Motor as Motor
    from linkwise.model.shape import Shape as Shape
    from linkwise.model.spring import EndStop as EndStop
    from linkwise.model.spring import LinearSpringDamper as LinearSpringDamper
    from linkwise.model.spring import Spring as Spring
    from linkwise.simulation import Feedback as Feedback
    from linkwise.simulation import Sampled as Sampled
    from linkwise.simulation import simulate as simulate
    from linkwise.solve import Aligned as Aligned
    from linkwise.solve import CenterOfMass as CenterOfMass
    from linkwise.solve import Clear as Clear
    from linkwise.solve import Closed as Closed
    from linkwise.solve import Coordinate as Coordinate
    from linkwise.solve import Distance as Distance
    from linkwise.solve import Follows as Follows
    from linkwise.solve import LimitMargin as LimitMargin
    from linkwise.solve import LookAt as LookAt
    from linkwise.solve import Manipulability as Manipulability
    from linkwise.solve import Orientation as Orientation
    from linkwise.solve import Pose as Pose
    from linkwise.solve import Position as Position
    from linkwise.solve import Posture as Posture
    from linkwise.trajectory import CartesianTrajectory as CartesianTrajectory
    from linkwise.trajectory import Trajectory as Trajectory

__version__ = "0.1.0"

__all__ = [
    "Aligned",
    "CartesianTrajectory",
    "CenterOfMass",
    "Clear",
    "Closed",
    "Coordinate",
    "Distance",
    "EndStop",
    "Feedback",
    "Follows",
    "Inertia",
    "Kernel",
    "LimitMargin",
    "LinearSpringDamper",
    "Link",
    "LinkWrenches",
    "LookAt",
    "Loop",
    "Manipulability",
    "Mechanism",
    "Mimic",
    "Motor",
    "Orientation",
    "Pose",
    "Position",
    "Posture",
    "Sampled",
    "Shape",
    "Spring",
    "Trajectory",
    "Wrench",
    "clearance",
    "compare",
    "control",
    "dynamics",
    "errors",
    "export",
    "files",
    "get_threads",
    "identification",
    "inverse_kinematics",
    "kinematics",
    "load",
    "loads",
    "loops",
    "planar",
    "robo",
    "robots",
    "rtss",
    "save",
    "set_threads",
    "simulate",
    "solve",
    "spacelib",
    "stack",
    "symbols",
    "trajectory",
    "view",
]

#: Where each public name stands ("" for a module of this package). They are imported when first asked for, so that importing
#: Linkwise, and the help of its command line, cost next to nothing.
_HOMES = {
    "Aligned": "linkwise.solve",
    "CenterOfMass": "linkwise.solve",
    "CartesianTrajectory": "linkwise.trajectory",
    "Clear": "linkwise.solve",
    "Closed": "linkwise.solve",
    "Coordinate": "linkwise.solve",
    "Distance": "linkwise.solve",
    "Feedback": "linkwise.simulation",
    "Follows": "linkwise.solve",
    "LimitMargin": "linkwise.solve",
    "Inertia": "linkwise.model.inertia",
    "Kernel": "linkwise.kernel",
    "Link": "linkwise.model.link",
    "LinkWrenches": "linkwise.dynamics",
    "LookAt": "linkwise.solve",
    "Manipulability": "linkwise.solve",
    "Loop": "linkwise.model.loop",
    "Mechanism": "linkwise.mechanism",
    "Mimic": "linkwise.model.mimic",
    "Motor": "linkwise.model.motor",
    "EndStop": "linkwise.model.spring",
    "LinearSpringDamper": "linkwise.model.spring",
    "Spring": "linkwise.model.spring",
    "Orientation": "linkwise.solve",
    "Pose": "linkwise.solve",
    "Position": "linkwise.solve",
    "Posture": "linkwise.solve",
    "Sampled": "linkwise.simulation",
    "Shape": "linkwise.model.shape",
    "Trajectory": "linkwise.trajectory",
    "Wrench": "linkwise.dynamics",
    "clearance": "",
    "compare": "linkwise.comparison",
    "control": "",
    "dynamics": "",
    "errors": "",
    "export": "",
    "files": "",
    "get_threads": "linkwise.kernel.threads",
    "identification": "",
    "kinematics": "",
    "load": "linkwise.files",
    "loads": "linkwise.files",
    "planar": "",
    "robo": "",
    "robots": "",
    "rtss": "",
    "save": "linkwise.files",
    "set_threads": "linkwise.kernel.threads",
    "simulate": "linkwise.simulation",
    "solve": "",
    "loops": "",
    "inverse_kinematics": "",
    "spacelib": "",
    "stack": "linkwise.looped.stack",
    "symbols": "linkwise.expr.symbols",
    "trajectory": "",
    "view": "",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'linkwise' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name) if _HOMES[name] else import_module(f"linkwise.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "__doc__", "__all__"})
