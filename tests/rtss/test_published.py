"""Numbers of the PUMA 560 that the makers of the Robotics Toolbox printed, as many digits as they printed.

RTB-Python: P. Corke, J. Haviland, Robotics Toolbox for Python 1.3, tests/test_DHRobot.py. RTB-MATLAB: P. Corke, Robotics
Toolbox for MATLAB 10.4, unit_test/SerialLinkTest.m. Both feel friction as G^2 B qd + |G| Tc, which is "reflected". RVC: P.
Corke, Robotics, Vision and Control, 2011, chapters 7 to 9. RTB 7: the tutorial of the Robotics Toolbox for MATLAB 7, 2002,
whose friction is "toolbox7". What is marked RTB 7, and the position at the nominal pose, is quoted from memory.
"""

import numpy as np
import pytest

from linkwise.rtss import (
    rt_accel,
    rt_cinertia,
    rt_coriolis,
    rt_fkine,
    rt_frne,
    rt_gravload,
    rt_inertia,
    rt_itorque,
    rt_jacob0,
    rt_jacobn,
    rt_maniplty,
    rt_poses,
    rt_puma560,
    rt_rne,
    rt_robot,
    rt_twolink,
)
from support.published_puma import (
    ACCEL_ELSEWHERE,
    ACCEL_QN,
    CARTESIAN_QN,
    CARTESIAN_TURNED,
    CORIOLIS_QN,
    CORIOLIS_TURNED,
    FOLDED,
    GRAVITY_FOLDED,
    GRAVITY_QN,
    GRAVITY_QR,
    GRAVITY_QS,
    GRAVITY_TURNED,
    INERTIA_FOLDED,
    INERTIA_QN,
    ITORQUE_QN,
    ITORQUE_TURNED,
    RNE_TURNED,
    TURNED,
    WRENCH_QN,
)

ARM = rt_puma560()
POSES = rt_poses("puma560")
QN, ZERO, ONE = POSES["qn"], np.zeros(6), np.ones(6)
WRIST = np.array(TURNED)
FOUR_DIGITS = 0.5e-4 + 1e-9
"""Half a unit of the last digit printed; some of theirs were cut off or printed with six digits, which is finer."""


def close(found: np.ndarray, printed: list, unit: float = FOUR_DIGITS) -> None:
    error = np.abs(found - np.array(printed)).max()
    assert found.shape == np.shape(printed)
    assert error <= unit, error


@pytest.mark.parametrize(
    ("qd", "qdd", "options", "printed"),
    [
        (ZERO, ZERO, {}, GRAVITY_QN),
        (ZERO, ONE, {}, [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133]),
        (ONE, ONE, {}, [32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781]),
        (ONE, ZERO, {}, [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648]),
        (ONE, ONE, {"grav": [0, 0, 0]}, [32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781]),
        (ZERO, ZERO, {"fext": [1, 2, 3, 1, 2, 3]}, WRENCH_QN),
    ],
)
def test_rne_at_the_nominal_pose(qd: np.ndarray, qdd: np.ndarray, options: dict, printed: list) -> None:
    """RTB-Python, test_rne."""
    close(rt_rne(ARM, QN, qd, qdd, **options), printed)
    assert np.array_equal(rt_frne(ARM, QN, qd, qdd, **options), rt_rne(ARM, QN, qd, qdd, **options))


def test_rne_in_motion() -> None:
    """RTB-MATLAB, rne2_test; joints 2 and 5 turn."""
    speed = np.array([0.0, 1, 0, 0, 2, 0])
    close(rt_rne(ARM, WRIST, speed, speed), RNE_TURNED)


def test_rne_by_the_old_rule_of_friction() -> None:
    """RTB 7: the sign of the first torque shows that friction drives the waist, whose gear ratio is negative."""
    old = rt_robot(ARM, friction="toolbox7")
    close(rt_rne(old, ZERO, 5 * ONE, ONE), [-79.4048, 37.1694, 13.5455, 1.0728, 0.9399, 0.5119])
    assert rt_rne(ARM, ZERO, 5 * ONE, ONE)[1] > 80  # the same motion by the rule that RTB-MATLAB has since release 9


@pytest.mark.parametrize(
    ("pose", "printed"),
    [
        ("qz", [0, 37.4837, 0.2489, 0, 0, 0]),  # RVC, and RTB 7
        ("qr", GRAVITY_QR),  # RVC
        ("qs", GRAVITY_QS),  # RVC
        ("qn", GRAVITY_QN),  # RTB-Python, test_gravload
    ],
)
def test_gravload(pose: str, printed: list) -> None:
    close(rt_gravload(ARM, POSES[pose]), printed)
    close(rt_gravload(ARM, [POSES[pose]] * 2, [0, 0, 9.81]), [printed] * 2)


def test_gravload_of_a_trajectory() -> None:
    """RTB-MATLAB, gravload_test."""
    q = [TURNED, FOLDED]
    close(rt_gravload(ARM, q), [GRAVITY_TURNED, GRAVITY_FOLDED])


def test_inertia() -> None:
    """RTB-Python, test_inertia; RTB-MATLAB, inertia_test."""
    close(
        rt_inertia(ARM, QN),
        INERTIA_QN,
    )
    close(
        rt_inertia(ARM, [TURNED, FOLDED])[1],
        INERTIA_FOLDED,
    )


def test_cinertia() -> None:
    """RTB-Python, test_inertia_x; RTB-MATLAB, cinertia_test."""
    close(
        rt_cinertia(ARM, QN),
        CARTESIAN_QN,
    )
    close(
        rt_cinertia(ARM, WRIST),
        CARTESIAN_TURNED,
    )


@pytest.mark.parametrize(
    ("q", "qd", "matrix"),
    [
        (
            QN,
            [1, 2, 3, 1, 2, 3],
            CORIOLIS_QN,
        ),  # RTB-Python, test_coriolis
        (
            WRIST,
            [0.5] * 6,
            CORIOLIS_TURNED,
        ),  # RTB-MATLAB, coriolis_test
    ],
)
def test_coriolis(q: np.ndarray, qd: list, matrix: list) -> None:
    """Later releases print the matrix. The vector is its product with the speeds, and its error the sum of theirs."""
    close(rt_coriolis(ARM, q, qd), (np.array(matrix) @ qd).tolist(), FOUR_DIGITS * np.abs(qd).sum())


def test_accel() -> None:
    """RTB-Python, test_accel; RTB-MATLAB, accel_test, in both forms; RTB 7."""
    qd, torque = [0.1, 0.2, 0.8, 0.2, 0.5, 1.0], [1.0, 3.2, 1.8, 0.1, 0.7, 4.6]
    close(rt_accel(ARM, QN, qd, torque), ACCEL_QN)

    q = np.array([0.0, 1, 0, 0, 2, 0])
    effort = rt_rne(ARM, QN, q, q)
    printed = ACCEL_ELSEWHERE
    close(rt_accel(ARM, q, 0.5 * ONE, effort), printed)
    close(rt_accel(ARM, np.concatenate([q, 0.5 * ONE, effort])), printed)

    close(rt_accel(ARM, ZERO, ZERO, ZERO), [-0.2462, -8.6829, 3.1462, 0.0021, 0.0603, 0.0001])


def test_itorque() -> None:
    """RTB-Python, test_itorque; RTB-MATLAB, itorque_test."""
    close(rt_itorque(ARM, QN, [1, 2, 3, 1, 2, 3]), ITORQUE_QN)
    close(rt_itorque(ARM, WRIST, 0.5 * ONE), ITORQUE_TURNED)


def test_fkine() -> None:
    """By hand, from the lengths a2 = 431.8 mm, a3 = 20.3 mm, d3 = 150.05 mm, d4 = 431.8 mm; RVC for the last."""
    upright = np.eye(3)
    ahead = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    found = rt_fkine(ARM, [POSES[name] for name in ("qz", "qr", "qs", "qn")])
    expected = [
        (upright, [0.4318 + 0.0203, -0.15005, 0.4318]),
        (upright, [0.0203, -0.15005, 2 * 0.4318]),
        (ahead, [2 * 0.4318, -0.15005, -0.0203]),
    ]
    for T, (rotation, position) in zip(found[:3], expected, strict=True):
        assert np.abs(T[:3, :3] - rotation).max() < 1e-15
        assert np.abs(T[:3, 3] - position).max() < 1e-15
    close(found[3], [[0, 0, 1, 0.5963], [0, 1, 0, -0.1501], [-1, 0, 0, -0.0144], [0, 0, 0, 1]])  # RVC, section 7.2


def test_jacobians() -> None:
    """RTB-MATLAB 10, the demonstration of Jacobians (rtbdemo), its determinant and its manipulability."""
    q = [0.1, 0.75, -2.25, 0, 0.75, 0]
    close(
        rt_jacob0(ARM, q),
        [
            [0.0746, -0.3031, -0.0102, 0, 0, 0],
            [0.7593, -0.0304, -0.0010, 0, 0, 0],
            [0, 0.7481, 0.4322, 0, 0, 0],
            [0, 0.0998, 0.0998, 0.9925, 0.0998, 0.6782],
            [0, -0.9950, -0.9950, 0.0996, -0.9950, 0.0681],
            [1, 0, 0, 0.0707, 0, 0.7317],
        ],
    )
    close(
        rt_jacobn(ARM, q),
        [
            [0.1098, -0.7328, -0.3021, 0, 0, 0],
            [0.7481, 0, 0, 0, 0, 0],
            [0.1023, 0.3397, 0.3092, 0, 0, 0],
            [-0.6816, 0, 0, 0.6816, 0, 0],
            [0, -1, -1, 0, -1, 0],
            [0.7317, 0, 0, 0.7317, 0, 1],
        ],
    )
    assert rt_maniplty(ARM, q) == pytest.approx(0.0632, abs=FOUR_DIGITS)
    sizes = np.linalg.svd(rt_jacobn(ARM, POSES["qr"]), compute_uv=False)
    close(sizes, [1.9066, 1.7321, 0.5660, 0.0166, 0.0081, 0])


def test_maniplty() -> None:
    """RTB-MATLAB, maniplty_test."""
    close(rt_maniplty(ARM, [WRIST]), [0.0786])
    close(rt_maniplty(ARM, [WRIST], "y"), [0.0786])


def test_twolink_of_later_releases() -> None:
    """RTB-MATLAB, rne_test: centres of mass half way, in the vertical plane; the wrench of the tool on its surroundings."""
    arm = rt_twolink()
    for link in arm.links:
        link.r = [-0.5, 0, 0]
    arm.base = [[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    zero, g = np.zeros(2), 9.81
    for q, printed in (([0, 0], [2, 0.5]), ([0, np.pi / 2], [1.5, 0]), ([np.pi / 2, 0], [0, 0])):
        close(rt_rne(arm, q, zero, zero), (g * np.array(printed)).tolist(), 1e-14)
    close(rt_rne(arm, zero, zero, zero, [0, 0, -g]), [-2 * g, -0.5 * g], 1e-14)
    for axis, printed in ((0, [0, 0]), (1, [2, 1]), (2, [0, 0])):
        close(rt_rne(arm, zero, zero, zero, [0, 0, 0], np.eye(6)[axis]), printed, 1e-14)
