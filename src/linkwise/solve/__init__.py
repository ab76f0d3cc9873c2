"""Configurations that fulfil constraints: one iteration, each solution checked by forward kinematics."""

from linkwise.solve.constraints import Aligned as Aligned
from linkwise.solve.constraints import CenterOfMass as CenterOfMass
from linkwise.solve.constraints import Clear as Clear
from linkwise.solve.constraints import Closed as Closed
from linkwise.solve.constraints import Coordinate as Coordinate
from linkwise.solve.constraints import Distance as Distance
from linkwise.solve.constraints import Follows as Follows
from linkwise.solve.constraints import LimitMargin as LimitMargin
from linkwise.solve.constraints import LookAt as LookAt
from linkwise.solve.constraints import Manipulability as Manipulability
from linkwise.solve.constraints import Orientation as Orientation
from linkwise.solve.constraints import Pose as Pose
from linkwise.solve.constraints import Position as Position
from linkwise.solve.constraints import Posture as Posture
from linkwise.solve.solution import REASONS as REASONS
from linkwise.solve.solution import PrioritySolution as PrioritySolution
from linkwise.solve.solution import Solution as Solution
from linkwise.solve.solve import solve as solve
