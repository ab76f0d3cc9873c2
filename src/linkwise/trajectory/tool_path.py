"""Paths of the tool, lines and arcs with blended corners, as paths of the joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.rotation import rotations_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.spatial.validation import numbers, rigid_poses, whole
from linkwise.trajectory.cartesian import Legs
from linkwise.trajectory.path import JointPath, path_through
from linkwise.trajectory.validation import configuration, scalar

#: Below this ratio of the Jacobian's least to its greatest singular value a path passes a singularity.
SINGULAR = 1e-6

#: Three points are on one line, and legs in one direction, when the sine of the angle between them is below this.
STRAIGHT = 1e-9

#: Places along a path, and their poses, twists and the derivatives of these by the length.
Samples = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def tool_path(
    mechanism: Any,
    poses: npt.ArrayLike,
    q0: npt.ArrayLike,
    *,
    blend: float = 0.0,
    arcs: Mapping[int, npt.ArrayLike] | None = None,
    pieces: int = 100,
) -> JointPath:
    """Build the joint path whose tool follows straight lines and arcs through poses.

    The parameter s is the length of the tool's way, m (of a leg that only turns, its angle, rad). The orientation turns
    about one axis a leg. At an inner pose the legs overlap for `blend`: the tool leaves the one and takes up the other
    evenly, on a parabola between lines that passes the pose by at most a quarter of the blend.

    Between its knots the path is a polynomial of degree five that has the tool's velocity and acceleration at them; with
    more than six joints a spline through them, and the tool is off its way by the fourth power of the length of a piece.

    Parameters
    ----------
    mechanism : Mechanism
        Whose tool moves.
    poses : (K, 4, 4) array_like
        T_world_tool, the first and the last included, K >= 2; neighbours less than half a turn apart.
    q0 : (n,) array_like
        From which the inverse kinematics of the first pose begins; each next knot begins at the one before.
    blend : float
        m along the path, at most the length of the shortest leg. 0 only where no leg ends in a corner.
    arcs : mapping of int to (3,) array_like, optional
        For the legs that are arcs, from 0 on, a point that the circle passes between the two poses.
    pieces : int
        How many knots there are over the whole length, about.

    Returns
    -------
    JointPath

    Raises
    ------
    ArgumentError
        Where shapes do not fit, a corner has no blend, a pose is out of reach, or the path passes a singularity: where.

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.puma560()
    >>> start = arm.forward_kinematics([0.1, 0.2, -0.3, 0.2, 0.5, 0.1])
    >>> end = start.copy()
    >>> end[:3, 3] += [0.0, 0.1, -0.1]
    >>> tool_path(arm, [start, end], [0.1, 0.2, -0.3, 0.2, 0.5, 0.1], pieces=20)
    <JointPath: 21 knots from 0 to 0.141421, 6 joints>
    """
    stations = rigid_poses("poses", poses)
    if stations.ndim != 3 or len(stations) < 2:
        raise ArgumentError(f"poses has the shape {stations.shape}; expected (K, 4, 4), K >= 2")
    route = _Route.through(stations, scalar("blend", blend, above=-1e-300, expected="a length >= 0, m"), dict(arcs or {}))
    start = configuration("q0", q0)
    if start.shape != (mechanism.n,):
        raise ArgumentError(f"q0 has the shape {start.shape}; expected ({mechanism.n},)")
    parts = route.sampled(whole("pieces", pieces, 1, "1 piece or more"))
    s = np.concatenate([parts[0][0][:1], *(part[0][1:] for part in parts)])
    targets = np.concatenate([parts[0][1][:1], *(part[1][1:] for part in parts)])
    q = _followed(mechanism, s, targets, start)
    if mechanism.n > 6:
        return path_through(q, s, names=mechanism.names)
    firsts, seconds, done = [], [], 0
    for places, _, twist, rate in parts:
        here = q[done : done + len(places)]
        first = _rates(mechanism, here, twist)
        seconds.append(_rates(mechanism, here, rate - (mechanism.jacobian_dot(here, first) @ first[..., None])[..., 0]))
        firsts.append(first)
        done += len(places) - 1
    dq = np.concatenate([firsts[0][:1], *(part[1:] for part in firsts)])
    ddq = np.concatenate([*(part[:-1] for part in seconds), seconds[-1][-1:]])
    return JointPath(s, q, dq, ddq, np.concatenate([part[1:] for part in seconds]), names=mechanism.names)


def _followed(mechanism: Any, s: FloatArray, targets: FloatArray, start: FloatArray) -> FloatArray:
    """The configurations (m, n) of poses (m, 4, 4), each found from the one before; none near a singularity."""
    q = np.empty((len(s), mechanism.n))
    for k, target in enumerate(targets):
        solution = mechanism.inverse_kinematics(target, q0=start)
        if not solution.success:
            raise ArgumentError(f"the tool cannot be {_where(s, k)}: {solution.reason}")
        q[k] = start = solution.q
    values = np.linalg.svd(mechanism.jacobian(q), compute_uv=False)
    ratio = values[:, min(6, mechanism.n) - 1] / values[:, 0]
    if np.any(ratio < SINGULAR):
        k = int(np.argmin(ratio))
        raise ArgumentError(
            f"the path passes a singularity {_where(s, k)}: the Jacobian's least singular value is {ratio[k]:.2g} of its "
            f"greatest; expected {SINGULAR:g} or more"
        )
    steps = np.abs(np.diff(q, axis=0)).max(axis=1)
    if np.any(steps > 1.0):
        k = int(np.argmax(steps))
        raise ArgumentError(
            f"a joint jumps by {steps[k]:.3g} {_where(s, k)}: the path passes a singularity, or needs more pieces"
        )
    return q


def _where(s: FloatArray, k: int) -> str:
    return f"at s = {s[k]:.6g} ({100.0 * s[k] / s[-1]:.3g} % of the way)"


def _rates(mechanism: Any, q: FloatArray, twist: FloatArray) -> FloatArray:
    """Joint rates (m, n) of twists (m, 6); of least squares with fewer than six joints."""
    jacobian = mechanism.jacobian(q)
    if mechanism.n == 6:
        return np.asarray(np.linalg.solve(jacobian, twist[..., None])[..., 0])
    return np.asarray((np.linalg.pinv(jacobian) @ twist[..., None])[..., 0])


@dataclass(frozen=True, eq=False)
class _Route:
    """The legs of a tool path, their lengths (K - 1,), centres and turns of those that are arcs, and the blend."""

    legs: Legs
    lengths: FloatArray
    arcs: dict[int, tuple[FloatArray, FloatArray]]  # from the centre to the begin; axis times angle
    blend: float

    @classmethod
    def through(cls, stations: FloatArray, blend: float, points: dict[int, Any]) -> _Route:
        legs = Legs.between(stations)
        lengths, angles = legs.sizes
        lengths, arcs = lengths.copy(), {}
        for k, value in points.items():
            point = numbers(f"arcs[{k}]", value, "a point (3,)")
            if k not in range(len(lengths)) or point.shape != (3,):
                raise ArgumentError(
                    f"arcs has {shown(value)} for leg {k!r}; expected points (3,) for legs 0 to {len(lengths) - 1}"
                )
            arcs[k] = _arc(stations[k, :3, 3], point, stations[k + 1, :3, 3], k)
            lengths[k] = np.linalg.norm(arcs[k][0]) * np.linalg.norm(arcs[k][1])
        lengths = np.where(lengths > 0.0, lengths, angles)
        if not np.all(lengths > 0.0):
            k = int(np.argmin(lengths > 0.0))
            raise ArgumentError(f"poses {k} and {k + 1} are the same; leave one of them out")
        route = cls(legs, lengths, arcs, blend)
        route._check_corners()
        return route

    def _check_corners(self) -> None:
        if self.blend > self.lengths.min() and len(self.lengths) > 1:
            raise ArgumentError(f"blend is {self.blend:g}; expected at most {self.lengths.min():g} m, the shortest leg")
        if self.blend:
            return
        ends = np.concatenate(([0.0], np.cumsum(self.lengths)))
        for k, corner in enumerate(ends[1:-1]):
            before, after = (
                self._state(np.array([corner]), middle)[1] for middle in (ends[k : k + 2].mean(), ends[k + 1 : k + 3].mean())
            )
            if np.abs(after - before).max() > STRAIGHT:
                raise ArgumentError(f"legs {k} and {k + 1} meet in a corner at pose {k + 1}; expected a blend > 0, m")

    def sampled(self, pieces: int) -> list[Samples]:
        """Samples of each stretch with continuous second derivative: lengths, poses, twists, derivatives, each (m, ...)."""
        ends = np.concatenate(([0.0], np.cumsum(self.lengths)))
        inner = ends[1:-1, None] + (0.5 * self.blend * np.array([-1.0, 1.0]) if self.blend else np.zeros(1))
        marks = np.unique(np.concatenate((ends[[0, -1]], inner.ravel())).round(12))
        parts = []
        for begin, end in pairwise(marks.tolist()):
            places = np.linspace(begin, end, max(1, round(pieces * (end - begin) / ends[-1]), 4 * (len(marks) > 2)) + 1)
            parts.append((places, *self._state(places, 0.5 * (begin + end))))
        return parts

    def _state(self, places: FloatArray, middle: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Poses (m, 4, 4), twists and their derivatives (m, 6); second derivatives are those of the stretch with the middle.

        As `Legs.state`, for legs whose displacements are lines or arcs.
        """
        ends = np.concatenate(([0.0], np.cumsum(self.lengths)))
        position = np.tile(self.legs.position, (len(places), 1))
        velocity, acceleration = (np.zeros((len(places), 3)) for _ in range(2))
        progress = np.empty((3, len(places), len(self.lengths)))
        for k, length in enumerate(self.lengths):
            widths = [self.blend * (k > 0), self.blend * (k + 1 < len(self.lengths))]
            up, down = (_ramp(places - end, middle - end, width) for end, width in zip(ends[k : k + 2], widths, strict=True))
            progress[..., k] = np.subtract(up, down) / length
            s, sd, sdd = progress[..., k, None]
            moved, slope, bend = self._displacement(k, s)
            position, velocity = position + moved, velocity + slope * sd
            acceleration = acceleration + slope * sdd + bend * sd**2
        rotation, w, wd = self.legs.turning(*progress)
        return transforms(rotation, position), np.hstack((velocity, w)), np.hstack((acceleration, wd))

    def _displacement(self, k: int, s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Displacement of leg k at its shares s (m, 1), and its derivatives by s, each (m, 3)."""
        if k not in self.arcs:
            line = self.legs.line[k]
            return line * s, np.broadcast_to(line, (len(s), 3)), np.zeros((len(s), 3))
        arm, turn = self.arcs[k]
        angle = np.linalg.norm(turn)
        radius = rotations_about(turn / angle, angle * s[:, 0]) @ arm
        slope = np.cross(turn, radius)
        return radius - arm, slope, np.cross(turn, slope)


def _ramp(y: FloatArray, middle: float, width: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ramp of slope one from y = 0 on, smoothed over a width about it, and its derivatives."""
    if width == 0.0:
        on = float(middle > 0.0)
        return y * on, np.full_like(y, on), np.zeros_like(y)
    slope = np.clip(y / width + 0.5, 0.0, 1.0)
    bent = abs(middle) < 0.5 * width
    return np.where(y > 0.5 * width, y, 0.5 * width * slope**2), slope, np.full_like(y, bent / width)


def _arc(begin: FloatArray, point: FloatArray, end: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Vector from the centre of a circle through three points to the first, and axis times angle from there to the last."""
    a, b = point - begin, end - begin
    normal = np.cross(a, b)
    size = float(np.linalg.norm(normal))
    if size <= STRAIGHT * np.linalg.norm(a) * np.linalg.norm(b) or size == 0.0:
        raise ArgumentError(f"the point of arc {k}, {point.tolist()}, is on the line of its poses; expected one beside it")
    centre = np.cross(np.dot(a, a) * b - np.dot(b, b) * a, normal) / (2.0 * size**2)
    arm, axis = -centre, normal / size
    last = b - centre
    angle = np.arctan2(axis @ np.cross(arm, last), arm @ last) % (2.0 * np.pi)
    return arm, axis * angle
