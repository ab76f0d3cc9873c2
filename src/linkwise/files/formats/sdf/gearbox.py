"""Gearboxes of SDF: each couples two joints on one body, and joins nothing itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from linkwise.files.formats.sdf.document import Values
from linkwise.files.formats.sdf.joint import SdfJoint
from linkwise.files.xml_tree import Element
from linkwise.model.mimic import Mimic
from linkwise.spatial.scalar import FloatArray

#: Two axes are parallel where their directions differ by less.
PARALLEL = 1e-6


@dataclass(frozen=True)
class Gearbox:
    """A gearbox: the body that it stands on turns neither; the angles of two others on it are in a ratio.

    Attributes
    ----------
    name : str
        Its name in the mechanism.
    element : Element
        Where it stands.
    reference, parent, child : str
        The bodies, by their names in the mechanism.
    axes : tuple of ndarray (3,)
        About which the angles of parent and child count, in the world in the pose that the file describes.
    ratio : float
        The angle of the child is -ratio times that of the parent.
    """

    name: str
    element: Element
    reference: str
    parent: str
    child: str
    axes: tuple[FloatArray, FloatArray]
    ratio: float

    def couple(self, joints: Iterable[SdfJoint], values: Values) -> None:
        """Let the joint between reference and child follow that between reference and parent.

        SDFormat, element ``gearbox_ratio``: theta_2 = -ratio theta_1, from the reference body to child and parent.
        """
        item, revolute = f"joint {self.name!r}", [joint for joint in joints if joint.kind == "revolute"]
        turns = []
        for body, axis in zip((self.parent, self.child), self.axes, strict=True):
            ends = {self.reference, body}
            between = [joint for joint in revolute if {joint.parent, joint.child} == ends]
            if len(between) != 1:
                count = f"{len(between)} revolute joints are" if between else "no revolute joint is"
                values.report(self.element, f"{item}: {count} between {self.reference!r} and {body!r}; expected one")
                return
            own = between[0].frame[:3, :3] @ np.asarray(between[0].fields["axis"], dtype=float)
            along = float(axis @ own / np.linalg.norm(own) / np.linalg.norm(axis))
            if not abs(along) > 1.0 - 0.5 * PARALLEL**2 - 4e-16:
                values.report(self.element, f"{item}: its axis is not that of {between[0].name!r}; expected parallel axes")
                return
            turns.append((between[0], np.sign(along) * (1.0 if between[0].child == body else -1.0)))
        (leader, one), (follower, other) = turns
        if follower.fields.get("mimic") is not None:
            values.report(self.element, f"{item}: {follower.name!r} follows another joint already; expected one coupling")
            return
        follower.fields["mimic"] = Mimic(leader.name, float(-self.ratio * one * other))
