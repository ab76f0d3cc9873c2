"""Motion in time: integrators and rollouts."""

from linkwise.errors import SimulationError as SimulationError
from linkwise.simulation.ground import Ground as Ground
from linkwise.simulation.simulation import simulate as simulate
from linkwise.simulation.torque import Feedback as Feedback
from linkwise.simulation.torque import Sampled as Sampled
from linkwise.simulation.torque import saturated as saturated
