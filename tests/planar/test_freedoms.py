"""The count of degrees of freedom, its words, and the rank where loops are closed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwise as lw
from linkwise import planar, robots
from linkwise.errors import ArgumentError
from linkwise.loops import Linkage
from linkwise.loops.loop_solver import closed_samples, closing
from linkwise.loops.mobility import ranks_at
from linkwise.planar import Link, Loop, Mechanism
from linkwise.planar.spatial import twin

pytestmark = pytest.mark.usefixtures("uncompiled")


def four_bar(*, extra: bool = False, place: float = 1.0) -> Mechanism:
    """A parallelogram of cranks 1 m and a coupler 2 m long; with an extra crank at a place along it, if asked for."""
    links = [
        Link(name="crank"),
        Link(name="coupler", a=1.0),
        Link(name="rocker", parent="world", a=2.0),
    ]
    loops = [Loop("coupler", (2.0, 0.0), "rocker", (1.0, 0.0), name="pin")]
    if extra:
        links.append(Link(name="middle", parent="world", a=place))
        loops.append(Loop("coupler", (place, 0.0), "middle", (1.0, 0.0), name="middle pin"))
    return Mechanism(links, loops, name="parallelogram")


def chain(count: int, first: str) -> Mechanism:
    return Mechanism([Link(joint=first), *(Link(a=1.0) for _ in range(count - 1))])


@pytest.mark.parametrize("m", [1, 2, 5])
def test_chains_have_the_texts_counts(m: int) -> None:
    """3 + (m - 1) with a free first link, m - 1 with one that does not move, m where it turns on the ground too."""
    assert chain(m, "free").freedoms().count == 3 + (m - 1)
    assert chain(m, "fixed").freedoms().count == m - 1
    assert chain(m, "revolute").freedoms().count == m
    assert all(int(chain(m, first).freedoms()) == chain(m, first).nq for first in ("free", "fixed", "revolute"))


def test_two_free_bodies_have_six_and_a_joint_of_either_kind_removes_two() -> None:
    apart = Mechanism([Link(joint="free"), Link(joint="free", parent="world")])
    assert apart.freedoms().count == 6
    for joint in ("revolute", "prismatic"):
        assert Mechanism([Link(joint="free"), Link(joint=joint)]).freedoms().count == 4


def test_the_words_of_a_four_bar() -> None:
    found = four_bar().freedoms()
    assert (found.count, found.by_rank, int(found), f"{found!r}") == (1, 1, 1, "<Freedoms: 1>")
    assert str(found).splitlines() == [
        "parallelogram: 3 bodies in the plane, 3 degrees of freedom each: 9",
        "  crank on the world, revolute joint: removes 2 (the place of one point; the angle stays free)",
        "  coupler on crank, revolute joint: removes 2 (the place of one point; the angle stays free)",
        "  rocker on the world, revolute joint: removes 2 (the place of one point; the angle stays free)",
        "  loop pin, coupler with rocker, revolute joint: removes 2 (the place of one point; the angle stays free)",
        "9 - 2 - 2 - 2 - 2 = 1 degree of freedom",
        "By rank of the loop equations at a closed configuration: 1 degree of freedom too.",
    ]


def test_an_extra_parallel_crank_makes_the_count_wrong_and_the_rank_tells() -> None:
    upright = [math.pi / 2, -math.pi / 2, math.pi / 2, math.pi / 2]
    found = four_bar(extra=True).freedoms(upright)
    assert (found.count, found.by_rank, int(found)) == (0, 1, 1)
    assert repr(found) == "<Freedoms: 0, 1 by rank>"
    last = str(found).splitlines()[-1]
    assert "1 degree of freedom. The lengths are such that 1 of the loop equations repeats others" in last
    anywhere = four_bar(extra=True).freedoms()  # (crossed, it is stuck where the extra crank happens to fit)
    assert (anywhere.count, anywhere.by_rank, int(anywhere)) == (0, 1, 1)
    assert "1 degree of freedom. The lengths are such that 1 of the loop equations repeats others" in str(anywhere)
    assert str(anywhere).endswith("At others, put together in another way, 0 degrees of freedom.")


@pytest.mark.parametrize("place", [0.4, 0.7, 1.0, 1.3])
@pytest.mark.parametrize("driven", ["crank", "coupler", "rocker", "middle"])
def test_a_parallelogram_with_a_third_bar_is_driven(place: float, driven: str) -> None:
    """By any of its joints, from the first configuration that the search finds, round and through one line.

    The configurations that come back are those of the parallelogram, known in closed form: to 1e-12 of the size, and beside
    one line to the root of that.
    """
    made = four_bar(extra=True, place=place)
    angles = np.linspace(0.4, 2.7, 40)
    shape = np.array([1.0, -1.0, 1.0, 1.0])
    sign = -1.0 if driven == "coupler" else 1.0
    for angle in angles:
        near = shape * angle + 0.05 * np.array([1.0, -2.0, 0.5, -1.0])
        near[made.coordinate_names.index(driven)] = sign * angle
        assert np.abs(made.close(near, driven=driven) - shape * angle).max() <= 1e-11
    linkage = made.linkage(driven)
    turn = linkage.trace(sign * angles, q0=shape * angles[0])
    assert turn.success.all()
    assert np.abs(turn.q - shape * angles[:, None]).max() <= 1e-11
    with pytest.raises(ArgumentError, match="1 degree of freedom"):
        made.linkage([driven, "crank" if driven != "crank" else "rocker"])


def test_the_drive_leaves_a_stuck_assembly_that_the_search_begins_with() -> None:
    """Zero closes where the extra crank happens to fit the crossed bars; a mechanism that moves is driven all the same."""
    base = four_bar(extra=True)
    stuck = closed_samples(closing(twin(base)), count=30)
    task = closing(twin(base))
    at = next(q for q, rank in zip(stuck, ranks_at(task, stuck), strict=True) if rank == 4)
    links = [link.replace(theta=float(angle)) for link, angle in zip(base.links, at, strict=True)]
    moved = base.replace(links=links)
    assert np.abs(moved.gaps(np.zeros(4))).max() <= 1e-11
    assert (moved.freedoms(np.zeros(4)).by_rank, moved.freedoms().by_rank) == (0, 1)
    assert moved.linkage("crank").driven == ("crank",)
    with pytest.raises(ArgumentError, match="no degree of freedom"):
        Linkage(twin(moved), ["crank"], q0=np.zeros(4))


def test_a_flat_parallelogram_is_singular() -> None:
    found = four_bar().freedoms([0.0, 0.0, 0.0])
    assert (found.count, found.by_rank) == (1, 2)
    assert str(found).endswith("2 degrees of freedom at this configuration, which is singular; 1 at closed ones around it.")


def test_a_parallelogram_upright_has_one() -> None:
    assert four_bar().freedoms([math.pi / 2, -math.pi / 2, math.pi / 2]).by_rank == 1


@pytest.mark.parametrize(("name", "count"), [("slider_crank", 1), ("five_bar", 2), ("jansen", 1)])
def test_bundled_linkages(name: str, count: int) -> None:
    found = planar.from_spatial(getattr(robots, name)()).freedoms()
    assert (found.count, found.by_rank) == (count, count)


def test_a_six_bar_has_one() -> None:
    """A four-bar whose coupler carries two more links: 3 * 5 - 2 * 7 = 1."""
    base = four_bar()
    links = [
        *base.links,
        Link(name="rod", parent="coupler", a=1.0, at=(0.0, 0.0, 0.5)),
        Link(name="lever", parent="world", at=(3.0, 0.5, 0.0)),
    ]
    made = base.replace(links=links, loops=[*base.loops, Loop("rod", (2.0, 0.0), "lever", (1.5, 0.0))])
    found = made.freedoms()
    assert (found.count, found.by_rank) == (1, 1)


def test_a_rigid_connection_removes_three() -> None:
    made = Mechanism(four_bar().links, [Loop("coupler", (2.0, 0.0), "rocker", (1.0, 0.0), "fixed", 1.0)])
    assert made.freedoms().count == 0


def test_where_no_rank_is_known_it_says_why() -> None:
    short = Mechanism([Link(name="a")], [Loop("a", (1.0, 0.0), "world", (5.0, 0.0))], name="short")
    assert short.freedoms().by_rank is None
    assert int(short.freedoms()) == -1
    assert "no configuration was found at which the loops are closed" in str(short.freedoms())
    symbolic = Mechanism([Link(name="a")], [Loop("a", (lw.symbols("l"), 0.0), "world", (5.0, 0.0))])
    assert "the mechanism has symbols" in str(symbolic.freedoms())
    with pytest.raises(ArgumentError, match="are open at q"):
        four_bar().freedoms([0.3, 0.3, 0.3])
    with pytest.raises(ArgumentError, match=r"configuration.*\(3,\).*\(\.\.\., 2\)"):
        chain(2, "revolute").freedoms([0.3, 0.3, 0.3])
