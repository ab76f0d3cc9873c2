"""The picture of a planar mechanism: polygons, joints, body frames, the ground."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.formatting.table import plain
from linkwise.planar import drawing_symbols as symbols
from linkwise.planar.clearance import clearance
from linkwise.planar.polygon import obstacle_polygons
from linkwise.planar.transforms import evaluated, place_polygons, step
from linkwise.planar.tree import WORLD, Link, PlanarTree, finite
from linkwise.plot.figure import colour, figure, legend, literal
from linkwise.spatial.rotation import rotation_z
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform
from linkwise.view.drawing.render import draw_nearest
from linkwise.view.scene.obstacles import NearestPoints
from linkwise.view.scene.scene import Primitive, rgb
from linkwise.view.scene.tessellation import Surface

#: Radius of a pin, length of a frame's axes, and the room about a picture, as shares of its size.
PIN, FRAME, EDGE = 0.013, 0.105, 0.06

#: Longer side of a picture's axes, inches.
LONGEST = 6.2


def draw(
    mechanism: PlanarTree,
    configuration: Any,
    *,
    obstacles: Mapping[str, Any] | list[Any] | tuple[Any, ...] = (),
    frames: bool = True,
    names: bool = True,
    into: Any = None,
) -> Any:
    """Draw a planar mechanism in one configuration.

    A circle is a revolute joint, with a dot where it closes a loop; a slot with a block is a prismatic one; a black square
    joins what is fixed to each other. Links fixed to the ground are hatched; a joint to the ground stands on hatched ground.

    Parameters
    ----------
    mechanism : linkwise.planar.Mechanism
        Chain, tree or with loops.
    configuration : (nq,) array_like
        Coordinates, rad or m.
    obstacles : mapping of str to polygon, or sequence of polygons
        Simple polygons (m, 2) in world axes, m; drawn dark grey. Where Shapely is installed (extra ``planar``), red lines
        join the nearest points of the three pairs of `linkwise.planar.clearance` that are nearest to each other.
    frames : bool
        Whether to draw the body frames, with the number of the link, counted from 1.
    names : bool
        Whether to name the links, in a legend.
    into : matplotlib.figure.Figure, optional
        An empty figure to draw into; a new one by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        Where the configuration is not nq finite numbers.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper"), planar.Link(bar, a=1.0, name="lower")])
    >>> picture = draw(arm, [0.5, -1.0])
    >>> picture.axes[0].get_xlabel()
    'x [m]'
    """
    q = one(mechanism, configuration)
    polygons = obstacle_polygons(obstacles)
    low, high = bounds(mechanism, q[None], polygons)
    width, height = LONGEST * (high - low) / (high - low).max()
    picture = figure(max(width, 2.4) + (2.2 if names else 0.8), max(height, 2.0) + 0.8) if into is None else into
    axes = picture.add_subplot()
    workspace(axes, low, high)
    for polygon in polygons.values():
        symbols.obstacle(axes, polygon)
    on(axes, mechanism, q, float((high - low).max()), frames=frames)
    if polygons and importlib.util.find_spec("shapely"):
        result = clearance(mechanism, q, polygons)
        draw_nearest(axes, NearestPoints.of(result.points, result.distance, result.pairs))
    literal(axes.set_title(" ", fontsize=11), plain(mechanism.name))
    if names:
        name_links(picture, mechanism, polygons)
    return settled(picture, into)


def settled(picture: Any, into: Any) -> Any:
    """Lay out our own figure once: the first layout is of axes without their final shape."""
    if into is None:
        picture.get_layout_engine().execute(picture)
    return picture


def one(mechanism: PlanarTree, configuration: Any) -> FloatArray:
    """Read one configuration (nq,)."""
    mechanism.require_numbers("a picture")
    q = finite(mechanism, configuration)
    if q.ndim != 1:
        raise ArgumentError(f"configuration has the shape {q.shape}; expected ({mechanism.nq},), for one picture")
    return q


def workspace(axes: Any, low: FloatArray, high: FloatArray) -> None:
    """Make axes of the plane, in m, with one scale."""
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x [m]", ylabel="y [m]")
    axes.set_aspect("equal")
    axes.grid(visible=True, color="0.92", linewidth=0.7)
    axes.set_axisbelow(True)


def bounds(mechanism: PlanarTree, q: FloatArray, obstacles: Mapping[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Corners (2,), (2,) of the part of the plane that shows the mechanism in configurations (N, nq) and the obstacles."""
    poses = evaluated(mechanism, "poses", q)
    placed = [np.asarray(polygon).reshape(-1, 2) for link in place_polygons(mechanism, q) for polygon in link]
    points = np.concatenate([*placed, poses[..., :2, 2].reshape(-1, 2), *obstacles.values()])
    size = float(np.ptp(points, axis=0).max()) or 1.0
    axes = poses[..., :2, 2, None] + 1.35 * FRAME * size * poses[..., :2, :2]  # with their labels
    points = np.concatenate([points, axes.swapaxes(-1, -2).reshape(-1, 2)])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 0.12 * size) + EDGE * size
    return middle - half, middle + half


def _frame_length(mechanism: PlanarTree, q: FloatArray, size: float) -> float:
    """Length of the axes of the frames, m: shorter where the joints are close to each other."""
    offsets = evaluated(mechanism, "transforms", q)[:, :2, 2]
    apart = np.hypot(offsets[:, 0], offsets[:, 1])
    apart = apart[apart > 0.02 * size]
    return min(FRAME * size, max(0.04 * size, 0.55 * float(np.median(apart)))) if apart.size else FRAME * size


def on(
    axes: Any,
    mechanism: PlanarTree,
    q: FloatArray,
    size: float,
    *,
    frames: bool = True,
    faint: bool = False,
    fill: str | None = None,
) -> None:
    """Draw a mechanism at q (nq,) into axes that show a part of the plane ``size`` m wide.

    Faint: its bodies only. With ``fill`` all its bodies have that one colour, else each its own.
    """
    poses = dict(enumerate(evaluated(mechanism, "poses", q)))
    links = [primitive for k in poses for primitive in link_primitives(mechanism, k, fill)]
    if faint:
        paint(axes, [primitive for primitive in links if primitive.kind == "polygon"], poses, PIN * size, faint=True)
        return
    paint(axes, [*links, *ground_primitives(mechanism), *loop_primitives(mechanism)], poses, PIN * size)
    length = _frame_length(mechanism, q, size)
    for k, pose in poses.items() if frames else ():
        symbols.frame(axes, pose, length, str(k + 1))


# ── the scene ─────────────────────────────────────────────────────────────────────────────────────


def paint(
    axes: Any, primitives: Iterable[Primitive], poses: Mapping[int, FloatArray], radius: float, *, faint: bool = False
) -> None:
    """Draw primitives in the plane z = 0, seen along z, at the poses (3, 3) of the links.

    All signs are sized by the radius of a pin, m. Faint: only a trace is drawn.
    """
    for primitive in primitives:
        place = poses.get(primitive.link, np.eye(3)) @ primitive.frame[np.ix_([0, 1, 3], [0, 1, 3])]
        if primitive.surface is not None:
            corners, hatched = moved(primitive.surface.vertices[:, :2], place), primitive.role == "ground"
            symbols.body(axes, corners, primitive.colour, hatched=hatched, faint=faint)
        else:
            SIGNS[primitive.kind](axes, place[:2, 2], math.atan2(place[1, 0], place[0, 0]), radius)


def moved(points: FloatArray, pose: FloatArray) -> FloatArray:
    """Points (m, 2) of a body at a pose (3, 3)."""
    return np.asarray(points @ pose[:2, :2].T + pose[:2, 2])


#: The sign of each kind of joint, of the ground below one, and of a closed loop.
SIGNS: dict[str, Callable[[Any, FloatArray, float, float], None]] = {
    "revolute": lambda axes, at, _, radius: symbols.pin(axes, at, radius),
    "prismatic": symbols.slot,
    "fixed": lambda axes, at, _, radius: symbols.weld(axes, at, radius),
    "foot": symbols.ground,
    "loop": lambda axes, at, _, radius: symbols.pin(axes, at, radius, loop=True),
}


def link_primitives(mechanism: PlanarTree, k: int, fill: str | None = None) -> Iterator[Primitive]:
    """The body of a link and the sign of the joint that carries it, in the frame of the link."""
    link, still = mechanism.links[k], grounded(mechanism, k)
    look = rgb(symbols.GROUND if still else fill or colour(k))
    for polygon in link.polygons:
        surface = Surface(np.column_stack([polygon, np.zeros(len(polygon))]), np.arange(len(polygon), dtype=np.uint32)[None])
        yield Primitive(k, "polygon", "ground" if still else "shape", colour=look, surface=surface)
    if link.joint in SIGNS and not (still and link.polygons):
        yield Primitive(k, link.joint, "joint", frame=_turned(link))


def ground_primitives(mechanism: PlanarTree) -> Iterator[Primitive]:
    """Yield the ground symbols of joints whose other side is not drawn itself."""
    for k, link in enumerate(mechanism.links):
        if mechanism.parents[k] >= 0 or link.joint == "free" or (link.joint == "fixed" and link.polygons):
            continue
        if link.joint == "prismatic":
            yield Primitive(k, "foot", "ground", frame=_turned(link))
        else:
            x, y, _ = step(link, [0.0] * len(link.variables))
            yield Primitive(-1, "foot", "ground", frame=transform(np.eye(3), [x, y, 0.0]))


def loop_primitives(mechanism: PlanarTree) -> Iterator[Primitive]:
    """Pins at the points of the first links at which loops are closed."""
    for loop in mechanism.loops:
        link = -1 if loop.first == WORLD else mechanism.link_index(loop.first)
        yield Primitive(link, "loop", "closure", frame=transform(np.eye(3), [*loop.first_point.tolist(), 0.0]))


def _turned(link: Link) -> FloatArray:
    """Frame (4, 4) relative to a link whose x axis is the sliding direction of its joint."""
    return transform(rotation_z(-float(link.theta) if link.joint == "prismatic" else 0.0).astype(float))


def grounded(mechanism: PlanarTree, k: int) -> bool:
    """True if a link is fixed to the ground."""
    return not any(mechanism.links[part].variables for part in mechanism.path(k))


def name_links(picture: Any, mechanism: PlanarTree, obstacles: Mapping[str, FloatArray]) -> None:
    """Name the links, and the obstacles, beside the axes."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    handles = {}
    for k, link in enumerate(mechanism.links):
        if link.polygons:
            still = grounded(mechanism, k)
            fill, hatch = (symbols.GROUND, "////") if still else (colour(k), None)
            handles[str(link.name)] = Patch(facecolor=to_rgba(fill, 0.38), edgecolor=fill, hatch=hatch)
    handles |= {name: Patch(facecolor=symbols.OBSTACLE, edgecolor=symbols.INK) for name in obstacles}
    if handles:
        legend(picture, [*handles.values()], [*handles], loc="outside right upper", frameon=False, fontsize=9)
