"""Collision shapes come with the mechanism from every format that has them, and go back."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import FileError
from linkwise.files import read
from linkwise.spatial.transform import transform

URDF = """<robot name="r"><link name="world"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><sphere radius="9"/></geometry></visual>
<collision><origin xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/>
<geometry><cylinder radius="0.05" length="0.4"/></geometry></collision>
<collision><geometry><mesh filename="tetrahedron.obj" scale="2 2 2"/></geometry></collision>
</link><joint name="j" type="continuous"><parent link="world"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""

MJCF = """<mujoco><worldbody><geom type="box" size="1 1 0.1" pos="0 0 -0.5"/><body><joint type="hinge"/>
<geom type="capsule" size="0.05 0.2" pos="0.3 0 0" mass="1"/>
<geom type="sphere" size="0.5" contype="0" conaffinity="0" mass="0"/>
</body></worldbody></mujoco>"""

SDF = """<sdf version="1.9"><model name="m"><link name="arm"><collision name="c"><pose>0.1 0 0 0 0 0</pose><geometry>
<box><size>0.1 0.2 0.3</size></box></geometry></collision><inertial><mass>1</mass></inertial></link></model></sdf>"""

TETRAHEDRON = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def test_a_urdf_with_a_mesh(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "tetrahedron.obj").write_text(TETRAHEDRON)
    arm = lw.load(tmp_path / "arm.urdf")
    assert [(shape.kind, shape.role) for shape in arm.shapes] == [("cylinder", "collision"), ("mesh", "collision")]
    assert sorted(arm.shapes[1].vertices().sum(axis=1).round(6)) == [0.0, 0.1, 0.1, 0.1]
    ball = lw.Shape("world", "sphere", 0.1, origin=(0.0, 1.0, 0.0))
    bound, exact = arm.clearance([np.pi / 2], [ball]), arm.clearance([np.pi / 2], [ball], exact=True)
    print(bound.distance, exact.distance, bound.excess)
    assert abs(exact.distance[0] - 0.5) < 1e-9
    assert (exact.distance - bound.distance <= bound.excess + 1e-9).all()
    assert (exact.distance >= bound.distance).all()
    again = tmp_path / "other"
    again.mkdir()
    (again / "arm.urdf").write_text(URDF)
    with pytest.raises(lw.errors.ArgumentError, match=r"tetrahedron\.obj"):
        lw.load(again / "arm.urdf").clearance([0.1], [ball])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MJCF, [("box", (2.0, 2.0, 0.2)), ("capsule", (0.05, 0.4))]),
        (SDF, [("box", (0.1, 0.2, 0.3))]),
    ],
)
def test_other_formats(text, expected):
    found = [(shape.kind, shape.size) for shape in lw.loads(text).shapes]
    assert found == expected


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".xml"])
def test_written_and_read_again(tmp_path, suffix):
    shapes = [lw.Shape.rod("arm", (0, 0, 0), (0.3, 0.1, 0.2), 0.05, name="rod")]
    shapes += [lw.Shape("arm", "box", (0.1, 0.2, 0.3), role="collision", origin=transform(None, [0.1, 0.2, 0.3]))]
    arm = lw.Mechanism([lw.Link(name="arm", mass=1.0, inertia=(1, 1, 1))], shapes=shapes, name="one")
    lw.save(arm, tmp_path / f"one{suffix}")
    again = lw.load(tmp_path / f"one{suffix}").shapes
    assert [(s.link, s.kind, s.role) for s in again] == [(s.link, s.kind, s.role) for s in shapes]
    assert max(abs(a.origin - b.origin).max() for a, b in zip(again, shapes, strict=True)) < 1e-15
    assert max(abs(np.subtract(a.size, b.size)).max() for a, b in zip(again, shapes, strict=True)) < 1e-15
    if suffix == ".toml":
        assert lw.load(tmp_path / "one.toml") == arm
        assert read(tmp_path / "one.toml").shapes == tuple(shapes)


def test_a_format_without_shapes_refuses_them(tmp_path):
    arm = lw.robots.puma560().with_shapes([lw.Shape("link1", "sphere", 0.1, role="collision")])
    with pytest.raises(FileError, match="shapes"):
        lw.save(arm, tmp_path / "a.dat")


def test_mistakes_in_a_toml_have_lines():
    text = 'format = "linkwise 1"\n[[link]]\nname = "arm"\n[[shape]]\nlink = "leg"\nkind = "sphere"\nsize = 0.1\n'
    with pytest.raises(FileError, match=r"line 5.*leg"):
        lw.loads(text)
    with pytest.raises(FileError, match=r"line 6.*ball"):
        lw.loads(text.replace("leg", "arm").replace('"sphere"', '"ball"'))
