"""Every algorithm, run on plain floats, is the same through LLVM, NumPy, standalone Python and C, fixed and afloat."""

from __future__ import annotations

import ctypes
import subprocess
from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.algorithm import ALGORITHMS, find
from support.compilers import C
from support.random_mechanisms import LARGEST, arguments, arm, condition, craft, parts, suited

find("inverse_dynamics")
NAMES = sorted(name for name in ALGORITHMS if not find(name).needs_loops)
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0", "-fPIC", "-shared")
MECHANISMS = {"arm": arm(), "craft": craft()}
BOUND = 2e-14
"""Some products are fused, some are not; what solves with M may lose its condition (560) besides; seen: 3e-15."""


def is_tried(which: str, name: str) -> bool:
    """The largest are tried on the floating one alone, which has all that the arm has."""
    return which != "arm" or name not in LARGEST


@pytest.fixture(params=MECHANISMS, scope="module")
def which(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def library(which: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All kernels of a mechanism that are tried, as C, warnings as errors, in one library."""
    if C is None:
        return None
    folder = tmp_path_factory.mktemp("c")
    sources = []
    for name in (name for name in NAMES if is_tried(which, name)):
        sources.append(folder / f"{name}.c")
        sources[-1].write_text(suited(MECHANISMS[which], name).kernel(name).to_c(), encoding="ascii")
    made = folder / "all.so"
    done = subprocess.run(
        [C, *FLAGS, "-o", str(made), *map(str, sources), "-lm"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(made))


def in_c(library: Any, mech: Mechanism, name: str, args: list[np.ndarray]) -> list[np.ndarray]:
    shapes = find(name).shapes(mech, find(name).outputs).values()
    results = [np.full(shape, np.nan) for shape in shapes]
    function = getattr(library, name)
    function.restype = None
    given = [np.ascontiguousarray(arg) for arg in args]
    function(*(array.ctypes.data_as(ctypes.c_void_p) for array in (*given, *results)))
    return results


def standalone(mech: Mechanism, name: str) -> Any:
    space: dict[str, Any] = {}
    exec(mech.kernel(name).to_python(), space)
    return space[name]


@pytest.mark.parametrize("name", NAMES)
def test_all_ways_agree(which: str, library: Any, name: str) -> None:
    if not is_tried(which, name):
        pytest.skip("tried on the floating one")
    mech = suited(MECHANISMS[which], name)
    args = [np.asarray(arg[0]) for arg in arguments(mech, name, (1,))]
    wanted = [np.asarray(array, dtype=float) for array in parts(find(name).function(mech, *(arg[()] for arg in args)))]
    found = {
        "llvm": parts(mech.kernel(name, backend="llvm")(*args)),
        "numpy": parts(mech.kernel(name, backend="numpy")(*args)),
        "python": parts(standalone(mech, name)(*args)),
        "c": in_c(library, mech, name, args) if library else wanted,
    }
    errors = {
        way: max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(result, wanted, strict=True))
        for way, result in found.items()
    }
    worse = condition(mech, name, args, wanted)
    print(errors, worse)
    assert max(errors.values()) <= max(BOUND, 10 * np.finfo(float).eps * worse)
    assert [np.shape(array) for array in found["python"]] == [array.shape for array in wanted]
