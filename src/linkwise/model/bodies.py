"""A mechanism reduced to what moves: one body per moving joint, in frames chosen so that few numbers remain.

Fixed links are merged into the body that carries them. The first body of a floating mechanism is its base, in the base's
own frame. Each other body's frame has z along its joint axis; where on that
axis its origin lies, and how it is turned about it, is free, and is chosen so that the constant placement of the next
joint is Rx(alpha) Tx(a) wherever the geometry allows it (the common normal: J. Denavit, R. S. Hartenberg, 1955; for
trees W. Khalil, J. F. Kleinfinger, "A new geometric notation for open and closed-loop robots", ICRA 1986). Algorithms
that run over bodies therefore cost the same whatever form the mechanism was described in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.matrix_method import pseudo_inertia
from linkwise.spatial.rotation import rotation_between, rotation_z
from linkwise.spatial.scalar import FloatArray, cos_sin
from linkwise.spatial.transform import inverse, transform, translation

TINY = 1e-15
"""Below this a computed direction cosine is rounding of zero."""

FAR = 3.0
"""How far along its axis a frame may be moved, in distances to the next joint: inertia there grows with the square."""


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
        Index of the carrier, -1 for the ground.
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
    """

    bodies: tuple[Body, ...]
    frames: tuple[tuple[int, FloatArray], ...]
    tool: tuple[int, FloatArray]
    rotors: tuple[Rotor, ...] = ()

    def path(self, body: int) -> tuple[int, ...]:
        """Indices of the bodies from the ground to a body, itself included."""
        found: list[int] = []
        while body >= 0:
            found.append(body)
            body = self.bodies[body].parent
        return tuple(reversed(found))

    def regrouped(self) -> Bodies:
        """The same dynamics from fewer numbers: what a body cannot show is moved to its parent.

        Mass on the axis line of a revolute joint (m, m z and the integral of z^2) moves with the parent alike, and so does
        the whole pseudo-inertia block of a body that only slides; joint efforts and kinetic energy stay exactly the same,
        while the forces between links do not. W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots* (2002),
        section 9.4.
        """
        inertias = [body.inertia.copy() for body in self.bodies]
        for k in reversed(range(len(self.bodies))):
            body = self.bodies[k]
            moved = _unseen(body, inertias[k])
            inertias[k] = inertias[k] - moved
            if body.parent >= 0:
                there = body.placement  # what moves to the parent is symmetric about z: any angle will do
                inertias[body.parent] = inertias[body.parent] + there @ moved @ there.T
        pairs = zip(self.bodies, inertias, strict=True)
        return replace(self, bodies=tuple(replace(body, inertia=inertia) for body, inertia in pairs))


def moving_bodies(tree: Tree) -> Bodies:
    """Reduce a mechanism to its moving bodies (see the module's text)."""
    joints, frames = _raw_bodies(tree)
    reframing = [_reframing(k, joints) for k in range(len(joints))]
    back = [np.asarray(inverse(g)) for g in reframing]
    made = []
    for joint, g in zip(joints, reframing, strict=True):
        pre = joint.placement if joint.parent < 0 else back[joint.parent] @ joint.placement
        made.append(_placed(joint, pre, g))
    moved = [(body, t if body < 0 else cleaned(back[body] @ t)) for body, t in frames]
    last, on_last = moved[len(tree.links) - 1]
    result = Bodies(tuple(made), tuple(moved), (last, cleaned(on_last @ tree.tool)))
    return _with_rotors(tree, _with_inertias(tree, result))


def cleaned(t: FloatArray) -> FloatArray:
    """A constant transform with the rounding of exact zeros and ones taken off its rotation."""
    made = np.array(t, dtype=float)
    block = made[:3, :3]
    block[np.abs(block) < TINY] = 0.0
    near_one = np.abs(np.abs(block) - 1.0) < TINY
    block[near_one] = np.round(block[near_one])
    size = max(1.0, float(np.abs(made[:3, 3]).max()))
    made[:3, 3][np.abs(made[:3, 3]) < TINY * size] = 0.0
    return made


def _raw_bodies(tree: Tree) -> tuple[list[Body], list[tuple[int, FloatArray]]]:
    """Bodies with frames as described, z along the joint axis: the placement of each, and of each link."""
    joints: list[Body] = []
    frames: dict[int, tuple[int, FloatArray]] = {-1: (-1, np.asarray(tree.base, dtype=float))}
    if tree.floating:
        joints.append(Body(-1, -1, 0, 0, True, True, frames[-1][1], 0.0, 1.0, np.zeros((4, 4)), free=True))
        frames[-1] = (0, np.eye(4))
    for k in tree.order:
        link, (body, t) = tree.links[k], frames[tree.parents[k]]
        if not link.moves:
            frames[k] = (body, t @ link.before @ link.after)
            continue
        upright = transform(rotation_between((0.0, 0.0, 1.0), link.axis), None)
        slides, turns = link.joint in {"prismatic", "screw"}, link.joint in {"revolute", "screw"}
        pitch = 1.0 if link.joint == "prismatic" else link.pitch
        shift = translation(0.0, 0.0, pitch * link.offset) if slides else np.eye(4)
        placement = cleaned(np.asarray(t @ link.before @ upright @ shift, dtype=float))
        angle = link.offset if turns else 0.0
        place, speed = tree.nq - tree.n + tree.coordinates[k], tree.nv - tree.n + tree.coordinates[k]
        joints.append(Body(body, k, place, speed, turns, slides, placement, angle, pitch, np.zeros((4, 4))))
        frames[k] = (len(joints) - 1, cleaned(np.asarray(upright.T @ link.after, dtype=float)))
    return joints, [frames[k] for k in range(len(tree.links))]


def _reframing(k: int, joints: list[Body]) -> FloatArray:
    """Rz(gamma) Tz(delta): from the frame of body k to one with x along the common normal to the next axis.

    Where the axes are so nearly parallel that the normal would be far away, lengths would cancel: then the frame stands
    beside the next joint, as for parallel axes.
    """
    child = next((joint for joint in joints if joint.parent == k), None)
    if child is None or joints[k].free:
        return np.eye(4)
    axis, origin = child.placement[:3, 2], child.placement[:3, 3]
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
    return cleaned(np.asarray(transform(rotation_z(gamma), (0.0, 0.0, delta)), dtype=float))


def _placed(joint: Body, pre: FloatArray, g: FloatArray) -> Body:
    """The body in its new frames: pre = C Rz(theta) Tz(d), then the motion, then g, all about and along one axis."""
    if joint.free:
        return joint
    gamma = math.atan2(g[1, 0], g[0, 0])
    theta = _free_angle(pre) if joint.turns else 0.0
    turned = np.asarray(transform(rotation_z(-theta), None), dtype=float)
    placement = cleaned(pre @ turned @ translation(0.0, 0.0, g[2, 3]))
    if joint.turns:
        return replace(joint, placement=placement, angle=_wrapped(joint.angle + theta + gamma))
    return replace(joint, placement=cleaned(placement @ transform(rotation_z(gamma), None)))


def _free_angle(pre: FloatArray) -> float:
    """The angle theta for which row 0 of the rotation pre Rz(-theta) has no y element, and its x element is not negative."""
    if math.hypot(pre[0, 0], pre[0, 1]) < 1e-9:
        return 0.0
    return math.atan2(-pre[0, 1], pre[0, 0])


def _wrapped(angle: float) -> float:
    return math.remainder(angle, 2 * math.pi)


def _with_inertias(tree: Tree, made: Bodies) -> Bodies:
    inertias = [np.zeros((4, 4)) for _ in made.bodies]
    carried = [(frame, link.body) for frame, link in zip(made.frames, tree.links, strict=True)]
    locked = [(_carrier_frame(tree, made, d.carrier), d.motor.locked) for d in tree.drives if d.carrier is not None]
    for (body, t), inertia in [*carried, *locked, (made.tool, tree.payload)]:
        if body >= 0 and not inertia.is_zero:
            local = np.asarray(pseudo_inertia(inertia.mass, inertia.com, inertia.tensor), dtype=float)
            inertias[body] = inertias[body] + t @ local @ t.T
    pairs = zip(made.bodies, inertias, strict=True)
    return replace(made, bodies=tuple(replace(body, inertia=inertia) for body, inertia in pairs))


def _carrier_frame(tree: Tree, made: Bodies, carrier: int) -> tuple[int, FloatArray]:
    """The body that carries a link's frame, and T_body_link; carrier -1 is the base."""
    if carrier >= 0:
        return made.frames[carrier]
    return (0, np.eye(4)) if tree.floating else (-1, np.asarray(tree.base, dtype=float))


def _with_rotors(tree: Tree, made: Bodies) -> Bodies:
    rotors = []
    for k, drive in enumerate(tree.drives):
        if drive.carrier is not None:
            motor, (body, t) = drive.motor, _carrier_frame(tree, made, drive.carrier)
            turning = motor.gear_ratio * (t[:3, :3] @ np.asarray(motor.axis))
            if body >= 0:
                rotors.append(Rotor(body, tree.nv - tree.n + drive.coordinate, k, turning, motor.inertia))
    return replace(made, rotors=tuple(rotors))


def _unseen(body: Body, inertia: FloatArray) -> FloatArray:
    """The part of a pseudo-inertia that acts as if it were fixed to the parent."""
    moved = np.zeros((4, 4))
    if body.free:
        return moved
    if body.turns and not body.slides:
        moved[2, 2], moved[3, 3] = inertia[2, 2], inertia[3, 3]
        moved[2, 3] = moved[3, 2] = inertia[2, 3]
    elif not body.turns:
        moved[:3, :3] = inertia[:3, :3]
    return moved
