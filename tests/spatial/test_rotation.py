"""Rotations and rigid transforms against matrix exponentials and their own group laws."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from linkwise.expr import Expr, evaluate, symbol
from linkwise.spatial.rotation import (
    SINGULAR,
    axial,
    nearest_rotation,
    rotation_about,
    rotation_between,
    rotation_error,
    rotation_to_rpy,
    rotation_x,
    rotation_y,
    rotation_z,
    rpy_to_rotation,
    skew,
)
from linkwise.spatial.scalar import array, cos_sin
from linkwise.spatial.transform import dh_modified, dh_standard, inverse, is_rigid, transform, translation
from support.random_mechanisms import random_pose, random_rotation

angles = st.floats(-10, 10)
seeds = st.integers(0, 2**16)
SMALL = 4e-15
"""A dozen roundings of numbers up to 1."""


def exponential(matrix: np.ndarray) -> np.ndarray:
    """exp of a matrix, to 30 digits."""
    with mpmath.workdps(30):
        return np.array(mpmath.expm(mpmath.matrix(matrix.tolist())).tolist(), dtype=float)


@given(angles, seeds)
def test_rotation_about_an_axis_is_the_exponential(angle: float, seed: int) -> None:
    axis = random_rotation(np.random.default_rng(seed))[0]
    error = np.abs(rotation_about(axis, angle) - exponential(angle * skew(axis))).max()
    # The axis is a unit vector to rounding only, which the angle multiplies.
    assert error <= SMALL * (1 + abs(angle))


@given(angles)
def test_rotations_about_the_axes(angle: float) -> None:
    for k, rotation in enumerate((rotation_x, rotation_y, rotation_z)):
        assert np.abs(rotation(angle) - rotation_about(np.eye(3)[k], angle)).max() <= SMALL


@given(seeds)
def test_skew_and_axial(seed: int) -> None:
    v, w = np.random.default_rng(seed).normal(size=(2, 3))
    assert np.abs(skew(v) @ w - np.cross(v, w)).max() <= 1e-15 * np.linalg.norm(v) * np.linalg.norm(w)
    assert np.array_equal(axial(skew(v)), v)


@given(seeds, st.sampled_from([0.0, 1e-16, 1e-12, 1e-8, 1e-4, 0.5, 1.5, 3.0]), st.booleans())
def test_least_rotation_between_vectors(seed: int, angle: float, opposite: bool) -> None:
    """Near 0 and near a half turn too, where the general formula divides by almost nothing."""
    frame = random_rotation(np.random.default_rng(seed))
    a = frame[:, 0]
    turned = math.cos(angle) * a + math.sin(angle) * frame[:, 1]
    b = -turned if opposite else turned
    cosine = -math.cos(angle) if opposite else math.cos(angle)
    found = rotation_between(a, b)
    assert np.abs(found.T @ found - np.eye(3)).max() <= 10 * SMALL
    assert np.abs(found @ a - b).max() <= 10 * SMALL
    assert np.linalg.det(found) == pytest.approx(1.0, abs=10 * SMALL)
    assert (np.trace(found) - 1) / 2 == pytest.approx(cosine, abs=10 * SMALL)


@given(st.floats(-3.1, 3.1), st.floats(-1.57, 1.57), st.floats(-3.1, 3.1))
def test_roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> None:
    rotation = rpy_to_rotation(roll, pitch, yaw)
    assert np.abs(rotation - rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)).max() == 0
    assert np.abs(rpy_to_rotation(*rotation_to_rpy(rotation)) - rotation).max() <= SMALL


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
@pytest.mark.parametrize(("roll", "yaw"), [(0.3, 0.5), (0.0, 0.0), (-2.0, 3.0)])
def test_roll_pitch_yaw_at_the_lock(roll: float, pitch: float, yaw: float) -> None:
    """One of the three angles is free; the rotation comes back all the same."""
    rotation = rpy_to_rotation(roll, pitch, yaw)
    found = rotation_to_rpy(rotation)
    assert found[0] == 0.0
    assert np.abs(rpy_to_rotation(*found) - rotation).max() <= SMALL


@given(seeds)
def test_transforms_are_a_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_pose(rng), random_pose(rng)
    assert np.abs(inverse(a) @ a - np.eye(4)).max() <= SMALL
    assert np.abs(inverse(a @ b) - inverse(b) @ inverse(a)).max() <= SMALL
    assert np.array_equal(transform(a[:3, :3], a[:3, 3]), a)
    assert np.array_equal(translation(1, 2, 3)[:3, 3], [1, 2, 3])
    assert is_rigid(a @ b)


def test_what_is_not_rigid() -> None:
    for change in ((0, 0, 1e-5), (3, 0, 1e-9), (3, 3, 1e-9), (0, 3, math.nan), (2, 1, math.inf)):
        pose = np.eye(4)
        pose[change[0], change[1]] += change[2]
        assert not is_rigid(pose)
    assert not is_rigid(np.diag([1.0, 1.0, -1.0, 1.0]))
    assert not is_rigid(np.eye(3))


@given(angles, st.floats(-1, 1), st.floats(-1, 1), angles, st.floats(-1, 1))
def test_denavit_hartenberg_is_its_four_steps(theta: float, d: float, a: float, alpha: float, b: float) -> None:
    turn_z, turn_x = np.eye(4), np.eye(4)
    turn_z[:3, :3], turn_x[:3, :3] = rotation_z(theta), rotation_x(alpha)
    x, y, z = translation(a, 0, 0), translation(0, b, 0), translation(0, 0, d)
    assert np.abs(dh_standard(theta, d, a, alpha, b) - turn_z @ z @ x @ y @ turn_x).max() <= SMALL
    assert np.abs(dh_modified(theta, d, a, alpha) - turn_x @ x @ turn_z @ z).max() <= SMALL


@pytest.mark.parametrize("quarter", range(-9, 10))
def test_right_angles_are_exact(quarter: int) -> None:
    """As degrees turned into radians, or as a multiple of pi/2: true zeros."""
    wanted = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarter % 4]
    assert cos_sin(quarter * math.pi / 2) == wanted
    assert cos_sin(math.radians(90 * quarter)) == wanted
    assert cos_sin(np.float64(quarter * np.pi / 2)) == wanted


@pytest.mark.parametrize("angle", [1e-9, 1e-300, math.pi / 2 + 1e-9, 1.5707963, 1e7, 3.1415])
def test_other_angles_are_what_they_are(angle: float) -> None:
    assert cos_sin(angle) == (math.cos(angle), math.sin(angle))


def test_any_scalar() -> None:
    """Floats, expressions and symbols go through the same formulas."""
    node, letter, number = symbol("t"), sympy.Symbol("t", real=True), 0.7
    for rotation in (rotation_x, rotation_y, rotation_z, lambda t: rotation_about((0.6, 0.0, 0.8), t)):
        numbers = np.asarray(rotation(number), dtype=float)
        nodes = rotation(node)
        assert nodes.dtype == object
        values = [evaluate([entry], {node: number})[0] for entry in nodes.ravel()]
        assert np.abs(np.reshape(values, (3, 3)) - numbers).max() <= SMALL
        letters = sympy.Matrix(rotation(letter)).subs(letter, number)
        assert np.abs(np.array(letters, dtype=float) - numbers).max() <= SMALL
    assert array([1, 2.5]).dtype == np.float64
    assert array([1, node]).dtype == object
    assert isinstance(array([1, node])[1], Expr)


@given(seeds, st.floats(0, 0.3))
def test_the_nearest_rotation_leaves_a_symmetric_stretch(seed: int, error: float) -> None:
    rng = np.random.default_rng(seed)
    matrix = random_rotation(rng) + error * rng.uniform(-1, 1, (3, 3)) / 3
    rotation, measure = nearest_rotation(matrix)
    assert measure > SINGULAR
    assert np.abs(rotation @ rotation.T - np.eye(3)).max() <= SMALL
    stretch = rotation.T @ matrix
    assert np.abs(stretch - stretch.T).max() <= SMALL
    assert np.linalg.eigvalsh(stretch + stretch.T).min() > 0


@given(seeds)
def test_how_far_from_a_rotation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rotation = random_rotation(rng)
    assert rotation_error(rotation) <= SMALL
    assert rotation_error(-rotation) == 8
    matrix = rotation @ np.diag([1.1, 1.0, 0.9])
    assert rotation_error(matrix) == pytest.approx(np.linalg.norm(matrix.T @ matrix - np.eye(3)), abs=SMALL)
    pose = random_pose(rng)
    assert rotation_error(pose) == rotation_error(pose[:3, :3])
