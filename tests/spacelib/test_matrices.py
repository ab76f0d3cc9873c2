"""Sums, products, transposes and pseudo-inverses of matrices: numbers, batches, symbols, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import evaluate, symbol
from linkwise.spacelib.matrices import clearmat, crossmto, crosstom, idmat, molt, pseudinv, rmolt, ssum, sub, transp
from linkwise.spatial.rotation import skew

RNG = np.random.default_rng(20)
EPS = np.finfo(float).eps


def test_they_are_numpys_operations() -> None:
    A, B, C = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2))
    assert np.array_equal(molt(A, C), A @ C)
    assert np.array_equal(molt(A, C[:, 0]), A @ C[:, 0])
    assert np.array_equal(rmolt(A, -2.5), -2.5 * A)
    assert np.array_equal(ssum(A, B), A + B)
    assert np.array_equal(sub(A, B), A - B)
    assert np.array_equal(transp(A), A.T)
    assert np.array_equal(crossmto(A, B), B.T @ A - A.T @ B)
    assert np.array_equal(clearmat(2, 3), np.zeros((2, 3)))
    assert np.array_equal(idmat(4), np.eye(4))
    assert ssum(A[0], B[0]).shape == (4,)
    assert ssum(2, 3) == 5.0


def test_results_are_arrays_of_their_own() -> None:
    A = RNG.normal(size=(3, 3))
    for made in (transp(A), ssum(A, np.zeros((3, 3))), rmolt(A, 1.0)):
        assert not np.shares_memory(made, A)


@pytest.mark.parametrize("function", [molt, ssum, sub, crossmto, crosstom])
def test_batch_equals_loop(function: Callable[[Any, Any], Any]) -> None:
    A, B = RNG.normal(size=(2, 5, 1, 4, 4)), RNG.normal(size=(5, 3, 4, 4))
    made = function(A, B)
    assert made.shape == (2, 5, 3, 4, 4)
    for i, j, k in np.ndindex(2, 5, 3):
        assert np.array_equal(made[i, j, k], function(A[i, j, 0], B[j, k]))
    assert np.array_equal(function(A[0, 0, 0], B)[1, 2], function(A[0, 0, 0], B[1, 2]))


def test_batches_of_factors_transposes_and_pseudo_inverses() -> None:
    A, r = RNG.normal(size=(6, 3, 5)), RNG.normal(size=6)
    for k in range(6):
        assert np.array_equal(rmolt(A, r)[k], r[k] * A[k])
        assert np.array_equal(rmolt(A[k], r)[2], r[2] * A[k])
        assert np.array_equal(transp(A)[k], A[k].T)
        assert np.array_equal(pseudinv(A)[k], pseudinv(A[k]))
    assert np.array_equal(rmolt(A[0, 0], 2.0), 2 * A[0, 0])


def test_cross_product_as_a_matrix() -> None:
    a, b = RNG.normal(size=(2, 7, 3))
    for k in range(7):
        wanted = skew(np.cross(a[k], b[k]))
        bound = 4 * EPS * np.abs(np.outer(a[k], b[k])).max()
        assert np.abs(crosstom(a[k], b[k]) - wanted).max() <= bound
        assert np.abs(crosstom(skew(a[k]), skew(b[k])) - wanted).max() <= bound
        assert np.abs(crossmto(skew(a[k]), skew(b[k])) - wanted).max() <= bound
        assert np.array_equal(crosstom(a[k][:, None], b[k][:, None]), crosstom(a[k], b[k]))
        assert np.array_equal(crosstom([*a[k], 0.0], [*b[k], 0.0]), crosstom(a[k].tolist(), b[k].tolist()))
    columns = crosstom(a[:, :, None], b[:, :, None])
    assert all(np.array_equal(columns[k], crosstom(a[k], b[k])) for k in range(7))


def test_pseudo_inverse_has_moore_and_penroses_properties() -> None:
    for m, n, rank in [(3, 3, 3), (5, 3, 3), (3, 5, 3), (5, 4, 2), (4, 6, 1), (3, 2, 0)]:
        A = RNG.normal(size=(m, rank)) @ RNG.normal(size=(rank, n)) if rank else np.zeros((m, n))
        P = pseudinv(A)
        assert P.shape == (n, m)
        # four products of matrices of norms below 10; the singular values left are above 0.05
        assert np.abs(A @ P @ A - A).max() < 1e-12
        assert np.abs(P @ A @ P - P).max() < 1e-10
        assert np.abs(A @ P - (A @ P).T).max() < 1e-12
        assert np.abs(P @ A - (P @ A).T).max() < 1e-12


def test_symbols_stay_exact() -> None:
    x, y = sympy.symbols("x y", real=True)
    A = [[x, 0.5], [0, y]]
    assert molt(A, A).tolist() == [[x**2, x / 2 + y / 2], [0, y**2]]
    assert rmolt(A, 0.5).tolist() == [[x / 2, sympy.Rational(1, 4)], [0, y / 2]]
    assert ssum(A, np.eye(2)).tolist() == [[x + 1, sympy.Rational(1, 2)], [0, y + 1]]
    assert sub(A, A).tolist() == [[0, 0], [0, 0]]
    assert transp(A).tolist() == [[x, 0], [sympy.Rational(1, 2), y]]
    assert crosstom([x, 0, 0], [0, y, 0]).tolist() == [[0, -x * y, 0], [x * y, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(("m", "n"), [(2, 2), (3, 2), (2, 3)])
def test_pseudo_inverse_of_symbols(m: int, n: int) -> None:
    names = sympy.symbols(f"a:{m * n}", real=True)
    made = sympy.Matrix(pseudinv(sympy.Matrix(m, n, names)))
    for _ in range(3):
        values = RNG.normal(size=m * n)
        wanted = pseudinv(values.reshape(m, n))
        found = np.array(made.subs(dict(zip(names, values, strict=True))).tolist(), dtype=float)
        assert (
            np.abs(found - wanted).max() < 1e-10 * max(1.0, np.abs(wanted).max()) ** 2
        )  # the formula squares the condition
    ours = [symbol(f"a{k}") for k in range(m * n)]
    formula = pseudinv(np.array(ours, dtype=object).reshape(m, n))
    found = np.array(evaluate(list(formula.ravel()), dict(zip(ours, values, strict=True)))).reshape(n, m)
    assert np.abs(found - wanted).max() < 1e-10 * max(1.0, np.abs(wanted).max()) ** 2


def test_pseudo_inverse_of_symbols_that_are_dependent() -> None:
    q, a = sympy.symbols("q a", real=True)
    c, s = sympy.cos(q), sympy.sin(q)
    A = sympy.Matrix([[a * c, a * s], [2 * a * c, 2 * a * s], [0, 0]])
    P = sympy.Matrix(pseudinv(A))
    assert sympy.simplify(P - sympy.Matrix([[c, 2 * c, 0], [s, 2 * s, 0]]) / (5 * a)) == sympy.zeros(2, 3)
    assert sympy.Matrix(pseudinv(A * 0 * q)).is_zero_matrix
    x = symbol("x")
    with pytest.raises(ArgumentError, match=r"pseudinv.*1"):
        pseudinv([[x, x], [x, x]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: molt(np.eye(3), np.eye(4)),
            "molt: A is of shape (3, 3) and B of shape (4, 4); expected (..., m, n) and (..., n, k)",
        ),
        (lambda: molt([1.0, 2.0], np.eye(2)), "molt: A is of shape (2,); expected a matrix (..., m, n)"),
        (lambda: molt(np.eye(2), np.nan * np.eye(2)), "molt: B is nan at (0, 0); expected finite numbers"),
        (lambda: molt(np.zeros((2, 3, 3)), np.zeros((3, 3, 3))), "molt: A is of shape (2, 3, 3) and B of shape (3, 3, 3);"),
        (
            lambda: rmolt(np.zeros((2, 3, 3)), [1.0, 2.0, 3.0]),
            "rmolt: the batch shapes do not fit each other: A (2,), r (3,)",
        ),
        (lambda: ssum(np.eye(3), np.ones(3)), "ssum: the shapes (3, 3) and (3,) differ"),
        (lambda: ssum(np.ones(3), np.ones((3, 1))), "ssum: the shapes (3,) and (3, 1) differ"),
        (lambda: ssum(np.eye(3), 1.0), "ssum: the shapes (3, 3) and () differ"),
        (lambda: sub(np.zeros((2, 3, 3)), np.zeros((3, 3, 3))), "sub: the shapes (2, 3, 3) and (3, 3, 3) differ"),
        (lambda: crossmto([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), "crossmto: A2 is of shape (3,); expected a matrix (..., m, n)"),
        (
            lambda: crosstom(np.ones((5, 3)), np.ones((5, 3))),
            "crosstom: A1 is of shape (5, 3); expected (3,), (..., 3, 1) or a square",
        ),
        (lambda: crosstom(np.ones(3), np.eye(3)), "crosstom: the shapes (3,) and (3, 3) differ"),
        (lambda: transp([1.0, 2.0]), "transp: A is of shape (2,); expected a matrix (..., m, n)"),
        (lambda: clearmat(0, 2), "clearmat: m is 0; expected a whole number of 1 or more"),
        (lambda: clearmat(2, 2.5), "clearmat: n is 2.5; expected a whole number of 1 or more"),
        (lambda: idmat("3"), "idmat: id is '3'; expected a whole number of 1 or more"),
        (lambda: pseudinv([1.0, 2.0]), "pseudinv: A is of shape (2,); expected a matrix (..., m, n)"),
        (lambda: pseudinv(np.zeros((0, 3))), "pseudinv: A is of shape (0, 3); expected a matrix (..., m, n)"),
        (lambda: pseudinv([["a"]]), "pseudinv: A holds <U1; expected a matrix (..., m, n)"),
        (lambda: molt([[sympy.Symbol("x")]], [[symbol("x")]]), "molt: SymPy symbols and Linkwise expressions do not mix"),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert str(caught.value).startswith(message)
