"""The rewrite rules, as one table: beside each, the algebra that makes it right.

The text of a rule is its specification: the tests read it, prove it with a computer algebra system, and check that
the function beside it does just that. Letters x, y, z, a stand for any expression, c and d for constants. Rules hold
for finite values; a product with zero is zero whatever the other factor, so an output that does not depend on an
input does not carry its NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from linkwise.expr.node import Expr, constant, existing, ordered, simplified, use_rules


@dataclass(frozen=True)
class Rule:
    """One rewrite.

    Attributes
    ----------
    algebra : str
        What it does, as an equation.
    kinds : str
        The kinds of operands that it looks at, in order, ``*`` for any: ``"const *"``.
    rewrite : callable
        Applies it to operands of these kinds; None where it does not fit after all.
    where : str
        What must hold of the constants, empty where nothing must.
    """

    algebra: str
    kinds: str
    rewrite: Callable[..., Expr | None]
    where: str = ""

    def fits(self, kinds: Sequence[str]) -> bool:
        """True if it applies to operands of these kinds."""
        return all(wanted in ("*", kind) for wanted, kind in zip(self.kinds.split(), kinds, strict=True))


def _add(x: Expr, y: Expr) -> Expr:
    return simplified("add", (x, y))


def _sub(x: Expr, y: Expr) -> Expr:
    return simplified("sub", (x, y))


def _mul(x: Expr, y: Expr) -> Expr:
    return simplified("mul", (x, y))


def _neg(x: Expr) -> Expr:
    return simplified("neg", (x,))


def _has_exact_inverse(x: Expr) -> bool:
    """True if a number is a power of two whose inverse is one too, and neither infinite nor subnormal."""
    return _ordinary(x.value) and abs(math.frexp(x.value)[0]) == 0.5


def _ordinary(value: float) -> bool:
    """True if a number and its inverse are neither infinite nor subnormal."""
    return 1e-300 < abs(value) < 1e300


def _multiple(x: Expr) -> tuple[float, Expr]:
    """The number c and the expression y with x = c * y."""
    if x.op == "mul" and x.args[0].op == "const":
        return x.args[0].value, x.args[1]
    return 1.0, x


def _like_terms(x: Expr, y: Expr, sign: float) -> Expr | None:
    (c, base), (d, other) = _multiple(x), _multiple(y)
    together = c + sign * d
    return _mul(constant(together), base) if base is other and base.op != "const" and math.isfinite(together) else None


def _circle(x: Expr, y: Expr) -> Expr | None:
    """Recognise x cos(a) cos(a) + x sin(a) sin(a), also without the factor x."""
    for first, second in ((x, y), (y, x)):
        for cosine in first.args:
            if cosine.op != "cos":
                continue
            sine = existing("sin", cosine.args)
            if sine is None or sine not in second.args:
                continue
            remainder, other = _other(first, cosine), _other(second, sine)
            if remainder is cosine and other is sine:
                return constant(1.0)
            if remainder.op == other.op == "mul" and cosine in remainder.args and sine in other.args:
                kept = _other(remainder, cosine)
                return kept if kept is _other(other, sine) else None
    return None


def _other(product: Expr, factor: Expr) -> Expr:
    return product.args[1] if product.args[0] is factor else product.args[0]


def _reversed_difference(x: Expr, y: Expr) -> Expr | None:
    """Use y - x where the graph has it already."""
    result = _of_this_graph("sub", (y, x))
    return None if result is None else _neg(result)


def _constants_together(x: Expr, y: Expr) -> Expr | None:
    if y.args[0].op == "const" and _ordinary(x.value * y.args[0].value):
        return _mul(constant(x.value * y.args[0].value), y.args[1])
    return None


def _constant_out(x: Expr, y: Expr) -> Expr | None:
    """Take the constant of y out of x*y where the plain product is in the graph already."""
    if x.op == "const" or y.args[0].op != "const":
        return None
    result = _of_this_graph("mul", ordered((x, y.args[1])))
    return None if result is None else _mul(y.args[0], result)


def _of_this_graph(op: str, args: tuple[Expr, ...]) -> Expr | None:
    """The node for an operation if the graph has it already: not one of parameters alone, which may be of another graph."""
    result = existing(op, args)
    return None if result is None or result.key is not None else result


RULES: dict[str, tuple[Rule, ...]] = {
    "add": (
        Rule("0 + x = x", "const *", lambda x, y: y if x.value == 0 else None),
        Rule("x + -y = x - y", "* neg", lambda x, y: _sub(x, y.args[0])),
        Rule("-x + y = y - x", "neg *", lambda x, y: _sub(y, x.args[0])),
        Rule("x + (y - x) = y", "* sub", lambda x, y: y.args[0] if y.args[1] is x else None),
        Rule("c*x + d*x = (c + d)*x", "* *", lambda x, y: _like_terms(x, y, 1.0)),
        Rule("cos(a)*cos(a) + sin(a)*sin(a) = 1", "mul mul", _circle),
        Rule("(x*cos(a))*cos(a) + (x*sin(a))*sin(a) = x", "mul mul", _circle),
    ),
    "sub": (
        Rule("0 - x = -x", "const *", lambda x, y: _neg(y) if x.value == 0 else None),
        Rule("x - 0 = x", "* const", lambda x, y: x if y.value == 0 else None),
        Rule("x - -y = x + y", "* neg", lambda x, y: _add(x, y.args[0])),
        Rule("-x - y = -(x + y)", "neg *", lambda x, y: _neg(_add(x.args[0], y))),
        Rule("(x + y) - y = x", "add *", lambda x, y: _other(x, y) if y in x.args else None),
        Rule("(x - y) - x = -y", "sub *", lambda x, y: _neg(x.args[1]) if x.args[0] is y else None),
        Rule("x - (x + y) = -y", "* add", lambda x, y: _neg(_other(y, x)) if x in y.args else None),
        Rule("x - (x - y) = y", "* sub", lambda x, y: y.args[1] if y.args[0] is x else None),
        Rule("c*x - d*x = (c - d)*x", "* *", lambda x, y: _like_terms(x, y, -1.0)),
        Rule("x - y = -(y - x)", "* *", _reversed_difference),
    ),
    "mul": (
        Rule("0*x = 0", "const *", lambda x, y: x if x.value == 0 else None),
        Rule("1*x = x", "const *", lambda x, y: y if x.value == 1 else None),
        Rule("-c*x = -(c*x)", "const *", lambda x, y: _neg(_mul(constant(-x.value), y)) if x.value < 0 else None),
        Rule("-x*y = -(x*y)", "neg *", lambda x, y: _neg(_mul(x.args[0], y))),
        Rule("x*-y = -(x*y)", "* neg", lambda x, y: _neg(_mul(x, y.args[0]))),
        Rule("c*(d*x) = (c*d)*x", "const mul", _constants_together),
        Rule("x*(y/x) = y", "* div", lambda x, y: y.args[0] if y.args[1] is x else None),
        Rule("x*(c*y) = c*(x*y)", "* mul", _constant_out),
        Rule("(c*x)*y = c*(x*y)", "mul *", lambda x, y: _constant_out(y, x)),
    ),
    "div": (
        Rule("0/x = 0", "const *", lambda x, y: x if x.value == 0 else None),
        Rule("x/x = 1", "* *", lambda x, y: constant(1.0) if x is y else None),
        Rule("x/c = (1/c)*x", "* const", lambda x, y: _mul(constant(1.0 / y.value), x) if _has_exact_inverse(y) else None),
        Rule("-x/y = -(x/y)", "neg *", lambda x, y: _neg(simplified("div", (x.args[0], y)))),
        Rule("x/-y = -(x/y)", "* neg", lambda x, y: _neg(simplified("div", (x, y.args[0])))),
    ),
    "neg": (Rule("-(-x) = x", "neg", lambda x: x.args[0]),),
    "sin": (Rule("sin(-x) = -sin(x)", "neg", lambda x: _neg(simplified("sin", x.args))),),
    "cos": (Rule("cos(-x) = cos(x)", "neg", lambda x: simplified("cos", x.args)),),
    "abs": (
        Rule("abs(-x) = abs(x)", "neg", lambda x: simplified("abs", x.args)),
        Rule("abs(abs(x)) = abs(x)", "abs", lambda x: x),
    ),
    "sign": (Rule("sign(-x) = -sign(x)", "neg", lambda x: _neg(simplified("sign", x.args))),),
    "sqrt": (),
    "atan2": (),
    "select": (
        Rule("select(c, x, y) = x", "const * *", lambda c, x, y: x if c.value > 0 else None, where="c > 0"),
        Rule("select(c, x, y) = y", "const * *", lambda c, x, y: None if c.value > 0 else y, where="c <= 0"),
        Rule("select(a, x, x) = x", "* * *", lambda a, x, y: x if x is y else None),
    ),
}

use_rules(RULES)
