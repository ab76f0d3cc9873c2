"""Run a sweep, in processes of this machine or on a cluster of Dask, in a folder that is for one sweep and one process.

What is there already is not computed again.
"""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from linkwise.errors import ArgumentError, FileError, FileProblem, choices
from linkwise.extras import optional
from linkwise.files.atomic import TextFile, cannot_write, locked
from linkwise.parameter_sweep.storage import FORMATS, Storage
from linkwise.parameter_sweep.sweep import Sweep


def claim(path: Path, settings: Mapping[str, Any]) -> None:
    """Record in a file the purpose of its folder; reject a folder with another purpose.

    Of several that come at once one makes the file, and the others read it.

    Raises
    ------
    ArgumentError
        Where the folder is for other settings: which.
    FileError
        Where the file cannot be read or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    if _is_new(path, json.dumps(settings, indent=2) + "\n"):
        return
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(path, [FileProblem(0, f"cannot be read: {error}")]) from error
    if settings["digest"] is None:
        raise ArgumentError(
            f"sweep: {path.parent} holds results, and those of {settings['mechanism']!r}, with parts of other packages,"
            " cannot be distinguished from others; expected another folder"
        )
    other = [name for name, value in settings.items() if not isinstance(known, dict) or known.get(name) != value]
    if other:
        raise ArgumentError(
            f"sweep: {path.parent} holds results of another {choices(other)}; expected the same sweep to be continued, or"
            " another folder"
        )


def _is_new(path: Path, text: str) -> bool:
    """Make a file with this text, whole from the beginning; whether there was none."""
    if path.exists():
        return False
    try:
        file = TextFile(path, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        file.write(text)
        file.close()
        with suppress(OSError):
            os.chmod(file.temporary, 0o644)
        os.link(file.temporary, path)
    except FileExistsError:
        return False
    except OSError:  # (a file system without links)
        try:
            with path.open("x", encoding="utf-8") as plain:
                plain.write(text)
        except FileExistsError:
            return False
        except OSError as error:
            raise cannot_write(path, error) from error
    finally:
        file.drop()
    return True


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Lock an existing file against other processes; the system releases it when this process ends.

    Raises
    ------
    ArgumentError
        Where another process holds it.
    """
    with path.open("rb") as file, ExitStack() as held:
        try:
            held.enter_context(locked(file.fileno(), wait=False))
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EAGAIN}:  # (a file system without locks reports all as free)
                raise ArgumentError(
                    f"sweep: one is running in {path.parent} now; expected another folder, or to wait for its end"
                ) from None
        yield


#: Callback with the numbers of written and of all chunks.
Progress = Callable[[int, int], None]

#: The file with the purpose of a folder's parts; readers of Parquet ignore names that begin with an underscore.
SETTINGS = "_sweep.json"

#: Greatest number of replacements of lost processes without a finished chunk: some chunks always end their process.
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
