"""Loops of Python in gufuncs: what they raise never leaves half a result."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise.kernel import Kernel, trace
from linkwise.kernel.backends import numpy as numpy_lowering
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.gufunc import Memory, make

TAPE = trace(lambda x: 2.0 * x, "line", {"x": (2,)}, {"y": (2,)})


def interrupted(*args: object) -> None:
    raise KeyboardInterrupt


def call_and_wait(function: Callable[..., Any], x: np.ndarray, out: np.ndarray) -> None:
    function(x, out=out)
    time.sleep(60)


def test_an_interrupt_comes_when_the_loop_is_left() -> None:
    """All rows are NaN then, and nothing beside the outputs is written."""
    loops = [(dtype, numpy_lowering.loop(TAPE, dtype, interrupted)) for dtype in ("float32", "float64")]
    ufunc, wide = make(Memory(TAPE, loops, ""), 1, 1), np.zeros((3, 4))
    with pytest.raises(KeyboardInterrupt):
        call_and_wait(ufunc, np.ones((3, 2)), wide[:, ::2])
    assert np.isnan(wide[:, ::2]).all()
    assert not wide[:, 1::2].any()


def test_an_interrupt_while_the_loop_of_single_precision_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite", reason="NumPy computes at once")
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    kernel, x = Kernel(TAPE, "llvm"), np.ones((3, 2), np.float32)
    kernel(x.astype(float))
    wide = np.zeros((3, 2), np.float32)
    with monkeypatch.context() as patch:
        patch.setattr(llvm, "object_code", interrupted)
        with pytest.raises(KeyboardInterrupt):
            call_and_wait(kernel, x, wide)
    assert np.isnan(wide).all()
    assert np.array_equal(kernel(x), 2.0 * x)
