"""Planar chains as in LaValle's book: T_i, places, freedoms, a loop, collision, a path through the configuration space."""

from collections import deque
from itertools import pairwise
from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise import planar

# Three links, each offset by 45 degrees from the one before. The body frame of a link is at the joint with its parent.
rod = planar.rounded_bar(1.0, 0.2)
links = [planar.Link(rod, name="A1"), planar.Link(rod, a=1.0, name="A2"), planar.Link(rod, a=1.0, name="A3")]
chain = planar.Mechanism(links, name="chain")
q = np.full(3, np.pi / 4)
T1, T2, T3 = chain.transforms(q)
tip = T1 @ T2 @ T3 @ [1.0, 0.0, 1.0]
print(f"the tip of A3 is at x = {tip[0]:.4f} m, y = {tip[1]:.4f} m; every corner of A3: {chain.place(q)[2][0].shape}")
print(chain.freedoms())

# A loop: the four-bar of the library, flattened; the crank is turned, the others follow.
four_bar = planar.from_spatial(lw.robots.four_bar(), polygons="bars")
start = four_bar.close(np.zeros(four_bar.nq))
turned = four_bar.close([start[0] + 0.8, *start[1:]], driven=four_bar.coordinate_names[0])
print(f"four-bar: {int(four_bar.freedoms())} degree of freedom, open by {np.abs(four_bar.gaps(turned)).max():.0e} m")

# Two links among obstacles: the configuration space, and a way through it, in steps between neighbours on the grid.
upper = planar.Link(planar.rounded_bar(1.0, 0.16), name="upper")
arm = planar.Mechanism([upper, planar.Link(planar.rounded_bar(0.8, 0.12), a=1.0, name="lower")], name="arm")
obstacles = {
    "wall": [(1.1, 0.3), (1.4, 0.3), (1.4, 1.2), (1.1, 1.2)],
    "box": [(-1.2, -1.0), (-0.6, -1.0), (-0.6, -0.6), (-1.2, -0.6)],
}
space = planar.configuration_space(arm, obstacles)
print(space)

# `clear` is proved for all between the points, so a way over neighbours that are clear is free from end to end.
steps = len(space.grid[0]) - 1  # the last value of the grid is the first again: a torus
begin, goal = (np.rint((np.array(at) + np.pi) / (2.0 * np.pi) * steps).astype(int) for at in ([-0.4, 0.6], [1.9, 0.5]))
came_from = {tuple(begin): None}
waiting = deque(came_from)
while waiting and tuple(goal) not in came_from:
    i, j = waiting.popleft()
    for step in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        nearby = (i + step[0]) % steps, (j + step[1]) % steps
        if space.clear[nearby] and nearby not in came_from:
            came_from[nearby] = (i, j)
            waiting.append(nearby)
way = [tuple(goal)]
while came_from[way[-1]] is not None:
    way.append(came_from[way[-1]])
path = np.unwrap([[values[k] for values, k in zip(space.grid, at, strict=True)] for at in reversed(way)], axis=0)
fine = np.concatenate([a + np.linspace(0.0, 1.0, 20)[:, None] * (b - a) for a, b in pairwise(path)])
hits, apart = planar.collides(arm, fine, obstacles=obstacles), planar.distance(arm, fine, obstacles=obstacles)
print(
    f"a way of {len(path)} points; of {len(fine)} between them {hits.sum()} collide;",
    f"{1e3 * apart.min():.0f} mm apart at least",
)

try:
    pictures = {"planar_chain": planar.draw_steps(chain, q), "planar_configuration_space": space.draw(path)}
except lw.errors.MissingExtraError as error:
    print(error)
else:
    Path("out").mkdir(exist_ok=True)
    for name, picture in pictures.items():
        picture.savefig(f"out/{name}.png", dpi=100)
        print(f"drawn: out/{name}.png")
