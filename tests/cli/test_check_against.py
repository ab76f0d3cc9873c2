"""`linkwise check` explains: what bodies allow, whether another description is of the same robot, tables, JSON."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import files

TABLE = "# theta d a alpha\n0, 0.3, 0, 90, 0\n0, 0, 0.5, 0, 0\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


SPOKEN = ("--dialect", "matlab", "--convention", "standard", "--angles", "deg")


def test_the_same_robot_from_a_table_and_a_urdf(linkwise: Callable, table: Path) -> None:
    assert linkwise("convert", table, "arm.urdf", *SPOKEN).out == "wrote arm.urdf\n"
    told = linkwise("check", table, "--against", "arm.urdf", *SPOKEN)
    assert told.status == 0, told.out
    assert told.out.count("table (first) and table (second): kinematics the same, to 1e-06 m and rad; masses, ") == 1
    assert "were not compared: --dynamics does\n" in told.out
    assert linkwise("check", "arm.urdf", "--against", table, *SPOKEN).status == 0


def test_another_robot_is_status_1(linkwise: Callable, table: Path) -> None:
    table.with_name("other.csv").write_text(TABLE.replace("0.5", "0.6") + "0, 0, 0.1, 0, 0\n")
    told = linkwise("check", table, "--against", "other.csv", *SPOKEN)
    assert told.status == 1
    assert "number of joints on the way: 2 (link1, link2) against 3 (link1, link2, link3)" in told.out
    told = linkwise("check", "other.csv", "--against", table, "--link", "link2", *SPOKEN)
    assert told.status == 0  # the lengths of the last links are the tool's


def test_a_bundled_robot_and_its_masses(linkwise: Callable, tmp_path: Path) -> None:
    heavy = lw.robots.load("puma560").replace_link("link2", mass=20.0)
    files.save(heavy, tmp_path / "heavy.toml")
    assert linkwise("check", "heavy.toml", "--against", "puma560").status == 0
    told = linkwise("check", "heavy.toml", "--against", "puma560", "--dynamics")
    assert told.status == 1
    assert "what moves with joint 2 (link2): 20 kg against 17.4 kg" in told.out


def test_json(linkwise: Callable, table: Path, tmp_path: Path) -> None:
    told = json.loads(linkwise("check", table, "--json", "--against", table, *SPOKEN).out)
    assert told["ok"] is True
    assert told["joints"] == ["link1", "link2"]
    assert [remark["message"] for remark in told["remarks"]] == [
        "no link has a mass: this is a description of kinematics alone"
    ]
    assert told["against"]["same"] is True
    assert np.array_equal(told["against"]["base"], np.eye(4))
    (tmp_path / "bad.csv").write_text("0, 0, 0\n")
    told = linkwise("check", "bad.csv", "--json", *SPOKEN)
    assert told.status == 1
    assert json.loads(told.out)["problems"] == [{"line": 1, "message": "3 cells; expected 4, 5, 6, 15, 16, 17, 18 or 20"}]


def test_json_of_a_motion(linkwise: Callable, arm_file: Path, motion_file: Callable) -> None:
    path = motion_file(2, 5)
    assert json.loads(linkwise("check", arm_file, path, "--json").out)["motion"] == "5 instants, 0 to 2 s, 2 joints"
    path.write_text(path.read_text() + "9,0,zero,0,0,0,0\n")
    told = linkwise("check", arm_file, path, "--json")
    assert told.status == 1
    assert json.loads(told.out)["problems"][0]["line"] == 7


WRONG = {
    "arm.toml": (
        'format = "linkwise 1"\n[[link]]\nname = "a"\nparent = "b"\naxis = [0, 0, 0]\n'
        '[[link]]\nname = "b"\nparent = "a"\nlimits = [1, -1]\nmass = -1\n',
        [
            "of these hangs on another of them (a cycle; a loop closure closes one)",
            "line 5: link 'a': axis is [0.0, 0.0, 0.0]",
            "line 9: link 'b': limits is",
            "line 10: link 'b': mass is -1.0",
        ],
    ),
    "arm.urdf": (
        '<robot name="arm">\n<link name="a"/>\n<link name="b"/>\n<link name="c"/>\n'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>\n<axis xyz="0 0 0"/>\n'
        '<limit lower="1" upper="-1" effort="0" velocity="0"/></joint>\n</robot>\n',
        ["line 4: there are 2 roots", "line 6: joint 'j': its axis is zero", "line 7: joint 'j': its limits are reversed"],
    ),
    "ring.urdf": (
        '<robot name="ring">\n<link name="a"/>\n<link name="b"/>\n'
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>\n'
        '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>\n</robot>\n',
        ["line 2: the links 'b' and 'a' carry each other in a ring; expected a tree"],
    ),
    "arm.csv": (
        "0, 0, 0, pi/2, 0\n0, 0, 0\n0, 0, 0, 0, 3\n",
        ["line 1: alpha: 'pi/2' is not a number", "line 2: 3 cells", "line 3: sigma is 3"],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_everything_wrong_is_told_at_once_in_every_format(linkwise: Callable, tmp_path: Path, name: str) -> None:
    text, wanted = WRONG[name]
    (tmp_path / name).write_text(text)
    told = linkwise("check", name, "--dialect", "matlab", "--convention", "standard")
    assert told.status == 1
    assert f"{len(wanted)} problem" in told.out, told.out
    for line in wanted:
        assert line in told.out


def test_what_bodies_allow_is_told(linkwise: Callable, tmp_path: Path) -> None:
    text = 'format = "linkwise 1"\n[[link]]\nname = "arm"\nmass = 1\ninertia = [1, 1, 5]\n'
    (tmp_path / "arm.toml").write_text(text)
    told = linkwise("check", "arm.toml")
    assert told.status == 1
    assert told.out.splitlines()[-2:] == [
        "what bodies allow:",
        "  link 'arm': its largest principal moment, 5 kg m2, exceeds the sum of the other two, 2, by 3; "
        "a body has at most that sum",
    ]
    (tmp_path / "arm.csv").write_text("0 0 0 0 0 1 0 0 0 1 1 5 0 0 0\n")
    assert "by 3; a body" in linkwise("check", "arm.csv", "--dialect", "matlab", "--convention", "standard").out


def test_a_table_without_its_dialect(linkwise: Callable, table: Path) -> None:
    told = linkwise("check", table)
    assert told.status == 1
    assert "line 2: the dialect of this table is not stated" in told.out
    assert "toolbox7: alpha=0 a=0.3 theta=0 d=90 sigma=0" in told.out
    with pytest.raises(lw.errors.FileError, match="read it with"):
        files.read(table)
    with pytest.raises(lw.errors.FileError, match="write it with"):
        files.save(lw.robots.load("planar_2r"), table)


def test_options_of_against_alone_are_for_nothing(linkwise: Callable, arm_file: Path) -> None:
    told = linkwise("check", arm_file, "--dynamics")
    assert told.status == 2
    assert "--link, --link-against and --dynamics are for --against, which is not given" in told.err


# ── convert ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dialect", ["linkwise", "matlab", "python", "toolbox7"])
def test_there_and_back_through_a_table(linkwise: Callable, dialect: str) -> None:
    assert linkwise("convert", "elbow", "elbow.csv", "--dialect", dialect, "--allow-loss").status == 0
    assert linkwise("convert", "elbow.csv", "again.toml", "--dialect", dialect, "--convention", "standard").status == 0
    assert linkwise("check", "again.toml", "--against", "elbow").status == 0


def test_from_one_dialect_to_another(linkwise: Callable, table: Path, tmp_path: Path) -> None:
    told = linkwise("convert", table, "other.csv", *SPOKEN, "--out-dialect", "python")
    assert told.out == "wrote other.csv\n", told.err
    again = files.read_dh(tmp_path / "other.csv", dialect="python")
    assert again.links == files.read_dh(table, dialect="matlab", convention="standard", angles="deg").links


def test_what_a_table_leaves_out_is_told(linkwise: Callable, arm_file: Path, tmp_path: Path) -> None:
    told = linkwise("convert", arm_file, "arm.csv", "--dialect", "toolbox7")
    assert told.status == 2
    assert "its limits" in told.err
    assert "link 'slide 100%': its d or offset (the same)" in told.err
    assert "--allow-loss" not in told.err
    assert not (tmp_path / "arm.csv").exists()
    told = linkwise("convert", "puma560", "puma.csv", "--dialect", "matlab", "--allow-loss")
    assert "  lost: link 'link1': its limits" in told.out
    assert linkwise("convert", "puma560", "puma.csv").status == 2
    assert "a table needs its dialect named: --dialect 'linkwise'" in linkwise("convert", "puma560", "puma.csv").err


@pytest.mark.parametrize("source", ["toml", "dat", "urdf", "csv"])
@pytest.mark.parametrize("target", ["toml", "dat", "urdf", "csv"])
def test_every_pair(linkwise: Callable, tmp_path: Path, source: str, target: str) -> None:
    """Through each format to each other, the same robot arrives, as far as rows are given."""
    links = [lw.Link.dh(0, 0.3, 0.1, 0.5, convention="standard", mass=1.0), lw.Link.dh(0, 0, 0.4, 0, convention="standard")]
    arm = lw.Mechanism(links, name="arm")
    said = ("--dialect", "linkwise")
    files.save(arm, tmp_path / "first.toml")
    assert linkwise("convert", "first.toml", f"a.{source}", *said).status == 0
    told = linkwise("convert", f"a.{source}", f"b.{target}", *said)
    if source == "urdf" and target in {"dat", "csv"}:
        assert told.status == 2
        assert "its placement (no Denavit-Hartenberg row was given)" in told.err
    else:
        assert told.status == 0, told.err
        assert linkwise("check", f"b.{target}", "--against", "first.toml", *said).status == 0
