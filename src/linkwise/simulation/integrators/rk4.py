"""The classical Runge-Kutta method, of order 4 (W. Kutta, 1901)."""

from linkwise.simulation.integrators.declaration import explicit_stage, integrator

rk4 = integrator("rk4", (0.5, 1 / 6, 0.0), (0.5, 1 / 3, 0.5), (1.0, 1 / 3, 0.5), (0.0, 1 / 6, 1.0))(explicit_stage)
