"""A cycle of the chain, how long it takes and how long at worst, what it allocates: ``python benchmarks/control.py``.

The first chain is a PUMA 560 with a pose to follow, its velocity given, joint limits, and greatest speed, acceleration and
deceleration of every link's end and every joint; then the same while greatest speeds hold it back all the time, and while
the target is out of reach. The others are a four-bar and a Stewart platform driven through their loops, with greatest
speeds, and a Panda without limits that follows a place, the second time clear of itself and of ten spheres.

Every chain goes through the same cycles several times: a machine that does other things too delays some cycle in each run,
the chain itself would delay the same one in all, so the least time of each cycle is the chain's own. How much the machine
delays is told by the same piece of plain work, timed as often.

Beside it, in the same run, Pinocchio's forward kinematics and Jacobian, damped least squares in NumPy to the same precision,
without limits and prediction, as its users write it. Then the lag behind a target that moves at 0.5 m/s. One core, one
thread, garbage collection off.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from timing import pin_to_one_core

import linkwise as lw
from linkwise import control, robots
from linkwise.control import Chain, DrivenJoint, MovingPosition

DT = 0.01
FASTEST, HARDEST = 2.0, 20.0
"""Greatest speed, m/s or rad/s, and acceleration of every end and joint."""

START = [0.1, 0.5, -2.6, 0.3, 0.9, 0.2]


def arm(fastest: float = FASTEST, away: float = 0.0) -> tuple[Chain, Callable[[int], None]]:
    """The chain that follows a pose, or goes for one that is too far away, and what moves its target."""
    puma = robots.puma560()
    T = puma.forward_kinematics(START)
    angles = control.rotation_angles(T[:3, :3])
    chain = Chain(puma, MovingPosition("target", "tool", T[:3, 3], angles), q0=START)
    limit(chain, fastest)
    position, velocity = chain.ports.view("target.position"), chain.ports.view("target.velocity")
    middle, w = T[:3, 3] + [away, 0.0, 0.0], 2.0
    path = np.arange(0.0, 10 * np.pi / w, DT)
    places = middle + np.stack([0.1 * np.sin(w * path), 0.1 * (np.cos(w * path) - 1.0), 0.05 * np.sin(w * path)], axis=1)
    speeds = w * np.stack([0.1 * np.cos(w * path), -0.1 * np.sin(w * path), 0.05 * np.cos(w * path)], axis=1)

    def move(k: int) -> None:
        position[:], velocity[:] = places[k % len(places)], speeds[k % len(places)]

    return chain, move


def linkage(mech: object, links: list[str], amplitude: float) -> tuple[Chain, Callable[[int], None]]:
    """A chain of loops, and what drives it."""
    chain = Chain(mech, [DrivenJoint(f"drive {link}", link) for link in links])  # type: ignore[arg-type]
    limit(chain, FASTEST)
    values = [chain.ports.view(f"drive {link}.value") for link in links]
    first = [float(value) for value in values]

    def move(k: int) -> None:
        for place, (value, middle) in enumerate(zip(values, first, strict=True)):
            value[...] = middle + amplitude * np.sin(0.01 * k + place)

    return chain, move


def among_spheres(*constraints: lw.Clear) -> tuple[Chain, Callable[[int], None]]:
    """A Panda whose tool goes round a circle, and what moves its target."""
    panda, start = robots.panda(), [0.0, 0.3, 0.0, -2.0, 0.0, 2.2, 0.8]
    middle = panda.forward_kinematics(start)[:3, 3]
    chain = Chain(panda, [MovingPosition("target", "tool", middle), *constraints], q0=start)
    position, turn = chain.ports.view("target.position"), 0.01

    def move(k: int) -> None:
        position[:] = middle + 0.02 * np.array([np.sin(turn * k), np.cos(turn * k), 0.0])

    return chain, move


def spheres(count: int) -> lw.Clear:
    """Obstacles in a row, from which the arm stays clear without being held back."""
    places = [(0.9, 0.1 * k - 0.5, 0.9) for k in range(count)]
    return lw.Clear(0.005, [lw.Shape("world", "sphere", 0.05, origin=place) for place in places])


def limit(chain: Chain, fastest: float) -> None:
    """Give every end and every joint a greatest speed, acceleration and deceleration."""
    for name in chain.ports.find("*.max_*"):
        chain[name] = fastest if name.endswith("speed") else HARDEST


def all_runs(chain: Chain, move: Callable[[int], None], count: int, runs: int) -> np.ndarray:
    """Microseconds of each cycle (runs, count), the same cycles in every run."""
    begun = chain.save()
    made = []
    for _ in range(runs):
        chain.restore(begun)
        made.append(cycles(chain, move, count))
    return np.array(made)


def plain_work(count: int) -> np.ndarray:
    """Microseconds of a piece of work that is always the same, about as long as a cycle."""
    numbers, taken, clock = np.zeros(3000), np.empty(count), time.perf_counter_ns
    for k in range(count):
        begun = clock()
        for _ in range(3):
            numbers.sum()
        taken[k] = clock() - begun
    return taken * 1e-3


def cycles(chain: Chain, move: Callable[[int], None], count: int) -> np.ndarray:
    """Microseconds of each cycle."""
    taken = np.empty(count)
    clock, step = time.perf_counter_ns, chain.step
    for k in range(1000):
        move(k)
        step(DT)
    gc.collect()
    gc.disable()
    for k in range(count):
        move(1000 + k)
        begun = clock()
        step(DT)
        taken[k] = clock() - begun
    gc.enable()
    return taken * 1e-3


def told(name: str, taken: np.ndarray, state: str) -> None:
    """One line of the table: medians and last thousandths of one run, and of the least times."""
    (one, most), (least, last) = (np.percentile(row, [50, 99.9]) for row in (taken[0], taken.min(0)))
    print(f"{name:<34}{one:>7.1f}{most:>9.1f}{most / one:>7.1f}   {least:>8.1f}{last:>8.1f}{last / least:>7.1f}   {state}")


def by_hand(count: int) -> np.ndarray | None:
    """The arm's cycle on Pinocchio, microseconds each; None where that is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model = twin(pin)
    data, q = model.createData(), np.array(START)
    pin.framesForwardKinematics(model, data, q)
    frame = model.nframes - 1
    home = data.oMf[frame].copy()
    taken = np.empty(count)
    for k in range(count):
        target = home.copy()
        target.translation = home.translation + 0.1 * np.array(
            [np.sin(0.02 * k), np.cos(0.02 * k) - 1.0, 0.5 * np.sin(0.02 * k)]
        )
        begun = time.perf_counter_ns()
        for _ in range(100):
            pin.framesForwardKinematics(model, data, q)
            error = pin.log(data.oMf[frame].actInv(target)).vector
            if error @ error < 1e-20:
                break
            jac = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
            q = q + jac.T @ np.linalg.solve(jac @ jac.T + 1e-12 * np.eye(6), error)
        taken[k] = time.perf_counter_ns() - begun
    return taken * 1e-3


def twin(pin: object) -> object:
    """The PUMA 560 in Pinocchio, from its own table."""
    model = pin.Model()  # type: ignore[attr-defined]
    parent, after = 0, np.eye(4)
    puma = robots.puma560()
    for link in puma.links:
        place = after @ link.before
        joint = pin.JointModelRZ()  # type: ignore[attr-defined]
        parent = model.addJoint(parent, joint, pin.SE3(place[:3, :3], place[:3, 3]), link.name)  # type: ignore[attr-defined]
        after = link.after
    tip = after @ puma.tool
    model.addFrame(pin.Frame("tool", parent, pin.SE3(tip[:3, :3], tip[:3, 3]), pin.FrameType.OP_FRAME))  # type: ignore[attr-defined]
    return model


def lag(radius: float) -> tuple[float, float]:
    """How far a machine that goes where it is told is behind a target at 0.5 m/s: solved, and predicted values; m."""
    worst = []
    puma, speed = robots.puma560(), 0.5
    T, count = puma.forward_kinematics(START), 60
    for what in ("theta_solved", "predicted_theta"):
        chain = Chain(puma, MovingPosition("target", "tool", T[:3, 3], control.rotation_angles(T[:3, :3])), q0=START)
        for k in range(1, 7):
            chain.ports.unroute(f"link{k}.theta")
        far = 0.0
        for k in range(count):
            chain["target.position"], chain["target.velocity"] = on_circle(T[:3, 3], radius, speed, DT * (k - count / 2))
            chain.step(DT)
            command = [float(chain[f"link{j}.{what}"]) for j in range(1, 7)]  # type: ignore[arg-type]
            there = puma.forward_kinematics(command)[:3, 3]  # (where the machine is when the next cycle begins)
            if k > 5:
                far = max(
                    far, float(np.linalg.norm(there - on_circle(T[:3, 3], radius, speed, DT * (k + 1 - count / 2))[0]))
                )
            for j, value in enumerate(command, 1):
                chain[f"link{j}.theta"] = value
        worst.append(far)
    return worst[0], worst[1]


def on_circle(middle: np.ndarray, radius: float, speed: float, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity on a level circle, or for an infinite radius on a line, that leads through a point at t = 0."""
    if np.isinf(radius):
        return middle + np.array([0.0, speed * t, 0.0]), np.array([0.0, speed, 0.0])
    angle = speed / radius * t
    return (
        middle + radius * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0]),
        speed * np.array([-np.sin(angle), np.cos(angle), 0.0]),
    )


def kept(chain: Chain, move: Callable[[int], None], count: int) -> tuple[int, int]:
    """Objects, and bytes, that are left behind by this many cycles."""
    for k in range(200):
        move(k)
        chain.step(DT)
    gc.collect()
    gc.disable()
    blocks = sys.getallocatedblocks()
    for k in range(count):
        move(k)
        chain.step(DT)
    blocks = sys.getallocatedblocks() - blocks
    tracemalloc.start()
    first = tracemalloc.get_traced_memory()[0]
    for k in range(count):
        move(k)
        chain.step(DT)
    size = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    gc.enable()
    return blocks, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":", maxsplit=1)[0])
    parser.add_argument("--cycles", type=int, default=20_000, help="cycles of each run")
    parser.add_argument("--runs", type=int, default=5, help="runs of each chain")
    given = parser.parse_args()
    count, runs = given.cycles, given.runs
    pin_to_one_core()
    print(f"microseconds; {runs} runs of {count} cycles: one run, then the least time of each cycle")
    print(f"{'':<34} median   99.9 %  ratio     median  99.9 %  ratio")
    chains = [
        ("PUMA 560, all limits", *arm()),
        ("the same, held back", *arm(fastest=0.05)),
        ("the same, out of reach", *arm(away=1.0)),
        ("four-bar", *linkage(robots.four_bar(), ["crank"], 0.3)),
        ("Panda, a place", *among_spheres()),
        ("the same, clear of 10 spheres", *among_spheres(spheres(10))),
        ("Stewart platform", *linkage(robots.stewart(), [f"leg{k}" for k in range(1, 7)], 0.02)),
    ]
    for name, chain, move in chains:
        taken = all_runs(chain, move, count, runs)
        states = [word for word in ("limited", "kept", "unsolved") if chain[f"chain.{word}"]]
        told(name, taken, ", ".join([str(chain.reason), *states]))
    told("plain work, always the same", np.array([plain_work(count) for _ in range(runs)]), "")
    found = by_hand(min(count, 20_000))
    if found is not None:
        print(f"{'by hand on Pinocchio (pose alone)':<34}{np.median(found):>7.1f}{np.percentile(found, 99.9):>9.1f}")
    for name, chain, move in chains:
        blocks, size = kept(chain, move, 10_000)
        print(f"{name}: {blocks} objects and {size} bytes left by 10000 cycles")
    for name, radius in (("on a line", np.inf), ("on a circle of 0.1 m", 0.1)):
        solved, predicted = lag(radius)
        ratio = solved / predicted
        print(f"lag {name}: {1e3 * solved:.3f} mm solved, {1e3 * predicted:.2g} mm predicted, {ratio:.3g} times less")


if __name__ == "__main__":
    main()
