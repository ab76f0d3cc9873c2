"""Mutated files of numbers: recordings, states and trajectories, damaged as files, as archives, as arrays and as texts.

``python -m tests.support.archive_mutations 20000`` reads so many of each kind and prints what became of them.
"""

from __future__ import annotations

import collections
import io
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.control import Recording, State
from linkwise.errors import FileError
from linkwise.trajectory import CartesianTrajectory, Event, Trajectory
from support.feedback_chain import AChain, run

TOKENS = (
    *(b"", b"\0", b"\xff", b"0", b"-1", b"nan", b"1e400", b"9" * 30, b"9" * 5000, b"[" * 3000, b"{", b"}", b"]", b'"', b","),
    *(b"null", b"true", b"\\ud800", b"float", b"choice", b"in", b"1", b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"),
    *(b"\x93NUMPY", b"<f8", b">f8", b"|O", b"<U9", b"<c16", b"<M8[s]", b"(4,)", b"(1000000000000,)", b"(-1,)", b"True"),
)
"""What is put between and in place of bytes: words of the formats, and numbers at their edges."""

DESCRIPTIONS = (
    *("<f8", ">f8", "<f4", "<i8", "|b1", "<c16", "|O", "<U3", "<U99999999", "<M8[s]", "|V8"),
    *("[('a','<f8')]", "<f999"),
)
SHAPES = ((), (0,), (4,), (4, 4), (1 << 40,), (-1,), (0, 1 << 62), (1,) * 70, (2**31, 2**31, 2**31))


class Specimen(NamedTuple):
    """A valid file, and what reads it; the kind is its name."""

    kind: str
    data: bytes
    load: Callable[[str | Path], Any]


def specimens(folder: Path) -> list[Specimen]:
    """One valid file of each kind."""
    chain = AChain()
    recorder = chain.record(6)
    run(chain, 9)
    t, q = np.arange(4.0), np.ones((4, 2))
    trajectory = Trajectory(t, q, q, q, tau=q, kinetic=t, names=("a", "b"), events=(Event("hit", 1.0, q[0], q[0]),))
    frame = CartesianTrajectory(t, np.tile(np.eye(4), (4, 1, 1)), np.zeros((4, 6)), np.zeros((4, 6)))
    parts: list[tuple[str, Callable[[Path], None], Callable[[str | Path], Any]]] = [
        ("recording.npz", recorder.write, Recording.load),
        ("recording.csv", recorder.write, Recording.load),
        ("state.npz", chain.save().write, State.read),
        ("trajectory.npz", trajectory.save, Trajectory.load),
        ("frame.npz", frame.save, CartesianTrajectory.load),
    ]
    made = []
    for kind, write, load in parts:
        write(folder / kind)
        made.append(Specimen(kind, (folder / kind).read_bytes(), load))
    return made


def mutated(rng: np.random.Generator, data: bytes) -> bytes:
    """The file with one to three changes, each of one kind."""
    change = (_bytes, _bytes, _archive, _member, _member, _text)[int(rng.integers(6))]
    for _ in range(int(rng.integers(1, 4))):
        data = change(rng, data)
    return data


def outcome(specimen: Specimen, path: Path) -> str:
    """What reading the file ends in: ``"read"``, ``"refused"`` or the name of an error that escapes."""
    try:
        specimen.load(path)
    except FileError:
        return "refused"
    except Exception as error:  # (that none comes is what is looked at)
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(where.filename).name}: {where.name}"
    return "read"


def outcomes(specimen: Specimen, count: int, seed: int, folder: Path) -> Iterator[tuple[str, float]]:
    """What became of each of so many mutated files, and how long it took, s."""
    rng, path = np.random.default_rng(seed), folder / f"mutated-{specimen.kind}"
    for _ in range(count):
        path.write_bytes(mutated(rng, specimen.data))
        begin = time.perf_counter()
        yield outcome(specimen, path), time.perf_counter() - begin


def _bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """Change bytes of the file, wherever they stand; half of them in the archive's directory at its end."""
    made = bytearray(data)
    start = max(0, data.rfind(b"PK\x05\x06") - 1200) if rng.random() < 0.5 else 0
    at = int(rng.integers(start, len(made) + 1))
    size = int(rng.integers(1, 40))
    match int(rng.integers(6)):
        case 0:
            del made[at:]
        case 1:
            del made[at : at + size]
        case 2:
            made[at:at] = made[at : at + size]
        case 3:
            made[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]
        case 4:
            made[at : at + 4] = struct.pack("<I", int(rng.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])))
        case _:
            made[at : at + 1] = bytes([int(rng.integers(256))])
    return bytes(made)


def _members(data: bytes) -> list[tuple[str, bytes]]:
    """The members of an archive; none where it cannot be read any more."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(name, archive.read(name)) for name in archive.namelist()]
    except Exception:
        return []


def _packed(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(buffer, "w", method) as archive:  # (names that repeat)
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def _archive(rng: np.random.Generator, data: bytes) -> bytes:
    """Leave out, repeat, rename or exchange members; or compress them by another method."""
    members = _members(data)
    if not members:
        return data
    at, other = (int(k) for k in rng.integers(len(members), size=2))
    name, content = members[at]
    match int(rng.integers(5)):
        case 0:
            del members[at]
        case 1:
            members[at] = (members[other][0] + ".npy", content)
        case 2:
            names = ["../a.npy", "a", ".npy", "linkwise.npy", "a\0.npy", "x" * 300 + ".npy"]
            members[at] = (str(rng.choice(names)), content)
        case 3:
            members[at], members[other] = (name, members[other][1]), (members[other][0], content)
        case _:
            return _packed(members, int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])))
    return _packed(members)


def _member(rng: np.random.Generator, data: bytes) -> bytes:
    """Change one member's header or content, in an archive that is whole."""
    members = _members(data)
    if not members:
        return data
    at = int(rng.integers(len(members)))
    name, content = members[at]
    if rng.random() < 0.5:
        content = _bytes(rng, content)
    else:
        head = {
            "descr": DESCRIPTIONS[int(rng.integers(len(DESCRIPTIONS)))],
            "fortran_order": bool(rng.random() < 0.3),
            "shape": SHAPES[int(rng.integers(len(SHAPES)))],
        }
        text = repr(head).encode() + b"\n"
        content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content[128:]
    members[at] = (name, content)
    return _packed(members)


def _text(rng: np.random.Generator, data: bytes) -> bytes:
    """Change the text in one member that holds one, or a number in one that does not; its header stays true."""
    members = _members(data)
    if not members:
        return data
    at = int(rng.integers(len(members)))
    name, content = members[at]
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:
        return data
    if array.dtype.kind == "U" and array.size:
        text = _bytes(rng, "".join(array.ravel().tolist()).encode("utf-8", "surrogatepass"))
        array = np.array(text.decode("utf-8", "replace"))
        if rng.random() < 0.1:
            array = array.reshape(1)
    elif array.size and array.dtype.kind in "fiub":
        array = array.reshape(-1).copy() if rng.random() < 0.2 else array.copy()
        array.flat[int(rng.integers(array.size))] = rng.choice([0, -1, 0.5, 2.0**62] + [1e308] * (array.dtype.kind == "f"))
    buffer = io.BytesIO()
    np.save(buffer, array)
    members[at] = (name, buffer.getvalue())
    return _packed(members)


def main(count: int, seed: int = 1) -> None:
    """Read so many mutated files of each kind, and print what became of them."""
    with tempfile.TemporaryDirectory() as folder:
        for specimen in specimens(Path(folder)):
            seen: collections.Counter[str] = collections.Counter()
            longest = 0.0
            for result, seconds in outcomes(specimen, count, seed, Path(folder)):
                seen[result] += 1
                longest = max(longest, seconds)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            print(f"{specimen.kind}: {dict(seen.most_common())}; longest {longest:.3f} s, peak {peak:.0f} MB", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
