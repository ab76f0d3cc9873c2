"""Six joints of which two slide: the angle of one of the four that turn by a polynomial of degree 8.

The rotations of four revolute joints h, a, b and c close a spherical four-bar, Z_h K_0 Z_a K_1 Z_b K_2 Z_c K_3 = 1. For
an angle of the hidden joint h it has two positions, with the root of one number s^2: cosines and sines of a, b and c are
f + g s, over a denominator D. The two shifts close the gap where it lies in the plane of their directions; the product of
that triple product for both positions, times a power of D, is a trigonometric polynomial of degree 4 in the hidden angle,
known by its values.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.closed_form import offset_wrist as quartic
from linkwise.inverse_kinematics.closed_form.answers import OPEN, Answers, closed_loops, wrapped
from linkwise.inverse_kinematics.closed_form.circle_roots import ALONE, BESIDE_CIRCLE, STRAY, roots_of
from linkwise.inverse_kinematics.closed_form.general_arm import GeneralArm
from linkwise.inverse_kinematics.closed_form.loop_closing import Slides, about, inverse_placement, word
from linkwise.inverse_kinematics.closed_form.tapes import Functions
from linkwise.spatial.scalar import Array, FloatArray, atan2, root, select
from linkwise.spatial.vector import inner

#: Powers of the denominator that are tried.
POWERS = (0, 1, 2)


class Surd:
    """A number f + g s, s^2 being the same number for all; over scalars."""

    __slots__ = ("f", "g", "square")

    def __init__(self, f: Any, g: Any, square: Any) -> None:
        self.f, self.g, self.square = f, g, square

    def __add__(self, other: Any) -> Surd:
        f, g = (other.f, other.g) if isinstance(other, Surd) else (other, 0.0)
        return Surd(self.f + f, self.g + g, self.square)

    __radd__ = __add__

    def __neg__(self) -> Surd:
        return Surd(-self.f, -self.g, self.square)

    def __sub__(self, other: Any) -> Surd:
        return Surd.__add__(self, -other)

    def __rsub__(self, other: Any) -> Surd:
        return Surd.__add__(-self, other)

    def __mul__(self, other: Any) -> Surd:
        if not isinstance(other, Surd):
            return Surd(self.f * other, self.g * other, self.square)
        return Surd(self.f * other.f + self.g * other.g * self.square, self.f * other.g + self.g * other.f, self.square)

    __rmul__ = __mul__


class _FourBar(NamedTuple):
    """Cosines and sines of a, b and c, the denominator of those of a and c, and s^2."""

    rotations: tuple[Any, ...]
    denominator: Any
    square: Any


def _places(slides: Slides) -> tuple[int, ...]:
    """Positions of a, b and c in a loop that begins with the hidden joint."""
    return tuple(k for k in range(1, 6) if not slides[k])


def _four_bar(loop: Array, circle: Array, slides: Slides, sign: float | None) -> _FourBar:
    """The position of the four-bar with one sign of s, or as `Surd` with both."""
    K, between = [], np.eye(3, dtype=object)
    for k in range(6):
        if k in _places(slides):
            K.append(between)
            between = np.eye(3, dtype=object)
        between = between @ loop[k, :, :3]
    K.append(between)
    N = K[0].T @ about(circle[0], -circle[1])[:, :3] @ K[3].T
    u, w = K[1][2], K[2][:, 2]
    g, h = u[0] * w[0] + u[1] * w[1], u[1] * w[0] - u[0] * w[1]
    scale = 1.0 / root(g * g + h * h)
    level = (N[2, 2] - u[2] * w[2]) * scale
    square = 1.0 - level * level
    s: Any = Surd(0.0, 1.0, square) if sign is None else sign * root(select(square, square, 0.0))
    cb, sb = (s * -h + level * g) * scale, (s * g + level * h) * scale
    middle = np.array([[cb, -1.0 * sb, 0.0], [sb, cb, 0.0], [0.0, 0.0, 1.0]], dtype=object)
    turned, row = K[1] @ (middle @ w), (u @ middle) @ K[2]
    denominator = N[0, 2] * N[0, 2] + N[1, 2] * N[1, 2]
    over = 1.0 / denominator
    a = (turned[0] * N[0, 2] + turned[1] * N[1, 2]) * over, (turned[0] * N[1, 2] - turned[1] * N[0, 2]) * over
    c = (row[0] * N[2, 0] + row[1] * N[2, 1]) * over, (row[1] * N[2, 0] - row[0] * N[2, 1]) * over
    return _FourBar((a, (cb, sb), c), denominator, square)


def _gap(loop: Array, circle: Array, turns: Any, slides: Slides) -> tuple[Array, Array, Array]:
    """Displacement (3,) that the sliding joints must give, and their directions."""
    first, middle, last = _places(slides)
    at = {0: circle, first: turns[0], last: turns[2]}
    rotation, place, directions = np.eye(3, dtype=object), np.zeros(3, dtype=object), {}
    for k in range(middle):
        if slides[k]:
            directions[k] = rotation[:, 2]
        else:
            rotation = rotation @ about(*at[k])[:, :3]
        place, rotation = place + rotation @ loop[k, :, 3], rotation @ loop[k, :, :3]
    rotation, back = np.eye(3, dtype=object), np.zeros(3, dtype=object)
    for k in range(5, middle - 1, -1):
        step = inverse_placement(loop[k])
        back, rotation = back + rotation @ step[:, 3], rotation @ step[:, :3]
        if k > middle and slides[k]:
            directions[k] = rotation[:, 2]
        elif k > middle:
            rotation = rotation @ about(at[k][0], -1.0 * at[k][1])[:, :3]
    axis1, axis2 = (directions[k] for k in sorted(directions))
    return place - back, axis1, axis2


def _triple(a: Array, b: Array, c: Array) -> Any:
    return sum(a[i] * (b[i - 2] * c[i - 1] - b[i - 1] * c[i - 2]) for i in range(3))


def norm(loop: Array, circle: Array, slides: Slides) -> tuple[Array, Array]:
    """The product of the triple products of both positions, and the denominator."""
    bar = _four_bar(loop, circle, slides, None)
    value = _triple(*_gap(loop, circle, bar.rotations, slides))
    f, g = (value.f, value.g) if isinstance(value, Surd) else (value, 0.0)
    return np.asarray(f * f - g * g * bar.square), np.asarray(bar.denominator)


def sliding_joints(loop: Array, circle: Array, slides: Slides) -> Array:
    """The joints (2, 6) of both positions at a root, the one that fits the better first."""
    rows, misses = [], []
    for sign in (1.0, -1.0):
        bar = _four_bar(loop, circle, slides, sign)
        gap, axis1, axis2 = _gap(loop, circle, bar.rotations, slides)
        misses.append(abs(_triple(gap, axis1, axis2)))
        along = inner(axis1, axis2)
        scale = 1.0 / (1.0 - along * along)
        first = -(inner(gap, axis1) - along * inner(gap, axis2)) * scale
        second = -(inner(gap, axis2) - along * inner(gap, axis1)) * scale
        shifts, angles = iter((first, second)), iter((atan2(s, c) for c, s in (circle, *bar.rotations)))
        rows.append([next(shifts) if slide else next(angles) for slide in slides])
    better = misses[1] - misses[0]
    pairs = list(zip(*rows, strict=True))
    return np.array([[select(better, a, b) for a, b in pairs], [select(better, b, a) for a, b in pairs]], dtype=object)


@cache
def kernels(slides: Slides) -> Functions:
    """Return the compiled `norm` and `sliding_joints` for the given sliding joints."""
    inputs: dict[str, Any] = {"loop": (6, 3, 4), "circle": (2,)}
    functions = {
        "norm": (partial(norm, slides=slides), inputs, {"value": (), "denominator": ()}),
        "joints": (partial(sliding_joints, slides=slides), inputs, {"q": (2, 6)}),
    }
    return Functions(__name__, functions, word(slides))


class SlidingFormulation(NamedTuple):
    """Choice of the hidden joint (0 to 5), the power of its denominator, and the sliding joints."""

    hidden: int
    power: int
    translates: Slides

    def order(self) -> list[int]:
        """The joints, the hidden one first."""
        return [(self.hidden + k) % 6 for k in range(6)]

    def sliding_order(self) -> Slides:
        """Which joints slide, in this order."""
        return tuple(self.translates[k] for k in self.order())

    def samples(self, placements: FloatArray) -> FloatArray:
        """The polynomials of loops (N, 6, 4, 4) on the circle."""
        loop = np.ascontiguousarray(placements[:, self.order(), :3])
        with np.errstate(all="ignore"):
            value, denominator = kernels(self.sliding_order())["norm"](loop[:, None], quartic.CIRCLE)
            return np.asarray(value * denominator**self.power)

    def hidden_angles(self, q: FloatArray) -> FloatArray:
        """Angles on the circle of joints (M, 6)."""
        return q[:, self.hidden]

    def polynomials(self) -> Functions:
        """Compiled functions that compute roots from samples."""
        return quartic.kernels()

    def solve(self, placements: FloatArray) -> Answers:
        """Solutions of loops (N, 6, 4, 4)."""
        slides, order = self.sliding_order(), self.order()
        period = np.where(slides, 0.0, 2.0 * np.pi)
        loop = np.ascontiguousarray(placements[:, order, :3])
        functions = kernels(slides)
        polynomials = self.polynomials().for_rows(len(loop))
        with np.errstate(all="ignore"):
            c, error = polynomials["coefficients"](self.samples(placements))
            radii, circle, kind = polynomials["classified"](c, roots_of(c), error)
            proven = ((kind <= BESIDE_CIRCLE) | (kind == ALONE)).all(axis=1)
            pose, which = np.nonzero(kind)
            radii, circle, kind, loops = radii[pose, which], circle[pose, which], kind[pose, which], loop[pose]
            both = functions["joints"](loops, circle)
            begun = both[:, 0]
            q, opened = closed_loops(loops, begun, slides)
            good = opened < OPEN
            accounted = good & (kind == ALONE) & (np.abs(wrapped(q[:, 0] - begun[:, 0])) <= 2.0 * radii + STRAY)
            proven[pose[np.where(kind == BESIDE_CIRCLE, good, ~accounted)]] = False
            of, rows, again = pose[good], q[good], ~proven[pose]
            if again.any():  # (of a double root both positions may fit)
                more, more_open = closed_loops(loops[again], both[again, 1], slides)
                also = more_open < OPEN
                of, rows = np.concatenate([of, pose[again][also]]), np.concatenate([rows, more[also]])
        back = np.argsort(order)
        return Answers(of, wrapped(rows, period)[:, back], proven)


class TwoSlidingArm(GeneralArm):
    """Six joints of any geometry, of which two slide; see `GeneralArm`."""

    def _formulations(self) -> list[list[Any]]:
        turning = [k for k in range(6) if not self.chain.translates[k]]
        return [[SlidingFormulation(k, power, self.chain.translates) for k, power in product(turning, POWERS)]]

    def _first_way(self, poses: FloatArray) -> tuple[Answers, npt.NDArray[np.float64]]:
        return self.formulations[0].solve(self.placements_of(poses)), self._checks(poses)
