"""Maps of manipulability: over two joints, or over a plane of the workspace with ellipses of velocity in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import refuse_loops
from linkwise.errors import ArgumentError
from linkwise.kinematics.workspace import workspace
from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree
from linkwise.plot.figure import MAP_COLOURS, figure, literal
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import number_within, rows_of
from linkwise.view.plots.ellipsoids import add_ellipses, ones
from linkwise.view.plots.workspace_plot import draw_panels
from linkwise.view.scene import coordinates, evaluate

#: Fewest and most cells along one joint.
CELLS = (8, 1000)

#: Below the first share of the greatest a singular value is zero; the line drawn is at the second share of the best.
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
        workspace, each cell with the best posture found, and ellipses show the velocities of the tool there at joint speeds
        whose squares add up to one.
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
        words = f"ellipses: velocity of {plain(region.frame)} at joint speeds of {speeds} together, "
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
    """Return manipulability (a, b) at coordinates a and b of two joints, and in how many directions the frame moves."""
    a, b = edges
    postures = np.empty((a.size, b.size, mechanism.nq))
    postures[:] = q
    first = mechanism.nq - mechanism.n
    postures[..., first + chosen[0]] = a[:, None]
    postures[..., first + chosen[1]] = b
    jacobian = np.asarray(evaluate(mechanism, "jacobian", postures, link=link))[..., list(rows_of(mask)), -mechanism.n :]
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
        literal(label, f"{plain(mechanism.names[k])} [{'m' if mechanism.slides[k] else 'rad'}]")
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
    if not mechanism.slides[k] and not (np.isfinite(low) and np.isfinite(high)):
        low, high = -np.pi, np.pi
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ArgumentError(
            f"joint {name!r} goes from {low:g} to {high:g}; expected a range with two ends, "
            f"ranges={{{name!r}: (least, greatest)}}"
        )
    return float(low), float(high)


def _unit(mechanism: Tree, mask: str, freedoms: int) -> str:
    """The unit of a product of singular values, where all joints have the same; nothing where metres and radians mix."""
    turning, sliding = not all(mechanism.slides), any(mechanism.slides)
    if mask == "all" or (turning and sliding):
        return " (m and rad mixed)"
    power = {"translation": freedoms if turning else 0, "rotation": 0 if turning else -freedoms}[mask]
    return "" if power == 0 else " [m]" if power == 1 else f" [m{'²³'[power - 2]}]" if 2 <= power <= 3 else f" [m^{power}]"
