"""The inverse of the mass matrix."""

from __future__ import annotations

from linkwise.algorithm import algorithm
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.mass_matrix import composite_bodies, mass_matrix
from linkwise.model.tree import Tree
from linkwise.spatial.linear import factor
from linkwise.spatial.scalar import Array
from linkwise.sweeps.drivers import Sweeps, looped


@algorithm(inputs={"q": "nq"}, outputs={"M_inv": "nv nv"}, spread=False, open_only=True)
def inverse_mass_matrix(tree: Tree, q: Array) -> Array:
    """The inverse (nv, nv) of the mass matrix, by M = L' D L: accelerations per unit of effort.

    R. Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees", Int. J.
    Robotics Research 24(6), 2005.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> (arm.inverse_mass_matrix([0.0, 0.5]) @ arm.mass_matrix([0.0, 0.5])).round(9) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    check_inertia(tree)
    return factor(mass_matrix(tree, q)).inverse()


@looped("inverse_mass_matrix", regrouped=True)
def inverse_mass_matrix_in_steps(sweeps: Sweeps) -> None:
    """Composite bodies, and the inverse by the factors of M."""
    sweeps.temporary("M", "nv", "nv")
    composite_bodies(sweeps, "M")
    sweeps.solve("M", ("M_inv", "inverse"))
