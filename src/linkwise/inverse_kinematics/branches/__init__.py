"""Branches of solutions: configurations by name, whole turns, self-motions of redundant arms, branches along a path."""

from linkwise.inverse_kinematics.branches.configuration import configuration_labels as configuration_labels
from linkwise.inverse_kinematics.branches.self_motion import SelfMotion as SelfMotion
from linkwise.inverse_kinematics.branches.self_motion import SelfMotionCurve as SelfMotionCurve
from linkwise.inverse_kinematics.branches.self_motion import redundant_joint as redundant_joint
