"""Closed loops: closure error, its rate, and its second derivative.

A loop is looked at from the body that its two paths part from, so what moves both of its sides alike does not enter. All
rows are in the axes of the loop's first frame F1; the second is F2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.kinematics.forward_kinematics import place
from linkwise.kinematics.jacobian import column
from linkwise.model.body import Bodies, carrier_frame, moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.loop import CLOSURE_ROWS, Loop
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import axial, cross
from linkwise.spatial.scalar import Array, FloatArray, blank, root, select
from linkwise.spatial.vector import chosen


@algorithm(inputs={"q": "nq"}, outputs={"residual": "K"}, spread=False, needs_loops=True)
def closure(tree: Tree, q: Array) -> Array:
    """Return the closure error (K,), loop by loop, zero for closed loops.

    Three rows R1'(p2 - p1), m. For a full closure three more, 2 sin(t/2) a, with a the direction and t the angle of the
    rotation R1'R2 (twice the vector part of its unit quaternion, by S. W. Shepperd, 1978). For a hinge two more, (-zy, zx)
    with z = R1' z2: the sine of the angle between the axes. These two are zero for axes of opposite sense too: see
    `closure_facing`.

    Examples
    --------
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> bars.kernel("closure")([0.1, 0.0, 0.0]).round(4) + 0.0
    array([-0.0031, -0.0151,  0.    ,  0.    ,  0.    ])
    """
    return _residual(tree, q, half_sine)


def closure_sine(tree: Tree, q: Array) -> Array:
    """Return the `closure` with sin(t) a in the place of 2 sin(t/2) a: simpler, the same near zero, and zero at pi too."""
    return _residual(tree, q, axial)


@algorithm(inputs={"q": "nq"}, outputs={"facing": "loops"}, spread=False, needs_loops=True)
def closure_facing(tree: Tree, q: Array) -> Array:
    """Return z1'z2 of every hinge, 1 where its axes have one sense, -1 where they are opposed; 1 for other loops.

    Examples
    --------
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> bars.kernel("closure_facing")(bars.neutral).round(9)
    array([1.])
    """
    bodies, q = _bodies(tree, q)
    result = blank(len(tree.loops))
    for k, loop in enumerate(tree.loops):
        result[k] = _sides(tree, bodies, loop, q).rotation[2, 2] if loop.kind == "hinge" else 1.0
    return result


@algorithm(inputs={"q": "nq"}, outputs={"J": "K nv"}, spread=False, needs_loops=True)
def closure_jacobian(tree: Tree, q: Array) -> Array:
    """Return the velocity of F2 as seen from F1 per speed (K, nv), in F1's axes.

    Rows R1'(v2 - v1 - w1 x (p2 - p1)), then R1'(w2 - w1): all of the latter for a full closure, the first two for a hinge.
    Where the loops are closed it is the derivative of `closure`; the position rows are so everywhere. The joints of both
    sides are in it like those of one chain from F1 to F2.

    Examples
    --------
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> qd = bars.linkage(["crank"]).velocity(bars.neutral, [1.0])
    >>> (bars.kernel("closure_jacobian")(bars.neutral) @ qd).round(9) + 0.0
    array([0., 0., 0., 0., 0.])
    """
    return np.concatenate([loop_seen(tree, loop, q)[2][: CLOSURE_ROWS[loop.kind]] for loop in tree.loops])


def loop_seen(tree: Tree, loop: Loop, q: Array) -> tuple[Array, Array, Array]:
    """F2 of one loop, of the mechanism or not, as seen from F1.

    Returns
    -------
    gap : ndarray (3,)
        R1'(p2 - p1), m.
    rotation : ndarray (3, 3)
        R1'R2.
    rates : ndarray (6, nv)
        Its velocity and angular velocity per speed, as in `closure_jacobian`.
    """
    bodies, joints = _bodies(tree, q)
    sides = _sides(tree, bodies, loop, joints)
    jac = blank(6, sum(body.nv for body in bodies.bodies))
    for side, sign in ((sides.first, -1.0), (sides.second, 1.0)):
        for k in side.path:
            for freedom in bodies.bodies[k].freedoms_at(joints):
                jac[:, freedom.speed] = sign * column(freedom, side.poses[k], sides.second.frame[:3, 3])
    axes = sides.first.frame[:3, :3].T
    free = np.concatenate([axes @ jac[:3], axes @ jac[3:]])
    return sides.gap, sides.rotation, np.asarray(free @ coupling(tree).spread) if tree.coupled else free


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"bias": "K"}, spread=False, needs_loops=True)
def closure_bias(tree: Tree, q: Array, qd: Array) -> Array:
    """Return d/dt(J) qd (K,) with J the `closure_jacobian`: loops that stay closed mean J qdd + bias = 0.

    What F2 accelerates as seen from F1, in F1's axes, where no joint accelerates: a2 - a1 - alpha1 x d - 2 w1 x d' +
    w1 x (w1 x d), with d = p2 - p1 and d' = v2 - v1, and alpha2 - alpha1 - w1 x w2 (Coriolis' theorem).

    Examples
    --------
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> linkage = bars.linkage(["crank"])
    >>> qd = linkage.velocity(bars.neutral, [1.0])
    >>> qdd = linkage.acceleration(bars.neutral, qd, [0.0])
    >>> left = bars.kernel("closure_jacobian")(bars.neutral) @ qdd + bars.kernel("closure_bias")(bars.neutral, qd)
    >>> left.round(9) + 0.0
    array([0., 0., 0., 0., 0.])
    """
    bodies, q = _bodies(tree, q)
    qd = coupling(tree).speeds(qd) if tree.coupled else qd
    rows = []
    for loop in tree.loops:
        sides = _sides(tree, bodies, loop, q)
        first, second = (_motion(bodies, side, q, qd) for side in (sides.first, sides.second))
        apart, rate = sides.second.frame[:3, 3] - sides.first.frame[:3, 3], second.velocity - first.velocity
        turning = cross(first.omega, cross(first.omega, apart) - 2.0 * rate)
        linear = second.acceleration - first.acceleration - cross(first.alpha, apart) + turning
        angular = second.alpha - first.alpha - cross(first.omega, second.omega)
        axes = sides.first.frame[:3, :3].T
        rows.append(np.concatenate([axes @ linear, axes @ angular])[: CLOSURE_ROWS[loop.kind]])
    return np.concatenate(rows)


@dataclass(frozen=True)
class _Side:
    """One side of a loop: the bodies to its frame, their poses and the frame's, relative to the last common body."""

    path: tuple[int, ...]
    poses: dict[int, Array]
    frame: Array
    root: int


@dataclass(frozen=True)
class _Sides:
    """Both sides of a loop, and the pose of F2 in F1."""

    first: _Side
    second: _Side

    @property
    def gap(self) -> Array:
        """R1'(p2 - p1), (3,)."""
        return np.asarray(self.first.frame[:3, :3].T @ (self.second.frame[:3, 3] - self.first.frame[:3, 3]))

    @property
    def rotation(self) -> Array:
        """R1'R2 (3, 3)."""
        return np.asarray(self.first.frame[:3, :3].T @ self.second.frame[:3, :3])


@dataclass(frozen=True)
class _Motion:
    """Velocity, acceleration, angular velocity and angular acceleration (3,) of a frame where no joint accelerates."""

    velocity: Array
    acceleration: Array
    omega: Array
    alpha: Array


def _residual(tree: Tree, q: Array, measure: Callable[[Array], Array]) -> Array:
    bodies, q = _bodies(tree, q)
    rows = []
    for loop in tree.loops:
        sides = _sides(tree, bodies, loop, q)
        rows += [sides.gap, _turned(loop, sides.rotation, measure)]
    return np.concatenate(rows)


def own_bodies(tree: Tree) -> Bodies:
    """The moving bodies, each with an independent coordinate."""
    return moving_bodies(coupling(tree).uncoupled if tree.coupled else tree)


def _at_origin(tree: Tree) -> Tree:
    """The mechanism with its base at the origin: it moves both sides of a loop alike, and a distant one costs digits."""
    if tree.floating or np.array_equal(tree.base, np.eye(4)):
        return tree
    return tree.memo("loop_constraints", "at_origin", lambda: tree.replace(base=np.eye(4)))


def _bodies(tree: Tree, q: Array) -> tuple[Bodies, Array]:
    """The moving bodies, each with an independent coordinate, and these coordinates."""
    return own_bodies(_at_origin(tree)), coupling(tree).coordinates(q) if tree.coupled else q


def loop_frames(tree: Tree, bodies: Bodies, loop: Loop) -> tuple[tuple[int, FloatArray], tuple[int, FloatArray]]:
    """The body that carries each frame of a loop (-1: the ground), and the frame on it."""
    ends = ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
    carried = [(carrier_frame(tree, bodies, -1 if name == "base" else tree.link_index(name)), frame) for name, frame in ends]
    first, second = ((body, np.asarray(t @ frame)) for (body, t), frame in carried)
    return first, second


def _sides(tree: Tree, bodies: Bodies, loop: Loop, q: Array) -> _Sides:
    ends = loop_frames(_at_origin(tree), bodies, loop)
    paths = [bodies.path(body) for body, _ in ends]
    shared = 0
    while shared < min(map(len, paths)) and paths[0][shared] == paths[1][shared]:
        shared += 1
    start = paths[0][shared - 1] if shared else -1
    sides = []
    for path, (body, frame) in zip(paths, ends, strict=True):
        poses: dict[int, Array] = {start: np.eye(4)}
        for k in path[shared:]:
            poses[k] = place(bodies.bodies[k], poses[bodies.bodies[k].parent], q)
        sides.append(_Side(path[shared:], poses, poses[body] @ frame, start))
    return _Sides(*sides)


def _turned(loop: Loop, rotation: Array, measure: Callable[[Array], Array]) -> Array:
    """Rotational rows of a loop; a full closure uses the given measure."""
    if loop.kind == "point":
        return np.zeros(0)
    if loop.kind == "hinge":
        return np.array([-rotation[1, 2], rotation[0, 2]])
    return measure(rotation)


def half_sine(rotation: Array) -> Array:
    """2 sin(t/2) a (3,) of a rotation: from the trace up to t = 2 pi/3, beyond from the greatest diagonal element."""
    off, square = axial(rotation), 1.0 + rotation[0, 0] + rotation[1, 1] + rotation[2, 2]
    far = _far_half_sine(rotation, off)
    near = off * (2.0 / root(select(square - 1.0, square, 1.0)))
    return np.asarray(chosen(square - 1.0, near, far))


def _far_half_sine(rotation: Array, off: Array) -> Array:
    """The same by a row of 4 q q', for angles near a half turn."""
    x, y, z = rotation[0, 0], rotation[1, 1], rotation[2, 2]
    sums = {(i, j): rotation[i, j] + rotation[j, i] for i in range(3) for j in range(i + 1, 3)}
    rows = [
        np.array([1.0 + x - y - z, sums[0, 1], sums[0, 2]], dtype=object),
        np.array([sums[0, 1], 1.0 + y - x - z, sums[1, 2]], dtype=object),
        np.array([sums[0, 2], sums[1, 2], 1.0 + z - x - y], dtype=object),
    ]
    results = [np.append(row, [2.0 * off[k], row[k]]) for k, row in enumerate(rows)]  # vector part, scalar part, square
    best = chosen(results[0][4] - results[1][4], results[0], results[1])
    best = chosen(best[4] - results[2][4], best, results[2])
    return np.asarray(best[:3] * (select(best[3], 1.0, -1.0) / root(select(best[4], best[4], 1.0))))


def _motion(bodies: Bodies, side: _Side, q: Array, qd: Array) -> _Motion:
    """Motion of a loop's frame relative to the last common body."""
    zero = np.zeros(3)
    at: dict[int, tuple[Array, _Motion]] = {side.root: (zero, _Motion(zero, zero, zero, zero))}
    end = side.root
    for k in side.path:
        body, pose = bodies.bodies[k], side.poses[k]
        start, carrier = at[body.parent]
        moved = _at(carrier, pose[:3, 3] - start)
        bias, turn, slide = body.bias(q, qd), zero, zero
        for freedom in body.freedoms_at(q):
            turn = turn + (pose[:3, :3] @ freedom.angular) * qd[freedom.speed]
            slide = slide + (pose[:3, :3] @ freedom.linear) * qd[freedom.speed]
        at[k] = (
            pose[:3, 3],
            _Motion(
                moved.velocity + slide,
                moved.acceleration + 2.0 * cross(carrier.omega, slide) + cross(turn, slide) + pose[:3, :3] @ bias[:3],
                carrier.omega + turn,
                carrier.alpha + cross(carrier.omega, turn) + pose[:3, :3] @ bias[3:],
            ),
        )
        end = k
    return _at(at[end][1], side.frame[:3, 3] - at[end][0])


def _at(carrier: _Motion, arm: Array) -> _Motion:
    """The motion of another point of the same body, at the end of an arm (3,)."""
    across: Any = cross(carrier.omega, arm)
    acceleration = carrier.acceleration + cross(carrier.alpha, arm) + cross(carrier.omega, across)
    return _Motion(carrier.velocity + across, acceleration, carrier.omega, carrier.alpha)
