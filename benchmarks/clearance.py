"""Distances and ways of a Panda among 20 obstacles, beside coal and OMPL: ``python benchmarks/clearance.py``."""

import sys
import time
from pathlib import Path

import numpy as np
import ompl_peer

import linkwise as lw
from linkwise.clearance import exact
from linkwise.clearance.clearance import distances_at
from linkwise.clearance.kernels import frames_at
from linkwise.clearance.pairs import collision_shapes
from linkwise.clearance.shapes import obstacle_set

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.collision import panda, scattered

PROBLEMS, COUNT = 100, 4096


def least_time(function, rounds=30):
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def distances():
    arm = panda()
    q = arm.random_configuration(1, COUNT)
    print("us a configuration in a batch     linkwise   least only   coal, all pairs   coal/linkwise   difference")
    for spheres in (20, 10, 0):
        obstacles = scattered(0, spheres, 20 - spheres)
        result = arm.clearance(q, obstacles)
        few = 100
        own = least_time(lambda: distances_at(result.shapes, result.obstacles, q)) / COUNT  # noqa: B023
        least = least_time(lambda: distances_at(result.shapes, result.obstacles, q, least=True)) / COUNT  # noqa: B023
        peer = arm.clearance(q[:few], obstacles, exact=True)
        coal = least_time(coal_calls(arm, result, q[:few]), 5) / few
        apart = abs(peer.distance - result.distance[:few]).max()
        name = f"{spheres} spheres, {20 - spheres} capsules, {len(result.pairs)} pairs"
        print(f"{name:34}{own * 1e6:8.2f}{least * 1e6:12.2f}{coal * 1e6:16.1f}{coal / own:16.0f}{apart:16.1e}")


def coal_calls(arm, result, q):
    """Coal's distances alone: poses, shapes and results are there before."""
    import coal

    shapes, obstacles = result.shapes, result.obstacles
    own = [exact._geometry(coal, shape) for shape in shapes.own.shapes]
    others = [(exact._geometry(coal, s), exact._pose(coal, s.origin)) for s in obstacles.shapes]
    request, answer = coal.DistanceRequest(), coal.DistanceResult()
    rows = []
    for frames in frames_at(arm, q):
        placed = zip(shapes.links, shapes.own.shapes, strict=True)
        poses = [exact._pose(coal, frames[link] @ shape.origin) for link, shape in placed]
        pairs = [(own[i], poses[i], own[j], poses[j]) for i, j in shapes.pairs]
        rows.append(pairs + [(own[i], poses[i], *other) for i in shapes.moving for other in others])

    def run():
        for pairs in rows:
            for pair in pairs:
                answer.clear()
                coal.distance(*pair, request, answer)

    return run


def ways():
    """Random clear configurations 1 cm from all obstacles between which the straight way is blocked."""
    arm, times, peer, failed = panda(), [], [], 0
    problems = []
    for seed in range(10_000):
        obstacles = scattered(seed)
        q = arm.random_configuration(seed, 200)
        q = q[arm.clearance(q, obstacles).least > 0.01][:2]
        if len(q) == 2 and arm.clearance(arm.interpolate(*q, np.linspace(0, 1, 200)), obstacles).least.min() < 0.0:
            problems.append((obstacles, *q))
        if len(problems) == PROBLEMS:
            break
    lw.clearance.plan(arm, problems[0][1], problems[0][2], problems[0][0])
    for obstacles, start, goal in problems:
        begun = time.process_time()
        way = arm.plan(start, goal, obstacles)
        times.append(time.process_time() - begun)
        failed += not way.success
        if ompl_peer.installed():
            peer.append(ompl_peer.rrt_connect(collision_shapes(arm), obstacle_set(obstacles), start, goal, 0.01))
    report("linkwise", times, failed)
    if peer:
        report("OMPL RRTConnect over the same kernel, 1 cm", [t for t in peer if t is not None], peer.count(None))


def report(name, times, failed):
    ms = np.array(times) * 1e3
    quantiles = ", ".join(f"{np.quantile(ms, q):.1f}" for q in (0.5, 0.9, 1.0))
    print(f"{name}: {PROBLEMS} problems, ms at the median, 90 %, 100 %: {quantiles}; {failed} without a way")


if __name__ == "__main__":
    distances()
    ways()
