"""Calibrate an arm: every number of its Denavit-Hartenberg table a symbol, found from where the tool was seen."""

import numpy as np

import linkwise as lw

# The table of the data sheet, and a symbol for what is wrong with each number of it.
sheet = lw.robots.puma560()
links = []
for k, link in enumerate(sheet.links, 1):
    row = link.dh_row
    theta, d, a, alpha = lw.symbols(f"dtheta{k} dd{k} da{k} dalpha{k}")
    links.append(
        lw.Link.dh(row.theta + theta, row.d + d, row.a + a, row.alpha + alpha, convention="standard", name=link.name)
    )
tool = np.eye(4)
tool[:3, 3] = 0.05, 0.0, 0.12  # a target on the tool, off the last axis
model = lw.Mechanism(links, tool=tool, name="puma560 with errors")
place = model.kernel("forward_kinematics")
print(f"{len(model.symbols)} errors to find, {place.operations['mul']} multiplications for a pose")

# The arm on the bench: errors of 1 mm and 2 mrad, seen by a tracker to 0.05 mm.
rng = np.random.default_rng(1)
angles = np.array(["theta" in name or "alpha" in name for name in model.symbols])
true = rng.normal(size=len(angles)) * np.where(angles, 2e-3, 1e-3)
q = rng.uniform(sheet.q_min, sheet.q_max, size=(120, 6))
seen = place(q, true)[:, :3, 3] + rng.normal(size=(120, 3)) * 5e-5
fit, rest = slice(0, 80), slice(80, 120)  # 80 poses to calibrate with, 40 to judge by

# Gauss and Newton: each step solves for the errors with exact derivatives, all poses in one call.
rate = place.derivative("parameters")
found = np.zeros(len(true))
for step in range(4):
    off = seen[fit] - place(q[fit], found)[:, :3, 3]
    table = rate(q[fit], found)[:, :3, 3].reshape(-1, len(true))
    change, _, rank, _ = np.linalg.lstsq(table, off.ravel(), rcond=1e-6)
    print(f"step {step}: {1e3 * np.sqrt((off**2).sum(axis=1).mean()):.4f} mm")
    found = found + change
print(f"{rank} of {len(true)} errors can be distinguished by positions")

before = np.linalg.norm(seen[rest] - place(q[rest], np.zeros(len(true)))[:, :3, 3], axis=1)
after = np.linalg.norm(seen[rest] - place(q[rest], found)[:, :3, 3], axis=1)
print(f"other poses: {1e3 * before.mean():.2f} mm before, {1e3 * after.mean():.3f} mm after")
assert after.mean() < 2e-4

# Numbers in the place of the symbols make an arm like any other.
calibrated = model.substitute(dict(zip(model.symbols, found, strict=True)))
assert np.allclose(calibrated.forward_kinematics(q[0]), place(q[0], found), atol=1e-12)
