"""The .csv files: joints.csv with a row an instant, links.csv with a row an instant and link, trajectory.csv.

Numbers are written in the fewest digits that read back as the very same double.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from linkwise.cli.columns import QUANTITIES, names, units
from linkwise.cli.results import Results
from linkwise.cli.simulated import recorded
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Trajectory

NUMBERS = 1 << 17
"""How many numbers are turned into text at a time."""

LINK_COLUMNS = (
    *(f"{axis} [m]" for axis in "xyz"),
    *(f"q{axis}" for axis in "wxyz"),
    *(f"v{axis} [m/s]" for axis in "xyz"),
    *(f"w{axis} [rad/s]" for axis in "xyz"),
    *(f"a{axis} [m/s2]" for axis in "xyz"),
    *(f"alpha{axis} [rad/s2]" for axis in "xyz"),
    *(f"f{axis} [N]" for axis in "xyz"),
    *(f"m{axis}_joint [N m]" for axis in "xyz"),
    *(f"m{axis}_base [N m]" for axis in "xyz"),
)


def joints_header(tree: Tree) -> str:
    """Name the columns of joints.csv, with units; a floating base comes before the joints."""
    cells = [
        quoted(f"{quantity}_{name} [{unit}]")
        for quantity in QUANTITIES
        for name, unit in zip(names(tree, quantity), units(tree, quantity), strict=True)
    ]
    return ",".join(["t [s]", *cells]) + "\n"


def joints_rows(results: Results) -> Iterator[str]:
    """Write the rows of joints.csv, in parts."""
    yield from _table(results.t, results.q, results.qd, results.qdd, results.tau)


def simulated_header(tree: Tree) -> str:
    """Name the columns of trajectory.csv: those of joints.csv, and the energies."""
    return joints_header(tree).rstrip("\n") + ",kinetic_energy [J],potential_energy [J]\n"


def simulated_rows(motion: Trajectory) -> Iterator[str]:
    """Write the rows of trajectory.csv, in parts."""
    kinetic, potential, tau = recorded(motion)
    yield from _table(motion.t, motion.q, motion.qd, motion.qdd, tau, kinetic, potential)


def links_header() -> str:
    """Name the columns of links.csv, with units."""
    return ",".join(["t [s]", "link", *LINK_COLUMNS]) + "\n"


def links_rows(tree: Tree, results: Results) -> Iterator[str]:
    """Write the rows of links.csv, in parts."""
    links = len(tree.links)
    time = np.broadcast_to(results.t[:, None, None], (len(results.t), links, 1))
    values = np.concatenate((time, link_values(results)), axis=2)
    row = ",".join(["%r"] * len(LINK_COLUMNS)) + "\n"
    cells = [quoted(name).replace("%", "%%") for name in tree.link_names]
    yield from _rows(values.reshape(len(values), -1), "".join(f"%r,{cell},{row}" for cell in cells))


def link_values(results: Results) -> FloatArray:
    """Gather the values of links.csv (k, L, columns), in the order of `LINK_COLUMNS`."""
    parts = (
        results.positions,
        results.quaternions,
        results.velocities,
        results.angular_velocities,
        results.accelerations,
        results.angular_accelerations,
        results.forces,
        results.joint_moments,
        results.moments,
    )
    return np.concatenate(parts, axis=2)


def quoted(name: str) -> str:
    """Write a name as a .csv cell.

    Examples
    --------
    >>> quoted("arm"), quoted("left, upper")
    ('arm', '"left, upper"')
    """
    if any(c in name for c in ',"\r\n;'):
        return '"' + name.replace('"', '""') + '"'
    return name


def _table(*columns: FloatArray) -> Iterator[str]:
    values = np.column_stack(columns)
    yield from _rows(values, ",".join(["%r"] * values.shape[1]) + "\n")


def _rows(values: FloatArray, template: str) -> Iterator[str]:
    size = max(1, NUMBERS // values.shape[1])
    for start in range(0, len(values), size):
        piece = values[start : start + size]
        yield (template * len(piece)) % _numbers(piece)


def _numbers(values: FloatArray) -> Sequence[float]:
    return tuple(values.ravel().tolist())
