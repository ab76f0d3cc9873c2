"""General operations: degrees, random matrices, skew-symmetric matrices and products of them."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest
import sympy

import linkwise.spacelib.transformations as every
from linkwise.errors import ArgumentError
from linkwise.expr import symbol
from linkwise.spacelib import transformations
from linkwise.spacelib.constants import UNIT3
from linkwise.spacelib.transformations import deg, grad, jrand, mtov, rad, skew, tracljlt, vtom
from support.messages import unnamed
from support.random_mechanisms import random_rotation
from support.spacelib_figures import EPS, on_expressions, on_sympy, same_bits

SMALL = 32 * EPS
"""Two dozen roundings of numbers of about 1."""


def test_all_of_section_3_4_is_here() -> None:
    names = "normal normal_g normal3 normskew mami miam miamit mamt grad deg rad jrand invers mtov vtom skew tracljlt"
    assert sorted(every.__all__) == sorted(names.split())
    assert all(callable(getattr(every, name)) for name in names.split())


def test_degrees_and_radians() -> None:
    assert deg(math.pi) == 180
    assert rad(180) == math.pi
    assert rad([90, 45]).tolist() == [math.pi / 2, math.pi / 4]
    given = np.random.default_rng(1).normal(size=(3, 4))
    assert np.array_equal(grad(given), deg(given))
    assert np.allclose(rad(deg(given)), given, rtol=2 * EPS, atol=0)
    assert same_bits(deg(given[0]), [deg(value) for value in given[0]])
    assert same_bits(rad(given[0]), [rad(value) for value in given[0]])
    a = sympy.Symbol("a")
    assert (deg(a), rad(a), deg(sympy.pi / 3), rad(90 * a)) == (180 * a / sympy.pi, sympy.pi * a / 180, 60, sympy.pi * a / 2)
    for on_symbols in (on_sympy, on_expressions):
        for function in (deg, grad, rad):
            assert on_symbols(function, 0.7)[0] == pytest.approx(function(0.7), rel=4 * EPS)


def test_random_matrices() -> None:
    m = jrand(40, 50, -2, 3, rng=5)
    assert m.shape == (40, 50)
    assert m.min() >= -2
    assert m.max() < 3
    # The mean of 2000 numbers, uniform over 5: five times its spread of 5 / sqrt(12 * 2000).
    assert abs(m.mean() - 0.5) <= 5 * 5 / math.sqrt(24_000)
    assert abs(np.histogram(m, bins=5)[0] - 400).max() <= 5 * math.sqrt(400)
    assert np.array_equal(jrand(2, 3, 0, 1, rng=7), jrand(2, 3, 0, 1, rng=np.random.default_rng(7)))
    assert not np.array_equal(jrand(2, 3, 0, 1), jrand(2, 3, 0, 1))
    narrow = jrand(100, 1, 1.0, 1.0 + EPS, rng=1)
    assert (narrow == 1.0).all()


def test_a_forked_process_draws_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.getpid()
    jrand(2, 2, 0, 1)
    monkeypatch.setattr(os, "getpid", lambda: here + 1)  # what a child sees that has all of its parent's memory
    child = jrand(2, 3, 0, 1)
    monkeypatch.setattr(os, "getpid", lambda: here)
    assert not np.array_equal(jrand(2, 3, 0, 1), child)


def test_vectors_and_skew_matrices() -> None:
    rng = np.random.default_rng(2)
    v, w = rng.normal(size=(2, 17, 3))
    m = vtom(v)
    assert np.array_equal(m, -m.swapaxes(1, 2))
    assert np.array_equal(mtov(m), v)
    assert np.abs((m @ w[..., None])[..., 0] - np.cross(v, w)).max() <= SMALL
    assert same_bits(m, [vtom(one) for one in v])
    assert same_bits(mtov(m), [mtov(one) for one in m])
    turn = random_rotation(rng)
    assert np.abs(vtom(turn @ v[0]) - turn @ m[0] @ turn.T).max() <= SMALL
    for given in ([1, 2, 3], (1, 2, 3, 0), [[1], [2], [3]]):
        assert vtom(given).tolist() == [[0, -3, 2], [3, 0, -1], [-2, 1, 0]]
    big = rng.normal(size=(4, 4))
    assert np.abs(vtom(mtov(big)) - (big - big.T)[:3, :3] / 2).max() <= SMALL


def test_products() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 4, 9):
        a, b = rng.normal(size=(2, 17, n, n))
        made = skew(a, b)
        assert np.abs(made - (a @ b - b.swapaxes(1, 2) @ a.swapaxes(1, 2))).max() <= SMALL * n
        assert np.array_equal(made, -made.swapaxes(1, 2))
        assert same_bits(made, [skew(*pair) for pair in zip(a, b, strict=True)])
    a, b, c = rng.normal(size=(3, 17, 4, 4))
    traces = tracljlt(a, b, c)
    assert np.abs(traces - np.trace(a @ b @ c.swapaxes(1, 2), axis1=1, axis2=2)).max() <= 64 * EPS * 27
    assert same_bits(traces, [tracljlt(*three) for three in zip(a, b, c, strict=True)])
    for sizes in ((3, 3, 3), (2, 3, 5), (1, 4, 1), (6, 6, 6), (3, 20, 7), (30, 30, 30)):
        m, n, k = sizes
        one, two, three = (rng.normal(size=(5, *shape)) for shape in ((m, n), (n, k), (m, k)))
        found = tracljlt(one, two, three)
        assert np.abs(found - np.trace(one @ two @ three.swapaxes(1, 2), axis1=1, axis2=2)).max() <= 8 * EPS * m * n * k
        assert same_bits(found, [tracljlt(*each) for each in zip(one, two, three, strict=True)])
    assert tracljlt(UNIT3, UNIT3, UNIT3) == 3
    q = sympy.Symbol("q")
    assert tracljlt([[q, 0]], [[1, 2], [3, 4]], [[1, 1]]) == 3 * q
    symmetric = b + b.swapaxes(1, 2)
    assert np.abs(tracljlt(a, symmetric, c) - tracljlt(c, symmetric, a)).max() <= 64 * EPS * 54


def test_long_matrices_are_not_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of the three is long; J alone may be small."""
    monkeypatch.setattr(transformations, "_traced", None)
    rng = np.random.default_rng(8)
    for m, n, k in ((200, 4, 4), (7, 1, 1), (1, 7, 1), (1, 1, 7), (7, 7, 7)):
        one, two, three = (rng.normal(size=shape) for shape in ((m, n), (n, k), (m, k)))
        wanted = np.trace(one @ two @ three.T)
        assert abs(tracljlt(one, two, three) - wanted) <= 8 * EPS * m * n * k  # of as many products of about 1
        assert tracljlt(one.tolist(), two.tolist(), three.tolist()) == tracljlt(one, two, three)


def test_symbols() -> None:
    rng = np.random.default_rng(4)
    a, b, c = rng.normal(size=(3, 4, 4))
    for on_symbols in (on_sympy, on_expressions):
        assert np.abs(on_symbols(vtom, a[0, :3])[0] - vtom(a[0, :3])).max() == 0
        assert np.abs(on_symbols(mtov, a)[0] - mtov(a)).max() <= SMALL
        assert np.abs(on_symbols(skew, a, b)[0] - skew(a, b)).max() <= SMALL * 4
        assert abs(on_symbols(tracljlt, a, b, c)[0] - tracljlt(a, b, c)) <= 64 * EPS * 27
    x, y, z, q = sympy.symbols("x y z q")
    assert vtom([x, y, z]).tolist() == [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    assert mtov(vtom([x, y, z])).tolist() == [x, y, z]
    assert skew([[x, y], [0, 1]], [[1, q], [0, z]]).tolist() == [[0, q * x + y * z], [-q * x - y * z, 0]]
    ours = symbol("x")
    assert skew([[ours, 0.0], [0.0, 1.0]], np.eye(2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: deg([1.0, math.nan]), "deg: r is nan at (1,); expected finite numbers"),
        (lambda: grad("1"), "grad: r holds <U1; expected a real number"),
        (lambda: rad(1j), "rad: g holds complex128; expected a real number"),
        (lambda: jrand(0, 2, 0, 1), "jrand: imax is 0; expected a whole number of 1 or more"),
        (lambda: jrand(2, 2.5, 0, 1), "jrand: jmax is 2.5; expected a whole number of 1 or more"),
        (lambda: jrand(2, 10**30, 0, 1), f"jrand: there is no memory for 2 x {10**30} numbers"),
        (lambda: jrand(2, 2, 0, 1, "x"), "jrand: rng is 'x'; expected a generator, or a whole number of 0 or more"),
        (lambda: jrand(2, 2, 1, 1), "jrand: the range is 1.0 to 1.0; expected finite numbers, min < max"),
        (
            lambda: jrand(2, 2, -1.7e308, 1.7e308),
            "jrand: the range is -1.7e+308 to 1.7e+308; expected finite numbers, min < max",
        ),
        (lambda: jrand(2, 2, math.nan, 1), "jrand: min is nan; expected finite numbers"),
        (lambda: jrand(2, 2, 0, sympy.Symbol("a")), "jrand: max is a; expected a number"),
        (lambda: jrand(2, 2, [0, 0], 1), "jrand: min is [0, 0]; expected a number"),
        (lambda: mtov([[1, 2], [3, 4]]), "mtov: A is [[1, 2], [3, 4]]; expected a matrix (..., 3, 3) or larger"),
        (lambda: vtom([1, 2]), "vtom: v is [1, 2]; expected a vector (..., 3) or (..., 4)"),
        (
            lambda: skew(np.eye(3), np.eye(4)),
            "skew: the shapes are A (3, 3), B (4, 4); expected (n, n) and (n, n)",
        ),
        (
            lambda: tracljlt(np.eye(4), np.eye(3), np.eye(4)),
            "tracljlt: the shapes are L1 (4, 4), J (3, 3), L2 (4, 4); expected (m, n), (n, k) and (m, k)",
        ),
        (
            lambda: tracljlt(np.eye(20), np.eye(20), np.eye(19)),
            "tracljlt: the shapes are L1 (20, 20), J (20, 20), L2 (19, 19); expected (m, n), (n, k) and (m, k)",
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert unnamed(error.value, message) == []
