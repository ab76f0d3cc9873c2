# ruff: noqa: E501  (XML and messages stand on one line, as they are told)
"""What an MJCF file becomes: names, joints, motors, shapes, remarks; files that include others; through `load` and `save`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import FileError
from linkwise.files import check, read, remarks
from linkwise.files.formats.mjcf import reader as mjcf
from linkwise.files.formats.mjcf.document import MOST_FILES
from linkwise.files.registry import ReadOptions
from linkwise.files.report import Description

BALL = '<geom size="0.1"/>'


def parsed(text: str) -> Description:
    reading = mjcf.parse(text, "test")
    assert reading.description is not None, reading.problems
    return reading.description


def remarked(text: str) -> list[str]:
    reading = mjcf.parse(text, "test")
    assert reading.description is not None, reading.problems
    return [str(remark) for remark in reading.remarks]


def world(inner: str, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{inner}</worldbody>{after}</mujoco>"


def test_names() -> None:
    mech = parsed(
        world(
            f'<body name="hips"><joint name="x" type="slide"/><joint/><joint name="turn"/>{BALL}'
            f'<body>{BALL}</body><body name="base"><joint/>{BALL}</body><body name="leg"><joint name="leg"/>{BALL}</body></body>'
        )
    ).mechanism
    assert mech.link_names == ("hips_x", "hips_2", "hips", "body2", "base_link", "leg")
    assert mech.names == ("x", "hips_2", "turn", "base_link", "leg")
    assert [link.parent for link in mech.links] == ["base", "hips_x", "hips_2", "hips", "hips", "hips"]
    assert mech.name == "test"
    assert parsed('<mujoco model="walker"><worldbody><body/></worldbody></mujoco>').mechanism.name == "walker"


def test_a_joint_is_a_link_with_mujocos_coordinate() -> None:
    """q is MuJoCo's qpos: limits are those of the file, and the reference is where the pose is as described."""
    said = 'range="-90 45" ref="30" armature="0.2" damping="0.5" frictionloss="0.1" actuatorfrcrange="-20 20"'
    link = parsed(world(f'<body name="arm" pos="0 0 1"><joint name="j" axis="0 2 0" pos="0.1 0 0" {said}/>{BALL}</body>'))
    arm = link.mechanism.links[0]
    assert (arm.joint, arm.joint_name, arm.axis.tolist()) == ("revolute", "j", [0.0, 1.0, 0.0])
    assert arm.limits == (math.radians(-90), math.radians(45))
    assert arm.motor == lw.Motor(inertia=0.2, viscous=0.5, coulomb=0.1)
    assert arm.tau_max == 20.0
    at_reference = np.asarray(arm.placement(math.radians(30)), dtype=float)
    assert np.abs(at_reference - np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])).max() < 1e-16


def test_a_free_joint_is_a_floating_base() -> None:
    text = world(f'<body name="hull" pos="1 2 3"><freejoint/>{BALL}<body name="fin"><joint/>{BALL}</body></body>')
    mech = parsed(text).mechanism
    assert mech.floating
    assert mech.link_names == ("hull", "fin")
    assert mech.names == ("fin",)
    q = np.array([1, 2, 3, 0.5, 0.5, 0.5, 0.5, 0.0])
    assert mech.forward_kinematics(q, link="hull")[:3, 3].tolist() == [1, 2, 3]


def test_motors_of_actuators() -> None:
    text = world(
        f'<body><joint name="a" armature="0.1"/>{BALL}</body>',
        after='<actuator><motor joint="a" gear="50" armature="2e-5" damping="1e-4"/><motor joint="a" gear="50"/></actuator>',
    )
    mech = parsed(text).mechanism
    assert mech.motors == (lw.Motor(joint="a", inertia=2e-5, gear_ratio=50.0, viscous=1e-4),)
    assert mech.links[0].motor == lw.Motor(inertia=0.1)


def test_shapes() -> None:
    shapes = parsed(
        world(
            '<geom type="plane" size="1 1 1"/><geom name="rail" type="capsule" size="0.1 0.5"/>'
            '<body name="arm"><geom type="box" size="1 2 3" rgba="1 0 0 0.5" material="steel" contype="0" conaffinity="0"/>'
            '<geom type="cylinder" size="0.1" fromto="0 0 0 0 0 2"/><geom type="mesh" mesh="m" mass="0"/></body>'
        )
    ).shapes
    said = [(shape.link, shape.kind, shape.size, shape.role, shape.name) for shape in shapes]
    assert said == [
        ("base", "capsule", (0.1, 1.0), "collision", "rail"),
        ("arm", "box", (2.0, 4.0, 6.0), "visual", None),
        ("arm", "cylinder", (0.1, 2.0), "collision", None),
    ]
    assert (shapes[1].colour, shapes[1].material) == ((1.0, 0.0, 0.0, 0.5), "steel")
    assert shapes[2].origin[:3, 3].tolist() == [0.0, 0.0, 1.0]


REMARKS = {
    "spring": (
        world(f'<body><joint name="j" stiffness="-20 0 3" springref="90"/>{BALL}</body>'),
        "line 1: joint 'j': its spring is left out, for its stiffness is negative: "
        "it pulls with -(-20.0 x + 3.0 x^3), x = q - 1.5707963267948966",
    ),
    "spring of a ball joint": (
        world(f'<body><joint name="j" type="ball" stiffness="20 0 3"/>{BALL}</body>'),
        "line 1: joint 'j': its spring is left out, for it is not linear: it pulls with -(20.0 x + 3.0 x^3), x = q",
    ),
    "a tendon that yields": (
        world(f'<body name="b"><joint name="j"/>{BALL}</body>', after='<tendon>\n<fixed name="t" stiffness="1" springyield="1"><joint joint="j" coef="1"/></fixed></tendon>'),
        "line 2: tendon 't': its spring and damper are left out, for it yields",
    ),
    "spring and damper of two hinges on one axis": (
        world(f'<body><joint name="j" springdamper="0.1 1"/><joint name="k"/>{BALL}</body>'),
        "line 1: joint 'j': springdamper is left out, for the joint moves no inertia of its own",
    ),
    "spring and damper beside a joint that is held": (
        world(f'<body><joint name="i" springdamper="0.1 1"/><joint name="j"/>{BALL}</body>').replace(
            "</mujoco>", '<equality><joint joint1="j"/></equality></mujoco>'
        ),
        "line 1: joint 'i': springdamper is left out, for MuJoCo counts with inertias in which no joint is held",
    ),
    "a spring that yields": (
        world(f'<body><joint name="j" stiffness="3" springyield="0.5"/>{BALL}</body>'),
        "line 1: joint 'j': springyield = 0.5 is left out, for a spring here does not yield",
    ),
    "damping of higher order": (
        world(f'<body><joint name="j" damping="1 2"/>{BALL}</body>'),
        "line 1: joint 'j': damping is [1.0, 2.0]; parts that are not proportional to the velocity are left out",
    ),
    "one-sided effort": (
        world(f'<body><joint name="j" actuatorfrcrange="-1 2"/>{BALL}</body>'),
        "line 1: joint 'j': actuatorfrcrange is [-1.0, 2.0]; an effort limit holds both ways here, so it is left out",
    ),
    "gravity compensation": (
        world(f'<body name="a" gravcomp="1"><joint name="j" actuatorgravcomp="true"/>{BALL}</body>'),
        "line 1: body 'a': gravcomp is left out, for by actuatorgravcomp of joint 'j' it is an actuator's",
    ),
    "gravity compensation of which an actuator does a part": (
        world(f'<body><joint name="i"/>{BALL}<body name="a" gravcomp="1"><joint name="j" actuatorgravcomp="true"/>{BALL}</body></body>'),
        "line 1: body 'a': gravcomp is left out, for by actuatorgravcomp of joint 'j' it is an actuator's, so it acts at joint 'i'"
        " alone, which no force with a potential does",
    ),
    "a fluid": (
        world(f"<body>{BALL}</body>", '<option viscosity="0.1"/>'),
        "line 1: the attribute 'viscosity' of <option> is not used: the drag of a fluid is a force that Linkwise does not have",
    ),
    "sensors": (
        world("<body/>", after="<sensor><clock/></sensor>"),
        "line 1: <sensor> is not used: Linkwise has no sensors",
    ),
    "tendons, each kind once": (
        world("<body/>", after='<tendon>\n<fixed/><spatial/>\n<fixed/></tendon>'),
        "line 2: <fixed> of <tendon> is not used (2 of them, the first here): only tendons with a stiffness, damping or armature of their own act here",
    ),
    "a tendon around a geom that is fitted to a mesh": (
        world(f'<geom name="g" type="cylinder" mesh="m" mass="0"/><body name="b"><joint/>{BALL}<site name="s"/></body><site name="w"/>', after='<tendon>\n<spatial name="t" stiffness="1"><site site="w"/><geom geom="g"/><site site="s"/></spatial></tendon>'),
        "line 2: tendon 't': its spring and damper are left out, for it goes around a geom that is fitted to a mesh",
    ),
    "a tendon on one body": (
        world(f'<body name="b"><joint/>{BALL}<site name="s"/><site name="r"/></body>', after='<tendon>\n<spatial name="t" stiffness="1"><site site="r"/><site site="s"/></spatial></tendon>'),
        "line 2: tendon 't': its spring and damper are left out, for its sites are on one body",
    ),
    "cameras": (world("<body><camera/></body>"), "line 1: <camera> is not used: it is for pictures"),
    "a site": (world("<body><site/></body>"), "line 1: <site> is not used: a frame without a constraint on it"),
    "mocap": (world('<body mocap="true"/>'), "line 1: the attribute 'mocap' of <body> is not used: such a body stands still here"),
    "base": (world('<body name="base"/>'), "line 1: body 'base' is called 'base_link', for 'base' means the ground"),
    "beside a floating base": (
        world(f'<body name="table"/><body><freejoint/>{BALL}</body>'),
        "line 1: body 'table' is left out: it is on the ground, which is impossible for a body of a floating mechanism",
    ),
    "aligned": (
        world(f'<body name="a"><freejoint align="true"/>{BALL}</body>'),
        "line 1: body 'a': its frame stays as the file has it; MuJoCo aligns it and takes that of its inertia",
    ),
    "a free joint with friction": (
        world(f'<body name="a"><joint name="j" type="free" frictionloss="1"/>{BALL}</body>'),
        "line 1: joint 'j': its friction or spring is along the axes of the world, so it is read as three prismatic joints"
        " and a ball joint; bare_free_joints=True leaves that out",
    ),
    "balanced": (
        world('<body name="a"><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>', '<compiler balanceinertia="true"/>'),
        "line 1: body 'a': its moments of inertia are made equal, for balanceinertia is 'true'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REMARKS)
def test_remarks(name: str) -> None:
    text, expected = REMARKS[name]
    assert expected in remarked(text)


def test_no_remark_where_nothing_is_left_out() -> None:
    assert remarked(world(f'<body><joint stiffness="0"/>{BALL}</body>')) == []
    assert remarked(world(f'<body><joint stiffness="2"/>{BALL}</body>', '<option><flag spring="disable"/></option>')) == []


def test_limits_and_friction_that_are_switched_off() -> None:
    body = f'<body><joint range="-10 10" frictionloss="2"/>{BALL}</body>'
    off = parsed(world(body, '<option><flag limit="disable" frictionloss="disable"/></option>')).mechanism.links[0]
    assert off.limits is None
    assert off.motor is None
    again = '<option><flag limit="disable"/></option><option><flag limit="enable"/></option>'
    assert parsed(world(body, again)).mechanism.links[0].limits is not None


def test_physical_false() -> None:
    """Only what cannot exist is marked."""
    text = world(f'<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body><body>{BALL}</body>')
    reading = mjcf.parse(text, "test", ReadOptions(physical=False))
    assert reading.description is not None
    assert [link.body.physical for link in reading.description.mechanism.links] == [False, True]


# ── through files ─────────────────────────────────────────────────────────────────────────────────


def test_load_by_content(tmp_path: Path) -> None:
    for name in ("arm.xml", "arm.mjcf"):
        path = tmp_path / name
        path.write_text('<?xml version="1.0"?>\n<!-- <robot> -->\n' + world(f"<body><joint/>{BALL}</body>", "<!-- x -->"))
        assert lw.load(path).n == 1
        assert lw.load(path).name == "arm"
        assert check(path) == []
        assert remarks(path) == []


def test_written_as_toml_it_is_the_same(tmp_path: Path) -> None:
    source = tmp_path / "arm.xml"
    source.write_text(
        world(
            f'<body name="a" euler="1 2 3"><joint name="x" range="-90 90" damping="1"/><joint name="y" type="slide" ref="1"/>{BALL}'
            f'<body name="b"><joint name="z"/>{BALL}</body></body>',
            after='<equality><joint joint1="z" joint2="x"/><connect body1="b" anchor="0 0 1"/></equality>'
            '<actuator><motor joint="z" armature="0.1" gear="3"/></actuator>',
        )
    )
    mech = lw.load(source)
    lw.save(mech, tmp_path / "arm.toml")
    assert lw.load(tmp_path / "arm.toml") == mech


def test_an_axis_whose_square_overflows() -> None:
    """MuJoCo makes zero of it."""
    text = '<mujoco><worldbody><body><joint axis="3e200 -4e200 0"/><geom size="1"/></body></worldbody></mujoco>'
    reading = mjcf.parse(text)
    assert reading.description is not None
    assert np.abs(reading.description.mechanism.links[0].axis - [0.6, -0.8, 0]).max() < 2e-16


# ── files that include others ─────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "models" / "parts"
    inner.mkdir(parents=True)
    (inner / "defaults.xml").write_text('<mujocoinclude><default><geom size="0.2"/></default></mujocoinclude>')
    (inner / "limb.xml").write_text(
        '<any>\n<body name="limb"><joint/><geom/></body>\n<include file="parts/hand.xml"/></any>'
    )
    (inner / "hand.xml").write_text('<any><body name="hand"><joint/>\n<geom siz="2"/></body></any>')
    (tmp_path / "secret.xml").write_text('<any><body name="secret"/></any>')
    return tmp_path / "models"


def included(folder: Path, *files: str) -> Path:
    path = folder / "main.xml"
    path.write_text(
        '<mujoco>\n<include file="parts/defaults.xml"/>\n<worldbody>\n'
        + "".join(f'<include file="{file}"/>\n' for file in files)
        + '<body name="own"/></worldbody></mujoco>'
    )
    return path


def test_includes(folder: Path) -> None:
    (folder / "parts" / "hand.xml").write_text('<any><body name="hand"><joint/><geom/></body></any>')
    mech = read(included(folder, "parts/limb.xml")).mechanism
    assert mech.link_names == ("limb", "hand", "own")
    assert abs(mech.links[0].body.mass - 1000 * 4 / 3 * math.pi * 0.2**3) < 1e-13


def test_an_include_is_looked_for_beside_the_including_file_too(folder: Path) -> None:
    (folder / "parts" / "limb.xml").write_text('<any><body name="limb"/><include file="foot.xml"/></any>')
    (folder / "parts" / "foot.xml").write_text('<any>\n<body name="foot"><joint axis="0 0 0"/></body></any>')
    assert [str(problem) for problem in check(included(folder, "parts/limb.xml"))] == [
        "line 4: in 'parts/foot.xml', line 2: <joint>: axis is [0.0, 0.0, 0.0]; expected a direction"
    ]


def test_problems_of_included_files(folder: Path) -> None:
    assert [str(problem) for problem in check(included(folder, "parts/limb.xml"))] == [
        "line 4: in 'parts/hand.xml', line 2: <geom> has no attribute 'siz' (did you mean 'size'?)"
    ]


LEAVES = "the path leaves the folder of the main file, and only files in it or below it are read; include_root names another folder that may be read"


@pytest.mark.parametrize(("said", "why"), [
    ("../secret.xml", LEAVES),
    ("parts/../../secret.xml", LEAVES),
    ("/etc/hostname", LEAVES),
    ("C:\\\\x.xml", LEAVES),
    ("parts/none.xml", "there is no such file"),
    ("parts", "this is a folder, not a file"),
    ("parts/defaults.xml", "it is included already"),
])  # fmt: skip
def test_includes_that_are_refused(folder: Path, said: str, why: str) -> None:
    assert [str(problem) for problem in check(included(folder, said))] == [f"line 4: <include> of {said!r}: {why}"]


def test_a_link_out_of_the_folder_is_not_followed(folder: Path) -> None:
    (folder / "parts" / "link.xml").symlink_to(folder.parent / "secret.xml")
    assert "the path leaves the folder" in str(check(included(folder, "parts/link.xml"))[0])


def test_a_folder_that_is_named_may_be_included_from(folder: Path) -> None:
    path = included(folder, "../secret.xml")
    for root in (folder.parent, str(folder.parent)):
        assert read(path, include_root=root).mechanism.link_names == ("secret", "own")
    assert read(included(folder, str(folder.parent / "secret.xml")), include_root=folder.parent).mechanism.n == 0
    problem = check(path, include_root=folder / "parts")[0]
    assert "include_root" in problem.message
    assert repr(str((folder / "parts").resolve())) in problem.message
    (folder / "parts" / "hand.xml").write_text('<any><body name="hand"/></any>')
    text = included(folder, "parts/limb.xml").read_text()
    assert lw.loads(text, include_root=folder).link_names == ("limb", "hand", "own")
    with pytest.raises(FileError, match="the folder of this text is not known"):
        lw.loads(text)


def test_problems_of_a_file_above_name_it(folder: Path) -> None:
    (folder.parent / "secret.xml").write_text('<any>\n<body name="secret" sise="1"/></any>')
    (problem,) = check(included(folder, "../secret.xml"), include_root=folder.parent)
    assert (problem.line, "'../secret.xml', line 2" in problem.message) == (4, True)


def test_included_files_are_not_larger_together_than_one_may_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "parts" / "hand.xml").write_text('<any><body name="hand"/></any>')
    sizes = {name: len((folder / "parts" / f"{name}.xml").read_text()) for name in ("defaults", "limb", "hand")}
    monkeypatch.setattr("linkwise.files.formats.mjcf.document.LARGEST_DESCRIPTION", sum(sizes.values()))
    path = included(folder, "parts/limb.xml")
    assert check(path) == []
    monkeypatch.setattr("linkwise.files.formats.mjcf.document.LARGEST_DESCRIPTION", sum(sizes.values()) - 1)
    (told,) = check(path)
    assert told.line == 4
    assert "<include> of 'parts/hand.xml': " in told.message
    assert told.message.endswith("with it the included files are larger than 0 MB together")


def test_an_equality_of_an_included_file_tells_the_line_of_the_including_one(folder: Path) -> None:
    (folder / "parts" / "ties.xml").write_text('<any>\n\n\n\n\n\n<weld class="x" body1="own"/></any>')
    path = included(folder)
    path.write_text(
        path.read_text().replace("</mujoco>", '\n<equality><include file="parts/ties.xml"/></equality></mujoco>')
    )
    assert [str(problem) for problem in check(path)] == [
        "line 5: in 'parts/ties.xml', line 7: <weld>: class is 'x'; the classes are 'main'"
    ]


def test_rings_of_includes(folder: Path) -> None:
    (folder / "parts" / "limb.xml").write_text('<any><include file="parts/hand.xml"/></any>')
    (folder / "parts" / "hand.xml").write_text('<any>\n<include file="parts/limb.xml"/></any>')
    assert [str(problem) for problem in check(included(folder, "parts/limb.xml"))] == [
        "line 4: in 'parts/hand.xml', line 2: <include> of 'parts/limb.xml': it is included already"
    ]


def test_an_included_file_that_is_no_xml(folder: Path) -> None:
    (folder / "parts" / "limb.xml").write_text('<!DOCTYPE any SYSTEM "/etc/passwd"><any/>')
    assert "line 4: <include> of 'parts/limb.xml': line 1: a document type" in str(
        check(included(folder, "parts/limb.xml"))[0]
    )


def test_many_includes(folder: Path) -> None:
    for k in range(MOST_FILES + 1):
        (folder / f"{k}.xml").write_text("<any/>")
    problems = check(included(folder, *(f"{k}.xml" for k in range(MOST_FILES + 1))))
    assert str(problems[0]).endswith(f"{MOST_FILES} files are included already")
    assert len(problems) == 2  # one is the file with the defaults


def test_a_time_constant_overrules_the_stiffness() -> None:
    """As in MuJoCo, springdamper says the spring and the damper of a joint that says them as numbers too."""
    said = 'springdamper="0.1 1" stiffness="10" damping="3"'
    mech = parsed(world(f'<body><joint name="j" {said}/>{BALL}</body>')).mechanism
    inertia = float(mech.mass_matrix([0.0])[0, 0])
    assert np.allclose([mech.springs[0].stiffness, mech.springs[0].damping], [100.0 * inertia, 20.0 * inertia], rtol=1e-14)
    assert mech.links[0].motor is None


def test_repeated_farther_than_numbers_go() -> None:
    """An overflow on the way is no warning of NumPy: the place that comes of it is reported."""
    text = world(f'<replicate count="9" offset="1e308 0 0" sep="-"><body name="b"><joint/>{BALL}</body></replicate>')
    assert "'inf' is not a finite number" in str(mjcf.parse(text, "test").problems[0])
