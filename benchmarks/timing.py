"""Timing of two things side by side: pinned to one core, in turn, medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable


def pin_to_one_core() -> None:
    """Stay on one core, where the system lets a process choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def seconds(
    action: Callable[[], object], least: float = 0.02, clock: Callable[[], float] = time.perf_counter
) -> Callable[[], float]:
    """Return a function that times the action once, as a mean over enough repetitions to last ``least`` seconds."""
    action()
    start = clock()
    action()
    repeats = max(1, int(least / max(1e-9, clock() - start)))

    def once() -> float:
        begin = clock()
        for _ in range(repeats):
            action()
        return (clock() - begin) / repeats

    return once


def in_turn(
    *actions: Callable[[], float], rounds: int = 15, pick: Callable[[tuple[float, ...]], float] = statistics.median
) -> list[float]:
    """Median seconds of each action, measured in turn so that a drift of the machine's speed hits all alike."""
    samples = [[action() for action in actions] for _ in range(rounds)]
    return [pick(column) for column in zip(*samples, strict=True)]


def least(action: Callable[[], float], rounds: int = 25) -> float:
    """Least seconds of an action in many rounds."""
    return min(action() for _ in range(rounds))


def per_call(code: str, names: dict[str, object], calls: int = 10000) -> Callable[[], float]:
    """Seconds per call of an expression, in a plain Python loop compiled once."""
    space: dict[str, object] = {"names": names, **names}
    arguments = ", ".join(f"{name}=names[{name!r}]" for name in names)
    exec(f"def run({arguments}):\n    for _ in range({calls}):\n        {code}", space)
    run = space["run"]
    timed = seconds(run, 0.0)  # type: ignore[arg-type]
    return lambda: timed() / calls


def row(name: str, theirs: float, ours: float, floor: float, aim: float, unit: float = 1e-9, digits: int = 1) -> None:
    """Print one comparison: both times, their ratio, and what it should be at least and at best."""
    ratio = theirs / ours
    verdict = "aim reached" if ratio >= aim else "passed" if ratio >= floor else "BELOW"
    suffix = {1e-9: "ns", 1e-6: "us", 1e-3: "ms"}[unit]
    print(
        f"{name:58} {theirs / unit:9.{digits}f} {suffix} {ours / unit:9.{digits}f} {suffix} "
        f"{ratio:7.1f}x   {floor:g}x / {aim:g}x  {verdict}"
    )


def peak_memory() -> float:
    """MiB of memory that this process has held at most; NaN where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return float("nan")


def first_call(label: str, make: str, call: str) -> None:
    """Print what the first call takes in a fresh process, with an empty cache and with a full one, and peak memory.

    ``make`` is an expression for the mechanism ``mech``, ``call`` one with ``mech`` and ``z``, zeros for its joints.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    code = (
        f"import sys, time; sys.path.insert(0, {here!r}); import numpy as np; import linkwise as lw;"
        f"from timing import peak_memory; mech = {make}; before = peak_memory(); z = np.zeros(mech.nv);"
        f"t = time.perf_counter(); {call}; print(time.perf_counter() - t, before, peak_memory())"
    )
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LINKWISE_CACHE_DIR": folder}
        for _ in range(2):
            made = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
            runs.append([float(word) for word in made.stdout.split()])
    (cold, before, most), (warm, _, _) = runs
    print(
        f"{label:45} first call {cold:6.2f} s, from the cache {warm * 1e3:6.0f} ms;"
        f" peak memory {most:4.0f} MiB, {before:.0f} before"
    )
