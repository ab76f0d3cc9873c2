"""Motions as they are shown: where a mechanism is at any time, what that takes, its curves, and the clock."""

from linkwise.view.motions.motion import Motion as Motion
from linkwise.view.motions.motion import motion_of as motion_of
from linkwise.view.motions.motion import trajectory_of as trajectory_of
from linkwise.view.motions.playback import Playback as Playback
