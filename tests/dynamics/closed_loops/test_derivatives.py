"""Derivatives of both dynamics with loops closed, linearised motion and modes: against differences along closed motions.

A neighbour of a closed state is closed again by Newton's method, so differences follow motions that the loops allow.
Richardson's differences of h = 5e-5 have the errors h^4 f^(5) / 480, which grow with the fifth power of what a passive joint
does for a driven one, up to 40 here, and 2 eps |f| / h, 1e-11. Seen: 2e-9.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, Motor, Spring, robots
from linkwise.errors import ArgumentError
from linkwise.loops.loop_solver import closed_samples, closing
from linkwise.spatial.transform import translation
from support.random_linkages import bennett, closed_state, cut, near_zero, parallelogram, random_loop
from support.random_mechanisms import column_by_column, relative

pytestmark = pytest.mark.usefixtures("uncompiled")

STEP, DIFFERENCES = 5e-5, 1e-8


@cache
def spatial() -> tuple[Mechanism, np.ndarray]:
    """A rod between two ball joints, in a loop through a quaternion, with a spring; two freedoms, one the rod's own spin."""
    across = translation(0.4)
    across[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    links = [
        Link(name="crank", mass=1.0, com=(0.05, 0, 0), inertia=(0.01, 0.02, 0.02), motor=Motor(inertia=0.01, viscous=0.1)),
        Link(
            name="rod", joint="ball", parent="crank", before=translation(0.1), mass=0.5, com=(0.2, 0, 0), inertia=(0.01,) * 3
        ),
        Link(name="rocker", parent="base", before=across, mass=0.7, com=(0.1, 0, 0.02), inertia=(0.01, 0.01, 0.01)),
    ]
    loops = [Loop("point", "rod", "rocker", translation(0.42), translation(0.2), "socket")]
    spring = Spring("rocker", stiffness=30.0, damping=0.5, rest=0.2)
    mech = Mechanism(links, loops=loops, springs=[spring], gravity=(0, 0, -9.81), name="rods")
    return mech, closed_samples(closing(mech), count=1)[0]


@cache
def case(name: str) -> tuple[Mechanism, np.ndarray, list[str]]:
    """A mechanism, a closed position, and independent coordinates."""
    if name in robots.names():
        mech = robots.load(name).replace()
        driven = {"five_bar": ["left_crank", "right_crank"]}.get(name, ["crank"])
        return mech, near_zero(mech), driven
    if name == "ball":
        return (*spatial(), ["crank", "rod_wx"])
    if name == "bennett":
        return (*bennett(), ["l0"])
    mech, q = random_loop(23, "point", ["revolute"] * 4, floating=True)
    return mech, q, [*mech.velocity_names[:6], mech.names[0]]


CASES = ["four_bar", "five_bar", "ball", "bennett", "point floating"]


def state_of(name: str) -> tuple[Mechanism, np.ndarray, np.ndarray, np.ndarray, list[str]]:
    mech, q, driven = case(name)
    return (mech, q, *closed_state(mech, q, 3), driven)


def neighbours(
    mech: Mechanism, q: np.ndarray, qd: np.ndarray, driven: list[str]
) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """States whose driven coordinates and speeds are shifted by du and dud, with all others as the loops want them."""
    at = [mech.velocity_names.index(name) for name in driven]
    passive = [k for k in range(mech.nv) if k not in at]
    jacobian, closure = mech.kernel("closure_jacobian"), mech.kernel("closure")

    def shifted(du: np.ndarray, dud: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        step = np.zeros(mech.nv)
        step[at] = du
        there = mech.integrate(q, step)
        for _ in range(12):
            step[passive] -= np.linalg.lstsq(jacobian(there)[:, passive], closure(there), rcond=1e-9)[0]
            there = mech.integrate(q, step)
        assert np.abs(closure(there)).max() < 1e-13
        table, speeds = jacobian(there), np.zeros(mech.nv)
        speeds[at] = qd[at] + dud
        speeds[passive] = np.linalg.lstsq(table[:, passive], -table[:, at] @ speeds[at], rcond=1e-9)[0]
        return there, speeds

    return shifted


def rises(mech: Mechanism, q: np.ndarray, qd: np.ndarray, driven: list[str], udd: np.ndarray) -> np.ndarray:
    """All accelerations, from those of the driven coordinates."""
    at = [mech.velocity_names.index(name) for name in driven]
    passive = [k for k in range(mech.nv) if k not in at]
    table, bias, result = mech.kernel("closure_jacobian")(q), mech.kernel("closure_bias")(q, qd), np.zeros(mech.nv)
    result[at] = udd
    result[passive] = np.linalg.lstsq(table[:, passive], -bias - table[:, at] @ udd, rcond=1e-9)[0]
    return result


@pytest.mark.parametrize("name", CASES)
def test_forward_dynamics_and_linearized_motion(name: str) -> None:
    """By q, qd along closed motions, by tau anywhere; and the same in independent coordinates."""
    mech, q, qd, tau, driven = state_of(name)
    at, m = [mech.velocity_names.index(k) for k in driven], len(driven)
    near, tables = neighbours(mech, q, qd, driven), mech.forward_dynamics_derivatives(q, qd, tau)

    def accelerations(step: np.ndarray) -> np.ndarray:
        return np.asarray(mech.forward_dynamics(*near(step[:m], step[m : 2 * m]), tau + step[2 * m :]))

    def states(step: np.ndarray) -> np.ndarray:
        there, speeds = near(step[:m], step[m:])
        return np.concatenate([mech.difference(q, there), speeds])

    moved = column_by_column(states, 2 * m, STEP)
    expected = column_by_column(accelerations, 2 * m + mech.nv, STEP)
    result = np.concatenate([tables[0] @ moved[: mech.nv] + tables[1] @ moved[mech.nv :], tables[2]], axis=1)
    linear = mech.linearize(q, qd, tau, driven=driven)
    errors = [
        relative(result, expected),
        relative(linear.A[m:], expected[at, : 2 * m]),
        relative(linear.B[m:], expected[at, 2 * m :]),
    ]
    print(name, [f"{error:.1e}" for error in errors])
    assert max(errors) < DIFFERENCES
    if not mech.manifold_joints:
        assert np.array_equal(linear.A[:m], np.eye(m, 2 * m, m))
    jac, scale = mech.kernel("closure_jacobian")(q), np.abs(tables[2]).max()
    assert np.abs(jac @ tables[2]).max() < 1e-10 * scale, "accelerations by efforts keep the loops closed"
    assert np.abs(tables[2] - tables[2].T).max() < 1e-10 * scale, "and are symmetric (J. C. Maxwell, E. Betti)"


@pytest.mark.parametrize("name", CASES)
def test_inverse_dynamics(name: str) -> None:
    """Efforts of the driven coordinates by these, their speeds and accelerations; they undo those of forward dynamics."""
    mech, q, qd, _, driven = state_of(name)
    at, m = [mech.velocity_names.index(k) for k in driven], len(driven)
    udd = np.linspace(-1.0, 1.0, m) if m > 1 else np.ones(1)
    near = neighbours(mech, q, qd, driven)

    def efforts(step: np.ndarray) -> np.ndarray:
        there = near(step[:m], step[m : 2 * m])
        return np.asarray(mech.actuator_efforts(*there, rises(mech, *there, driven, udd + step[2 * m :]), driven)[at])

    qdd = rises(mech, q, qd, driven, udd)
    tables = mech.inverse_dynamics_derivatives(q, qd, qdd, driven=driven)
    error = relative(np.concatenate(tables, axis=1), column_by_column(efforts, 3 * m, STEP))
    tau = mech.actuator_efforts(q, qd, qdd, driven)
    linear = mech.linearize(q, qd, tau, driven=driven)
    undone = relative(tables[2] @ linear.A[m:], -np.concatenate(tables[:2], axis=1))
    print(name, f"{error:.1e}, against forward dynamics {undone:.1e}")
    assert error < DIFFERENCES
    assert relative(tables[2], mech.reduced_mass_matrix(q, driven)) < 1e-12
    assert undone < 1e-9, "rounding times the condition of both, up to 1e5"


def pair() -> tuple[Mechanism, Mechanism]:
    """A parallelogram closed by a loop, and the same motion by joints that follow, with a spring and a motor."""
    motor, spring = Motor(inertia=0.02, viscous=0.3), Spring("crank", stiffness=12.0, damping=0.4, rest=0.3)
    result = []
    for coupled in (False, True):
        mech = parallelogram(coupled=coupled)
        links = [mech.links[0].replace(motor=motor), *mech.links[1:]]
        result.append(mech.replace(links=links, springs=[spring]))
    return result[0], result[1]


def test_a_loop_and_followers_agree() -> None:
    """One motion, described in two ways that share no code for what closes it."""
    loop, follows = pair()
    u, ud, udd = np.array([0.7]), np.array([1.3]), np.array([-0.4])
    spread = np.array([1.0, -1.0, 1.0])
    q, qd, qdd = (value * spread for value in (u, ud, udd))
    errors = [
        relative(a, b)
        for a, b in zip(
            loop.inverse_dynamics_derivatives(q, qd, qdd), follows.inverse_dynamics_derivatives(u, ud, udd), strict=True
        )
    ]
    a, b = loop.linearize(q, qd), follows.linearize(u, ud)
    errors += [relative(a.A, b.A), relative(a.B[:, :1], b.B), relative(a.tau[:1], b.tau), np.abs(a.qdd[0] - b.qdd[0])]
    with_loop, without = loop.modes(q), follows.modes(u)
    errors += [relative(with_loop.squares, without.squares)]
    errors += [relative(np.abs(with_loop.shapes), np.abs(without.shapes) * np.abs(spread)[:, None])]
    table = loop.regressor(q, qd, qdd)
    expected = follows.regressor(u, ud, udd)
    errors.append(relative(table[0], expected[0]))
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < 1e-11
    assert loop.base_parameters(q=np.linspace(0.2, 1.4, 9)[:, None] * spread).names == follows.base_parameters().names
    assert len(loop.base_parameters()) > len(follows.base_parameters()), "it can be an antiparallelogram"


def test_modes_of_a_hanging_loop() -> None:
    """Frequencies are those of the linearised motion without damping; where it rests no effort need be known."""
    bare = parallelogram()
    q = np.array([1.0, -1.0, 1.0]) * hanging(bare)
    modes = bare.modes(q)
    linear = bare.linearize(q, tau=np.zeros(3), driven=["crank"])
    assert relative(modes.squares, -linear.A[1:, 0]) < 1e-12
    assert modes.squares[0] > 0
    mass = bare.mass_matrix(q)
    assert abs((modes.shapes.T @ mass @ modes.shapes).item() - 1.0) < 1e-12
    assert np.abs(bare.kernel("closure_jacobian")(q) @ modes.shapes).max() < 1e-12
    with pytest.raises(ArgumentError, match=r"^modes: the driven coordinates \(none\) of 'parallelogram'"):
        bare.modes(q + np.array([0.1, -0.1, 0.1]))
    held = bare.modes(q + np.array([0.1, -0.1, 0.1]), driven="crank")
    assert 0 < held.squares[0] < modes.squares[0]


def hanging(mech: Mechanism) -> float:
    """The angle at which the parallelogram rests, its masses lowest: where the slope of the energy of the tree vanishes."""
    low, high = -np.pi, 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        slope = np.array([1.0, -1.0, 1.0]) @ cut(mech).gravity_torque(middle * np.array([1.0, -1.0, 1.0]))
        low, high = (middle, high) if slope < 0 else (low, middle)
    return low


def test_batches_and_open_states() -> None:
    mech, q, qd, tau, driven = state_of("five_bar")
    many = [np.stack([value, value]) for value in (q, qd, tau)]
    for name in ("forward_dynamics_derivatives", "linearize"):
        options = {"driven": driven} if name == "linearize" else {}
        one, two = (getattr(mech, name)(*states, **options) for states in ((q, qd, tau), many))
        pairs = [(one.A, two.A), (one.B, two.B)] if name == "linearize" else list(zip(one, two, strict=True))
        assert all(relative(b[1], a) < 1e-13 for a, b in pairs)
    off = q + np.array([0.1, 0.0, 0.0, 0.0])
    assert all(np.isnan(table).all() for table in mech.forward_dynamics_derivatives(off, qd, tau))
    arm = robots.planar_2r()
    for call, message in [
        (lambda: mech.linearize(off, qd, tau), "^linearize: loops of 'five_bar' are open at q by"),
        (lambda: mech.linearize(q, qd + np.eye(4)[0], tau), "^linearize: qd opens loops of 'five_bar'"),
        (lambda: mech.linearize(q, driven=["left_crank"]), "^linearize: 1 coordinates of 'five_bar' are driven"),
        (lambda: arm.linearize([0, 0], driven=[0]), r"^linearize: driven is \[0\], but 'planar_2r' has no loops"),
        (lambda: arm.modes([0, 0], driven="link1"), "^modes: driven is 'link1', but 'planar_2r' has no loops"),
        (lambda: mech.inverse_dynamics_derivatives(off, qd, 0 * qd), "are open at q by"),
        (lambda: mech.inverse_dynamics_derivatives(q, qd, 0 * qd, driven="elbow"), "driven has 'elbow'; expected"),
        (lambda: arm.inverse_dynamics_derivatives([0, 0], [0, 0], [0, 0], driven=0), "'planar_2r' has no loops"),
        (lambda: mech.kernel("inverse_dynamics_derivatives"), "the method inverse_dynamics_derivatives of Mechanism takes"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            call()
