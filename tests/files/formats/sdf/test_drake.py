"""Drake's own elements of SDF, held against Drake itself where it is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwise import Mimic, Motor, files
from linkwise.errors import FileError

CART = """
<sdf version="1.9" xmlns:drake="http://drake.mit.edu">
  <model name="crane">
    <link name="floor"/>
    <frame name="rail" attached_to="floor"><pose>0.3 0 0.2 0.4 0 0</pose></frame>
    <link name="cart">
      <pose>0.1 0.2 0.3 0.1 0 0</pose>
      <inertial>
        <pose>0.1 0 0.05 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia>
      </inertial>
    </link>
    <frame name="low" attached_to="cart"><pose>0 0 -0.1 0 0.2 0</pose></frame>
    <link name="arm">
      <pose>0.1 0.2 0.5 0 0 0</pose>
      <inertial>
        <pose>0 0 0.2 0 0 0</pose><mass>1</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia>
      </inertial>
    </link>
    <joint name="ground" type="fixed"><parent>world</parent><child>floor</child></joint>
    <drake:joint name="slides" type="planar">
      <drake:parent>rail</drake:parent><drake:child>low</drake:child><drake:damping>1 2 3</drake:damping>
    </drake:joint>
    <joint name="turns" type="revolute">
      <parent>cart</parent><child>arm</child>
      <axis>
        <xyz>0 1 0</xyz>
        <limit><effort>9</effort><drake:acceleration>4</drake:acceleration></limit>
        <dynamics><damping>0.5</damping></dynamics>
      </axis>
      <drake:gear_ratio>10</drake:gear_ratio><drake:rotor_inertia>0.003</drake:rotor_inertia>
    </joint>
  </model>
</sdf>
"""


@pytest.fixture
def crane(tmp_path: Path) -> Path:
    (tmp_path / "crane.sdf").write_text(CART)
    return tmp_path / "crane.sdf"


def test_moves_as_in_drake(crane: Path) -> None:
    """A planar joint between two frames, which meet at zero, and a rotor with its gear."""
    pytest.importorskip("pydrake", exc_type=ImportError)
    from support.drake_from_file import DrakeTwin, drake_plant

    twin = DrakeTwin(files.read(crane).mechanism, drake_plant(crane, []))
    assert len(twin.bodies) == 3
    for what, difference in twin.residuals(1):
        assert difference < 1e-13, f"{what}: {difference:.1e}"  # rounding of three bodies


def test_the_first_of_two_elements_counts_on_request(crane: Path) -> None:
    """As in libsdformat, by which Drake reads: each element is looked up as the first of its tag."""
    twice = CART.replace("<mass>1</mass>", "<mass>1</mass><mass>7</mass>").replace(
        '<link name="arm">', '<link name="arm"><pose>0.1 0.2 0.5 0.1 0 0</pose>'
    )
    crane.write_text(twice)
    with pytest.raises(FileError, match=r"<pose> occurs twice.*drop_unknown=True") as caught:
        files.read(crane)
    assert len(caught.value.problems) == 2
    mechanism = files.read(crane, drop_unknown=True).mechanism
    assert sum("occurs twice" in str(remark) for remark in files.remarks(crane, drop_unknown=True)) == 2
    assert mechanism.links[-1].body.mass == 1.0
    pytest.importorskip("pydrake", exc_type=ImportError)
    from support.drake_from_file import DrakeTwin, drake_plant

    for what, difference in DrakeTwin(mechanism, drake_plant(crane, [])).residuals(1):
        assert difference < 1e-13, f"{what}: {difference:.1e}"  # rounding of three bodies


BACKWARDS = """
<sdf version="1.9">
  <model name="hoist">
    <link name="floor"><pose>0.3 0 0.2 0.4 0 0</pose></link>
    <link name="cart"><pose>0.1 0.2 0.3 0.1 0 0</pose>
      <inertial><pose>0.1 0 0.05 0 0 0</pose><mass>2</mass>
        <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial>
    </link>
    <link name="arm"><pose>0.1 0.2 0.5 0 0.3 0</pose>
      <inertial><pose>0 0 0.2 0 0 0</pose><mass>1</mass>
        <inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial>
    </link>
    <link name="lamp"><pose>0.4 0.2 0.5 0 0 0</pose>
      <inertial><pose>0.1 0 0 0 0 0</pose><mass>1</mass>
        <inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial>
    </link>
    <joint name="ground" type="fixed"><parent>world</parent><child>floor</child></joint>
    <joint name="hangs" type="revolute"><parent>arm</parent><child>lamp</child><axis><xyz>1 2 0</xyz></axis></joint>
    <joint name="turns" type="revolute"><parent>arm</parent><child>cart</child><pose>0 0.1 0.2 0.5 0 0</pose>
      <axis><xyz>0 1 0.3</xyz><limit><lower>-1</lower><upper>2</upper></limit>
        <dynamics><damping>0.5</damping></dynamics></axis>
    </joint>
    <joint name="slides" type="prismatic"><parent>cart</parent><child>floor</child><pose>0 0.3 0 0 0 1</pose>
      <axis><xyz>1 0 0.2</xyz><dynamics><spring_stiffness>7</spring_stiffness></dynamics></axis>
    </joint>
  </model>
</sdf>
"""


def test_joints_whose_child_stands_on_the_ground_carry_their_parent(tmp_path: Path) -> None:
    """As Drake has it: no loop, no floating body, the coordinates and their limits, damper and spring those of the file."""
    (tmp_path / "hoist.sdf").write_text(BACKWARDS)
    mechanism = files.read(tmp_path / "hoist.sdf").mechanism
    assert (mechanism.names, mechanism.loops, mechanism.floating) == (("hangs", "turns", "slides"), (), False)
    assert (mechanism.q_min[1], mechanism.q_max[1]) == (-1.0, 2.0)
    assert mechanism.spring_torque([0, 0, 0.2], [0, 0, 0]).tolist() == [0.0, 0.0, 7 * 0.2]
    pytest.importorskip("pydrake", exc_type=ImportError)
    from support.drake_from_file import DrakeTwin, drake_plant

    twin = DrakeTwin(mechanism.replace(springs=()), drake_plant(tmp_path / "hoist.sdf", []))
    for what, difference in twin.residuals(1):
        assert difference < 1e-13, f"{what}: {difference:.1e}"  # rounding of four bodies


def test_what_the_elements_say(crane: Path) -> None:
    mechanism = files.read(crane).mechanism
    arm = mechanism.links[mechanism.link_index("arm")]
    assert arm.motor == Motor(inertia=0.003 * 10**2, viscous=0.5)
    assert arm.qdd_max == 4.0
    damped = {spring.joints[0][0]: spring.damping for spring in mechanism.springs}
    assert damped == {"slides_x": 1.0, "slides_y": 2.0, "slides_angle": 3.0}
    at_zero = mechanism.forward_kinematics(np.zeros(mechanism.nq), link="cart")
    low = np.array([[np.cos(0.2), 0, np.sin(0.2), 0], [0, 1, 0, 0], [-np.sin(0.2), 0, np.cos(0.2), -0.1], [0, 0, 0, 1]])
    rail = np.array([[1, 0, 0, 0.3], [0, np.cos(0.4), -np.sin(0.4), 0], [0, np.sin(0.4), np.cos(0.4), 0.2], [0, 0, 0, 1]])
    assert np.abs(at_zero @ low - rail).max() < 1e-15


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('type="planar"', 'type="helical"', "type is 'drake:helical'; expected "),
        ("1 2 3", "1 -2 3", "its damping is -2.0; expected a number >= 0"),
        ("1 2 3", "1 2", "line 21: joint 'slides': <drake:damping> is '1 2'; expected 3 numbers"),
        (">0.003<", ">-1<", "inertia"),
        ('<link name="floor"/>', '<link name="floor"><drake:deformable_properties/></link>', "a soft body is no rigid one"),
        ("<drake:parent>rail</drake:parent>", "", "joint 'slides'"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, expected: str) -> None:
    path = tmp_path / "wrong.sdf"
    path.write_text(CART.replace(old, new))
    with pytest.raises(FileError) as error:
        files.read(path)
    assert expected in str(error.value)


def test_a_joint_without_effort_has_no_rotor(tmp_path: Path) -> None:
    """As in Drake, which gives it no actuator."""
    path = tmp_path / "idle.sdf"
    path.write_text(CART.replace("<effort>9<", "<effort>0<"))
    assert files.read(path).mechanism.links[-1].motor == Motor(viscous=0.5)
    assert any("its effort is 0" in str(remark) for remark in files.remarks(path))


def test_what_drake_changes(crane: Path) -> None:
    """A sphere of water for an inertia that no body has, and an axis without its part below 1e-8: ours follow the file."""
    pytest.importorskip("pydrake", exc_type=ImportError)
    from support.drake_from_file import DrakeTwin, as_drake_reads, drake_plant

    changed = CART.replace("<iyy>0.2</iyy>", "<iyy>20</iyy>").replace("<xyz>0 1 0</xyz>", "<xyz>6e-9 1 0</xyz>")
    crane.write_text(changed)
    mechanism = files.read(crane, physical=False).mechanism
    drakes, changes = as_drake_reads(mechanism)
    assert changes == "no body has the inertia of cart, the axis of arm is rounded"
    assert max(size for _, size in DrakeTwin(drakes, drake_plant(crane, [])).residuals(1)) < 1e-13
    differing = {what for what, size in DrakeTwin(mechanism, drake_plant(crane, [])).residuals(1) if size > 1e-9}
    assert {"mass matrix", "orientation of arm"} <= differing


PAIR = CART.replace(
    "</model>",
    """<link name="twin"><pose>0.1 0.2 0.5 0 0 0</pose></link>
    <joint name="follows" type="revolute"><parent>cart</parent><child>twin</child><axis><xyz>0 1 0</xyz></axis>
      <drake:mimic joint="turns" multiplier="-2" offset="0.3"/></joint></model>""",
)


def test_a_joint_follows_by_drakes_own_element(crane: Path) -> None:
    crane.write_text(PAIR)
    mechanism = files.read(crane).mechanism
    assert mechanism.links[mechanism.link_index("twin")].mimic == Mimic("turns", -2.0, 0.3)
    assert mechanism.joint_coordinates(mechanism.link_index("twin"), np.array([0, 0, 0, 0.5])) == -0.7
    pytest.importorskip("pydrake", exc_type=ImportError)
    from support.drake_from_file import DrakeTwin, drake_plant

    for what, difference in DrakeTwin(mechanism, drake_plant(crane, [])).residuals(1):
        assert difference < 1e-13, f"{what}: {difference:.1e}"  # rounding of four bodies
    for old, new in ((' offset="0.3"', ""), ('"-2"', '"two"'), ('joint="turns"', ""), ('"turns"', '"slides"')):
        crane.write_text(PAIR.replace(old, new) if old != '"turns"' else PAIR.replace('joint="turns"', f"joint={new}"))
        with pytest.raises(FileError, match="joint 'follows'"):
            files.read(crane)
