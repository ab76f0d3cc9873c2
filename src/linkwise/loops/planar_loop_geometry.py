"""Planar loops recognised from the geometry of a mechanism, and the closed form of dyads.

Points, directions and rotations of the plane are pairs of scalars that multiply like complex numbers; a displacement is a
pair of them, (turn, shift), and takes x to turn x + shift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.loops.loop_solver import joints_in_loops
from linkwise.model.assembly import separated
from linkwise.model.loop import Loop
from linkwise.model.tree import Tree
from linkwise.solve.constraints.axis_alignment import basis
from linkwise.spatial.scalar import Array, FloatArray, atan2, cos_sin, root, select
from linkwise.spatial.transform import transform

#: A displacement of the plane: turn and shift, (2,) each.
Move = tuple[Array, Array]

STAY: Move = (np.array([1.0, 0.0]), np.zeros(2))

#: Relative tolerance of two links that just reach each other, for rounding.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Step:
    """One joint on the path around a loop, or a constant displacement.

    Attributes
    ----------
    coordinate : int
        Index of its coordinate; `PIN` for the joint that the loop itself is, `FIXED` for a constant displacement.
    sign : float
        By what a coordinate is multiplied to give the angle or the way in the plane, +1 or -1.
    translates : bool
        Whether it slides.
    place : ndarray (2,)
        The centre about which it turns, or the direction in which it slides, where all coordinates are zero.
    move : tuple of ndarray (2,)
        The displacement of a constant one.
    """

    coordinate: int
    sign: float = 1.0
    translates: bool = False
    place: Array = field(default_factory=lambda: np.zeros(2))
    move: Move = STAY

    def displacement(self, values: Mapping[int, Any]) -> Move:
        """The displacement at its coordinate."""
        if self.coordinate == FIXED:
            return self.move
        value = values[self.coordinate] * self.sign
        if self.translates:
            return STAY[0], self.place * value
        turn = np.array(cos_sin(value))
        return turn, self.place - times(turn, self.place)


PIN, FIXED = -1, -2


def times(a: Array, b: Array) -> Array:
    """The product of two pairs as complex numbers."""
    return np.array([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]])


def back(a: Array) -> Array:
    """The opposite rotation: the conjugate."""
    return np.array([a[0], -a[1]])


def dot(a: Array, b: Array) -> Any:
    """The product a . b."""
    return a[0] * b[0] + a[1] * b[1]


def across(a: Array, b: Array) -> Any:
    """Cross product of plane vectors, positive if b is to the left of a."""
    return a[0] * b[1] - a[1] * b[0]


def after(first: Move, second: Move) -> Move:
    """The product of two displacements, x to first(second(x))."""
    return times(first[0], second[0]), times(first[0], second[1]) + first[1]


def along(steps: Sequence[Step], values: Mapping[int, Any]) -> Move:
    """The product of the displacements of steps."""
    motion = STAY
    for step in steps:
        motion = after(motion, step.displacement(values))
    return motion


def arranged(steps: Sequence[Step], known: frozenset[int]) -> tuple[Step, ...]:
    """The same loop, rotated to begin at the unknown joint that gives the order of `close`.

    Where one of the three slides it is the third. Otherwise most of the known joints stand between the third and the first.
    """
    unknown = [k for k, step in enumerate(steps) if step.coordinate != FIXED and step.coordinate not in known]
    best, most = 0, -1
    for k in unknown:
        turned = (*steps[k:], *steps[:k])
        last = max(i for i, step in enumerate(turned) if step.coordinate != FIXED and step.coordinate not in known)
        driven = sum(step.coordinate in known for step in turned[last + 1 :])
        weight = driven + len(steps) * turned[last].translates
        if weight > most:
            best, most = k, weight
    return (*steps[best:], *steps[:best])


def close(steps: Sequence[Step], values: Mapping[int, Any], sign: float) -> dict[int, Any]:
    """Coordinates of the three unknown joints of an arranged loop.

    The product of all displacements is to be the identity: J(a) K1 J(b) K2 J(c) = G, with K1, K2 and G known. Where all
    three turn, the triangle of their centres A, B, C has known sides: the law of cosines gives the bend at B, and the sign
    chooses one of the two triangles, +1 the one in which the way A, B, C turns left. Where the third slides, B is where the
    circle about A meets the line on which it slides, +1 for the one of the two to which AB has a positive component along
    that line. (Two closures of a dyad: R. L. Norton, "Design of Machinery", position analysis.)

    Parameters
    ----------
    steps : sequence of Step
        As `arranged` gives them.
    values : mapping of int to scalar
        The known coordinates.
    sign : float
        +1 or -1.

    Returns
    -------
    dict of int to scalar
        Angles in (-pi, pi]; NaN where the links do not reach.
    """
    at = [k for k, step in enumerate(steps) if step.coordinate != FIXED and step.coordinate not in values]
    a, b, c = (steps[k] for k in at)
    first, second, remaining = (
        along(steps[i + 1 : j], values) for i, j in ((at[0], at[1]), (at[1], at[2]), (at[2], len(steps)))
    )
    p1, k1 = times(first[0], b.place) + first[1] - a.place, first[0]
    home = times(remaining[0], a.place) + remaining[1]
    whole = back(remaining[0])
    if c.translates:
        h = times(whole, times(back(second[0]), b.place - second[1]) - home)
        e = times(whole, c.place)
        short = _root(dot(p1, p1), across(e, h) * across(e, h))
        slid = dot(h, e) - sign * short
        turned_a = times(h - e * slid, back(p1))
        turned_b = times(back(times(turned_a, times(k1, second[0]))), whole)
        angles = {a: _angle(turned_a), b: _angle(turned_b), c: slid}
    else:
        p2 = times(second[0], c.place) + second[1] - b.place
        g = times(whole, c.place - home)
        cosine = (dot(g, g) - dot(p1, p1) - dot(p2, p2)) * 0.5
        bend = np.array([cosine, sign * _root(dot(p1, p1) * dot(p2, p2), cosine * cosine)])
        reach = times(p1, bend * (1.0 / dot(p1, p1)) + STAY[0])
        turned_a = times(g, back(reach))
        turned_b = times(times(bend, times(p1, back(k1))), back(p2))
        turned_c = times(back(times(times(turned_a, k1), times(turned_b, second[0]))), whole)
        angles = {a: _angle(turned_a), b: _angle(turned_b), c: _angle(turned_c)}
    return {step.coordinate: value * step.sign for step, value in angles.items() if step.coordinate != PIN}


def _angle(turn: Array) -> Any:
    return atan2(turn[1], turn[0])


def _root(square: Any, other: Any) -> Any:
    """The root of square - other, zero where rounding alone makes other the greater."""
    left = square - other
    return root(select(left, left, select(left + square * ROUNDING, 0.0, left)))


#: Tolerance of parallel axes, and of the distance of planes relative to the size of the loop.
CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Ring:
    """One loop in its plane, with zero coordinates as the reference of displacements.

    Attributes
    ----------
    named : str
        How messages call the loop.
    loop : Loop
        The loop.
    first, second : tuple of Step
        The joints on its two sides, from the link where they part outwards, each with its own sign.
    ends : tuple of ndarray (2,)
        Where the frames of the loop are.
    normal : ndarray (3,)
        Common axis of the joints, in the axes of the world, where all coordinates are zero.
    plane : ndarray (2, 3)
        The axes x and y of the plane, as rows; their origin is that of the base, as for `level`.
    size : float
        The extent of its joints, m.
    turn : ndarray (2,)
        For a full closure, the rotation from the second frame to the first.
    level : float
        How far the plane in which the frames meet is along the normal, m.
    """

    named: str
    loop: Loop
    first: tuple[Step, ...]
    second: tuple[Step, ...]
    ends: tuple[FloatArray, FloatArray]
    normal: FloatArray
    plane: FloatArray
    size: float
    turn: FloatArray
    level: float

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Indices of the coordinates of the loop."""
        return tuple(step.coordinate for step in (*self.first, *self.second))

    @property
    def steps(self) -> tuple[Step, ...]:
        """Joints and constant displacements around the loop, whose product is the identity if it is closed."""
        first_end, two = self.ends
        closing = (
            pinned(first_end, two)
            if self.loop.kind != "full"
            else (Step(FIXED, move=(self.turn, first_end - times(self.turn, two))),)
        )
        behind = [Step(step.coordinate, -step.sign, step.translates, step.place) for step in reversed(self.second)]
        return (*self.first, *closing, *behind)

    def placed(self, values: Any) -> dict[int, tuple[Array, Move]]:
        """Places of the joints: for each coordinate, and `PIN`, its centre and the displacement of its carrier."""
        places = {}
        for side in (self.first, self.second):
            for k, step in enumerate(side):
                move = along(side[:k], values)
                places[step.coordinate] = (times(move[0], step.place) + move[1], move)
        move = along(self.first, values)
        places[PIN] = (times(move[0], self.ends[0]) + move[1], move)
        return places


def pinned(end: Array, point: Array) -> tuple[Step, Step]:
    """Path from a point of one body over a pin to a point of another."""
    return Step(FIXED, move=(STAY[0], end - point)), Step(PIN, place=point)


@dataclass(frozen=True, eq=False)
class Dyad:
    """A ring with three unknown joints: the loop as `arranged`, and the three in their order."""

    ring: Ring
    steps: tuple[Step, ...]
    joints: tuple[Step, ...]

    def bend(self, values: Any) -> Any:
        """Sine of the angle at the second joint where the ring is closed: see `AssemblyModes.transmission`."""
        placed = self.ring.placed(values)
        (a, _), (b, _), (c, move) = (placed[joint.coordinate] for joint in self.joints)
        if self.joints[2].translates:
            return dot(b - a, times(move[0], self.joints[2].place)) / root(dot(b - a, b - a))
        return across(b - a, c - b) / root(dot(b - a, b - a) * dot(c - b, c - b))


def dyads_of(rings: Sequence[Ring], known: frozenset[int]) -> list[Dyad] | Ring:
    """Order of the rings in which each leaves three unknown joints; the first that never does, if there is one."""
    left, dyads = list(rings), []
    while left:
        ready = [dyad for ring in left if (dyad := _dyad(ring, known)) is not None]
        if not ready:
            return left[0]
        dyads.append(ready[0])
        left.remove(ready[0].ring)
        known = known | set(ready[0].ring.coordinates)
    return dyads


def _dyad(ring: Ring, known: frozenset[int]) -> Dyad | None:
    """The ring as a dyad; None unless three joints are to be found, one sliding at most, none at the place of the next."""
    steps = arranged(ring.steps, known)
    at = [k for k, step in enumerate(steps) if step.coordinate != FIXED and step.coordinate not in known]
    joints = tuple(steps[k] for k in at)
    if len(at) != 3 or sum(joint.translates for joint in joints) > 1:
        return None
    for i, j in (at[:2], at[1:]):
        between = steps[i + 1 : j]
        if all(step.coordinate == FIXED for step in between) and not steps[j].translates:
            arm = after(along(between, {}), (STAY[0], steps[j].place))[1] - steps[i].place
            if float(np.linalg.norm(arm)) <= CLOSE * ring.size:
                return None
    return Dyad(ring, steps, joints)


def planar_rings(tree: Tree) -> tuple[Ring, ...]:
    """Recognise every loop of a mechanism as planar.

    Raises
    ------
    ArgumentError
        Naming the loop, and what about it is not planar; where there is no loop, or joints follow others.
    """
    if not tree.loops:
        raise ArgumentError(f"{tree.name!r} has no loops")
    if tree.coupled:
        raise ArgumentError(f"joints of {tree.name!r} follow others; assembly modes are for joints with a coordinate each")
    for at in joints_in_loops(tree):
        raise ArgumentError(
            f"{tree.name!r} has the {at.joint.kind} joint {at.name!r} in a loop, which has a quaternion; assembly modes are"
            " of loops of joints whose velocities are the rates of their coordinates"
        )
    tree = separated(tree)
    at_origin = transform(tree.base[:3, :3], np.zeros(3))  # (a base far away would cost digits)
    frames = frames_at_zero(tree.replace(base=at_origin))
    return tuple(_ring(tree, frames, k, loop) for k, loop in enumerate(tree.loops))


def frames_at_zero(tree: Tree) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Joint frame of each link, and the link's own frame, at zero coordinates; the base is -1."""
    base = np.eye(4) if tree.floating else np.asarray(tree.base, dtype=float)
    frames = {-1: (base, base)}
    for k in tree.order:
        acts = frames[tree.parents[k]][1] @ tree.links[k].before
        frames[k] = (acts, np.asarray(acts @ tree.links[k].motion() @ tree.links[k].after, dtype=float))
    return frames


def _ring(tree: Tree, frames: dict[int, tuple[FloatArray, FloatArray]], number: int, loop: Loop) -> Ring:
    sides = [[] if name == "base" else [*tree.path(tree.link_index(name))] for name in (loop.first, loop.second)]
    while sides[0] and sides[1] and sides[0][0] == sides[1][0]:
        sides = [side[1:] for side in sides]
    sides = [[k for k in side if tree.links[k].moves] for side in sides]
    named = f"loop {loop.name!r}" if loop.name else f"loops[{number}]"
    axes = {k: _unit(frames[k][0][:3, :3] @ np.asarray(tree.links[k].axis, dtype=float)) for side in sides for k in side}
    turning = [k for k in axes if tree.links[k].joint_model.periodic]
    if not turning:
        _refuse(named, "has no joint that turns")
    normal = _upright(axes[turning[0]])
    for k, axis in axes.items():
        _check_joint(tree, named, k, axis, normal)
    plane = basis(normal).T[:2]
    ends = [
        frames[-1 if name == "base" else tree.link_index(name)][1] @ frame
        for name, frame in ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
    ]
    points = [*(frames[k][0][:3, 3] for k in axes), ends[0][:3, 3], ends[1][:3, 3]]
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    _check_ends(named, loop, ends, normal, size)
    steps = [tuple(_step(tree, frames, k, axes[k], normal, plane) for k in side) for side in sides]
    rotation = plane @ ends[0][:3, :3] @ ends[1][:3, :3].T @ plane[0]
    turn = rotation if loop.kind == "full" else np.array([1.0, 0.0])
    return Ring(
        named,
        loop,
        steps[0],
        steps[1],
        (plane @ ends[0][:3, 3], plane @ ends[1][:3, 3]),
        normal,
        plane,
        size,
        turn,
        float(ends[0][:3, 3] @ normal),
    )


def _unit(axis: FloatArray) -> FloatArray:
    return np.asarray(axis / np.linalg.norm(axis))


def _upright(axis: FloatArray) -> FloatArray:
    """The axis or its opposite: the one whose last nonzero component is positive."""
    last = [value for value in axis if abs(value) > CLOSE][-1]
    return np.asarray(axis if last > 0 else -axis)


def _check_joint(tree: Tree, named: str, k: int, axis: FloatArray, normal: FloatArray) -> None:
    joint, name = tree.links[k].joint_model, tree.links[k].coordinate_name
    if joint.periodic and float(np.linalg.norm(np.cross(axis, normal))) > CLOSE:
        _refuse(named, f"is not planar: the axis of {name!r} is not parallel to the others")
    if joint.is_length and abs(float(axis @ normal)) > CLOSE:
        _refuse(named, f"is not planar: {name!r} does not slide in the plane of the others")
    if not (joint.periodic or joint.is_length):
        _refuse(named, f"is not planar: {name!r} is a {joint.kind} joint")


def _check_ends(named: str, loop: Loop, ends: list[FloatArray], normal: FloatArray, size: float) -> None:
    apart = abs(float((ends[1][:3, 3] - ends[0][:3, 3]) @ normal))
    if apart > CLOSE * size:
        _refuse(named, f"can never be closed: its frames are {apart:.3g} m apart along the axes of the joints")
    leaning = float(np.linalg.norm(np.cross(ends[0][:3, 2], normal)))
    if loop.kind == "hinge" and leaning > CLOSE:
        _refuse(named, "is not planar: the z axis of its first frame is not parallel to the axes of the joints")
    rotation = ends[1][:3, :3].T @ ends[0][:3, :3]
    if loop.kind == "hinge" and float(rotation[2, 2]) < 1.0 - CLOSE:
        _refuse(named, "can never be closed: the z axes of its frames are not parallel")
    if loop.kind == "full" and float(np.linalg.norm(ends[1][:3, :3].T @ normal - ends[0][:3, :3].T @ normal)) > CLOSE:
        _refuse(named, "can never be closed: its frames are not turned about the axes of the joints alone")


def _step(
    tree: Tree,
    frames: dict[int, tuple[FloatArray, FloatArray]],
    k: int,
    axis: FloatArray,
    normal: FloatArray,
    plane: FloatArray,
) -> Step:
    coordinate = tree.nq - tree.n + tree.coordinates[k]
    if tree.links[k].joint_model.is_length:
        return Step(coordinate, 1.0, True, plane @ axis)
    return Step(coordinate, float(np.sign(axis @ normal)), False, plane @ frames[k][0][:3, 3])


def _refuse(named: str, why: str) -> NoReturn:
    raise ArgumentError(f"{named} {why}; assembly modes are known in closed form for planar loops")
