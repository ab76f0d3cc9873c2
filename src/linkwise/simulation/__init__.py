"""Motion in time: integrators and rollouts."""

from linkwise.errors import SimulationError as SimulationError
from linkwise.simulation.feedback import Feedback as Feedback
from linkwise.simulation.feedback import Sampled as Sampled
from linkwise.simulation.feedback import saturated as saturated
from linkwise.simulation.simulation import simulate as simulate
