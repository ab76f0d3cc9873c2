"""Dynamics, their derivatives and momentum beside Pinocchio in one process: ``python benchmarks/dynamics.py``.

Both must agree to 1e-9 before anything is timed. Each row is a ratio of medians measured in turn, on one core. Pinocchio is
called from Python for each configuration, and its binding makes a new array of each result; it has batches in C++ for
inverse and forward dynamics alone. In a batch both sides write into arrays that are there already. At the end stand, from
fresh processes, the time of a first call with an empty cache, with a full one, and the greatest memory that the process has
held.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

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


LARGE, MOST_BYTES = 1_000, 1 << 20
"""Results of so many bytes each are computed for as many configurations as fit into a core's cache: beyond, what is timed is
how fast the memory takes them. Below each batch of these stands how long NumPy takes to fill their arrays with zeros."""


@dataclass(frozen=True)
class Row:
    """An algorithm and Pinocchio's: how many of q, qd and a third vector it takes, the call, and how its result is read.

    Results that both sides order or define differently are compared by the tests, not here.
    """

    inputs: int
    call: str
    results: Callable[[pin.Data, Any], tuple[np.ndarray, ...]] = lambda data, made: (
        made if isinstance(made, tuple) else (made,)
    )
    options: Mapping[str, str] = field(default_factory=dict)
    compared: bool = True
    batch: tuple[float, float] = (20, 60)
    large: tuple[float, float] = (5, 15)

    @property
    def arguments(self) -> str:
        return ", ".join("qva"[: self.inputs])


ROWS = {
    "mass_matrix": Row(1, "pin.crba(m, d, q)", batch=(25, 60)),
    "forward_dynamics": Row(3, "pin.aba(m, d, q, v, a)", batch=(25, 60)),
    "inverse_dynamics_derivatives": Row(3, "pin.computeRNEADerivatives(m, d, q, v, a)", batch=(15, 40)),
    "forward_dynamics_derivatives": Row(3, "pin.computeABADerivatives(m, d, q, v, a)", batch=(15, 40)),
    "centroidal_momentum_matrix": Row(1, "pin.computeCentroidalMap(m, d, q)"),
    "centroidal_momentum_matrix_dot": Row(2, "pin.dccrba(m, d, q, v)", lambda data, made: (np.array(data.dAg),)),
    "center_of_mass_jacobian": Row(1, "pin.jacobianCenterOfMass(m, d, q)"),
    "frame_velocity_derivatives": Row(
        2,
        "pin.computeForwardKinematicsDerivatives(m, d, q, v, 0.0 * v),"
        "pin.getFrameVelocityDerivatives(m, d, frame, pin.ReferenceFrame.LOCAL)",
        lambda data, made: made[1],
        {"frame": "body"},
    ),
    "frame_acceleration_derivatives": Row(
        3,
        "pin.computeForwardKinematicsDerivatives(m, d, q, v, a),"
        "pin.getFrameAccelerationDerivatives(m, d, frame, pin.ReferenceFrame.LOCAL)",
        lambda data, made: made[1],
        {"frame": "body"},
        compared=False,
    ),
    "kinematic_hessian": Row(
        1,
        "pin.computeJointJacobians(m, d, q), pin.computeJointKinematicHessians(m, d),"
        "pin.getJointKinematicHessian(m, d, m.njoints - 1, pin.LOCAL_WORLD_ALIGNED)",
        lambda data, made: made[-1:],
        compared=False,
    ),
    "jacobian_dot": Row(
        2,
        "pin.computeJointJacobiansTimeVariation(m, d, q, v),"
        "pin.getFrameJacobianTimeVariation(m, d, frame, pin.LOCAL_WORLD_ALIGNED)",
        lambda data, made: made[-1:],
        compared=False,
    ),
    "coriolis_matrix": Row(2, "pin.computeCoriolisMatrix(m, d, q, v)", compared=False),
    "centroidal_momentum_derivatives": Row(3, "pin.computeCentroidalDynamicsDerivatives(m, d, q, v, a)", compared=False),
    "regressor": Row(3, "pin.computeJointTorqueRegressor(m, d, q, v, a)", compared=False),
    "gravity_regressor": Row(1, "pin.computeJointTorqueRegressor(m, d, q, still, still)", compared=False),
    "energy_regressor": Row(
        2, "pin.computeKineticEnergyRegressor(m, d, q, v), pin.computePotentialEnergyRegressor(m, d, q)", compared=False
    ),
}


FIRST_CALLS = (
    "mass_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "centroidal_momentum_derivatives",
)


class Pair:
    """One mechanism, without friction, on both sides, with random motions."""

    def __init__(self, mech: lw.Mechanism, batch: int) -> None:
        self.mech, self.batch = mech.without_friction(), batch
        self.model, self.frame = to_pinocchio(self.mech)
        self.data = self.model.createData()
        rng = np.random.default_rng(0)
        self.arrays = [rng.uniform(-2, 2, (batch, mech.n)) for _ in range(3)]
        self.names: dict[str, object] = {"pin": pin, "m": self.model, "d": self.data, "frame": self.frame, "mech": self.mech}
        self.names["still"] = np.zeros(mech.n)

    def inputs(self, name: str) -> list[np.ndarray]:
        return self.arrays[: ROWS[name].inputs]

    def peer(self, name: str) -> Callable[[int], tuple[np.ndarray, ...]]:
        """Pinocchio's answer for configuration k."""
        row, arrays = ROWS[name], self.inputs(name)
        call = eval(f"lambda {row.arguments}: ({row.call})", self.names)
        return lambda k: row.results(self.data, call(*(array[k] for array in arrays)))

    def kernel(self, name: str) -> lw.Kernel:
        return self.mech.kernel(name, **ROWS[name].options)

    def ours(self, name: str, inputs: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        made = self.kernel(name)(*inputs)
        return made if isinstance(made, tuple) else (made,)

    def agree(self) -> float:
        """Greatest relative difference over some motions."""
        worst = 0.0
        for name in (name for name, asked in ROWS.items() if asked.compared):
            peer = self.peer(name)
            for k in range(50):
                mine = self.ours(name, [array[k] for array in self.inputs(name)])
                for theirs, own in zip(peer(k), mine, strict=False):
                    worst = max(worst, float(np.abs(theirs - own).max() / np.abs(theirs).max()))
        return worst

    def loop(self, name: str, count: int) -> Callable[[], None]:
        peer, outs = self.peer(name), [np.empty((count, *made.shape)) for made in self.peer(name)(0)]

        def run() -> None:
            for k in range(count):
                for out, made in zip(outs, peer(k), strict=True):
                    out[k] = made

        return run


class Batch:
    """As many configurations as are timed at once, and the arrays of their results."""

    def __init__(self, kernel: lw.Kernel, inputs: list[np.ndarray]) -> None:
        results = kernel(*(array[0] for array in inputs))
        self.bytes = sum(array.nbytes for array in (results if isinstance(results, tuple) else (results,)))
        most = MOST_BYTES // self.bytes // 16 * 16 if self.bytes >= LARGE else len(inputs[0])
        self.kernel, self.inputs = kernel, [array[:most] for array in inputs]
        self.count = len(self.inputs[0])
        self.out = kernel(*self.inputs)
        self.results = self.out if isinstance(self.out, tuple) else (self.out,)

    def timed(self) -> Callable[[], float]:
        return seconds(lambda: self.kernel.ufunc(*self.inputs, out=self.out))


def mostly_zeros(kernel: lw.Kernel) -> bool:
    """Whether at most half of the results depend on the inputs."""
    return 2 * sum(map(len, kernel.tape.nonzeros.values())) <= kernel.tape.output_count


def batches(pair: Pair, label: str, *, large: bool = False) -> None:
    for name, asked in ROWS.items():
        kernel, inputs = pair.kernel(name), pair.inputs(name)
        dense = Batch(kernel, inputs)
        few = min(dense.count, LOOP)
        packed = Batch(kernel.nonzeros, inputs) if mostly_zeros(kernel) else None
        zeros = seconds(lambda o=dense.results: [array.fill(0.0) for array in o])
        timed = [dense.timed(), packed.timed()] if packed else [dense.timed()]
        peer, cleared, *times = in_turn(seconds(pair.loop(name, few)), zeros, *timed, rounds=9)
        aims = asked.large if large else asked.batch
        row(f"{label}: {name}, batch", peer / few, times[0] / dense.count, *aims)
        zeroed = f"; {dense.bytes} bytes, filled with zeros in {1e9 * cleared / dense.count:.0f} ns"
        print(f"    operations {kernel.operations}{zeroed if dense.bytes >= LARGE else ''}")
        if packed:
            row(f"{label}: {name}, nonzeros, batch", peer / few, times[1] / packed.count, *aims)


def single_calls(pair: Pair, label: str) -> None:
    names = pair.names | {name: array[0].copy() for name, array in zip("qva", pair.arrays, strict=True)}
    for name, asked in ROWS.items():
        options = "".join(f", {key}={value!r}" for key, value in asked.options.items())
        mine = f"mech.{name}({asked.arguments}{options})"
        times = in_turn(per_call(asked.call, names, 4000), per_call(mine, names, 4000), rounds=9)
        row(f"{label}: {name}, one call", *times, 2, 5)


def compiling(label: str, make: str) -> None:
    for name in FIRST_CALLS:
        asked = ROWS[name]
        first_call(f"{label}: {name}", make, f"mech.{name}({', '.join('z' * asked.inputs)})")


def main() -> None:
    pin_to_one_core()
    puma, arm, tree = Pair(lw.robots.puma560(), 100_000), Pair(lw.robots.seven_joint(), 100_000), Pair(random_tree(), 10_000)
    print(f"Pinocchio {pin.__version__}, NumPy {np.__version__}\n")
    for pair in (puma, arm, tree):
        difference = pair.agree()
        print(f"{pair.mech.name}: greatest relative difference {difference:.1e}")
        assert difference < 1e-9
    print(f"\n{'':58} {'Pinocchio':>12} {'Linkwise':>12} {'ratio':>8}   at least / aim")
    batches(puma, "puma560")
    batches(arm, "7 joints")
    batches(tree, "26-joint tree", large=True)
    single_calls(puma, "puma560")
    single_calls(arm, "7 joints")
    single_calls(tree, "26-joint tree")
    print()
    compiling("puma560", "lw.robots.puma560()")
    compiling("7 joints", "lw.robots.seven_joint()")
    compiling("26-joint tree", "__import__('peers').random_tree()")


if __name__ == "__main__":
    main()
