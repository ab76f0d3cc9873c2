from collections.abc import Callable
from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise import files


def test_between_formats_nothing_is_lost(linkwise: Callable, tmp_path: Path) -> None:
    mechanism = lw.Mechanism([lw.Link.dh(0.1, 0.2, 0.3, 0.4, b=0.05, convention="standard", mass=1.0)], name="m")
    files.save(mechanism, tmp_path / "m.DAT", external=[1, 2, 3, 4, 5, 6])
    assert linkwise("convert", "m.DAT", "m.toml").out == "wrote m.toml\n"
    linkwise("convert", "m.toml", "again.DAT")
    assert (tmp_path / "again.DAT").read_text() == (tmp_path / "m.DAT").read_text()
    assert np.array_equal(files.read(tmp_path / "m.toml").external, [1, 2, 3, 4, 5, 6])


def test_what_cannot_be_carried_is_listed_and_nothing_written(linkwise: Callable, arm_file: Path, tmp_path: Path) -> None:
    told = linkwise("convert", arm_file, "arm.DAT")
    assert told.status == 2
    assert "link 'slide 100%': its limits" in told.err
    assert "link 'turn, table': its name" in told.err
    assert "--allow-loss" in told.err
    assert not (tmp_path / "arm.DAT").exists()


def test_an_allowed_loss_is_told(linkwise: Callable, arm_file: Path, tmp_path: Path) -> None:
    told = linkwise("convert", arm_file, "arm.DAT", "--allow-loss")
    assert told.status == 0
    assert "lost: link 'slide 100%': its limits" in told.out
    assert files.load(tmp_path / "arm.DAT").n == 2


def test_an_unknown_suffix_names_the_known(linkwise: Callable, arm_file: Path) -> None:
    told = linkwise("convert", arm_file, "arm.xyz")
    assert told.status == 2
    assert "'.toml'" in told.err


def test_a_bundled_robot_becomes_a_file_to_edit(linkwise: Callable, tmp_path: Path) -> None:
    assert linkwise("convert", "puma560", "mine.toml").status == 0
    assert files.load(tmp_path / "mine.toml") == lw.robots.load("puma560")


def test_what_cannot_be_written_is_told_apart_and_no_way_is_offered(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("convert", "puma560", "p.DAT", "--allow-loss")
    assert told.status == 2
    lost, never = told.err.split("  cannot be written at all:\n")
    assert "  would be lost:\n" in lost
    assert "its motor" in lost
    assert "physical=False" in never
    assert "--allow-loss" not in told.err
    assert not (tmp_path / "p.DAT").exists()
