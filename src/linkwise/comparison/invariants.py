"""What base, tool, signs and zeros leave alone: how each axis lies to those beside it, and where two chains differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from linkwise.comparison.axis_chain import Axis
from linkwise.model.formatting.table import degrees, number, plain
from linkwise.spatial.scalar import FloatArray

Invariant = tuple[str, Callable[[float, float], str], float, float]
"""What it is, how two values of it are written, and its values in both chains."""

NEARLY = 1e3
"""Axes within so many tolerances of parallel have no normal worth a number."""


def kinds_differ(first: Sequence[Axis], second: Sequence[Axis]) -> list[str]:
    """What makes it idle to compare lengths and angles: other joints, or another number of them."""
    if len(first) != len(second):
        one, other = (f"{len(axes)} ({', '.join(plain(axis.name) for axis in axes)})" for axes in (first, second))
        return [f"number of joints on the way: {one} against {other}"]
    return [
        f"{_joint(first, second, k)}: {one.kind} against {other.kind}"
        for k, (one, other) in enumerate(zip(first, second, strict=True))
        if one.kind != other.kind
    ]


def differences(first: Sequence[Axis], second: Sequence[Axis], tol: float) -> list[str]:
    """Every pitch, twist, distance and shift in which the chains differ by more than the tolerance, m and rad."""
    numbered = zip(range(len(first)), first, second, strict=True)
    invariants: list[Invariant] = [
        *((f"pitch of {_joint(first, second, k)}", _pitches, a.pitch, b.pitch) for k, a, b in numbered),
        *_pairs(first, second, tol),
        *_slides(first, second, tol),
        *_shifts(first, second, tol),
    ]
    return [f"{what}: {text(one, other)}" for what, text, one, other in invariants if abs(one - other) > tol]


def _pairs(first: Sequence[Axis], second: Sequence[Axis], tol: float) -> Iterator[Invariant]:
    """Successive axes: the angle between them and, where both have a line, the distance."""
    for k in range(len(first) - 1):
        between = f"between {_axes(first, second, k, k + 1)}"
        one, other = (twist(axes[k], axes[k + 1]) for axes in (first, second))
        yield f"twist {between}", _angles, one, other
        parallel = one <= tol
        if first[k].has_line and first[k + 1].has_line and parallel == (other <= tol):
            one, other = (distance(axes[k], axes[k + 1], parallel) for axes in (first, second))
            yield f"distance {between}", _lengths, one, other


def _slides(first: Sequence[Axis], second: Sequence[Axis], tol: float) -> Iterator[Invariant]:
    """The angle about a prismatic joint between the directions beside it, which no joint can turn."""
    for k in range(1, len(first) - 1):
        if not first[k].has_line and min(_twists(first, second, k - 1, k)) > NEARLY * tol:
            one, other = (_dihedral(*axes[k - 1 : k + 2]) for axes in (first, second))
            sides = _axes(first, second, k - 1, k + 1)
            yield f"angle about {_axes(first, second, k)} between {sides}", _angles, one, other


def _shifts(first: Sequence[Axis], second: Sequence[Axis], tol: float) -> Iterator[Invariant]:
    """The shift along a revolute axis, or along several parallel ones, between its normals to the axes beside it."""
    start = 1
    while start < len(first) - 1:
        end = start
        while end + 1 < len(first) and max(_twists(first, second, end)) <= tol:
            end += 1
        sides = (start - 1, end + 1)
        turning = all(first[k].periodic for k in range(start, end + 1))
        if turning and end + 1 < len(first) and all(first[k].has_line for k in sides):
            normals = min(_twists(first, second, start - 1, end)) > NEARLY * tol
            one, other = (_shift(axes, start, end) if normals else 0.0 for axes in (first, second))
            along = _axes(first, second, *sorted({start, end})).replace(" and ", " to ")
            yield f"shift along {along} between normals to {_axes(first, second, *sides)}", _lengths, one, other
        start = end + 1


def _twists(first: Sequence[Axis], second: Sequence[Axis], *which: int) -> list[float]:
    return [twist(axes[j], axes[j + 1]) for axes in (first, second) for j in which]


def twist(one: Axis, other: Axis) -> float:
    """The angle between two axes whose directions do not count, 0 to pi/2."""
    across = float(np.linalg.norm(np.cross(one.direction, other.direction)))
    return math.atan2(across, abs(float(one.direction @ other.direction)))


def distance(one: Axis, other: Axis, parallel: bool) -> float:
    """The distance of two lines, m."""
    between = other.point - one.point
    if parallel:
        return float(np.linalg.norm(between - one.direction * float(between @ one.direction)))
    normal = np.cross(one.direction, other.direction)
    return abs(float(between @ normal)) / float(np.linalg.norm(normal))


def _foot(on: Axis, other: Axis) -> float:
    """Where on an axis the common normal with another stands, from its point, m."""
    between, c = other.point - on.point, float(on.direction @ other.direction)
    sine = float(np.linalg.norm(np.cross(on.direction, other.direction)))
    return float(between @ on.direction - c * float(between @ other.direction)) / sine**2


def _shift(axes: Sequence[Axis], start: int, end: int) -> float:
    """How far apart the feet of the normals on the first and on the last of some parallel axes are, along them, m."""
    one, other = axes[start], axes[end]
    feet = [axis.point + axis.direction * _foot(axis, axes[k]) for axis, k in ((one, start - 1), (other, end + 1))]
    return abs(float(one.direction @ (feet[1] - feet[0])))


def _dihedral(before: Axis, middle: Axis, after: Axis) -> float:
    """The angle about the middle axis between the directions beside it, 0 to pi/2."""
    one, other = (np.cross(middle.direction, axis.direction) for axis in (before, after))
    return math.atan2(float(np.linalg.norm(np.cross(one, other))), abs(float(one @ other)))


# ── words ─────────────────────────────────────────────────────────────────────────────────────────


def _joint(first: Sequence[Axis], second: Sequence[Axis], k: int) -> str:
    return f"joint {k + 1} ({names(first[k], second[k])})"


def _axes(first: Sequence[Axis], second: Sequence[Axis], *which: int) -> str:
    labels = [f"{k + 1} ({names(first[k], second[k])})" for k in which]
    return f"axis {labels[0]}" if len(labels) == 1 else f"axes {labels[0]} and {labels[1]}"


def names(one: Axis, other: Axis) -> str:
    """What a joint is called in both descriptions."""
    return plain(one.name) if one.name == other.name else f"{plain(one.name)}, {plain(other.name)}"


def pair_text(one: float, other: float, form: str = ".6g") -> tuple[str, str]:
    """Two numbers in as many digits as tell them apart.

    Examples
    --------
    >>> pair_text(0.4318, 0.4331), pair_text(1.0, 1.00000001)
    (('0.4318', '0.4331'), ('1', '1.00000001'))
    """
    for digits in range(6, 18):
        texts = f"{one + 0.0:.{digits}g}", f"{other + 0.0:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def _pitches(one: float, other: float) -> str:
    return f"{number(one)} m/rad against {number(other)} m/rad"


def _lengths(one: float, other: float) -> str:
    a, b = pair_text(_clean(one), _clean(other))
    return f"{a} m against {b} m"


def _angles(one: float, other: float) -> str:
    a, b = pair_text(_clean(math.degrees(one)), _clean(math.degrees(other)))
    return f"{a}° against {b}°"


def _clean(value: float) -> float:
    """What is rounding of zero is zero, and of a round number that."""
    return round(value, 12)


def limit_differences(
    first: Sequence[Axis], second: Sequence[Axis], signs: FloatArray, offsets: FloatArray, tol: float
) -> list[str]:
    """Joints whose limits are not the same, those of the second said in values of the first."""
    found = []
    for k, (one, other) in enumerate(zip(first, second, strict=True)):
        low, high = sorted(signs[k] * (limit - offsets[k]) for limit in other.limits)
        if one.periodic and np.isfinite(low) and np.isfinite(one.limits[0]):
            laps = 2 * math.pi * round((one.limits[0] - low) / (2 * math.pi))
            low, high = low + laps, high + laps
        mine = one.limits
        if any(a != b and not abs(a - b) <= tol for a, b in zip(mine, (low, high), strict=True)):
            write = degrees if one.has_line else lambda value: f"{number(value)} m"
            texts = [f"{write(a)} to {write(b)}" if np.isfinite([a, b]).any() else "none" for a, b in (mine, (low, high))]
            found.append(f"limits of {_joint(first, second, k)}: {texts[0]} against {texts[1]}, in values of the first")
    return found
