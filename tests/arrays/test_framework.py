"""Arrays of other libraries are recognised by their types, without an import of the library."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from linkwise import arrays
from linkwise.arrays.framework import LIBRARIES, Framework
from linkwise.errors import ArgumentError


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
    with pytest.raises(ArgumentError, match="f: arrays of torch and of dask in one call; expected one library"):
        arrays.of("f", [torch, np.zeros(2), dask])
    for group in ([xarray, dask], [dask, xarray]):
        assert arrays.of("f", group) is libraries["xarray"][0]


def test_a_call_imports_none_of_them() -> None:
    code = (
        "import sys; from linkwise import robots; robots.planar_2r().forward_kinematics([[0.0, 0.5]]);"
        f"sys.exit(len({sorted(LIBRARIES)!r} & sys.modules.keys()))".replace("['", "{'").replace("']", "'}")
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
