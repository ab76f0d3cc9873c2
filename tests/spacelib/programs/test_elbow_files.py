"""ELBOW.DAT, GRIPPER.MOT and GUESS.1ST: round trips, the manual's layout, and what is told of a malformed file."""

import numpy as np
import pytest

from linkwise.errors import ArgumentError, FileError
from linkwise.spacelib.programs.elbow import (
    GripperMotion,
    gripper_text,
    read_gripper,
    read_guess,
    read_lengths,
    save_gripper,
)
from support.messages import unnamed

NAMES = ("q", "qp", "qpp", "pos", "vel", "acc")


def motion(rows=3, axes=(0, 1, 2)) -> GripperMotion:
    parts = np.random.default_rng(5).normal(size=(6, rows, 3)) * 10.0 ** np.arange(-9, 9).reshape(6, 1, 3)
    return GripperMotion(0.01, 0.01 * np.arange(rows), axes, *parts)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 2)])
def test_all_digits_read_back_as_they_were(axes, tmp_path) -> None:
    made = motion(axes=axes)
    save_gripper(tmp_path / "GRIPPER.MOT", made)
    read = read_gripper(tmp_path / "GRIPPER.MOT")
    assert (read.dt, read.axes) == (made.dt, axes)
    for name in ("t", *NAMES):
        assert np.array_equal(getattr(read, name), getattr(made, name))


def test_layout() -> None:
    part = np.array([[0.5, -1.25, -0.0]])
    made = GripperMotion(0.01, np.zeros(1), (0, 1, 2), *(k * part for k in range(1, 7)))
    lines = "".join(gripper_text(made, "manual")).split("\n")
    assert lines[:5] == ["0.010000", "0 1 2", "", "0.500000 -1.250000 0.000000", "1.000000 -2.500000 0.000000"]
    assert "".join(gripper_text(made)).split("\n")[3] == "0.5 -1.25 0.0"


def test_digits_are_checked_before_anything_is_written(tmp_path) -> None:
    with pytest.raises(ArgumentError, match="digits is 'some'; expected 'all' or 'manual'"):
        save_gripper(tmp_path / "GRIPPER.MOT", motion(), "some")
    assert not list(tmp_path.iterdir())


POINT = "0 0 0 0 0 0 0 0 0 1 2 3 0 0 0 0 0 0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; expected time step dt"),
        ("0.01\n0 1", "line 2: the file ends where axis 3 of the convention should follow"),
        ("0.01\n0 1 3\n" + POINT, "line 2: axis 3 of the convention is '3'; expected a whole number from 0 to 2"),
        (
            "0.01\n0 0 1\n" + POINT,
            "line 2: the convention is 0 0 1; expected three axes of which no two in a row are the same",
        ),
        (
            "0\n0 1 2\n" + POINT,
            "line 1: the time step dt is 0.0; expected a number > 0; is the first number, the time step, missing?",
        ),
        ("0.01\n0 1 2\n", "line 2: the file ends where alpha of instant 1 should follow"),
        ("0.01\n0 1 2\n" + POINT + "\n1 2", "line 4: the file ends where gamma of instant 2 should follow"),
        ("0.01\n0 1 2\n" + POINT.replace("2", "0,5"), "line 3: Y of instant 1: '0,5' has a decimal comma; write '0.5'"),
        ("0.01\n0 1 2\n" + POINT.replace("3", "nan"), "line 3: Z of instant 1: 'nan' is not a finite number"),
    ],
)
def test_malformed_gripper_motion(text, message, tmp_path) -> None:
    path = tmp_path / "GRIPPER.MOT"
    path.write_text(text)
    with pytest.raises(FileError) as told:
        read_gripper(path)
    assert unnamed(told.value, f"{path}: {message}") == []


def test_a_motion_may_be_longer_than_any_description(tmp_path) -> None:
    path = tmp_path / "GRIPPER.MOT"
    path.write_text("0.01 0 1 2\n" + " " * (33 * 1024**2) + POINT)
    assert read_gripper(path).pos.tolist() == [[1.0, 2.0, 3.0]]


def test_all_wrong_numbers_are_told_at_once(tmp_path) -> None:
    path = tmp_path / "GRIPPER.MOT"
    path.write_text("-1 0 1 2\n" + POINT.replace("1", "x").replace("2", "y"))
    with pytest.raises(FileError) as told:
        read_gripper(path)
    assert [problem.line for problem in told.value.problems] == [1, 2, 2]


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_lengths, "1 2 3", "line 1: the file ends where length of link 4 should follow"),
        (
            read_lengths,
            "1 2 3 4 5 6\n7",
            "line 2: '7' comes after the last number; 6 numbers were expected, there are 7 words",
        ),
        (
            read_guess,
            "1 2 3 4 5 6 7 end",
            "line 1: '7' comes after the last number; 6 numbers were expected, there are 8 words",
        ),
        (read_guess, "1 2 3 four 5 6", "line 1: angle of joint 4: 'four' is not a number"),
        (read_guess, "", "the file is empty; expected angle of joint 1"),
    ],
)
def test_malformed_six_numbers(read, text, message, tmp_path) -> None:
    path = tmp_path / "six"
    path.write_text(text)
    with pytest.raises(FileError) as told:
        read(path)
    assert unnamed(told.value, f"{path}: {message}") == []


def test_no_such_file(tmp_path) -> None:
    for read in (read_lengths, read_guess, read_gripper):
        with pytest.raises(FileError, match="there is no such file"):
            read(tmp_path / "none")
