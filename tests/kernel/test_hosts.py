"""Every vector width, with and without fused multiply-add, and both ways of loading code, on this one machine."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from linkwise import robots
from linkwise.kernel import Kernel, Tape
from linkwise.kernel.backends.llvm import loaders
from linkwise.kernel.backends.llvm import lowering as llvm

pytest.importorskip("llvmlite", reason="what is tested is machine code")

WIDTHS = (16, 32, 64)


def tape() -> Tape:
    return robots.puma560().kernel("inverse_dynamics").tape


def motions(rows: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-3, 3, (3, rows, 6))


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path):
    """Pretend to be another host; what this machine runs is always a subset of what it can."""
    real = llvm.host()

    def pretend(vector_bytes: int, *, has_fma: bool) -> None:
        if vector_bytes > real.vector_bytes or (has_fma and not real.has_fma):
            pytest.skip("this machine's vectors are shorter, or it has no fused multiply-add")
        other = dataclasses.replace(real, vector_bytes=vector_bytes, has_fma=has_fma)
        monkeypatch.setattr(llvm, "host", lambda: other)
        monkeypatch.setenv("LINKWISE_CACHE_DIR", "")

    return pretend


@pytest.mark.parametrize("has_fma", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_width_changes_no_bit(host, width: int, has_fma: bool) -> None:
    q, qd, qdd = motions(67)
    host(16, has_fma=has_fma)
    narrow = Kernel(tape())(q, qd, qdd)
    host(width, has_fma=has_fma)
    kernel = Kernel(tape())
    assert np.array_equal(kernel(q, qd, qdd), narrow)
    entry = kernel.entry(kernel.ufunc)
    if entry is not None:
        assert np.array_equal([entry(*row) for row in zip(q, qd, qdd, strict=True)], narrow)


def test_without_fma_the_numbers_agree_to_rounding(host) -> None:
    q, qd, qdd = motions(67)
    plain = Kernel(tape(), "numpy")(q, qd, qdd)
    host(16, has_fma=False)
    found = Kernel(tape())(q, qd, qdd)
    difference = np.abs(found - plain).max() / np.abs(plain).max()
    print(f"without fused multiply-add against NumPy: {difference:.1e}")
    assert difference < 2e-15  # some ten roundings of the largest intermediate result, and sines that differ by one ulp


def test_code_loads_through_llvm_where_images_do_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    q, qd, qdd = motions(19)
    wanted = Kernel(tape())(q, qd, qdd)
    monkeypatch.setattr(loaders, "works", lambda loader: loader != "image")
    monkeypatch.setenv("LINKWISE_CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):  # compiled, then from the disk
        assert np.array_equal(Kernel(tape())(q, qd, qdd), wanted)
    (kept,) = (tmp_path / "cache").glob("*.o")
    assert b"ELF" in kept.read_bytes() or b"object" in kept.read_bytes()
    kernel = Kernel(tape())
    entry = kernel.entry(kernel.ufunc)
    if entry is not None:
        assert np.array_equal(entry(q[0].copy(), qd[0].copy(), qdd[0].copy()), wanted[0])
