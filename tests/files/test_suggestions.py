"""Where the tool goes on a file that does not say: a frame that is called so, before a finger that more joints move."""

import pytest

import linkwise as lw
from linkwise import Inertia, Link, Mechanism
from linkwise.files.report import tool_among_tips, with_tool_at_a_tip


def hand(*more: Link) -> Mechanism:
    finger = Link(name="finger", joint="prismatic", parent="wrist", joint_name="grip")
    return Mechanism([Link(name="arm"), Link(name="wrist"), *more, finger])


def tool_of(mechanism: Mechanism) -> str:
    found = with_tool_at_a_tip(mechanism)
    return found.link_names[found.tool_index]


def fixed(name: str, parent: str = "wrist", **more: object) -> Link:
    return Link(name=name, joint="fixed", parent=parent, **more)


@pytest.mark.parametrize(
    "name", ["tcp", "tool0", "hand_tcp", "ee_link", "left_tool0", "arm_tool", "TCP", "tool", "tool_2", "link_ee"]
)
def test_a_frame_with_the_name_of_a_tool_goes_before_a_finger(name: str) -> None:
    assert tool_of(hand(fixed(name))) == name


@pytest.mark.parametrize("name", ["camera", "toolbox", "coffee", "tooling_plate", "knee"])
def test_other_frames_do_not(name: str) -> None:
    assert tool_of(hand(fixed(name))) == "finger"


def test_bodies_what_moves_and_what_stands_still_do_not() -> None:
    assert tool_of(hand(fixed("tcp", body=Inertia(mass=1.0)))) == "finger"
    assert tool_of(hand(Link(name="tcp", joint="prismatic", parent="arm"))) == "finger"
    assert tool_of(hand(fixed("tcp", parent="base"))) == "finger"
    assert tool_of(hand(fixed("tool", parent="base"))) == "tool"  # so is a tool written


def test_of_several_the_one_that_most_joints_move() -> None:
    assert tool_of(hand(fixed("tcp"), fixed("elbow_tcp", parent="arm"))) == "tcp"
    assert tool_of(hand(fixed("tcp"), fixed("tool", parent="arm"))) == "tool"


def test_it_is_told_where_there_are_several_tips() -> None:
    assert tool_among_tips(lw.robots.puma560()) == ""
    assert tool_among_tips(with_tool_at_a_tip(hand(fixed("tcp")))) == "tool on tcp; other tip: finger"
    made = hand(fixed("camera"), fixed("lamp"))
    assert tool_among_tips(made) == "tool on finger, which moves with grip; other tips: camera, lamp"
