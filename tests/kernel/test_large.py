"""Large arithmetic: cut into parts, several blocks at a time, outputs of many constants, outputs past the caches."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest

from linkwise.expr.operations import OPERATIONS
from linkwise.kernel import Kernel, Tape, gufunc, trace
from linkwise.kernel.backends.llvm import body, loop
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.body import ANGLES, LARGE, LARGE_PART, PART, Plan
from linkwise.kernel.backends.llvm.rows import CLEARED

pytest.importorskip("llvmlite", reason="what is tested is machine code")

WHOLE = 4000
"""Steps whose arithmetic just counts as large: two blocks share each part of it."""


@cache
def large(steps: int, *, outputs: int = 150, seed: int = 0) -> Tape:
    """Sums of products of values from all over the graph, so that many wait; sines two deep; half the outputs constant."""

    def compute(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        values = [*x, *y, *(angle.sin() for angle in x), *(angle.cos() for angle in y)]
        values += [(values[-1 - k] * 3.0).cos() for k in range(30)]
        while len(values) < steps:
            near, far = rng.integers(1, 40), rng.integers(0, len(values))
            values.append(values[-near] * rng.uniform(-0.7, 0.7) + values[far] * values[rng.integers(0, 60)] * 0.4)
        matrix = np.zeros((outputs, 2), dtype=object)
        matrix[::3, 0] = [values[k] for k in rng.integers(0, len(values), len(matrix[::3]))]
        matrix[1::4] = 2.5
        return matrix, np.array(values[-7:], dtype=object), np.asarray(values[-1])

    return trace(compute, f"large{steps}", {"x": (30,), "y": (5,)}, {"A": (outputs, 2), "b": (7,), "c": ()})


def reference(tape: Tape, flat: np.ndarray) -> list[float]:
    """All values, operation after operation on floats."""
    values = [*flat.tolist(), *tape.constants]
    for instruction in tape.code:
        values.append(OPERATIONS[instruction.op].value(*(values[arg] for arg in instruction.args)))
    return values


def flat(result: Any) -> np.ndarray:
    """The numbers of a result for one configuration."""
    return np.concatenate([np.ravel(part) for part in result])


@pytest.mark.parametrize("steps", [300, 2000, WHOLE])
@pytest.mark.parametrize("has_fma", [True, False])
def test_a_plan_finds_every_value_where_it_was_put(steps: int, has_fma: bool) -> None:
    """The parts run on floats, with nothing carried over but what the plan puts into memory."""
    tape = large(steps)
    plan = Plan(tape, has_fma=has_fma)
    point = np.random.default_rng(1).uniform(-1, 1, tape.input_count)
    wanted = reference(tape, point)
    out: dict[int, float] = {}
    space: dict[int, float] = {}
    for part in plan.parts:
        local: dict[int, float] = {}
        for step in part:
            for slot in plan.reads(step):
                if slot >= tape.first_result and slot not in local:
                    local[slot] = out[plan.outputs[slot][0]] if slot in plan.outputs else space[plan.places[slot]]
                    assert local[slot] == wanted[slot]
            for slot in plan.makes(step):
                local[slot] = wanted[slot]
                out.update(dict.fromkeys(plan.outputs.get(slot, ()), wanted[slot]))
                if slot in plan.places:
                    space[plan.places[slot]] = wanted[slot]
    computed = [k for k, slot in enumerate(tape.results) if slot >= tape.first_result]
    assert all(out[k] == wanted[tape.results[k]] for k in computed)
    assert len(space) == plan.space


def test_every_operation_is_in_one_part_and_no_part_is_long() -> None:
    for steps in (300, WHOLE):
        tape = large(steps)
        assert (len(tape.code) > LARGE) == (steps == WHOLE)
        plan = Plan(tape, has_fma=True)
        made = [slot for part in plan.parts for step in part for slot in plan.makes(step)]
        assert sorted([*made, *plan.absorbed]) == list(range(tape.first_result, tape.first_result + len(tape.code)))
        total = sum(plan._length(step) for part in plan.parts for step in part)
        limit = LARGE_PART if len(tape.code) > LARGE else PART if total > body.WHOLE else body.WHOLE
        assert max(len(part) for part in plan.parts) <= limit
        angles = [len(step) for part in plan.parts for step in part if isinstance(step, tuple)]
        assert sum(angles) == len(plan.circular) > ANGLES
        assert max(angles) <= ANGLES
        assert plan.together == (2 if len(tape.code) > LARGE else 1)
    assert len(plan.parts) > 5


@pytest.mark.parametrize("steps", [1000, WHOLE])
def test_numbers_are_right(steps: int) -> None:
    tape = large(steps)
    points = np.random.default_rng(2).uniform(-1, 1, (5, tape.input_count))
    wanted = np.array([np.array(reference(tape, point))[list(tape.results)] for point in points])
    kernel = Kernel(tape, "llvm")
    found = np.array([flat(kernel(point[:30], point[30:])) for point in points])
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    print(f"{len(tape.code)} operations: {error:.1e}")
    # Each step damps the errors of what it takes by 0.7 and 0.4 times a factor near 1; some roundings stay.
    assert error <= 1e-14


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_of_any_length_are_loops(dtype: type) -> None:
    """Two blocks at a time: every number of rows up to two and a half rounds of the widest vectors."""
    tape = large(WHOLE)
    kernel = Kernel(tape, "llvm")
    points = np.random.default_rng(3).uniform(-1, 1, (80, tape.input_count)).astype(dtype)
    rows = np.array([flat(kernel(point[:30], point[30:])) for point in points])
    for count in [*range(1, 36), 47, 48, 49, 64, 80]:
        found = kernel(points[:count, :30], points[:count, 30:])
        assert np.array_equal(np.concatenate([part.reshape(count, -1) for part in found], axis=1), rows[:count]), count


@pytest.mark.skipif(not gufunc.usable(), reason="this Python has no compiled entry")
@pytest.mark.parametrize("steps", [1000, WHOLE])
def test_one_call_gives_what_the_gufunc_gives(steps: int) -> None:
    kernel = Kernel(large(steps), "llvm")
    call = kernel.entry(kernel.ufunc)
    for point in np.random.default_rng(4).uniform(-1, 1, (20, 35)):
        found, wanted = call(point[:30].copy(), point[30:].copy()), kernel.ufunc(point[:30], point[30:])
        assert [type(part) for part in found] == [type(part) for part in wanted] == [np.ndarray, np.ndarray, np.float64]
        assert [part.shape for part in found] == [(150, 2), (7,), ()]
        assert np.array_equal(flat(found), flat(wanted))


def test_large_arithmetic_is_written_once() -> None:
    """The entry of a large kernel runs the parts of the batch."""
    small, big = large(1000), large(WHOLE)
    assert [llvm.entry_in_loop(tape) for tape in (small, big)] == [False, True]
    assert "@call(" not in llvm.assembly(small, "float64")
    assert "@call(" in llvm.assembly(small, "entry")
    text = llvm.assembly(big, "float64")
    assert "@call(" in text
    assert text.count("define internal void @part0_") == 1


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every output counts as larger than the caches."""
    monkeypatch.setattr(loop, "STREAM", 0)
    monkeypatch.setattr(loop, "STREAMED_ROW", 1)
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_past_the_caches_the_numbers_are_the_same(streaming: None, dtype: type) -> None:
    """Wherever the output begins on its cache line, and whatever lies around it."""
    if llvm.host().vector_bytes < 32:
        pytest.skip("this machine writes nothing past its caches")
    tape = large(300, outputs=11)
    streamed = Kernel(tape, "llvm")
    assert "fence seq_cst" in llvm.assembly(tape, "float64")
    points = np.random.default_rng(5).uniform(-1, 1, (61, 35)).astype(dtype)
    rows = [streamed.ufunc(point[:30], point[30:]) for point in points]  # single rows take no stage
    size = points.itemsize
    for shift in range(0, 64 + size, size):
        room = [np.full(61 * width + 40, -7.0, dtype) for width in (22, 7, 1)]
        outs = []
        for array, width in zip(room, (22, 7, 1), strict=True):
            first = (-array.ctypes.data % 64 + shift) // size
            outs.append(array[first : first + 61 * width])
        shaped = (outs[0].reshape(61, 11, 2), outs[1].reshape(61, 7), outs[2])
        streamed(points[:, :30], points[:, 30:], out=shaped)
        for made, column in zip(shaped, zip(*rows, strict=True), strict=True):
            assert np.array_equal(made, np.array(column)), shift
        for array, made in zip(room, outs, strict=True):
            assert np.count_nonzero(array == -7.0) == array.size - made.size


def test_past_the_caches_rows_may_lie_apart(streaming: None) -> None:
    tape = large(300, outputs=11)
    kernel = Kernel(tape, "llvm")
    points = np.random.default_rng(6).uniform(-1, 1, (61, 35))
    wanted = kernel(points[:, :30], points[:, 30:])
    apart = [np.full((122, *part.shape[1:]), -7.0)[::2] for part in wanted]
    across = [np.full(part.shape[::-1], -7.0).T for part in wanted]
    raw = [np.zeros(part.nbytes + 1, np.uint8)[1:].view(float).reshape(part.shape) for part in wanted]
    for outs in (apart, across, raw):
        kernel(points[:, :30], points[:, 30:], out=tuple(outs))
        assert all(np.array_equal(made, part) for made, part in zip(outs, wanted, strict=True))


@pytest.mark.parametrize("has_fma", [True, False])
def test_vectors_of_any_length(has_fma: bool, streaming: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As other machines would compute, two blocks at a time, past the caches, and one configuration alone."""
    real = llvm.host()
    if has_fma > real.has_fma:
        pytest.skip("this machine has no fused multiply-add")
    tape = large(WHOLE)
    points = np.random.default_rng(7).uniform(-1, 1, (53, 35))
    results = []
    for vector_bytes in (16, 32, 64):
        if vector_bytes > real.vector_bytes:
            continue
        pretended = dataclasses.replace(real, vector_bytes=vector_bytes, has_fma=has_fma)
        monkeypatch.setattr(llvm, "host", lambda made=pretended: made)
        kernel = Kernel(tape, "llvm")
        results.append(kernel(points[:, :30], points[:, 30:]))
        call = kernel.entry(kernel.ufunc)
        if call is not None:
            assert np.array_equal(flat(call(points[3, :30].copy(), points[3, 30:].copy())), flat(p[3] for p in results[-1]))
    for longer in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], longer, strict=True))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("vector_bytes", [32, 64])
@pytest.mark.parametrize("size", [1, 2, 3, 17])
def test_past_the_caches_nothing_around_is_touched(
    size: int, vector_bytes: int, dtype: type, streaming: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a whole block of rows is shorter than a cache line."""
    real = llvm.host()
    if vector_bytes > real.vector_bytes:
        pytest.skip("this machine's vectors are shorter")
    pretended = dataclasses.replace(real, vector_bytes=vector_bytes)
    monkeypatch.setattr(llvm, "host", lambda: pretended)
    monkeypatch.setattr(loop, "STREAMED_ROW", size)

    def compute(x: np.ndarray) -> np.ndarray:
        return np.array([x[0] + float(k) for k in range(size)], dtype=object)

    kernel = Kernel(trace(compute, "steps", {"x": (1,)}, {"y": (size,)}), "llvm")
    for rows in (1, 4, 7, 8, 16, 20, 33):
        x = np.arange(rows, dtype=dtype)[:, None]
        for first in range(16):
            room = np.full(rows * size + 64, -7.0, dtype)
            made = room[first : first + rows * size].reshape(rows, size)
            kernel(x, out=made)
            assert np.array_equal(made, x + np.arange(size, dtype=dtype)), (rows, first)
            assert np.count_nonzero(room == -7.0) == 64, (rows, first)


@pytest.mark.parametrize("size", [1, 3, 4, 5, 31, 32, 33, 34, 35, 127, 130])
def test_constants_and_copies_of_any_number(size: int) -> None:
    """Outputs that are constants, inputs, and the same value twice, in any mixture."""
    rng = np.random.default_rng(size)
    kinds = rng.choice([0.0, 0.0, 0.0, 1.5, 7.0, 8.0, 9.0], size)

    def compute(x: np.ndarray) -> np.ndarray:
        product = x[0] * x[1]
        return np.array(
            [product if k == 9 else x[1] if k == 8 else x[0] + 1.0 if k == 7 else k for k in kinds], dtype=object
        )

    kernel = Kernel(trace(compute, "mixture", {"x": (2,)}, {"y": (size,)}), "llvm")
    x = rng.uniform(-1, 1, (37, 2))
    values = {9.0: x[:, 0] * x[:, 1], 8.0: x[:, 1], 7.0: x[:, 0] + 1.0}
    wanted = np.stack([values.get(k, np.full(37, k)) for k in kinds], axis=1)
    assert np.array_equal(kernel(x), wanted)
    assert np.array_equal([kernel(row) for row in x], wanted)


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("stream", [1 << 25, 1])
def test_rows_that_are_mostly_zeros(vector_bytes: int, stream: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are cleared first: in any number of rows, side by side, apart and across, past the caches, and one alone."""
    real = llvm.host()
    if vector_bytes > real.vector_bytes:
        pytest.skip("this machine's vectors are shorter")
    pretended = dataclasses.replace(real, vector_bytes=vector_bytes)
    monkeypatch.setattr(llvm, "host", lambda: pretended)
    monkeypatch.setattr(loop, "STREAM", stream)
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    size = CLEARED + 3
    places = np.random.default_rng(vector_bytes).choice(size, 120, replace=False)
    constants = dict(zip(places[:40].tolist(), [1.5, -2.0] * 20, strict=True))
    computed = sorted({*places[40:].tolist(), 0, size - 1} - set(constants))

    def compute(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = [x[0] * float(k) + x[1] if k in computed else constants.get(k, 0.0) for k in range(size)]
        return np.array(values, dtype=object), np.zeros(size, dtype=object)

    kernel = Kernel(trace(compute, "sparse", {"x": (2,)}, {"y": (size,), "nothing": (size,)}), "llvm")
    for dtype in (np.float64, np.float32):
        x = np.random.default_rng(1).integers(-99, 99, (37, 2)).astype(dtype)  # (products and sums of these are exact)
        wanted = np.zeros((37, size), dtype)
        wanted[:, list(constants)] = list(constants.values())
        wanted[:, computed] = x[:, :1] * np.array(computed, dtype) + x[:, 1:]
        for rows in (1, 2, 7, 16, 37):
            room = [np.full((2, 74, size + 5), -7.0, dtype) for _ in range(3)]
            outs = [[part[:rows, :size] for part in room[0]], [part[: 2 * rows : 2, 5:] for part in room[1]]]
            outs.append([part.reshape(-1)[: rows * size].reshape(rows, size) for part in room[2]])
            outs.append([np.full((size, rows), -7.0, dtype).T for _ in range(2)])
            for out in outs:
                kernel.ufunc(x[:rows], out=tuple(out))
                assert np.array_equal(out[0], wanted[:rows])
                assert np.array_equal(out[1], np.zeros_like(out[1]))
            filled = sum(np.count_nonzero(part != -7.0) for part in room)
            assert filled == 6 * rows * size - 3 * np.count_nonzero(wanted[:rows] == -7.0), "nothing around is touched"
        if dtype is np.float64:
            alone = [np.stack(kernel(row)) for row in x]
            assert np.array_equal(alone, np.stack([wanted, np.zeros_like(wanted)], axis=1))


def test_teeth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places that are free too early are seen by the test of the plan."""
    tape = large(WHOLE)
    plan = Plan(tape, has_fma=True)
    assert plan.space < len(plan.places), "places are used again"
    monkeypatch.setattr(body, "LARGE_PART", 10**9)
    monkeypatch.setattr(body, "PART", 10**9)
    whole = Plan(tape, has_fma=True)
    assert len(whole.parts) == 1
    assert not whole.places
