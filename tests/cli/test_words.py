"""Colours are for terminals that want them."""

import io
from typing import Any

import pytest

from linkwise.cli import words


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(patch: pytest.MonkeyPatch, **environment: str) -> Terminal:
    """Give the output to a terminal, with these variables; in the test itself, for pytest changes it between its phases."""
    made = Terminal()
    patch.setattr("sys.stdout", made)
    patch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        patch.setenv(name, value)
    return made


def test_a_remark_is_yellow_on_a_terminal() -> None:
    with pytest.MonkeyPatch.context() as patch:
        terminal = on_a_terminal(patch)
        words.remark("odd")
        warned = words.warned("fine\nremark: odd")
    assert terminal.getvalue() == "\x1b[33mremark:\x1b[0m odd\n"
    assert warned == "fine\n\x1b[33mremark:\x1b[0m odd"


@pytest.mark.parametrize("unwanted", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_unless_wanted(unwanted: dict[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        terminal = on_a_terminal(patch, **unwanted)
        words.remark("odd")
    assert terminal.getvalue() == "remark: odd\n"


def test_no_colour_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    words.remark("odd")
    words.remark("odd", err=True)
    told: Any = capsys.readouterr()
    assert (told.out, told.err) == ("remark: odd\n", "remark: odd\n")
