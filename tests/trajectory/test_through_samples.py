"""How many instants a motion through points has where nobody says: 101, or the points' own times where they are more."""

import numpy as np
import pytest

import linkwise as lw


@pytest.mark.parametrize(("count", "instants"), [(2, 101), (101, 101), (102, 102), (151, 151)])
def test_no_fewer_instants_than_points(count: int, instants: int) -> None:
    t = np.cumsum(np.linspace(0.01, 0.02, count))
    q = np.sin(t)[:, None]
    made = lw.trajectory.through(q, t)
    assert len(made.t) == instants
    if instants > 101:
        assert np.array_equal(made.t, t)
        assert np.abs(made.q - q).max() < 1e-14  # a spline at its own points: rounding
    assert len(lw.trajectory.through(q, t, samples=11).t) == 11


def test_cartesian_too() -> None:
    t = np.linspace(0.0, 3.0, 120)
    poses = np.tile(np.eye(4), (120, 1, 1))
    poses[:, 0, 3] = np.linspace(0.0, 1.0, 120) ** 2
    made = lw.trajectory.cartesian_through(poses, t)
    assert np.array_equal(made.t, t)
