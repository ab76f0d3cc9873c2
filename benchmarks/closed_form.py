"""Every solution of inverse kinematics by a closed form: time per target in a batch, and for one target from Python.

Targets are reached by joint angles at random within the limits; solutions are filtered by the limits and ordered. Where eaik
(PyPI) is installed, its time for the same targets stands beside: it gives unfiltered angles, and is not checked here.

    python benchmarks/closed_form.py
    python benchmarks/closed_form.py --general   # arms without a closed form, by elimination
    python benchmarks/closed_form.py --redundant # the Panda with 64 values of a joint, and what compiling elimination takes
    python benchmarks/closed_form.py --sets      # the sets of solutions beside those of eaik and ssik (PyPI)
    python benchmarks/closed_form.py --planted   # angles at random of the six-joint arms that ssik (PyPI) knows, found again
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
from timing import least, per_call, pin_to_one_core, seconds

import linkwise as lw
from linkwise.inverse_kinematics.closed_form import closed_form, elimination
from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of

TARGETS = 10_000

#: Sliding joints are within this, m.
WAY = 0.5

FLOOR, AIM = {"batch": 2.0, "one": 15.0}, {"batch": 0.5, "one": 6.0}
"""Microseconds per target: at most, and aimed at."""


def main() -> None:
    """Print a table."""
    pin_to_one_core()
    print(f"{'robot':10} {'what':34} {'us':>8}   at most / aim")
    for name in ("puma560", "ur5"):
        arm = getattr(lw.robots, name)()
        rng = np.random.default_rng(0)
        low, high = arm.q_min, arm.q_max
        q = rng.uniform(low, high, (TARGETS, arm.n))
        T = arm.forward_kinematics(q)
        form = closed_form(arm)
        found: Any = form.all(T)
        away = np.remainder(found.q - q[:, None] + np.pi, 2.0 * np.pi) - np.pi
        wrong = np.flatnonzero(np.nanmin(np.abs(away).max(axis=-1), axis=-1) > 1e-6)
        reached = np.abs(arm.forward_kinematics(np.nan_to_num(found.q)) - T[:, None]).max(axis=(-2, -1))
        print(f"{name:10} {form.family}; {found.count.mean():.2f} solutions a target within the limits,")
        print(
            f"{'':10} greatest error {reached[~np.isnan(found.q[..., 0])].max():.1e}, angles not found again: {len(wrong)}"
        )
        _row(name, "batch, all solutions", least(seconds(lambda f=form, t=T: f.all(t))) / TARGETS, "batch")
        _row(name, "batch, the nearest one", least(seconds(lambda f=form, t=T: f.nearest(t))) / TARGETS, "batch")
        one = per_call("form.all(T)", {"form": form, "T": T[0].copy()}, 2000)
        _row(name, "one target, ClosedForm.all", least(one), "one")
        peer, T = _eaik(arm), T @ _product_of_exponentials(arm)[2]
        if peer is not None:
            _row(name, "eaik, batch", least(seconds(lambda p=peer, t=T: p.IK_batched(t)), 5) / TARGETS, "batch")
            _row(
                name,
                "eaik, one target, not filtered",
                least(per_call("p.IK(T)", {"p": peer, "T": T[0].copy()}, 500), 5),
                "one",
            )


def general() -> None:
    """Print a table of arms that are solved by elimination."""
    pin_to_one_core()
    print(
        f"{'arm':14} {'complete':>9} {'not found':>10} {'called complete':>16} {'us, batch':>10} {'us, one':>9} {'worst':>9}"
    )
    for name, arm in _general_arms().items():
        q = np.random.default_rng(0).uniform(-math.pi, math.pi, (TARGETS, arm.n))
        slides = np.asarray(arm.is_length)
        q[:, slides] *= WAY / math.pi
        T = arm.forward_kinematics(q)
        solver: Any = elimination(arm)
        found = solver.all(T, limits=False)
        away = found.q - q[:, None]
        away[..., ~slides] = np.remainder(away[..., ~slides] + np.pi, 2.0 * np.pi) - np.pi
        missed = ~(np.nanmin(np.where(np.isnan(away), np.inf, np.abs(away)).max(axis=-1), axis=-1) < 1e-5)
        reached = np.abs(arm.forward_kinematics(np.nan_to_num(found.q)) - T[:, None]).max(axis=(-2, -1))
        batch = least(seconds(lambda s=solver, t=T: s.all(t, limits=False)), 3) / TARGETS
        one = least(per_call("s.all(T, limits=False)", {"s": solver, "T": T[0].copy()}, 50))
        print(
            f"{name:14} {100.0 * found.complete.mean():8.2f}% {missed.sum():10} {(missed & found.complete).sum():16}"
            f" {1e6 * batch:10.1f} {1e6 * one:9.0f} {reached[~np.isnan(found.q[..., 0])].max():9.1e}"
        )


#: Poses of a redundant arm.
REDUNDANT_POSES = 1000


def redundant() -> None:
    """Print the time of a pose with 64 values of a redundant joint, and the processor time of compiling for any arm."""
    pin_to_one_core()
    arm = lw.robots.panda()
    T = arm.forward_kinematics(np.random.default_rng(0).uniform(arm.q_min, arm.q_max, (REDUNDANT_POSES, arm.n)))
    for joint in ("link7", "link5"):
        for limits in (True, False):
            run = partial(arm.all_inverse_kinematics, T, redundancy={joint: 64}, limits=limits)
            count = run().count.sum() / REDUNDANT_POSES
            time = 1e6 * least(seconds(run), 5) / REDUNDANT_POSES
            print(f"panda, 64 values of {joint}, limits {limits!s:5} {count:7.1f} solutions {time:8.1f} us a pose")
    os.environ["LINKWISE_CACHE_DIR"] = ""
    begin = process_time()
    solver: Any = elimination(_general_arms()["random 0"])
    T = solver.mechanism.forward_kinematics(np.zeros((2, 6)))
    solver.all(T, limits=False)
    solver.all(T[0], limits=False)
    print(f"elimination compiled, and an arm made ready: {process_time() - begin:.2f} s of the processor")


#: Poses of an arm whose sets are compared, and what counts: a solution misses its pose by less than WRONG (m, and elements
#: of the rotation), is in a set that has one within SAME, and is listed twice with another within TWICE (rad). Near a
#: singular wrist, within 1e-4 rad, a row that misses by 5e-7 is up to 3e-3 rad from the solution: it counts as one
#: that others lack.
POSES, WRONG, SAME, TWICE = 500, 1e-6, 1e-3, 1e-6


def sets() -> None:
    """Print, for each bundled arm of six revolute joints, how the sets of three solvers differ, and who is right."""
    pin_to_one_core()
    print("missing: confirmed solutions of another that are not in a set; wrong: listed ones that miss the pose by 1e-6")
    print(
        f"{'arm':14} {'solver':10} {'a pose':>7} {'missing':>8} {'poses':>6}"
        f" {'wrong':>6} {'twice':>6} {'us, batch':>10} {'us, one':>8}"
    )
    for name in lw.robots.names():
        arm = lw.robots.load(name)
        chain = chain_of(arm)[0] if isinstance(arm, lw.Mechanism) else None
        if chain is None or arm.n != 6 or len(chain) != 6 or any(chain.translates):
            continue
        q = np.random.default_rng(0).uniform(-math.pi, math.pi, (POSES, 6))
        axes, offsets, unturned = _product_of_exponentials(arm)
        T = arm.forward_kinematics(q) @ unturned
        listed = {solver: find(T) for solver, find in _solvers(arm, axes, offsets, np.linalg.inv(unturned)).items()}
        right = {
            solver: [_confirmed(axes, offsets, q, t) for q, t in zip(rows, T, strict=True)]
            for solver, (rows, *_) in listed.items()
        }
        for solver, (rows, batch, one) in listed.items():
            lost = [sum(_absent(mine, others[k]) for others in right.values()) for k, mine in enumerate(right[solver])]
            wrong = sum(map(len, rows)) - sum(map(len, right[solver]))
            twice = sum(int((_apart(q, q)[np.triu_indices(len(q), 1)] < TWICE).sum()) for q in right[solver])
            size = np.mean([len(q) for q in right[solver]])
            counts = f"{sum(lost):8} {np.count_nonzero(lost):6} {wrong:6} {twice:6}"
            print(
                f"{name:14} {solver:10} {size:7.3f} {counts} {1e6 * batch:10.2f} {1e6 * one:8.1f}",
                flush=True,
            )


#: Angles of each arm that are to be found again, in calls of at most so many poses.
PLANTED, CALL = 20_000, 2_000


def planted() -> None:
    """Print, for each arm of six joints that ssik lists, how many angles at random are not found again."""
    from ssik import Manipulator, list_arms

    pin_to_one_core()
    print(f"{'arm':22} {'poses':>6} {'missing':>8} {'called complete':>16} {'complete, %':>12} {'error':>9} {'us':>7}")
    total = np.zeros(3, dtype=int)
    for entry in list_arms():
        if entry.dof != 6:
            continue
        joints = Manipulator.from_prebuilt(entry.name).kinbody.joints
        links = [
            lw.Link(name=joint.name, before=joint.T_left, axis=joint.axis, after=joint.T_right, limits=joint.limits)
            for joint in joints
        ]
        arm, rng = lw.Mechanism(links, name=entry.name), np.random.default_rng(0)
        missing, lying, complete, error, time = 0, 0, 0, 0.0, 0.0
        arm.all_inverse_kinematics(arm.forward_kinematics(np.zeros((16, 6))), limits=False)  # (compiles)
        for _ in range(PLANTED // CALL):
            q = rng.uniform(np.maximum(arm.q_min, -math.pi), np.minimum(arm.q_max, math.pi), (CALL, 6))
            T = arm.forward_kinematics(q)
            begin = process_time()
            found: Any = arm.all_inverse_kinematics(T, limits=False)
            time += process_time() - begin
            listed = ~np.isnan(found.q[..., 0])
            away = np.abs(np.remainder(found.q - q[:, None] + math.pi, 2.0 * math.pi) - math.pi).max(axis=-1)
            absent = ~(np.where(listed, away, np.inf) < SAME).any(axis=-1)
            reached = np.abs(arm.forward_kinematics(np.nan_to_num(found.q)) - T[:, None]).max(axis=(-2, -1))
            missing += int(absent.sum())
            lying += int((absent & found.complete).sum())
            complete += int(found.complete.sum())
            error = max(error, float(reached[listed].max()))
        total += (PLANTED, missing, lying)
        share = 100.0 * complete / PLANTED
        print(
            f"{entry.name:22} {PLANTED:6} {missing:8} {lying:16} {share:12.2f} {error:9.1e} {1e6 * time / PLANTED:7.2f}",
            flush=True,
        )
    print(f"{'all':22} {total[0]:6} {total[1]:8} {total[2]:16}")


def _solvers(arm: lw.Mechanism, axes: Any, offsets: Any, end: Any) -> dict[str, Callable[[Any], Any]]:
    """By name, what gives the rows of each pose, and the time of a pose in a batch and alone; those that are installed."""

    def linkwise(T: Any) -> Any:
        T, chain = T @ end, chain_of(arm)[0]
        run = partial(arm.all_inverse_kinematics, T, limits=False)
        rows = [q * chain.ratios + chain.shifts for q in run()]
        one = per_call("a.all_inverse_kinematics(T, limits=False)", {"a": arm, "T": T[0].copy()}, 50)
        return rows, least(seconds(run), 3) / len(T), least(one, 3)

    solvers = {"linkwise": linkwise}
    peer = _eaik(arm)
    if peer is not None and peer.hasKnownDecomposition():

        def eaik(T: Any) -> Any:
            rows = []
            for answers in peer.IK_batched(T, 1):
                least_squares = np.asarray(answers.is_LS, dtype=bool).reshape(-1)
                rows.append(np.asarray(answers.Q).reshape(-1, 6)[~least_squares])
            batch = least(seconds(lambda: peer.IK_batched(T, 1)), 3) / len(T)
            return rows, batch, least(per_call("p.IK(T)", {"p": peer, "T": T[0].copy()}, 200), 3)

        solvers["eaik"] = eaik
    try:
        from ssik import Manipulator
    except ImportError:
        return solvers
    manipulator = Manipulator.from_axes(axes, offsets)

    def ssik(T: Any) -> Any:
        options = {"respect_limits": False, "enumerate_windings": False}
        manipulator.solve(T[0], **options)
        begin = perf_counter()
        answers = [manipulator.solve(t, **options) for t in T]
        time = (perf_counter() - begin) / len(T)
        return [np.array([answer.q for answer in row]).reshape(-1, 6) for row in answers], math.nan, time

    return solvers | {"ssik": ssik}


def _confirmed(axes: Any, offsets: Any, q: Any, T: Any) -> Any:
    """Those of angles (k, 6) that reach a pose, by a product of rotations in NumPy."""
    reached = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    for k, (x, y, z) in enumerate(axes):
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        step = np.tile(np.eye(4), (len(q), 1, 1))
        step[:, :3, :3] += np.sin(q[:, k, None, None]) * cross + (1.0 - np.cos(q[:, k, None, None])) * (cross @ cross)
        step[:, :3, 3] = offsets[k]
        reached = reached @ step
    end = np.eye(4)
    end[:3, 3] = offsets[6]
    return q[np.abs(reached @ end - T).max(axis=(1, 2), initial=0.0) < WRONG]


def _apart(a: Any, b: Any) -> Any:
    """The greatest difference of angles of rows (k, 6) and (l, 6), whole turns taken off: (k, l)."""
    return np.abs(np.remainder(a[:, None] - b + math.pi, 2.0 * math.pi) - math.pi).max(axis=-1)


def _absent(mine: Any, others: Any) -> int:
    """How many of others (l, 6) are none of mine (k, 6)."""
    return int((_apart(others, mine).min(axis=1, initial=math.inf) > SAME).sum())


def _general_arms() -> dict[str, lw.Mechanism]:
    """Arms without a closed form: bundled ones, a FANUC CRX-10iA by its proportions, and with a shoulder offset; at random.

    Those at random have six revolute joints, or five, or some of the six slide.
    """
    quarter = math.pi / 2.0
    crx = (
        (0.0, -quarter, 0.0),
        (0.54, 0.0, 0.0),
        (0.0, -quarter, 0.0),
        (0.0, quarter, 0.54),
        (0.0, -quarter, 0.15),
        (0.0, 0.0, 0.16),
    )
    offset = (crx[0], (0.54, 0.0, 0.15), *crx[2:])
    arms = {name: lw.robots.load(name) for name in ("gen3_lite", "hc10")}
    arms |= {"as CRX-10iA": _dh_arm("crx", crx), "CRX, shoulder": _dh_arm("crx_shoulder", offset)}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = [(rng.uniform(-0.5, 0.5), rng.uniform(-math.pi, math.pi), rng.uniform(-0.5, 0.5)) for _ in range(6)]
        arms[f"random {seed}"] = _dh_arm(f"random{seed}", rows)
    for kinds in ("PRRRRR", "RRRPRR", "RPRRPR", "PPRRRR", "RRRRR", "RRPRR"):
        rng = np.random.default_rng(0)
        links = []
        for kind in kinds:
            a, alpha, d, theta = rng.uniform(-0.5, 0.5), rng.uniform(-3.0, 3.0), rng.uniform(-0.5, 0.5), rng.uniform(-2, 2)
            row: Any = {"d": d} if kind == "R" else {"theta": theta, "joint": "prismatic"}
            links.append(lw.Link.dh(a=a, alpha=alpha, convention="standard", **row))
        arms[kinds] = lw.Mechanism(links, name=kinds)
    return arms


def _dh_arm(name: str, rows: Any) -> lw.Mechanism:
    return lw.Mechanism([lw.Link.dh(a=a, alpha=alpha, d=d, convention="standard") for a, alpha, d in rows], name=name)


def _row(robot: str, what: str, time: float, kind: str) -> None:
    us = 1e6 * time
    verdict = "aim reached" if us <= AIM[kind] else "passed" if us <= FLOOR[kind] else "ABOVE"
    note = "" if what.startswith("eaik") else f"   {FLOOR[kind]:g} / {AIM[kind]:g}  {verdict}"
    print(f"{robot:10} {what:34} {us:8.2f}{note}")


def _eaik(arm: Any) -> Any:
    """The same arm for eaik, None where that is not installed."""
    try:
        from eaik.IK_HP import HPRobot
    except ImportError:
        return None
    make: Callable[..., Any] = HPRobot
    return make(*_product_of_exponentials(arm)[:2])


def _product_of_exponentials(arm: Any) -> tuple[Any, Any, Any]:
    """Directions of the axes (6, 3) at zero, steps (7, 3) from the base over points of these to the end, and its turn back.

    Poses times the last (4, 4) are those of an end whose frame is that of the base at zero, as eaik and ssik take it.
    """
    chain, _ = chain_of(arm)
    assert chain is not None
    turned = chain.frame[:3, :3]
    points = chain.points @ turned.T + chain.frame[:3, 3]
    ends = np.vstack([points, (chain.frame @ chain.home)[:3, 3]])
    unturned = np.eye(4)
    unturned[:3, :3] = (chain.frame @ chain.home)[:3, :3].T
    return chain.axes @ turned.T, np.diff(np.vstack([np.zeros(3), ends]), axis=0), unturned


if __name__ == "__main__":
    tables = {"--sets": sets, "--general": general, "--redundant": redundant, "--planted": planted}
    next((table for flag, table in tables.items() if flag in sys.argv[1:]), main)()
