"""The results of a sweep on disk: a part for each chunk, under its name only when it is whole."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from linkwise.extras import optional
from linkwise.files.atomic import write_bytes
from linkwise.files.npz import packed
from linkwise.parameter_sweep.sweep import Arrays, Sweep

#: The formats of results by name.
FORMATS: dict[str, Storage] = {}


class Storage(ABC):
    """A format of results: one file a chunk, unless a subclass stores them otherwise.

    Attributes
    ----------
    suffix : str
        Suffix of the files that mark finished chunks.
    """

    suffix: ClassVar[str]

    def prepare(self, folder: Path, sweep: Sweep) -> None:  # noqa: B027  (most need nothing)
        """Write the data common to all chunks, and check that the library is installed."""

    @abstractmethod
    def content(self, sweep: Sweep, arrays: Arrays) -> bytes:
        """The file of a chunk."""

    def write(self, folder: Path, sweep: Sweep, k: int, arrays: Arrays) -> None:
        """Write a chunk."""
        write_bytes(self.path(folder, k), self.content(sweep, arrays))

    def path(self, folder: Path, k: int) -> Path:
        """The file whose existence means that the chunk is complete."""
        return folder / f"part-{k:06d}.{self.suffix}"

    def written(self, folder: Path) -> set[int]:
        """The existing chunks."""
        parts = (re.fullmatch(rf"part-(\d+)\.{self.suffix}", path.name) for path in folder.iterdir())
        return {int(part[1]) for part in parts if part}

    def clear(self, folder: Path) -> None:
        """Remove unfinished files of terminated processes."""
        for path in folder.glob(f".part-*.{self.suffix}.*.part"):
            path.unlink(missing_ok=True)


class Parquet(Storage):
    """A table with a column for each number, by pyarrow; readers take the folder as one table."""

    suffix = "parquet"

    def prepare(self, folder: Path, sweep: Sweep) -> None:
        """Check that pyarrow is installed."""
        self._library("pyarrow")

    def content(self, sweep: Sweep, arrays: Arrays) -> bytes:
        """The columns, compressed."""
        columns = {
            label: numbers
            for name, array in arrays.items()
            for label, numbers in zip(sweep.columns[name], array.reshape(len(array), -1).T, strict=True)
        }
        buffer = io.BytesIO()
        self._library("pyarrow.parquet").write_table(self._library("pyarrow").table(columns), buffer, compression="zstd")
        return buffer.getvalue()

    def _library(self, module: str) -> Any:
        return optional(module, "Parquet files need pyarrow", "parquet")


class Npz(Storage):
    """The arrays by name, as NumPy writes them."""

    suffix = "npz"

    def content(self, sweep: Sweep, arrays: Arrays) -> bytes:
        """The arrays, compressed."""
        return packed(arrays)


class Zarr(Storage):
    """One array of all samples for each quantity, in ``results.zarr``; empty files mark complete chunks."""

    suffix = "done"

    def prepare(self, folder: Path, sweep: Sweep) -> None:
        """Make the arrays, filled with NaN."""
        group = self._group(folder)
        for name, shape in sweep.shapes.items():
            if name not in group:
                sizes = {"shape": (sweep.samples, *shape), "chunks": (min(sweep.chunk, sweep.samples), *shape)}
                group.create_array(name, **sizes, dtype="float64", fill_value=float("nan"))

    def write(self, folder: Path, sweep: Sweep, k: int, arrays: Arrays) -> None:
        """Write the rows of a chunk, then its mark."""
        group, rows = self._group(folder), sweep.rows(k)
        for name, array in arrays.items():
            group[name][rows] = array
        super().write(folder, sweep, k, arrays)

    def content(self, sweep: Sweep, arrays: Arrays) -> bytes:
        """Empty content."""
        return b""

    def _group(self, folder: Path) -> Any:
        return optional("zarr", "Zarr arrays need zarr", "zarr").open_group(str(folder / "results.zarr"), mode="a")


FORMATS |= {"parquet": Parquet(), "npz": Npz(), "zarr": Zarr()}
