"""Which loaders work: tried in a child process on machines that are not known, so that no failure ends this one."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from linkwise.errors import KernelError
from linkwise.kernel import Kernel, trace
from linkwise.kernel.backends.llvm import loaders, trial

pytest.importorskip("llvmlite", reason="what is loaded is machine code")
on_posix = pytest.mark.skipif(os.name != "posix", reason="a child that ends by a signal")
LINE = trace(lambda x: 2.0 * x + 1.5, "line", {"x": (2,)}, {"y": (2,)})


@pytest.fixture
def unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine of a kind that is not known, with an empty cache."""
    monkeypatch.setenv("LINKWISE_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(loaders, "_machine", lambda: ("linux", "unheard"))
    monkeypatch.setattr(loaders, "_failures", {})
    forget()
    yield
    forget()


def forget() -> None:
    """As a new process."""
    for function in (loaders.works, loaders.usable, loaders.of_llvm):
        function.cache_clear()


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What runs in place of Python, and writes a line for each run; it ends as an assertion of LLVM does."""
    path = tmp_path / "python"
    lines = (f'echo "$LINKWISE_LOADER" >> {tmp_path}/runs', "echo trial", 'echo "Assertion failed" >&2', "kill -ABRT $$")
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    return tmp_path / "runs"


@pytest.mark.skipif(loaders._machine() != ("linux", "x86_64"), reason="another machine, which is tried once")
def test_known_machines_start_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a child was started"))
    assert loaders.works("image")
    assert loaders.usable()
    assert loaders.of_llvm() == "runtime_dyld"


@pytest.mark.parametrize("loader", loaders.LOADERS)
def test_loaders_pass_the_trial(loader: str) -> None:
    if loader == "image" and sys.platform != "linux":
        pytest.skip("images are for Linux")
    if loader == "runtime_dyld" and platform.machine() in {"aarch64", "arm64"}:
        pytest.skip("which aborts where sections lie more than 4 GB apart")
    assert loaders._tried(loader) == b"works"


@on_posix
@pytest.mark.usefixtures("unknown")
def test_no_abort_reaches_this_process(child: Path) -> None:
    x = np.array([0.3, -0.7])
    with pytest.warns(RuntimeWarning, match=r"exit status -6: Assertion failed"):
        kernel = Kernel(LINE)
    assert kernel.backend == "numpy"
    assert np.array_equal(kernel(x), 2.0 * x + 1.5)
    assert child.read_text().split() == list(loaders.LOADERS)
    with pytest.raises(KernelError, match="numpy"):
        Kernel(LINE, "llvm")(x)
    with pytest.raises(KernelError, match="numpy"):
        loaders.of_llvm()


@on_posix
@pytest.mark.usefixtures("unknown")
def test_results_are_kept_for_the_machine_and_its_system(child: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not loaders.works("image")
    forget()
    assert not loaders.works("image")
    assert child.read_text().split() == ["image"]
    forget()
    monkeypatch.setattr(platform, "release", lambda: "another")
    assert not loaders.works("image")
    assert child.read_text().split() == ["image", "image"]


@on_posix
@pytest.mark.usefixtures("unknown")
@pytest.mark.parametrize(("part", "other"), [("ABRT", "KILL"), ("echo trial", "echo usage: gateway [-P] [-m]")])
def test_a_child_that_was_killed_or_is_no_python_says_nothing_of_the_loader(child: Path, part: str, other: str) -> None:
    script = Path(sys.executable)
    script.write_text(script.read_text().replace(part, other))
    for _ in range(2):
        assert not loaders.works("image")
        forget()
    assert child.read_text().split() == ["image", "image"]


@on_posix
@pytest.mark.usefixtures("unknown")
def test_a_program_that_would_start_itself_again_is_not_started(child: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not loaders.works("image")
    assert not child.exists()


@pytest.mark.usefixtures("unknown")
def test_the_variable_names_the_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loaders.VARIABLE, "jit_link")
    assert [loaders.works(loader) for loader in loaders.LOADERS] == [False, True, False]
    assert loaders.of_llvm() == "jit_link"
    forget()
    monkeypatch.setenv(loaders.VARIABLE, "elf")
    with pytest.raises(KernelError, match=r"'elf'.*'runtime_dyld'"):
        loaders.works("image")


def test_a_trial_fails_where_the_numbers_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Kernel):
        def __call__(self, *args: np.ndarray) -> np.ndarray:
            return super().__call__(*args) + 1e-13 * (self.backend == "numpy")

    monkeypatch.setattr(trial, "Kernel", Other)
    with pytest.raises(ArithmeticError, match="float64"):
        trial.run()
