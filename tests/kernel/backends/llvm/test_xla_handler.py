"""The handler that XLA calls, by a frame that the test lays out."""

from __future__ import annotations

import ctypes
import platform

import numpy as np
import pytest

from linkwise import robots
from linkwise.kernel.backends.llvm import lowering, xla_handler


@pytest.fixture(autouse=True)
def _llvm() -> None:
    pytest.importorskip("llvmlite")


def buffer(array: np.ndarray, held: list[object]) -> int:
    sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
    words = (ctypes.c_int64 * 6)(48, 0, 12, array.ctypes.data, array.ndim, ctypes.addressof(sizes))
    held += [sizes, words]
    return ctypes.addressof(words)


def test_a_frame_is_computed_and_an_input_without_a_batch_is_for_all() -> None:
    kernel, random, held = robots.planar_2r().kernel("inverse_dynamics"), np.random.default_rng(0), list[object]()
    handler = kernel.xla_handler("float64", (0, 3))
    assert handler is not None
    arrays = [random.normal(size=(4, 2)), random.normal(size=2), random.normal(size=(4, 2)), np.zeros((4, 2))]
    pointers = [buffer(array, held) for array in arrays]
    inputs, outputs = (ctypes.c_int64 * 3)(*pointers[:3]), (ctypes.c_int64 * 1)(pointers[3])
    frame = (ctypes.c_int64 * 21)()
    frame[4], frame[9], frame[14] = xla_handler.EXECUTE, ctypes.addressof(inputs), ctypes.addressof(outputs)
    call = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(handler[0])
    assert call(ctypes.addressof(frame)) is None
    assert np.array_equal(arrays[3], kernel(*arrays[:3]))


def test_it_says_its_version() -> None:
    handler = robots.planar_2r().kernel("inverse_dynamics").xla_handler("float64", (7, 9))
    assert handler is not None
    metadata = (ctypes.c_int32 * 16)()
    extension = (ctypes.c_int64 * 4)(32, xla_handler.METADATA, 0, ctypes.addressof(metadata))
    frame = (ctypes.c_int64 * 21)()
    frame[1] = ctypes.addressof(extension)
    assert ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(handler[0])(ctypes.addressof(frame)) is None
    assert (metadata[6], metadata[7]) == (7, 9)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "riscv64"])
def test_its_text_is_valid_for_other_processors(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    text = lowering.module([xla_handler.handler([(2,), (3, 3)], [(), (4,)], 8, (0, 3))])
    lowering.binding().parse_assembly(text).verify()
