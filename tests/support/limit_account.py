"""A chain that follows goals under limits, and an account of what its outputs did, by forward passes and differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise import Link, Mechanism, Mimic
from linkwise.control.limits.path_scaling import Pace
from linkwise.spatial.transform import translation

EPS = float(np.finfo(float).eps)

FREE = np.inf


def random_mechanism(seed: int) -> Mechanism:
    """One to five joints, a third of them sliding, a quarter of the links beside others: trees of generic links."""
    rng = np.random.default_rng(seed)
    links = []
    for k in range(int(rng.integers(1, 6))):
        parent = {"parent": f"link{rng.integers(0, k)}"} if k and rng.random() < 0.25 else {}
        theta, d, a, alpha = rng.uniform([-3, -0.5, -0.6, -3], [3, 0.5, 0.6, 3]).tolist()
        joint = "prismatic" if rng.random() < 0.3 else "revolute"
        links.append(Link.dh(theta, d, a, alpha, convention="standard", joint=joint, name=f"link{k}", **parent))
    return Mechanism(links, name=f"random {seed}")


def followers() -> Mechanism:
    """A screw, a telescope whose second stage follows the first, a hinge, and a hinge that turns back by half of it."""
    links = [
        Link(name="screw", joint="screw", pitch=0.1, after=translation(0.3, 0.0, 0.1)),
        Link(name="stage", joint="prismatic", axis=(1, 0, 0)),
        Link(name="second stage", joint="prismatic", axis=(1, 0, 0), mimic=Mimic("stage", 1.0)),
        Link(name="hinge", axis=(0, 1, 0), after=translation(0.3, 0.0, 0.0)),
        Link(name="hand", axis=(0, 1, 0), mimic=Mimic("hinge", -0.5), after=translation(0.2, 0.0, 0.1)),
    ]
    return Mechanism(links, name="followers")


@dataclass
class Driven:
    """A pace with its row, and all that went in and came out.

    Parameters
    ----------
    mech : Mechanism
        The chain.
    pace : Pace
        Its limits are of `points`, then of all joints.
    q : ndarray (n,)
        Where it stands.
    limits : mapping of str to array
        low, high, max_speed, max_acceleration, max_deceleration; infinite where left out.
    """

    mech: Mechanism
    pace: Pace
    points: Sequence[int]
    q: np.ndarray
    limits: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.row, self.out = np.zeros(self.pace.row), np.zeros(self.pace.output_row)
        defaults = {"low": -FREE, "high": FREE, "max_speed": FREE, "max_acceleration": FREE, "max_deceleration": FREE}
        self.give(**{**defaults, **self.limits}, q=self.q, carry=self.pace.rest(self.q), closures=1.0)
        self.outputs, self.lengths = [np.array(self.q, dtype=float)], list[float]()
        self.reports: list[dict[str, float]] = []

    def give(self, **values: Any) -> None:
        """Write parts of the row."""
        for name, value in values.items():
            self.row[self.pace.input_parts[name]] = value

    def cycle(self, goal: Any, dt: float, speed: Any = 0.0) -> np.ndarray:
        """One cycle; the output."""
        if not self.lengths:
            self.lengths.append(dt)  # the cycle before the first one was as long
        self.give(goal=goal, dt=dt, goal_speed=speed, dt_before=self.lengths[-1])
        self.pace.run(self.row, self.out)
        parts = self.pace.output_parts
        q = self.out[parts["q"]].copy()
        self.give(q=q, carry=self.out[parts["carry"]])
        self.reports.append({name: float(self.out[parts[name]][0]) for name in ("limited", "kept", "lam", "looks")})
        if dt > 0:
            self.outputs.append(q)
            self.lengths.append(dt)
        return q

    def follow(self, goals: Iterable[Any], lengths: Iterable[float]) -> None:
        """A cycle for each goal."""
        for goal, dt in zip(goals, lengths, strict=True):
            self.cycle(goal, dt)

    def arrive(self, goal: Any, dt: float, most: int = 20_000) -> int:
        """Cycles until the output is the goal, bit for bit."""
        for k in range(most):
            if (self.cycle(goal, dt) == goal).all():
                return k + 1
        raise AssertionError(f"not there after {most} cycles, {np.abs(self.outputs[-1] - goal).max()} away")

    def chords(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Chord velocities of points (cycles, k, 3) and joints (cycles, n, 1), before them rest; lengths of the cycles."""
        q, dt = np.array(self.outputs), np.array(self.lengths)
        made = []
        for values in (self.places(q), q[:, :, None]):
            chord = np.diff(values, axis=0) / dt[1:, None, None]
            made.append(np.concatenate([np.zeros((1, *chord.shape[1:])), chord]))
        return made, dt

    def places(self, q: np.ndarray) -> np.ndarray:
        """Where the points are (cycles, k, 3), by forward kinematics of the mechanism."""
        poses, tool = self.mech.link_poses(q), self.mech.forward_kinematics(q)
        found = [(tool if point == -1 else poses[:, point])[:, :3, 3] for point in self.points]
        return np.stack(found, axis=1) if found else np.zeros((len(q), 0, 3))

    def broken(self) -> float:
        """By how much a rule is exceeded at most, beyond rounding; below zero where none is.

        A coordinate of a point is some ten roundings of the size of the chain off, on both ends of a cycle: 64 of them over
        the length of the cycle bound the error of a chord velocity, and twice as much that of a difference.
        """
        parts, dt = self.chords()
        h = 0.5 * (dt[1:] + dt[:-1])[:, None]
        size = 1.0 + max(
            np.abs(part).max(initial=0.0) for part in (np.array(self.outputs), self.places(np.array(self.outputs)))
        )
        rounding = 64 * EPS * size / np.minimum(dt[1:], dt[:-1])[:, None]
        fastest, faster, slower = (
            self.row[self.pace.input_parts[f"max_{name}"]] for name in ("speed", "acceleration", "deceleration")
        )
        speed = np.concatenate([np.linalg.norm(part, axis=2) for part in parts], axis=1)
        change = np.concatenate([np.linalg.norm(np.diff(part, axis=0), axis=2) for part in parts], axis=1)
        gain = np.diff(speed, axis=0)
        both = np.isfinite(faster) & np.isfinite(slower)
        exceeded = [speed[1:] - fastest - rounding, gain - faster * h - 2 * rounding, -gain - slower * h - 2 * rounding]
        exceeded.append(np.where(both, change - np.maximum(faster, slower) * h - 2 * rounding, -1.0))
        return float(max(part.max() for part in exceeded))

    def outside(self) -> float:
        """How far a joint was outside its limits at most; below zero where none was."""
        q = np.array(self.outputs)
        low, high = (self.row[self.pace.input_parts[name]] for name in ("low", "high"))
        return float(max((low - q).max(), (q - high).max()))
