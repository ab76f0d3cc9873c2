"""The distances of pairs are those of `distance`; nearest points lie that far apart."""

import numpy as np
import pytest

from linkwise import planar
from linkwise.errors import ArgumentError

BAR = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
ARM = planar.Mechanism([planar.Link(BAR, name="a"), planar.Link(BAR, a=1.0, name="b"), planar.Link(BAR, a=1.0, name="c")])
WALL = {"wall": [(1.5, 0.4), (1.7, 0.4), (1.7, 1), (1.5, 1)]}


def test_least_distances_and_points() -> None:
    q = np.random.default_rng(0).uniform(-2, 2, (4, 50, 3))
    result = ARM.clearance(q, WALL)
    assert result.pairs == (("a", "c"), ("a", "wall"), ("b", "wall"), ("c", "wall"))
    assert np.array_equal(result.least, planar.distance(ARM, q, obstacles=WALL))
    apart = np.linalg.norm(result.points[..., 1, :] - result.points[..., 0, :], axis=-1)
    print(abs(apart - result.distance).max())
    assert abs(apart - result.distance).max() < 1e-15
    assert np.array_equal(result.least == 0, ARM.collides(q, obstacles=WALL))
    assert tuple(result.nearest[2, 7]) == result.pairs[int(result.distance[2, 7].argmin())]


def test_a_picture_among_obstacles_joins_the_nearest_points() -> None:
    pytest.importorskip("matplotlib")
    q = [0.2, -0.6, 0.3]
    result = ARM.clearance(q, WALL)
    axes = ARM.draw(q, obstacles=WALL).axes[0]
    drawn = [line.get_xydata() for line in axes.lines if line.get_color() == "#d62728"]
    assert np.array_equal(drawn, result.points[np.argsort(result.distance)[:3]])
    assert any(f"{result.least:.3g} m" in text.get_text() for text in axes.texts)
    assert result.q.tolist() == q


def test_one_configuration_and_no_pairs() -> None:
    assert ARM.clearance([0.0, 0.0, 0.0]).distance.shape == (1,)
    assert np.isinf(planar.Mechanism([planar.Link(BAR)]).clearance([0.0]).least)


def test_without_pairs_nothing_is_nearest() -> None:
    alone = planar.Mechanism([planar.Link([(0, -0.05), (1, -0.05), (1, 0.05)], name="bar")]).clearance([0.0])
    assert alone.least == np.inf
    with pytest.raises(ArgumentError, match="no pair"):
        _ = alone.nearest
