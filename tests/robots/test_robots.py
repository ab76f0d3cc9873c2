"""The ready mechanisms: all there, all sourced, and placed where their sources say."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ArgumentError

ROBOTS = ("elbow", "panda", "planar_2r", "planar_3r", "puma560", "scara_icomatic", "seven_joint", "smart", "stanford", "ur5")


def tool_pose(mechanism: Mechanism, q: list[float]) -> np.ndarray:
    """T_world_tool by multiplying the links' placements: an independent forward pass."""
    pose = np.array(mechanism.base)
    for link, value in zip(mechanism.links, q, strict=True):
        pose = pose @ link.placement(value)
    return pose @ mechanism.tool


def test_names() -> None:
    assert set(ROBOTS) <= set(robots.names())
    assert robots.ur20() == robots.load("ur20")
    with pytest.raises(AttributeError, match="no attribute 'ur21'"):
        _ = robots.ur21


@pytest.mark.parametrize("name", robots.names())
def test_each_has_a_name_sources_and_joints(name: str) -> None:
    """What the catalogue says of limits and speeds is in the range of what machines do."""
    mechanism = robots.load(name)
    assert mechanism.name == name
    assert robots.describe(name).source
    assert 0 < len(robots.summary(name)) < 110
    for link in (link for link in mechanism.links if link.moves):
        if link.limits is not None:
            assert -20.0 < np.min(link.limits) < np.max(link.limits) < 20.0
        if link.qd_max is not None:
            assert 0.1 < np.max(link.qd_max) < 20.0
    assert np.abs(tool_pose(mechanism, np.zeros(len(mechanism.links)))[:3, 3]).max() < 6.0 if not mechanism.loops else True


def test_the_catalogue_is_large() -> None:
    assert len(robots.names()) >= 56
    assert all(hasattr(robots, name) for name in ROBOTS)


#: Positions of the flange (m) at the zero of all joints, from the dimensions in the makers' drawings.
DRAWN = {
    "ur5e": (-0.425 - 0.3922, -0.1333 - 0.0996, 0.1625 - 0.0997),
    "ur10e": (-0.6127 - 0.57155, -0.17415 - 0.11655, 0.1807 - 0.11985),
    "irb2400": (0.1 + 0.755 + 0.085, 0.0, 0.615 + 0.705 + 0.135),
    "iiwa14": (0.0, 0.0, 0.36 + 0.42 + 0.4 + 0.126),
    "kr16": (0.26 + 0.68 + 0.67 + 0.158, 0.0, 0.675 - 0.035),
    "m10ia": (0.15 + 0.64 + 0.1, 0.0, 0.45 + 0.6 + 0.2),
    "gp7": (0.04 + 0.44 + 0.08, 0.0, 0.33 + 0.445 + 0.04),
    "rx160": (0.15, 0.0, 0.55 + 0.825 + 0.625 + 0.11),
}


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_dimensions(name: str) -> None:
    position = robots.load(name).forward_kinematics(np.zeros(robots.load(name).n))[:3, 3]
    print(name, position)
    assert np.abs(position - DRAWN[name]).max() < 1e-6


def test_an_unknown_name_is_answered_with_the_choices() -> None:
    with pytest.raises(ArgumentError, match=r"'puma'.*'delta'.*'ur5'"):
        robots.load("puma")


def test_only_identified_links_are_exempt_from_the_check() -> None:
    exempt = {(n, link.name) for n in ROBOTS for link in robots.load(n).links if not link.body.physical}
    assert exempt == {("puma560", "link1"), ("puma560", "link3")}


# SpaceLib manual, table 7.11 (values to 12 digits from the same program in double precision)
@pytest.mark.parametrize(
    ("q", "position"),
    [
        ([0.0] * 6, [0.0, 1.8 + 0.2, 1.5]),
        ([0.00114, 0.00106, 0.00153, -0.00153, 0.00358, 0.02863], [0.197945776308, 1.80093958142, 1.50313275644]),
    ],
)
def test_elbow(q: list[float], position: list[float]) -> None:
    if any(q):
        np.testing.assert_allclose(tool_pose(robots.elbow(), q)[:3, 3], position, atol=1e-11)
    else:
        assert tool_pose(robots.elbow(), q)[2, 3] == pytest.approx(1.5)


def test_puma_at_zero() -> None:
    """Arm along x, forearm upright: x = a2 + a3, y = -d3, z = d4."""
    position = tool_pose(robots.puma560(), [0.0] * 6)[:3, 3]
    np.testing.assert_allclose(position, [0.4318 + 0.0203, -0.15005, 0.4318], atol=1e-15)


def test_panda_at_zero() -> None:
    """The flange at the zero of all joints: x = 0.088, z = 0.333 + 0.316 + 0.384 - 0.107, pointing down."""
    pose = tool_pose(robots.panda(), [0.0] * 7)
    np.testing.assert_allclose(pose[:3, 3], [0.088, 0.0, 0.926], atol=1e-15)
    np.testing.assert_allclose(pose[:3, 2], [0.0, 0.0, -1.0], atol=1e-15)


def test_ur5_at_zero() -> None:
    """Arm along -x: x = a2 + a3, y = -(d4 + d6), z = d1 - d5."""
    position = tool_pose(robots.ur5(), [0.0] * 6)[:3, 3]
    np.testing.assert_allclose(position, [-0.81725, -0.19145, 0.089159 - 0.09465], atol=1e-15)


def test_stanford_reaches_along_its_boom() -> None:
    position = tool_pose(robots.stanford(), [0.0, 0.0, 0.5, 0.0, 0.0, 0.0])[:3, 3]
    np.testing.assert_allclose(position, [0.0, 0.154, 0.412 + 0.5 + 0.263], atol=1e-15)


def test_planar_arms_stretch_along_x() -> None:
    for n, arm in ((2, robots.planar_2r()), (3, robots.planar_3r())):
        np.testing.assert_allclose(tool_pose(arm, [0.0] * n)[:3, 3], [n, 0.0, 0.0])
        assert arm.gravity.tolist() == [0.0, -9.81, 0.0]


def test_puma_motors() -> None:
    motors = [drive.motor for drive in robots.puma560().drives]
    assert [motor.gear_ratio for motor in motors] == [-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686]
    assert motors[0].coulomb == (0.395, -0.435)


def test_seven_joint_has_full_inertias() -> None:
    for link in robots.seven_joint().links:
        assert np.all(link.body.tensor != 0)
        assert np.all(link.body.com != 0)
        assert link.dh_row is not None
        assert all((link.dh_row.theta, link.dh_row.d, link.dh_row.a, link.dh_row.alpha))
