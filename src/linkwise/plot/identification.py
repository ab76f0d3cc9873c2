"""The picture of an identification: measured efforts, what was identified predicts, and the difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.plot.curves import UNITS, Curves, plot

KEYS = ("measured", "predicted", "difference")


def draw(identification: Any, record: Any, title: str) -> Any:
    """Return the figure; see `Identification.plot`."""
    tree = identification.mechanism
    if record.tau is None or record.batch or record.q.shape[-1] != tree.nq:
        raise ArgumentError(
            f"the record is {record!r}; expected one motion of {tree.n} joints with tau: record.with_records(tau=...)"
        )
    predicted = identification.predict(record.q, record.qd, record.qdd)
    turning, sliding = UNITS["effort"]
    base = [sliding] * 3 + [turning] * 3 if tree.floating else []
    units = [*base, *(sliding if slides else turning for slides in tree.slides)]
    rows = []
    for k, (name, unit) in enumerate(zip(tree.speed_names, units, strict=True)):
        both = np.stack([record.tau[:, k], predicted[:, k]], axis=1)
        difference = both[:, :1] - both[:, 1:]
        rows.append([Curves(name, unit, record.t, both, [0, 1]), Curves(name, unit, record.t, difference, [2])])
    return plot(rows, KEYS, title or f"{tree.name}: efforts measured and predicted")
