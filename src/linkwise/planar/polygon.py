"""Polygons: a link's shape in its body frame, checked, and the bar that drawings of mechanisms are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, ModelError, shown
from linkwise.model.checks import Checker, frozen
from linkwise.spatial.numbers import real
from linkwise.spatial.scalar import FloatArray

EXPECTED = "a polygon (m, 2) of at least 3 points x, y (m), or a sequence of such"


def bar(length: float, width: float) -> FloatArray:
    """A rectangle along the x axis, from half a width behind the origin to half a width beyond ``length``.

    It is the shape of a link with one joint at the origin and the next at (length, 0), both half a width from the edge.

    Parameters
    ----------
    length : float
        Between the two joints, m; 0 gives a square.
    width : float
        Across, m.

    Returns
    -------
    ndarray (4, 2)
        The corners, counterclockwise, m.

    Raises
    ------
    ArgumentError
        Unless length >= 0 and width > 0, both finite.

    Examples
    --------
    >>> from linkwise import planar
    >>> planar.bar(1.0, 0.25).tolist()
    [[-0.125, -0.125], [1.125, -0.125], [1.125, 0.125], [-0.125, 0.125]]
    """
    check = Checker("bar")
    along, half = check.number("length", length, least=0.0, known=True), 0.5 * check.number("width", width, known=True)
    if not check.problems and not half > 0.0:
        check.report("width", width, "a finite number > 0")
    try:
        check.finish()
    except ModelError as error:
        raise ArgumentError(str(error)) from None
    return np.array([[-half, -half], [along + half, -half], [along + half, half], [-half, half]])


def given_polygons(check: Checker, field: str, given: Any) -> tuple[FloatArray, ...]:
    """The polygons of a link, read-only copies: one or several were given; nothing after a report."""
    if given is None:
        return ()
    whole = _points(given)
    if whole is not None and whole.ndim == 2:
        made = _checked(check, field, given)
        return () if made is None else (made,)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        check.report(field, given, EXPECTED)
        return ()
    each = tuple(given)
    several = [_checked(check, f"{field}[{k}]", one) for k, one in enumerate(each)]
    return tuple(one for one in several if one is not None)


def _points(given: Any) -> FloatArray | None:
    """An array of numbers; None for anything else."""
    try:
        return real(given)
    except TypeError:
        return None


def _checked(check: Checker, field: str, given: Any) -> FloatArray | None:
    """One polygon, or None after a report of what is wrong with it."""
    made = _points(given)
    if made is None or made.ndim != 2 or made.shape[1] != 2:
        check.report(field, given, EXPECTED)
        return None
    wrong = _fault(made)
    if wrong:
        check.report(field, given, wrong)
        return None
    return frozen(made.copy())


def _fault(points: FloatArray) -> str:
    """What a polygon should be and is not; nothing where all is well."""
    if not np.isfinite(points).all():
        k = int(np.argwhere(~np.isfinite(points))[0, 0])
        return f"finite numbers; point {k} is {shown(points[k].tolist())}"
    if len(points) < 3:
        return f"at least 3 points; it has {len(points)}"
    ahead = np.roll(points, -1, axis=0)
    same = np.flatnonzero((points == ahead).all(axis=1))
    if same.size:
        k = int(same[0])
        hint = " (the last point joins the first by itself)" if k == len(points) - 1 else ""
        return f"neighbouring points that differ; points {k} and {(k + 1) % len(points)} are one{hint}"
    crossed = _first_crossing(points, ahead)
    if crossed is not None:
        i, j = crossed
        return f"an outline that does not meet itself; the edges from points {i} and {j} meet"
    return ""


def _first_crossing(start: FloatArray, end: FloatArray) -> tuple[int, int] | None:
    """The first two edges, from point i and from point j, that share more than the corner of neighbours."""
    count = len(start)
    for i in range(count - 1):
        others = np.arange(i + 2, count - (i == 0))
        if i + 1 < count and _folds(start, end, i):
            return i, i + 1
        hit = others[_meet(start[i], end[i], start[others], end[others])]
        if hit.size:
            return i, int(hit[0])
    return (count - 1, 0) if _folds(start, end, count - 1) else None


def _folds(start: FloatArray, end: FloatArray, i: int) -> bool:
    """Whether the edge after edge i runs straight back over it."""
    one, other = end[i] - start[i], end[(i + 1) % len(end)] - end[i]
    return bool(one[0] * other[1] == one[1] * other[0] and one @ other < 0)


def _meet(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> Any:
    """Whether the segment a b has a point in common with each segment c d (k, 2): by the sides of its ends (k,)."""
    c_side, d_side = _side(a, b, c), _side(a, b, d)
    a_side, b_side = _side(c, d, a), _side(c, d, b)
    proper = (c_side * d_side < 0) & (a_side * b_side < 0)
    touch = (c_side == 0) & _within(a, b, c) | (d_side == 0) & _within(a, b, d)
    return proper | touch | (a_side == 0) & _within(c, d, a) | (b_side == 0) & _within(c, d, b)


def _side(a: FloatArray, b: FloatArray, p: FloatArray) -> Any:
    """The sign of the area of the triangle a b p: on which side of the line a b the point p is."""
    one, other = b - a, p - a
    return np.sign(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])


def _within(a: FloatArray, b: FloatArray, p: FloatArray) -> Any:
    """Whether p is in the box around a and b."""
    return ((np.minimum(a, b) <= p) & (p <= np.maximum(a, b))).all(axis=-1)
