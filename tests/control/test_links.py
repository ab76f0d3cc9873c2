"""Links of a chain: their kinematics against products of plain matrices, the start's axis, trees, and every mistake."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import robots
from linkwise.control.links import (
    DHLink,
    FixedLink,
    PrismaticLink,
    RevoluteLink,
    links_of,
    mechanism_of,
    port_values,
    with_starting_dof,
)
from linkwise.errors import ModelError

# ── what stands where ─────────────────────────────────────────────────────────────────────────────


def elementary(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    """Rz(theta) Tz(d) Tx(a) Rx(alpha), each written out."""
    c, s, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    rz = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    rx = np.array([[1, 0, 0, 0], [0, ca, -sa, 0], [0, sa, ca, 0], [0, 0, 0, 1]])
    shift = np.eye(4)
    shift[:3, 3] = a, 0, d
    return rz @ shift @ rx


def placed(links: list[DHLink], q: np.ndarray, axis: str) -> list[np.ndarray]:
    """The pose of each link's end relative to the start, link by link."""
    turn = np.eye(4)
    turn[:3, :3] = {
        "x": [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        "y": [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
        "z": np.eye(3),
    }[axis]
    values = iter(q)
    found: dict[str, np.ndarray] = {"start": turn}
    before = "start"
    for link in links:
        row = {field: getattr(link, field) for field in ("theta", "d", "a", "alpha")}
        if link.variable:
            row[link.variable] = next(values)
        found[link.name] = found[link.predecessor or before] @ elementary(**row)
        before = link.name
    return [found[link.name] for link in links]


numbers = st.floats(-3, 3)


@st.composite
def some_links(draw: st.DrawFn) -> list[DHLink]:
    """Up to six links in a tree; at least one moves."""
    made: list[DHLink] = []
    for k in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from([RevoluteLink, PrismaticLink, FixedLink])) if k else RevoluteLink
        row = {field: draw(numbers) for field in ("alpha", "theta", "a", "d")}
        earlier = ["start", *(link.name for link in made)]
        rest: dict[str, object] = {"predecessor": draw(st.none() | st.sampled_from(earlier))}
        if kind is not FixedLink and draw(st.booleans()):
            value = row[kind.variable]
            rest["limits"] = (value - draw(st.floats(0, 2)), draw(st.just(math.inf) | st.just(value + 1.0)))
        made.append(kind(f"l{k}", **row, **rest))
    return made


@given(some_links(), st.sampled_from("xyz"), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
@pytest.mark.usefixtures("uncompiled")
def test_ends_are_where_the_parameters_say(links: list[DHLink], axis: str, seed: int) -> None:
    mechanism, q0 = mechanism_of(links, starting_dof=axis)
    for q in (q0, np.random.default_rng(seed).uniform(-2, 2, mechanism.n)):
        expected = placed(links, q, axis)
        # A product of at most 7 matrices whose elements stay below 7 * 3 * sqrt(2) = 30 m: 4 roundings each.
        assert np.allclose(mechanism.link_poses(q), expected, rtol=0, atol=7 * 4 * 30 * np.finfo(float).eps)


def test_the_coordinate_is_theta_or_d_itself() -> None:
    links = [RevoluteLink("turn", theta=0.7, d=0.2), FixedLink("still", theta=1.0), PrismaticLink("slide", theta=0.4, d=1.5)]
    mechanism, q0 = mechanism_of(links)
    assert mechanism.names == ("turn", "slide")
    assert q0.tolist() == [0.7, 1.5]
    assert not q0.flags.writeable
    assert [link.offset for link in mechanism.links] == [0.0, 0.0, 0.0]
    assert np.column_stack([mechanism.q_min, mechanism.q_max]).tolist() == [[-math.inf, math.inf]] * 2


def test_limits_are_those_of_the_free_parameter() -> None:
    mechanism, _ = mechanism_of([RevoluteLink("a", limits=(-1, 2)), PrismaticLink("b", d=1, limits=(0.5, math.inf))])
    assert np.column_stack([mechanism.q_min, mechanism.q_max]).tolist() == [[-1, 2], [0.5, math.inf]]
    assert RevoluteLink("a", limits=(-math.inf, math.inf)).limits is None


@pytest.mark.parametrize(
    ("axis", "rotation"),
    [
        ("x", [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
        ("y", [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        ("z", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    ],
)
def test_starting_dof(axis: str, rotation: list[list[float]]) -> None:
    mechanism, _ = mechanism_of([RevoluteLink("a")], starting_dof=axis)
    assert mechanism.base[:3, :3].tolist() == rotation
    assert mechanism.base[:3, 2].tolist() == [float(axis == name) for name in "xyz"]  # z of the first joint lies along it
    assert np.linalg.det(mechanism.base[:3, :3]) == 1.0


def test_starting_dof_turns_a_mechanism_that_has_a_base() -> None:
    raised = np.eye(4)
    raised[:3, 3] = 0.1, 0.2, 0.3
    turned = with_starting_dof(robots.planar_2r().replace(base=raised), "x")
    assert turned.base[:3, 3].tolist() == [0.3, 0.1, 0.2]
    assert with_starting_dof(turned, "z") is turned


def test_one_predecessor_may_have_many_successors_and_so_may_the_start() -> None:
    links = [
        RevoluteLink("trunk"),
        RevoluteLink("left", predecessor="trunk"),
        RevoluteLink("right", predecessor="trunk"),
        RevoluteLink("hand"),
        PrismaticLink("lift", predecessor="start"),
        FixedLink("early", predecessor="late"),
        RevoluteLink("late", predecessor="start"),
    ]
    mechanism, _ = mechanism_of(links, name="tree")
    assert mechanism.name == "tree"
    assert mechanism.parents == (-1, 0, 0, 2, -1, 6, -1)


def test_it_has_no_masses_and_says_so_when_forces_are_asked_for() -> None:
    mechanism, q0 = mechanism_of([RevoluteLink("a", a=1.0)])
    assert mechanism.links[0].body.is_zero
    with pytest.raises(ModelError, match="a"):
        mechanism.forward_dynamics(q0, [0.0], [1.0])


# ── there and back ────────────────────────────────────────────────────────────────────────────────


@given(some_links(), st.sampled_from("xyz"))
@settings(max_examples=20)
def test_links_come_back(links: list[DHLink], axis: str) -> None:
    mechanism, q0 = mechanism_of(links, starting_dof=axis)
    assert links_of(mechanism, q0) == (tuple(links), axis)


@pytest.mark.parametrize("name", ["puma560", "ur5", "four_bar", "stewart"])
def test_what_links_cannot_say_does_not_come_back(name: str) -> None:
    mechanism = robots.load(name)
    assert links_of(mechanism, np.zeros(mechanism.n)) is None


def test_mechanisms_that_no_links_make() -> None:
    mechanism, q0 = mechanism_of([RevoluteLink("a", a=1.0, limits=(-1, 1)), FixedLink("b")])
    assert links_of(mechanism, q0) is not None
    assert links_of(mechanism.replace(tool_link="a"), q0) is None
    assert links_of(mechanism.replace_link("b", name="b.c"), q0) is None
    assert links_of(mechanism, np.array([2.0])) is None  # beyond its limits
    assert links_of(mechanism.replace(base=np.diag([-1.0, -1.0, 1.0, 1.0])), q0) is None


def test_port_values() -> None:
    links = [RevoluteLink("a", max_speed=1, max_deceleration=3), FixedLink("b", max_acceleration=2), PrismaticLink("c")]
    assert port_values(links) == {"a.max_speed": 1.0, "a.max_deceleration": 3.0, "b.max_acceleration": 2.0}
    assert port_values([RevoluteLink("a", max_speed=math.inf)]) == {}


def test_a_link_never_changes() -> None:
    link = RevoluteLink("a", theta=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        link.theta = 2.0  # type: ignore[misc]
    assert dataclasses.replace(link, theta=2) == RevoluteLink("a", theta=2.0)
    assert hash(link) == hash(RevoluteLink("a", theta=1.0))


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────

WRONG = [
    (RevoluteLink, {"name": ""}, ["link '': name is ''; expected a word"]),
    (RevoluteLink, {"name": 3}, ["link 3: name is 3; expected a word"]),
    (
        RevoluteLink,
        {"name": "chain"},
        [
            "link 'chain': name is 'chain'; expected another word ('start', 'chain' or 'base' means something else in "
            "a chain)"
        ],
    ),
    (
        FixedLink,
        {"name": "a.b"},
        [
            "link 'a.b': name is 'a.b'; expected a word without a dot (dots separate the name of a link from that of "
            "its value)"
        ],
    ),
    (
        PrismaticLink,
        {"name": "a", "alpha": math.nan, "theta": "1", "a": [1], "d": True},
        [f"link 'a': {field} is {value}; expected a finite number" for field, value in
         (("alpha", "nan"), ("theta", "'1'"), ("a", "[1]"), ("d", "True"))],
    ),
    (
        RevoluteLink,
        {"name": "a", "limits": (2, 1)},
        ["link 'a': limits is (2, 1); expected the lower limit first, then the upper, neither NaN"],
    ),
    (
        RevoluteLink,
        {"name": "a", "limits": (0, math.nan)},
        ["link 'a': limits is (0, nan); expected the lower limit first, then the upper, neither NaN"],
    ),
    (RevoluteLink, {"name": "a", "limits": 3}, ["link 'a': limits is 3; expected two numbers, lower and upper, or None"]),
    (
        RevoluteLink,
        {"name": "a", "limits": "ab"},
        ["link 'a': limits is 'ab'; expected two numbers, lower and upper, or None"],
    ),
    (
        PrismaticLink,
        {"name": "a", "limits": (1, 2)},
        ["link 'a': d is 0.0; expected a value within the limits, 1 to 2, for it begins there"],
    ),
    (
        FixedLink,
        {"name": "a", "max_speed": 0, "max_acceleration": -1, "max_deceleration": math.nan},
        [
            "link 'a': max_speed is 0; expected a number > 0; infinity is no bound",
            "link 'a': max_acceleration is -1; expected a number > 0; infinity is no bound",
            "link 'a': max_deceleration is nan; expected a finite number",
        ],
    ),
    (FixedLink, {"name": "a", "predecessor": " "}, None),
    (FixedLink, {"name": "a", "predecessor": 1}, None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "arguments", "messages"), WRONG)
def test_wrong_links_are_refused(kind: type[DHLink], arguments: dict[str, object], messages: list[str] | None) -> None:
    with pytest.raises(ModelError) as caught:
        kind(**arguments)
    told = [str(problem) for problem in caught.value.problems]
    assert told == (messages or ["link 'a': predecessor is " + repr(arguments["predecessor"]) + "; expected "
                                 "the name of a link, 'start', or None for the link before"])  # fmt: skip


def test_a_fixed_link_has_no_limits() -> None:
    with pytest.raises(TypeError):
        FixedLink("a", limits=(0, 1))  # type: ignore[call-arg]


def test_parameters_have_names() -> None:
    with pytest.raises(TypeError):
        RevoluteLink("a", 1.0)  # type: ignore[misc]


TOGETHER = [
    ([], ["chain 'c': links is []; expected one RevoluteLink, PrismaticLink or FixedLink, or more"]),
    (3, ["chain 'c': links is 3; expected one RevoluteLink, PrismaticLink or FixedLink, or more"]),
    ([DHLink("a")], None),
    (
        [RevoluteLink("a"), RevoluteLink("a"), RevoluteLink("b", predecessor="x")],
        [
            "link 'b': predecessor is 'x'; expected 'start' or 'a'",
            "chain 'c': links is 'a'; expected unique names; this one occurs twice",
        ],
    ),
    ([RevoluteLink("a", predecessor="a")], ["link 'a': predecessor is 'a'; expected 'start'"]),
    (
        [RevoluteLink("a", predecessor="b"), FixedLink("b", predecessor="a"), FixedLink("c", predecessor="base")],
        [
            "link 'c': predecessor is 'base'; expected 'start', 'a' or 'b'",
            "chain 'c': links is ['a', 'b']; expected a tree; each of these hangs on another of them "
            "(a cycle; a loop closure closes one)",
        ],
    ),
]


@pytest.mark.parametrize(("links", "messages"), TOGETHER)
def test_links_that_make_no_tree_are_refused_with_all_that_is_wrong(links: object, messages: list[str] | None) -> None:
    with pytest.raises(ModelError) as caught:
        mechanism_of(links, name="c")  # type: ignore[arg-type]
    assert messages is None or [str(problem) for problem in caught.value.problems] == messages


def test_an_axis_that_is_none_is_refused() -> None:
    message = "chain 'c': starting_dof is 'w'; expected 'x', 'y' or 'z'"
    with pytest.raises(ModelError, match=message):
        mechanism_of([RevoluteLink("a")], name="c", starting_dof="w")
    with pytest.raises(ModelError, match="starting_dof is 'w'"):
        with_starting_dof(robots.planar_2r(), "w")
