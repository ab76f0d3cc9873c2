"""Writing MJCF: MuJoCo loads it and moves as we do, it is read again as it was; what it cannot hold is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import linkwise as lw
from linkwise import (
    BallSpring,
    ConstantForce,
    EndStop,
    Inertia,
    LinearSpringDamper,
    Link,
    Loop,
    Mechanism,
    Mimic,
    Motor,
    Spring,
    robots,
)
from linkwise.errors import FileError
from linkwise.files import Description, read, remarks, save
from linkwise.files.formats.mjcf import losses, reader, writer
from linkwise.files.registry import ReadOptions
from linkwise.model.shape import Shape
from linkwise.spatial.transform import transform, translation
from support.mujoco_from_mjcf import MujocoTwin
from support.random_mechanisms import direct, random_body, random_mechanism, random_pose, random_state, relative

BOUND = 2e-14
"""Relative: a quaternion makes its rotation again to a rounding or two, here along chains of up to eight links."""

KINDS = ("revolute", "ball", "universal", "cylindrical", "planar", "prismatic", "fixed", "revolute")


def again(mech: Mechanism, **options: Any) -> Mechanism:
    reading = reader.parse(writer.render(mech), "", ReadOptions(**options))
    assert reading.description is not None, reading.problems
    return reading.description.mechanism


def twin(mech: Mechanism) -> MujocoTwin:
    """MuJoCo's model of what is written, and ours of the same text."""
    return MujocoTwin(again(mech), mujoco.MjModel.from_xml_string(writer.render(mech)))


def same_motion(mech: Mechanism, other: Mechanism) -> float:
    """The largest relative difference of poses, tool, mass matrix, springs and inverse dynamics at the same q."""
    assert (other.names, other.floating) == (mech.names, mech.floating)
    assert np.array_equal(np.column_stack([other.q_min, other.q_max]), np.column_stack([mech.q_min, mech.q_max]))
    q, qd, qdd = random_state(mech)
    at = [other.link_index(name) for name in mech.link_names]
    differences = [relative(direct(other, "link_poses", q)[at], direct(mech, "link_poses", q))]
    calls = {"forward_kinematics": (q,), "mass_matrix": (q,), "spring_torque": (q, qd), "inverse_dynamics": (q, qd, qdd)}
    differences += [relative(direct(other, name, *args), direct(mech, name, *args)) for name, args in calls.items()]
    return max(differences)


def depth_first(seed: int, **rest: Any) -> Mechanism:
    """A random tree of all kinds of joints, in the order of MJCF."""
    rng = np.random.default_rng(seed)
    parents = [-1, 0, 1, 2, 1, 4, 0, -1]
    mech = random_mechanism(seed, list(rng.permutation(KINDS)), parents, motors=False, **rest)
    joints = list(mech.names)
    springs = [Spring(joints[0], 3.0, 0.2), Spring({joints[0]: 0.5, joints[1]: -2.0}, 7.0, -1.0, 0.4, name="tendon")]
    motors = [Motor(inertia=0.02, viscous=0.3, joint=joints[2]), Motor(inertia=0.01, joint=joints[2])]
    line = LinearSpringDamper([("base", (0, 0, 2.0)), (mech.link_names[-2], (0.1, 0.2, 0.3))], 4.0, 0.3, 0.2)
    springs += [
        Spring(joints[1], 2.0, 0.1, nonlinear_stiffness=(0.5, 3.0)),
        Spring({joints[2]: 1.0}, 0, -1.0, nonlinear_stiffness=(1, 2)),
    ]
    springs += [Spring(joints[3], damping=0.2), Spring({joints[2]: 1.0, joints[3]: 0.3}, 5.0, -0.2, slack=0.3)]
    balls = [BallSpring(link.coordinate_name, 2.0) for link in mech.links if link.joint == "ball"]
    borne = [ConstantForce(x.name, -0.7 * x.body.mass * mech.gravity, x.body.com) for x in mech.links[1:4] if x.body.mass]
    return mech.replace(springs=[*springs, line, *balls, *borne], motors=motors)


def with_torso(mech: Mechanism, **body: Any) -> Mechanism:
    return mech.replace(links=[Link(name="torso", joint="fixed", parent="base", **body), *mech.links])


# ── MuJoCo ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(2))
def test_any_tree_is_that_of_mujoco_and_is_read_again(seed: int) -> None:
    """Poses, mass matrix, bias, springs and inverse dynamics."""
    floats = bool(seed % 2)
    mech = depth_first(seed, floating=floats, **({"base": np.eye(4)} if floats else {}))
    mech = with_torso(mech, **random_body(np.random.default_rng(seed))) if floats else mech
    assert not losses.losses(Description(mech)).never
    twin(mech).compare(seed)
    difference = same_motion(mech, again(mech))
    print(f"read again: {difference:.1e}")
    assert difference < BOUND
    assert losses.losses(Description(again(mech))).lost == []
    assert same_motion(again(mech), again(again(mech))) < BOUND


def test_moves_as_in_mujoco_for_a_second() -> None:
    """An arm with springs, dampers, tendons with inertias and rotor inertia: RK4 of 0.1 ms."""
    rng = np.random.default_rng(3)
    mech = random_mechanism(3, ["revolute", "prismatic", "revolute"], [-1, 0, 1], motors=False)
    springs = [Spring("part0", 20.0, 0.2, 0.5), Spring({"part0": 0.4, "part2": -1.0}, 9.0, -1.0, 0.2, inertia=0.3)]
    springs += [Spring("part1", 400.0, 0.1)]
    springs += [
        LinearSpringDamper(
            [("base", (0.1, 2.0, 0.3)), ("part0", (1.0, 0, 0)), ("part2", (0.2, 0.1, 0))], 5.0, 0.5, 0.1, inertia=0.4
        )
    ]
    mech = mech.replace(springs=springs, motors=[Motor(inertia=0.05, viscous=0.2, joint="part2")])
    model = mujoco.MjModel.from_xml_string(writer.render(mech))
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    q, qd = rng.uniform(-0.5, 0.5, (2, 3))
    data.qpos[:], data.qvel[:] = q, qd
    mujoco.mj_step(model, data, 10000)
    ours = lw.simulate(mech, q, qd, t=(1.0, 1e-4))
    difference = np.abs(np.concatenate([ours.q[-1] - data.qpos, ours.qd[-1] - data.qvel])).max()
    print(f"after a second: {difference:.1e}")
    assert np.abs(ours.q[-1] - q).max() > 0.1
    assert difference < 1e-9


@pytest.mark.parametrize("parents", [(-1, 0, 1), (-1, 0, 0)])
def test_inertia_between_branches_is_said_to_be_lost(parents: tuple[int, ...]) -> None:
    """MuJoCo leaves it out of its mass matrix, which has places for joints of one branch alone."""
    mech = random_mechanism(3, ["revolute"] * 3, parents, motors=False)
    tendon = Spring({"part1": 1.0, "part2": -1.0}, inertia=0.3)
    line = LinearSpringDamper([("part1", (0.1, 0, 0)), ("part2", (0.2, 0.1, 0))], inertia=0.4)
    for spring in (tendon, line):
        lost = losses.losses(Description(mech.replace(springs=[spring]))).lost
        assert lost == ["spring 'part1': its inertia between branches (MuJoCo leaves it out)"] * (parents[2] == 0)
        data = mujoco.MjData(model := mujoco.MjModel.from_xml_string(writer.render(mech.replace(springs=[spring]))))
        mass, q = np.zeros((3, 3)), np.array([0.1, 0.2, 0.3])
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, mass)
        difference = np.abs(direct(mech.replace(springs=[spring]), "mass_matrix", q) - mass).max()
        assert (difference > 1e-3) == (parents[2] == 0)


def test_several_trees_and_free_bodies() -> None:
    """An arm beside two boxes, one of which has its centre elsewhere than its frame."""
    body = random_body(np.random.default_rng(5))
    links = [Link(name=f"box{k}", joint="floating", joint_name=f"free{k}", parent="base", **body) for k in range(2)]
    links[1] = links[1].replace(after=random_pose(np.random.default_rng(6)))
    mech = random_mechanism(4, ["revolute", "revolute"], [-1, 0], motors=False, base=np.eye(4))
    mech = mech.replace(links=[*mech.links, *links], tool_link="part1")
    twin(mech).compare(4)
    assert same_motion(mech, again(mech)) < BOUND


def test_loops_and_followers() -> None:
    """A weld, a connection and a joint that follows hold in MuJoCo where they hold here."""
    rng = np.random.default_rng(8)
    mech = random_mechanism(8, ["revolute"] * 4, [-1, 0, -1, 2], motors=False)
    follower = mech.links[3].replace(mimic=Mimic("part1", -1.5, 0.2), parent="part2")
    mech = mech.replace(links=[*mech.links[:3], follower])
    q = rng.uniform(-1, 1, mech.nq)
    poses = np.asarray(direct(mech, "link_poses", q))
    first, other = random_pose(rng), random_pose(rng)
    second = np.linalg.inv(poses[3]) @ poses[1] @ first
    ground = np.linalg.inv(mech.base) @ poses[1] @ other
    mech = mech.replace(
        loops=[Loop("full", "part1", "part3", first, second, "tie"), Loop("point", "part1", "base", other, ground)]
    )
    data = mujoco.MjData(model := mujoco.MjModel.from_xml_string(writer.render(mech)))
    data.qpos[:] = [*q, -1.5 * q[1] + 0.2]
    mujoco.mj_forward(model, data)
    assert model.neq == 3
    assert np.abs(data.efc_pos[:10]).max() < 1e-14
    read_again = again(mech)
    assert [(loop.kind, loop.name, loop.first, loop.second) for loop in read_again.loops] == [
        ("full", "tie", "part1", "part3"),
        ("point", None, "part1", "base"),
    ]
    assert relative(direct(read_again, "closure", q + 0.1), direct(mech, "closure", q + 0.1)) < 1e-13
    assert same_motion(mech.replace(loops=()), read_again.replace(loops=())) < BOUND


def test_friction_limits_and_efforts() -> None:
    motor = Motor(inertia=2e-4, viscous=0.01, coulomb=0.4)
    link = Link(name="a", joint_name="j", mass=1.0, inertia=(0.1, 0.1, 0.1), limits=(-0.5, 1.5), tau_max=8.0, motor=motor)
    mech = Mechanism([link, Link(name="b", joint="prismatic", offset=0.25, mass=1.0, inertia=(0.1, 0.1, 0.1))], name="a & b")
    assert losses.losses(Description(mech)) == losses.Losses()
    read_again = again(mech)
    assert (read_again.name, read_again.links[0].limits, read_again.links[0].tau_max) == ("a & b", (-0.5, 1.5), 8.0)
    assert (read_again.links[0].motor.inertia, read_again.links[0].motor.coulomb) == (2e-4, (0.4, -0.4))
    assert read_again.links[1].offset == 0.25
    assert np.array_equal(read_again.links[1].body.tensor, mech.links[1].body.tensor)
    twin(mech).compare(0)


def test_tool_and_payload() -> None:
    mech = random_mechanism(2, ["revolute", "revolute"], [-1, 0], motors=False)
    for held in (mech, mech.with_payload(0.7, (0.1, 0, 0), (0.01, 0.01, 0.01))):
        difference = same_motion(held, again(held))
        model = mujoco.MjModel.from_xml_string(writer.render(held))
        data = mujoco.MjData(model)
        data.qpos[:] = 0.3, -0.4
        mujoco.mj_forward(model, data)
        assert difference < BOUND
        ours = direct(held, "forward_kinematics", data.qpos)
        assert relative(data.site("tool").xpos, ours[:3, 3]) < BOUND
        assert relative(data.site("tool").xmat.reshape(3, 3), ours[:3, :3]) < BOUND


def test_massless_links_become_joints_of_one_body() -> None:
    """MuJoCo moves no massless body; the universal joint of a massless fork and the tree keep their coordinates."""
    links = [Link(name="fork"), Link(name="cross", before=translation(0.1, 0, 0), axis=(1, 0, 0))]
    links.append(
        Link(name="wheel", joint="prismatic", after=random_pose(np.random.default_rng(1)), mass=1.0, inertia=(0.1, 0.1, 0.1))
    )
    mech = Mechanism(links)
    twin(mech).compare(1)
    assert mujoco.MjModel.from_xml_string(writer.render(mech)).nbody == 2
    assert again(mech).link_names == ("wheel_fork", "wheel_cross", "wheel")
    unnamed = "its name (it has no inertia: its joint becomes one of the next body)"
    assert losses.losses(Description(mech)).lost == [f"link {name!r}: {unnamed}" for name in ("fork", "cross")]


def test_thin_and_point_bodies_load() -> None:
    """Rounding may not make a plate one that MuJoCo refuses; the moments that a point lacks are said."""
    turn = random_pose(np.random.default_rng(7))[:3, :3]
    plate = turn @ np.diag([0.1, 0.7, 0.8]) @ turn.T
    links = [Link(name="plate", mass=1.0, inertia=0.5 * (plate + plate.T)), Link(name="bob", mass=1.0, com=(0.5, 0, 0))]
    mech = Mechanism(links)
    lost = "its mass or moments of inertia of 0 (1e-14 is written, and MuJoCo moves no body without mass and moments"
    assert losses.losses(Description(mech)).lost == [f"link 'bob': {lost} of inertia)"]
    twin(mech).compare(7)
    assert same_motion(mech, again(mech)) < 1e-13


def test_shapes(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    at = transform(None, (0.1, 0.2, 0.3))
    shapes = [
        Shape("arm", "box", (0.1, 0.2, 0.3), origin=at, colour=(1, 0, 0, 0.5), name="cover"),
        Shape("arm", "capsule", (0.1, 0.4), role="collision"),
        Shape("base", "cylinder", (0.1, 0.4)),
    ]
    save(Mechanism([Link(name="arm", mass=1.0, inertia=(0.1, 0.1, 0.1))]), path, shapes=shapes)
    kept = read(path).shapes
    known = {(s.link, s.kind, s.size, s.role, s.name) for s in kept}
    assert known == {(s.link, s.kind, s.size, s.role, s.name) for s in shapes}
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.body_mass.tolist() == [0.0, 1.0]


def test_a_robot_of_a_file_is_written(tmp_path: Path) -> None:
    """The panda: nothing is lost but its greatest velocities."""
    panda = robots.load("panda")
    save(panda, tmp_path / "panda.xml", allow_loss=True)
    loaded = lw.load(tmp_path / "panda.xml")
    print(losses.losses(Description(panda)))
    assert same_motion(panda, loaded) < 1e-12


# ── what is refused ───────────────────────────────────────────────────────────────────────────────

SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
ARM = Link(name="arm", **SOLID)


@pytest.mark.parametrize(
    ("mech", "lost"),
    [
        (Mechanism([ARM.replace(qd_max=1.0, qdd_max=2.0)]), ["link 'arm': its qd_max", "link 'arm': its qdd_max"]),
        (
            Mechanism([ARM.replace(limits=(0.0, np.inf))]),
            ["link 'arm': its limits (of one side alone, or without a range)"],
        ),
        (Mechanism([Link(joint="ball", name="b", limits=(0, 1), **SOLID)]), ["link 'b': its limits (of a cone)"]),
        (
            Mechanism([ARM], motors=[Motor(1e-4, 50.0, coulomb=(0.2, -0.1), joint="arm")]),
            [
                "motor of 'arm': its gear ratio (inertia and friction are written as the joint feels them)",
                "motor of 'arm': its Coulomb friction by direction (the mean of both is written)",
            ],
        ),
        (Mechanism([ARM], springs=[Spring("arm", 1.0, force=2.0)]), ["spring 'arm': its constant force"]),
        (
            Mechanism([ARM], springs=[EndStop("arm", 1e4, limits=(-1, 1))]),
            ["end stop of 'arm' (the stops of MuJoCo have another law)"],
        ),
        (
            Mechanism([Link(joint="floating", name="b", before=translation(1, 0, 0), **SOLID)]),
            ["link 'b': its placement (a free joint counts from the world)"],
        ),
        (
            Mechanism([Link(name=name, parent=on, **SOLID) for name, on in (("a", "base"), ("b b", "base"), ("c", "a"))]),
            [f"the order of its links ({losses._NESTED})"],
        ),
    ],
)
def test_what_is_lost_is_said(mech: Mechanism, lost: list[str], tmp_path: Path) -> None:
    assert losses.losses(Description(mech)) == losses.Losses(lost)
    with pytest.raises(FileError):
        save(mech, tmp_path / "arm.xml")
    save(mech, tmp_path / "arm.xml", allow_loss=True)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml")).nv == mech.nv
    assert lw.load(tmp_path / "arm.xml").nv == mech.nv


@pytest.mark.parametrize(
    ("mech", "never"),
    [
        (Mechanism([Link(name="nut", joint="screw", pitch=0.1, **SOLID)]), "link 'nut': its screw joint"),
        (
            Mechanism([ARM, Link(name="ball", joint="floating", **SOLID)]),
            "link 'ball': its floating joint (a free joint stands in the world alone)",
        ),
        (
            Mechanism([Link(name="flange")]),
            "link 'flange': it has no inertia, nor has anything fixed to it, and MuJoCo moves no body without mass and "
            "moments of inertia",
        ),
        (
            Mechanism([ARM], floating=True),
            "its floating base: it has no inertia, nor has anything fixed to it, and MuJoCo moves no body without mass "
            "and moments of inertia",
        ),
        (
            Mechanism([ARM.replace(body=Inertia(1.0, inertia=(1.0, 1.0, 3.0), physical=False))]),
            "link 'arm': no body has its inertia, and MuJoCo loads no such file",
        ),
        (
            Mechanism([ARM, Link(name="b", **SOLID)], loops=[Loop("hinge", "b", "base", name="pin")]),
            "loop 'pin': its kind 'hinge'; expected 'point' or 'full'",
        ),
        (Mechanism([Link(name="world", **SOLID)]), "link 'world': its name, which means the world"),
        (Mechanism([Link(name="a\x01", **SOLID)]), "the name 'a\\x01' (XML cannot represent it)"),
    ],
)
def test_what_cannot_be_written_is_refused(mech: Mechanism, never: str, tmp_path: Path) -> None:
    assert losses.losses(Description(mech)).never == [never]
    with pytest.raises(FileError):
        save(mech, tmp_path / "arm.xml", allow_loss=True)
    assert not (tmp_path / "arm.xml").exists()


@pytest.mark.parametrize("floating", [False, True])
def test_links_keep_their_order(floating: bool, tmp_path: Path) -> None:
    """Branches that take turns come back as they were; MuJoCo moves the same, its coordinates in the order of the file."""
    rng = np.random.default_rng(3)
    parents = ["base", "base", "l0", "l1", "l0", "l2", "l3", "l1"]
    links = [
        Link(name=f"l{k}", parent=on, before=translation(*rng.uniform(-1, 1, 3)), axis=rng.normal(size=3), **SOLID)
        for k, on in enumerate(parents)
    ]
    root = [Link(name="trunk", joint="fixed", **SOLID)] if floating else []
    mech = Mechanism([*root, *links], floating=floating, name="tree")
    save(mech, tmp_path / "tree.xml")
    again = lw.load(tmp_path / "tree.xml")
    assert [name for name in again.link_names if name != "tool"] == list(mech.link_names)
    q, qd, qdd = (rng.uniform(-1, 1, n) for n in (mech.nq, mech.nv, mech.nv))
    q[: mech.nq - mech.n] = mech.neutral[: mech.nq - mech.n]
    tau = mech.inverse_dynamics(q, qd, qdd)
    assert np.abs(again.inverse_dynamics(q, qd, qdd) - tau).max() < 1e-12
    if floating:
        return
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "tree.xml"))
    data, names = mujoco.MjData(model), mech.link_names
    for name, *values in zip(names, q, qd, qdd, strict=True):
        (data.joint(name).qpos[0], data.joint(name).qvel[0], data.joint(name).qacc[0]) = values
    mujoco.mj_inverse(model, data)
    found = [data.joint(name).qfrc_inverse[0] for name in names]
    assert np.abs(np.array(found) - tau).max() < 1e-12 * np.abs(tau).max()


def test_bodies_that_the_order_does_not_list(tmp_path: Path) -> None:
    """One that was added by hand stands before what follows it in the file; a name without a body counts for nothing."""
    text = writer.render(
        Mechanism([Link(name=n, parent=p, **SOLID) for n, p in zip("abc", ("base", "base", "a"), strict=True)])
    )
    assert 'data="a b c"' in text
    added = text.replace(
        '<body name="c">', '<body name="d"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body><body name="c">'
    )
    (tmp_path / "arm.xml").write_text(added.replace("a b c", "a gone b c"))
    assert lw.load(tmp_path / "arm.xml").link_names == ("a", "b", "d", "c")
    beside = text.replace("</custom>", '<numeric name="n" data="1"/></custom>')  # (as MuJoCo itself writes them together)
    (tmp_path / "arm.xml").write_text(beside)
    assert lw.load(tmp_path / "arm.xml").link_names == ("a", "b", "c")
    assert any("<custom>" in str(remark) for remark in remarks(tmp_path / "arm.xml"))
