"""Functions that take a robot: against Linkwise's own, in every form that the original knows, and what they refuse."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError, ModelError
from linkwise.rtss import (
    rt_accel,
    rt_cinertia,
    rt_coriolis,
    rt_fkine,
    rt_friction,
    rt_frne,
    rt_ftrans,
    rt_gravload,
    rt_inertia,
    rt_itorque,
    rt_jacob0,
    rt_jacobn,
    rt_link,
    rt_maniplty,
    rt_nofriction,
    rt_perturb,
    rt_puma560,
    rt_rne,
    rt_robot,
    rt_rotx,
    rt_rpy2tr,
    rt_stanford,
    rt_transl,
    rt_twolink,
)

EPS = np.finfo(float).eps
RNG = np.random.default_rng(1980)
ARM = rt_puma560()
MECH = ARM.mechanism()
Q, QD, QDD = RNG.uniform(-2, 2, (3, 7, 6))
FEXT = RNG.standard_normal(6)


@pytest.fixture(params=["robot", "mechanism"])
def arm(request: pytest.FixtureRequest) -> rt_robot | lw.Mechanism:
    return ARM if request.param == "robot" else MECH


def test_they_are_linkwise_s_own_to_the_bit(arm: rt_robot | lw.Mechanism) -> None:
    pairs = [
        (rt_fkine(arm, Q), MECH.forward_kinematics(Q)),
        (rt_jacob0(arm, Q), MECH.jacobian(Q)),
        (rt_jacobn(arm, Q), MECH.jacobian(Q, frame="body")),
        (rt_maniplty(arm, Q), MECH.manipulability(Q)),
        (rt_rne(arm, Q, QD, QDD), MECH.inverse_dynamics(Q, QD, QDD)),
        (rt_frne(arm, Q, QD, QDD), MECH.inverse_dynamics(Q, QD, QDD)),
        (rt_accel(arm, Q, QD, QDD), MECH.forward_dynamics(Q, QD, QDD)),
        (rt_inertia(arm, Q), MECH.mass_matrix(Q)),
        (rt_cinertia(arm, Q), MECH.operational_space_inertia(Q)),
        (rt_gravload(arm, Q), MECH.gravity_torque(Q)),
        (rt_friction(arm, QD), MECH.friction_torque(QD)),
    ]
    for found, expected in pairs:
        assert np.array_equal(found, expected)
        assert found.shape[0] == 7


def test_one_configuration_is_one_row_of_many(arm: rt_robot | lw.Mechanism) -> None:
    state = Q[3], QD[3], QDD[3]
    assert rt_fkine(arm, Q[3]).shape == (4, 4)
    assert np.array_equal(rt_fkine(arm, Q[3]), rt_fkine(arm, Q)[3])
    assert np.array_equal(rt_rne(arm, *state), rt_rne(arm, Q, QD, QDD)[3])
    assert np.array_equal(rt_coriolis(arm, *state[:2]), rt_coriolis(arm, Q, QD)[3])
    assert rt_maniplty(arm, Q[3]).shape == ()


def test_the_parts_make_the_whole(arm: rt_robot | lw.Mechanism) -> None:
    """A hundred roundings of what is added up."""
    whole = rt_rne(arm, Q, QD, QDD)
    parts = [rt_itorque(arm, Q, QDD), rt_coriolis(arm, Q, QD), rt_gravload(arm, Q), rt_friction(arm, QD)]
    assert np.abs(whole - sum(parts)).max() < 100 * EPS * max(np.abs(part).max() for part in parts)
    assert np.abs((rt_inertia(arm, Q) @ QDD[..., None])[..., 0] - parts[0]).max() < 100 * EPS * np.abs(parts[0]).max()
    assert np.array_equal(rt_coriolis(arm, Q, QD, friction=True), parts[1] + parts[3])
    assert np.abs((MECH.coriolis_matrix(Q, QD) @ QD[..., None])[..., 0] - parts[1]).max() < 1e-13


def test_all_in_one_array(arm: rt_robot | lw.Mechanism) -> None:
    whole = np.concatenate([Q, QD, QDD], axis=1)
    grav = [1.0, 2.0, 3.0]
    assert np.array_equal(rt_rne(arm, whole), rt_rne(arm, Q, QD, QDD))
    assert np.array_equal(rt_accel(arm, whole), rt_accel(arm, Q, QD, QDD))
    expected = rt_rne(arm, Q, QD, QDD, grav, FEXT)
    assert np.array_equal(rt_rne(arm, whole, grav, FEXT), expected)
    assert np.array_equal(rt_rne(arm, whole, grav=grav, fext=FEXT), expected)
    assert np.array_equal(rt_rne(arm, whole, None, FEXT), rt_rne(arm, Q, QD, QDD, fext=FEXT))
    assert np.array_equal(rt_frne(arm, whole[2], grav), rt_rne(arm, Q, QD, QDD, grav)[2])


def test_gravity_has_the_sign_of_the_robot() -> None:
    up, falling = ARM, rt_robot(ARM, gravity_sign="free_fall")
    moon = np.array([0.3, -0.2, 1.62])
    expected = MECH.replace(gravity=-moon).gravity_torque(Q)
    assert np.array_equal(rt_gravload(up, Q, moon), expected)
    assert np.array_equal(rt_gravload(falling, Q, -moon), expected)
    assert np.array_equal(rt_gravload(MECH, Q, -moon), expected)
    assert np.array_equal(
        rt_rne(up, Q, 0 * QD, 0 * QDD, moon[:, None]), MECH.replace(gravity=-moon).inverse_dynamics(Q, 0 * Q, 0 * Q)
    )
    assert np.array_equal(rt_gravload(up, Q), rt_gravload(falling, Q))


def test_the_wrench_is_that_of_the_tool_on_its_surroundings() -> None:
    """It costs J' f at the joints; at the flange it is the same wrench moved there, as the original wants it given."""
    T = rt_transl(0.1, -0.2, 0.3) @ rt_rpy2tr(0.4, 0.5, 0.6)
    with_tool = rt_robot(ARM, tool=T)
    added = rt_rne(with_tool, Q, QD, QDD, fext=FEXT) - rt_rne(with_tool, Q, QD, QDD)
    expected = np.swapaxes(rt_jacobn(with_tool, Q), -1, -2) @ FEXT
    assert np.abs(added - expected).max() < 1e-13  # efforts of 100 N m, to a rounding or two
    at_flange = rt_ftrans(np.linalg.inv(T), FEXT)
    assert np.abs(rt_rne(ARM, Q, QD, QDD, fext=at_flange) - rt_rne(with_tool, Q, QD, QDD, fext=FEXT)).max() < 1e-13
    assert np.array_equal(rt_rne(MECH, Q, QD, QDD, fext=FEXT), MECH.inverse_dynamics(Q, QD, QDD, -FEXT))


def test_base_and_tool_count() -> None:
    base, tool = rt_transl(1, 2, 3) @ rt_rotx(0.5), rt_transl(0, 0, 0.1)
    moved = rt_robot(ARM, base=base, tool=tool)
    assert np.abs(rt_fkine(moved, Q) - base @ rt_fkine(ARM, Q) @ tool).max() < 1e-14
    both = np.zeros((6, 6))
    both[:3, :3] = both[3:, 3:] = base[:3, :3]
    carried = rt_robot(ARM, tool=tool)
    assert np.abs(rt_jacob0(moved, Q) - both @ rt_jacob0(carried, Q)).max() < 1e-14
    assert np.abs(rt_jacobn(moved, Q) - rt_jacobn(carried, Q)).max() < 1e-14


def test_cartesian_inertia_is_that_of_the_original_where_it_has_one() -> None:
    """Inverting J twice costs its condition number, 40 here at most, squared."""
    J, M = rt_jacob0(ARM, Q), rt_inertia(ARM, Q)
    inverse = np.linalg.inv(J)
    expected = np.swapaxes(inverse, -1, -2) @ M @ inverse
    worst = np.linalg.cond(J).max()
    assert np.abs(rt_cinertia(ARM, Q) - expected).max() < 16 * EPS * worst**2 * np.abs(M).max()
    sizes = np.linalg.eigvalsh(expected)
    assert np.abs(rt_maniplty(ARM, Q, "asa") / (sizes[..., 0] / sizes[..., -1]) - 1).max() < 16 * EPS * worst**2
    assert rt_maniplty(ARM, np.zeros(6), "asada") < EPS
    assert rt_maniplty(rt_twolink(), [0.0, 1.0], "asada") == 0


def test_friction_by_both_rules_and_on_both_sides() -> None:
    old = rt_robot(ARM, friction="toolbox7")
    ratios = np.array([link.G for link in ARM.links])
    motor = np.array([link.B * QD[:, k] + np.where(QD[:, k] > 0, *link.Tc) for k, link in enumerate(ARM.links)]).T
    for robot in (ARM, old, MECH):
        assert np.abs(rt_friction(robot, QD, side="motor") - motor).max() < 2 * EPS
    assert np.abs(rt_friction(old, QD) - ratios * motor).max() < 100 * EPS
    expected = [
        link.G**2 * link.B * QD[:, k] + abs(link.G) * np.where(QD[:, k] > 0, *link.Tc) for k, link in enumerate(ARM.links)
    ]
    assert np.abs(rt_friction(ARM, QD) - np.array(expected).T).max() < 100 * EPS
    for k, link in enumerate(ARM.links):
        assert np.abs(rt_friction(link, QD[:, k]) - rt_friction(ARM, QD)[:, k]).max() < 100 * EPS
        assert rt_friction(link, QD[0, k], side="motor") == pytest.approx(motor[0, k], abs=2 * EPS)
    assert not rt_friction(ARM, np.zeros(6)).any()


def test_friction_of_a_motor_that_is_cut_off() -> None:
    """With G = 0 the joint feels nothing, and the motor itself turns as hard as ever."""
    link = rt_link([0, 1, 0, 0])
    link.B, link.Tc, link.G = 2.0, 3.0, 0.0
    robot = rt_robot([link])
    assert rt_friction(link, [1.0, -1.0]).tolist() == [0.0, 0.0]
    assert rt_friction(link, [1.0, -1.0], side="motor").tolist() == [5.0, -5.0]
    assert rt_friction(robot, [1.0]).tolist() == [0.0]
    assert rt_friction(robot, [1.0], side="motor").tolist() == [5.0]


def test_nofriction() -> None:
    some, none = rt_nofriction(ARM), rt_nofriction(ARM, "ALL")
    assert (some.name, none.name, ARM.name) == ("NF/Puma 560", "NF/Puma 560", "Puma 560")
    assert ARM.links[0].Tc[0] == 0.395  # it stays as it was
    assert np.array_equal(rt_friction(some, QD), MECH.without_friction(viscous=False).friction_torque(QD))
    assert not rt_friction(none, QD).any()
    assert rt_nofriction(MECH).name == "NF/Puma 560"
    assert np.array_equal(rt_friction(rt_nofriction(MECH), QD), rt_friction(some, QD))
    link = rt_nofriction(ARM.links[0])
    assert not link.Tc.any()
    assert link.B == ARM.links[0].B


def test_perturb() -> None:
    other, again, third = rt_perturb(ARM, 0.2), rt_perturb(ARM, 0.2), rt_perturb(ARM, 0.2, seed=3)
    assert (other.name, ARM.name) == ("P/Puma 560", "Puma 560")
    assert np.array_equal(other.dyn, again.dyn)
    assert not np.array_equal(other.dyn, third.dyn)
    factors = []
    for new, old in zip(other.links, ARM.links, strict=True):
        changed = new.I[old.I != 0] / old.I[old.I != 0]
        assert np.ptp(changed) < 4 * EPS
        factors += [changed[0], *([new.m / old.m] if old.m else [])]
        assert np.array_equal(new.r, old.r)
        assert (new.Jm, new.B) == (old.Jm, old.B)
    assert len(factors) == 11
    assert len(set(factors)) == 11
    assert 0.8 <= min(factors) < max(factors) <= 1.2
    assert np.array_equal(rt_inertia(rt_perturb(MECH, 0.2), Q), rt_inertia(other, Q))
    assert np.array_equal(rt_perturb(ARM, 0).dyn, ARM.dyn)
    assert rt_perturb(rt_stanford()).links[0].m is None


FLYING = lw.Mechanism([lw.Link(joint="fixed", mass=1.0)], floating=True, name="craft")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rt_fkine("arm", Q), "rt_fkine: robot is 'arm'; expected an rt_robot or a Mechanism"),
        (lambda: rt_jacob0(FLYING, Q), "rt_jacob0: 'craft' has a floating base; expected a robot on a fixed one"),
        (lambda: rt_fkine(ARM, [1, 2]), "forward_kinematics: q has the shape (2,); expected (..., 6)"),
        (
            lambda: rt_maniplty(ARM, Q, "best"),
            "rt_maniplty: which is 'best'; expected 'yoshikawa', 'yoshi', 'y', 'asada', 'asa' or 'a'",
        ),
        (
            lambda: rt_rne(ARM, Q, QD),
            "rt_rne: qdd missing; expected q, qd, qdd (..., 6), or all in one array (..., 18), and q has the shape (7, 6)",
        ),
        (
            lambda: rt_accel(ARM, [0.0] * 5),
            "rt_accel: qd and torque missing; expected q, qd, torque (..., 6), or all in one array (..., 18), and q has the "
            "shape (5,)",
        ),
        (lambda: rt_accel(ARM, [0.0] * 18, [0.0]), "rt_accel: [q qd torque] is one array (..., 3n); nothing goes with it"),
        (lambda: rt_rne(ARM, [0.0] * 18, [0, 0, 1], grav=[0, 0, 1]), "rt_rne: grav is given twice"),
        (lambda: rt_rne(ARM, Q, QD, QDD, [0, 9.81]), "rt_rne: grav has the shape (2,); expected 3 finite numbers"),
        (lambda: rt_rne(ARM, Q, QD, QDD, fext=[1, 2]), "rt_rne: fext has the shape (2,); expected finite numbers (..., 6)"),
        (
            lambda: rt_rne(ARM, Q, QD[:3], QDD),
            "inverse_dynamics: the batch shapes do not fit each other: q (7,), qd (3,), qdd (7,)",
        ),
        (lambda: rt_rne(ARM, "q", QD, QDD), "rt_rne: q holds <U1; expected real numbers (..., 6)"),
        (lambda: rt_gravload(ARM, Q, "down"), "rt_gravload: grav holds <U4; expected 3 finite numbers"),
        (lambda: rt_cinertia(rt_twolink(), [0, 0]), "rt_cinertia: 'Simple two link' has 2 joints; expected six or more"),
        (lambda: rt_coriolis(ARM, Q, QD, friction=1), "rt_coriolis: friction is 1; expected True or False"),
        (lambda: rt_friction(ARM, QD, side="gear"), "rt_friction: side is 'gear'; expected 'joint' or 'motor'"),
        (lambda: rt_friction(ARM, [1.0]), "friction_torque: qd has the shape (1,); expected (..., 6)"),
        (
            lambda: rt_nofriction(ARM, "viscous"),
            "rt_nofriction: which is 'viscous'; expected 'all' or None (Coulomb friction only)",
        ),
        (lambda: rt_nofriction(3), "rt_nofriction: 3 was given; expected an rt_robot, an rt_link or a Mechanism"),
        (lambda: rt_perturb(ARM, 1.5), "fraction is 1.5; expected a number from 0 to less than 1"),
        (lambda: rt_perturb(ARM.links[0]), "rt_perturb: robot is"),
    ],
)
def test_what_cannot_be_is_told(call: object, message: str) -> None:
    with pytest.raises(ArgumentError) as told:
        call()  # type: ignore[operator]
    assert str(told.value) == message or (message.endswith(" is") and str(told.value).startswith(message))


@pytest.mark.parametrize(
    "function",
    [
        lambda arm: rt_rne(arm, np.zeros(18)),
        lambda arm: rt_accel(arm, np.zeros(18)),
        lambda arm: rt_inertia(arm, np.zeros(6)),
        lambda arm: rt_cinertia(arm, np.zeros(6)),
        lambda arm: rt_coriolis(arm, np.zeros(6), np.zeros(6)),
        lambda arm: rt_gravload(arm, np.zeros(6)),
        lambda arm: rt_itorque(arm, np.zeros(6), np.zeros(6)),
        lambda arm: rt_maniplty(arm, np.zeros(6), "asada"),
    ],
)
def test_a_mass_that_nobody_gave_is_not_zero(function: object) -> None:
    with pytest.raises(ModelError, match=r"link1 of robot 'Stanford arm': m is None"):
        function(rt_stanford())  # type: ignore[operator]
