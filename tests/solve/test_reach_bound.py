"""How far links reach at most, and answers that say when a target is farther away."""

from __future__ import annotations

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.inverse_kinematics import farthest

SHIFTED = np.eye(4)
SHIFTED[:3, 3] = 806.0, 0.0, 0.0


@pytest.mark.parametrize("name", ["puma560", "ur5", "panda", "planar_3r", "jansen"])
@pytest.mark.parametrize("link", ["tool", 1])
def test_nothing_is_farther(name: str, link: int) -> None:
    arm = lw.robots.load(name)
    start, most = farthest(arm, link)
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (300, arm.n))
    away = np.linalg.norm(arm.forward_kinematics(q, link=link)[:, :3, 3] - start, axis=-1)
    assert away.max() <= most * (1 + 1e-14)  # (a few roundings of sums of lengths)
    assert away.max() > 0.5 * most or name != "planar_3r"


def test_slides_screws_and_a_base_that_floats() -> None:
    base = np.eye(4)
    base[2, 3] = 5.0
    rail = lw.Link(joint="prismatic", limits=(-0.5, 0.25), offset=0.1, before=lw.Link(joint="fixed").before)
    arm = lw.Mechanism([lw.Link(joint="fixed", after=base), rail, lw.Link.dh(a=1.0, convention="standard")])
    start, most = farthest(arm)
    assert start.tolist() == [0.0, 0.0, 5.0]
    assert most == pytest.approx(1.4, rel=1e-15)  # 0.4 of the slide, 1 of the link
    free = arm.replace(links=[arm.links[0], rail.replace(limits=None), arm.links[2]])
    screw = lw.Mechanism([lw.Link(joint="screw", pitch=0.1, limits=(-10.0, 5.0))])
    assert farthest(free)[1] == np.inf
    assert farthest(screw)[1] == pytest.approx(1.0, rel=1e-15)
    assert farthest(lw.Mechanism([lw.Link(), lw.Link.dh(a=1.0, convention="standard")], floating=True))[1] == np.inf


def test_a_target_beyond_the_reach_is_told() -> None:
    arm = lw.robots.puma560()
    near = arm.forward_kinematics(np.asarray(np.column_stack([arm.q_min, arm.q_max])).mean(axis=1) + 0.1)
    found = arm.inverse_kinematics([SHIFTED, near])
    assert found.success.tolist() == [False, True]
    assert found.explain(0).endswith("The target is 806 m from the first joint, from where the links reach 1.015 m at most.")
    assert "reach" not in found.explain(1)
    assert "at most" in arm.inverse_kinematics(SHIFTED, method="numeric").explain()


def test_only_what_counts_is_far() -> None:
    arm = lw.robots.planar_2r()
    told = {mask: arm.inverse_kinematics(SHIFTED, mask=mask).explain() for mask in ((1, 1, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0))}
    assert "reach 2 m at most" in told[1, 1, 0, 0, 0, 0]
    assert "at most" not in told[0, 1, 0, 0, 0, 0]  # y = 0 can be met
    assert "reach 2 m at most" in arm.inverse_kinematics(SHIFTED, mask="translation").explain()
    body = arm.inverse_kinematics(SHIFTED, mask=(1, 0, 0, 0, 0, 0), frame="body")
    assert "at most" not in body.explain()


def test_a_point_is_no_pose() -> None:
    for call in (lw.robots.planar_2r().inverse_kinematics, lw.robots.puma560().inverse_kinematics):
        with pytest.raises(ArgumentError, match=r"linkwise\.Position.*'tool'"):
            call([1.0, 0.2, 0.0])
        with pytest.raises(ArgumentError, match=r"expected rigid poses \(\.\.\., 4, 4\)$"):
            call(np.eye(3))
