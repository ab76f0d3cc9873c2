"""Run benchmarks several times and keep what they print: ``python benchmarks/record.py [NAME ...] [--runs 3]``.

What a benchmark prints goes to ``benchmarks/results/NAME.txt``, run after run, under a head that tells the machine, the
versions and the command; ``python docs/make_benchmarks.py`` makes the page of it. The runs of one benchmark do not follow
each other directly: all are run once, then all again, so that what else the machine does falls on all alike.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"

RECORDED = {
    "against_pinocchio": (),
    "dynamics": (),
    "contacts": (),
    "rollouts": (),
    "inverse_kinematics": (),
    "closed_form": (),
    "velocity": (),
    "loops": (),
    "stewart": (),
    "spacelib_functions": (),
    "operations": (),
    "arrays": (),
}
"""The benchmarks that are recorded, and the words after their names."""

PACKAGES = (
    "numpy", "llvmlite", "pin", "mujoco", "scipy", "eaik", "roboticstoolbox-python", "torch", "jax", "dask", "casadi",
    "pytorch_kinematics", "mujoco-mjx", "frax",
)  # fmt: skip

LONGEST = 1800
"""Seconds that one run may take."""


def processor() -> str:
    """Name of the processor, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def versions() -> str:
    """Versions of Python, and of the packages that are compared."""
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    return ", ".join(found)


def head(name: str) -> str:
    """What is told before the runs: the command, the machine, the versions."""
    words = " ".join(["python", f"benchmarks/{name}.py", *RECORDED[name]])
    facts = {"command": words, "processor": processor(), "cores": str(os.cpu_count()), "system": platform.system()}
    return "".join(f"# {key}: {value}\n" for key, value in {**facts, "versions": versions()}.items())


def run(name: str) -> str | None:
    """Run a benchmark; what it printed, under the day and the machine's load when it began, or None where it failed."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    command = [sys.executable, str(HERE / f"{name}.py"), *RECORDED[name]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        print(f"{name} took longer than {LONGEST} s", flush=True)
        return None
    if done.stderr or not done.stdout:  # some end with 1 where a figure is beyond what they ask for: that is no failure
        print(f"{name} ended with {done.returncode}: {done.stderr[-500:]}", flush=True)
        return None
    return f"# run: {now}, load before {load}\n{done.stdout}"


def main() -> None:
    """Record the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RECORDED)}; all where none is named")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    names = options.names or list(RECORDED)
    for name in names:
        if name not in RECORDED:
            sys.exit(f"no benchmark {name} is recorded; there are {', '.join(RECORDED)}")
    RESULTS.mkdir(exist_ok=True)
    runs: dict[str, list[str]] = {name: [] for name in names}
    for _ in range(options.runs):
        for name in names:
            if (printed := run(name)) is None:
                continue
            runs[name].append(printed)
            (RESULTS / f"{name}.txt").write_text(head(name) + "".join(runs[name]), encoding="utf-8")
            print(f"{name}: run {len(runs[name])} of {options.runs}", flush=True)
    if lacking := [name for name in names if len(runs[name]) < options.runs]:
        sys.exit(f"not all runs were recorded of {', '.join(lacking)}")


if __name__ == "__main__":
    main()
