"""Position solving: constraints in, joint coordinates out, each answer checked again before it is called one."""

from linkwise.solve.constraints import Orientation as Orientation
from linkwise.solve.constraints import Pose as Pose
from linkwise.solve.constraints import Position as Position
from linkwise.solve.inverse_kinematics import inverse_kinematics as inverse_kinematics
from linkwise.solve.newton_raphson import newton_raphson as newton_raphson
from linkwise.solve.solution import REASONS as REASONS
from linkwise.solve.solution import Solution as Solution
from linkwise.solve.solver import solve as solve
from linkwise.solve.steepest_descent import steepest_descent as steepest_descent
