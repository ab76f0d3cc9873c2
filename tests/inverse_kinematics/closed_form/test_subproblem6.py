"""Conics and curves: every point where they meet, as the roots of polynomials say, also where two of them fall together."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.inverse_kinematics.closed_form.subproblems import Turn, conic_on_circle, conic_on_parabola, quadratic
from linkwise.kernel import Kernel, trace
from linkwise.spatial.scalar import Array

COUNT = 400


def _on_circle(conic: Array) -> Array:
    return np.array([[turn.c, turn.s] for turn in conic_on_circle(conic, Turn(1.0, 0.0))], dtype=object)


def _on_parabola(conic: Array) -> Array:
    return np.array(conic_on_parabola(conic), dtype=object)


CIRCLE = Kernel(trace(_on_circle, "on_circle", {"conic": (3, 3)}, {"points": (4, 2)}), "numpy")
PARABOLA = Kernel(trace(_on_parabola, "on_parabola", {"conic": (3, 3)}, {"s": (4,)}), "numpy")
QUADRATIC = Kernel(trace(lambda v: np.array(quadratic(*v), dtype=object), "quadratic", {"v": (3,)}, {"s": (2,)}), "numpy")


def _through(rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
    """Conics at random through points (k, 3)."""
    made = rng.normal(size=(len(points), 3, 3))
    made = made + made.transpose(0, 2, 1)
    made[:, 2, 2] -= np.einsum("ki,kij,kj->k", points, made, points)
    return made


def test_points_on_the_circle_are_the_roots_of_a_polynomial() -> None:
    rng = np.random.default_rng(1)
    angle = rng.uniform(-np.pi, np.pi, COUNT)
    conics = _through(rng, np.stack([np.cos(angle), np.sin(angle), np.ones(COUNT)], axis=1))
    found = CIRCLE(conics)
    angles = np.arctan2(found[..., 1], found[..., 0])
    for conic, own in zip(conics, angles, strict=True):
        a, b, one, d, e, f = conic[0, 0], conic[1, 1], conic[2, 2], conic[0, 1], conic[0, 2], conic[1, 2]
        ends = 0.25 * (a - b) - 0.5j * d, e - 1j * f  # (in z = exp(i t): the conic times z^2)
        roots = np.roots([*ends, 0.5 * (a + b) + one, np.conj(ends[1]), np.conj(ends[0])])
        real = np.angle(roots[np.abs(np.abs(roots) - 1.0) < 1e-7])
        assert len(real) in (2, 4)
        away = np.abs(np.exp(1j * own)[None] - np.exp(1j * real)[:, None]).min(axis=1)
        assert away.max() < 1e-6  # numpy.roots itself loses half the digits where two roots are near each other


def _lines(one: np.ndarray, other: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Two lines (k, 3) each, as conics (k, 3, 3), and t times the circle more."""
    made = one[:, :, None] * other[:, None]
    return np.asarray(made + made.transpose(0, 2, 1) + t[:, None, None] * np.diag([1.0, 1.0, -1.0]))


def _chord(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    middle, half = 0.5 * (first + second), 0.5 * (first - second)
    return np.stack([np.cos(middle), np.sin(middle), -np.cos(half)], axis=1)


@pytest.mark.parametrize("least", [1.0, 1e-3, 1e-6])
def test_four_known_roots(least: float) -> None:
    rng = np.random.default_rng(1)
    roots = rng.uniform(-np.pi, np.pi, (500, 4))
    roots[:, 1] = roots[:, 0] + least * rng.uniform(0.5, 1.0, 500)
    found = CIRCLE(_lines(_chord(roots[:, 0], roots[:, 2]), _chord(roots[:, 1], roots[:, 3]), rng.normal(size=500)))
    on = np.exp(1j * roots)
    away = np.abs((found[..., 0] + 1j * found[..., 1])[:, :, None] - on[:, None]).min(axis=1)
    gaps = np.abs(on[:, :, None] - on[:, None]) + np.eye(4)
    # a root is as uncertain as rounding over the slope there, which is the product of the distances to the others
    assert np.quantile(away * gaps.prod(axis=2), 0.99) < 1e-13
    assert away[gaps.min(axis=2) > 0.1].max() < 1e-9


@pytest.mark.parametrize("flat", [1e-3, 1e-6, 1e-9, 0.0])
def test_a_conic_that_is_nearly_a_line_or_nearly_the_circle(flat: float) -> None:
    rng = np.random.default_rng(4)
    roots = rng.uniform(-np.pi, np.pi, (2000, 2))
    other = rng.normal(size=(2000, 3)) * [flat, flat, 1.0]
    found = CIRCLE(_lines(_chord(roots[:, 0], roots[:, 1]), other, 1e3 * rng.normal(size=2000)))
    away = np.abs((found[..., 0] + 1j * found[..., 1])[:, :, None] - np.exp(1j * roots)[:, None]).min(axis=1)
    assert np.quantile(away, 0.99) < 1e-10  # three digits go with the circle
    assert away.max() < 1e-6


def test_points_that_are_no_roots_stay_away_from_those_that_are() -> None:
    """A line that misses the circle gives two points that are no roots; refined, they must not become bad copies of one."""
    rng = np.random.default_rng(5)
    roots, angle = rng.uniform(-np.pi, np.pi, (2000, 2)), rng.uniform(-np.pi, np.pi, 2000)
    line = np.stack([np.cos(angle), np.sin(angle), -1.2 - rng.random(2000)], axis=1)
    conics = _lines(_chord(roots[:, 0], roots[:, 1]), line, rng.normal(size=2000))
    found = CIRCLE(conics)
    points = np.concatenate([found, np.ones((2000, 4, 1))], axis=2)
    size = np.abs(conics).sum(axis=(1, 2))
    miss = np.abs(np.einsum("kpi,kij,kpj->kp", points, conics, points)) / size[:, None]
    assert ((miss < 1e-14).sum(axis=1) == 2).mean() > 0.98
    assert ((miss > 1e-14) & (miss < 1e-7)).mean() < 0.005


def test_points_on_the_parabola_are_the_roots_of_a_polynomial() -> None:
    rng = np.random.default_rng(2)
    s = rng.normal(size=COUNT)
    conics = _through(rng, np.stack([s * s, s, np.ones(COUNT)], axis=1))
    with np.errstate(all="ignore"):
        found = PARABOLA(conics)
    assert np.nanmin(np.abs(found - s[:, None]), axis=1).max() < 1e-9
    for q, own in zip(conics, found, strict=True):
        roots = np.roots([q[0, 0], 2 * q[0, 1], 2 * q[0, 2] + q[1, 1], 2 * q[1, 2], q[2, 2]])
        real = roots[np.abs(roots.imag) < 1e-9].real
        away = np.nanmin(np.abs(own[None] - real[:, None]), axis=1) / (1.0 + np.abs(real))
        assert away.max() < 1e-6


def test_a_double_root_keeps_its_digits() -> None:
    rng = np.random.default_rng(3)
    angle = rng.uniform(-np.pi, np.pi, COUNT)
    c, s, one = np.cos(angle), np.sin(angle), np.ones(COUNT)
    lines = np.einsum("ki,kj->kij", np.stack([c, s, -one], axis=1), rng.normal(size=(COUNT, 3)))  # (a tangent and a line)
    found = CIRCLE(lines + lines.transpose(0, 2, 1) + rng.normal(size=(COUNT, 1, 1)) * np.diag([1.0, 1.0, -1.0]))
    away = np.hypot(found[..., 0] - c[:, None], found[..., 1] - s[:, None]).min(axis=1)
    assert np.median(away) < 1e-14  # the vertex of the parabola nearby is as well determined as a simple root
    assert away.max() < 1e-4  # the line goes nearly through the tangent's point: three roots, the cube root of the rounding


@pytest.mark.parametrize(
    ("coefficients", "roots"),
    [
        ((1.0, -3.0, 2.0), (1.0, 2.0)),
        ((1.0, 0.0, -4.0), (-2.0, 2.0)),
        ((2.0, 4.0, 2.0), (-1.0, -1.0)),
        ((1.0, 0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_quadratic(coefficients: tuple[float, ...], roots: tuple[float, ...]) -> None:
    assert np.sort(QUADRATIC(np.array(coefficients))).tolist() == list(roots)


def test_quadratic_keeps_the_small_root() -> None:
    small, large = 1e-9, 1e9
    found = np.sort(QUADRATIC(np.array([1.0, -(small + large), small * large])))
    assert np.abs(found / [small, large] - 1.0).max() < 4e-16  # two units in the last place, no digit cancelled
