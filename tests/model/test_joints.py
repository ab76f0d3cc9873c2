"""Joints with several coordinates: names, limits and motors of links, and what the rest of the library makes of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import Link, Mechanism, Motor
from linkwise.errors import ArgumentError, ModelError
from linkwise.model.assembly import separated
from linkwise.model.joints import JOINTS
from linkwise.solve import Pose, solve
from linkwise.spatial.rotation import rotation_z
from linkwise.spatial.transform import transform, translation
from support.random_mechanisms import SEVERAL_KINDS, direct, random_mechanism, random_state, relative

BODY: dict[str, Any] = {"mass": 1.3, "com": (0.1, 0.2, -0.05), "inertia": (0.02, 0.03, 0.04)}
TWO = [(1, 0, 0), (0, 1, 0)]


def reaching() -> Mechanism:
    """An arm through every kind of joint but a floating one, all within limits."""
    return Mechanism(
        [
            Link(name="a", limits=(-2, 2), **BODY),
            Link(name="b", joint="ball", limits=(0, 0.9), before=translation(0.3, 0.1, 0), **BODY),
            Link(name="u", joint="universal", axis=TWO, limits=[(-1, 1), (-1, 1)], before=translation(0, 0.1, 0.4), **BODY),
            Link(name="c", joint="cylindrical", axis=(0, 1, 1), limits=[None, (-0.3, 0.3)], before=translation(0, 0.1, 0.4)),
        ]
    )


# ── kinds ─────────────────────────────────────────────────────────────────────────────────────────


def test_placements_of_each_kind() -> None:
    angle, x, y = 0.7, 0.2, -0.3
    assert np.allclose(Link(joint="cylindrical").placement([angle, x]), transform(rotation_z(angle), (0, 0, x)), atol=1e-16)
    assert np.allclose(Link(joint="planar").placement([x, y, angle]), transform(rotation_z(angle), (x, y, 0)), atol=1e-16)
    first, second = (Link(axis=axis).placement(value) for axis, value in zip(TWO, (0.4, 0.9), strict=True))
    assert np.allclose(Link(joint="universal", axis=TWO).placement([0.4, 0.9]), first @ second, atol=1e-16)
    half = math.sin(0.35)
    turned = Link(joint="ball").placement([math.cos(0.35), 0, 0, half])
    assert np.allclose(turned, transform(rotation_z(angle), None), atol=1e-15)
    moved = Link(joint="floating").placement([x, y, 0.5, math.cos(0.35), 0, 0, half])
    assert np.allclose(moved, transform(rotation_z(angle), (x, y, 0.5)), atol=1e-15)


@pytest.mark.parametrize("kind", SEVERAL_KINDS)
def test_neutral_places_the_child_on_the_parent(kind: str) -> None:
    link = Link(joint=kind, axis=TWO if kind == "universal" else (0, 1, 1))
    assert np.array_equal(link.placement(), np.eye(4))
    joint = JOINTS[kind]
    assert (link.joint_model.nq, link.joint_model.nv) == (joint.nq, joint.nv)
    for quantity in ("q", "qd", "qdd", "tau"):
        assert len(link.joint_model.columns(quantity)) == (joint.nq if quantity == "q" else joint.nv)


def test_joints_with_quaternions_come_first() -> None:
    mech = Mechanism([Link(name="a"), Link(name="b", joint="ball"), Link(name="c", joint="planar")], floating=True)
    assert mech.coordinate_names[7:] == ("b_qw", "b_qx", "b_qy", "b_qz", "a", "c_x", "c_y", "c_angle")
    assert mech.velocity_names[6:] == ("b_wx", "b_wy", "b_wz", "a", "c_x", "c_y", "c_angle")
    assert (mech.nq, mech.nv, mech.n) == (15, 13, 4)
    assert mech.is_length == (False, True, True, False)
    assert [(at.name, at.link) for at in mech.manifold_joints] == [("base", -1), ("b", 1)]
    assert mech.neutral.tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]


MALFORMED: list[tuple[dict[str, Any], str, str]] = [
    ({"joint": "universal"}, "axis", "2 axes"),
    ({"joint": "universal", "axis": [(0, 0, 1), (0, 0, -2)]}, "axis", "not parallel"),
    ({"joint": "cylindrical", "limits": (0, 1)}, "limits", "2 rows"),
    ({"joint": "cylindrical", "limits": [(0, 1), (2, 1)]}, "limits", "lower limit first"),
    ({"joint": "planar", "limits": [(0, 1)]}, "limits", "3 rows"),
    ({"joint": "ball", "limits": (-1, 1)}, "limits", "half the opening of a cone"),
    ({"joint": "ball", "limits": (0, 4)}, "limits", "half the opening of a cone"),
    ({"joint": "floating", "limits": (0, 1)}, "limits", "None for this kind"),
    ({"joint": "planar", "offset": 0.1}, "offset", "3 coordinates"),
    ({"joint": "ball", "tau_max": 1.0}, "tau_max", "4 coordinates"),
    ({"joint": "universal", "axis": TWO, "qd_max": (1, 2, 3)}, "qd_max", "one number, or 2"),
    ({"joint": "universal", "axis": TWO, "motor": Motor(inertia=1e-4)}, "motor", "Mechanism(motors=...)"),
    ({"joint": "ball", "mimic": lw.Mimic("x")}, "mimic", "4 coordinates"),
]


@pytest.mark.parametrize(("fields", "field", "expected"), MALFORMED)
def test_malformed(fields: dict[str, Any], field: str, expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        Link(name="joint", **fields)
    (problem, *_) = caught.value.problems
    assert (problem.item, problem.field) == ("link 'joint'", field)
    assert expected in str(problem)


def test_names_that_several_coordinates_take() -> None:
    with pytest.raises(ModelError, match="a coordinate of the joint 'b'"):
        Mechanism([Link(name="b", joint="planar"), Link(name="b_x")])
    with pytest.raises(ModelError, match="several coordinates"):
        Mechanism([Link(name="b", joint="planar"), Link(name="c", mimic=lw.Mimic("b"))])


def test_a_motor_drives_one_coordinate() -> None:
    motor = Motor(joint="u_2", inertia=1e-3, gear_ratio=10.0, viscous=0.1)
    mech = Mechanism([Link(name="u", joint="universal", axis=TWO, **BODY)], motors=[motor])
    plain = mech.replace(motors=[])
    added = mech.mass_matrix([0.1, 0.2]) - plain.mass_matrix([0.1, 0.2])
    assert np.allclose(added, np.diag([0.0, 0.1]), atol=1e-15)
    assert np.allclose(mech.friction_torque([1.0, 2.0]), [0.0, 20.0])


# ── the same with joints of one coordinate ────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(4))
def test_separated_joints_move_and_weigh_the_same(seed: int) -> None:
    mech = random_mechanism(seed, ["revolute", "universal", "ball", "cylindrical", "planar"])
    apart = separated(mech)
    assert (apart.coordinate_names, apart.velocity_names) == (mech.coordinate_names, mech.velocity_names)
    q, qd, qdd = random_state(mech, seed)
    for name, args in (("inverse_dynamics", (q, qd, qdd)), ("mass_matrix", (q,)), ("jacobian", (q,))):
        assert relative(direct(apart, name, *args), direct(mech, name, *args)) < 1e-15  # the same bodies
    places = [apart.link_index(name) for name in mech.link_names]
    assert relative(direct(apart, "link_poses", q)[places], direct(mech, "link_poses", q)) < 1e-15


def test_a_ball_is_three_revolute_joints_away_from_their_singularity() -> None:
    """Poses and efforts agree where the rates are those of the angles: tau_angles = E' tau_ball with w = E rates."""
    angles, rates = np.array([0.3, -0.5, 0.8]), np.array([0.7, -0.2, 0.4])
    axes = np.eye(3)[[2, 1, 0]]
    three = Mechanism([Link(name=f"t{k}", axis=axis, **(BODY if k == 2 else {})) for k, axis in enumerate(axes)])
    ball = Mechanism([Link(name="b", joint="ball", **BODY)])
    pose = three.forward_kinematics(angles)
    E = three.jacobian(angles, frame="body")[3:]
    w, alpha = E @ rates, three.jacobian_dot(angles, rates, frame="body")[3:] @ rates
    q = np.concatenate([[1.0], np.zeros(3)])
    q = ball.integrate(q, np.zeros(3), 1.0)
    solution = solve(ball, Pose("b", pose))
    assert solution.success
    tau = ball.inverse_dynamics(solution.q, w, alpha)
    assert np.abs(E.T @ tau - three.inverse_dynamics(angles, rates, np.zeros(3))).max() < 1e-8  # what the solver leaves


# ── inverse kinematics and limits ─────────────────────────────────────────────────────────────────


def lean(quaternions: np.ndarray) -> np.ndarray:
    """The angle (...,) between the z axis and its image."""
    x, y = quaternions[..., 1], quaternions[..., 2]
    return np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0))


def test_reachable_poses_are_reached_within_all_limits() -> None:
    arm = reaching()
    T = arm.forward_kinematics(arm.random_configuration(3, 300))
    found = arm.inverse_kinematics(T)
    assert found.success.all(), found.reason
    assert np.abs(arm.forward_kinematics(found.q) - T).max() < 3e-9  # the tolerance of 1e-9 m and rad, at 1 m
    joints = found.q[:, 4:]
    assert (joints >= arm.q_min - 1e-12).all()
    assert (joints <= arm.q_max + 1e-12).all()
    leaning = lean(found.q[:, :4])
    print(leaning.max())
    assert leaning.max() < 0.9 + 1e-7  # the arc cosine loses half the digits near 1
    assert leaning.max() > 0.85  # some poses need the whole cone


def test_joints_that_do_not_move_the_target_stay() -> None:
    """A free body and a ball on another branch are where q0 has them, whatever random starts it took."""
    arm = reaching()
    more = [Link(name="box", joint="floating", parent="base"), Link(name="eye", joint="ball", parent="a")]
    mech = arm.replace(links=[*arm.links, *more], tool_link="c")
    q0 = mech.random_configuration(9)
    T = mech.forward_kinematics(mech.random_configuration(10, 40))
    found = mech.inverse_kinematics(T, q0=q0)
    assert found.success.all()
    for name in ("box_x", "box_z", "box_qw", "box_qy", "eye_qw", "eye_qz"):
        k = mech.coordinate_names.index(name)
        assert np.allclose(found.q[:, k], q0[k], rtol=0, atol=1e-15)


def test_a_cone_is_what_keeps_a_pose_out_of_reach() -> None:
    arm = Mechanism([Link(name="b", joint="ball", limits=(0, 0.5), after=translation(0, 0, 1))])
    wanted = transform(None, (math.sin(0.8), 0, math.cos(0.8)))
    found = solve(arm, lw.Position("b", wanted[:3, 3]))
    assert not found.success
    assert abs(float(lean(found.q[:4])) - 0.5) < 1e-6  # at rest on the cone
    free = solve(arm, lw.Position("b", wanted[:3, 3]), limits=False)
    assert free.success
    assert abs(float(lean(free.q[:4])) - 0.8) < 1e-8


def test_random_configurations_fill_the_cone() -> None:
    arm = reaching()
    q = arm.random_configuration(0, 20_000)
    leaning = lean(q[:, :4])
    assert leaning.max() <= 0.9 + 1e-7
    # even on the sphere: the share within half the cone is (1 - cos 0.45) / (1 - cos 0.9), here to five deviations
    share = (1 - math.cos(0.45)) / (1 - math.cos(0.9))
    assert abs((leaning < 0.45).mean() - share) < 5 * math.sqrt(share * (1 - share) / 20_000)


# ── simulation and motions ────────────────────────────────────────────────────────────────────────


def test_a_simulation_keeps_energy_and_its_motion_is_smooth(tmp_path: Path) -> None:
    mech = random_mechanism(2, ["revolute", "ball", "universal", "floating", "planar"], motors=False)
    q, qd, _ = random_state(mech, 2)
    out = lw.simulate(mech, q, 0.3 * qd, t=np.linspace(0.0, 0.5, 501), energies=True)
    assert np.abs(out.energy_error).max() < 1e-7 * max(1.0, np.abs(out.kinetic).max())  # RK4 at 1 ms
    middle, step = 0.2345, 1e-5
    before, after = (out.at(middle + sign * step)[0] for sign in (-1, 1))
    rate = mech.difference(before, after) / (2 * step)
    assert np.abs(rate - out.at(middle)[1]).max() < 1e-7 * max(1.0, np.abs(rate).max())  # step^2 and rounding / step
    out.save(tmp_path / "motion.npz")
    back = lw.Trajectory.load(tmp_path / "motion.npz")
    assert np.array_equal(back.at(middle)[0], lw.Trajectory.load(tmp_path / "motion.npz").at(middle)[0])
    assert [at.name for at in back.manifold_joints] == [at.name for at in mech.manifold_joints]
    out.save(tmp_path / "motion.csv")
    opened = lw.files.open_motion(tmp_path / "motion.csv", mech.n, mech.names, floating=mech.manifold_joints)
    assert np.array_equal(opened.read()[1], out.q)
    other = [link.replace(joint="floating") if link.joint == "ball" else link for link in mech.links]
    with pytest.raises(ArgumentError, match="joints with quaternions"):
        out.of(mech.replace(links=other))


def test_linearisation_follows_small_deviations() -> None:
    """d/dt of the difference of two motions, by central differences of the flow."""
    mech = random_mechanism(5, ["revolute", "ball", "floating"], motors=False)
    q, qd, qdd = random_state(mech, 5)
    tau = direct(mech, "inverse_dynamics", q, qd, qdd)
    A = mech.linearize(q, qd, tau).A
    n, step, h = mech.nv, 1e-6, 1e-4
    for k in range(n):
        aside = mech.integrate(q, np.eye(n)[k], step)
        ends = []
        for sign in (-1, 1):
            one, other = (mech.integrate(at, qd, sign * h) for at in (q, aside))
            ends.append(mech.difference(one, other) / step)
        rate = (ends[1] - ends[0]) / (2 * h)
        assert np.abs(rate - A[:n, k]).max() < 1e-5 * max(1.0, np.abs(A[:n, k]).max())  # h^2 and rounding / (step h)


# ── what is refused, by name ──────────────────────────────────────────────────────────────────────

REFUSED = [
    lambda mech, q: mech.equations(form="harmonic"),
    lambda mech, q: mech.all_inverse_kinematics(np.eye(4)),
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_a_ball_joint_has_no_answer_for(call: Any) -> None:
    mech = Mechanism([Link(name="a"), Link(name="b", joint="ball", **BODY), Link(name="tip", **BODY)], name="leg")
    with pytest.raises((ArgumentError, lw.errors.LinkwiseError), match=r"ball|quaternion|'b'"):
        call(mech, mech.neutral)


def test_locked_joints_with_several_coordinates() -> None:
    mech = reaching()
    q = mech.random_configuration(1)
    held = mech.lock({"b": q[:4], "u": q[5:7]})
    assert held.names == ("a", "c_angle", "c_distance")
    assert np.allclose(held.forward_kinematics(q[[4, 7, 8]]), mech.forward_kinematics(q), atol=1e-15)
    one = mech.lock({"u_1": q[5]})
    assert one.names == ("a", "u_2", "c_angle", "c_distance")
    with pytest.raises(ArgumentError, match="length"):
        mech.lock({"b": [1.0, 1.0, 0.0, 0.0]})


# ── what a review found ───────────────────────────────────────────────────────────────────────────


def test_one_coordinate_locked_leaves_the_other_joints_as_they_are() -> None:
    links = [
        Link(name="hand", joint="universal", axis=TWO),
        Link(name="hand_1", joint="fixed"),
        Link(name="c", joint="planar"),
    ]
    mech = Mechanism(links)
    held = mech.lock({"hand_2": 0.3})
    assert held.link_names == ("hand_1_", "hand", "hand_1", "c")
    assert held.names == ("hand_1", "c_x", "c_y", "c_angle")
    assert held.links[-1].joint == "planar"
    with pytest.raises(ArgumentError, match="one or the other"):
        mech.lock({"hand": [0.1, 0.2], "hand_1": 0.5})


def test_limits_of_other_coordinates_are_not_kept() -> None:
    assert Link(joint="ball", limits=(0, 0.5)).replace(joint="revolute").limits is None
    assert Link(limits=(0, 0.5)).replace(joint="prismatic").limits == (0, 0.5)


def test_what_hangs_upside_down_is_brought_into_its_cone() -> None:
    ball = Link(joint="ball", limits=(0, 0.5)).joint_model
    for q in ([0.0, 1.0, 0.0, 0.0], [0.0, 0.6, 0.8, 0.0]):
        assert abs(float(lean(np.asarray(ball.clipped(np.array(q), 0.5), dtype=float))) - 0.5) < 1e-7


def test_a_ball_pendulum_finds_its_rest() -> None:
    pendulum = Mechanism([Link(name="p", joint="ball", com=(0, 0, -0.2), mass=1, inertia=(0.01, 0.02, 0.03))])
    rest = pendulum.static_equilibrium([0.9, 0.3, 0.1, 0.0])
    assert rest.success
    assert float(lean(rest.q)) < 1e-6


def test_bodies_on_ball_joints_have_an_inertia(tmp_path: Path) -> None:
    """`check` warns of the link without mass, not of the heavy one on a ball joint before it."""
    mech = Mechanism([Link(name="heavy", joint="ball", **BODY), Link(name="tip")])
    lw.save(mech, tmp_path / "arm.toml")
    told = [str(remark) for remark in lw.files.remarks(tmp_path / "arm.toml")]
    assert not any("heavy" in line for line in told), told
    assert any("tip" in line for line in told), told


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("limits = [[-90, 90], [0, 1], [5, 6]]", "2 rows"),
        ("qd_max = [10, 1, 7]", "one number, or 2"),
        ("offset = 90", "2 coordinates"),
    ],
)
def test_files_in_degrees_lose_nothing(row: str, expected: str) -> None:
    head = 'format = "linkwise 1"\nangles = "deg"\n[[link]]\nname = "c"\njoint = "cylindrical"\n'
    with pytest.raises(lw.errors.FileError, match=expected):
        lw.loads(head + row + "\n")
