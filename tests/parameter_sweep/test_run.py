"""Sweeps on disk: whole parts, continued where they stopped; processes and workers that end in the middle lose nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import ArgumentError, FileError
from linkwise.parameter_sweep import FORMATS, Sweep, run
from linkwise.parameter_sweep.run import _here, claim
from support.ending_process import end_once

OVER = {"mass:link2": (1.0, 5.0)}


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    return Sweep.of(robots.planar_2r(), "gravity_torque", OVER, samples=90, chunk=20)


def read(folder: Path, k: int, format: str, sweep: Sweep) -> dict[str, Any]:  # noqa: A002
    """The arrays of a chunk as another program reads them."""
    if format == "npz":
        with np.load(folder / f"part-{k:06d}.npz") as arrays:
            return dict(arrays)
    if format == "zarr":
        group = pytest.importorskip("zarr").open_group(str(folder / "results.zarr"), mode="r")
        return {name: group[name][sweep.rows(k)] for name in sweep.shapes}
    table = pytest.importorskip("pyarrow.parquet").read_table(folder / f"part-{k:06d}.parquet").to_pydict()
    return {
        name: np.stack([table[label] for label in labels], axis=1).reshape(-1, *sweep.shapes[name])
        for name, labels in sweep.columns.items()
    }


@pytest.mark.parametrize(("format", "library"), [("npz", "numpy"), ("parquet", "pyarrow"), ("zarr", "zarr")])
def test_results_are_read_as_they_were_computed_and_runs_are_continued(
    sweep: Sweep,
    tmp_path: Path,
    format: str,  # noqa: A002
    library: str,
) -> None:
    pytest.importorskip(library)

    def stop(done: int, count: int) -> None:
        assert count == 5
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(sweep, tmp_path, format=format, processes=1, progress=stop)
    assert FORMATS[format].written(tmp_path) == {0, 1, 2}
    (tmp_path / f".part-000003.{FORMATS[format].suffix}.abc.part").write_bytes(b"half")
    seen: list[int] = []
    assert run(sweep, tmp_path, format=format, processes=1, progress=lambda done, _: seen.append(done)) == 2
    assert seen == [3, 4, 5]
    assert not list(tmp_path.glob(".part*"))
    assert run(sweep, tmp_path, format=format) == 0
    if format == "parquet":  # (the folder as one table, whatever else is in it)
        assert pytest.importorskip("pyarrow.parquet").read_table(tmp_path).num_rows == 90
    for k in range(sweep.chunks):
        wanted, arrays = sweep.compute(k), read(tmp_path, k, format, sweep)
        assert list(arrays) == list(wanted)
        assert all(np.array_equal(arrays[name], wanted[name]) for name in wanted)


def test_a_folder_is_for_one_sweep(sweep: Sweep, tmp_path: Path) -> None:
    run(sweep, tmp_path, format="npz", processes=1)
    settings = json.loads((tmp_path / "_sweep.json").read_text())
    assert (settings["mechanism"], settings["over"], settings["samples"]) == ("planar_2r", {"mass:link2": [1.0, 5.0]}, 90)
    other = Sweep.of(robots.planar_2r(), "gravity_torque", OVER, samples=90, chunk=20, seed=1)
    with pytest.raises(ArgumentError, match="holds results of another 'seed'"):
        run(other, tmp_path, format="npz", processes=1)
    with pytest.raises(ArgumentError, match="format is 'csv'; expected 'parquet', 'npz' or 'zarr'"):
        run(sweep, tmp_path, format="csv")
    (tmp_path / "_sweep.json").write_text("{")
    with pytest.raises(FileError, match="cannot be read"):
        run(sweep, tmp_path, format="npz")


def test_sweeps_that_start_at_once_do_not_mix(sweep: Sweep, tmp_path: Path) -> None:
    """Of several that find an empty folder one claims it; while it runs, no other process has it, not even for the same."""
    settings = [{"mechanism": "a", "digest": "0", "seed": seed} for seed in range(8)]
    path = tmp_path / "_sweep.json"
    with ThreadPoolExecutor(8) as pool:
        errors = [future.exception() for future in [pool.submit(claim, path, some) for some in settings]]
    assert sum(error is None for error in errors) == 1
    assert all("holds results of another 'seed'" in str(error) for error in errors if error)
    assert json.loads(path.read_text()) == settings[errors.index(None)]
    assert [item.name for item in tmp_path.iterdir()] == ["_sweep.json"]
    path.unlink()
    tried: list[str] = []

    def start_another(done: int, _: int) -> None:
        code = (
            f"from pathlib import Path; from linkwise.parameter_sweep.run import alone\nwith alone(Path({str(path)!r})): 0"
        )
        if not tried:
            tried.append(subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True).stderr)

    run(sweep, tmp_path, format="npz", processes=1, progress=start_another)
    assert f"sweep: one is running in {tmp_path} now" in tried[0]
    assert run(sweep, tmp_path, format="npz", processes=1) == 0


def test_a_process_that_ends_loses_nothing(sweep: Sweep, tmp_path: Path) -> None:
    assert sorted(_here(partial(end_once, tmp_path), [0, 1, 2], 2)) == [0, 1, 2]
    assert (tmp_path / "ended").exists()
    assert run(sweep, tmp_path / "sweep", format="npz", processes=2) == sweep.chunks


@pytest.mark.skipif(sys.platform == "win32", reason="another way to end a process")
def test_processes_end_with_a_run_that_is_killed(tmp_path: Path) -> None:
    """They waited for its work without end."""
    work = f"partial(wait_noted, Path({str(tmp_path)!r}))"
    code = "from functools import partial; from pathlib import Path; from support.ending_process import wait_noted\n"
    code += f"from linkwise.parameter_sweep.run import _here\nlist(_here({work}, [0, 1], 2))"
    with subprocess.Popen([sys.executable, "-c", code]) as started:
        notes = _until(lambda: [path for path in tmp_path.glob("process-*") if path.read_text()], 2)
        started.kill()
    processes = [int(path.read_text()) for path in notes]
    try:
        assert not _until(lambda: [one for one in processes if _runs(one)], 0)
    finally:
        for one in filter(_runs, processes):
            os.kill(one, signal.SIGKILL)


def _until(seen: Callable[[], list[Any]], count: int) -> list[Any]:
    """What is seen when it is so many, or after 20 seconds."""
    end = time.monotonic() + 20.0
    while len(result := seen()) != count and time.monotonic() < end:
        time.sleep(0.05)
    return result


def _runs(process: int) -> bool:
    """Whether there is such a process, which has not ended."""
    try:
        os.kill(process, 0)
        return "Z" not in Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0]
    except FileNotFoundError:  # (no /proc)
        return True
    except ProcessLookupError:
        return False


def test_a_chunk_that_always_ends_its_process_is_an_error() -> None:
    with pytest.raises(BrokenProcessPool):
        list(_here(os._exit, [1, 2], 2))


def test_a_worker_of_a_cluster_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """Two workers, one killed when three of thirty chunks are there: its chunks come from the other, or a new one."""
    distributed = pytest.importorskip("distributed")
    sweep = Sweep.of(robots.planar_2r(), "gravity_torque", OVER, samples=600_000, chunk=20_000)
    killed: list[int] = []
    addresses: list[str] = []
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        workers = list(client.run(os.getpid).values())

        def kill(done: int, _: int) -> None:
            if done == 3:
                assert len(FORMATS["npz"].written(tmp_path)) < sweep.chunks
                killed.append(workers[0])
                os.kill(workers[0], signal.SIGTERM if os.name == "nt" else signal.SIGKILL)

        where = cluster.scheduler_address
        computed = run(sweep, tmp_path, format="npz", scheduler=where, progress=kill, dashboard=addresses.append)
        assert addresses == [cluster.dashboard_link]
    assert (len(workers), len(killed), computed) == (2, 1, 30)
    for k in range(sweep.chunks):
        wanted, arrays = sweep.compute(k), read(tmp_path, k, "npz", sweep)
        assert all(np.array_equal(arrays[name], wanted[name]) for name in wanted)
    with pytest.raises(ArgumentError, match=r"no scheduler of dask\.distributed answers at 'x://nowhere'"):
        run(
            Sweep.of(robots.planar_2r(), "gravity_torque", {}, samples=1),
            tmp_path / "other",
            format="npz",
            scheduler="x://nowhere",
        )
