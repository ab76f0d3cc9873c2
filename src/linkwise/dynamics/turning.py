"""How a body turns: angular velocity, angular acceleration, and U = alpha~ + omega~ omega~, from the parent's.

A point r of a body accelerates by a + U r. Points on a joint's axis move with both bodies, so that U of a body and U of its
parent agree on the axis: the column U z needs one rotation, and makes those of the angular acceleration, and the products of
the angular velocity with the joint's speed, unnecessary. The rest of U follows from omega, for U + U' = 2 omega~ omega~. Of
several such formulas that is used which leaves the fewest operations (see `Plan`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.dynamics.carried_axes import made_children
from linkwise.kinematics.joint_transform import JointTransform, is_zero
from linkwise.model.bodies import Bodies, Body
from linkwise.spatial.scalar import Array

X, Y, Z = range(3)


@dataclass(frozen=True)
class Plan:
    """What of a body's motion is asked for, as far as the choice between equal formulas depends on it.

    Attributes
    ----------
    alpha : ndarray (3,) of bool
        Elements of the angular acceleration from which the bodies that it carries take theirs.
    sides : tuple of bool
        Whether U_yx and U_xy are needed for more than the moment about z that S_xx and S_yy bring.
    from_parent : bool
        Whether U_yy is taken from U_zz, which is the parent's: it saves the square of omega_x.
    """

    alpha: Array
    sides: tuple[bool, bool]
    from_parent: bool


@dataclass(frozen=True)
class Turning:
    """How one body turns, in its axes.

    Attributes
    ----------
    omega, alpha : ndarray (3,)
        Angular velocity and acceleration.
    spin : ndarray (3, 3)
        U = alpha~ + omega~ omega~.
    gaps : ndarray (3,)
        U_zz - U_yy, U_xx - U_zz, U_yy - U_xx.
    product : scalar
        omega_x omega_y.
    """

    omega: Array
    alpha: Array
    spin: Array
    gaps: Array
    product: Any


def at_rest() -> Turning:
    """The ground's."""
    zero = np.zeros(3)
    return Turning(zero, zero, np.zeros((3, 3)), zero, 0.0)


def turned_freely(omega: Array, alpha: Array) -> Turning:
    """From angular velocity and acceleration."""
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    return Turning(omega, alpha, _spin(omega, alpha), np.array([zz - yy, xx - zz, yy - xx]), x * y)


def turned(body: Body, joint: JointTransform, parent: Turning, rate: Any, rise: Any, plan: Plan) -> Turning:
    """From the parent's, with the joint's speed and acceleration."""
    if not body.turns and joint.planar is None:
        return _unturned(joint, parent)
    omega, up = joint.vector_from_parent(parent.omega), parent.alpha @ joint.fixed[:, Z]
    column = joint.turn.T @ _column(joint, parent)
    if body.turns:
        omega, up = omega + np.array([0.0, 0.0, rate]), up + rise
    x, y, z = omega
    xy, yz, xz = x * y, y * z, x * z
    xx, yy, zz = x * x, y * y, z * z
    if plan.from_parent:
        first, second = -(yy + zz), column[Z] + (yy - zz)
        gaps = np.array([zz - yy, first - column[Z], second - first])
    else:
        first, second = -(yy + zz), -(xx + zz)
        gaps = np.array([zz - yy, xx - zz, yy - xx])
    alpha = np.array([yz - column[Y], column[X] - xz, up])
    row = _lower_row(omega, alpha, column, plan)
    spin = np.array([[first, xy - up, column[X]], [xy + up, second, column[Y]], [*row, column[Z]]])
    return Turning(omega, alpha, spin, gaps, xy)


def _unturned(joint: JointTransform, parent: Turning) -> Turning:
    """As the parent turns, in the axes of a body that does not turn on it."""
    fixed = joint.fixed
    omega, alpha = fixed.T @ parent.omega, fixed.T @ parent.alpha
    made = turned_freely(omega, alpha)
    return replace(made, spin=fixed.T @ parent.spin @ fixed) if _permutes(fixed) else made


def _column(joint: JointTransform, parent: Turning) -> Array:
    """U z, z the joint's axis, before the joint's own rotation: from the parent's U where the placement exchanges axes."""
    fixed = joint.fixed
    if _permutes(fixed):
        return np.asarray(fixed.T @ (parent.spin @ fixed[:, Z]))
    return np.asarray(_spin(fixed.T @ parent.omega, fixed.T @ parent.alpha)[:, Z])


def _lower_row(omega: Array, alpha: Array, column: Array, plan: Plan) -> tuple[Any, Any]:
    """U_zx and U_zy: from alpha where it is asked for, else 2 omega_x omega_z - U_xz and 2 omega_y omega_z - U_yz."""
    x, y, z = omega
    if not (plan.alpha[X] or plan.alpha[Y]):
        return x * (2.0 * z) - column[X], y * (2.0 * z) - column[Y]
    from_y = x * z - alpha[Y] if plan.alpha[Y] else 2.0 * (x * z) - column[X]
    from_x = y * z + alpha[X] if plan.alpha[X] else 2.0 * (y * z) - column[Y]
    return from_y, from_x


def plans(made: Bodies, joints: Sequence[JointTransform]) -> list[Plan]:
    """What is asked for of each body."""
    children = made_children(made)
    alphas = [np.zeros(3, dtype=bool) for _ in joints]
    columns = [np.zeros(3, dtype=bool) for _ in joints]
    for rotor in made.rotors:
        alphas[rotor.body][:] = True
    for k in reversed(range(len(joints))):
        columns[k] = _columns(made, joints, k, children[k])
        parent = made.bodies[k].parent
        if parent >= 0:
            alphas[parent] |= _asked(made.bodies[k], joints[k], alphas[k])
    return [_plan(made, joints, k, children[k], alphas[k], columns) for k in range(len(joints))]


def _plan(
    made: Bodies, joints: Sequence[JointTransform], k: int, children: Sequence[int], alpha: Array, columns: Sequence[Array]
) -> Plan:
    """The plan of one body, of which the bodies that it carries need some elements of alpha."""
    body, joint = made.bodies[k], joints[k]
    block = body.inertia[:3, :3]
    places = [_place(joints[child]) for child in children if _permutes(joints[child].fixed)]
    gaps = [not is_zero(block[i, j]) for i, j in ((Y, Z), (X, Z), (X, Y))]
    first, second = (bool(columns[k][i]) or i in places for i in (X, Y))
    known = body.parent >= 0 and joint.planar is not None and _known(joint, columns[body.parent])
    return Plan(alpha, (first or gaps[1], second or gaps[0]), known and _saves(first, second, gaps))


def _columns(made: Bodies, joints: Sequence[JointTransform], k: int, children: Sequence[int]) -> Array:
    """Which columns of U its own force and the origins of the bodies that it carries multiply: (3,) of bool."""
    vectors = [made.bodies[k].inertia[:3, 3], *[joints[child].shift for child in children]]
    return np.array([any(not is_zero(vector[i]) for vector in vectors) for i in range(3)])


def _asked(body: Body, joint: JointTransform, alpha: Array) -> Array:
    """Of which elements of the parent's alpha the body needs to know."""
    if body.free:
        return np.zeros(3, dtype=bool)
    if not _permutes(joint.fixed) or (joint.planar is not None and not body.turns):
        return np.ones(3, dtype=bool)
    wanted = alpha if not body.turns else [False, False, True]
    return np.array([any(wanted[j] and not is_zero(joint.fixed[i, j]) for j in range(3)) for i in range(3)])


def _known(joint: JointTransform, columns: Array) -> bool:
    """Whether U_zz is at hand: it is an element of the parent's U that is needed there."""
    if not _permutes(joint.fixed):
        return False
    place = _place(joint)
    return place == Z or bool(columns[place])


def _saves(first: bool, second: bool, gaps: Sequence[bool]) -> bool:
    """Whether U_yy from U_zz saves the square of omega_x without further operations: what else is needed."""
    wanted = second or gaps[1] or gaps[2]
    return wanted and (gaps[0] or not (second or gaps[2])) and (first or not (gaps[1] or gaps[2]))


def _place(joint: JointTransform) -> int:
    """Which of the parent's axes the joint's axis is along, where the placement permutes them."""
    return next(i for i in range(3) if not is_zero(joint.fixed[i, Z]))


def _permutes(fixed: Array) -> bool:
    """Whether a rotation is known to do no more than exchange axes and turn them round."""
    return sum(is_zero(value) for value in fixed.flat) == 6


def _spin(omega: Array, alpha: Array) -> Array:
    """U = alpha~ + omega~ omega~ (3, 3)."""
    x, y, z = omega
    xx, yy, zz, xy, yz, xz = x * x, y * y, z * z, x * y, y * z, x * z
    return np.array(
        [
            [-(yy + zz), xy - alpha[2], xz + alpha[1]],
            [xy + alpha[2], -(xx + zz), yz - alpha[0]],
            [xz - alpha[1], yz + alpha[0], -(xx + yy)],
        ]
    )
