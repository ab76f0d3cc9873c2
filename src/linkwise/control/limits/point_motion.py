"""How the ends of links move while the joints move along a straight line, with the derivatives that braking asks for.

Along q(s) = q + w s a point of the mechanism is at p(s). Its first derivative is the velocity at joint speeds w, its second
the acceleration at joint speeds w and no joint acceleration, and its third is bounded: of the products of three joint rates
that it is made of, each has as lever no more than the reach from the outermost of the three axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.kinematics.forward_kinematics import body_poses, frame_of
from linkwise.model.body_tree import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray


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
        A mechanism whose base does not float.
    links : sequence of int or str
        Whose ends they are; "tool" is the tool.
    """

    def __init__(self, tree: Tree, links: tuple[int | str, ...]) -> None:
        self.tree = tree
        self._how = coupling(tree) if tree.coupled else None
        free = self._how.uncoupled if self._how else tree
        self.made = moving_bodies(free)
        self.frames: list[tuple[int, FloatArray]] = [frame_of(free, self.made, link) for link in links]

    def __len__(self) -> int:
        return len(self.frames)

    def positions(self, q: Array) -> Array:
        """Where the points are (k, 3), m, at q (n,)."""
        return self._places(body_poses(self.made, self._joints(q)))

    def velocities(self, q: Array, w: Array) -> Array:
        """How fast they are (k, 3), m/s, at joint speeds w (n,)."""
        return self.motion(q, w)[0]

    def motion(self, q: Array, w: Array) -> tuple[Array, Array]:
        """First and second derivative (k, 3) of the points along w (n,) at q (n,), m/s and m/s2."""
        poses, rates = body_poses(self.made, self._joints(q)), self._rates(w)
        places, zero = self._places(poses), np.zeros(3)
        moving = {-1: _Moving(zero, zero, zero, zero, zero)}
        for k, body in enumerate(self.made.bodies):
            carrier, freedom, pose = moving[body.parent], body.freedoms[0], poses[k]
            turn, slide = ((pose[:3, :3] @ part) * rates[body.speed] for part in (freedom.angular, freedom.linear))
            velocity, acceleration = carrier.at(pose[:3, 3])
            moving[k] = _Moving(
                pose[:3, 3],
                velocity + slide,
                acceleration + 2.0 * cross(carrier.omega, slide),
                carrier.omega + turn,
                carrier.alpha + cross(carrier.omega, turn),
            )
        pairs = [moving[body].at(place) for (body, _), place in zip(self.frames, places, strict=True)]
        return np.array([v for v, _ in pairs]).reshape(-1, 3), np.array([a for _, a in pairs]).reshape(-1, 3)

    def jerk(self, q: Array, w: Array) -> Array:
        """Bounds (k,) of the third derivative, m/s3, on the way q + w s for 0 <= s <= 1/`turning`.

        With Omega_c the sum of the turning rates from the base to joint c, the triples whose outermost axis is that of c
        make up Omega_c^3 - Omega_(c-1)^3, with the reach beyond c as lever; a joint that slides is in three orders with two
        that turn, and may have made the reach longer by its own rate over Omega.
        """
        joints, rates = self._joints(q), self._rates(w)
        return np.array([self._jerk(body, frame, joints, rates) for body, frame in self.frames])

    def turning(self, w: Array) -> Any:
        """The sum of all turning rates, rad/s, where joints slide; else zero, for then it bounds nothing."""
        if not any(body.slides for body in self.made.bodies):
            return 0.0
        rates = self._rates(w)
        return sum((abs(rates[body.speed]) for body in self.made.bodies if body.turns), 0.0)

    def _jerk(self, end: int, frame: FloatArray, joints: Array, rates: Array) -> Any:
        path, reach = self.made.path(end), float(np.linalg.norm(frame[:3, 3]))
        turned: list[Any] = [0.0]
        for k in path:
            body = self.made.bodies[k]
            turned.append(turned[-1] + (abs(rates[body.speed]) if body.turns else 0.0))
        total: Any = 0.0
        lever: Any = float(np.hypot(*frame[:2, 3]))  # about the axis of the body itself; `reach` from its origin
        beyond: Any = reach
        for place in reversed(range(len(path))):
            body, before, after = self.made.bodies[path[place]], turned[place], turned[place + 1]
            if body.turns:
                total = total + lever * (after * after * after - before * before * before)
            slide: Any = 0.0
            if body.slides:
                total = total + 4.0 * (after * after) * abs(body.pitch * rates[body.speed])
                slide = abs(body.pitch * joints[body.position])
            step = body.placement[:3, 3]
            lever = float(np.hypot(*step[:2])) + slide + beyond
            beyond = float(np.linalg.norm(step)) + slide + beyond
        return total

    def _places(self, poses: dict[int, Array]) -> Array:
        return np.array([(poses[body] @ frame)[:3, 3] for body, frame in self.frames]).reshape(-1, 3)

    def _joints(self, q: Array) -> Array:
        return self._how.coordinates(q) if self._how else q

    def _rates(self, w: Array) -> Array:
        return self._how.speeds(w) if self._how else w
