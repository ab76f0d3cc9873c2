"""Every snippet of every page runs, in its order, and prints what the page says it prints."""

import contextlib
import io
import linecache
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from linkwise.algorithm import ALGORITHMS
from linkwise.export.language import LANGUAGES
from linkwise.export.ports import WORDS
from linkwise.files.registry import FORMATS, formats
from linkwise.kernel import writers
from linkwise.kernel.backend import BACKENDS, default_backend
from linkwise.model.joints.joint import JOINTS
from linkwise.simulation.integrators import INTEGRATORS
from linkwise.sweeps.drivers import LOOPED

from .conftest import NAME, PAGES, ROOT, Block, blocks, commands, here, same, shell

KNOWN = {"", "python", "console", "text", "toml"}
LINKWISE = re.compile(r"linkwise( [^$|&;<>(){}*?~`\\]*)?")
"""A command in which there is nothing for a shell to do."""
PROJECT = re.compile(
    r"(python3? dev\.py|pip install|python3? -m pip|git clone|cd |\.ci/run|python3? (benchmarks|docs|examples)/)"
)
"""Commands on the project itself: that what they name exists is checked, and they are not run from its own tests. What an
example prints is compared with the pages where it is run: in `test_examples`."""


@pytest.fixture
def registries() -> Iterator[None]:
    """What a page adds from outside is taken away again."""
    formats(), default_backend()
    for module in (*writers.MODULES, "linkwise.dynamics", "linkwise.kinematics"):
        __import__(module)
    lists = (ALGORITHMS, LOOPED, LANGUAGES, WORDS, writers.WRITERS, BACKENDS, JOINTS, INTEGRATORS)
    before, known = [dict(registry) for registry in lists], list(FORMATS)
    yield
    FORMATS[:] = known
    for registry, entries in zip(lists, before, strict=True):
        for name in registry.keys() - entries.keys():
            del registry[name]


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_of_page(page: Path, desk: Path) -> None:
    found = blocks(page)
    for block in found:
        if block.language == "toml" and not block.skipped and (name := NAME.search(block.text)):
            (desk / f"{name[1]}.toml").write_text(block.text, encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None
    for block in found:
        if block.skipped is not None:
            printed = None
        elif block.language == "python":
            printed = run_python(block, names)
        elif block.language == "console":
            run_console(block)
            printed = None
        elif block.language == "text" and printed is not None:
            assert same(printed, block.text), f"{block.place}: the snippet before it printed\n{printed}"
            printed = None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_rows_of_a_table_have_its_columns(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        head, rule, *rows = table.splitlines()
        assert re.fullmatch(r"\|( ?:?-+:? ?\|)+", rule), f"{head}\n{rule}"
        for row in (rule, *rows):
            assert len(re.findall(r"(?<!\\)\|", row)) == len(re.findall(r"(?<!\\)\|", head)), row


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    for page in PAGES:
        for block in blocks(page):
            assert block.language in KNOWN, f"{block.place}: {block.language}; expected one of {sorted(KNOWN)}"
            assert block.skipped != "", f"{block.place}: a block that is not run needs a reason"


def run_python(block: Block, names: dict[str, object]) -> str:
    """Run a block in the names that those before it left; what it printed."""
    linecache.cache[block.place] = (len(block.text), None, block.text.splitlines(keepends=True), block.place)
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(block.text, block.place, "exec"), names)
    except Exception as error:
        raise AssertionError(f"{block.place}: {type(error).__name__}: {error}") from error
    return output.getvalue()


def run_console(block: Block) -> None:
    """Run the lines after ``$ ``; what stands below one, if anything, is what it must print.

    The lines of the front page are run by a shell, as are those of other pages that need one; other lines in this process.
    """
    for command, wanted in commands(block):
        if PROJECT.match(command):
            check_project_command(block, command)
            continue
        if os.name == "nt":
            continue  # the pages speak to the shells of Linux and macOS
        plain = LINKWISE.fullmatch(command) and block.page != ROOT / "README.md"
        done = here(command) if plain else shell(command)
        said = done.stdout + done.stderr
        if wanted.strip():
            assert same(said, wanted), f"{block.place}: $ {command}\nprinted\n{said}"
        else:
            assert done.returncode == 0, f"{block.place}: $ {command}\nfailed with {done.returncode}:\n{said}"


def check_project_command(block: Block, command: str) -> None:
    words = shlex.split(command, comments=True)
    for word in words:
        if word.endswith((".py", ".toml")) or word.startswith((".ci/", "tests/", "docs/")):
            assert (ROOT / word).exists(), f"{block.place}: there is no {word}"
    if "dev.py" in words:
        subcommand = words[words.index("dev.py") + 1]
        assert f'"{subcommand}": {subcommand}' in (ROOT / "dev.py").read_text(encoding="utf-8"), f"{block.place}: {command}"
