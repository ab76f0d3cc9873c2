"""Code for GPUs: the text of a thread, compiled for the processor, gives the bits of the gufunc; what PTX looks like."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import robots
from linkwise.kernel import Kernel, trace
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.nvptx import lowering
from linkwise.spatial.scalar import cos_sin
from support.fake_cuda import rows_of

pytestmark = pytest.mark.skipif(not llvm.host().has_fma, reason="the processor rounds products, a GPU does not")


sys.path.insert(0, str(Path(__file__).parents[4] / "tools"))
BUDGETS = import_module("ptx_budgets")
sys.path.pop(0)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("inverse_dynamics", "float64"),
        ("inverse_dynamics", "float32"),
        ("forward_dynamics", "float64"),
        ("forward_kinematics", "float64"),
        ("jacobian", "float64"),
        ("mass_matrix", "float32"),
    ],
)
def test_threads_give_the_bits_of_the_gufunc(name: str, dtype: str) -> None:
    kernel = robots.puma560().kernel(name)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-4.0, 4.0, (10, *shape)).astype(dtype) for shape in kernel.tape.inputs.values()]
    assert np.array_equal(rows_of(kernel.tape, *arrays, dtype=dtype), kernel(*arrays))


def test_what_is_constant_and_what_goes_through_is_written() -> None:
    def function(x: Any, y: Any) -> Any:
        return np.array([[1.0, x[0]], [x[0] * y, 0.0]], dtype=object), x[1]

    kernel = Kernel(trace(function, "several", {"x": (2,), "y": ()}, {"a": (2, 2), "b": ()}))
    x, y = np.arange(14.0).reshape(7, 2), np.arange(7.0)
    for result, expected in zip(rows_of(kernel.tape, x, y), kernel(x, y), strict=True):
        assert np.array_equal(result, expected)


def test_sines_of_large_and_odd_arguments() -> None:
    kernel = Kernel(trace(lambda x: np.array(cos_sin(x[0])), "circle", {"x": (1,)}, {"y": (2,)}))
    x = np.array([1e5, 123456.789, -1e6, 1e22, 6381956970095103.0 * 2.0**797, 0.0, 1e300])[:, None]
    result, expected = rows_of(kernel.tape, x), kernel(x)
    # (the C library and the polynomials each lie within a unit of the correctly rounded value)
    assert np.all(np.abs(result - expected) <= 2.0 * np.spacing(np.abs(expected)))
    with np.errstate(invalid="ignore"):
        assert np.isnan(rows_of(kernel.tape, np.array([[np.inf], [np.nan]]))).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_operation_is_rounded_as_on_the_processor(dtype: str) -> None:
    """Neither does LLVM fuse what the processor does not, nor does the driver: it may fuse what names no rounding."""
    text = lowering.ptx(robots.puma560().kernel("forward_dynamics").tape, dtype).decode()
    assert ".target sm_80" in text
    assert ".version 7.0" in text
    assert text.count(".visible .entry kernel") == 1
    operations = re.findall(r"^\s+((?:add|sub|mul|div|fma|sqrt)\.\S*f(?:32|64))", text, re.MULTILINE)
    assert len(operations) > 400
    assert all(".rn." in operation for operation in operations)
    assert ".approx" not in text
    assert ".ftz" not in text
    assert f"ld.global.nc.v2.b{dtype[-2:]}" in text
    assert f"st.global.v2.b{dtype[-2:]}" in text


def test_older_devices_get_code_of_their_own() -> None:
    assert lowering.architecture(75) == "sm_75"
    assert lowering.architecture(121) == "sm_80"
    tape = robots.planar_2r().kernel("gravity_torque").tape
    assert b".target sm_75" in lowering.ptx(tape, capability=75)


@pytest.mark.skipif(BUDGETS.ptxas() is None, reason="ptxas is not here: pip install nvidia-cuda-nvcc")
@pytest.mark.parametrize("architecture", BUDGETS.ARCHITECTURES)
def test_the_assembler_takes_it_within_budgets(architecture: str) -> None:
    """Some of what ``python tools/ptx_budgets.py`` assembles, one that spills among them."""
    arm = robots.puma560()
    for name in ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "rollout", "inverse kinematics"):
        registers, spilled = BUDGETS.assembled(lowering.ptx(BUDGETS.program_of(arm, name)), architecture)
        assert not BUDGETS.over_budget("puma560", name, "float64", registers, spilled), (name, registers, spilled)
