"""A Denavit-Hartenberg table and a URDF of one robot: what lies between them, and where another table differs."""

from pathlib import Path

import numpy as np

import linkwise as lw

np.set_printoptions(precision=3, suppress=True)

# The UR5 as its maker's table has it, in the columns of the Robotics Toolbox for MATLAB: theta d a alpha sigma.
Path("ur5.csv").write_text("""\
0,  0.089159,  0,        90, 0
0,  0,        -0.425,     0, 0
0,  0,        -0.39225,   0, 0
0,  0.10915,   0,        90, 0
0,  0.09465,   0,       -90, 0
0,  0.0823,    0,         0, 0
""")
table = lw.files.read_dh("ur5.csv", dialect="matlab", convention="standard", angles="deg")

# The same arm as a URDF: joint origins and axes, link frames where the designer liked them, another zero.
JOINTS = [  # name, xyz, rpy, axis
    ("pan", (0, 0, 0.089159), (0, 0, 0), (0, 0, 1)),
    ("lift", (0, 0.13585, 0), (0, np.pi / 2, 0), (0, 1, 0)),
    ("elbow", (0, -0.1197, 0.425), (0, 0, 0), (0, 1, 0)),
    ("wrist_1", (0, 0, 0.39225), (0, np.pi / 2, 0), (0, 1, 0)),
    ("wrist_2", (0, 0.093, 0), (0, 0, 0), (0, 0, 1)),
    ("wrist_3", (0, 0, 0.09465), (0, 0, 0), (0, 1, 0)),
]


def words(values: tuple[float, ...]) -> str:
    """Numbers as an attribute of XML holds them."""
    return " ".join(str(value) for value in values)


lines = ['<robot name="ur5_drawn">', '  <link name="stand"/>']
for k, (name, xyz, rpy, axis) in enumerate(JOINTS):
    parent = f"{JOINTS[k - 1][0]}_link" if k else "stand"
    lines += [
        f'  <link name="{name}_link"/>',
        f'  <joint name="{name}" type="continuous">',
        f'    <parent link="{parent}"/> <child link="{name}_link"/>',
        f'    <origin xyz="{words(xyz)}" rpy="{words(rpy)}"/> <axis xyz="{words(axis)}"/>',
        "  </joint>",
    ]
Path("ur5_drawn.urdf").write_text("\n".join([*lines, "</robot>\n"]))
drawn = lw.load("ur5_drawn.urdf")

found = lw.compare(table, drawn)
print(found)

# The map takes coordinates from one to the other: what was taught with the table moves the drawn arm to the same place.
q = np.array([0.3, -1.2, 1.4, -0.5, 0.8, 0.1])
there = found.base @ drawn.forward_kinematics(found.transferred(q)) @ found.tool
assert np.abs(there - table.forward_kinematics(q)).max() < 1e-9

# A table copied with a slip in one number is another robot, and the place is named.
Path("slip.csv").write_text(Path("ur5.csv").read_text().replace("0.39225", "0.39925"))
slip = lw.files.read_dh("slip.csv", dialect="matlab", convention="standard", angles="deg")
for line in lw.compare(slip, drawn).differences:
    print(line)
