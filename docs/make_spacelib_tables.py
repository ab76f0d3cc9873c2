"""Write the page of SpaceLib's names from the table of them: ``python docs/make_spacelib_tables.py``. A test compares."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from linkwise.spacelib.names import NAMES, Name

PAGE = Path(__file__).with_name("spacelib-names.md")

HEAD = """# All names of SpaceLib

<!-- Written by docs/make_spacelib_tables.py from linkwise.spacelib.names; a test compares the two. Do not edit. -->

Every function of [SpaceLib](spacelib.md) under its names in the three releases, and what does the same without SpaceLib's
vocabulary. MATLAB's names are in `linkwise.spacelib`, those of C in `linkwise.spacelib.c`, those of Maple in
`linkwise.spacelib.maple`. The headings have the section of the manual; `help(name)` says all about one function.

In the last column stand expressions with the arguments of the manual, as arrays. `arm` is a `lw.Mechanism`, `np` is NumPy,
`Rotation` is `scipy.spatial.transform.Rotation`; `rotation`, `transform` and `matrix_method` are modules of
`linkwise.spatial`. Directions are unit vectors there, and axes z. Where the column is empty the function is the way.
"""

FOOT = """
Names that differ only in capitals are not alike: `cardanto_OMEGA` is a vector in C and a matrix in Maple. For this reason
the names of C and of Maple stand in namespaces of their own.

```python
from linkwise.spacelib import c, maple

q, qp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
print(c.cardanto_OMEGA(q, qp, 0, 1, 2).shape, maple.cardanto_OMEGA(q, qp, 0, 1, 2).shape)
```

```text
(3,) (3, 3)
```
"""


def names(given: tuple[str, ...]) -> str:
    """Names as code, side by side."""
    return ", ".join(f"`{name}`" for name in given) or "-"


def code(text: str) -> str:
    """An expression as code that may stand in a table."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def row(name: Name) -> str:
    """One function."""
    own = names(name.matlab) if name.matlab else f"- (here `{name.function}`)"
    does = f"{name.does}. {name.note}".rstrip(" .") if name.note else name.does
    return f"| {own} | {names(name.c)} | {names(name.maple)} | {does.replace('|', chr(92) + '|')} | {code(name.linkwise)} |"


def page() -> str:
    """The text of the page."""
    lines = [HEAD]
    for (group, section), rows in groupby(NAMES, key=lambda name: (name.group, name.section)):
        place = f"appendix {section}" if section.isalpha() else section
        lines += [f"## {group} ({place})", "", "| MATLAB | C | Maple | what it does | Linkwise |", "|---|---|---|---|---|"]
        lines += [*map(row, rows), ""]
    return "\n".join(lines).rstrip() + "\n" + FOOT


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
