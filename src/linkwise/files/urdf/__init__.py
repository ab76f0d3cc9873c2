"""URDF, the Unified Robot Description Format of ROS, read and written; docs/urdf.md describes what is."""

from linkwise.files.urdf.reader import parse as parse
from linkwise.files.urdf.write import render as render
