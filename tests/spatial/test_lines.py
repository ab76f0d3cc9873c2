"""Normals of nearly parallel vectors, lines and planes, to what rounding leaves."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

from linkwise.equations.tape_to_sympy import decided
from linkwise.kernel import trace
from linkwise.spatial.lines import angle_between, common_line, feet, foot_on_line, normal, over, right_handed, spread, usable
from support.random_mechanisms import random_rotation

EPS = np.finfo(float).eps


@pytest.mark.parametrize("sense", [1, -1])
@pytest.mark.parametrize("sine", [1.0, 0.6, 0.4, 1e-3, 1e-8, 1e-12])
def test_a_normal_is_at_right_angles_to_both(sine: float, sense: int) -> None:
    """A plain vector product is off by a rounding of the lengths, which for a small sine is a wrong direction."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        along, across, _ = random_rotation(rng)
        a = 5 * along
        b = sense * 0.3 * (math.sqrt(1 - sine**2) * along + sine * across)
        n = normal(a, b)
        size = np.linalg.norm(n)
        assert abs(size / 1.5 / sine - 1) <= 16 * EPS / sine
        assert abs(n @ a) <= 8 * EPS * size * 5
        assert abs(n @ b) <= 8 * EPS * size * 0.3
        assert np.linalg.norm(n - np.cross(a, b)) <= 8 * EPS * 1.5


@pytest.mark.parametrize("sine", [1.0, 1e-3, 1e-6, 2e-9])
def test_feet_face_each_other(sine: float) -> None:
    """Where they are on nearly parallel lines is not well determined; that both are at one place along them is."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        along, across, third = random_rotation(rng)
        p, direction = rng.normal(size=3), math.sqrt(1 - sine**2) * along + sine * across
        first, second = feet(p, along, p + 0.5 * third + rng.uniform(-2, 2) * direction, direction)
        assert abs((second - first) @ along) <= 64 * EPS * (1 + np.linalg.norm(first))
        assert abs(np.linalg.norm(second - first) - 0.5) <= 64 * EPS * (1 + np.linalg.norm(first))


def test_nothing_divides_by_zero() -> None:
    null, x = np.zeros(3), np.array([1.0, 0, 0])
    for pair in ((null, null), (null, x), (x, null), (x, x), (x, -x)):
        assert normal(*pair).tolist() == [0, 0, 0]
        assert spread(*pair) <= 0
    assert over(3.0, 0.0) == 3.0
    assert over(3.0, 2.0) == 1.5
    assert foot_on_line(x, null, null).tolist() == [0, 0, 0]


def test_lengths_that_can_be_used() -> None:
    for size in (1e-69, 1.0, 1e69):
        assert usable(np.array([0, size, 0])) > 0
    for size in (0.0, 1e-71, 1e71):
        assert not usable(np.array([0, size, 0])) > 0


def test_angles_frames_and_lines_agree() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        a, b = rng.normal(size=(2, 3))
        along, across, third = right_handed(a, b)
        frame = np.stack([along, across, third], axis=1)
        assert np.abs(frame.T @ frame - np.eye(3)).max() <= 8 * EPS
        angle = angle_between(a, b)
        turned = math.cos(angle) * along + math.sin(angle) * across
        assert np.abs(turned * np.linalg.norm(b) - b).max() <= 16 * EPS * np.linalg.norm(b)
        p, q = rng.normal(size=(2, 3))
        first, second = feet(p, a, q, b)
        gap = second - first
        bound = 64 * EPS * 10 / np.linalg.norm(np.cross(along, b / np.linalg.norm(b))) ** 2
        assert abs(gap @ along) <= bound
        assert abs(gap @ b) <= bound * np.linalg.norm(b)
        # A line is also where two planes through it meet; what rounding leaves is over the sine of their angle.
        n1, n2 = normal(a, p + 3), normal(a, q - 5)
        place, direction = common_line(n1, -n1 @ p, n2, -n2 @ p)
        sine = np.linalg.norm(np.cross(n1, n2)) / (np.linalg.norm(n1) * np.linalg.norm(n2))
        assert np.linalg.norm(np.cross(direction, along)) <= 16 * EPS / sine
        assert np.linalg.norm(foot_on_line(np.zeros(3), p, a) - place) <= 64 * EPS * (1 + np.linalg.norm(p)) / sine


def test_the_general_case_is_the_vector_product() -> None:
    a, b = sympy.Matrix(sympy.symbols("a:3")), sympy.Matrix(sympy.symbols("b:3"))
    traced = trace(normal, "normal", {"a": (3,), "b": (3,)}, {"n": (3,)})
    assert sympy.Matrix(decided(traced, [*a, *b])).expand() == a.cross(b).expand()
