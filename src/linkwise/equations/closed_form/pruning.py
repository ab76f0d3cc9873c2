"""Small terms left out of a closed form, and how far it is off then at most.

B. Armstrong, O. Khatib and J. Burdick abbreviated the equations of the PUMA 560 so ("The explicit dynamic model and inertial
parameters of the PUMA 560 arm", ICRA 1986).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.equations.closed_form.terms import Terms
from linkwise.equations.polynomials.trigonometric import identified
from linkwise.errors import ArgumentError, members, shown
from linkwise.spatial.scalar import FloatArray

Form = TypeVar("Form", bound=Any)
"""A `linkwise.equations.closed_form.closed_form.ClosedForm`."""


def small_terms(
    form: Form,
    significance: float,
    values: Mapping[str, float] | None = None,
    speeds: Any = 1.0,
    of_row: float = 0.0,
) -> Form:
    """Leave out the terms whose amplitude is below a part of the largest one of their entry, or of their row.

    Parameters
    ----------
    form : ClosedForm
        All terms.
    significance : float
        The part, from 0, which leaves all in, to below 1.
    values : mapping of str to float, optional
        Numbers for the symbols of the mechanism, by which amplitudes are compared.
    speeds : float or (nv,) array_like
        How fast each joint may be, rad/s or m/s: with these the terms of C are compared, and what is left out is bounded.
        Sliding coordinates are taken to be within their limits, or within 1 m where there are none.
    of_row : float
        The same of the largest term of the row, which in a dynamic matrix is what one joint feels.

    Raises
    ------
    ArgumentError
        Where there is no number for a symbol, or the significance is none.
    """
    for name, part in (("significance", significance), ("of_row", of_row)):
        if isinstance(part, bool) or not isinstance(part, (int, float)) or not 0 <= part < 1:
            raise ArgumentError(f"{name} is {shown(part)}; expected a number from 0 to below 1")
    if not significance and not of_row:
        return form
    speed = np.broadcast_to(np.abs(np.asarray(speeds, dtype=float)), (form.tree.nv,))
    weights = _weights(form, values or {}, speed)
    small = _small(form.data, weights, significance, of_row)
    kept, dropped = (replace(form.data, waves=form.data.waves.part(which)) for which in (~small, small))
    return replace(form, data=kept, dropped=dropped, weights=np.abs(weights), speed=speed)


def _weights(form: Any, values: Mapping[str, float], speed: FloatArray) -> FloatArray:
    """By owner, the product of its symbols, with sign, and the greatest of its speeds and coordinates."""
    tree = form.tree
    missing = [name for name in tree.symbols if name not in values]
    if missing:
        raise ArgumentError(f"to leave out small terms, values must have numbers for {members(missing)}")
    parameters = np.array([[float(values[name]) for name in tree.symbols]]).reshape(1, -1)
    reach = np.ones(tree.nq)
    if tree.n:
        limits = np.maximum(np.abs(tree.q_min), np.abs(tree.q_max))
        reach[tree.nq - tree.n :] = np.where(np.isfinite(limits), limits, 1.0)
    arrays = {"q": reach[None], "qd": speed[None], "qdd": np.ones((1, tree.nv)), "parameters": parameters}
    return np.asarray(form.data.monomials(form.known(arrays))[0])


def _small(terms: Terms, weights: FloatArray, significance: float, of_row: float) -> npt.NDArray[np.bool_]:
    """Which terms are left out, judged with all others of the same waves; an angle's cosine and sine in one."""
    waves = terms.waves
    if not terms.count:
        return np.zeros(0, dtype=bool)
    moving = [k for k in range(terms.powers.shape[1]) if k not in terms.made.symbols]
    _, motion = np.unique(terms.powers[:, moving], axis=0, return_inverse=True)
    rows = [terms.element[waves.owner], motion.reshape(-1)[waves.owner]]
    signs = [np.array([1 if len(wave) == 1 and wave[0][0] == "sin" else 0 for wave in table]) for table in waves.tables]
    codes = waves.codes.T
    _, each = np.unique(identified([*rows, *codes]), return_inverse=True)
    alone = len(codes) == 1  # then cosine and sine of an angle stand next to each other in the table
    pair = [codes[0] - signs[0][codes[0]]] if alone else list(codes)
    _, both = np.unique(identified([*rows, *pair]), return_inverse=True)
    each, both = each.reshape(-1), both.reshape(-1)
    first = np.unique(each, return_index=True)[1]
    squares = np.bincount(each, waves.values * weights[waves.owner]) ** 2
    amplitude = np.sqrt(np.bincount(both[first], squares))[both]
    in_row = terms.rows()[rows[0]]
    return np.asarray(
        (amplitude < significance * _greatest(rows[0], amplitude)) | (amplitude < of_row * _greatest(in_row, amplitude))
    )


def _greatest(place: npt.NDArray[np.int64], amounts: FloatArray) -> FloatArray:
    """For each amount the greatest of all with the same place."""
    greatest = np.zeros(int(place.max(initial=-1)) + 1)
    np.maximum.at(greatest, place, amounts)
    return greatest[place]
