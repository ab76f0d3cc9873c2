"""Two lists become a robot: where its links stand, how its motors count, and everything that can disagree."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import robo
from linkwise.errors import ArgumentError, ModelError
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.transform import transform, translation
from support.messages import unnamed

pytestmark = pytest.mark.usefixtures("uncompiled")

SEEDS = range(8)


def placed(links: list[list[Any]], q: np.ndarray, number: int) -> np.ndarray:
    """T_base_link by the formula as it is documented, q from link N to link 1."""
    link = robo.Link(*links[number - 1])
    angle = q[len(links) - number] + link.a
    moved = translation(*(link.axis * angle)) if link.slides else transform(rotation_about(link.axis, angle), None)
    before = placed(links, q, link.previous) if link.previous else np.eye(4)
    return np.asarray(before @ translation(*link.l) @ moved, dtype=float)


@pytest.mark.parametrize("seed", SEEDS)
def test_links_stand_where_the_formula_says(seed: int, lists: Callable[..., Any]) -> None:
    links, motors = lists(seed)
    made = robo.robot(links, motors)
    q = np.random.default_rng(seed).uniform(-2, 2, len(links))
    for number in range(1, len(links) + 1):
        found = made.mechanism.forward_kinematics(q, link=f"link{number}")
        assert np.allclose(found, placed(links, q, number), rtol=0, atol=1e-14)  # six products of numbers of size 1
        assert np.array_equal(robo.forward_kinematics(made, q, number), found)
    assert np.array_equal(robo.forward_kinematics(made, q), made.mechanism.forward_kinematics(q))
    assert made.mechanism.names == tuple(f"link{number}" for number in made.numbers)


def rotor_terms(made: robo.Robot, q: np.ndarray, *, locked: bool) -> np.ndarray:
    """What motors add to the mass matrix: m Jv'Jv + Jw'I Jw with G s in the driven column; without the part of the rotor at
    rest where the link contains it."""
    mech, total = made.mechanism, np.zeros((len(q), len(q)))
    axes = {link.number: link.axis for link in made.links}
    for motor in made.motors:
        pose = mech.forward_kinematics(q, link=f"link{motor.link}") if motor.link else np.eye(4)
        jac = mech.jacobian(q, link=f"link{motor.link}") if motor.link else np.zeros((6, len(q)))
        axis = axes[motor.driven_joint]
        turn = rotation_about(axis, motor.a)
        arm = pose[:3, :3] @ (np.array(motor.l) + turn @ motor.p)
        tensor = pose[:3, :3] @ turn @ np.array(motor.inertia) @ turn.T @ pose[:3, :3].T
        linear = jac[:3] - np.cross(arm, jac[3:], axisb=0, axisc=0)
        spinning = jac[3:].copy()
        spinning[:, len(q) - motor.driven_joint] += motor.G * (pose[:3, :3] @ axis)
        total += spinning.T @ tensor @ spinning
        total += motor.mass * linear.T @ linear if locked else -jac[3:].T @ tensor @ jac[3:]
    return total


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rotors", ["bodies", "contained"])
def test_motors_add_their_mass_their_inertia_and_their_spin(seed: int, rotors: str, lists: Callable[..., Any]) -> None:
    links, motors = lists(seed)
    made = robo.robot(links, motors, rotors=rotors)
    bare = robo.robot([[*link[:9], []] for link in links])
    q = np.random.default_rng(seed).uniform(-2, 2, len(links))
    wanted = bare.mechanism.mass_matrix(q) + rotor_terms(made, q, locked=rotors == "bodies")
    found = robo.mass_matrix(made, q)
    difference = np.abs(found - wanted).max() / np.abs(wanted).max()
    print(f"relative difference {difference:.1e}")
    assert difference < 1e-14  # some tens of roundings of the greatest element


@pytest.mark.parametrize("seed", SEEDS)
def test_reduced_motors_add_their_reflected_inertia_and_nothing_else(seed: int, lists: Callable[..., Any]) -> None:
    links, motors = lists(seed)
    made = robo.robot(links, motors, rotors="reduced")
    bare = robo.robot([[*link[:9], []] for link in links])
    q = np.random.default_rng(seed).uniform(-2, 2, len(links))
    added = np.zeros(len(links))
    for motor in made.motors:
        axis = "xyz".index(links[motor.driven_joint - 1][1][-1])
        added[len(links) - motor.driven_joint] += motor.G**2 * np.array(motor.inertia)[axis, axis]
    wanted = bare.mechanism.mass_matrix(q) + np.diag(added)
    assert np.allclose(made.mechanism.mass_matrix(q), wanted, rtol=0, atol=1e-14 * np.abs(wanted).max())


def two(**changes: Any) -> tuple[list[list[Any]], list[list[Any]]]:
    """Two links and two motors that agree; or with other items, keyed like link1_previous or motor2_G."""
    given = {
        "link1": [1, "Rotationalz", {0}, 2, 1.0, (0.0, 0.01, 0.01), (0.5, 0, 0), (0.2, 0, 0), 0, []],
        "link2": [2, "Rotationalz", [1], 0, 2.0, (0.0, 0.02, 0.02), (0, 0, 0), (0.25, 0, 0), 0, [1]],
        "motor1": [1, 2, 1, 0.3, (2e-4, 2e-4, 1e-4), (0, 0, 0), (0, 0, 0), 0, 50],
        "motor2": [2, 0, 2, 0.3, (2e-4, 2e-4, 1e-4), (0, 0, 0), (0, 0, 0), 0, 100],
    }
    fields = {"link": list(robo.Link.__dataclass_fields__), "motor": list(robo.Motor.__dataclass_fields__)}
    for key, value in changes.items():
        item, field = key.split("_", 1)
        given[item][fields[item[:-1]].index(field)] = value
    return [given["link1"], given["link2"]], [given["motor1"], given["motor2"]]


def test_items_may_be_lists_or_objects_in_any_order() -> None:
    links, motors = two()
    plain = robo.robot(links, motors)
    mixed = robo.robot([robo.Link(*links[1]), links[0]], [robo.Motor(*motors[1]), motors[0]])
    assert mixed.mechanism.links == plain.mechanism.links
    assert repr(plain) == "<Robot: 2 links, 2 motors>"
    assert robo.to_mechanism(links, motors) == plain.mechanism
    again = robo.robot(*plain.to_lists())
    assert again == plain


def test_the_base_may_be_called_by_its_number() -> None:
    assert robo.to_mechanism(*two(link2_previous=3)) == robo.to_mechanism(*two())


def test_l_may_be_the_length_of_the_link_itself() -> None:
    own = two(link1_l=(0.3, 0, 0), link2_l=(0.5, 0, 0))
    made = robo.robot(*own, l_from="own", tool=translation(0, 0, 0.1))
    q = np.array([0.4, 0.9])
    usual = robo.robot(*two(), tool=translation(0.3, 0, 0.1))
    assert np.array_equal(robo.forward_kinematics(made, q), robo.forward_kinematics(usual, q))
    assert made.mechanism.links == usual.mechanism.links


def test_a_tensor_about_the_joint() -> None:
    about_joint = two(link1_inertia=(0.0, 0.05, 0.05), link2_inertia=(0.0, 0.145, 0.145))  # m p^2 more than about p
    made, usual = robo.robot(*about_joint, inertia_about="joint"), robo.robot(*two())
    q = np.array([0.4, 0.9])
    assert np.allclose(robo.mass_matrix(made, q), robo.mass_matrix(usual, q), rtol=1e-14)


def test_what_lists_do_not_hold_is_passed_on() -> None:
    made = robo.robot(*two(), gravity=(0, -9.81, 0), base=translation(0, 0, 1), name="pair")
    assert made.mechanism.name == "pair"
    assert made.mechanism.gravity.tolist() == [0.0, -9.81, 0.0]
    assert robo.forward_kinematics(made, [0.0, 0.0])[2, 3] == 1.0


@pytest.mark.parametrize(
    ("changes", "messages"),
    [
        ({"link1_number": 2}, ["link 2: number is 2; expected a number of its own; 2 links have this one"]),
        ({"link2_number": 5}, ["link 5: number is 5; expected 1 to 2, for there are 2 links"]),
        ({"motor2_number": 1}, ["motor 1: number is 1; expected a number of its own; 2 motors have this one"]),
        (
            {"link1_previous": 7},
            [
                "link 1: previous is 7; expected 0 (the base) or another link, 2",
                "link 2: connected is [1]; expected 0, for no link names it",
            ],
        ),
        (
            {"link1_previous": 0},
            ["link 2: connected is [1]; expected 0, for no link names it"],
        ),
        ({"link2_connected": {0}}, ["link 2: connected is [0]; expected 1, the links whose previous is 2"]),
        ({"link2_connected": [1, 8]}, ["link 2: connected is [1, 8]; expected 1, the links whose previous is 2"]),
        (
            {"link2_previous": 1},
            [
                "link 1: connected is [0]; expected 2, the links whose previous is 1",
                "link 1: previous is 2; expected 0 (the base); links hang on each other in a ring",
                "link 2: previous is 1; expected 0 (the base); links hang on each other in a ring",
            ],
        ),
        (
            {"link1_connected": [1]},
            [
                "link 1: connected is [1]; expected 0, for no link names it",
                "link 1: previous is 2; expected one link that it hangs on; links 1 and 2 each name it as connected",
            ],
        ),
        ({"motor1_link": 4}, ["motor 1: link is 4; expected a link, 1 and 2, or 0 (the base)"]),
        ({"motor2_driven_joint": 3}, ["motor 2: driven_joint is 3; expected a link, 1 and 2"]),
        ({"link2_motors": []}, ["link 2: motors is []; expected 1, the motors whose link is 2"]),
        ({"link1_motors": [3]}, ["link 1: motors is [3]; expected none, for there are no motors whose link is 1"]),
        ({"link1_mass": -1.0}, ["link 1: mass is -1.0; expected a finite number >= 0"]),
        (
            {"link2_inertia": (0.1, 0.01, 0.01)},
            [
                "link 2: inertia is [0.01, 0.01, 0.1]; expected principal moments in which none exceeds the sum of the "
                "other two (triangle inequality); physical=False accepts an identified set of parameters"
            ],
        ),
        (
            {"motor1_inertia": (1e-4, 2e-4, 2e-4)},
            [
                "motor 1: inertia is [[0.0001, 0.0, 0.0], [0.0, 0.0002, 0.0], [0.0, 0.0, 0.0002]]; expected equal moments "
                "across the spin axis and no products with it, for the rotor turns"
            ],
        ),
        ({"motor2_mass": -0.1}, ["motor 2: mass is -0.1; expected a finite number >= 0"]),
    ],
)
def test_disagreements_are_told(changes: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        robo.robot(*two(**changes))
    found = str(caught.value).split("\n")
    assert set(messages) <= set(found)


def test_every_problem_of_both_lists_is_told_at_once() -> None:
    links, motors = two(link1_kind="Hinge", motor2_G=0)
    with pytest.raises(ModelError) as caught:
        robo.robot([*links, [3, "Rotationalz"], 5], [*motors, None])
    assert [(problem.item, problem.field) for problem in caught.value.problems] == [
        ("link 1", "kind"),
        ("link at place 3 of the list", "value"),
        ("link at place 4 of the list", "value"),
        ("motor 2", "G"),
        ("motor at place 3 of the list", "value"),
    ]
    expected = "10 items: number, kind, connected, previous, mass, inertia, l, p, a, motors"
    assert caught.value.problems[1].expected == expected
    changed = two(link1_mass=-1.0, link2_motors=[], motor1_link=9)
    with pytest.raises(ModelError) as caught:
        robo.robot(*changed)
    assert {problem.item for problem in caught.value.problems} == {"link 1", "motor 1"}


def test_a_fault_in_one_field_hides_no_fault_elsewhere() -> None:
    """What hangs where is checked although a mass is not a number, and rotors beside it; nothing is told of stand-ins."""
    links, motors = two(link1_mass="heavy", link2_previous=7, motor1_inertia=(1, 2, 3))
    for about in ("com", "joint"):
        with pytest.raises(ModelError) as caught:
            robo.robot(links, motors, inertia_about=about, physical=False, tool=np.eye(3))
        assert [(problem.item, problem.field) for problem in caught.value.problems] == [
            ("link 1", "mass"),
            ("link 2", "previous"),
            ("motor 1", "inertia"),
            ("robot", "tool"),
        ]


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([], "list of links: value is []; expected one link or more"),
        (
            None,
            "list of links: value is None; expected a list of links, each 10 items: number, kind, connected, previous, "
            "mass, inertia, l, p, a, motors",
        ),
    ],
)
def test_no_links(links: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        robo.robot(links)
    assert unnamed(caught.value, message) == []


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"rotors": "none"}, "rotors is 'none'; expected 'bodies', 'contained' or 'reduced'"),
        ({"l_from": "joint"}, "l_from is 'joint'; expected 'previous' or 'own'"),
        ({"inertia_about": 0}, "inertia_about is 0; expected 'com' or 'joint'"),
    ],
)
def test_unknown_words(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        robo.robot(*two(), **option)
    assert unnamed(caught.value, message) == []


def renumbered(links: list[list[Any]], motors: list[list[Any]], new: dict[int, int]) -> tuple[Any, Any]:
    """The same robot with other numbers for its links."""
    new = {0: 0, **new}
    return (
        [[new[link[0]], link[1], [new[one] for one in link[2]], new[link[3]], *link[4:]] for link in links],
        [[motor[0], new[motor[1]], new[motor[2]], *motor[3:]] for motor in motors],
    )


@pytest.mark.parametrize("seed", sorted({*SEEDS} - {2}))  # (there both links hang on the base, which says no direction)
def test_links_may_be_numbered_from_the_base_to_the_tips(seed: int, lists: Callable[..., Any]) -> None:
    """The topology is in `previous`: the same robot in the same order of coordinates, whichever way it is numbered."""
    links, motors = lists(seed)
    count = len(links)
    usual = robo.robot(links, motors)
    other = robo.robot(*renumbered(links, motors, {k: count + 1 - k for k in range(1, count + 1)}))
    assert other.numbers == tuple(range(1, count + 1))
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, count))
    assert np.array_equal(robo.forward_kinematics(other, q), robo.forward_kinematics(usual, q))
    assert np.array_equal(robo.inverse_dynamics(other, q, qd, qdd), robo.inverse_dynamics(usual, q, qd, qdd))
    assert np.array_equal(robo.forward_kinematics(other, q, count), robo.forward_kinematics(usual, q, 1))


def test_any_other_numbering() -> None:
    """2 hangs on the base, 3 and 1 on it, 4 on 1; and a ring is refused, all of it."""
    blank = (1.0, (0.1, 0.1, 0.1), (0.1, 0, 0), (0, 0, 0), 0, [])
    chain = [[1, "Rotationalz", [4], 2, *blank], [2, "Rotationalz", [1, 3], 0, *blank]]
    chain += [[3, "Rotationalz", 0, 2, *blank], [4, "Rotationalz", 0, 1, *blank]]
    made = robo.robot(chain)
    assert made.numbers == (2, 1, 3, 4)
    assert made.mechanism.names == ("link2", "link1", "link3", "link4")
    ring = [[1, "Rotationalz", [3], 2, *blank], [2, "Rotationalz", [1], 3, *blank], [3, "Rotationalz", [2, 4], 1, *blank]]
    with pytest.raises(ModelError) as caught:
        robo.robot([*ring, [4, "Rotationalz", 0, 3, *blank]])
    assert [(problem.item, problem.field, problem.value) for problem in caught.value.problems] == [
        ("link 1", "previous", 2),
        ("link 2", "previous", 3),
        ("link 3", "previous", 1),
    ]


TASKS: list[tuple[Callable[..., Any], int]] = [
    (robo.forward_kinematics, 1),
    (robo.mass_matrix, 1),
    (robo.inverse_dynamics, 3),
    (robo.forward_dynamics, 3),
]


@pytest.mark.parametrize(("task", "count"), TASKS)
@pytest.mark.parametrize("rotors", ["bodies", "reduced"])
def test_tasks_take_lists_and_mechanisms(task: Callable[..., Any], count: int, rotors: str) -> None:
    links, motors = two()
    made = robo.robot(links, motors, rotors=rotors, gravity=(0, -9.81, 0))
    state = np.random.default_rng(1).uniform(-1, 1, (count, 2))
    wanted = task(made, *state)
    assert np.array_equal(task(made.mechanism, *state), wanted)
    assert np.array_equal(task(links, motors, *state, rotors=rotors, gravity=(0, -9.81, 0)), wanted)
    for wrong in (None, 5, links):
        with pytest.raises(ArgumentError, match=f"{task.__name__}: robot is"):
            task(wrong, *state[:0])
    with pytest.raises(ArgumentError, match=f"{task.__name__}: Motors is"):
        task(links, *state)
    for named in ({"motors": motors}, {"Motors": motors}):
        assert np.array_equal(task(links, *state, **named, rotors=rotors, gravity=(0, -9.81, 0)), wanted)
    assert np.array_equal(task((links, motors), *state, rotors=rotors, gravity=(0, -9.81, 0)), wanted)


@pytest.mark.parametrize(("task", "count"), TASKS)
def test_tasks_name_the_argument_that_does_not_fit(task: Callable[..., Any], count: int) -> None:
    links, motors = two()
    made, state = robo.robot(links, motors), np.zeros((count, 2))
    for options in ({"rotors": "reduced"}, {"physical": False}, {"motors": motors}, {"Motors": motors}):
        (option,) = options
        for robot in (made, made.mechanism):
            with pytest.raises(ArgumentError, match=f"{task.__name__}: {option} "):
                task(robot, *state, **options)
    for arguments, named in (
        (((links, motors), *state), {"motors": motors}),  # Motors twice
        ((links, *state), {"Motors": motors, "motors": motors}),
        ((links, *state.tolist()), {}),
        ((links, *state), {"Motors": 5}),
        ((links, *state), {"motors": None}),
        ((links, *np.zeros((count, 4, 2)).tolist()), {}),  # a batch of states in the place of Motors
        ((links, motors), {}),
    ):
        with pytest.raises((ArgumentError, ModelError), match=r"Motors|motor"):
            task(*arguments, **named)
    with pytest.raises(ArgumentError):
        task(links, motors, *state, Motors=motors)
    with pytest.raises(ArgumentError, match=f"{task.__name__}.*'q'"):
        task(links, motors)


def test_tasks_take_the_pair_of_the_puma() -> None:
    q, measured = [0.1] * 6, {"rotors": "contained", "physical": False}
    wanted = robo.mass_matrix(robo.robot(*robo.puma560(), **measured), q)
    assert np.array_equal(robo.mass_matrix(robo.puma560(), q, **measured), wanted)
    assert np.array_equal(robo.mass_matrix(robo.puma560(), q=q, **measured), wanted)


def test_lists_of_two_objects_are_no_pair() -> None:
    links, motors = two()
    items = [robo.Link(*link) for link in links]
    wanted = robo.mass_matrix(links, motors, [0.0, 0.1])
    assert np.array_equal(robo.mass_matrix(items, [robo.Motor(*motor) for motor in motors], [0.0, 0.1]), wanted)
    assert np.array_equal(robo.mass_matrix((items, motors), [0.0, 0.1]), wanted)
    bare = [[*link[:9], []] for link in links]
    assert np.array_equal(robo.mass_matrix((bare, []), [0.0, 0.1]), robo.mass_matrix(bare, [], [0.0, 0.1]))


@pytest.mark.parametrize("task", [task for task, _ in TASKS] + [robo.inverse_kinematics, robo.equations])
def test_annotations_tell_all_that_tasks_take(task: Callable[..., Any]) -> None:
    first = next(iter(inspect.signature(task).parameters.values()))
    assert {"Robot", "Mechanism", "Sequence"} <= set(re.findall(r"\w+", str(first.annotation)))
    assert set(re.findall(r"\w+", str(task.__annotations__["robot"]))) == set(re.findall(r"\w+", str(first.annotation)))


def test_all_tasks_take_them() -> None:
    links, motors = two()
    made = robo.robot(links, motors)
    assert robo.equations(links, motors).M == robo.equations(made.mechanism).M == robo.equations(made).M
    T = robo.forward_kinematics(made, [0.2, 0.3])
    for robot in ((made,), (made.mechanism,), (links, motors)):
        assert robo.inverse_kinematics(*robot, T, [0.1, 0.4]).success
        at = robo.forward_kinematics(*robot, [0.2, 0.3], 2)
        assert np.array_equal(at, robo.forward_kinematics(*robot, [0.2, 0.3], link="link2"))


def test_sets_of_numbers_that_cannot_exist_pass_when_said() -> None:
    links, motors = two(link2_inertia=(0.1, 0.01, 0.01), link1_mass=-1.0)
    assert not robo.to_mechanism(links, motors, physical=False).links[0].body.physical
