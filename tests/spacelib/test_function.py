"""The decorator that makes one body serve numbers, batches and symbols."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import AXIS, MAT4, POINT, SCALAR, SQUARE, VECTOR
from linkwise.spatial.scalar import Array, select
from support.messages import unnamed


@function()
def scaled(a: AXIS, v: VECTOR, k: SCALAR = 2.0) -> Any:
    """One component of a vector, times a number."""
    return v[a] * k


@function(codes=(1,), refuse=("the divisor is zero",))
def ratio(x: SCALAR, y: SCALAR) -> tuple[Any, ...]:
    """A quotient, whether it is above one, and a measure."""
    return x / y, select(x / y - 1.0, 1.0, 0.0), y * y


@function(direct=True)
def product(A: SQUARE, B: SQUARE) -> Array:
    """A product."""
    return np.asarray(A @ B)


@function()
def guarded(x: SCALAR) -> Any:
    """1/x, and 7 for what is not above zero."""
    return select(x, 1.0 / x, 7.0)


@function()
def moved(A: MAT4, P: POINT) -> Array:
    """A point moved."""
    return np.asarray(A @ P)


def test_one_body_for_numbers_and_batches() -> None:
    assert scaled(1, [1.0, 2.0, 3.0], 4.0) == 8.0
    assert scaled(1, [1, 2, 3]) == 4.0
    assert scaled(k=3, v=(1, 2, 3), a=2) == 9.0
    rng = np.random.default_rng(1)
    v, k = rng.normal(size=(5, 1, 3)), rng.normal(size=4)
    many = scaled(0, v, k)
    assert many.shape == (5, 4)
    assert many.tolist() == [[scaled(0, v[i, 0], k[j]) for j in range(4)] for i in range(5)]
    assert scaled(0, np.zeros((0, 3)), 1.0).shape == (0,)


def test_a_vector_is_a_list_a_row_a_column_of_three_or_four() -> None:
    for given in ([1, 2, 3], (1, 2, 3, 0), [[1], [2], [3]], [[1], [2], [3], [1]], np.array([1, 2, 3])):
        assert scaled(2, given, 1.0) == 3.0
    assert scaled(2, [[1, 2, 3]], 1.0).tolist() == [3.0]
    assert moved(np.eye(4), [1, 2, 3]).tolist() == moved(np.eye(4), [[1], [2], [3], [1]]).tolist() == [1, 2, 3, 1]


def test_whole_number_results_and_refusals() -> None:
    value, code = ratio(3.0, 2.0)
    assert (value, code) == (1.5, 1)
    assert type(code) is int
    values, codes = ratio([1.0, 3.0], 2.0)
    assert values.tolist() == [0.5, 1.5]
    assert codes.tolist() == [0, 1]
    assert codes.dtype == int
    with pytest.raises(ArgumentError, match=r"^ratio: the divisor is zero$"):
        ratio(1.0, 0.0)
    with pytest.raises(ArgumentError, match=r"ratio.*\(1,\)"):
        ratio(1.0, [2.0, 0.0, 0.0])


def test_sympy() -> None:
    x, y = sympy.symbols("x y")
    assert guarded(sympy.Integer(-3)) == 7  # known not to be the general case
    with pytest.raises(ArgumentError, match=r"^ratio: the divisor is zero$"):
        ratio(x, sympy.Integer(0))
    assert scaled(1, [0, x, 0], sympy.pi) == sympy.pi * x
    assert scaled(1, sympy.Matrix([0, x, 0]), 0.5) == x / 2
    assert ratio(x, y)[0] == x / y
    assert guarded(x) == 1 / x  # the general case
    made = product(sympy.Matrix([[x, 0], [1, y]]), np.eye(2))
    assert made.tolist() == [[x, 0], [1, y]]
    assert moved(np.eye(4), [x, y, 0.25]).tolist() == [x, y, sympy.Rational(1, 4), 1]


def test_expressions() -> None:
    x = symbol("x")
    made = guarded(x)
    assert [evaluate([made], {x: value})[0] for value in (4.0, -1.0)] == [0.25, 7.0]
    assert scaled(0, [x, 0, 0], 1.0) is x
    assert evaluate([scaled(1, [0.0, x, 1.0], 3.0)], {x: 2.0})[0] == 6.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scaled(5, [1, 2, 3]), "scaled: a is 5; expected 'X (0)', 'Y (1)', 'Z (2)' or 'U (3)'"),
        (lambda: scaled(1.5, [1, 2, 3]), "scaled: a is 1.5; expected 'X (0)', 'Y (1)', 'Z (2)' or 'U (3)'"),
        (lambda: scaled(True, [1, 2, 3]), "scaled: a is True; expected 'X (0)', 'Y (1)', 'Z (2)' or 'U (3)'"),
        (lambda: scaled(0, [1, 2]), "scaled: v is [1, 2]; expected a vector (..., 3) or (..., 4)"),
        (lambda: scaled(0, np.ones((2, 5))), "scaled: v is of shape (2, 5); expected a vector (..., 3) or (..., 4)"),
        (lambda: scaled(0, [1, np.nan, 2]), "scaled: v is nan at (1,); expected finite numbers"),
        (lambda: scaled(0, [1, 2, 3], np.inf), "scaled: k is inf; expected finite numbers"),
        (lambda: scaled(0, [1, 2, 3], "2"), "scaled: k holds <U1; expected a real number"),
        (lambda: scaled(0, [1, 2, 3], 2j), "scaled: k holds complex128; expected a real number"),
        (
            lambda: scaled(0, np.ma.masked_greater([1.0, 2.0, 3.0], 2.5)),
            "scaled: v has masked elements; expected a vector (..., 3) or (..., 4)",
        ),
        (
            lambda: product(np.ones((2, 3, 3)), np.ones((4, 3, 3))),
            "product: the batch shapes do not fit each other: A (2,), B (4,)",
        ),
        (lambda: scaled(0, [1, 2, 3], None), "scaled: k holds None; expected a real number"),
        (lambda: scaled(0, [[1, 2, 3], [1]]), "scaled: v is not an array; expected a vector (..., 3) or (..., 4)"),
        (lambda: scaled(0, np.ones((2, 3)), np.ones(3)), "scaled: the batch shapes do not fit each other: v (2,), k (3,)"),
        (
            lambda: moved(np.eye(4), [1, 2, 3, 0]),
            "moved: P is [1, 2, 3, 0]; expected a point (..., 3), or (..., 4) that ends in 1",
        ),
        (lambda: moved(np.eye(3), [1, 2, 3]), "moved: A is of shape (3, 3); expected a matrix (..., 4, 4)"),
        (
            lambda: scaled(0, [[sympy.Symbol("x"), 0, 0]] * 2),
            "scaled: v has the shape (2, 3); symbols are taken one at a time, no batch",
        ),
        (
            lambda: scaled(0, [sympy.Symbol("x"), symbol("x"), 0]),
            "scaled: SymPy symbols and Linkwise expressions do not mix",
        ),
        (lambda: scaled(0, [sympy.Symbol("x"), "y", 0]), "scaled: v holds 'y'; expected a vector (..., 3) or (..., 4)"),
    ],
)
def test_malformed(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []


def test_a_wrong_number_of_arguments_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'v'"):
        scaled(0)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        scaled(0, [1, 2, 3], q=1)


def test_an_error_of_a_direct_body_stays_what_it_is() -> None:
    @function(direct=True)
    def failing(A: SQUARE) -> Array:
        raise ValueError("of the body")

    with pytest.raises(ValueError, match="of the body") as caught:
        failing(np.eye(2))
    assert not isinstance(caught.value, ArgumentError)


def test_axes_of_one_name_have_one_size() -> None:
    assert product(np.eye(2), np.ones((5, 2, 2))).shape == (5, 2, 2)
    for wrong in (np.eye(3), np.ones((4, 3, 3)), sympy.eye(3) * sympy.Symbol("x")):
        with pytest.raises(ArgumentError, match=r"product.*\(2, 2\).*\(3, 3\)"):
            product(np.eye(2), wrong)


def test_large_finite_numbers_are_no_infinite_ones() -> None:
    """Their sum is infinite, which must not count."""
    assert scaled(0, [1.5e308, 1.5e308, 0.0], 0.5) == 0.75e308
    assert scaled(0, [1.5e308, 1.5e308, -1.5e308], 0.5) == 0.75e308
    for wrong in ([np.inf, -np.inf, 1.0], [1.5e308, 1.5e308, np.nan]):
        with pytest.raises(ArgumentError, match="expected finite numbers"):
            scaled(0, wrong)


def test_the_signature_and_documentation_stay() -> None:
    assert list(inspect.signature(scaled).parameters) == ["a", "v", "k"]
    assert scaled.__doc__ == "One component of a vector, times a number."

    def half_declared(x: SCALAR, y: Any) -> Any:
        return x * y

    with pytest.raises(TypeError, match=r"kinds are given for \['x'\]"):
        function()(half_declared)


def test_many_threads_at_once() -> None:
    """The first calls of a function come from many threads; all are right."""

    @function()
    def squared(x: SCALAR) -> Any:
        return x * x

    found: list[float] = []
    threads = [threading.Thread(target=lambda k=k: found.append(squared(float(k)))) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [float(k * k) for k in range(16)]
