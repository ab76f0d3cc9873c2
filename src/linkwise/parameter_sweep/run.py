"""Run a sweep, in processes of this machine or on a cluster of Dask; what is there already is not computed again."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from linkwise.errors import ArgumentError, FileError, FileProblem, choices
from linkwise.extras import optional
from linkwise.parameter_sweep.claim import alone, claim
from linkwise.parameter_sweep.storage import FORMATS, Storage
from linkwise.parameter_sweep.sweep import Sweep

#: Called with how many chunks are written, and how many there are.
Progress = Callable[[int, int], None]

#: The file that says what the parts in a folder belong to; readers of Parquet pass over names that begin so.
SETTINGS = "_sweep.json"

#: How often lost processes are replaced without a chunk in between; a chunk that ends its process does so again.
ATTEMPTS = 3


def run(
    sweep: Sweep,
    folder: str | Path,
    *,
    format: str = "parquet",  # noqa: A002  (what users call it)
    scheduler: str | None = None,
    processes: int | None = None,
    progress: Progress = lambda done, count: None,
    dashboard: Callable[[str], None] = lambda address: None,
) -> int:
    """Compute all chunks of a sweep that are not in the folder, and write them there.

    A chunk is written under a temporary name by whoever computes it, then renamed: a run that was stopped is continued by
    the same call. A process that ends in the middle loses nothing; others compute its chunk.

    Parameters
    ----------
    sweep : Sweep
        What to compute.
    folder : path
        Of the results. It is made where it is not there; workers of a cluster must see it under the same name.
    format : {"parquet", "npz", "zarr"}
        Format of the results; a name of `FORMATS`.
    scheduler : str, optional
        Address of a scheduler of dask.distributed, as ``"tcp://10.0.0.1:8786"``; processes of this machine without it.
    processes : int, optional
        How many on this machine; one for each processor if left out.
    progress : callable
        Called with how many chunks are written, and how many there are.
    dashboard : callable
        Called with the address of the scheduler's dashboard, where it has one.

    Returns
    -------
    int
        How many chunks were computed now.

    Raises
    ------
    ArgumentError
        Where the folder holds another sweep, or one is running there, or no scheduler is at the address.
    FileError
        Where the folder cannot be written, or workers write where this process does not see it.
    MissingExtraError
        Where the library for the format or the cluster is not installed.
    """
    if format not in FORMATS:
        raise ArgumentError(f"sweep: format is {format!r}; expected {choices(FORMATS)}")
    place = Path(folder).resolve()
    claim(place / SETTINGS, json.loads(json.dumps({**sweep.settings, "format": format})))
    with alone(place / SETTINGS):
        return _run(sweep, place, format, scheduler, processes, progress, dashboard)


def _run(
    sweep: Sweep,
    place: Path,
    format: str,  # noqa: A002
    scheduler: str | None,
    processes: int | None,
    progress: Progress,
    dashboard: Callable[[str], None],
) -> int:
    storage = FORMATS[format]
    storage.prepare(place, sweep)
    done = {k for k in storage.written(place) if k < sweep.chunks}
    left = sorted(set(range(sweep.chunks)) - done)
    progress(len(done), sweep.chunks)
    if not left:
        return 0
    work = partial(write_chunk, sweep, place, format)
    sweep.kernel.ufunc  # noqa: B018  (compiled once, and errors come before any process starts)
    count = min(processes or os.cpu_count() or 1, len(left))
    finished = _on_cluster(scheduler, work, left, dashboard) if scheduler else _here(work, left, count)
    with closing(finished):
        for total, k in enumerate(finished, len(done) + 1):
            _check_seen(storage, place, k)
            progress(total, sweep.chunks)
    storage.clear(place)
    return len(left)


def write_chunk(sweep: Sweep, folder: Path, format: str, k: int) -> int:  # noqa: A002
    """Compute and write a chunk; its number."""
    FORMATS[format].write(folder, sweep, k, sweep.compute(k))
    return k


def _check_seen(storage: Storage, folder: Path, k: int) -> None:
    path = storage.path(folder, k)
    if not path.exists():
        raise FileError(
            path,
            [FileProblem(0, "a worker wrote it, and it is not here; workers and this machine must share the folder")],
        )


def _here(work: Callable[[int], int], left: list[int], processes: int) -> Generator[int]:
    """Compute in processes of this machine; lost ones are replaced."""
    if processes == 1:
        yield from map(work, left)
        return
    missing, attempts = set(left), ATTEMPTS
    while missing:
        pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), end_with_parent)
        try:
            for future in as_completed([pool.submit(work, k) for k in sorted(missing)]):
                k = future.result()
                missing.discard(k)
                attempts = ATTEMPTS
                yield k
        except BrokenProcessPool:
            attempts -= 1
            if not attempts:
                raise
        finally:
            pool.shutdown(cancel_futures=True)


def end_with_parent() -> None:
    """Have this process end when the one that started it is killed, which it would wait for without end."""

    def watch() -> None:
        assert parent is not None
        parent.join()
        os._exit(1)

    parent = multiprocessing.parent_process()
    Thread(target=watch, daemon=True).start()


def _on_cluster(
    address: str, work: Callable[[int], int], left: list[int], dashboard: Callable[[str], None]
) -> Generator[int]:
    """Compute on the workers of a scheduler, which gives the chunks of a lost worker to others."""
    distributed = optional("distributed", "a scheduler needs dask.distributed", "dask")
    try:
        client: Any = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"sweep: no scheduler of dask.distributed answers at {address!r}: {error}") from error
    with client:
        if client.dashboard_link and "dashboard" in client.scheduler_info()["services"]:
            dashboard(client.dashboard_link)
        for future in distributed.as_completed(client.map(work, left, pure=False), loop=client.loop):
            yield future.result()
            future.release()
