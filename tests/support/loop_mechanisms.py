"""Mechanisms with closed loops, made up for the tests: planar, spherical, spatial, overconstrained."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

import numpy as np

from linkwise import Link, Loop, Mechanism, Mimic, robots
from linkwise.kernel import kernel as kernels
from linkwise.loops import Linkage
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_x, rotation_y
from linkwise.spatial.transform import inverse, transform, translation
from support.random_mechanisms import random_pose

Given = ParamSpec("Given")
Made = TypeVar("Made")


def kept(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Make it once for each backend: a mechanism keeps its kernels, and tests share them."""
    known = cache(lambda backend, *args, **rest: make(*args, **rest))
    return wraps(make)(lambda *args, **rest: known(kernels.default_backend(), *args, **rest))


@kept
def bundled(name: str) -> Mechanism:
    """A bundled linkage."""
    return robots.load(name).replace()


@kept
def planar_four_bar(crank: float, coupler: float, rocker: float, frame: float, kind: str = "hinge", **rest) -> Mechanism:
    """Axes along z; the second pivot on the base at (frame, 0)."""
    return Mechanism(
        [
            Link(name="crank", parent="base", joint="revolute"),
            Link(name="coupler", parent="crank", joint="revolute", before=translation(crank)),
            Link(name="rocker", parent="base", joint="revolute", before=translation(frame)),
        ],
        loops=[Loop(kind, "coupler", "rocker", translation(coupler), translation(rocker), "pin")],
        name="four-bar",
        **rest,
    )


@kept
def planar_slider_crank(crank: float = 0.05, rod: float = 0.2, offset: float = 0.0, limits=None) -> Mechanism:
    """The slider moves along x, `offset` above the crank's axis; the loop is where its pin is, a point."""
    return Mechanism(
        [
            Link(name="crank", parent="base", joint="revolute"),
            Link(name="rod", parent="crank", joint="revolute", before=translation(crank)),
            Link(
                name="slider", parent="base", joint="prismatic", axis=(1, 0, 0), before=translation(0, offset), limits=limits
            ),
        ],
        loops=[Loop("point", "rod", "slider", translation(rod), name="pin")],
        name="slider-crank",
    )


@kept
def triangle() -> Mechanism:
    """Three bars pinned to each other: a structure."""
    links = [
        Link(name="one", parent="base", joint="revolute"),
        Link(name="two", parent="base", joint="revolute", before=translation(1.0)),
    ]
    return Mechanism(links, loops=[Loop("hinge", "one", "two", translation(0.8), translation(0.7))], name="triangle")


@kept
def parallelogram(*, second_coupler: bool = False) -> Mechanism:
    """Crank and rocker 1, frame and coupler 2; flat at q = 0. With a second coupler between the middles it still moves."""
    mech = planar_four_bar(1.0, 2.0, 1.0, 2.0)
    if not second_coupler:
        return mech
    links = [*mech.links, Link(name="bar", parent="crank", joint="revolute", before=translation(0.5))]
    loop = Loop("hinge", "bar", "rocker", translation(2.0), translation(0.5), "middle")
    return mech.replace(links=links, loops=[*mech.loops, loop], name="parallelogram")


@kept
def bennett() -> Mechanism:
    """Four skew axes, opposite links alike, a / sin(alpha) equal: G. T. Bennett's linkage (1903), which only just moves."""
    one, two = 0.7, 1.1
    a, b = 1.0, np.sin(two) / np.sin(one)
    first, second = (transform(rotation_x(alpha), (length, 0, 0)) for alpha, length in ((one, a), (two, b)))
    links = [
        Link(name="first", parent="base", joint="revolute", after=first),
        Link(name="second", parent="first", joint="revolute", after=second),
        Link(name="third", parent="second", joint="revolute", after=first),
    ]
    return Mechanism(links, loops=[Loop("hinge", "third", "base", second_frame=inverse(second))], name="bennett")


@kept
def spherical_four_bar() -> Mechanism:
    """Four axes through one point, 40, 100, 80 and 90 degrees apart."""
    angles = np.radians([40.0, 100.0, 80.0, 90.0])
    turn = [transform(rotation_y(angle), None) for angle in angles]
    links = [
        Link(name="crank", parent="base", joint="revolute", after=turn[0]),
        Link(name="coupler", parent="crank", joint="revolute", after=turn[1]),
        Link(name="rocker", parent="base", joint="revolute", before=turn[3], after=turn[2]),
    ]
    return Mechanism(links, loops=[Loop("hinge", "coupler", "rocker", name="pin")], base=translation(0.3, 0.2, 0.5))


def closed_at(mech: Mechanism, q: np.ndarray) -> Mechanism:
    """The same mechanism with the second frame of every loop put where the first one is at q."""
    poses = dict(zip(mech.link_names, mech.link_poses(q), strict=True))
    poses["base"] = np.asarray(mech.base)
    if mech.floating:
        x, y, z, *quaternion = q[:7]
        poses["base"] = poses["base"] @ transform(quaternion_rotation(quaternion), (x, y, z))
    loops = []
    for loop in mech.loops:
        there = np.linalg.inv(poses[loop.second]) @ poses[loop.first] @ loop.first_frame
        there[:3, :3] = _orthonormal(there[:3, :3])
        there[3] = [0.0, 0.0, 0.0, 1.0]
        loops.append(Loop(loop.kind, loop.first, loop.second, loop.first_frame, there, loop.name))
    return mech.replace(loops=loops)


def _orthonormal(rotation: np.ndarray) -> np.ndarray:
    left, _, right = np.linalg.svd(rotation)
    return left @ right


@kept
def spatial_loop(kind: str, *, floating: bool = False, mimic: bool = False, seed: int = 5) -> tuple[Mechanism, np.ndarray]:
    """A chain with generic axes, three kinds of joints, closed on its base, with one freedom; and a closed position."""
    rng = np.random.default_rng(seed)
    count = {"full": 7, "hinge": 6, "point": 4}[kind]
    kinds = ["revolute", "revolute", "prismatic", "revolute", "screw", "revolute", "revolute"][:count]
    links = []
    for k, joint in enumerate(kinds):
        pitch = {"pitch": 0.1} if joint == "screw" else {}
        links.append(
            Link(
                name=f"l{k}",
                parent=f"l{k - 1}" if k else "base",
                joint=joint,
                axis=rng.normal(size=3),
                before=random_pose(rng),
                after=random_pose(rng),
                mass=1.0,
                inertia=(0.01, 0.01, 0.01),
                **pitch,
            )
        )
    if mimic:
        follower = Link(
            name="m", parent=links[-1].name, joint="revolute", before=random_pose(rng), mimic=Mimic("l0", 0.7, 0.2)
        )
        links.append(follower)
    mech = Mechanism(
        links,
        loops=[Loop(kind, links[-1].name, "base", random_pose(rng))],
        base=random_pose(rng),
        floating=floating,
        name=f"spatial {kind}",
    )
    q = mech.integrate(mech.neutral, rng.normal(0.0, 0.5, mech.nv))
    return closed_at(mech, q), q


@kept
def linkage(name: str) -> Linkage:
    """One of these mechanisms, or a bundled one, ready to be driven; compiled once for all tests of a process."""
    if name.startswith("spatial"):
        _, kind, *more = name.split()
        mech, q = spatial_loop(kind, **dict.fromkeys(more, True))
        return Linkage(mech, None, q)
    if name in robots.names():
        return Linkage(bundled(name))
    mech, driven, q = {
        "four-bar": (planar_four_bar(1.0, 4.0, 3.0, 4.0), "crank", [0.0, 1.0, 2.0]),
        "slider-crank": (planar_slider_crank(0.05, 0.2, 0.01), "crank", [0.4, 0.0, 0.2]),
        "bennett": (bennett(), "first", [0.4, 1.0, 1.0]),
        "spherical": (spherical_four_bar(), "crank", [0.4, 1.0, 1.0]),
    }[name]
    return Linkage(mech, driven, q)
