"""Simulations of chains by size: ``python benchmarks/rollouts_by_size.py [--bodies 40 100 400] [--straight 100]``.

Beside each other, where forward dynamics loop over the bodies: steps taken by Python over these, and steps compiled for the
mechanism (``backend="llvm"``), up to so many bodies as ``--straight`` says, for that compiles for minutes beyond. Printed:
the first call of `simulate`, once the looped kernels are in the cache, and then the time of a step of the classical
Runge-Kutta method, for one rollout and for each of 1,000 at once. One core, least of five.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from timing import least, pin_to_one_core, seconds

import linkwise as lw

STEP = 1e-3


def chain(bodies: int, length: float = 0.1) -> lw.Mechanism:
    """Links of 0.1 m, which turn about y and z in turn."""
    before = np.eye(4)
    before[0, 3] = length
    parts = [
        lw.Link(before=before, axis=(0, k % 2, 1), mass=1.0, com=(length / 2, 0, 0), inertia=0.01 * np.eye(3))
        for k in range(bodies)
    ]
    return lw.Mechanism(parts)


def row(bodies: int, backend: str | None) -> None:
    """Print the times for one size and one way."""
    mech = chain(bodies, 0.1 + time.time_ns() % 1000 * 1e-9)  # (a mechanism that no cache knows)
    start = time.perf_counter()
    lw.simulate(mech, np.zeros(bodies), t=(0.02, STEP), backend=backend)
    first = time.perf_counter() - start
    times = []
    for rollouts, steps in ((1, 200), (1000, 10)):
        q = mech.random_configuration(seed=1, count=rollouts)
        once = seconds(lambda q=q, n=steps: lw.simulate(mech, q, t=(n * STEP, STEP), record=n, backend=backend), least=0.0)
        times.append(1e6 * least(once, 5) / steps / rollouts)
    print(f"{bodies:6} {backend or 'looped':8} {first:16.2f} {times[0]:18.2f} {times[1]:18.2f}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, nargs="+", default=[40, 100, 400])
    parser.add_argument("--straight", type=int, default=100, help="most bodies for which steps are compiled")
    options = parser.parse_args()
    pin_to_one_core()
    lw.simulate(chain(50), np.zeros(50), t=(0.002, STEP))
    print(f"{'bodies':>6} {'steps':8} {'first call, s':>16} {'one rollout, us':>18} {'of 1,000, us':>18}")
    for bodies in options.bodies:
        for backend in (None, "llvm"):
            if backend is None or bodies <= options.straight:
                row(bodies, backend)


if __name__ == "__main__":
    main()
