"""The task of velocity solving: frame and components, joint weights, damping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.algorithm import kernel_of, loops_over
from linkwise.arrays import Signature
from linkwise.errors import ArgumentError, choices, shown
from linkwise.inverse_kinematics.velocity import kernel
from linkwise.inverse_kinematics.velocity.kernel import motion_kernel, rate_kernel
from linkwise.kernel import Kernel
from linkwise.kinematics.jacobian import check_frame
from linkwise.loops.loop_solver import NEARLY, REST, closing
from linkwise.loops.mobility import generic_positions, ranks_at
from linkwise.model.tree import Tree, require_tree
from linkwise.solve.lengths import characteristic_length, random_configurations
from linkwise.solve.validation import positive
from linkwise.spatial.linear import product
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, rows_of

#: Relative threshold of zero singular values in the rank.
RANK = 1e-9

#: The same of the closure Jacobian.
SINGULAR = 1e-8


def usual_rank(
    mechanism: Tree, link: int | str, rows: tuple[int, ...], length: float, moving: tuple[bool, ...] | None = None
) -> int:
    """Number of components that the joints, or some of them, give independently, apart from singular positions.

    Examples
    --------
    >>> from linkwise import robots
    >>> usual_rank(robots.panda(), -1, (0, 1, 2, 3, 4, 5), 0.4), usual_rank(robots.planar_3r(), -1, (0, 1, 2, 3, 4, 5), 1.0)
    (6, 3)
    """

    def find() -> int:
        unit = np.array([1.0 / length if row < 3 else 1.0 for row in rows])
        share = np.where(mechanism.is_linear_velocity, length, 1.0) * (1.0 if moving is None else np.array(moving))
        jac = kernel_of(mechanism, "jacobian", None, {"link": link})(random_configurations(mechanism, length))[:, list(rows)]
        values = np.linalg.svd(jac * unit[:, None] * share, compute_uv=False)
        return int((values > RANK * values.max(axis=-1, initial=0.0, keepdims=True)).sum(axis=-1).max())

    return mechanism.memo("rank", (link, rows, length, moving), find)


#: Default threshold of damping: smaller singular values are damped. No joint then needs more than 50 times the frame's
#: velocity.
REGION = 0.02

LIMITS = ("scale", "qp")

#: Tasks that are kept with a mechanism, so that a damping that changes all the time does not fill the memory.
KEPT = 64


@dataclass(frozen=True, eq=False)
class VelocityTask:
    """One task of solving for joint rates, validated and compiled; it is cached in the mechanism.

    Attributes
    ----------
    mechanism : Mechanism
        Any but a symbolic one.
    order : int
        1 for speeds, 2 for accelerations.
    link, frame
        As in `Mechanism.jacobian`.
    rows : tuple of int
        The components that count.
    length : float
        Metres that count as much as one radian.
    rank : int
        How many of those components the joints that may move give independently, away from singular positions.
    weights : ndarray (n,)
        Weights of the squares of the joint rates, in the sum that is least; infinite where joints must rest.
    filter : ndarray (2,)
        Region, and damping of all singular values.
    shares : ndarray (n,)
        The roots of one over the weights.
    """

    mechanism: Tree
    order: int
    link: int | str
    frame: str
    rows: tuple[int, ...]
    length: float
    rank: int
    weights: FloatArray
    filter: FloatArray
    shares: FloatArray

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def solve(self) -> Callable[..., tuple[FloatArray, FloatArray, FloatArray]]:
        """Solver of `linkwise.inverse_kinematics.velocity.kernel.rate_kernel`, the faster one for one configuration."""
        whole = self.kernel()
        return whole.entry(whole) or whole

    def kernel(self, outputs: int = 3) -> Kernel:
        """The kernel of that, or of its first outputs alone."""
        choice = self.order, self.link, self.frame, self.rows, self.length, self.rank
        return rate_kernel(self.mechanism, *choice, outputs)

    @cached_property
    def n(self) -> int:
        """Number of joint velocities."""
        return self.mechanism.nv

    @cached_property
    def qd_max(self) -> FloatArray:
        """Velocity limits (n,) of the mechanism."""
        return self.mechanism.for_velocities(self.mechanism.qd_max, np.inf)

    @cached_property
    def qd_min(self) -> FloatArray:
        """Minus those."""
        return -self.qd_max

    @cached_property
    def qdd_max(self) -> FloatArray:
        """Acceleration limits (n,) of the mechanism."""
        return self.mechanism.for_velocities(self.mechanism.qdd_max, np.inf)

    @cached_property
    def nothing(self) -> FloatArray:
        """Zeros (n,): no secondary motion."""
        return np.zeros(self.n)

    @cached_property
    def endless(self) -> tuple[FloatArray, FloatArray]:
        """Bounds (n,) that there are not."""
        most = np.full(self.n, np.inf)
        return -most, most

    @cached_property
    def rate_scale(self) -> FloatArray:
        """Factors (n,) that convert joint rates to angles per time: sliding joints are divided by `length`."""
        return np.where(self.mechanism.is_linear_velocity, 1.0 / self.length, 1.0)

    @property
    def unit(self) -> FloatArray:
        """Factors (m,) that make the selected components comparable."""
        return np.array([1.0 / self.length if row < 3 else 1.0 for row in self.rows])

    def matrix(self, q: FloatArray) -> FloatArray:
        """Matrix (..., m, n) for the singular values: rows scaled by `unit`, columns by the joints' shares."""
        jac = kernel_of(self.mechanism, "jacobian", None, {"link": self.link, "frame": self.frame})(q)
        return np.asarray(jac[..., list(self.rows), :] * self.unit[:, None] * self.shares)


@dataclass(frozen=True, eq=False)
class ArrayVelocityTask(VelocityTask):
    """The same in NumPy, for frames that many bodies move: over kernels that loop over these."""

    #: Relative threshold of zero singular values.
    zero: ClassVar[float] = kernel.RANK

    @cached_property
    def solve(self) -> Callable[..., tuple[FloatArray, FloatArray, FloatArray]]:
        """Inputs and outputs as of `rate_kernel`."""
        return self._solve

    def _allowed(self, q: FloatArray) -> FloatArray | None:
        """The projection (..., n, n) on scaled rates that are allowed; None where all are."""
        return None

    def _still(self, q: FloatArray, *states: FloatArray) -> FloatArray:
        """The shortest scaled rates (..., n) that are allowed, of accelerations."""
        return self.nothing

    def _compensated(
        self, still: FloatArray, compensation: FloatArray, bounds: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Rates (..., n) that make up for the drift, and whether (...,) they are within their bounds."""
        start = still + compensation
        return start, np.asarray(((start >= bounds[0]) & (start <= bounds[1])).all(axis=-1))

    def _kept(self, rates: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Rates (..., n) within their bounds, to rounding and where these leave no choice."""
        return np.clip(rates, low, high)

    def _solve(self, q: FloatArray, *arguments: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        states, (wanted, shares, secondary, low, high, settings) = arguments[:-6], arguments[-6:]
        region, constant = settings
        projection, whole = self._allowed(q), VelocityTask.matrix(self, q)
        matrix = whole if projection is None else whole @ projection
        finite = np.asarray(np.isfinite(matrix).all(axis=(-2, -1)))[..., None]
        left, values, right = np.linalg.svd(np.where(finite[..., None], matrix, 0.0), full_matrices=False)
        values, right = np.where(finite, values, np.nan), np.where(finite[..., None], right, np.nan)
        there = np.asarray(values > self.zero * values[..., :1])
        gains = np.where(there, values, 0.0) / np.maximum(np.square(np.maximum(values, region)) + constant**2, 1e-300)

        def allowed(rates: FloatArray) -> FloatArray:
            return rates if projection is None else product(projection, rates)

        def moving(rows: FloatArray) -> FloatArray:
            """Rates (..., n) that give the frame rows (..., m), except along damped singular directions."""
            turned = product(np.swapaxes(left, -1, -2), rows) * gains
            needed = product(np.swapaxes(right, -1, -2), turned)  # (rounding errors are removed in a second pass)
            missed = product(np.swapaxes(left, -1, -2), product(left, turned * values) - product(matrix, needed))
            return np.asarray(shares * allowed(needed + product(np.swapaxes(right, -1, -2), missed * gains)))

        needed = moving(wanted[..., list(self.rows)] * self.unit)
        start, within = self.nothing, np.asarray(True)
        if states:
            still = self._still(q, *states)
            rate = kernel_of(self.mechanism, "jacobian_dot", None, {"link": self.link, "frame": self.frame})(q, *states)
            drift = product(rate, states[0])[..., list(self.rows)] * self.unit
            start, within = self._compensated(shares * still, moving(-drift - product(whole, still)), (low, high))
        free = allowed(np.divide(secondary, shares, where=shares > 0.0, out=secondary * 0.0))
        beside = shares * (free - product(np.swapaxes(right, -1, -2), there * product(right, free)))
        scale = np.where(within, _room(start, needed, low, high), 0.0)
        rates = start + scale[..., None] * needed
        beside_scale = _room(rates, beside, low, high)
        rates = self._kept(rates + beside_scale[..., None] * beside, low, high)
        achieved = np.asarray(motion_kernel(self.mechanism, self.order, self.link, self.frame)(q, *states, rates))
        missed = np.where(np.isin(np.arange(6), self.rows), achieved - scale[..., None] * wanted, 0.0)
        least = values[..., self.rank - 1]
        damping = np.sqrt(np.maximum(region**2 - least**2, 0.0) + constant**2)
        parts = [scale, beside_scale, damping, least, *(np.linalg.norm(missed[..., k : k + 3], axis=-1) for k in (0, 3))]
        return rates, achieved, np.stack(np.broadcast_arrays(*parts), axis=-1)


@dataclass(frozen=True, eq=False)
class ClosedVelocityTask(ArrayVelocityTask):
    """The same with loops closed: joint rates among those that the loops allow.

    With x = S z, S the joints' shares, and B = J S of the closure equations, z = z0 + P y with P = 1 - pinv(B) B: the
    shortest y that gives the frame what is asked is that of the damped inverse of A P, A the matrix of the task. z0 is zero
    for speeds. Accelerations keep the loops closed where B z = -dJ/dt qd, of which z0 = -pinv(B) dJ/dt qd is the shortest.
    """

    zero: ClassVar[float] = RANK

    def matrix(self, q: FloatArray) -> FloatArray:
        """Matrix (..., m, n) for the singular values, of motions that keep the loops closed."""
        return np.asarray(super().matrix(q) @ self._closure(q)[2])

    def allowed(self, q: FloatArray, *states: FloatArray) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """The matrix (..., m, n) of the task, and z = z0 + Z y of all y: z0 (..., n), and orthonormal Z (n, k) of each."""
        closed = self._closure(q)[2]
        start = self._still(q, *states) if states else np.zeros(closed.shape[:-1])
        moves = self.shares > 0.0
        bases = []
        for projection in closed.reshape(-1, self.n, self.n):
            left, values, _ = np.linalg.svd(projection * moves * moves[:, None])
            bases.append(left[:, values > 0.5])
        return super().matrix(q), start, bases

    def _allowed(self, q: FloatArray) -> FloatArray:
        return self._closure(q)[2]

    def _still(self, q: FloatArray, *states: FloatArray) -> FloatArray:
        scaled, opened, _ = self._closure(q)
        bias = self._closure_bias(q, *states)
        still = -product(opened, bias)
        self._check_closing(scaled, still, bias)
        return still

    def _compensated(
        self, still: FloatArray, compensation: FloatArray, bounds: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        share = _room(still, compensation, *bounds)
        return still + share[..., None] * compensation, np.asarray(share >= 1.0)

    def _kept(self, rates: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        return rates  # (others would open the loops)

    def closing_rates(self, q: FloatArray, qd: FloatArray, rates: FloatArray) -> FloatArray:
        """Accelerations (..., n), the nearest to some that may open the loops."""
        scaled, inverse, _ = self._closure(q)
        free = np.divide(rates, self.shares, where=self.shares > 0.0, out=np.zeros_like(rates))
        gap = (scaled @ free[..., None])[..., 0] + self._closure_bias(q, qd)
        return np.asarray(rates - self.shares * (inverse @ gap[..., None])[..., 0])

    def _closure(self, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """B (..., K, n), its pseudo-inverse, and P."""
        loops, name = closing(self.mechanism), self.mechanism.name
        rank = ranks_at(loops, closed_regular(self.mechanism)[:1])[0]
        loops.require_closed(q, f"{self._name}: ", " (a Linkage gives closed positions)")
        jac = loops.jacobian(q)
        values = np.linalg.svd(jac, compute_uv=False)
        if rank and not np.all(values[..., rank - 1] > SINGULAR * values[..., 0]):
            raise ArgumentError(f"{self._name}: loops of {name!r} are at a singular position at q; branches of motion meet")
        scaled = np.zeros((*jac.shape[:-1], self.n))
        scaled[..., loops.speeds] = jac / loops.columns * self.shares[loops.speeds]
        inverse = np.linalg.pinv(scaled, rcond=SINGULAR)
        return scaled, inverse, np.eye(self.n) - inverse @ scaled

    @property
    def _name(self) -> str:
        return "joint_velocities" if self.order == 1 else "joint_accelerations"

    def _closure_bias(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        """dJ/dt qd (..., K) of the closure equations, without unit; the velocities must keep the loops closed."""
        loops = closing(self.mechanism)
        terms = loops.jacobian(q) * (qd[..., loops.speeds] / loops.columns)[..., None, :]
        gap = np.abs(terms.sum(axis=-1)).max(axis=-1)
        if not np.all(gap <= NEARLY * np.sqrt(np.square(terms).sum(axis=(-2, -1))) + REST):
            raise ArgumentError(
                f"{self._name}: qd opens loops of {self.mechanism.name!r} by {np.max(gap):.3g}, in longest offsets"
                f" ({loops.size:g} m) and rad per s; expected speeds that keep them closed, as a Linkage or"
                " joint_velocities gives them"
            )
        return np.asarray(kernel_of(self.mechanism, "closure_bias")(q, qd) * loops.rows)

    def _check_closing(self, scaled: FloatArray, still: FloatArray, bias: FloatArray) -> None:
        """Raise `ArgumentError` if the movable joints cannot keep the loops closed at these velocities."""
        gap = np.abs(np.einsum("...ij,...j->...i", scaled, still) + bias).max(axis=-1)
        if not np.all(gap <= NEARLY * np.abs(bias).max(axis=-1) + REST):
            raise ArgumentError(
                f"{self._name}: loops of {self.mechanism.name!r} open by {np.max(gap):.3g} longest offsets or rad per s2;"
                " expected weights with which joints may move that keep them closed at these speeds"
            )


def _room(start: FloatArray, motion: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Greatest share (...), 0 to 1, of a motion (..., n) from a start that stays within the bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(motion > 0.0, high - start, low - start) / motion
    return np.asarray(np.clip(np.where(motion == 0.0, np.inf, room).min(axis=-1), 0.0, 1.0))


def rate_task(
    mechanism: Tree,
    order: int,
    link: int | str,
    frame: str,
    mask: npt.ArrayLike | None,
    damping: float | str | None,
    region: float,
    weights: npt.ArrayLike | None,
    length: float | None,
) -> VelocityTask:
    """Validate the arguments, once.

    Raises
    ------
    ArgumentError
        Naming the argument, what it is and what was expected.
    """
    require_tree(mechanism, "mechanism")
    key = None if weights is not None else _key(order, link, frame, damping, region, length, mask)
    kept: dict[Any, VelocityTask] = mechanism.__dict__.get("_rate_tasks", {})
    if key in kept:
        return kept[key]
    check_mechanism(mechanism)
    check_frame(frame)
    place = mechanism.frame_index(link)
    rows, settings = rows_of(mask), _filter(damping, region)
    size = characteristic_length(mechanism, place) if length is None else positive("length", length)
    heavy = _weights(mechanism, weights, size)
    shares, fields_of = 1.0 / np.sqrt(heavy), (mechanism, order, place, frame, rows, size)
    if mechanism.loops:
        closed = ClosedVelocityTask(*fields_of, 1, heavy, settings, shares)
        values = np.linalg.svd(closed.matrix(closed_regular(mechanism)), compute_uv=False)
        rank = int((values > RANK * values.max(initial=0.0)).sum(axis=-1).max())
    else:
        rank = usual_rank(mechanism, place, rows, size, tuple(np.isfinite(heavy).tolist()))
    if not rank:
        raise ArgumentError(f"link is {shown(link)}, of which no joint that may move moves a component that counts")
    many = ArrayVelocityTask if loops_over(mechanism, place) else VelocityTask
    task = (ClosedVelocityTask if mechanism.loops else many)(*fields_of, rank, heavy, settings, shares)
    if key is not None:
        mechanism.__dict__["_rate_tasks"] = {**kept, key: task} if len(kept) < KEPT else {key: task}
    return task


def closed_regular(mechanism: Tree) -> FloatArray:
    """Closed positions (k, n) of a mechanism with loops at which these are not singular."""
    return mechanism.memo("velocity", "closed_regular", lambda: generic_positions(closing(mechanism)))


def check_mechanism(mechanism: Tree) -> None:
    """Raise `ArgumentError` where nothing moves."""
    require_tree(mechanism, "mechanism")
    if not mechanism.nv:
        raise ArgumentError(f"{mechanism.name!r} has no joint that moves")


def per_joint(field: str, value: npt.ArrayLike, n: int, expected: str) -> FloatArray:
    """Positive numbers (n,), infinite ones too."""
    values = numbers(field, value, expected, finite=False)
    if values.shape not in ((), (n,)) or not (values > 0).all():
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return np.array(np.broadcast_to(values, (n,)))


def check_limits(limits: str | None) -> None:
    """Raise `ArgumentError` unless `limits` is a valid choice."""
    if limits is not None and (not isinstance(limits, str) or limits not in LIMITS):
        raise ArgumentError(f"limits is {shown(limits)}; expected {choices([*LIMITS, None])}")


def _key(*arguments: Any) -> tuple[Any, ...] | None:
    """Key of a task in the cache; None if the arguments are not simple values: the task is then built anew."""
    flat = (*arguments[:-1], *(arguments[-1] if isinstance(arguments[-1], (list, tuple)) else (arguments[-1],)))
    plain = all(part is None or type(part) in (int, str, float) for part in flat)
    return (*arguments[:-1], len(flat), *flat[len(arguments) - 1 :]) if plain else None


def _filter(damping: float | str | None, region: float) -> FloatArray:
    bound = positive("region", region)
    if damping is None:
        return np.zeros(2)
    if isinstance(damping, str):
        if damping != "auto":
            raise ArgumentError(f"damping is {damping!r}; expected 'auto', a number >= 0 or None")
        return np.array([bound, 0.0])
    return np.array([0.0, positive("damping", damping, zero=True)])


def _weights(mechanism: Tree, weights: npt.ArrayLike | None, size: float) -> FloatArray:
    if weights is not None:
        return per_joint("weights", weights, mechanism.nv, f"{mechanism.nv} numbers > 0, infinite for joints that must rest")
    return np.where(mechanism.is_linear_velocity, 1.0 / size**2, 1.0)


def speed_bounds(
    task: VelocityTask, q: FloatArray, qd_max: npt.ArrayLike | None, dt: float | None
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest velocities (n,), or (..., n) if a step of dt s must end within the position limits.

    A joint that stands outside its limits may come back and may rest; it is not driven back.
    """
    if qd_max is None and dt is None:
        return task.qd_min, task.qd_max
    most = _velocity_limits(task, qd_max)
    if dt is None:
        return -most, most
    mech, free = task.mechanism, task.n - task.mechanism.n  # (velocities of joints with quaternions come first)

    def bounds(module: Any, q: Any) -> tuple[Any, Any]:
        ends = mech.q_min, mech.q_max, most, np.zeros(mech.n), np.zeros((*q.shape[:-1], free))
        least, greatest, fastest, still, none = (module.asarray(np.array(end), dtype=q.dtype) for end in ends)
        joints, others = q[..., mech.nq - mech.n :], none + fastest[:free]
        low = module.clip((least - joints) / dt, -fastest[free:], still)
        high = module.clip((greatest - joints) / dt, still, fastest[free:])
        return module.concatenate([-others, low], axis=-1), module.concatenate([others, high], axis=-1)

    signature = Signature(((mech.nq,),), ((task.n,), (task.n,)), ("float64", "float64"))
    return arrays.apply("joint_velocities", bounds, signature, (q,))


def acceleration_bounds(
    task: VelocityTask, qd: FloatArray, qdd_max: npt.ArrayLike | None, qd_max: npt.ArrayLike | None, dt: float | None
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest accelerations (n,), or (..., n) if a step of dt s must end within the velocity limits.

    A joint that is faster than it may be brakes as hard as it can.
    """
    most = task.qdd_max if qdd_max is None else per_joint("qdd_max", qdd_max, task.n, f"{task.n} numbers > 0")
    if dt is None:
        return -most, most
    speed = _velocity_limits(task, qd_max)

    def bounds(module: Any, qd: Any) -> tuple[Any, Any]:
        greatest, fastest = (module.asarray(np.array(end), dtype=qd.dtype) for end in (speed, most))
        low, high = ((end - qd) / dt for end in (-greatest, greatest))
        return module.clip(low, -fastest, fastest), module.clip(high, -fastest, fastest)

    signature = Signature(((task.n,),), ((task.n,), (task.n,)), ("float64", "float64"))
    return arrays.apply("joint_accelerations", bounds, signature, (qd,))


def _velocity_limits(task: VelocityTask, qd_max: npt.ArrayLike | None) -> FloatArray:
    return task.qd_max if qd_max is None else per_joint("qd_max", qd_max, task.n, f"{task.n} numbers > 0")
