"""An arm of two links from its Denavit-Hartenberg table: where the tool is, how fast it moves, what holding it takes."""

import numpy as np

import linkwise as lw

np.set_printoptions(precision=3, suppress=True)

# One row per link: theta, d, a, alpha, in rad and m. The joint coordinate is added to theta (to d in a prismatic joint).
rows = [(0, 0, 1.0, 0), (0, 0, 0.5, 0)]
arm = lw.Mechanism.from_dh(rows, convention="standard", name="two links")
print(arm)

q = np.array([np.pi / 2, -np.pi / 2])
T_world_tool = arm.forward_kinematics(q)
print("the tool is at", T_world_tool[:3, 3])

qd = np.array([1.0, 0.0])
velocity = arm.jacobian(q) @ qd
print("its velocity is", velocity[:3], "m/s, its angular velocity", velocity[3:], "rad/s")

# A model never changes: replace() makes another. Here a mass of 2 kg sits at the end of each link, and the arm moves in a
# vertical plane (gravity along -y).
heavy = [link.replace(mass=2.0) for link in arm.links]
arm = arm.replace(links=heavy, gravity=(0, -9.81, 0))
zero = np.zeros(2)
torque = arm.inverse_dynamics(q, zero, zero)
print("holding it there takes", torque, "N m")

assert np.allclose(T_world_tool[:3, 3], [0.5, 1.0, 0.0])
assert np.allclose(velocity, np.r_[np.cross([0, 0, 1], T_world_tool[:3, 3]), 0, 0, 1])
assert np.allclose(torque, 2.0 * 9.81 * 0.5)  # only the outer mass is beside either joint, by 0.5 m
