"""What motions, their identification, clearances and sweeps are given: anything else is an error of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.identification import exciting_trajectory, identify
from linkwise.parameter_sweep import Sweep
from linkwise.trajectory import MotionLimits, Trajectory, jerk_limited, through, time_optimal

ARM = lw.robots.planar_2r()
WAY, LIMITS = [[0.0, 0.0], [1.0, 0.5]], MotionLimits(qd_max=1.0, qdd_max=2.0)
RECORD: Any = ([0.0, 1.0], *np.zeros((3, 2, 2)))
NOISE: Any = np.random.default_rng(0).normal(size=(4, 50, 2))
BATCH = np.ones((3, 2))

CALLS: dict[str, Any] = {
    "qd_max of a batch": lambda: through(WAY, qd_max=BATCH, qdd_max=1.0),
    "no qdd_max": lambda: through(WAY, [0.0, 1.0], kind="trapezoidal", qdd_max=np.zeros((0, 2))),
    "qddd_max of a batch": lambda: jerk_limited(*WAY, qd_max=1.0, qdd_max=1.0, qddd_max=BATCH),
    "qd_max of a batch of excitations": lambda: exciting_trajectory(ARM, 5.0, 2, qd_max=BATCH, qdd_max=1.0, steps=0),
    "allowed": lambda: exciting_trajectory(ARM, 5.0, 2, qd_max=1.0, qdd_max=1.0, steps=0, allowed=True),  # type: ignore[arg-type]
    "rests": lambda: time_optimal(WAY, limits=LIMITS, rests=0.5),  # type: ignore[arg-type]
    "names": lambda: Trajectory(*RECORD, names="ab"),  # type: ignore[arg-type]
    "events": lambda: Trajectory(*RECORD, events=1),  # type: ignore[arg-type]
    "of": lambda: Trajectory(*RECORD).of(None),  # type: ignore[arg-type]
    "known": lambda: identify(ARM, *NOISE, known=3),  # type: ignore[arg-type]
    "known holds": lambda: identify(ARM, *NOISE, known=[["M1"]]),  # type: ignore[list-item]
    "disabled": lambda: ARM.with_shapes([lw.Shape("link1", "sphere", 0.1, role="collision")]).clearance([0, 0], disabled=1),
    "sweep: mechanism": lambda: Sweep.of(None, "gravity_torque", {}, samples=9),  # type: ignore[arg-type]
    "sweep: over": lambda: Sweep.of(ARM, "gravity_torque", ["payload"], samples=9),  # type: ignore[arg-type]
    "sweep: payload": lambda: Sweep.of(ARM, "gravity_torque", {"payload": 1.0}, samples=9),  # type: ignore[dict-item]
    "sweep: payload in order": lambda: Sweep.of(ARM, "gravity_torque", {"payload": (2.0, 1.0)}, samples=9),
}


@pytest.mark.parametrize("case", CALLS)
def test_is_refused(case: str) -> None:
    if "qddd" in case:
        pytest.importorskip("ruckig")
    with pytest.raises(ArgumentError) as error:
        CALLS[case]()
    print(error.value)
    assert " is " in str(error.value) or " holds " in str(error.value) or " has the shape " in str(error.value)


def test_no_motions_are_a_batch_too() -> None:
    pytest.importorskip("ruckig")
    none = jerk_limited(np.zeros((0, 2)), [1.0, 1.0], qd_max=1.0, qdd_max=1.0, qddd_max=1.0)
    assert none.q.shape == (0, 1, 2)
