"""Linkwise: kinematics and dynamics of linked rigid bodies, written once on symbols, compiled into NumPy functions."""

from linkwise.mechanism import Mechanism as Mechanism
from linkwise.model.inertia import Inertia as Inertia
from linkwise.model.link import Link as Link
from linkwise.model.motor import Motor as Motor

__version__ = "0.1.0"
