"""Wrenches on any links: the efforts of virtual work, in every algorithm that takes them, on every kind of mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import LinkWrenches, Mechanism, Wrench, robots, simulate
from linkwise.dynamics.external import AXES, wrench_arguments, wrench_frames
from linkwise.errors import ArgumentError
from support.exact_derivatives import by_motion
from support.random_mechanisms import VARIANTS, direct, random_state, relative, variant

BOUND = 1e-12
"""Rounding; seen: 6e-14."""

at_each = pytest.mark.parametrize("name", VARIANTS)


def loads(mech: Mechanism, seed: int = 4) -> tuple[np.ndarray, dict[str, Any]]:
    """A wrench (W, 6) on each second link and on the tool, in each kind of axes."""
    frames = [*range(0, len(mech.links), 2), "tool"]
    option = tuple((frame, AXES[k % 3]) for k, frame in enumerate(frames))
    return np.random.default_rng(seed).normal(size=(len(frames), 6)) * 10, {"wrenches": option}


def work(mech: Mechanism, q: np.ndarray, values: np.ndarray, wrenches: Any) -> np.ndarray:
    """The sum of J' w from Jacobians in the axes in which each wrench is said."""
    total = np.zeros(mech.nv)
    for value, (frame, axes) in zip(values, wrenches, strict=True):
        jac = direct(mech, "jacobian", q, link=frame, frame="body" if axes == "body" else "world")
        if axes == "spatial":  # the velocity of the point of the frame at the world origin
            point = direct(mech, "forward_kinematics", q, link=frame)[:3, 3]
            jac = np.concatenate([jac[:3] - np.cross(jac[3:].T, point).T, jac[3:]])
        total += jac.T @ value
    return total


@at_each
def test_efforts_are_those_of_virtual_work(name: str) -> None:
    mech = variant(name)
    q, qd, qdd = random_state(mech, 2)
    values, option = loads(mech)
    expected = work(mech, q, values, option["wrenches"])
    free, loaded = (
        direct(mech, "inverse_dynamics", q, qd, qdd),
        direct(mech, "inverse_dynamics_external", q, qd, qdd, values, **option),
    )
    scale = np.abs(free).max() + np.abs(expected).max()
    errors = [
        np.abs(free - expected - loaded).max() / scale,
        relative(direct(mech, "external_efforts", q, values, **option), expected),
        np.abs(direct(mech, "forward_dynamics_external", q, qd, loaded, values, **option) - qdd).max() / 1e2,
    ]
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < BOUND


@pytest.mark.parametrize("name", [name for name in VARIANTS if "floating" not in name])
def test_the_ground_takes_what_the_links_receive(name: str) -> None:
    """Joint wrenches on the links of the base change by all wrenches, about the world origin."""
    mech = variant(name)
    q, qd, qdd = random_state(mech, 3)
    values, option = loads(mech)
    change = direct(mech, "joint_wrenches", q, qd, qdd) - direct(
        mech, "joint_wrenches_external", q, qd, qdd, values, **option
    )
    taken = sum(change[k] for k, parent in enumerate(mech.parents) if parent < 0)
    given = np.zeros(6)
    for value, (frame, axes) in zip(values, option["wrenches"], strict=True):
        pose = direct(mech, "forward_kinematics", q, link=frame)
        force, moment = (pose[:3, :3] @ v if axes == "body" else v for v in (value[:3], value[3:]))
        at = np.zeros(3) if axes == "spatial" else pose[:3, 3]
        given += np.concatenate([force, moment + np.cross(at, force)])
    error = np.abs(taken - given).max() / np.abs(direct(mech, "joint_wrenches", q, qd, qdd)).max()
    print(f"{error:.1e}")
    assert error < BOUND


@pytest.mark.parametrize("name", ["joints 1", "rotors 2", "floating rotors 1", "coupled 2", "coupled floating rotors 5"])
def test_derivatives(name: str) -> None:
    mech = variant(name)
    q, qd, qdd = random_state(mech, 5)
    values, option = loads(mech)
    by_q, by_qd, mass = direct(mech, "inverse_dynamics_external_derivatives", q, qd, qdd, values, **option)
    plain = direct(mech, "inverse_dynamics_derivatives", q, qd, qdd)
    tau = direct(mech, "inverse_dynamics_external", q, qd, qdd, values, **option)
    forward = direct(mech, "forward_dynamics_external_derivatives", q, qd, tau, values, **option)
    inverse = np.linalg.inv(mass)
    errors = [
        relative(by_q, by_motion(mech, "inverse_dynamics_external", q, qd, qdd, values, **option)),
        relative(by_qd, plain[1]),
        relative(mass, plain[2]),
        relative(forward[0], -inverse @ by_q),
        relative(forward[1], -inverse @ by_qd),
        relative(forward[2], inverse),
    ]
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < 1e-9, "the condition of M, some 1e3, times rounding"


def test_names_points_and_axes() -> None:
    arm = robots.puma560()
    q, qd, qdd = random_state(arm, 1)
    force, moment, point = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]), np.array([0.4, -0.5, 0.6])
    free = arm.inverse_dynamics(q, qd, qdd)
    pose = arm.forward_kinematics(q, link="link3")
    J = arm.jacobian(q, link="link3")
    turn = pose[:3, :3]
    cases = {
        Wrench(force, moment): (turn @ force, turn @ moment),
        Wrench(force, moment, point): (turn @ force, turn @ (moment + np.cross(point, force))),
        Wrench(force, moment, frame="world"): (force, moment),
        Wrench(force, moment, point, "world"): (force, moment + np.cross(point - pose[:3, 3], force)),
    }
    for wrench, vector in cases.items():
        error = relative(free - arm.inverse_dynamics(q, qd, qdd, {"link3": wrench}), J.T @ np.concatenate(vector))
        print(f"{error:.1e}")
        assert error < 1e-11, "the difference of efforts 30 times as large"
    both = {"link3": np.concatenate([force, moment]), "tool": Wrench(force)}
    one, other = ({name: wrench} for name, wrench in both.items())
    parts = [free - arm.inverse_dynamics(q, qd, qdd, load) for load in (one, other)]
    assert relative(free - arm.inverse_dynamics(q, qd, qdd, both), parts[0] + parts[1]) < 1e-11
    assert (
        relative(arm.inverse_dynamics(q, qd, qdd, other["tool"]), arm.inverse_dynamics(q, qd, qdd, [1, 2, 3, 0, 0, 0]))
        < BOUND
    )
    assert relative(arm.inverse_dynamics(q, qd, qdd, {}), free) < BOUND


def test_batches_of_states_and_of_wrenches() -> None:
    arm = robots.puma560()
    q, qd, qdd = random_state(arm, 1, (4, 1))
    force = np.random.default_rng(1).normal(size=(3, 3))
    tau = arm.inverse_dynamics(q, qd, qdd, {"link2": Wrench(force, frame="world"), "tool": np.arange(6.0)})
    assert tau.shape == (4, 3, 6)
    single = arm.inverse_dynamics(
        q[1, 0], qd[1, 0], qdd[1, 0], {"link2": Wrench(force[2], frame="world"), "tool": np.arange(6.0)}
    )
    assert (tau[1, 2] == single).all(), "a batch is its rows, bit for bit"


def test_order_and_names_make_one_kernel() -> None:
    arm = robots.puma560()
    by_name, by_index = ((("link3", "body"), ("tool", "world")), ((2, "body"), ("tool", "world")))
    assert wrench_frames(arm, by_name) == wrench_frames(arm, by_index) == by_index
    assert arm.kernel("inverse_dynamics_external", wrenches=by_name) is arm.kernel(
        "inverse_dynamics_external", wrenches=by_index
    )


def test_closed_loops() -> None:
    """A force on the coupler of a four-bar: the crank's effort does its virtual work."""
    bar = robots.four_bar()
    driven = bar.linkage(["crank"])
    q = driven.trace([0.7]).q[0]
    still = np.zeros(bar.nv)
    load = {"coupler": Wrench((0.0, -20.0, 0.0), point=(0.1, 0.0, 0.0), frame="body")}
    held = bar.actuator_efforts(q, still, still, ["crank"], load) - bar.actuator_efforts(q, still, still, ["crank"])
    options, values = wrench_arguments(load)
    tree = bar.replace(loops=())
    moved = driven.velocity(q, [1.0])
    power = tree.kernel("external_efforts", **options)(q, values) @ np.ravel(moved)
    print(held, power)
    assert abs(held[bar.names.index("crank")] + power) < 1e-10
    tau = bar.actuator_efforts(q, still, still, ["crank"], load)
    assert np.abs(bar.forward_dynamics(q, still, tau, load)).max() < 1e-8


def test_a_hanging_weight_in_a_simulation() -> None:
    """A constant force in world axes on the forearm is a payload without inertia: energy and motion agree."""
    arm = robots.planar_2r().without_friction()
    q0, load = [0.3, -0.4], {"link1": Wrench((0.0, -7.0, 0.0), frame="world")}
    fall = simulate(arm, q0, [0.0, 0.0], external=load, t=(0.5, 1e-3), energies=True)
    point = arm.forward_kinematics(fall.q, link="link1")[..., 1, 3]
    total = fall.kinetic + fall.potential + 7.0 * point
    drift = np.abs(total - total[0]).max()
    print(f"{drift:.1e}")
    assert drift < 1e-8, "fourth-order steps of 1 ms"
    assert np.abs(fall.energy_error).max() < 1e-8


@pytest.mark.parametrize("frame", AXES)
def test_one_array_for_all_links(frame: str) -> None:
    """It is the mapping by name, bit for bit, in all that takes wrenches; a bare array stays a batch on the tool."""
    arm = robots.planar_2r()
    q, qd, qdd = random_state(arm, 6, (3,))
    values = np.random.default_rng(2).normal(size=(3, 2, 6))
    row, whole = LinkWrenches(values, frame), dict(zip(arm.link_names, np.moveaxis(values, -2, 0), strict=True))
    if frame != "body":
        at_origin = {"spatial": np.zeros(3), "world": None}[frame]
        whole = {n: Wrench(w[:, :3], w[:, 3:], point=at_origin, frame="world") for n, w in whole.items()}
    for name in ("inverse_dynamics", "forward_dynamics", "joint_wrenches"):
        assert (getattr(arm, name)(q, qd, qdd, row) == getattr(arm, name)(q, qd, qdd, whole)).all(), name
        first = LinkWrenches(values[0], frame)
        assert (getattr(arm, name)(q, qd, qdd, row)[0] == getattr(arm, name)(q[0], qd[0], qdd[0], first)).all(), name
        tool = getattr(arm, name)(q[:2], qd[:2], qdd[:2], values[0])
        assert len(tool) == 2, "an array (L, 6) is a batch on the tool"
        assert (tool[1] == getattr(arm, name)(q[1], qd[1], qdd[1], {"tool": values[0, 1]})).all(), name
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        pairs = zip(getattr(arm, name)(q, qd, qdd, row), getattr(arm, name)(q, qd, qdd, whole), strict=True)
        assert all((a == b).all() for a, b in pairs), name


def test_one_array_for_all_links_of_loops_and_in_simulations() -> None:
    bar = robots.four_bar()
    q = bar.linkage(["crank"]).trace([0.7]).q[0]
    still, values = np.zeros(bar.nv), np.random.default_rng(3).normal(size=(3, 6))
    row, whole = LinkWrenches(values), dict(zip(bar.link_names, values, strict=True))
    assert (
        bar.actuator_efforts(q, still, still, external=row) == bar.actuator_efforts(q, still, still, external=whole)
    ).all()
    assert (bar.forward_dynamics(q, still, still, row) == bar.forward_dynamics(q, still, still, whole)).all()
    for mech, start in ((bar, q), (robots.planar_2r(), [0.1, 0.2])):
        loads = (LinkWrenches(values[: len(mech.links)]), dict(zip(mech.link_names, values, strict=False)))
        a, b = (simulate(mech, start, t=(0.05, 5e-3), external=load) for load in loads)
        assert (a.q == b.q).all()


@pytest.mark.parametrize(
    ("fault", "parts"),
    [
        (lambda: {"hand": np.zeros(6)}, ("'hand'", "link1")),
        (lambda: {"link1": np.zeros(5)}, ("link1", "(5,)")),
        (lambda: {"link1": "push"}, ("link1", "numbers")),
        (lambda: {"link1": np.zeros(6), 0: np.zeros(6)}, ("one link",)),
        (lambda: Wrench([1.0, 2.0]), ("force", "(2,)")),
        (lambda: Wrench([1.0, 2.0, np.nan]), ("force", "nan")),
        (lambda: Wrench([1.0, 2.0, 3.0], point=[1.0]), ("point", "(1,)")),
        (lambda: Wrench([1.0, 2.0, 3.0], frame="tool"), ("frame", "'tool'", "world")),
        (lambda: Wrench(np.zeros((2, 3)), np.zeros((3, 3))), ("do not fit", "force (2,)", "moment (3,)")),
        (lambda: {"link1": np.zeros((2, 6)), "link2": np.zeros((3, 6))}, ("do not fit", "link1 (2,)", "link2 (3,)")),
        (lambda: LinkWrenches(np.zeros((3, 6))), ("(3, 6)", "(..., 2, 6)")),
        (lambda: LinkWrenches(np.zeros((1, 6))), ("(1, 6)", "(..., 2, 6)")),
        (lambda: LinkWrenches(np.zeros(6)), ("(6,)", "(..., L, 6)")),
        (lambda: LinkWrenches(np.zeros((2, 6)), "tool"), ("frame", "'tool'", "spatial")),
    ],
)
def test_faults_are_named(fault: Any, parts: tuple[str, ...]) -> None:
    with pytest.raises(ArgumentError) as error:
        robots.planar_2r().inverse_dynamics([0, 0], [0, 0], [0, 0], fault())
    for part in parts:
        assert part in str(error.value), str(error.value)
