"""`Tree`: the immutable tree of links with base, tool, payload, gravity, coordinates and limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np

from linkwise.errors import ArgumentError, Problem, choices, shown
from linkwise.expr.node import Expr
from linkwise.model.inertia import Inertia
from linkwise.model.joints import FREE, Joint
from linkwise.model.joints.joint import UNITS
from linkwise.model.limits import check_limits, greatest_efforts, greatest_rates, position_limits
from linkwise.model.link import Link
from linkwise.model.link_tree import LinkTree, order_of, parents_of, with_names
from linkwise.model.loop import BASE, Loop, given_loops
from linkwise.model.mimic import Follower, Mimic, followers
from linkwise.model.motor import FRICTION_RULES, Motor
from linkwise.model.shape import Shape, given_shapes
from linkwise.model.spring import EndStop, ForceElement, ForceTerm, cones_of, given_springs
from linkwise.model.symbolic import any_nonzero, parameters_in, substituted
from linkwise.model.transmission import Drive, drives_of
from linkwise.model.validation import Checker, frozen, items
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, generator

#: Acceleration of free fall in the world frame unless stated otherwise, m/s2.
GRAVITY = (0.0, 0.0, -9.81)

#: Name of the tool's frame as a link.
TOOL = "tool"

NO_PAYLOAD = Inertia()

#: Position (m) and unit quaternion of a floating base, in the frame `Tree.base`; linear (m/s) and angular velocity (rad/s),
#: their derivatives, force (N) and moment (N m), in its own axes.
BASE_COORDINATES, BASE_SPEEDS, BASE_ACCELERATIONS, BASE_EFFORTS = (
    tuple(f"{BASE}{ending}" for ending, _ in FREE.columns(quantity)) for quantity in ("q", "qd", "qdd", "tau")
)


@dataclass(frozen=True)
class ManifoldJoint:
    """A joint whose coordinates contain a unit quaternion, so that velocities are not their rates.

    Attributes
    ----------
    name : str
        Name of the joint; ``base`` for a floating base.
    link : int
        The link that it moves, -1 for a floating base.
    joint : Joint
        The joint itself.
    q, v : slice
        Its places in the configuration (nq,), and in the velocities (nv,).
    most : float
        Half the opening of the cone in which its axis stays, rad; infinite without limits.
    """

    name: str
    link: int
    joint: Joint
    q: slice
    v: slice
    most: float

    @property
    def quaternion(self) -> slice:
        """The place of its quaternion in the configuration."""
        within = self.joint.quaternion
        assert within is not None
        return slice(self.q.start + within.start, self.q.start + within.stop)


def manifold_joints(joints: Iterable[tuple[str, int, Joint, float]]) -> tuple[ManifoldJoint, ...]:
    """Joints with quaternions one behind another: of each its name, its link, itself and half the opening of its cone."""
    results, q, v = [], 0, 0
    for name, link, joint, most in joints:
        results.append(ManifoldJoint(name, link, joint, slice(q, q + joint.nq), slice(v, v + joint.nv), most))
        q, v = q + joint.nq, v + joint.nv
    return tuple(results)


def manifold_columns(joints: Iterable[ManifoldJoint], quantity: str) -> tuple[tuple[str, str], ...]:
    """Name and unit of each column of "q", "qd", "qdd" or "tau" of joints with quaternions."""
    return tuple((f"{at.name}{ending}", unit) for at in joints for ending, unit in at.joint.columns(quantity))


def floating_base() -> ManifoldJoint:
    """The joint of a floating base."""
    return manifold_joints([(BASE, -1, FREE, np.inf)])[0]


def _manifold_joints(links: Sequence[Link], floating: Any) -> tuple[ManifoldJoint, ...]:
    """The joints with quaternions of links: a floating base, then the others in the order of their links."""
    joints = [(x.coordinate_name, k, x.joint_model, x.cone) for k, x in enumerate(links) if x.has_quaternion]
    return manifold_joints([*([(BASE, -1, FREE, np.inf)] if floating else []), *joints])


def followers_of(check: Checker, links: Sequence[Link]) -> tuple[Follower, ...]:
    """Map of each link's joint to the joint coordinates; each independent joint has its own coordinate."""
    known = len(check.problems)
    first: dict[str, Link] = {}
    for link in links:
        name = link.coordinate_name
        if link.moves and (link.joint_name or (name in first and first[name].joint_name)) and name in first:
            check.report("links", name, "unique joint names; this one occurs twice")
        if link.moves:
            first.setdefault(name, link)
    joints = [
        (link.coordinate_name, len(link.coordinate_names), link.mimic if isinstance(link.mimic, Mimic) else None)
        for link in links
    ]
    return followers(check if len(check.problems) == known else Checker(check.item), joints)


class Tree(LinkTree):
    """Links joined into a chain or a tree, with base, tool, payload and gravity.

    The base is the ground, or, with ``floating=True``, a rigid body that moves freely: the links whose parent is the base
    hang on it, and a fixed link on the base gives it its mass. The configuration is then q (nq,) = position x, y, z (m) of
    the base body in the frame `base`, its orientation there as a unit quaternion qw, qx, qy, qz (scalar first), the joint
    coordinates; speeds are qd (nv,) = linear (m/s) and angular velocity (rad/s) of the base body at its origin, in its own
    axes, the joint velocities; qdd are their derivatives in time, component by component; efforts are tau (nv,) = force (N)
    and moment (N m) on the base body at its origin, in its own axes, the joint efforts.

    Parameters
    ----------
    links : sequence of Link
        At least one. A link without a parent follows the link before it in the list, the first one the base.
    loops : sequence of Loop
        What closes the tree: frames on two links that must meet.
    motors : sequence of Motor
        Motors beside those of the links: each names the joint that it drives, or one velocity of a joint with a quaternion
        (``"shoulder_wx"``). Several may drive one joint.
    springs : sequence of Spring, LinearSpringDamper, EndStop, ConstantForce and BallSpring
        Springs, dampers and end stops on joint coordinates.
    base : (4, 4) array_like, optional
        T_world_base: where the base stands, or, floating, the frame in which its position is given; identity by default. All
        results are in the world frame, which is the base frame unless a base is given.
    tool : (4, 4) array_like, optional
        T_link_tool: the tool on its link.
    tool_link : str, optional
        Name of the link that the tool is on; the last of the list where it is left out.
    gravity : (3,) array_like
        Acceleration of free fall in the world frame, m/s2.
    payload : Inertia, optional
        What the tool carries, in the tool's frame.
    floating : bool
        Whether the base moves freely.
    shapes : sequence of Shape
        What links, and the base, collide with: see `linkwise.clearance`. Kinematics and dynamics do not depend on them.
    name : str, optional
        How tables and messages call the mechanism.

    Attributes
    ----------
    parents : tuple of int
        Index of each link's parent (L,), -1 for the base.
    order : tuple of int
        The links, each after its parent (L,).
    followers : tuple of Follower
        How each link's joint depends on the joint coordinates (L,); where no joint mimics another, each has its own.
    drives : tuple of Drive
        Every motor with the joint that it drives and the link that carries it: those of the links, then `motors`.

    Raises
    ------
    ModelError
        With every problem found: names that repeat, parents that are not there, cycles, arrays that are not transforms,
        motors of no joint or on no link.
    """

    links: tuple[Link, ...]
    loops: tuple[Loop, ...]
    motors: tuple[Motor, ...]
    springs: tuple[ForceElement, ...]
    base: FloatArray
    tool: FloatArray
    tool_link: str | None
    gravity: FloatArray
    payload: Inertia
    floating: bool
    shapes: tuple[Shape, ...]
    name: str
    parents: tuple[int, ...]
    order: tuple[int, ...]
    followers: tuple[Follower, ...]
    drives: tuple[Drive, ...]

    def __init__(
        self,
        links: Iterable[Link],
        *,
        loops: Iterable[Loop] = (),
        motors: Iterable[Motor] = (),
        springs: Iterable[ForceElement] = (),
        base: Any = None,
        tool: Any = None,
        tool_link: str | None = None,
        gravity: Any = GRAVITY,
        payload: Inertia | None = None,
        floating: bool = False,
        shapes: Iterable[Shape] = (),
        name: str | None = None,
    ) -> None:
        check = Checker(f"mechanism {name!r}" if isinstance(name, str) and name else "mechanism")
        if name is not None and not isinstance(name, str):
            check.report("name", name, "a word, or None")
            name = None
        link_list = items(links)
        if not link_list or not all(isinstance(link, Link) for link in link_list):
            check.report("links", links, "one Link or more")
            check.finish()
        if payload is not None and not isinstance(payload, Inertia):
            check.report("payload", payload, "an Inertia or None; with_payload(mass, com, inertia) makes one")
        named, others = with_names(link_list), check.several("motors", motors, Motor, "Motor")
        parents, joints = parents_of(check, named), followers_of(check, named)
        values: dict[str, object] = {
            "links": named,
            "loops": given_loops(check, loops, [link.name for link in named]),
            "motors": others,
            "springs": given_springs(check, springs, named, *_coordinate_limits(named)),
            "base": check.rigid("base", base),
            "tool": check.rigid("tool", tool),
            "tool_link": _tool_link(check, tool_link, [str(link.name) for link in named]),
            "gravity": check.vector("gravity", gravity),
            "payload": NO_PAYLOAD if payload is None else payload,
            "floating": _floating(check, floating, named),
            "shapes": given_shapes(check, shapes, [BASE, *(str(link.name) for link in named)]),
            "name": name or "mechanism",
            "parents": parents,
            "order": order_of(check, named, parents),
            "followers": joints,
            "drives": (),
        }
        turning = [name for name, _ in manifold_columns(_manifold_joints(named, values["floating"]), "qd")]
        values["drives"] = drives_of(check, named, [joint.coordinate for joint in joints], others, turning)
        check_limits(check, named, joints)
        check.finish()
        self._hold(values)
        replacements = check.one_of_each_name(self.parameters_used)
        check.finish()
        if replacements:
            Tree.__init__(self, **{**self._values(), **self._substituted(replacements)})

    # ── what it is made of ────────────────────────────────────────────────────────────────────────

    @property
    def force_terms(self) -> tuple[ForceTerm, ...]:
        """The springs on joints, each with the coordinates (n,) that make its length."""
        return self.memo("model", "force_terms", self._find_force_terms)

    def _find_force_terms(self) -> tuple[ForceTerm, ...]:
        places = {
            name: (at, joint.ratio, joint.shift)
            for link, joint in zip(self.links, self.followers, strict=True)
            for at, name in enumerate(link.coordinate_names, joint.coordinate)
        }
        results, limits = [], _coordinate_limits(self.links)[1]
        for spring in (element for element in self.springs if element.terms and element.terms[0][0] in places):
            element = spring.beginning_at(limits) if isinstance(spring, EndStop) else spring
            ratios = tuple((places[name][0], factor * places[name][1]) for name, factor in element.terms)
            shift = sum(factor * places[name][2] for name, factor in element.terms)
            results.append(ForceTerm(element, ratios, shift))
        return tuple(results)

    @property
    def ball_stops(self) -> tuple[tuple[EndStop, ManifoldJoint], ...]:
        """The end stops of ball joints, each with its joint."""
        return self.memo("model", "ball_stops", self._find_ball_stops)

    def _find_ball_stops(self) -> tuple[tuple[EndStop, ManifoldJoint], ...]:
        balls, cones = {at.name: at for at in self.manifold_joints if at.joint.is_rotation}, cones_of(self.links)
        stops = [element for element in self.springs if isinstance(element, EndStop) and element.joint in balls]
        return tuple((stop.beginning_at(cones), balls[stop.joint]) for stop in stops)

    @property
    def has_length_inertias(self) -> bool:
        """True if a spring has an inertia along its length."""
        return any(any_nonzero(element.length_inertia) for element in self.springs)

    @property
    def n(self) -> int:
        """Number of joint coordinates: those of joints that do not follow another, and have no quaternion."""
        return self.memo("model", "n", lambda: sum(len(link.coordinate_names) for link in self.links if not link.mimic))

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Index of each link's (first) joint coordinate (L,), from 0 to n - 1; -1 for a link that has none among the n."""
        return self.memo("model", "coordinates", lambda: tuple(joint.coordinate for joint in self.followers))

    @property
    def drive_ratios(self) -> tuple[float, ...]:
        """For each of the `drives`, velocity of its joint per velocity of the coordinate that it follows."""
        ratios = {link.coordinate_name: joint.ratio for link, joint in zip(self.links, self.followers, strict=True)}
        return tuple(ratios.get(drive.joint, 1.0) for drive in self.drives)

    @property
    def coupled(self) -> bool:
        """True if there is a mimic joint."""
        return self.memo("model", "coupled", lambda: any(link.mimic for link in self.links))

    @property
    def manifold_joints(self) -> tuple[ManifoldJoint, ...]:
        """The joints with quaternions: a floating base, then the others in the order of their links."""
        return self.memo("model", "manifold_joints", lambda: _manifold_joints(self.links, self.floating))

    def manifold_joint_of(self, link: int) -> ManifoldJoint | None:
        """The joint of one link, by its index, where it has a quaternion."""
        return self.memo("model", "manifold_places", lambda: {at.link: at for at in self.manifold_joints}).get(link)

    @property
    def nq(self) -> int:
        """Number of coordinates of the configuration: n, and before them those of joints with quaternions."""
        return self.memo("model", "nq", lambda: self.n + sum(at.joint.nq for at in self.manifold_joints))

    @property
    def nv(self) -> int:
        """Number of velocities, accelerations and efforts: n, and before them those of joints with quaternions."""
        return self.memo("model", "nv", lambda: self.n + sum(at.joint.nv for at in self.manifold_joints))

    def columns(self, quantity: str) -> tuple[tuple[str, str], ...]:
        """Name and unit of each column of "q", "qd", "qdd" or "tau": those of joints with quaternions first."""
        choice("quantity", quantity, UNITS)
        return self.memo("model", ("columns", quantity), lambda: self._find_columns(quantity))

    def _find_columns(self, quantity: str) -> tuple[tuple[str, str], ...]:
        joints = [(x.coordinate_name, x.joint_model) for x in self.links if x.coordinate_names and not x.mimic]
        others = ((f"{name}{ending}", unit) for name, joint in joints for ending, unit in joint.columns(quantity))
        return (*manifold_columns(self.manifold_joints, quantity), *others)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates, (nq,): those of joints with quaternions, a floating base first, then the others."""
        return self.memo("model", "coordinate_names", lambda: tuple(name for name, _ in self.columns("q")))

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the velocities, (nv,): those of joints with quaternions, of a floating base first, then of the others."""
        return tuple(name for name, _ in self.columns("qd"))

    @property
    def neutral(self) -> FloatArray:
        """Configuration (nq,) with all joints at zero and identity quaternions."""
        return frozen(np.concatenate([*(at.joint.neutral for at in self.manifold_joints), np.zeros(self.n)]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joint coordinates, (n,): those of the joints, or of their links where a joint has none."""
        names = (name for link in self.links if not link.mimic for name in link.coordinate_names)
        return self.memo("model", "names", lambda: tuple(names))

    @property
    def is_length(self) -> tuple[bool, ...]:
        """Mask of joint coordinates (n,) that are lengths (m, and efforts in N), as their joints slide."""
        return tuple(part.is_length for part in self.turns_and_slides)

    @property
    def is_linear_velocity(self) -> tuple[bool, ...]:
        """Mask of velocities (nv,) that are linear (m/s, and efforts in N)."""
        return tuple(unit == UNITS["qd"][True] for _, unit in self.columns("qd"))

    def for_velocities(self, values: FloatArray, others: float) -> FloatArray:
        """Expand values (n,) of joint coordinates to velocities (nv,); joints with quaternions get a common value."""
        return np.concatenate([np.full(self.nv - self.n, others), values])

    @property
    def turns_and_slides(self) -> tuple[Joint, ...]:
        """Single-coordinate joint of each joint coordinate (n,): a revolute or prismatic joint, or a part of another."""
        return tuple(part for x in self.links if not x.mimic for part in x.joint_model.turns_and_slides)

    @property
    def _position_limits(self) -> tuple[FloatArray, ...]:
        return self.memo(
            "limits", "position", lambda: tuple(map(frozen, position_limits(self.links, self.followers, self.n)))
        )

    @property
    def q_min(self) -> FloatArray:
        """Least joint coordinates (n,), rad or m; minus infinity where there are none."""
        return self._position_limits[0]

    @property
    def q_max(self) -> FloatArray:
        """Greatest joint coordinates (n,), rad or m; infinite where there are none."""
        return self._position_limits[1]

    @property
    def qd_max(self) -> FloatArray:
        """Joint velocity limits (n,), rad/s or m/s, symmetric; infinite without a limit."""
        return frozen(greatest_rates(self.links, self.followers, self.n, "qd_max"))

    @property
    def qdd_max(self) -> FloatArray:
        """Joint acceleration limits (n,), rad/s2 or m/s2, symmetric; infinite without a limit."""
        return frozen(greatest_rates(self.links, self.followers, self.n, "qdd_max"))

    @property
    def tau_max(self) -> FloatArray:
        """Joint effort limits (n,), N m or N, symmetric; infinite without a limit."""
        return frozen(greatest_efforts(self.links, self.n))

    @property
    def tool_index(self) -> int:
        """Place of the link that the tool is on."""
        return len(self.links) - 1 if self.tool_link is None else self._link_places[self.tool_link]

    def joint_coordinates(self, link: int, q: Any) -> Any:
        """The coordinates of one link's joint at the configuration q (..., nq): one, (..., several), or None without any."""
        at = self.manifold_joint_of(link)
        if at is not None:
            return q[..., at.q]
        joint, count = self.followers[link], len(self.links[link].coordinate_names)
        if not count:
            return None
        first = self.nq - self.n + joint.coordinate
        if count > 1:
            return q[..., first : first + count]
        return joint.ratio * q[..., first] + joint.shift

    def frame(self, link: int | str) -> tuple[int, FloatArray]:
        """The index of the link that carries a frame, and T_link_frame (4, 4), the identity for a link's own frame.

        ``"tool"`` is the frame of the tool; a link of that name is asked for by its index.
        """
        index = self.frame_index(link)
        return (self.tool_index, self.tool) if index == TOOL else (int(index), np.eye(4))

    def frame_index(self, link: int | str) -> int | str:
        """``"tool"``, or the place of a link in the list."""
        return TOOL if isinstance(link, str) and link == TOOL else self.link_index(link)

    def frame_name(self, link: int | str) -> str:
        """Name of a frame in a sentence: ``the tool``, or ``link 'elbow'``."""
        index = self.frame_index(link)
        return "the tool" if index == TOOL else f"link {self.link_names[int(index)]!r}"

    def path(self, link: int | str) -> tuple[int, ...]:
        """The links from the base to the one that carries a frame, itself included, by index."""
        return super().path(self.frame(link)[0])

    # ── other mechanisms made from it ─────────────────────────────────────────────────────────────

    def replace_link(self, link: int | str, **changes: Any) -> Self:
        """The same mechanism with other values for some fields of one link (any argument of `Link`).

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.planar_2r()
        >>> heavier = arm.replace_link("link2", mass=2.0)
        >>> [link.body.mass for link in heavier.links]
        [1.0, 2.0]
        """
        k = self.link_index(link)
        return self.replace(links=[*self.links[:k], self.links[k].replace(**changes), *self.links[k + 1 :]])

    def with_tool(self, tool: Any, link: str | None = None) -> Self:
        """The same mechanism with another tool, T_link_tool (4, 4), on the link of that name, or on that which had one.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.planar_2r()
        >>> longer = arm.with_tool([[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        >>> longer.forward_kinematics([0.0, 0.0])[:3, 3]
        array([2.5, 0. , 0. ])
        """
        return self.replace(tool=tool, **({} if link is None else {"tool_link": link}))

    def with_payload(self, mass: Any = 0.0, com: Any = (0.0, 0.0, 0.0), inertia: Any = 0.0) -> Self:
        """The same mechanism carrying something else (or, with mass 0, nothing) in its tool.

        The payload is kept apart from the tool's link, so taking it off restores the mechanism exactly.

        Parameters
        ----------
        mass : float
            kg.
        com : (3,) array_like
            Centre of mass in the tool's frame, m.
        inertia : float, (3,), (6,) or (3, 3) array_like
            About the centre of mass, tool axes, kg m2.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.planar_2r()
        >>> arm.with_payload(3.0).gravity_torque([0.0, 0.0]).round(2)
        array([78.48, 34.34])
        """
        return self.replace(payload=Inertia(mass, com, inertia, item="payload"))

    def require_no_length_inertias(self, subject: str) -> None:
        """Raise `ArgumentError` where springs have inertias, which `subject` would leave out."""
        if self.has_length_inertias:
            raise ArgumentError(f"{self.name!r} has springs with inertias, which {subject} would leave out")

    def require_no_springs(self, subject: str) -> None:
        """Raise `ArgumentError` where the mechanism has springs: `subject` would leave them out."""
        if self.springs:
            raise ArgumentError(f"{self.name!r} has springs, which {subject} would leave out; replace(springs=()) has none")

    def without_friction(self, *, coulomb: bool = True, viscous: bool = True) -> Self:
        """The same mechanism without Coulomb friction, viscous friction, or both.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.puma560()
        >>> arm.without_friction().friction_torque([1.0] * 6)
        array([0., 0., 0., 0., 0., 0.])
        """
        return self._with_motors(lambda motor: motor.without_friction(coulomb=coulomb, viscous=viscous))

    def with_friction_rule(self, rule: str) -> Self:
        """The same mechanism with another rule for the friction of all its motors: ``"reflected"`` or ``"toolbox7"``.

        Raises
        ------
        ModelError
            Naming the rules there are; see `Motor`.
        """
        check = Checker(f"mechanism {self.name!r}")
        check.choice("friction_rule", rule, FRICTION_RULES)
        check.finish()
        return self._with_motors(lambda motor: motor.replace(friction_rule=rule))

    def perturb(self, fraction: float, seed: int = 0) -> Self:
        """The same mechanism with each mass and each tensor multiplied by a factor from [1 - fraction, 1 + fraction].

        The rotors that have a body of their own are multiplied too, Jm with the tensor; the payload is not.

        Raises
        ------
        ArgumentError
            Unless 0 <= fraction < 1; for what is no seed.
        """
        if not isinstance(fraction, (int, float)) or not 0 <= fraction < 1:
            raise ArgumentError(f"fraction is {fraction!r}; expected a number from 0 to less than 1")
        rng = generator("perturb: seed", seed)

        def factors(count: int) -> list[list[float]]:
            result: list[list[float]] = rng.uniform(1 - fraction, 1 + fraction, (count, 2)).tolist()
            return result

        pairs = zip(self.links, factors(len(self.links)), strict=True)
        perturbed = self.replace(links=[link.replace(body=link.body.scaled(*both)) for link, both in pairs])
        return perturbed._with_motors(lambda motor: motor if motor.locked.is_zero else motor.scaled(*factors(1)[0]))

    def with_shapes(self, shapes: Iterable[Shape]) -> Self:
        """The same mechanism with other shapes, the rest not checked again.

        Examples
        --------
        >>> from linkwise import Shape, robots
        >>> robots.planar_2r().with_shapes([Shape.rod("link2", (-1, 0, 0), (0, 0, 0), 0.05)]).shapes[0].link
        'link2'
        """
        check = Checker(f"mechanism {self.name!r}")
        result = unshared(self)
        result.__dict__["shapes"] = given_shapes(check, shapes, [BASE, *self.link_names])
        check.finish()
        return result

    def _with_motors(self, change: Callable[[Motor], Motor]) -> Self:
        """The same mechanism with every motor changed."""
        links = [link.replace(motor=change(link.motor)) if link.motor else link for link in self.links]
        return self.replace(links=links, motors=[change(motor) for motor in self.motors])

    # ── symbols in it ─────────────────────────────────────────────────────────────────────────────

    def _find_parameters(self) -> tuple[Expr, ...]:
        links = (node for link in self.links for node in link.parameters)
        motors = (value for motor in self.motors for value in motor.numbers)
        frames = [value for loop in self.loops for value in (loop.first_frame, loop.second_frame)]
        springs = (value for element in self.springs for value in element.numbers)
        known = [*links, self.base, self.tool, self.gravity, *self.payload.numbers, *motors, *frames, *springs]
        return parameters_in(known)

    def _substituted(self, numbers: Mapping[Expr, Any]) -> dict[str, Any]:
        """The fields that may hold symbols, with numbers or other expressions for these."""
        frames = {name: substituted(getattr(self, name), numbers) for name in ("base", "tool", "gravity")}
        return {
            "links": [link.substituted(numbers) for link in self.links],
            "motors": [motor.substituted(numbers) for motor in self.motors],
            "loops": [loop.substituted(numbers) for loop in self.loops],
            "springs": [element.substituted(numbers) for element in self.springs],
            "payload": self.payload.substituted(numbers, "payload"),
            **frames,
        }

    # ── identity ──────────────────────────────────────────────────────────────────────────────────

    def _values(self) -> dict[str, Any]:
        names = (name for name in Tree.__annotations__ if name not in _DERIVED)
        return {name: getattr(self, name) for name in names}


#: The attributes that follow from the others.
_DERIVED = {"parents", "order", "followers", "drives"}

AnyTree = TypeVar("AnyTree", bound=Tree)


def unshared(tree: AnyTree) -> AnyTree:
    """Copy the mechanism without the cache of `memo`, for a thread that must not wait for others."""
    result = object.__new__(type(tree))
    result._hold({name: getattr(tree, name) for name in Tree.__annotations__})
    return result


def require_tree(value: object, name: str) -> None:
    """Raise `ArgumentError`, naming the argument, where a value is not a mechanism."""
    if not isinstance(value, Tree):
        raise ArgumentError(f"{name} is {shown(value)}; expected a Mechanism")


def require_numeric_tree(value: Any, subject: str) -> None:
    """Raise `ArgumentError` where the first argument of a function, the subject, is not a mechanism without symbols."""
    require_tree(value, f"{subject}: mechanism")
    value.require_numbers(subject)


def _coordinate_limits(links: Sequence[Link]) -> tuple[list[str], dict[str, tuple[float, float]]]:
    """Names of all coordinates of joints, of those that follow others too, and the limits of those that have some."""
    pairs = [pair for link in links for pair in zip(link.coordinate_names, link.coordinate_limits, strict=True)]
    return [name for name, _ in pairs], {name: limits for name, limits in pairs if limits is not None}


def _tool_link(check: Checker, tool_link: Any, names: Sequence[str]) -> str | None:
    """The name of the tool's link, or None for the last of the list."""
    if tool_link is not None and (not isinstance(tool_link, str) or tool_link not in names):
        check.report("tool_link", tool_link, choices(names))
        return None
    return None if tool_link is None or not names or tool_link == names[-1] else tool_link


def _names_of_columns(link: Link) -> set[str]:
    """Names of the coordinates and velocities of a link's joint."""
    if not link.has_quaternion:
        return {*link.coordinate_names}
    return {f"{link.coordinate_name}{ending}" for kind in ("q", "qd") for ending, _ in link.joint_model.columns(kind)}


def _floating(check: Checker, floating: Any, links: Sequence[Link]) -> bool:
    """True if the base floats; report names reserved by its coordinates, and repeated ones."""
    result = check.flag("floating", floating)
    taken = dict.fromkeys((*BASE_COORDINATES, *BASE_SPEEDS), "a coordinate of the floating base") if result else {}
    columns = [(link, _names_of_columns(link)) for link in links]
    for several in (True, False):
        for link, names in columns:
            if (len(names) > 1) is not several:
                continue
            for name in sorted(names & taken.keys()):
                field = "joint_name" if link.joint_name else "name"
                problem = Problem(f"link {link.name!r}", field, name, f"another name (this one is {taken[name]})")
                check.problems.append(problem)
            if several:
                taken |= dict.fromkeys(names, f"a coordinate of the joint {link.coordinate_name!r}")
    return result
