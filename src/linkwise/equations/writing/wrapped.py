"""Harmonic sums as SymPy expressions, and SymPy expressions as LaTeX that fits on a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwise.equations.forms.harmonic_sum import HarmonicSum
from linkwise.equations.symbols import number
from linkwise.spatial.with_sympy import sympy_module

_WIDTH = 110
"""Characters of LaTeX source after which a sum goes on in the next line."""


class Writer:
    """Turns harmonic sums into SymPy expressions in the symbols q, each cosine and sine made once.

    Parameters
    ----------
    q : sequence of sympy.Symbol
        The coordinates.
    """

    def __init__(self, q: Any) -> None:
        self.sympy = sympy_module()
        self.q = list(q)
        self._known: dict[bytes, tuple[Any, Any]] = {}

    def __call__(self, entry: HarmonicSum) -> Any:
        """The entry as an expression."""
        terms = []
        for h, p, c, s in zip(entry.harmonics, entry.powers, entry.cosine, entry.sine, strict=True):
            length = self.sympy.Mul(*(self.q[k] ** int(p[k]) for k in np.flatnonzero(p)))
            cosine, sine = self._waves(h)
            terms += [number(float(x)) * wave * length for x, wave in ((c, cosine), (s, sine)) if x]
        return self.sympy.Add(*terms)

    def _waves(self, harmonics: Any) -> tuple[Any, Any]:
        key = harmonics.tobytes()
        if key not in self._known:
            angle = self.sympy.Add(*(int(harmonics[k]) * self.q[k] for k in np.flatnonzero(harmonics)))
            self._known[key] = (self.sympy.cos(angle), self.sympy.sin(angle))
        return self._known[key]


class LatexWriter:
    r"""Turns equations into lines of an ``align*`` environment, sums broken where they grow long.

    Parameters
    ----------
    digits : int
        Significant digits of numbers.
    names : dict
        How symbols are written.
    """

    def __init__(self, digits: int, names: dict[Any, str]) -> None:
        self.sympy = sympy_module()
        from sympy.printing.latex import LatexPrinter

        self.digits = digits
        self.printer = LatexPrinter({"symbol_names": names, "full_prec": False})

    def lines(self, left: str, right: Any) -> Iterator[str]:
        """The equation ``left = right``, LaTeX source on the left, an expression on the right."""
        line = rf"{left} &= "
        for k, term in enumerate(_terms(self.sympy, right)):
            text = self.text(term)
            if k:
                text = f" - {text[1:].lstrip()}" if text.startswith("-") else f" + {text}"
                if len(line) + len(text) > _WIDTH:
                    yield line + r" \\"
                    line = r"&\quad"
            line += text
        yield line + r" \\"

    def text(self, expression: Any) -> str:
        """An expression with its numbers rounded."""
        numbers = expression.atoms(self.sympy.Float)
        return str(
            self.printer.doprint(expression.xreplace({value: self.sympy.Float(value, self.digits) for value in numbers}))
        )


def _terms(sympy: Any, expression: Any) -> list[Any]:
    """The terms of a sum, those without angles first; a product with a sum is one term for each of the sum's."""
    found = []
    for part in sympy.Add.make_args(expression):
        factors = list(part.args) if isinstance(part, sympy.Mul) else [part]
        sums = [factor for factor in factors if isinstance(factor, sympy.Add)]
        if len(factors) > 1 and len(sums) == 1:
            factors.remove(sums[0])
            found += [sympy.Mul(*factors, term) for term in sums[0].args]
        else:
            found.append(part)
    return sorted(found, key=lambda term: (bool(term.free_symbols), -abs(term.as_coeff_Mul()[0])))
