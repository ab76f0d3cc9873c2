"""ELB_D_DH, ELB_D_PA and ELB_I_DH: agreement of both frames, finite differences, and closure of the gripper."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.spacelib.programs import elbow_inverse, formats
from linkwise.spacelib.programs.elbow import (
    GripperMotion,
    elb_d_dh,
    elb_d_pa,
    read_gripper,
    read_guess,
    read_lengths,
    save_gripper,
    written,
)
from linkwise.spacelib.programs.elbow_inverse import LISTED_TOLERANCE, elb_i_dh
from linkwise.spacelib.programs.laws import Motion, joint_motion, read_motion, save_motion

LENGTHS = read_lengths(formats.path("ELBOW.DAT"))
GUESS = read_guess(formats.path("GUESS.1ST"))
NAMES = ("q", "qp", "qpp", "pos", "vel", "acc")


def smooth(rows=40, seed=3, dt=0.01, size=0.6) -> Motion:
    """Joints that swing about a bent posture, far from all singular ones."""
    rng = np.random.default_rng(seed)
    w, phase, height = rng.uniform(2.0, 6.0, 6), rng.uniform(0.0, 6.0, 6), rng.uniform(0.3, 1.0, 6) * size
    middle = np.array([0.4, 0.7, -1.1, 0.5, 0.9, 0.3])
    t = dt * np.arange(rows)
    at = t[:, None] * w + phase
    return Motion(dt, t, middle + height * np.sin(at), height * w * np.cos(at), -height * w * w * np.sin(at))


REST = np.zeros(6)


def posture(q, qp=REST, qpp=REST) -> Motion:
    return Motion(0.01, np.zeros(1), *(np.array([part], dtype=float) for part in (q, qp, qpp)))


@pytest.mark.parametrize("made", [joint_motion(), joint_motion(first=0.0), smooth()])
@pytest.mark.parametrize("lengths", [LENGTHS, np.array([1.0, 0.5, 0.7, 0.3, 0.4, 0.25])])
def test_both_frames_agree(made, lengths) -> None:
    one, other = elb_d_dh(lengths, made), elb_d_pa(lengths, made)
    for name in ("M", "W", "H"):
        found, expected = getattr(one, name), getattr(other, name)
        assert np.abs(found - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())
    for name in NAMES:
        found, expected = getattr(one.gripper, name), getattr(other.gripper, name)
        turns = 2 * np.pi * np.round((found - expected) / (2 * np.pi)) if name == "q" else 0.0
        # angles of the convention amplify by 1 / cos(second) and its square, which stays above 0.05 here
        assert np.abs(found - expected - turns).max() <= 1e-10 * max(1.0, np.abs(expected).max())


def test_the_robot_is_the_bundled_one() -> None:
    arm, made = lw.robots.elbow(), smooth()
    found = elb_d_dh(LENGTHS, made)
    assert np.abs(found.M - arm.forward_kinematics(made.q)).max() < 1e-14
    twist = (arm.jacobian(made.q) @ made.qp[..., None])[..., 0]
    bias = (arm.jacobian_dot(made.q, made.qp) @ made.qp[..., None])[..., 0]
    second = (arm.jacobian(made.q) @ made.qpp[..., None])[..., 0] + bias
    assert np.abs(found.gripper.vel - twist[:, :3]).max() < 1e-13 * 30
    assert np.abs(found.gripper.acc - second[:, :3]).max() < 1e-13 * 300


def test_angles_and_rates_are_those_of_the_gripper() -> None:
    made = smooth(rows=2001, dt=1e-4)
    gripper = elb_d_dh(LENGTHS, made).gripper
    assert np.abs(Rotation.from_matrix(elb_d_dh(LENGTHS, made).M[:, :3, :3]).as_euler("XYZ") - gripper.q).max() < 1e-12
    # central differences: error h^2/6 of the third derivative, some hundreds, 1e-6; angles jump by whole turns nowhere here
    for value, rate in (
        (gripper.q, gripper.qp),
        (gripper.qp, gripper.qpp),
        (gripper.pos, gripper.vel),
        (gripper.vel, gripper.acc),
    ):
        slope = (value[2:] - value[:-2]) / (2 * made.dt)
        assert np.abs(slope - rate[1:-1]).max() < 1e-5 * max(1.0, np.abs(rate).max())


def test_screen_shows_three_matrices_for_each_instant() -> None:
    text = "".join(written(elb_d_dh(LENGTHS, smooth(rows=2))))
    assert text.count("Time=") == 2
    for name in ("position", "velocity", "acceleration"):
        assert text.count(f"The {name} matrix of the gripper is:") == 2
    assert "Time=0.010000" in text


# ── inverse ───────────────────────────────────────────────────────────────────────────────────────


def closed(gripper: GripperMotion, again: GripperMotion, bounds) -> None:
    """The same positions, speeds and accelerations; angles may differ by whole turns."""
    for name, bound in zip(NAMES, bounds, strict=True):
        found, wanted = getattr(again, name), getattr(gripper, name)
        turns = 2 * np.pi * np.round((found - wanted) / (2 * np.pi)) if name == "q" else 0.0
        assert np.abs(found - wanted - turns).max() <= bound * max(1.0, np.abs(wanted).max()), name


@pytest.mark.parametrize("guess", [GUESS, np.zeros(6)])
def test_through_files_the_gripper_closes(guess, tmp_path) -> None:
    made = joint_motion()
    save_motion(tmp_path / "JOINT.MOT", made)
    first = elb_d_dh(LENGTHS, read_motion(tmp_path / "JOINT.MOT", 6)).gripper
    save_gripper(tmp_path / "GRIPPER.MOT", first)
    found = elb_i_dh(LENGTHS, read_gripper(tmp_path / "GRIPPER.MOT"), guess)
    save_motion(tmp_path / "JOINT2.MOT", found.motion)
    second = elb_d_dh(LENGTHS, read_motion(tmp_path / "JOINT2.MOT", 6)).gripper
    # angles and rates lose 1 / cos(second angle), its square and cube; the rest is rounding
    closed(first, second, (1e-13, 1e-12, 1e-11, 1e-13, 1e-13, 1e-13))
    assert found.closure.max() < 1e-13


def test_a_regular_motion_gives_back_the_joints() -> None:
    made = smooth()
    found = elb_i_dh(LENGTHS, elb_d_dh(LENGTHS, made).gripper, made.q[0] + 0.1)
    assert found.rank.tolist() == [6] * 40
    # errors are those of the gripper, 1e-15, times the condition of the Jacobian, below 100; accelerations reach 30
    assert found.condition.max() < 100.0
    assert np.abs(found.motion.q - made.q).max() < 1e-12
    assert np.abs(found.motion.qp - made.qp).max() < 1e-11
    assert np.abs(found.motion.qpp - made.qpp).max() < 1e-10
    assert found.iterations[1:].max() <= 4  # each begins where the one before leads


def test_out_of_the_singular_home_position() -> None:
    made = joint_motion(first=0.0)
    gripper = elb_d_dh(LENGTHS, made).gripper
    exact, near = elb_i_dh(LENGTHS, gripper, np.zeros(6)), elb_i_dh(LENGTHS, gripper, GUESS)
    for found in (exact, near):
        assert found.rank[0] == 4
        assert found.rank[1:40].tolist() == [6] * 39
        assert found.closure[:, :2].max() < 1e-13
        assert found.closure[1:, 2].max() < 1e-13
    # At home itself angles are found to the root of the rounding, and so are accelerations, relative to 707 rad/s2.
    assert exact.closure[0, 2] < 1e-13
    assert near.closure[0, 2] < 1e-7
    assert np.abs(near.motion.q[0]).max() < 1e-6


def test_the_wrist_becomes_singular_and_closes() -> None:
    """From 0.4 s on joint 5 rests at half a turn; joints 4 and 6, and the first, then leave one direction free."""
    found = elb_i_dh(LENGTHS, elb_d_dh(LENGTHS, joint_motion()).gripper, GUESS)
    assert 5 in found.rank[40:]
    assert found.closure.max() < 1e-13


def test_no_whole_turns_are_added() -> None:
    made = joint_motion()
    found = elb_i_dh(LENGTHS, elb_d_dh(LENGTHS, made).gripper, np.zeros(6))
    assert np.abs(np.diff(found.motion.q[:40], axis=0)).max() < np.pi
    assert np.abs(found.motion.q[:20] - made.q[:20]).max() < 1e-9
    assert found.motion.q[:40, 5].max() > 6.0  # a whole turn of joint 6 is one, and is kept


def test_the_guess_chooses_among_whole_turns() -> None:
    made = smooth(rows=1)
    turned = made.q[0] + 2 * np.pi * np.array([1, 0, -1, 0, 2, 0])
    found = elb_i_dh(LENGTHS, elb_d_dh(LENGTHS, made).gripper, turned + 0.05)
    assert np.abs(found.motion.q[0] - turned).max() < 1e-12


def test_turns_made_on_the_way_are_taken_back() -> None:
    """From bad guesses some joints pass half a turn; the angle nearest to the guess is given."""
    gripper = elb_d_dh(LENGTHS, posture([0.4, 0.7, -1.1, 0.5, 0.9, 0.3])).gripper
    for guess in ([2.3, 0.7, 2.6, 0.7, 2.5, 0.1], [0.3, -1.3, -2.4, -3.0, 2.4, 1.0], [0.3, 2.7, 2.2, -1.5, 2.5, -0.6]):
        found = elb_i_dh(LENGTHS, gripper, guess)
        assert found.closure.max() < 1e-13
        assert np.abs(found.motion.q[0] - guess).max() <= np.pi


def test_the_listed_tolerance_leaves_joints_wrong() -> None:
    made = joint_motion()
    gripper = elb_d_dh(LENGTHS, made).gripper
    found = elb_i_dh(LENGTHS, gripper, GUESS, tolerance=LISTED_TOLERANCE, most=15)
    assert 1e-4 < found.closure[:, 0].max() <= LISTED_TOLERANCE
    assert 0.01 < np.abs(found.motion.q[0] - made.q[0]).max() < 0.05
    again = elb_d_dh(LENGTHS, found.motion).gripper
    assert np.abs(again.pos - gripper.pos).max() + np.abs(again.q - gripper.q).max() > 1e-4


def test_convergence_in_the_last_step_counts() -> None:
    made = smooth(rows=1)
    gripper = elb_d_dh(LENGTHS, made).gripper
    count = int(elb_i_dh(LENGTHS, gripper, GUESS, tolerance=1e-6).iterations[0])
    assert elb_i_dh(LENGTHS, gripper, GUESS, tolerance=1e-6, most=count).iterations[0] == count
    with pytest.raises(ArgumentError, match=f"not solved: after {count - 1} steps"):
        elb_i_dh(LENGTHS, gripper, GUESS, tolerance=1e-6, most=count - 1)


def test_six_decimals_as_the_manual_has_them_can_be_followed(tmp_path) -> None:
    gripper = elb_d_dh(LENGTHS, joint_motion()).gripper
    save_gripper(tmp_path / "GRIPPER.MOT", gripper, "manual")
    found = elb_i_dh(LENGTHS, read_gripper(tmp_path / "GRIPPER.MOT"), GUESS)
    assert found.closure[found.rank == 6].max() < 1e-9  # at singular instants rounded rates cannot be met
    again = elb_d_dh(LENGTHS, found.motion).gripper
    assert np.abs(again.pos - gripper.pos).max() <= 0.51e-6


def test_any_convention_can_be_read() -> None:
    made = smooth(rows=5)
    gripper = elb_d_dh(LENGTHS, made).gripper
    M = elb_d_dh(LENGTHS, made).M
    other = Rotation.from_matrix(M[:, :3, :3]).as_euler("ZXZ")
    zero = np.zeros((5, 3))
    still = GripperMotion(0.01, gripper.t, (2, 0, 2), other, zero, zero, gripper.pos, zero, zero)
    found = elb_i_dh(LENGTHS, still, made.q[0])
    assert np.abs(elb_d_dh(LENGTHS, found.motion).M - M).max() < 1e-13
    assert np.abs(found.motion.qp).max() < 1e-14


def test_random_places_close() -> None:
    rng = np.random.default_rng(4)
    failed = 0
    for _ in range(30):
        q = rng.uniform(-1.5, 1.5, 6)
        made = posture(q, rng.normal(size=6), rng.normal(size=6))
        gripper = elb_d_dh(LENGTHS, made).gripper
        try:
            found = elb_i_dh(LENGTHS, gripper, q + rng.uniform(-0.2, 0.2, 6))
        except ArgumentError:  # the method promises nothing near a singular position; a failure is told
            failed += 1
            continue
        assert found.closure.max() < 1e-11
        closed(gripper, elb_d_dh(LENGTHS, found.motion).gripper, (1e-9, 1e-8, 1e-6, 1e-12, 1e-11, 1e-10))
    assert failed <= 1


def test_out_of_reach_is_told() -> None:
    gripper = elb_d_dh(LENGTHS, smooth(rows=3)).gripper
    beyond = gripper.pos + np.array([[0.0], [0.0], [9.0]])
    far = replace(gripper, pos=beyond)
    with pytest.raises(ArgumentError, match=r"3.*0\.02.*100"):
        elb_i_dh(LENGTHS, far, smooth(rows=1).q[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: elb_d_dh(LENGTHS[:5], smooth()), "expected the lengths of 6 links, finite numbers"),
        (lambda: elb_d_pa([np.nan] * 6, smooth()), "expected the lengths of 6 links, finite numbers"),
        (lambda: elb_d_dh(LENGTHS, joints(5)), "elb_d_dh: the motion is of 5 joints; expected 6"),
        (lambda: elb_d_pa(LENGTHS, joints(7)), "elb_d_pa: the motion is of 7 joints; expected 6"),
        (lambda: elb_i_dh(LENGTHS, still(), np.zeros(5)), "expected the angles of 6 joints, finite numbers"),
        (lambda: elb_i_dh(LENGTHS, still(), "abc"), "guess is 'abc'; expected the angles of 6 joints, finite numbers"),
        (lambda: elb_d_dh("abc", smooth()), "lengths is 'abc'; expected the lengths of 6 links, finite numbers"),
        (lambda: elb_i_dh(LENGTHS, still(), GUESS, most=-1), "most is -1; expected a whole number of 0 or more"),
        (lambda: elb_i_dh(LENGTHS, replace(still(), t=np.empty(0)), GUESS), "gripper is a motion of no instants"),
        (lambda: elb_i_dh(LENGTHS, still(), GUESS, tolerance=0.0), "tolerance is 0.0; expected a number > 0"),
        (
            lambda: elb_d_dh(LENGTHS, posture([np.pi / 2, np.pi / 2, 0, 0, 0, 0])),
            "instant 1 (t = 0 s): the gripper's second Cardan angle is",
        ),
    ],
)
def test_what_is_refused(call, message) -> None:
    with pytest.raises(ArgumentError) as told:
        call()
    assert message in str(told.value)


def joints(n):
    at = np.zeros((2, n))
    return Motion(0.1, np.array([0.0, 0.1]), at, at, at)


def still():
    return elb_d_dh(LENGTHS, smooth(rows=1)).gripper


def test_what_the_program_prints() -> None:
    text = "".join(elbow_inverse.written(elb_i_dh(LENGTHS, still(), smooth(rows=1).q[0])))
    for words in (
        " Time=0.000000",
        "The joint angles q are",
        "The joint velocities qp are",
        "The joint accelerations qpp are",
    ):
        assert words in text


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_the_inverse_of_a_robot_of_any_size(size: float) -> None:
    """What counts as reached is a part of the lengths."""
    made = smooth(rows=3)
    found = elb_i_dh(size * LENGTHS, elb_d_dh(size * LENGTHS, made).gripper, made.q[0] + 0.1)
    if size > 1:
        # The Jacobian's condition is below 100 here.
        assert np.abs(np.sin(found.motion.q - made.q)).max() <= 1e-12
    assert (found.closure[:, 0] <= 1e-12 * max(1.0, size)).all()


@pytest.mark.parametrize("program", [elb_d_dh, elb_d_pa])
def test_rates_of_parallel_joints_cancel(program) -> None:
    """Joints 2 to 4 are parallel: the gripper moves and does not turn, and its Cardan angles have no rates."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        rates = rng.normal(size=2)
        made = program(LENGTHS, posture(rng.uniform(0.2, 1.0, 6), [0.0, *rates, -rates.sum(), 0.0, 0.0]))
        # Rates of up to 3 rad/s cancel to rounding; 1 / cos(second angle) is below 10 here.
        assert np.abs(made.gripper.qp).max() <= 64 * 2.2e-16 * 10
        assert np.abs(made.gripper.vel).max() > 0.01
