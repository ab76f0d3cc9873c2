"""Centroidal momentum, centres of mass of subtrees, the wrench on the base, and regressors of momentum and energy."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import ConstantForce, Mechanism, Motor, robots
from support.exact_derivatives import along, by_motion, gradients, rates
from support.random_mechanisms import VARIANTS, direct, random_mechanism, random_pose, random_state, relative, variant

BOUND = 2e-12
"""Rounding; seen: 4e-14."""

at_each = pytest.mark.parametrize("name", VARIANTS)


@at_each
def test_the_matrix_gives_the_momentum_and_its_rate(name: str) -> None:
    mech = variant(name).with_payload(0.7, (0.1, -0.05, 0.2), (0.01, 0.02, 0.015))
    q, qd, qdd = random_state(mech, 1)
    matrix = direct(mech, "centroidal_momentum_matrix", q)
    rate = direct(mech, "centroidal_momentum_matrix_dot", q, qd)
    change = along(mech, "momentum", (q, qd), (rates(mech, q) @ qd, qdd), about="com")
    errors = [
        relative(matrix @ qd, direct(mech, "momentum", q, qd, about="com")),
        np.abs(matrix @ qdd + rate @ qd - change).max() / np.abs(matrix @ qdd).max(),
    ]
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < BOUND


@pytest.mark.parametrize("name", ["joints 1", "floating rotors 0", "coupled rotors 4"])
def test_derivatives_of_the_momentum_and_of_its_rate(name: str) -> None:
    mech = variant(name)
    q, qd, qdd = random_state(mech, 2)
    by_q, rate_by_q, rate_by_qd, rate_by_qdd = direct(mech, "centroidal_momentum_derivatives", q, qd, qdd)
    turned = mech.nv - mech.n + np.arange(mech.n)  # by each joint; the base's own motion turns the momentum as well
    matrix = direct(mech, "centroidal_momentum_matrix", q)
    slope = by_motion(mech, "centroidal_momentum_matrix_dot", q, qd)
    errors = [
        relative(by_q[:, turned], by_motion(mech, "momentum", q, qd, about="com")[:, turned]),
        relative(rate_by_qdd, matrix),
        relative(
            rate_by_q,
            by_motion(mech, "centroidal_momentum_matrix", q).transpose(0, 2, 1) @ qdd + slope.transpose(0, 2, 1) @ qd,
        ),
        relative(
            rate_by_qd,
            direct(mech, "centroidal_momentum_matrix_dot", q, qd)
            + np.einsum("ijk,j->ik", gradients(mech, "centroidal_momentum_matrix_dot", (q, qd), 1)[0], qd),
        ),
    ]
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < BOUND


@at_each
def test_centres_of_mass_of_subtrees(name: str) -> None:
    """The mass-weighted mean over the links beyond, from their poses and Jacobians one by one."""
    mech = variant(name).with_payload(0.7, (0.1, -0.05, 0.2))
    q, _, _ = random_state(mech, 3)
    for root in (0, len(mech.links) // 2):
        inside = [k for k in range(len(mech.links)) if root in mech.path(k)]
        masses = [(mech.link_names[k], mech.links[k].body.mass, mech.links[k].body.com) for k in inside]
        masses += [
            (mech.link_names[d.carrier], d.motor.mass, d.motor.com)
            for d in mech.drives
            if d.carrier is not None and d.carrier in inside
        ]
        masses += [("tool", mech.payload.mass, mech.payload.com)] if mech.tool_index in inside else []
        first, speed, total = np.zeros(3), np.zeros((3, mech.nv)), 0.0
        for frame, mass, com in masses:
            pose, jac = direct(mech, "forward_kinematics", q, link=frame), direct(mech, "jacobian", q, link=frame)
            arm = pose[:3, :3] @ com
            first, total = first + mass * (pose[:3, 3] + arm), total + mass
            speed += mass * (jac[:3] + np.cross(jac[3:].T, arm).T)
        options = {"link": mech.link_names[root]}
        errors = [
            relative(direct(mech, "center_of_mass", q, **options), first / total),
            relative(direct(mech, "center_of_mass_jacobian", q, **options), speed / total),
        ]
        print([f"{error:.1e}" for error in errors])
        assert max(errors) < BOUND


def pulled(mech: Mechanism) -> Mechanism:
    """The same mechanism with a constant force on its last link."""
    return mech.replace(springs=[ConstantForce(mech.link_names[-1], (5.0, -3.0, 8.0), (0.1, 0.2, 0.3))])


@pytest.mark.parametrize("name", [name for name in VARIANTS if "floating" not in name])
def test_the_base_holds_what_its_links_receive(name: str) -> None:
    """Joint wrenches of the links on the base, and weights and couples of rotors that it carries, in its axes."""
    mech = pulled(variant(name)).replace(base=random_pose(np.random.default_rng(2)))
    q, qd, qdd = random_state(mech, 4)
    actions = direct(mech, "joint_wrenches", q, qd, qdd)
    total = sum(actions[k] for k, parent in enumerate(mech.parents) if parent < 0)
    for drive in mech.drives:
        if drive.carrier == -1:
            pairs, motor = zip(mech.links, mech.followers, strict=True), drive.motor
            joint = next(f for x, f in pairs if drive.joint in (x.coordinate_names or (x.coordinate_name,)))
            rise = joint.ratio * qdd[mech.nv - mech.n + drive.coordinate]
            at, weight = (mech.base @ [*motor.com, 1.0])[:3], -motor.mass * mech.gravity
            couple = motor.inertia * motor.gear_ratio * rise * (mech.base[:3, :3] @ motor.axis)
            total = total + np.concatenate([weight, np.cross(at, weight) + couple])
    R, p = mech.base[:3, :3], mech.base[:3, 3]
    wanted = np.concatenate([R.T @ total[:3], R.T @ (total[3:] - np.cross(p, total[:3]))])
    error = relative(direct(mech, "base_wrench", q, qd, qdd), wanted)
    print(f"{error:.1e}")
    assert error < BOUND


@pytest.mark.parametrize("name", [name for name in VARIANTS if "floating" in name])
def test_the_wrench_on_a_floating_base_is_its_effort(name: str) -> None:
    mech = pulled(variant(name))
    state = random_state(mech, 5)
    wrench = direct(mech, "base_wrench", *state)
    error = relative(wrench, direct(mech, "inverse_dynamics", *state)[:6])
    print(f"{error:.1e}")
    assert error < BOUND
    dragged = mech.replace(motors=[*mech.motors, Motor(viscous=3.0, inertia=0.2, joint=mech.velocity_names[0])])
    assert np.array_equal(direct(dragged, "base_wrench", *state), wrench)  # (what the motor does comes from the ground)
    more = direct(dragged, "inverse_dynamics", *state)[0] - wrench[0] - 3.0 * state[1][0] - 0.2 * state[2][0]
    assert abs(more) < BOUND * np.abs(wrench).max()


@at_each
def test_regressors_of_gravity_momentum_and_energy(name: str) -> None:
    mech = variant(name)
    q, qd, _ = random_state(mech, 6)
    kinetic, potential = direct(mech, "energy_regressor", q, qd)
    numbers = mech.parameters
    errors = [
        relative(direct(mech, "gravity_regressor", q) @ numbers, direct(mech, "gravity_torque", q)),
        relative(direct(mech, "momentum_regressor", q, qd) @ numbers, direct(mech, "mass_matrix", q) @ qd),
        relative(kinetic @ numbers, direct(mech, "kinetic_energy", q, qd)),
    ]
    moved = direct(mech, "integrate", q, qd, 0.4)  # (the masses of rotors that stand on the base add a constant)
    lifted = direct(mech, "energy_regressor", moved, qd)[1]
    gain = direct(mech, "potential_energy", moved) - direct(mech, "potential_energy", q)
    errors.append(abs((lifted - potential) @ numbers - gain) / np.abs(potential * numbers).max())
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < BOUND


def test_second_derivatives_by_exact_derivatives_of_the_first() -> None:
    for name in ("coupled 1", "floating rotors 1"):
        mech = variant(name)
        q, qd, qdd = random_state(mech, 7)
        first = [gradients(mech, "inverse_dynamics_derivatives", (q, qd, qdd), over) for over in (0, 1)]
        turn = rates(mech, q)
        tables = direct(mech, "inverse_dynamics_second_derivatives", q, qd, qdd)
        wanted = (first[0][0] @ turn, first[1][0], first[1][1], first[0][2] @ turn)
        errors = [relative(one, other) for one, other in zip(tables, wanted, strict=True)]
        tau = direct(mech, "inverse_dynamics", q, qd, qdd)
        first = [gradients(mech, "forward_dynamics_derivatives", (q, qd, tau), over) for over in (0, 1)]
        tables = direct(mech, "forward_dynamics_second_derivatives", q, qd, tau)
        wanted = (first[0][0] @ turn, first[1][0], first[1][1], first[0][2] @ turn)
        errors += [relative(one, other) for one, other in zip(tables, wanted, strict=True)]
        print([f"{error:.1e}" for error in errors])
        assert max(errors) < 1e-9, "the square of the condition of M, times rounding"


@pytest.mark.parametrize(
    "mech", [variant("coupled 1"), variant("floating rotors 1"), random_mechanism(1, ["ball", "revolute"])]
)
def test_products_of_second_derivatives_with_weights(mech: Mechanism) -> None:
    """Weighted sums of the tensors over their first index.

    The products come from the dynamics itself, the tensors from its first derivatives: both solve with M, and lose digits
    as its condition says; seen: a tenth of that.
    """
    q, qd, qdd = random_state(mech, 8)
    weights = np.linspace(-1.0, 2.0, mech.nv)
    condition = np.linalg.cond(direct(mech, "mass_matrix", q))
    for word, third in (("inverse", qdd), ("forward", direct(mech, "inverse_dynamics", q, qd, qdd))):
        products = direct(mech, f"{word}_dynamics_hessian_product", q, qd, third, weights)
        tables = direct(mech, f"{word}_dynamics_second_derivatives", q, qd, third)
        errors = [relative(one, np.tensordot(weights, all_, 1)) for one, all_ in zip(products, tables, strict=True)]
        print([f"{error:.1e}" for error in errors])
        assert max(errors) < max(1e-13, np.finfo(float).eps * condition if word == "forward" else 0.0)


def test_second_derivatives_are_symmetric_where_they_must_be() -> None:
    arm = robots.puma560()
    q, qd, qdd = random_state(arm, 1)
    by_q_q, by_q_qd, by_qd_qd, mass_by_q = arm.inverse_dynamics_second_derivatives(q, qd, qdd)
    assert relative(by_q_q, by_q_q.transpose(0, 2, 1)) < BOUND
    assert relative(by_qd_qd, by_qd_qd.transpose(0, 2, 1)) < BOUND
    assert relative(mass_by_q, mass_by_q.transpose(1, 0, 2)) < BOUND
    coriolis = 0.5 * (mass_by_q + mass_by_q.transpose(0, 2, 1) - mass_by_q.transpose(2, 1, 0))  # Christoffel's symbols
    assert relative(0.5 * by_qd_qd, 0.5 * (coriolis + coriolis.transpose(0, 2, 1))) < 1e-10
    assert by_q_qd.shape == (6, 6, 6)


def test_the_dynamics_of_a_frame() -> None:
    """F = inertia a + coriolis + gravity accelerates the frame as asked; the null space does not move it."""
    arm = robots.puma560().without_friction()
    q, qd, _ = random_state(arm, 3)
    for mask, rows in (("all", slice(6)), ("translation", slice(3))):
        space = arm.operational_space_dynamics(q, qd, mask=mask)
        jac, rate = arm.jacobian(q)[rows], arm.jacobian_dot(q, qd)[rows]
        asked = np.arange(1.0, len(jac) + 1)
        effort = jac.T @ (space.inertia @ asked + space.coriolis + space.gravity)
        free = space.nullspace @ np.linspace(-20.0, 20.0, 6)
        errors = [np.abs(jac @ arm.forward_dynamics(q, qd, effort + more) + rate @ qd - asked).max() for more in (0.0, free)]
        errors.append(np.abs(jac @ space.inverse - np.eye(len(jac))).max())
        print([f"{error:.1e}" for error in errors])
        assert max(errors) < 1e-9, "accelerations of some 1e3 from the null space"


def test_measures_of_manipulability() -> None:
    arm = robots.puma560()
    q = np.random.default_rng(1).uniform(-2, 2, (7, 6))
    values = np.linalg.svd(arm.jacobian(q)[:, :3], compute_uv=False)
    for measure, wanted in (
        ("volume", values.prod(-1)),
        ("least", values[:, -1]),
        ("isotropy", values[:, -1] / values[:, 0]),
    ):
        assert relative(arm.manipulability(q, mask="translation", measure=measure), wanted) < BOUND
    response = arm.jacobian(q)[:, :3] @ np.linalg.inv(arm.mass_matrix(q))
    values = np.linalg.svd(response, compute_uv=False)
    assert relative(arm.dynamic_manipulability(q, mask="translation"), values.prod(-1)) < 1e-10
    shown = np.linalg.eigvalsh(np.linalg.inv(response @ arm.jacobian(q)[:, :3].transpose(0, 2, 1)))
    assert relative(arm.dynamic_manipulability(q, mask="translation", measure="asada"), shown[:, 0] / shown[:, -1]) < 1e-10
