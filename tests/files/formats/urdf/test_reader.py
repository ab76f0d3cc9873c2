"""What a URDF says becomes a mechanism: structure, numbers, names, limits, and a remark on all that is not used."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from linkwise import Mechanism, Mimic, Motor
from linkwise.files import read, remarks
from linkwise.files.formats.urdf import reader as urdf
from linkwise.files.registry import ReadOptions
from linkwise.files.report import Description, Reading
from linkwise.model.shape import Shape
from linkwise.spatial.rotation import rotation_between, rpy_to_rotation
from linkwise.spatial.transform import transform
from support.random_mechanisms import direct

DATA = Path(__file__).parents[2] / "data"
BALL = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" iyz="0" ixz="0"/></inertial>'


def parsed(inner: str) -> Reading:
    return urdf.parse(f'<robot name="r">\n{inner}\n</robot>', "file")


def described(inner: str) -> Description:
    reading = parsed(inner)
    assert reading.description is not None, reading.problems
    return reading.description


def made(inner: str) -> Mechanism:
    return described(inner).mechanism


def link(name: str, inner: str = "") -> str:
    return f'<link name="{name}">{inner}</link>\n'


def joint(parent: str, child: str, inner: str = "", kind: str = "revolute", name: str = "") -> str:
    name = name or f"{parent}-{child}"
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>\n'


def told(inner: str) -> list[str]:
    return [str(remark) for remark in parsed(inner).remarks]


AB = link("a") + link("b")


def test_links_and_joints_in_the_order_of_the_file() -> None:
    """The root, then what each joint carries; the file may say a child before what carries it."""
    mech = read(DATA / "gripper.urdf").mechanism
    assert mech.name == "gripper arm"
    assert mech.link_names == ("stand", "upper arm", "forearm", "right finger", "wrist", "left finger", "camera")
    assert mech.names == ("shoulder", "elbow", "left")
    assert [link.joint for link in mech.links] == [
        "fixed",
        "revolute",
        "revolute",
        "prismatic",
        "fixed",
        "prismatic",
        "fixed",
    ]
    assert [link.parent for link in mech.links] == ["base", "stand", "upper arm", "wrist", "forearm", "wrist", "wrist"]
    assert [link.joint_name for link in mech.links] == [
        None,
        "shoulder",
        "elbow",
        "right",
        "wrist mount",
        "left",
        "camera mount",
    ]
    assert not mech.floating
    assert mech.gravity.tolist() == [0, 0, -9.81]


def test_numbers_of_a_joint() -> None:
    mech = read(DATA / "gripper.urdf").mechanism
    shoulder = mech.links[1]
    assert np.array_equal(shoulder.before, transform(rpy_to_rotation(0.1, 0.2, -0.3), (0.05, 0, 0.2)))
    assert np.array_equal(shoulder.after, np.eye(4))
    assert np.array_equal(shoulder.axis, np.array([0, 1, 2]) / math.sqrt(5))
    assert (shoulder.limits, shoulder.tau_max, shoulder.qd_max) == ((-1.5, 2.25), 80, 3)
    assert shoulder.motor == Motor(viscous=0.4, coulomb=0.7)
    assert (mech.links[2].limits, mech.links[2].tau_max, mech.links[2].qd_max) == (None, 40, 5)
    assert mech.links[2].motor is None
    assert mech.links[3].mimic == Mimic("left", -0.5, 0.01)
    assert mech.links[5].motor == Motor(viscous=1.5)


def test_inertia_is_turned_into_the_axes_of_the_link() -> None:
    body = read(DATA / "gripper.urdf").mechanism.links[1].body
    given = np.array([[0.01, 0.002, -0.001], [0.002, 0.08, 0.003], [-0.001, 0.003, 0.085]])
    rotation = rpy_to_rotation(0.3, -0.4, 1.1)
    assert np.abs(body.tensor - rotation @ given @ rotation.T).max() < 1e-17  # one rounding of 0.08
    assert (body.mass, body.com.tolist()) == (3.5, [0.2, 0.01, -0.02])


def test_inertia_without_a_turn_is_kept_to_the_last_bit() -> None:
    body = read(DATA / "gripper.urdf").mechanism.links[0].body
    assert body.tensor.tolist() == [[0.2, 0.01, 0], [0.01, 0.3, 0], [0, 0, 0.25]]


def test_what_is_missing_has_the_value_of_urdf() -> None:
    mech = made(AB + joint("a", "b"))
    assert mech.links[1].axis.tolist() == [1, 0, 0]
    assert np.array_equal(mech.links[1].before, np.eye(4))
    assert mech.links[1].limits is None
    assert mech.links[0].body.is_zero
    assert urdf.parse("<robot><link name='a'/></robot>", "file").description.mechanism.name == "file"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('lower="-inf" upper="1"', (-math.inf, 1)),
        ('lower="-1.7976931348623157e+308" upper="1"', (-math.inf, 1)),
        ('lower="-INF" upper="Infinity"', None),
        ('lower="-1"', (-1, 0)),
        ('effort="3"', (0, 0)),
        ('lower=" 0.5 " upper="+.75E0"', (0.5, 0.75)),
    ],
)
def test_limits(attributes: str, expected: tuple[float, float] | None) -> None:
    assert made(AB + joint("a", "b", f"<limit {attributes}/>")).links[1].limits == expected


def test_a_joint_with_the_name_of_its_link_has_no_name_of_its_own() -> None:
    mech = made(AB + joint("a", "b", name="b"))
    assert mech.links[1].joint_name is None
    assert mech.names == ("b",)


def test_a_mimic_of_a_mimic() -> None:
    mech = made(
        AB + link("c") + link("d")
        + joint("a", "b", '<mimic joint="b-c" multiplier="2"/>') + joint("b", "c", '<mimic joint="c-d" offset="1"/>')
        + joint("c", "d")
    )  # fmt: skip
    assert mech.names == ("c-d",)
    assert [(follower.ratio, follower.shift) for follower in mech.followers[1:]] == [(2, 2), (1, 1), (1, 0)]


# ── the ground ────────────────────────────────────────────────────────────────────────────────────


def test_a_floating_root() -> None:
    mech = read(DATA / "rover.urdf").mechanism
    assert mech.floating
    assert mech.link_names == ("chassis", "right wheel", "left wheel")
    assert (mech.links[0].joint, mech.links[0].parent) == ("fixed", "base")
    assert np.array_equal(mech.base, transform(rpy_to_rotation(0, 0, 0.5), (0, 0, 1)))
    assert mech.names == ("right axle", "left axle")


def test_any_mechanism_can_be_let_float() -> None:
    """The root link is then the body that floats."""
    text = (DATA / "rover.urdf").read_text()
    start, end = text.index('<joint name="free"'), text.index("</joint>") + len("</joint>")
    standing = urdf.parse((text[:start] + text[end:]).replace('<link name="world"/>', ""), "rover").description
    assert standing is not None
    assert not standing.mechanism.floating
    floating = read(DATA / "rover.urdf").mechanism
    assert standing.mechanism.replace(floating=True, base=floating.base) == floating


def test_what_the_world_of_a_floating_base_weighs_is_told() -> None:
    inner = link("ground", BALL) + link("b", BALL) + joint("ground", "b", kind="floating")
    assert told(inner) == ["line 2: link 'ground': its inertia is not used, for it is the world in which the base floats"]
    assert made(inner).link_names == ("b",)


def test_a_root_called_base_without_mass_is_the_base() -> None:
    mech = read(DATA / "cart.urdf").mechanism
    assert mech.link_names[0] == "cart"
    assert mech.parents[0] == -1


def test_a_link_called_base_with_a_mass_has_another_name() -> None:
    inner = link("base", BALL) + link("b") + joint("base", "b", "<limit/>")
    mech = made(inner)
    assert mech.link_names == ("base_link", "b")
    assert mech.links[1].parent == "base_link"
    assert told(inner)[0] == "line 2: link 'base' is called 'base_link', for 'base' means the ground"
    below = link("base_link") + link("base") + joint("base_link", "base", kind="fixed")
    assert made(below).link_names == ("base_link", "base_frame")
    assert made(link("base")).link_names == ("base_link",)
    crowded = below + link("base_frame") + joint("base", "base_frame", kind="fixed")
    assert made(crowded).link_names == ("base_link", "base_frame_2", "base_frame")


def test_a_world_that_places_the_base() -> None:
    inner = link("world") + link("base") + link("b") + joint("world", "base", '<origin xyz="1 2 3"/>', "fixed")
    mech = made(inner + joint("base", "b"))
    assert np.array_equal(mech.base, transform(None, (1, 2, 3)))
    assert mech.link_names == ("b",)
    shown = made(link("world") + link("b") + joint("world", "b", kind="fixed"))
    assert shown.link_names == ("world", "b")


# ── planar joints ─────────────────────────────────────────────────────────────────────────────────


def test_joints_that_float_below_the_root_or_beside_others() -> None:
    mech = made(AB + link("c") + joint("a", "b", kind="floating", name="j") + joint("a", "c", kind="floating", name="k"))
    assert not mech.floating
    assert [x.joint for x in mech.links] == ["fixed", "floating", "floating"]
    assert mech.coordinate_names[:8] == (*(f"j_{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz")), "k_x")


def test_a_planar_joint_is_two_slides_and_a_turn() -> None:
    mech = read(DATA / "cart.urdf").mechanism
    assert mech.names == ("drive_x", "drive_y", "drive_angle", "tilt")
    assert mech.link_names == ("cart", "mast")
    before = transform(rpy_to_rotation(0.2, -0.1, 0.7), (0.5, 0, 0.1))
    pose = direct(mech, "forward_kinematics", [0.3, -0.2, 0.4, 0], link="cart")
    assert np.abs(pose - before @ transform(rpy_to_rotation(0, 0, 0.4), (0.3, -0.2, 0))).max() < 5e-16  # roundings of 1


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0, 0, -1), (1, -2, 0.5)])
def test_a_planar_joint_moves_in_the_plane_normal_to_its_axis(axis: tuple[float, float, float]) -> None:
    inner = f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
    mech = made(AB + joint("a", "b", inner, "planar"))
    normal = np.array(axis) / np.linalg.norm(axis)
    turn = rotation_between((0, 0, 1), normal)
    pose = direct(mech, "forward_kinematics", [0.3, -0.2, 0.4])
    assert abs(normal @ pose[:3, 3]) < 1e-16
    assert np.abs(pose[:3, 3] - turn @ [0.3, -0.2, 0]).max() < 1e-16
    assert np.abs(pose[:3, :3] @ normal - normal).max() < 5e-16


# ── remarks ───────────────────────────────────────────────────────────────────────────────────────


def test_each_kind_that_is_not_used_is_told_once() -> None:
    assert [str(remark) for remark in remarks(DATA / "gripper.urdf")] == [
        "line 72: <safety_controller> of a revolute joint is not used: its soft limits are a controller's",
        "line 93: <axis> of a fixed joint is not used",
        "line 109: <transmission> is not used: a gear acts on a rotor's inertia, which URDF does not hold",
        "line 114: <gazebo> is not used (2 of them, the first here): it is for the simulator Gazebo",
    ]


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (link("a", "<contact/>") + "<!-- x -->", "line 2: <contact> of a link is not used"),
        (link("a") + "<loop_joint/>\n<loop_joint/>", "line 3: <loop_joint> is not used (2 of them, the first here)"),
        ('<link name="a" type="x"/>', "line 2: the attribute 'type' of <link> is not used"),
        (link("a", BALL.replace("<mass", "<mass unit='kg'")), "line 2: the attribute 'unit' of <mass> is not used"),
        (link("a", "<visual><geometry/><material name='m'><texture/></material></visual>"),
         "line 2: <texture> of a material is not used"),
        (AB + joint("a", "b", '<limit lower="-1" upper="1"/>', "continuous"),
         "line 4: the attribute 'lower' of <limit> is not used"),
        (AB + joint("a", "b", '<limit lower="-1" upper="1"/>', "planar"), "line 4: <limit> of a planar joint is not used"),
        (AB + joint("a", "b", "<calibration/>" + "<limit upper='1'/>"),
         "line 4: <calibration> of a revolute joint is not used: it places an encoder's mark"),
        (AB + joint("a", "b"), "line 4: joint 'a-b' has no <limit>, which URDF asks for; it is read as unlimited"),
        (AB + joint("a", "b", '<limit effort="1"/>'),
         "line 4: joint 'a-b': <limit> has no lower and no upper; by the rules of URDF both are 0"),
        (AB + joint("a", "b", '<limit upper="1" velocity="0" effort="1"/>'),
         "line 4: joint 'a-b': its velocity limit is 0; it is read as none"),
    ],
)  # fmt: skip
def test_remarks(inner: str, expected: str) -> None:
    assert expected in told(inner)


def test_an_element_that_says_the_same_again_is_a_remark() -> None:
    axis, limit = '\n<axis xyz="0 1 0"/>', '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    expected = "joint 'a-b': <axis> occurs twice, first in line 5"
    assert told(AB + joint("a", "b", axis + "\n<axis  xyz = '0 1 0'></axis>" + limit)) == [
        f"line 6: {expected}, with the same words"
    ]
    assert told(AB + joint("a", "b", axis + '\n<child link="b"/>' + limit)) == [
        "line 6: joint 'a-b': <child> occurs twice, first in line 4, with the same words"
    ]
    problems = parsed(AB + joint("a", "b", axis + axis + '\n<axis xyz="0 0 1"/>' + limit)).problems
    assert [str(problem) for problem in problems] == [f"line 7: {expected}; with drop_unknown=True the first counts"]


def test_no_remark_without_a_reason() -> None:
    assert told(AB + joint("a", "b", '<axis xyz="0 0 1"/><limit upper="1" velocity="1" effort="1"/>')) == []
    assert urdf.parse('<robot name="r" xmlns:xacro="x" version="1.0"><link name="a"/></robot>', "").remarks == []


def test_moving_links_without_mass_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.urdf"
    path.write_text(f"<robot>\n{AB}{joint('a', 'b', kind='continuous')}</robot>")
    assert [str(remark) for remark in remarks(path)] == ["no link has a mass: this is a description of kinematics alone"]
    path.write_text(path.read_text().replace("</robot>", f"{joint('b', 'c', kind='continuous')}{link('c', BALL)}</robot>"))
    assert [str(remark) for remark in remarks(path)] == ["line 3: link 'b' moves, but has no mass and no inertia"]


# ── impossible inertias ───────────────────────────────────────────────────────────────────────────


def test_an_impossible_inertia_can_be_let_through() -> None:
    """And only it is marked."""
    wrong = BALL.replace('izz="1"', 'izz="3"')
    text = f"<robot>{link('a', wrong)}{link('b', BALL)}{joint('a', 'b')}</robot>"
    assert urdf.parse(text).description is None
    found = urdf.parse(text, "", ReadOptions(physical=False)).description
    assert found is not None
    assert [link.body.physical for link in found.mechanism.links] == [False, True]
    assert found.mechanism.links[0].body.tensor.diagonal().tolist() == [1, 1, 3]


# ── what other programs read ──────────────────────────────────────────────────────────────────────


def test_products_of_inertia_that_are_missing_are_zero() -> None:
    lone = BALL.replace('ixy="0"', "").replace('iyz="0"', "").replace('ixz="0"', "")
    reading = parsed(link("a", lone) + link("b", BALL) + link("c", lone) + joint("a", "b") + joint("b", "c"))
    assert reading.description is not None
    whole = made(link("a", BALL) + link("b", BALL) + link("c", BALL) + joint("a", "b") + joint("b", "c"))
    assert reading.description.mechanism == whole
    (remark,) = (remark for remark in reading.remarks if "products of inertia" in remark.message)
    assert (remark.line, "'a'" in remark.message, "2 links" in remark.message) == (2, True, True)
    for moment in ("ixx", "iyy", "izz"):  # a moment is never guessed
        (problem,) = parsed(link("a", BALL.replace(f'{moment}="1"', ""))).problems
        assert moment in problem.message


def test_reversed_limits_are_exchanged_by_name_only() -> None:
    limit = "<limit lower='2' upper='-1'/>"
    text = f'<robot name="r">\n{AB}{joint("a", "b", limit)}</robot>'
    (problem,) = urdf.parse(text).problems
    assert problem.line == 4
    reading = urdf.parse(text, "", ReadOptions(swap_limits=True))
    assert reading.description is not None
    assert np.column_stack([reading.description.mechanism.q_min, reading.description.mechanism.q_max]).tolist() == [[-1, 2]]
    assert [remark.line for remark in reading.remarks if "exchanged" in remark.message] == [4]
    right = urdf.parse(text.replace("'2'", "'-2'"), "", ReadOptions(swap_limits=True))
    assert right.description is not None
    assert np.column_stack([right.description.mechanism.q_min, right.description.mechanism.q_max]).tolist() == [[-2, -1]]
    assert right.remarks == []


FOREST = (
    link("pelvis", BALL) + link("leg", BALL) + joint("pelvis", "leg", kind="continuous")
    + link("table", BALL) + link("drawer") + joint("table", "drawer", kind="continuous")
    + '<joint name="loose" type="fixed"><parent link="drawer"/><child link="none"/></joint>'
)  # fmt: skip


def test_one_root_of_several() -> None:
    assert parsed(FOREST).description is None
    (problem,) = parsed(FOREST.partition('<joint name="loose"')[0]).problems
    assert "root='pelvis'" in problem.message
    assert "'table'" in problem.message
    reading = urdf.parse(f'<robot name="r">\n{FOREST}\n</robot>', "", ReadOptions(root="pelvis"))
    assert reading.description is not None
    alone = made(link("pelvis", BALL) + link("leg", BALL) + joint("pelvis", "leg", kind="continuous"))
    assert reading.description.mechanism == alone
    (remark,) = reading.remarks
    assert (remark.line, "'table', 'drawer'" in remark.message) == (5, True)


@pytest.mark.parametrize(("parent", "value"), [('<parent link="bb"/>', "'bb'"), ("", "parent"), ("<parent/>", "parent")])
def test_a_wrong_joint_is_no_joint_of_another_tree(parent: str, value: str) -> None:
    """Its limb would be missing without a word."""
    wrong = f'<joint name="k" type="fixed">{parent}<child link="c"/></joint>'
    tail = link("c") + wrong + link("d") + joint("c", "d")
    text = f"<robot name='r'>{AB}{joint('a', 'b')}{tail}{link('t')}</robot>"
    reading = urdf.parse(text, "", ReadOptions(root="a"))
    assert reading.description is None
    assert any("'k'" in problem.message and value in problem.message for problem in reading.problems)
    assert not any("'c'" in problem.message or "'d'" in problem.message for problem in reading.problems)


@pytest.mark.parametrize("root", ["leg", "none", ""])
def test_a_root_that_is_none_is_refused_with_those_that_are(root: str) -> None:
    """Another root than that of the tree would turn joints round."""
    problems = urdf.parse(f'<robot name="r">\n{FOREST}\n</robot>', "", ReadOptions(root=root)).problems
    assert repr(root) in problems[0].message
    assert "'pelvis' or 'table'" in problems[0].message


def test_the_root_of_one_tree_changes_nothing() -> None:
    text = f"<robot name='r'>{AB}{joint('a', 'b')}</robot>"
    one, other = urdf.parse(text), urdf.parse(text, "", ReadOptions(root="a"))
    assert one.description is not None
    assert other.description is not None
    assert one.description.mechanism == other.description.mechanism
    assert one.remarks == other.remarks


# ── shapes ────────────────────────────────────────────────────────────────────────────────────────


def test_shapes() -> None:
    shapes = read(DATA / "gripper.urdf").shapes
    grey = (0.5, 0.5, 0.5, 0.8)
    wanted = [
        Shape("stand", "box", (0.2, 0.3, 0.2), origin=transform(rpy_to_rotation(0, 0, 0.5), (0, 0, 0.1)),
              colour=(1, 0.5, 0, 1), material="orange"),
        Shape("stand", "sphere", (0.25,), role="collision"),
        Shape("upper arm", "cylinder", (0.04, 0.4), origin=transform(rpy_to_rotation(0, math.pi / 2, 0), (0.2, 0, 0)),
              colour=grey, material="grey", name="tube"),
        Shape("forearm", "mesh", (0.001, 0.001, 0.001), filename="package://gripper_description/meshes/forearm.stl",
              colour=(1, 0.5, 0, 1), material="orange"),
    ]  # fmt: skip
    assert list(shapes) == wanted
    assert hash(shapes[0]) == hash(wanted[0])


def test_of_two_materials_the_first_counts_on_request() -> None:
    colours = '<material name="m"><color rgba="1 0 0 1"/></material><material name="n"><color rgba="0 1 0 1"/></material>'
    text = f"<visual><geometry><box size='1 1 1'/></geometry>{colours}</visual>"
    assert urdf.parse(f"<robot>{link('a', text)}</robot>").description.shapes == ()  # type: ignore[union-attr]
    reading = urdf.parse(f"<robot>{link('a', text)}</robot>", options=ReadOptions(drop_unknown=True))
    assert [shape.material for shape in reading.description.shapes] == ["m"]  # type: ignore[union-attr]
    assert [str(remark).split("; ")[-1] for remark in reading.remarks] == ["the first counts"]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("", "visual has no geometry"),
        ("<geometry/>", "visual has no geometry"),
        (
            "<geometry><cone/></geometry>",
            "visual: geometry is <cone>; expected 'box', 'cylinder', 'sphere', 'capsule' or 'mesh'",
        ),
        ("<geometry><box/></geometry>", "visual: <box> has no size"),
        (
            '<geometry><box size="1 2 3"/><sphere radius="1"/></geometry>',
            "visual: <sphere> is a second geometry; expected one",
        ),
        ('<geometry><box size="1 2"/></geometry>', "visual: size of <box> is '1 2'; expected 3 numbers"),
        ('<geometry><sphere radius="x"/></geometry>', "visual: radius of <sphere>: 'x' is not a number"),
        ("<geometry><mesh/></geometry>", "visual: <mesh> has no filename"),
        ('<origin xyz="1"/><geometry><sphere radius="1"/></geometry>', "visual: xyz of <origin> is '1'; expected 3 numbers"),
    ],
)
def test_a_shape_that_cannot_be_read_is_a_remark(shape: str, expected: str) -> None:
    inner = link("a", f"<visual>{shape}</visual><visual><geometry><sphere radius='1'/></geometry></visual>")
    assert f"line 2: link 'a': {expected}; this visual is left out" in told(inner)
    assert described(inner).shapes == (Shape("a", "sphere", (1.0,)),)


def test_shapes_of_the_base() -> None:
    inner = link("base", "<visual><geometry><sphere radius='1'/></geometry></visual>") + link("b") + joint("base", "b")
    assert described(inner).shapes == (Shape("base", "sphere", (1.0,)),)


def test_what_stands_in_the_world_of_a_floating_base_is_left_out() -> None:
    floor = link("world", "<visual><geometry><sphere radius='1'/></geometry></visual>")
    inner = floor + link("b", BALL) + joint("world", "b", kind="floating")
    assert described(inner).shapes == ()
    assert told(inner) == ["line 2: link 'world': visual: what stands in the world is left out"]


def test_a_world_that_no_link_says() -> None:
    """As in Drake, the world is there without a link of that name."""
    reading = parsed(link("a") + joint("world", "a"))
    assert str(reading.remarks[0]) == "line 3: there is no link 'world'; it is taken as the ground"
    assert reading.description is not None
    assert reading.description.mechanism.names == made(link("world") + link("a") + joint("world", "a")).names
    assert any("'wold'" in str(problem) for problem in parsed(link("a") + joint("wold", "a")).problems)
