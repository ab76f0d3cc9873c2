"""Manipulability: Yoshikawa's measure, and what it says of known positions."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import ArgumentError


def test_is_the_root_of_the_determinant_where_there_are_joints_enough() -> None:
    mech = robots.seven_joint()
    q = np.random.default_rng(0).uniform(-2, 2, (5, 7))
    jac = mech.jacobian(q)
    wanted = np.sqrt(np.linalg.det(jac @ np.swapaxes(jac, -1, -2)))
    found = mech.manipulability(q)
    print(f"greatest relative difference {np.abs(found / wanted - 1).max():.1e}")
    assert np.allclose(found, wanted, rtol=1e-10)  # the determinant squares the condition number, some 1e2 here


def test_two_links_have_the_area_of_their_parallelogram() -> None:
    mech = robots.planar_2r()
    length = [link.placement(0.0)[0, 3] for link in mech.links]
    q = np.array([[0.3, 0.9], [1.0, -2.0]])
    wanted = length[0] * length[1] * np.abs(np.sin(q[:, 1]))
    assert np.allclose(mech.manipulability(q, mask="translation"), wanted, rtol=1e-13)  # two roundings of a product


def test_is_zero_in_a_stretched_arm() -> None:
    assert robots.puma560().manipulability(np.zeros(6)) < 1e-15
    assert robots.planar_2r().manipulability([0.4, 0.0], mask="translation") < 1e-15


def test_unknown_axes_are_named() -> None:
    with pytest.raises(ArgumentError, match=r"mask.*'linear'.*'all'.*'translation'.*'rotation'"):
        robots.planar_2r().manipulability([0.0, 0.0], mask="linear")
