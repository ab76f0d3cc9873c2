"""``linkwise spacelib test``, ``test-new``, ``elb-...``, ``joint-mot`` and ``test-mot``."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwise.spacelib.programs import elbow, formats, laws
from linkwise.spacelib.programs.laws import read_motion

PNG = b"\x89PNG\r\n"


def run(linkwise: Callable, *args: object) -> tuple[str, str]:
    told = linkwise("spacelib", *args)
    assert told.status == 0, told.err
    return told.out, told.err


# ── motions ───────────────────────────────────────────────────────────────────────────────────────


def test_motions_are_written(linkwise: Callable) -> None:
    out, err = run(linkwise, "joint-mot", "JOINT.MOT")
    assert (out, err) == ("wrote JOINT.MOT: 61 instants of 6 joints, 0.01 s apart\n", "")
    assert np.array_equal(read_motion("JOINT.MOT", 6).q, laws.joint_motion().q)
    out, _ = run(linkwise, "test-mot", "TEST.MOT", "--digits", "manual")
    assert out == "wrote TEST.MOT: 168 instants of 1 joint, 0.002 s apart\n"
    assert Path("TEST.MOT").read_text().splitlines()[2] == "5.556914E-07 8.334976E-04 8.333989E-01"


def test_motions_are_printed(linkwise: Callable) -> None:
    out, _ = run(linkwise, "joint-mot", "S", "--first", "0", "--dt", "0.1", "--digits", "manual")
    assert out.splitlines()[:3] == ["0.1", "0.00000 0.00000 28.27440", "0.00000 0.00000 26.17994"]
    out, _ = run(linkwise, "TEST_MOT", "s", "--dt", "0.1")
    assert len(out.split()) == 1 + 3 * 5
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    "options", [("joint-mot", "a", "--dt", "0"), ("test-mot", "a", "--dt", "-1"), ("test-mot", "none/a")]
)
def test_motions_that_cannot_be_written(linkwise: Callable, options: tuple[str, ...]) -> None:
    told = linkwise("spacelib", *options)
    assert told.status == 2
    assert "Error: " in told.err
    assert not list(Path().iterdir())


# ── two links that float ──────────────────────────────────────────────────────────────────────────


def test_floating_links_go_to_a_file(linkwise: Callable) -> None:
    out, err = run(linkwise, "test", "TEST.DAT", "TEST.MOT", "TEST.OUT")
    assert out == "wrote TEST.OUT: 168 instants of TEST\n"
    assert "TEST.DAT: the bundled file is used" in err
    assert "TEST.MOT: made by the manual's law of motion" in err
    assert Path("TEST.OUT").read_text().count("Position matrix of link 1") == 168
    out, _ = run(linkwise, "test-new", "TEST.DAT", "TEST.MOT", "NEW.OUT", "--as-listed")
    assert out == "wrote NEW.OUT: 168 instants of TEST_NEW as listed\n"


def test_floating_links_are_printed(linkwise: Callable) -> None:
    run(linkwise, "test-mot", "short.mot", "--dt", "0.2")
    out, _ = run(linkwise, "test-new", "TEST.DAT", "short.mot")
    assert out.count("--- time:") == 3
    assert run(linkwise, "test-new", "TEST.DAT", "short.mot", "S")[0] == out
    made = json.loads(run(linkwise, "test-new", "TEST.DAT", "short.mot", "--json")[0])
    assert [entry["t"] for entry in made] == [0.0, 0.2, 0.4]
    assert np.shape(made[0]["m1"]) == np.shape(made[0]["momentum"]) == (4, 4)


def test_a_file_that_is_there_comes_before_the_law(linkwise: Callable) -> None:
    run(linkwise, "test-mot", "TEST.MOT", "--dt", "0.1")
    out, err = run(linkwise, "test")
    assert out.count("--- time:") == 5
    assert "TEST.MOT" not in err


def test_comparison_and_picture(linkwise: Callable) -> None:
    out, _ = run(linkwise, "test", "--compare", "--halve", "1", "--picture", "three.png")
    lines = [line.split() for line in out.splitlines()]
    rows = {(words[0], words[1]): words[3:] for words in lines if words and words[0] in ("TEST", "TEST_NEW", "Linkwise")}
    assert list(rows) == [("TEST", "2"), ("TEST", "1"), ("TEST_NEW", "2"), ("TEST_NEW", "1"), ("Linkwise", "2")]
    for key in (("TEST_NEW", "2"), ("TEST_NEW", "1"), ("Linkwise", "2")):
        assert max(map(float, rows[key][2:])) < 1e-13
    assert "wrote three.png" in out
    assert "--- time:" not in out
    assert Path("three.png").read_bytes().startswith(PNG)


def test_comparison_as_json(linkwise: Callable) -> None:
    out, _ = run(linkwise, "test", "--compare", "--as-listed", "--json")
    rows = json.loads(out)
    assert [row["program"] for row in rows] == ["TEST", "TEST as listed", "TEST_NEW", "TEST_NEW as listed", "Linkwise"]
    assert rows[0]["momentum"] > 0.1 > rows[2]["momentum"]


def test_json_beside_a_picture(linkwise: Callable) -> None:
    run(linkwise, "test-mot", "short.mot", "--dt", "0.2")
    made = json.loads(run(linkwise, "test", "TEST.DAT", "short.mot", "--json", "--picture", "a.svg")[0])
    assert [entry["t"] for entry in made] == [0.0, 0.2, 0.4]
    assert Path("a.svg").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--picture", "a.gif"), "a picture ends in .png, .svg or .pdf, not '.gif'"),
        (("--halve", "1"), "--halve is for --compare, which is missing"),
        (("TEST.DAT", "TEST.MOT", "a.out", "--json"), "--json prints, and OUT names a file; leave one of them out"),
        (("TEST.DAT", "none.mot"), "there is no such file"),
        (("ELBOW.DAT",), "the file ends where Jxz of link 1 should follow"),
        (("TEST.DAT", "bad.mot"), "bad.mot: line 2: 'x' is not a number"),
    ],
)
def test_floating_links_that_cannot_be(linkwise: Callable, options: tuple[str, ...], message: str) -> None:
    Path("bad.mot").write_text("0.1\n0 0 x")
    told = linkwise("spacelib", "test", *options)
    assert told.status == 2
    assert message in " ".join(told.err.split())
    assert [path.name for path in Path().iterdir()] == ["bad.mot"]


def test_lines_fit_a_screen(linkwise: Callable) -> None:
    run(linkwise, "test-mot", "short.mot", "--dt", "0.2")
    out, _ = run(linkwise, "test", "TEST.DAT", "short.mot", "--compare")
    assert max(map(len, out.splitlines()[-3:])) <= 80
    run(linkwise, "joint-mot", "JOINT.MOT")
    run(linkwise, "elb-d-dh", "ELBOW.DAT", "JOINT.MOT", "GRIPPER.MOT")
    out, _ = run(linkwise, "elb-i-dh", "ELBOW.DAT", "GRIPPER.MOT", "GUESS.1ST", "OUT.MOT")
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    "command",
    [
        ("rob-mat", "r.dat", "j.mot", "j.mot"),
        ("rob-mat", "r.dat", "j.mot", "r.dat"),
        ("elb-d-dh", "e.dat", "j.mot", "./j.mot"),
        ("elb-d-pa", "e.dat", "j.mot", "e.dat"),
        ("elb-i-dh", "e.dat", "g.mot", "guess", "g.mot"),
        ("elb-i-dh", "e.dat", "g.mot", "guess", "link"),
        ("test", "t.dat", "t.mot", "t.dat"),
        ("test-new", "t.dat", "t.png", "--picture", "./t.png"),
        ("test", "t.dat", "t.mot", "t.png", "--picture", "t.png"),
    ],
)
def test_nothing_that_is_read_is_written_over(linkwise: Callable, command: tuple[str, ...]) -> None:
    files = {"r.dat": "SMART.DAT", "e.dat": "ELBOW.DAT", "t.dat": "TEST.DAT", "guess": "GUESS.1ST"}
    for name, source in files.items():
        Path(name).write_text(formats.path(source).read_text())
    for name in ("j.mot", "g.mot", "t.mot"):
        Path(name).write_text("0.1")
    Path("link").hardlink_to("guess")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    told = linkwise("spacelib", *command)
    assert told.status == 2
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
    assert "which would be lost; name a new one" in " ".join(told.err.split())


def test_without_matplotlib_one_line_says_what_is_missing(linkwise: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    told = linkwise("spacelib", "test", "--picture", "a.png")
    assert told.status == 2
    assert told.err.splitlines()[-1] == 'Error: pictures need matplotlib: pip install "matplotlib>=3.8"'


# ── elbow robot ───────────────────────────────────────────────────────────────────────────────────


def test_the_scheme_of_the_manual_closes(linkwise: Callable) -> None:
    """Joints to gripper to joints to gripper, through files."""
    run(linkwise, "joint-mot", "JOINT.MOT")
    out, _ = run(linkwise, "elb-d-dh", "ELBOW.DAT", "JOINT.MOT", "GRIPPER1.MOT")
    assert out == "wrote GRIPPER1.MOT: 61 instants of the gripper, 0.01 s apart\n"
    out, _ = run(linkwise, "elb-i-dh", "ELBOW.DAT", "GRIPPER1.MOT", "GUESS.1ST", "JOINT2.MOT")
    assert "steps: at most " in out
    assert "  singular from t = 0.4 s to 0.6 s: rank 5" in out
    assert "wrote JOINT2.MOT: 61 instants of 6 joints, 0.01 s apart" in out
    run(linkwise, "elb-d-pa", "ELBOW.DAT", "JOINT2.MOT", "GRIPPER2.MOT")
    first, second = (elbow.read_gripper(f"GRIPPER{k}.MOT") for k in (1, 2))
    for name in ("pos", "vel", "acc"):
        found, wanted = getattr(second, name), getattr(first, name)
        assert np.abs(found - wanted).max() < 1e-12 * max(1.0, np.abs(wanted).max())


def test_from_the_singular_position(linkwise: Callable) -> None:
    run(linkwise, "joint-mot", "JOINT.MOT", "--first", "0")
    run(linkwise, "elb-d-dh", "ELBOW.DAT", "JOINT.MOT", "GRIPPER.MOT")
    out, err = run(linkwise, "elb-i-dh", "ELBOW.DAT", "GRIPPER.MOT")
    assert out.startswith("0.01\n")
    assert " singular at t = 0 s: rank 4; the smallest speeds and accelerations are given" in re.sub(r"\n +", " ", err)
    made = json.loads(run(linkwise, "elb-i-dh", "ELBOW.DAT", "GRIPPER.MOT", "--json")[0])
    assert [entry["rank"] for entry in made[:3]] == [4, 6, 6]
    assert max(entry["closure"][0] for entry in made) < 1e-13


def test_gripper_is_printed(linkwise: Callable) -> None:
    out, err = run(linkwise, "elb-d-dh", "ELBOW.DAT", "JOINT.MOT", "--digits", "manual")
    assert out.splitlines()[:4] == ["0.010000", "0 1 2", "", "0.029688 0.000136 0.004722"]
    assert "JOINT.MOT: made by the manual's law of motion" in err
    assert run(linkwise, "ELB_D_PA", "ELBOW.DAT", "JOINT.MOT", "S", "--digits", "manual")[0] == out
    matrices, _ = run(linkwise, "elb-d-dh", "ELBOW.DAT", "JOINT.MOT", "--matrices")
    assert matrices.count("The velocity matrix of the gripper is:") == 61
    made = json.loads(run(linkwise, "elb-d-dh", "ELBOW.DAT", "JOINT.MOT", "--json")[0])
    assert len(made) == 61
    assert made[0]["pos"] == pytest.approx([0.197937, 1.800940, 1.503131], abs=1e-6)


def test_the_listed_tolerance_can_be_asked_for(linkwise: Callable) -> None:
    run(linkwise, "elb-d-dh", "ELBOW.DAT", "JOINT.MOT", "GRIPPER.MOT")
    out, _ = run(linkwise, "elb-i-dh", "ELBOW.DAT", "GRIPPER.MOT", "GUESS.1ST", "J.MOT", "--tolerance", "0.0005")
    off = float(out.split("off by at most ")[1].split()[0])
    assert 1e-4 < off <= 5e-4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("elb-d-dh", "GUESS.1ST", "none.mot"), "there is no such file"),
        (("elb-d-dh", "TEST.DAT", "JOINT.MOT"), "comes after the last number; 6 numbers were expected"),
        (("elb-d-dh", "ELBOW.DAT", "short.mot"), "the file ends within instant 1: 15 of 18 numbers are missing"),
        (("elb-i-dh", "ELBOW.DAT", "short.mot"), "the convention is 0 0 0"),
        (("elb-i-dh", "ELBOW.DAT", "GRIPPER.MOT"), "linkwise spacelib elb-d-dh writes GRIPPER.MOT"),
        (("elb-d-dh", "ELBOW.DAT", "JOINT.MOT", ""), "this is a folder, not a file"),
        (("joint-mot", ""), "this is a folder, not a file"),
        (("elb-i-dh", "ELBOW.DAT", "far.mot"), "instant 1 (t = 0 s) is not solved"),
        (("elb-i-dh", "ELBOW.DAT", "far.mot", "GUESS.1ST", "out", "--json"), "--json prints, and OUT names a file"),
        (("elb-i-dh", "ELBOW.DAT", "far.mot", "--tolerance", "-1"), "Invalid value for '--tolerance': -1.0"),
    ],
)
def test_elbow_that_cannot_be(linkwise: Callable, options: tuple[str, ...], message: str) -> None:
    Path("short.mot").write_text("0.1\n0 0 0 ")
    Path("far.mot").write_text("0.1\n0 1 2\n" + "0 0 0\n" * 3 + "0 9 0\n" + "0 0 0\n" * 2)
    told = linkwise("spacelib", *options)
    assert told.status == 2
    assert message in " ".join(told.err.split())
    assert {path.name for path in Path().iterdir()} == {"short.mot", "far.mot"}


@pytest.mark.parametrize("third", ["JOINT3.MOT", "S"])
def test_the_third_argument_is_the_guess(linkwise: Callable, third: str) -> None:
    run(linkwise, "elb-d-dh", "ELBOW.DAT", "JOINT.MOT", "GRIPPER.MOT")
    told = linkwise("spacelib", "elb-i-dh", "ELBOW.DAT", "GRIPPER.MOT", third)
    assert told.status == 2
    assert f"GUESS, the third argument, is '{third}', and there is no such file; OUT is the fourth" in told.err
