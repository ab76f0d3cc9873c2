"""Joints of SDF as the reader passes them on, and gearboxes: each couples two joints, and joins nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.files.formats.sdf.document import Values
from linkwise.files.xml_tree import Element
from linkwise.model.mimic import Mimic
from linkwise.model.spring import Spring
from linkwise.spatial.scalar import FloatArray

#: Two axes are parallel where their directions differ by less.
PARALLEL = 1e-6


@dataclass
class SdfJoint:
    """What a ``<joint>`` says.

    Attributes
    ----------
    name, kind : str
        Its name in the mechanism and its kind there.
    element : Element
        Where it stands.
    parent, child : str
        The links that it joins, by their names in the mechanism; `linkwise.files.formats.sdf.frames.WORLD` for
        the ground.
    frame : ndarray (4, 4)
        T_world_joint in the pose that the file describes.
    start : ndarray (4, 4), optional
        The same of the frame in the parent that it meets at zero, where that is another one.
    fields : dict
        axis, pitch, limits, qd_max, tau_max, motor and mimic of a `Link`.
    springs : list of Spring
        On its coordinates.
    """

    name: str
    kind: str
    element: Element
    parent: str
    child: str
    frame: FloatArray
    start: FloatArray | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    springs: list[Spring] = field(default_factory=list)


@dataclass(frozen=True)
class Gearbox:
    """A gearbox: the body that it stands on turns neither; the angles of two others on it are in a ratio.

    Attributes
    ----------
    joint : SdfJoint
        What joins the two other bodies, by its element.
    reference : str
        The body that it stands on, by its name in the mechanism.
    axes : sequence of ndarray (3,)
        About which the angles of the joint's parent and child count, in the world in the pose that the file describes.
    ratio : float
        The angle of the child is -ratio times that of the parent.
    """

    joint: SdfJoint
    reference: str
    axes: Sequence[FloatArray]
    ratio: float

    def couple(self, joints: Iterable[SdfJoint], values: Values) -> None:
        """Let the joint between reference and child follow that between reference and parent.

        SDFormat, element ``gearbox_ratio``: theta_2 = -ratio theta_1, from the reference body to child and parent.
        """
        element, item = self.joint.element, f"joint {self.joint.name!r}"
        revolute = [joint for joint in joints if joint.kind == "revolute"]
        turns = []
        for body, axis in zip((self.joint.parent, self.joint.child), self.axes, strict=True):
            ends = {self.reference, body}
            between = [joint for joint in revolute if {joint.parent, joint.child} == ends]
            if len(between) != 1:
                count = f"{len(between)} revolute joints are" if between else "no revolute joint is"
                values.report(element, f"{item}: {count} between {self.reference!r} and {body!r}; expected one")
                return
            turning = between[0].frame[:3, :3] @ np.asarray(between[0].fields["axis"], dtype=float)
            along = float(axis @ turning / np.linalg.norm(turning) / np.linalg.norm(axis))
            if not abs(along) > 1.0 - 0.5 * PARALLEL**2 - 4e-16:
                values.report(element, f"{item}: its axis is not that of {between[0].name!r}; expected parallel axes")
                return
            turns.append((between[0], np.sign(along) * (1.0 if between[0].child == body else -1.0)))
        (leader, sign), (follower, other_sign) = turns
        if follower.fields.get("mimic") is not None:
            values.report(element, f"{item}: {follower.name!r} follows another joint already; expected one coupling")
            return
        follower.fields["mimic"] = Mimic(leader.name, float(-self.ratio * sign * other_sign))
