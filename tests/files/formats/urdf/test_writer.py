"""Writing a URDF: the same mechanism is read again, by us and by Pinocchio; what it cannot hold is refused by name."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwise as lw
from linkwise import Inertia, Link, Mechanism, Mimic, Motor, robots
from linkwise.errors import ArgumentError, FileError
from linkwise.files import Description, read, remarks, save
from linkwise.files.formats.urdf import reader as urdf
from linkwise.files.formats.urdf import writer
from linkwise.model.shape import Shape
from linkwise.spatial.rotation import rotation_to_rpy, rpy_to_rotation
from linkwise.spatial.transform import transform, translation
from support.bundled import BUNDLED
from support.random_mechanisms import direct, mechanisms, random_body, random_mechanism, random_pose, random_state, relative

DATA = Path(__file__).parents[2] / "data"
KINDS = ("revolute", "prismatic", "fixed")
DOWN = (0.0, 0.0, -9.81)
BOUND = 1e-13
"""Relative: the angles of a rotation make it again to a few roundings, here along chains of a few links."""


def again(mech: Mechanism) -> Mechanism:
    reading = urdf.parse(writer.render(mech))
    assert reading.description is not None, reading.problems
    return reading.description.mechanism


def same_motion(mech: Mechanism, other: Mechanism) -> None:
    """Every link by its name, the tool, and the dynamics, at the same q; and the same names and limits exactly."""
    assert (other.names, other.floating) == (mech.names, mech.floating)
    assert np.array_equal(np.column_stack([other.q_min, other.q_max]), np.column_stack([mech.q_min, mech.q_max]))
    q, qd, qdd = random_state(mech)
    at = [other.link_index(name) for name in mech.link_names]
    assert relative(direct(other, "link_poses", q)[at], direct(mech, "link_poses", q)) < BOUND
    assert relative(direct(other, "forward_kinematics", q), direct(mech, "forward_kinematics", q)) < BOUND
    assert relative(direct(other, "mass_matrix", q), direct(mech, "mass_matrix", q)) < BOUND
    efforts = direct(mech, "inverse_dynamics", q, qd, qdd)
    assert np.abs(direct(other, "inverse_dynamics", q, qd, qdd) - efforts).max() <= BOUND * weight(mech, efforts)


def weight(mech: Mechanism, efforts: np.ndarray) -> float:
    """What efforts are added up from: they may be small because weights, at about a metre, cancel."""
    return max(float(np.abs(efforts).max()), 10.0 * sum(link.body.mass for link in mech.links))


# ── there and back ────────────────────────────────────────────────────────────────────────────────


@given(mechanisms(kinds=KINDS, motors=False, gravity=DOWN))
def test_any_tree(mech: Mechanism) -> None:
    same_motion(mech, again(mech))


@given(mechanisms(kinds=KINDS, motors=False, gravity=DOWN), st.booleans())
def test_any_tree_afloat(mech: Mechanism, hull: bool) -> None:
    """The base with a mass of its own, or with the links on it alone."""
    body = Link(joint="fixed", name="hull", parent="base", **random_body(np.random.default_rng(3)))
    links = [body, *(link.replace(parent="hull") if link.parent == "base" else link for link in mech.links)]
    same_motion(floating := mech.replace(links=links if hull else mech.links, floating=True), again(floating))


@given(mechanisms(kinds=KINDS, motors=False, gravity=DOWN))
def test_pinocchio_reads_the_same(mech: Mechanism) -> None:
    """Pinocchio reads what we wrote, and agrees with what we wrote it from."""
    from support.pinocchio_from_urdf import UrdfTwin

    twin = UrdfTwin(writer.render(mech), mech)
    q, qd, qdd = random_state(mech)
    poses = twin.poses(q)
    found = direct(mech, "link_poses", q)
    assert relative(found, np.stack([poses[name] for name in mech.link_names])) < BOUND
    assert relative(direct(mech, "forward_kinematics", q), poses["tool"]) < BOUND
    assert relative(direct(mech, "mass_matrix", q), twin.mass_matrix(q)) < BOUND
    efforts = twin.inverse_dynamics(q, qd, qdd)
    assert np.abs(direct(mech, "inverse_dynamics", q, qd, qdd) - efforts).max() <= BOUND * weight(mech, efforts)


@pytest.mark.parametrize("name", ["gripper", "rover", "cart"])
def test_a_file_again(name: str, tmp_path: Path) -> None:
    """Links, names, limits, friction, mimics and shapes are the same; placements to a rounding of their angles."""
    first = read(DATA / f"{name}.urdf")
    save(first.mechanism, tmp_path / "a.urdf", shapes=first.shapes)
    second = read(tmp_path / "a.urdf")
    for link, other in zip(first.mechanism.links, second.mechanism.links, strict=True):
        assert np.abs(link.before - other.before).max() < 1e-15
        assert link.replace(before=other.before) == other
    rest = {"links": first.mechanism.links, "base": first.mechanism.base}
    assert np.abs(first.mechanism.base - second.mechanism.base).max() < 1e-15
    assert second.mechanism.replace(**rest) == first.mechanism
    for shape, other_shape in zip(first.shapes, second.shapes, strict=True):
        assert np.abs(shape.origin - other_shape.origin).max() < 1e-15
        assert shape.key[:-1] == other_shape.key[:-1]


def test_every_number_is_written_with_all_its_digits() -> None:
    third = 1 / 3
    body = {"mass": third, "com": (third, 0.1 + 0.2, 1e-300), "inertia": (third, 0.5 - third / 9, third, 1e-17, 0, 1e-5)}
    link = Link(name="a", axis=(third, 0.7, 0.1), limits=(-third, 1e-7), qd_max=third, tau_max=1e22, **body)
    mech = Mechanism([link.replace(motor=Motor(viscous=third, coulomb=0.1 + 0.2), before=translation(third, 1e-9, 5))])
    assert again(mech).replace(name="mechanism") == mech.replace(links=[mech.links[0].replace(parent="base")])


# ── what the file looks like ──────────────────────────────────────────────────────────────────────


def test_a_link_off_the_axis_hangs_on_one_without_mass() -> None:
    arm = Mechanism.from_dh([(0.1, 0.2, 0.3, 0.4)], convention="standard")
    read_again = again(arm)
    assert read_again.link_names == ("link1_axis", "link1")
    assert read_again.names == ("link1",)
    assert [link.joint for link in read_again.links] == ["revolute", "fixed"]


@pytest.mark.parametrize("row", [(0.1, 0.2, 0.0, 0.4), (0.1, 0.2, 0.0, math.pi / 2)])
def test_a_link_on_the_axis_needs_no_other(row: tuple[float, ...]) -> None:
    arm = Mechanism.from_dh([row], convention="standard")
    assert again(arm).link_names == ("link1",)
    same_motion(arm, again(arm))


def test_a_sliding_link_needs_no_other() -> None:
    arm = Mechanism.from_dh([(0.1, 0.2, 0.3, 0.4)], convention="standard", joints="P")
    assert again(arm).link_names == ("link1",)


def test_base_tool_and_payload_are_links() -> None:
    rng = np.random.default_rng(1)
    body = random_body(rng)
    arm = Mechanism([Link(name="arm", **random_body(rng))], base=random_pose(rng), tool=random_pose(rng))
    loaded = arm.with_payload(body["mass"], body["com"], body["inertia"])
    text = writer.render(loaded)
    for line in ('<link name="world"/>', '<link name="base"/>', '<joint name="base" type="fixed">', '<link name="tool">'):
        assert line in text
    read_again = again(loaded)
    assert read_again.link_names == ("arm", "tool")
    assert np.abs(read_again.base - arm.base).max() < 1e-15
    assert read_again.links[1].body.mass == body["mass"]
    same_motion(loaded, read_again)


def test_names_that_the_writer_would_use_are_left_to_the_links() -> None:
    parts = [Link(name=name, joint="fixed", parent="base") for name in ("world", "tool", "arm_axis")]
    arm = Link(name="arm", after=translation(1, 0, 0), mass=1.0, parent="base", joint_name="tool")
    mech = Mechanism([*parts, arm], base=translation(0, 0, 1), tool=translation(0, 0, 2), gravity=DOWN)
    text = writer.render(mech)
    for name in ("world_2", "tool_2", "arm_axis_2"):
        assert f'<link name="{name}"/>' in text
    same_motion(mech, again(mech))


def test_mimics_limits_and_friction_stay_with_their_joints() -> None:
    mech = Mechanism(
        [
            Link(name="a", joint_name="ja", limits=(-1, 2), after=translation(1, 0, 0), offset=0.5, mass=1.0,
                 qd_max=2.0, tau_max=3.0, motor=Motor(viscous=0.1, coulomb=0.2)),
            Link(name="b", joint_name="jb", after=translation(1, 0, 0), mass=1.0, mimic=Mimic("ja", -0.5, 0.25)),
        ]
    )  # fmt: skip
    read_again = again(mech)
    assert read_again.names == ("ja",)
    joints = {link.joint_name: link for link in read_again.links}
    assert (joints["ja"].limits, joints["ja"].qd_max, joints["ja"].tau_max) == ((-1, 2), 2.0, 3.0)
    assert joints["ja"].motor == Motor(viscous=0.1, coulomb=0.2)
    assert joints["jb"].mimic == Mimic("ja", -0.5, 0.25)
    same_motion(mech, read_again)


@pytest.mark.parametrize("limits", [None, (-math.inf, 1.0), (0.5, math.inf), (-0.0, 0.0)])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_limits_on_one_side_and_none(limits: tuple[float, float] | None, kind: str) -> None:
    assert again(Mechanism([Link(name="a", joint=kind, limits=limits, mass=1.0)])).links[0].limits == limits


def test_joints_with_several_coordinates() -> None:
    """Planar and floating joints are kinds of URDF; universal and cylindrical ones become two."""
    text = (DATA / "cart.urdf").read_text()
    cart = urdf.parse(text).description.mechanism  # type: ignore[union-attr]
    assert '<joint name="drive" type="planar">' in writer.render(cart)
    shifted = cart.replace_link("cart", after=transform(None, (0.1, 0.2, 0.3)))
    same_motion(shifted, again(shifted))
    limited = shifted.replace_link("cart", limits=[(-1, 1), None, None])
    assert "link 'cart': its limits" in writer.losses(Description(limited)).lost
    links = [
        Link(name="a", joint="universal", axis=[(1, 0, 0), (0, 1, 0)], limits=[(-1, 1), (-2, 2)], mass=1.0),
        Link(name="b", joint="cylindrical", axis=(0, 1, 1), mass=1.0, before=transform(None, (0, 0.2, 0.3))),
        Link(name="c", joint="floating", parent="base", mass=1.0),
    ]
    mech = Mechanism(links)
    back = again(mech)
    assert back.coordinate_names == mech.coordinate_names
    assert np.array_equal(back.q_max, mech.q_max)
    same_motion(mech, back)
    leaning = Mechanism([Link(name="a", joint="ball", limits=(0, 1), mass=1.0)])
    assert "link 'a': its limits" in writer.losses(Description(leaning)).lost


def test_names_are_escaped() -> None:
    mech = Mechanism([Link(name="a<b>&\"c'\n", joint="fixed")], name='<"&')
    assert again(mech).link_names == mech.link_names
    assert again(mech).name == mech.name


@pytest.mark.parametrize("near", [0.0, 1e-16, 3e-15, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("up", [1, -1])
def test_angles_of_a_rotation_near_a_lock(near: float, up: int) -> None:
    rng = np.random.default_rng(4)
    for roll, yaw in rng.uniform(-3, 3, (50, 2)):
        rotation = rpy_to_rotation(roll, up * (math.pi / 2 - near), yaw)
        assert np.abs(rpy_to_rotation(*rotation_to_rpy(rotation)) - rotation).max() < 4e-15  # twice the 1e-15 of a lock


# ── shapes ────────────────────────────────────────────────────────────────────────────────────────


def test_shapes_of_every_kind(tmp_path: Path) -> None:
    origin = transform(rpy_to_rotation(0.1, 0.2, 0.3), (1, 2, 3))
    shapes = (
        Shape("arm", "box", (1, 2, 3), origin=origin, name="a box", colour=(0.1, 0.2, 0.3, 1)),
        Shape("arm", "cylinder", (1, 2), role="collision"),
        Shape("base", "capsule", (1, 2), role="collision"),
        Shape("base", "sphere", (1 / 3,), material="steel"),
        Shape("arm", "mesh", (1, 1, -1), filename='a "b".stl'),
    )
    mech = Mechanism([Link(name="arm", joint="fixed")])
    save(mech, tmp_path / "a.urdf", shapes=shapes)
    found = read(tmp_path / "a.urdf")
    assert {shape.key[:-1] for shape in found.shapes} == {shape.key[:-1] for shape in shapes}
    assert found.mechanism.links == (mech.links[0].replace(parent="base"),)
    with pytest.raises(ArgumentError, match=r"'leg'.*'base'.*'arm'"):
        save(mech, tmp_path / "a.urdf", shapes=[Shape("leg", "sphere", (1,))])


def test_shapes_that_cannot_be_written(tmp_path: Path) -> None:
    mech, shapes = Mechanism([Link(name="arm", joint="fixed")]), [Shape("arm", "ellipsoid", (1, 2, 3))]
    with pytest.raises(FileError, match=r"'arm'.*visual.*ellipsoid"):
        save(mech, tmp_path / "a.urdf", shapes=shapes)
    save(mech, tmp_path / "a.urdf", shapes=shapes, allow_loss=True)
    assert read(tmp_path / "a.urdf").shapes == ()
    with pytest.raises(FileError, match=r"links.*collide"):
        save(mech, tmp_path / "a.dat", shapes=shapes, allow_loss=False)
    save(mech, tmp_path / "a.toml", shapes=shapes)
    assert read(tmp_path / "a.toml").shapes == tuple(shapes)


# ── what it cannot hold ───────────────────────────────────────────────────────────────────────────

TURNED = "(its rotation is not one to rounding, and would be rounded)"
BENT = np.array([[1, 1e-7, 0, 0], [-1e-7, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
BENT[0, 0] += 3e-7


@pytest.mark.parametrize(
    ("mech", "expected"),
    [
        (Mechanism([Link()], gravity=(0, 9.81, 0)),
         ["its gravity (0, 9.81, 0) (a URDF has none; it is read with (0, 0, -9.81))"]),
        (Mechanism([Link(motor=Motor(inertia=1e-3, gear_ratio=50))]),
         ["link 'link1': its motor's rotor inertia", "link 'link1': its motor's gear ratio"]),
        (Mechanism([Link(motor=Motor(coulomb=(0.3, -0.2), friction_rule="toolbox7"))]),
         ["link 'link1': its motor's friction rule",
          "link 'link1': its Coulomb friction by direction (the mean of both is written)"]),
        (Mechanism([Link(motor=Motor(inertia=1.0, carrier="base", axis=(0, 0, 1)))]),
         ["link 'link1': its motor's rotor inertia", "link 'link1': its motor's carrier"]),
        (Mechanism([Link()], motors=[Motor(viscous=1.0, joint="link1")]), ["its motor of 'link1'"]),
        (Mechanism([Link(before=BENT)], tool=BENT), [f"link 'link1': its placement {TURNED}", f"its tool {TURNED}"]),
        (Mechanism([Link(qd_max=0, tau_max=0)]),
         ["link 'link1': its qd_max 0 (read as none)", "link 'link1': its tau_max 0 (read as none)"]),
        (Mechanism([Link(mass=1.0, inertia=(1, 1, 1), physical=False)]), ["link 'link1': its mark physical=False"]),
        (Mechanism([Link(mass=1.0, inertia=(1, 1, 3), physical=False)]),
         ["link 'link1': its mark physical=False "
          "(no body has this inertia; files.read(path, physical=False) accepts the file)"]),
        (Mechanism([Link()], payload=Inertia(1.0, physical=False)), ["its payload's mark physical=False"]),
    ],
)  # fmt: skip
def test_what_would_be_lost_is_told(mech: Mechanism, expected: list[str], tmp_path: Path) -> None:
    assert writer.losses(Description(mech)).lost == expected
    path = tmp_path / "a.urdf"
    with pytest.raises(FileError) as caught:
        lw.save(mech, path)
    assert [problem.message for problem in caught.value.problems] == [
        f"would be lost in a URDF: {what}" for what in expected
    ]
    assert caught.value.advice == "save as .toml, which holds everything, or allow the loss (allow_loss=True)"
    assert not path.exists()
    save(mech, path, allow_loss=True)
    assert read(path, physical=False).mechanism.n == mech.n


@pytest.mark.parametrize(
    ("mech", "expected"),
    [
        (Mechanism([Link(name="a"), Link(name="b")], loops=[lw.Loop("point", "a", "b")]), "its closed loops"),
        (Mechanism([Link(name="a\x07")]), "the name 'a\\x07' (XML cannot represent it)"),
        (Mechanism([Link(joint_name="\ud800")]), "the name '\\ud800' (XML cannot represent it)"),
    ],
)
def test_what_cannot_be_written_is_told(mech: Mechanism, expected: str, tmp_path: Path) -> None:
    for allow_loss in (False, True):
        with pytest.raises(FileError) as caught:
            save(mech, tmp_path / "a.urdf", allow_loss=allow_loss)
        assert caught.value.problems[0].message == f"cannot be written in a URDF at all: {expected}"
        assert caught.value.advice == "save as .toml, which holds everything"


def test_what_acts_on_the_tool_is_lost(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="external"):
        save(Mechanism([Link()]), tmp_path / "a.urdf", external=[1, 0, 0, 0, 0, 0])


def test_friction_is_what_the_joint_feels() -> None:
    """Behind a gear, after its loss was allowed: G^2 B, |G| Tc, and the mean of both directions."""
    motor = Motor(gear_ratio=-10, viscous=0.02, coulomb=(0.3, -0.1))
    made = urdf.parse(writer.render(Mechanism([Link(motor=motor)]))).description
    assert made is not None
    assert made.mechanism.links[0].motor == Motor(viscous=10.0**2 * 0.02, coulomb=0.5 * (10 * 0.3 + 10 * 0.1))


@pytest.mark.parametrize("name", [name for name in BUNDLED if not robots.load(name).loops])
def test_bundled_robots(name: str, tmp_path: Path) -> None:
    """Each is written, with its loss or with none, and stands and weighs the same."""
    robot = robots.load(name)
    bare = robot.replace(gravity=DOWN, links=[link.replace(motor=None, dh_row=link.dh_row) for link in robot.links])
    save(bare, tmp_path / "a.urdf", allow_loss=True)
    same_motion(bare, read(tmp_path / "a.urdf", physical=False).mechanism)


def test_random_mechanisms_with_everything_say_what_they_lose() -> None:
    mech = random_mechanism(3)
    lost = writer.losses(Description(mech)).lost
    assert sum("rotor inertia" in what for what in lost) == sum(link.motor is not None for link in mech.links)


# ── for other readers ─────────────────────────────────────────────────────────────────────────────


def dh_arm() -> Mechanism:
    """A link off its joint's axis, and a slide without limits; rotations whose angles come out as -0.0."""
    rows = ((0.0, 0.3, 0.1, math.pi / 2, "revolute"), (0.0, 0.0, 0.0, math.pi, "prismatic"), (0.2, 0, 0.3, 0, "revolute"))
    links = [Link.dh(*row, convention="standard", joint=joint, mass=1.0, inertia=(0.1, 0.1, 0.1)) for *row, joint in rows]
    return Mechanism([*links[:2], links[2].replace(limits=(-1.0, 1.0))])


def test_what_has_no_limit_is_a_number_that_others_can_count_with() -> None:
    """Of limits at the largest double the span overflows, and Pinocchio draws infinite coordinates."""
    text = writer.render(dh_arm())
    assert '<limit lower="-1e+30" upper="1e+30" effort="1e+30" velocity="1e+30"/>' in text
    pinocchio = pytest.importorskip("pinocchio", exc_type=ImportError)
    twin = pinocchio.buildModelFromXML(text)
    assert np.isfinite(pinocchio.randomConfiguration(twin)).all()
    assert np.isfinite(np.float32(twin.upperPositionLimit)).all()
    assert [link.limits for link in again(dh_arm()).links if link.moves] == [None, None, (-1.0, 1.0)]


def test_no_zero_has_a_sign() -> None:
    text = writer.render(dh_arm())
    assert "rpy=" in text
    assert not re.search(r"-0\.0[ \"]", text)


def test_our_own_link_between_is_not_remarked(tmp_path: Path) -> None:
    save(dh_arm(), tmp_path / "a.urdf")
    text = (tmp_path / "a.urdf").read_text()
    assert "link1_axis" in text
    assert remarks(tmp_path / "a.urdf") == []
    (tmp_path / "a.urdf").write_text(text.replace("link1_fixed", "weld"))  # as another tool may have named it
    told = [remark.message for remark in remarks(tmp_path / "a.urdf")]
    assert told == ["link 'link1_axis' moves, but has no mass and no inertia"]


def test_the_only_floating_joint_is_read_back_as_the_floating_base(tmp_path: Path) -> None:
    """By the same numbers, under the names of a base; a link that it stands on would be lost, and is named."""
    body = {"mass": 1.0, "com": (0.1, 0.2, 0.0), "inertia": (0.3, 0.2, 0.3)}
    box = Link(name="box", joint="floating", **body)
    craft = Mechanism([box, Link(name="arm", **body)], gravity=DOWN)
    other = again(craft)
    assert (other.floating, other.coordinate_names[0], craft.coordinate_names[0]) == (True, "base_x", "box_x")
    state = random_state(craft, 3)
    assert relative(direct(other, "inverse_dynamics", *state), direct(craft, "inverse_dynamics", *state)) < BOUND
    beside = Mechanism([Link(name="table", joint="fixed", **body), box.replace(parent="table")], gravity=DOWN)
    with pytest.raises(FileError, match="it is read as the world in which the base floats"):
        save(beside, tmp_path / "box.urdf")
    assert again(Mechanism([*beside.links, Link(name="lamp", parent="table")], gravity=DOWN)).link_names[0] == "table"
