"""Pictures of trajectories: a panel a quantity, over one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.view.curves import Curves, joint_panels, plot
from linkwise.view.thinned import STRETCHES, Thinned

if TYPE_CHECKING:
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
    """Return the figure of a trajectory; see `Trajectory.plot`."""
    if trajectory.batch:
        raise ArgumentError(
            f"a batch of shape {trajectory.batch} is not drawn in one picture; draw one of them: "
            f"trajectory.member({_first(trajectory.batch)}).plot()"
        )
    quantities = {"position": trajectory.q, "speed": trajectory.qd, "acceleration": trajectory.qdd, "effort": trajectory.tau}
    panels: list[Curves] = []
    for name, values in quantities.items():
        if values is not None:
            panels += _panels(trajectory, name, values)
    panels += _energy(trajectory)
    names = [*trajectory.names, *AXES, *ENERGIES]
    return plot([[panel] for panel in panels], names, title or f"{trajectory.n} joints, {len(trajectory)} instants")


def drawable(title: str, unit: str, t: FloatArray, values: FloatArray, labels: Sequence[int]) -> Curves:
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
        turns = [n + 3, n, n + 1, n + 2] if base == 7 else [n, n + 1, n + 2]
        found.append(drawable(linear, linear_unit, t, values[:, :3], [n, n + 1, n + 2]))
        found.append(drawable(angular, angular_unit, t, values[:, 3:base], turns))
    for panel in joint_panels(name, t, values[:, base:], trajectory.slides):
        found.append(drawable(panel.title, panel.unit, panel.t, panel.values, panel.labels))
    return found


def _energy(trajectory: Trajectory) -> list[Curves]:
    known = [trajectory.kinetic, trajectory.potential, trajectory.energy]
    labels = [trajectory.n + len(AXES) + k for k, values in enumerate(known) if values is not None]
    columns = [values for values in known if values is not None]
    return [drawable("energy", "J", trajectory.t, np.stack(columns, axis=1), labels)] if columns else []


def _first(batch: tuple[int, ...]) -> str:
    return "0" if len(batch) == 1 else str((0,) * len(batch))
