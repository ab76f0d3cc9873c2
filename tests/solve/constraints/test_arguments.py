"""What constraints refuse, and what they say then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from linkwise import Loop, robots
from linkwise.errors import ArgumentError
from linkwise.solve import solve
from linkwise.solve.constraints import (
    Aligned,
    Closed,
    Constraint,
    Coordinate,
    Follows,
    LookAt,
    Orientation,
    Pose,
    Position,
)

ARM = robots.planar_3r()
FOUR_BAR = robots.four_bar()
SKEWED = np.eye(4)
SKEWED[0, 1] = 0.01

MADE: list[tuple[Callable[[], Constraint], str]] = [
    (lambda: Aligned(1.5, [0, 0, 1], [0, 0, 1]), "link is 1.5; expected a link's name, an index, or 'tool'"),
    (lambda: Aligned(True, [0, 0, 1], [0, 0, 1]), "link is True"),
    (lambda: Aligned([0], [0, 0, 1], [0, 0, 1]), r"link is \[0\]"),
    (lambda: Aligned(0, [0, 0, 0], [0, 0, 1]), r"axis is \[0.0, 0.0, 0.0\]; expected a vector that is not zero"),
    (lambda: Aligned(0, [[0, 0, 1]], [0, 0, 1]), r"axis has the shape \(1, 3\); expected \(3,\)"),
    (lambda: Aligned(0, [0, 1], [0, 0, 1]), r"axis has the shape \(2,\); expected \(..., 3\)"),
    (lambda: Aligned(0, [0, 0, 1], [[0, 0, 1], [0, 0, 0]]), r"direction\[1\] is \[0.0, 0.0, 0.0\]; expected a vector that"),
    (lambda: Aligned(0, [0, 0, 1], [0, np.nan, 1]), "direction is nan at"),
    (lambda: Aligned(0, [0, 0, 1], "up"), "direction holds .*"),
    (lambda: Aligned(0, [0, 0, 1], [1j, 0, 0]), "direction holds complex128"),
    (lambda: Aligned(0, [0, 0, 1], 1.0), r"direction has the shape \(\)"),
    (lambda: Aligned(0, [0, 0, 1], [0, 0, 1], either_way=1), "either_way is 1; expected True or False"),
    (lambda: LookAt(None, [0, 0, 1]), "link is None"),
    (lambda: LookAt(0, [0, 1]), r"target has the shape \(2,\)"),
    (lambda: LookAt(0, [0, 0, 1e60]), r"target reaches 1e\+60 m; expected points up to 1e\+50 m"),
    (lambda: LookAt(0, [0, 0, np.inf]), "target is inf at"),
    (lambda: LookAt(0, [0, 0, 1], axis=[0, 0, 0]), "axis is .*not zero"),
    (lambda: LookAt(0, [0, 0, 1], point=np.zeros((2, 3))), r"point has the shape \(2, 3\); expected \(3,\)"),
    (lambda: Coordinate(1.0, 0.0), "joint is 1.0; expected the name of a joint coordinate or its index"),
    (lambda: Coordinate(False, 0.0), "joint is False"),
    (lambda: Coordinate(0, "x"), "value holds"),
    (lambda: Coordinate(0, np.nan), "value is nan"),
    (lambda: Coordinate(0, None), "value, and lower and upper exclude each other"),
    (lambda: Coordinate(0, 1e60), r"value is 1e\+60; expected"),
    (lambda: Follows(0, 1.5), "leader is 1.5; expected the name"),
    (lambda: Follows(0, 1, ratio=np.inf), "ratio is inf"),
    (lambda: Follows(0, 1, offset=[1.0, np.nan]), "offset is nan at"),
    (lambda: Follows(0, 1, ratio=-1e51), r"ratio is -1e\+51"),
    (
        lambda: Follows(0, 1, [1.0, 2.0], [1.0, 2.0, 3.0]),
        r"the batch shapes do not fit each other: ratio \(2,\), offset \(3,\)",
    ),
    (lambda: Closed(1.0), "loop is 1.0; expected a Loop, or the name or index of one of the mechanism"),
    (lambda: Closed(True), "loop is True"),
    (lambda: Closed(None), "loop is None"),
    (lambda: Pose(0, np.eye(3)), r"T has the shape \(3, 3\)"),
    (lambda: Pose(0, SKEWED), "T is .*; expected a rigid pose"),
    (lambda: Pose(0, np.eye(4), at=SKEWED), "at is .*; expected a rigid pose"),
    (lambda: Pose(0, np.eye(4), at=np.zeros((2, 4, 4)) + np.eye(4)), r"at has the shape \(2, 4, 4\); expected \(4, 4\)"),
    (lambda: Pose(0, np.eye(4), mask=[1, 0]), "mask is .*; expected six"),
    (lambda: Pose(0, np.eye(4), mask=[0] * 6), "mask is .*; expected six of 0 or 1, not all 0"),
    (lambda: Pose(0, np.eye(4), frame="tool"), "frame is 'tool'; expected 'world' or 'body'"),
    (lambda: Position(0, [1, 2]), r"p has the shape \(2,\)"),
    (lambda: Position(0, [1, 2, 1e60]), r"p reaches 1e\+60 m"),
    (lambda: Position(0, [1, 2, 3], mask=[1, 2, 0]), "mask is .*; expected three"),
    (lambda: Position(0, [1, 2, 3], point=[[1, 2, 3]]), r"point has the shape \(1, 3\)"),
    (lambda: Orientation(0, np.eye(4)), r"R has the shape \(4, 4\)"),
    (lambda: Orientation(0, 2 * np.eye(3)), r"R is \[\[2.0, 0.0, 0.0\].*expected rotations: orthonormal"),
    (lambda: Orientation(0, np.eye(3), mask=[0, 0, 0]), "mask is .*not all 0"),
]

ASKED: list[tuple[Constraint, str]] = [
    (Aligned("elbow", [0, 0, 1], [0, 0, 1]), "no link 'elbow'; this mechanism has"),
    (Aligned(7, [0, 0, 1], [0, 0, 1]), "no link 7"),
    (LookAt(-9, [0, 0, 1]), "no link -9"),
    (Pose("elbow", np.eye(4)), "no link 'elbow'"),
    (Coordinate("elbow", 0.0), "joint is 'elbow'; the joint coordinates of 'planar_3r' are .*, or indices -3 to 2"),
    (Coordinate(3, 0.0), "joint is 3; the joint coordinates"),
    (Coordinate(-4, 0.0), "joint is -4"),
    (Follows(0, "elbow"), "leader is 'elbow'; the joint coordinates"),
    (Follows(5, 0), "joint is 5"),
    (Follows(0, -3), "joint and leader are both .*; expected two joint coordinates"),
    (Closed("pin"), "'planar_3r' has no loop 'pin'; there is none"),
    (Closed(0), "'planar_3r' has no loop 0; there is none"),
    (Closed(Loop("point", "base", "elbow")), "second is 'elbow'; expected 'base', "),
]


@pytest.mark.parametrize(("make", "message"), MADE)
def test_what_cannot_be_is_refused(make: Callable[[], Constraint], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


@pytest.mark.parametrize(("constraint", "message"), ASKED)
def test_what_the_mechanism_has_not_is_named(constraint: Constraint, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        solve(ARM, constraint)


@pytest.mark.parametrize("loop", ["nail", 1, -2])
def test_the_loops_there_are_are_named(loop: str | int) -> None:
    with pytest.raises(ArgumentError, match=rf"'four_bar' has no loop {loop!r}; there are \['pin'\]"):
        solve(FOUR_BAR, Closed(loop))


def test_loops_of_one_name_are_told_apart_by_index() -> None:
    loop = FOUR_BAR.loops[0]
    twice = FOUR_BAR.replace(loops=[loop, loop])
    with pytest.raises(ArgumentError, match="2 loops 'pin'; name one by its index"):
        Closed("pin").check(twice)
    assert Closed(1).on(twice) == Closed("pin").on(FOUR_BAR) == loop


def test_what_is_given_stays_the_callers() -> None:
    given = np.array([0.0, 0.0, 2.0])
    made = [Aligned(0, given, given), LookAt(0, given, given, given), Position(0, given, point=given)]
    before = [constraint.numbers.copy() for constraint in made]
    given[:] = 7.0
    assert all(np.array_equal(c.numbers, was) for c, was in zip(made, before, strict=True))
    assert made[1].point.tolist() == [0.0, 0.0, 2.0]  # type: ignore[attr-defined]
