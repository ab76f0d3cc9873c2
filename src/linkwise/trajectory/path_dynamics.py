"""Limits of joint efforts and of the tool along a path, for `time_optimal`: linear in u and x but for friction and norms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.path_kernels import SHARES, kernel, sampled_cap, sampled_limits
from linkwise.trajectory.peaks import CREEPING, DENSE, greatest_sizes, in_time, peaks
from linkwise.trajectory.retimed import Pieces, Retimed

#: Shares of an interval at which limits are checked: its ends, and between those at which efforts are evaluated.
CHECKED = np.array([0.0, 0.125, 0.375, 0.625, 0.875, 1.0])

#: With more joints the dynamics along a path, three recursions as one straight line, take long to compile.
MOST = 30

#: In the place of a limit of zero.
LEAST_LIMIT = 1e-300


def spread(shares: FloatArray, pieces: Pieces, u: Any, x: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares (K,) or (..., N, K) of all intervals, and u and x (..., N, K) there."""
    shape = (*pieces.batch, pieces.steps.shape[-1], shares.shape[-1])
    return tuple(np.broadcast_to(part, shape) for part in (shares, u, x))  # type: ignore[return-value]


def along(retimed: Retimed, shares: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares, u and x (..., N, K) of a motion."""
    x = retimed.x[..., :-1, None] + np.diff(retimed.x, axis=-1)[..., None] * shares
    return spread(shares, retimed.pieces, retimed.u[..., None], np.maximum(x, 0.0))


def share_of(value: FloatArray, limit: FloatArray) -> FloatArray:
    """The share of a limit that a value takes; none of a limit of zero where the value is zero."""
    size = np.abs(value)
    with np.errstate(divide="ignore"):
        return np.divide(size, limit, out=np.zeros_like(size), where=size != 0.0)


def gauge(value: FloatArray, limit: FloatArray) -> FloatArray:
    """Share (...) of a limit used by vectors (..., 3): by their norm, or the greatest of those of three axes."""
    size = np.linalg.norm(value, axis=-1) if not limit.ndim else np.abs(value)
    return size / limit if not limit.ndim else np.asarray((size / limit).max(axis=-1))


def speed_like(mechanism: Any, limits: Any, q: FloatArray, qd: FloatArray) -> dict[str, FloatArray]:
    """Limited vectors among tool velocity and momenta about the centre of mass, each (..., 3)."""
    values = {}
    if "tool_speed" in limits:
        values["tool_speed"] = mechanism.frame_velocity(q, qd)[..., :3]
    if "linear_momentum" in limits or "angular_momentum" in limits:
        momentum = mechanism.momentum(q, qd, about="com")
        parts = {"linear_momentum": momentum[..., :3], "angular_momentum": momentum[..., 3:]}
        values |= {name: part for name, part in parts.items() if name in limits}
    return values


def tool_acceleration(mechanism: Any, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    """The acceleration (..., 3) of the tool's origin."""
    return np.asarray(mechanism.frame_acceleration(q, qd, qdd)[..., :3])


def has_drag(mechanism: Any) -> bool:
    """True if efforts are not linear in u and x, because of friction or dampers."""

    def find() -> bool:
        damped = any(spring.dissipates for spring in mechanism.springs)
        return damped or bool(np.any(mechanism.friction_torque(np.ones(mechanism.nv))))

    return bool(mechanism.memo("trajectory", "has drag", find))


def drag(mechanism: Any, q: FloatArray, qd: FloatArray) -> FloatArray:
    """Efforts of friction and dampers (..., n)."""
    total: FloatArray = mechanism.friction_torque(qd)
    if any(spring.dissipates for spring in mechanism.springs):
        total = total + mechanism.spring_torque(q, qd) - mechanism.spring_torque(q, 0.0 * qd)
    return total


def effort_shares(
    mechanism: Any, path: tuple[FloatArray, ...], u: FloatArray, speed: FloatArray, limit: FloatArray
) -> FloatArray:  # fmt: skip
    """Efforts as shares of their limits, with their signs, at places of a path: q, dq and ddq there."""
    if mechanism.nv <= MOST and not mechanism.has_length_inertias:
        return mechanism.kernel("path_effort_shares")(*path, u, speed, limit)  # type: ignore[no-any-return]
    (q, v, a), rate = path, speed[..., None]
    tau: FloatArray = mechanism.inverse_dynamics(q, v * rate, v * u[..., None] + a * rate**2)
    return tau / limit


@dataclass(eq=False)
class PathDynamics:
    """Efforts and tool motion along the intervals of B paths.

    Attributes
    ----------
    pieces : Pieces
        The paths (B,).
    mechanism : Mechanism
        It moves along them.
    limits : mapping of str to ndarray
        ``tau_max`` (n,), and those of the tool and of momenta that there are.
    """

    pieces: Pieces
    mechanism: Any
    limits: dict[str, FloatArray]
    margins: dict[str, FloatArray] = field(default_factory=dict)
    directions: list[FloatArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        pieces, mechanism = self.pieces, self.mechanism
        q, v, a = pieces.motion(*spread(SHARES, pieces, 0.0, 1.0))
        size, self.has_drag, self._states = q.shape[:-2], False, {SHARES.size: (q, v, a)}
        if "tau_max" in self.limits:
            self.has_drag, zero = has_drag(mechanism), np.zeros_like(q)
            standing = mechanism.inverse_dynamics(q, zero, zero)
            self.effort_u = mechanism.inverse_dynamics(q, zero, v) - standing
            self.effort_x = mechanism.inverse_dynamics(q, v, a) - standing
            if self.has_drag:
                self.effort_x -= drag(mechanism, q, v)
            self.standing, self.slope = standing, v
            self.margins["tau_max"] = np.zeros((*size, q.shape[-1]))
            turns = (v.min(axis=-2) <= 0.0) & (v.max(axis=-2) >= 0.0)
            self.reverses = turns & (np.abs(v).max(axis=-2) > 0.0)
        self.speeds = {name: gauge(value, self.limits[name]) for name, value in self._speeds(q, v).items()}
        self.margins |= {name: np.zeros(size) for name in self.speeds}
        if "tool_acceleration" in self.limits:
            self.tool_u = mechanism.frame_velocity(q, v)[..., :3]
            self.tool_x = tool_acceleration(mechanism, q, v, a)
            self.margins["tool_acceleration"] = np.zeros(size)
            self.directions = [np.broadcast_to(axis, (*size, 3)) for axis in np.eye(3)]

    @property
    def names(self) -> list[str]:
        """Names of the limits in the blocks of `lines`."""
        joints = [f"effort of {name}" for name in self.mechanism.names] if "tau_max" in self.limits else []
        return joints + ["acceleration of the tool"] * len(self.directions)

    def lines(self, retimed: Retimed | None) -> FloatArray:
        """Blocks of lines (B, N, b, 3, 8), friction linear about a motion; without one, only its part that does not grow."""
        step, blocks = self.pieces.steps[..., None], []
        if "tau_max" in self.limits:
            a, b, c = self.effort_u, self.effort_x, self.standing
            high = self.limits["tau_max"] * (1.0 - self.margins["tau_max"])
            if self.has_drag:
                constant, growing, either = self._friction(retimed)
                b, c = b + growing, c + constant
                high = high - either
            most = np.minimum(np.maximum(high, -1e100), 1e100)
            blocks.append(kernel(sampled_limits)(*(np.swapaxes(part, -1, -2) for part in (a, b, c)), step, most))
        if self.directions:
            d = np.stack(self.directions, axis=-2)  # (B, N, D, 3)
            a, b = (d @ np.swapaxes(part, -1, -2) for part in (self.tool_u, self.tool_x))
            most = np.broadcast_to(
                (self.limits["tool_acceleration"] * (1.0 - self.margins["tool_acceleration"]))[..., None], d.shape[:-1]
            )
            blocks.append(kernel(sampled_limits)(a, b, 0.0 * a, step, most))
        return np.concatenate(blocks, axis=-3) if blocks else np.empty((*step.shape[:-1], 0, 3, 8))

    def slow_efforts(self) -> FloatArray:
        """Magnitude of the efforts (B, N, 5, n) of standstill and static friction, of both signs where a joint reverses."""
        constant, _, either = self._friction(None)
        return np.asarray(np.abs(self.standing + constant) + either[..., None, :])

    def cap(self) -> FloatArray | None:
        """Greatest x at both ends (B, N, 2) for the speed of the tool and for momenta."""
        caps = [kernel(sampled_cap)(size, 1.0 - self.margins[name]) for name, size in self.speeds.items()]
        return np.min(caps, axis=0) if caps else None

    def _speeds(self, q: FloatArray, qd: FloatArray) -> dict[str, FloatArray]:
        """Limited vectors linear in velocities, each (..., 3)."""
        return speed_like(self.mechanism, self.limits, q, qd)

    def _friction(self, retimed: Retimed | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Friction and dampers as constant + growing x at `SHARES`; their greatest value where a joint reverses."""
        if retimed is None:
            speed = np.full(self.slope.shape[:-1], 1e-6)
        else:
            x = along(retimed, SHARES)[2]
            speed = np.sqrt(np.maximum(x, 1e-6 * x.max(axis=(-1, -2), keepdims=True) + 1e-60))
        velocity, q = self.slope * speed[..., None], self._states[SHARES.size][0]
        constant = drag(self.mechanism, q, velocity)
        growing, most = 0.0 * constant, greatest_sizes(constant)
        if retimed is not None:  # the tangent of a function that grows with the root of x
            rise = drag(self.mechanism, q, 2.0 * velocity) - constant
            growing = 0.5 * rise / np.square(speed)[..., None]
            constant = constant - 0.5 * rise
        turning = self.reverses[..., None, :]
        return np.where(turning, 0.0, constant), np.where(turning, 0.0, growing), np.where(self.reverses, most, 0.0)

    def used(self, retimed: Retimed, shares: FloatArray = CHECKED) -> dict[str, FloatArray]:
        """Greatest share of each limit used in each interval: (B, N, n) of efforts, (B, N) of others.

        Friction is no polynomial where a motion begins or rests: it is checked at these shares of the time of each interval.
        """
        if self.has_drag and shares is DENSE:
            at, u, x = along(retimed, in_time(retimed.speed[..., :-1], retimed.speed[..., 1:], shares))
            q, v, a = self.pieces.motion(at, 0.0 * u, 0.0 * u + 1.0)
        else:
            at, u, x = along(retimed, shares)
            if shares.size not in self._states:
                self._states[shares.size] = self.pieces.motion(*spread(shares, self.pieces, 0.0, 1.0))
            q, v, a = self._states[shares.size]
        speed = np.where((at == 1.0) & (x == 0.0), CREEPING, np.sqrt(x))
        most = peaks if shares is DENSE else greatest_sizes
        result: dict[str, FloatArray] = {}
        if "tau_max" in self.limits:
            limit = np.maximum(self.limits["tau_max"], LEAST_LIMIT)
            taken = effort_shares(self.mechanism, (q, v, a), u, speed, limit)
            result["tau_max"] = most(taken)
            if self.has_drag:  # (dry friction jumps where a joint turns back)
                result["tau_max"] = np.where(self.reverses, greatest_sizes(taken), result["tau_max"])
        if len(result) == len(self.limits):
            return result
        qd = v * speed[..., None]
        vectors = self._speeds(q, qd)
        if "tool_acceleration" in self.limits:
            qdd = v * u[..., None] + a * x[..., None]
            vectors["tool_acceleration"] = tool_acceleration(self.mechanism, q, qd, qdd)
        return result | {name: most(gauge(value, self.limits[name])[..., None])[..., 0] for name, value in vectors.items()}

    def tighten(self, retimed: Retimed, used: dict[str, FloatArray]) -> None:
        """Tighten limits by their violation in each interval; for the tool, cut along its acceleration."""
        if "tool_acceleration" in used and len(self.directions) < 8:
            u, x = retimed.u[..., None], 0.5 * (retimed.x[..., :-1] + retimed.x[..., 1:])[..., None]
            middle = self.tool_u[..., 2, :] * u + self.tool_x[..., 2, :] * x
            size = np.linalg.norm(middle, axis=-1, keepdims=True)
            self.directions.append(np.where(size > 0.0, middle / np.where(size > 0.0, size, 1.0), self.directions[0]))
            used = {name: value for name, value in used.items() if name != "tool_acceleration"}
        for name, value in used.items():
            self.margins[name] = self.margins[name] + np.maximum(value - 1.0, 0.0)
