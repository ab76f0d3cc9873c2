"""Curves of motions against time: position, velocity, acceleration and effort of joints, forces in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.formatting.table import plain
from linkwise.model.tree import ManifoldJoint
from linkwise.plot.downsample import STRETCHES, Thinned
from linkwise.plot.figure import colour, figure, legend, literal, style
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray

#: Units of a rotational and of a translational joint.
UNITS = {
    "position": ("rad", "m"),
    "velocity": ("rad/s", "m/s"),
    "acceleration": ("rad/s²", "m/s²"),
    "effort": ("N m", "N"),
}

#: Title and unit of the panels that a floating base or another joint with a quaternion adds to each quantity.
MANIFOLD_UNITS = {
    "position": ("{} position", "m", "{} orientation", "quaternion"),
    "velocity": ("{} velocity", "m/s", "{} angular\nvelocity", "rad/s"),
    "acceleration": ("{} acceleration", "m/s²", "{} angular\nacceleration", "rad/s²"),
    "effort": ("force on {}", "N", "moment on {}", "N m"),
}

#: Unit of the panels of an orientation, in which the curves are no x, y and z.
TURN = "quaternion"

#: Legend labels of a floating base, and of several joints with quaternions.
BASE_LABELS = ("base x", "base y", "base z", "base w")
AXIS_LABELS = ("x", "y", "z", "w")

#: Labels of the curves of an orientation, in the order of their columns.
QUATERNION = ("qw", "qx", "qy", "qz")

#: Up to this many instants, each is marked.
MARKED = 40

#: Beyond this many points the lines are thin.
CROWDED = 2000


#: Below this all of a panel is rounding, in SI units: force and moment on a base that nothing holds.
NOTHING = 1e-12

#: Curves coincide within this share of the panel's range; they are then drawn in stripes this long, in line widths.
NEAR, STRIPE = 0.004, 5.0


@dataclass(frozen=True)
class Curves:
    """Some curves over one time axis, drawn in one panel.

    Attributes
    ----------
    title : str
        What they show: ``"position"``, ``"force"``.
    unit : str
        Written on the vertical axis.
    t : ndarray (k,)
        Time, s.
    values : ndarray (k, m)
        A column a curve.
    labels : sequence of int
        Place in the legend of each curve.
    of_manifold : bool
        Whether they are of a floating base or another joint with a quaternion.
    is_effort : bool
        Whether they are left out where they are zero and something floats.
    """

    title: str
    unit: str
    t: FloatArray
    values: FloatArray
    labels: Sequence[int]
    of_manifold: bool = False
    is_effort: bool = False

    def thinned(self) -> Self:
        """The same curves with so few points that they can be drawn: peaks survive."""
        if self.t.size <= 2 * STRETCHES:
            return self
        kept = Thinned(self.values.shape[1])
        kept.add(self.t, np.ascontiguousarray(self.values))
        t, values = kept.points()
        return replace(self, t=t, values=values)


def joint_panels(title: str, t: FloatArray, values: FloatArray, is_length: Sequence[bool]) -> list[Curves]:
    """Make panels of one quantity of the joints (k, n), one for those that turn and one for those that slide."""
    chosen = [[k for k, slide in enumerate(is_length) if slide == sliding] for sliding in (False, True)]
    panels = zip(UNITS[title], chosen, strict=True)
    effort = title == "effort"
    return [Curves(title, unit, t, values[:, columns], columns, is_effort=effort) for unit, columns in panels if columns]


def manifold_panels(
    title: str, t: FloatArray, values: FloatArray, joints: Sequence[ManifoldJoint], first: int
) -> list[Curves]:
    """Make the panels of one quantity of joints with quaternions, those of each linear, then angular.

    ``values`` are (k, nq) or (k, nv) with theirs in front; `manifold_labels` begin at the place ``first`` of the legend.
    """
    x, y, z, w = range(first, first + 4)
    linear, linear_unit, angular, angular_unit = MANIFOLD_UNITS[title]
    options: dict[str, Any] = {"of_manifold": True, "is_effort": title == "effort"}
    panels = []
    for at in joints:
        size = 4 if title == "position" else 3
        part = values[:, at.q if title == "position" else at.v]
        if part.shape[1] > size:
            panels.append(Curves(linear.format(at.name), linear_unit, t, part[:, :3], [x, y, z], **options))
        turned = [w, x, y, z] if size == 4 else [x, y, z]
        panels.append(Curves(angular.format(at.name), angular_unit, t, part[:, -size:], turned, **options))
    return panels


def manifold_labels(joints: Sequence[ManifoldJoint]) -> tuple[str, ...]:
    """Legend labels of their curves."""
    return AXIS_LABELS if any(at.link >= 0 for at in joints) else BASE_LABELS


def plot(rows: Sequence[Sequence[Curves]], names: Sequence[str], title: str) -> Any:
    """Draw rows of panels over one time axis, with a legend beside them; places that the last row lacks stay white.

    Those of an orientation have a legend of their own inside their first panel. Where a base floats, so have all that
    never stand in one panel with those of the legend, and efforts that are zero throughout are left out.

    Parameters
    ----------
    rows : sequence of sequence of Curves
        From top to bottom, each of the same length but for the last, which may be shorter.
    names : sequence of str
        The legend; `Curves.labels` are places in it.
    title : str
        Stands above.

    Returns
    -------
    matplotlib.figure.Figure
    """
    rows = _something(rows)
    across = max(map(len, rows))
    picture = figure(4.0 + 6.0 * across, 1.0 + max(2.0 * len(rows), 0.2 * len(names) + 0.6))
    grid = picture.subplots(len(rows), across, sharex=True, squeeze=False)
    for axis in grid.ravel()[sum(map(len, rows)) :]:
        axis.set_axis_off()
    placed = list(zip(grid.ravel(), [panel.thinned() for row in rows for panel in row], strict=False))
    empty = [axis for axis, panel in placed if _floats(rows) and _is_nothing(panel)]
    drawn = [(axis, panel, _panel(axis, panel)) for axis, panel in placed if axis not in empty]
    for axis, panel in placed:
        if axis in empty:
            _left_out(axis, panel)
    for column in grid.T:
        last = [axis for axis in column if axis in [place[0] for place in drawn]][-1:]
        for axis in last or column[-1:]:
            axis.set_xlabel("time [s]")
            axis.tick_params(labelbottom=True)
    picture.align_ylabels(grid)
    literal(picture.suptitle(" ", fontsize=11), plain(title))
    _legends(picture, drawn, names)
    return picture


def trajectory(motion: Any, title: str = "") -> Any:
    """Draw the curves of a motion against time: position, speed, acceleration, and effort and energy where recorded.

    Parameters
    ----------
    motion : Trajectory or CartesianTrajectory
        Motion of joints, or of a frame.
    title : str
        Stands above.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        For a batch: draw one `member`.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import linkwise as lw
    >>> len(trajectory(lw.trajectory.quintic([0.0], [1.0], 2.0)).axes)
    3
    """
    return motion.plot(title)


def _something(rows: Sequence[Sequence[Curves]]) -> Sequence[Sequence[Curves]]:
    """Drop rows without efforts other than zero on a mechanism with floating base, unless all are."""
    if not _floats(rows):
        return rows
    return [row for row in rows if not all(map(_is_nothing, row))] or rows[:1]


def _floats(rows: Sequence[Sequence[Curves]]) -> bool:
    return any(panel.of_manifold for row in rows for panel in row)


def _is_nothing(panel: Curves) -> bool:
    finite = np.abs(panel.values[np.isfinite(panel.values)]) if panel.is_effort else np.empty(0)
    return bool(finite.size) and float(finite.max()) < NOTHING


def _left_out(axis: Any, panel: Curves) -> None:
    """Leave the place of a panel white but for a word why."""
    axis.set_axis_off()
    axis.text(0.5, 0.5, f"{' '.join(panel.title.split())}: zero", transform=axis.transAxes, color="0.5", ha="center")


def _legends(picture: Any, drawn: Sequence[tuple[Any, Curves, dict[int, Any]]], names: Sequence[str]) -> None:
    turns = [(axis, panel, lines) for axis, panel, lines in drawn if panel.unit == TURN]
    others = [place for place in drawn if place[1].unit != TURN]
    lines = {k: line for *_, shown in others for k, line in shown.items()}
    together = [panel.labels for _, panel, _ in others]
    apart = any(panel.of_manifold for _, panel, _ in drawn)
    energies = [panel.labels for _, panel, _ in others if panel.title == "energy"]
    joints = [k for k in lines if not any(k in labels for labels in energies)]
    for place, group in enumerate(label_groups(together if apart else [joints, *energies])):
        if place == 0:
            _legend_beside(picture, {k: lines[k] for k in group}, names)
        else:
            axis = max(others, key=lambda other: len(group.intersection(other[1].labels)))[0]
            _legend_inside(axis, [lines[k] for k in sorted(group)], [names[k] for k in sorted(group)])
    for axis, panel, shown in turns[:1]:
        _legend_inside(axis, [shown[k] for k in panel.labels], QUATERNION)


def label_groups(shown: Sequence[Sequence[int]]) -> list[set[int]]:
    """Gather the labels that occur together in some panel, those of the first place in the legend first.

    Examples
    --------
    >>> label_groups([[2, 3], [0, 1], [3, 4], [1]])
    [{0, 1}, {2, 3, 4}]
    """
    groups: list[set[int]] = []
    for labels in filter(None, map(set, shown)):
        apart = [group for group in groups if not group & labels]
        groups = [*apart, labels.union(*(group for group in groups if group & labels))]
    return sorted(groups, key=min)


def _legend_beside(picture: Any, lines: Mapping[int, Any], names: Sequence[str]) -> None:
    """Write a legend of lines, each with its place among the names, beside all panels."""
    look: dict[str, Any] = {"loc": "outside right upper", "frameon": False, "fontsize": 9, "handlelength": 2.4}
    legend(picture, [lines[k] for k in sorted(lines)], [names[k] for k in sorted(lines)], **look)


def _legend_inside(axis: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Write a small legend into a panel, where the curves leave room."""
    look: dict[str, Any] = {"fontsize": 7, "handlelength": 1.6, "columnspacing": 0.9, "borderpad": 0.3, "framealpha": 0.85}
    columns = len(names) if len(names) <= 4 else 2
    legend(axis, handles, names, loc="best", ncols=columns, **look)


def _panel(axis: Any, panel: Curves) -> dict[int, Any]:
    from matplotlib.lines import Line2D

    marker = "." if len(panel.t) <= MARKED else ""
    crowded = len(panel.t) > CROWDED
    look: dict[str, Any] = {"linewidth": 0.7, "alpha": 0.75} if crowded else {"linewidth": 1.3}
    widest = np.argsort(-np.ptp(panel.values, axis=0), kind="stable")  # drawn first, so that the others show on top
    drawn = {}
    striped = _stripes(panel.values, widest.tolist())
    for column in widest.tolist():
        k = panel.labels[column]
        dashes = striped.get(column, style(k))
        axis.plot(panel.t, panel.values[:, column], color=colour(k), linestyle=dashes, marker=marker, **look)
        key = {**look, "color": colour(k), "linestyle": style(k), "marker": marker}  # (as where no other hides it)
        drawn[k] = Line2D([], [], **key)
    axis.set_ylabel(f"{panel.title}\n[{panel.unit}]")
    axis.grid(visible=True, color="0.9", linewidth=0.7)
    axis.axhline(0.0, color="0.7", linewidth=0.7, zorder=0)
    axis.margins(x=0.01)
    _no_exaggeration(axis, panel.values)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    return drawn


def _stripes(values: FloatArray, order: Sequence[int]) -> dict[int, Any]:
    """Find curves that coincide, and give each but the lowest dashes, so that they show in turn along the line."""
    finite = values[np.isfinite(values)]
    near = NEAR * float(np.ptp(finite)) if finite.size else 0.0
    groups: list[list[int]] = []
    for column in order:
        for group in groups:
            if np.allclose(values[:, column], values[:, group[0]], rtol=0.0, atol=near, equal_nan=True):
                group.append(column)
                break
        else:
            groups.append([column])
    return {
        column: (-STRIPE * place, (STRIPE, STRIPE * (len(group) - 1)))
        for group in groups
        for place, column in enumerate(group)
        if place
    }


def _no_exaggeration(axis: Any, values: FloatArray) -> None:
    """Draw curves as constant that are constant up to rounding, and as zero those that are only rounding."""
    finite = values[np.isfinite(values)]
    if finite.size and np.abs(finite).max() < NOTHING:
        axis.set_ylim(-1.0, 1.0)
    elif finite.size and np.ptp(finite) <= 1e-9 * np.abs(finite).max():
        middle = float(finite.mean())
        room = 0.5 * abs(middle) or 1.0
        axis.set_ylim(middle - room, middle + room)


ENERGIES = ("kinetic energy", "potential energy", "total energy")


def draw(trajectory: Any, title: str) -> Any:
    """Return the figure of a trajectory, joints below each other, a floating base beside them; see `Trajectory.plot`."""
    _alone(trajectory.batch)
    quantities = {
        "position": trajectory.q,
        "velocity": trajectory.qd,
        "acceleration": trajectory.qdd,
        "effort": trajectory.tau,
    }
    groups = [_panels(trajectory, name, values) for name, values in quantities.items() if values is not None]
    rows = groups if trajectory.manifold_joints else [[panel] for group in groups for panel in group]
    energies = (trajectory.kinetic, trajectory.potential, trajectory.energy)
    first = trajectory.n + len(BASE_LABELS)
    known = {first + k: values for k, values in enumerate(energies) if values is not None}
    if known:
        rows.append([Curves("energy", "J", trajectory.t, np.stack([*known.values()], axis=1), [*known])])
    names = [*trajectory.names, *manifold_labels(trajectory.manifold_joints), *ENERGIES]
    joints = f"{trajectory.n} joint{'s' if trajectory.n != 1 else ''}"
    return plot(rows, names, title or f"{joints}, {len(trajectory):,} instants")


def draw_cartesian(trajectory: Any, title: str) -> Any:
    """Return the figure of the motion of a frame, linear on the left, angular on the right."""
    _alone(trajectory.batch)
    places, turns = trajectory.poses[:, :3, 3], rotation_quaternion(trajectory.poses[:, :3, :3])
    flips = np.cumsum(np.sum(turns[1:] * turns[:-1], axis=1) < 0.0) % 2  # q and -q are one rotation: no jumps
    turns[1:] *= (1.0 - 2.0 * flips)[:, None]
    twist, rate = trajectory.twist, trajectory.acceleration

    def panel(title: str, unit: str, values: FloatArray) -> Curves:
        return Curves(title, unit, trajectory.t, values, [3, 0, 1, 2] if unit == TURN else [0, 1, 2])

    rows = [
        [panel("position", "m", places), panel("orientation", TURN, turns)],
        [panel("velocity", "m/s", twist[:, :3]), panel("angular velocity", "rad/s", twist[:, 3:])],
        [panel("acceleration", "m/s²", rate[:, :3]), panel("angular\nacceleration", "rad/s²", rate[:, 3:])],
    ]
    return plot(rows, ["x", "y", "z", "w"], title or f"a frame, {len(trajectory)} instants")


def _panels(trajectory: Any, name: str, values: FloatArray) -> list[Curves]:
    """The panels of one quantity: joints with quaternions, joints that turn, joints that slide."""
    first = values.shape[1] - trajectory.n
    joints = joint_panels(name, trajectory.t, values[:, first:], trajectory.is_length)
    return [*manifold_panels(name, trajectory.t, values, trajectory.manifold_joints, trajectory.n), *joints]


def _alone(batch: tuple[int, ...]) -> None:
    if batch:
        first = "0" if len(batch) == 1 else str((0,) * len(batch))
        raise ArgumentError(f"a batch of shape {batch} is not drawn in one picture; draw one motion: member({first}).plot()")
