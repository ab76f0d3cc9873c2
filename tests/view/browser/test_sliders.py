"""A slider shows a joint in the unit that people read, between its limits."""

import math

import numpy as np
import pytest

import linkwise as lw
from linkwise.view.browser.panel import scales


def test_limits_are_the_ends() -> None:
    panda = lw.robots.panda()
    for scale, (low, high), name in zip(
        scales(panda, 1.0), np.column_stack([panda.q_min, panda.q_max]), panda.names, strict=True
    ):
        assert scale.label == f"{name} [deg]"
        assert 0 <= scale.least - np.degrees(low) < scale.step  # round numbers, none beyond a limit
        assert 0 <= np.degrees(high) - scale.most < scale.step
        assert scale.least == round(scale.least, 1)
        assert not scale.endless
        assert 1000 <= (scale.most - scale.least) / scale.step < 10_000


def test_joints_without_limits_have_a_turn_or_the_size() -> None:
    scara = lw.robots.scara_icomatic()
    made = scales(scara, 0.83)
    assert [scale.label for scale in made] == ["link1 [deg]", "link2 [deg]", "link3 [m]"]
    assert (made[0].least, made[0].most, made[0].endless) == (-180.0, 180.0, True)
    assert (made[2].least, made[2].most, made[2].endless) == (-0.9, 0.9, False)
    assert made[2].hint == "m; no limits"


def test_a_turn_leads_back() -> None:
    scale = scales(lw.robots.planar_2r(), 1.0)[0]
    assert scale.shown(math.radians(350.0)) == -10.0
    assert scale.shown(math.radians(-3 * 360.0 + 20.0)) == 20.0
    now = 4 * math.pi + 0.1
    assert scale.value(0.0, now) == 4 * math.pi  # the nearest of all that look the same
    assert scale.value(170.0, math.radians(-175.0)) == pytest.approx(math.radians(-190.0), rel=1e-15)


def test_one_limit_is_enough_for_an_end() -> None:
    links = [lw.Link.dh(d=0.1, convention="standard", joint="prismatic", limits=(0.2, math.inf))]
    scale = scales(lw.Mechanism(links), 0.5)[0]
    assert (scale.least, scale.most) == (0.2, pytest.approx(0.7))
    assert scale.shown(0.0) == 0.2  # what lies outside stands at the end


def test_sliders_reach_all_of_a_motion() -> None:
    arm = lw.robots.planar_2r()
    moved = np.radians([[0.0, -10.0], [720.0, 10.0]])
    scale, other = scales(arm, 1.0, moved)
    assert (scale.least, scale.most) == (-180.0, 720.0)
    assert scale.shown(math.radians(500.0)) == 500.0
    assert (other.least, other.most) == (-180.0, 180.0)


def test_what_a_slider_shows_is_what_it_asks_for() -> None:
    for scale, value in zip(scales(lw.robots.puma560(), 1.0), [0.1, 0.5, -1.2, 0.3, 0.6, 0.0], strict=True):
        assert scale.value(scale.shown(value), value) == pytest.approx(value, abs=0.5 * scale.step * scale.factor + 1e-12)
