"""A compiler that is found and compiles nothing, as rustup's without a toolchain, counts as none."""

import os
from pathlib import Path

import pytest

from support import compilers


@pytest.mark.skipif(os.name != "posix", reason="a script stands in for the compiler")
def test_an_empty_shell_is_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rustc", "cc", "gcc"):
        (tmp_path / name).write_text("#!/bin/sh\necho no toolchain >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compilers._working(("rustc",), "fn main() {}\n") is None
    (tmp_path / "gcc").write_text('#!/bin/sh\nfor last; do :; done\n: > "$last"\n')  # writes a file that is no library
    assert compilers._working(("cc", "gcc"), "", "-shared") is None
    assert compilers._working(("cc", "gcc"), "") == str(tmp_path / "gcc")
