"""What must hold of a mechanism: one kind of constraint a file, each with its residual and its derivative."""

from linkwise.solve.constraints.constraint import Constraint as Constraint
from linkwise.solve.constraints.constraint import Equations as Equations
from linkwise.solve.constraints.constraint import View as View
from linkwise.solve.constraints.pose import Orientation as Orientation
from linkwise.solve.constraints.pose import Pose as Pose
from linkwise.solve.constraints.pose import Position as Position
