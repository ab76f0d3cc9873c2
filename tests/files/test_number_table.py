"""Small tables of numbers: separators, units, and what is refused with its line."""

from pathlib import Path

import numpy as np
import pytest

from linkwise.errors import FileError
from linkwise.files.number_table import NumberTable

LENGTHS = {"m": 1.0, "mm": 1e-3}


def table(tmp_path: Path, text: str, header: str = "x, y") -> NumberTable:
    (tmp_path / "t.csv").write_text(text)
    return NumberTable(tmp_path / "t.csv", header=header, row="point")


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_separators(tmp_path: Path, separator: str) -> None:
    read = table(tmp_path, f"x{separator}y\n\n1{separator}2\n3{separator}4.5\n")
    assert read.names == ["x", "y"]
    assert [line for line, _ in read.rows] == [3, 4]
    np.testing.assert_array_equal(read.column(1, LENGTHS), [2.0, 4.5])


def test_units_scale(tmp_path: Path) -> None:
    read = table(tmp_path, "x [mm],y [m],z\n1,2,3\n")
    assert [read.column(k, LENGTHS).tolist() for k in range(3)] == [[1e-3], [2.0], [3.0]]
    assert read.place(["y", "Y"]) == 1
    assert read.place(["w"]) is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 0, "there is no point; expected a header x, y"),
        ("x,y\n", 0, "there is no point"),
        ("x,y\n1\n", 2, "1 cells; the header has 2 columns"),
        ("x,y\n1,2\n1,2,3\n", 3, "3 cells"),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(FileError) as raised:
        table(tmp_path, text)
    (problem,) = raised.value.problems
    assert (problem.line, message in problem.message) == (line, True)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x,y\n1,2\n,3\n", 3, "column 'x': the cell is empty"),
        ("x,y\nnan,2\n", 2, "column 'x'"),
        ("x,y\n" + "9" * 70 + ",1\n", 2, "column 'x'"),
        ("x [ft],y\n1,2\n", 1, "column 'x' is in 'ft'; expected 'm' or 'mm'"),
    ],
)
def test_what_is_no_number(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(FileError) as raised:
        table(tmp_path, text).column(0, LENGTHS)
    (problem,) = raised.value.problems
    assert (problem.line, message in problem.message) == (line, True)


def test_a_column_twice(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="'x' twice"):
        table(tmp_path, "x,x\n1,2\n").place(["x"])


def test_rows_without_a_header(tmp_path: Path) -> None:
    assert table(tmp_path, "1 2\n\n3 4\n", header="").rows == [(1, ["1", "2"]), (3, ["3", "4"])]
