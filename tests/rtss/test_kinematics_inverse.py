"""Inverse kinematics by numbers: the pose is reached, or an error says that it is not."""

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.rtss import rt_fkine, rt_ikine, rt_jtraj, rt_poses, rt_puma560, rt_robot, rt_rotx, rt_transl, rt_twolink
from linkwise.rtss.kinematics import TOLERANCE
from support.messages import unnamed

ARM = rt_puma560()
QN = rt_poses("puma560")["qn"]
PLANE = [1, 1, 0, 0, 0, 0]


def test_a_pose_is_reached_from_nearby() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        q = QN + rng.uniform(-0.3, 0.3, 6)
        found = rt_ikine(ARM, rt_fkine(ARM, q), QN)
        assert found.shape == (6,)
        assert np.abs(rt_fkine(ARM, found) - rt_fkine(ARM, q)).max() < TOLERANCE
        assert np.abs(found - q).max() < 1e-9  # the pose to 1e-11, over the least singular value there, above 0.01


def test_a_trajectory_is_followed() -> None:
    """Each pose starts from the solution before; from QN at once the last one would be found in another way, or not."""
    q, _, _ = rt_jtraj(QN, QN + np.array([1.5, -0.6, 0.8, 1.0, 0.3, -2.0]), 30)
    found = rt_ikine(ARM, rt_fkine(ARM, q), QN)
    assert found.shape == (30, 6)
    assert np.abs(found - q).max() < 1e-9  # as above


def test_base_tool_and_offsets_count() -> None:
    """What comes back is what `rt_fkine` takes: the offset of the model is not in it."""
    moved = rt_robot(ARM, base=rt_transl(1, 2, 3) @ rt_rotx(0.4), tool=rt_transl(0, 0, 0.2))
    moved.offset = [0.1, -0.2, 0.3, 0.4, -0.5, 0.6]
    q = QN - moved.offset + 0.1
    found = rt_ikine(moved, rt_fkine(moved, q), QN - moved.offset)
    assert np.abs(found - q).max() < 1e-9
    assert np.abs(found + moved.offset - QN - 0.1).max() < 1e-9


def test_fewer_joints_with_a_mask() -> None:
    arm = rt_twolink()
    q = np.array([0.4, 1.2])
    for T in (rt_fkine(arm, q), rt_fkine(arm, q) @ rt_rotx(1.0)):  # rotation is left free
        assert np.abs(rt_ikine(arm, T, [0.0, 0.5], PLANE) - q).max() < 1e-9
    found = rt_ikine(arm.mechanism(), rt_fkine(arm, [q, q + 0.1]), [0.0, 0.5], PLANE)
    assert np.abs(found - [q, q + 0.1]).max() < 1e-9


def test_it_starts_at_zero_unless_told() -> None:
    arm = rt_twolink()
    T = rt_fkine(arm, [0.3, 0.4])
    assert np.array_equal(rt_ikine(arm, T, None, PLANE), rt_ikine(arm, T, [0.0, 0.0], PLANE))


def test_limits_are_not_looked_at() -> None:
    q = QN + np.array([0, 0, 0, 0, 0, 5.0])  # beyond 266 degrees
    assert ARM.qlim[5, 1] < q[5]
    assert np.abs(rt_ikine(ARM, rt_fkine(ARM, q), q + 0.05) - q).max() < 1e-9


def test_what_is_out_of_reach_is_an_error() -> None:
    with pytest.raises(ArgumentError, match=r"rt_ikine.*reached.*steps"):
        rt_ikine(ARM, rt_transl(3, 0, 0), QN)
    T = np.stack([rt_fkine(ARM, QN), rt_transl(3, 0, 0)])
    with pytest.raises(ArgumentError, match=r"^rt_ikine: pose 1 of T is not reached, "):
        rt_ikine(ARM, T, QN)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rt_ikine(rt_twolink(), np.eye(4)),
            "rt_ikine: mask is missing; 2 joints cannot reach every pose; expected six of 0 or 1",
        ),
        (
            lambda: rt_ikine(rt_twolink(), np.eye(4), [0, 0], [1, 1, 1, 0, 0, 0]),
            "rt_ikine: mask is [1, 1, 1, 0, 0, 0]; expected six of 0 or 1, 2 of them 1, as there are 2 joints",
        ),
        (
            lambda: rt_ikine(ARM, np.eye(4), QN, [0.5] * 6),
            "rt_ikine: mask is [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]; expected six of 0 or 1, not all 0",
        ),
        (lambda: rt_ikine(ARM, np.eye(4), [0, 0]), "rt_ikine: q0 has the shape (2,); expected 6 finite numbers"),
        (lambda: rt_ikine(ARM, np.eye(3)), "rt_ikine: T has the shape (3, 3); expected rigid poses (..., 4, 4)"),
        (
            lambda: rt_ikine(ARM, np.broadcast_to(np.eye(4), (2, 2, 4, 4))),
            "rt_ikine: T has the shape (2, 2, 4, 4); expected (4, 4) or (m, 4, 4)",
        ),
        (
            lambda: rt_ikine(ARM, np.zeros((4, 4))),
            "rt_ikine: T is [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0,...; "
            "expected a rigid pose: orthonormal right-handed rotation, last row 0 0 0 1",
        ),
    ],
)
def test_what_cannot_be_is_told(call: object, message: str) -> None:
    with pytest.raises(ArgumentError) as told:
        call()  # type: ignore[operator]
    assert unnamed(told.value, message) == []
