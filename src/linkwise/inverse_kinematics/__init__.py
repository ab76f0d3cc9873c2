"""Inverse kinematics: joint coordinates for poses, in closed form and by iteration, and joint velocities for velocities."""

from linkwise.inverse_kinematics.closed_form import ClosedForm as ClosedForm
from linkwise.inverse_kinematics.closed_form import NoClosedFormError as NoClosedFormError
from linkwise.inverse_kinematics.closed_form import Solutions as Solutions
from linkwise.inverse_kinematics.closed_form import closed_form as closed_form
from linkwise.inverse_kinematics.interactive import DragSolution as DragSolution
from linkwise.inverse_kinematics.interactive import TargetFollower as TargetFollower
from linkwise.inverse_kinematics.inverse_kinematics import all_inverse_kinematics as all_inverse_kinematics
from linkwise.inverse_kinematics.inverse_kinematics import inverse_kinematics as inverse_kinematics
from linkwise.inverse_kinematics.inverse_kinematics import numeric_solutions as numeric_solutions
from linkwise.inverse_kinematics.textbook_methods import newton_raphson as newton_raphson
from linkwise.inverse_kinematics.textbook_methods import steepest_descent as steepest_descent
from linkwise.inverse_kinematics.velocity import VELOCITY_REASONS as VELOCITY_REASONS
from linkwise.inverse_kinematics.velocity import PathSolution as PathSolution
from linkwise.inverse_kinematics.velocity import VelocitySolution as VelocitySolution
from linkwise.inverse_kinematics.velocity import follow as follow
from linkwise.inverse_kinematics.velocity import joint_accelerations as joint_accelerations
from linkwise.inverse_kinematics.velocity import joint_velocities as joint_velocities
from linkwise.inverse_kinematics.velocity import manipulability_gradient as manipulability_gradient
from linkwise.inverse_kinematics.velocity import towards_middle as towards_middle
from linkwise.inverse_kinematics.velocity import velocity_step as velocity_step
