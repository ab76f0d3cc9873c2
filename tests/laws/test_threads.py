"""Several threads give what one gives, bit for bit; so equality here is of bytes, not a bound."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import Mechanism
from linkwise.algorithm import ALGORITHMS, find
from linkwise.inverse_kinematics.closed_form import compiled
from linkwise.kernel import threads
from support.loop_mechanisms import bundled
from support.random_mechanisms import LARGEST, arguments, arm, craft, parts

find("inverse_dynamics")
OPEN = sorted(name for name in ALGORITHMS if not find(name).needs_loops)
CLOSED = sorted(name for name in ALGORITHMS if find(name).needs_loops)
CASES = [
    *(("arm", name) for name in OPEN if name not in LARGEST),
    *(("craft", name) for name in OPEN),
    *(("loops", name) for name in CLOSED),
]
ROWS = 3 * threads.ROWS + 41
"""Three pieces and a rest that fills no vector."""


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch of more than one block of rows is divided, and solvers take a piece in several lots."""
    monkeypatch.setattr(threads, "LEAST", 1)
    for module in (compiled, import_module("linkwise.solve.solve")):
        monkeypatch.setattr(module, "AT_ONCE", 50)


def mechanism(which: str) -> Mechanism:
    return {"arm": arm, "craft": craft}[which]() if which != "loops" else bundled("four_bar")


def same(one: Any, several: Any) -> bool:
    pairs = zip(parts(one), parts(several), strict=True)
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.mark.parametrize(("which", "name"), CASES)
def test_every_algorithm(which: str, name: str) -> None:
    mech = mechanism(which)
    kernel = mech.kernel(name)
    args = arguments(mech, name, (ROWS,))
    args[0][7] = np.nan
    args[-1][-1] = np.inf
    with np.errstate(all="ignore"):
        one = kernel(*args)
        for count in (2, 3):
            with lw.set_threads(count):
                assert same(one, kernel(*args))


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives"])
def test_every_algorithm_in_single_precision(name: str) -> None:
    kernel, args = arm().kernel(name), arguments(arm(), name, (ROWS,), np.float32)
    with lw.set_threads(2):
        assert same(kernel(*args), on_one_thread(kernel, *args))


def on_one_thread(function: Any, *args: Any, **kwargs: Any) -> Any:
    with lw.set_threads(1):
        return function(*args, **kwargs)


@pytest.mark.parametrize("method", ["numeric", "closed_form"])
def test_inverse_kinematics(method: str) -> None:
    """Poses within reach and out of it, on the way of every policy: starts, limits, the nearest there is."""
    puma = lw.robots.puma560()
    rng = np.random.default_rng(3)
    poses = puma.forward_kinematics(rng.uniform(puma.q_min, puma.q_max, (ROWS, 6)))
    poses[::50, :3, 3] *= 3.0
    one = puma.inverse_kinematics(poses, method=method)
    with lw.set_threads(2):
        several = puma.inverse_kinematics(poses, method=method)
    assert not one.success.all()
    for field in ("q", "success", "reason", "position_error", "rotation_error", "iterations"):
        assert getattr(one, field).tobytes() == getattr(several, field).tobytes(), field


def test_all_inverse_kinematics() -> None:
    puma = lw.robots.puma560()
    poses = puma.forward_kinematics(np.random.default_rng(4).uniform(0.8 * puma.q_min, 0.8 * puma.q_max, (ROWS, 6)))
    one = puma.all_inverse_kinematics(poses)
    with lw.set_threads(2):
        several = puma.all_inverse_kinematics(poses)
    assert one.q.tobytes() == several.q.tobytes()


@pytest.mark.parametrize("driven", ["torque", "law"])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_simulations(method: str, driven: str) -> None:
    """Steps in machine code with a torque for each rollout, and with a law."""
    mech = lw.robots.planar_2r()
    rng = np.random.default_rng(5)
    q0, torque = rng.uniform(-1, 1, (43, 2)), rng.normal(size=(43, 2))
    law = lw.Feedback(lambda t, q, qd, gain: -gain * q - qd + np.sin(40.0 * t), gain=20.0)

    def motion() -> Any:
        drive = law if driven == "law" else torque
        return lw.simulate(mech, q0, torque=drive, t=(0.05, 1e-3), record=5, method=method, energies=True)

    one = motion()
    with lw.set_threads(3):
        several = motion()
    assert one.q.shape == (43, 11, 2)
    for field in ("q", "qd", "qdd", "tau", "kinetic"):
        assert getattr(one, field).tobytes() == getattr(several, field).tobytes(), field
