import csv
import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import files
from linkwise.cli.commands import run
from linkwise.cli.motion_tables import Extremes
from linkwise.dynamics.link_states import link_states

PNG = b"\x89PNG\r\n"


def columns(path: Path) -> dict[str, list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_few_instants_are_printed_link_by_link(linkwise: Callable, arm_file: Path, motion_file: Callable) -> None:
    told = linkwise("run", arm_file, motion_file(2, 2))
    assert told.status == 0
    assert told.err == ""
    for words in (
        "t = 0 s: joints",
        "t = 2 s: links",
        "turn, table",
        "slide 100%",
        "roll, pitch, yaw",
        "moment, about the joint",
    ):
        assert words in told.out
    assert "wrote out/swing/joints.csv" in told.out.replace("\\", "/")


def test_a_long_motion_is_summarised(linkwise: Callable, arm_file: Path, motion_file: Callable) -> None:
    told = linkwise("run", arm_file, motion_file(2, 50), "--no-figures")
    assert "50 instants, t = 0 to 2 s" in told.out
    assert "rms effort" in told.out
    row = next(line for line in told.out.splitlines() if "slide 100%" in line)
    assert "0.8 @ 0" in row  # peak speed 0.4 times 2, at the start
    units = [word for word in row.replace("slide 100%", "").split() if word.startswith("m")]
    assert units == ["m", "m/s", "m/s²"]
    alike = linkwise("run", "planar_2r", motion_file(2, 50), "--no-figures").out
    assert "position [rad]  peak velocity [rad/s]  peak acceleration [rad/s²]" in alike


def test_joints_csv_holds_the_very_numbers(
    linkwise: Callable, arm: lw.Mechanism, arm_file: Path, motion_file: Callable, tmp_path: Path
) -> None:
    path = motion_file(2, 30)
    linkwise("run", arm_file, path, "-o", "res", "-q")
    t, q, qd, qdd = files.open_motion(path, 2).read()
    found = columns(tmp_path / "res" / "joints.csv")
    assert list(found)[:3] == ["t [s]", "q_turn, table [rad]", "q_slide 100% [m]"]
    assert [float(cell) for cell in found["t [s]"]] == t.tolist()
    tau = arm.inverse_dynamics(q, qd, qdd)
    assert [float(cell) for cell in found["tau_turn, table [N m]"]] == tau[:, 0].tolist()
    assert [float(cell) for cell in found["tau_slide 100% [N]"]] == tau[:, 1].tolist()
    assert [float(cell) for cell in found["qdd_slide 100% [m/s2]"]] == qdd[:, 1].tolist()


def test_links_csv_has_a_row_for_each_instant_and_link(
    linkwise: Callable, arm: lw.Mechanism, arm_file: Path, motion_file: Callable, tmp_path: Path
) -> None:
    path = motion_file(2, 7)
    linkwise("run", arm_file, path, "-o", "res", "-q")
    _, q, qd, qdd = files.open_motion(path, 2).read()
    found = columns(tmp_path / "res" / "links.csv")
    assert found["link"] == ["turn, table", "slide 100%"] * 7
    positions = arm.link_poses(q)[:, :, :3, 3]
    actions = arm.joint_wrenches(q, qd, qdd)
    for k, axis in enumerate("xyz"):
        assert np.array_equal(np.array(found[f"{axis} [m]"], dtype=float).reshape(7, 2), positions[..., k])
        assert np.array_equal(np.array(found[f"f{axis} [N]"], dtype=float).reshape(7, 2), actions[..., k])
        assert np.array_equal(np.array(found[f"m{axis}_base [N m]"], dtype=float).reshape(7, 2), actions[..., 3 + k])


def test_figures_in_the_format_asked_for(linkwise: Callable, arm_file: Path, motion_file: Callable, tmp_path: Path) -> None:
    path = motion_file(2, 20)
    linkwise("run", arm_file, path, "-o", "res")
    assert (tmp_path / "res" / "joints.png").read_bytes().startswith(PNG)
    linkwise("run", arm_file, path, "-o", "res", "--format", "svg")
    assert b"<svg" in (tmp_path / "res" / "joint_forces.svg").read_bytes()


def test_parts_can_be_left_out(linkwise: Callable, arm_file: Path, motion_file: Callable, tmp_path: Path) -> None:
    told = linkwise("run", arm_file, motion_file(2, 5), "-o", "res", "--no-figures", "--no-out", "--no-links", "-q")
    assert [path.name for path in (tmp_path / "res").iterdir()] == ["joints.csv"]
    assert (told.out, told.err) == ("", "")


def test_large_files_are_left_out_of_long_motions_unless_asked_for(
    linkwise: Callable, arm_file: Path, motion_file: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MOST_OUT", 10)
    monkeypatch.setattr(run, "MOST_LINKS", 20)
    path = motion_file(2, 30)
    told = linkwise("run", arm_file, path, "-o", "res", "--no-figures")
    assert sorted(file.name for file in (tmp_path / "res").iterdir()) == ["joints.csv"]
    assert "swing.OUT left out: about 30 instants make a large file; --out writes it" in told.out
    linkwise("run", arm_file, path, "-o", "res", "--no-figures", "--out", "--links")
    assert sorted(file.name for file in (tmp_path / "res").iterdir()) == ["joints.csv", "links.csv", "swing.OUT"]


def test_a_wrong_number_far_down_leaves_nothing_behind(
    linkwise: Callable, arm_file: Path, motion_file: Callable, tmp_path: Path
) -> None:
    path = motion_file(2, 5000)
    path.write_text(path.read_text() + "99,0,zero,0,0,0,0\n")
    (tmp_path / "res").mkdir()
    (tmp_path / "res" / "joints.csv").write_text("before")
    told = linkwise("run", arm_file, path, "-o", "res")
    assert told.status == 2
    assert "line 5002" in told.err
    assert {file.name: file.read_text() for file in (tmp_path / "res").iterdir()} == {"joints.csv": "before"}


def test_the_wrench_on_the_tool_counts(linkwise: Callable, arm: lw.Mechanism, motion_file: Callable, tmp_path: Path) -> None:
    files.save(arm, tmp_path / "pushed.toml", external=[0, 0, -7, 0, 0, 0])
    linkwise("run", "pushed.toml", motion_file(2, 3), "-o", "res", "-q", "--no-figures")
    path = tmp_path / "swing.csv"
    _, q, qd, qdd = files.open_motion(path, 2).read()
    found = np.array(columns(tmp_path / "res" / "joints.csv")["tau_slide 100% [N]"], dtype=float)
    assert np.allclose(found, arm.inverse_dynamics(q, qd, qdd)[:, 1] + 7, atol=1e-12)


def test_a_joint_beyond_its_limits_is_remarked(linkwise: Callable, arm_file: Path, tmp_path: Path) -> None:
    files.save_motion(tmp_path / "far.csv", 0.1, [[0, 0.4], [0, 0.6]], np.zeros((2, 2)), np.zeros((2, 2)))
    told = linkwise("run", arm_file, "far.csv", "--no-figures")
    assert "remark: joint 'slide 100%' is outside its limits at 1 of 2 instants" in told.out


def test_without_matplotlib_all_else_is_written(
    linkwise: Callable, arm_file: Path, motion_file: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    told = linkwise("run", arm_file, motion_file(2, 5), "-o", "res")
    assert told.status == 0
    assert "no figures: pictures need matplotlib" in told.out
    assert sorted(file.name for file in (tmp_path / "res").iterdir()) == ["joints.csv", "links.csv", "swing.OUT"]


def test_memory_does_not_grow_with_the_motion(arm: lw.Mechanism, tmp_path: Path) -> None:
    found = files.Description(arm)

    def peak(rows: int) -> int:
        path = tmp_path / f"{rows}.csv"
        t = np.arange(rows) * 1e-3
        q = np.stack([np.sin(t), 0.1 * np.cos(t)], axis=1)
        files.save_motion(path, t, q, q, q)
        motion = files.open_motion(path, 2)
        tracemalloc.start()
        try:
            run.execute(found, motion, run.RunFiles(tmp_path / f"res{rows}", "m", None, links=True, out=False))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)  # imports and compilation
    short, long = peak(4_000), peak(16_000)
    assert long < 1.3 * short


def test_pieces_do_not_change_the_results(
    arm: lw.Mechanism, motion_file: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, motion = files.Description(arm), files.open_motion(motion_file(2, 500), 2)
    run.execute(found, motion, run.RunFiles(tmp_path / "whole", "m", None))
    monkeypatch.setattr(run, "LINK_INSTANTS", 1)
    run.execute(found, motion, run.RunFiles(tmp_path / "pieces", "m", None))
    for name in ("joints.csv", "links.csv", "m.OUT"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "pieces" / name).read_bytes()


def test_extremes_and_when_they_came() -> None:
    seen = Extremes(2)
    values = np.array([[1.0, 0.0], [-3.0, 0.0], [2.0, 0.5], [3.0, -0.1]])
    for k in range(4):
        seen.add(np.array([0.1 * k]), values[k : k + 1])
    assert seen.low.tolist() == [-3.0, -0.1]
    assert seen.high.tolist() == [3.0, 0.5]
    assert seen.peak.tolist() == [-3.0, 0.5]
    assert np.allclose(seen.peak_time, [0.1, 0.2])
    assert np.allclose(seen.rms, np.sqrt((values**2).mean(axis=0)))


def test_what_acts_on_the_tool_is_told(linkwise: Callable, arm: lw.Mechanism, motion_file: Callable, tmp_path: Path) -> None:
    path = motion_file(2, 2)
    files.save(arm, tmp_path / "arm.toml", external=[0, 0, -10, 0, 0.5, 0])
    line = "on the tool: force 0 0 -10 N, moment 0 0.5 0 N m (from the file)\n"
    assert line in linkwise("run", "arm.toml", path, "--no-figures").out
    files.save(arm, tmp_path / "arm.toml")
    assert "on the tool" not in linkwise("run", "arm.toml", path, "--no-figures").out


def test_rows_of_few_instants_as_json(linkwise: Callable, arm: lw.Mechanism, arm_file: Path, motion_file: Callable) -> None:
    """The numbers of the tables, with all their digits; none of a long motion."""
    motion = motion_file(2, 3)
    found = json.loads(linkwise("run", arm_file, motion, "--no-figures", "--json").out)
    t, q, qd, qdd = files.open_motion(motion, 2).read()
    assert [row["t"] for row in found["rows"]] == t.tolist()
    tau = arm.inverse_dynamics(q, qd, qdd)
    for k, row in enumerate(found["rows"]):
        each = list(row["joints"].values())
        assert list(row["joints"]) == list(arm.names)
        assert [list(one.values()) for one in each] == np.stack((q[k], qd[k], qdd[k], tau[k]), axis=1).tolist()
        assert [link["position"] for link in row["links"].values()] == arm.link_poses(q[k])[:, :3, 3].tolist()
    assert "rows" not in json.loads(linkwise("run", arm_file, motion_file(2, 4), "--no-figures", "--json").out)
    assert '"rows"' in linkwise("run", "--help").out


def test_a_folder_made_for_a_run_that_fails_is_taken_away(linkwise: Callable, arm_file: Path, tmp_path: Path) -> None:
    (tmp_path / "short.MOT").write_text("0.1\n0 0 0\n0 0 0\n0 0 0\n0 0")
    (tmp_path / "kept").mkdir()
    for folder in ("new/below", "kept/below", "kept"):
        assert linkwise("run", arm_file, "short.MOT", "-o", folder).status == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.toml", "kept", "short.MOT"]
    assert list((tmp_path / "kept").iterdir()) == []


def turning(mechanism: lw.Mechanism, name: str, count: int, path: Path) -> tuple[np.ndarray, ...]:
    """A motion in which one joint speeds up, written as a file; its instants, positions, velocities and accelerations."""
    linkage, t = mechanism.linkage([name]), np.linspace(0.0, 0.5, count)
    q = linkage.trace(linkage.driven_part(linkage.q0) + (2.0 * t + t * t)[:, None]).q
    qd = linkage.velocity(q, (2.0 + 2.0 * t)[:, None])
    qdd = linkage.acceleration(q, qd, np.full((count, 1), 2.0))
    words = [f"{kind}{k}" for kind in ("q", "qd", "qdd") for k in range(1, mechanism.n + 1)]
    rows = np.column_stack([t, q, qd, qdd]).tolist()
    path.write_text("\n".join([",".join(["t", *words]), *(",".join(map(repr, row)) for row in rows)]))
    return t, q, qd, qdd


def test_loops_stay_closed_and_their_forces_are_told(linkwise: Callable, tmp_path: Path) -> None:
    """Efforts as `actuator_efforts` gives them; in each joint no moment about its axis but the motor's; the sum of forces.

    The reaction of the base is the change of momentum less the weight, which no loop enters; here by differences of the
    momentum along the motion, exact to the fourth power of 2 h = 0.02 s.
    """
    bars = lw.robots.four_bar()
    t, q, qd, qdd = turning(bars, "crank", 51, tmp_path / "turn.csv")
    told = linkwise("run", "four_bar", "turn.csv", "-o", "res", "--no-figures")
    assert told.status == 0, told.err
    found, loops = columns(tmp_path / "res" / "joints.csv"), columns(tmp_path / "res" / "loops.csv")
    tau, forces = (np.array([*table.values()], dtype=float).T for table in (found, loops))
    expected = bars.actuator_efforts(q, qd, qdd)
    assert np.array_equal(tau[:, -3:], expected)
    assert list(loops)[:3] == ["t [s]", "pin fx [N]", "pin fy [N]"]
    assert np.abs(bars.constraint_forces(q, qd, expected) - forces[:, 1:]).max() < 1e-9 * np.abs(forces).max()
    states = link_states(bars, t, q, qd, qdd)
    about = np.einsum("klj,lj->kl", states.joint_moments, np.tile([0.0, 0.0, 1.0], (3, 1)))
    rotor = np.zeros(3)
    rotor[0] = sum(drive.motor.reflected_inertia for drive in bars.drives)
    friction = bars.friction_torque(qd)
    left = about - (expected - friction - rotor * qdd)
    print(f"moments about the axes to {np.abs(left).max():.1e} of {np.abs(about).max():.2g} N m")
    assert np.abs(left).max() < 1e-12 * np.abs(states.actions).max()
    momentum, h = bars.momentum(q, qd)[:, :3], t[1]
    rate = (8.0 * (momentum[3:-1] - momentum[1:-3]) - (momentum[4:] - momentum[:-4])) / (12.0 * h)
    weight = sum(link.body.mass for link in bars.links) * np.asarray(bars.gravity)
    base = states.actions[2:-2, [0, 2], :3].sum(axis=1)  # (crank and rocker stand on the base)
    error = np.abs(base + weight - rate).max()
    print(f"force of the base to {error:.1e} of {np.abs(base).max():.2g} N")
    assert error < 1e-6 * np.abs(base).max()


def test_driven_by_name(linkwise: Callable, tmp_path: Path) -> None:
    slide = lw.robots.slider_crank()
    lw.save(slide, tmp_path / "slide.toml")
    turning(slide, "crank", 5, tmp_path / "turn.csv")
    told = linkwise("run", "slide.toml", "turn.csv", "--driven", "rod", "--json", "--no-figures")
    assert told.status == 0, told.err
    effort = json.loads(told.out)["effort"]
    assert effort["crank"]["greatest"] == effort["crank"]["least"] == 0.0
    assert effort["rod"]["rms"] > 0.0
    stuck = linkwise("run", "slide.toml", "turn.csv", "--driven", "slider")  # in its dead point at the start
    assert "cannot make this motion[0]" in stuck.err
    named = linkwise("run", "slide.toml", "turn.csv", "--driven", "piston")
    assert named.status != 0
    assert "'piston'" in named.err
    assert "has no loops" in linkwise("run", "planar_2r", "turn.csv", "--driven", "link1").err


def test_a_motion_that_opens_loops_is_refused(linkwise: Callable, tmp_path: Path) -> None:
    turning(lw.robots.four_bar(), "crank", 5, tmp_path / "turn.csv")
    lines = (tmp_path / "turn.csv").read_text().splitlines()
    cells = lines[3].split(",")
    (tmp_path / "open.csv").write_text("\n".join([*lines[:3], ",".join([cells[0], "0.7", *cells[2:]]), *lines[4:]]))
    told = linkwise("run", "four_bar", "open.csv", "-o", "res")
    assert told.status != 0
    assert "are open at q[2]" in told.err
    assert not (tmp_path / "res").exists()


def test_a_mechanism_without_masses_is_remarked(linkwise: Callable, tmp_path: Path) -> None:
    """Its efforts are zero, which is no result."""
    rows = ",".join(f"{kind}{k}" for kind in ("q", "qd", "qdd") for k in range(1, 7))
    (tmp_path / "rest.csv").write_text(f"t,{rows}\n0{',0' * 18}\n")
    told = linkwise("run", "ur20", str(tmp_path / "rest.csv"), "-o", str(tmp_path / "out"), "--no-figures")
    assert "remark: no masses are given for ur20" in told.out
