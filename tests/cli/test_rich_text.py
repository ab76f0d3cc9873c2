"""Colours are for terminals that want them."""

import io
from typing import Any

import pytest

from linkwise.cli import command


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(patch: pytest.MonkeyPatch, **environment: str) -> Terminal:
    """Give the output to a terminal, with these variables; in the test itself, for pytest changes it between its phases."""
    made = Terminal()
    patch.setattr("sys.stdout", made)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS"):
        patch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        patch.setenv(name, value)
    return made


def test_a_remark_is_yellow_on_a_terminal() -> None:
    with pytest.MonkeyPatch.context() as patch:
        terminal = on_a_terminal(patch)
        command.say("remark: odd")
        marked = "fine\n" + command.marked("remark: odd")
    assert terminal.getvalue() == "\x1b[33mremark:\x1b[0m odd\n"
    assert marked == "fine\n\x1b[33mremark:\x1b[0m odd"


@pytest.mark.parametrize("name", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colours_that_are_forced_go_into_a_pipe_too(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(name, "1")
    assert command.marked("remark: odd") == "\x1b[33mremark:\x1b[0m odd"
    monkeypatch.setenv("NO_COLOR", "1")
    assert command.marked("remark: odd") == "remark: odd"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv(name, "0")
    assert command.marked("remark: odd") == "remark: odd"


def test_long_lines_are_broken_between_words_on_a_terminal() -> None:
    with pytest.MonkeyPatch.context() as patch:
        terminal = on_a_terminal(patch, COLUMNS="24", NO_COLOR="1")
        command.say("  one two three four five six\na-long-path/that-is-not-to-be-broken")
    assert terminal.getvalue() == "  one two three four\n    five six\na-long-path/that-is-not-to-be-broken\n"


@pytest.mark.parametrize("unwanted", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_unless_wanted(unwanted: dict[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        terminal = on_a_terminal(patch, **unwanted)
        command.say("remark: odd")
    assert terminal.getvalue() == "remark: odd\n"


def test_no_colour_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    command.say("remark: odd")
    command.say("remark: odd", err=True)
    told: Any = capsys.readouterr()
    assert (told.out, told.err) == ("remark: odd\n", "remark: odd\n")
