"""Dynamics along a path: coefficients of the efforts for acceleration, squared velocity, and a constant."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.inverse_dynamics import friction_torque, inverse_dynamics, spring_torque
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank


@algorithm(
    inputs={"q": "nq", "dq": "nv", "ddq": "nv"},
    outputs={"inertial": "nv", "velocity": "nv", "static": "nv"},
    open_only=True,
)
def path_dynamics(tree: Tree, q: Array, dq: Array, ddq: Array) -> tuple[Array, Array, Array]:
    """Return a, b and c (nv,) of efforts a d2s/dt2 + b (ds/dt)^2 + c along a path q(s), friction and dampers apart.

    With the derivatives q' and q'' by s, a = M q', b = M q'' + C(q, q') q', and c holds the mechanism at rest, its springs
    counted (J. E. Bobrow, S. Dubowsky, J. S. Gibson, "Time-optimal control of robotic manipulators along specified paths",
    International Journal of Robotics Research 4(3), 1985, eq. 8).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> a, b, c = arm.kernel("path_dynamics")([0.0, 0.5], [1.0, 2.0], [0.3, 0.4])
    >>> qdd = np.array([1.0, 2.0]) * 0.7 + np.array([0.3, 0.4]) * 1.5**2
    >>> efforts = arm.inverse_dynamics([0.0, 0.5], [1.5, 3.0], qdd)
    >>> bool(np.abs(a * 0.7 + b * 1.5**2 + c - efforts).max() < 1e-13)
    True
    """
    free, still = tree.without_friction(), blank(tree.nv)
    bodies = free.replace(gravity=(0.0, 0.0, 0.0), springs=())
    inertial, velocity = inverse_dynamics(bodies, q, still, dq), inverse_dynamics(bodies, q, dq, ddq)
    return np.asarray(inertial), np.asarray(velocity), np.asarray(inverse_dynamics(free, q, still, still))


@algorithm(inputs={"q": "nq", "dq": "nv", "speed": ""}, outputs={"constant": "nv", "growing": "nv"})
def path_drag(tree: Tree, q: Array, dq: Array, speed: Array) -> tuple[Array, Array]:
    """Return k and g (nv,): friction and dampers take k + g (ds/dt)^2 along a path q(s), near a speed ds/dt > 0.

    Their sum is right at that speed, and its tangent where friction is viscous and dry: half of what grows with the speed is
    in either.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> q, dq = np.zeros(6), np.array([1.0, -0.5, 0.3, 2.0, 1.0, -1.0])
    >>> k, g = arm.kernel("path_drag")(q, dq, 0.7)
    >>> bool(np.abs(k + g * 0.7**2 - arm.friction_torque(0.7 * dq)).max() < 1e-14)
    True
    """
    rate = speed.item()
    damped = any(spring.dissipates for spring in tree.springs)

    def drag(qd: Array) -> Array:
        total = np.asarray(friction_torque(tree, qd))
        return total + spring_torque(tree, q, qd) - spring_torque(tree, q, blank(tree.nv)) if damped else total

    once, twice = drag(dq * rate), drag(dq * (2.0 * rate))
    half = 0.5 * (twice - once)
    return once - half, half / (rate * rate)


@algorithm(
    inputs={"q": "nq", "dq": "nv", "ddq": "nv", "acceleration": "", "speed": "", "tau_max": "nv"},
    outputs={"share": "nv"},
    spread=False,
    open_only=True,
)
def path_effort_shares(
    tree: Tree, q: Array, dq: Array, ddq: Array, acceleration: Array, speed: Array, tau_max: Array
) -> Array:
    """Return efforts as shares (nv,) of their limits tau_max (nv,), with their signs, moving along a path q(s).

    Acceleration is d2s/dt2, speed ds/dt; friction counts.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> shares = arm.kernel("path_effort_shares")([0.0, 0.5], [1.0, 2.0], [0.3, 0.4], 0.7, 1.5, [50.0, 10.0])
    >>> efforts = arm.inverse_dynamics([0.0, 0.5], [1.5, 3.0], [0.7 + 0.3 * 1.5**2, 1.4 + 0.4 * 1.5**2])
    >>> bool(np.abs(shares - efforts / [50.0, 10.0]).max() < 1e-14)
    True
    """
    u, rate = acceleration.item(), speed.item()
    tau = inverse_dynamics(tree, q, dq * rate, dq * u + ddq * (rate * rate))
    return np.array([value / limit for value, limit in zip(tau, tau_max, strict=True)])
