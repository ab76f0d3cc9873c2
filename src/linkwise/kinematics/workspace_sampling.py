"""The postures of a mechanism as random samples: ranges, the compiled function from joints to places, the first axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import Array, FloatArray, blank, greatest, root
from linkwise.spatial.validation import numbers, rows_of

RANK = 1e-9
"""Singular values below this share of the greatest count as zero: directions in which no posture moves."""

TINY = 1e-12
"""A velocity below this, m/s or rad/s per unit of joint speed, is none."""

PROBES = 64
"""Postures that show in which directions a mechanism moves at all."""

CHUNK = 1 << 16
"""Postures computed at a time."""

ENDLESS = "the reach has no end"
"""What is wrong with joints that slide without limits."""

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pointing:
    """A direction (3,), unit, in which the frame's z axis must point, and the least cosine of the angle to it."""

    direction: FloatArray
    cosine: float


@dataclass(frozen=True, eq=False)
class Postures:
    """What can be sampled of a mechanism: which coordinates move the frame, how far, and what comes of it."""

    tree: Tree
    link: int | str
    mask: str
    limits: bool
    pointing: Pointing | None
    given: Mapping[str, tuple[float, float]]

    @cached_property
    def path(self) -> tuple[int, ...]:
        """The links from the base to the frame."""
        return self.tree.path(self.link)

    @cached_property
    def moving(self) -> npt.NDArray[np.intp]:
        """The coordinates that move the frame."""
        used = {self.tree.followers[k].coordinate for k in self.path if self.tree.links[k].moves}
        return np.array(sorted(used), dtype=np.intp)

    @cached_property
    def turning(self) -> Bools:
        """Which coordinates (n,) a full turn leaves where they are: of revolute joints that no other joint follows."""
        tree = self.tree
        result = np.array([link.joint_model.periodic for link in tree.links if link.moves and not link.mimic], dtype=bool)
        for link, joint in zip(tree.links, tree.followers, strict=True):
            if link.mimic is not None and joint.coordinate >= 0:
                result[joint.coordinate] = False
        return result

    @cached_property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Least and greatest coordinates (n,); one full turn where there is no limit.

        Raises
        ------
        ArgumentError
            Naming the joints that could go on for ever.
        """
        low, high = self.tree.q_min.copy(), self.tree.q_max.copy()
        if not self.limits:
            low[self.turning], high[self.turning] = -np.inf, np.inf
        for name, (least, most) in self.given.items():
            low[self.tree.names.index(name)], high[self.tree.names.index(name)] = least, most
        endless = [name for k, name in enumerate(self.tree.names) if k in self.moving and self._endless(k, low[k], high[k])]
        if endless:
            verb, them = ("has", "it") if len(endless) == 1 else ("have", "them")
            raise ArgumentError(
                f"{members(endless)} of {self.tree.name!r} {verb} no limits and can go on for ever, so that {ENDLESS};"
                f" give {them} limits or a range"
            )
        left, right = np.isfinite(low), np.isfinite(high)
        start = np.where(left, low, np.where(right, np.where(right, high, 0.0) - 2 * np.pi, -np.pi))
        end = np.where(right, high, start + 2 * np.pi)
        return start, end

    def _endless(self, k: int, low: float, high: float) -> bool:
        return not self.turning[k] and not (np.isfinite(low) and np.isfinite(high))

    @cached_property
    def open_ended(self) -> Bools:
        """Which coordinates (n,) may go past the ends of their range, for it is a whole turn."""
        low, high = self.ranges
        return np.asarray(self.turning & (high - low >= 2 * np.pi - 1e-9))

    @cached_property
    def first_axis(self) -> tuple[int, FloatArray] | None:
        """The coordinate that turns everything else, and the joint's frame T_world_joint, z its axis; None without one."""
        tree, placed = self.tree, np.asarray(self.tree.base, dtype=float)
        for k in self.path:
            link = tree.links[k]
            if link.moves:
                coordinate = tree.followers[k].coordinate
                return (coordinate, _along(placed @ link.before, link.axis)) if self.turning[coordinate] else None
            placed = placed @ link.before @ link.motion(0.0) @ link.after
        return None

    @cached_property
    def kernel(self) -> Kernel:
        """From q (nq,) to position (3,), z axis (3,) and manipulability of the frame."""
        inputs, outputs = {"q": (self.tree.nq,)}, {"p": (3,), "z": (3,), "w": ()}
        return Kernel(trace(self._place, "posture", inputs, outputs))

    @cached_property
    def probes(self) -> FloatArray:
        """The Jacobians (k, 6, nv) of some postures."""
        inputs, outputs = {"q": (self.tree.nq,)}, {"J": (6, self.tree.nv)}
        kernel = Kernel(trace(self.rates, "probe", inputs, outputs), "numpy")
        return np.asarray(kernel(self.draw(np.random.default_rng(0), PROBES)))

    def rank(self, rows: Sequence[int]) -> int:
        """How many ways the frame can move at once, at most postures."""
        return max((_rank(np.linalg.svd(rates[rows], compute_uv=False)) for rates in self.probes), default=0)

    @cached_property
    def directions(self) -> FloatArray:
        """Orthonormal rows (r, 6): what the frame's velocities span, all postures together, among the axes that count."""
        rows = list(rows_of(self.mask))
        u, s, _ = np.linalg.svd(np.concatenate(self.probes[:, rows], axis=-1), full_matrices=False)
        result = np.zeros((_rank(s), 6))
        result[:, rows] = _plain(u[:, : len(result)])
        return result

    def rates(self, q: Array) -> Array:
        """The Jacobian (6, nv) of the frame."""
        return np.asarray(jacobian(self.tree, q, link=self.link))

    def _place(self, q: Array) -> tuple[Array, Array, Any]:
        pose = forward_kinematics(self.tree, q, link=self.link)
        rates = blank(len(self.directions), len(self.moving))
        rates[...] = self.directions @ self.rates(q)[:, self.moving]
        return pose[:3, 3], pose[:3, 2], volume_of(rates, self.rank(list(rows_of(self.mask))))

    def evaluate(self, q: FloatArray) -> tuple[FloatArray, FloatArray, Bools]:
        """Positions (k, 3), manipulabilities (k,), and whether the frame points as asked (k,)."""
        p, z, w = self.kernel(q)
        if self.pointing is None:
            return p, w, np.ones(len(q), dtype=bool)
        return p, w, z @ self.pointing.direction >= self.pointing.cosine

    def draw(self, rng: np.random.Generator, count: int, keep: int = -1) -> FloatArray:
        """Postures (count, n), evenly spread over the ranges, one coordinate kept in the middle of its range.

        What does not move the frame stands as near zero as it may.
        """
        low, high = self.ranges
        q = np.tile(np.clip(0.0, low, high), (count, 1))
        k = self.moving
        q[:, k] = low[k] + rng.random((count, len(k))) * (high[k] - low[k])
        if keep >= 0:
            q[:, keep] = 0.5 * (low[keep] + high[keep])
        return q

    def changed(self, rng: np.random.Generator, q: FloatArray, step: FloatArray, keep: int = -1) -> FloatArray:
        """Postures beside others (k, n): some coordinates moved by about ``step`` (k, 1) of their ranges, one kept."""
        low, high = self.ranges
        chosen = np.zeros(self.tree.n, dtype=bool)
        chosen[self.moving] = True
        if keep >= 0:
            chosen[keep] = False
        some = chosen & (rng.random(q.shape) < 0.6)
        result = q + some * rng.standard_normal(q.shape) * step * (high - low)
        held = np.clip(result, low, high)
        turned = low + np.mod(result - low, 2 * np.pi)
        return np.where(self.open_ended & (high - low < 2 * np.pi + 1e-9), turned, held)


def pointing_of(direction: npt.ArrayLike | None, within: float) -> Pointing | None:
    """Check the direction in which the frame must point."""
    if direction is None:
        return None
    result = numbers("pointing", direction, "a direction x, y, z")
    if result.shape != (3,) or not result.any():
        raise ArgumentError(f"pointing is {shown(direction)}; expected a direction x, y, z, not all zero")
    if not isinstance(within, (int, float, np.floating)) or not 0 < within <= np.pi:
        raise ArgumentError(f"within is {shown(within)}; expected an angle above 0 and up to pi, rad")
    return Pointing(result / np.linalg.norm(result), float(np.cos(within)))


def ranges_of(tree: Tree, ranges: Mapping[str, tuple[float, float]] | None) -> dict[str, tuple[float, float]]:
    """Check the ranges that are given for joints."""
    results = {}
    for name, bounds in dict(ranges or {}).items():
        if name not in tree.names:
            raise ArgumentError(f"ranges name {name!r}; the joints of {tree.name!r} are {members(tree.names)}")
        pair = numbers(f"ranges[{name!r}]", bounds, "a least and a greatest number")
        if pair.shape != (2,) or not pair[0] < pair[1]:
            raise ArgumentError(f"ranges[{name!r}] is {shown(bounds)}; expected a least and a greatest number")
        results[name] = (float(pair[0]), float(pair[1]))
    return results


def volume_of(rates: Array, rank: int) -> Any:
    """The product of the greatest ``rank`` singular values of a matrix (r, m) of scalars that has no higher rank.

    Where that is the number of its rows or columns these are made orthogonal one by one (modified Gram-Schmidt; G. H. Golub,
    C. F. Van Loan, *Matrix Computations*, section 5.2.8), which loses no digits to squaring. Otherwise its square is a
    coefficient of the characteristic polynomial of J J' (Faddeev and Le Verrier).

    Examples
    --------
    >>> float(volume_of(np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 0.0]]), 2))
    6.0
    >>> float(volume_of(np.array([[3.0, 0.0], [4.0, 0.0]]), 1))
    5.0
    """
    if not rank:
        return 0.0
    if rank < min(rates.shape):
        return root(greatest(_coefficient(rates @ rates.T, rank), 0.0))
    rows = list(rates if rates.shape[0] <= rates.shape[1] else rates.T)
    result: Any = 1.0
    for k, row in enumerate(rows):
        square = row @ row
        result = result * root(square)
        inverse = 1.0 / greatest(square, 1e-300)
        rows[k + 1 :] = [other - row * ((other @ row) * inverse) for other in rows[k + 1 :]]
    return result


def _coefficient(square: Array, order: int) -> Any:
    """The sum of all products of ``order`` eigenvalues of a matrix."""
    unit, power, result = np.eye(len(square)), np.eye(len(square)), 0.0
    for k in range(1, order + 1):
        product = square @ power
        result = np.trace(product) * (1.0 / k)
        power = result * unit - product
    return result


def _rank(s: FloatArray) -> int:
    """How many singular values, the greatest first, are not zero."""
    return int(np.sum(s > RANK * s[0])) if s.size and s[0] > TINY else 0


def _plain(u: FloatArray) -> FloatArray:
    """Rows with the span of the columns of u (m, r): those of the unit matrix where it spans whole axes."""
    used = np.abs(u @ u.T - np.diag(np.diag(u @ u.T))).max(initial=0.0) < 1e-9
    if used:
        return np.eye(len(u))[np.diag(u @ u.T) > 0.5]
    return np.asarray(u.T)


def _along(placed: FloatArray, axis: FloatArray) -> FloatArray:
    """T_world_joint with z along the axis of the joint."""
    result = np.asarray(placed, dtype=float).copy()
    result[:3, :3] = result[:3, :3] @ rotation_between((0.0, 0.0, 1.0), axis)
    return result
