import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.kinematics.manipulability import volume_of
from linkwise.workspace import Workspace, workspace

FEW = {"samples": 20_000, "cells": 64}

UP = np.eye(4)
UP[2, 3] = 0.4


def planar(*lengths: float, limits: tuple[float, float] | None = None, **rest: object) -> lw.Mechanism:
    links = [
        lw.Link.dh(a=a, convention="standard", name=f"arm{k}", limits=limits if k == 0 else None)
        for k, a in enumerate(lengths)
    ]
    return lw.Mechanism(links, **rest)


def regional(upper: float, fore: float, **rest: object) -> lw.Mechanism:
    """A turning table and two parallel joints in its middle: the tool reaches a shell."""
    return lw.Mechanism(
        [
            lw.Link.dh(alpha=np.pi / 2, convention="standard", name="table"),
            lw.Link.dh(a=upper, convention="standard", name="upper"),
            lw.Link.dh(a=fore, convention="standard", name="fore"),
        ],
        **rest,
    )


def gantry() -> lw.Mechanism:
    rails = [((1, 0, 0), 2.0), ((0, 1, 0), 1.0), ((0, 0, 1), 0.5)]
    return lw.Mechanism([lw.Link(joint="prismatic", axis=axis, limits=(0, size)) for axis, size in rails])


@pytest.fixture(scope="module")
def puma() -> tuple[lw.Mechanism, Workspace]:
    mechanism = lw.robots.load("puma560")
    return mechanism, workspace(mechanism, **FEW)


# ── what is known in closed form ──────────────────────────────────────────────────────────────────


def test_a_planar_arm_reaches_a_ring() -> None:
    found = workspace(planar(1.0, 0.5), **FEW)
    assert found.dimension == 2
    # The borders of the map are climbed to, so that the ring fills it: only the climb errs.
    assert found.size == pytest.approx(np.pi * (1.5**2 - 0.5**2), rel=1e-6)
    assert found.distance == pytest.approx((0.5, 1.5), abs=1e-6)
    assert found.radius == pytest.approx((0.5, 1.5), abs=1e-6)
    assert np.allclose(found.bounds, [[-1.5, -1.5, 0], [1.5, 1.5, 0]], atol=1e-6)
    assert found.best == pytest.approx(0.5, abs=1e-9)  # l1 l2 |sin q2|
    assert abs(np.sin(found.best_q[1])) == pytest.approx(1.0, abs=1e-6)


def test_manipulability_of_each_cell_is_that_of_its_distance() -> None:
    found = workspace(planar(1.0, 0.5), **FEW)
    edges, best = found.grid.edges[0], found.grid.best[:, 0, 0]
    r = np.linspace(edges[:-1], edges[1:], 201)
    cosine = np.clip((r**2 - 1.25) / 1.0, -1, 1)
    exact = (0.5 * np.sqrt(1 - cosine**2)).max(axis=0)
    # Never above the greatest of the cell; not far below, for hundreds of postures fall into each.
    assert np.all(best <= exact + 1e-9)
    assert np.all(best >= 0.99 * exact)


def test_limits_of_the_first_joint_are_counted_about_its_axis() -> None:
    """Against the closed form: which of many points two elbows reach with the first joint within its limits."""
    half, arm = 1.0, planar(1.0, 0.7, limits=(-1.0, 1.0))
    found = workspace(arm, samples=20_000, cells=100)
    side = np.linspace(-1.7, 1.7, 1201)
    x, y = np.meshgrid(side, side)
    r = np.hypot(x, y)
    shoulder = (1.0 + r**2 - 0.49) / (2 * np.maximum(r, 1e-12))
    away = np.arctan2(y, x)
    reached = np.zeros(x.shape, dtype=bool)
    for elbow in (1, -1):
        first = away + elbow * np.arccos(np.clip(shoulder, -1, 1))
        reached |= np.abs((first + np.pi) % (2 * np.pi) - np.pi) <= half
    area = float((reached & (np.abs(shoulder) <= 1)).sum()) * (side[1] - side[0]) ** 2
    # The edges about the axis are rounded to cells of 2 pi / 320 or less, at random from one distance to the next.
    assert found.size == pytest.approx(area, rel=0.003)
    assert found.bounds[0, 0] == pytest.approx(-0.7 + np.cos(1.0), abs=1e-4)


@pytest.mark.parametrize("base", [None, UP], ids=["at the origin", "raised"])
def test_a_shell(base: np.ndarray | None) -> None:
    found = workspace(regional(0.6, 0.4, base=base), **FEW)
    assert found.dimension == 3
    exact = 4 / 3 * np.pi * (1.0**3 - 0.2**3)
    assert found.size == pytest.approx(exact, rel=0.01)
    assert abs(found.size - exact) <= found.size_error
    assert found.distance == pytest.approx((0.2, 1.0), abs=1e-4)
    height = 0.0 if base is None else 0.4
    assert np.allclose(found.bounds[:, 2], [height - 1.0, height + 1.0], atol=1e-4)


def test_the_axis_may_lie() -> None:
    turned = np.eye(4)
    turned[:3, :3] = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    turned[:3, 3] = 1.0, 2.0, 3.0
    found = workspace(regional(0.6, 0.4, base=turned), **FEW)
    assert found.size == pytest.approx(4 / 3 * np.pi * (1.0**3 - 0.2**3), rel=0.01)
    assert np.allclose(found.bounds, [[0, 1, 2], [2, 3, 4]], atol=1e-4)


def test_a_box() -> None:
    found = workspace(gantry(), **FEW)
    assert not found.grid.has_axis
    assert np.isnan(found.radius[0])
    assert found.size == pytest.approx(1.0, rel=1e-6)
    assert np.allclose(found.bounds, [[0, 0, 0], [2, 1, 0.5]])
    assert (found.best, found.worst, found.near_singular) == pytest.approx((1.0, 1.0, 0.0))


def test_curves_and_curved_surfaces_have_no_size() -> None:
    curve = workspace(planar(1.0), **FEW)
    assert curve.dimension == 1
    assert np.isnan(curve.size)
    sphere = workspace(
        lw.Mechanism([lw.Link(), lw.Link(axis=(0, 1, 0), after=np.block([[np.eye(3), np.ones((3, 1))], [0, 0, 0, 1]]))]),
        **FEW,
    )
    assert sphere.dimension == 2
    assert np.isnan(sphere.size)
    assert sphere.distance == pytest.approx((np.sqrt(3), np.sqrt(3)))


# ── what is told can be checked ───────────────────────────────────────────────────────────────────


def test_every_cell_has_a_posture_that_proves_it(puma: tuple[lw.Mechanism, Workspace]) -> None:
    mechanism, found = puma
    assert np.allclose(mechanism.forward_kinematics(found.q)[:, :3, 3], found.positions, atol=1e-12)
    assert np.all((found.q >= mechanism.q_min) & (found.q <= mechanism.q_max))
    exact = mechanism.manipulability(found.q, mask="translation")
    # Rounding of a product of three singular values, each below 1 m.
    assert np.allclose(found.manipulability, exact, atol=1e-13)
    marks = np.array([found.best_q, found.worst_q])
    assert np.allclose(
        mechanism.forward_kinematics(marks)[:, :3, 3], [found.best_position, found.worst_position], atol=1e-12
    )
    assert mechanism.manipulability(found.best_q, mask="translation") == pytest.approx(found.best, abs=1e-13)


def test_nothing_random_lies_outside(puma: tuple[lw.Mechanism, Workspace]) -> None:
    mechanism, found = puma
    rng = np.random.default_rng(3)
    low, high = mechanism.q_min, mechanism.q_max
    q = low + rng.random((50_000, 6)) * (high - low)
    p = mechanism.forward_kinematics(q)[:, :3, 3]
    # The extremes are climbed to; random postures come near them from inside, so a millimetre is generous.
    assert np.all((p >= found.bounds[0] - 1e-3) & (p <= found.bounds[1] + 1e-3))
    away = np.linalg.norm(p, axis=1)
    assert np.all((away >= found.distance[0] - 1e-3) & (away <= found.distance[1] + 1e-3))
    assert mechanism.manipulability(q, mask="translation").max() <= found.best + 1e-9
    grid = found.grid
    local = grid.local(p)
    places = (np.hypot(local[:, 0], local[:, 1]), local[:, 2], np.arctan2(local[:, 1], local[:, 0]))
    cells = [
        np.clip(np.searchsorted(e, v, side="right") - 1, 0, len(e) - 2) for e, v in zip(grid.edges, places, strict=True)
    ]
    # Cells that the postures just touch may be missed, and the azimuth is in steps: one point in a hundred.
    assert grid.reached[tuple(cells)].mean() > 0.99


def test_equal_seeds_give_equal_results(puma: tuple[lw.Mechanism, Workspace]) -> None:
    mechanism, found = puma
    again, other = workspace(mechanism, **FEW), workspace(mechanism, seed=1, **FEW)
    assert np.array_equal(again.q, found.q)
    assert np.array_equal(again.grid.best, found.grid.best, equal_nan=True)
    assert not np.array_equal(other.best_q, found.best_q)
    assert other.size == pytest.approx(found.size, rel=0.02)


def test_pointing_down() -> None:
    mechanism = lw.robots.load("puma560")
    found = workspace(mechanism, pointing=[0, 0, -2], within=0.1, **FEW)
    assert np.all(mechanism.forward_kinematics(found.q)[:, 2, 2] <= -np.cos(0.1) + 1e-12)
    assert found.size < workspace(mechanism, **FEW).size
    assert found.grid.has_axis


def test_pointing_aside_is_laid_out_in_x_y_z() -> None:
    mechanism = regional(0.6, 0.4)
    found = workspace(mechanism, pointing=[0, 1, 0], within=0.3, **FEW)
    assert not found.grid.has_axis
    assert np.all(mechanism.forward_kinematics(found.q)[:, 1, 2] >= np.cos(0.3) - 1e-12)
    with pytest.raises(ArgumentError, match="within="):
        workspace(mechanism, pointing=[0, 0, 1], within=0.3, **FEW)


def test_another_link_and_other_axes() -> None:
    mechanism = lw.robots.load("puma560")
    found = workspace(mechanism, link="link2", mask="rotation", **FEW)
    assert found.frame == "link2"
    assert found.freedoms == 2
    assert found.best == pytest.approx(1.0)  # two axes at a right angle
    assert np.array_equal(found.q[:, 2:], np.zeros((len(found.q), 4)))


def test_limits_may_be_left_out_and_ranges_given() -> None:
    arm = planar(1.0, 0.5, limits=(-0.1, 0.1))
    assert workspace(arm, limits=False, **FEW).size == pytest.approx(np.pi * 2.0, rel=1e-6)
    narrow = workspace(arm, ranges={"arm0": (-0.1, 0.1), "arm1": (0.0, 0.2)}, **FEW)
    assert np.all(narrow.q[:, 1] >= 0)
    assert np.all(narrow.q[:, 1] <= 0.2)


def test_a_joint_that_another_follows() -> None:
    links = [
        lw.Link.dh(a=1.0, convention="standard", name="crank", limits=(-1.0, 1.0)),
        lw.Link.dh(a=1.0, convention="standard", name="follower", joint="revolute"),
    ]
    made = lw.Mechanism(
        [links[0], lw.Link(name="follower", axis=(0, 0, 1), after=links[1].after, mimic=lw.Mimic("crank", 2.0))]
    )
    found = workspace(made, **FEW)
    assert found.q.shape[1] == 1
    assert found.dimension == 1
    assert found.distance[1] == pytest.approx(2.0, abs=1e-6)


# ── numbers ───────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1), st.data())
def test_volume_is_the_product_of_the_singular_values(rows: int, columns: int, seed: int, data: st.DataObject) -> None:
    rng, least = np.random.default_rng(seed), min(rows, columns)
    rank = data.draw(st.integers(1, least))
    matrix = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))
    s = np.linalg.svd(matrix, compute_uv=False)
    # Squaring, where the rank is not full, costs half of the digits at worst: 1e-8 of the greatest possible product.
    bound = (1e-13 if rank == least else 1e-7) * s[0] ** rank
    assert float(volume_of(matrix, rank)) == pytest.approx(np.prod(s[:rank]), abs=bound)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 10}, "samples is 10; expected a whole number from 1000"),
        ({"cells": 2.5}, "cells is 2.5"),
        ({"seed": -1}, "seed is -1"),
        ({"limits": "no"}, "limits is 'no'; expected True or False"),
        ({"mask": "up"}, "mask is 'up'; expected 'all', 'translation' or 'rotation'"),
        ({"link": "elbow"}, "no link 'elbow'"),
        ({"pointing": [0, 0, 0]}, "pointing is"),
        ({"pointing": "down"}, "pointing holds <U4; expected a direction"),
        ({"pointing": [0, 0, 1], "within": 0.0}, "within is 0.0"),
        ({"ranges": {"arm9": (0, 1)}}, "'arm9'.*'arm0' and 'arm1'"),
        ({"ranges": {"arm1": (1, 0)}}, "least and a greatest"),
    ],
)
def test_arguments_that_cannot_be(options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        workspace(planar(1.0, 0.5), **options)


def test_mechanisms_that_cannot_be() -> None:
    slide = lw.Mechanism([lw.Link(), lw.Link(joint="prismatic", name="slide"), lw.Link(joint="prismatic", name="lift")])
    with pytest.raises(ArgumentError, match=r"'slide'.*'lift'"):
        workspace(slide)
    with pytest.raises(ArgumentError, match="'body' of 'loose' is a floating joint on the way"):
        workspace(lw.Mechanism([lw.Link(name="body", joint="floating")], name="loose"))
    with pytest.raises(ArgumentError, match="floating base"):
        workspace(lw.Mechanism([lw.Link(mass=1.0)], floating=True))
    with pytest.raises(ArgumentError, match="no joint that moves"):
        workspace(lw.Mechanism([lw.Link(joint="fixed")]))


def test_what_does_not_move_the_frame_needs_no_limits() -> None:
    tree = lw.Mechanism([*planar(1.0, 0.5).links, lw.Link(name="aside", parent="arm0", joint="prismatic")], tool_link="arm1")
    assert workspace(tree, **FEW).size == pytest.approx(2.0 * np.pi, rel=1e-6)


def test_the_repr_says_how_far() -> None:
    assert repr(workspace(gantry(), **FEW)).startswith("<Workspace: 1 m3, ")


# ── joints with quaternions ───────────────────────────────────────────────────────────────────────

UPPER, FORE, LEAN = 0.4, 0.3, 0.8


def limb(**shoulder: object) -> lw.Mechanism:
    """A ball joint at the origin and a knee, and a body that floats beside them."""
    out = np.eye(4)
    out[2, 3] = FORE
    below = np.eye(4)
    below[2, 3] = UPPER
    return lw.Mechanism(
        [
            lw.Link(name="thigh", joint="ball", **shoulder),
            lw.Link(name="shank", axis=(0, 1, 0), before=below, after=out),
            lw.Link(name="loose", joint="floating", parent="base"),
        ],
        tool_link="shank",
    )


def test_a_ball_joint_and_a_knee_reach_a_shell() -> None:
    """Distances from the ball are those that the knee alone gives; the ball turns each all round."""
    limbs = limb()
    region = workspace(limbs, **FEW)
    wide = 4.0 / 3.0 * np.pi * ((UPPER + FORE) ** 3 - (UPPER - FORE) ** 3)
    far = np.linalg.norm(region.positions, axis=1)
    apart = np.abs(far - np.sqrt(UPPER**2 + FORE**2 + 2.0 * UPPER * FORE * np.cos(region.q[:, -1]))).max()
    poses = limbs.forward_kinematics(region.q)
    units = np.abs(np.linalg.norm(region.q[:, :4], axis=1) - 1.0).max()
    print(f"{region}; {region.size:.4f} of {wide:.4f} m3, distances to {apart:.1e} m, quaternions to {units:.1e}")
    assert (region.dimension, region.freedoms, region.q.shape[1]) == (3, 3, limbs.nq)
    assert region.distance == pytest.approx((UPPER - FORE, UPPER + FORE), abs=1e-6)  # (climbed to)
    assert region.size == pytest.approx(wide, rel=0.05)  # (of few samples, cells at the edge are missed)
    assert apart < 1e-14
    assert units < 1e-14
    assert np.abs(poses[:, :3, 3] - region.positions).max() < 1e-15  # (another graph: rounding of lengths below 1 m)
    assert np.array_equal(region.q[:, 4:11], np.tile(limbs.neutral[4:11], (len(region.q), 1)))  # (what floats rests)


def test_the_manipulability_counts_the_turns_of_a_ball_joint() -> None:
    """Of a point at a distance r from a ball, the two singular values are r each, whichever way it points."""
    top = np.eye(4)
    top[2, 3] = 0.5
    region = workspace(lw.Mechanism([lw.Link(joint="ball", limits=(0, LEAN), axis=(0, 0, 1), after=top)]), **FEW)
    lowest = region.positions[:, 2].min()
    over = np.abs(np.arccos(np.clip(region.positions[:, 2] / 0.5, -1, 1))).max() - LEAN
    errors = np.abs(region.manipulability - 0.25).max()
    print(f"{region}; manipulability to {errors:.1e}, lowest {lowest:.6f} of {0.5 * np.cos(LEAN):.6f} m, over {over:.1e}")
    assert (region.dimension, region.freedoms) == (2, 2)
    assert errors < 1e-15
    assert over < 1e-15  # (no posture is beyond the cone)
    assert region.bounds[0, 2] == pytest.approx(0.5 * np.cos(LEAN), abs=1e-9)
    assert region.bounds[1, :2] == pytest.approx(0.5 * np.sin(LEAN), abs=1e-6)


def test_a_ball_joint_reaches_what_three_pins_reach() -> None:
    """The same limb with three pins that meet in a point, without limits: the same distances, and volume to the cells."""
    links = limb().links
    pins = [lw.Link(name=f"pin{k}", axis=axis, mass=0.0) for k, axis in enumerate(np.eye(3))]
    other = lw.Mechanism([*pins, links[1].replace(parent="pin2")])
    one, two = workspace(limb(), **FEW), workspace(other, **FEW)
    print(one, two, one.size / two.size)
    assert one.distance == pytest.approx(two.distance, abs=1e-6)
    assert one.size == pytest.approx(two.size, rel=0.05)
