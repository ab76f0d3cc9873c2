"""The vocabulary of the Robotics Toolbox for Scilab (RTSS), on Linkwise's model and algorithms."""

# ruff: noqa: F403  (the modules export what they declare)
from __future__ import annotations

from linkwise.rtss.dynamics import *
from linkwise.rtss.kinematics import *
from linkwise.rtss.link import *
from linkwise.rtss.models import *
from linkwise.rtss.quaternion import *
from linkwise.rtss.robot import *
from linkwise.rtss.trajectories import *
from linkwise.rtss.transforms import *
