"""A target that is dragged, and the mechanism that follows it without ever jumping, its loops closed."""

from linkwise.solve.dragging.dragged import Dragged as Dragged
from linkwise.solve.dragging.follower import Follower as Follower
