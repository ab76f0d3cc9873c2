"""Every data file that is read can be written, so that it reads back as the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwise.errors import ArgumentError, FileError
from linkwise.spacelib import jtoj
from linkwise.spacelib.programs import formats
from linkwise.spacelib.programs.elbow import read_guess, read_lengths, save_guess, save_lengths
from linkwise.spacelib.programs.floating import TwoLinks, read_two_links, save_two_links
from linkwise.spacelib.programs.linear_system import read_system, save_system

RNG = np.random.default_rng(11)


def test_lengths_and_guess(tmp_path: Path) -> None:
    for save, read in ((save_lengths, read_lengths), (save_guess, read_guess)):
        values = RNG.normal(size=6)
        save(tmp_path / "file", values)
        assert np.array_equal(read(tmp_path / "file"), values)


@pytest.mark.parametrize("shape", [(1, 1), (4, 5), (7, 2)])
def test_systems(tmp_path: Path, shape: tuple[int, int]) -> None:
    A, b = RNG.normal(size=shape), RNG.normal(size=shape[0])
    save_system(tmp_path / "INP.DAT", A, b)
    found = read_system(tmp_path / "INP.DAT")
    assert np.array_equal(found[0], A)
    assert np.array_equal(found[1], b)


def test_the_manuals_own_files_are_written_as_they_are(tmp_path: Path) -> None:
    for name, save, read in (
        ("ELBOW.DAT", save_lengths, read_lengths),
        ("GUESS.1ST", save_guess, read_guess),
        ("INP.DAT", lambda path, system: save_system(path, *system), read_system),
        ("TEST.DAT", save_two_links, read_two_links),
    ):
        save(tmp_path / name, read(formats.path(name)))
        words = [[float(word) for word in path.read_text().split()] for path in (tmp_path / name, formats.path(name))]
        assert words[0] == words[1]


def test_two_links_with_full_inertias(tmp_path: Path) -> None:
    first = jtoj(2.5, 0.3, 0.4, 0.5, 0.01, -0.02, 0.03, 0.1, -0.2, 0.3)
    second = jtoj(1.5, 0.2, 0.3, 0.35, -0.01, 0.02, 0.015, -0.3, 0.1, 0.2)
    links = TwoLinks(first, second, np.zeros((4, 4)), np.eye(4))
    save_two_links(tmp_path / "TEST.DAT", links)
    found = read_two_links(tmp_path / "TEST.DAT")
    worst = max(np.abs(found.J1 - first).max(), np.abs(found.J2 - second).max())
    print(f"{worst:.1e}")
    assert worst <= 4 * np.finfo(float).eps  # elements of size 2.5, taken apart and put together again


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda path: save_lengths(path, [1.0] * 5), "expected the lengths of 6 links"),
        (lambda path: save_guess(path, [np.nan] * 6), "expected the angles of 6 joints"),
        (lambda path: save_system(path, np.eye(2), [1.0]), r"A is of shape \(2, 2\) and b of shape \(1,\)"),
        (lambda path: save_system(path, [[1.0, np.inf]], [1.0]), r"A is inf at \(0, 1\)"),
    ],
)
def test_nothing_wrong_is_written(tmp_path: Path, call: Callable[[Path], None], message: str) -> None:
    path = tmp_path / "file"
    path.write_text("kept")
    with pytest.raises(ArgumentError, match=message):
        call(path)
    assert path.read_text() == "kept"


def test_a_name_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        save_lengths(tmp_path / ("x" * 300), [1.0] * 6)
