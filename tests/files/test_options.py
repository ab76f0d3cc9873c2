"""Options of reading: their kinds, and folders that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwise.errors import ArgumentError
from linkwise.files import ReadOptions


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("package_dirs", [5], "5"),
        ("package_dirs", [None], "None"),
        ("package_dirs", 5, "5"),
        ("package_dirs", b"ws", "ws"),
        ("package_dirs", ["/no/such/folder"], "/no/such/folder"),
        ("package_dirs", [__file__], "test_options"),
        ("include_root", 3, "3"),
        ("include_root", "/no/such/folder", "/no/such/folder"),
        ("include_root", __file__, "test_options"),
        ("swap_limits", "no", "'no'"),
        ("bare_free_joints", "false", "'false'"),
        ("drop_unknown", 1, "1"),
        ("physical", "no", "'no'"),
    ],
)
def test_an_option_of_another_kind_is_refused_by_name(name: str, value: object, named: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ReadOptions(**{name: value})  # type: ignore[arg-type]
    assert name in str(caught.value)
    assert named in str(caught.value)


def test_folders_are_paths_or_texts(tmp_path: Path) -> None:
    options = ReadOptions(package_dirs=[tmp_path, str(tmp_path)], include_root=str(tmp_path))
    assert list(options.package_dirs) == [tmp_path, str(tmp_path)]
