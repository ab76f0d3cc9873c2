"""Determinant and adjugate by minors: against LU decomposition, exact on whole numbers and symbols."""

import numpy as np
import pytest
import sympy

from linkwise.expr import evaluate, symbol
from linkwise.spatial.linear import adjugate, determinant

RNG = np.random.default_rng(26)


@pytest.mark.parametrize("n", range(1, 7))
def test_against_lu(n: int) -> None:
    m = RNG.normal(size=(n, n))
    bound = 1e-13 * np.prod(np.linalg.norm(m, axis=1))  # Hadamard's bound, of which the error is a few hundred roundings
    assert abs(determinant(m) - np.linalg.det(m)) <= bound
    assert np.abs(adjugate(m) @ m - np.linalg.det(m) * np.eye(n)).max() <= n * bound * max(1.0, np.abs(m).max())


@pytest.mark.parametrize("n", range(1, 6))
def test_exact_on_whole_numbers_and_symbols(n: int) -> None:
    m = RNG.integers(-9, 10, (n, n)).astype(object)
    wanted = sympy.Matrix(m.tolist())
    assert determinant(m) == wanted.det()
    assert sympy.Matrix(adjugate(m)) == wanted.adjugate()
    singular = m.copy()
    singular[-1] = singular[0] * 2 if n > 1 else 0
    assert determinant(singular) == 0
    if n > 3:
        return
    names = np.array(sympy.symbols(f"a:{n * n}")).reshape(n, n)
    assert sympy.expand(determinant(names) - sympy.Matrix(names).det()) == 0


def test_expressions() -> None:
    x, y = symbol("x"), symbol("y")
    m = np.array([[x, 2.0], [y, x]], dtype=object)
    assert evaluate([determinant(m), *adjugate(m).ravel()], {x: 3.0, y: 4.0}) == [1.0, 3.0, -2.0, -4.0, 3.0]
