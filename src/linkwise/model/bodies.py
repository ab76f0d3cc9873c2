"""The moving bodies of a mechanism: what algorithms run over. See `linkwise.model.reduction` for how they are made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.model.regrouping import regrouped
from linkwise.spatial.scalar import FloatArray, cos_sin


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
    """One moving body: ``T_parent_body = placement @ Rz(angle) @ Tz(slide)``, or any rigid motion where it is free.

    Attributes
    ----------
    parent : int
        Index of the parent body, -1 for the ground (whose frame is the world frame).
    link : int
        The link whose joint moves it; -1 for the floating base.
    position, speed : int
        Index of its (first) coordinate in q, and of its (first) speed in qd.
    turns, slides : bool
        Whether the joint turns about z, slides along z; a screw does both.
    placement : ndarray (4, 4)
        Constant placement on the parent body.
    angle, pitch : float
        The joint's angle is q + angle where it turns; its advance is pitch q where it slides (1 for a prismatic joint).
    inertia : ndarray (4, 4)
        Pseudo-inertia J, integral of p p' dm, about the body's origin in its axes.
    free : bool
        Whether it is a floating base: seven coordinates (position, unit quaternion with the scalar first) and six speeds
        (velocity of the origin, angular velocity, both in its own axes).
    """

    parent: int
    link: int
    position: int
    speed: int
    turns: bool
    slides: bool
    placement: FloatArray
    angle: float
    pitch: float
    inertia: FloatArray
    free: bool = False

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """In what ways it may move: one, or six."""
        if self.free:
            zero, unit = np.zeros((3, 3)), np.eye(3)
            pairs = zip(np.concatenate([unit, zero]), np.concatenate([zero, unit]), strict=True)
            return tuple(Freedom(self.speed + k, linear, angular) for k, (linear, angular) in enumerate(pairs))
        z = np.array([0.0, 0.0, 1.0])
        return (Freedom(self.speed, z * (self.pitch if self.slides else 0.0), z * float(self.turns)),)

    def cos_sin(self, q: Any) -> tuple[Any, Any]:
        """Cosine and sine of the joint's angle at the coordinate q; a quarter turn is taken without arithmetic."""
        if isinstance(self.angle, Expr):
            return cos_sin(q + self.angle)
        quarter = round(self.angle / (math.pi / 2))
        if abs(self.angle - quarter * (math.pi / 2)) > 4 * math.ulp(max(abs(self.angle), 1.0)):
            return cos_sin(q + self.angle)
        c, s = cos_sin(q)
        return ((c, s), (-s, c), (-c, -s), (s, -c))[quarter % 4]


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
        found: list[int] = []
        while body >= 0:
            found.append(body)
            body = self.bodies[body].parent
        return tuple(reversed(found))

    def regrouped(self) -> Bodies:
        """The same dynamics from fewer numbers: see `linkwise.model.regrouping.regrouped`."""
        return regrouped(self)
