"""MJCF, the format of MuJoCo, read; docs/mjcf.md describes what is."""

from __future__ import annotations

from pathlib import Path

from linkwise.files.registry import TEXT, Format, ReadOptions, register, stem
from linkwise.files.report import Reading


class Mjcf(Format):
    """The format of MuJoCo: its mechanical part."""

    name, title, suffixes, tag, options = "MJCF", "MJCF (XML)", (".xml",), "mujoco", frozenset({"root"})
    refusal = "MJCF is read only; write a .toml, which holds everything, or a .urdf"

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:  # noqa: D102
        from linkwise.files.formats.mjcf.reader import parse

        folder = options.include_root if path == TEXT else Path(path).parent
        return parse(
            text,
            stem(path),
            options.physical,
            None if folder is None else Path(folder),
            include_root=options.include_root,
            root=options.root,
            drop_free_armature=options.drop_free_armature,
        )


register(Mjcf())
