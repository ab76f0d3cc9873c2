"""Reduction of a mechanism to its moving bodies, in frames that leave few constants.

Fixed links are merged into the body that carries them. The first body of a floating mechanism is its base, in the base's
own frame. Each other body's frame has z along its joint axis; where on that axis its origin lies, and how it is turned
about it, is free, and is chosen so that the constant placement of the next joint is Rx(alpha) Tx(a) wherever the geometry
allows it (the common normal: J. Denavit, R. S. Hartenberg, 1955; for trees W. Khalil, J. F. Kleinfinger, "A new geometric
notation for open and closed-loop robots", ICRA 1986). Algorithms that run over bodies therefore cost the same whatever form
the mechanism was described in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.model.body_frames import body_frames
from linkwise.model.inertia import Inertia
from linkwise.model.joints import Joint
from linkwise.model.stacks import Matrices, cleaned, on_stacks, stacked, with_added, without_rounding
from linkwise.model.symbolic import any_nonzero, has_symbols
from linkwise.model.tree import Tree
from linkwise.model.validation import frozen
from linkwise.spatial.matrix_method import pseudo_inertia
from linkwise.spatial.scalar import Array, FloatArray, cos_sin
from linkwise.spatial.transform import transform


@dataclass(frozen=True)
class Freedom:
    """One degree of freedom of a body on its parent: about and along an axis of the body's own frame.

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


def motion_of(freedoms: Iterable[Freedom], qd: Array) -> Array:
    """The motion (6,) of freedoms at the velocities qd (nv,) of the mechanism."""
    total = np.zeros(6)
    for freedom in freedoms:
        total = total + freedom.screw * qd[freedom.speed]
    return total


@dataclass(frozen=True)
class Body:
    """One moving body: ``T_parent_body = placement @ Rz(turn q + angle) @ Tz(pitch q)``, or ``placement @ J(q)``.

    Every joint with one constant screw is of the first form in a frame along its axis; the others keep their own J.

    Attributes
    ----------
    parent : int
        Index of the parent body, -1 for the ground (whose frame is the world frame).
    link : int
        The link whose joint moves it, of a joint with several parts also those before the last; -1 for the floating base.
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
    def nv(self) -> int:
        """Number of its velocities."""
        return 1 if self.joint is None else self.joint.nv

    @property
    def advances(self) -> bool:
        """True if the joint moves the body along z; a symbolic pitch counts."""
        return any_nonzero(self.pitch)

    def with_inertia(self, inertia: FloatArray) -> Body:
        """The same body with another pseudo-inertia; quicker than `dataclasses.replace`."""
        other = object.__new__(Body)
        other.__dict__.update(vars(self), inertia=inertia)
        return other

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

    def turned_motion(self, fixed: Array, q: Array) -> tuple[Array, Array]:
        """A rotation (3, 3) before the joint and the joint's own motion (4, 4), in as few operations as possible.

        A constant rotation that is more than an exchange of axes becomes part of the coordinates of a joint that has the
        placement after it too: a product of quaternions takes fewer operations than two rotations of a vector.
        """
        if self.joint is not None and fixed.dtype != object and np.count_nonzero(fixed) > 3:
            q_turned = self.joint.turned(fixed, self._of(q))
            if q_turned is not None:
                return np.eye(3), self.joint.placement(q_turned)
        return fixed, self.motion(q)

    def bias(self, q: Array, qd: Array) -> Array:
        """dS/dt qd (6,) at the coordinates q (nq,) and the velocities qd (nv,) of the mechanism."""
        return motion_of(self.rates_at(q, qd), qd)

    def _of(self, q: Array) -> Array:
        """The coordinates of the joint, without the offset of its link."""
        assert self.joint is not None
        return q[self.position : self.position + self.joint.nq] + self.angle

    def _columns(self, screws: Array) -> tuple[Freedom, ...]:
        return tuple(Freedom(self.speed + k, screw[:3], screw[3:]) for k, screw in enumerate(screws))


def cos_sin_of_sum(angle: Any, constant: Any) -> tuple[Any, Any]:
    """Cosine and sine of the sum of an angle and a constant; a constant quarter turn needs no arithmetic."""
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

    @property
    def constant_subspaces(self) -> bool:
        """True if all motion subspaces are constant."""
        return all(body.joint is None or body.joint.screws is not None for body in self.bodies)

    def path(self, body: int) -> tuple[int, ...]:
        """Indices of the bodies from the ground to a body, itself included."""
        results: list[int] = []
        while body >= 0:
            results.append(body)
            body = self.bodies[body].parent
        return tuple(reversed(results))

    def regrouped(self) -> Bodies:
        """Regroup inertias: parameters without effect on a body move to its parent, for equal dynamics with fewer numbers.

        Mass on the axis line of a revolute joint (m, m z and the integral of z^2) moves with the parent alike, and so does
        the whole pseudo-inertia block of a body that only slides, and the integral of z^2 of one that screws; joint efforts
        and kinetic energy stay exactly the same, while the forces between links do not. W. Khalil, E. Dombre, *Modeling,
        Identification and Control of Robots* (2002), section 9.4.

        These rules hold whatever the parent can do. Where its motions are few, fewer parameters count: see
        `linkwise.dynamics.base_parameters.identifiability`.
        """
        return self._regrouped

    @cached_property
    def _regrouped(self) -> Bodies:
        turning = all(body.joint is not None or (body.turn and not body.advances) for body in self.bodies)
        regroup = _regrouped_turning if self.bodies and turning else _regrouped_one_by_one
        pairs = zip(self.bodies, regroup(self.bodies), strict=True)
        return replace(self, bodies=tuple(body.with_inertia(inertia) for body, inertia in pairs))


def _regrouped_one_by_one(bodies: Sequence[Body]) -> list[Array]:
    inertias = [body.inertia.copy() for body in bodies]
    for k in reversed(range(len(bodies))):
        body = bodies[k]
        moved = unseen(body, inertias[k])
        inertias[k] = inertias[k] - moved
        if body.parent >= 0:
            there = body.placement  # the part moved to the parent is symmetric about z: any angle is valid
            inertias[body.parent] = with_added(inertias[body.parent], there, moved)
    return inertias


def _regrouped_turning(bodies: Sequence[Body]) -> list[Array]:
    """As `_regrouped_one_by_one` without sliding joints: three numbers of each body move on, all else is one sum."""
    inertias, placements = (stacked([getattr(body, name) for body in bodies]) for name in ("inertia", "placement"))
    if not (isinstance(inertias, np.ndarray) and isinstance(placements, np.ndarray)):
        return _regrouped_one_by_one(bodies)
    moments = inertias[:, (2, 2, 3), (2, 3, 3)].tolist()  # of each body the integral of z^2, m z and m
    parts, slopes = [], placements[:, 2, 2:].tolist()
    for k in reversed(range(len(bodies))):
        body = bodies[k]
        if body.parent >= 0 and (body.joint is None or body.joint.is_rotation):
            before, (a, p), (square, first, mass) = moments[body.parent], slopes[k], moments[k]
            if body.joint is not None:
                moments[k] = [square, first, mass] = [0.0, 0.0, mass]
            terms = ((square * a * a, 2.0 * first * a * p, mass * p * p), (first * a, mass * p), (mass,))
            moments[body.parent] = [without_rounding(x, *others) for x, others in zip(before, terms, strict=True)]
            parts.append(k)
    moved = np.zeros((len(parts), 4, 4))
    moved[:, (2, 2, 3), (2, 3, 3)] = np.reshape([moments[k] for k in parts], (-1, 3))
    moved[:, 3, 2] = moved[:, 2, 3]
    totals = _with_all(list(inertias), [bodies[k].parent for k in parts], placements[parts], moved)
    still = [RESTING[True, False] if body.joint is None else PIVOT & body.joint.is_rotation for body in bodies]
    return list(np.where(still, 0.0, np.array(totals)))


def unseen(body: Body, inertia: Array) -> Array:
    """The part X (4, 4) of a pseudo-inertia that acts as if it were fixed to the parent: L X = 0, L each screw."""
    if body.joint is not None:
        return np.where(PIVOT, inertia, 0.0) if body.joint.is_rotation else np.zeros((4, 4))
    return np.where(RESTING[bool(body.turn), body.advances], inertia, 0.0)


def _resting(turns: bool, advances: bool) -> Array:
    """Mask (4, 4) of pseudo-inertia elements in rows and columns that a screw about or along z leaves unchanged."""
    columns = [not turns, not turns, True, not advances]
    return np.outer(columns, columns)


#: The mass: all that the point about which a ball joint turns has of a body.
PIVOT = np.arange(16).reshape(4, 4) == 15

#: Zero elements of a regrouped body, by rotation and translation of its joint.
RESTING = {(turns, advances): _resting(turns, advances) for turns in (False, True) for advances in (False, True)}


def moving_bodies(tree: Tree) -> Bodies:
    """Reduce a mechanism to its moving bodies (see the module's text), each with an independent coordinate.

    They are computed once for a mechanism.
    """
    if tree.coupled:
        raise ArgumentError(f"joints of {tree.name!r} follow others; expected the mechanism coupling(tree).uncoupled")
    return tree.memo("model", "moving_bodies", lambda: _reduced(tree))


def _reduced(tree: Tree) -> Bodies:
    motions, placements, frames = body_frames(tree)
    body, t = frames[tree.tool_index]
    moving = Bodies((), tuple((body, frozen(t)) for body, t in frames), (body, frozen(cleaned(t @ tree.tool))))
    rows = zip(motions, placements, _inertias(tree, moving, len(motions)), strict=True)
    bodies = tuple(Body(*m[:6], frozen(t), m.angle, frozen(inertia), m.joint) for m, t, inertia in rows)
    return _with_rotors(tree, replace(moving, bodies=bodies))


def _inertias(tree: Tree, moving: Bodies, count: int) -> list[Array]:
    """The pseudo-inertia of each body: that of the links it carries, of their locked motors, and of the payload."""
    carried = [(frame, link.body) for frame, link in zip(moving.frames, tree.links, strict=True)]
    locked = [(carrier_frame(tree, moving, d.carrier), d.motor.locked) for d in tree.drives if d.carrier is not None]
    parts = [
        (body, t, inertia)
        for (body, t), inertia in [*carried, *locked, (moving.tool, tree.payload)]
        if body >= 0 and not inertia.is_zero
    ]
    pseudo = pseudo_inertias([inertia for _, _, inertia in parts])
    return _with_all([np.zeros((4, 4))] * count, [body for body, _, _ in parts], [t for _, t, _ in parts], pseudo)


def _with_all(inertias: Sequence[Array], bodies: Sequence[int], placements: Matrices, others: Matrices) -> list[Array]:
    """Pseudo-inertias of bodies with others added, each to one of them, where T_body_other leads."""
    results = list(inertias)
    turns: list[list[int]] = []
    taken: Counter[int] = Counter()
    for row, body in enumerate(bodies):  # (each body takes one in a turn, in their order)
        if taken[body] == len(turns):
            turns.append([])
        turns[taken[body]].append(row)
        taken[body] += 1
    for rows in turns:
        before = [results[bodies[row]] for row in rows]
        totals = on_stacks(with_added, before, [placements[row] for row in rows], [others[row] for row in rows])
        for row, total in zip(rows, totals, strict=True):
            results[bodies[row]] = total
    return results


def pseudo_inertias(inertias: Sequence[Inertia]) -> Matrices:
    """The pseudo-inertias (4, 4) of many links."""
    if not inertias or any(
        x.by_moments or has_symbols(x.mass) or has_symbols(x.com) or has_symbols(x.tensor) for x in inertias
    ):
        return [inertia.pseudo for inertia in inertias]
    columns = (np.array([getattr(x, name) for x in inertias], dtype=float) for name in ("mass", "com", "tensor"))
    return pseudo_inertia(*columns)


def carrier_frame(tree: Tree, bodies: Bodies, carrier: int) -> tuple[int, Array]:
    """The body that carries a link's frame, and T_body_link; carrier -1 is the base."""
    if carrier >= 0:
        return bodies.frames[carrier]
    return (0, np.eye(4)) if tree.floating else (-1, np.asarray(tree.base))


def _with_rotors(tree: Tree, bodies: Bodies) -> Bodies:
    rotors = []
    first = tree.nv - tree.n
    for k, drive in enumerate(tree.drives):
        if drive.carrier is not None:
            motor, (body, t) = drive.motor, carrier_frame(tree, bodies, drive.carrier)
            turning = motor.gear_ratio * (t[:3, :3] @ np.asarray(motor.axis))
            rotors.append(Rotor(body, first + drive.coordinate, k, turning, motor.inertia))
    moving, still = ([rotor for rotor in rotors if (rotor.body >= 0) is moves] for moves in (True, False))
    return replace(bodies, rotors=tuple(moving), ground_rotors=tuple(still))
