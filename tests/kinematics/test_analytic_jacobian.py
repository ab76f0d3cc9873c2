"""Analytic Jacobians where angles are undefined: infinite or NaN, in every way of computing them; quaternions never are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.kernel.backend import BACKENDS
from linkwise.kinematics.analytic_jacobian import analytic_jacobian, analytic_jacobian_dot
from linkwise.spatial.rotation import rotation_to_rpy

PUMA = robots.puma560()
HALF = np.pi / 2

#: Joints 5 and 6 of a PUMA: at these the pitch of the tool is 90 or -90 degrees, its Euler angle b 0 or 180 degrees.
LOCKED = {
    "rpy": [[0.4, -HALF, HALF, 0.0, HALF, 0.0], [-0.8, -HALF, HALF, 0.0, HALF, np.pi]],
    "zyz": [[0.4, -HALF, HALF, 0.0, 0.0, 0.7], [0.0, -HALF, HALF, 0.0, 0.0, 0.0], [0.3, -HALF, HALF, 0.0, np.pi, -1.0]],
}
CASES = [(orientation, q) for orientation, rows in LOCKED.items() for q in rows]
FREE = np.array([0.3, 0.5, -0.4, 0.7, 0.9, 0.2])
QD = np.array([0.3, -0.2, 0.5, 0.7, -0.4, 0.6])


def ways() -> Iterator[tuple[str, Callable[..., np.ndarray]]]:
    """The Jacobian and its rate by the function itself, the methods, and kernels of all back ends and tiers."""
    yield "function", lambda q, orientation: analytic_jacobian(PUMA, q, orientation=orientation)
    yield "function dot", lambda q, orientation: analytic_jacobian_dot(PUMA, q, QD, orientation=orientation)
    yield "method", lambda q, orientation: PUMA.analytic_jacobian(q, orientation=orientation)
    yield "method dot", lambda q, orientation: PUMA.analytic_jacobian_dot(q, QD.astype(q.dtype), orientation=orientation)
    choices = [{"backend": name} for name, kind in BACKENDS.items() if kind.available() and name in {"llvm", "numpy"}]
    if BACKENDS["llvm"].available():
        choices.append({"tier": "looped"})
    for choice in choices:
        title = "-".join(choice.values())
        yield (
            title,
            lambda q, orientation, c=choice: PUMA.kernel("analytic_jacobian", orientation=orientation, **c)(q),
        )
        yield (
            f"{title} dot",
            lambda q, orientation, c=choice: PUMA.kernel("analytic_jacobian_dot", orientation=orientation, **c)(
                q, QD.astype(q.dtype)
            ),
        )


WAYS = dict(ways())


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def lost(jac: np.ndarray) -> None:
    """No element that depends on the angles is finite.

    All rates by the second joint do. What is left are the zeros and ones of joints about the world's z or the tool's z.
    """
    angular = np.asarray(jac, dtype=float)[3:]
    assert not np.isfinite(angular[:, 1:3]).any(), angular
    assert np.isin(angular[np.isfinite(angular)], [-1.0, 0.0, 1.0]).all(), angular


@pytest.mark.parametrize(("orientation", "q"), CASES)
@pytest.mark.parametrize("way", WAYS)
def test_angles_that_are_undefined_are_infinite_or_nan(way: str, orientation: str, q: list[float]) -> None:
    jac = WAYS[way](np.array(q), orientation)
    assert np.isfinite(np.asarray(jac, dtype=float)[:3]).all(), "positions have no angles"
    lost(jac)


@pytest.mark.parametrize("orientation", LOCKED)
@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("function")])
@pytest.mark.parametrize("size", [1, 2, 3, 9, 64])
def test_in_batches_too_and_neighbours_are_untouched(way: str, orientation: str, size: int) -> None:
    q = np.tile(FREE, (size, 1))
    q[size // 2] = LOCKED[orientation][0]
    jac = WAYS[way](q, orientation)
    lost(jac[size // 2])
    alone = WAYS[way](FREE, orientation)
    assert np.isfinite(alone).all()
    others = np.delete(jac, size // 2, axis=0)
    assert (others == alone).all(), "a batch gives the bits of a loop"


@pytest.mark.parametrize("orientation", LOCKED)
@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("function")])
def test_in_single_precision(way: str, orientation: str) -> None:
    for q in LOCKED[orientation]:
        jac = WAYS[way](np.array([q, FREE], dtype=np.float32), orientation)
        lost(jac[0])
        assert np.isfinite(jac[1]).all()


@pytest.mark.parametrize("offset", [1e-3, 1e-6, 1e-9, 1e-11])
def test_beside_them_rates_are_right(offset: float) -> None:
    """Yaw and roll of the tool turn at 1 / sine; a rotation is known to some 1e-15, so the rates to 1e-15 / offset."""
    q = np.array(LOCKED["rpy"][0])
    q[4] += offset
    pose, jac = PUMA.forward_kinematics(q), PUMA.analytic_jacobian(q)
    sine = np.hypot(pose[0, 0], pose[1, 0])
    c, s = pose[:2, 0] / sine
    turning = np.array([[c / sine, s / sine, 0], [-s, c, 0], [-c * pose[2, 0] / sine, -s * pose[2, 0] / sine, 1]])
    wanted = turning @ PUMA.jacobian(q)[3:]
    error = np.abs(jac[3:] - wanted).max() / np.abs(wanted).max()
    print(f"sine {sine:.1e}, error {error:.1e}")
    assert abs(rotation_to_rpy(pose[:3, :3])[1]) == pytest.approx(HALF, abs=2 * offset)
    assert error < 1e-14 / offset


def test_quaternions_are_defined_everywhere() -> None:
    """Also at half turns, where the real part is zero, and at all poses that angles have not."""
    half_turns = [[0.4, -HALF, HALF, 0.0, np.pi, 0.3], [np.pi, -HALF, HALF, 0.0, 0.0, 0.0], [0.0, 0.0, np.pi, 0.0, 0.0, 0.0]]
    rows = np.array([*half_turns, *(q for _, q in CASES)])
    batch = PUMA.analytic_jacobian(rows, orientation="quaternion")
    speed = np.linalg.norm(batch[:, 3:], axis=1)
    turning = np.linalg.norm(PUMA.jacobian(rows)[:, 3:], axis=1)
    assert np.abs(speed - turning / 2).max() < 1e-14, "|dq| is half the angular velocity"
    for way, function in WAYS.items():
        for q, both in zip(rows, batch, strict=True):
            values = np.asarray(function(q, "quaternion"), dtype=float)
            assert np.isfinite(values).all(), way
            if not way.endswith("dot"):  # (of two components that are as great, rounding decides which is positive)
                errors = [np.abs(values[3:] - sign * both[3:]).max() for sign in (1.0, -1.0)]
                assert min(errors) < 1e-14, way


def test_a_frame_that_has_no_such_angles_is_refused() -> None:
    with pytest.raises(ArgumentError, match="'zyz', which this frame has in no configuration"):
        robots.planar_2r().analytic_jacobian([0.1, 0.2], orientation="zyz")
    fixed = Mechanism([Link(joint="fixed", name="post"), Link(name="arm")])
    with pytest.raises(ArgumentError, match="'zyz', which this frame has in no configuration"):
        fixed.analytic_jacobian([0.1], link="post", orientation="zyz")
