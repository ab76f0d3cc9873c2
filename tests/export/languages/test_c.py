"""Exported C compiles without a warning, gives what the gufunc gives, and its own test would see if it did not."""

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError, FileError, KernelError
from linkwise.export import CSource, export, to_c
from linkwise.export.mechanism import closed_points
from linkwise.kernel import trace
from support.compilers import CPP, C, needs_c, needs_cpp
from support.exported_code import arguments, drawn_for, hostile, off, plain, random_tape

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-Wmissing-prototypes", "-O0")
NAMES = ("forward_kinematics", "jacobian", "inverse_dynamics", "forward_dynamics", "kinetic_energy", "link_poses")


def made(precision: str = "double") -> CSource:
    """Many functions in one file: kernels of two mechanisms, one with symbols, and tapes with everything."""
    arm = robots.load("stanford").symbolic("inertial", "gravity").kernel("inverse_dynamics").tape
    planar = robots.load("planar_2r")
    tapes = [hostile(), plain(), random_tape(2), *(planar.kernel(name).tape for name in NAMES if name != "inverse_dynamics")]
    return to_c([*tapes, arm], name="all of it", precision=precision)


def compiled(source: CSource, folder: Path, *flags: str) -> Path:
    source.write(folder, force=True)
    files = [str(folder / f"{source.name}{end}") for end in (".c", "_test.c")]
    run([str(C), *FLAGS, *flags, *files, "-o", str(folder / "run"), "-lm"])
    return folder / "run"


def run(command: list[str], status: int = 0) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@needs_c
@pytest.mark.parametrize("precision", ["double", "single"])
def test_strict_compilers_say_nothing_and_the_test_is_good(precision: str, tmp_path: Path) -> None:
    source = made(precision)
    said = run([str(compiled(source, tmp_path))])
    print(said)
    assert said.count(", good") == len(source.tapes)
    assert said.endswith("all good\n")
    found = [float(figure) for figure in re.findall(r"largest difference (\S+),", said)]
    assert max(found) <= {"double": 1e-13, "single": 1e-4}[precision], "the bounds leave no room for more"


@needs_c
def test_the_self_test_has_teeth(tmp_path: Path) -> None:
    """A number that is off by 1e-12 is seen."""
    source = to_c(robots.load("planar_2r").kernel("forward_kinematics").tape, name="arm")
    source.write(tmp_path)
    good = (tmp_path / "arm.c").read_text()
    place = good.index("cos(") - 1
    (tmp_path / "arm.c").write_text(good[:place] + " (1.0 + 1e-12) * " + good[place:])
    files = [str(tmp_path / "arm.c"), str(tmp_path / "arm_test.c")]
    run([str(C), "-std=c99", *files, "-o", str(tmp_path / "run"), "-lm"])
    said = run([str(tmp_path / "run")], status=1)
    assert "TOO LARGE" in said
    assert said.endswith("FAILED\n")


@needs_c
def test_the_single_file_is_the_same_and_outputs_may_lie_on_inputs(tmp_path: Path) -> None:
    tape = trace(
        lambda x, dt: (np.array([x[1], x[0] + dt[()], x[2] * x[0]], dtype=object), x[0] * 2.0),
        "step",
        {"x": (3,), "dt": ()},
        {"x_next": (3,), "twice": ()},
    )
    source = to_c([tape, plain()])
    (tmp_path / "one.c").write_text(source, encoding="ascii")
    command = [str(C), "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(tmp_path / "one.so")]
    run([*command, str(tmp_path / "one.c"), "-lm"])
    library = ctypes.CDLL(str(tmp_path / "one.so"))
    x, dt, twice = np.array([1.0, 2.0, 3.0]), np.array([0.5]), np.zeros(1)
    library.step(*(array.ctypes.data_as(ctypes.c_void_p) for array in (x, dt, x, twice)))
    assert x.tolist() == [2.0, 1.5, 3.0]
    assert twice.tolist() == [2.0]
    for row in range(4):
        given = [np.array(arg) for arg in arguments(plain(), drawn_for("plain"), row)]
        found = tuple(np.full(shape, np.nan) for shape in plain().outputs.values())
        library.plain(*(array.ctypes.data_as(ctypes.c_void_p) for array in (*given, *found)))
        assert off(drawn_for("plain"), found, row) <= 1.0


@needs_cpp
def test_the_header_is_for_cpp_too(tmp_path: Path) -> None:
    source = made()
    source.write(tmp_path)
    user = tmp_path / "user.cpp"
    user.write_text(f'#include "{source.name}.h"\n#include "{source.name}.h"\nint main() {{ return 0; }}\n')
    run([str(CPP), "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", str(user)])


def test_what_a_microcontroller_must_not_find() -> None:
    source = made("single")
    code = source.source
    assert code.isascii()
    assert source.header.isascii()
    assert [line for line in code.splitlines() if line.startswith("#include")] == [
        f'#include "{source.name}.h"',
        "#include <math.h>",
    ]
    for word in ("malloc", "goto", "double", "long", "int", "for", "while", "extern"):
        assert not re.search(rf"\b{word}\b", code.partition("*/")[2]), word
    assert re.findall(r"\b(sin|cos|sqrt|fabs|atan2)\(", code) == [], "functions of float have their suffix"
    numbers = re.findall(r"(?<![\w.\[])\d+\.\d+(?:e[+-]?\d+)?f?", code)
    assert numbers
    assert all(number.endswith("f") for number in numbers)


def test_the_header_says_what_every_argument_is() -> None:
    puma = robots.load("puma560")
    header = puma.kernel("inverse_dynamics").to_c().header
    assert "joint coordinates, rad or m; elements q1, q2, q3, q4, q5, q6" in header
    assert "@param[out] tau (6)" in header
    counts = puma.kernel("inverse_dynamics").operations
    assert f"Operations: {counts['mul']} mul, {counts['add']} add" in header
    names = made().header
    assert "@param[in] lambda one number" in names, "it is not a word of C"
    assert "@param[in] lambda_2 'lambda' (U+03BB), (3)" in names
    assert "@param[out] double_v 'double', (2, 3)" in names
    assert "elements m 1, m_1, int, unused / '''" in names


def test_parameters_are_prepared_apart() -> None:
    source = to_c(hostile(), prefix="arm_")
    assert [function.name for function in source.functions] == ["arm_fn_for_prepare", "arm_fn_for_prepared", "arm_fn_for"]
    whole = hostile().operations
    early, late, both = (function.tape.operations for function in source.functions)
    assert both == whole
    assert {kind: early.get(kind, 0) + late.get(kind, 0) for kind in whole} == whole
    assert source.name == "arm_fn_for"


def test_files_are_not_replaced_unless_asked(tmp_path: Path) -> None:
    source = to_c(plain())
    assert [path.name for path in source.write(tmp_path / "new")] == ["plain.h", "plain.c", "plain_test.c"]
    with pytest.raises(FileError, match=r"plain\.h is there already"):
        source.write(tmp_path / "new")
    assert len(source.write(tmp_path / "new", force=True)) == 3
    without = to_c(plain(), self_test=False)
    assert list(without.sources.files) == ["plain.h", "plain.c"]


def test_what_cannot_be_exported_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match=r"precision.*'half'.*'double'.*'single'"):
        to_c(plain(), precision="half")
    with pytest.raises(ArgumentError, match="two functions are called 'plain'"):
        to_c([plain(), plain()])
    with pytest.raises(ArgumentError, match="no function to export"):
        to_c([])
    for number in (1e40, 1e-50):
        tape = trace(lambda x, number=number: x * number, "far", {"x": (1,)}, {"y": (1,)})
        with pytest.raises(
            KernelError, match=f"far contains {re.escape(repr(number))}, which single precision does not hold"
        ):
            to_c(tape, precision="single")
        assert repr(number) in to_c(tape)


def test_a_function_called_as_one_that_is_made_is_not_mixed_up(tmp_path: Path) -> None:
    ports = {"x": (1,), "parameters": (1,)}
    first = trace(lambda x, p: x * (p * p), "f", ports, {"y": (1,)})
    second = trace(lambda x: x + 3.0, "f_prepare", {"x": (1,)}, {"y": (1,)})
    source = to_c([first, second])
    assert [function.name for function in source.functions] == ["f_prepare", "f_prepared", "f", "f_prepare_2"]
    if C:
        assert run([str(compiled(source, tmp_path))]).endswith("all good\n")


@needs_c
@pytest.mark.parametrize("name", ["compared", "made", "row", "k", "found", "double_t", "abort", "write"])
def test_functions_are_not_mixed_up_with_those_of_the_test_and_the_library(name: str, tmp_path: Path) -> None:
    source = to_c(trace(lambda x: x * x, name, {"x": (2,)}, {"y": (2,)}), name="some")
    assert run([str(compiled(source, tmp_path))]).endswith("all good\n")


@needs_c
def test_empty_inputs_and_outputs_among_others(tmp_path: Path) -> None:
    tape = trace(lambda a, b, c: (a * c, b), "f", {"a": (2,), "b": (0,), "c": ()}, {"y": (2,), "z": (0,)})
    stone = Mechanism([Link(joint="fixed", mass=1.0)], name="stone")
    tapes = [tape, *(stone.kernel(name).tape for name in ("jacobian", "mass_matrix", "inverse_dynamics"))]
    said = run([str(compiled(to_c(tapes, name="empty"), tmp_path, "-O2"))])
    assert said.endswith("all good\n"), said


def test_a_function_without_inputs_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"inputs.*function"):
        to_c(trace(lambda: np.array([2.0]), "two", {}, {"y": (1,)}))


@needs_c
def test_dynamics_of_closed_loops_is_tested_where_they_are_closed(tmp_path: Path) -> None:
    """Anywhere else nothing is a number; a test that compares nothing says so, and does not end with 0."""
    bars = robots.load("four_bar")
    tape = bars.kernel("forward_dynamics").tape
    made = to_c(tape, name="bars", points=closed_points(bars))
    said = run([str(compiled(made, tmp_path))])
    assert "12 of 12 numbers" in said
    assert said.endswith("all good\n")
    said = run([str(compiled(to_c(tape, name="bars"), tmp_path))], status=2)
    assert "0 of 12 numbers, largest difference 0.0e+00, NOT TESTED" in said
    assert said.endswith("good as far as tested\n")
    with pytest.raises(ArgumentError, match=r"points.*\(3,\).*forward_dynamics.*\(n, 3\)"):
        _ = to_c(tape, points={"q": bars.neutral}).self_test


def test_closed_points_are_closed() -> None:
    for name in ("four_bar", "jansen"):
        model = robots.load(name)
        points = closed_points(model)
        residual = model.kernel("closure")(points["q"])
        speeds = (model.kernel("closure_jacobian")(points["q"]) @ points["qd"][..., None])[..., 0]
        # 1e-11: what the projection promises, in parts of the size of the mechanism, which is of the order of 1 m
        assert np.abs(residual).max() <= 1e-11
        assert np.abs(speeds).max() <= 1e-11
        assert np.ptp(points["q"], axis=0).max() > 1e-3
        assert np.abs(points["qd"]).max() > 0.1
    assert closed_points(robots.load("planar_2r")) == {}
    symbolic = robots.load("four_bar").symbolic("inertial")
    assert closed_points(symbolic) == {}
    assert "mass_matrix.h" in export(symbolic, "mass_matrix", name="mass_matrix").files
