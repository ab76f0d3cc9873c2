"""Drawings of manipulability: velocity and force ellipsoids of a frame, and maps over two joints or a workspace plane."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import refuse_loops
from linkwise.errors import ArgumentError
from linkwise.model.formatting.table import plain
from linkwise.model.joints.joint import UNITS
from linkwise.model.tree import Tree
from linkwise.plot.figure import MAP_COLOURS, colour, figure, literal
from linkwise.spatial.rotation import rotation_z
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, number_within, rows_of, word_of
from linkwise.view.drawing import labels
from linkwise.view.drawing.render import draw
from linkwise.view.plots.workspace_plot import draw_panels
from linkwise.view.scene.layout import coordinates, evaluate, lay_out
from linkwise.view.scene.scene import build
from linkwise.view.scene.tessellation import ball
from linkwise.workspace import Workspace, workspace

if TYPE_CHECKING:
    from linkwise.view.plots.workspace_plot import MapPanel


KINDS = ("velocity", "force")

#: The longest half axis that is drawn, as a share of the mechanism's size.
LONGEST = 0.30

#: Relative threshold of zero singular values.
SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """Ellipsoid of the tool's velocities, or forces, for joint velocities, or forces, of unit norm.

    Attributes
    ----------
    centre : ndarray (3,)
        Where the frame is, m, world frame.
    directions : ndarray (3, 3)
        Unit vectors along its axes, as columns.
    half : ndarray (3,)
        Its half axes, m/s or rad/s for velocities, N or N m for forces; infinite for forces in a direction in which no joint
        is loaded.
    """

    centre: FloatArray
    directions: FloatArray
    half: FloatArray


def _after_base(mechanism: Tree) -> int:
    """Index of the first velocity that is not of a floating base."""
    return mechanism.manifold_joints[0].v.stop if mechanism.floating else 0


def ellipsoid_of(
    mechanism: Tree,
    q: npt.ArrayLike | None = None,
    *,
    kind: str = "velocity",
    mask: str = "translation",
    link: int | str = "tool",
) -> Ellipsoid:
    """Return the ellipsoid of velocity or force of a frame.

    With joint velocities whose squares add up to one, v = J qd fills the ellipsoid with the half axes s_k u_k, s and u being
    singular values and left singular vectors of J; with joint efforts whose squares add up to one, the forces that they
    hold fill that with the half axes u_k / s_k: T. Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics
    Research 4(2), 1985. A base that floats is taken as held still.

    Raises
    ------
    ArgumentError
        For another kind or mask, both rows together, q that does not fit, or a mechanism with closed loops.
    """
    if mechanism.loops:
        refuse_loops(mechanism, "an ellipsoid of its tool")
    choice("kind", kind, KINDS)
    if word_of(mask) == "all":
        raise ArgumentError("mask is 'all'; expected 'translation' or 'rotation': an ellipsoid has three axes")
    values = coordinates(mechanism, q)
    jacobian = np.asarray(evaluate(mechanism, "jacobian", values, link=link))[list(rows_of(mask))][
        :, _after_base(mechanism) :
    ]
    directions, stretch, _ = np.linalg.svd(jacobian)
    s = np.zeros(3)
    s[: len(stretch)] = np.where(stretch > SINGULAR * stretch.max(initial=0.0), stretch, 0.0)
    half = s if kind == "velocity" else np.divide(1.0, s, out=np.full(3, np.inf), where=s > 0)
    return Ellipsoid(np.asarray(evaluate(mechanism, "forward_kinematics", values, link=link))[:3, 3], directions, half)


def ellipsoid(
    mechanism: Tree,
    q: npt.ArrayLike | None = None,
    *,
    kind: str = "velocity",
    mask: str = "translation",
    link: int | str = "tool",
) -> Any:
    """Draw a mechanism with the ellipsoid of the velocities, or of the forces, of its tool.

    Parameters
    ----------
    mechanism : Mechanism
        Without closed loops.
    q : (nq,) array_like, optional
        Coordinates, rad or m; the neutral ones by default.
    kind : {"velocity", "force"}
        What the tool does at joint velocities, or holds at joint efforts, whose squares add up to one.
    mask : {"translation", "rotation"}
        Linear or angular.
    link : int or str
        Whose frame; the tool by default.

    Returns
    -------
    matplotlib.figure.Figure
        The half axes stand below the picture, with units. Drawn are those that are neither zero nor endless.

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        For another kind or mask, q that does not fit, or a mechanism with closed loops.

    Examples
    --------
    >>> import linkwise as lw
    >>> picture = ellipsoid(lw.robots.planar_2r(), [0.3, 1.2])
    >>> picture.texts[-1].get_text()
    'velocity of the tool at joint velocities of 1 rad/s together: 1.86, 0.5 and 0 m/s'
    """
    shape = ellipsoid_of(mechanism, q, kind=kind, mask=mask, link=link)
    scene = build(mechanism, lay_out(mechanism, q))
    picture = draw(mechanism, q, frames=False, names=False)
    space = picture.axes[0]
    limits = [getattr(space, f"get_{name}lim3d")() for name in "xyz"]
    _surface(space, shape, LONGEST * scene.layout.size)
    for name, limit in zip("xyz", limits, strict=True):
        getattr(space, f"set_{name}lim3d")(limit)
    labels.write(space, scene)
    width, height = picture.get_size_inches()
    words = picture.text(0.5, 0.12 / height, " ", ha="center", va="bottom", fontsize=min(9.0, 1.2 * width), color="0.25")
    literal(words, _told(mechanism, shape, kind, mask, link))
    return picture


def _surface(axes: Any, shape: Ellipsoid, longest: float) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    finite = np.where(np.isfinite(shape.half), shape.half, 0.0)
    drawn = finite * (longest / (float(finite.max()) or 1.0))
    sphere = ball(1.0, sides=36)
    faces = (shape.centre + (sphere.vertices * drawn) @ shape.directions.T)[sphere.faces]
    look = {"facecolors": colour(5), "edgecolors": colour(0), "linewidths": 0.25, "alpha": 0.22, "zorder": 2.2}
    axes.add_collection3d(Poly3DCollection(faces, **look), autolim=False)
    for k, half in enumerate(drawn):
        along = shape.directions[:, k] * half
        axes.plot(*np.array([shape.centre - along, shape.centre + along]).T, color=colour(0), linewidth=1.6, zorder=3.9)


def _told(mechanism: Tree, shape: Ellipsoid, kind: str, mask: str, link: int | str) -> str:
    quantity = {
        ("velocity", "translation"): ("velocity", "m/s"),
        ("velocity", "rotation"): ("angular velocity", "rad/s"),
        ("force", "translation"): ("force", "N"),
        ("force", "rotation"): ("moment", "N m"),
    }[kind, mask]
    inputs, symbol = {"velocity": ("joint velocities", "qd"), "force": ("joint efforts", "tau")}[kind]
    values = [f"{half:.3g}" if np.isfinite(half) else "any" for half in shape.half]
    whose = mechanism.frame_name(link)
    condition = f"{inputs} of {ones(mechanism, symbol)} together"
    return f"{quantity[0]} of {whose} at {condition}: {values[0]}, {values[1]} and {values[2]} {quantity[1]}"


def ones(mechanism: Tree, quantity: str) -> str:
    """Text of 1 in the unit of a joint quantity, or in both units.

    Examples
    --------
    >>> import linkwise as lw
    >>> ones(lw.robots.stanford(), "qd")
    '1 rad/s or m/s'
    """
    units = dict.fromkeys(UNITS[quantity][is_length] for is_length in sorted(mechanism.is_length))
    return f"1 {' or '.join(units)}"


#: Ellipses along the longer side of a map.
ALONG = 7

#: Longest half axis, and greatest distance of a posture from its point of the lattice, relative to the spacing.
LARGEST, CLOSE = 0.46, 0.2

#: A cell, its place in the map (2,), and the rotation of its posture to that place, rad.
Posture = tuple[int, FloatArray, float]


@dataclass(frozen=True, eq=False)
class Ellipse:
    """One ellipse: its place (2,), m, its half axes as columns (2, 2), m/s, and the cell of its posture."""

    place: FloatArray
    half: FloatArray
    cell: int


def add_ellipses(
    mechanism: Tree, region: Workspace, panels: Sequence[tuple[Any, MapPanel]], link: int | str
) -> tuple[list[list[Ellipse]], float]:
    """Draw ellipses into maps, all to one scale; return them, and their longest half axis, m/s."""
    drawn, scales = [], []
    for _, panel in panels:
        spacing = float(np.ptp(panel.corners, axis=0).max()) / ALONG or 1.0  # (m)
        chosen = list(
            _placed(region, panel, spacing) if panel.centre is None else _turned(region, panel, panel.centre, spacing)
        )
        jacobians = np.asarray(evaluate(mechanism, "jacobian", region.q[[k for k, *_ in chosen]], link=link))[
            :, :3, _after_base(mechanism) :
        ]
        ellipses = []
        for (k, place, turn), jacobian in zip(chosen, jacobians, strict=True):
            half = rotation_z(turn)[:2, :2].astype(float) @ half_axes(panel.rows(region.positions[k]) @ jacobian)
            ellipses.append(Ellipse(place, half, k))
        drawn.append(ellipses)
        scales.append(LARGEST * spacing)
    longest = max((float(np.linalg.norm(ellipse.half, axis=0).max()) for part in drawn for ellipse in part), default=0.0)
    for (axis, _), ellipses in zip(panels, drawn, strict=True):
        for ellipse in ellipses:
            _draw(axis, ellipse.place, ellipse.half * (min(scales) / (longest or 1.0)))
    return drawn, longest


def half_axes(jacobian: FloatArray) -> FloatArray:
    """Half axes, as columns (2, 2), of the velocities J qd, J (2, n), for joint velocities of unit norm.

    Examples
    --------
    >>> np.abs(half_axes(np.array([[0.0, 2.0], [1.0, 0.0]]))).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    directions, stretch, _ = np.linalg.svd(jacobian)
    return np.asarray(directions[:, : len(stretch)] * stretch)


def _placed(region: Workspace, panel: MapPanel, spacing: float) -> Iterator[Posture]:
    """Posture of greatest manipulability near each point of a lattice: its cell, its place, without rotation."""
    places, kept = panel.places(region.positions), np.flatnonzero(panel.near(region.positions))
    if not len(kept):
        return
    low = places[kept].min(axis=0)
    cells = np.floor((places[kept] - low) / spacing)
    close = np.abs(places[kept] - low - (cells + 0.5) * spacing).max(axis=1) < CLOSE * spacing
    best: dict[tuple[float, ...], int] = {}
    for k, cell in zip(kept[close].tolist(), map(tuple, cells[close].tolist()), strict=True):
        if cell not in best or region.manipulability[k] > region.manipulability[best[cell]]:
            best[cell] = k
    for k in sorted(best.values()):
        yield k, places[k], 0.0


def _turned(region: Workspace, panel: MapPanel, centre: FloatArray, spacing: float) -> Iterator[Posture]:
    """The same in a map about the first axis, with the angle by which the posture is turned about it to be at the point."""
    places = panel.places(region.positions) - centre
    away, angle = np.hypot(*places.T), np.arctan2(places[:, 1], places[:, 0])
    steps = spacing * np.arange(-ALONG, ALONG + 1)
    for x in steps:
        for y in steps:
            near = np.flatnonzero(np.abs(away - math.hypot(x, y)) < CLOSE * spacing)
            if len(near) and _reached(region, x, y):
                k = int(near[np.argmax(region.manipulability[near])])
                yield k, centre + np.array([x, y]), math.atan2(y, x) - float(angle[k])


def _reached(region: Workspace, x: float, y: float) -> bool:
    """True if the map about the first axis is reached at a point."""
    radii, _, angles = region.grid.edges
    r, a = math.hypot(x, y), math.atan2(y, x)
    i, k = int(np.searchsorted(radii, r, side="right")) - 1, int(np.searchsorted(angles, a, side="right")) - 1
    if not 0 <= i < len(radii) - 1:
        return False
    return not bool(np.isnan(region.grid.best[i, :, min(max(k, 0), len(angles) - 2)]).all())


def _draw(axis: Any, at: FloatArray, half: FloatArray) -> None:
    angle = np.linspace(0.0, 2 * np.pi, 49)
    outline = at + np.stack([np.cos(angle), np.sin(angle)], axis=1)[:, : half.shape[1]] @ half.T
    axis.plot(*outline.T, color="white", linewidth=2.2, zorder=2.4)
    axis.plot(*outline.T, color="black", linewidth=1.0, zorder=2.5)


#: Fewest and most cells along one joint.
CELLS = (8, 1000)

#: Relative threshold of zero singular values; and the contour line drawn, relative to the best.
RANK, POOR = 1e-9, 0.01


def manipulability_map(
    mechanism: Tree,
    joints: Sequence[int | str] | None = None,
    *,
    q: npt.ArrayLike | None = None,
    mask: str = "translation",
    link: int | str = "tool",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    cells: int = 160,
    plane: str = "auto",
    samples: int = 100_000,
    seed: int = 0,
) -> Any:
    """Draw where a mechanism moves well: manipulability over two joints, or over a plane of its workspace.

    Manipulability is the product of the singular values of the Jacobian, see `linkwise.kinematics.manipulability`; of those
    that are not zero everywhere, where the tool cannot move in all directions.

    Parameters
    ----------
    mechanism : Mechanism
        Without closed loops.
    joints : (int or str, int or str), optional
        The two joints over whose ranges the map goes; the others stay at q. Without them, the map goes over a plane of the
        workspace, each cell with the best posture found, and ellipses show the velocities of the tool there, at joint
        velocities whose squares add up to one.
    q : (nq,) array_like, optional
        Coordinates of the other joints, rad or m, marked in the map; the neutral ones by default. For a map over joints.
    mask : {"translation", "rotation", "all"}
        Which motion counts; ellipses are drawn for translation.
    link : int or str
        Whose frame; the tool by default.
    ranges : mapping, optional
        Ranges for joints by name, instead of their limits. A turning joint without limits goes once round.
    cells : int
        Cells along each joint, or along the longer side of the workspace.
    plane : {"auto", "xz", "yz", "xy"}
        Which plane, as in `linkwise.view.workspace`. For a map over the workspace, as the two that follow.
    samples, seed : int
        Random postures to try, and where they begin.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        For joints that are not two, a sliding joint without limits, or a mechanism with closed loops.

    Examples
    --------
    >>> import linkwise as lw
    >>> made = manipulability_map(lw.robots.puma560(), ["link2", "link3"], cells=20)
    >>> [axis.get_ylabel() for axis in made.axes]
    ['link3 [rad]', 'manipulability of the position [m³]']
    """
    mechanism.require_numbers("a picture")
    if mechanism.loops:
        refuse_loops(mechanism, "a map of its manipulability")
    if joints is not None:
        return _over_joints(mechanism, joints, coordinates(mechanism, q), mask, link, ranges or {}, cells)
    if q is not None:
        raise ArgumentError("q is given without joints; name the two joints over which the map shall go")
    if plane == "3d":
        raise ArgumentError("plane is '3d'; expected 'auto', 'xz', 'yz' or 'xy': linkwise.view.workspace draws bodies")
    region = workspace(mechanism, mask=mask, cells=cells, samples=samples, seed=seed, ranges=ranges, link=link)
    picture, panels = draw_panels(mechanism, region, plane=plane)
    if mask == "translation":
        _, longest = add_ellipses(mechanism, region, panels, link)
        speeds = ones(mechanism, "qd")
        words = f"ellipses: velocity of {plain(region.frame)} at joint velocities of {speeds} together, "
        words += f"longest half axis {longest:.3g} m/s"
        literal(picture.suptitle(" ", fontsize=9), f"{plain(mechanism.name)}\n{words}")
    return picture


def joint_map(
    mechanism: Tree,
    chosen: tuple[int, int],
    q: FloatArray,
    edges: tuple[FloatArray, FloatArray],
    mask: str,
    link: int | str,
) -> tuple[FloatArray, int]:
    """Return manipulability (a, b) at coordinates a and b of two joints, and the number of directions of motion."""
    a, b = edges
    postures = np.empty((a.size, b.size, mechanism.nq))
    postures[:] = q
    first = mechanism.nq - mechanism.n
    postures[..., first + chosen[0]] = a[:, None]
    postures[..., first + chosen[1]] = b
    jacobian = np.asarray(evaluate(mechanism, "jacobian", postures, link=link))[
        ..., list(rows_of(mask)), _after_base(mechanism) :
    ]
    values = np.linalg.svd(jacobian, compute_uv=False)
    freedoms = int(np.count_nonzero(values.max(axis=(0, 1)) > RANK * values.max()))
    return np.asarray(values[..., :freedoms].prod(axis=-1)), freedoms


def _over_joints(
    mechanism: Tree,
    joints: Sequence[int | str],
    q: FloatArray,
    mask: str,
    link: int | str,
    ranges: Mapping[str, tuple[float, float]],
    cells: int,
) -> Any:
    first_joint, second_joint = chosen = _pair(mechanism, joints)
    number_within("cells", cells, *CELLS, f"{CELLS[0]} to {CELLS[1]}", whole=True)
    edges = [np.linspace(*_range(mechanism, k, ranges), cells + 1) for k in chosen]
    middles = (0.5 * (edges[0][1:] + edges[0][:-1]), 0.5 * (edges[1][1:] + edges[1][:-1]))
    values, freedoms = joint_map(mechanism, chosen, q, middles, mask, link)
    picture = figure(7.2, 5.6)
    axis = picture.add_subplot()
    mesh = axis.pcolormesh(edges[0], edges[1], values.T, cmap=MAP_COLOURS, vmin=0.0, rasterized=True)
    if values.min() < POOR * values.max():
        axis.contour(*middles, values.T, levels=[POOR * values.max()], colors="white", linewidths=1.0, linestyles="--")
    bar = picture.colorbar(mesh, ax=axis, pad=0.02)
    rows = {"translation": "the position", "rotation": "the orientation", "all": "position and orientation"}[mask]
    bar.set_label(f"manipulability of {rows}{_unit(mechanism, mask, freedoms)}")
    first = mechanism.nq - mechanism.n
    mark = {"marker": "o", "markersize": 7, "markerfacecolor": "white", "markeredgecolor": "black"}
    axis.plot(q[first + first_joint], q[first + second_joint], linestyle="none", clip_on=False, **mark)
    axis.set_xlim(edges[0][0], edges[0][-1])
    axis.set_ylim(edges[1][0], edges[1][-1])
    for k, label in ((first_joint, axis.xaxis.label), (second_joint, axis.yaxis.label)):
        literal(label, f"{plain(mechanism.names[k])} [{'m' if mechanism.is_length[k] else 'rad'}]")
    literal(
        picture.suptitle(" ", fontsize=11), f"{plain(mechanism.name)}: manipulability; dashed, a hundredth of the greatest"
    )
    return picture


def _pair(mechanism: Tree, joints: Sequence[int | str]) -> tuple[int, int]:
    from linkwise.solve.validation import joint_index

    if isinstance(joints, str) or len(joints) != 2:
        raise ArgumentError(f"joints is {joints!r}; expected two joints, by name or number")
    first, second = (joint_index(mechanism, "joints", joint) for joint in joints)
    if first == second:
        raise ArgumentError(f"joints is {joints!r}; expected two different ones")
    return first, second


def _range(mechanism: Tree, k: int, ranges: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    name = mechanism.names[k]
    low, high = ranges.get(name, (mechanism.q_min[k], mechanism.q_max[k]))
    if not mechanism.is_length[k] and not (np.isfinite(low) and np.isfinite(high)):
        low, high = -np.pi, np.pi
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ArgumentError(
            f"joint {name!r} goes from {low:g} to {high:g}; expected a range with two ends, "
            f"ranges={{{name!r}: (least, greatest)}}"
        )
    return float(low), float(high)


def _unit(mechanism: Tree, mask: str, freedoms: int) -> str:
    """The unit of a product of singular values, where all joints have the same; nothing where metres and radians mix."""
    turning, sliding = not all(mechanism.is_length), any(mechanism.is_length)
    if mask == "all" or (turning and sliding):
        return " (m and rad mixed)"
    power = {"translation": freedoms if turning else 0, "rotation": 0 if turning else -freedoms}[mask]
    return "" if power == 0 else " [m]" if power == 1 else f" [m{'²³'[power - 2]}]" if 2 <= power <= 3 else f" [m^{power}]"
