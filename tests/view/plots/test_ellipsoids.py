"""Ellipsoids and maps of manipulability against their definitions."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.kinematics.manipulability import manipulability
from linkwise.plot.rendering import rendered
from linkwise.view import ellipsoid, manipulability_map, tool_path, trajectory, workspace
from linkwise.view.plots.manipulability import add_ellipses, ellipsoid_of, joint_map
from linkwise.view.plots.workspace_plot import draw_panels

BENT = np.array([0.3, -0.8, 0.4, 0.2, 0.5, 0.1])


pytestmark = pytest.mark.usefixtures("coarse")


@pytest.fixture(scope="module")
def puma() -> lw.Mechanism:
    return lw.robots.load("puma560")


@pytest.fixture(scope="module")
def flat() -> lw.Mechanism:
    return lw.robots.load("planar_2r")


def test_velocities_at_unit_joint_speeds_lie_in_the_ellipsoid(puma: lw.Mechanism) -> None:
    found = ellipsoid_of(puma, BENT)
    qd = np.random.default_rng(1).normal(size=(2000, 6))
    qd /= np.linalg.norm(qd, axis=1)[:, None]
    v = qd @ puma.jacobian(BENT)[:3].T
    inside = np.sum((v @ found.directions / found.half) ** 2, axis=1)
    assert inside.max() <= 1 + 1e-12  # rounding
    assert np.prod(found.half) == pytest.approx(manipulability(puma.jacobian(BENT), "translation"), rel=1e-12)
    assert np.array_equal(found.centre, puma.forward_kinematics(BENT)[:3, 3])


def test_forces_at_unit_efforts_lie_on_the_ellipsoid(puma: lw.Mechanism) -> None:
    found = ellipsoid_of(puma, BENT, kind="force")
    for k in range(3):
        force = found.directions[:, k] * found.half[k]
        assert np.linalg.norm(puma.jacobian(BENT)[:3].T @ force) == pytest.approx(1.0, rel=1e-12)


def test_what_cannot_move_is_zero_and_holds_anything(flat: lw.Mechanism) -> None:
    assert ellipsoid_of(flat, [0.3, 1.2]).half[2] == 0.0
    assert ellipsoid_of(flat, [0.3, 1.2], kind="force").half[2] == np.inf
    words = ellipsoid(flat, [0.3, 1.2], kind="force").texts[-1].get_text()
    assert words.endswith("and any N")


@pytest.mark.parametrize(("kind", "axes", "unit"), [("velocity", "rotation", "rad/s"), ("force", "rotation", "N m")])
def test_the_picture_tells_the_unit(puma: lw.Mechanism, kind: str, axes: str, unit: str) -> None:
    made = ellipsoid(puma, BENT, kind=kind, mask=axes)
    assert made.texts[-1].get_text().endswith(f" {unit}")
    rendered(made, "png")


@pytest.mark.parametrize("options", [{"kind": "speed"}, {"mask": "all"}, {"q": [1.0]}])
def test_what_is_no_ellipsoid(puma: lw.Mechanism, options: dict[str, object]) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        ellipsoid(puma, **options)  # type: ignore[arg-type]


def test_loops_are_refused() -> None:
    bars = lw.robots.load("four_bar")
    for draws in (ellipsoid, manipulability_map):
        with pytest.raises(ArgumentError, match="closed loops"):
            draws(bars)


def test_the_map_over_joints_is_manipulability(puma: lw.Mechanism, flat: lw.Mechanism) -> None:
    a, b = np.array([-0.5, 0.3]), np.array([0.1, 0.7, 1.1])
    values, freedoms = joint_map(puma, (1, 2), BENT, (a, b), "translation", -1)
    assert freedoms == 3
    for i, j in np.ndindex(2, 3):
        q = BENT.copy()
        q[1:3] = a[i], b[j]
        assert values[i, j] == pytest.approx(manipulability(puma.jacobian(q), "translation"), rel=1e-12)
    values, freedoms = joint_map(flat, (0, 1), np.zeros(2), (a, b), "translation", -1)
    assert freedoms == 2
    assert np.allclose(values, np.abs(np.sin(b)), rtol=1e-12)  # two links of 1 m: their lengths times sin of the elbow


def test_the_axes_of_the_map_have_units(puma: lw.Mechanism) -> None:
    made = manipulability_map(puma, ["link2", "link3"], q=BENT, cells=16)
    assert [made.axes[0].get_xlabel(), made.axes[0].get_ylabel()] == ["link2 [rad]", "link3 [rad]"]
    assert made.axes[1].get_ylabel() == "manipulability of the position [m³]"
    mark = made.axes[0].lines[0]
    assert [mark.get_xdata()[0], mark.get_ydata()[0]] == [BENT[1], BENT[2]]
    scara = lw.robots.load("scara_icomatic")
    mixed = manipulability_map(scara, ["link2", "link3"], ranges={"link3": (-0.1, 0.1)}, cells=16)
    assert mixed.axes[0].get_ylabel() == "link3 [m]"
    assert mixed.axes[1].get_ylabel().endswith("(m and rad mixed)")


@pytest.mark.parametrize(
    ("joints", "options", "message"),
    [
        (["link1"], {}, "two joints"),
        ("link1", {}, "two joints"),
        (["link1", "link1"], {}, "two different"),
        (["link1", "hip"], {}, "hip"),
        (["link1", "link2"], {"cells": 2}, "8 to 1000"),
        (["link2", "link3"], {}, r"ranges=\{'link3'"),
        (None, {"q": [0, 0, 0]}, "name the two joints"),
        (None, {"plane": "3d"}, "draws bodies"),
    ],
)
def test_maps_that_cannot_be(joints: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        manipulability_map(lw.robots.load("scara_icomatic"), joints, **options)  # type: ignore[arg-type]


def test_ellipses_in_the_plane_are_shadows_of_the_ellipsoid(flat: lw.Mechanism) -> None:
    """In the plane of two links the ellipse is the ellipsoid itself, turned with the posture about the first axis."""
    found = flat.workspace(samples=2000, cells=32)
    made, panels = draw_panels(flat, found)
    (ellipses,), longest = add_ellipses(flat, found, panels, -1)
    assert len(ellipses) > 15
    assert longest == max(np.linalg.norm(one.half, axis=0).max() for one in ellipses)
    for one in ellipses:
        wanted = ellipsoid_of(flat, found.q[one.cell]).half[:2]
        assert np.allclose(np.linalg.norm(one.half, axis=0), wanted, rtol=1e-9, atol=1e-12)
        at = found.positions[one.cell][:2]
        turn = np.arctan2(one.place[1], one.place[0]) - np.arctan2(at[1], at[0])
        q = found.q[one.cell] + [turn, 0.0]
        again = ellipsoid_of(flat, q).directions[:2, 0]
        assert abs(again @ one.half[:, 0]) == pytest.approx(np.linalg.norm(one.half[:, 0]), rel=1e-6)
    rendered(made, "png")


@pytest.mark.parametrize("plane", ["auto", "xy"])
def test_the_map_over_a_plane(puma: lw.Mechanism, plane: str) -> None:
    made = manipulability_map(puma, plane=plane, samples=2000, cells=32)
    assert "longest half axis" in made.get_suptitle()
    assert all("[m]" in axis.get_xlabel() for axis in made.axes[:-1])


def test_a_workspace_in_one_call(flat: lw.Mechanism) -> None:
    made = workspace(flat, samples=1000, cells=32, measure="reach")
    assert made.get_suptitle() == "planar_2r: workspace of the tool"


def test_the_path_of_the_tool_has_the_colours_of_its_speed(puma: lw.Mechanism) -> None:
    motion = lw.trajectory.quintic(np.zeros(6), BENT, 1.0)
    made = tool_path(puma, motion, postures=3)
    (line,) = [one for one in made.axes[0].collections if one.get_array() is not None]
    t = np.linspace(0, 1, len(line.get_array()) + 1)
    q, _, _ = motion.at(t)
    path = puma.forward_kinematics(q)[:, :3, 3]
    by_difference = np.linalg.norm(np.diff(path, axis=0), axis=1) / np.diff(t)
    # a chord against the mean of the speeds at its ends: h^2 / 12 times the second derivative of the speed, some 30 m/s3
    assert np.abs(line.get_array() - by_difference).max() < 30 * (t[1] - t[0]) ** 2
    assert made.axes[1].get_ylabel() == "speed of the tool [m/s]"
    rendered(made, "png")
    with pytest.raises(ArgumentError, match=r"postures.*0.*1.*60"):
        tool_path(puma, motion, postures=0)


def test_the_curves_of_a_motion() -> None:
    motion = lw.trajectory.quintic([0.0], [1.0], 2.0)
    assert [axis.get_ylabel() for axis in trajectory(motion).axes] == [
        "position\n[rad]",
        "speed\n[rad/s]",
        "acceleration\n[rad/s²]",
    ]
