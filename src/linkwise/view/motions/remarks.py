"""What is odd about a motion: said, and left as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from linkwise.kinematics.closing import NEARLY, closing
from linkwise.model.table import plain
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Trajectory

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

ROUNDING = 1e-9
"""How far beyond its limits a joint may be, as a part of them, for rounding."""


def remarks_on(mechanism: Mechanism, motion: Trajectory, efforts: FloatArray | None) -> tuple[str, ...]:
    """Joints outside their limits or faster than they may be, loops that are open, efforts that are no numbers."""
    return (*_beyond(mechanism, motion), *_open(mechanism, motion), *_endless(efforts))


def _beyond(mechanism: Mechanism, motion: Trajectory) -> Iterator[str]:
    joints = motion.q[:, mechanism.nq - mechanism.n :]
    speeds = np.abs(motion.qd[:, mechanism.nv - mechanism.n :])
    low, high = mechanism.limits.T
    slack = ROUNDING * np.maximum(1.0, np.nan_to_num(np.maximum(np.abs(low), np.abs(high)), posinf=1.0))
    outside = ((joints < low - slack) | (joints > high + slack)).sum(axis=0)
    fast = (speeds > mechanism.speed_limits * (1.0 + ROUNDING)).sum(axis=0)
    for name, where, quick in zip(mechanism.names, outside.tolist(), fast.tolist(), strict=True):
        if where:
            yield f"joint {plain(name)!r} is outside its limits at {where:,} of {len(motion):,} instants"
        if quick:
            yield f"joint {plain(name)!r} is faster than its limit at {quick:,} of {len(motion):,} instants"


def _open(mechanism: Mechanism, motion: Trajectory) -> Iterator[str]:
    if not mechanism.loops:
        return
    task = closing(mechanism)
    error = np.atleast_1d(task.error(motion.q))
    count = int((~(error <= NEARLY)).sum())
    if count:
        worst = int(np.argmax(error))
        time, most = float(motion.t[worst] - motion.t[0]), float(error[worst])
        yield (
            f"the loops are open at {count:,} of {len(motion):,} instants, most by {most:.2g} of the longest offset"
            f" ({task.size:g} m) or rad, at {time:g} s"
        )


def _endless(efforts: FloatArray | None) -> Iterator[str]:
    if efforts is not None and not np.isfinite(efforts).all():
        yield "some efforts are not finite numbers"
