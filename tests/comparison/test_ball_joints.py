"""Chains with ball joints: their centres, the turns that bring one joint's quaternion to the other's, and what differs."""

from __future__ import annotations

import numpy as np
import pytest

import linkwise as lw
from linkwise.comparison import compare
from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import quaternion_rotation, random_quaternions
from linkwise.spatial.transform import inverse, transform, translation

#: Chains by the letters of their joints: S ball, R revolute, P prismatic.
CHAINS = ["S", "SR", "RS", "SRS", "RSR", "PSR", "SPR", "SPS", "SS", "SSR", "RRS", "RRSRR", "RPSRRS", "SRRRS", "RSSR", "PSP"]


def turned(rng):
    return np.asarray(quaternion_rotation(random_quaternions(rng, 1)[0]), dtype=float)


def placed(rng, size=1.0):
    return np.asarray(transform(turned(rng), rng.uniform(-size, size, 3)), dtype=float)


def chain(kinds, rng):
    names = {"S": "ball", "R": "revolute", "P": "prismatic"}
    links = []
    for k, kind in enumerate(kinds):
        axis = {} if kind == "S" else {"axis": rng.normal(size=3)}
        links.append(lw.Link(name=f"{kind}{k}", joint=names[kind], before=placed(rng), after=placed(rng), **axis))
    return lw.Mechanism(links, tool=placed(rng), name="first")


def disguised(mechanism, rng):
    """The same chain with other frames, directions, zeros, base and tool, which no joint can tell."""
    links = []
    back = np.eye(4)
    for link in mechanism.links:
        frame, before = placed(rng, 0.5), back @ link.before
        if link.joint == "ball":  # (the centre stays)
            one, other = transform(turned(rng), np.zeros(3)), transform(turned(rng), np.zeros(3))
            changed = {"before": before @ one, "after": other @ link.after @ frame}
        else:
            sign, zero = rng.choice([-1.0, 1.0]), rng.uniform(-0.5, 0.5)
            turn, way = transform(turned(rng), np.zeros(3)), link.motion(zero)
            axis = sign * (turn[:3, :3].T @ link.axis)
            changed = {"before": before @ way @ turn, "after": inverse(turn) @ link.after @ frame, "axis": axis}
        back = np.asarray(inverse(frame), dtype=float)
        links.append(link.replace(**changed))
    return lw.Mechanism(links, base=placed(rng), tool=placed(rng), name="second")


@pytest.mark.parametrize("kinds", CHAINS)
def test_a_chain_is_recognised_in_disguise(kinds):
    worst = 0.0
    for seed in range(4):
        rng = np.random.default_rng([seed, len(kinds)])
        first = chain(kinds, rng)
        second = disguised(first, rng)
        found = compare(first, second)
        assert found.same, f"{seed}: {found}"
        q = lw.kinematics.random_configuration(first, seed, 20)
        there = found.transferred(q)
        ends = found.base @ second.forward_kinematics(there) @ found.tool
        worst = max(worst, np.abs(first.forward_kinematics(q) - ends).max())
        again = found.transferred(there, back=True)
        assert np.abs(again - q).max() < 1e-13
        assert np.abs(compare(second, first).position_error) < 1e-12
    print(f"{kinds}: ends to {worst:.1e}")
    assert worst < 1e-12  # (rounding of up to seven placements, and of offsets solved for)


def special(kinds, rng, way):
    """A chain whose joints all stand in one point, are all parallel, or at right angles on a grid of half metres."""
    names = {"S": "ball", "R": "revolute", "P": "prismatic"}
    links = []
    for k, kind in enumerate(kinds):
        axis = {} if kind == "S" else {"axis": np.eye(3)[k % 3] if way == "right angles" else (0, 0, 1)}
        place = translation(*(np.zeros(3) if way == "one point" else 0.5 * rng.integers(-1, 2, 3)))
        links.append(lw.Link(name=f"{kind}{k}", joint=names[kind], before=place, **axis))
    return lw.Mechanism(links, name="first")


@pytest.mark.parametrize("way", ["one point", "parallel", "right angles"])
def test_chains_with_choices_are_recognised_in_disguise(way):
    worst = 0.0
    for kinds in CHAINS:
        rng = np.random.default_rng(len(kinds))
        first = special(kinds, rng, way)
        found = compare(first, disguised(first, rng))
        assert found.same, f"{kinds}: {found}"
        worst = max(worst, found.position_error, found.rotation_error)
    print(f"{way}: ends to {worst:.1e}")
    assert worst < 1e-12


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        ("SR", "distance between axes 1 (S0) and 2 (R1)"),
        ("SS", "distance between axes 1 (S0) and 2 (S1)"),
        ("SRS", "axes 1 and 2 can be brought together, and axis 3 (S2) then does not fit"),
    ],
)
def test_what_differs_is_named(kinds, wanted):
    rng = np.random.default_rng(4)
    first = chain(kinds, rng)
    last = first.links[-1]
    along = first.links[-2].after[:3, :3].T @ first.links[-2].axis  # (of the axis before: its distance stays)
    aside = translation(*(0.02 * along if kinds == "SRS" else (0.02, 0.01, -0.03)))
    links = [*first.links[:-1], last.replace(before=aside @ last.before)]
    found = compare(first, first.replace(links=links))
    print(found)
    assert not found.same
    assert any(text.startswith(wanted) for text in found.differences)


def test_rounded_numbers_are_the_same_to_a_tolerance_and_fitted():
    rng = np.random.default_rng(5)
    first = chain("RSRRS", rng)
    second = disguised(first, rng)
    links = [link.replace(before=_nudged(link.before, rng)) for link in second.links]
    found = compare(first, second.replace(links=links), tol=2e-3)
    print(found)
    assert found.same
    assert max(found.position_error, found.rotation_error) > 1e-5
    assert not compare(first, second.replace(links=links)).same


def _nudged(pose, rng):
    return pose @ translation(*rng.normal(0.0, 1e-4, 3))


def test_a_wrist_of_three_pins_is_no_ball_joint_and_a_base_joint_that_floats_is_refused():
    rng = np.random.default_rng(0)
    found = compare(chain("RS", rng), chain("RR", rng))
    assert found.differences == ("joint 2 (S1, R1): ball against revolute",)
    loose = lw.Mechanism([lw.Link(name="hull", joint="floating"), lw.Link(name="arm")])
    with pytest.raises(ArgumentError, match="floating joint 'hull' on the way to the tool"):
        compare(loose, loose)
    with pytest.raises(ArgumentError, match=r"takes ball joints between others, .* 'first' has 'S1' at an end"):
        compare(chain("RS", rng), chain("RS", rng), dynamics=True)


def weighed(mechanism, rng):
    """A chain with masses and friction, and the same in other frames, as `disguised` makes them."""
    bodies = [(rng.uniform(1.0, 2.0), rng.normal(size=3), np.diag(rng.uniform(1.0, 1.5, 3))) for _ in mechanism.links]
    links = [
        link.replace(
            mass=m, com=c, inertia=tensor, motor=None if link.joint == "ball" else lw.Motor(viscous=0.3, inertia=0.1)
        )
        for link, (m, c, tensor) in zip(mechanism.links, bodies, strict=True)
    ]
    balls = [f"{link.name}_{x}" for link in links if link.joint == "ball" for x in ("wx", "wy", "wz")]
    motors = [lw.Motor(inertia=0.2, viscous=0.1, joint=name) for name in balls]
    first = mechanism.replace(links=links, motors=motors)
    return first, disguised(first, rng).replace(motors=motors)


@pytest.mark.parametrize("kinds", ["RSR", "RSPR", "PRSSR"])
def test_dynamics_of_ball_joints_between_others(kinds):
    """Masses are turned into the frames of the disguise by the map itself; one changed mass is named."""
    rng = np.random.default_rng(len(kinds))
    first, second = weighed(chain(kinds, rng), rng)
    found = compare(first, second)
    start = first.neutral
    there = found.transferred(start)
    one, other = first.link_poses(start), found.base @ second.link_poses(there)
    links = []
    for k, link in enumerate(second.links):  # (T_second_first of each link's frame, which no joint changes)
        to = np.asarray(inverse(other[k]) @ one[k])
        body, turn = first.links[k].body, to[:3, :3]
        tensor = turn @ body.tensor @ turn.T
        links.append(link.replace(mass=body.mass, com=turn @ body.com + to[:3, 3], inertia=0.5 * (tensor + tensor.T)))
    gravity = found.base[:3, :3].T @ first.gravity
    second = second.replace(links=links, gravity=gravity)
    result = compare(first, second, dynamics=True)
    print(result.mass_error, result.gravity_error, result.friction_error)
    assert result.same, str(result)
    assert max(result.mass_error, result.gravity_error, result.friction_error) < 1e-11
    heavier = second.replace_link(second.link_names[1], mass=3.0)
    changed = compare(first, heavier, dynamics=True)
    assert not changed.same
    assert any("what moves with joint 2" in text for text in changed.differences)
    stiff = second.replace(motors=[motor.replace(inertia=0.5) for motor in second.motors])
    assert any("rotor inertia felt at joint" in text for text in compare(first, stiff, dynamics=True).differences)


def test_limits_of_ball_joints_are_compared():
    def rod(most, axis=(0, 0, 1)):
        return lw.Mechanism([lw.Link(name="turn"), lw.Link(name="rod", joint="ball", limits=(0, most), axis=axis)])

    assert compare(rod(0.5), rod(0.5)).limits == ()
    assert compare(rod(0.5), rod(0.5, (1, 0, 0))).limits == ("axis of the cone of joint 2 (rod)",)
    assert len(compare(rod(0.5), rod(0.7)).limits) == 1


def test_base_and_tool_are_the_identity_where_they_can_be():
    rng = np.random.default_rng(1)
    first = chain("SRS", rng)
    found = compare(first, first)
    assert np.abs(found.base - np.eye(4)).max() < 1e-12
    assert np.abs(found.tool - np.eye(4)).max() < 1e-12
    assert np.abs(np.abs(found.turns[:, :, 0]) - 1.0).max() < 1e-12
