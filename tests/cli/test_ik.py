import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.inverse_kinematics.closed_form import closed_form

Q = [0.1, 0.8, -2.0, 0.3, 0.5, 0.2]


@pytest.fixture(scope="module")
def puma() -> lw.Mechanism:
    return lw.robots.puma560()


def pose(told: object) -> dict[str, list[str]]:
    """The rows of the table of the pose."""
    lines = told.out.partition("\nthe pose")[2].splitlines()  # type: ignore[attr-defined]
    return {line.split()[0]: line.split()[1:] for line in lines if line.strip()}


def joints(told: object) -> np.ndarray:
    """The values in the table of the joints."""
    lines = told.out.partition("\nthe pose")[0].splitlines()  # type: ignore[attr-defined]
    return np.array([float(line.split()[1]) for line in lines if line.lstrip().startswith("link")])


def poses(path: Path, header: str, rows: np.ndarray) -> Path:
    path.write_text(header + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in np.asarray(rows).tolist()))
    return path


def reached(mechanism: lw.Mechanism, answer: dict[str, object], link: int | str = "tool") -> np.ndarray:
    return mechanism.forward_kinematics(np.array(answer["q"]), link=link)


# ── one pose ──────────────────────────────────────────────────────────────────────────────────────


def test_a_position_and_an_orientation(linkwise: Callable, puma: lw.Mechanism) -> None:
    told = linkwise("ik", "puma560", "--position", "0.4,0.2,0.3", "--rpy", "0,180deg,0")
    assert told.status == 0
    T = puma.forward_kinematics(joints(told))
    # Six decimals are printed; the arm is less than a metre long and has six joints.
    assert np.allclose(T[:3, 3], [0.4, 0.2, 0.3], atol=6e-6)
    assert np.allclose(T[:3, :3], np.diag([-1.0, 1.0, -1.0]), atol=6e-6)
    assert pose(told)["x"] == ["0.400000", "0.400000", "m"]
    assert "solved" in told.out.splitlines()[-1]


def test_a_position_alone_leaves_the_orientation_free(linkwise: Callable) -> None:
    told = linkwise("ik", "puma560", "--position", "0.4,0.2,0.3")
    assert told.status == 0
    assert "pose (position only)" in told.out
    assert pose(told)["yaw"][0] == "free"


def test_an_orientation_alone_leaves_the_position_free(linkwise: Callable, puma: lw.Mechanism) -> None:
    told = json.loads(linkwise("ik", "puma560", "--quaternion", "0,2,0,0", "--json").out)
    assert told["counts"] == "abc"
    assert np.allclose(reached(puma, told["answers"][0])[:3, :3], np.diag([1.0, -1.0, -1.0]), atol=1e-8)


def test_letters_say_what_counts(linkwise: Callable) -> None:
    told = linkwise("ik", "planar_3r", "--position", "1,1,5", "--rpy", "0,0,90deg", "--mask", "xyc")
    assert told.status == 0
    assert "the pose (x, y, about z only)" in told.out
    rows = pose(told)
    assert rows["z"] == ["free", "0.000000", "m"]
    assert rows["yaw"] == ["90.0000°", "90.0000°"]


def test_what_cannot_be_reached_is_told_and_is_status_1(linkwise: Callable) -> None:
    told = linkwise("ik", "puma560", "--position", "2,0,0")
    assert told.status == 1
    assert "not reached; the joint values of the nearest pose found" in told.out
    assert "not solved (unreachable)" in told.out
    assert float(pose(told)["x"][1]) == pytest.approx(0.877, abs=1e-3)


def test_the_start_decides_and_another_link_may_be_asked_for(linkwise: Callable, puma: lw.Mechanism) -> None:
    T = puma.forward_kinematics(Q)
    angles = [repr(float(value)) for value in lw.spatial.rotation.rotation_to_rpy(T[:3, :3])]
    place = [repr(float(value)) for value in T[:3, 3]]
    start = ",".join(str(value + 0.05) for value in Q)
    told = linkwise("ik", "puma560", "--position", ",".join(place), "--rpy", ",".join(angles), "--q0", start)
    assert np.allclose(joints(told), Q, atol=1e-6)
    third = puma.forward_kinematics(Q, link="link3")[:3, 3].tolist()
    told = json.loads(linkwise("ik", "puma560", "--position", ",".join(map(repr, third)), "--link", "link3", "--json").out)
    assert np.allclose(reached(puma, told["answers"][0], "link3")[:3, 3], third, atol=1e-8)


@pytest.mark.parametrize("method", ["numeric", "newton_raphson", "steepest_descent"])
def test_methods(linkwise: Callable, method: str) -> None:
    told = linkwise("ik", "planar_2r", "--position", "1,0.5,0", "--mask", "xy", "--method", method, "--tol", "1e-6")
    assert told.status == 0


def test_limits(linkwise: Callable, tmp_path: Path) -> None:
    links = [lw.Link.dh(a=1.0, convention="standard", limits=(-1.0, 1.0)) for _ in range(2)]
    lw.save(lw.Mechanism(links, name="stiff"), tmp_path / "stiff.toml")
    behind = ("ik", "stiff.toml", "--position=-1.5,0,0", "--mask", "xy")
    told = linkwise(*behind)
    assert told.status == 1
    assert "at its upper limit" in told.out or "at its lower limit" in told.out
    assert linkwise(*behind, "--no-limits").status == 0


def test_a_sliding_joint_is_in_metres(linkwise: Callable) -> None:
    told = linkwise("ik", "scara_icomatic", "--position", "0.4,0.2,-0.1")
    row = next(line.split() for line in told.out.splitlines() if line.lstrip().startswith("link3"))
    assert row[2] == "m"
    assert not any("°" in cell for cell in row)


def test_loops_stay_closed(linkwise: Callable) -> None:
    bar = lw.robots.load("four_bar")
    told = json.loads(linkwise("ik", "four_bar", "--link", "crank", "--rpy", "0,0,60deg", "--mask", "c", "--json").out)
    (answer,) = told["answers"]
    assert answer["success"]
    T = reached(bar, answer, "crank")
    assert np.allclose(T[:2, 0], [0.5, np.sqrt(0.75)], atol=1e-9)
    assert np.allclose(bar.kernel("closure")(np.array(answer["q"])), 0.0, atol=1e-9)


# ── every solution ────────────────────────────────────────────────────────────────────────────────


def test_every_solution(linkwise: Callable, puma: lw.Mechanism, tmp_path: Path) -> None:
    arm, name = puma, "puma560"
    T = arm.forward_kinematics(Q)
    np.savetxt(tmp_path / "T.txt", T, fmt="%.17g")
    start = ",".join(map(str, Q))
    told = json.loads(linkwise("ik", name, "--matrix", "T.txt", "--all", "--q0", start, "--json").out)
    q = np.array([answer["q"] for answer in told["answers"]])
    assert len(q) == len(closed_form(arm).all(T, Q)) > 1
    assert np.allclose(arm.forward_kinematics(q), T, atol=1e-9)
    assert np.allclose(q[0], Q, atol=1e-9)
    shown = linkwise("ik", name, "--matrix", "T.txt", "--all", "--q0", start)
    assert shown.status == 0
    assert f"{len(q)} solutions in closed form, the nearest to the start first: " in shown.out
    assert f"{np.degrees(q[1, 0]):.4f}" in shown.out


def test_a_joint_that_is_given(linkwise: Callable) -> None:
    where = ("--position", "0.4,0,0.4", "--rpy", "180deg,0,0", "--all")
    told = json.loads(linkwise("ik", "panda", *where, "--fix", "link7=17deg", "--json").out)
    arm, wanted = lw.robots.panda(), np.array(told["targets"][0])
    assert np.allclose([reached(arm, answer) for answer in told["answers"]], wanted, atol=1e-9)
    assert {answer["q"][6] for answer in told["answers"]} == {np.radians(17.0)}


def test_every_solution_of_a_position(linkwise: Callable) -> None:
    told = json.loads(linkwise("ik", "planar_2r", "--position", "1,1,0", "--all", "--json").out)
    found = np.array([answer["q"] for answer in told["answers"]])
    assert np.allclose(found[np.argsort(found[:, 0])], [[0, np.pi / 2], [np.pi / 2, -np.pi / 2]], atol=1e-9)


def test_no_closed_form_and_no_solution(linkwise: Callable) -> None:
    told = linkwise("ik", "panda", "--position", "0.4,0,0.4", "--rpy", "180deg,0,0", "--all")
    assert told.status == 2
    assert "'panda' has no closed form for this: " in told.err
    assert "--fix JOINT=VALUE holds a joint; without --all" in told.err
    told = linkwise("ik", "puma560", "--position", "3,0,0", "--rpy", "0,0,0", "--all")
    assert told.status == 1
    assert "0 solutions in closed form" in told.out
    assert "target 1: no solution within the joint limits" in told.out


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_of_poses(linkwise: Callable, puma: lw.Mechanism, tmp_path: Path) -> None:
    q = np.array(Q) + np.linspace(0, 0.3, 5)[:, None]
    T = puma.forward_kinematics(q)
    turns = np.degrees([lw.spatial.rotation.rotation_to_rpy(one[:3, :3]) for one in T])
    file = poses(
        tmp_path / "a.csv", "x [mm],y [mm],z [mm],roll [deg],pitch [deg],yaw [deg]", np.c_[1e3 * T[:, :3, 3], turns]
    )
    told = linkwise("ik", "puma560", file, "-o", "joints.csv", "--q0", ",".join(map(str, Q)), "--follow")
    assert told.status == 0
    assert "5 of 5 poses reached" in told.out
    with (tmp_path / "joints.csv").open() as opened:
        rows = list(csv.DictReader(opened))
    found = np.array([[float(row[f"q_link{k} [rad]"]) for k in range(1, 7)] for row in rows])
    assert np.allclose(found, q, atol=1e-7)  # each starts from the one before, so that no other solution is taken
    assert [row["success"] for row in rows] == ["1"] * 5


def test_links_csv_of_run_is_a_file_of_poses(linkwise: Callable, puma: lw.Mechanism, motion_file: Callable) -> None:
    linkwise("run", "puma560", motion_file(6, 4), "-o", "out", "--no-figures", "-q")
    told = linkwise("ik", "puma560", "out/links.csv")
    assert told.status == 2
    assert "link6" in told.err
    assert "--link" in told.err
    told = json.loads(linkwise("ik", "puma560", "out/links.csv", "--link", "link6", "--no-limits", "--json").out)
    assert len(told["targets"]) == 4
    assert all(answer["success"] for answer in told["answers"])


def test_matrices(linkwise: Callable, puma: lw.Mechanism, tmp_path: Path) -> None:
    T = puma.forward_kinematics([Q, np.array(Q) + 0.1])
    (tmp_path / "T.txt").write_text("\n".join(" ".join(map(repr, row)) for one in T.tolist() for row in one))
    told = json.loads(linkwise("ik", "puma560", "--matrix", "T.txt", "--json").out)
    assert np.allclose([reached(puma, answer) for answer in told["answers"]], T, atol=1e-8)


def test_some_of_a_file_out_of_reach(linkwise: Callable, tmp_path: Path) -> None:
    file = poses(tmp_path / "a.csv", "x,y,z", np.array([[0.4, 0.2, 0.3], [3.0, 0.0, 0.0]]))
    told = linkwise("ik", "puma560", file)
    assert told.status == 1
    assert "1 of 2 poses reached" in told.out
    assert "target 2: not solved (unreachable)" in told.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no pose"),
        ("a,b,c\n1,2,3\n", "the header has 'a', 'b' and 'c'; expected x, y, z"),
        ("x,y,z\n1,2\n", "line 2: 2 cells; the header has 3 columns"),
        ("x,y,z\n1,2,three\n", "line 2: column 'z': 'three'"),
        ("x,y,z\n1,,3\n", "line 2: column 'y': the cell is empty"),
        ("x [in],y,z\n1,2,3\n", "line 1: column 'x' is in 'in'; expected 'm' or 'mm'"),
        ("qw,qx,qy,qz\n0,0,0,0\n", "line 2: the quaternion is zero"),
    ],
)
def test_files_that_cannot_be(linkwise: Callable, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    told = linkwise("ik", "planar_2r", "a.csv")
    assert told.status == 2
    assert message in told.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 0\n", "line 1: 3 numbers; expected 4 a line"),
        ("1 0 0 0\n0 1 0 0\n", "2 lines with numbers; expected 4 a pose"),
        ("2 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n", "the matrix"),
    ],
)
def test_matrices_that_cannot_be(linkwise: Callable, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "T.txt").write_text(text)
    told = linkwise("ik", "planar_2r", "--matrix", "T.txt")
    assert told.status == 2
    assert message in told.err


# ── options ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "the target pose is missing"),
        (["nothing.csv"], "nothing.csv: there is no such file"),
        (["a.csv", "--position", "1,0,0"], "'TARGETS' and '--position' each give a target"),
        (["--position", "1,0"], "'1,0' is 2 numbers; expected X,Y,Z in m"),
        (["--rpy", "1,0"], "expected R,P,Y in rad, or with deg"),
        (["--quaternion", "0,0,0,0"], "the quaternion w, x, y, z is zero"),
        (["--rpy", "0,0,0", "--quaternion", "1,0,0,0"], "--rpy and --quaternion both"),
        (["--position", "1,0,0", "--mask", "xyk"], "'xyk' is not 'translation', 'rotation' or 'all', nor letters"),
        (["--position", "1,0,0", "--mask", "xx"], "'xx' is not"),
        (["--position", "1,0,0", "--mask", "rotation"], "needs the orientation, which the target does not have"),
        (["--position", "1,0,0", "--link", "elbow"], "no link 'elbow'; this mechanism has 'link1' and 'link2'"),
        (["--position", "1,0,0", "--q0", "1"], "1 number for 2 joints"),
        (["--position", "1,0,0", "--tol", "0"], "0.0 is not in the range x>0"),
        (["--position", "1,0,0", "--method", "magic"], "is not one of 'auto', 'closed_form'"),
        (["--position", "1,0,0", "-o", "a.txt"], "a file of joint values ends in .csv, not '.txt'"),
        (
            ["--position", "1,0,0", "--mask", "xy", "--all"],
            "--all is for a pose, a position or an orientation, not for 'xy'",
        ),
        (["--position", "1,0,0", "--fix", "link1=0"], "--fix is for --all"),
        (["--position", "1,0,0", "--all", "--fix", "elbow=0"], "'elbow=0' is not JOINT=VALUE with a joint of 'link1'"),
        (["--position", "1,0,0", "--rpy", "0,0,0", "--all", "--follow"], "--follow finds one of them"),
        (["--position", "1,0,0", "--rpy", "0,0,0", "--all", "--method", "numeric"], "--method numeric finds one"),
    ],
)
def test_options_that_cannot_be(linkwise: Callable, options: list[str], message: str) -> None:
    told = linkwise("ik", "planar_2r", *options)
    assert told.status == 2
    assert message in " ".join(told.err.split())


def test_lengths_and_angles_with_their_units(linkwise: Callable) -> None:
    plain = linkwise("ik", "planar_2r", "--position", "0.6,0.5,0", "--mask", "xy", "--json").out
    assert linkwise("ik", "planar_2r", "--position", "600mm,50cm,0m", "--mask", "xy", "--json").out == plain
    for option, message in (("600deg,0,0", "a length stands here"), ("0.6m,1rad,0", "a length stands here")):
        told = linkwise("ik", "planar_2r", "--position", option, "--mask", "xy")
        assert told.status == 2
        assert f"{message}; expected a number in m, or with 'm', 'cm' or 'mm'" in told.err
    assert "without a unit" in linkwise("ik", "planar_2r", "--quaternion", "1m,0,0,0").err


def test_all_of_an_arm_without_a_closed_form_come_by_elimination(linkwise: Callable) -> None:
    arm = lw.robots.load("gen3_lite")
    told = json.loads(
        linkwise("ik", "gen3_lite", "--position", "0.25,0.1,0.3", "--rpy", "0,180deg,0", "--all", "--json").out
    )
    assert len(told["answers"]) == len(arm.all_inverse_kinematics(reached(arm, told["answers"][0]))) > 0
    assert "elimination" in told["answers"][0]["explanation"]


def test_all_of_a_configuration_and_with_turns(linkwise: Callable, puma: lw.Mechanism) -> None:
    where = ("ik", "puma560", "--position", "0.4,0.2,0.3", "--rpy", "0,180deg,0")
    every = json.loads(linkwise(*where, "--all", "--no-limits", "--json").out)["answers"]
    up = json.loads(linkwise(*where, "--all", "--no-limits", "--configuration", "elbow=up,wrist=flip", "--json").out)[
        "answers"
    ]
    assert [answer["q"] for answer in up] == [
        answer["q"] for answer in every if {"elbow": "up", "wrist": "flip"}.items() <= answer["configuration"].items()
    ]
    turns = json.loads(linkwise(*where, "--all", "--turns", "--json").out)["answers"]
    T = puma.forward_kinematics(turns[0]["q"])
    assert len(turns) == len(puma.all_inverse_kinematics(T, turns=True)) > 0
    for words, message in (("elbow=left", "expected 'up' or 'down'"), ("elbow", "is not NAME=WORD")):
        wrong = linkwise(*where, "--all", "--configuration", words)
        assert wrong.status == 2
        assert message in wrong.err
    assert "--turns is for --all" in linkwise(*where, "--turns").err
