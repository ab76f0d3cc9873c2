"""Rollouts by a library that differentiates: the states of `simulate`, and derivatives against differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import robots
from linkwise.errors import ArgumentError
from support.libraries import DIFFERENTIABLE, Library, library_of
from support.random_mechanisms import craft

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit", "ignore::DeprecationWarning:torch")
R = np.random.default_rng(5)
Q0, QD0, TAU = R.normal(size=(3, 2)), R.normal(size=2), R.normal(size=(4, 2))
TIME = (0.04, 0.01)


@pytest.fixture(scope="module", params=DIFFERENTIABLE)
def library(request: pytest.FixtureRequest) -> Iterator[Library]:
    with library_of(request.param) as library:
        yield library


def test_the_states_are_those_of_the_compiled_rollout(library: Library) -> None:
    """The same kernels in the same order: bit for bit where each step is one."""
    arm = robots.planar_2r()
    for torque in (TAU, TAU[0], None):
        wanted = lw.simulate(arm, Q0, QD0, torque=torque, t=TIME, record=2)

        def states(q: Any, torque: Any = torque) -> Any:
            motion = lw.simulate(arm, q, library.array(QD0), torque=torque, t=TIME, record=2)
            return motion.q, motion.qd, motion.qdd, motion.tau

        for array, name in zip(library.jit(library.vmap(states))(library.array(Q0)), ("q", "qd", "qdd", "tau"), strict=True):
            assert np.array_equal(np.asarray(array), getattr(wanted, name)), name


def test_derivatives_in_both_modes_against_differences(library: Library) -> None:
    """Central differences of step 1e-6 have an error of 1e-12 times third derivatives and 1e-10 of rounding."""
    arm = robots.planar_2r()

    def last(q: Any, torque: Any) -> Any:
        return lw.simulate(arm, q, library.array(QD0), torque=torque, t=TIME).q[-1]

    arguments = library.array(Q0[0]), library.array(TAU)
    for argument, values in enumerate((Q0[0], TAU)):
        numeric = np.empty((2, *values.shape))
        for place in np.ndindex(values.shape):
            ends = []
            for h in (1e-6, -1e-6):
                changed = [Q0[0].copy(), TAU.copy()]
                changed[argument][place] += h
                ends.append(lw.simulate(arm, changed[0], QD0, torque=changed[1], t=TIME).q[-1])
            numeric[(slice(None), *place)] = (ends[0] - ends[1]) / 2e-6
        for jacobian in (library.jacrev, library.jacfwd):
            table = np.asarray(library.jit(jacobian(last, argnums=argument))(*arguments))
            assert np.abs(table - numeric).max() < 1e-9


def test_a_law_of_the_library_between_the_stages(library: Library) -> None:
    arm = robots.planar_2r()
    gain = library.array(np.array([3.0, 2.0]))
    for hold in (True, False):
        wanted = lw.simulate(arm, Q0, torque=lambda t, q, qd: -np.array([3.0, 2.0]) * q - t * qd, t=TIME, hold=hold)
        motion = lw.simulate(arm, library.array(Q0), torque=lambda t, q, qd: -gain * q - t * qd, t=TIME, hold=hold)
        assert np.abs(np.asarray(motion.q) - wanted.q).max() < 1e-14


def test_a_traced_law(library: Library) -> None:
    """A `Feedback` is a kernel; what changes with time is refused."""
    arm, law = robots.planar_2r(), lw.Feedback(lambda t, q, qd, kp: -kp * q - t * qd, kp=[3.0, 2.0])
    wanted = lw.simulate(arm, Q0, torque=law, t=TIME)

    def last(law: lw.Feedback) -> Any:
        return lambda q: lw.simulate(arm, q, torque=law, t=TIME).q[-1]

    table = np.asarray(library.jacrev(last(law))(library.array(Q0[0])))
    beside = [[lw.simulate(arm, Q0[0] + s * e, torque=law, t=TIME).q[-1] for s in (1, -1)] for e in 1e-5 * np.eye(2)]
    assert np.abs(table - np.array([(a - b) / 2e-5 for a, b in beside]).T).max() < 1e-9
    assert np.abs(np.asarray(lw.simulate(arm, library.array(Q0), torque=law, t=TIME).q) - wanted.q).max() < 1e-14
    with pytest.raises(ArgumentError, match=r"kp of .* is sampled"):
        library.jacrev(last(law.replace(kp=lw.Sampled(np.ones((4, 2))))))(library.array(Q0[0]))


def test_a_floating_base_starts_with_a_unit_quaternion(library: Library) -> None:
    body = craft()
    q = body.neutral.copy()
    q[3] = 2.0
    wanted = lw.simulate(body, q, np.full(body.nv, 0.1), t=TIME).q

    def states(qd: Any) -> Any:
        return lw.simulate(body, library.array(q), qd, t=TIME).q

    assert np.abs(np.asarray(library.vmap(states)(library.array(np.full((1, body.nv), 0.1))))[0] - wanted).max() < 1e-14


def test_what_has_no_derivatives_is_refused(library: Library) -> None:
    def run(**options: Any) -> Any:
        return library.vmap(lambda q: lw.simulate(robots.planar_2r(), q, t=TIME, **options).q)(library.array(Q0))

    with pytest.raises(ArgumentError, match="method is 'rk45'; expected one with fixed steps"):
        run(method="rk45")
    with pytest.raises(ArgumentError, match="simulate: energies is not for derivatives by"):
        run(energies=True)
    with pytest.raises(ArgumentError, match=r"torque has the shape \(4, 3, 2\); expected \(\.\.\., 4, 2\)"):
        run(torque=np.zeros((4, 3, 2)))
