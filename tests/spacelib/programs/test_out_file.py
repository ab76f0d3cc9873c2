"""OUT files read back: the numbers as printed, every way that a file can be no OUT file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwise.errors import FileError
from linkwise.spacelib.programs import formats, rob_mat
from linkwise.spacelib.programs.formats import read_out
from support.messages import unnamed


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "SCARA.OUT"
    rob_mat.write(path, rob_mat.run(formats.path("SCARA.DAT"), formats.path("SCARA.MOT")))
    return path


def test_what_was_written_comes_back(written: Path) -> None:
    found = read_out(written)
    (made,) = rob_mat.run(formats.path("SCARA.DAT"), formats.path("SCARA.MOT"))
    for name in rob_mat.PRINTED:
        values = np.asarray(getattr(made, name))
        assert found[name].shape == (2, 3, 4, 4)
        assert np.abs(found[name] - values).max() <= 0.500001e-4  # four decimals


def test_the_labels_of_the_original_will_do(written: Path) -> None:
    text = written.read_text().replace("in frame (i-1) W", "in frame (i) W").replace("frame (0) HA", "frame (0) A")
    written.write_text(text.replace("\n\n", "\n"))
    assert read_out(written)["HA"].shape == (2, 3, 4, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "the file is empty; expected the matrices of at least one link"),
        (lambda text: text.replace("Link 2", "Lonk 2", 1), "line 79: 'Lonk 2'; expected 'Link 2' or 'Link 1'"),
        (lambda text: text.replace("Link 3", "Link 9", 1), "line 155: 'Link 9'; expected 'Link 3' or 'Link 1'"),
        (lambda text: text[: text.rindex("Link 3")], "line 379: the file ends before link 3 of instant 2"),
        (
            lambda text: text.replace("0.3300", "0.33x0", 1),
            "line 6: '1.0000 0.0000 0.0000 0.33x0'; expected four numbers of 'Relative Position Matrix A'",
        ),
        (
            lambda text: text[: text.index("Absolute Position")],
            "line 9: the file ends within Link 1, 'Absolute Position Matrix T'",
        ),
        (lambda text: "3\n0\n0 0 0 0.33 0\n", "line 1: '3'; expected 'Link 1'"),
    ],
)
def test_malformed(written: Path, change: object, message: str) -> None:
    assert callable(change)
    written.write_text(change(written.read_text()))
    with pytest.raises(FileError) as caught:
        read_out(written)
    assert unnamed(caught.value, f"{written}: {message}") == []
