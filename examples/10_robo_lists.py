"""A robot as Robo's two lists: a gripper arm that branches, and the PUMA 560 with and without its motors on its links."""

import numpy as np

from linkwise import robo

np.set_printoptions(precision=3, suppress=True)

# Links are numbered from the tips to the base. Each: number, kind, connected, previous, mass, inertia, l, p, a, motors.
Links = [
    [1, "Translationaly", {0}, 3, 0.1, 0, (0.3, 0.02, 0), (0.02, 0, 0), 0, []],  # two fingers that slide
    [2, "Translationaly", {0}, 3, 0.1, 0, (0.3, -0.02, 0), (0.02, 0, 0), 0, []],
    [3, "Rotationaly", [1, 2], 4, 1.5, (0.001, 0.012, 0.012), (0, 0, 0.4), (0.15, 0, 0), 0, []],  # an arm
    [4, "Rotationalz", [3], 0, 4.0, (0.06, 0.06, 0.01), (0, 0, 0), (0, 0, 0.2), 0, [1]],  # a column that turns
]
# Each: number, link, driven_joint, mass, inertia, l, p, a, G. The motor of the arm rides on the column.
Motors = [
    [1, 4, 3, 0.5, (2e-4, 3e-4, 2e-4), (0, -0.06, 0.4), (0, 0, 0), 0, 80],
    [2, 0, 4, 0.5, (2e-4, 2e-4, 3e-4), (0, 0, -0.1), (0, 0, 0), 0, 60],
]
arm = robo.robot(Links, Motors, name="gripper arm")
print(arm, "with the joints of links", arm.numbers)

# Coordinates run from the base to the tips: the joints of links 4, 3, 2 and 1.
q, zero = np.array([0.3, -0.5, 0.0, 0.0]), np.zeros(4)
print("holding it takes", robo.inverse_dynamics(arm, q, zero, zero))

# One wrong number makes the lists disagree; everything wrong is told at once.
Links[0][3], Links[2][4] = 4, -1.5
try:
    robo.robot(Links, Motors)
except ValueError as error:
    print(error)

# The PUMA 560. Most toolboxes keep G^2 Jm of a motor; on its link its spin is felt there too.
Links, Motors = robo.puma560()
reduced = robo.robot(Links, Motors, rotors="reduced", physical=False)
carried = robo.robot(Links, Motors, rotors="contained", physical=False)
q = np.array([0.1, 0.7, -0.4, 0.2, 0.8, 0.3])
print("what carrying them adds to the mass matrix")
print(robo.mass_matrix(carried, q) - robo.mass_matrix(reduced, q))

T = robo.forward_kinematics(carried, q)
found = robo.inverse_kinematics(carried, T, q + 0.2)
assert found.success
assert np.allclose(found.q, q, atol=1e-6)
