"""Denavit-Hartenberg tables: what each dialect means, that nothing is lost on the way, that nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import linkwise as lw
from linkwise.errors import ArgumentError, FileError, LinkwiseError
from linkwise.files.formats.dh.table import DIALECTS, parse, read_dh, said_dialect, undecided
from linkwise.files.formats.dh.writer import save_dh
from linkwise.spatial.transform import dh_modified, dh_standard
from support.messages import unnamed
from support.random_mechanisms import numpy_call

THETA, D, A, ALPHA = 0.7, 0.3, 0.5, 1.1


def written(folder: Path, text: str) -> Path:
    path = folder / "arm.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize(
    ("dialect", "revolute", "prismatic"),
    [
        ("matlab", "0, 0.3, 0.5, 1.1, 0, 0.2", "0.7, 0, 0.5, 1.1, 1, 0.2"),
        ("python", "0.3, 1.1, 0, 0.5, 0, {mdh}, 0.2", "0, 1.1, 0.7, 0.5, 1, {mdh}, 0.2"),
        ("toolbox7", "1.1, 0.5, 0, 0.3, 0", "1.1, 0.5, 0.7, 0, 1"),
    ],
)
def test_the_order_of_the_columns(tmp_path: Path, dialect: str, revolute: str, prismatic: str, convention: str) -> None:
    """Against the transforms of the books: in each toolbox the joint's variable and its offset stand for theta, or d."""
    text = f"{revolute}\n{prismatic}\n".format(mdh=int(convention == "modified"))
    arm = read_dh(written(tmp_path, text), dialect=dialect, convention=convention)
    form = dh_standard if convention == "standard" else dh_modified
    offset = 0.0 if dialect == "toolbox7" else 0.2
    q = np.array([0.4, 0.6])
    wanted = form(q[0] + offset, D, A, ALPHA) @ form(THETA, q[1] + offset, A, ALPHA)
    assert numpy_call(arm, "forward_kinematics", q) == pytest.approx(wanted, abs=1e-15)  # two products of numbers near 1
    assert arm.names == ("link1", "link2")


def test_a_flipped_joint_counts_the_other_way(tmp_path: Path) -> None:
    """q becomes -q + offset, as in DHLink.A."""
    for mdh, form in ((0, dh_standard), (1, dh_modified)):
        text = f"0.3, 1.1, 0, 0.5, 0, {mdh}, 0.2, 1, -1, 2\n0, 1.1, 0.7, 0.5, 1, {mdh}, 0.2, 1, , inf\n"
        arm = read_dh(written(tmp_path, text), dialect="python")
        q = np.array([0.4, 0.6])
        wanted = form(-q[0] + 0.2, D, A, ALPHA) @ form(THETA, -q[1] + 0.2, A, ALPHA)
        assert numpy_call(arm, "forward_kinematics", q) == pytest.approx(wanted, abs=1e-15)
        assert np.column_stack([arm.q_min, arm.q_max]).tolist() == [[-1, 2], [-np.inf, np.inf]]
        save_dh(arm, tmp_path / "again.csv", "python")
        again = read_dh(tmp_path / "again.csv", dialect="python")
        assert numpy_call(again, "forward_kinematics", q) == pytest.approx(wanted, abs=2e-15)
        assert np.array_equal(np.column_stack([again.q_min, again.q_max]), np.column_stack([arm.q_min, arm.q_max]))


def test_degrees_and_separators(tmp_path: Path) -> None:
    text = "% theta d a alpha sigma offset\n\n0 0.3 0.5 90 0 -45   % shoulder\n0\t0\t0.4\t-90\t0\t0\n0; 0; 0; 0; 1; 0.25\n"
    arm = read_dh(written(tmp_path, text), dialect="matlab", convention="standard", angles="deg")
    assert [link.dh_row.alpha for link in arm.links] == [np.radians(90), -np.radians(90), 0]  # type: ignore[union-attr]
    assert [link.offset for link in arm.links] == [np.radians(-45), 0, 0.25]
    assert [link.joint for link in arm.links] == ["revolute", "revolute", "prismatic"]


def test_the_dynamics_of_the_legacy_row(tmp_path: Path) -> None:
    """The 20 columns of toolboxes up to 7, which count friction by their own rule; G is 1 where a row ends before it."""
    body = "17.4, -0.3638, 0.006, 0.2275, 0.13, 0.524, 0.539, 0.01, -0.02, 0.03"
    text = f"0, 0.4318, 0, 0, 0, {body}, 200e-6, 107.815, 0.817e-3, 0.126, -0.071\n0, 0.1, 0, 0, 0, {body}, 1e-4\n"
    one, two = read_dh(written(tmp_path, text), dialect="toolbox7", convention="standard").links
    assert one.body.mass == 17.4
    assert one.body.com.tolist() == [-0.3638, 0.006, 0.2275]
    assert one.body.tensor.tolist() == [[0.13, 0.01, 0.03], [0.01, 0.524, -0.02], [0.03, -0.02, 0.539]]
    assert one.motor == lw.Motor(200e-6, 107.815, 0.817e-3, (0.126, -0.071), friction_rule="toolbox7")
    assert two.motor == lw.Motor(1e-4, friction_rule="toolbox7")
    again = f"0, 0, 0.4318, 0, 0, {body}, 200e-6, 107.815, 0.817e-3, 0.126, -0.071\n"
    assert (
        read_dh(written(tmp_path, again), dialect="matlab", convention="standard").links[0].motor.friction_rule
        == "reflected"
    )  # type: ignore[union-attr]


def test_the_own_dialect(tmp_path: Path) -> None:
    text = (
        "name, joint, theta [deg], d [mm], a [mm], alpha [deg], lower [deg or mm], upper [deg or mm], m [kg], rx [mm]\n"
        "shoulder, R, 10, 300, 0, 90, -90, 90, 2.5, 12\n"
        "slide, P, 0, 0, 500, 0, 0, 250, 1, 0\n"
        "flange, F, 0, 0, 0, 180, , , 0, 0\n"
    )
    arm = read_dh(written(tmp_path, text), dialect="linkwise", convention="modified")
    one, two, three = arm.links
    assert (one.name, one.joint, one.dh_row.theta, one.dh_row.d) == ("shoulder", "revolute", np.radians(10), 0.3)  # type: ignore[union-attr]
    assert one.limits == (-np.radians(90), np.radians(90))
    assert (two.limits, three.joint) == ((0, 0.25), "fixed")
    assert one.body.com.tolist() == [0.012, 0, 0]


# ── there and back ────────────────────────────────────────────────────────────────────────────────

number = st.floats(-6, 6).map(lambda value: value + 0.0)
short = st.floats(-3, 3).map(lambda value: value + 0.0)


@st.composite
def table(draw: st.DrawFn, dialect: str) -> lw.Mechanism:
    """A chain that the dialect can hold."""
    convention, links = draw(st.sampled_from(["standard", "modified"])), []
    heavy = dialect in {"toolbox7", "linkwise"} and draw(st.booleans())
    for k in range(draw(st.integers(1, 4))):
        joint = draw(st.sampled_from(["revolute", "prismatic"]))
        theta, d = (0.0, draw(number)) if joint == "revolute" else (draw(short), 0.0)
        rest: dict = {} if dialect == "toolbox7" else {"offset": draw(short)}
        if dialect in {"linkwise", "python"} and draw(st.booleans()):
            rest["limits"] = sorted([draw(number), draw(number)])
        if dialect in {"linkwise"}:
            theta, d = draw(number), draw(number)
            rest |= {"b": draw(number) if convention == "standard" else 0.0, "name": f"part {k}, left"}
        if heavy:
            rest |= {"mass": draw(st.floats(0, 9)), "com": [draw(number)] * 3, "inertia": [1.0, 1.25, 1.5, 0.1, -0.2, 0.05]}
            rule = DIALECTS[dialect].friction_rule
            rest["motor"] = lw.Motor(draw(st.floats(1e-4, 1)), draw(st.floats(1, 99)), 0.5, (0.25, -0.5), friction_rule=rule)
        links.append(lw.Link.dh(theta, d, draw(number), draw(short), convention=convention, joint=joint, **rest))
    return lw.Mechanism(links, name="arm")


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nothing_is_lost_on_the_way(tmp_path_factory: pytest.TempPathFactory, dialect: str, data: st.DataObject) -> None:
    arm = data.draw(table(dialect))
    path = tmp_path_factory.mktemp("dh") / "arm.csv"
    save_dh(arm, path, dialect)
    said = None if dialect in {"linkwise", "python"} else arm.links[0].dh_row.convention  # type: ignore[union-attr]
    assert read_dh(path, dialect=dialect, convention=said) == arm


def test_a_constant_is_added_to_the_offset_if_that_rounds_nothing(tmp_path: Path) -> None:
    arm = lw.Mechanism([lw.Link.dh(theta=0.5, offset=0.25, a=1.0, convention="standard")])
    save_dh(arm, tmp_path / "a.csv", "matlab")
    assert read_dh(tmp_path / "a.csv", dialect="matlab", convention="standard").links[0].offset == 0.75
    odd = lw.Mechanism([lw.Link.dh(theta=0.1, offset=0.2, a=1.0, convention="standard")])
    with pytest.raises(FileError, match=r"offset.*rounding"):
        save_dh(odd, tmp_path / "b.csv", "matlab")
    save_dh(odd, tmp_path / "b.csv", "matlab", allow_loss=True)
    assert read_dh(tmp_path / "b.csv", dialect="matlab", convention="standard").links[0].offset == 0.1 + 0.2


def test_what_a_dialect_cannot_hold_is_told_at_once(tmp_path: Path) -> None:
    links = [
        lw.Link.dh(a=0.5, b=0.1, convention="standard", name="arm", limits=(-1, 1), mass=1.0),
        lw.Link.dh(a=0.5, convention="modified", name="link2", motor=lw.Motor(viscous=1.0), offset=0.5),
        lw.Link(joint="screw", pitch=0.1, name="link3", parent="arm"),
    ]
    mech = lw.Mechanism(links, tool=lw.Link.dh(a=0.1, convention="standard").after, gravity=(0, 0, 0), floating=True)
    with pytest.raises(FileError) as raised:
        save_dh(mech, tmp_path / "arm.csv", "toolbox7", allow_loss=True)
    what = "in a table in the dialect 'toolbox7'"
    assert {problem.message for problem in raised.value.problems} == {
        f"would be lost {what}: link 'arm': its name (only link1, link2, ... are implied)",
        f"would be lost {what}: link 'arm': its limits",
        f"would be lost {what}: its masses and inertias (a row with masses has no offset)",
        f"would be lost {what}: its tool (it is not the identity)",
        f"would be lost {what}: its gravity",
        f"cannot be written {what} at all: link 'arm': its shift b of the extended convention",
        f"cannot be written {what} at all: link 'link2': its theta or offset (this dialect has none)",
        f"would be lost {what}: link 'link2': its motor",
        f"cannot be written {what} at all: link 'link3': its screw joint",
        f"cannot be written {what} at all: its branches (the links are not one chain in order)",
        f"cannot be written {what} at all: its floating base",
        f"cannot be written {what} at all: its two conventions (a table in this dialect has one)",
    }
    assert raised.value.advice == "save as .toml, which holds everything"
    assert not (tmp_path / "arm.csv").exists()


def test_a_motor_is_lost_beside_an_offset(tmp_path: Path) -> None:
    """A row of the dialect has one or the other."""
    motor = lw.Motor(1e-3, 50.0, 0.5)
    arm = lw.Mechanism([lw.Link.dh(a=0.5, offset=0.5, convention="standard", name="link1", motor=motor)])
    with pytest.raises(FileError, match="link 'link1': its motor") as raised:
        save_dh(arm, tmp_path / "arm.csv", "matlab")
    assert len(raised.value.problems) == 1
    with pytest.raises(FileError, match="friction by the rule 'reflected'"):
        save_dh(arm.replace(links=[arm.links[0].replace(offset=0.0)]), tmp_path / "arm.csv", "toolbox7")


def test_names_that_a_table_cannot_hold(tmp_path: Path) -> None:
    for name in ("arm #1", "left;right", "50%", " arm"):
        with pytest.raises(FileError, match=r"separator.*comment"):
            save_dh(lw.Mechanism([lw.Link.dh(convention="standard", name=name)]), tmp_path / "a.csv", "linkwise")


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "options", "messages"),
    [
        ("", {"dialect": "matlab"}, ["the file holds no row"]),
        ("# nothing\n", {"dialect": "matlab"}, ["the file holds no row"]),
        (
            "0 0.3 0.5 1.57 0\n", {},
            [
                "line 1: the dialect of this table is not stated; expected 'linkwise', 'matlab', 'python' or 'toolbox7'. "
                "This row would mean: matlab: theta=0 d=0.3 a=0.5 alpha=1.57 sigma=0; "
                "python: d=0 alpha=0.3 theta=0.5 a=1.57 sigma=0; toolbox7: alpha=0 a=0.3 theta=0.5 d=1.57 sigma=0"
            ],
        ),
        (
            "0 0.3 0.5 1.57\n", {"dialect": "matlab"},
            ["the table does not state its convention; give convention='standard' or 'modified'"],
        ),
        (
            "theta d a alpha\n0 1 0 0\n1 2 3\n0 0 0 pi/2\n0 0 0 90\n0 0 0,5 0\n0 0 0 0 2\n",
            {"dialect": "matlab", "convention": "standard"},
            [
                "line 1: 'theta' ... is a header, and a table in the dialect 'matlab' has none; take it out, "
                "or begin it with #",
                "line 3: 3 cells; expected 4, 5, 6, 15, 16, 17, 18 or 20",
                "line 4: alpha: 'pi/2' is not a number",
                "line 5: alpha is 90 rad, more than a turn; if these are degrees, say angles='deg'",
                "line 6: 2 cells; expected 4, 5, 6, 15, 16, 17, 18 or 20",
                "line 7: sigma is 2; expected 0 (revolute) or 1 (prismatic)",
            ],
        ),
        (
            "0.5 0.3 0 0\n0 0.3 0 0 1\n", {"dialect": "matlab", "convention": "standard"},
            [
                "line 1: theta is 0.5 in the row of a revolute joint, where the toolbox ignores it (the joint's variable "
                "takes its place); write 0, or put it into the offset",
                "line 2: d is 0.3 in the row of a prismatic joint, where the toolbox ignores it (the joint's variable "
                "takes its place); write 0, or put it into the offset",
            ],
        ),
        (
            "0 0 0 0 0 0\n0 0 0 0 0 1\n", {"dialect": "python", "convention": "modified"},
            ["line 1: the row is of the standard convention, and convention is 'modified'"],
        ),
        (
            "theta, d [m], a [inch], alpha [deg], twist\n0,0,0,0,0\n", {"dialect": "linkwise", "convention": "standard"},
            [
                "line 1: column 'theta' has no unit; write 'theta [rad]' or 'theta [deg]'",
                "line 1: column 'a' is in 'inch'; write 'a [m]' or 'a [mm]'",
                "line 1: no column 'twist'; there is 'name', 'joint', 'convention', 'theta', 'd', 'a', 'alpha', 'b', "
                "'offset', 'lower', 'upper', 'm', 'rx', 'ry', 'rz', 'Ixx', 'Iyy', 'Izz', 'Ixy', 'Iyz', 'Ixz', 'Jm', 'G', "
                "'B', 'Tc+' or 'Tc-'",
            ],
        ),
        (
            "theta [rad]; d [m]; alpha [rad]; alpha [rad]\n0;0;0;0\n", {"dialect": "linkwise"},
            ["line 1: the header names 'alpha' twice", "line 1: the header has no column 'a'"],
        ),
        (
            "theta [rad]; d [m]; a [m]; alpha [rad]; joint; convention\n"
            "0;0;0;0;X;standard\n0;0;0;0;R;odd\n0;0;;0;R;standard\n",
            {"dialect": "linkwise"},
            [
                "line 2: joint is 'X'; expected 'R', 'P', 'F', 'revolute', 'prismatic' or 'fixed'",
                "line 3: convention is 'odd'; expected 'standard' or 'modified'",
                "line 4: a: the cell is empty",
            ],
        ),
        ("theta [rad]; d [m]; a [m]; alpha [rad]\n", {"dialect": "linkwise"}, ["line 1: there is no row below the header"]),
        (
            "0 0 0 0 0 1 0 0 0 5 1 1 0 0 0\n", {"dialect": "matlab", "convention": "standard"},
            [
                "line 1: link 'link1': inertia is [1.0, 1.0, 5.0]; expected principal moments in which none exceeds the sum "
                "of the other two (triangle inequality); physical=False accepts an identified set of parameters"
            ],
        ),
        (
            "0 0 0 0 0 0 0 2 -inf inf\n0 0 0 0 0 0 0 0 inf 1\n0 0 0 0 0 0 0 0 1 -inf\n", {"dialect": "python"},
            [
                "line 1: flip is 2; expected 0 or 1 (q counts as -q + offset)",
                "line 2: lower is inf; expected a number, or -inf for none",
                "line 3: upper is -inf; expected a number, or inf for none",
            ],
        ),
        (
            "0 0 0 0 0 0 0 1 2 1\n", {"dialect": "python"},
            ["line 1: link 'link1': limits is (2.0, 1.0); expected the lower limit first, then the upper, neither NaN"],
        ),
        (
            "name; theta [rad]; d [m]; a [m]; alpha [rad]\nx;0;0;0;0\nx;0;0;0;0\n",
            {"dialect": "linkwise", "convention": "standard"},
            ["mechanism 'arm': links is 'x'; expected unique names; this one occurs twice"],
        ),
    ],
)  # fmt: skip
def test_malformed(tmp_path: Path, text: str, options: dict, messages: list[str]) -> None:
    with pytest.raises(FileError) as raised:
        read_dh(written(tmp_path, text), **options)
    assert [str(problem) for problem in raised.value.problems] == messages


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dialect": "corke"}, "dialect is 'corke'; expected 'linkwise', 'matlab', 'python' or 'toolbox7'"),
        ({"dialect": "matlab", "convention": "dh"}, "convention is 'dh'; expected 'standard' or 'modified'"),
        ({"dialect": "matlab", "angles": "grad"}, "angles is 'grad'; expected 'rad' or 'deg'"),
        (
            {"dialect": "linkwise", "angles": "deg"},
            "angles is 'deg'; the header of a table in the dialect 'linkwise' has the units",
        ),
    ],
)
def test_arguments(tmp_path: Path, options: dict, message: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        read_dh(written(tmp_path, "0 0 0 0\n"), **options)
    assert unnamed(raised.value, message) == []
    with pytest.raises(LinkwiseError, match="dialect is 'corke'"):
        save_dh(lw.robots.load("planar_2r"), tmp_path / "x.csv", "corke")


PIECES = [
    "0",
    "1",
    "-0.5",
    "1e308",
    "1e-320",
    "nan",
    "inf",
    ",",
    ";",
    "\t",
    " ",
    "\n",
    "#",
    "%",
    "theta [rad]",
    "d [mm]",
    "a [m]",
]
PIECES += [
    "alpha [deg]",
    "name",
    "joint",
    "R",
    "P",
    "F",
    "convention",
    "standard",
    "lower [rad or m]",
    "Ixx [kg m2]",
    "m [kg]",
    "é",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(list(DIALECTS)), st.booleans())
def test_only_our_errors_escape(text: str, dialect: str, said: bool) -> None:
    try:
        reading = parse(text, "fuzz", dialect=dialect, convention="standard" if said else None)
    except LinkwiseError:
        return
    assert bool(reading.problems) != bool(reading.description)


def test_long_lines_take_a_time_that_grows_with_their_length() -> None:
    """Blanks, columns and cells without end: by the square of their number these would take minutes."""
    assert (
        parse("0" + " " * 1_000_000 + "1", "arm", dialect="matlab").problems[0].message
        == "2 cells; expected 4, 5, 6, 15, 16, 17, 18 or 20"
    )
    blanks = parse("a" + " " * 1_000_000 + "b [m], theta [rad]", "arm", dialect="linkwise").problems
    assert blanks[0].message.startswith("no column 'a b [m]'; ")
    many = parse(",".join(["a [m]"] * 100_000), "arm", dialect="linkwise").problems
    assert [problem.message for problem in many] == [
        "the header names 'a' twice", "the header has no column 'theta', 'd' or 'alpha'"
    ]  # fmt: skip
    assert len(undecided("1, 2, 3, " + "9" * 1_000_000).message) < 1000


UNITS = "name, joint, convention, theta [deg], d [mm], a [mm], alpha [deg], offset [deg or mm]\n"


def test_a_header_with_all_its_units_says_the_dialect(tmp_path: Path) -> None:
    path = written(tmp_path, UNITS + "waist, R, standard, 0, 400, 25, -90, 90\nrail, P, standard, 0, 0, 0, 0, 250\n")
    assert read_dh(path) == read_dh(path, dialect="linkwise")
    assert read_dh(path).links[0].dh_row.d == 0.4
    for broken in (UNITS.replace("d [mm]", "d"), UNITS.replace("alpha [deg]", "alpha [grad]")):
        assert said_dialect(broken) is None
        assert "this is a header of the dialect 'linkwise': name that one (column " in undecided(broken).message
    assert said_dialect("joint, theta, d, a, alpha\nR, 0, 0, 0, 0\n") is None


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("theta [rad], d [m], a [m], alpha [rad]", "0, 0, 0, 90", "alpha is 90 rad, more than a turn; if these are degrees, "
         "write alpha [deg] in the header"),
        ("theta [deg], d [m], a [m], alpha [deg]", "0, 0, 0, 400", "alpha is 400 deg, more than a turn"),
        ("theta [rad], d [m], a [m], alpha [rad], offset [rad or m]", "0, 0, 0, 0, 90",
         "offset is 90 rad, more than a turn; if these are degrees, write offset [deg or m] in the header"),
    ],
)  # fmt: skip
def test_more_than_a_turn_under_a_header(tmp_path: Path, header: str, row: str, message: str) -> None:
    with pytest.raises(FileError) as raised:
        read_dh(written(tmp_path, f"{header}\n{row}\n"), convention="standard")
    assert [str(problem) for problem in raised.value.problems] == [f"line 2: {message}"]
