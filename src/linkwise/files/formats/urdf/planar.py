"""URDF's planar joint: two slides and a turn, with links without mass between, named so that they can be joined again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.model.link import Link
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray

SLIDES = ("x", "y")
TURN = "turn"


def planar_links(joint: str, child: str, parent: str, before: Any, axis: Any, body: dict[str, Any]) -> list[Link]:
    """Three links for a planar joint: the child moves in the plane through the joint's frame normal to `axis`.

    The coordinates are two distances (m), along the directions that the least turn from z to the axis makes of x and y, then
    the angle about the axis (rad). Their joints are called ``<joint>_x``, ``<joint>_y`` and ``<joint>_turn``; the links
    between ``<child>_planar_x`` and ``<child>_planar_y``.
    """
    normal = Link(axis=axis).axis
    between = [f"{child}_planar_{slide}" for slide in SLIDES]
    directions = zip(SLIDES, between, [parent, between[0]], plane(normal), strict=True)
    slides = [
        Link(
            joint="prismatic", name=name, parent=on, axis=direction, before=before if slide == "x" else None,
            joint_name=f"{joint}_{slide}",
        )
        for slide, name, on, direction in directions
    ]  # fmt: skip
    return [*slides, Link(axis=normal, name=child, parent=between[1], joint_name=f"{joint}_{TURN}", **body)]


def plane(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The directions of a planar joint's two distances."""
    turn = rotation_between((0.0, 0.0, 1.0), normal)
    return turn[:, 0], turn[:, 1]


@dataclass(frozen=True)
class Planar:
    """Three links that are one planar joint: their places in the mechanism, and the joint's name."""

    x: int
    y: int
    turn: int
    joint: str


def planar_groups(mechanism: Tree, keep: Collection[str] = ()) -> dict[int, Planar]:
    """The planar joints among the links, each under the place of all its three links.

    `keep` names links that must stay links of their own.
    """
    found: dict[int, Planar] = {}
    children = Counter(mechanism.parents)
    for k in range(len(mechanism.links)):
        y = mechanism.parents[k]
        x = mechanism.parents[y] if y >= 0 else -1
        if x < 0 or children[x] != 1 or children[y] != 1:
            continue
        links = [mechanism.links[j] for j in (x, y, k)]
        joint = _joint_name(links)
        if joint is not None and _is_plain(links) and not {link.name for link in links[:2]} & set(keep):
            found |= dict.fromkeys((x, y, k), Planar(x, y, k, joint))
    return found


def _joint_name(links: list[Link]) -> str | None:
    """The name of the planar joint that three links are named after."""
    names = [link.coordinate_name for link in links]
    joint = names[2].removesuffix(f"_{TURN}")
    child = links[2].name
    joints = [f"{joint}_{slide}" for slide in (*SLIDES, TURN)]
    between = [f"{child}_planar_{slide}" for slide in SLIDES]
    return joint if names == joints and [link.name for link in links[:2]] == between else None


def _is_plain(links: list[Link]) -> bool:
    """Whether the links move as a planar joint does, and say nothing that it cannot say."""
    x, y, turn = links
    same = [(y.before, np.eye(4)), (turn.before, np.eye(4)), *((link.after, np.eye(4)) for link in links)]
    said = [field for link in links for field in (link.limits, link.motor, link.mimic, link.qd_max, link.tau_max)]
    wanted = plane(turn.axis)
    return (
        [link.joint for link in links] == ["prismatic", "prismatic", "revolute"]
        and all(np.array_equal(*pair) for pair in same)
        and all(field is None for field in said)
        and not any(link.offset for link in links)
        and all(link.body.is_zero for link in (x, y))
        and max(np.abs(x.axis - wanted[0]).max(), np.abs(y.axis - wanted[1]).max()) < 1e-12
    )
