"""The robots that come with the toolbox: the same arm in both conventions, and the numbers of each."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.rtss import (
    rt_fkine,
    rt_gravload,
    rt_inertia,
    rt_jacob0,
    rt_link,
    rt_poses,
    rt_puma560,
    rt_puma560akb,
    rt_rne,
    rt_robot,
    rt_rotx,
    rt_rotz,
    rt_stanford,
    rt_transl,
    rt_twolink,
)
from support.messages import unnamed

PI = np.pi
RNG = np.random.default_rng(1986)
Q, QD, QDD = RNG.uniform(-2, 2, (3, 50, 6))
HALF = rt_rotz(PI)


def in_modified_convention(robot: rt_robot) -> rt_robot:
    """The same arm: each link's frame is moved back along its own a and alpha, which the next link takes over."""
    links, alpha, length = [], 0.0, 0.0
    for old in robot.links:
        made = rt_link([alpha, length, old.theta, old.D, old.sigma], "modified")
        back = rt_transl(old.A, 0, 0) @ rt_rotx(old.alpha)
        made.m, made.r = old.m, (back @ [*old.r, 1.0])[:3]
        made.I = back[:3, :3] @ old.I @ back[:3, :3].T
        made.Jm, made.G, made.B, made.Tc, made.offset = old.Jm, old.G, old.B, old.Tc, old.offset
        links.append(made)
        alpha, length = old.alpha, old.A
    return rt_robot(links, robot.name, tool=rt_transl(length, 0, 0) @ rt_rotx(alpha) @ robot.tool)


@pytest.mark.parametrize("arm", [rt_puma560(), rt_stanford(toolbox_dynamics=True)])
def test_standard_and_modified_convention_agree(arm: rt_robot) -> None:
    """The same physical numbers: some roundings of efforts of up to some 1e3 N m."""
    other = in_modified_convention(arm)
    assert other.mdh == 1
    assert np.abs(rt_fkine(other, Q) - rt_fkine(arm, Q)).max() < 4e-15
    assert np.abs(rt_jacob0(other, Q) - rt_jacob0(arm, Q)).max() < 4e-15
    expected = rt_rne(arm, Q, QD, QDD)
    assert np.abs(rt_rne(other, Q, QD, QDD) - expected).max() < 1e-14 * np.abs(expected).max()


def test_puma560_is_the_bundled_one() -> None:
    arm, bundled = rt_puma560(), lw.robots.puma560()
    assert np.array_equal(rt_rne(arm, Q, QD, QDD), bundled.inverse_dynamics(Q, QD, QDD))
    assert np.array_equal(rt_fkine(arm, Q), bundled.forward_kinematics(Q))
    assert np.array_equal(arm.qlim, np.column_stack([bundled.q_min, bundled.q_max]))
    assert (arm.name, arm.manuf, arm.mdh, arm.friction) == ("Puma 560", "Unimation", 0, "reflected")
    assert rt_puma560() is not rt_puma560()


def test_puma560_has_the_numbers_of_the_toolbox() -> None:
    """Alpha, A, D and G as in the script of the original."""
    arm = rt_puma560()
    assert np.array_equal(arm.dh[:, 0], [PI / 2, 0, -PI / 2, PI / 2, -PI / 2, 0])
    assert np.array_equal(arm.dh[:, 1], [0, 0.4318, 0.0203, 0, 0, 0])
    assert np.array_equal(arm.dh[:, 3], [0, 0, 0.15005, 0.4318, 0, 0])
    assert np.array_equal(arm.dyn[:, 16], [-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])


def akb_coordinates(q: np.ndarray) -> np.ndarray:
    """Coordinates of the arm in the standard frames where that in the frames of AK&B stands at q, its base turned by pi."""
    return q + np.array([0.0, PI, PI, 0.0, 0.0, 0.0])


def test_both_pumas_are_one_arm() -> None:
    """To the 1.3 mm and 0.05 mm by which the lengths of the two sources differ."""
    difference = rt_fkine(rt_puma560akb(), Q) - HALF @ rt_fkine(rt_puma560(), akb_coordinates(Q)) @ HALF
    assert np.abs(difference[:, :3, :3]).max() < 4e-15
    assert 1e-3 < np.linalg.norm(difference[:, :3, 3], axis=1).max() < np.hypot(0.4331 - 0.4318, 0.1501 - 0.15005) + 1e-9


def test_both_pumas_have_the_same_inertias() -> None:
    """Where the sources differ (d3, d4, Jm, 0.1 mm of r3, the sign of r4) one is given the numbers of the other."""
    arm, other = rt_puma560(), rt_puma560akb()
    for link, like in zip(other.links, arm.links, strict=True):
        link.Jm, link.B, link.Tc = like.Jm, like.B, like.Tc
    other[2].D, other[3].D = 0.15005 - 0.2435, 0.4318
    other[2].r, other[3].r = (0, -0.07, 0.0141), (0, 0, 0.019)
    q = akb_coordinates(Q)
    assert np.abs(rt_fkine(other, Q) - HALF @ rt_fkine(arm, q) @ HALF).max() < 4e-15
    expected = rt_rne(arm, q, QD, QDD)
    assert np.abs(rt_rne(other, Q, QD, QDD) - expected).max() < 1e-14 * np.abs(expected).max()
    other[2].I = [0.066, 0.0125, 0.066, 0, 0, 0]  # as the toolbox has it: 0.02 kg m2 are missing
    assert rt_inertia(arm, q[0])[2, 2] - rt_inertia(other, Q[0])[2, 2] == pytest.approx(0.02, abs=1e-12)


def test_akb_has_the_named_poses_in_its_own_coordinates() -> None:
    ready, standard = rt_poses("puma560akb")["qready"], rt_poses("puma560")["qready"]
    assert np.abs((akb_coordinates(ready) - standard + PI) % (2 * PI) - PI).max() < 1e-15
    assert rt_fkine(rt_puma560akb(), ready)[2, 3] == pytest.approx(0.4318 + 0.4331, abs=1e-15)
    assert rt_fkine(rt_puma560akb(), rt_poses("puma560akb")["qs"])[0, 3] == pytest.approx(0.4318 + 0.4331, abs=1e-15)


def test_stanford() -> None:
    arm, bundled = rt_stanford(), lw.robots.stanford()
    assert np.array_equal(rt_fkine(arm, Q), bundled.forward_kinematics(Q))
    assert arm.config == "RRPRRR"
    dynamic = rt_stanford(toolbox_dynamics=True)
    assert np.array_equal(dynamic.dyn[:, :5], arm.dh)
    assert np.array_equal(dynamic.dyn[:, 5], [9.29, 5.01, 4.25, 1.08, 0.63, 0.51])
    assert np.array_equal(dynamic.dyn[:, 15], [0.953, 2.193, 0.782, 0.106, 0.097, 0.02])
    # At zero the boom stands upright and bears down with the masses of links 3 to 6.
    assert rt_gravload(dynamic, np.zeros(6))[2] == pytest.approx(9.81 * (4.25 + 1.08 + 0.63 + 0.51), rel=1e-15)


def test_twolink() -> None:
    """By hand: two point masses 2 m from the joint before them; stretched out, at 2 m and 3 m from the first joint."""
    arm = rt_twolink()
    assert np.array_equal(rt_inertia(arm, [0, 0]), [[2**2 + 3**2, 2 * 3], [2 * 3, 2**2]])
    assert not rt_gravload(arm, [0.3, 0.4]).any()  # in the horizontal plane
    assert rt_gravload(arm, [0, 0], [0, 9.81, 0]) == pytest.approx([9.81 * 5, 9.81 * 2], rel=1e-15)
    assert arm.name == "Simple two link"


def test_poses() -> None:
    for model, make in (
        ("puma560", rt_puma560),
        ("puma560akb", rt_puma560akb),
        ("stanford", rt_stanford),
        ("twolink", rt_twolink),
    ):
        for q in rt_poses(model).values():
            assert q.shape == (make().n,)
    mine = rt_poses("puma560")["qz"]
    mine[0] = 1.0
    assert not rt_poses("puma560")["qz"].any()
    with pytest.raises(ArgumentError) as told:
        rt_poses("puma")
    assert (
        unnamed(told.value, "rt_poses: no robot 'puma'; there are 'puma560', 'puma560akb', 'stanford' and 'twolink'") == []
    )
    with pytest.raises(ArgumentError) as told:
        rt_stanford(toolbox_dynamics=1)  # type: ignore[arg-type]
    assert unnamed(told.value, "rt_stanford: toolbox_dynamics is 1; expected True or False") == []
