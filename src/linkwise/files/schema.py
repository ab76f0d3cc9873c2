"""Schemas of tables in files: fields with kind, unit, default and meaning, from which a table is read, checked and written.

A `Kind` of values is parsed from a document and written so that the same bits come back. A `Schema` is declared once for
each table of a format. `TableReader` reads a table by it and gathers every mistake with its line; `pairs` writes the fields
that differ from their defaults, so that reading gives back the same bits; `document` makes the table of the documentation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from linkwise.errors import FileProblem, Problem, choices, members, shown, suggestion
from linkwise.files.report import attempt
from linkwise.files.toml_text import Place, line_of, real, row, text
from linkwise.model.joints import JOINTS, make_joint
from linkwise.model.validation import TURN


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes
    ----------
    expected : str
        What a value must be, for messages.
    parse : callable
        The value of what a document holds, or None where it is not of this kind.
    write : callable
        The value as text that is parsed to the same bits.
    """

    expected: str
    parse: Callable[[Any], Any]
    write: Callable[[Any], str] = real


def any_number(value: Any) -> float | None:
    """Parse a number as float, infinities included; None for other types and for integers beyond float range."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _finite(value: Any) -> float | None:
    """A finite float; whole numbers are numbers too, true and false are not."""
    number = any_number(value)
    return number if number is not None and math.isfinite(number) else None


def _numbers(value: Any) -> Any:
    """A finite number, or a list of them, or a list of lists of them."""
    if not isinstance(value, list):
        return _finite(value)
    return _all([_numbers(item) for item in value] if len(value) <= 16 else [None])


def _all(values: list[Any]) -> list[Any] | None:
    return None if any(value is None for value in values) else values


def list_of(parse: Callable[[Any], Any], size: int | None = None) -> Callable[[Any], list[Any] | None]:
    """Build a parser of a list of values, of the given size if any."""

    def parsed(value: Any) -> list[Any] | None:
        return _all([parse(item) for item in value]) if isinstance(value, list) and size in (None, len(value)) else None

    return parsed


def _either(parse: Callable[[Any], Any], other: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Build a parser that tries two parsers in turn."""
    return lambda value: other(value) if (parsed := parse(value)) is None else parsed


def rows(values: Iterable[Iterable[Any]]) -> str:
    """A matrix as a list of lists."""
    return "[" + ", ".join(row(line) for line in values) + "]"


def word(*allowed: str) -> Kind:
    """One of several keywords."""
    return Kind(choices(allowed), lambda value: value if value in allowed else None, text)


def tables(name: str) -> Kind:
    """Array of tables; the contents are read with their own schema."""
    return Kind(f"one [[{name}]] table or more", lambda value: value if isinstance(value, list) and value else None)


def _is(*types: type) -> Callable[[Any], Any]:
    """A parser of values of some types; True and False are no numbers."""
    return lambda value: value if isinstance(value, types) and (bool in types or not isinstance(value, bool)) else None


TEXT = Kind("text in quotes", _is(str), text)
TEXTS = Kind(
    "a list of texts in quotes",
    lambda value: tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else None,
    lambda lines: "[\n" + "".join(f"    {text(line)},\n" for line in lines) + "]",
)
TEXT_OR_TEXTS = Kind(
    "text in quotes, or a list of such",
    _either(_is(str), TEXTS.parse),
    lambda value: text(value) if isinstance(value, str) else "[" + ", ".join(map(text, value)) + "]",
)
FLAG = Kind("true or false", _is(bool), lambda value: "true" if value else "false")
WHOLE = Kind("a whole number", _is(int), lambda value: str(int(value)))
NUMBER = Kind("a finite number", _finite)
NUMBERS = Kind("finite numbers", _numbers, row)
PAIR = Kind("a list of 2 numbers", list_of(any_number, 2), row)
VECTOR = Kind("a list of 3 finite numbers", list_of(_finite, 3), row)
MATRIX = Kind("a list of 4 rows of 4 finite numbers", list_of(list_of(_finite, 4), 4), rows)


def _row(value: Any) -> str:
    return row([math.inf if item is None else item for item in value]) if isinstance(value, tuple) else real(value)


def _rows(kind: Kind, value: Any) -> str:
    if np.ndim(value[-1] if value[-1] is not None else value[0]) == 0 and None not in list(value):
        return kind.write(value)
    return rows((-math.inf, math.inf) if item is None else item for item in value)


#: One number, or one for each of several.
NUMBER_EACH = Kind("a finite number, or a list of them", _either(_finite, list_of(any_number)), _row)
PAIR_EACH = Kind("a list of 2 numbers, or a list of such", _either(PAIR.parse, list_of(PAIR.parse)), partial(_rows, PAIR))
VECTOR_EACH = Kind(
    f"{VECTOR.expected}, or 2 such lists", _either(VECTOR.parse, list_of(VECTOR.parse)), partial(_rows, VECTOR)
)
TEXT_OR_WHOLE = Kind(
    'the name of a link in quotes, its place from 0, or "base"',
    _is(str, int),
    lambda value: text(value) if isinstance(value, str) else str(value),
)


IN_SI = 'lengths are in m, masses in kg; angles alone may be in degrees, with angles = "deg"'

#: Hints for unknown keys that have no similar valid key.
HINTS = dict.fromkeys(("length", "lengths", "unit", "units"), IN_SI)


@dataclass(frozen=True)
class Field:
    """A key of a table.

    Attributes
    ----------
    name : str
        The key; a written object has an attribute of this name.
    kind : Kind, Schema or TableList
        Kind of its value.
    unit : str
        SI unit; one that begins with ``rad`` may be in degrees in a file, ``"rad or m"`` where the joint turns.
    default : object
        Not written where the value has the same bits; None for a key that is always written.
    doc : str
        Meaning, for messages and the documentation.
    required : bool
        Whether a table must have it.
    turn : bool
        Whether it is a constant angle, of a turn at most.
    hint : str
        Added to the message where a text stands in the place of a number.
    """

    name: str
    kind: Kind | Schema | TableList
    unit: str = ""
    default: Any = None
    doc: str = ""
    required: bool = False
    turn: bool = False
    hint: str = ""


class Schema:
    """A table: its fields, and the class that it describes.

    Parameters
    ----------
    *fields : Field
        In the order in which they are written.
    make : callable, optional
        What a nested table is built with, from the values by name.
    together : sequence of str
        Fields without one of which, wrongly given, the others mean nothing.
    values : callable, optional
        The values of an object by name; its attributes if left out.
    """

    expected = "a table"

    def __init__(
        self,
        *fields: Field,
        make: Callable[..., Any] | None = None,
        together: Sequence[str] = (),
        values: Callable[[Any], Mapping[str, Any]] | None = None,
    ) -> None:
        self.fields = {field.name: field for field in fields}
        self.make, self.together, self.values = make, together, values
        self.required = [field for field in fields if field.required]

    def parse(self, raw: Any) -> Any:
        """Return the table itself: `TableReader` reads its contents."""
        return raw if isinstance(raw, dict) else None

    def write(self, value: Any) -> str:
        """The value as an inline table."""
        return "{" + ", ".join(f"{key} = {written}" for key, written in pairs(self, value)) + "}"


@dataclass(frozen=True)
class TableList:
    """A list of tables of one schema, written inline."""

    schema: Schema
    expected: str = "a list of tables"

    def parse(self, raw: Any) -> Any:
        """Return the list itself: `TableReader` reads its contents."""
        return raw if isinstance(raw, list) else None

    def write(self, values: Iterable[Any]) -> str:
        """The values as inline tables."""
        return "[" + ", ".join(map(self.schema.write, values)) + "]"


def pairs(schema: Schema, source: Any) -> Iterator[tuple[str, str]]:
    """The keys and texts of an object's fields, or of a mapping's, that differ from their defaults."""
    values = schema.values(source) if schema.values else source
    get = values.get if isinstance(values, Mapping) else lambda name: getattr(values, name, None)
    for field in schema.fields.values():
        value = get(field.name)
        if value is not None and (field.default is None or not same(value, field.default)):
            yield field.name, field.kind.write(value)


def table(header: str, schema: Schema, source: Any) -> Iterator[str]:
    """The lines of a table; none where it has no keys, except an item of an array of tables."""
    written = list(lines(schema, source))
    if written or header.startswith("[["):
        yield f"\n{header}\n"
        yield from written


def lines(schema: Schema, source: Any) -> Iterator[str]:
    """The lines of an object's fields that differ from their defaults."""
    return (f"{key} = {written}\n" for key, written in pairs(schema, source))


def same(value: Any, default: Any) -> bool:
    """True if a value equals the default to the last bit, including the sign of zero."""
    if isinstance(default, (str, bool)):
        return bool(value == default)
    return np.asarray(value, dtype=np.float64).tobytes() == np.asarray(default, dtype=np.float64).tobytes()


def document(schemas: Mapping[str, Schema]) -> str:
    """The keys of a format in Markdown: a row for each field of each table."""
    lines = ["| table | key | value | unit | meaning |", "|---|---|---|---|---|"]
    for name, schema in schemas.items():
        for k, field in enumerate(schema.fields.values()):
            doc = field.doc + (" (required)" if field.required else "")
            lines.append(f"| {name if k == 0 else ''} | `{field.name}` | {field.kind.expected} | {field.unit} | {doc} |")
    return "\n".join(lines) + "\n"


class TableReader:
    """Reads tables by their schemas; gathers every mistake with its line.

    Parameters
    ----------
    lines : mapping
        The line of each place, see `linkwise.files.toml_text.toml_lines`.

    Attributes
    ----------
    degrees : bool
        Whether the file's angles are in degrees.
    lengths : tuple of bool
        Of the coordinates of the joint of the table that is read now, which are lengths: decides what ``"rad or m"`` is.
    periodic : bool
        Whether a full turn of its coordinate leads back to the same placement.
    """

    def __init__(self, lines: Mapping[Place, int]) -> None:
        self.lines = lines
        self.problems: list[FileProblem] = []
        self.degrees = False
        self.lengths: tuple[bool, ...] = (False,)
        self.periodic = False

    def report(self, place: Place, message: str) -> None:
        """Note a problem of the key or table at a place."""
        self.problems.append(FileProblem(line_of(self.lines, place), message))

    def table(self, item: str, place: Place, raw: Any, schema: Schema) -> dict[str, Any]:
        """The values of the keys that hold the right kind of thing, in SI units; the others are reported."""
        if not isinstance(raw, dict):
            self.report(place, f"{item} is {shown(raw)}; expected a table with {members(schema.fields)}")
            return {}
        values = {}
        for key, value in raw.items():
            field = schema.fields.get(key)
            if field is None:
                self.report((*place, key), unknown_key(item or "the file", key, schema.fields))
                continue
            parsed = self._value(f"{item}: {key}" if item else key, (*place, key), value, field)
            if parsed is not None:
                values[key] = parsed
        lacking = [field.name for field in schema.required if field.name not in raw]
        if lacking:
            names = [field.name for field in schema.required]
            expected = f"{names[0]} = {schema.required[0].doc}" if len(names) == 1 else _listed(names)
            self.report(place, f"{item} has no {lacking[0] if len(names) == 1 else choices(lacking)}; expected {expected}")
        return values

    def build(self, item: str, place: Place, raw: Any, schema: Schema) -> Any:
        """Build the object that a table describes; None after a report."""
        values = self.table(item, place, raw, schema)
        incomplete = not isinstance(raw, dict) or any(field.name not in values for field in schema.required)
        if incomplete or schema.make is None or any(key in raw and key not in values for key in schema.together):
            return None
        built, problems = attempt(item, lambda: schema.make(**values))  # type: ignore[misc]
        self.tell(place, [replace(problem, item=item) for problem in problems])
        return built

    def tell(self, place: Place, problems: Iterable[Problem]) -> None:
        """Note problems of the model, at the lines of their fields."""
        for problem in problems:
            message = str(problem).replace("physical=False accepts", "physical = false accepts")
            message = message.replace("Mechanism(motors=...)", "a [[motor]] table")
            self.report((*place, *problem.field.split(".")), message)

    def angle(self, value: Any, unit: str = "rad") -> Any:
        """A number or a list of numbers in SI: an angle is converted where the file is in degrees."""
        if not self.degrees or not unit.startswith("rad"):
            return value
        lengths = self.lengths if " or " in unit else (False,)
        if len(lengths) == 1:
            return value if lengths[0] else _radians(value)
        values = value if isinstance(value, list) else [value] * len(lengths)
        if len(values) != len(lengths):
            return value  # (the link reports it)
        return [item if length else _radians(item) for item, length in zip(values, lengths, strict=True)]

    def check_format(self, document: Mapping[str, Any], expected: str) -> None:
        """Report a missing or another format."""
        if "format" not in document:
            self.report((), f"there is no format; expected format = {expected!r}")
        elif isinstance(document["format"], str) and document["format"] != expected:
            self.report(("format",), f"format is {shown(document['format'])}; this version reads {expected!r}")

    def _value(self, item: str, place: Place, raw: Any, field: Field) -> Any:
        if isinstance(field.kind, Schema):
            read = self.build if field.kind.make else self.table
            return read(item, place, raw, field.kind)
        value = field.kind.parse(raw)
        if value is None:
            hint = field.hint if isinstance(raw, str) else ""
            self.report(place, f"{item} is {shown(raw)}; expected {field.kind.expected}{hint}")
            return None
        if isinstance(field.kind, TableList):
            built = [self.build(f"{item} {k + 1}", (*place, k), x, field.kind.schema) for k, x in enumerate(value)]
            return None if None in built else built
        if field.turn and (field.unit == "rad" or self.periodic):
            most, unit = (math.degrees(TURN), "degrees") if self.degrees else (TURN, "rad")
            if abs(value) > most:
                hint = "" if self.degrees else '; if these are degrees, write angles = "deg" before the first table'
                self.report(place, f"{item} is {value:g} {unit}, more than a turn{hint}")
                return 0.0
        if not self.degrees:
            return value
        single = field.kind not in {NUMBER_EACH, PAIR_EACH} and len(self.lengths) > 1
        return self.angle(value, field.unit.split(" or ")[0] if single else field.unit)


def _radians(value: Any) -> Any:
    return [_radians(item) for item in value] if isinstance(value, list) else math.radians(value)


@cache
def lengths_of(joint: str) -> tuple[bool, ...]:
    """Return which coordinates of a kind of joint are lengths; for an unknown kind, (False,)."""
    if joint not in JOINTS:
        return (False,)
    if not JOINTS[joint].named_by_link():
        return (JOINTS[joint].is_length,)
    parts = make_joint(joint, np.eye(3)[: JOINTS[joint].axes].squeeze()).turns_and_slides
    return tuple(part.is_length for part in parts) or (False,)


def named(kind: str, k: int, raw: Any) -> str:
    """Return the name of the k-th table of an array in messages: its name, or its number from 1."""
    name = raw.get("name") if isinstance(raw, dict) else None
    return f"{kind} {name!r}" if isinstance(name, str) and name else f"{kind} {k + 1}"


def unknown_key(item: str, key: str, keys: Iterable[str]) -> str:
    """The message for a key that is not one of those that there are.

    Examples
    --------
    >>> unknown_key("link 'arm'", "mas", ["mass", "com"])
    "link 'arm' has no key 'mas' (did you mean 'mass'?); the keys are 'mass' and 'com'"
    """
    if key in HINTS:
        return f"{item} has no key {shown(key)}: {HINTS[key]}"
    return f"{item} has no key {shown(key)}{suggestion(key[:40], keys)}; the keys are {members(keys)}"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
