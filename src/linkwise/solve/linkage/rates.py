"""Speeds and accelerations of a linkage: what is given, and what may be given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members
from linkwise.kinematics.closing import NEARLY
from linkwise.kinematics.pivots import RANK
from linkwise.model.tree import Tree
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.solve.linkage.linkage import Linkage

LEFT = 1e-9
"""What all closure equations may leave of speeds and accelerations, as a share of these."""


def given_rates(tree: Tree, q: npt.ArrayLike, **rates: npt.ArrayLike) -> list[Any]:
    """Positions and rates as the kernels take them; a single number may stand for one driven coordinate."""
    if all(type(value) is np.ndarray for value in (q, *rates.values())):
        return [q, *rates.values()]
    made = [numbers("q", q, f"real numbers (..., {tree.nq})")]
    for name, value in rates.items():
        found = numbers(name, value)
        made.append(found[None] if found.ndim == 0 else found)
    return made


def checked_rates(
    what: str,
    linkage: Linkage,
    q: npt.ArrayLike,
    made: FloatArray,
    measures: tuple[npt.ArrayLike, npt.ArrayLike],
    **rates: npt.ArrayLike,
) -> FloatArray:
    """Rates (..., nv) that all closure equations allow.

    Parameters
    ----------
    what : str
        How messages call them.
    linkage : Linkage
        Whose they are.
    q, made : array_like
        Positions (..., nq) and rates.
    measures : pair of array_like
        How far loops are open at q (...), and what all closure equations leave of the rates (...).
    **rates : array_like
        What was given beside q, by name.

    Raises
    ------
    ArgumentError
        For what is no finite number; for the first position at which loops are open, or the driven coordinates cannot drive,
        or rates open the loops.
    """
    gap, left = (np.asarray(measure) for measure in measures)
    good = (gap <= NEARLY) & (left <= LEFT)
    if good.all():
        return made
    for name, value in {"q": q, **rates}.items():
        numbers(name, value)  # (raises where it is not finite)
    where = tuple(int(k) for k in np.argwhere(~good)[0])
    place = f" at {where}" if where else ""
    if not gap[where] <= NEARLY:
        raise ArgumentError(f"{what}: loops are open at q{place} by {gap[where]:.3g}; position closes them")
    shape = (*made.shape[:-1], linkage.mechanism.nq)
    measure = linkage.singularities(np.broadcast_to(np.asarray(q, dtype=np.float64), shape)[where])
    if measure.driving <= RANK:
        raise ArgumentError(
            f"{what}: q{place} is a toggle position, in which {members(linkage.driven)} cannot drive"
            f" (smallest singular value {measure.driving:.2g})"
        )
    raise ArgumentError(
        f"{what}: the speeds given open the loops, or the position{place} is too near a singular one;"
        f" the closure equations leave {left[where]:.2g} of the result (see singularities)"
    )
