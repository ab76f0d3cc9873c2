"""Every solution of inverse kinematics by a closed form: time per target in a batch, and for one target from Python.

Targets are reached by joint angles at random within the limits; solutions are filtered by the limits and ordered. Where eaik
(PyPI) is installed, its time for the same targets stands beside: it gives unfiltered angles, and is not checked here.

    python benchmarks/closed_form.py
    python benchmarks/closed_form.py --general   # arms without a closed form, by elimination
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import least, per_call, pin_to_one_core, seconds

import linkwise as lw
from linkwise.inverse_kinematics.closed_form import closed_form, elimination
from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of

TARGETS = 10_000

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
        peer = _eaik(arm)
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
        q = np.random.default_rng(0).uniform(-math.pi, math.pi, (TARGETS, 6))
        T = arm.forward_kinematics(q)
        solver: Any = elimination(arm)
        found = solver.all(T, limits=False)
        away = np.remainder(found.q - q[:, None] + np.pi, 2.0 * np.pi) - np.pi
        missed = ~(np.nanmin(np.where(np.isnan(away), np.inf, np.abs(away)).max(axis=-1), axis=-1) < 1e-5)
        reached = np.abs(arm.forward_kinematics(np.nan_to_num(found.q)) - T[:, None]).max(axis=(-2, -1))
        batch = least(seconds(lambda s=solver, t=T: s.all(t, limits=False)), 3) / TARGETS
        one = least(per_call("s.all(T, limits=False)", {"s": solver, "T": T[0].copy()}, 50))
        print(
            f"{name:14} {100.0 * found.complete.mean():8.2f}% {missed.sum():10} {(missed & found.complete).sum():16}"
            f" {1e6 * batch:10.1f} {1e6 * one:9.0f} {reached[~np.isnan(found.q[..., 0])].max():9.1e}"
        )


def _general_arms() -> dict[str, lw.Mechanism]:
    """Arms without a closed form: two bundled ones, one of the proportions of a FANUC CRX-10iA, and arms at random."""
    quarter = math.pi / 2.0
    crx = (
        (0.0, -quarter, 0.0),
        (0.54, 0.0, 0.0),
        (0.0, -quarter, 0.0),
        (0.0, quarter, 0.54),
        (0.0, -quarter, 0.15),
        (0.0, 0.0, 0.16),
    )
    arms = {name: lw.robots.load(name) for name in ("gen3_lite", "hc10")} | {"as CRX-10iA": _dh_arm("crx", crx)}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = [(rng.uniform(-0.5, 0.5), rng.uniform(-math.pi, math.pi), rng.uniform(-0.5, 0.5)) for _ in range(6)]
        arms[f"random {seed}"] = _dh_arm(f"random{seed}", rows)
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
    chain, _ = chain_of(arm)
    assert chain is not None
    turned = chain.frame[:3, :3]
    points = chain.points @ turned.T + chain.frame[:3, 3]
    ends = np.vstack([points, (chain.frame @ chain.home)[:3, 3]])
    make: Callable[..., Any] = HPRobot
    return make(chain.axes @ turned.T, np.diff(np.vstack([np.zeros(3), ends]), axis=0))


if __name__ == "__main__":
    general() if "--general" in sys.argv[1:] else main()
