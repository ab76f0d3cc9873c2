"""What the first call of a function takes in a new process, once the disk has its code.

``python benchmarks/first_call.py [--runs 10]`` starts processes that import Linkwise, build a mechanism and call one
function of it once; what is timed is that call alone. The cache is empty before the first of them. "Traced" is the same with
the algorithm traced in the process, as it is where the disk cannot know it: of mechanisms with classes of somebody else's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from timing import pin_to_one_core

import linkwise as lw

#: Limbs of a humanoid as NASA's Valkyrie has them: what each hangs on, and the axes of its joints, as joints turn.
LIMBS = {
    "torso": ("pelvis", "zyx"),
    "neck": ("torso2", "yzy"),
    **{f"{side} leg": ("pelvis", "zxyyyx") for side in ("left", "right")},
    **{f"{side} arm": ("torso2", "yxyzyxz") for side in ("left", "right")},
    **{f"{side} thumb": (f"{side} arm6", "yzzz") for side in ("left", "right")},
    **{f"{side} finger{k}": (f"{side} arm6", "xxx") for k in range(3) for side in ("left", "right")},
}


def humanoid(*, any_axes: bool = False) -> lw.Mechanism:
    """58 joints on a floating base, about axes of the links' frames, or about any; bodies with full inertias.

    Half of the coordinates of a joint's place are zero, as in the URDF of Valkyrie (91 of 174).
    """
    rng = np.random.default_rng(0)
    links = [lw.Link(name="pelvis", joint="fixed", mass=10.0, inertia=(0.1, 0.09, 0.08, 0.001, 0.002, 0.003))]
    for limb, (begin, axes) in LIMBS.items():
        for k, letter in enumerate(axes):
            before = np.eye(4)
            before[:3, 3] = rng.uniform(-0.2, 0.2, 3) * (rng.random(3) < 0.5)
            axis = rng.normal(size=3) if any_axes else np.eye(3)["xyz".index(letter)]
            link = lw.Link(
                name=f"{limb}{k}",
                parent=f"{limb}{k - 1}" if k else begin,
                before=before,
                axis=axis,
                mass=rng.uniform(0.5, 1.5),
            )
            links.append(link.replace(com=rng.uniform(-0.05, 0.05, 3), inertia=(0.012, 0.011, 0.013, 0.001, 0.002, 0.001)))
    return lw.Mechanism(links, floating=True, name="humanoid")


MECHANISMS = {
    "planar 2R": "lw.robots.planar_2r()",
    "PUMA 560": "lw.robots.puma560()",
    "four-bar linkage": "lw.robots.load('four_bar')",
    "26-joint tree": "__import__('peers').random_tree()",
    "humanoid": "__import__('first_call').humanoid()",
    "humanoid, any axes": "__import__('first_call').humanoid(any_axes=True)",
}

#: Derivatives of both dynamics as straight-line code, which is asked for.
STRAIGHT = tuple(
    f"kernel('{name}_dynamics_derivatives', tier='straight')(mech.neutral, z, z)" for name in ("inverse", "forward")
)

CALLS = {
    "planar 2R": ("gravity_torque(z)",),
    "PUMA 560": (
        "inverse_dynamics(z, z, z)",
        "forward_dynamics(z, z, z)",
        "jacobian(z)",
        "forward_dynamics_derivatives(z, z, z)",
    ),
    "four-bar linkage": ("forward_dynamics(z, z, z)",),
    "26-joint tree": ("inverse_dynamics(z, z, z)", "forward_dynamics(z, z, z)", "forward_dynamics_derivatives(z, z, z)"),
    "humanoid": STRAIGHT,
    "humanoid, any axes": STRAIGHT,
}

TRACED = "import linkwise.algorithm as a; a.is_own = lambda item: False;"


def milliseconds(make: str, call: str, folder: str, before: str = "") -> float:
    """The time of one call, ms, in a process of its own."""
    here = os.path.dirname(os.path.abspath(__file__))
    code = (
        f"import sys, time; sys.path.insert(0, {here!r}); import numpy as np; import linkwise as lw; mech = {make};"
        f"{before} z = np.zeros(mech.nv); t = time.perf_counter(); mech.{call}; print(time.perf_counter() - t)"
    )
    environment = {**os.environ, "LINKWISE_CACHE_DIR": folder}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return 1e3 * float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    pin_to_one_core()
    print(f"{'ms; least and median of ' + str(runs):50} {'empty cache':>12} {'traced':>18} {'known':>18}")
    for label, make in MECHANISMS.items():
        for call in CALLS[label]:
            with tempfile.TemporaryDirectory() as folder:
                cold = milliseconds(make, call, folder)
                pairs = [(milliseconds(make, call, folder, TRACED), milliseconds(make, call, folder)) for _ in range(runs)]
            columns = "".join(f"{min(column):9.1f} {statistics.median(column):8.1f} " for column in zip(*pairs, strict=True))
            name = call.split("'")[1] if call in STRAIGHT else call.partition("(")[0]
            print(f"{label + ': ' + name:50} {cold:12.0f} {columns}", flush=True)


if __name__ == "__main__":
    main()
