"""Three turns about axes of the moving frame, against SciPy's rotations, and near the lock of the angles."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spatial.cardan import (
    LOCK,
    cardan_angles,
    cardan_product_matrix,
    cardan_rate_inverse,
    cardan_rate_matrix,
    cardan_rotation,
    rate_products,
    sequence,
)
from linkwise.spatial.rotation import skew
from support.messages import unnamed

SEQUENCES = [axes for axes in itertools.product(range(3), repeat=3) if axes[1] not in (axes[0], axes[2])]
SMALL = 3e-15
"""A dozen roundings of numbers up to 1."""

every_sequence = pytest.mark.parametrize("axes", SEQUENCES, ids=lambda axes: "".join("XYZ"[a] for a in axes))


def lock_angles(axes: tuple[int, int, int]) -> tuple[float, float]:
    """The middle angles at which the outer axes are parallel."""
    return (0.0, math.pi) if axes[0] == axes[2] else (math.pi / 2, -math.pi / 2)


def test_the_third_axis_and_the_sense() -> None:
    assert {axes: sequence(*axes) for axes in SEQUENCES if axes[0] != axes[2]} == {
        axes: (axes[2], 1 if axes in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1) for axes in itertools.permutations(range(3))
    }
    assert sequence(2, 0, 2) == (1, 1)
    assert sequence(2, 1, 2) == (0, -1)


@pytest.mark.parametrize("axes", [(0, 0, 1), (0, 1, 1), (2, 2, 2)])
def test_neighbours_that_are_equal(axes: tuple[int, int, int]) -> None:
    named = ", ".join("XYZ"[a] for a in axes)
    wanted = f"i, j, k are {named}; expected axes whose neighbours differ, such as X, Y, Z or Z, X, Z"
    for function in (cardan_rotation, cardan_rate_matrix, cardan_product_matrix):
        with pytest.raises(ArgumentError) as caught:
            function([0.1, 0.2, 0.3], *axes)
        assert unnamed(caught.value, wanted) == []
    with pytest.raises(ArgumentError, match="neighbours differ"):
        cardan_angles(np.eye(3), *axes)
    with pytest.raises(ArgumentError, match="neighbours differ"):
        cardan_rate_inverse(0.1, 0.2, *axes)


@every_sequence
def test_the_rotation_is_that_of_scipy(axes: tuple[int, int, int]) -> None:
    for q in np.random.default_rng(1).uniform(-7, 7, (20, 3)):
        wanted = Rotation.from_euler("".join("XYZ"[a] for a in axes), q).as_matrix()
        assert np.abs(cardan_rotation(q, *axes) - wanted).max() <= SMALL


@every_sequence
def test_angles_everywhere(axes: tuple[int, int, int]) -> None:
    """Both triples make the rotation, the first is in its range, and the second is the same turn the other way about."""
    for q in np.random.default_rng(2).uniform(-math.pi, math.pi, (60, 3)):
        rotation = cardan_rotation(q, *axes)
        first, second, free = cardan_angles(rotation, *axes)
        assert free > 0
        for found in (first, second):
            assert np.abs(cardan_rotation(found, *axes) - rotation).max() <= SMALL
            assert np.all((-math.pi < found) & (found <= math.pi))
        euler = axes[0] == axes[2]
        assert 0 <= first[1] <= math.pi if euler else abs(first[1]) <= math.pi / 2
        mirrored = -first[1] if euler else math.pi - first[1]
        other = second - [first[0] + math.pi, mirrored, first[2] + math.pi]
        assert np.abs(np.sin(other / 2)).max() <= SMALL
        nearest = min(np.abs(np.sin((found - q) / 2)).max() for found in (first, second))
        # An error of a rounding in the matrix is one of 1 / sin or 1 / cos of the middle angle as much in the outer ones.
        assert nearest <= SMALL / (free + LOCK)


@every_sequence
@pytest.mark.parametrize("outer", [(0.3, 0.7), (-2.5, 3.0), (0.0, 0.0), (1.0, -1.0), (math.pi, math.pi)])
def test_near_the_lock_and_in_it(axes: tuple[int, int, int], outer: tuple[float, float]) -> None:
    """Where the outer angles are nearly undetermined each, the three still make the rotation to rounding."""
    seen = set()
    for middle, power, side in itertools.product(lock_angles(axes), (*range(-20, 0), -math.inf), (-1, 1)):
        q = np.array([outer[0], middle + side * 10.0**power, outer[1]])
        rotation = np.asarray(cardan_rotation(q, *axes), dtype=float)
        first, second, free = cardan_angles(rotation, *axes)
        seen.add(bool(free > 0))
        if free > 0:
            bound = SMALL
        else:
            # In the lock c is put to 0: elements up to LOCK are turned by that angle.
            bound = 2 * LOCK + SMALL
            assert first[2] == 0
            assert np.array_equal(first, second)
        for found in (first, second):
            assert np.abs(cardan_rotation(found, *axes) - rotation).max() <= bound
    assert seen == {True, False}


@every_sequence
def test_a_matrix_of_few_digits(axes: tuple[int, int, int]) -> None:
    """The middle angle is the arc of one element up to 0.95, and beyond it has its place between two others."""
    i, _, k = axes
    _, s = sequence(*axes)
    arc = math.acos if i == k else math.asin
    for known in (0.9, -0.9, 0.94, 0.96, 0.99, -0.99):
        q = [0.4, arc(known), -1.1]
        rotation = np.round(np.asarray(cardan_rotation(q, *axes), dtype=float), 3)
        middle = cardan_angles(rotation, *axes)[0][1]
        element = rotation[i, k] if i == k else s * rotation[i, k]
        if abs(element) < 0.95:
            assert abs(middle - arc(element)) <= SMALL
        # Half a unit of the third digit, times the derivative of the arc; beyond 0.95 sine and cosine each count once.
        assert abs(middle - q[1]) <= 0.0005 * (1 / math.sqrt(1 - 0.94**2) if abs(known) < 0.95 else 2)


@every_sequence
def test_rates(axes: tuple[int, int, int]) -> None:
    """The angular velocity and acceleration, from differences of rotations; and the inverse."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, qp, qpp = rng.uniform(-1, 1, (3, 3))
        q[1] += math.pi / 2 * (axes[0] == axes[2])
        step = 1e-3

        def at(time: float, q: np.ndarray = q, qp: np.ndarray = qp, qpp: np.ndarray = qpp) -> np.ndarray:
            return np.asarray(cardan_rotation(q + qp * time + qpp * time * time / 2, *axes), dtype=float)

        omega = cardan_rate_matrix(q, *axes) @ qp
        alpha = cardan_rate_matrix(q, *axes) @ qpp + cardan_product_matrix(q, *axes) @ rate_products(qp)
        before2, before, now, after, after2 = (at(k * step) for k in range(-2, 3))
        first = (8 * (after - before) - (after2 - before2)) / (12 * step)
        second = (16 * (after + before) - (after2 + before2) - 30 * now) / (12 * step * step)
        # Differences of fourth order: fifth and sixth derivatives are below (3 turns at up to 1 rad/s) 3^6.
        assert np.abs(first @ now.T - skew(omega)).max() <= 3**5 * step**4 / 30 + 1e-15 / step
        assert (
            np.abs(second @ now.T - skew(alpha) - skew(omega) @ skew(omega)).max() <= 3**6 * step**4 / 90 + 2e-15 / step**2
        )
        inverse, free = cardan_rate_inverse(q[0], q[1], *axes)
        assert np.abs(inverse @ cardan_rate_matrix(q, *axes) - np.eye(3)).max() <= SMALL / (free + LOCK)


@every_sequence
def test_no_inverse_in_the_lock(axes: tuple[int, int, int]) -> None:
    for middle in lock_angles(axes):
        assert cardan_rate_inverse(0.3, middle, *axes)[1] <= 0
        assert cardan_rate_inverse(0.3, middle + 1e-13, *axes)[1] > 0


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 2), (1, 0, 2)])
def test_expressions(axes: tuple[int, int, int]) -> None:
    """One graph has the general case, the steep one and the lock."""
    letters = np.array([symbol(name) for name in "abcdefghi"]).reshape(3, 3)
    first, second, free = cardan_angles(letters, *axes)
    for middle in (0.7, 0.1, 1.5, lock_angles(axes)[0]):
        rotation = np.asarray(cardan_rotation([0.3, middle, -0.8], *axes), dtype=float)
        wanted = cardan_angles(rotation, *axes)
        values = dict(zip(letters.ravel(), rotation.ravel(), strict=True))
        found = evaluate([*first, *second, free], values)
        assert np.abs(np.array(found) - [*wanted[0], *wanted[1], wanted[2]]).max() <= SMALL
