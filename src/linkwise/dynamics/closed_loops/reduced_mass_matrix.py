"""The inertia that a mechanism with closed loops shows to its driven coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.nullspace import driven_motions
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

NAME = "reduced_mass_matrix"


def reduced_mass_matrix(
    mechanism: Tree, q: npt.ArrayLike, driven: Sequence[int | str] | int | str | None = None
) -> FloatArray:
    """Mass matrix (..., m, m) in the driven coordinates: with u their speeds, the kinetic energy is u' M u / 2.

    It is G' M G, with qd = G u what the loops make of the driven speeds (R. Featherstone, *Rigid Body Dynamics Algorithms*,
    2008, section 8.11). Of a linkage with one degree of freedom it is the equivalent moment of inertia, or mass.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    q : (..., nq) array_like
        Coordinates with loops closed, rad or m.
    driven : sequence of int or str, optional
        As many coordinates as there are degrees of freedom, by name or by the index of their speed; by default those with
        motors.

    Raises
    ------
    ArgumentError
        Where q does not close the loops, where the loops are singular, or where these coordinates cannot drive.

    Examples
    --------
    >>> from linkwise import robots
    >>> mech = robots.slider_crank()
    >>> reduced_mass_matrix(mech, mech.neutral, driven=[0]).shape
    (1, 1)
    """
    led = driven_motions(mechanism, q, driven, NAME).map
    result = np.swapaxes(led, -1, -2) @ kernel_of(mechanism, "mass_matrix")(q) @ led
    return np.asarray(0.5 * (result + np.swapaxes(result, -1, -2)))
