"""Kinematics and dynamics beside Pinocchio in one process: ``python benchmarks/dynamics.py``.

Both must agree to 1e-9 before anything is timed. Each row is a ratio of medians measured in turn, on one core. Pinocchio is
called from Python for each configuration, and its binding makes a new array of each result; it has batches in C++ for
inverse and forward dynamics alone. In a batch both sides write into arrays that are there already. At the end stand, from
fresh processes, the time of a first call with an empty cache, with a full one, and the greatest memory that the process has
held.

Words choose mechanisms and rows, ``python benchmarks/dynamics.py humanoid mass_matrix``: those whose names begin with one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

try:
    import pinocchio as pin
except ImportError:
    sys.exit("this benchmark needs Pinocchio: pip install '.[peers]'")
from dynamics_rows import ROWS, Row
from peers import humanoid, places, random_tree, to_pinocchio
from timing import first_call, in_turn, per_call, pin_to_one_core, row, seconds

import linkwise as lw

LOOP = 4_000
"""Configurations in one pass of a Python loop over Pinocchio."""

FORCES = 100
"""Configurations with forces of their own; the others have those again."""

BATCH, CALL = (20, 60), (2, 5)
"""How many times as fast as Pinocchio: at least, and the aim."""

LARGE, MOST_BYTES = 1_000, 1 << 20
"""Inputs and results of so many bytes each are those of as many configurations as fit into a core's cache: beyond, what is
timed is how fast the memory gives and takes them. Below each batch of these stands how long NumPy takes to fill their arrays
with zeros."""

MECHANISMS: dict[str, tuple[Callable[[], lw.Mechanism], int, str]] = {
    "puma560": (lw.robots.puma560, 100_000, "lw.robots.puma560()"),
    "7 joints": (lw.robots.seven_joint, 100_000, "lw.robots.seven_joint()"),
    "26-joint tree": (random_tree, 10_000, "__import__('peers').random_tree()"),
    "humanoid": (humanoid, 10_000, "__import__('peers').humanoid()"),
    "ball humanoid": (lambda: humanoid(balls=True), 10_000, "__import__('peers').humanoid(balls=True)"),
}
"""Mechanisms, how many configurations a batch has, and the expression for a fresh process."""

FIRST_CALLS = (
    "mass_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "centroidal_momentum_derivatives",
)


class Pair:
    """One mechanism, without friction, on both sides, with random motions."""

    def __init__(self, label: str, mech: lw.Mechanism, batch: int) -> None:
        self.label, self.mech, self.batch = label, mech.without_friction(), batch
        mech = self.mech
        self.model, frame = to_pinocchio(mech)
        self.data = self.model.createData()
        self.q_places, self.v_places = places(mech, self.model)
        frames = [self.model.getFrameId(f"{link.name} frame") for link in mech.links]
        middle = [k for k, link in enumerate(mech.links) if link.moves][len(mech.links) // 2]
        self.middle = mech.links[middle].name
        self.names: dict[str, Any] = {"pin": pin, "np": np, "m": self.model, "d": self.data}
        self.names |= {"frame": frame, "frames": frames, "middle": self.model.getJointId(self.middle)}
        self.names |= {"mech": mech, "link": self.middle, "still": np.zeros(mech.nv)}
        self.ours = self._motions()
        self.theirs = {letter: self._to_pinocchio(letter, array) for letter, array in self.ours.items()}

    def _motions(self) -> dict[str, np.ndarray]:
        mech, batch, rng = self.mech, self.batch, np.random.default_rng(0)
        made = {letter: mech.random_configuration(seed, batch) for seed, letter in enumerate("qp")}
        for q in made.values():
            q[:, mech.nq - mech.n :] = rng.uniform(-2, 2, (batch, mech.n))
        made |= {letter: rng.uniform(-2, 2, (batch, mech.nv)) for letter in "va"}
        forces = np.resize(rng.uniform(-2, 2, (FORCES, len(mech.links), 6)), (batch, len(mech.links), 6))
        return made | {"u": 0.3 * made["v"], "f": forces, "s": rng.uniform(0, 1, batch), "t": np.ones(batch)}

    def _to_pinocchio(self, letter: str, array: np.ndarray) -> Sequence[Any]:
        if letter == "f":
            return [self._forces(wrenches) for wrenches in array[:FORCES]] * (LOOP // FORCES)
        if letter in "qpvua":
            where = self.q_places if letter in "qp" else self.v_places
            moved = np.empty_like(array)
            moved[:, where] = array
            return moved
        return array.tolist()

    def _forces(self, wrenches: np.ndarray) -> Any:
        """Forces (L, 6) on links as Pinocchio has them, on joints."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for index, wrench in zip(self.names["frames"], wrenches, strict=True):
            frame = self.model.frames[index]
            forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
        return pin.StdVec_Force(forces)

    def options(self, asked: Row) -> Mapping[str, str]:
        return {key: self.middle if value == "middle" else value for key, value in asked.options.items()}

    def inputs(self, asked: Row) -> list[np.ndarray]:
        return [self.ours[letter] for letter in asked.arguments]

    def peer(self, asked: Row, *, read: bool = True) -> Callable[[int], tuple[Any, ...]]:
        """Pinocchio's answer for configuration k."""
        arrays = [self.theirs[letter] for letter in asked.arguments]
        call = eval(f"lambda {asked.parameters}: ({asked.call})", self.names)
        if not read:
            return lambda k: (call(*(array[k] for array in arrays)), ())[1]
        results = eval(f"lambda r: {asked.read}", self.names)
        return lambda k: results(call(*(array[k] for array in arrays)))

    def kernel(self, name: str) -> lw.Kernel:
        return self.mech.kernel(ROWS[name].kernel or name, **self.options(ROWS[name]))

    def in_our_order(self, theirs: Any) -> np.ndarray:
        """Pinocchio's result with coordinates and velocities in the order of ours."""
        made = np.asarray(theirs)
        for axis, size in enumerate(made.shape):
            for where in (self.q_places, self.v_places):
                if size == len(where):
                    made = np.take(made, where, axis)
                    break
        return made

    def agree(self, rows: Collection[str]) -> float:
        """Greatest relative difference over some motions."""
        worst = 0.0
        for name in (name for name in rows if ROWS[name].compared):
            peer, kernel = self.peer(ROWS[name]), self.kernel(name)
            for k in range(50):
                results = kernel(*(array[k] for array in self.inputs(ROWS[name])))
                results = results if isinstance(results, tuple) else (results,)
                for theirs, own in zip(peer(k), results, strict=False):
                    there = self.in_our_order(theirs)
                    difference = float(np.abs(there - own).max() / np.abs(there).max())
                    assert difference < 1e-9, f"{self.label}, {name}: differs by {difference:.1e}"
                    worst = max(worst, difference)
        return worst

    def loop(self, asked: Row, count: int) -> Callable[[], None]:
        peer = self.peer(asked, read=not asked.left)
        outs = [np.empty((count, *np.shape(made))) for made in peer(0)]

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
        moved = self.bytes + sum(array[0].nbytes for array in inputs)
        most = max(16, MOST_BYTES // moved // 16 * 16) if moved >= LARGE else len(inputs[0])
        self.kernel, self.inputs = kernel, [array[:most] for array in inputs]
        self.count = len(self.inputs[0])
        self.out = kernel(*self.inputs)
        self.results = self.out if isinstance(self.out, tuple) else (self.out,)

    def timed(self) -> Callable[[], float]:
        return seconds(lambda: self.kernel.ufunc(*self.inputs, out=self.out))


def mostly_zeros(kernel: lw.Kernel) -> bool:
    """Whether at most half of the results depend on the inputs."""
    return 2 * sum(map(len, kernel.tape.nonzeros.values())) <= kernel.tape.output_count


def batches(pair: Pair, rows: Collection[str]) -> None:
    for name in rows:
        kernel, inputs = pair.kernel(name), pair.inputs(ROWS[name])
        dense = Batch(kernel, inputs)
        few = min(dense.count, LOOP)
        packed = Batch(kernel.nonzeros, inputs) if mostly_zeros(kernel) else None
        zeros = seconds(lambda o=dense.results: [array.fill(0.0) for array in o])
        timed = [dense.timed(), packed.timed()] if packed else [dense.timed()]
        peer, cleared, *times = in_turn(seconds(pair.loop(ROWS[name], few)), zeros, *timed, rounds=9)
        row(f"{pair.label}: {name}, batch", peer / few, times[0] / dense.count, *BATCH)
        zeroed = f"; {dense.bytes} bytes, filled with zeros in {1e9 * cleared / dense.count:.0f} ns"
        print(f"    operations {kernel.operations}{zeroed if dense.bytes >= LARGE else ''}")
        if packed:
            row(f"{pair.label}: {name}, nonzeros, batch", peer / few, times[1] / packed.count, *BATCH)


def single_calls(pair: Pair, rows: Collection[str]) -> None:
    for name in rows:
        asked = ROWS[name]
        ours, theirs = ({letter: side[letter][0] for letter in asked.arguments} for side in (pair.ours, pair.theirs))
        ours |= {letter: float(ours[letter]) for letter in "st" if letter in ours}
        if "f" in ours:
            ours["f"] = lw.LinkWrenches(ours["f"])
        options = "".join(f", {key}={value!r}" for key, value in pair.options(asked).items())
        mine = asked.method or f"mech.{name}({asked.parameters}{options})"
        copies = [
            pair.names | {key: np.copy(v) if isinstance(v, np.ndarray) else v for key, v in side.items()}
            for side in (theirs, ours)
        ]
        calls = [per_call(code, names, 4000) for code, names in zip((asked.call, mine), copies, strict=True)]
        row(f"{pair.label}: {name}, one call", *in_turn(*calls, rounds=9), *CALL)


def compiling(label: str, make: str) -> None:
    for name in FIRST_CALLS:
        zeros = ", ".join("mech.neutral" if letter == "q" else "z" for letter in ROWS[name].arguments)
        first_call(f"{label}: {name}", make, f"mech.{name}({zeros})")


def chosen(names: Collection[str], words: Sequence[str]) -> list[str]:
    """Names that begin with one of the words; all where none does."""
    return [name for name in names if any(map(name.startswith, words))] or list(names)


def main(words: Sequence[str]) -> None:
    pin_to_one_core()
    labels, rows = chosen(MECHANISMS, words), chosen(ROWS, words)
    print(f"Pinocchio {pin.__version__}, NumPy {np.__version__}\n")
    pairs = [Pair(label, MECHANISMS[label][0](), MECHANISMS[label][1]) for label in labels]
    for pair in pairs:
        print(f"{pair.label}: greatest relative difference {pair.agree(rows):.1e}")
    print(f"\n{'':58} {'Pinocchio':>12} {'Linkwise':>12} {'ratio':>8}   at least / aim")
    for timed in (batches, single_calls):
        for pair in pairs:
            timed(pair, rows)
    print()
    for label in labels if not words else ():
        compiling(label, MECHANISMS[label][2])


if __name__ == "__main__":
    main(sys.argv[1:])
