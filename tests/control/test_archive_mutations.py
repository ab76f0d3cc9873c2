"""Whatever is done to a file of numbers, only Linkwise's own errors escape, soon and in little memory."""

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise.control import Recording, State
from linkwise.errors import FileError
from linkwise.files import npz
from linkwise.trajectory import CartesianTrajectory, Trajectory
from support.archive_mutations import outcomes, specimens

LOADERS = {
    "recording.npz": Recording.load,
    "state.npz": State.read,
    "trajectory.npz": Trajectory.load,
    "frame.npz": CartesianTrajectory.load,
}


@pytest.mark.parametrize("kind", [*LOADERS, "recording.csv"])
def test_mutated_files_are_read_or_refused(tmp_path: Path, kind: str) -> None:
    """A share of the run of archive_mutations.py; 5 s is far more than any takes, and far less than a search without end."""
    specimen = next(each for each in specimens(tmp_path) if each.kind == kind)
    results = list(outcomes(specimen, 300, 7, tmp_path))
    assert {result for result, _ in results} == {"read", "refused"}
    assert max(seconds for _, seconds in results) < 5.0


def peak(load: Callable[[Path], Any], path: Path) -> int:
    """Bytes that a refused file takes at most, beside those of the file."""
    tracemalloc.start()
    try:
        with pytest.raises(FileError):
            load(path)
        return tracemalloc.get_traced_memory()[1] - path.stat().st_size
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 0.4 MB with 400 MB of zeros under every name."""
    path = tmp_path_factory.mktemp("bomb") / "a.npz"
    count = 50_000_000
    head = repr({"descr": "<f8", "fortran_order": False, "shape": (count,)}).encode() + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("values.npy", "w") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        for _ in range(count // 1_000_000):
            stream.write(bytes(8_000_000))
    assert path.stat().st_size < 500_000
    data = path.read_bytes()
    names = {"times", "t", "poses"}
    start = data.rindex(b"PK\x01\x02")
    directory, end = data[start : data.rindex(b"PK\x05\x06")], bytearray(data[data.rindex(b"PK\x05\x06") :])
    entries = directory  # (the same content under other names)
    for name in names:
        filename = f"{name}.npy".encode()
        entry = bytearray(directory[:46])
        entry[28:30] = struct.pack("<H", len(filename))
        entries += bytes(entry) + filename + directory[46 + len("values.npy") :]
    end[8:12] = struct.pack("<HH", *[1 + len(names)] * 2)
    end[12:16] = struct.pack("<I", len(entries))
    path.write_bytes(data[:start] + entries + bytes(end))
    return path


@pytest.mark.parametrize("kind", LOADERS)
def test_a_small_file_of_great_content_is_not_unpacked(bomb: Path, kind: str) -> None:
    assert peak(LOADERS[kind], bomb) < 2e6  # (the directory, and the message)
    with pytest.raises(FileError) as caught:
        LOADERS[kind](bomb)
    assert "MB of arrays" in str(caught.value)


def test_how_much_may_be_read_is_the_callers_choice(tmp_path: Path) -> None:
    t = np.arange(300_000.0)
    still = np.zeros((len(t), 20))
    Trajectory(t, still, still, still).save(tmp_path / "a.npz")  # 147 MB in less than a hundredth of that
    with pytest.raises(FileError) as caught:
        Trajectory.load(tmp_path / "a.npz")
    assert "max_bytes" in str(caught.value)
    assert len(Trajectory.load(tmp_path / "a.npz", max_bytes=200 << 20)) == len(t)
    with pytest.raises(FileError):
        Trajectory.load(tmp_path / "a.npz", max_bytes=1 << 20)


def test_what_does_not_compress_is_read_whatever_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Content up to eight times the size of the file: what takes so much room on the disk is no surprise."""
    monkeypatch.setattr(npz, "LARGEST", 1 << 16)
    t, q = np.arange(2000.0), np.random.default_rng(1).normal(size=(2000, 10))
    Trajectory(t, q, q, q).save(tmp_path / "a.npz")
    assert np.array_equal(Trajectory.load(tmp_path / "a.npz").q, q)


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return path


def claimed(header: str, content: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content


@pytest.mark.parametrize(
    "member",
    [
        claimed("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"),
        claimed("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4611686018427387904), }"),
        claimed("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", bytes(16)),
        claimed("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", bytes(16)),
        claimed("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", bytes(16)),
        claimed("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", bytes(16)),
        claimed("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", bytes(16)),
        claimed("{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 5000 + "), }", bytes(16)),
        claimed("{'descr': '<U1', 'fortran_order': False, 'shape': (4,), }", b"\xff" * 16),
        claimed("__import__('os').abort()", bytes(16)),
        b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31),
        bytes(40),
        b"",
    ],
)
def test_a_header_that_is_not_that_of_its_content(tmp_path: Path, member: bytes) -> None:
    path = archive(tmp_path / "a.npz", {"t.npy": member})
    with pytest.raises(FileError) as caught:
        npz.read(path, {"t": npz.NUMBERS})
    assert caught.value.path == path


def test_orders_of_bytes_and_of_axes(tmp_path: Path) -> None:
    made = np.arange(6.0).reshape(2, 3)
    for array in (made, made.astype(">f8"), np.asfortranarray(made), made.astype("<f4"), np.zeros((0, 3)), np.array(2.5)):
        buffer = io.BytesIO()
        np.save(buffer, array)
        held = npz.read(archive(tmp_path / "a.npz", {"t.npy": buffer.getvalue()}), {"t": npz.NUMBERS})["t"]
        assert held.dtype == array.dtype.newbyteorder("=")
        assert np.array_equal(held, array)


def test_no_names_at_all(tmp_path: Path) -> None:
    """NumPy writes an empty tuple of texts as one of numbers."""
    t, q = np.arange(2.0), np.zeros((2, 7))
    q[:, 3] = 1.0
    Trajectory(t, q, np.zeros((2, 6)), np.zeros((2, 6))).save(tmp_path / "a.npz")
    read = Trajectory.load(tmp_path / "a.npz")
    assert (read.names, read.is_length, read.n) == ((), (), 0)


def test_two_arrays_of_one_name_and_too_many_members(tmp_path: Path) -> None:
    path, content = tmp_path / "a.npz", claimed("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", bytes(8))
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("t.npy", content)
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("t.npy", content)
    with pytest.raises(FileError, match="'t'"):
        npz.read(path, {"t": npz.NUMBERS})
    archive(path, {f"{k}.npy": b"" for k in range(1001)})
    with pytest.raises(FileError, match="1,000"):
        npz.read(path, {"t": npz.NUMBERS})


def test_text_of_many_megabytes_or_nested_deeply(tmp_path: Path) -> None:
    specimen = next(each for each in specimens(tmp_path) if each.kind == "state.npz")
    (tmp_path / "good.npz").write_bytes(specimen.data)
    with np.load(tmp_path / "good.npz") as held:
        arrays = dict(held)
    for name, text in (("channels", "[" * 100_000), ("settings", "[" * 100_000), ("routes", " " * 3_000_000)):
        np.savez_compressed(tmp_path / "a.npz", **(arrays | {name: np.array(text)}))
        with pytest.raises(FileError, match=name):
            State.read(tmp_path / "a.npz")
