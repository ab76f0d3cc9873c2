"""Bounds of degrees, read off the operations of a tape, and what is refused."""

import pytest

from linkwise import Link, Mechanism, robots
from linkwise.equations.degrees import Degrees, degrees
from linkwise.errors import ArgumentError
from linkwise.kernel.tape import trace
from mechanisms import random_mechanism


def found(function, count=1):
    made = trace(function, "made", {"q": (3,)}, {"y": (count,)})
    return degrees(made, ("a", "b", "c"))


def test_each_operation() -> None:
    def results(q):
        turned = (0.5 - (q[0] + q[1] * 2.0) / 1.0).sin()
        return [turned * turned, q[2] * q[2] * q[2] - q[2], -turned + q[2], turned / 3.0, (-q[1]).cos() * q[1].sin()]

    assert [entry.shape for entry in found(results, 5)] == [
        (5, 9, 1),
        (1, 1, 4),
        (3, 5, 2),
        (3, 5, 1),
        (1, 5, 1),
    ]


def test_what_has_no_harmonics_is_refused() -> None:
    refused = {
        "made takes sqrt of an expression in the coordinates, which is no sum of sines and cosines": lambda q: [q[0].sqrt()],
        "made takes abs of an expression in the coordinates, which is no sum of sines and cosines": lambda q: [abs(q[0])],
        "made takes atan2 of an expression in the coordinates, which is no sum of sines and cosines": lambda q: [
            q[0].atan2(q[1])
        ],
        "made takes select of an expression in the coordinates, which is no sum of sines and cosines": lambda q: [
            q[0].select(1.0, 2.0)
        ],
        "made takes div of an expression in the coordinates, which is no sum of sines and cosines": lambda q: [1.0 / q[0]],
        "made takes sin of an expression in the coordinates, which is no sum of sines and cosines": lambda q: [
            q[0].cos().sin()
        ],
        "made takes cos of an expression in the coordinates, which is no sum of sines and cosines": lambda q: [
            (q[0] * q[1]).cos()
        ],
        "sine and cosine of 0.5 times coordinate 'b', which is no whole multiple": lambda q: [(q[1] * 0.5).sin()],
        "coordinate 'c' stands both inside and outside of sine and cosine, as a screw's does": lambda q: [q[2].sin() + q[2]],
    }
    for message, function in refused.items():
        with pytest.raises(ArgumentError) as caught:
            found(function)
        assert str(caught.value) == message


def test_mass_matrix_of_a_chain_depends_only_on_joints_beyond_the_first_of_the_pair() -> None:
    arm = random_mechanism(1, ["revolute", "revolute", "prismatic", "revolute"], [-1, 0, 1, 2])
    bounds = degrees(arm.kernel("mass_matrix").tape, arm.names)
    for i in range(4):
        for j in range(i, 4):
            entry = bounds[4 * i + j]
            wanted = [0 if k <= i else 1 if k <= j else 2 for k in range(4)]  # (the force on a composite body passes inward)
            assert all(h + p <= w for h, p, w in zip(entry.harmonics, entry.powers, wanted, strict=True))
            assert entry.harmonics[2] == 0
            assert all(entry.powers[k] == 0 for k in (0, 1, 3))


def test_branches_do_not_see_each_other() -> None:
    tree = random_mechanism(2, ["revolute"] * 4, [-1, 0, -1, 2])
    for i, entry in enumerate(degrees(tree.kernel("gravity_torque").tape, tree.names)):
        own, other = ((0, 1), (2, 3)) if i < 2 else ((2, 3), (0, 1))
        assert all(entry.harmonics[k] for k in own)
        assert not any(entry.harmonics[k] for k in other)


def test_gravity_along_the_first_axis_is_not_felt_there() -> None:
    arm = robots.puma560()
    assert all(entry.harmonics[0] == 0 for entry in degrees(arm.kernel("gravity_torque").tape, arm.names))


def test_bounds_and_sizes() -> None:
    entry = Degrees((3, 0, 0), (0, 4, 0))
    assert (entry.shape, entry.size) == ((7, 5, 1), 35)
    assert entry.at_most([2, 3, 1]) == Degrees((2, 0, 0), (0, 3, 0))


def test_fixed_links_alone_have_no_coordinates() -> None:
    assert degrees(Mechanism([Link(joint="fixed", mass=1.0)]).kernel("mass_matrix").tape, ()) == []
