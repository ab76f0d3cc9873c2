"""Motions in time: quintic, trapezoidal, through way-points, straight lines of a frame, and the trajectory class."""

from linkwise.trajectory.cartesian import CartesianTrajectory as CartesianTrajectory
from linkwise.trajectory.cartesian import cartesian as cartesian
from linkwise.trajectory.cartesian import cartesian_through as cartesian_through
from linkwise.trajectory.jerk_limited import OnlineTrajectory as OnlineTrajectory
from linkwise.trajectory.jerk_limited import jerk_limited as jerk_limited
from linkwise.trajectory.motion import Event as Event
from linkwise.trajectory.motion_limits import MotionLimits as MotionLimits
from linkwise.trajectory.path import JointPath as JointPath
from linkwise.trajectory.path import path_through as path_through
from linkwise.trajectory.time_optimal import Binding as Binding
from linkwise.trajectory.time_optimal import OptimalMotion as OptimalMotion
from linkwise.trajectory.time_optimal import time_optimal as time_optimal
from linkwise.trajectory.tool_path import tool_path as tool_path
from linkwise.trajectory.trajectory import Trajectory as Trajectory
from linkwise.trajectory.trapezoidal import quintic as quintic
from linkwise.trajectory.trapezoidal import trapezoidal as trapezoidal
from linkwise.trajectory.waypoints import through as through
