"""Motion files of the sample programs: what is written can be read, in the manual's layout; refinement of a motion."""

import numpy as np
import pytest

from linkwise.errors import ArgumentError, FileError
from linkwise.spacelib.programs.laws import Motion, cycloidal, joint_motion, motor_motion, read_motion, refined, save_motion


@pytest.mark.parametrize(("made", "joints"), [(joint_motion(), 6), (motor_motion(), 1)])
def test_all_digits_read_back_as_they_were(made, joints, tmp_path) -> None:
    save_motion(tmp_path / "a.mot", made)
    read = read_motion(tmp_path / "a.mot", joints)
    assert read.dt == made.dt
    for name in ("q", "qp", "qpp"):
        assert np.array_equal(getattr(read, name), getattr(made, name))
    assert np.array_equal(read.t, made.dt * np.arange(len(made.t)))


def test_manual_layouts(tmp_path) -> None:
    save_motion(tmp_path / "JOINT.MOT", joint_motion(), "joint")
    assert (tmp_path / "JOINT.MOT").read_text().splitlines()[:3] == [
        "0.01",
        "0.00115 0.25447 28.27440",
        "0.00106 0.23562 26.17994",
    ]
    save_motion(tmp_path / "TEST.MOT", motor_motion(), "motor")
    assert (tmp_path / "TEST.MOT").read_text().splitlines()[:3] == [
        "0.002",
        "0.000000E+00 0.000000E+00 0.000000E+00",
        "5.556914E-07 8.334976E-04 8.333989E-01",
    ]
    assert len(read_motion(tmp_path / "JOINT.MOT", 6).t) == len(joint_motion().t)


def test_unknown_digits_write_nothing(tmp_path) -> None:
    with pytest.raises(ArgumentError, match=r"digits.*'few'.*'all'.*'joint'.*'motor'"):
        save_motion(tmp_path / "a.mot", motor_motion(), "few")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; expected the time step dt, then q qd qdd of each joint"),
        ("0.1\n0 0 x", "line 2: 'x' is not a number"),
        ("0.1\n0 0 0\n0 0", "line 3: the file ends within instant 2: 1 of 3 numbers are missing (q qd qdd of 1 joint)"),
        (
            "-0.1\n0 0 0",
            "line 1: the time step dt is -0.1; expected a number > 0; is the first number, the time step, missing?",
        ),
        ("t,q1,qd1,qdd1\n0,0,0,0\n", "line 1: this is no .MOT file: expected the time step dt first"),
    ],
)
def test_malformed(text, message, tmp_path) -> None:
    path = tmp_path / "motion"
    path.write_text(text)
    with pytest.raises(FileError) as told:
        read_motion(path, 1)
    assert message in str(told.value)


def test_refined_meets_the_samples_and_the_law_between_them() -> None:
    made = motor_motion()
    finer = refined(made, 4)
    assert (finer.dt, len(finer.t)) == (made.dt / 4, 4 * (len(made.t) - 1) + 1)
    for name in ("q", "qp", "qpp"):
        assert np.array_equal(getattr(finer, name)[::4], getattr(made, name))
    # the error of quintic interpolation: sixth derivative times h^6 / 46080, here 1e-14, and of its second derivative
    # about h^4 / 1920 times the sixth derivative, 2e-8; not in the last interval, within which the motor stops
    inside = finer.t <= made.t[-2]
    q, _, qpp = cycloidal(finer.t[inside], 0.391023, 1 / 3)
    assert np.abs(finer.q[inside, 0] - q).max() < 5e-14
    assert np.abs(finer.qpp[inside, 0] - qpp).max() < 5e-8
    assert refined(made, 1) is made


def test_refined_refuses_less_than_one_part() -> None:
    at = np.zeros((2, 1))
    with pytest.raises(ArgumentError, match=r"parts.*0.*whole.*1"):
        refined(Motion(1.0, np.arange(2.0), at, at, at), 0)
