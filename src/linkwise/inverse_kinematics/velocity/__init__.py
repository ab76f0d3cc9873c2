"""Velocity and acceleration solving: from the motion of a frame to that of the joints, with diagnostics."""

from linkwise.inverse_kinematics.velocity.joint_velocities import joint_accelerations as joint_accelerations
from linkwise.inverse_kinematics.velocity.joint_velocities import joint_velocities as joint_velocities
from linkwise.inverse_kinematics.velocity.joint_velocities import velocity_step as velocity_step
from linkwise.inverse_kinematics.velocity.nullspace import manipulability_gradient as manipulability_gradient
from linkwise.inverse_kinematics.velocity.nullspace import towards_middle as towards_middle
from linkwise.inverse_kinematics.velocity.path_following import PathSolution as PathSolution
from linkwise.inverse_kinematics.velocity.path_following import follow as follow
from linkwise.inverse_kinematics.velocity.solution import VELOCITY_REASONS as VELOCITY_REASONS
from linkwise.inverse_kinematics.velocity.solution import VelocitySolution as VelocitySolution
