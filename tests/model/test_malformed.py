"""Everything that cannot be is refused when it is built, with item, field, value and what was expected."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import Inertia, Link, Mechanism, Motor
from linkwise.errors import ArgumentError, LinkwiseError, ModelError

NAN, INF = float("nan"), float("inf")
TILTED = np.eye(4)
TILTED[0, 1] = 0.1
MIRRORED = np.diag([1.0, 1.0, -1.0, 1.0])
PROJECTIVE = np.eye(4)
PROJECTIVE[3, 0] = 1.0

RIGID = "a rigid transform (4, 4)"
NUMBER = "a finite number"
TENSOR = "0, 3 diagonal elements, 6 elements"


def link(**fields: Any) -> Link:
    return Link(name="arm", **fields)


def row(**fields: Any) -> Link:
    return Link.dh(name="arm", **{"convention": "standard", **fields})


def mechanism(**fields: Any) -> Mechanism:
    return Mechanism([Link()], name="robot", **fields)


CASES: list[tuple[Callable[..., object], str, object, str]] = [
    # Link
    (
        link,
        "joint",
        "spherical",
        "'revolute', 'prismatic', 'screw', 'universal', 'cylindrical', 'planar', 'ball', 'fixed' or 'floating'",
    ),
    (link, "joint", None, "'revolute'"),
    (link, "joint", 1, "'revolute'"),
    (link, "before", np.eye(3), RIGID),
    (link, "before", TILTED, RIGID),
    (link, "before", MIRRORED, RIGID),
    (link, "before", PROJECTIVE, RIGID),
    (link, "before", 2 * np.eye(4), RIGID),
    (link, "before", np.full((4, 4), NAN), RIGID),
    (link, "before", "identity", RIGID),
    (link, "after", np.zeros((4, 4)), RIGID),
    (link, "after", [[1, 0], [0, 1]], RIGID),
    (link, "axis", (0, 0, 0), "a vector other than zero"),
    (link, "axis", (0, 0), "3 finite numbers"),
    (link, "axis", (0, 0, NAN), "3 finite numbers"),
    (link, "axis", (0, INF, 1), "3 finite numbers"),
    (link, "axis", "z", "3 finite numbers"),
    (link, "axis", ["0", "0", "1"], "3 finite numbers"),
    (link, "com", [0.1j, 0.0, 0.0], "3 finite numbers"),
    (link, "mass", np.complex128(1 + 2j), NUMBER),
    (link, "mass", b"1", NUMBER),
    (link, "mass", np.True_, NUMBER),
    (link, "mass", [1.0], NUMBER),
    (link, "before", np.eye(4) + 0j, RIGID),
    (link, "axis", None, "3 finite numbers"),
    (link, "pitch", 0.1, "0 for a revolute joint"),
    (link, "pitch", NAN, NUMBER),
    (link, "pitch", "steep", NUMBER),
    (link, "offset", INF, NUMBER),
    (link, "offset", None, NUMBER),
    (link, "offset", "1.5", NUMBER),
    (link, "offset", True, NUMBER),
    (link, "offset", [1.0, 2.0], NUMBER),
    (link, "limits", (1.0, -1.0), "the lower limit first"),
    (link, "limits", (NAN, 1.0), "neither NaN"),
    (link, "limits", (np.inf, np.inf), "a finite number between them"),
    (link, "limits", (-np.inf, -np.inf), "a finite number between them"),
    (link, "limits", (0.0,), "two numbers"),
    (link, "limits", (0.0, 1.0, 2.0), "two numbers"),
    (link, "limits", 1.0, "two numbers"),
    (link, "limits", ("low", "high"), "two numbers"),
    (link, "parent", "", "a word"),
    (link, "parent", 3, "a word"),
    (link, "mass", -1.0, "a finite number >= 0"),
    (link, "mass", NAN, "a finite number >= 0"),
    (link, "mass", "heavy", "a finite number >= 0"),
    (link, "mass", True, "a finite number >= 0"),
    (link, "com", (0, 0), "3 finite numbers"),
    (link, "com", (0, 0, INF), "3 finite numbers"),
    (link, "com", 0.0, "3 finite numbers"),
    (link, "com", (0, -1e200, 0), "magnitude 1e+50 at most"),
    (link, "mass", 1e200, "magnitude 1e+50 at most"),
    (link, "inertia", (1e200, 1e200, 1e200), "elements up to 1e+50"),
    (link, "inertia", 1.0, TENSOR),
    (link, "inertia", (1, 1), TENSOR),
    (link, "inertia", (1, 1, NAN), TENSOR),
    (link, "inertia", np.eye(4), TENSOR),
    (link, "inertia", "big", TENSOR),
    (link, "inertia", [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "a symmetric matrix"),
    (link, "inertia", (1, 1, -1), "positive semidefinite"),
    (link, "inertia", (1, 1, 1, 2, 0, 0), "positive semidefinite"),
    (link, "inertia", (1, 1, 2.1), "triangle inequality"),
    (link, "motor", 3.0, "a Motor or None"),
    (link, "motor", {"inertia": 1.0}, "a Motor or None"),
    # Link.dh
    (row, "convention", "Standard", "'standard' or 'modified'"),
    (row, "convention", None, "'standard' or 'modified'"),
    (row, "joint", "screw", "'revolute', 'prismatic' or 'fixed'"),
    (row, "theta", NAN, NUMBER),
    (row, "d", "0.3", NUMBER),
    (row, "a", None, NUMBER),
    (row, "alpha", INF, NUMBER),
    (row, "b", NAN, NUMBER),
    (row, "mass", -1, ">= 0"),
    # Motor
    (Motor, "inertia", -1e-3, ">= 0"),
    (Motor, "inertia", NAN, ">= 0"),
    (Motor, "gear_ratio", 0.0, "a number other than 0"),
    (Motor, "gear_ratio", INF, NUMBER),
    (Motor, "gear_ratio", "fast", NUMBER),
    (Motor, "gear_ratio", 1e200, "magnitude 1e+50 at most"),  # its square would not be finite
    (Motor, "inertia", 1e200, "magnitude 1e+50 at most"),
    (Motor, "viscous", -0.1, ">= 0"),
    (Motor, "coulomb", -0.1, ">= 0"),
    (Motor, "coulomb", (-0.1, 0.1), "Tc+ >= 0 and Tc- <= 0"),
    (Motor, "coulomb", (0.1, 0.1), "Tc+ >= 0 and Tc- <= 0"),
    (Motor, "coulomb", (0.1, -0.1, 0.0), "2 finite numbers"),
    (Motor, "coulomb", "dry", "2 finite numbers"),
    # Inertia
    (Inertia, "mass", -2.0, ">= 0"),
    (Inertia, "com", "centre", "3 finite numbers"),
    (Inertia, "inertia", (0, 0, 1), "triangle inequality"),
    # Mechanism
    (mechanism, "base", TILTED, RIGID),
    (mechanism, "tool", np.eye(3), RIGID),
    (mechanism, "gravity", (0, 0, 1e200), "magnitude 1e+50 at most"),
    (mechanism, "gravity", 9.81, "3 finite numbers"),
    (mechanism, "gravity", (0, 0, NAN), "3 finite numbers"),
    (mechanism, "payload", 2.0, "an Inertia"),
]


def shown(part: object) -> str:
    return getattr(part, "__name__", repr(part)[:40])


@pytest.mark.parametrize(("make", "field", "value", "expected"), CASES, ids=shown)
def test_one_bad_field(make: Callable[..., object], field: str, value: object, expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        make(**{field: value})
    problems = [problem for problem in caught.value.problems if problem.field == field]
    assert len(caught.value.problems) == len(problems) == 1, str(caught.value)
    message = str(problems[0])
    assert expected in message
    assert f"{field} is " in message
    assert {link: "link 'arm'", row: "link 'arm'", Motor: "motor", mechanism: "mechanism 'robot'"}.get(
        make, "inertia"
    ) in message
    assert len(message) < 400
    assert "\n" not in message


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(ModelError) as caught:
        Link(name="arm", mass=-1, com=(0, 0), axis=(0, 0, 0), limits=(2, 1), pitch=0.1)
    assert {problem.field for problem in caught.value.problems} == {"mass", "com", "axis", "limits", "pitch"}
    assert str(caught.value).count("\n") == 4


def test_errors_are_value_errors_and_pickle() -> None:
    with pytest.raises(ValueError, match="mass") as caught:
        Link(mass=-1)
    assert isinstance(caught.value, LinkwiseError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


@pytest.mark.parametrize("name", ["", "  ", 3, "base"])
def test_bad_names(name: object) -> None:
    with pytest.raises(ModelError, match=r"name is"):
        Link(name=name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "field"), [({"limits": (0, 1)}, "limits"), ({"offset": 0.1}, "offset"), ({"motor": Motor()}, "motor")]
)
def test_a_fixed_link_has_no_coordinate(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ModelError, match=rf"{field} is .*fixed link has no coordinate"):
        Link(joint="fixed", **fields)


def test_the_convention_must_be_said() -> None:
    with pytest.raises(TypeError, match="convention"):
        Link.dh(1.0, 2.0)  # type: ignore[call-arg]


def test_the_shift_b_is_not_for_modified_rows() -> None:
    with pytest.raises(ModelError, match=r"b is 0\.1; expected 0"):
        Link.dh(b=0.1, convention="modified")


TREES: list[tuple[list[Link] | Any, str]] = [
    ([], "one Link or more"),
    (["link"], "one Link or more"),
    ([Link(), 3], "one Link or more"),
    ([Link(name="a"), Link(name="a")], r"'a'; expected unique names"),
    ([Link(name="a", parent="b")], r"link 'a': parent is 'b'; expected 'base'"),
    ([Link(name="a"), Link(name="c", parent="B")], r"parent is 'B'; expected 'base' or 'a'"),
    ([Link(name="a", parent="a")], r"cycle|expected 'base'"),
    ([Link(name="a", parent="b"), Link(name="b", parent="a")], r"\['a', 'b'\]; expected a tree.*cycle"),
    ([Link(name="r"), Link(name="a", parent="c"), Link(name="b", parent="a"), Link(name="c", parent="b")], r"cycle"),
]


@pytest.mark.parametrize(("links", "expected"), TREES)
def test_bad_trees(links: Any, expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        Mechanism(links)


ROWS: list[tuple[dict[str, Any], str]] = [
    ({"rows": [(0, 0, 1)]}, r"row 0 is \(0, 0, 1\); expected 4 numbers: theta, d, a, alpha"),
    ({"rows": [(0, 0, 1, 0)], "joints": "RR"}, r"joints is 'RR'; expected 1 of the letters 'R', 'P' or 'F'"),
    ({"rows": [(0, 0, 1, 0)], "joints": "S"}, r"joints is 'S'"),
    ({"rows": [(0, 0, 1, 0)], "order": ("theta", "d", "a")}, r"order is"),
    ({"rows": [(0, 0, 1, 0)], "order": ("theta", "d", "a", "a")}, r"order is"),
    ({"rows": [(0, 0, 1, 0)], "order": ("theta", "d", "a", "beta")}, r"order is"),
    ({"rows": [(0, 0, "x", 0)]}, r"a is 'x'"),
]


@pytest.mark.parametrize(("arguments", "expected"), ROWS)
def test_bad_tables(arguments: dict[str, Any], expected: str) -> None:
    with pytest.raises((ArgumentError, ModelError), match=expected):
        Mechanism.from_dh(convention="standard", **arguments)


@pytest.mark.parametrize("fraction", [-0.1, 1.0, NAN, 2.0])
def test_bad_perturbations(fraction: float) -> None:
    with pytest.raises(ArgumentError, match="fraction is"):
        Mechanism([Link()]).perturb(fraction)


def test_identified_parameters_are_let_through_where_they_are_said_to_be() -> None:
    """physical=False takes what is no body's inertia, but nothing that is not a number."""
    assert Link(mass=-0.1, inertia=(1, 1, 5), physical=False).body.mass == -0.1
    with pytest.raises(ModelError, match="com"):
        Link(com=(NAN, 0, 0), physical=False)
    with pytest.raises(ModelError, match="symmetric"):
        Link(inertia=[[1, 1, 0], [0, 1, 0], [0, 0, 1]], physical=False)


def test_a_few_digits_are_enough() -> None:
    """Rounding in a table is let through: a thin rod, a flat plate, and rotations to seven digits."""
    Link(mass=1.0, inertia=(1.0, 1.0, 2.0))
    Link(mass=1.0, inertia=(1.0, 1.0, 0.0))
    Link(mass=1.0, inertia=(0.3333333, 0.3333333, 0.6666666 + 1e-10))
    turned = np.eye(4)
    turned[:2, :2] = [[0.7071068, -0.7071068], [0.7071068, 0.7071068]]
    Link(before=turned)


def test_no_message_shows_an_object_address() -> None:
    """Whatever is passed, the message stays readable."""
    for value in (object(), lambda: 0, np.zeros((50, 50)), "x" * 1000):
        with pytest.raises(ModelError) as caught:
            Link(mass=value)
        assert len(str(caught.value)) < 250
        assert re.match(r"link: mass is ", str(caught.value))


@pytest.mark.parametrize("fields", [{}, {"axis": (1, 0, 0)}, {"joint": "screw"}, {"before": np.diag([-1, -1, 1, 1])}])
def test_a_row_that_contradicts_the_placement_is_refused(fields: dict[str, Any]) -> None:
    made = Link.dh(a=1.0, convention="standard")
    given = {"after": made.after, **fields} if fields else {}
    with pytest.raises(ModelError, match="dh_row"):
        Link(dh_row=made.dh_row, **given)
