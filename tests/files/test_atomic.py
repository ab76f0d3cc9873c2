import os
from pathlib import Path

import pytest

from linkwise.errors import FileError
from linkwise.files.atomic import Folder, write_bytes


def test_files_appear_only_when_all_is_done(tmp_path: Path) -> None:
    with Folder(tmp_path / "a" / "b") as folder:
        folder.open("one.txt").write("1")
        folder.write("two.bin", b"2")
        assert not [path for path in folder.path.iterdir() if not path.name.startswith(".")]
    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == {"one.txt": b"1", "two.bin": b"2"}


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("before")
    with pytest.raises(ZeroDivisionError), Folder(tmp_path) as folder:  # noqa: PT012
        folder.open("one.txt").write("after")
        raise ZeroDivisionError
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one.txt": "before"}


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a", b"")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(FileError, match="this is a folder"):
        write_bytes(tmp_path / "a", b"")
    assert os.listdir(tmp_path) == ["a"]


def test_a_file_in_the_way_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(FileError, match="cannot be written"):
        Folder(tmp_path / "a" / "b")
