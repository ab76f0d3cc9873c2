"""Pictures of planar mechanisms: everything in the place that the text's formulas give it, told apart, nothing cut off."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Circle, FancyBboxPatch, Polygon

from linkwise import planar
from linkwise.errors import ArgumentError, MissingExtraError
from linkwise.plot.rendering import rendered

SQUARE = [(-0.2, -0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2)]


def text_T(theta: float, a: float) -> np.ndarray:
    """T_i of the text: a turn by theta_i, then a shift by a_{i-1} along x (LaValle 2006, section 3.3.1)."""
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s, a], [s, c, 0.0], [0.0, 0.0, 1.0]])


def moved(T: np.ndarray, polygon: Any) -> np.ndarray:
    return np.asarray(polygon) @ T[:2, :2].T + T[:2, 2]


def outlines(axes: Any) -> list[np.ndarray]:
    """Corners of all bodies and obstacles that are drawn."""
    return [patch.get_xy()[:-1] for patch in axes.patches if isinstance(patch, Polygon)]


def drawn(axes: Any, polygon: np.ndarray) -> bool:
    found = [one for one in outlines(axes) if one.shape == polygon.shape]
    return any(np.abs(one - polygon).max() < 1e-13 for one in found)  # a few roundings of coordinates of the size 1 to 3


def pins(axes: Any, filled: bool = False) -> list[tuple[float, ...]]:
    wanted = 0.0 if filled else 1.0
    found = [
        patch for patch in axes.patches if isinstance(patch, Circle) and (patch.get_facecolor()[0] == 1.0) == bool(wanted)
    ]
    return sorted(tuple(np.round(patch.center, 9)) for patch in found)


def assert_nothing_is_cut_off(made: Any) -> None:
    canvas = FigureCanvasAgg(made)
    canvas.draw()
    box = made.get_tightbbox(canvas.get_renderer())
    width, height = made.get_size_inches()
    assert box.x0 >= 0.0
    assert box.y0 >= 0.0
    assert box.x1 <= width
    assert box.y1 <= height


@pytest.fixture(scope="module")
def chain() -> Any:
    """Three links, each offset by 45 degrees from the one before."""
    rod = planar.bar(1.0, 0.2)
    return planar.Mechanism([planar.Link(rod), planar.Link(rod, a=1.0), planar.Link(rod, a=1.2)], name="chain")


STEPS = [np.pi / 4] * 3


def mixed() -> Any:
    links = [
        planar.Link([(-0.5, -0.3), (1, -0.3), (1, 0), (-0.5, 0)], "fixed", name="bed"),
        planar.Link(planar.rounded_bar(0.6, 0.12), "prismatic", theta=np.pi / 2, name="slider", limits=(0, 1)),
        planar.Link([planar.rounded_bar(0.5, 0.1), [(0.4, 0.1), (0.6, 0.1), (0.5, 0.3)]], a=0.6, name="$x^2 hand"),
        planar.Link(planar.bar(0.5, 0.1), at=(0.6, 0.0, 1.0), parent="slider", name="other hand"),
        planar.Link(SQUARE, "free", parent="world", name="stone"),
    ]
    return planar.Mechanism(links, name="a $tree")


def test_bodies_and_joints_are_where_place_puts_them(chain: Any) -> None:
    axes = planar.draw(chain, STEPS).axes[0]
    assert len(outlines(axes)) == 3
    assert all(drawn(axes, polygon) for polygons in chain.place(STEPS) for polygon in polygons)
    first, second = text_T(np.pi / 4, 0.0), text_T(np.pi / 4, 1.0)
    third = text_T(np.pi / 4, 1.2)
    origins = [first[:2, 2], (first @ second)[:2, 2], (first @ second @ third)[:2, 2]]
    assert pins(axes) == sorted(tuple(np.round(at, 9)) for at in origins)
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_aspect()) == ("x [m]", "y [m]", 1.0)


def test_every_kind_of_joint_has_a_sign() -> None:
    q = [0.4, 0.3, -0.5, 1.2, 1.0, 0.4]
    made = planar.draw(mixed(), q, obstacles={"wall": [(1.3, 0), (1.5, 0), (1.5, 0.5), (1.3, 0.5)]})
    axes = made.axes[0]
    assert len(outlines(axes)) == 7
    assert pins(axes) == [(0.4, 0.6), (0.4, 0.6)]
    (slot,) = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    middle = axes.transData.inverted().transform(slot.get_window_extent().get_points()).mean(axis=0)
    assert np.abs(middle - (0.4, 0.0)).max() < 1e-9
    hatched = [patch for patch in axes.patches if patch.get_hatch()]
    assert [patch.get_xy()[0].tolist() for patch in hatched] == [[-0.5, -0.3]]
    names = [words.get_text() for words in made.legends[0].get_texts()]
    assert names == ["bed", "slider", "$x^2 hand", "other hand", "stone", "wall"]
    assert axes.get_title() == "a $tree"
    assert_nothing_is_cut_off(made)


def test_pins_of_loops_are_drawn() -> None:
    rod = planar.bar(1.0, 0.1)
    links = [planar.Link(rod, name="crank"), planar.Link(rod, a=1.0, name="coupler")]
    for loop in (
        planar.Loop("coupler", (1.0, 0.0), "world", (2.0, 0.0)),
        planar.Loop("world", (2.0, 0.0), "coupler", (1, 0)),
    ):
        axes = planar.draw(planar.Mechanism(links, [loop]), [0.0, 0.0]).axes[0]
        assert pins(axes, filled=True) == [(2.0, 0.0)]


def test_the_whole_mechanism_is_seen(chain: Any) -> None:
    for q in np.random.default_rng(4).uniform(-3, 3, (5, 3)):
        axes = planar.draw(chain, q, frames=False, names=False).axes[0]
        points = np.concatenate([polygon for polygons in chain.place(q) for polygon in polygons])
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        assert np.all((points > (left, bottom)) & (points < (right, top)))


def test_a_mechanism_without_polygons_is_drawn() -> None:
    made = planar.draw(planar.Mechanism([planar.Link(), planar.Link()]), [0.0, 0.0])
    assert len(rendered(made, "png")) > 1000
    assert not made.legends


def test_steps_follow_the_text(chain: Any) -> None:
    made = planar.draw_steps(chain, STEPS)
    T = [text_T(np.pi / 4, a) for a in (0.0, 1.0, 1.2)]
    rod = planar.bar(1.0, 0.2)
    identity = np.eye(3)
    panels = [
        [identity],
        [T[2], identity],
        [T[1] @ T[2], T[1], identity],
        [T[0] @ T[1] @ T[2], T[0] @ T[1], T[0]],
    ]
    assert len(made.axes) == 4
    for axes, poses in zip(made.axes, panels, strict=True):
        assert len(outlines(axes)) == len(poses)
        assert all(drawn(axes, moved(pose, rod)) for pose in poses)
    assert "T_{3}" in made.axes[1].get_title()
    assert "world" in made.axes[3].get_title()
    spans = {round(float(np.ptp(axes.get_xlim())), 9) for axes in made.axes}
    assert len(spans) == 1  # one scale
    assert_nothing_is_cut_off(made)


def test_steps_say_what_the_transforms_do(chain: Any) -> None:
    said = [axes.get_xlabel() for axes in planar.draw_steps(chain, [0.0, -np.pi / 4, 0.0]).axes]
    assert said == ["", "no turn, then shift by 1.2 m", "turn by -45°, then shift by 1 m", "no turn, no shift"]


def test_steps_of_a_tree_are_those_of_one_chain() -> None:
    made = planar.draw_steps(mixed(), [0.4, 0.3, -0.5, 1.2, 1.0, 0.4], "other hand")
    assert [len(outlines(axes)) for axes in made.axes] == [1, 2, 3, 3]
    assert [len(pins(axes)) for axes in made.axes] == [1, 1, 1, 1]  # of the hand; the slider has a slot
    for axes, direction in zip(made.axes[1:], (np.pi / 2, 0.0, 0.0), strict=True):  # (in its own frame it is turned back)
        (slot,) = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
        wide, high = np.ptp(slot.get_window_extent().get_points(), axis=0)
        assert (wide < high) == (direction > 0.0)


def test_obstacles_are_drawn_without_the_library_of_collisions(chain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shapely", None)
    axes = chain.draw(STEPS, obstacles=[SQUARE], names=False).axes[0]
    assert drawn(axes, np.array(SQUARE))


def test_pair_is_drawn_in_the_frame_of_the_parent(chain: Any) -> None:
    made = planar.draw_pair(chain, [0.3, 0.8, 0.1], 1)
    axes = made.axes[0]
    rod = planar.bar(1.0, 0.2)
    assert drawn(axes, rod)
    assert drawn(axes, moved(text_T(0.8, 1.0), rod))
    words = {one.get_text() for one in axes.texts}
    assert {"$a_{1}$", r"$\theta_{2}$", "$x_{1}$", "$y_{2}$", r"$\mathcal{A}_{2}$"} <= words
    bare = planar.draw_pair(chain, [0.3, 0.8, 0.1], 1, dimensions=False)
    assert {one.get_text() for one in bare.axes[0].texts} == {r"$\mathcal{A}_{1}$", r"$\mathcal{A}_{2}$"}
    assert_nothing_is_cut_off(made)


def test_pair_of_a_branch_shows_the_angle_on_the_parent() -> None:
    made = planar.draw_pair(mixed(), [0.4, 0.3, -0.5, 1.2, 1.0, 0.4], "other hand")
    assert {r"$\phi$", r"$\theta_{4}$"} <= {one.get_text() for one in made.axes[0].texts}
    assert_nothing_is_cut_off(made)


def test_the_two_kinds_of_joints() -> None:
    made = planar.draw_joints()
    turning, sliding = made.axes
    assert [sum(isinstance(patch, FancyBboxPatch) for patch in axes.patches) for axes in made.axes] == [0, 1]
    assert "revolute" in turning.get_title()
    assert "prismatic" in sliding.get_title()
    assert_nothing_is_cut_off(made)


def test_pictures_go_into_a_figure_of_the_user(chain: Any) -> None:
    from matplotlib.figure import Figure

    for draw in (planar.draw, planar.draw_pair, planar.draw_steps):
        mine = Figure()
        assert draw(chain, STEPS, into=mine) is mine
        assert mine.axes
    mine = Figure()
    axes = mine.add_subplot()
    assert planar.draw_pair(chain, STEPS, into=axes) is mine
    assert mine.axes == [axes]


@pytest.mark.parametrize("draw", [planar.draw, planar.draw_pair, planar.draw_steps])
@pytest.mark.parametrize("q", [[0.0], [0.0, np.nan, 0.0], "here", np.zeros((2, 3))])
def test_what_is_no_configuration_is_refused(chain: Any, draw: Any, q: Any) -> None:
    with pytest.raises(ArgumentError, match=r"configuration (is|holds|has the shape) .*; expected .*\((\.\.\., )?3"):
        draw(chain, q)


def test_links_that_make_no_pair_are_refused(chain: Any) -> None:
    with pytest.raises(ArgumentError, match="link 'link1': it is on the ground"):
        planar.draw_pair(chain, STEPS, 0)
    with pytest.raises(ArgumentError, match="no link 'elbow'"):
        planar.draw_pair(chain, STEPS, "elbow")
    with pytest.raises(ArgumentError, match="no link 7"):
        planar.draw_steps(chain, STEPS, 7)


def test_symbols_are_refused() -> None:
    import linkwise as lw

    arm = planar.Mechanism([planar.Link(SQUARE), planar.Link(SQUARE, a=lw.symbols("l1"))])
    with pytest.raises(ArgumentError, match=r"has symbols, 'l1'; .* needs numbers"):
        planar.draw(arm, [0.0, 0.0])


def test_without_matplotlib_an_error_names_the_extra(chain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        planar.draw(chain, STEPS)


@pytest.mark.parametrize("given", [(0.0, 0.1), (1.0, -0.1), (np.nan, 0.1), ("a", 0.1), (1.0, 0.1, 1), (1.0, 0.1, 2.5)])
def test_a_bar_has_a_size(given: tuple[float, ...]) -> None:
    with pytest.raises(ArgumentError, match=r"rounded_bar: (length|width|corners) is .*; expected"):
        planar.rounded_bar(*given)


def test_ends_of_a_bar_are_on_circles() -> None:
    found = planar.rounded_bar(1.0, 0.2, 5)
    assert np.abs(np.hypot(*(found[:5] - np.array([1.0, 0.0])).T) - 0.1).max() < 1e-15
    assert np.abs(np.hypot(*found[5:].T) - 0.1).max() < 1e-15
