"""URDF, the Unified Robot Description Format of ROS: reader and writer; docs/urdf.md lists the supported elements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from linkwise.files.losses import Losses
from linkwise.files.registry import Format, ReadOptions, register, stem
from linkwise.files.report import Description, Reading


class Urdf(Format):
    """The Unified Robot Description Format of ROS."""

    name, title, suffixes, tag, options = "a URDF", "URDF (XML)", (".urdf",), "robot", frozenset({"root"})
    holds_shapes = True

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:  # noqa: D102
        from linkwise.files.formats.urdf.reader import parse

        return parse(text, stem(path), options)

    def losses(self, description: Description) -> Losses:  # noqa: D102
        from linkwise.files.formats.urdf.writer import losses

        return losses(description)

    def write(self, description: Description) -> Iterator[str]:  # noqa: D102
        from linkwise.files.formats.urdf.writer import render

        yield render(description.mechanism, description.shapes)


register(Urdf())
