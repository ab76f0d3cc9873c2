"""Mechanisms given by their joint axes, and a forward pass for them that shares nothing with the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise import Link, Mechanism
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain
from linkwise.inverse_kinematics.closed_form.problem import Family
from linkwise.inverse_kinematics.closed_form.program import ClosedFormProgram
from linkwise.kernel import Kernel, trace
from linkwise.spatial.scalar import Array, atan2
from support.random_mechanisms import random_pose

X, Y, Z = np.eye(3)

Axis = tuple[str, Any, Any]
"""``"R"`` or ``"P"``, a direction (3,), and a point (3,)."""


@dataclass(frozen=True)
class Arm:
    """A mechanism and the axes that it was made of: all on it, in the axes of its base, at zero."""

    mech: Mechanism
    axes: tuple[Axis, ...]

    def forward(self, q: np.ndarray) -> np.ndarray:
        """Pose (..., 4, 4) of the tool for q (..., n): a product of exponentials, by Rodrigues' formula."""
        pose = np.broadcast_to(self.mech.base, (*q.shape[:-1], 4, 4))
        for k, (kind, along, point) in enumerate(self.axes):
            pose = pose @ exponential(kind, np.asarray(along, dtype=float), np.asarray(point, dtype=float), q[..., k])
        return pose @ self.mech.tool


def exponential(kind: str, along: np.ndarray, point: np.ndarray, q: np.ndarray) -> np.ndarray:
    made = np.zeros((*np.shape(q), 4, 4))
    made[..., :, :] = np.eye(4)
    if kind == "P":
        made[..., :3, 3] = along * np.asarray(q)[..., None]
        return made
    x, y, z = along
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    s, c = np.sin(q)[..., None, None], np.cos(q)[..., None, None]
    made[..., :3, :3] = np.eye(3) + s * k + (1 - c) * (k @ k)
    made[..., :3, 3] = point - made[..., :3, :3] @ point
    return made


def arm(axes: Sequence[Axis], rng: np.random.Generator | None = None, **rest: Any) -> Arm:
    """The mechanism with these axes; with a generator, on a base at random and with a tool at random."""
    rng = np.random.default_rng(0) if rng is None else rng
    links = []
    for kind, along, point in axes:
        before = np.eye(4)
        before[:3, 3] = point
        after = np.linalg.inv(before)
        links.append(Link(joint="prismatic" if kind == "P" else "revolute", before=before, after=after, axis=tuple(along)))
    return Arm(Mechanism(links, base=random_pose(rng), tool=random_pose(rng), **rest), tuple(axes))


def direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def loose(kinds: str, rng: np.random.Generator) -> list[Axis]:
    """Axes anywhere."""
    return [(kind, direction(rng), rng.uniform(-1, 1, 3)) for kind in kinds]


def meeting(count: int, rng: np.random.Generator) -> list[Axis]:
    """Revolute axes that meet in a point."""
    point = rng.uniform(-1, 1, 3)
    return [("R", direction(rng), point) for _ in range(count)]


def in_plane(kinds: str, rng: np.random.Generator, normal: np.ndarray | None = None) -> list[Axis]:
    """Joints that move in one plane."""
    normal = direction(rng) if normal is None else normal
    made = []
    for kind in kinds:
        across = np.cross(normal, direction(rng))
        made.append((kind, normal if kind == "R" else across / np.linalg.norm(across), rng.uniform(-1, 1, 3)))
    return made


def branches(mech: Mechanism, found: tuple[AxisChain, Family], poses: np.ndarray, q: np.ndarray) -> np.ndarray:
    """What a closed form gives (k, K, n) for poses (k, 4, 4), as it comes: not refined, checked or put in order.

    What it takes where nothing determines a joint, and the value of a joint that is given, are those of q (k, n).
    """
    chain, family = found

    def trial(pose: Array, q: Array) -> Array:
        program = ClosedFormProgram(mech, -1, chain, family)
        rows = []
        for branch in family.solve(chain.displacement(pose), program._turns(q)):
            row = [0.0] * mech.n
            for k, (value, translates) in enumerate(zip(branch.joints, chain.translates, strict=True)):
                angle = value if translates else atan2(value.s, value.c)
                row[chain.coordinates[k]] = (angle - float(chain.shifts[k])) * (1.0 / float(chain.ratios[k]))
            rows.append(row)
        return np.array(rows, dtype=object)

    kernel = Kernel(trace(trial, "trial", {"pose": (4, 4), "q": (mech.n,)}), "numpy")
    held = [chain.coordinates[k] for k in family.fixed]
    given = np.where(np.isin(np.arange(mech.n), held), q, 0.3)
    with np.errstate(all="ignore"):
        return np.asarray(kernel(np.ascontiguousarray(poses), given))


def run(kernel: Kernel, poses: np.ndarray, q0: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Answers (k, K, n), NaN where there are none, and their number (k,), without limits, of a `ClosedFormProgram`."""
    n = q0.shape[-1]
    bounds = np.concatenate([np.full(n, -np.inf), np.full(n, np.inf), [tol, np.nan]])
    with np.errstate(all="ignore"):
        q, count, *_ = kernel(
            np.ascontiguousarray(poses.reshape(-1, 16)), np.array(np.broadcast_to(q0, (len(poses), n))), bounds
        )
    return q, count


def apart(answers: np.ndarray, q: np.ndarray, axes: Sequence[Axis]) -> np.ndarray:
    """How far (k,) the nearest of answers (k, K, n) is from q (k, n): greatest difference, whole turns left out."""
    away = answers - q[:, None]
    turns = [kind == "R" for kind, *_ in axes]
    away[..., turns] = np.remainder(away[..., turns] + np.pi, 2 * np.pi) - np.pi
    far = np.abs(away).max(axis=-1)
    return np.where(np.isnan(far), np.inf, far).min(axis=1)
