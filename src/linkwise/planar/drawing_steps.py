"""How the transforms T_i build up a chain, drawn step by step: from the last link's own frame to the world."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.planar import drawing_symbols as symbols
from linkwise.planar.drawing import joint, one, settled
from linkwise.planar.drawing_pair import FRAME, PIN
from linkwise.spatial.scalar import FloatArray
from linkwise.view.figure import colour, figure

if TYPE_CHECKING:
    from linkwise.planar.mechanism import Mechanism

ROW = 4
"""Panels side by side."""


def draw_steps(mechanism: Mechanism, configuration: Any, link: int | str = -1, *, into: Any = None) -> Any:
    """Draw how a chain is put together, one transform after another.

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
    transforms = np.asarray(mechanism.transforms(q))
    steps = _steps(transforms, chain)
    rows, across = math.ceil(len(steps) / ROW), min(len(steps), ROW)
    made = figure(3.0 * across, 3.8 * rows) if into is None else into
    grid = made.subplots(rows, across, squeeze=False).ravel()
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
    return settled(made, into)


def _steps(transforms: FloatArray, chain: list[int]) -> list[dict[int, FloatArray]]:
    """For each panel, where the links are that it shows: the pose (3, 3) of each in the frame of the panel."""
    placed: dict[int, FloatArray] = {chain[-1]: np.eye(3)}
    found = [placed]
    for k, parent in zip(reversed(chain), [*reversed(chain[:-1]), None], strict=True):
        placed = {link: transforms[k] @ pose for link, pose in placed.items()}
        if parent is not None:
            placed[parent] = np.eye(3)
        found.append(placed)
    return found


def _title(chain: list[int], number: int) -> str:
    if number == 0:
        return rf"the model of $\mathcal{{A}}_{{{chain[-1] + 1}}}$"
    moved = chain[-number]
    frame = "the world" if number == len(chain) else rf"the frame of $\mathcal{{A}}_{{{chain[-number - 1] + 1}}}$"
    return rf"$T_{{{moved + 1}}}$ takes it to" + "\n" + frame


def _motion(T_parent_link: FloatArray) -> str:
    """What a transform does, in the order in which it does it."""
    angle = _rounded(math.degrees(math.atan2(T_parent_link[1, 0], T_parent_link[0, 0])), 1)
    x, y = (_rounded(value, 3) for value in T_parent_link[:2, 2])
    shift = f"shift by ({x:g}, {y:g}) m" if y else f"shift by {x:g} m"
    turn = f"turn by {angle:g}°" if angle else "no turn"
    return f"{turn}, then {shift}" if x or y else f"{turn}, no shift"


def _rounded(value: float, digits: int) -> float:
    return round(float(value), digits) + 0.0


def _view(mechanism: Mechanism, placed: dict[int, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Corners of what a panel shows."""
    points = [np.zeros((1, 2))]
    for k, pose in placed.items():
        points.append(pose[None, :2, 2])
        points += [polygon @ pose[:2, :2].T + pose[:2, 2] for polygon in mechanism.links[k].polygons]
    every = np.concatenate(points)
    low, high = every.min(axis=0), every.max(axis=0)
    room = 0.2 * (float((high - low).max()) or 1.0)
    return low - room, high + room


def _panel(axes: Any, mechanism: Mechanism, placed: dict[int, FloatArray], half: float) -> None:
    for k, pose in placed.items():
        polygons = [polygon @ pose[:2, :2].T + pose[:2, 2] for polygon in mechanism.links[k].polygons]
        symbols.body(axes, polygons, colour(k))
        link = mechanism.links[k]
        slides = math.atan2(pose[1, 0], pose[0, 0]) - float(link.theta)  # (of a prismatic joint: the direction)
        joint(axes, link, pose[:2, 2], slides, PIN * half)
        if polygons:
            points = np.concatenate(polygons)
            middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
            symbols.words(axes, pose[:2, 2] + 1.25 * (middle - pose[:2, 2]), rf"$\mathcal{{A}}_{{{k + 1}}}$", size=11.0)
    symbols.frame(axes, np.eye(3), 1.3 * FRAME * half)
    axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
