"""Formulas that save operations against the plain ones: axes that stay behind, point masses, and how a body turns."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.dynamics.inverse_dynamics import RecursionPlan, Turning, recursion_of_points, turned, turned_freely
from linkwise.dynamics.optimise.first_moment_split import PointMasses, point_masses
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes, level, resting
from linkwise.expr.node import parameter
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.body_transform import joint_transform
from linkwise.spatial.rotation import skew
from support.random_mechanisms import random_body, random_rotation, sample, with_rotors

EPS = np.finfo(float).eps
RIGHT = np.array([[1.0, 0, 0, 0.3], [0, 0, -1, 0.1], [0, 1, 0, 0.2], [0, 0, 0, 1]])
"""A right angle between two axes."""


def parallel_groups(floating: bool = False) -> Mechanism:
    """A tree with parallel axes in every way: turned round, beside each other, sliding, screwing; and a rotor."""
    rng = np.random.default_rng(1)
    over = np.diag([1.0, -1.0, -1.0, 1.0])
    over[:3, 3] = 0.2, 0.0, 0.1
    beside = np.eye(4)
    beside[:3, 3] = 0.3, -0.2, 0.1

    def link(name: str, before: Any, parent: str | None, joint: str = "revolute", **rest: Any) -> Link:
        return Link(name=name, before=before, parent=parent, joint=joint, **random_body(rng), **rest)

    links = [
        link("root", np.eye(4), None),
        link("a", RIGHT, "root", offset=0.4),
        link("b", beside, "a"),
        link("c", over, "b", offset=-0.3),
        link("d", beside, "b", offset=np.pi / 2),
        link("e", over, "d", joint="prismatic"),
        link("f", beside, "e"),
        link("g", RIGHT, "f"),
        link("h", beside, "c", joint="screw", pitch=0.1),
    ]
    return Mechanism(links, floating=floating, tool=RIGHT)


MECHANISMS = [
    robots.load("puma560"),
    robots.load("ur5"),
    parallel_groups(),
    parallel_groups(floating=True),
    with_rotors(parallel_groups()),
    with_rotors(robots.load("elbow")),
    sample(3),
    sample(11),
]


def coordinates(mech: Mechanism, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2, 2, mech.nq)
    if mech.floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    return q, rng.normal(size=mech.nv), rng.normal(size=mech.nv)


def poses(made: Bodies, joints: list[Any]) -> list[np.ndarray]:
    found: list[np.ndarray] = []
    for body, joint in zip(made.bodies, joints, strict=True):
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = joint.rotation, joint.origin
        found.append(own if body.parent < 0 else found[body.parent] @ own)
    return found


@pytest.mark.parametrize("tips", [True, False])
@pytest.mark.parametrize("mech", MECHANISMS, ids=lambda mech: mech.name)
def test_bodies_stay_where_they_are(mech: Mechanism, tips: bool) -> None:
    """In whatever axes: pseudo-inertias, rotors and the tool in the world are the same, and joint axes stay along z."""
    q = coordinates(mech)[0]
    made = moving_bodies(mech).regrouped()
    own = body_poses(made, q)
    moved, joints = carried_axes(made, q, tips)
    there = poses(moved, joints)
    for k, (before, after) in enumerate(zip(made.bodies, moved.bodies, strict=True)):
        inertia = own[k] @ before.inertia @ own[k].T
        # a product of some ten rotations, each to a few units in the last place of what it turns
        assert np.abs(there[k] @ after.inertia @ there[k].T - inertia).max() <= 100 * EPS * max(np.abs(inertia).max(), 1e-3)
        assert np.abs(there[k][:, 2:] - own[k][:, 2:]).max() <= 100 * EPS
    for before, after in zip(made.rotors, moved.rotors, strict=True):
        assert np.allclose(there[after.body][:3, :3] @ after.turning, own[before.body][:3, :3] @ before.turning, 0, 1e-12)
    body, t = moved.tool
    if body >= 0:
        assert np.abs(there[body] @ t - own[made.tool[0]] @ made.tool[1]).max() <= 100 * EPS


def test_which_bodies_rest() -> None:
    """Tips, and bodies that carry parallel axes only; none before which all axes are parallel."""
    cases = {"puma560": ({1, 5}, {1}), "ur5": ({1, 2, 5}, {1, 2}), "planar_3r": (set(), set()), "panda": ({6}, set())}
    for name, (with_tips, without) in cases.items():
        made = moving_bodies(robots.load(name))
        assert resting(made) == with_tips, name
        assert resting(made, tips=False) == without, name
    assert level(moving_bodies(robots.load("planar_3r"))) == [True] * 3
    assert level(moving_bodies(robots.load("puma560"))) == [True] + [False] * 5
    assert not any(level(moving_bodies(robots.load("puma560").replace(floating=True))))


def test_a_twist_that_is_a_symbol_is_not_taken_for_parallel() -> None:
    made = moving_bodies(robots.load("puma560"))
    placement = made.bodies[2].placement.astype(object)
    placement[2, 1], placement[1, 2] = parameter("s"), -parameter("s")
    bodies = (*made.bodies[:2], replace(made.bodies[2], placement=placement), *made.bodies[3:])
    assert resting(replace(made, bodies=bodies)) == {5}


@pytest.mark.parametrize("mech", MECHANISMS, ids=lambda mech: mech.name)
def test_point_masses_change_nothing(mech: Mechanism) -> None:
    made = moving_bodies(mech).regrouped()
    points = point_masses(made)
    for seed in range(3):
        state = coordinates(mech, seed)
        plain = recursion_of_points(mech, PointMasses(made, {}), *state).astype(float)
        with_points = recursion_of_points(mech, points, *state).astype(float)
        # masses whose moments of inertia are at most 4 times those of the bodies cancel: some ten roundings, grown by that
        assert np.abs(with_points - plain).max() <= 500 * EPS * np.abs(plain).max()


def test_first_moments_go_where_there_is_a_lever() -> None:
    made = moving_bodies(robots.load("puma560")).regrouped()
    points = point_masses(made)
    assert {child: [axis for axis, _ in way] for child, way in points.ways.items()} == {3: [0, 1]}
    assert not points.built.bodies[2].inertia[:, 3].any()
    assert made.bodies[2].inertia[:2, 3].all()


@pytest.mark.parametrize("length", [1e-3, 0.0])
def test_no_point_mass_on_a_lever_that_is_too_short(length: float) -> None:
    """A mass there would have to be as large as the lever is short, and digits would cancel."""
    made = moving_bodies(robots.load("planar_3r")).regrouped()
    assert point_masses(made).ways
    placement = made.bodies[2].placement.copy()
    placement[0, 3] = length
    bodies = (*made.bodies[:2], replace(made.bodies[2], placement=placement))
    assert not point_masses(replace(made, bodies=bodies)).ways


@pytest.mark.parametrize("length", [1e-4, 1e-8, 1e-12])
def test_a_wrist_that_nearly_meets_in_a_point_keeps_its_digits(length: float) -> None:
    """The levers of the wrist are short, those of the arm are not: large masses would cancel on the way to the base."""
    rng = np.random.default_rng(0)
    rows = [(0, 0, 0, np.pi / 2), (0, 0, 0.5, 0), (0, 0.02, 0.1, np.pi / 2), (0, 0.4, 0, -np.pi / 2)]
    rows += [(0, 0, length, np.pi / 2), (0, 0, 0, 0)]
    arm = Mechanism([Link.dh(*row, convention="standard", **random_body(rng)) for row in rows])
    made = moving_bodies(arm).regrouped()
    state = coordinates(arm)
    plain = recursion_of_points(arm, PointMasses(made, {}), *state).astype(float)
    with_points = recursion_of_points(arm, point_masses(made), *state).astype(float)
    # as above; with masses of the first moments over that length it was 4e-14, 1e-9 and 1e-6
    assert np.abs(with_points - plain).max() <= 50 * EPS * np.abs(plain).max()


def test_no_point_mass_from_symbols() -> None:
    """A length that is a symbol may turn out to be zero."""
    made = moving_bodies(robots.load("planar_3r")).regrouped()
    placement = made.bodies[2].placement.astype(object)
    placement[0, 3] = parameter("l")
    bodies = (*made.bodies[:2], replace(made.bodies[2], placement=placement))
    assert not point_masses(replace(made, bodies=bodies)).ways


PLANS = [
    RecursionPlan(np.array(alpha), from_parent)
    for alpha in ([False] * 3, [True, False, False], [False, True, False], [True] * 3)
    for from_parent in (False, True)
]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("turn", ["right angle", "any angle"])
def test_turning_is_that_of_the_textbook(plan: RecursionPlan, turn: str) -> None:
    """Every plan gives the same omega, alpha and U, by R' omega + z qd and R' alpha + omega x z qd + z qdd."""
    rng = np.random.default_rng(5)
    made = moving_bodies(robots.load("puma560"))
    placement = made.bodies[3].placement.copy()
    if turn == "any angle":
        placement[:3, :3] = random_rotation(rng)
    body = replace(made.bodies[3], placement=placement)
    joint = joint_transform(body, rng.normal(size=6))
    parent = turned_freely(*rng.normal(size=(2, 3)))
    rate, rise = rng.normal(size=2)
    found = turned(body, joint, parent, rate, rise, plan)
    back, z = joint.rotation.T, np.array([0.0, 0.0, 1.0])
    omega = back @ parent.omega + z * rate
    alpha = back @ parent.alpha + np.cross(back @ parent.omega, z * rate) + z * rise
    spin = skew(alpha) + skew(omega) @ skew(omega)
    wanted = Turning(omega, alpha, spin)
    for name in ("omega", "alpha", "spin"):
        error = np.abs(np.asarray(getattr(found, name), dtype=float) - getattr(wanted, name)).max()
        assert error <= 40 * EPS * max(np.abs(spin).max(), 1.0), name


@pytest.mark.parametrize(
    ("name", "kernel", "most"),
    [
        ("puma560", "inverse_dynamics", 156 + 122),
        ("puma560", "mass_matrix", 74 + 69),
        ("puma560", "coriolis_matrix", 330 + 240),
        ("ur5", "inverse_dynamics", 129 + 92),
        ("panda", "inverse_dynamics", 286 + 263),
    ],
)
def test_operations_do_not_grow_back(name: str, kernel: str, most: int) -> None:
    """Multiplications and additions without motors, as counted when this was written."""
    mech = robots.load(name)
    bare = mech.replace(links=[link.replace(motor=None) for link in mech.links])
    counted = bare.kernel(kernel).operations
    assert counted["mul"] + counted["add"] <= most


def test_operations_in_base_parameters() -> None:
    """With symbols for Armstrong's 21 parameters, as the benchmark of operations counts them: half a second, no clock."""
    benchmark = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "operations.py"))
    inverse, mass = benchmark["of_symbols"](benchmark["CASES"][0])
    for outputs, products, sums in ((inverse, 160, 130), (mass, 86, 80)):
        counts = benchmark["operation_count"](benchmark["shortened"](outputs))
        assert counts["mul"] <= products
        assert counts["add"] <= sums


def test_ball_joints_take_no_more_operations_than_three_hinges() -> None:
    """A chain of ball joints, and the same with three hinges each, a sine or cosine counted as one operation."""
    rng = np.random.default_rng(4)
    bodies = [random_body(rng) for _ in range(4)]
    places = [
        np.block([[random_rotation(rng), rng.normal(size=(3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]) for _ in bodies
    ]
    balls = [Link(joint="ball", before=place, **body) for place, body in zip(places, bodies, strict=True)]
    hinges = []
    for place, body in zip(places, bodies, strict=True):
        hinges += [Link(axis=(1, 0, 0), before=place), Link(axis=(0, 1, 0)), Link(axis=(0, 0, 1), **body)]
    for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_torque", "inverse_dynamics_derivatives"):
        counts = [sum(Mechanism(links).kernel(name, backend="numpy").operations.values()) for links in (balls, hinges)]
        print(f"{name}: {counts[0]} with ball joints, {counts[1]} with hinges")
        assert counts[0] <= counts[1]
