"""Transforms and angles: made, taken apart, mended, also at and beside the singular orientations."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linkwise.errors import ArgumentError
from linkwise.rtss import (
    rt_eul2tr,
    rt_ishomog,
    rt_oa2tr,
    rt_quaternion,
    rt_rotvec,
    rt_rotx,
    rt_roty,
    rt_rotz,
    rt_rpy2tr,
    rt_tr2eul,
    rt_tr2rot,
    rt_tr2rpy,
    rt_transl,
    rt_trnorm,
    rt_unit,
)
from linkwise.spatial.rotation import rotation_to_rpy, rpy_to_rotation
from support.messages import unnamed

PI = np.pi
EPS = np.finfo(float).eps
ROUNDED = 16 * EPS
"""Three rotations are multiplied, each sum of three products, and taken apart with two functions of angles each."""

angles = st.floats(-PI, PI)
tiny = st.one_of(st.just(0.0), st.floats(1e-17, 1e-3), st.floats(-1e-3, -1e-17))


def test_elementary_rotations() -> None:
    t = np.array([0.3, -2.0, PI / 2])
    for make, axis in ((rt_rotx, 0), (rt_roty, 1), (rt_rotz, 2)):
        made = make(t)
        assert made.shape == (3, 4, 4)
        for k in range(3):
            assert np.array_equal(made[k], make(t[k]))
            assert np.array_equal(made[k, :3, axis], np.eye(3)[axis])
            assert np.abs(made[k] - rt_rotvec(5 * np.eye(3)[axis], t[k])).max() <= EPS
    assert np.array_equal(rt_rotx(0.3)[1:3, 1:3], [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])


def test_rotvec_turns_about_its_axis() -> None:
    axis = np.array([1.0, -2.0, 0.5])
    T = rt_rotvec(axis, [0.7, 2.0])
    assert np.abs(T[:, :3, :3] @ axis - axis).max() < 8 * EPS
    assert np.abs(T[0] @ T[0] @ T[0] - rt_rotvec(axis, 2.1)).max() < 8 * EPS
    assert np.abs(1 + 2 * np.cos([0.7, 2.0]) - np.trace(T[:, :3, :3], axis1=1, axis2=2)).max() < 8 * EPS


@given(angles, angles, angles)
def test_angles_are_in_the_order_of_release_7(a: float, b: float, c: float) -> None:
    assert np.array_equal(rt_rpy2tr(a, b, c), rt_rotz(a) @ rt_roty(b) @ rt_rotx(c))
    assert np.array_equal(rt_eul2tr(a, b, c), rt_rotz(a) @ rt_roty(b) @ rt_rotz(c))
    assert np.array_equal(rt_rpy2tr([a, b, c]), rt_rpy2tr(a, b, c))
    assert np.abs(rt_rpy2tr(a, b, c)[:3, :3] - rpy_to_rotation(c, b, a)).max() <= 2 * EPS  # roll and yaw change places


@given(angles, st.floats(-PI / 2, PI / 2), angles)
@example(0.6, PI / 2, -1.75)
@example(-2.2, -PI / 2, 0.95)
def test_rpy_give_the_matrix_back(roll: float, pitch: float, yaw: float) -> None:
    T = rt_rpy2tr(roll, pitch, yaw)
    found = rt_tr2rpy(T)
    assert -PI / 2 <= found[1] <= PI / 2
    assert np.abs(rt_rpy2tr(found) - T).max() < ROUNDED


@given(angles, st.sampled_from([PI / 2, -PI / 2]), tiny, angles)
def test_rpy_beside_the_singular_pitch(roll: float, lock: float, beside: float, yaw: float) -> None:
    T = rt_rpy2tr(roll, lock + beside, yaw)
    assert np.abs(rt_rpy2tr(rt_tr2rpy(T)) - T).max() < ROUNDED


@given(angles, st.floats(0.0, PI), angles)
@example(0.6, 0.0, -1.75)
@example(-2.2, PI, 0.95)
def test_euler_angles_give_the_matrix_back(phi: float, theta: float, psi: float) -> None:
    T = rt_eul2tr(phi, theta, psi)
    found = rt_tr2eul(T)
    assert 0 <= found[1] <= PI
    assert np.abs(rt_eul2tr(found) - T).max() < ROUNDED


@given(angles, st.sampled_from([0.0, PI]), tiny, angles)
def test_euler_angles_beside_the_singular_theta(phi: float, lock: float, beside: float, psi: float) -> None:
    T = rt_eul2tr(phi, lock + beside, psi)
    assert np.abs(rt_eul2tr(rt_tr2eul(T)) - T).max() < ROUNDED


@given(angles, st.floats(0.2, 1.3), angles)
def test_away_from_there_the_angles_come_back(a: float, b: float, c: float) -> None:
    """The angles are as sure as the matrix: its rounding over the sine or cosine of the middle one, at least 0.19 here."""
    for make, take in ((rt_eul2tr, rt_tr2eul), (rt_rpy2tr, rt_tr2rpy)):
        error = take(make(a, b, c)) - [a, b, c]
        assert np.abs((error + PI) % (2 * PI) - PI).max() < ROUNDED / 0.19


def test_at_a_singular_orientation_the_first_angle_is_zero() -> None:
    noise = 4e-16 * np.random.default_rng(1).standard_normal((2, 3, 3))
    for theta, expected in ((0.0, [0, 0, -1.15]), (PI, [0, PI, -1.75 - 0.6])):
        T = rt_eul2tr(0.6, theta, -1.75)
        assert np.abs(rt_tr2eul(T) - expected).max() < ROUNDED
        T[:3, :3] += noise[0]
        assert rt_tr2eul(T)[0] == 0
    for pitch, expected in ((PI / 2, [0, PI / 2, -2.35]), (-PI / 2, [0, -PI / 2, -1.15])):
        T = rt_rpy2tr(0.6, pitch, -1.75)
        assert np.abs(rt_tr2rpy(T) - expected).max() < ROUNDED
        T[:3, :3] += noise[1]
        assert rt_tr2rpy(T)[0] == 0


def test_many_orientations_at_once() -> None:
    given_angles = np.random.default_rng(2).uniform(-1, 1, (4, 5, 3)) + np.array([0, 1.2, 0])
    for make, take in ((rt_eul2tr, rt_tr2eul), (rt_rpy2tr, rt_tr2rpy)):
        T = make(given_angles)
        assert T.shape == (4, 5, 4, 4)
        assert np.array_equal(T[1, 2], make(*given_angles[1, 2]))
        assert take(T).shape == (4, 5, 3)
        assert np.array_equal(take(T)[3, 1], take(T[3, 1]))
    assert rt_eul2tr(np.zeros((2, 1)), 0.1, [0.1, 0.2, 0.3]).shape == (2, 3, 4, 4)


def test_rpy_agree_with_those_of_linkwise_but_for_names() -> None:
    T = rt_rpy2tr(0.4, -0.5, 1.1)
    assert np.abs(rt_tr2rpy(T)[::-1] - rotation_to_rpy(T[:3, :3])).max() < ROUNDED


def test_translations() -> None:
    T = rt_transl(1, 2, 3)
    assert np.array_equal(T, [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    for v in ([1, 2, 3], [[1, 2, 3]], [[1], [2], [3]]):
        assert np.array_equal(rt_transl(v), T)
    assert np.array_equal(rt_transl(T @ rt_rotx(1.0)), [1, 2, 3])
    assert np.array_equal(rt_transl(np.stack([T, T @ T])), [[1, 2, 3], [2, 4, 6]])
    assert np.array_equal(rt_tr2rot(rt_rotx(0.5)), rt_rotx(0.5)[:3, :3])
    rt_transl(T)[0] = 7.0  # what comes back is nobody's else
    assert T[0, 3] == 1


@given(st.lists(st.floats(-10, 10), min_size=6, max_size=6))
def test_orientation_and_approach(numbers: list[float]) -> None:
    o, a = np.array(numbers[:3]), np.array(numbers[3:])
    lengths = np.linalg.norm(o) * np.linalg.norm(a)
    if lengths < 1e-100 or np.linalg.norm(np.cross(o, a)) < 1e-3 * lengths:
        return
    R = rt_oa2tr(o, a)[:3, :3]
    assert np.abs(R.T @ R - np.eye(3)).max() < 8 * EPS
    assert np.abs(R[:, 2] - a / np.linalg.norm(a)).max() < 4 * EPS
    assert R[:, 1] @ o > 0
    assert abs(R[:, 0] @ o) < 1e3 * 4 * EPS * np.linalg.norm(o)  # o has no part across; the sine is 1e-3 or more


def test_where_they_are_at_right_angles_all_three_columns_are_those_of_the_original() -> None:
    o, a = np.array([0.0, 3.0, 4.0]), np.array([0.0, -4.0, 3.0])
    assert np.abs(rt_oa2tr(o, a)[:3, :3] - np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])).max() <= EPS


def test_trnorm_mends_and_then_changes_nothing() -> None:
    T = rt_transl(1, 2, 3) @ rt_rpy2tr(0.3, 0.4, 0.5)
    spoilt = T.copy()
    spoilt[:3] += 1e-4 * np.random.default_rng(3).standard_normal((3, 4))
    spoilt[3] = [1e-5, 0, 0, 1]
    mended = rt_trnorm(np.stack([spoilt, T]))
    assert rt_ishomog(mended[0], valid=True)
    assert np.abs(mended[0, :3, :3].T @ mended[0, :3, :3] - np.eye(3)).max() < 4 * EPS
    assert np.abs(mended[0] - spoilt).max() < 1e-3
    assert np.array_equal(mended[0, :3, 3], spoilt[:3, 3])
    assert np.abs(mended[1] - T).max() < 4 * EPS
    assert np.abs(rt_trnorm(mended) - mended).max() < 4 * EPS


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [2.0**-800, 2.0**800])
def test_vectors_whose_squared_lengths_are_no_numbers(size: float) -> None:
    o, a = np.array([0.3, -0.2, 0.9]), np.array([-0.5, 0.1, 0.4])
    assert np.array_equal(rt_unit(size * o), rt_unit(o))
    assert np.array_equal(rt_rotvec(size * o, 0.7), rt_rotvec(o, 0.7))
    assert np.array_equal(rt_oa2tr(size * o, a / size), rt_oa2tr(o, a))


def test_ishomog() -> None:
    assert rt_ishomog(np.eye(4))
    assert rt_ishomog(np.ones((4, 4)).tolist())
    assert not rt_ishomog(np.ones((4, 4)), valid=True)
    assert not rt_ishomog(np.full((4, 4), np.nan), valid=True)
    for other in (np.eye(3), np.zeros((2, 4, 4)), np.zeros((4, 4), dtype=complex), None, "T", [[1, 2], [3]]):
        assert not rt_ishomog(other)


def test_unit() -> None:
    assert np.array_equal(rt_unit([[3.0], [4.0]]), [[0.6], [0.8]])
    assert np.array_equal(rt_unit(rt_quaternion([0, 0, 0, 2])).d, [0, 0, 0, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rt_rotx("a"), "rt_rotx: t holds <U1; expected finite angles, rad"),
        (lambda: rt_rotz(np.nan), "rt_rotz: t is nan; expected finite angles, rad"),
        (lambda: rt_rotvec([0, 0, 0], 1), "rt_rotvec: v is [0.0, 0.0, 0.0]; expected a vector with a direction"),
        (lambda: rt_rotvec([1, 2], 1), "rt_rotvec: v has the shape (2,); expected 3 finite numbers"),
        (lambda: rt_transl(1, 2), "rt_transl takes x, y, z, or a vector, or transforms; two numbers were given"),
        (
            lambda: rt_transl([1, 2]),
            "rt_transl: x has the shape (2,); expected 3 numbers or transforms (..., 4, 4)",
        ),
        (lambda: rt_eul2tr([1, 2]), "rt_eul2tr: phi has the shape (2,); expected finite numbers (..., 3)"),
        (lambda: rt_rpy2tr(1, 2), "rt_rpy2tr: yaw is missing; expected three angles, or one array (..., 3)"),
        (
            lambda: rt_eul2tr([1, 2], [1, 2, 3], 1),
            "rt_eul2tr: the batch shapes do not fit each other: phi (2,), theta (3,), psi ()",
        ),
        (lambda: rt_tr2eul(np.eye(3)), "rt_tr2eul: T has the shape (3, 3); expected rigid poses (..., 4, 4)"),
        (
            lambda: rt_tr2rpy(np.stack([np.eye(4), np.diag([1.0, 1, -1, 1])])),
            "rt_tr2rpy: T[1] is [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 0.0...; "
            "expected a rigid pose: orthonormal right-handed rotation, last row 0 0 0 1",
        ),
        (
            lambda: rt_oa2tr([1, 0, 0], [2, 0, 0]),
            "rt_oa2tr: the y and z directions are [1.0, 0.0, 0.0] and [2.0, 0.0, 0.0]; expected two "
            "that are neither zero nor parallel",
        ),
        (
            lambda: rt_trnorm(np.zeros((4, 4))),
            "rt_trnorm: the y and z directions are [0.0, 0.0, 0.0] and [0.0, 0.0, 0.0]; expected two "
            "that are neither zero nor parallel",
        ),
        (lambda: rt_tr2rot(np.eye(3)), "rt_tr2rot: T has the shape (3, 3); expected finite numbers (..., 4, 4)"),
        (lambda: rt_unit([0, 0]), "rt_unit: v is [0.0, 0.0]; expected a vector with a direction"),
        (lambda: rt_unit(np.eye(2)), "rt_unit: v has the shape (2, 2); expected a vector or a quaternion"),
    ],
)
def test_what_cannot_be_is_told(call: object, message: str) -> None:
    with pytest.raises(ArgumentError) as told:
        call()  # type: ignore[operator]
    assert unnamed(told.value, message) == []
