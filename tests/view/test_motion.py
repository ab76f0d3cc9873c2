"""Motions as they are shown: read from everything that holds one, with efforts, remarks, and curves with few points."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots, trajectory
from linkwise.errors import ArgumentError, FileError
from linkwise.files import save_motion
from linkwise.inverse_kinematics.interactive.follower import TargetFollower
from linkwise.model.tree import BASE_EFFORTS
from linkwise.trajectory import Trajectory
from linkwise.view.motion import DERIVED, ShownMotion, motion_of

EPS = float(np.finfo(float).eps)


@cache
def arm():
    return robots.planar_2r()


@cache
def crank():
    return robots.slider_crank()


@cache
def craft():
    return Mechanism(
        [Link(joint="fixed", mass=2.0, name="hull"), Link(mass=1.0, com=(0.1, 0, 0), name="arm")], floating=True
    )


@cache
def planned():
    return trajectory.quintic([0.0, 0.0], [1.0, -0.5], 2.0)


@cache
def turning():
    """The slider crank turned once at a constant speed: instants and closed positions."""
    follower = TargetFollower(crank())
    t, q = np.linspace(0.0, 1.0, 81), [follower.start()]
    for angle in 2.0 * np.pi * t:
        q.append(follower.move("crank", float(angle), q[-1]).q)
    return t, np.array(q[1:])


def test_a_trajectory_is_shown_as_it_is_with_the_efforts_of_inverse_dynamics():
    made, motion = planned(), ShownMotion.of(arm(), planned())
    for name in ("t", "q", "qd", "qdd"):
        assert np.array_equal(getattr(motion, name), getattr(made, name))
    assert np.array_equal(motion.efforts, arm().inverse_dynamics(made.q, made.qd, made.qdd))
    assert (motion.why_no_efforts, motion.remarks, motion.duration) == ("", (), 2.0)
    assert np.array_equal(motion.at(0.77), made.at(0.77)[0])


def test_friction_and_what_acts_on_the_tool_count_as_in_a_run():
    puma, push = robots.puma560(), [0.0, 0.0, 10.0, 0.0, 0.0, 0.0]
    made = trajectory.quintic(np.full(6, 0.1), np.full(6, 0.3), 1.0)
    motion = ShownMotion.of(puma, made, external=push)
    assert np.array_equal(motion.efforts, puma.inverse_dynamics(made.q, made.qd, made.qdd, push))
    assert np.abs(puma.friction_torque(made.qd)).max() > 0.1


def test_efforts_that_were_recorded_are_shown():
    made = planned().with_records(tau=np.ones((len(planned()), 2)))
    assert np.array_equal(ShownMotion.of(arm(), made).efforts, made.tau)


@pytest.mark.parametrize("suffix", [".csv", ".mot", ".npz"])
def test_every_file_of_a_motion_is_read(tmp_path, suffix):
    path = tmp_path / f"motion{suffix}"
    made = Trajectory(0.25 * np.arange(5), *(np.outer(np.arange(5.0), [0.1, 0.2]) for _ in range(3)))
    made.save(path)
    motion = ShownMotion.of(arm(), str(path))
    for name in ("t", "q", "qd", "qdd"):
        assert np.array_equal(getattr(motion, name), getattr(made, name))


def test_a_file_of_a_floating_base_is_read(tmp_path):
    t, q = np.array([0.0, 1.0]), np.array([[0, 0, 0, 1.0, 0, 0, 0, 0.1], [1.0, 0, 0, 1.0, 0, 0, 0, 0.2]])
    qd = np.array([[1.0, 0, 0, 0, 0, 0, 0.1]] * 2)
    save_motion(tmp_path / "m.csv", t, q, qd, 0 * qd, floating=True)
    motion = ShownMotion.of(craft(), tmp_path / "m.csv")
    assert np.array_equal(motion.q, q)
    # (the weight is 3 kg times 9.81 m/s2, upright)
    assert motion.efforts[0][:3] == pytest.approx([0.0, 0.0, 3 * 9.81], abs=0.05)
    assert motion.series("effort")[2][:6] == BASE_EFFORTS
    assert motion.series("position")[3] == ("m",) * 3 + ("quaternion",) * 4 + ("rad",)
    assert motion.series("velocity")[3] == ("m/s",) * 3 + ("rad/s",) * 4
    assert motion.series("effort")[3] == ("N",) * 3 + ("N m",) * 4


def test_times_count_from_the_first_instant():
    late = Trajectory([5.0, 7.0], [[0.0, 0.0], [2.0, 2.0]], np.ones((2, 2)), np.zeros((2, 2)))
    motion = ShownMotion.of(arm(), late)
    assert motion.t.tolist() == [0.0, 2.0]
    assert motion.at(0.0).tolist() == motion.at(-1.0).tolist() == [0.0, 0.0]
    assert motion.at(2.0).tolist() == motion.at(3.0).tolist() == [2.0, 2.0]
    assert motion.at(0.5) == pytest.approx(0.5, abs=8 * EPS)
    assert motion.series("position")[0][0] == 0.0


def test_positions_alone_give_the_rates_of_a_parabola_exactly():
    t = np.array([0.0, 0.3, 0.5, 1.1, 1.2])
    q = np.stack([1.0 + 2.0 * t - 3.0 * t**2, 0.5 * t**2], axis=1)
    motion = ShownMotion.of(arm(), (t, q))
    # differences of differences: values of 5 divided by steps of 0.1 twice, with some roundings
    assert motion.qd == pytest.approx(np.stack([2.0 - 6.0 * t, t], axis=1), abs=200 * EPS)
    assert motion.qdd == pytest.approx(np.tile([-6.0, 1.0], (5, 1)), abs=2000 * EPS)
    assert "parabolas" in motion.remarks[0]


def test_positions_of_a_floating_base_alone_give_its_twist():
    t = np.linspace(0.0, 1.0, 11)
    half = 0.25 * t
    q = np.stack([t, 0 * t, 0 * t, np.cos(half), 0 * t, 0 * t, np.sin(half), 2.0 * t], axis=1)
    motion = ShownMotion.of(craft(), (t, q))
    expected = np.stack([np.cos(0.5 * t), -np.sin(0.5 * t), *np.zeros((3, 11)), np.full(11, 0.5), np.full(11, 2.0)], axis=1)
    # (v as seen from a base that turns at 0.5 rad/s changes at 0.5 m/s2; parabolas over 0.2 s are off by h^2/6 of its
    # third derivative inside, four times that at the ends)
    assert motion.qd == pytest.approx(expected, abs=4 * 0.1**2 / 6)


def test_one_and_two_instants_are_motions_too():
    one = ShownMotion.of(arm(), ([3.0], [[0.1, 0.2]]))
    assert (one.duration, one.at(0.0).tolist(), one.qd.tolist()) == (0.0, [0.1, 0.2], [[0.0, 0.0]])
    assert one.series("effort")[1].shape == (1, 2)
    two = ShownMotion.of(arm(), ([0.0, 2.0], [[0.0, 0.0], [1.0, 2.0]]))
    assert two.qd.tolist() == [[0.5, 1.0]] * 2
    assert two.qdd.tolist() == [[0.0, 0.0]] * 2


def test_a_loop_takes_the_effort_of_its_motor():
    t, q = turning()
    motion = ShownMotion.of(crank(), (t, q))
    assert motion.why_no_efforts == ""
    assert (motion.efforts[:, 1:] == 0.0).all()
    assert np.array_equal(motion.efforts, crank().actuator_efforts(q, motion.qd, motion.qdd))
    # the power of the motor is the rate of the energy: differences over two steps of 1/80 s, in which it turns by 0.16 rad,
    # are off by 0.16^2 / 24 of the third derivative, and the harmonics of the rod make that a few times larger
    energy = crank().kinetic_energy(q, motion.qd) + crank().potential_energy(q)
    power = motion.efforts[:, 0] * motion.qd[:, 0] - (crank().friction_torque(motion.qd) * motion.qd).sum(axis=1)
    rate = (energy[2:] - energy[:-2]) / (t[2:] - t[:-2])
    assert np.abs(rate - power[1:-1]).max() < 5 * 0.16**2 / 24 * np.abs(power).max()
    assert motion.remarks == (DERIVED,)


def test_a_loop_without_motors_says_why_it_has_no_efforts_until_it_is_said_what_drives():
    t, q = turning()
    bare = crank().replace(motors=(), links=[link.replace(motor=None) for link in crank().links])
    motion = ShownMotion.of(bare, (t, q))
    assert motion.efforts is None
    assert "no motors" in motion.why_no_efforts
    with pytest.raises(ArgumentError, match=r"there are no efforts: .* no motors"):
        motion.series("effort")
    assert ShownMotion.of(bare, (t, q), driven=["crank"]).efforts.shape == q.shape


def test_open_loops_are_told_and_shown_as_they_are():
    t, q = turning()
    q = q.copy()
    q[40, 2] += 0.01
    motion = ShownMotion.of(crank(), (t, q, np.zeros_like(q), np.zeros_like(q)))
    assert motion.efforts is None
    assert "open" in motion.why_no_efforts
    assert [remark for remark in motion.remarks if "loops are open at 1 of 81 instants" in remark and "at 0.5 s" in remark]
    assert np.array_equal(motion.q, q)


def test_joints_outside_their_limits_and_too_fast_are_told():
    held = Mechanism([Link(joint="revolute", limits=(-1.0, 1.0), qd_max=2.0, name="hinge", mass=1.0)])
    motion = ShownMotion.of(
        held, (np.arange(5.0), [[0.0], [1.0], [1.1], [-3.0], [0.0]], np.full((5, 1), 2.5), np.zeros((5, 1)))
    )
    assert motion.remarks == (
        "joint 'hinge' is outside its limits at 2 of 5 instants",
        "joint 'hinge' is faster than its limit at 5 of 5 instants",
    )
    assert motion.q[2, 0] == 1.1


def test_without_masses_there_are_no_efforts():
    motion = ShownMotion.of(robots.stanford(), (np.arange(3.0), np.zeros((3, 6))))
    assert motion.efforts is None
    assert motion.why_no_efforts == "no masses are given for 'stanford'"
    assert "without efforts" in repr(motion)


def test_curves_keep_their_peaks():
    t = np.linspace(0.0, 10.0, 20001)
    q = np.stack([np.sin(t), np.cos(3 * t)], axis=1)
    q[12345, 0] = 7.0
    motion = ShownMotion.of(arm(), Trajectory(t, q, 0 * q, 0 * q))
    for most in (4, 100, 600):
        times, columns, names, units = motion.series("position", most)
        assert len(times) <= most
        assert (np.diff(times) >= 0.0).all()
        assert columns.max(axis=0).tolist() == q.max(axis=0).tolist()
        assert columns.min(axis=0).tolist() == q.min(axis=0).tolist()
    assert (names, units) == (arm().names, ("rad", "rad"))
    whole = motion.series("position", 20001)
    assert np.array_equal(whole[1], q)


def test_units_follow_the_joints():
    motion = ShownMotion.of(crank(), turning())
    assert [motion.series(kind)[3][2] for kind in ("position", "velocity", "acceleration", "effort")] == [
        "m",
        "m/s",
        "m/s²",
        "N",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3.0, "motion is 3.0; expected a Trajectory"),
        ([[0.0, 0.0]] * 3, r"configurations alone have no times: \(t, q\) with the 3 times t, s"),
        (([0.0, 1.0], np.zeros((2, 3))), r"shapes \(2,\) and \(2, 3\); expected \(T,\) and \(T, 2\)"),
        (([0.0, 0.0], np.zeros((2, 2))), "do not ascend"),
        (([], np.zeros((0, 2))), "shapes"),
        (Trajectory([0.0, 1.0], *np.zeros((3, 4, 2, 2))), "batch of shape"),
        (Trajectory([0.0, 1.0], *np.zeros((3, 2, 3))), "has 2 joints; the trajectory has 3"),
        (Trajectory([0.0, 1.0], [[0, 0], [np.nan, 0]], *np.zeros((2, 2, 2))), "not finite at t = 1 s"),
    ],
)
def test_what_is_no_motion_of_the_mechanism_is_refused(given, said):
    with pytest.raises(ArgumentError, match=said):
        ShownMotion.of(arm(), given)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(FileError, match=r"nothing\.csv"):
        ShownMotion.of(arm(), tmp_path / "nothing.csv")
    (tmp_path / "short.csv").write_text("t,q1,qd1,qdd1\n0,0,0,0\n")
    with pytest.raises(FileError, match="q2"):
        ShownMotion.of(arm(), tmp_path / "short.csv")


@pytest.mark.parametrize(("kind", "most"), [("torque", 600), ("position", 3), ("position", 10.0), ("position", True)])
def test_series_refuses_other_kinds_and_counts(kind, most):
    with pytest.raises(ArgumentError, match="expected"):
        ShownMotion.of(arm(), planned()).series(kind, most)


def test_a_motion_is_taken_as_it_is():
    motion = ShownMotion.of(arm(), planned())
    assert motion_of(arm(), motion) is motion
    assert motion_of(arm(), planned()).duration == 2.0


def test_a_motion_of_another_mechanism_is_taken_anew_or_refused():
    motion = ShownMotion.of(arm(), planned())
    assert motion_of(arm(), motion) is motion
    heavy = arm().replace(name="heavy")
    assert motion_of(heavy, motion).mechanism is heavy
    with pytest.raises(ArgumentError, match="has 6 joints; the trajectory has 2"):
        motion_of(robots.puma560(), motion)


def test_what_is_no_time_and_no_orientation_is_refused():
    with pytest.raises(ArgumentError, match="time is nan"):
        ShownMotion.of(arm(), planned()).at(np.nan)
    q = np.zeros((2, craft().nq))
    q[0, 3] = 1.0
    with pytest.raises(ArgumentError, match=r"quaternion 0, 0, 0, 0 of its base at t = 1 s"):
        ShownMotion.of(craft(), ([0.0, 1.0], q))
