"""The layout of printed matrices, and where they are printed to."""

import io
from pathlib import Path

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import symbol
from linkwise.spacelib.printing import fprintm, printm, prmat


def printed(s: str, A: object) -> str:
    page = io.StringIO()
    fprintm(page, s, A)
    return page.getvalue()


def test_columns_of_eight_with_four_decimals() -> None:
    assert printed("M", [[1.0, -2.5], [0.12345, 12.0]]) == "M\n  1.0000 -2.5000\n  0.1235 12.0000\n\n"


def test_no_zero_has_a_minus() -> None:
    assert printed("", [-0.0, -0.00004, -0.00006, 1000.0]) == "    0.0000    0.0000   -0.0001 1000.0000\n\n"
    assert printed("", [-0.0, -1e-17, 1.0]) == "  0.0000  0.0000  1.0000\n\n"


def test_small_numbers_that_count_are_shown() -> None:
    """The inertia of a small body beside its mass is no zero; rounding is."""
    assert printed("", [1.0, 1e-5]) == " 1.0000e+00 1.0000e-05\n\n"
    assert printed("", [-0.0, 2e-9]) == " 0.0000e+00 2.0000e-09\n\n"
    out = io.StringIO()
    fprintm(out, "", [1.0, 1e-5], fixed=True)
    assert out.getvalue() == "  1.0000  0.0000\n\n"
    assert printed("", [1.0, 9e-8]) == "  1.0000  0.0000\n\n"


def test_columns_widen_together_and_never_touch() -> None:
    text = printed("", [[1.0, -123456.78], [9999.0, 2.0]])
    assert text == "       1.0000 -123456.7800\n    9999.0000       2.0000\n\n"
    for scale in 10.0 ** np.arange(-3, 20):
        given = np.random.default_rng(4).normal(size=(4, 4)) * scale
        rows = [line.split() for line in printed("", given).strip().splitlines()]
        assert [len(row) for row in rows] == [4] * 4
        digits = 0.5001e-4 if np.abs(given).max() < 1e15 else 0.5001e-4 * np.abs(given)
        assert (np.abs(np.array(rows, dtype=float) - given) <= digits + np.spacing(np.abs(given))).all()


def test_vectors_columns_scalars_and_whole_numbers() -> None:
    assert printed("u", np.ones(3)) == "u\n  1.0000  1.0000  1.0000\n\n"
    assert printed("u", np.ones((2, 1))) == "u\n  1.0000\n  1.0000\n\n"
    assert printed("The rank is: ", 3) == "The rank is: 3\n"
    assert printed("h =", 0.5) == "h = 0.5000\n"
    assert printed("", 0.5) == "0.5000\n"
    assert printed("ivet", np.array([3, 0, 2])) == "ivet\n       3       0       2\n\n"
    assert printed("", np.zeros((0, 3))) == "\n"


def test_batches_symbols_and_what_is_not_finite() -> None:
    assert printed("", np.zeros((2, 1, 1))) == "[0]\n  0.0000\n[1]\n  0.0000\n\n"
    x = sympy.Symbol("x")
    assert printed("", [[sympy.cos(x), 0.5]]) == "  cos(x)     0.5\n\n"
    assert printed("f", 2.0 * symbol("x")) == "f 2 * x\n"
    assert printed("", [np.nan, -np.inf, 1.0]) == "     nan    -inf  1.0000\n\n"


def test_screen_and_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    printm("on the screen", [1.0])
    fprintm(1, "too", [2.0])
    assert capsys.readouterr().out == "on the screen\n  1.0000\n\ntoo\n  2.0000\n\n"
    path = tmp_path / "matrices.out"
    with path.open("w") as page:
        fprintm(page, "in a file", [[3.0]])
        fprintm(page, "and another", [[4.0]])
    assert path.read_text() == "in a file\n  3.0000\n\nand another\n  4.0000\n\n"
    assert capsys.readouterr().out == ""


def test_position_matrix_for_the_post_processor() -> None:
    """Directions of x and y, then the origin."""
    page = io.StringIO()
    prmat(page, "body", [[0.0, -1.0, 0.0, 5.0], [1.0, 0.0, 0.0, 6.0], [0.0, 0.0, 1.0, 7.0], [0.0, 0.0, 0.0, 1.0]])
    assert page.getvalue() == "body\n  0.0000  1.0000  0.0000\n -1.0000  0.0000  0.0000\n  5.0000  6.0000  7.0000\n"
    with pytest.raises(ArgumentError, match=r"prmat.*\(3, 3\).*\(4, 4\)"):
        prmat(page, "", np.eye(3))


def test_refused(tmp_path: Path) -> None:
    for out in (0, 2, True, None, "out.txt"):
        with pytest.raises(ArgumentError, match=r"fprintm.*1"):
            fprintm(out, "s", [1.0])  # type: ignore[arg-type]
    with (tmp_path / "binary").open("wb") as page, pytest.raises(ArgumentError, match="a text file open for writing"):
        fprintm(page, "s", [1.0])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"fprintm.*3"):
        fprintm(1, 3, [1.0])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"fprintm.*1"):
        fprintm(1, "s", ["a"])
    with pytest.raises(ArgumentError, match=r"fprintm.*array.*symbols"):
        fprintm(1, "s", [[1.0], [1.0, 2.0]])
