"""Closed configurations: driven coordinates stay, loops are closed as the plane sees them, and failures are told."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from linkwise import planar, robots
from linkwise.errors import ArgumentError
from linkwise.planar import Link, Loop, Mechanism
from linkwise.planar.spatial import CLOSED


@pytest.fixture(scope="module")
def four_bar() -> Mechanism:
    """Crank 1, coupler 3, rocker 2.5, frame 3 m, with shapes."""
    links = [
        Link(planar.bar(1.0, 0.2), name="crank"),
        Link(planar.bar(3.0, 0.2), name="coupler", a=1.0),
        Link(planar.bar(2.5, 0.2), name="rocker", parent="world", a=3.0, limits=(0.5, 2.9)),
    ]
    return Mechanism(links, [Loop("coupler", (3.0, 0.0), "rocker", (2.5, 0.0), name="pin")], name="four-bar")


def rocker_angle(crank: float) -> float:
    """The rocker's angle where the coupler is above the frame, by the law of cosines at the rocker's two triangles."""
    x, y = 3.0 - math.cos(crank), -math.sin(crank)  # from the crank's end to the rocker's joint
    across = math.hypot(x, y)
    return math.atan2(-y, -x) - math.acos((across**2 + 2.5**2 - 3.0**2) / (2.0 * across * 2.5))


def test_a_four_bar_is_placed_in_one_call(four_bar: Mechanism) -> None:
    turn = np.linspace(0.0, 2.0 * math.pi, 13)
    q = four_bar.close(np.stack([turn, np.full(13, 0.5), np.full(13, 1.8)], axis=-1), driven="crank")
    assert (q[:, 0] == turn).all()
    expected = [rocker_angle(angle) for angle in turn]
    # (the loops are closed to 1e-12 of the longest offset, 3 m, and the circles of coupler and rocker meet at a clear angle)
    assert abs(np.angle(np.exp(1j * (q[:, 2] - expected)))).max() <= 1e-10
    placed = four_bar.place(q)
    ends = [np.mean(placed[k][0][:, 1:3], axis=1) for k in (1, 2)]  # of the middle line, half a width beyond the pin
    apart = np.linalg.norm(ends[0] - ends[1], axis=-1)
    assert (apart <= 0.2 + 1e-9).all()
    assert abs(four_bar.gaps(q)).max() <= CLOSED * 4.0


def test_without_driven_coordinates_the_loops_are_closed_near_by(four_bar: Mechanism) -> None:
    closed = four_bar.close([0.8, 0.1, 1.6], driven=["crank"])
    moved = four_bar.close(closed + np.array([1e-3, -1e-3, 1e-3]))
    assert abs(moved - closed).max() < 1e-2
    assert abs(four_bar.gaps(moved)).max() <= CLOSED * 4.0


def test_a_slider_crank_gives_the_textbooks_place_of_the_slider() -> None:
    made = planar.from_spatial(robots.slider_crank())
    q = made.close([0.7, 0.0, 0.0], driven="crank")
    r, rod = 0.05, 0.2
    slider = r * math.cos(0.7) + math.sqrt(rod**2 - (r * math.sin(0.7)) ** 2)
    assert abs(made.poses(q)[2, 0, 2] - slider) <= 1e-11


def test_what_cannot_be_closed_is_refused(four_bar: Mechanism) -> None:
    with pytest.raises(ArgumentError, match=r"'four-bar'.*9"):
        four_bar.close([0.5, 0.0, 9.0], driven="rocker")
    q = [[0.5, 0.5, 1.8], [0.5, 0.5, 2.95]]
    with pytest.raises(ArgumentError, match=r"\(1,\).*'four-bar'"):
        four_bar.close(q, driven="rocker")
    with pytest.raises(ArgumentError, match="driven"):
        four_bar.close([0.5, 0.5, 1.8], driven=["crank", "rocker"])
    with pytest.raises(ArgumentError, match="'wheel'"):
        four_bar.close([0.5, 0.5, 1.8], driven="wheel")


def test_a_tree_is_closed_everywhere() -> None:
    made = Mechanism([Link(), Link(a=1.0)])
    q = np.array([[0.3, 0.4]])
    assert (made.close(q) == q).all()
    assert made.gaps(q).shape == (1, 0, 3)
    with pytest.raises(ArgumentError, match="has no loops"):
        made.linkage()


def test_a_rigid_connection_closes_its_angle_too() -> None:
    """A triangle of two rods whose ends are joined rigidly: nothing moves, and the angle is that of the triangle."""
    links = [Link(name="left"), Link(name="right", parent="world", a=1.0)]
    made = Mechanism(links, [Loop("left", (1.0, 0.0), "right", (1.0, 0.0), "fixed", math.pi / 3)], name="triangle")
    q = made.close([1.0, 2.0])
    assert abs(q - [math.pi / 3, 2 * math.pi / 3]).max() <= 1e-11
    assert abs(made.gaps(q)).max() <= CLOSED
    assert abs(made.gaps([math.pi / 3, 2 * math.pi / 3 + 0.1])[0, 2] - math.sin(0.1)) <= 1e-15
    assert made.freedoms(q).by_rank == 0


def test_the_linkage_is_kept(four_bar: Mechanism) -> None:
    assert four_bar.linkage("crank") is four_bar.linkage(["crank"])
    assert four_bar.linkage("crank").passive == ("coupler", "rocker")


def test_what_the_solver_calls_closed_is_looked_at_again(four_bar: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = SimpleNamespace(success=np.array(True), q=four_bar.close([0.8, 0.1, 1.6]) + np.array([0.0, 1e-9, 0.0]))
    monkeypatch.setattr("linkwise.planar.spatial.assemble", lambda *_: claimed)
    with pytest.raises(ArgumentError, match=r"'four-bar'.*'pin'.*-1"):
        four_bar.close([0.8, 0.1, 1.6])
