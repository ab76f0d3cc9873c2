"""Configurations and velocities: integration of a velocity, and difference of two configurations.

Joints with quaternions, a floating base and ball joints, come first: a floating one is placed by its position and a unit
quaternion (x, y, z, qw, qx, qy, qz), and moves with the velocity of its origin and its angular velocity, both in its own
axes. The other joints add their coordinates and speeds behind: for them these are sums and differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.expr.derivative import derivative, rates
from linkwise.expr.evaluate import substitute
from linkwise.expr.node import symbol
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.quaternion import unit_quaternion
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import generator, readable, whole


@algorithm(inputs={"q": "nq", "qd": "nv", "dt": ""}, outputs={"q_next": "nq"}, spread=False)
def integrate(tree: Tree, q: Array, qd: Array, dt: Any) -> Array:
    """Return the configuration (nq,) after the time dt (s) at constant velocities qd (nv,); the quaternion is normalised.

    A floating base turns and moves along one screw: see `linkwise.model.joints.Floating`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.integrate([0.0, 0.5], [1.0, -1.0], 0.1)
    array([0.1, 0.4])
    """
    step = np.asarray(qd) * np.asarray(readable("dt", dt))
    joints = [at.joint.integrate(q[at.q], step[at.v]) for at in tree.manifold_joints]
    return np.concatenate([*joints, q[tree.nq - tree.n :] + step[tree.nv - tree.n :]])


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"rate": "nq"}, spread=False)
def configuration_rate(tree: Tree, q: Array, qd: Array) -> Array:
    """dq/dt (nq,) at the velocities qd: R v, half the quaternion times the angular velocity, and the joint velocities.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> ship = Mechanism([Link(joint="fixed", mass=1.0, inertia=(1, 1, 1))], floating=True)
    >>> ship.kernel("configuration_rate")(ship.neutral, [1.0, 0, 0, 0, 0, 0.2]) + 0.0
    array([1. , 0. , 0. , 0. , 0. , 0. , 0.1])
    """
    joints = [at.joint.q_dot(q[at.q], qd[at.v]) for at in tree.manifold_joints]
    return np.concatenate([*joints, qd[tree.nv - tree.n :]])


def tangent_derivative(tree: Tree, function: Callable[[Array], Array], q: Array) -> Array:
    """The derivative (..., nv) of a function of the configuration (nq,) by small motions, exact, from its graph.

    With a floating base the motion is in the base's own axes, as `integrate` takes it.
    """
    x, values = _on_symbols(tree, function)
    columns = [_rates(tree, x, values, q, unit) for unit in np.eye(tree.nv)]
    return np.stack(columns, axis=-1) if columns else np.zeros((*values.shape, 0))


def derivative_by_vector(function: Callable[[Array], Array], vector: Array) -> Array:
    """The derivative (..., n) of a function of a vector (n,), exact, from its graph."""
    x = np.array([symbol(f"\1{k}") for k in range(len(vector))], dtype=object)
    values = np.asarray(function(x), dtype=object)
    table = derivative(list(values.flat), list(x)).reshape(*values.shape, len(x))
    return substitute(table, dict(zip(x, vector, strict=True)))


def time_derivative(tree: Tree, function: Callable[[Array], Array], q: Array, qd: Array) -> Array:
    """The rate of a function of the configuration (nq,) at the velocities qd (nv,), exact, from its graph."""
    return _rates(tree, *_on_symbols(tree, function), q, qd)


def _on_symbols(tree: Tree, function: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Symbols for a configuration (nq,), and the values of a function of them."""
    x = np.array([symbol(f"\0{k}") for k in range(tree.nq)], dtype=object)
    return x, np.asarray(function(x), dtype=object)


def _rates(tree: Tree, x: Array, values: Array, q: Array, qd: Array) -> Array:
    """The rates at q of values that are functions of the symbols x."""
    moving = dict(zip(x, configuration_rate(tree, x, qd), strict=True))
    table = np.array(rates(list(values.flat), moving), dtype=object).reshape(values.shape)
    return substitute(table, dict(zip(x, q, strict=True)))


@algorithm(inputs={"q0": "nq", "q1": "nq"}, outputs={"qd": "nv"}, spread=False)
def difference(tree: Tree, q0: Array, q1: Array) -> Array:
    """Return the velocities (nv,) that lead from q0 to q1 (nq,) in one second: the inverse of `integrate`.

    A floating base and ball joints take the shorter of the two ways round; NaN where a quaternion has the length 0.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.difference([0.0, 0.5], [0.1, 0.4]).round(9)
    array([ 0.1, -0.1])
    """
    first = tree.nq - tree.n
    joints = [at.joint.difference(q0[at.q], q1[at.q]) for at in tree.manifold_joints]
    return np.concatenate([*joints, q1[first:] - q0[first:]])


@algorithm(inputs={"q": "nq", "qd": "nv", "dt": ""}, outputs={"by_q": "nv nv", "by_qd": "nv nv"}, spread=False)
def integrate_derivatives(tree: Tree, q: Array, qd: Array, dt: Any) -> tuple[Array, Array]:
    """Derivatives (nv, nv) of `integrate` by q and by qd: how small motions of q and changes of qd move the result.

    Small motions are velocities times time, as `integrate` and `difference` have them: see `linkwise.spatial.tangent`.

    Examples
    --------
    >>> from linkwise import robots
    >>> robots.planar_2r().integrate_derivatives([0.0, 0.5], [1.0, -1.0], 0.1)[1]
    array([[0.1, 0. ],
           [0. , 0.1]])
    """
    time = np.asarray(readable("dt", dt))[()]
    step = np.asarray(qd) * time
    by_q, by_qd = _block_diagonal(tree, [at.joint.integrate_derivatives(step[at.v]) for at in tree.manifold_joints], (1, 1))
    return by_q, by_qd * time


@algorithm(inputs={"q0": "nq", "q1": "nq"}, outputs={"by_q0": "nv nv", "by_q1": "nv nv"}, spread=False)
def difference_derivatives(tree: Tree, q0: Array, q1: Array) -> tuple[Array, Array]:
    """Derivatives (nv, nv) of `difference` by small motions of q0 and of q1.

    Examples
    --------
    >>> from linkwise import robots
    >>> robots.planar_2r().difference_derivatives([0.0, 0.5], [0.1, 0.4])[0]
    array([[-1.,  0.],
           [ 0., -1.]])
    """
    steps = ((at.joint, at.joint.difference(q0[at.q], q1[at.q])) for at in tree.manifold_joints)
    by_q0, by_q1 = _block_diagonal(tree, [joint.difference_derivatives(step) for joint, step in steps], (-1, 1))
    return by_q0, by_q1


def _block_diagonal(tree: Tree, blocks: Sequence[tuple[Array, Array]], others: tuple[float, float]) -> list[Array]:
    """Two matrices (nv, nv) with blocks of the joints with quaternions, and a number for each other coordinate."""
    results = []
    for k, other in enumerate(others):
        result = np.array(other * np.eye(tree.nv), dtype=object if blocks else float)
        for at, pair in zip(tree.manifold_joints, blocks, strict=True):
            result[at.v, at.v] = pair[k]
        results.append(result)
    return results


@algorithm(inputs={"q0": "nq", "q1": "nq", "s": ""}, outputs={"q": "nq"}, spread=False)
def interpolate(tree: Tree, q0: Array, q1: Array, s: Any) -> Array:
    """Return the configuration (nq,) at the share s of the path from q0 to q1 (nq,) at constant velocities.

    Examples
    --------
    >>> from linkwise import robots
    >>> robots.planar_2r().interpolate([0.0, 0.0], [1.0, -2.0], 0.25)
    array([ 0.25, -0.5 ])
    """
    return np.asarray(integrate(tree, q0, difference(tree, q0, q1), s))


def with_unit_quaternions(tree: Tree, q: Array) -> Array:
    """Normalize the quaternions of a configuration (nq,), or of many (nq, ...)."""
    parts, end = [], 0
    for at in tree.manifold_joints:
        parts += [q[end : at.quaternion.start], unit_quaternion(q[at.quaternion])]
        end = at.quaternion.stop
    return np.concatenate([*parts, q[end:]])


#: Random configurations at once, at most.
MOST = 2**32


def random_configuration(tree: Tree, seed: int = 0, count: int | None = None) -> FloatArray:
    """Return random coordinates, the same for the same seed.

    Joints are spread evenly within their limits, or where there are none a turn, or 2 m, about zero. A floating base and
    ball joints are turned evenly in all ways (K. Shoemake, *Graphics Gems III*, 1992, section III.6), those with limits
    within their cones, and what floats is placed within 1 m of its origin, each way. Loops are not closed.

    Parameters
    ----------
    tree : Mechanism
        Any.
    seed : int
        Seed of the random numbers.
    count : int, optional
        How many; one without it.

    Returns
    -------
    ndarray (nq,) or (count, nq)

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> q = random_configuration(arm, 7, 1000)
    >>> q.shape, bool((q >= arm.q_min).all() and (q <= arm.q_max).all())
    ((1000, 6), True)
    """
    require_tree(tree, "random_configuration: mechanism")
    rng = generator("random_configuration: seed", seed)
    rows = 1 if count is None else whole("random_configuration: count", count, 0, most=MOST)
    parts = [random_coordinates(tree, np.stack([tree.q_min, tree.q_max], axis=1), 1.0, rows, rng)]
    parts[:0] = [at.joint.random(rng, rows, at.most) for at in tree.manifold_joints]
    q = np.concatenate(parts, axis=-1)
    return q[0] if count is None else q


def random_coordinates(tree: Tree, limits: FloatArray, slide: float, count: int, seed: Any) -> FloatArray:
    """Joint coordinates (count, n) within limits (n, 2), the same for the same seed.

    Where there is no limit half a turn to both sides of zero, or of a slide so many m; beside a single limit twice that.
    """
    reach = np.where(tree.is_length, slide, np.pi)
    low, high = limits.T
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0 * reach, -reach))
    high = np.where(np.isfinite(high), high, low + 2.0 * reach)
    return np.random.default_rng(seed).uniform(low, high, (count, tree.n))


def resting(tree: Tree) -> FloatArray:
    """Default coordinates (nq,) for drawing: every joint at zero, or at the nearest limit.

    A mechanism with loops is left as it is at zero: its joints depend on each other.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> resting(Mechanism([Link(limits=(0.3, 0.5)), Link()])).tolist()
    [0.3, 0.0]
    """
    result = np.array(tree.neutral, dtype=float)
    if not tree.loops:
        first = tree.nq - tree.n
        result[first:] = np.clip(result[first:], tree.q_min, tree.q_max)
    return result
