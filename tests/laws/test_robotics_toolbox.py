"""The PUMA 560's dynamics as P. I. Corke's Robotics Toolboxes publish them, to the digits printed.

Sources: the tests of the toolbox for Python (petercorke/robotics-toolbox-python, `tests/test_DHRobot.py`, commit a9ed8d45)
and of that for MATLAB (petercorke/robotics-toolbox-matlab, `unit_test/SerialLinkTest.m`); the notebooks of the former
(`docs/notebooks/dynamics.ipynb`, `icra2021.ipynb`); P. I. Corke, *Robotics, Vision and Control* (2011), section 9.1.

Where the toolboxes say different things from Linkwise, and why:

| | Linkwise | toolboxes |
|---|---|---|
| gravity | acceleration of free fall, (0, 0, -9.81) | the opposite sign, [0 0 9.81] |
| external wrench | what the surroundings exert on the tool | `fext`: what the tool exerts on them; the opposite sign |
| `friction` | what the motor must overcome, sign of the speed | the opposite sign |
| pedestal | base at the shoulder | the one for Python adds 0.672 m to every height; no effort changes |
| `coriolis` | C of Christoffel symbols, no friction | the same matrix |
| friction at rest | none at exactly zero speed | the same; a zero that is 1e-15 has all of it: `test_rounding` |
| older friction rule | `"toolbox7"` | version 7 and Scilab's: G (B qd + Tc), see `tests/dynamics/test_motor_terms.py` |
"""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robots
from support.published_puma import (
    ACCEL_ELSEWHERE,
    ACCEL_QN,
    CARTESIAN_QN,
    CARTESIAN_TURNED,
    CORIOLIS_FOLDED,
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
    INERTIA_TURNED,
    ITORQUE_QN,
    ITORQUE_TURNED,
    RNE_TURNED,
    TURNED,
    WRENCH_QN,
)

PUMA = robots.load("puma560")
QN, QZ, QR, QS = [0, pi / 4, pi, 0, pi / 4, 0], [0.0] * 6, [0, pi / 2, -pi / 2, 0, 0, 0], [0, 0, -pi / 2, 0, 0, 0]
"""Nominal, zero angle, ready (arm up), stretched."""

ZERO, ONE = np.zeros(6), np.ones(6)


def digits(found: object, printed: object, decimals: int = 4) -> None:
    """Equal to the digits printed: half a unit of the last one, and a thousandth of that for the printing."""
    found, printed = np.asarray(found, dtype=float), np.asarray(printed, dtype=float)
    assert found.shape == printed.shape
    error = np.abs(found - printed).max()
    print(f"{error:.1e}")
    assert error <= 0.5005 * 10.0**-decimals


@pytest.mark.parametrize(
    ("qd", "qdd", "printed"),
    [
        (ZERO, ZERO, GRAVITY_QN),
        (ZERO, ONE, [3.3531, 36.0025, 7.4260, 0.1900, 0.2034, 0.1941]),
        (ONE, ONE, [32.4952, 60.8670, 17.7436, 1.4545, 1.2991, 0.7138]),
        (ONE, ZERO, [29.1421, 56.5044, 16.3528, 1.2645, 1.1239, 0.5196]),
    ],
)
def test_rne(qd: np.ndarray, qdd: np.ndarray, printed: list[float]) -> None:
    """Friction of both kinds counted, where the joints move."""
    digits(PUMA.inverse_dynamics(QN, qd, qdd), printed)


def test_rne_without_gravity_and_with_a_wrench() -> None:
    weightless = PUMA.replace(gravity=(0, 0, 0))
    digits(weightless.inverse_dynamics(QN, ONE, ONE), [32.4952, 29.2271, 11.7085, 1.4545, 1.2709, 0.7138])
    fext = np.array([1.0, 2, 3, 1, 2, 3])
    found = PUMA.inverse_dynamics(QN, ZERO, ZERO, -fext)
    digits(found, WRENCH_QN)


def test_rne_of_the_toolbox_for_matlab() -> None:
    speeds = [0.0, 1, 0, 0, 2, 0]
    digits(PUMA.inverse_dynamics(TURNED, speeds, speeds), RNE_TURNED)


@pytest.mark.parametrize(
    ("q", "printed"),
    [
        (QN, GRAVITY_QN),
        (QS, GRAVITY_QS),
        (QR, GRAVITY_QR),
        (TURNED, GRAVITY_TURNED),
        (FOLDED, GRAVITY_FOLDED),
    ],
)
def test_gravload(q: list[float], printed: list[float]) -> None:
    """The second and third are in the book (page 194 of the first edition)."""
    digits(PUMA.gravity_torque(q), printed)
    digits(PUMA.replace(gravity=(0, 0, 0)).gravity_torque(q), ZERO)


def test_inertia() -> None:
    printed = INERTIA_QN
    digits(PUMA.mass_matrix(QN), printed)
    found = PUMA.mass_matrix(QN)
    long = [[3.65937541, -4.04361246e-1, 1.00613648e-1], [0, 4.41374193, 3.50890665e-1], [0, 0, 9.37841575e-1]]
    digits(np.triu(found[:3, :3]), long, 8)
    digits(found[[0, 1, 2, 3], [3, 4, 4, 5]], [-2.51695583e-3, 2.35951307e-3, 1.48016639e-3, 2.82842712e-5], 10)
    digits(np.diagonal(found)[3:], [1.92531706e-1, 1.71348452e-1, 1.94104506e-1], 9)


@pytest.mark.parametrize(
    ("q", "printed"),
    [
        (
            TURNED,
            INERTIA_TURNED,
        ),
        (
            FOLDED,
            INERTIA_FOLDED,
        ),
    ],
)
def test_inertia_of_the_toolbox_for_matlab(q: list[float], printed: list[list[float]]) -> None:
    digits(PUMA.mass_matrix(q), printed)


def test_inertia_x() -> None:
    """The operational-space inertia (`cinertia` for MATLAB), of frame 0."""
    printed = CARTESIAN_QN
    digits(PUMA.operational_space_inertia(QN), printed)
    printed = CARTESIAN_TURNED
    digits(PUMA.operational_space_inertia(TURNED), printed)


def test_coriolis() -> None:
    printed = CORIOLIS_QN
    digits(PUMA.coriolis_matrix(QN, [1, 2, 3, 1, 2, 3]), printed)
    one_joint = PUMA.coriolis_matrix(QN, [0, 1, 0, 0, 0, 0]) @ [0, 1, 0, 0, 0, 0]
    digits(one_joint, [-0.567, 0, -0.3858, 0, 4.134e-05, 0], 4)


def test_coriolis_in_full() -> None:
    """With the nine digits that a notebook prints, at 0.1 rad/s of all joints."""
    printed = [
        [-2.66969622e-2, -1.29059829e-1, 1.69557253e-2, -3.34419803e-5, -2.78929620e-4, 6.00000000e-6],
        [6.27416462e-2, 3.85714300e-2, 7.71469941e-2, -1.55223544e-4, -1.24020873e-5, -5.85786438e-7],
        [-3.60731378e-2, -3.86676328e-2, -9.20686970e-5, -9.30443443e-5, -2.76206091e-4, -5.85786438e-7],
        [4.00101338e-5, 5.71808764e-5, -4.99832360e-6, 1.01080000e-5, 2.42501356e-5, -4.24264069e-6],
        [-1.75563492e-5, 9.62027261e-5, 1.84137394e-4, -2.42501356e-5, 0.0, -5.85786438e-7],
        [6.00000000e-6, 3.41421356e-6, 3.41421356e-6, 1.41421356e-6, 5.85786438e-7, 0.0],
    ]
    digits(PUMA.coriolis_matrix(QN, 0.1 * ONE), printed, 9)


@pytest.mark.parametrize(
    ("q", "speed", "printed"),
    [
        (
            TURNED,
            0.5,
            CORIOLIS_TURNED,
        ),
        (
            FOLDED,
            0.2,
            CORIOLIS_FOLDED,
        ),
    ],
)
def test_coriolis_of_the_toolbox_for_matlab(q: list[float], speed: float, printed: list[list[float]]) -> None:
    digits(PUMA.coriolis_matrix(q, speed * ONE), printed)


def test_accel() -> None:
    """Forward dynamics with friction; the order of the arguments there is q, qd, torque."""
    qd, torque = [0.1, 0.2, 0.8, 0.2, 0.5, 1.0], [1.0, 3.2, 1.8, 0.1, 0.7, 4.6]
    digits(PUMA.forward_dynamics(QN, qd, torque), ACCEL_QN)


@pytest.mark.parametrize(
    ("q", "speed", "at", "printed"),
    [
        ([0, 1, 0, 0, 2, 0], 0.5, QN, ACCEL_ELSEWHERE),
        ([0, 1, 0, 0, 2, 0], 0.1, TURNED, [-8.2760, 5.8119, 3.1487, -4.6392, 6.9558, -1.6774]),
        ([0, 0.5, 0, 0, 1, 0], 0.2, FOLDED, [-8.3467, -4.8514, 6.0575, -4.9232, 3.1244, -1.7861]),
    ],
)
def test_accel_of_the_toolbox_for_matlab(q: list[float], speed: float, at: list[float], printed: list[float]) -> None:
    """The torque is that of an inverse dynamics elsewhere, with the numbers of q as speeds and as accelerations."""
    torque = PUMA.inverse_dynamics(at, q, q)
    found = PUMA.forward_dynamics(q, speed * ONE, torque)
    digits(found, printed)


def test_rounding() -> None:
    """`accel(qn, gravload, 0)` of a notebook whose arguments came in another order: the gravity load is the speed.

    Its zeros are rounding (-1.6e-15 and 8e-18 rad/s), and have Coulomb friction: with true zeros the first acceleration is
    another. The same speeds give the same numbers here, so the law is the same; what differs is what is zero.
    """
    speeds = np.array([-1.61532977e-15, 31.6398804, 6.03513802, 8.34761258e-18, 2.82528000e-2, 0.0])
    found = PUMA.forward_dynamics(QN, speeds, ZERO)
    printed = [1.47558948e2, -1.33667778e2, 4.06355199e2, -2.49417795, -8.28105260, 3.63443421e-4]
    assert np.allclose(found, printed, rtol=1e-7, atol=1e-7)
    exact = PUMA.forward_dynamics(QN, np.where(np.abs(speeds) < 1e-10, 0.0, speeds), ZERO)
    assert found[0] - exact[0] > 7


def test_itorque() -> None:
    digits(PUMA.mass_matrix(QN) @ [1, 2, 3, 1, 2, 3], ITORQUE_QN)
    digits(PUMA.mass_matrix(TURNED) @ (0.5 * ONE), ITORQUE_TURNED)


def test_friction() -> None:
    """B = 3, G = 2, Tc = [2, -1] at 1 to 4 rad/s: minus what the toolbox gives, which opposes the motion."""
    link = Link(motor=Motor(viscous=3, gear_ratio=2, coulomb=(2, -1)), mass=1.0)
    found = Mechanism([link] * 4).friction_torque([1.0, 2.0, 3.0, 4.0])
    assert np.array_equal(found, [16.0, 28.0, 40.0, 52.0])


def test_two_links_that_one_can_reason_about() -> None:
    """Unit lengths and masses, in the vertical plane: g (2, 0.5), g (1.5, 0), 0; a unit force up on the tip: (2, 1)."""
    arm = robots.load("planar_2r").replace(
        links=[Link.dh(a=1.0, mass=1.0, com=(-0.5, 0, 0), convention="standard") for _ in range(2)],
        base=[[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], gravity=(0, 0, -9.81),
    )  # fmt: skip
    rest = np.zeros(2)
    for q, per_g in (([0, 0], [2, 0.5]), ([0, pi / 2], [1.5, 0]), ([pi / 2, 0], [0, 0])):
        assert np.allclose(arm.inverse_dynamics(q, rest, rest), 9.81 * np.array(per_g), rtol=0, atol=1e-14)
    weightless = arm.replace(gravity=(0, 0, 0))
    for fext, tau in (([1, 0, 0, 0, 0, 0], [0, 0]), ([0, 1, 0, 0, 0, 0], [2, 1]), ([0, 0, 1, 0, 0, 0], [0, 0])):
        found = weightless.inverse_dynamics(rest, rest, rest, -np.array(fext, dtype=float))
        assert np.allclose(found, tau, rtol=0, atol=1e-15)


def test_teeth() -> None:
    with pytest.raises(AssertionError):
        digits(PUMA.gravity_torque(np.array(QN) + 1e-4), GRAVITY_QN)
