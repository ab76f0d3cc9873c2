"""What turns the momenta of motors of joints with quaternions, in steps: `linkwise.dynamics.recursions.rotor_coriolis`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise.model.joints import Joint
from linkwise.spatial.scalar import Array
from linkwise.sweeps.drivers import Row, Sweeps


def add_turning_efforts(sweeps: Sweeps, array: str, sense: float = 1.0) -> None:
    """Add C qd to an array (nv,), or take it off."""

    def effort(body: Row, joint: Joint, reflected: Array, qd: Array) -> None:
        body.write(array, sense * joint.coadjoint(qd, reflected * qd), "v", add=True)

    _turning(sweeps, effort)


def add_turning_coriolis(sweeps: Sweeps, array: str, *, slope: bool = False) -> None:
    """Add C to an array (nv, nv), or the derivative of C qd by qd."""

    def block(body: Row, joint: Joint, reflected: Array, qd: Array) -> None:
        columns = [joint.coadjoint(unit, reflected * qd) for unit in np.eye(len(qd))]
        if slope:
            momenta = np.diag(reflected)
            columns = [a + joint.coadjoint(qd, momentum) for a, momentum in zip(columns, momenta, strict=True)]
        body.write(array, np.stack(columns, axis=1), "v v", add=True)

    _turning(sweeps, block)


def _turning(sweeps: Sweeps, step: Callable[[Row, Joint, Array, Array], None]) -> None:
    """Run a step on bodies of joints with quaternions, with their reflected inertias (nv,) and velocities (nv,)."""

    def outward(body: Row) -> None:
        if body.kind.joint is not None:
            step(body, body.kind.joint, body.read("armature"), body.read("qd"))

    sweeps.temporary("armature", "nv")
    sweeps.outward(lambda body: body.write("armature", [0.0] * body.kind.nv, "v"))
    sweeps.outward(lambda motor: motor.write("armature", motor.number("reflected"), "v", add=True), "motors")
    sweeps.outward(outward)
