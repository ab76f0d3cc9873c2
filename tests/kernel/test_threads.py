"""On how many threads, and that a batch in pieces is the batch, whatever it is called with."""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, threads, trace

pytest.importorskip("llvmlite", reason="only machine code runs side by side")

ROWS = 5 * threads.ROWS + 3


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Batches of more than a block of rows are divided; counts the parts of each that was."""
    counts: list[int] = []
    run = threads.run

    def counted(work: Any, parts: Any) -> None:
        counts.append(len(parts))
        run(work, parts)

    monkeypatch.setattr(threads, "LEAST", 1)
    monkeypatch.setattr(threads, "run", counted)
    with lw.set_threads(3):
        yield counts


def pair(x: Any, a: Any) -> Any:
    """Two outputs, one of them a number, of a vector and a number."""
    return a[()] * x / (1.0 + x * x), a[()] + x[0]


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return Kernel(trace(pair, "pair", {"x": (3,), "a": ()}, {"y": (3,), "z": ()}))


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def same(one: Any, several: Any) -> bool:
    return all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(one, several, strict=True)
    )


# ── how many ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("n", [0, -1, 1.5, 2.0, True, "two", "2", [2], np.nan])
def test_no_number_of_threads(n: Any) -> None:
    before = lw.get_threads()
    with pytest.raises(ArgumentError, match=r'n is .*; expected a whole number from 1, or "all"'):
        lw.set_threads(n)
    assert lw.get_threads() == before


def test_call_and_block() -> None:
    assert lw.get_threads() == 1
    with lw.set_threads(3):
        lw.set_threads(np.int64(2))
        assert lw.get_threads() == 2
    assert lw.get_threads() == 1
    with pytest.raises(ZeroDivisionError), lw.set_threads(3):
        raise ZeroDivisionError
    assert lw.get_threads() == 1
    setting = lw.set_threads(2)
    assert (lw.get_threads(), repr(setting)) == (2, "set_threads(2)")
    with lw.set_threads("all"):
        assert lw.get_threads() == threads._processors()
    with lw.set_threads(None):
        assert lw.get_threads() == threads._processors()
    assert lw.get_threads() == 2
    lw.set_threads(1)


def test_another_thread_and_another_task_have_their_own() -> None:
    seen: list[int] = []

    def other() -> None:
        seen.append(lw.get_threads())
        lw.set_threads(7)

    with lw.set_threads(2):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        contextvars.copy_context().run(lw.set_threads, 5)

        async def task(n: int) -> int:
            lw.set_threads(n)
            await asyncio.sleep(0)
            return lw.get_threads()

        async def tasks() -> list[int]:
            return await asyncio.gather(task(3), task(4))

        assert asyncio.run(tasks()) == [3, 4]
        assert lw.get_threads() == 2
    assert seen in ([1], [2])  # (from Python 3.14 on a free-threaded build's thread inherits)


@pytest.mark.parametrize(("value", "printed"), [("3", "3"), ("all", str(threads._processors())), ("", "1"), (" 2 ", "2")])
def test_environment(value: str, printed: str) -> None:
    assert in_a_process("print(lw.get_threads())", LINKWISE_THREADS=value) == printed


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_environment_without_a_number(value: str) -> None:
    """It is named at the first batch, and nothing is computed; who says how many is not concerned."""
    code = """
kernel = lw.robots.planar_2r().kernel("forward_kinematics")
try:
    kernel(np.zeros((3, 2)))
except lw.errors.ArgumentError as error:
    print(error)
lw.set_threads(1)
print(kernel(np.zeros((3, 2))).shape)
"""
    shown = value if value == "0" else repr(value)
    message = f"LINKWISE_THREADS is {shown}; expected {threads._EXPECTED}"
    assert in_a_process(code, LINKWISE_THREADS=value) == f"{message}\n(3, 4, 4)"


def in_a_process(code: str, **environment: str) -> str:
    code = f"import numpy as np, linkwise as lw\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ── how a batch is divided ────────────────────────────────────────────────────────────────────────


def test_pieces_cover_the_rows() -> None:
    for rows in (0, 1, 63, 64, 65, 1000, 10**6, 1_234_567):
        for operations in (0, 1, 100, 10**5, 10**8):
            for count in (1, 2, 7):
                with lw.set_threads(count):
                    parts = threads.pieces(rows, operations)
                assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
                assert parts[-1].stop == rows
                assert all((part.stop - part.start) % threads.ROWS == 0 for part in parts[:-1])
                if count == 1:
                    assert len(parts) == 1


@pytest.mark.parametrize(("rows", "count"), [(1_000, 2), (10_001, 1), (19_999, 1), (20_000, 2), (1_000_000, 32)])
def test_pieces_have_the_least_number_of_rows(rows: int, count: int) -> None:
    """Where there are more rows than that."""
    with lw.set_threads(2):
        assert len(threads.pieces(rows, threads.LEAST // 500, unit=1, least=10_000)) == count


def test_small_batches_stay_on_one_thread(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "run", None)
    with lw.set_threads(2):
        kernel(numbers(1000, 3), 2.0)


BATCHES = {
    "a batch of both": ((ROWS, 3), (ROWS,)),
    "one number for all": ((ROWS, 3), ()),
    "one vector for all": ((3,), (ROWS,)),
    "one row": ((1, 3), (ROWS,)),
    "crossed": ((ROWS, 1, 3), (1, 7)),
    "crossed the other way": ((7, 3), (ROWS, 1)),
    "a long second axis": ((2, ROWS, 3), (2, ROWS)),
    "a long last axis": ((2, 1, ROWS, 3), (ROWS,)),
}


@pytest.mark.parametrize("shapes", BATCHES.values(), ids=BATCHES)
def test_broadcasting(kernel: Kernel, divided: list[int], shapes: tuple[tuple[int, ...], ...]) -> None:
    x, a = (numbers(*shape) for shape in shapes)
    x.reshape(-1)[2] = np.nan
    assert same(kernel.ufunc(x, a), kernel(x, a))
    assert divided
    assert divided[0] > 1


def test_kinds_of_arguments(kernel: Kernel, divided: list[int]) -> None:
    x, a = numbers(ROWS, 3), numbers(ROWS)
    wide, tall = numbers(ROWS, 9)[:, ::3], numbers(2 * ROWS, 3)[::-2]
    calls: list[tuple[Any, Any]] = [
        (x.tolist(), a.tolist()),
        (x, 2.0),
        (x, 2),
        (x.astype(np.float32), a.astype(np.float32)),
        (x.astype(np.float32), 0.1),  # (a number of Python takes the precision of the array)
        (x.astype(np.float32), a),
        ((10 * x).astype(np.int64), a),
        (x.astype(np.float16), a.astype(np.float16)),
        (wide, a[::-1]),
        (tall, a),
        (np.asfortranarray(x), a),
        (x.astype(x.dtype.newbyteorder()), a),
        (np.broadcast_to(x[0], x.shape), a),
    ]
    for args in calls:
        assert same(kernel.ufunc(*args), kernel(*args))
    assert len(divided) == len(calls)


def test_a_file_on_disk(kernel: Kernel, divided: list[int], tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", numbers(ROWS, 3))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert same(kernel.ufunc(x, 1.0), kernel(x, 1.0))
    assert divided


def test_numbers_alone(divided: list[int]) -> None:
    """What has no core dimensions has no signature in NumPy."""
    kernel = Kernel(trace(lambda x, y: x[()] * y[()] + 1.0, "line", {"x": (), "y": ()}, {"z": ()}))
    x = numbers(ROWS)
    assert np.array_equal(kernel(x, 2.0), 2.0 * x + 1.0)
    assert len(divided) == 1


def test_out(kernel: Kernel, divided: list[int]) -> None:
    x, a = numbers(ROWS, 3), numbers(ROWS)
    wanted = kernel.ufunc(x, a)
    y, z = np.full((2 * ROWS, 3), 7.0), np.empty(ROWS)
    results = kernel(x, a, out=(y[::2], z))
    assert same(wanted, results)
    assert results[1] is z
    assert (y[1::2] == 7.0).all()
    results = kernel(x, a, out=(None, z))
    assert same(wanted, results)
    assert results[1] is z
    single = np.empty((ROWS, 3), np.float32), np.empty(ROWS, np.float32)
    kernel(x, a, out=single)
    assert same([part.astype(np.float32) for part in wanted], single)
    assert len(divided) == 3


def test_what_numpy_shall_look_at(kernel: Kernel, divided: list[int]) -> None:
    """Outputs over inputs, of other shapes, keywords, subclasses and objects: as on one thread, or the same error."""
    x, a = numbers(ROWS, 3), numbers(ROWS)
    wanted = kernel.ufunc(x, a)
    room = np.empty((ROWS + 1, 3))
    room[:-1] = x
    assert same(wanted, kernel(room[:-1], a, out=(room[1:], None)))
    taller = np.empty((2, ROWS, 3)), np.empty((2, ROWS))
    assert same(kernel.ufunc(x, a, out=tuple(map(np.copy, taller))), kernel(x, a, out=taller))
    assert same(wanted, kernel(x, a, axes=[(-1,), (), (-1,), ()]))
    assert all(part.dtype == np.float32 for part in kernel(x, a, dtype=np.float32, casting="same_kind"))

    class Kept(np.ndarray):
        pass

    assert all(type(part) is Kept for part in kernel(x.view(Kept), a))
    assert divided == []


def test_errors_are_those_of_one_thread(kernel: Kernel, divided: list[int]) -> None:
    x, a = numbers(ROWS, 3), numbers(ROWS)
    for args in (
        (x[:, :2], a),
        (x, a[:-1]),
        (x,),
        (x.astype(complex), a),
        (x.astype(object), "a"),
        ([[1.0], [1.0, 2.0]], a),
    ):
        with pytest.raises((ArgumentError, TypeError)) as several:
            kernel(*args)
        with pytest.raises(type(several.value)) as one, lw.set_threads(1):
            kernel(*args)
        assert str(one.value) == str(several.value)
    with pytest.raises(ValueError, match="mismatch"):
        kernel(x, a, out=(np.empty((ROWS, 2)), None))
    locked = np.empty((ROWS, 3))
    locked.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        kernel(x, a, out=(locked, None))
    assert kernel(x[:0], a[:0])[0].shape == (0, 3)


def test_floating_point_errors_are_those_of_the_caller(kernel: Kernel, divided: list[int]) -> None:
    x = np.full((ROWS, 3), 1e200)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        kernel(x, 1.0)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(x, 1.0)
    with pytest.warns(RuntimeWarning, match="overflow"):
        kernel(x, 1.0)
    assert len(divided) == 3


def test_pickled_kernels(kernel: Kernel, divided: list[int]) -> None:
    x = numbers(ROWS, 3)
    assert same(kernel.ufunc(x, 1.0), pickle.loads(pickle.dumps(kernel))(x, 1.0))
    assert divided


def test_numpy_computes_on_one_thread(divided: list[int]) -> None:
    slow = Kernel(trace(pair, "pair", {"x": (3,), "a": ()}, {"y": (3,), "z": ()}), "numpy")
    slow(numbers(ROWS, 3), 1.0)
    assert divided == []


# ── the threads ───────────────────────────────────────────────────────────────────────────────────


def test_several_threads_take_part() -> None:
    """Each of three parts waits until all three are begun, one of them by the calling thread."""
    barrier, names = threading.Barrier(3, timeout=60), set()

    def work(part: slice) -> list[None]:
        barrier.wait()
        names.add(threading.current_thread().name)
        assert lw.get_threads() == 1
        return []

    with lw.set_threads(3):
        threads.run(work, [slice(k, k + 1) for k in range(3)])
        assert lw.get_threads() == 3
    assert len(names) == 3
    assert threading.current_thread().name in names


def test_a_part_may_divide_its_own_work() -> None:
    """More calls at once, each of them nested, than there are threads in the pool: none waits for another."""
    done: list[slice] = []

    def inner(part: slice) -> list[None]:
        done.append(part)
        return []

    def outer(part: slice) -> list[None]:
        with lw.set_threads(40):
            threads.run(inner, [slice(k, k + 1) for k in range(50)])
        return []

    with lw.set_threads(40):
        threads.run(outer, [slice(k, k + 1) for k in range(50)])
    assert len(done) == 2500


def test_threads_of_a_program_at_once(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "LEAST", 1)
    x = numbers(ROWS, 3)
    wanted, results = kernel.ufunc(x, 1.0), []

    def caller() -> None:
        with lw.set_threads(4):
            results.extend(kernel(x, 1.0) for _ in range(20))

    callers = [threading.Thread(target=caller) for _ in range(8)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert len(results) == 160
    assert all(same(wanted, result) for result in results)


@pytest.mark.parametrize("place", [0, 6, 13])
def test_an_error_ends_all_parts(place: int) -> None:
    """Of three threads each begins with the first of its 6 or 7 parts; one fails, the others never end by themselves."""
    begun: list[int] = []

    def work(part: slice) -> Iterator[None]:
        begun.append(part.start)
        while True:
            if part.start == place:
                raise ZeroDivisionError(part.start)
            yield

    with lw.set_threads(3), pytest.raises(ZeroDivisionError, match=str(place)):
        threads.run(work, [slice(k, k + 1) for k in range(20)])
    assert place in begun
    assert set(begun) <= {0, 6, 13}
    assert lw.get_threads() == 1


def test_parts_of_others_are_taken_over() -> None:
    """The first part waits until all others are done."""
    done: list[int] = []
    others = threading.Event()

    def work(part: slice) -> list[None]:
        if part.start == 0:
            assert others.wait(60)
        done.append(part.start)
        if len(done) == 19:
            others.set()
        return []

    with lw.set_threads(2):
        threads.run(work, [slice(k, k + 1) for k in range(20)])
    assert sorted(done) == list(range(20))
    assert done[-1] == 0


def test_a_part_is_left_between_two_of_its_steps() -> None:
    """One part never ends by itself; the other fails."""
    running = threading.Event()

    def work(part: slice) -> Iterator[None]:
        if part.start:
            running.wait(60)
            raise ZeroDivisionError
        while True:
            running.set()
            yield

    with lw.set_threads(2), pytest.raises(ZeroDivisionError):
        threads.run(work, [slice(0, 1), slice(1, 2)])


def test_an_interrupt_while_threads_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs already is stopped."""
    running, submit = threading.Event(), threads._submit

    def interrupted(*args: Any) -> None:
        submit(*args)
        running.wait(60)
        raise KeyboardInterrupt

    def work(part: slice) -> Iterator[None]:
        while True:
            running.set()
            yield

    monkeypatch.setattr(threads, "_submit", interrupted)
    with lw.set_threads(2), pytest.raises(KeyboardInterrupt):
        threads.run(work, [slice(0, 1), slice(1, 2)])


def test_where_no_thread_can_be_started(kernel: Kernel, divided: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    threads._pool.cache_clear()

    def refuse(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    x = numbers(ROWS, 3)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert same(kernel.ufunc(x, 1.0), kernel(x, 1.0))
    assert same(kernel.ufunc(x, 1.0), kernel(x, 1.0))
    assert len(divided) == 2


INTERRUPTED = """
import os, signal, threading, time
from linkwise.kernel import threads
threads.LEAST = 1
arm = lw.robots.planar_2r()
lw.set_threads(2)
arm.kernel("forward_dynamics")
def long():
    return lw.simulate(arm, np.zeros((64, 2)), t=(10_000.0, 1e-4), record=100_000)
lw.simulate(arm, np.zeros((64, 2)), t=(0.01, 1e-4))
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    long()
except KeyboardInterrupt:
    print("interrupted", lw.get_threads())
q = np.zeros((64, 2))
print(lw.simulate(arm, q, t=(0.01, 1e-4)).q.shape)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_a_long_rollout() -> None:
    assert in_a_process(INTERRUPTED) == "interrupted 2\n(64, 101, 2)"


def in_a_child(x: np.ndarray) -> bool:
    """Whether a kernel that is traced there gives the same on three threads."""
    threads.LEAST = 1
    kernel = Kernel(trace(pair, "pair", {"x": (3,), "a": ()}, {"y": (3,), "z": ()}))
    with lw.set_threads(3):
        return same(kernel.ufunc(x, 1.0), kernel(x, 1.0))


def test_a_new_process() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(in_a_child, (numbers(ROWS, 3),))


FORKED = """
import os
from linkwise.kernel import threads
threads.LEAST = 1
kernel = lw.robots.planar_2r().kernel("forward_dynamics")
q = np.random.default_rng(0).normal(size=(1003, 2))
wanted = kernel(q, q, q)
lw.set_threads(3)
assert (kernel(q, q, q) == wanted).all()
child = os.fork()
same = bool((kernel(q, q, q) == wanted).all())
if child == 0:
    os._exit(0 if same else 1)
print(same, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that fork")
def test_a_forked_process() -> None:
    """A child that is forked while the threads are there has none of them, and starts its own."""
    assert in_a_process(FORKED) == "True 0"
