"""Point masses on the line from a joint to the next one, in place of a body's first moments of mass.

The acceleration of the next joint's origin is computed in any case, and that of a point on the way to it is a partial sum of
it. A mass there costs three products, and takes the place of one of the body's first moments MX and MY, whose force and
moment cost five. The base inertial parameters (see `Bodies.regrouped`) leave that choice: a mass on a joint's axis may be
counted with either of the two bodies that the joint connects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.dynamics.optimise.nonrotating_frames import level, made_children, parallel
from linkwise.model.body import Bodies, Body, unseen
from linkwise.model.stacks import with_added
from linkwise.spatial.scalar import Array, is_number, is_zero

#: Greatest first and second moments of the masses, relative to those of the bodies that carry them, and greatest masses,
#: relative to those of the sliding bodies: the bound of cancellation.
LARGEST = 4.0

#: Steps along axes of the body, x (0) and y (1), with the mass (kg) at the end of each.
Way = tuple[tuple[int, Any], ...]


@dataclass(frozen=True)
class PointMasses:
    """Bodies, and the masses separated from them.

    Attributes
    ----------
    built : Bodies
        Without the masses.
    ways : mapping of int to Way
        For a body, the way to its origin on the body that carries it.
    """

    built: Bodies
    ways: Mapping[int, Way]


def point_masses(moving: Bodies) -> PointMasses:
    """Take point masses out of regrouped bodies where that saves operations and costs no digits."""
    bodies, ways = list(moving.bodies), {}
    children, transmits, loaded = made_children(moving), _transmits_force(moving), _loaded(moving)
    for k in reversed(range(len(bodies))):
        _settle(bodies, k)
        body = bodies[k]
        if not (transmits[k] and body.turn and not body.advances and is_zero(body.inertia[3, 3])):
            continue
        for child in children[k]:
            path = _steps_to_child(body, bodies[child]) if loaded[child] else ()
            if path and _is_moderate(moving, child, sum(abs(mass) for _, mass in path)):
                ways[child] = path
                bodies[k] = _without(body, bodies[child].placement[:3, 3], path)
                _settle(bodies, k)
                break
    return PointMasses(replace(moving, bodies=tuple(bodies)), ways)


def _transmits_force(bodies: Bodies) -> list[bool]:
    """Mark bodies whose force, besides their moment, loads a joint."""
    flat, result = level(bodies), []
    for body in bodies.bodies:
        carrier = bodies.bodies[body.parent] if body.parent >= 0 else None
        if carrier is None:
            result.append(body.joint is not None or body.advances)
            continue
        lever = body.placement[:2, 3] if flat[body.parent] else body.placement[:3, 3]
        result.append(
            result[body.parent] or body.joint is not None or body.advances or not all(is_zero(value) for value in lever)
        )
    return result


def _loaded(bodies: Bodies) -> list[bool]:
    """Mark bodies with mass or first moments on themselves or in their subtree, so that their acceleration matters."""
    results = [not all(is_zero(value) for value in body.inertia[:, 3]) for body in bodies.bodies]
    for k in reversed(range(len(results))):
        parent = bodies.bodies[k].parent
        if parent >= 0:
            results[parent] = results[parent] or results[k]
    return results


def _steps_to_child(body: Body, child: Body) -> Way:
    """Steps to the child's origin with the masses that cancel the first moment along their axes, if any."""
    first, lever = body.inertia[:2, 3], child.placement[:2, 3]
    if not all(is_number(value) for value in (*first, *lever)):
        return ()
    if parallel(child) and lever.all():
        return ()  # in axes that do not rotate with the body the vector could not be split
    axes = [i for i in range(2) if first[i] != 0 and lever[i] != 0]
    masses = [first[i] / lever[i] for i in axes]
    if len(axes) == 2:
        masses[0] = masses[0] - masses[1]
    return tuple((i, float(mass)) for i, mass in zip(axes, masses, strict=True))


def _is_moderate(bodies: Bodies, child: int, mass: float) -> bool:
    """True if masses at a body's origin are comparable to those before it: a short lever requires large ones.

    On each body they come and go, and what acts on them does so with the lever of the next body, however short their own is.
    """
    k = child
    while bodies.bodies[k].parent >= 0:
        lever, k = bodies.bodies[k].placement[:3, 3], bodies.bodies[k].parent
        around = [bodies.bodies[j].inertia for j in (k, bodies.bodies[k].parent) if j >= 0]
        if not all(is_number(value) for value in (*lever, *(number for inertia in around for number in inertia.flat))):
            return False
        square = float(lever @ lever)
        second = sum(abs(float(np.trace(inertia[:3, :3]))) for inertia in around)
        first = sum(math.sqrt(inertia[:3, 3] @ inertia[:3, 3]) for inertia in around)
        if mass * square > LARGEST * second or mass * math.sqrt(square) > LARGEST * first:
            return False
        if (bodies.bodies[k].advances or bodies.bodies[k].joint is not None) and mass > LARGEST * abs(
            float(around[0][3, 3])
        ):
            return False
    return True


def _without(body: Body, lever: Array, path: Way) -> Body:
    """Subtract the masses on the line to a child's origin from a body."""
    point, inertia = np.array([0.0, 0.0, 0.0, 1.0]), body.inertia.copy()
    for axis, mass in path:
        point[axis] = lever[axis]
        inertia -= mass * np.outer(point, point)
    for axis, _ in path:
        inertia[axis, 3] = inertia[3, axis] = 0.0
    return replace(body, inertia=inertia)


def _settle(bodies: list[Body], k: int) -> None:
    """Move to the parent the parameters without effect on body k."""
    body = bodies[k]
    moved = unseen(body, body.inertia)
    if all(is_zero(value) for value in moved.flat):
        return
    bodies[k] = replace(body, inertia=body.inertia - moved)
    if body.parent >= 0:
        parent = bodies[body.parent]
        bodies[body.parent] = replace(parent, inertia=with_added(parent.inertia, body.placement, moved))


def parts(shift: Array, path: Way, turned: bool) -> tuple[list[tuple[Array, Any]], Array]:
    """Steps to a body's origin as vectors (3,) with the mass at the end of each, and the remaining vector.

    Parameters
    ----------
    shift : ndarray (3,)
        The whole way, in the axes that the body which carries it is described in.
    path : Way
        See `PointMasses`.
    turned : bool
        Whether these axes are turned about z against the body's own: then the way has one part, across z.
    """
    result, remainder = [], np.array(shift)
    for axis, mass in path:
        places: Sequence[int] = (0, 1) if turned else (axis,)
        part = np.zeros_like(remainder)
        for place in places:
            part[place], remainder[place] = remainder[place], 0.0
        result.append((part, mass))
    return result, remainder
