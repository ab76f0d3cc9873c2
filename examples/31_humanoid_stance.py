"""A human on two feet: the forces under them, within friction cones, while the body stands, sways, and on one foot.

Height 1.75 m, 70 kg; masses, lengths, centres and radii of gyration as shares of these after D. A. Winter, *Biomechanics
and Motor Control of Human Movement* (2009), figure 4.1 and table 4.1. The trunk floats; legs with six joints, arms with
three; four points under each foot may push, and rub with a coefficient of 0.6.
"""

import numpy as np

import linkwise as lw
from linkwise.dynamics import Contact, Contacts
from linkwise.errors import LinkwiseError

H, M = 1.75, 70.0
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def segment(share, length, center, gyration, down=-1.0):
    """Mass, centre of mass and inertia of a segment along z, as fields of a `Link`."""
    mass, size = share * M, length * H
    across = mass * (gyration * size) ** 2
    return {"mass": mass, "com": (0, 0, down * center * size), "inertia": (across, across, 0.1 * across)}


def leg(side, y):
    """Hip (yaw, roll, pitch), knee and ankle (pitch, roll)."""
    at = np.eye(4)
    at[1, 3] = y
    thigh, shank = np.eye(4), np.eye(4)
    thigh[2, 3], shank[2, 3] = -0.245 * H, -0.246 * H
    foot = {"mass": 0.0145 * M, "com": (0.04, 0, -0.04), "inertia": (0.0005, 0.004, 0.004)}
    return [
        lw.Link(name=f"{side}_hip_yaw", parent="trunk", before=at, axis=Z),
        lw.Link(name=f"{side}_hip_roll", parent=f"{side}_hip_yaw", axis=X),
        lw.Link(name=f"{side}_thigh", parent=f"{side}_hip_roll", axis=Y, **segment(0.1, 0.245, 0.433, 0.323)),
        lw.Link(name=f"{side}_shank", parent=f"{side}_thigh", before=thigh, axis=Y, **segment(0.0465, 0.246, 0.433, 0.302)),
        lw.Link(name=f"{side}_ankle", parent=f"{side}_shank", before=shank, axis=Y),
        lw.Link(name=f"{side}_foot", parent=f"{side}_ankle", axis=X, **foot),
    ]


def arm(side, y):
    """Shoulder (pitch, roll) and elbow."""
    at, elbow = np.eye(4), np.eye(4)
    at[:3, 3], elbow[2, 3] = (0, y, 0.288 * H), -0.186 * H
    return [
        lw.Link(name=f"{side}_shoulder", parent="trunk", before=at, axis=Y),
        lw.Link(name=f"{side}_arm", parent=f"{side}_shoulder", axis=X, **segment(0.028, 0.186, 0.436, 0.322)),
        lw.Link(name=f"{side}_forearm", parent=f"{side}_arm", before=elbow, axis=Y, **segment(0.022, 0.254, 0.682, 0.468)),
    ]


trunk = lw.Link(name="trunk", joint="fixed", parent="base", **segment(0.578, 0.288, 0.66, 0.503, down=1.0))
links = [trunk, *leg("left", 0.1), *leg("right", -0.1), *arm("left", 0.2), *arm("right", -0.2)]
human = lw.Mechanism(links, floating=True, name="human")
corners = {"front_in": (0.17, -0.04), "front_out": (0.17, 0.04), "back_in": (-0.06, -0.04), "back_out": (-0.06, 0.04)}
soles = [(side, name, (x, y, -0.039 * H)) for side in ("left", "right") for name, (x, y) in corners.items()]
feet = Contacts(human, [Contact(f"{side}_{name}", f"{side}_foot", at, friction=0.6) for side, name, at in soles])
still, weight = np.zeros(human.nv), 9.81 * sum(link.body.mass for link in human.links)
print(f"{human.nv} freedoms, {weight / 9.81:.1f} kg")

q = human.neutral.copy()
names = list(human.names)
for side in ("left", "right"):
    for joint, angle in (("thigh", -0.3), ("shank", 0.6), ("ankle", -0.3), ("forearm", -0.4)):
        q[human.nq - human.n + names.index(f"{side}_{joint}")] = angle


def stance(q, qd=still, qdd=still, active=None):
    """Efforts, forces (contacts, 3), and how far they are within their cones, N."""
    tau, forces = feet.inverse_dynamics(q, qd, qdd, active, cones=True)
    forces = forces.reshape(-1, 3)
    return tau, forces, (0.6 * forces[:, 2] - np.linalg.norm(forces[:, :2], axis=1)).min()


def on_the_ground(q):
    """The point below the centre of mass, m."""
    return human.center_of_mass(q)[:2]


tau, forces, inside = stance(q)
pressure = forces[:, 2] @ feet.positions(q)[:, :2] / forces[:, 2].sum()
left_over = abs(forces.sum(axis=0) - [0, 0, weight]).max()
print(f"standing: weight less forces {left_over:.0e} N, {inside:.1f} N within the cones")
print(f"centre of pressure less centre of mass {abs(pressure - on_the_ground(q)).max():.0e} m")
print(f"knees {tau[human.nv - human.n + names.index('left_shank')]:.1f} N m each")

# Both ankles and hips roll: the body sways over the feet, which stay where they are.
sway = np.zeros(human.nv)
place = {name: human.nv - human.n + names.index(name) for name in names}
held = feet.jacobian(q)
sway[place["left_hip_roll"]] = sway[place["right_hip_roll"]] = 0.5
qd = sway - np.linalg.pinv(held) @ held @ sway
qdd = -np.linalg.pinv(held) @ feet.bias(q, qd) + 2.0 * qd
tau, forces, inside = stance(q, qd, qdd)
share = 100.0 * forces[:4, 2].sum() / forces[:, 2].sum()
print(f"swaying at {qd[1]:.2f} m/s, {qdd[1]:.2f} m/s2: {share:.0f} % on the left foot, {inside:.1f} N within the cones")

left = feet.names[:4]
try:
    stance(q, active=left)
except LinkwiseError as error:
    print(f"on the left foot alone: {error}")


def leaning(angle):
    """Both legs rolled at the hips, the left foot level."""
    lean = q.copy()
    for joint, value in (("left_hip_roll", angle), ("right_hip_roll", angle), ("left_foot", -angle)):
        lean[human.nq - human.n + names.index(joint)] = value
    return lean


low, high = -0.3, 0.0
for _ in range(50):
    angle = 0.5 * (low + high)
    foot = feet.positions(leaning(angle), left).mean(axis=0)
    low, high = (angle, high) if on_the_ground(leaning(angle))[1] > foot[1] else (low, angle)
tau, forces, inside = stance(leaning(angle), active=left)
left_over = abs(forces[:, 2].sum() - weight)
print(f"leaning {-np.degrees(angle):.1f} degrees: forces right to {left_over:.0e} N, {inside:.1f} N within the cones")
