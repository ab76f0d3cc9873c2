"""The parts of the inverse dynamics: gravity, bias, friction."""

from __future__ import annotations

from linkwise.algorithm.declaration import algorithm
from linkwise.dynamics import motor_terms as motors
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.model.body_tree import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank


@algorithm(inputs={"q": "nq"}, outputs={"tau": "nv"}, open_only=True)
def gravity_torque(tree: Tree, q: Array) -> Array:
    """Efforts g (nv,) that hold the mechanism at rest, by the Newton-Euler recursion without speeds.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.gravity_torque([0.0, 0.0]).round(3)
    array([19.62 ,  4.905])
    """
    bodies = moving_bodies(tree).regrouped()
    return recursion(tree, bodies, q, blank(tree.nv), blank(tree.nv))


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"tau": "nv"}, open_only=True)
def bias_torque(tree: Tree, q: Array, qd: Array) -> Array:
    """Efforts C qd + g (nv,): Coriolis, centrifugal and gravity efforts, friction apart, by the Newton-Euler recursion.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.bias_torque([0.0, 0.5], [1.0, 2.0]).round(3)
    array([17.102,  4.544])
    """
    bodies = moving_bodies(tree).regrouped()
    return recursion(tree, bodies, q, qd, blank(tree.nv))


@algorithm(inputs={"qd": "nv"}, outputs={"tau": "nv"})
def friction_torque(tree: Tree, qd: Array) -> Array:
    """Friction (nv,) of the motors as the joints feel it, which they must overcome: see `linkwise.Motor`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> arm.friction_torque([1.0, 0.0, 0.0, 0.0, 0.0, -1.0]).round(3)
    array([30.533,  0.   ,  0.   ,  0.   ,  0.   , -1.021])
    """
    return motors.friction(tree, qd)
