"""Joints that follow others: what the coordinates are, what they may be, and that the free mechanism moves alike."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise import Link, Mechanism, Mimic, Motor
from linkwise.dynamics import spatial_operators
from linkwise.errors import ModelError
from linkwise.model.coupling import coupling
from support.messages import unnamed
from support.random_mechanisms import COUPLED, direct, random_state, relative, variant


def gripper(**fields: object) -> Mechanism:
    """A turning hand with two fingers that slide apart, one for both."""
    finger = {"joint": "prismatic", "parent": "hand", "mass": 0.1, **fields}
    return Mechanism(
        [
            Link(name="hand", mass=1.0, inertia=(0.1, 0.1, 0.1)),
            Link(name="left", axis=(1, 0, 0), joint_name="slide", limits=(0.0, 0.04), **finger),
            Link(name="right", axis=(1, 0, 0), mimic=Mimic("slide", ratio=-1.0, offset=0.01), **finger),
        ],
        name="gripper",
    )


def test_coordinates_belong_to_the_joints_that_follow_no_other() -> None:
    mech = gripper()
    assert (mech.n, mech.nq, mech.nv, mech.coupled) == (2, 2, 2, True)
    assert mech.names == ("hand", "slide")
    assert mech.coordinates == (0, 1, 1)
    assert mech.is_length == (False, True)
    poses = mech.link_poses([0.0, 0.03])
    assert poses[1, 0, 3] == 0.03
    assert poses[2, 0, 3] == pytest.approx(-0.02, abs=1e-17)
    assert pickle.loads(pickle.dumps(mech)) == mech
    assert mech.replace_link("right", mimic=None) != mech
    assert "-q2 + 0.01" in repr(mech)
    assert "2 joints (RP), 1 that follows another" in repr(mech)


def test_a_follower_of_a_follower() -> None:
    links = [Link(name="a"), Link(name="b", mimic=Mimic("a", 2.0, 0.5)), Link(name="c", mimic=Mimic("b", -3.0, 0.1))]
    found = Mechanism(links).followers[2]
    assert (found.coordinate, found.ratio) == (0, -6.0)
    assert found.shift == pytest.approx(-3.0 * 0.5 + 0.1, abs=1e-15)


def test_limits_are_those_of_all_that_share_a_coordinate() -> None:
    """The right finger slides -q + 0.01 from -0.02 to 0.01, so that q goes from 0 to 0.03."""
    mech = gripper().replace_link("right", limits=(-0.02, 0.01), qd_max=0.2).replace_link("left", qd_max=0.5)
    assert np.allclose(np.column_stack([mech.q_min, mech.q_max])[1], [0.0, 0.03], rtol=0, atol=1e-17)
    assert mech.qd_max.tolist() == [np.inf, 0.2]
    assert mech.replace_link("left", tau_max=7.0).tau_max.tolist() == [np.inf, 7.0]
    still = mech.replace_link("right", mimic=Mimic("slide", 0.0, 0.01))
    assert np.column_stack([still.q_min, still.q_max])[1].tolist() == [0.0, 0.04]


def test_limits_that_meet_in_one_value_hold_it_whatever_rounding_does() -> None:
    """0.07 * 3 is 0.21000000000000002: the follower's limit over its ratio lies next to the leader's."""
    mech = gripper().replace_link("left", limits=(0.07, 0.07))
    for ratio, shift, value in ((3.0, 0.0, 0.21), (3.0, 0.1, 0.31), (-7.0, 0.0, -0.49)):
        still = mech.replace_link("right", mimic=Mimic("slide", ratio, shift), limits=(value, value))
        assert 0.0 <= still.q_max[1] - still.q_min[1] <= 1e-16
        assert abs(still.q_min[1] - 0.07) <= 1e-16
    links = [Link(name="a"), Link(name="b", mimic=Mimic("a", 0.0, 0.1)), Link(name="c", mimic=Mimic("b", 3.0))]
    assert Mechanism([*links[:2], links[2].replace(limits=(0.3, 0.3))]).n == 1


@pytest.mark.parametrize("name", COUPLED)
@pytest.mark.parametrize("algorithm", ["link_poses", "forward_kinematics", "center_of_mass", "kinetic_energy", "momentum"])
def test_moves_as_the_free_mechanism_at_the_same_joints(name: str, algorithm: str) -> None:
    mech = variant(name)
    how = coupling(mech)
    q, qd, _ = random_state(mech, 2)
    given = (q, qd) if algorithm in {"kinetic_energy", "momentum"} else (q,)
    free = (how.coordinates(q), how.speeds(qd))[: len(given)]
    assert how.uncoupled.n == sum(link.moves for link in mech.links) > mech.n
    assert relative(direct(mech, algorithm, *given), direct(how.uncoupled, algorithm, *free)) <= 1e-15  # the same operations


@pytest.mark.parametrize("name", COUPLED)
def test_efforts_do_the_work_of_those_of_the_free_mechanism(name: str) -> None:
    """tau' qd is the same power, for any speeds; twenty operations deep, so some units of rounding."""
    mech = variant(name)
    how = coupling(mech)
    q, qd, qdd = random_state(mech, 3)
    free = direct(how.uncoupled, "inverse_dynamics", how.coordinates(q), how.speeds(qd), how.speeds(qdd))
    tau = direct(mech, "inverse_dynamics", q, qd, qdd)
    error = abs(tau @ qd - free @ how.speeds(qd)) / (np.abs(free) @ np.abs(how.speeds(qd)))
    print(f"{error:.1e}")
    assert error <= 1e-15


def test_a_motor_on_a_follower_is_felt_through_the_ratio() -> None:
    """Jm G^2 r^2, B G^2 r^2, and Coulomb friction |G r| with its sides exchanged where r is negative."""
    motor = Motor(inertia=0.01, gear_ratio=5.0, viscous=0.1, coulomb=(0.2, -0.3))
    mech = Mechanism([Link(name="a", mass=1.0), Link(name="b", mimic=Mimic("a", -2.0), motor=motor)])
    assert mech.drives[0].joint == "b"
    assert mech.mass_matrix([0.3])[0, 0] == pytest.approx(0.01 * 25 * 4, rel=1e-15)
    assert mech.friction_torque([1.0])[0] == pytest.approx(0.1 * 25 * 4 + 2 * 5 * 0.3, rel=1e-15)
    assert mech.friction_torque([-1.0])[0] == pytest.approx(-(0.1 * 25 * 4 + 2 * 5 * 0.2), rel=1e-15)


def test_the_spatial_operators_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'gripper'.*joints.*operators"):
        spatial_operators(gripper(), [0.0, 0.0])


WRONG = {
    "no such joint": (
        {"mimic": Mimic("jaw")},
        "joint 'right': mimic.joint is 'jaw'; expected 'hand' or 'slide'",
    ),
    "itself": (
        {"mimic": Mimic("right")},
        "joint 'right': mimic.joint is 'right'; expected a joint that does not follow this one in turn (a ring)",
    ),
    "not a mimic": ({"mimic": "slide"}, "link 'right': mimic is 'slide'; expected a Mimic or None"),
    "fixed": (
        {"joint": "fixed", "mimic": Mimic("slide")},
        "link 'right': mimic is Mimic(joint='slide', ratio=1.0, offset=0.0); expected nothing, for a fixed link has no"
        " coordinate",
    ),
    "name": (
        {"joint_name": "slide"},
        "mechanism 'gripper': links is 'slide'; expected unique joint names; this one occurs twice",
    ),
    "limits": (
        {"limits": (0.5, 0.6)},
        "joint 'right': limits is (0.5, 0.6); expected limits that leave a range to the coordinate of 'slide', which it"
        " follows",
    ),
    "limits of one that stays": (
        {"limits": (0.5, 0.6), "mimic": Mimic("slide", 0.0, 0.01)},
        "joint 'right': limits is (0.5, 0.6); expected limits around 0.01, where the joint stays",
    ),
    "speed": ({"qd_max": -1.0}, "link 'right': qd_max is -1.0; expected a finite number >= 0"),
    "effort": ({"tau_max": "much"}, "link 'right': tau_max is 'much'; expected a finite number >= 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be(case: str) -> None:
    fields, message = WRONG[case]
    with pytest.raises(ModelError) as caught:
        gripper().replace_link("right", **fields)
    assert unnamed(caught.value, message) == []


def test_a_joint_that_is_fixed_cannot_be_followed() -> None:
    links = [Link(name="a"), Link(name="pad", joint="fixed"), Link(name="b", mimic=Mimic("pad"))]
    with pytest.raises(ModelError) as caught:
        Mechanism(links)
    assert unnamed(caught.value, "joint 'b': mimic.joint is 'pad'; expected 'a'; a fixed joint has no coordinate") == []


def test_a_mimic_says_what_is_wrong_with_it() -> None:
    with pytest.raises(ModelError) as caught:
        Mimic("", ratio=np.nan, offset="a")  # type: ignore[arg-type]
    assert [problem.field for problem in caught.value.problems] == ["joint", "ratio", "offset"]


def test_followers_in_a_ring() -> None:
    links = [Link(name="a", mimic=Mimic("b")), Link(name="b", mimic=Mimic("a"))]
    with pytest.raises(ModelError) as caught:
        Mechanism(links)
    assert len(caught.value.problems) == 2
    assert all("(a ring)" in problem.expected for problem in caught.value.problems)
