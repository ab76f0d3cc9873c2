import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import files
from linkwise.cli.options import file_name
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.view.scene.layout import lay_out

PNG = b"\x89PNG\r\n"


def test_table_and_picture(linkwise: Callable, arm_file: Path, tmp_path: Path) -> None:
    told = linkwise("show", arm_file)
    assert told.status == 0
    assert "standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha)" in told.out
    assert "q2 + 0.2" in told.out
    assert told.out.rstrip().endswith("picture: arm.png")
    assert (tmp_path / "arm.png").read_bytes().startswith(PNG)


def test_the_format_of_the_picture_is_its_suffix(linkwise: Callable, arm_file: Path, tmp_path: Path) -> None:
    linkwise("show", arm_file, "--save", "a.svg", "--q", "90deg,0.1")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


def test_limits(linkwise: Callable, tmp_path: Path) -> None:
    arm = lw.Mechanism([lw.Link(name="arm", limits=(-1.5, np.inf), tau_max=20), lw.Link(name="rod", joint="prismatic")])
    lw.save(arm, tmp_path / "crane.toml")
    lines = linkwise("show", "crane.toml", "--limits", "--no-picture").out.splitlines()
    start = lines.index("limits of mechanism: rad, rad/s and N m, or m, m/s and N of joints that slide (P)")
    assert [line.split() for line in lines[start + 2 :]] == [
        ["joint", "least", "greatest", "velocity", "effort"],
        ["arm", "R", "-1.5", "20"],
        ["rod", "P"],
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--q", "1,2,3"], "3 numbers for 2 joints"),
        (["--q", "1,two"], "'two' is not a number"),
        (["--q", "1,nan"], "'nan' is not a number"),
        (["--save", "a.gif"], ".png, .svg or .pdf"),
        (["--save", "no/such/a.png"], "no folder"),
    ],
)
def test_options_that_cannot_be(linkwise: Callable, arm_file: Path, options: list[str], message: str) -> None:
    told = linkwise("show", arm_file, *options)
    assert told.status == 2
    assert message in told.err


def test_masses_and_sources_on_demand(linkwise: Callable) -> None:
    told = linkwise("show", "puma560", "--no-picture", "--masses", "--sources")
    assert "17.4" in told.out
    assert "Corke" in told.out
    assert "17.4" not in linkwise("show", "puma560", "--no-picture").out


def test_without_matplotlib_the_table_stays(linkwise: Callable, arm_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    told = linkwise("show", arm_file)
    assert told.status == 0
    assert "q2 + 0.2" in told.out
    assert 'pip install "matplotlib>=3.8"' in told.err
    told = linkwise("show", arm_file, "--save", "a.png")
    assert told.status == 2
    assert 'pip install "matplotlib>=3.8"' in told.err


def test_no_window_without_a_display(linkwise: Callable, arm_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    told = linkwise("show", arm_file, "--window")
    assert told.status == 2
    assert "no display" in told.err


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "\x1b[2J", "...", "", "CON:", "ü arm"])
def test_a_name_is_no_path(name: str) -> None:
    made = file_name(name)
    assert made
    assert not set(made) & set("/\\:\x1b")
    assert not made.startswith(".")


def test_motors_are_told_of_and_printed_on_demand(linkwise: Callable, arm_file: Path) -> None:
    told = linkwise("show", "puma560", "--no-picture").out
    assert "\nmotors on 6 joints\n" in told
    assert told.endswith("--motors prints the motors\n")
    told = linkwise("show", "puma560", "--no-picture", "--motors")
    assert "motors of puma560: 6 joints" in told.out
    assert "-62.6111" in told.out
    assert "-0.435" in told.out
    assert "motor" not in linkwise("show", arm_file, "--no-picture").out
    assert "no joint has a motor" in linkwise("show", arm_file, "--no-picture", "--motors").out


def test_dynamics_at_a_configuration(linkwise: Callable) -> None:
    told = linkwise("show", "puma560", "--no-picture", "--dynamics", "--q", "0,45deg,-90deg,0,0,0", "--qd", "1,0,0,0,0,0")
    assert told.status == 0, told.err
    arm = lw.robots.puma560()
    q, qd = np.radians([0, 45, -90, 0, 0, 0]), [1.0, 0, 0, 0, 0, 0]
    M, C = arm.mass_matrix(q), arm.coriolis_matrix(q, qd)
    lines = told.out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("M "))
    printed = np.array([line.split()[1:] for line in lines[start + 1 : start + 7]], dtype=float)
    assert np.allclose(printed, M, rtol=5e-6, atol=1e-12)  # six digits, and what is printed as zero
    start = next(k for k, line in enumerate(lines) if line.startswith("effort"))
    printed = np.array([line.split()[1:4] for line in lines[start + 1 : start + 7]], dtype=float)
    expected = np.stack([C @ qd, arm.gravity_torque(q), arm.friction_torque(qd)], axis=1)
    assert np.allclose(printed, expected, rtol=5e-6, atol=1e-11)
    assert "qd 1 0 0 0 0 0" in told.out


def test_speeds_alone_are_for_nothing(linkwise: Callable) -> None:
    told = linkwise("show", "planar_2r", "--qd", "1,2", "--no-picture")
    assert told.status == 2
    assert "--qd is for --dynamics" in told.err


def test_base_parameters(linkwise: Callable) -> None:
    told = linkwise("show", "planar_2r", "--no-picture", "--base-parameters")
    assert "6 base parameters of 20" in told.out
    found = lw.robots.planar_2r().base_parameters()
    rows = told.out[told.out.index("value") :].splitlines()[1:]
    assert [row.split(maxsplit=1)[1] for row in rows] == list(found.names)
    assert np.allclose([float(row.split()[0]) for row in rows], found.values, rtol=5e-6)
    nothing = lw.Mechanism([lw.Link(joint="fixed", name="post")], name="post")
    files.save(nothing, "post.toml")
    assert "0 base parameters of 10" in linkwise("show", "post.toml", "--no-picture", "--base-parameters").out


def test_dynamics_without_masses_are_remarked(linkwise: Callable) -> None:
    told = linkwise("show", "stanford", "--no-picture", "--dynamics")
    assert "remark: no masses are given for stanford; what depends on them is zero\n" in told.out
    assert "remark" not in linkwise("show", "puma560", "--no-picture", "--dynamics").out


def test_the_mass_matrix_has_the_units_that_occur(linkwise: Callable, arm_file: Path) -> None:
    slider = lw.Mechanism([lw.Link(joint="prismatic", name="cart", mass=2.0)], name="rail")
    files.save(slider, "rail.toml")
    for name, units in (("planar_2r", "kg m2"), ("rail.toml", "kg"), (arm_file, "kg m2, kg m, kg")):
        told = linkwise("show", name, "--no-picture", "--dynamics")
        assert f", {units}; q 0" in told.out
        assert f"matrix of {Path(name).stem}, {units};" in told.out


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    """A waist that turns, and a wrist that slides and cannot be at zero."""
    waist = lw.Link.dh(d=0.4, alpha=np.pi / 2, convention="standard", name="waist")
    wrist = lw.Link.dh(convention="standard", joint="prismatic", limits=(0.3, 0.5), name="wrist")
    lw.save(lw.Mechanism([waist, wrist], name="rig"), tmp_path / "rig.toml")
    return tmp_path / "rig.toml"


def test_where_the_tool_is(linkwise: Callable, rig: Path) -> None:
    told = linkwise("show", rig, "--q", "90deg,400mm", "--no-picture")
    assert "\ntool at 0.4 0 0.4 m, roll 90° pitch 0° yaw 90°\n" in told.out
    assert "remark" not in told.out
    found = json.loads(linkwise("show", rig, "--q", "90deg,40cm", "--json").out)
    pose = lw.load(rig).forward_kinematics([np.pi / 2, 0.4])
    assert np.array_equal(found["tool"]["matrix"], pose)
    assert np.array_equal(found["tool"]["position"], pose[:3, 3])
    assert np.abs(rpy_to_rotation(*found["tool"]["rpy"]) - pose[:3, :3]).max() < 1e-15  # (one rounding of cos and sin)
    assert found["remarks"] == []


def test_coordinates_outside_the_limits_are_remarked(linkwise: Callable, rig: Path) -> None:
    told = linkwise("show", rig, "--q", "0,700mm", "--no-picture")
    assert "remark: wrist 0.7 is outside 0.3 .. 0.5 m\n" in told.out
    told = linkwise("show", rig, "--no-picture", "--dynamics")
    assert "remark: wrist 0 is outside 0.3 .. 0.5 m; without --q it is shown at 0.3\n" in told.out
    assert "q 0 rad, 0.3 m\n" in told.out
    assert np.array_equal(lay_out(lw.load(rig)).tool(), lw.load(rig).forward_kinematics([0.0, 0.3]))
    facts = json.loads(linkwise("show", rig, "--json").out)
    assert facts["remarks"] == ["wrist 0 is outside 0.3 .. 0.5 m; without --q it is shown at 0.3"]
    assert "tool" not in facts


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ("90mm,0.4", "'90mm': an angle stands here; expected a number in rad, or with 'rad', 'deg' or '°'"),
        ("0,90deg", "'90deg': a length stands here; expected a number in m, or with 'm', 'cm' or 'mm'"),
        ("0,4inch", "'4inch' is not a number (1.57, 90deg, 400mm)"),
        ("0,mm", "'mm' is not a number"),
    ],
)
def test_units_that_do_not_fit(linkwise: Callable, rig: Path, q: str, message: str) -> None:
    told = linkwise("show", rig, "--q", q)
    assert told.status == 2
    assert message in told.err


def test_loops_that_are_open_are_remarked(linkwise: Callable) -> None:
    """By as much as the closure says; nothing where nothing was given, or the loops are closed."""
    told = linkwise("show", "four_bar", "--q", "0.1,0.2,0.3", "--no-picture").out
    gap = np.linalg.norm(lw.robots.four_bar().kernel("closure")([0.1, 0.2, 0.3])[:3])
    assert f"remark: loop pin is open by {gap:.6g} m at this --q\n" in told
    for q in ([], ["--q", "0,0,0"]):
        assert "open by" not in linkwise("show", "four_bar", *q, "--no-picture").out
    facts = json.loads(linkwise("show", "four_bar", "--q", "0.1,0.2,0.3", "--json").out)
    assert facts["open_loops"] == [f"loop pin is open by {gap:.6g} m"]


def test_the_axes_of_open_loops(linkwise: Callable, tmp_path: Path) -> None:
    """A hinge whose axes are opposed is half a turn off, and frames that only turn are open by that angle."""
    links = [lw.Link(axis=(1, 0, 0), name="turn"), lw.Link(parent="base", joint="fixed", name="wall")]
    for kind, angle in (("hinge", np.pi), ("hinge", 0.4), ("full", 0.4)):
        files.save(lw.Mechanism(links, loops=[lw.Loop(kind, "turn", "wall")], name="gate"), tmp_path / "gate.toml")
        told = linkwise("show", "gate.toml", "--q", repr(angle), "--no-picture").out
        assert f"remark: loop 1 is open by {angle:.6g} rad at this --q\n" in told
