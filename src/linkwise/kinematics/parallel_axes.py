"""Rotations of bodies in stages: joints about parallel axes share one rotation, by the sum of their angles.

A path of bodies from the ground is cut into stages. Within a stage all turning axes are parallel, so a body of it is turned
by Rz(sum of the angles), whatever the number of joints between; R_stage_body = Rz(angle) R_after with a constant R_after. A
body that slides without turning stays in the stage of its parent. Between stages stands a constant rotation.

A vector reaches the world inward, one stage after the other, or by the stage's rotation matrix. The first is shorter for
vectors with zeros and for short paths, the second where many vectors come from far out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.expr.count import effort
from linkwise.expr.ordering import operations_needed
from linkwise.model.body import Bodies, Body, cos_sin_of_sum, rotation_of
from linkwise.spatial.scalar import Array

#: Below this a computed direction cosine is rounding of zero.
TINY = 1e-15


#: Up to this many stages all splits of a path are tried.
FEW = 10


@dataclass(frozen=True, eq=False)
class Turned:
    """Rotation of one body: R_world_body = R_world_stage @ turning @ after.

    Attributes
    ----------
    stage : int
        Which stage of its path it is in; the ground is in stage 0.
    carrier : Turned or None
        The last body before its stage, None on the ground.
    fixed : ndarray (3, 3)
        Rotation from the stage's axes to those in which the carrier's own stage is turned.
    turning : ndarray (3, 3) or None
        The turn within the stage, None where there is none.
    after : ndarray (3, 3)
        The constant rotation after it.
    angle : scalar or None
        The angle of the turn about z without its constant part (rad); None where the turn is none, or a free body's.
    constant : scalar
        The constant part (rad).
    """

    stage: int
    carrier: Turned | None
    fixed: Array
    turning: Array | None
    after: Array
    angle: Any = None
    constant: Any = 0.0

    def turned(self, vector: Array) -> Array:
        """A vector (3,) that is turned with the body, in the stage's axes."""
        return vector if self.turning is None else np.asarray(self.turning @ vector)

    def from_body(self, vector: Array) -> Array:
        """A vector (3,) from the body's axes to the stage's."""
        return self.turned(self.after @ vector)

    def to_body(self, vector: Array) -> Array:
        """A vector (3,) from the stage's axes to the body's."""
        return np.asarray(self.after.T @ (vector if self.turning is None else self.turning.T @ vector))

    @cached_property
    def matrix(self) -> Array:
        """R_world_stage (3, 3)."""
        if self.carrier is None:
            return np.eye(3)
        waiting = [self.carrier]
        while waiting[-1].carrier is not None and "matrix" not in vars(waiting[-1]):
            waiting.append(waiting[-1].carrier)
        for state in reversed(waiting):  # each finds that of its carrier, so that long chains do not recurse
            _ = state.matrix
        return np.asarray(_product(self.carrier.matrix, self.carrier.turning) @ self.fixed)

    @property
    def rotation(self) -> Array:
        """R_world_body (3, 3)."""
        return np.asarray(_product(self.matrix, self.turning) @ self.after)

    def to_world(self, vector: Array, split: int = 0) -> Array:
        """A vector (3,) from the stage's axes to the world's: inward to the stage ``split``, then by that one's matrix."""
        at = self
        while at.carrier is not None and at.stage > split:
            vector, at = at.carrier.turned(at.fixed @ vector), at.carrier
        return np.asarray(at.matrix @ vector)


def ground() -> Turned:
    """The ground, which is not turned."""
    return Turned(0, None, np.eye(3), None, np.eye(3))


def turned(body: Body, parent: Turned, q: Array) -> Turned:
    """Rotation of a body, from its parent's."""
    fixed = np.asarray(parent.after @ body.placement[:3, :3])
    if body.joint is not None:
        fixed, motion = body.turned_motion(fixed, q)
        return Turned(parent.stage + 1, parent, fixed, motion[:3, :3], np.eye(3))
    if not body.turn:
        return replace(parent, after=fixed)
    angle_of_joint, sense = q[body.position], None if parent.angle is None else _about_z(fixed)
    if sense is None:
        return _standing(Turned(parent.stage + 1, parent, fixed, None, np.eye(3), angle_of_joint, body.angle))
    sign, constant = sense
    angle = parent.angle + angle_of_joint if sign > 0 else parent.angle - angle_of_joint
    constant = parent.constant + (constant + sign * body.angle)
    return _standing(replace(parent, after=np.diag([1.0, sign, sign]), angle=angle, constant=constant))


def _standing(state: Turned) -> Turned:
    """The state with the rotation matrix of its angle."""
    return replace(state, turning=rotation_of(*cos_sin_of_sum(state.angle, state.constant)))


def _about_z(rotation: Array) -> tuple[float, float] | None:
    """Sign e and angle g for which a rotation is Rz(g) diag(1, e, e); None where its z axis is not along z, or not known."""
    if not all(isinstance(element, (float, int)) for element in rotation.flat):
        return None
    r = rotation.astype(float)
    if max(abs(r[0, 2]), abs(r[1, 2]), abs(r[2, 0]), abs(r[2, 1])) > TINY:
        return None
    return (1.0 if r[2, 2] > 0 else -1.0), float(np.arctan2(r[1, 0], r[0, 0]))


def _product(matrix: Array, turning: Array | None) -> Array:
    return matrix if turning is None else np.asarray(matrix @ turning)


def turned_path(bodies: Bodies, path: Sequence[int], q: Array) -> dict[int, Turned]:
    """Rotation of each body of a path from the ground; -1 is the ground."""
    results = {-1: ground()}
    for k in path:
        results[k] = turned(bodies.bodies[k], results[bodies.bodies[k].parent], q)
    return results


def levers(bodies: Bodies, path: Sequence[int], turns: dict[int, Turned], q: Array, point: Array) -> dict[int, Array]:
    """Vectors from the origin of each body of a path, and from that of the world (-1), to a point of the last one.

    Parameters
    ----------
    bodies, path, turns, q
        The bodies, the indices of those from the ground out, their rotations, and the coordinates.
    point : ndarray (3,)
        In the axes of the last body (m).

    Returns
    -------
    dict
        For each index the vector (3,) in the axes of the body's stage (m).
    """
    last = path[-1] if path else -1
    results = {last: turns[last].from_body(point)}
    for k in reversed(path):
        body, turn, parent = bodies.bodies[k], turns[k], turns[bodies.bodies[k].parent]
        inner = results[k] + _slide(body, turn, q)
        shift = parent.after @ body.placement[:3, 3]
        if turn.carrier is parent:
            results[body.parent] = parent.turned(shift + turn.fixed @ inner)
        else:
            results[body.parent] = parent.turned(shift) + inner
    return results


def _slide(body: Body, turn: Turned, q: Array) -> Array:
    """Displacement of the body's origin by the joint, in the axes of its stage."""
    if body.joint is not None:
        return np.asarray(body.motion(q)[:3, 3])
    if body.advances:
        return turn.from_body(np.array([0.0, 0.0, body.pitch * q[body.position]]))
    return np.zeros(3)


def splits(last: Turned) -> tuple[int, ...]:
    """Stages at which a change from vectors to a matrix may save operations in an inward pass."""
    return (0, *range(2, last.stage + 1)) if last.stage <= FEW else (0, last.stage)


def shortest(ways: Sequence[Callable[[], Array]]) -> Array:
    """Result with the fewest operations among equivalent computations; the first of equals."""
    if len(ways) == 1:
        return ways[0]()
    efforts = [effort(operations_needed(alternative().ravel())) for alternative in ways]
    return ways[efforts.index(min(efforts))]()
