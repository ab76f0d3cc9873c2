r"""A listing as LaTeX: ``align*`` environments of amsmath, long sums broken over lines, short lines side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from linkwise.equations.document import Listing, Section
from linkwise.equations.writers.abbreviation import abbreviated
from linkwise.equations.writers.names import LatexNames
from linkwise.equations.writers.writer import Writer, filled, lines_of, sentence, whole, writer

#: Letters of a line of mathematics on an A4 page with margins of 20 mm, about two for an em.
WIDTH = 86

MOST_COLUMNS = 4

_HEAD = r"""\documentclass[a4paper,fleqn]{article}
\usepackage[margin=20mm]{geometry}
\usepackage{amsmath}
\usepackage{longtable}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\mathindent}{1em}
\AtBeginDocument{\abovedisplayskip=4pt plus 2pt \belowdisplayskip=4pt plus 2pt}
\begin{document}
"""

_FUNCTIONS = {"sin": r"\sin", "cos": r"\cos", "sign": r"\operatorname{sign}", "atan2": r"\operatorname{atan2}"}


@writer("latex")
def to_latex(listing: Listing, *, digits: int = 4, document: bool = False, abbreviate: bool = True) -> str:
    r"""Write a listing as LaTeX source.

    Parameters
    ----------
    listing : Listing
        What to write.
    digits : int
        Significant digits of numbers.
    document : bool
        Whether it is a whole document, with a heading, a table of the symbols and the notes; else the ``align*``
        environments, with headings between them where there are several, for a document that loads amsmath.
    abbreviate : bool
        Whether sines and cosines of coordinates are written c_{23}, which is explained once.

    Raises
    ------
    ArgumentError
        Where the digits are no whole number from 1 to 17.
    """
    if document:
        return latex_document([listing], digits=digits, abbreviate=abbreviate)
    return "\n".join(_body(abbreviated(listing) if abbreviate else listing, LatexWriter(digits), headings=False))


def latex_document(listings: Sequence[Listing], *, digits: int = 4, abbreviate: bool = True) -> str:
    """Write listings one after the other as a whole LaTeX document."""
    parts = [_HEAD]
    for source in listings:
        listing, writer = abbreviated(source) if abbreviate else source, LatexWriter(digits)
        title, _, details = listing.title.partition(": ")
        parts += [
            rf"\section*{{{prose(title)}}}",
            *([prose(f"{details[:1].upper()}{details[1:]}.") + r"\par"] if details else []),
        ]
        parts += [*_table(listing, writer), *_body(listing, writer, headings=True)]
        parts += [prose(note) + r"\par" for note in writer.notes(listing)]
    return "\n".join([*parts, r"\end{document}", ""])


def _body(listing: Listing, writer: LatexWriter, *, headings: bool) -> Iterator[str]:
    """The alignments of all sections that have any rows; with headings, also where there are several."""
    blocks = [(section.title, lines) for section in listing.sections if (lines := rows(section, listing, writer))]
    for title, lines in blocks:
        if title and (headings or len(blocks) > 1):
            yield rf"\paragraph{{{prose(title)}}}"
        yield aligned(lines, "align*")


class LatexWriter(Writer):
    """LaTeX, as amsmath, MathJax and KaTeX take it."""

    def __init__(self, digits: int) -> None:
        super().__init__(digits)
        self.names = LatexNames()

    def name(self, text: str) -> str:
        """An italic letter with indices, a Greek letter, or upright letters."""
        return self.names(text)

    def rounding(self, size: float) -> str:
        """A simple fraction as such, any other number rounded."""
        simple = Fraction(size).limit_denominator(8)
        if simple.denominator in {2, 3, 4, 8} and simple.numerator <= 3 and float(simple) == size:
            return rf"\tfrac{{{simple.numerator}}}{{{simple.denominator}}}"
        return super().rounding(size)

    def number(self, value: float) -> str:
        """Format a number, with a power of ten if it is large or small."""
        mantissa, _, exponent = f"{value:.{self.digits}g}".partition("e")
        if not exponent:
            return mantissa
        power = f"10^{{{int(exponent)}}}"
        return power if mantissa == "1" else rf"{mantissa} \cdot {power}"

    def product(self, factors: Sequence[str]) -> str:
        """Side by side."""
        return r" \, ".join(factors)

    def quotient(self, above: Sequence[str], below: Sequence[str]) -> str:
        """A fraction."""
        over, under = (whole(self.product(part)) for part in (above, below))
        return rf"\frac{{{over}}}{{{under}}}"

    def raised(self, base: str, exponent: int, function: bool) -> str:
        """Write the exponent raised, before the bracket of a sine."""
        if function and base.startswith((r"\sin", r"\cos")):
            return f"{base[:4]}^{{{exponent}}}{base[4:]}"
        simple = re.fullmatch(r"[A-Za-z]+|\\?[A-Za-z]+(\{[^{}]*\})?_\{[^{}]*\}|\(.*\)", base, re.DOTALL)
        return f"{base}^{{{exponent}}}" if simple else f"{{{base}}}^{{{exponent}}}"

    def call(self, function: str, arguments: Sequence[str]) -> str:
        """Write a function call as in books."""
        texts = [whole(argument) for argument in arguments]
        if function == "sqrt":
            return rf"\sqrt{{{texts[0]}}}"
        if function == "abs":
            return rf"\lvert {texts[0]} \rvert"
        if function == "select":
            condition, chosen, other = texts
            return rf"\begin{{cases}} {chosen} & {condition} > 0 \\ {other} & \text{{else}} \end{{cases}}"
        return rf"{_FUNCTIONS.get(function, chr(92) + 'operatorname{' + function + '}')}({', '.join(texts)})"

    def left(self, sides: Sequence[tuple[str, tuple[int, ...]]], listing: Listing) -> str:
        """Left side of an equation."""
        return " = ".join(self.element(*side, listing) for side in sides)

    def element(self, name: str, index: tuple[int, ...], listing: Listing) -> str:
        """An intermediate value, or an element of a result."""
        if name not in listing.outputs or not index or listing.separator:
            return self.name(listing.element(name, index))
        words = [str(place + 1) for place in index]
        return f"{self.name(name)}_{{{(',' if max(map(len, words)) > 1 else '').join(words)}}}"


def rows(section: Section, listing: Listing, writer: LatexWriter) -> list[str]:
    """The rows of an alignment: short equations side by side, long ones over several."""
    lines = lines_of(section.assignments, listing)
    equations = [(writer.left(sides, listing), writer.line(value)) for sides, value, _ in lines]
    if not equations:
        return []
    widest = max(measured(left) + measured(right) + 5 for left, right in equations)
    columns = max(1, min(MOST_COLUMNS, int(WIDTH / widest), len(equations)))
    if columns == 1:
        return [row for left, right in equations for row in _broken(left, right)]
    cells = [f"{left} &= {whole(right)}" for left, right in equations]
    return [" & ".join(cells[k : k + columns]) for k in range(0, len(cells), columns)]


def aligned(lines: Sequence[str], environment: str) -> str:
    """Rows in an environment."""
    return "\n".join(
        [rf"\begin{{{environment}}}", *(f"{line} \\\\" for line in lines[:-1]), lines[-1], rf"\end{{{environment}}}"]
    )


def measured(text: str) -> float:
    r"""Approximate width of mathematics, in letters.

    Examples
    --------
    >>> round(measured(r"\dot{q}_{1} \, c_{23}"), 1)
    4.8
    """
    text = re.sub(r"\\tfrac\{(\w+)\}\{\w+\}", r"\1", text)
    width = 0.35 * text.count(r"\,") + 1.5 * len(re.findall(r"[+-] ", text)) + 2.0 * text.count(r"\quad")
    text = re.sub(r"\\(sin|cos)\b", "sin", text)
    commands = "dot|ddot|mathrm|mathtt|operatorname|frac|sqrt|text|tfrac|quad|lvert|rvert"
    text = re.sub(rf"\\({commands})\b|\\[,;]|[&\u200b\u200c]", "", text)
    width += sum(0.8 * len(part) for part in re.findall(r"[_^]\{([^{}]*)\}", text))
    text = re.sub(r"[_^]\{[^{}]*\}", "", text)
    text = re.sub(r"[{} ]", "", re.sub(r"\\[A-Za-z]+", "x", text))
    return width + len(text) + 0.5 * sum(letter.isupper() or letter in "mw" for letter in text)


def prose(text: str) -> str:
    """Plain text as LaTeX takes it outside of mathematics."""
    special = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"}
    written = "".join(special.get(letter, f"\\{letter}" if letter in "#$%&_{}" else letter) for letter in text)
    return "".join(letter if ord(letter) < 256 else f"U+{ord(letter):04X}" for letter in written)


def _broken(left: str, right: str) -> Iterator[str]:
    """Break one equation into rows before signs."""
    first, *others = filled(right, WIDTH - measured(left) - 4, measured)
    yield f"{left} &= {first}"
    for line in others:
        yield rf"&\quad {{}}{line}"


def _table(listing: Listing, writer: LatexWriter) -> list[str]:
    """Table of the symbols and their meanings."""
    if not listing.meanings:
        return []

    def named(name: str) -> str:
        return f"${writer.name(name)}$"

    lines = [rf"{named(name)} & {sentence(text, named, prose)} \\" for name, text in listing.meanings.items()]
    return [r"\begin{longtable}[l]{@{}lp{140mm}@{}}", *lines, r"\end{longtable}"]
