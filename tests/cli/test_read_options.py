"""Descriptions that need something said beside their name: tables, and inertias that no body can have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import linkwise as lw

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = (
    f'<robot name="arm"><link name="a"/><link name="b">{BODY}</link><joint name="j" type="continuous">'
    '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two links in the columns of the MATLAB toolbox."""
    path = tmp_path / "table.csv"
    path.write_text("0 0 0.5 0 0\n0 0 0.4 0 0\n")
    return path


SPOKEN = ("--dialect", "matlab", "--convention", "standard")


def test_a_table_is_a_mechanism_of_every_command(linkwise: Callable, table: Path, tmp_path: Path) -> None:
    assert "table: 2 joints (RR)" in linkwise("show", table, *SPOKEN, "--no-picture").out
    (tmp_path / "motion.csv").write_text("t,q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0,0\n1,1,1,0,0,0,0\n")
    assert linkwise("run", table, "motion.csv", *SPOKEN, "--no-figures", "-q").status == 0
    assert linkwise("convert", table, "arm.toml", *SPOKEN).status == 0
    assert lw.load(tmp_path / "arm.toml").n == 2


def test_a_table_whose_columns_are_not_named_is_refused(linkwise: Callable, table: Path) -> None:
    told = linkwise("show", table, "--no-picture")
    assert told.status == 2
    assert "the dialect of this table is not stated; expected 'linkwise', 'matlab', 'python' or 'toolbox7'" in told.err
    assert "name it with --dialect" in told.err


def test_impossible_inertias_are_taken_where_that_is_said(linkwise: Callable, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    told = linkwise("show", "arm.urdf", "--no-picture")
    assert told.status == 2
    assert told.err.rstrip().endswith("(triangle inequality); --any-inertia accepts it")
    assert linkwise("check", "arm.urdf").status == 1
    for command in (("show", "--no-picture"), ("check",)):
        told = linkwise(*command, "arm.urdf", "--any-inertia")
        assert told.status == 0
        assert "arm" in told.out
    assert linkwise("convert", "arm.urdf", "arm.toml", "--any-inertia").status == 0
    assert not lw.load(tmp_path / "arm.toml").links[1].body.physical
    assert lw.load(tmp_path / "arm.urdf", physical=False).n == 1


def test_loops_without_a_drive_are_refused_before_anything_is_written(linkwise: Callable, tmp_path: Path) -> None:
    arm = lw.Mechanism([lw.Link(name="a"), lw.Link(name="b")], loops=[lw.Loop("point", "b", "base", name="pin")])
    lw.save(arm, tmp_path / "arm.toml")
    (tmp_path / "motion.csv").write_text("t,q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0,0\n")
    told = linkwise("run", "arm.toml", "motion.csv")
    assert told.status == 2
    assert "driven is missing" in told.err
    assert "'a' and 'b'" in told.err
    assert not (tmp_path / "out").exists()


# ── options for what a file does not say ──────────────────────────────────────────────────────────

FOREST = """<robot name="r"><link name="pelvis"/><link name="leg"/><link name="table"/>
<joint name="hip" type="revolute"><parent link="pelvis"/><child link="leg"/><limit lower="{}" upper="{}"/></joint></robot>"""
XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><xacro:arg name="count" default="1"/>
<xacro:include filename="$(find parts)/base.xacro"/>
<xacro:if value="${int('$(arg count)') == 2}"><link name="second"/>
<joint name="j" type="continuous"><parent link="base_link"/><child link="second"/></joint></xacro:if></robot>"""
MJCF = """<mujoco><default><joint armature="0.1"/></default><worldbody><include file="../hull.xml"/></worldbody></mujoco>"""
HULL = '<any><body name="hull"><joint type="free"/><geom size="1"/></body></any>'


def test_root_and_reversed_limits(linkwise: Callable, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(FOREST.format(1, -1))
    wrong = linkwise("check", "r.urdf")
    assert (wrong.status, "--root 'pelvis' reads one" in wrong.out, "root='" in wrong.out) == (1, True, False)
    reversed_limits = linkwise("check", "r.urdf", "--root", "pelvis")
    assert (reversed_limits.status, "--swap-limits exchanges" in reversed_limits.out) == (1, True)
    read = linkwise("check", "r.urdf", "--root", "pelvis", "--swap-limits", "--json")
    assert (read.status, json.loads(read.out)["links"]) == (0, ["pelvis", "leg"])
    assert linkwise("convert", "r.urdf", "r.toml", "--root", "pelvis", "--swap-limits").status == 0
    assert linkwise("check", "r.urdf", "--root", "pelvis", "--swap-limits", "--against", "r.toml").status == 0


def test_xacro_arguments_and_packages(linkwise: Callable, tmp_path: Path) -> None:
    (tmp_path / "arm.xacro").write_text(XACRO)
    (tmp_path / "elsewhere" / "parts-main").mkdir(parents=True)
    (tmp_path / "elsewhere" / "parts-main" / "package.xml").write_text("<package><name>parts</name></package>")
    (tmp_path / "elsewhere" / "parts-main" / "base.xacro").write_text('<robot><link name="base_link"/></robot>')
    missing = linkwise("check", "arm.xacro")
    assert (missing.status, "--package-dir names its folder" in missing.out) == (1, True)
    for argument in ("count=2", "count:=2"):
        read = linkwise("check", "arm.xacro", "--package-dir", "elsewhere", "--xacro", argument, "--json")
        assert (read.status, json.loads(read.out)["links"]) == (0, ["base_link", "second"])
    unknown = linkwise("check", "arm.xacro", "--package-dir", "elsewhere", "--xacro", "cuont=2")
    assert (unknown.status, "'cuont'" in unknown.out, "'count'" in unknown.out) == (1, True, True)
    assert linkwise("check", "arm.xacro", "--xacro", "count").status == 2
    (tmp_path / "arm.xacro").write_text('<robot name="$(arg name)"><link name="a"/></robot>')
    undefined = linkwise("check", "arm.xacro")
    assert (undefined.status, "--xacro name=... gives" in undefined.out) == (1, True)


def test_include_root_and_free_armature(linkwise: Callable, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "scene.xml").write_text(MJCF)
    (tmp_path / "hull.xml").write_text(HULL)
    outside = linkwise("check", "inner/scene.xml")
    assert (outside.status, "--include-root names" in outside.out) == (1, True)
    heavy = linkwise("check", "inner/scene.xml", "--include-root", ".")
    assert heavy.status == 0
    assert linkwise("check", "inner/scene.xml", "--include-root", ".", "--bare-free-joints").status == 0


@pytest.mark.parametrize("option", [("--root", "link2"), ("--xacro", "a=b")])
def test_options_without_effect_are_refused(linkwise: Callable, tmp_path: Path, option: tuple[str, str]) -> None:
    """They would give another mechanism than the one asked for."""
    lw.save(lw.robots.planar_2r(), tmp_path / "arm.toml")
    (tmp_path / "table.csv").write_text("0 0 0.5 0 0\n")
    for command in (["show", "planar_2r"], ["show", "arm.toml"], ["show", "table.csv", *SPOKEN]):
        result = linkwise(*command, *option)
        assert result.status == 2
        assert option[0].removeprefix("--") in result.err


@pytest.mark.parametrize("option", ["--include-root", "--package-dir"])
def test_a_folder_that_is_not_there_is_refused(linkwise: Callable, tmp_path: Path, option: str) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="r"><link name="a"/></robot>')
    told = linkwise("check", path, option, tmp_path / "none")
    assert told.status == 2
    assert option in told.err
    assert str(tmp_path / "none") in told.err.replace("\n", "")
