"""What an SDF says becomes a mechanism: frames, joints of all types, loops, free bodies, included files, shapes."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwise as lw
from linkwise import Mechanism
from linkwise.errors import FileError, LinkwiseWarning
from linkwise.files import read, remarks
from linkwise.files.formats.sdf import reader as sdf
from linkwise.files.registry import ReadOptions
from linkwise.files.report import Reading
from linkwise.model.mimic import Mimic
from linkwise.spatial.rotation import rotation_to_rpy, rpy_to_rotation
from linkwise.spatial.transform import transform, translation
from support.random_mechanisms import random_mechanism

URDFS = [
    Path(__file__).parents[2] / "data" / "gripper.urdf",
    Path(__file__).parents[4] / "examples" / "data" / "picker.urdf",
]
BODY = "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
HELD = '<joint name="hold" type="fixed"><parent>world</parent><child>a</child></joint>'


def parsed(inner: str, version: str = "1.9", **options: object) -> Reading:
    return sdf.parse(f'<sdf version="{version}">{inner}</sdf>', "file", None, ReadOptions(**options))


def built(inner: str, version: str = "1.9", **options: object) -> Mechanism:
    reading = parsed(inner, version, **options)
    assert reading.description is not None, reading.problems
    return reading.description.mechanism


def model(inner: str, name: str = "m") -> str:
    return f'<model name="{name}">{inner}</model>'


def link(name: str, pose: str = "", relative: str = "", body: str = BODY) -> str:
    said = f' relative_to="{relative}"' if relative else ""
    return f'<link name="{name}"><pose{said}>{pose}</pose>{body}</link>'


def joint(parent: str, child: str, kind: str = "revolute", inner: str = "", name: str = "j") -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inner}</joint>'


def row(values: object) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))  # type: ignore[call-overload]


def pose_text(frame: np.ndarray) -> str:
    return row([*frame[:3, 3], *rotation_to_rpy(frame[:3, :3])])


# ── against other descriptions of the same mechanism ──────────────────────────────────────────────


def sdf_of(mechanism: Mechanism) -> str:
    """A mechanism as a chain of frames: each joint is posed in its parent, each link in its joint."""
    parts = []
    for k, part in enumerate(mechanism.links):
        parent = mechanism.parents[k]
        above = mechanism.link_names[parent] if parent >= 0 else "world"
        before = part.before @ part.motion(0.0) if part.joint in {"revolute", "prismatic", "screw"} else part.before
        relative = "__model__" if parent < 0 else above
        body = part.body
        inertia = "".join(
            f"<i{x}>{row(body.tensor[i, j])}</i{x}>"
            for x, i, j in (("xx", 0, 0), ("xy", 0, 1), ("xz", 0, 2), ("yy", 1, 1), ("yz", 1, 2), ("zz", 2, 2))
        )
        inertial = f"<mass>{body.mass!r}</mass><pose>{row(body.com)} 0 0 0</pose><inertia>{inertia}</inertia>"
        parts.append(
            f'<link name="{part.name}"><pose relative_to="{part.coordinate_name}_">{pose_text(part.after)}</pose>'
            f"<inertial>{inertial}</inertial></link>"
        )
        axes = np.atleast_2d(part.axis)
        inner = "".join(f"<{tag}><xyz>{row(axis)}</xyz></{tag}>" for tag, axis in zip(("axis", "axis2"), axes, strict=False))
        inner = "" if part.joint in {"fixed", "ball"} else inner
        inner += f"<screw_thread_pitch>{2 * math.pi * part.pitch!r}</screw_thread_pitch>" if part.joint == "screw" else ""
        inner += f'<pose relative_to="{relative}">{pose_text(before)}</pose>'
        parts.append(joint(above, str(part.name), part.joint, inner, f"{part.coordinate_name}_"))
    return f'<sdf version="1.9">{model("".join(parts))}</sdf>'


@pytest.mark.parametrize("seed", range(2))
def test_random_trees_of_all_joints(seed: int) -> None:
    """Poses of all links and inverse dynamics agree with the mechanism that was written, to the rounding of its angles."""
    kinds = ["revolute", "universal", "ball", "prismatic", "screw", "fixed", "revolute"]
    written = random_mechanism(seed, kinds, motors=False, base=np.eye(4), gravity=(0, 0, -9.81), tool=np.eye(4))
    back = lw.loads(sdf_of(written))
    q = written.random_configuration(seed)
    qd, qdd = np.random.default_rng(seed).normal(size=(2, written.nv))
    poses = [m.forward_kinematics(q, link=name) for m in (written, back) for name in written.link_names]
    apart = np.abs(np.subtract(poses[: len(kinds)], poses[len(kinds) :])).max()
    efforts = [m.inverse_dynamics(q, qd, qdd) for m in (written, back)]
    relative = np.abs(efforts[0] - efforts[1]).max() / np.abs(efforts[0]).max()
    print(f"poses {apart:.1e}, inverse dynamics {relative:.1e}")
    assert apart < 2e-14  # (a dozen products of matrices of 1)
    assert relative < 1e-13


def sdf_of_urdf(path: Path) -> str:
    """A URDF in SDF element by element, without what Linkwise reads of it."""
    robot = ElementTree.parse(path).getroot()
    parts = []
    carried = {part.find("child").get("link"): part for part in robot.findall("joint")}

    def frame(element: ElementTree.Element | None) -> str:
        origin = None if element is None else element.find("origin")
        return "0 0 0 0 0 0" if origin is None else f"{origin.get('xyz', '0 0 0')} {origin.get('rpy', '0 0 0')}"

    for part in robot.findall("link"):
        name, inertial = part.get("name"), part.find("inertial")
        body = "<mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia>"
        if inertial is not None:
            moments = "".join(f"<{key}>{value}</{key}>" for key, value in inertial.find("inertia").attrib.items())
            mass = inertial.find("mass").get("value")
            body = f"<pose>{frame(inertial)}</pose><mass>{mass}</mass><inertia>{moments}</inertia>"
        above = carried[name].find("parent").get("link") if name in carried else "__model__"
        pose = f'<pose relative_to="{above}">{frame(carried.get(name))}</pose>'
        parts.append(f'<link name="{name}">{pose}<inertial>{body}</inertial></link>')
        if name not in carried:
            parts.append(joint("world", str(name), "fixed", name="ground"))
    for part in robot.findall("joint"):
        axis, limit, dynamics, mimic = (part.find(tag) for tag in ("axis", "limit", "dynamics", "mimic"))
        inner = f"<xyz>{'1 0 0' if axis is None else axis.get('xyz')}</xyz>"
        if limit is not None:
            inner += "<limit>" + "".join(f"<{key}>{value}</{key}>" for key, value in limit.attrib.items()) + "</limit>"
        if dynamics is not None:
            inner += (
                "<dynamics>" + "".join(f"<{key}>{value}</{key}>" for key, value in dynamics.attrib.items()) + "</dynamics>"
            )
        if mimic is not None:
            said = {key: value for key, value in mimic.attrib.items() if key != "joint"}
            terms = "".join(f"<{key}>{value}</{key}>" for key, value in said.items())
            inner += f'<mimic joint="{mimic.get("joint")}">{terms}</mimic>'
        ends = (str(part.find(tag).get("link")) for tag in ("parent", "child"))
        parts.append(joint(*ends, str(part.get("type")), f"<axis>{inner}</axis>", str(part.get("name"))))
    return f'<sdf version="1.11">{model("".join(parts))}</sdf>'


@pytest.mark.parametrize("is_included", [False, True])
@pytest.mark.parametrize("path", URDFS, ids=lambda path: path.stem)
def test_a_urdf_in_sdf(path: Path, is_included: bool) -> None:
    """The same poses and inverse dynamics as the URDF, which the tests of URDF hold against Pinocchio."""
    theirs = lw.load(path)
    root = theirs.link_names[0]
    text = f"<include merge='true'><uri>{path.name}</uri></include>" + joint("world", root, "fixed")
    text = f'<sdf version="1.9">{model(text)}</sdf>' if is_included else sdf_of_urdf(path)
    ours = lw.loads(text, include_root=path.parent)
    assert ours.names == theirs.names
    if is_included:
        assert [shape.size for shape in ours.shapes] == [shape.size for shape in theirs.shapes]
        assert [link.motor for link in ours.links] == [link.motor for link in theirs.links]
    assert ours.q_max.tolist() == theirs.q_max.tolist()
    q, qd, qdd = np.random.default_rng(1).uniform(-0.2, 0.2, (3, ours.n))
    apart = max(
        np.abs(ours.forward_kinematics(q, link=name) - theirs.forward_kinematics(q, link=name)).max()
        for name in theirs.link_names
        if name in ours.link_names
    )
    efforts = ours.inverse_dynamics(q, qd, qdd) - theirs.inverse_dynamics(q, qd, qdd)
    print(f"poses {apart:.1e}, inverse dynamics {np.abs(efforts).max():.1e}")
    assert apart < 1e-14
    assert np.abs(efforts).max() < 1e-12


# ── frames ────────────────────────────────────────────────────────────────────────────────────────


def test_frames_of_frames() -> None:
    """Frames in frames, nested models, ``::`` names and placement frames, against products by hand."""
    inner = (
        '<pose>1 0 0 0 0 0.5</pose><frame name="f" attached_to="a"><pose>0 1 0 0.3 0 0</pose></frame>'
        + link("a", "0 0 1 0 0.2 0")
        + link("b", "0.1 0.2 0.3 0 0 0", "f")
        + '<model name="n" placement_frame="tip"><pose relative_to="b">0 0 2 0 0 0</pose>'
        + link("c", "0 0 0.1 0 0 0.7")
        + '<frame name="tip" attached_to="c"><pose>0 0.4 0 0 0 0</pose></frame></model>'
        + HELD
        + joint("f", "b")
        + joint("b", "n::tip", "fixed", name="k")
    )
    mech = built(model(inner))

    def pose(x: float, y: float, z: float, *rpy: float) -> np.ndarray:
        return transform(rpy_to_rotation(*rpy), (x, y, z))

    a = pose(1, 0, 0, 0, 0, 0.5) @ pose(0, 0, 1, 0, 0.2, 0)
    b = a @ pose(0, 1, 0, 0.3, 0, 0) @ pose(0.1, 0.2, 0.3, 0, 0, 0)
    tip = b @ pose(0, 0, 2, 0, 0, 0)  # where the placement frame is put
    c = tip @ np.linalg.inv(pose(0, 0.4, 0, 0, 0, 0))
    for name, expected in {"a": a, "b": b, "n::c": c}.items():
        assert mech.forward_kinematics([0.0], link=name) == pytest.approx(expected, abs=1e-15), name
    assert mech.links[mech.link_names.index("b")].parent == "a"  # (what the frame is attached to)


@pytest.mark.parametrize(
    ("version", "said", "expected"),
    [
        ("1.2", "<xyz>0 1 0</xyz>", (1, 0, 0)),  # in the frame of the model
        ("1.4", "<xyz>0 1 0</xyz>", (1, 0, 0)),
        ("1.5", "<xyz>0 1 0</xyz>", (0, 1, 0)),  # in that of the joint
        ("1.6", "<xyz>0 1 0</xyz><use_parent_model_frame>true</use_parent_model_frame>", (1, 0, 0)),
        ("1.7", '<xyz expressed_in="__model__">0 1 0</xyz>', (1, 0, 0)),
        ("1.7", '<xyz expressed_in="a">0 1 0</xyz>', (1, 0, 0)),
        ("1.7", "<xyz>0 1 0</xyz>", (0, 1, 0)),
        ("1.11", "", (0, 0, 1)),
    ],
)
def test_the_frame_of_an_axis(version: str, said: str, expected: tuple[int, ...]) -> None:
    """The child, and with it the joint, is turned by a quarter about z."""
    inner = link("a") + link("b", f"0 0 0 0 0 {math.pi / 2!r}") + HELD + joint("a", "b", inner=f"<axis>{said}</axis>")
    (moving,) = (part for part in built(model(inner), version).links if part.moves)
    assert moving.axis == pytest.approx(expected, abs=1e-15)


def test_a_pose_in_degrees_and_by_quaternion() -> None:
    inner = '<link name="a"><pose degrees="true">1 2 3 0 0 90</pose></link>' + HELD
    quaternion = '<link name="a"><pose rotation_format="quat_xyzw">1 2 3 0 0 2 2</pose></link>' + HELD
    for text in (inner, quaternion):
        assert built(model(text)).forward_kinematics([], link="a") == pytest.approx(
            transform(rpy_to_rotation(0, 0, math.pi / 2), (1, 2, 3)), abs=1e-15
        )


@pytest.mark.parametrize("drake", [False, True])
def test_a_mass_of_shapes(drake: bool, tmp_path: Path) -> None:
    """Solids with the densities of collision, link and format; Drake, by libsdformat, has the same."""
    shapes = {
        "box": ("<size>0.1 0.2 0.3</size>", "<density>500</density>"),
        "cylinder": ("<radius>0.1</radius><length>0.4</length>", ""),
        "capsule": ("<radius>0.05</radius><length>0.3</length>", ""),
        "sphere": ("<radius>0.1</radius>", ""),
        "ellipsoid": ("<radii>0.1 0.2 0.3</radii>", ""),
    }
    collisions = "".join(
        f'<collision name="{kind}"><pose relative_to="f">0.{k} 0 0.1 0.3 0.{k} 0</pose>{density}'
        f"<geometry><{kind}>{size}</{kind}></geometry></collision>"
        for k, (kind, (size, density)) in enumerate(shapes.items())
    )
    frame = '<frame name="f" attached_to="a"><pose>0 0.1 0 0 0 0.5</pose></frame>'
    inertials = {"a": "<density>700</density>", "b": "<mass>3</mass>", "c": ""}
    links = [
        f'<link name="{name}"><inertial auto="true">{said}</inertial>{collisions}</link>' for name, said in inertials.items()
    ]
    path = tmp_path / "solids.sdf"
    path.write_text(f'<sdf version="1.11">{model("".join(links) + frame)}</sdf>')
    mech = lw.load(path)
    a, b, c = (part.body for part in mech.links)
    assert b.mass == pytest.approx(3, rel=1e-15)
    assert c.tensor / c.mass == pytest.approx(b.tensor / b.mass, rel=1e-14)
    box, cylinder, capsule = 0.006, math.pi * 0.004, math.pi * (0.3 * 0.05**2 + 4 / 3 * 0.05**3)
    others = cylinder + capsule + 4 / 3 * math.pi * (0.001 + 0.006)
    assert (a.mass, c.mass) == pytest.approx((500 * box + 700 * others, 500 * box + 1000 * others), rel=1e-14)
    if drake:
        pytest.importorskip("pydrake", exc_type=ImportError)
        from support.drake_from_file import DrakeTwin, drake_plant

        assert max(size for _, size in DrakeTwin(mech, drake_plant(path, [])).residuals(0)) < 1e-13


# ── joints ────────────────────────────────────────────────────────────────────────────────────────

LIMIT = "<limit><lower>-1</lower><upper>2</upper><effort>5</effort><velocity>3</velocity></limit>"
DYNAMICS = "<damping>0.5</damping><friction>0.2</friction><spring_stiffness>4</spring_stiffness>"


def test_limits_friction_and_springs() -> None:
    said = f"<axis>{LIMIT}<dynamics>{DYNAMICS}<spring_reference>0.3</spring_reference></dynamics></axis>"
    mech = built(model(link("a") + link("b") + HELD + joint("a", "b", inner=said)))
    (moving,) = (part for part in mech.links if part.moves)
    assert (moving.limits, moving.tau_max, moving.qd_max) == ((-1.0, 2.0), 5.0, 3.0)
    still, spring = mech.replace(springs=[]), mech.inverse_dynamics([0.8], [0.0], [0.0])
    assert spring - still.inverse_dynamics([0.8], [0.0], [0.0]) == pytest.approx([4 * 0.5])
    assert moving.motor.reflected_viscous == 0.5
    assert moving.motor.reflected_coulomb == (0.2, -0.2)


def test_a_joint_with_two_axes() -> None:
    """revolute2 is two turns in series, as universal is; their damping is that of each angle."""
    second = "<axis2><xyz>0 1 0</xyz><dynamics><damping>0.7</damping></dynamics></axis2>"
    for kind in ("universal", "revolute2"):
        mech = built(model(link("a") + link("b") + HELD + joint("a", "b", kind, f"<axis>{LIMIT}</axis>{second}")))
        assert mech.names == ("j_1", "j_2")
        assert mech.q_max.tolist() == [2.0, math.inf]
        rest = mech.inverse_dynamics([0.1, 0.2], [0, 0], [0, 0])
        undamped = mech.replace(springs=[]).inverse_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
        assert rest == pytest.approx(undamped)
        moving = mech.inverse_dynamics([0.1, 0.2], [0, 2.0], [0, 0])
        damped = mech.replace(springs=[]).inverse_dynamics([0.1, 0.2], [0, 2.0], [0, 0])
        assert moving - damped == pytest.approx([0.0, 1.4])


@pytest.mark.parametrize(
    ("said", "pitch"),
    [
        ("<screw_thread_pitch>0.5</screw_thread_pitch>", 0.5),
        (f"<thread_pitch>{-4 * math.pi!r}</thread_pitch>", 0.5),
        ("", 1.0),
    ],
)
def test_the_pitch_of_a_screw(said: str, pitch: float) -> None:
    """m per turn; the older thread_pitch is rad per m of a left-handed thread."""
    mech = built(model(link("a") + link("b") + HELD + joint("a", "b", "screw", said)))
    assert mech.forward_kinematics([2 * math.pi], link="b")[2, 3] == pytest.approx(pitch, abs=1e-15)


def test_a_follower() -> None:
    """A follower moves by multiplier (leader - reference) + offset."""
    mimic = '<mimic joint="j"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic>'
    inner = (
        link("a") + link("b") + link("c") + HELD + joint("a", "b") + joint("a", "c", inner=f"<axis>{mimic}</axis>", name="k")
    )
    mech = built(model(inner))
    assert mech.names == ("j",)
    turned = mech.forward_kinematics([0.5], link="c")
    assert rotation_to_rpy(turned[:3, :3])[2] == pytest.approx(2 * (0.5 - 0.3) + 0.1, abs=1e-15)


# ── loops, free bodies, worlds ────────────────────────────────────────────────────────────────────


def test_a_four_bar() -> None:
    """A link with two parents closes a loop; the closure holds the pin where the parallelogram has it."""
    bars = link("ground") + link("crank") + link("coupler", "0 0 1 0 0 0") + link("rocker", "2 0 0 0 0 0")
    axis = "<axis><xyz>0 1 0</xyz></axis>"
    inner = bars + joint("world", "ground", "fixed", name="hold")
    inner += joint("ground", "crank", inner=axis, name="j1") + joint("crank", "coupler", inner=axis, name="j2")
    inner += joint("ground", "rocker", inner=axis, name="j3")
    for kind in ("revolute", "ball"):
        last = joint("coupler", "rocker", kind, ("" if kind == "ball" else axis) + "<pose>0 0 1 0 0 0</pose>", "j4")
        mech = built(model(inner + last))
        (loop,) = mech.loops
        assert (loop.kind, loop.name) == ("hinge" if kind == "revolute" else "point", "j4")
        q = [0.3, -0.3, 0.3]
        ends = [
            mech.forward_kinematics(q, link=end) @ frame
            for end, frame in ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
        ]
        assert ends[0][:3, 3] == pytest.approx(ends[1][:3, 3], abs=1e-15)
        assert ends[0][:3, 3] == pytest.approx([2 + math.sin(0.3), 0, math.cos(0.3)], abs=1e-15)


def test_what_cannot_close_a_loop_carries() -> None:
    """Two links that a slide joins, on two hinges to the ground: the slide carries, and a hinge closes the loop."""
    parts = link("a") + link("b", "0 0 1 0 0 0") + link("c", "1 0 0 0 0 0") + HELD + joint("a", "b", name="ab")
    mech = built(model(parts + joint("a", "c", name="ac") + joint("b", "c", "prismatic", name="bc")))
    assert [(part.name, part.joint) for part in mech.links] == [("a", "fixed"), ("b", "revolute"), ("c", "prismatic")]
    assert [(loop.kind, loop.name) for loop in mech.loops] == [("hinge", "ac")]


def test_joints_that_cannot_carry_their_parent_leave_it_free() -> None:
    """A universal joint has no inverse here: its parent floats, what holds its child closes the loop; a ball joint has."""
    axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    held = '<joint name="hold" type="fixed"><parent>world</parent><child>b</child></joint>'
    mech = built(model(link("a", "0 0 1 0 0 0") + link("b") + joint("a", "b", "universal", axes) + held))
    assert [(part.name, part.joint) for part in mech.links] == [("a", "floating"), ("b", "universal")]
    (loop,) = mech.loops
    assert (loop.kind, loop.first, loop.second, loop.name) == ("full", "base", "b", "hold")
    reading = parsed(model(link("a", "0 0 1 0 0 0") + link("b") + joint("a", "b", "ball") + held))
    assert any("it carries 'a', its parent" in remark.message for remark in reading.remarks)
    ball = reading.description.mechanism
    assert [(part.name, part.joint) for part in ball.links] == [("a", "ball"), ("b", "fixed")]
    turn = [0.5**0.5, 0.5**0.5, 0.0, 0.0]  # of a about the point of b, by 90 degrees about x
    assert ball.forward_kinematics(turn, link="a")[:3, 3] == pytest.approx([0, -1, 0], abs=1e-15)


def test_what_a_loop_would_lose_carries_though_it_is_farther_from_the_base() -> None:
    """A slide, and a hinge with a spring: joints that are said later, from links that are reached later."""
    spring = "<axis><xyz>0 1 0</xyz><dynamics><spring_stiffness>9</spring_stiffness></dynamics></axis>"
    bars = link("a") + link("b") + link("c") + HELD + joint("a", "b", name="ab")
    for kind, inner in (("prismatic", "<axis><xyz>1 0 0</xyz></axis>"), ("revolute", spring)):
        mech = built(model(bars + joint("a", "c", name="near") + joint("b", "c", kind, inner, "far")))
        assert mech.names == ("ab", "far")
        assert [(loop.kind, loop.name) for loop in mech.loops] == [("hinge", "near")]
        assert len(mech.springs) == (kind == "revolute")


def test_free_bodies() -> None:
    """One free tree is a floating base; several are floating joints, as are those beside an arm on the ground."""
    alone = built(model("<pose>0 0 3 0 0 0</pose>" + link("a", "1 0 0 0 0 0") + link("b") + joint("a", "b")))
    assert alone.floating
    assert alone.base[:3, 3].tolist() == [1, 0, 3]
    both = built(model(link("a"), "one") + model(link("a", "0 0 2 0 0 0"), "two"))
    assert [part.joint for part in both.links] == ["floating", "floating"]
    assert both.link_names == ("one::a", "two::a")
    assert both.forward_kinematics(both.neutral, link="two::a")[:3, 3].tolist() == [0, 0, 2]
    beside = built(model(link("a") + link("b") + HELD + joint("a", "b"), "arm") + model(link("c"), "box"))
    assert [part.joint for part in beside.links] == ["floating", "fixed", "revolute"]


def test_a_world() -> None:
    """Gravity of the world; a static model stands, and is left out beside one floating mechanism."""
    ground = '<model name="ground"><static>true</static><link name="plane"/></model>'
    arm = model(link("a") + link("b") + HELD + joint("a", "b"), "arm")
    mech = built(f'<world name="w"><gravity>0 0 -1.6</gravity>{ground}{arm}</world>')
    assert mech.gravity.tolist() == [0, 0, -1.6]
    assert mech.name == "w"
    assert mech.link_names == ("ground::plane", "arm::a", "arm::b")
    assert mech.names == ("arm::j",)
    text = f'<world name="w">{ground}{model(link("a") + link("b") + joint("a", "b"), "robot")}</world>'
    reading = parsed(text)
    assert reading.description.mechanism.floating
    assert any("is on the ground" in remark.message for remark in reading.remarks)
    assert reading.description.mechanism.gravity.tolist() == [0, 0, -9.8]


def test_one_of_several() -> None:
    """root names a model, or the link of a tree."""
    text = model(link("a") + link("b") + joint("a", "b"), "one") + model(link("a"), "two")
    assert built(text, root="one").link_names == ("one::a", "one::b")
    assert built(text, root="two::a").link_names == ("two::a",)
    problems = parsed(text, root="b").problems
    assert "'one', 'two', 'one::a' or 'two::a'" in problems[0].message


# ── files and shapes ──────────────────────────────────────────────────────────────────────────────


def test_a_merged_include(tmp_path: Path) -> None:
    """What is in it stands in the model around it by its own names, posed as in a nested model, also by `__model__`."""
    turned = f'<frame name="f"><pose>0.1 0 0 0 {math.pi / 2!r} 0</pose></frame><frame name="g" attached_to="f"/>'
    inner = link("b", "0 0 0.2 0 0 0") + link("c", "0.3 0 0 0 0 0", "__model__") + turned
    inner += joint("__model__", "c", inner='<axis><xyz expressed_in="__model__">0 1 0</xyz></axis>', name="k")
    (tmp_path / "arm.sdf").write_text(f'<sdf version="1.9">{model(inner, "arm")}</sdf>')
    include = "<uri>arm.sdf</uri><name>arm2</name><pose relative_to='a'>1 0 0 0 0 0.5</pose>"
    mechanisms = []
    for merge, prefix in (("true", ""), ("false", "arm2::")):
        outer = f'<include merge="{merge}">{include}</include>' + link("a", "0 2 0 0 0 0") + HELD
        outer += (
            joint("a", f"{prefix}b", name="l") + link("d", "0 0 1 0 0 0", f"{prefix}g") + joint(f"{prefix}c", "d", name="n")
        )
        (tmp_path / "cart.sdf").write_text(f'<sdf version="1.9">{model(outer)}</sdf>')
        mechanisms.append(lw.load(tmp_path / "cart.sdf"))
    merged, nested = mechanisms
    assert merged.link_names == tuple(name.removeprefix("arm2::") for name in nested.link_names)
    assert set(merged.names) == {"k", "l", "n"}
    q = np.array([0.3, -0.4, 0.5])
    for name, there in zip(merged.link_names, nested.link_names, strict=True):
        assert np.array_equal(merged.forward_kinematics(q, link=name), nested.forward_kinematics(q, link=there)), name
    held = f'<include merge="true">{include}</include>' + link("a") + joint("world", "__model__", "fixed", name="hold")
    (tmp_path / "cart.sdf").write_text(f'<sdf version="1.9">{model(held + joint("b", "a"))}</sdf>')
    assert lw.load(tmp_path / "cart.sdf").links[0].name == "b"  # the first link, which the frame of the model is attached to
    for wrong, message in ((held + link("b"), "the name 'b' occurs twice"), (held.replace("true", "yes"), "merge is 'yes'")):
        (tmp_path / "cart.sdf").write_text(f'<sdf version="1.9">{model(wrong)}</sdf>')
        with pytest.raises(FileError, match=message):
            lw.load(tmp_path / "cart.sdf")


def test_only_an_include_merges() -> None:
    """An attribute of a model that the format does not know changes no name."""
    inner = model(link("b"), "arm")
    assert built(model(inner.replace("<model", '<model merge="true"') + link("a"))).link_names == ("a", "arm::b")


def test_a_link_without_a_name_is_no_canonical_one() -> None:
    frame = '<frame name="f" attached_to="one"/>'
    inner = frame + model("<link/>", "one") + model(link("a"), "two") + joint("f", "two::a", "ball")
    problems = parsed(f"<world name='w'>{inner}</world>").problems
    assert [problem.message for problem in problems] == [
        "model 'one': a link has no name; expected another",
        "model 'one' has no link",
    ]


def test_included_files(tmp_path: Path) -> None:
    """A model by its name, a path, and model.config; what an include says of it, and the file and line of its problems."""
    wheel = tmp_path / "models" / "wheel"
    wheel.mkdir(parents=True)
    mesh = '<visual name="v"><geometry><mesh><uri>rim.stl</uri></mesh></geometry></visual>'
    (wheel / "model.config").write_text('<model><sdf version="1.5">old.sdf</sdf><sdf version="1.9">model.sdf</sdf></model>')
    (wheel / "model.sdf").write_text(
        f'<sdf version="1.9"><model name="wheel"><link name="rim">{BODY}{mesh}</link></model></sdf>'
    )
    left = "<include><uri>model://wheel</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>"
    right = "<include><uri>models/wheel/model.sdf</uri><name>right</name></include>"
    axles = joint("a", "left::rim", name="l") + joint("a", "right::rim", name="r")
    cart = tmp_path / "cart.sdf"
    cart.write_text(f'<sdf version="1.9">{model(link("a") + left + right + HELD + axles)}</sdf>')
    description = read(cart, package_dirs=[tmp_path / "models"])
    mech = description.mechanism
    assert mech.link_names == ("a", "left::rim", "right::rim")
    assert mech.forward_kinematics([0, 0], link="left::rim")[:3, 3].tolist() == [0, 1, 0]
    assert {shape.filename for shape in description.shapes} == {"models/wheel/rim.stl"}
    (wheel / "model.sdf").write_text(
        '<sdf version="1.9"><model name="wheel">\n<link name="rim"/><link name="rim"/></model></sdf>'
    )
    with pytest.raises(
        lw.errors.FileError, match=r"models/wheel/model.sdf', line 2: model 'right': the name 'rim' occurs twice"
    ):
        lw.load(cart, package_dirs=[tmp_path / "models"])
    (wheel / "model.sdf").write_text(f'<sdf version="1.9">{model("<include><uri>model.sdf</uri></include>")}</sdf>')
    with pytest.raises(lw.errors.FileError, match="includes itself"):
        lw.load(cart, package_dirs=[tmp_path / "models"])
    cart.write_text(f'<sdf version="1.9">{model("<include><uri>../secret.sdf</uri></include>")}</sdf>')
    (tmp_path.parent / "secret.sdf").write_text("<sdf/>")
    with pytest.raises(lw.errors.FileError, match="leaves the folder"):
        lw.load(cart)


def test_shapes_and_what_is_left_out() -> None:
    box = "<geometry><box><size>1 2 3</size></box></geometry><material><diffuse>1 0 0</diffuse></material>"
    plane = "<geometry><plane><normal>0 0 1</normal></plane></geometry>"
    visual = (
        f'<visual name="v"><pose relative_to="f">0 0 1 0 0 0</pose>{box}</visual><collision name="c">{plane}</collision>'
    )
    frame = '<frame name="f"><pose>0 0 5 0 0 0</pose></frame>'
    inner = f'<link name="a"><pose>0 0 2 0 0 0</pose>{visual}</link>{frame}{HELD}<plugin name="p" filename="q"/>'
    reading = parsed(model(inner))
    (shape,) = reading.description.shapes
    assert (shape.kind, shape.size, shape.colour) == ("box", (1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 1.0))
    assert shape.origin[2, 3] == 4.0
    told = " ".join(remark.message for remark in reading.remarks)
    assert "its mass is 1 and its inertia 1 1 1" in told
    assert "geometry is <plane>" in told
    assert "<plugin> of a model is not used" in told


def test_the_file_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "arm.world"
    path.write_text(f'<sdf version="1.9">{model(link("a") + link("b") + HELD + joint("a", "b"))}</sdf>')
    assert lw.load(path).names == ("j",)
    assert remarks(path) == []
    with pytest.raises(lw.errors.FileError, match="is read, not written"):
        lw.files.save(lw.load(path), tmp_path / "again.sdf")


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────

AB = link("a") + link("b") + HELD
GEARS = joint("a", "b", "gearbox", "<gearbox_reference_body>b</gearbox_reference_body><axis/><axis2/>", "g")
MISTAKES = {
    "no version": ("", model(AB), "the version is missing; expected '1.2' to '1.12'"),
    "an old version": ("1.1", model(AB), "the version is '1.1'"),
    "no model": ("1.9", "", "<sdf> holds no <model>"),
    "a name twice": ("1.9", model(AB + link("a")), "the name 'a' occurs twice, first as a link in line 1"),
    "no name": ("1.9", model('<link name=""/>'), "a link has no name"),
    "a reserved name": ("1.9", model(link("world")), "the name 'world'"),
    "an unknown frame": ("1.9", model(AB + link("c", "0 0 0 0 0 0", "bb")), "frame or model 'bb' (did you mean 'b'?)"),
    "frames in a ring": (
        "1.9",
        model(AB + '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>' + joint("f", "b")),
        "depends on itself",
    ),
    "poses in a ring": ("1.9", model(link("a", "0 0 0 0 0 0", "a") + HELD), "link 'a': its pose depends on itself"),
    "a short pose": ("1.9", model(link("a", "0 0 1")), "<pose> is '0 0 1'; expected 6 numbers"),
    "a word in a pose": ("1.9", model(link("a", "0 0 1 0 0 x")), "'x' is not a number"),
    "another format of turns": (
        "1.9",
        model('<link name="a"><pose rotation_format="axis">0 0 0 0 0 0</pose></link>'),
        "rotation_format is 'axis'; expected 'euler_rpy' or 'quat_xyzw'",
    ),
    "no turn": (
        "1.9",
        model('<link name="a"><pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose></link>'),
        "its quaternion is [0.0, 0.0, 0.0, 0.0]",
    ),
    "an unknown type": ("1.9", model(AB + joint("a", "b", "hinge")), "type is 'hinge'; expected 'revolute'"),
    "a gearbox on nothing": ("1.9", model(AB + joint("a", "b", "gearbox")), "it has no <gearbox_reference_body>"),
    "a gearbox with one axis": ("1.9", model(AB + GEARS.replace("<axis2/>", "")), "it has no <axis2>; expected two axes"),
    "a gearbox without a joint": ("1.9", model(AB + GEARS), "no revolute joint is between 'b' and 'a'; expected one"),
    "a gearbox of no ratio": (
        "1.9",
        model(AB + GEARS.replace("<axis/>", "<axis/><gearbox_ratio>0</gearbox_ratio>")),
        "its gearbox_ratio is 0",
    ),
    "no parent": ("1.9", model(AB + '<joint name="j" type="fixed"><child>b</child></joint>'), "it has no <parent>"),
    "an unknown child": ("1.9", model(AB + joint("a", "c")), "no link, joint, frame or model 'c'"),
    "the world as child": ("1.9", model(AB + joint("a", "world")), "its child is the world"),
    "a link with itself": ("1.9", model(AB + joint("a", "a")), "the same link, 'a'"),
    "a zero axis": ("1.9", model(AB + joint("a", "b", inner="<axis><xyz>0 0 0</xyz></axis>")), "its axis is zero"),
    "one of two axes": ("1.9", model(AB + joint("a", "b", "universal", "<axis/>")), "it has no <axis2>"),
    "reversed limits": (
        "1.9",
        model(AB + joint("a", "b", inner="<axis><limit><lower>1</lower><upper>-1</upper></limit></axis>")),
        "swap_limits=True exchanges them",
    ),
    "negative damping": (
        "1.9",
        model(AB + joint("a", "b", inner="<axis><dynamics><damping>-1</damping></dynamics></axis>")),
        "its damping is -1.0; expected a number >= 0",
    ),
    "a slide that closes a loop": (
        "1.9",
        model(
            AB
            + link("c")
            + joint("a", "b", "prismatic")
            + joint("a", "c", name="l")
            + joint("c", "b", "prismatic", name="k")
        ),
        "a prismatic joint cannot close a loop",
    ),
    "a leader that is not there": (
        "1.9",
        model(AB + joint("a", "b", inner='<axis><mimic joint="k"/></axis>')),
        "it mimics 'k', but there is no such joint",
    ),
    "an inertia that cannot be": (
        "1.9",
        model('<link name="a"><inertial><inertia><ixx>9</ixx></inertia></inertial></link>'),
        "reading with physical=False accepts it",
    ),
    "a mass of no shape": ("1.11", model('<link name="a"><inertial auto="true"/></link>'), "it has no <collision>"),
    "a mass of a mesh": (
        "1.11",
        model('<link name="a"><inertial auto="true"/><collision name="c"><geometry><mesh/></geometry></collision></link>'),
        "a collision is none of 'sphere', 'capsule'",
    ),
    "a mass of a size below 0": (
        "1.11",
        model(
            '<link name="a"><inertial auto="true"/><collision name="c"><geometry><sphere><radius>-1</radius></sphere>'
            "</geometry></collision></link>"
        ),
        "a size or a density is not positive",
    ),
    "an added mass": (
        "1.11",
        model('<link name="a"><inertial><fluid_added_mass/></inertial></link>'),
        "<fluid_added_mass> is an inertia that is not read",
    ),
    "a file without a folder": ("1.9", model("<include><uri>a.sdf</uri></include>"), "include_root names the folder"),
    "an include of nothing": ("1.9", model("<include/>"), "it has no <uri>"),
    "two worlds": ("1.9", '<world name="a"/><world name="b"/>', "there are 2 worlds; expected one"),
    "no truth": ("1.9", model(f"<static>maybe</static>{AB}"), "<static> is 'maybe'; expected true or false"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    version, inner, message = MISTAKES[name]
    reading = parsed(inner, version) if version else sdf.parse(f"<sdf>{inner}</sdf>", "", None, ReadOptions())
    assert reading.description is None
    assert message in " / ".join(problem.message for problem in reading.problems)


def test_the_world_of_an_included_urdf(tmp_path: Path) -> None:
    """A link ``world`` of a URDF is the ground, on which its robot stands; without it the robot is free."""
    stand = '<link name="world"/><joint name="s" type="fixed"><origin xyz="0 0 2"/><parent link="world"/>'
    stand += '<child link="a"/></joint>'
    include = f'<sdf version="1.9">{model("<include><uri>r.urdf</uri><name>r</name></include>")}</sdf>'
    for inner, floats, height in ((stand, False, 2.0), ("", True, 0.0)):
        (tmp_path / "r.urdf").write_text(f'<robot name="r">{inner}<link name="a"/></robot>')
        mech = lw.loads(include, include_root=tmp_path)
        assert (mech.floating, mech.link_names) == (floats, ("r::a",))
        assert mech.link_poses(mech.neutral)[0, 2, 3] == height


def test_an_mjcf_in_sdf(tmp_path: Path) -> None:
    """What stands on the ground there stands on it here; what a model of SDF cannot say is refused."""
    limb = '<joint name="b" type="{}"{}/><geom size="0.1" pos="0 0 0.3"/>'
    body = '<body name="post" pos="0 0 1"><body name="l" pos="0.1 0 0"><joint name="a" type="slide" range="-1 2"/>'
    text = f'<mujoco><worldbody>{body}<geom size="0.1"/><body name="r">{limb}</body></body></body></worldbody></mujoco>'
    crane = f'<sdf version="1.9">{model("<include><uri>m.xml</uri><pose>0 2 0 0 0 0</pose><name>n</name></include>")}</sdf>'
    (tmp_path / "m.xml").write_text(text.format("ball", ""))
    theirs, ours = lw.load(tmp_path / "m.xml"), lw.loads(crane, include_root=tmp_path)
    assert ours.link_names == tuple(f"n::{name}" for name in theirs.link_names)
    assert (ours.q_min.tolist(), ours.q_max.tolist()) == ([-1.0], [2.0])
    q = theirs.random_configuration(0)
    assert np.abs(ours.link_poses(q) - translation(0.0, 2.0, 0.0) @ theirs.link_poses(q)).max() < 1e-15
    (tmp_path / "m.xml").write_text(text.format("hinge", " stiffness='2'"))
    with pytest.raises(FileError, match=r"<include> of 'm.xml': would be lost in an SDF: its springs"):
        lw.loads(crane, include_root=tmp_path)


def test_nothing_but_the_ground() -> None:
    with pytest.warns(LinkwiseWarning, match="there is no <link>: the mechanism is the ground alone"):
        mech = lw.loads('<sdf version="1.9"><world name="w"/></sdf>')
    assert (mech.link_names, mech.n, mech.mass_matrix([]).shape) == (("ground",), 0, (0, 0))


def test_what_is_dropped() -> None:
    """An added mass, and a limit that is not a number: Drake leaves them out in silence."""
    axis = '<axis><xyz>0 0 1</xyz><limit><velocity>2"</velocity><effort>5</effort></limit></axis>'
    added = BODY.replace("<mass>", "<fluid_added_mass><xx>9</xx></fluid_added_mass><mass>")
    text = model(link("a", body=added) + joint("world", "a", inner=axis))
    assert [problem.message for problem in parsed(text).problems] == [
        "link 'a': <fluid_added_mass> is an inertia that is not read; with drop_unknown=True it is left out",
        "joint 'j': <velocity>: '2\"' is not a number; with drop_unknown=True there is no such limit",
    ]
    (part,) = built(text, drop_unknown=True).links
    assert (part.body.mass, part.qd_max, part.tau_max) == (2.0, None, 5.0)


ABOUT = "<axis><xyz>{}</xyz></axis>"


def geared(axis: str) -> str:
    """A rotor and a leg on a hip, coupled about some axis and x."""
    said = "<gearbox_reference_body>hip</gearbox_reference_body><gearbox_ratio>0.04</gearbox_ratio>"
    said += ABOUT.format(axis) + ABOUT.format("1 0 0").replace("axis>", "axis2>")
    text = link("hip") + link("rotor") + link("leg") + joint("world", "hip", "fixed", name="w")
    text += "".join(joint("hip", end, inner=ABOUT.format("1 0 0"), name=f"to {end}") for end in ("rotor", "leg"))
    return f'<sdf version="1.9">{model(text + joint("rotor", "leg", "gearbox", said, "g"))}</sdf>'


@pytest.mark.parametrize(("axis", "ratio"), [("1 0 0", -0.04), ("-1 0 0", 0.04)])
def test_a_gearbox_couples_two_joints(axis: str, ratio: float) -> None:
    """theta_2 = -0.04 theta_1 about its own axes; the joint of the child follows that of the parent."""
    mech = lw.loads(geared(axis))
    assert [part.mimic for part in mech.links if part.mimic] == [Mimic("to rotor", ratio)]
    assert mech.names == ("to rotor",)


def test_the_axes_of_a_gearbox_are_those_of_its_joints() -> None:
    with pytest.raises(FileError, match="its axis is not that of 'to rotor'; expected parallel axes"):
        lw.loads(geared("0 1 0"))
