"""A chain told in another way: other frames on the links, another base and tool, joints turned round, other zeros."""

from __future__ import annotations

import numpy as np

from linkwise import Link, Mechanism, Mimic
from linkwise.spatial.transform import inverse, transform
from support.random_mechanisms import random_pose, random_rotation


def redescribed(mech: Mechanism, rng: np.random.Generator) -> Mechanism:
    """The same chain as general links."""
    links, frame = [], np.eye(4)
    zeros: dict[str, tuple[str, float, float]] = {}  # of each joint: its other name, sign and offset
    for k, link in enumerate(mech.links):
        sign, offset = float(rng.choice([-1, 1])), float(rng.uniform(-3, 3))
        zeros[link.coordinate_name] = (f"other{k}", sign, offset)
        slide = transform(
            random_rotation(rng), rng.uniform(-1, 1) * link.axis if link.joint != "prismatic" else rng.normal(size=3)
        )
        following = random_pose(rng)
        body = {"mass": 0.0}
        if link.body.mass or link.body.tensor.any():
            turn = following[:3, :3].T
            com = turn @ (link.body.com - following[:3, 3])
            body = {"mass": link.body.mass, "com": com, "inertia": turn @ link.body.tensor @ turn.T}
        moving = {} if link.joint == "fixed" else {"offset": sign * link.offset - offset}
        if link.limits is not None:
            moving["limits"] = sorted(sign * value + offset for value in link.limits)
        links.append(
            Link(
                joint=link.joint,
                before=inverse(frame) @ link.before @ slide,
                axis=sign * slide[:3, :3].T @ link.axis,
                after=inverse(slide) @ link.after @ following,
                pitch=link.pitch,
                name=f"other{k}",
                parent="base" if k == 0 else f"other{k - 1}",
                **moving,
                **body,
            )
        )
        frame = following
    for k, link in enumerate(mech.links):
        if link.mimic:
            (_, sign, offset), (leader, way, zero) = zeros[link.coordinate_name], zeros[link.mimic.joint]
            ratio = sign * way * link.mimic.ratio
            links[k] = links[k].replace(mimic=Mimic(leader, ratio, sign * link.mimic.offset + offset - ratio * zero))
    return Mechanism(links, base=random_pose(rng), tool=random_pose(rng), name="other")


def special_chain(rng: np.random.Generator, kinds: str) -> Mechanism:
    """A chain of standard or modified rows with right angles, parallel and intersecting axes more often than not."""
    rows = []
    for k, kind in enumerate(kinds):
        alpha = rng.choice([0.0, 0.0, np.pi, np.pi / 2, -np.pi / 2, rng.uniform(-3, 3)])
        a, d = rng.choice([0.0, rng.uniform(-0.6, 0.6)], 2)
        theta = rng.choice([0.0, np.pi / 2, np.pi, rng.uniform(-3, 3)])
        convention = str(rng.choice(["standard", "modified"]))
        joint = {"R": "revolute", "P": "prismatic", "F": "fixed"}[kind]
        name = f"part{k}"
        offset = 0.0 if kind == "F" else rng.choice([0.0, rng.uniform(-1, 1)])
        rows.append(Link.dh(theta, d, a, alpha, convention=convention, joint=joint, offset=offset, name=name))
    return Mechanism(rows, name="table")
