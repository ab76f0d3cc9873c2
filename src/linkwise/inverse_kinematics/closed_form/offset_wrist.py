"""Arms with an elbow in a plane through the base axis and a wrist with an offset: one angle by a polynomial of degree 8.

The axes of joints 1 and 2 meet at right angles in O, those of 2 and 3 are parallel, axis 4 meets axis 3 at a right angle,
and axis 5 in a point W; W moves in a plane through axis 1 (no shoulder offset). Joint 6 is hidden: its angle t carries W and
the direction h5 back from the pose. With n = W x z, m = W . h4, a function of |W|^2 (the triangle of the two links), and the
constant k = h5 . h4, the three planes W . h4 = m, h5 . h4 = k and n . h4 = 0 have the unit vector h4 in common where

    |m (h5 x n) + k (n x W)|^2 = (W . (h5 x n))^2,

of degree 4 in cosine and sine of t: at most 8 angles, each with one elbow and two shoulders, so at most 16 solutions.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from linkwise.inverse_kinematics.closed_form import loop_closing
from linkwise.inverse_kinematics.closed_form.answers import OPEN, Answers, closed_loops, wrapped
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain, common_point, parallel
from linkwise.inverse_kinematics.closed_form.circle_roots import (
    ALONE,
    BESIDE_CIRCLE,
    STRAY,
    circle_points,
    declared,
    roots_of,
)
from linkwise.inverse_kinematics.closed_form.subproblems import Turn, align, unturned
from linkwise.inverse_kinematics.closed_form.tapes import Functions
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, atan2, root, select
from linkwise.spatial.vector import inner

#: Degree of the polynomial in cosine and sine, which has twice as many roots in z = exp(i t).
DEGREE = 4

#: Axes that are special up to this (rad, shares of the arm's size) are so but for rounding.
ROUNDED = 1e-12

CIRCLE = circle_points(DEGREE)


class OffsetWrist(NamedTuple):
    """The numbers of an arm of this class.

    Attributes
    ----------
    numbers : ndarray (9, 3)
        Directions of the six axes; from O, in sizes of the arm: where axes 3 and 4 meet, W, and a point of axis 6.
    origin : ndarray (3,)
        O, m.
    """

    numbers: FloatArray
    origin: FloatArray


def offset_wrist(chain: AxisChain) -> OffsetWrist | None:
    """The numbers of an arm of this class, None where a chain of six revolute joints is none."""
    h = chain.axes
    if parallel(chain, 0, 1) or not parallel(chain, 1, 2) or parallel(chain, 2, 3) or parallel(chain, 3, 4):
        return None
    (origin, a), (elbow, b), (wrist, c) = (common_point(chain, k, k + 1) for k in (0, 2, 3))
    skew = [float(h[0] @ h[1]), float(h[1] @ h[3]), float(np.linalg.norm(np.cross(h[1], h[2])))]
    aside = float(h[1] @ (wrist - origin))
    if max(a, b, c, abs(aside)) > ROUNDED * chain.size or np.abs(skew).max() > ROUNDED:
        return None
    places = (np.stack([elbow, wrist, chain.points[5]]) - origin) / chain.size
    if min(np.linalg.norm(places[0]), np.linalg.norm(places[1] - places[0])) < 1e-3:
        return None  # (without two links there is no triangle)
    return OffsetWrist(np.concatenate([h, places]), origin)


class _Seen(NamedTuple):
    """Quantities of an angle of joint 6: W and h5, and the derived |W|^2, m, k, n."""

    wrist: Array
    fifth: Array
    square: Any
    m: Any
    k: Any
    normal: Array


def _seen(arm: Array, displacement: Array, circle: Array) -> _Seen:
    h, (elbow, wrist, sixth) = arm[:6], arm[6:]
    rotation, turn = displacement[:, :3], Turn(circle[0], circle[1])
    w = rotation @ (sixth + unturned(h[5], turn, wrist - sixth)) + displacement[:, 3]
    fifth = rotation @ unturned(h[5], turn, h[4])
    fore = inner(wrist - elbow, h[3])
    square = inner(w, w)
    m = fore + (square - inner(elbow, elbow) - fore * fore) * (0.5 / fore)
    return _Seen(w, fifth, square, m, inner(h[3], h[4]), cross(w, h[0]))


def closure(arm: Array, displacement: Array, circle: Array) -> Array:
    """The polynomial at a point (cos, sin) of the circle."""
    w, h5, square, m, k, n = _seen(arm, displacement, circle)
    flat, along, across = inner(n, n), inner(h5, n), inner(w, cross(h5, n))
    mixed = k * k * square - 2.0 * m * k * inner(h5, w)
    return np.asarray(m * m * (flat - along * along) + flat * mixed - across * across)


def wrist_angles(arm: Array, displacement: Array, circle: Array, elbow: Any) -> Array:
    """The angles of both shoulders (2, 6) at a root, by the elbow that fits the better (1), or by the other one (-1)."""
    h, (upper, wrist, _) = arm[:6], arm[6:]
    w, h5, square, m, k, n = _seen(arm, displacement, circle)
    normal = n * (1.0 / root(inner(n, n)))
    across = cross(normal, w)
    under = square - m * m
    reach = root(select(under, under, 0.0))
    both = inner(h5, w) * m - k * square, inner(h5, across) * reach
    sign = select(abs(both[0] + both[1]) - abs(both[0] - both[1]), -1.0, 1.0) * elbow
    fourth = (w * m + across * (sign * reach)) * (1.0 / square)
    shoulder = w - fourth * inner(wrist - upper, h[3])
    none = Turn(1.0, 0.0)
    rows = []
    for side in (1.0, -1.0):
        q1 = align(h[0], h[1], side * normal, none)
        q2 = align(h[1], upper, unturned(h[0], q1, shoulder), none)
        whole = align(h[1], h[3], unturned(h[0], q1, fourth), none)
        q3 = whole.minus(q2)
        q3 = Turn(q3.c, q3.s * inner(h[1], h[2]))
        seen = unturned(h[1], whole, unturned(h[0], q1, h5))
        q4 = align(h[3], h[4], seen, none)
        beside = cross(h[4], h[3])
        end = displacement[:, :3] @ unturned(h[5], Turn(circle[0], circle[1]), beside)
        q5 = align(h[4], beside, unturned(h[3], q4, unturned(h[1], whole, unturned(h[0], q1, end))), none)
        rows.append([atan2(turn.s, turn.c) for turn in (q1, q2, q3, q4, q5)] + [atan2(circle[1], circle[0])])
    return np.array(rows, dtype=object)


def closed_angles(arm: Array, between: Array, seen: Array, circle: Array, elbow: Any) -> tuple[Array, ...]:
    """The angles of both shoulders (2, 6) at a root after a step that closes the loop, in [-pi, pi].

    Also how far the loop was open before (2,), how far joint 6 has moved (2,), and the angles before (2, 6). `between` are
    the placements that do not depend on the pose, `seen` the displacement and the last placement, which do.
    """
    begun = wrist_angles(arm, seen[0], circle, elbow)
    loop = np.concatenate([between, seen[1:]])
    closed, opened, strayed = [], [], []
    for row in begun:
        moved, gap = loop_closing.gauss_newton_step(loop, row)
        closed.append([_within_half_a_turn(angle) for angle in moved])
        opened.append(gap[()])
        strayed.append(abs(moved[5] - row[5]))
    return np.array(closed, dtype=object), np.array(opened, dtype=object), np.array(strayed, dtype=object), begun


def _within_half_a_turn(angle: Any) -> Any:
    """An angle less than three halves of a turn, by one turn less or more where it is beyond half a turn."""
    less, more = angle - 2.0 * math.pi, angle + 2.0 * math.pi
    return select(angle - math.pi, less, select(-math.pi - angle, more, angle))


#: Roots that are this near to the circle may be a double solution within the tolerance, which is about its square.
NEARLY_DOUBLE = 1e-4


@cache
def kernels() -> Functions:
    """The functions of this module, compiled."""
    inputs: dict[str, Any] = {"arm": (9, 3), "displacement": (3, 4), "circle": (2,)}
    places: dict[str, Any] = {"arm": (9, 3), "between": (5, 3, 4), "seen": (2, 3, 4), "circle": (2,), "elbow": ()}
    angles = {"q": (2, 6), "opened": (2,), "strayed": (2,), "begun": (2, 6)}
    functions = {"closure": (closure, inputs, {"value": ()}), "closed_angles": (closed_angles, places, angles)}
    return Functions(__name__, functions | declared(DEGREE))


def solve_offset_wrist(seen: FloatArray, between: FloatArray, arm: OffsetWrist) -> Answers:
    """Solutions of displacements from where axes 1 and 2 meet, and of the last placements of loops, (N, 2, 3, 4).

    `between` (5, 3, 4) are the other placements of the loops. A root on the circle that is alone is of one elbow: those of
    both elbows are double. So two solutions are all of it.
    """
    functions = kernels().for_rows(len(seen))
    with np.errstate(all="ignore"):
        c, error = functions["coefficients"](functions["closure"](arm.numbers, seen[:, None, 0], CIRCLE))
        roots = roots_of(c)
        radii, circle, kind = functions["classified"](c, roots, error)
        proven = ((kind <= BESIDE_CIRCLE) | (kind == ALONE)).all(axis=1)
        beside = kind == BESIDE_CIRCLE
        if beside.any():
            proven[(beside & (np.abs(roots - circle).max(axis=-1) < NEARLY_DOUBLE)).any(axis=1)] = False
        tried = kind > BESIDE_CIRCLE
        if not proven.all():
            tried |= ~proven[:, None] & beside
        pose, which = tried.nonzero()
        parts = between, seen[pose], circle[pose, which]
        q, opened, strayed, begun = functions["closed_angles"](arm.numbers, *parts, 1.0)
        of, again = pose.repeat(2), np.flatnonzero(~proven[pose])
        if again.size:
            second, second_opened, _, second_begun = functions["closed_angles"](
                arm.numbers, between, *(part[again] for part in parts[1:]), -1.0
            )
            pairs = (q, second), (opened, second_opened), (begun, second_begun)
            q, opened, begun = (np.concatenate(pair) for pair in pairs)
            of = np.concatenate([of, pose[again].repeat(2)])
        q, opened, begun = q.reshape(-1, 6), opened.ravel(), begun.reshape(-1, 6)
        far = np.flatnonzero(~(opened < OPEN))  # (others are closed to rounding after the step)
        if far.size:
            loops = np.empty((len(far), 6, 3, 4))
            loops[:, :5], loops[:, 5] = between, seen[of[far], 1]
            moved, opened[far] = closed_loops(loops, begun[far])
            q[far] = wrapped(moved)
            rooted = far[far < strayed.size]
            strayed.reshape(-1)[rooted] = np.abs(wrapped(q[rooted, 5] - begun[rooted, 5]))
    good = opened < OPEN
    fits = good[: strayed.size].reshape(-1, 2) & (strayed <= (2.0 * radii[pose, which] + STRAY)[:, None])
    if not fits.all():
        proven[pose[~fits.all(axis=1)]] = False
    return Answers(of, q, proven) if good.all() else Answers(of[good], q[good], proven)
