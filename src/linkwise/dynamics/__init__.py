"""What forces it takes: one algorithm per file."""

from linkwise.dynamics.inverse_dynamics import inverse_dynamics as inverse_dynamics
from linkwise.dynamics.joint_actions import joint_actions as joint_actions
