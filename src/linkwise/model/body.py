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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.model.joints import Joint
from linkwise.model.symbolic import any_nonzero, has_symbols
from linkwise.model.tree import Tree
from linkwise.spatial.matrix_method import velocity_matrix
from linkwise.spatial.rotation import rotation_between, rotation_z
from linkwise.spatial.scalar import Array, FloatArray, array, cos_sin
from linkwise.spatial.transform import inverse, transform, translation

#: Units in the last place of the numbers added up, for the three additions of an element of X + T Y T' and its products.
ROUNDINGS = 4.0


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
        """Whether the joint moves the body along z, as far as that is known whatever the values of symbols."""
        return any_nonzero(self.pitch)

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

    @property
    def constant_subspaces(self) -> bool:
        """Whether no motion subspace depends on coordinates."""
        return all(body.joint is None or body.joint.screws is not None for body in self.bodies)

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

    These rules hold whatever the parent can do. Where its motions are few, fewer parameters count: see
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


#: Below this a computed direction cosine is rounding of zero.
TINY = 1e-15

#: With symbols for lengths, axes that are nearer to parallel than this are not brought to their common normal.
SYMBOLIC_SINE = 1e-3

#: How far along its axis a frame may be moved, in distances to the next joint: inertia there grows with the square.
FAR = 3.0


def moving_bodies(tree: Tree) -> Bodies:
    """Reduce a mechanism to its moving bodies (see the module's text), each with a coordinate of its own."""
    if tree.coupled:
        raise ArgumentError(f"joints of {tree.name!r} follow others; expected the mechanism coupling(tree).uncoupled")
    joints, frames = _raw_bodies(tree)
    reframing = [_reframing(k, joints) for k in range(len(joints))]
    back = [np.asarray(inverse(g)) for g in reframing]
    results = []
    for joint, g in zip(joints, reframing, strict=True):
        pre = joint.placement if joint.parent < 0 else back[joint.parent] @ joint.placement
        results.append(_placed(joint, pre, g))
    moved = [(body, t if body < 0 else cleaned(back[body] @ t)) for body, t in frames]
    body, on_body = moved[tree.tool_index]
    result = Bodies(tuple(results), tuple(moved), (body, cleaned(on_body @ tree.tool)))
    return _with_rotors(tree, _with_inertias(tree, result))


def cleaned(t: FloatArray) -> FloatArray:
    """A constant transform with the rounding of exact zeros and ones taken off its rotation."""
    if t.dtype == object:
        return _cleaned_numbers(t)
    result = np.array(t, dtype=float)
    block = result[:3, :3]
    block[np.abs(block) < TINY] = 0.0
    near_one = np.abs(np.abs(block) - 1.0) < TINY
    block[near_one] = np.round(block[near_one])
    size = max(1.0, float(np.abs(result[:3, 3]).max()))
    result[:3, 3][np.abs(result[:3, 3]) < TINY * size] = 0.0
    return result


def _cleaned_numbers(t: Array) -> Array:
    """The same where expressions are among the elements: the numbers beside them are cleaned."""
    result, numeric = t.copy(), [not isinstance(value, Expr) for value in t.flat]
    plain = np.where(np.reshape(numeric, t.shape), t, 0.0).astype(np.float64)
    kept = cleaned(plain)
    for place in np.ndindex(t.shape):
        if not isinstance(result[place], Expr):
            result[place] = float(kept[place])
    return array(result)


def _raw_bodies(tree: Tree) -> tuple[list[Body], list[tuple[int, FloatArray]]]:
    """Bodies with frames as described, z along the joint axis: the placement of each, and of each link."""
    joints: list[Body] = []
    frames: dict[int, tuple[int, FloatArray]] = {-1: (-1, np.asarray(tree.base))}
    free = {at.link: at for at in tree.manifold_joints}
    if tree.floating:
        joints.append(_body_of(free[-1].joint, -1, -1, (0, 0), frames[-1][1], 0.0))
        frames[-1] = (0, np.eye(4))
    for k in tree.order:
        link, (body, t) = tree.links[k], frames[tree.parents[k]]
        t, parts = np.asarray(t @ link.before), link.joint_model.parts
        if parts is None:
            at = (free[k].q.start, free[k].v.start) if k in free else _joint_places(tree, k)
            joints.append(_body_of(link.joint_model, body, k, at, cleaned(t), link.offset))
            body, t = len(joints) - 1, np.eye(4)
        for i, part in enumerate(parts or ()):
            place, speed = _joint_places(tree, k)
            upright = transform(rotation_between((0.0, 0.0, 1.0), part.axis), None)
            offset = link.offset if len(link.coordinate_names) == 1 else 0.0
            shift = translation(0.0, 0.0, part.advance * offset) if any_nonzero(part.advance) else np.eye(4)
            angle = offset if part.turn else 0.0
            placement = cleaned(np.asarray(t @ upright @ shift))
            none = np.zeros((4, 4))
            joints.append(Body(body, k, place + i, speed + i, part.turn, part.advance, placement, angle, none))
            body, t = len(joints) - 1, np.asarray(upright.T)
        frames[k] = (body, cleaned(np.asarray(t @ link.after)) if parts else np.asarray(t @ link.after))
    return joints, [frames[k] for k in range(len(tree.links))]


def _joint_places(tree: Tree, link: int) -> tuple[int, int]:
    """Where the (first) joint coordinate of a link stands in q and in qd."""
    return tree.nq - tree.n + tree.coordinates[link], tree.nv - tree.n + tree.coordinates[link]


def _body_of(joint: Joint, parent: int, link: int, at: tuple[int, int], placement: FloatArray, offset: Any) -> Body:
    """The body of a joint that is not of the first form."""
    return Body(parent, link, *at, 0.0, 0.0, placement, offset, np.zeros((4, 4)), joint)


def _reframing(k: int, joints: list[Body]) -> FloatArray:
    """Rz(gamma) Tz(delta): from the frame of body k to one with x along the common normal to the next axis.

    Where the axes are so nearly parallel that the normal would be far away, lengths would cancel: then the frame stands
    beside the next joint, as for parallel axes.
    """
    child = next((joint for joint in joints if joint.parent == k), None)
    if child is None or joints[k].joint is not None:
        return np.eye(4)
    axis, origin = child.placement[:3, 2], child.placement[:3, 3]
    if has_symbols(child.placement):
        return _reframing_of_symbols(axis, origin)
    normal, delta = origin[:2], origin[2]
    sine = math.hypot(axis[0], axis[1])
    if sine > 1e-9:
        foot = origin[2] - axis[2] * float(axis[:2] @ origin[:2]) / sine**2
        if abs(foot) <= FAR * float(np.linalg.norm(origin)):
            normal, delta = np.array([-axis[1], axis[0]]) / sine, foot
    if float(np.hypot(*normal)) < 1e-9:
        return np.eye(4)
    if normal[0] < -TINY or (abs(normal[0]) <= TINY and normal[1] < 0):
        normal = -normal
    gamma = math.atan2(normal[1], normal[0])
    return cleaned(np.asarray(transform(rotation_z(gamma), (0.0, 0.0, delta))))


def _reframing_of_symbols(axis: Array, origin: Array) -> FloatArray:
    """The same as far as it is known whatever the values of the symbols: else the frame stays as it was described."""
    gamma, delta = 0.0, origin[2]
    if has_symbols(axis):
        if any_nonzero(axis[0]) or any_nonzero(origin[1]):
            return np.eye(4)  # a DH row has neither: its frame stands on the common normal already
    elif math.hypot(axis[0], axis[1]) > SYMBOLIC_SINE:
        sine = math.hypot(axis[0], axis[1])
        gamma = math.atan2(axis[0], -axis[1])
        gamma = gamma - math.copysign(math.pi, gamma) if abs(gamma) > math.pi / 2 else gamma
        delta = origin[2] - (axis[2] / sine**2) * (axis[:2] @ origin[:2])
    elif not any_nonzero(origin[0]) and any_nonzero(origin[1]):
        gamma = math.pi / 2
    elif any_nonzero(origin[1]):
        return np.eye(4)
    return cleaned(np.asarray(transform(rotation_z(gamma), (0.0, 0.0, delta))))


def _placed(joint: Body, pre: FloatArray, g: FloatArray) -> Body:
    """The body in its new frames: pre = C Rz(theta) Tz(d), then the motion, then g, all about and along one axis."""
    if joint.joint is not None:
        return replace(joint, placement=cleaned(pre))
    gamma = math.atan2(g[1, 0], g[0, 0])
    theta = _free_angle(pre) if joint.turn else 0.0
    turned = np.asarray(transform(rotation_z(-theta), None))
    placement = cleaned(pre @ turned @ translation(0.0, 0.0, g[2, 3]))
    if joint.turn:
        return replace(joint, placement=placement, angle=_wrapped(joint.angle + theta + gamma))
    return replace(joint, placement=cleaned(placement @ transform(rotation_z(gamma), None)))


def _free_angle(pre: FloatArray) -> float:
    """The angle theta for which row 0 of the rotation pre Rz(-theta) has no y element, and its x element is not negative."""
    if has_symbols(pre[0, 0]) or has_symbols(pre[0, 1]) or math.hypot(pre[0, 0], pre[0, 1]) < 1e-9:
        return 0.0
    return math.atan2(-pre[0, 1], pre[0, 0])


def _wrapped(angle: float) -> float:
    return angle if has_symbols(angle) else math.remainder(angle, 2 * math.pi)


def _with_inertias(tree: Tree, moving: Bodies) -> Bodies:
    inertias = [np.zeros((4, 4)) for _ in moving.bodies]
    carried = [(frame, link.body) for frame, link in zip(moving.frames, tree.links, strict=True)]
    locked = [(carrier_frame(tree, moving, d.carrier), d.motor.locked) for d in tree.drives if d.carrier is not None]
    for (body, t), inertia in [*carried, *locked, (moving.tool, tree.payload)]:
        if body >= 0 and not inertia.is_zero:
            inertias[body] = with_added(inertias[body], t, inertia.pseudo)
    pairs = zip(moving.bodies, inertias, strict=True)
    return replace(moving, bodies=tuple(replace(body, inertia=inertia) for body, inertia in pairs))


def carrier_frame(tree: Tree, bodies: Bodies, carrier: int) -> tuple[int, FloatArray]:
    """The body that carries a link's frame, and T_body_link; carrier -1 is the base."""
    if carrier >= 0:
        return bodies.frames[carrier]
    return (0, np.eye(4)) if tree.floating else (-1, np.asarray(tree.base))


def _with_rotors(tree: Tree, bodies: Bodies) -> Bodies:
    rotors = []
    for k, drive in enumerate(tree.drives):
        if drive.carrier is not None:
            motor, (body, t) = drive.motor, carrier_frame(tree, bodies, drive.carrier)
            turning = motor.gear_ratio * (t[:3, :3] @ np.asarray(motor.axis))
            rotors.append(Rotor(body, tree.nv - tree.n + drive.coordinate, k, turning, motor.inertia))
    moving, still = ([rotor for rotor in rotors if (rotor.body >= 0) is moves] for moves in (True, False))
    return replace(bodies, rotors=tuple(moving), ground_rotors=tuple(still))
