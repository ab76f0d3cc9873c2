"""The moving bodies of a mechanism: what algorithms run over. See `linkwise.model.body_tree` for how they are made."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.model.joints import Joint
from linkwise.model.symbolic import any_nonzero
from linkwise.spatial.matrix_method import velocity_matrix
from linkwise.spatial.scalar import Array, FloatArray, cos_sin
from linkwise.spatial.transform import transform

ROUNDINGS = 4.0
"""Units in the last place of the numbers added up, for the three additions of an element of X + T Y T' and its products."""


@dataclass(frozen=True)
class Freedom:
    """One way in which a body may move on its parent: about and along an axis of the body's own frame.

    Attributes
    ----------
    speed : int
        Index into qd.
    linear, angular : ndarray (3,)
        Velocity of the body's origin and angular velocity per unit speed, body axes.
    """

    speed: int
    linear: FloatArray
    angular: FloatArray

    @property
    def screw(self) -> FloatArray:
        """Linear and angular part in one (6,)."""
        return np.concatenate([self.linear, self.angular])


@dataclass(frozen=True)
class Body:
    """One moving body: ``T_parent_body = placement @ Rz(turn q + angle) @ Tz(pitch q)``, or ``placement @ J(q)``.

    Every joint with one constant screw is of the first form in a frame along its axis; the others keep their own J.

    Attributes
    ----------
    parent : int
        Index of the parent body, -1 for the ground (whose frame is the world frame).
    link : int
        The link whose joint moves it; -1 for the floating base.
    position, speed : int
        Index of its (first) coordinate in q, and of its (first) speed in qd.
    turn, pitch : float
        Turn about z (1 or 0) and advance along z per unit of the coordinate.
    placement : ndarray (4, 4)
        Constant placement on the parent body.
    angle : float
        Added to the angle of a joint that turns.
    inertia : ndarray (4, 4)
        Pseudo-inertia J, integral of p p' dm, about the body's origin in its axes.
    joint : Joint or None
        What gives the motion of a joint that is not of the first form; None for one that is.
    """

    parent: int
    link: int
    position: int
    speed: int
    turn: float
    pitch: Any
    placement: FloatArray
    angle: float
    inertia: FloatArray
    joint: Joint | None = None

    @property
    def advances(self) -> bool:
        """Whether the joint moves the body along z, as far as that is known whatever the values of symbols."""
        return any_nonzero(self.pitch)

    @property
    def turns(self) -> bool:
        """Whether the joint turns the body about z."""
        return bool(self.turn)

    @property
    def slides(self) -> bool:
        """The same as `advances`."""
        return self.advances

    @property
    def free(self) -> bool:
        """Whether the motion is not about and along one constant axis."""
        return self.joint is not None

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The columns of the motion subspace, where it is constant.

        Raises
        ------
        ArgumentError
            Where it depends on the coordinates: what asks for it here is not written for such joints.
        """
        if self.joint is None:
            z = np.array([0.0, 0.0, 1.0])
            return (Freedom(self.speed, z * self.pitch, z * self.turn),)
        if self.joint.screws is None:
            raise ArgumentError(
                f"the joint of link {self.link + 1} is of the kind {self.joint.kind!r}, whose motion subspace depends on its"
                " coordinate; expected joints with constant ones"
            )
        return self._columns(self.joint.screws)

    def freedoms_at(self, q: Array) -> tuple[Freedom, ...]:
        """The columns of the motion subspace S at the coordinates q (nq,) of the mechanism."""
        if self.joint is None or self.joint.screws is not None:
            return self.freedoms
        return self._columns(self.joint.subspace(self._of(q)).T)

    def rates_at(self, q: Array, qd: Array) -> tuple[Freedom, ...]:
        """The rates of these columns at the velocities qd (nv,) of the mechanism."""
        if self.joint is None or self.joint.screws is not None:
            return tuple(Freedom(freedom.speed, np.zeros(3), np.zeros(3)) for freedom in self.freedoms)
        velocity = qd[self.speed : self.speed + self.joint.nv]
        return self._columns(self.joint.subspace_rate(self._of(q), velocity).T)

    def motion(self, q: Array) -> Array:
        """The joint's own motion (4, 4) at the coordinates q (nq,) of the mechanism."""
        if self.joint is not None:
            return self.joint.placement(self._of(q))
        value = q[self.position]
        rotation = rotation_of(*cos_sin_of_sum(value, self.angle)) if self.turn else None
        return transform(rotation, np.array([0.0, 0.0, self.pitch * value]) if self.advances else None)

    def bias(self, q: Array, qd: Array) -> Array:
        """dS/dt qd (6,) at the coordinates q (nq,) and the velocities qd (nv,) of the mechanism."""
        total = np.zeros(6)
        for rate in self.rates_at(q, qd):
            total = total + rate.screw * qd[rate.speed]
        return total

    def _of(self, q: Array) -> Array:
        """The coordinates of the joint, without the offset of its link."""
        assert self.joint is not None
        return q[self.position : self.position + self.joint.nq] + self.angle

    def _columns(self, screws: Array) -> tuple[Freedom, ...]:
        return tuple(Freedom(self.speed + k, screw[:3], screw[3:]) for k, screw in enumerate(screws))


def cos_sin_of_sum(angle: Any, constant: Any) -> tuple[Any, Any]:
    """Cosine and sine of the sum of an angle and a constant one; a constant quarter turn is taken without arithmetic."""
    if isinstance(constant, Expr):
        return cos_sin(angle + constant)
    quarter = round(constant / (math.pi / 2))
    if abs(constant - quarter * (math.pi / 2)) > 4 * math.ulp(max(abs(constant), 1.0)):
        return cos_sin(angle + constant)
    c, s = cos_sin(angle)
    return ((c, s), (-s, c), (-c, -s), (s, -c))[quarter % 4]


def rotation_of(c: Any, s: Any) -> Array:
    """The rotation (3, 3) about z by an angle with this cosine and sine."""
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Rotor:
    """The spinning part of a motor that a body carries.

    Attributes
    ----------
    body : int
        Index of the carrier, -1 for the ground (whose axes are the world's).
    speed : int
        Index into qd of the joint that it drives.
    drive : int
        Index of its motor in `Tree.drives`.
    turning : ndarray (3,)
        G times the unit spin axis, in the axes of the carrier: its angular velocity relative to it per joint speed.
    inertia : float
        Jm about the spin axis.
    """

    body: int
    speed: int
    drive: int
    turning: FloatArray
    inertia: float

    @property
    def spin(self) -> FloatArray:
        """G Jm s (3,): its angular momentum relative to the carrier per joint speed."""
        return self.inertia * self.turning


@dataclass(frozen=True)
class Bodies:
    """The moving bodies, parents first, and where each link's frame and the tool sit on them.

    Attributes
    ----------
    bodies : tuple of Body
        In topological order.
    frames : tuple of (int, ndarray)
        For each link, the body that carries it (-1: the ground) and T_body_link (4, 4).
    tool : tuple of (int, ndarray)
        The same for the tool.
    rotors : tuple of Rotor
        The rotors whose spin the carrier feels; of the others only G^2 Jm on the joint is known.
    ground_rotors : tuple of Rotor
        Those that are carried by the ground: they have momentum, and load the link that is fixed there, if any.
    """

    bodies: tuple[Body, ...]
    frames: tuple[tuple[int, FloatArray], ...]
    tool: tuple[int, FloatArray]
    rotors: tuple[Rotor, ...] = ()
    ground_rotors: tuple[Rotor, ...] = ()

    def path(self, body: int) -> tuple[int, ...]:
        """Indices of the bodies from the ground to a body, itself included."""
        results: list[int] = []
        while body >= 0:
            results.append(body)
            body = self.bodies[body].parent
        return tuple(reversed(results))

    def regrouped(self) -> Bodies:
        """The same dynamics from fewer numbers: see `regrouped`."""
        return regrouped(self)


def regrouped(moving: Bodies) -> Bodies:
    """The same dynamics from fewer numbers: what a body cannot show is moved to its parent.

    Mass on the axis line of a revolute joint (m, m z and the integral of z^2) moves with the parent alike, and so does
    the whole pseudo-inertia block of a body that only slides, and the integral of z^2 of one that screws; joint efforts and
    kinetic energy stay exactly the same, while the forces between links do not. W. Khalil, E. Dombre, *Modeling,
    Identification and Control of Robots* (2002), section 9.4.

    These rules hold whatever the parent can do. Where its motions are few, less is felt: see
    `linkwise.dynamics.base_parameters.identifiability`.
    """
    inertias = [body.inertia.copy() for body in moving.bodies]
    for k in reversed(range(len(moving.bodies))):
        body = moving.bodies[k]
        moved = unseen(body, inertias[k])
        inertias[k] = inertias[k] - moved
        if body.parent >= 0:
            there = body.placement  # what moves to the parent is symmetric about z: any angle will do
            inertias[body.parent] = with_added(inertias[body.parent], there, moved)
    pairs = zip(moving.bodies, inertias, strict=True)
    return replace(moving, bodies=tuple(replace(body, inertia=inertia) for body, inertia in pairs))


def with_added(inertia: Array, t: Array, other: Array) -> Array:
    """The pseudo-inertia (4, 4) with another one added that is given in the frame to which T leads: X + T Y T'.

    It is exactly symmetric. What is left of numbers that cancel is made zero where it is no more than their rounding.
    """
    total = np.array(inertia + t @ other @ t.T)
    lower = np.tril_indices(4, -1)
    total[lower] = total.T[lower]
    if total.dtype == object:
        return total
    size = np.abs(inertia) + np.abs(t) @ np.abs(other) @ np.abs(t).T
    return np.where(np.abs(total) <= ROUNDINGS * np.finfo(np.float64).eps * size, 0.0, total)


def unseen(body: Body, inertia: FloatArray) -> FloatArray:
    """The part X (4, 4) of a pseudo-inertia that acts as if it were fixed to the parent: L X = 0, L the screw."""
    if body.joint is not None:
        return np.zeros((4, 4))
    (freedom,) = body.freedoms
    velocity = velocity_matrix(freedom.angular, freedom.linear)
    resting = np.array([not any_nonzero(column) for column in velocity.T])
    return np.where(np.outer(resting, resting), inertia, 0.0)
