"""A planar mechanism as one in space: the same links in the plane z = 0, the same coordinates in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.model import link as space
from linkwise.model.loop import Loop as SpatialLoop
from linkwise.model.symbolic import any_nonzero
from linkwise.planar.link import WORLD, Link
from linkwise.planar.loop import Loop
from linkwise.planar.structure import parent_name
from linkwise.spatial.numbers import numbers
from linkwise.spatial.rotation import rotation_z
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism as SpatialMechanism
    from linkwise.planar.mechanism import Mechanism

_KINDS = {"revolute": "hinge", "fixed": "full"}
"""What the closures of the plane are in space."""


def spatial(mechanism: Mechanism, gravity: npt.ArrayLike | None = None) -> SpatialMechanism:
    """Make the spatial mechanism of a planar one, in the plane z = 0.

    Coordinates, their names, order and limits are the same, and so is the frame of every link. A free link becomes three:
    two without mass that slide along x and y, named ``name.x`` and ``name.y``, and the link itself, which turns on them.
    Pins of loops become hinges, rigid connections full closures. The base is the world; the tool is the last link's frame.

    Parameters
    ----------
    mechanism : Mechanism
        Planar.
    gravity : (2,) array_like, optional
        Acceleration of free fall along x and y, m/s2: (0, -9.81) where the plane is upright, (0, 0) where it lies. It must
        be said where a link has mass.

    Returns
    -------
    Mechanism
        Spatial. A link of mass has the tensor of a lamina; of its three moments only that about z matters.

    Raises
    ------
    ArgumentError
        Where a link has mass and gravity is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import planar
    >>> arm = planar.Mechanism([planar.Link(name="upper", mass=1.0, com=(0.5, 0.0)), planar.Link(name="fore", a=1.0)])
    >>> spatial(arm, (0.0, -9.81)).gravity_torque([0.0, 0.3]).round(3).tolist()
    [4.905, 0.0]
    """
    from linkwise.mechanism import Mechanism as SpatialMechanism

    links = [made for k, link in enumerate(mechanism.links) for made in _links(link, parent_name(mechanism, k))]
    falls = _gravity(mechanism, gravity)
    loops = [_loop(loop) for loop in mechanism.loops]
    return SpatialMechanism(links, loops=loops, gravity=falls, name=mechanism.name)


def _links(link: Link, parent: str) -> list[space.Link]:
    """One link, or the three of a free one."""
    name, body = str(link.name), link.body
    if link.joint == "free":
        x, y, theta = (tuple(bounds) for bounds in link.bounds.tolist())
        return [
            space.Link(joint="prismatic", axis=(1, 0, 0), limits=x, name=f"{name}.x", parent="base"),
            space.Link(joint="prismatic", axis=(0, 1, 0), limits=y, name=f"{name}.y", parent=f"{name}.x"),
            space.Link(limits=theta, name=name, parent=f"{name}.y", joint_name=f"{name}.theta", body=body),
        ]
    limits = None if link.limits is None else tuple(link.limits.tolist())
    rest: dict[str, Any] = {"name": name, "parent": _base(parent), "limits": limits, "body": body}
    rest["joint_name"] = link.joint_name
    at = _standing(*link.at)
    if link.joint == "prismatic":
        turned = _standing(0.0, 0.0, link.theta)
        return [space.Link(joint="prismatic", before=at, axis=(1, 0, 0), after=turned, offset=link.a, **rest)]
    if link.joint == "fixed":
        return [space.Link(joint="fixed", before=at @ _standing(link.a, 0.0, link.theta), **rest)]
    return [space.Link(before=at @ _standing(link.a, 0.0, 0.0), offset=link.theta, **rest)]


def _loop(loop: Loop) -> SpatialLoop:
    (x1, y1), (x2, y2) = loop.first_point, loop.second_point
    first, second = _standing(x1, y1, loop.angle), _standing(x2, y2, 0.0)
    return SpatialLoop(_KINDS[loop.joint], _base(loop.first), _base(loop.second), first, second, loop.name)


def _standing(x: Any, y: Any, angle: Any) -> Array:
    """The transform (4, 4) of a frame at x, y, turned by an angle about z."""
    return transform(rotation_z(angle), np.array([x, y, 0.0], dtype=object))


def _base(name: str) -> str:
    return "base" if name == WORLD else name


def _gravity(mechanism: Mechanism, gravity: npt.ArrayLike | None) -> tuple[float, float, float]:
    if gravity is None:
        heavy = [str(link.name) for link in mechanism.links if any_nonzero(link.mass)]
        if heavy:
            raise ArgumentError(
                f"gravity is not said, and {heavy[0]!r} has mass; expected (0, -9.81) where the plane is upright,"
                " (0, 0) where it lies"
            )
        return (0.0, 0.0, 0.0)
    made = numbers("gravity", gravity, "2 finite numbers")
    if made.shape != (2,):
        raise ArgumentError(f"gravity has the shape {made.shape}; expected (2,): along x and y")
    return (float(made[0]), float(made[1]), 0.0)
