"""Reduced, partial and joined mechanisms move and weigh like the whole ones that they come from.

Every bound is rounding: of some hundred operations on numbers of the size that the results are compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Inertia, LinearSpringDamper, Link, Mechanism, Mimic, Motor, robots, symbols
from linkwise.errors import ArgumentError
from linkwise.model.joints import Floating
from linkwise.spatial.transform import inverse, transform
from support.random_mechanisms import VARIANTS, direct, random_pose, random_state, relative, variant

BOUND = 2e-12
"""Seen: 2e-13, where G^2 Jm of a geared joint is among the numbers."""


def heavier(name: str) -> Mechanism:
    return variant(name).with_payload(0.7, (0.1, -0.05, 0.2), (0.01, 0.02, 0.015))


def poses(mech: Mechanism, q: np.ndarray) -> dict[str, np.ndarray]:
    frames = {name: direct(mech, "forward_kinematics", q, link=name) for name in mech.link_names}
    return frames | {"the tool": direct(mech, "forward_kinematics", q)}


def assert_poses(one: dict[str, np.ndarray], other: dict[str, np.ndarray], names: Any) -> None:
    worst = max(relative(one[name], other[name]) for name in names)
    print(f"poses {worst:.1e}")
    assert worst < BOUND


def held(mech: Mechanism, names: tuple[str, ...], q: np.ndarray) -> np.ndarray:
    """Places (n,) of these coordinates among the velocities."""
    return np.array([mech.nv - mech.n + mech.names.index(name) for name in names], dtype=int)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_locked_joint_is_one_that_does_not_move(name: str) -> None:
    mech = heavier(name)
    q, qd, qdd = random_state(mech, 3)
    locked = mech.names[::2]
    reduced = mech.lock({joint: q[mech.nq - mech.n + mech.names.index(joint)] for joint in locked})
    still, gone = held(mech, locked, q), np.zeros(mech.nv, dtype=bool)
    gone[still] = True
    qd[still] = qdd[still] = 0.0
    kept = np.concatenate([np.ones(mech.nq - mech.n, dtype=bool), ~gone[mech.nv - mech.n :]])
    less = (q[kept], qd[~gone], qdd[~gone])
    assert reduced.names == tuple(joint for joint in mech.names if joint not in locked)
    assert_poses(poses(mech, q), poses(reduced, less[0]), [*mech.link_names, "the tool"])
    errors = [
        relative(direct(reduced, "inverse_dynamics", *less), direct(mech, "inverse_dynamics", q, qd, qdd)[~gone]),
        relative(direct(reduced, "mass_matrix", less[0]), direct(mech, "mass_matrix", q)[np.ix_(~gone, ~gone)]),
        relative(direct(reduced, "center_of_mass", less[0]), direct(mech, "center_of_mass", q)),
        relative(direct(reduced, "kinetic_energy", *less[:2]), direct(mech, "kinetic_energy", q, qd)),
    ]
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < BOUND


@pytest.mark.parametrize("name", [name for name in VARIANTS if "floating" in name])
def test_a_floating_base_that_is_held(name: str) -> None:
    mech = heavier(name)
    q, qd, qdd = random_state(mech, 4)
    qd[:6] = qdd[:6] = 0.0
    fixed = mech.lock({}, base=Floating().placement(q[:7]))
    assert not fixed.floating
    assert_poses(poses(mech, q), poses(fixed, q[7:]), [*mech.link_names, "the tool"])
    error = relative(
        direct(fixed, "inverse_dynamics", q[7:], qd[6:], qdd[6:]), direct(mech, "inverse_dynamics", q, qd, qdd)[6:]
    )
    print(f"{error:.1e}")
    assert error < BOUND


@pytest.mark.parametrize("name", VARIANTS)
def test_a_subtree_moves_as_where_the_rest_is_held(name: str) -> None:
    mech = heavier(name)
    q, qd, qdd = random_state(mech, 5)
    for link in (1, len(mech.links) - 1):
        name = mech.link_names[link]
        parts = [k for k in range(len(mech.links)) if link in mech.path(k)]
        free = {mech.followers[k].coordinate for k in parts if not mech.links[k].mimic} - {-1}
        if any(follower.coordinate in free for k, follower in enumerate(mech.followers) if k not in parts):
            with pytest.raises(ArgumentError, match="follows"):
                mech.subtree(name, q)
            continue
        part = mech.subtree(name, q)
        inside = [mech.velocity_names.index(name) for name in part.velocity_names]
        qd[[k for k in range(mech.nv) if k not in inside]] = 0.0
        qdd[[k for k in range(mech.nv) if k not in inside]] = 0.0
        less = (q[[mech.coordinate_names.index(name) for name in part.coordinate_names]], qd[inside], qdd[inside])
        assert part.link_names == tuple(mech.link_names[k] for k in parts)
        ends = [*part.link_names, *(["the tool"] if mech.link_names[mech.tool_index] in part.link_names else [])]
        assert_poses(poses(mech, q), poses(part, less[0]), ends)
        if part.nv:
            error = relative(direct(part, "inverse_dynamics", *less), direct(mech, "inverse_dynamics", q, qd, qdd)[inside])
            print(f"{error:.1e}")
            assert error < BOUND


@pytest.mark.parametrize(
    ("first", "second"), [("joints 0", "rotors 1"), ("rotors 2", "coupled 1"), ("floating rotors 3", "joints 4")]
)
@pytest.mark.parametrize("to", ["tool", "base", "part1"])
def test_an_attached_mechanism_moves_on_its_frame(first: str, second: str, to: str) -> None:
    one, other = variant(first), heavier(second)
    at = random_pose(np.random.default_rng(8))
    both = one.attach(other, to=to, at=at, prefix="second ", use_tool=True)
    (q1, qd1, qdd1), (q2, qd2, qdd2) = random_state(one, 1), random_state(other, 2)
    base = one.base @ (Floating().placement(q1[:7]) if one.floating else np.eye(4))
    carrier = base if to == "base" else direct(one, "forward_kinematics", q1, link=to)
    alone = other.replace(base=carrier @ at @ other.base, gravity=one.gravity)
    q = np.concatenate([q1, q2])
    seen, expected = poses(both, q), poses(one, q1) | {f"second {k}": v for k, v in poses(alone, q2).items()}
    assert_poses(seen | {"second the tool": seen["the tool"]}, expected, [*both.link_names, "second the tool"])
    still = np.zeros(one.nv)
    tau = direct(both, "inverse_dynamics", q, np.concatenate([still, qd2]), np.concatenate([still, qdd2]))
    errors = [relative(tau[one.nv :], direct(alone, "inverse_dynamics", q2, qd2, qdd2))]
    if to == "tool":  # held at q2, the second is a payload of the first
        mass = np.zeros((4, 4))
        for carried in rigid_parts(alone, q2):
            mass = mass + inverse(carrier) @ carried @ inverse(carrier).T
        inertia = 0.5 * np.trace(mass[:3, :3]) * 2 * np.eye(3) - mass[:3, :3]
        payload = Inertia.from_moments(mass[3, 3], mass[:3, 3], inertia)
        kept = both.lock(dict(zip(both.names[one.n :], q2, strict=True)))
        wanted = direct(one.replace(payload=payload), "inverse_dynamics", q1, qd1, qdd1)
        errors.append(relative(direct(kept, "inverse_dynamics", q1, qd1, qdd1), wanted))
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < BOUND


def test_a_mechanism_that_floats_is_attached_on_a_floating_joint() -> None:
    """A robot beside another: with the coordinates of its base, its motion is its own, wherever the base is placed."""
    other = heavier("floating rotors 3").replace(
        springs=[LinearSpringDamper([("base", (0.1, 0, 0)), ("part1", (0, 0.2, 0.1))], 30.0, 0.1)],
        motors=[Motor(inertia=0.2, viscous=0.1, joint="base_wy")],
    )
    one, at = robots.planar_2r().replace(gravity=other.gravity), random_pose(np.random.default_rng(9))
    both = one.attach(other, to="base", at=at, prefix="far ")
    assert both.coordinate_names[:7] == tuple(f"far {name}" for name in other.coordinate_names[:7])
    assert both.drives[-1].joint == "far base_wy"
    alone = other.replace(base=one.base @ at @ other.base)
    q, qd, qdd = random_state(other, 3)
    still = np.zeros(2)
    whole = [np.concatenate([x[:at], still, x[at:]]) for x, at in ((q, 7), (qd, 6), (qdd, 6))]
    assert_poses(poses(both, whole[0]), {f"far {k}": v for k, v in poses(alone, q).items()}, [f"far {other.link_names[-1]}"])
    tau = np.delete(direct(both, "inverse_dynamics", *whole), [6, 7])
    error = relative(tau, direct(alone, "inverse_dynamics", q, qd, qdd))
    print(f"{error:.1e}")
    assert error < BOUND
    twice = both.attach(other, to="base", prefix="further ")
    assert twice.nv == both.nv + other.nv


def rigid_parts(mech: Mechanism, q: np.ndarray) -> list[np.ndarray]:
    """Pseudo-inertias (4, 4) about the world origin of all masses of a mechanism at rest."""
    frames = poses(mech, q)
    parts = [(frames[str(link.name)], link.body) for link in mech.links] + [(frames["the tool"], mech.payload)]
    for drive in mech.drives:
        if drive.carrier is not None:
            parts.append((mech.base if drive.carrier < 0 else frames[mech.link_names[drive.carrier]], drive.motor.locked))
    return [T @ inertia.pseudo @ T.T for T, inertia in parts]


def test_a_subtree_that_is_attached_again_is_the_whole() -> None:
    mech = variant("joints 2")
    q, qd, qdd = random_state(mech, 6)
    root = next(k for k in range(2, len(mech.links)) if len(mech.path(k)) > 1)
    chain = [k for k in range(len(mech.links)) if root in mech.path(k)]
    named = [
        link.replace(parent=mech.link_names[p] if p >= 0 else "base")
        for link, p in zip(mech.links, mech.parents, strict=True)
    ]
    trunk = mech.replace(links=[link for k, link in enumerate(named) if k not in chain], tool_link=None)
    parent = mech.link_names[mech.parents[root]]
    part = mech.subtree(root)
    again = trunk.attach(part.replace(base=np.eye(4)), to=parent)
    order = [again.names.index(name) for name in mech.names]
    tau = np.empty(mech.nv)
    moved = [np.empty(mech.nv) for _ in range(3)]
    for array, values in zip(moved, (q, qd, qdd), strict=True):
        array[order] = values
    tau = direct(again, "inverse_dynamics", *moved)[order]
    error = relative(tau, direct(mech.with_tool(np.eye(4)), "inverse_dynamics", q, qd, qdd))
    print(f"{error:.1e}")
    assert error < BOUND


def test_loops_stay_closed() -> None:
    """A four-bar with its crank held is a structure; its coupler alone hangs on a base to which the loop leads."""
    bar = robots.four_bar()
    q = bar.linkage(["crank"]).trace([0.7]).q[0]
    part = bar.subtree("coupler", q)
    assert [(loop.first, loop.second) for loop in part.loops] == [
        tuple(name if name in part.link_names else "base" for name in (loop.first, loop.second)) for loop in bar.loops
    ]
    inner = [q[bar.names.index(name)] for name in part.names]
    gap = np.abs(direct(part, "closure", inner)).max()
    print(f"{gap:.1e}")
    assert gap < 1e-12, "the tolerance of the linkage"


@pytest.mark.parametrize("count", [1, 3])
def test_a_linkage_whose_joints_are_held_is_a_structure(count: int) -> None:
    """Nothing moves, nothing vibrates, it rests where it is, and all of it is asked as before."""
    bar = robots.four_bar()
    q = bar.linkage(["crank"]).trace([0.7]).q[0]
    stiff = bar.lock(dict(zip(bar.names[:count], q, strict=False)))
    left, still = q[count:], np.zeros(3 - count)
    assert np.abs(stiff.forward_dynamics(left, still, still + 1.0)).max(initial=0.0) < 1e-12
    assert stiff.modes(left).frequencies.shape == (0,)
    assert stiff.modes(left).shapes.shape == (3 - count, 0)
    assert stiff.static_equilibrium(left).success
    if count == 1:
        with pytest.raises(ArgumentError, match="nothing is left to drive"):
            bar.lock(dict(zip(bar.names[:2], q, strict=False))).equations(driven=["rocker"])


def test_symbols_stay_symbols() -> None:
    a = symbols("a")
    arm = Mechanism([Link(after=transform(None, (a, 0.0, 0.0))), Link(after=transform(None, (a, 0.0, 0.0)))])
    reduced = arm.lock({"link1": 0.3})
    assert reduced.parameters_used == arm.parameters_used
    assert (
        relative(reduced.substitute(a=0.4).forward_kinematics([0.2]), arm.substitute(a=0.4).forward_kinematics([0.3, 0.2]))
        < BOUND
    )


GRIPPER = Mechanism([Link(joint="prismatic", name="finger", limits=(0.0, 0.04), mass=0.1)], name="gripper")


@pytest.mark.parametrize(
    ("fault", "parts"),
    [
        (lambda arm: arm.lock({"elbow": 0.0}), ("'elbow'", "link1", "link2")),
        (lambda arm: arm.lock({"link1": float("nan")}), ("link1", "nan")),
        (lambda arm: arm.lock({"link1": "up"}), ("link1", "'up'")),
        (lambda arm: arm.lock(["link1"]), ("joints", "link1")),
        (lambda arm: arm.lock({}, base=np.eye(4)), ("base",)),
        (lambda arm: arm.subtree("hand"), ("'hand'", "link1")),
        (lambda arm: arm.subtree("link2", [0.0]), ("q", "2")),
        (lambda arm: arm.subtree("link2", np.zeros((3, 2))), ("q", "(3, 2)", "(2,)")),
        (lambda arm: arm.attach(arm), ("link1", "link2", "prefix")),
        (lambda arm: arm.attach(5), ("attach: other is 5", "Mechanism")),
        (lambda arm: arm.attach(GRIPPER, to="hand"), ("'hand'", "link1")),
        (lambda arm: arm.attach(GRIPPER, at=np.ones((4, 4))), ("at", "rigid")),
        (lambda arm: arm.replace(floating=True).attach(GRIPPER.replace(floating=True)), ("'base'", "prefix")),
        (lambda arm: arm.with_payload(1.0).attach(GRIPPER, use_tool=True), ("payload",)),
    ],
)
def test_faults_are_named(fault: Any, parts: tuple[str, ...]) -> None:
    with pytest.raises(ArgumentError) as error:
        fault(robots.planar_2r())
    for part in parts:
        assert part in str(error.value), str(error.value)


def test_a_follower_is_named_with_its_leader() -> None:
    hand = Mechanism([Link(name="left"), Link(name="right", parent="base", mimic=Mimic("left", -1.0))])
    with pytest.raises(ArgumentError, match="'right' follows 'left'"):
        hand.lock({"right": 0.1})
    assert hand.lock({"left": 0.1}).n == 0


def test_indices_of_carriers_count_on() -> None:
    """A motor that names its carrier by an index keeps it where links are put before it."""
    rotor = Motor(inertia=1e-3, gear_ratio=20.0, carrier=1, axis=(0, 1, 0), joint="link1")
    arm = robots.planar_2r().replace(motors=[rotor])
    both = robots.puma560().attach(arm, prefix="left_", to="base")
    assert both.drives[-1].carrier == both.link_names.index("left_link2")
