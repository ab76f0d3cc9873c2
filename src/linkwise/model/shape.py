"""Bodies that stand for links, and for obstacles, in pictures and collisions; kinematics and dynamics never need them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import choices
from linkwise.model.validation import Checker, Record
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform

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
        The link that carries it, or ``"base"``; of an obstacle ``"world"``, or any word.
    kind : {"box", "cylinder", "capsule", "sphere", "ellipsoid", "mesh"}
        Its geometry.
    size : float or sequence of float
        m: the edges of a box (3,); radius and length along z of a cylinder or capsule (2,), the length of a capsule without
        its caps; the radius of a sphere (1,); the half axes of an ellipsoid (3,); the scale of a mesh in x, y, z (3,).
    role : {"visual", "collision"}
        What it is for.
    origin : (4, 4) or (3,) array_like, optional
        T_link_shape, or its position alone, m; identity by default.
    filename : str, optional
        Where the mesh is, as the file says it; `linkwise.files.packages.resolve` finds it.
    colour : (4,) array_like, optional
        Red, green, blue, opacity, each from 0 to 1.
    name, material : str, optional
        As the file says them.
    vertices : (N, 3) array_like or callable, optional
        Of a mesh, before it is scaled, m, or what reads them: `linkwise.files.load` looks up their file.

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
    vertices: Any

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
        vertices: Any = None,
    ) -> None:
        check = Checker(f"shape of link {link!r}")
        result = check.choice("kind", kind, SIZES)
        if (result == "mesh") != (filename is not None):
            check.report("filename", filename, "a file for a mesh, and None for all else")
        values: dict[str, Any] = {
            "link": link,
            "kind": result,
            "size": tuple(check.vector("size", [size] if np.ndim(size) == 0 else size, len(SIZES[result])).tolist()),
            "role": check.choice("role", role, ROLES),
            "origin": check.rigid("origin", transform(None, origin) if np.shape(origin) == (3,) else origin),
            "filename": filename,
            "colour": None if colour is None else tuple(check.vector("colour", colour, 4).tolist()),
            "name": name,
            "material": material,
            "vertices": vertices if vertices is None or callable(vertices) else _vertices(check, vertices),
        }
        _check_size(check, values)
        check.finish()
        self._assign(values)

    @classmethod
    def rod(cls, link: str, start: Any, end: Any, radius: Any, *, role: str = "collision", **fields: Any) -> Shape:
        """A capsule about the segment between two points (3,), m, in the frame of the link; a sphere where they are one.

        Parameters
        ----------
        link, role, **fields
            As for `Shape`.
        start, end : (3,) array_like
            Ends of the segment, m.
        radius : float
            m.

        Examples
        --------
        >>> Shape.rod("arm", (0, 0, 0), (0.4, 0, 0), 0.05).size
        (0.05, 0.4)
        """
        check = Checker(f"shape of link {link!r}")
        first, last = check.vector("start", start), check.vector("end", end)
        check.finish()
        length = float(np.linalg.norm(last - first))
        if length == 0.0:
            return cls(link, "sphere", radius, role=role, origin=first, **fields)
        axis = (last - first) / length
        across = np.eye(3)[int(np.abs(axis).argmin())]
        x = cross(across, axis)
        x = x / np.linalg.norm(x)
        frame = transform(np.stack([x, cross(axis, x), axis], axis=1), 0.5 * (first + last))
        return cls(link, "capsule", (radius, length), role=role, origin=frame, **fields)

    def moved(self, places: Mapping[str, tuple[str, Array]], prefix: str = "") -> Shape:
        """The shape where its link is called otherwise, or is a frame (4, 4) of another one."""
        link, pose = places.get(self.link, (self.link, np.eye(4)))
        name = self.name and prefix + self.name
        return self.unchecked(link=link, origin=np.asarray(pose @ self.origin), name=name)


def _vertices(check: Checker, vertices: Any) -> FloatArray:
    count = len(vertices) if isinstance(vertices, Sequence | np.ndarray) else 0
    if not count:
        check.report("vertices", vertices, "points (N, 3)")
        return np.zeros((1, 3))
    return check.finite("vertices", vertices, (count, 3), "finite points (N, 3)")


def _check_size(check: Checker, values: Mapping[str, Any]) -> None:
    """Report lengths that a solid cannot have."""
    if values["kind"] != "mesh" and min(values["size"]) < 0.0:
        check.report("size", values["size"], "lengths of 0 or more")


def given_shapes(check: Checker, shapes: Iterable[Any], links: Sequence[str]) -> tuple[Shape, ...]:
    """The shapes of a mechanism; reports what is none, or on a link that is not there."""
    result = tuple(shapes) if isinstance(shapes, Iterable) else (shapes,)
    for shape in result:
        if not isinstance(shape, Shape):
            check.report("shapes", shape, "Shapes")
        elif shape.link not in links:
            check.report("shapes", shape.link, f"shapes on {choices(links)}")
    return result
