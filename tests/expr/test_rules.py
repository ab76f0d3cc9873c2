"""Every rewrite rule: its text proved with SymPy, and its function seen to do what the text says."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

import numpy as np
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

VALUES = (-3.0, -2.0, -0.75, -0.5, 0.25, 0.5, 1.5, 2.0, 4.0, 7.0)
"""For the constants of a rule: exact in binary, some powers of two."""


def sides(rule: Rule) -> tuple[ast.expr, ast.expr]:
    left, right = rule.algebra.split(" = ")
    return ast.parse(left, mode="eval").body, ast.parse(right, mode="eval").body


def letters(tree: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - OPERATIONS.keys()


def test_every_operation_has_its_rules_listed() -> None:
    assert RULES.keys() == OPERATIONS.keys()
    assert len(CASES) == sum(map(len, RULES.values())), "no rule stands twice"


@each_rule
def test_proved(case: str) -> None:
    _, rule = CASES[case]
    names = {name: sympy.Symbol(name, real=True) for name in ("x", "y", "z", "a", "c", "d")}
    names |= {"cos": sympy.cos, "sin": sympy.sin, "abs": sympy.Abs, "sign": sympy.sign}
    left, right = (eval(side, {}, names) for side in rule.algebra.split(" = "))  # text of the source itself
    assert sympy.simplify(left - right) == 0


class Builder:
    """Builds a side of a rule as raw nodes, without rewriting; the bindings are nodes."""

    def __init__(self, bound: dict[str, Expr]) -> None:
        self.bound = bound

    def build(self, tree: ast.expr) -> Expr:
        match tree:
            case ast.Name(name):
                return self.bound[name]
            case ast.Constant(value):
                return constant(float(value))
            case ast.UnaryOp(ast.USub(), ast.Name(name)) if self.bound[name].op == "const":
                return constant(-self.bound[name].value)
            case ast.UnaryOp(ast.USub(), inner):
                return interned("neg", (self.build(inner),))
            case ast.Call(ast.Name(op), [inner]):
                return interned(op, (self.build(inner),))
            case ast.BinOp(left, op, right):
                kind, args = OPERATORS[type(op)], (self.build(left), self.build(right))
                return interned(kind, ordered(args) if OPERATIONS[kind].commutes else args)
        raise AssertionError(ast.dump(tree))

    def value(self, tree: ast.expr, numbers: dict[str, float]) -> float:
        """The value of a side, from its text alone."""
        functions = {"cos": math.cos, "sin": math.sin, "abs": abs, "sign": lambda v: math.copysign(1.0, v) if v else 0.0}
        return float(eval(compile(ast.Expression(tree), "rule", "eval"), {}, {**functions, **numbers}))


def bindings(rule: Rule) -> Iterator[tuple[dict[str, Expr], dict[str, float], dict[Expr, float]]]:
    """What the letters stand for: symbols, or larger expressions; numbers for the constants."""
    rng = np.random.default_rng(1)
    left, _ = sides(rule)
    for trial in range(60):
        symbols = {name: symbol(name) for name in sorted(letters(left) - CONSTANTS)}
        given = {symbols[name]: float(rng.uniform(0.3, 2.5) * rng.choice([-1, 1])) for name in symbols}
        bound = dict(symbols)
        if trial % 2:
            bound = {name: interned("mul", (node, node)) if name != "a" else node for name, node in symbols.items()}
        for name in sorted(letters(left) & CONSTANTS):
            bound[name] = constant(float(rng.choice(VALUES)))
        numbers = {name: evaluate([node], given)[0] for name, node in bound.items()}
        yield bound, numbers, given


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
    for bound, numbers, given in bindings(rule):
        builder = Builder(bound)
        kept = [builder.build(ast.parse(text, mode="eval").body) for text in EXISTING.get(rule.algebra, ())]
        root = builder.build(left)
        if root.op != op:  # e.g. c of -c*x was negative, so that -c is no longer written with a minus
            continue
        result = rewritten(rule, root.args)
        if result is None:
            continue
        fired += 1
        wanted = builder.value(left, numbers)
        other = builder.value(right, numbers)
        (before,), (after,) = evaluate([root], given), evaluate([result], given)
        size = max(1.0, abs(wanted), *(abs(value) for value in numbers.values())) ** 2
        worst = max(worst, *(abs(value - wanted) / size for value in (other, before, after)))
        del kept
    print(f"fired {fired} times, error {worst:.1e}")
    assert fired >= 5, "each rule is seen to fire"
    # A rule re-associates at most two roundings.
    assert worst <= 8e-16


def test_rules_do_not_fire_where_they_do_not_fit() -> None:
    x, y = symbol("x"), symbol("y")
    for op, rules in RULES.items():
        args = (x, y)[: OPERATIONS[op].arity]
        for rule in rules:
            assert rewritten(rule, args) is None, rule.algebra


@each_rule
def test_building_applies_it(case: str) -> None:
    """Arithmetic on expressions never leaves the left side of a rule standing."""
    op, rule = CASES[case]
    for bound, _, _ in bindings(rule):
        builder = Builder(bound)
        kept = [builder.build(ast.parse(text, mode="eval").body) for text in EXISTING.get(rule.algebra, ())]
        root = builder.build(sides(rule)[0])
        if root.op == op and rewritten(rule, root.args) is not None:
            built = simplified(op, root.args)
            assert built is not root or built.op == "const"
            assert (built.op, built.args) != (op, root.args)
        del kept


def test_teeth() -> None:
    """A wrong rule would be seen by the proof."""
    x = sympy.Symbol("x", real=True)
    assert sympy.simplify(sympy.cos(-x) + sympy.cos(x)) != 0
