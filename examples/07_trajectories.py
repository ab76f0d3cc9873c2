"""One move three ways: smooth, as fast as the joints allow, and along a straight line of the tool; and what each takes."""

from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise import trajectory
from linkwise.errors import MissingExtraError
from linkwise.spatial.rotation import axial

ur5 = lw.robots.ur5()
start = np.radians([-40, -70, 100, -120, -90, 0])
end = np.radians([50, -50, 60, -100, -90, 30])
common = {"q_min": ur5.q_min, "q_max": ur5.q_max, "names": ur5.names}

# As fast as speed (rad/s) and acceleration (rad/s2) allow; the slowest joint sets the pace, all arrive together.
fast = trajectory.trapezoidal(start, end, qd_max=2.0, qdd_max=6.0, **common)
# In the same time without a jump in acceleration: the peaks are higher.
smooth = trajectory.quintic(start, end, fast.duration, **common)

# The tool on a straight line: the trajectory is one of poses, and the joints follow it.
T_start, T_end = ur5.forward_kinematics(np.stack([start, end]))
line = trajectory.cartesian(T_start, T_end, fast.duration)

q = np.empty((len(line), 6))
now = start
for k, pose in enumerate(line.poses):
    for _ in range(5):  # Newton's method, from the instant before
        T = ur5.forward_kinematics(now)
        turn = axial(pose[:3, :3] @ T[:3, :3].T)
        now = now + np.linalg.solve(ur5.jacobian(now), [*(pose[:3, 3] - T[:3, 3]), *turn])
    q[k] = now
J = ur5.jacobian(q)
qd = np.linalg.solve(J, line.twist[..., None])[..., 0]
pull = (ur5.jacobian_dot(q, qd) @ qd[..., None])[..., 0]  # what the speeds alone accelerate the tool by
qdd = np.linalg.solve(J, (line.acceleration - pull)[..., None])[..., 0]
straight = trajectory.Trajectory(line.t, q, qd, qdd, poses=line.poses).of(ur5)

moves = {"quintic": smooth, "trapezoidal": fast, "straight line": straight}
for name, move in moves.items():
    tau = ur5.inverse_dynamics(move.q, move.qd, move.qdd)
    moves[name] = move.with_records(tau=tau)
    tool = ur5.forward_kinematics(move.q)[:, :3, 3]
    way = tool[-1] - tool[0]
    aside = np.linalg.norm(np.cross(tool - tool[0], way), axis=1).max() / np.linalg.norm(way)
    speed, acceleration, effort = (np.abs(values).max() for values in (move.qd, move.qdd, tau))
    print(
        f"{name:13s} {move.duration:.2f} s, up to {speed:.2f} rad/s, {acceleration:5.2f} rad/s2, {effort:.1f} N m; "
        f"the tool is up to {aside * 1000:3.0f} mm beside the straight line"
    )

# Any instant can be asked for. Between its instants the line's joints are interpolated from q, qd and qdd: were one of these
# wrong, the tool would leave the line there.
middle = (line.t[1:] + line.t[:-1]) / 2
q, qd, qdd = straight.at(middle)
error = np.abs(ur5.forward_kinematics(q) - line.at(middle)[0]).max()
print("between the instants the tool is", "within 1e-6 m of the line" if error < 1e-6 else "off the line")
assert error < 1e-6

out = Path("out")
out.mkdir(exist_ok=True)
straight.save(out / "ur5_line.csv")  # for `linkwise run ur5 out/ur5_line.csv`
try:
    for name, move in moves.items():
        move.plot(f"ur5, {name}").savefig(out / f"ur5_{name.replace(' ', '_')}.png")
    print("now look at: ur5_quintic.png, ur5_trapezoidal.png, ur5_straight_line.png in out/")
except MissingExtraError as error:
    print(error)
