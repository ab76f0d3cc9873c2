"""Configurations of an arm: which side of each singular surface joint coordinates are on, by name.

The determinant of the Jacobian of six joints is a product of factors, each of some joints alone, where three neighbouring
axes meet in a point or are parallel. A path on which none of them vanishes meets no singular position, and keeps all signs.

- Axes a, b, c meet in a point P: det J = ± h_a · (h_b x h_c) det(v_i, v_j, v_k), v_i being the velocity that joint i gives
  P (D. L. Pieper 1968; the decoupling of singular positions is in B. Siciliano et al., *Robotics*, 2009, section 3.3.1).
- Axes a, b, c are parallel to h: det J = ± h · ((p_b - p_a) x (p_c - p_b)) D, D being the determinant of what the other
  joints do to the velocity along h and to the angular velocity across it.

Both second factors are products themselves where two of their joints are neighbours that meet or are parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError, choices, shown
from linkwise.inverse_kinematics.closed_form.axis_chain import (
    TOLERANCE,
    AxisChain,
    chain_of,
    common_point,
    meeting,
    parallel,
    with_points,
)
from linkwise.inverse_kinematics.closed_form.problem import axes_of
from linkwise.inverse_kinematics.closed_form.subproblems import Turn
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import Tree, require_tree
from linkwise.solve.validation import joint_given, joint_index, link_given
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, cos_sin
from linkwise.spatial.validation import vectors
from linkwise.spatial.vector import inner

#: The words of each name: where its factor is above zero, and below.
WORDS: dict[str, tuple[str, str]] = {
    "shoulder": ("left", "right"),
    "elbow": ("up", "down"),
    "wrist": ("no flip", "flip"),
    "arm": ("positive", "negative"),
    "determinant": ("positive", "negative"),
}

#: Label of configurations on the singular surface, and its tolerance (a sine, or relative to the arm's size).
ON_SURFACE, SINGULAR = "singular", 1e-9


class AxisLine(NamedTuple):
    """The axis of a joint as it lies at some coordinates: direction and point (3,), and whether the joint is prismatic."""

    along: Array
    point: Array
    translates: bool

    def velocity(self, point: Array) -> Array:
        """The velocity (3,) that unit speed of the joint gives a point (3,)."""
        return self.along if self.translates else np.asarray(cross(self.along, point - self.point))


#: From the lines of all joints: the value of a factor.
Value = Callable[[Sequence[AxisLine]], Any]


@dataclass(frozen=True, eq=False)
class DeterminantFactor:
    """One factor of the determinant of the Jacobian.

    Attributes
    ----------
    joints : tuple of int
        The joints of the chain that make it up.
    value : callable
        Its value, from the lines of all joints.
    """

    joints: tuple[int, ...]
    value: Value


def factors_of(chain: AxisChain, held: int | None = None) -> tuple[AxisChain, dict[str, DeterminantFactor]]:
    """The factors of the determinant by name, and the chain with the points that they take; none where none are known.

    Parameters
    ----------
    chain : AxisChain
        Six joints, or fewer, or seven and one of them held.
    held : int, optional
        The joint of the chain that is held.
    """
    joints = [k for k in range(len(chain)) if k != held]
    if len(joints) > 6:
        return chain, {}
    for triple in zip(joints, joints[1:], joints[2:], strict=False):
        if len(joints) == 6 and triple[2] - triple[0] == 2 and not any(chain.translates[k] for k in triple):
            point, gap = common_point(chain, *triple)
            skew = not (parallel(chain, *triple[:2]) or parallel(chain, *triple[1:]))
            if skew and gap <= TOLERANCE * chain.size:
                return _meeting_triple(with_points(chain, dict.fromkeys(triple, point)), joints, triple)
    turning = [k for k in joints if not chain.translates[k]]
    for triple in zip(turning, turning[1:], turning[2:], strict=False):
        between = [k for k in range(triple[0], triple[2]) if k not in triple]
        if all(parallel(chain, triple[0], k) for k in (*triple[1:], *between) if k != held) and held not in between:
            return _parallel_triple(chain, joints, triple)
    return chain, {}


def _meeting_triple(
    chain: AxisChain, joints: Sequence[int], triple: tuple[int, ...]
) -> tuple[AxisChain, dict[str, DeterminantFactor]]:
    a, b, c = triple

    def orientation(lines: Sequence[AxisLine]) -> Any:
        return inner(cross(lines[b].along, lines[a].along), lines[c].along)

    factors = [DeterminantFactor(triple, orientation)]
    others = tuple(k for k in joints if k not in triple)
    chain, position = _position_factors(chain, others, a)
    return chain, _named([*factors, *position], chain, triple)


def _position_factors(chain: AxisChain, others: tuple[int, ...], centre: int) -> tuple[AxisChain, list[DeterminantFactor]]:
    """The factors of det(v_i, v_j, v_k) for the velocities of the point of joint `centre`."""
    pairs = [(i, j) for i, j in pairwise(others) if j == i + 1 and not (chain.translates[i] or chain.translates[j])]
    for i, j in sorted(pairs, key=lambda pair: not parallel(chain, *pair)):
        (lone,) = (k for k in others if k not in (i, j))
        if parallel(chain, i, j):

            def across(lines: Sequence[AxisLine], i: int = i, lone: int = lone) -> Any:
                return inner(lines[lone].velocity(lines[centre].point), lines[i].along)

            def bent(lines: Sequence[AxisLine], i: int = i, j: int = j) -> Any:
                point = lines[centre].point
                return inner(lines[i].along, cross(point - lines[i].point, point - lines[j].point))

            return chain, [DeterminantFactor((lone,), across), DeterminantFactor((i, j), bent)]
        if meeting(chain, i, j):
            point = common_point(chain, i, j)[0]

            def side(lines: Sequence[AxisLine], i: int = i, j: int = j) -> Any:
                return inner(cross(lines[i].along, lines[j].along), lines[centre].point - lines[j].point)

            def away(lines: Sequence[AxisLine], j: int = j, lone: int = lone) -> Any:
                point = lines[centre].point
                return inner(point - lines[j].point, lines[lone].velocity(point))

            return with_points(chain, {i: point, j: point}), [
                DeterminantFactor((i, j), side),
                DeterminantFactor((lone,), away),
            ]

    def whole(lines: Sequence[AxisLine]) -> Any:
        u, v, w = (lines[k].velocity(lines[centre].point) for k in others)
        return inner(u, cross(v, w))

    return chain, [DeterminantFactor(others, whole)]


def _parallel_triple(
    chain: AxisChain, joints: Sequence[int], triple: tuple[int, ...]
) -> tuple[AxisChain, dict[str, DeterminantFactor]]:
    a, b, c = triple

    def bent(lines: Sequence[AxisLine]) -> Any:
        return inner(lines[a].along, cross(lines[b].point - lines[a].point, lines[c].point - lines[b].point))

    factors = [DeterminantFactor(triple, bent)]
    others = tuple(k for k in joints if k not in triple)
    if len(others) < 3 or len(joints) < 6 or any(chain.translates[k] for k in joints):
        return chain, {"elbow": factors[0]}
    for i, j in pairwise(others):
        (lone,) = (k for k in others if k not in (i, j))
        if j == i + 1 and meeting(chain, i, j):
            chain = with_points(chain, dict.fromkeys((i, j), common_point(chain, i, j)[0]))

            def along(lines: Sequence[AxisLine], i: int = i, lone: int = lone) -> Any:
                return inner(lines[a].along, lines[lone].velocity(lines[i].point))

            def tilted(lines: Sequence[AxisLine], i: int = i, j: int = j) -> Any:
                return inner(cross(lines[i].along, lines[a].along), lines[j].along)

            factors += [DeterminantFactor((lone,), along), DeterminantFactor((i, j), tilted)]
            return chain, _named(factors, chain, triple)

    def whole(lines: Sequence[AxisLine]) -> Any:
        h, point = lines[a].along, lines[others[0]].point
        total: Any = 0.0
        for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            u, v, w = (lines[others[k]] for k in (x, y, z))
            total = total + inner(h, u.velocity(point)) * inner(h, cross(v.along, w.along))
        return total

    return chain, _named([*factors, DeterminantFactor(others, whole)], chain, triple)


def _named(factors: list[DeterminantFactor], chain: AxisChain, triple: tuple[int, ...]) -> dict[str, DeterminantFactor]:
    """Factors by name: of three, from the base on, shoulder, elbow and wrist, signed as people see the arm."""
    if len(factors) < 3:
        triples = {True: "shoulder", False: "wrist"}[triple[0] == 0]
        return {"elbow" if parallel(chain, *triple[:2]) else triples: factors[0], "arm": factors[1]}
    shoulder, elbow, wrist = sorted(factors, key=lambda factor: factor.joints)
    if len(shoulder.joints) == 1 and len(elbow.joints) > 1 and not chain.translates[shoulder.joints[0]]:
        shoulder, elbow = _seen_from_outside(chain, shoulder, elbow, wrist)
    return {"shoulder": shoulder, "elbow": elbow, "wrist": wrist}


def _seen_from_outside(
    chain: AxisChain, shoulder: DeterminantFactor, elbow: DeterminantFactor, wrist: DeterminantFactor
) -> tuple[DeterminantFactor, DeterminantFactor]:
    """Return signs for an arm that rotates about its first axis and bends in a plane, independent of the senses of the axes.

    The shoulder is left where, looking outwards from axis 1 to the wrist, the plane of the arm is to the left of it; the
    elbow is up where it is above the line from the shoulder to the wrist. Up is along axis 1, or against it where that axis
    points downwards from the base. An arm without an offset is right where the wrist is on the side of h_2 x h_1.
    """
    first, bend = shoulder.joints[0], elbow.joints[0]
    up = -1.0 if chain.frame[2, 2] * chain.axes[first, 2] < 0.0 else 1.0
    offset = float(chain.axes[bend] @ (chain.points[wrist.joints[0]] - chain.points[first]))
    level = abs(float(chain.axes[bend] @ chain.axes[first])) <= TOLERANCE
    side = up if level and offset > TOLERANCE * chain.size else -up

    def left(lines: Sequence[AxisLine]) -> Any:
        return side * shoulder.value(lines)

    def above(lines: Sequence[AxisLine]) -> Any:
        return up * elbow.value(lines) * shoulder.value(lines)

    return replace(shoulder, value=left), replace(elbow, value=above)


def lines_at(chain: AxisChain, values: Sequence[Any]) -> list[AxisLine]:
    """The axes of a chain as its joints, each a `Turn` or a length, have moved them."""
    moved, lines = np.eye(4), []
    for axis, value in zip(axes_of(chain), values, strict=True):
        there = axis.moved(moved)
        lines.append(AxisLine(there.along, there.point, axis.translates))
        moved = np.asarray(moved @ axis.displacement(value))
    return lines


class ConfigurationLabels:
    """Names of the configurations of one frame, created by `labels_of`.

    Parameters
    ----------
    mechanism, link
        Whose frame it is.
    fixed : int, optional
        The coordinate that is held.

    Attributes
    ----------
    names : tuple of str
        ``"shoulder"``, ``"elbow"``, ``"wrist"`` where the determinant of the Jacobian has these factors, ``"arm"`` for a
        factor that does not come apart further, ``"determinant"`` for all of it; empty where the Jacobian is not square.
    """

    def __init__(self, mechanism: Tree, link: int | str, fixed: int | None = None) -> None:
        self.mechanism, self.link, self.fixed = mechanism, link, fixed
        chain, why = chain_of(mechanism, link)
        self.why = why
        self.names: tuple[str, ...] = ()
        if chain is None or (fixed is not None and fixed not in chain.coordinates):
            return
        held = None if fixed is None else chain.coordinates.index(fixed)
        self._columns = [k for k in chain.coordinates if k != fixed]
        self.chain, self._factors = factors_of(chain, held)
        self.names = tuple(self._factors) or (("determinant",) if len(self._columns) == 6 else ())
        self._kernel: Kernel | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it is made from: the factors are functions of their own."""
        return labels_of, (self.mechanism, self.link, self.fixed)

    def values(self, q: npt.ArrayLike) -> FloatArray:
        """The factors (..., F) at coordinates q (..., n), lengths in shares of the arm's size: zero on singular surfaces."""
        q = vectors("q", q, self.mechanism.n, finite=False)
        if not self._factors:
            if not self.names:
                return np.zeros((*q.shape[:-1], 0))
            rates = np.array(kernel_of(self.mechanism, "jacobian", None, {"link": self.link})(q))[..., self._columns]
            rates[..., :3, :] /= self.chain.size
            return np.asarray(np.linalg.det(rates)[..., None])
        if self._kernel is None:
            outputs = {"values": (len(self.names),)}
            self._kernel = Kernel(trace(self._run, "configuration", {"q": (self.mechanism.n,)}, outputs))
        return np.asarray(self._kernel(np.ascontiguousarray(q)))

    def _run(self, q: Array) -> Array:
        chain = replace(self.chain, points=self.chain.points / self.chain.size, size=1.0)
        joints: list[Any] = []
        for k, place in enumerate(chain.coordinates):
            value = q[place] * float(chain.ratios[k]) + float(chain.shifts[k])
            joints.append(value * (1.0 / self.chain.size) if chain.translates[k] else Turn(*cos_sin(value)))
        lines = lines_at(chain, joints)
        return np.array([factor.value(lines) for factor in self._factors.values()], dtype=object)

    def of(self, q: npt.ArrayLike) -> dict[str, Any]:
        """Words by name for coordinates q (n,), arrays of words (...) for q (..., n); empty words where q is NaN."""
        values = self.values(q)
        words = {}
        for k, name in enumerate(self.names):
            value = values[..., k]
            above, below = WORDS[name]
            word = np.where(value > SINGULAR, above, np.where(value < -SINGULAR, below, ON_SURFACE))
            word = np.where(np.isnan(value), "", word)
            words[name] = str(word) if word.ndim == 0 else word
        return words

    def fits(self, q: npt.ArrayLike, configuration: Mapping[str, str]) -> npt.NDArray[np.bool_]:
        """Compare coordinates q (..., n) with a configuration; on a singular surface both labels match.

        Raises
        ------
        ArgumentError
            Where a name or a word is none of this arm.
        """
        if not isinstance(configuration, Mapping):
            raise ArgumentError(f"configuration is {shown(configuration)}; expected words by name, as {{'elbow': 'up'}}")
        values = self.values(q)
        fits = np.ones(values.shape[:-1], dtype=bool)
        for name, word in configuration.items():
            if name not in self.names:
                expected = choices(self.names) if self.names else f"none: {self.why or 'the Jacobian is not square'}"
                raise ArgumentError(f"configuration has {shown(name)}; {self.mechanism.name!r} has {expected}")
            if word not in WORDS[name]:
                raise ArgumentError(f"configuration[{name!r}] is {shown(word)}; expected {choices(WORDS[name])}")
            sign = 1.0 if word == WORDS[name][0] else -1.0
            fits &= sign * values[..., self.names.index(name)] > -SINGULAR
        return fits


def labels_of(mechanism: Tree, link: int | str = "tool", fixed: int | None = None) -> ConfigurationLabels:
    """Return the configuration names of a frame, cached for each mechanism."""
    require_tree(mechanism, "configuration_labels: mechanism")
    return mechanism.memo(
        "configuration_labels", (link_given(link), fixed), lambda: ConfigurationLabels(mechanism, link, fixed)
    )


def configuration_labels(
    mechanism: Tree, q: npt.ArrayLike, *, link: int | str = "tool", fixed: int | str | None = None
) -> dict[str, Any]:
    """The configuration of an arm at joint coordinates: shoulder left or right, elbow up or down, wrist flipped or not.

    Each word is the sign of a factor of the determinant of the Jacobian: it changes only where the arm passes through a
    singular position. There are three for arms with a spherical wrist or three parallel axes, whatever
    their offsets. Without such structure the one word is the sign of the whole determinant: it does not tell all solutions
    apart, and nothing continuous does for arms that change posture without meeting a singular position (P. Wenger,
    "Cuspidal and noncuspidal robot manipulators", Robotica 25(6), 2007). `follow_path` numbers branches along one path.

    The shoulder is left where the plane of the arm is to the left of axis 1 as one looks outwards from it to the wrist; the
    elbow is up where it is above the line from shoulder to wrist. The wrist is not flipped where
    ``cross(h_5, h_4) · h_6 > 0``: an angle of joint 5 between 0 and pi where axes 4 and 6 are the same at zero.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base.
    q : (..., n) array_like
        Joint coordinates, rad or m.
    link : int or str
        Which frame.
    fixed : int or str, optional
        Of seven joints the one that is held.

    Returns
    -------
    dict
        A word for each name; arrays of words (...) for a batch; ``"singular"`` on the surface itself. Empty where the arm
        has no such names.

    Examples
    --------
    >>> from linkwise import robots
    >>> robots.puma560().configuration_labels([0.0, 0.8, -2.4, 0.0, 0.8, 0.0])
    {'shoulder': 'right', 'elbow': 'up', 'wrist': 'no flip'}
    """
    joint = None if fixed is None else joint_index(mechanism, "fixed", joint_given("fixed", fixed))
    return labels_of(mechanism, link, joint).of(q)
