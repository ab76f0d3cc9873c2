"""A motion up to a time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import Link, Mechanism
from linkwise.errors import ArgumentError
from linkwise.trajectory import Trajectory, quintic

FALL = Mechanism([Link(joint="prismatic", axis=(0, 0, 1), mass=2.0)], gravity=(0, 0, -10.0))


def ground(t: Any, q: Any, qd: Any) -> Any:
    return q[..., 0] + 1.25


ground.terminal = True  # type: ignore[attr-defined]


def test_what_a_terminal_event_ended_is_saved(tmp_path: Path) -> None:
    fall = lw.simulate(FALL, torque=np.ones((10, 1)), t=(1.0, 0.1), events=ground, energies=True)
    made = fall.until(fall.events[0].time)
    print(made)
    assert len(made) == 6 < len(fall)  # -(10 - 1/2) t^2 / 2 is -1.25 at 0.513 s
    assert made.events == fall.events
    for name in ("t", "q", "qd", "qdd", "tau", "kinetic", "potential"):
        short, whole = getattr(made, name), getattr(fall, name)
        assert np.isfinite(short).all()
        assert np.array_equal(short, whole[:6])
    assert all(np.array_equal(a, b) for a, b in zip(made.at([0.33, 0.47]), fall.at([0.33, 0.47]), strict=True))
    for a, b in zip(
        made.at([0.5]), (made.q, made.qd, made.qdd), strict=True
    ):  # also where an interval begins that has no end
        assert np.array_equal(a[0], b[5])
    assert np.array_equal(fall.until(0.05).at(0.0)[0], fall.q[0])
    made.save(tmp_path / "fall.csv")
    made.save(tmp_path / "fall.npz")
    assert np.array_equal(Trajectory.load(tmp_path / "fall.npz").q, made.q)


def test_batches_poses_and_planned_motions() -> None:
    many = quintic(np.zeros((2, 3, 1)), np.ones((2, 3, 1)), np.linspace(0.0, 1.0, 11))
    many = many.with_records(poses=np.broadcast_to(np.eye(4), (2, 3, 11, 4, 4)))
    made = many.until(many.t[4])
    assert made.q.shape == (2, 3, 5, 1)
    assert made.poses is not None
    assert made.poses.shape == (2, 3, 5, 4, 4)
    assert all(np.array_equal(a, b) for a, b in zip(made.at(0.37), many.at(0.37), strict=True))
    assert len(many.until(5.0)) == 11
    assert len(many.until(0)) == 1
    with pytest.raises(ArgumentError, match=r"time.*0\.9.*0\.0.*0\.4"):
        made.at(0.9)


@pytest.mark.parametrize(("time", "shown"), [(-0.1, "-0.1"), ([0.1, 0.2], r"\[0.1, 0.2\]")])
def test_times_that_are_none(time: Any, shown: str) -> None:
    with pytest.raises(ArgumentError, match=f"time is {shown}; expected a time, s, from 0 on"):
        quintic([0.0], [1.0], 1.0).until(time)
