"""Collision of planar links, against separating axes and distances of edges, written here without the geometry library."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linkwise import planar, robots
from linkwise.errors import ArgumentError, MissingExtraError

SQUARE = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]


def convex(rng: np.random.Generator, corners: int) -> np.ndarray:
    """A convex polygon: points on an ellipse, in order."""
    angles = 2.0 * np.pi / corners * (np.arange(corners) + rng.uniform(0.0, 0.8, corners))
    return np.stack((0.4 + 0.5 * np.cos(angles), 0.2 * np.sin(angles)), axis=1)


def shifted(polygon: Any, x: float, y: float) -> np.ndarray:
    return np.asarray(polygon) + np.array([x, y])


def separation(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Greatest gap (N,) along the normals of the edges of convex polygons (N, m, 2): positive where they are apart."""
    gaps = []
    for polygon in (one, other):
        edges = np.roll(polygon, -1, axis=-2) - polygon
        normals = np.stack((edges[..., 1], -edges[..., 0]), axis=-1)
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
        first = np.einsum("nej,nmj->nem", normals, one)
        second = np.einsum("nej,nmj->nem", normals, other)
        gaps.append(np.maximum(second.min(-1) - first.max(-1), first.min(-1) - second.max(-1)))
    return np.concatenate(gaps, axis=-1).max(axis=-1)


def to_edges(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Least distance (N,) of the corners of one from the edges of the other."""
    start, along = other[:, None], np.roll(other, -1, axis=-2)[:, None] - other[:, None]
    off = one[:, :, None] - start
    share = np.clip((off * along).sum(-1) / (along * along).sum(-1), 0.0, 1.0)
    return np.linalg.norm(off - share[..., None] * along, axis=-1).min(axis=(-1, -2))


@pytest.fixture(scope="module")
def arm() -> Any:
    rng = np.random.default_rng(5)
    links = [planar.Link(convex(rng, 3 + k), a=0.8 * (k > 0), name=f"link{k}") for k in range(4)]
    return planar.Mechanism(links, name="arm")


@pytest.fixture(scope="module")
def configurations() -> np.ndarray:
    return np.random.default_rng(7).uniform(-np.pi, np.pi, (3000, 4))


def test_collisions_are_those_found_by_separating_axes(arm: Any, configurations: np.ndarray) -> None:
    obstacle = shifted(convex(np.random.default_rng(3), 6), 0.3, 0.4)
    placed = [polygons[0] for polygons in arm.place(configurations)]
    still = np.broadcast_to(obstacle, (len(configurations), *obstacle.shape))
    pairs = [(0, 2), (0, 3), (1, 3), (0, "wall"), (1, "wall"), (2, "wall"), (3, "wall")]
    for pair in pairs:
        one, other = (still if k == "wall" else placed[k] for k in pair)
        gap = separation(one, other)
        found = planar.collides(arm, configurations, obstacles={"wall": obstacle}, pairs=[pair])
        sure = np.abs(gap) > 1e-14  # a few roundings of coordinates of the size 1 to 4
        assert np.array_equal(found[sure], gap[sure] < 0.0)
        assert 100 < found.sum() < 2900
    every = planar.collides(arm, configurations, obstacles={"wall": obstacle})
    each = [planar.collides(arm, configurations, obstacles={"wall": obstacle}, pairs=[pair]) for pair in pairs]
    assert np.array_equal(every, np.any(each, axis=0))


def test_distance_is_that_of_corners_and_edges(arm: Any, configurations: np.ndarray) -> None:
    placed = [polygons[0] for polygons in arm.place(configurations)]
    found = planar.distance(arm, configurations, pairs=[(0, 2), ("link1", "link3")])
    wanted = np.full(len(configurations), np.inf)
    for i, j in ((0, 2), (1, 3)):
        apart = np.minimum(to_edges(placed[i], placed[j]), to_edges(placed[j], placed[i]))
        wanted = np.minimum(wanted, np.where(separation(placed[i], placed[j]) < 0.0, 0.0, apart))
    assert np.abs(found - wanted).max() < 1e-14  # a few roundings of coordinates of the size 1 to 4
    assert np.array_equal(found == 0.0, planar.collides(arm, configurations, pairs=[(0, 2), (1, 3)]))
    assert 100 < (found == 0.0).sum() < 2900
    assert np.array_equal(found <= 0.1, planar.collides(arm, configurations, pairs=[(0, 2), (1, 3)], margin=0.1))


def slider(*polygons: Any) -> Any:
    return planar.Mechanism([planar.Link(list(polygons) or SQUARE, "prismatic", name="slider")])


@pytest.mark.parametrize(
    ("x", "hit"),
    [(-1.0, True), (np.nextafter(-1.0, -2.0), False), (0.0, True), (1.0, True), (np.nextafter(1.0, 2.0), False)],
)
def test_what_touches_is_in_collision_and_nothing_beyond(x: float, hit: bool) -> None:
    for shift in (0.0, 1.0):  # an edge on an edge, a corner on a corner
        wall = shifted(SQUARE, 0.0, shift)
        assert planar.collides(slider(), [x], obstacles=[wall]) == hit


def test_a_margin_keeps_clear() -> None:
    for x, hit in ((1.24, True), (1.26, False)):
        assert planar.collides(slider(), [x], obstacles=[SQUARE], margin=0.25) == hit
    assert planar.distance(slider(), [3.0], obstacles=[SQUARE]) == 2.0


def test_areas_count_not_outlines() -> None:
    around = 4.0 * np.array(SQUARE)
    assert planar.collides(slider(), [0.0], obstacles=[around])
    assert planar.collides(slider(around), [0.0], obstacles=[SQUARE])
    fork = [(-1, -1), (1, -1), (1, 1), (0.6, 1), (0.6, -0.6), (-0.6, -0.6), (-0.6, 1), (-1, 1)]
    assert planar.collides(slider(), [[0.0], [0.2]], obstacles=[fork]).tolist() == [False, True]  # between the tines
    assert planar.collides(slider(fork), [[0.0], [0.2]], obstacles=[SQUARE]).tolist() == [False, True]


def test_any_polygon_of_a_link_counts() -> None:
    pair = slider(SQUARE, shifted(SQUARE, 0.0, 3.0))
    high = shifted(SQUARE, 0.0, 3.0)
    assert planar.collides(pair, [[0.0], [5.0]], obstacles=[high]).tolist() == [True, False]


def tree() -> Any:
    rod = planar.bar(1.0, 0.1)
    links = [
        planar.Link(rod, "fixed", name="frame"),
        planar.Link(rod, a=1.0, name="boom"),
        planar.Link(rod, a=1.0, name="left"),
        planar.Link(rod, a=1.0, name="right", parent="boom"),
        planar.Link(rod, "fixed", a=1.0, name="finger", parent="right"),
        planar.Link((), a=1.0, name="pointer", parent="finger"),
    ]
    return planar.Mechanism(links)


def test_pairs_that_are_left_out() -> None:
    from linkwise.planar.collision import Check

    check = Check.of(tree(), {"wall": SQUARE}, None)
    # joined: frame-boom, boom-left, boom-right, right-finger; about one point: left-right; no polygon: pointer;
    # nothing moves: frame-wall
    assert check.pair_names == [
        ("frame", "left"),
        ("frame", "right"),
        ("frame", "finger"),
        ("boom", "finger"),
        ("left", "finger"),
        ("boom", "wall"),
        ("left", "wall"),
        ("right", "wall"),
        ("finger", "wall"),
    ]


def test_links_fixed_to_each_other_are_one_body() -> None:
    from linkwise.planar.collision import Check

    rod = planar.bar(0.3, 0.1)
    fixed = [planar.Link(rod, "fixed", at=(x, 0.2, 1.5), parent="body", name=f"tooth{x}") for x in (0, 1)]
    links = [planar.Link(planar.bar(1.0, 0.1), name="body"), *fixed, planar.Link(rod, parent="world", name="other")]
    assert Check.of(planar.Mechanism(links), {}, None).pair_names == [("tooth0", "other"), ("tooth1", "other")]


def test_links_that_hang_on_one_pin_are_left_out() -> None:
    from linkwise.planar.collision import Check

    rod = planar.bar(1.0, 0.1)
    links = [planar.Link(rod, a=a, name=name) for a, name in ((0.0, "a"), (1.0, "b"), (0.0, "c"), (1.0, "d"))]
    assert Check.of(planar.Mechanism(links), {}, None).pair_names == [("a", "d"), ("b", "d")]  # a, b and c: one pin
    slides = [*links[:2], planar.Link(rod, "prismatic", name="c")]
    assert Check.of(planar.Mechanism(slides), {}, None).pair_names == [("a", "c")]


def test_links_that_loops_put_on_one_pin_are_left_out() -> None:
    from linkwise.planar.collision import Check

    rod = planar.bar(1.0, 0.1)
    links = [planar.Link(rod, parent="world", at=(k, 0.0, 0.0), name=f"leg{k}") for k in range(3)]
    hung = planar.Link(rod, a=1.0, parent="leg0", name="hung")
    at_the_top = [planar.Loop("leg0", (1, 0), f"leg{k}", (1, 0)) for k in (1, 2)]
    made = planar.Mechanism([*links, hung], at_the_top)
    assert Check.of(made, {}, None).pair_names == []
    elsewhere = planar.Mechanism([*links, hung], [planar.Loop("leg0", (1, 0), "leg1", (1, 0))])
    assert Check.of(elsewhere, {}, None).pair_names == [("leg0", "leg2"), ("leg1", "leg2"), ("leg2", "hung")]
    sliding = [*links[:2], planar.Link((), "prismatic", parent="leg1", name="block")]
    on_the_block = planar.Mechanism(sliding, [planar.Loop("leg0", (1, 0), "block", (0, 0))])
    assert Check.of(on_the_block, {}, None).pair_names == [("leg0", "leg1")]  # the block moves along leg1: no pin of it
    on_the_ground = planar.Mechanism([*links, hung], [planar.Loop("hung", (1, 0), "world", (2, 0))])
    assert ("leg2", "hung") not in Check.of(on_the_ground, {}, None).pair_names


def test_a_leg_of_pins_with_three_links_walks_without_collision() -> None:
    leg = planar.from_spatial(robots.jansen(), polygons="bars")
    assert not leg.collides(leg.close(np.full(7, 0.3)))


def test_links_that_a_loop_pins_together_are_left_out() -> None:
    rod = planar.bar(1.0, 0.1)
    links = [planar.Link(rod, a=a, name=name) for a, name in ((0.0, "a"), (1.0, "b"), (1.0, "c"))]
    world = planar.Loop("c", (1.0, 0.0), "world", (0.5, 0.0))
    assert planar.collides(planar.Mechanism(links), [0.0, 2.4, 2.4])
    assert planar.collides(planar.Mechanism(links, [world]), [0.0, 2.4, 2.4])
    assert not planar.collides(planar.Mechanism(links, [planar.Loop("c", (1.0, 0.0), "a", (0.0, 0.0))]), [0.0, 2.4, 2.4])


def test_pairs_by_choice_and_by_name() -> None:
    mechanism = tree()
    q = [0.1, 0.3, -0.3, 0.0]
    assert planar.pairs_in_collision(mechanism, q) == []
    assert planar.pairs_in_collision(mechanism, q, pairs=[("boom", "left"), (-2, 2)]) == [("boom", "left")]
    wall = {"wall": [(2.4, -5), (2.6, -5), (2.6, 5), (2.4, 5)]}
    assert planar.pairs_in_collision(mechanism, q, obstacles=wall) == [("left", "wall"), ("right", "wall")]
    assert planar.distance(mechanism, q, pairs=[]) == np.inf


def test_a_batch_is_a_loop_bit_for_bit(arm: Any, configurations: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    q = configurations[:60].reshape(3, 4, 5, 4)
    obstacles = [shifted(SQUARE, 1.2, 0.4)]
    found, apart = planar.collides(arm, q, obstacles=obstacles), planar.distance(arm, q, obstacles=obstacles)
    assert found.shape == apart.shape == (3, 4, 5)
    for place in np.ndindex(3, 4, 5):
        assert found[place] == planar.collides(arm, q[place], obstacles=obstacles)
        assert apart[place] == planar.distance(arm, q[place], obstacles=obstacles)
    monkeypatch.setattr("linkwise.planar.collision.AT_ONCE", 7)
    assert np.array_equal(planar.distance(arm, q, obstacles=obstacles), apart)
    assert planar.collides(arm, np.empty((0, 4)), obstacles=obstacles).shape == (0,)


def test_moving_everything_alike_changes_no_distance() -> None:
    rng = np.random.default_rng(2)
    mechanism = planar.Mechanism([planar.Link(convex(rng, 5), "free", name="body"), planar.Link(convex(rng, 4), a=0.8)])
    q = rng.uniform(-2.0, 2.0, (50, 4))
    obstacle = convex(rng, 5)
    c, s, shift = np.cos(0.7), np.sin(0.7), np.array([0.3, -1.1])
    turn = np.array([[c, -s], [s, c]])
    moved = q + np.array([0.0, 0.0, 0.7, 0.0])
    moved[:, :2] = q[:, :2] @ turn.T + shift
    before = planar.distance(mechanism, q, obstacles=[obstacle])
    after = planar.distance(mechanism, moved, obstacles=[obstacle @ turn.T + shift])
    assert np.abs(before - after).max() < 1e-14  # a few roundings of coordinates of the size 1 to 4
    assert 0.0 < (before == 0.0).mean() < 1.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: planar.collides(m, [np.nan]), r"configuration is nan at \(0,\)"),
        (lambda m: planar.collides(m, [0.0, 1.0]), r"shape \(2,\); expected \(..., 1\)"),
        (lambda m: planar.collides(m, "here"), "configuration holds <U4; expected finite real numbers"),
        (lambda m: planar.collides(m, [0.0], obstacles=[SQUARE[:2]]), "obstacle 1: .*at least 3"),
        (lambda m: planar.collides(m, [0.0], obstacles=SQUARE), "obstacle 1: .*a list or a dict"),
        (
            lambda m: planar.collides(m, [0.0], obstacles={"bow": [(0, 0), (1, 1), (1, 0), (0, 1)]}),
            "points 0 and 2 meet",
        ),
        (lambda m: planar.collides(m, [0.0], obstacles={"slider": SQUARE}), "'slider': a link has this name"),
        (lambda m: planar.collides(m, [0.0], pairs=[("slider", "wal")]), "no 'wal'; expected 'slider'"),
        (lambda m: planar.collides(m, [0.0], pairs=[(0, 0)]), "two different links"),
        (lambda m: planar.collides(m, [0.0], pairs=["slider"]), "expected two names"),
        (lambda m: planar.collides(m, [0.0], pairs=[(0, 3)]), "no 3; expected"),
        (lambda m: planar.collides(m, [0.0], margin=-0.1), "margin: -0.1; expected"),
        (lambda m: planar.collides(m, [0.0], margin="wide"), "margin: 'wide'; expected"),
        (lambda m: planar.collides(m, [1j]), "configuration holds complex128"),
        (lambda m: planar.collides(m, [0.0], pairs=3), "pairs: 3; expected a list of pairs"),
        (lambda m: planar.collides(m, [0.0], obstacles=None), "obstacles: None; expected a list or a dict"),
        (
            lambda m: planar.collides(m, [0.0], obstacles={1: SQUARE, "1": SQUARE}),
            "is called 1; expected a word",
        ),
        (lambda m: planar.collides(m, [0.0], obstacles=[[*SQUARE, SQUARE[0]]]), "the last point joins the first by itself"),
        (lambda m: planar.pairs_in_collision(m, [[0.0]]), r"shape \(1, 1\); expected \(1,\)"),
    ],
)
def test_what_cannot_be_checked_is_refused(call: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        call(slider())


def test_places_beyond_all_numbers_are_refused() -> None:
    made = planar.Mechanism([planar.Link((), "prismatic"), planar.Link(SQUARE, "prismatic")])
    for wrong in (planar.collides, planar.distance):
        with np.errstate(all="ignore"), pytest.raises(ArgumentError, match="beyond the largest number"):
            wrong(made, [[0.0, 0.0], [1.7e308, 1.7e308]], obstacles=[SQUARE])


def side(a: Any, b: Any, p: Any) -> int:
    """On which side of the line a b the point p is, exactly."""
    area = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
    return (area > 0) - (area < 0)


def meet_exactly(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two polygons have a point in common: edges that cross or touch, or one within the other, in fractions."""
    p, q = ([(Fraction(x), Fraction(y)) for x, y in polygon.tolist()] for polygon in (one, other))

    def edges(polygon: Any) -> Any:
        return zip(polygon, [*polygon[1:], polygon[0]], strict=True)

    def holds(a: Any, b: Any, c: Any) -> bool:
        return all(min(a[k], b[k]) <= c[k] <= max(a[k], b[k]) for k in (0, 1)) and side(a, b, c) == 0

    def within(polygon: Any, c: Any) -> bool:
        crossed = [(a, b) for a, b in edges(polygon) if (a[1] > c[1]) != (b[1] > c[1])]
        return sum((side(a, b, c) > 0) == (b[1] > a[1]) for a, b in crossed) % 2 == 1

    for a, b in edges(p):
        for c, d in edges(q):
            if side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0:
                return True
            if holds(a, b, c) or holds(a, b, d) or holds(c, d, a) or holds(c, d, b):
                return True
    return within(p, q[0]) or within(q, p[0])


def test_polygons_thin_and_hollow_are_decided_exactly(uncompiled: None) -> None:
    rng = np.random.default_rng(11)

    def star() -> np.ndarray:
        turn, far = 2.0 * np.pi / 7 * (np.arange(7) + rng.uniform(0.0, 0.9, 7)), rng.uniform(0.2, 1.0, 7)
        return np.stack([far * np.cos(turn), far * np.sin(turn) * rng.choice([1.0, 1e-3, 1e-12])], axis=1)

    hits = 0
    for _ in range(25):
        pair = [planar.Link(star(), "free", name="one"), planar.Link(star(), "free", parent="world", name="other")]
        made, q = planar.Mechanism(pair), rng.choice([0.0, 0.25, 0.5, 1.1], (6, 6))  # (so that some corners touch)
        placed = made.place(q)
        wanted = [meet_exactly(placed[0][0][k], placed[1][0][k]) for k in range(6)]
        assert made.collides(q).tolist() == wanted
        hits += sum(wanted)
    assert 30 < hits < 120


def test_symbols_are_refused() -> None:
    import linkwise as lw

    arm = planar.Mechanism([planar.Link(SQUARE), planar.Link(SQUARE, a=lw.symbols("l1"))])
    with pytest.raises(ArgumentError, match=r"has symbols, 'l1'; .* needs numbers"):
        planar.collides(arm, [0.0, 0.0])


def test_without_the_library_an_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shapely", None)
    with pytest.raises(MissingExtraError, match=r'pip install "shapely>=2.0"'):
        planar.collides(slider(), [0.0], obstacles=[SQUARE])
