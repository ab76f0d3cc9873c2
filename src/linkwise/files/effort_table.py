"""Recorded efforts: a .csv with the time and one column for each effort, such as joints.csv of ``linkwise run``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwise.errors import choices
from linkwise.files.number_table import NumberTable
from linkwise.model.quantities import names, units
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class RecordedEfforts:
    """Efforts tau (k, nv) at times t (k,), s, of a file."""

    path: Path
    t: FloatArray
    tau: FloatArray

    def at(self, times: FloatArray) -> FloatArray:
        """Return the efforts at other times, linear between the recorded ones (m, nv)."""
        return np.stack([np.interp(times, self.t, column) for column in self.tau.T], axis=1)


def read_efforts(path: str | Path, tree: Tree) -> RecordedEfforts:
    """Read the columns ``t`` and ``tau1`` or ``tau_NAME``, ... of a mechanism; a unit may stand behind each in brackets.

    Columns of other things are left alone. The force and moment on a floating base, ``tau_base_fx`` ..., may be missing:
    they are zero then.

    Raises
    ------
    FileError
        Where a column is missing, of no joint or in another unit, a cell is no number, or the times do not ascend.
    """
    table = NumberTable(path, header="t, tau1, ...", row="instant")
    base = tree.nv - tree.n
    wanted = [("t", "time"), *((f"tau_{name}",) for name in names(tree, "tau")[:base])]
    wanted += [(f"tau{k + 1}", f"tau_{name}") for k, name in enumerate(tree.names)]
    places = [table.place(group) for group in wanted]
    missing = [group[0] for k, group in enumerate(wanted) if places[k] is None and not 1 <= k <= base]
    if missing:
        named = f" (or {'tau_' + tree.names[0]!r} and so on, by name)" if tree.names else ""
        table.refuse(table.first, f"the header has no column {choices(missing)}{named}; it has {table.listed}")
    known = {name for group in wanted for name in group}
    strange = [name for name in table.names if re.match(r"tau(_|\d+$)", name) and name not in known]
    if strange:
        table.refuse(table.first, f"column {strange[0]!r} is of no joint of {tree.name!r}")
    zero = np.zeros(len(table.rows))
    columns = [
        zero if place is None else table.column(place, {unit: 1.0})
        for place, unit in zip(places, ["s", *units(tree, "tau")], strict=True)
    ]
    steps = np.diff(columns[0])
    if not np.all(steps > 0):
        table.refuse(table.rows[1 + int(np.argmin(steps > 0))][0], "the time does not come after the time before it")
    return RecordedEfforts(Path(path), columns[0], np.stack(columns[1:], axis=1) if tree.nv else np.zeros((len(zero), 0)))
