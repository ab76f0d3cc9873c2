"""Arrays of other libraries are recognised by their types, without an import of the library."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from linkwise import arrays, robots, simulate, stack
from linkwise.arrays.framework import LIBRARIES, Framework
from linkwise.errors import ArgumentError
from support.libraries import DIFFERENTIABLE, library_of


def test_numbers_of_python_and_numpy_are_of_none() -> None:
    assert arrays.of("f", [1.0, [2.0], np.zeros(2), np.float32(1.0), None, np.ma.zeros(2)]) is None


def test_arrays_of_two_libraries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = {}
    for name in ("torch", "dask", "xarray"):
        kind = type("Array", (), {"__module__": f"{name}.array"})
        contains = frozenset({"dask"} if name == "xarray" else ())
        methods: dict[str, Any] = {"owns": lambda self, value, kind=kind: isinstance(value, kind)}
        methods |= {"function": None, "map": None, "name": name, "contains": contains}
        libraries[name] = type("Library", (Framework,), methods)(), kind()
    monkeypatch.setattr("linkwise.arrays.framework.by_name", lambda name: libraries[name][0])
    torch, dask, xarray = (array for _, array in libraries.values())
    with pytest.raises(ArgumentError, match="f: arrays of torch and of dask in one call; expected those of one library"):
        arrays.of("f", [torch, np.zeros(2), dask])
    for group in ([xarray, dask], [dask, xarray]):
        assert arrays.of("f", group) is libraries["xarray"][0]


def test_a_call_imports_none_of_them() -> None:
    code = (
        "import sys; from linkwise import robots; robots.planar_2r().forward_kinematics([[0.0, 0.5]]);"
        f"sys.exit(len({sorted(LIBRARIES)!r} & sys.modules.keys()))".replace("['", "{'").replace("']", "'}")
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_whole_numbers_are_refused_by_what_is_no_kernel_too(module: str) -> None:
    arm = robots.planar_2r()
    with library_of(module) as library:
        q = library.array(np.zeros((3, 2), np.int32))
        for call in (
            lambda: arm.inverse_kinematics(np.eye(4), q0=q),
            lambda: simulate(arm, q, t=(0.1, 0.01)),
            lambda: stack([arm] * 3).gravity_torque(q),
        ):
            with pytest.raises(ArgumentError, match=r"q0? holds int32; expected float32 or float64"):
                call()
