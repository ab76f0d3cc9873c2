"""The elements and attributes that we know against MuJoCo's schema: one that is missing would be refused as misspelt."""

from __future__ import annotations

import re

import pytest

from linkwise.files.formats.mjcf import attributes
from linkwise.files.formats.mjcf.attributes import ATTRIBUTES

mujoco = pytest.importorskip("mujoco", exc_type=ImportError)


def entries() -> dict[tuple[str, str], set[str]]:
    """The attributes of each element, by what it stands in and its tag; the tree is told by the blanks before a line."""
    found: dict[tuple[str, str], set[str]] = {}
    path: list[str] = []
    place = ("", "")
    for line in mujoco.mj_printSchema(False, False).splitlines():
        start = re.match(r"( *)(\S+) \([!*?R]\)(.*)", line)
        if start:
            path = [*path[: len(start[1]) // 3], start[2]]
            place = (path[-2] if len(path) > 1 else "", start[2])
            found.setdefault(place, set())
        found[place] |= set((start[3] if start else line).split())
    return found


def test_every_attribute_of_mujoco_is_known() -> None:
    theirs = entries()
    defaults = set(attributes.DEFAULTS) - set(attributes.UNUSED_DEFAULTS)
    known = {
        ("mujoco", "compiler"): ATTRIBUTES["compiler"],
        ("mujoco", "option"): ATTRIBUTES["option"],
        ("option", "flag"): ATTRIBUTES["flag"],
        ("mujoco", "(world)body"): ATTRIBUTES["body"],
        **{("(world)body", tag): ATTRIBUTES[tag] for tag in ("inertial", "joint", "freejoint", "geom", "site")},
        **{("equality", tag): ATTRIBUTES[f"equality {tag}"] for tag in attributes.EQUALITIES},
        **{("actuator", tag): ATTRIBUTES[tag] for tag in (*attributes.ACTUATORS, "plugin") if ("actuator", tag) in theirs},
        **{("default", tag): ATTRIBUTES[tag] for tag in defaults if ("default", tag) in theirs},
    }
    assert {place: theirs[place] - set(said) for place, said in known.items() if theirs[place] - set(said)} == {}
    assert {tag for place, tag in theirs if place == "default"} <= set(attributes.DEFAULTS)
    assert {tag for place, tag in theirs if place == "actuator"} <= {*attributes.ACTUATORS, "plugin"}


def test_every_element_of_mujoco_is_known() -> None:
    theirs = entries()
    inside = {place: {tag for other, tag in theirs if other == place} for place in attributes.INSIDE}
    shared = ("joint", "site", "geom", "equality")  # (of a tendon; of the whole file, where ours are those of a class)
    assert all(found <= set(attributes.INSIDE[place]) for place, found in inside.items() if place not in shared)
    assert inside["option"] == {"flag"}
