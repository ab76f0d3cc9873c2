"""Shapes of links as a description file gives them: primitives of the scene, and which meshes could not be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import FileError
from linkwise.files.mesh_file import FORMATS, LARGEST, MeshError, load_mesh
from linkwise.files.packages import Folders, Manifests, resolve
from linkwise.model.formatting.table import plain
from linkwise.model.shape import Shape
from linkwise.model.tree import Tree
from linkwise.solve.constraints import Clear
from linkwise.view.scene.scene import Colour, Primitive, rgb
from linkwise.view.scene.tessellation import Surface

#: Default colour of shapes.
PLAIN = "#c9ccd1"


class Visuals(NamedTuple):
    """Shapes of a description; its file or folder and package folders for meshes; the clearance constraint."""

    shapes: Sequence[Shape] = ()
    folder: str | Path | None = None
    package_dirs: Folders = ()
    clear: Clear | None = None


NO_VISUALS = Visuals()


def visual_primitives(
    tree: Tree, shapes: Sequence[Shape], folder: str | Path | None = None, package_dirs: Folders = ()
) -> tuple[tuple[Primitive, ...], tuple[str, ...]]:
    """Make primitives of the visual shapes of a mechanism.

    Nothing is fetched: a mesh is a file in the description's folder or its packages, by the rules of
    `linkwise.files.packages.resolve`.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    shapes : sequence of Shape
        As its description file holds them; those for collisions are left aside.
    folder : str or Path, optional
        The description file or its folder. Without it no mesh is read.
    package_dirs : sequence of str or Path
        Folders that hold packages, or are packages.

    Returns
    -------
    primitives : tuple of Primitive
        With the role ``"shape"``.
    remarks : tuple of str
        What could not be shown and why: one remark for all files with the same reason.
    """
    primitives: list[Primitive] = []
    remarks: dict[str, None] = {}
    unreadable: dict[str, list[tuple[str, str]]] = {}
    manifests = Manifests()

    @cache
    def mesh_of(name: str) -> tuple[Surface, Colour | None] | None:
        try:
            return _mesh(name, folder, package_dirs, manifests)
        except _UnreadableError as error:
            unreadable.setdefault(error.kind, []).append((name, str(error)))
            return None

    for shape in shapes:
        if shape.role != "visual":
            continue
        if shape.link != "base" and shape.link not in tree.link_names:
            remarks[f"a shape of link {plain(shape.link)!r} is not shown: there is no such link"] = None
            continue
        link = -1 if shape.link == "base" else tree.link_index(shape.link)
        surface, painted = None, None
        if shape.kind == "mesh":
            mesh = mesh_of(str(shape.filename))
            if mesh is None:
                continue
            surface, painted = mesh[0].stretched(np.array(shape.size)), mesh[1]
        red, green, blue, opacity = (*(painted or rgb(PLAIN)), 1.0) if shape.colour is None else shape.colour
        primitives.append(
            Primitive(link, shape.kind, "shape", shape.size, shape.origin, (red, green, blue), link, surface, opacity)
        )
    return tuple(primitives), (*remarks, *_remarks(unreadable))


def _remarks(unreadable: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[str]:
    """Summarize unreadable meshes: one remark for each kind of reason."""
    for files in unreadable.values():
        name, why = files[0]
        first = f"mesh {plain(name)!r} is not shown: {why}"
        yield first if len(files) == 1 else f"{len(files)} meshes are not shown; the first: {first}"


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


class _UnreadableError(Exception):
    """Reason why a mesh cannot be read; meshes of the same kind of reason share a remark."""

    def __init__(self, why: str, kind: str = "") -> None:
        self.kind = kind or why
        super().__init__(why)


def _mesh(
    name: str, folder: str | Path | None, package_dirs: Folders, manifests: Manifests
) -> tuple[Surface, Colour | None]:
    """Read a mesh from its file only, as triangles and its colour."""
    if folder is None:
        raise _UnreadableError("the folder of its description is not known")
    try:
        path = resolve(name, Path(folder) / "-" if os.path.isdir(Path(folder)) else folder, package_dirs, manifests)
        kind = path.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            raise _UnreadableError(f"a file of the kind {path.suffix!r}; expected one of {', '.join(FORMATS)}")
        if path.stat().st_size > LARGEST:
            raise _UnreadableError(f"it has {path.stat().st_size / 2**20:.0f} MB; the most is {LARGEST // 2**20} MB")
        data = path.read_bytes()
    except FileError as error:
        raise _UnreadableError("; ".join(problem.message for problem in error.problems), "not found") from error
    except OSError as error:
        raise _UnreadableError(f"it cannot be read ({error.strerror or error})") from error
    return _triangles(data, kind)


def _triangles(data: bytes, kind: str) -> tuple[Surface, Colour | None]:
    try:
        loaded = load_mesh(data, kind)
    except MeshError as error:
        raise _UnreadableError(str(error)) from error
    vertices = np.asarray(loaded.vertices, dtype=float).reshape(-1, 3)
    return Surface(vertices, np.asarray(loaded.faces).reshape(-1, 3).astype(np.uint32)), _main_colour(loaded)


def _main_colour(loaded: Any) -> Colour | None:
    """Return the single colour of a mesh, None if it has none."""
    if getattr(loaded.visual, "kind", None) not in {"face", "vertex"}:
        return None
    red, green, blue = (int(value) / 255.0 for value in loaded.visual.main_color[:3])
    return red, green, blue
