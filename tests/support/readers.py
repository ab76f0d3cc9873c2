"""Every function that reads a file, with valid contents for it: for tests that hold for all readers."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import linkwise as lw
from linkwise import control, trajectory
from linkwise.cli.commands import ik
from linkwise.control import chain_file
from linkwise.control.recording import Recorder
from linkwise.control.state import State
from linkwise.errors import LinkwiseError
from linkwise.files import check, check_motion, open_motion, read, read_dh, read_srdf, remarks, save
from linkwise.files.motion import positions
from linkwise.files.number_table import read_efforts
from linkwise.server import authentication as users
from linkwise.spacelib.programs import elbow, floating, formats, laws, linear_system, rob_mat

DATA = Path(__file__).parents[1] / "files" / "data"
EXAMPLES = Path(__file__).parents[2] / "examples" / "data"
ROBOTS = files("linkwise.robots").joinpath("data")
SPACELIB = files("linkwise.spacelib").joinpath("data")

MJCF = b"""<mujoco model="arm"><compiler angle="degree" eulerseq="xyz" boundmass="0.1" boundinertia="0.01"/>
<option gravity="0 0 -9.81"/><default><joint damping="0.1" armature="0.01"/><default class="arm"><geom type="capsule"
size="0.1"/></default></default><worldbody><frame pos="0 0 1" euler="10 20 30"><body name="a" childclass="arm" pos="0 0 1"
quat="1 0 0 0"><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0"/><joint name="j" axis="0 1 0" range="-90 90"
ref="10"/><joint name="k" type="slide"/><geom fromto="0 0 0 0 0 1"/><site name="s" zaxis="0 1 0"/>
<body name="b" axisangle="0 0 1 30">
<joint name="l"/><geom type="ellipsoid" size="1 2 3" shellinertia="true"/><geom type="box" size="1 1 1" mass="2"/>
</body></body></frame><body name="c"><joint name="m" frictionloss="1"/>
<geom type="sphere" size="0.1" density="10"/></body></worldbody>
<equality><joint joint1="l" joint2="m" polycoef="0 2"/><connect body1="b" body2="c" anchor="0 0 1"/></equality>
<actuator><motor joint="m" gear="10"/></actuator></mujoco>"""
SDF = b"""<sdf version="1.9"><world name="w"><gravity>0 0 -9.8</gravity><model name="m" canonical_link="a">
<pose degrees="true">1 2 3 10 20 30</pose><frame name="f" attached_to="a"><pose>0 0 1 0 0 0.5</pose></frame>
<link name="a"><inertial><mass>2</mass></inertial><visual name="v"><geometry><box><size>1 2 3</size></box>
</geometry><material><diffuse>1 0 0 1</diffuse></material></visual></link><link name="b">
<pose relative_to="f">0.1 0.2 0.3 0 0 0</pose></link><model name="n" placement_frame="c"><link name="c">
<pose rotation_format="quat_xyzw">0 0 1 0 0 0 1</pose></link></model><joint name="j" type="revolute"><parent>a
</parent><child>b</child><axis><xyz expressed_in="__model__">0 1 0</xyz><limit><lower>-1</lower><upper>1
</upper><effort>5</effort></limit><dynamics><damping>1</damping><spring_stiffness>3</spring_stiffness>
</dynamics></axis></joint><joint name="u" type="universal"><parent>b</parent><child>n::c</child><axis>
<xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint><joint name="p" type="screw">
<screw_thread_pitch>0.1</screw_thread_pitch><parent>world</parent><child>a</child></joint>
<joint name="z" type="ball"><parent>a</parent><child>n::c</child></joint></model></world></sdf>"""
SRDF = b"""<robot name="r"><virtual_joint name="v" type="fixed" parent_frame="world" child_link="base"/><group name="arm">
<chain base_link="base" tip_link="link2"/><joint name="link1"/></group><group name="all"><group name="arm"/></group>
<group_state name="up" group="arm"><joint name="link1" value="1.5"/></group_state><passive_joint name="link2"/>
<end_effector name="e" parent_link="link2" group="all"/><disable_collisions link1="link1" link2="link2"/></robot>"""
MOTION = b"t,q1,q2,q3,qd1,qd2,qd3,qdd1,qdd2,qdd3\n0,0,0,0,1,2,0,10,20,0\n0.05,0.1,0.1,0,1.1,2.1,0,11,21,0\n"


class Reader(NamedTuple):
    """A reader: the file's suffix, valid contents, and what reads a path."""

    suffix: str
    valid: tuple[bytes, ...]
    read: Callable[[Path], Any]


def _description(path: Path) -> None:
    """Read a description in every way; what is read is written and read again."""
    problems = check(path)
    try:
        description = read(path)
    except LinkwiseError:
        assert problems, "refused by read, and check reports nothing"
        raise
    assert not problems, "read, and check reports problems"
    remarks(path)
    again = path.with_name("again.toml")
    save(description.mechanism, again, external=description.external, source=description.source)
    assert read(again).mechanism == description.mechanism, "not the same after writing and reading"


def _motion(path: Path) -> None:
    try:
        open_motion(path, 3).read()
    except LinkwiseError:
        assert check_motion(path, 3), "refused by open_motion, and check_motion reports nothing"
        raise


def _written(write: Callable[[Path], Any], name: str) -> bytes:
    """What a function writes to a file of that name."""
    with TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def _targets(**given: Any) -> None:
    options: dict[str, Any] = dict.fromkeys(("targets", "position", "rpy", "quaternion", "matrix", "mask", "link"))
    ik.targets(SimpleNamespace(**{**options, **given}))


def _recorded() -> Recorder:
    chain = control.load(EXAMPLES / "jog.toml")
    recorder = chain.record(8)
    for _ in range(12):
        chain.step(0.01)
    return recorder


def _bundled(name: str) -> bytes:
    return SPACELIB.joinpath(name).read_bytes()


def readers() -> dict[str, Reader]:
    """All readers by name."""
    planar, recorder = lw.robots.planar_2r(), _recorded()
    quintic = trajectory.quintic(np.zeros(3), np.ones(3), 1.0)
    line = trajectory.cartesian(np.eye(4), np.eye(4), 1.0, samples=20)
    result = rob_mat.run(SPACELIB.joinpath("SCARA.DAT"), SPACELIB.joinpath("SCARA.MOT"))
    chain = control.load(EXAMPLES / "jog.toml")
    user = users.new_user("anna", "correct horse").line().encode() + b"\n"
    tomls = (
        *(ROBOTS.joinpath(f"{name}.toml").read_bytes() for name in ("puma560", "elbow", "planar_2r", "four_bar")),
        (DATA / "rover.toml").read_bytes(),
    )
    urdfs = tuple(path.read_bytes() for path in (*sorted(DATA.glob("*.urdf")), EXAMPLES / "picker.urdf"))
    chains = tuple((EXAMPLES / name).read_bytes() for name in ("ship_crane.toml", "jog.toml", "press.toml"))
    poses = b"x,y,z,qw,qx,qy,qz\n1,2,3,1,0,0,0\n0.5,0.1 ,0.2,0.5,0.5,0.5,0.5\n"
    rows = b"1 0 0 0.5\n0 1 0 0.1\n0 0 1 0.2\n0 0 0 1\n"
    table = b"0, 0.3, 0, 1.57, 0\n0, 0, 0.5, 0, 0\n0.1, 0, 0.3, 0, 1\n"
    return {
        "linkwise .toml": Reader(".toml", tomls, _description),
        "SpaceLib .DAT": Reader(".dat", (_bundled("SCARA.DAT"), _bundled("SMART.DAT")), _description),
        "URDF": Reader(".urdf", urdfs, _description),
        "MJCF": Reader(".xml", (MJCF,), _description),
        "SDF": Reader(".sdf", (SDF,), _description),
        "SRDF": Reader(".srdf", (SRDF,), lambda path: read_srdf(path, planar)),
        "xacro": Reader(".xacro", urdfs, read),
        "DH table": Reader(".csv", (table,), lambda path: read_dh(path, dialect="matlab", convention="standard")),
        "SpaceLib .MOT": Reader(".mot", (_bundled("SCARA.MOT"),), _motion),
        "motion .csv": Reader(".csv", (MOTION,), _motion),
        "positions .csv": Reader(".csv", (b"t,q1,q2,q3\n0,0,0,0\n1,1,2,3\n",), lambda path: positions(path, 3)),
        "chain": Reader(".toml", chains, chain_file.read),
        "recording .npz": Reader(".npz", (_written(recorder.write, "a.npz"),), Recorder.load),
        "recording .csv": Reader(".csv", (_written(recorder.write, "a.csv"),), Recorder.load),
        "state": Reader(".npz", (_written(chain.save().write, "a.npz"),), State.read),
        "trajectory": Reader(".npz", (_written(quintic.save, "a.npz"),), trajectory.Trajectory.load),
        "motion of a frame": Reader(".npz", (_written(line.save, "a.npz"),), trajectory.CartesianTrajectory.load),
        "efforts": Reader(".csv", (b"t,tau1 [N m],tau_link2\n0,1,2\n0.5,3,4\n",), lambda path: read_efforts(path, planar)),
        "targets": Reader(".csv", (poses,), lambda path: _targets(targets=str(path))),
        "target matrices": Reader(".txt", (rows,), lambda path: _targets(matrix=str(path))),
        "users": Reader(".txt", (user,), users.read_users),
        "program .OUT": Reader(".out", (_written(lambda path: rob_mat.write(path, result), "a.out"),), formats.read_out),
        "program lengths": Reader(".dat", (_bundled("ELBOW.DAT"),), elbow.read_lengths),
        "program guess": Reader(".1st", (_bundled("GUESS.1ST"),), elbow.read_guess),
        "program system": Reader(".dat", (_bundled("INP.DAT"),), linear_system.read_system),
        "program two links": Reader(".dat", (_bundled("TEST.DAT"),), floating.read_two_links),
        "program motion": Reader(".mot", (_bundled("SCARA.MOT"),), lambda path: laws.read_motion(path, 3)),
        "program robot": Reader(".dat", (_bundled("SCARA.DAT"),), rob_mat.read_robot),
    }
