from collections.abc import Callable
from pathlib import Path


def test_a_good_file_is_ok_in_one_line(linkwise: Callable, arm_file: Path) -> None:
    told = linkwise("check", arm_file)
    assert told.status == 0
    assert told.out == f"{arm_file}: ok, arm with 2 joints RP, 2 links, 3 kg\n"


def test_everything_wrong_is_told_at_once_with_lines(linkwise: Callable, arm_file: Path) -> None:
    text = arm_file.read_text().replace("mass = 2.0", "mass = -2.0").replace("mass = 1.0", 'mass = "one"')
    arm_file.write_text(text)
    told = linkwise("check", arm_file)
    assert told.status == 1
    assert "2 problems" in told.out
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "mass" in line]
    assert all(f"line {number}: " in told.out for number in lines)
    assert told.err == ""


def test_what_is_odd_is_a_remark(linkwise: Callable, arm_file: Path) -> None:
    arm_file.write_text(arm_file.read_text().replace("mass = 1.0", "mass = 0.0"))
    told = linkwise("check", arm_file)
    assert told.status == 0
    assert "remark: " in told.out
    assert "no mass" in told.out


def test_a_missing_file(linkwise: Callable) -> None:
    told = linkwise("check", "none.toml")
    assert told.status == 1
    assert "there is no such file" in told.out


def test_a_motion_is_checked_to_its_end(linkwise: Callable, arm_file: Path, motion_file: Callable) -> None:
    path = motion_file(2, 5)
    assert linkwise("check", arm_file, path).out.endswith(f"{path}: ok\n  motion: 5 instants, 0 to 2 s, 2 joints\n")
    path.write_text(path.read_text() + "9,0,zero,0,0,0,0\n")
    told = linkwise("check", arm_file, path)
    assert told.status == 1
    assert "line 7: " in told.out


def test_a_robot_is_no_file(linkwise: Callable) -> None:
    told = linkwise("check", "puma560")
    assert told.status == 2
    assert "check takes a file" in told.err
    assert "linkwise show puma560" in told.err
