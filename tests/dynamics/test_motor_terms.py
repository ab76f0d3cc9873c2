"""Rotor inertia and friction at the joint, by the formula in `Motor`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, load, robots, save, simulate
from linkwise.errors import ModelError

MOTOR = Motor(inertia=2e-4, gear_ratio=-60.0, viscous=1e-3, coulomb=(0.4, -0.5))


def driven(motor: Motor | None) -> Mechanism:
    """One massless joint, so that the effort is the motor's own."""
    return Mechanism([Link(motor=motor)], gravity=(0, 0, 0))


@pytest.mark.parametrize(
    ("speed", "coulomb"), [(0.7, 60 * 0.4), (-0.7, -60 * 0.5), (0.0, 0.0), (5e-324, 60 * 0.4), (-0.0, 0.0)]
)
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_effort_is_the_formula(speed: float, coulomb: float, backend: str) -> None:
    found = driven(MOTOR).kernel("inverse_dynamics", backend=backend)([0.1], [speed], [3.0])
    wanted = 60**2 * 2e-4 * 3.0 + 60**2 * 1e-3 * speed + coulomb
    assert found == pytest.approx([wanted], rel=1e-15, abs=1e-15)  # three products and two sums


def test_one_coulomb_number_stands_for_both_directions() -> None:
    mech = driven(Motor(coulomb=0.3))
    assert mech.inverse_dynamics([0.0], [2.0], [0.0]) == 0.3
    assert mech.inverse_dynamics([0.0], [-2.0], [0.0]) == -0.3


def test_friction_takes_energy_whatever_the_sign_of_the_gear() -> None:
    speeds = np.linspace(-3, 3, 31)[:, None]
    for ratio in (-60.0, 60.0):
        mech = driven(Motor(gear_ratio=ratio, viscous=1e-3, coulomb=(0.4, -0.5)))
        power = mech.inverse_dynamics(np.zeros_like(speeds), speeds, np.zeros_like(speeds)) * speeds
        assert np.all(power[speeds != 0] > 0)


@pytest.mark.parametrize(
    ("ratio", "speed", "wanted"),
    [
        (-60.0, 0.7, -60 * (1e-3 * 0.7 + 0.4)),
        (-60.0, -0.7, -60 * (1e-3 * -0.7 - 0.5)),
        (60.0, 0.7, 60 * (1e-3 * 0.7 + 0.4)),
        (60.0, 0.0, 0.0),
        (-60.0, -0.0, 0.0),
    ],
)
def test_the_rule_of_toolbox_7(ratio: float, speed: float, wanted: float) -> None:
    """G (B qd + Tc), the gear once and with its sign: a negative one lets friction drive the joint."""
    motor = Motor(gear_ratio=ratio, viscous=1e-3, coulomb=(0.4, -0.5), friction_rule="toolbox7")
    for backend in ("llvm", "numpy"):
        found = driven(motor).kernel("friction_torque", backend=backend)([speed])
        assert found == pytest.approx([wanted], rel=1e-15, abs=1e-15)
    assert wanted * speed * ratio >= 0


def test_the_puma_by_both_rules() -> None:
    """At 1 rad/s of all joints, from the table of the model: G^2 B + |G| Tc+ today, G (B + Tc+) in version 7."""
    puma, qd = robots.load("puma560"), np.ones(6)
    today = [62.6111**2 * 1.48e-3 + 62.6111 * 0.395, 107.815**2 * 0.817e-3 + 107.815 * 0.126]
    today += [53.7063**2 * 1.38e-3 + 53.7063 * 0.132, 76.0364**2 * 71.2e-6 + 76.0364 * 11.2e-3]
    today += [71.923**2 * 82.6e-6 + 71.923 * 9.26e-3, 76.686**2 * 36.7e-6 + 76.686 * 3.96e-3]
    older = [-62.6111 * (1.48e-3 + 0.395), 107.815 * (0.817e-3 + 0.126), -53.7063 * (1.38e-3 + 0.132)]
    older += [76.0364 * (71.2e-6 + 11.2e-3), 71.923 * (82.6e-6 + 9.26e-3), 76.686 * (36.7e-6 + 3.96e-3)]
    assert np.allclose(puma.friction_torque(qd), today, rtol=1e-14)
    seven = puma.with_friction_rule("toolbox7")
    assert np.allclose(seven.friction_torque(qd), older, rtol=1e-14)
    assert (seven.friction_torque(qd)[[0, 2]] < 0).all(), "with their negative gears it drives these joints"
    rest = [puma.inverse_dynamics(qd, qd, qd) - puma.friction_torque(qd), seven.inverse_dynamics(qd, qd, qd) - older]
    assert np.abs(rest[0] - rest[1]).max() <= 1e-13, "nothing else depends on the rule"
    assert seven.with_friction_rule("reflected") == puma


def test_several_motors_add_up() -> None:
    """Two on one joint, one of each rule: inertia, viscous and Coulomb friction are sums."""
    one = Motor(inertia=1e-4, gear_ratio=10, viscous=1e-3, coulomb=0.1)
    two = Motor(inertia=2e-4, gear_ratio=-20, viscous=2e-3, coulomb=(0.2, -0.3), joint="arm", friction_rule="toolbox7")
    mech = Mechanism([Link(name="arm", motor=one)], motors=[two], gravity=(0, 0, 0))
    found = mech.inverse_dynamics([0.0], [-2.0], [3.0])
    inertia = (1e-4 * 100 + 2e-4 * 400) * 3
    friction = -(1e-3 * 100 * 2 + 10 * 0.1) + -20 * (2e-3 * -2 - 0.3)
    assert found == pytest.approx([inertia + friction], rel=1e-14)


def test_nofriction_leaves_the_rotor() -> None:
    mech = driven(MOTOR)
    assert mech.without_friction().inverse_dynamics([0.0], [1.0], [1.0]) == pytest.approx(60**2 * 2e-4)
    viscous = mech.without_friction(viscous=False).inverse_dynamics([0.0], [1.0], [0.0])
    assert viscous == pytest.approx(60**2 * 1e-3)
    coulomb = mech.without_friction(coulomb=False).inverse_dynamics([0.0], [1.0], [0.0])
    assert coulomb == pytest.approx(60 * 0.4)


STEADY = {"gear_ratio": -20.0, "viscous": 1e-3, "coulomb": (0.02, -0.03), "transition_speed": 0.5, "inertia": 1e-4}


def steady_arm() -> Mechanism:
    arm = robots.planar_2r()
    return arm.replace(motors=[Motor(joint=name, **STEADY) for name in arm.names])


@pytest.mark.parametrize("speed", [0.7, -0.7, 1e-3, -1e-3, 0.0])
def test_a_transition_speed_makes_coulomb_friction_steady(speed: float) -> None:
    motor_speed = -20.0 * speed
    side = 0.02 if speed > 0 else 0.03
    wanted = 400 * 1e-3 * speed + 20 * side * -motor_speed / np.hypot(motor_speed, 0.5)
    for backend in ("llvm", "numpy"):
        felt = driven(Motor(**STEADY)).kernel("friction_torque", backend=backend)([speed])
        assert felt == pytest.approx([wanted], rel=1e-15, abs=1e-15)


def test_derivatives_count_the_slope_of_steady_friction() -> None:
    arm, rng, h = steady_arm(), np.random.default_rng(3), 1e-5
    q, qdd = rng.normal(size=(2, 2))
    tau = rng.normal(size=2)
    worst = np.zeros(4)
    for qd in (np.array([0.01, -0.02]), np.array([0.3, 0.001])):
        steps = [qd + h * side * unit for unit in np.eye(2) for side in (1, -1)]

        def by_differences(values: list[np.ndarray]) -> np.ndarray:
            return np.stack([(up - down) / (2 * h) for up, down in zip(values[::2], values[1::2], strict=True)], axis=-1)

        pairs = (
            (arm.inverse_dynamics_derivatives(q, qd, qdd)[1], [arm.inverse_dynamics(q, x, qdd) for x in steps]),
            (arm.forward_dynamics_derivatives(q, qd, tau)[1], [arm.forward_dynamics(q, x, tau) for x in steps]),
            (
                arm.inverse_dynamics_second_derivatives(q, qd, qdd)[2],
                [arm.inverse_dynamics_derivatives(q, x, qdd)[1] for x in steps],
            ),
            (arm.linearize(q, qd, tau).A[2:, 2:], [arm.forward_dynamics(q, x, tau) for x in steps]),
        )
        for k, (exact, values) in enumerate(pairs):
            worst[k] = max(worst[k], np.abs(exact - by_differences(values)).max() / np.abs(exact).max())
    print(worst)
    assert worst.max() < 1e-5  # h squared by the third derivative, which (20 / 0.5)^2 makes large


def test_the_regressor_of_steady_friction_has_the_rank_of_its_base_parameters() -> None:
    arm, rng = steady_arm(), np.random.default_rng(4)
    q, qd, qdd = rng.normal(size=(3, 300, 2)) * [[[1.0]], [[0.05]], [[1.0]]]
    rows = arm.regressor(q, qd, qdd)
    assert np.abs(rows @ arm.parameters - arm.inverse_dynamics(q, qd, qdd)).max() < 1e-13
    for resting in (True, False):
        assert len(arm.base_parameters(resting=resting).names) == np.linalg.matrix_rank(rows.reshape(600, -1))


def test_implicit_steps_follow_steep_friction() -> None:
    """A slope of 8 N m per 1e-3 rad/s on 0.5 kg m2 is stiff: explicit steps have to be shorter than 2.8 / 16000 s."""
    wheel = Mechanism(
        [Link(inertia=(0.5, 0.5, 0.5), mass=1.0, motor=Motor(coulomb=8.0, transition_speed=1e-3))], gravity=(0, 0, 0)
    )
    fine = simulate(wheel, [0.0], [1.0], t=(0.2, 1e-4), method="radau", rtol=1e-10, atol=1e-12)
    implicit = simulate(wheel, [0.0], [1.0], t=(0.2, 1e-3), method="ros2")
    explicit = simulate(wheel, [0.0], [1.0], t=(0.2, 1e-3), method="rk4")
    print(implicit.qd[-1], explicit.qd[-1], np.abs(implicit.q[:, 0] - fine.q[::10, 0]).max())
    assert abs(implicit.qd[-1, 0]) < 1e-6
    assert abs(explicit.qd[-1, 0]) > 1e-3
    assert np.abs(implicit.q[:, 0] - fine.q[::10, 0]).max() < 1e-4  # some steps of the last velocity, 16 rad/s2 times 1 ms


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"breakaway": 0.1, "coulomb": 0.2}, "breakaway"),
        ({"breakaway": (0.3, -0.1), "coulomb": 0.2}, "breakaway"),
        ({"breakaway": (-0.3, -0.3)}, "breakaway"),
        ({"transition_speed": -1.0}, "transition_speed"),
        ({"transition_speed": np.inf}, "transition_speed"),
    ],
)
def test_friction_that_no_motor_has(fields: dict[str, object], named: str) -> None:
    with pytest.raises(ModelError, match=named):
        Motor(**fields)


def test_friction_in_a_file(tmp_path: Path) -> None:
    motors = [Motor(joint="link1", breakaway=(0.05, -0.06), **STEADY)]
    arm = robots.planar_2r().replace(motors=motors)
    save(arm, tmp_path / "arm.toml")
    back = load(tmp_path / "arm.toml")
    assert back == arm
    assert (back.motors[0].transition_speed, back.motors[0].breakaway) == (0.5, (0.05, -0.06))
    bare = arm.without_friction().motors[0]
    assert (bare.transition_speed, bare.breakaway, bare.coulomb) == (0.0, None, (0.0, 0.0))
