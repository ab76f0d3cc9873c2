"""Numbers of the PUMA 560 that the makers of the Robotics Toolbox printed, as many digits as they printed.

RTB-Python: P. Corke, J. Haviland, Robotics Toolbox for Python 1.3, tests/test_DHRobot.py. RTB-MATLAB: P. Corke, Robotics
Toolbox for MATLAB 10.4, unit_test/SerialLinkTest.m. Both feel friction as G^2 B qd + |G| Tc, which is "reflected". RVC: P.
Corke, Robotics, Vision and Control, 2011, chapters 7 to 9. RTB 7: the tutorial of the Robotics Toolbox for MATLAB 7, 2002,
whose friction is "toolbox7".
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

ARM = rt_puma560()
POSES = rt_poses("puma560")
QN, ZERO, ONE = POSES["qn"], np.zeros(6), np.ones(6)
WRIST = np.array([0, np.pi / 4, -np.pi, 1, np.pi / 4, 0])
FOUR_DIGITS = 0.5e-4 + 1e-9
"""Half a unit of the last digit printed; some of theirs were cut off or printed with six digits, which is finer."""


def close(found: np.ndarray, printed: list, unit: float = FOUR_DIGITS) -> None:
    error = np.abs(found - np.array(printed)).max()
    assert found.shape == np.shape(printed)
    assert error <= unit, error


@pytest.mark.parametrize(
    ("qd", "qdd", "options", "printed"),
    [
        (ZERO, ZERO, {}, [0, 31.6399, 6.0351, 0, 0.0283, 0]),
        (ZERO, ONE, {}, [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133]),
        (ONE, ONE, {}, [32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781]),
        (ONE, ZERO, {}, [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648]),
        (ONE, ONE, {"grav": [0, 0, 0]}, [32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781]),
        (ZERO, ZERO, {"fext": [1, 2, 3, 1, 2, 3]}, [0.642756, 29.0866, 4.70321, 2.82843, -1.97175, 3]),
    ],
)
def test_rne_at_the_nominal_pose(qd: np.ndarray, qdd: np.ndarray, options: dict, printed: list) -> None:
    """RTB-Python, test_rne."""
    close(rt_rne(ARM, QN, qd, qdd, **options), printed)
    assert np.array_equal(rt_frne(ARM, QN, qd, qdd, **options), rt_rne(ARM, QN, qd, qdd, **options))


def test_rne_in_motion() -> None:
    """RTB-MATLAB, rne2_test; joints 2 and 5 turn."""
    speed = np.array([0.0, 1, 0, 0, 2, 0])
    close(rt_rne(ARM, WRIST, speed, speed), [-0.9748, 59.1306, 5.9889, -0.0108, 1.8872, 0.0001])


def test_rne_by_the_old_rule_of_friction() -> None:
    """RTB 7: the sign of the first torque shows that friction drives the waist, whose gear ratio is negative."""
    old = rt_robot(ARM, friction="toolbox7")
    close(rt_rne(old, ZERO, 5 * ONE, ONE), [-79.4048, 37.1694, 13.5455, 1.0728, 0.9399, 0.5119])
    assert rt_rne(ARM, ZERO, 5 * ONE, ONE)[1] > 80  # the same motion by the rule that RTB-MATLAB has since release 9


@pytest.mark.parametrize(
    ("pose", "printed"),
    [
        ("qz", [0, 37.4837, 0.2489, 0, 0, 0]),  # RVC, and RTB 7
        ("qr", [0, -0.7752, 0.2489, 0, 0, 0]),  # RVC
        ("qs", [0, 46.0069, 8.7722, 0, 0.0283, 0]),  # RVC
        ("qn", [0, 31.6399, 6.0351, 0, 0.0283, 0]),  # RTB-Python, test_gravload
    ],
)
def test_gravload(pose: str, printed: list) -> None:
    close(rt_gravload(ARM, POSES[pose]), printed)
    close(rt_gravload(ARM, [POSES[pose]] * 2, [0, 0, 9.81]), [printed] * 2)


def test_gravload_of_a_trajectory() -> None:
    """RTB-MATLAB, gravload_test."""
    q = [WRIST, [0, np.pi / 2, -np.pi, 1, np.pi / 2, 0]]
    close(rt_gravload(ARM, q), [[0, 31.6334, 6.0286, -0.0119, 0.0218, 0], [0, 7.7198, 8.7439, -0.0238, 0, 0]])


def test_inertia() -> None:
    """RTB-Python, test_inertia; RTB-MATLAB, inertia_test."""
    close(
        rt_inertia(ARM, QN),
        [
            [3.6594, -0.4044, 0.1006, -0.0025, 0, 0],
            [-0.4044, 4.4137, 0.3509, 0, 0.0024, 0],
            [0.1006, 0.3509, 0.9378, 0, 0.0015, 0],
            [-0.0025, 0, 0, 0.1925, 0, 0],
            [0, 0.0024, 0.0015, 0, 0.1713, 0],
            [0, 0, 0, 0, 0, 0.1941],
        ],
    )
    close(
        rt_inertia(ARM, [WRIST, [0, np.pi / 2, -np.pi, 1, np.pi / 2, 0]])[1],
        [
            [2.6621, -0.6880, 0.0035, -0.0007, -0.0010, 0],
            [-0.6880, 4.4114, 0.3487, -0.0010, 0.0015, 0],
            [0.0035, 0.3487, 0.9359, -0.0010, 0.0003, 0],
            [-0.0007, -0.0010, -0.0010, 0.1926, 0, 0],
            [-0.0010, 0.0015, 0.0003, 0, 0.1713, 0],
            [0, 0, 0, 0, 0, 0.1941],
        ],
    )


def test_cinertia() -> None:
    """RTB-Python, test_inertia_x; RTB-MATLAB, cinertia_test."""
    close(
        rt_cinertia(ARM, QN),
        [
            [17.2954, -2.7542, -9.6233, 0, 0.2795, 0],
            [-2.7542, 12.1909, 1.2459, -0.3254, -0.0703, -0.9652],
            [-9.6233, 1.2459, 13.3348, 0, 0.2767, 0],
            [0, -0.3254, 0, 0.1941, 0, 0.1941],
            [0.2795, -0.0703, 0.2767, 0, 0.1713, 0],
            [0, -0.9652, 0, 0.1941, 0, 0.5791],
        ],
    )
    close(
        rt_cinertia(ARM, WRIST),
        [
            [18.0741, -2.2763, -8.8446, -0.0283, 0.7541, -0.4015],
            [-2.2763, 11.2461, 1.7238, -0.0750, 0.2214, -0.4733],
            [-8.8446, 1.7238, 14.1135, -0.0300, 0.7525, -0.4032],
            [-0.0283, -0.0750, -0.0300, 0.1377, -0.0171, 0.0492],
            [0.7541, 0.2214, 0.7525, -0.0171, 0.4612, -0.2461],
            [-0.4015, -0.4733, -0.4032, 0.0492, -0.2461, 0.3457],
        ],
    )


@pytest.mark.parametrize(
    ("q", "qd", "matrix"),
    [
        (
            QN,
            [1, 2, 3, 1, 2, 3],
            [
                [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
                [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0],
                [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0],
                [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
                [-0.0002, 0.0028, 0.0046, -0.0002, 0, 0],
                [0.0001, 0, 0, 0, 0, 0],
            ],
        ),  # RTB-Python, test_coriolis
        (
            WRIST,
            [0.5] * 6,
            [
                [-0.1336, -0.6458, 0.0845, 0.0005, -0.0008, 0],
                [0.3136, 0.1922, 0.3851, -0.0018, -0.0007, 0],
                [-0.1803, -0.1934, -0.0005, -0.0009, -0.0014, 0],
                [0.0007, 0.0008, 0.0003, 0.0001, 0.0003, 0],
                [-0.0004, 0.0005, 0.0005, -0.0003, 0, 0],
                [0, 0, 0, 0, 0, 0],
            ],
        ),  # RTB-MATLAB, coriolis_test
    ],
)
def test_coriolis(q: np.ndarray, qd: list, matrix: list) -> None:
    """Later releases print the matrix. The vector is its product with the speeds, and its error the sum of theirs."""
    close(rt_coriolis(ARM, q, qd), (np.array(matrix) @ qd).tolist(), FOUR_DIGITS * np.abs(qd).sum())


def test_accel() -> None:
    """RTB-Python, test_accel; RTB-MATLAB, accel_test, in both forms; RTB 7."""
    qd, torque = [0.1, 0.2, 0.8, 0.2, 0.5, 1.0], [1.0, 3.2, 1.8, 0.1, 0.7, 4.6]
    close(rt_accel(ARM, QN, qd, torque), [-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228])

    q = np.array([0.0, 1, 0, 0, 2, 0])
    effort = rt_rne(ARM, QN, q, q)
    printed = [-9.3397, 4.9666, 1.6095, -5.4305, 5.9885, -2.1228]
    close(rt_accel(ARM, q, 0.5 * ONE, effort), printed)
    close(rt_accel(ARM, np.concatenate([q, 0.5 * ONE, effort])), printed)

    close(rt_accel(ARM, ZERO, ZERO, ZERO), [-0.2462, -8.6829, 3.1462, 0.0021, 0.0603, 0.0001])


def test_itorque() -> None:
    """RTB-Python, test_itorque; RTB-MATLAB, itorque_test."""
    close(rt_itorque(ARM, QN, [1, 2, 3, 1, 2, 3]), [3.15, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823])
    close(rt_itorque(ARM, WRIST, 0.5 * ONE), [1.6763, 2.1799, 0.6947, 0.0944, 0.0861, 0.0971])


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
