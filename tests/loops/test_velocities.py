"""Speeds and accelerations through closed loops: against finite differences of positions, and where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.loops import Linkage
from support.loop_mechanisms import linkage, parallelogram, planar_four_bar, planar_slider_crank

H = 1e-4


NAMES = [
    "four-bar",
    "slider-crank",
    "bennett",
    "spherical",
    "spatial full",
    "spatial point floating mimic",
    "five_bar",
    "jansen",
]


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", NAMES)
def test_rates_are_those_of_the_positions(name: str) -> None:
    """Central differences of step 1e-4: 1e-8 times third and fourth derivatives, and rounding, 1e-8 for the second."""
    made = linkage(name)
    rng = np.random.default_rng(0)
    count = len(made.driven)
    ud, udd = rng.normal(size=count), rng.normal(size=count)
    q = made.q0
    u = made.driven_part(q)
    qd = made.velocity(q, ud)
    qdd = made.acceleration(q, qd, udd)
    before, after = (made.position(u + ud * t + 0.5 * udd * t * t, q) for t in (-H, H))
    assert before.success
    assert after.success
    joints = slice(made.mechanism.nq - made.mechanism.n, None)
    speeds = slice(made.mechanism.nv - made.mechanism.n, None)
    first = (after.q - before.q)[joints] / (2 * H)
    second = (after.q - 2 * q + before.q)[joints] / H**2
    scale = 1.0 + np.abs(qdd).max() ** 2
    print(f"speed {np.abs(first - qd[speeds]).max():.1e}, acceleration {np.abs(second - qdd[speeds]).max():.1e}")
    assert np.abs(first - qd[speeds]).max() < 1e-7 * scale
    assert np.abs(second - qdd[speeds]).max() < 2e-6 * scale
    jac, bias = made.mechanism.kernel("closure_jacobian")(q), made.mechanism.kernel("closure_bias")(q, qd)
    assert np.abs(jac @ qd).max() < 1e-12 * scale
    assert np.abs(jac @ qdd + bias).max() < 1e-12 * scale


def test_batches_equal_loops() -> None:
    made = linkage("five_bar")
    rng = np.random.default_rng(1)
    q = made.position(made.driven_part(made.q0) + rng.normal(0, 0.05, (6, 2))).q
    ud, udd = rng.normal(size=(2, 6, 2))
    qd = made.velocity(q, ud)
    assert np.array_equal(qd, [made.velocity(*pair) for pair in zip(q, ud, strict=True)])
    qdd = made.acceleration(q, qd, udd)
    assert np.array_equal(qdd, [made.acceleration(*three) for three in zip(q, qd, udd, strict=True)])
    assert np.array_equal(made.velocity(q[0], [0.0, 0.0]), np.zeros(4))
    assert made.velocity(q[0], ud).shape == (6, 4)


@pytest.mark.usefixtures("uncompiled")
def test_a_toggle_position_has_no_speeds() -> None:
    made = Linkage(planar_slider_crank(), ["slider"], [1.0, -1.2, 0.2])
    dead = np.array([0.0, 0.0, 0.25])
    with pytest.raises(ArgumentError, match=r"velocity.*'slider'"):
        made.velocity(dead, [1.0])
    with pytest.raises(ArgumentError, match="acceleration: q is a toggle position"):
        made.acceleration(dead, np.zeros(3), [1.0])
    with pytest.raises(ArgumentError, match=r"velocity: q at \(1,\) is a toggle position"):
        made.velocity(np.array([made.q0, dead]), [1.0])


def test_open_loops_have_no_speeds() -> None:
    made = linkage("four-bar")
    with pytest.raises(ArgumentError, match=r"velocity.*loops.*open.*q"):
        made.velocity(np.zeros(3), [1.0])
    with pytest.raises(ArgumentError, match="the given velocities open the loops"):
        made.acceleration(made.q0, np.ones(3), [0.0])


def test_what_is_no_number_is_named() -> None:
    made = linkage("four-bar")
    with pytest.raises(ArgumentError, match=r"ud is nan at \(0,\)"):
        made.velocity(made.q0, np.array([np.nan]))
    with pytest.raises(ArgumentError, match=r"qd is nan at \(1,\)"):
        made.acceleration(made.q0, np.array([0.0, np.nan, 0.0]), np.zeros(1))


@pytest.mark.usefixtures("uncompiled")
def test_singular_positions_are_named() -> None:
    crank = Linkage(planar_four_bar(1.0, 4.0, 3.0, 4.0), ["crank"], [0.4, 1.0, 2.0])
    rocker = Linkage(planar_four_bar(1.0, 4.0, 3.0, 4.0), ["rocker"], [0.4, 1.0, 2.0])
    line = np.arccos((16.0 + 25.0 - 9.0) / 40.0)  # crank and coupler in line, 5 long
    pin = 5.0 * np.array([np.cos(line), np.sin(line)]) - [4.0, 0.0]
    q = np.array([line, 0.0, np.arctan2(pin[1], pin[0])])
    found = crank.singularities(q)
    assert (found.toggle, found.still, found.dead_point, found.branching) == (False, ("rocker",), True, False)
    assert "a dead point: 'rocker' stands still" in found.explain()
    other = rocker.singularities(q)
    assert (other.toggle, other.still, other.branching) == (True, (), False)
    assert other.driving < 1e-15
    assert np.isinf(other.ratios).all()
    assert "a toggle position (smallest singular value" in other.explain()
    assert "cannot drive the others" in repr(other)
    away = crank.singularities(crank.q0)
    assert (away.toggle, away.dead_point, away.branching) == (False, False, False)
    assert np.allclose(away.ratios[:, 0], crank.velocity(crank.q0, [1.0])[1:], rtol=0, atol=1e-13)
    assert "not a toggle position" in away.explain()


@pytest.mark.usefixtures("uncompiled")
def test_how_close_a_singular_position_is() -> None:
    """For small angles from the dead point the measure goes down in proportion."""
    made = Linkage(planar_slider_crank(), ["slider"], [1.0, -1.2, 0.2])
    crank = Linkage(planar_slider_crank(), ["crank"], [1.0, -1.2, 0.2])
    far, near = (made.singularities(crank.position([angle]).q) for angle in (2e-2, 1e-2))
    assert far.driving / near.driving == pytest.approx(2.0, rel=1e-3)
    assert "close to a toggle position" in near.explain()


@pytest.mark.usefixtures("uncompiled")
def test_branches_meet_in_the_flat_parallelogram() -> None:
    made = Linkage(parallelogram(), ["crank"], [0.5, -0.5, 0.5])
    found = made.singularities([0.0, 0.0, 0.0])
    assert found.branching
    assert found.toggle
    assert "branches of motion meet" in found.explain()


@pytest.mark.usefixtures("uncompiled")
def test_the_link_that_matters() -> None:
    """The foot of the slider-crank, the slider: in the dead point it lacks its one motion."""
    made = Linkage(planar_slider_crank(), ["crank"], [1.0, -1.2, 0.2])
    stands = made.singularities([0.0, 0.0, 0.25], output="slider")
    assert stands.output is not None
    assert stands.output <= 1e-6
    assert stands.dead_point
    assert "a dead point of the link asked for" in stands.explain()
    moves = made.singularities(made.q0, output="slider")
    assert moves.output == 1.0
    assert not moves.dead_point
