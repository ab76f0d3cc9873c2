"""What a motion takes, as far as that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.errors import LinkwiseError
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Trajectory

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism


class Efforts(NamedTuple):
    """Efforts (T, nv), N m or N, or None and why."""

    efforts: FloatArray | None
    why_not: str


def efforts_of(mechanism: Mechanism, motion: Trajectory, external: npt.ArrayLike | None, driven: Any) -> Efforts:
    """The efforts recorded with a motion, else those of inverse dynamics; with loops those of the driven coordinates."""
    if motion.tau is not None:
        return Efforts(motion.tau, "")
    if massless(mechanism):
        return Efforts(None, f"no masses are given for {mechanism.name!r}")
    if not mechanism.loops:
        return Efforts(np.asarray(mechanism.inverse_dynamics(motion.q, motion.qd, motion.qdd, external)), "")
    if driven is None and not mechanism.drives:
        return Efforts(None, f"{mechanism.name!r} has loops and no motors, so it is not said which coordinates drive it")
    try:
        found = mechanism.driven_efforts(motion.q, motion.qd, motion.qdd, driven, external)
    except LinkwiseError as error:
        return Efforts(None, str(error).removeprefix("closed_inverse_dynamics: "))
    return Efforts(found, "")


def massless(mechanism: Mechanism) -> bool:
    """Whether nobody gave any masses, so that the dynamics say nothing."""
    bodies = [*(link.body for link in mechanism.links), mechanism.payload]
    return all(body.is_zero for body in bodies) and not any(drive.motor.mass for drive in mechanism.drives)
