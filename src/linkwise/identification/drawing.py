"""The picture of an identification: measured efforts, what was identified predicts, and the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.mechanism import Mechanism
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.trajectory import Trajectory
from linkwise.view.curves import Curves, plot
from linkwise.view.thinned import STRETCHES, Thinned

if TYPE_CHECKING:
    from linkwise.identification.result import Identification

KEYS = ("measured", "predicted", "difference")


def draw(found: Identification, record: Trajectory, title: str) -> Any:
    """Return the figure; see `Identification.plot`."""
    mech = found.mechanism
    if record.tau is None or record.batch or record.q.shape[-1] != mech.nq:
        raise ArgumentError(
            f"the record is {record!r}; expected one motion of {mech.n} joints with tau: record.with_records(tau=...)"
        )
    predicted = found.predict(record.q, record.qd, record.qdd)
    rows = []
    for k, (name, unit) in enumerate(zip(mech.speed_names, _units(mech), strict=True)):
        both = np.stack([record.tau[:, k], predicted[:, k]], axis=1)
        difference = record.tau[:, k : k + 1] - predicted[:, k : k + 1]
        rows.append([_curves(name, unit, record.t, both, [0, 1]), _curves(name, unit, record.t, difference, [2])])
    return plot(rows, KEYS, title or f"{mech.name}: efforts measured and predicted")


def _curves(name: str, unit: str, t: FloatArray, values: FloatArray, labels: list[int]) -> Curves:
    """Curves of any length, thinned so that they can be drawn: peaks survive."""
    if t.size > 2 * STRETCHES:
        thin = Thinned(values.shape[1])
        thin.add(t, values)
        t, values = thin.points()
    return Curves(name, unit, t, values, labels)


def _units(mech: Mechanism) -> list[str]:
    """N or N m of each effort."""
    joints = ["N" if slides else "N m" for slides in mech.slides]
    return (["N"] * 3 + ["N m"] * 3 if mech.floating else []) + joints
