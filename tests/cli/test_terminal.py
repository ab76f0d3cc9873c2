"""Colours and the width of a terminal: on a real one they are used; in a pipe nothing is written that steers a terminal."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from linkwise.cli.app import app

from .conftest import Told, swing

pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")

STEERING = re.compile(r"\x1b\[[0-9;]*m")

SEVERAL = """
import sys
from linkwise.cli import main
for line in sys.argv[1:]:
    try: main(line.split())
    except SystemExit: pass
"""


def on_a_terminal(columns: int, *lines: str, cwd: Path, **environment: str) -> str:
    """What commands write to a terminal so wide, both streams."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"this system gives no pseudo-terminal: {error}")
    termios.tcsetwinsize(theirs, (50, columns))
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    given = kept | {"TERM": "xterm-256color"} | environment
    command = [sys.executable, "-c", SEVERAL, *lines]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=given) as process:
        os.close(theirs)
        text = b"".join(_read(ours))
    os.close(ours)
    assert process.returncode == 0
    return text.decode().replace("\r\n", "\n")


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # (so Linux says that the other end is closed)
            return
        if not part:
            return
        yield part


LINES = (
    "show puma560 --masses --motors --no-picture",
    "ik puma560 --position 0.4,0.2,0.3 --rpy 0,180deg,0 --all",
    "check puma.toml",
    "shwo",
    "show nothing",
)
"""Tables of both kinds, remarks, errors of both kinds."""


def test_colours_and_width_of_a_terminal(linkwise: Callable[..., Told], tmp_path: Path) -> None:
    linkwise("convert", "puma560", "puma.toml")
    told = on_a_terminal(60, *LINES, cwd=tmp_path)
    for seen in (
        "\x1b[1mpuma560: 6 joints (RRRRRR)\x1b[0m",
        "puma.toml: \x1b[32mok\x1b[0m",
        "\x1b[33mremark:\x1b[0m line",
        "\x1b[31mError:\x1b[0m No command 'shwo'",
        "\x1b[31mError:\x1b[0m there is no file 'nothing'",
    ):
        assert seen in told
    lines = STEERING.sub("", told).split("\n")
    assert max(map(len, lines)) <= 60
    heads = [line.split() for line in lines if line.startswith("target")]
    assert [head[:2] for head in heads] == [["target", "solution"]] * len(heads)
    assert sum(head.count("[°]") for head in heads) == 6


def test_no_colour_where_none_is_wanted(tmp_path: Path) -> None:
    told = on_a_terminal(80, *LINES, cwd=tmp_path, NO_COLOR="1")
    assert "puma560: 6 joints" in told
    assert "\x1b" not in told


def test_nothing_in_a_pipe_steers_a_terminal(
    linkwise: Callable[..., Told], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("linkwise.looped.kernel.programs", lambda: [("friction_torque", (), True)])
    header = "t,q1,q2,qd1,qd2,qdd1,qdd2"
    np.savetxt(tmp_path / "swing.csv", np.column_stack(swing(2, 5)), delimiter=",", header=header, comments="")
    (tmp_path / "points.csv").write_text("q1,q2\n0,0\n0.5,0.4\n1,0\n", encoding="utf-8")
    lines = (
        "run planar_2r swing.csv --no-figures",
        "simulate planar_2r --time 0.01 --no-figures",
        "ik planar_2r --position 1,1,0",
        "ik planar_2r --position 9,9,0",
        "path planar_2r points.csv --qd-max 1,2 --qdd-max 5",
        "workspace planar_2r --samples 1000 --cells 16 --no-picture",
        "show planar_2r --masses --motors --limits --dynamics --base-parameters --sources --no-picture",
        "derive planar_2r g",
        "export planar_2r fk",
        "convert puma560 puma.toml",
        "convert puma560 puma.urdf",
        "check puma.toml --against planar_2r",
        "bench planar_2r --configurations 1 --algorithm jacobian",
        "sweep planar_2r --over mass:link2=1..5 --samples 10 --format npz --processes 1",
        "spacelib triangle",
        "spacelib rob-mat SCARA.DAT SCARA.MOT x.out",
        "completion fish",
        "serve",
        "view nothing",
        "robots",
        "warm",
    )
    assert {line.split()[0] for line in lines} == set(app.list_commands(click.Context(app)))
    for line in lines:
        told = linkwise(*line.split())
        assert told.out + told.err
        assert "\x1b" not in told.out + told.err, line


def _pages(command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _pages(found, *words, name)


def test_help_fits_into_80_columns(linkwise: Callable[..., Told], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in _pages(app):
        wide = [line for line in linkwise(*words, "--help").out.split("\n") if len(line) > 80]
        assert not wide, words
