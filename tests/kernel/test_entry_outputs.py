"""The compiled entry of kernels with several outputs or scalar ones: a tuple, float64 scalars, arrays of one's own."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from linkwise.kernel import Kernel, gufunc, trace
from linkwise.kernel.backends.llvm.fastcall import MOST_SCALARS, POOL, has_entry

pytestmark = pytest.mark.skipif(not gufunc.usable(), reason="this Python has no compiled entry")


def several() -> Kernel:
    """A matrix with the constants 0 and 4, a vector, a scalar, a matrix of one row, and a constant scalar."""

    def compute(x: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
        matrix = np.array([[x[0] * y[0], 0.0, 4.0], [x[1].sin(), 0.0, y[1]]], dtype=object)
        return matrix, x + y, np.asarray(x[0] / y[1]), np.array([[x[1] - y[0]]], dtype=object), np.asarray(2.5)

    outputs = {"M": (2, 3), "v": (2,), "s": (), "row": (1, 1), "c": ()}
    return Kernel(trace(compute, "several", {"x": (2,), "y": (2,)}, outputs), "llvm")


def scalar() -> Kernel:
    return Kernel(trace(lambda x: np.asarray(x[0] * x[1]), "scalar", {"x": (2,)}, {"y": ()}), "llvm")


@pytest.fixture
def kernel() -> Kernel:
    return several()


@pytest.fixture
def call(kernel: Kernel) -> Any:
    made = kernel.entry(kernel.ufunc)
    assert type(made).__name__ == "builtin_function_or_method"
    return made


def points(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(row[:2].copy(), row[2:].copy()) for row in np.random.default_rng(0).uniform(0.5, 2, (count, 4))]


def same(found: Any, wanted: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_what_the_gufunc_gives(kernel: Kernel, call: Any) -> None:
    for x, y in points(20):
        found, wanted = call(x, y), kernel.ufunc(x, y)
        assert type(found) is type(wanted) is tuple
        assert [type(part) for part in found] == [type(part) for part in wanted]
        assert [part.shape for part in found] == [(2, 3), (2,), (), (1, 1), ()]
        assert all(part.flags.writeable and part.flags.owndata for part in found if isinstance(part, np.ndarray))
        assert same(found, wanted)


def test_a_scalar_is_a_float64(kernel: Kernel) -> None:
    one = scalar()
    call = one.entry(one.ufunc)
    x = np.array([1.5, 3.0])
    assert type(call(x)) is type(one.ufunc(x)) is np.float64
    assert call(x) == 4.5
    kept = [call(np.array([float(k), 2.0])) for k in range(100)]
    assert kept == [2.0 * k for k in range(100)]


def test_results_that_are_kept_never_change(kernel: Kernel, call: Any) -> None:
    whole = [call(x, y) for x, y in points(50)]
    first = [call(x, y)[0] for x, y in points(50)]
    mixed = [call(x, y)[k % 4] for k, (x, y) in enumerate(points(50))]
    for k, (x, y) in enumerate(points(50)):
        wanted = kernel.ufunc(x, y)
        assert same(whole[k], wanted)
        assert np.array_equal(first[k], wanted[0])
        assert np.array_equal(mixed[k], wanted[k % 4])
    arrays = [part for made in whole for part in made if isinstance(part, np.ndarray)]
    assert len({array.ctypes.data for array in arrays}) == len(arrays) == 150


def test_results_that_are_dropped_are_used_again(call: Any) -> None:
    places = set()
    for x, y in points(40):
        matrix, vector, _, row, _ = call(x, y)
        places |= {matrix.ctypes.data, vector.ctypes.data, row.ctypes.data}
    assert len(places) <= 3 * POOL


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in-place changes of shape are on their way out of NumPy
def test_what_a_caller_does_to_a_result_is_not_seen_by_the_next(kernel: Kernel, call: Any) -> None:
    (x, y), (other, more) = points(2)
    wanted = kernel.ufunc(x, y)

    def fill(array: np.ndarray) -> None:
        array[:] = np.nan

    def close(array: np.ndarray) -> None:
        array.setflags(write=False)

    def reshape(array: np.ndarray) -> None:
        array.shape = (array.size, 1)

    for change in (fill, close, reshape):
        for _ in range(2 * POOL):
            for part in call(other, more):
                if isinstance(part, np.ndarray):
                    change(part)
        found = call(x, y)
        assert same(found, wanted)
        assert [part.shape for part in found] == [part.shape for part in wanted]
        assert found[0].flags.writeable


def test_weak_references_and_results_as_arguments(kernel: Kernel, call: Any) -> None:
    x, y = points(1)[0]
    seen = [weakref.ref(call(x, y)[0]) for _ in range(2 * POOL)]
    again = [call(x, y)[0] for _ in range(2 * POOL)]
    assert all(made is not reference() for made in again for reference in seen if reference() is not None)
    _, vector, _, _, _ = call(x, y)
    assert same(call(call(vector, vector)[1], vector), kernel.ufunc(kernel.ufunc(vector, vector)[1], vector))


def test_references_are_counted_right(call: Any) -> None:
    x, y = points(1)[0]
    held = [call(x, y) for _ in range(10)]
    assert all(sys.getrefcount(made) <= 3 for made in held)
    assert all(sys.getrefcount(held[k][0]) <= 3 for k in range(10))
    del held
    gc.collect()
    before, counts = sys.getallocatedblocks(), (sys.getrefcount(x), sys.getrefcount(y))
    for _ in range(5000):
        call(x, y)
        a, _, s, _, _ = call(x, y)
    del a, s
    assert (sys.getrefcount(x), sys.getrefcount(y)) == counts
    assert sys.getallocatedblocks() - before < 50


def test_threads_get_arrays_of_their_own(kernel: Kernel, call: Any) -> None:
    given = points(8)
    wanted = [kernel.ufunc(x, y) for x, y in given]
    wrong: list[int] = []

    def work(k: int) -> None:
        previous = wanted[k]
        for _ in range(2000):
            made = call(*given[k])
            if not (same(made, wanted[k]) and same(previous, wanted[k])):
                wrong.append(k)
            previous = made

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_other_calls_are_handed_over(kernel: Kernel, call: Any) -> None:
    x, y = points(1)[0]
    wanted = kernel.ufunc(x, y)
    for other in (x.tolist(), np.repeat(x, 2)[::2], x.astype(">f8"), np.frombuffer(x.tobytes()), x[None]):
        found = call(other, y)
        assert same([np.reshape(part, np.shape(full)) for part, full in zip(found, wanted, strict=True)], wanted)
    batch = call(np.stack([x, x, x]), y)
    assert [part.shape for part in batch] == [(3, 2, 3), (3, 2), (3,), (3, 1, 1), (3,)]
    assert call(x.astype(np.float32), y.astype(np.float32))[0].dtype == np.float32
    with pytest.raises(ValueError, match="several"):
        call(x[:1], y)
    with pytest.raises(TypeError):
        call(x)


def test_results_outlive_the_kernel() -> None:
    kernel = several()
    call = kernel.entry(kernel.ufunc)
    x, y = points(1)[0]
    made, copies = call(x, y), [np.array(part) for part in call(x, y)]
    del kernel, call
    gc.collect()
    junk = [np.full(6, np.nan) for _ in range(1000)]
    assert same(made, copies)
    del junk


def test_which_kernels_have_an_entry() -> None:
    def tape(size: int, shape: tuple[int, ...] = (3,)) -> Any:
        return trace(lambda x: np.full(size, x.flat[0], dtype=object), "f", {"x": shape}, {"y": (size,)})

    assert has_entry(several().tape)
    assert has_entry(scalar().tape)
    assert has_entry(tape(MOST_SCALARS - 3))
    assert not has_entry(tape(MOST_SCALARS - 2))
    assert has_entry(tape(3, (2, 2)))
    assert not has_entry(trace(lambda x: np.array([1.0]), "none", {"x": (0, 2)}, {"y": (1,)}))
    assert not has_entry(trace(lambda: np.array([1.0]), "none", {}, {"y": (1,)}))
