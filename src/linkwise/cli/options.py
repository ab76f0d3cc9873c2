"""Types of options: finite numbers; vectors, angles and lengths with units; joint values; files of certain kinds.

A type with a method ``resolve`` needs the mechanism: `linkwise.cli.command` calls it after the description has been read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from linkwise.errors import choices, members, nearest
from linkwise.model.formatting.table import counted
from linkwise.model.quantities import units

if TYPE_CHECKING:
    from linkwise.model.tree import Tree

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # (no generic class before click 8.2)

LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
ANGLES = {"rad": 1.0, "deg": math.pi / 180.0, "°": math.pi / 180.0}

#: Unit suffixes of each kind of number, with their SI values; the default unit is m or rad.
UNITS = {"length": LENGTHS, "angle": ANGLES, "": {}}

PICTURES = ("png", "svg", "pdf")

_UNIT = re.compile(r"(?<=[0-9.])(mm|cm|m|deg|°|rad)$")


def option_name(param: click.Parameter | None) -> str:
    """The long name of an option, for messages."""
    return max(param.opts, key=len) if param else ""


def refuse(message: str, option: str) -> NoReturn:
    """Raise the error of an option's value."""
    raise click.BadParameter(message, param_hint=option)


def did_you_mean(word: str, names: Sequence[str], count: int = 1) -> str:
    """A question with the names that a word is near to, empty where it is near to none.

    Examples
    --------
    >>> did_you_mean("shwo", ["show", "run"])
    "Did you mean 'show'?"
    """
    near = nearest(word.lower(), names, count)
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else ""


# ── numbers ───────────────────────────────────────────────────────────────────────────────────────


def numbers(text: str, option: str, kinds: Sequence[str] = (), before: Sequence[str] = ()) -> list[float]:
    """Read numbers with commas between them, in m and rad; angles also as in 90deg, lengths as in 400mm or 40cm.

    Parameters
    ----------
    text : str
        The value of the option.
    option : str
        Its name, for messages.
    kinds : sequence of {"length", "angle", ""}
        What each number is, so that no length is taken for an angle; "" takes no unit. Any unit is taken where they do not
        match the count.
    before : sequence of {"length", "angle", ""}
        What stands before these where there are as many numbers more.

    Examples
    --------
    >>> numbers("0.5, 400mm, 90deg", "--q")
    [0.5, 0.4, 1.5707963267948966]
    """
    words = [word for word in re.split(r"[,\s]+", text.strip()) if word]
    known: Sequence[str | None] = [None] * len(words)
    for expected in (kinds, [*before, *kinds]):
        if kinds and len(words) == len(expected):
            known = expected
            break
    return [_number(word, option, kind) for word, kind in zip(words, known, strict=True)]


def _number(word: str, option: str, kind: str | None) -> float:
    match = _UNIT.search(word)
    unit, bare = (match[0], word[: match.start()]) if match else ("", word)
    try:
        value = float(bare)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        refuse(f"{word!r} is not a number (1.57, 90deg, 400mm)", option)
    if unit and kind is not None and unit not in UNITS[kind]:
        expected = "a number without a unit stands here"
        if kind:
            article, usual = ("an angle", "rad") if kind == "angle" else ("a length", "m")
            expected = f"{article} stands here; expected a number in {usual}, or with {choices(UNITS[kind])}"
        refuse(f"{word!r}: {expected}", option)
    return value * {"": 1.0, **LENGTHS, **ANGLES}[unit]


class Finite(click.FloatRange):
    """A finite number, in a range if one is stated; a range of click's own lets NaN through.

    Examples
    --------
    >>> Finite(0).convert("0.5", None, None)
    0.5
    >>> Finite(0).convert("nan", None, None)
    Traceback (most recent call last):
    click.exceptions.BadParameter: 'nan' is not a finite number.
    """

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not math.isfinite(number):
            self.fail(
                f"{value[:40]!r} is not a finite number." if isinstance(value, str) else f"{value} is not a finite number."
            )
        return super().convert(value, param, ctx)


#: A finite number above 0.
POSITIVE = Finite(0, min_open=True)


class Vector(ParamType):
    """Numbers with commas between them, of one kind; a count of None takes any, ``unit`` is for messages."""

    name = "vector"

    def __init__(self, metavar: str, kind: str = "", count: int | None = None, unit: str = "") -> None:
        self.metavar, self.kind, self.count = metavar, kind, count
        self.expected = f"{metavar} in {unit}" if unit else metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[float]:
        """Read the numbers."""
        option = option_name(param)
        if self.count is None:
            return numbers(value, option)
        vector = numbers(value, option, [self.kind] * self.count)
        if len(vector) != self.count:
            refuse(f"{value!r} is {len(vector)} numbers; expected {self.expected}", option)
        if self.kind == "angle" and "deg" not in value and max(map(abs, vector)) > 2.0 * math.pi:
            refuse(f"{value!r} has an angle of more than a turn; expected rad, or degrees as in 180deg", option)
        return vector


class Angle(ParamType):
    """An angle above 0 and up to pi, rad."""

    name = "angle"
    metavar = "ANGLE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the angle."""
        option = option_name(param)
        angle = numbers(value, option, ["angle"])
        if len(angle) != 1 or not 0 < angle[0] <= math.pi:
            refuse(f"{value!r} is not an angle above 0 and up to 180deg", option)
        return angle[0]


# ── joint values, read with the mechanism ─────────────────────────────────────────────────────────


def joint_kinds(mechanism: Tree) -> list[str]:
    """Kind of the value of each joint: length or angle."""
    return kinds_of(mechanism, "q")[mechanism.nq - mechanism.n :]


def kinds_of(mechanism: Tree, quantity: str) -> list[str]:
    """Kind of each column: length, angle, or empty for a quaternion."""
    return ["" if unit == "1" else "length" if unit.startswith("m") else "angle" for unit in units(mechanism, quantity)]


class Velocities(ParamType):
    """The velocities (nv,) of a mechanism, rad/s or m/s; those of the joints alone leave a floating base at rest."""

    name, metavar = "velocities", "V1,V2,..."
    quantity = "qd"

    def resolve(self, text: str, mechanism: Tree, option: str) -> list[float]:
        """Read the numbers of all joints, and before them those of a floating base, which may be left out."""
        base = self.base(mechanism)
        values = numbers(text, option, joint_kinds(mechanism), kinds_of(mechanism, self.quantity)[: len(base)])
        if len(values) == mechanism.n:
            return [*base, *values]
        if len(values) != mechanism.n + len(base):
            first = (
                "the floating base" if len(mechanism.manifold_joints) == mechanism.floating else "joints with quaternions"
            )
            also = f" ({mechanism.n + len(base)} with those of {first} before them)" if base else ""
            refuse(f"{counted(len(values), 'number')} for {counted(mechanism.n, 'joint')}{also}", option)
        return values

    def base(self, mechanism: Tree) -> list[float]:
        """The values of a floating base where they are left out."""
        return [0.0] * (mechanism.nv - mechanism.n)


class Coordinates(Velocities):
    """The coordinates (nq,) of a mechanism, rad or m.

    Those of the joints alone leave a floating base in its origin. Its quaternion may have any length.
    """

    name, metavar = "coordinates", "Q1,Q2,..."
    quantity = "q"

    def resolve(self, text: str, mechanism: Tree, option: str) -> list[float]:
        """Read the numbers."""
        q = super().resolve(text, mechanism, option)
        turns = [
            value for value, kind in zip(q[len(q) - mechanism.n :], joint_kinds(mechanism), strict=True) if kind == "angle"
        ]
        far = max(turns, key=abs, default=0.0)
        if abs(far) > 2.0 * math.pi and "deg" not in text and "°" not in text:
            click.echo(f"remark: {option}: {far:g} rad is more than a turn; degrees are written {far:g}deg", err=True)
        for at in mechanism.manifold_joints:
            length = math.hypot(*q[at.quaternion])
            if length == 0:
                refuse("the quaternion qw, qx, qy, qz is zero; expected an orientation", option)
            q[at.quaternion] = [value / length for value in q[at.quaternion]]
        return q

    def base(self, mechanism: Tree) -> list[float]:
        """The values of a floating base where they are left out: its origin."""
        return [*mechanism.neutral[: mechanism.nq - mechanism.n].tolist()]


class OfJoint(ParamType):
    """A joint and its values, as in JOINT=0.5 or JOINT=-90deg,90deg; a repeated option gives a dict of all."""

    name = "joint"

    def __init__(self, metavar: str, expected: str = "", count: int = 1) -> None:
        self.metavar, self.expected, self.count = metavar, expected or metavar, count

    def resolve(self, text: str | Sequence[str], mechanism: Tree, option: str) -> dict[str, tuple[float, ...]]:
        """Read names and numbers."""
        kinds = dict(zip(mechanism.names, joint_kinds(mechanism), strict=True))
        joints = {}
        for part in [text] if isinstance(text, str) else text:
            name, _, values = part.rpartition("=")
            if name not in kinds:
                refuse(f"{part!r} is not {self.expected} with a joint of {members(mechanism.names)}", option)
            joints[name] = tuple(numbers(values, option, [kinds[name]] * self.count))
            if len(joints[name]) != self.count:
                refuse(f"{part!r} is not {self.expected}", option)
        return joints


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


class OutputFile(click.Path):
    """A file to be written, of certain suffixes; ``subject`` names it in messages, as in 'a picture ends in ...'."""

    def __init__(self, subject: str, suffixes: Sequence[str]) -> None:
        super().__init__(dir_okay=False, path_type=Path)
        self.subject, self.suffixes = subject, suffixes
        self.metavar = f"FILE.{suffixes[0]}" if len(suffixes) == 1 else "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check the suffix."""
        check_suffix(Path(str(value)), self.subject, self.suffixes, option_name(param))
        return Path(str(super().convert(value, param, ctx)))


def check_suffix(path: Path, subject: str, suffixes: Sequence[str], option: str) -> None:
    """Refuse a file with another suffix."""
    if path.suffix.lower().removeprefix(".") not in suffixes:
        *most, last = [f".{suffix}" for suffix in suffixes]
        endings = f"{', '.join(most)} or {last}" if most else last
        refuse(f"{subject} ends in {endings}, not {path.suffix!r}", option)


def picture_type(path: Path) -> str:
    """The format of a picture, by the suffix of its file.

    Examples
    --------
    >>> picture_type(Path("arm.PNG"))
    'png'
    """
    return path.suffix.lower().removeprefix(".")


def file_name(name: str) -> str:
    """Make a file's name of a mechanism's: no separators, no dots in front, nothing that steers a terminal.

    Examples
    --------
    >>> file_name("../my arm"), file_name("")
    ('my_arm', 'mechanism')
    """
    return re.sub(r"[^\w.-]+", "_", name).strip("._-")[:80] or "mechanism"


# ── completion ────────────────────────────────────────────────────────────────────────────────────


def names_and_files(names: Sequence[str], incomplete: str, *, suffixes: set[str] | None = None) -> list[Any]:
    """Offer names that begin so and files here that do; any file where no name does."""
    from click.shell_completion import CompletionItem

    if not names:
        return [CompletionItem(incomplete, type="file")]
    here = (path for path in sorted(Path().iterdir()) if path.name.startswith(incomplete) and path.is_file())
    fitting = (path.name for path in here if suffixes is None or path.suffix.lower() in suffixes)
    return [*names, *(name for name in fitting if name not in names)]


def complete_mechanism(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete bundled robots, and the descriptions here."""
    from linkwise import robots
    from linkwise.files.registry import formats

    suffixes = {suffix for form in formats() for suffix in form.suffixes}
    return names_and_files([name for name in robots.names() if name.startswith(incomplete)], incomplete, suffixes=suffixes)


def complete_algorithm(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete algorithms."""
    import linkwise.mechanism  # noqa: F401  (the algorithms declare themselves)
    from linkwise.algorithm import ALGORITHMS

    return [name for name in sorted(ALGORITHMS) if name.startswith(incomplete)]
