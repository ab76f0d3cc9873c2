"""Kinematics of links and frames: one algorithm per file, registered by its import."""

from linkwise.kinematics import frame_motion as frame_motion
from linkwise.kinematics import link_motion as link_motion
from linkwise.kinematics.analytic_jacobian import analytic_jacobian as analytic_jacobian
from linkwise.kinematics.configuration import difference as difference
from linkwise.kinematics.configuration import difference_derivatives as difference_derivatives
from linkwise.kinematics.configuration import integrate as integrate
from linkwise.kinematics.configuration import integrate_derivatives as integrate_derivatives
from linkwise.kinematics.configuration import interpolate as interpolate
from linkwise.kinematics.configuration import random_configuration as random_configuration
from linkwise.kinematics.forward_kinematics import forward_kinematics as forward_kinematics
from linkwise.kinematics.jacobian import jacobian as jacobian
from linkwise.kinematics.jacobian_dot import jacobian_dot as jacobian_dot
from linkwise.kinematics.loop_constraints import closure as closure
from linkwise.kinematics.manipulability import manipulability as manipulability
