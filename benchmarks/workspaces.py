"""Workspaces of a Delta robot and a Gough-Stewart platform beside their geometry: ``python benchmarks/workspaces.py``.

By hand: at random places, one in each cell of a grid, the rods alone decide, from random orientations of the platform, by
damped least squares in NumPy: the lengths of legs within their strokes, or of rods, with the angles of the arms. What is
found by hand is reached for certain, so that its volume is a lower bound but for chance. One core, one thread.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from timing import pin_to_one_core

import linkwise as lw

SIDE, STARTS, STEPS = 24, {"stewart": 6, "delta": 16}, 40
"""Cells along each side of the grid, random starts at each place, and steps of each."""

AROUND = np.deg2rad([75, 105, 195, 225, 315, 345, 45, 135, 165, 255, 285, 15])
"""Where the legs of the platform stand on the base, then on the platform: `lw.robots.stewart`."""


def turned(v: np.ndarray) -> np.ndarray:
    """Rotations (k, 3, 3) by vectors (k, 3): O. Rodrigues."""
    angle = np.linalg.norm(v, axis=-1)[:, None, None]
    x, y, z = (v / np.maximum(angle[:, 0], 1e-300)).T
    o = np.zeros_like(x)
    k = np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(-1, 3, 3)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def legs(p: np.ndarray, r: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What legs of the platform lack of their strokes (k, 6), and its rates by a turn (k, 6, 3)."""
    ring = np.stack([np.cos(AROUND), np.sin(AROUND), np.zeros(12)], axis=-1)
    base, plate = 0.5 * ring[:6], 0.3 * ring[6:]
    home = np.linalg.norm(plate[0] + [0, 0, 0.8] - base[0])
    arms = plate @ np.swapaxes(r, 1, 2)
    along = p[:, None] + arms - base
    length = np.linalg.norm(along, axis=-1)
    lack = length - np.clip(length, home - 0.3, home + 0.3)
    return lack, np.cross(arms, along / length[..., None]) * (lack != 0)[..., None]


def rods(p: np.ndarray, r: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What rods of the Delta lack of their length (k, 6), and its rates by a turn and the arms' angles (k, 6, 6)."""
    around = np.repeat(np.arange(3) * 2.0 * np.pi / 3.0, 2)
    out = np.stack([np.cos(around), np.sin(around), np.zeros(6)], axis=-1)
    aside = 0.05 * np.stack([-np.sin(around), np.cos(around), np.zeros(6)], axis=-1) * np.tile([[-1.0], [1.0]], (3, 1))
    turn, up = np.repeat(angles, 2, axis=1)[..., None], np.array([0.0, 0.0, 1.0])
    elbow = aside + 0.2 * out + 0.3 * (np.cos(turn) * out - np.sin(turn) * up)
    arms = (0.05 * out + aside) @ np.swapaxes(r, 1, 2)
    along = p[:, None] + arms - elbow
    length = np.linalg.norm(along, axis=-1)
    unit = along / length[..., None]
    by_arm = 0.3 * (unit * (np.sin(turn) * out + np.cos(turn) * up)).sum(axis=-1)
    return length - 0.75, np.concatenate(
        [np.cross(arms, unit), by_arm[..., None] * np.repeat(np.eye(3), 2, axis=0)], axis=-1
    )


def reached(name: str, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which places (k, 3) the rods allow."""
    lacking = {"stewart": legs, "delta": rods}[name]
    result = np.zeros(len(p), dtype=bool)
    for _ in range(STARTS[name]):
        left = np.flatnonzero(~result)
        here, r, angles = p[left], turned(rng.normal(0, 2, (len(left), 3))), rng.uniform(-np.pi, np.pi, (len(left), 3))
        lack, rates = lacking(here, r, angles)
        damping = np.ones(len(left))
        for _ in range(STEPS):
            error = (lack**2).sum(axis=1)
            normal = rates.swapaxes(1, 2) @ rates
            normal += (damping * error + 1e-14)[:, None, None] * np.eye(normal.shape[1])
            step = -np.linalg.solve(normal, (lack[:, None] @ rates).swapaxes(1, 2))[..., 0]
            step *= np.minimum(1.0, 0.5 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
            trial = turned(step[:, :3]) @ r, angles + step[:, 3:] if step.shape[1] > 3 else angles
            after, slopes = lacking(here, *trial)
            better = (after**2).sum(axis=1) < error
            r[better], angles[better] = trial[0][better], trial[1][better]
            lack[better], rates[better] = after[better], slopes[better]
            damping *= np.where(better, 0.2, 8.0)
        result[left] = (lack**2).sum(axis=1) < 1e-20
    return result


def main() -> None:
    pin_to_one_core()
    rng = np.random.default_rng(0)
    cells = np.stack(np.meshgrid(*[np.arange(SIDE)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    for name, half in (("delta", np.array([0.9, 0.8, 1.07])), ("stewart", np.array([1.0, 1.0, 1.15]))):
        begin = perf_counter()
        region = getattr(lw.robots, name)().workspace()
        taken = perf_counter() - begin
        places = half * (2.0 * (cells + rng.random(cells.shape)) / SIDE - 1.0)
        by_hand = float(np.prod(2.0 * half) * reached(name, places, rng).mean())
        print(
            f"{name}: {region.size:.3f} m3, uncertain by {region.size_error:.3f}, {len(region.q):,} cells in {taken:.1f} s;",
            end="",
        )
        print(f" by hand {by_hand:.3f} m3 at {len(places):,} places")


if __name__ == "__main__":
    main()
