"""The explicit Euler method, of order 1."""

from linkwise.simulation.integrators.declaration import explicit_stage, integrator

euler = integrator("euler", (0.0, 1.0, 0.0))(explicit_stage)
