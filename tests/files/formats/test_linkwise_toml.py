"""Linkwise .toml: reading back gives the same mechanism to the last bit; every mistake is named with its line."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import ConstantForce, EndStop, Inertia, Link, Loop, Mechanism, Mimic, Motor, Spring, robots
from linkwise.errors import FileError
from linkwise.files import check, load, loads, read, remarks, save
from linkwise.files.formats.linkwise_toml import parse
from linkwise.files.toml_text import DEEPEST
from linkwise.model.joints import Curvilinear, Joint, PolynomialSlide
from linkwise.spatial.rotation import rotation_about, rpy_to_rotation
from linkwise.spatial.transform import transform
from support.messages import unnamed

#: Joints with keys of their own.
OWN_KEYS = (
    Curvilinear([0.3, 1.1], [0.0, -2.5]),
    Curvilinear([0.1 * math.pi], [20.0], repeats=True),
    PolynomialSlide(np.array([0.6, 0.0, -0.8]), np.array([0.1, -0.3, 1 / 3])),
)

HEAD = 'format = "linkwise 1"\n'
ONE = HEAD + "[[link]]\n"


def written(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "arm.toml"
    path.write_text(content, encoding="utf-8", newline="")
    return path


def messages(path: Path) -> list[str]:
    return [str(problem) for problem in check(path)]


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_survives(tmp_path: Path, name: str) -> None:
    there = robots.describe(name)
    save(there.mechanism, tmp_path / "a.TOML", external=range(6), source=there.source)
    back = read(tmp_path / "a.TOML")
    assert back.mechanism == there.mechanism
    assert back.source == there.source
    assert back.external.tolist() == [0, 1, 2, 3, 4, 5]


# ── anything the model can hold ───────────────────────────────────────────────────────────────────

numbers = st.floats(-1e3, 1e3)
vectors = st.tuples(numbers, numbers, numbers)
axes = vectors.filter(lambda v: math.hypot(*v) > 1e-6)
frames = st.builds(
    lambda axis, angle, shift: transform(rotation_about(np.array(axis) / math.hypot(*axis), angle), shift),
    axes,
    numbers,
    vectors,
)
some_frames = st.none() | frames
angles = st.floats(-math.tau, math.tau)
rules = st.sampled_from(["reflected", "toolbox7"])


@st.composite
def some_motors(draw: st.DrawFn, carriers: st.SearchStrategy[str | int], joint: str | None = None) -> Motor:
    """A plain motor, or one whose rotor a link carries: inside the link's own inertia, or as a body about a tilted axis."""
    plain = draw(st.floats(0, 10)), draw(numbers.filter(bool)), draw(st.floats(0, 10))
    motor = Motor(*plain, draw(st.tuples(st.floats(0, 5), st.floats(-5, 0))), joint=joint, friction_rule=draw(rules))
    form = draw(st.sampled_from(["plain", "inside", "body"]))
    if form == "plain":
        return motor
    axis = np.array(draw(axes))
    if form == "inside":
        return motor.replace(carrier=draw(carriers), axis=axis)
    unit = axis / math.hypot(*axis)
    about, across = draw(st.floats(0.1, 1)), draw(st.floats(0.6, 1))
    tensor = across * np.eye(3) + (about - across) * np.outer(unit, unit)
    return motor.replace(
        inertia=None, carrier=draw(carriers), axis=axis, mass=draw(st.floats(0, 9)), com=draw(vectors), rotor_inertia=tensor
    )


motors = st.none() | some_motors(st.just("base"))
ends = st.floats(-1e3, 0) | st.just(-math.inf), st.floats(0, 1e3) | st.just(math.inf)
tensors = st.tuples(*[st.floats(1.0, 1.5)] * 3, *[st.floats(-0.05, 0.05)] * 3) | st.tuples(*[st.floats(1.0, 1.5)] * 3)


@st.composite
def links(draw: st.DrawFn) -> Link:
    common = {
        "mass": draw(st.floats(0, 100)),
        "com": draw(vectors),
        "inertia": draw(tensors),
        "physical": draw(st.booleans()),
    }
    joint = draw(st.sampled_from(["revolute", "prismatic", "screw", "fixed"]))
    if joint != "fixed":
        common |= {"offset": draw(angles if joint == "revolute" else numbers)}
        common |= {"limits": draw(st.none() | st.tuples(*ends)), "motor": draw(motors)}
        common |= {key: draw(st.none() | st.floats(0, 1e3)) for key in ("qd_max", "qdd_max", "tau_max")}
    if joint != "screw" and draw(st.booleans()):
        convention = draw(st.sampled_from(["standard", "modified"]))
        b = draw(numbers) if convention == "standard" else 0.0
        row = [draw(kind) for kind in (angles, numbers, numbers, angles)]
        return Link.dh(*row, b=b, convention=convention, joint=joint, **common)
    pitch = draw(numbers) if joint == "screw" else 0.0
    return Link(joint=joint, before=draw(some_frames), after=draw(some_frames), axis=draw(axes), pitch=pitch, **common)


@st.composite
def mechanisms(draw: st.DrawFn) -> Mechanism:
    count = draw(st.integers(1, 4))
    word = st.text(min_size=1, max_size=8).filter(lambda text: text.strip() and text != "base")
    names = draw(st.lists(word, min_size=count, max_size=count, unique=True))
    made = []
    for k in range(count):
        parent = draw(st.none() | st.sampled_from(["base", *names[:k]]))
        link = draw(links())
        joint = draw(st.none() | word) if made else None
        leaders = [a for a in made if a.moves]
        mimic = None
        if leaders and link.moves and link.limits is None and draw(st.booleans()):
            mimic = Mimic(draw(st.sampled_from(leaders)).coordinate_name, draw(numbers), draw(numbers))
        if joint in {*names, *(a.joint_name for a in made)}:
            joint = None
        made.append(link.replace(name=names[k], joint_name=joint, parent=parent, mimic=mimic, dh_row=link.dh_row))
    payload = Inertia(draw(st.floats(0, 9)), draw(vectors), draw(tensors)) if draw(st.booleans()) else None
    base, tool = draw(some_frames), draw(some_frames)
    moving = [link.coordinate_name for link in made if link.moves]
    carriers = st.sampled_from(["base", *names, *range(count)])
    joints = draw(st.lists(st.sampled_from(moving), max_size=3)) if moving else []
    rest = {"motors": [draw(some_motors(carriers, joint)) for joint in joints], "floating": draw(st.booleans())}
    rest["tool_link"] = draw(st.none() | st.sampled_from(names))
    if count > 1 and draw(st.booleans()):
        ends = draw(st.permutations(["base", *names]))[:2]
        kind = draw(st.sampled_from(["full", "point", "hinge"]))
        rest["loops"] = [Loop(kind, *ends, draw(some_frames), draw(some_frames), draw(st.none() | word))]
    return Mechanism(made, base=base, tool=tool, gravity=draw(vectors), payload=payload, name=draw(word), **rest)


@settings(deadline=None, max_examples=80)
@given(mechanism=mechanisms(), external=st.none() | st.tuples(*[numbers] * 6))
def test_any_mechanism_survives(tmp_path_factory: pytest.TempPathFactory, mechanism: Mechanism, external: object) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    save(mechanism, path, external=external)
    assert read(path).mechanism == mechanism


@pytest.mark.parametrize("joint", OWN_KEYS)
def test_joints_with_keys_of_their_own_survive(tmp_path: Path, joint: Joint) -> None:
    axis = {"axis": joint.axis} if isinstance(joint, PolynomialSlide) else {}
    mechanism = Mechanism([Link(joint=joint, name="cart", mass=1.0, **axis), Link(name="arm", axis=(1, 1, 0))], name="train")
    save(mechanism, tmp_path / "train.toml")
    again = read(tmp_path / "train.toml").mechanism
    assert again == mechanism
    assert again.links[0].joint_model == joint


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ('joint = "curvilinear"\nlengths = [1]', "link 'a': curvatures is None"),
        ('joint = "curvilinear"\nlengths = [1, -1]\ncurvatures = [0, 1]', "line 5: curvilinear joint: lengths"),
        ('joint = "polynomial"', "link 'a': coefficients is None"),
        ('joint = "polynomial"\ncoefficients = []', "coefficients"),
        ('joint = "prismatic"\ncoefficients = [1]', "line 5: link 'a' has 'coefficients', but its joint is 'prismatic'"),
        ("repeats = true", "its joint is 'revolute'; expected 'curvilinear'"),
    ],
)
def test_keys_of_such_joints_that_are_wrong(table: str, expected: str) -> None:
    with pytest.raises(FileError) as caught:
        loads(f'format = "linkwise 1"\n[[link]]\nname = "a"\n{table}\n')
    assert expected in str(caught.value)


def test_no_field_of_the_model_is_forgotten() -> None:
    known = {"joint", "before", "after", "axis", "pitch", "offset", "limits", "name", "parent", "body", "motor", "dh_row"}
    known |= {"joint_name", "qd_max", "qdd_max", "tau_max", "mimic"}
    assert {field.name for field in dataclasses.fields(Link)} == known | {"joint_model"}, (
        "files/formats/linkwise_toml.py must learn the new field"
    )
    motor = {"inertia", "gear_ratio", "viscous", "coulomb", "friction_rule", "joint", "carrier", "axis"}
    motor |= {"mass", "com", "rotor_inertia", "transition_speed", "breakaway"}
    assert {field.name for field in dataclasses.fields(Motor)} == motor, (
        "files/formats/linkwise_toml.py must learn the new field"
    )
    assert {field.name for field in dataclasses.fields(Mimic)} == {"joint", "ratio", "offset"}
    loop = {"kind", "first", "second", "first_frame", "second_frame", "name"}
    assert {field.name for field in dataclasses.fields(Loop)} == loop
    assert {field.name for field in dataclasses.fields(Spring)} == {
        *("joints", "stiffness", "rest", "damping", "force", "name", "inertia", "slack", "nonlinear_stiffness"),
    }
    assert {field.name for field in dataclasses.fields(EndStop)} == {
        *("joint", "stiffness", "damping", "limits", "name", "restitution"),
    }
    whole = {"links", "loops", "motors", "springs", "base", "tool", "tool_link", "gravity", "payload", "floating", "name"}
    whole |= {"shapes"}
    assert set(Mechanism([Link()])._values()) == whole, "files/formats/linkwise_toml.py must learn the new field"


# ── the forms that people write ───────────────────────────────────────────────────────────────────


def test_degrees_are_converted(tmp_path: Path) -> None:
    text = HEAD + (
        'angles = "deg"\nconvention = "standard"\n'
        "[[link]]\ntheta = 90\nalpha = -90\noffset = 45\nlimits = [-180, inf]\n"
        '[[link]]\njoint = "prismatic"\ntheta = 90\noffset = 45\nlimits = [-180, 180]\n'
        "[[link]]\nbefore = {rpy = [0, 90, 0]}\n"
    )
    first, second, third = load(written(tmp_path, text)).links
    assert first.dh_row is not None
    assert first.dh_row.theta == math.pi / 2
    assert first.offset == math.pi / 4
    assert first.limits == (-math.pi, math.inf)
    assert second.offset == 45
    assert second.limits == (-180, 180)
    np.testing.assert_array_equal(third.before[:3, :3], rpy_to_rotation(0, math.pi / 2, 0))


def test_conventions_can_be_mixed(tmp_path: Path) -> None:
    mixed = Mechanism([Link.dh(0.1, 0.2, 0.3, 0.4, convention=c) for c in ("standard", "modified")])
    save(mixed, tmp_path / "a.toml")
    assert load(tmp_path / "a.toml").links == mixed.links


def test_name_comes_from_the_file_where_none_is_given(tmp_path: Path) -> None:
    assert load(written(tmp_path, ONE)).name == "arm"


@pytest.mark.parametrize(
    "change", [lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"), lambda t: t.replace("\n", "\r")]
)
def test_marks_and_line_ends(tmp_path: Path, change: object) -> None:
    assert callable(change)
    assert load(written(tmp_path, change(ONE))).n == 1


def test_the_documented_example_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "file-formats.md").read_text(encoding="utf-8")
    mechanism = read(written(tmp_path, page.split("```toml\n")[1].split("```")[0])).mechanism
    assert mechanism.link_names == ("shoulder", "finger", "other finger")
    assert (mechanism.names, mechanism.loops[0].name) == (("shoulder", "squeeze"), "pin")


def test_the_rover_survives(tmp_path: Path) -> None:
    rover = load(Path(__file__).parents[1] / "data" / "rover.toml")
    assert rover.floating
    assert [(drive.coordinate, drive.carrier) for drive in rover.drives] == [(0, 0), (1, 1), (1, 1)]
    assert not remarks(Path(__file__).parents[1] / "data" / "rover.toml")
    save(rover, tmp_path / "a.toml")
    assert load(tmp_path / "a.toml") == rover


def test_motors_are_read_as_they_are_written_by_hand(tmp_path: Path) -> None:
    text = ONE + (
        "name = 'arm'\nmass = 1\n[[link]]\nname = 'hand'\nmotor = {inertia = 1e-3, carrier = 0, axis = [0, 0, 2]}\n"
        "[[motor]]\njoint = 'hand'\ncarrier = 'base'\naxis = [0, 1, 0]\nmass = 0.4\nrotor_inertia = [3e-4, 2e-4, 3e-4]\n"
        "[[motor]]\njoint = 'arm'\nfriction_rule = 'toolbox7'\n"
    )
    mechanism = load(written(tmp_path, text.replace("[[link]]", "floating = true\n[[link]]", 1)))
    assert mechanism.floating
    assert mechanism.links[1].motor == Motor(1e-3, carrier=0, axis=(0, 0, 1))
    assert mechanism.motors == (
        Motor(joint="hand", carrier="base", axis=(0, 1, 0), mass=0.4, rotor_inertia=(3e-4, 2e-4, 3e-4)),
        Motor(joint="arm", friction_rule="toolbox7"),
    )
    assert mechanism.motors[0].inertia == 2e-4


def test_remarks_on_rotors_and_floating(tmp_path: Path) -> None:
    small = ONE + "name = 'arm'\nmass = 1\ninertia = [1, 1, 1e-3]\n[[link]]\nname = 'hand'\nmass = 1\n"
    motor = "[[motor]]\njoint = 'hand'\ncarrier = 'arm'\naxis = [0, 0, 1]\ninertia = {}\n"
    assert not remarks(written(tmp_path, small.replace("1e-3", "2e-3") + motor.format("1e-3") * 2))
    told = [str(remark) for remark in remarks(written(tmp_path, small.replace("1e-3", "2e-3") + motor.format("1.1e-3") * 2))]
    assert told == [
        "line 5: link 'arm': its inertia is too small to contain the rotors that it carries (0.0011 kg m2 of 'hand' and "
        "0.0011 kg m2 of 'hand'); give each its mass and rotor_inertia, or the link's inertia with them"
    ]
    own_body = small + motor.format("5.0") + "rotor_inertia = [3, 3, 5]\n"
    assert not remarks(written(tmp_path, own_body))
    told = [str(remark) for remark in remarks(written(tmp_path, HEAD + "floating = true\n[[link]]\njoint = 'fixed'\n"))]
    assert told == ["line 2: the base floats, but nothing has a mass"]


def test_remarks(tmp_path: Path) -> None:
    text = HEAD + "gravity = [0, 0, 0]\n[[link]]\nname = 'a'\n[[link]]\nname = 'b'\nmass = 1\nphysical = false\n"
    assert [str(remark) for remark in remarks(written(tmp_path, text))] == [
        "line 2: gravity is zero",
        "line 3: link 'a' moves, but has no mass and no inertia, and its joint moves none at all: its acceleration is not "
        "defined, and forward dynamics and simulate refuse it",
        "line 7: joint 'b' moves no inertia (its mass is on the axis, and a point has none about it): its acceleration is "
        "not defined, and forward dynamics and simulate refuse it",
        "line 8: link 'b': physical = false, its inertia is not checked",
    ]


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────

BAD = [
    (HEAD, ["there is no link; expected one [[link]] table or more"]),
    ("[[link]]\n", ["there is no format; expected format = 'linkwise 1'"]),
    ('format = "linkwise 2"\n[[link]]\n', ["line 1: format is 'linkwise 2'; this version reads 'linkwise 1'"]),
    (HEAD + "link = 3\n", ["line 2: link is 3; expected one [[link]] table or more"]),
    (HEAD + "link = [3]\n", None),
    (
        ONE + "mas = 1\n",
        [
            "line 3: link 1 has no key 'mas' (did you mean 'mass'?); the keys are 'name', 'parent', 'joint', 'joint_name', "
            "'convention', 'theta', 'd', 'a', 'alpha', 'b', 'before', 'after', 'axis', 'pitch', 'lengths', 'curvatures', "
            "'repeats', 'coefficients', 'offset', 'limits', 'qd_max', 'qdd_max', 'tau_max', 'mimic', 'mass', 'com', "
            "'inertia', 'physical' and 'motor'"
        ],
    ),
    (ONE + "mass = '1'\n", ["line 3: link 1: mass is '1'; expected a finite number"]),
    (ONE + "mass = nan\n", ["line 3: link 1: mass is nan; expected a finite number"]),
    (ONE + "mass = true\n", ["line 3: link 1: mass is True; expected a finite number"]),
    (ONE + f"mass = 1{'0' * 400}\n", None),
    (ONE + "name = 'x'\nmass = -1\n", ["line 4: link 'x': mass is -1.0; expected a finite number >= 0"]),
    (ONE + "theta = 1\n", None),
    (
        ONE + "\n\njoint = 'spherical'\n",
        [
            "line 5: link 'link1': joint is 'spherical'; expected "
            "'revolute', 'prismatic', 'screw', 'universal', 'cylindrical', 'planar', 'ball', 'fixed' or 'floating'"
        ],
    ),
    (
        ONE + "limits = [2,\n1]\n",
        ["line 3: link 'link1': limits is [2.0, 1.0]; expected the lower limit first, then the upper, neither NaN"],
    ),
    (ONE + "axis = [0, 0, 0]\n", ["line 3: link 'link1': axis is [0.0, 0.0, 0.0]; expected a vector other than zero"]),
    (ONE + "axis = [0, 0]\n", ["line 3: link 1: axis is [0, 0]; expected a list of 3 finite numbers, or 2 such lists"]),
    (ONE + "[link.motor]\ngear_ratio = 0\n", None),
    (ONE + "name = 'a'\n[[link]]\nname = 'a'\n", ["line 5: link 'a' occurs twice, first in line 3"]),
    (ONE + "name = 'a'\nparent = 'b'\n", ["line 4: link 'a': parent is 'b'; expected 'base'"]),
    (ONE + "name = 'a'\nparent = 'a'\n", None),
    (ONE + "name = ''\n", None),
    (ONE + "name = 'base'\n", None),
    ("[base]\nxyz = [0, 0, 1]\n" + ONE[len(HEAD) :], ["there is no format; expected format = 'linkwise 1'"]),
    (
        HEAD + "[tool]\nxyz = [0, 0, 1]\nmatrix = [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]\n[[link]]\n",
        ["line 3: tool: xyz is [0.0, 0.0, 1.0]; expected nothing beside a matrix"],
    ),
    (HEAD + "[base]\nmatrix = [[2,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]\n[[link]]\n", None),
    (HEAD + "[payload]\nmass = -2\n[[link]]\n", ["line 3: payload: mass is -2.0; expected a finite number >= 0"]),
    (HEAD + "angles = 'grad'\n[[link]]\n", ["line 2: angles is 'grad'; expected 'rad' or 'deg'"]),
    (HEAD + "[external]\nforce = [1, 2, 'x']\n[[link]]\n", None),
    (HEAD + "[[link]\n", ["line 2: not valid TOML: Expected ']]' at the end of an array declaration (column 7)"]),
    (HEAD + "[[link]]\nname = 'a", None),
    (HEAD + "a = " + "[" * 5000, None),
    (HEAD + "a = 1" + "0" * 5000, None),
    (HEAD + "floating = 1\n[[link]]\n", ["line 2: floating is 1; expected true or false"]),
    (
        HEAD + "floating = true\n[[link]]\nname = 'base_x'\n",
        ["line 4: link 'base_x': name is 'base_x'; expected another name (this one is a coordinate of the floating base)"],
    ),
    (HEAD + "motor = 3\n[[link]]\n", ["line 2: motor is 3; expected one [[motor]] table or more"]),
    (
        ONE + "[[motor]]\ninertia = 1\n",
        ["line 3: motor 1 has no joint; expected joint = the name of the link that it moves"],
    ),
    (ONE + "mimic = 'a'\n", ["line 3: link 1: mimic is 'a'; expected a table with 'joint', 'ratio' and 'offset'"]),
    (
        ONE + "mimic = {ratio = 2}\n",
        ["line 3: link 1: mimic has no joint; expected joint = the name of the one followed"],
    ),
    (
        ONE + "[[link]]\nmimic = {joint = 'arm'}\n",
        ["line 4: joint 'link2': mimic.joint is 'arm'; expected 'link1'"],
    ),
    (
        HEAD + "[[link]]\nmimic = {joint = 'link1', ratio = 'two'}\n",
        [
            "line 3: link 1: mimic: ratio is 'two'; expected a finite number",
            "line 3: joint 'link1': mimic.joint is 'link1'; expected a joint that does not follow this one in turn (a ring)",
        ],
    ),
    (ONE + "joint_name = ' '\n", ["line 3: link 'link1': joint_name is ' '; expected a word, or None"]),
    (ONE + "tau_max = -1\n", ["line 3: link 'link1': tau_max is -1.0; expected a finite number >= 0"]),
    (
        ONE + "[[loop]]\nkind = 'ball'\nfirst = 'link1'\nsecond = 'base'\n",
        ["line 4: loop 1: kind is 'ball'; expected 'full', 'point' or 'hinge'"],
    ),
    (
        ONE + "[[loop]]\nkind = 'full'\nfirst = 'link1'\nsecond = 'leg'\nname = 'knee'\n",
        ["line 6: loop 1: second is 'leg'; expected 'base' or 'link1'"],
    ),
    (
        ONE + "[[loop]]\nkind = 'full'\n",
        ["line 3: loop 1 has no 'first' or 'second'; expected kind, first and second"],
    ),
    (ONE + "[[motor]]\njoint = 'leg'\n", ["line 4: motor 1: joint is 'leg'; expected 'link1'"]),
    (
        ONE + "joint = 'fixed'\n[[link]]\n[[motor]]\njoint = 'link1'\n",
        ["line 6: motor 1: joint is 'link1'; expected 'link2'; a fixed link has no joint to drive"],
    ),
    (
        ONE + "[[motor]]\njoint = 'link1'\n[[motor]]\njoint = 'link1'\ncarrier = 'leg'\naxis = [0, 0, 1]\n",
        ["line 7: motor 2: carrier is 'leg'; expected 'base' or 'link1', or an index from 0 to 0"],
    ),
    (
        ONE + "[[motor]]\njoint = 'link1'\ninertia = -1\n[[motor]]\njoint = 'link1'\ncarrier = 7\naxis = [0, 0, 1]\n",
        [
            "line 5: motor 1: inertia is -1.0; expected a finite number >= 0",
            "line 8: motor 2: carrier is 7; expected 'base' or 'link1', or an index from 0 to 0",
        ],
    ),
    (
        ONE + "[[motor]]\njoint = 'link1'\ncarrier = 1.5\naxis = [0, 0, 1]\nmass = 1\n",
        ['line 5: motor 1: carrier is 1.5; expected the name of a link in quotes, its place from 0, or "base"'],
    ),
    (
        ONE + "[[motor]]\njoint = 'link1'\ncarrier = 'base'\naxis = [0, 1]\n",
        ["line 6: motor 1: axis is [0, 1]; expected a list of 3 finite numbers"],
    ),
    (
        ONE + "[[motor]]\njoint = 'link1'\ncarrier = 'base'\n",
        [
            "line 3: motor 1: axis is None; expected the direction of the rotor's spin in the carrier's axes, for a carrier "
            "is given"
        ],
    ),
    (
        ONE + "[[motor]]\njoint = 'link1'\nfriction_rule = 'old'\n",
        ["line 5: motor 1: friction_rule is 'old'; expected 'reflected' or 'toolbox7'"],
    ),
    (
        ONE + "motor = {carrier = 'leg', axis = [0, 0, 1]}\n",
        ["line 3: link 'link1': motor: carrier is 'leg'; expected 'base' or 'link1', or an index from 0 to 0"],
    ),
    (
        ONE + "motor = {carrier = true, axis = [0, 0, 1]}\n",
        ['line 3: link 1: motor: carrier is True; expected the name of a link in quotes, its place from 0, or "base"'],
    ),
    (
        ONE + "name = 'arm'\nmotor = {joint = 'leg'}\n",
        [
            "line 4: link 'arm': motor.joint is 'leg'; expected 'arm' or nothing (a motor of another joint goes into a "
            "[[motor]] table)"
        ],
    ),
    (ONE + "inertia = [1e308, 1e308, 1e308]\nmass = 1\n", None),
    (
        HEAD + "convention = 'standard'\n[[link]]\ntheta = 90\nalpha = -90\noffset = 45\n",
        [
            f"line {line}: link 1: {angle} rad, more than a turn; if these are degrees, "
            'write angles = "deg" before the first table'
            for line, angle in ((4, "theta is 90"), (5, "alpha is -90"), (6, "offset is 45"))
        ],
    ),
    (
        HEAD + "convention = 'standard'\nangles = 'deg'\n[[link]]\ntheta = 360\nalpha = 400\n",
        ["line 6: link 1: alpha is 400 degrees, more than a turn"],
    ),
    (
        HEAD + "convention = 'standard'\n[[link]]\ntheta = 'q1'\nd = 0\n",
        ["line 4: link 1: theta is 'q1'; expected a finite number; write 0 for the joint's variable: its value is added"],
    ),
    (
        HEAD + "lengths = 'mm'\n[[link]]\n",
        [
            "line 2: the file has no key 'lengths': lengths are in m, masses in kg; angles alone may be in degrees, with "
            'angles = "deg"'
        ],
    ),
    (ONE + "axis = [1e308, 1e308, 1e308]\n", None),
]


@pytest.mark.parametrize(("content", "expected"), BAD)
def test_each_mistake_is_named(tmp_path: Path, content: str, expected: list[str] | None) -> None:
    path = written(tmp_path, content)
    found = messages(path)
    if expected is not None:
        assert found == expected
    if found:
        with pytest.raises(FileError) as caught:
            read(path)
        assert unnamed(caught.value, "\n".join(f"{path}: {line}" for line in found)) == []


def test_joints_in_letters(tmp_path: Path) -> None:
    text = HEAD + "".join(f"[[link]]\njoint = '{letter}'\n" for letter in "RPF")
    assert [link.joint for link in load(written(tmp_path, text)).links] == ["revolute", "prismatic", "fixed"]


def test_a_convention_is_never_guessed(tmp_path: Path) -> None:
    assert messages(written(tmp_path, ONE + "a = 1\n")) == [
        "line 3: link 1 has a Denavit-Hartenberg row, but no convention is given; expected convention = 'standard' or "
        "'modified' before the first table"
    ]


def test_every_problem_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    text = HEAD + (
        "colour = 3\n"
        "gravity = [0, 0]\n"
        "[[link]]\nname = 'a'\naxis = [0, 0, 1]\na = 1\n"
        "[[link]]\nname = 'b'\nparent = 'c'\ninertia = [1, 1, 5]\nmotor = {inertia = -1, gear_ratio = 0, visc = 3}\n"
        "[[link]]\nname = 'c'\nparent = 'b'\nbefore = {rpy = [0, 0]}\nmass = 1979-05-27\n"
    )
    assert [problem.line for problem in check(written(tmp_path, text))] == [2, 3, 6, 10, 11, 12, 12, 12, 16, 17]


def test_names_outside_unicode_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="UTF-8 cannot encode"):
        save(Mechanism([Link(name="a\ud800")]), tmp_path / "a.toml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["[{}]\n", "[[{}]]\n", "{} = 1\n", "a = {{{} = 1}}\n", "x = [{{{} = 1}}]\n"])
@pytest.mark.parametrize("part", ["a", '"a b"', "'a'", r'"\""', r'"\\"'])
def test_keys_of_thousands_of_parts(text: str, part: str) -> None:
    """The parser of TOML takes time in proportion to the square of their number."""
    start = time.process_time()
    reading = parse("# a comment\n" + text.format(" . ".join([part] * 20_000)))
    assert [problem.line for problem in reading.problems] == [2]
    assert f"{DEEPEST} parts" in reading.problems[0].message
    assert time.process_time() - start < 2  # 22 s before


def test_dots_that_are_no_keys_are_read() -> None:
    dots = ".".join(["a"] * 100)
    text = f'format = "linkwise 1"\nname = "{dots}"  # {dots}\n[[link]]\nname = "x, {dots[:50]}"\n'
    assert parse(text).problems == []


@pytest.mark.parametrize(("start", "item", "end"), [("note", ".a", " = 1"), ("note = ", "[", ""), ("note = ", "{a = ", "")])
def test_depth_is_bounded_alike_in_every_python(tmp_path: Path, start: str, item: str, end: str) -> None:
    """Not by the interpreter's stack, of which 3.13 has ten times as much."""

    def nested(depth: int) -> list[str]:
        inside, close = ("", "") if item == ".a" else ("0" * (item == "{a = "), {"[": "]", "{a = ": "}"}[item])
        return messages(written(tmp_path, ONE + start + item * depth + inside + close * depth + end + "\n"))

    most = DEEPEST - 3  # (within the document, the list of links and the link)
    assert nested(most) == nested(1)
    assert nested(most + 1) == ["tables nested too deeply"]
    assert nested(most * 50)[0].endswith("tables nested too deeply")  # of a key, with its line


TWO_ARMS = """format = "linkwise 1"
[external]
force = [1, 0, 0]
[[link]]
name = "left"
parent = "base"
mass = 1
[[link]]
name = "right"
parent = "base"
before = {xyz = [0, 1, 0]}
[[link]]
name = "hand"
joint = "prismatic"
mass = 2
"""


def test_one_of_several_trees(tmp_path: Path) -> None:
    """root names a link on the base: with what it carries it moves as before; the wrench goes with the tool."""
    path = tmp_path / "arms.toml"
    path.write_text(TWO_ARMS)
    whole, right = read(path).mechanism, read(path, root="right")
    assert right.mechanism.link_names == ("right", "hand")
    assert right.external.tolist() == [1, 0, 0, 0, 0, 0]
    poses = whole.forward_kinematics([0.1, 0.2, 0.3], link="hand"), right.mechanism.forward_kinematics([0.2, 0.3])
    assert np.array_equal(*poses)
    left = read(path, root="left")
    assert (left.mechanism.names, left.external.any()) == (("left",), False)
    told = [str(remark) for remark in remarks(path, root="right")]
    assert "line 4: left out, as they are not connected to 'right': 'left'" in told
    told = [remark.message for remark in remarks(path, root="left")]
    assert "what acts on the tool is left out with the tool" in told
    assert [str(problem) for problem in check(path, root="hand")] == ["root is 'hand'; expected 'left' or 'right'"]
    path.write_text(TWO_ARMS.replace('joint = "prismatic"', 'mimic = {joint = "left"}'))
    assert "follows 'left'" in check(path, root="left")[0].message


def test_kinds_of_force_elements_keep_their_order(tmp_path: Path) -> None:
    """That in which they are added up, so that the sums are the same to the last bit."""
    springs = [Spring("a", 1.0), EndStop("a", 5.0, limits=(-1, 1)), Spring("a", 2.0), ConstantForce("a", (0, 0, 1.0))]
    mech = Mechanism([Link(name="a", mass=1.0)], springs=[*springs[::-1], *springs])
    save(mech, tmp_path / "a.toml")
    assert load(tmp_path / "a.toml") == mech
