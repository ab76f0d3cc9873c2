"""Paths of spatial tendons of MJCF: sites, geoms that they wrap, and pulleys."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, reduce
from typing import Any

import numpy as np

from linkwise.errors import shown
from linkwise.files.formats.mjcf.attributes import Attributes, check_tag
from linkwise.files.formats.mjcf.bodies import WORLD, BodyTree, Site
from linkwise.files.formats.mjcf.geoms import Geom
from linkwise.files.formats.mjcf.links import Equalities
from linkwise.files.xml_tree import Element
from linkwise.model.loop import BASE
from linkwise.model.spring import ForceElement
from linkwise.model.tendon_path import PathPiece, Pulley, WrapCylinder, WrapObject, WrapSphere
from linkwise.spatial.scalar import Array, FloatArray

#: Parts of a path.
PARTS = ("site", "geom", "pulley")


class TendonPath:
    """Reads the path of a spatial tendon.

    Attributes
    ----------
    points : list or None
        The elements of the path as `LinearSpringDamper` has them; None where they are wrong or not known.
    bodies, sides : set of int
        The bodies that it pulls at, and those of sidesites.
    """

    def __init__(self, tendon: Attributes, equalities: Equalities, tree: BodyTree) -> None:
        self.tendon, self.equalities, self.tree = tendon, equalities, tree
        self.bodies: set[int] = set()
        self.sides: set[int] = set()
        parts = [self._part(part) for part in tendon.element.children if check_tag(part, tendon.item, tendon.log, PARTS)]
        self.points: list[Any] | None = None if None in parts else parts

    @property
    def wraps(self) -> bool:
        """True if it goes around geoms."""
        return any(isinstance(x, WrapObject) for x in self.points or ())

    def length(self, pieces: Iterable[PathPiece]) -> float:
        """Its length at the coordinates from which MuJoCo counts springs, m."""
        bodies = {self._link(body): pose for body, pose in self._spring_poses.items()}

        def pose(link: str, frame: Array) -> Array:
            return np.asarray(bodies[link] @ frame)

        return float(sum(piece.share * piece.placed(pose)[2].length for piece in pieces))

    @cached_property
    def _spring_poses(self) -> dict[int, FloatArray]:
        """T_world_body of the bodies at these coordinates."""
        poses = {WORLD: np.eye(4)}
        for k, body in enumerate(self.tree.elements):
            motions = [joint.motion(joint.springref) for joint in body.joints]
            poses[k] = reduce(np.matmul, [body.frame, *motions], poses[body.parent])
        return poses

    @cached_property
    def _geoms(self) -> dict[str, tuple[int, Geom]]:
        """The geoms by name, each with its body."""
        owned = [(WORLD, geom) for geom in self.tree.world_geoms]
        owned += [(k, geom) for k, body in enumerate(self.tree.elements) for geom in body.geoms]
        return {name: (k, geom) for k, geom in owned if (name := geom.attributes.text("name"))}

    def _link(self, body: int) -> str:
        return BASE if body == WORLD else self.equalities.links[body]

    def _part(self, element: Element) -> Any:
        """An element of the path; None after a report or a remark."""
        item = f"{self.tendon.item}: <{element.tag}>"
        attrs = Attributes(element, self.tendon.log, item, kind=f"tendon {element.tag}")
        if element.tag == "pulley":
            return attrs.build(lambda: Pulley(attrs.number("divisor")))
        if element.tag == "geom":
            return self._wrap(attrs)
        site = self._site(attrs, "site")
        if site is None:
            return None
        self.bodies.add(site.body)
        return self._link(site.body), site.frame[:3, 3]

    def _site(self, attrs: Attributes, key: str) -> Site | None:
        """A site that an attribute names."""
        self.equalities.used.add(str(attrs.text(key)))
        return attrs.lookup(key, self.equalities.sites, "sites")

    def _wrap(self, attrs: Attributes) -> WrapObject | None:
        """What a path wraps."""
        owned = attrs.lookup("geom", self._geoms, "geoms")
        side = self._site(attrs, "sidesite") if attrs.text("sidesite") else None
        if owned is None or (attrs.text("sidesite") and side is None):
            return None
        body, geom = owned
        self.bodies.add(body)
        if geom.kind not in ("sphere", "cylinder"):
            attrs.report(f"geom is {shown(attrs.text('geom'))}, a {geom.kind}; expected a sphere or a cylinder", "geom")
            return None
        if geom.from_file:
            self.tendon.remark("its spring and damper are left out, for it goes around a geom that is fitted to a mesh")
            return None
        if not geom.size:
            return None  # (reported where the geom is read)
        link, radius, frame = self._link(body), geom.size[0], geom.frame
        at = None if side is None else (self._link(side.body), side.frame[:3, 3])
        self.sides |= set() if side is None else {side.body}
        is_sphere = geom.kind == "sphere"
        return attrs.build(
            lambda: WrapSphere(link, radius, frame[:3, 3], at) if is_sphere else WrapCylinder(link, radius, frame, at)
        )


def any_wrap(element: ForceElement) -> bool:
    """True if the path of a spring goes around something."""
    return any(piece.wrap is not None for piece in element.pieces)


def geom_type(wrap: WrapObject) -> str:
    """The type of the geom of a wrap object."""
    return "sphere" if isinstance(wrap, WrapSphere) else "cylinder"
