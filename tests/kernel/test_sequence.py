"""Kernels in a row over the same arrays: what runs, in which order, on which numbers; in machine code and without."""

import sys

import numpy as np
import pytest

from linkwise.kernel import Kernel, trace
from linkwise.kernel.iteration import Descent, IterationProgram
from linkwise.kernel.sequence import Copy, If, KernelCall, Sequence
from linkwise.spatial.scalar import cos_sin, root, select

BACKENDS = ("llvm", "numpy")


def _add(backend):
    return Kernel(trace(lambda x, y: (x + y, x * y), "both", {"x": (3,), "y": (3,)}), backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_calls_and_copies_run_in_their_order(backend):
    x, y, a, b = np.array([1.0, 2.0, 3.0]), np.full(3, 2.0), np.zeros(3), np.zeros(3)
    run = Sequence([KernelCall(_add(backend), (x, y), (a, b)), Copy(x, b), KernelCall(_add(backend), (x, y), (a, b))])
    run()
    assert x.tolist() == [2.0, 4.0, 6.0]
    assert a.tolist() == [4.0, 6.0, 8.0]
    assert b.tolist() == [4.0, 8.0, 12.0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("number", "expected"), [(1.0, 1.0), (0.0, 2.0), (-3.0, 2.0), (np.nan, 2.0), (np.inf, 1.0)])
def test_a_branch_is_taken_where_its_number_is_above_zero(backend, number, expected):
    flag, other, to, kernel = np.array([number]), np.array([1.0]), np.zeros(1), _add(backend)
    one, two, x = np.array([1.0]), np.array([2.0]), np.zeros(3)
    inner = If(other, (Copy(to, one),), (Copy(to, np.array([9.0])),))
    run = Sequence(
        [KernelCall(kernel, (x, x), (np.zeros(3), np.zeros(3))), If(flag, (inner,), (Copy(to, two),)), Copy(other, other)]
    )
    run()
    assert to[0] == expected
    other[0] = 0.0
    run()
    assert to[0] == (9.0 if expected == 1.0 else 2.0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("number", [1.0, -1.0])
def test_a_branch_may_change_its_own_number(backend, number):
    """The number is looked at once: never both branches, whatever the first makes of it."""
    flag, to, kernel = np.array([number]), np.zeros(1), _add(backend)
    x, spare = np.zeros(3), np.zeros((2, 3))
    up = (Copy(flag, np.array([-5.0])), Copy(to, np.array([1.0])))
    down = (Copy(flag, np.array([5.0])), Copy(to, np.array([2.0])))
    Sequence([KernelCall(kernel, (x, x), (spare[0], spare[1])), If(flag, up, down)])()
    assert (to[0], flag[0]) == ((1.0, -5.0) if number > 0.0 else (2.0, 5.0))
    Sequence([KernelCall(kernel, (x, x), (spare[0], spare[1])), If(flag, (), down)])()
    assert flag[0] == 5.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_broadcasts_what_is_one_for_all(backend):
    x, y = np.arange(12.0).reshape(4, 3), np.array([1.0, 10.0, 100.0])
    total, product = np.zeros((4, 3)), np.zeros((4, 3))
    Sequence([KernelCall(_add(backend), (x, y), (total, product))])()
    assert np.array_equal(total, x + y)
    assert np.array_equal(product, x * y)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_descent_is_a_step_like_others(backend):
    def halve(p, q0, s, q, aux):
        small = select(s[0] - q[0], 1.0, 0.0)
        return np.array([select(small, q[0], q[0] * p[0])]), np.array([aux[0] + 1.0]), small

    sizes = {"parameters": (1,), "q0": (1,), "settings": (1,), "q": (1,), "aux": (1,)}
    descent = Descent(IterationProgram(trace(halve, "halve", sizes, {"q": (1,), "aux": (1,), "status": ()})), backend)
    p, q0, starts, settings, out = np.array([0.5]), np.array([8.0]), np.empty((0, 1)), np.array([0.9]), np.zeros(3)
    Sequence([KernelCall(descent, (p, q0, starts, settings), (out,))])()
    assert out.tolist() == [0.5, 5.0, 1.0]
    assert np.array_equal(descent(p, q0, starts, settings), out)


def test_what_does_not_fit_is_refused_when_it_is_made():
    kernel, x = _add("llvm"), np.zeros(3)
    with pytest.raises(ValueError, match="does not take an array of shape"):
        Sequence([KernelCall(kernel, (x, np.zeros(2)), (x, x))])
    with pytest.raises(ValueError, match="contiguous"):
        Sequence([Copy(np.zeros(6)[::2], x)])
    with pytest.raises(ValueError, match="contiguous"):
        Sequence([Copy(np.zeros(3, dtype=np.float32), x)])
    with pytest.raises(ValueError, match="do not go where"):
        Sequence([Copy(np.zeros(2), x)])
    with pytest.raises(ValueError, match="one batch dimension"):
        Sequence([KernelCall(kernel, (np.zeros((2, 3)), x), (np.zeros((3, 3)), np.zeros((3, 3))))])


def test_nothing_is_allocated_by_a_call():
    kernel, x = _add("llvm"), np.ones(3)
    run = Sequence([KernelCall(kernel, (x, x), (np.zeros(3), np.zeros(3))), Copy(x, x)])
    run()
    before = sys.getallocatedblocks()
    for _ in range(1000):
        run()
    assert abs(sys.getallocatedblocks() - before) < 20  # (the loop itself, and what runs beside)


@pytest.mark.parametrize("lanes", [2, 4])
def test_fewer_lanes_compute_the_same_bits(lanes):
    tape = trace(
        lambda x: np.array([cos_sin(x[0] / x[1])[0], root(x[1] * x[1] + 2.0), select(x[0], x[1], 3.0)]), "f", {"x": (2,)}
    )
    x = np.random.default_rng(0).normal(size=(37, 2))
    assert np.array_equal(Kernel(tape, lanes=lanes).ufunc(x), Kernel(tape).ufunc(x))
    assert Kernel(tape, lanes=lanes).ufunc(x[3]).tolist() == Kernel(tape).ufunc(x)[3].tolist()
