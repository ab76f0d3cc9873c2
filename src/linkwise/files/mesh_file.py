"""Mesh files as triangles, read by trimesh from the one file alone."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from linkwise.errors import LinkwiseError, install_hint

#: Kinds of mesh files that are read: what one names further, such as textures, is left out.
FORMATS = ("stl", "obj", "dae", "glb", "ply", "off")

#: Size of the largest mesh file that is read, bytes.
LARGEST = 64 * 2**20


class MeshError(LinkwiseError, ValueError):
    """Why a mesh cannot be read, in words."""


def load_mesh(data: bytes, kind: str) -> Any:
    """The mesh of trimesh that a file of a kind of `FORMATS` holds.

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
        # No resolver: what a file names further, such as textures, is not opened.
        loaded: Any = trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=None).to_mesh()
        vertices = np.asarray(loaded.vertices, dtype=float).reshape(-1, 3)
        faces = np.asarray(loaded.faces).reshape(-1, 3)
    except Exception as error:  # a reader of many formats fails in many ways on a bad file
        raise MeshError(f"it is no .{kind} file that trimesh can read ({type(error).__name__})") from error
    if not faces.size or not np.all(np.isfinite(vertices)):
        raise MeshError("it holds no triangles" if not faces.size else "it holds coordinates that are not finite")
    return loaded
