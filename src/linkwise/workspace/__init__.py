"""Workspace of a frame of a mechanism, as cells, each with the best posture found in it."""

from linkwise.workspace.workspace import Workspace as Workspace
from linkwise.workspace.workspace import workspace as workspace
