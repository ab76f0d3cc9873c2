"""Unit quaternions, scalar first."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.spatial.quaternion import (
    axis_and_angle,
    conjugated,
    multiplied,
    quaternion_product,
    quaternion_rotation,
    rotated,
    rotation_quaternion,
    unit_quaternion,
)
from linkwise.spatial.rotation import rotation_about, rotation_x, rotation_y, rotation_z

EPS = np.finfo(float).eps


def rotation(q: np.ndarray) -> np.ndarray:
    return np.asarray(quaternion_rotation(q), dtype=float)


def random_quaternions(count: int = 20) -> np.ndarray:
    q = np.random.default_rng(1).normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


@pytest.mark.parametrize(("k", "about"), [(1, rotation_x), (2, rotation_y), (3, rotation_z)])
def test_about_one_axis(k: int, about: object) -> None:
    for angle in (0.3, -2.0, 3.1):
        q = np.zeros(4)
        q[0], q[k] = np.cos(angle / 2), np.sin(angle / 2)
        assert np.abs(rotation(q) - np.asarray(about(angle), dtype=float)).max() <= 2 * EPS  # type: ignore[operator]


def test_it_is_a_rotation_whatever_the_length() -> None:
    for q in random_quaternions():
        for scale in (1.0, -1.0, 1e-100, 7.0):
            r = rotation(scale * q)
            assert np.abs(r @ r.T - np.eye(3)).max() <= 8 * EPS
            assert abs(np.linalg.det(r) - 1) <= 8 * EPS
            assert np.abs(r - rotation(q)).max() <= 8 * EPS


def test_the_product_is_the_product_of_rotations() -> None:
    for a, b in zip(random_quaternions(), random_quaternions()[::-1], strict=True):
        ab = np.asarray(quaternion_product(a, b), dtype=float)
        assert np.abs(rotation(ab) - rotation(a) @ rotation(b)).max() <= 8 * EPS
        assert abs(np.linalg.norm(ab) - 1) <= 4 * EPS


def test_it_turns_vectors_as_hamilton_says() -> None:
    """(0, R v) = q (0, v) q*."""
    for q in random_quaternions():
        v = np.array([0.3, -1.0, 2.0])
        turned = quaternion_product(quaternion_product(q, [0.0, *v]), q * [1, -1, -1, -1])
        assert np.abs(np.asarray(turned, dtype=float) - [0, *(rotation(q) @ v)]).max() <= 10 * EPS


def test_of_rotations_near_and_at_half_turns() -> None:
    slant = np.array([2.0, -1.0, 2.0]) / 3.0
    for axis in (*np.eye(3), slant):
        for angle in (np.pi, np.pi - 1e-9, np.pi - 1e-4, 2.0, 1e-9):
            turn = np.asarray(rotation_about(axis, angle), dtype=float)
            q = rotation_quaternion(turn)
            expected = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
            assert min(np.abs(q - expected).max(), np.abs(q + expected).max()) < 4 * EPS
            found, by = axis_and_angle(turn)
            assert abs(by - angle) < 4 * EPS * np.pi
            if angle < 3.0:  # at a half turn the axis has no sign; of 1e-9 rad it is known to the rounding over the angle
                assert np.abs(found - axis).max() < 4 * EPS / min(angle, 1.0)


def test_batches_have_the_bits_of_a_loop() -> None:
    a, b = random_quaternions(), random_quaternions()[::-1]
    v = np.random.default_rng(2).normal(size=(20, 3))
    one_by_one = [np.asarray(quaternion_product(x, y), dtype=float) for x, y in zip(a, b, strict=True)]
    assert np.array_equal(multiplied(a, b), one_by_one)
    assert np.array_equal(multiplied(a[:, None], b), [multiplied(x, b) for x in a])
    assert np.array_equal(rotated(a, v), [rotated(x, y) for x, y in zip(a, v, strict=True)])
    turned = [rotation(x) @ y for x, y in zip(a, v, strict=True)]
    assert np.abs(rotated(a, v) - turned).max() <= 8 * EPS
    assert np.array_equal(unit_quaternion(3.0 * a.T).T, [unit_quaternion(3.0 * x) for x in a])
    assert np.abs(rotation_quaternion(np.array([rotation(x) for x in a])) - a * np.sign(a[:, :1])).max() <= 8 * EPS
    assert np.abs(multiplied(a, conjugated(a)) - np.eye(4)[0]).max() <= 4 * EPS
