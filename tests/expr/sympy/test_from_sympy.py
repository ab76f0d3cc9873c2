"""SymPy expressions as expressions of Linkwise: what is read, to which value, and what is refused by name."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.core.symbol import Wild

import linkwise as lw
from linkwise.equations.tape_to_sympy import expressions_to_sympy
from linkwise.errors import ArgumentError
from linkwise.expr import Expr, evaluate
from linkwise.expr.node import parameter
from linkwise.expr.sympy.from_sympy import from_sympy
from linkwise.spatial.scalar import greatest, least, select

a, b, c = sympy.symbols("a b c", real=True)
AT = {"a": 0.7, "b": -1.3, "c": 2.5}


def value(made: object) -> float:
    return evaluate([made], {parameter(name): number for name, number in AT.items()})[0]


@pytest.mark.parametrize(
    "expression",
    [
        a + b - c,
        a * b / c,
        a**3 * b**-2,
        c ** sympy.Rational(-3, 2) + sympy.sqrt(c),
        sympy.sin(a) * sympy.cos(b) - sympy.tan(a + b),
        sympy.asin(a) + sympy.acos(a) * sympy.atan(b),
        sympy.atan2(a, b) + sympy.atan2(-a, c),
        sympy.Abs(b) * sympy.sign(b) + sympy.sign(a - a * c),
        sympy.Max(a, b, 2) - sympy.Min(a, c, -1),
        a * sympy.pi / 3 + sympy.E + sympy.sqrt(2) * b + 2 ** sympy.Rational(1, 3) * c,
        sympy.Rational(1, 3) * a + sympy.Float("0.1", 40) * b + 10**20 * c / 10**20,
        sympy.exp(2) * a + sympy.log(5) * b,
    ],
)
def test_values(expression: sympy.Expr) -> None:
    """To a few units in the last place of SymPy's own value with 30 digits."""
    wanted = float(expression.evalf(30, subs={a: AT["a"], b: AT["b"], c: AT["c"]}))
    assert value(from_sympy(expression)) == pytest.approx(wanted, rel=2e-15)


CONDITIONS = [a > b, a < b, a >= b, a <= b, sympy.Eq(a, b), sympy.Ne(a, b)]
CONDITIONS += [sympy.And(a > 0, b > 0), sympy.Or(a > 0, b > 0), sympy.Not(sympy.And(a > 0, b <= 0)), sympy.Or(a > b, a < 0)]
CONDITIONS += [sympy.ITE(a > b, b >= 0, a > 0)]


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_conditions(condition: sympy.Basic) -> None:
    made = from_sympy(sympy.Piecewise((c, condition), (-2 * c, c > 3), (5, True)))
    x, y, z = (parameter(name) for name in "abc")
    for left in (-1.0, 0.0, 0.5):
        for right in (-1.0, 0.0, 0.5):
            for third in (2.0, 4.0):
                wanted = third if condition.subs({a: left, b: right}) == sympy.true else -2 * third if third > 3 else 5.0
                assert evaluate([made], {x: left, y: right, z: third}) == [wanted], (left, right)


def test_a_choice_by_a_choice_comes_back() -> None:
    """SymPy writes a comparison with a Piecewise as another kind of condition, ITE."""
    x, y, z = (parameter(name) for name in "abc")
    chosen = greatest(least(x, y), select(z - y, x, z))
    (written,) = expressions_to_sympy([chosen])
    assert written.has(sympy.ITE)
    for point in itertools.product((-1.0, 0.0, 0.5), repeat=3):
        numbers = dict(zip((x, y, z), point, strict=True))
        assert evaluate([from_sympy(written)], numbers) == evaluate([chosen], numbers)


def test_numbers_are_the_nearest_floats() -> None:
    assert from_sympy(sympy.pi) == math.pi
    assert from_sympy(sympy.pi / 2) == math.pi / 2
    assert from_sympy(sympy.pi / 3) == float((sympy.pi / 3).evalf(40))
    assert from_sympy(sympy.Rational(1, 3)) == 1 / 3
    assert from_sympy(sympy.sqrt(2) / 2) == math.sqrt(0.5)
    assert from_sympy(sympy.Integer(2) ** 70 + 1) == 2.0**70
    assert from_sympy(sympy.Float(0.1)) == 0.1
    assert from_sympy(sympy.Float("0.1", 50)) == 0.1
    assert type(from_sympy(sympy.Integer(3))) is float
    assert from_sympy(2) == 2.0
    assert from_sympy(np.float64(0.5)) == 0.5


def test_arrays_keep_their_shape() -> None:
    made = from_sympy(sympy.Matrix([[a, 1], [0, a]]))
    assert made.shape == (2, 2)
    assert made[0, 0] is made[1, 1] is parameter("a")
    assert (made[0, 1], made[1, 0]) == (1.0, 0.0)
    assert from_sympy([[a, 2.0, parameter("b")]]).shape == (1, 3)
    assert from_sympy(sympy.Array([[a], [b]])).shape == (2, 1)
    assert from_sympy(sympy.Matrix([1, 2])).dtype == np.float64
    assert from_sympy(np.array([a, b], dtype=object))[1] is parameter("b")


def test_symbols_may_be_given() -> None:
    t = sympy.Symbol("t")
    q = sympy.Function("q")(t)
    own = parameter("angle")
    made = from_sympy(sympy.sin(q) ** 2 + a * q.diff(t), {q: own, q.diff(t): 3.0, "a": 2.0})
    assert evaluate([made], {own: 0.4})[0] == pytest.approx(math.sin(0.4) ** 2 + 6.0, rel=1e-15)
    assert from_sympy(a / b + sympy.sqrt(b) * a**2, {a: 6.0, "b": 4.0}) == 73.5
    with pytest.raises(ArgumentError, match=r"^1/b is not a real and finite number$"):
        from_sympy(a / b, {a: 6.0, b: 0.0})


def test_shared_parts_are_read_once() -> None:
    """A chain of squares has 2**2000 operations written out, and is nested deeper than Python's stack goes."""
    deep = a
    for _ in range(2000):
        deep = sympy.Mul(deep, deep, evaluate=False)
    assert isinstance(from_sympy(deep), Expr)


REFUSED = {
    "'exp' in exp(a) is not among what Linkwise computes: sums, products, quotients, powers, 'Abs', 'Max'": sympy.exp(a),
    "'f' in f(a)": sympy.Function("f")(a),
    "'sin' in sin(a)": sympy.Function("sin")(a),
    "'Integral'": sympy.Integral(sympy.sin(a), (a, 0, b)),
    "I is not a real and finite number": sympy.I * a,
    "oo is not a real and finite number": sympy.oo,
    "zoo is not": sympy.zoo,
    "nan is not": a + sympy.nan,
    "is not a real and finite number": sympy.Integer(10) ** 400,
    "'x' is neither a SymPy expression nor a number": "x",
    "None is neither": None,
    "True is neither": True,
    "a < b is neither": a < b,
    "symbol 'z' is not real": sympy.Symbol("z", imaginary=True),
    "symbol 'w' is not real": sympy.Symbol("w", commutative=False),
    "is a Dummy, which has no name": sympy.Dummy("a"),
    "is a Wild": Wild("a"),
    "two symbols with different assumptions are called 'a'": a + sympy.Symbol("a", positive=True),
    "the exponent of a**b is b; expected a whole or half number": a**b,
    "the exponent of a**(1/3) is 1/3": a ** sympy.Rational(1, 3),
    "the exponent of a**1000 is 1000": a**1000,
    "no value for all other cases": sympy.Piecewise((a, a > 0)),
    "is not a condition": sympy.Piecewise((a, sympy.Symbol("yes")), (b, True)),
    "A is not a real and finite number": sympy.MatrixSymbol("A", 2, 2)[0, 0],
    "'' is not a name of a symbol": sympy.Symbol(""),
    "'two\\nlines' is not a name of a symbol": sympy.Symbol("two\nlines"),
    "'Xor'": sympy.Piecewise((a, sympy.Xor(a > 0, b > 0, evaluate=False)), (b, True), evaluate=False),
}


@pytest.mark.parametrize("message", REFUSED, ids=str)
def test_what_there_is_not_is_refused_by_name(message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        from_sympy(REFUSED[message])
    assert message in str(caught.value)


OPERATIONS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / (y * y + 1),
    "s": lambda x, y: sympy.sin(x) + y,
    "c": lambda x, y: sympy.cos(x) * y,
    "2": lambda x, y: x**2 - y / 3,
    "r": lambda x, y: sympy.sqrt(x * x + 1) + y,
}


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("".join(OPERATIONS)), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7)
)
def test_any_expression(steps: list[tuple[str, int, int]]) -> None:
    """However SymPy has arranged it; what is lost is rounding of what is added up."""
    values = [a, b, c, sympy.Rational(2, 7)]
    for op, i, j in steps:
        values.append(OPERATIONS[op](values[-1 - i % len(values)], values[-1 - j % len(values)]))
    made, numbers = from_sympy(values[-1]), {a: AT["a"], b: AT["b"], c: AT["c"]}
    wanted = float(values[-1].evalf(30, subs=numbers))
    size = max(abs(float(part.evalf(15, subs=numbers))) for part in (*values, *sympy.preorder_traversal(values[-1])))
    assert abs(value(made) - wanted) <= 1e-14 * max(1.0, size) ** 2


def test_models_take_sympy() -> None:
    """A number of a link may be a SymPy expression; equal names are one symbol, wherever they come from."""
    m, length = sympy.symbols("m l", positive=True)
    links = [lw.Link.dh(a=length / 2, convention="standard", mass=m * length, inertia=(0, 0, m * length**2 / 12))]
    arm = lw.Mechanism(links, gravity=(0, -lw.symbols("g"), 0))
    assert arm.symbols == ("l", "m", "g")
    assert arm.kernel("mass_matrix")([0.2], [2.0, 3.0, 9.81])[0, 0] == pytest.approx(6.0 + 1.0)
