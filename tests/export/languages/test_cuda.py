"""Exported CUDA: what runs on the device, compiled as C++, gives what the gufunc gives; nvcc takes it, where it is."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from linkwise import robots
from linkwise.errors import ArgumentError
from linkwise.export import export, to_c, to_cuda
from linkwise.kernel import Tape, trace
from support.compilers import CPP, needs_cpp
from support.exported_code import hostile, plain, random_tape

NVCC = shutil.which("nvcc")

STAND_INS = """#include <cmath>
#define __device__
#define __forceinline__ inline
#define __global__ static
struct place { unsigned int x; };
static place threadIdx, blockIdx, blockDim, gridDim;
typedef int cudaStream_t;
using std::isinf;
"""
"""Words of CUDA, so that a C++ compiler takes the functions and the kernels; a launch it cannot take."""


def tapes() -> list[Tape]:
    arm = robots.load("planar_2r")
    names = ("forward_kinematics", "jacobian", "forward_dynamics", "kinetic_energy")
    symbolic = robots.load("stanford").symbolic("inertial").kernel("inverse_dynamics").tape
    return [hostile(), plain(), random_tape(2), symbolic, *(arm.kernel(name).tape for name in names)]


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_cpp
@pytest.mark.parametrize("precision", ["double", "single"])
def test_device_functions_as_cpp(precision: str, tmp_path: Path) -> None:
    """The program that tests exported C, on the functions for the device."""
    source = to_c(tapes(), name="arm", precision=precision)
    made = to_cuda(tapes(), precision=precision)
    (tmp_path / "arm.cu").write_text(made)
    test = source.self_test.replace('#include "arm.h"', f'{STAND_INS}#include "arm.cu"')
    (tmp_path / "test.cpp").write_text(test)
    flags = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-variable", "-O0")
    run(str(CPP), *flags, str(tmp_path / "test.cpp"), "-o", str(tmp_path / "run"))
    said = run(str(tmp_path / "run"))
    assert said.count(", good") == len(tapes())
    assert said.endswith("all good\n")


@needs_cpp
@pytest.mark.parametrize("layout", ["elements", "configurations"])
def test_kernels_as_cpp(layout: str, tmp_path: Path) -> None:
    """Each thread of a launch, one after the other: numbers lie where the layout says, and no thread goes beyond them."""
    source = to_cuda(random_tape(2), layout=layout).replace("__CUDACC__", "KERNELS")
    source = re.sub(r"\w+<<<.*>>>\(.*\);", ";", source).replace("cudaGetLastError()", "0")
    place = "k * 5 + i" if layout == "elements" else "i * {size} + k"
    main = f"""
int main(void) {{
    double x[20], y[26], wanted[5], one[4];
    for (int i = 0; i < 5; i++) for (int k = 0; k < 4; k++) x[{place.format(size=4)}] = 0.25 * i - 0.5 * k;
    for (int k = 0; k < 26; k++) y[k] = -77.0;
    blockDim.x = 2; gridDim.x = 2;
    for (blockIdx.x = 0; blockIdx.x < 2; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < 2; threadIdx.x++) random2_kernel(x, y, 5);
    for (int i = 0; i < 5; i++) {{
        for (int k = 0; k < 4; k++) one[k] = 0.25 * i - 0.5 * k;
        random2(one, wanted);
        for (int k = 0; k < 5; k++) if (y[{place.format(size=5)}] != wanted[k]) return 1;
    }}
    return (y[25] == -77.0) ? 0 : 2;
}}
"""
    (tmp_path / "run.cpp").write_text(f"#define KERNELS\n{STAND_INS}{source}{main}")
    run(str(CPP), "-Wno-unused-function", "-O0", str(tmp_path / "run.cpp"), "-o", str(tmp_path / "run"))
    run(str(tmp_path / "run"))


@pytest.mark.skipif(NVCC is None, reason="no CUDA compiler")
def test_nvcc_takes_it(tmp_path: Path) -> None:
    """Functions, kernels and launchers, and the program that tests them on a device; warnings are errors."""
    arm = robots.load("planar_2r")
    made = export(arm, "jacobian", "cuda", name="arm")
    made.write(tmp_path)
    (tmp_path / "all.cu").write_text(to_cuda([hostile(), plain(), arm.kernel("friction_torque").tape], precision="single"))
    for name in ("arm_test.cu", "all.cu"):
        run(
            str(NVCC),
            "-Werror",
            "all-warnings",
            "-std=c++17",
            "-ptx",
            "-o",
            str(tmp_path / f"{name}.ptx"),
            str(tmp_path / name),
        )
    assert ".visible .entry" in (tmp_path / "all.cu.ptx").read_text()


def test_parameters_are_one_for_all_configurations() -> None:
    source = to_cuda(hostile())
    assert "fn_for_prepared(q_i, lambda_i, lambda_2_i, constants," in source
    assert 'extern "C" int fn_for_prepare_launch(' in source
    assert source.isascii()


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"layout.*'rows'.*'elements'.*'configurations'"):
        to_cuda(plain(), layout="rows")


def test_only_what_stands_for_parameters_is_one_for_all_configurations() -> None:
    """An input that happens to be called as the constants are is one of each configuration."""
    ports = {"constants": (1,), "parameters": (1,)}
    source = to_cuda(trace(lambda c, p: c * (p * p), "f", ports, {"y": (1,)}))
    kernel = source[source.index("void f_prepared_kernel") :]
    assert "constants_i[1] = {constants[(0u * count) + at]};" in kernel
    assert "f_prepared(constants_i, constants_2, y_i);" in kernel


@needs_cpp
def test_several_files_in_one_program(tmp_path: Path) -> None:
    """Helpers stand in each of them, in two precisions too, and are defined once."""
    files = {"left": "double", "right": "double", "small": "single"}
    for name, precision in files.items():
        (tmp_path / f"{name}.cu").write_text(to_cuda(plain(), prefix=f"{name}_", precision=precision))
    lines = [STAND_INS, *(f'#include "{name}.cu"' for name in files), "int main(void) { return 0; }", ""]
    (tmp_path / "all.cpp").write_text("\n".join(lines))
    run(str(CPP), "-fsyntax-only", str(tmp_path / "all.cpp"))
