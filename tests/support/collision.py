"""A Panda with collision capsules, and obstacles around it."""

import numpy as np

import linkwise as lw

#: Link, radius, length, position and axis: franka_description of Franka Emika, without its safety distance.
PANDA = [
    ("base", 0.06, 0.03, (-0.075, 0, 0.06), "x"),
    ("link1", 0.06, 0.283, (0, 0, -0.1915), "z"),
    ("link2", 0.06, 0.12, (0, 0, 0), "z"),
    ("link3", 0.06, 0.15, (0, 0, -0.145), "z"),
    ("link4", 0.06, 0.12, (0, 0, 0), "z"),
    ("link5", 0.06, 0.10, (0, 0, -0.26), "z"),
    ("link5", 0.025, 0.14, (0, 0.08, -0.13), "z"),
    ("link6", 0.05, 0.08, (0, 0, -0.03), "z"),
    ("link7", 0.04, 0.14, (0, 0, 0.01), "z"),
    ("link7", 0.03, 0.01, (0.06, 0, 0.082), "x"),
]


def panda():
    """The Panda with a capsule or two on each link."""
    shapes = []
    for link, radius, length, position, axis in PANDA:
        origin = np.eye(4)
        origin[:3, 3] = position
        if axis == "x":
            origin[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
        shapes.append(lw.Shape(link, "capsule", (radius, length), role="collision", origin=origin))
    return lw.robots.panda().with_shapes(shapes)


def scattered(seed=0, spheres=10, capsules=10):
    """Obstacles at random between 0.45 m and 0.9 m from the axis of the first joint."""
    rng = np.random.default_rng(seed)
    obstacles = []
    for k in range(spheres + capsules):
        turn, away, height = rng.uniform(-np.pi, np.pi), rng.uniform(0.45, 0.9), rng.uniform(0.0, 1.0)
        origin = np.eye(4)
        origin[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        origin[:3, 0] *= np.linalg.det(origin[:3, :3])
        origin[:3, 3] = [away * np.cos(turn), away * np.sin(turn), height]
        kind, size = ("sphere", 0.06) if k < spheres else ("capsule", (0.04, 0.2))
        obstacles.append(lw.Shape("world", kind, size, origin=origin, name=f"{kind}{k}"))
    return obstacles
