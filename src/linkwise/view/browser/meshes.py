"""What links look like, as a description file says it: its shapes as surfaces, and which of them could not be read."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import FileError, install_hint
from linkwise.files.packages import Folders, Manifests, resolve
from linkwise.files.shape import Shape
from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.view.browser.parts import Colour, rgb
from linkwise.view.browser.surfaces import Surface, ball, box, capsule, cylinder

FORMATS = ("stl", "obj", "dae", "glb", "ply", "off")
"""Kinds of mesh files that are read, each from the one file alone: what it names further is left out."""

LARGEST = 64 * 2**20
"""Size of the largest mesh file that is read, bytes."""

PLAIN = "#c9ccd1"
"""Of a shape without a colour."""


@dataclass(frozen=True, eq=False)
class Look:
    """One shape of a link, in the link's frame.

    Attributes
    ----------
    link : int
        The link, -1 for the base.
    surface : Surface
        Its triangles.
    colour : tuple of int
        Red, green, blue, 0 to 255.
    opacity : float
        0 to 1.
    sharp : bool
        Whether its edges are sharp: each triangle is lit by itself.
    """

    link: int
    surface: Surface
    colour: Colour
    opacity: float
    sharp: bool


def looks(
    tree: Tree, shapes: Sequence[Shape], folder: str | Path | None = None, package_dirs: Folders = ()
) -> tuple[tuple[Look, ...], tuple[str, ...]]:
    """Make surfaces of the visual shapes of a mechanism.

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
    looks : tuple of Look
        The surfaces.
    remarks : tuple of str
        What could not be shown and why: one remark for all files with the same reason.
    """
    found: list[Look] = []
    remarks: dict[str, None] = {}
    read = _Meshes(folder, package_dirs)
    for shape in shapes:
        if shape.role != "visual":
            continue
        if shape.link != "base" and shape.link not in tree.link_names:
            remarks[f"a shape of link {plain(shape.link)!r} is not shown: there is no such link"] = None
            continue
        made = _surface(shape, read)
        if made is not None:
            link = -1 if shape.link == "base" else tree.link_index(shape.link)
            surface, own = made
            given = shape.colour
            colour = _rgb(given) if given is not None else own or rgb(PLAIN)
            opacity = float(given[3]) if given is not None else 1.0
            found.append(Look(link, surface.placed(shape.origin), colour, opacity, shape.kind == "mesh"))
    return tuple(found), (*remarks, *read.remarks())


class _Meshes:
    """The mesh files of a description, each read once."""

    def __init__(self, folder: str | Path | None, package_dirs: Folders) -> None:
        self.description, self.package_dirs = folder, package_dirs
        self._manifests = Manifests()
        self._read: dict[str, tuple[Surface, Colour | None] | None] = {}
        self._unreadable: dict[str, list[tuple[str, str]]] = {}

    def get(self, name: str) -> tuple[Surface, Colour | None] | None:
        """The surface and colour of a file; None where it cannot be read."""
        if name not in self._read:
            try:
                self._read[name] = _mesh(name, self.description, self.package_dirs, self._manifests)
            except _UnreadableError as error:
                self._read[name] = None
                self._unreadable.setdefault(error.kind, []).append((name, str(error)))
        return self._read[name]

    def remarks(self) -> list[str]:
        """What could not be read: one remark for each kind of reason."""
        said = []
        for files in self._unreadable.values():
            name, why = files[0]
            first = f"mesh {plain(name)!r} is not shown: {why}"
            said.append(first if len(files) == 1 else f"{len(files)} meshes are not shown; the first: {first}")
        return said


def _surface(shape: Shape, meshes: _Meshes) -> tuple[Surface, Colour | None] | None:
    if shape.kind != "mesh":
        return PRIMITIVES[shape.kind](shape.size), None
    found = meshes.get(str(shape.filename))
    if found is None:
        return None
    factors = np.array(shape.size)
    made = found[0].stretched(factors)
    return (made if np.prod(factors) > 0 else Surface(made.vertices, made.faces[:, ::-1])), found[1]


def _ellipsoid(size: tuple[float, ...]) -> Surface:
    return ball(np.zeros(3), 1.0).stretched(np.array(size))


def _upright(size: tuple[float, ...]) -> Surface:
    half = np.array([0.0, 0.0, 0.5 * size[1]])
    return cylinder(-half, half, size[0])


PRIMITIVES: dict[str, Callable[[tuple[float, ...]], Surface]] = {
    "box": lambda size: box(0.5 * np.array(size)),
    "cylinder": _upright,
    "capsule": lambda size: capsule(size[0], size[1]),
    "sphere": lambda size: ball(np.zeros(3), size[0]),
    "ellipsoid": _ellipsoid,
}
"""The surface of each kind of shape, from its size."""


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


class _UnreadableError(Exception):
    """Why a mesh cannot be read, in words; meshes of the same kind of reason share a remark."""

    def __init__(self, why: str, kind: str = "") -> None:
        self.kind = kind or why
        super().__init__(why)


def _mesh(
    name: str, folder: str | Path | None, package_dirs: Folders, manifests: Manifests
) -> tuple[Surface, Colour | None]:
    """Read a mesh from its file alone, as triangles and the colour it says it has."""
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
        import trimesh
    except ImportError as error:
        raise _UnreadableError(f"meshes need trimesh: {install_hint('view')}") from error
    if kind not in trimesh.available_formats():
        raise _UnreadableError(f"trimesh reads no .{kind} here (Collada needs pycollada)")
    try:
        # No resolver: what a file names further, such as textures, is not opened.
        loaded: Any = trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=None).to_mesh()
        vertices = np.asarray(loaded.vertices, dtype=float).reshape(-1, 3)
        faces = np.asarray(loaded.faces).reshape(-1, 3)
    except Exception as error:  # a reader of many formats fails in many ways on a bad file
        raise _UnreadableError(f"it is no .{kind} file that trimesh can read ({type(error).__name__})") from error
    if not faces.size or not np.all(np.isfinite(vertices)):
        raise _UnreadableError("it holds no triangles" if not faces.size else "it holds coordinates that are not finite")
    return Surface(vertices, faces.astype(np.uint32)), _main_colour(loaded)


def _main_colour(loaded: Any) -> Colour | None:
    """Return the one colour that a mesh says it has, None where it says none."""
    if getattr(loaded.visual, "kind", None) != "face" and getattr(loaded.visual, "kind", None) != "vertex":
        return None
    red, green, blue = (int(value) for value in loaded.visual.main_color[:3])
    return red, green, blue


def _rgb(colour: Sequence[float]) -> Colour:
    red, green, blue = (round(255 * float(value)) for value in colour[:3])
    return red, green, blue
