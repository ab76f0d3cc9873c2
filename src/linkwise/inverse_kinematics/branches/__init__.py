"""Branches of solutions: configurations by name, whole turns, self-motions of redundant arms, branches along a path."""

from linkwise.inverse_kinematics.branches.configuration import configuration_labels as configuration_labels
