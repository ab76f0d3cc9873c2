"""Mechanisms with closed loops for the tests: random ones, closed at a configuration that is known, and some by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from linkwise import Link, Loop, Mechanism, Mimic
from linkwise.loops.loop_solver import closed_near, closing
from linkwise.spatial.transform import translation
from support.random_mechanisms import random_link, random_pose


def random_loop(
    seed: int, kind: str, joints: Sequence[str], *, motor: bool = True, floating: bool = False
) -> tuple[Mechanism, np.ndarray]:
    """Two random chains from the base (or from a hull that floats), their ends joined; with a closed configuration.

    The joints go to the two chains in turn, so the loop has two moving sides; all constants are generic.
    """
    rng = np.random.default_rng(seed)
    hull = [random_link(rng, "fixed", parent="base", name="hull")] if floating else []
    links = [
        random_link(rng, joint, motor=motor, name=f"{'ab'[k % 2]}{k}", parent="base" if k < 2 else f"{'ab'[k % 2]}{k - 2}")
        for k, joint in enumerate(joints)
    ]
    tree = Mechanism([*hull, *links], floating=floating, name=f"{kind} {seed}")
    q = tree.neutral.copy()
    q[tree.nq - tree.n :] = rng.uniform(-1.0, 1.0, tree.n)
    poses = dict(zip(tree.link_names, tree.link_poses(q), strict=True))
    first, second = links[-2].name, links[-1].name
    frame = random_pose(rng, 0.2)
    there = np.linalg.solve(poses[second], poses[first] @ frame)
    return tree.replace(loops=[Loop(kind, str(first), str(second), frame, there, "ends")]), moved_base(tree, q, rng)


def moved_base(tree: Mechanism, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The configuration with a floating base anywhere."""
    if tree.floating:
        turn = rng.normal(size=4)
        q[:7] = [*rng.normal(size=3), *(turn / np.linalg.norm(turn))]
    return q


def closed_state(mech: Mechanism, q: np.ndarray, seed: int, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Speeds that keep the loops closed, and efforts on all coordinates."""
    rng = np.random.default_rng(seed)
    jac = mech.kernel("closure_jacobian")(q)
    _, values, vectors = np.linalg.svd(jac)
    free = vectors[int(np.sum(values > 1e-9 * values[0])) :]
    return size * free.T @ rng.normal(size=len(free)), rng.normal(size=mech.nv)


def twisted(alpha: float, a: float) -> np.ndarray:
    """Tx(a) Rx(alpha)."""
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[1.0, 0, 0, a], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def bennett(kind: str = "full") -> tuple[Mechanism, np.ndarray]:
    """G. T. Bennett's linkage (1903): four turning joints in space, twists and lengths alternating, sin(alpha)/a the same.

    Its closure equations depend on each other wherever it is closed, and nowhere else.
    """
    alpha, a, b = 0.6, 0.3, 0.45
    beta = np.arcsin(np.sin(alpha) * b / a)
    links, ends = [], [twisted(alpha, a), twisted(beta, b), twisted(alpha, a), twisted(beta, b)]
    for k, after in enumerate(ends):
        body = {"mass": 1.0 + 0.3 * k, "com": (-0.1, 0.02, 0.03), "inertia": (0.01, 0.02, 0.015)}
        links.append(Link(name=f"l{k}", after=after, **body))
    theta = 0.8
    other = 2.0 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta / 2))
    q = np.array([theta, other, -theta, -other])
    if kind == "full":
        return Mechanism(links, loops=[Loop("full", "l3", "base", name="last")], name="bennett"), q
    last = np.linalg.inv(twisted(beta, b))
    return Mechanism(links[:3], loops=[Loop("hinge", "l2", "base", None, last, "last")], name="bennett"), q[:3]


def parallelogram(*, coupled: bool = False, gravity: tuple[float, float, float] = (0.0, -9.81, 0.0)) -> Mechanism:
    """A parallelogram of two equal cranks and a coupler; or the same motion by joints that follow, without a loop."""
    body = {"mass": 1.3, "com": (0.1, 0.03, 0.01), "inertia": (0.01, 0.02, 0.03)}
    follows = [Mimic("crank", ratio) if coupled else None for ratio in (-1.0, 1.0)]
    links = [
        Link(name="crank", parent="base", **body),
        Link(name="coupler", parent="crank", before=translation(0.2, 0, 0), mimic=follows[0], **body),
        Link(name="other", parent="base", before=translation(0.5, 0, 0), mimic=follows[1], **body),
    ]
    loop = Loop("full", "coupler", "other", translation(0.5, 0, 0), translation(0.2, 0, 0), "pin")
    hinge = Loop("hinge", loop.first, loop.second, loop.first_frame, loop.second_frame, "pin")
    return Mechanism(links, loops=[] if coupled else [hinge], gravity=gravity, name="parallelogram")


def near_zero(mech: Mechanism, seed: int = 0, aside: float = 0.02) -> np.ndarray:
    """A closed configuration beside the zero position."""
    start = mech.neutral.copy()
    start[mech.nq - mech.n :] += aside * np.random.default_rng(seed).normal(size=mech.n)
    made, error, _ = closed_near(closing(mech), start[None])
    assert error[0] < 1e-12
    return np.asarray(made[0])


@cache
def cut(mech: Mechanism) -> Mechanism:
    """The tree without its loops, made once."""
    return mech.replace(loops=())
