"""Screws over scalars: plain floats give what the matrices are made of, expressions the same when evaluated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linkwise.expr import evaluate, symbol
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.scalar import array
from linkwise.spatial.screw import (
    rotation_screw,
    screw_rotation,
    screw_transform,
    screw_velocity,
    transform_screw,
    velocity_screw,
)
from linkwise.spatial.transform import inverse, transform, translation
from support.random_mechanisms import random_pose, random_rotation

SMALL = 8e-15
"""Two dozen roundings of numbers up to 1."""

FUNCTIONS: dict[Any, Any] = {
    screw_rotation: lambda rng: [rng.normal(size=3), rng.normal()],
    screw_transform: lambda rng: [rng.normal(size=3), rng.normal(), rng.normal(size=3), rng.normal()],
    rotation_screw: lambda rng: [random_rotation(rng)],
    transform_screw: lambda rng: [random_pose(rng)],
    screw_velocity: lambda rng: [rng.normal(size=3), rng.normal(size=3), rng.normal()],
    velocity_screw: lambda rng: [screw_velocity(*rng.normal(size=(2, 3)), rng.normal())],
}


def flat(result: Any) -> list[Any]:
    parts = result if isinstance(result, tuple) else (result,)
    return [item for part in parts for item in np.asarray(part).ravel().tolist()]


@pytest.mark.parametrize("function", list(FUNCTIONS), ids=lambda function: function.__name__)
def test_expressions_are_as_numbers(function: Any) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        given = FUNCTIONS[function](rng)
        named, values = [], {}
        for arg in given:
            names = [symbol("x") for _ in range(np.size(arg))]
            values |= dict(zip(names, np.ravel(arg).tolist(), strict=True))
            named.append(np.array(names, dtype=object).reshape(np.shape(arg)) if np.ndim(arg) else names[0])
        assert evaluate(flat(function(*named)), values) == pytest.approx(flat(function(*given)), abs=SMALL, rel=SMALL)


def test_axis_and_angle_are_the_quaternions() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        rotation = random_rotation(rng)
        axis, angle = rotation_screw(rotation)
        other, turn = axis_and_angle(rotation)
        assert angle == pytest.approx(float(turn), abs=SMALL)
        assert np.abs(axis - other).max() <= SMALL / min(1.0, angle)
    still, angle = rotation_screw(np.eye(3))
    assert (still.tolist(), angle) == ([0, 0, 0], 0)


def test_a_displacement_is_a_turn_about_a_line_and_a_move_along_it() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        u, p, phi, h = random_rotation(rng)[0], rng.normal(size=3), rng.uniform(0.1, 3), rng.normal()
        shift = translation(*p)
        wanted = shift @ transform(screw_rotation(u, phi), h * u) @ inverse(shift)
        t = screw_transform(u, phi, p, h)
        assert np.abs(t - wanted).max() <= SMALL * 4
        axis, angle, point, along = transform_screw(t)
        assert np.abs(screw_transform(axis, angle, point, along) - t).max() <= SMALL * 4
        assert abs(angle - phi) <= SMALL
        assert abs(along - h) <= SMALL * 4


def test_small_turns_lose_nothing() -> None:
    """(1 - R) P written out would lose all digits here: the displacement is known to 30 digits by the series."""
    p = np.array([1.0, 2.0, 3.0])
    for phi in (1e-5, 1e-9, 1e-15, 1e-200):
        moved = screw_transform([0.0, 0.0, 1.0], phi, p, 0.0)[:3, 3]
        c = phi * phi / 2 - phi**4 / 24
        s = phi - phi**3 / 6
        assert moved == pytest.approx([p[0] * c + p[1] * s, p[1] * c - p[0] * s, 0.0], rel=1e-15, abs=0)


def test_a_velocity_is_a_screw() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        u, p, pitch = random_rotation(rng)[0], rng.normal(size=3), rng.normal()
        rate = rng.uniform(0.1, 3)
        axis, omega, speed, point = velocity_screw(rate * screw_velocity(u, p, pitch))
        assert (omega, speed) == (pytest.approx(rate, rel=SMALL), pytest.approx(rate * pitch, abs=SMALL * 4))
        assert np.abs(axis - u).max() <= SMALL
        assert np.abs(np.cross(point - p, u)).max() <= SMALL * 4
        step = 1e-6
        # The displacement in a short time, of second order in it; rounding is divided by the time.
        small = (screw_transform(u, step, p, pitch * step) - np.eye(4)) / step
        assert np.abs(small - screw_velocity(u, p, pitch)).max() <= 8 * step


def test_lists_of_whole_numbers() -> None:
    assert flat(velocity_screw([[0, -2, 0, 0], [2, 0, 0, 2], [0, 0, 0, 3], [0, 0, 0, 0]])) == [0, 0, 1, 2, 3, -1, 0, 0]
    assert flat(transform_screw([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]])) == [
        *(0, 0, 1),
        math.pi / 2,
        *(0, 0, 0),
        3,
    ]
    assert flat(screw_velocity([0, 0, 2], [1, 0, 0], 3)[:3, 3]) == [0, -1, 3]
    assert flat(screw_transform([0, 0, 2], 0, [1, 0, 0], 3)[:3, 3]) == [0, 0, 3]


def test_at_the_ends() -> None:
    axis, angle = rotation_screw(np.diag([-1.0, -1.0, 1.0]))
    assert (axis.tolist(), angle) == ([0, 0, 1], math.pi)
    assert [part.tolist() if np.ndim(part) else part for part in velocity_screw(np.zeros((4, 4)))] == [
        [0] * 3,
        0,
        0,
        [0] * 3,
    ]
    assert screw_transform(array([0, 0, 0]), 1.0, [1, 2, 3], 4.0).tolist() == np.eye(4).tolist()
