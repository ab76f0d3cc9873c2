# ruff: noqa: E501  (XML stands on one line)
"""What other programs read and Linkwise reads with a remark, or by a named option, against MuJoCo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import Mechanism
from linkwise.errors import LinkwiseWarning
from linkwise.files.formats.mjcf import reader as mjcf
from linkwise.files.formats.mjcf import writer
from linkwise.files.registry import ReadOptions
from linkwise.files.report import Reading

mujoco = pytest.importorskip("mujoco")

BALL = '<geom size="0.1" pos="0.1 0.2 0.3"/>'
ASSET = '<asset><mesh name="m" builtin="wedge" params="25 25 180 90 0"/></asset>'
MESH = '<geom type="mesh" mesh="m"/>'
ARM = f'<body name="arm"><joint name="j" axis="0 1 0"/>{BALL}</body>'


def parse(text: str, **options: object) -> Reading:
    return mjcf.parse(text, "test", ReadOptions(**options))  # type: ignore[arg-type]


def read(text: str, **options: object) -> Mechanism:
    reading = parse(text, **options)
    assert reading.description is not None, reading.problems
    return reading.description.mechanism


def compare(mechanism: Mechanism, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from support.mujoco_from_mjcf import MujocoTwin

    monkeypatch.chdir(folder)  # (MuJoCo writes its warnings into a file where it is run)
    MujocoTwin(mechanism, mujoco.MjModel.from_xml_string(text)).compare(7)


# ── the mass of meshes ────────────────────────────────────────────────────────────────────────────


def standing(inner: str, before: str = "") -> str:
    """A column that stands, a plate on it, and an arm on that."""
    plate = f'<body name="plate" pos="0 0 1">{inner}{ARM}</body>'
    return f'<mujoco>{before}{ASSET}<worldbody>{MESH}<body name="column" euler="0 30 0">{inner}{plate}</body></worldbody></mujoco>'


def test_the_mass_of_a_mesh_on_what_stands_is_a_remark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinematics and the joints' efforts are those of MuJoCo, which has the mass."""
    reading = parse(standing(MESH + BALL))
    assert reading.description is not None
    mechanism = reading.description.mechanism
    (remark,) = (remark for remark in reading.remarks if "do not move" in remark.message)
    assert (remark.line, "'column' and 'plate'" in remark.message) == (1, True)
    assert [link.body.mass for link in mechanism.links[:2]] == [0, 0]  # not that of the ball alone
    compare(mechanism, standing(""), tmp_path, monkeypatch)
    model = mujoco.MjModel.from_xml_string(standing(MESH + BALL))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # (the bodies touch)
    data = mujoco.MjData(model)
    q, qd, qdd = np.array([0.3]), np.array([0.5]), np.array([0.7])
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    assert abs(mechanism.inverse_dynamics(q, qd, qdd) - data.qfrc_inverse)[0] < 1e-13  # N m, of 12: some roundings


def test_a_mass_that_is_lacking_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(standing(MESH + BALL))
    with pytest.warns(LinkwiseWarning, match=r"'column' and 'plate'.*floating=True") as caught:
        lw.load(path)
    assert [str(path) in str(warning.message) for warning in caught] == [True]
    with pytest.warns(LinkwiseWarning, match=r"line 1: .*'column'"):
        lw.loads(path.read_text())
    lw.loads(standing(BALL))
    hull = f'<body name="hull"><freejoint/>{BALL}</body>'
    beside = f'<mujoco>{ASSET}<worldbody><body name="shelf">{MESH}</body>{hull}</worldbody></mujoco>'
    assert lw.loads(beside).floating  # (the shelf is no part of this mechanism: no warning)


@pytest.mark.parametrize(
    "text",
    [
        f'<mujoco>{ASSET}<worldbody><body name="a"><joint/>{MESH}</body></worldbody></mujoco>',
        f'<mujoco>{ASSET}<worldbody><body name="a"><freejoint/>{BALL}<body name="b">{MESH}</body></body></worldbody></mujoco>',
        f'<mujoco>{ASSET}<worldbody><body name="a"><joint/>{BALL}<body name="b">{MESH}</body></body></worldbody></mujoco>',
        standing(MESH, '<compiler settotalmass="3"/>'),
    ],
)
def test_where_it_counts_it_is_refused(text: str) -> None:
    """On a body that moves, be it carried; and where a total is shared out among all bodies."""
    problems = parse(text).problems
    assert problems
    assert all("what MuJoCo makes of builtin 'wedge' is not known" in problem.message for problem in problems)


# ── free joints with more than a motion ──────────────────────────────────────────────────────────────────────

FREE = '<mujoco><default><joint armature="{}"/></default><worldbody><body name="hull"><joint type="free"/>{}<body name="leg"><joint name="hip"{}/>{}</body></body></worldbody></mujoco>'


def test_what_a_free_joint_says_is_dropped_by_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = '0.1" damping="0.3" frictionloss="0.2" stiffness="2'
    text = FREE.format(said, BALL, "", BALL)
    whole = parse(text).description
    assert whole is not None
    compare(whole.mechanism, text, tmp_path, monkeypatch)
    reading = parse(text, bare_free_joints=True)
    assert reading.description is not None
    left = ": armature 0.1, damping 0.3, frictionloss 0.2, stiffness 2"
    assert [remark.message for remark in reading.remarks if left in remark.message]
    compare(reading.description.mechanism, FREE.format(0, BALL, f' armature="{said}"', BALL), tmp_path, monkeypatch)


@pytest.mark.parametrize("law", ['damping="0.3" stiffness="2"', 'springdamper="0.2 0.7"'])
def test_friction_and_springs_of_free_joints_act_along_the_axes_of_the_world(
    law: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside what stands, tied to it by a tendon and a weld; what is written of it is the same."""
    said = f'type="free" armature="0.1" frictionloss="0.2" {law}'
    arm = ARM.replace('name="j" ', "")
    hull = f'<body name="hull" pos="1 2 3"><joint {said} name="j"/>{BALL}<site name="s"/>{arm}</body>'
    text = f'<mujoco><worldbody><site name="w" pos="0 0 1"/><body name="table">{BALL}</body>{hull}</worldbody><tendon>'
    text += '<spatial stiffness="5"><site site="w"/><site site="s"/></spatial></tendon>'
    text += '<equality><weld body1="table" body2="hull"/></equality></mujoco>'
    mechanism = read(text)
    assert mechanism.names == ("j_x", "j_y", "j_z", "arm")
    compare(mechanism, text, tmp_path, monkeypatch)
    written = writer.render(mechanism)
    compare(read(written), written, tmp_path, monkeypatch)
    again = read(written)
    assert again == mechanism or "springdamper" in law  # (its dampers are written among the springs of tendons)
    assert read(writer.render(again)) == again


# ── a quaternion beside the angles of a class ─────────────────────────────────────────────────────


def contested(said: str) -> str:
    classes = '<default><geom euler="0 90 0" type="box" size="0.1 0.2 0.3"/><site euler="0 90 0"/></default>'
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    return f'<mujoco>{classes}<worldbody><body name="a"><joint/>{inertial if "sphere" not in said else ""}{said}</body></worldbody></mujoco>'


def test_an_own_quaternion_counts_for_a_shape_with_a_remark() -> None:
    reading = parse(contested('<geom quat="1 0 0 0"/>'))
    assert reading.description is not None
    (shape,) = reading.description.shapes
    assert np.array_equal(shape.origin, np.eye(4))
    assert [remark.message for remark in reading.remarks if "'euler'" in remark.message]


@pytest.mark.parametrize("own", ['quat="1 0 0 0"', 'zaxis="1 0 0"', 'axisangle="1 0 0 30"', 'euler="10 20 30"'])
def test_every_other_orientation_of_its_own_counts_without(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a body that takes its mass from the geom: there all versions of MuJoCo agree, unless it is a quaternion."""
    text = contested(f"<geom {own}/>").replace('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>', "")
    if own.startswith("quat"):
        (problem,) = parse(text).problems
        assert "'euler'" in problem.message
    else:
        compare(read(text), text, tmp_path, monkeypatch)


def test_a_ball_looks_the_same_all_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = contested('<geom type="sphere" quat="1 0 0 0" pos="0.1 0.2 0.3"/>')
    compare(read(text), text, tmp_path, monkeypatch)


def test_a_contested_site_ties_points_but_no_frames() -> None:
    """A weld needs the site's axes, which versions of MuJoCo see differently."""
    other = (
        '<body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="t" zaxis="0 1 0"/></body>'
    )
    text = contested(f'<site name="s" quat="1 0 0 0"/>{other}').replace(
        "</mujoco>", '<equality><{} site1="s" site2="t"/></equality></mujoco>'
    )
    (problem,) = parse(text.format("weld")).problems
    assert "'s'" in problem.message
    assert "'euler'" in problem.message
    assert len(read(text.format("connect")).loops) == 1


# ── one of several mechanisms ─────────────────────────────────────────────────────────────────────

PELVIS = f'<body name="pelvis"><freejoint/>{BALL}<body name="leg"><joint name="hip"/>{BALL}<site name="sole"/></body></body>'
CUP = f'<body name="cup"><freejoint name="cup"/>{BALL}<body name="lid"><joint name="lid"/>{BALL}</body></body>'
ACTS = '<actuator><motor joint="hip" armature="0.1"/><motor joint="lid" armature="0.2"/></actuator>'
TIES = '<equality><weld body1="leg" body2="cup"/><weld body1="cup"/></equality>'


def scene(*inner: str, after: str = "", before: str = "") -> str:
    return f'<mujoco>{before}<worldbody><geom type="plane" size="1 1 1"/>{"".join(inner)}</worldbody>{after}</mujoco>'


def test_one_of_several_mechanisms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = scene(f"<frame>{CUP}</frame>", PELVIS, after=ACTS + TIES)
    both = read(scene(PELVIS, CUP))
    assert [link.joint for link in both.links if link.parent == "base"] == ["floating"] * 2
    reading = parse(text, root="pelvis")
    assert reading.description is not None, reading.problems
    (remark,) = (remark for remark in reading.remarks if "not connected to" in remark.message)
    assert remark.message.endswith("'pelvis': 'cup'")
    assert sum("on what root leaves out" in remark.message for remark in reading.remarks) == 2
    alone = scene(PELVIS, after='<actuator><motor joint="hip" armature="0.1"/></actuator>')
    assert reading.description.mechanism == read(alone)
    compare(reading.description.mechanism, alone, tmp_path, monkeypatch)
    assert read(scene(PELVIS, CUP), root="cup").names == ("lid",)


@pytest.mark.parametrize("root", ["leg", "none"])
def test_a_root_that_is_no_body_of_the_world(root: str) -> None:
    (problem, *_) = parse(scene(PELVIS, CUP), root=root).problems
    assert repr(root) in problem.message
    assert "'pelvis' or 'cup'" in problem.message


def test_a_total_mass_cannot_be_shared_out_among_some() -> None:
    text = scene(PELVIS, CUP, before='<compiler settotalmass="3"/>')
    assert any("settotalmass" in problem.message for problem in parse(text, root="pelvis").problems)
    assert read(scene(PELVIS, before='<compiler settotalmass="3"/>'), root="pelvis").n == 1


def test_options_reach_files_and_texts(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(scene(PELVIS, CUP))
    assert lw.load(path, root="pelvis") == lw.loads(path.read_text(), root="pelvis").replace(name="scene")
    path.write_text(FREE.format(0.1, BALL, "", BALL))
    assert lw.load(path, bare_free_joints=True).floating


def test_equalities_that_cannot_be_said_are_dropped_on_request() -> None:
    """A polynomial of a sum, a distance, and a sum with a joint that is held: a remark says that what they tie is free."""
    bodies = "".join(f'<body name="b{k}"><joint name="j{k}"/><geom size="1"/></body>' for k in range(5))
    tendon = "".join(f'<joint joint="j{k}" coef="1"/>' for k in (0, 1, 4))
    equalities = '<tendon tendon1="one" tendon2="two" polycoef="0 1 2 0 0"/><tendon tendon1="sum"/><distance/>'
    equalities += '<joint joint1="j4"/>'
    equalities += '<joint joint1="j2" joint2="j3" polycoef="0 2 0 0 0"/>'
    ones = '<fixed name="one"><joint joint="j0" coef="1"/></fixed>'
    ones += '<fixed name="two"><joint joint="j0" coef="1"/><joint joint="j1" coef="1"/></fixed>'
    text = f"<mujoco><worldbody>{bodies}</worldbody><tendon><fixed name='sum'>{tendon}</fixed>{ones}</tendon>"
    text += f"<equality>{equalities}</equality></mujoco>"
    reading = parse(text, drop_unknown=True)
    assert reading.description is not None, reading.problems
    assert reading.description.mechanism.names == ("j0", "j1", "j3")
    dropped = [str(remark) for remark in reading.remarks if "it is left out" in str(remark)]
    assert [
        part in line for part, line in zip(("of a sum of 2 joints", "only joints", "'j4' is held"), dropped, strict=True)
    ] == [True] * 3
    refused = [str(problem) for problem in parse(text).problems]
    assert len(refused) == 3
    assert all("drop_unknown=True" in problem for problem in refused)


def test_time_constants_that_nothing_can_have() -> None:
    """A joint without inertia gets no spring, as a remark says; the least time constant is MuJoCo's."""
    text = '<mujoco><worldbody><body><joint name="j" springdamper="{} 1"/>{}</body></worldbody></mujoco>'
    massless = parse(text.format(0.1, ""))
    assert massless.description is not None
    assert not massless.description.mechanism.springs
    assert any("moves no inertia of its own" in remark.message for remark in massless.remarks)
    least = text.format(1e-200, '<geom size="1"/>')
    (spring,) = parse(least).description.mechanism.springs  # type: ignore[union-attr]
    assert spring.stiffness == pytest.approx(mujoco.MjModel.from_xml_string(least).jnt_stiffness[0], rel=1e-12)  # type: ignore[attr-defined]


def test_a_body_outside_the_world_is_dropped_as_in_mujoco() -> None:
    text = '<mujoco><body name="part"><geom size="1"/></body></mujoco>'
    (problem,) = parse(text).problems
    assert problem.message.endswith("expected it in the <worldbody>; with drop_unknown=True it is left out")
    reading = parse(text, drop_unknown=True)
    assert reading.description is not None
    assert reading.description.mechanism.nv == mujoco.MjModel.from_xml_string(text).nv == 0
    assert any("<worldbody>; it is left out" in str(remark) for remark in reading.remarks)


def test_a_tendon_that_does_not_pull_is_left_out() -> None:
    """Whatever it goes around; the same with a stiffness is read."""
    body = '<body><joint/><geom name="pulley" size="1"/><site name="a"/></body><site name="b" pos="0 0 1"/>'
    path = '<site site="a"/><geom geom="pulley"/><site site="b"/>'
    text = "<mujoco><worldbody>{}</worldbody><tendon><spatial name='rope'{}>{}</spatial></tendon></mujoco>"
    reading = parse(text.format(body, "", path))
    assert any("<spatial> of <tendon> is not used" in str(remark) for remark in reading.remarks)
    assert not read(text.format(body, "", path)).springs
    (spring,) = read(text.format(body, " stiffness='4'", path)).springs
    assert spring.links == ("body1", "base")
    assert not any("rope" in str(remark) for remark in parse(text.format(body, ' stiffness="4"', path)).remarks)


def test_an_empty_row_of_numbers_is_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo reads it so; an empty word is a mistake there as here."""
    text = f"<mujoco><option gravity=''/><worldbody>{ARM}</worldbody></mujoco>".replace('pos="', 'rgba="" quat=" " pos="')
    text = text.replace('axis="0 1 0"', 'axis="" range="" damping=""')
    compare(read(text), text, tmp_path, monkeypatch)
    assert parse(text.replace('rgba=""', 'type=""')).problems
    masses = [read(f"<mujoco><worldbody><body><geom size='.1'{mass}/></body></worldbody></mujoco>").links[0].body.mass
              for mass in ("", " mass=''")]  # fmt: skip
    assert masses[0] == masses[1] > 4.0
    capsules = [f"<body><geom type='capsule' size='.1 .2' euler='90 0 0'{ends}/></body>" for ends in ("", " fromto=''")]
    text = f"<mujoco><worldbody>{''.join(capsules)}</worldbody></mujoco>"
    first, second = (link.body.tensor for link in read(text).links)
    assert np.array_equal(first, second)


def test_nothing_but_the_ground(tmp_path: Path) -> None:
    """A scene without bodies has no joints, and all dynamics of no size; MuJoCo loads it when it is written."""
    text = '<mujoco><worldbody><geom name="floor" type="box" size="1 1 1"/></worldbody></mujoco>'
    with pytest.warns(LinkwiseWarning, match="there is no <body>.*the ground alone"):
        mech = lw.loads(text)
    assert (mech.link_names, mech.nq, [shape.link for shape in mech.shapes]) == (("ground",), 0, ["base"])
    empty = np.zeros((5, 0))
    assert (mech.inverse_dynamics(empty, empty, empty).shape, mech.mass_matrix(empty).shape) == ((5, 0), (5, 0, 0))
    lw.save(mech, tmp_path / "ground.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "ground.xml")).nv == lw.load(tmp_path / "ground.xml").nv == 0
