import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from linkwise.cli import app as module
from linkwise.cli.command import Options, Output, command, mechanism, option
from linkwise.errors import FileError, FileProblem, LinkwiseError
from linkwise.files import Description
from linkwise.model.formatting.table import Column, Table

COMMANDS = module.app.list_commands(click.Context(module.app))
COMMAND = [sys.executable, "-m", "linkwise"]


def test_the_first_screen_says_what_to_type_first(linkwise: Callable) -> None:
    told = linkwise("--help")
    assert told.status == 0
    assert "linkwise show puma560" in told.out
    assert told.out.index("  run ") < told.out.index("  show ") < told.out.index("  completion ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_by_example(linkwise: Callable, command: str) -> None:
    told = linkwise(command, "--help")
    assert told.status == 0
    assert f"linkwise {command} " in told.out
    assert "\b" not in told.out


def test_an_unknown_command_gets_a_guess(linkwise: Callable) -> None:
    told = linkwise("shwo")
    assert told.status == 2
    assert "Did you mean 'show'?" in told.err


def test_version(linkwise: Callable) -> None:
    from linkwise import __version__

    assert linkwise("--version").out == f"linkwise {__version__}\n"


def test_one_problem_is_one_line() -> None:
    assert module.error_text(FileError("a.toml", [FileProblem(3, "no")])) == "Error: a.toml: line 3: no"
    assert module.error_text(LinkwiseError("first\nsecond")) == "Error: 2 problems\n  first\n  second"


def test_many_problems_of_a_file_are_listed_under_its_name() -> None:
    error = FileError("a.toml", [FileProblem(3, "no"), FileProblem(0, "never")])
    assert module.error_text(error) == "Error: a.toml: 2 problems\n  line 3: no\n  never"


def test_a_message_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in module.error_text(LinkwiseError("link '\x1b[2J'"))


def test_an_unknown_mechanism_says_what_lists_the_robots(linkwise: Callable) -> None:
    told = linkwise("show", "pumma560")
    assert told.status == 2
    assert "no file 'pumma560'" in told.err
    assert "Did you mean 'puma560'?" in told.err
    assert "linkwise robots" in told.err


def test_a_file_wins_over_a_robot_of_that_name(linkwise: Callable, tmp_path: Path, arm_file: Path) -> None:
    (tmp_path / "puma560").write_bytes(arm_file.read_bytes())
    assert "turn, table" in linkwise("show", "puma560", "--no-picture").out


def test_an_interrupt_is_told_without_a_traceback(linkwise: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    from linkwise.files import descriptions

    def interrupted(path: str, options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(descriptions, "parse", interrupted)
    told = linkwise("check", "x.toml")
    assert (told.status, told.err.strip()) == (130, "Stopped.")


def test_a_fault_of_the_program_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    from linkwise.files import descriptions

    monkeypatch.setattr(descriptions, "parse", lambda path, options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        module.main(["check", "x.toml"])


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "show", "puma560", "--no-picture"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
    assert b"Traceback" not in err


def test_as_a_process_the_streams_and_status_are_kept_apart(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "show", "nothing"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: there is no file 'nothing'")


def test_help_imports_no_command_and_no_heavy_library(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom linkwise.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print(*sorted({'rich', 'matplotlib', 'llvmlite', 'sympy', 'scipy'} & set(sys.modules)),"
        " *(name for name in sys.modules if name.startswith('linkwise.cli.commands.')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stderr.strip() == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each begins where the command line is loaded, and nothing else")
def test_every_command_starts_in_a_process_of_its_own() -> None:
    """The order of imports is that of the command, not that of the tests before."""
    code = f"""
import contextlib, io, os
from linkwise.cli import main
for name in {list(COMMANDS)!r}:
    if os.fork():
        os.wait()
        continue
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text):
            main([name, "--help"])
    except SystemExit as left:
        print(name, left.code, text.getvalue().split("[")[0], flush=True)
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"{name} 0 Usage: linkwise {name} " for name in COMMANDS]


def test_robot_names_are_completed(tmp_path: Path) -> None:
    for name in ("planar_mine.toml", "planar_mine.sdf", "planar_notes.txt"):
        (tmp_path / name).write_text("")
    asked = {"_LINKWISE_COMPLETE": "bash_complete", "COMP_WORDS": "linkwise show plan", "COMP_CWORD": "2"}
    done = subprocess.run(COMMAND, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **asked}, check=False)
    assert done.stdout.split() == ["plain,planar_2r", "plain,planar_3r", "plain,planar_mine.sdf", "plain,planar_mine.toml"]


def test_files_are_completed_where_no_robot_fits(tmp_path: Path) -> None:
    asked = {"_LINKWISE_COMPLETE": "bash_complete", "COMP_WORDS": "linkwise show ./x", "COMP_CWORD": "2"}
    done = subprocess.run(COMMAND, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **asked}, check=False)
    assert done.stdout.split() == ["file,./x"]


@pytest.mark.parametrize(
    ("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef linkwise"), ("fish", "complete --no-files")]
)
def test_completion_scripts(linkwise: Callable, shell: str, word: str) -> None:
    told = linkwise("completion", shell)
    assert told.status == 0
    assert word in told.out
    assert "_LINKWISE_COMPLETE" in told.out


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("check",),
        ("run", "puma560"),
        ("ik", "puma560"),
        ("view",),
        ("serve",),
        ("derive",),
        ("workspace",),
        ("bench",),
    ],
)
def test_a_name_too_long_for_a_file(linkwise: Callable, command: tuple[str, ...]) -> None:
    told = linkwise(*command, "x" * 5000)
    assert told.status in {1, 2}
    assert "xxx" in told.out + told.err


def counting(name: str) -> click.Command:
    """A command of another package: how many links a mechanism has."""

    @command(mechanism(), option("--twice", is_flag=True), name=name, short_help="How many links there are.")
    def count(description: Description, options: Options) -> Output:
        """Count the links of a MECHANISM."""
        links = len(description.mechanism.links) * (2 if options.twice else 1)
        table = Table(
            ["links"], [Column("mechanism", "mechanism"), Column("links", "links")], [(description.mechanism.name, links)]
        )
        return Output(table.data()[0], [table])

    return count


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(module.app.commands, "count", counting("count"))
    return "count"


@pytest.fixture
def entry_point(monkeypatch: pytest.MonkeyPatch) -> str:
    class Point:
        name = "tally"

        def load(self) -> click.Command:
            return counting("tally")

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Point()] * (group == "linkwise.commands"))
    return "tally"


@pytest.mark.parametrize("way", ["added", "entry_point"])
def test_a_command_of_another_package(way: str, linkwise: Callable, request: pytest.FixtureRequest) -> None:
    name = request.getfixturevalue(way)
    assert f"  {name} " in linkwise("--help").out
    assert linkwise(name, "planar_2r").out == "links\n\nmechanism  links\nplanar_2r      2\n"
    assert json.loads(linkwise(name, "planar_2r", "--twice", "--json").out) == {"mechanism": "planar_2r", "links": 4}
    assert linkwise(name, "nobody").status == 2
    assert f"Did you mean '{name}'?" in linkwise(name[:-1]).err
    assert "--any-inertia" in linkwise(name, "--help").out
