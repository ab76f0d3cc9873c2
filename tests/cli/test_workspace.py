import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.workspace import workspace

FEW = ("--samples", "2000", "--cells", "24")
PNG = b"\x89PNG\r\n"


def test_numbers_and_picture(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("workspace", "planar_2r", *FEW)
    assert told.status == 0
    lines = [line.split() for line in told.out.splitlines()]
    assert ["x", "-2.0000", "2.0000", "m"] in lines
    assert ["z", "0.0000", "0.0000", "m"] in lines
    assert "area 12.57 m2 ±" in told.out
    assert "manipulability of the position (2 directions)" in told.out
    assert ["manipulability", "1", "0"] in lines
    assert "picture: planar_2r_workspace.png" in told.out
    assert (tmp_path / "planar_2r_workspace.png").read_bytes().startswith(PNG)


def test_the_format_of_the_picture_is_its_suffix(linkwise: Callable, tmp_path: Path) -> None:
    linkwise("workspace", "planar_2r", *FEW, "-o", "a.svg", "--measure", "reach")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


def test_a_ball_joint_has_all_its_coordinates(linkwise: Callable, tmp_path: Path) -> None:
    text = 'format = "linkwise 1"\n[[link]]\nname = "arm"\njoint = "ball"\nafter = {xyz = [0, 0, 0.5]}\n'
    (tmp_path / "rod.toml").write_text(text)
    told = linkwise("workspace", "rod.toml", *FEW)
    lines = [line.split() for line in told.out.splitlines()]
    assert told.status == 0
    assert ["from", "the", "base", "0.5000", "0.5000", "m"] in lines
    assert [line[0] for line in lines if line and line[0].startswith("arm_")] == ["arm_qw", "arm_qx", "arm_qy", "arm_qz"]
    assert (tmp_path / "rod_workspace.png").read_bytes().startswith(PNG)


def test_the_same_as_the_library(linkwise: Callable, tmp_path: Path) -> None:
    told = json.loads(linkwise("workspace", "puma560", *FEW, "--json", "--seed", "3", "--mask", "all").out)
    found = workspace(lw.robots.puma560(), samples=2000, cells=24, seed=3, mask="all")
    assert told["bounds"] == found.bounds.tolist()
    assert told["size"] == found.size
    assert told["best"] == {"value": found.best, "q": found.best_q.tolist(), "position": found.best_position.tolist()}
    assert told["dimension"] == 3
    assert not list(tmp_path.iterdir())  # JSON draws only when asked


def test_a_range_for_a_joint_that_slides(linkwise: Callable) -> None:
    told = linkwise("workspace", "scara_icomatic", *FEW)
    assert told.status == 2
    assert "'link3' of 'scara_icomatic' has no limits" in told.err
    assert "(--range JOINT=LEAST,GREATEST)" in told.err
    told = linkwise("workspace", "scara_icomatic", *FEW, "--range", "link3=-0.2,0.1", "--json")
    low, high = np.array(json.loads(told.out)["bounds"])
    assert high[2] - low[2] == pytest.approx(0.3)


def test_pointing_and_another_link(linkwise: Callable) -> None:
    told = linkwise("workspace", "puma560", *FEW, "--no-picture", "--pointing", "down", "--within", "20deg")
    assert told.status == 0
    assert "puma560: reachable region of the tool" in told.out
    told = linkwise("workspace", "puma560", *FEW, "--no-picture", "--link", "link3", "--mask", "rotation")
    assert "reachable region of link3" in told.out
    assert "manipulability of the orientation (2 directions)" in told.out


def test_where_there_is_no_volume(linkwise: Callable, tmp_path: Path) -> None:
    lw.save(lw.Mechanism([lw.Link.dh(a=1.0, convention="standard")], name="hand"), tmp_path / "hand.toml")
    assert "it stays on a curve" in linkwise("workspace", "hand.toml", *FEW, "--no-picture").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--range", "elbow=0,1"], "'elbow=0,1' is not JOINT=LEAST,GREATEST with a joint of 'link1'"),
        (["--range", "link1=1,0"], "'link1=1,0' is not JOINT=LEAST,GREATEST"),
        (["--range", "link1=one,0"], "'one' is not a number"),
        (["--pointing", "sideways"], "'sideways' is not a number"),
        (["--pointing", "0,0"], "expected X,Y,Z, up or down"),
        (["--pointing", "up", "--within", "200deg"], "not an angle above 0 and up to 180deg"),
        (["--link", "elbow"], "no link 'elbow'"),
        (["--plane", "zz"], "is not one of"),
        (["--samples", "10"], "10 is not in the range"),
        (["-o", "a.gif"], ".png, .svg or .pdf"),
        (["-o", "no/such/a.png"], "no folder"),
    ],
)
def test_options_that_cannot_be(linkwise: Callable, options: list[str], message: str) -> None:
    told = linkwise("workspace", "planar_2r", *FEW, *options)
    assert told.status == 2
    assert message in " ".join(told.err.split())


def test_loops_stay_closed(linkwise: Callable) -> None:
    told = linkwise("workspace", "five_bar", *FEW)
    assert told.status == 0, told.err
    assert "area" in told.out


def test_without_matplotlib_the_numbers_stay(linkwise: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    told = linkwise("workspace", "planar_2r", *FEW)
    assert told.status == 0
    assert "area" in told.out
    assert 'pip install "matplotlib>=3.8"' in told.err
    assert linkwise("workspace", "planar_2r", *FEW, "-o", "a.png").status == 2
