"""Errors of paths without a motion: joint or limit, place on the path, and amount."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial

from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import compiled_path
from linkwise.trajectory.path import JointPath, in_lanes
from linkwise.trajectory.path_dynamics import PathDynamics
from linkwise.trajectory.path_kernels import SHARES
from linkwise.trajectory.retimed import Pieces

#: Tolerance of the effort at rest, relative, for rounding.
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class PathRefusals:
    """Raises the errors of infeasible paths.

    Attributes
    ----------
    path : JointPath
        One path, or a batch, of which `flat` counts the members.
    mechanism : Mechanism or None
        It moves along them.
    limits : mapping of str to ndarray
        Those of joints and tool that there are.
    """

    path: JointPath
    mechanism: Tree | None
    limits: dict[str, FloatArray]

    def where(self, s: float, flat: int) -> str:
        """A parameter of a path, in words."""
        begin, end = self.path.s[0], self.path.s[-1]
        return f"at s = {s:.6g} ({100.0 * (s - begin) / (end - begin):.3g} % of the way){self.member(flat)}"

    def member(self, flat: int) -> str:
        """Index of a path in a batch, in words; empty for a single path."""
        place = np.unravel_index(flat, self.path.batch) if self.path.batch else ()
        return f" of path {tuple(int(k) for k in place)}" if len(place) else ""

    def check_position(self) -> None:
        """Raise where a path leaves the joints' limits; between knots too, for it is a polynomial there."""
        tree = self.mechanism
        if tree is None:
            return
        low, high = tree.memo("trajectory", "limits in lanes", lambda: (in_lanes(tree.q_min), in_lanes(tree.q_max)))
        coefficients = compiled_path.controls_of(self.path)
        if (coefficients <= high).all() and (coefficients >= low).all():  # (a polynomial is between its coefficients)
            return
        inner = coefficients[..., : self.path.n].reshape(-1, *coefficients.shape[-3:-1], self.path.n)
        outside = np.any((inner > tree.q_max) | (inner < tree.q_min), axis=2)
        for path, joint in np.argwhere(outside.any(axis=1)).tolist():
            bounds = float(tree.q_min[joint]), float(tree.q_max[joint])
            parts = [(k, *_departure(inner[path, k, :, joint], *bounds)) for k in np.flatnonzero(outside[path, :, joint])]
            most = max(excess for _, _, excess in parts)
            if most <= 1e-12 * (1.0 + np.abs(inner[path, ..., joint]).max()):
                continue
            k, share = next((k, share) for k, share, excess in parts if excess > 0.0)
            s = float(self.path.s[k] + share * (self.path.s[k + 1] - self.path.s[k]))
            raise ArgumentError(
                f"the path leaves the limits {list(bounds)} of joint {self.path.names[joint]!r} {self.where(s, path)}, and "
                f"by {most:.6g} at most"
            )

    def check_zero(self, name: str, pieces: Pieces, start: int) -> None:
        """Raise where a limit is 0 and a joint moves."""
        slope = np.maximum(np.abs(pieces.first[:, 1]), np.abs(pieces.last[:, 1]))
        moves = (slope > 1e-12 * slope.max()) & (self.limits[name] == 0.0)
        if not moves.any():
            return
        path, k, joint = (int(i) for i in np.argwhere(moves)[0])
        q = np.concatenate((pieces.first[path, 0, :, joint], pieces.last[path, 0, :, joint]))
        raise ArgumentError(
            f"{name} of joint {self.path.names[joint]!r} is 0, and the path moves it by {np.ptp(q):.6g} in all, beginning "
            f"{self.where(float(pieces.s[path, k]), start + path)}"
        )

    def check_rests(self, nodes: FloatArray, stops: npt.NDArray[np.bool_], ends: FloatArray) -> None:
        """Raise an error if an effort limit does not permit rest at the begin, a stop or the end of a motion."""
        if "tau_max" not in self.limits:
            return
        path, tree, limit = self.path, self.mechanism, self.limits["tau_max"]

        def standing(q: FloatArray) -> FloatArray:
            still = np.zeros_like(q)
            return np.abs(np.asarray(tree.inverse_dynamics(q, still, still)))  # type: ignore[union-attr]

        q, rests = path.q[..., [0, -1], :].reshape(-1, 2, path.n), ends == 0.0
        if stops.any():
            q = np.concatenate((q, path.at(nodes[stops])[0].reshape(len(q), -1, path.n)), axis=1)
            rests = np.concatenate((rests, np.ones((len(q), q.shape[1] - 2), dtype=bool)), axis=1)
        efforts = standing(q)
        short = (efforts > limit * (1.0 + ROUNDING) + 1e-12 * efforts.max()).any(axis=-1) & rests
        if short.any():
            place = int(np.argmax(short.any(axis=1)))
            efforts = standing(path.at(nodes)[0].reshape(-1, nodes.size, path.n)[place])
            joint = int(np.argmax((efforts - limit).max(axis=0)))
            k = int(np.argmax(efforts[:, joint]))
            raise ArgumentError(self._cannot_stand(joint, self.where(float(nodes[k]), place), float(efforts[k, joint])))

    def _cannot_stand(self, joint: int, where: str, needed: float) -> str:
        limit = self.limits["tau_max"][joint]
        return f"joint {self.path.names[joint]!r} cannot stand {where}: it needs {needed:.6g}, and tau_max is {limit:.6g}"

    def check_standing(self, pieces: Pieces, dynamics: PathDynamics | None, path: int, k: int, start: int) -> None:
        """Raise an error if an effort limit does not permit rest in interval k of a path: joint, place, required effort."""
        if dynamics is None or "tau_max" not in self.limits:
            return
        limit, standing = self.limits["tau_max"], np.abs(dynamics.standing[path])
        if np.all(standing[k] <= limit + 1e-12 * standing.max()):
            return
        joint, where = self._neediest(pieces, standing, path, start)
        raise ArgumentError(self._cannot_stand(joint, where, float(standing[..., joint].max())))

    def _neediest(self, pieces: Pieces, efforts: FloatArray, path: int, start: int) -> tuple[int, str]:
        """Joint whose effort (N, 5, n) most exceeds its limit on a path, and the place of its greatest effort."""
        joint = int(np.argmax((efforts - self.limits["tau_max"]).max(axis=(0, 1))))
        k, share = np.unravel_index(np.argmax(efforts[..., joint]), efforts.shape[:2])
        return joint, self.where(float(pieces.s[path, k] + SHARES[share] * pieces.steps[path, k]), start + path)

    def slowly(self, pieces: Pieces, dynamics: PathDynamics | None, path: int, start: int) -> str:
        """Addition to a message if gravity and static friction exceed an effort limit somewhere on a path."""
        if dynamics is None or not dynamics.has_drag:
            return ""
        limit, efforts = self.limits["tau_max"], dynamics.slow_efforts()[path]
        if np.all(efforts <= limit):
            return ""
        joint, where = self._neediest(pieces, efforts, path, start)
        name, most = self.path.names[joint], efforts[..., joint].max()
        return f"; gravity and friction alone need {most:.6g} of joint {name!r} {where}, and tau_max is {limit[joint]:.6g}"

    def infeasible(
        self, pieces: Pieces, lines: FloatArray, sets: FloatArray, names: list[str], start: int,
        dynamics: PathDynamics | None,
    ) -> None:  # fmt: skip
        """Raise, saying where no speed keeps the limits, and which two cannot be kept together."""
        path = int(np.argmax(np.isnan(sets[:, 0, 1])))
        k = int(np.flatnonzero(np.isnan(sets[path, :, 1]))[-1])
        where = self.where(float(pieces.s[path, k]), start + path)
        self.check_standing(pieces, dynamics, path, k, start)
        low, high = lines[path, k, :, 1, :].max(axis=-1), lines[path, k, :, 2, :].min(axis=-1)
        least, most = int(np.argmax(low)), int(np.argmin(high))
        raise ArgumentError(
            f"no speed keeps the limits {where}: {names[least]} requires d2s/dt2 of {low[least]:.6g} or more, "
            f"{names[most]} of {high[most]:.6g} or less{self.slowly(pieces, dynamics, path, start)}"
        )


def _departure(coefficients: FloatArray, low: float, high: float) -> tuple[float, float]:
    """Share of an interval at which a polynomial first leaves its limits, 1 if never, and its greatest excess."""
    z, left = Polynomial([0.0, 1.0]), Polynomial([1.0, -1.0])
    curve: Any = sum(c * comb(5, k) * z**k * left ** (5 - k) for k, c in enumerate(coefficients.tolist()))
    turns = _inner_roots(curve.deriv())
    values = curve(np.concatenate(([0.0], turns, [1.0])))
    excess = float(np.maximum(values - high, low - values).max())
    crossings = np.concatenate([_inner_roots(curve - bound) for bound in (low, high) if np.isfinite(bound)])
    begins_outside = not low <= coefficients[0] <= high
    return 0.0 if begins_outside else float(crossings.min(initial=1.0)), excess


def _inner_roots(curve: Any) -> FloatArray:
    """The real zeros of a polynomial between 0 and 1."""
    roots = np.atleast_1d(curve.trim(1e-14).roots())
    real = roots.real[np.abs(roots.imag) < 1e-7]
    return np.asarray(real[(real >= 0.0) & (real <= 1.0)])
