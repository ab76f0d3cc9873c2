"""Tables on a terminal are cut to its width; in a pipe they are whole."""

import pytest

from linkwise.cli.command import Output, emit
from linkwise.model.formatting.table import Column, Table, laid_out

from .test_rich_text import on_a_terminal

ROWS = (("first", "12345.678", "0.25", "rad", "1.5"), ("second", "9", "-10", "rad", "22"))
HEAD = ("joint", "position", "speed", "", "effort")


def show(*parts: str | Table) -> None:
    emit(Output(parts=parts), as_json=False)


def printed() -> None:
    columns = [Column(name, right=bool(name)) for name in HEAD[1:]]
    show(Table(["numbers"], ["joint", *columns], ROWS))


def test_a_wide_table_is_cut_between_columns() -> None:
    with pytest.MonkeyPatch.context() as patch:
        terminal = on_a_terminal(patch, COLUMNS="30", NO_COLOR="1")
        printed()
    lines = [line.rstrip() for line in terminal.getvalue().splitlines()]
    assert max(map(len, lines)) <= 30
    heads = [line.split() for line in lines if line.startswith("joint")]
    assert heads == [["joint", "position", "speed"], ["joint", "effort"]]  # (the unit stays with what it is the unit of)
    assert "first   12345.678    0.25  rad" in lines
    assert "second      9      -10     rad" in lines


def test_a_unit_comes_again_where_its_numbers_are_apart() -> None:
    table = Table(["numbers"], ["way", "position", "peak speed", "unit", "other"], [("along x", "0.125", "12.5", "m", "1")])
    with pytest.MonkeyPatch.context() as patch:
        terminal = on_a_terminal(patch, COLUMNS="26", NO_COLOR="1")
        show(table)
    lines = [line.split() for line in terminal.getvalue().splitlines()]
    assert [line for line in lines if "unit" in line] == [["way", "position", "unit"], ["way", "peak", "speed", "unit"]]


def test_in_a_pipe_it_is_whole(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    printed()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [*ROWS[0]] in lines
    assert [*ROWS[1]] in lines


def test_the_tables_of_the_model_are_cut_alike(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(
        ("title", "a line"), ("link", "mass kg", "com x y z m"), (("arm", "2", "0 0.25 0"), ("hand", "0.5", "1 0 0"))
    )
    with pytest.MonkeyPatch.context() as patch:
        terminal = on_a_terminal(patch, COLUMNS="20")
        show(table)
    assert terminal.getvalue().split("\n") == [
        "\x1b[1mtitle\x1b[0m",
        "a line",
        "",
        "\x1b[2mlink  mass kg\x1b[0m",
        "arm       2",
        "hand      0.5",
        "",
        "\x1b[2mlink  com x y z m\x1b[0m",
        "arm   0 0.25 0",
        "hand  1 0    0",
        "",
    ]
    show(table)
    assert capsys.readouterr().out == laid_out(table) + "\n"
