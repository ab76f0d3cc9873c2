"""What names the processor in the key of the cache: what LLVM sees, also in an emulator, and without LLVM."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linkwise.errors import KernelError
from linkwise.kernel import Kernel, cache, trace
from linkwise.kernel.backends.llvm import loaders, loading, processor
from linkwise.kernel.backends.llvm import lowering as llvm

pytest.importorskip("llvmlite", reason="what is kept is machine code")
on_x86_64 = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="asks an x86-64 processor, on Linux"
)

CODE = """
import sys
import numpy as np
from linkwise.kernel import Kernel, trace

kernel = Kernel(trace(lambda x: (x * 2.0 + 1.0).T @ x, "emulated", {"x": (5,)}, {"y": ()}), "llvm")
print(float(kernel(np.full((40, 5), 0.5))[7]), "llvmlite" in sys.modules)
"""


@on_x86_64
def test_the_same_on_every_core() -> None:
    wanted, cores = processor.description(), os.sched_getaffinity(0)
    try:
        for core in sorted(cores)[:16]:
            os.sched_setaffinity(0, {core})
            assert processor.description() == wanted
    finally:
        os.sched_setaffinity(0, cores)


@on_x86_64
def test_it_says_what_llvm_sees() -> None:
    """Bits of leaves 1 and 7 of CPUID, and of XCR0 where the system must save registers, against LLVM's features."""
    words = processor.description().split()[1:]
    leaves = {word.split(":")[0]: [int(part, 16) for part in word.split(":")[1].split(",")] for word in words if ":" in word}
    saved = int(next((word for word in words if ":" not in word), "0"), 16)
    features = set(llvm.host().features.split(","))
    for name, leaf, register, bit, state in (
        ("fma", "1.0", 1, 12, 0x6), ("avx", "1.0", 1, 28, 0x6), ("sse4.2", "1.0", 1, 20, 0),
        ("avx2", "7.0", 0, 5, 0x6), ("bmi2", "7.0", 0, 8, 0), ("adx", "7.0", 0, 19, 0), ("avx512f", "7.0", 0, 16, 0xE6),
        ("avx512vl", "7.0", 0, 31, 0xE6), ("gfni", "7.0", 1, 8, 0),
    ):  # fmt: skip
        has = leaf in leaves and bool(leaves[leaf][register] >> bit & 1) and saved & state == state
        assert (f"+{name}" in features) == has, name


def run(place: Path, *before: str) -> list[str]:
    environment = {**os.environ, "LINKWISE_CACHE_DIR": str(place), "QEMU_CPU": "Haswell", "OPENBLAS_CORETYPE": "Haswell"}
    command = [*before, sys.executable, "-c", CODE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


def test_a_warm_cache_needs_no_llvm(tmp_path: Path) -> None:
    assert run(tmp_path / "kernels") == ["5.0", "True"]
    assert run(tmp_path / "kernels") == ["5.0", str(not loaders.works("image"))]


@on_x86_64
@pytest.mark.skipif(not shutil.which("qemu-x86_64-static"), reason="qemu-x86_64-static is not installed")
def test_a_warm_cache_in_an_emulator_of_a_lesser_processor(tmp_path: Path) -> None:
    """``/proc/cpuinfo`` is that of the machine below; its code would end in an illegal instruction."""
    place = tmp_path / "kernels"
    native = run(place)
    entries = len(list(place.glob("*.o")))
    assert run(place, "qemu-x86_64-static", "-L", "/")[0] == native[0]
    assert len(list(place.glob("*.o"))) == 2 * entries, "code of its own, unless this machine is a Haswell"


def test_code_for_another_processor_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even under the same key: what an entry was made for stands in it and is compared."""
    monkeypatch.setenv("LINKWISE_CACHE_DIR", str(tmp_path / "kernels"))
    tape = trace(lambda x: 2.0 * x, "double", {"x": (2,)}, {"y": (2,)})
    key = loading.cache_key(tape, "float64")
    assert np.array_equal(Kernel(tape, "llvm")([1.0, 2.0]), [2.0, 4.0])
    kept = cache.load(key)
    assert kept is not None
    head, code = kept.split(b"\n", 1)
    other = head.replace(processor.description().encode(), b"another processor")
    assert other != head
    cache.store(key, other + b"\n" + b"\xcc" * len(code))  # it would trap
    assert np.array_equal(Kernel(tape, "llvm")([1.0, 2.0]), [2.0, 4.0])
    assert cache.load(key) == kept


@on_x86_64
def test_where_memory_cannot_be_made_executable(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise KernelError("this system does not let memory be made executable")

    monkeypatch.setattr(processor, "Mapped", refused)
    host = llvm.host()
    assert processor.description() == f"{host.cpu} {host.features}"
