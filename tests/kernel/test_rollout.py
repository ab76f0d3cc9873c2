"""Rollouts in machine code against the same steps written out in Python, on programs that know of no mechanism."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise.kernel import trace
from linkwise.kernel.backends.llvm import loaders
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm import rollout as llvm_rollout
from linkwise.kernel.rollout import Recorded, Rollout, RolloutProgram

pytest.importorskip("llvmlite", reason="what is tested is machine code")

HEUN = ((1.0, 0.5, 0.0), (0.0, 0.5, 1.0))
"""Two stages: the end of an Euler step, then the mean of both slopes."""

STATE = {"q": (2,), "qd": (2,), "q_sum": (2,), "qd_sum": (2,), "q_from": (2,), "qd_from": (2,)}
MADE = {"q_next": (2,), "qd_next": (2,), "q_total": (2,), "qd_total": (2,), "qdd": (2,)}


def oscillator(q: Any, qd: Any, q_sum: Any, qd_sum: Any, q0: Any, qd0: Any, tau: Any, a: Any, b: Any) -> Any:
    """Two oscillators, one driven by tau, one with a constant acceleration."""
    a, b = a[()], b[()]
    qdd = np.array([tau[0] - q[0] - 0.5 * qd[0], 0.25 + 0.0 * q[1]], dtype=object)
    return q0 + a * qd, qd0 + a * qdd, q_sum + b * qd, qd_sum + b * qdd, qdd


def program(law: Any = None, finish: Any = None, hold: bool = True, extra: Any = None) -> RolloutProgram:
    stage = trace(oscillator, "oscillator", {**STATE, "tau": (2,), "advance": (), "weight": ()}, MADE)
    asked = law and trace(law, "law", {"t": (), "q": (2,), "qd": (2,), **(extra or {})}, {"tau": (2,)})
    last = finish and trace(finish, "finish", {"q": (2,)}, {"q_done": (2,)})
    return RolloutProgram(stage, HEUN, asked, last, hold)


def by_hand(q: Any, qd: Any, torque: Any, start: float, step: float, steps: int, hold: bool = True) -> np.ndarray:
    """The states (B, steps + 1, 4) of the same method in NumPy; torque(t, q, qd, k)."""
    q, qd, made = q.copy(), qd.copy(), []
    for k in range(steps + 1):
        made.append(np.concatenate([q, qd], axis=1))
        t = start + k * step
        tau = torque(t, q, qd, k)
        qdd = np.stack([tau[:, 0] - q[:, 0] - 0.5 * qd[:, 0], np.full(len(q), 0.25)], axis=1)
        end, faster = q + step * qd, qd + step * qdd
        tau = tau if hold else torque(t + step, end, faster, k)
        again = np.stack([tau[:, 0] - end[:, 0] - 0.5 * faster[:, 0], np.full(len(q), 0.25)], axis=1)
        q, qd = q + step * 0.5 * (qd + faster), qd + step * 0.5 * (qdd + again)
    return np.stack(made, axis=1)


def states(count: int) -> tuple[np.ndarray, np.ndarray]:
    q, qd = np.random.default_rng(0).normal(size=(2, count, 2))
    return q, qd


def apart(made: Recorded, wanted: np.ndarray) -> float:
    return float(np.abs(np.concatenate([made.q, made.qd], axis=2) - wanted).max())


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 40])
def test_torque_by_step(count: int) -> None:
    q, qd = states(count)
    rows = np.random.default_rng(1).normal(size=(count, 25, 2))
    made = Rollout(program())(q, qd, [rows], start=0.0, step=0.1, steps=25, record=1)
    error = apart(made, by_hand(q, qd, lambda t, q, qd, k: rows[:, min(k, 24)], 0.0, 0.1, 25))
    print(f"{error:.1e}")
    assert error < 5e-14  # 25 steps, each a few roundings of numbers below 4; measured 1e-14 at most
    assert np.array_equal(made.tau, rows[:, [*range(25), 24]])
    assert np.array_equal(made.qdd[..., 1], np.full((count, 26), 0.25))  # a constant is written though nothing computes it


@pytest.mark.parametrize("hold", [True, False])
def test_law_with_time_and_inputs(hold: bool) -> None:
    def law(t: Any, q: Any, qd: Any, gains: Any, wanted: Any) -> Any:
        return gains[0] * (wanted[0] - q[0]) + t[()].sin(), 3.0

    q, qd = states(11)
    gains, wanted = np.full((1, 1, 2), 4.0), np.random.default_rng(1).normal(size=(11, 20, 1))

    def torque(t: float, q: np.ndarray, qd: np.ndarray, k: int) -> np.ndarray:
        first = 4.0 * (wanted[:, min(k, 19), 0] - q[:, 0]) + np.sin(t)
        return np.stack([first, np.full(11, 3.0)], axis=1)

    compiled = Rollout(program(lambda *a: np.array(law(*a), dtype=object), None, hold, {"gains": (2,), "wanted": (1,)}))
    made = compiled(q, qd, [gains, wanted], start=2.0, step=0.05, steps=20, record=1)
    error = apart(made, by_hand(q, qd, torque, 2.0, 0.05, 20, hold))
    print(f"{error:.1e}")
    assert error < 5e-14
    assert np.array_equal(made.tau[..., 1], np.full((11, 21), 3.0))


def test_finish_is_applied_after_each_step() -> None:
    def wrapped(q: Any) -> Any:
        return np.array([q[0], 0.5 * q[1]], dtype=object)

    q, qd = states(5)
    rows = np.zeros((1, 1, 2))
    plain = Rollout(program())(q, qd, [rows], start=0.0, step=0.1, steps=1, record=1)
    made = Rollout(program(finish=wrapped))(q, qd, [rows], start=0.0, step=0.1, steps=1, record=1)
    assert np.array_equal(made.q[:, 0], q)
    assert np.array_equal(made.q[:, 1], plain.q[:, 1] * [1.0, 0.5])
    assert np.array_equal(made.qd, plain.qd)


@pytest.mark.parametrize("has_fma", [True, False])
@pytest.mark.parametrize("width", [16, 32, 64])
def test_every_vector_width(width: int, has_fma: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    real = llvm.host()
    if width > real.vector_bytes or (has_fma and not real.has_fma):
        pytest.skip("this machine's vectors are shorter, or it has no fused multiply-add")
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    q, qd = states(13)
    rows = np.random.default_rng(1).normal(size=(13, 30, 2))
    found = []
    for vector_bytes in (16, width):
        other = dataclasses.replace(real, vector_bytes=vector_bytes, has_fma=has_fma)
        monkeypatch.setattr(llvm, "host", lambda other=other: other)
        found.append(Rollout(program())(q, qd, [rows], start=0.0, step=0.1, steps=30, record=5))
    assert all(np.array_equal(getattr(found[0], name), getattr(found[1], name)) for name in ("q", "qd", "qdd", "tau"))


@pytest.mark.parametrize("images", [True, False])
def test_compiled_once_then_found(images: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWISE_CACHE_DIR", str(tmp_path / "kernels"))
    if not images:
        monkeypatch.setattr(loaders, "works", lambda loader: loader != "image")
    made = []
    real = llvm_rollout.object_code
    monkeypatch.setattr(llvm_rollout, "object_code", lambda program: made.append(program) or real(program))
    q, qd = states(3)
    runs = [Rollout(program())(q, qd, [np.zeros((1, 1, 2))], start=0.0, step=0.1, steps=4, record=2) for _ in range(2)]
    assert len(made) == 1
    assert np.array_equal(runs[0].q, runs[1].q)


def test_digest_tells_programs_apart() -> None:
    def law(t: Any, q: Any, qd: Any) -> Any:
        return q

    def other(q: Any) -> Any:
        return np.array([q[0], 0.5 * q[1]], dtype=object)

    made = [program(), program(law), program(law, hold=False), program(finish=other), program(law, other)]
    assert len({one.digest for one in made}) == len(made)
    assert program(law).digest == program(law).digest
    longer = dataclasses.replace(program(), coefficients=(*HEUN, (0.0, 0.0, 1.0)))
    assert longer.digest != program().digest
