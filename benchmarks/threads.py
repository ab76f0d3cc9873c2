"""Large batches on several threads beside one: ``python benchmarks/threads.py [--threads 2] [--rounds 7]``.

Each task is timed on one thread and on several in turn, and the least times are compared; that the results are the same
to the last bit is checked before. The first two rows are what the machine itself gives at the time, without Linkwise's way
of dividing a batch: arithmetic in the nearest caches on as many threads, and the sum of two arrays in memory. No program
gains more than the first, and what writes more than it computes gains little more than the second. A large result is new
memory each time, which the system clears before it hands it out; rows with ``out=`` write into the same memory again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
from timing import least, seconds

import linkwise as lw

KERNELS = ("inverse_dynamics", "forward_dynamics", "forward_kinematics", "jacobian", "mass_matrix")
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)


def arrays(result: Any) -> list[Any]:
    """The numbers of a result."""
    if is_dataclass(result):
        parts = [getattr(result, field.name) for field in fields(result)]
        return [part for part in parts if isinstance(part, np.ndarray)]
    return list(result) if isinstance(result, tuple) else [np.asarray(result)]


def compare(name: str, action: Callable[[], Any], rows: int, threads: int, rounds: int) -> None:
    """Print both times of a row and how many times faster several threads are."""

    def on(count: int) -> Callable[[], Any]:
        def act() -> Any:
            with lw.set_threads(count):
                return action()

        return act

    one, many = arrays(on(1)()), arrays(on(threads)())
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, many, strict=True)), name
    timed = [seconds(on(count), least=0.0) for count in (1, threads)]
    samples = [[once() for once in timed] for _ in range(rounds)]
    alone, together = (min(column) for column in zip(*samples, strict=True))
    print_row(name, alone / rows, together / rows)


def print_row(name: str, alone: float, together: float) -> None:
    """Print a row: seconds a configuration on one thread and on several."""
    print(f"{name:58} {alone * 1e9:10.1f} {together * 1e9:10.1f} {alone / together:8.2f}", flush=True)


def machine(threads: int, rows: int, rounds: int) -> None:
    """Print what as many threads gain on arithmetic without memory, and on memory without arithmetic."""
    ufunc = lw.robots.puma560().kernel("inverse_dynamics").ufunc
    calls, few = 100, 15_000  # (calls so long that waiting for Python's lock between them is no part of it)
    one, two, total = np.ones((3, rows, 6))

    def compute(share: int, _: int) -> None:
        q, out = np.broadcast_to(np.ones(6), (few, 6)), np.empty((8, 6))
        out = np.lib.stride_tricks.as_strided(out, (few, 6), (0, 8))  # (few calls, for each waits for Python's lock)
        for _ in range(calls // share):
            ufunc(q, q, q, out=out)

    def add(share: int, k: int) -> None:
        part = slice(rows * k // share, rows * (k + 1) // share)
        np.add(one[part], two[part], out=total[part])

    tasks = {"arithmetic in the cache": (compute, calls * few), f"adding arrays in memory, {rows:,} x 6": (add, rows)}
    with ThreadPoolExecutor(threads) as pool:
        for name, (work, count) in tasks.items():
            alone = least(seconds(lambda work=work: work(1, 0), least=0.0), rounds)
            together = seconds(lambda work=work: list(pool.map(work, [threads] * threads, range(threads))), least=0.0)
            print_row(f"the machine: {name}", alone / count, least(together, rounds) / count)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=1_000_000, help="configurations of a batch")
    options = parser.parse_args()
    threads, rounds, rows = options.threads, options.rounds, options.rows
    rng = np.random.default_rng(0)
    arm = lw.robots.puma560()
    print(f"{'ns a configuration, least of ' + str(rounds):58} {'1 thread':>10} {threads:>2} threads {'ratio':>7}")
    machine(threads, rows, rounds)
    q, qd, qdd = rng.uniform(-2, 2, (3, rows, 6))
    for name in KERNELS:
        kernel = arm.kernel(name)
        args = (q, qd, qdd)[: len(kernel.tape.inputs)]
        action = partial(kernel, *args)
        compare(f"PUMA 560: {name}, {rows:,}", action, rows, threads, rounds)
        compare(f"PUMA 560: {name}, {rows:,}, out=", partial(action, out=action()), rows, threads, rounds)
    for size in SIZES:
        args = (q[:size], qd[:size], qdd[:size])
        compare(f"PUMA 560: inverse_dynamics, {size:,}", lambda args=args: arm.inverse_dynamics(*args), size, threads, 40)
    large(rng, threads, rounds, rows)
    solvers(rng, threads, rounds, rows, arm)


def large(rng: np.random.Generator, threads: int, rounds: int, rows: int) -> None:
    """Print the rows of a tree whose results are large; a tenth of the rows, for a million take 16 GB."""
    try:
        from peers import random_tree
    except ImportError:
        return
    tree, count = random_tree(), rows // 10
    q, qd, qdd = rng.uniform(-1, 1, (3, count, 26))
    for name in ("inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        kernel = tree.kernel(name)
        args = (q, qd, qdd)[: len(kernel.tape.inputs)]
        label = f"26-joint tree: {name}, {count:,}"
        compare(label, lambda kernel=kernel, args=args: kernel(*args), count, threads, rounds)


def solvers(rng: np.random.Generator, threads: int, rounds: int, rows: int, arm: lw.Mechanism) -> None:
    """Print the rows of inverse kinematics and of simulations."""
    for count in (rows // 10, rows):
        poses = arm.forward_kinematics(rng.uniform(0.9 * arm.q_min, 0.9 * arm.q_max, (count, 6)))
        for method in ("numeric", "closed_form"):
            label = f"PUMA 560: inverse_kinematics, {method}, {count:,}"
            compare(label, partial(arm.inverse_kinematics, poses, method=method), count, threads, rounds)
        label = f"PUMA 560: all_inverse_kinematics, {count:,}"
        compare(label, partial(arm.all_inverse_kinematics, poses), count, threads, rounds)
        begun, steps = rng.uniform(-1, 1, (count // 200, 6)), 200
        label = f"PUMA 560: simulate, {len(begun):,} of {steps} steps (ns a step)"
        compare(label, partial(lw.simulate, arm, begun, t=(0.2, 1e-3)), len(begun) * steps, threads, rounds)


if __name__ == "__main__":
    main()
