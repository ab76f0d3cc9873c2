"""A humanoid reaches with both hands: its feet stay, its centre of mass stays above them, the rest is near to a stance.

Levels of priority: what must hold (feet, balance, chest), then the hands, then the posture. What is out of reach is met as
well as balance leaves, and the solution says what is lacking.
"""

from pathlib import Path

import numpy as np

import linkwise as lw

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def link(name, parent, axis, at, mass, com, limits):
    """A revolute joint at a place of the parent, and a body of some size."""
    before = np.eye(4)
    before[:3, 3] = at
    shape = {"mass": mass, "com": com, "inertia": [0.01 * mass] * 3}
    return lw.Link(name=name, parent=parent, axis=axis, before=before, limits=limits, **shape)


def leg(side, y):
    """Hip (yaw, roll, pitch), knee and ankle (pitch, roll)."""
    return [
        link(f"{side} hip", "base", Z, (0, y, 0), 1.0, (0, 0, 0), (-0.8, 0.8)),
        link(f"{side} roll", f"{side} hip", X, (0, 0, 0), 1.0, (0, 0, -0.05), (-0.6, 0.6)),
        link(f"{side} thigh", f"{side} roll", Y, (0, 0, 0), 6.0, (0, 0, -0.2), (-1.8, 0.8)),
        link(f"{side} shank", f"{side} thigh", Y, (0, 0, -0.4), 3.0, (0, 0, -0.2), (0.0, 2.4)),
        link(f"{side} ankle", f"{side} shank", Y, (0, 0, -0.4), 0.5, (0, 0, 0), (-1.0, 0.8)),
        link(f"{side} foot", f"{side} ankle", X, (0, 0, 0), 0.8, (0.03, 0, -0.05), (-0.5, 0.5)),
    ]


def arm(side, y):
    """Shoulder (pitch, roll, yaw), elbow and wrist."""
    outwards = (-0.3, 2.5) if y > 0 else (-2.5, 0.3)
    return [
        link(f"{side} shoulder", "chest", Y, (0, y, 0.4), 1.0, (0, 0, 0), (-2.8, 1.5)),
        link(f"{side} raise", f"{side} shoulder", X, (0, 0, 0), 1.0, (0, 0, -0.05), outwards),
        link(f"{side} arm", f"{side} raise", Z, (0, 0, 0), 1.5, (0, 0, -0.15), (-1.5, 1.5)),
        link(f"{side} forearm", f"{side} arm", Y, (0, 0, -0.3), 1.0, (0, 0, -0.12), (-2.3, 0.0)),
        link(f"{side} hand", f"{side} forearm", Z, (0, 0, -0.28), 0.5, (0, 0, -0.05), (-1.5, 1.5)),
    ]


def humanoid():
    """A pelvis that floats, a waist, a chest, two legs, two arms; and a stance with bent knees and elbows."""
    waist = link("waist", "base", Z, (0, 0, 0.1), 2.0, (0, 0, 0.05), (-1.0, 1.0))
    chest = link("chest", "waist", Y, (0, 0, 0.1), 14.0, (0, 0, 0.2), (-0.5, 1.0))
    pelvis = lw.Link(name="pelvis", joint="fixed", parent="base", mass=8.0, com=(0, 0, 0.05), inertia=[0.1] * 3)
    limbs = [*leg("left", 0.1), *leg("right", -0.1), *arm("left", 0.2), *arm("right", -0.2)]
    robot = lw.Mechanism([pelvis, waist, chest, *limbs], floating=True, name="humanoid")
    stance = robot.neutral.copy()
    for side in ("left", "right"):
        for joint, angle in (("thigh", -0.5), ("shank", 1.0), ("ankle", -0.5), ("forearm", -1.0)):
            stance[robot.nq - robot.n + robot.names.index(f"{side} {joint}")] = angle
    return robot, stance


robot, stance = humanoid()
placed = {name: robot.forward_kinematics(stance, link=name) for name in robot.link_names if name.endswith(("foot", "hand"))}
soles = [placed[f"{side} foot"][:2, 3] + [x, y] for side in ("left", "right") for x in (-0.08, 0.16) for y in (-0.05, 0.05)]
feet = [lw.Pose(f"{side} foot", placed[f"{side} foot"]) for side in ("left", "right")]
balance = lw.CenterOfMass(above=soles, margin=0.02)
upright = lw.Aligned("chest", Z, Z, upper=0.6)
print(f"{robot.nv} freedoms, {sum(body.body.mass for body in robot.links):.1f} kg")

postures = [stance]
for way in (0.2, 0.5, 0.9):
    goals = {name: placed[name][:3, 3] + [way, 0.0, -0.1] for name in ("left hand", "right hand")}
    hands = [lw.Position(name, goal, priority=1) for name, goal in goals.items()]
    solution = robot.solve([*feet, balance, upright, *hands, lw.Posture(stance, priority=2)], q0=stance)
    center = robot.center_of_mass(solution.q)
    lacking = 1000 * solution.constraint_errors[4:6, 0].max()
    print(f"{way} m ahead: {solution.reason}, hands miss by {lacking:.0f} mm, centre of mass at x = {center[0]:.3f} m")
    postures.append(solution.q)
print(solution.explain().splitlines()[-1])

out = Path("out")
out.mkdir(exist_ok=True)
picture = robot.draw([postures[0], postures[2], postures[3]], names=False, frames=False)
picture.savefig(out / "whole_body.png", dpi=80)
print(f"drawn: {out / 'whole_body.png'}")
