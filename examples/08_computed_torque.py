"""Computed torque on a PUMA 560 whose payload the controller does not know, compiled together with the dynamics."""

from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise.dynamics import inverse_dynamics

puma = lw.robots.puma560().without_friction()  # what is left in the end is then the payload's alone
laden = puma.with_payload(mass=2.5, com=(0.0, 0.0, 0.1))

# The motion that is wanted: a polynomial of degree five between two postures, then half a second of rest; steps of 1 ms.
start = np.radians([-60, 30, -120, 0, 30, 0])
end = np.radians([60, 75, -60, 90, -45, 120])
move = lw.trajectory.quintic(start, end, np.linspace(0.0, 1.5, 1501))
t = np.linspace(0.0, 2.0, 2001)
q_ref, qd_ref, qdd_ref = (np.vstack([x, np.tile(x[-1], (500, 1))]) for x in (move.q, move.qd, move.qdd))


# The law, written for one configuration. Inverse dynamics of the model that the controller has turns a wanted acceleration
# into torque (J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "Resolved-acceleration control", 1980, in joint coordinates).
def computed_torque(t, q, qd, model, q_ref, qd_ref, qdd_ref, bandwidth):
    wanted = qdd_ref + 2.0 * bandwidth * (qd_ref - qd) + bandwidth**2 * (q_ref - q)
    return inverse_dynamics(model, q, qd, wanted)


# Three bandwidths at once, one per rollout; a Sampled parameter has one value for each instant, or one for all.
bandwidths = np.array([10.0, 20.0, 40.0])
law = lw.Feedback(
    computed_torque,
    model=puma,
    q_ref=lw.Sampled(q_ref),
    qd_ref=lw.Sampled(qd_ref),
    qdd_ref=lw.Sampled(qdd_ref),
    bandwidth=lw.Sampled(bandwidths[:, None], ndim=0),
)
runs = {}
for name, arm in (("payload known", puma), ("2.5 kg unknown", laden)):
    runs[name] = lw.simulate(arm, start, torque=law, t=t)
    error = np.abs(runs[name].q - q_ref)
    for bandwidth, worst, last in zip(bandwidths, error.max(axis=(1, 2)), error[:, -1].max(axis=1), strict=True):
        print(f"{name:14}, {bandwidth:.0f} rad/s: at most {worst * 1e3:6.2f} mrad, {last * 1e3:6.2f} mrad in the end")

# In the end only the weight that the model lacks is left: the error is M^-1 times that torque, over the bandwidth squared.
made, zero = runs["2.5 kg unknown"], np.zeros(6)
missing = laden.gravity_torque(end) - puma.gravity_torque(end)
expected = np.linalg.solve(puma.mass_matrix(end), missing) / bandwidths[:, None] ** 2
share = np.abs(made.q[:, -1] - end).max(axis=1) / np.abs(expected).max(axis=1)
print("left over, of what the weight explains:", share.round(2))
assert np.abs(runs["payload known"].q - q_ref).max() < 1e-3 < np.abs(made.q[0] - q_ref).max()

try:
    from matplotlib.figure import Figure
except ImportError:
    print("no picture: pip install matplotlib")
else:
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for row, bandwidth in enumerate(bandwidths):
        axes.plot(t, 1e3 * np.linalg.norm(made.q[row] - q_ref, axis=1), label=f"{bandwidth:.0f} rad/s")
    axes.set(xlabel="t, s", ylabel="tracking error, mrad", title="computed torque, 2.5 kg unknown to the controller")
    axes.legend(title="bandwidth")
    axes.grid(alpha=0.3)
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/computed_torque.png", dpi=120)
    print("drawn: out/computed_torque.png")
