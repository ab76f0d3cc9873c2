"""Numbers in words: what counts as one, and words of any length in time in proportion."""

from __future__ import annotations

import time

import pytest

from linkwise.files.text import number, whole, why_not


@pytest.mark.parametrize(
    ("word", "value"),
    [("1", 1.0), ("1.", 1.0), (".5", 0.5), ("-1.5D-3", -0.0015), ("+2e3", 2000.0), ("0012", 12.0), ("1.25d2", 125.0)],
)
def test_numbers(word: str, value: float) -> None:
    assert number(word) == value


@pytest.mark.parametrize(
    "word", ["", ".", "-", "1e", "e5", "1_0", "0x10", "1.2.3", "nan", "inf", "1e999", "٣", "1 2", "--1"]
)
def test_words_that_are_no_numbers(word: str) -> None:
    assert number(word) is None


@pytest.mark.parametrize(
    "word", ["1" * 200_000 + "x", "1" * 200_000 + "," + "1" * 200_000 + "x", "." + "1" * 200_000 + "ee"]
)
def test_long_words_take_time_in_proportion(word: str) -> None:
    start = time.process_time()
    assert number(word) is None
    assert whole(word) is None
    assert "is not a number" in why_not(word)
    assert time.process_time() - start < 2  # 20,000 digits took 10 s where the pattern tried each way to divide them
