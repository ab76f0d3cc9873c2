"""A batch is a loop to the bit, whatever the backend, the records and the pieces it is cut into."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.kernel.backends.llvm import rollout as machine
from linkwise.simulation import simulate
from linkwise.trajectory import Trajectory
from support.random_mechanisms import afloat, random_mechanism

FIELDS = ("q", "qd", "qdd", "tau")
METHODS = ("rk4", "semi_implicit_euler", "euler")
PUMA = robots.puma560()


def same(a: Trajectory, b: Trajectory) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in FIELDS)


def states(mech: Mechanism, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1, 1, (count, mech.nq))
    if mech.floating:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q, rng.uniform(-1, 1, (count, mech.nv))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mech", [PUMA, afloat(random_mechanism(4))], ids=["puma560", "floating"])
def test_batch_equals_loop(mech: Mechanism, method: str) -> None:
    q, qd = states(mech, 21)
    torque = np.random.default_rng(1).normal(size=(21, 40, mech.nv))
    made = simulate(mech, q, qd, torque=torque, t=(0.04, 1e-3), method=method)
    for k in range(len(q)):
        assert same(simulate(mech, q[k], qd[k], torque=torque[k], t=(0.04, 1e-3), method=method), made.member(k))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_numpy_gives_the_same_to_rounding(method: str, seed: int) -> None:
    mech = random_mechanism(seed, motors=False)
    mech = afloat(mech) if seed == 2 else mech
    q, qd = states(mech, 5)
    fast, slow = (simulate(mech, q, qd, t=(0.05, 1e-3), method=method, backend=name) for name in ("llvm", "numpy"))
    error = max(np.abs(getattr(fast, k) - getattr(slow, k)).max() / np.abs(getattr(slow, k)).max() for k in ("q", "qd"))
    print(f"{error:.1e}")
    assert error < 1e-12  # 50 steps of some hundred roundings of 1e-16 each, hardly magnified in 0.05 s


def test_every_which_instant_is_recorded() -> None:
    q, qd = states(PUMA, 3)
    every = simulate(PUMA, q, qd, t=(0.05, 1e-3))
    for record in (1, 3, 7, 50):
        some = simulate(PUMA, q, qd, t=(0.05, 1e-3), record=record)
        assert np.array_equal(some.t, every.t[::record])
        assert all(np.array_equal(getattr(some, name), getattr(every, name)[:, ::record]) for name in FIELDS)
        loop = simulate(PUMA, q, qd, t=(0.05, 1e-3), record=record, backend="numpy")
        assert loop.q.shape == some.q.shape


@pytest.mark.parametrize("at_once", [1, 50, 200, 3000])
def test_pieces_between_two_looks_at_signals_do_not_show(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    q, qd = states(PUMA, 19)
    torque = np.random.default_rng(1).normal(size=(19, 60, 6))
    whole = simulate(PUMA, q, qd, torque=torque, t=(0.06, 1e-3), record=4)
    monkeypatch.setattr(machine, "AT_ONCE", at_once)
    assert same(simulate(PUMA, q, qd, torque=torque, t=(0.06, 1e-3), record=4), whole)


def test_batch_shapes_broadcast() -> None:
    q, qd = states(PUMA, 4)
    torque = np.random.default_rng(1).normal(size=(3, 1, 10, 6))
    made = simulate(PUMA, q, qd[0], torque=torque, t=(0.01, 1e-3))
    assert made.q.shape == (3, 4, 11, 6)
    assert same(made.member((2, 1)), simulate(PUMA, q[1], qd[0], torque=torque[2, 0], t=(0.01, 1e-3)))
    assert simulate(PUMA, np.zeros((0, 6)), t=(0.01, 1e-3)).q.shape == (0, 11, 6)


def test_arrays_of_any_layout() -> None:
    q, qd = states(PUMA, 9)
    torque = np.random.default_rng(1).normal(size=(9, 10, 6))
    made = simulate(PUMA, q, qd, torque=torque, t=(0.01, 1e-3))
    odd = np.asfortranarray(torque)
    packed = np.zeros(9, dtype=[("flag", "i1"), ("q", "f8", 6)])
    packed["q"] = q
    assert same(simulate(PUMA, packed["q"], qd[::-1][::-1], torque=odd, t=(0.01, 1e-3)), made)
    assert same(simulate(PUMA, q, qd, torque=np.repeat(torque, 2, axis=2)[..., ::2], t=(0.01, 1e-3)), made)
    single = simulate(PUMA, q.astype(np.float32), t=(0.01, 1e-3))
    assert single.q.dtype == np.float64


def test_threads_share_what_is_compiled() -> None:
    mech = random_mechanism(7)
    q, qd = states(mech, 30)
    found: list[Trajectory] = []
    threads = [threading.Thread(target=lambda: found.append(simulate(mech, q, qd, t=(0.02, 1e-3)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(same(made, found[0]) for made in found)


def test_one_instant_is_the_initial_state_and_what_acts_there() -> None:
    made = simulate(PUMA, np.full(6, 0.1), np.full(6, 0.2), torque=np.full(6, 3.0), t=[2.0], energies=True)
    assert np.array_equal(made.t, [2.0])
    assert np.array_equal(made.q, [[0.1] * 6])
    expected = PUMA.forward_dynamics(made.q[0], made.qd[0], np.full(6, 3.0))
    assert np.allclose(made.qdd[0], expected, rtol=1e-12)
    assert np.array_equal(made.kinetic, PUMA.kinetic_energy(made.q, made.qd))
    assert np.array_equal(made.potential, PUMA.potential_energy(made.q))
