"""What the bearings carry: force and moment that each link receives from its parent, along the joint axis and across it."""

import numpy as np

import linkwise as lw

np.set_printoptions(precision=2, suppress=True)

scara = lw.robots.scara_icomatic()
q, qd, qdd = np.array([0.1, 0.1, 0.0]), np.array([1.1, 2.1, 0.0]), np.array([11.0, 21.0, 0.0])

actions = scara.joint_wrenches(q, qd, qdd)  # (L, 6): force, moment about the world's origin, world axes
tau = scara.inverse_dynamics(q, qd, qdd)
for name, action in zip(scara.link_names, actions, strict=True):
    print(f"{name}: force {action[:3]} N, moment {action[3:]} N m")
print("efforts:", tau)

# The first joint turns about the world's z axis: its motor supplies that component, the bearing the five others.
assert np.isclose(actions[0, 5], tau[0])

# The base carries the weight and what accelerates the links (Newton): the sum of m (a - g) over the centres of mass.
poses, _, H = scara.motion(q, qd, qdd)
total = np.zeros(3)
for k, link in enumerate(scara.links):
    com = poses[k] @ np.append(link.body.com, 1.0)
    total += link.body.mass * ((H[k] @ com)[:3] - scara.gravity)
print("sum of m (a - g):", total)
assert np.allclose(actions[0, :3], total)
