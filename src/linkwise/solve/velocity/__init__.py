"""Velocity and acceleration solving: the motion of a frame in, that of the joints out, and what became of it."""

from linkwise.solve.velocity.accelerations import joint_accelerations as joint_accelerations
from linkwise.solve.velocity.follow import Followed as Followed
from linkwise.solve.velocity.follow import follow as follow
from linkwise.solve.velocity.secondary import manipulability_gradient as manipulability_gradient
from linkwise.solve.velocity.secondary import towards_middle as towards_middle
from linkwise.solve.velocity.solution import RATE_REASONS as RATE_REASONS
from linkwise.solve.velocity.solution import RateSolution as RateSolution
from linkwise.solve.velocity.speeds import joint_speeds as joint_speeds
from linkwise.solve.velocity.speeds import speed_step as speed_step
