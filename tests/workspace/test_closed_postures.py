"""Workspaces of mechanisms with loops: beside the geometry of a five-bar, and the coupler curves of a four-bar."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.loops import AssemblyModes


@pytest.fixture(scope="module")
def five():
    return lw.robots.five_bar()


@pytest.fixture(scope="module")
def region(five):
    return five.workspace(samples=2000, cells=60)


def test_a_five_bar_reaches_two_annuli(five, region):
    """Cranks of 0.2 m and rods of 0.26 m, 0.2 m apart: distances of 0.06 to 0.46 m from both pivots: a lens less discs."""
    outer, inner, apart = 0.46, 0.06, 0.2
    lens = 2.0 * outer**2 * np.arccos(apart / (2.0 * outer)) - 0.5 * apart * np.sqrt(4.0 * outer**2 - apart**2)
    area = lens - 2.0 * np.pi * inner**2
    print(f"{region}: {region.size:.4f} of {area:.4f} m2, uncertain by {region.size_error:.4f}")
    assert region.dimension == 2
    assert abs(region.size - area) <= region.size_error < 0.02 * area
    away = np.stack([np.hypot(region.positions[:, 0] - x, region.positions[:, 1]) for x in (-0.1, 0.1)])
    assert away.max() < outer * (1 + 1e-12)
    assert away.min() > inner * (1 - 1e-12)
    assert abs(region.bounds[1][0] - 0.36) < 1e-4  # (climbed to, not exact)
    assert abs(region.bounds[1][1] - np.sqrt(outer**2 - 0.01)) < 1e-4


def test_a_delta_reaches_its_volume():
    """2.19 m3, to 0.01: 2.05 with the platform upright, by its circles and rods, and other modes.

    That is the share of 64,000 places, one in each cell of a grid, to which the rods alone bring arms and platform from up
    to 300 random starts each.
    """
    region = lw.robots.delta().workspace(samples=1000, cells=24, seed=1)
    print(f"{region}: uncertain by {region.size_error:.3f}")
    assert abs(region.size - 2.19) <= region.size_error < 0.07  # (cells of 0.13 m)


def test_every_posture_closes_and_stands_where_it_is_said(five, region):
    gap = np.abs(five.kernel("closure")(region.q)).max()
    poses = five.forward_kinematics(region.q)[:, :3, 3]
    print(f"{len(region.q)} postures, open by {gap:.1e} m")
    assert gap < 1e-12
    assert np.abs(poses - region.positions).max() < 1e-15  # (another graph: rounding of lengths below 1 m)
    linkage = five.linkage(["left_crank", "right_crank"])
    for q, value in list(zip(region.q, region.manipulability, strict=True))[::400]:
        if abs(AssemblyModes(five).transmission(q)).min() < 0.1:
            continue
        basis = np.linalg.qr(np.stack([linkage.velocity(q, unit) for unit in np.eye(2)], axis=1))[0]
        volume = np.prod(np.linalg.svd((five.jacobian(q) @ basis)[:2], compute_uv=False))
        assert abs(volume - value) < 1e-10  # m2/rad2, by the speeds of a linkage


def test_a_coupler_curve_in_both_assembly_modes():
    place = np.eye(4)
    place[:2, 3] = 0.06, 0.03
    bars = lw.robots.four_bar().replace(tool=place, tool_link="coupler")
    modes = AssemblyModes(bars, ["crank"])
    curves = bars.forward_kinematics(modes.positions(np.linspace(-np.pi, np.pi, 1441)[:, None]))[..., :3, 3]
    region = bars.workspace(samples=1000, cells=40)
    print(f"{region}, dimension {region.dimension}")
    assert region.dimension == 1
    assert np.isnan(region.size)
    assert np.abs(region.bounds - [np.nanmin(curves, axis=(0, 1)), np.nanmax(curves, axis=(0, 1))]).max() < 1e-5
    nearest = np.linalg.norm(region.positions[:, None] - curves.reshape(1, -1, 3), axis=-1)
    assert np.nanmin(nearest, axis=1).max() < 5e-4  # m; half the step of the curve, 0.3 m in 1440 steps, at its fastest


def test_the_same_seed_gives_the_same_and_ranges_hold(five, region):
    held, again = (five.workspace(samples=1000, cells=20, ranges={"left_crank": (-0.5, 0.2)}) for _ in range(2))
    assert np.array_equal(again.q, held.q)
    assert (held.q[:, 0] >= -0.5).all()
    assert (held.q[:, 0] <= 0.2).all()
    assert held.size < 0.5 * region.size


MALFORMED = [
    ({"limits": False}, "limits is False"),
    ({"samples": 3}, "samples is 3"),
    ({"cells": 2}, "cells is 2"),
    ({"ranges": {"elbow": (0, 1)}}, "'elbow'"),
]


@pytest.mark.parametrize(("options", "named"), MALFORMED)
def test_malformed(five, options, named):
    with pytest.raises(ArgumentError, match=named):
        five.workspace(**options)


def rod_between_balls(**tip: object) -> lw.Mechanism:
    """A crank, a rod between two ball joints and a rocker; on the rod a tip, and beside all a body that floats."""
    places = {name: np.eye(4) for name in ("crank", "rod", "half", "ground", "rocker")}
    for name, place in (("crank", (0.1, 0, 0)), ("rod", (0.42, 0, 0)), ("half", (0.21, 0, 0)), ("rocker", (0.2, 0, 0))):
        places[name][:3, 3] = place
    places["ground"][:3] = [[1, 0, 0, 0.4], [0, 0, -1, 0.1], [0, 1, 0, 0.05]]
    return lw.Mechanism(
        [
            lw.Link(name="crank"),
            lw.Link(name="rod", joint="ball", parent="crank", before=places["crank"]),
            lw.Link(name="rocker", parent="base", before=places["ground"]),
            lw.Link(name="tip", parent="rod", before=places["half"], **tip),
            lw.Link(name="loose", joint="floating", parent="base"),
        ],
        loops=[lw.Loop("point", "rod", "rocker", places["rod"], places["rocker"], name="socket")],
        tool_link="tip",
    )


def test_a_rod_between_ball_joints_keeps_its_length():
    """Its middle stands half its length from both ends, on a curve; a tip that a ball joint carries turns all ways."""
    mechanism = rod_between_balls(joint="ball", limits=(0, 0.5), axis=(0, 0, 1))
    region = mechanism.workspace(samples=1000, cells=40, mask="rotation")
    gap = np.abs(mechanism.kernel("closure")(region.q)).max()
    poses = mechanism.forward_kinematics(region.q)[:, :3, 3]
    units = max(np.abs(np.linalg.norm(region.q[:, at.quaternion], axis=1) - 1).max() for at in mechanism.manifold_joints)
    ends = mechanism.kernel("link_poses")(region.q)
    half = np.abs(np.linalg.norm(poses - ends[:, mechanism.link_index("rod"), :3, 3], axis=1) - 0.21).max()
    tip = next(at for at in mechanism.manifold_joints if at.name == "tip")
    over = max(float(tip.joint.excess(q, tip.most)) for q in region.q[:, tip.q])
    print(f"{len(region.q)} postures, open by {gap:.1e} m, quaternions to {units:.1e}, half to {half:.1e}, over {over:.1e}")
    assert (region.dimension, region.freedoms) == (1, 3)
    assert gap < 1e-12
    assert np.abs(poses - region.positions).max() < 1e-15
    assert max(units, half, over) < 1e-15
