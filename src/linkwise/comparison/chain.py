"""The axes of a chain in space with every joint at zero: all that the comparison needs of a mechanism's geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.errors import ArgumentError, members
from linkwise.mechanism import Mechanism
from linkwise.model.mimic import Follower
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class Axis:
    """One joint of the chain with all joints at zero, in the world frame.

    Attributes
    ----------
    name, kind : str
        Of the joint.
    direction, point : ndarray (3,)
        Along the axis, and a point on it. Only the direction of a prismatic joint means anything.
    pitch : float
        m/rad of a screw.
    follower : Follower
        How the joint's own value depends on the coordinates.
    limits : (float, float)
        Of the joint's own value, rad or m.
    leads : bool
        Whether the joint has a coordinate of its own, and follows no other.
    """

    name: str
    kind: str
    direction: FloatArray
    point: FloatArray
    pitch: float
    follower: Follower
    limits: tuple[float, float]
    leads: bool

    @property
    def has_line(self) -> bool:
        """Whether the axis has a place, not only a direction."""
        return self.kind != "prismatic"

    @property
    def unit(self) -> str:
        """Of the joint's value."""
        return "m" if self.kind == "prismatic" else "rad"


@dataclass(frozen=True)
class Chain:
    """The joints from the base to a link.

    Attributes
    ----------
    mechanism : Mechanism
        Whose it is.
    link : int or str
        Where it ends, as `Mechanism.forward_kinematics` takes it.
    axes : tuple of Axis
        From the base out.
    end : ndarray (4, 4)
        T_world_end with every joint at zero.
    """

    mechanism: Mechanism
    link: int | str
    axes: tuple[Axis, ...]
    end: FloatArray

    @property
    def size(self) -> float:
        """How far the chain reaches, m; at least 1e-6."""
        points = np.array([self.end[:3, 3], *(axis.point for axis in self.axes)])
        return max(float(np.linalg.norm(np.ptp(points, axis=0))), 1e-6)


def chain_of(mechanism: Mechanism, link: int | str) -> Chain:
    """Take the chain out of a mechanism; a floating base stands in its origin.

    Raises
    ------
    ArgumentError
        Where no joint moves on the way, or a joint follows one that is not on the way.
    """
    last = mechanism.tool_index if link == -1 else mechanism.link_index(link)
    pose = np.asarray(mechanism.base, dtype=float)
    axes: list[Axis] = []
    for k in mechanism.path(last):
        part = mechanism.links[k]
        pose = pose @ part.before
        if part.moves:
            limits = part.limits or (-np.inf, np.inf)
            direction = pose[:3, :3] @ part.axis
            follower = mechanism.followers[k]
            place = (direction, pose[:3, 3], part.pitch)
            axes.append(Axis(part.coordinate_name, part.joint, *place, follower, limits, leads=part.mimic is None))
        pose = np.asarray(pose @ part.motion(0.0) @ part.after, dtype=float)
    if not axes:
        named = _end(mechanism, link)
        if link == -1:
            named += f", which is on {mechanism.link_names[mechanism.tool_index]!r},"
        raise ArgumentError(f"no joint moves between the base and {named} of {mechanism.name!r}; name the link to compare")
    _check_followers(mechanism, axes)
    end = pose @ mechanism.tool if link == -1 else pose
    return Chain(mechanism, link, tuple(axes), np.asarray(end, dtype=float))


def _end(mechanism: Mechanism, link: int | str) -> str:
    return "the tool" if link == -1 else f"link {mechanism.link_names[mechanism.link_index(link)]!r}"


def _check_followers(mechanism: Mechanism, axes: list[Axis]) -> None:
    own = {axis.follower.coordinate for axis in axes if axis.leads}
    lost = [axis.name for axis in axes if axis.follower.coordinate not in own]
    if lost:
        follow = "follow" if len(lost) > 1 else "follows"
        raise ArgumentError(f"{members(lost)} of {mechanism.name!r} {follow} a joint that is not on the way to the link")


def beside(chain: Chain) -> list[str]:
    """The joints of a chain's mechanism that are not on the way to its end, those that follow others too."""
    on_the_way = {axis.name for axis in chain.axes}
    links = chain.mechanism.links
    return [link.coordinate_name for link in links if link.moves and link.coordinate_name not in on_the_way]


def joint_values(chain: Chain, joints: FloatArray) -> FloatArray:
    """Give the values (..., m) of the chain's joints at the joint coordinates (..., n) of its mechanism."""
    return np.stack([axis.follower.value(joints) for axis in chain.axes], axis=-1)


def coordinates(chain: Chain, values: FloatArray) -> FloatArray:
    """Give the joint coordinates (..., n) at which the chain's joints have these values (..., m); others are zero."""
    found = np.zeros((*values.shape[:-1], chain.mechanism.n))
    for k, axis in enumerate(chain.axes):
        if axis.leads:
            found[..., axis.follower.coordinate] = values[..., k]
    return found
