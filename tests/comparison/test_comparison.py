"""Two descriptions of one robot: random chains told anew are recognised, other robots are told apart where they differ."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import linkwise as lw
from linkwise.comparison import Comparison, compare
from linkwise.errors import ArgumentError
from linkwise.spatial.transform import translation
from support.random_mechanisms import coupled, numpy_call, random_mechanism
from support.redescribed import redescribed, special_chain

EXACT = 1e-10
"""m and rad: a dozen products of transforms of size 1 leave some 1e-15, near-singular angles lose a few digits more."""

HALF = np.pi / 2


def holds(found: Comparison, a: lw.Mechanism, b: lw.Mechanism) -> None:
    """The claim itself, by forward kinematics at configurations of the test's own."""
    assert found.same, str(found)
    assert max(found.position_error, found.rotation_error) < EXACT
    q = np.random.default_rng(99).uniform(-3, 3, (20, a.n))
    told = found.base @ numpy_call(b, "forward_kinematics", found.transferred(q)) @ found.tool
    assert np.abs(numpy_call(a, "forward_kinematics", q) - told).max() < 10 * EXACT
    assert np.allclose(found.transferred(found.transferred(q), back=True), q, rtol=0, atol=1e-14)


@settings(max_examples=50, deadline=None)
@given(st.text("RRRPF", min_size=1, max_size=8).filter(lambda kinds: set(kinds) != {"F"}), st.integers(0, 2**20))
def test_rows_with_right_angles_and_parallel_axes_are_recognised(kinds: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = special_chain(rng, kinds)
    other = redescribed(table, rng)
    holds(compare(table, other), table, other)
    holds(compare(other, table), other, table)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(["revolute", "prismatic", "screw", "fixed"]), min_size=1, max_size=7).filter(
        lambda kinds: set(kinds) != {"fixed"}
    ),
    st.integers(0, 2**16),
)
def test_generic_chains_with_screws_are_recognised(kinds: list[str], seed: int) -> None:
    chain = random_mechanism(seed, kinds, range(-1, len(kinds) - 1), motors=False)
    other = redescribed(chain, np.random.default_rng(seed))
    holds(compare(chain, other), chain, other)


@pytest.mark.parametrize(
    ("rows", "joints"),
    [
        ([(0, 0.3, 0.2, 0.7)], "R"),
        ([(0.4, 0.3, 0.2, 0.7)], "P"),
        ([(0, 0.1, 0.5, 0), (0, 0, 0.4, 0), (0, 0, 0.3, 0)], "RRR"),
        ([(0, 0.1, 0.5, 0), (0, 0, 0.4, np.pi), (0, 0, 0, 0), (0, 0.1, 0, 0)], "RRPR"),
        ([(0, 0, 0, -HALF), (HALF, 0, 0, HALF), (0.3, 0, 0, 0)], "PPP"),
        ([(0, 0.4, 0, -HALF), (0, 0, 0, HALF), (0, 0.2, 0, 0)], "RRR"),
        ([(0, 0.1, 0, 0), (0, 0.2, 0, 0), (0, 0.3, 0.5, 0), (0, 0.1, 0, HALF), (0, 0, 0.2, 0)], "RRRRR"),
        ([(0, 0, 0, HALF), (0.2, 0, 0, -HALF), (0, 0, 0.3, 0), (0, 0, 0.3, 0)], "RPRR"),
    ],
    ids=["one revolute", "one slide", "planar", "SCARA", "gantry", "wrist", "on one line", "slide between parallels"],
)
def test_degenerate_chains(rows: list[tuple[float, ...]], joints: str) -> None:
    table = lw.Mechanism.from_dh(rows, convention="standard", joints=joints)
    for seed in range(6):
        other = redescribed(table, np.random.default_rng(seed))
        holds(compare(table, other), table, other)


def test_puma_in_both_conventions() -> None:
    """Standard: R. P. Paul's frames; modified: J. J. Craig 1986, figure 3.21 (the axes, not the tool, are the same)."""
    a2, a3, d3, d4 = 0.4318, 0.0203, 0.15005, 0.4318
    standard = [(0, 0, 0, HALF), (0, 0, a2, 0), (0, d3, a3, -HALF), (0, d4, 0, HALF), (0, 0, 0, -HALF), (0, 0, 0, 0)]
    modified = [(0, 0, 0, 0), (0, 0, 0, -HALF), (0, d3, a2, 0), (0, d4, a3, -HALF), (0, 0, 0, HALF), (0, 0, 0, -HALF)]
    one = lw.Mechanism.from_dh(standard, convention="standard", name="paul")
    two = lw.Mechanism.from_dh(modified, convention="modified", name="craig")
    found = compare(one, two)
    holds(found, one, two)
    assert np.array_equal(found.base, np.eye(4))
    assert found.signs.tolist() == [1] * 6
    assert found.offsets == pytest.approx([np.pi, np.pi, 0, 0, 0, 0], abs=EXACT)  # the other way to lift the same arm


def test_what_is_free_is_told_in_the_fewest_words() -> None:
    rows = [(0, 0.3, 0.1, HALF), (0, 0, 0.5, 0), (0, 0.2, 0, 0)]
    plain = lw.Mechanism.from_dh(rows, convention="standard")
    zeros = [0.3, -0.2, 0.7]
    shifted = lw.Mechanism([lw.Link.dh(*row, offset=o, convention="standard") for row, o in zip(rows, zeros, strict=True)])
    found = compare(shifted, plain)
    assert found.offsets == pytest.approx(zeros, abs=EXACT)
    assert np.abs(found.base - np.eye(4)).max() < EXACT
    assert np.abs(found.tool - np.eye(4)).max() < EXACT
    assert found.signs.tolist() == [1, 1, 1]
    lifted = compare(plain.replace(base=lw.Link(before=np.eye(4)).placement(0.4)), plain)
    assert lifted.offsets == pytest.approx([0.4, 0, 0], abs=EXACT)  # a turn about axis 1: told as its zero, base as it was
    moved = compare(plain.replace(base=[[0, -1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), plain)
    assert moved.offsets == pytest.approx([0, 0, 0], abs=EXACT)
    assert moved.base[0, 3] == pytest.approx(1)


def test_signs_are_positive_wherever_they_can_be() -> None:
    wrist = lw.Mechanism.from_dh([(0, 0, 0, HALF), (0, 0, 0, -HALF), (0, 0, 0, 0)], convention="standard")
    turned = lw.Mechanism([lw.Link(axis=a) for a in ((0, 0, -1), (0, 1, 0), (0, 0, -1))])
    found = compare(wrist, turned)
    assert found.signs.tolist() == [1, 1, 1]
    holds(found, wrist, turned)


def test_only_the_way_to_the_link_counts() -> None:
    arm = lw.Mechanism.from_dh([(0, 0, 0.5, 0), (0, 0, 0.4, 0), (0, 0, 0.3, 0)], convention="standard")
    shorter = lw.Mechanism.from_dh([(0, 0, 0.5, 0), (0, 0, 0.4, 0)], convention="standard")
    assert not compare(arm, shorter)
    found = compare(arm, shorter, link_a="link2")
    assert found.same
    assert found.transferred([0.1, 0.2, 0.3]).tolist() == [0.1, 0.2]
    assert found.transferred([0.1, 0.2], back=True).tolist() == [0.1, 0.2, 0]


def test_base_and_tool_are_in_it() -> None:
    puma = lw.robots.load("puma560")
    q = np.zeros((1, 6))
    found = compare(puma, puma.with_tool([[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))
    assert found.tool[:3, 3] == pytest.approx([-0.1, 0, 0])
    assert np.array_equal(found.transferred(q), q)


def test_a_floating_base_does_not_count() -> None:
    links = [lw.Link.dh(a=0.5, alpha=0.3, convention="standard", mass=1.0) for _ in range(3)]
    found = compare(lw.Mechanism(links, floating=True), lw.Mechanism(links))
    assert found.same


def test_joints_with_quaternions_beside_the_way_do_not_count() -> None:
    """A ball joint and a free body beside an arm: named as left out, and no part of the coordinates."""
    arm = lw.robots.puma560()
    beside = [lw.Link(name="head", joint="ball", parent="base"), lw.Link(name="box", joint="floating", parent="base")]
    scene = lw.Mechanism([*beside, arm.links[0].replace(parent="base"), *arm.links[1:]], base=arm.base, tool=arm.tool)
    found = compare(scene, arm)
    print(found)
    assert found.same
    assert max(found.position_error, found.rotation_error) < 1e-13
    assert found.transferred(np.ones(6)).tolist() == [1.0] * 6
    assert "joints not on the way to the end: head, box" in str(found)


# ── other robots ──────────────────────────────────────────────────────────────────────────────────

PANDA = [(0, 0.333, 0, -HALF), (0, 0, 0, HALF), (0, 0.316, 0.0825, HALF), (0, 0, -0.0825, -HALF), (0, 0.384, 0, HALF)]
PANDA += [(0, 0, 0.088, HALF), (0, 0.107, 0, 0)]
UR = [(0, 0.0892, 0, HALF), (0, 0, -0.425, 0), (0, 0, -0.392, 0), (0, 0.109, 0, HALF), (0, 0.0947, 0, -HALF)]
UR += [(0, 0.082, 0, 0)]


@pytest.mark.parametrize(
    ("rows", "k", "column", "value", "wanted"),
    [
        (PANDA, 5, 2, 0.09, "distance between axes 6 (link6) and 7 (link7): 0.088 m against 0.09 m"),
        (PANDA, 5, 3, 1.5, "twist between axes 6 (link6) and 7 (link7): 90° against 85.9437°"),
        (
            PANDA, 4, 1, 0.39,
            "shift along axis 5 (link5) between normals to axes 4 (link4) and 6 (link6): 0.384 m against 0.39 m",
        ),
        (UR, 1, 2, -0.43, "distance between axes 2 (link2) and 3 (link3): 0.425 m against 0.43 m"),
        (
            UR, 3, 1, 0.11,
            "shift along axes 2 (link2) to 4 (link4) between normals to axes 1 (link1) and 5 (link5): "
            "0.109 m against 0.11 m",
        ),
    ],
    ids=["distance", "twist", "shift", "distance of parallels", "shift along parallels"],
)  # fmt: skip
def test_the_sentence_names_the_place(rows: list[tuple], k: int, column: int, value: float, wanted: str) -> None:
    changed = [list(row) for row in rows]
    changed[k][column] = value
    one, two = (lw.Mechanism.from_dh(table, convention="standard") for table in (rows, changed))
    for other in (two, redescribed(two, np.random.default_rng(k))):
        found = compare(one, other)
        assert not found.same
        told = found.differences[0]
        if other is two:
            assert told == wanted
        assert all(number in told for number in wanted.split(": ")[1].replace(" m", "").split(" against "))
        assert len(found.differences) <= 2


def test_other_joints() -> None:
    puma, stanford = lw.robots.load("puma560"), lw.robots.load("stanford")
    assert compare(puma, stanford).differences == ("joint 3 (link3): revolute against prismatic",)
    two = lw.robots.load("planar_2r")
    told = "number of joints on the way: 6 (link1, link2, link3, link4, link5, link6) against 2 (link1, link2)"
    assert compare(puma, two).differences == (told,)
    assert compare(puma, two).position_error == np.inf


def test_slides_at_another_angle() -> None:
    def gantry(theta: float) -> lw.Mechanism:
        return lw.Mechanism.from_dh(
            [(0, 0, 0, HALF), (theta, 0, 0, HALF), (0, 0, 0, 0)], convention="standard", joints="PPP"
        )

    found = compare(gantry(1.0), gantry(1.2))
    told = "angle about axis 2 (link2) between axes 1 (link1) and 3 (link3): 57.2958° against 68.7549°"
    assert found.differences == (told,)


def test_pitch() -> None:
    one, two = (lw.Mechanism([lw.Link(joint="screw", pitch=p, name="lead")]) for p in (0.01, 0.02))
    assert compare(one, two).differences[0] == "pitch of joint 1 (lead): 0.01 m/rad against 0.02 m/rad"


def test_mirrored_twins_are_told_apart() -> None:
    """Every distance, twist and shift agrees; only the hand does not."""

    def arm(hand: float) -> lw.Mechanism:
        rows = [(0, 0, 0.3, 1.0), (0, 0.1, 0.2, 0.7), (0, 0.2, 0.25, hand * 0.4), (0, 0, 0.1, 0)]
        return lw.Mechanism.from_dh(rows, convention="standard")

    found = compare(arm(1), arm(-1))
    assert not found.same
    wanted = (
        "axes 1 to 3 can be brought together, and axis 4 (link4) then does not fit: the chains are put together differently"
    )
    assert found.differences[0] == wanted


def test_rounded_tables_are_nearly_the_same() -> None:
    rounded = [tuple(round(value, 4) for value in row) for row in PANDA]
    one, two = (lw.Mechanism.from_dh(rows, convention="standard") for rows in (PANDA, rounded))
    other = redescribed(two, np.random.default_rng(3))
    found = compare(one, other)
    assert not found.same
    assert 1e-6 < found.position_error < 1e-4  # right angles rounded by 4e-6 rad, arms of a metre, six of them
    assert 1e-6 < found.rotation_error < 1e-4
    assert "at best the ends stay up to" in found.differences[-1]
    assert compare(one, other, tol=1e-4).same


def test_many_axes_that_meet_at_right_angles_take_no_search_of_all_signs() -> None:
    rows = [(0, 0.1, 0, HALF if k % 2 else -HALF) for k in range(30)]
    snake = lw.Mechanism.from_dh(rows, convention="standard")
    other = redescribed(snake, np.random.default_rng(0))
    holds(compare(snake, other), snake, other)
    assert not compare(snake, lw.Mechanism.from_dh([*rows[:-2], (0, 0.2, 0, HALF), rows[-1]], convention="standard")).same


# ── limits, masses ────────────────────────────────────────────────────────────────────────────────


def test_limits_are_compared_through_the_map_and_do_not_count() -> None:
    arm = lw.Mechanism([lw.Link.dh(a=0.5, d=0.1, alpha=0.5, convention="standard", limits=(-1, 2)) for _ in range(3)])
    other = redescribed(arm, np.random.default_rng(1))
    assert not any("joint 2" in told for told in compare(arm, other).limits)  # only the zeros of the ends are free
    wider = arm.replace_link("link2", limits=(-1, 2.5))
    found = compare(arm, wider)
    assert found.same
    assert found.limits == (
        "limits of joint 2 (link2): -57.2958° to 114.592° against -57.2958° to 143.239°, in values of the first",
    )


def test_the_same_masses() -> None:
    chain = random_mechanism(3, ["revolute", "prismatic", "fixed", "revolute"], [-1, 0, 1, 2], motors=False)
    other = redescribed(chain, np.random.default_rng(5))
    geometry = compare(chain, other)
    other = other.replace(gravity=geometry.base[:3, :3].T @ chain.gravity)
    found = compare(chain, other, dynamics=True)
    assert found.same, str(found)
    assert max(found.mass_error, found.gravity_error, found.friction_error) < 1e-12
    tilted = compare(chain, other.replace(gravity=(0, 0, -9.81)), dynamics=True)
    assert tilted.differences[0].startswith("gravity: ")


def test_another_mass_is_named() -> None:
    puma = lw.robots.load("puma560")
    heavier = puma.replace_link("link2", mass=20.0)
    found = compare(puma, heavier, dynamics=True)
    assert not found.same
    assert found.differences == ("what moves with joint 2 (link2): 17.4 kg against 20 kg",)
    shifted = compare(puma, puma.replace_link("link3", com=(0, 0.1, 0)), dynamics=True)
    assert "what moves with joint 3 (link3): mass times centre of mass" in shifted.differences[0]
    assert compare(puma, heavier).same
    geared = puma.replace_link("link1", motor=puma.links[0].motor.replace(gear_ratio=-60.0))
    told = compare(puma, geared, dynamics=True).differences
    assert told[0] == "rotor inertia felt at joint 1 (link1): 0.78403 kg m2 against 0.72 kg m2"
    assert told[1].startswith("friction differs")


# ── robots that others have published ─────────────────────────────────────────────────────────────


def published(robot: str) -> lw.Mechanism:
    """From the package example-robot-data, for tests only."""
    place = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return lw.load(Path(str(place)) / robot)


def test_panda_from_its_urdf_and_its_table() -> None:
    urdf, table = published("panda_description/urdf/panda.urdf"), lw.robots.load("panda")
    found = compare(urdf, table, link_a="panda_link8")
    assert found.same
    assert np.abs([*found.offsets, *(found.base - np.eye(4)).ravel(), *(found.tool - np.eye(4)).ravel()]).max() < EXACT


def test_ur5_from_its_urdf_and_its_table() -> None:
    """The base frames of the two are half a turn apart: one table's first zero, as is well known to its users."""
    urdf, table = published("ur_description/urdf/ur5_robot.urdf"), lw.robots.load("ur5")
    found = compare(urdf, table, link_a="tool0")
    assert found.same
    assert found.signs.tolist() == [1] * 6
    assert found.offsets == pytest.approx([np.pi, 0, 0, 0, 0, 0], abs=EXACT)
    weighed = compare(urdf, table, link_a="tool0", dynamics=True)
    assert weighed.offsets == pytest.approx(found.offsets)  # the masses are another list's: no zero makes them agree
    assert "what moves with joint 3 (elbow_joint, forearm): 2.275 kg against 2.33 kg" in weighed.differences


# ── joints that follow ────────────────────────────────────────────────────────────────────────────


def fingers(ratio: float, shift: float = 0.0) -> lw.Mechanism:
    follow = lw.Mimic("near", ratio=ratio, offset=shift)
    return lw.Mechanism(
        [
            lw.Link.dh(a=0.05, alpha=0.4, convention="standard", name="near"),
            lw.Link.dh(a=0.04, convention="standard", name="far", mimic=follow),
        ]
    )


def test_joints_that_follow_alike() -> None:
    holds(compare(fingers(0.5), fingers(0.5)), fingers(0.5), fingers(0.5))
    holds(compare(fingers(0.5, 0.3), fingers(0.5)), fingers(0.5, 0.3), fingers(0.5))


@pytest.mark.parametrize("order", ["leader first", "leader last", "in between"])
def test_the_free_zeros_go_to_what_follows(order: str) -> None:
    """The first and the last zero are free, and are chosen so that the joint that follows is where it must be."""

    def arm(shift: float, zero: float) -> lw.Mechanism:
        follow, lead = ("one", "three") if order == "leader last" else ("three", "one")
        lead = "two" if order == "in between" else lead
        rows = {"one": (0.3, 0.7), "two": (0.2, -0.5), "three": (0.1, 0.4)}
        return lw.Mechanism(
            [
                lw.Link.dh(
                    a=a, d=0.1, alpha=alpha, convention="standard", name=name,
                    offset=zero if name == lead else 0.0,
                    mimic=lw.Mimic(lead, ratio=-1.0, offset=shift) if name == follow else None,
                )
                for name, (a, alpha) in rows.items()
            ]
        )  # fmt: skip

    holds(compare(arm(0.2, 0.0), arm(0.2, 0.0)), arm(0.2, 0.0), arm(0.2, 0.0))
    holds(compare(arm(0.5, 0.0), arm(0.2, 0.0)), arm(0.5, 0.0), arm(0.2, 0.0))
    holds(compare(arm(0.5, 0.3), arm(0.2, -0.4)), arm(0.5, 0.3), arm(0.2, -0.4))


def test_a_joint_that_follows_one_elsewhere() -> None:
    hand = lw.Mechanism([*fingers(0.5).links[:1], fingers(0.5).links[1].replace(parent="base")], name="hand")
    with pytest.raises(ArgumentError, match=r"'far'.*'hand'"):
        compare(hand, hand)


def test_joints_that_follow_otherwise() -> None:
    told = "ratio by which joint 2 follows joint 1: 0.5 against 0.7"
    assert told in compare(fingers(0.5), fingers(0.7)).differences
    free = lw.Mechanism([link.replace(mimic=None) for link in fingers(0.5).links])
    assert "joint 2 (far): follows joint 1 against has a coordinate of its own" in compare(fingers(0.5), free).differences


def turned_over(mech: lw.Mechanism, name: str) -> lw.Mechanism:
    """The same mechanism with one joint that follows another told with its axis the other way round."""
    link = mech.links[mech.link_index(name)]
    assert link.mimic is not None
    follow = lw.Mimic(link.mimic.joint, -link.mimic.ratio, -link.mimic.offset)
    return mech.replace_link(name, axis=-link.axis, mimic=follow)


@pytest.mark.parametrize("ratio", [1.0, -1.0, 2.0, 0.0])
@pytest.mark.parametrize("dynamics", [False, True])
def test_a_follower_with_its_axis_the_other_way_round(ratio: float, dynamics: bool) -> None:
    """The axes meet at right angles, so that either direction would do if nothing followed."""
    body = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.2, 0.15)}
    one = lw.Mechanism(
        [
            lw.Link(name="a", **body),
            lw.Link(name="b", axis=(1, 0, 0), mimic=lw.Mimic("a", ratio), **body),
            lw.Link(name="c", axis=(0, 1, 0), before=translation(0.3, 0.2, 0.1), **body),
        ],
        tool=translation(0.1, 0.0, 0.2),
    )
    other = turned_over(one, "b")
    found = compare(one, other, dynamics=dynamics)
    assert found.same
    if ratio:
        assert found.signs is not None
        assert found.signs[0] * found.signs[1] == -1
    holds(found, one, other)


def test_what_a_coupled_mechanism_weighs_is_named() -> None:
    one = fingers(2.0)
    one = one.replace(links=[link.replace(dh_row=link.dh_row, mass=1.0, com=(0.1, 0, 0)) for link in one.links])
    found = compare(one, one.replace_link("far", mass=3.0), dynamics=True)
    assert not found.same
    assert found.differences == ("what moves with joint 2 (far): 1 kg against 3 kg",)


def test_the_zeros_of_what_follows_are_not_free_for_gravity() -> None:
    """A turn of the base would make gravity agree, but the second joint follows the first and would be elsewhere."""
    body = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.2, 0.15)}
    links = [
        lw.Link(name="a", **body),
        lw.Link(name="b", axis=(1, 0, 0), before=translation(0.5, 0, 0), mimic=lw.Mimic("a", 2.0), **body),
        lw.Link(name="c", axis=(0, 1, 0), before=translation(0.5, 0, 0.1), **body),
    ]
    one = lw.Mechanism(links, gravity=(-9.81, 0, 0))
    found = compare(one, one.replace(gravity=(0, -9.81, 0)), dynamics=True)
    assert not found.same
    assert any(line.startswith("gravity: ") for line in found.differences)
    holds(replace(found, same=True), one, one)


def telescope(length: float, shift: float) -> lw.Mechanism:
    """Two slides along one line, in the middle of an arm: where the one ends and the other begins is free."""
    return lw.Mechanism(
        [
            lw.Link(name="r"),
            lw.Link(name="p", joint="prismatic", axis=(1, 0, 0), before=translation(0.2, 0, 0)),
            lw.Link(
                name="s",
                joint="prismatic",
                axis=(1, 0, 0),
                before=translation(length, 0, 0),
                mimic=lw.Mimic("p", 1.5, shift),
            ),
            lw.Link(name="v", axis=(0, 1, 0), before=translation(0.3, 0, 0)),
            lw.Link(name="w", before=translation(0.3, 0, 0.1)),
        ],
        tool=translation(0.1, 0.1, 0.1),
    )


def test_zeros_in_the_middle_that_only_a_follower_settles() -> None:
    holds(compare(telescope(0.1, 0.0), telescope(-0.2, 0.3)), telescope(0.1, 0.0), telescope(-0.2, 0.3))
    assert not compare(telescope(0.1, 0.0), telescope(-0.2, 0.4).replace_link("s", mimic=lw.Mimic("p", 1.6, 0.3))).same


def test_whole_turns_of_what_is_followed_matter() -> None:
    """Half of an offset of 3.5 rad is another angle than half of 3.5 rad less a turn."""

    def arm(zero: float) -> lw.Mechanism:
        return lw.Mechanism(
            [
                lw.Link(name="a"),
                lw.Link(name="x", before=translation(0.2, 0.1, 0), axis=(1, 0, 0), offset=-zero),
                lw.Link(
                    name="b", before=translation(1, 0.2, 0.3), axis=(0, 1, 0), offset=-zero / 2, mimic=lw.Mimic("x", 0.5)
                ),
                lw.Link(name="c", before=translation(0.3, 0.2, 0.1), axis=(1, 0, 0)),
            ],
            tool=translation(0.1, 0.1, 0.1),
        )

    found = compare(arm(0.0), arm(3.5))
    holds(found, arm(0.0), arm(3.5))
    assert found.offsets == pytest.approx([0, 3.5, 1.75, 0], abs=EXACT)


def test_who_leads_does_not_matter() -> None:
    one = fingers(2.0, 0.3)
    other = one.replace_link("far", mimic=None).replace_link("near", mimic=lw.Mimic("far", 0.5, -0.15))
    holds(compare(one, other), one, other)
    assert (
        "ratio by which joint 2 follows joint 1: 2 against 2.5"
        in compare(one, other.replace_link("near", mimic=lw.Mimic("far", 0.4, -0.15))).differences
    )


@pytest.mark.parametrize("kinds", ["RRR", "RPRR", "FRRRPF", "RRRRRR"])
@pytest.mark.parametrize("seed", range(6))
def test_random_chains_whose_joints_follow(kinds: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 5])
    table = coupled(special_chain(rng, kinds), seed)
    other = redescribed(table, rng)
    holds(compare(table, other), table, other)


def test_the_chain_ends_at_the_link_with_the_tool() -> None:
    fork = [lw.Link(name="arm"), lw.Link(name="tip", before=translation(0.5, 0, 0), axis=(0, 1, 0)), lw.Link(parent="arm")]
    hand = lw.Mechanism(fork, tool=translation(0, 0, 0.1), tool_link="tip")
    plain = lw.Mechanism(fork[:2], tool=translation(0, 0, 0.1))
    found = compare(plain, hand)
    holds(found, plain, hand)
    assert np.array_equal(found.tool, np.eye(4))


def test_what_is_left_out_is_told() -> None:
    body = lw.Link(name="arm")
    hand = lw.Mechanism([body, lw.Link(name="side", parent="arm"), lw.Link(name="end", parent="arm")], name="hand")
    closed = hand.replace(loops=[lw.Loop("point", "side", "base")])
    assert str(compare(hand, closed)).splitlines()[1:3] == [
        "not compared of hand (first): joints not on the way to the end: side",
        "not compared of hand (second): joints not on the way to the end: side; closed loops",
    ]


# ── what it says ──────────────────────────────────────────────────────────────────────────────────


def test_text() -> None:
    rows = [(0, 0.3, 0.1, HALF), (0, 0, 0.5, 0)]
    one = lw.Mechanism.from_dh(rows, convention="standard", name="one")
    links = [lw.Link.dh(*row, offset=-0.5, convention="standard", name=f"j{k}") for k, row in enumerate(rows)]
    lines = str(compare(one, lw.Mechanism(links, name="two"))).splitlines()
    assert lines.pop(4).startswith("left at random configurations: ")
    assert lines == [
        "one and two: kinematics the same, to 1e-06 m and rad;"
        " masses, gravity and friction were not compared: dynamics=True does",
        "one = base * two * tool, for all joint values",
        "base: none (the identity)",
        "tool: none (the identity)",
        "",
        "joint values of two at those of one",
        "",
        "joint  names      kind      sign    offset",
        "    1  link1, j0  revolute  +     28.6479°",
        "    2  link2, j1  revolute  +     28.6479°",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda arm: compare(arm, arm, tol=0), "tol is 0; expected a number above 0, m and rad"),
        (lambda arm: compare(arm, "arm.toml"), "b is 'arm.toml'; expected a Mechanism"),
        (lambda arm: compare(arm, arm, tol=np.nan), "tol is nan; expected a number above 0, m and rad"),
        (lambda arm: compare(arm, arm, link_b="elbow"), "no link 'elbow'; this mechanism has 'link1' and 'link2'"),
        (
            lambda arm: compare(arm, lw.Mechanism([lw.Link(joint="fixed")], name="block")),
            "no joint moves between the base and the tool, which is on 'link1', of 'block'; name the link to compare",
        ),
        (lambda arm: compare(arm, arm).transferred([1.0]), "q has shape (1,); expected (..., 2)"),
        (
            lambda arm: compare(arm, arm.replace(floating=True), dynamics=True),
            "dynamics=True compares chains on the ground, and 'arm' floats",
        ),
        (
            lambda arm: compare(arm, arm, link_a="link1", link_b="link1", dynamics=True),
            "dynamics=True compares mechanisms whose joints all lie on the way to the link; 'arm' has 'link2' beside it",
        ),
        (
            lambda arm: compare(arm, lw.robots.load("puma560")).transferred([1.0, 2.0]),
            "the mechanisms do not correspond: number of joints on the way: 2 (link1, link2) against 6",
        ),
    ],
)  # fmt: skip
def test_arguments(call: object, message: str) -> None:
    arm = lw.Mechanism.from_dh([(0, 0, 0.5, 0), (0, 0, 0.4, 0)], convention="standard", name="arm")
    with pytest.raises(ArgumentError) as raised:
        call(arm)  # type: ignore[operator]
    assert message in str(raised.value)
