"""The command ``path``: the motion that it writes, what binds, and what it refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwise import robots
from linkwise.trajectory import MotionLimits, path_through, time_optimal

POINTS = "q1 [deg],q_link2\n0,0\n30,0.7\n90,0.2\n"
LIMITS = ("--qd-max", "1,2", "--qdd-max", "5", "--intervals", "60")


@pytest.fixture
def points(tmp_path: Path) -> str:
    path = tmp_path / "points.csv"
    path.write_text(POINTS)
    return str(path)


def test_the_motion_is_that_of_the_library_and_run_reads_it(linkwise: Callable, points: str, tmp_path: Path) -> None:
    printed = linkwise("path", "planar_2r", points, *LIMITS, "--rest", "2", "-o", "move.csv")
    assert printed.status == 0, printed.err
    rows = list(csv.reader(Path("move.csv").read_text().splitlines()))
    values = np.array(rows[1:], dtype=float)
    route = path_through([[0.0, 0.0], [np.pi / 6, 0.7], [np.pi / 2, 0.2]], names=("link1", "link2"))
    limits = MotionLimits(qd_max=[1.0, 2.0], qdd_max=5.0)
    move = time_optimal(route, robots.planar_2r(), limits, rests=[1.0], intervals=60, rate=1000.0)
    assert np.array_equal(values[:, 0], move.t)
    assert np.abs(values[:, 1:3] - move.q).max() < 1e-15
    assert np.allclose(values[:, 7:], robots.planar_2r().inverse_dynamics(move.q, move.qd, move.qdd))
    assert {part.name for part in move.binding} <= {" ".join(line.split()[:3]) for line in printed.out.splitlines()}
    again = linkwise("run", "planar_2r", "move.csv", "--no-figures", "-o", "results")
    assert again.status == 0, again.err


def test_jerk_and_json(linkwise: Callable, points: str) -> None:
    printed = linkwise("path", "planar_2r", points, *LIMITS, "--qddd-max", "60", "--json")
    facts = json.loads(printed.out)
    assert facts["usage"]["jerk of link2"] <= 1.0
    assert facts["binding"][0]["begin"] == 0.0
    assert abs(facts["binding"][-1]["end"] - facts["duration"]) < 1e-12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--qd-max", "1,2,3"], "qd_max is [1.0, 2.0, 3.0]; expected numbers >= 0, one or 2"),
        (["--rest", "7"], "there is no point 7; the file has 3"),
        ([], "there is no limit"),
        (["--qd-max", "1", "--qdd-max", "1", "--rate", "1e9"], "rate is 1000000000.0, "),
        (["--qdd-max", "0"], "qdd_max of joint 'link1' is 0"),
    ],
)
def test_refusals(linkwise: Callable, points: str, words: list[str], message: str) -> None:
    printed = linkwise("path", "planar_2r", points, *words)
    assert printed.status == 2
    assert message in printed.err


def test_a_file_without_a_joint(linkwise: Callable, tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("q1,x\n0,0\n1,1\n")
    printed = linkwise("path", "planar_2r", str(path), *LIMITS)
    assert printed.status == 2
    assert "the header has no column 'q2'" in printed.err
