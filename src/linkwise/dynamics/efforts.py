"""The parts of the inverse dynamics: gravity, bias, friction."""

from __future__ import annotations

from linkwise.algorithm import algorithm
from linkwise.dynamics import motors
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank


@algorithm(inputs={"q": "nq"}, outputs={"tau": "nv"}, open_only=True)
def gravity_torque(tree: Tree, q: Array) -> Array:
    """Efforts g (nv,) that hold the mechanism at rest, by the Newton-Euler recursion without speeds."""
    made = moving_bodies(tree).regrouped()
    return recursion(tree, made, q, blank(tree.nv), blank(tree.nv))


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"tau": "nv"}, open_only=True)
def bias_torque(tree: Tree, q: Array, qd: Array) -> Array:
    """Efforts C qd + g (nv,): Coriolis, centrifugal and gravity efforts, friction apart, by the Newton-Euler recursion."""
    made = moving_bodies(tree).regrouped()
    return recursion(tree, made, q, qd, blank(tree.nv))


@algorithm(inputs={"qd": "nv"}, outputs={"tau": "nv"})
def friction_torque(tree: Tree, qd: Array) -> Array:
    """Friction (nv,) of the motors as the joints feel it, which they must overcome: see `linkwise.Motor`."""
    return motors.friction(tree, qd)
