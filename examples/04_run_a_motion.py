"""A motion between two postures: the efforts it takes, checked by the power balance, and a file for ``linkwise run``."""

import numpy as np

import linkwise as lw
from linkwise import files

puma = lw.robots.puma560()
start = np.radians([-60, 30, -120, 0, 30, 0])
end = np.radians([60, 75, -60, 90, -45, 120])
duration, count = 1.5, 101

# The polynomial of degree five that begins and ends at rest, without a jump in acceleration.
t = np.linspace(0.0, duration, count)
s = t / duration
way = (10 - 15 * s + 6 * s**2) * s**3
speed = 30 * (s * (1 - s)) ** 2 / duration
acceleration = 60 * s * (1 - s) * (1 - 2 * s) / duration**2
q, qd, qdd = start + np.outer(way, end - start), np.outer(speed, end - start), np.outer(acceleration, end - start)

tau = puma.inverse_dynamics(q, qd, qdd)
for name, peak, power in zip(puma.names, np.abs(tau).max(axis=0), np.abs(tau * qd).max(axis=0), strict=True):
    print(f"{name}: at most {peak:6.2f} N m, {power:6.2f} W")

# Without friction, the work of the motors becomes energy: at rest at both ends, it is all height, m g times the rise.
work = np.trapezoid((puma.without_friction().inverse_dynamics(q, qd, qdd) * qd).sum(axis=1), t)
first, last = puma.link_poses(q[[0, -1]])
gain = 0.0
for T_first, T_last, link in zip(first, last, puma.links, strict=True):
    com = np.append(link.body.com, 1.0)
    gain += link.body.mass * 9.81 * ((T_last - T_first) @ com)[2]
print(f"work {work:.2f} J, gain of potential energy {gain:.2f} J")

low, high = puma.q_min, puma.q_max
assert np.all((low <= q) & (q <= high))
assert abs(work - gain) < 1e-4 * abs(work)

files.save_motion("puma560_reach.csv", t.round(6), q.round(6), qd.round(6), qdd.round(6))
print("now: linkwise run puma560 puma560_reach.csv")
