"""SymPy, its symbols for the coordinates of a mechanism, and its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from linkwise.expr.node import Expr, origin_of
from linkwise.model.tree import BASE_COORDINATES, BASE_SPEEDS, Tree
from linkwise.spatial.with_sympy import sympy_module

BASE_ACCELERATIONS = tuple(f"{speed}_dot" for speed in BASE_SPEEDS)
"""Names of the derivatives in time of the speeds of a floating base."""


@dataclass(frozen=True)
class Symbols:
    """Real SymPy symbols of a mechanism, as column matrices.

    Attributes
    ----------
    q, qd, qdd : sympy.ImmutableMatrix
        Coordinates (nq, 1), speeds and accelerations (nv, 1): ``q1``, ``qd1``, ``qdd1`` and so on, in the order of the joint
        coordinates. Those of a floating base stand before them: ``base_x``, ``base_vx``, ``base_vx_dot`` and so on.
    latex : dict
        How each is written where its name does not tell.
    """

    q: Any
    qd: Any
    qdd: Any
    latex: dict[Any, str]


def symbols_of(tree: Tree) -> Symbols:
    """Make the symbols of a mechanism; equal ones at every call."""
    numbers = range(1, tree.n + 1)
    base = (BASE_COORDINATES, BASE_SPEEDS, BASE_ACCELERATIONS) if tree.floating else ((), (), ())
    names = [[*own, *(f"{letter}{k}" for k in numbers)] for own, letter in zip(base, ("q", "qd", "qdd"), strict=True)]
    q, qd, qdd = (_column(group) for group in names)
    written: dict[Any, str] = {}
    for k in numbers:
        written[qd[qd.rows - tree.n + k - 1]] = rf"\dot{{q}}_{{{k}}}"
        written[qdd[qdd.rows - tree.n + k - 1]] = rf"\ddot{{q}}_{{{k}}}"
    return Symbols(q, qd, qdd, written)


def parameter_symbols(parameters: Iterable[Expr]) -> tuple[Any, ...]:
    """SymPy's symbols for those of a mechanism: the ones that it was described with, else real ones of the same names.

    Examples
    --------
    >>> import linkwise as lw
    >>> parameter_symbols([lw.symbols("m")])[0].is_real
    True
    """
    sympy = sympy_module()
    found = ((node, origin_of(node)) for node in parameters)
    return tuple(sympy.Symbol(node.value, real=True) if origin is None else origin for node, origin in found)


def number(value: float) -> Any:
    """A float as a SymPy number: a whole number, or a fraction with a denominator of 2, 4 or 8, where it is exactly that.

    Else it is the Float with the same 53 bits.

    Examples
    --------
    >>> number(3.0), number(-0.5), number(0.1)
    (3, -1/2, 0.100000000000000)
    """
    sympy = sympy_module()
    exact = Fraction(value)
    if exact.denominator <= 8 and abs(exact.numerator) < 10_000:
        return sympy.Rational(exact.numerator, exact.denominator)
    return sympy.Float(value)


def _column(names: Sequence[str]) -> Any:
    sympy = sympy_module()
    return sympy.ImmutableMatrix(len(names), 1, [sympy.Symbol(name, real=True) for name in names])
