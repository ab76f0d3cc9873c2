"""Exported Rust compiles without a warning, and its unit tests hold."""

import subprocess
from pathlib import Path

import pytest

from linkwise import robots
from linkwise.export import export, to_rust
from support.compilers import RUST, needs_rust
from support.exported_code import hostile, plain, random_tape


def run(*command: str, status: int = 0) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@needs_rust
@pytest.mark.parametrize("precision", ["double", "single"])
def test_unit_tests(precision: str, tmp_path: Path) -> None:
    arm = robots.load("planar_2r")
    names = ("forward_kinematics", "jacobian", "forward_dynamics", "kinetic_energy")
    tapes = [hostile(), plain(), random_tape(2), *(arm.kernel(name).tape for name in names)]
    (tmp_path / "arm.rs").write_text(to_rust(tapes, precision=precision))
    run(str(RUST), "-D", "warnings", "--edition", "2021", "--test", str(tmp_path / "arm.rs"), "-o", str(tmp_path / "run"))
    assert f"{len(tapes)} passed; 0 failed" in run(str(tmp_path / "run"))


@needs_rust
def test_unit_tests_have_teeth(tmp_path: Path) -> None:
    source = to_rust(robots.load("planar_2r").kernel("forward_kinematics").tape)
    body, rest = source.split("pub fn ", 1)
    (tmp_path / "arm.rs").write_text(body + "pub fn " + rest.replace("= cos(", "= (1.0 + 1e-12) * cos(", 1))
    run(str(RUST), "--edition", "2021", "--test", str(tmp_path / "arm.rs"), "-o", str(tmp_path / "run"))
    assert "0 passed; 1 failed" in run(str(tmp_path / "run"), status=101)


def test_nothing_is_allocated_and_the_crate_libm_may_stand_in() -> None:
    source = to_rust([plain(), hostile()], precision="single")
    assert "Vec" not in source.partition("#[cfg(test)]")[0]
    assert "libm::sinf(x)" in source
    assert "libm::atan2f(y, x)" in source
    assert '#[cfg(not(feature = "libm"))]' in source
    assert "#[cfg(test)]" not in to_rust(plain(), self_test=False)


@needs_rust
def test_what_is_told_as_the_way_to_try_it_works(tmp_path: Path) -> None:
    """Also of a function of which nothing can be tested: its test is ignored, and says why."""
    made = export(robots.load("four_bar"), ["forward_dynamics", "project_to_loops"], "rust", name="bars")
    made.write(tmp_path)
    done = subprocess.run(made.command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 passed; 0 failed; 1 ignored" in done.stdout
    assert "rounding decides which" in done.stdout
