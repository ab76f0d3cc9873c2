"""What looking costs: a step of a target that is dragged, a picture of an animation, polygons placed and looked at.

Run with ``python benchmarks/seeing.py``; it needs the extras ``plot`` and ``planar``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import linkwise as lw
from linkwise.inverse_kinematics.interactive import TargetFollower
from linkwise.view.animation.animation import Moving

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.walking_machine import person

DRAGGED = ("puma560", "ur5", "panda", "four_bar", "five_bar", "slider_crank", "jansen", "delta", "stewart")


def dragging() -> None:
    """Drag the tool 200 steps round a circle as large as a fifth of the mechanism, from its first posture."""
    print("a step of a target that is dragged round a circle, ms")
    for name in (*DRAGGED, "person of 30 joints"):
        mechanism = person() if name.startswith("person") else getattr(lw.robots, name)()
        follower = TargetFollower(mechanism)
        q = follower.start()
        if not mechanism.loops:
            q = np.clip(q + 0.3, mechanism.q_min, mechanism.q_max)
        pose = mechanism.forward_kinematics(q)
        radius = 0.2 * float(np.ptp(mechanism.link_poses(q)[:, :3, 3], axis=0).max())
        times = []
        for angle in np.linspace(0.0, 2.0 * np.pi, 200):
            target = pose.copy()
            target[:3, 3] += radius * (np.sin(angle) * pose[:3, 0] + (1.0 - np.cos(angle)) * pose[:3, 1])
            begun = perf_counter()
            found = follower.follow(target, q)
            times.append(1e3 * (perf_counter() - begun))
            q = found.q
        print(f"  {name:20} median {median(times):5.2f}   most {max(times):5.1f}")


def drawing() -> None:
    """Put a mechanism into 20 postures, and turn each into pixels."""
    print("a picture of an animation, 480 pixels wide, ms")
    rng = np.random.default_rng(0)
    for name in ("puma560", "stewart", "person of 30 joints"):
        mechanism = person() if name.startswith("person") else getattr(lw.robots, name)()
        q = TargetFollower(mechanism).start() + 0.02 * rng.standard_normal((20, mechanism.nq))
        picture = Moving(mechanism, q)
        times = []
        for k in range(len(q)):
            begun = perf_counter()
            picture.show(k)
            picture.pixels()
            times.append(1e3 * (perf_counter() - begun))
        print(f"  {name:20} least {min(times):5.1f}   median {median(times):5.1f}")


def planar() -> None:
    """Place a chain of three bars, and see whether it meets two obstacles, 20,000 times."""
    bar = lw.planar.bar(1.0, 0.1)
    links = [lw.planar.Link(bar, parent="world"), lw.planar.Link(bar, a=1.0), lw.planar.Link(bar, a=1.0)]
    chain = lw.planar.Mechanism(links)
    obstacles = [np.add(lw.planar.bar(0.5, 0.5), (1.0, 1.0)), np.add(lw.planar.bar(0.3, 0.8), (-1.5, 0.5))]
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (20_000, 3))
    print(f"three bars in the plane, each of {len(q):,} configurations")
    for name, call in (("place", chain.place), ("collides", lambda q: lw.planar.collides(chain, q, obstacles=obstacles))):
        call(q)
        times = []
        for _ in range(7):
            begun = perf_counter()
            call(q)
            times.append((perf_counter() - begun) / len(q))
        print(f"  {name:20} {1e9 * min(times):8,.0f} ns")


if __name__ == "__main__":
    dragging()
    drawing()
    planar()
