"""What may stand in a Linkwise .toml file: the keys of each table and the kind of each value."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from typing import Any

from linkwise.errors import FileProblem, members, shown
from linkwise.files.description import Place, line_of

FORMAT = "linkwise 1"

TOP: dict[str, str] = {
    "format": "text",
    "name": "text",
    "source": "texts",
    "convention": "text",
    "angles": "text",
    "gravity": "3 numbers",
    "base": "frame",
    "tool": "frame",
    "tool_link": "text",
    "payload": "payload",
    "external": "external",
    "floating": "flag",
    "link": "links",
    "motor": "motors",
    "loop": "loops",
}
LINK: dict[str, str] = {
    "name": "text",
    "parent": "text",
    "joint": "text",
    "convention": "text",
    "theta": "number",
    "d": "number",
    "a": "number",
    "alpha": "number",
    "b": "number",
    "before": "frame",
    "after": "frame",
    "axis": "3 numbers",
    "pitch": "number",
    "offset": "number",
    "limits": "2 numbers",
    "mass": "number",
    "com": "3 numbers",
    "inertia": "numbers",
    "physical": "flag",
    "motor": "motor",
    "joint_name": "text",
    "speed_limit": "number",
    "effort_limit": "number",
    "mimic": "mimic",
}
MIMIC: dict[str, str] = {"joint": "text", "ratio": "number", "offset": "number"}
LOOP: dict[str, str] = {
    "kind": "text",
    "first": "text",
    "second": "text",
    "first_frame": "frame",
    "second_frame": "frame",
    "name": "text",
}
BODY: dict[str, str] = {"mass": "number", "com": "3 numbers", "inertia": "numbers", "physical": "flag"}
EXTERNAL: dict[str, str] = {"force": "3 numbers", "moment": "3 numbers"}
FRAME: dict[str, str] = {"xyz": "3 numbers", "rpy": "3 numbers", "matrix": "matrix"}
MOTOR: dict[str, str] = {
    "joint": "text",
    "inertia": "number",
    "gear_ratio": "number",
    "viscous": "number",
    "coulomb": "numbers",
    "friction_rule": "text",
    "carrier": "carrier",
    "axis": "3 numbers",
    "mass": "number",
    "com": "3 numbers",
    "rotor_inertia": "numbers",
}

TABLES: dict[str, dict[str, str]] = {"frame": FRAME, "payload": BODY, "external": EXTERNAL, "motor": MOTOR, "mimic": MIMIC}

IN_SI = 'lengths are in m, masses in kg; angles alone may be in degrees, with angles = "deg"'
HINTS = dict.fromkeys(("length", "lengths", "unit", "units"), IN_SI)
"""What is said of a key that there is not, in the place of a guess."""

DH_KEYS = ("theta", "d", "a", "alpha", "b")
GENERAL_KEYS = ("before", "after", "axis", "pitch")


class Schema:
    """Takes tables apart into plain values; all that is wrong is gathered in `problems`, each with its line."""

    def __init__(self, lines: dict[Place, int]) -> None:
        self.lines = lines
        self.problems: list[FileProblem] = []

    def report(self, place: Place, message: str) -> None:
        """Note a problem of the key or table at a place."""
        self.problems.append(FileProblem(line_of(self.lines, place), message))

    def table(self, item: str, place: Place, table: Any, keys: Mapping[str, str]) -> dict[str, Any]:
        """The values of the keys that hold the right kind of thing; the others are reported."""
        if not isinstance(table, dict):
            self.report(place, f"{item} is {shown(table)}; expected a table with {members(keys)}")
            return {}
        found = {}
        for key, value in table.items():
            if key not in keys:
                self.report((*place, key), unknown_key(item, key, keys))
                continue
            made = self._value(f"{item}: {key}", (*place, key), value, keys[key])
            if made is not None:
                found[key] = made
        return found

    def _value(self, item: str, place: Place, value: Any, kind: str) -> Any:
        """The value if it is of its kind, else None after a report."""
        if kind in TABLES:
            return self.table(item, place, value, TABLES[kind])
        expected, accept = _KINDS[kind]
        made = accept(value)
        if made is None:
            variable = isinstance(value, str) and place[-1] in ("theta", "d", "a")
            hint = "; write 0 for what the joint moves: its own value is added" if variable else ""
            self.report(place, f"{item} is {shown(value)}; expected {expected}{hint}")
        return made


def unknown_key(item: str, key: str, keys: Mapping[str, str]) -> str:
    """The message for a key that is not one of those that there are.

    Examples
    --------
    >>> unknown_key("external", "forse", EXTERNAL)
    "external has no key 'forse' (did you mean 'force'?); the keys are 'force' and 'moment'"
    """
    if key in HINTS:
        return f"{item} has no key {shown(key)}: {HINTS[key]}"
    near = difflib.get_close_matches(key[:40], keys, 1)
    guess = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{item} has no key {shown(key)}{guess}; the keys are {members(keys)}"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    """A finite float; whole numbers are numbers too, true and false are not."""
    made = any_number(value)
    return made if made is not None and math.isfinite(made) else None


def any_number(value: Any) -> float | None:
    """A number as a float, infinite ones too; None for what is none, or a whole number beyond all floats."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _numbers(value: Any) -> Any:
    """A finite number, or a list of them, or a list of lists of them."""
    if not isinstance(value, list):
        return _number(value)
    made = [_numbers(item) for item in value] if len(value) <= 16 else [None]
    return None if any(item is None for item in made) else made


def _row(size: int, accept: Callable[[Any], float | None] = _number) -> Callable[[Any], list[float] | None]:
    """A check for a list of that many numbers."""

    def check(value: Any) -> list[float] | None:
        made = [accept(item) for item in value] if isinstance(value, list) and len(value) == size else [None]
        return None if None in made else made  # type: ignore[return-value]

    return check


def _matrix(value: Any) -> list[list[float]] | None:
    made = [_row(4)(row) for row in value] if isinstance(value, list) and len(value) == 4 else [None]
    return None if None in made else made  # type: ignore[return-value]


def _some_tables(value: Any) -> list[Any] | None:
    return value if isinstance(value, list) and value else None


def _carrier(value: Any) -> str | int | None:
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None


_KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "text": ("text in quotes", _text),
    "texts": ("a list of texts in quotes", _texts),
    "flag": ("true or false", _flag),
    "number": ("a finite number", _number),
    "numbers": ("finite numbers", _numbers),
    "2 numbers": ("a list of 2 numbers", _row(2, any_number)),
    "3 numbers": ("a list of 3 finite numbers", _row(3)),
    "matrix": ("a list of 4 rows of 4 finite numbers", _matrix),
    "carrier": ('the name of a link in quotes, its place from 0, or "base"', _carrier),
    "links": ("one [[link]] table or more", _some_tables),
    "motors": ("one [[motor]] table or more", _some_tables),
    "loops": ("one [[loop]] table or more", _some_tables),
}
