"""Change valid text files at random and read them: only Linkwise's own errors may come out, soon and in little memory.

    python tools/mutate_readers.py --cases 20000            all readers of texts, one process each
    python tools/mutate_readers.py --reader URDF --seed 7

Prints for each reader how many files it read and refused, what escaped (with the file kept in --keep), the longest time that
one took, and by how much the process grew. The exit status is 1 where anything escaped, took longer than 5 s, or grew by
more than 300 MB. Archives of arrays: ``python -m tests.support.archive_mutations 20000``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

SLOWEST, GROWTH = 5.0, 300.0
"""Seconds for one file, and MB that a process may grow by."""


def run(name: str, cases: int, seed: int, keep: Path) -> dict[str, object]:
    """Read that many changed files with one reader; run it in a process of its own, for its growth."""
    warnings.simplefilter("ignore")
    from linkwise.errors import LinkwiseError
    from support.readers import readers
    from support.text_mutations import mutated

    reader = readers()[name]
    rng = random.Random(f"{name} {seed}")
    escapes: dict[str, bytes] = {}
    taken, refused, longest = 0, 0, (0.0, b"")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"mutated{reader.suffix}"
        for data in reader.valid:
            write(path, data, reader.suffix)
            reader.read(path)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(cases):
            data = mutated(rng.choice(reader.valid), rng)
            write(path, data, reader.suffix)
            start = time.perf_counter()
            try:
                reader.read(path)
                taken += 1
            except LinkwiseError:
                refused += 1
            except BaseException as error:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                escapes.setdefault(f"{type(error).__name__}: {str(error)[:80]!r} at {frame.name}:{frame.lineno}", data)
            spent = time.perf_counter() - start
            longest = max(longest, (spent, data))
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    for k, data in enumerate([*escapes.values(), *([longest[1]] if longest[0] > SLOWEST else [])]):
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name.replace(' ', '_')}-{seed}-{k}{reader.suffix}").write_bytes(data)
    return {
        "name": name,
        "read": taken,
        "refused": refused,
        "escapes": list(escapes),
        "longest": longest[0],
        "growth": growth,
    }


def write(path: Path, data: bytes, suffix: str) -> None:
    """Write a file as its reader wants it: a file of users is its owner's alone."""
    path.write_bytes(data)
    path.chmod(0o600)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", action="append", help="one reader, by name; all of them unless said")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("out/mutations"))
    options = parser.parse_args()
    from support.readers import readers

    known = [name for name, reader in readers().items() if reader.suffix != ".npz"]
    names = options.reader or known
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no reader {unknown[0]!r}; there are {', '.join(known)}")
    failed = False
    print(f"{'reader':20} {'read':>7} {'refused':>8} {'escapes':>8} {'longest':>9} {'growth':>8}")
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=1) as pool:
        tasks = [pool.apply_async(run, (name, options.cases, options.seed, options.keep)) for name in names]
        for task in tasks:
            told = task.get()
            wrong = told["escapes"] or told["longest"] > SLOWEST or told["growth"] > GROWTH
            failed |= bool(wrong)
            print(
                f"{told['name']:20} {told['read']:7} {told['refused']:8} {len(told['escapes']):8} {told['longest']:7.2f} s "
                f"{told['growth']:5.0f} MB",
                flush=True,
            )
            for escape in told["escapes"]:
                print(f"    {escape}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
