"""Which part of a body's inertia acts as if it were fixed to the parent, so that it can be moved there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linkwise.spatial.scalar import Array, FloatArray, blank

if TYPE_CHECKING:
    from linkwise.model.bodies import Bodies, Body


ROUNDINGS = 4.0
"""Units in the last place of the numbers added up, for the three additions of an element of X + T Y T' and its products."""


def regrouped(made: Bodies) -> Bodies:
    """The same dynamics from fewer numbers: what a body cannot show is moved to its parent.

    Mass on the axis line of a revolute joint (m, m z and the integral of z^2) moves with the parent alike, and so does
    the whole pseudo-inertia block of a body that only slides, and the integral of z^2 of one that screws; joint efforts and
    kinetic energy stay exactly the same, while the forces between links do not. W. Khalil, E. Dombre, *Modeling,
    Identification and Control of Robots* (2002), section 9.4.

    These rules hold whatever the parent can do. Where its motions are few, less is felt: see `linkwise.dynamics.felt`.
    """
    inertias = [body.inertia.copy() for body in made.bodies]
    for k in reversed(range(len(made.bodies))):
        body = made.bodies[k]
        moved = unseen(body, inertias[k])
        inertias[k] = inertias[k] - moved
        if body.parent >= 0:
            there = body.placement  # what moves to the parent is symmetric about z: any angle will do
            inertias[body.parent] = with_added(inertias[body.parent], there, moved)
    pairs = zip(made.bodies, inertias, strict=True)
    return replace(made, bodies=tuple(replace(body, inertia=inertia) for body, inertia in pairs))


def with_added(inertia: Array, t: Array, other: Array) -> Array:
    """The pseudo-inertia (4, 4) with another one added that is given in the frame to which T leads: X + T Y T'.

    What is left of numbers that cancel is made zero where it is no more than their rounding.
    """
    made = np.asarray(inertia + t @ other @ t.T)
    if made.dtype == object:
        return made
    size = np.abs(inertia) + np.abs(t) @ np.abs(other) @ np.abs(t).T
    return np.where(np.abs(made) <= ROUNDINGS * np.finfo(np.float64).eps * size, 0.0, made)


def unseen(body: Body, inertia: FloatArray) -> FloatArray:
    """The part (4, 4) of a pseudo-inertia that acts as if it were fixed to the parent."""
    moved = np.zeros((4, 4)) if inertia.dtype != object else blank(4, 4)
    if body.free:
        return moved
    if body.turns:
        moved[2, 2] = inertia[2, 2]
    if body.turns and not body.slides:
        moved[3, 3] = inertia[3, 3]
        moved[2, 3] = moved[3, 2] = inertia[2, 3]
    elif not body.turns:
        moved[:3, :3] = inertia[:3, :3]
    return moved
