"""Robo's vocabulary: robots as two lists, of links and of motors, and its tasks, over the one model of Linkwise."""

from linkwise.robo.mathematica import loads as loads
from linkwise.robo.robot import KINDS as KINDS
from linkwise.robo.robot import Link as Link
from linkwise.robo.robot import Motor as Motor
from linkwise.robo.robot import Robot as Robot
from linkwise.robo.robot import robot as robot
from linkwise.robo.robot import to_mechanism as to_mechanism
from linkwise.robo.tasks import equations as equations
from linkwise.robo.tasks import forward_dynamics as forward_dynamics
from linkwise.robo.tasks import forward_kinematics as forward_kinematics
from linkwise.robo.tasks import inverse_dynamics as inverse_dynamics
from linkwise.robo.tasks import inverse_kinematics as inverse_kinematics
from linkwise.robo.tasks import mass_matrix as mass_matrix
from linkwise.robo.writing import from_mechanism as from_mechanism
from linkwise.robo.writing import puma560 as puma560
