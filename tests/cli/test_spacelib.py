"""The command group of SpaceLib's programs: what is printed, written, refused."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwise.files import load, save_motion
from linkwise.spacelib.programs import formats, rob_mat

PROGRAMS = ("rob-mat", "triangle", "robscara", "sat", "test-lin", "data")


def test_the_programs_are_listed(linkwise: Callable) -> None:
    told = linkwise("spacelib", "--help")
    assert told.status == 0
    places = [told.out.index(f"\n  {name} ") for name in PROGRAMS]
    assert places == sorted(places)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_has_help(linkwise: Callable, name: str) -> None:
    told = linkwise("spacelib", name, "--help")
    assert told.status == 0
    assert "\b" not in told.out
    assert len(told.out.splitlines()) > 5


@pytest.mark.parametrize(
    ("words", "found"),
    [("rob-mat SC", ["SCARA.DAT", "SCARA.MOT"]), ("rob-mat scara.d", ["SCARA.DAT"]), ("data G", ["GUESS.1ST"])],
)
def test_bundled_names_are_completed(tmp_path: Path, words: str, found: list[str]) -> None:
    command = [sys.executable, "-m", "linkwise"]
    asked = {"_LINKWISE_COMPLETE": "bash_complete", "COMP_WORDS": f"linkwise spacelib {words}", "COMP_CWORD": "3"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **asked}, check=False)
    assert done.stdout.split() == [f"plain,{name}" for name in found]


def test_names_of_the_manual_and_guesses(linkwise: Callable) -> None:
    assert linkwise("spacelib", "TEST_LIN").status == 0
    told = linkwise("spacelib", "rob")
    assert told.status == 2
    assert "No program 'rob'. Did you mean 'rob" in told.err
    assert "Expected rob-mat, triangle" in linkwise("spacelib", "xyz").err


# ── rob-mat ───────────────────────────────────────────────────────────────────────────────────────


def test_rob_mat_on_the_bundled_robot(linkwise: Callable) -> None:
    told = linkwise("spacelib", "rob-mat", "SCARA.DAT", "SCARA.MOT", "SCARA.OUT")
    assert told.status == 0
    files = ("SCARA.DAT", "SCARA.MOT")
    assert told.err == "".join(f"{name}: the bundled file is used, there is none here\n" for name in files)
    assert "motor efforts -PseDot(L, ACTO), N m or N; 2 instants to t = 0.05 s" in told.out
    assert ["1", "107.3909", "114.3209"] in [line.split() for line in told.out.splitlines()]
    assert told.out.splitlines()[-1] == "wrote SCARA.OUT"
    text = Path("SCARA.OUT").read_text()
    assert text.count("Actions on Joint (i) ACTO") == 6
    parts = rob_mat.run(formats.path("SCARA.DAT"), formats.path("SCARA.MOT"))
    assert text == "".join(piece for part in parts for piece in rob_mat.text(part))


@pytest.mark.parametrize("screen", [[], ["S"], ["s"]])
def test_rob_mat_on_the_screen(linkwise: Callable, screen: list[str]) -> None:
    told = linkwise("spacelib", "rob-mat", "SMART.DAT", "SMART.MOT", *screen)
    assert told.status == 0
    assert told.out.count("Absolute Position Matrix T") == 6
    assert "  381.1567" in told.out
    assert list(Path().iterdir()) == []


def test_rob_mat_takes_files_first_and_to_their_end(linkwise: Callable, tmp_path: Path) -> None:
    t = np.arange(50) * 0.1
    q = np.sin(np.outer(t, [1.0, 2.0, 3.0]))
    save_motion(tmp_path / "SCARA.MOT", 0.1, q, q, q)
    told = linkwise("spacelib", "rob-mat", "SCARA.DAT", "SCARA.MOT", "long.out")
    assert "SCARA.MOT: the bundled" not in told.err
    assert "50 instants to t = 4.9 s" in told.out
    assert "rms" in told.out
    assert Path("long.out").read_text().count(" Link 1 ") == 50
    tau = load(formats.path("SCARA.DAT")).inverse_dynamics(q, q, q)
    place = int(np.abs(tau[:, 2]).argmax())
    assert f"{tau[place, 2]:.4g} @ {t[place]:.4g}" in " ".join(told.out.split())


def test_rob_mat_as_json(linkwise: Callable) -> None:
    told = linkwise("spacelib", "rob-mat", "SCARA.DAT", "SCARA.MOT", "--json")
    found = json.loads(told.out)
    assert told.err.count("the bundled file is used") == 2
    assert [entry["t"] for entry in found] == [0.0, 0.05]
    (part,) = rob_mat.run(formats.path("SCARA.DAT"), formats.path("SCARA.MOT"))
    for name in ("A", "T", "W", "WO", "WA", "H", "HO", "HA", "JO", "FI", "ACTO", "tau"):
        assert np.array_equal([entry[name] for entry in found], getattr(part, name)), name
    assert found[0]["J"] == part.J.tolist()
    assert linkwise("spacelib", "rob-mat", "SCARA.DAT", "SCARA.MOT", "x.out", "--json").status == 2


def test_rob_mat_tells_mistakes_with_their_lines(linkwise: Callable, tmp_path: Path) -> None:
    (tmp_path / "bad.mot").write_text("0.05\n0 0 0\n0 0 0\n0 zero 0\n")
    told = linkwise("spacelib", "rob-mat", "SCARA.DAT", "bad.mot", "x.out")
    assert told.status == 2
    assert told.err.splitlines()[-1] == "Error: bad.mot: line 4: 'zero' is not a number"
    assert not (tmp_path / "x.out").exists()
    told = linkwise("spacelib", "rob-mat", "SCARA.DAT", "bad.mot")
    assert (told.status, told.out) == (2, "")  # not a matrix of the instants before it
    told = linkwise("spacelib", "rob-mat", "none.dat", "bad.mot")
    assert told.err.startswith("Error: none.dat: there is no such file; bundled are 'SCARA.DAT'")
    (tmp_path / "seven.mot").write_text("0.1\n" + "0 0 0\n" * 7)
    told = linkwise("spacelib", "rob-mat", "SMART.DAT", "seven.mot")
    assert "the file ends within instant 2: 15 of 18 numbers are missing" in told.err


def test_rob_mat_refuses_impossible_inertias_unless_told(linkwise: Callable, tmp_path: Path) -> None:
    text = formats.path("SCARA.DAT").read_text().replace("0.05\n-0.05", "5\n-0.05", 1)
    (tmp_path / "odd.dat").write_text(text)
    told = linkwise("spacelib", "rob-mat", "odd.dat", "SCARA.MOT")
    assert told.status == 2
    assert "inertia" in told.err
    assert "--any-inertia" in told.err
    assert linkwise("spacelib", "rob-mat", "odd.dat", "SCARA.MOT", "--any-inertia").status == 0


# ── the others ────────────────────────────────────────────────────────────────────────────────────


def test_triangle_and_sat(linkwise: Callable) -> None:
    assert "Axis direction u = [0 0 -1]\nPoint P of the axis = [1 -1 0 1]\n" in linkwise("spacelib", "triangle").out
    assert "= 3.116767 rad = 178.577623 deg" in linkwise("spacelib", "sat").out
    found = json.loads(linkwise("spacelib", "sat", "--json").out)
    assert found["M4"][0][:2] == pytest.approx([-0.976029235650557, 0.217639452203383], abs=1e-14)
    assert json.loads(linkwise("spacelib", "triangle", "--json").out)["u"] == [0, 0, -1]


def test_robscara_says_in_which_sense(linkwise: Callable) -> None:
    told = linkwise("spacelib", "robscara")
    assert told.out.startswith("h* and its speed are counted downwards;")
    assert "The gripper is at z = 1 m and goes up at 0.5 m/s." in told.out
    assert linkwise("spacelib", "robscara", "--as-listed").out.startswith("As listed in the manual: h* is counted down")

    def slide(*words: str) -> float:
        return json.loads(linkwise("spacelib", "robscara", "--json", *words).out)["W04"][2][3]

    assert (slide(), slide("--as-listed"), slide("--up", "--q", "45deg,30deg,-0.5")) == (0.5, -0.5, -0.5)
    assert linkwise("spacelib", "robscara", "--up", "--as-listed").status == 2
    assert "q has 2 entries" in linkwise("spacelib", "robscara", "--q", "1,2").err


def test_test_lin(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("spacelib", "test-lin")
    assert told.err.startswith("INP.DAT: the bundled file is used")
    assert "  x(3) = 3.5 - x(1) - 0.5 x(4)" in told.out
    (tmp_path / "none.dat").write_text("2 2  1 1 1  1 1 2")
    assert "The system has no solution." in linkwise("spacelib", "test-lin", "none.dat").out
    found = json.loads(linkwise("spacelib", "test-lin", "none.dat", "--json").out)
    assert (found["kind"], found["x"], found["residual"]) == ("none", [None, None], None)


def test_data_is_listed_printed_and_copied(linkwise: Callable, tmp_path: Path) -> None:
    assert [line.split()[0] for line in linkwise("spacelib", "data").out.splitlines()] == list(formats.names())
    assert linkwise("spacelib", "data", "inp.dat").out == formats.path("INP.DAT").read_text()
    told = linkwise("spacelib", "data", "SCARA.DAT", "SCARA.MOT", "--to", "here")
    assert told.out.replace("\\", "/") == "wrote here/SCARA.DAT, here/SCARA.MOT\n"
    (tmp_path / "here" / "SCARA.DAT").write_text("mine")
    told = linkwise("spacelib", "data", "--to", "here")
    assert (told.status, "SCARA" in told.out, "INP.DAT" in told.out) == (0, False, True)
    assert told.err.endswith("(--overwrite replaces them): SCARA.DAT, SCARA.MOT\n")
    assert {path.name for path in (tmp_path / "here").iterdir()} == set(formats.names())
    assert (tmp_path / "here" / "SCARA.DAT").read_text() == "mine"
    assert linkwise("spacelib", "data", "--to", "here", "--overwrite").status == 0
    assert load(tmp_path / "here" / "SCARA.DAT").n == 3
    assert linkwise("spacelib", "data", "--overwrite").status == 2
    assert "no bundled file 'x'" in linkwise("spacelib", "data", "x", "--to", "new").err
    assert not (tmp_path / "new").exists()


def test_nothing_is_left_half_printed(linkwise: Callable) -> None:
    assert linkwise("spacelib", "data", "INP.DAT", "nothing").out == ""
