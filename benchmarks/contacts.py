"""Dynamics with contacts beside Pinocchio in one process: ``python benchmarks/contacts.py``.

A humanoid of 32 velocities stands on two feet that are held as frames. Pinocchio's `constraintDynamics`, its derivatives,
`impulseDynamics`, and the Jacobian and Delassus matrix of the contacts are called from Python for each configuration. Both
must agree to 1e-9 before anything is timed; each row is a ratio of medians measured in turn, on one core. In a batch of
compiled functions the results go into arrays that are there already, as many as fit into a core's cache.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np

try:
    import pinocchio as pin
except ImportError:
    sys.exit("this benchmark needs Pinocchio: pip install '.[peers]'")
from peers import random_tree
from timing import in_turn, per_call, pin_to_one_core, row, seconds

import linkwise as lw
from dynamics import Batch
from linkwise.dynamics import Contact, Contacts
from support.pinocchio_model import Twin

BATCH, LOOP = 2_000, 500
"""Configurations of a batch, and of one pass of a Python loop over Pinocchio."""


def humanoid() -> lw.Mechanism:
    """The tree of `random_tree` on a trunk that floats."""
    trunk = lw.Link(name="trunk", joint="fixed", parent="base", mass=10.0, inertia=(0.3, 0.4, 0.4))
    limbs = [link.replace(parent="trunk") if link.parent == "base" else link for link in random_tree().links]
    return lw.Mechanism([trunk, *limbs], floating=True, name="humanoid")


class Pair:
    """The humanoid on both sides, with random states in which the feet are at rest."""

    def __init__(self) -> None:
        self.mech = humanoid()
        twin = Twin(self.mech)
        self.model, self.data = twin.model, twin.data
        soles = ("lleg6_joint", "rleg6_joint")
        self.feet = Contacts(self.mech, [Contact(name, name, kind="frame") for name in soles])
        self.models = pin.StdVec_RigidConstraintModel()
        self.datas = pin.StdVec_RigidConstraintData()
        for name in soles:
            frame = self.model.frames[self.model.getFrameId(f"{name}_frame")]
            kind = pin.ContactType.CONTACT_6D
            held = pin.RigidConstraintModel(kind, self.model, frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED)
            self.models.append(held)
            self.datas.append(held.createData())
        pin.initConstraintDynamics(self.model, self.data, self.models, self.datas)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)
        rng, nv = np.random.default_rng(0), self.mech.nv
        self.q = np.array([self.mech.random_configuration(k) for k in range(BATCH)])
        self.arriving, self.tau = rng.normal(size=(2, BATCH, nv))
        self.qd, _ = self.feet.impact(self.q, self.arriving)
        self.place = twin.place
        theirs = [np.zeros((BATCH, nv)) for _ in range(3)]
        for array, ours in zip(theirs, (self.qd, self.tau, self.arriving), strict=True):
            array[:, self.place] = ours
        self.theirs = (np.array([twin.at(q) for q in self.q]), *theirs)

    def constrained(self, k: int) -> np.ndarray:
        q, qd, tau, _ = self.theirs
        state = self.model, self.data, q[k], qd[k], tau[k]
        return pin.constraintDynamics(*state, self.models, self.datas, self.settings)

    def derivatives(self, k: int) -> tuple[np.ndarray, ...]:
        self.constrained(k)
        return pin.computeConstraintDynamicsDerivatives(self.model, self.data, self.models, self.datas, self.settings)

    def impact(self, k: int) -> np.ndarray:
        state = self.model, self.data, self.theirs[0][k], self.theirs[3][k]
        return pin.impulseDynamics(*state, self.models, self.datas, 0.0, self.settings)

    def delassus(self, k: int) -> np.ndarray:
        return pin.computeDelassusMatrix(self.model, self.data, self.theirs[0][k], self.models, self.datas)

    def axes(self) -> np.ndarray:
        """The axes of the feet of the last configuration, in which Pinocchio's Delassus matrix is, in the world (12, 12)."""
        whole = np.zeros((12, 12))
        for k, model in enumerate(self.models):
            turn = self.data.oMi[model.joint1_id].rotation @ model.joint1_placement.rotation
            for start in (6 * k, 6 * k + 3):
                whole[start : start + 3, start : start + 3] = turn
        return whole

    def jacobian(self, k: int) -> np.ndarray:
        pin.computeJointJacobians(self.model, self.data, self.theirs[0][k])
        return pin.getConstraintsJacobian(self.model, self.data, self.models, self.datas)


ROWS = {
    "forward_dynamics": ("constrained", "qd, tau"),
    "forward_dynamics_derivatives": ("derivatives", "qd, tau"),
    "impact": ("impact", "arriving"),
    "jacobian": ("jacobian", ""),
    "delassus": ("delassus", ""),
}
"""By method of `Contacts`: the one of `Pair` that is Pinocchio's, and the arguments after q."""


def agreement(pair: Pair) -> float:
    """Greatest relative difference over some states, of rows and columns in one order."""
    worst, at = 0.0, pair.place

    def difference(theirs: np.ndarray, ours: np.ndarray) -> float:
        return float(np.abs(theirs - ours).max() / np.abs(ours).max())

    for k in range(20):
        q, qd, tau, arriving = pair.q[k], pair.qd[k], pair.tau[k], pair.arriving[k]
        made = pair.feet.forward_dynamics_derivatives(q, qd, tau)
        theirs = pair.derivatives(k)
        square = np.ix_(at, at)
        worst = max(
            worst,
            difference(pair.constrained(k)[at], pair.feet.forward_dynamics(q, qd, tau)[0]),
            difference(pair.impact(k)[at], pair.feet.impact(q, arriving)[0]),
            difference(pair.axes() @ pair.delassus(k) @ pair.axes().T, pair.feet.delassus(q)),
            difference(pair.jacobian(k)[:, at], pair.feet.jacobian(q)),
            *(difference(theirs[j][square], table) for j, table in enumerate((made.dqdd_dq, made.dqdd_dqd, made.dqdd_dtau))),
        )
    return worst


def loop(peer: Callable[[int], object]) -> Callable[[], None]:
    """A loop over Pinocchio that keeps all results."""
    kept: list[object] = [None] * LOOP

    def run() -> None:
        for k in range(LOOP):
            kept[k] = peer(k)

    return run


def main() -> None:
    pin_to_one_core()
    pair = Pair()
    difference = agreement(pair)
    print(f"Pinocchio {pin.__version__}, NumPy {np.__version__}\n")
    print(f"{pair.mech.name}: greatest relative difference {difference:.1e}")
    assert difference < 1e-9
    print(f"\n{'':58} {'Pinocchio':>12} {'Linkwise':>12} {'ratio':>8}   at least / aim")
    names: dict[str, object] = {"pair": pair, "feet": pair.feet, "q": pair.q[0].copy()}
    for field in ("qd", "tau", "arriving"):
        names[field] = getattr(pair, field)[0].copy()
    ones, zeros = np.ones((BATCH, 2)), np.zeros((BATCH, 2))
    for name, (peer, rest) in ROWS.items():
        inputs = [pair.q, *(getattr(pair, field) for field in rest.split(", ") if field)]
        if name == "forward_dynamics_derivatives":
            count, few = LOOP, [array[:LOOP] for array in inputs]
            mine = seconds(lambda few=few: pair.feet.forward_dynamics_derivatives(*few))
        else:
            switches = {"forward_dynamics": [ones, zeros], "impact": [ones, zeros]}.get(name, [])
            batch = Batch(pair.feet.kernel(name), [*inputs, *switches])
            count, mine = batch.count, batch.timed()
        times = in_turn(seconds(loop(getattr(pair, peer))), mine, rounds=9)
        row(f"humanoid on two feet: {name}, batch", times[0] / LOOP, times[1] / count, 20, 60)
    for name, (peer, rest) in ROWS.items():
        mine = f"feet.{name}(q{', ' if rest else ''}{rest})"
        times = in_turn(per_call(f"pair.{peer}(0)", names, 1000), per_call(mine, names, 1000), rounds=9)
        row(f"humanoid on two feet: {name}, one call", *times, 2, 5)


if __name__ == "__main__":
    main()
