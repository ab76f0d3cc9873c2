"""Meshes of MJCF as mass: their volume, or surface, centre and moments, as MuJoCo computes them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import FileError, install_hint, shown
from linkwise.files.formats.mjcf.attachment import Attached
from linkwise.files.formats.mjcf.attributes import ATTRIBUTES, LEAST, ORIGIN, Attributes, Defaults, offered
from linkwise.files.formats.mjcf.builtin_meshes import builtin_mesh
from linkwise.files.formats.mjcf.document import Includer, Settings
from linkwise.files.formats.mjcf.obj_faces import first_object_in_triangles
from linkwise.files.mesh_file import LARGEST, MeshError, load_mesh
from linkwise.files.report import Report
from linkwise.files.xml_tree import Element
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.scalar import FloatArray

#: Distribution of a mesh's mass.
INERTIAS = ("legacy", "exact", "convex", "shell")

#: A smaller volume (m3) or surface (m2) is none (MuJoCo's bound).
SMALLEST = 1e-14


@dataclass(frozen=True)
class MeshSolid:
    """A mesh of the density 1: mass (kg), centre (m) and tensor about it (kg m2), in the axes of its file."""

    mass: float
    com: FloatArray
    tensor: FloatArray


class Meshes:
    """Meshes of the assets of a file, loaded on first use."""

    def __init__(self, root: Element, log: Report, defaults: Defaults, settings: Settings, includer: Includer) -> None:
        self.includer = includer
        self._settings: dict[str, Settings] = {}
        self.attributes: dict[str, Attributes] = {}
        self._solids: dict[str, MeshSolid | MeshError] = {}
        meshes = [(asset, element) for asset in root.all("asset") for element in asset.all("mesh")]
        for asset, element in meshes:
            known = (*ATTRIBUTES["mesh"], "plugin") if "plugin" in element.attributes else None
            attrs = Attributes(element, log, known=known, defaults=defaults.of(element))
            name = attrs.text("name") or Path(attrs.text("file") or "").stem
            self.attributes[name] = attrs
            self._settings[name] = asset.settings if isinstance(asset, Attached) else settings

    def solid(self, name: str) -> MeshSolid:
        """A mesh as a solid.

        Raises
        ------
        MeshError
            Why there is none.
        """
        if name not in self._solids:
            try:
                self._solids[name] = self._computed(name)
            except MeshError as error:
                self._solids[name] = error
        result = self._solids[name]
        if isinstance(result, MeshError):
            raise result
        return result

    def _computed(self, name: str) -> MeshSolid:
        if name not in self.attributes:
            expected = f" (expected {offered(self.attributes)})" if self.attributes else ""
            raise MeshError(f"there is no mesh {shown(name)}{expected}")
        attrs = self.attributes[name]
        if attrs.element.children:
            raise MeshError(f"mesh {shown(name)} is what MuJoCo makes of the field of a plugin, which is not known here")
        kind = attrs.word("inertia", INERTIAS, "legacy")
        vertices, faces = self._triangles(attrs, self._settings[name], hull=kind == "convex")
        quaternion = np.array(attrs.row("refquat", (1.0, 0.0, 0.0, 0.0)))
        if not LEAST < np.linalg.norm(quaternion) < np.inf:
            raise MeshError(f"refquat of {attrs.item} has no direction")
        turn = quaternion_rotation(quaternion / np.linalg.norm(quaternion))
        scale = np.array(attrs.row("scale", (1.0, 1.0, 1.0)))
        vertices = (vertices - attrs.row("refpos", ORIGIN)) @ np.asarray(turn, dtype=float) * scale
        if kind == "convex" or not len(faces):
            faces = convex_hull(vertices)
            if 0 <= attrs.whole("maxhullvert", -1) < len(np.unique(faces)):
                raise MeshError(f"the hull of mesh {shown(name)} with no more than maxhullvert corners is not known here")
        elif np.prod(scale) < 0:
            faces = faces[:, ::-1]
        return mesh_solid(vertices, faces, kind)

    def _triangles(self, attrs: Attributes, settings: Settings, *, hull: bool) -> tuple[FloatArray, Any]:
        """Vertices (..., 3) in the single precision in which MuJoCo has them, and the triangles, if there are any."""
        file, kind = attrs.text("file"), attrs.text("builtin")
        if kind not in (None, "none"):
            vertices, faces = builtin_mesh(kind, attrs.numbers("params", 0, 100) or [])
        elif file is None:
            vertices, faces = _inline(attrs, "vertex"), _inline(attrs, "face").astype(int)
            if len(vertices) < 4 or (faces.size and not 0 <= faces.min() <= faces.max() < len(vertices)):
                raise MeshError(f"{attrs.item} has no file, nor vertices that make a body")
        else:
            vertices, faces = self._from_file(attrs, file, settings, hull=hull)
        return np.asarray(vertices, dtype=np.float32).astype(float), faces

    def _from_file(self, attrs: Attributes, file: str, settings: Settings, *, hull: bool) -> tuple[Any, Any]:
        name = os.path.basename(file.replace("\\", "/")) if settings.strip_path else file.replace("\\", "/")
        kind = Path(name).suffix.lower().removeprefix(".")
        if kind not in ("stl", "obj", "msh"):
            raise MeshError(f"mesh file {shown(name)} is of another kind than .stl, .obj or .msh")
        try:
            path = self.includer.path(attrs.element, os.path.join(settings.mesh_folder, name))
            if path.stat().st_size > LARGEST:
                raise MeshError(f"mesh file {shown(name)} has more than {LARGEST // 2**20} MB")
            data = path.read_bytes()
        except FileError as error:
            raise MeshError(f"mesh file {shown(name)}: {'; '.join(p.message for p in error.problems)}") from error
        except OSError as error:
            raise MeshError(f"mesh file {shown(name)} cannot be read ({error.strerror or error})") from error
        if kind == "msh":
            return _msh(data, name)
        if kind == "obj" and (points := _points_alone(data, hull=hull)) is not None:
            return points, np.zeros((0, 3), dtype=int)
        try:
            loaded = load_mesh(first_object_in_triangles(data) if kind == "obj" else data, kind)
        except MeshError as error:
            raise MeshError(f"mesh file {shown(name)}: {error}") from error
        return loaded.vertices, np.asarray(loaded.faces)


def _inline(attrs: Attributes, key: str) -> FloatArray:
    values = attrs.numbers(key, 0, 10**7) or []
    if len(values) % 3:
        raise MeshError(f"{key} of {attrs.item} has {len(values)} numbers; expected three for each")
    return np.reshape(values, (-1, 3))


def _points_alone(data: bytes, *, hull: bool) -> FloatArray | None:
    """Return all vertices (..., 3) of an .obj file without faces, or whose hull is needed; None for any other."""
    rows = [line.split() for line in data.splitlines()]
    if not hull and any(row and row[0] in (b"f", b"l", b"p") for row in rows):
        return None
    try:
        points = np.array([row[1:4] for row in rows if row and row[0] == b"v"]).astype(float)
    except ValueError:
        return None
    return points if points.shape[1:] == (3,) and len(points) > 3 and np.isfinite(points).all() else None


def _msh(data: bytes, name: str) -> tuple[Any, Any]:
    """MuJoCo's own format: counts of vertices, normals, texture coordinates and faces, then all of them."""
    counts = np.frombuffer(data[:16], dtype="<i4")
    if len(counts) == 4 and counts.min() >= 0:
        vertices, normals, textures, faces = (int(count) for count in counts)
        start = 16 + 4 * (3 * vertices + 3 * normals + 2 * textures)
        if len(data) == start + 12 * faces:
            triangles = np.frombuffer(data, "<i4", 3 * faces, start).reshape(-1, 3)
            if not faces or 0 <= triangles.min() <= triangles.max() < vertices:
                return np.frombuffer(data, "<f4", 3 * vertices, 16).reshape(-1, 3), triangles
    raise MeshError(f"mesh file {shown(name)} is no .msh file of MuJoCo")


def convex_hull(vertices: FloatArray) -> Any:
    """The triangles of the convex hull of vertices (..., 3), turned outwards.

    Raises
    ------
    MeshError
        Where SciPy is missing, or there is none.
    """
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError as error:
        raise MeshError(f"a convex hull needs SciPy: {install_hint('scipy')}") from error
    try:
        hull = ConvexHull(vertices)
    except QhullError as error:
        raise MeshError("its vertices have no convex hull") from error
    a, b, c = (vertices[hull.simplices[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    return np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)


def mesh_solid(vertices: FloatArray, faces: Any, kind: str) -> MeshSolid:
    """A mesh as a solid: sums over the tetrahedra between its triangles and a point, or over the triangles.

    Of the kind "legacy" all tetrahedra count as positive, so that no order of the corners matters; the volume is that about
    the centre of mass. Products of inertia of a simplex: D. Eberly, "Polyhedral Mass Properties", 2002; of its corners and
    their sum each outer product counts 1/20, of a triangle's 1/12.

    Raises
    ------
    MeshError
        Where the volume is not positive, or triangles are not all turned outwards.

    Examples
    --------
    >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> solid = mesh_solid(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]), "exact")
    >>> round(6 * solid.mass, 12), solid.com.tolist()
    (1.0, [0.25, 0.25, 0.25])
    """
    corners = vertices[faces]
    areas: FloatArray = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if not areas.sum() > SMALLEST:
        raise MeshError("its triangles have no surface")

    def weights(points: FloatArray) -> FloatArray:
        if kind == "shell":
            return areas
        volumes = np.asarray(np.einsum("ij,ij->i", np.cross(points[:, 0], points[:, 1]), points[:, 2]) / 6.0)
        return np.abs(volumes) if kind == "legacy" else volumes

    if kind == "exact":
        edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        if len(np.unique(edges, axis=0)) < len(edges):
            raise MeshError("its triangles are not all turned outwards")
    middle = areas @ corners.mean(axis=1) / areas.sum()
    parts = weights(corners - middle)
    if not parts.sum() > SMALLEST:
        raise MeshError("its volume is not positive: its triangles are turned inwards, or enclose nothing")
    shift = parts @ (corners - middle).sum(axis=1) / ((3.0 if kind == "shell" else 4.0) * parts.sum())
    corners = corners - middle - shift
    parts = weights(corners)
    points = np.concatenate([corners, corners.sum(axis=1, keepdims=True)], axis=1)
    products = np.einsum("i,ikx,iky->xy", parts, points, points) / (12.0 if kind == "shell" else 20.0)
    return MeshSolid(float(parts.sum()), middle + shift, np.trace(products) * np.eye(3) - products)
