"""Groups and named states of an SRDF beside the mechanism that its URDF describes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError, FileError
from linkwise.files import Semantics, read_srdf

PICKER = Path(__file__).parents[2] / "examples" / "data" / "picker.urdf"
SRDF = """<robot name="picker">
<virtual_joint name="world_joint" type="fixed" parent_frame="world" child_link="pedestal"/>
<group name="arm"><chain base_link="pedestal" tip_link="arm"/></group>
<group name="hand"><link name="left_finger"/><joint name="{finger}"/></group>
<group name="all"><group name="hand"/><group name="arm"/></group>
<group_state name="home" group="arm"><joint name="world_joint" value="0"/><joint name="{first}" value="0.5"/></group_state>
<group_state name="home" group="hand"/>
<group_state name="up" group="arm"><joint name="{second}" value="0.25"/></group_state>
<end_effector name="gripper" parent_link="arm" group="hand" parent_group="arm"/>
<passive_joint name="{first}"/>
<disable_collisions link1="arm" link2="column" reason="Adjacent"/>
<link_sphere_approximation link="arm"/>
</robot>"""


def semantics(tmp_path: Path, text: str, mechanism: lw.Mechanism) -> Semantics:
    path = tmp_path / "robot.srdf"
    path.write_text(text)
    return read_srdf(path, mechanism)


def test_groups_and_states(tmp_path: Path) -> None:
    picker = lw.load(PICKER)
    first, second, third, finger = picker.names
    read = semantics(tmp_path, SRDF.format(first=first, second=second, finger=finger), picker)
    arm, hand = read.groups["arm"], read.groups["hand"]
    assert arm.joints == (first, second, third)
    assert arm.links == ("column", "carriage", "arm")
    assert arm.chains == (("pedestal", "arm"),)
    assert hand.joints == (finger,)
    assert read.groups["all"].joints == (first, second, third, finger)
    assert read.groups["all"].subgroups == ("hand", "arm")
    assert read.configuration("home", "arm").tolist() == [0.5, 0, 0, 0]
    assert read.configuration("up", q=[1, 2, 3, 4]).tolist() == [1, 0.25, 3, 4]
    assert read.end_effectors == ({"name": "gripper", "parent_link": "arm", "group": "hand", "parent_group": "arm"},)
    assert read.virtual_joints[0]["type"] == "fixed"
    assert read.passive_joints == (first,)
    assert read.disabled_collisions == (("arm", "column", "Adjacent"),)
    assert [str(remark) for remark in read.remarks] == ["line 12: <link_sphere_approximation> is not used"]
    with pytest.raises(ArgumentError, match="there are several; there are 'home' of 'arm', 'home' of 'hand'"):
        read.configuration("home")
    with pytest.raises(ArgumentError, match="there is no such state"):
        read.configuration("away")
    with pytest.raises(ArgumentError, match=r"expected \(4,\)"):
        read.configuration("up", q=[0.0])


def test_joints_with_several_coordinates(tmp_path: Path) -> None:
    """A quaternion has its scalar last in an SRDF, and first here; a chain may go up and down the tree."""
    links = [
        lw.Link(name="a", joint="floating", joint_name="f", mass=1.0),
        lw.Link(name="b", joint="planar", parent="a", mass=1.0),
        lw.Link(name="c", parent="a", mass=1.0),
    ]
    text = """<robot><group name="g"><chain base_link="b" tip_link="c"/></group><group name="h"><joint name="f"/></group>
    <group_state name="s" group="h"><joint name="f" value="1 2 3 0 0 0.6 0.8"/><joint name="b" value="4 5 6"/></group_state>
    </robot>"""
    read = semantics(tmp_path, text, lw.Mechanism(links))
    assert read.groups["g"].joints == ("b", "c")
    assert np.array_equal(read.configuration("s"), [1, 2, 3, 0.8, 0, 0, 0.6, 4, 5, 6, 0])


def test_a_state_without_a_group(tmp_path: Path) -> None:
    """Public files have them: it is a state of the joints that it names."""
    text = '<robot><group_state name="up"><joint name="link2" value="0.5"/></group_state></robot>'
    read = semantics(tmp_path, text, lw.robots.planar_2r())
    assert list(read.states) == [("", "up")]
    assert np.array_equal(read.configuration("up"), [0, 0.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco/>", "the root element is <mujoco>; expected <robot>"),
        ("<robot><group/></robot>", "line 1: a group: <group> has no name"),
        ('<robot><group name="g"><joint name="link3"/></group></robot>', "name is 'link3', which does not exist"),
        ('<robot><group name="g"><chain base_link="base"/></group></robot>', "<chain> has no tip_link"),
        ('<robot><group name="g"><group name="h"/></group></robot>', "group is 'h', which does not exist"),
        ('<robot><group name="g"><group name="g"/></group></robot>', "group 'g': it is in itself"),
        ('<robot><group_state name="s" group="g"/></robot>', "group is 'g', which does not exist"),
        (
            '<robot><group name="g"/><group_state name="s" group="g"><joint name="link1" value="x"/></group_state></robot>',
            "'x' is not a number",
        ),
        (
            '<robot><group name="g"/><group_state name="s" group="g"><joint name="link1" value="1 2"/>'
            "</group_state></robot>",
            "value of 'link1' is '1 2'; expected 1 number",
        ),
        (
            '<robot><group name="g"/><group_state name="s" group="g"/><group_state name="s" group="g"/></robot>',
            "occurs twice",
        ),
        ('<robot><end_effector name="e" parent_link="link1" group="g"/></robot>', "group is 'g', which does not exist"),
        ('<robot><passive_joint name="j"/></robot>', "name is 'j', which does not exist"),
    ],
)
def test_mistakes(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        semantics(tmp_path, text, lw.robots.planar_2r())
    assert message in str(caught.value)


def test_names_that_are_not_there_can_be_left_out(tmp_path: Path) -> None:
    """MoveIt reads such files too."""
    path = tmp_path / "robot.srdf"
    path.write_text(
        """<robot>
<group name="g"><joint name="link3"/><joint name="link2"/><group name="h"/></group>
<group_state name="s" group="k"><joint name="link1" value="1"/><joint name="link4" value="2"/></group_state>
<passive_joint name="j"/>
</robot>"""
    )
    arm = lw.robots.planar_2r()
    with pytest.raises(FileError, match="with drop_unknown=True it is left out") as caught:
        read_srdf(path, arm)
    read = read_srdf(path, arm, drop_unknown=True)
    assert (read.groups["g"].joints, read.groups["g"].subgroups, read.passive_joints) == (("link2",), (), ())
    assert read.configuration("s").tolist() == [1.0, 0.0]
    assert len(read.remarks) == len(caught.value.problems) == 5


@pytest.mark.parametrize("declared", ['<virtual_joint name="free" type="floating" parent_frame="w" child_link="b"/>', ""])
def test_the_base_of_a_floating_mechanism(tmp_path: Path, declared: str) -> None:
    """A virtual joint, or one of the name that Pinocchio gives it, places the base; it has its scalar last there."""
    name = "free" if declared else "root_joint"
    value = f'<joint name="{name}" value="1 2 3 0 0 0.6 0.8"/><joint name="link2" value="0.5"/>'
    text = f'<robot>{declared}<group_state name="up">{value}</group_state></robot>'
    arm = lw.robots.planar_2r()
    read = semantics(tmp_path, text, arm.replace(floating=True))
    assert read.configuration("up").tolist() == [1, 2, 3, 0.8, 0, 0, 0.6, 0, 0.5]
    if declared:
        assert semantics(tmp_path, text, arm).configuration("up").tolist() == [0, 0.5]
    with pytest.raises(FileError, match="expected 7 numbers"):
        semantics(tmp_path, text.replace("1 2 3", "1 2"), arm.replace(floating=True))
