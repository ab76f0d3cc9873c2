"""The digest of a mechanism: equal for equal content, another one wherever anything in it differs."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from linkwise import EndStop, LinearSpringDamper, Loop, Mechanism, Mimic, Pulley, WrapCylinder, WrapSphere, robots
from linkwise.expr.node import Expr, parameter
from linkwise.model.digest import digest
from linkwise.model.joints import Revolute
from linkwise.model.tree import unshared
from support.random_mechanisms import afloat, random_mechanism, sprung, with_rotors

Path = tuple[Any, ...]


def rich() -> Mechanism:
    """A mechanism with something of everything: joints of all kinds, motors, rotors, springs, a follower, a loop."""
    kinds = ["revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "ball", "fixed", "floating", "revolute"]
    links = random_mechanism(3, kinds).links
    second = links[1].replace(
        mimic=Mimic("part0", -0.7, 0.1), limits=(-9.0, 9.0), joint_name="slide", qd_max=2.0, tau_max=9.0
    )
    mechanism = random_mechanism(3, kinds).replace(links=[links[0], second, *links[2:]])
    mechanism = sprung(afloat(with_rotors(mechanism, 2))).with_payload(0.3, (0.1, 0.2, 0.3), (0.01, 0.02, 0.02))
    line = LinearSpringDamper([("part0", (0.1, 0.2, 0.3)), ("part3", (0.0, 0.1, 0.0))], stiffness=3.0, damping=0.2)
    path = [
        Pulley(2.0),
        ("part0", (0.1, 0.2, 0.3)),
        WrapSphere("part1", 0.3, side=(0.1, 0.2, 0.3)),
        ("part3", (0.0, 0.1, 0.0)),
    ]
    rope = LinearSpringDamper([*path, WrapCylinder("part2", 0.1), ("base", (0, 0, 1))], stiffness=2.0)
    stop = EndStop(mechanism.names[0], limits=(-1.0, 2.0), stiffness=100.0)
    return mechanism.replace(
        springs=[*mechanism.springs, line, rope, stop], loops=[Loop("point", "part2", "part9")], tool_link="part4"
    )


def in_symbols() -> Mechanism:
    a = parameter("a")
    return robots.planar_2r().symbolic("inertial").replace_link("link1", mass=2.0 * a * a + parameter("b"))


def children(value: Any) -> Iterator[tuple[Any, Any]]:
    """What an object holds, found by its own dictionary and not by the fields of its class."""
    if isinstance(value, (tuple, list)):
        yield from enumerate(value)
    elif isinstance(value, np.ndarray):
        yield from ((place, value[place]) for place in np.ndindex(value.shape))
    elif hasattr(value, "__dict__"):
        kept = {"_memo", "_lock"} | {name for name in value.__dict__ if callable(value.__dict__[name])}
        kept |= {name for name in value.__dict__ if isinstance(getattr(type(value), name, None), cached_property)}
        yield from ((name, item) for name, item in value.__dict__.items() if name not in kept)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Everything in an object that holds nothing itself, and where it is."""
    if value is None or isinstance(value, (bool, int, float, str, Expr, np.generic)):
        yield path, value
        return
    inside = list(children(value))
    for key, item in inside:
        yield from leaves(item, (*path, key))
    if not inside and isinstance(value, tuple):
        yield path, value


def with_leaf(value: Any, path: Path, leaf: Any) -> Any:
    """A copy with another leaf, checked by nobody."""
    if not path:
        return leaf
    key, *rest = path
    item = with_leaf(dict(children(value))[key], tuple(rest), leaf)
    if isinstance(value, tuple):
        return (*value[:key], item, *value[key + 1 :])
    if isinstance(value, np.ndarray):
        result = value.copy()
        result[key] = item
        return result
    result = object.__new__(type(value))
    result.__dict__.update({**value.__dict__, key: item})
    return result


def others(leaf: Any) -> list[Any]:
    """The next of the same kind, and of another."""
    if isinstance(leaf, bool):
        return [not leaf]
    if isinstance(leaf, (float, np.floating)):
        return [np.nextafter(leaf, 9e99), -leaf]
    if isinstance(leaf, int):
        return [leaf + 1, float(leaf)]
    if isinstance(leaf, Expr):
        return [leaf + 1e-9, parameter("another")]
    return {str: [f"{leaf} ", None], type(None): [0.0, "None"]}.get(type(leaf), [(None,)])


@pytest.mark.parametrize("make", [rich, in_symbols])
def test_every_number_and_every_word_counts(make: Any) -> None:
    mechanism = make()
    digests = {digest(mechanism)}
    count = 1
    for path, leaf in leaves(mechanism):
        for other in others(leaf) if path[0] != "shapes" else ():  # (no algorithm depends on these)
            parent = mechanism
            for key in path[:-1]:
                parent = dict(children(parent))[key]
            if isinstance(parent, np.ndarray) and parent.dtype != object and not isinstance(other, float):
                continue
            digests.add(digest(with_leaf(mechanism, path, other)))
            count += 1
    print(make.__name__, count)
    assert None not in digests
    assert len(digests) == count
    assert count > (1000 if make is rich else 100)


@pytest.mark.parametrize("make", [rich, in_symbols, robots.puma560])
def test_equal_content_has_equal_digests(make: Any) -> None:
    mechanism = make()
    for other in (make(), mechanism.replace(), pickle.loads(pickle.dumps(mechanism)), unshared(mechanism)):
        assert digest(other) == digest(mechanism) is not None
        assert other == mechanism


def test_use_changes_no_digest() -> None:
    mechanism = rich()
    before = digest(mechanism)
    assert [drive.motor.locked for drive in mechanism.drives]
    mechanism.replace(loops=()).forward_kinematics(mechanism.neutral)
    mechanism.kernel("forward_kinematics", backend="numpy")
    assert digest(mechanism) == before


def test_kinds_do_not_run_into_each_other() -> None:
    values = [
        (), ((),), ("",), ("", ""), ("ab",), ("a", "b"), (1,), (1.0,), (True,), ("1",), (None,), ("n",), ((1, 2), 3),
        (1, (2, 3)), (np.array([1.0]),), (np.array([[1.0]]),), (np.array([1]),), (np.array([1.0], dtype=object),),
        (np.float32(0.1),), (0.1,), (parameter("a"),), ("a",), (0.0,), (-0.0,),
    ]  # fmt: skip
    assert len({digest(*value) for value in values}) == len(values)
    assert digest(np.float64(0.1), np.int64(3)) == digest(0.1, 3)


@dataclass(frozen=True)
class Dial:
    """A class of somebody else's."""

    number: float = 1.0


class Hinge(Revolute):
    """A joint of somebody else's, under the name of one that there is."""


class Arm(Mechanism):
    """A mechanism of somebody else's, which may compute anything."""


def test_what_is_not_known_by_its_content_has_none() -> None:
    assert digest(Dial()) is None
    assert digest(object()) is None
    assert digest([1.0]) is None
    assert digest((1.0, {"a": 1})) is None
    assert digest(lambda x: x) is None
    arm = robots.planar_2r()
    assert digest(Arm(arm.links)) is None
    assert digest(arm.replace_link("link1", joint=Hinge((0.0, 0.0, 1.0)))) is None
    assert digest(arm) is not None
