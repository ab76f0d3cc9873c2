"""The configuration space of two joints: shapes known in closed form, what the grid proves, torus edges, its picture."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from linkwise import planar
from linkwise.errors import ArgumentError
from linkwise.planar.configuration_space import ROUNDING, _of_pi
from linkwise.plot.rendering import rendered

SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
WALL = [(1.1, 0.3), (1.4, 0.3), (1.4, 1.2), (1.1, 1.2)]
BOX = [(-1.2, -1.0), (-0.6, -1.0), (-0.6, -0.6), (-1.2, -0.6)]


@pytest.fixture(scope="module")
def arm() -> Any:
    upper = planar.Link(planar.rounded_bar(1.0, 0.16), name="upper")
    return planar.Mechanism([upper, planar.Link(planar.rounded_bar(0.8, 0.12), a=1.0, name="lower")], name="arm")


@pytest.fixture(scope="module")
def space(arm: Any) -> planar.ConfigurationSpace:
    return planar.configuration_space(arm, {"wall": WALL, "box": BOX}, points=91)


@pytest.fixture(scope="module")
def gantry() -> Any:
    """A square that slides along x on what slides along y."""
    rail = planar.Link((), "prismatic", at=(0.0, 0.0, np.pi / 2), theta=-np.pi / 2, name="rail", limits=(-2, 2))
    return planar.Mechanism([rail, planar.Link(SQUARE, "prismatic", name="tool", limits=(-1, 3))])


def test_a_square_that_slides_grows_the_obstacle_by_itself(gantry: Any) -> None:
    found = planar.configuration_space(gantry, [SQUARE + np.array([1.0, 0.25])], points=(17, 33))
    y, x = found.grid
    assert (y[0], y[-1], x[0], x[-1]) == (-2.0, 2.0, -1.0, 3.0)
    apart = np.maximum(np.abs(x - 1.0)[None, :], np.abs(y - 0.25)[:, None])
    clear_of_rounding = np.abs(apart - 1.0) > 1e-12  # cos of a right angle is not 0 exactly
    assert np.array_equal(found.occupied[clear_of_rounding], (apart < 1.0)[clear_of_rounding])
    assert found.wraps == (False, False)
    assert found.movement == pytest.approx(0.125 + 0.0625, rel=1e-8)  # half a step of each slide; it is rounded up by 1e-9


def test_the_first_link_makes_a_stripe(space: planar.ConfigurationSpace) -> None:
    assert space.pairs == [("upper", "wall"), ("upper", "box"), ("lower", "wall"), ("lower", "box")]
    stripe = space.by_pair[..., 1]
    assert np.array_equal(stripe, np.broadcast_to(stripe[:, :1], stripe.shape))
    assert 0 < stripe[:, 0].sum() < 20
    assert np.array_equal(space.occupied, space.by_pair.any(axis=-1))
    assert space.by_pair[..., 2].any(axis=0).sum() > 20


def test_the_grid_is_what_collides_says(arm: Any, space: planar.ConfigurationSpace) -> None:
    q = space.configurations()
    assert q.shape == (91, 91, 2)
    assert np.array_equal(space.occupied, planar.collides(arm, q, obstacles={"wall": WALL, "box": BOX}))


def test_edges_of_a_torus_are_alike(space: planar.ConfigurationSpace) -> None:
    assert space.wraps == (True, True)
    assert np.array_equal(space.by_pair[0], space.by_pair[-1])
    assert np.array_equal(space.by_pair[:, 0], space.by_pair[:, -1])
    assert space.grid[0][[0, -1]].tolist() == [-np.pi, np.pi]


def test_what_is_proved_free_is_free_between_the_points(arm: Any) -> None:
    coarse = planar.configuration_space(arm, {"wall": WALL, "box": BOX}, points=25)
    assert not (coarse.clear & coarse.occupied).any()
    half = np.pi / 24
    rng = np.random.default_rng(1)
    off = half * np.concatenate([rng.uniform(-1, 1, (12, 2)), [(-1, -1), (-1, 1), (1, -1), (1, 1)]])
    around = coarse.configurations()[coarse.clear][:, None] + off
    assert len(around) > 200
    assert not planar.collides(arm, around, obstacles={"wall": WALL, "box": BOX}).any()
    between = coarse.configurations()[coarse.near & ~coarse.occupied][:, None] + off
    assert planar.collides(arm, between, obstacles={"wall": WALL, "box": BOX}).any()  # so the proof is not idle


def test_a_needle_that_slips_through_the_grid_is_not_proved_free(arm: Any) -> None:
    angle = np.pi / 18 * 0.47  # about the middle between two points of the grid
    spot = np.array([1.6 * np.cos(angle), 1.6 * np.sin(angle)])
    needle = {"needle": spot + 1e-4 * SQUARE}
    found = planar.configuration_space(arm, needle, points=37)
    straight = np.array([angle, 0.0])
    assert planar.collides(arm, straight, obstacles=needle)
    i, j = (int(np.argmin(np.abs(values - value))) for values, value in zip(found.grid, straight, strict=True))
    assert not found.occupied[i, j]
    assert found.near[i, j]


def test_a_margin_is_kept_at_the_points_and_in_the_proof(arm: Any) -> None:
    options: dict[str, Any] = {"obstacles": {"wall": WALL, "box": BOX}, "margin": 0.3}
    found = planar.configuration_space(arm, points=41, **options)
    q = found.configurations()
    assert np.array_equal(found.occupied, arm.collides(q, **options))
    assert found.occupied.sum() > 1.2 * arm.collides(q, obstacles=options["obstacles"]).sum()
    off = np.pi / 40 * np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
    assert not arm.collides(q[found.clear][:, None] + off, **options).any()
    assert found.clear.any()


def far_away() -> tuple[Any, dict[str, Any], Any]:
    """A turned square that slides by 10 nm, 4000 km from the origin, where numbers are 0.5 nm apart; a wall beside it."""
    far = 4e6
    rail = planar.Link((), "prismatic", a=far, limits=(0.0, 1e-8), name="rail")
    tool = planar.Link(SQUARE, "prismatic", at=(0.0, 0.0, 0.7), limits=(0.0, 1e-8), name="tool")
    wall = {"wall": SQUARE + np.array([far + 0.5 + 0.5 * (np.cos(0.7) + np.sin(0.7)) + 6e-9, 0.1])}
    off = np.random.default_rng(0).uniform(-2.5e-10, 2.5e-10, (20, 2))
    return planar.Mechanism([rail, tool]), wall, off


def test_rounding_of_the_places_is_part_of_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, wall, off = far_away()
    hits = []
    for rounding in (ROUNDING, 0.0):
        monkeypatch.setattr(sys.modules["linkwise.planar.configuration_space"], "ROUNDING", rounding)
        found = planar.configuration_space(mechanism, wall, points=21)
        hits.append(planar.collides(mechanism, found.configurations()[found.clear][:, None] + off, obstacles=wall).sum())
    assert hits[0] == 0
    assert hits[1] > 0  # without it the proof would be wrong


def test_spaces_are_told_apart(space: planar.ConfigurationSpace) -> None:
    assert space in {space}
    assert space != planar.configuration_space(space.check.mechanism, points=2)


def test_movement_is_the_longest_reach_times_half_a_step(arm: Any) -> None:
    found = planar.configuration_space(arm, [BOX], points=(41, 81))
    lower = 0.8 + 0.06  # to the end of the rounded bar
    assert found.movement == pytest.approx((1.0 + lower) * np.pi / 40 + lower * np.pi / 80, rel=1e-8)


def test_reach_counts_what_slides_out_and_what_is_between(arm: Any) -> None:
    links = [
        planar.Link((), name="turn"),
        planar.Link((), "prismatic", name="slide", limits=(0.2, 1.5)),
        planar.Link(planar.bar(0.5, 0.2), "fixed", at=(0.1, 0.3, 0.4), name="hand"),
    ]
    found = planar.configuration_space(planar.Mechanism(links), [BOX], points=11)
    reach = 1.5 + np.hypot(0.1, 0.3) + np.hypot(0.6, 0.1)
    assert found.movement == pytest.approx(reach * np.pi / 10 + 0.065, rel=1e-8)


def test_links_that_move_alike_come_no_nearer() -> None:
    rod = planar.bar(1.0, 0.1)
    links = [planar.Link(rod, a=float(k > 0), name=f"link{k}") for k in range(4)]
    chain = planar.Mechanism(links)
    found = planar.configuration_space(chain, pairs=[(1, 3)], joints=("link0", "link3"), points=21, at=[0, 0.3, 2.5, 0])
    assert np.array_equal(found.by_pair, np.broadcast_to(found.by_pair[:1], found.by_pair.shape))
    assert found.movement == pytest.approx(np.hypot(1.05, 0.05) * np.pi / 20, rel=1e-8)
    assert found.occupied.any()
    assert found.clear.any()


def test_other_joints_are_held_and_ranges_can_be_given(arm: Any) -> None:
    found = planar.configuration_space(
        arm, [BOX], joints=("lower", 0), points=(5, 3), limits=[(0, 1), (-2, 2)], at=[0.3, 0.4]
    )
    q = found.configurations()
    assert q[4, 0].tolist() == [-2.0, 1.0]
    assert found.wraps == (False, False)
    three = planar.Mechanism([*arm.links, planar.Link(a=0.8, name="hand")])
    q = planar.configuration_space(three, [BOX], joints=(0, 2), points=3, at=[9.0, 0.4, 9.0]).configurations()
    assert np.array_equal(q[..., 1], np.full((3, 3), 0.4))


def test_other_joints_are_held_within_their_limits(arm: Any) -> None:
    three = planar.Mechanism([*arm.links, planar.Link(planar.bar(0.3, 0.1), a=0.8, name="hand", limits=(0.5, 1.0))])
    assert planar.configuration_space(three, [BOX], points=3).at.tolist() == [0.0, 0.0, 0.5]
    with pytest.raises(ArgumentError, match=r"at.*0.*within.*limits.*0\.5.*1"):
        planar.configuration_space(three, [BOX], points=3, at=[0.0, 0.0, 0.0])


def test_in_words(space: planar.ConfigurationSpace) -> None:
    assert str(space).startswith("upper and lower: 91 x 91 configurations, 19.")
    assert "polygons come up to 0.0949 m nearer, collision is not excluded" in str(space)
    assert repr(space).startswith("<ConfigurationSpace: 91 x 91 configurations, 19.")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"joints": (0, 0)}, "two different coordinates of 'upper' or 'lower'"),
        ({"joints": (0, "elbow")}, "'elbow'; expected two different"),
        ({"joints": "upper"}, "'upper'; expected two different"),
        ({"points": 1}, "points: 1; expected"),
        ({"points": None}, "points: None; expected"),
        ({"joints": 1}, "joints: 1; expected two different"),
        ({"points": (3, 4, 5)}, "expected one or two whole numbers"),
        ({"limits": [(0, 7), (0, 1)]}, "'upper': 0 to 7 rad; expected no more than one turn"),
        ({"limits": [(1, 0), (0, 1)]}, "the lesser first"),
        ({"limits": [("a", 0), (0, 1)]}, "two rows of two finite numbers"),
        ({"limits": [(0, 1)]}, "limits: .*expected"),
        ({"at": [0.0]}, "shape"),
        ({"at": [0.0, np.inf]}, "inf"),
        ({"margin": -1.0}, "margin: -1.0"),
    ],
)
def test_what_makes_no_grid_is_refused(arm: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        planar.configuration_space(arm, [BOX], **options)


def test_slides_without_ends_and_loops_are_refused(arm: Any, gantry: Any) -> None:
    links = [planar.Link(name="turn"), planar.Link((), "prismatic", name="slide")]
    with pytest.raises(ArgumentError, match=r"limits.*'slide'.*finite"):
        planar.configuration_space(planar.Mechanism(links), [BOX])
    with pytest.raises(ArgumentError, match=r"'tool'.*0.*4.*-1.*3"):
        planar.configuration_space(gantry, [BOX], limits=[(0, 1), (0, 4)])
    with pytest.raises(ArgumentError, match=r"'mechanism'.*1.*coordinates"):
        planar.configuration_space(planar.Mechanism([planar.Link(name="turn")]), [BOX])
    closed = arm.replace(loops=[planar.Loop("lower", (0.8, 0.0), "world", (1.0, 0.0))])
    with pytest.raises(ArgumentError, match="has loops"):
        planar.configuration_space(closed, [BOX])


@pytest.fixture(scope="module")
def picture(space: planar.ConfigurationSpace) -> Any:
    return space.draw()


def test_picture_tells_units_edges_and_regions(picture: Any) -> None:
    workspace, grid = picture.axes
    assert (workspace.get_xlabel(), workspace.get_ylabel()) == ("x [m]", "y [m]")
    assert (grid.get_xlabel(), grid.get_ylabel()) == ("upper [rad]", "lower [rad]")
    assert [axis.get_xlabel() + axis.get_ylabel() for axis in grid.child_axes] == ["[deg]", "[deg]"]
    assert "torus" in grid.get_title()
    said = [words.get_text() for words in picture.legends[0].get_texts()]
    assert said[:3] == ["upper meets box", "lower meets wall", "lower meets box"]  # the first link does not reach the wall
    assert any("stripes" in words for words in said)


def test_picture_shows_the_points_in_their_places(space: planar.ConfigurationSpace, picture: Any) -> None:
    (mesh,) = picture.axes[1].collections[:1]
    colours = mesh.get_array().reshape(91, 91, 3)  # rows along the second joint
    white = np.all(colours == 1.0, axis=-1)
    assert np.array_equal(white, space.clear.T)


def test_path_is_wrapped_and_checked(arm: Any, space: planar.ConfigurationSpace) -> None:
    made = space.draw([[2.2, 2.0], [3.8, 2.0]])  # over the edge, and on into the box
    lines = {line.get_marker(): line for line in made.axes[1].lines if line.get_color() in ("black", "#b3261e")}
    x, _ = lines["None"].get_data()
    assert np.isnan(x).sum() == 1
    assert np.nanmin(x) < -2.4
    assert np.nanmax(x) > 3.0
    marked = np.stack(lines["x"].get_data(), axis=1)
    assert 0 < len(marked) < np.isfinite(x).sum()
    assert planar.collides(arm, marked, obstacles={"wall": WALL, "box": BOX}).all()
    free = space.draw([[0.9, 2.0], [1.2, 2.5]])
    assert "path in collision" not in [words.get_text() for words in free.legends[0].get_texts()]


def test_two_columns_of_a_path_are_the_joints_in_their_order(arm: Any) -> None:
    turned = planar.configuration_space(arm, [BOX], joints=("lower", "upper"), points=5)
    made = turned.draw([[0.1, 0.5], [0.2, 0.6]])
    (line,) = [line for line in made.axes[1].lines if line.get_color() == "black" and line.get_marker() == "None"]
    off = np.abs(line.get_xydata() - [[0.1, 0.5], [0.2, 0.6]]).max()
    assert off <= 4 * np.finfo(float).eps * np.pi  # (taken into the turn from -pi on, and back)
    assert drawn_first(made, arm, [0.5, 0.1])


def drawn_first(made: Any, arm: Any, q: Any) -> bool:
    """Whether the workspace shows the upper link at q."""
    placed = arm.place(q)[0][0]
    outlines = [patch.get_xy()[:-1] for patch in made.axes[0].patches if hasattr(patch, "get_closed")]
    return any(one.shape == placed.shape and np.abs(one - placed).max() < 1e-13 for one in outlines)  # (a few roundings)


@pytest.mark.parametrize("path", [[[0.0, 1.0, 2.0]], [0.0, 1.0], [[0.0, np.nan]], "there"])
def test_no_path(space: planar.ConfigurationSpace, path: Any) -> None:
    with pytest.raises(ArgumentError, match="path: "):
        space.draw(path)


def test_what_is_held_and_the_posture_drawn() -> None:
    rods = [planar.Link(planar.bar(0.8, 0.1), a=0.8 * (k > 0), name=f"rod{k}", limits=(-1, 1)) for k in range(3)]
    found = planar.configuration_space(planar.Mechanism(rods), {"wall": WALL}, joints=(0, 2), points=9, at=[2, 0.5, -3])
    assert found.held == "held: rod1 at 0.5 rad"
    assert str(found).endswith("\n" + found.held)
    made = found.draw()
    assert made.axes[1].get_title().endswith("\nheld: rod1 at 0.5 rad")
    (dot,) = [line for line in made.axes[1].lines if line.get_marker() == "o"]
    assert dot.get_xydata().tolist() == [[1.0, -1.0]]  # the two joints as near to `at` as their ranges let them
    links = [patch for patch in made.axes[0].patches if hasattr(patch, "get_closed") and patch.get_zorder() == 2.0]
    fills = {tuple(patch.get_edgecolor()) for patch in links}
    assert len(links) == 3
    assert len(fills) == 1


def test_nothing_is_held_of_two_joints(space: planar.ConfigurationSpace) -> None:
    assert space.held == ""
    assert "held" not in str(space)


def test_limits_are_thick_edges(gantry: Any) -> None:
    made = planar.configuration_space(gantry, [SQUARE + np.array([1.0, 0.25])], points=9).draw()
    grid = made.axes[1]
    assert grid.get_xlabel() == "rail [m]"
    assert "thick edges: limits" in grid.get_title()
    assert {spine.get_linestyle() for spine in grid.spines.values()} == {"-"}
    assert len(rendered(made, "png")) > 1000


def test_many_pairs_share_colours_by_obstacle() -> None:
    rod = planar.bar(0.8, 0.1)
    chain = planar.Mechanism([planar.Link(rod, a=0.8 * (k > 0), name=f"link{k}") for k in range(5)])
    found = planar.configuration_space(chain, {"wall": WALL}, joints=(0, 2), points=41, at=[0, 0.5, 0, 1.5, 1.5])
    said = [words.get_text() for words in found.draw().legends[0].get_texts()]
    assert {"two links meet", "a link meets wall"} <= set(said)


def test_parts_of_pi() -> None:
    values = np.pi * np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0])
    assert [_of_pi(value) for value in values] == ["−π", "−π/2", "0", "π/2", "π", "3π/2", "2π"]
