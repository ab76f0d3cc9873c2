"""Pictures of trajectories: a panel a quantity, over one time axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.plot.curves import BASE_LABELS, TURN, Curves, base_panels, joint_panels, plot
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray

ENERGIES = ("kinetic energy", "potential energy", "their sum")


def draw(trajectory: Any, title: str) -> Any:
    """Return the figure of a trajectory, joints below each other, a floating base beside them; see `Trajectory.plot`."""
    _alone(trajectory.batch)
    quantities = {"position": trajectory.q, "speed": trajectory.qd, "acceleration": trajectory.qdd, "effort": trajectory.tau}
    groups = [_panels(trajectory, name, values) for name, values in quantities.items() if values is not None]
    rows = groups if trajectory.floating else [[panel] for group in groups for panel in group]
    energies = (trajectory.kinetic, trajectory.potential, trajectory.energy)
    first = trajectory.n + len(BASE_LABELS)
    known = {first + k: values for k, values in enumerate(energies) if values is not None}
    if known:
        rows.append([Curves("energy", "J", trajectory.t, np.stack([*known.values()], axis=1), [*known])])
    names = [*trajectory.names, *BASE_LABELS, *ENERGIES]
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
        [panel("speed", "m/s", twist[:, :3]), panel("angular speed", "rad/s", twist[:, 3:])],
        [panel("acceleration", "m/s²", rate[:, :3]), panel("angular\nacceleration", "rad/s²", rate[:, 3:])],
    ]
    return plot(rows, ["x", "y", "z", "w"], title or f"a frame, {len(trajectory)} instants")


def _panels(trajectory: Any, name: str, values: FloatArray) -> list[Curves]:
    """The panels of one quantity: base, joints that turn, joints that slide."""
    base = values.shape[1] - trajectory.n
    joints = joint_panels(name, trajectory.t, values[:, base:], trajectory.slides)
    return [*(base_panels(name, trajectory.t, values[:, :base], trajectory.n) if base else ()), *joints]


def _alone(batch: tuple[int, ...]) -> None:
    if batch:
        first = "0" if len(batch) == 1 else str((0,) * len(batch))
        raise ArgumentError(f"a batch of shape {batch} is not drawn in one picture; draw one motion: member({first}).plot()")
