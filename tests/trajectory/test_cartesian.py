import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.rotation import rotation_about, rotation_x, rotation_z, rotations_about
from linkwise.spatial.transform import is_rigid, transform
from linkwise.trajectory import cartesian, cartesian_through

from .conftest import EPS, random_poses, slope

RNG = np.random.default_rng(17)
POSES = random_poses(RNG, 4, 5)
TIMES = np.array([0.0, 1.0, 2.5, 3.0, 4.0])
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0

MOVES = {
    "line": lambda profile: cartesian(POSES[:, 0], POSES[:, 1], 2.0, profile=profile),
    "line as fast as allowed": lambda profile: cartesian(
        POSES[:, 0], POSES[:, 1], speed=(1.0, 2.0), acceleration=(4.0, 3.0), profile=profile
    ),
    "stops": lambda profile: cartesian_through(POSES, TIMES, profile=profile),
    "blends": lambda profile: cartesian_through(POSES, TIMES, blend=0.4, profile=profile),
    "stops as fast as allowed": lambda profile: cartesian_through(
        POSES, speed=(1.0, 2.0), acceleration=(4.0, 3.0), profile=profile
    ),
}


@pytest.mark.parametrize("profile", ["quintic", "trapezoidal"])
def test_the_origin_goes_straight_and_the_axis_stays(profile: str) -> None:
    move = MOVES["line"](profile)
    way = POSES[:, 1, :3, 3] - POSES[:, 0, :3, 3]
    aside = np.cross(move.poses[..., :3, 3] - POSES[:, :1, :3, 3], way[:, None, :])
    relative = POSES[:, 1, :3, :3] @ np.swapaxes(POSES[:, 0, :3, :3], -1, -2)
    axis = axis_and_angle(relative)[0]
    tilted = np.cross(move.twist[..., 3:], axis[:, None, :])
    print(f"{np.abs(aside).max():.1e}, {np.abs(tilted).max():.1e}")
    assert np.abs(aside).max() < 100 * EPS  # some roundings of positions and ways of a few metres, multiplied
    assert np.abs(tilted).max() < 100 * EPS * np.abs(move.twist).max()


@pytest.mark.parametrize("profile", ["quintic", "trapezoidal"])
def test_ends_are_met_at_rest(profile: str) -> None:
    for name, make in MOVES.items():
        move = make(profile)
        last = POSES[:, 1] if name.startswith("line") else POSES[:, -1]
        error = max(np.abs(move.poses[:, 0] - POSES[:, 0]).max(), np.abs(move.poses[:, -1] - last).max())
        print(f"{name}: {error:.1e}")
        assert error < 16 * EPS * 4  # a few products of rotations, one to each leg
        assert np.abs(move.twist[:, [0, -1]]).max() < 1e-12  # the last instant of a sum of legs may be early by a rounding


@pytest.mark.parametrize("profile", ["quintic", "trapezoidal"])
@pytest.mark.parametrize("name", MOVES)
def test_twist_and_acceleration_are_derivatives(name: str, profile: str) -> None:
    """Angular velocity from R' R^T; no instant within 2 h of a jump of the acceleration or of what follows it."""
    move = MOVES[name](profile)
    h = 5e-4
    t = np.linspace(2.1 * h, move.duration - 2.1 * h, 701)
    knots = move.evaluate.args[0].t.ravel()
    t = t[np.abs(t[:, None] - knots).min(axis=1) > 2.05 * h]
    pose, twist, acceleration = move.at(t)
    rates = slope(lambda s: move.at(s)[0], t, h)
    spin = rates[..., :3, :3] @ np.swapaxes(pose[..., :3, :3], -1, -2)
    w = np.stack((spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]), axis=-1)
    errors = (
        np.abs(rates[..., :3, 3] - twist[..., :3]).max(),
        np.abs(w - twist[..., 3:]).max(),
        np.abs(slope(lambda s: move.at(s)[1], t, h) - acceleration).max(),
    )
    print(f"{len(t)} instants: " + ", ".join(f"{error:.1e}" for error in errors))
    assert len(t) > 500
    # h^4/30 times the fifth derivative, and 1.5 roundings of up to 10 over h. A quintic of 3 m or rad in 0.5 s has
    # derivatives of up to 11, 69, 1440, 17280, 69120; its sine and cosine a fifth one of their Bell polynomial, 6e6.
    line, turn = (h**4 / 30 * fifth + 15 * EPS / h for fifth in (69120, 6e6))
    assert errors[0] < line
    assert errors[1] < turn
    assert errors[2] < turn


@pytest.mark.parametrize("name", MOVES)
def test_poses_are_rigid(name: str) -> None:
    poses = MOVES[name]("quintic").poses
    assert all(is_rigid(poses[place], 50 * EPS) for place in np.ndindex(poses.shape[:2]))


@pytest.mark.parametrize("profile", ["quintic", "trapezoidal"])
def test_limits_are_kept_and_touched(profile: str) -> None:
    for name in ("line as fast as allowed", "stops as fast as allowed"):
        move = MOVES[name](profile)
        assert move.t[0] == 0.0
        _, twist, acceleration = move.at(np.linspace(0, move.duration, 40001))
        shares = np.stack(
            [
                np.linalg.norm(part, axis=-1).max(axis=-1) / limit
                for whole, limits in ((twist, (1.0, 2.0)), (acceleration, (4.0, 3.0)))
                for part, limit in ((whole[..., :3], limits[0]), (whole[..., 3:], limits[1]))
            ]
        )
        print(name, shares.max(axis=0))
        assert shares.max() <= 1 + 1e-12
        # each of the batch touches; under quintic the instants are 5e-4 s apart: off by the square of that
        if name.startswith("line"):
            assert shares.max(axis=0).min() > 1 - (1e-6 if profile == "quintic" else 1e-12)
        assert shares.max() > 1 - (1e-6 if profile == "quintic" else 1e-12)


def test_quintic_under_limits_takes_the_known_time() -> None:
    far = transform(None, [3.0, 0.0, 0.0])
    for speed, acceleration, duration in (
        ((0.5, 1.0), (9.0, 9.0), 15.0 / 8.0 * 3.0 / 0.5),
        ((9.0, 9.0), (0.5, 1.0), np.sqrt(10.0 / np.sqrt(3.0) * 3.0 / 0.5)),
    ):
        move = cartesian(np.eye(4), far, speed=speed, acceleration=acceleration)
        assert move.duration == pytest.approx(duration, rel=4 * EPS)


def test_trapezoid_in_a_given_time_has_thirds() -> None:
    move = cartesian(np.eye(4), transform(None, [3.0, 0.0, 0.0]), 3.0, profile="trapezoidal", samples=4)
    assert move.twist[:, 0].tolist() == pytest.approx([0.0, 1.5, 1.5, 0.0], abs=1e-15)
    assert move.acceleration[0, 0] == pytest.approx(1.5)


def test_stops_meet_each_pose_and_stand() -> None:
    move = MOVES["stops"]("quintic")
    pose, twist, acceleration = move.at(TIMES)
    assert np.abs(pose - POSES).max() < 64 * EPS
    assert np.abs(twist).max() < 1e-12
    assert np.abs(acceleration).max() < 1e-12


def test_blends_pass_near_and_do_not_stop() -> None:
    move = MOVES["blends"]("quintic")
    pose, twist, _ = move.at(TIMES[1:-1])
    missed = np.linalg.norm(pose[..., :3, 3] - POSES[:, 1:-1, :3, 3], axis=-1)
    legs = np.linalg.norm(np.diff(POSES[..., :3, 3], axis=-2), axis=-1)
    assert np.all(missed > 0)
    assert np.all(missed < 0.25 * (legs[:, 1:] + legs[:, :-1]))
    assert np.linalg.norm(twist[..., :3], axis=-1).min() > 0.1


@pytest.mark.parametrize("profile", ["quintic", "trapezoidal"])
@pytest.mark.parametrize("name", ["line", "stops", "blends"])
def test_batch_equals_loop(name: str, profile: str) -> None:
    many = MOVES[name](profile)
    for k, poses in enumerate(POSES):
        one = {
            "line": lambda p=poses: cartesian(p[0], p[1], 2.0, profile=profile),
            "stops": lambda p=poses: cartesian_through(p, TIMES, profile=profile),
            "blends": lambda p=poses: cartesian_through(p, TIMES, blend=0.4, profile=profile),
        }[name]()
        for a, b in ((many.poses, one.poses), (many.twist, one.twist), (many.acceleration, one.acceleration)):
            assert np.array_equal(a[k], b)


def test_a_batch_under_limits_has_times_of_its_own() -> None:
    t = np.linspace(0.0, 20.0, 400)
    many = cartesian(POSES[:, 0], POSES[:, 1], t, speed=(1.0, 2.0), acceleration=(4.0, 3.0), profile="trapezoidal")
    for k in range(4):
        one = cartesian(POSES[k, 0], POSES[k, 1], t, speed=(1.0, 2.0), acceleration=(4.0, 3.0), profile="trapezoidal")
        assert np.array_equal(many.poses[k], one.poses)
        assert np.array_equal(many.twist[k], one.twist)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-3, 1.0, 3.0, np.pi - 1e-5])
def test_turns_of_any_size(angle: float) -> None:
    start = rotation_x(0.3)
    move = cartesian(transform(start, None), transform(start @ rotation_about(AXIS, angle), None), 1.0)
    turn = start @ AXIS * angle
    speed = move.at(0.5)[1][3:]
    assert np.abs(speed - 15.0 / 8.0 * turn).max() < 8 * EPS * max(angle, 1.0)
    assert np.abs(move.poses[-1, :3, :3] - start @ rotation_about(AXIS, angle)).max() < 8 * EPS


def test_a_half_turn_has_no_shortest_way() -> None:
    half = transform(rotation_about(AXIS, np.pi), [1.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match=r"poses.*0.*1.*apart"):
        cartesian(np.eye(4), half, 1.0)
    many = np.stack([np.stack([np.eye(4)] * 3), np.stack([np.eye(4), np.eye(4), half])])
    with pytest.raises(ArgumentError, match=r"poses.*1.*2.*member.*\(1,\)"):
        cartesian_through(many, [0.0, 1.0, 2.0])
    between = cartesian_through([np.eye(4), transform(rotation_about(AXIS, 1.5), None), half], [0.0, 1.0, 2.0])
    assert np.abs(between.poses[-1] - half).max() < 32 * EPS


def test_poses_as_printed_are_made_exact() -> None:
    printed = POSES.round(7)
    move = cartesian_through(printed, TIMES)
    assert is_rigid(move.poses[0, 33], 50 * EPS)
    assert np.abs(move.at(TIMES)[0] - printed).max() < 5e-7  # the digits that are missing


def test_turns_about_an_axis() -> None:
    assert np.abs(rotations_about(AXIS[None], np.array([0.7])) - rotation_about(AXIS, 0.7)).max() < 2 * EPS


def test_what_does_not_move_stands_still() -> None:
    still = cartesian(POSES[0, 0], POSES[0, 0], 1.0)
    assert np.abs(still.poses - POSES[0, 0]).max() < 4 * EPS
    assert not still.twist.any()
    for profile in ("quintic", "trapezoidal"):
        at_once = cartesian(POSES[0, 0], POSES[0, 0], speed=(1, 1), acceleration=(1, 1), profile=profile)
        assert len(at_once) == 1
        partly = cartesian(POSES[:2, 0], POSES[[0, 1], [0, 1]], speed=(1, 1), acceleration=(1, 1), profile=profile)
        assert np.abs(partly.poses[0] - POSES[0, 0]).max() < 4 * EPS
        assert np.abs(partly.poses[1, -1] - POSES[1, 1]).max() < 16 * EPS
        stays = [POSES[0, 0], POSES[0, 1], POSES[0, 1], POSES[0, 2]]
        move = cartesian_through(stays, speed=(1, 1), acceleration=(1, 1), profile=profile)
        assert np.abs(move.poses[-1] - POSES[0, 2]).max() < 32 * EPS


def test_member_and_words() -> None:
    move = MOVES["stops"]("quintic")
    assert repr(move) == "<CartesianTrajectory: 101 instants from 0 to 4 s, batch (4,)>"
    assert repr(move.member(2)) == "<CartesianTrajectory: 101 instants from 0 to 4 s>"
    assert len(move) == 101
    assert all(np.array_equal(a[2], b) for a, b in zip(move.at(1.7), move.member(2).at(1.7), strict=True))
    turned_about = cartesian(np.eye(4), transform(rotation_z(1.0), None), 1.0)
    assert turned_about.at([0.0, 1.0])[1].shape == (2, 6)
    with pytest.raises(ValueError, match="read-only"):
        move.poses[0, 0, 0, 0] = 1.0
