"""To space and back: the same poses, coordinates and loops, to rounding; what is not planar is refused by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import planar, robots
from linkwise.errors import ArgumentError, ModelError
from linkwise.planar import Link, Loop, Mechanism
from linkwise.spatial.rotation import rotation_x, rotation_y, rotation_z
from linkwise.spatial.transform import transform

EPS = float(np.finfo(float).eps)


def flat(poses: Any) -> Any:
    """The (..., 3, 3) of poses (..., 4, 4) in the plane."""
    return poses[..., [0, 1, 3], :][..., [0, 1, 3]]


def random_mechanism(seed: int) -> Mechanism:
    """Up to six links in a tree, of every kind of joint, with masses."""
    rng = np.random.default_rng(seed)
    links: list[Link] = []
    for k in range(int(rng.integers(2, 6))):
        kinds = ["revolute", "prismatic", "fixed", "revolute"] + (["free"] if k == 0 else [])
        joint = str(rng.choice(kinds))
        place: dict[str, Any] = {} if joint == "free" else {"a": rng.uniform(-1, 1), "theta": rng.uniform(-3, 3)}
        if joint != "free" and rng.random() < 0.4:
            place["at"] = rng.uniform(-1, 1, 3)
        parent = None if k < 2 else str(rng.choice(["world", *(str(link.name) for link in links)]))
        body = {"mass": rng.uniform(0.5, 2.0), "com": rng.uniform(-0.5, 0.5, 2), "inertia": rng.uniform(0.01, 0.1)}
        limits = None if joint in {"fixed", "free"} or rng.random() < 0.5 else sorted(rng.uniform(-2, 2, 2))
        links.append(Link(joint=joint, name=f"A{k + 1}", parent=parent, limits=limits, **place, **body))
    return Mechanism(links, name=f"random {seed}")


@pytest.mark.parametrize("seed", range(6))
def test_poses_in_space_and_back_are_the_same(seed: int, uncompiled: None) -> None:
    made = random_mechanism(seed)
    space = made.spatial((0.0, -9.81))
    back = planar.from_spatial(space)
    q = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, made.nq))
    # Rounding: a few units in the last place of a reach of some 5 x 4 m, and of angles of 5 x 6 rad that turn it.
    bound = 8 * EPS * (1.0 + 20.0) * (1.0 + 30.0)
    own = [space.link_index(str(link.name)) for link in made.links]
    assert abs(flat(space.link_poses(q))[:, own] - made.poses(q)).max() <= bound
    assert (space.names, back.coordinate_names) == (made.coordinate_names, made.coordinate_names)
    assert ([space.q_min, space.q_max] == made.limits.T).all()
    assert (back.limits == made.limits).all()
    assert [link.joint for link in back.links] == [link.joint for link in made.links]
    assert back.parents == made.parents
    assert abs(back.poses(q) - made.poses(q)).max() <= bound
    assert abs(back.transforms(q) - made.transforms(q)).max() <= bound
    for one, other in zip(back.links, made.links, strict=True):
        assert one.mass == other.mass
        assert abs(one.com - other.com).max() <= bound
        assert abs(one.inertia - other.inertia) <= bound


def test_a_chain_of_the_text_comes_back_as_it_was() -> None:
    made = Mechanism(
        [Link(joint="free", name="A1"), Link(a=1.0), Link(joint="prismatic"), Link(a=0.5, theta=0.3, joint_name="j")]
    )
    back = planar.from_spatial(made.spatial())
    parents = ["world", *made.link_names[:-1]]
    assert list(back.links) == [link.replace(parent=parent) for link, parent in zip(made.links, parents, strict=True)]


def test_dynamics_of_a_free_rod_in_the_plane() -> None:
    """A rod that slides and turns freely falls as one body: M is diag(m, m, I) at its centre."""
    made = Mechanism([Link(joint="free", name="rod", mass=2.0, inertia=0.3)])
    space = made.spatial((0.0, -9.81))
    assert abs(space.mass_matrix([0.1, 0.2, 0.3]) - np.diag([2.0, 2.0, 0.3])).max() <= 4 * EPS
    assert abs(space.gravity_torque([0.1, 0.2, 0.3]) - [0.0, 2.0 * 9.81, 0.0]).max() <= 32 * EPS


def test_the_inertia_about_the_joint_is_that_of_the_parallel_axis() -> None:
    made = Mechanism([Link(name="rod", mass=2.0, com=(0.3, 0.4), inertia=0.1)])
    assert abs(made.spatial((0, 0)).mass_matrix([0.7])[0, 0] - (0.1 + 2.0 * 0.25)) <= 4 * EPS


def test_gravity_must_be_said_where_there_is_mass() -> None:
    made = Mechanism([Link(name="rod", mass=1.0)])
    with pytest.raises(ArgumentError, match=r"gravity.*'rod'.*0.*-9\.81"):
        made.spatial()
    assert made.spatial((0, -9.81)).gravity.tolist() == [0.0, -9.81, 0.0]
    assert Mechanism([Link()]).spatial().gravity.tolist() == [0.0, 0.0, 0.0]


def test_symbols_go_into_space() -> None:
    made = Mechanism([Link(), Link(a=lw.symbols("l1"))])
    assert made.spatial().symbols == ("l1",)
    with pytest.raises(ArgumentError, match="has symbols"):
        planar.from_spatial(made.spatial())


@pytest.mark.parametrize("name", ["planar_2r", "four_bar", "slider_crank"])
def test_bundled_mechanisms_have_the_same_motion_in_the_plane(name: str, uncompiled: None) -> None:
    space = getattr(robots, name)().replace(name="own")  # (whose kernels no other test has)
    made = planar.from_spatial(space)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (4, made.nq))
    heading = made.poses(q)[..., 0, :2]
    assert abs(flat(space.link_poses(q))[..., 0, :2] - heading).max() <= 64 * EPS
    trees = [one.replace(loops=()) for one in (made.spatial(space.gravity[:2]), space)]
    assert abs(trees[0].mass_matrix(q) - trees[1].mass_matrix(q)).max() <= 64 * EPS
    assert abs(trees[0].gravity_torque(q) - trees[1].gravity_torque(q)).max() <= 640 * EPS
    if space.loops:
        closed = made.close(q[0])
        gap = space.kernel("closure")(closed)
        assert abs(gap).max() <= 1e-11


def test_standard_rows_get_their_body_frames_at_the_joints() -> None:
    """A standard DH frame is at a link's far end; the text's is at the joint, one length back."""
    space = lw.Mechanism.from_dh([(0, 0, 0.5, 0), (0, 0, 0.4, 0)], convention="standard")
    made = planar.from_spatial(space, polygons={"link2": planar.bar(0.4, 0.1)})
    q = [0.3, 0.4]
    end = made.poses(q)[1] @ [0.4, 0.0, 1.0]
    assert abs(end[:2] - space.forward_kinematics(q)[:2, 3]).max() <= 16 * EPS
    assert [len(link.polygons) for link in made.links] == [0, 1]


def upright() -> lw.Mechanism:
    """Two links that move in the plane x z, turning about -y, and slide along x."""
    links = [
        lw.Link(axis=(0, -1, 0), name="arm"),
        lw.Link(before=transform(None, [1.0, 0.2, 0.0]), joint="prismatic", axis=(1, 0, 0), name="slide"),
        lw.Link(before=transform(rotation_y(0.3), [0.5, 0.0, 0.1]), axis=(0, -1, 0), name="hand"),
    ]
    return lw.Mechanism(links)


def test_an_upright_plane_is_seen_along_its_normal(uncompiled: None) -> None:
    """x of the plane is the world's x, y its z; places across the plane do not matter."""
    made = planar.from_spatial(upright())
    q = [0.3, 0.4, -0.5]
    seen = upright().link_poses(q)[:, [0, 2], 3]
    assert abs(made.poses(q)[:, :2, 2] - seen).max() <= 16 * EPS


def test_a_base_that_is_turned_in_space(uncompiled: None) -> None:
    """x of the plane is the world's x as it is seen there; origins of joints and the tip are where they are in space."""
    base = transform(rotation_x(0.4) @ rotation_z(0.7), [0.3, 0.1, 0.2])
    space = robots.planar_2r().replace(base=base)
    made = planar.from_spatial(space)
    normal = base[:3, 2]
    x = np.array([1.0, 0.0, 0.0]) - normal * normal[0]
    x /= np.linalg.norm(x)
    axes = np.stack([x, np.cross(normal, x)])
    q = [0.3, -0.8]
    poses = made.poses(q)
    assert abs(poses[0, :2, 2] - axes @ base[:3, 3]).max() <= 16 * EPS
    tip = poses[1] @ [1.0, 0.0, 1.0]
    assert abs(tip[:2] - axes @ space.forward_kinematics(q)[:3, 3]).max() <= 64 * EPS


def space_with(**fields: Any) -> lw.Mechanism:
    return lw.Mechanism([lw.Link(name="a"), lw.Link(name="b", **fields)], name="space")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda: space_with(axis=(0, 1, 0)),
            r"link 'b': axis is \[0.0, 1.0, 0.0\]; expected that of 'a', \[0.0, 0.0, 1.0\]",
        ),
        (lambda: space_with(axis=(0, 0, -1)), r"link 'b': axis is \[0.0, 0.0, -1.0\]; .* of one sense"),
        (lambda: space_with(joint="prismatic"), r"link 'b': axis is \[0.0, 0.0, 1.0\]; expected in the plane across"),
        (lambda: space_with(joint="screw", pitch=0.1), r"link 'b': joint is 'screw'; expected 'revolute', 'prismatic' or"),
        (lambda: space_with(mimic=lw.Mimic("a")), r"link 'b': mimic is .*; expected None"),
        (lambda: space_with().replace(floating=True), r"mechanism 'space': floating is True"),
        (lambda: space_with().with_payload(2.0), r"mechanism 'space': payload is 2.0; expected nothing carried"),
        (
            lambda: space_with().replace(loops=[lw.Loop("point", "b", "base", None, transform(None, [0, 0, 0.5]), "pin")]),
            r"loop 'pin': second_frame is 0.5; expected both ends in one plane",
        ),
        (
            lambda: space_with().replace(loops=[lw.Loop("hinge", "b", "base", None, transform(rotation_x(math.pi)), "pin")]),
            r"loop 'pin': second_frame is .* expected axes along the normal of the plane, of one sense",
        ),
        (
            lambda: space_with().replace(loops=[lw.Loop("full", "b", "base", transform(rotation_x(0.1)), None, "weld")]),
            r"loop 'weld': second_frame is .* expected a turn in the plane",
        ),
    ],
)
def test_what_is_not_planar_is_refused_by_name(make: Any, expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        planar.from_spatial(make())


def test_prismatic_joints_alone_find_their_plane(uncompiled: None) -> None:
    axes = ((0, 0, 1), (0, 1, 0))
    links = [lw.Link(joint="prismatic", axis=axis) for axis in axes]
    made = planar.from_spatial(lw.Mechanism(links))
    assert abs(np.linalg.norm(made.poses([0.3, 0.4])[1, :2, 2]) - 0.5) <= 4 * EPS


def test_slides_that_carry_something_else_too_are_no_free_link(uncompiled: None) -> None:
    space = Mechanism([Link(joint="free", name="rod")]).spatial()
    made = planar.from_spatial(space.replace(links=[*space.links, lw.Link(name="other", parent="rod.x")]))
    assert [link.joint for link in made.links] == ["prismatic", "prismatic", "revolute", "revolute"]
    assert abs(made.poses([0.3, 0.4, 0.5, 0.6])[2:, :2, 2] - [[0.3, 0.4], [0.3, 0.0]]).max() <= 4 * EPS


def test_fixed_links_alone_stand_in_the_plane_across_z(uncompiled: None) -> None:
    made = planar.from_spatial(lw.Mechanism([lw.Link(joint="fixed", before=transform(rotation_z(0.5), [1.0, 2.0, 3.0]))]))
    assert abs(made.poses([])[0] - flat(transform(rotation_z(0.5), [1.0, 2.0, 3.0]))).max() <= 4 * EPS


def test_rigid_connections_keep_their_angle() -> None:
    links = [Link(name="left"), Link(name="right", parent="world", a=1.0)]
    made = Mechanism(links, [Loop("left", (1.0, 0.2), "right", (1.0, 0.0), "fixed", 0.7, name="weld")], name="triangle")
    back = planar.from_spatial(made.spatial())
    assert (back.loops[0].joint, back.loops[0].name) == ("fixed", "weld")
    assert abs(back.loops[0].angle - 0.7) <= 2 * EPS
    assert (back.loops[0].first_point == [1.0, 0.2]).all()


def test_bars_reach_from_joint_to_joint() -> None:
    made = planar.from_spatial(robots.four_bar(), polygons="bars")
    lengths = [float(np.ptp(link.polygons[0], axis=0).max()) for link in made.links]
    width = 0.1 * (0.04 + 0.12 + 0.08) / 3
    assert abs(np.array(lengths) - (np.array([0.04, 0.12, 0.08]) + width)).max() <= 16 * EPS
    with pytest.raises(ArgumentError, match=r"polygons.*'wheel'.*'crank'.*'coupler'.*'rocker'"):
        planar.from_spatial(robots.four_bar(), polygons={"wheel": planar.bar(1, 1)})
    with pytest.raises(ArgumentError, match="expected a mapping by link, 'bars' or None"):
        planar.from_spatial(robots.four_bar(), polygons="boxes")


def test_several_joints_on_one_pin_make_one_bar() -> None:
    made = planar.from_spatial(robots.jansen(), polygons="bars")
    assert [len(link.polygons) for link in made.links] == [1, 1, 1, 2, 1, 1, 1]  # (of the triangle two sides are bars)
