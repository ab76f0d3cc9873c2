"""A leg like Cassie's: two closed loops, leaf springs, a rod between two ball joints; let go, and its energy accounted for.

Dimensions, masses and stiffnesses are those of the public model of Agility Robotics' Cassie (MuJoCo Menagerie,
agility_cassie), its products of inertia left out. The pelvis is held. From the hip: three motors, the knee motor, the shin
on a leaf spring, the tarsus on a free joint. The Achilles rod leads from a ball joint on the thigh to the end of a second
leaf spring on the heel: it makes the tarsus follow the knee. The toe motor moves the foot through a crank and another rod.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import linkwise as lw
from linkwise.dynamics import Contact, Contacts
from linkwise.loops import Linkage
from linkwise.simulation import Ground


def frame(position, x=(1, 0, 0), y=(0, 1, 0)):
    """T (4, 4) from an origin, m, and the directions of two axes."""
    x = np.array(x) / np.linalg.norm(x)
    z = np.cross(x, y) / np.linalg.norm(np.cross(x, y))
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = np.column_stack([x, np.cross(z, x), z]), position
    return place


# name, parent, joint, frame on the parent, mass (kg), centre of mass (m), principal moments (1e-3 kg m2)
PARTS = [
    ("hip_roll", "base", frame((0.021, 0.135, 0), (0, 0, -1)), 1.82, (-0.018, 0, -0.044), (3.43, 3.79, 2.14)),
    ("hip_yaw", "hip_roll", frame((0, 0, -0.07), (0, 0, 1)), 1.171, (0, 0, -0.034), (2.44, 2.80, 0.84)),
    ("hip_pitch", "hip_yaw", frame((0, 0, -0.09), (0, 0, -1), (1, 0, 0)), 5.52, (0.059, 0, -0.036), (10.9, 29.7, 30.3)),
    (
        "achilles_rod", "hip_pitch", frame((0, 0, 0.045), (0.7922, -0.60599, -0.0721), (0.60349, 0.79547, -0.05492)),
        0.157, (0.247, 0, 0), (0.0045, 4.487, 4.488),
    ),
    ("knee", "hip_pitch", frame((0.12, 0, 0.0045), (1, -1, 0), (1, 1, 0)), 0.944, (0.035, 0.026, 0), (1.43, 1.73, 2.53)),
    ("shin", "knee", frame((0.06068, 0.04741, 0)), 0.577, (0.183, 0.001, 0), (0.36, 14.73, 14.71)),
    (
        "tarsus", "shin", frame((0.43476, 0.02, 0), (0.52992, 0.84805, 0), (-0.84805, 0.52992, 0)),
        0.782, (0.11, -0.031, -0.001), (0.39, 13.6, 13.7),
    ),
    (
        "heel_spring", "tarsus",
        frame((-0.01269, -0.03059, 0.00092), (-0.91211, 0.40829, 0.03695), (-0.40992, -0.90952, -0.06884)),
        0.126, (0.081, 0.002, 0), (0.03, 0.222, 0.2),
    ),
    ("foot_crank", "tarsus", frame((0.058, -0.034, 0.02275)), 0.126, (0.005, 0, -0.002), (0.027, 0.05, 0.063)),
    ("plantar_rod", "foot_crank", frame((0.055, 0, -0.00791)), 0.119, (0.178, 0, 0), (0.0028, 1.774, 1.775)),
    ("foot", "tarsus", frame((0.408, -0.04, 0)), 0.15, (0.005, 0.027, 0), (0.174, 0.168, 0.333)),
]  # fmt: skip
ROD, TOE_ROD = 0.5012, 0.35012  # lengths, m
GEARED = {"hip_roll": 0.0381, "hip_yaw": 0.0381, "hip_pitch": 0.0934, "knee": 0.0934, "foot_crank": 0.0123}  # kg m2

links = [
    lw.Link(
        name=name, parent=parent, joint="ball" if name == "achilles_rod" else "revolute", before=before,
        mass=mass, com=com, inertia=1e-3 * np.array(moments),
        motor=lw.Motor(inertia=GEARED[name], viscous=1.0) if name in GEARED else None,
    )
    for name, parent, before, mass, com, moments in PARTS
]  # fmt: skip
springs = [lw.Spring("shin", stiffness=1500.0, damping=0.1), lw.Spring("heel_spring", stiffness=1250.0)]
tree = lw.Mechanism(links, springs=springs, tool_link="foot", name="leg")


def between(first, second, point):
    """Where a point of one link is on another, both where all coordinates are zero."""
    poses = (tree.forward_kinematics(tree.neutral, link) for link in (second, first))
    return np.linalg.inv(next(poses)) @ next(poses) @ frame(point)


loops = [
    lw.Loop("point", "achilles_rod", "heel_spring", frame((ROD, 0, 0)), between("achilles_rod", "heel_spring", (ROD, 0, 0))),
    lw.Loop("point", "plantar_rod", "foot", frame((TOE_ROD, 0, 0)), between("plantar_rod", "foot", (TOE_ROD, 0, 0))),
]
leg = tree.replace(loops=loops)
print(leg.mobility())

# Driven: five motors and two springs. Everything else follows; the rod's spin about itself rests.
motors = ["hip_roll", "hip_yaw", "hip_pitch", "knee", "foot_crank"]
linkage = Linkage(leg, [*motors, "shin", "heel_spring"])
print(f"follow: {', '.join(linkage.passive)}; rests: {', '.join(linkage.idle)}")
start = linkage.position(np.array([0.0, 0.0, 0.5, -0.9, -1.1, 0.0, 0.0]))
ratio = linkage.velocity(start.q, [0, 0, 0, 1, 0, 0, 0])[leg.velocity_names.index("tarsus")]
print(f"{start.reason}: {start.closure_error:.0e}; the tarsus turns by {ratio:.3f} rad per rad of the knee")

# Let go: it falls, the springs ring, friction in the gears takes the energy. RK4, steps of 0.2 ms.
rest, t = np.zeros(leg.nv), (1.0, 2e-4)
for kind in ("projection", "baumgarte", "none"):
    fall = lw.simulate(leg, start.q, rest, t=t, stabilization=kind, energies=True)
    gap = np.abs(leg.kernel("closure")(fall.q)).max()
    lost = fall.energy[0] - fall.energy[-1]
    error = np.abs(fall.energy_error).max()
    print(f"{kind:10s} loops open by {gap:.0e} m; {lost:.3f} J to friction, unaccounted {error:.0e} J")
    if kind == "projection":
        kept = fall

# Standing on it: the motors hold their angles, the ground pushes the foot up with the weight of half a robot.
hold = np.array([leg.velocity_names.index(name) for name in motors])
stiff = np.zeros(leg.nv)
stiff[hold] = 400.0, 400.0, 800.0, 1500.0, 300.0  # N m/rad


def servo(t, q, qd, gain, target):
    """Springs and dampers about the target, on the motors alone."""
    return gain * (target - q[1:]) - 0.05 * gain * qd


law = lw.Feedback(servo, gain=stiff, target=start.q[1:])  # q has one number more than qd, of the rod's ball joint
push = {"foot": lw.Wrench((0.0, 0.0, 160.0), frame="world")}
stand = lw.simulate(leg, start.q, rest, torque=law, external=push, t=(2.0, 2e-4), record=10)
bent = np.degrees(stand.q[-1, [leg.coordinate_names.index(name) for name in ("shin", "heel_spring")]])
print(f"under 160 N: shin spring {bent[0]:.2f} deg, heel spring {bent[1]:.2f} deg")

# On the ground: the hip on an upright guide, with half the pelvis; the foot falls 2 cm on its heel and toe.
pelvis = lw.Link(name="pelvis", joint="prismatic", parent="base", mass=10.33 / 2, after=np.eye(4))
robot = leg.replace(links=[pelvis, *(x.replace(parent="pelvis") if x.parent == "base" else x for x in links)])
ends = {"heel": (-0.052821, 0.092622, 0.0), "toe": (0.069746, -0.010224, 0.0)}  # of the foot's collision geometry
sole = Contacts(robot, [Contact(name, "foot", point, friction=0.8) for name, point in ends.items()])
bent = Linkage(robot, ["pelvis", *motors, "shin", "heel_spring"])
above = bent.position(np.array([0.0, 0.0, 0.0, 0.5, -0.9, -1.378678278, 0.0, 0.0])).q  # where the foot is level
above[robot.coordinate_names.index("pelvis")] += 0.02 - sole.positions(above)[:, 2].min()
drop = lw.simulate(robot, above, t=(0.1, 0.01), method="rk45", ground=Ground(sole), energies=True)
print("; ".join(f"{event.name} at {1e3 * event.time:.1f} ms" for event in drop.events))
left = np.abs(drop.energy_error).max()
print(f"loops open by {np.abs(robot.kernel('closure')(drop.q)).max():.0e} m, unaccounted {left:.0e} J")
qdd, forces = sole.forward_dynamics(drop.q[-1], drop.qd[-1], np.zeros(robot.nv), ["heel"])
print(f"the heel carries {forces[2]:.0f} N")

Path("out").mkdir(exist_ok=True)
figure, axes = plt.subplots(figsize=(7, 4))
for name in ("shin", "heel_spring"):
    axes.plot(kept.t, np.degrees(kept.q[:, leg.coordinate_names.index(name)]), label=name)
axes.set_xlabel("t [s]")
axes.set_ylabel("deflection [deg]")
axes.legend()
axes.set_title("The leaf springs of a leg that falls")
figure.savefig("out/cassie_leg.png", dpi=100)
print("drawn: out/cassie_leg.png")
