"""Object code on disk: found again, never trusted when it could be somebody else's, rebuilt when damaged."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from linkwise.kernel import Kernel, cache, trace
from linkwise.kernel.backends.llvm import loading, processor
from linkwise.kernel.backends.llvm import lowering as llvm

pytest.importorskip("llvmlite", reason="what is kept is machine code")
on_posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions as on POSIX")

X = np.array([0.3, -0.7])
WANTED = np.array([0.3 * 2 + 1.5, -0.7 * 2 + 1.5])


def kernel(number: float = 1.5, name: str = "line") -> Kernel:
    return Kernel(trace(lambda x: 2.0 * x + number, name, {"x": (2,)}, {"y": (2,)}), "llvm")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, not yet there; what all kernels share is loaded already."""
    for tag in ("double2", llvm.host().text("double").tag, llvm.host().text("float").tag):
        loading._support(tag)
    monkeypatch.setenv("LINKWISE_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of each function that is compiled from here on."""
    names: list[str] = []
    real = llvm.object_code

    def counting(tape: object, *rest: object) -> bytes:
        names.append(tape.name)  # type: ignore[attr-defined]
        return real(tape, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(llvm, "object_code", counting)
    return names


def works(wanted: np.ndarray = WANTED) -> bool:
    return np.allclose(kernel()(X), wanted, rtol=1e-15)


def entries(place: Path) -> list[Path]:
    return sorted(place.glob("*.o"))


def test_compiled_once_then_found(place: Path, compilations: list[str]) -> None:
    assert works()
    assert works()
    assert compilations == ["line"]
    assert len(entries(place)) == 1
    assert not list(place.glob("*.tmp"))


@on_posix
def test_made_for_this_user_alone(place: Path) -> None:
    assert works()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert not stat.S_IMODE(entries(place)[0].stat().st_mode) & 0o077


def test_the_key_depends_on_what_the_code_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = kernel().tape
    keys = {
        loading.cache_key(tape, "float64"),
        loading.cache_key(tape, "float32"),
        loading.cache_key(kernel(1.5000000000000002).tape, "float64"),
        loading.cache_key(kernel(name="other").tape, "float64"),
    }
    monkeypatch.setattr(llvm, "LOWERING", "another")
    keys.add(loading.cache_key(tape, "float64"))
    monkeypatch.setattr(processor, "known", lambda: "another")
    keys.add(loading.cache_key(tape, "float64"))
    monkeypatch.setattr(processor, "_llvm_version", lambda: "another")
    keys.add(loading.cache_key(tape, "float64"))
    assert len(keys) == 7
    assert loading.cache_key(kernel().tape, "float64") == loading.cache_key(kernel().tape, "float64")


def flip_a_bit(content: bytes) -> bytes:
    middle = len(content) * 2 // 3
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "one byte": lambda content: content[:1],
    "only the mark": lambda content: content[:18],
    "cut in the checksum": lambda content: content[:30],
    "only the head": lambda content: content[:50],
    "half": lambda content: content[: len(content) // 2],
    "last byte missing": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "a bit flipped": flip_a_bit,
    "a bit of the checksum flipped": lambda content: content[:20] + bytes([content[20] ^ 1]) + content[21:],
    "another mark": lambda content: b"X" + content[1:],
    "text": lambda content: b"hello\n" * 1000,
    "zeros": lambda content: b"\0" * len(content),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_rebuilt(damage: str, place: Path, compilations: list[str]) -> None:
    assert works()
    (entry,) = entries(place)
    good = entry.read_bytes()
    entry.write_bytes(DAMAGE[damage](good))
    assert works()
    assert compilations == ["line", "line"]
    assert entry.read_bytes() == good
    assert works()
    assert len(compilations) == 2


def test_another_kernels_code_under_this_name_is_refused(place: Path, compilations: list[str]) -> None:
    assert works()
    (entry,) = entries(place)
    kernel(7.0)(X)
    (other,) = set(entries(place)) - {entry}
    entry.write_bytes(other.read_bytes())
    assert works()
    assert len(compilations) == 3


def test_a_sealed_entry_that_is_no_code_is_rebuilt(place: Path, compilations: list[str]) -> None:
    """Right checksum, but nothing that runs in it: as an older or newer Linkwise might have written."""
    assert works()
    (entry,) = entries(place)
    for content in (b"", b"{}\n", b'{"writable": 1}\n', b"[]\n", b"5\n", b'{"object": true}\nno code', b"\xff\xfe\n"):
        cache.store(entry.stem, content)
        assert works(), content
    assert len(compilations) >= 2


@on_posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_refused(mode: int, place: Path, compilations: list[str]) -> None:
    assert works()
    entries(place)[0].chmod(mode)
    assert works()
    assert len(compilations) == 2


@on_posix
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(mode: int, place: Path, compilations: list[str]) -> None:
    assert works()
    place.chmod(mode)
    before = [(entry, entry.read_bytes()) for entry in entries(place)]
    assert works()
    assert len(compilations) == 2
    assert [(entry, entry.read_bytes()) for entry in entries(place)] == before


@on_posix
def test_an_entry_of_somebody_else_is_refused(place: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert works()
    real = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: real + 1)
    assert works()
    assert len(compilations) == 2


@on_posix
def test_links_are_not_followed(place: Path, compilations: list[str], tmp_path: Path) -> None:
    assert works()
    (entry,) = entries(place)
    elsewhere = tmp_path / "elsewhere.o"
    entry.rename(elsewhere)
    kept = elsewhere.read_bytes()
    entry.symlink_to(elsewhere)
    assert works()
    assert len(compilations) == 2
    assert elsewhere.read_bytes() == kept
    folder = tmp_path / "real"
    place.rename(folder)
    place.symlink_to(folder, target_is_directory=True)
    assert works()
    assert len(compilations) == 3


@on_posix
def test_what_is_no_file_is_no_entry(place: Path, compilations: list[str]) -> None:
    assert works()
    (entry,) = entries(place)
    entry.unlink()
    entry.mkdir()
    assert works()
    entry.rmdir()
    os.mkfifo(entry, 0o600)  # reading it would wait for ever
    assert works()
    assert len(compilations) == 3


def test_a_cache_that_cannot_be_written_does_no_harm(
    tmp_path: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("in the way")
    for place in (tmp_path / "a file", tmp_path / "a file" / "kernels", Path("/proc/linkwise")):
        monkeypatch.setenv("LINKWISE_CACHE_DIR", str(place))
        assert works()
    assert len(compilations) == 3


def test_a_full_disk_does_no_harm(place: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert works()
    assert entries(place) == []
    assert list(place.iterdir()) == [], "what was begun is taken away"
    assert compilations == ["line"]


def test_switched_off(compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWISE_CACHE_DIR", "")
    assert cache.directory() is None
    assert works()
    assert works()
    assert len(compilations) == 2


def test_the_usual_place_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import platformdirs

    monkeypatch.delenv("LINKWISE_CACHE_DIR")
    assert cache.directory() == Path(platformdirs.user_cache_dir("linkwise", appauthor=False)) / "kernels"


@on_posix
@pytest.mark.parametrize("home", [RuntimeError("could not determine the home directory"), "~/.cache/linkwise"])
def test_a_user_without_a_home_keeps_nothing(home: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container under a number that no user has: versions of platformdirs raise, or leave the ~ as it is."""
    monkeypatch.delenv("LINKWISE_CACHE_DIR", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_dir", Mock(side_effect=[home, home, home]))
    monkeypatch.chdir(tmp_path)
    assert cache.directory() is None
    cache.store("key", b"code")
    assert cache.load("key") is None
    assert not list(tmp_path.iterdir())


def test_many_write_at_once(place: Path) -> None:
    """Writers never show half an entry to readers."""
    assert works()
    (entry,) = entries(place)
    code = cache.load(entry.stem)
    assert code is not None
    wrong: list[object] = []

    def write() -> None:
        for _ in range(50):
            cache.store(entry.stem, code)

    def read() -> None:
        for _ in range(200):
            if cache.load(entry.stem) != code:
                wrong.append(1)

    threads = [threading.Thread(target=target) for target in (write, write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not list(place.glob("*.tmp"))


def test_first_use_by_many_threads_compiles_once(place: Path, compilations: list[str]) -> None:
    shared = kernel()
    barrier = threading.Barrier(8)
    results: list[np.ndarray] = []

    def work() -> None:
        barrier.wait()
        results.append(shared(X))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compilations == ["line"]
    assert len(results) == 8
    assert all(np.array_equal(result, results[0]) for result in results)


def test_single_precision_is_compiled_when_first_used(place: Path, compilations: list[str]) -> None:
    shared = kernel()
    shared(X[None])
    assert len(compilations) == 1
    threads = [threading.Thread(target=shared, args=(X.astype(np.float32),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compilations) == 2
    assert shared(X.astype(np.float32)).dtype == np.float32
