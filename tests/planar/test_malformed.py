"""Everything that cannot be is refused when it is built: the item, the field, the value and what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import planar
from linkwise.errors import ArgumentError, LinkwiseError, ModelError
from linkwise.planar import Link, Loop, Mechanism

NAN, INF = float("nan"), float("inf")
BOW = [[0, 0], [1, 1], [1, 0], [0, 1]]
SPIKE = [[0, 0], [2, 0], [1, 0], [1, 1]]
PINCHED = [[0, 0], [2, 0], [2, 1], [1, 0], [0, 1]]


def link(**fields: Any) -> Link:
    return Link(name="arm", **fields)


def loop(**fields: Any) -> Loop:
    return Loop(**{"first": "a", "first_point": (0, 0), "second": "b", "second_point": (0, 0), "name": "pin", **fields})


def mechanism(*links: Link, loops: Any = ()) -> Mechanism:
    return Mechanism(links or [Link(name="arm")], loops, name="robot")


CASES: list[tuple[Callable[..., object], dict[str, Any], str, str]] = [
    # polygons
    (link, {"polygons": [[0, 0], [1, 0]]}, "polygons is", "at least 3 points; it has 2"),
    (link, {"polygons": [[0, 0], [1, 0], [NAN, 1]]}, "polygons is", "finite numbers; point 2 is [nan, 1.0]"),
    (link, {"polygons": [[0, 0], [1, 0], [1, INF]]}, "polygons is", "finite numbers; point 2"),
    (link, {"polygons": BOW}, "polygons is", "the edges from points 0 and 2 meet"),
    (link, {"polygons": SPIKE}, "polygons is", "the edges from points 0 and 1 meet"),
    (link, {"polygons": PINCHED}, "polygons is", "the edges from points 0 and 2 meet"),
    (link, {"polygons": [[0, 0], [1, 0], [2, 0]]}, "polygons is", "an outline that does not meet itself"),
    (link, {"polygons": [[0, 0], [1, 0], [1, 1], [0, 0]]}, "polygons is", "(the last point joins the first by itself)"),
    (link, {"polygons": [[0, 0], [1, 0], [1, 0], [0, 1]]}, "polygons is", "points 1 and 2 are one"),
    (link, {"polygons": np.zeros((4, 3))}, "polygons is", "a polygon (m, 2)"),
    (link, {"polygons": np.zeros((0, 2))}, "polygons is", "at least 3 points; it has 0"),
    (link, {"polygons": "square"}, "polygons is 'square'", "a polygon (m, 2)"),
    (link, {"polygons": 3.0}, "polygons is 3.0", "a polygon (m, 2)"),
    (link, {"polygons": [planar.bar(1, 1), BOW]}, "polygons[1] is", "the edges from points 0 and 2 meet"),
    (link, {"polygons": [[0, 0], [1, 0], ["a", 1]]}, "polygons[0] is", "a polygon (m, 2)"),
    # Link
    (link, {"joint": "hinge"}, "joint is 'hinge'", "'revolute', 'prismatic', 'fixed' or 'free'"),
    (link, {"joint": None}, "joint is None", "'revolute'"),
    (link, {"a": NAN}, "a is nan", "a finite number"),
    (link, {"a": "1"}, "a is '1'", "a finite number"),
    (link, {"theta": INF}, "theta is inf", "a finite number"),
    (link, {"at": (0, 0)}, "at is (0, 0)", "3 finite numbers: x, y (m) and the angle (rad)"),
    (link, {"joint": "free", "a": 1.0}, "a is 1.0", "0 for a free link"),
    (link, {"joint": "free", "at": (1, 0, 0)}, "at is (1.0, 0.0, 0.0)", "0 for a free link"),
    (link, {"limits": (1, 0)}, "limits is (1, 0)", "the lower limit first"),
    (link, {"limits": (NAN, 0)}, "limits is (nan, 0)", "neither NaN"),
    (link, {"limits": 3}, "limits is 3", "two numbers"),
    (link, {"limits": (INF, INF)}, "limits is (inf, inf)", "two numbers"),
    (link, {"limits": (-INF, -INF)}, "limits is (-inf, -inf)", "two numbers"),
    (link, {"joint": "free", "limits": (0, 1)}, "limits is (0, 1)", "for each of x, y and theta"),
    (link, {"joint": "fixed", "limits": (0, 1)}, "limits is (0, 1)", "a fixed link has no coordinate"),
    (link, {"joint": "fixed", "joint_name": "j"}, "joint_name is 'j'", "None"),
    (link, {"mass": -1.0}, "mass is -1.0", "a finite number >= 0"),
    (link, {"com": (0, 0, 0)}, "com is (0, 0, 0)", "2 finite numbers"),
    (link, {"inertia": -1.0}, "inertia is -1.0", "a finite number >= 0"),
    (link, {"parent": 0}, "parent is 0", "a word, or None"),
    (lambda: Link(name="world"), {}, "name is 'world'", "another word ('world' means the ground)"),
    (lambda: Link(name="base"), {}, "name is 'base'", "another word"),
    (lambda: Link(name=" "), {}, "name is ' '", "a word, or None"),
    # Loop
    (loop, {"first": 1}, "first is 1", "the name of a link, or 'world'"),
    (loop, {"second": "a"}, "second is 'a'", "another link than 'a'"),
    (loop, {"first_point": (0, 0, 0)}, "first_point is (0, 0, 0)", "2 finite numbers"),
    (loop, {"joint": "prismatic"}, "joint is 'prismatic'", "'revolute' or 'fixed'"),
    (loop, {"angle": 1.0}, "angle is 1.0", "0 for a revolute joint"),
    # Mechanism
    (lambda: Mechanism([]), {}, "links is []", "one planar.Link or more"),
    (lambda: Mechanism(3), {}, "links is 3", "one planar.Link or more"),
    (lambda: Mechanism([Link()], name=3), {}, "name is 3", "a word, or None"),
    (lambda: mechanism(Link(name="a"), Link(name="a")), {}, "links is 'a'", "unique names"),
    (lambda: mechanism(Link(name="a", joint_name="j"), Link(name="j")), {}, "links is 'j'", "unique joint names"),
    (lambda: mechanism(Link(name="a", joint="free"), Link(name="a.x")), {}, "links is 'a.x'", "another name"),
    (lambda: mechanism(Link(name="a", parent="b")), {}, "parent is 'b'", "expected 'world'"),
    (lambda: mechanism(Link(name="a"), Link(name="c", parent="b")), {}, "parent is 'b'", "expected 'world' or 'a'"),
    (lambda: mechanism(Link(name="a", parent="b"), Link(name="b", parent="a")), {}, "links is ['a', 'b']", "(a cycle"),
    (lambda: mechanism(Link(name="a"), Link("", joint="free")), {}, "polygons is ''", "a polygon"),
    (lambda: mechanism(Link(name="a"), Link(joint="free", name="b")), {}, "parent is 'a'", "a free link hangs on nothing"),
    (lambda: mechanism(loops=3), {}, "loops is 3", "a sequence of planar.Loop"),
    (lambda: mechanism(loops=[loop(first="arm", second="leg")]), {}, "second is 'leg'", "'world' or 'arm'"),
    (
        lambda: mechanism(loops=[loop(first="arm", second="world"), loop(first="arm", second="world")]),
        {},
        "loops is 'pin'",
        "unique names",
    ),
]


@pytest.mark.parametrize(("make", "fields", "found", "expected"), CASES)
def test_refused_with_the_field_the_value_and_what_was_expected(
    make: Callable[..., object], fields: dict[str, Any], found: str, expected: str
) -> None:
    with pytest.raises(ModelError) as caught:
        make(**fields)
    assert found in str(caught.value)
    assert expected in str(caught.value)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ModelError) as caught:
        Link(BOW, "hinge", a=NAN, name="arm")
    assert [problem.field for problem in caught.value.problems] == ["polygons", "joint", "a"]
    assert {problem.item for problem in caught.value.problems} == {"link 'arm'"}


TWO = Mechanism([Link(name="a"), Link(name="b", a=1.0)], name="two")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: TWO.poses([0.0]), r"configuration has the shape (1,); expected (..., 2) for 'a' and 'b'"),
        (lambda: TWO.poses(0.0), r"configuration has the shape (); expected (..., 2)"),
        (lambda: TWO.place(np.zeros((2, 3))), r"configuration has the shape (2, 3)"),
        (lambda: TWO.transforms(["0", "1"]), r"configuration is ['0', '1']; expected real numbers (..., 2)"),
        (lambda: TWO.transforms([0.0, 1j]), r"expected real numbers (..., 2)"),
        (lambda: TWO.transforms([[0.0], [1.0, 2.0]]), r"expected real numbers (..., 2)"),
        (lambda: TWO.close([0.0]), r"configuration has the shape (1,); expected (..., 2)"),
        (lambda: TWO.close([0.0, NAN]), r"configuration is nan at (1,)"),
        (lambda: TWO.link_index("c"), r"no link 'c'; this mechanism has 'a' and 'b', or indices -2 to 1"),
        (lambda: TWO.link_index(2), r"no link 2"),
        (lambda: TWO.replace(gravity=1), r"no field 'gravity'; it has 'links', 'loops' and 'name'"),
        (lambda: TWO.links[0].replace(colour="red"), r"no field 'colour'"),
        (lambda: planar.bar(-1.0, 1.0), r"length is -1.0; expected a finite number >= 0"),
        (lambda: planar.bar(1.0, 0.0), r"width is 0.0; expected a finite number > 0"),
        (lambda: TWO.spatial((0, 0, -9.81)), r"gravity has the shape (3,); expected (2,): along x and y"),
    ],
)
def test_calls_that_cannot_be_answered(call: Callable[[], object], expected: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(expected)):
        call()


def test_outlines_in_either_sense_and_not_convex_are_fine() -> None:
    ell = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
    made = Link([ell, ell[::-1]])
    assert (made.polygons[0] == ell).all()
    assert (made.polygons[1] == ell[::-1]).all()
    assert issubclass(ModelError, LinkwiseError)


def test_outlines_of_any_size_and_of_many_corners_are_looked_at() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    for size in (1e-200, 1e200):
        assert len(Link(size * square).polygons) == 1
        with pytest.raises(ModelError, match="the edges from points 0 and 2 meet"):
            Link(size * square[[0, 2, 1, 3]])
    turn = np.linspace(0.0, 2.0 * np.pi, 600, endpoint=False)
    disc = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    assert len(Link(disc).polygons) == 1
    disc[500] = 1.5 * disc[200]  # the edges to it cut the outline there
    with pytest.raises(ModelError, match=r"the edges from points \d+ and \d+ meet"):
        Link(disc)


def test_zeros_of_either_sign_are_equal() -> None:
    for one, other in (
        ({"limits": (0.0, 1.0)}, {"limits": (-0.0, 1.0)}),
        ({"polygons": [(0, 0), (1, 0), (0, 1)]}, {"polygons": [(-0.0, 0), (1, -0.0), (0, 1)]}),
    ):
        assert Link(**one) == Link(**other)
        assert hash(Link(**one)) == hash(Link(**other))
