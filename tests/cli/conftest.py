from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import files
from linkwise.cli import main


@dataclass(frozen=True)
class Told:
    status: int
    out: str
    err: str


@pytest.fixture
def linkwise(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Told]:
    """Runs the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*args: object) -> Told:
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        told = capsys.readouterr()
        return Told(int(left.value.code or 0), told.out, told.err)

    return call


@pytest.fixture
def arm() -> lw.Mechanism:
    """A turning and a sliding joint, with names that need care."""
    return lw.Mechanism(
        [
            lw.Link.dh(d=0.3, alpha=np.pi / 2, convention="standard", name="turn, table", mass=2.0, com=(0, 0, 0.1)),
            lw.Link.dh(
                d=0.2, convention="standard", joint="prismatic", name="slide 100%", mass=1.0, inertia=(0.1, 0.1, 0.05),
                limits=(-0.5, 0.5),
            ),
        ],
        name="arm",
    )  # fmt: skip


@pytest.fixture
def arm_file(arm: lw.Mechanism, tmp_path: Path) -> Path:
    path = tmp_path / "arm.toml"
    files.save(arm, path)
    return path


def swing(n: int, rows: int, end: float = 2.0) -> tuple[np.ndarray, ...]:
    t = np.linspace(0.0, end, rows)
    w = np.linspace(1.0, 2.0, n)
    at = t[:, None] * w
    return t, 0.4 * np.sin(at), 0.4 * w * np.cos(at), -0.4 * w * w * np.sin(at)


@pytest.fixture
def motion_file(tmp_path: Path) -> Callable[..., Path]:
    def make(n: int, rows: int, name: str = "swing.csv") -> Path:
        files.save_motion(tmp_path / name, *swing(n, rows))
        return tmp_path / name

    return make
