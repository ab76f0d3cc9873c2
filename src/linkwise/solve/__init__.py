"""Position solving: a pose in, joint coordinates out, each answer checked again before it is called one; a method a file."""

from linkwise.solve.newton_raphson import newton_raphson as newton_raphson
from linkwise.solve.solution import REASONS as REASONS
from linkwise.solve.solution import Solution as Solution
from linkwise.solve.steepest_descent import steepest_descent as steepest_descent
