"""A link and a motor: every field of the page, in its order, and what is wrong with one."""

from __future__ import annotations

import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from linkwise.errors import ModelError
from linkwise.robo import Link, Motor

LINK: dict[str, Any] = {
    "number": 1,
    "kind": "Rotationalz",
    "connected": {0},
    "previous": 2,
    "mass": 1.5,
    "inertia": (0.02, 0.03, 0.04),
    "l": (0.1, 0.2, 0.3),
    "p": (0.0, 0.0, 0.1),
    "a": 0.5,
    "motors": [1, 2],
}
MOTOR: dict[str, Any] = {
    "number": 7,
    "link": 2,
    "driven_joint": 1,
    "mass": 0.4,
    "inertia": (3e-4, 3e-4, 2e-4),
    "l": (0.1, 0.0, 0.0),
    "p": (0.0, 0.0, 0.05),
    "a": 0.25,
    "G": -60,
}


def test_fields_stand_in_the_order_of_the_page() -> None:
    assert [field.name for field in fields(Link)] == list(LINK)
    assert [field.name for field in fields(Motor)] == list(MOTOR)


def test_a_list_comes_back_with_plain_items() -> None:
    tensor = [[0.02, 0.0, 0.0], [0.0, 0.03, 0.0], [0.0, 0.0, 0.04]]
    listed = Link(*LINK.values()).to_list()
    assert listed == [1, "Rotationalz", [0], 2, 1.5, tensor, [0.1, 0.2, 0.3], [0.0, 0.0, 0.1], 0.5, [1, 2]]
    small = [[3e-4, 0.0, 0.0], [0.0, 3e-4, 0.0], [0.0, 0.0, 2e-4]]
    driving = Motor(*MOTOR.values()).to_list()
    assert driving == [7, 2, 1, 0.4, small, [0.1, 0.0, 0.0], [0.0, 0.0, 0.05], 0.25, -60.0]
    assert Link(*listed) == Link(**LINK)
    assert Motor(*driving) == Motor(**MOTOR)


def test_they_can_be_compared_hashed_and_pickled() -> None:
    link, motor = Link(**LINK), Motor(**MOTOR)
    assert {link, Link(**LINK)} == {link}
    assert pickle.loads(pickle.dumps((link, motor))) == (link, motor)
    assert link != Link(**{**LINK, "a": 0.6})


@pytest.mark.parametrize(
    ("given", "kept"), [({0}, (0,)), ([0], (0,)), (0, (0,)), (3, (3,)), ({4, 3}, (3, 4)), ((np.int64(2), 1), (2, 1))]
)
def test_connected_links_as_number_list_or_set(given: Any, kept: tuple[int, ...]) -> None:
    assert Link(**{**LINK, "connected": given}).connected == kept


@pytest.mark.parametrize("none", [[], (), {0}, [0], 0])
def test_no_motors(none: Any) -> None:
    assert Link(**{**LINK, "motors": none}).motors == ()


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("number", 0, "a whole number >= 1"),
        ("number", 1.0, "a whole number >= 1"),
        ("number", True, "a whole number >= 1"),
        (
            "kind",
            "Rotational",
            "'Rotationalx', 'Rotationaly', 'Rotationalz', 'Translationalx', 'Translationaly' or 'Translationalz'",
        ),
        ("connected", [], "numbers of links, or {0} for none"),
        ("connected", "2", "numbers of links, or {0} for none"),
        ("connected", [1, 1], "numbers of links, or {0} for none; each once, and 0 only alone"),
        ("connected", [0, 1], "numbers of links, or {0} for none; each once, and 0 only alone"),
        ("connected", [-1], "numbers of links, or {0} for none"),
        ("previous", None, "a whole number >= 0"),
        ("mass", float("nan"), "a finite number"),
        ("inertia", [1, 2], "0, 3 diagonal elements, 6 elements Ixx Iyy Izz Ixy Iyz Ixz, or a symmetric 3x3 matrix"),
        ("l", (1, 2), "3 finite numbers"),
        ("p", (1, 2, float("inf")), "3 finite numbers"),
        ("a", "x", "a finite number"),
        ("motors", 1.5, "numbers of motors, or [] for none"),
        ("motors", [1, 1], "numbers of motors, or [] for none; each once, and 0 only alone"),
    ],
)
def test_one_wrong_field_of_a_link(field: str, value: Any, expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        Link(**{**LINK, field: value})
    (problem,) = caught.value.problems
    assert (problem.field, problem.expected) == (field, expected)
    assert problem.item == f"link {value if field == 'number' else 1!r}"


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("link", -1, "a whole number >= 0"),
        ("driven_joint", 0, "a whole number >= 1"),
        ("G", 0, "a number other than 0 (1 is direct drive)"),
        ("G", "fast", "a finite number"),
        ("p", 3, "3 finite numbers"),
    ],
)
def test_one_wrong_field_of_a_motor(field: str, value: Any, expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        Motor(**{**MOTOR, field: value})
    (problem,) = caught.value.problems
    assert (problem.item, problem.field, problem.expected) == ("motor 7", field, expected)


def test_all_wrong_fields_are_told_at_once() -> None:
    with pytest.raises(ModelError) as caught:
        Link(1, "z", [], -1, "m", [1, 2], 0, 0, None, 0.5)
    wrong = {problem.field for problem in caught.value.problems}
    assert wrong == {"kind", "connected", "previous", "mass", "inertia", "l", "p", "a", "motors"}
