"""The kernels of two versions of Linkwise side by side: operations, and time of a batch on one core.

    mkdir other && git archive VERSION src | tar -x -C other
    python benchmarks/between_versions.py other/src

Each version runs in processes of its own, in turn; a time is the least of all rounds. Results must agree to 1e-10 of the
largest element.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from timing import pin_to_one_core

ROBOTS = ("puma560", "panda", "ur5", "planar_3r")
KERNELS = (
    "forward_kinematics",
    "jacobian",
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "gravity_torque",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "regressor",
)
BATCH, ROUNDS, TURNS = 4096, 60, 3
HERE = Path(__file__).resolve().parent.parent / "src"


def measured() -> dict[str, Any]:
    """Nanoseconds for one configuration, operations, and a sum of the results of each kernel."""
    import linkwise as lw

    pin_to_one_core()
    found: dict[str, Any] = {}
    for robot in ROBOTS:
        mech = getattr(lw.robots, robot)()
        for name in KERNELS:
            try:
                kernel = mech.kernel(name)
            except lw.errors.ModelError:  # no inertia: no forward dynamics
                continue
            rng = np.random.default_rng(0)
            given = [rng.uniform(-1.0, 1.0, (BATCH, *shape)) for shape in kernel.tape.inputs.values()]
            out = kernel(*given)
            best = float("inf")
            for _ in range(ROUNDS):
                start = time.perf_counter()
                kernel(*given, out=out)
                best = min(best, time.perf_counter() - start)
            results = out if isinstance(out, tuple) else (out,)
            count = kernel.operations
            found[f"{robot} {name}"] = {
                "ns": 1e9 * best / BATCH,
                "M": count.get("mul", 0),
                "A": count.get("add", 0),
                "results": [float(np.abs(result[::509]).sum()) for result in results],
            }
    return found


def run(source: str) -> dict[str, Any]:
    """The same in a process that takes its Linkwise from a folder."""
    environment = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run(
        [sys.executable, __file__, "--measure"], env=environment, check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(other: str) -> None:
    """Print the table."""
    turns = [(run(other), run(str(HERE))) for _ in range(TURNS)]
    print(f"{'':42}{'other version':>25}{'this one':>25}   ratio")
    for name in turns[0][1]:
        if name not in turns[0][0]:
            continue
        old, new = (min((turn[k][name] for turn in turns), key=lambda row: row["ns"]) for k in (0, 1))
        agree = np.allclose(old["results"], new["results"], rtol=1e-10, atol=1e-12)
        cells = [f"{row['M']}M {row['A']}A {row['ns']:7.1f} ns" for row in (old, new)]
        print(f"{name:42}{cells[0]:>25}{cells[1]:>25}  {old['ns'] / new['ns']:5.2f}{'' if agree else '   RESULTS DIFFER'}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measured()))
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
