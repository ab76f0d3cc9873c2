"""What is driven, what is refused, and putting a mechanism together from nothing."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, Motor, robots
from linkwise.errors import ArgumentError, ModelError
from linkwise.loops import Linkage, assemble
from linkwise.loops.loop_solver import closing
from linkwise.solve import REASONS
from linkwise.spatial.rotation import rotation_x
from linkwise.spatial.transform import transform, translation
from support.loop_mechanisms import (
    bundled,
    parallelogram,
    planar_four_bar,
    planar_slider_crank,
    spatial_loop,
    spherical_four_bar,
    triangle,
)
from support.messages import unnamed

pytestmark = pytest.mark.usefixtures("uncompiled")


@pytest.mark.parametrize(
    ("name", "driven"),
    [
        ("four_bar", ("crank",)),
        ("slider_crank", ("crank",)),
        ("five_bar", ("left_crank", "right_crank")),
        ("jansen", ("crank",)),
        ("stewart", tuple(f"leg{k}" for k in range(1, 7))),
    ],
)
def test_what_is_driven_when_nobody_says(name: str, driven: tuple[str, ...]) -> None:
    made = Linkage(bundled(name))
    assert made.driven == driven
    assert set(made.driven) | set(made.passive) == set(made.mechanism.names)
    assert Linkage(bundled(name)).rows == made.rows


def test_a_joint_with_a_motor_is_driven() -> None:
    mech = planar_four_bar(1.0, 4.0, 3.0, 4.0)
    for name in mech.names:
        driven = mech.replace_link(name, motor=Motor(inertia=1e-4, gear_ratio=50.0))
        assert Linkage(driven, None, [0.4, 1.0, 2.0]).driven == (name,)


def test_what_cannot_drive() -> None:
    mech = planar_four_bar(1.0, 4.0, 3.0, 4.0)
    with pytest.raises(ArgumentError) as caught:
        Linkage(mech, ["crank", "rocker"])
    said = "'four-bar' has 1 degree of freedom, so 1 coordinates are driven, not 2 ('crank' and 'rocker'); 'crank' could be"
    assert unnamed(caught.value, said.replace("1 coordinates are", "1 coordinate is")) == []
    with pytest.raises(ArgumentError, match=r"driven.*'knee'.*'crank'.*'coupler'.*'rocker'"):
        Linkage(mech, ["knee"])
    arm = mech.replace(links=[*mech.links, Link(name="arm", parent="rocker", joint="revolute", before=translation(1.0))])
    with pytest.raises(
        ArgumentError, match=r"'crank' and 'rocker' cannot drive 'four-bar'; 'arm' and 'crank'|'crank' and 'arm'"
    ):
        Linkage(arm, ["crank", "rocker"])


def test_the_order_of_what_is_driven_is_the_users() -> None:
    mech = bundled("five_bar")
    one, other = Linkage(mech, ["left_crank", "right_crank"]), Linkage(mech, ["right_crank", "left_crank"])
    assert other.driven == ("right_crank", "left_crank")
    found = other.position([0.3, 0.1])
    assert found.q[[0, 2]].tolist() == [0.1, 0.3]
    assert np.allclose(found.q, one.position([0.1, 0.3]).q, rtol=0, atol=1e-14)
    assert other.driven_part(found.q).tolist() == [0.3, 0.1]
    qd = other.velocity(found.q, [2.0, 1.0])
    assert qd[[0, 2]].tolist() == [1.0, 2.0]
    assert np.allclose(other.acceleration(found.q, qd, [4.0, 3.0])[[0, 2]], [3.0, 4.0], rtol=0, atol=0)
    with pytest.raises(ArgumentError, match=r"driven.*'left_crank'.*'left_crank'"):
        Linkage(mech, ["left_crank", "left_crank"])


def test_loops_that_contradict_themselves_by_little_are_told() -> None:
    """A pin tilted by 1e-7: five equations for three joints, which must repeat each other, and nearly do."""
    mech = bundled("four_bar")
    (pin,) = mech.loops
    tilted = pin.second_frame @ transform(rotation_x(1e-7), None)
    bent = mech.replace(loops=[Loop("hinge", pin.first, pin.second, pin.first_frame, tilted)])
    assert assemble(bent).reason == "unreachable"
    with pytest.raises(ArgumentError, match=r"-08.*5.*equations.*3.*coordinates"):
        Linkage(bent)
    with pytest.raises(ModelError, match=r"5.*equations.*3.*coordinates"):
        bent.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    ball = bent.replace(loops=[Loop("point", pin.first, pin.second, pin.first_frame, tilted)])
    assert Linkage(ball, ["crank"]).position([0.3]).success


def test_rounding_is_no_length() -> None:
    """Axes that meet in a point to 1e-16 m: what they are apart is not what errors are measured by."""
    mech = spherical_four_bar()
    (pin,) = mech.loops
    aside = Loop(pin.kind, pin.first, pin.second, pin.first_frame, translation(0, 0, 1e-16))
    assert closing(mech).size == closing(mech.replace(loops=[aside])).size == 1.0
    assert assemble(mech.replace(loops=[aside])).success


def test_which_single_coordinates_could() -> None:
    """A free joint beside a structure: it is the one that moves, so it is the one to drive."""
    bars = triangle()
    mech = bars.replace(links=[*bars.links, Link(name="arm", parent="base", joint="revolute")])
    with pytest.raises(ArgumentError, match="'one' cannot drive 'triangle'; 'arm' could"):
        Linkage(mech, ["one"])
    assert Linkage(mech, ["arm"]).position([0.5]).success


def test_what_has_nothing_to_drive() -> None:
    with pytest.raises(ArgumentError, match="'triangle' has no degree of freedom"):
        Linkage(triangle())
    with pytest.raises(ArgumentError, match=r"'arm'.*coordinate.*driven"):
        Linkage(Mechanism([Link(name="a", joint="revolute")], name="arm"))
    with pytest.raises(ArgumentError, match=r"'four-bar'.*1e-12"):
        Linkage(planar_four_bar(1.0, 1.0, 1.0, 10.0))


def test_shapes_are_checked() -> None:
    made = Linkage(robots.five_bar())
    with pytest.raises(ArgumentError, match=r"u.*\(3,\).*\(\.\.\., 2\).*'left_crank'"):
        made.position([0.1, 0.2, 0.3])
    with pytest.raises(ArgumentError, match=r"u has the shape \(3,\)|linkage_step: u has the shape \(3,\); expected"):
        made.position(np.array([0.1, 0.2, 0.3]))
    with pytest.raises(ArgumentError, match=r"q0.*\(3,\).*\(\.\.\., 4\)"):
        made.position([0.1, 0.2], [0.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match="do not fit each other"):
        made.position(np.zeros((3, 2)), np.zeros((2, 4)))
    with pytest.raises(ArgumentError, match=r"u is nan at \(0,\)"):
        made.position([np.nan, 0.0])
    with pytest.raises(ArgumentError, match=r"u has the shape \(4,\); expected \(T, 2\)"):
        made.trace(np.zeros(4))
    with pytest.raises(ArgumentError, match="linkage_velocity: ud has the shape"):
        made.velocity(made.q0, [1.0, 2.0, 3.0])


def test_put_together_from_nothing() -> None:
    for name in ("four_bar", "five_bar", "jansen", "delta"):
        mech = bundled(name)
        q0 = mech.neutral.copy()
        q0[:] = np.random.default_rng(2).normal(0.0, 0.5, mech.n)
        found = assemble(mech, q0)
        assert found.success, name
        assert np.abs(mech.kernel("closure")(found.q)).max() < 1e-12
        assert mech.kernel("closure_facing")(found.q).min() > 0.999


def test_many_at_once_near_where_they_start() -> None:
    mech = planar_slider_crank(limits=(0.16, 0.24))
    starts = np.random.default_rng(3).uniform(-1, 1, (20, 3))
    found = assemble(mech, starts)
    assert found.success.all()
    assert found.q.shape == (20, 3)
    assert found.q[:, 2].min() >= 0.16
    assert found.q[:, 2].max() <= 0.24
    assert np.array_equal(found.q, assemble(mech, starts).q)


def test_closed_already_stays_where_it_is() -> None:
    mech, q = spatial_loop("point")
    found = assemble(mech, q)
    assert found.success
    assert np.allclose(found.q, q, rtol=0, atol=1e-13)
    floating, q = spatial_loop("point", floating=True, mimic=True)
    assert np.array_equal(assemble(floating, q).q[:7], q[:7])


def test_the_nearest_is_told_where_there_is_none() -> None:
    mech = planar_four_bar(1.0, 1.0, 1.0, 10.0)
    found = assemble(mech)
    assert (found.success, found.reason) == (False, "unreachable")
    assert np.linalg.norm(mech.kernel("closure")(found.q)) == pytest.approx(7.0, abs=1e-6)  # stretched out, 7 are missing
    assert 0.49 < found.closure_error <= 0.7 + 1e-6  # the greater of its two parts, in axes of the coupler
    assert found.explain().startswith(REASONS["unreachable"])


def test_assembly_is_checked() -> None:
    with pytest.raises(ArgumentError, match="seed is -1"):
        assemble(parallelogram(), seed=-1)
    with pytest.raises(ArgumentError, match=r"q0.*\(2,\).*\(\.\.\., 3\)"):
        assemble(parallelogram(), [0.0, 0.0])
    with pytest.raises(ArgumentError, match="has no loops; every position of it is closed"):
        assemble(robots.puma560())
