"""Mechanisms from mechanisms: lock joints, extract a subtree, attach another mechanism."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from linkwise.errors import ArgumentError, choices, members
from linkwise.model.inertia import Inertia
from linkwise.model.joints import FREE, RIGID, Joint
from linkwise.model.link import Link
from linkwise.model.loop import BASE, Loop
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.model.transmission import Drive
from linkwise.model.tree import TOOL, Tree, require_tree
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import inverse
from linkwise.spatial.validation import number_within, rigid_poses, vectors

T = TypeVar("T", bound=Tree)

#: Tolerance of the length of a given quaternion.
UNIT_LENGTH = 1e-6

#: New locations of items of a link: a link, and a frame of it (4, 4).
Places = Mapping[str, tuple[str, Array]]

#: The fields of a link without a joint.
NO_JOINT: dict[str, Any] = {"joint": RIGID, "pitch": 0.0, "offset": 0.0, "limits": None, "motor": None, "mimic": None}
NO_JOINT |= {"qd_max": None, "qdd_max": None, "tau_max": None}


def lock(tree: T, joints: Mapping[str, Any], base: Any = None) -> T:
    """Fix joints at values: a reduced model, without their coordinates.

    The joints that follow a locked one are held where it puts them. Their motors rest: rotors that are bodies stay on
    their carriers as masses, and G^2 Jm and friction of these joints are gone. The potential energy leaves out the constant
    that springs of locked joints had.

    Parameters
    ----------
    joints : mapping of str to float or (k,) array_like
        Value of each joint to hold, rad or m, by the name of its coordinate; it may be outside the limits. Of a joint with
        several coordinates all of these, by the joint's name: of a ball joint its quaternion.
    base : (4, 4) array_like, optional
        Pose at which a floating base is held, in the frame `base`.

    Raises
    ------
    ArgumentError
        Naming the joints there are.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> positioning = arm.lock({"link4": 0.0, "link5": 0.5, "link6": 0.0})
    >>> positioning.names
    ('link1', 'link2', 'link3')
    """
    if not isinstance(joints, Mapping):
        raise ArgumentError(f"lock: joints is {joints!r}; expected a mapping of joint names to values")
    if base is not None and not tree.floating:
        raise ArgumentError("lock: base is the pose at which a floating base is held; this base is fixed already")
    leaders = {link.coordinate_name: link.mimic.joint for link in tree.links if link.mimic}
    parts = {name for link in tree.links if len(link.coordinate_names) > 1 for name in link.coordinate_names}
    if parts & joints.keys():  # (one coordinate of several)
        split = [link for link in tree.links if parts & joints.keys() & {*link.coordinate_names}]
        for link in split:
            if link.coordinate_name in joints:
                both = f"{link.coordinate_name!r} and of its coordinates {choices(sorted(parts & joints.keys()))}"
                raise ArgumentError(f"lock: joints has values of {both}; expected one or the other")
        return lock(separated(tree, only=[link.coordinate_name for link in split]), joints, base)
    places = {link.coordinate_name: k for k, link in enumerate(tree.links) if link.moves and not link.mimic}
    for name in joints:
        if name not in places:
            follows = f"; {name!r} follows {leaders[name]!r}" if name in leaders else ""
            raise ArgumentError(f"lock: no joint {name!r} has a coordinate; expected {choices(places)}{follows}")
    values: dict[int, float] = {}
    links = _links(tree)
    for name, value in joints.items():
        k = places[name]
        if (size := tree.links[k].joint_model.nq) > 1:
            motion = tree.links[k].motion(_coordinates(tree.links[k].joint_model, f"lock: {name}", value))
            links[k] = links[k].replace(before=links[k].before @ motion, **NO_JOINT)
        first = tree.coordinates[k]
        coordinates = (
            np.atleast_1d(value)
            if size > 1
            else [number_within(f"lock: {name}", value, -np.inf, np.inf, "a finite number, rad or m")]
        )
        values |= dict(enumerate(coordinates, first)) if first >= 0 else {}
    links = [_locked(tree, k, link, values) for k, link in enumerate(links)]
    for drive in tree.drives:
        if drive.coordinate in values and drive.carrier is not None and not drive.motor.locked.is_zero:
            _add_mass(links, drive.carrier, drive.motor.locked)
    remaining = [at for at in tree.manifold_joints if (links[at.link].has_quaternion if at.link >= 0 else base is None)]
    turning = {name for at in remaining for name in tree.velocity_names[at.v]}
    motors = [
        motor
        for motor, drive in _motors(tree)
        if (drive.coordinate not in values if drive.coordinate >= 0 else drive.joint in turning)
    ]
    locked_values = dict.fromkeys(joints, 0.0) | _values_by_name(tree, values)
    springs = [left for element in tree.springs if (left := element.locked(locked_values)) is not None]
    floating, ground = (tree.floating, tree.base) if base is None else (False, tree.base @ rigid_poses("lock: base", base))
    tool_link = tree.link_names[tree.tool_index]
    changes = {"links": links, "motors": motors, "springs": springs, "tool_link": tool_link, "base": ground}
    return tree.replace(**changes, floating=floating)


def subtree(tree: T, link: int | str, q: Any = None) -> T:
    """The mechanism of a link and of all that it carries.

    Its base stands in the frame of the link's parent, and all joints outside are held, those that drive joints inside
    too: so poses, gravity torques and loops are those of the whole mechanism where its other joints are at `q`. The tool
    stays where it is on one of these links, and is else the frame of the last.

    Parameters
    ----------
    link : int or str
        The first link, by name or index; its own joint is part of the subtree.
    q : (nq,) array_like, optional
        Configuration of the whole mechanism; neutral by default.

    Raises
    ------
    ArgumentError
        Where there is no such link, or a joint outside follows one of the subtree.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> forearm = arm.subtree("link2", [0.5, 0.0])
    >>> forearm.names, bool(abs(forearm.forward_kinematics([0.3]) - arm.forward_kinematics([0.5, 0.3])).max() < 1e-15)
    (('link2',), True)
    """
    root = tree.link_index(link)
    inside = tree.carried(root)
    carried = {*inside}
    at = tree.neutral if q is None else vectors("subtree: q", q, tree.nq)
    if at.ndim != 1:
        raise ArgumentError(f"subtree: q has the shape {at.shape}; expected one configuration, ({tree.nq},)")
    free = {tree.coordinates[k] for k in inside if not tree.links[k].mimic} - {-1}
    for k, follower in enumerate(tree.followers):
        if k not in carried and follower.coordinate in free:
            joint, leader = tree.links[k].coordinate_name, tree.names[follower.coordinate]
            raise ArgumentError(f"subtree: joint {joint!r} follows {leader!r}, but only one is in the subtree of {link!r}")
    outside = [k for k, part in enumerate(tree.links) if k not in carried and part.moves and not part.mimic]
    outer_values = {tree.links[k].coordinate_name: tree.joint_coordinates(k, at) for k in outside}
    base_joint = tree.manifold_joints[0] if tree.floating else None
    locked_tree = lock(tree, outer_values, None if base_joint is None else base_joint.joint.placement(at[base_joint.q]))
    names = {locked_tree.link_names[k] for k in inside}
    poses = {BASE: np.asarray(locked_tree.base)}
    for k in locked_tree.order:
        if k not in carried:
            poses[locked_tree.link_names[k]] = poses[_parent(locked_tree, k)] @ locked_tree.links[k].placement()
    base = poses[_parent(locked_tree, root)]
    places = {name: (BASE, np.asarray(inverse(base) @ pose)) for name, pose in poses.items()}
    parts = [
        part.replace(motor=part.motor and _moved(part.motor, places)) for part in _links(locked_tree) if part.name in names
    ]
    parts[inside.index(root)] = parts[inside.index(root)].replace(parent=BASE)
    driven = {name for part in (locked_tree.links[k] for k in inside) for name in part.coordinate_names}
    driven |= {name for at in locked_tree.manifold_joints if at.link in inside for name in locked_tree.velocity_names[at.v]}
    motors = [_moved(motor, places) for motor, drive in _motors(locked_tree) if drive.joint in driven]
    loops = [_joined(loop, places) for loop in locked_tree.loops if loop.first in names or loop.second in names]
    tool = locked_tree.link_names[locked_tree.tool_index]
    ends: dict[str, Any] = {"tool_link": tool} if tool in names else dict.fromkeys(("tool_link", "tool", "payload"))
    springs = [element.moved(places) for element in locked_tree.springs if not element.links or names & {*element.links}]
    shapes = [shape.moved(places) for shape in locked_tree.shapes]
    ends["shapes"] = [shape for shape in shapes if shape.link == BASE or shape.link in names]
    return locked_tree.replace(links=parts, motors=motors, loops=loops, springs=springs, base=base, **ends)


def attach(tree: T, other: Tree, to: int | str = TOOL, at: Any = None, prefix: str = "", *, use_tool: bool = False) -> T:
    """The mechanism with another one on it: a gripper on an arm, two arms on one base.

    Gravity, name and base are those of this mechanism; coordinates of the other come after its own.

    Parameters
    ----------
    other : Mechanism
        On a fixed base; of a floating one the base becomes a link, on a floating joint with its coordinates.
    to : int or str
        The frame that carries its base: a link, ``"tool"`` or ``"base"``.
    at : (4, 4) array_like, optional
        T_frame_base of the other in that frame; the identity by default.
    prefix : str
        Put before the names of its links and joints.
    use_tool : bool
        Whether the tool is that of the other mechanism; otherwise it stays where it was.

    Raises
    ------
    ArgumentError
        Where names stand in both.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> pair = arm.attach(arm, to="base", at=[[1, 0, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], prefix="right_")
    >>> pair.link_names
    ('link1', 'link2', 'right_link1', 'right_link2')
    >>> pair.forward_kinematics([0, 0, 0, 0], link="right_link2")[:3, 3]
    array([5., 0., 0.])
    """
    require_tree(other, "attach: other")
    if other.floating:
        other = _on_a_floating_joint(other)
    index, frame = (-1, np.eye(4)) if to == BASE else tree.frame(to)
    pose = np.eye(4) if at is None else rigid_poses("attach: at", at)
    places = {name: (prefix + name, np.eye(4)) for name in other.link_names}
    places[BASE] = (BASE if index < 0 else tree.link_names[index], np.asarray(frame @ pose @ other.base))
    names_here = {*tree.link_names, *(link.coordinate_name for link in tree.links), *([BASE] if tree.floating else [])}
    theirs = {prefix + name for link in other.links for name in (str(link.name), link.coordinate_name)}
    if both := names_here & theirs:
        raise ArgumentError(
            f"attach: both mechanisms have {members(sorted(both))}; expected a prefix that makes them differ"
        )
    links = [_attached(link, places, prefix) for link in _links(other)]
    if not other.payload.is_zero:
        k = other.tool_index
        links[k] = links[k].replace(body=_sum(links[k].body, _in_frame(other.tool, other.payload)))
    motors = [_moved(motor, places).replace(joint=prefix + str(motor.joint)) for motor, _ in _motors(other)]
    loops = [_joined(loop, places, prefix) for loop in other.loops]
    tool = {"tool_link": prefix + other.link_names[other.tool_index], "tool": other.tool}
    if use_tool and not tree.payload.is_zero:
        raise ArgumentError(
            f"attach: {tree.name!r} carries a payload in its tool; expected one without, to give it another tool"
        )
    return tree.replace(
        links=[*_links(tree), *links],
        motors=[*(motor for motor, _ in _motors(tree)), *motors],
        loops=[*tree.loops, *loops],
        springs=[*tree.springs, *(element.moved(places, prefix) for element in other.springs)],
        shapes=[*tree.shapes, *(shape.moved(places, prefix) for shape in other.shapes)],
        **(tool if use_tool else {"tool_link": tree.link_names[tree.tool_index]}),
    )


def _on_a_floating_joint(tree: T) -> T:
    """The same mechanism on a fixed base: in the place of its floating base a link on a floating joint of the same name."""
    taken = {*tree.link_names}
    name = next(text for k in range(len(taken) + 1) if (text := f"{BASE}_link{k or ''}") not in taken)
    places = {BASE: (name, np.eye(4))}
    links = [Link(name=name, joint=FREE.kind, joint_name=BASE, parent=BASE)]
    for link in _links(tree):
        parent = name if link.parent == BASE else link.parent
        links.append(link.replace(parent=parent, motor=link.motor and _moved(link.motor, places)))
    return tree.replace(
        links=links,
        motors=[_moved(motor, places) for motor, _ in _motors(tree)],
        loops=[_joined(loop, places) for loop in tree.loops],
        springs=[element.moved(places) for element in tree.springs],
        shapes=[shape.moved(places) for shape in tree.shapes],
        tool_link=tree.link_names[tree.tool_index],
        floating=False,
    )


def separated(tree: T, whole: Collection[str] = (), only: Collection[str] | None = None) -> T:
    """The mechanism with joints of one coordinate each, on links without mass, in the place of joints of several.

    Coordinates, poses of links and dynamics are the same. Ball and floating joints stay, those of the kinds `whole`, and all
    but those of the names `only`, where it is given. A link between is called as its coordinate, or so with ``_``.
    """

    def splits(link: Link) -> bool:
        chosen = link.joint not in whole and (only is None or link.coordinate_name in only)
        return bool(chosen and len(link.coordinate_names) > 1 and link.joint_model.parts)

    if not any(map(splits, tree.links)):
        return tree
    taken = {*tree.link_names}
    links: list[Link] = []
    for link in _links(tree):
        names, parts = link.coordinate_names, link.joint_model.parts or ()
        if not splits(link):
            links.append(link)
            continue
        fields = {"limits": link.coordinate_limits}
        fields |= {field: link.greatest(field) for field in ("qd_max", "qdd_max", "tau_max")}
        parent, before = link.parent, link.before
        for k, (name, part) in enumerate(zip(names, parts, strict=True)):
            joint = {"joint": part.kind, "axis": part.axis, **{field: values[k] for field, values in fields.items()}}
            if k < len(names) - 1:
                between = next(text for i in range(len(taken) + 1) if (text := name + "_" * i) not in taken)
                taken.add(between)
                links.append(Link(name=between, joint_name=name, parent=parent, before=before, **joint))
            else:
                links.append(link.replace(joint_name=name, parent=parent, before=before, **joint))
                between = str(link.name)
            parent, before = between, np.eye(4)
    return tree.replace(
        links=links, motors=[motor for motor, _ in _motors(tree)], tool_link=tree.link_names[tree.tool_index]
    )


def _parent(tree: Tree, k: int) -> str:
    return BASE if tree.parents[k] < 0 else tree.link_names[tree.parents[k]]


def _links(tree: Tree) -> list[Link]:
    """The links, with the names of their parents and of the carriers of their motors."""
    drives = iter(tree.drives)
    motors = [_named(tree, next(drives)) if link.motor else None for link in tree.links]
    return [link.replace(parent=_parent(tree, k), motor=motors[k]) for k, link in enumerate(tree.links)]


def _motors(tree: Tree) -> Iterator[tuple[Motor, Drive]]:
    """The motors beside those of the links, with the names of their carriers."""
    for drive in tree.drives[len(tree.drives) - len(tree.motors) :]:
        yield _named(tree, drive), drive


def _named(tree: Tree, drive: Drive) -> Motor:
    if not isinstance(drive.motor.carrier, int) or drive.carrier is None:
        return drive.motor
    return drive.motor.replace(carrier=tree.link_names[drive.carrier])


def _locked(tree: Tree, k: int, link: Link, values: Mapping[int, float]) -> Link:
    """A link with its joint fixed, where its coordinate has a value."""
    follower = tree.followers[k]
    if follower.coordinate not in values or not link.moves:
        return link
    motion = link.motion(follower.ratio * values[follower.coordinate] + follower.shift)
    return link.replace(before=link.before @ motion, **NO_JOINT)


def _values_by_name(tree: Tree, values: Mapping[int, float]) -> dict[str, float]:
    """The values of locked coordinates by the names of all joints that they hold, those that follow too."""
    return {
        name: follower.ratio * values[at] + follower.shift
        for link, follower in zip(tree.links, tree.followers, strict=True)
        for at, name in enumerate(link.coordinate_names, follower.coordinate)
        if at in values
    }


def _coordinates(joint: Joint, item: str, value: Any) -> Array:
    """The coordinates (nq,) of a joint that has several; a quaternion of length 1."""
    q = vectors(item, value, joint.nq)
    if q.ndim != 1:
        raise ArgumentError(f"{item} has the shape {q.shape}; expected ({joint.nq},)")
    if joint.quaternion is not None:
        length = float(np.linalg.norm(q[joint.quaternion]))
        if not abs(length - 1.0) <= UNIT_LENGTH:
            raise ArgumentError(f"{item} has a quaternion of the length {length:.9g}; expected 1")
    return q


def _add_mass(links: list[Link], k: int, inertia: Inertia) -> None:
    """Add a mass in the frame of link k; on the base, -1, as a separate fixed link."""
    if k >= 0:
        links[k] = links[k].replace(body=_sum(links[k].body, inertia))
    else:
        taken = {link.name for link in links}
        name = next(text for i in range(len(links) + 1) if (text := f"locked_rotor{i or ''}") not in taken)
        links.append(Link(joint=RIGID, name=name, parent=BASE, body=inertia))


def _sum(first: Inertia, second: Inertia) -> Inertia:
    """Sum of two inertias in one frame."""
    if first.is_zero or second.is_zero:
        return second if first.is_zero else first
    mass, moment, tensor = (a + b for a, b in zip(first.moments, second.moments, strict=True))
    return Inertia.from_moments(mass, moment, tensor, physical=first.physical and second.physical)


def _in_frame(pose: Array, inertia: Inertia) -> Inertia:
    """An inertia in the axes in which the pose (4, 4) of its frame is expressed."""
    R = pose[:3, :3]
    return Inertia(inertia.mass, R @ inertia.com + pose[:3, 3], R @ inertia.tensor @ R.T, physical=inertia.physical)


def _moved(motor: Motor, places: Places) -> Motor:
    """Move the carrier of a motor to its new frame."""
    if motor.carrier not in places:
        return motor
    carrier, pose = places[str(motor.carrier)]
    R = pose[:3, :3]
    com, tensor = R @ motor.com + pose[:3, 3], R @ motor.rotor_inertia @ R.T
    body = {} if motor.locked.is_zero else {"com": com, "rotor_inertia": tensor}
    return motor.replace(carrier=carrier, axis=R @ motor.axis, **body)


def _joined(loop: Loop, places: Places, prefix: str = "") -> Loop:
    """Move the ends of a loop to their new frames."""
    (first, T_first), (second, T_second) = (places.get(end, (end, np.eye(4))) for end in (loop.first, loop.second))
    name = loop.name and prefix + loop.name
    return Loop(loop.kind, first, second, T_first @ loop.first_frame, T_second @ loop.second_frame, name)


def _attached(link: Link, places: Places, prefix: str) -> Link:
    """A link of the mechanism that is attached, with its new names."""
    parent, pose = places[str(link.parent)]
    placed = {"before": pose @ link.before} if link.parent == BASE else {}
    motor = link.motor and _moved(link.motor, places)
    if motor and motor.joint:
        motor = motor.replace(joint=prefix + motor.joint)
    mimic = link.mimic and Mimic(prefix + link.mimic.joint, link.mimic.ratio, link.mimic.offset)
    joint_name = link.joint_name and prefix + link.joint_name
    return link.replace(
        name=prefix + str(link.name), joint_name=joint_name, parent=parent, motor=motor, mimic=mimic, **placed
    )
