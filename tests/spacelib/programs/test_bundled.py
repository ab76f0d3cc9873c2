"""The manual's data files: all of them there, found and copied."""

import os
from pathlib import Path

import numpy as np
import pytest

from linkwise.errors import ArgumentError, FileError
from linkwise.files import open_motion
from linkwise.spacelib.programs import formats
from linkwise.spacelib.programs.formats import NumberFile


def test_the_folder_holds_these_files() -> None:
    folder = formats.path("INP.DAT").parent
    assert {path.name for path in folder.iterdir()} == set(formats.names())


@pytest.mark.parametrize(("file", "n", "instants"), [("SCARA.MOT", 3, 2), ("SMART.MOT", 6, 1)])
def test_motions_can_be_read(file: str, n: int, instants: int) -> None:
    t, q, *_ = open_motion(formats.path(file), n).read()
    assert q.shape == (instants, n)
    assert t.tolist() == [0.05 * k for k in range(instants)]


def test_the_other_files_are_streams_of_numbers() -> None:
    counts = {"TEST.DAT": 52, "ELBOW.DAT": 6, "GUESS.1ST": 6, "INP.DAT": 26}
    for name, count in counts.items():
        file = NumberFile(formats.path(name))
        assert np.isfinite(file.array(name, count)).all()
        file.finish()


def test_a_file_comes_before_a_bundled_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert formats.found("INP.DAT") == (formats.path("INP.DAT"), True)
    Path("INP.DAT").write_text("1 1 1 1")
    assert formats.found("INP.DAT") == (Path("INP.DAT"), False)
    with pytest.raises(FileError, match=r"bundled.*'SCARA\.DAT'"):
        formats.found("x/INP.DAT")


@pytest.mark.skipif(os.name != "posix", reason="the words are those of POSIX")
def test_names_that_the_system_does_not_take() -> None:
    with pytest.raises(FileError, match="there is no such file"):
        formats.found("a" * 5000)
    with pytest.raises(FileError, match="cannot be made: File name too long"):
        formats.copy(["INP.DAT"], "a" * 5000)


@pytest.mark.parametrize(("name", "command"), [("test.mot", "test-mot"), ("GRIPPER.MOT", "elb-d-dh")])
def test_what_writes_the_other_files_is_told(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for find, error in ((formats.found, FileError), (formats.path, ArgumentError)):
        with pytest.raises(error, match=f"and 'INP.DAT'; linkwise spacelib {command} writes {name.upper()}"):
            find(name)


def test_names_that_are_none() -> None:
    with pytest.raises(ArgumentError, match=r"'SCARA'.*'SCARA\.DAT'"):
        formats.path("SCARA")


def test_copies(tmp_path: Path) -> None:
    copied = formats.copy(["inp.dat", "INP.DAT"], tmp_path / "new")
    assert copied == [tmp_path / "new" / "INP.DAT"]
    assert copied[0].read_text() == formats.path("INP.DAT").read_text()
    copied[0].write_text("mine")
    others = formats.copy([], tmp_path / "new")
    assert {path.name for path in others} == {*formats.names()} - {"INP.DAT"}
    assert formats.copy([], tmp_path / "new") == []
    assert copied[0].read_text() == "mine"
    assert len(formats.copy([], tmp_path / "new", overwrite=True)) == len(formats.names())
    assert copied[0].read_text() != "mine"
    with pytest.raises(FileError, match="cannot be made"):
        formats.copy(["INP.DAT"], copied[0] / "below")
