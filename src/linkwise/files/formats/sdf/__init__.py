"""SDF, the Simulation Description Format of Gazebo and Drake: reader; docs/sdf.md lists the supported elements."""

from __future__ import annotations

from pathlib import Path

from linkwise.files.registry import TEXT, Format, ReadOptions, register, stem
from linkwise.files.report import Reading


class Sdf(Format):
    """The Simulation Description Format of Gazebo: its mechanical part."""

    name, title, suffixes, tag = "an SDF file", "SDF (XML)", (".sdf", ".world"), "sdf"
    options = frozenset({"root"})
    holds_shapes = True
    refusal = "an SDF file is read, not written; expected a .urdf or .xml (MJCF) file for another program"

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:  # noqa: D102
        from linkwise.files.formats.sdf.reader import parse

        folder = options.include_root if path == TEXT else None
        file = Path(path) if path != TEXT else None if folder is None else Path(folder) / "text.sdf"
        return parse(text, stem(path), file, options)


register(Sdf())
