"""Threads for large batches: their number, and the division of a batch."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar, copy_context
from functools import cache, partial
from itertools import combinations, pairwise, product
from math import ceil, prod
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.kernel.tape import Tape
from linkwise.spatial.validation import whole

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

#: Environment variable: number of threads, unless `set_threads` is called.
VARIABLE = "LINKWISE_THREADS"

#: Least number of operations of a piece of a batch: some 0.1 ms, many times the cost of a hand-over to a thread.
LEAST = 4_000_000

#: Pieces per thread, if these are not too small: if one thread is delayed, the others take over.
PIECES = 16

#: Bytes of all outputs of a call together from which on machine code writes past the caches, which have no room for them.
STREAM = 1 << 23

#: Scalars of a row of an output from which on it is written so: shorter rows, poses too, are written as fast through them.
STREAMED_ROW = 17

#: Operations that take as long as moving one number to or from memory.
MOVE = 16

#: A piece has a multiple of these rows, which fill whole vectors of any processor, and whole cache lines.
ROWS = 64

_EXPECTED = 'a whole number from 1, or "all" for as many as this process may use processors'


class set_threads:  # noqa: N801  (called as a function, as `numpy.errstate` is)
    """Set the number of threads for large batches: of kernels, of the solvers, of `simulate`.

    The numbers that come out are the same to the last bit. It holds for this thread, or this asynchronous task, from now on;
    as a context manager, to the end of the block. Small batches and single configurations stay on one thread.

    Parameters
    ----------
    n : int, "all" or None
        Threads, the calling one included; "all" or None: as many as this process may use processors.

    Raises
    ------
    ArgumentError
        For anything else.

    See Also
    --------
    get_threads : How many it is now.

    Notes
    -----
    It is 1 at first, or what the environment variable ``LINKWISE_THREADS`` says when Linkwise is imported; a thread that a
    program starts begins with that too.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> arm = lw.robots.puma560()
    >>> q = np.random.default_rng(0).uniform(-3, 3, (100_000, 6))
    >>> with lw.set_threads(2):
    ...     poses = arm.forward_kinematics(q)
    >>> lw.get_threads(), bool((poses == arm.forward_kinematics(q)).all())
    (1, True)
    """

    def __init__(self, n: int | str | None) -> None:
        self._before = WORKERS.get()
        self.n = _checked("n", n)
        WORKERS.set(self.n)

    def __enter__(self) -> None:
        """Hold to the end of the block."""

    def __exit__(self, *_: object) -> None:
        WORKERS.set(self._before)

    def __repr__(self) -> str:
        return f"set_threads({self.n})"


def get_threads() -> int:
    """Number of threads for large batches; see `set_threads`.

    Raises
    ------
    ArgumentError
        Where nothing but the environment variable ``LINKWISE_THREADS`` says so, and its value is not a number of threads.

    Examples
    --------
    >>> import linkwise as lw
    >>> lw.get_threads()
    1
    """
    return WORKERS.get() or _checked(VARIABLE, _from_environment())


def _checked(field: str, n: Any) -> int:
    if n is None or (isinstance(n, str) and n == "all"):
        return _processors()
    return whole(field, n, 1, _EXPECTED)


def _processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _from_environment() -> Any:
    text = os.environ.get(VARIABLE, "").strip() or "1"
    return int(text) if text.isdecimal() else text


def _default() -> int:
    """Number of threads by the environment; 0 if it is not a number, which is an error at the first use."""
    try:
        return _checked(VARIABLE, _from_environment())
    except ArgumentError:
        return 0


_DEFAULT = _default()

#: Number of threads; 0 if the environment has an invalid value.
WORKERS: ContextVar[int] = ContextVar("linkwise_threads", default=_DEFAULT)


def cost(tape: Tape) -> int:
    """Cost of one row of a batch, in operations."""
    return len(tape.code) + MOVE * (tape.input_count + len(tape.results))


def pieces(rows: int, operations: int, unit: int = ROWS, least: int = 0) -> list[slice]:
    """Divide rows into slices worth a thread each; one slice if there is none, or only one thread.

    Parameters
    ----------
    rows : int
        Length of what is divided.
    operations : int
        Operations of one row.
    unit : int
        All pieces but the last have a multiple of these rows.
    least : int
        Rows of a piece, where there are more.
    """
    threads = get_threads()
    if threads == 1:
        return [slice(0, rows)]
    least = 0 if rows <= least else least if rows >= 2 * least else rows
    size = max(LEAST / max(1, operations), rows / (PIECES * threads), least)
    size = ceil(size / unit) * unit
    return [slice(first, min(first + size, rows)) for first in range(0, rows, size)] or [slice(0, 0)]


def run(work: Callable[[slice], Iterable[Any]], parts: Sequence[slice]) -> None:
    """Do all parts of a task, on as many threads as are set, the calling one among them.

    Parameters
    ----------
    work : callable
        Does one part; what it returns is iterated over, and is left between two items where another part has failed.
    parts : sequence of slice
        In any order.

    Raises
    ------
    BaseException
        The first that a part raised; no part is begun after it.
    """
    if len(parts) == 1:
        deque(work(parts[0]), 0)
        return
    threads = min(get_threads(), len(parts))
    # (a row of parts for each thread: side by side, two would touch the same new pages of memory at once)
    ends = [len(parts) * k // threads for k in range(threads + 1)]
    shares = [deque(parts[first:end]) for first, end in pairwise(ends)]
    stopped = Event()

    def share(k: int) -> None:
        before = WORKERS.get()
        try:
            WORKERS.set(1)  # (calls by a part stay on its thread)
            for part in iter(partial(_next, shares, k), None):
                for _ in work(part):
                    if stopped.is_set():
                        return
        except BaseException:
            stop()
            raise
        finally:
            WORKERS.set(before)

    def stop() -> None:
        for left in shares:
            left.clear()
        stopped.set()

    helpers: list[Future[None]] = []
    try:  # (an interrupt may come while they start: those that run must be stopped then too)
        _submit(share, threads - 1, helpers)
        share(0)
        errors = _finished(helpers)
    except BaseException:
        stop()
        _finished(helpers)
        raise
    if errors:
        raise errors[0]


def _next(shares: Sequence[deque[slice]], k: int) -> slice | None:
    """Take the next part of share k, or the last one of the longest where that is done; None where none is left."""
    while any(shares):
        try:
            return shares[k].popleft() if shares[k] else max(shares, key=len).pop()
        except IndexError:  # (another thread was faster)
            pass
    return None


def _submit(function: Callable[[int], None], count: int, helpers: list[Future[None]]) -> None:
    """Have a function called with 1, 2, ... on so many other threads, added to ``helpers``; on fewer if no more start."""
    pool = _pool()
    for k in range(1, count + 1):
        try:
            helpers.append(pool.submit(copy_context().run, function, k))
        except RuntimeError:  # (the system starts no more threads, or the interpreter is ending: none may be left waiting)
            pool.shutdown(cancel_futures=True)
            _pool.cache_clear()
            break


def _finished(helpers: Sequence[Future[None]]) -> list[BaseException]:
    """Cancel pending threads, wait for running ones, and return their errors."""
    return [error for helper in helpers if not helper.cancel() and (error := helper.exception()) is not None]


@cache
def _pool() -> ThreadPoolExecutor:
    """The threads of this process, which start when they are needed."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(32, 2 * _processors()), thread_name_prefix="linkwise")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # (a child process has none of the threads)


def call(ufunc: Any, operations: int, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a gufunc, its batch divided among the threads that are set; the result is the same to the last bit.

    What is not plainly a large batch of arrays goes to the gufunc as it is.

    Parameters
    ----------
    ufunc : numpy.ufunc or callable
        A callable that is no ufunc is called as it is.
    operations : int
        What one row takes.
    args, kwargs
        Of the gufunc.
    """
    if get_threads() > 1 and type(ufunc) is np.ufunc and len(args) == ufunc.nin and kwargs.keys() <= {"out"}:
        kinds = set(map(type, args))
        if not kinds.isdisjoint((list, tuple)):
            args = [np.asarray(arg) if isinstance(arg, (list, tuple)) else arg for arg in args]
            kinds = set(map(type, args))
        batch = _batch(_signature(ufunc), args) if kinds <= _DIVISIBLE else None
        if batch and operations * prod(batch) >= 2 * LEAST:
            results = _divided(ufunc, operations, args, kwargs.get("out"), batch)
            if results is not None:
                return results if len(results) > 1 else results[0]
    return ufunc(*args, **kwargs)


#: Types of arguments; others have ways of their own in NumPy.
_DIVISIBLE = {np.ndarray, np.memmap, float, int}


def _signature(ufunc: Any) -> str:
    """The signature of a gufunc, also of one without core dimensions, for which NumPy has none."""
    return ufunc.signature or "->".join(",".join(["()"] * count) for count in (ufunc.nin, ufunc.nout))


def _batch(signature: str, args: Sequence[Any]) -> tuple[int, ...] | None:
    """The batch of a call; None where an argument has too few dimensions."""
    shapes = [getattr(arg, "shape", ()) for arg in args]
    splits = [len(shape) - core for shape, core in zip(shapes, _cores(signature)[0], strict=True)]
    batches = {shape[:split] for shape, split in zip(shapes, splits, strict=True)}
    if min(splits) < 0:
        return None
    return batches.pop() if len(batches) == 1 else np.broadcast_shapes(*batches)


def _divided(ufunc: Any, operations: int, args: Sequence[Any], out: Any, batch: tuple[int, ...]) -> tuple[Any, ...] | None:
    """Results of a call in pieces; None if there are too few, or if NumPy must handle the outputs."""
    cores, result_cores = _cores(_signature(ufunc))
    outputs = [*out] if isinstance(out, tuple) else [None] * ufunc.nout if out is None else [out]
    if result_cores is None or len(outputs) != ufunc.nout:
        return None
    axis = 0 if batch[0] >= PIECES * get_threads() else int(np.argmax(batch))
    shapes = [(*batch, *core) for core in result_cores]
    ready = [out for out in outputs if out is not None]
    plain = all(type(out) is np.ndarray for out in ready)
    fit = all(out is None or out.shape == shape for out, shape in zip(outputs, shapes, strict=True))
    if not (plain and fit) or any(np.may_share_memory(*pair) for pair in (*product(ready, args), *combinations(ready, 2))):
        return None
    kinds = [type(arg) if type(arg) in (float, int) else arg.dtype for arg in args]
    dtypes = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))[ufunc.nin :]
    across = prod(batch) // max(1, batch[axis])
    streams = max(map(prod, result_cores), default=0) >= STREAMED_ROW
    size = across * sum(prod(core) * dtype.itemsize for core, dtype in zip(result_cores, dtypes, strict=True))
    parts = pieces(batch[axis], operations * across, least=STREAM // size + 1 if streams else 0)
    if len(parts) == 1:
        return None
    results = tuple(
        np.empty(shape, dtype) if out is None else out for out, shape, dtype in zip(outputs, shapes, dtypes, strict=True)
    )
    # (axis of the batch in each array; an array without it, or with one row, is shared by all pieces)
    places = [axis + np.ndim(arg) - core - len(batch) for arg, core in zip(args, cores, strict=True)]
    divided = [place >= 0 and arg.shape[place] > 1 for arg, place in zip(args, places, strict=True)]

    def compute(part: slice) -> tuple[()]:
        views = [
            arg[(slice(None),) * place + (part,)] if inside else arg
            for arg, place, inside in zip(args, places, divided, strict=True)
        ]
        ufunc(*views, out=tuple(result[(slice(None),) * axis + (part,)] for result in results))
        return ()

    run(compute, parts)
    return results


@cache
def _cores(signature: str) -> tuple[list[int], list[tuple[int, ...]] | None]:
    """Number of core dimensions of a gufunc's inputs, and those of its outputs, None if they are not numbers.

    Examples
    --------
    >>> _cores("(p),(k,n),()->(4,4),(2)")
    ([1, 2, 0], [(4, 4), (2,)])
    """
    inputs, outputs = (
        [core.split(",") if core else [] for core in side.strip()[1:-1].replace(" ", "").split("),(")]
        for side in signature.split("->")
    )
    if not all(size.isdecimal() for core in outputs for size in core):
        return [len(core) for core in inputs], None
    return [len(core) for core in inputs], [tuple(map(int, core)) for core in outputs]
