"""Planar chains, trees and loops as LaValle's *Planning Algorithms* (2006) has them, over the one model of Linkwise."""

from linkwise.planar.clearance import PlanarClearance as PlanarClearance
from linkwise.planar.clearance import clearance as clearance
from linkwise.planar.collision import collides as collides
from linkwise.planar.collision import distance as distance
from linkwise.planar.collision import pairs_in_collision as pairs_in_collision
from linkwise.planar.configuration_space import ConfigurationSpace as ConfigurationSpace
from linkwise.planar.configuration_space import configuration_space as configuration_space
from linkwise.planar.drawing import draw as draw
from linkwise.planar.drawing_steps import draw_joints as draw_joints
from linkwise.planar.drawing_steps import draw_pair as draw_pair
from linkwise.planar.drawing_steps import draw_steps as draw_steps
from linkwise.planar.from_spatial import from_spatial as from_spatial
from linkwise.planar.mechanism import Mechanism as Mechanism
from linkwise.planar.polygon import bar as bar
from linkwise.planar.polygon import rounded_bar as rounded_bar
from linkwise.planar.spatial import Freedoms as Freedoms
from linkwise.planar.tree import Link as Link
from linkwise.planar.tree import Loop as Loop
