"""The command ``sweep``: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwise import robots
from linkwise.parameter_sweep import Sweep

SMALL = ("--samples", "300", "--chunk", "100", "--format", "npz", "--processes", "1")


def test_results_are_those_of_the_library_and_are_kept(linkwise: Callable, tmp_path: Path) -> None:
    over = ("--over", "mass:link2=1..5", "--over", "q:link1=-90deg..90deg")
    printed = linkwise("sweep", "planar_2r", *over, *SMALL)
    assert printed.status == 0, printed.err
    lines = [line.split() for line in printed.out.splitlines()]
    assert ["mass:link2", "1", "5"] in lines
    assert "3 of 3 chunks computed, in" in printed.out
    assert lines[-1] == ["results:", str(Path("out", "planar_2r_sweep"))]
    ranges = {"mass:link2": (1.0, 5.0), "q:link1": (-np.pi / 2, np.pi / 2)}
    wanted = Sweep.of(robots.planar_2r(), "inverse_dynamics", ranges, samples=300, chunk=100).compute(1)
    with np.load(tmp_path / "out" / "planar_2r_sweep" / "part-000001.npz") as arrays:
        assert all(np.array_equal(arrays[name], wanted[name]) for name in wanted)
    again = linkwise("sweep", "planar_2r", *over, *SMALL)
    assert "0 of 3 chunks computed, 3 were there, in" in again.out
    other = linkwise("sweep", "planar_2r", "--over", "mass:link2=1..6", *SMALL)
    assert other.status == 2
    assert "holds results of another 'over'" in other.err


def test_json(linkwise: Callable) -> None:
    words = (
        "--samples",
        "1e2",
        "--chunk",
        "100",
        "--format",
        "npz",
        "--algorithm",
        "gravity_torque",
        "-o",
        "here",
        "--json",
    )
    printed = json.loads(linkwise("sweep", "planar_2r", *words).out)
    assert printed.pop("seconds") > 0.0
    assert printed == {
        "mechanism": "planar_2r",
        "algorithm": "gravity_torque",
        "samples": 100,
        "chunks": 1,
        "seed": 0,
        "over": {},
        "columns": {"q": ["q_link1", "q_link2"], "tau": ["tau_link1", "tau_link2"]},
        "computed": 1,
        "folder": "here",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--over", "mass:link2"], "is not NAME=A..B, such as mass:link2=1..5"),
        (["--over", "mass:link2=1,2..5"], "is not NAME=A..B with two numbers"),
        (["--over", "q:link1=1mm..2mm"], "an angle stands here"),
        (["--over", "weight=1..2"], "no parameter 'weight'"),
        (["--samples", "1.5"], "'1.5' is not a whole number above 0"),
        (["--algorithm", "inverse_dynamic"], "no algorithm 'inverse_dynamic'"),
    ],
)
def test_refusals(linkwise: Callable, words: list[str], message: str) -> None:
    printed = linkwise("sweep", "planar_2r", *words)
    assert printed.status == 2
    assert message in printed.err
