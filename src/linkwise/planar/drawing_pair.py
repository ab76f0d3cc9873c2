"""A link on its parent, drawn as textbooks do: the two kinds of joints; and the frames with what lies between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.planar import drawing_symbols as symbols
from linkwise.planar.drawing import joint as draw_joint
from linkwise.planar.drawing import one, settled
from linkwise.planar.polygon import rounded_bar
from linkwise.spatial.scalar import FloatArray
from linkwise.view.figure import colour, figure

if TYPE_CHECKING:
    from linkwise.planar.link import Link
    from linkwise.planar.mechanism import Mechanism

PIN, FRAME = 0.022, 0.2
"""Radius of a pin and length of a frame's axes, as shares of the size of the pair."""


def draw_pair(
    mechanism: Mechanism, configuration: Any, link: int | str = -1, *, dimensions: bool = True, into: Any = None
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
    made, axes = _place(into)
    _pair(axes, mechanism, k, np.asarray(mechanism.transforms(q))[k], dimensions=dimensions)
    return settled(made, into)


def draw_joints(*, into: Any = None) -> Any:
    """Draw the two ways in which a pair of planar links can be joined: one turns on the other, or slides along it.

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
    from linkwise.planar.link import Link
    from linkwise.planar.mechanism import Mechanism

    made = figure(8.4, 2.8) if into is None else into
    turning, sliding = made.subplots(1, 2)
    first, thin = Link(rounded_bar(1.0, 0.22), name="first"), rounded_bar(0.9, 0.14)
    draw_pair(Mechanism([first, Link(thin, a=1.0, name="second")]), [0.0, 0.7], dimensions=False, into=turning)
    draw_pair(Mechanism([first, Link(thin, "prismatic", name="second")]), [0.0, 0.6], dimensions=False, into=sliding)
    turn = 0.7 + np.linspace(-0.32, 0.32, 30)
    swing = np.array([1.0, 0.0]) + 1.06 * np.stack((np.cos(turn), np.sin(turn)), axis=1)
    symbols.line(turning, swing, color=symbols.INK, linewidth=1.3)
    for end, before in ((0, 1), (-1, -2)):
        symbols.arrow(turning, swing[before], swing[end], symbols.INK)
    symbols.arrow(sliding, (0.8, 0.22), (1.5, 0.22), symbols.INK, ends="<|-|>")
    for axes, title in ((turning, "a revolute joint: it turns"), (sliding, "a prismatic joint: it slides")):
        axes.set(xlim=(-0.2, 2.1), ylim=(-0.2, 1.05))
        axes.set_title(title, fontsize=11)
    return settled(made, into)


def _place(into: Any) -> tuple[Any, Any]:
    """The figure and the axes to draw into: a new figure, the one that is given, or that of the given axes."""
    if into is not None and hasattr(into, "add_patch"):
        return into.figure, into
    made = figure(5.6, 3.8) if into is None else into
    return made, made.add_subplot()


def _pair(axes: Any, mechanism: Mechanism, k: int, T_parent_link: FloatArray, *, dimensions: bool) -> None:
    link, parent = mechanism.links[k], mechanism.links[mechanism.parents[k]]
    own = [polygon @ T_parent_link[:2, :2].T + T_parent_link[:2, 2] for polygon in link.polygons]
    at = T_parent_link[:2, 2]
    points = np.concatenate([[np.zeros(2), at], *parent.polygons, *own])
    size = float(np.ptp(points, axis=0).max()) or 1.0
    symbols.body(axes, parent.polygons, colour(mechanism.parents[k]))
    symbols.body(axes, own, colour(k))
    if parent.joint == "revolute":
        symbols.pin(axes, np.zeros(2), PIN * size)
    draw_joint(axes, link, at, float(link.at[2]), PIN * size)
    numbers = mechanism.parents[k] + 1, k + 1
    _label(axes, 0.5 * at if np.hypot(*at) > 0.3 * size else _middle([*parent.polygons, np.zeros((1, 2))]), numbers[0])
    _label(axes, at + 1.5 * (_middle([*own, at[None]]) - at), numbers[1])
    seen = points
    if dimensions:
        symbols.frame(axes, np.eye(3), FRAME * size, str(numbers[0]))
        symbols.frame(axes, T_parent_link, FRAME * size, str(numbers[1]))
        low = float(min([0.0, *(polygon[:, 1].min() for polygon in parent.polygons)]))
        drawn = _dimensions(axes, link, T_parent_link, numbers, size, low)
        tips = 1.2 * FRAME * size * np.concatenate([np.eye(2), T_parent_link[:2, :2].T])
        seen = np.concatenate([points, drawn, tips + np.repeat([np.zeros(2), at], 2, axis=0)])
    low_left, high_right = seen.min(axis=0) - 0.07 * size, seen.max(axis=0) + 0.07 * size
    axes.set(xlim=(low_left[0], high_right[0]), ylim=(low_left[1], high_right[1]))
    axes.set_aspect("equal")
    axes.set_axis_off()


def _label(axes: Any, at: FloatArray, number: int) -> None:
    symbols.words(axes, at, rf"$\mathcal{{A}}_{{{number}}}$", size=13.0)


def _middle(polygons: Sequence[FloatArray]) -> FloatArray:
    points = np.concatenate(polygons)
    return np.asarray(0.5 * (points.min(axis=0) + points.max(axis=0)))


def _dimensions(
    axes: Any, link: Link, T_parent_link: FloatArray, numbers: tuple[int, int], size: float, low: float
) -> FloatArray:
    """Draw the distance a, the angle theta and, where the joint stands at an angle on its parent, phi; return points."""
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
