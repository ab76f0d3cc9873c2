"""Denavit-Hartenberg tables in the columns of each toolbox, read and written; docs/dh-tables.md describes them."""

from __future__ import annotations

from pathlib import Path

from linkwise.errors import FileError
from linkwise.files.registry import Format, ReadOptions, register
from linkwise.files.report import Reading


class DHTable(Format):
    """Denavit-Hartenberg table; `read_dh` and `save_dh` require the name of its dialect."""

    name, suffixes, named = "a table", (".csv",), True
    refusal = "a table needs its dialect named; write it with files.save_dh"

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:  # noqa: D102
        from linkwise.files.formats.dh.table import undecided

        raise FileError(path, [undecided(text)], "read it with files.read_dh(path, dialect=...), or --dialect")


register(DHTable())
