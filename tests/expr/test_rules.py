"""Every rewrite rule: its text proved with SymPy, and its function seen to do what the text says."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator

import pytest
import sympy

from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import Expr, constant, interned, ordered, simplified, symbol
from linkwise.expr.operations import OPERATIONS
from linkwise.expr.rules import RULES, Rule

CASES = {f"{op}: {rule.algebra}": (op, rule) for op, rules in RULES.items() for rule in rules}
CONSTANTS = {"c", "d"}
OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.USub: "neg"}

each_rule = pytest.mark.parametrize("case", CASES)

ASSUMPTIONS = {"": {}, "c > 0": {"positive": True}, "c <= 0": {"nonpositive": True}}
"""What a condition on the constants tells SymPy."""

VALUES = (-3.0, -2.0, -0.75, -0.5, 0.25, 0.5, 1.5, 2.0, 4.0, 7.0)
"""For the constants of a rule: exact in binary, some powers of two."""


def sides(rule: Rule) -> tuple[ast.expr, ast.expr]:
    left, right = rule.algebra.split(" = ")
    return ast.parse(left, mode="eval").body, ast.parse(right, mode="eval").body


def letters(tree: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - OPERATIONS.keys()


def test_every_operation_has_its_rules_listed() -> None:
    assert RULES.keys() == OPERATIONS.keys()
    assert len(CASES) == sum(map(len, RULES.values())), "no rule occurs twice"


@each_rule
def test_proved(case: str) -> None:
    _, rule = CASES[case]
    names = {name: sympy.Symbol(name, real=True) for name in ("x", "y", "z", "a", "c", "d")}
    names |= {"c": sympy.Symbol("c", real=True, **ASSUMPTIONS[rule.where])}
    names |= {"cos": sympy.cos, "sin": sympy.sin, "abs": sympy.Abs, "sign": sympy.sign}
    names |= {"select": lambda c, x, y: sympy.Piecewise((x, c > 0), (y, True))}
    left, right = (eval(side, {}, names) for side in rule.algebra.split(" = "))  # text of the source itself
    assert sympy.simplify(left - right) == 0


class Builder:
    """Builds a side of a rule as raw nodes, without rewriting.

    Letters become symbols, or squares of symbols, in the order in which they are met, since operands of what commutes stand
    in the order of their age; c and d become constants.
    """

    def __init__(self, constants: dict[str, float], large: bool) -> None:
        self.bound = {name: constant(value) for name, value in constants.items()}
        self.large = large
        self.given: dict[Expr, float] = {}
        self.kept: list[Expr] = []

    def letter(self, name: str) -> Expr:
        if name not in self.bound:
            node = symbol(name)
            self.given[node] = (0.3 + (7 * len(self.given) + ord(name)) % 11 / 4.0) * (1 if self.large else -1)
            self.bound[name] = interned("mul", (node, node)) if self.large and name != "a" else node
        return self.bound[name]

    def numbers(self) -> dict[str, float]:
        """What each letter is worth."""
        return {name: evaluate([node], self.given)[0] for name, node in self.bound.items()}

    def build(self, tree: ast.expr) -> Expr:
        match tree:
            case ast.Name(name):
                return self.letter(name)
            case ast.Constant(value):
                return constant(float(value))
            case ast.UnaryOp(ast.USub(), ast.Name(name)) if name in CONSTANTS:
                return constant(-self.bound[name].value)
            case ast.UnaryOp(ast.USub(), inner):
                return interned("neg", (self.build(inner),))
            case ast.Call(ast.Name(op), operands):
                return interned(op, tuple(self.build(operand) for operand in operands))
            case ast.BinOp(left, op, right):
                kind, args = OPERATORS[type(op)], (self.build(left), self.build(right))
                return interned(kind, ordered(args) if OPERATIONS[kind].commutes else args)
        raise AssertionError(ast.dump(tree))


def value(tree: ast.expr, numbers: dict[str, float]) -> float:
    """The value of a side, from its text alone."""
    functions = {"cos": math.cos, "sin": math.sin, "abs": abs, "sign": lambda v: math.copysign(1.0, v) if v else 0.0}
    functions |= {"select": lambda c, x, y: x if c > 0 else y}
    return float(eval(compile(ast.Expression(tree), "rule", "eval"), {}, {**functions, **numbers}))


def trials(op: str, rule: Rule) -> Iterator[tuple[Builder, Expr]]:
    """The left side of a rule, built in many ways, with what must be in the graph already for the rule to apply."""
    left, _ = sides(rule)
    names = sorted(letters(left) & CONSTANTS)
    for numbers in itertools.product(VALUES, repeat=len(names)):
        for large in (False, True):
            builder = Builder(dict(zip(names, numbers, strict=True)), large)
            root = builder.build(left)
            builder.kept = [builder.build(ast.parse(text, mode="eval").body) for text in EXISTING.get(rule.algebra, ())]
            if root.op == op:
                yield builder, root


EXISTING = {
    "x - y = -(y - x)": ("y - x",),
    "x*(c*y) = c*(x*y)": ("x*y",),
    "(c*x)*y = c*(x*y)": ("x*y",),
}
"""What must be in the graph already for a rule to apply."""


def rewritten(rule: Rule, args: tuple[Expr, ...]) -> Expr | None:
    return rule.rewrite(*args) if rule.fits(tuple(arg.op for arg in args)) else None


@each_rule
def test_fires_and_does_what_it_says(case: str) -> None:
    op, rule = CASES[case]
    left, right = sides(rule)
    fired, worst = 0, 0.0
    for builder, root in trials(op, rule):
        result = rewritten(rule, root.args)
        if result is None:
            continue
        fired += 1
        numbers = builder.numbers()
        assert not rule.where or eval(rule.where, {}, numbers), f"fired although not {rule.where}"
        (before,), (after,) = evaluate([root], builder.given), evaluate([result], builder.given)
        wanted = value(left, numbers)
        size = max(1.0, abs(wanted), *(abs(number) for number in numbers.values())) ** 2
        worst = max(worst, *(abs(found - wanted) / size for found in (value(right, numbers), before, after)))
    print(f"fired {fired} times, error {worst:.1e}")
    assert fired >= 2, "each rule is seen to fire, on symbols and on larger operands"
    # A rule re-associates at most two roundings.
    assert worst <= 8e-16


def test_rules_do_not_fire_where_they_do_not_fit() -> None:
    letters = symbol("x"), symbol("y"), symbol("z")
    for op, rules in RULES.items():
        args = letters[: OPERATIONS[op].arity]
        for rule in rules:
            assert rewritten(rule, args) is None, rule.algebra


@each_rule
def test_building_applies_it(case: str) -> None:
    """Arithmetic on expressions never leaves the left side of a rule standing."""
    op, rule = CASES[case]
    for _, root in trials(op, rule):
        if rewritten(rule, root.args) is not None:
            built = simplified(op, root.args)
            assert (built.op, built.args) != (op, root.args)


@pytest.mark.parametrize("power", [-1074, -1030, -1023, -1022, 1022, 1023])
def test_division_by_extreme_powers_of_two(power: int) -> None:
    """Division by c becomes multiplication by 1/c only where 1/c is a number."""
    x, c = symbol("x"), 2.0**power
    for number in (c, 3 * c, 0.0):
        assert evaluate([x / c], {x: number}) == [number / c]


@pytest.mark.parametrize(("c", "x"), [(1e-200, 1e300), (1e200, 1e-300), (1e-160, -1e300)])
def test_constants_whose_product_is_no_number_stay_apart(c: float, x: float) -> None:
    """c * c is 0, infinite, or has lost digits; c * (c * x) is nothing of that."""
    q = symbol("q")
    assert evaluate([c * (c * q)], {q: x}) == [c * (c * x)]


def test_constants_whose_sum_is_infinite_stay_apart() -> None:
    q, c = symbol("q"), 1.5e308
    assert evaluate([c * q + c * q, c * q - (-c) * q], {q: 0.1}) == [c * 0.1 + c * 0.1] * 2


@pytest.mark.parametrize("number", [math.nan, 0.0, -0.0, -math.inf])
def test_a_number_that_is_not_greater_than_zero_selects_the_second(number: float) -> None:
    x, y = symbol("x"), symbol("y")
    assert simplified("select", (constant(number), x, y)) is y
    assert simplified("select", (constant(5e-324), x, y)) is x


def test_constants_fold_in_operations_of_two_and_three_operands() -> None:
    def number(op: str, *operands: float) -> float:
        node = simplified(op, tuple(constant(operand) for operand in operands))
        assert node.op == "const"
        return float(node.value)

    assert number("atan2", 0.0, 2.0) == 0.0
    assert number("atan2", -0.0, -2.0) == math.pi
    assert number("atan2", 1.0, -1.0) == 3 * math.pi / 4
    assert number("select", 1.0, 2.0, math.nan) == 2.0
    assert number("select", 0.0, math.nan, 3.0) == 3.0


def test_teeth() -> None:
    """A wrong rule would be seen by the proof."""
    x = sympy.Symbol("x", real=True)
    assert sympy.simplify(sympy.cos(-x) + sympy.cos(x)) != 0
