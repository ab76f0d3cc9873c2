"""Time-optimal motion along paths beside toppra, and jerk-limited motion beside ruckig: ``python benchmarks/motion.py``.

A path of seven joints through six points, 200 intervals, limits of velocity and acceleration, then of efforts (a Panda
along the same points, scaled). Both begin with the points and end with q, qd and qdd at 101 instants; toppra has its linear
programs in Cython and makes piecewise constant accelerations. Durations must agree within what the grid leaves open before
anything is timed. Then efforts with friction and dampers, without a peer. One core, one thread, CPU time, least of many
rounds, in turn.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import logging
import sys
from collections.abc import Callable
from time import process_time

import numpy as np

try:
    import ruckig
    import toppra as ta
    import toppra.algorithm as algo
    import toppra.constraint as limit
except ImportError:
    sys.exit("this benchmark needs toppra and ruckig: pip install toppra ruckig")
from timing import in_turn, pin_to_one_core, row, seconds

import linkwise as lw
from linkwise.trajectory import MotionLimits, OnlineTrajectory, path_through, time_optimal

BATCH, INTERVALS, INSTANTS = 1000, 200, 101
QD_MAX, QDD_MAX = np.full(7, 2.0), np.full(7, 10.0)
TAU_MAX = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
S = np.arange(6.0)


def theirs(points: np.ndarray, constraints: list[object]) -> tuple[float, list[np.ndarray]]:
    path = ta.SplineInterpolator(S, points, bc_type="natural")
    grid = np.linspace(0.0, S[-1], INTERVALS + 1)
    motion = algo.TOPPRA(constraints, path, gridpoints=grid, parametrizer="ParametrizeConstAccel").compute_trajectory(0, 0)
    t = np.linspace(0.0, motion.duration, INSTANTS)
    return motion.duration, [motion(t, k) for k in range(3)]


def ours(points: np.ndarray, limits: MotionLimits, arm: lw.Mechanism | None = None, intervals: int = INTERVALS) -> float:
    return time_optimal(path_through(points), arm, limits, intervals=intervals).duration


def accuracy(points: np.ndarray, constraints: list[object], limits: MotionLimits) -> None:
    """How far durations are from that of 20,000 intervals, and by how much toppra's velocities exceed their limits."""
    shortest = ours(points, limits, intervals=20_000)
    for count in (INTERVALS, 1000):
        print(f"{count} intervals: {100 * (ours(points, limits, intervals=count) / shortest - 1.0):.2f} % from the shortest")
    path = ta.SplineInterpolator(S, points, bc_type="natural")
    grid = np.linspace(0.0, S[-1], INTERVALS + 1)
    motion = algo.TOPPRA(constraints, path, gridpoints=grid, parametrizer="ParametrizeConstAccel").compute_trajectory(0, 0)
    t = np.linspace(0.0, motion.duration, round(motion.duration * 1e4))
    excess = np.max(np.abs(motion(t, 1)) / QD_MAX) - 1.0
    away = motion.duration / shortest - 1.0
    print(f"toppra, {INTERVALS}: {100 * away:.2f} % from it, velocities exceed their limits by {100 * excess:.2f} %")


def compare(
    label: str, points: np.ndarray, constraints: list[object], limits: MotionLimits, arm: lw.Mechanism | None
) -> None:
    for member in points[:3]:
        duration = theirs(member, constraints)[0]
        print(f"{label}: {ours(member, limits, arm):.4f} s, toppra {duration:.4f} s")
        assert abs(ours(member, limits, arm) / duration - 1.0) < 0.01
    one, peer, many = in_turn(
        seconds(lambda: ours(points[0], limits, arm), clock=process_time),
        seconds(lambda: theirs(points[0], constraints), clock=process_time),
        seconds(lambda: ours(points, limits, arm), least=0.0, clock=process_time),
        rounds=15,
        pick=min,
    )
    row(f"{label}, one call", peer, one, 10, 20, unit=1e-6)
    row(f"{label}, a batch of {len(points)}", peer, many / len(points), 100, 100, unit=1e-6)


def with_friction(points: np.ndarray, arm: lw.Mechanism) -> None:
    """Print what a path takes where joints have friction or dampers; toppra has no viscous friction."""
    limits = MotionLimits(qd_max=QD_MAX, tau_max=TAU_MAX)
    moving = [link.name for link in arm.links if link.joint != "fixed"]
    motors = {
        "viscous friction": lw.Motor(viscous=0.8),
        "viscous and dry friction": lw.Motor(viscous=0.8, coulomb=0.6),
    }
    models = {
        label: arm.replace(links=[link.replace(motor=motor) if link.name in moving else link for link in arm.links])
        for label, motor in motors.items()
    }
    models["dampers"] = arm.replace(springs=[lw.Spring(name, damping=0.8) for name in arm.names])
    for label, model in models.items():
        for count in (1, 64):
            action = seconds(lambda count=count, model=model: ours(points[:count], limits, model), clock=process_time)
            time = min(action() for _ in range(5))
            print(f"efforts with {label}, {count} path{'s' * (count > 1)} a call: {1e3 * time / count:.2f} ms each")


def online() -> Callable[[], object]:
    follow = OnlineTrajectory(0.001, np.zeros(7), qd_max=2.0, qdd_max=10.0, qddd_max=100.0)
    goal, count = np.ones(7), iter(range(10**9))
    return lambda: follow.step(goal * (5.0 + np.sin(1e-3 * next(count))))


def ruckig_online() -> Callable[[], object]:
    generator, request, result = ruckig.Ruckig(7, 0.001), ruckig.InputParameter(7), ruckig.OutputParameter(7)
    request.max_velocity, request.max_acceleration, request.max_jerk = [2.0] * 7, [10.0] * 7, [100.0] * 7
    request.current_position, count = [0.0] * 7, iter(range(10**9))

    def step() -> object:
        request.target_position = [5.0 + np.sin(1e-3 * next(count))] * 7
        generator.update(request, result)
        result.pass_to_input(request)
        return result.new_position

    return step


def main() -> None:
    pin_to_one_core()
    logging.getLogger("toppra").setLevel(logging.ERROR)
    rng = np.random.default_rng(1)
    points = rng.uniform(-2.0, 2.0, (BATCH, 6, 7))
    rates = [
        limit.JointVelocityConstraint(np.outer(QD_MAX, [-1.0, 1.0])),
        limit.JointAccelerationConstraint(np.outer(QDD_MAX, [-1.0, 1.0])),
    ]
    accuracy(points[0], rates, MotionLimits(qd_max=QD_MAX, qdd_max=QDD_MAX))
    compare("velocity and acceleration", points, rates, MotionLimits(qd_max=QD_MAX, qdd_max=QDD_MAX), None)
    arm = lw.robots.panda()
    middle = 0.5 * (arm.q_min + arm.q_max)
    inside = middle + rng.uniform(-0.12, 0.12, (BATCH, 6, 7)) * (arm.q_max - arm.q_min)
    effort = limit.JointTorqueConstraint(arm.inverse_dynamics, np.outer(TAU_MAX, [-1.0, 1.0]), np.zeros(7))
    compare("velocity and effort of a Panda", inside, [rates[0], effort], MotionLimits(qd_max=QD_MAX, tau_max=TAU_MAX), arm)
    with_friction(inside, arm)
    step, raw = in_turn(seconds(online()), seconds(ruckig_online()))
    row("a cycle with a new target, 7 joints, beside ruckig alone", raw, step, 0.5, 1.0, unit=1e-6)


if __name__ == "__main__":
    main()
