"""Line numbers of tables and keys, whatever stands in between."""

from __future__ import annotations

import tomllib
from typing import Any

from linkwise.files.toml_text import toml_lines

TEXT = '''# a comment with [brackets] = "and quotes"
title = "a [[link]] # not one"
long = """
[[link]]
name = "no" \\""" still
"""
other = \'\'\'
x = 1\'\'\'

[base]
xyz = [ 1, # one
  2,
  3 ]
"quoted key"."dotted".more = {a = 1, "b" = [ {c = 2}, {d = 3} ]}

[[link]]
name = 'first'
[link.motor]
inertia = 1

[[ link ]]   # the second
name = "x" # comment
motor = { inertia = 1, gear_ratio = 2 }
date = 1979-05-27T07:32:00Z
'''


def leaves(value: Any, place: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in leaves(item, (*place, key))]
    if isinstance(value, list):
        return [found for k, item in enumerate(value) for found in leaves(item, (*place, k))]
    return [place]


def test_places() -> None:
    lines = toml_lines(TEXT)
    expected = {
        ("title",): 2, ("long",): 3, ("other",): 7, ("base",): 10, ("base", "xyz"): 11, ("base", "xyz", 2): 13,
        ("base", "quoted key", "dotted", "more", "a"): 14, ("base", "quoted key", "dotted", "more", "b", 1, "d"): 14,
        ("link",): 16, ("link", 0): 16, ("link", 0, "name"): 17, ("link", 0, "motor"): 18,
        ("link", 0, "motor", "inertia"): 19,
        ("link", 1): 21, ("link", 1, "motor", "gear_ratio"): 23, ("link", 1, "date"): 24,
    }  # fmt: skip
    assert {place: lines[place] for place in expected} == expected


def test_every_value_has_a_line() -> None:
    lines = toml_lines(TEXT)
    assert all(place in lines for place in leaves(tomllib.loads(TEXT)))
