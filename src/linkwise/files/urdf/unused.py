"""What a URDF says that is not used: each kind of element or attribute once, so that nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Iterator

from linkwise.errors import FileProblem
from linkwise.files.unused import Unused
from linkwise.files.urdf.joints import SINGLE
from linkwise.files.xml_tree import Element

_FRAME = {"origin": ("xyz", "rpy")}
_SHAPE = {"": ("name",), **_FRAME, "geometry": (), "material": ("name",)}
_JOINT: dict[str, tuple[str, ...]] = {"": ("name", "type"), **_FRAME, "parent": ("link",), "child": ("link",)}
_AXIS = {"axis": ("xyz",)}
_LIMIT = ("lower", "upper", "effort", "velocity")
_MOVING = {
    **_AXIS,
    "limit": _LIMIT,
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
}

USED: dict[str, dict[str, tuple[str, ...]]] = {
    "robot": {"": ("name", "version"), "link": (), "joint": (), "material": ("name",)},
    "link": {"": ("name",), "inertial": (), "visual": (), "collision": ()},
    "inertial": {**_FRAME, "mass": ("value",), "inertia": ("ixx", "iyy", "izz", "ixy", "iyz", "ixz")},
    "visual": _SHAPE,
    "collision": _SHAPE,
    "geometry": {
        "box": ("size",),
        "cylinder": ("radius", "length"),
        "capsule": ("radius", "length"),
        "sphere": ("radius",),
        "mesh": ("filename", "scale"),
    },
    "material": {"": ("name",), "color": ("rgba",)},
    "fixed joint": _JOINT,
    "floating joint": _JOINT,
    "planar joint": {**_JOINT, **_AXIS},
    "continuous joint": {**_JOINT, **_MOVING, "limit": ("effort", "velocity")},
    **{f"{kind} joint": {**_JOINT, **_MOVING} for kind in SINGLE if kind != "continuous"},
}
"""What is used of each element: its children with their attributes, and under "" its own attributes."""

_WHY = {
    "transmission": "a gear acts on a rotor's inertia, which URDF does not hold",
    "safety_controller": "its soft limits are a controller's",
    "calibration": "it places an encoder's mark",
    "gazebo": "it is for the simulator Gazebo",
}


_LEFT_OVER = "it is the call of a macro that was not defined when the file was expanded; what it makes is missing here"


def unused(robot: Element) -> list[FileProblem]:
    """A remark on each kind of element and attribute that is not used: its first line, and how often it stands."""
    found = Unused()
    for kind, element in _leftovers(robot):
        why = _LEFT_OVER if element.tag.startswith("xacro:") else _WHY.get(element.tag, "")
        found.note(kind, element.line, why)
    return found.remarks()


def _leftovers(robot: Element) -> Iterator[tuple[str, Element]]:
    """Every kind with each element that has it, in the order of the text."""
    left = [("robot", robot)]
    while left:
        place, element = left.pop()
        used = USED[place]
        for name in element.attributes:
            if "" in used and name not in used[""] and not name.startswith(("xmlns", "xml:")):
                yield f"the attribute {name!r} of <{element.tag}>", element
        inner = []
        for child in element.children:
            if child.tag not in used:
                yield f"<{child.tag}>" + ("" if place == "robot" else f" of a {place}"), child
                continue
            deeper = f"{child.get('type')} joint" if child.tag == "joint" else child.tag
            if deeper in USED:
                inner.append((deeper, child))
            else:
                for name in child.attributes:
                    if name not in used[child.tag]:
                        yield f"the attribute {name!r} of <{child.tag}>", child
        left.extend(reversed(inner))
