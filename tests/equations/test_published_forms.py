"""Equations of motion as textbooks and papers print them, as equalities of SymPy: all numbers of a mechanism are symbols."""

from __future__ import annotations

from math import pi

import pytest
import sympy
from sympy import cos, sin

import linkwise as lw
from support.kernels_in_sympy import matrix, real, remainder, same, written_out

q1, q2, q3, q4 = q = real(["q1", "q2", "q3", "q4"])
qd1, qd2, qd3, qd4 = qd = real(["qd1", "qd2", "qd3", "qd4"])
qdd1, qdd2, qdd3 = real(["qdd1", "qdd2", "qdd3"])


def planar(count: int) -> lw.Mechanism:
    """Links in a vertical plane: lengths l, centres of mass lc from the joint along the link, masses m, moments I."""
    links = []
    for k in range(1, count + 1):
        m, length, center, moment = lw.symbols(f"m{k} l{k} lc{k} I{k}")
        links.append(
            lw.Link.dh(a=length, convention="standard", mass=m, com=(center - length, 0, 0), inertia=(0, 0, moment))
        )
    return lw.Mechanism(links, gravity=(0, -lw.symbols("g"), 0))


def test_planar_elbow_of_spong() -> None:
    """M. W. Spong, S. Hutchinson, M. Vidyasagar, *Robot Modeling and Control* (2006), planar elbow manipulator."""
    arm = planar(2)
    m1, l1, lc1, I1, m2, lc2, I2, g = real(["m1", "l1", "lc1", "I1", "m2", "lc2", "I2", "g"])
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos(q2)) + I1 + I2
    d12 = m2 * (lc2**2 + l1 * lc2 * cos(q2)) + I2
    h = -m2 * l1 * lc2 * sin(q2)
    phi2 = m2 * lc2 * g * cos(q1 + q2)
    for form in (matrix, written_out):
        assert same(form(arm, "mass_matrix"), [[d11, d12], [d12, m2 * lc2**2 + I2]])
        assert same(form(arm, "coriolis_matrix"), [[h * qd2, h * qd2 + h * qd1], [-h * qd1, 0]])
        assert same(form(arm, "gravity_torque"), [(m1 * lc1 + m2 * l1) * g * cos(q1) + phi2, phi2])
    assert not same(matrix(arm, "mass_matrix")[0, 0], d11 + 2 * m2 * l1 * lc2 * sin(q2))


def test_planar_two_link_of_murray() -> None:
    """R. M. Murray, Z. Li, S. S. Sastry, *A Mathematical Introduction to Robotic Manipulation* (1994), eq. 4.11."""
    arm = planar(2)
    m1, l1, r1, I1, m2, r2, I2 = real(["m1", "l1", "lc1", "I1", "m2", "lc2", "I2"])
    alpha = I1 + I2 + m1 * r1**2 + m2 * (l1**2 + r2**2)
    beta, delta = m2 * l1 * r2, I2 + m2 * r2**2
    turning = beta * cos(q2)
    assert same(matrix(arm, "mass_matrix"), [[alpha + 2 * turning, delta + turning], [delta + turning, delta]])
    wanted = [[-beta * sin(q2) * qd2, -beta * sin(q2) * (qd1 + qd2)], [beta * sin(q2) * qd1, 0]]
    assert same(matrix(arm, "coriolis_matrix"), wanted)


def test_point_masses_of_craig() -> None:
    """J. J. Craig, *Introduction to Robotics* (1989), chapter 6: two links, each a point mass at its far end."""
    arm = planar(2).substitute(I1=0.0, I2=0.0, lc1=lw.symbols("l1"), lc2=lw.symbols("l2"))
    m1, l1, m2, l2, g = real(["m1", "l1", "m2", "l2", "g"])
    far = m2 * l2 * g * cos(q1 + q2)
    tau1 = m2 * l2**2 * (qdd1 + qdd2) + m2 * l1 * l2 * cos(q2) * (2 * qdd1 + qdd2) + (m1 + m2) * l1**2 * qdd1
    tau1 += -m2 * l1 * l2 * sin(q2) * qd2**2 - 2 * m2 * l1 * l2 * sin(q2) * qd1 * qd2
    tau1 += far + (m1 + m2) * l1 * g * cos(q1)
    tau2 = m2 * l1 * l2 * cos(q2) * qdd1 + m2 * l1 * l2 * sin(q2) * qd1**2 + far + m2 * l2**2 * (qdd1 + qdd2)
    assert same(matrix(arm, "inverse_dynamics"), [tau1, tau2])


def test_polar_manipulator_of_craig() -> None:
    """The same chapter: a joint that turns, and one that slides, with masses at l1 and at d2."""
    m1, l1, Z1, m2, Z2, g = lw.symbols("m1 l1 Z1 m2 Z2 g")
    arm = lw.Mechanism(
        [
            lw.Link(mass=m1, com=(l1, 0, 0), inertia=(0, 0, Z1)),
            lw.Link(joint="prismatic", axis=(1, 0, 0), mass=m2, inertia=(0, 0, Z2)),
        ],
        gravity=(0, -g, 0),
    )
    m1, l1, Z1, m2, Z2, g = real(["m1", "l1", "Z1", "m2", "Z2", "g"])
    assert same(matrix(arm, "mass_matrix"), [[m1 * l1**2 + Z1 + Z2 + m2 * q2**2, 0], [0, m2]])
    assert same(
        matrix(arm, "bias_torque"),
        [
            2 * m2 * q2 * qd1 * qd2 + (m1 * l1 + m2 * q2) * g * cos(q1),
            -m2 * q2 * qd1**2 + m2 * g * sin(q1),
        ],
    )


def test_cart_and_pole_of_barto() -> None:
    """A. G. Barto, R. S. Sutton, C. W. Anderson, "Neuronlike adaptive elements that can solve difficult learning control
    problems", IEEE Trans. Syst. Man Cybern. 13(5), 1983, friction left out: a uniform pole of half length l, the angle from
    upright.
    """
    cart, m, half, g = lw.symbols("M m l g")
    pole = lw.Link(axis=(0, 1, 0), mass=m, com=(0, 0, half), inertia=(m * half**2 / 3, m * half**2 / 3, 0))
    mech = lw.Mechanism([lw.Link(joint="prismatic", axis=(1, 0, 0), mass=cart), pole], gravity=(0, 0, -g))
    tau = matrix(mech, "inverse_dynamics")
    M, m, half, g, force = real(["M", "m", "l", "g", "F"])
    total = M + m
    push = (force + m * half * qd2**2 * sin(q2)) / total
    turn = (g * sin(q2) - cos(q2) * push) / (half * (sympy.Rational(4, 3) - m * cos(q2) ** 2 / total))
    slide = push - m * half * turn * cos(q2) / total
    assert same(tau.subs({qdd1: slide, qdd2: turn}), [force, 0])


def test_scara_of_murray() -> None:
    """R. M. Murray, Z. Li, S. S. Sastry (1994), section 4.3: three parallel axes, then one that slides along them."""
    links = []
    for k, before in ((1, 0.0), (2, lw.symbols("l1")), (3, lw.symbols("l2"))):
        shift = [[1, 0, 0, 0], [0, 1, 0, before], [0, 0, 1, 0], [0, 0, 0, 1]]
        center = (0, lw.symbols(f"r{k}"), 0) if k < 3 else (0, 0, 0)
        links.append(lw.Link(before=shift, mass=lw.symbols(f"m{k}"), com=center, inertia=(0, 0, lw.symbols(f"I{k}"))))
    links.append(lw.Link(joint="prismatic", mass=lw.symbols("m4"), inertia=(0, 0, lw.symbols("I4"))))
    arm = lw.Mechanism(links, gravity=(0, 0, -lw.symbols("g")))
    I1, I2, I3, I4 = real(["I1", "I2", "I3", "I4"])
    m1, m2, m3, m4, l1, l2, r1, r2, g = real(["m1", "m2", "m3", "m4", "l1", "l2", "r1", "r2", "g"])
    alpha = I1 + r1**2 * m1 + l1**2 * (m2 + m3 + m4)
    beta = I2 + I3 + I4 + l2**2 * (m3 + m4) + m2 * r2**2
    gamma, delta = l1 * l2 * (m3 + m4) + l1 * m2 * r2, I3 + I4
    near = beta + gamma * cos(q2)
    rows = [[alpha + beta + 2 * gamma * cos(q2), near, delta, 0], [near, beta, delta, 0], [delta] * 3 + [0], [0, 0, 0, m4]]
    assert same(matrix(arm, "mass_matrix"), rows)
    h = gamma * sin(q2)
    rows = [[-h * qd2, -h * (qd1 + qd2), 0, 0], [h * qd1, 0, 0, 0], [0] * 4, [0] * 4]
    assert same(matrix(arm, "coriolis_matrix"), rows)
    assert same(matrix(arm, "gravity_torque"), [0, 0, 0, m4 * g])


@pytest.mark.parametrize("count", [2, 3])
def test_planar_chain_in_absolute_angles(count: int) -> None:
    """In the angles p of the links themselves, M is a_ij cos(p_i - p_j) and g is b_i cos(p_i), with sums a and b of masses
    times the distances along link i and along link j; p = q1, q1 + q2, ... makes these E' M E and E' g.
    """
    arm = planar(count)
    length, center, mass, moment = (real(f"{letter}{k}" for k in range(1, count + 1)) for letter in ("l", "lc", "m", "I"))
    p = [sum(q[: k + 1]) for k in range(count)]

    def way(k: int, i: int) -> object:
        """How much of link i lies between the base and the centre of mass of link k."""
        return length[i] if i < k else center[i] if i == k else 0

    def entry(i: int, j: int) -> object:
        along = sum(mass[k] * way(k, int(i)) * way(k, int(j)) for k in range(count))
        return cos(p[i] - p[j]) * along + (moment[i] if i == j else 0)

    g = real(["g"])[0]
    weight = sympy.Matrix([g * cos(p[i]) * sum(mass[k] * way(k, i) for k in range(count)) for i in range(count)])
    spread = sympy.Matrix(count, count, lambda i, j: 1 if j <= i else 0)
    assert same(matrix(arm, "mass_matrix"), spread.T * sympy.Matrix(count, count, entry) * spread)
    assert same(matrix(arm, "gravity_torque"), spread.T * weight)


def general(*alphas: float) -> lw.Mechanism:
    """Revolute joints with all ten inertial parameters of each link, lengths and gravity as symbols."""
    arm = lw.Mechanism.from_dh([(0.0, 0.0, 0.5, alpha) for alpha in alphas], convention="standard", joints="R" * len(alphas))
    full = {"mass": 1.0, "com": (0.1, 0.2, 0.4), "inertia": (0.5, 0.6, 0.7, 0.01, 0.02, 0.03)}
    arm = arm.replace(links=[link.replace(dh_row=link.dh_row, **full) for link in arm.links])
    return arm.symbolic("inertial", "lengths", "gravity")


@pytest.mark.parametrize("alphas", [(0.0, 0.0), (pi / 2, 0.0), (0.0, 0.0, 0.0), (pi / 2, 0.0, 0.0)])
def test_mass_matrix_is_symmetric_and_its_rate_less_twice_the_coriolis_matrix_skew(alphas: tuple[float, ...]) -> None:
    arm, count = general(*alphas), len(alphas)
    assert {f"{name}{count}" for name in ("a", "M", "MX", "MZ", "XX", "ZZ", "XY", "YZ", "XZ")} <= set(arm.symbols)
    M, C = written_out(arm, "mass_matrix"), written_out(arm, "coriolis_matrix")
    assert all(remainder(entry) == 0 for entry in M - M.T)
    rate = sum((M.diff(angle) * speed for angle, speed in zip(q[:count], qd, strict=False)), sympy.zeros(count))
    skew = rate - 2 * C
    assert all(remainder(entry) == 0 for entry in skew + skew.T)
    assert any(remainder(entry) != 0 for entry in skew)
