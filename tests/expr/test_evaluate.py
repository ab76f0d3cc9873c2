"""Values of expressions on scalars of any kind, against the reference on floats."""

import numpy as np
import pytest

from linkwise.expr.evaluate import evaluate, substitute
from linkwise.expr.node import Expr, symbol
from linkwise.expr.operations import OPERATIONS


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("first", [-0.7, 0.0, 0.4])
def test_every_operation_on_numbers_expressions_and_symbols(name: str, first: float) -> None:
    sympy = pytest.importorskip("sympy")
    count = OPERATIONS[name].arity
    x = [symbol(f"x{k}") for k in range(count)]
    numbers = [abs(first) if name == "sqrt" else first, 0.3, -0.2][:count]
    output = np.array([Expr.apply(name, *x)], dtype=object)
    wanted = evaluate(list(output), dict(zip(x, numbers, strict=True)))[0]

    assert substitute(output, dict(zip(x, numbers, strict=True)))[0] == pytest.approx(wanted, abs=1e-15)

    y = [symbol(f"y{k}") for k in range(count)]
    renamed = substitute(output, dict(zip(x, y, strict=True)))
    assert evaluate(list(renamed), dict(zip(y, numbers, strict=True)))[0] == wanted

    z = sympy.symbols(f"z:{count}", real=True)
    there = substitute(output, dict(zip(x, z, strict=True)))[0]
    assert float(there.subs(dict(zip(z, numbers, strict=True)))) == pytest.approx(wanted, abs=1e-15)
