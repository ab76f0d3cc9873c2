"""A floating base on the command line: run, check, show."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import files
from linkwise.dynamics.link_states import base_poses, link_states

OUT = np.eye(4)
OUT[0, 3] = 0.4


def craft() -> lw.Mechanism:
    """A hull that floats, an arm that turns and a boom that slides on it."""
    hull = lw.Link(joint="fixed", name="hull", mass=4.0, inertia=(0.1, 0.2, 0.25))
    arm = lw.Link(
        name="arm", parent="hull", before=OUT, axis=(0, 1, 0), mass=1.0, com=(0.2, 0, 0), inertia=(0.0, 0.02, 0.02)
    )
    boom = lw.Link(name="boom", joint="prismatic", axis=(1, 0, 0), mass=0.5, limits=(-0.1, 0.2))
    return lw.Mechanism([hull, arm, boom], floating=True, base=OUT, gravity=(0, 0, -2.0), name="craft")


@pytest.fixture
def flight(tmp_path: Path) -> tuple[Path, lw.Trajectory]:
    """The craft as craft.toml, a simulated flight of it as flight.csv."""
    files.save(craft(), tmp_path / "craft.toml")
    qd0 = [0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 1.0, 0.3]
    flown = lw.simulate(craft(), None, qd0, torque=[0, 0, 0, 0, 0, 0, 0.2, -0.1], t=(1.0, 0.01))
    path = tmp_path / "flight.csv"
    files.save_motion(path, flown.t, flown.q, flown.qd, flown.qdd, names=craft().names, floating=True)
    return path, flown


def columns(path: Path) -> dict[str, list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_run_writes_and_tells_the_base(linkwise: Callable, flight: tuple[Path, lw.Trajectory], tmp_path: Path) -> None:
    path, flown = flight
    told = linkwise("run", "craft.toml", path, "-o", "res")
    assert told.status == 0, told.err
    for words in ("floating base", "along x", "about z", "arm", "boom"):
        assert words in told.out
    assert "flight.OUT left out: SpaceLib's layout has no place for a base that floats" in told.out
    assert "remark: joint 'boom' is outside its limits at " in told.out
    assert sorted(file.name for file in (tmp_path / "res").iterdir()) == [
        "joint_forces.png", "joints.csv", "joints.png", "links.csv",
    ]  # fmt: skip
    found = columns(tmp_path / "res" / "joints.csv")
    names = list(found)
    assert names[1:9] == [
        "q_base_x [m]", "q_base_y [m]", "q_base_z [m]",
        "q_base_qw [1]", "q_base_qx [1]", "q_base_qy [1]", "q_base_qz [1]", "q_arm [rad]",
    ]  # fmt: skip
    assert names[-8:] == [
        "tau_base_fx [N]", "tau_base_fy [N]", "tau_base_fz [N]",
        "tau_base_mx [N m]", "tau_base_my [N m]", "tau_base_mz [N m]", "tau_arm [N m]", "tau_boom [N]",
    ]  # fmt: skip
    tau = np.array([found[name] for name in names[-8:]], dtype=float).T
    assert np.array_equal(tau, craft().inverse_dynamics(flown.q, flown.qd, flown.qdd))
    print(f"efforts off by {np.abs(tau - flown.tau).max():.1e}")
    assert np.abs(tau - flown.tau).max() < 1e-12  # some 10 N of rounding, forth and back


def test_what_run_writes_can_be_run_and_simulated_again(
    linkwise: Callable, flight: tuple[Path, lw.Trajectory], tmp_path: Path
) -> None:
    path, flown = flight
    linkwise("run", "craft.toml", path, "-o", "one", "-q", "--no-figures")
    assert linkwise("run", "craft.toml", "one/joints.csv", "-o", "two", "-q", "--no-figures").status == 0
    assert (tmp_path / "one" / "joints.csv").read_bytes() == (tmp_path / "two" / "joints.csv").read_bytes()
    qd = ",".join(map(repr, flown.qd[0].tolist()))
    told = linkwise("simulate", "craft.toml", "--torque", "one/joints.csv", "--qd", qd, "--dt", "0.01", "-o", "sim")
    assert told.status == 0, told.err
    again = lw.Trajectory.load(tmp_path / "sim" / "trajectory.npz")
    print(f"off by {np.abs(again.q - flown.q).max():.1e}")
    assert np.abs(again.q - flown.q).max() < 1e-12  # the same steps, but for the rounding of the efforts


def test_few_instants_tell_the_base(linkwise: Callable, flight: tuple[Path, lw.Trajectory], tmp_path: Path) -> None:
    path, flown = flight
    lines = path.read_text().splitlines()
    (tmp_path / "one.csv").write_text("\n".join(lines[:2]) + "\n")
    told = linkwise("run", "craft.toml", "one.csv", "--no-figures")
    assert "t = 0 s: floating base, its pose in the base frame, all else in its own axes" in told.out
    row = next(line for line in told.out.splitlines() if line.strip().startswith("angular velocity"))
    assert row.split()[2:5] == ["0.4000", "-0.5000", "0.6000"]
    assert f"{flown.qdd[0, 6]:.4f} rad/s²" in told.out


def test_an_out_file_that_cannot_be_is_refused(
    linkwise: Callable, flight: tuple[Path, lw.Trajectory], tmp_path: Path
) -> None:
    told = linkwise("run", "craft.toml", flight[0], "--out", "-o", "res")
    assert told.status == 2
    assert "--out: SpaceLib's layout has no place for a base that floats" in told.err
    assert not (tmp_path / "res").exists()


def test_a_motion_of_joints_alone_is_refused(linkwise: Callable, tmp_path: Path) -> None:
    files.save(craft(), tmp_path / "craft.toml")
    (tmp_path / "joints.csv").write_text("t,q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0,0\n")
    told = linkwise("run", "craft.toml", "joints.csv")
    assert told.status == 2
    assert "q_base_x" in told.err


def test_a_body_without_joints_is_run(linkwise: Callable, tmp_path: Path) -> None:
    body = lw.Mechanism([lw.Link(joint="fixed", name="body", mass=1.0, inertia=(1, 1, 1))], floating=True, name="body")
    files.save(body, tmp_path / "body.toml")
    files.save_motion(
        tmp_path / "m.csv", 0.1, [[0, 0, 0, 1, 0, 0, 0]] * 5, np.zeros((5, 6)), np.zeros((5, 6)), floating=True
    )
    told = linkwise("run", "body.toml", "m.csv", "-o", "res")
    assert told.status == 0, told.err
    assert "9.81 @ 0" in told.out
    assert "m, N" not in told.out
    assert "motor efforts" not in told.out
    assert (tmp_path / "res" / "joints.png").exists()


def test_the_moment_is_about_the_joint_on_the_moving_base(flight: tuple[Path, lw.Trajectory]) -> None:
    flown = flight[1]
    r = link_states(craft(), flown.t, flown.q, flown.qd, flown.qdd)
    hull = base_poses(craft(), flown.q)
    np.testing.assert_allclose(hull, craft().link_poses(flown.q)[:, 0], atol=1e-14)
    axis = hull[:, :3, 1]
    effort = np.einsum("ij,ij->i", r.joint_moments[:, 1], axis)
    print(f"effort off by {np.abs(effort - flown.tau[:, 6]).max():.1e}")
    np.testing.assert_allclose(effort, flown.tau[:, 6], atol=1e-12)  # some 10 N m of rounding


def test_show_takes_the_base_too(linkwise: Callable, tmp_path: Path) -> None:
    files.save(craft(), tmp_path / "craft.toml")
    told = linkwise("show", "craft.toml", "--q", "1,2,3,0,0,2,0,90deg,0.1", "--save", "a.png", "--dynamics")
    assert told.status == 0, told.err
    assert "q 1 m, 2 m, 3 m, 0, 0, 1, 0, 1.5708 rad, 0.1 m" in told.out
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    told = linkwise("show", "craft.toml", "--q", "1,2,3", "--no-picture")
    assert "3 numbers for 2 joints (9 with those of the floating base before them)" in told.err
    told = linkwise("show", "craft.toml", "--q", "1,2,3,0,0,0,0,0,0", "--no-picture")
    assert "the quaternion qw, qx, qy, qz is zero" in told.err


def test_efforts_that_are_rounding_are_printed_as_zero(linkwise: Callable, tmp_path: Path) -> None:
    files.save(craft(), tmp_path / "craft.toml")
    flown = lw.simulate(craft(), None, [0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 1.0, 0.3], t=(3.0, 0.01))
    noise = np.abs(craft().inverse_dynamics(flown.q, flown.qd, flown.qdd)).max(axis=0)
    assert noise[:6].any()
    names = craft().names
    for name, rows in (("long", slice(None)), ("short", slice(50, 53))):
        motion = (values[rows] for values in (flown.t, flown.q, flown.qd, flown.qdd))
        files.save_motion(tmp_path / f"{name}.csv", *motion, names=names, floating=True)
    told = linkwise("run", "craft.toml", "long.csv", "--no-figures")
    rows = [line.split() for line in told.out.splitlines() if line.startswith(("along", "about"))][6:]
    assert [row[2:4] for row in rows] == [["0", "0"]] * 6
    assert next(line for line in told.out.splitlines() if line.split()[:1] == ["hull"]).split() == ["hull", "0", "0"]
    assert "e-1" not in told.out
    told = linkwise("run", "craft.toml", "short.csv", "--no-figures")
    row = next(line for line in told.out.splitlines() if "moment that it takes" in line)
    assert row.split()[4:7] == ["0.0000"] * 3


@pytest.mark.parametrize("columns", ["80", "100"])
def test_the_tables_of_the_base_are_no_wider_than_the_screen(
    linkwise: Callable, flight: tuple[Path, lw.Trajectory], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    told = linkwise("run", "craft.toml", flight[0], "--no-figures")
    tables = [line for line in told.out[: told.out.index("wrote ")].splitlines() if "  " in line]
    print(max(map(len, tables)), "columns")
    assert max(map(len, tables)) <= int(columns)
    assert sum(line.startswith(("along", "about")) for line in tables) == 12
    assert not [line for line in tables if line.strip().startswith("@")]  # no cell is broken over lines


def test_momentum_is_told(linkwise: Callable, tmp_path: Path) -> None:
    free = craft().replace(gravity=(0, 0, 0))
    files.save(free, tmp_path / "free.toml")
    told = linkwise("simulate", "free.toml", "--qd", "0.1,0.2,0.3,0.4,-0.5,0.6,1,0.3", "--time", "0.1", "--no-figures")
    lines = {line.split("  ")[0].strip(): line.split()[4:7] for line in told.out.splitlines() if "ar, at the" in line}
    assert lines["linear, at the start"] == lines["linear, at the end"]
    expected = free.momentum(free.neutral, [0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 1, 0.3], about="com")
    assert [float(word) for word in lines["linear, at the start"]] == pytest.approx(expected[:3], rel=1e-5)
    assert [float(word) for word in lines["angular, at the end"]] == pytest.approx(expected[3:], rel=1e-5)  # six digits
    told = linkwise("simulate", "free.toml", "--qd", "0,0,0,1,0,0,0,0", "--time", "0.1", "--no-figures")
    assert "e-1" not in told.out[told.out.index("momentum") : told.out.index("energy")]
    assert "momentum" not in linkwise("simulate", "planar_2r", "--time", "0.1", "--no-figures").out


def test_a_run_of_joints_with_several_coordinates_writes_no_out_file(linkwise: Callable, tmp_path: Path) -> None:
    """Its rows have one coordinate for each link."""
    mech = lw.Mechanism([lw.Link(name="u", joint="universal", axis=[(1, 0, 0), (0, 1, 0)], mass=1.0, com=(0, 0, 0.1))])
    files.save(mech, tmp_path / "u.toml")
    rows = np.zeros((3, 2))
    files.save_motion(tmp_path / "u.csv", 0.1, rows, rows, rows, names=mech.names)
    told = linkwise("run", "u.toml", "u.csv", "-o", "res")
    assert told.status == 0
    assert "OUT left out" in told.out
    assert not list((tmp_path / "res").glob("*.OUT"))
