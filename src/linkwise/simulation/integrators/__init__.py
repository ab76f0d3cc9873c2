"""Fixed-step integrators, one file each; `integrator` declares another one."""

from linkwise.simulation.integrators import rk4, semi_implicit_euler  # noqa: F401, I001  (they declare themselves, in order)
from linkwise.simulation.integrators import euler  # noqa: F401
from linkwise.simulation.integrators import ros2  # noqa: F401
from linkwise.simulation.integrators.declaration import INTEGRATORS as INTEGRATORS
from linkwise.simulation.integrators.declaration import Phase as Phase
from linkwise.simulation.integrators.declaration import explicit_stage as explicit_stage
from linkwise.simulation.integrators.declaration import integrator as integrator
from linkwise.simulation.integrators.declaration import program as program
