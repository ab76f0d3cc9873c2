"""Products and lengths of vectors: layouts, batches, symbols, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib import c
from linkwise.spacelib.vectors import cross, dot, dot2, dot3, mod, modulus, unitv, vector
from support.messages import unnamed

RNG = np.random.default_rng(21)
EPS = np.finfo(float).eps
A, B = RNG.normal(size=(2, 40, 3))
N = RNG.normal(size=(40, 9))


def test_they_are_numpys_operations() -> None:
    size = np.abs(A) @ np.abs(B).T
    bound = 4 * EPS * size.max()  # three products are added up
    assert np.abs(cross(A, B) - np.cross(A, B)).max() <= bound
    for product in (dot, dot3, dot2):
        assert np.abs(product(A, B) - (A * B).sum(axis=1)).max() <= bound
    assert np.abs(modulus(N) - np.linalg.norm(N, axis=1)).max() <= 8 * EPS * modulus(N).max()
    assert np.array_equal(mod(N), modulus(N))
    u, t = unitv(A)
    assert np.abs(t - np.linalg.norm(A, axis=1)).max() <= 4 * EPS * t.max()
    assert np.abs(t[:, None] * u - A).max() <= 4 * EPS * np.abs(A).max()
    assert np.abs((u * u).sum(axis=1) - 1).max() <= 8 * EPS
    assert np.array_equal(vector(u, 2.5), 2.5 * u)


def test_batch_equals_loop() -> None:
    u, t = unitv(A)
    for k in range(40):
        assert np.array_equal(cross(A, B)[k], cross(A[k], B[k]))
        assert dot3(A, B)[k] == dot3(A[k], B[k])
        assert dot(A, B)[k] == dot(A[k], B[k])
        assert dot2(N, N[::-1])[k] == dot2(N[k], N[39 - k])
        assert modulus(N)[k] == modulus(N[k])
        assert np.array_equal(u[k], unitv(A[k])[0])
        assert t[k] == unitv(A[k])[1]
        assert np.array_equal(vector(N, t)[k], vector(N[k], t[k]))
        assert modulus(N.T[:, :5].T)[k % 5] == modulus(N[k % 5])
    assert dot2(N, N[0]).shape == (40,)
    assert vector(N[0], t).shape == (40, 9)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-150, 1e150, 1e200, 1e300])
def test_lengths_of_any_size(size: float) -> None:
    for length_of in (modulus, mod, lambda a: c.norm(a[..., None, :])):
        found = length_of(size * N)
        assert np.abs(found / size - modulus(N)).max() <= 8 * EPS * modulus(N).max()
        assert [length_of(size * row) for row in N[:5]] == found[:5].tolist()
        mixed = np.array([[3.0, 4.0], [3.0 * size, 4.0 * size], [0.0, 0.0]])
        assert length_of(mixed).tolist() == pytest.approx([5.0, 5.0 * size, 0.0], rel=4 * EPS)
    for product in (dot2, dot3, dot):
        assert product(size * A[0], B[0] / size) == pytest.approx(A[0] @ B[0], rel=16 * EPS)
    # The 2 is less than the rounding of the products, or all that there is.
    assert dot2([size, size, 1.0], [size, -size, 2.0]) == (2.0 if size < 1.0 else 0.0)


def test_products_that_are_numbers_though_parts_of_them_are_not() -> None:
    """Powers of two, so that the products are exact."""
    most, large = np.finfo(float).max, 2.0**700
    assert cross([1e308, -1e308, 0.0], [0.0, 0.0, 1.0]).tolist() == [-1e308, -1e308, 0.0]
    assert cross([most, -most, most], [0.0, 0.0, 1.0]).tolist() == [-most, -most, 0.0]
    assert cross([large, large, 0.5], [large, large, 0.25]).tolist() == [-large / 4, large / 4, 0.0]
    for product in (dot, dot3, dot2):
        assert product([large, large, 1.0], [large, -large, 0.0]) == 0.0
        assert product([large, 1.25 * large, -large], [large, large, 2.25 * large]) == 0.0
        assert product([most, 1.0, 2.0], [1.0, 0.0, 0.0]) == most
        assert product([large, -large / 2, large / 4], [2.0**324, 2.0**324, 2.0**324]) == 1.5 * 2.0**1023
        mixed = product([[1.0, 2.0, 3.0], [large, large, 0.0]], [[4.0, 5.0, 6.0], [large, -large, 0.0]])
        assert mixed.tolist() == [32.0, 0.0]
    for large in (1e160, 1e200, 1.1e308):
        assert cross([large, large, large], [large, large, large]).tolist() == [0.0, 0.0, 0.0]
    # The 2 is less than the rounding of the products.
    assert [product([1e200, 1e200, 1.0], [1e200, -1e200, 2.0]) for product in (dot, dot3, dot2)] == [0.0] * 3


def test_results_beyond_the_largest_number() -> None:
    """Refused, and not infinite or NaN; in a batch with the place."""
    large = [1e200, 1e200, 0.0]
    for call in (
        lambda: dot2(large, large),
        lambda: dot3(large, large),
        lambda: dot(large, [1e200, -0.5e200, 0.0]),
        lambda: cross(large, [0.0, 1e200, 1e200]),
        lambda: modulus([1.7e308, 1.7e308]),
        lambda: mod([1.7e308, 1.7e308]),
    ):
        with pytest.raises(ArgumentError, match=r"beyond the largest number, 1\.8e308$"):
            call()
    with pytest.raises(ArgumentError, match=r"at \(1,\) of the batch"):
        dot2([[1.0, 2.0], [1e200, 0.0]], [1e200, 0.0])
    with pytest.raises(ArgumentError, match=r"at \(1,\) of the batch"):
        cross([[1.0, 2.0, 3.0], [1e200, 0.0, 0.0]], [0.0, 1e200, 0.0])


def test_layouts() -> None:
    a, b = A[0], B[0]
    wanted = cross(a, b)
    for layout in (list, np.array, lambda v: v[:, None], lambda v: np.append(v, 1.0), lambda v: np.append(v, 0.0)[:, None]):
        assert np.array_equal(cross(layout(a), layout(b)), wanted)
        assert dot3(layout(a), layout(b)) == dot3(a, b)
        assert np.array_equal(unitv(layout(a))[0], unitv(a)[0])
    assert modulus([3.0, 0.0, 4.0, 12.0]) == 13.0  # all entries count, the fourth one too
    assert dot2([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]) == 4.0
    assert vector([[0.0], [1.0], [0.0], [0.0]], 2).tolist() == [0.0, 2.0, 0.0, 0.0]


def test_zero_vector_has_no_direction() -> None:
    u, t = unitv(np.array([[0.0, 0.0, 0.0], [0.0, -2.0, 0.0]]))
    assert u.tolist() == [[0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]
    assert t.tolist() == [0.0, 2.0]


def test_symbols() -> None:
    a, b = sympy.symbols("a1:4", real=True), sympy.symbols("b1:4", real=True)
    assert sympy.Matrix(cross(a, b)) == sympy.Matrix(a).cross(sympy.Matrix(b))
    for product in (dot, dot3, dot2):
        assert sympy.expand(product(a, b) - sum(x * y for x, y in zip(a, b, strict=True))) == 0
    u, t = unitv(a)
    assert t == modulus(a) == mod(a) == sympy.sqrt(a[0] ** 2 + a[1] ** 2 + a[2] ** 2)
    assert sympy.simplify(sympy.Matrix(u) * t - sympy.Matrix(a)) == sympy.zeros(3, 1)
    assert vector([a[0], 0, 1], 0.5).tolist() == [a[0] / 2, 0, sympy.Rational(1, 2)]


def test_linkwise_expressions() -> None:
    a, b = ([symbol(f"{letter}{k}") for k in range(3)] for letter in "ab")
    values = dict(zip([*a, *b], [*A[0], *B[0]], strict=True))

    def close(made: Any, wanted: Any) -> bool:
        return bool(np.abs(np.array(evaluate(list(np.ravel(made)), values)) - np.ravel(wanted)).max() <= 16 * EPS)

    assert close(cross(a, b), cross(A[0], B[0]))
    assert close([dot(a, b), dot3(a, b), dot2(a, b)], [dot3(A[0], B[0])] * 3)
    assert close([modulus(a), mod(a)], [modulus(A[0])] * 2)
    assert close(unitv(a)[0], unitv(A[0])[0])
    assert close(vector(a, b[0]), vector(A[0], B[0, 0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross([1.0, 2.0], [1.0, 2.0, 3.0]), "cross: a is [1.0, 2.0]; expected a vector (..., 3) or (..., 4)"),
        (lambda: dot3(np.zeros(5), np.zeros(3)), "dot3: a is of shape (5,); expected a vector (..., 3) or (..., 4)"),
        (lambda: dot2([1.0, 2.0], [1.0]), "dot2: the shapes are a (2,), b (1,); expected (n) and (n)"),
        (lambda: dot2(np.zeros((2, 3)), np.zeros((4, 3))), "dot2: the batch shapes do not fit each other: (2,) and (4,)"),
        (lambda: dot(np.zeros((2, 3)), np.zeros((4, 3))), "dot: the batch shapes do not fit each other: a (2,), b (4,)"),
        (lambda: modulus(3.0), "modulus: a is 3.0; expected a vector (..., n) of one number or more"),
        (lambda: mod([1.0, np.inf]), "mod: a is inf at (1,); expected finite numbers"),
        (lambda: unitv([np.nan, 0.0, 0.0]), "unitv: v is nan at (0,); expected finite numbers"),
        (lambda: vector(np.zeros((2, 3)), [1.0, 2.0, 3.0]), "vector: the batch shapes do not fit each other: (2,) and (3,)"),
        (lambda: unitv("abc"), "unitv: v holds <U3; expected a vector (..., 3) or (..., 4)"),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []
