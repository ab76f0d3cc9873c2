"""Frames of moving bodies: their placement on the parent, and the placement of each link on its body.

How they are chosen is described in `linkwise.model.body`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwise.expr.node import Expr
from linkwise.model.joints import Joint
from linkwise.model.stacks import TINY, Matrices, cleaned, on_stacks, twists
from linkwise.model.symbolic import any_nonzero, has_symbols
from linkwise.model.tree import Tree
from linkwise.model.validation import frozen
from linkwise.spatial.rotation import rotation_between, rotation_z
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import inverse, transform, transforms

#: With symbols for lengths, axes that are nearer to parallel than this are not brought to their common normal.
SYMBOLIC_SINE = 1e-3

#: Greatest displacement of a frame along its axis, in distances to the next joint: inertia there grows with the square.
FAR = 3.0

#: The axis of a joint in its body's frame.
Z_AXIS = (0.0, 0.0, 1.0)

_IDENTITY = frozen(np.eye(4))


class BodyJoint(NamedTuple):
    """The joint of a body, without matrices: see the fields of `linkwise.model.body.Body`."""

    parent: int
    link: int
    position: int
    speed: int
    turn: float = 0.0
    pitch: Any = 0.0
    angle: Any = 0.0
    joint: Joint | None = None


def body_frames(tree: Tree) -> tuple[list[BodyJoint], Matrices, list[tuple[int, Array]]]:
    """The motion of each body and its placement; for each link its body (-1: the ground), and T_body_link."""
    motions, described, frames = _described_bodies(tree)
    reframing = _reframings(motions, described)
    back = on_stacks(inverse, reframing)
    pre = on_stacks(np.matmul, [back[m.parent] if m.parent >= 0 else _IDENTITY for m in motions], described)
    gammas = [math.atan2(g[1, 0], g[0, 0]) for g in reframing]
    thetas = [_free_angle(t[0, 0], t[0, 1]) if m.turn else 0.0 for m, t in zip(motions, pre, strict=True)]
    # pre = C Rz(theta) Tz(d), then the motion, then g, all about and along one axis: theta and gamma are added to the angle
    # of a joint that turns, and gamma turns the placement of one that does not
    spins = [-theta if m.turn else gamma for m, theta, gamma in zip(motions, thetas, gammas, strict=True)]
    placements = on_stacks(_moved, pre, twists(spins, [g[2, 3] for g in reframing]))
    angles = zip(motions, thetas, gammas, strict=True)
    motions = [m._replace(angle=_wrapped(m.angle + theta + gamma)) if m.turn else m for m, theta, gamma in angles]
    carried = [k for k, (body, _) in enumerate(frames) if body >= 0]
    on_body = on_stacks(_moved, [back[frames[k][0]] for k in carried], [frames[k][1] for k in carried])
    for k, t in zip(carried, on_body, strict=True):
        frames[k] = (frames[k][0], t)
    return motions, placements, frames


def _moved(t: Array, other: Array) -> Array:
    return cleaned(t @ other)


def _described_bodies(tree: Tree) -> tuple[list[BodyJoint], Matrices, list[tuple[int, Array]]]:
    """Bodies with frames as described, z along the joint axis: of each its motion and placement; the frame of each link."""
    motions, axes, heights, carriers = _motions(tree)
    uprights = transforms(rotation_between(Z_AXIS, np.array(axes).reshape(-1, 3)))
    down = uprights.swapaxes(-1, -2)
    last = {motion.link: k for k, motion in enumerate(motions)}
    frames = {-1: _IDENTITY if tree.floating else np.asarray(tree.base)}
    jointed = [k for k in tree.order if k in last]
    ends = on_stacks(_moved, [down[last[k]] for k in jointed], [tree.links[k].after for k in jointed])
    frames.update(zip(jointed, ends, strict=True))
    for level in _fixed_levels(tree, last):
        links, carrying = [tree.links[k] for k in level], [frames[tree.parents[k]] for k in level]
        placed = on_stacks(_product, carrying, [link.before for link in links], [link.after for link in links])
        frames.update(zip(level, placed, strict=True))
    first = {motion.link: k for k, motion in reversed([*enumerate(motions)]) if motion.link >= 0}
    leads = [np.asarray(tree.base) if motion.link < 0 else down[k - 1] for k, motion in enumerate(motions)]
    placed = on_stacks(np.matmul, [frames[tree.parents[k]] for k in first], [tree.links[k].before for k in first])
    for k, t in zip(first.values(), placed, strict=True):
        leads[k] = t
    described = on_stacks(_described, leads, uprights, twists([0.0] * len(motions), heights))
    return motions, described, [(carriers[k], frames[k]) for k in range(len(tree.links))]


def _product(t: Array, before: Array, after: Array) -> Array:
    return np.asarray(t @ before @ after)


def _described(lead: Array, upright: Array, shift: Array) -> Array:
    return cleaned(lead @ upright @ shift)


def _motions(tree: Tree) -> tuple[list[BodyJoint], list[Any], list[Any], dict[int, int]]:
    """The motion, the axis and the shift along it of each body, of which a joint may move several; the body of each link."""
    free, first_q, first_v = {at.link: at for at in tree.manifold_joints}, tree.nq - tree.n, tree.nv - tree.n
    motions: list[BodyJoint] = []
    axes: list[Any] = []
    heights: list[Any] = []
    carriers, coordinates = {-1: -1}, tree.coordinates

    def add(motion: BodyJoint, axis: Any = Z_AXIS, height: Any = 0.0) -> int:
        motions.append(motion)
        axes.append(axis)
        heights.append(height)
        return len(motions) - 1

    if tree.floating:
        carriers[-1] = add(BodyJoint(-1, -1, 0, 0, joint=free[-1].joint))
    for k in tree.order:
        link, body = tree.links[k], carriers[tree.parents[k]]
        q, v = first_q + coordinates[k], first_v + coordinates[k]
        parts = link.joint_model.parts
        if parts is None:
            q, v = (free[k].q.start, free[k].v.start) if k in free else (q, v)
            body = add(BodyJoint(body, k, q, v, angle=link.offset, joint=link.joint_model))
        for i, part in enumerate(parts or ()):
            offset = link.offset if len(link.coordinate_names) == 1 else 0.0
            height = part.advance * offset if any_nonzero(part.advance) else 0.0
            motion = BodyJoint(body, k, q + i, v + i, part.turn, part.advance, offset if part.turn else 0.0)
            body = add(motion, part.axis, height)
        carriers[k] = body
    return motions, axes, heights, carriers


def _fixed_levels(tree: Tree, jointed: Collection[int]) -> list[list[int]]:
    """The links without a joint: those that hang on a link with one or on the base, those that hang on these, and so on."""
    levels: list[list[int]] = []
    level = {-1: 0}
    for k in tree.order:
        level[k] = 0 if k in jointed else level[tree.parents[k]] + 1
        if level[k] > len(levels):
            levels.append([])
        if level[k]:
            levels[level[k] - 1].append(k)
    return levels


def _reframings(motions: Sequence[BodyJoint], placements: Matrices) -> list[Array]:
    """Rz(gamma) Tz(delta) of each body: from its frame to one with x along the common normal to the next axis."""
    children: dict[int, int] = {}
    for k, motion in enumerate(motions):
        children.setdefault(motion.parent, k)
    bodies = [k for k, motion in enumerate(motions) if k in children and motion.joint is None]
    results: list[Array] = [_IDENTITY] * len(motions)
    for k, g in zip(bodies, on_stacks(_reframing, [placements[children[k]] for k in bodies]), strict=True):
        results[k] = g
    return results


def _reframing(child: Array) -> Array:
    """The same from the placements (..., 4, 4) of the next joints.

    Where the axes are so nearly parallel that the normal would be far away, lengths would cancel: then the frame stands
    beside the next joint, as for parallel axes.
    """
    axis, origin = child[..., :3, 2], child[..., :3, 3]
    if child.dtype == object:
        return _reframing_of_symbols(axis, origin)
    x, y, z = (axis[..., k] for k in range(3))
    sine = np.reshape([*map(math.hypot, x.ravel().tolist(), y.ravel().tolist())], x.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        foot = origin[..., 2] - z * _dot(axis[..., :2], origin[..., :2]) / sine**2
        skew = (sine > 1e-9) & (np.abs(foot) <= FAR * np.sqrt(_dot(origin, origin)))
        across = np.stack([-y, x], axis=-1) / sine[..., None]
    normal, delta = np.where(skew[..., None], across, origin[..., :2]), np.where(skew, foot, origin[..., 2])
    backward = (normal[..., 0] < -TINY) | ((np.abs(normal[..., 0]) <= TINY) & (normal[..., 1] < 0))
    normal = np.where(backward[..., None], -normal, normal)
    kept = np.hypot(normal[..., 0], normal[..., 1]) < 1e-9
    gammas = [math.atan2(*pair) for pair in normal[..., ::-1].reshape(-1, 2).tolist()]
    moved = np.reshape(twists(gammas, delta.ravel().tolist()), child.shape)
    return np.where(kept[..., None, None], _IDENTITY, cleaned(moved))


def _dot(a: Array, b: Array) -> Array:
    """The products (...) of vectors (..., N)."""
    return np.asarray((a[..., None, :] @ b[..., :, None])[..., 0, 0])


def _reframing_of_symbols(axis: Array, origin: Array) -> FloatArray:
    """As `_reframing`, as far as known for all values of the symbols; otherwise the frame is unchanged."""
    gamma, delta = 0.0, origin[2]
    if has_symbols(axis):
        if any_nonzero(axis[0]) or any_nonzero(origin[1]):
            return np.eye(4)  # a DH row has neither: its frame is on the common normal already
    elif math.hypot(axis[0], axis[1]) > SYMBOLIC_SINE:
        sine = math.hypot(axis[0], axis[1])
        gamma = math.atan2(axis[0], -axis[1])
        gamma = gamma - math.copysign(math.pi, gamma) if abs(gamma) > math.pi / 2 else gamma
        delta = origin[2] - (axis[2] / sine**2) * (axis[:2] @ origin[:2])
    elif not any_nonzero(origin[0]) and any_nonzero(origin[1]):
        gamma = math.pi / 2
    elif any_nonzero(origin[1]):
        return np.eye(4)
    return cleaned(np.asarray(transform(rotation_z(gamma), (0.0, 0.0, delta))))


def _free_angle(x: Any, y: Any) -> float:
    """The angle theta by which Rz(-theta) takes the second element off row 0 of a rotation, x, y, ..., and makes x >= 0."""
    if isinstance(x, Expr) or isinstance(y, Expr) or math.hypot(x, y) < 1e-9:
        return 0.0
    return math.atan2(-y, x)


def _wrapped(angle: Any) -> Any:
    return angle if isinstance(angle, Expr) else math.remainder(angle, 2 * math.pi)
