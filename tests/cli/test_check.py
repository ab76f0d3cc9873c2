import json
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


def test_a_jump_and_an_uneven_line_are_remarks(linkwise: Callable, tmp_path: Path) -> None:
    linkwise("spacelib", "data", "SCARA.DAT", "SCARA.MOT", "--to", ".")
    assert "remark" not in linkwise("check", "SCARA.DAT", "SCARA.MOT").out
    text = (tmp_path / "SCARA.MOT").read_text()
    (tmp_path / "far.MOT").write_text(text.replace("0.1 2.1 21", "0.1\n2.9 2.1 21").replace("0.1 1.1 11\n0.1", "0.1 1.1 11"))
    told = linkwise("check", "SCARA.DAT", "far.MOT")
    assert told.status == 0
    assert told.out.splitlines()[-1].startswith("  remark: joint 'link2' jumps by 2.9 rad from t = 0 to 0.05 s")
    assert "jumps by 2.9 rad" in json.loads(linkwise("check", "SCARA.DAT", "far.MOT", "--json").out)["motion_remarks"][0]
    told = linkwise("run", "SCARA.DAT", "far.MOT", "--no-figures")
    assert "remark: joint 'link2' jumps by 2.9 rad" in told.out
    assert json.loads(linkwise("run", "SCARA.DAT", "far.MOT", "--no-figures", "--json").out)["remarks"]
    (tmp_path / "odd.MOT").write_text(text.replace("0 0 0\n\n0.1", "0 0\n0 0.1"))
    told = linkwise("check", "SCARA.DAT", "odd.MOT")
    assert "  remark: line 5 has 2 numbers where the others have 3; is a number missing or too many?\n" in told.out


def test_advice_is_that_of_the_command_line(linkwise: Callable, tmp_path: Path) -> None:
    linkwise("spacelib", "data", "SCARA.DAT", "SCARA.MOT", "--to", ".")
    (tmp_path / "bad.DAT").write_text((tmp_path / "SCARA.DAT").read_text().replace("0.05", "5", 1))
    told = linkwise("check", "bad.DAT")
    assert (told.status, "; --any-inertia accepts it" in told.out, "physical=False" in told.out) == (1, True, False)
    assert linkwise("check", "bad.DAT", "--any-inertia").status == 0
    told = linkwise("check", "SCARA.MOT")
    assert told.out.endswith("\nis it a motion? give it second: linkwise check ROBOT SCARA.MOT\n")
    assert "motion" not in linkwise("check", "none.MOT").out
