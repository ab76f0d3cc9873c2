"""Many ball joints: numbers, shapes, types and errors are those of the code written out for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.kinematics import many_joints


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three joints are many."""
    monkeypatch.setattr(many_joints, "JOINTS", 3)


@pytest.fixture(scope="module", params=[True, False])
def body(request: pytest.FixtureRequest) -> lw.Mechanism:
    links = [lw.Link(joint="ball" if k % 3 else "revolute", mass=1.0) for k in range(6)]
    return lw.Mechanism(links, floating=request.param)


def states(body: lw.Mechanism, count: int) -> tuple[np.ndarray, np.ndarray]:
    return body.random_configuration(1, count), np.random.default_rng(2).uniform(-2, 2, (count, body.nv))


def test_numbers_are_those_of_the_code_for_each_joint(body: lw.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for rounding: other sums are fused with products; numbers are below 10, and some 10 operations behind another."""
    q, qd = states(body, 9)
    dt = np.linspace(-0.5, 0.5, 9)
    assert many_joints.goes_over_joints(body, (q, qd))
    calls = {
        "batch": lambda: body.integrate(q, qd, dt),
        "crossed": lambda: body.integrate(q[:, None], qd[:2], 0.3),
        "one": lambda: body.integrate(q[0], qd[0]),
        "lists": lambda: body.integrate(q[0].tolist(), qd[0].tolist(), 1),
        "single precision": lambda: body.integrate(q.astype(np.float32), qd.astype(np.float32), 0.1),
        "difference": lambda: body.difference(q, q[::-1]),
        "difference of one": lambda: body.difference(q[0], q),
    }
    over_joints = {name: call() for name, call in calls.items()}
    monkeypatch.setattr(many_joints, "JOINTS", 1000)
    assert not many_joints.goes_over_joints(body, (q, qd))
    for name, call in calls.items():
        written_out = call()
        assert written_out.dtype == over_joints[name].dtype, name
        assert np.abs(written_out - over_joints[name]).max() < 100 * np.finfo(written_out.dtype).eps, name


def test_many_joints_without_quaternions(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = lw.robots.puma560()
    q, qd = np.random.default_rng(3).uniform(-2, 2, (2, 5, 6))
    assert not many_joints.goes_over_joints(arm, (q, qd))
    monkeypatch.setattr(many_joints, "VELOCITIES", 6)
    assert many_joints.goes_over_joints(arm, (q, qd))
    assert np.array_equal(arm.integrate(q, qd, 0.5), q + 0.5 * qd)
    assert np.array_equal(arm.difference(q, qd), qd - q)
    with pytest.raises(ArgumentError, match=r"qd.*\(5, 5\)"):
        arm.integrate(q, qd[:, :5], 0.5)


def test_a_batch_is_a_loop(body: lw.Mechanism) -> None:
    q, qd = states(body, 9)
    assert np.array_equal(body.integrate(q, qd, 0.1), [body.integrate(*row, 0.1) for row in zip(q, qd, strict=True)])
    assert np.array_equal(body.difference(q, q[::-1]), [body.difference(*row) for row in zip(q, q[::-1], strict=True)])


def test_difference_undoes_integrate(body: lw.Mechanism) -> None:
    """Turns of less than half a turn; a few units in the last place of angles up to 3."""
    q, qd = states(body, 5)
    assert np.abs(body.difference(q, body.integrate(q, qd, 0.5)) - 0.5 * qd).max() < 1e-13


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q, qd: (q[:-1], qd), "integrate: q has the shape"),
        (lambda q, qd: (q, qd[1:]), "integrate: qd has the shape"),
        (lambda q, qd: (np.ma.masked_array(q, q > 0), qd), "integrate: q has masked elements"),
        (lambda q, qd: (q + 1j, qd), "integrate: q holds complex128"),
        (lambda q, qd: (np.stack([q] * 3), np.stack([qd] * 2)), "integrate: "),
    ],
)
def test_bad_arguments_are_named(body: lw.Mechanism, change: Any, message: str) -> None:
    q, qd = states(body, 1)
    with pytest.raises(ArgumentError, match=message):
        body.integrate(*change(q[0], qd[0]))
