"""What moves in the scene when the mechanism does: where its nodes stand for the frames of its links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.mechanism import Mechanism
from linkwise.spatial.quaternion import quaternion_rotation, rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.names import Label
from linkwise.view.browser.parts import Gap, Slide

SHORTEST = 1e-5
"""Length of a rod that has none, as a share of the mechanism's size: a node cannot be scaled to nothing."""


@dataclass(frozen=True, eq=False)
class Track:
    """One property of one node, for each of m positions of the mechanism.

    Attributes
    ----------
    node : viser.SceneNodeHandle
        The node.
    what : {"position", "wxyz", "scale"}
        The property.
    values : ndarray (m, 3) or (m, 4)
        Its values.
    """

    node: Any
    what: str
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Movers:
    """The nodes that move: those of the base and of each link, rods of slides, lines at open loops, names; and the size.

    Names are no part of their links: the page draws a name where its parent was one picture ago.
    """

    links: Sequence[Any]
    slides: Sequence[tuple[Slide, Any]]
    gaps: Sequence[tuple[Gap, Any]]
    labels: Sequence[tuple[Label, Any]]
    size: float

    def tracks(self, placed: FloatArray, *, names: bool = True) -> Iterator[Track]:
        """Yield what moves, in an order that is always the same, for frames (m, 1 + L, 4, 4), see `poses`; names last."""
        turned = rotation_quaternion(placed[..., :3, :3])
        for k, node in enumerate(self.links):
            yield Track(node, "position", placed[:, k, :3, 3])
            yield Track(node, "wxyz", turned[:, k])
        for slide, node in self.slides:
            yield from self._stretched(slide, node, placed)
        for gap, node in self.gaps:
            yield from self._joined(gap, node, placed)
        for label, node in self.labels if names else ():
            yield Track(node, "position", _points(placed, label.link, label.point))

    def _stretched(self, slide: Slide, node: Any, placed: FloatArray) -> Iterator[Track]:
        """Yield the rod of a slide, as long as the joint is out; backwards it begins at its other end."""
        acts = placed[:, 1 + slide.link] @ slide.frame
        reach = _points(placed, slide.moved, slide.end) - acts[:, :3, 3]
        out = np.einsum("mi,mi->m", acts[:, :3, 2], reach)
        yield Track(node, "position", slide.frame[:3, 3] + slide.frame[:3, 2] * np.minimum(out, 0.0)[:, None])
        yield Track(node, "scale", self._long(np.abs(out)))

    def _joined(self, gap: Gap, node: Any, placed: FloatArray) -> Iterator[Track]:
        """Yield the line between the two sides of a loop, hidden in their symbols where it is closed."""
        start, end = (_points(placed, k, point) for k, point in zip(gap.links, gap.points, strict=True))
        length = np.linalg.norm(end - start, axis=-1)
        yield Track(node, "position", start)
        yield Track(node, "wxyz", _turned(end - start, length))
        yield Track(node, "scale", self._long(length))

    def _long(self, lengths: FloatArray) -> FloatArray:
        ones = np.ones_like(lengths)
        return np.stack((ones, ones, np.maximum(lengths, SHORTEST * self.size)), axis=-1)


def poses(mechanism: Mechanism, q: FloatArray) -> FloatArray:
    """Return the frames (..., 1 + L, 4, 4) of the base and of all links at the coordinates q (..., nq).

    Examples
    --------
    >>> from linkwise import robots
    >>> poses(robots.planar_2r(), np.zeros(2))[:, 0, 3].tolist()
    [0.0, 1.0, 2.0]
    """
    base = np.asarray(mechanism.base, dtype=float)
    if mechanism.floating:
        turned = np.moveaxis(quaternion_rotation(np.moveaxis(q[..., 3:7], -1, 0)), (0, 1), (-2, -1))
        free = np.zeros((*q.shape[:-1], 4, 4))
        free[..., :3, :3], free[..., :3, 3], free[..., 3, 3] = turned, q[..., :3], 1.0
        base = base @ free
    shown = np.broadcast_to(base, (*q.shape[:-1], 4, 4))[..., None, :, :]
    return np.concatenate((shown, mechanism.link_poses(q)), axis=-3)


def _points(placed: FloatArray, link: int, point: FloatArray) -> FloatArray:
    """A point (3,) of a link in the world, (m, 3)."""
    return np.asarray(placed[:, 1 + link, :3, :3] @ point + placed[:, 1 + link, :3, 3])


def _turned(along: FloatArray, length: FloatArray) -> FloatArray:
    """Quaternions (m, 4) that turn z by the least angle into directions (m, 3); none where these have no length."""
    x, y, z = (along / np.where(length > 0.0, length, 1.0)[:, None]).T
    z = np.where(length > 0.0, z, 1.0)
    down = z < -1.0 + 1e-12
    w, i, j = np.where(down, 0.0, 1.0 + z), np.where(down, 1.0, -y), np.where(down, 0.0, x)
    made = np.stack((w, i, j, np.zeros_like(z)), axis=-1)
    return np.asarray(made / np.linalg.norm(made, axis=-1, keepdims=True))
