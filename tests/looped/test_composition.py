"""Algorithms that NumPy puts together of those that loop over the bodies."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithm import find
from linkwise.errors import ArgumentError, ModelError
from linkwise.looped.composition import COMPOSITIONS
from linkwise.spatial.rotation import rotation_y
from linkwise.spatial.transform import transform, translation


def branched(**options: Any) -> lw.Mechanism:
    """A trunk and two branches, with a slide, a ball joint, and a joint that follows another."""
    body: dict[str, Any] = {"mass": 1.0, "com": (0.02, 0.01, 0.05), "inertia": (0.02, 0.03, 0.04, 0.0, 0.0, 0.0)}
    kinds: list[dict[str, Any]] = [
        {"name": "trunk", "parent": "base", "joint": "fixed"},
        {"name": "hip", "parent": "trunk", "axis": (0, 1, 0.5)},
        {"name": "knee", "parent": "hip", "joint": "prismatic", "axis": (1, 0, 0)},
        {"name": "foot", "parent": "knee", "joint": "ball"},
        {"name": "shoulder", "parent": "trunk", "axis": (1, 0, 0), "mimic": lw.Mimic("hip", 0.5, 0.1)},
        {"name": "hand", "parent": "shoulder", "axis": (0, 0.2, 1)},
    ]
    return lw.Mechanism([lw.Link(before=translation(0.1, 0.2, 0.3), **kind, **body) for kind in kinds], **options)


MECHANISMS = {"fixed": branched(), "floating": branched(floating=True)}


def arguments(mechanism: lw.Mechanism, kernel: Any, rows: int = 3) -> list[np.ndarray]:
    """Random ones."""
    rng = np.random.default_rng(0)
    shapes = kernel.tape.inputs.items()
    return [
        mechanism.random_configuration(1, rows) if name == "q" else rng.normal(size=(rows, *shape)) for name, shape in shapes
    ]


def results(kernel: Any, *args: Any) -> tuple[Any, ...]:
    """Always several."""
    result = kernel(*args)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize("name", COMPOSITIONS)
def test_they_are_the_straight_line(name: str, mechanism: lw.Mechanism) -> None:
    choices = {"link": "foot", "frame": "body", "orientation": "quaternion"}
    options: dict[str, Any] = {key: value for key, value in choices.items() if key in find(name).options}
    for chosen in (options, {}) if options else ({},):
        looped = mechanism.kernel(name, tier="looped", **chosen)
        straight = mechanism.kernel(name, tier="straight", backend="numpy", **chosen)
        assert (looped.tier, straight.tier) == ("looped", "straight")
        args = arguments(mechanism, straight)
        ours, theirs = results(looped, *args), results(straight, *args)
        for one, other in zip(ours, theirs, strict=True):
            assert one.shape == other.shape
            assert np.abs(one - other).max() <= 1e-12 * np.abs(other).max()  # as both tiers of all others agree
        strided = [np.asfortranarray(arg) for arg in args]
        for k in range(len(args[0])):  # a batch has the bits of a loop, whatever its strides
            alone = results(looped, *(arg[k] for arg in strided))
            assert all(np.array_equal(one[k], single) for one, single in zip(results(looped, *strided), alone, strict=True))
        kept = pickle.loads(pickle.dumps(looped))
        assert all(np.array_equal(a, b) for a, b in zip(results(kept, *args), ours, strict=True))


def test_large_mechanisms_take_them() -> None:
    chain = lw.Mechanism(
        [lw.Link(before=translation(0.1, 0, 0), axis=np.eye(3)[k % 3], mass=1.0, inertia=(0.1, 0.1, 0.1)) for k in range(33)]
    )
    q = np.linspace(-1.0, 1.0, 33)
    for name in COMPOSITIONS:
        kernel = chain.kernel(name)
        assert kernel.tier == "looped"
        assert all(np.isfinite(part).all() for part in results(kernel, *(arg[0] for arg in arguments(chain, kernel))))
    step = 1e-6
    forward, backward = (chain.jacobian(q + sign * step * np.eye(33)[7]) for sign in (1, -1))
    # a central difference: its error is of the square of the step, beside rounding over the step
    assert np.abs(chain.kinematic_hessian(q)[:, :, 7] - (forward - backward) / (2 * step)).max() < 1e-8
    assert chain.kinematic_hessian(q.astype(np.float32)).dtype == np.float32
    room = np.empty((6, 33, 33))
    assert chain.kernel("kinematic_hessian")(q, out=room) is room


def test_malformed_arguments_and_options_are_named() -> None:
    mechanism = MECHANISMS["fixed"]
    kernel, q = mechanism.kernel("frame_velocity", tier="looped"), mechanism.random_configuration(0)
    for qd in (np.zeros(3), 0.0, "fast", np.zeros((2, mechanism.nv + 1))):
        with pytest.raises(ArgumentError, match="frame_velocity: qd"):
            kernel(q, qd)
    with pytest.raises(ArgumentError, match="batch shapes"):
        kernel(np.tile(q, (2, 1)), np.zeros((3, mechanism.nv)))
    with pytest.raises(ArgumentError, match="orientation is 'axis'"):
        mechanism.kernel("analytic_jacobian", tier="looped", orientation="axis")
    with pytest.raises(ModelError, match="mass"):
        branched().replace_link("hand", mass=0.0, com=(0, 0, 0), inertia=0.0).kernel(
            "inverse_operational_space_inertia", tier="looped"
        )


def test_coordinates_that_a_frame_never_has_are_refused_as_in_the_straight_line() -> None:
    upright = lw.Mechanism([lw.Link(axis=(0, 0, 1)), lw.Link(joint="fixed", before=transform(rotation_y(np.pi / 2)))])
    for tier in ("looped", "straight"):
        with pytest.raises(ArgumentError, match="'rpy', which this frame has in no configuration"):
            upright.kernel("analytic_jacobian", tier=tier)


def test_shares_of_efforts_count_the_ratio_of_a_follower_once() -> None:
    mechanism = MECHANISMS["fixed"]
    kernel = mechanism.kernel("path_effort_shares", tier="straight", backend="numpy")
    q, dq, ddq, acceleration, speed, limit = arguments(mechanism, kernel, rows=1)
    tau = mechanism.inverse_dynamics(q, dq * speed[:, None], dq * acceleration[:, None] + ddq * speed[:, None] ** 2)
    shares = kernel(q, dq, ddq, acceleration, speed, limit)
    assert np.abs(shares * limit - tau).max() <= 1e-13 * np.abs(tau).max()  # some hundred products in another order
