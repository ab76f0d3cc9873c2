"""A robot beside five free objects, as one mechanism: it swings while they are thrown, tumble and fall.

The PUMA 560 and five boxes on floating joints share one q: first the positions and quaternions of the boxes, then the arm's
angles. Each moves as it would alone, which is what is checked: parabolas, angular momenta, energies, and the arm by itself.
"""

import numpy as np

import linkwise as lw

arm = lw.robots.puma560().without_friction()
boxes = []
for k, size in enumerate(np.array([(0.3, 0.2, 0.1), (0.1, 0.1, 0.4), (0.2, 0.2, 0.2), (0.05, 0.3, 0.2), (0.4, 0.3, 0.2)])):
    mass = 500.0 * size.prod()
    inertia = mass / 12.0 * (size @ size - size**2)
    boxes.append(lw.Link(name=f"box{k + 1}", parent="base", joint="floating", mass=mass, inertia=inertia))
scene = lw.Mechanism([*arm.links, *boxes], motors=arm.motors, tool=arm.tool, tool_link="link6", name="scene")
print(f"{scene.name}: {scene.nq} coordinates, {scene.nv} velocities, {len(scene.manifold_joints)} free bodies")

rng = np.random.default_rng(0)
q, qd = scene.neutral.copy(), rng.uniform(-2.0, 2.0, scene.nv)
for k, joint in enumerate(scene.manifold_joints):
    q[joint.q][:3] = 1.0 + 0.5 * k, 0.5, 2.0
    qd[joint.v][2] = 4.0
swing = lw.simulate(scene, q, qd, t=(1.0, 1e-3), energies=True)
print(f"energy {swing.energy[0]:.3f} J, kept to {np.abs(swing.energy_error).max():.0e} J")

t = swing.t[:, None]
for joint, box in zip(scene.manifold_joints, boxes, strict=True):
    place, start, turn = swing.q[:, joint.q], q[joint.q], np.asarray(box.body.tensor)
    flight = start[:3] + qd[joint.v][:3] * t + 0.5 * np.array([0.0, 0.0, -9.81]) * t**2
    pose = scene.link_poses(swing.q)[:, scene.link_index(box.name), :3, :3]
    spin = (pose @ turn @ swing.qd[:, joint.v, None][:, 3:])[..., 0]
    errors = np.abs(place[:, :3] - flight).max(), np.abs(spin - spin[0]).max()
    print(f"{box.name}: off its parabola by {errors[0]:.0e} m, angular momentum by {errors[1]:.0e} kg m2/s")

alone = lw.simulate(arm, q[-6:], qd[-6:], t=(1.0, 1e-3))
print(f"the arm beside the boxes and alone differ by {np.abs(swing.q[:, -6:] - alone.q).max():.0e} rad")
