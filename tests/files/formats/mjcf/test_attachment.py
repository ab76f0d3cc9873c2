"""Other files attached: with their own settings, classes, meshes and what refers to them, as MuJoCo does."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

import linkwise as lw
from linkwise.errors import FileError
from support.mujoco_from_mjcf import MujocoTwin

BALL = '<geom size="0.1" pos="0.1 0.2 0.3"/>'
CHILD = f"""<mujoco model="child"><compiler angle="radian" eulerseq="zyx" meshdir="meshes"/><option gravity="0 0 -1"/>
<default><joint damping="2"/><geom density="10"/><motor armature="0.3"/>
<default class="c"><joint armature="3"/></default></default>
<worldbody><geom size="1"/><body name="b" pos="1 0 0" euler="0.1 0.2 0.3"><joint name="j" range="-1 1"/>{BALL}
<body name="d" childclass="c"><joint name="k"/>{BALL}</body></body><body name="z"><joint name="zj"/>{BALL}</body>
<frame name="f" pos="0 2 0" euler="0.3 0 0.2"><body name="y"><joint name="yj"/>{BALL}</body>
<body name="x">{BALL}</body></frame></worldbody>
<tendon><fixed name="t" stiffness="3"><joint joint="j" coef="1"/></fixed></tendon>
<equality><joint joint1="j" joint2="k"/><joint joint1="zj" joint2="k"/></equality>
<actuator><motor name="m" joint="j" gear="2"/><motor joint="zj"/></actuator></mujoco>"""


def parent(*inner: str, model: str = '<model name="kid" file="child.xml"/>') -> str:
    first = f'<default><joint damping="7"/><geom density="500"/></default><asset>{model}</asset>'
    arm = f'<body name="a"><joint name="ja"/>{BALL}{"".join(inner)}</body>'
    return f"<mujoco>{first}<worldbody>{arm}</worldbody></mujoco>"


@pytest.mark.parametrize(
    ("name", "inner"),
    {
        "body": ['<attach model="kid" body="b" prefix="p-"/>'],
        "world": ['<frame pos="0 0 5" euler="10 20 30"><attach model="kid" prefix="p-"/></frame>'],
        "twice": [f'<attach model="kid" body="{body}" prefix="{body}-"/>' for body in ("b", "z")],
        "frame": ['<frame euler="0 0 40"><attach model="kid" frame="f" prefix="f-"/></frame>'],
        "repeated": ['<replicate count="2" offset="1 0 0"><attach model="kid" body="b" prefix="p-"/></replicate>'],
    }.items(),
)
def test_attached_as_by_mujoco(name: str, inner: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("child.xml").write_text(CHILD)
    Path("arm.xml").write_text(parent(*inner))
    MujocoTwin(lw.load("arm.xml"), mujoco.MjModel.from_xml_path("arm.xml")).compare(len(name))


def test_attached_in_what_is_attached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With meshes in the folder that each file names."""
    monkeypatch.chdir(tmp_path)
    Path("meshes").mkdir()
    faces = ["f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"]
    Path("meshes/wedge.obj").write_text("\n".join(["v 0 0 0", "v 1 0 0", "v 0 1 0", "v 0 0 1", *faces]))
    mesh = '<asset><mesh file="wedge.obj" inertia="exact"/></asset>'
    inner = CHILD.replace("<worldbody>", f"{mesh}<worldbody>").replace(BALL, BALL + '<geom type="mesh" mesh="wedge"/>', 2)
    Path("child.xml").write_text(inner)
    Path("middle.xml").write_text(parent('<attach model="kid" body="b" prefix="p-"/>'))
    text = parent('<attach model="m" body="a" prefix="q-"/>', model='<model name="m" file="middle.xml"/>')
    Path("arm.xml").write_text(text)
    arm, model = lw.load("arm.xml"), mujoco.MjModel.from_xml_path("arm.xml")
    assert arm.link_names == tuple(model.body(k).name for k in range(1, model.nbody))
    masses = [link.body.mass for link in arm.links]
    print(masses)
    assert masses == pytest.approx(model.body_mass[1:].tolist(), rel=1e-14)
    assert [arm.links[k].motor.viscous for k in range(4)] == model.dof_damping.tolist() == [7.0, 7.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ('<attach model="other" prefix="p"/>', "model is 'other'; expected 'kid'"),
        ('<attach model="kid"/>', "prefix is missing"),
        (
            '<attach model="kid" prefix="p" body="nobody"/>',
            "body is 'nobody'; expected one in the world of 'kid'",
        ),
        (
            '<attach model="kid" prefix="p" frame="b"/>',
            "frame is 'b'; expected one in the world of 'kid'",
        ),
    ],
)
def test_what_is_wrong_is_said(inner: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "child.xml").write_text(CHILD)
    (tmp_path / "arm.xml").write_text(parent(inner))
    with pytest.raises(FileError) as caught:
        lw.load(tmp_path / "arm.xml")
    assert why in str(caught.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(parent('<attach model="kid" prefix="p"/>'))
    with pytest.raises(FileError, match=r"<model> of 'child\.xml'"):
        lw.load(tmp_path / "arm.xml")


def test_the_options_of_an_attached_file_are_remarked_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("child.xml").write_text(CHILD)
    Path("arm.xml").write_text(parent('<attach model="kid" body="b" prefix="p-"/>'))
    told = [remark.message for remark in lw.files.remarks("arm.xml")]
    expected = "the <option> of an attached file is not used: that of the file which attaches it holds"
    assert [message for message in told if "<option>" in message] == [expected]
    Path("child.xml").write_text(CHILD.replace('<option gravity="0 0 -1"/>', ""))
    assert not any("<option>" in remark.message for remark in lw.files.remarks("arm.xml"))


def test_long_chains_are_repeated_and_attached(tmp_path: Path) -> None:
    """Bodies stand in each other to any depth, in a copy too."""
    count = 1500
    link = '<body pos="0 0 1"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    chain = link * count + "</body>" * count
    path = tmp_path / "chain.xml"
    path.write_text(f'<mujoco><worldbody><replicate count="2" offset="1 0 0">{chain}</replicate></worldbody></mujoco>')
    assert len(lw.load(path).links) == 2 * count
    path.write_text(f"<mujoco><worldbody>{chain}</worldbody></mujoco>")
    outer = tmp_path / "outer.xml"
    asset = '<asset><model name="chain" file="chain.xml"/></asset>'
    outer.write_text(f'<mujoco>{asset}<worldbody><attach model="chain" prefix="a"/></worldbody></mujoco>')
    assert len(lw.load(outer).links) == count
