"""A mechanism of your own, link by link: masses, a motor, a branch, a screw; written to a file and read back."""

import math

import numpy as np

import linkwise as lw

np.set_printoptions(precision=3, suppress=True)

motor = lw.Motor(inertia=2e-4, gear_ratio=80.0, viscous=1e-3, coulomb=0.3)  # on the motor's side of the gear

T_arm_camera = np.eye(4)
T_arm_camera[:3, 3] = 0.0, 0.05, 0.1
links = [
    lw.Link.dh(d=0.4, alpha=math.pi / 2, convention="standard", name="column", limits=(-2.5, 2.5), motor=motor),
    lw.Link.dh(
        a=0.6,
        convention="standard",
        name="arm",
        mass=5.0,
        com=(-0.3, 0, 0),  # in the link's own frame, which stands at its far end
        inertia=(0.01, 0.16, 0.16),  # about the centre of mass, along the link's axes
        motor=motor,
    ),
    # Not every link comes from a table: the general form is A J(q) B, and the parent can be any link.
    lw.Link(joint="screw", pitch=0.002, axis=(1, 0, 0), name="finger", parent="arm", mass=0.2),
    lw.Link(joint="fixed", before=T_arm_camera, name="camera", parent="arm", mass=0.3),
]
robot = lw.Mechanism(links, name="my_robot")
print(robot)
print("joint coordinates:", robot.names)

q = np.array([0.3, 0.5, 10.0])
print("the camera is at", robot.forward_kinematics(q, link="camera")[:3, 3])
print("holding still takes", robot.inverse_dynamics(q, 0 * q, 0 * q)[1:], "N m in the arm and the finger")

# What is wrong is said with the link, the field, the value and what was expected, all at once.
try:
    lw.Link.dh(a=0.6, convention="standard", name="elbow", mass=-1.0, limits=(2, 1))
except lw.errors.ModelError as error:
    print(error)

lw.save(robot, "my_robot.toml")
assert lw.load("my_robot.toml") == robot
