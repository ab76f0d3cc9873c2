"""Motion in time: integrators and rollouts."""

from linkwise.simulate.error import SimulationError as SimulationError
from linkwise.simulate.feedback import Feedback as Feedback
from linkwise.simulate.feedback import Sampled as Sampled
from linkwise.simulate.run import simulate as simulate
