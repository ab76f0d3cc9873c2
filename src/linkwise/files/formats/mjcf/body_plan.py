"""What becomes a body of an MJCF file, with which joints: `BodyPlan`, and what writer and losses share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from linkwise.files.report import check_shape_links, unused_name
from linkwise.mechanism import Mechanism
from linkwise.model.assembly import separated
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.potential import UNTURNED, BallSpring, ConstantForce
from linkwise.model.shape import Shape
from linkwise.model.spring import LinearSpringDamper, Spring
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import translation

#: What the kinds of joints of a mechanism are called in MJCF, those of several freedoms taken apart.
TYPES = {"revolute": "hinge", "prismatic": "slide", "ball": "ball", "floating": "free"}

#: The kinds of closures that an equality constraint is.
EQUALITIES = {"point": "connect", "full": "weld"}

#: MuJoCo moves no body whose mass (kg) or moments of inertia (kg m2) are less; of its bound 1e-15 they must be more.
LEAST = 1e-14

#: A rotation that differs by more than this from one is written with rounding.
ROUNDING = 1e-12

#: As many freedoms may the joints of one body have.
MOST_FREEDOMS = 6


class BodyPlan:
    """Which links become bodies, and what else stands in each.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism, its joints of several freedoms taken apart where MJCF has no such kind.
    root : int
        The link that is the floating base itself, or -1.
    children : dict of int to list of int
        The links on each link, on the base at -1.
    stacks : dict of int to list of int
        Of each link that is a body, the massless links before it whose joints the body has too, and itself.
    sites : dict of int to list
        Names and frames of the sites on each link.
    """

    def __init__(self, mechanism: Mechanism, shapes: Sequence[Shape]) -> None:
        self.mechanism = mechanism = separated(mechanism)
        self.shapes: dict[int, list[Shape]] = {}
        check_shape_links(mechanism, shapes)
        for shape in shapes:
            self.shapes.setdefault(self.place(shape.link), []).append(shape)
        self.children: dict[int, list[int]] = {k: [] for k in range(-1, len(mechanism.links))}
        for k, parent in enumerate(mechanism.parents):
            self.children[parent].append(k)
        self.names = {"base", "world", *mechanism.link_names}
        self.sites: dict[int, list[tuple[str, Array]]] = {}
        taken: set[str] = set()
        self.ends: list[list[str]] = []
        for k, loop in enumerate(mechanism.loops):
            ends = (loop.first, loop.first_frame), (loop.second, loop.second_frame)
            self.ends.append(self._add_sites(loop.name or f"loop{k + 1}", ends, taken))
        self.paths: dict[int, list[str]] = {}
        for k, spring in enumerate(mechanism.springs):
            if isinstance(spring, LinearSpringDamper):
                points = [(link, translation(*point)) for link, point in spring.points]
                self.paths[k] = self._add_sites(spring.name or f"spring{k + 1}", points, taken)
        self.root = self._root()
        self.stacks: dict[int, list[int]] = {}
        for k in mechanism.order:
            if k != self.root and not self._is_stacked(k):
                stack = [k]
                while (parent := mechanism.parents[stack[0]]) >= 0 and parent != self.root and self._is_stacked(parent):
                    stack.insert(0, parent)
                self.stacks[k] = stack
        on_joints = [element for element in mechanism.springs if isinstance(element, Spring) and _is_of_joint(element)]
        self.springs = {spring.joints[0][0]: spring for spring in on_joints}

    def turned_back(self, joint: str) -> float:
        """The stiffness of the springs on a ball joint that rest where it does not turn."""
        springs = (element for element in self.mechanism.springs if isinstance(element, BallSpring))
        return float(sum(spring.stiffness for spring in springs if spring.joint == joint and spring.rest == UNTURNED))

    def borne(self, k: int) -> float:
        """What part of the weight of a link forces bear."""
        loads = (element for element in self.mechanism.springs if isinstance(element, ConstantForce))
        shares = (borne_share(self.mechanism, load) for load in loads if load.link == self.mechanism.link_names[k])
        return float(sum(share or 0.0 for share in shares))

    def place(self, link: str) -> int:
        """The index of a link, -1 for the base."""
        return -1 if link == "base" else self.mechanism.link_index(link)

    def _add_sites(self, name: str, ends: Iterable[tuple[str, Array]], taken: set[str]) -> list[str]:
        """Put sites where a loop is closed, or between which a spring pulls; the names of them."""
        names = []
        for side, (link, frame) in enumerate(ends, 1):
            names.append(unused_name(f"{name}_{side}", taken))
            self.sites.setdefault(self.place(link), []).append((names[-1], frame))
        return names

    def _root(self) -> int:
        """The link that a floating base itself is: the one that is fixed in its frame, if there is one alone."""
        links = self.mechanism.links
        fixed = [k for k in self.children[-1] if not links[k].moves and not links[k].joint_name]
        if not self.mechanism.floating or len(fixed) != 1 or not np.array_equal(links[fixed[0]].placement(), np.eye(4)):
            return -1
        return fixed[0]

    def _is_stacked(self, k: int) -> bool:
        """Whether a link is nothing but the place between its joint and the next one."""
        link, below = self.mechanism.links[k], self.children[k]
        bare = link.body.is_zero and k not in self.shapes and k not in self.sites and k != self.mechanism.tool_index
        if not bare or not link.moves or link.has_quaternion or len(below) != 1:
            return False
        following = self.mechanism.links[below[0]]
        if not following.moves or following.joint == "floating" or self._freedoms(k) > MOST_FREEDOMS:
            return False
        return not following.has_quaternion or np.array_equal(following.after[:3, :3], np.eye(3))

    def _freedoms(self, k: int) -> int:
        """How many freedoms the joints of the body have that a massless link would belong to."""
        links, parents = self.mechanism.links, self.mechanism.parents
        total = links[self.children[k][0]].joint_model.nv
        while k >= 0 and links[k].moves and links[k].body.is_zero:
            total, k = total + links[k].joint_model.nv, parents[k]
        return total

    def moved_with(self, k: int) -> list[Inertia]:
        """The inertias of a body and of all that is fixed to it."""
        links = self.mechanism.links
        bodies, left = [], [k]
        while left:
            k = left.pop()
            bodies += [] if k < 0 else [links[k].body]
            bodies += [self.mechanism.payload] if k == self.mechanism.tool_index else []
            left += [j for j in self.children[k] if not links[j].moves][::-1]
        return bodies

    def is_bare(self, k: int) -> bool:
        """Whether a body that moves has no inertia at all, nor what is fixed to it."""
        return self._carries(k) and all(body.is_zero for body in self.moved_with(k))

    def is_lifted(self, k: int) -> bool:
        """Whether MuJoCo would not move a body as it is: neither it nor what is fixed to it has a mass and moments."""
        bodies = self.moved_with(-1 if k == self.root else k)
        whole = any(body.mass >= LEAST and np.linalg.eigvalsh(body.tensor)[0] >= LEAST for body in bodies)
        return self._carries(k) and not whole and not all(body.is_zero for body in bodies)

    def _carries(self, k: int) -> bool:
        """Whether a body has a joint of its own."""
        if k in (-1, self.root):
            return self.mechanism.floating
        return k in self.stacks and self.mechanism.links[k].moves

    @property
    def is_reordered(self) -> bool:
        """Whether bodies are written in another order than that of the links: each with all that it carries."""
        written: list[int] = []
        left = [-1]
        while left:
            written.append(left.pop())
            left += sorted(self.children[written[-1]], key=lambda j: j == self.root)[::-1]
        order = [k for k in written[1:] if k != self.root]
        return order != sorted(order)

    @property
    def has_order(self) -> bool:
        """Whether a list of the bodies says the order of the links."""
        together = all(stack == [*range(stack[0], stack[0] + len(stack))] for stack in self.stacks.values())
        return together and all(name.split() == [name] for name in self.mechanism.link_names)


def _is_of_joint(spring: Spring) -> bool:
    """Whether a spring is what MJCF says in the joint itself: one without damper on one coordinate."""
    other = spring.name or spring.damping or spring.force or spring.inertia or spring.slack or not spring.stiffness
    return not other and [ratio for _, ratio in spring.joints] == [1.0]


def borne_share(mechanism: Mechanism, load: ConstantForce) -> float | None:
    """What part of the weight of its link a force bears, at the centre of mass; None of another force."""
    body = mechanism.links[mechanism.link_index(load.link)].body
    weight, force = body.mass * mechanism.gravity, np.array(load.force)
    share = -float(force @ weight) / (float(weight @ weight) or 1.0)
    is_borne = np.abs(force + share * weight).max() <= ROUNDING * np.abs(force).max()
    return share if is_borne and np.array_equal(load.point, body.com) else None


def joint_values(mechanism: Mechanism) -> dict[str, dict[str, float]]:
    """Motor parameters reflected to each joint, by the attributes of MJCF."""
    values: dict[str, dict[str, float]] = {}
    for drive in mechanism.drives:
        motor = drive.motor
        up, down = motor.reflected_coulomb
        reflected = {
            "armature": motor.reflected_inertia,
            "damping": max(0.0, motor.reflected_viscous),
            "frictionloss": max(0.0, 0.5 * (up - down)),
        }
        joint = values.setdefault(drive.joint, dict.fromkeys(reflected, 0.0))
        for key, value in reflected.items():
            joint[key] += value
    return values


def has_range(link: Link) -> bool:
    """Whether the limits of a joint are a range, as MJCF has it."""
    return link.limits is not None and math.isfinite(link.limits[1] - link.limits[0]) and link.limits[0] < link.limits[1]
