"""The dialects of a Denavit-Hartenberg table: which columns there are, in which order, and what they leave unsaid.

Orders as in the public sources of P. I. Corke's Robotics Toolbox for MATLAB 9 and 10 (``[theta d a alpha sigma offset]``),
of its versions up to 7 and the Scilab toolbox made after them (``[alpha A theta D sigma]``, then the dynamics), and of his
Robotics Toolbox for Python (``DHLink(d, alpha, theta, a, sigma, mdh, offset)``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwise.errors import ArgumentError, choices

LONGEST = 60
"""Characters of a cell that are told at most."""

_BODY = ("m", "rx", "ry", "rz", "Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz")
_MOTOR = ("Jm", "G", "B", "Tc+", "Tc-")


@dataclass(frozen=True)
class Dialect:
    """One way to write a table down.

    Attributes
    ----------
    name : str
        How it is called for.
    text : str
        Whose it is.
    forms : tuple of tuple of str
        The columns of a row, by their number; none where a header names them.
    friction_rule : str
        How its motors' friction counts, see `Motor`.
    """

    name: str
    text: str
    forms: tuple[tuple[str, ...], ...]
    friction_rule: str = "reflected"

    @property
    def has_header(self) -> bool:
        """Whether the first line names the columns."""
        return not self.forms

    def columns(self, count: int) -> tuple[str, ...] | None:
        """The columns of a row with that many cells, or None where there is no such row."""
        return next((form for form in self.forms if len(form) == count), None)

    @property
    def counts(self) -> str:
        """How many cells a row may have, in words."""
        sizes = [str(len(form)) for form in self.forms]
        return f"{', '.join(sizes[:-1])} or {sizes[-1]}"

    def has(self, column: str) -> bool:
        """Whether some row has that column, or a header may name it."""
        return column in HEADER if self.has_header else any(column in form for form in self.forms)


def _up_to(columns: Sequence[str], *counts: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(columns[:count]) for count in counts)


_MATLAB = ("theta", "d", "a", "alpha", "sigma")
_TOOLBOX7 = ("alpha", "a", "theta", "d", "sigma")
_PYTHON = ("d", "alpha", "theta", "a", "sigma", "mdh", "offset", "flip", "lower", "upper")

DIALECTS: dict[str, Dialect] = {
    "linkwise": Dialect("linkwise", "Linkwise: a header names the columns and their units", ()),
    "matlab": Dialect(
        "matlab",
        "Robotics Toolbox for MATLAB 9 and 10, Link([theta d a alpha sigma offset])",
        (*_up_to((*_MATLAB, "offset"), 4, 5, 6), *_up_to((*_MATLAB, *_BODY, *_MOTOR), 15, 16, 17, 18, 20)),
    ),
    "python": Dialect(
        "python", "Robotics Toolbox for Python, DHLink(d, alpha, theta, a, sigma, mdh, offset), then flip and qlim",
        _up_to(_PYTHON, 4, 5, 6, 7, 8, 10),
    ),
    "toolbox7": Dialect(
        "toolbox7", "Robotics Toolbox for MATLAB up to 7 and for Scilab, [alpha A theta D sigma], then the dynamics",
        (*_up_to(_TOOLBOX7, 4, 5), *_up_to((*_TOOLBOX7, *_BODY, *_MOTOR), 16, 17, 18, 20)), "toolbox7",
    ),
}  # fmt: skip
"""By name."""

HEADER: dict[str, tuple[str, ...]] = {
    "name": (),
    "joint": (),
    "convention": (),
    "theta": ("rad", "deg"),
    "d": ("m", "mm"),
    "a": ("m", "mm"),
    "alpha": ("rad", "deg"),
    "b": ("m", "mm"),
    "offset": ("rad or m", "deg or m", "deg or mm"),
    "lower": ("rad or m", "deg or m", "deg or mm"),
    "upper": ("rad or m", "deg or m", "deg or mm"),
    "m": ("kg",),
    **dict.fromkeys(("rx", "ry", "rz"), ("m", "mm")),
    **dict.fromkeys(("Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz", "Jm"), ("kg m2",)),
    "G": (),
    "B": ("N m s/rad",),
    "Tc+": ("N m",),
    "Tc-": ("N m",),
}
"""What a header of the dialect "linkwise" may name, with the units that must stand behind in brackets."""

SCALES = {"": 1.0, "m": 1.0, "mm": 1e-3, "rad": 1.0, "kg": 1.0, "kg m2": 1.0, "N m": 1.0, "N m s/rad": 1.0}
"""What one of a unit is in SI; degrees go by `math.radians`."""


def meanings(cells: Sequence[str]) -> list[str]:
    """What a row would say in each dialect without a header, a line each.

    Examples
    --------
    >>> meanings(["0", "0.3", "0.5", "1.57"])[0]
    'matlab: theta=0 d=0.3 a=0.5 alpha=1.57'
    """
    found = []
    for dialect in DIALECTS.values():
        columns = dialect.columns(len(cells))
        if columns is not None:
            pairs = " ".join(f"{name}={cell[:LONGEST]}" for name, cell in zip(columns, cells, strict=True))
            found.append(f"{dialect.name}: {pairs}")
        elif not dialect.has_header:
            found.append(f"{dialect.name}: nothing, its rows have {dialect.counts} numbers")
    return found


def dialect_of(name: str) -> Dialect:
    """The dialect of that name; ArgumentError where there is none."""
    if name not in DIALECTS:
        raise ArgumentError(f"dialect is {name!r}; expected {choices(DIALECTS)}")
    return DIALECTS[name]
