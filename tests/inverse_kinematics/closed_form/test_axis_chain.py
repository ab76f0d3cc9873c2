"""The axes of a chain: their exponentials are its forward kinematics, however it was described."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.inverse_kinematics.closed_form.axis_chain import (
    AxisChain,
    chain_of,
    common_point,
    distance,
    feet,
    meeting,
    parallel,
)
from linkwise.model.mimic import Mimic
from support.axis_arms import exponential
from support.random_mechanisms import random_mechanism, random_pose


def _product(chain: AxisChain, q: np.ndarray) -> np.ndarray:
    values = chain.ratios * q[list(chain.coordinates)] + chain.shifts
    made = np.eye(4)
    for along, point, translates, value in zip(chain.axes, chain.points, chain.translates, values, strict=True):
        made = made @ exponential("P" if translates else "R", along, point, value)
    return made


def _read(mech: Mechanism, link: int | str = "tool") -> AxisChain:
    chain, why = chain_of(mech, link)
    assert chain is not None, why
    return chain


@pytest.mark.parametrize("seed", range(4))
def test_the_exponentials_are_the_forward_kinematics(seed: int) -> None:
    mech = random_mechanism(seed, kinds=["revolute", "prismatic", "revolute", "fixed", "revolute"])
    q = np.random.default_rng(seed).uniform(-2, 2, mech.n)
    for link in (-1, 0, len(mech.links) - 1):
        chain, why = chain_of(mech, link)
        if chain is None:
            assert why == "no joint moves this frame"
            continue
        pose = mech.forward_kinematics(q, link=link)
        bound = 1e-13 * max(1.0, float(np.abs(pose).max()))
        assert np.abs(chain.frame @ _product(chain, q) @ chain.home - pose).max() < bound
        assert np.abs(np.asarray(chain.displacement(pose), dtype=float) - _product(chain, q)).max() < bound
        back = chain.reversed()
        assert np.abs(_product(back, q) @ _product(chain, q) - np.eye(4)).max() < bound


def test_a_joint_that_follows_another_outside_the_way_counts_with_its_ratio() -> None:
    mech = Mechanism(
        [
            Link(name="crank", axis=(1.0, 0.0, 0.0)),
            Link(name="arm", axis=(0.0, 1.0, 0.0), parent=None, mimic=Mimic("crank", ratio=-2.0, offset=0.3)),
            Link(name="hand", axis=(0.0, 0.0, 1.0), before=random_pose(np.random.default_rng(0)), parent="crank"),
        ]
    )
    chain = _read(mech, "hand")
    assert chain.coordinates == (0, 1)
    joined, why = chain_of(mech, "arm")
    assert (joined, why) == (None, "joints on the way to this frame follow each other")


def test_positions_of_axes_to_each_other() -> None:
    puma = _read(robots.puma560())
    assert parallel(puma, 1, 2)
    assert meeting(puma, 0, 1)
    assert not meeting(puma, 1, 2)
    point, gap = common_point(puma, 3, 4, 5)
    assert gap < 1e-15
    assert np.abs(point - puma.points[4]).max() < 1e-15
    assert common_point(puma, 1, 2)[1] == np.inf
    assert distance(puma, 1, 2) == pytest.approx(0.4318, abs=1e-15)
    one, other = feet(puma, 2, 3)
    assert np.linalg.norm(other - one) == pytest.approx(0.0203, abs=1e-15)
