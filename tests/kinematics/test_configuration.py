"""`integrate`, `difference` and `configuration_rate`: what a configuration and a speed are, with a floating base."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import quaternion_rotation
from support.messages import unnamed
from support.random_mechanisms import FLOATING, direct, random_state, relative, variant

BODY = Mechanism([Link(joint="fixed", mass=1.0, inertia=np.ones(3))], floating=True)
REST = np.array([0.0, 0, 0, 1, 0, 0, 0])
EPS = np.finfo(float).eps

at_each = pytest.mark.parametrize("name", FLOATING)


def start(seed: int) -> np.ndarray:
    return random_state(BODY, seed)[0]


def exponential(twist: np.ndarray) -> np.ndarray:
    """The pose (4, 4) after one second of a constant twist (linear, angular), by a series of halves squared."""
    table = np.zeros((4, 4))
    x, y, z = twist[3:]
    table[:3, :3], table[:3, 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]], twist[:3]
    table /= 2**20
    term, total = np.eye(4), np.eye(4)
    for k in range(1, 6):
        term = term @ table / k
        total = total + term
    for _ in range(20):
        total = total @ total
    return total


def pose(q: np.ndarray) -> np.ndarray:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = quaternion_rotation(q[3:7]).astype(float), q[:3]
    return made


@pytest.mark.parametrize(
    "angle", [0.0, 1e-300, 1e-12, 1e-8, 1e-4, 0.03, 0.0500001, 1.0, 3.0, np.pi - 1e-9, np.pi, 3.5, 6.2, 40.0]
)
def test_a_step_is_the_exponential_of_the_twist(angle: float) -> None:
    """The squarings double the rounding of the series twenty times: 1e-16 * 2^20, of which seen: 3e-11."""
    rng = np.random.default_rng(1)
    axis = rng.normal(size=3)
    twist = np.concatenate([rng.normal(size=3), angle * axis / np.linalg.norm(axis)])
    q = start(2)
    found = pose(direct(BODY, "integrate", q, twist, 1.0))
    error = np.abs(found - pose(q) @ exponential(twist)).max()
    half = direct(BODY, "integrate", direct(BODY, "integrate", q, twist, 0.5), twist, 0.5)
    print(f"{error:.1e} {np.abs(pose(half) - found).max():.1e}")
    assert error <= 2e-10
    assert np.abs(pose(half) - found).max() <= 1e-14, "two halves of a step make the step"


@pytest.mark.parametrize(
    "angle", [0.0, 1e-310, 1e-200, 1e-20, 1e-12, 1e-8, 1e-6, 1e-3, 0.0499, 0.0501, 1.0, 3.0, np.pi - 1e-6, np.pi - 1e-12]
)
def test_difference_undoes_integrate(angle: float) -> None:
    """For turns below pi, to rounding of unit numbers; near pi the axis keeps its direction."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        axis = rng.normal(size=3)
        twist = np.concatenate([rng.normal(size=3), angle * axis / np.linalg.norm(axis)])
        q = start(seed)
        there = BODY.integrate(q, twist)
        assert np.abs(BODY.difference(q, there) - twist).max() <= 20 * EPS
        assert abs(np.linalg.norm(there[3:7]) - 1) <= 2 * EPS


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-20, 1e-12])
def test_tiny_turns_are_not_lost(size: float) -> None:
    """From rest a turn far below rounding of 1 is kept, relative to itself: the imaginary parts hold it."""
    twist = size * np.array([1.0, 2, 3, 0.5, -0.4, 0.3])
    there = BODY.integrate(REST, twist)
    assert relative(BODY.difference(REST, there), twist) <= 1e-15


@at_each
def test_integrate_undoes_difference(name: str) -> None:
    """Between any two configurations, the shorter way round."""
    mech = variant(name)
    q0, q1 = (random_state(mech, seed, (50,))[0] for seed in (1, 2))
    speeds = mech.difference(q0, q1)
    assert np.linalg.norm(speeds[:, 3:6], axis=-1).max() <= np.pi
    found = mech.integrate(q0, speeds)
    sign = np.sign((found[:, 3:7] * q1[:, 3:7]).sum(axis=-1, keepdims=True))
    found[:, 3:7] *= sign
    error = np.abs(found - q1).max()
    print(f"{error:.1e}")
    assert error <= 1e-14


@pytest.mark.parametrize("name", ["joints 2", "rotors 3"])
def test_on_a_fixed_base_they_are_sums_and_differences(name: str) -> None:
    mech = variant(name)
    q, qd, _ = random_state(mech, 1, (4,))
    assert np.array_equal(mech.integrate(q, qd, 0.25), q + 0.25 * qd)
    assert np.array_equal(mech.difference(q, q + qd), (q + qd) - q)
    assert np.array_equal(direct(mech, "configuration_rate", q[0], qd[0]), qd[0])


@at_each
def test_the_rate_is_that_of_the_step(name: str) -> None:
    """dq/dt by central differences along `integrate`, h^2 taken off: h^4 / 480 = 1e-15 and 2 eps / h = 2e-13."""
    mech = variant(name)
    q, qd, _ = random_state(mech, 3)

    def slope(h: float) -> np.ndarray:
        return np.asarray((direct(mech, "integrate", q, qd, h) - direct(mech, "integrate", q, qd, -h)) / (2 * h))

    error = np.abs((4 * slope(5e-4) - slope(1e-3)) / 3 - direct(mech, "configuration_rate", q, qd)).max()
    print(f"{error:.1e}")
    assert error <= 3e-12


def test_a_step_equals_the_rate_followed_in_time() -> None:
    """RK4 on the configuration rate with 400 and 800 steps: the error falls as the fourth power, to the step's own end."""
    q, qd = start(4), np.array([0.4, -0.3, 0.2, 1.0, -2.0, 0.5])

    def followed(steps: int) -> np.ndarray:
        h, there = 1.0 / steps, q
        for _ in range(steps):
            k1 = direct(BODY, "configuration_rate", there, qd)
            k2 = direct(BODY, "configuration_rate", there + 0.5 * h * k1, qd)
            k3 = direct(BODY, "configuration_rate", there + 0.5 * h * k2, qd)
            k4 = direct(BODY, "configuration_rate", there + h * k3, qd)
            there = there + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return there

    wanted = direct(BODY, "integrate", q, qd, 1.0)
    errors = [np.abs(followed(steps) - wanted).max() for steps in (20, 40)]
    print(errors)
    assert 14 < errors[0] / errors[1] < 18
    assert errors[1] <= 1e-6


def test_speeds_are_in_the_axes_of_the_base() -> None:
    """A body turned by a quarter about z that moves along its own x moves along y."""
    q = np.array([0, 0, 0, np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    moved = BODY.integrate(q, [1.0, 0, 0, 0, 0, 0], 2.0)
    assert np.allclose(moved, [0, 2, 0, *q[3:]], rtol=0, atol=1e-15)
    turned = BODY.integrate(REST, [0, 0, 0, 0, 0, np.pi / 2])
    assert np.allclose(turned, q, rtol=0, atol=1e-15)


def test_the_quaternion_is_normalised_and_its_length_does_not_matter() -> None:
    q, qd = start(5), np.array([0.4, -0.3, 0.2, 1.0, -2.0, 0.5])
    other = q.copy()
    other[3:7] *= 3.0
    assert np.abs(BODY.integrate(other, qd) - BODY.integrate(q, qd)).max() <= 1e-15
    assert np.abs(BODY.difference(other, BODY.integrate(q, qd)) - qd).max() <= 1e-15 * 20


def test_poses_follow() -> None:
    mech = variant("floating 1")
    q = random_state(mech, 6)[0]
    hull = np.linalg.inv(mech.base) @ mech.link_poses(q)[0]
    wanted = pose(q) @ mech.links[0].before @ mech.links[0].after
    assert np.abs(hull - wanted).max() <= 1e-14


@pytest.mark.parametrize(
    ("q0", "q1", "message"),
    [
        (np.zeros(6), REST, "difference: q0 has the shape (6,); expected (..., 7)"),
        (REST, np.zeros((2, 8)), "difference: q1 has the shape (2, 8); expected (..., 7)"),
        (0.0, REST, "difference: q0 has the shape (); expected (..., 7)"),
    ],
)
def test_wrong_shapes(q0: np.ndarray, q1: np.ndarray, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        BODY.difference(q0, q1)
    assert unnamed(caught.value, message) == []


def test_batches_broadcast() -> None:
    q0, q1 = start(1), np.stack([start(2), start(3)])
    many = BODY.difference(q0, q1)
    assert many.shape == (2, 6)
    assert np.array_equal(many[1], BODY.difference(q0, q1[1]))
    assert BODY.integrate(q0, many, np.array([[1.0], [2.0], [3.0]])).shape == (3, 2, 7)


def test_random_configurations_are_within_limits_and_repeat() -> None:
    made = variant("floating 0")
    q = made.random_configuration(3, 500)
    assert q.shape == (500, made.nq)
    assert np.abs(np.linalg.norm(q[:, 3:7], axis=1) - 1.0).max() < 1e-15
    assert (q[:, 7:] >= made.q_min).all()
    assert (q[:, 7:] <= made.q_max).all()
    assert np.abs(q[:, 3:7].mean(axis=0)).max() < 0.1, "evenly in all ways: a mean of 500 has a deviation of 0.02"
    assert (made.random_configuration(3, 500) == q).all()
    assert made.random_configuration(3).shape == (made.nq,)
    with pytest.raises(ArgumentError, match="seed"):
        made.random_configuration("x")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="count"):
        made.random_configuration(0, -1)


def test_interpolation_goes_at_constant_velocity() -> None:
    made = variant("floating 0")
    q0, q1 = made.random_configuration(1, 2)
    steps = made.interpolate(q0, q1, np.linspace(0.0, 1.0, 5))
    assert np.abs(steps[0] - q0).max() < 1e-15
    assert np.abs(made.difference(steps[-1], q1)).max() < 1e-14
    parts = made.difference(steps[:-1], steps[1:])
    assert np.abs(parts - parts[0]).max() < 1e-14


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.49, 0.51, 2.0, 3.1])
def test_derivatives_of_steps_and_differences(angle: float) -> None:
    """Against central differences by `integrate` and `difference`, on both sides of the angle at which series take over.

    The error of a difference of step 1e-5 is 1e-10 of its size, and its rounding 1e-11.
    """
    links = [Link(joint="ball", name="ball", mass=1.0, inertia=(1, 1, 1)), Link(name="hinge", mass=1.0, parent="ball")]
    craft = Mechanism(links, floating=True)
    rng = np.random.default_rng(3)
    q, qd = craft.random_configuration(1), rng.normal(size=craft.nv)
    for part in (slice(3, 6), slice(6, 9)):
        qd[part] *= angle / np.linalg.norm(qd[part]) / 0.5
    end, h = craft.integrate(q, qd, 0.5), 1e-5
    by_q, by_qd = craft.integrate_derivatives(q, qd, 0.5)
    by_q0, by_q1 = craft.difference_derivatives(q, end)

    def central(function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        return np.stack([(function(h * unit) - function(-h * unit)) / (2 * h) for unit in np.eye(craft.nv)], axis=1)

    wanted = [
        central(lambda step: craft.difference(end, craft.integrate(craft.integrate(q, step), qd, 0.5))),
        central(lambda step: craft.difference(end, craft.integrate(q, qd + step, 0.5))),
        central(lambda step: craft.difference(craft.integrate(q, step), end)),
        central(lambda step: craft.difference(q, craft.integrate(end, step))),
    ]
    errors = [relative(*pair) for pair in zip((by_q, by_qd, by_q0, by_q1), wanted, strict=True)]
    print(f"{angle}: {max(errors):.1e}")
    assert max(errors) < 2e-9
    inverse = by_q1 @ (by_qd / 0.5) - np.eye(craft.nv)
    assert np.abs(inverse).max() < 2e-14, "the Jacobian of the logarithm is the inverse of that of the exponential"
    assert np.abs(by_q0 + by_q1 @ by_q).max() < 2e-14, "a motion common to both ends changes nothing"


@pytest.mark.parametrize("name", FLOATING)
def test_interpolation_is_a_part_of_the_difference(name: str) -> None:
    mech = variant(name)
    q0, q1 = random_state(mech, 1)[0], random_state(mech, 2)[0]
    wanted = mech.integrate(q0, mech.difference(q0, q1), 0.3)
    assert relative(mech.interpolate(q0, q1, 0.3), wanted) < 1e-15


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("joint", ["ball", "floating"])
def test_no_rotation_leads_to_or_from_a_quaternion_of_length_zero(joint: str) -> None:
    """NaN, as `integrate` has it, not the rotation zero: that would mean "already there"."""
    body = Mechanism([Link(name="body", joint=joint, mass=1.0, inertia=(1.0, 1.0, 1.0))])
    none = np.zeros(body.nq)
    for pair in ((none, body.neutral), (body.neutral, none), (none, none)):
        assert np.isnan(body.difference(*pair)[-3:]).all()


def test_lengths_of_quaternions_do_not_count_in_small_rotations() -> None:
    """A rotation of 2e-150 rad between quaternions of the lengths 2 and 3; the sine is below where it is divided by."""
    ball = Mechanism([Link(name="ball", joint="ball", mass=1.0, inertia=(1.0, 1.0, 1.0))])
    turn = ball.difference([2.0, 0.0, 0.0, 0.0], [3.0, 3e-150, 0.0, 0.0])
    assert abs(turn[0] - 2e-150) < 1e-164  # (a few units in the last place)
    assert not turn[1:].any()
