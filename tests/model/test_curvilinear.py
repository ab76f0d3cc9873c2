"""The curvilinear joint: its path, what it refuses, and that all ways of computing agree on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, simulate
from linkwise.errors import ModelError
from linkwise.model.joints import Curvilinear

BODY: dict[str, Any] = {"mass": 2.0, "com": (0.1, 0.2, -0.1), "inertia": (0.1, 0.2, 0.15)}


def train(repeats: bool = False) -> Mechanism:
    """A cart on a closed path of two lines and two half circles, in a vertical plane, with a pendulum."""
    oval = Curvilinear([0.4, 0.2 * math.pi] * 2, [0.0, 5.0] * 2, repeats)
    upright = np.eye(4)[[0, 2, 1, 3]] * [[1], [-1], [1], [1]]
    cart = Link(joint=oval, before=upright, name="cart", **BODY)
    return Mechanism([cart, Link(axis=(0, 1, 0.2), name="arm", **BODY)])


def test_a_path_is_smooth_and_returns() -> None:
    """At each joint of two segments pose and tangent agree from both sides; the oval ends where it begins."""
    oval = train().links[0].joint_model
    assert isinstance(oval, Curvilinear)
    for end in np.cumsum(oval.lengths):
        before, after = (np.asarray(oval.placement(np.array([end + sign * 1e-9])), dtype=float) for sign in (-1, 1))
        assert np.abs(after - before).max() < 1.1e-8  # 2e-9 m at a curvature of 5 / m
    whole = oval.lengths.sum()
    assert np.abs(np.asarray(oval.placement(np.array([whole])), dtype=float) - np.eye(4)).max() < 1e-15
    lapping = Curvilinear(oval.lengths, oval.curvatures, repeats=True)
    for lap in (-3, 1, 40):
        place = np.array([0.7])
        there = np.asarray(lapping.placement(place + lap * whole), dtype=float)
        assert np.abs(there - np.asarray(oval.placement(place), dtype=float)).max() < 1e-13  # 40 laps have 66 m


@pytest.mark.parametrize("repeats", [False, True])
def test_all_ways_of_computing_agree(repeats: bool) -> None:
    """Straight lines and loops over bodies; forward dynamics undoes inverse dynamics."""
    mech = train(repeats)
    rng = np.random.default_rng(0)
    q, qd, qdd = np.stack([rng.uniform(-0.1, 1.7, 50), rng.normal(size=50)], axis=-1), *rng.normal(size=(2, 50, 2))
    tau = mech.inverse_dynamics(q, qd, qdd)
    assert np.abs(mech.kernel("inverse_dynamics", tier="looped")(q, qd, qdd) - tau).max() < 1e-13 * np.abs(tau).max()
    assert np.abs(mech.kernel("inverse_dynamics", backend="numpy")(q, qd, qdd) - tau).max() < 1e-13 * np.abs(tau).max()
    assert np.abs(mech.forward_dynamics(q, qd, tau) - qdd).max() < 1e-12 * max(1.0, np.abs(qdd).max())


def test_energy_is_kept_on_an_arc() -> None:
    """A quarter of a second within one segment: the error is that of RK4."""
    out = simulate(train(), [0.5, 0.3], [0.4, -0.5], t=np.linspace(0.0, 0.25, 251), energies=True)
    assert out.q[:, 0].max() < 0.4 + 0.2 * math.pi
    assert out.q[:, 0].min() > 0.4
    assert np.abs(out.energy_error).max() < 1e-8 * np.abs(out.kinetic).max()


@pytest.mark.parametrize(
    ("lengths", "curvatures", "field"),
    [
        ([], [], "lengths"),
        ([1.0, 0.0], [0.0, 1.0], "lengths"),
        ([1.0, 2.0], [0.0], "curvatures"),
        ([1.0], ["left"], "curvatures"),
        (1.0, 0.0, "lengths"),
        ([math.inf], [0.0], "lengths"),
    ],
)
def test_malformed(lengths: Any, curvatures: Any, field: str) -> None:
    with pytest.raises(ModelError) as caught:
        Curvilinear(lengths, curvatures)
    assert [problem.field for problem in caught.value.problems][:1] == [field]
