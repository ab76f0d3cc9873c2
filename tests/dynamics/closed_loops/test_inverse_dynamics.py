"""Inverse dynamics with loops closed, and the inertia that driven coordinates feel."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from linkwise import Mechanism, Motor, robots
from linkwise.dynamics import closed_inverse_dynamics, reduced_mass_matrix
from linkwise.errors import ArgumentError
from support.random_linkages import bennett, closed_state, cut, near_zero, parallelogram

pytestmark = pytest.mark.usefixtures("uncompiled")

LEGS = [f"leg{k}" for k in range(1, 7)]


@cache
def bundled(name: str) -> Mechanism:
    """A bundled linkage of this module alone."""
    return robots.load(name).replace()


def with_friction(mech: Mechanism) -> Mechanism:
    """Motors on all joints, their friction and rotors too; the efforts of most of them will be zero."""
    motor = Motor(inertia=1e-4, gear_ratio=5.0, viscous=1e-3, coulomb=(0.02, -0.03))
    return mech.replace(links=[link.replace(motor=motor) for link in mech.links])


def driven_state(mech: Mechanism, q: np.ndarray, driven: list[int], seed: int) -> tuple[np.ndarray, ...]:
    """Speeds, efforts of the driven coordinates alone, the accelerations under them, and the forces in the loops."""
    qd, tau = closed_state(mech, q, seed, 2.0)
    tau[[k for k in range(mech.nv) if k not in driven]] = 0.0
    return (qd, tau, *mech.kernel("closed_forward_dynamics", backend="numpy")(q, qd, tau))


CASES = {
    "four_bar": (bundled("four_bar"), [0]),
    "its rocker": (with_friction(bundled("four_bar")), [2]),
    "slider_crank": (with_friction(bundled("slider_crank")), [0]),
    "its slider": (bundled("slider_crank"), [2]),
    "five_bar": (bundled("five_bar"), [0, 2]),
}


@pytest.mark.parametrize("name", CASES)
def test_it_undoes_forward_dynamics(name: str) -> None:
    mech, driven = CASES[name]
    q = np.array([near_zero(mech, seed) for seed in range(3)])
    states = [driven_state(mech, row, driven, seed) for seed, row in enumerate(q)]
    qd, tau, qdd, forces = (np.array(part) for part in zip(*states, strict=True))
    found, carried = closed_inverse_dynamics(mech, q, qd, qdd, [mech.velocity_names[k] for k in driven])
    errors = np.abs(found - tau).max() / np.abs(tau).max(), np.abs(carried - forces).max() / (1 + np.abs(forces).max())
    print(name, errors)
    # rounding of the efforts of the tree times the condition of the closure equations, 1e2 here; seen: 1e-13
    assert max(errors) < 1e-11
    one = closed_inverse_dynamics(mech, q[1], qd[1], qdd[1], driven)
    assert all(
        np.allclose(a, b[1], rtol=0, atol=1e-13 * (1 + np.abs(b).max())) for a, b in zip(one, (found, carried), strict=True)
    )


def test_the_tree_is_cut_open_once() -> None:
    """Else each call would trace and compile anew."""
    mech = bundled("four_bar")
    q, still = near_zero(mech), np.zeros(3)
    qdd = mech.forward_dynamics(q, still, still)
    closed_inverse_dynamics(mech, q, still, qdd, "crank")
    kept = mech.memo("closed_inverse_dynamics", "cut open", lambda: pytest.fail("nothing was kept"))
    closed_inverse_dynamics(mech, q, still, qdd, "crank")
    assert mech.memo("closed_inverse_dynamics", "cut open", lambda: pytest.fail("it was made again")) is kept
    assert not kept.loops


def test_motors_drive_where_nothing_is_said() -> None:
    given = bundled("five_bar")
    mech = given.replace(links=[link.replace(motor=None) for link in given.links])
    on = [link.replace(motor=Motor(inertia=1e-5)) if k in (0, 2) else link for k, link in enumerate(mech.links)]
    motors, q = mech.replace(links=on), near_zero(mech)
    qd, tau, qdd, _ = driven_state(motors, q, [0, 2], 1)
    assert np.allclose(closed_inverse_dynamics(motors, q, qd, qdd)[0], tau, rtol=0, atol=1e-12)
    missing = r"driven is missing, and 'five_bar' has no motors; expected driven=\[\.\.\.\] with some of 'left_crank',"
    with pytest.raises(ArgumentError, match=f"^closed_inverse_dynamics: {missing}"):
        closed_inverse_dynamics(mech, q, qd, qdd)
    with pytest.raises(ArgumentError, match=f"^actuator_efforts: {missing}"):
        mech.actuator_efforts(q, qd, qdd)


def test_more_motors_than_freedoms_share_by_least_norm() -> None:
    """The two cranks of a parallelogram turn alike, so each takes half; efforts whose sum is zero change nothing."""
    mech, q = parallelogram(), np.array([0.7, -0.7, 0.7])
    qd, tau, qdd, _ = driven_state(mech, q, [0], 3)
    found, forces = closed_inverse_dynamics(mech, q, qd, qdd, ["crank", "other"])
    assert np.allclose(found, [tau[0] / 2, 0.0, tau[0] / 2], rtol=0, atol=1e-12 * abs(tau[0]))
    again, carried = mech.kernel("closed_forward_dynamics", backend="numpy")(q, qd, found)
    assert np.abs(again - qdd).max() < 1e-11 * (1 + np.abs(qdd).max())
    assert np.abs(carried - forces).max() < 1e-11 * (1 + np.abs(forces).max())


def test_a_force_counts_as_a_moment_at_the_longest_offset() -> None:
    """Crank and slider driven together: of all shares that make the motion, none is smaller."""
    mech = bundled("slider_crank")
    q = near_zero(mech)
    qd, _, qdd, _ = driven_state(mech, q, [0], 2)
    found = closed_inverse_dynamics(mech, q, qd, qdd, [0, 2])[0]
    size = 0.25  # the rod
    assert max(np.linalg.norm(link.before[:3, 3]) for link in mech.links) <= size
    alone = [closed_inverse_dynamics(mech, q, qd, qdd, k)[0] for k in (0, 2)]
    shares = np.linspace(-2, 3, 2001)[:, None]
    efforts = shares * alone[0] + (1 - shares) * alone[1]
    norms = np.hypot(efforts[:, 0], size * efforts[:, 2])
    assert np.hypot(found[0], size * found[2]) <= norms.min() * (1 + 1e-12)
    assert norms.min() < np.hypot(found[0], size * found[2]) * (1 + 1e-4)


def test_the_power_of_the_driven_coordinates_is_the_rate_of_the_energy() -> None:
    mech, step = bundled("five_bar"), 1e-5
    q = near_zero(mech)
    qd, tau, qdd, _ = driven_state(mech, q, [0, 2], 5)
    energies = []
    for h in (-step, step):
        there = mech.kernel("project_to_loops")(q + h * qd + 0.5 * h * h * qdd, qd + h * qdd)
        energies.append(mech.kinetic_energy(*there) + mech.potential_energy(there[0]))
    rate = (energies[1] - energies[0]) / (2 * step)
    print(rate, tau @ qd)
    assert abs(rate - tau @ qd) < 1e-7 * (1 + abs(rate))  # the square of the step times a third derivative of 1e2


def test_legs_carry_the_weight_of_a_stewart_platform() -> None:
    """At rest the virtual work of the legs is that of the weights: tau' d(legs) = d(potential energy)."""
    mech = bundled("stewart")
    driven = [mech.names.index(leg) for leg in LEGS]
    q, rest = near_zero(mech), np.zeros(mech.nv)
    tau, _ = closed_inverse_dynamics(mech, q, rest, rest, LEGS)
    jac = mech.kernel("closure_jacobian")(q)
    free = np.linalg.svd(jac)[2][18:]
    for lead in free:
        work = tau @ lead
        weight = (mech.potential_energy(q + 1e-5 * lead) - mech.potential_energy(q - 1e-5 * lead)) / 2e-5
        assert abs(work - weight) < 1e-6  # 1e-16 of 400 J over the step is 4e-9, its square times a third derivative 1e-7
    assert np.all(tau[driven] > 0)
    assert not np.delete(tau, driven).any()


def test_the_reduced_mass_matrix() -> None:
    for name in ("four_bar", "its slider", "five_bar"):
        mech, driven = CASES[name]
        q = np.array([near_zero(mech, seed) for seed in range(3)])
        qd = np.array([closed_state(mech, row, seed)[0] for seed, row in enumerate(q)])
        made = reduced_mass_matrix(mech, q, driven)
        energy = 0.5 * np.einsum("bi,bij,bj->b", qd[:, driven], made, qd[:, driven])
        assert np.abs(energy / mech.kinetic_energy(q, qd) - 1).max() < 1e-11
        assert np.array_equal(made, np.swapaxes(made, -1, -2))
    follows = parallelogram(coupled=True).mass_matrix([0.4])
    one = reduced_mass_matrix(parallelogram(), [0.4, -0.4, 0.4], "crank")
    assert np.abs(one / follows - 1).max() < 1e-13


def test_what_is_refused() -> None:
    mech, q = bundled("four_bar"), near_zero(bundled("four_bar"))
    qd, _, qdd, _ = driven_state(mech, q, [0], 1)
    shift = np.array([0.0, 0.0, 1.0])
    five, there = bundled("five_bar"), near_zero(bundled("five_bar"))
    state = driven_state(five, there, [0, 2], 1)
    flat, still = np.zeros(3), np.zeros(3)
    rest = np.zeros(3)
    efforts, matrix = closed_inverse_dynamics, reduced_mass_matrix
    cases = [
        (efforts, (mech, q + 0.1 * shift, qd, qdd, 0), "loops of 'four_bar' are open at q by 0.0"),
        (efforts, (mech, [q, q + 0.1 * shift], qd, qdd, 0), "loops of 'four_bar' are open at q[1] by 0.0"),
        (efforts, (mech, q, qd + 0.1 * shift, qdd, 0), "qd opens loops of 'four_bar' by "),
        (efforts, (mech, q, qd, qdd + 10 * shift, 0), "qdd opens loops of 'four_bar' by "),
        (efforts, (mech, q, qd, qdd[:2], 0), "qdd has the shape (2,); expected (..., 3)"),
        (efforts, (mech, q[:2], qd, qdd, 0), "q has the shape (2,); expected (..., 3)"),
        (
            efforts,
            (mech, q, qd, qdd, "wheel"),
            "driven has 'wheel'; expected 'crank', 'coupler' or 'rocker', or indices 0 to ",
        ),
        (efforts, (mech, q, qd, qdd, [0, 0]), "driven is [0, 0]; expected one coordinate or more, each once"),
        (efforts, (mech, q, qd, qdd, []), "driven is []; expected one coordinate or more, each once"),
        (
            efforts,
            (cut(mech), q, qd, qdd, 0),
            "'four_bar' has no loops; closed_inverse_dynamics is for mechanisms with",
        ),
        (
            efforts,
            (five, there, state[0], state[2], [0]),
            "the driven coordinates ('left_crank') of 'five_bar' cannot make",
        ),
        (
            efforts,
            (parallelogram(), flat, still, rest, 0),
            "loops of 'parallelogram' are at a singular position at q:",
        ),
        (
            matrix,
            (five, there, [0]),
            "1 coordinates of 'five_bar' are driven; expected as many as there are degrees of",
        ),
        (matrix, (cut(mech), q, 0), "'four_bar' has no loops; reduced_mass_matrix is for mechanisms with them"),
    ]
    for function, given, said in cases:
        with pytest.raises(ArgumentError, match=re.escape(said)):
            function(*given)  # type: ignore[operator]


def test_a_coordinate_that_cannot_drive() -> None:
    """At the end of a slider's stroke its speed is zero while the crank turns."""
    mech = bundled("slider_crank")
    q = mech.neutral.copy()
    task = np.asarray(mech.kernel("closure")(q))
    assert np.abs(task).max() < 1e-12, "stretched at the zero position"
    with pytest.raises(ArgumentError, match=r"'slider'.*'slider_crank'"):
        reduced_mass_matrix(mech, q, "slider")
    assert reduced_mass_matrix(mech, q, "crank")[0, 0] > 0
    qd, _, qdd, _ = driven_state(mech, q, [0], 2)
    with pytest.raises(ArgumentError, match=r"'slider'.*'slider_crank'"):
        closed_inverse_dynamics(mech, q, qd, qdd, "slider")


def test_a_motion_that_needs_nothing_is_supported_by_anything() -> None:
    """Falling freely, a five-bar takes no efforts, so one motor is enough."""
    mech = bundled("five_bar")
    q = near_zero(mech)
    qd, _ = closed_state(mech, q, 2)
    qdd = mech.forward_dynamics(q, qd, np.zeros(4))
    tau, _ = closed_inverse_dynamics(mech, q, qd, qdd, "left_crank")
    assert np.abs(tau).max() < 1e-12
    spatial, at = bennett()
    rest = np.zeros(4)
    tau, forces = closed_inverse_dynamics(spatial, at, rest, rest, 0)
    assert tau[0] != 0
    assert forces.any()
