"""Lines that hold another count of numbers than the others, and joints that jump."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwise import Link, Mechanism, files, robots
from linkwise.errors import FileError
from linkwise.files.motion import MotionRemarks
from linkwise.spacelib.programs import formats

INSTANT = "0 1 10\n0 2 20\n0 0 0\n\n"


def remarks(path: Path, mechanism: Mechanism) -> list[str]:
    opened = files.open_motion(path, mechanism.n)
    found = MotionRemarks(mechanism, opened)
    for block in opened:
        found.add(*block)
    return [remark.message for remark in found.report()]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_line_with_a_missing_number_is_named(tmp_path: Path, end: str) -> None:
    """A thousand instants, so that the file is longer than a block of it, with a number missing in line 61."""
    text = "0.05\n\n" + 14 * INSTANT + "0 1 10\n0 2 20\n0 0\n\n" + 15_000 * INSTANT
    assert text.split("\n")[60] == "0 0"
    (tmp_path / "a.MOT").write_bytes(text.replace("\n", end).encode())
    with pytest.raises(FileError, match=r"1.*9.*missing.*61.*2.*others.*3"):
        files.open_motion(tmp_path / "a.MOT", 3).read()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0.05\n0 1 10\n0 2 20\n0 0\n0 0 0 0\n0 0 0\n0 0 0", "line 4 has 2 numbers where the others have 3"),
        ("0.05\n" + 3 * "0 0 0 0 0 0\n0 0 0\n", ""),  # two usual counts
        ("0.05 " + 4 * "0 0 0 0 0 0 0 0 0\n", ""),  # the step in the first line
        ("0.05\n" + 9 * "0\n", ""),  # one number a line: no line is odd
        ("0.05\n" + 3 * "0 0 0 0 0\n0 0 0 0\n", ""),  # broken wherever it was full
        (
            "0.05\n" + 4 * "0 0 0 0 0 0\n0 0 0\n" + "0 0 0 0 0 0 0\n0 0\n",
            "line 10 has 7 numbers where the others have 3 or 6",
        ),
    ],
)
def test_uneven_lines_are_remarked(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "a.MOT").write_text(text)
    expected = [f"{told}; is a number missing or too many?"] if told else []
    assert remarks(tmp_path / "a.MOT", robots.scara_icomatic()) == expected


def test_a_file_without_breaks_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.MOT").write_text("0.05 " + "0 0 0 " * 60_000)
    assert files.open_motion(tmp_path / "a.MOT", 3).uneven() is None
    files.save_motion(tmp_path / "a.csv", 0.1, *np.zeros((3, 2, 3)))
    assert files.open_motion(tmp_path / "a.csv", 3).uneven() is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace("0.03 0 0", "0.03 0", 1), "line 6 has 2 numbers where the same line of every other link"),
        (lambda text: text.replace("0.0015", "0.0015 1"), "line 24 has 2 numbers where the same line of every other link"),
        (lambda text: " ".join(text.split()[:-1]), "there are 57"),  # all in one line
        (lambda text: text.replace("0.03 0 0", "0.03 0", 2), "there are 56"),  # two lines: which is not known
    ],
)
def test_the_line_of_a_description_is_named(tmp_path: Path, change: Callable[[str], str], told: str) -> None:
    text = formats.path("SCARA.DAT").read_text()
    (tmp_path / "a.DAT").write_text(change(text))
    problem = files.check(tmp_path / "a.DAT")[-1].message
    assert told in problem
    assert ("; line" in problem) == told.startswith("line")


# ── jumps ─────────────────────────────────────────────────────────────────────────────────────────


def swing() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    t = np.linspace(0.0, 2.0, 41)
    at = np.outer(t, [1.0, 2.0, 3.0])
    w = np.array([1.0, 2.0, 3.0])
    return t, np.sin(at), w * np.cos(at), -w * w * np.sin(at)


@pytest.mark.parametrize(
    ("joint", "shift", "told"),
    [
        (0, 0.0, ""),
        (0, 0.5, "joint 'link1' jumps by 0.5"),
        (0, 0.1, ""),
        (1, 2 * math.pi, ""),  # a whole turn
        (2, 0.5, "joint 'link3' jumps by 0."),  # m
        (2, 0.01, ""),
    ],
)
def test_jumps_are_remarked(tmp_path: Path, joint: int, shift: float, told: str) -> None:
    t, q, qd, qdd = swing()
    q[:, 2], qd[:, 2], qdd[:, 2] = (0.01 * part[:, 2] for part in (q, qd, qdd))
    q[20:, joint] += shift
    files.save_motion(tmp_path / "a.csv", t, q, qd, qdd)
    found = remarks(tmp_path / "a.csv", robots.scara_icomatic())
    assert len(found) == bool(told)
    assert all(one.startswith(told) and "from t = 0.95 to 1 s, where its speeds explain 0.0" in one for one in found)
    files.save_motion(tmp_path / "a.csv", t, q, 0 * qd, 0 * qdd)  # nothing ever moves: these are postures
    assert remarks(tmp_path / "a.csv", robots.scara_icomatic()) == []


def test_two_jumps_in_blocks_are_counted(tmp_path: Path) -> None:
    """The second is between two blocks of 4096 instants."""
    arm = Mechanism([Link.dh(a=1.0, convention="standard")])
    t = 0.01 * np.arange(5000.0)
    q = 0.1 * t[:, None]
    q[100:] += 1.0
    q[4096:] += 1.0
    files.save_motion(tmp_path / "a.MOT", 0.01, q, np.full_like(q, 0.1), 0 * q)
    said = "joint 'link1' jumps by 1.001 rad from t = 0.99 to 1 s, where its speeds explain 0.001 (and 1 more jump)"
    assert remarks(tmp_path / "a.MOT", arm) == [said]


def test_the_manual_s_own_motion_is_not_remarked() -> None:
    """Its joints go 0.1 rad in 0.05 s at 1.1 and 2.1 rad/s."""
    assert remarks(formats.path("SCARA.MOT"), files.load(formats.path("SCARA.DAT"))) == []
