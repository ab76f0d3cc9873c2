"""Numeric inverse kinematics beside the Robotics Toolbox's compiled Levenberg-Marquardt, on one core, in the same run.

``python benchmarks/inverse_kinematics.py [--targets 10000] [--million]``. Targets are the poses of uniformly random joint
positions; both start from the same position, with the joint limits on. Every claim is checked by a product of 4x4 matrices
written here in NumPy, which shares nothing with the solvers. ``--million`` checks a million targets of mechanisms with
random tables, bases, tools and limits too. The Robotics Toolbox is measured where ``roboticstoolbox-python`` is installed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import pin_to_one_core

import linkwise as lw
from linkwise.solve.joint_limits import start_position
from linkwise.spatial.transform import dh_modified, dh_standard

TOLERANCES = (1e-6, 1e-9)

ROUNDING = 2e-13
"""What the plain product of matrices may round beside the solver's own forward pass, m and rad."""


def arms() -> dict[str, lw.Mechanism]:
    """The arms that are measured; a UR5 turns one turn only, as it is delivered."""
    ur5 = lw.robots.ur5()
    links = [link.replace(limits=(-np.pi, np.pi), dh_row=link.dh_row) for link in ur5.links]
    return {"puma560": lw.robots.puma560(), "ur5": ur5.replace(links=links), "panda": lw.robots.panda()}


def forward(mech: lw.Mechanism, q: np.ndarray) -> np.ndarray:
    """Poses (N, 4, 4) as the plain product of the link matrices."""
    T = np.broadcast_to(np.asarray(mech.base), (len(q), 4, 4))
    for k, link in enumerate(mech.links):
        J = np.broadcast_to(np.eye(4), T.shape).copy()
        x, y, z = np.asarray(link.axis) / np.linalg.norm(link.axis)
        own = q[:, mech.coordinates[k]] + link.offset if link.moves else np.zeros(len(q))
        if link.joint == "revolute":
            c, s = np.cos(own), np.sin(own)
            K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            J[:, :3, :3] = np.eye(3) + s[:, None, None] * K + (1 - c)[:, None, None] * (K @ K)
        elif link.joint == "prismatic":
            J[:, :3, 3] = own[:, None] * np.array([x, y, z])
        T = T @ link.before @ J @ link.after
    return T @ mech.tool


def gaps(mech: lw.Mechanism, q: np.ndarray, T: np.ndarray) -> np.ndarray:
    """The greater (N,) of distance (m) and angle (rad) from the targets."""
    found = forward(mech, q)
    distance = np.linalg.norm(found[:, :3, 3] - T[:, :3, 3], axis=1)
    chord = np.linalg.norm(found[:, :3, :3] - T[:, :3, :3], axis=(1, 2)) / np.sqrt(8.0)
    return np.maximum(distance, 2 * np.arcsin(np.minimum(1.0, chord)))


def report(name: str, mech: lw.Mechanism, T: np.ndarray, q: np.ndarray, claimed: np.ndarray, tol: float, times: str) -> None:
    """One line: what was solved within the limits, to which tolerance, and what was claimed falsely to its own."""
    gap = gaps(mech, q, T)
    within = ((q >= mech.q_min) & (q <= mech.q_max)).all(axis=1)
    solved = [100 * np.mean((gap <= size) & within) for size in TOLERANCES]
    false = int(np.sum(claimed & ~((gap <= 1.001 * tol + ROUNDING) & within)))
    print(f"  {name:34} {solved[0]:8.3f} % {solved[1]:8.3f} % {false:7d}   {times}", flush=True)


def singles(call: Callable[[Any], Any], T: np.ndarray, count: int = 1000) -> float:
    """Median seconds of one call."""
    found = []
    for target in T[:count]:
        begin = time.perf_counter()
        call(target)
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def ours(mech: lw.Mechanism, T: np.ndarray) -> float:
    """Measure Linkwise; seconds of one call."""
    start = start_position(mech)
    mech.inverse_kinematics(T[:100], q0=start, method="numeric")
    best = np.inf
    for _ in range(5):
        begin = time.perf_counter()
        found = mech.inverse_kinematics(T, q0=start, method="numeric")
        best = min(best, time.perf_counter() - begin)
    single = singles(lambda target: mech.inverse_kinematics(target, q0=start, method="numeric"), T)
    times = f"{best / len(T) * 1e6:8.2f} us {single * 1e6:8.1f} us"
    report("Linkwise, damped least squares", mech, T, found.q, found.success, 1e-9, times)
    return single


def toolbox(mech: lw.Mechanism, T: np.ndarray) -> float | None:
    """Measure the Robotics Toolbox; seconds of one call, None where it is not installed."""
    try:
        import roboticstoolbox as rtb
    except ImportError:
        print("  (roboticstoolbox-python is not installed)")
        return None
    links = []
    for link, low, high in zip(mech.links, mech.q_min, mech.q_max, strict=True):
        row = link.dh_row
        kind = rtb.RevoluteDH if row.convention == "standard" else rtb.RevoluteMDH
        links.append(kind(d=row.d, a=row.a, alpha=row.alpha, offset=row.theta + link.offset, qlim=[low, high]))
    ets = rtb.DHRobot(links).ets()
    tool, base = np.asarray(mech.tool), np.asarray(mech.base)
    q = np.linspace(0.1, 0.7, mech.n)
    assert np.allclose(base @ ets.fkine(q).A @ tool, mech.forward_kinematics(q), atol=1e-9), "the same arm"
    bare = np.linalg.inv(base) @ T @ np.linalg.inv(tool)
    start = start_position(mech)
    count = min(len(T), 2000)
    answers = [ets.ik_LM(target, q0=start, tol=1e-13) for target in bare[:count]]
    q, claimed = np.array([a.q for a in answers]), np.array([bool(a.success) for a in answers])
    single = singles(lambda target: ets.ik_LM(target, q0=start, tol=1e-13), bare)
    times = f"{'-':>8}    {single * 1e6:8.1f} us   (first {count})"
    report("Robotics Toolbox ik_LM, tol 1e-13", mech, T[:count], q, claimed, 1e-6, times)
    return single


def million() -> None:
    """A million targets of random mechanisms: tables, bases, tools, limits."""
    rng = np.random.default_rng(20261122)
    total = solved = false = outside = 0
    reasons: dict[str, int] = {}
    begin = time.perf_counter()
    for _ in range(50):
        n = int(rng.integers(6, 8))
        convention = str(rng.choice(["standard", "modified"]))
        alphas = rng.choice([0.0, np.pi / 2, -np.pi / 2, 0.7], n)
        links = [
            lw.Link.dh(
                theta=rng.normal(), d=0.3 * rng.normal(), a=0.3 * rng.normal(), alpha=alphas[k], convention=convention,
                joint="prismatic" if rng.random() < 0.1 else "revolute", limits=sorted(rng.uniform(-3.0, 3.0, 2)),
            )
            for k in range(n)
        ]  # fmt: skip
        base, tool = (random_pose(rng) for _ in range(2))
        mech = lw.Mechanism(links, base=base, tool=tool)
        T = forward(mech, rng.uniform(mech.q_min, mech.q_max, (20_000, n)))
        found = mech.inverse_kinematics(T, method="numeric")
        gap = gaps(mech, found.q, T)
        within = ((found.q >= mech.q_min) & (found.q <= mech.q_max)).all(axis=1)
        total, solved = total + len(T), solved + int(found.success.sum())
        false += int(np.sum(found.success & ~(gap <= 1.001e-9 + ROUNDING)))
        outside += int(np.sum(~within))
        for word, count in zip(*np.unique(found.reason, return_counts=True), strict=True):
            reasons[str(word)] = reasons.get(str(word), 0) + int(count)
    print(f"{total} targets of 50 random mechanisms: {solved} solved, {false} false claims, {outside} outside limits,")
    print(f"  reasons {reasons}, {(time.perf_counter() - begin) / total * 1e6:.1f} us each, compilation included")


def random_pose(rng: np.random.Generator) -> np.ndarray:
    """A rigid transform: a product of two rows of a table."""
    t, d, a, b = rng.uniform(-1.0, 1.0, 4)
    return np.asarray(dh_standard(3 * t, d, a, 3 * b) @ dh_modified(3 * b, d, a, 3 * t), dtype=float)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--million", action="store_true")
    options = parser.parse_args()
    pin_to_one_core()
    print(f"{'':36} {'to 1e-6':>10} {'to 1e-9':>10} {'false':>7}   {'batch':>8}    {'one call':>8}")
    for name, mech in arms().items():
        low, high = mech.q_min, mech.q_max
        T = forward(mech, np.random.default_rng(20240601).uniform(low, high, (options.targets, mech.n)))
        print(f"{name}: {options.targets} targets, limits on, from the start position")
        mine, theirs = ours(mech, T), toolbox(mech, T)
        if theirs is not None:
            print(f"  one call, Robotics Toolbox / Linkwise: {theirs / mine:.1f}x")
    if options.million:
        million()


if __name__ == "__main__":
    main()
