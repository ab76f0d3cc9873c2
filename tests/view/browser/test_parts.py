from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import linkwise as lw
from linkwise.spatial.transform import translation
from linkwise.view.browser.parts import ROD, parts, rgb
from linkwise.view.browser.surfaces import SIDES, Surface, ball, box, capsule, cylinder, helix, merged
from linkwise.view.drawing.skeleton import Skeleton, skeleton

POLYGON = 0.5 * SIDES * np.sin(2 * np.pi / SIDES)
"""Area of the polygon drawn for the unit circle."""


def volume(surface: Surface) -> float:
    """What it encloses, by the divergence theorem; negative where it is inside out."""
    a, b, c = np.moveaxis(surface.vertices[surface.faces], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def is_closed(surface: Surface) -> bool:
    """Whether each edge is passed as often one way as the other, equal points taken as one."""
    points, which = np.unique(np.round(surface.vertices, 9), axis=0, return_inverse=True)
    corners = which.reshape(-1)[surface.faces]
    edges = Counter(pair for k in range(3) for pair in zip(corners[:, k], corners[:, (k + 1) % 3], strict=True))
    return len(points) > 3 and all(edges[j, i] == count for (i, j), count in edges.items() if i != j)


def test_surfaces_are_closed_and_face_outwards() -> None:
    tilted = cylinder(np.array([0.1, 0.2, 0.3]), np.array([-0.5, 0.9, 2.0]), 0.25)
    length = np.sqrt(0.6**2 + 0.7**2 + 1.7**2)
    cases = {
        "cylinder": (tilted, POLYGON * 0.25**2 * length),
        "down": (cylinder(np.zeros(3), np.array([0, 0, -2.0]), 0.5), POLYGON * 0.25 * 2),
        "box": (box(np.array([1.0, 2.0, 3.0])), 48.0),
        "box moved": (box(np.array([1.0, 2.0, 3.0])).placed(lw.robots.puma560().forward_kinematics(np.ones(6))), 48.0),
    }
    for name, (surface, expected) in cases.items():
        assert is_closed(surface), name
        assert volume(surface) == pytest.approx(expected, rel=1e-12), name


def test_round_surfaces_are_nearly_as_large_as_what_they_stand_for() -> None:
    # A ball of 20 by 10 sides has 0.95 of its volume, and never more than all of it.
    sphere = 4 / 3 * np.pi
    assert 0.94 * sphere < volume(ball(np.array([3.0, 1.0, 2.0]), 1.0)) < sphere
    pill = capsule(1.0, 2.0)
    assert 0.94 * (sphere + 2 * np.pi) < volume(pill) < sphere + 2 * np.pi
    assert np.ptp(pill.vertices, axis=0).round(9).tolist() == [2.0, 2.0, 4.0]
    for one in (ball(np.zeros(3), 1.0), pill, helix(-1.0, 1.0, 0.5, 0.05)):
        assert is_closed(one)
        assert volume(one) > 0


def test_surfaces_together_have_the_volume_of_all() -> None:
    two = [box(np.ones(3)), cylinder(np.full(3, 5.0), np.array([5.0, 5.0, 6.0]), 1.0)]
    assert volume(merged(two)) == pytest.approx(8.0 + POLYGON, rel=1e-12)
    assert merged([]).vertices.shape == (0, 3)


def frames(laid: Skeleton) -> dict[int, np.ndarray]:
    return {-1: laid.base} | {k: place.frame for k, place in enumerate(laid.places)}


@pytest.mark.parametrize("name", ["puma560", "scara_icomatic", "stanford", "four_bar", "delta", "stewart"])
def test_parts_are_where_the_skeleton_is_in_any_position(name: str) -> None:
    mechanism = lw.robots.load(name)
    rng = np.random.default_rng(4)
    found = parts(mechanism, skeleton(mechanism, rng.uniform(-0.5, 0.5, mechanism.n)))
    laid = skeleton(mechanism, rng.uniform(-0.5, 0.5, mechanism.n))
    at = frames(laid)
    rods = {k: merged(p.surface.placed(at[k]) for p in found.still if p.link == k and p.what in {"rod", "tool"}) for k in at}
    joints = {p.moved: p.surface.placed(at[p.link]).vertices for p in found.still if p.what == "joint"}
    for k, place in enumerate(laid.places):
        if place.link.moves:
            assert np.allclose(joints[k].mean(axis=0), place.joint[:3, 3], atol=1e-9)
        for link, line in ((place.parent, place.arm), (k, place.body)):
            longest = max((float(np.linalg.norm(b - a)) for a, b in pairwise(line)), default=0.0)
            for corner in line if longest > laid.size * ROD * 2 else ():
                # Vertices at a rod's end are its radius away.
                assert np.linalg.norm(rods[link].vertices - corner, axis=1).min() < 1.5 * laid.size * ROD


def test_parts_do_not_depend_on_the_position() -> None:
    mechanism = lw.robots.stanford()
    one, other = (skeleton(mechanism, q) for q in (np.full(6, 0.3), np.full(6, -0.7)))
    made = [parts(mechanism, replace(laid, size=1.0)).still for laid in (one, other)]
    for a, b in zip(*made, strict=True):
        assert (a.link, a.what, a.colour) == (b.link, b.what, b.colour)
        assert np.allclose(a.surface.vertices, b.surface.vertices, atol=1e-12)


def test_every_joint_of_every_kind_has_its_symbol() -> None:
    kinds = ("revolute", "prismatic", "screw", "fixed")
    links = [lw.Link(joint=kind, before=translation(0.3, 0, 0), pitch=0.01 * (kind == "screw")) for kind in kinds]
    mechanism = lw.Mechanism(links)
    found = parts(mechanism, skeleton(mechanism))
    moved = Counter(part.moved for part in found.still if part.what == "joint")
    assert moved == {0: 1, 1: 1, 2: 2}  # a screw has a thread too
    assert [slide.moved for slide in found.slides] == [1, 2]
    assert [part.what for part in found.still if part.link == -1 and part.what != "joint"] == ["rod", "ground"]


def test_a_floating_base_has_no_ground() -> None:
    craft = lw.Mechanism([lw.Link.dh(a=0.4, convention="standard", mass=1.0)], floating=True)
    assert "ground" not in {part.what for part in parts(craft, skeleton(craft)).still}


def test_a_rotor_on_a_link_is_drawn() -> None:
    body = {"mass": 1.0, "com": (0.1, 0, 0), "axis": (0, 0, 1), "rotor_inertia": (1e-3, 1e-3, 1e-3)}
    motor = lw.Motor(inertia=1e-3, gear_ratio=50.0, carrier="base", **body)
    mechanism = lw.Mechanism([lw.Link.dh(a=0.5, convention="standard", mass=1.0, motor=motor)])
    rotor = [part for part in parts(mechanism, skeleton(mechanism)).still if part.what == "rotor"]
    assert [part.link for part in rotor] == [-1]
    assert rotor[0].surface.vertices[:, 0].max() > 0.1


def test_colours() -> None:
    assert rgb("#0072b2") == (0, 114, 178)
    assert rgb("#0072b2", 0.5) == (0, 57, 89)
