"""What is odd in a description: joints that move no inertia, limits that make no sense, and what bodies allow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwise import Inertia, Link, Mechanism, Mimic, Motor, robots
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.errors import ModelError
from linkwise.files import load, remarks
from linkwise.files.mechanism_remarks import UNDEFINED, impossible, remarks_on
from linkwise.files.report import Reading

UPPER = Link.dh(a=0.5, convention="standard", name="upper", mass=2.0, com=(-0.25, 0, 0))
BARE = "link 'hand' moves, but has no mass and no inertia"


def told(*links: Link, **rest: object) -> list[str]:
    mechanism = Mechanism(links, **rest)
    return [remark.message for remark in remarks_on(mechanism, Reading(None, [], {}))]


def test_a_tip_without_mass_has_no_acceleration() -> None:
    hand = Link.dh(a=0.1, convention="standard", name="hand")
    assert told(UPPER, hand) == [f"{BARE}, and its joint moves none at all: {UNDEFINED}"]
    with pytest.raises(ModelError, match="joint 'hand'"):
        check_inertia(Mechanism([UPPER, hand]))
    assert told(hand, hand.replace(name="bare")) == ["no link has a mass: this is a description of kinematics alone"]


@pytest.mark.parametrize(
    "rest",
    [
        {"payload": Inertia(1.0)},
        {"motors": [Motor(inertia=1e-4, joint="hand")]},
    ],
)
def test_what_else_a_joint_moves_counts(rest: dict) -> None:
    hand = Link.dh(a=0.1, convention="standard", name="hand")
    assert told(UPPER, hand, **rest) == [BARE]
    check_inertia(Mechanism([UPPER, hand], **rest))


def test_a_massless_link_with_mass_beyond_is_no_more_than_odd() -> None:
    hand = Link.dh(a=0.1, convention="standard", name="hand")
    finger = Link.dh(a=0.1, alpha=1.0, convention="standard", name="finger", mass=0.1)
    assert told(UPPER, hand, finger) == [BARE]


def test_a_point_on_the_axis_has_no_inertia_about_it() -> None:
    tip = Link(name="tip", mass=1.0, after=np.eye(4))
    said = f"joint 'tip' moves no inertia (its mass is on the axis, and a point has none about it): {UNDEFINED}"
    assert told(UPPER, tip) == [said]
    assert told(UPPER, tip.replace(joint="prismatic")) == []
    assert told(UPPER, tip.replace(inertia=(1e-9, 1e-9, 1e-9))) == []


def test_a_joint_that_follows_takes_its_acceleration_from_another() -> None:
    follow = Link.dh(a=0.1, convention="standard", name="hand", mimic=Mimic("upper"))
    assert told(UPPER, follow) == [BARE]


def test_limits() -> None:
    arm = UPPER.replace(joint_name="shoulder")
    assert told(arm.replace(limits=(-90, 90))) == [
        "joint 'shoulder': its limits are -90 to 90 rad, more than two turns; are they in degrees?"
    ]
    assert told(arm.replace(limits=(0.5, 0.5))) == ["joint 'shoulder' cannot move: both its limits are 0.5"]
    assert told(arm.replace(limits=(-7, np.inf))) == []
    assert told(UPPER.replace(joint="prismatic", limits=(-20, 20))) == []


def test_limits_of_a_joint_that_follows() -> None:
    leader = UPPER.replace(limits=(-1, 1))
    follow = Link.dh(a=0.5, alpha=1.0, convention="standard", name="hand", mass=1.0, mimic=Mimic("upper", 2.0, 0.5))
    said = "joint 'hand' follows 'upper', which could take it to -1.5 to 2.5; its own limits are -1.5 to 2, "
    said += "and stop both earlier"
    assert told(leader, follow.replace(limits=(-1.5, 2.0))) == [said]
    assert told(leader, follow.replace(limits=(-1.5, 2.5))) == []
    assert told(leader, follow) == []
    free = told(UPPER, follow.replace(limits=(-1.5, 2.0)))
    assert free == [said.replace("-1.5 to 2.5", "-inf to inf", 1)]


@pytest.mark.parametrize("name", robots.names())
def test_the_bundled_robots_have_no_odd_limits(name: str) -> None:
    assert not [line for line in told(*robots.load(name).links) if "limits" in line]


def test_what_bodies_allow() -> None:
    def link(**body: object) -> Mechanism:
        return Mechanism([Link(name="arm", physical=False, **body)])

    assert impossible(link(mass=1.0, inertia=(1, 2, 3))) == []
    assert impossible(link(mass=-1.0)) == ["link 'arm': its mass, -1 kg, is negative"]
    told_of = (
        "link 'arm': its largest principal moment, 5 kg m2, exceeds the sum of the other two, 2, by 3; a body has at most"
    )
    assert impossible(link(inertia=(1, 5, 1))) == [f"{told_of} that sum"]
    told_of = "link 'arm': its least principal moment, -1 kg m2, is negative; a body has none below 0"
    assert impossible(link(inertia=(1, 1, 1, 2, 0, 0))) == [told_of]  # [[1, 2], [2, 1]] has the moments -1 and 3


def test_links_that_a_reader_puts_between_joints_of_one_body_are_not_told(tmp_path: Path) -> None:
    """A body of MJCF with two joints needs a link without mass, and a planar joint none; nobody forgot a mass there."""
    (tmp_path / "a.xml").write_text(
        '<mujoco><worldbody><body name="leg"><joint name="roll" axis="1 0 0"/><joint name="pitch" axis="0 1 0"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -1" size="0.1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "a.urdf").write_text(
        '<robot name="cart"><link name="floor"/><link name="cart"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="roll" type="planar"><parent link="floor"/><child link="cart"/><axis xyz="0 0 1"/></joint></robot>'
    )
    for name, links in (("a.xml", ("leg_roll", "leg")), ("a.urdf", ("floor", "cart"))):
        assert load(tmp_path / name).link_names == links
        assert not remarks(tmp_path / name)


def test_lengths_that_look_like_millimetres_are_asked_about() -> None:
    body = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    row = Link.dh(d=400.0, a=-60.0, convention="standard", name="arm", **body)
    shifted = np.eye(4)
    shifted[:3, 3] = 30.0, 40.0, 10.0
    slide = Link(joint="prismatic", before=shifted, limits=(0.0, 250.0), name="slide", **body)
    assert told(row, slide) == [
        "link 'arm': a is -60 m and d is 400 m; millimetres?",
        "link 'slide': before shifts by 50.9902 m and its limits reach 250 m; millimetres?",
    ]
    near = Link.dh(d=50.0, a=-50.0, convention="standard", joint="prismatic", limits=(-np.inf, 50.0), **body)
    assert told(near, Link.dh(convention="standard", limits=(0.0, 6.0), **body)) == []
