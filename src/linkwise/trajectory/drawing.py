"""Pictures of trajectories: a panel a quantity, over one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.view.curves import Curves, joint_panels, plot
from linkwise.view.thinned import STRETCHES, Thinned

if TYPE_CHECKING:
    from linkwise.trajectory.cartesian_trajectory import CartesianTrajectory
    from linkwise.trajectory.trajectory import Trajectory

ENERGIES = ("kinetic energy", "potential energy", "their sum")
AXES = ("base x", "base y", "base z", "base w")

BASE = {
    "position": ("base position", "m", "base orientation", "quaternion"),
    "speed": ("base speed", "m/s", "base angular speed", "rad/s"),
    "acceleration": ("base acceleration", "m/s²", "base angular\nacceleration", "rad/s²"),
    "effort": ("force on base", "N", "moment on base", "N m"),
}
"""Title and unit of the two panels that a floating base adds to each quantity."""


def draw(trajectory: Trajectory, title: str) -> Any:
    """Return the figure of a trajectory, joints below each other, a floating base beside them; see `Trajectory.plot`."""
    _alone(trajectory.batch)
    quantities = {"position": trajectory.q, "speed": trajectory.qd, "acceleration": trajectory.qdd, "effort": trajectory.tau}
    groups = [_panels(trajectory, name, values) for name, values in quantities.items() if values is not None]
    rows = groups if trajectory.floating else [[panel] for group in groups for panel in group]
    if energy := _energy(trajectory):
        rows.append(energy)
    names = [*trajectory.names, *AXES, *ENERGIES]
    return _plot(
        rows, names, title or f"{trajectory.n} joint{'s' if trajectory.n != 1 else ''}, {len(trajectory):,} instants"
    )


def draw_cartesian(trajectory: CartesianTrajectory, title: str) -> Any:
    """Return the figure of the motion of a frame, linear on the left, angular on the right."""
    _alone(trajectory.batch)
    t, places, turns = trajectory.t, trajectory.poses[:, :3, 3], rotation_quaternion(trajectory.poses[:, :3, :3])
    flips = np.cumsum(np.sum(turns[1:] * turns[:-1], axis=1) < 0.0) % 2  # q and -q are one rotation: no jumps
    turns[1:] *= (1.0 - 2.0 * flips)[:, None]
    w, wd = trajectory.twist, trajectory.acceleration
    xyz = [0, 1, 2]
    rows = [
        [_thinned("position", "m", t, places, xyz), _thinned("orientation", "quaternion", t, turns, [3, *xyz])],
        [_thinned("speed", "m/s", t, w[:, :3], xyz), _thinned("angular speed", "rad/s", t, w[:, 3:], xyz)],
        [
            _thinned("acceleration", "m/s²", t, wd[:, :3], xyz),
            _thinned("angular\nacceleration", "rad/s²", t, wd[:, 3:], xyz),
        ],
    ]
    return _plot(rows, ["x", "y", "z", "w"], title or f"a frame, {len(trajectory)} instants")


def _plot(rows: Sequence[Sequence[Curves]], names: Sequence[str], title: str) -> Any:
    """Draw rows that need not be full: the last may be shorter, its empty places stay white."""
    across = max(map(len, rows))
    short = across - len(rows[-1])
    t = rows[0][0].t
    filler = [Curves("", "", t, np.empty((t.size, 0)), [])] * short
    made = plot([*rows[:-1], [*rows[-1], *filler]], names, title)
    for axis in made.axes[len(made.axes) - short :]:
        axis.set_axis_off()
        above = made.axes[made.axes.index(axis) - across]
        above.tick_params(labelbottom=True)
        above.set_xlabel("time [s]")
    return made


def _thinned(title: str, unit: str, t: FloatArray, values: FloatArray, labels: Sequence[int]) -> Curves:
    """Curves of any length, thinned so that they can be drawn: peaks survive."""
    if t.size > 2 * STRETCHES:
        thin = Thinned(values.shape[1])
        thin.add(t, np.ascontiguousarray(values))
        t, values = thin.points()
    return Curves(title, unit, t, values, labels)


def _panels(trajectory: Trajectory, name: str, values: FloatArray) -> list[Curves]:
    """The panels of one quantity: base, joints that turn, joints that slide."""
    t, n = trajectory.t, trajectory.n
    base = values.shape[1] - n
    found = []
    if base:
        linear, linear_unit, angular, angular_unit = BASE[name]
        xyz = [n, n + 1, n + 2]
        found.append(_thinned(linear, linear_unit, t, values[:, :3], xyz))
        found.append(_thinned(angular, angular_unit, t, values[:, 3:base], [n + 3, *xyz] if base == 7 else xyz))
    for panel in joint_panels(name, t, values[:, base:], trajectory.slides):
        found.append(_thinned(panel.title, panel.unit, panel.t, panel.values, panel.labels))
    return found


def _energy(trajectory: Trajectory) -> list[Curves]:
    known = [trajectory.kinetic, trajectory.potential, trajectory.energy]
    labels = [trajectory.n + len(AXES) + k for k, values in enumerate(known) if values is not None]
    columns = [values for values in known if values is not None]
    return [_thinned("energy", "J", trajectory.t, np.stack(columns, axis=1), labels)] if columns else []


def _alone(batch: tuple[int, ...]) -> None:
    if batch:
        first = "0" if len(batch) == 1 else str((0,) * len(batch))
        raise ArgumentError(f"a batch of shape {batch} is not drawn in one picture; draw one motion: member({first}).plot()")
