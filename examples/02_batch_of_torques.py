"""A hundred thousand configurations in one call: leading axes are batch axes, everywhere."""

import time

import numpy as np

import linkwise as lw

puma = lw.robots.puma560()
rng = np.random.default_rng(0)
q, qd, qdd = rng.uniform(-1, 1, (3, 100_000, puma.n))

puma.inverse_dynamics(q[0], qd[0], qdd[0])  # the first call compiles, or finds the machine code on disk
start = time.perf_counter()
tau = puma.inverse_dynamics(q, qd, qdd)
elapsed = time.perf_counter() - start
print(f"{tau.shape[0]:,} configurations, {elapsed / len(tau) * 1e9:.0f} ns each")
print("greatest torque of each joint:", np.abs(tau).max(axis=0).round(1), "N m")

# Any number of leading axes, which broadcast: 50 configurations at rest, each under 20 accelerations.
grid = puma.inverse_dynamics(q[:50, None], np.zeros(6), qdd[None, :20])
print("a grid:", grid.shape)

# A batch gives the numbers of a loop, to the last bit.
assert np.array_equal(tau[:100], [puma.inverse_dynamics(*row) for row in zip(q[:100], qd[:100], qdd[:100], strict=True)])
assert grid.shape == (50, 20, 6)
