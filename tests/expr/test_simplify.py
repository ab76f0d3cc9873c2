"""Shorter graphs: what is found, what is left alone on purpose, and that all of it is equal."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from linkwise.expr.count import effort, operation_count
from linkwise.expr.cse import LARGE, SMALL, Bounds, Facts, Residues, merged
from linkwise.expr.evaluate import evaluate
from linkwise.expr.factor import factored, shared
from linkwise.expr.node import Expr, symbol
from linkwise.expr.ordering import operations_needed
from linkwise.expr.resynthesis import combined
from linkwise.expr.simplify import shortened


def letters(names: str) -> tuple[Expr, ...]:
    return tuple(symbol(name) for name in names)


def total(outputs: list[Any]) -> int:
    return sum(count for kind, count in operation_count(outputs).items() if kind != "neg")


def test_equal_values_in_another_order_are_computed_once() -> None:
    x, y, z = letters("xyz")
    one, other = (x + y) + z, x + (y + z)
    made = shortened([one, other, (x * y) * z, x * (z * y), (z - y) - x, x + (y - z)])
    assert made[0] is made[1]
    assert made[2] is made[3]
    assert operation_count(made) == {"mul": 2, "add": 3, "neg": 1}


def test_angle_sums_are_recognised() -> None:
    a, b = letters("ab")
    known = (a + b).cos()
    made = merged([known, a.cos() * b.cos() - a.sin() * b.sin()], Facts())
    assert made == [known, known]


def test_a_product_that_is_known_replaces_a_longer_way() -> None:
    x, y, z, w = letters("xyzw")
    known = [x * (y + z), w]
    long = x * y * w + x * z * w
    made = combined([*known, long], Facts())
    assert str(made[2]) == "w * x * (y + z)" or operation_count(made) == {"mul": 2, "add": 1}


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (lambda a, b, x, y: [a * x + b * x], {"mul": 1, "add": 1}),
        (lambda a, b, x, y: [a * x - x * b + y], {"mul": 1, "add": 2}),
        (lambda a, b, x, y: [a * x * y + b * x * y], {"mul": 2, "add": 1}),
        (lambda a, b, x, y: [2.5 * x - 2.5 * y], {"mul": 1, "add": 1}),
        (lambda a, b, x, y: [a * b * x, a * y * b], {"mul": 3}),
        (lambda a, b, x, y: [a + b - x, x - b + y, y + a], {"add": 4}),
        (lambda a, b, x, y: [-(a * x) - b * x], {"mul": 1, "add": 1, "neg": 1}),
    ],
)
def test_least_operations(make: Any, least: dict[str, int]) -> None:
    made = shortened(make(*letters("abxy")))
    assert operation_count(made) == least


def test_what_cancels_is_left_alone() -> None:
    """1 - cos^2 and differences of squares lose digits where sin^2 and the product of sum and difference do not."""
    a, x, y = letters("axy")
    c, s = a.cos(), a.sin()
    square, rest = c * c, s * s * x
    made = shortened([square, 1.0 - square, rest])
    value = evaluate(made, {a: 1e-6, x: 1.0})
    assert value[2] == pytest.approx(evaluate([rest], {a: 1e-6, x: 1.0})[0], rel=4e-16)
    assert value[1] == pytest.approx(value[2], rel=4e-16), "1 - cos^2 is sin^2, with all its digits"
    given = {a: 0.7, x: 1.0 + 1e-9, y: 1.0}
    squares, products = [x * x, y * y], [a * x, a * y]  # before what could be made of them
    for known, product in ((squares, (x - y) * (x + y)), (products, a * (x - y))):
        found = evaluate(shortened([*known, product]), given)[2]
        assert found == pytest.approx(evaluate([product], given)[0], rel=4e-16)


def test_no_value_gets_to_depend_on_more() -> None:
    """A quotient that is not a number at x = 0 may not come into what is finite there, nor an input into what lacks it."""
    x, y, z = letters("xyz")
    quotient, hidden = z / x, z * y * (1.0 + y)
    made = shortened([quotient, (quotient * x * y) * (1.0 + y), hidden])
    assert evaluate(made, {x: 0.0, y: 2.0, z: 3.0})[2] == 18.0
    a = symbol("a")
    through = (x * a.cos()) * y * a.cos() + (x * a.sin()) * y * a.sin()
    plain = (x * y + x) - x
    made = shortened([through, plain])
    assert evaluate(made, {x: 2.0, y: 3.0, a: float("nan")})[1] == 6.0


def test_numbers_and_symbols_stay() -> None:
    x = symbol("x")
    assert shortened([]) == []
    made = shortened([2.0, x, (x + 1.0) - 1.0, 3.0])
    assert made[0] == 2.0
    assert made[1] is x
    assert made[2] is x, "and a rule takes out what is added and taken away"
    assert made[3] == 3.0


def random_outputs(seed: int, size: int) -> tuple[list[Expr], dict[Expr, float]]:
    """Sums and products of few values, so that many are equal, with angles, quotients and selections among them."""
    random = Random(seed)
    inputs = letters("uvwxyz")
    pool: list[Any] = [
        *inputs,
        inputs[0].cos(),
        inputs[0].sin(),
        inputs[1].cos(),
        inputs[1].sin(),
        (inputs[0] + inputs[1]).cos(),
    ]
    for _ in range(size):
        one, other = random.choice(pool), random.choice(pool[-12:])
        made = random.choice(
            [
                one + other,
                one - other,
                one * other,
                one * other,
                one + other,
                one / (other * other + 1.0),
                one.select(one, other),
            ]
        )
        if isinstance(made, Expr):
            pool.append(made)
    return pool[-10:], {node: random.uniform(-1.5, 1.5) for node in inputs}


@pytest.mark.parametrize("seed", range(25))
def test_equal_on_random_graphs(seed: int) -> None:
    outputs, given = random_outputs(seed, 60)
    bounds = Bounds()
    for way in (shortened, factored, shared, lambda made: merged(made, Facts()), lambda made: combined(made, Facts())):
        made = way(outputs)
        assert total(made) <= total(outputs) or way is not shortened
        for node, found, wanted in zip(outputs, evaluate(made, given), evaluate(outputs, given), strict=True):
            # Some tens of roundings of what is added up, which may be larger than the result.
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12 * max(1.0, *size_of(bounds, node)))
    assert shortened(outputs) == shortened(outputs), "the same graph, the same result"


def size_of(bounds: Bounds, node: Expr) -> tuple[float, ...]:
    return tuple(size for size in bounds.magnitude(node) if size < 1e300)


def test_results_are_never_longer() -> None:
    for seed in range(10):
        outputs, _ = random_outputs(100 + seed, 40)
        assert effort(operations_needed(shortened(outputs))) <= effort(operations_needed(outputs))


def test_residues_tell_values_apart() -> None:
    """Equal residues where values are equal, in both fields; different ones where a single sign differs."""
    a, b, x = letters("abx")
    sums = [(a + b).sin(), a.sin() * b.cos() + a.cos() * b.sin(), a.sin() * b.cos() - a.cos() * b.sin(), (a - b).sin()]
    other = [x / (a + b), x * (1.0 / (b + a)), (x * 0.1) * 10.0, x * 1.0]
    for prime in (LARGE, SMALL):
        residues = Residues(prime)
        residues.learn(operations_needed([*sums, *other]))
        values = [residues[node] for node in sums]
        assert values[0] == values[1] != values[2] == values[3]
        assert residues[other[0]] == residues[other[1]]


def test_roots_and_selections_are_values_of_their_own() -> None:
    x, y = letters("xy")
    residues = Residues()
    nodes = [(x * x).sqrt(), x.select(x, y), x.select(y, x), abs(x), (x * x).sqrt() * (x * x).sqrt()]
    residues.learn(operations_needed(nodes))
    assert len({residues[node] for node in (*nodes, x, y, x * x) if node in residues.of or not node.args}) >= 7


def test_angles_of_many_parts() -> None:
    """Longer than Python's stack is deep."""
    total: Any = symbol("q")
    for _ in range(2000):
        total = total + symbol("q")
    made = shortened([total.cos(), total.sin(), total.cos() * 2.0])
    assert operation_count(made) == {"mul": 1, "add": 2000, "sin": 1, "cos": 1}


def test_bounds_refuse_what_cancels() -> None:
    x, y = letters("xy")
    bounds = Bounds()
    large, small = x * 1e6 + y, x * 1e6
    assert not bounds.allows(y + y, "sub", (large, small))
    assert bounds.allows(large, "add", (small, y))
    assert not bounds.allows(x * x, "mul", (x, y)), "y is no input of x * x"
