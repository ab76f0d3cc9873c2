"""Speed and acceleration limits of link ends: how far a chain may go towards its goal in a cycle."""

from linkwise.control.pace.pace import Pace

__all__ = ["Pace"]
