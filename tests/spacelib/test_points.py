"""Points: angle, distance, points between, vector."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.spacelib.lines import angle, dist, distp, intermed, middle, vect
from support.messages import unnamed
from support.random_mechanisms import random_rotation
from support.spacelib_figures import EPS, inner, on_expressions, on_sympy, parts, random_points, same_bits


def weights(rng: np.random.Generator, *batch: int) -> Any:
    made = rng.uniform(0.5, 2.0, batch)
    return made if batch else float(made)


CASES: dict[Any, list[Any]] = {
    angle: [random_points] * 3,
    distp: [random_points] * 2,
    dist: [random_points] * 2,
    intermed: [random_points, weights] * 2,
    middle: [random_points] * 2,
    vect: [random_points] * 2,
}
every_function = pytest.mark.parametrize("function", list(CASES), ids=lambda function: function.__name__)


def test_angles_of_a_triangle() -> None:
    rng = np.random.default_rng(1)
    a, b, c = (random_points(rng, 500) for _ in range(3))
    found = angle(a, b, c), angle(b, c, a), angle(c, a, b)
    assert np.abs(sum(found) - math.pi).max() <= 8 * EPS * math.pi
    # The law of cosines; the cosine takes the angle's error times the sine.
    sides = distp(b, c), distp(c, a), distp(a, b)
    cosine = (sides[0] ** 2 + sides[2] ** 2 - sides[1] ** 2) / (2 * sides[0] * sides[2])
    assert np.abs((np.cos(found[0]) - cosine) * sides[0] * sides[2]).max() <= 64 * EPS * 10  # squares up to 10 m2 and more
    assert np.abs(angle(c, b, a) - found[0]).max() <= 2 * EPS * math.pi


@pytest.mark.parametrize("size", [1e-12, 1e-6, 0.1, 1.5, math.pi / 2, 3.0, math.pi - 1e-6])
def test_small_and_large_angles_to_rounding(size: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        turn = random_rotation(rng)
        first = turn @ [3 * math.cos(size), 3 * math.sin(size), 0]
        second = turn[:, 0] * 0.2
        with mpmath.workdps(40):
            a, b = mpmath.matrix(first), mpmath.matrix(second)
            cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
            wanted = mpmath.atan2(mpmath.norm(mpmath.matrix(cross)), mpmath.fdot(a, b))
        # Each product of the components rounds as 1 does; no arc cosine makes a root of that near 0 and pi.
        assert abs(angle(first, [0, 0, 0], second) - float(wanted)) <= 4 * EPS


def test_angles_of_special_points() -> None:
    assert angle([1, 1, 1], [1, 1, 1], [5, 5, 5]) == 0.0
    assert angle([1, 1, 1], [2, 1, 1], [2, 1, 1]) == 0.0
    assert angle([2, 1, 1], [1, 1, 1], [5, 1, 1]) == 0.0
    assert angle([0, 1, 1], [1, 1, 1], [5, 1, 1]) == math.pi
    assert angle([1, 0, 0], [0, 0, 0], [0, 0, 7]) == math.pi / 2


def test_distances() -> None:
    rng = np.random.default_rng(3)
    a, b = random_points(rng, 500), random_points(rng, 500)
    assert np.allclose(distp(a, b), [math.dist(p, q) for p, q in zip(a, b, strict=True)], rtol=4 * EPS, atol=0)
    assert np.array_equal(distp(a, b), dist(a, b))
    assert np.array_equal(distp(a, b), distp(b, a))
    assert distp([1, 2, 3], [1, 2, 3, 1]) == 0.0


def test_points_between() -> None:
    rng = np.random.default_rng(4)
    a, b, wa, wb = random_points(rng, 500), random_points(rng, 500), weights(rng, 500), weights(rng, 500)
    assert np.array_equal(intermed(a, 1.0, b, 1.0), middle(a, b))
    assert np.array_equal(middle(a, b)[:, 3], np.ones(500))
    p = intermed(a, wa, b, wb)
    assert np.array_equal(p[:, 3], np.ones(500))
    # Weights as masses: the moments about their middle are in balance.
    balance = wa[:, None] * vect(a, p) + wb[:, None] * vect(b, p)
    assert np.abs(balance).max() <= 16 * EPS * 2 * 4  # weights up to 2, coordinates to 4
    assert np.allclose(distp(a, p) + distp(p, b), distp(a, b), rtol=16 * EPS, atol=16 * EPS)
    assert intermed([1, 2, 3], 2.0, [4, 6, 3], -2.0).tolist() == [-6.0, -8.0, 0.0, 1.0]
    assert intermed([1, 2, 3], 3.0, [4, 6, 3], -1.0).tolist() == [-0.5, 0.0, 3.0, 1.0]
    assert intermed([1, 2, 3], -3.0, [4, 6, 3], 1.0).tolist() == [-0.5, 0.0, 3.0, 1.0]


def test_vectors() -> None:
    rng = np.random.default_rng(5)
    a, b = random_points(rng, 20), random_points(rng, 20)
    assert np.array_equal(vect(a, b), (a - b)[:, :3])
    assert np.allclose(inner(vect(a, b), vect(a, b)), distp(a, b) ** 2, rtol=8 * EPS, atol=0)


def test_layouts() -> None:
    for given in ([1, 2, 3], (1, 2, 3, 1), [[1], [2], [3]], np.array([[1], [2], [3], [1]])):
        assert middle(given, [3, 4, 5]).tolist() == [2.0, 3.0, 4.0, 1.0]
        assert vect(given, [3, 4, 5, 1]).tolist() == [-2.0, -2.0, -2.0]
    assert middle([[1, 2, 3]], [3, 4, 5]).tolist() == [[2.0, 3.0, 4.0, 1.0]]


def test_arguments_are_not_changed() -> None:
    a, b = np.array([1.0, 2.0, 3.0, 1.0]), np.array([3.0, 4.0, 5.0, 1.0])
    middle(a, b)
    assert a.tolist() == [1.0, 2.0, 3.0, 1.0]
    assert b.tolist() == [3.0, 4.0, 5.0, 1.0]


@every_function
def test_a_batch_is_a_loop(function: Any) -> None:
    rng = np.random.default_rng(6)
    args = [make(rng, 17) for make in CASES[function]]
    assert same_bits(function(*args), [function(*(arg[k] for arg in args)) for k in range(17)])


@every_function
def test_symbols(function: Any) -> None:
    rng = np.random.default_rng(7)
    args = [make(rng) for make in CASES[function]]
    (wanted,) = parts(function(*args))
    for made in (on_sympy, on_expressions):
        (found,) = made(function, *args)
        assert np.abs(found - wanted).max() <= 32 * EPS  # a dozen roundings of numbers up to 3


def test_exact_results() -> None:
    a, b, q = sympy.symbols("a b q", positive=True)
    assert middle([a, 0, 1], [b, 1, 0]).tolist() == [a / 2 + b / 2, sympy.Rational(1, 2), sympy.Rational(1, 2), 1]
    assert vect([a, 0.5, 0], [b, 0, q]).tolist() == [a - b, sympy.Rational(1, 2), -q]
    assert sympy.simplify(distp([a * sympy.cos(q), a * sympy.sin(q), 0], [0, 0, 0]) - a) == 0
    assert intermed([a, 0, 0], q, [b, 0, 0], 1)[0].equals((q * a + b) / (q + 1))
    assert angle([a, 0, 0], [0, 0, 0], [b, b, 0]) == sympy.pi / 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distp([1, 2], [1, 2, 3]), "distp: P1 is [1, 2]; expected a point (..., 3), or (..., 4) that ends in 1"),
        (
            lambda: dist([1, 2, 3], [1, 2, 3, 0]),
            "dist: P2 is [1, 2, 3, 0]; expected a point (..., 3), or (..., 4) that ends in 1",
        ),
        (lambda: vect([1, 2, 3], [1, np.inf, 3]), "vect: P2 is inf at (1,); expected finite numbers"),
        (
            lambda: middle([1, 2, 3], ["a", 2, 3]),
            "middle: P2 holds <U21; expected a point (..., 3), or (..., 4) that ends in 1",
        ),
        (lambda: intermed([1, 2, 3], np.nan, [1, 2, 3], 1), "intermed: a is nan; expected finite numbers"),
        (
            lambda: angle(np.ones((2, 4)), np.ones((3, 4)), np.ones(4)),
            "angle: the batch shapes do not fit each other: P1 (2,), P2 (3,), P3 ()",
        ),
    ],
)
def test_malformed(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-150, 1.0, 1e150, 1e170, 1e300])
def test_angles_of_points_near_and_far(size: float) -> None:
    """The products of the components would be zero or infinite; the quotient of the lengths is not."""
    assert abs(float(angle([size, 0, 0], [0, 0, 0], [size, size, 0])) - math.pi / 4) <= 2**-52
    assert abs(float(angle([size, 0, 0], [0, 0, 0], [0, 1e-3 / size if size > 1e200 else size, 0])) - math.pi / 2) <= 2**-52


def test_batches_that_do_not_fit() -> None:
    with pytest.raises(ArgumentError, match=r"middle.*1.*\(2,\).*2.*\(3,\)"):
        middle(np.ones((2, 4)), np.ones((3, 4)))


def test_the_middle_of_the_largest_points() -> None:
    far = [1.7e308, -1.7e308, 1.0]
    assert middle(far, far).tolist() == [*far, 1.0]
    for place, name in enumerate(("P1", "P2")):
        given: list[Any] = [[1, 2, 3], [4, 5, 6]]
        given[place] = [0, np.inf, 0]
        with pytest.raises(ArgumentError, match=rf"^middle: {name} is inf at \(1,\); expected finite numbers$"):
            middle(*given)
