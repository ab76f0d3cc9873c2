"""Numeric options of every command: what is not a finite number in the option's range is an error that names the option."""

from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

from linkwise.cli.app import app
from linkwise.cli.options import Finite


def options(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Option]]:
    """The numeric options of all commands, with the words that call each."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from options(found, (*words, name))
    for option in command.params:
        if isinstance(option, click.Option) and isinstance(
            option.type, (click.types.FloatParamType, click.types.IntParamType)
        ):
            yield words, option


OPTIONS = [*options(app)]


def refused(option: click.Option, text: str) -> bool:
    try:
        option.type.convert(text, option, None)
    except click.BadParameter:
        return True
    return False


@pytest.mark.parametrize(("words", "option"), OPTIONS, ids=[" ".join((*words, o.opts[0])) for words, o in OPTIONS])
def test_no_number_is_let_in_that_is_none(words: tuple[str, ...], option: click.Option) -> None:
    """Real numbers by one type, which is finite; whole numbers by click's range, which takes nothing else."""
    assert isinstance(option.type, (Finite, click.IntRange))
    for text in ("nan", "-nan", "inf", "-inf", "1e400", "-1e400", "1" * 400 + ".0", "0x10", "", "1,5"):
        assert refused(option, text)
    for text in ("-1", "-1e-300", "-1e300"):
        assert refused(option, text) or option.opts[0] == "--first"


def test_there_are_such_options() -> None:
    assert {"--rate", "--time", "--dt", "--tol", "--speed", "--priority", "--port"} <= {o.opts[0] for _, o in OPTIONS}


@pytest.mark.parametrize(
    "words",
    [
        ("serve", "arm.toml", "--time", "nan"),
        ("serve", "arm.toml", "--time", "inf"),
        ("serve", "arm.toml", "--time", "1e308"),
        ("serve", "arm.toml", "--hold-after", "nan"),
        ("serve", "arm.toml", "--no-opcua", "--publish", "-1"),
        ("simulate", "planar_2r", "--dt", "1e-320"),
        ("bench", "planar_2r", "--configurations", "9" * 40),
        ("spacelib", "joint-mot", "a.mot", "--first", "nan"),
    ],
)
def test_the_option_is_named(linkwise: Callable[..., Any], words: tuple[str, ...]) -> None:
    told = linkwise(*words)
    assert told.status == 2
    assert words[-2] in told.err
    assert "Traceback" not in told.err


def test_recorded_efforts_in_steps_too_small_for_any_count(linkwise: Callable[..., Any]) -> None:
    with open("tau.csv", "w") as file:
        file.write("t,tau1,tau2\n0,0,0\n1,0,0\n")
    told = linkwise("simulate", "planar_2r", "--torque", "tau.csv", "--dt", "1e-320")
    assert (told.status, "--dt" in told.err) == (2, True)
