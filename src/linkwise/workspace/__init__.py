"""What a frame of a mechanism reaches, as cells, each with the best posture found in it."""

from linkwise.workspace.workspace import Workspace as Workspace
from linkwise.workspace.workspace import workspace as workspace
