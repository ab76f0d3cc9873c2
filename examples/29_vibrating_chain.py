"""Four masses in a row, springs from each to the next: the frequencies and shapes of a chain, beside those on paper.

Equal masses m and springs k between two walls vibrate with w_j = 2 sqrt(k/m) sin(j pi / (2 (n + 1))), the i-th mass by
sin(i j pi / (n + 1)); without the walls with 2 sqrt(k/m) sin(j pi / (2 n)), j from 0, which is the row that moves as one
(L. Meirovitch, *Fundamentals of Vibrations*, 2001, section 7.1).
"""

from itertools import pairwise

import numpy as np

import linkwise as lw

N, M, K, GAP = 4, 0.5, 200.0, 0.1
names = [f"mass{i + 1}" for i in range(N)]
masses = [lw.Link(name=name, parent="base", joint="prismatic", axis=(1, 0, 0), mass=M) for name in names]
ends = ["base", *names, "base"]
points = [(name, (0.0, 0.0, 0.0)) for name in ends[:-1]] + [("base", ((N + 1) * GAP, 0.0, 0.0))]
springs = [lw.LinearSpringDamper(pair, stiffness=K, rest=GAP) for pair in pairwise(points)]
chain = lw.Mechanism(masses, springs=springs, name="chain")

rest = chain.static_equilibrium(np.arange(1, N + 1) * GAP + [0.01, -0.02, 0.015, 0.0])
print(f"at rest: {rest.q.round(9)} m; stable: {rest.stable}")

modes, j = chain.modes(rest.q), np.arange(1, N + 1)
paper = 2.0 * np.sqrt(K / M) * np.sin(j * np.pi / (2 * (N + 1)))
shapes = np.sin(np.outer(j, j) * np.pi / (N + 1)) * np.sqrt(2.0 / (N + 1) / M)
turned = modes.shapes * np.sign(np.sum(modes.shapes * shapes, axis=0))
print("rad/s:", modes.frequencies.round(4))
print(f"off by {np.abs(modes.frequencies / paper - 1).max():.0e}, shapes by {np.abs(turned - shapes).max():.0e}")

# Plucked in its second shape, it swings in it: a whole number of periods later it is where it began.
period, deviation = 2.0 * np.pi / paper[1], 1e-3 * shapes[:, 1]
swing = lw.simulate(chain, rest.q + deviation, np.zeros(N), t=(3.0 * period, period / 2000), energies=True)
back = np.abs(swing.q[-1] - swing.q[0]).max() / np.abs(deviation).max()
lost = np.abs(swing.energy_error).max()
print(f"after three periods of {period:.4f} s back to {back:.0e} of the deviation, energy to {lost:.0e} J")

free = chain.replace(springs=springs[1:-1])
paper = 2.0 * np.sqrt(K / M) * np.sin((j - 1) * np.pi / (2 * N))
modes = free.modes(rest.q)
print(f"without walls: {modes.frequencies.round(4)} rad/s, off by {np.abs(modes.frequencies - paper).max():.0e}")
print(f"neutral: {free.static_equilibrium(rest.q).neutral}")
