"""Mass matrix, forward dynamics and derivatives beside Pinocchio in one process: ``python benchmarks/dynamics.py``.

Both must agree to 1e-9 before anything is timed. Each row is a ratio of medians measured in turn, on one core; both sides
write into arrays that are there already. At the end stand, from fresh processes, the time of a first call with an empty
cache, with a full one, and the greatest memory that the process has held.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

try:
    import pinocchio as pin
except ImportError:
    sys.exit("this benchmark needs Pinocchio: pip install '.[peers]'")
from peers import random_tree, to_pinocchio
from timing import first_call, in_turn, per_call, pin_to_one_core, row, seconds

import linkwise as lw

LOOP = 4_000
"""Configurations in one pass of a Python loop over Pinocchio."""

NAMES = ("mass_matrix", "forward_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")

CALLS = {
    "mass_matrix": "pin.crba(m, d, q)",
    "forward_dynamics": "pin.aba(m, d, q, v, a)",
    "inverse_dynamics_derivatives": "pin.computeRNEADerivatives(m, d, q, v, a)",
    "forward_dynamics_derivatives": "pin.computeABADerivatives(m, d, q, v, a)",
}


class Pair:
    """One mechanism, without friction, on both sides, with random motions."""

    def __init__(self, mech: lw.Mechanism, batch: int) -> None:
        self.mech, self.batch = mech.without_friction(), batch
        self.model, _ = to_pinocchio(self.mech)
        self.data = self.model.createData()
        rng = np.random.default_rng(0)
        self.arrays = [rng.uniform(-2, 2, (batch, mech.n)) for _ in range(3)]

    def inputs(self, name: str) -> list[np.ndarray]:
        return self.arrays[:1] if name == "mass_matrix" else self.arrays

    def peer(self, name: str) -> Callable[[int], tuple[np.ndarray, ...]]:
        """Pinocchio's answer for configuration k."""
        model, data, (q, v, a) = self.model, self.data, self.arrays
        if name == "mass_matrix":
            return lambda k: (pin.crba(model, data, q[k]),)
        if name == "forward_dynamics":
            return lambda k: (pin.aba(model, data, q[k], v[k], a[k]),)
        if name == "inverse_dynamics_derivatives":
            return lambda k: pin.computeRNEADerivatives(model, data, q[k], v[k], a[k])
        return lambda k: pin.computeABADerivatives(model, data, q[k], v[k], a[k])

    def ours(self, name: str, inputs: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        made = self.mech.kernel(name)(*inputs)
        return made if isinstance(made, tuple) else (made,)

    def agree(self) -> float:
        """Greatest relative difference over some motions."""
        worst = 0.0
        for name in NAMES:
            peer = self.peer(name)
            for k in range(50):
                mine = self.ours(name, [array[k] for array in self.inputs(name)])
                for theirs, own in zip(peer(k), mine, strict=True):
                    worst = max(worst, float(np.abs(theirs - own).max() / np.abs(theirs).max()))
        return worst

    def loop(self, name: str) -> Callable[[], None]:
        peer, outs = self.peer(name), [np.empty((LOOP, *made.shape)) for made in self.peer(name)(0)]

        def run() -> None:
            for k in range(LOOP):
                for out, made in zip(outs, peer(k), strict=True):
                    out[k] = made

        return run


def batches(pair: Pair, label: str, floors: dict[str, tuple[float, float]]) -> None:
    for name in NAMES:
        kernel, inputs = pair.mech.kernel(name), pair.inputs(name)
        out = pair.ours(name, inputs)
        whole = out if len(out) > 1 else out[0]
        times = in_turn(seconds(pair.loop(name)), seconds(lambda k=kernel, i=inputs, o=whole: k.ufunc(*i, out=o)), rounds=9)
        row(f"{label}: {name}, batch", times[0] / LOOP, times[1] / pair.batch, *floors[name])
        print(f"    operations {kernel.operations}")


def single_calls(pair: Pair, label: str) -> None:
    names: dict[str, object] = {"mech": pair.mech, "pin": pin, "m": pair.model, "d": pair.data}
    names |= {name: array[0].copy() for name, array in zip("qva", pair.arrays, strict=True)}
    for name in NAMES:
        arguments = "q" if name == "mass_matrix" else "q, v, a"
        times = in_turn(per_call(CALLS[name], names, 4000), per_call(f"mech.{name}({arguments})", names, 4000), rounds=9)
        row(f"{label}: {name}, one call", *times, 2, 5)


def compiling(label: str, make: str) -> None:
    for name in NAMES:
        first_call(f"{label}: {name}", make, f"mech.{name}({'z' if name == 'mass_matrix' else 'z, z, z'})")


def main() -> None:
    pin_to_one_core()
    puma, arm, tree = Pair(lw.robots.puma560(), 100_000), Pair(lw.robots.seven_joint(), 100_000), Pair(random_tree(), 10_000)
    print(f"Pinocchio {pin.__version__}, NumPy {np.__version__}\n")
    for pair in (puma, arm, tree):
        difference = pair.agree()
        print(f"{pair.mech.name}: greatest relative difference {difference:.1e}")
        assert difference < 1e-9
    print(f"\n{'':58} {'Pinocchio':>12} {'Linkwise':>12} {'ratio':>8}   at least / aim")
    short = dict(zip(NAMES, ((25, 60), (25, 60), (15, 40), (15, 40)), strict=True))
    batches(puma, "puma560", short)
    batches(arm, "7 joints", short)
    batches(tree, "26-joint tree", dict.fromkeys(NAMES, (5, 15)))
    single_calls(puma, "puma560")
    single_calls(arm, "7 joints")
    print()
    compiling("puma560", "lw.robots.puma560()")
    compiling("7 joints", "lw.robots.seven_joint()")
    compiling("26-joint tree", "__import__('peers').random_tree()")


if __name__ == "__main__":
    main()
