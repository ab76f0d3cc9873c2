"""Mass and moments of the solids against sums over many small parts, and MuJoCo's shell of an ellipsoid."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.spatial.solids import SOLIDS, ellipsoid, ellipsoid_shell, sphere_shell

SIZES = {
    "sphere": (0.3,),
    "capsule": (0.2, 0.4),
    "cylinder": (0.2, 0.4),
    "ellipsoid": (0.2, 0.3, 0.4),
    "box": (0.2, 0.3, 0.4),
}
CELLS = 120


def inside(kind: str, size: tuple[float, ...], p: np.ndarray) -> np.ndarray:
    """Whether points (3, n) are in a solid."""
    x, y, z = p
    round_, beyond = np.hypot(x, y), np.maximum(np.abs(z) - size[-1], 0)
    tests = {
        "sphere": lambda: np.linalg.norm(p, axis=0) <= size[0],
        "capsule": lambda: np.hypot(round_, beyond) <= size[0],
        "cylinder": lambda: (round_ <= size[0]) & (beyond == 0),
        "ellipsoid": lambda: np.linalg.norm(p / np.reshape(size, (3, 1)), axis=0) <= 1,
        "box": lambda: np.all(np.abs(p) <= np.reshape(size, (3, 1)), axis=0),
    }
    return np.asarray(tests[kind]())


@pytest.mark.parametrize("kind", SOLIDS)
def test_solids(kind: str) -> None:
    size = SIZES[kind]
    reach = sum(size)
    grid = (np.arange(CELLS) + 0.5) / CELLS * 2 * reach - reach
    points = np.stack(np.meshgrid(grid, grid, grid)).reshape(3, -1)
    points = points[:, inside(kind, size, points)]
    cell = (2 * reach / CELLS) ** 3
    second = cell * (points**2).sum(axis=1)
    made = SOLIDS[kind][1](size)
    moments = [second[1] + second[2], second[0] + second[2], second[0] + second[1]]
    # cells that the surface cuts: their share is about the surface times half a cell, and their errors mostly cancel
    assert abs(made.mass - cell * points.shape[1]) < 0.02 * made.mass
    assert np.abs(np.array(made.moments) - moments).max() < 0.03 * max(moments)


@pytest.mark.parametrize("kind", [kind for kind in SOLIDS if kind != "ellipsoid"])
def test_shells_are_what_a_skin_adds(kind: str) -> None:
    """A skin of thickness t on all sides has t times the mass and moments of the surface, but for t squared."""
    t = 1e-5
    size = SIZES[kind]
    grown = (size[0] + t, size[1]) if kind == "capsule" else tuple(value + t for value in size)
    inner, outer = SOLIDS[kind][1](size), SOLIDS[kind][1](grown)
    shell = SOLIDS[kind][2](size)
    assert abs((outer.mass - inner.mass) / t - shell.mass) < 1e-3 * shell.mass
    added = (np.array(outer.moments) - inner.moments) / t
    assert np.abs(added - shell.moments).max() < 1e-3 * max(shell.moments)


def test_shell_of_an_ellipsoid() -> None:
    """For a ball it is exact; else its area is an approximation (1.1 %), its moments those of all half axes grown alike."""
    ball, exact = ellipsoid_shell((0.3, 0.3, 0.3)), sphere_shell((0.3,))
    assert abs(ball.mass - exact.mass) < 1e-15
    assert np.abs(np.array(ball.moments) - exact.moments).max() < 1e-15
    size, t = (0.2, 0.3, 0.4), 1e-6
    inner, outer = ellipsoid(size), ellipsoid(tuple(value + t for value in size))
    shell = ellipsoid_shell(size)
    ratio = (np.array(outer.moments) - inner.moments) / (outer.mass - inner.mass)
    assert np.abs(np.array(shell.moments) / shell.mass - ratio).max() < 1e-5


@pytest.mark.parametrize("size", [(0.1, 0.2, 0.3), (1.0, 2.0, 0.5)])
def test_shell_of_an_ellipsoid_in_mujoco(size: tuple[float, ...]) -> None:
    mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
    said = " ".join(map(str, size))
    geom = f'<geom type="ellipsoid" size="{said}" shellinertia="true"/>'
    text = f"<mujoco><worldbody><body><joint/>{geom}</body></worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    shell = ellipsoid_shell(size)
    assert abs(model.body_mass[1] - 1000 * shell.mass) < 1e-12 * model.body_mass[1]
    # MuJoCo takes a skin of 1e-6 m, whose moments differ by a few of these over the least half axis
    assert np.abs(model.body_inertia[1] - 1000 * np.array(shell.moments)).max() < 5e-5 * model.body_inertia[1].max()
