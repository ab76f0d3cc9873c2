"""How long it takes to derive equations, and how much memory: each case in a process of its own.

Seconds are the least of a few runs, on fresh mechanisms, so that nothing is cached. Beside stand the least of the
processor's time, which other processes disturb less, and the first run of a process, which imports what it needs. Memory is
the largest resident size of the process, and what Python's and NumPy's allocations reached at most (tracemalloc, in another
process, for it takes time).

    python benchmarks/deriving.py            all cases
    python benchmarks/deriving.py CASE       one of them, as JSON
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import pin_to_one_core

import linkwise as lw
from linkwise.equations.closed_form.closed_form import explicit, harmonic
from linkwise.equations.closed_form.harmonic import HarmonicForm
from linkwise.equations.derive import derive
from linkwise.equations.polynomials.expansion import expansion

RUNS = 7


def puma(name: str) -> Any:
    """The arm with ten inertial parameters a link, four lengths and gravity as symbols."""
    arm = lw.robots.puma560().without_friction()
    bare = [link.replace(motor=None) for link in arm.links]
    return (
        arm.replace(links=bare, name=name).symbolic("inertial", "lengths", "gravity", zeros=True).substitute(_no_payload())
    )


def _no_payload() -> dict[str, float]:
    return {f"{word}p": 0.0 for word in ("MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "YZ", "XZ", "M")}


def ten_joints(name: str) -> Any:
    """Ten revolute joints, every axis, length and inertia at random."""
    rng = np.random.default_rng(1)
    links = []
    for _ in range(10):
        second = rng.uniform(0.001, 0.05, 3)
        body = {"mass": rng.uniform(0.5, 4.0), "com": rng.uniform(-0.2, 0.2, 3), "inertia": second.sum() - second}
        d, a = rng.uniform(-0.5, 0.5, 2)
        links.append(lw.Link.dh(rng.uniform(-3, 3), d, a, rng.uniform(0.3, 2.8), convention="standard", **body))
    return lw.Mechanism(links, gravity=rng.uniform(-9, 9, 3), name=name)


def recursive(arm: Any) -> str:
    """Inverse dynamics as the kernel computes it."""
    return f"{derive(arm, 'inverse_dynamics').terms} terms"


def multiplied_out(arm: Any) -> str:
    """The polynomials of M, C as Christoffel symbols, and g."""
    made = expansion(arm, {"M": ("mass_matrix", {}), "g": ("gravity_torque", {})})
    waves = {"M": [made.results["M"][i, j] for i in range(arm.n) for j in range(i, arm.n)], "g": list(made.results["g"])}
    waves["C"] = [made.christoffel[i, j, k] for i in range(arm.n) for j in range(arm.n) for k in range(j, arm.n)]
    return ", ".join(f"{name} {sum((each.terms + 1) // 2 for each in waves[name])}" for name in "MCg") + " waves"


def explicit_form(arm: Any) -> str:
    """M, C, g in products of cosines and sines of angle sums, compared with the kernels."""
    return _counted(explicit(arm, "inverse_dynamics").terms)


def explicit_listing(arm: Any) -> str:
    """The same, with the listing that is printed."""
    made = explicit(arm, "inverse_dynamics")
    return f"{_counted(made.terms)}, {sum(len(section.assignments) for section in made.listing().sections)} lines"


def harmonic_mass(arm: Any) -> str:
    """M in harmonic form from the arm's numbers, compared with the kernel."""
    return _counted({"M": sum(entry.terms for i, row in enumerate(HarmonicForm(arm).M) for entry in row[i:])})


def harmonic_all(arm: Any) -> str:
    """M, C, g in harmonic form."""
    return _counted(HarmonicForm(arm).terms)


def harmonic_both(arm: Any) -> str:
    """M and g in harmonic form."""
    form = HarmonicForm(arm)
    mass = sum(entry.terms for i, row in enumerate(form.M) for entry in row[i:])
    return _counted({"M": mass, "g": sum(entry.terms for entry in form.g)})


def abbreviated(arm: Any) -> str:
    """Explicit M, C, g without small terms: 1 % of the entry, 0.1 % of what the joint feels."""
    made = explicit(arm, "inverse_dynamics", significance=0.01, of_row=0.001)
    return f"{_counted(made.terms)}, bound {made.bound:.2g} N m"


def significant(arm: Any) -> str:
    """M in harmonic form without terms below 1 %."""
    made = harmonic(arm, "mass_matrix", significance=0.01)
    return f"{_counted(made.terms)}, bound {made.bound:.2g} kg m2"


def numeric(name: str) -> Any:
    """The PUMA 560 of numbers."""
    return lw.robots.puma560().replace(name=name)


CASES: dict[str, tuple[str, Callable[[str], Any], Callable[[Any], str], int]] = {
    "recursive": ("PUMA 560, symbols: inverse dynamics, recursive", puma, recursive, RUNS),
    "polynomials": ("PUMA 560, symbols: M, C, g multiplied out", puma, multiplied_out, RUNS),
    "explicit": ("PUMA 560, symbols: M, C, g explicit, checked", puma, explicit_form, RUNS),
    "listing": ("PUMA 560, symbols: the same, with listing", puma, explicit_listing, 3),
    "mass": ("PUMA 560, numbers: M harmonic, checked", numeric, harmonic_mass, RUNS),
    "harmonic": ("PUMA 560, numbers: M, C, g harmonic, checked", numeric, harmonic_all, RUNS),
    "significant": ("PUMA 560, numbers: M harmonic, 1 %", numeric, significant, RUNS),
    "abbreviated": ("PUMA 560, numbers: M, C, g explicit, 1 %", numeric, abbreviated, RUNS),
    "ten": ("ten joints of any kind: M, g harmonic, checked", ten_joints, harmonic_both, 1),
}


def main() -> None:
    """Print a table."""
    pin_to_one_core()
    print(f"{'case':50} {'s':>7} {'cpu s':>7} {'first':>7} {'RSS MB':>7} {'own MB':>7}   result")
    for case, (title, *_) in CASES.items():
        found, memory = (_process(case, how) for how in ("time", "memory"))
        row = (
            f"{found['least']:7.3f} {found['cpu']:7.3f} {found['first']:7.3f} {found['resident']:7.0f} {memory['peak']:7.1f}"
        )
        print(f"{title:50} {row}   {found['result']}", flush=True)


def run(case: str, how: str) -> dict[str, Any]:
    """Measure one case in this process."""
    _, make, derived, runs = CASES[case]
    if how == "memory":
        arm = make("traced")
        tracemalloc.start()
        result = derived(arm)
        return {"result": result, "peak": tracemalloc.get_traced_memory()[1] / 1e6}
    times, processor, result = [], [], ""
    for k in range(runs):
        arm = make(f"arm{k}")
        begin, used = time.perf_counter(), time.process_time()
        result = derived(arm)
        times.append(time.perf_counter() - begin)
        processor.append(time.process_time() - used)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {"result": result, "least": min(times), "cpu": min(processor), "first": times[0], "resident": resident}


def _counted(terms: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in terms.items()) + " terms"


def _process(case: str, how: str) -> dict[str, Any]:
    command = [sys.executable, __file__, case, how]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(made.stdout)
    return found


if __name__ == "__main__":
    if len(sys.argv) > 1:
        pin_to_one_core()
        print(json.dumps(run(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "time")))
    else:
        main()
