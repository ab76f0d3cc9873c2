"""Geometric shapes of links and obstacles, for drawing and collisions; kinematics and dynamics do not use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from linkwise.errors import choices
from linkwise.model.validation import CheckedRecord, Checker, items, unset_or
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform
from linkwise.spatial.validation import readable, shape_of

ROLES: tuple[str, ...] = ("visual", "collision")

#: Meaning of `Shape.size`, for each kind.
SIZES: dict[str, tuple[str, ...]] = {
    "box": ("x", "y", "z"),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "ellipsoid": ("x", "y", "z"),
    "mesh": ("x", "y", "z"),
}


def _origin(check: Checker, field: str, origin: Any) -> FloatArray:
    return check.rigid(field, transform(None, origin) if shape_of(origin) == (3,) else origin)


def _colour(check: Checker, field: str, colour: Any) -> tuple[float, ...]:
    return tuple(check.vector(field, colour, 4).tolist())


def _vertices(check: Checker, field: str, vertices: Any) -> Any:
    if callable(vertices):
        return vertices
    count = len(items(vertices)) if isinstance(vertices, Sequence | np.ndarray) else 0
    if not count:
        check.report(field, vertices, "points (N, 3)")
        return np.zeros((1, 3))
    return check.finite(field, vertices, (count, 3), "finite points (N, 3)")


@dataclass(frozen=True, eq=False)
class Shape(CheckedRecord):
    """One geometric shape of a link, for drawing or collisions.

    Parameters
    ----------
    link : str
        The link that carries it, or ``"base"``; of an obstacle ``"world"``, or any word that is
        not the name of a link (of a link whose frame is the world's it may be).
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
    kind: Annotated[str, partial(Checker.choice, allowed=SIZES)]
    size: Any
    _: KW_ONLY
    role: Annotated[str, partial(Checker.choice, allowed=ROLES)] = "visual"
    origin: Annotated[Any, _origin] = None
    filename: str | None = None
    colour: Annotated[Any, unset_or(_colour)] = None
    name: str | None = None
    material: str | None = None
    vertices: Annotated[Any, unset_or(_vertices)] = None

    @property
    def _item(self) -> str:
        return f"shape of link {self.link!r}"

    def _check(self, check: Checker, arguments: Mapping[str, Any]) -> None:
        if (self.kind == "mesh") != (self.filename is not None):
            check.report("filename", self.filename, "a file for a mesh, and None for all else")
        size = [self.size] if shape_of(readable("size", self.size)) == () else self.size
        self._assign({"size": tuple(check.vector("size", size, len(SIZES[self.kind])).tolist())})
        if self.kind != "mesh" and min(self.size) < 0.0:
            check.report("size", self.size, "lengths of 0 or more")

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


def given_shapes(check: Checker, shapes: Iterable[Any], links: Sequence[str]) -> tuple[Shape, ...]:
    """Validate the shapes of a mechanism; report invalid ones and unknown links."""
    result = items(shapes)
    for shape in result:
        if not isinstance(shape, Shape):
            check.report("shapes", shape, "Shapes")
        elif shape.link not in links:
            check.report("shapes", shape.link, f"shapes on {choices(links)}")
    return result
