"""Public MJCF files, those of the package gymnasium (Farama Foundation, MIT licence), against MuJoCo.

They are read from where that package is installed; it is never imported. Each is loaded and compared body by body, in its
kinematics and its dynamics. What is a force beside the mechanism (springs, contacts, a fluid) is switched off in MuJoCo, and
remarked on here.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import linkwise as lw
from linkwise.files import check, remarks

mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
SPEC = find_spec("gymnasium")
if SPEC is None or SPEC.origin is None:
    pytest.skip("the package gymnasium is not installed", allow_module_level=True)
FOLDER = Path(SPEC.origin).parent / "envs" / "mujoco" / "assets"

FILES = {
    "ant": (15, 14, 13, True, 0),
    "half_cheetah": (9, 9, 9, False, 6),
    "hopper": (6, 6, 6, False, 0),
    "humanoid": (24, 23, 20, True, 14),
    "humanoidstandup": (24, 23, 20, True, 14),
    "inverted_double_pendulum": (3, 3, 3, False, 0),
    "inverted_pendulum": (2, 2, 2, False, 0),
    "point": (3, 3, 3, False, 0),
    "pusher": (11, 11, 14, False, 0),
    "pusher_v5": (11, 11, 14, False, 0),
    "reacher": (4, 4, 5, False, 0),
    "swimmer": (5, 5, 5, False, 0),
    "walker2d": (9, 9, 9, False, 0),
    "walker2d_v5": (9, 9, 9, False, 0),
}
"""Coordinates, speeds, links, whether it floats, and how many springs there are."""


def test_all_files_of_the_folder_are_here() -> None:
    assert set(FILES) <= {path.stem for path in FOLDER.glob("*.xml")}


@pytest.mark.parametrize("name", FILES)
def test_agrees(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from support.mujoco_from_mjcf import MujocoTwin

    monkeypatch.chdir(tmp_path)  # (MuJoCo writes its warnings into a file where it is run)
    path = FOLDER / f"{name}.xml"
    assert check(path) == []
    mech = lw.load(path)
    assert not any("spring is left out" in remark.message for remark in remarks(path))
    assert (mech.nq, mech.nv, len(mech.links), mech.floating, len(mech.springs)) == FILES[name]
    MujocoTwin(mech, mujoco.MjModel.from_xml_path(str(path))).compare(len(name))
