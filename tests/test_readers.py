"""What holds for every function that reads a file: only Linkwise's own errors, soon, and never waiting for a writer."""

from __future__ import annotations

import os
import random
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from linkwise.errors import FileError, LinkwiseError
from support.readers import Reader, readers
from support.text_mutations import mutated

READERS = readers()
TEXTS = {name: reader for name, reader in READERS.items() if reader.suffix != ".npz"}
each = pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))


@contextmanager
def seconds(limit: int) -> Iterator[None]:
    """Fail where something takes longer, instead of waiting for ever."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not done after {limit} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(limit)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@each
def test_valid_contents_are_read(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / f"valid{reader.suffix}"
    for content in reader.valid:
        path.write_bytes(content)
        path.chmod(0o600)
        reader.read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@each
def test_named_pipes_and_devices_are_refused(reader: Reader, tmp_path: Path) -> None:
    """Opening a pipe would wait for somebody who writes, and some devices never end."""
    pipe, zeros, folder = (tmp_path / f"{name}{reader.suffix}" for name in ("pipe", "zeros", "folder"))
    os.mkfifo(pipe, 0o600)
    zeros.symlink_to("/dev/zero")
    folder.mkdir()
    for path in (pipe, zeros, folder):
        with seconds(20), pytest.raises(FileError) as caught:
            reader.read(path)
        assert caught.value.path.name == path.name


@each
def test_names_that_no_file_has(reader: Reader, tmp_path: Path) -> None:
    loop = tmp_path / f"loop{reader.suffix}"
    loop.symlink_to(loop)
    for path in (loop, tmp_path / f"none{reader.suffix}", tmp_path / f"zero\0byte{reader.suffix}", tmp_path / ("x" * 5000)):
        with pytest.raises(FileError):
            reader.read(path)


@pytest.mark.parametrize("reader", TEXTS.values(), ids=list(TEXTS))
def test_changed_contents(reader: Reader, tmp_path: Path) -> None:
    """A share of what ``tools/mutate_readers.py`` does."""
    rng, path = random.Random(20), tmp_path / f"mutated{reader.suffix}"
    with warnings.catch_warnings(), seconds(120):
        warnings.simplefilter("ignore")
        for _ in range(60):
            path.write_bytes(mutated(rng.choice(reader.valid), rng))
            path.chmod(0o600)
            try:
                reader.read(path)
            except LinkwiseError:
                continue
