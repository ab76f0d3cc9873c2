"""The wrench on the base."""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.model.body import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array

#: The coordinates of a base that stands where its frame is.
AT_REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


@algorithm(inputs={"q": "nq", "qd": "nv", "qdd": "nv"}, outputs={"w": "6"})
def base_wrench(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Force and moment (6,) that the base receives from the ground, at its origin, in its axes.

    All links, the payload and carried rotors are held by it, those on the base too. With a floating base these are the first
    six efforts of `inverse_dynamics`; a fixed one is a floating one that is held (R. Featherstone, *Rigid Body Dynamics
    Algorithms*, 2008, section 9.5). Of a motion that keeps loops closed it is the same: their forces act between links, and
    those on the base are part of what the ground carries.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> arm.base_wrench([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3) + 0.0
    array([ 0.  , 19.62,  0.  ,  0.  ,  0.  , 19.62])
    """
    if not tree.floating:
        tree = tree.replace(floating=True)
        q, qd, qdd = np.concatenate([AT_REST, q]), np.concatenate([np.zeros(6), qd]), np.concatenate([np.zeros(6), qdd])
    return recursion(tree, moving_bodies(tree).regrouped(), q, qd, qdd)[:6]
