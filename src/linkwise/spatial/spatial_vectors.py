"""Motions and forces as six-vectors, linear part first, and the action of inertia and momentum on them.

A motion is (velocity of the origin, angular velocity), a force is (force, moment about the origin). R. Featherstone, *Rigid
Body Dynamics Algorithms* (2008), chapter 2, with the halves exchanged.
"""

from __future__ import annotations

import numpy as np

from linkwise.spatial.rotation import cross, skew
from linkwise.spatial.scalar import Array, FloatArray, array


def motion_cross(v: Array, u: Array) -> Array:
    """V x u (6,): the rate of a motion u that is carried along with v."""
    linear = cross(v[3:], u[:3]) + cross(v[:3], u[3:])
    return np.concatenate([linear, cross(v[3:], u[3:])])


def force_cross(v: Array, f: Array) -> Array:
    """V x* f (6,): the rate of a force f that is carried along with v."""
    moment = cross(v[3:], f[3:]) + cross(v[:3], f[:3])
    return np.concatenate([cross(v[3:], f[:3]), moment])


def on_body(wrench: Array, t_body_frame: FloatArray) -> Array:
    """A force (6,) at the origin of a frame on a body, in that frame's axes, as a force about the body's origin."""
    rotation = t_body_frame[:3, :3]
    force = rotation @ wrench[:3]
    return np.concatenate([force, rotation @ wrench[3:] + cross(t_body_frame[:3, 3], force)])


def inertia_times(inertia: Array, u: Array) -> Array:
    """Momentum (6,) of a pseudo-inertia (4, 4) with the motion u (6,), or the force for an acceleration u."""
    block, first, mass = inertia[:3, :3], inertia[:3, 3], inertia[3, 3]
    linear, angular = u[:3], u[3:]
    return np.concatenate([mass * linear + cross(angular, first), cross(first, linear) + around(block) @ angular])


def around(block: Array) -> Array:
    """trace(S) 1 - S (3, 3): the moments of inertia from the integral of r r' dm, or from any sum of v r' dm."""
    result = -np.asarray(block)
    result[0, 0] = block[1, 1] + block[2, 2]
    result[1, 1] = block[0, 0] + block[2, 2]
    result[2, 2] = block[0, 0] + block[1, 1]
    return result


def spatial_inertia(inertia: Array) -> Array:
    """The 6x6 inertia, linear part first, of a pseudo-inertia (4, 4)."""
    first = skew(inertia[:3, 3])
    upper = np.concatenate([inertia[3, 3] * np.eye(3), -first], axis=1)
    return np.concatenate([upper, np.concatenate([first, around(inertia[:3, :3])], axis=1)])


def momentum_matrix(inertia: Array, v: Array) -> Array:
    """The upper half (3, 4) of W J: the sum of the velocity of each point times (r, 1) dm."""
    block, first, mass = inertia[:3, :3], inertia[:3, 3], inertia[3, 3]
    linear, angular = v[:3], v[3:]
    second = np.outer(linear, first) + skew(angular) @ block
    return np.concatenate([second, (mass * linear + cross(angular, first))[:, None]], axis=1)


def momentum_of(matrix: Array) -> Array:
    """Momentum (6,) of bodies with the momentum matrix W J (3, 4)."""
    block = matrix[:, :3] - matrix[:, :3].T
    return np.array([*matrix[:, 3], block[2, 1], block[0, 2], block[1, 0]], dtype=matrix.dtype)


def coriolis_times(momentum: Array, u: Array) -> Array:
    """B u (6,), where B is the Coriolis matrix of bodies with the momentum matrix W J (3, 4), and u is a motion.

    Each point of mass dm and velocity v receives dm (w x v), w the angular part of u: the matrix that S. Echeandia and
    P. M. Wensing ("Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body systems", J.
    Computational and Nonlinear Dynamics 16(9), 2021) build from 6x6 products needs no more than W J.
    """
    angular = u[3:]
    return np.concatenate([cross(angular, momentum[:, 3]), around(momentum[:, :3]) @ angular])


def coriolis_transposed_times(momentum: Array, u: Array) -> Array:
    """The couple (3,) of B' u; its force is zero."""
    linear, angular = u[:3], u[3:]
    return np.asarray(cross(momentum[:, 3], linear) + around(momentum[:, :3]).T @ angular)


def energies(v: Array, w: Array) -> Array:
    """The ten quantities of two motions (6,), linear part first, by which the inertial parameters are multiplied.

    On v and v: twice the kinetic energy is M v v + 2 MX (v x w)_x + ... + XX w_x w_x + ... + 2 XY w_x w_y + ...
    """
    first = cross(v[:3], w[3:]) + cross(w[:3], v[3:])
    a, b = v[3:], w[3:]
    tensor = [a[0] * b[0], a[1] * b[1], a[2] * b[2], *(a[i] * b[j] + a[j] * b[i] for i, j in ((0, 1), (1, 2), (0, 2)))]
    return array([v[:3] @ w[:3], *first, *tensor])
