"""What the pages of the documentation are made of, and how a piece of one is run."""

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run:(.*?)-->\s*$", re.DOTALL)
NAME = re.compile(r'^name = "(\w+)"', re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, where it begins, and why it is not run, if it is not."""

    page: Path
    language: str
    text: str
    line: int
    skipped: str | None

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        reason = NOT_RUN.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(page, match[1], match[2], line, reason[1].strip() if reason else None))
    return found


def commands(block: Block) -> list[tuple[str, str]]:
    """The lines after ``$ `` of a console block, and what stands below each: what it must print, if anything."""
    before, *pieces = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not before.strip(), f"{block.place}: a console block begins with '$ '"
    return [(command, wanted) for command, _, wanted in (piece.partition("\n") for piece in pieces)]


def same(got: str, wanted: str) -> bool:
    """Whether a text is the one expected, in which ``...`` stands for anything; runs of blanks are alike."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.DONT_ACCEPT_TRUE_FOR_1
    return doctest.OutputChecker().check_output(wanted, got, flags)


@contextlib.contextmanager
def desk_in(folder: Path) -> Iterator[Path]:
    """A folder to work in, as a reader has it, with the examples and their data; algorithms declared in it are forgotten."""
    import linkwise.dynamics
    import linkwise.kinematics  # noqa: F401  (their algorithms are declared before the snapshot is taken)
    from linkwise.algorithm import ALGORITHMS

    declared = dict(ALGORITHMS)
    place = folder / "desk"
    shutil.copytree(ROOT / "examples", place / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "examples" / "data", place, dirs_exist_ok=True)
    try:
        with contextlib.chdir(place):
            yield place
    finally:
        ALGORITHMS.clear()
        ALGORITHMS.update(declared)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Path]:
    """A desk for one test."""
    with desk_in(tmp_path) as place:
        yield place


PLAIN = {"COLUMNS": "120", "NO_COLOR": "1"}
"""What makes the command line print as the pages show it."""


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell does, with the programs of this Python's environment found first."""
    programs = Path(sys.executable).parent
    environment = {**os.environ, **PLAIN, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONWARNINGS": "error"}
    return subprocess.run(
        command, shell=True, cwd=Path.cwd(), env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def here(command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of ``linkwise`` in this process, which has imported already what it needs."""
    from linkwise.cli import main

    words = shlex.split(command)
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for name, value in PLAIN.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as left:
            main(words[1:])
    return subprocess.CompletedProcess(words, int(left.value.code or 0), out.getvalue(), err.getvalue())
