"""A listing as plain text, aligned, no wider than a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from linkwise.equations.document import Listing, Section
from linkwise.equations.writers.abbreviation import abbreviated, lone_call
from linkwise.equations.writers.writer import Writer, filled, lines_of, whole, writer

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@writer("text")
def to_text(listing: Listing, *, digits: int = 6, width: int = 100, plain: bool = False, abbreviate: bool = True) -> str:
    """Write a listing as plain text.

    Parameters
    ----------
    listing : Listing
        What to write.
    digits : int
        Significant digits of numbers; 17 give back each number exactly.
    width : int
        Characters of a line; only what cannot be broken is longer.
    plain : bool
        Whether to write products as ``*`` and powers as ``**``, as programming languages do.
    abbreviate : bool
        Whether sines and cosines of coordinates are written ``c23``, which is explained once.

    Raises
    ------
    ArgumentError
        Where the digits are no whole number from 1 to 17.
    """
    listing = abbreviated(listing) if abbreviate else listing
    writer = TextWriter(digits, plain)
    blocks = [textwrap.fill(listing.title, max(width, 20))] if listing.title else []
    if listing.meanings:
        blocks.append("\n".join(_meanings(listing, width)))
    for section in listing.sections:
        lines = section_lines(section, listing, writer, width)
        if lines:
            blocks.append("\n".join([*([section.title] if section.title else []), *lines]))
    notes = [textwrap.fill(note, max(width, 20)) for note in writer.notes(listing)]
    blocks += ["\n".join(notes)] if notes else []
    return "\n\n".join(blocks)


class TextWriter(Writer):
    """Plain text."""

    def __init__(self, digits: int, plain: bool = False) -> None:
        super().__init__(digits)
        self.plain = plain
        self.times = "*" if plain else "·"

    def name(self, text: str) -> str:
        """Return the name, in brackets if it contains blanks."""
        return text if text.replace("_", "a").isalnum() else f"<{text}>"

    def number(self, value: float) -> str:
        """The shortest of that many digits."""
        return f"{value:.{self.digits}g}"

    def product(self, factors: Sequence[str]) -> str:
        """Join factors with a sign."""
        return self.times.join(factors)

    def quotient(self, above: Sequence[str], below: Sequence[str]) -> str:
        """Write a quotient with a slash."""
        under = self.product(below)
        return f"{self.product(above)}/{f'({under})' if len(below) > 1 else under}"

    def raised(self, base: str, exponent: int, function: bool) -> str:
        """Write the exponent raised."""
        return f"{base}**{exponent}" if self.plain else base + str(exponent).translate(_RAISED)

    def call(self, function: str, arguments: Sequence[str]) -> str:
        """Write a function call as in programming languages."""
        return f"{function}({', '.join(map(whole, arguments))})"


def section_lines(section: Section, listing: Listing, writer: TextWriter, width: int) -> list[str]:
    """The lines of a section, equality signs under each other."""
    lines = lines_of(section.assignments, listing)
    left = [" = ".join(writer.name(listing.element(*side)) for side in sides) for sides, _, _ in lines]
    if lines and all(lone_call(value) for _, value, _ in lines):
        return _side_by_side(
            [f"{side} = {writer.sum(value)}" for side, (_, value, _) in zip(left, lines, strict=True)], width
        )
    room = min(max(map(len, left), default=0), 24)
    rows: list[str] = []
    for side, (_, value, comment) in zip(left, lines, strict=True):
        head = f"  {side:<{room}} = "
        text = filled(writer.line(value), max(width - len(head), 20), len)
        rows += [head + text[0], *(" " * len(head) + line for line in text[1:])]
        if comment and len(rows[-1]) + len(comment) + 4 <= width:
            rows[-1] += f"    # {comment}"
    return rows


def _side_by_side(cells: list[str], width: int) -> list[str]:
    """Short equations in columns, to be read row by row."""
    room = max(map(len, cells)) + 4
    columns = max(1, min(6, (width - 2) // room))
    columns -= columns > 1 and columns % 2  # a sine is next to its cosine
    rows = [cells[k : k + columns] for k in range(0, len(cells), columns)]
    return ["  " + "".join(f"{cell:<{room}}" for cell in row).rstrip() for row in rows]


def _meanings(listing: Listing, width: int) -> list[str]:
    room = max(map(len, listing.meanings))
    lines = []
    for name, meaning in listing.meanings.items():
        head = f"  {name:<{room}}  "
        lines.append(
            textwrap.fill(meaning.replace("`", ""), max(width, 40), initial_indent=head, subsequent_indent=" " * len(head))
        )
    return lines
