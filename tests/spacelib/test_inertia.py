"""Inertia and action matrices: points of mass summed up, power, and bodies that cannot be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import NULL4, ORIGIN, Rev, X, Y, Z
from linkwise.spacelib.inertia import PseDot, actom, jtoj, psedot
from linkwise.spacelib.velocity import makel2
from linkwise.spatial.matrix_method import action_matrix, velocity_matrix
from support.messages import unnamed
from support.spacelib_figures import EPS, on_expressions, on_sympy, same_bits

NOT_A_BODY = "jtoj: no body has these moments of inertia: each of jxx, jyy, jzz is at most the sum of the other two"
TOO_LARGE = "jtoj: no body has products of inertia as large as these beside its moments"


def cloud(rng: np.random.Generator, count: int) -> tuple[list[Any], np.ndarray]:
    """The arguments of jtoj for some points of mass; and the integral of p p' dm."""
    mass = rng.uniform(0.1, 1.0, count)
    places = rng.normal(size=(count, 3)) + np.array([1.0, -2.0, 0.5])
    p = np.column_stack([places, np.ones(count)])
    com = mass @ places / mass.sum()
    x, y, z = (places - com).T
    moments = [mass @ (y * y + z * z), mass @ (x * x + z * z), mass @ (x * x + y * y)]
    products = [-mass @ (x * y), -mass @ (y * z), -mass @ (x * z)]
    given = [mass.sum(), *moments, *products, *com]
    return [float(item) for item in given], np.asarray((p.T * mass) @ p)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10])
def test_inertia_of_points_of_mass(count: int) -> None:
    """One point has no moments, two lie on a line, three in a plane: all of them are bodies."""
    rng = np.random.default_rng(count)
    for _ in range(30):
        given, wanted = cloud(rng, count)
        # Sums of a few dozen products of up to 10 kg and 6 m squared.
        assert np.abs(jtoj(*given) - wanted).max() <= 64 * EPS * 360


def test_batches_are_loops() -> None:
    rng = np.random.default_rng(2)
    given = np.array([cloud(rng, 5)[0] for _ in range(17)]).T
    assert same_bits(jtoj(*given), [jtoj(*column) for column in given.T.tolist()])
    six = rng.normal(size=(6, 17))
    assert same_bits(actom(*six), [actom(*column) for column in six.T.tolist()])
    w = np.array([velocity_matrix(*rng.normal(size=(2, 3))) for _ in range(17)])
    f = actom(*six)
    assert same_bits(PseDot(w, f), [PseDot(a, b) for a, b in zip(w, f, strict=True)])


def test_power() -> None:
    rng = np.random.default_rng(3)
    omega, v, force, moment = rng.normal(size=(4, 3))
    w, f = velocity_matrix(omega, v), actom(*force, *moment)
    assert np.array_equal(f, action_matrix(force, moment))
    assert PseDot(w, f) == pytest.approx(omega @ moment + v @ force, abs=16 * EPS * 6)
    assert psedot is PseDot
    for k, a in enumerate((X, Y, Z)):
        assert PseDot(makel2(Rev, a, 0.0, ORIGIN), f) == moment[k]
    # Only the skew parts of the blocks count.
    blurred = w.copy()
    blurred[:3, :3] += 0.25 * np.ones((3, 3))
    assert PseDot(blurred, f) == pytest.approx(PseDot(w, f), abs=16 * EPS * 6)
    assert PseDot(NULL4, f) == 0


def test_symbols() -> None:
    rng = np.random.default_rng(4)
    given, _ = cloud(rng, 5)
    for function, args in ((jtoj, given), (actom, rng.normal(size=6).tolist())):
        for on_symbols in (on_sympy, on_expressions):
            (found,) = on_symbols(function, *args)
            assert np.abs(found - function(*args)).max() <= 64 * EPS * 36
    w, f = np.asarray(velocity_matrix(*rng.normal(size=(2, 3)))), actom(*rng.normal(size=6))
    for on_symbols in (on_sympy, on_expressions):
        assert abs(on_symbols(PseDot, w, f)[0] - PseDot(w, f)) <= 16 * EPS * 6


def test_what_symbols_give() -> None:
    m, xx, yy, zz, xy, yz, xz, x, y, z = sympy.symbols("m jxx jyy jzz jxy jyz jxz xg yg zg", real=True)
    block = sympy.Matrix([[(yy + zz - xx) / 2, -xy, -xz], [-xy, (xx + zz - yy) / 2, -yz], [-xz, -yz, (xx + yy - zz) / 2]])
    com = sympy.Matrix([x, y, z])
    wanted = sympy.Matrix(sympy.BlockMatrix([[block + m * com * com.T, m * com], [m * com.T, sympy.Matrix([[m]])]]))
    assert sympy.simplify(sympy.Matrix(jtoj(m, xx, yy, zz, xy, yz, xz, x, y, z)) - wanted) == sympy.zeros(4, 4)
    a, b, c, d, e, f = sympy.symbols("a:f", real=True)
    shown = [[0, -f, e, a], [f, 0, -d, b], [-e, d, 0, c], [-a, -b, -c, 0]]
    assert actom(a, b, c, d, e, f).tolist() == shown
    turning = sympy.symbols("p q r u v w", real=True)
    matrix = velocity_matrix(turning[:3], turning[3:])
    power = sum(s * t for s, t in zip(turning, (d, e, f, a, b, c), strict=True))
    assert sympy.expand(PseDot(matrix, actom(a, b, c, d, e, f)) - power) == 0


def test_bodies_at_the_limit() -> None:
    """A thin rod, a thin disc, a point and nothing at all can be, and rounding does not matter."""
    assert jtoj(1, 0.1, 0.1, 0.0, 0, 0, 0, 0, 0, 0)[2, 2] == 0.1
    assert jtoj(1, 0.1, 0.2, 0.1 + 0.2, 0, 0, 0, 0, 0, 0)[2, 2] == pytest.approx(0, abs=EPS)
    assert jtoj(1, 0, 0, 0, 0, 0, 0, 1, 2, 3)[0].tolist() == [1, 2, 3, 1]
    assert jtoj(0, 0, 0, 0, 0, 0, 0, 0, 0, 0).tolist() == NULL4.tolist()
    for size in (1e-12, 1.0, 1e12):  # a rod along the diagonal: the integral of x x' dm has rank one
        third = size / 3
        rod = jtoj(1.0, 2 * third, 2 * third, 2 * third, -third, -third, -third, 0, 0, 0)
        assert np.abs(rod[:3, :3] - third).max() <= 4 * EPS * size


@pytest.mark.parametrize("size", [1e-300, 1e-17, 1e-8, 1.0, 1e300])
def test_an_impossible_body_of_any_size(size: float) -> None:
    """jzz is more than jxx + jyy: the integral of z z dm would be negative. Nothing about a size makes it possible."""
    with pytest.raises(ArgumentError, match="no body has these moments"):
        jtoj(size, size, size, 3 * size, 0, 0, 0, 0, 0, 0)
    with pytest.raises(ArgumentError, match="products of inertia"):
        jtoj(size, size, size, size, 0.6 * size, 0, 0, 0, 0, 0)
    p = sympy.Symbol("p", positive=True)
    with pytest.raises(ArgumentError, match="no body has these moments"):
        jtoj(p, p, p, 3 * p, 0, 0, 0, 0, 0, 0)
    assert jtoj(p, p, p, 2 * p, 0, 0, 0, 0, 0, 0)[2, 2] == 0


def test_moments_that_are_left_over_when_a_body_is_moved() -> None:
    """Moments of points about the origin less those of their mass in the centre: rounding of what was subtracted."""
    rng = np.random.default_rng(6)
    for _ in range(100):
        m, place = rng.uniform(0.1, 2), rng.normal(size=3) * 10
        left = m * (place @ place) * 8 * EPS * rng.uniform(-1, 1, 6)
        J = jtoj(m, *left, *place)
        assert np.abs(J - m * np.outer([*place, 1], [*place, 1])).max() <= 16 * EPS * m * (place @ place)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jtoj(-1, 1, 1, 1, 0, 0, 0, 0, 0, 0), "jtoj: the mass is negative"),
        (lambda: jtoj(1, 1, 1, 2.001, 0, 0, 0, 0, 0, 0), NOT_A_BODY),
        (lambda: jtoj(1, 1e-8, 1e-8, 3e-8, 0, 0, 0, 0, 0, 0), NOT_A_BODY),
        (lambda: jtoj(1, -1, -1, -1, 0, 0, 0, 0, 0, 0), NOT_A_BODY),
        (lambda: jtoj(1, 1, 1, [1, 3], 0, 0, 0, 0, 0, 0), f"{NOT_A_BODY}, at (1,) of the batch"),
        (lambda: jtoj(1, 1, 1, 1, 0.6, 0, 0, 0, 0, 0), TOO_LARGE),
        (lambda: jtoj(1, 1, 1, 1, 0.4, 0.4, 0.4, 0, 0, 0), TOO_LARGE),
        (lambda: jtoj(1, 0, 0, 0, 1e-3, 0, 0, 0, 0, 0), TOO_LARGE),
        (lambda: jtoj(1, 0, 0, 0, 0, 0, -1e-7, 0, 0, 0), TOO_LARGE),
        (lambda: jtoj(1, 1, 1, math.nan, 0, 0, 0, 0, 0, 0), "jtoj: jzz is nan; expected finite numbers"),
        (lambda: actom(1, 2, 3, 4, 5, "x"), "actom: cz holds <U1; expected a real number"),
        (lambda: PseDot(np.eye(3), NULL4), "PseDot: L is of shape (3, 3); expected a matrix (..., 4, 4)"),
        (lambda: PseDot(NULL4, [NULL4 * math.nan]), "PseDot: F is nan at (0, 0, 0); expected finite numbers"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert unnamed(error.value, message) == []
