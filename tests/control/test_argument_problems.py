"""A chain, its constraints and its file tell everything that is wrong with them at once."""

from pathlib import Path

import pytest

from linkwise import robots
from linkwise.control import (
    Chain,
    DrivenJoint,
    FixedLink,
    FixedPosition,
    LoopClosure,
    MovingPosition,
    RevoluteLink,
    Velocity,
    chain_file,
)
from linkwise.control.description import ChainDescription
from linkwise.errors import ArgumentError, LinkwiseError, ModelError


def mistakes(make) -> list[str]:
    """The lines of the error that a call raises."""
    with pytest.raises(LinkwiseError) as caught:
        make()
    return str(caught.value).splitlines()


def all_in_order(lines: list[str], words: list[str]) -> bool:
    """Whether there is one line for each group of words, which has them all."""
    return len(lines) == len(words) and all(
        word in line for line, group in zip(lines, words, strict=True) for word in group.split()
    )


def test_a_chain_with_many_mistakes() -> None:
    constraints = [
        FixedPosition("goal", "tol", [1, 2, 0]),
        LoopClosure("goal", "tool", "nowhere"),
        3,
        DrivenJoint("start", "link9"),
    ]
    lines = mistakes(
        lambda: Chain(
            robots.planar_2r(),
            constraints,  # type: ignore[arg-type]
            q0=[1.0],
            angles="xzy",
            starting_dof="w",
            name=4,  # type: ignore[arg-type]
            period=-1.0,
            ports={"link1.theta": "x", "nope.y": 3, "link2.max_theta_speed": -2},
            routes={"link2.theta": "a.b", "c.d": "link1.theta_solved"},
        )
    )
    expected = [
        "constraints 3",
        "angles xzy",
        "starting_dof w",
        "name 4",
        "period -1.0",
        "q0 (1,)",
        "goal start two",
        "goal tol",
    ]
    expected += ["goal nowhere", "start link9", "nope.y", "c.d", "a.b", "link1.theta 'x'", "link2.max_theta_speed -2.0"]
    assert all_in_order(lines, expected), lines


def test_links_that_make_no_mechanism_do_not_hide_the_others() -> None:
    links = [RevoluteLink("a", predecessor="q"), RevoluteLink("a"), FixedLink("b", predecessor="zz")]
    lines = mistakes(lambda: Chain(links, FixedPosition("goal", "tol"), ports={"b.y": 3}))
    assert all_in_order(lines, ["'a' predecessor 'q'", "'b' predecessor 'zz'", "links 'a' twice", "goal 'tol'", "b.y"]), (
        lines
    )


def test_ports_of_a_constraint_that_does_not_fit_are_not_told_too() -> None:
    lines = mistakes(lambda: Chain(robots.planar_2r(), FixedPosition("goal", "tol"), ports={"goal.position": [1, 0, 0]}))
    assert all_in_order(lines, ["goal 'tol'"]), lines


def test_one_mistake_keeps_its_class() -> None:
    with pytest.raises(ModelError, match="starting_dof"):
        Chain(robots.planar_2r(), starting_dof="w")
    with pytest.raises(ArgumentError, match="expected the seconds"):
        Chain(robots.planar_2r(), period="soon")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: FixedPosition("", 3, [1, 2], enabled=2), ["name ''", "link 3", "enabled 2", "position [1, 2]"]),
        (
            lambda: MovingPosition("p", 4, [1], angles="x", velocity=[1]),
            ["link 4", "position [1]", "angles", "velocity [1]"],
        ),
        (lambda: Velocity("p", 4), ["link 4", "'p' velocity None"]),
        (lambda: LoopClosure("p", "tool", "tool", rotation=1), ["rotation is 1", "to is 'tool'"]),
        (lambda: DrivenJoint("p", 1, [1.0], [2.0]), ["link 1", "value [1.0]", "speed [2.0]"]),
    ],
)
def test_constraints(make, expected: list[str]) -> None:
    lines = mistakes(make)
    assert all_in_order(lines, expected), lines


FILE = """format = "linkwise chain 1"
period = -0.01
calculations_per_cycle = 0

[[link]]
name = "boom"
a = "x"

[[link]]
name = "stick"
predecessor = "bom"

[[constraint]]
name = "hold"
kind = "fixed positionn"
link = "stik"
position = [4.5, 0.8]

[[constraint]]
name = "hold"
kind = "loop"
link = "nothing"
to = "nothing"

[[constraint]]
name = "motor"
kind = "driven joint"
link = "boo"
value = "a"

[routes]
"boom.theta" = "stick.nope"

[ports]
"boom.max_theta_speed" = -1
"motor.speed" = 1
"nope.x" = 3
"""


def test_a_file_with_many_mistakes(tmp_path: Path) -> None:
    """What does not depend on wrong links and constraints is checked as well."""
    path = tmp_path / "bad.toml"
    path.write_text(FILE)
    lines = FILE.splitlines()
    wrong = ["period =", "calculations_per_cycle", 'a = "x"', "predecessor =", "positionn", '"stik"', "position = ["]
    wrong += ['name = "hold"', 'link = "nothing"', "to =", '"boo"', "value =", "stick.nope", "boom.max_theta_speed"]
    wrong += ["motor.speed", "nope.x"]
    expected = [max(k for k, line in enumerate(lines, 1) if words in line) for words in wrong]
    assert [problem.line for problem in chain_file.check(path)] == expected


def test_settings_are_checked_without_a_mechanism(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('format = "linkwise chain 1"\nmechanism = "puma56"\nperiod = -1\ncalculation_precision = 0.0\n')
    assert [problem.line for problem in chain_file.check(path)] == [2, 3, 4]


def test_a_description_with_many_mistakes() -> None:
    with pytest.raises(ModelError) as caught:
        ChainDescription(name="", mechanism=3, constraints=5, values=4, routes=3)  # type: ignore[arg-type]
    assert [problem.field for problem in caught.value.problems] == ["name", "constraints", "mechanism", "values", "routes"]
