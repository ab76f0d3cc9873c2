"""The file of a chain: reading back gives an equal description to the last bit; every mistake is named with its line."""

from __future__ import annotations

import math
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import Link, Mechanism, Mimic, control, robots
from linkwise.control import chain_file
from linkwise.control.chain_file import check, read, write
from linkwise.control.constraints import KINDS, ChainConstraint, LoopClosure, MovingPosition, angles_rotation, constraint_of
from linkwise.control.description import ChainDescription
from linkwise.control.links import FixedLink, PrismaticLink, RevoluteLink, mechanism_of, with_starting_dof
from linkwise.errors import FileError, ModelError
from linkwise.files import check as check_mechanism
from linkwise.files import save
from support.bundled import BUNDLED

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"
HEAD = 'format = "linkwise chain 1"\n'
ARM = HEAD + 'mechanism = "planar_2r"\n'
BOOM = HEAD + '[[link]]\nname = "boom"\na = 2\n'


def written(folder: Path, content: str, name: str = "chain.toml") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


def messages(folder: Path, content: str) -> list[str]:
    return [str(problem) for problem in check(written(folder, content))]


def again(description: ChainDescription, folder: Path) -> ChainDescription:
    """What is read back of a description."""
    write(description, folder / "again.toml")
    return read(folder / "again.toml")


# ── the examples ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["arm_follower", "jog", "press", "ship_crane"])
def test_an_example_survives(name: str, tmp_path: Path) -> None:
    there = read(EXAMPLES / f"{name}.toml")
    assert there.name == name
    assert again(there, tmp_path) == there


def test_the_arm_begins_at_its_target() -> None:
    there = read(EXAMPLES / "arm_follower.toml")
    (row,) = there.constraints
    pose = there.mechanism.forward_kinematics(there.q0)
    # The joint angles are printed to 0.0005 deg: six of them, on an arm that reaches 1 m.
    bound = 6 * math.radians(0.0005)
    assert np.allclose(pose[:3, 3], row.position, rtol=0, atol=bound)
    assert np.allclose(pose[:3, :3], angles_rotation(np.array(row.angles)), rtol=0, atol=bound)
    assert there.values["link6.max_theta_speed"] == math.pi


def test_the_press_is_closed_and_its_crank_is_driven() -> None:
    there = read(EXAMPLES / "press.toml")
    ends = dict(zip(there.mechanism.link_names, there.mechanism.link_poses(there.q0)[:, :3, 3], strict=True))
    assert np.allclose(ends["rod"], ends["ram"], rtol=0, atol=2e-5)  # d is given to 10 um, theta to 0.0005 deg of 0.35 m
    assert np.allclose(ends["crank"], [0.08, 0, 0], rtol=0, atol=1e-15)
    assert ends["ram"][2] == pytest.approx(-0.34073)
    assert there.constraints[1].value == there.q0[0] == math.radians(90)
    low, high = np.column_stack([there.mechanism.q_min, there.mechanism.q_max])[there.mechanism.names.index("ram")]
    assert low < 0.35 - 0.08 < 0.35 + 0.08 < high


def test_the_crane_begins_with_its_hook_where_it_is_held() -> None:
    there = read(EXAMPLES / "ship_crane.toml")
    hook = there.mechanism.forward_kinematics(there.q0, link="hook")[:3, 3]
    assert np.allclose(hook + there.values["start.position"], there.constraints[0].position, rtol=0, atol=5e-4)


def test_the_jog_goes_on_from_what_was_predicted() -> None:
    there = read(EXAMPLES / "jog.toml")
    assert set(there.routes) == {f"{link}.theta" for link in there.mechanism.link_names}
    assert all(source.endswith(".predicted_theta") for source in there.routes.values())
    for end, (low, high) in {"shoulder": (-1.6, 1.6), "upper_arm": (-3.0, -0.2), "forearm": (0.2, 2.6)}.items():
        assert (there.values[f"{end}.limits.min"], there.values[f"{end}.limits.max"]) == (low, high)
        assert low < there.q0[there.mechanism.names.index(end)] < high


# ── what a file says ──────────────────────────────────────────────────────────────────────────────

LONG = """
format = "linkwise chain 1"
angles = "deg"
angles_convention = "zyx"
starting_dof = "x"
period = 0.02
calculations_per_cycle = 50
calculation_precision = 1e-8

[[link]]
theta = 30
alpha = 90
limits = [-90, inf]
max_speed = 2

[[link]]
name = "slide"
joint = "prismatic"
d = 2
theta = 45
limits = [1, 3]

[[link]]
name = "eye"
joint = "fixed"
theta = 10
predecessor = "start"
max_acceleration = inf

[start]
position = [1, 2, 3]
angles = [10, 0, 0]
angular_velocity = [0, 90, 0]

[[constraint]]
name = "follow"
kind = "moving position"
link = "slide"
position = [1, 0, 0]
angles = [0, 0, 90]
angular_velocity = [0, 0, 180]

[[constraint]]
name = "pin"
kind = "loop"
link = "slide"
to = "eye"
rotation = true
enabled = false

[[speed_limit]]
link = "tool"
max_deceleration = 3

[[speed_limit]]
link = "link1"
max_theta_acceleration = 90

[[regulator]]
link = "slide"
i = 0.5

[routes]
link1.theta = ""
"start.velocity" = "follow.velocity"

[ports]
link1.theta = 0.25
slide.limits.max = 2.5
"slide.d_speed" = 1
"""


def test_everything_that_a_file_can_say(tmp_path: Path) -> None:
    there = read(written(tmp_path, LONG, "crane.v2.toml"))
    links = [
        RevoluteLink("link1", theta=math.radians(30), alpha=math.radians(90), limits=(math.radians(-90), math.inf)),
        PrismaticLink("slide", d=2, theta=math.radians(45), limits=(1, 3)),
        FixedLink("eye", theta=math.radians(10), predecessor="start"),
    ]
    mechanism, q0 = mechanism_of(links, name="crane", starting_dof="x")
    follow = MovingPosition(
        "follow",
        "slide",
        position=(1, 0, 0),
        angles=(0, 0, math.radians(90)),
        angular_velocity=(0, 0, math.radians(180)),
    )
    assert there == ChainDescription(
        name="crane",
        mechanism=mechanism,
        q0=q0,
        constraints=(follow, LoopClosure("pin", "slide", "eye", rotation=True, enabled=False)),
        values={
            "link1.max_speed": 2,
            "start.position": (1, 2, 3),
            "start.angles": (math.radians(10), 0, 0),
            "start.angular_velocity": (0, math.radians(90), 0),
            "tool.max_deceleration": 3,
            "link1.max_theta_acceleration": math.radians(90),
            "slide.regulator.i": 0.5,
            "link1.theta": 0.25,
            "slide.limits.max": 2.5,
            "slide.d_speed": 1,
        },
        routes={"link1.theta": "", "start.velocity": "follow.velocity"},
        angles="zyx",
        period=0.02,
        calculations_per_cycle=50,
        calculation_precision=1e-8,
    )
    assert follow.velocity == (0.0, 0.0, 0.0)
    assert there.ports["chain.calculations_per_cycle"] == 50
    assert again(there, tmp_path) == there


def test_an_empty_link_is_a_slip_and_no_joint(tmp_path: Path) -> None:
    told = 'format = "linkwise chain 1"\n[[link]]\n[[link]]\nname = "boom"\na = 18.0\n'
    (problem,) = check(written(tmp_path, told))
    assert problem.line == 2
    assert problem.message.startswith("link 1 is empty; expected at least one of name, ")


def test_what_is_left_out(tmp_path: Path) -> None:
    there = read(written(tmp_path, HEAD + 'mechanism = "ur5"\n', "x.toml"))
    assert there == ChainDescription("x", robots.ur5(), q0=np.zeros(6))
    assert (there.angles, there.period, there.calculations_per_cycle, there.calculation_precision) == (
        "xyz",
        None,
        100,
        1e-10,
    )


def test_it_begins_within_the_limits(tmp_path: Path) -> None:
    arm = mechanism_of([RevoluteLink("a", theta=1.5, limits=(1, 2)), RevoluteLink("b", limits=(-1, 1))])[0]
    save(arm, tmp_path / "arm.toml")
    assert read(written(tmp_path, HEAD + 'mechanism = "arm.toml"\n')).q0.tolist() == [1.0, 0.0]
    assert messages(tmp_path, HEAD + 'mechanism = "arm.toml"\nq0 = [0, 0.5]\n') == [
        "line 3: chain 'chain': q0[0] is 0.0; expected a within its limits, 1 to 2"
    ]


def test_degrees_are_for_what_turns(tmp_path: Path) -> None:
    there = read(written(tmp_path, HEAD + "angles = 'deg'\nmechanism = 'stanford'\nq0 = [10, 0, 0.5, 0, 0, 30]\n"))
    assert there.q0.tolist() == [math.radians(10), 0, 0.5, 0, 0, math.radians(30)]


# ── the mechanism of a file ───────────────────────────────────────────────────────────────────────


def test_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    arm = Mechanism([Link(name="arm", mass=1.0), Link(name="hand", joint="prismatic", parent="arm")], name="arm")
    save(arm, tmp_path / "parts" / "arm.toml")
    there = read(written(tmp_path, HEAD + 'mechanism = "parts/arm.toml"\nstarting_dof = "y"\n'))
    assert there.mechanism == with_starting_dof(arm, "y")
    write(there, tmp_path / "b.toml")
    text = (tmp_path / "b.toml").read_text()
    assert 'mechanism = "parts/arm.toml"\n' in text
    assert 'starting_dof = "y"\n' in text
    assert read(tmp_path / "b.toml").mechanism == there.mechanism


def test_a_file_elsewhere_is_written_into_the_chain(tmp_path: Path) -> None:
    for name in ("parts", "chains"):
        (tmp_path / name).mkdir()
    save(Mechanism([Link(name="arm", mass=1.0)], name="arm"), tmp_path / "parts" / "arm.toml")
    there = read(written(tmp_path, HEAD + 'mechanism = "parts/arm.toml"\n'))
    write(there, tmp_path / "chains" / "b.toml")
    assert "arm.toml" not in (tmp_path / "chains" / "b.toml").read_text()
    assert read(tmp_path / "chains" / "b.toml").mechanism == there.mechanism


SECRET = "hunter2"


@pytest.fixture
def chains(tmp_path: Path) -> Path:
    """A folder beside one with a secret; links lead out of it, and within it."""
    (tmp_path / "chains").mkdir()
    (tmp_path / "secret.txt").write_text(f"{SECRET}: 1\n")
    save(Mechanism([Link(name=SECRET, mass=1.0)], name="arm"), tmp_path / "arm.toml")
    (tmp_path / "chains" / "out").symlink_to(tmp_path)
    (tmp_path / "chains" / "out.toml").symlink_to(tmp_path / "arm.toml")
    return tmp_path / "chains"


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
@pytest.mark.parametrize(
    "named",
    [
        "../secret.txt",
        "../arm.toml",
        "{}/arm.toml",
        "out/arm.toml",
        "out.toml",
        "a/../../arm.toml",
        "C:/arm.toml",
        "\\u0000",
    ],
)
def test_a_chain_opens_nothing_outside_its_folder(chains: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """Absolute, by dots, or by a link: the name is told, and nothing is opened, so nothing of it is told."""
    monkeypatch.setattr(chain_file, "file_mechanism", lambda path: pytest.fail(f"{path} was opened"))
    path = written(chains, HEAD + f'mechanism = "{named.format(chains.parent)}"\n')
    (problem,) = check(path)
    assert problem.line == 2
    assert "folder" in problem.message
    assert SECRET not in problem.message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.txt", f"{SECRET}: 1\n"),
        (".env", f"PASSWORD={SECRET}\n{SECRET}=1\n"),
        ("arm.xml", f"<robot name='a'><{SECRET}/></robot>"),
        ("a.xml", f"<{SECRET}/>"),
        ("a.dat", f"1 2 {SECRET}"),
        ("b.toml", f"format = 'linkwise 1'\n[[link]]\nname = 'a'\njoint = '{SECRET}'\n"),
    ],
)
def test_nothing_of_a_file_that_is_no_mechanism_is_told(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (problem,) = check(written(tmp_path, HEAD + f"mechanism = '{name}'\n", "chain.toml"))
    assert problem.line == 2
    assert name in problem.message
    assert SECRET not in problem.message


def test_xacro_is_only_expanded_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library need not be there: what is looked at is whether the reader of xacro files is called."""
    asked: list[tuple[Path, object]] = []
    arm = Mechanism([Link(name="arm", mass=1.0)], name="arm")

    def file_mechanism(path: Path, *arguments: object) -> Mechanism:
        if not arguments:
            pytest.fail("was expanded to write a file")
        asked.append((path, *arguments))  # type: ignore[arg-type]
        return arm

    monkeypatch.setattr(chain_file, "file_mechanism", file_mechanism)
    (tmp_path / "arm.urdf.XACRO").write_text("<robot/>")
    path = written(tmp_path, HEAD + "name = 'one'\nmechanism = 'arm.urdf.XACRO'\n")
    if os.name != "nt":
        (tmp_path / "arm.urdf").symlink_to(tmp_path / "arm.urdf.XACRO")
        assert len(check(written(tmp_path, HEAD + "mechanism = 'arm.urdf'\n", "b.toml"))) == 1
    (problem,) = check(path)
    assert (problem.line, "'arm.urdf.XACRO'" in problem.message, asked) == (3, True, [])
    there = read(path, xacro={})
    assert asked == [(tmp_path / "arm.urdf.XACRO", {})]
    assert there.mechanism == arm
    assert again(there, tmp_path) == there
    assert control.load(path, xacro={}).mechanism == arm


def test_a_file_that_is_gone_or_another_is_written_into_the_chain(tmp_path: Path) -> None:
    arm = Mechanism([Link(name="arm", mass=1.0)], name="arm")
    save(arm, tmp_path / "arm.toml")
    there = read(written(tmp_path, HEAD + 'name = "one"\nmechanism = "arm.toml"\n'))
    save(arm.replace_link("arm", mass=2.0), tmp_path / "arm.toml")
    assert again(there, tmp_path) == there
    (tmp_path / "arm.toml").unlink()
    assert again(there, tmp_path) == there
    assert "[[mechanism.link]]" in (tmp_path / "again.toml").read_text()


def test_a_file_whose_inertias_no_body_can_have(tmp_path: Path) -> None:
    text = 'format = "linkwise 1"\n[[link]]\nmass = 1\ninertia = [1, 1, 3]\n'
    written(tmp_path, text, "arm.toml")
    there = read(written(tmp_path, HEAD + 'name = "one"\nmechanism = "arm.toml"\n'))
    assert there.mechanism.links[0].body.physical is False
    assert again(there, tmp_path) == there


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_mechanism_survives_by_name_and_in_full(name: str, tmp_path: Path) -> None:
    mechanism = robots.load(name)
    there = ChainDescription("chain", mechanism)
    assert again(there, tmp_path) == there
    assert f'mechanism = "{name}"\n' in (tmp_path / "again.toml").read_text()
    other = ChainDescription("chain", with_starting_dof(mechanism.replace(name="another"), "y"), there.q0)
    assert again(other, tmp_path) == other
    assert "[mechanism]\n" in (tmp_path / "again.toml").read_text()


def test_the_mistakes_of_the_mechanism_have_their_lines(tmp_path: Path) -> None:
    inner = "[mechanism]\nformat = 'linkwise 1'\n[[mechanism.link]]\nname = 'x'\njoint = 'spherical'\n"
    assert messages(tmp_path, HEAD + inner) == [
        "line 6: link 'x': joint is 'spherical'; expected "
        "'revolute', 'prismatic', 'screw', 'universal', 'cylindrical', 'planar', 'ball', 'fixed' or 'floating'"
    ]
    written(tmp_path, inner.replace("[mechanism]\n", "").replace("mechanism.", ""), "arm.toml")
    (message,) = messages(tmp_path, HEAD + "\nmechanism = 'arm.toml'\n")
    assert message.startswith("line 3: mechanism 'arm.toml': 1 problem (line 4)")


def test_a_mechanism_that_no_chain_can_have(tmp_path: Path) -> None:
    form = HEAD + "[mechanism]\nformat = 'linkwise 1'\n{}[[mechanism.link]]\nname = 'a'\n{}"
    assert messages(tmp_path, form.format("", "joint = 'fixed'\n")) == ["line 2: 'chain' has no joint that moves"]


def test_a_joint_that_follows_another_has_no_ports(tmp_path: Path) -> None:
    links = [Link(name="a"), Link(name="b", mimic=Mimic("a", 2.0))]
    there = ChainDescription("one", Mechanism(links), values={"a.theta_speed": 1.0})
    assert again(there, tmp_path) == there
    with pytest.raises(ModelError, match="there is no port 'b"):
        ChainDescription("one", Mechanism(links), values={"b.theta_speed": 1.0})


# ── anything that a description can hold ──────────────────────────────────────────────────────────

finite = st.floats(-1e3, 1e3)
triples = st.tuples(finite, finite, finite)
LINKS = (
    RevoluteLink("link 1", alpha=1.5, a=0.3, theta=0.25),
    PrismaticLink("ü", d=0.75, theta=-0.0, limits=(0.5, math.inf)),
    FixedLink("hook", d=0.1, predecessor="link 1"),
)
MECHANISM, Q0 = mechanism_of(LINKS, name="crane")


@st.composite
def rows(draw: st.DrawFn, name: str) -> ChainConstraint:
    kind = draw(st.sampled_from(sorted(KINDS)))
    said: dict[str, Any] = {"enabled": draw(st.booleans())}
    if kind in {"fixed position", "moving position"}:
        said["position"] = draw(triples)
    if kind == "fixed rotation":
        said["angles"] = draw(triples)
    if kind == "moving position":
        said |= {"velocity": draw(st.none() | triples), "angles": draw(st.none() | triples)}
        said["angular_velocity"] = draw(st.none() | triples) if said["angles"] else None
    if kind == "velocity":
        said["velocity"] = draw(st.none() | triples)
        said["angular_velocity"] = draw(triples if said["velocity"] is None else st.none() | triples)
    if kind == "driven joint":
        said |= {"value": draw(st.none() | finite), "speed": draw(st.none() | finite)}
    if kind == "loop":
        said |= {"to": draw(st.sampled_from(["start", "hook"])), "rotation": draw(st.booleans())}
    told = {field: value for field, value in said.items() if value is not None}
    return constraint_of(kind, name, draw(st.sampled_from(["link 1", "ü"])), **told)


values = st.fixed_dictionaries(
    {},
    optional={
        "start.velocity": triples,
        "ü.max_d_speed": st.floats(0, 10, exclude_min=True),
        "tool.max_speed": st.just(math.inf) | st.floats(1e-300, 1e300),
        "link 1.regulator.d": finite,
        "link 1.limits.max": st.just(math.inf) | finite,
        "link 1.theta_speed": finite,
    },
)
routes = st.fixed_dictionaries(
    {},
    optional={
        "link 1.theta": st.sampled_from(["", "link 1.predicted_theta"]),
        "ü.d": st.just(""),
        "start.position": st.just("hook.world_position"),
    },
)


@given(st.lists(st.integers(0, 1), max_size=3).flatmap(lambda k: st.tuples(*(rows(f"c-{i} \\") for i in range(len(k))))),
       values, routes, st.sampled_from(["xyz", "zyx"]), st.sampled_from("xyz"), st.none() | st.floats(1e-6, 1),
       st.sampled_from(["crane", 'a "quoted" one']))  # fmt: skip
@settings(max_examples=40)
def test_any_description_survives(
    tmp_path_factory: pytest.TempPathFactory,
    held: tuple[ChainConstraint, ...],
    values: dict[str, Any],
    routes: dict[str, str],
    angles: str,
    axis: str,
    period: float | None,
    name: str,
) -> None:
    there = ChainDescription(
        name, with_starting_dof(MECHANISM, axis), Q0, held, values, routes, angles, period, 7, 3e-7
    )  # fmt: skip
    assert again(there, tmp_path_factory.getbasetemp()) == there


@given(rows("one"))
@settings(max_examples=30)
def test_a_constraint_is_made_again_from_what_it_has(row: ChainConstraint) -> None:
    fields = {field: value for field in row.specific() if (value := getattr(row, field)) is not None}
    made = constraint_of(row.kind, row.name, row.link, enabled=row.enabled, **fields)
    assert type(made) is KINDS[row.kind]
    assert made.content == row.content
    assert {what: tuple(value.tolist()) for what, value in made.vectors.items()} == {
        what: fields[what] for what in row.vectors
    }


def test_descriptions_differ_in_every_part() -> None:
    row = LoopClosure("c", "hook", "start")
    there = {"name": "a", "mechanism": MECHANISM, "q0": Q0}
    whole = ChainDescription(**there)
    others: list[dict[str, Any]] = [
        {"name": "b"}, {"mechanism": with_starting_dof(MECHANISM, "x")}, {"q0": Q0 + 0.1}, {"constraints": [row]},
        {"values": {"tool.max_speed": 1}}, {"routes": {"ü.d": ""}}, {"angles": "zyx"}, {"period": 1},
        {"calculations_per_cycle": 3}, {"calculation_precision": 1e-3},
    ]  # fmt: skip
    assert whole == ChainDescription(**there, reference="elsewhere")
    assert pickle.loads(pickle.dumps(whole)) == whole
    for change in others:
        assert ChainDescription(**{**there, **change}) != whole


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────

PIN = "[[constraint]]\nname = 'pin'\nkind = 'loop'\nlink = 'link2'\nto = 'start'\n"
BAD: list[tuple[str, list[str]]] = [
    (HEAD, ["there is no mechanism; expected mechanism = '...', or one [[link]] table or more"]),
    ("mechanism = 'ur5'\n", ["there is no format; expected format = 'linkwise chain 1'"]),
    (
        "format = 'linkwise 1'\nmechanism = 'ur5'\n",
        [
            "line 1: format is 'linkwise 1', that of a mechanism; expected 'linkwise chain 1' (a chain says mechanism = "
            "'FILE')"
        ],
    ),
    (ARM.replace("chain 1", "chain 2"), ["line 1: format is 'linkwise chain 2'; this version reads 'linkwise chain 1'"]),
    (ARM + "[ports]\n" + "a." * 3000 + "a = 1\n", ["line 4: a key of more than 16 parts..."]),
    ("x = = 1\n", ["line 1: not valid TOML: Invalid value (column 5)"]),
    (ARM + "[[link]]\na = 1\n", ["line 2: there are a mechanism and [[link]] tables; expected one of the two"]),
    (
        HEAD + "mechanism = 'pumma560'\n",
        [
            "line 2: mechanism is 'pumma560'; expected the name of a file, or of a bundled mechanism: one of 56, such as "
            "'cr35ia', 'cr7ia' or 'delta' (did you mean 'puma560'?)"
        ],
    ),
    (HEAD + "mechanism = '.'\n", ["line 2: mechanism '.': this is a folder"]),
    (
        HEAD + "mechanism = 1\n",
        [
            "line 2: mechanism is 1; expected the name of a bundled mechanism or of a file in quotes, or a table "
            "with a mechanism"
        ],
    ),
    (ARM + "q0 = [1]\n", ["line 3: q0 is [1]; expected 2 numbers: link1, link2"]),
    (ARM + "q0 = [1, inf]\n", ["line 3: chain 'chain': q0 is [1, inf]; expected 2 finite numbers: link1, link2"]),
    (ARM + "q0 = [1, 'a']\n", ["line 3: q0 is [1, 'a']; expected a list of numbers"]),
    (
        ARM + "angles = 'grad'\nangles_convention = 'yxz'\nstarting_dof = 'up'\nperiod = -1\ncalculations_per_cycle = 0\n"
        "calculation_precision = 0\n",
        [
            "line 3: angles is 'grad'; expected 'rad' or 'deg'",
            "line 4: angles_convention is 'yxz'; expected 'xyz' or 'zyx'",
            "line 5: starting_dof is 'up'; expected 'x', 'y' or 'z'",
            "line 6: chain 'chain': period is -1.0; expected a number > 0, or None",
            "line 7: chain 'chain': calculations_per_cycle is 0; expected a whole number from 1 to 10000",
            "line 8: chain 'chain': calculation_precision is 0.0; expected a finite number from 1e-14",
        ],
    ),
    (ARM + "calculations_per_cycle = 1.5\n", ["line 3: calculations_per_cycle is 1.5; expected a whole number"]),
    (
        ARM + "perod = 1\n",
        [
            "line 3: the file has no key 'perod' (did you mean 'period'?); the keys are 'format', 'name', 'angles', "
            "'angles_convention', 'period', 'calculations_per_cycle', 'calculation_precision', 'starting_dof', 'mechanism', "
            "'q0', 'link', 'start', 'constraint', 'clear', 'obstacle', 'speed_limit', 'regulator', 'routes' and 'ports'"
        ],
    ),
    (HEAD + "name = ''\nmechanism = 'ur5'\n", ["line 2: chain '': name is ''; expected a word"]),
    # ── links
    (BOOM + "joint = 'ball'\n", ["line 5: link 'boom': joint is 'ball'; expected 'revolute', 'prismatic' or 'fixed'"]),
    (
        HEAD + "q0 = [1]\n[[link]]\na = 1\n",
        ["line 2: q0 is given; expected nothing: the theta or d of each link defines the start"],
    ),
    (
        BOOM + "theta = 1\nlimits = [2, 3]\nalpha = nan\n",
        [
            "line 5: link 'boom': theta is 1.0; expected a value within the limits, 2 to 3, for it begins there",
            "line 7: link 'boom': alpha is nan; expected a finite number",
        ],
    ),
    (
        BOOM + "theta = 1\nlimits = [2, 3]\n[[link]]\njoint = 'fixed'\nlimits = [0, 1]\nmax_speed = -1\n",
        [
            "line 5: link 'boom': theta is 1.0; expected a value within the limits, 2 to 3, for it begins there",
            "line 9: link 2: limits is [0.0, 1.0]; expected nothing, for a fixed link has no coordinate",
            "line 10: link 'link2': max_speed is -1; expected a number > 0; infinity is no bound",
        ],
    ),
    (
        BOOM + "predecessor = 'bom'\n[[link]]\nname = 'boom'\n",
        [
            "line 5: link 'boom': predecessor is 'bom'; expected 'start'",
            "line 7: chain 'chain': links is 'boom'; expected unique names; this one occurs twice",
        ],
    ),
    (
        BOOM + "predecessor = 'jib'\n[[link]]\nname = 'jib'\npredecessor = 'boom'\n",
        [
            "line 5: chain 'chain': links is ['boom', 'jib']; expected a tree; each of these hangs on another of them "
            "(a cycle; a loop closure closes one)"
        ],
    ),
    (
        BOOM + "mas = 1\n[ports]\nboom.theta_speed = 1\njib.theta = 1\n",
        [
            "line 5: link 'boom' has no key 'mas'; the keys are 'name', 'predecessor', 'joint', 'theta', 'd', 'a', 'alpha', "
            "'limits', 'max_speed', 'max_acceleration' and 'max_deceleration'",
            "line 8: there is no port 'jib.theta' ...",
        ],
    ),
    # ── constraints
    (ARM + "[[constraint]]\n", ["line 3: constraint 1 has no 'name', 'kind' or 'link'; expected name, kind and link"]),
    (ARM + "constraint = [1]\n", ["line 3: constraint 1 is 1; expected a table with ..."]),
    (
        ARM + PIN.replace("loop", "lop"),
        [
            "line 5: constraint 'pin': kind is 'lop'; expected 'fixed position', 'fixed rotation', 'moving position', "
            "'velocity', 'loop' or 'driven joint'"
        ],
    ),
    (
        ARM + PIN.replace("'link2'", "'lnk2'").replace("'start'", "'stat'"),
        [
            "line 6: constraint 'pin': link is 'lnk2'; expected 'link1', 'link2' or 'tool' (did you mean 'link2'?)",
            "line 7: constraint 'pin': to is 'stat'; expected 'start', 'link1', 'link2' or 'tool' (did you mean 'start'?)",
        ],
    ),
    (
        ARM + PIN.replace("'start'", "'link2'"),
        ["line 7: constraint 'pin': to is 'link2'; expected the name of another link than 'link2'"],
    ),
    (
        ARM + PIN + PIN + PIN.replace("pin", "link1") + PIN.replace("pin", "chain"),
        [
            "line 9: constraint 'pin': name is 'pin'; expected another name (this one is that of a constraint)",
            "line 14: constraint 'link1': name is 'link1'; expected another name (this one is that of a link)",
            "line 19: constraint 'chain': name is 'chain'; expected another name (this one is that of the chain itself)",
        ],
    ),
    (
        ARM + "[[constraint]]\nname = 'a'\nkind = 'fixed position'\nlink = 'tool'\nangles = [1, 2, 3]\n",
        [
            "line 3: constraint 'a': position is None; expected three numbers, which a fixed position constraint needs",
            "line 7: constraint 'a': angles is [1.0, 2.0, 3.0]; expected nothing, for a fixed position constraint has "
            "position",
        ],
    ),
    (
        ARM + "[[constraint]]\nname = 'a'\nkind = 'velocity'\nlink = 'tool'\n[ports]\na.velocity = [1, 2, 3]\n",
        ["line 3: constraint 'a': velocity is None; expected three numbers, or an angular_velocity"],
    ),
    (
        ARM + "[[constraint]]\nname = 'a'\nkind = 'moving position'\nlink = 'tool'\nposition = [1, 2, nan]\nenabled = 1\n",
        [
            "line 7: constraint 'a': position is [1, 2, nan]; expected a list of 3 finite numbers",
            "line 8: constraint 'a': enabled is 1; expected true or false",
        ],
    ),
    (
        ARM + "[[constraint]]\nname = 'a'\nkind = 'moving position'\nlink = 'tool'\nposition = [1, 2, 3]\n"
        "angular_velocity = [1, 2, 3]\n",
        ["line 8: constraint 'a': angular_velocity is (1.0, 2.0, 3.0); expected nothing where there are no angles"],
    ),
    (
        ARM + "[[constraint]]\nname = 'm'\nkind = 'driven joint'\nlink = 'tool'\nvalue = 1\nto = 'link1'\n",
        ["line 8: constraint 'm': to is 'link1'; expected nothing, for a driven joint constraint has value and speed"],
    ),
    (
        ARM + "[[constraint]]\nname = 'm'\nkind = 'driven joint'\nlink = 'tool'\n[ports]\nm.speed = 1\n",
        ["line 6: constraint 'm': link is 'tool'; expected 'link1' or 'link2'", "line 8: ..."],
    ),
    # ── values
    (
        ARM + "[[speed_limit]]\nmax_speed = 1\n[[speed_limit]]\nlink = 'tol'\nmax_speed = 1\n[[speed_limit]]\n"
        "link = 'tool'\nmax_speed = 0\n[[speed_limit]]\nlink = 'tool'\nmax_speed = 1\nmax_acceleration = 'x'\n",
        [
            "line 3: speed_limit 1 has no link; expected link = the name of one",
            "line 6: speed_limit 2: link is 'tol'; expected 'link1', 'link2' or 'tool' (did you mean 'tool'?)",
            "line 10: port 'tool.max_speed' is given 0.0; expected a number above 0, in m/s",
            "line 13: port 'tool.max_speed' is given twice, first in line 10",
            "line 14: speed_limit 4: max_acceleration is 'x'; expected a number > 0, or inf",
        ],
    ),
    (
        ARM + "[[regulator]]\nlink = 'tool'\np = 1\n[[regulator]]\nlink = 'link1'\nr = 2\nq = 1\n",
        [
            "line 4: regulator 1: link is 'tool'; expected 'link1' or 'link2'",
            "line 8: port 'link1.regulator.r' is given 2.0; expected a finite number above 0 up to 1",
            "line 9: regulator 2 has no key 'q'; the keys are 'link', 'p', 'i', 'd' and 'r'",
        ],
    ),
    (
        ARM + "[start]\nposition = [1, 2]\nspeed = [1, 2, 3]\n",
        [
            "line 4: start: position is [1, 2]; expected a list of 3 finite numbers",
            "line 5: start has no key 'speed'; the keys are 'position', 'angles', 'velocity' and 'angular_velocity'",
        ],
    ),
    (
        ARM + "[start]\nposition = [1, 2, 3]\n[ports]\nstart.position = [1, 2, 3]\nlink1.theta = 1\nlink2.theta_solved = 1\n"
        "tool.max_sped = 1\n'tool.max_speed' = true\nchain.calculation_precision = 1\nlink1.limits.min = 3\n"
        "link1.limits.max = 2\nlink1.theta_speed = nan\nlink2.theta_speed = [1, 2]\nlink2.limits.max = 2020-01-01\n",
        [
            "line 6: port 'start.position' is given twice, first in line 4",
            "line 7: port 'link1.theta' is fed by 'link1.theta_solved'; expected no first value, or a route from '' to it",
            "line 8: port 'link2.theta_solved' is an output, which only the cycle writes; write an input",
            "line 9: there is no port 'tool.max_sped' (did you mean 'tool.max_speed' ...",
            "line 10: port 'tool.max_speed' is given True; expected a number above 0, in m/s",
            "line 11: port 'chain.calculation_precision' is set by the key calculation_precision; expected it there alone",
            "line 12: port 'link1.limits.min' is given 3.0; expected limits.min <= limits.max, here 3.0 > 2.0",
            "line 14: port 'link1.theta_speed' is given NaN; expected a number, in rad/s",
            "line 15: port 'link2.theta_speed' is given the shape (2,); expected a number, in rad/s",
            "line 16: port 'link2.limits.max': what is given holds ...",
        ],
    ),
    (
        ARM + PIN + "[ports]\npin.enabled = true\ntool.max_speed = " + "1" * 400 + "\n",
        [
            "line 9: port 'pin.enabled' is set by its constraint; expected it there alone",
            "line 10: port 'tool.max_speed': what is given holds 1111...",
        ],
    ),
    # ── routes
    (
        ARM + "[routes]\n'link1.theta' = 1\nlink1.theta_solved = 'link1.theta'\nlink2.theta = 'tool.position'\n"
        "start.velocity = 'start.velocity'\na = ''\n'tool.position' = ''\n'start.angles' = 'start.anglez'\n"
        "'link2.theta_speed' = ''\n'link2.limits.min' = 'link2.limits.max'\nlink2.'limits.min' = ''\n",
        [
            "line 4: route to 'link1.theta' is 1; expected the name of a port, or ''",
            "line 5: port 'link1.theta_solved' is an output, which nothing can feed; route to an input",
            "line 6: port 'tool.position' cannot feed 'link2.theta': shape is (3,) there and () here",
            "line 7: port 'start.velocity' cannot feed itself; route another port to it",
            "line 8: there is no port 'a'; the ports are 'chain.calculations_per_cycle', ...",
            "line 9: port 'tool.position' is an output, which nothing can feed; route to an input",
            "line 10: there is no port 'start.anglez' (did you mean 'start.angles' ...",
            "line 13: route to 'link2.limits.min' is given twice, first in line 12",
        ],
    ),
    (
        HEAD + "link = 3\nstart = 1\nspeed_limit = 1\nregulator = []\nroutes = 1\nports = [1]\n",
        [
            "line 2: link is 3; expected one [[link]] table or more",
            "line 3: start is 1; expected a table with 'position', 'angles', 'velocity' and 'angular_velocity'",
            "line 4: speed_limit is 1; expected one [[speed_limit]] table or more",
            "line 5: regulator is []; expected one [[regulator]] table or more",
            "line 6: routes is 1; expected a table of names of ports",
            "line 7: ports is [1]; expected a table of values by the names of ports",
        ],
    ),
]


@pytest.mark.parametrize(("content", "expected"), BAD)
def test_every_mistake_is_told_with_its_line(content: str, expected: list[str], tmp_path: Path) -> None:
    told = messages(tmp_path, content)
    assert len(told) == len(expected), told
    for message, wanted in zip(told, expected, strict=True):
        assert message == wanted or (wanted.endswith("...") and message.startswith(wanted[:-3])), message


def test_a_wrong_file_is_an_error_with_all_of_it(tmp_path: Path) -> None:
    path = written(tmp_path, ARM + "perod = 1\n[start]\nspeed = 1\n")
    with pytest.raises(FileError) as caught:
        read(path)
    assert [problem.line for problem in caught.value.problems] == [3, 5]
    assert caught.value.path == path
    with pytest.raises(FileError, match="there is no such file"):
        read(tmp_path / "none.toml")
    assert [str(problem) for problem in check(tmp_path)] == ["this is a folder, not a file"]


def test_the_reader_of_mechanisms_says_whose_file_it_is(tmp_path: Path) -> None:
    assert [str(problem) for problem in check_mechanism(written(tmp_path, ARM))] == [
        "line 1: this file describes a chain: linkwise check and linkwise serve take it, linkwise.control.load reads it"
    ]
    deep = 'format = "linkwise 1"\nname.' + "a." * 3000 + "a = 1\n[[link]]\n"
    (problem,) = check_mechanism(written(tmp_path, deep))
    assert (problem.line, "more than 16 parts" in problem.message) == (2, True)


def test_nothing_is_told_of_what_only_follows_from_another_mistake(tmp_path: Path) -> None:
    content = ARM + PIN.replace("loop", "lop") + "[routes]\n'start.position' = 'pin.position'\n[ports]\npin.distance = 1\n"
    assert [message[:6] for message in messages(tmp_path, content)] == ["line 5"]


@pytest.mark.parametrize("cut", range(0, len(LONG), 37))
def test_no_text_breaks_the_reader(cut: int, tmp_path: Path) -> None:
    for changed in (LONG[:cut], LONG[cut:], LONG[:cut] + "[" + LONG[cut:], LONG[:cut] + LONG[cut + 9 :]):
        path = written(tmp_path, changed)
        if not check(path):
            assert again(read(path), tmp_path) == read(path)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": " "}, "name is ' '; expected a word"),
    ({"mechanism": 3}, "mechanism is 3; expected a Mechanism"),
    ({"q0": [1, 2, 3]}, r"q0 is \[1, 2, 3\]; expected 2 finite numbers: link 1, ü"),
    ({"constraints": 3}, "constraints is 3; expected a sequence of ChainConstraint"),
    ({"constraints": ["a"]}, r"constraints is \['a'\]; expected a sequence of ChainConstraint"),
    ({"values": 3}, "values is 3; expected a mapping"),
    ({"routes": [1]}, r"routes is \[1\]; expected a mapping"),
    ({"values": {3: 4}}, "there is no port 3"),
    ({"values": {"tool.max_speed": [1]}}, "is given the shape"),
    ({"routes": {"link 1.theta": 3}}, "there is no port 3"),
    ({"angles": "abc"}, "angles is 'abc'; expected 'xyz' or 'zyx'"),
    ({"period": 0}, "period is 0; expected a number > 0, or None"),
    ({"calculations_per_cycle": 1.5}, "calculations_per_cycle is 1.5; expected a whole number from 1 to 10000"),
    ({"calculation_precision": math.nan}, "calculation_precision is nan; expected a finite number from"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_wrong_descriptions_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ChainDescription(**{"name": "a", "mechanism": MECHANISM, "q0": Q0, **change})


def test_a_row_says_all_that_is_wrong_with_it() -> None:
    with pytest.raises(ModelError) as caught:
        constraint_of("loop", "", 3, position=(1, 2), rotation=1, to=3)  # type: ignore[arg-type]
    assert [problem.field for problem in caught.value.problems] == ["position", "name", "link", "rotation", "to"]


def test_writing_fails_whole(tmp_path: Path) -> None:
    there = ChainDescription("one", robots.planar_2r())
    with pytest.raises(FileError, match="there is no folder"):
        write(there, tmp_path / "none" / "chain.toml")


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 400])
def test_whole_numbers_beyond_all_floats(tmp_path: Path, number: str) -> None:
    text = HEAD + f"mechanism = 'puma560'\nangles = 'deg'\nq0 = [0, -90, 90, {number}, 0, 0]\n"
    (problem,) = check(written(tmp_path, text))
    assert (problem.line, problem.message.startswith("q0 is")) == (4, True)


def test_a_name_too_long_for_a_file(tmp_path: Path) -> None:
    (problem,) = check(written(tmp_path, HEAD + f"mechanism = '{'x' * 5000}'\n"))
    assert (problem.line, "mechanism" in problem.message) == (2, True)


# ── staying clear ─────────────────────────────────────────────────────────────────────────────────

SHAPED = (
    HEAD
    + 'q0 = [1.0, 0.5]\n[mechanism]\nformat = "linkwise 1"\nconvention = "standard"\n'
    + "".join(f'[[mechanism.link]]\nname = "link{k}"\na = 1\n' for k in (1, 2))
    + "".join(
        f'[[mechanism.shape]]\nlink = "link{k}"\nkind = "sphere"\nsize = [0.1]\nrole = "collision"\n'
        "origin = { xyz = [-0.3, 0, 0] }\n"
        for k in (1, 2)
    )
)
CLEAR = "[clear]\nmargin = 0.05\n"
WALL = '[[obstacle]]\nname = "wall"\nkind = "box"\nsize = [0.2, 2, 0.2]\norigin = { xyz = [1.8, 1, 0] }\n'
BALL = '[[obstacle]]\nkind = "sphere"\nsize = [0.1]\norigin = { xyz = [-1, 1, 0] }\n'


def test_obstacles_and_the_margin_are_read_and_written_alike(tmp_path: Path) -> None:
    content = SHAPED + CLEAR + 'name = "guard"\nenabled = false\nseed = 3\ndisabled = [["link1", "link2"]]\n' + WALL + BALL
    description = read(written(tmp_path, content))
    keeping = description.clear
    assert keeping is not None
    assert (keeping.name, keeping.enabled, keeping.clear.margin, keeping.clear.seed) == ("guard", False, 0.05, 3)
    assert keeping.clear.obstacles.names == ("wall", "obstacle2")
    assert keeping.clear.obstacles.shapes[0].origin[:3, 3].tolist() == [1.8, 1.0, 0.0]
    twice = again(description, tmp_path)
    assert twice == description
    assert twice == again(twice, tmp_path)
    assert description != read(written(tmp_path, content.replace("0.05", "0.06")))
    assert description != read(written(tmp_path, content.replace("[1.8, 1, 0]", "[1.8, 1, 0.1]")))


def test_a_chain_that_keeps_clear_goes_on_alike_from_its_file(tmp_path: Path) -> None:
    goal = "[[constraint]]\nname = 'goal'\nkind = 'fixed position'\nlink = 'tool'\nposition = [1.9, 0.3, 0]\n"
    chain = control.load(written(tmp_path, SHAPED + CLEAR + goal + WALL))
    chain["clear.margin"] = 0.1
    chain.write(tmp_path / "again.toml")
    other = control.load(tmp_path / "again.toml")
    assert other["clear.margin"] == 0.1
    for _ in range(100):
        assert chain.step(0.01) == other.step(0.01)
    assert chain["clear.limited"]
    assert chain.solved_q.tolist() == other.solved_q.tolist()


BAD_CLEAR: list[tuple[str, list[str]]] = [
    (WALL, ["line 24: there are obstacles and no [clear]; expected a table [clear] with a margin"]),
    ("[clear]\n", ["line 24: clear has no margin; expected margin = how far shapes stay apart"]),
    ("[clear]\nmargin = '1'\n", ["line 25: clear: margin is '1'; expected a finite number"]),
    ("[clear]\nmargin = -1\n", ["line 24: clear: margin is -1.0; expected a number >= 0"]),
    ("[clear]\nmargin = nan\n", ["line 25: clear: margin is nan; expected a finite number"]),
    (CLEAR + "name = 'link1'\n", ["line 26: clear: name is 'link1'; expected a name that no constraint..."]),
    (CLEAR + "name = 'a.b'\n", ["line 24: clear: constraint 'a.b': name is 'a.b'; expected a name without a dot"]),
    (CLEAR + "margins = 1\n", ["line 26: clear has no key 'margins'..."]),
    (CLEAR + "disabled = [['link1']]\n", ["line 26: clear: disabled is [['link1']]; expected a list of pairs of names..."]),
    (CLEAR + "disabled = [['link1', 'lnk2']]\n", ["line 24: disabled: there is no link 'lnk2'..."]),
    (CLEAR + WALL.replace("box", "bx"), ["line 28: obstacle 'wall': kind is 'bx'; expected 'box'..."]),
    (CLEAR + WALL.replace("box", "mesh"), ["line 28: obstacle 'wall': kind is 'mesh'; expected 'box'..."]),
    (CLEAR + WALL.replace("[0.2, 2, 0.2]", "[0.2, 2]"), ["line 29: obstacle 'wall': size..."]),
    (CLEAR + WALL.replace("[0.2, 2, 0.2]", "[0.2, 2, -1]"), ["line 29: obstacle 'wall': size..."]),
    (CLEAR + WALL.replace('kind = "box"\n', ""), ["line 26: obstacle 'wall' has no 'kind'..."]),
    (CLEAR + WALL.replace("{ xyz = [1.8, 1, 0] }", "[0, 0, 0]"), ["line 30: obstacle 'wall': origin is [0, 0, 0]..."]),
    (CLEAR + WALL + "link = 'link1'\n", ["line 31: obstacle 'wall' has no key 'link'..."]),
    (CLEAR + WALL + WALL, ["line 24: clear: obstacles have the name 'wall' twice; expected names that differ"]),
    (CLEAR.replace("0.05", "5") + WALL, ["line 24: constraint 'clear': the least distance where the chain begins is..."]),
    (CLEAR + WALL + "[ports]\n'clear.margin' = 1\n", ["line 32: port 'clear.margin' is set by its constraint..."]),
]


@pytest.mark.parametrize(("tables", "expected"), BAD_CLEAR)
def test_what_is_wrong_with_obstacles_is_told_with_its_line(tables: str, expected: list[str], tmp_path: Path) -> None:
    test_every_mistake_is_told_with_its_line(SHAPED + tables, expected, tmp_path)


def test_clear_needs_shapes_and_obstacles_no_meshes(tmp_path: Path) -> None:
    (message,) = messages(tmp_path, ARM + CLEAR)
    assert message.startswith("line 3: 'planar_2r' has no collision shapes")
