"""Figure of an identification: measured efforts, prediction, and difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.quantities import units
from linkwise.plot.curves import Curves, plot

KEYS = ("measured", "predicted", "difference")


def draw(identification: Any, record: Any, title: str) -> Any:
    """Return the figure; see `Identification.plot`."""
    tree = identification.mechanism
    if record.tau is None or record.batch or record.q.shape[-1] != tree.nq:
        raise ArgumentError(
            f"the record is {record!r}; expected one motion of {tree.n} joints with tau: record.with_records(tau=...)"
        )
    predicted = identification.predict(record.q, record.qd, record.qdd)
    rows = []
    for k, (name, unit) in enumerate(zip(tree.velocity_names, units(tree, "tau"), strict=True)):
        both = np.stack([record.tau[:, k], predicted[:, k]], axis=1)
        difference = both[:, :1] - both[:, 1:]
        rows.append([Curves(name, unit, record.t, both, [0, 1]), Curves(name, unit, record.t, difference, [2])])
    return plot(rows, KEYS, title or f"{tree.name}: efforts measured and predicted")
