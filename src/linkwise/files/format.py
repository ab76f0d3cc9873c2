"""The protocol of a format of descriptions, and all formats that there are.

A format is one module or folder in `linkwise.files.formats` that registers an instance of its `Format`; it is found there by
its name alone. A format of another package calls `register` itself.

Examples
--------
>>> class Bare(Format):
...     name, title, suffixes = "a .bare", "bare (a name)", (".bare",)
...
...     def sniff(self, text, options):
...         return text.startswith("bare ")
...
...     def read(self, text, path, options):
...         from linkwise import Link, Mechanism
...
...         return Reading(Description(Mechanism([Link(name=text.split()[1])])), [], {})
>>> _ = register(Bare())
>>> from linkwise.files import loads
>>> loads("bare arm").link_names
('arm',)
>>> _ = FORMATS.pop()
"""

from __future__ import annotations

import math
import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

import numpy as np

from linkwise.errors import FileError, FileProblem, choices
from linkwise.files.description import Description, Reading
from linkwise.files.options import ReadOptions
from linkwise.files.xml_tree import XmlError, read_xml, root_tag
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import number
from linkwise.model.link import Link
from linkwise.model.motor import Motor

TEXT = "<text>"
"""What stands for the path of a text that is in no file."""

XML = re.compile(r"\s*<")
NUMERIC = re.compile(r"\s*[+-]?\.?\d[^\s=]*(\s|$)")
"""How an XML text begins, and a text of numbers."""


@dataclass
class Losses:
    """What a format cannot hold of a description.

    Attributes
    ----------
    lost : list of str
        What would be left out.
    never : list of str
        What keeps the file from being written: it would describe another mechanism, or could not be read again.
    """

    lost: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)

    def check(self, path: str | Path, form: str, allow_loss: bool) -> None:
        """Raise `FileError` naming everything that would be lost, unless that is allowed, and what cannot be written."""
        if self.never or (self.lost and not allow_loss):
            messages = [f"would be lost in {form}: {part}" for part in self.lost]
            messages += [f"cannot be written in {form} at all: {part}" for part in self.never]
            problems = [FileProblem(0, message) for message in messages]
            raise FileError(path, problems, self.advice("allow the loss (allow_loss=True)"))

    def advice(self, allow: str) -> str:
        """What can be done; `allow` is how the loss is allowed, where that helps."""
        return "save as .toml, which holds everything" + ("" if self.never else f", or {allow}")


class Format:
    """One format of descriptions; a subclass reads, and writes if it can.

    Attributes
    ----------
    name : str
        What messages call a file of it: ``"a URDF"``.
    title : str
        What it is, where all formats are listed.
    suffixes : tuple of str
        Its usual suffixes, in small letters; the first one is written.
    tag : str
        Tag of the root element of an XML format.
    options : frozenset of str
        Which of ``root`` and ``xacro`` it knows; others are refused, for without effect they would give another mechanism.
    named : bool
        Whether the suffix alone decides that a file is of it.
    holds_shapes : bool
        Whether it holds what links look like.
    refusal : str
        Why `save` does not write it; empty for a format that it writes.
    """

    name = ""
    title = ""
    suffixes: tuple[str, ...] = ()
    tag = ""
    options: frozenset[str] = frozenset()
    named = False
    holds_shapes = False
    refusal = ""

    def sniff(self, text: str, options: ReadOptions) -> bool:
        """Whether the text, which is not empty, is of this format."""
        return bool(self.tag) and XML.match(text) is not None and root_tag(text) == self.tag

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:
        r"""What a text holds: line ends are ``\n``, `path` is where it comes from, or `TEXT`."""
        raise NotImplementedError

    def losses(self, description: Description) -> Losses:
        """What the format cannot hold of a description."""
        return Losses()

    def write(self, description: Description) -> Iterator[str]:
        """The text of a description, in parts, without what cannot be held."""
        raise NotImplementedError


FORMATS: list[Format] = []
"""All formats, in the order in which they were registered."""


def register(form: Format) -> Format:
    """Make a format known; one that is registered later is asked first."""
    FORMATS.append(form)
    return form


@cache
def _load_own() -> None:
    """Register the formats of `linkwise.files.formats`."""
    folder = import_module("linkwise.files.formats")
    names = [f"{folder.__name__}.{module.name}" for module in pkgutil.iter_modules(folder.__path__)]
    for name in names:
        import_module(name)
    own = {name: k for k, name in enumerate(names)}
    FORMATS.sort(key=lambda form: own.get(type(form).__module__, len(own)))  # (before others, in whatever order imported)


def formats() -> list[Format]:
    """All formats, in the order in which they were registered."""
    _load_own()
    return FORMATS


def format_of(path: str | Path, text: str, options: ReadOptions) -> Format:
    """The format that the content asks for; where the content tells nothing, the suffix decides.

    Raises
    ------
    FileError
        Where neither tells.
    """
    suffix = Path(path).suffix.lower()
    known = list(reversed(formats()))
    if not text.strip():
        raise FileError(path, [FileProblem(0, "the file is empty")])
    named = (form for form in known if form.named and suffix in form.suffixes)
    form = next(chain(named, (form for form in known if form.sniff(text, options))), None)
    if form is None and XML.match(text):
        raise FileError(path, [_unknown_root(text)])
    form = form or next((form for form in known if suffix in form.suffixes), None)
    if form is None:
        first = text.split(maxsplit=1)[0]
        start = first if len(first) <= 20 else first[:20] + "..."
        tried = ", ".join(form.title for form in FORMATS if form.title)
        raise FileError(path, [FileProblem(1, f"the format is not known; it starts with {start!r}; tried {tried}")])
    return form


def written_format(path: str | Path) -> Format:
    """The format that a suffix asks `save` for.

    Raises
    ------
    FileError
        Where there is none, or it is not written.
    """
    suffix = Path(path).suffix.lower()
    form = next((form for form in reversed(formats()) if suffix in form.suffixes), None)
    if form is None:
        known = [form.suffixes[0] for form in FORMATS if not form.refusal]
        message = f"cannot tell the format from the suffix {suffix!r}; expected {choices(known)}"
    else:
        message = form.refusal
    if form is None or message:
        raise FileError(path, [FileProblem(0, message)])
    return form


def _unknown_root(text: str) -> FileProblem:
    try:
        root = read_xml(text)
    except XmlError as error:
        return error.problem
    known = " or ".join(f"<{form.tag}> ({form.suffixes[0]})" for form in FORMATS if form.tag)
    return FileProblem(root.line, f"the root element is <{root.tag}>; expected {known}")


def stem(path: str | Path) -> str:
    """The name of a file without its suffix; empty for a text that is in no file."""
    return "" if path == TEXT else Path(path).stem


# ── losses that formats share ─────────────────────────────────────────────────────────────────────


def chain_losses(mechanism: Mechanism, holds: Collection[str]) -> Losses:
    """What a format leaves out that holds a chain of links by their Denavit-Hartenberg rows.

    Parameters
    ----------
    mechanism : Mechanism
        What is to be written.
    holds : collection of str
        What it holds of ``name``, ``offset``, ``limits``, ``motor``, ``physical`` and ``gravity``.
    """
    losses = Losses()
    for k, link in enumerate(mechanism.links):
        rounded = link.dh_row is not None and link.moves and with_offset(link) is None
        parts = {
            "its name (only link1, link2, ... are implied)": "name" not in holds and link.name != f"link{k + 1}",
            "its offset (it cannot be added to theta or d without rounding)": "offset" not in holds and rounded,
            "the name of its joint": link.joint_name is not None,
            "its limits": "limits" not in holds and link.limits is not None,
            "its greatest speed": link.qd_max is not None,
            "its greatest acceleration": link.qdd_max is not None,
            "its greatest effort": link.tau_max is not None,
            "its mark physical=False": "physical" not in holds and not link.body.physical,
        }
        if link.motor is not None and "motor" not in holds:
            parts[f"its motor{rotor_text(link.motor)}"] = True
        elif link.motor is not None:
            parts["the rotor's body and where it is carried"] = link.motor.carrier is not None
        losses.lost += [f"link {link.name!r}: {part}" for part, lost in parts.items() if lost]
        if link.mimic is not None:
            losses.never.append(f"link {link.name!r}: its joint, which follows another")
    whole = {
        "its base (it is not the identity)": not np.array_equal(mechanism.base, np.eye(4)),
        "its tool (it is not the identity)": not np.array_equal(mechanism.tool, np.eye(4)),
        "its tool (it is not on the last link)": mechanism.tool_link is not None,
        "its payload": not mechanism.payload.is_zero,
    }
    losses.lost += [part for part, lost in whole.items() if lost]
    losses.lost += [f"its motor of {motor.joint!r}{rotor_text(motor)}" for motor in mechanism.motors]
    impossible = {
        "its branches (the links are not one chain in order)": mechanism.parents
        != tuple(range(-1, len(mechanism.links) - 1)),
        "its floating base": mechanism.floating,
        "its closed loops": bool(mechanism.loops),
    }
    losses.never += [part for part, there in impossible.items() if there]
    return losses


def rotor_text(motor: Motor) -> str:
    """What of the rotor is lost with its motor."""
    if motor.carrier is None:
        return ""
    carrier = repr(motor.carrier) if isinstance(motor.carrier, str) else f"link {motor.carrier} (from 0)"
    return f", whose rotor is carried by {carrier}" + ("" if motor.locked.is_zero else f" ({number(motor.mass)} kg)")


def with_offset(link: Link) -> float | None:
    """The theta or d of a link's row with the offset added; None where the sum would be rounded."""
    row = link.dh_row
    assert row is not None
    return exact_sum(row.theta if link.joint == "revolute" else row.d, link.offset)


def exact_sum(first: float, second: float) -> float | None:
    """The sum of two numbers, or None where it would be rounded.

    Examples
    --------
    >>> exact_sum(0.5, 0.25), exact_sum(0.1, 0.2)
    (0.75, None)
    """
    total = first + second
    exact = math.isfinite(total) and Fraction(first) + Fraction(second) == Fraction(total)
    return total if exact else None


def texts(values: Iterable[float]) -> str:
    """Numbers with all their digits, between blanks."""
    return " ".join(repr(float(value)) for value in values)
