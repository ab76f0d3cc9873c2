"""Motions as they are shown: positions at any time, efforts and curves."""

from linkwise.view.motion.motion import Motion as Motion
from linkwise.view.motion.motion import motion_of as motion_of
from linkwise.view.motion.motion import trajectory_of as trajectory_of
