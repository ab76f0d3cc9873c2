"""Motion of points of links, closure of loops, and lean of ball joints along a straight line in joint space.

Along q(s) = q + w s a point of the mechanism is at p(s). Its first derivative is the velocity at joint speeds w, its second
the acceleration at joint speeds w and no joint acceleration, and its third is bounded: of the products of three joint rates
that it is made of, each has as lever no more than the reach from the outermost of the three axes.

A candidate is corrected by Newton steps of least norm. Where the present output leaves loops open, a candidate at lambda
leaves open 1 - lambda of it, so that loops close on the way to a goal at which they are closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.control.tangent import integrate
from linkwise.kinematics.configuration import difference
from linkwise.kinematics.forward_kinematics import body_poses, frame_of
from linkwise.kinematics.loop_constraints import half_sine, loop_seen
from linkwise.model.body import Body, moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.loop import CLOSURE_ROWS, Loop, LoopKind
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.solve.constraints.loop_closure import loop_equations
from linkwise.solve.lengths import size_of
from linkwise.spatial.linear import factor
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, atan2, blank, greatest, root, select
from linkwise.spatial.transform import inverse
from linkwise.spatial.vector import chosen


@dataclass(frozen=True)
class _Moving:
    """Position of a body's origin, its velocity and acceleration, angular velocity and acceleration, each (3,)."""

    origin: Array
    velocity: Array
    acceleration: Array
    omega: Array
    alpha: Array

    def at(self, point: Array) -> tuple[Array, Array]:
        """Velocity and acceleration (3,) of a point of the body (T. R. Kane, D. A. Levinson, *Dynamics*, 1985, ch. 2)."""
        arm = point - self.origin
        across = cross(self.omega, arm)
        return self.velocity + across, self.acceleration + cross(self.alpha, arm) + cross(self.omega, across)


class Points:
    """The ends of some links as functions of scalars.

    Parameters
    ----------
    tree : Tree
        A mechanism.
    links : sequence of int or str
        Whose ends they are; "tool" is the tool.
    """

    def __init__(self, tree: Tree, links: tuple[int | str, ...]) -> None:
        self.tree = tree
        self._coupling = coupling(tree) if tree.coupled else None
        free = self._coupling.uncoupled if self._coupling else tree
        self.body_tree = moving_bodies(free)
        self.frames: list[tuple[int, FloatArray]] = [frame_of(free, self.body_tree, link) for link in links]

    def __len__(self) -> int:
        return len(self.frames)

    def positions(self, q: Array) -> Array:
        """Positions of the points (k, 3), m, at q (nq,)."""
        return self._places(body_poses(self.body_tree, self._joints(q)))

    def velocities(self, q: Array, w: Array) -> Array:
        """Velocities of the points (k, 3), m/s, at joint velocities w (nv,)."""
        return self.motion(q, w)[0]

    def motion(self, q: Array, w: Array) -> tuple[Array, Array]:
        """First and second derivative (k, 3) of the points along w (nv,) at q (nq,), m/s and m/s2."""
        poses, rates = body_poses(self.body_tree, self._joints(q)), self._rates(w)
        places, zero = self._places(poses), np.zeros(3)
        moving = {-1: _Moving(zero, zero, zero, zero, zero)}
        for k, body in enumerate(self.body_tree.bodies):
            carrier, (first, *others), pose = moving[body.parent], body.freedoms, poses[k]
            turn, slide = ((pose[:3, :3] @ part) * rates[body.speed] for part in (first.angular, first.linear))
            for freedom in others:
                turn = turn + (pose[:3, :3] @ freedom.angular) * rates[freedom.speed]
                slide = slide + (pose[:3, :3] @ freedom.linear) * rates[freedom.speed]
            velocity, acceleration = carrier.at(pose[:3, 3])
            bend = 2.0 * cross(carrier.omega, slide)
            moving[k] = _Moving(
                pose[:3, 3],
                velocity + slide,
                acceleration + (bend + cross(turn, slide) if others else bend),
                carrier.omega + turn,
                carrier.alpha + cross(carrier.omega, turn),
            )
        pairs = [moving[body].at(place) for (body, _), place in zip(self.frames, places, strict=True)]
        return np.array([v for v, _ in pairs]).reshape(-1, 3), np.array([a for _, a in pairs]).reshape(-1, 3)

    def jerk(self, q: Array, w: Array) -> Array:
        """Bounds (k,) of the third derivative, m/s3, on the line q + w s for 0 <= s <= 1/`turning`.

        With Omega_c the sum of the turning rates from the base to joint c, the triples whose outermost axis is that of c
        make up Omega_c^3 - Omega_(c-1)^3, with the reach beyond c as lever; a joint that slides is in three orders with two
        that turn, and may have made the reach longer by its own rate over Omega. A joint with a quaternion turns about one
        axis on the way, any through its centre; what it slides by turns with it: with its turning rate w that makes
        (w^2 + 3 w Omega + 3 Omega^2) |v| with the Omega before it, which 3 (Omega + w)^2 |v| bounds.
        """
        joints, rates = self._joints(q), self._rates(w)
        return np.array([self._jerk(body, frame, joints, rates) for body, frame in self.frames])

    def turning(self, w: Array) -> Any:
        """The sum of all turning rates, rad/s, where joints slide; else zero, for then it bounds nothing."""
        if not any(_slides(body) for body in self.body_tree.bodies):
            return 0.0
        rates = self._rates(w)
        return sum((_turning(body, rates) for body in self.body_tree.bodies if _turns(body)), 0.0)

    def _jerk(self, end: int, frame: FloatArray, joints: Array, rates: Array) -> Any:
        path, reach = self.body_tree.path(end), float(np.linalg.norm(frame[:3, 3]))
        turned: list[Any] = [0.0]
        for k in path:
            body = self.body_tree.bodies[k]
            turned.append(turned[-1] + (_turning(body, rates) if _turns(body) else 0.0))
        total: Any = 0.0
        lever: Any = float(np.hypot(*frame[:2, 3]))  # about the axis of the body itself; `reach` from its origin
        beyond: Any = reach
        for place in reversed(range(len(path))):
            body, before, after = self.body_tree.bodies[path[place]], turned[place], turned[place + 1]
            if _turns(body):
                arm = lever if body.joint is None else beyond
                total = total + arm * (after * after * after - before * before * before)
            slide: Any = 0.0
            if body.advances:
                total = total + 4.0 * (after * after) * abs(body.pitch * rates[body.speed])
                slide = abs(body.pitch * joints[body.position])
            elif _slides(body):
                total = total + 4.0 * (after * after) * root(squared(rates[body.speed : body.speed + 3]))
                slide = root(squared(joints[body.position : body.position + 3]))
            step = body.placement[:3, 3]
            lever = float(np.hypot(*step[:2])) + slide + beyond
            beyond = float(np.linalg.norm(step)) + slide + beyond
        return total

    def _places(self, poses: dict[int, Array]) -> Array:
        return np.array([(poses[body] @ frame)[:3, 3] for body, frame in self.frames]).reshape(-1, 3)

    def _joints(self, q: Array) -> Array:
        return self._coupling.coordinates(q) if self._coupling else q

    def _rates(self, w: Array) -> Array:
        return self._coupling.speeds(w) if self._coupling else w


def _turns(body: Body) -> bool:
    """True if a joint rotates its body."""
    return body.joint is not None or bool(body.turn)


def _slides(body: Body) -> bool:
    """True if a joint translates its body."""
    return body.advances or (body.joint is not None and not body.joint.is_rotation)


def _turning(body: Body, rates: Array) -> Any:
    """Angular velocity of a body by its joint, rad/s."""
    if body.joint is None:
        return abs(rates[body.speed])
    end = body.speed + body.nv
    return root(squared(rates[end - 3 : end]))


#: Loops count as closed up to here: rad, and lengths over the size of the mechanism.
CLOSED = 2e-12

#: Ends of links within this distance, in units of the mechanism's size, count as coincident.
MEETING = 1e-9

#: Damping of a Newton step: enough for a factorisation with redundant loops.
DAMPING = 1e-13

#: The most Newton steps of a candidate.
STEPS = 8.0

#: A candidate that Newton steps leave further apart is none.
APART = 2e-11

#: Closure errors at the present output below this are rounding, and are not kept.
ROUNDING = 1e-10


#: Two links, or a link and ``"base"``, whose ends coincide as a ``"point"``, or in rotation too, ``"full"``.
Pair = tuple[int | str, int | str, LoopKind]


@dataclass(frozen=True)
class ClosedCandidate:
    """Result of closing a candidate.

    Attributes
    ----------
    busy : scalar
        Above zero where a Newton step is to follow.
    onward : ndarray (n,)
        Its outcome.
    tangent : ndarray (n,)
        The direction along the loops.
    open : scalar
        Above zero where the loops are open.
    """

    busy: Any
    onward: Array
    tangent: Array
    open: Any


class LoopProjection:
    """The loops of a mechanism, and those that hold two of its points together.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    pairs : sequence of Pair
        Ends of links that meet, each with a switch of its own.
    """

    def __init__(self, tree: Tree, pairs: Sequence[Pair]) -> None:
        self.tree, self.own_loops = tree, len(tree.loops)
        self.loops = [*tree.loops, *(meeting_loop(tree, *pair) for pair in pairs)]
        self.rows = sum(CLOSURE_ROWS[loop.kind] for loop in self.loops)
        self.size = size_of(tree)

    def __bool__(self) -> bool:
        return bool(self.loops)

    def residual(self, q: Array, switches: Array) -> Array:
        """Closure error (K,): rad, and lengths relative to the size of the mechanism."""
        return self._equations(q, switches)[0] if self.loops else blank(0)

    def active_pairs(self, q: Array, switches: Array) -> Array:
        """Active pairs at q (n,): those that are enabled and coincide; the others close on the way to the goal."""
        switched: list[Any] = []
        for switch, loop in zip(switches, self.loops[self.own_loops :], strict=True):
            gap, rotation, _ = loop_seen(self.tree, loop, q)
            apart = squared(gap / self.size) + (squared(half_sine(rotation)) if loop.kind == "full" else 0.0)
            switched.append(switch * select(apart - MEETING**2, 0.0, 1.0))
        return np.array(switched, dtype=object)

    def along(self, q: Array, switches: Array) -> Callable[[Array], Array]:
        """Return the projection of joint velocities (n,) at q (n,) to the motions of the loops, by least squares."""
        rates = self._equations(q, switches)[1]
        solve = factor(rates @ rates.T + DAMPING * np.eye(self.rows)).solve
        return lambda w: w - rates.T @ solve(rates @ w)

    def close(self, here: Array, before: Array, switches: Array, trial: Any, newton: Any, chord: Array) -> ClosedCandidate:
        """A Newton step of a candidate, or the direction (n,) along the loops there.

        Parameters
        ----------
        here : ndarray (n,)
            The candidate.
        before : ndarray (K,)
            How far the present output leaves the loops open.
        switches : ndarray (c,)
            Which pairs are held.
        trial, newton : scalar
            The candidate's lambda, and how many Newton steps it has had.
        chord : ndarray (n,)
            The chord velocity that leads to it.
        """
        if not self.loops:
            return ClosedCandidate(0.0, here, chord, 0.0)
        residual, rates = self._equations(here, switches)
        solve = factor(rates @ rates.T + DAMPING * np.eye(self.rows)).solve
        kept = select(squared(before) - ROUNDING**2, select(trial, 1.0 - trial, 1.0), 0.0)
        left = residual - before * kept
        off = squared(left)
        free = select(1.0 - trial, select(trial + 1.0, 1.0, 0.0), 0.0)  # neither the goal nor the present
        more = select(STEPS - 0.5 - newton, 1.0, 0.0)
        busy = select(off - CLOSED**2, free * more, 0.0)
        tangent = chord - rates.T @ solve(rates @ chord)
        onward = integrate(self.tree, here, -(rates.T @ solve(left)))
        return ClosedCandidate(busy, onward, tangent, select(off - APART**2, free, 0.0))

    def _equations(self, q: Array, switches: Array) -> tuple[Array, Array]:
        residuals, rates = [], []
        for k, loop in enumerate(self.loops):
            scale: Any = 1.0 if k < self.own_loops else select(switches[k - self.own_loops], 1.0, 0.0)
            part = loop_equations(self.tree, loop, q, sines=True)
            weights = np.array([scale if angle else scale / self.size for angle in part.angles])
            residuals.append(-part.residual * weights)
            rates.append(part.rates * weights[:, None])
        return np.concatenate(residuals), np.concatenate(rates)


def meeting_loop(tree: Tree, first: int | str, second: int | str, kind: LoopKind) -> Loop:
    """Loop between the ends of two links: of their positions, or of their frames."""
    ends = []
    for link in (first, second):
        if link == "base":  # (the start of the chain: the world of the mechanism)
            ends.append(("base", inverse(np.asarray(tree.base))))
            continue
        index, frame = tree.frame(link)
        ends.append((tree.link_names[index], frame))
    (first_name, at_one), (two, at_two) = ends
    return Loop(kind, first_name, two, at_one, at_two)


#: By so much an axis may lean beyond its cone by rounding, rad.
CONE_ROUNDING = 1e-12

#: Added to squares of vectors that are divided by their lengths.
TINY = 1e-60


class Cones:
    """The cones of the ball joints of a mechanism over scalars, in the order of their joints (c,).

    Parameters
    ----------
    tree : Tree
        The mechanism.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.joints = [at for at in tree.manifold_joints if at.joint.cone_axis is not None]

    def __len__(self) -> int:
        return len(self.joints)

    def clipped(self, q: Array, openings: Array) -> Array:
        """The first of the coordinates q (nq,), those of joints with quaternions, brought into their cones (c,)."""
        widths = iter(openings)
        parts = [
            at.joint.clipped(q[at.q], next(widths) + CONE_ROUNDING) if at.joint.cone_axis is not None else q[at.q]
            for at in self.tree.manifold_joints
        ]
        return np.concatenate([np.zeros(0), *parts])

    def widened(self, q: Array, step: Array, openings: Array) -> Array:
        """Cones (c,), widened where axes lean beyond them at q (nq,), or during a step (nv,) that is taken."""
        leans = [self._most(at, q, step) for at in self.joints]
        pairs = zip(leans, openings, strict=True)
        return np.array([select(lean - most - 2.0 * CONE_ROUNDING, lean, most) for lean, most in pairs], dtype=object)

    def detour(self, q: Array, goal: Array, openings: Array) -> tuple[Array, Any]:
        """Goal (nq,) whose straight line stays in the cones (c,), and a flag, positive if it differs from the given one.

        Where the turn from q to the goal leaves a cone, the axis first goes upright: from there every turn of less than half
        a turn leans further and further, so at the latest then the way to the goal is free.
        """
        step, turned, blocked = difference(self.tree, q, goal), goal.copy(), 0.0
        for at, most in zip(self.joints, openings, strict=True):
            beyond = select(self._most(at, q, step) - most - 2.0 * CONE_ROUNDING, 1.0, 0.0)
            turned[at.q] = chosen(beyond, at.joint.clipped(q[at.q], 0.0), goal[at.q])
            blocked = blocked + beyond
        return turned, blocked

    def scale(self, *steps: Array) -> Array:
        """Inverse of the total angles (c,) of some steps (nv,)."""
        return np.array([1.0 / (sum(root(squared(step[at.v])) for step in steps) + 1e-200) for at in self.joints])

    def room(self, q: Array, step: Array, openings: Array, scale: Array) -> list[Any]:
        """Margin of each cone during a step (nv,) from q (nq,), times a scale (c,)."""
        triples = zip(self.joints, openings, scale, strict=True)
        return [(most + CONE_ROUNDING - self._most(at, q, step)) * factor for at, most, factor in triples]

    def _most(self, at: ManifoldJoint, q: Array, step: Array) -> Any:
        """Greatest lean of the axis during a step, rad.

        The axis goes along a circle about that of the turn, with the angles `tilt` and `lean` from it to the axis and to the
        axis of the cone: furthest from the latter on the side away from it, by the sum of both or what is left of a turn.
        """
        axis, turn = at.joint.cone_axis, step[at.v]
        assert axis is not None
        begin, end = (at.joint.excess(here[at.q], 0.0) for here in (q, integrate(self.tree, q, step)))
        upright = quaternion_rotation(q[at.q]).T @ axis
        angle = root(squared(turn) + TINY)
        about = turn / angle
        own_out, upright_out = axis - about * (about @ axis), upright - about * (about @ upright)
        tilt, lean = (_angle(about, vector) for vector in (axis, upright))
        # The angle of the turn from where the axis is to the side away from that of the cone, 0 to 2 pi.
        away = atan2(-(about @ cross(own_out, upright_out)), -(own_out @ upright_out))
        away = select(away, away, away + 2.0 * np.pi)
        widest = tilt + lean
        widest = select(widest - np.pi, 2.0 * np.pi - widest, widest)
        return greatest(greatest(begin, end), select(angle - away, widest, 0.0))


def _angle(first: Array, second: Array) -> Any:
    """The angle of two vectors, rad."""
    return atan2(root(squared(cross(first, second))), first @ second)
