"""A joint of SDF as its reader passes it on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from linkwise.files.xml_tree import Element
from linkwise.model.spring import Spring
from linkwise.spatial.scalar import FloatArray


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
