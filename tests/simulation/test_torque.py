"""What drives: arrays that hold through a step, functions of Python, laws that are compiled in."""

from __future__ import annotations

import gc
import pickle
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.dynamics.inverse_dynamics import inverse_dynamics
from linkwise.simulation import Feedback, Sampled, simulate
from linkwise.trajectory import Trajectory
from support.messages import unnamed

ARM = robots.puma560().without_friction()
START = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
CLOCK = (0.1, 1e-3)


def spring(t: Any, q: Any, qd: Any, kp: Any = 90.0, kd: Any = 9.0) -> Any:
    return -kp * q - kd * qd


def apart(a: Trajectory, b: Trajectory) -> float:
    return float(max(np.abs(getattr(a, k) - getattr(b, k)).max() for k in ("q", "qd", "tau")))


def test_row_of_torque_holds_through_its_step() -> None:
    rows = np.random.default_rng(0).normal(size=(4, 6)) * 5
    made = simulate(ARM, START, torque=rows, t=(4e-2, 1e-2))
    q, qd = START, np.zeros(6)
    for k, row in enumerate(rows):
        step = simulate(ARM, q, qd, torque=row, t=(1e-2, 1e-2))
        assert np.array_equal(made.tau[k], row)
        q, qd = step.q[-1], step.qd[-1]
        assert np.array_equal(made.q[k + 1], q)
    assert np.array_equal(made.tau[4], rows[3])  # the last row stays
    one_more = simulate(ARM, START, torque=np.vstack([rows, np.ones(6)]), t=(4e-2, 1e-2))
    assert np.array_equal(one_more.q, made.q)
    assert np.array_equal(one_more.tau[4], np.ones(6))


def test_constant_torques() -> None:
    many = np.random.default_rng(0).normal(size=(3, 6))
    single = [simulate(ARM, START, torque=row, t=CLOCK) for row in many]
    for torque in (many[:, None], np.repeat(many[:, None], 100, axis=1)):
        made = simulate(ARM, START, torque=torque, t=CLOCK)
        assert all(np.array_equal(made.q[k], one.q) for k, one in enumerate(single))
    flat = simulate(ARM, np.tile(START, (3, 1)), torque=many, t=CLOCK)  # as many rows as rollouts
    assert all(np.array_equal(flat.q[k], one.q) for k, one in enumerate(single))


def test_torque_that_may_mean_two_things_is_refused() -> None:
    with pytest.raises(ValueError, match="may mean 3 instants or 3 rollouts") as caught:
        simulate(ARM, np.tile(START, (3, 1)), torque=np.zeros((3, 6)), t=(3e-3, 1e-3))
    assert (
        unnamed(
            caught.value,
            "simulate: torque (3, 6) may mean 3 instants or 3 rollouts; say torque[None] for one row per step, "
            "torque[..., None, :] for one per rollout",
        )
        == []
    )


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_compiled_law_equals_the_same_law_in_python(hold: bool, method: str, backend: str) -> None:
    q0 = START * np.arange(1, 4)[:, None] / 3
    law = Feedback(spring, kp=90.0, kd=9.0)
    compiled = simulate(ARM, q0, torque=law, t=CLOCK, hold=hold, method=method, backend=backend)
    asked = simulate(ARM, q0, torque=spring, t=CLOCK, hold=hold, method=method)
    print(f"{apart(compiled, asked):.1e}")
    assert apart(compiled, asked) < 1e-12  # the roundings of one more fused multiply-add, 90 times as large in tau


def test_function_is_asked_once_a_step_with_the_whole_batch() -> None:
    seen = []

    def zero(t: float, q: np.ndarray, qd: np.ndarray) -> float:
        seen.append((t, q.shape, qd.shape))
        return 0.0

    made = simulate(ARM, np.zeros((2, 3, 6)), torque=zero, t=np.linspace(1.0, 1.1, 11))
    assert [shape for _, *shape in seen] == [[(2, 3, 6), (2, 3, 6)]] * 11
    assert np.allclose([t for t, *_ in seen], made.t, rtol=1e-15)
    free = simulate(ARM, np.zeros((2, 3, 6)), t=np.linspace(1.0, 1.1, 11))
    assert np.array_equal(made.q, free.q)


def test_law_asked_at_every_stage_keeps_the_order() -> None:
    law = Feedback(lambda t, q, qd, kp: -kp * q + np.sin(20.0 * t), kp=80.0)
    exact = simulate(ARM, START, torque=law, t=np.array([0.0, 0.2]), method="dop853", rtol=1e-13, atol=1e-14)
    errors = {}
    for hold in (False, True):
        made = [simulate(ARM, START, torque=law, t=(0.2, 0.2 / n), hold=hold) for n in (40, 80, 160)]
        errors[hold] = [np.abs(one.q[-1] - exact.q[-1]).max() for one in made]
    print(errors)
    assert np.allclose(np.diff(-np.log2(errors[False])), 4, atol=0.3)
    assert np.allclose(np.diff(-np.log2(errors[True])), 1, atol=0.1)


def test_held_law_is_the_same_for_adaptive_methods() -> None:
    law = Feedback(spring, kp=90.0, kd=9.0)
    fixed = simulate(ARM, START, torque=law, t=(0.1, 1e-2))
    fine = simulate(ARM, START, torque=np.repeat(fixed.tau[:-1], 100, axis=0), t=(0.1, 1e-4), record=100)
    adaptive = simulate(ARM, START, torque=law, t=(0.1, 1e-2), method="dop853", hold=True, rtol=1e-12, atol=1e-13)
    array = simulate(ARM, START, torque=adaptive.tau[:-1], t=(0.1, 1e-2), method="dop853", rtol=1e-12, atol=1e-13)
    python = simulate(ARM, START, torque=spring, t=(0.1, 1e-2), method="dop853", hold=True, rtol=1e-12, atol=1e-13)
    print(apart(adaptive, fine), apart(adaptive, array), apart(adaptive, python))
    assert np.abs(adaptive.q - fine.q).max() < 1e-6  # RK4 with steps of 0.01 s chose the torques of `fixed`
    assert np.abs(adaptive.q - array.q).max() < 1e-12
    assert np.abs(adaptive.q - python.q).max() < 1e-12


def test_computed_torque_compiles_in_whole() -> None:
    t = np.linspace(0.0, 0.5, 501)
    wanted = START + 0.3 * np.sin(4 * t)[:, None]
    rates, turns = 1.2 * np.cos(4 * t)[:, None], -4.8 * np.sin(4 * t)[:, None]
    ones = np.ones((501, 6))

    def law(t: Any, q: Any, qd: Any, mech: Mechanism, q_ref: Any, qd_ref: Any, qdd_ref: Any, kp: Any, kd: Any) -> Any:
        return inverse_dynamics(mech, q, qd, qdd_ref + kd * (qd_ref - qd) + kp * (q_ref - q))

    feedback = Feedback(
        law, mech=ARM, q_ref=Sampled(wanted), qd_ref=Sampled(rates * ones), qdd_ref=Sampled(turns * ones), kp=400.0, kd=40.0
    )
    made = simulate(ARM, wanted[0], rates[0] * np.ones(6), torque=feedback, t=t)
    error = np.abs(made.q - wanted).max()

    def peer(now: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        k = round(now / 1e-3)
        return ARM.inverse_dynamics(q, qd, turns[k] + 40.0 * (rates[k] - qd) + 400.0 * (wanted[k] - q))

    asked = simulate(ARM, wanted[0], rates[0] * np.ones(6), torque=peer, t=t)
    print(f"tracking {error:.1e}, against Python {apart(made, asked):.1e}")
    assert error < 1e-3  # with a torque held for 1 ms at 20 rad/s of bandwidth
    assert apart(made, asked) < 1e-10  # torques of 100 N m to rounding


def test_parameters_may_differ_from_rollout_to_rollout() -> None:
    gains = np.array([50.0, 80.0, 120.0])
    made = simulate(ARM, START, torque=Feedback(spring, kp=Sampled(gains[:, None], ndim=0), kd=5.0), t=CLOCK)
    assert made.q.shape == (3, 101, 6)
    for k, kp in enumerate(gains):
        assert np.array_equal(made.q[k], simulate(ARM, START, torque=Feedback(spring, kp=float(kp), kd=5.0), t=CLOCK).q)


def test_other_values_are_not_compiled_again() -> None:
    law = Feedback(spring, kp=90.0, kd=[9.0] * 6)
    first = simulate(ARM, START, torque=law, t=CLOCK)
    other = law.replace(kp=100.0)
    kept = dict(law.compiled(ARM))
    assert kept
    second = simulate(ARM, START, torque=other, t=CLOCK)
    assert other.compiled(ARM) is law.compiled(ARM)
    assert law.compiled(ARM) == kept
    assert np.array_equal(second.q, simulate(ARM, START, torque=Feedback(spring, kp=100.0, kd=[9.0] * 6), t=CLOCK).q)
    assert not np.array_equal(first.q, second.q)
    assert law.replace(kd=9.0).compiled(ARM) is not law.compiled(ARM)


def test_a_gain_may_be_an_int() -> None:
    law = Feedback(spring, kp=90, kd=np.int64(9))
    assert (law.fixed, list(law.inputs)) == ({}, ["kp", "kd"])
    first = simulate(ARM, START, torque=law, t=CLOCK)
    kept = dict(law.compiled(ARM))
    assert np.array_equal(first.q, simulate(ARM, START, torque=law.replace(kp=90.0, kd=9.0), t=CLOCK).q)
    assert not np.array_equal(first.q, simulate(ARM, START, torque=law.replace(kp=100), t=CLOCK).q)
    assert law.compiled(ARM) == kept


def test_what_is_part_of_the_law() -> None:
    def raised(t: Any, q: Any, qd: Any, kp: Any, power: int, damped: bool) -> Any:
        return -kp * q**power - (9.0 * qd if damped else 0.0)

    law = Feedback(partial(raised, power=3), kp=90, damped=True)
    assert law.fixed == {"damped": True}
    q, qd = np.random.default_rng(0).normal(size=(2, 6))
    assert np.allclose(law(ARM, 0.0, q, qd), raised(0.0, q, qd, 90, 3, True), rtol=1e-13, atol=1e-13)


def test_a_sweep_over_mechanisms_or_laws_keeps_neither() -> None:
    law = Feedback(spring, kp=90.0, kd=9.0)
    kept = []
    for seed in range(3):
        arm = ARM.perturb(0.1, seed=seed)
        simulate(arm, START, torque=law, t=CLOCK, backend="numpy")
        assert law.compiled(arm)
        kept.append(weakref.ref(arm))
    del arm
    gc.collect()
    assert [ref() for ref in kept] == [None] * 3
    arm = ARM.perturb(0.1)
    for kp in range(3):
        law = Feedback(spring, kp=float(kp), kd=9.0)
        simulate(arm, START, torque=law, t=CLOCK, backend="numpy")
    gc.collect()
    assert len(arm.__dict__["_rollouts"]["laws"]) == 1  # those of the law that is still alive


def test_law_by_itself() -> None:
    law = Feedback(spring, kp=90.0, kd=9.0)
    q, qd = np.random.default_rng(0).normal(size=(2, 5, 6))
    assert np.allclose(law(ARM, 0.0, q, qd), spring(0.0, q, qd), rtol=1e-13, atol=1e-13)
    assert repr(law) == "Feedback(spring, kp, kd)"
    simulate(ARM, START, torque=law, t=CLOCK)
    again = pickle.loads(pickle.dumps(law))  # what is compiled stays behind
    assert np.array_equal(again(ARM, 0.0, q, qd), law(ARM, 0.0, q, qd))


def test_parameters_are_not_those_of_the_caller() -> None:
    wanted = np.zeros((1, 6))
    law = Feedback(lambda t, q, qd, r: r - q, r=Sampled(wanted))
    before = law(ARM, 0.0, START, START)
    wanted += 1.0
    assert np.array_equal(law(ARM, 0.0, START, START), before)


def test_friction_of_the_motors_counts() -> None:
    rough = robots.puma560()
    made = simulate(rough, START, np.ones(6), t=(1e-2, 1e-3))
    expected = rough.forward_dynamics(made.q, made.qd, made.tau)
    assert np.allclose(made.qdd, expected, rtol=1e-11)
    assert np.abs(made.qdd - ARM.forward_dynamics(made.q, made.qd, made.tau)).max() > 1.0
