"""Dask arrays: methods are lazy, keep the chunks of the batch, and give the bits of NumPy's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import robots
from linkwise.errors import ArgumentError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def arm() -> lw.Mechanism:
    return robots.planar_2r()


def states(rows: int = 50) -> Any:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (3, rows, 2))


def chunked(values: Any, rows: int = 20) -> Any:
    return da.from_array(values, chunks=(rows, *(1 for _ in values.shape[1:])))


def test_kernels_keep_chunks_of_the_batch(arm: lw.Mechanism) -> None:
    numbers = states()
    q, qd, qdd = map(chunked, numbers)
    lazy = {
        "tau": (arm.inverse_dynamics(q, qd, qdd), arm.inverse_dynamics(*numbers)),
        "T": (arm.forward_kinematics(q, link="link1"), arm.forward_kinematics(numbers[0], link="link1")),
        "energy": (arm.kinetic_energy(q, qd), arm.kinetic_energy(*numbers[:2])),
        "product": (
            arm.kernel("inverse_dynamics").vjp(q, qd, qdd, qd)[1],
            arm.kernel("inverse_dynamics").vjp(*numbers, numbers[1])[1],
        ),
        "beside NumPy": (arm.inverse_dynamics(q, numbers[1], [0.0, 0.0]), arm.inverse_dynamics(*numbers[:2], [0.0, 0.0])),
    }
    for name, (array, wanted) in lazy.items():
        assert isinstance(array, da.Array), name
        assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape), name
        assert array.chunks == ((20, 20, 10), *((size,) for size in wanted.shape[1:])), name
        assert np.array_equal(array.compute(), wanted), name


def test_several_outputs_and_float32(arm: lw.Mechanism) -> None:
    numbers = states().astype(np.float32)
    derivatives = arm.inverse_dynamics_derivatives(*map(chunked, numbers))
    for lazy, wanted in zip(derivatives, arm.inverse_dynamics_derivatives(*numbers), strict=True):
        assert lazy.dtype == wanted.dtype == np.float32
        assert np.array_equal(lazy.compute(), wanted)


def test_other_chunks_and_broadcasting(arm: lw.Mechanism) -> None:
    q, qd, qdd = states()
    lazy = arm.inverse_dynamics(
        chunked(q, 20), chunked(qd[:, None].repeat(3, axis=1).swapaxes(0, 1), 2), da.from_array(qdd[0])
    )
    assert np.array_equal(lazy.compute(), arm.inverse_dynamics(q, qd[None].repeat(3, axis=0), qdd[0]))
    some = chunked(q)[chunked(q)[:, 0] > 0.0]  # (chunks of a size that nobody knows yet)
    assert np.array_equal(arm.gravity_torque(some).compute(), arm.gravity_torque(q[q[:, 0] > 0.0]))


def test_what_does_not_fit_is_refused_at_once(arm: lw.Mechanism) -> None:
    q, qd, qdd = map(chunked, states())
    with pytest.raises(ArgumentError, match=r"q has the shape \(50, 1\); expected \(\.\.\., 2\)"):
        arm.inverse_dynamics(q[:, :1], qd, qdd)
    with pytest.raises(ArgumentError, match="batch shapes do not fit"):
        arm.inverse_dynamics(q, qd[:7], qdd)
    with pytest.raises(ArgumentError, match="holds complex128"):
        arm.gravity_torque(q.astype(complex))
    with pytest.raises(ArgumentError, match="out= is for NumPy arrays"):
        arm.kernel("gravity_torque")(q, out=np.empty((50, 2)))
    with pytest.raises(ArgumentError, match="missing"):
        arm.kernel("inverse_dynamics")(q, qd)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q: q[:, :1], r"q0? has the shape \(50, 1\); expected \(\.\.\., 2\)"),
        (lambda q: q[0, 0], r"q0? has the shape \(\); expected"),
        (lambda q: q.astype(complex), r"q0? holds complex128; expected float32 or float64"),
    ],
)
def test_what_is_no_kernel_does_not_fit_at_once_either(arm: lw.Mechanism, change: Any, message: str) -> None:
    q = change(chunked(states()[0]))
    for call in (
        lambda: arm.inverse_kinematics(np.eye(4), q0=q),
        lambda: lw.simulate(arm, q, t=(0.1, 0.01)),
        lambda: lw.stack([arm] * 2).gravity_torque(q),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
    with pytest.raises(ArgumentError, match=r"batch shapes of arrays of dask do not fit each other: \(2,\), \(50,\)"):
        lw.stack([arm] * 2).gravity_torque(chunked(states()[0]))


def test_inverse_kinematics_later() -> None:
    arm = robots.planar_2r()
    T = arm.forward_kinematics(states()[0])
    T[7, 0, 3] = 5.0
    mask = [1, 1, 0, 0, 0, 0]
    lazy = arm.inverse_kinematics(da.from_array(T, chunks=(20, 4, 4)), q0=[0.1, 0.2], mask=mask)
    wanted = arm.inverse_kinematics(T, q0=[0.1, 0.2], mask=mask)
    assert repr(lazy) == "<Solution: (50,) poses, dask.array.core>"
    (computed,) = dask.compute(lazy)
    for field in ("q", "success", "reason", "position_error", "rotation_error", "iterations"):
        assert np.array_equal(getattr(computed, field), getattr(wanted, field)), field
    assert not computed.success[7]
    assert computed.success.sum() == 49


def test_rollouts_later(arm: lw.Mechanism) -> None:
    q0, qd0, _ = states(30)
    torque = np.random.default_rng(1).normal(size=(30, 10, 2))
    options = {"t": (0.1, 0.01), "energies": True}
    lazy = lw.simulate(arm, chunked(q0), qd0, torque=da.from_array(torque, chunks=(20, 5, 2)), **options)
    wanted = lw.simulate(arm, q0, qd0, torque=torque, **options)
    assert lazy.q.chunks == ((20, 10), (11,), (2,))
    (computed,) = dask.compute(lazy)
    for field in ("t", "q", "qd", "qdd", "tau", "kinetic", "potential"):
        assert np.array_equal(getattr(computed, field), getattr(wanted, field)), field
    assert computed.names == wanted.names
    with pytest.raises(ArgumentError, match="events are for NumPy arrays"):
        lw.simulate(arm, chunked(q0), t=(0.1, 0.01), events=lambda t, q, qd: q[..., 0])
    with pytest.raises(ArgumentError, match="method"):
        lw.simulate(arm, chunked(q0), t=(0.1, 0.01), method="other")


def test_stacked_mechanisms(arm: lw.Mechanism) -> None:
    arms = lw.stack([arm, arm.with_payload(2.0), arm.replace(gravity=(0, 0, 0))])
    numbers = np.random.default_rng(0).normal(size=(3, 30, 3, 2))
    wanted = arms.inverse_dynamics(*numbers)
    for chunks in ((20, 3, 2), (10, 2, 1)):
        lazy = arms.inverse_dynamics(*(da.from_array(values, chunks=chunks) for values in numbers))
        assert lazy.chunks[1] == ((3,) if chunks[1] == 3 else (2, 1))
        assert np.array_equal(lazy.compute(), wanted)
    rows = arms.kernel("inverse_dynamics")._rows
    again = [pickle.loads(pickle.dumps(rows)) for _ in range(2)]
    assert again[0] is again[1]
    assert np.array_equal(again[0](arms.kernel("inverse_dynamics").numbers, *numbers)[0], wanted)
