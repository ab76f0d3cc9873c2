"""Both tiers of kernels by the size of the mechanism: ``python benchmarks/sizes.py [--bodies 6 26 100] [--rounds 7]``.

Chains and a tree of revolute joints with full inertias, and the PUMA 560. Each row has, in ns a configuration and in turn
on one core: straight-line code and code that loops over bodies in a batch, Pinocchio's C++ called in a Python loop and, for
inverse and forward dynamics, in a batch of its own on one thread, MuJoCo and Drake called in a Python loop; then one
configuration looped, in us. Results agree to 1e-9 before anything is timed. Straight-line code is left out where compiling
it takes long. Drake is measured where it can be imported: its 400 MB are in no extra, ``pip install drake`` brings them.

The second table holds, in fresh processes with a filled cache, the first call on a mechanism that was never seen before, and
how many MB the process takes for both dynamics at most, a batch of 64 among them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from peers import random_tree, to_pinocchio
from timing import in_turn, pin_to_one_core, seconds

import linkwise as lw
from linkwise.files.formats.mjcf.writer import render

try:
    import pinocchio as pin
except ImportError:
    pin = None
try:
    import mujoco
except ImportError:
    mujoco = None
try:
    import drake_peer
except ImportError:
    drake_peer = None

#: Algorithms, the inputs of each, Pinocchio's calls, and how many bodies the straight line is compiled for at most.
ALGORITHMS: dict[str, tuple[str, str, int]] = {
    "inverse_dynamics": ("q qd qdd", "pin.rnea(m, d, q, v, a)", 100),
    "forward_dynamics": ("q qd tau", "pin.aba(m, d, q, v, a)", 100),
    "mass_matrix": ("q", "pin.crba(m, d, q)", 50),
    "link_poses": ("q", "pin.forwardKinematics(m, d, q)", 100),
    "jacobian": ("q", "pin.computeFrameJacobian(m, d, q, frame)", 100),
    "coriolis_matrix": ("q qd", "pin.computeCoriolisMatrix(m, d, q, v)", 26),
    "inverse_dynamics_derivatives": ("q qd qdd", "pin.computeRNEADerivatives(m, d, q, v, a)", 26),
    "forward_dynamics_derivatives": ("q qd tau", "pin.computeABADerivatives(m, d, q, v, a)", 26),
}

#: Joints of the longest mechanism that the peers are given: Pinocchio's data of 1,000 joints do not fit into 24 GB.
PEERS = 200

#: Bytes of results of one pass.
PASS = 1 << 22


def chain(joints: int, seed: int = 0) -> lw.Mechanism:
    """A chain of revolute joints about generic axes, with full inertias."""
    rng = np.random.default_rng(seed)
    links = []
    for k in range(joints):
        before, angle = np.eye(4), rng.uniform(-1, 1)
        before[:3, :3] = [[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]]
        before[:3, 3] = rng.uniform(-0.1, 0.1, 3)
        link = lw.Link(before=before, axis=rng.normal(size=3), mass=rng.uniform(0.5, 1.5), name=f"link{k}")
        links.append(link.replace(com=rng.uniform(-0.05, 0.05, 3), inertia=(0.012, 0.011, 0.013, 0.001, 0.002, 0.001)))
    return lw.Mechanism(links, name=f"chain of {joints}")


def mechanisms(bodies: list[int]) -> dict[str, lw.Mechanism]:
    """What is measured, by name."""
    known: dict[int, Callable[[], lw.Mechanism]] = {6: lw.robots.puma560, 26: random_tree}
    result = {}
    for count in bodies:
        mechanism = known.get(count, lambda count=count: chain(count))()
        result[f"{count} {'PUMA' if count == 6 else 'tree' if count == 26 and pin else 'chain'}"] = (
            mechanism.without_friction()
        )
    return result


def mujoco_model(mechanism: lw.Mechanism) -> Any:
    """The mechanism in MuJoCo, by the file that Linkwise writes for it."""
    return mujoco.MjModel.from_xml_string(render(mechanism))


def python_loop(code: str, names: dict[str, Any], count: int) -> Callable[[], float]:
    """Seconds per configuration of a call in a Python loop over rows."""
    space = dict(names)
    exec(f"def run():\n    for q, v, a in zip(Q, V, A):\n        {code}", space)
    timed = seconds(space["run"], 0.0)
    return lambda: timed() / count


def measure(name: str, mechanism: lw.Mechanism, algorithm: str, rounds: int) -> None:
    """Print one row."""
    inputs, call, most = ALGORITHMS[algorithm]
    kernel = mechanism.kernel(algorithm, tier="looped")
    elements = sum(int(np.prod(shape)) for shape in (*kernel.tape.inputs.values(), *kernel.tape.outputs.values()))
    rows = int(np.clip(PASS // (8 * elements), 16, 20_000)) // 16 * 16
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-1, 1, (3, rows, mechanism.n))
    args = (q, v, a)[: len(inputs.split())]
    results = kernel(*args)
    out = results if isinstance(results, tuple) else (results,)
    timed: dict[str, Callable[[], float]] = {}
    looped = seconds(lambda: kernel.ufunc(*args, out=out))
    timed["looped"] = lambda: looped() / rows
    if mechanism.n <= most:
        straight = mechanism.kernel(algorithm, tier="straight")
        other = straight(*args)
        for one, two in zip(out, other if isinstance(other, tuple) else (other,), strict=True):
            assert np.abs(one - two).max() <= 1e-9 * np.abs(two).max(), (name, algorithm)
        line = seconds(lambda: straight.ufunc(*args, out=out))
        timed["straight"] = lambda: line() / rows
    single = seconds(lambda: kernel(*(x[0] for x in args)), 0.02)
    timed["one"] = single
    few = min(rows, max(16, 40_000 // mechanism.n))
    if pin is not None and mechanism.n <= PEERS:
        model, frame = to_pinocchio(mechanism)
        data = model.createData()
        names = {"pin": pin, "m": model, "d": data, "frame": frame, "Q": q[:few], "V": v[:few], "A": a[:few]}
        timed["pinocchio"] = python_loop(call, names, few)
        if algorithm in {"inverse_dynamics", "forward_dynamics"} and hasattr(pin, "ModelPool"):
            pool, arrays = pin.ModelPool(model, 1), [np.asfortranarray(x[:few].T) for x in (q, v, a)]
            function = pin.rneaInParallel if algorithm == "inverse_dynamics" else pin.abaInParallel
            target = np.zeros_like(arrays[0])
            batch = seconds(lambda: function(1, pool, *arrays, target))
            timed["pinocchio batch"] = lambda: batch() / few
    if mujoco is not None and mechanism.n <= PEERS and algorithm in {"inverse_dynamics", "mass_matrix", "link_poses"}:
        timed["mujoco"] = mujoco_loop(mechanism, algorithm, (q[:few], v[:few], a[:few]))
    if drake_peer is not None and mechanism.n <= PEERS and algorithm in drake_peer.CALLS:
        names = drake_peer.to_drake(mechanism)
        names |= {"Q": q[:few], "V": v[:few], "A": a[:few]}
        if algorithm in {"inverse_dynamics", "forward_dynamics", "mass_matrix"}:
            exec(drake_peer.CALLS[algorithm], row := {**names, "q": q[0], "v": v[0], "a": a[0]})
            assert np.abs(row["r"] - out[0][0]).max() <= 1e-9 * np.abs(out[0][0]).max(), (name, algorithm, "Drake")
        timed["drake"] = python_loop(drake_peer.CALLS[algorithm], names, few)
    times = dict(zip(timed, in_turn(*timed.values(), rounds=rounds), strict=True))
    columns = ("straight", "looped", "pinocchio", "pinocchio batch", "mujoco", "drake")
    text = "".join(f"{1e9 * times[key]:12.1f}" if key in times else f"{'-':>12}" for key in columns)
    ratio = f"{times['pinocchio'] / times['looped']:9.1f}" if "pinocchio" in times else f"{'-':>9}"
    batch_ratio = f"{times['pinocchio batch'] / times['looped']:9.1f}" if "pinocchio batch" in times else f"{'-':>9}"
    print(f"{name:11}{algorithm:31}{text}{ratio}{batch_ratio}{1e6 * times['one']:10.2f}", flush=True)


def mujoco_loop(mechanism: lw.Mechanism, algorithm: str, rows: tuple[np.ndarray, ...]) -> Callable[[], float]:
    """Seconds per configuration of MuJoCo's functions for the same, in a Python loop."""
    model = mujoco_model(mechanism)
    data = mujoco.MjData(model)
    names = {"mj": mujoco, "m": model, "d": data, "Q": rows[0], "V": rows[1], "A": rows[2], "np": np}
    names["M"] = np.zeros((model.nv, model.nv))
    calls = {
        "inverse_dynamics": "d.qpos[:] = q; d.qvel[:] = v; d.qacc[:] = a; mj.mj_inverse(m, d)",
        "mass_matrix": "d.qpos[:] = q; mj.mj_kinematics(m, d); mj.mj_comPos(m, d); mj.mj_crb(m, d)",
        "link_poses": "d.qpos[:] = q; mj.mj_kinematics(m, d)",
    }
    return python_loop(calls[algorithm], names, len(rows[0]))


FIRST = """
import sys, time
sys.path.insert(0, sys.argv[2])
import numpy as np, linkwise as lw
from sizes import chain
mechanism = chain(int(sys.argv[1]), int(time.time_ns() % 1_000_003))
x = np.zeros(mechanism.n)
def resident(kind):  # (getrusage also counts what the process that started this one held)
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(kind)) * 1024 / 1e6

before = resident("VmRSS")
calls = {"inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1, "link_poses": 1, "jacobian": 1}
for name, count in calls.items():
    start = time.perf_counter()
    getattr(mechanism, name)(*[x] * count)
    print(name, 1e3 * (time.perf_counter() - start))
    if name == "forward_dynamics":
        mechanism.inverse_dynamics(*np.zeros((3, 64, mechanism.n)))
        mechanism.forward_dynamics(*np.zeros((3, 64, mechanism.n)))
        print("MB(both,batches)", resident("VmHWM") - before)
if mechanism.n <= 100:
    start = time.perf_counter()
    mechanism.forward_dynamics_derivatives(x, x, x)
    print("forward_dynamics_derivatives", 1e3 * (time.perf_counter() - start))
"""


def first_calls(bodies: list[int], rounds: int) -> None:
    """Print the least times of first calls on mechanisms that were never seen, ms."""
    print("\nfirst calls on a mechanism never seen before, in a new process with a filled cache, ms (least of several)")
    for count in bodies:
        if count <= 32:
            continue
        best: dict[str, float] = {}
        for _ in range(rounds):
            command = [sys.executable, "-c", FIRST, str(count), __file__.rsplit("/", 1)[0]]
            for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
                name, value = line.split()
                best[name] = min(best.get(name, np.inf), float(value))
        print(f"{count:5} bodies: " + "; ".join(f"{name} {value:.1f}" for name, value in best.items()), flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, nargs="+", default=[6, 7, 26, 50, 100, 1000])
    parser.add_argument("--only", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    pin_to_one_core()
    head = "".join(f"{key:>12}" for key in ("straight", "looped", "pinocchio", "pin batch", "mujoco", "drake"))
    print(f"{'bodies':11}{'ns a configuration':31}{head}{'pin/loop':>9}{'batch/l.':>9}{'one, us':>10}")
    for name, mechanism in mechanisms(options.bodies).items():
        for algorithm in options.only:
            if mechanism.n < 1000 or algorithm in {"inverse_dynamics", "forward_dynamics", "link_poses", "jacobian"}:
                measure(name, mechanism, algorithm, options.rounds)
    first_calls(options.bodies, options.rounds)


if __name__ == "__main__":
    main()
