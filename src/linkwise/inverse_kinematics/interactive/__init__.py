"""A target that is dragged, and the mechanism that follows it without ever jumping, its loops closed."""

from linkwise.inverse_kinematics.interactive.follower import DragSolution as DragSolution
from linkwise.inverse_kinematics.interactive.follower import TargetFollower as TargetFollower
