"""The curvilinear joint: a slide along a planar path of arcs and lines, whose tangent the child keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from linkwise.model.joints.joint import Joint, joint
from linkwise.model.validation import Checker
from linkwise.spatial.rotation import rotation_z
from linkwise.spatial.scalar import Array, FloatArray, atan2, cos_sin, select
from linkwise.spatial.transform import transform

_LENGTHS = "numbers above 0, one for each segment"


class Segment(NamedTuple):
    """A stretch of constant curvature: the child at the heading h + k s is at c + r (sin, -cos) + s t."""

    k: Any
    h: Any
    c: tuple[Any, Any]
    r: Any
    t: tuple[Any, Any]


@joint
@dataclass(frozen=True, eq=False)
class Curvilinear(Joint):
    """Slides by q (m) along a path in the plane normal to z: at q = 0 it leads from the parent's origin along x.

    The child's x axis is the tangent of the path, z its normal. The path is a sequence of arcs and lines, each with the
    tangent with which the one before it ends; before its beginning and after its end the first and the last continue. Where
    two meet the curvature jumps, and with it the effort. (Of two the latter counts where they meet.)

    Parameters
    ----------
    lengths : (k,) array_like
        Length of each segment, m.
    curvatures : (k,) array_like
        Its curvature, 1/m: one over the radius, positive to the left; 0 of a line.
    repeats : bool
        Whether the path begins anew where it ends; it should be closed then, else the child jumps.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> rail = Curvilinear(lengths=[1.0, math.pi], curvatures=[0.0, 0.5])  # a line, then a quarter of a circle
    >>> rail.placement(np.array([1.0 + math.pi]))[:3, 3].round(9) + 0.0
    array([3., 2., 0.])
    """

    kind: ClassVar[str] = "curvilinear"
    letter: ClassVar[str] = "L"
    is_length: ClassVar[bool] = True
    lengths: FloatArray
    curvatures: FloatArray
    repeats: bool = False

    def __post_init__(self) -> None:
        check, count = Checker("curvilinear joint"), len(self.lengths) if np.iterable(self.lengths) else 1
        lengths = check.finite("lengths", self.lengths, (count,), _LENGTHS)
        curvatures = check.finite("curvatures", self.curvatures, (count,), "a number for each segment")
        for field, values in (("lengths", lengths), ("curvatures", curvatures)):
            if values.dtype == object:
                check.report(field, values, "numbers, no symbols")
        if not check.problems and not (count and lengths.min() > 0):
            check.report("lengths", self.lengths, _LENGTHS)
        check.finish()
        self._assign({"lengths": lengths, "curvatures": curvatures, "repeats": bool(self.repeats)})

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments in their order."""
        segments, start, heading, (x, y) = [], 0.0, 0.0, (0.0, 0.0)
        for length, k in zip(self.lengths.tolist(), self.curvatures.tolist(), strict=True):
            c, s = cos_sin(heading)
            r = 1.0 / k if k else 0.0
            t = (0.0, 0.0) if k else (c, s)
            segment = Segment(k, heading - k * start, (x - r * s - start * t[0], y + r * c - start * t[1]), r, t)
            start, heading = start + length, heading + k * length
            x, y = _point(segment, start)
            segments.append(segment)
        return tuple(segments)

    def placement(self, q: Array) -> Array:
        """J(q) (4, 4)."""
        segment, s = self._at(q[0])
        x, y = _point(segment, s)
        return transform(rotation_z(segment.h + segment.k * s), np.array([x, y, 0.0]))

    def subspace(self, q: Array) -> Array:
        """S(q) (6, 1): along the tangent, and about the normal by the curvature."""
        return np.array([[1.0], [0.0], [0.0], [0.0], [0.0], [self._at(q[0])[0].k]])

    def subspace_rate(self, q: Array, qd: Array) -> Array:
        """Zero within each segment."""
        return np.zeros((6, 1))

    def _at(self, s: Any) -> tuple[Segment, Any]:
        """The segment at a length along the path, and that length from 0 to the whole where the path repeats."""
        whole = float(self.lengths.sum())
        if self.repeats:
            cosine, sine = cos_sin((2 * math.pi / whole) * s)
            s = (whole / (2 * math.pi)) * atan2(sine, cosine)
            s = select(-s, s + whole, s)
        first, *others = self.segments
        values, ends = [first.k, first.h, *first.c, first.r, *first.t], np.cumsum(self.lengths).tolist()
        for end, (k, h, c, r, t) in zip(ends, others, strict=False):
            values = [select(end - s, before, after) for before, after in zip(values, (k, h, *c, r, *t), strict=True)]
        k, h, x, y, r, along_x, along_y = values
        return Segment(k, h, (x, y), r, (along_x, along_y)), s


def _point(segment: Segment, s: Any) -> tuple[Any, Any]:
    """The point of a segment at a length along the path."""
    cosine, sine = cos_sin(segment.h + segment.k * s)
    x, y = (c + s * t for c, t in zip(segment.c, segment.t, strict=True))
    return x + segment.r * sine, y - segment.r * cosine
