"""Solvers of chains by size: ``python benchmarks/solvers_by_size.py [--bodies 40 100 400] [--compiled 40] [--first 100]``.

For each size the first call on a mechanism that was never seen before, once the looped kernels are in the cache, and the
time of a call after it, of inverse kinematics for one pose, for each of 100 at once, and for a position, and of joint
velocities for a twist; from 0.05 rad beside a solution. Beside it the same iteration compiled for the mechanism
(``backend="llvm"``), up to so many bodies as ``--compiled`` says, and Pinocchio's example of closed-loop inverse kinematics:
a loop of Python over its poses, Jacobians and ``integrate``, damped by 1e-12, here with full steps until the error is below
1e-9. One core, least of five rounds in turn.

The second table holds what the first call of each algorithm takes, and of `solve` with a weight, on a chain and on a tree of
so many bodies as ``--first`` says that were never seen before, once the looped kernels are in the cache. The tree has a
floating base, ball joints, joints that follow others, rotors on links and springs. ``--algorithms`` names some of them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from large_mechanisms import tree
from peers import to_pinocchio
from sizes import chain
from timing import in_turn, pin_to_one_core, seconds

import linkwise as lw
from linkwise.algorithm import ALGORITHMS, find

try:
    import pinocchio as pin
except ImportError:
    pin = None


#: Algorithms that are traced for each mechanism and compile for minutes: second derivatives, and Lagrange's equations, which
#: serve derivations.
TRACED = {f"{stem}_dynamics_{kind}" for stem in ("inverse", "forward") for kind in ("hessian_product", "second_derivatives")}
TRACED |= {"lagrangian", "lagrange_dynamics"}

#: Joints of the longest chain that Pinocchio is given: its data of 1,000 joints take more memory than most machines have.
PEER = 400


def clik(model: Any, data: Any, frame: int, wanted: Any, q: np.ndarray) -> np.ndarray:
    """Pinocchio's example, for a frame."""
    for _ in range(100):
        pin.framesForwardKinematics(model, data, q)
        apart = data.oMf[frame].actInv(wanted)
        error = pin.log6(apart).vector
        if np.linalg.norm(error) < 1e-9:
            return q
        jac = -pin.Jlog6(apart.inverse()) @ pin.computeFrameJacobian(model, data, q, frame)
        q = pin.integrate(model, q, -jac.T @ np.linalg.solve(jac @ jac.T + 1e-12 * np.eye(6), error))
    raise RuntimeError("it did not converge")


def row(bodies: int, *, compiled: bool) -> None:
    """Print the times for one size."""
    mech = chain(bodies, time.time_ns() % 1_000_000_000)  # (a mechanism that no cache knows)
    q = np.random.default_rng(0).uniform(-0.5, 0.5, (100, bodies))
    start, T = q + 0.05, np.array(mech.forward_kinematics(q))
    calls: dict[str, Callable[[], Any]] = {
        "pose": lambda: mech.inverse_kinematics(T[0], q0=start[0]),
        "100 poses": lambda: mech.inverse_kinematics(T, q0=start),
        "position": lambda: mech.inverse_kinematics(T[0], q0=start[0], mask=[1, 1, 1, 0, 0, 0]),
        "joint velocities": lambda: mech.joint_velocities(q[0], [0.1, 0.0, 0.0, 0.0, 0.0, 0.2]),
    }
    if compiled:
        calls["pose, compiled"] = lambda: mech.inverse_kinematics(T[0], q0=start[0], backend="llvm")
        calls["100 poses, compiled"] = lambda: mech.inverse_kinematics(T, q0=start, backend="llvm")
    first = {}
    for name, call in calls.items():
        begun = time.perf_counter()
        if not np.all(call().success):
            raise RuntimeError(f"{bodies} bodies: {name} was not solved")
        first[name] = time.perf_counter() - begun
    if pin is not None and bodies <= PEER:
        model, frame = to_pinocchio(mech)
        data = model.createData()
        pin.framesForwardKinematics(model, data, q[0])
        wanted = data.oMf[frame].copy()
        calls["pose, Pinocchio's loop"] = lambda: clik(model, data, frame, wanted, start[0])
    timed = [seconds(call, least=0.0) for call in calls.values()]
    for name, taken in zip(calls, in_turn(*timed, rounds=5, pick=min), strict=True):
        each = taken / (100 if name.startswith("100") else 1)
        print(f"{bodies:6} {name:24} {first.get(name, float('nan')):14.3f} {1e3 * each:14.3f}", flush=True)


def new_tree(bodies: int) -> lw.Mechanism:
    """Make a tree that no cache knows."""
    return tree(bodies).with_payload(1.0 + time.time_ns() % 1_000_000_000 / 1e9)


def new_chain(bodies: int) -> lw.Mechanism:
    """Make a chain that no cache knows."""
    return chain(bodies, time.time_ns() % 1_000_000_000)


def arguments(mech: lw.Mechanism, name: str) -> list[np.ndarray]:
    """Make random arguments for an algorithm."""
    declared, rng = find(name), np.random.default_rng(0)
    shapes = declared.shapes(mech, declared.inputs)
    moved = {"q": 0, "q0": 0, "q1": 1}
    return [mech.random_configuration(moved[k]) if k in moved else rng.normal(size=shape) for k, shape in shapes.items()]


def weighted(mech: lw.Mechanism) -> Any:
    """Solve for a pose near a posture."""
    q0 = mech.neutral
    pose = mech.forward_kinematics(mech.integrate(q0, np.full(mech.nv, 0.05)))
    return mech.solve([lw.Pose("tool", pose), lw.Posture(q0[mech.nq - mech.n :])], q0=q0)


def first_calls(bodies: int, names: list[str]) -> None:
    """Print the first calls of algorithms, and whether their kernels loop."""
    for new in (new_chain, new_tree):
        for name in names:
            kept, mech = new(bodies), new(bodies)
            for mechanism in (kept, mech):
                args = arguments(mechanism, name)
                begun = time.perf_counter()
                kernel = mechanism.kernel(name)
                kernel(*args)
                taken = time.perf_counter() - begun
            print(f"{mech.name:14} {name:42} {kernel.tier:8} {taken:14.3f}", flush=True)
        weighted(new(bodies))
        mech = new(bodies)
        begun = time.perf_counter()
        weighted(mech)
        print(f"{mech.name:14} {'solve, pose and posture':42} {'':8} {time.perf_counter() - begun:14.3f}", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, nargs="*", default=[40, 100, 400])
    parser.add_argument("--compiled", type=int, default=40, help="most bodies for which the iteration is compiled")
    parser.add_argument("--first", type=int, default=100, help="bodies of the mechanisms of the second table; 0 for none")
    open_ones = [name for name, declared in ALGORITHMS.items() if not declared.needs_loops and name not in TRACED]
    parser.add_argument("--algorithms", nargs="*", default=open_ones, help="those of the second table")
    options = parser.parse_args()
    pin_to_one_core()
    warm = chain(40)
    pose = warm.forward_kinematics(np.full(40, 0.1))
    for mask in (None, [1, 1, 1, 0, 0, 0]):
        warm.inverse_kinematics(pose, q0=np.zeros(40), mask=mask)
    warm.joint_velocities(np.zeros(40), np.zeros(6))
    print(f"{'bodies':>6} {'':24} {'first call, s':>14} {'each, ms':>14}")
    for bodies in options.bodies:
        row(bodies, compiled=bodies <= options.compiled)
    if options.first:
        print(f"\n{'':14} {'first call':42} {'tier':8} {'s':>14}")
        first_calls(options.first, options.algorithms)


if __name__ == "__main__":
    main()
