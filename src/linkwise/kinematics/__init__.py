"""Kinematics of links and frames: one algorithm per file."""

from linkwise.kinematics.analytic_jacobian import analytic_jacobian as analytic_jacobian
from linkwise.kinematics.analytic_jacobian import analytic_jacobian_dot as analytic_jacobian_dot
from linkwise.kinematics.configuration import configuration_rate as configuration_rate
from linkwise.kinematics.configuration import difference as difference
from linkwise.kinematics.configuration import integrate as integrate
from linkwise.kinematics.configuration import random_configuration as random_configuration
from linkwise.kinematics.forward_kinematics import forward_kinematics as forward_kinematics
from linkwise.kinematics.forward_kinematics import link_poses as link_poses
from linkwise.kinematics.frame_motion import frame_acceleration as frame_acceleration
from linkwise.kinematics.frame_motion import frame_acceleration_derivatives as frame_acceleration_derivatives
from linkwise.kinematics.frame_motion import frame_velocity as frame_velocity
from linkwise.kinematics.frame_motion import frame_velocity_derivatives as frame_velocity_derivatives
from linkwise.kinematics.frame_motion import kinematic_hessian as kinematic_hessian
from linkwise.kinematics.frame_motion import kinematic_hessian_product as kinematic_hessian_product
from linkwise.kinematics.jacobian import jacobian as jacobian
from linkwise.kinematics.jacobian_dot import jacobian_dot as jacobian_dot
from linkwise.kinematics.link_motion import motion as motion
from linkwise.kinematics.loop_constraints import closure as closure
from linkwise.kinematics.loop_constraints import closure_bias as closure_bias
from linkwise.kinematics.loop_constraints import closure_facing as closure_facing
from linkwise.kinematics.loop_constraints import closure_jacobian as closure_jacobian
from linkwise.kinematics.manipulability import manipulability as manipulability
