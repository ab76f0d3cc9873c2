"""Constraints on a mechanism: one kind a file, each with its residual and its derivative."""

from linkwise.solve.constraints.axis_alignment import Aligned as Aligned
from linkwise.solve.constraints.axis_alignment import LookAt as LookAt
from linkwise.solve.constraints.center_of_mass import CenterOfMass as CenterOfMass
from linkwise.solve.constraints.clear import Clear as Clear
from linkwise.solve.constraints.constraint import Configuration as Configuration
from linkwise.solve.constraints.constraint import Constraint as Constraint
from linkwise.solve.constraints.constraint import ConstraintEquations as ConstraintEquations
from linkwise.solve.constraints.distance import Distance as Distance
from linkwise.solve.constraints.joint_value import Coordinate as Coordinate
from linkwise.solve.constraints.joint_value import Follows as Follows
from linkwise.solve.constraints.loop_closure import Closed as Closed
from linkwise.solve.constraints.manipulability import Manipulability as Manipulability
from linkwise.solve.constraints.pose import Orientation as Orientation
from linkwise.solve.constraints.pose import Pose as Pose
from linkwise.solve.constraints.pose import Position as Position
from linkwise.solve.constraints.posture import LimitMargin as LimitMargin
from linkwise.solve.constraints.posture import Posture as Posture
