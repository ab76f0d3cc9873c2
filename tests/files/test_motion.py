"""Joint motions: the manual's files, exact round trips, bounded memory, and every mistake named with its line."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import linkwise
from linkwise.errors import ArgumentError, FileError
from linkwise.files import check_motion, open_motion, save_motion
from linkwise.files.csv_motion import header
from linkwise.files.motion import positions
from linkwise.model.tree import floating_base
from linkwise.spacelib.programs import formats

GOOD = "0.5\n1 2 3\n4 5 6\n\n7 8 9\n10 11 12\n"
HEADER = "t,q1,q2,qd1,qd2,qdd1,qdd2\n"
CSV = HEADER + "0,1,4,2,5,3,6\n0.5,7,10,8,11,9,12\n"


def written(tmp_path: Path, content: str | bytes, name: str) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_scara() -> None:
    motion = open_motion(formats.path("SCARA.MOT"), 3)
    assert motion.dt == 0.05
    t, q, qd, qdd = motion.read()
    assert t.tolist() == [0, 0.05]
    assert q.tolist() == [[0, 0, 0], [0.1, 0.1, 0]]
    assert qd.tolist() == [[1, 2, 0], [1.1, 2.1, 0]]
    assert qdd.tolist() == [[10, 20, 0], [11, 21, 0]]


def test_smart() -> None:
    t, q, qd, qdd = open_motion(formats.path("SMART.MOT"), 6).read()
    assert t.tolist() == [0]
    assert q.tolist() == [[0, 1.57, -1.57, 0, 0.26, 0]]
    assert (qd == 0.5).all()
    assert (qdd == 2).all()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (GOOD, "a.mot"),
        (GOOD.replace("\n", " "), "a"),
        ("\ufeff" + GOOD.replace("\n", "\r\n"), "a.mot"),
        (GOOD.replace("\n", "\r"), "a.mot"),
        (GOOD.replace("12", "1.2D1"), "a.mot"),
        (CSV, "a.csv"),
        ("\ufeff" + CSV.replace("\n", "\r\n\r\n"), "a.txt"),
        (CSV.replace(",", ";"), "a.csv"),
        (CSV.replace(",", " , "), "a.csv"),
        (CSV.replace("\n", "\r"), "a.csv"),
        ("tau,time,q_a,b,qd_a,qd_b,qdd_a,qdd_b\nx,0,1,4,2,5,3,6\ny,0.5,7,10,8,11,9,12", "a.csv"),
    ],
)
def test_any_form(tmp_path: Path, content: str, name: str) -> None:
    t, q, qd, qdd = open_motion(written(tmp_path, content, name), 2, ("a", "b")).read()
    assert t.tolist() == [0, 0.5]
    assert q.tolist() == [[1, 4], [7, 10]]
    assert qd.tolist() == [[2, 5], [8, 11]]
    assert qdd.tolist() == [[3, 6], [9, 12]]


@pytest.mark.parametrize("suffix", [".mot", ".CSV"])
def test_round_trip_is_exact(tmp_path: Path, suffix: str) -> None:
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 5000, 4)) * 10.0 ** np.arange(-20, 20, 10)
    path = tmp_path / f"a{suffix}"
    save_motion(path, 0.001, q, qd, qdd)
    motion = open_motion(path, 4)
    back = motion.read()
    np.testing.assert_array_equal(back[0], np.arange(5000) * 0.001)
    for there, here in zip((q, qd, qdd), back[1:], strict=True):
        np.testing.assert_array_equal(there, here)
    np.testing.assert_array_equal(motion.read()[1], q)  # a second pass reads the file again


def test_blocks_cover_the_file_and_report_progress(tmp_path: Path) -> None:
    q = np.arange(90_000.0).reshape(-1, 3)
    save_motion(tmp_path / "a.mot", 0.1, q, q, q)
    motion = open_motion(tmp_path / "a.mot", 3)
    rows, shares = [], []
    for t, block, _, _ in motion:
        assert len(t) == len(block) <= 4096
        rows.append(block)
        shares.append(motion.consumed / motion.size)
    np.testing.assert_array_equal(np.concatenate(rows), q)
    assert shares == sorted(shares)
    assert len(shares) > 5
    assert motion.consumed == motion.size


@pytest.mark.parametrize("suffix", [".mot", ".csv"])
def test_memory_is_bounded(tmp_path: Path, suffix: str) -> None:
    q = np.random.default_rng(1).normal(size=(30_000, 6))
    path = tmp_path / f"a{suffix}"
    save_motion(path, 0.001, q, q, q)
    assert path.stat().st_size > 10e6
    motion = open_motion(path, 6)
    tracemalloc.start()
    try:
        count = sum(len(t) for t, *_ in motion)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == len(q)
    assert peak < 7e6


NO_STEP = "expected a number > 0; is the first number, the time step, missing?"
UNEVEN = "; line 7 has 2 numbers where the others have 3"

BAD = [
    ("a.mot", "", "the file is empty; expected the time step dt, then q qd qdd of each joint"),
    ("a.mot", "0.5\n", "line 1: the file ends after the time step; expected q qd qdd of each joint"),
    ("a.mot", "0\n" + GOOD[4:], f"line 1: the time step dt is 0.0; {NO_STEP}"),
    (
        "a.mot",
        GOOD + "1 2\n3",
        f"line 8: the file ends within instant 3: 3 of 6 numbers are missing (q qd qdd of 2 joints){UNEVEN}",
    ),
    ("a.mot", GOOD.replace("8", "eight"), "line 5: 'eight' is not a number"),
    ("a.mot", GOOD.replace("8", "0,8"), "line 5: '0,8' has a decimal comma; write '0.8'"),
    ("a.mot", GOOD.replace("8", "nan"), "line 5: 'nan' is not a finite number"),
    ("a.mot", GOOD.replace("8", "-Infinity"), "line 5: '-Infinity' is not a finite number"),
    ("a.mot", GOOD.replace("8", "1e999"), "line 5: '1e999' is too large for a number"),
    ("a.mot", GOOD.replace("8", "1_0"), "line 5: '1_0' is not a number"),
    ("a.mot", GOOD.replace("\n", "\r\n").replace("8", "x"), "line 5: 'x' is not a number"),
    ("a.mot", "half " + GOOD, "line 1: 'half' is not a number"),
    ("a.mot", b"\x80\x81 1 2 3", "line 1: '\\\\x80\\\\x81' is not a number"),
    ("a.csv", HEADER, "line 1: there is no instant after the header"),
    (
        "a.csv",
        CSV.replace("qd2,", ""),
        "line 1: the header has no column 'qd2'; it has 't', 'q1', 'q2', 'qd1', 'qdd1' and 'qdd2'",
    ),
    ("a.csv", CSV.replace("qd2", "qd1"), None),
    ("a.csv", CSV.replace("q2", "q1", 1), None),
    ("a.csv", CSV.replace("8", "x"), "line 3: column 'qd1': 'x' is not a number"),
    ("a.csv", CSV.replace("8", ""), "line 3: column 'qd1': the cell is empty"),
    ("a.csv", CSV.replace("8", "1 2"), "line 3: column 'qd1': '1 2' is not a number"),
    ("a.csv", CSV.replace("8", "nan"), "line 3: column 'qd1': 'nan' is not a finite number"),
    ("a.csv", CSV.replace(",12", ""), "line 3: 6 cells; the header has 7 columns"),
    ("a.csv", CSV.replace(",6\n", ",6,\n"), "line 2: 8 cells; the header has 7 columns"),
    ("a.csv", CSV.replace("0.5,", "0,"), "line 3: the time 0.0 does not come after the time before it"),
    ("a.csv", "hello", None),
]


@pytest.mark.parametrize(("name", "content", "expected"), BAD)
def test_each_mistake_is_named(tmp_path: Path, name: str, content: str | bytes, expected: str | None) -> None:
    path = written(tmp_path, content, name)
    with pytest.raises(FileError) as caught:
        open_motion(path, 2).read()
    told = str(caught.value).removeprefix(f"{path}: ").removeprefix("line 1: the file is" if not content else "")
    if expected is not None:
        assert told == expected.removeprefix("the file is" if not content else "")
    assert [str(problem) for problem in check_motion(path, 2)] == [str(problem) for problem in caught.value.problems]


def test_a_late_mistake_is_found_on_its_line(tmp_path: Path) -> None:
    lines = ["0.1", *["1.25 2.5 3.125"] * 100_000]
    lines[77_777] = "1 2 three"
    for ending in ("\n", "\r\n"):
        path = written(tmp_path, ending.join(lines), "a.mot")
        assert check_motion(path, 1)[0].line == 77_778
    assert check_motion(written(tmp_path, "0.1 " + "x" * 10**6, "b.mot"), 1)[0].message.endswith(
        "without a break; this is not a motion file"
    )


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        open_motion(tmp_path / "none.mot", 2)
    with pytest.raises(FileError, match="this is a folder"):
        open_motion(tmp_path, 2)


def test_arguments(tmp_path: Path) -> None:
    q = np.zeros((2, 3))
    with pytest.raises(ArgumentError, match="n is 0"):
        open_motion(formats.path("SCARA.MOT"), 0)
    with pytest.raises(ArgumentError, match="2 names for 3"):
        open_motion(formats.path("SCARA.MOT"), 3, ("a", "b"))
    with pytest.raises(ArgumentError, match="shapes"):
        save_motion(tmp_path / "a.mot", 0.1, q, q, q[:1])
    with pytest.raises(ArgumentError, match="finite"):
        save_motion(tmp_path / "a.mot", 0.1, q, q, q * np.nan)
    with pytest.raises(FileError, match="suffix"):
        save_motion(tmp_path / "a.txt", 0.1, q, q, q)
    with pytest.raises(FileError, match=r"the time step is 0\.0"):
        save_motion(tmp_path / "a.mot", 0.0, q, q, q)
    with pytest.raises(FileError, match="holds times 0, dt, 2 dt"):
        save_motion(tmp_path / "a.mot", [0.1, 0.2], q, q, q)
    with pytest.raises(FileError, match="one instant defines no time step"):
        save_motion(tmp_path / "a.mot", [0.0], q[:1], q[:1], q[:1])
    with pytest.raises(ArgumentError, match="t has the shape"):
        save_motion(tmp_path / "a.csv", [0.0], q, q, q)
    assert not list(tmp_path.iterdir())


def test_csv_keeps_any_times_and_names(tmp_path: Path) -> None:
    q = np.arange(6.0).reshape(3, 2)
    save_motion(tmp_path / "a.csv", [-1.0, 0.5, 7.0], q, q, q, names=("a", "b"))
    motion = open_motion(tmp_path / "a.csv", 2, ("a", "b"))
    assert motion.dt is None
    assert motion.read()[0].tolist() == [-1.0, 0.5, 7.0]


def test_csv_may_state_si_units_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("t [s],q1 [rad],qd1 [rad/s],qdd1 [rad/s2],tau1 [N m]\n0,1,2,3,4\n")
    ((t, q, qd, qdd),) = open_motion(path, 1)
    assert (t.tolist(), q.tolist(), qd.tolist(), qdd.tolist()) == ([0.0], [[1.0]], [[2.0]], [[3.0]])
    path.write_text("t,q1 [deg],qd1,qdd1\n0,1,2,3\n")
    with pytest.raises(FileError, match=r"1.*'q1'.*'deg'.*'rad'.*'m'"):
        list(open_motion(path, 1))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("q3", "column 'q3' is of no joint: there are 2 joints"),
        ("qd3 [rad/s]", "column 'qd3' is of no joint: there are 2 joints"),
        ("qdd0", "column 'qdd0' is of no joint: there are 2 joints"),
        ("qd_elbow", "column 'qd_elbow' is of no joint: there are 2 joints and none has that name"),
        ("tau_elbow", None),
        ("qw", None),
        ("q_a", None),
    ],
)
def test_a_motion_of_further_joints_is_refused(tmp_path: Path, column: str, expected: str | None) -> None:
    path = written(
        tmp_path,
        CSV.replace("qdd2\n", f"qdd2,{column}\n").replace("3,6\n", "3,6,0\n").replace("9,12\n", "9,12,0\n"),
        "a.csv",
    )
    told = [problem.message for problem in check_motion(path, 2, ("a", "b"))]
    assert told == ([expected] if expected else [])


# ── a floating base ───────────────────────────────────────────────────────────────────────────────

POSE = "base_x,base_y,base_z,base_qw,base_qx,base_qy,base_qz"
RATE = "base_vx,base_vy,base_vz,base_wx,base_wy,base_wz"
FLYING = f"t,{POSE},q1,{RATE},qd1,{','.join(f'qdd_{name}' for name in RATE.split(','))},qdd_arm\n"
ROW = "0,1,2,3,0.6,0,0.8,0,4,1,2,3,4,5,6,7,-1,-2,-3,-4,-5,-6,-7\n"


def test_a_floating_motion_is_read(tmp_path: Path) -> None:
    for head in (FLYING, FLYING.replace("base_x", "q_base_x [m]").replace("base_qw", "q_base_qw [1]")):
        t, q, qd, qdd = open_motion(written(tmp_path, head + ROW, "a.csv"), 1, ("arm",), floating=True).read()
        assert t.tolist() == [0]
        assert q.tolist() == [[1, 2, 3, 0.6, 0, 0.8, 0, 4]]
        assert qd.tolist() == [[1, 2, 3, 4, 5, 6, 7]]
        assert qdd.tolist() == [[-1, -2, -3, -4, -5, -6, -7]]


@pytest.mark.parametrize("names", [(), ("arm", "hand")])
def test_a_floating_motion_survives(tmp_path: Path, names: tuple[str, ...]) -> None:
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(5, 9)), rng.normal(size=(5, 8)), rng.normal(size=(5, 8))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    save_motion(tmp_path / "a.csv", 0.1, q, qd, qdd, names=names, floating=True)
    back = open_motion(tmp_path / "a.csv", 2, names, floating=True).read()
    for found, wanted in zip(back[1:], (q, qd, qdd), strict=True):
        assert found.tobytes() == wanted.tobytes()
    save_motion(tmp_path / "b.csv", 0.1, q[:, :7], qd[:, :6], qdd[:, :6], floating=True)
    assert open_motion(tmp_path / "b.csv", 0, floating=True).read()[1].shape == (5, 7)


def test_headers() -> None:
    assert header(2, ("a", "b"), ()) == ["t", "q_a", "q_b", "qd_a", "qd_b", "qdd_a", "qdd_b"]
    assert header(1, (), [floating_base()])[1:10] == [*(f"q_{name}" for name in POSE.split(",")), "q1", "qd_base_vx"]


BAD_FLIGHTS = [
    (
        "a.csv",
        HEADER.replace(",q2,", ",").replace("qd2,", "").replace(",qdd2", "") + "0,1,2,3\n",
        "line 1: the header has no column 'q_base_x', 'q_base_y', 'q_base_z', 'q_base_qw', 'q_base_qx', 'q_base_qy', "
        "'q_base_qz', 'qd_base_vx', 'qd_base_vy', 'qd_base_vz', 'qd_base_wx', 'qd_base_wy', 'qd_base_wz', 'qdd_base_vx', "
        "'qdd_base_vy', 'qdd_base_vz', 'qdd_base_wx', 'qdd_base_wy' or 'qdd_base_wz'; it "
        "has 't', 'q1', 'qd1' and 'qdd1'",
    ),
    (
        "a.csv",
        FLYING + ROW.replace("0.8", "0.9"),
        "line 2: the quaternion base_qw, base_qx, base_qy, base_qz has the length 1.08166538; expected 1",
    ),
    (
        "a.csv",
        FLYING + ROW + "1" + ROW.replace("0.6,0,0.8", "0,0,0")[1:],
        "line 3: the quaternion base_qw, base_qx, base_qy, base_qz has the length 0; expected 1",
    ),
    ("a.csv", FLYING.replace("base_wx", "base_wx [rad/s2]", 1) + ROW, "column 'base_wx' is in 'rad/s2'; expected 'rad/s'"),
    ("a.csv", FLYING.replace("base_qw", "base_qw [rad]") + ROW, "line 1: column 'base_qw' is in 'rad'; expected '1'"),
    ("a.csv", FLYING.replace("qdd_arm", "qdd_arm,q7") + ROW, "line 1: column 'q7' is of no joint: there is 1 joint"),
    (
        "a.mot",
        GOOD,
        "a .MOT file holds the motion of joints only, and the base floats; the motion must be a .csv",
    ),
]


@pytest.mark.parametrize(("name", "content", "expected"), BAD_FLIGHTS)
def test_each_mistake_of_a_flight_is_named(tmp_path: Path, name: str, content: str, expected: str) -> None:
    (problem,) = check_motion(written(tmp_path, content, name), 1, ("arm",), floating=True)
    assert str(problem).endswith(expected)


def test_a_flight_is_of_no_mechanism_on_the_ground(tmp_path: Path) -> None:
    path = written(tmp_path, FLYING.replace("base_x", "q_base_x") + ROW, "a.csv")
    (problem,) = check_motion(path, 1, ("arm",))
    assert problem.message == "column 'q_base_x' is of no joint: there is 1 joint and none has that name"


def test_arguments_of_a_flight(tmp_path: Path) -> None:
    q, qd = np.zeros((2, 8)), np.zeros((2, 7))
    with pytest.raises(ArgumentError, match=r"\(k, n \+ 7\).*\(k, n \+ 6\).*\(k, n \+ 6\)"):
        save_motion(tmp_path / "a.csv", 0.1, q, q, q, floating=True)
    with pytest.raises(ArgumentError, match=r"expected \(k, n\) for all three"):
        save_motion(tmp_path / "a.csv", 0.1, q, qd, qd)
    with pytest.raises(ArgumentError, match="2 names for 1 joint coordinates"):
        save_motion(tmp_path / "a.csv", 0.1, q, qd, qd, names=("a", "b"), floating=True)
    with pytest.raises(FileError, match=r"a \.MOT file holds the motion of joints only"):
        save_motion(tmp_path / "a.mot", 0.1, q, qd, qd, floating=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("left_out", "hint"),
    [
        (("qd1", "qdd1", "qdd2"), "(or 'qd_a' and so on, by name)"),
        (("qd2",), "(or 'qd_b', by name)"),
        (("q1", "q2", "qd1", "qd2", "qdd1", "qdd2"), "(or 'q_a' and so on, by name)"),
    ],
)
def test_the_hint_names_what_is_missing(tmp_path: Path, left_out: tuple[str, ...], hint: str) -> None:
    kept = [name for name in HEADER.strip().split(",") if name not in left_out]
    path = written(tmp_path, ",".join(kept) + "\n" + ",".join("0" * len(kept)) + "\n", "a.csv")
    with pytest.raises(FileError) as caught:
        list(open_motion(path, 2, ("a", "b")))
    assert f"'{left_out[-1]}' {hint}; it has" in str(caught.value)


def test_positions_alone_are_told_with_what_makes_a_motion_of_them(tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 151)
    q = np.stack([np.sin(t), t**2], axis=1)
    rows = "".join(f"{at!r},{a!r},{b!r}\n" for at, (a, b) in zip(t.tolist(), q.tolist(), strict=True))
    path = written(tmp_path, "t,a,b\n" + rows, "a.csv")
    with pytest.raises(FileError, match=r"line 1.*qd1.*qdd2.*through") as caught:
        open_motion(path, 2, ("a", "b"))
    alone = positions(path, 2, ("a", "b"))
    assert alone is not None
    assert np.array_equal(alone[0], t)
    assert np.array_equal(alone[1], q)
    advice = str(caught.value).rpartition("compute them by ")[2].replace("motion.csv", str(tmp_path / "motion.csv"))
    exec(advice, {"linkwise": linkwise, "q": alone[1], "t": alone[0]})
    again = open_motion(tmp_path / "motion.csv", 2).read()
    assert np.array_equal(again[0], t)
    assert np.abs(again[1] - q).max() < 1e-14  # a spline through the points, evaluated at them: rounding
    assert positions(tmp_path / "motion.csv", 2) is None
    with pytest.raises(FileError, match="there is no such file"):
        positions(tmp_path / "none.csv", 2)


def test_times_beyond_all_numbers(tmp_path: Path) -> None:
    motion = open_motion(written(tmp_path, "1e308\n" + "1 2 3\n" * 4, "a.mot"), 1)
    with pytest.raises(FileError, match=r"line 1: the time step dt is 1e\+308"):
        motion.read()


def test_a_header_of_blanks_is_read_at_once(tmp_path: Path) -> None:
    """A cell of n blanks took time in proportion to n cubed."""
    start = time.process_time()
    with pytest.raises(FileError, match="has no column"):
        open_motion(written(tmp_path, "t," + " " * 60_000 + "x\n1,2\n", "a.csv"), 1)
    assert time.process_time() - start < 5  # hours before
