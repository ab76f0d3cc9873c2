"""Textbook pictures: a link on its parent with dimensions, and a chain assembled step by step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.planar import drawing_symbols as symbols
from linkwise.planar.drawing import link_primitives, moved, one, paint, settled
from linkwise.planar.polygon import rounded_bar
from linkwise.planar.transforms import evaluated
from linkwise.planar.tree import Link, PlanarTree
from linkwise.plot.figure import figure
from linkwise.spatial.scalar import FloatArray

#: Radius of a pin and length of a frame's axes, as shares of the size of the pair.
PIN, FRAME = 0.022, 0.2

#: Panels side by side.
ROW = 4


def draw_pair(
    mechanism: PlanarTree, configuration: Any, link: int | str = -1, *, dimensions: bool = True, into: Any = None
) -> Any:
    """Draw a link on its parent, both in the parent's body frame, with the frames and the dimensions between them.

    The dimensions are those of the transform that takes the link to its parent's frame (S. M. LaValle, *Planning
    Algorithms*, 2006, section 3.3.1): the distance a of the joints along the parent's x axis, and the angle theta from
    that axis to the link's. What varies is marked by its joint: a circle turns, a slot slides.

    Parameters
    ----------
    mechanism : linkwise.planar.Mechanism
    configuration : (nq,) array_like
        Coordinates, rad or m.
    link : int or str
        Index or name of a link that has a parent.
    dimensions : bool
        Whether to draw frames and dimensions.
    into : matplotlib.figure.Figure or Axes, optional
        An empty figure, or axes; a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        Where the link is unknown or on the ground, or the configuration not nq finite numbers.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper"), planar.Link(bar, a=1.0, name="lower")])
    >>> picture = draw_pair(arm, [0.5, 0.8], "lower")
    """
    q, k = one(mechanism, configuration), mechanism.link_index(link)
    parent = mechanism.parents[k]
    if parent < 0:
        raise ArgumentError(f"link {mechanism.links[k].name!r}: it is on the ground; expected one that has a parent")
    picture, axes = _place(into)
    _pair(axes, mechanism, k, evaluated(mechanism, "transforms", q)[k], dimensions=dimensions)
    return settled(picture, into)


def draw_joints(*, into: Any = None) -> Any:
    """Draw both kinds of planar joints: revolute and prismatic.

    Parameters
    ----------
    into : matplotlib.figure.Figure, optional
        An empty figure; a new one by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> len(draw_joints().axes)
    2
    """
    picture = figure(8.4, 2.8) if into is None else into
    turning, sliding = picture.subplots(1, 2)
    first, thin = Link(rounded_bar(1.0, 0.22), name="first"), rounded_bar(0.9, 0.14)
    draw_pair(PlanarTree([first, Link(thin, a=1.0, name="second")]), [0.0, 0.7], dimensions=False, into=turning)
    draw_pair(PlanarTree([first, Link(thin, "prismatic", name="second")]), [0.0, 0.6], dimensions=False, into=sliding)
    turn = 0.7 + np.linspace(-0.32, 0.32, 30)
    swing = np.array([1.0, 0.0]) + 1.06 * np.stack((np.cos(turn), np.sin(turn)), axis=1)
    symbols.line(turning, swing, color=symbols.INK, linewidth=1.3)
    for end, before in ((0, 1), (-1, -2)):
        symbols.arrow(turning, swing[before], swing[end], symbols.INK)
    symbols.arrow(sliding, (0.8, 0.22), (1.5, 0.22), symbols.INK, ends="<|-|>")
    for axes, title in ((turning, "a revolute joint: it turns"), (sliding, "a prismatic joint: it slides")):
        axes.set(xlim=(-0.2, 2.1), ylim=(-0.2, 1.05))
        axes.set_title(title, fontsize=11)
    return settled(picture, into)


def _place(into: Any) -> tuple[Any, Any]:
    """Figure and axes to draw into: new ones, the given figure, or the given axes."""
    if into is not None and hasattr(into, "add_patch"):
        return into.figure, into
    picture = figure(5.6, 3.8) if into is None else into
    return picture, picture.add_subplot()


def _pair(axes: Any, mechanism: PlanarTree, k: int, T_parent_link: FloatArray, *, dimensions: bool) -> None:
    link, parent = mechanism.links[k], mechanism.links[mechanism.parents[k]]
    at, corners = T_parent_link[:2, 2], _corners(mechanism, k, T_parent_link)
    points = np.concatenate([np.zeros((1, 2)), *parent.polygons, corners])
    size = float(np.ptp(points, axis=0).max()) or 1.0
    carrier = [p for p in link_primitives(mechanism, mechanism.parents[k]) if p.kind in {"polygon", "revolute"}]
    poses = {mechanism.parents[k]: np.eye(3), k: T_parent_link}
    paint(axes, [*carrier, *link_primitives(mechanism, k)], poses, PIN * size)
    numbers = mechanism.parents[k] + 1, k + 1
    beside = 0.5 * at if np.hypot(*at) > 0.3 * size else _middle(_corners(mechanism, mechanism.parents[k], np.eye(3)))
    _label(axes, beside, numbers[0], 13.0)
    _label(axes, at + 1.5 * (_middle(corners) - at), numbers[1], 13.0)
    seen = points
    if dimensions:
        symbols.frame(axes, np.eye(3), FRAME * size, str(numbers[0]))
        symbols.frame(axes, T_parent_link, FRAME * size, str(numbers[1]))
        lowest = float(min([0.0, *(polygon[:, 1].min() for polygon in parent.polygons)]))
        drawn = _dimensions(axes, link, T_parent_link, numbers, size, lowest)
        tips = 1.2 * FRAME * size * np.concatenate([np.eye(2), T_parent_link[:2, :2].T])
        seen = np.concatenate([points, drawn, tips + np.repeat([np.zeros(2), at], 2, axis=0)])
    low, high = seen.min(axis=0) - 0.07 * size, seen.max(axis=0) + 0.07 * size
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.set_axis_off()


def _label(axes: Any, at: FloatArray, number: int, size: float) -> None:
    symbols.words(axes, at, rf"$\mathcal{{A}}_{{{number}}}$", size=size)


def _middle(points: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (points.min(axis=0) + points.max(axis=0)))


def _dimensions(
    axes: Any, link: Link, T_parent_link: FloatArray, numbers: tuple[int, int], size: float, low: float
) -> FloatArray:
    """Draw the distance a, the angle theta and, if the joint is rotated on its parent, phi; return points."""
    x, y, phi = (float(value) for value in link.at)
    start, at = np.array([x, y]), T_parent_link[:2, 2]
    theta = math.remainder(math.atan2(T_parent_link[1, 0], T_parent_link[0, 0]) - phi, 2.0 * math.pi)
    drawn = [at]
    if np.hypot(*(at - start)) > 0.02 * size:
        below = np.array([math.sin(phi), -math.cos(phi)]) * (0.13 * size - (low if phi == 0.0 else 0.0))
        symbols.dimension(axes, start, at, below, rf"$a_{{{numbers[0]}}}$")
        drawn += [start + 1.12 * below, at + 1.12 * below]
    angles = [(0.0, phi, 0.24 * size, r"$\phi$"), (phi, theta, 0.36 * size, rf"$\theta_{{{numbers[1]}}}$")]
    for begin, sweep, radius, text in angles:
        if abs(sweep) > 0.01:
            along = np.array([math.cos(begin), math.sin(begin)])
            reach = np.array([at, at + 1.12 * radius * along])
            symbols.line(axes, reach, color=symbols.INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=symbols.FRAME)
            drawn += [reach[1], symbols.angle(axes, at, begin, sweep, radius, text)]
    return np.array(drawn)


# ── step by step ──────────────────────────────────────────────────────────────────────────────────


def draw_steps(mechanism: PlanarTree, configuration: Any, link: int | str = -1, *, into: Any = None) -> Any:
    """Draw the assembly of a chain, one transform after another.

    The first panel shows the last link's model in its own body frame. Each T_i then takes what is there to the frame of the
    parent, where the parent's model waits in its initial place; the first transform, T_1, takes the chain to the world
    (S. M. LaValle, *Planning Algorithms*, 2006, section 3.3.1). Below each panel stands what its transform does: the turn,
    and the shift that follows it, along x where there is one number.

    Parameters
    ----------
    mechanism : linkwise.planar.Mechanism
        A chain, or a tree of which one chain is drawn.
    configuration : (nq,) array_like
        Coordinates, rad or m.
    link : int or str
        Index or name of the last link of the chain.
    into : matplotlib.figure.Figure, optional
        An empty figure; a new one by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        Where the link is unknown, or the configuration not nq finite numbers.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import math
    >>> from linkwise import planar
    >>> links = [planar.Link(planar.bar(1.0, 0.2), a=a) for a in (0.0, 1.0, 1.0)]
    >>> len(draw_steps(planar.Mechanism(links), [0.0, math.pi / 4, math.pi / 4]).axes)
    4
    """
    q = one(mechanism, configuration)
    chain = list(mechanism.path(link))
    transforms = evaluated(mechanism, "transforms", q)
    steps = _steps(transforms, chain)
    rows, across = math.ceil(len(steps) / ROW), min(len(steps), ROW)
    picture = figure(3.0 * across, 3.8 * rows) if into is None else into
    grid = picture.subplots(rows, across, squeeze=False).ravel()
    views = [_view(mechanism, placed) for placed in steps]
    half = max(float(np.max(high - low)) for low, high in views) * 0.5
    for number, (axes, placed, (low, high)) in enumerate(zip(grid, steps, views, strict=False)):
        _panel(axes, mechanism, placed, half)
        middle = 0.5 * (low + high)
        axes.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
        axes.set_title(_title(chain, number), fontsize=11)
        if number:
            axes.set_xlabel(_motion(transforms[chain[-number]]), fontsize=9)
    for axes in grid[len(steps) :]:
        axes.set_axis_off()
    return settled(picture, into)


def _steps(transforms: FloatArray, chain: list[int]) -> list[dict[int, FloatArray]]:
    """Poses (3, 3) of the links of each panel, in the frame of the panel."""
    placed: dict[int, FloatArray] = {chain[-1]: np.eye(3)}
    panels = [placed]
    for k, parent in zip(reversed(chain), [*reversed(chain[:-1]), None], strict=True):
        placed = {link: transforms[k] @ pose for link, pose in placed.items()}
        if parent is not None:
            placed[parent] = np.eye(3)
        panels.append(placed)
    return panels


def _title(chain: list[int], number: int) -> str:
    if number == 0:
        return rf"the model of $\mathcal{{A}}_{{{chain[-1] + 1}}}$"
    moved = chain[-number]
    frame = "the world" if number == len(chain) else rf"the frame of $\mathcal{{A}}_{{{chain[-number - 1] + 1}}}$"
    return rf"$T_{{{moved + 1}}}$ takes it to" + "\n" + frame


def _motion(T_parent_link: FloatArray) -> str:
    """Describe a transform, in order of its parts."""
    angle = round(math.degrees(math.atan2(T_parent_link[1, 0], T_parent_link[0, 0])), 1)
    x, y = T_parent_link[:2, 2].round(3) + 0.0
    shift = f"shift by ({x:g}, {y:g}) m" if y else f"shift by {x:g} m"
    turn = f"turn by {angle:g}°" if angle else "no turn"
    return f"{turn}, then {shift}" if x or y else f"{turn}, no shift"


def _corners(mechanism: PlanarTree, k: int, pose: FloatArray) -> FloatArray:
    """The origin and the corners (m, 2) of a link at a pose (3, 3)."""
    return np.concatenate([pose[None, :2, 2], *(moved(polygon, pose) for polygon in mechanism.links[k].polygons)])


def _view(mechanism: PlanarTree, placed: dict[int, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Corners of a panel's view."""
    points = np.concatenate([np.zeros((1, 2)), *(_corners(mechanism, k, pose) for k, pose in placed.items())])
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.2 * (float((high - low).max()) or 1.0)
    return low - room, high + room


def _panel(axes: Any, mechanism: PlanarTree, placed: dict[int, FloatArray], half: float) -> None:
    paint(axes, [primitive for k in placed for primitive in link_primitives(mechanism, k)], placed, PIN * half)
    for k, pose in placed.items():
        corners = _corners(mechanism, k, pose)[1:]
        if len(corners):
            _label(axes, pose[:2, 2] + 1.25 * (_middle(corners) - pose[:2, 2]), k + 1, 11.0)
    symbols.frame(axes, np.eye(3), 1.3 * FRAME * half)
    for line in (axes.axhline, axes.axvline):
        line(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.set(aspect="equal", xticks=[], yticks=[])
