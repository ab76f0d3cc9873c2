"""Speed and acceleration limits of link ends: how far a chain may go towards its goal in a cycle."""

from linkwise.control.limits.path_scaling import Pace

__all__ = ["Pace"]
