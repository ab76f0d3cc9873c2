"""The cache does not grow without end: what was not used for the longest time goes first."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from linkwise.kernel import cache

on_posix = pytest.mark.skipif(os.name != "posix", reason="a symbolic link, a fifo")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that keeps 0.1 MB."""
    monkeypatch.setenv("LINKWISE_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setenv("LINKWISE_CACHE_MB", "0.1")
    return tmp_path / "kernels"


def store(key: str, size: int = 10_000, *, age: float = 0.0) -> None:
    """Keep so many bytes, last used so many seconds ago."""
    cache.store(key, b"x" * size)
    path = Path(os.environ["LINKWISE_CACHE_DIR"]) / f"{key}.o"
    os.utime(path, (time.time() - age, time.time() - age))


def kept(place: Path) -> list[str]:
    return sorted(path.stem for path in place.glob("*.o"))


def test_nothing_goes_below_the_limit(place: Path) -> None:
    for k in range(9):
        store(f"k{k}", age=1e6 * k)
    assert kept(place) == [f"k{k}" for k in range(9)]


def test_the_longest_unused_go_first(place: Path) -> None:
    for k in range(9):
        store(f"k{k}", age=10_000 * (9 - k))
    store("new", 15_000)
    assert kept(place) == ["k3", "k4", "k5", "k6", "k7", "k8", "new"], "down to four fifths of the limit"
    assert cache.load("new") == b"x" * 15_000
    assert cache.load("k0") is None


def test_a_use_is_noted(place: Path) -> None:
    for k in range(9):
        store(f"k{k}", age=10_000 * (9 - k))
    assert cache.load("k0") is not None
    store("new", 15_000)
    assert "k0" in kept(place)
    assert "k1" not in kept(place)
    before = (place / "new.o").stat().st_mtime
    assert cache.load("new") is not None
    assert (place / "new.o").stat().st_mtime == before, "not again within the hour"


def test_what_was_just_made_stays_whatever_its_size(place: Path) -> None:
    for k in range(9):
        store(f"k{k}", age=1000)
    store("giant", 10**6)
    assert kept(place) == ["giant"]
    store("small")
    assert kept(place) == ["small"]


@pytest.mark.parametrize(
    ("text", "wanted"), [("1.5", 1.5e6), ("0", 0.0), ("-3", 0.0), ("", 512e6), ("much", 512e6), ("nan", 512e6)]
)
def test_the_limit_is_read_from_the_environment(text: str, wanted: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWISE_CACHE_MB", text)
    assert cache.limit() == wanted
    monkeypatch.delenv("LINKWISE_CACHE_MB")
    assert cache.limit() == 512e6


def test_with_no_room_only_the_newest_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWISE_CACHE_MB", "0")
    for k in range(3):
        store(f"k{k}")
    assert kept(place) == ["k2"]


def test_only_what_is_ours_is_deleted(place: Path) -> None:
    store("k0", age=1000)
    old = time.time() - 1e6
    for name in ("notes.txt", "begun.tmp", "fresh.tmp"):
        (place / name).write_bytes(b"y" * 200_000)
        os.utime(place / name, (old, old))
    os.utime(place / "fresh.tmp")
    (place / "folder.o").mkdir()
    store("k1")
    left = {path.name for path in place.iterdir()}
    assert left == {"k0.o", "k1.o", "notes.txt", "fresh.tmp", "folder.o"}, "what was begun long ago is given up"


@on_posix
def test_links_are_neither_followed_nor_counted(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"y" * 10**6)
    store("k0", age=1000)
    (place / "link.o").symlink_to(tmp_path / "elsewhere")
    store("k1")
    assert (place / "link.o").is_symlink()
    assert (tmp_path / "elsewhere").stat().st_size == 10**6
    assert {"k0", "k1"} <= set(kept(place))


def test_a_file_that_another_process_deleted_does_no_harm(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(9):
        store(f"k{k}", age=10_000 * (9 - k))
    real = os.unlink

    def late(path: object, **rest: object) -> None:
        real(path)  # type: ignore[arg-type]
        raise FileNotFoundError(str(path))

    monkeypatch.setattr(os, "unlink", late)
    store("new", 15_000)
    monkeypatch.undo()
    assert (place / "new.o").exists()


def test_many_threads_write_read_and_prune(place: Path) -> None:
    """Nobody ever sees anything but the whole content or none, and the limit holds in the end."""
    wrong: list[object] = []

    def work(thread: int) -> None:
        try:
            for k in range(60):
                key = f"t{thread}k{k % 20}"
                cache.store(key, key.encode() * 1000)
                for other in range(4):
                    name = f"t{other}k{k % 20}"
                    if cache.load(name) not in {None, name.encode() * 1000}:
                        wrong.append(name)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cache.store("last", b"x")
    assert wrong == []
    assert sum(path.stat().st_size for path in place.glob("*.o")) <= 100_000


def test_several_processes(place: Path) -> None:
    code = (
        "from linkwise.kernel import cache\n"
        "for k in range(150):\n"
        "    key = f'k{k % 30}'\n"
        "    cache.store(key, key.encode() * 2000)\n"
        "    assert cache.load(f'k{(7 * k) % 30}') in {None, f'k{(7 * k) % 30}'.encode() * 2000}\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    cache.store("last", b"x")
    assert sum(path.stat().st_size for path in place.glob("*.o")) <= 100_000


def test_a_large_cache_is_not_looked_through_at_every_file(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the limit holds nevertheless, after each of them."""
    looks = []
    real = cache.prune
    monkeypatch.setattr(cache, "prune", lambda *where: looks.append(where) or real(*where))
    for k in range(600):
        cache.store(f"k{k}", b"x" * 250)
    assert len(kept(place)) < 350, "0.1 MB, with what stands before the code"
    assert sum(path.stat().st_size for path in place.glob("*.o")) <= 100_000
    assert len(looks) < 250
