"""What kernels compute, as SymPy matrices in the names of a mechanism's symbols and coordinates; and exact comparison."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import sympy

from linkwise import Mechanism
from linkwise.equations.derive import derive
from linkwise.equations.tape_to_sympy import to_sympy
from linkwise.kernel.tape import Tape


def names(tape: Tape) -> list[str]:
    """One for each scalar that goes in."""
    found: list[str] = []
    for name, shape in tape.inputs.items():
        found += tape.labels.get(name, [f"{name}_{k}" for k in range(prod(shape))])
    return found


def real(words: Iterable[str]) -> list[Any]:
    return [sympy.Symbol(word, real=True) for word in words]


def matrix(mech: Mechanism, algorithm: str, **options: Any) -> Any:
    """The first output; the symbols are those that `real` makes of their names."""
    tape = mech.kernel(algorithm, backend="numpy", **options).tape
    return next(iter(to_sympy(tape, real(names(tape)), evaluate=True).values()))


def written_out(mech: Mechanism, what: str) -> Any:
    """The same, every element written out and collected: the explicit form."""
    assignments, results = derive(mech, what, "explicit").to_sympy()
    assert not assignments
    return next(iter(results.values()))


def remainder(difference: Any) -> Any:
    """A difference in its normal form: a polynomial in its symbols and in the cosines and sines of single angles.

    With s^2 = 1 - c^2 for each angle; such a form is zero only if the difference is.
    """
    difference = sympy.together(sympy.expand_trig(difference))
    numerator, _ = sympy.fraction(difference)
    angles = sorted({call.args[0] for call in numerator.atoms(sympy.sin, sympy.cos)}, key=str)
    replaced = {}
    circles = []
    for k, angle in enumerate(angles):
        assert angle.is_Symbol, angle
        c, s = sympy.symbols(f"_c{k} _s{k}")
        replaced |= {sympy.cos(angle): c, sympy.sin(angle): s}
        circles.append((s, 1 - c**2))
    poly = sympy.nsimplify(numerator.xreplace(replaced), rational=True)
    used = poly.free_symbols | {c for s, square in circles for c in square.free_symbols if s in poly.free_symbols}
    letters = sorted(used, key=lambda letter: (not letter.name.startswith("_s"), letter.name))
    if not letters:
        return sympy.expand(poly)
    ring, *_ = sympy.ring(letters, sympy.QQ)
    rules = [ring.from_expr(s**2 - square) for s, square in circles if s in letters]
    return ring.from_expr(sympy.expand(poly)).rem(rules) if rules else ring.from_expr(sympy.expand(poly))


def same(found: Any, wanted: Any) -> bool:
    """Whether two matrices, or two expressions, are equal for all values of their symbols."""
    one, other = (x if hasattr(x, "shape") else sympy.Matrix(x if isinstance(x, list) else [x]) for x in (found, wanted))
    return one.shape == other.shape and all(remainder(difference) == 0 for difference in one - other)
