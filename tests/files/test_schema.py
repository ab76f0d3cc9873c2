"""Schemas: what is written is read back to the last bit; every mistake is told with its line, item and field."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.errors import ModelError, Problem
from linkwise.files.schema import (
    FLAG,
    MATRIX,
    NUMBER,
    PAIR,
    TEXT,
    TEXT_OR_WHOLE,
    TEXTS,
    VECTOR,
    WHOLE,
    Field,
    Schema,
    TableReader,
    document,
    lines,
    table,
    word,
)
from linkwise.files.toml_text import parsed

finite = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(max_size=20).filter(lambda text: not any(0xD800 <= ord(c) < 0xE000 for c in text))
EVERY = {
    "text": (TEXT, words),
    "texts": (TEXTS, st.lists(words, min_size=1, max_size=3).map(tuple)),
    "flag": (FLAG, st.booleans()),
    "whole": (WHOLE, st.integers(-(2**60), 2**60)),
    "number": (NUMBER, finite),
    "pair": (PAIR, st.lists(st.floats(allow_nan=False), min_size=2, max_size=2)),
    "vector": (VECTOR, st.lists(finite, min_size=3, max_size=3)),
    "matrix": (MATRIX, st.lists(st.lists(finite, min_size=4, max_size=4), min_size=4, max_size=4)),
    "carrier": (TEXT_OR_WHOLE, words | st.integers(0, 9)),
    "choice": (word("a", "b"), st.sampled_from(["a", "b"])),
}
SCHEMA = Schema(*(Field(name, kind) for name, (kind, _) in EVERY.items()))


@settings(deadline=None, max_examples=60)
@given(st.fixed_dictionaries({}, optional={name: values for name, (_, values) in EVERY.items()}))
def test_every_kind_survives(values: dict[str, Any]) -> None:
    text = "".join(lines(SCHEMA, values))
    document_, places, problems = parsed(text)
    reader = TableReader(places)
    assert not problems
    assert repr(sorted(reader.table("", (), document_, SCHEMA).items())) == repr(sorted(values.items()))
    assert not reader.problems


def test_defaults_are_left_out_bit_for_bit() -> None:
    schema = Schema(Field("a", NUMBER, default=0.0), Field("b", VECTOR, default=(0.0, 0.0, 0.0)), Field("c", NUMBER))
    assert list(lines(schema, {"a": 0.0, "b": [0.0, 0.0, 0.0], "c": None})) == []
    assert list(lines(schema, {"a": -0.0, "b": [0.0, -0.0, 0.0], "c": 0.0})) == [
        "a = -0.0\n",
        "b = [0.0, -0.0, 0.0]\n",
        "c = 0.0\n",
    ]
    assert list(table("[t]", schema, {})) == []
    assert list(table("[[t]]", schema, {})) == ["\n[[t]]\n"]


def make(first: float, second: float = 0.0) -> float:
    if first < 0:
        raise ModelError([Problem("part", "first", first, "a number >= 0")])
    return first + second


PART = Schema(
    Field("first", NUMBER, doc="the first", required=True), Field("second", NUMBER), make=make, together=("second",)
)
WHOLE_TABLE = Schema(Field("part", PART), Field("angle", NUMBER, "rad", turn=True), Field("stroke", NUMBER, "rad or m"))


def read(text: str, length: bool = False, degrees: bool = False) -> tuple[dict[str, Any], list[tuple[int, str]]]:
    document_, places, _ = parsed(text)
    reader = TableReader(places)
    reader.lengths, reader.degrees = (length,), degrees
    values = reader.table("thing", (), document_, WHOLE_TABLE)
    return values, [(problem.line, problem.message) for problem in reader.problems]


def test_nested_tables_are_built_and_angles_converted() -> None:
    assert read("part = {first = 1, second = 2}\nangle = 90\nstroke = 180", degrees=True) == (
        {"part": 3.0, "angle": math.pi / 2, "stroke": math.pi},
        [],
    )
    assert read("stroke = 180", length=True, degrees=True)[0] == {"stroke": 180.0}


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("\npart = 1", 2, "thing: part is 1"),
        ("[part]\nsecond = 1", 1, "thing: part has no first; expected first = the first"),
        ("[part]\nfirst = 1\nsecond = 'x'", 3, "thing: part: second is 'x'"),
        ("[part]\n\nfirst = -1", 3, "thing: part: first is -1.0; expected a number >= 0"),
        ("angle = 90", 1, "thing: angle is 90 rad, more than a turn"),
        ("a = 1\nangel = 1", 2, "thing has no key 'angel' (did you mean 'angle'?)"),
    ],
)
def test_mistakes_have_item_field_value_and_line(text: str, line: int, told: str) -> None:
    problems = read(text)[1]
    assert any(at == line and message.startswith(told) for at, message in problems), problems


def test_all_mistakes_are_gathered() -> None:
    assert [line for line, _ in read("angle = 'x'\nstroke = []\nother = 1\n[part]\nfirst = nan")[1]] == [1, 2, 3, 5]


def test_the_documentation_has_a_row_for_each_field() -> None:
    text = document({"a part": PART})
    assert text.splitlines()[2:] == [
        "| a part | `first` | a finite number |  | the first (required) |",
        "|  | `second` | a finite number |  |  |",
    ]
