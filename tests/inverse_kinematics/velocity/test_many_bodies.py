"""Joint rates of frames that many bodies move: in NumPy, over kernels that loop over the bodies."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import algorithm
from linkwise.inverse_kinematics.velocity import manipulability_gradient
from linkwise.inverse_kinematics.velocity.task import ArrayVelocityTask, VelocityTask, rate_task
from linkwise.looped import kernel
from linkwise.spatial.transform import translation

pytestmark = pytest.mark.usefixtures("uncompiled")


def arm(name: str) -> lw.Mechanism:
    """Eight joints, one of them a slide, and one beside the way to the tool."""
    links = [
        lw.Link(
            name=f"link{k}", joint="prismatic" if k == 4 else "revolute", before=translation(0.1, 0.2 * (k % 2), 0.3),
            axis=np.eye(3)[k % 3], limits=(-2.5, 2.0), parent="base" if k == 0 else f"link{k - 1}", qd_max=1.5, qdd_max=20.0,
        )
        for k in range(8)
    ]  # fmt: skip
    return lw.Mechanism([links[0], lw.Link(name="beside", parent="link0"), *links[1:]], name=name)


#: Two of one kind, of which each keeps its own kernels.
COMPILED, LOOPED = arm("compiled"), arm("looped")
RNG = np.random.default_rng(0)
Q, QD, TWIST, BESIDE = (RNG.normal(size=(4, size)) for size in (9, 9, 6, 9))
LOCKED = np.where(np.arange(9) % 4 == 3, np.inf, 1.0)

#: Options, and the factor of what is asked for.
CASES: dict[str, tuple[dict[str, Any], float]] = {
    "plain": ({}, 1.0),
    "undamped": ({"damping": None}, 1.0),
    "damped alike": ({"damping": 0.3, "secondary": BESIDE}, 1.0),
    "near singular": ({"region": 3.0}, 1.0),
    "beside": ({"secondary": BESIDE, "weights": LOCKED}, 1.0),
    "some rows": ({"mask": [1, 0, 1, 0, 0, 1], "frame": "body", "link": "link6"}, 1.0),
    "bounds": ({"secondary": 10.0 * BESIDE}, 40.0),
    "no bounds": ({"limits": None}, 40.0),
}


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithm, "BODIES", 4)
    monkeypatch.setattr(kernel, "BODIES", 4)
    rate_task(LOOPED, 1, "tool", "world", None, "auto", 0.02, None, None)


def rates(mechanism: lw.Mechanism, order: int, rows: Any, factor: float, **options: Any) -> Any:
    """Velocities or accelerations."""
    given = {key: value[rows] if key == "secondary" else value for key, value in options.items()}
    if order == 1:
        return mechanism.joint_velocities(Q[rows], factor * TWIST[rows], **given)
    return mechanism.joint_accelerations(Q[rows], QD[rows], factor * TWIST[rows], **given)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("order", [1, 2])
def test_the_rates_are_those_of_machine_code(order: int, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options, factor = CASES[case]
    ours = rates(LOOPED, order, slice(None), factor, **options)
    for k in range(2):
        alone = rates(LOOPED, order, k, factor, **options)
        assert np.array_equal(alone.rates, ours.rates[k])  # a batch has the bits of a loop
    monkeypatch.setattr(algorithm, "BODIES", 32)
    monkeypatch.setattr(kernel, "BODIES", 32)
    theirs = rates(COMPILED, order, slice(None), factor, **options)
    assert ours.reason.tolist() == theirs.reason.tolist()
    for name in (field.name for field in fields(ours)):
        one, other = getattr(ours, name), getattr(theirs, name)
        if isinstance(one, np.ndarray) and one.dtype == np.float64:
            scale = max(1.0, float(np.abs(other[np.isfinite(other)]).max(initial=0.0)))
            # two singular value decompositions of matrices with a condition of 1e3 at most
            assert np.allclose(one, other, rtol=0.0, atol=1e-11 * scale, equal_nan=True), name


def test_the_size_of_the_way_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = ("world", None, "auto", 0.05, None, None)
    assert type(rate_task(LOOPED, 1, "tool", *ask)) is ArrayVelocityTask
    assert type(rate_task(LOOPED, 1, "link1", *ask)) is VelocityTask
    monkeypatch.setattr(algorithm, "BODIES", 32)
    assert type(rate_task(arm("new"), 1, "tool", *ask)) is VelocityTask


def test_what_is_not_a_number_goes_through() -> None:
    step = lw.inverse_kinematics.velocity_step(LOOPED)
    q = np.array(Q)
    q[1, 0] = np.nan
    speeds = step(q, TWIST)[0]
    assert np.isfinite(speeds[[0, 2, 3]]).all()
    assert np.isnan(speeds[1]).all()


@pytest.mark.parametrize("mask", [None, [1, 1, 1, 0, 0, 0]])
def test_gradients_of_the_manipulability(mask: list[int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = manipulability_gradient(LOOPED, Q, mask=mask)
    assert np.array_equal(manipulability_gradient(LOOPED, Q[1], mask=mask), ours[1])
    monkeypatch.setattr(algorithm, "BODIES", 32)
    monkeypatch.setattr(kernel, "BODIES", 32)
    theirs = manipulability_gradient(COMPILED, Q, mask=mask)
    assert np.abs(ours - theirs).max() < 1e-11 * np.abs(theirs).max()


def test_a_frame_that_always_lacks_a_direction_has_no_gradient() -> None:
    flat = lw.Mechanism([lw.Link(before=translation(0.3), axis=(0, 0, 1)) for _ in range(9)])
    assert not manipulability_gradient(flat, np.linspace(-1.0, 1.0, 9)).any()
