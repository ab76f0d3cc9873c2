"""Many solutions from many starts: those of the closed form where there is one, distinct, checked, in order."""

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, robots
from linkwise.inverse_kinematics import Solutions, numeric_solutions

from .test_inverse_kinematics import errors, random_positions


@pytest.mark.parametrize("name", ["puma560", "ur5"])
def test_the_closed_form_finds_the_same(name: str) -> None:
    mech = robots.load(name)
    T = mech.forward_kinematics(random_positions(mech, 12, 1))
    wanted, found = mech.all_inverse_kinematics(T), mech.all_inverse_kinematics(T, method="numeric", starts=300)
    assert isinstance(found, Solutions)
    assert found.count.tolist() == wanted.count.tolist()
    for ours, theirs in zip(found, wanted, strict=True):
        assert np.abs(ours - theirs).max() < 1e-6  # (starts are followed to 1e-12, over the smallest singular value)


def test_a_redundant_arm_gives_a_sample_in_order() -> None:
    mech = robots.panda()
    q = random_positions(mech, 1, 2)[0]
    T = mech.forward_kinematics(q)
    found = numeric_solutions(mech, T, q0=q, starts=60)
    assert len(found) > 20
    assert np.abs(found[0] - q).max() < 1e-6
    away = np.linalg.norm(found - q, axis=1)
    assert (np.diff(away) >= 0).all()
    assert max(error.max() for error in errors(mech, found, np.broadcast_to(T, (len(found), 4, 4)))) <= 1e-9
    assert ((found >= mech.q_min) & (found <= mech.q_max)).all()
    assert np.array_equal(found, numeric_solutions(mech, T, q0=q, starts=60))


def test_out_of_reach_there_is_none() -> None:
    arm = robots.planar_2r()
    T = np.eye(4)
    T[0, 3] = 3.0
    assert numeric_solutions(arm, T, mask=[1, 1, 0, 0, 0, 0]).q.shape == (0, 2)
    T[0, 3] = 1.5
    assert numeric_solutions(arm, T, mask=[1, 1, 0, 0, 0, 0]).q.shape == (2, 2)


def test_where_no_start_comes_to_the_last_digits_the_tolerance_counts() -> None:
    """Three singular values are below 1e-5: iterations come to 1e-9, and not to 1e-12."""
    arm = robots.smart()
    quarter = np.pi / 2
    T = arm.forward_kinematics([quarter, quarter, -quarter, np.pi, np.pi, np.pi])
    found = numeric_solutions(arm, T, limits=False, starts=60)
    assert 1 <= len(found) < 10
    assert max(error.max() for error in errors(arm, found, np.broadcast_to(T, (len(found), 4, 4)))) <= 1e-9


def test_what_is_wrong_is_named() -> None:
    arm = robots.planar_2r()
    with pytest.raises(Exception, match=r"method.*'magic'.*'closed_form'.*'numeric'"):
        arm.all_inverse_kinematics(np.eye(4), method="magic")
    with pytest.raises(Exception, match="starts is 0"):
        numeric_solutions(arm, np.eye(4), starts=0)
    ring = Mechanism([Link(name="a"), Link(name="b")], loops=[Loop("full", "b", "base")], name="ring")
    with pytest.raises(Exception, match="'ring' has loops"):
        numeric_solutions(ring, np.eye(4))
