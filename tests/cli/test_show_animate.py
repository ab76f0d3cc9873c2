"""``linkwise show --animate``: a motion file as moving pictures."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import files


@pytest.fixture
def motion(tmp_path: Path) -> Path:
    path = tmp_path / "motion.csv"
    planned = lw.trajectory.quintic(np.zeros(2), [0.5, 1.0], 0.2)
    t = np.linspace(0, 0.2, 5)
    files.save_motion(path, t, *planned.at(t))
    return path


def test_a_motion_is_animated(linkwise: Callable, motion: Path, tmp_path: Path) -> None:
    told = linkwise("show", "planar_2r", "--animate", motion, "--save", "arm.gif", "--speed", "2")
    assert told.status == 0
    assert told.out.rstrip().endswith("animation: arm.gif, 0.2 s of motion in 3 pictures")
    assert (tmp_path / "arm.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--save", "arm.png"], "an animation ends in .gif or .mp4, not '.png'"),
        (["--speed", "0"], "Invalid value for"),
        (["--speed", "1e-5"], "expected at most 2,000: play it faster"),
    ],
)
def test_what_cannot_be_animated(linkwise: Callable, motion: Path, options: list[str], message: str) -> None:
    told = linkwise("show", "planar_2r", "--animate", motion, *options)
    assert told.status != 0
    assert message in " ".join(told.err.replace("│", " ").split())
    assert not list(motion.parent.glob("*.gif"))
