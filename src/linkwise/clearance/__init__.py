"""Clearance: signed distances of a mechanism from itself and from obstacles, and paths around them."""

from linkwise.clearance.clearance import Clearance as Clearance
from linkwise.clearance.clearance import clearance as clearance
from linkwise.clearance.fitting import Capsule as Capsule
from linkwise.clearance.fitting import fit_capsules as fit_capsules
from linkwise.clearance.planning import PlannedPath as PlannedPath
from linkwise.clearance.planning import plan as plan
from linkwise.clearance.shapes import LeftOut as LeftOut
