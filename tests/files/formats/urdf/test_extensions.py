"""Joints that are not URDF's own, as Bullet and Drake say them: read, written, and read again."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import Motor, files
from linkwise.errors import FileError
from linkwise.files import save
from linkwise.files.formats.urdf import reader as urdf
from support.random_mechanisms import random_mechanism

BODY = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" iyz="0" ixz="0"/></inertial>'
LINKS = "".join(f'<link name="{name}">{BODY}</link>' for name in "ab")


def joint(kind: str, inner: str = "", tag: str = "drake:joint") -> str:
    ends = '<parent link="a"/><child link="b"/><origin xyz="0 0 1"/>'
    said = f'<{tag} name="j" type="{kind}">{ends}{inner}</{tag}>'
    return f'<robot name="r" xmlns:drake="http://drake.mit.edu">{LINKS}{said}</robot>'


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        (joint("spherical", tag="joint"), "ball", ("j_qw", "j_qx", "j_qy", "j_qz")),
        (joint("ball"), "ball", ("j_qw", "j_qx", "j_qy", "j_qz")),
        (joint("universal"), "universal", ("j_1", "j_2")),
        (joint("planar"), "planar", ("j_x", "j_y", "j_angle")),
    ],
)
def test_kinds(text: str, kind: str, names: tuple[str, ...]) -> None:
    mech = lw.loads(text)
    assert mech.links[1].joint == kind
    assert mech.coordinate_names == names
    assert urdf.parse(text).remarks == []


def test_axes_of_drake() -> None:
    """A universal joint turns about x, then about y; a planar one moves in x and y and turns about z."""
    x, y = 0.3, -0.7
    turned = lw.loads(joint("universal")).forward_kinematics([x, y], link="b")
    about_x = np.array([[1, 0, 0], [0, math.cos(x), -math.sin(x)], [0, math.sin(x), math.cos(x)]])
    about_y = np.array([[math.cos(y), 0, math.sin(y)], [0, 1, 0], [-math.sin(y), 0, math.cos(y)]])
    assert turned[:3, :3] == pytest.approx(about_x @ about_y, abs=1e-15)
    assert lw.loads(joint("planar")).forward_kinematics([2, 3, 0], link="b")[:3, 3].tolist() == [2, 3, 1]


def test_a_screw_and_damping() -> None:
    """The pitch is m for each turn; a planar joint has a damping for each of its coordinates."""
    said = '<axis xyz="0 0 1"/><drake:screw_thread_pitch value="0.5"/><dynamics damping="2"/>'
    screw = lw.loads(joint("screw", said))
    assert screw.forward_kinematics([2 * math.pi], link="b")[2, 3] == pytest.approx(1.5, abs=1e-15)
    assert screw.links[1].motor.reflected_viscous == 2.0
    for kind, said, expected in (("planar", "1 2 3", [1, 2, 3]), ("universal", "4", [4, 4])):
        damped = lw.loads(joint(kind, f'<dynamics damping="{said}"/>'))
        zero, qd = np.zeros(len(expected)), np.ones(len(expected))
        efforts = damped.inverse_dynamics(zero, qd, zero) - damped.replace(springs=[]).inverse_dynamics(zero, qd, zero)
        assert efforts == pytest.approx(expected, abs=1e-14)
    ball = lw.loads(joint("ball", '<dynamics damping="2"/>'))
    assert ball.friction_torque([1.0, -2.0, 0.5]).tolist() == [2.0, -4.0, 1.0]
    assert urdf.parse(joint("ball", '<dynamics damping="2 3 4"/>')).problems


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (joint("screw"), "joint 'j': it has no <drake:screw_thread_pitch>; expected one, m for each turn"),
        (joint("screw", "<drake:screw_thread_pitch/>"), "<drake:screw_thread_pitch> has no value"),
        (joint("helical"), "type is 'drake:helical'; expected 'fixed'"),
        (joint("ball", tag="joint"), "type is 'ball'; expected 'fixed'"),
        (joint("planar", '<dynamics damping="1 2"/>'), "damping of <dynamics> is '1 2'; expected 3 numbers"),
        (joint("universal", '<dynamics damping="-1"/>'), "its damping is -1.0; expected a number >= 0"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    reading = urdf.parse(text)
    assert reading.description is None
    assert message in " / ".join(problem.message for problem in reading.problems)


def test_written_and_read_again(tmp_path: Path) -> None:
    """Ball joints and screws keep poses and inverse dynamics, to the rounding of the angles in the file."""
    path, seed = tmp_path / "a.urdf", 1
    kinds = ["ball", "screw", "revolute", "ball", "floating", "planar"]
    written = random_mechanism(seed, kinds, motors=False, gravity=(0, 0, -9.81))
    save(written, path)
    back = lw.load(path)
    assert back.coordinate_names == written.coordinate_names
    q = written.random_configuration(seed)
    qd, qdd = np.random.default_rng(seed).normal(size=(2, written.nv))
    poses = [[m.forward_kinematics(q, link=name) for name in written.link_names] for m in (written, back)]
    efforts = [m.inverse_dynamics(q, qd, qdd) for m in (written, back)]
    apart, relative = np.abs(np.subtract(*poses)).max(), np.abs(np.subtract(*efforts)).max() / np.abs(efforts[0]).max()
    print(f"poses {apart:.1e}, inverse dynamics {relative:.1e}")
    assert apart < 2e-14
    assert relative < 1e-13


ROTOR = """
<robot name="lift" xmlns:drake="http://drake.mit.edu">
  <link name="floor"/>
  <link name="arm">
    <inertial><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
  </link>
  <joint name="turn" type="revolute">
    <parent link="floor"/><child link="arm"/>
    <limit lower="-1" upper="1" effort="5" velocity="3"/><dynamics damping="0.7"/>
  </joint>
  <transmission name="drive">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="turn"/>
    <actuator name="motor"><drake:gear_ratio value="20"/><drake:rotor_inertia value="0.001"/></actuator>
  </transmission>
</robot>
"""


def test_rotor_of_drake(tmp_path: Path) -> None:
    """Its inertia times the ratio squared is at the joint, as in Drake where that is installed."""
    path = tmp_path / "lift.urdf"
    path.write_text(ROTOR)
    mechanism = files.read(path).mechanism
    assert mechanism.links[-1].motor == Motor(inertia=0.001 * 20**2, viscous=0.7)
    assert not files.remarks(path)
    assert mechanism.mass_matrix([0.3])[0, 0] == pytest.approx(0.1 + 0.4, rel=1e-15)
    pytest.importorskip("pydrake", exc_type=ImportError)
    from support.drake_from_file import DrakeTwin, drake_plant

    path.write_text(ROTOR.replace('"floor"', '"world"'))  # (a root of another name floats in Drake)
    assert max(difference for _, difference in DrakeTwin(mechanism, drake_plant(path, [])).residuals(0)) < 1e-14


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('<joint name="turn"/>', '<joint name="tern"/>', "transmission 'drive': it has no joint with one coordinate"),
        ('<joint name="turn"/>', "", "transmission 'drive': it has no joint with one coordinate"),
        ('value="0.001"', 'value="few"', "transmission 'drive'"),
        ('value="0.001"', 'value="-1"', "inertia"),
        ('value="20"', 'value="nan"', "transmission 'drive'"),
    ],
)
def test_mistakes_of_a_rotor(tmp_path: Path, old: str, new: str, expected: str) -> None:
    path = tmp_path / "wrong.urdf"
    path.write_text(ROTOR.replace(old, new))
    with pytest.raises(FileError) as error:
        files.read(path)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [("SimpleTransmission", "DifferentialTransmission"), ('<drake:rotor_inertia value="0.001"/>', ""), ('"5"', '"0"')],
)
def test_transmissions_without_a_rotor(tmp_path: Path, old: str, new: str) -> None:
    """Another transmission, none of Drake's elements, or a joint without effort, which has no actuator in Drake."""
    path = tmp_path / "lift.urdf"
    path.write_text(ROTOR.replace(old, new))
    assert files.read(path).mechanism.links[-1].motor == Motor(viscous=0.7)
    assert files.remarks(path)


def test_drakes_limit_of_the_acceleration_is_read_and_written(tmp_path: Path) -> None:
    limit = '<limit lower="-1" upper="1" effort="2" velocity="3" drake:acceleration="7"/>'
    path = tmp_path / "arm.urdf"
    path.write_text(joint("revolute", '<axis xyz="0 0 1"/>' + limit, tag="joint"))
    assert files.remarks(path) == []
    mech = lw.load(path)
    link = mech.links[-1]
    assert (link.qd_max, link.qdd_max, link.tau_max) == (3.0, 7.0, 2.0)
    save(mech, path)
    assert [(one.qd_max, one.qdd_max, one.tau_max) for one in lw.load(path).links][-1] == (3.0, 7.0, 2.0)
    path.write_text(path.read_text().replace('"7.0"', '"-7.0"'))
    with pytest.raises(FileError, match=r"joint 'j': its drake:acceleration limit is -7\.0"):
        lw.load(path)
    pytest.importorskip("pydrake", exc_type=ImportError)
    from support.drake_from_file import drake_plant

    save(mech, path)
    assert drake_plant(path, []).GetJointByName("j").acceleration_upper_limits().tolist() == [7.0]
