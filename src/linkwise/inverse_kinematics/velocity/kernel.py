"""Kernels of joint velocities and accelerations for those of a frame, with a selectively damped inverse.

Damped least squares as of Y. Nakamura and H. Hanafusa, "Inverse kinematic solutions with singularity robustness for robot
manipulator control", J. Dynamic Systems, Measurement and Control 108(3), 1986, and C. W. Wampler, "Manipulator inverse
kinematic solutions based on vector formulations and damped least-squares methods", IEEE Trans. Systems, Man and Cybernetics
16(1), 1986; damped only along the directions that are nearly lost as of A. A. Maciejewski and C. A. Klein, "Numerical
filtering for the operation of robotic manipulators through kinematically singular configurations", J. Robotic Systems 5(6),
1988, and S. Chiaverini, "Singularity-robust task-priority redundancy resolution for real-time kinematic control of robot
manipulators", IEEE Trans. Robotics and Automation 13(3), 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of, loops_over
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.body_motion import motions
from linkwise.kinematics.forward_kinematics import body_poses, frame_of
from linkwise.kinematics.jacobian import jacobian
from linkwise.kinematics.jacobian_dot import jacobian_dot
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.coupling import coupling
from linkwise.model.tree import Tree
from linkwise.spatial.linear import orthogonal_rows
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, greatest, least, root, select

#: Singular values below this share of the greatest count as zero.
RANK = 1e-12


class FilteredInverse:
    """Solves A x = b, A (m, n) of scalars, with gains s / (s^2 + l^2) for its singular values s.

    l^2 = region^2 - s^2 for s below the region and 0 above, so the gain is s / region^2 there and never above 1 / region,
    plus a damping that is the same for all. Singular values that are zero have no gain. What the last sweep leaves of the
    angles between rows is taken by one step of refinement.

    Parameters
    ----------
    matrix : (m, n) array of scalars
        One of m and n at most 6.
    region : scalar
        Singular values below this are damped.
    constant : scalar
        What damps all of them.
    rank : int
        How many singular values are not zero, away from singular positions.
    """

    def __init__(self, matrix: Array, region: Any, constant: Any, rank: int) -> None:
        self.wide = matrix.shape[0] <= matrix.shape[1]
        self.factors = orthogonal_rows(matrix if self.wide else matrix.T)
        squares = _descending(self.factors.squares, rank)
        region_square = region * region
        self.kept = [square - squares[0] * RANK**2 for square in self.factors.squares]
        self.gains = [
            _inverse(kept, greatest(square, region_square) + constant * constant)
            for kept, square in zip(self.kept, self.factors.squares, strict=True)
        ]
        self.smallest = root(squares[-1])
        self.damping = _length(greatest(region_square - squares[-1], 0.0) + constant * constant)

    def solve(self, right: Array) -> Array:
        """X (n,), the shortest with the least (filtered) |A x - right|, for a right side (m,)."""
        factors, gains = self.factors, np.array(self.gains, dtype=object)
        share = np.array(factors.squares, dtype=object) * gains
        if self.wide:
            turned = factors.turned(right)
            x = (turned * gains) @ factors.rows
            return np.asarray(x + ((turned * share - factors.rows @ x) * gains) @ factors.rows)
        turned = factors.rows @ right
        w = turned * gains
        return factors.turned_back(w + (turned * share - factors.rows @ (w @ factors.rows)) * gains)

    def project(self, vector: Array) -> Array:
        """The part (n,) of a vector that A takes to zero."""
        factors = self.factors
        if not self.wide:
            parts = zip(self.kept, factors.turned(vector), strict=True)
            return factors.turned_back(np.array([select(kept, 0.0, part) for kept, part in parts], dtype=object))
        inverses = [_inverse(kept, square) for kept, square in zip(self.kept, factors.squares, strict=True)]
        left = np.array(vector, dtype=object)
        for _ in range(2):  # the second pass removes rounding errors along short rows
            for row, inverse in zip(factors.rows, inverses, strict=True):
                left = left - row * ((row @ left) * inverse)
        return left


def _inverse(there: Any, square: Any) -> Any:
    """Inverse of a square where `there` is positive, else 0, without division by zero."""
    return select(there, 1.0 / select(there, square, 1.0), 0.0)


def _length(square: Any) -> Any:
    """Square root with derivative zero at zero, without division by zero; NaN is preserved."""
    return select(square, root(select(square, square, 1.0)), square)


def _descending(values: Sequence[Any], count: int) -> list[Any]:
    """Scalars of which the first is the greatest and the last that of rank ``count``; those between may be missing."""
    left, sorted_values = list(values), []
    if count == len(left):
        return [reduce(greatest, left), reduce(least, left)]
    for _ in range(count):
        for k in range(len(left) - 1, 0, -1):  # the greatest moves to the front
            left[k - 1], left[k] = greatest(left[k - 1], left[k]), least(left[k - 1], left[k])
        sorted_values.append(left.pop(0))
    return sorted_values


def frame_motion(tree: Tree, q: Array, qd: Array, qdd: Array | None, link: int | str, frame: str) -> tuple[Array, Array]:
    """Velocity and acceleration (6,) of a frame for coordinates q (nq,), velocities qd and accelerations qdd (nv,).

    Computed from body to body, not by the Jacobian, which it confirms. Linear rows first, as in `jacobian`; in the axes of
    the frame ("body") the acceleration is the rate of the velocity's components, as with `jacobian_dot`, and so a spatial
    one. Without qdd the acceleration has no meaning.
    """
    if tree.coupled:
        coupled = coupling(tree)
        free = None if qdd is None else coupled.speeds(qdd)
        return frame_motion(coupled.uncoupled, coupled.coordinates(q), coupled.speeds(qd), free, link, frame)
    bodies = moving_bodies(tree)
    end, t = frame_of(tree, bodies, link)
    if end < 0:
        return np.zeros(6), np.zeros(6)
    moved = motions(bodies, joint_transforms(bodies, q), qd, np.zeros(tree.nv) if qdd is None else qdd, np.zeros(3))[end]
    turn = t[:3, :3].T if frame == "body" else body_poses(bodies, q, bodies.path(end))[end][:3, :3]
    velocity, acceleration = (_seen(turn, part, t[:3, 3]) for part in (moved.velocity, moved.acceleration))
    if frame == "world":
        acceleration[:3] = acceleration[:3] + cross(velocity[3:], velocity[:3])
    return velocity, acceleration


def _seen(turn: Array, motion: Array, point: Array) -> Array:
    """A six-vector at another point of its body, in other axes."""
    return np.concatenate([turn @ (motion[:3] + cross(motion[3:], point)), turn @ motion[3:]])


#: Elements of the kernels' third output, in order.
DIAGNOSTICS = ("scale", "secondary_scale", "damping", "singular_value", "linear_residual", "angular_residual")


@dataclass(frozen=True)
class TaskRows:
    """The selected components, the length that scales metres, and the number that joints can give independently."""

    which: tuple[int, ...]
    length: float
    rank: int

    @property
    def counted(self) -> list[int]:
        """Their places."""
        return list(self.which)

    def scaled(self, values: Array) -> Array:
        """Select the components of six rows, in comparable units."""
        picked = values[self.counted]
        unit = np.array([1.0 / self.length if row < 3 else 1.0 for row in self.which])
        return np.asarray(picked * unit.reshape(-1, *[1] * (picked.ndim - 1)))

    def lengths(self, six: Array) -> tuple[Any, Any]:
        """Norms of the linear and of the angular part of the selected components."""
        linear = sum((six[row] * six[row] for row in self.which if row < 3), 0.0)
        return _length(linear), _length(sum((six[row] * six[row] for row in self.which if row >= 3), 0.0))


def rate_kernel(
    mechanism: Tree,
    order: int,
    link: int | str,
    frame: str,
    rows: tuple[int, ...],
    length: float,
    rank: int,
    count: int = 3,
) -> Kernel:
    """The compiled solution, traced once for each mechanism and choice.

    Parameters
    ----------
    mechanism : Mechanism
        Without loops.
    order : {1, 2}
        1 for speeds, 2 for accelerations.
    link, frame
        As in `Mechanism.jacobian`.
    rows : tuple of int
        Which of the six components are asked for.
    length : float
        By which linear components are divided, m.
    rank : int
        Rank of the Jacobian's rows that count, away from singular positions.
    count : {2, 3}
        Of the outputs; without the diagnostics, the least singular value among them, derivatives are finite where that is 0.

    Returns
    -------
    Kernel
        Inputs q, for accelerations qd, the six components of ``twist`` or ``acceleration``, then (nv,) each ``shares`` (the
        root of one over the weight of each joint), ``secondary``, ``low`` and ``high``, and ``filter`` (2,), region and
        constant damping. Outputs the joint rates (nv,), the six components that they give, and `DIAGNOSTICS` (6,).
    """
    name, states, wanted, rates = (
        ("joint_velocities", ["q"], "twist", "qd"),
        ("joint_accelerations", ["q", "qd"], "acceleration", "qdd"),
    )[order - 1]
    n = mechanism.nv
    per_joint = dict.fromkeys(("shares", "secondary", "low", "high"), (n,))
    inputs = {**_state_shapes(mechanism, states), wanted: (6,), **per_joint, "filter": (2,)}
    shapes = {rates: (n,), "achieved": (6,), "diagnostics": (len(DIAGNOSTICS),)}
    outputs = dict(list(shapes.items())[:count])
    task_rows = TaskRows(rows, length, rank)

    def solve(*values: Array) -> tuple[Array, ...]:
        state, task = values[:order], values[order:]
        jac, bias = jacobian(mechanism, state[0], link=link, frame=frame), None
        if order == 2:
            bias = np.asarray(jacobian_dot(mechanism, *state, link=link, frame=frame) @ state[1])

        def forward(rates: Array) -> Array:
            arguments: Any = (*state, rates, None)
            q, qd, qdd = arguments[:3]
            return frame_motion(mechanism, q, qd, qdd, link, frame)[order - 1]

        return _solved(jac, bias, forward, task_rows, *task)[:count]

    return kept(mechanism, (name, link, frame, rows, length, rank, count), lambda: trace(solve, name, inputs, outputs))


def motion_kernel(mechanism: Tree, order: int, link: int | str, frame: str) -> Kernel:
    """The forward pass: q and velocities to a twist; of order 2, q, velocities and accelerations to an acceleration.

    It is compiled for the mechanism, unless kernels loop over the bodies on the way.
    """
    if loops_over(mechanism, link):
        return kernel_of(
            mechanism, ("frame_velocity", "frame_acceleration")[order - 1], None, {"link": link, "frame": frame}
        )

    def motion(q: Array, qd: Array, qdd: Array | None = None) -> Array:
        return frame_motion(mechanism, q, qd, qdd, link, frame)[order - 1]

    inputs = _state_shapes(mechanism, ("q", "qd", "qdd")[: order + 1])
    return kept(
        mechanism, ("frame_motion", order, link, frame), lambda: trace(motion, "frame_motion", inputs, {"motion": (6,)})
    )


def _state_shapes(mechanism: Tree, names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    return {name: (mechanism.nq if name == "q" else mechanism.nv,) for name in names}


def kept(mechanism: Tree, key: tuple[Any, ...], tape: Callable[[], Any]) -> Kernel:
    """Trace and compile a kernel on first use; cache it in the mechanism."""
    return mechanism.memo("velocity", key, lambda: Kernel(tape()))


def _solved(
    jac: Array,
    bias: Array | None,
    forward: Callable[[Array], Array],
    rows: TaskRows,
    wanted: Array,
    shares: Array,
    secondary: Array,
    low: Array,
    high: Array,
    settings: Array,
) -> tuple[Array, Array, Array]:
    """Rates x with J x + bias = wanted as far as possible: x0 + scale * x1 + secondary_scale * x2, within the bounds."""
    n = len(shares)
    moving = [j for j in range(n) if any(not isinstance(part, float) or part for part in jac[rows.counted, j])]
    moving_shares = shares[moving]
    inverse = FilteredInverse(rows.scaled(jac[:, moving]) * moving_shares, settings[0], settings[1], rows.rank)
    needed = _among(moving, inverse.solve(rows.scaled(wanted)) * moving_shares, np.zeros(n))
    start = np.zeros(n) if bias is None else _among(moving, -(inverse.solve(rows.scaled(bias)) * moving_shares), np.zeros(n))
    # A joint whose share is zero is locked; it has no part in the secondary motion either.
    pairs = zip(shares, secondary, strict=True)
    free = np.array([select(share, z / select(share, share, 1.0), 0.0) for share, z in pairs], dtype=object)
    beside = _among(moving, inverse.project(free[moving]) * moving_shares, free * shares)
    scale = _room(start, needed, low, high)
    scale = scale if bias is None else select(_outside(start, low, high), 0.0, scale)
    x = start + needed * scale
    secondary_scale = _room(x, beside, low, high)
    x = x + beside * secondary_scale
    triples = zip(x, low, high, strict=True)
    x = np.array([greatest(least(value, most), fewest) for value, fewest, most in triples], dtype=object)
    twist = forward(x)
    linear, angular = rows.lengths(twist - scale * wanted)
    diagnostics = [scale, secondary_scale, inverse.damping, inverse.smallest, linear, angular]
    return x, twist, np.array(diagnostics, dtype=object)


def _among(places: list[int], values: Array, others: Array) -> Array:
    """Values of all joints (n,), some of them replaced."""
    rows = np.array(others, dtype=object)
    rows[places] = values
    return rows


def _outside(x: Array, low: Array, high: Array) -> Any:
    """Above zero where x lies outside the bounds."""
    beyond: Any = 0.0
    for value, fewest, most in zip(x, low, high, strict=True):
        beyond = select(value - most, 1.0, select(fewest - value, 1.0, beyond))
    return beyond


def _room(start: Array, motion: Array, low: Array, high: Array) -> Any:
    """Greatest share, 0 to 1, of a motion from a start that stays within the bounds."""
    share: Any = 1.0
    for x, step, fewest, most in zip(start, motion, low, high, strict=True):
        moves = abs(step)
        room = select(step, most - x, fewest - x) / select(moves, step, 1.0)
        share = least(share, select(moves, room, 1.0))
    return greatest(share, 0.0)
