"""Mechanisms as lists: the same robot comes back, and what lists cannot hold is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robo, robots
from linkwise.errors import ModelError
from linkwise.model.loop import Loop
from linkwise.model.mimic import Mimic
from support.random_mechanisms import direct, random_body, random_pose


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_come_back(seed: int, lists: Callable[..., Any]) -> None:
    links, motors = lists(seed)
    made = robo.robot(links, motors)
    found_links, found_motors = robo.from_mechanism(made.mechanism)
    assert found_links == made.to_lists()[0]  # to the last bit: frames that serve stay as they are
    again = robo.robot(found_links, found_motors)
    rng = np.random.default_rng(seed)
    state = rng.uniform(-2, 2, (3, len(links)))
    wanted = direct(made.mechanism, "inverse_dynamics", *state)
    found = direct(again.mechanism, "inverse_dynamics", *state)
    assert np.allclose(found, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())  # a, p of motors are turned into l
    assert robo.from_mechanism(again.mechanism) == (found_links, found_motors)


def right_angled(seed: int, slides: float = 0.0, count: int = 5) -> Mechanism:
    """A chain of standard DH rows with twists of a right angle or none, and any theta."""
    rng = np.random.default_rng([seed, 5])
    links = []
    for k in range(count):
        kind = "prismatic" if k and rng.random() < slides else "revolute"
        row = {"theta": rng.uniform(-3, 3), "d": rng.uniform(-0.5, 0.5), "a": rng.uniform(-0.5, 0.5)}
        alpha = float(rng.choice([-np.pi / 2, 0.0, np.pi / 2])) if k < count - 1 else rng.uniform(-3, 3)
        rest = {"joint": kind, "offset": rng.uniform(-1, 1), **random_body(rng)}
        links.append(Link.dh(**row, alpha=alpha, convention="standard", **rest))
    return Mechanism(links)


def assert_same(mech: Mechanism, made: Mechanism, seed: int) -> None:
    """The same efforts, and frames that stand still in the links."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, mech.n))
    wanted = direct(mech, "inverse_dynamics", q, qd, qdd)
    found = direct(made, "inverse_dynamics", q, qd, qdd)
    assert np.allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())  # some hundreds of roundings
    here, there = (np.linalg.inv(direct(mech, "link_poses", at)) @ direct(made, "link_poses", at) for at in (q, qd))
    assert np.allclose(here, there, rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_turning_chains_with_right_angles_are_always_held(seed: int) -> None:
    mech = right_angled(seed)
    assert_same(mech, robo.to_mechanism(*robo.from_mechanism(mech)), seed)


def attempt(mechanism: Mechanism) -> Any:
    """The lists, or None where there are none."""
    try:
        return robo.from_mechanism(mechanism)
    except ModelError:
        return None


def test_with_slides_they_are_held_where_no_axis_points_aside() -> None:
    """A slide does not turn the frame beyond it, so that an axis there may point against a letter."""
    chains = {seed: right_angled(seed, 0.4) for seed in range(20)}
    held = {seed: lists for seed, mech in chains.items() if (lists := attempt(mech)) is not None}
    assert 4 <= len(held) < len(chains)
    for seed, mech in chains.items():
        if seed in held:
            assert_same(mech, robo.to_mechanism(*held[seed]), seed)
        else:
            assert all(": axis is " in line for line in refused(mech))


def test_a_floor_of_three_branches_turns_to_suit_them_all() -> None:
    turn = np.eye(4)
    turn[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    links = [
        Link(name="floor", mass=1.0, inertia=(0.1, 0.1, 0.1)),
        Link(name="a", parent="floor", axis=(0, 1, 0), before=turn, mass=1.0),  # along -x of the floor
        Link(name="b", parent="floor", axis=(0, -1, 0), mass=1.0),
        Link(name="c", parent="floor", joint="prismatic", axis=(0, 0, 1), mass=1.0),
    ]
    found, _ = robo.from_mechanism(Mechanism(links))
    assert [link[1] for link in found] == ["Translationalz", "Rotationaly", "Rotationalx", "Rotationalz"]
    assert found[-1][8] == pytest.approx(-np.pi, abs=1e-15) or found[-1][8] == pytest.approx(np.pi, abs=1e-15)


def refused(mechanism: Mechanism, **options: Any) -> list[str]:
    with pytest.raises(ModelError) as caught:
        robo.from_mechanism(mechanism, **options)
    return str(caught.value).split("\n")


AXIS = "expected an axis along x, y or z of a frame of {}, turned by joints alone, the same for all axes there"


@pytest.mark.parametrize(
    ("mechanism", "messages"),
    [
        (
            Mechanism([Link(axis=(1, 1, 0))]),
            ["link 'link1': axis is [0.7071067811865475, 0.7071067811865475, 0.0]; " + AXIS.format("the base")],
        ),
        (
            Mechanism([Link(), Link(axis=(0, 0, -1)), Link(joint="prismatic", axis=(0, 0.6, 0.8))]),
            ["link 'link2': axis is [0.0, 0.0, -1.0]; " + AXIS.format("'link1'")],
        ),
        (
            Mechanism([Link(joint="fixed"), Link(joint="screw", pitch=0.1)]),
            [
                "link 'link1': joint is 'fixed'; expected one that Robo has: " + ", ".join(robo.KINDS),
                "link 'link2': joint is 'screw'; expected one that Robo has: " + ", ".join(robo.KINDS),
            ],
        ),
        (
            Mechanism([Link(name="a"), Link(name="b", mimic=Mimic("a"))], loops=[Loop("point", "b", "base", name="ring")]),
            [
                "mechanism 'mechanism': loops is ['ring']; expected a tree without loops",
                "link 'b': mimic is Mimic(joint='a', ratio=1.0, offset=0.0); expected a joint with a coordinate of its own",
            ],
        ),
        (
            Mechanism([Link(mass=1.0)], floating=True),
            ["mechanism 'mechanism': floating is True; expected a base that stands still"],
        ),
        (
            Mechanism([Link(name="a", motor=Motor(inertia=1e-4))]),
            ["motor of 'a': carrier is None; expected the link that carries it, for Robo's motors ride on links"],
        ),
        (
            Mechanism([Link(name="a")], motors=[Motor(inertia=1e-4, carrier="base", axis=(1, 0, 0), joint="a")]),
            [
                "motor of 'a': axis is [1.0, 0.0, 0.0]; expected a spin along z of the carrier's frame, the letter of the "
                "joint that it drives"
            ],
        ),
    ],
)
def test_what_lists_cannot_hold(mechanism: Mechanism, messages: list[str]) -> None:
    assert refused(mechanism) == messages
    assert refused(mechanism, allow_loss=True) == messages


def test_what_would_be_lost() -> None:
    rng = np.random.default_rng(0)
    link = Link(name="a", limits=(-1, 1), qd_max=2.0, tau_max=3.0, motor=Motor(viscous=0.1, coulomb=0.2))
    mech = Mechanism([link], base=random_pose(rng), tool=random_pose(rng), gravity=(0, 0, 0)).with_payload(1.0)
    found = refused(mech)
    assert [line.split(" is ")[0] for line in found] == [
        "mechanism 'mechanism': base",
        "mechanism 'mechanism': tool",
        "mechanism 'mechanism': gravity",
        "mechanism 'mechanism': payload",
        "link 'a': limits",
        "link 'a': qd_max",
        "link 'a': tau_max",
        "motor of 'a': viscous",
        "motor of 'a': coulomb",
    ]
    assert found[4].endswith("expected none: lists have no place for it (allow_loss=True leaves it out)")
    links, motors = robo.from_mechanism(mech, allow_loss=True)
    assert [link[0] for link in links] == [1]
    assert motors == []


def test_a_spin_against_the_letter_takes_the_sign_of_the_ratio() -> None:
    motor = Motor(inertia=1e-4, gear_ratio=50, carrier="a", axis=(0, 0, -1), joint="b")
    mech = Mechanism([Link(name="a", mass=1.0), Link(name="b", mass=1.0, com=(0.3, 0, 0))], motors=[motor])
    links, motors = robo.from_mechanism(mech)
    assert motors[0][8] == -50.0
    q = np.array([0.3, 0.4])
    made = robo.to_mechanism(links, motors, rotors="contained")
    assert np.allclose(made.mass_matrix(q), mech.mass_matrix(q), rtol=1e-14)


def test_motors_with_and_without_a_body_do_not_mix() -> None:
    bare = Motor(inertia=1e-4, carrier="a", axis=(0, 0, 1), joint="b")
    whole = bare.replace(rotor_inertia=(1e-4, 1e-4, 1e-4), mass=0.2)
    mech = Mechanism([Link(name="a"), Link(name="b")], motors=[bare, whole])
    assert refused(mech) == ["motor of 'b': rotor_inertia is 0.0; expected a body, for other motors have one"]


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r", "scara_icomatic", "elbow"])
def test_bundled_robots_that_lists_can_hold(name: str) -> None:
    mech = robots.load(name)
    bare = mech.replace(links=[link.replace(motor=None) for link in mech.links], motors=[])
    links, motors = robo.from_mechanism(bare, allow_loss=True)
    made = robo.robot(links, motors, gravity=bare.gravity, base=bare.base, physical=False).mechanism
    bare = bare.replace(tool=None).with_payload()
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, mech.n))
    wanted = bare.inverse_dynamics(q, qd, qdd)
    assert np.allclose(made.inverse_dynamics(q, qd, qdd), wanted, rtol=0, atol=1e-12 * max(np.abs(wanted).max(), 1e-3))
