"""The bundled linkages: closed at zero, as heavy as their bars, and where their closed forms put them.

The closed forms here are written from the geometry, by hand, and share nothing with the solver: leg lengths of the Stewart
platform, spheres for the delta, circles for Jansen's leg.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.loops.assembly_modes import AssemblyModes
from linkwise.loops.linkage import Linkage
from linkwise.loops.mobility import mobility
from linkwise.spatial.rotation import rotation_z
from linkwise.view import draw
from linkwise.view.scene.layout import lay_out
from linkwise.view.scene.scene import build
from support.loop_mechanisms import bundled
from support.random_linkages import cut

pytestmark = pytest.mark.usefixtures("uncompiled")

FREEDOMS = {"four_bar": 1, "slider_crank": 1, "five_bar": 2, "jansen": 1, "stewart": 6, "delta": 3}

ROUNDING = 2e-15
"""Some units in the last place of lengths of order 1 m."""


@pytest.mark.parametrize("name", FREEDOMS)
def test_closed_at_zero(name: str) -> None:
    mech = bundled(name)
    assert np.abs(mech.kernel("closure")(mech.neutral)).max() < ROUNDING
    np.testing.assert_allclose(mech.kernel("closure_facing")(mech.neutral), 1.0, atol=ROUNDING)


@pytest.mark.parametrize("name", FREEDOMS)
def test_freedoms_and_what_is_driven(name: str) -> None:
    """By rank; what is driven when nothing is said is what has a motor."""
    mech = bundled(name)
    assert int(mobility(mech, mech.neutral)) == FREEDOMS[name]
    driven = tuple(link.coordinate_name for link in mech.links if link.motor)
    assert Linkage(mech).driven == driven
    assert len(driven) == FREEDOMS[name]


@pytest.mark.parametrize("name", FREEDOMS)
def test_nothing_moves_without_inertia(name: str) -> None:
    """The mass matrix of the tree cut open is positive definite, here and at any position but a gimbal lock of helpers."""
    mech = cut(bundled(name))
    q = np.random.default_rng(3).uniform(-0.8, 0.8, (50, mech.n))
    assert np.linalg.eigvalsh(mech.mass_matrix(q)).min() > 1e-6  # kg m2: a fiftieth of the least, a cross of the delta


@pytest.mark.parametrize(
    ("name", "bars", "per_metre"),
    [
        ("four_bar", (0.04, 0.12, 0.08), 5.0),
        ("slider_crank", (0.05, 0.2, 0.1), 5.0),  # the slider weighs as much as 0.1 m of bar
        ("five_bar", (0.2, 0.26, 0.2, 0.26), 2.0),
        ("jansen", (0.15, 0.5, 0.619, 0.415, 0.401, 0.558, 0.393, 0.394, 0.367, 0.49, 0.657), 2.0),
    ],
)
def test_masses_are_those_of_the_bars(name: str, bars: tuple[float, ...], per_metre: float) -> None:
    total = sum(link.body.mass for link in bundled(name).links)
    assert total == pytest.approx(per_metre * sum(bars), rel=1e-14)


@pytest.mark.parametrize(("link", "sides"), [("triangle", (0.415, 0.401, 0.558)), ("foot", (0.367, 0.49, 0.657))])
def test_inertia_of_the_triangles_of_bars(link: str, sides: tuple[float, float, float]) -> None:
    """Against a sum over 1,000 points on each bar: the midpoint rule, exact to the square of a part, 1e-6 / 12 of each."""
    body = bundled("jansen").links[bundled("jansen").link_index(link)].body
    along, other, opposite = sides
    x = (along**2 + other**2 - opposite**2) / (2 * along)
    corners = np.array([[0, 0], [along, 0], [x, math.sqrt(other**2 - x**2)]])
    share = (np.arange(1000) + 0.5)[:, None] / 1000
    parts = [corners[i] + share * (corners[j] - corners[i]) for i, j in itertools.combinations(range(3), 2)]
    points, masses = np.concatenate(parts), np.repeat([2.0 * along, 2.0 * other, 2.0 * opposite], 1000)[:, None] / 1000
    com = (masses * points).sum(axis=0) / masses.sum()
    away = points - com
    second = (masses * away).T @ away
    np.testing.assert_allclose(body.com, [*com, 0.0], atol=1e-12)
    tensor = [[second[1, 1], -second[0, 1], 0], [-second[0, 1], second[0, 0], 0], [0, 0, np.trace(second)]]
    np.testing.assert_allclose(body.tensor, tensor, atol=1e-6)


# ── Stewart platform ──────────────────────────────────────────────────────────────────────────────


def on_circle(radius: float, *degrees: float) -> np.ndarray:
    at = np.radians(degrees)
    return np.stack([radius * np.cos(at), radius * np.sin(at), np.zeros(len(at))], axis=1)


ON_BASE = on_circle(0.5, 75, 105, 195, 225, 315, 345)
ON_PLATFORM = on_circle(0.3, 45, 135, 165, 255, 285, 15)


def stewart_position(mech: Mechanism, pose: np.ndarray) -> np.ndarray:
    """All coordinates for x, y, z, yaw, pitch, roll (6,): each leg is the vector from its base joint to its ball joint."""
    frames = dict(zip(mech.link_names, cut(mech).link_poses(np.append(pose, np.zeros(18))), strict=True))
    q = list(pose)
    for k in range(6):
        link = mech.links[mech.link_index(f"cross{k + 1}")]
        ball = frames["platform"][:3, :3] @ ON_PLATFORM[k] + frames["platform"][:3, 3]
        x, y, z = link.before[:3, :3].T @ (ball - ON_BASE[k])
        q += [math.atan2(-y, z), math.atan2(x, math.hypot(y, z)), math.hypot(x, y, z) - home_leg()]
    return np.array(q)


def home_leg() -> float:
    return float(np.linalg.norm(ON_PLATFORM[0] + [0, 0, 0.8] - ON_BASE[0]))


@pytest.fixture(scope="module")
def poses() -> np.ndarray:
    rng = np.random.default_rng(4)
    return np.concatenate([rng.uniform(-0.12, 0.12, (60, 3)), rng.uniform(-0.3, 0.3, (60, 3))], axis=1)


def test_stewart_legs_are_where_they_are_said_to_be() -> None:
    mech = bundled("stewart")
    for k in range(6):
        np.testing.assert_allclose(mech.links[mech.link_index(f"cross{k + 1}")].before[:3, 3], ON_BASE[k], atol=ROUNDING)
        np.testing.assert_allclose(mech.loops[k].second_frame[:3, 3], ON_PLATFORM[k], atol=ROUNDING)
        assert mech.links[mech.link_index(f"leg{k + 1}")].offset == pytest.approx(home_leg(), abs=ROUNDING)


def test_stewart_by_its_closed_form(poses: np.ndarray) -> None:
    """The closed form closes the loops; the solver finds it from the pose, and the pose again from the legs."""
    mech = bundled("stewart")
    q = np.array([stewart_position(mech, pose) for pose in poses])
    assert np.abs(mech.kernel("closure")(q)).max() < ROUNDING
    inverse = Linkage(mech, ("x", "y", "z", "yaw", "pitch", "roll"), q0=mech.neutral)
    found = inverse.position(poses)
    assert np.all(found.success)
    np.testing.assert_allclose(found.q, q, atol=1e-11)  # closed to 1e-12, times the inverse of the Jacobian, below 10
    forward = Linkage(mech, [f"leg{k}" for k in range(1, 7)], q0=mech.neutral)
    again = forward.position(forward.driven_part(q))
    assert np.all(again.success)
    np.testing.assert_allclose(again.q, q, atol=1e-11)


# ── delta ─────────────────────────────────────────────────────────────────────────────────────────

BASE, ARM, ROD, PLATFORM = 0.2, 0.3, 0.75, 0.05


def delta_position(centre: np.ndarray) -> np.ndarray:
    """All coordinates for the centre of the platform (3,), outer elbows: R. Clavel's circle and sphere."""
    q = [centre[0], centre[1], centre[2] + 0.6, 0.0, 0.0, 0.0]
    for k in range(3):
        x, y, z = rotation_z(math.radians(120 * k)).T @ centre
        out = x + PLATFORM - BASE  # the rod ends there, seen from the motor, and the elbow at ARM (cos t, -sin t)
        square = (ARM**2 + out**2 + y**2 + z**2 - ROD**2) / (2 * ARM)
        turn = math.atan2(-z, out) - math.acos(square / math.hypot(out, z))
        rod = np.array([out - ARM * math.cos(turn), y, z + ARM * math.sin(turn)])
        c, s = math.cos(turn), math.sin(turn)
        along = np.array([c * rod[0] - s * rod[2], rod[1], s * rod[0] + c * rod[2]]) / ROD
        swing = math.atan2(-along[2], along[0]) - math.atan2(0.6, -0.45)
        q += [turn, *[swing, math.asin(along[1])] * 2]
    return np.array(q)


def delta_centre(turns: np.ndarray) -> np.ndarray:
    """The lower of the two points that three spheres share, about the elbows moved inwards by the platform's radius."""
    out = BASE - PLATFORM + ARM * np.cos(turns)
    ways = np.radians([0.0, 120.0, 240.0])
    a, b, c = np.stack([out * np.cos(ways), out * np.sin(ways), -ARM * np.sin(turns)], axis=1)
    x = (b - a) / np.linalg.norm(b - a)
    i = float(x @ (c - a))
    y = (c - a - i * x) / np.linalg.norm(c - a - i * x)
    d, j = float(np.linalg.norm(b - a)), float(y @ (c - a))
    across, up = d / 2, (i**2 + j**2 - i * d) / (2 * j)
    return np.asarray(a + across * x + up * y - math.sqrt(ROD**2 - across**2 - up**2) * np.cross(x, y))


def test_delta_by_its_closed_form() -> None:
    """Closed by the closed form, both ways; the solver finds it from the arms. Nothing but the loops keeps it upright."""
    mech, rng = bundled("delta"), np.random.default_rng(6)
    centres = rng.uniform([-0.15, -0.15, -0.75], [0.15, 0.15, -0.5], (60, 3))
    q = np.array([delta_position(centre) for centre in centres])
    assert np.abs(mech.kernel("closure")(q)).max() < ROUNDING
    linkage = Linkage(mech, ["arm1", "arm2", "arm3"], q0=mech.neutral)
    turns = linkage.driven_part(q)
    np.testing.assert_allclose([delta_centre(turn) for turn in turns], centres, atol=1e-14)
    found = linkage.position(turns)
    assert np.all(found.success)
    np.testing.assert_allclose(found.q, q, atol=1e-11)
    np.testing.assert_allclose(mech.forward_kinematics(found.q)[..., :3, :3], np.tile(np.eye(3), (60, 1, 1)), atol=1e-11)


# ── Jansen's leg ──────────────────────────────────────────────────────────────────────────────────


def meet(p: complex, one: float, q: complex, two: float) -> complex:
    """The point to the left of the way from p to q, at these distances from them."""
    apart = abs(q - p)
    along = (one**2 - two**2 + apart**2) / (2 * apart)
    return p + (along + 1j * math.sqrt(one**2 - along**2)) * (q - p) / apart


def foot(angle: float) -> complex:
    """Where the foot is for an angle of the crank, by five pairs of circles, lengths as Jansen gives them, in cm."""
    pivot, pin = complex(-38.0, -7.8), 15.0 * complex(math.cos(angle), math.sin(angle))
    upper = meet(pivot, 41.5, pin, 50.0)
    lower = meet(pin, 61.9, pivot, 39.3)
    back = meet(pivot, 40.1, upper, 55.8)
    heel = meet(lower, 36.7, back, 39.4)
    return meet(lower, 49.0, heel, 65.7)


def test_jansen_by_circles() -> None:
    mech = bundled("jansen")
    turn = np.linspace(0.0, 2.0 * math.pi, 61)
    wanted = np.array([foot(angle) for angle in turn]) / 100
    modes = AssemblyModes(mech)
    q = modes.position(turn[:, None], int(modes.mode(mech.neutral)))
    tips = mech.forward_kinematics(q)[:, :3, 3]
    np.testing.assert_allclose(tips[:, 0] + 1j * tips[:, 1], wanted, atol=ROUNDING)
    path = Linkage(mech, ["crank"], q0=mech.neutral).trace(turn)
    assert np.all(path.success)
    np.testing.assert_allclose(np.exp(1j * path.q), np.exp(1j * q), atol=1e-11)
    assert wanted.imag.min() == pytest.approx(-0.918, abs=1e-3)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "jansen", "five_bar", "stewart", "delta"])
def test_a_whole_turn_of_each_stays_on_its_branch(name: str) -> None:
    """Cranks turn once, other driven joints go round a circle: back at the start, without a jump, closed all the way."""
    mech = bundled(name)
    linkage = Linkage(mech)
    turn = np.linspace(0.0, 2.0 * math.pi, 61)[:, None]
    driven = linkage.driven_part(linkage.q0)
    shifts = 2.0 * math.pi * np.arange(len(driven)) / len(driven)
    size = {"stewart": 0.1, "delta": 0.3}.get(name, 0.0)  # m, rad
    path = driven + (size * (np.sin(turn + shifts) - np.sin(shifts)) if size else turn)
    found = linkage.trace(path)
    assert found.success.all()
    gap = np.abs(mech.kernel("closure")(found.q)).max()
    print(f"{name}: open by {gap:.1e} at most, longest step {np.abs(np.diff(found.q, axis=0)).max():.2f}")
    assert gap < 1e-12
    assert np.abs(np.diff(found.q, n=2, axis=0)).max() < 0.1, "speeds change little from step to step"
    np.testing.assert_allclose(np.exp(1j * found.q[-1]), np.exp(1j * found.q[0]), atol=1e-12)


# ── as drawn ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", FREEDOMS)
def test_closures_are_drawn_where_they_are(name: str) -> None:
    mech = bundled(name)
    layout, scene = lay_out(mech), build(mech)
    poses = dict(zip(mech.link_names, mech.link_poses(mech.neutral), strict=True))
    gaps = [span for span in scene.spans if span.role == "gap"]
    assert len(gaps) == len(mech.loops)
    carriers = scene.carriers(layout.poses)[1 + len(mech.links) :]
    starts, along = carriers[:, :3, 3], carriers[:, :3, 2]
    of_gaps = [span.role == "gap" for span in scene.spans]
    for loop, span, one, way in zip(mech.loops, gaps, starts[of_gaps], along[of_gaps], strict=True):
        assert np.linalg.norm(way) < 1.1e-5 * layout.size  # (never quite zero)
        link, two = poses[loop.second], one
        np.testing.assert_allclose(two, (link @ loop.second_frame)[:3, 3], atol=ROUNDING)
        (bar,) = [rod for rod in layout.rods if rod.link == span.links[1] and np.array_equal(rod.points[1], span.points[1])][
            :1
        ]
        np.testing.assert_allclose(layout.world(bar.link, bar.points)[0], link[:3, 3], atol=ROUNDING)
        assert np.any(np.all(np.abs(layout.points() - two) < ROUNDING, axis=1))


def test_an_open_loop_is_drawn_dashed() -> None:
    """One dashed line, between the two frames; none where the loop is closed."""
    pytest.importorskip("matplotlib")
    mech = bundled("four_bar")
    for q, wanted in ((mech.neutral, 0), ([0.5, 0.0, 0.0], 1)):
        axes = draw(mech, q).axes[0]
        dashed = [line for line in axes.lines if line.get_linestyle() == "--" and line.get_visible()]
        assert len(dashed) == wanted
        if dashed:
            ends = np.array(dashed[0].get_data_3d()).T
            (loop,), poses = mech.loops, dict(zip(mech.link_names, mech.link_poses(q), strict=True))
            sides = ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
            np.testing.assert_allclose(ends, [(poses[name] @ frame)[:3, 3] for name, frame in sides], atol=ROUNDING)
