"""NaN and infinity in give NaN and infinity out: in the outputs that depend on the input, in that row, and nowhere else."""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np
import pytest

from linkwise.algorithm import ALGORITHMS, find
from linkwise.kernel import Tape
from support.random_mechanisms import LARGEST, arguments, arm, craft, parts, sample

find("inverse_dynamics")
ROWS = 11


def dependence(tape: Tape, value: float, *, denominators: bool = True) -> np.ndarray:
    """Which elements of the outputs (inputs, outputs) a value that is not finite reaches, from each element of the inputs,
    by following the tape: an infinity has a sign, and in a denominator it may give zero."""
    count = tape.input_count
    reached = [1 << k for k in range(count)] + [0] * (tape.first_result - count)  # bit k: from element k of the inputs
    for instruction in tape.code:
        through = instruction.args[:1] if instruction.op == "div" and not denominators else instruction.args
        passes = instruction.op != "sign" or np.isnan(value)
        reached.append(reduce(operator.or_, (reached[slot] for slot in through)) if passes else 0)
    return np.array([[bool(reached[slot] >> k & 1) for slot in tape.results] for k in range(count)])


def flat(result: object) -> np.ndarray:
    return np.concatenate([array.reshape(ROWS, -1) for array in parts(result)], axis=1)


in_each_backend = pytest.mark.parametrize("backend", ["llvm", "numpy"])


NAMES = sorted(name for name in ALGORITHMS if not find(name).needs_loops)
ON_ARM = [("arm", np.nan, "numpy"), ("arm", np.inf, "llvm"), ("arm", -np.inf, "numpy")]
CASES = [(*case, name) for name in NAMES for case in ([] if name in LARGEST else ON_ARM)]
CASES += [("craft", value, "llvm", name) for name in NAMES for value in ((np.nan, np.inf) if name in LARGEST else (np.nan,))]


@pytest.mark.parametrize(("which", "value", "backend", "name"), CASES)
def test_only_what_depends_on_it(which: str, value: float, backend: str, name: str) -> None:
    mech = arm() if which == "arm" else craft()
    kernel = mech.kernel(name, backend=backend)
    args = arguments(mech, name, (ROWS,))
    clean = flat(kernel(*args))
    assert np.isfinite(clean).all()
    reached = surely = touched = dependence(kernel.tape, np.nan)
    if np.isinf(value):
        reached, surely = dependence(kernel.tape, value), dependence(kernel.tape, value, denominators=False)
    slot = 0
    for k, arg in enumerate(args):
        for i in range(arg[0].size):
            row = (3 * slot + 1) % ROWS
            changed = arg.copy()
            changed.reshape(ROWS, -1)[row, i] = value
            with np.errstate(invalid="ignore"):
                found = flat(kernel(*args[:k], changed, *args[k + 1 :]))
            broken = np.isnan(found) if np.isnan(value) else ~np.isfinite(found)
            assert broken[row][surely[slot]].all(), (k, i)
            wanted = np.zeros_like(clean, dtype=bool)
            wanted[row] = reached[slot]
            assert not broken[~wanted].any(), (k, i)
            wanted[row] = touched[slot]
            assert np.array_equal(found[~wanted], clean[~wanted])
            slot += 1


def test_the_single_call_too() -> None:
    mech = sample(3)
    state = [np.array(arg[0]) for arg in arguments(mech, "inverse_dynamics", (1,))]
    mech.inverse_dynamics(*state)
    state[2][0] = np.nan
    tau = mech.inverse_dynamics(*state)
    assert np.isnan(tau[0])
    assert np.array_equal(tau, mech.kernel("inverse_dynamics")(*state), equal_nan=True)


@in_each_backend
def test_nan_raises_no_warning(backend: str) -> None:
    """As in NumPy: np.sin(nan) is silent, since nothing new went wrong; warnings are errors here."""
    mech = sample(3)
    kernel = mech.kernel("inverse_dynamics", backend=backend)
    for rows in ((), (3,)):
        args = [np.full((*rows, mech.n), np.nan) for _ in range(3)]
        assert np.isnan(kernel(*args)).all()


@in_each_backend
def test_ordinary_numbers_raise_no_warning(backend: str) -> None:
    kernel = sample(3).kernel("inverse_dynamics", backend=backend)
    for size in (0.0, 1e-310, 1e-160, 1.0, 1e5, 1e7):
        args = [size * arg for arg in arguments(sample(3), "inverse_dynamics", (5,))]
        with np.errstate(all="raise", under="ignore"):
            assert np.isfinite(kernel(*args)).all()
