"""Trial of the loaders of machine code on this machine.

A loader that does not fit a machine may abort the process. On machines other than those that every change is tested on,
each is therefore first run in a child process, and the result kept in the cache of object code.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from functools import cache
from importlib.util import find_spec

from linkwise.errors import KernelError, choices
from linkwise.kernel import cache as disk
from linkwise.kernel.backends.llvm.processor import machine_key

#: Environment variable that names the only loader to use, without a trial.
VARIABLE = "LINKWISE_LOADER"

#: Linkwise's own (`linker`), which needs no LLVM once a kernel is compiled, and the two of LLVM.
LOADERS = ("image", "jit_link", "runtime_dyld")

#: First output of a trial: without it the child was not Python, or lacks Linkwise.
STARTED = b"trial"

#: Time that a trial may take: emulated, it takes some 20 s.
_SECONDS = 300.0

#: Exit status of a process that the system stopped, as for want of memory: no fault of the loader.
_KILLED = -9


@cache
def works(loader: str) -> bool:
    """True if a loader works here, by the table, the cache on disk, or a trial now.

    Parameters
    ----------
    loader : {"image", "jit_link", "runtime_dyld"}
        Its name.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        if chosen not in LOADERS:
            raise KernelError(f"{VARIABLE} is {chosen!r}; expected {choices(LOADERS)}")
        return loader == chosen
    if loader == "image" and sys.platform != "linux":
        return False
    if loader != "jit_link" and _machine() == ("linux", "x86_64"):
        return True
    return _kept_or_tried(loader)


@cache
def usable() -> bool:
    """True if kernels can be compiled here: llvmlite is installed, and some loader works. Warns if none does."""
    if find_spec("llvmlite") is None:
        return False
    if any(map(works, LOADERS)):
        return True
    reasons = "; ".join(f"{loader}: {reason}" for loader, reason in _failures.items())
    message = f"machine code does not run on this machine, NumPy computes instead ({reasons})"
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    return False


@cache
def of_llvm() -> str:
    """The loader of LLVM that works here, its own choice for the machine first.

    Raises
    ------
    KernelError
        Where none does.
    """
    order = ("jit_link", "runtime_dyld") if _machine()[1] in {"aarch64", "arm64"} else ("runtime_dyld", "jit_link")
    for loader in order:
        if works(loader):
            return loader
    raise KernelError('no loader of LLVM works on this machine; backend="numpy" computes without it')


#: Why loaders do not work, by their names.
_failures: dict[str, str] = {}


def _machine() -> tuple[str, str]:
    return sys.platform, platform.machine().lower()


def _kept_or_tried(loader: str) -> bool:
    key = machine_key(f"loader {loader} {platform.machine()} {platform.release()}", "")
    kept = disk.load(key)
    if kept in {b"", None}:
        kept = _tried(loader)
        if kept:
            disk.store(key, kept)
    if kept == b"works":
        return True
    _failures[loader] = (kept or b"no trial").decode()
    return False


def _tried(loader: str) -> bytes:
    """Run a kernel in a child process by a loader; return the result, empty if the trial is inconclusive."""
    if not sys.executable or getattr(sys, "frozen", False):
        return b""  # which would start this program again
    import subprocess

    path = os.pathsep.join(map(os.path.abspath, sys.path))
    try:
        child = subprocess.run(
            [sys.executable, "-P", "-m", "linkwise.kernel.backends.llvm.trial"],
            env={**os.environ, VARIABLE: loader, disk.VARIABLE: "", "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    if not child.stdout.startswith(STARTED) or child.returncode == _KILLED:
        return b""
    if child.returncode == 0:
        return b"works"
    last = (child.stderr.strip().splitlines() or [b""])[-1]
    return b"exit status %d: %s" % (child.returncode, last)
