"""Velocity and force ellipsoids of a frame, drawn with the mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm.declaration import refuse_loops
from linkwise.errors import ArgumentError, choices
from linkwise.model.quantities import UNITS
from linkwise.model.tree import Tree
from linkwise.plot.figure import colour, literal
from linkwise.spatial.mask import rows_of, word_of
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing import labels
from linkwise.view.drawing.render import draw
from linkwise.view.scene import build, coordinates, evaluate, lay_out
from linkwise.view.scene.tessellation import ball

KINDS = ("velocity", "force")

LONGEST = 0.30
"""The longest half axis that is drawn, as a share of the mechanism's size."""

SINGULAR = 1e-9
"""Below this share of the greatest a singular value is zero."""


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """Where the tip of a velocity, or of a force, of the tool can be when those of the joints make a unit sphere.

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


def ellipsoid_of(
    mechanism: Tree,
    q: npt.ArrayLike | None = None,
    *,
    kind: str = "velocity",
    mask: str = "translation",
    link: int | str = "tool",
) -> Ellipsoid:
    """Return the ellipsoid of velocity or force of a frame.

    With joint speeds whose squares add up to one, v = J qd fills the ellipsoid with the half axes s_k u_k, s and u being
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
    if kind not in KINDS:
        raise ArgumentError(f"kind is {kind!r}; expected {choices(KINDS)}")
    if word_of(mask) == "all":
        raise ArgumentError("mask is 'all'; expected 'translation' or 'rotation': an ellipsoid has three axes")
    values = coordinates(mechanism, q)
    jacobian = np.asarray(evaluate(mechanism, "jacobian", values, link=link))[list(rows_of(mask))][:, -mechanism.n :]
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
        What the tool does at joint speeds, or holds at joint efforts, whose squares add up to one.
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
    'velocity of the tool at joint speeds of 1 rad/s together: 1.86, 0.5 and 0 m/s'
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
    inputs, symbol = {"velocity": ("joint speeds", "qd"), "force": ("joint efforts", "tau")}[kind]
    values = [f"{half:.3g}" if np.isfinite(half) else "any" for half in shape.half]
    whose = mechanism.frame_name(link)
    condition = f"{inputs} of {ones(mechanism, symbol)} together"
    return f"{quantity[0]} of {whose} at {condition}: {values[0]}, {values[1]} and {values[2]} {quantity[1]}"


def ones(mechanism: Tree, quantity: str) -> str:
    """One of the unit that a quantity of the joints has, or of both.

    Examples
    --------
    >>> import linkwise as lw
    >>> ones(lw.robots.stanford(), "qd")
    '1 rad/s or m/s'
    """
    units = dict.fromkeys(UNITS[quantity][slides] for slides in sorted(mechanism.slides))
    return f"1 {' or '.join(units)}"
