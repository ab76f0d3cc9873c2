"""Linkwise beside Pinocchio in one process: ``python benchmarks/against_pinocchio.py``.

Both must agree to 1e-10 before anything is timed. Each row is a ratio of medians measured in turn, on one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np
import peak

try:
    import pinocchio as pin
except ImportError:
    sys.exit("this benchmark needs Pinocchio: pip install '.[peers]'")
from peers import random_tree, to_pinocchio
from timing import in_turn, per_call, pin_to_one_core, row, seconds

import linkwise as lw

BATCH = 100_000
LOOP = 5_000
"""Configurations in one pass of a Python loop over Pinocchio."""


class Pair:
    """One mechanism on both sides, with random motions."""

    def __init__(self, mech: lw.Mechanism) -> None:
        self.mech = mech.without_friction()
        self.model, self.frame = to_pinocchio(self.mech)
        self.data = self.model.createData()
        rng = np.random.default_rng(0)
        self.q, self.qd, self.qdd = (rng.uniform(-2, 2, (BATCH, mech.n)) for _ in range(3))

        self.torques = np.empty((LOOP, mech.n))
        self.poses = np.empty((LOOP, 4, 4))
        self.jacobians = np.empty((LOOP, 6, mech.n))

    def agree(self) -> float:
        """Greatest relative difference of torques, poses and Jacobians over some motions."""
        worst = 0.0
        for k in range(200):
            q, qd, qdd = self.q[k], self.qd[k], self.qdd[k]
            tau = pin.rnea(self.model, self.data, q, qd, qdd)
            pin.framesForwardKinematics(self.model, self.data, q)
            pose = self.data.oMf[self.frame].homogeneous
            jac = pin.computeFrameJacobian(self.model, self.data, q, self.frame, pin.LOCAL_WORLD_ALIGNED)
            ours = (self.mech.inverse_dynamics(q, qd, qdd), self.mech.forward_kinematics(q), self.mech.jacobian(q))
            for theirs, mine in zip((tau, pose, jac), ours, strict=True):
                worst = max(worst, float(np.abs(theirs - mine).max() / np.abs(theirs).max()))
        return worst

    def rnea_loop(self) -> None:
        model, data, q, qd, qdd = self.model, self.data, self.q, self.qd, self.qdd
        out = self.torques
        for k in range(LOOP):
            out[k] = pin.rnea(model, data, q[k], qd[k], qdd[k])

    def pose_loop(self) -> None:
        model, data, q, frame = self.model, self.data, self.q, self.frame
        out = self.poses
        for k in range(LOOP):
            pin.forwardKinematics(model, data, q[k])
            out[k] = pin.updateFramePlacement(model, data, frame).homogeneous

    def jacobian_loop(self) -> None:
        model, data, q, frame = self.model, self.data, self.q, self.frame
        out = self.jacobians
        for k in range(LOOP):
            out[k] = pin.computeFrameJacobian(model, data, q[k], frame, pin.LOCAL_WORLD_ALIGNED)

    def rnea_in_parallel(self) -> object:
        pool = pin.ModelPool(self.model, 1)
        columns = [np.asfortranarray(array.T) for array in (self.q, self.qd, self.qdd)]
        out = np.empty_like(columns[0])
        return lambda: pin.rneaInParallel(1, pool, *columns, out)


def batches(pair: Pair, label: str, floors: dict[str, tuple[float, float]]) -> None:
    mech, arrays = pair.mech, (pair.q, pair.qd, pair.qdd)
    for name, peer, count in (
        ("inverse_dynamics", pair.rnea_loop, 3),
        ("forward_kinematics", pair.pose_loop, 1),
        ("jacobian", pair.jacobian_loop, 1),
    ):
        if name not in floors:
            continue
        kernel = mech.kernel(name)
        inputs = arrays[:count]
        out = kernel.ufunc(*inputs)  # both sides write into arrays that are there already
        times = in_turn(seconds(peer), seconds(lambda k=kernel, i=inputs, o=out: k.ufunc(*i, out=o)))
        row(f"{label}: {name}, batch, against a Python loop", times[0] / LOOP, times[1] / BATCH, *floors[name])
        work = sum(peak.FLOPS.get(kind, 0) * number for kind, number in kernel.operations.items())
        share = work / (times[1] / BATCH) / peak.rate()
        print(f"    operations {kernel.operations}; {work} flop, {share:.0%} of this core's peak rate")
    if "parallel" in floors:
        kernel = mech.kernel("inverse_dynamics")
        out = kernel.ufunc(*arrays)
        times = in_turn(seconds(pair.rnea_in_parallel()), seconds(lambda: kernel.ufunc(*arrays, out=out)))
        row(f"{label}: inverse_dynamics, batch, against rneaInParallel", *(t / BATCH for t in times), *floors["parallel"])


def single_calls(pair: Pair) -> None:
    names = {"mech": pair.mech, "pin": pin, "m": pair.model, "d": pair.data, "frame": pair.frame}
    names |= {"q": pair.q[0].copy(), "v": pair.qd[0].copy(), "a": pair.qdd[0].copy(), "aligned": pin.LOCAL_WORLD_ALIGNED}
    for name, theirs, ours in (
        ("inverse_dynamics", "pin.rnea(m, d, q, v, a)", "mech.inverse_dynamics(q, v, a)"),
        (
            "forward_kinematics",
            "pin.forwardKinematics(m, d, q); pin.updateFramePlacement(m, d, frame)",
            "mech.forward_kinematics(q)",
        ),
        ("jacobian", "pin.computeFrameJacobian(m, d, q, frame, aligned)", "mech.jacobian(q)"),
    ):
        times = in_turn(per_call(theirs, names), per_call(ours, names))
        row(f"puma560: {name}, one call from Python, (6,)", *times, 3, 6)


def first_calls() -> None:
    """Fresh processes: import, first call with an empty cache, first call with a full one."""
    code = (
        "import time; t = time.perf_counter(); import linkwise as lw; t1 = time.perf_counter(); lw.Mechanism; "
        "t2 = time.perf_counter(); import numpy as np; m = lw.robots.puma560(); z = np.zeros(6); t3 = time.perf_counter(); "
        "m.inverse_dynamics(z, z, z); t4 = time.perf_counter(); print(t1 - t, t2 - t, t4 - t3)"
    )
    imports, loaded, cold, warm = [], [], [], []
    for _ in range(7):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "LINKWISE_CACHE_DIR": os.path.join(folder, "cache")}
            for found in (cold, warm):
                made = subprocess.run(
                    [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
                )
                taken, whole, first = map(float, made.stdout.split())
                imports.append(taken)
                loaded.append(whole)
                found.append(first)
    for name, times, floor, aim in (
        ("import linkwise", imports, 0.2, 0.1),
        ("import linkwise; linkwise.Mechanism (NumPy included)", loaded, 0.2, 0.1),
        ("first call, cold compile, puma560 inverse dynamics", cold, 0.5, 0.25),
        ("first call, from the disk cache", warm, 0.03, 0.01),
    ):
        taken = float(np.median(times))
        verdict = "aim reached" if taken <= aim else "passed" if taken <= floor else "ABOVE"
        print(f"{name:58} {taken * 1e3:9.1f} ms   at most {floor * 1e3:g} / {aim * 1e3:g} ms  {verdict}")


def main() -> None:
    pin_to_one_core()
    puma, arm, tree = Pair(lw.robots.puma560()), Pair(lw.robots.seven_joint()), Pair(random_tree())
    print(f"Pinocchio {pin.__version__}, NumPy {np.__version__}, peak of one core {peak.rate() / 1e9:.0f} Gflop/s\n")
    for pair in (puma, arm, tree):
        difference = pair.agree()
        print(f"{pair.mech.name}: greatest relative difference {difference:.1e}")
        assert difference < 1e-10
    print(f"\n{'':58} {'Pinocchio':>12} {'Linkwise':>12} {'ratio':>8}   at least / aim")
    batches(
        puma,
        "puma560",
        {"inverse_dynamics": (60, 150), "forward_kinematics": (60, 150), "jacobian": (20, 40), "parallel": (30, 80)},
    )
    batches(arm, "7 joints, full inertias", {"inverse_dynamics": (40, 80)})
    batches(tree, "26-joint tree", {"inverse_dynamics": (15, 30)})
    single_calls(puma)
    first_calls()


if __name__ == "__main__":
    main()
