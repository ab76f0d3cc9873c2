"""Result files: joints.csv with a row an instant, links.csv with a row an instant and link, trajectory.csv, SpaceLib's .OUT.

Numbers are written in the fewest digits that read back as the very same double.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from linkwise.dynamics.link_states import LinkStates
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.model.quantities import QUANTITIES, labelled
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

#: Count of numbers formatted as text at a time.
NUMBERS = 1 << 17

#: The fields of `LinkStates` in links.csv, and their columns.
LINK_COLUMNS = (
    ("positions", [f"{axis} [m]" for axis in "xyz"]),
    ("quaternions", [f"q{axis}" for axis in "wxyz"]),
    ("velocities", [f"v{axis} [m/s]" for axis in "xyz"]),
    ("angular_velocities", [f"w{axis} [rad/s]" for axis in "xyz"]),
    ("accelerations", [f"a{axis} [m/s2]" for axis in "xyz"]),
    ("angular_accelerations", [f"alpha{axis} [rad/s2]" for axis in "xyz"]),
    ("forces", [f"f{axis} [N]" for axis in "xyz"]),
    ("joint_moments", [f"m{axis}_joint [N m]" for axis in "xyz"]),
    ("moments", [f"m{axis}_base [N m]" for axis in "xyz"]),
)


def joints_header(tree: Tree) -> str:
    """Name the columns of joints.csv, with units; a floating base comes before the joints."""
    return csv_line(["t [s]", *(f"{quantity}_{label}" for quantity in QUANTITIES for label in labelled(tree, quantity))])


def simulated_header(tree: Tree) -> str:
    """Name the columns of trajectory.csv: those of joints.csv, and the energies."""
    return joints_header(tree).rstrip("\n") + ",kinetic_energy [J],potential_energy [J]\n"


def links_header() -> str:
    """Name the columns of links.csv, with units."""
    return csv_line(["t [s]", "link", *(title for _, titles in LINK_COLUMNS for title in titles)])


def links_rows(tree: Tree, states: LinkStates) -> Iterator[str]:
    """Write the rows of links.csv, in parts."""
    time = np.broadcast_to(states.t[:, None, None], (len(states.t), len(tree.links), 1))
    values = np.concatenate((time, *(getattr(states, name) for name, _ in LINK_COLUMNS)), axis=2)
    numbers = ",".join(["%r"] * (values.shape[2] - 1))
    cells = [quoted(name).replace("%", "%%") for name in tree.link_names]
    return formatted(values.reshape(len(values), -1), "".join(f"%r,{cell},{numbers}\n" for cell in cells))


def loops_header(tree: Tree) -> str:
    """The header of loops.csv: of each loop the force and moment on its second link, in the axes of its first frame."""
    titles = ("fx [N]", "fy [N]", "fz [N]", "mx [N m]", "my [N m]", "mz [N m]")
    named = ((loop.name or f"loop{k}", CLOSURE_ROWS[loop.kind]) for k, loop in enumerate(tree.loops, 1))
    return csv_line(["t [s]", *(f"{name} {title}" for name, count in named for title in titles[:count])])


def loops_rows(states: LinkStates) -> Iterator[str]:
    """Write the rows of loops.csv, in parts."""
    values = np.column_stack([states.t, states.loop_forces])
    return formatted(values, ",".join(["%r"] * values.shape[1]) + "\n")


def csv_line(cells: Sequence[str]) -> str:
    """A line of text cells."""
    return ",".join(map(quoted, cells)) + "\n"


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


def motion_rows(*columns: FloatArray) -> Iterator[str]:
    """Write the rows of joints.csv or trajectory.csv, in parts, of columns with k rows each.

    They are t, q, qd, qdd and tau, for trajectory.csv then kinetic and potential energy.
    """
    values = np.column_stack(columns)
    return formatted(values, ",".join(["%r"] * values.shape[1]) + "\n")


def formatted(values: FloatArray, template: str) -> Iterator[str]:
    """The rows of numbers (k, m), in parts; `template` takes the numbers of a row."""
    size = max(1, NUMBERS // values.shape[1])
    for start in range(0, len(values), size):
        piece = values[start : start + size]
        yield (template * len(piece)) % tuple(piece.ravel().tolist())
