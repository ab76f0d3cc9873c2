"""Descriptions that need something said beside their name: tables, and inertias that no body can have."""

from __future__ import annotations

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
    assert "which dialect this table is in must be said: 'linkwise', 'matlab', 'python' or 'toolbox7'" in told.err
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


def test_closed_loops_are_refused_before_anything_is_written(linkwise: Callable, tmp_path: Path) -> None:
    arm = lw.Mechanism([lw.Link(name="a"), lw.Link(name="b")], loops=[lw.Loop("point", "b", "base", name="pin")])
    lw.save(arm, tmp_path / "arm.toml")
    (tmp_path / "motion.csv").write_text("t,q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0,0\n")
    told = linkwise("run", "arm.toml", "motion.csv")
    assert told.status == 2
    assert "has closed loops, 'pin'; run is for mechanisms without" in told.err
    assert not (tmp_path / "out").exists()
