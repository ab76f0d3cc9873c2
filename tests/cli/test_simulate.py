import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import files
from linkwise.cli.commands import simulate as integration
from linkwise.simulation.energy_balance import energy_account as balance
from linkwise.simulation.integrators import INTEGRATORS
from linkwise.simulation.task import ADAPTIVE

PNG = b"\x89PNG\r\n"


def columns(path: Path) -> dict[str, np.ndarray]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return dict(zip(rows[0], np.array(rows[1:], dtype=float).T, strict=True))


def brick(**rest: object) -> lw.Mechanism:
    link = lw.Link(joint="fixed", name="body", mass=1.0, inertia=(0.1, 0.2, 0.25))
    return lw.Mechanism([link], floating=True, name="brick", **rest)  # type: ignore[arg-type]


def rubbing(viscous: float = 0.0, coulomb: float = 0.0) -> lw.Mechanism:
    motor = lw.Motor(viscous=viscous, coulomb=coulomb)
    link = lw.Link(name="wheel", mass=1.0, inertia=(0.3, 0.3, 0.5), motor=motor)
    return lw.Mechanism([link], name="wheel", gravity=(0, 0, 0))


def test_files_hold_the_very_numbers(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("simulate", "planar_2r", "--q", "30deg,0.1", "--qd", "0,90deg", "--time", "0.5", "-o", "res")
    assert told.status == 0, told.err
    arm = lw.robots.planar_2r()
    start = [np.radians(30.0), 0.1], [0.0, np.radians(90.0)]
    expected = lw.simulate(arm, *start, t=np.linspace(0.0, 0.5, 501), energies=True)
    found = columns(tmp_path / "res" / "trajectory.csv")
    assert list(found)[:2] == ["t [s]", "q_link1 [rad]"]
    assert list(found)[-2:] == ["kinetic_energy [J]", "potential_energy [J]"]
    assert np.array_equal(found["q_link2 [rad]"], expected.q[:, 1])
    assert np.array_equal(found["qdd_link1 [rad/s2]"], expected.qdd[:, 0])
    assert np.array_equal(found["potential_energy [J]"], expected.potential)
    loaded = lw.Trajectory.load(tmp_path / "res" / "trajectory.npz")
    assert np.array_equal(loaded.qd, expected.qd)
    assert loaded.names == arm.names
    assert (tmp_path / "res" / "trajectory.png").read_bytes().startswith(PNG)


def test_what_is_told(linkwise: Callable) -> None:
    told = linkwise("simulate", "planar_2r", "--q", "30deg,0", "--time", "0.2", "--no-figures")
    for words in (
        "planar_2r: 0.2 s in 200 steps of 0.001 s, rk4, no torque, no friction",
        "velocity from",
        "at the end",
        "drift",
        "steps per second",
    ):
        assert words in told.out
    assert "work of the motors" not in told.out
    assert "wrote out/planar_2r/trajectory.csv, out/planar_2r/trajectory.npz\n" in told.out.replace("\\", "/")


def test_quiet_and_parts(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("simulate", "planar_2r", "--time", "0.1", "--record", "10", "--no-figures", "-q", "-o", "res")
    assert (told.status, told.out, told.err) == (0, "", "")
    assert sorted(file.name for file in (tmp_path / "res").iterdir()) == ["trajectory.csv", "trajectory.npz"]
    assert np.allclose(columns(tmp_path / "res" / "trajectory.csv")["t [s]"], np.linspace(0, 0.1, 11), rtol=1e-15)
    linkwise("simulate", "planar_2r", "--time", "0.1", "--format", "svg", "-q", "-o", "res")
    assert b"<svg" in (tmp_path / "res" / "trajectory.svg").read_bytes()


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk45", "dop853"])
def test_methods(linkwise: Callable, tmp_path: Path, method: str) -> None:
    told = linkwise("simulate", "planar_2r", "--q", "0.3,0", "--time", "0.1", "--method", method, "--no-figures", "-o", "m")
    assert told.status == 0, told.err
    assert f", {method}, " in told.out
    linkwise("simulate", "planar_2r", "--q", "0.3,0", "--time", "0.1", "--no-figures", "-o", "rk4")
    off = (
        columns(tmp_path / "m" / "trajectory.csv")["q_link1 [rad]"]
        - columns(tmp_path / "rk4" / "trajectory.csv")["q_link1 [rad]"]
    )
    print(f"{method}: {np.abs(off).max():.1e} from rk4")
    # order 1 with steps of 1 ms, accelerations of some 30 rad/s2: h t a / 2 = 1.5e-3; the others: their tolerance of 1e-8
    assert np.abs(off).max() < (1.5e-3 if "euler" in method else 1e-8)


def test_the_methods_are_those_of_the_library() -> None:
    (method,) = (param for param in integration.simulate.params if param.name == "method")
    assert method.type.choices == (*INTEGRATORS, *ADAPTIVE)


def test_holding_keeps_it_where_it_is(linkwise: Callable, tmp_path: Path) -> None:
    linkwise(
        "simulate", "planar_2r", "--q", "0.3,0.4", "--torque", "hold", "--time", "0.5", "-q", "--no-figures", "-o", "res"
    )
    found = columns(tmp_path / "res" / "trajectory.csv")
    # the arm is unstable nowhere near here: what moves it is the rounding of the torque, 1e-14 rad/s2 over 0.5 s
    assert np.abs(found["q_link1 [rad]"] - 0.3).max() < 1e-14
    assert np.array_equal(found["tau_link1 [N m]"], np.full(501, lw.robots.planar_2r().gravity_torque([0.3, 0.4])[0]))


def test_against_gravity_it_moves_as_without(linkwise: Callable, tmp_path: Path) -> None:
    options = ("--qd", "1,-0.5", "--time", "0.5", "--method", "dop853", "-q", "--no-figures")
    files.save(lw.robots.planar_2r().replace(gravity=(0, 0, 0)), tmp_path / "weightless.toml")
    assert linkwise("simulate", "planar_2r", "--torque", "gravity", *options, "-o", "one").status == 0
    assert linkwise("simulate", "weightless.toml", *options, "-o", "two").status == 0
    one, two = (columns(tmp_path / name / "trajectory.csv")["q_link2 [rad]"] for name in ("one", "two"))
    assert np.abs(one - two).max() < 1e-8  # the tolerance of the method


def test_recorded_efforts_of_a_run_bring_the_motion_back(linkwise: Callable, motion_file: Callable, tmp_path: Path) -> None:
    linkwise("run", "planar_2r", motion_file(2, 2001), "-o", "ran", "-q", "--no-figures", "--no-links", "--no-out")
    told = linkwise("simulate", "planar_2r", "--torque", "ran/joints.csv", "--qd", "0.4,0.8", "--no-figures", "-o", "res")
    assert told.status == 0, told.err
    assert "efforts from ran/joints.csv" in told.out
    assert "work of the motors" in told.out
    ran, found = columns(tmp_path / "ran" / "joints.csv"), columns(tmp_path / "res" / "trajectory.csv")
    assert found["t [s]"][-1] == 2.0
    off = max(np.abs(ran[name] - found[name]).max() for name in ("q_link1 [rad]", "q_link2 [rad]"))
    print(f"off by {off:.1e} rad")
    # a straight line leaves h^2 / 12 of the second derivative of the effort, some 100 N m/s2, on average: with h = 1 ms
    # 1e-5 N m, which moves some 0.1 kg m2 by 2e-4 rad in 2 s; this arm, held up against its weight, makes it a little more
    assert off < 1e-3


def test_floating_from_rest_it_falls(linkwise: Callable, tmp_path: Path) -> None:
    files.save(brick(), tmp_path / "brick.toml")
    told = linkwise("simulate", "brick.toml", "--time", "1", "--qd", "0,0,0,0,0,90deg", "-o", "res")
    assert told.status == 0, told.err
    assert "floating base at the end, t = 1 s" in told.out
    assert "joints from" not in told.out
    found = columns(tmp_path / "res" / "trajectory.csv")
    assert np.allclose(found["q_base_z [m]"], -0.5 * 9.81 * found["t [s]"] ** 2, rtol=0, atol=1e-12)
    # a quarter of a turn; rk4 with steps of 1 ms leaves (w h / 2)^5 / 120 a step, and rounding
    assert abs(found["q_base_qz [1]"][-1] - np.sin(np.pi / 4)) < 1e-12
    assert lw.Trajectory.load(tmp_path / "res" / "trajectory.npz").floating


def test_a_floating_base_starts_where_q_says(linkwise: Callable, tmp_path: Path) -> None:
    files.save(brick(gravity=(0, 0, 0)), tmp_path / "brick.toml")
    linkwise("simulate", "brick.toml", "--q", "1,2,3,0,0,2,0", "--time", "0.01", "-q", "--no-figures", "-o", "res")
    found = columns(tmp_path / "res" / "trajectory.csv")
    assert [found[f"q_base_{name}"][-1] for name in ("x [m]", "y [m]", "z [m]", "qw [1]", "qy [1]")] == [1, 2, 3, 0, 1]


def test_the_balance_adds_up() -> None:
    wheel = rubbing(viscous=0.7)
    motion = lw.simulate(wheel, [0.0], [2.0], torque=[0.3], t=(1.0, 1e-3), energies=True)
    found = balance(wheel, motion)
    # I dw/dt = 0.3 - 0.7 w, by hand
    w = 0.3 / 0.7 + (2.0 - 0.3 / 0.7) * np.exp(-0.7 / 0.5 * motion.t)
    angle = 0.3 / 0.7 * 1.0 + (2.0 - 0.3 / 0.7) * 0.5 / 0.7 * (1 - np.exp(-0.7 / 0.5))
    assert found.work == pytest.approx(0.3 * angle, abs=1e-11)
    assert found.lost == pytest.approx(0.25 * (2.0**2 - w[-1] ** 2) + 0.3 * angle, abs=1e-11)
    print(f"drift {found.drift:.1e} J")
    assert abs(found.drift) < 1e-12  # Simpson's rule and rk4: h^4 times derivatives of order 1, and rounding


def test_energies_that_do_not_add_up_are_remarked(linkwise: Callable, tmp_path: Path) -> None:
    files.save(rubbing(coulomb=5.0), tmp_path / "wheel.toml")
    told = linkwise("simulate", "wheel.toml", "--qd", "0.1", "--time", "1", "--dt", "0.01", "--no-figures")
    assert "remark: the energies do not add up" in told.out
    told = linkwise("simulate", "wheel.toml", "--qd", "0.1", "--time", "1", "--friction", "none", "--no-figures")
    assert "remark" not in told.out
    assert "lost in friction" not in told.out


def test_adaptive_steps_across_coulomb_friction_are_refused(linkwise: Callable) -> None:
    told = linkwise("simulate", "puma560", "--method", "rk45", "--time", "0.1")
    assert told.status == 2
    assert told.err.startswith("Error: rk45 takes ever shorter steps where Coulomb friction jumps")
    assert told.err.count("\n") == 1
    options = ("--method", "rk45", "--time", "0.1", "--friction", "none", "--no-figures", "-q")
    assert linkwise("simulate", "puma560", *options).status == 0


def test_limits_are_remarked(linkwise: Callable, arm_file: Path) -> None:
    told = linkwise("simulate", arm_file, "--time", "1", "--qd", "0,1", "--no-figures")
    assert "remark: joint 'slide 100%' is outside its limits at " in told.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--time", "-1"], "-1.0 is not in the range x>0"),
        (["--time", "nan"], "'nan' is not a finite number"),
        (["--dt", "0"], "0.0 is not in the range x>0"),
        (["--time", "1", "--dt", "0.3"], "1 s is not a multiple of the step --dt 0.3 s"),
        (["--time", "1e9"], "steps; expected 100,000,000 at most"),
        (["--time", "5000"], "--record 5"),
        (["--time", "0.01", "--record", "11"], "11 is more than the 10 steps"),
        (["--q", "1"], "1 number for 2 joints"),
        (["--qd", "1,2,3"], "3 numbers for 2 joints"),
        (["--qd", "1,fast"], "'fast' is not a number"),
        (["--method", "magic"], "'magic'"),
        (["--torque", "none.csv"], "none.csv"),
        (["--qd", "1e155,1e155", "--time", "1"], "not finite at t = "),
    ],
)
def test_options_that_cannot_be(linkwise: Callable, tmp_path: Path, options: list[str], message: str) -> None:
    told = linkwise("simulate", "planar_2r", "-o", "res", *options)
    assert told.status == 2
    assert message in told.err
    assert told.out == ""
    assert "Traceback" not in told.err
    assert not list(tmp_path.glob("res/*"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no instant"),
        ("t,tau1,tau2\n", "there is no instant"),
        ("t,tau1\n0,1\n", "line 1: the header has no column 'tau2' (or 'tau_link1' and so on, by name)"),
        ("t,tau1,tau2,tau3\n0,1,1,1\n", "line 1: column 'tau3' is of no joint of 'planar_2r'"),
        ("t,tau1,tau2,tau_link2\n0,1,1,1\n", "line 1: the header names the column 'tau2' twice"),
        ("t,tau1,tau2,tau2\n0,1,1,1\n", "line 1: the header names the column 'tau2' twice"),
        ("t,tau1 [N],tau2\n0,1,1\n", "line 1: column 'tau1' is in 'N'; expected 'N m'"),
        ("t,tau1,tau2\n0,1,one\n", "line 2: column 'tau2': 'one' is not a number"),
        ("t,tau1,tau2\n0,1,\n", "line 2: column 'tau2': the cell is empty"),
        ("t,tau1,tau2\n0,1,2\n1,1\n", "line 3: 2 cells; the header has 3 columns"),
        ("t,tau1,tau2\n0,1,2\n\n0,1,2\n", "line 4: the time does not come after"),
        ("t,tau1,tau2\n0,1,2\n", "holds efforts from 0 to 0 s"),
        ('t,tau1,tau2\n0,1,"' + "x" * 200_000 + '"\n', "line 2"),
    ],
)
def test_recorded_efforts_that_cannot_be(linkwise: Callable, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "tau.csv").write_text(text)
    told = linkwise("simulate", "planar_2r", "--torque", "tau.csv", "-o", "res")
    assert told.status == 2
    assert message in told.err
    assert len(told.err) < 1000
    assert not list(tmp_path.glob("res/*"))


def test_efforts_are_linear_between_the_instants(linkwise: Callable, tmp_path: Path) -> None:
    (tmp_path / "tau.csv").write_text("t [s];tau_link1 [N m];note;tau2\n1;0;x;2\n2;10;;2\n")
    told = linkwise("simulate", "planar_2r", "--torque", "tau.csv", "--dt", "0.25", "-o", "res", "-q", "--no-figures")
    assert told.status == 0, told.err
    found = columns(tmp_path / "res" / "trajectory.csv")
    assert found["t [s]"].tolist() == [1.0, 1.25, 1.5, 1.75, 2.0]
    assert found["tau_link1 [N m]"].tolist() == [0.0, 2.5, 5.0, 7.5, 10.0]
    assert found["tau_link2 [N m]"].tolist() == [2.0] * 5
    told = linkwise("simulate", "planar_2r", "--torque", "tau.csv", "--time", "3", "-o", "res")
    assert "tau.csv holds efforts from 1 to 2 s, not for 3 s" in told.err


def test_steps_that_are_far_too_large_are_remarked(linkwise: Callable, tmp_path: Path) -> None:
    told = linkwise("simulate", "planar_2r", "--q", "0.1,0.2", "--time", "2", "--dt", "0.2", "-o", "res", "--no-figures")
    assert told.status == 0, told.err
    assert "energy error is" in told.out + told.err
    told = linkwise("simulate", "planar_2r", "--q", "0.1,0.2", "--time", "2", "--dt", "0.01", "-o", "res", "--no-figures")
    assert "energy error is" not in told.out + told.err


def test_without_matplotlib_all_else_is_written(linkwise: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    told = linkwise("simulate", "planar_2r", "--time", "0.01", "-o", "res")
    assert told.status == 0
    assert "no figure: pictures need matplotlib" in told.out
    assert sorted(file.name for file in (tmp_path / "res").iterdir()) == ["trajectory.csv", "trajectory.npz"]


def test_what_cannot_be_drawn_leaves_the_old_files(
    linkwise: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(made: object, suffix: str) -> bytes:
        raise lw.errors.FileError("a", [lw.errors.FileProblem(0, "no space left")])

    (tmp_path / "res").mkdir()
    (tmp_path / "res" / "trajectory.csv").write_text("before")
    monkeypatch.setattr(integration, "rendered", full)
    assert linkwise("simulate", "planar_2r", "--time", "0.01", "-o", "res").status == 2
    assert {file.name: file.read_text() for file in (tmp_path / "res").iterdir()} == {"trajectory.csv": "before"}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("linkwise simulate puma560 --torque h", ["plain,hold"]),
        ("linkwise simulate puma560 --torque ./x", ["file,./x"]),
        ("linkwise simulate puma560 --method semi", ["plain,semi_implicit_euler"]),
        ("linkwise simulate puma560 --frict", ["plain,--friction"]),
        ("linkwise bench puma560 --algorithm regr", ["plain,regressor"]),
        ("linkwise show puma560 --base", ["plain,--base-parameters"]),
        ("linkwise show puma560 --dyn", ["plain,--dynamics"]),
        ("linkwise sim", ["plain,simulate"]),
    ],
)
def test_completion_knows_the_options(tmp_path: Path, line: str, offered: list[str]) -> None:
    asked = {"_LINKWISE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    command = [sys.executable, "-m", "linkwise"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **asked}, check=False)
    assert done.stdout.split() == offered


def test_what_the_file_says_to_act_on_the_tool_takes_part(linkwise: Callable, tmp_path: Path) -> None:
    arm, wrench = lw.robots.planar_2r(), [3.0, -2.0, 0.0, 0.0, 0.0, 0.5]
    files.save(arm, tmp_path / "pushed.toml", external=wrench)
    options = ("--q", "0.3,0.4", "--time", "0.5", "--no-figures", "-o", "res")
    told = linkwise("simulate", "pushed.toml", *options)
    assert told.status == 0, told.err
    assert told.out.startswith("on the tool: force 3 -2 0 N, moment 0 0 0.5 N m (from the file)\n")
    assert "work on the tool" in told.out
    found = columns(tmp_path / "res" / "trajectory.csv")
    # the end of the arm by hand: the wrench of the tool's axes turned into the world's, then the Jacobian's transpose
    motion = lw.simulate(arm, [0.3, 0.4], external=wrench, t=(0.5, 1e-3), energies=True)
    assert np.array_equal(found["q_link2 [rad]"], motion.q[:, 1])
    T, J = arm.forward_kinematics(motion.q), arm.jacobian(motion.q)
    force = np.concatenate((T[:, :3, :3] @ wrench[:3], T[:, :3, :3] @ wrench[3:]), axis=1)
    push = np.einsum("kij,ki->kj", J, force)
    qdd = np.array([found["qdd_link1 [rad/s2]"], found["qdd_link2 [rad/s2]"]]).T
    off = np.abs(arm.inverse_dynamics(motion.q, motion.qd, qdd) - push).max()
    print(f"efforts off by {off:.1e} N m")
    assert off < 1e-12  # some 100 N m of rounding
    balanced = balance(arm, motion, np.array(wrench))
    print(f"drift {balanced.drift:.1e} J")
    assert abs(balanced.drift) < 1e-9  # h^4 times derivatives of order 1e3
    assert abs(balance(arm, motion).drift) > 1.0
    told = linkwise("simulate", "pushed.toml", *options, "--torque", "hold", "-q")
    assert told.status == 0
    assert "on the tool" not in told.out
    off = np.abs(columns(tmp_path / "res" / "trajectory.csv")["q_link1 [rad]"] - 0.3).max()
    assert off < 1e-14  # as held without the wrench: rounding of the torque


@pytest.mark.parametrize(
    ("word", "guess"), [("grav", "Did you mean 'gravity'?"), ("Hold", "Did you mean 'hold'?"), ("x", "")]
)
def test_a_word_that_torque_does_not_know(linkwise: Callable, word: str, guess: str) -> None:
    told = linkwise("simulate", "puma560", "--torque", word)
    assert told.status == 2
    assert f"there is no file '{word}'. {guess}".rstrip() in told.err
    assert "Expected zero, hold, gravity or a .csv file" in told.err
    assert ("Did you mean" in told.err) == bool(guess)


def test_coordinates_that_look_like_degrees_are_remarked(linkwise: Callable) -> None:
    told = linkwise("simulate", "planar_2r", "--q", "30,0", "--time", "0.01", "--no-figures")
    assert "remark: --q: 30 rad is more than a turn; degrees are written 30deg" in told.err
    assert "remark" not in linkwise("simulate", "planar_2r", "--q", "400deg,0", "--time", "0.01", "--no-figures").err
