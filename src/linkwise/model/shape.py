"""What a link looks like, or collides with, as a description file says it; the mechanics never need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwise.model.validation import Checker, Record
from linkwise.spatial.scalar import FloatArray

ROLES: tuple[str, ...] = ("visual", "collision")

#: What the numbers of `Shape.size` are, for each kind.
SIZES: dict[str, tuple[str, ...]] = {
    "box": ("x", "y", "z"),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "ellipsoid": ("x", "y", "z"),
    "mesh": ("x", "y", "z"),
}


@dataclass(frozen=True, eq=False)
class Shape(Record):
    """One body that stands for a link in pictures or collisions.

    Parameters
    ----------
    link : str
        The link that carries it, or ``"base"``.
    kind : {"box", "cylinder", "capsule", "sphere", "ellipsoid", "mesh"}
        Its geometry.
    size : sequence of float
        m: the edges of a box (3,); radius and length along z of a cylinder or capsule (2,), the length of a capsule without
        its caps; the radius of a sphere (1,); the half axes of an ellipsoid (3,); the scale of a mesh in x, y, z (3,).
    role : {"visual", "collision"}
        What it is for.
    origin : (4, 4) array_like, optional
        T_link_shape; identity by default.
    filename : str, optional
        Where the mesh is, as the file says it; `linkwise.files.packages.resolve` finds it.
    colour : (4,) array_like, optional
        Red, green, blue, opacity, each from 0 to 1.
    name, material : str, optional
        As the file says them.

    Raises
    ------
    ModelError
        Naming each field at fault.

    Examples
    --------
    >>> Shape("arm", "cylinder", (0.05, 0.4)).size
    (0.05, 0.4)
    """

    link: str
    kind: str
    size: tuple[float, ...]
    role: str
    origin: FloatArray
    filename: str | None
    colour: tuple[float, ...] | None
    name: str | None
    material: str | None

    def __init__(
        self,
        link: str,
        kind: str,
        size: Any,
        *,
        role: str = "visual",
        origin: Any = None,
        filename: str | None = None,
        colour: Any = None,
        name: str | None = None,
        material: str | None = None,
    ) -> None:
        check = Checker(f"shape of link {link!r}")
        result = check.choice("kind", kind, SIZES)
        if (result == "mesh") != (filename is not None):
            check.report("filename", filename, "a file for a mesh, and None for all else")
        values: dict[str, Any] = {
            "link": link,
            "kind": result,
            "size": tuple(check.vector("size", size, len(SIZES[result])).tolist()),
            "role": check.choice("role", role, ROLES),
            "origin": check.rigid("origin", origin),
            "filename": filename,
            "colour": None if colour is None else tuple(check.vector("colour", colour, 4).tolist()),
            "name": name,
            "material": material,
        }
        check.finish()
        self._assign(values)
