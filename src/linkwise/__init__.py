"""Linkwise: kinematics and dynamics of linked rigid bodies, written once on symbols, compiled into NumPy functions."""

from typing import TYPE_CHECKING

from linkwise.lazy import lazy

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
    from linkwise import workspace as workspace
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
    from linkwise.model.potential import BallSpring as BallSpring
    from linkwise.model.potential import ConstantForce as ConstantForce
    from linkwise.model.shape import Shape as Shape
    from linkwise.model.spring import EndStop as EndStop
    from linkwise.model.spring import LinearSpringDamper as LinearSpringDamper
    from linkwise.model.spring import Spring as Spring
    from linkwise.model.tendon_path import Pulley as Pulley
    from linkwise.model.tendon_path import WrapCylinder as WrapCylinder
    from linkwise.model.tendon_path import WrapSphere as WrapSphere
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

#: Module of each public name. They are imported on first use, so that importing Linkwise, and the help of its command line,
#: cost next to nothing.
__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "": """
            clearance control dynamics errors export files identification inverse_kinematics kinematics loops
            planar robo robots rtss solve spacelib trajectory view workspace
        """,
        "linkwise.comparison": "compare",
        "linkwise.dynamics": "LinkWrenches Wrench",
        "linkwise.expr.symbols": "symbols",
        "linkwise.files": "load loads save",
        "linkwise.kernel": "Kernel",
        "linkwise.kernel.threads": "get_threads set_threads",
        "linkwise.looped.stack": "stack",
        "linkwise.mechanism": "Mechanism",
        "linkwise.model.inertia": "Inertia",
        "linkwise.model.link": "Link",
        "linkwise.model.loop": "Loop",
        "linkwise.model.mimic": "Mimic",
        "linkwise.model.motor": "Motor",
        "linkwise.model.potential": "BallSpring ConstantForce",
        "linkwise.model.shape": "Shape",
        "linkwise.model.spring": "EndStop LinearSpringDamper Spring",
        "linkwise.model.tendon_path": "Pulley WrapCylinder WrapSphere",
        "linkwise.simulation": "Feedback Sampled simulate",
        "linkwise.solve": """
            Aligned CenterOfMass Clear Closed Coordinate Distance Follows LimitMargin LookAt Manipulability
            Orientation Pose Position Posture
        """,
        "linkwise.trajectory": "CartesianTrajectory Trajectory",
    },
)
