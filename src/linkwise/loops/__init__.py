"""Closed loops: a mechanism driven through its loops, assembled from any start, and its singular positions."""

from linkwise.loops.assembly_modes import AssemblyModes as AssemblyModes
from linkwise.loops.assembly_modes import LinkageSolution as LinkageSolution
from linkwise.loops.assembly_modes import assemble as assemble
from linkwise.loops.linkage import Linkage as Linkage
from linkwise.loops.mobility import Mobility as Mobility
from linkwise.loops.mobility import mobility as mobility
from linkwise.loops.singularities import Singularities as Singularities
