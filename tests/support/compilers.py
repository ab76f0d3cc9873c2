"""The compilers of this machine that work: one that is found may lack its toolchain, or be for another processor."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def _working(names: tuple[str, ...], source: str, *flags: str) -> str | None:
    """The first of these programs that is there and compiles a file; where it makes a library, one that can be loaded."""
    for program in filter(None, map(shutil.which, names)):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            file, ending = Path(folder) / "compiled", {"cc": "c", "g++": "cpp", "rustc": "rs"}[names[0]]
            file.with_suffix(f".{ending}").write_text(source)
            command = [program, *flags, f"compiled.{ending}", "-o", file]
            if subprocess.run(command, cwd=folder, capture_output=True, timeout=100, check=False).returncode:
                continue
            try:
                if "-shared" in flags:
                    ctypes.CDLL(str(file))
            except OSError:
                continue
            return program
    return None


C = _working(("cc", "gcc", "clang"), "#include <math.h>\nint nothing(void) { return 0; }\n", "-shared", "-fPIC")
CPP = _working(("g++",), "#include <cmath>\nint main() { return 0; }\n")
RUST = _working(("rustc",), "fn main() {}\n")

needs_c = pytest.mark.skipif(C is None, reason="no C compiler that works")
needs_cpp = pytest.mark.skipif(CPP is None, reason="no C++ compiler that works")
needs_rust = pytest.mark.skipif(RUST is None, reason="no Rust compiler that works")
