"""Mobility by rank and by count, the reason where they differ, and which equations are independent."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.errors import ArgumentError
from linkwise.loops.mobility import mobility
from linkwise.spatial.transform import translation
from support.loop_mechanisms import (
    bennett,
    bundled,
    parallelogram,
    planar_four_bar,
    planar_slider_crank,
    spatial_loop,
    spherical_four_bar,
    triangle,
)

pytestmark = pytest.mark.usefixtures("uncompiled")

KNOWN = {
    # freedoms, count in space, count in a plane or on a sphere, word of the reason
    "four-bar": (lambda: planar_four_bar(1.0, 4.0, 3.0, 4.0), 1, -2, 1, "planar"),
    "four-bar, point": (lambda: planar_four_bar(1.0, 4.0, 3.0, 4.0, "point"), 1, 0, 1, "planar"),
    "slider-crank": (planar_slider_crank, 1, 0, 1, "planar"),
    "triangle": (triangle, 0, -3, 0, "planar"),
    "bennett": (bennett, 1, -2, None, "dimensions are such"),
    "spherical": (spherical_four_bar, 1, -2, 1, "spherical"),
    "seven joints": (lambda: spatial_loop("full")[0], 1, 1, None, "All closure equations are independent"),
    "six joints and a hinge": (lambda: spatial_loop("hinge")[0], 1, 1, None, "All closure equations are independent"),
    "four joints and a point": (lambda: spatial_loop("point")[0], 1, 1, None, "All closure equations are independent"),
    "floating": (lambda: spatial_loop("point", floating=True, mimic=True)[0], 7, 7, None, "equations are independent"),
    "followers": (lambda: spatial_loop("hinge", mimic=True)[0], 1, 1, None, "All closure equations are independent"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_mechanisms(name: str) -> None:
    make, freedoms, counted, flat, word = KNOWN[name]
    found = mobility(make())
    print(found)
    assert (int(found), found.counted, found.counted_planar) == (freedoms, counted, flat)
    assert word in found.reason
    assert not found.singular
    assert found.generic == freedoms
    assert found.redundant == freedoms - counted
    assert f"{freedoms} degree" in repr(found)


@pytest.mark.parametrize(
    ("name", "freedoms"),
    [("four_bar", 1), ("slider_crank", 1), ("five_bar", 2), ("jansen", 1), ("delta", 3), ("stewart", 6)],
)
def test_bundled_linkages(name: str, freedoms: int) -> None:
    mech = bundled(name)
    assert int(mobility(mech)) == freedoms
    assert np.linalg.matrix_rank(mech.kernel("closure_jacobian")(mech.neutral), tol=1e-9) == mech.n - freedoms


def test_the_flat_parallelogram_is_singular() -> None:
    found = mobility(parallelogram(), [0.0, 0.0, 0.0])
    assert (found.freedoms, found.generic, found.singular) == (2, 1, True)
    assert "This position is singular: 1 more equation repeats others" in found.reason
    beside = mobility(parallelogram(), [0.3, -0.3, 0.3])
    assert (beside.freedoms, beside.singular) == (1, False)


def test_a_second_coupler_changes_nothing_but_the_count() -> None:
    """On the branch of the parallelogram, which counts; on the other one, crank and rocker opposed, it is a structure."""
    found = mobility(parallelogram(second_coupler=True), [0.3, -0.3, 0.3, -0.3])
    assert (int(found), found.counted, found.counted_planar) == (1, -6, 0)
    assert "1 of them because of its dimensions alone" in found.reason
    anywhere = mobility(parallelogram(second_coupler=True))
    assert (int(anywhere), anywhere.generic, anywhere.singular) == (1, 1, False)


def test_a_dead_truss_can_shake_and_not_move() -> None:
    """Three bars in one line: by rank one freedom, yet the only position there is."""
    bars = triangle()
    links = [bars.links[0], bars.links[1].replace(before=translation(1.5))]
    flat = bars.replace(links=links)
    found = mobility(flat, [0.0, np.pi])
    assert (found.freedoms, found.generic) == (1, 0)


def test_without_loops_every_speed_is_free() -> None:
    arm = Mechanism([Link(name="a", joint="revolute"), Link(name="b", joint="prismatic")], floating=True)
    assert int(mobility(arm)) == 8


def test_open_positions_are_refused() -> None:
    mech = planar_four_bar(1.0, 4.0, 3.0, 4.0)
    with pytest.raises(ArgumentError, match=r"'four-bar'.*0.*4"):
        mobility(mech, [0.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match=r"q has the shape \(2,\); expected \(3,\)"):
        mobility(mech, [0.0, 0.0])
    apart = planar_four_bar(1.0, 1.0, 1.0, 10.0)
    with pytest.raises(ArgumentError, match=r"'four-bar'.*1e-12"):
        mobility(apart)
