"""Parameter sweeps: an algorithm at many random configurations and parameters, in parts, by processes or a cluster."""

from linkwise.parameter_sweep.run import run as run
from linkwise.parameter_sweep.storage import FORMATS as FORMATS
from linkwise.parameter_sweep.sweep import Sweep as Sweep
