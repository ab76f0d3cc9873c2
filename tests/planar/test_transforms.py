"""The transforms T_i, their products, and placed polygons, against the text's formulas written out again here."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise import planar
from linkwise.errors import ArgumentError
from linkwise.planar.transforms import placing
from support.numpy_backend import compute_by_numpy

EPS = float(np.finfo(float).eps)


def bound(lengths: float, angles: float) -> float:
    """Rounding of a chain: a few units in the last place of its reach, and of the angles added up, which turn that reach."""
    return 8 * EPS * (1.0 + lengths) * (1.0 + angles)


def text_transform(theta: float, a: float) -> Any:
    """T_i of the text, 1 < i <= m: [[cos, -sin, a_{i-1}], [sin, cos, 0], [0, 0, 1]]."""
    c, s = math.cos(theta), math.sin(theta)
    return np.array([[c, -s, a], [s, c, 0.0], [0.0, 0.0, 1.0]])


def first_transform(x: float, y: float, theta: float) -> Any:
    """T_1 of the text."""
    c, s = math.cos(theta), math.sin(theta)
    return np.array([[c, -s, x], [s, c, y], [0.0, 0.0, 1.0]])


def uncompiled(made: planar.Mechanism) -> planar.Mechanism:
    """The mechanism with kernels that NumPy computes: the same graphs, without the time that compiling them takes."""
    placing()  # (this one is shared by all)
    with pytest.MonkeyPatch.context() as patch:
        compute_by_numpy(patch)
        for function in (made.transforms, made.poses):
            function(np.zeros(made.nq))
    return made


angles = st.floats(-math.pi, math.pi)
distances = st.floats(0.1, 2.0)
chains = st.lists(st.tuples(st.sampled_from(["revolute", "prismatic"]), distances, angles), min_size=1, max_size=5)


@settings(max_examples=8, deadline=None)
@given(first=st.sampled_from(["free", "fixed", "revolute"]), rest=chains, seed=st.integers(0, 2**32 - 1))
def test_a_chain_is_the_product_of_the_texts_matrices(first: str, rest: list[Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = [rng.normal(size=(3, 2)) for _ in range(len(rest) + 1)]
    links, q, expected = [planar.Link(shapes[0], first)], [], []
    start = rng.uniform(-1.0, 1.0, 3).tolist()
    if first == "free":
        q, expected = start, [first_transform(*start)]
    elif first == "revolute":
        q, expected = start[2:], [first_transform(0.0, 0.0, start[2])]
    else:
        expected = [np.eye(3)]
    for (joint, a, theta), shape in zip(rest, shapes[1:], strict=True):
        constant = {"a": a} if joint == "revolute" else {"theta": theta}
        links.append(planar.Link(shape, joint, **constant))
        q.append(theta if joint == "revolute" else a)
        expected.append(text_transform(theta, a))
    chain = uncompiled(planar.Mechanism(links))
    reach = 2.0 + sum(a for _, a, _ in rest)
    close = bound(reach, 1.0 + sum(abs(theta) for *_, theta in rest))
    assert abs(chain.transforms(q) - expected).max() <= bound(2.0, 4.0)
    product = np.eye(3)
    placed = chain.place(q)
    for k, t in enumerate(expected):
        product = product @ t
        assert abs(chain.poses(q)[k] - product).max() <= close
        points = product @ np.vstack([shapes[k].T, np.ones(3)])
        assert abs(placed[k][0] - points[:2].T).max() <= close * 4.0  # (the points are up to four or so from the origin)


def tree() -> planar.Mechanism:
    """Six links in a tree: link 3 and link 5 on the junction link 2, their joints along x axes that are 0.7 rad apart."""
    return planar.Mechanism(
        [
            planar.Link(planar.bar(1.0, 0.2), "free", name="A1"),
            planar.Link(planar.bar(1.0, 0.2), name="A2", a=1.0),
            planar.Link(planar.bar(0.8, 0.2), name="A3", a=0.9),
            planar.Link(planar.bar(0.5, 0.2), name="A4", a=0.8),
            planar.Link(planar.bar(0.6, 0.2), name="A5", a=1.1, at=(0.0, 0.0, 0.7), parent="A2"),
            planar.Link(planar.bar(0.5, 0.2), "prismatic", name="A6", theta=0.2),
        ],
        name="tree",
    )


def test_a_tree_is_the_product_along_each_path() -> None:
    made = tree()
    q = [0.3, -0.4, 0.5, 0.6, -0.7, 0.8, 0.9, 0.65]
    first = first_transform(0.3, -0.4, 0.5)
    upper = text_transform(0.6, 1.0)
    one = first @ upper @ text_transform(-0.7, 0.9) @ text_transform(0.8, 0.8)
    junction = text_transform(0.6 + 0.7, 1.0)  # theta'' = theta' + phi: the junction's other body frame
    other = first @ junction @ text_transform(0.9, 1.1) @ text_transform(0.2, 0.65)
    poses = made.poses(q)
    assert abs(poses[3] - one).max() <= bound(4.0, 4.0)
    assert abs(poses[5] - other).max() <= bound(4.0, 4.0)
    assert made.path("A6") == (0, 1, 4, 5)
    assert made.parents == (-1, 0, 1, 2, 1, 4)


def test_links_may_stand_before_their_parents() -> None:
    made = tree()
    turned = made.replace(
        links=[
            link.replace(parent=made.links[p].name if p >= 0 else "world")
            for link, p in zip(made.links, made.parents, strict=True)
        ][::-1]
    )
    q = np.array([0.3, -0.4, 0.5, 0.6, -0.7, 0.8, 0.9, 0.65])
    backwards = np.concatenate([q[7:8], q[6:7], q[5:6], q[4:5], q[3:4], q[:3]])
    assert (turned.poses(backwards)[::-1] == made.poses(q)).all()


def test_an_attachment_is_a_turn_and_a_shift_before_the_joint() -> None:
    made = planar.Mechanism([planar.Link(), planar.Link(at=(0.3, -0.2, 0.4), a=0.5, theta=0.1)])
    expected = first_transform(0.3, -0.2, 0.4) @ text_transform(0.1 + 0.6, 0.5)
    assert abs(made.transforms([0.0, 0.6])[1] - expected).max() <= bound(1.0, 1.1)


def test_a_batch_is_a_loop_bit_for_bit() -> None:
    made = tree()
    q = np.random.default_rng(1).uniform(-3.0, 3.0, (3, 5, made.nq))
    for name in ("transforms", "poses", "gaps"):
        whole = getattr(made, name)(q)
        assert whole.shape[:2] == (3, 5)
        assert all((whole[i, j] == getattr(made, name)(q[i, j])).all() for i in range(3) for j in range(5))
    placed = made.place(q)
    for i, j in np.ndindex(3, 5):
        alone = made.place(q[i, j])
        assert all((placed[k][0][i, j] == alone[k][0]).all() for k in range(len(made.links)))
    assert made.poses(np.zeros((0, made.nq))).shape == (0, 6, 3, 3)


def test_several_polygons_keep_their_order_and_a_link_may_have_none() -> None:
    square, triangle = planar.bar(0.0, 1.0), np.array([[2.0, 0.0], [3.0, 0.0], [2.0, 1.0]])
    made = planar.Mechanism([planar.Link([square, triangle]), planar.Link(a=1.0)])
    placed = made.place([0.0, 1.0])
    assert [len(one) for one in placed] == [2, 0]
    assert (placed[0][0] == square).all()
    assert (placed[0][1] == triangle).all()
    assert made.place([[0.0, 1.0]] * 4)[0][1].shape == (4, 3, 2)


def test_polygons_of_many_points_are_placed_alike() -> None:
    """Above some number of points another kernel does it; the rounding of one product and one sum may differ."""
    around = np.linspace(0.0, 2.0 * math.pi, 300, endpoint=False)
    disc = np.stack([np.cos(around), np.sin(around)], axis=-1)
    q = np.random.default_rng(2).uniform(-3.0, 3.0, (3, 4, 2))
    many = planar.Mechanism([planar.Link(disc), planar.Link([disc[::100], disc], a=1.0)]).place(q)
    few = planar.Mechanism([planar.Link(disc[::100]), planar.Link(disc[::100], a=1.0)]).place(q)
    assert [shape.shape for link in many for shape in link] == [(3, 4, 300, 2), (3, 4, 3, 2), (3, 4, 300, 2)]
    assert abs(many[0][0][..., ::100, :] - few[0][0]).max() <= bound(2.0, 2.0)
    assert abs(many[1][0] - few[1][0]).max() <= bound(2.0, 2.0)
    assert (many[1][1][..., ::100, :] == many[1][0]).all()
    alone = planar.Mechanism([planar.Link(disc), planar.Link([disc[::100], disc], a=1.0)]).place(q[1, 2])
    assert (alone[1][1] == many[1][1][1, 2]).all()


def test_a_mechanism_without_coordinates_stands_still() -> None:
    made = planar.Mechanism([planar.Link(planar.bar(1, 1), "fixed", a=2.0, theta=math.pi / 2)])
    assert made.nq == 0
    assert made.poses([])[0].tolist() == [[0.0, -1.0, 2.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert made.place(np.zeros((7, 0)))[0][0].shape == (7, 4, 2)


def test_not_a_number_goes_through_and_stays_in_its_row() -> None:
    poses = tree().poses(np.stack([np.full(8, np.nan), np.zeros(8)]))
    assert np.isnan(poses[0, :, :2]).all()
    assert np.isfinite(poses[1]).all()


def test_symbols_of_sympy_give_the_texts_matrices() -> None:
    sympy = pytest.importorskip("sympy")
    theta, slide = sympy.symbols("theta_2 a_2")
    made = planar.Mechanism(
        [planar.Link(planar.bar(1, 1), "fixed"), planar.Link(planar.bar(1, 1), a=2.0), planar.Link(joint="prismatic")]
    )
    c, s = sympy.cos(theta), sympy.sin(theta)
    second, third = made.transforms([theta, slide])[1:]
    assert sympy.Matrix(second) == sympy.Matrix([[c, -s, 2.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    assert third[0, 2] == slide
    assert made.poses([theta, slide])[2, 0, 2] == 2.0 + slide * c
    put = {theta: 0.4, slide: 0.3}
    placed = made.place([theta, slide])[1][0]
    numbers = [[float(value.subs(put)) for value in point] for point in placed]
    assert abs(np.array(numbers) - made.place([0.4, 0.3])[1][0]).max() <= bound(3.0, 1.0)


def test_symbols_for_lengths() -> None:
    l1 = lw.symbols("l1")
    made = planar.Mechanism([planar.Link(), planar.Link(a=l1)])
    assert made.symbols == ("l1",)
    assert made.poses([0.3, 0.4])[1, 0, 2] == math.cos(0.3) * l1
    with pytest.raises(ArgumentError, match=r"\(2, 2\).*\(2,\)"):
        made.poses(np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match="no symbol 'l2'; there is 'l1'"):
        made.substitute(l2=1.0)
    assert made.substitute({l1: 2.0}) == made.substitute(l1=2.0)
    assert made.substitute(l1=2.0).symbols == ()


def test_what_it_is_made_of() -> None:
    made = tree()
    assert made.coordinate_names == ("A1.x", "A1.y", "A1.theta", "A2", "A3", "A4", "A5", "A6")
    assert made.owner == (0, 0, 0, 1, 2, 3, 4, 5)
    assert made.turns == (False, False, True, True, True, True, True, False)
    assert made.limits.shape == (8, 2)
    assert np.isinf(made.limits).all()
    limited = made.replace(
        links=[
            made.links[0].replace(limits=[(-1, 1), (-2, 2), (-3, 3)]),
            *made.links[1:5],
            made.links[5].replace(limits=(0, 1)),
        ]
    )
    assert limited.limits[[0, 2, 7]].tolist() == [[-1, 1], [-3, 3], [0, 1]]
    assert limited != made


def test_equal_mechanisms_are_equal_also_after_pickling() -> None:
    made = tree()
    again = pickle.loads(pickle.dumps(made))
    assert again == made == copy.deepcopy(made)
    assert hash(again) == hash(made)
    assert again != made.replace(name="other")
    assert (again.poses(np.ones(8)) == made.poses(np.ones(8))).all()
    with pytest.raises(AttributeError, match="never changes"):
        made.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        made.links[0].polygons[0][0, 0] = 1.0


def test_the_table_says_what_varies() -> None:
    loop = planar.Loop("A4", (0.5, 0.0), "world", (1.0, 2.0))
    lines = repr(tree().replace(loops=[loop])).splitlines()
    assert lines[0] == "tree: 6 links in the plane, 8 coordinates; lengths in m, angles in rad"
    assert lines[2].split() == ["link", "on", "joint", "a", "theta", "at", "x", "y", "phi", "polygons"]
    assert lines[3].split() == ["A1", "world", "free", "q1,", "q2", "q3", "0", "0", "0", "1"]
    assert lines[7].split() == ["A5", "A2", "revolute", "1.1", "q7", "0", "0", "0.7", "1"]
    assert lines[9] == "loop loop1: revolute joint of A4 at (0.5, 0) and world at (1, 2)"


def test_names_that_steer_a_terminal_are_written_out() -> None:
    made = planar.Mechanism([planar.Link(name="a\x1b[31m\nb"), planar.Link(name="\u8155", a=1.0)], name="two\nlines")
    space = planar.configuration_space(made, points=3)
    for said in (repr(made), str(made.freedoms()), made.transform_text(), str(space)):
        assert "\x1b" not in said
        assert "a\\x1b[31m\\nb" in said
    assert len(repr(made).splitlines()) == 5
    assert "two\\nlines" in repr(made)
