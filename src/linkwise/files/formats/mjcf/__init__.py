"""MJCF, the format of MuJoCo: reader and writer; docs/mjcf.md lists the supported elements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from linkwise.files.losses import Losses
from linkwise.files.registry import TEXT, Format, ReadOptions, register, stem
from linkwise.files.report import Description, Reading


class Mjcf(Format):
    """The format of MuJoCo: its mechanical part."""

    name, title, suffixes, tag, options = "an MJCF file", "MJCF (XML)", (".xml",), "mujoco", frozenset({"root"})
    holds_shapes = True

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:  # noqa: D102
        from linkwise.files.formats.mjcf.reader import parse

        folder = options.include_root if path == TEXT else Path(path).parent
        return parse(text, stem(path), options, None if folder is None else Path(folder))

    def losses(self, description: Description) -> Losses:  # noqa: D102
        from linkwise.files.formats.mjcf.losses import losses

        return losses(description)

    def write(self, description: Description) -> Iterator[str]:  # noqa: D102
        from linkwise.files.formats.mjcf.writer import render

        yield render(description.mechanism, description.shapes)


register(Mjcf())
