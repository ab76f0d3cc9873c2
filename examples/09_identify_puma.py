"""A PUMA's parameters from noisy measurements: a motion that excites them, encoders and motor currents, least squares."""

from pathlib import Path

import numpy as np

import linkwise as lw

puma = lw.robots.puma560()
names = puma.names

# A motion of 10 s that begins and ends at rest, repeats, keeps the limits of the joints, and tells all parameters apart.
torque_noise = np.array([0.5, 0.9, 0.45, 0.12, 0.10, 0.10])  # N m at the joint: half a percent of the greatest torques
speed, acceleration = np.array([1.5, 1.2, 1.8, 3, 3, 3]), np.array([4, 3, 6, 12, 12, 12])
motion = lw.identification.exciting_trajectory(
    puma, 10.0, qd_max=speed, qdd_max=acceleration, effort_std=torque_noise, steps=40
)
print(f"condition number: random motion {motion.random_condition:.0f}, optimised {motion.condition:.1f}")

# What a robot would record in two periods, 1000 times a second: encoders of 1000 counts a motor turn, noisy torques.
rng = np.random.default_rng(0)
t = np.arange(20_000) / 1000.0
q, qd, qdd = motion.at(np.mod(t, motion.duration))
counts = 1000 * np.abs([link.motor.gear_ratio for link in puma.links]) / (2 * np.pi)
encoders = np.round(q * counts) / counts
torques = puma.inverse_dynamics(q, qd, qdd) + rng.normal(size=q.shape) * torque_noise

# Velocities and accelerations by a low-pass filter that shifts nothing; then regressor and torques filtered alike.
record = lw.identification.differentiate(t, encoders, cutoff=8.0, tau=torques)
found = lw.identification.identify(puma, record.q, record.qd, record.qdd, record.tau, decimate=20, least_speed=0.02)
print(found)

true = puma.base_parameters(resting=False).values
share = np.abs(found.values - true) / found.deviations
near = (share < 3).mean()
print(f"{near:.0%} of {len(true)} parameters lie within 3 deviations of the truth, all within {share.max():.1f}")

# Does it predict another motion? One it has not seen, against the torques of the true arm.
start, end = np.radians([-60, 30, -120, 0, 30, 0]), np.radians([60, 75, -60, 90, -45, 120])
other = lw.trajectory.quintic(start, end, 1.5)
wanted = puma.inverse_dynamics(other.q, other.qd, other.qdd)
predicted = found.predict(other.q, other.qd, other.qdd)
error = np.sqrt(((predicted - wanted) ** 2).mean(axis=0))
for name, wrong, size in zip(names, error, np.sqrt((wanted**2).mean(axis=0)), strict=True):
    print(f"{name}: predicted to {wrong:.3f} N m rms, {wrong / size:.1%} of the torque")

# A model with these parameters, for everything else that can be computed.
model = found.to_mechanism()
assert np.allclose(model.inverse_dynamics(other.q, other.qd, other.qdd), predicted, rtol=1e-9, atol=1e-9)
assert near >= 0.95
assert np.all(error < 0.05 * np.abs(wanted).max(axis=0))

measured = wanted + rng.normal(size=wanted.shape) * torque_noise
try:
    figure = found.plot(other.with_records(tau=measured), "another motion than those identified from")
except lw.errors.MissingExtraError as missing:
    print(missing)
else:
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/identification.png")
    print("drawn: out/identification.png")
