"""A docstring of this library as reStructuredText: the sections of numpydoc, code letters, formulas and doctests."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\s*$", re.MULTILINE)
LISTED = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "Methods")
CODE = re.compile(r"``(.+?)``|(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)|(?<![\w*])\*(\w[^*\n]*\w)\*(?![\w*])", re.DOTALL)
SPECIAL = re.compile(r"([\\*|_`])")

Link = Callable[[str], str | None]
"""From a name as it stands in the text to the full name of its entry, if it has one."""


@dataclass
class Docstring:
    """The parts of a docstring: the text above the first section, and each section's text by its name."""

    told: str
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first paragraph, on one line."""
        return " ".join(self.told.split("\n\n")[0].split())


def parsed(text: str) -> Docstring:
    """Take a docstring apart."""
    found = list(SECTION.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    told = text[: found[0].start()] if found else text
    made = {match[1]: text[match.end() : end].strip("\n") for match, end in zip(found, ends, strict=True)}
    return Docstring(told.strip(), made)


def escaped(text: str) -> str:
    """Plain text, with what reStructuredText would take for its own held back."""
    return SPECIAL.sub(r"\\\1", text)


def inline(text: str, link: Link) -> str:
    """A piece of prose: code letters stay, known names are linked to, ``*titles*`` slant, all else is plain."""
    pieces, end = [], 0
    for match in CODE.finditer(text):
        pieces.append(escaped(text[end : match.start()]))
        code, slanted = " ".join((match[1] or match[2] or "").split()), match[3]
        pieces.append(f"\\ *{escaped(slanted)}*\\ " if slanted else literal(code, link))
        end = match.end()
    return "".join([*pieces, escaped(text[end:])])


def literal(code: str, link: Link) -> str:
    """Code letters, linked where they are a known name."""
    full = link(code)
    if full:
        return f"\\ :py:obj:`{escaped(code)} <{full}>`\\ "
    return f"\\ ``{code}``\\ "


def prose(text: str, link: Link) -> str:
    """Paragraphs, lists, indented formulas and doctests."""
    made = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.splitlines()
        if not paragraph.strip():
            continue
        if lines[0].lstrip().startswith(">>>"):
            made.append(block("pycon", textwrap.dedent(paragraph)))
        elif all(line.startswith("    ") for line in lines):
            made.append(block("none", textwrap.dedent(paragraph)))
        elif re.match(r"[-*] |\d+\. ", lines[0]):
            made.append(listed(lines, link))
        else:
            made.append(mixed(lines, link))
    return "\n\n".join(made)


def mixed(lines: list[str], link: Link) -> str:
    """A paragraph, whose indented lines are a formula of their own."""
    made: list[str] = []
    pieces: list[tuple[bool, list[str]]] = []
    for line in lines:
        formula = line.startswith("    ") or line.startswith(">>> ")
        if not pieces or pieces[-1][0] != formula:
            pieces.append((formula, []))
        pieces[-1][1].append(line)
    for formula, part in pieces:
        text = "\n".join(part)
        made.append(block("none", textwrap.dedent(text)) if formula else inline(re.sub(r"::$", ":", text), link))
    return "\n\n".join(made)


def listed(lines: list[str], link: Link) -> str:
    """A list with bullets or numbers."""
    items: list[str] = []
    for line in lines:
        if re.match(r"[-*] |\d+\. ", line):
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    return "\n".join("- " + inline(re.sub(r"^([-*]|\d+\.) ", "", item), link) for item in items)


def block(language: str, text: str) -> str:
    """A block of code."""
    return f".. code-block:: {language}\n\n" + textwrap.indent(text.rstrip(), "   ")


def definitions(text: str, link: Link, *, types: bool) -> str:
    """Parameters, what comes back, errors: each with its type and what is said of it."""
    made = []
    for head, told in items(text):
        name, _, kind = head.partition(" : ")
        names = ", ".join(f"**{escaped(part.strip())}**" for part in name.split(","))
        if not types:
            label = " ".join(kinds(part.strip(), link) for part in [head])
        else:
            label = f"{names} : {kinds(kind, link)}" if kind else names
        body = prose(textwrap.dedent(told), link) or "\\ "
        made.append(f"{label.removeprefix(chr(92) + chr(32))}\n{textwrap.indent(body, '   ')}")
    return "\n\n".join(made)


def items(text: str) -> list[tuple[str, str]]:
    """Lines that begin at the margin, each with the indented lines below it."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line and not line.startswith(" "):
            found.append((line.rstrip(), []))
        elif found:
            found[-1][1].append(line)
    return [(head, "\n".join(below)) for head, below in found]


def kinds(text: str, link: Link) -> str:
    """A type in words, in which class names are linked to."""
    made = []
    for part in re.split(r"(\b[A-Z]\w+(?:\.\w+)*\b)", text.replace("`", "")):
        full = link(part) if part[:1].isupper() else None
        made.append(f"\\ :py:obj:`{part} <{full}>`\\ " if full else escaped(part))
    return "".join(made)


def as_rst(doc: Docstring, link: Link, *, source: str = "") -> str:
    """A docstring as reStructuredText, its sections in the order of the text, the examples last, then the source."""
    made = [prose(doc.told, link)]
    order = sorted(doc.sections, key=lambda name: name == "Examples")
    for name in order:
        text = doc.sections[name]
        shown = "Example" if name == "Examples" else name
        body = (
            definitions(text, link, types=name not in {"Returns", "Raises", "Yields", "Warns"})
            if name in LISTED
            else prose(text, link)
        )
        made.append(f".. rubric:: {shown}\n   :class: part\n\n{body}")
    return "\n\n".join([*made, source])
