"""Where the links go: one algorithm per file."""

from linkwise.kinematics.closure import closure as closure
from linkwise.kinematics.closure import closure_bias as closure_bias
from linkwise.kinematics.closure import closure_facing as closure_facing
from linkwise.kinematics.closure import closure_jacobian as closure_jacobian
from linkwise.kinematics.configuration import configuration_rate as configuration_rate
from linkwise.kinematics.configuration import difference as difference
from linkwise.kinematics.configuration import integrate as integrate
from linkwise.kinematics.forward import forward_kinematics as forward_kinematics
from linkwise.kinematics.forward import link_poses as link_poses
from linkwise.kinematics.jacobian import jacobian as jacobian
from linkwise.kinematics.jacobian_dot import jacobian_dot as jacobian_dot
from linkwise.kinematics.manipulability import manipulability as manipulability
from linkwise.kinematics.manipulability import rows_of as rows_of
from linkwise.kinematics.mobility import Mobility as Mobility
from linkwise.kinematics.mobility import mobility as mobility
from linkwise.kinematics.motion import motion as motion
from linkwise.kinematics.reachable import Workspace as Workspace
from linkwise.kinematics.reachable import workspace as workspace
