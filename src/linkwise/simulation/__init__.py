"""Motion in time: integrators and rollouts."""

from linkwise.errors import SimulationError as SimulationError
from linkwise.simulation.feedback import Feedback as Feedback
from linkwise.simulation.feedback import Sampled as Sampled
from linkwise.simulation.run import simulate as simulate
from linkwise.simulation.saturated import saturated as saturated
