import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.compilers import C


@pytest.mark.skipif(C is None or shutil.which("cc") != C, reason="no C compiler cc that works")
def test_what_is_printed_as_the_way_to_try_it_works(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("export", "planar_2r", "fk", "id", "-o", "code", "--symbols", "inertial,gravity")
    assert told.status == 0
    assert told.err == ""
    lines = told.out.splitlines()
    files = ["planar_2r.h", "planar_2r.c", "planar_2r_test.c", "planar_2r_parameters.csv"]
    assert lines[:4] == [f"wrote {Path('code') / name}" for name in files]
    assert "  forward_kinematics: 2 mul" in told.out or "  forward_kinematics: " in told.out
    assert "  inverse_dynamics_prepared: " in told.out
    command = lines[-1].removeprefix("to try it: ")
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all good\n")
    rows = (tmp_path / "code" / "planar_2r_parameters.csv").read_text().splitlines()
    assert rows[0] == "name,value"
    assert "g,9.81" in rows


def test_options_and_languages(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("export", "planar_2r", "J", "--option", "frame=body", "--language", "rust", "--precision", "single")
    assert told.status == 0
    assert "&[f32; 2]" in (tmp_path / "planar_2r.rs").read_text()
    assert "frame body" in (tmp_path / "planar_2r.rs").read_text()
    told = linkwise("export", "planar_2r", "M", "--language", "python", "--name", "mine", "--prefix", "p_")
    assert told.out.splitlines()[0] == "wrote mine.py"
    assert "def p_mass_matrix(q):" in (tmp_path / "mine.py").read_text()
    assert "to try it" not in told.out


def test_nothing_is_replaced_unless_forced(linkwise: Callable, tmp_path: Path) -> None:
    (tmp_path / "planar_2r.c").write_text("mine")
    told = linkwise("export", "planar_2r", "M", "--no-test")
    assert told.status == 2
    assert "planar_2r.c is there already" in told.err
    assert "--force" in told.err
    assert (tmp_path / "planar_2r.c").read_text() == "mine"
    assert not (tmp_path / "planar_2r.h").exists()
    assert linkwise("export", "planar_2r", "M", "--no-test", "--force").status == 0
    assert "mass_matrix" in (tmp_path / "planar_2r.c").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "planar_2r"), "KERNELS"),
        (("export", "planar_2r", "mas_matrix"), "no algorithm 'mas_matrix'"),
        (("export", "planar_2r", "M", "--option", "frame"), "'frame' is not NAME=VALUE"),
        (("export", "planar_2r", "M", "--option", "frame=body"), "'mass_matrix' has no option 'frame'"),
        (("export", "planar_2r", "J", "--option", "frame=tool"), "frame is 'tool'"),
        (("export", "planar_2r", "M", "--symbols", "colours"), "colours"),
        (("export", "planar_2r", "M", "--language", "python", "--precision", "single"), "precision of its arguments"),
        (("export", "planar_2r", "closure"), "has no loops"),
    ],
)
def test_mistakes_are_told(linkwise: Callable, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    told = linkwise(*words)
    assert told.status == 2
    assert said in told.err
    assert not list(tmp_path.iterdir())


def test_a_folder_with_spaces_in_its_name(linkwise: Callable) -> None:
    told = linkwise("export", "planar_2r", "M", "-o", "my code", "--no-test")
    assert told.status == 0
    assert "cd 'my code' && cc " in told.out
