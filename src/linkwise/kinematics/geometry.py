"""What the axes of the joints in closed loops have in common: a direction, or a point."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linkwise.kinematics.closure import loop_frames, own_bodies
from linkwise.kinematics.forward import body_poses
from linkwise.model.bodies import Body
from linkwise.model.coupling import coupling
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

SAME = 1e-9
"""Sines of angles up to this count as zero, and lengths up to this share of the way to the farthest joint."""

Axis = tuple[str, FloatArray, FloatArray]
"""A kind of joint, "revolute", "prismatic", "screw" or "point", a point on its axis (3,), and its direction (3,)."""


def loop_axes(tree: Tree, q: FloatArray) -> list[Axis]:
    """The axes of all joints that closed loops run over, closures among them, in the world frame at q (nq,)."""
    made = own_bodies(tree)
    full = coupling(tree).coordinates(q) if tree.coupled else q
    poses = {k: np.asarray(pose, dtype=np.float64) for k, pose in body_poses(made, full).items()}
    found: list[Axis] = []
    crossed: set[int] = set()
    for loop in tree.loops:
        (one, t1), (two, _) = loop_frames(tree, made, loop)
        crossed |= set(made.path(one)) ^ set(made.path(two))
        frame = poses[one] @ t1
        if loop.kind != "full":
            found.append(("revolute" if loop.kind == "hinge" else "point", frame[:3, 3], frame[:3, 2]))
    return [*_of_bodies(made.bodies, poses, crossed), *found]


def _of_bodies(bodies: tuple[Body, ...], poses: dict[int, FloatArray], crossed: set[int]) -> Iterator[Axis]:
    for k in sorted(crossed):
        kind = ("screw" if bodies[k].slides else "revolute") if bodies[k].turns else "prismatic"
        yield kind, poses[k][:3, 3], poses[k][:3, 2]


def planar_loops(tree: Tree, q: FloatArray) -> bool:
    """Whether all loops lie in planes of one direction: axes parallel, slides and ball joints in the plane."""
    axes = loop_axes(tree, q)
    turning = [z for kind, _, z in axes if kind in {"revolute", "screw"}]
    if not turning or any(kind == "screw" for kind, _, _ in axes):
        return False
    normal = turning[0]
    level = [abs(float(normal @ z)) for kind, _, z in axes if kind == "prismatic"]
    return all(float(np.linalg.norm(np.cross(normal, z))) < SAME for z in turning) and max(level, default=0.0) < SAME


def spherical_loops(tree: Tree, q: FloatArray) -> bool:
    """Whether the axes of all loops meet in one point, and nothing slides."""
    axes = loop_axes(tree, q)
    if len(axes) < 3 or any(kind in {"prismatic", "screw", "point"} for kind, _, _ in axes):
        return False
    across = [np.eye(3) - np.outer(z, z) for _, _, z in axes]
    right = np.concatenate([block @ p for block, (_, p, _) in zip(across, axes, strict=True)])
    centre, _, rank, _ = np.linalg.lstsq(np.concatenate(across), right, rcond=1e-9)
    size = max(float(np.linalg.norm(p)) for _, p, _ in axes)
    off = [float(np.linalg.norm(block @ (p - centre))) for block, (_, p, _) in zip(across, axes, strict=True)]
    return rank == 3 and max(off) <= SAME * size
