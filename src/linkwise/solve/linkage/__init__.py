"""Closed loops: a mechanism driven through its loops, put together from nothing, with its singular positions told."""

from linkwise.solve.linkage.assembly import assemble as assemble
from linkwise.solve.linkage.linkage import Linkage as Linkage
from linkwise.solve.linkage.singularities import Singularities as Singularities
from linkwise.solve.linkage.solution import LoopSolution as LoopSolution
