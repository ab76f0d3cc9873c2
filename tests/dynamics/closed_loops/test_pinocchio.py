"""Closed loops in Pinocchio, which has its own equations, its own solver and its own description of what is closed.

Its constrained dynamics (J. Carpentier, R. Budhiraja, N. Mansard, "Proximal and sparse resolution of constrained dynamic
equations", RSS 2021) iterate, with mu = 1e-8, until nothing changes any more; what is left of the constraints is about mu
times the forces over the least eigenvalue of J inverse(M) J', to the power of the iterations: below rounding after a few. A
hinge is two points on its axis there, whose equation along the axis is said twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism, robots
from support.random_linkages import bennett, closed_state, cut, near_zero, random_loop

pin = pytest.importorskip("pinocchio", exc_type=ImportError)
pytestmark = pytest.mark.usefixtures("uncompiled")

MIXED = ["revolute", "prismatic", "screw", "revolute", "prismatic", "revolute", "prismatic"]
BUNDLED = ["four_bar", "slider_crank", "five_bar", "stewart"]
CASES = {
    "full": lambda: random_loop(21, "full", MIXED, motor=False),
    "hinge": lambda: random_loop(22, "hinge", MIXED[:6], motor=False),
    "floating": lambda: random_loop(23, "point", ["revolute"] * 4, motor=False, floating=True),
    "bennett": bennett,
    **{name: lambda name=name: beside_zero(robots.load(name).replace()) for name in BUNDLED},
}


def beside_zero(mech: Mechanism) -> tuple[Mechanism, np.ndarray]:
    return mech, near_zero(mech)


def constrained(mech: Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, list[np.ndarray], Any]:
    """Pinocchio's accelerations, for each loop the force and moment on its second link, in F1's axes; and its model."""
    from support.pinocchio_model import Twin

    twin, models, datas = Twin(cut(mech)), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    index = {"base": -1} | {name: k for k, name in enumerate(mech.link_names)}
    for loop in mech.loops:
        ends = []
        for name, frame in ((loop.first, loop.first_frame), (loop.second, loop.second_frame)):
            joint, pose = twin.carried[index[name]]
            ends.append((joint, pose @ frame))
        for along in (0.0, 1.0) if loop.kind == "hinge" else (0.0,):
            shift = np.eye(4)
            shift[2, 3] = along
            kind = pin.ContactType.CONTACT_6D if loop.kind == "full" else pin.ContactType.CONTACT_3D
            placed = [word for joint, pose in ends for word in (joint, pin.SE3(pose @ shift))]
            models.append(pin.RigidConstraintModel(kind, twin.model, *placed, pin.ReferenceFrame.LOCAL))
            datas.append(models[-1].createData())
    pin.initConstraintDynamics(twin.model, twin.data, models, datas)
    settings = pin.ProximalSettings(1e-15, 1e-15, 1e-8, 60)
    state = (twin.at(q), twin.to(qd), twin.to(tau))
    qdd = pin.constraintDynamics(twin.model, twin.data, *state, models, datas, settings)
    found = [-data.contact_force.vector for data in datas]  # on the first link
    forces = []
    for loop in mech.loops:
        one = found.pop(0)
        if loop.kind == "hinge":
            two = found.pop(0)[:3]
            one = np.concatenate([one[:3] + two, np.cross([0.0, 0.0, 1.0], two)[:2]])
        forces.append(one[: {"full": 6, "point": 3, "hinge": 5}[loop.kind]])
    return twin.back(qdd), forces, (twin, models, datas, settings)


@pytest.mark.parametrize("name", CASES)
def test_accelerations_and_forces(name: str) -> None:
    mech, q = CASES[name]()
    qd, tau = closed_state(mech, q, 3)
    qdd, forces = mech.kernel("closed_forward_dynamics", backend="numpy")(q, qd, tau)
    expected, theirs, _ = constrained(mech, q, qd, tau)
    error = np.abs(qdd - expected).max() / (1 + np.abs(expected).max())
    jac = mech.kernel("closure_jacobian")(q)
    held = jac.T @ np.concatenate(theirs)
    missed = np.abs(jac.T @ forces - held).max() / (1 + np.abs(held).max())
    print(f"{name}: accelerations {error:.1e}, efforts of the loops' forces {missed:.1e}")
    # rounding times the condition of J inverse(M) J', up to 1e4 here; seen: 1e-13
    assert error < 1e-10
    assert missed < 1e-10
    if len(np.linalg.svd(jac)[1]) == np.linalg.matrix_rank(jac, 1e-9) == len(jac):  # nothing is undetermined
        size = np.abs(forces).max()
        assert np.abs(forces - np.concatenate(theirs)).max() < 1e-10 * (1 + size)
    else:
        assert name in {"bennett", "four_bar", "slider_crank", "five_bar"}


def test_derivatives_of_accelerations() -> None:
    """In all directions, those that open the loop too; Pinocchio has them for rigid connections in a loop."""
    mech, q = CASES["full"]()
    qd, tau = closed_state(mech, q, 3)
    *_, (twin, models, datas, settings) = constrained(mech, q, qd, tau)
    tables = pin.computeConstraintDynamicsDerivatives(twin.model, twin.data, models, datas, settings)[:3]
    found = mech.kernel("forward_dynamics_derivatives", backend="numpy")(q, qd, tau)
    errors = [
        np.abs(ours - theirs[np.ix_(twin.place, twin.place)]).max() / np.abs(ours).max()
        for ours, theirs in zip(found, tables, strict=True)
    ]
    print([f"{error:.1e}" for error in errors])
    # rounding times the condition of J inverse(M) J', up to 1e4 here; seen: 1e-13
    assert max(errors) < 1e-10
