"""What must hold of a mechanism: one kind of constraint a file, each with its residual and its derivative."""

from linkwise.solve.constraints.aligned import Aligned as Aligned
from linkwise.solve.constraints.closed import Closed as Closed
from linkwise.solve.constraints.constraint import Constraint as Constraint
from linkwise.solve.constraints.constraint import Equations as Equations
from linkwise.solve.constraints.constraint import View as View
from linkwise.solve.constraints.coordinate import Coordinate as Coordinate
from linkwise.solve.constraints.follows import Follows as Follows
from linkwise.solve.constraints.look_at import LookAt as LookAt
from linkwise.solve.constraints.pose import Orientation as Orientation
from linkwise.solve.constraints.pose import Pose as Pose
from linkwise.solve.constraints.pose import Position as Position
