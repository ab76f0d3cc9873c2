"""Bundled robots held against the files that they were taken from: ``python benchmarks/public_catalogue.py FOLDER ...``.

Each folder is a checkout of a repository. Robots whose source is a URDF, xacro or configuration of Universal Robots below
one of them are compared: names of joints; poses of the moving links and of the flange at random configurations (m, elements
of rotations); limits of positions and velocities (rad or m, rad/s or m/s); masses, centres and inertias, where the robot has
some. Printed are the largest differences. Sources say right angles with four to seven digits.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from public_models import Job, _ours, package_folders

import linkwise as lw
from linkwise.spatial.transform import inverse

KEYS = ("q_min", "q_max", "qd_max")

FLANGES = ("tool0", "flange", "EndEffector_Link", "END_EFFECTOR")


def main() -> None:
    """Compare all robots whose source is there."""
    roots = [Path(folder) for folder in sys.argv[1:]]
    folders = tuple(folder for root in roots for folder in package_folders(root))
    print(f"{'robot':14s} joints  poses    tool     limits   velocities  bodies   source")
    for name in lw.robots.names():
        robot = lw.robots.load(name)
        path, root = next(((path, root) for root in roots for path in _sources(name, root)), (None, None))
        if path is not None and root is not None:
            source, refused, _ = _ours(Job(path, root, folders, False))
            print(f"{name:14s} {refused or _compared(robot, source)}   {path.relative_to(root.parent)}")


def _sources(name: str, root: Path) -> list[Path]:
    """The file that a robot's source names, in a repository, or in a copy of its package there."""
    for text in lw.robots.describe(name).source:
        if said := re.search(r"ros-industrial/universal_robot, ur_description/config/(\w+)", text):
            return list(root.rglob(f"ur_description/urdf/{said[1]}.xacro"))
        if said := re.search(r"URDF of [\w./-]+, ([\w./-]+?\.(?:xacro|urdf))", text):
            return [path for path in sorted(root.rglob(Path(said[1]).name)) if path.as_posix().endswith(said[1])]
    return []


def _compared(robot: Any, source: Any) -> str:
    """A row of differences; joints without a common name are paired in order, from Universal Robots' frame ``base``."""
    same = [name for name in robot.names if name in source.names]
    pairs = [(name, name) for name in same] or list(zip(robot.names, source.names, strict=True))
    ours, theirs = ([mech.names.index(pair[k]) for pair in pairs] for k, mech in enumerate((robot, source)))
    links = [tuple(_carried(mech, name) for mech, name in zip((robot, source), pair, strict=True)) for pair in pairs]
    flange = next(({"link": name} for name in FLANGES if name in source.link_names), {})
    start = np.eye(4) if same else inverse(source.forward_kinematics(np.zeros(source.nq), link="base_frame"))
    rng, poses, tool, bodies = np.random.default_rng(0), 0.0, 0.0, 0.0
    for _ in range(5):
        q, p = rng.uniform(-2, 2, robot.nq), np.zeros(source.nq)
        p[theirs] = q[ours]
        tool = max(tool, _apart(robot.forward_kinematics(q), start @ source.forward_kinematics(p, **flange)))
        for name, other in links:
            frames = robot.forward_kinematics(q, link=name), start @ source.forward_kinematics(p, link=other)
            poses = max(poses, _apart(*frames)) if same else poses
            body, there = (mech.links[mech.link_index(k)].body for mech, k in ((robot, name), (source, other)))
            if body.mass:
                placed = [_placed(*one) for one in zip(frames, (body, there), strict=True)]
                bodies = max(bodies, *(_apart(*values) for values in zip(*placed, strict=True)))
    limits = [_apart(_finite(getattr(robot, key)[ours]), _finite(getattr(source, key)[theirs])) for key in KEYS]
    row = "".join(f"  {value:.1e}" for value in (poses, tool, max(limits[:2]), limits[2], bodies))
    return f"{len(pairs)} of {robot.n}{row}"


def _carried(mechanism: Any, joint: str) -> str:
    """The link that a joint moves."""
    places = zip(mechanism.link_names, mechanism.links, strict=True)
    return next(name for name, link in places if link.coordinate_name == joint)


def _placed(frame: Any, body: Any) -> tuple[Any, Any, Any]:
    """Mass, centre and tensor in the world."""
    return body.mass, (frame @ [*body.com, 1])[:3], frame[:3, :3] @ body.tensor @ frame[:3, :3].T


def _apart(one: Any, other: Any) -> float:
    return float(np.abs(np.subtract(one, other)).max(initial=0.0))


def _finite(values: Any) -> Any:
    return np.where(np.isfinite(values), values, 1e9)


if __name__ == "__main__":
    main()
