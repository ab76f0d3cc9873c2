"""Mesh files as triangles, read by trimesh from the one file alone."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, LinkwiseError, install_hint
from linkwise.files.packages import Manifests, resolve
from linkwise.spatial.scalar import FloatArray

#: Supported kinds of mesh files; files to which they refer, such as textures, are ignored.
FORMATS = ("stl", "obj", "dae", "glb", "ply", "off")

#: Size of the largest mesh file that is read, bytes.
LARGEST = 64 * 2**20


class MeshError(LinkwiseError, ValueError):
    """Reason why a mesh cannot be read."""


def load_mesh(data: bytes, kind: str) -> Any:
    """Load a mesh with trimesh from a file of a kind of `FORMATS`.

    Raises
    ------
    MeshError
        Where trimesh is missing, or cannot read it, or it holds no finite triangles.
    """
    try:
        import trimesh
    except ImportError as error:
        raise MeshError(f"meshes need trimesh: {install_hint('view')}") from error
    if kind not in trimesh.available_formats():
        raise MeshError(f"trimesh reads no .{kind} here (Collada needs pycollada)")
    try:
        # No resolver: referenced files, such as textures, are not opened.
        loaded: Any = trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=None).to_mesh()
        vertices = np.asarray(loaded.vertices, dtype=float).reshape(-1, 3)
        faces = np.asarray(loaded.faces).reshape(-1, 3)
    except Exception as error:  # a reader of many formats fails in many ways on a bad file
        raise MeshError(f"it is no .{kind} file that trimesh can read ({type(error).__name__})") from error
    if not faces.size or not np.all(np.isfinite(vertices)):
        raise MeshError("it holds no triangles" if not faces.size else "it holds coordinates that are not finite")
    return loaded


@dataclass(frozen=True)
class MeshVertices:
    """Reads the vertices (N, 3) of a mesh, m, when it is called.

    Attributes
    ----------
    filename : str
        The file as a description names it.
    description : str
        The description file, from which it is looked up.
    """

    filename: str
    description: str

    def __call__(self) -> FloatArray:
        """The vertices.

        Raises
        ------
        ArgumentError
            Where the file cannot be found or read.
        """
        return _vertices(self.filename, self.description)


@lru_cache(maxsize=256)
def _vertices(filename: str, description: str) -> FloatArray:
    try:
        path = resolve(filename, description, (), Manifests())
        mesh = load_mesh(path.read_bytes(), path.suffix.lower().removeprefix("."))
    except (MeshError, OSError, ValueError) as error:
        why = str(error).splitlines()[-1].strip()
        raise ArgumentError(f"the mesh {filename!r} of a collision shape cannot be read: {why}") from error
    return np.unique(np.asarray(mesh.vertices, dtype=np.float64).reshape(-1, 3), axis=0)
