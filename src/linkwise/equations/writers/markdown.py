r"""A listing as Markdown: headings, and formulas between ``$$`` that GitHub and Jupyter set, or code blocks."""

from __future__ import annotations

from linkwise.equations.document import Listing, Section
from linkwise.equations.writers.abbreviation import abbreviated
from linkwise.equations.writers.latex import LatexWriter, aligned, rows
from linkwise.equations.writers.text import TextWriter, section_lines
from linkwise.equations.writers.writer import sentence, writer

#: Rows of one formula; a longer one is cut into several, for browsers set them one by one.
ROWS = 40


@writer("markdown")
def to_markdown(listing: Listing, *, digits: int = 6, math: bool = True, abbreviate: bool = True, level: int = 2) -> str:
    r"""Write a listing as Markdown.

    Parameters
    ----------
    listing : Listing
        What to write.
    digits : int
        Significant digits of numbers.
    math : bool
        Whether equations are formulas; else they are plain text in code blocks.
    abbreviate : bool
        Whether sines and cosines of coordinates are written c23, which is explained once.
    level : int
        Level of the first heading.

    Raises
    ------
    ArgumentError
        Where the digits are no whole number from 1 to 17.
    """
    listing = abbreviated(listing) if abbreviate else listing
    formulas, plain = LatexWriter(digits), TextWriter(digits)
    parts = [f"{'#' * level} {_prose(listing.title)}"] if listing.title else []
    if listing.meanings:

        def named(name: str) -> str:
            return f"${formulas.name(name)}$" if math else f"`{name}`"

        table = [f"| {named(name)} | {sentence(text, named, _prose)} |" for name, text in listing.meanings.items()]
        parts.append("\n".join(["| symbol | meaning |", "|---|---|", *table]))
    for section in listing.sections:
        blocks = _formulas(section, listing, formulas) if math else _code(section, listing, plain)
        if blocks and section.title:
            parts.append(f"{'#' * (level + 1)} {_prose(section.title)}")
        parts += blocks
    parts += map(_prose, (formulas if math else plain).notes(listing))
    return "\n\n".join(parts) + "\n"


def _formulas(section: Section, listing: Listing, writer: LatexWriter) -> list[str]:
    lines = rows(section, listing, writer)
    starts = [0]
    for k, line in enumerate(lines):
        if k - starts[-1] >= ROWS and not line.startswith("&"):
            starts.append(k)
    pieces = [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
    return [f"$$\n{aligned(piece, 'aligned')}\n$$" for piece in pieces if piece]


def _code(section: Section, listing: Listing, writer: TextWriter) -> list[str]:
    lines = section_lines(section, listing, writer, 100)
    return ["\n".join(["```text", *(line.removeprefix("  ") for line in lines), "```"])] if lines else []


def _prose(text: str) -> str:
    """Escape the marks of Markdown in a text."""
    return "".join(f"\\{letter}" if letter in "\\`*_|<>#$" else letter for letter in text)
