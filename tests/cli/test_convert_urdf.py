"""``linkwise convert`` from and to URDF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import linkwise as lw
from linkwise import files

GRIPPER = Path(__file__).parents[1] / "files" / "data" / "gripper.urdf"


def test_from_urdf_to_urdf_nothing_is_lost(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("convert", GRIPPER, "again.urdf")
    assert (told.status, told.out) == (0, "wrote again.urdf\n")
    assert len(files.read(tmp_path / "again.urdf").shapes) == len(files.read(GRIPPER).shapes) == 4


def test_to_toml_nothing_is_lost(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("convert", GRIPPER, "gripper.toml")
    assert (told.status, told.out) == (0, "wrote gripper.toml\n")
    assert files.load(tmp_path / "gripper.toml") == files.load(GRIPPER)
    assert len(files.read(tmp_path / "gripper.toml").shapes) == 4


def test_what_a_urdf_cannot_hold_is_listed_and_nothing_written(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("convert", "puma560", "puma.urdf")
    assert told.status == 2
    assert "link 'link1': its motor's gear ratio" in told.err
    assert not (tmp_path / "puma.urdf").exists()
    told = linkwise("convert", "puma560", "puma.urdf", "--allow-loss")
    assert told.status == 0
    assert "  lost: link 'link1': its motor's gear ratio\n" in told.out
    assert files.read(tmp_path / "puma.urdf", physical=False).mechanism.names == lw.robots.puma560().names


def test_what_acts_on_the_tool_is_told(linkwise: Callable, tmp_path: Path) -> None:
    files.save(lw.Mechanism([lw.Link(name="arm")]), tmp_path / "arm.toml", external=[1, 0, 0, 0, 0, 0])
    told = linkwise("convert", "arm.toml", "arm.urdf")
    assert told.status == 2
    assert "would be lost:\n    what acts on its tool (external)\n" in told.err


def test_a_loop_cannot_be_written(linkwise: Callable, tmp_path: Path) -> None:
    files.save(lw.robots.four_bar(), tmp_path / "bars.toml")
    told = linkwise("convert", "bars.toml", "bars.urdf", "--allow-loss")
    assert told.status == 2
    assert "cannot be written at all:\n    its closed loops\n" in told.err
