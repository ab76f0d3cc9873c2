"""Joints with parallel axes, whatever lies between them."""

import numpy as np

from linkwise import Link, Mechanism, Mimic, robots, symbols
from linkwise.equations.polynomials.expansion import parallel_groups


def coordinates(arm: Mechanism) -> list[tuple[int, ...]]:
    return [group.coordinates for group in parallel_groups(arm)]


def test_ready_robots() -> None:
    found = {name: coordinates(robots.load(name)) for name in ("planar_3r", "scara_icomatic", "ur5", "stanford")}
    assert found["planar_3r"] == [(0, 1, 2)]
    assert found["scara_icomatic"] == [(0, 1)]
    assert found["ur5"] == [(0,), (1, 2, 3), (4,), (5,)]
    assert found["stanford"] == [(0,), (1,), (3,), (4,), (5,)]


def test_a_slide_between_turns_nothing() -> None:
    arm = Mechanism([Link(), Link(), Link(joint="prismatic", axis=(1, 0, 0)), Link(axis=(0, 0, 1))])
    assert coordinates(arm) == [(0, 1, 3)]


def test_axes_that_point_against_each_other_are_subtracted() -> None:
    arm = Mechanism([Link(axis=(0, 0, 1)), Link(axis=(0, 0, -1)), Link(axis=(0, 0, 1))])
    first, second, third = parallel_groups(arm)[0].sums
    assert (first, second, third) in (
        ({0: 1}, {0: -1, 1: 1}, {0: 1, 1: -1, 2: 1}),
        ({0: 1}, {0: 1, 1: -1}, {0: 1, 1: -1, 2: 1}),
    )


def test_branches_share_what_carries_them() -> None:
    links = [
        Link(name="a"),
        Link(name="b", parent="a"),
        Link(name="c", parent="a"),
        Link(name="d", parent="b", axis=(1, 0, 0)),
    ]
    found = parallel_groups(Mechanism(links))
    assert [group.coordinates for group in found] == [(0, 1, 2), (3,)]
    assert found[0].sums == ({0: 1}, {0: 1, 1: 1}, {0: 1, 2: 1})


def test_a_symbolic_twist_is_no_right_angle_and_none_at_all() -> None:
    links = [Link.dh(alpha=symbols("alpha1"), convention="standard"), Link.dh(convention="standard")]
    assert coordinates(Mechanism(links)) == [(0,), (1,)]
    turned = [links[0].replace(joint="prismatic"), links[1]]
    assert coordinates(Mechanism(turned)) == [(1,)]
    assert coordinates(Mechanism([Link.dh(a=symbols("a1"), convention="standard"), Link.dh(convention="standard")])) == [
        (0, 1)
    ]


def test_joints_that_follow_keep_their_coordinate_in_one_group() -> None:
    finger = Mechanism([Link(name="a"), Link(name="b", axis=(1, 0, 0)), Link(name="c", mimic=Mimic("a", 2.0))])
    assert coordinates(finger) == [(0,), (1,)]
    assert {tuple(angle.items()) for group in parallel_groups(finger) for angle in group.sums} >= {((0, 1),), ((1, 1),)}
    assert np.all([len(group.sums) >= 1 for group in parallel_groups(finger)])
