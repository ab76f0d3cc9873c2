from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.spatial.transform import translation
from linkwise.view.drawing.painter import Solids
from linkwise.view.scene.layout import frames_at, lay_out
from linkwise.view.scene.scene import JOINTS, ROD, JointSign, Scene, Symbol, bar, build, rgb
from linkwise.view.scene.tessellation import SIDES, Surface, ball, box, capsule, helix, merged

POLYGON = 0.5 * SIDES * np.sin(2 * np.pi / SIDES)
"""Area of the polygon drawn for the unit circle."""


def volume(surface: Surface) -> float:
    """What it encloses, by the divergence theorem; negative where it is inside out."""
    a, b, c = np.moveaxis(surface.vertices[surface.triangles], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def is_closed(surface: Surface) -> bool:
    """Whether each edge is passed as often one way as the other, equal points taken as one."""
    points, which = np.unique(np.round(surface.vertices, 9), axis=0, return_inverse=True)
    corners = which.reshape(-1)[surface.triangles]
    edges = Counter(pair for k in range(3) for pair in zip(corners[:, k], corners[:, (k + 1) % 3], strict=True))
    return len(points) > 3 and all(edges[j, i] == count for (i, j), count in edges.items() if i != j)


def cylinder(start: np.ndarray, end: np.ndarray, radius: float) -> Surface:
    return bar(0, start, end, radius, "rod", rgb("#000000")).tessellated()


def test_surfaces_are_closed_and_face_outwards() -> None:
    tilted = cylinder(np.array([0.1, 0.2, 0.3]), np.array([-0.5, 0.9, 2.0]), 0.25)
    length = np.sqrt(0.6**2 + 0.7**2 + 1.7**2)
    cases = {
        "cylinder": (tilted, POLYGON * 0.25**2 * length),
        "down": (cylinder(np.zeros(3), np.array([0, 0, -2.0]), 0.5), POLYGON * 0.25 * 2),
        "box": (box(2.0, 4.0, 6.0), 48.0),
        "box moved": (box(2.0, 4.0, 6.0).placed(lw.robots.puma560().forward_kinematics(np.ones(6))), 48.0),
        "box mirrored": (box(1.0, 1.0, 1.0).stretched(np.array([2.0, -4.0, 6.0])), 48.0),
    }
    for name, (surface, expected) in cases.items():
        assert is_closed(surface), name
        assert volume(surface) == pytest.approx(expected, rel=1e-12), name


def test_round_surfaces_are_nearly_as_large_as_what_they_stand_for() -> None:
    # A ball of 20 by 10 sides has 0.95 of its volume, and never more than all of it.
    sphere = 4 / 3 * np.pi
    assert 0.94 * sphere < volume(ball(1.0)) < sphere
    pill = capsule(1.0, 2.0)
    assert 0.94 * (sphere + 2 * np.pi) < volume(pill) < sphere + 2 * np.pi
    assert np.ptp(pill.vertices, axis=0).round(9).tolist() == [2.0, 2.0, 4.0]
    for one in (ball(1.0), pill, helix(0.5, 2.0, 0.05)):
        assert is_closed(one)
        assert volume(one) > 0


def test_a_helix_winds_about_its_axis() -> None:
    rings = helix(0.5, 2.0, 0.05).vertices[: 61 * 8].reshape(61, 8, 3)
    assert np.allclose(np.hypot(*rings.mean(axis=1)[:, :2].T), 0.5)
    assert np.ptp(rings.mean(axis=1)[:, 2]) == pytest.approx(2.0)


def test_surfaces_together_have_the_volume_of_all() -> None:
    two = [box(2.0, 2.0, 2.0), cylinder(np.full(3, 5.0), np.array([5.0, 5.0, 6.0]), 1.0)]
    assert volume(merged(two)) == pytest.approx(8.0 + POLYGON, rel=1e-12)
    assert merged([]).vertices.shape == (0, 3)


def roles(scene: Scene, link: int) -> list[str]:
    return [primitive.role for primitive in scene.primitives if primitive.link == link]


@pytest.mark.parametrize("name", ["puma560", "scara_icomatic", "stanford", "four_bar", "delta", "stewart"])
def test_a_scene_built_in_one_position_fits_any_other(name: str) -> None:
    mechanism = lw.robots.load(name)
    rng = np.random.default_rng(4)
    scene = build(mechanism, lay_out(mechanism, rng.uniform(-0.5, 0.5, mechanism.n)))
    q = rng.uniform(-0.5, 0.5, mechanism.n)
    poses, layout = frames_at(mechanism, q), scene.layout
    solid = [p for p in scene.primitives if p.role in {"rod", "tool"} and p.kind in {"cylinder", "sphere"}]
    rods = {
        k: merged(p.tessellated().placed(poses[1 + k]) for p in solid if p.link == k)
        for k in range(-1, len(mechanism.links))
    }
    signs = {p.moved: p for p in scene.primitives if p.role == "joint"}
    for k, link in enumerate(mechanism.links):
        acts = poses[1 + mechanism.parents[k]] @ np.asarray(link.before)
        if link.moves:
            sign = signs[k]
            centre = (poses[1 + sign.link] @ sign.frame)[:3, 3]
            assert np.allclose(centre, acts[:3, 3], atol=1e-9)
            assert np.allclose((poses[1 + sign.link] @ sign.frame)[:3, 2], acts[:3, :3] @ link.axis, atol=1e-9)
    for rod in layout.rods:
        line = layout.world(rod.link, rod.points, poses)
        if np.linalg.norm(np.diff(line, axis=0), axis=1).max() > layout.size * ROD * 2:
            for corner in line:
                # Vertices at a rod's end are its radius away.
                assert np.linalg.norm(rods[rod.link].vertices - corner, axis=1).min() < 1.5 * layout.size * ROD


def test_primitives_do_not_depend_on_the_position() -> None:
    mechanism = lw.robots.stanford()
    layouts = [replace(lay_out(mechanism, q), size=1.0) for q in (np.full(6, 0.3), np.full(6, -0.7))]
    for a, b in zip(*(build(mechanism, layout).primitives for layout in layouts), strict=True):
        assert (a.link, a.kind, a.role, a.colour, a.moved) == (b.link, b.kind, b.role, b.colour, b.moved)
        assert np.allclose(a.size, b.size, atol=1e-12)
        if a.role != "ground":  # (it turns its back to where the mechanism is)
            assert np.allclose(a.frame, b.frame, atol=1e-12)


def test_every_joint_of_every_kind_has_its_symbol() -> None:
    kinds = ("revolute", "prismatic", "screw", "fixed")
    links = [lw.Link(joint=kind, before=translation(0.3, 0, 0), pitch=0.01 * (kind == "screw")) for kind in kinds]
    mechanism = lw.Mechanism(links)
    scene = build(mechanism)
    moved = Counter(primitive.moved for primitive in scene.primitives if primitive.role == "joint")
    assert moved == {0: 1, 1: 1, 2: 2}  # a screw has a thread too
    assert [(span.role, span.links) for span in scene.spans] == [("slide", (0, 1)), ("slide", (1, 2))]
    assert [role for role in roles(scene, -1) if role != "joint"] == ["rod", "base", "ground"]


@pytest.mark.parametrize("name", ["puma560", "scara_icomatic", "stewart"])
def test_painters_agree_on_vertices(name: str) -> None:
    """What matplotlib fills lies on the surfaces that the browser shows, moved with their links."""
    mechanism = lw.robots.load(name)
    scene = build(mechanism)
    poses = frames_at(mechanism, np.linspace(-0.3, 0.4, mechanism.nq))
    drawn = Solids(scene).at(scene.carriers(poses))[0].reshape(-1, 3)
    for primitive in scene.primitives:
        if primitive.kind in {"cylinder", "box", "sphere"}:
            frame = poses[1 + primitive.link]
            for vertex in primitive.tessellated().placed(frame).vertices[::7]:
                assert np.linalg.norm(drawn - vertex, axis=1).min() < 1e-9


def test_spans_reach_from_point_to_point() -> None:
    mechanism = lw.robots.stewart()
    scene = build(mechanism)
    poses = frames_at(mechanism, np.linspace(-0.3, 0.4, mechanism.nq))
    several = scene.carriers(np.stack([poses, poses]))
    carriers = scene.carriers(poses)
    assert np.array_equal(several[1], carriers)
    for span, carrier in zip(scene.spans, carriers[1 + len(mechanism.links) :], strict=True):
        ends = [poses[1 + k] @ [*point, 1.0] for k, point in zip(span.links, span.points, strict=True)]
        length = np.linalg.norm(ends[1] - ends[0])
        assert np.allclose(carrier[:3, 3], ends[0][:3], atol=1e-12)
        if length > 1e-3:
            assert np.allclose((carrier @ [0, 0, 1, 1])[:3], ends[1][:3], atol=1e-9)
        assert np.linalg.det(carrier[:3, :3] / [1, 1, np.linalg.norm(carrier[:3, 2])]) == pytest.approx(1.0)


def test_a_floating_base_has_no_ground() -> None:
    craft = lw.Mechanism([lw.Link.dh(a=0.4, convention="standard", mass=1.0)], floating=True)
    assert "ground" not in roles(build(craft), -1)


def test_a_rotor_on_a_link_is_drawn() -> None:
    body = {"mass": 1.0, "com": (0.1, 0, 0), "axis": (0, 0, 1), "rotor_inertia": (1e-3, 1e-3, 1e-3)}
    motor = lw.Motor(inertia=1e-3, gear_ratio=50.0, carrier="base", **body)
    mechanism = lw.Mechanism([lw.Link.dh(a=0.5, convention="standard", mass=1.0, motor=motor)])
    rotor = [primitive for primitive in build(mechanism).primitives if primitive.role == "rotor"]
    assert [primitive.link for primitive in rotor] == [-1, -1]
    assert rotor[0].tessellated().vertices[:, 0].max() > 0.1


def test_colours() -> None:
    assert rgb("#0072b2") == (0, 114 / 255, 178 / 255)
    assert rgb("#0072b2", 0.5) == pytest.approx((0, 57 / 255, 89 / 255))


def test_a_kind_of_joint_is_drawn_from_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign for a kind that had none: both painters draw it without knowing the kind."""
    monkeypatch.setitem(JOINTS, "fixed", JointSign((Symbol("sphere", (2.0,)),), slides=True))
    scene = build(lw.Mechanism([lw.Link(joint="fixed", before=translation(0.3, 0, 0), after=translation(0, 0, 0.1))]))
    (sign,) = [primitive for primitive in scene.primitives if primitive.role == "joint"]
    assert (sign.kind, sign.link, sign.moved) == ("sphere", -1, 0)
    assert [span.links for span in scene.spans] == [(-1, 0)]
    drawn = Solids(scene).at(scene.carriers(scene.layout.poses))[0].reshape(-1, 3)
    assert all(np.linalg.norm(drawn - vertex, axis=1).min() < 1e-9 for vertex in sign.tessellated().vertices)
