"""What XLA calls to launch a kernel: XLA itself does on the CPU, with a driver that is none."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import KernelError
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.nvptx import xla_handler
from support.fake_cuda import FakeCuda, install
from support.libraries import library_of

pytestmark = pytest.mark.skipif(not llvm.host().has_fma, reason="the processor rounds products, a GPU does not")

ARM = robots.planar_2r().replace(gravity=(0, 0, 1))  # (its kernels are not those of other tests, which know no fake)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    fake = install(monkeypatch)
    monkeypatch.setattr(fake, "cuPointerGetAttribute", lambda value, attribute, address: _on_device(value))
    return fake


def _on_device(value: Any) -> int:
    ctypes.c_int.from_address(value).value = 0
    return 0


def of_xla(kernel: Any, dtype: str = "float64") -> Any:
    """A kernel by its handler for GPUs, which XLA on the CPU takes for one of its own."""
    import jax

    from linkwise.arrays import jax as adapter

    version = adapter.interface_version()
    assert version is not None
    address, keep = kernel.launcher().xla_handler(dtype, version)
    name = f"gpu_{kernel.name}_{dtype}_{id(keep)}"
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(xla_handler.HANDLER(address)), platform="cpu")

    def call(*arrays: Any) -> Any:
        kinds = [jax.ShapeDtypeStruct(shape, dtype) for shape in adapter._result_shapes(kernel, arrays)]
        call.keep = keep  # type: ignore[attr-defined]
        return jax.ffi.ffi_call(name, kinds)(*arrays)

    return jax.jit(call)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_xla_calls_it_on_its_stream(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    monkeypatch.setattr(xla_handler, "_stream", lambda frame: 23)
    kernel = ARM.kernel("inverse_dynamics_derivatives")
    with library_of("jax"):
        import jax.numpy as jnp

        function = of_xla(kernel, dtype)
        q, qd, qdd = np.random.default_rng(0).uniform(-3.0, 3.0, (3, 4, 50, 2)).astype(dtype)
        for arrays in ((q, qd, qdd), (q, qd[0, 0], qdd), (q[0, 0], qd[0, 0], qdd[0, 0]), (q[:0], qd[0, 0], qdd[:0])):
            results = function(*map(jnp.asarray, arrays))
            for result, expected in zip(results, kernel(*arrays), strict=True):
                assert np.array_equal(result, expected)
    assert fake.launches == [(2, 128, 23, 0), (2, 128, 23, 0), (1, 128, 23, 0)]  # (none for no row)
    assert not fake.waited
    assert not fake.contexts


def test_errors_reach_the_caller(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, q = ARM.kernel("gravity_torque"), np.zeros((3, 2))
    with library_of("jax"):
        import jax.numpy as jnp

        function = of_xla(kernel)
        with pytest.raises(Exception, match="GPU context is not available"):  # (what XLA answers when asked for a stream)
            function(jnp.asarray(q)).block_until_ready()
        monkeypatch.setattr(xla_handler, "_stream", lambda frame: 0)
        fake.fail["cuLaunchKernel"] = 700
        with pytest.raises(Exception, match=r"KernelError: NVIDIA's driver: cuLaunchKernel failed with CUDA_ERROR \(700\)"):
            function(jnp.asarray(q))[0].block_until_ready()
        assert not fake.contexts


def test_the_stream_and_errors_by_the_table_of_xla() -> None:
    def stream_get(words: int) -> None:
        size, extension, context, _ = (ctypes.c_uint64 * 4).from_address(words)
        assert (size, extension, context) == (32, 0, 5)
        ctypes.c_uint64.from_address(words + 24).value = 2**47 + 7

    def error_create(words: int) -> int:
        size, extension, message, code = (ctypes.c_uint64 * 4).from_address(words)
        assert (size, extension, code, ctypes.string_at(message)) == (28, 0, 13, "no übung".encode())
        return 2**47 + 9

    functions = xla_handler.HANDLER(stream_get), xla_handler.HANDLER(error_create)
    table, frame = (ctypes.c_uint64 * 12)(), (ctypes.c_uint64 * 16)()
    for place, function in zip((xla_handler.STREAM_GET, xla_handler.ERROR_CREATE), functions, strict=True):
        table[place // 8] = ctypes.cast(function, ctypes.c_void_p).value or 0
    frame[xla_handler.API // 8], frame[xla_handler.CONTEXT // 8] = ctypes.addressof(table), 5
    assert xla_handler._stream(ctypes.addressof(frame)) == 2**47 + 7
    assert xla_handler._failed(ctypes.addressof(frame), "no übung") == 2**47 + 9


def test_jax_lowers_for_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = ARM.kernel("inverse_dynamics")
    with library_of("jax"):
        import jax

        from linkwise.arrays import jax as adapter

        state = [jax.numpy.ones((5, 2))] * 3
        function = jax.jit(jax.vmap(jax.jacrev(kernel.jax())))
        text = function.trace(*state).lower(lowering_platforms=("cuda",)).as_text()
        assert "custom_call @linkwise_inverse_dynamics_vjp" in text
        assert "callback" not in text
        monkeypatch.setattr(adapter, "interface_version", lambda: None)
        monkeypatch.setattr(adapter, "_targets", {})
        fresh = jax.jit(jax.vmap(kernel.jax())).trace(*state)
        with pytest.raises(KernelError, match="XLA cannot call it on a GPU"):
            fresh.lower(lowering_platforms=("cuda",))
