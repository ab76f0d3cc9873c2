"""Bundled robots held against the files that they were taken from: ``python benchmarks/public_catalogue.py FOLDER ...``.

Each folder is a checkout of a repository. Robots whose source is a URDF, xacro or configuration of Universal Robots below one
of them are compared: the names of the joints; poses of the links of both, and of the flange, at random configurations (m and
rotations' elements); limits of positions and velocities (rad or m, rad/s or m/s); masses with centres and inertias, where the
robot has some. Printed are the largest differences. Sources say right angles with four to seven digits.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from public_models import Job, _ours, package_folders

import linkwise as lw

FLANGES = ("tool0", "flange", "EndEffector_Link", "end_effector_link")


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
    """A row of differences."""
    rng = np.random.default_rng(0)
    same = [name for name in robot.names if name in source.names]
    ours, theirs = ([mech.names.index(name) for name in same] for mech in (robot, source))
    flange = next((name for name in FLANGES if name in source.link_names), source.link_names[-1])
    links = [name for name in robot.link_names if name in source.link_names]
    poses, tool, bodies = 0.0, 0.0, 0.0
    for _ in range(5):
        q, p = rng.uniform(-2, 2, robot.nq), np.zeros(source.nq)
        p[theirs] = q[ours]
        differences = [robot.forward_kinematics(q, link=name) - source.forward_kinematics(p, link=name) for name in links]
        poses = max(poses, float(np.abs(differences).max(initial=0.0)))
        tool = max(tool, float(np.abs(robot.forward_kinematics(q) - source.forward_kinematics(p, link=flange)).max()))
    for name in links:
        body, other = (mech.links[mech.link_index(name)].body for mech in (robot, source))
        if body.mass:
            rows = ((body.mass, other.mass), (body.com, other.com), (body.tensor, other.tensor))
            bodies = max(bodies, *(float(np.abs(np.subtract(*pair)).max()) for pair in rows))
    limits, velocities = (
        float(np.abs(_finite(getattr(robot, key)[ours]) - _finite(getattr(source, key)[theirs])).max(initial=0.0))
        for key in ("q_max", "qd_max")
    )
    limits = max(limits, float(np.abs(_finite(robot.q_min[ours]) - _finite(source.q_min[theirs])).max(initial=0.0)))
    row = "".join(f"  {value:.1e}" for value in (poses, tool, limits, velocities, bodies))
    return f"{len(same)} of {robot.n}{row}  ({len(links)} links, {flange})"


def _finite(values: Any) -> Any:
    return np.where(np.isfinite(values), values, 1e9)


if __name__ == "__main__":
    main()
