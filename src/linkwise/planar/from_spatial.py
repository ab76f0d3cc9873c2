"""A mechanism in space as a planar one, where all of it moves in parallel planes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, ModelError, Problem, choices
from linkwise.loops.planar_loop_geometry import frames_at_zero
from linkwise.model.assembly import separated
from linkwise.model.loop import Loop as SpatialLoop
from linkwise.planar.mechanism import Mechanism
from linkwise.planar.polygon import bar
from linkwise.planar.transforms import matrix, step
from linkwise.planar.tree import JOINTS, WORLD, Link, Loop, PlanarTree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, transform

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism as SpatialMechanism

#: Directions this near to parallel, or square to each other, are so: tables and files carry more digits than that.
FLAT = 1e-9

#: Width of a bar, as a part of the mean distance between joints on a link.
PART = 0.1

#: Lengths below this part of the mechanism's size, and angles, are 0: a few dozen roundings, for frames are brought from the
#: world into the body frames and back.
DUST = 4e-15


def from_spatial(mechanism: SpatialMechanism, polygons: Mapping[str, npt.ArrayLike] | str | None = None) -> Mechanism:
    """Make the planar mechanism of a spatial one whose links all move in parallel planes.

    Axes of revolute joints must be parallel and of one sense; they are the normal of the plane. Prismatic joints lie in it.
    x and y of a plane across the world's z are the world's; else x is the world's x, or its y where that is the normal, seen
    in the plane. Coordinates keep their names, order, limits and zero. Body frames are where the text has them, with the
    origin at the joint: where a link's own frame is elsewhere (standard DH rows) the body frame is another, and mass, centre
    of mass and moment of inertia are brought there. Gravity, motors and the tool have no place in a planar mechanism and are
    left out.

    Parameters
    ----------
    mechanism : Mechanism
        Spatial, of revolute, prismatic and fixed links, with loops or without.
    polygons : mapping of str to polygon or sequence of polygons, or "bars", optional
        Shapes by link, in the planar body frames; ``"bars"`` makes thin bars from each joint to the next ones. None by
        default: no shape is guessed.

    Returns
    -------
    Mechanism
        Planar; `Mechanism.spatial` leads back.

    Raises
    ------
    ModelError
        Where it is not planar: each link or loop, and why.
    ArgumentError
        Where polygons name a link that is not there.

    Examples
    --------
    >>> from linkwise import planar, robots
    >>> arm = planar.from_spatial(robots.planar_2r())
    >>> arm.links[1].a, arm.poses([0.3, 0.4])[1, :2, 2].round(3).tolist()
    (1.0, [0.955, 0.296])
    """
    mechanism.require_numbers("planar.from_spatial")
    mechanism = separated(mechanism)
    _check_kinds(mechanism)
    flattening = _Flattening(mechanism)
    links = [flattening.link(k) for k in range(len(mechanism.links))]
    loops = [flattening.loop(loop) for loop in mechanism.loops]
    if flattening.problems:
        raise ModelError(flattening.problems)
    whole = Mechanism(_freed(links), loops, mechanism.name)
    shapes = _shapes(whole, polygons)
    return whole.replace(links=[link.replace(polygons=shapes.get(str(link.name), ())) for link in whole.links])


class _Flattening:
    """Planar projection of every frame of a mechanism at zero coordinates; source of its links and loops."""

    def __init__(self, mechanism: SpatialMechanism) -> None:
        self.mechanism = mechanism
        self.problems: list[Problem] = []
        placed = frames_at_zero(mechanism)
        joints, frames = zip(*(placed[k] for k in range(len(mechanism.links))), strict=True)
        turn = inverse(plane_of(mechanism, joints))
        self.ground = turn @ mechanism.base
        self.joints = [turn @ pose for pose in joints]
        self.frames = [turn @ pose for pose in frames]
        self.dust = DUST * max(float(np.abs(pose[:3, 3]).max()) for pose in (*self.frames, self.ground))
        self.bodies = [self._body(k) for k in range(len(frames))]

    def _body(self, k: int) -> FloatArray:
        """The pose (4, 4), in the plane's frame, of the planar body frame of a link."""
        turning = self.mechanism.links[k].joint == "revolute"
        return flattened(self.joints[k] @ self.mechanism.links[k].motion(0.0) if turning else self.frames[k])

    def link(self, k: int) -> Link:
        """The planar link."""
        link, parent = self.mechanism.links[k], self.mechanism.parents[k]
        carrier = self.bodies[parent] if parent >= 0 else np.eye(4)
        to_body = inverse(self.bodies[k]) @ self.frames[k]
        com = to_body[:3, :3] @ link.body.com + to_body[:3, 3]
        fields: dict[str, Any] = {
            "name": link.name,
            "parent": WORLD if parent < 0 else self.mechanism.links[parent].name,
            "joint_name": link.joint_name,
            "limits": link.limits,
            "mass": link.body.mass,
            "com": com[:2] if link.body.mass else (0.0, 0.0),
            "inertia": float((to_body[:3, :3] @ link.body.tensor @ to_body[:3, :3].T)[2, 2]),
        }
        return Link(joint=link.joint, **self._placed(k, inverse(carrier)), **fields)

    def _placed(self, k: int, from_plane: FloatArray) -> dict[str, Any]:
        """The fields a, theta and at of a link, on the carrier that `from_plane` leads to."""
        link = self.mechanism.links[k]
        body = from_plane @ self.bodies[k]
        if link.joint == "prismatic":
            along = from_plane[:3, :3] @ self.joints[k][:3, :3] @ link.axis
            phi = float(np.arctan2(along[1], along[0]))
            start = body[:2, 3] - link.offset * along[:2]
            theta = _swept(angle_of(body) - phi, DUST)
            return {**self._simplest(start, phi, link.offset), "theta": theta}
        if link.joint == "fixed":
            return {**self._simplest(body[:2, 3], 0.0, 0.0), "theta": _swept(angle_of(body), DUST)}
        start = from_plane @ flattened(self.joints[k])
        return {**self._simplest(start[:2, 3], angle_of(start), 0.0), "theta": link.offset}

    def _simplest(self, at: FloatArray, phi: float, a: float) -> dict[str, Any]:
        """The text's own form if the joint is on the parent's x axis; else the general one."""
        x, y = self._point(at)
        phi = _swept(phi, DUST)
        return {"a": x + a} if y == 0.0 and phi == 0.0 else {"a": a, "at": (x, y, phi)}

    def _point(self, at: FloatArray) -> tuple[float, float]:
        """Coordinates x and y without dust."""
        return _swept(float(at[0]), self.dust), _swept(float(at[1]), self.dust)

    def loop(self, loop: SpatialLoop) -> Loop:
        """The planar loop; notes a problem where it cannot close in the plane."""
        (first, first_height), (second, second_height) = (
            self._end(*end) for end in ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
        )
        item = f"loop {loop.name!r}" if loop.name else "loop"
        apart = float(second_height - first_height)
        if abs(apart) > FLAT * max(1.0, float(np.abs([first[:3, 3], second[:3, 3]]).max())):
            self.problems.append(Problem(item, "second_frame", apart, "both ends in one plane; they are this far apart, m"))
        turned = first[:3, :3] @ second[:3, :3].T
        rigid: dict[str, Any] = {}
        axes = [end[:3, 2] * first[2, 2] for end in (first, second)]
        expected = "axes along the normal of the plane, of one sense"
        if loop.kind == "full":
            rigid = {"joint": "fixed", "angle": _swept(angle_of(transform(turned)), DUST)}
            axes, expected = [turned[:, 2]], "a turn in the plane"
        if loop.kind != "point" and max(float(np.linalg.norm(axis - np.eye(3)[2])) for axis in axes) > FLAT:
            self.problems.append(Problem(item, "second_frame", loop.second_frame.round(6).tolist(), expected))
        names = [WORLD if name == "base" else name for name in (loop.first, loop.second)]
        points = [self._point(end[:2, 3]) for end in (first, second)]
        return Loop(names[0], points[0], names[1], points[1], name=loop.name, **rigid)

    def _end(self, name: str, frame: FloatArray) -> tuple[FloatArray, float]:
        """A loop's frame in the planar body frame, and its height over the plane."""
        k = -1 if name == "base" else self.mechanism.link_index(name)
        pose = (self.ground if k < 0 else self.frames[k]) @ frame
        return pose if k < 0 else inverse(self.bodies[k]) @ pose, float(pose[2, 3])


def _swept(value: float, dust: float) -> float:
    """The value, or 0 where it is only rounding."""
    return 0.0 if abs(value) <= dust else value


def _check_kinds(mechanism: SpatialMechanism) -> None:
    """Reject features that a planar mechanism cannot represent."""
    problems = []
    for link in mechanism.links:
        if link.joint not in JOINTS:
            problems.append(Problem(f"link {link.name!r}", "joint", link.joint, "'revolute', 'prismatic' or 'fixed'"))
        if link.mimic is not None:
            problems.append(Problem(f"link {link.name!r}", "mimic", link.mimic, "None: each joint has its own coordinate"))
    if mechanism.floating:
        expected = "False; in the plane two sliding joints and a turning one free a link"
        problems.append(Problem(f"mechanism {mechanism.name!r}", "floating", True, expected))
    if not mechanism.payload.is_zero:
        expected = "nothing carried; with_payload() takes it off"
        problems.append(Problem(f"mechanism {mechanism.name!r}", "payload", mechanism.payload.mass, expected))
    if problems:
        raise ModelError(problems)


def _freed(links: list[Link]) -> list[Link]:
    """The links, each three that `spatial` makes of a free one as one again."""
    freed: list[Link] = []
    for k, link in enumerate(links):
        freed.append(link)
        three = links[max(0, k - 2) : k + 1]
        if _is_free(three) and all(sum(other.parent == slide.name for other in links) == 1 for slide in three[:2]):
            bounds = np.concatenate([part.bounds for part in three])
            limits = bounds if np.isfinite(bounds).any() else None
            freed[-3:] = [link.replace(joint="free", joint_name=None, parent=WORLD, limits=limits)]
    return freed


def _is_free(three: list[Link]) -> bool:
    """True if three links slide along x, along y and rotate, by the names of `spatial`, without mass in between."""
    if len(three) < 3 or [link.joint for link in three] != ["prismatic", "prismatic", "revolute"]:
        return False
    x, y, body = three
    named = [x.name, y.name] == [f"{body.name}.x", f"{body.name}.y"] and [y.parent, body.parent] == [x.name, y.name]
    plain = x.parent == WORLD and not any(link.mass or link.inertia for link in (x, y))
    right = y.at[2] == np.pi / 2 and y.at[:2] == (0.0, 0.0) and y.theta == -np.pi / 2
    return named and plain and right and not any((x.a, x.theta, *x.at, y.a, body.a, body.theta, *body.at))


def _shapes(mechanism: Mechanism, polygons: Any) -> dict[str, Any]:
    """Polygons by link."""
    if polygons is None:
        return {}
    if isinstance(polygons, str) and polygons == "bars":
        return dict(bars(mechanism))
    if not isinstance(polygons, Mapping):
        raise ArgumentError(f"polygons is {polygons!r}; expected a mapping by link, 'bars' or None")
    unknown = [name for name in polygons if name not in mechanism.link_names]
    if unknown:
        raise ArgumentError(f"polygons has {choices(unknown)}, no link; there is {choices(mechanism.link_names)}")
    return dict(polygons)


# ── the plane ─────────────────────────────────────────────────────────────────────────────────────


def plane_of(mechanism: SpatialMechanism, joints: Sequence[FloatArray]) -> FloatArray:
    """Frame (4, 4) at the world's origin whose z axis is the plane's normal.

    Raises
    ------
    ModelError
        Where there is no such plane: the links that move out of it.
    """
    axes = {k: joints[k][:3, :3] @ link.axis for k, link in enumerate(mechanism.links) if link.moves}
    turning = [k for k in axes if not mechanism.links[k].joint_model.is_length]
    normal = axes[turning[0]] if turning else next(_normals([*axes.values()]))
    problems = []
    for k, axis in axes.items():
        if k in turning and np.linalg.norm(axis - normal) > FLAT:
            first = mechanism.links[turning[0]].name
            expected = f"that of {first!r}, {_row(normal)}, at the zero position: all parallel, and of one sense"
            problems.append(Problem(f"link {mechanism.links[k].name!r}", "axis", _row(axis), expected))
        elif k not in turning and abs(axis @ normal) > FLAT:
            expected = f"in the plane across {_row(normal)}, at the zero position"
            problems.append(Problem(f"link {mechanism.links[k].name!r}", "axis", _row(axis), expected))
    if problems:
        raise ModelError(problems)
    return transform(_axes(normal))


def flattened(pose: FloatArray) -> FloatArray:
    """The frame in the plane z = 0 at the same x and y, with the x axis of a frame as seen there, or its y axis."""
    seen = next(k for k in range(3) if np.hypot(*pose[:2, k]) > 0.5)
    x, y = pose[:2, seen] / np.hypot(*pose[:2, seen])
    if pose[2, 2] > 0.5 and seen == 0 and abs(pose[2, 0]) < FLAT:
        x, y = pose[0, 0], pose[1, 0]  # (unchanged: a right angle in a table stays one)
    turned = np.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]])
    return transform(turned, [pose[0, 3], pose[1, 3], 0.0])


def angle_of(pose: FloatArray) -> float:
    """The angle (rad) about z by which a frame in the plane is turned."""
    return float(np.arctan2(pose[1, 0] + 0.0, pose[0, 0]))


def _axes(normal: FloatArray) -> FloatArray:
    """Rotation (3, 3) whose z is the normal and whose x is the world's x, projected to the plane, or its y."""
    near = np.round(normal)
    z = near if np.linalg.norm(normal - near) <= FLAT else normal
    start = np.eye(3)[0 if abs(z[0]) < 1.0 - FLAT else 1]
    x = start - z * (start @ z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _normals(axes: list[FloatArray]) -> Iterator[FloatArray]:
    """Yield candidates for the normal of a plane with these directions: z, y or x of the world, else a cross product."""
    for candidate in np.eye(3)[::-1]:
        if all(abs(axis @ candidate) <= FLAT for axis in axes):
            yield candidate
    for a, b in combinations(axes, 2):
        across = np.cross(a, b)
        if np.linalg.norm(across) > FLAT:
            yield across / np.linalg.norm(across)
    across = np.cross(axes[0], np.eye(3)[int(np.argmin(np.abs(axes[0])))])
    yield across / np.linalg.norm(across)


def _row(vector: FloatArray) -> list[float]:
    return [float(value) for value in vector.round(6) + 0.0]


# ── shapes for links that have none ───────────────────────────────────────────────────────────────


def bars(mechanism: PlanarTree) -> dict[str, tuple[FloatArray, ...]]:
    """Polygons by link: a bar from its origin to the joint of each child, at coordinates 0, and to each pin of a loop.

    Parameters
    ----------
    mechanism : Mechanism
        Without symbols.

    Returns
    -------
    dict
        Nothing for a link on which there is no second joint.

    Examples
    --------
    >>> from linkwise import planar
    >>> {name: len(shapes) for name, shapes in bars(planar.Mechanism([planar.Link(), planar.Link(a=1.0)])).items()}
    {'link1': 1, 'link2': 0}
    """
    ends: dict[str, list[FloatArray]] = {str(link.name): [] for link in mechanism.links}
    for k, link in enumerate(mechanism.links):
        if mechanism.parents[k] >= 0:
            x, y, _ = step(link, [0.0] * len(link.coordinate_names))
            ends[str(mechanism.links[mechanism.parents[k]].name)].append(np.array([x, y]))
    for loop in mechanism.loops:
        for name, point in ((loop.first, loop.first_point), (loop.second, loop.second_point)):
            if name in ends:
                ends[name].append(point)
    apart = {name: _apart(several) for name, several in ends.items()}
    reaches = [float(np.hypot(*end)) for several in apart.values() for end in several]
    width = PART * float(np.mean(reaches)) if reaches else 0.0

    def bar_to(end: FloatArray) -> FloatArray:
        turn = matrix((0.0, 0.0, float(np.arctan2(end[1], end[0]))))[:2, :2].astype(np.float64)
        return bar(float(np.hypot(*end)), width) @ turn.T

    return {name: tuple(map(bar_to, several)) for name, several in apart.items()}


def _apart(ends: list[FloatArray]) -> list[FloatArray]:
    """The points that are neither the origin nor, but for rounding, one before: several joints may be on one pin."""
    kept = [np.zeros(2)]
    near = 1e-12 * max((float(np.hypot(*end)) for end in ends), default=0.0)
    for end in ends:
        if all(np.hypot(*(end - other)) > near for other in kept):
            kept.append(end)
    return kept[1:]
