"""Constraints that hold at a given configuration, and how far from holding they are at another: in plain NumPy, link by
link, by formulas that share nothing with the solver's."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise import Loop, Mechanism
from linkwise.solve.constraints import (
    Aligned,
    Closed,
    Constraint,
    Coordinate,
    Follows,
    LookAt,
    Orientation,
    Pose,
    Position,
)
from support.random_mechanisms import numpy_call, random_pose, random_rotation

KINDS = (
    "pose", "pose in body axes", "pose of a frame", "part of a pose", "part of a pose in body axes", "position",
    "part of a position", "point", "orientation", "part of an orientation", "aligned", "aligned either way", "look at",
    "coordinate", "follows", "closed full", "closed point", "closed hinge", "closed to the base",
)  # fmt: skip
PAIRED = ("follows", "closed full", "closed point", "closed hinge")
"""Kinds that need two moving joints."""

MASK = (1, 0, 1, 0, 1, 1)


def held(mech: Mechanism, kind: str, q: np.ndarray, rng: np.random.Generator) -> Constraint:
    """A constraint of a kind that holds at q (nq,), on links that the generator chooses."""
    poses = numpy_call(mech, "link_poses", q)
    joints = [len({mech.coordinates[j] for j in mech.path(k)} - {-1}) for k in range(len(poses))]
    moved = [k for k in range(len(poses)) if joints[k] >= min(2, max(joints))]
    k = int(rng.choice(moved))
    link: int | str = mech.link_names[k]
    T = poses[k]
    if rng.random() < 0.3 and mech.tool_index in moved:
        link, T = "tool", T_tool(mech, q)
    at, axis, point = random_pose(rng), rng.normal(size=3), rng.uniform(-0.3, 0.3, 3)
    if kind.startswith("pose") or kind.startswith("part of a pose"):
        frame = "body" if "body" in kind else "world"
        mask = MASK if "part" in kind else None
        given = at if "frame" in kind else None
        return Pose(link, T if given is None else T @ at, mask, frame, at=given)
    if kind in {"position", "part of a position"}:
        return Position(link, T[:3, 3], mask=[1, 0, 1] if "part" in kind else None)
    if kind == "point":
        return Position(link, T[:3, :3] @ point + T[:3, 3], point=point)
    if "orientation" in kind:
        return Orientation(link, T[:3, :3], *([[0, 1, 1], "body"] if "part" in kind else []))
    if "aligned" in kind:
        either_way = "either" in kind
        return Aligned(link, axis, T[:3, :3] @ axis * (-2.0 if either_way else 2.0), either_way=either_way)
    if kind == "look at":
        sight = axis / np.linalg.norm(axis) * rng.uniform(0.3, 1.5)
        return LookAt(link, T[:3, :3] @ (point + sight) + T[:3, 3], axis, point)
    if "closed" in kind:
        return Closed(_loop(mech, kind.split()[1], poses, rng))
    values = q[mech.nq - mech.n :]
    i = int(rng.integers(mech.n))
    if kind == "coordinate":
        return Coordinate(mech.names[i] if rng.random() < 0.5 else i, values[i])
    j = int(rng.choice([j for j in range(mech.n) if j != i]))
    ratio = rng.uniform(0.5, 2.0)
    return Follows(i, mech.names[j], ratio, values[i] - ratio * values[j])


def _loop(mech: Mechanism, kind: str, poses: np.ndarray, rng: np.random.Generator) -> Loop:
    """A loop that is closed where the links have these poses."""
    free = [k for k, i in enumerate(mech.coordinates) if i >= 0]
    b = int(rng.choice(free))
    a = int(rng.choice([k for k in free if mech.coordinates[k] != mech.coordinates[b]] or free))
    first = "base" if kind == "to" else mech.link_names[a]
    T1 = np.asarray(mech.base) if kind == "to" else poses[a]
    kind = "point" if kind == "to" else kind
    frame, turn = random_pose(rng), np.eye(4)
    if kind == "point":
        turn[:3, :3] = random_rotation(rng)
    if kind == "hinge":
        c, s = np.cos(1.0), np.sin(1.0)
        turn[:2, :2] = [[c, -s], [s, c]]
    return Loop(kind, first, mech.link_names[b], frame, np.linalg.inv(poses[b]) @ T1 @ frame @ turn)


def T_tool(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    return numpy_call(mech, "forward_kinematics", q)


def lacking(mech: Mechanism, constraint: Constraint, q: np.ndarray) -> tuple[float, float]:
    """Distance (m) and angle (rad) by which a constraint with one task does not hold at q (nq,)."""
    joints = q[mech.nq - mech.n :]
    if isinstance(constraint, Coordinate):
        i = place(mech, constraint.joint)
        return _split(mech, i, abs(joints[i] - float(constraint.value)))
    if isinstance(constraint, Follows):
        i, j = place(mech, constraint.joint), place(mech, constraint.leader)
        return _split(mech, i, abs(joints[i] - float(constraint.ratio) * joints[j] - float(constraint.offset)))
    poses = dict(zip(mech.link_names, numpy_call(mech, "link_poses", q), strict=True))
    if isinstance(constraint, Closed):
        return _open(mech, constraint.on(mech), poses)
    link: Any = constraint.link  # type: ignore[attr-defined]
    T = T_tool(mech, q) if link == "tool" else poses[link]
    if isinstance(constraint, Aligned):
        angle = between(T[:3, :3] @ constraint.axis, constraint.direction)
        return 0.0, min(angle, np.pi - angle) if constraint.either_way else angle
    if isinstance(constraint, LookAt):
        eye = T[:3, :3] @ constraint.point + T[:3, 3]
        return 0.0, between(T[:3, :3] @ constraint.axis, constraint.target - eye)
    assert isinstance(constraint, Pose)
    T = T if constraint.at is None else T @ constraint.at
    counts = np.array(constraint.mask)
    way, turn = constraint.T[:3, 3] - T[:3, 3], rotation_vector(constraint.T[:3, :3] @ T[:3, :3].T)
    if constraint.frame == "body":
        way, turn = T[:3, :3].T @ way, T[:3, :3].T @ turn
    return float(np.linalg.norm(way[counts[:3]])), float(np.linalg.norm(turn[counts[3:]]))


def _open(mech: Mechanism, loop: Loop, poses: dict[str, np.ndarray]) -> tuple[float, float]:
    poses = {"base": np.asarray(mech.base), **poses}
    T1, T2 = poses[loop.first] @ loop.first_frame, poses[loop.second] @ loop.second_frame
    distance = float(np.linalg.norm(T1[:3, 3] - T2[:3, 3]))
    if loop.kind == "full":
        return distance, float(np.linalg.norm(rotation_vector(T1[:3, :3].T @ T2[:3, :3])))
    return distance, between(T1[:3, 2], T2[:3, 2]) if loop.kind == "hinge" else 0.0


def place(mech: Mechanism, joint: int | str) -> int:
    return joint if isinstance(joint, int) else mech.names.index(joint)


def _split(mech: Mechanism, i: int, left: float) -> tuple[float, float]:
    return (left, 0.0) if mech.is_length[i] else (0.0, left)


def between(a: np.ndarray, b: np.ndarray) -> float:
    """The angle of two vectors, 2 atan2(|a - b|, |a + b|) of the unit vectors (W. Kahan): good near 0 and near pi."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return float(2 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))


def rotation_vector(rotation: np.ndarray) -> np.ndarray:
    """Angle times axis, by the greatest column of 4 q q'."""
    r = rotation
    w = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    outer = r + r.T + (1 - np.trace(r)) * np.eye(3)
    columns = np.vstack([np.append(outer, w[None], axis=0).T, np.append(w, 1 + np.trace(r))])
    best = columns[int(np.argmax(np.diagonal(columns)))]
    quaternion = best / np.linalg.norm(best) * (1.0 if best[3] >= 0 else -1.0)
    sine = np.linalg.norm(quaternion[:3])
    return quaternion[:3] * (2 * np.arctan2(sine, quaternion[3]) / sine if sine else 2.0)
