"""A .csv of positions alone can be looked at: its speeds are taken from the positions, and that is told."""

from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import FileError
from linkwise.view.motion import DERIVED, given_motion

ARM = lw.robots.planar_2r()
T = np.linspace(0.0, 1.0, 41)
Q = np.stack([T**2, 0.5 - T], axis=1)


def test_speeds_are_taken_from_the_positions(tmp_path: Path) -> None:
    path = tmp_path / "moved.csv"
    np.savetxt(path, np.column_stack((T, Q)), delimiter=",", header="t," + ",".join(ARM.names), comments="")
    made, notes = given_motion(ARM, path)
    assert notes == (DERIVED,)
    assert np.allclose(made.q, Q, atol=1e-15)
    assert np.abs(made.qd - np.stack([2.0 * T, -np.ones_like(T)], axis=1)).max() < 1e-12  # parabolas: rounding over steps
    assert np.array_equal(made.q, given_motion(ARM, (made.t, made.q))[0].q)


def test_a_whole_motion_is_taken_as_it_is(tmp_path: Path) -> None:
    lw.trajectory.through(Q, T).save(tmp_path / "moved.csv")
    assert given_motion(ARM, tmp_path / "moved.csv")[1] == ()


def test_half_of_the_speeds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "moved.csv").write_text("t,q1,q2,qd1\n0,0,0,0\n1,0,0,0\n")
    with pytest.raises(FileError, match="no column 'qd2'"):
        given_motion(ARM, tmp_path / "moved.csv")
