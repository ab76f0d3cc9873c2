"""From a kernel to SymPy and back: the same operations, the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise.equations.derive import derive
from linkwise.equations.tape_to_sympy import steps, to_sympy
from linkwise.expr.node import parameter
from linkwise.expr.sympy.from_sympy import from_sympy
from linkwise.kernel import Kernel
from linkwise.kernel.tape import Tape, trace
from linkwise.spatial.scalar import atan2, greatest, least, select
from support.kernels_in_sympy import names, real
from support.random_mechanisms import relative, variant

SAME = 4e-15
"""Products and sums may come in another order, and a division by a number be a product: a few roundings each."""


def read(tape: Tape, made: Any) -> Kernel:
    """A kernel of what SymPy has, with one input, the symbols in the order of the tape's."""
    symbols = np.array([parameter(name) for name in names(tape)], dtype=object)
    return Kernel(Tape.from_graph("again", {"x": symbols}, {"y": np.asarray(made, dtype=object)}), "numpy")


def compared(tape: Tape, again: Kernel) -> float:
    """The largest difference at random points, relative to the largest element."""
    points = np.random.default_rng(1).uniform(-1.5, 1.5, (20, tape.input_count))
    splits = np.cumsum([int(np.prod(shape)) for shape in tape.inputs.values()])[:-1]
    given = [
        part.reshape(-1, *shape) for part, shape in zip(np.split(points, splits, axis=1), tape.inputs.values(), strict=True)
    ]
    found = Kernel(tape, "numpy")(*given)
    first = found[0] if isinstance(found, tuple) else found
    return relative(again(points), first.reshape(20, -1))


KERNELS = [("rotors 0", "inverse_dynamics"), ("rotors 2", "mass_matrix"), ("floating 1", "inverse_dynamics")]
KERNELS += [("joints 3", "jacobian"), ("joints 3", "forward_kinematics"), ("joints 4", "forward_dynamics")]


@pytest.mark.parametrize(("mechanism", "algorithm"), KERNELS)
def test_kernels(mechanism: str, algorithm: str) -> None:
    tape = variant(mechanism).kernel(algorithm, backend="numpy").tape
    made = next(iter(to_sympy(tape, real(names(tape))).values()))
    again = read(tape, list(from_sympy(made).ravel()))
    assert compared(tape, again) < SAME
    assert sum(again.operations.values()) <= 1.02 * sum(tape.operations.values())


def test_by_steps() -> None:
    """The named intermediate values are read one after the other."""
    tape = variant("rotors 0").kernel("inverse_dynamics", backend="numpy").tape
    assignments, results = steps(tape, real(names(tape)))
    known: dict[Any, Any] = {}
    for name, right in assignments:
        known[name] = from_sympy(right, known)
    assert compared(tape, read(tape, list(from_sympy(results["tau"], known).ravel()))) < SAME


@pytest.mark.parametrize("evaluate", [False, True])
def test_every_operation(evaluate: bool) -> None:
    def function(x: Any) -> Any:
        inner = select(x[0] - x[1], x[1] * x[2], x[2].sin())
        return np.array(
            [
                (x[0] - x[1]) / (x[2] * x[2] + 1.0) / 3.0,
                -(x[0] * x[0] + 2.0).sqrt() + 0.1 * x[1].cos(),
                abs(x[2]) * x[2].sign() + atan2(x[0], x[1] - 2.0),
                inner * inner + inner,
                least(x[0], x[1]) - greatest(x[1], 0.25),
                select(x[0], select(x[1], 1.0, x[2]), select(-x[2], 2.0, x[0])),
                7.0,
            ]
        )

    tape = trace(function, "made", {"x": (3,)}, {"y": (7,)})
    made = to_sympy(tape, real(names(tape)), evaluate=evaluate)["y"]
    assert compared(tape, read(tape, list(from_sympy(made).ravel()))) < SAME


@pytest.mark.parametrize("form", ["recursive", "explicit", "harmonic"])
def test_what_is_derived(form: str) -> None:
    """Every printed form, as SymPy has it, with symbols for lengths, inertial parameters and gravity."""
    arm = lw.robots.planar_2r().symbolic("inertial", "lengths", "gravity")
    made = derive(arm, "inverse_dynamics", form)
    tape = arm.kernel("inverse_dynamics", backend="numpy").tape
    assignments, results = made.to_sympy()
    known: dict[Any, Any] = {}
    for name, right in assignments:
        known[name] = from_sympy(right, known)
    again = read(tape, list(from_sympy(results["tau"], known).ravel()))
    assert compared(tape, again) < 50 * SAME


def test_symbols_come_back_as_the_same() -> None:
    arm = lw.robots.planar_2r().symbolic("inertial")
    tape = arm.kernel("mass_matrix", backend="numpy").tape
    made = to_sympy(tape, real(names(tape)))["M"]
    found = tape.graph([parameter(name) for name in names(tape)])
    assert all(a is b or a == b for a, b in zip(from_sympy(made).ravel(), found, strict=True) if not isinstance(a, float))
    assert arm.replace_link(0, mass=sympy.Symbol("M1", positive=True)).symbols.count("M1") == 1
