"""Assembly modes in closed form, against textbook numbers, the closure equations, and every root that a search finds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.loops.assembly_modes import AssemblyModes
from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.transform import transform

TURN = 2.0 * math.pi


def place(x: float, y: float = 0.0, z: float = 0.0, turn: float = 0.0) -> np.ndarray:
    return np.asarray(transform(rotation_z(turn), (x, y, z)), dtype=float)


def four_bar(
    axes: tuple[float, float, float] = (1.0, 1.0, 1.0), kind: str = "hinge", base: np.ndarray | None = None
) -> Mechanism:
    """Crank 1, coupler 3, rocker 2.5, frame 2.8, each axis up or down; the base anywhere."""
    links = [
        Link(joint="revolute", name="crank", axis=(0, 0, axes[0])),
        Link(joint="revolute", name="coupler", parent="crank", before=place(1.0), axis=(0, 0, axes[1])),
        Link(joint="revolute", name="rocker", parent="base", before=place(2.8, 0.3), axis=(0, 0, axes[2])),
    ]
    return Mechanism(
        links, loops=[Loop(kind, "coupler", "rocker", place(3.0), place(2.5), name="pin")], base=base, name="bars"
    )


def slider(kinds: str) -> Mechanism:
    """A loop of three joints in a row, R or P, closed by a pin on a bar that the base carries."""
    joints = {"R": "revolute", "P": "prismatic"}
    links = [
        Link(
            joint=joints[kind],
            name=f"j{k}",
            before=place(0.7 + 0.2 * k, 0.1 * k, turn=0.4 * k),
            axis=(0, 0, 1) if kind == "R" else (1, 0, 0),
        )
        for k, kind in enumerate(kinds)
    ]
    return Mechanism(links, loops=[Loop("point", f"j{len(kinds) - 1}", "base", place(0.9), place(1.3, 0.5))], name=kinds)


def welded() -> Mechanism:
    """A four-bar cut open within its coupler: four joints in one chain, whose end is fixed to the base again."""
    lengths = (1.0, 3.0, 2.5, 2.8)
    links = [Link(joint="revolute", name=f"j{k}", before=place(0.0 if not k else lengths[k - 1])) for k in range(4)]
    return Mechanism(links, loops=[Loop("full", "j3", "base", place(0.2, 0.1), place(2.9, 0.4, turn=0.3))], name="welded")


def six_bar() -> Mechanism:
    """Watt's six-bar: a four-bar, and on its rocker a second dyad to the base."""
    first = four_bar()
    links = [
        *first.links,
        Link(joint="revolute", name="rod", parent="rocker", before=place(1.2, 0.6)),
        Link(joint="revolute", name="output", parent="base", before=place(5.5, 0.2)),
    ]
    return first.replace(
        links=links, loops=[Loop("point", "rod", "output", place(2.6), place(1.5), name="second"), *first.loops]
    )


def in_a_table() -> Mechanism:
    """A four-bar from Denavit-Hartenberg rows: each link's frame is at its far end."""
    row = {"convention": "standard", "joint": "revolute"}
    links = [
        Link.dh(a=1.0, name="crank", **row),
        Link.dh(a=3.0, name="coupler", theta=0.4, **row),
        Link(joint="fixed", name="ground", parent="base", before=place(2.8)),
        Link.dh(a=2.5, name="rocker", parent="ground", **row),
    ]
    return Mechanism(links, loops=[Loop("hinge", "coupler", "rocker")], name="table")


def on_an_arm() -> Mechanism:
    """The four-bar on a link that turns about x, itself on one that slides."""
    bars = four_bar()
    links = [
        Link(joint="prismatic", name="rail", axis=(0, 1, 0)),
        Link(joint="revolute", name="arm", parent="rail", axis=(1, 0, 0), before=place(0.2, 0.1, 0.4)),
        *(link.replace(parent="arm" if link.parent in {None, "base"} else link.parent) for link in bars.links),
    ]
    return bars.replace(links=links)


def parallelogram() -> Mechanism:
    """Opposite sides alike: its modes meet, with four bars in a line, at a change point."""
    bars = four_bar()
    links = [bars.links[0], bars.links[1], bars.links[2].replace(before=place(3.0))]
    return bars.replace(links=links, loops=[Loop("hinge", "coupler", "rocker", place(3.0), place(1.0))])


MADE: dict[str, tuple[Callable[[], Mechanism], tuple[str, ...] | None]] = {
    "four_bar": (robots.four_bar, None),
    "four_bar by its rocker": (robots.four_bar, ("rocker",)),
    "four_bar by its coupler": (robots.four_bar, ("coupler",)),
    "slider_crank": (robots.slider_crank, None),
    "slider_crank by its slider": (robots.slider_crank, ("slider",)),
    "slider_crank by its rod": (robots.slider_crank, ("rod",)),
    "five_bar": (robots.five_bar, None),
    "five_bar on one side": (robots.five_bar, ("left_crank", "left_rod")),
    "jansen": (robots.jansen, None),
    "axes up and down": (lambda: four_bar((1.0, -1.0, -1.0)), None),
    "base turned": (lambda: four_bar(base=np.asarray(transform(rotation_x(1.0), (0.3, 0.2, 0.1)))), None),
    "afloat": (lambda: four_bar().replace(floating=True), None),
    "in a table": (in_a_table, None),
    "on an arm": (on_an_arm, None),
    "parallelogram": (parallelogram, None),
    "ball for a pin": (lambda: four_bar(kind="point"), None),
    "RRR": (lambda: slider("RRR"), ("j0",)),
    "PRR": (lambda: slider("PRR"), ("j2",)),
    "RPR": (lambda: slider("RPR"), ("j0",)),
    "RPR by the last": (lambda: slider("RPR"), ("j2",)),
    "RRP": (lambda: slider("RRP"), ("j0",)),
    "welded": (welded, None),
    "six_bar": (six_bar, None),
}


def modes_of(name: str) -> AssemblyModes:
    make, driven = MADE[name]
    return AssemblyModes(make().replace(), driven)


def given(modes: AssemblyModes, count: int = 300) -> np.ndarray:
    """Driven coordinates, most of which the links reach."""
    spread = [0.05 if name == "slider" else 1.0 for name in modes.driven]
    middle = [-0.04 if name == "slider" else 0.0 for name in modes.driven]
    return np.random.default_rng(5).normal(middle, spread, (count, len(spread)))


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", MADE)
def test_every_mode_is_closed_and_known_again(name: str) -> None:
    """Closure: 1e-12 by the promise of the class; in fact a few units in the last place of lengths of order 1."""
    modes = modes_of(name)
    mech, u = modes.mechanism, given(modes)
    q = modes.positions(u)
    reached = np.isfinite(q[..., 0])
    assert reached.mean() > 0.2
    assert np.abs(mech.kernel("closure")(q[reached])).max() < 2e-14
    assert np.all(mech.kernel("closure_facing")(q[reached]) > 0.99)
    columns = [mech.coordinate_names.index(coordinate) for coordinate in modes.driven]
    np.testing.assert_array_equal(
        q[..., columns][reached], np.broadcast_to(u[:, None], (*reached.shape, u.shape[1]))[reached]
    )
    expected = np.broadcast_to(np.arange(len(modes.signs)), reached.shape)
    np.testing.assert_array_equal(modes.mode(q[reached]), expected[reached])


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", ["four_bar by its coupler", "slider_crank", "five_bar", "RPR", "welded"])
def test_no_mode_is_missing(name: str) -> None:
    """Newton steps from many starts find no closed position that is not among the modes."""
    modes = modes_of(name)
    mech, rng = modes.mechanism, np.random.default_rng(1)
    u = given(modes)
    u = u[
        np.isfinite(modes.positions(u)).all(axis=(1, 2)) & (np.abs(modes.transmission(modes.positions(u)[:, 0])[:, 0]) > 0.1)
    ][0]
    passive = [mech.names.index(coordinate) for coordinate in modes.passive]
    q = rng.uniform(-3.0, 3.0, (200, mech.nq))
    q[:, [mech.names.index(coordinate) for coordinate in modes.driven]] = u
    for _ in range(60):
        jac = mech.kernel("closure_jacobian")(q)[..., passive]
        q[:, passive] -= np.clip((np.linalg.pinv(jac, rcond=1e-6) @ mech.kernel("closure")(q)[..., None])[..., 0], -0.5, 0.5)
    residual, facing = mech.kernel("closure")(q), mech.kernel("closure_facing")(q)
    q = q[(np.abs(residual).max(axis=-1) < 1e-12) & (facing.min(axis=-1) > 0.0)]
    slides = np.array([link.joint == "prismatic" for link in mech.links])
    seen = lambda at: np.where(slides, at, np.exp(1j * at))  # noqa: E731
    apart = np.abs(seen(q)[:, None] - seen(modes.positions(u))).max(axis=-1)
    assert apart.min(axis=1).max() < 1e-9
    assert set(apart.argmin(axis=1)) == {0, 1}


def test_the_textbook_four_bar() -> None:
    """R. L. Norton, "Design of Machinery", example 4-1, crank at 40 deg: angles from x as printed, to 0.01 deg."""
    modes = AssemblyModes(robots.four_bar())
    zero = np.array([link.offset for link in modes.mechanism.links])
    crank, coupler, rocker = np.degrees(modes.positions([math.radians(40.0)]) + zero).T
    np.testing.assert_allclose(crank + coupler, [-60.98, 20.30], atol=0.01)
    np.testing.assert_allclose(rocker, [-98.01, 57.33], atol=0.01)


def test_slider_crank_is_the_engine_formula() -> None:
    """Slider at r cos a + sqrt(l^2 - (r sin a)^2), from its dead centre r + l; the other mode has the root's other sign."""
    modes, r, length = AssemblyModes(robots.slider_crank()), 0.05, 0.2
    a = np.linspace(-6.0, 6.0, 101)
    q = modes.positions(a[:, None])
    bent = np.sqrt(length**2 - (r * np.sin(a)) ** 2)
    np.testing.assert_allclose(q[:, 0, 2], r * np.cos(a) + bent - (r + length), atol=2e-16 * 4)
    np.testing.assert_allclose(q[:, 1, 2], r * np.cos(a) - bent - (r + length), atol=2e-16 * 4)


def test_transmission_angle_of_the_four_bar() -> None:
    """Between coupler and rocker, by the law of cosines over the diagonal (Norton, section 4.10)."""
    modes = AssemblyModes(robots.four_bar())
    a = np.linspace(0.0, TURN, 50)
    square = 0.1**2 + 0.04**2 - 2 * 0.1 * 0.04 * np.cos(a)
    cosine = (0.12**2 + 0.08**2 - square) / (2 * 0.12 * 0.08)
    sines = modes.transmission(modes.positions(a[:, None]))[..., 0]
    np.testing.assert_allclose(sines, np.sqrt(1 - cosine**2)[:, None] * [1, -1], atol=1e-14)


def test_links_that_do_not_reach_give_nan() -> None:
    modes = AssemblyModes(robots.slider_crank(), ["slider"])
    q = modes.positions([[0.001], [-0.05], [-0.2]])
    assert np.isnan(q[0]).all()
    assert np.isfinite(q[1]).all()
    assert np.isnan(q[2]).all()
    assert modes.mode(q[0]).tolist() == [-1, -1]


def test_both_modes_meet_at_a_toggle() -> None:
    """Slider at its dead centre: one position, found though rounding may put it out of reach; open by rounding only."""
    modes = AssemblyModes(robots.slider_crank(), ["slider"])
    q = modes.positions([0.0])
    np.testing.assert_allclose(q, 0.0, atol=1e-7)  # (the root of the rounding)
    assert np.abs(modes.mechanism.kernel("closure")(q)).max() < 1e-15


def test_a_whole_turn_near_the_last_position_does_not_jump() -> None:
    modes = AssemblyModes(robots.jansen())
    a = np.linspace(0.0, -2 * TURN, 721)
    here, mode = modes.mechanism.neutral, int(modes.mode(modes.mechanism.neutral))
    path = []
    for value in a:
        here = modes.position([value], mode, near=here)
        path.append(here)
    assert np.abs(np.diff(path, axis=0)).max() < 0.1  # the crank's steps are 0.0175
    np.testing.assert_allclose(np.exp(1j * path[-1]), np.exp(1j * path[0]), atol=1e-12)


def test_the_change_point_of_a_parallelogram_is_a_toggle() -> None:
    modes = AssemblyModes(parallelogram())
    q = modes.positions([[0.0], [math.pi], [1e-9]])
    assert np.isfinite(q).all()
    assert np.abs(modes.transmission(q[:2])).max() < 1e-7  # the root of the rounding


def test_nan_empty_batches_and_whole_turns() -> None:
    modes = AssemblyModes(robots.four_bar())
    assert np.isnan(modes.positions([[math.nan], [0.1]])[0]).all()
    assert modes.positions(np.zeros((0, 1))).shape == (0, 2, 3)
    far = modes.positions([0.1], near=[0.1, 3 * TURN, -7 * TURN])
    np.testing.assert_allclose(np.round(far[:, 1:] / TURN), [[3, -7], [3, -7]])
    np.testing.assert_allclose(np.exp(1j * far), np.exp(1j * modes.positions([0.1])), atol=1e-13)


def test_batches_are_loops_of_single_calls() -> None:
    modes = AssemblyModes(robots.five_bar())
    u = given(modes, 12).reshape(3, 4, 2)
    q = modes.positions(u)
    assert q.shape == (3, 4, 2, 4)
    np.testing.assert_array_equal(q[1, 2], modes.positions(u[1, 2]))


def test_five_bar_reaches_a_point_in_four_ways() -> None:
    """Each with the pin at the point, by forward kinematics; circles about both base joints bound what is reached."""
    modes = AssemblyModes(robots.five_bar())
    mech, rng = modes.mechanism, np.random.default_rng(2)
    point = np.append(rng.uniform([-0.5, -0.5], 0.5, (400, 2)), np.zeros((400, 1)), axis=1)
    q = modes.reach(point)
    reached = np.isfinite(q[..., 0])
    far = np.linalg.norm(point[:, None, :2] - [[-0.1, 0.0], [0.1, 0.0]], axis=-1)
    np.testing.assert_array_equal(reached.all(axis=1), ((far < 0.46) & (far > 0.06)).all(axis=1))
    tips = mech.forward_kinematics(q[reached])[..., :3, 3]
    np.testing.assert_allclose(tips, np.broadcast_to(point[:, None], (400, 4, 3))[reached], atol=1e-15 * 2)
    ways = np.unique(np.round(q[reached.all(axis=1)][0], 6), axis=0)
    assert len(ways) == 4
    assert np.isnan(modes.reach([0.0, 0.44, 0.001])).all()
    base = transform(rotation_x(0.3), [1.0, 2.0, 3.0])
    moved = AssemblyModes(mech.replace(base=base)).reach(base[:3, :3] @ [0.05, 0.4, 0.0] + base[:3, 3])
    np.testing.assert_allclose(moved, modes.reach([0.05, 0.4, 0.0]), atol=1e-12)


def test_the_pin_that_is_reached_is_among_the_modes_of_its_cranks() -> None:
    modes = AssemblyModes(robots.five_bar())
    q = modes.reach([0.05, 0.4, 0.0])
    again = modes.positions(q[:, [0, 2]])
    np.testing.assert_allclose(again[np.arange(4), modes.mode(q)], q, atol=1e-13)


def test_joints_with_quaternions_beside_the_loops() -> None:
    """A four-bar that stands on a ball joint and carries another: its modes are those of the four-bar alone."""
    bars = four_bar()
    body: dict[str, Any] = {"joint": "ball", "mass": 1.0, "inertia": (1, 1, 1)}
    stand = Mechanism([Link(name="stand", **body)]).attach(bars, to="stand", prefix="on_")
    whole = stand.replace(links=[*stand.links, Link(name="held", parent=stand.link_names[2], **body)])
    modes, alone = AssemblyModes(whole), AssemblyModes(bars)
    assert modes.driven[:8] == whole.coordinate_names[:8]
    turned = whole.random_configuration(seed=1)[:8]
    q = modes.positions([*turned, 0.6])
    assert np.abs(q[:, 8:] - alone.positions([0.6])).max() < 1e-14
    assert (q[:, :8] == turned).all()
    assert modes.mode(q).tolist() == [0, 1]


def test_what_cannot_be_done_is_said() -> None:
    four = robots.four_bar()
    with pytest.raises(ArgumentError, match=r"'planar_2r' has no loops"):
        AssemblyModes(robots.planar_2r())
    with pytest.raises(ArgumentError, match=r"loop 'ball1' is not planar: the axis of"):
        AssemblyModes(robots.stewart())
    with pytest.raises(ArgumentError, match=r"driven.*'lever'.*'crank'.*'coupler'.*'rocker'"):
        AssemblyModes(four, ["lever"])
    with pytest.raises(ArgumentError, match=r"expected 1 different names"):
        AssemblyModes(four, ["crank", "rocker"])
    with pytest.raises(ArgumentError, match=r"'upper_pin'.*'foot'"):
        AssemblyModes(robots.jansen(), ["foot"])
    with pytest.raises(ArgumentError, match=r"u.*\(2,\).*\(\.\.\., 1\)"):
        AssemblyModes(four).positions([0.0, 1.0])
    with pytest.raises(ArgumentError, match=r"mode is 2; expected 0 to 1"):
        AssemblyModes(four).position([0.0], 2)
    with pytest.raises(ArgumentError, match=r"'four_bar'.*joints.*either"):
        AssemblyModes(four).reach([0.0, 0.0, 0.0])
    lifted = four.replace(loops=[Loop("hinge", "coupler", "rocker", place(0.12), place(0.08, 0, 0.5))])
    with pytest.raises(ArgumentError, match=r"its frames are 0\.5 m apart along the axes"):
        AssemblyModes(lifted)
    over = np.asarray(transform(rotation_x(math.pi), (0.08, 0, 0)))
    upside_down = four.replace(loops=[Loop("hinge", "coupler", "rocker", place(0.12), over)])
    with pytest.raises(ArgumentError, match="the z axes of its frames are not parallel"):
        AssemblyModes(upside_down)
    assert repr(AssemblyModes(four)) == "<AssemblyModes of four_bar: 2, driven by 'crank'>"
